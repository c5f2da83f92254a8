"""TREC: what `trec_eval` prints (with `-q` one line for each query), pytrec_eval's dictionary, and runs and qrels.

Lines are `measure query value`; the line of the query `all` holds the mean, which is left out where the queries
themselves are there. Gains of nDCG are the grades. A file is one system: `runid` where it says it, else by its name.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.system.lines import lines_of
from recassay.data.importers.contract import Imported, Importer, Kind, long_frame, melted
from recassay.data.importers.conventions import ANY, BY_RELEVANT, LINEAR, Known, accuracy, with_conventions
from recassay.data.importers.opened import OpenedFile
from recassay.data.reading.sniffing import is_number

METRICS = accuracy(
    ndcg=LINEAR,
    map=BY_RELEVANT,
    mrr=Known("mrr", "first: the first hit of the whole list counts"),
    success=Known("hitrate", ANY),
)
_LINE = re.compile(r"^(?P<measure>[A-Za-z][\w.@-]*)\s+(?P<query>\S+)\s+(?P<value>-?[\d.]+(?:[eE][+-]?\d+)?|nan)$")
_COUNTS = {"num_q", "num_ret", "num_rel", "num_rel_ret", "runid", "num_nonrel_judged_ret", "relstring"}
_MEASURES = re.compile(r"^(map|gm_map|P_\d+|recall_\d+|ndcg(_cut_\d+)?|recip_rank|Rprec|bpref|iprec_at|success_\d+|"
                       r"map_cut_\d+|set_|num_q|runid|infAP|11pt_avg|rel_|utility|relative_P)")  # fmt: skip


def recognise(file: OpenedFile) -> Kind | None:
    """Three columns of measure, query and number; six of a run; four of judgements; or pytrec_eval's dictionary."""
    if file.json is not None:
        return "user results" if _by_query(file.document) else None
    lines = [line.split() for line in file.lines[:60]]
    if not lines:
        return None
    if all(len(parts) == 6 and parts[1] in {"Q0", "0", "q0"} and is_number(parts[4]) for parts in lines):
        return "lists"
    if all(len(parts) == 4 and parts[1] in {"0", "Q0"} and re.fullmatch(r"-?\d+", parts[3]) for parts in lines):
        return "judgements"
    known = [len(parts) == 3 and bool(_MEASURES.match(parts[0])) for parts in lines]
    if sum(known) > 0.8 * len(known):
        return "results" if all(parts[1] == "all" for parts in lines if len(parts) == 3) else "user results"
    return None


def read(file: OpenedFile) -> Imported:
    """Means over queries with their deviation where each is there, else the printed means."""
    if file.json is not None:
        system = system_of(file)
        rows = [
            {c.METRIC: measure, c.USER: query, c.VALUE: value}
            for query, measures in file.json.items()
            for measure, value in measures.items()
        ]
    else:
        runid = re.search(r"^runid\s+all\s+(\S+)", file.text, re.MULTILINE)
        system = runid[1] if runid else system_of(file)
        lines = filter(None, (_LINE.match(line.strip()) for line in lines_of(file.text)))
        rows = [
            {c.METRIC: line["measure"], c.USER: line["query"], c.VALUE: float(line["value"])}
            for line in lines
            if line["measure"] not in _COUNTS and not line["measure"].startswith("iprec_at")
        ]
        if not rows:
            raise file.refused("holds no measure of trec_eval", fix="give the output of trec_eval -q")
    return query_results(rows, file, system, METRICS, "trec_eval")


def query_results(
    rows: Iterable[dict[str, Any]], file: OpenedFile, system: str, metrics: Mapping[str, Known], framework: str
) -> Imported:
    """The values of single queries; of a measure that no query has, the mean that the query `all` has of it."""
    table = long_frame(rows, algorithm=system).with_columns(
        pl.col(c.METRIC).str.replace(r"^success_(\d+)$", "success@$1")
    )
    queries = table.filter(pl.col(c.USER) != "all")
    means = table.filter(pl.col(c.USER) == "all").drop(c.USER)
    absent = means.join(queries, on=c.METRIC, how="anti", maintain_order="left")
    long = pl.concat([queries, absent], how="diagonal_relaxed") if queries.height else means
    made = with_conventions(long, metrics, framework=framework, dataset=file.folder())
    return Imported(made, (f"the dataset is not in it: that of the folder, {file.folder()!r}, was taken",))


def system_of(file: OpenedFile) -> str:
    """The system that a file is named after: `trec_eval_q_bm25.txt` is bm25."""
    return re.sub(r"^(pytrec_eval|trec_eval|eval|results|irm|ir_measures)[-_.]+(q[-_.]+)?", "", file.stem) or file.stem


def _by_query(document: dict[str, Any]) -> bool:
    """`{query: {measure: number}}` with trec_eval's names, which have no @; names without a digit are not queries."""
    if not any(re.search(r"\d", str(query)) for query in document) and len(document) < 50:
        return False
    first = next(iter(document.values()))
    return isinstance(first, dict) and bool(first) and "@" not in "".join(map(str, first)) and all(
        _MEASURES.match(str(name)) and isinstance(value, (int, float)) for name, value in first.items()
    )  # fmt: skip


