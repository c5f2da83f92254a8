"""The words by which tables name their parts: columns, levels of headers, statistics, repeats and settings."""

from __future__ import annotations

import re
from collections.abc import Iterable

from recassay.core import columns as c
from recassay.core.names import canonical

PHASE = "phase"
CUTOFF = "cutoff"


def _words(text: str) -> tuple[str, ...]:
    """The words of a text, in the form of `names.canonical`."""
    return tuple(map(canonical, text.split()))


SYNONYMS = {
    c.ALGORITHM: _words(
        "algorithm algo model method recommender classifier system approach model_name model_names models methods "
        "algorithms algorithm_name estimator approaches recommenders systems classifiers method_name "
        "algorithmus modell verfahren methode algorithme modèle méthode"
    ),
    c.DATASET: _words(
        "dataset data data_set task benchmark dataset_name datasets data_sets corpus corpora tasks benchmarks "
        "task_name collection datensatz jeu_de_données"
    ),
    c.METRIC: _words("metric measure metrics metric_name evaluation_metric measures metrik métrique"),
    c.VALUE: _words("value score result metric_value mean average avg estimate wert valeur"),
    c.SEED: _words(
        "seed random_state random_seed run trial repeat repetition replicate repeat_id i_repeat i_run seed_id"
    ),
    c.FOLD: _words(
        "fold cv_fold fold_id i_split split_id i_fold cv cv_split fold_no fold_number split_no split_number n_fold "
        "k_fold"
    ),
    c.DEVIATION: _words("deviation std stdev std_dev sd stddev standard_deviation"),
    c.RUNS: _words("runs n_runs num_runs number_of_runs n_seeds"),
    c.USER: _words("user user_id uid query query_id q_id topic instance instance_id sample_id doc_id example_id"),
}
"""Column names accepted in place of ours, compared by `names.canonical`; used only where exactly one fits."""

INTERVAL = (
    _words("ci_low ci_lower lower low lower_ci lower_bound ci95_low 95_ci_low"),
    _words("ci_high ci_upper upper high upper_ci upper_bound ci95_high 95_ci_high"),
)
"""Names of the two columns of a 95 % interval in a long table."""
DEVIATIONS = {*SYNONYMS[c.DEVIATION], *_words("± +/-")}
ERRORS = _words("stderr std_err std_error se sem standard_error")
"""Names of columns that hold the standard deviation, or the standard error, of the value beside it."""

BACKBONES = frozenset(_words("backbone base_model backbone_model base_recommender encoder architecture"))
"""Names of a column beside that of methods: one method on two of its names is two algorithms."""
PHASES = _words("split subset phase partition stage set eval_set")
TEST, OTHER_PHASES = {"test", "testing", "testset"}, {"valid", "validation", "val", "dev", "train", "training"}
IGNORED = frozenset(_words(
    "year venue rank # no id index epoch epochs lr learning_rate batch_size dim embedding_size embedding_dim "
    "hidden_size n_layers layers weight_decay l2 dropout k n_factors factors users items interactions timestamp date "
    "Unnamed:0 level_0 run_id params parameters params(m) params(b) #params size model_size flops wins #wins "
    "best_epoch n_trials trials"
)) | {""}  # fmt: skip
"""Columns of numbers that are settings and counters, not metrics."""
EPOCHS = frozenset(_words("epoch epochs step steps iteration iter checkpoint global_step"))
"""Names of a column that counts how far a training went."""
UNNAMED = {"", *_words("index level_0 level_1 Unnamed:0 Unnamed:1")}
"""Headers by which tools write a column that has no name."""
STATISTICS = {"mean": "value", "avg": "value", "average": "value", "value": "value", "score": "value",
              "std": "deviation", "stdev": "deviation", "sd": "deviation", "std dev": "deviation", "±": "deviation",
              "stderr": "error", "sem": "error", "se": "error", "count": "skip", "median": "skip", "min": "skip",
              "max": "skip", "var": "skip", "25%": "skip", "50%": "skip", "75%": "skip"}  # fmt: skip
GAIN = re.compile(r"^\W*(rel(ative)?\W*)?(improv|impr\b|gain|Δ|delta|p-?val|%\s*impr|increase)", re.IGNORECASE)
"""Names of rows and columns that compare the others and are not algorithms."""
AVERAGE = re.compile(
    r"^\W*+((macro|micro|overall)?\W*+(avg|average|mean)\W*+(score|value|ranking|rank)?|overall|(avg|mean)\W*+position)"
    r"\W*+$",
    re.IGNORECASE,
)
"""Names of rows and columns that average the others. Marks are never given back (`*+`): a long row of them would take
minutes."""
CUTOFFS = _words("k top_k top@k @k at_k cutoff top_n list_length")
"""Names of a column of cut-offs beside metrics that name none."""

_ROLES = {word: role for role, words in SYNONYMS.items() for word in words}
_INSTANCES = {*_words("instance instance_id sample_id doc_id example_id")}
_MODELS = {*_words("model models model_name model_names")}
_TASKS = {*_words("task tasks task_name")}


def words_of(headers: Iterable[str]) -> tuple[str, str]:
    """What a table calls what it compares and what on: tasks where a header says so, and models where that one does.

    A column `model` beside datasets is the usual name of an algorithm, and changes nothing but beside test instances.
    """
    words = {canonical(cell) for cell in headers}
    if not words & _TASKS:
        return "model" if words & _INSTANCES and words & _MODELS else c.ALGORITHM, c.DATASET
    return "model" if words & _MODELS else c.ALGORITHM, "task"


def role_word(text: str) -> str | None:
    """The role that a word names (`Method` is an algorithm); None for every other word."""
    return _ROLES.get(canonical(text))
