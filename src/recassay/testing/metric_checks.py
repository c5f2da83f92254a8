"""What every metric promises, one check a promise.

A check takes the class of a metric (or a function of a cut-off and a variant that makes one) and raises
`ConformanceError` with a plain sentence where the promise is broken. Every variant is looked at, with a cut-off and
without.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias, get_args

import numpy as np
from scipy.sparse import csr_array

from recassay.core.errors import UsageError
from recassay.core.metric_facts import MetricKind, stated_facts
from recassay.core.tables.labels import known_direction
from recassay.core.types import FloatArray, TopK
from recassay.metrics.context import EvaluationContext
from recassay.metrics.protocol import Metric, Scope, has_catalogue_value, has_user_values
from recassay.testing.answers import ConformanceError, inputs_kept, is_text, label, require, run_checks
from recassay.testing.examples import Judged, judged_lists

MakeMetric: TypeAlias = Callable[[int | None, str | None], Metric]
Check: TypeAlias = Callable[[MakeMetric], None]

CUTOFF = 4
"""The cut-off of the checks; the example's lists are twice as long."""


def check_metric(make: MakeMetric, *, skip: Collection[str] = ()) -> None:
    """Run every check of `METRIC_CHECKS` but those named in `skip`; the first broken promise raises."""
    run_checks(METRIC_CHECKS, make, skip)


def check_declaration(make: MakeMetric) -> None:
    """It says its name, scope, formula (one line), source, conventions and direction; labels tell all of them apart."""
    metric = make(CUTOFF, None)
    for attribute in ("name", "formula", "source"):
        require(is_text(getattr(metric, attribute, None)), f"has no text in its attribute {attribute!r}", metric)
    require("\n" not in metric.formula, "has a formula of several lines", metric)
    require(metric.scope in get_args(Scope), f"has the scope {metric.scope!r}, not user or catalogue", metric)
    method = "per_user" if has_user_values(metric) else "catalogue"
    require(callable(getattr(metric, method, None)), f"is of scope {metric.scope} and has no method {method}", metric)
    require(isinstance(metric.variants, dict) and metric.variants, "names no convention in `variants`", metric)
    for variant, meaning in metric.variants.items():
        require(is_text(variant) and is_text(meaning), f"does not say what its variant {variant!r} means", metric)
    up = getattr(metric, "higher_is_better", None)
    require(isinstance(up, bool), "does not say whether higher values are better", metric)
    known = known_direction(metric.name)
    require(known in (None, up), "says the opposite of the known direction of its name", metric)
    default = next(iter(metric.variants))
    require(metric.variant == default, "has another convention than the first of `variants` by default", metric)
    for k, cutoff in ((None, ""), (CUTOFF, f"@{CUTOFF}")):
        for variant in metric.variants:
            made = make(k, variant)
            wanted = f"{metric.name}{cutoff}" + ("" if variant == default else f"[{variant}]")
            require((made.k, made.variant) == (k, variant), f"does not keep the cut-off {k} or {variant!r}", made)
            require(made.label == wanted, f"is labelled {made.label!r}, not {wanted!r}", made)


def check_refusals(make: MakeMetric) -> None:
    """A cut-off below 1 and an unknown convention raise `UsageError`."""
    for k, variant, what in ((0, None, "a cut-off of 0"), (CUTOFF, "no such convention", "an unknown convention")):
        try:
            make(k, variant)
        except UsageError:
            continue
        raise ConformanceError(f"accepts {what}", where=label(make(CUTOFF, None)))


def check_values(make: MakeMetric) -> None:
    """One finite number (or NaN) as float64 for each list, one for all lists in a catalogue metric; no warning."""
    given = judged_lists()
    for metric in _variants(make):
        values = _values(metric, given)
        if has_user_values(metric):
            shape = (len(given.top.users),)
            require(values.shape == shape, f"gives values of shape {values.shape}, not {shape}", metric)
            require(values.dtype == np.float64, f"gives values as {values.dtype}, not float64", metric)
        require(not np.isinf(values).any(), "gives an infinite value", metric)
        require(np.isfinite(values).any(), "is undefined for all of the example", metric)


def check_facts(make: MakeMetric) -> None:
    """The facts it states hold: name, kind, direction, bounds, and whether it is above 0 exactly with a hit."""
    given = judged_lists()
    metric = make(CUTOFF, None)
    facts = stated_facts(metric.name, metric)
    require(facts.name == metric.name, f"has the facts of {facts.name!r}", metric)
    require(facts.kind in get_args(MetricKind), f"is of the unknown kind {facts.kind!r}", metric)
    require(facts.higher_is_better == metric.higher_is_better, "states two directions", metric)
    for metric in _variants(make):
        if metric.variant in facts.unbounded:
            continue
        values = _values(metric, given)
        if facts.bounds is not None:
            low, high = facts.bounds
            outside = (values < low - 1e-9) | (values > high + 1e-9)
            require(not outside.any(), f"gives values outside its bounds, {low:g} to {high:g}", metric)
        if facts.hit_like and has_user_values(metric):
            hits = EvaluationContext(given.train).hits(given.top, given.truth)[:, : metric.k].any(axis=1)
            known = np.isfinite(values)
            require(bool(((values > 0) == hits)[known].all()), "is stated as hit-like and is not", metric)