IMPORTER = Importer(
    "trec",
    "trec_eval",
    "the output of trec_eval (-q for each query), pytrec_eval's dictionary as JSON",
    recognise,
    read,
    aliases=("trec_eval", "pytrec_eval"),
)


DEPTH = 10
_RUN = ("query", "q0", "document", "rank", "score", "system")
_JUDGEMENTS = ("query", "zero", "document", "grade")
_KEY = ["query", "document"]


def judged_run(run: OpenedFile, judgements: OpenedFile, dataset: str) -> Imported:
    """nDCG@10, precision@10, recall@10, MAP and the reciprocal rank of every judged query, as `trec_eval -c` has them.

    A run has lines `query Q0 document rank score system`, judgements (qrels) `query 0 document grade`. The order is
    that of the scores in single precision, ties by the name of the document, the last first; the written rank does
    not count. A query that a run leaves out counts 0. nDCG takes the grades as gains.
    """
    listed, judged = _columns(run, _RUN, "score"), _columns(judgements, _JUDGEMENTS, "grade")
    systems = listed.get_column("system").unique().to_list()
    system = systems[0] if len(systems) == 1 else re.sub(r"^runs?[-_.]+", "", run.stem)
    relevant = judged.filter(pl.col("grade") > 0)
    best = pl.col("grade").sort(descending=True).head(DEPTH)
    ideal = (best / pl.int_range(2, best.len() + 2).log(2)).sum()
    queries = relevant.group_by("query", maintain_order=True).agg(pl.len().alias("relevant"), ideal.alias("ideal"))
    if not listed.get_column("query").is_in(queries.get_column("query").to_list()).any():
        what = "has no query with a relevant document in the judgements"
        raise run.refused(what, fix=f"compare with {judgements.name}")
    per_query = queries.join(_reached(listed, relevant), on="query", how="left", maintain_order="left").fill_null(0)
    unanswered = queries.filter(~pl.col("query").is_in(listed.get_column("query").unique().to_list())).height
    measures = {
        f"ndcg_cut_{DEPTH}": pl.col("gain") / pl.col("ideal"),
        f"P_{DEPTH}": pl.col("hits") / DEPTH,
        f"recall_{DEPTH}": pl.col("hits") / pl.col("relevant"),
        "map": pl.col("precisions") / pl.col("relevant"),
        "recip_rank": pl.col("reciprocal"),
    }
    long = melted(per_query.select("query", **measures), {"query": c.USER}).with_columns(
        pl.lit(system).alias(c.ALGORITHM)
    )
    words, count = ("query is", "counts") if unanswered == 1 else ("queries are", "count")
    absent = f"{unanswered} judged {words} not in the run and {count} 0"
    notes = (absent,) if unanswered else ()
    return Imported(with_conventions(long, METRICS, framework="TREC run and qrels", dataset=dataset), notes)


def _reached(listed: pl.DataFrame, relevant: pl.DataFrame) -> pl.DataFrame:
    """By query, what the list reaches: gain and hits of its head, and over all of it precisions at hits."""
    ordered = listed.sort(
        "query", pl.col("score").cast(pl.Float32), "document", descending=[False, True, True]
    ).with_columns(pl.int_range(1, pl.len() + 1).over("query").alias("place"))
    hits = ordered.join(relevant, on=_KEY, how="inner", maintain_order="left").with_columns(
        pl.int_range(1, pl.len() + 1).over("query").alias("nth")
    )
    head = pl.col("place") <= DEPTH
    return hits.group_by("query", maintain_order=True).agg(
        (pl.col("grade") / (pl.col("place") + 1).log(2)).filter(head).sum().alias("gain"),
        head.sum().alias("hits"),
        (pl.col("nth") / pl.col("place")).sum().alias("precisions"),
        (1 / pl.col("place")).max().alias("reciprocal"),
    )


def _columns(file: OpenedFile, names: tuple[str, ...], number: str) -> pl.DataFrame:
    """The columns that count, the last but the number as text; each document stands once per query."""
    packed = re.sub(r" ?\r?\n\s*", "\n", re.sub(r"[ \t]+", " ", file.text.strip()))
    what = f"has lines that are not {len(names)} columns with a number as {number}"
    short = file.refused(what, fix=f"write lines {' '.join(names)}")
    try:
        frame = pl.read_csv(
            io.BytesIO(packed.encode()), separator=" ", has_header=False, quote_char=None, new_columns=list(names),
            schema_overrides=[pl.String] * len(names),
        )  # fmt: skip
        frame = frame.select(*(n for n in names if n in (*_KEY, "system")), pl.col(number).cast(pl.Float64))
    except pl.exceptions.PolarsError as error:
        raise short from error
    if sum(frame.null_count().row(0)):
        raise short
    if not np.isfinite(frame.get_column(number).to_numpy()).all():
        raise file.refused(f"has a {number} that is not a finite number", fix="write finite numbers")
    twice = frame.filter(pl.struct(_KEY).is_duplicated())
    if twice.height:
        query, document = twice.select(_KEY).row(0)
        raise file.refused(f"has the document {document!r} twice for the query {query!r}", fix="keep one line")
    return frame
