"""TREC: what `trec_eval` prints (with `-q` one line for each query), pytrec_eval's dictionary, and runs and qrels.

Lines are `measure query value`; the line of the query `all` holds the mean, which is left out where the queries
themselves are there. Gains of nDCG are the grades. A file is one system: `runid` where it says it, else by its name.
"""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.system.lines import lines_of
from recassay.data.importers.contract import Imported, Importer, Kind, long_frame
from recassay.data.importers.conventions import BY_RELEVANT, LINEAR, Known, accuracy, with_conventions
from recassay.data.importers.opened import OpenedFile

METRICS = accuracy(ndcg=LINEAR, map=BY_RELEVANT) | {
    "mrr": Known("mrr", "first: the first hit of the whole list counts"),
    "success": Known("hitrate", "any: one hit is enough"),
}
_LINE = re.compile(r"^(?P<measure>[A-Za-z][\w.@-]*)\s+(?P<query>\S+)\s+(?P<value>-?[\d.]+(?:[eE][+-]?\d+)?|nan)$")
_COUNTS = {"num_q", "num_ret", "num_rel", "num_rel_ret", "runid", "num_nonrel_judged_ret", "relstring"}
_MEASURES = re.compile(r"^(map|gm_map|P_\d+|recall_\d+|ndcg(_cut_\d+)?|recip_rank|Rprec|bpref|iprec_at|success_\d+|"
                       r"map_cut_\d+|set_|num_q|runid|infAP|11pt_avg|rel_|utility|relative_P)")  # fmt: skip


def recognise(file: OpenedFile) -> Kind | None:
    """Three columns of measure, query and number; six of a run; four of judgements; or pytrec_eval's dictionary."""
    if file.json is not None:
        return "user results" if _by_query(file.json) else None
    lines = [line.split() for line in file.lines[:60]]
    if not lines:
        return None
    if all(len(parts) == 6 and parts[1] in {"Q0", "0", "q0"} and _number(parts[4]) for parts in lines):
        return "lists"
    if all(len(parts) == 4 and parts[1] in {"0", "Q0"} and re.fullmatch(r"-?\d+", parts[3]) for parts in lines):
        return "judgements"
    known = [len(parts) == 3 and bool(_MEASURES.match(parts[0])) for parts in lines]
    if sum(known) > 0.8 * len(known):
        return "results" if all(parts[1] == "all" for parts in lines if len(parts) == 3) else "user results"
    return None


def read(file: OpenedFile) -> Imported:
    """Means over queries with their deviation where each is there, else the printed means."""
    system = system_of(file)
    if file.json is not None:
        rows = [
            {c.METRIC: measure, c.USER: query, c.VALUE: value}
            for query, measures in file.json.items()
            for measure, value in measures.items()
            if query != "all"
        ]
        queries, means = long_frame({**row, c.ALGORITHM: system} for row in rows), None
    else:
        runid = re.search(r"^runid\s+all\s+(\S+)", file.text, re.MULTILINE)
        system = runid[1] if runid else system
        found = [match for line in lines_of(file.text) if (match := _LINE.match(line.strip()))]
        told = [
            {c.ALGORITHM: system, c.METRIC: one["measure"], c.USER: one["query"], c.VALUE: float(one["value"])}
            for one in found if one["measure"] not in _COUNTS and not one["measure"].startswith("iprec_at")
        ]  # fmt: skip
        if not told:
            raise InputError("holds no measure of trec_eval", where=file.name, fix="give the output of trec_eval -q")
        table = long_frame(told)
        queries, means = table.filter(pl.col(c.USER) != "all"), table.filter(pl.col(c.USER) == "all").drop(c.USER)
    long = queries if queries.height else means
    assert long is not None
    if means is not None and queries.height:
        absent = means.filter(~pl.col(c.METRIC).is_in(queries.get_column(c.METRIC).unique().to_list()))
        long = pl.concat([long, absent], how="diagonal_relaxed")
    made = with_conventions(long, METRICS, framework="trec_eval").with_columns(pl.lit(file.folder()).alias(c.DATASET))
    return Imported(made, (f"the dataset is not in it: that of the folder, {file.folder()!r}, was taken",))


def system_of(file: OpenedFile) -> str:
    """The system that a file is named after: `trec_eval_q_bm25.txt` is bm25."""
    return re.sub(r"^(pytrec_eval|trec_eval|eval|results|irm|ir_measures)[-_.]+(q[-_.]+)?", "", file.stem) or file.stem


def _by_query(document: Any) -> bool:
    """`{query: {measure: number}}` with trec_eval's names; names without a digit are of systems, not of queries."""
    if not isinstance(document, dict) or not document:
        return False
    if not any(re.search(r"\d", str(query)) for query in document) and len(document) < 50:
        return False
    first = next(iter(document.values()))
    return isinstance(first, dict) and bool(first) and all(
        _MEASURES.match(str(name)) and isinstance(value, (int, float)) for name, value in first.items()
    )  # fmt: skip


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


IMPORTER = Importer(
    "trec",
    "trec_eval",
    "the output of trec_eval (-q for each query), pytrec_eval's dictionary as JSON",
    recognise,
    read,
    aliases=("trec_eval", "pytrec_eval"),
)
