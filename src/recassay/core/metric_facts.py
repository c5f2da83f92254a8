"""What is known of a metric, each fact once: its kind, direction, bounds, cut-off, spelling and other names.

`FACTS` has the metrics that RecAssay computes or meets in tables; a metric of a plugin states the same record on its
class (`facts = MetricFacts(...)`). Code that needs a fact asks `named_facts`, or `labels.facts_of` for a label such as
`ndcg@10`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from recassay.core.errors import RecAssayError
from recassay.core.names import canonical

MetricKind: TypeAlias = Literal["accuracy", "beyond accuracy", "error", "cost", "other"]
"""`accuracy`: how well relevant items are found; `beyond accuracy`: what else lists are for; `error`: the distance of
predicted values from true ones; `cost`: time, memory and energy; `other`: a plugin's metric that does not say."""


@dataclass(frozen=True, slots=True)
class MetricFacts:
    """The facts of one metric, for every convention of it."""

    name: str
    summary: str = ""
    kind: MetricKind = "other"
    higher_is_better: bool = True
    bounds: tuple[float, float] | None = None
    """The least and the largest value by definition; None where there is no such limit."""
    unbounded: tuple[str, ...] = ()
    """Conventions (the first word in brackets) that may lie outside, and do not tell a hit by being above 0."""
    hit_like: bool = False
    """Whether it is above 0 for a user exactly when the first k places of the list hold one of their items."""
    cutoff: bool = True
    """Whether it can be one of the first k places of a list."""
    written: str = ""
    """How papers write it; by default the name with a capital letter."""
    aliases: tuple[str, ...] = ()
    letter: str = ""
    """The letter that stands for it before a cut-off, as in N@10."""
    beside: bool = False
    """Whether a header may name it beside a dataset without a cut-off, as in `ml-1m_recall`."""
    usual: bool = False
    """Whether a study that names no metrics reports it (the metrics that the KDD'24 study compares)."""

    @property
    def share(self) -> bool:
        """Whether its values lie between 0 and 1 (0 and 100 where a table gives them in percent)."""
        return self.bounds == (0, 1)

    def as_written(self) -> str:
        """The name as people write it: `nDCG`, `Exact match`."""
        return self.written or written_name(self.name)


def written_name(name: str) -> str:
    """A name of which nothing is known, with a capital letter and without underscores."""
    return name[:1].upper() + name[1:].replace("_", " ")


def _accuracy(name: str, summary: str, *aliases: str, hit_like: bool = True, **others: Any) -> MetricFacts:
    stated = {"bounds": (0, 1), "beside": hit_like, **others}
    return MetricFacts(name, summary, "accuracy", hit_like=hit_like, aliases=aliases, **stated)


def _beyond(name: str, summary: str, *aliases: str, higher_is_better: bool = True, **others: Any) -> MetricFacts:
    return MetricFacts(name, summary, "beyond accuracy", higher_is_better, aliases=aliases, **others)


def _error(name: str, summary: str, *aliases: str, higher_is_better: bool = False, **others: Any) -> MetricFacts:
    return MetricFacts(name, summary, "error", higher_is_better, cutoff=False, aliases=aliases, **others)


def _cost(name: str, summary: str, *aliases: str, **others: Any) -> MetricFacts:
    return MetricFacts(name, summary, "cost", higher_is_better=False, cutoff=False, aliases=aliases, **others)


_DOWN: dict[str, Any] = {"higher_is_better": False}
_SHARE: dict[str, Any] = {"bounds": (0, 1)}
_WEIGHTED: dict[str, Any] = {"unbounded": ("ips", "snips")}
_NO_LIST: dict[str, Any] = {"hit_like": False, "cutoff": False}

