"""Elliot: `performance/rec_cutoff_10_*.tsv` and the same as `triplets_*`.

The dataset is the folder above `performance`, the cut-off stands in the file's name. Elliot's Gini is 1 minus the Gini
coefficient and is turned; its MAP is the mean of precision@1 to precision@k; its ItemCoverage a count.
"""

from __future__ import annotations

import re

import polars as pl

from recassay.core import columns as c
from recassay.data.importers.contract import Imported, Importer, Kind, melted
from recassay.data.importers.conventions import COUNT, EXPONENTIAL, MEAN_PRECISION, Known, accuracy, with_conventions
from recassay.data.importers.opened import OpenedFile

METRICS = accuracy(
    ndcg=EXPONENTIAL,
    map=MEAN_PRECISION,
    gini=Known("gini", "over_n_minus_1: divided by n - 1 (largest value 1)", turned=True),
    coverage=Known("items_covered"),
    usercoverage=Known("users_covered"),
    numretrieved=Known("num_retrieved"),
    entropy=Known("entropy", "bits: in bits"),
    popularity=Known("popularity", COUNT),
)
_NAME = re.compile(r"^(?P<triplets>triplets_)?rec_(?:perf_)?cutoff_(?P<k>\d+)_relthreshold_(?P<threshold>[\d.]+)")
_SETTING = re.compile(r"_(?=[A-Za-z0-9]+=)")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_TEST = re.compile(r"^stat_(?:paired_ttest|wilcoxon_test)_cutoff_\d+")


def recognise(file: OpenedFile) -> Kind | None:
    """By the name that Elliot gives its files and a column `model`."""
    if file.header[:1] == ["model"] and (_NAME.match(file.stem) or _with_settings(file)):
        return "results"
    if _TEST.match(file.stem) or file.stem.startswith("bestmodelparams_cutoff"):
        return "other"
    first = (file.lines or [""])[0].split("\t")
    below = "recs" in file.parents()[:1] and file.suffix == ".tsv"
    return "lists" if below and len(first) == 3 and _NUMBER.fullmatch(first[2].strip()) else None


def read(file: OpenedFile) -> Imported:
    """One row for each model and metric, with the cut-off and the threshold of the file's name."""
    frame = file.frame
    named = _NAME.match(file.stem)
    if {"metric", "value"} <= set(frame.columns):
        value = pl.col(c.VALUE).cast(pl.Float64, strict=False)
        long = frame.select(pl.col("model").alias(c.ALGORITHM), c.METRIC, value)
    else:
        long = melted(frame, {"model": c.ALGORITHM})
    above = file.parents()
    dataset = above[1] if above[:1] == ["performance"] and len(above) > 1 else file.dataset()
    turned = "gini" in [name.lower() for name in long.get_column(c.METRIC).unique().to_list()]
    k, protocol = (int(named["k"]), f"Elliot relevance threshold {named['threshold']}") if named else (None, None)
    made = with_conventions(long, METRICS, framework="Elliot", k=k, dataset=dataset).with_columns(
        pl.lit(protocol, dtype=pl.String).alias(c.PROTOCOL),
        # The model without its settings: `ItemKNN_nn=20_sim=cosine` is ItemKNN.
        pl.col(c.ALGORITHM).map_elements(lambda name: _SETTING.split(name, maxsplit=1)[0], return_dtype=pl.String),
    )
    if made.select(c.ALGORITHM, c.METRIC).is_duplicated().any():
        made = made.with_columns(long.get_column(c.ALGORITHM))
    notes = ["Elliot's Gini is 1 minus the Gini coefficient and was turned"] if turned else []
    if named is None:
        notes.append("the cut-off of Elliot's metrics stands in the name that it gives the file, and is not known here")
    return Imported(made, tuple(notes))


def _with_settings(file: OpenedFile) -> bool:
    """Whether a model is written with its settings, as Elliot does: `ItemKNN_nn=20_sim=cosine`."""
    names = [line.split("\t")[0] for line in file.lines[1:50]]
    return "\t" in (file.lines or [""])[0] and any(re.search(r"\w_\w+=\S*_\w+=", name) for name in names)


IMPORTER = Importer(
    "elliot", "Elliot", "DATASET/performance/rec_cutoff_*.tsv and triplets_rec_cutoff_*.tsv", recognise, read
)
