"""Further files of the table of faults: tables in other guises, lists, study files, plugins, wrong in one way each."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

from support.fault_files import CLASSIFY, EVENTS, GOOD, HEAD, LISTS, ROWS, STUDY, study


def _value(text: str) -> str:
    """The good results with one value written otherwise."""
    return HEAD + "".join(ROWS[:2]) + ROWS[2].rsplit(",", 1)[0] + f",{text}\n" + "".join(ROWS[3:])


def _events(keep: int, head: str = "", tail: str = "") -> str:
    """The first columns of the interactions, and perhaps another one."""
    first, *rows = [",".join(line.split(",")[:keep]) for line in EVENTS.splitlines()]
    return "\n".join([first + head, *(row + tail for row in rows)]) + "\n"


def _protocol(new: str) -> str:
    return study('filter = "none"', f'filter = "once"\n{new}')


PLUGIN = '''
def function(): pass

class NoFit:
    name, space, source = "NoFit", {}, "none"

class NoName:
    space = {}
    def fit(self, train, *, rng): pass

class BadSpace:
    name, space, source = "BadSpace", {"x": 3}, "none"
    def __init__(self, x=1): pass
    def fit(self, train, *, rng): pass
'''  # fmt: skip

OTHERS: dict[str, str | bytes] = {
    "crlf.csv": GOOD.replace("\n", "\r\n"),
    "semicolon.csv": GOOD.replace(",", ";"),
    "tabs.csv": GOOD.replace(",", "\t"),
    "bomgood.csv": b"\xef\xbb\xbf" + GOOD.encode(),
    "quotes.csv": GOOD.replace("EASE", '"EASE"'),
    "spaces.csv": GOOD.replace("Pop", " EASE "),
    "fraction.csv": _value("1/2"),
    "truefalse.csv": _value("True"),
    "underscore.csv": _value("1_0"),
    "hex.csv": _value("0x1p3"),
    "above.csv": HEAD + "".join(r.rsplit(",", 1)[0] + f",{n + 2}\n" for n, r in enumerate(ROWS)),
    # Interactions
    "notimes.csv": _events(2),
    "sametimes.csv": _events(3, ",timestamp", ",1600000000"),
    "negativetimes.csv": "user,item,timestamp\n" + "".join(f"u{n},i{n % 3},-{n}\n" for n in range(20)),
    "oneitem.csv": "user,item\n" + "".join(f"u{n},i\n" for n in range(20)),
    # Lists
    "ranknegative.csv": LISTS.replace(",1\n", ",-1\n"),
    "rankword.csv": LISTS.replace(",1\n", ",first\n", 1),
    "ranktwice.csv": LISTS.replace(",2\n", ",1\n"),
    "scoreinf.csv": "user,item,score\n" + "".join(f"u{u},i{n},{n or 'inf'}\n" for u in range(20) for n in range(3)),
    "otheritems.csv": "user,item,rank\n" + "".join(f"u{u},x{n},{n + 1}\n" for u in range(20) for n in range(3)),
    # Studies
    "namenumber.toml": study('name = "tiny"', "name = 3"),
    "namedate.toml": study('name = "tiny"', "name = 2020-01-01"),
    "nameempty.toml": study('name = "tiny"', 'name = ""'),
    "datasetsword.toml": study('["./events.csv"]', '"./events.csv"'),
    "datasetsnumber.toml": study('["./events.csv"]', "[1]"),
    "datasetsnested.toml": study('["./events.csv"]', '[["./events.csv"]]'),
    "metricsword.toml": study('["ndcg@10"]', '"ndcg@10"'),
    "metricsnumber.toml": study('["ndcg@10"]', "[10]"),
    "protocolword.toml": 'protocol = "random"\n' + study('[protocol]\nsplit = "random"\nfilter = "none"\n'),
    "splitnumber.toml": study('split = "random"', "split = 3"),
    "splitunknown.toml": study('split = "random"', 'split = "randum"'),
    "filterunknown.toml": study('filter = "none"', 'filter = "maybe"'),
    "minnegative.toml": _protocol("min_item_interactions = -1"),
    "minfloat.toml": _protocol("min_item_interactions = 2.5"),
    "ratiosword.toml": _protocol('ratios = "0.8"'),
    "ratiosnegative.toml": _protocol("ratios = [1.2, -0.1, -0.1]"),
    "tuningmetric.toml": study("trials = 0", 'trials = 2\nmetric = "sparkle@3"'),
    "parallelzero.toml": study("trials = 0", "trials = 2\nparallel = 0"),
    "parallelhuge.toml": study("trials = 0", "trials = 2\nparallel = 100000000000"),
    "budgetword.toml": "budget = 3\n" + STUDY,
    "memoryword.toml": study(more='[budget]\nmemory_gb = "8"\n'),
    "memorynegative.toml": study(more="[budget]\nmemory_gb = -8\n"),
    "algorithmnumber.toml": study(more="[algorithm]\nMostPop = 3\n"),
    "algorithmother.toml": study(more="[algorithm.EASE]\nreg = 3.0\n"),
    "spacebackwards.toml": study('["MostPop"]', '["EASE"]', more="[algorithm.EASE]\nreg = { low = 30.0, high = 1 }\n"),
    "datasetother.toml": study(more='[dataset.nosuch.read]\ndelimiter = ","\n'),
    "readunknown.toml": study(more="[dataset.events.read]\ncolour = 3\n"),
    "readdelimiter.toml": study(more="[dataset.events.read]\ndelimiter = 3\n"),
    "twicekey.toml": study("seed = 1", "seed = 1\nseed = 2"),
    "comperbad.toml": study(more="[comper]\ncorrectness = 3\n"),
    "bom.toml": b"\xef\xbb\xbf" + STUDY.encode(),
    "crlf.toml": STUDY.replace("\n", "\r\n"),
    "utf16.toml": STUDY.encode("utf-16"),
    "latin.toml": STUDY.replace("tiny", "caf\xe9").encode("latin-1"),
    "list.yaml": "- study\n- 3\n",
    "tag.yaml": "study: !!python/object/apply:os.system ['echo hi']\n",
    "twice.yaml": "study:\n  name: a\n  name: b\n",
    "tab.yaml": "study:\n\tname: a\n",
    "study.json": '{"study": {"name": "x"}}',
    "classnumber.toml": CLASSIFY.replace('["optimal", "pessimal"]', "[1, 2]"),
    "classunknownkey.toml": CLASSIFY + "[protocol]\ncolour = 3\n",
    # Plugins
    "plugwrong.py": PLUGIN,
    "plugsyntax.py": "class X(:\n",
    "plugraise.py": "raise ValueError('boom\\nsecond line')\n",
    "plugempty.py": "",
    "plugexit.py": "import sys; sys.exit(7)\n",
}  # fmt: skip


def write_others(folder: Path, finished: Path) -> None:
    """All of them into `folder`, and copies of the study `finished`: whole, damaged, of another version, no store."""
    for name, content in OTHERS.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    for name in ("study", "damaged", "newer", "notours", "emptystore"):
        shutil.copytree(finished, folder / name)
    index = folder / "damaged" / "study.sqlite"
    content = bytearray(index.read_bytes())
    content[4096:9000] = b"\xff" * (9000 - 4096)
    index.write_bytes(content)
    for name, said in (("newer", "user_version = 99"), ("notours", "application_id = 5")):
        with sqlite3.connect(folder / name / "study.sqlite") as connection:
            connection.execute(f"PRAGMA {said}")
        connection.close()
    (folder / "emptystore" / "study.sqlite").write_bytes(b"")
