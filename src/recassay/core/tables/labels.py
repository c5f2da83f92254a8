"""Metric labels: `ndcg@10`, its aliases, and which direction is better.

A label is `name` or `name@k`. Names are case-insensitive and known under the usual aliases; what has no entry here
(and no plugin metric) has no known direction, and the user must say it.
"""

from __future__ import annotations

from dataclasses import dataclass

from recassay.core.errors import InputError, UsageError
from recassay.core.names import canonical, did_you_mean
from recassay.core.words import listing


@dataclass(frozen=True, slots=True)
class MetricLabel:
    """A metric's name, its direction and the other names people use for it."""

    name: str
    higher_is_better: bool
    summary: str
    aliases: tuple[str, ...] = ()


LARGEST_CUTOFF = 1_000_000
"""No list is longer; a larger number after the @ is a mistake."""

_UP, _DOWN = True, False

KNOWN_LABELS: tuple[MetricLabel, ...] = (
    MetricLabel("ndcg", _UP, "normalised discounted cumulative gain", ("normalized discounted cumulative gain",)),
    MetricLabel("hitrate", _UP, "share of users with a hit", ("hit", "hits", "hr", "hit ratio")),
    MetricLabel("precision", _UP, "share of the list that is relevant", ("prec", "p")),
    MetricLabel("recall", _UP, "share of the relevant items that are listed", ("rec", "r")),
    MetricLabel("map", _UP, "mean average precision", ("mean average precision", "ap")),
    MetricLabel("mrr", _UP, "mean reciprocal rank", ("rr", "reciprocal rank", "mean reciprocal rank", "recip rank")),
    MetricLabel("f1", _UP, "harmonic mean of precision and recall", ("f1 score", "f score", "f measure")),
    MetricLabel("rprecision", _UP, "precision at the number of relevant items", ("r prec",)),
    MetricLabel("auc", _UP, "area under the ROC curve", ("roc auc", "auroc")),
    MetricLabel("coverage", _UP, "share of the catalogue recommended", ("cov", "item coverage", "catalogue coverage")),
    MetricLabel("diversity", _UP, "mean dissimilarity within a list", ("div", "ild", "intra list diversity")),
    MetricLabel("novelty", _UP, "mean self-information of the recommended items", ("nov",)),
    MetricLabel("serendipity", _UP, "relevant and unexpected recommendations", ("ser",)),
    MetricLabel("entropy", _UP, "entropy of item exposure", ("shannon entropy", "s entropy")),
    MetricLabel("longtail", _UP, "share of long-tail items recommended", ("long tail share", "aplt")),
    MetricLabel("gini", _DOWN, "inequality of item exposure", ("gini index", "gini coefficient")),
    MetricLabel("popularity", _DOWN, "mean popularity of the recommended items", ("arp", "average popularity")),
    MetricLabel("calibration", _DOWN, "distance of list popularity from profile popularity", ("miscalibration",)),
    MetricLabel("accuracy", _UP, "share of correct answers", ("acc",)),
    MetricLabel("balanced_accuracy", _UP, "mean over the classes of their share of right answers", ("bacc", "balacc")),
    MetricLabel("rmse", _DOWN, "root mean squared error"),
    MetricLabel("mse", _DOWN, "mean squared error"),
    MetricLabel("mae", _DOWN, "mean absolute error"),
    MetricLabel("logloss", _DOWN, "negative mean log-likelihood", ("cross entropy", "nll")),
    MetricLabel("error", _DOWN, "share of wrong answers", ("error rate", "metric error", "test error")),
    MetricLabel("seconds", _DOWN, "time in seconds", ("time", "runtime", "time s", "duration", "duration s")),
    MetricLabel("seconds_fit", _DOWN, "seconds to train", (
        "fit time", "train time", "training time", "train s", "train time s", "time train s", "training time s",
        "training duration", "fit s", "fit seconds")),
    MetricLabel("seconds_predict", _DOWN, "seconds to recommend", (
        "predict time", "inference time", "test s", "time infer s", "inference time s", "predict duration",
        "predict s")),
    MetricLabel("hit_count", _UP, "mean number of hits in a list"),
    MetricLabel("items_covered", _UP, "number of items that were recommended at all"),
    MetricLabel("users_covered", _UP, "number of users with a list"),
    MetricLabel("gauc", _UP, "area under the ROC curve, by user"),
    MetricLabel("r2", _UP, "share of the variance that is explained", ("r squared",)),
    MetricLabel("mape", _DOWN, "mean absolute percentage error"),
    MetricLabel("smape", _DOWN, "symmetric mean absolute percentage error"),
    MetricLabel("wape", _DOWN, "weighted absolute percentage error"),
    MetricLabel("mase", _DOWN, "mean absolute scaled error"),
    MetricLabel("wql", _DOWN, "weighted quantile loss"),
    MetricLabel("sql", _DOWN, "scaled quantile loss"),
    MetricLabel("perplexity", _DOWN, "exponential of the mean negative log-likelihood", ("ppl",)),
    MetricLabel("exact_match", _UP, "share of answers that match exactly", ("em",)),
    MetricLabel("energy", _DOWN, "energy consumed, in kWh", ("energy consumed",)),
    MetricLabel("joules", _DOWN, "energy to train and recommend, in joules"),
    MetricLabel("emissions", _DOWN, "carbon dioxide emitted, in kg"),
    MetricLabel("correctness", _UP, "accuracy as a dimension of ComPer"),
    MetricLabel("robustness", _DOWN, "shift of the average hit ratio under an attack"),
    MetricLabel("scalability", _DOWN, "time to learn and recommend"),
    MetricLabel("memory", _DOWN, "peak memory", ("peak memory", "memory gb", "memory mb")),
)  # fmt: skip

