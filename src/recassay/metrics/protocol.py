"""What a metric is: a name, a documented convention, and numbers for one set of lists."""

from __future__ import annotations

from typing import ClassVar, Literal, Protocol, TypeAlias, TypeGuard, runtime_checkable

from scipy.sparse import csr_array

from recassay.core.errors import UsageError
from recassay.core.metric_facts import OWN_FACTS, MetricFacts
from recassay.core.names import canonical, did_you_mean
from recassay.core.types import FloatArray, TopK
from recassay.metrics.context import EvaluationContext

Scope: TypeAlias = Literal["user", "catalogue"]


class Described(Protocol):
    """What every metric says of itself. `formula` is one line; `variants` are the conventions."""

    name: ClassVar[str]
    scope: ClassVar[Scope]
    formula: ClassVar[str]
    source: ClassVar[str]
    variants: ClassVar[dict[str, str]]
    higher_is_better: ClassVar[bool]
    k: int | None
    """The cut-off; None takes the lists as long as they are."""
    variant: str
    """The convention in force."""

    @property
    def label(self) -> str:
        """The name under which values are stored: `ndcg@10`, `map@10[by_k]`."""


@runtime_checkable
class UserMetric(Described, Protocol):
    """A metric with one value per user."""

    def per_user(self, top: TopK, truth: csr_array, context: EvaluationContext) -> FloatArray:
        """One value per row of `top`, NaN where the metric is undefined; row u of `truth` belongs to user u."""


@runtime_checkable
class CatalogueMetric(Described, Protocol):
    """A metric of all lists together, without a value for a single user."""

    def catalogue(self, top: TopK, truth: csr_array, context: EvaluationContext) -> float:
        """The value over all lists of `top`, NaN where it is undefined."""


Metric: TypeAlias = UserMetric | CatalogueMetric


def has_user_values(metric: Metric) -> TypeGuard[UserMetric]:
    """Whether the metric has a value for each user."""
    return metric.scope == "user"


def has_catalogue_value(metric: Metric) -> TypeGuard[CatalogueMetric]:
    """Whether the metric has one value for all lists together."""
    return metric.scope == "catalogue"


class MetricBase(Described):
    """The shared part of the metrics here; a plugin may use it or satisfy the protocol on its own.

    A subclass names itself and states its `facts`; those of the metrics here stand in `core/metric_facts.py`.
    Direction, aliases and summary follow from the facts.
    """

    facts: ClassVar[MetricFacts | None] = None
    """None: only what `higher_is_better`, `aliases` and `summary` say is known."""

    scope: ClassVar[Scope] = "user"
    aliases: ClassVar[tuple[str, ...]] = ()
    summary: ClassVar[str] = ""
    whole_ranking: ClassVar[bool] = False
    """Whether it reads the order of the whole catalogue, so that a study gives it lists of that length."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        defined = cls.__dict__
        facts = defined.get("facts") or OWN_FACTS.get(defined.get("name", ""))
        if "name" in defined:  # a metric of another name does not inherit the facts
            cls.facts = facts
        if facts is not None:
            cls.higher_is_better, cls.aliases, cls.summary = facts.higher_is_better, facts.aliases, facts.summary

    def __init__(self, k: int | None = None, variant: str | None = None) -> None:
        if k is not None and k < 1:
            raise UsageError(f"{self.name}@{k} has no list to look at", fix="use a cut-off of at least 1")
        wanted = next(iter(self.variants)) if variant is None else variant
        by_name = {canonical(known): known for known in self.variants}
        if canonical(wanted) not in by_name:
            raise UsageError(f"{self.name} has no variant {wanted!r}", fix=did_you_mean(wanted, self.variants))
        self.k, self.variant = k, by_name[canonical(wanted)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.label})"

    @property
    def label(self) -> str:
        """`ndcg@10`; a convention other than the default stands in brackets: `map@10[by_k]`."""
        cutoff = "" if self.k is None else f"@{self.k}"
        default = next(iter(self.variants))
        return f"{self.name}{cutoff}" + ("" if self.variant == default else f"[{self.variant}]")

    def depth(self, top: TopK) -> int:
        """The k of the formula: the cut-off, or the width of the lists where there is none."""
        return top.k if self.k is None else self.k