FACTS: tuple[MetricFacts, ...] = (
    _accuracy("ndcg", "normalised discounted cumulative gain", "normalized discounted cumulative gain",
              written="nDCG", letter="n", usual=True, **_WEIGHTED),
    _accuracy("hitrate", "share of users with a hit", "hit", "hits", "hr", "hit ratio",
              written="HitRate", letter="h", usual=True, **_WEIGHTED),
    _accuracy("precision", "share of the list that is relevant", "prec", "p", letter="p", usual=True),
    _accuracy("recall", "share of the relevant items that are listed", "rec", "r", letter="r", usual=True,
              **_WEIGHTED),
    _accuracy("map", "mean average precision", "mean average precision", "ap", written="MAP", usual=True,
              **_WEIGHTED),
    _accuracy("mrr", "mean reciprocal rank", "rr", "reciprocal rank", "mean reciprocal rank", "recip rank",
              written="MRR", usual=True),
    _accuracy("f1", "harmonic mean of precision and recall", "f1 score", "f score", "f measure", written="F1"),
    # A hit past the first R places does not count, R being the number of relevant items: it is not hit-like.
    _accuracy("rprecision", "precision at the number of relevant items", "r prec",
              written="R-Precision", hit_like=False),
    _accuracy("auc", "area under the ROC curve", "roc auc", "auroc", written="AUC", beside=True, **_NO_LIST),
    _beyond("coverage", "share of the catalogue recommended", "cov", "item coverage", "catalogue coverage",
            usual=True, **_SHARE),
    _beyond("diversity", "mean dissimilarity within a list", "div", "ild", "intra list diversity", usual=True),
    _beyond("novelty", "mean self-information of the recommended items", "nov", usual=True),
    _beyond("popularity", "mean popularity of the recommended items", "arp", "average popularity", **_DOWN),
    _beyond("longtail", "share of long-tail items recommended", "long tail share", "aplt",
            written="LongTail", **_SHARE),
    _beyond("gini", "inequality of item exposure", "gini index", "gini coefficient", written="Gini", **_DOWN, **_SHARE),
    _beyond("entropy", "entropy of item exposure", "shannon entropy", "s entropy"),
    _beyond("serendipity", "relevant and unexpected recommendations", "ser"),
    _beyond("calibration", "distance of list popularity from profile popularity", "miscalibration", **_DOWN),
    _beyond("aclt", "number of long-tail items in a list", "average coverage of long tail items", written="ACLT"),
    _beyond("epc", "share of training users who do not have the listed items", "expected popularity complement",
            written="EPC", **_SHARE),
    _beyond("efd", "self-information of the listed items by their share of interactions", "expected free discovery",
            written="EFD"),
    _beyond("user_coverage", "share of users with a list", "user space coverage", **_SHARE),
    _beyond("poprsp", "inequality of the chances of head and tail items to be listed", "rsp",
            written="PopRSP", **_DOWN, **_SHARE),
    _beyond("popreo", "inequality of the chances of relevant head and tail items to be listed", "reo",
            written="PopREO", **_DOWN, **_SHARE),
    _accuracy("accuracy", "share of correct answers", "acc", hit_like=False),
    _accuracy("balanced_accuracy", "mean over the classes of their share of right answers", "bacc", "balacc",
              **_NO_LIST),
    _error("rmse", "root mean squared error", written="RMSE", beside=True),
    _error("mse", "mean squared error", written="MSE"),
    _error("mae", "mean absolute error", written="MAE", beside=True),
    _error("logloss", "negative mean log-likelihood", "cross entropy", "nll", written="LogLoss", beside=True),
    # Tools write any loss under these names, so it is not a share.
    _error("error", "share of wrong answers, or another loss", "error rate", "metric error", "test error"),
    _cost("seconds_fit", "seconds to train", "fit time", "train time", "training time", "train s", "train time s",
          "time train s", "training time s", "training duration", "fit s", "fit seconds", written="training time (s)"),
    _cost("seconds_predict", "seconds to recommend", "predict time", "inference time", "test s", "time infer s",
          "inference time s", "predict duration", "predict s", written="recommendation time (s)"),
    _cost("seconds", "seconds in all", "time", "runtime", "time s", "duration", "duration s"),
    _cost("memory", "peak memory, MB", "peak memory", "memory gb", "memory mb"),
    _cost("joules", "energy, J", written="energy (J)"),
    _cost("energy", "energy consumed, in kWh", "energy consumed"),
    _cost("emissions", "carbon dioxide emitted, in kg"),
    _accuracy("hit_count", "mean number of hits in a list", bounds=None, beside=False),
    _beyond("items_covered", "number of items that were recommended at all"),
    _beyond("users_covered", "number of users with a list"),
    _accuracy("gauc", "area under the ROC curve, by user", written="GAUC", **_NO_LIST),
    _error("r2", "share of the variance that is explained", "r squared", higher_is_better=True),
    _error("mape", "mean absolute percentage error"),
    _error("smape", "symmetric mean absolute percentage error"),
    _error("wape", "weighted absolute percentage error"),
    _error("mase", "mean absolute scaled error"),
    _error("wql", "weighted quantile loss"),
    _error("sql", "scaled quantile loss"),
    _error("perplexity", "exponential of the mean negative log-likelihood", "ppl"),
    _accuracy("exact_match", "share of answers that match exactly", "em", **_NO_LIST),
    _accuracy("correctness", "accuracy as a dimension of ComPer", bounds=None, hit_like=False),
    _beyond("robustness", "shift of the average hit ratio under an attack", **_DOWN),
    _cost("scalability", "time to learn and recommend"),
)  # fmt: skip

OWN_FACTS = {facts.name: facts for facts in FACTS}
_BY_NAME = {canonical(name): facts for facts in FACTS for name in (facts.name, *facts.aliases)}


def named_facts(name: str) -> MetricFacts | None:
    """The facts of the metric of this name or alias (without a cut-off), ours first, then plugins'; None: unknown."""
    key = canonical(name)
    known = _BY_NAME.get(key)
    if known is not None:
        return known
    for stated, facts in _plugins():
        if key in map(canonical, (stated, facts.as_written(), *facts.aliases)):
            return facts
    return None


def all_facts() -> Iterator[MetricFacts]:
    """The facts of every known metric: ours in the order of `FACTS`, then plugins' by name."""
    yield from FACTS
    for _, facts in _plugins():
        yield facts


def of_kind(kind: MetricKind) -> list[MetricFacts]:
    """The known metrics of one kind."""
    return [facts for facts in all_facts() if facts.kind == kind]


def stated_facts(name: str, part: Any) -> MetricFacts:
    """The facts that the class of a metric states, or what follows from its direction, aliases and summary."""
    facts = getattr(part, "facts", None) or OWN_FACTS.get(name)
    if isinstance(facts, MetricFacts):
        return facts
    summary, aliases = getattr(part, "summary", ""), tuple(getattr(part, "aliases", ()))
    return MetricFacts(name, summary, higher_is_better=bool(part.higher_is_better), aliases=aliases)


def _plugins() -> Iterator[tuple[str, MetricFacts]]:
    """By registered name, the facts of the metrics that plugins add; one that cannot be loaded is passed over."""
    from recassay.core.registry import metrics

    for name in metrics.names():
        if name not in OWN_FACTS:
            with suppress(RecAssayError):
                yield name, stated_facts(name, metrics.get(name))