_BY_NAME = {canonical(n): label for label in KNOWN_LABELS for n in (label.name, *label.aliases)}


COSTS = ("seconds", "seconds_fit", "seconds_predict", "memory", "joules", "energy", "emissions")
"""What an algorithm costs: no alternative to a metric of quality, unless it is named."""


def is_known(name: str) -> bool:
    """Whether `name` (without a cut-off) is one of `KNOWN_LABELS` or an alias of one."""
    return canonical(name) in _BY_NAME


def split_label(text: str) -> tuple[str, str | None]:
    """`ndcg@10` -> (`ndcg`, `10`); `auc` -> (`auc`, None); a convention stays with the cut-off: `map@10[by_k]`."""
    name, at, cutoff = text.strip().partition("@")
    if not at:
        name, bracket, variant = name.partition("[")
        return name.strip(), f"[{variant}" if bracket else None
    return name.strip(), cutoff.strip()


WRITTEN = {
    "ndcg": "nDCG", "map": "MAP", "mrr": "MRR", "auc": "AUC", "hitrate": "HitRate", "f1": "F1", "rprecision":
    "R-Precision", "longtail": "LongTail", "gini": "Gini", "rmse": "RMSE", "mse": "MSE", "mae": "MAE", "gauc": "GAUC",
    "logloss": "LogLoss", "seconds_fit": "training time (s)", "seconds_predict": "recommendation time (s)",
    "joules": "energy (J)",
}  # fmt: skip
"""Metrics as papers write them; others get a capital letter."""


def metric_name(label: str) -> str:
    """A metric as people write it: `nDCG@10` for `ndcg@10`."""
    name, k = split_label(label)
    written = WRITTEN.get(name, name[:1].upper() + name[1:].replace("_", " "))
    return f"{written}{_after(k)}"


def normal_label(text: str) -> str:
    """The label under which a metric is stored: known names and aliases become the known name, in lower case.

    `HR@10` -> `hitrate@10`; an unknown name keeps its letters, folded to lower case.
    """
    name, cutoff = split_label(text)
    known = _BY_NAME.get(canonical(name))
    base = known.name if known else name.lower()
    return f"{base}{_after(cutoff)}"


def _after(cutoff: str | None) -> str:
    """What follows the name in a label: `@10`, `[by_k]` or nothing."""
    return "" if cutoff is None else cutoff if cutoff.startswith("[") else f"@{cutoff}"


def refuse_bad_label(text: str, where: str | None = None) -> None:
    """Raise `InputError` for a label that is empty, or a known metric with a cut-off that is no whole number from 1."""
    name, cutoff = split_label(text)
    if not name:
        raise InputError(f"{text!r} is no metric label", where=where, fix="write name@k, as in ndcg@10")
    if cutoff is None or cutoff.startswith("[") or not is_known(name):
        return
    number = cutoff.partition("[")[0]
    if not (number.isascii() and number.isdigit() and 1 <= int(number[:12]) <= LARGEST_CUTOFF):
        raise InputError(
            f"{number[:40]!r} in {text[:80]!r} is no cut-off",
            where=where,
            fix=f"use a whole number from 1 to {LARGEST_CUTOFF:,}, as in ndcg@10",
        )


def known_direction(text: str) -> bool | None:
    """True where higher is better, False where lower is, None where nobody told us (table first, then plugins)."""
    name, _ = split_label(text)
    known = _BY_NAME.get(canonical(name))
    if known is not None:
        return known.higher_is_better
    from recassay.core.registry import metrics

    return bool(metrics.get(name).higher_is_better) if name in metrics else None


def find_label(text: str, available: list[str]) -> str:
    """The label among `available` that `text` means; a misspelt one raises with the nearest.

    A name without `@k` matches when exactly one cut-off of that metric is available.
    """
    wanted = normal_label(text)
    if wanted in available:
        return wanted
    of_that_name = [label for label in available if split_label(label)[0] == wanted]
    if len(of_that_name) == 1:
        return of_that_name[0]
    if of_that_name:
        raise UsageError(
            f"metric {text!r} is ambiguous", fix=f"choose one of {listing(sorted(of_that_name), most=None)}"
        )
    raise UsageError(f"no metric {text!r} in these results", fix=did_you_mean(text, available))
