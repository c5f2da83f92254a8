"""The words by which tables name their parts: columns, levels of headers, statistics, repeats and settings."""

from __future__ import annotations

import re
from collections.abc import Iterable

from recassay.core import columns as c
from recassay.core.names import canonical

PHASE = "phase"
CUTOFF = "cutoff"
SYNONYMS: dict[str, tuple[str, ...]] = {
    c.ALGORITHM: ("algorithm", "algo", "model", "method", "recommender", "classifier", "system", "approach",
                  "model name", "model names", "models", "methods", "algorithms", "algorithm name", "estimator",
                  "approaches", "recommenders", "systems", "classifiers", "method name"),
    c.DATASET: ("dataset", "data", "data set", "task", "benchmark", "dataset name", "datasets", "data sets", "corpus",
                "corpora", "tasks", "benchmarks", "task name", "collection"),
    c.METRIC: ("metric", "measure", "metrics", "metric name", "evaluation metric", "measures"),
    c.VALUE: ("value", "score", "result", "metric value", "mean", "average", "avg", "estimate"),
    c.SEED: ("seed", "random state", "random seed", "run", "trial", "repeat", "repetition", "replicate", "repeat id",
             "i repeat", "i run", "seed id"),
    c.FOLD: ("fold", "cv fold", "fold id", "i split", "split id", "i fold", "cv", "cv split", "fold no", "fold number",
             "split no", "split number", "n fold", "k fold"),
    c.DEVIATION: ("deviation", "std", "stdev", "std dev", "sd", "stddev", "standard deviation"),
    c.RUNS: ("runs", "n runs", "num runs", "number of runs", "n seeds"),
    c.USER: ("user", "user id", "uid", "query", "query id", "q id", "topic", "instance", "instance id", "sample id",
             "doc id", "example id"),
}  # fmt: skip
"""Column names accepted in place of ours, compared by `names.canonical`; used only where exactly one fits."""

INTERVAL = (("ci low", "ci lower", "lower", "low", "lower ci", "lower bound", "ci95 low", "95 ci low"),
            ("ci high", "ci upper", "upper", "high", "upper ci", "upper bound", "ci95 high", "95 ci high"))  # fmt: skip
"""Names of the two columns of a 95 % interval in a long table."""
ERRORS = ("stderr", "std err", "std error", "se", "sem", "standard error")
"""Names of columns that hold the standard error of the value beside it."""

PHASES = ("split", "subset", "phase", "partition", "stage", "set", "eval set")
TEST, OTHER_PHASES = {"test", "testing", "testset"}, {"valid", "validation", "val", "dev", "train", "training"}
IGNORED = frozenset(map(canonical, (
    "year", "venue", "rank", "#", "no", "id", "index", "epoch", "epochs", "lr", "learning rate", "batch size", "dim",
    "", "embedding size", "embedding dim", "hidden size", "n layers", "layers", "weight decay", "l2", "dropout", "k",
    "n factors", "factors", "users", "items", "interactions", "timestamp", "date", "Unnamed: 0", "level 0", "run id",
    "params", "parameters", "params (m)", "params (b)", "#params", "# params", "size", "model size", "flops", "wins",
    "#wins", "# wins", "best epoch", "n trials", "trials",
)))  # fmt: skip
"""Columns of numbers that are settings and counters, not metrics."""
UNNAMED = frozenset(map(canonical, ("", "index", "level 0", "level 1", "Unnamed: 0", "Unnamed: 1")))
"""Headers by which tools write a column that has no name."""
STATISTICS = {"mean": "value", "avg": "value", "average": "value", "value": "value", "score": "value",
              "std": "deviation", "stdev": "deviation", "sd": "deviation", "std dev": "deviation", "±": "deviation",
              "stderr": "error", "sem": "error", "se": "error", "count": "skip", "median": "skip", "min": "skip",
              "max": "skip", "var": "skip", "25%": "skip", "50%": "skip", "75%": "skip"}  # fmt: skip
GAIN = re.compile(r"^\W*(rel(ative)?\W*)?(improv|impr\b|gain|Δ|delta|p-?val|%\s*impr|increase)", re.IGNORECASE)
"""Names of rows and columns that compare the others and are no algorithms."""
AVERAGE = re.compile(
    r"^\W*((macro|micro|overall)?\W*(avg|average|mean)\W*(score|value|ranking|rank)?|overall|(avg|mean)\W*position)\W*$",
    re.IGNORECASE,
)
"""Names of rows and columns that average the others."""
CUTOFFS = frozenset(map(canonical, ("k", "top k", "top@k", "@k", "at k", "cutoff", "top n", "list length")))
"""Names of a column of cut-offs beside metrics that name none."""

_ROLES = {canonical(word): role for role, words in SYNONYMS.items() for word in words}


_INSTANCES = frozenset(map(canonical, ("instance", "instance id", "sample id", "doc id", "example id")))
_MODELS = frozenset(map(canonical, ("model", "models", "model name", "model names")))
_TASKS = frozenset(map(canonical, ("task", "tasks", "task name")))


def words_of(headers: Iterable[str]) -> tuple[str, str]:
    """What a table calls what it compares and what on: tasks where a header says so, and models where that one does.

    A column `model` beside datasets is the usual name of an algorithm, and changes nothing but beside test instances.
    """
    said = {canonical(cell) for cell in headers}
    if not said & _TASKS:
        return "model" if said & _INSTANCES and said & _MODELS else c.ALGORITHM, c.DATASET
    return "model" if said & _MODELS else c.ALGORITHM, "task"


def role_word(text: str) -> str | None:
    """The role that a word names (`Method` is an algorithm); None for every other word."""
    return _ROLES.get(canonical(text))
