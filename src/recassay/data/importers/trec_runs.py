"""TREC runs with judgements: one value per query and system, as `trec_eval -c` computes them.

A run has lines `query Q0 document rank score system`, judgements (qrels) `query 0 document grade`. The order is that of
the scores in single precision, ties by the name of the document, the last first; the written rank does not count. A
query that a run leaves out counts 0. nDCG takes the grades as gains.
"""

from __future__ import annotations

import io
import re

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.data.importers.contract import Imported
from recassay.data.importers.conventions import with_conventions
from recassay.data.importers.opened import OpenedFile
from recassay.data.importers.trec import METRICS

DEPTH = 10
_RUN = ("query", "q0", "document", "rank", "score", "system")
_JUDGEMENTS = ("query", "zero", "document", "grade")
_KEY = ["query", "document"]


def judged_run(run: OpenedFile, judgements: OpenedFile, dataset: str) -> Imported:
    """nDCG@10, precision@10, recall@10, MAP and the reciprocal rank of every judged query."""
    listed, judged = _columns(run, _RUN, "score"), _columns(judgements, _JUDGEMENTS, "grade")
    systems = listed.get_column("system").unique().to_list()
    system = systems[0] if len(systems) == 1 else re.sub(r"^runs?[-_.]+", "", run.stem)
    relevant = judged.filter(pl.col("grade") > 0)
    queries = _ideal(relevant)
    if not listed.get_column("query").is_in(queries.get_column("query").to_list()).any():
        raise InputError(
            "has no query with a relevant document in the judgements",
            where=run.name,
            fix=f"compare with {judgements.name}",
        )
    per_query = queries.join(_reached(listed, relevant), on="query", how="left", maintain_order="left").fill_null(0)
    unanswered = queries.filter(~pl.col("query").is_in(listed.get_column("query").unique().to_list())).height
    measures = {
        f"ndcg_cut_{DEPTH}": pl.col("gain") / pl.col("ideal"),
        f"P_{DEPTH}": pl.col("hits") / DEPTH,
        f"recall_{DEPTH}": pl.col("hits") / pl.col("relevant"),
        "map": pl.col("precisions") / pl.col("relevant"),
        "recip_rank": pl.col("reciprocal"),
    }
    long = pl.concat(
        per_query.select(
            pl.lit(system).alias(c.ALGORITHM), pl.lit(dataset).alias(c.DATASET), pl.lit(name).alias(c.METRIC),
            pl.col("query").alias(c.USER), value.cast(pl.Float64).alias(c.VALUE),
        )
        for name, value in measures.items()
    )  # fmt: skip
    notes = [f"{unanswered} judged queries are not in the run and count 0"] if unanswered else []
    return Imported(with_conventions(long, METRICS, framework="TREC run and qrels"), tuple(notes))


def _ideal(relevant: pl.DataFrame) -> pl.DataFrame:
    """By query, how many documents are relevant, and the gain of the best possible list."""
    place = pl.col("grade").rank("ordinal", descending=True).over("query")
    gain = pl.when(place <= DEPTH).then(pl.col("grade") / (place + 1).log(2)).otherwise(0)
    return relevant.group_by("query", maintain_order=True).agg(pl.len().alias("relevant"), gain.sum().alias("ideal"))


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
    short = InputError(
        f"has lines that are not {len(names)} columns with a number as {number}", where=file.name,
        fix=f"write lines {' '.join(names)}",
    )  # fmt: skip
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
        raise InputError(f"has a {number} that is not a finite number", where=file.name, fix="write finite numbers")
    twice = frame.filter(pl.struct(_KEY).is_duplicated())
    if twice.height:
        query, document = twice.select(_KEY).row(0)
        raise InputError(
            f"has the document {document!r} twice for the query {query!r}", where=file.name, fix="keep one line"
        )
    return frame