def check_undefined(make: MakeMetric) -> None:
    """A user of whom nothing can be judged has NaN, not 0, which would enter the mean.

    That is a user without relevant items where the metric looks at relevance, and an empty list where it does not.
    """
    given = judged_lists()
    for metric in _variants(make):
        if not has_user_values(metric):
            continue
        values = _values(metric, given)
        if _looks_at_truth(metric, given):
            undefined, who = np.diff(given.truth.indptr)[given.top.users] == 0, "a user without relevant items"
        else:
            undefined, who = (given.top.items < 0).all(axis=1), "an empty list"
        require(np.isnan(values[undefined]).all(), f"gives {who} a value, and not NaN", metric)


def check_nothing(make: MakeMetric) -> None:
    """Nobody asked gives no values; empty lists for everybody are not an error."""
    given = judged_lists()
    nobody = given.of(given.top.users[:0])
    empty = given.with_items(np.full_like(given.top.items, -1))
    for metric in _variants(make):
        if has_user_values(metric):
            none = _values(metric, nobody)
            require(none.shape == (0,), f"gives values of shape {none.shape} for no lists", metric)
        require(not np.isinf(_values(metric, empty)).any(), "gives an infinite value for empty lists", metric)


def check_batches(make: MakeMetric) -> None:
    """The value of a user does not depend on who else is judged, nor on the order of the lists."""
    given = judged_lists()
    some = given.top.users[::-2].copy()
    for metric in _variants(make):
        if has_user_values(metric):
            row = {int(user): value for user, value in zip(given.top.users, _values(metric, given), strict=True)}
            together = np.array([row[int(user)] for user in some])
            alone = np.concatenate([_values(metric, given.of(some[at : at + 1])) for at in range(len(some))])
            require(_same(together, alone), "gives a user another value when the batch is another", metric)
        mixed = _values(metric, given.of(given.top.users[::-1].copy()))
        mixed = mixed[::-1] if has_user_values(metric) else mixed
        require(_same(_values(metric, given), mixed), "depends on the order of the lists", metric)


def check_cutoff(make: MakeMetric) -> None:
    """At k it looks at the first k of a list alone; without a cut-off, at the lists as long as they are."""
    given = judged_lists()
    short = Judged(given.top.cut(CUTOFF), given.truth, given.train)
    for variant in make(None, None).variants:
        whole, at = make(None, variant), make(CUTOFF, variant)
        require(_same(_values(at, given), _values(at, short)), f"looks beyond the first {CUTOFF} of a list", at)
        width = make(given.top.k, variant)
        require(_same(_values(whole, given), _values(width, given)), "does not take the whole list without @k", whole)


def check_names(make: MakeMetric) -> None:
    """Other numbers for the same users and items change nothing: no user or item is special."""
    given = judged_lists()
    renamed = given.renamed()
    for metric in _variants(make):
        require(_same(_values(metric, given), _values(metric, renamed)), "depends on the ids of users or items", metric)


def check_scores(make: MakeMetric) -> None:
    """The order of a list counts, not the size of its scores."""
    given = judged_lists()
    top = given.top
    scaled = Judged(TopK(top.users, top.items, 100 * top.scores - 5), given.truth, given.train)
    for metric in _variants(make):
        require(_same(_values(metric, given), _values(metric, scaled)), "depends on the size of the scores", metric)


def check_direction(make: MakeMetric) -> None:
    """Where relevance counts, lists with the relevant items first are not worse than lists without any."""
    given = judged_lists()
    best, worst = given.with_relevant(first=True), given.with_relevant(first=False)
    for metric in _variants(make):
        if has_user_values(metric) and _looks_at_truth(metric, given):
            gain = np.nanmean(_values(metric, best)) - np.nanmean(_values(metric, worst))
            better = gain >= 0 if metric.higher_is_better else gain <= 0
            require(better, "is worse, by its own direction, for lists with all relevant items first", metric)


def check_inputs_kept(make: MakeMetric) -> None:
    """Lists, truth and training data are read-only arrays; asked twice, it gives the same values."""
    given = judged_lists()
    for metric in _variants(make):
        with inputs_kept(metric):
            first, second = _values(metric, given), _values(metric, given)
        require(_same(first, second), "gives other values when it is asked a second time", metric)


METRIC_CHECKS: tuple[Check, ...] = (
    check_declaration,
    check_refusals,
    check_inputs_kept,
    check_values,
    check_undefined,
    check_nothing,
    check_batches,
    check_cutoff,
    check_names,
    check_scores,
    check_direction,
    check_facts,
)


def _variants(make: MakeMetric) -> Iterator[Metric]:
    """Each convention, with a cut-off and without."""
    for variant in make(None, None).variants:
        yield make(CUTOFF, variant)
        yield make(None, variant)


def _values(metric: Metric, given: Judged) -> FloatArray:
    """The values of the lists; of a catalogue metric, its one value. A warning (0 / 0, say) is a broken promise."""
    context = EvaluationContext(given.train)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            if has_catalogue_value(metric):
                return np.array([metric.catalogue(given.top, given.truth, context)])
            assert has_user_values(metric)
            return metric.per_user(given.top, given.truth, context)
        except RuntimeWarning as warning:
            raise ConformanceError(f"warns: {warning}", where=label(metric)) from warning


def _looks_at_truth(metric: Metric, given: Judged) -> bool:
    """Whether other relevant items, or all items being relevant, change a value."""
    truth = given.truth.toarray()
    others = [Judged(given.top, csr_array(each), given.train) for each in (np.roll(truth, 1, 1), np.ones_like(truth))]
    return not all(_same(_values(metric, given), _values(metric, other)) for other in others)


def _same(first: FloatArray, second: FloatArray) -> bool:
    return bool(np.allclose(first, second, rtol=1e-9, atol=1e-12, equal_nan=True))
