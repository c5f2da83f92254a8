"""Every registered metric against every promise, and the suite against metrics that break one."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from recassay.core.registry import metrics
from recassay.core.types import TopK
from recassay.metrics.accuracy import HitRate
from recassay.metrics.beyond import Novelty
from recassay.metrics.exposure import Coverage
from recassay.metrics.protocol import MetricBase
from recassay.testing import METRIC_CHECKS, ConformanceError, check_metric, metric_checks
from recassay.testing.examples import judged_lists
from support.places import announced


@pytest.mark.parametrize("name", metrics.names())
def test_promises(name: str) -> None:
    check_metric(metrics.get(name))


def test_every_metric_of_the_package_is_in_the_suite() -> None:
    assert announced("recassay.metrics") <= set(metrics.names())


def test_every_check_is_in_the_list() -> None:
    written = {
        name for name, value in vars(metric_checks).items() if name.startswith("check_") and inspect.isfunction(value)
    }
    assert written - {"check_metric"} == {check.__name__ for check in METRIC_CHECKS}


def test_the_example_has_every_kind_of_user() -> None:
    given = judged_lists()
    relevant, past = (np.diff(part.indptr)[given.top.users] for part in (given.truth, given.train))
    length = (given.top.items >= 0).sum(axis=1)
    assert {0, 3, 8} <= set(length.tolist())
    assert (relevant == 0).any()
    assert (past == 0).any()
    assert ((relevant > 0) & (length == 0)).any()
    assert ((relevant == 0) & (length > 0)).any()
    late = given.truth.toarray()[given.top.users[:, None], given.top.items] * (given.top.items >= 0) > 0
    assert (late[:, metric_checks.CUTOFF :].any(axis=1) & ~late[:, : metric_checks.CUTOFF].any(axis=1)).any()
    popularity = np.diff(given.train.tocsc().indptr)
    assert len(set(popularity)) == len(popularity)


class Hits(HitRate):
    """A good metric to break in one place; its values are floats of the hits."""

    name = "my hits"
    higher_is_better = True
    variants = {"any": "one hit is enough"}  # noqa: RUF012

    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        return values

    def per_user(self, top: TopK, truth: Any, context: Any) -> Any:
        return self.changed(super().per_user(top, truth, context), top, truth, context)


class NoDirection(Hits):
    higher_is_better = None


class NoFormula(Hits):
    formula = " "


class SeveralLines(Hits):
    formula = "one\ntwo"


class OtherScope(Hits):
    scope = "session"


class NoConvention(Hits):
    variants = {"any": ""}  # noqa: RUF012


class NoConventions(Hits):
    variants = {}  # noqa: RUF012
    label = "my hits"

    def __init__(self, k: int | None = None, variant: str | None = None) -> None:
        self.k, self.variant = k, "any"


class OtherDefault(Hits):
    def __init__(self, k: int | None = None, variant: str | None = None) -> None:
        super().__init__(k, variant)
        self.variant = variant or "another"


class Contradicts(Hits):
    name = "ndcg"


Contradicts.higher_is_better = False


class ForgetsCutoff(Hits):
    def __init__(self, k: int | None = None, variant: str | None = None) -> None:
        super().__init__(4 if k is None else k, variant)


class Opposite(MetricBase):
    name = "ndcg"
    scope = "user"
    formula = source = "none"
    variants = {"any": "anything"}  # noqa: RUF012


class Mislabelled(Hits):
    label = "hits"


class Lenient(Hits):
    def __init__(self, k: int | None = None, variant: str | None = None) -> None:
        super().__init__(k or None, variant)


class AnyVariant(Hits):
    def __init__(self, k: int | None = None, variant: str | None = None) -> None:
        super().__init__(k)


class ZeroForUndefined(Hits):
    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        return np.nan_to_num(values)


class ZeroForOne(Hits):
    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        return np.where(np.cumsum(np.isnan(values)) == 1, np.nan_to_num(values), values)


class ZeroForEmptyList(Novelty):
    name = "my novelty"
    higher_is_better = True

    def per_user(self, top: TopK, truth: Any, context: Any) -> Any:
        return np.nan_to_num(super().per_user(top, truth, context))


class Integers(Hits):
    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        return values.astype(np.float32)


class Infinite(Hits):
    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        return np.where(values > 0, np.inf, values)


class InfiniteWithoutCutoff(Infinite):
    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        return super().changed(values, top, truth, context) if self.k is None else values


class InfiniteInOneConvention(Infinite):
    variants = {"any": "one relevant item", "odd": "an odd number of them"}  # noqa: RUF012

    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        return super().changed(values, top, truth, context) if self.variant == "odd" else values


class Warns(Hits):
    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        return values * (context.relevant(top, truth) / context.relevant(top, truth))


class Relative(Hits):
    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        return values - np.nanmean(values) if np.isfinite(values).any() else values


class ByPosition(Hits):
    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        return values + np.arange(len(values))


class Deep(Hits):
    def per_user(self, top: TopK, truth: Any, context: Any) -> Any:
        return type(self).__mro__[2](None).per_user(top, truth, context)


class ById(Hits):
    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        return values + (top.items[:, 0] == 3)


class ByScore(Hits):
    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        return values * np.where(np.isfinite(top.scores[:, 0]), top.scores[:, 0], 0.0).astype(np.float64)


class BySpread(Hits):
    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        scores = np.where(np.isfinite(top.scores[:, :2]), top.scores[:, :2], 0.0)
        return values * np.where(top.items[:, 1] >= 0, (scores[:, 0] - scores[:, 1]).round(4), 0.0)


class ByRatio(Hits):
    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        listed = top.items[:, 1] >= 0
        return values * np.where(listed, np.divide(*np.where(listed[:, None], top.scores[:, :2], 1.0).T).round(4), 0.0)


class UpsideDown(Hits):
    higher_is_better = False


class Writes(Hits):
    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        top.items.sort(axis=1)
        return values


class Moody(Hits):
    asked = 0

    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        Moody.asked += 1
        return values + Moody.asked


class TooFew(Hits):
    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        return values[:-1]


class NeverDefined(Hits):
    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        return np.full_like(values, np.nan)


class InfiniteWithoutLists(Hits):
    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        return np.full_like(values, np.inf) if (top.items < 0).all() and len(values) > 1 else values


class NotWhole(Hits):
    def per_user(self, top: TopK, truth: Any, context: Any) -> Any:
        return HitRate(self.k or 4).per_user(top, truth, context)


class NoUsers(Hits):
    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        return values if len(values) else np.zeros(1)


class InOrder(Coverage):
    """A catalogue metric that looks at who comes first."""

    name = "my coverage"
    higher_is_better = True

    def catalogue(self, top: TopK, truth: Any, context: Any) -> float:
        return super().catalogue(top, truth, context) + float(top.users[0] if len(top.users) else 0)


BROKEN: list[tuple[Callable[..., Any], str]] = [
    (NoDirection, "does not say whether higher values are better"),
    (NoFormula, "no text in its attribute 'formula'"),
    (SeveralLines, "a formula of several lines"),
    (OtherScope, "has the scope 'session', not user or catalogue"),
    (NoConventions, "names no convention"),
    (OtherDefault, "has another convention than the first"),
    (Contradicts, "says the opposite of the known direction"),
    (ForgetsCutoff, "does not keep the cut-off None"),
    (TooFew, r"gives values of shape \(16,\), not \(17,\)"),
    (NeverDefined, "is undefined for all of the example"),
    (InfiniteWithoutLists, "gives an infinite value for empty lists"),
    (NotWhole, "does not take the whole list without @k"),
    (NoConvention, "does not say what its variant 'any' means"),
    (Mislabelled, "is labelled 'hits'"),
    (Opposite, "has no method per_user"),
    (Lenient, "accepts a cut-off of 0"),
    (AnyVariant, "accepts an unknown convention"),
    (ZeroForUndefined, "gives a user without relevant items a value"),
    (ZeroForOne, "gives a user without relevant items a value"),
    (BySpread, "depends on the size of the scores"),
    (ByRatio, "depends on the size of the scores"),
    (ZeroForEmptyList, "gives an empty list a value"),
    (Integers, "as float32, not float64"),
    (Infinite, "an infinite value"),
    (InfiniteWithoutCutoff, "^my hits: gives an infinite value$"),
    (InfiniteInOneConvention, r"^my hits@4\[odd\]: gives an infinite value$"),
    (Warns, "warns: .*divide"),
    (Relative, "another value when the batch is another"),
    (ByPosition, "another value when the batch is another"),
    (Deep, "looks beyond the first 4"),
    (ById, "^my hits@4: depends on the ids"),
    (ByScore, "^my hits@4: depends on the size of the scores"),
    (UpsideDown, "is worse, by its own direction"),
    (Writes, "^my hits@4: writes into an array"),
    (Moody, "^my hits@4: gives other values when it is asked a second time"),
    (NoUsers, "for no lists"),
    (InOrder, "depends on the order of the lists"),
]


@pytest.mark.parametrize(("broken", "sentence"), BROKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_a_broken_promise_is_named(broken: Callable[..., Any], sentence: str) -> None:
    with pytest.raises(ConformanceError) as raised:
        check_metric(broken)
    assert re.search(sentence, str(raised.value)), raised.value


class Misses(Hits):
    """Lower is better."""

    name = "my misses"
    higher_is_better = False

    def changed(self, values: Any, top: TopK, truth: Any, context: Any) -> Any:
        return 1 - values


def test_a_good_metric_passes_and_checks_can_be_skipped() -> None:
    check_metric(Hits)
    check_metric(Misses)
    check_metric(UpsideDown, skip=["check_direction"])
    with pytest.raises(ConformanceError, match=r"^my hits@4: is worse, by its own direction"):
        check_metric(UpsideDown)


@pytest.mark.parametrize("first", [True, False])
def test_lists_of_the_example_begin_with_what_is_relevant_or_have_none_of_it(first: bool) -> None:
    given = judged_lists()
    made = given.with_relevant(first=first).top
    relevant, seen = given.truth.toarray() > 0, given.train.toarray() > 0
    assert made.users.tolist() == given.top.users.tolist()
    for user, items in zip(made.users, made.items, strict=True):
        listed = items[items >= 0]
        hits = relevant[user, listed]
        assert not seen[user, listed].any()
        assert hits.sum() == (min(relevant[user].sum(), len(items)) if first else 0)
        assert (np.diff(hits.astype(int)) <= 0).all()
        unseen = (~seen[user] & (first | ~relevant[user])).sum()
        assert len(listed) == min(unseen, made.k), "no item of the catalogue is forgotten"
    assert np.isneginf(made.scores[made.items < 0]).all()
    assert np.isfinite(made.scores[made.items >= 0]).all()
