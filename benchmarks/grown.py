"""Readers with files grown to 10 MB: is every answer or refusal within 2 seconds per MB, and within memory?

python benchmarks/grown.py [--megabytes 10] [--only WORD]

Each file is read at its door (`tests/support/doors.py`) in a process of its own, which counts processor seconds and the
peak of its memory beyond what it had before. Limits: 2 seconds per MB, and 20 times the size plus 200 MB. The exit code
is 1 where one is exceeded. Linux.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests"
READ = """
import resource, sys, time, polars, pandas, recassay, recassay.api.tables
sys.path.insert(0, sys.argv[3])
from pathlib import Path
from recassay.core.errors import RecAssayError
from support.doors import DOORS
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before, begun = peak(), time.process_time()
try:
    DOORS[sys.argv[2]].read(Path(sys.argv[1]))
    said = "answer"
except RecAssayError as error:
    said = "refused: " + str(error).partition(": ")[2][:70]
print(time.process_time() - begun, peak() - before, said, sep="\\t")
"""


def repeated(piece: str, before: str = "", after: str = "") -> Callable[[int], bytes]:
    """A file of so many bytes: one piece again and again."""
    return lambda size: (before + piece * (size // len(piece)) + after).encode()


def rows(size: int) -> bytes:
    """A long table of results, every row another cell."""
    count = size // 32
    lines = (f"algorithm{i % 200},dataset{i // 200},ndcg@10,0.{i % 9000 + 1000}\n" for i in range(count))
    return ("algorithm,dataset,metric,value\n" + "".join(lines)).encode()


def records(size: int) -> bytes:
    """The same as JSON."""
    cells = ({"algorithm": f"a{i % 200}", "dataset": f"d{i // 200}", "ndcg@10": 0.5} for i in range(size // 60))
    return json.dumps(list(cells)).encode()


def workbook(size: int) -> bytes:
    """A workbook whose sheet has so many bytes of empty cells; packed it is a hundredth of that."""
    sheet = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    sheet += "<row>" + "<c/>" * 1000 + "</row>"
    sheet += ("<row>" + "<c/>" * 1000 + "</row>") * (size // 4011) + "</sheetData></worksheet>"
    packed, schemas = io.BytesIO(), "http://schemas.openxmlformats.org"
    kinds = f"{schemas}/officeDocument/2006/relationships"
    book = f'<workbook xmlns="{schemas}/spreadsheetml/2006/main" xmlns:r="{kinds}"><sheets>'
    book += '<sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>'
    relations = f'<Relationships xmlns="{schemas}/package/2006/relationships"><Relationship Id="r1" '
    relations += f'Type="{kinds}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>'
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/workbook.xml", book)
        file.writestr("xl/_rels/workbook.xml.rels", relations)
        file.writestr("xl/worksheets/sheet1.xml", sheet)
    return packed.getvalue()


def numbered(header: str, row: str) -> Callable[[int], bytes]:
    """A file of so many bytes: a header and one row again and again, `#` in it the number of the row."""
    return lambda size: (header + "".join(row.replace("#", str(n)) for n in range(size // (len(row) + 5)))).encode()


def columns(size: int) -> bytes:
    """A header of so many bytes, and one row."""
    return ("user,item," + ",".join(f"c{n}" for n in range(size // 8)) + "\na,b\n").encode()


RESULTS: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "CSV, long table": ("long.csv", rows),
    "CSV, commas": ("commas.csv", repeated(",")),
    "CSV, one column": ("column.csv", repeated("0.123\n", "a\n")),
    "CSV, blank lines": ("blank.csv", repeated("\n", "algorithm,dataset,value\n")),
    "CSV, cut lines": ("cut.csv", repeated("a\n", ",".join(f"c{n}" for n in range(1000)) + "\n")),
    "CSV, quotation marks": ("quotes.csv", repeated('"a""b",', "algorithm,dataset\n")),
    "CSV, columns": ("wide.csv", repeated("name,", "algorithm,")),
    "JSON, records": ("records.json", records),
    "JSON, brackets": ("brackets.json", repeated("[")),
    "JSON, braces": ("braces.json", repeated('{"a":')),
    "JSON, digits": ("digits.json", repeated("9", "[")),
    "JSON lines": ("lines.jsonl", repeated('{"algorithm": "a", "dataset": "d", "ndcg@10": 0.5}\n')),
    "log, braces": ("log.log", repeated("{")),
    "log, best results": ("result.log", repeated("test result: OrderedDict([('recall@10', 0.1)])\n")),
    "Markdown, pipes": ("pipes.md", repeated("|", "| a | b |\n|---|---|\n")),
    "console, dashes": ("dashes.txt", repeated("-- --\n")),
    "Markdown, rows": ("rows.md", repeated("| a | 0.1 |\n", "| algorithm | d |\n|---|---|\n")),
    "LaTeX, groups": ("groups.tex", repeated("{}", r"\begin{tabular}{ll}", r"\end{tabular}")),
    "LaTeX, blanks": ("blanks.tex", repeated(" ", r"\begin{tabular}{ll} a & b", r"\\ \end{tabular}")),
    "LaTeX, rows": ("rows.tex", repeated("a & 0.1 \\\\\n", "\\begin{tabular}{ll}\n m & d \\\\\n", "\\end{tabular}")),
    "HTML, cells": ("cells.html", repeated("<td>0.1</td>", "<table><tr>", "</tr></table>")),
    "HTML, spans": ("spans.html", repeated("<tr><td colspan=999 rowspan=999>1</td></tr>", "<table>", "</table>")),
    "HTML, open tags": ("open.html", repeated("<table><tr><td>")),
    "XLSX, empty cells": ("empty.xlsx", workbook),
    "TREC run": ("run.trec", repeated("1 Q0 7 1 0.5 tag\n")),
    "no format": ("any.txt", repeated("a b c d\n")),
}
ROWS: dict[str, Callable[[int], bytes]] = {
    "interactions": numbered("user,item,rating,timestamp\n", "u#,i#,3,16#\n"),
    "lists": numbered("user,item,rank\n", "u#,i#,1\n"),
    "classes": numbered("height,width,kind\n", "#,#,a\n"),
    "answers": numbered("respondent,item,value\n", "r#,i,1\n"),
    "items": numbered("item,discrimination,difficulty,guessing\n", "i#,1,0,0\n"),
    "properties": numbered("dataset,users\n", "d#,#\n"),
    "characteristics": numbered("dataset,users\n", "d#,#\n"),
}
"""By door, a file of many good rows."""
JUDGEMENTS: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "judgements, rows": ("file.qrels", numbered("", "u# 0 i# 1\n")),
    "judgements, blank lines": ("file.qrels", repeated("\n", "u 0 i 1\n")),
    "judgements, cut lines": ("file.qrels", repeated("a\n", "u 0 i 1\n")),
    "judgements, JSON": ("file.json", numbered("{", '"u#": {"i#": 1}, ')),
    "judgements, users": ("file.json", lambda size: numbered("{", '"u#": {"i#": 1}, ')(size)[:-2] + b"}"),
}
FILES = {what: ("results", *file) for what, file in RESULTS.items()} | {
    what: ("judgements", *file) for what, file in JUDGEMENTS.items()
} | {
    f"{door}, {what}": (door, "file.csv", make)
    for door, good in ROWS.items()
    for what, make in {"rows": good, "columns": columns, "blank lines": repeated("\n", "user,item,value\n"),
                       "cut lines": repeated("a\n", "user,item," + ",".join(f"c{n}" for n in range(998)) + "\n"),
                       }.items()
}  # fmt: skip
"""By what it is, the door of a file, its name, and how it is made."""


def main() -> int:
    """Grow every file, and print one row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=10.0)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    exceeded = 0
    print("| file | MB | seconds per MB | memory, MB | |\n|---|---|---|---|---|")
    for what, (door, name, make) in FILES.items():
        if asked.only not in what:
            continue
        with tempfile.TemporaryDirectory(prefix="recassay-grown-") as place:
            path = Path(place) / name
            path.write_bytes(make(int(asked.megabytes * 1e6)))
            ran = subprocess.run(
                [sys.executable, "-c", READ, str(path), door, str(TESTS)], capture_output=True, text=True
            )
        if ran.returncode:
            print(
                f"| {what} | {asked.megabytes:g} | | | FAULT: {ran.stderr.strip().splitlines()[-1][:100]} |", flush=True
            )
            exceeded += 1
            continue
        seconds, memory, said = ran.stdout.strip().split("\t")
        slow = float(seconds) > 2 * asked.megabytes
        large = float(memory) > 20e6 * asked.megabytes + 200e6
        exceeded += slow or large
        mark = " TOO SLOW" * slow + " TOO LARGE" * large
        print(f"| {what} | {asked.megabytes:g} | {float(seconds) / asked.megabytes:.2f} | {float(memory) / 1e6:.0f} "
              f"| {said.replace('|', '/')}{mark} |", flush=True)  # fmt: skip
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
