"""Tables of very many algorithms: the same numbers in less memory, and fewer draws, which the results state."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import polars as pl
import pytest

from recassay import compare, rank, ratings, stress
from recassay.analysis.aggregation.contest import Contest
from recassay.analysis.inference import effects
from recassay.analysis.inference.effects import above_zero, hodges_lehmann
from recassay.analysis.inference.wilcoxon import wilcoxon_rows
from recassay.analysis.verdict import decision
from recassay.analysis.verdict.fit import judge
from recassay.core import ties
from recassay.core.choices import DRAWS_OF
from support.tables import matrix


def table(algorithms: int, datasets: int) -> pl.DataFrame:
    values = np.random.default_rng(5).random((algorithms, datasets)).round(2)
    rows = [(f"a{i:03d}", f"d{j}", float(v)) for (i, j), v in np.ndenumerate(values)]
    return pl.DataFrame(rows, schema=["algorithm", "dataset", "accuracy"], orient="row")


def test_with_more_than_sixty_algorithms_fewer_draws_are_made_and_stated() -> None:
    few, many = table(60, 6), table(120, 6)
    one = {"methods": ["mean_rank"]}
    assert rank(few, "accuracy", **one).replicates == 10_000
    assert rank(many, "accuracy", **one).replicates == 2_777
    assert rank(many, "accuracy", **one, replicates=5_000).replicates == 5_000  # as asked for
    assert ratings(many, "accuracy").replicates == 833
    assert compare(many, "accuracy").draws == 2_777
    assert compare(many, "accuracy", draws=300).draws == 300
    stressed = stress(many, "accuracy", **one)
    assert stressed.draws == 277
    assert set(stressed.curves["similar"].tried.tolist()) == {10}


@pytest.mark.parametrize(
    ("asked", "algorithms", "number", "note"),
    [
        (None, 60, 10_000, None),
        (None, 200, 1_000, "200 algorithms: 1,000 bootstrap replicates, not 10,000; `replicates` sets more"),
        (500, 200, 500, None),
        (10_000, 200, 10_000, "10,000 bootstrap replicates take about 10 times as long as the default, 1,000"),
        (None, 5_000, 200, "5000 algorithms: 200 bootstrap replicates"),
    ],
)
def test_a_number_that_was_asked_for_wins(asked: int | None, algorithms: int, number: int, note: str | None) -> None:
    draws = DRAWS_OF["rank"]
    assert draws.number(asked, algorithms) == number
    assert (draws.note(asked, algorithms) or "") == "" if note is None else note in draws.note(asked, algorithms)


def test_duels_do_not_depend_on_how_many_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"methods": ["copeland", "minimax"], "replicates": 300}
    whole = rank(table(9, 8), "accuracy", **asked).to_frame()
    monkeypatch.setattr("recassay.analysis.aggregation.duels.NUMBERS_AT_ONCE", 500)
    assert rank(table(9, 8), "accuracy", **asked).to_frame().equals(whole)


@pytest.mark.parametrize("n", [4, 7, 12])
def test_estimates_are_those_of_all_ordered_pair_means(n: int) -> None:
    rows = np.random.default_rng(n).normal(size=(40, n)).round(1)
    for row, (estimate, low, high) in zip(rows, hodges_lehmann(rows), strict=True):
        means = sorted((a + b) / 2 for a, b in combinations_with_replacement(row, 2))
        assert estimate == np.median(means)
        cut = effects._lower_end(n, 0.025)
        assert (low, high) == ((means[cut], means[-1 - cut]) if cut >= 0 else (-np.inf, np.inf))


def test_places_and_duels_are_those_of_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(2).random((7, 5)).round(1)
    values[:3, 0] = [0.5, 0.5 * (1 + 0.9e-9), 0.5 * (1 + 1.8e-9)]  # a chain of ties whose ends do not tie
    weights = np.random.default_rng(3).integers(0, 3, (3, 5)).astype(float)
    contest = Contest(values[None], higher_is_better=False)
    beats = ties.beats(-values[:, None], -values)
    won = np.einsum("abd,td->tab", beats, weights)
    ahead = won > won.transpose(0, 2, 1)
    assert np.array_equal(contest.outcomes(weights).balance, ahead.sum(axis=2) - ahead.sum(axis=1))
    assert np.array_equal(contest.outcomes(weights).worst, np.where(ahead, won, 0).max(axis=1))
    parts = weights + 1 / 3  # no whole numbers
    won = np.einsum("abd,td->tab", beats, parts)
    ahead = won > won.transpose(0, 2, 1) + 1e-9
    assert np.array_equal(contest.outcomes(parts).balance, ahead.sum(axis=2) - ahead.sum(axis=1))
    np.testing.assert_allclose(contest.outcomes(parts).worst, np.where(ahead, won, 0).max(axis=1))
    for narrow in (0, 7):
        monkeypatch.setattr(ties, "NARROW", narrow)
        better, tied = Contest(values[None], higher_is_better=False).placed
        assert np.array_equal(better[0], beats.sum(axis=0))
        assert np.array_equal(tied[0], 7 - beats.sum(axis=0) - beats.sum(axis=1))


def test_json_of_many_algorithms_lists_the_pairs_of_the_first_and_of_the_control() -> None:
    few = compare(table(8, 6), "accuracy").to_dict()
    assert len(few["verdict"]["pairs"]) == len(few["wilcoxon_holm"]) == len(few["bayesian"]) == 28
    assert few["verdict"]["pairs_left_out"] == 0
    found = compare(table(70, 6), "accuracy", control="a003", draws=100)
    last = found.judgement.algorithms[60:]
    expected = 60 * 59 // 2 + (10 if "a003" not in last else 60 + 9)
    document = found.to_dict()
    assert len(document["verdict"]["pairs"]) == len(document["wilcoxon_holm"]) == expected
    assert document["verdict"]["pairs_left_out"] == 70 * 69 // 2 - expected
    assert len(found.judgement.pairs) == 70 * 69 // 2
    rates = ratings(table(70, 6), "accuracy", replicates=100)
    listed = rates.to_dict()["win_rate"]
    assert set(listed) == {rates.algorithms[a] for a in rates.order()[:60]}
    assert all(len(row) == 59 for row in listed.values())


def test_of_very_many_algorithms_fewer_signs_are_flipped(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    whole = decision.compare_pairs
    monkeypatch.setattr(decision, "compare_pairs", lambda *given, **how: tried.append(how) or whole(*given, **how))
    monkeypatch.setattr(decision, "VERY_MANY", 8)
    for count in (8, 9):
        judge(matrix(np.random.default_rng(count).random((count, 16))))
    assert tried == [{"flips": 10_000, "alpha": 0.05}, {"flips": 2_000, "alpha": 0.05}]


def test_ties_of_very_many_pairs_are_approximated_closely():
    rows = np.random.default_rng(3).normal(0.05, 1, (40, 100)).round(1)
    exact, near = wilcoxon_rows(rows), wilcoxon_rows(rows, most_tied=50)
    assert (exact.p != near.p).any()
    np.testing.assert_allclose(near.p, exact.p, atol=0.004)
    np.testing.assert_array_equal(near.biserial, exact.biserial)


def test_the_side_of_zero_is_that_of_the_interval():
    rows = np.random.default_rng(4).normal(0.3, 1, (300, 15))
    lower = hodges_lehmann(rows)[:, 1]
    above = above_zero(rows, 0.95)
    assert 0 < above.sum() < len(rows)
    np.testing.assert_array_equal(above, lower >= -1e-12)
    assert not above_zero(np.ones((1, 4)), 0.95).any()  # four differences allow no interval


def test_pairs_are_a_sequence_of_objects_made_when_asked_for():
    rng = np.random.default_rng(5)
    values = rng.random((5, 12)).cumsum(axis=0)
    pairs = judge(matrix(values)).pairs
    assert len(pairs) == len(list(pairs)) == 10
    assert pairs[-1] == pairs[9] == list(pairs)[9]
    assert pairs[2:4] == list(pairs)[2:4]
    assert pairs == list(pairs)
    with pytest.raises(IndexError):
        pairs[10]
