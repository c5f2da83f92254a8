"""No answer changes with names, orders, units, a dataset on which all tie, or a copy of an algorithm.

Every analysis that concludes something is asked about a table and about the same table written otherwise. What it says
of an algorithm, a dataset or a pair must be the same; draws are dealt out by content, so that it is the same exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from support.invariance import (
    Said,
    Table,
    Written,
    differences,
    drawn,
    in_percent,
    negated,
    other_algorithms,
    other_datasets,
    other_levels,
    the_choice,
    the_comparison,
    the_items,
    the_model,
    the_multiverse,
    the_plan,
    the_ranking,
    the_ratings,
    the_strata,
    the_stress,
    the_users,
    the_verdict,
    translated,
    with_a_copy,
    with_a_tie,
)

EXACT = 1e-9
SIZES = [(2, 1), (2, 7), (3, 4), (3, 12), (5, 15), (8, 9), (8, 20), (12, 13), (6, 40), (40, 8)]
"""Algorithms and datasets."""

WRITTEN: list[Callable[[Table], Written]] = [other_datasets, other_algorithms, in_percent]


@cache
def before(says: Callable[[Table], Said], k: int, n: int, seed: int, *, rounded: bool = False) -> Said:
    """What an analysis says of a table that several tests write otherwise."""
    return says(drawn(k, n, seed, rounded=rounded))


@pytest.mark.parametrize("otherwise", [*WRITTEN, negated, other_levels, with_a_tie, with_a_copy])
@pytest.mark.parametrize(("k", "n"), SIZES)
def test_the_verdict_is_the_same(k, n, otherwise):
    for seed, ties in ((0, False), (2, True)):
        rounded = ties and otherwise is not other_levels
        table = drawn(k, n, seed, rounded=rounded)
        written, old = otherwise(table)
        after = translated(the_verdict(written), old)
        if otherwise is with_a_copy:
            assert n == 1 or after.get((table.algorithms[0], "copy"), ("equivalent",))[0] == "equivalent"
            after["best"] = after["best"] - {"copy"}
        assert differences(before(the_verdict, k, n, seed, rounded=rounded), after, EXACT) == []


@pytest.mark.parametrize("otherwise", WRITTEN)
@pytest.mark.parametrize("said", [the_ranking, the_comparison, the_ratings, the_stress, the_choice])
@pytest.mark.parametrize(("k", "n"), [(3, 7), (5, 16), (9, 12)])
def test_rankings_comparisons_ratings_and_choices_are_the_same(k, n, said, otherwise):
    written, old = otherwise(drawn(k, n, 0))
    kept = before(said, k, n, 0)
    if otherwise is in_percent:  # scores of values are in their unit
        units = ("mean", "geometric_mean", "harmonic_mean")
        kept = {key: value for key, value in kept.items() if not (isinstance(key, tuple) and key[0] in units)}
    assert differences(kept, translated(said(written), old), EXACT) == []


@pytest.mark.parametrize("otherwise", [other_datasets, other_algorithms])
@pytest.mark.parametrize(("said", "near"), [(the_model, EXACT), (the_plan, EXACT), (the_items, EXACT)])
def test_models_and_plans_are_the_same(said, near, otherwise):
    written, old = otherwise(drawn(5, 9, 1))
    assert differences(before(said, 5, 9, 1), translated(said(written), old), near) == []


@pytest.mark.parametrize("otherwise", [other_datasets, other_algorithms])
@pytest.mark.parametrize("said", [the_multiverse, the_users, the_strata])
def test_universes_users_and_strata_are_the_same(said, otherwise):
    written, old = otherwise(drawn(4, 12, 0))
    assert differences(before(said, 4, 12, 0), translated(said(written), old), EXACT) == []


def test_a_copy_changes_nothing_for_the_others_in_a_ranking():
    table = drawn(6, 12, 4)
    kept = {key: value for key, value in the_ranking(table).items()
            if not (isinstance(key, tuple) and key[0] not in ("again",))}  # fmt: skip
    assert differences(kept, the_ranking(with_a_copy(table)[0]), EXACT) == []


@pytest.mark.parametrize("said", [the_comparison, the_ratings])
def test_negated_values_of_which_lower_is_better_say_the_same(said):
    table = drawn(5, 16, 0)
    assert differences(before(said, 5, 16, 0), said(negated(table)[0]), EXACT) == []
