"""Paired tests over users: against independent code, by hand, and on synthetic truth."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recassay.analysis.inference.bootstrap import expanded_tail
from recassay.analysis.users import fit as users_fit
from recassay.analysis.users import sign_flip
from recassay.analysis.users.fit import compare_users, skewed_intervals, user_intervals
from recassay.analysis.users.random_effects import random_effects
from recassay.analysis.users.sign_flip import MOST_ENUMERATED, _enumerated, _saddlepoint, sign_flip_p
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.scores import UserScores
from recassay.reporting.sections.users import SECTION
from support.made import rng
from support.protocol import few
from support.vega import assert_valid


def p_of(differences: object) -> float:
    return float(sign_flip_p(np.asarray(differences, dtype=np.float64)[:, None], rng())[0])


@few
@given(st.lists(st.integers(-30, 30), min_size=2, max_size=10), st.sampled_from([1.0, 0.01, 1 / 3]))
def test_few_users_have_the_exact_p_of_scipy_in_any_unit(differences: list[int], unit: float) -> None:
    d = np.array(differences) * unit
    expected = stats.permutation_test(
        (d, np.zeros(len(d))),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    ).pvalue
    assert p_of(d) == pytest.approx(1.0 if not d.any() else expected, abs=1e-12)


@pytest.mark.parametrize("n", [40, 200, 3000])
def test_hits_have_the_exact_p_of_the_sign_test(n: int) -> None:
    draws = rng(n).integers(-1, 2, size=n) + (rng(n + 1).random(n) < 0.03)
    d = np.clip(draws, -1, 1).astype(np.float64)
    expected = stats.binomtest(int((d > 0).sum()), int((d != 0).sum())).pvalue
    assert p_of(d) == pytest.approx(expected, rel=1e-6)
    assert p_of(d / 7) == pytest.approx(expected, rel=1e-6)


def test_many_users_by_the_saddlepoint_against_all_assignments_and_drawn_ones() -> None:
    generator = rng(3)
    for _ in range(10):
        d = generator.exponential(size=MOST_ENUMERATED) * generator.choice([-1, 1], MOST_ENUMERATED, p=[0.35, 0.65])
        assert _saddlepoint(d[:, None])[0] == pytest.approx(_enumerated(d), rel=0.08)
    d = 1 / np.log2(generator.integers(1, 11, 90) + 1) * generator.choice([-1, 1], 90, p=[0.42, 0.58])
    signs = generator.choice([-1.0, 1.0], size=(60_000, 90))
    drawn = float(np.mean(np.abs(signs @ d) >= abs(d.sum()) - 1e-12))
    assert p_of(d) == pytest.approx(drawn, abs=4 * np.sqrt(drawn * (1 - drawn) / 60_000) + 0.02 * drawn)


@pytest.mark.parametrize(
    "d",
    [
        np.concatenate([[1.0], 0.02 * np.sin(np.arange(40.0))]),
        np.where(np.arange(45) % 3 == 0, np.sqrt(2), 1.0) * np.where(np.arange(45) % 4 == 0, -1, 1),
    ],
    ids=["one user decides", "two sizes"],
)
def test_lumpy_differences_are_drawn(d: np.ndarray) -> None:
    signs = rng(1).choice([-1.0, 1.0], size=(100_000, len(d)))
    drawn = float(np.mean(np.abs(signs @ d) >= abs(d.sum()) - 1e-9))
    assert p_of(d) == pytest.approx(drawn, abs=0.005)


def test_pairs_that_are_tested_together_have_the_p_of_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Smooth, lumpy, opposed, all on one side, without any difference: each column by itself."""
    monkeypatch.setattr(sign_flip, "DRAWS", 5000)
    smooth = rng(5).normal(0.1, 1.0, size=(60, 2))
    one_sided = np.sqrt(np.arange(2.0, 62.0))
    lumpy, other = (np.where(np.arange(60) % every == 0, size, 1.0) * np.where(np.arange(60) % 5 < 2, -1, 1)
                    for every, size in ((3, np.sqrt(2)), (2, np.sqrt(3))))  # fmt: skip
    level = np.concatenate([one_sided[:30], -one_sided[:30]])
    columns = np.column_stack([smooth, one_sided, lumpy, level, np.zeros(60), other, 0.01 * smooth[:, 0]])
    together = sign_flip_p(columns, rng())
    assert together[[0, 1, 2, 4, 5, 7]] == pytest.approx([p_of(columns[:, at]) for at in (0, 1, 2, 4, 5, 7)])
    counted = together[[3, 6]] * 5001
    assert counted == pytest.approx(counted.round()), "drawn signs, as those two are lumpy"
    assert (together[2], together[4], together[5]) == (2.0**-59, 1.0, 1.0)
    assert together[7] == pytest.approx(together[0]), "whatever the unit"


def test_small_p_values_have_no_floor_and_all_alike_is_as_small_as_can_be() -> None:
    d = rng(2).random(400) + 0.5
    assert 0 < p_of(d) < 1e-100
    assert p_of(np.ones(3)) == 0.25
    assert p_of(np.full(50, 0.3)) == pytest.approx(2.0**-49)
    assert p_of(np.ones(200)) == pytest.approx(2.0**-199), "too small for the sum of a transform's terms"
    assert p_of(np.zeros(50)) == 1.0
    nearly = np.append(np.sqrt(np.arange(2.0, 51.0)), -0.3)
    assert p_of(nearly) >= 2.0**-49, "no p of fifty signs is smaller than that of all alike"


BCG = (
    [-0.8893, -1.5854, -1.3481, -1.4416, -0.2175, -0.7861, -1.6209, 0.0120, -0.4694, -1.3713, -0.3394, 0.4459, -0.0173],
    [0.3256, 0.1946, 0.4154, 0.0200, 0.0512, 0.0069, 0.2230, 0.0040, 0.0564, 0.0730, 0.0124, 0.5325, 0.0714],
)
"""13 trials of the BCG vaccine (Colditz et al. 1994): log risk ratios and their variances."""

FIVE = (
    [0.06520000225650686, 0.04735404815646211, -0.03518676179034963, -0.06327107355230263, -0.03116372312686761],
    [0.00010246465015313329, 0.0008716638489288124, 0.00013022701777491792, 0.0007566899017869496,
     0.0002580900585423031],
)  # fmt: skip


@pytest.mark.parametrize(
    ("table", "tau_squared", "mean", "error"),
    [
        (BCG, 0.30839557085831404, -0.7140842183837547, 0.1806908415364782),
        (FIVE, 0.0034260758928884778, -0.0030459031771474347, 0.025052565133858715),
    ],
)
def test_the_random_effects_summary_is_that_of_statsmodels(
    table: tuple[list[float], list[float]], tau_squared: float, mean: float, error: float
) -> None:
    """The numbers of `statsmodels.stats.meta_analysis.combine_effects(effects, variances, method_re="chi2")`, version
    0.14: `tau2`, `mean_effect_re` and `sd_eff_w_re_hksj`. For BCG, R's metafor prints tau^2 0.3088 and -0.7141."""
    found = random_effects(*map(np.array, table))
    k = len(table[0])
    assert found.tau**2 == pytest.approx(tau_squared, rel=1e-9)
    assert found.estimate == pytest.approx(mean, rel=1e-9)
    half = stats.t.ppf(0.975, k - 1) * error
    assert (found.low, found.high) == pytest.approx((mean - half, mean + half), rel=1e-9)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(mean) / error, k - 1), rel=1e-9)
    around = stats.t.ppf(0.975, k - 2) * np.sqrt(tau_squared + error**2)  # Higgins, Thompson and Spiegelhalter 2009
    assert (found.predicted_low, found.predicted_high) == pytest.approx((mean - around, mean + around), rel=1e-9)


def test_datasets_without_any_difference_do_not_decide_and_equal_effects_are_no_proof() -> None:
    level = random_effects(np.array([0.0, 0.01, 0.02]), np.array([0.0, 1e-4, 1e-4]))
    assert level.estimate == pytest.approx(0.01)
    equal = random_effects(np.full(3, 0.01), np.full(3, 1e-4))
    assert equal.p == pytest.approx(2 * stats.t.sf(0.01 / np.sqrt(1e-4 / 3), 2))
    assert np.isnan(random_effects(np.zeros(3), np.zeros(3)).p)


def test_one_very_large_dataset_does_not_decide_alone() -> None:
    """With weights by users alone, 60 to 70 % of the intervals held the truth."""
    generator, held = rng(5), []
    for _ in range(400):
        users = np.append(generator.integers(100, 1001, size=4), 1_000_000)
        spread = 0.25 / np.sqrt(users)
        found = random_effects(generator.normal(0, 0.005, 5) + spread * generator.normal(size=5), spread**2)
        held.append(found.low <= 0 <= found.high)
    assert 0.92 < np.mean(held) < 0.99


def test_intervals_of_skewed_differences_hold_the_truth() -> None:
    """Percentiles of a bootstrap held it in 83 to 90 % of cases."""
    gaps = np.exp(rng(6).normal(size=(4000, 30)))
    low, high = skewed_intervals(gaps, 0.95).T
    assert ((low < np.exp(0.5)) & (high > np.exp(0.5))).mean() > 0.915
    even = rng(7).normal(size=(4000, 30))
    low, high = skewed_intervals(even, 0.95).T
    assert ((low < 0) & (high > 0)).mean() == pytest.approx(0.95, abs=0.015)
    flat = skewed_intervals(np.array([[1.0, 2.0, 3.0, 4.0]]), 0.95)[0]  # no skewness: Student's interval
    assert flat == pytest.approx(stats.t.interval(0.95, 3, loc=2.5, scale=np.sqrt(5 / 3 / 4)))


def scores(users: int, seed: int, *, gain: float = 0.0, name: str = "films") -> UserScores:
    generator = rng(seed)
    chance = generator.beta(0.6, 1.5, size=users)
    rank = generator.integers(1, 11, size=(3, users))
    hit = generator.random((3, users)) < np.minimum(chance * np.array([[1.0], [1.0], [1.0 + gain]]), 1)
    return UserScores(name, ("a", "b", "best"), np.where(hit, 1 / np.log2(rank + 1), 0.0))


@pytest.mark.slow
def test_the_test_holds_its_level_and_finds_a_true_difference() -> None:
    gaps = np.stack([np.subtract(*scores(80, seed).values[:2]) for seed in range(800)], axis=1)
    assert 0.03 <= np.mean(sign_flip_p(gaps, rng()) < 0.05) <= 0.07
    found = compare_users([scores(2000, 1, gain=0.5)], "ndcg@10", higher_is_better=True, replicates=500)
    assert found.datasets[0].algorithms[0] == "best"
    assert found.datasets[0].not_worse() == ("best",)


def test_intervals_of_sparse_scores_hold_the_truth() -> None:
    generator, held = rng(4), np.zeros(2)
    pair = np.array([0]), np.array([1])
    for _ in range(400):
        hits = (generator.random((2, 60)) < np.array([[0.10], [0.05]])).astype(np.float64)
        means, gaps = user_intervals(hits, *pair, confidence=0.95, replicates=400, rng=generator)
        held += (means[0, 0] <= 0.10 <= means[0, 1], gaps[0, 0] <= 0.05 <= gaps[0, 1])
    assert (held / 400 > 0.92).all()


def test_pairs_means_and_counts_by_hand() -> None:
    values = np.array([[0.0, 0.5, 1.0, 0.0], [0.5, 0.5, 1.0, 1.0]])
    found = compare_users([UserScores("films", ("low", "high"), values, 2)], "ndcg@10", higher_is_better=True)
    one = found.datasets[0]
    assert one.algorithms == ("high", "low")
    assert (one.users, one.left_out) == (4, 2)
    (pair,) = one.pairs
    assert (pair.left, pair.right) == ("high", "low")
    assert (pair.better, pair.equal, pair.worse) == (2, 2, 0)
    assert pair.difference == pytest.approx(0.375)
    assert pair.relative == pytest.approx(1.0)
    assert pair.p == pair.p_holm == 0.5
    assert not pair.significant
    assert pair.low < pair.difference < pair.high
    turned = compare_users([UserScores("films", ("low", "high"), values)], "seconds", higher_is_better=False)
    (other,) = turned.datasets[0].pairs
    assert (other.left, other.difference) == ("low", pytest.approx(0.375))
    assert other.low < other.difference < other.high


def test_over_datasets_wins_and_a_summary_and_nothing_below_three() -> None:
    several = [scores(1500, seed, gain=0.4, name=f"d{seed}") for seed in range(6)]
    found = compare_users(several, "ndcg@10", higher_is_better=True, replicates=300)
    assert found.algorithms[0] == "best"
    first = found.summary[0]
    assert (first.left, first.wins + first.ties + first.losses) == ("best", 6)
    assert first.wins >= 5
    assert first.effects is not None
    assert first.effects.low > 0
    assert first.significant
    assert compare_users(several[:2], "ndcg@10", higher_is_better=True, replicates=300).summary[0].effects is None
    told = json.loads(json.dumps(found.to_dict()))
    assert told["summary"][0]["difference"]["interval"][0] > 0
    assert set(found.frames()) == {"users_pairs", "users_means", "users_summary"}
    assert found.to_frame().height == 18


def test_an_algorithm_that_failed_somewhere_is_compared_where_it_has_scores() -> None:
    part = UserScores("small", ("a", "best"), scores(300, 9).values[[0, 2]])
    found = compare_users([part, scores(300, 8)], "ndcg@10", higher_is_better=True, replicates=200)
    counted = {(p.left, p.right): p.wins + p.ties + p.losses for p in found.summary}
    assert sorted(counted.values()) == [1, 1, 2]


def test_what_cannot_be_compared_says_why() -> None:
    with pytest.raises(NotApplicableError, match=r"films: only a has scores; books: 1 users"):
        compare_users(
            [UserScores("films", ("a",), np.ones((1, 5))), UserScores("books", ("a", "b"), np.ones((2, 1)))],
            "ndcg@10",
            higher_is_better=True,
        )
    with pytest.raises(UsageError, match="alpha is 2; give a level"):
        compare_users([scores(10, 1)], "ndcg@10", higher_is_better=True, alpha=2)


def test_the_same_seed_gives_the_same_numbers() -> None:
    one, two = (compare_users([scores(200, 1)], "ndcg@10", higher_is_better=True, seed=5) for _ in range(2))
    assert one.to_dict() == two.to_dict()


def test_the_sentences_claim_what_the_tests_show_and_no_more() -> None:
    clear = compare_users([scores(3000, 1, gain=0.6)], "ndcg@10", higher_is_better=True, replicates=300)
    headline, said, scope = SECTION.sentences(clear)
    assert headline == "best is best on films by nDCG@10."
    assert said.startswith("best beats the next algorithm, ")
    assert scope.endswith("not of other datasets or of a later time.")
    assert_valid(SECTION.figures(clear))
    level = compare_users([scores(40, 1)], "ndcg@10", higher_is_better=True, replicates=300)
    said, _ = SECTION.sentences(level)
    assert said.startswith("No clear winner on films by nDCG@10: any of the ")
    several = [scores(1500, seed, gain=0.6, name=f"d{seed}") for seed in range(6)]
    both = SECTION.sentences(compare_users(several, "ndcg@10", higher_is_better=True, replicates=300))
    assert "datasets one algorithm is better than every other: best on" in both[0]
    assert both[1].startswith("Over the datasets together (random effects), best is better than")
    few_datasets = compare_users(several[:4], "ndcg@10", higher_is_better=True, replicates=300)
    assert len(SECTION.sentences(few_datasets)) == 1


def test_every_number_of_a_dataset_by_plain_computation() -> None:
    """Three algorithms on nine users, lower is better: means, intervals, p-values, counts and what follows."""
    values = np.round(rng(11).random((3, 9)), 1)
    values[:, :2] = [[0.5], [0.7], [0.9]]
    values[0, 3] = 0.0
    table = UserScores("films", ("x", "y", "z"), values, 4)
    found = compare_users([table], "rmse", higher_is_better=False, alpha=0.2, replicates=150, seed=6)
    one = found.datasets[0]
    order = sorted(range(3), key=lambda a: values[a].mean())
    names = [table.algorithms[a] for a in order]
    assert one.algorithms == tuple(names)
    assert one.means == pytest.approx(tuple(values[order].mean(axis=1)))
    # The bootstrap of the means draws 11 users: two are added, with the scores m and 0.
    typical = np.array([np.sqrt((row[row != 0] ** 2).mean()) for row in values[order]])
    padded = np.hstack([values[order], np.zeros((3, 1)), typical[:, None]])
    drawn = derived_rng(6, "users", "9").integers(0, 11, size=(150, 11))
    means, tail = padded[:, drawn].mean(axis=2), expanded_tail(0.8, 11)
    assert one.low == pytest.approx(tuple(np.quantile(means, tail, axis=1)))
    assert one.high == pytest.approx(tuple(np.quantile(means, 1 - tail, axis=1)))
    p = []
    for pair, (a, b) in zip(one.pairs, ((0, 1), (0, 2), (1, 2)), strict=True):
        gap = values[order[b]] - values[order[a]]
        assert (pair.left, pair.right) == (names[a], names[b])
        assert pair.difference == pytest.approx(gap.mean())
        assert pair.relative == pytest.approx(gap.mean() / values[order[b]].mean())
        assert pair.effect == pytest.approx(gap.mean() / gap.std(ddof=1))
        assert (pair.better, pair.equal, pair.worse) == ((gap > 0).sum(), (gap == 0).sum(), (gap < 0).sum())
        added = np.sqrt((gap[gap != 0] ** 2).mean())
        low, high = skewed_intervals(-np.append(gap, [added, -added])[None], 0.8)[0]
        assert (pair.low, pair.high) == pytest.approx((-high, -low))
        p.append(p_of(gap))
        assert pair.p == pytest.approx(p[-1])
    ordered = np.argsort(p)
    adjusted = np.empty(3)
    adjusted[ordered] = np.minimum(np.maximum.accumulate(np.array(p)[ordered] * [3, 2, 1]), 1)
    assert [pair.p_holm for pair in one.pairs] == pytest.approx(adjusted.tolist())
    assert [pair.significant for pair in one.pairs] == (adjusted < 0.2).tolist()
    assert one.not_worse() == (names[0], *(names[b] for b, a in ((1, 0), (2, 1)) if adjusted[a] >= 0.2))
    told = found.to_dict()
    first = told["datasets"]["films"]["pairs"][0]
    assert first["difference"] == {
        "estimate": one.pairs[0].difference, "interval": [one.pairs[0].low, one.pairs[0].high]
    }  # fmt: skip
    assert (first["left"], first["right"], first["p"]) == (names[0], names[1], one.pairs[0].p)
    assert {"low", "high"}.isdisjoint(first)
    assert (told["settings"]["alpha"], told["settings"]["confidence"], found.confidence) == (0.2, 0.8, 0.8)
    assert told["settings"]["replicates"] == 150
    assert (told["metric"], told["higher_is_better"], told["algorithms"]) == ("rmse", False, list(found.algorithms))
    assert told["datasets"]["films"]["means"][names[0]]["interval"] == [one.low[0], one.high[0]]


@pytest.mark.parametrize("skew", [0.4, -0.4, 0.05])
def test_skewed_intervals_turn_halls_formula_round(skew: float) -> None:
    values = np.expm1(skew * rng(3).normal(size=25))
    low, high = skewed_intervals(values[None], 0.9)[0]
    n, error = 25, values.std(ddof=1) / 5
    a = stats.skew(values) / np.sqrt(n)
    t = stats.t.ppf(0.95, n - 1)
    for end, wanted in ((low, t), (high, -t)):
        x = (values.mean() - end) / error
        assert x + a * x**2 / 3 + a**2 * x**3 / 27 + a / 6 == pytest.approx(wanted, rel=1e-9)


def test_many_users_have_fewer_replicates_and_no_fewer_than_some(monkeypatch: pytest.MonkeyPatch) -> None:
    values, pair = rng(1).random((2, 18)), (np.array([0]), np.array([1]))
    monkeypatch.setattr(users_fit, "MOST_DRAWS", 20 * 40)
    monkeypatch.setattr(users_fit, "KEPT_REPLICATES", 30)

    def ends(replicates: int) -> list[float]:
        return user_intervals(values, *pair, confidence=0.9, replicates=replicates, rng=rng(5))[0].ravel().tolist()

    assert ends(25) != ends(40)
    assert ends(40) == ends(41) == ends(1000), "800 draws are 40 replicates of 20"
    monkeypatch.setattr(users_fit, "MOST_DRAWS", 20)
    assert ends(30) == ends(1000)
    assert ends(30) != ends(29)


def test_over_datasets_by_plain_computation() -> None:
    """Means over the datasets with both, wins and losses by significance, Holm over all pairs with a summary."""
    tables = [scores(400, seed, gain=0.3, name=f"d{seed}") for seed in range(3)]
    tables.append(UserScores("part", ("a", "best"), scores(400, 7, gain=0.3).values[[0, 2]]))
    found = compare_users(tables, "ndcg@10", higher_is_better=True, alpha=0.1, replicates=100)
    places: dict[str, list[float]] = {}
    for dataset in found.datasets:
        for rank, name in enumerate(dataset.algorithms, start=1):
            places.setdefault(name, []).append(rank / len(dataset.algorithms))
    assert list(found.algorithms) == sorted(places, key=lambda name: np.mean(places[name]))
    p = []
    for pair in found.summary:
        having = [table for table in tables if {pair.left, pair.right} <= set(table.algorithms)]
        gaps = [np.subtract(*(table.values[table.algorithms.index(name)] for name in (pair.left, pair.right)))
                for table in having]  # fmt: skip
        expected = random_effects(
            np.array([gap.mean() for gap in gaps]), np.array([gap.var(ddof=1) / 400 for gap in gaps]), confidence=0.9
        )
        assert pair.effects == expected
        shown = [one for dataset in found.datasets for one in dataset.pairs
                 if {one.left, one.right} == {pair.left, pair.right} and one.significant]  # fmt: skip
        assert pair.wins == sum(one.left == pair.left for one in shown)
        assert pair.losses == sum(one.left == pair.right for one in shown)
        assert pair.ties == len(having) - pair.wins - pair.losses
        p.append(expected.p)
    order = np.argsort(p)
    adjusted = np.empty(3)
    adjusted[order] = np.minimum(np.maximum.accumulate(np.array(p)[order] * [3, 2, 1]), 1)
    assert [pair.p_holm for pair in found.summary] == pytest.approx(adjusted.tolist())
    assert [pair.significant for pair in found.summary] == (adjusted < 0.1).tolist()
    told = found.to_dict()["summary"][0]
    effects = found.summary[0].effects
    assert effects is not None
    assert told["difference"] == {"estimate": effects.estimate, "interval": [effects.low, effects.high]}
    assert told["predicted"] == [effects.predicted_low, effects.predicted_high]
    assert (told["p"], told["tau"], told["datasets"]) == (effects.p, effects.tau, effects.datasets)
    row = found.frames()["users_summary"].row(0, named=True)
    assert (row["low"], row["high"], row["p_holm"]) == (effects.low, effects.high, told["p_holm"])
    means = found.frames()["users_means"].row(0, named=True)
    first = found.datasets[0]
    assert (means["low"], means["high"], means["not_worse_than_best"]) == (first.low[0], first.high[0], True)


def test_weights_of_a_summary_that_are_too_uneven_count_alike() -> None:
    """Beyond twice its even share a dataset decides too much; I^2 and the interval of two datasets by hand."""
    effects, variances = np.array([0.1, 0.1, 0.1, 0.4]), np.array([1.0, 1.0, 1.0, 0.2])
    uneven = random_effects(effects, variances)
    assert uneven.tau == 0
    assert uneven.estimate == pytest.approx(effects.mean()), "5 of 8 is more than 2 / 4"
    even = random_effects(effects, np.array([1.0, 1.0, 1.0, 0.4]))
    assert even.estimate == pytest.approx((0.3 + 2.5 * 0.4) / 5.5)
    two = random_effects(np.array([0.0, 1.0]), np.array([0.1, 0.1]), confidence=0.9)
    assert two.i_squared == pytest.approx(1 - 1 / 5)
    assert (two.high - two.estimate) == pytest.approx(stats.t.ppf(0.95, 1) * 0.5)
    assert np.isnan(two.predicted_low)
    assert np.isnan(two.predicted_high)
    assert random_effects(np.full(3, 0.2), np.full(3, 0.1)).i_squared == 0.0


@pytest.mark.parametrize(("draws", "counted"), [(2000, False), (8000, True)])
def test_at_least_twenty_drawn_signs_must_reach_as_far(
    monkeypatch: pytest.MonkeyPatch, draws: int, counted: bool
) -> None:
    monkeypatch.setattr(sign_flip, "DRAWS", draws)
    d = np.where(np.arange(45) % 3 == 0, np.sqrt(2), 1.0) * np.where(np.arange(45) % 3 == 1, -1, 1)
    signs = 2.0 * rng(4).integers(0, 2, size=(draws, 45), dtype=np.int8) - 1
    extreme = int((np.abs(signs @ d) >= abs(d.sum()) - 1e-6).sum())
    assert extreme > 0
    assert (extreme >= 20) == counted
    assert sign_flip._drawn(d, 0.123, rng(4)) == ((1 + extreme) / (1 + draws) if counted else 0.123)


def test_a_dataset_weighs_alike_beyond_twice_its_share_and_without_a_spread_as_the_surest_other() -> None:
    just = random_effects(np.array([0.4, 0.1, 0.1, 0.1]), np.array([1 / 3, 1.0, 1.0, 1.0]))
    assert just.estimate == pytest.approx((3 * 0.4 + 0.3) / 6), "3 of 6 is twice a quarter, and no more"
    effects = np.array([0.3, 0.1, 0.2])
    level, known = (random_effects(effects, np.array([first, 0.1, 0.2])) for first in (0.0, 0.1))
    assert level == known, "the smallest variance of the others"


def test_pairs_without_any_difference_have_no_p_value_and_do_not_count_in_the_correction() -> None:
    """a and b are the same on three datasets; c is behind both."""
    tables = []
    for seed in range(3):
        values = scores(60, seed).values[[0, 0, 1]]
        values[2] *= 0.5
        tables.append(UserScores(f"d{seed}", ("a", "b", "c"), values))
    found = compare_users(tables, "ndcg@10", higher_is_better=True, replicates=100)
    pairs = {(pair.left, pair.right): pair for pair in found.summary}
    same, first, second = pairs["a", "b"], pairs["a", "c"], pairs["b", "c"]
    assert same.effects is not None
    assert np.isnan(same.effects.p)
    assert (same.p_holm, same.significant, same.wins, same.ties) == (None, False, 0, 3)
    assert first.effects is not None
    assert first.p_holm == second.p_holm == pytest.approx(min(1.0, 2 * first.effects.p)), "of two tests, not of three"
    row = found.summary_frame().filter(left="a", right="b").row(0, named=True)
    assert (row["p"], row["low"], row["estimate"]) == (None, None, 0.0)
    means = found.means_frame().filter(dataset="d0")
    assert dict(means.select("algorithm", "not_worse_than_best").rows())["b"], "it is as good as the best"


def test_drawn_signs_count_the_observed_ones_and_rare_sums_are_left_to_the_saddlepoint() -> None:
    d = np.where(np.arange(45) % 3 == 0, np.sqrt(2), 1.0) * np.where(np.arange(45) % 4 == 0, -1, 1)
    signs = 2.0 * rng(4).integers(0, 2, size=(sign_flip.DRAWS, 45), dtype=np.int8) - 1
    extreme = int((np.abs(signs @ d) >= abs(d.sum()) - 1e-6).sum())
    assert extreme >= 20
    assert sign_flip._drawn(d, 0.123, rng(4)) == (1 + extreme) / (1 + sign_flip.DRAWS)
    assert sign_flip._drawn(np.abs(d), 0.123, rng(4)) == 0.123, "nobody draws 45 equal signs"


def test_which_differences_are_lumpy() -> None:
    many = np.sqrt(np.arange(1.0, 41.0))
    assert not sign_flip._lumpy(many)
    large = np.append(many, np.sqrt(2 * (many**2).sum() / 3))
    assert not sign_flip._lumpy(0.9999 * np.append(many, large[-1] * 0.99)), "two fifths of the squares, not more"
    assert sign_flip._lumpy(np.append(many, large[-1] * 1.01))
    six = np.tile(np.arange(1.0, 7.0), 10)
    assert sign_flip._lumpy(six)
    assert not sign_flip._lumpy(np.append(six, 6.5)), "seven sizes"
    assert not sign_flip._lumpy(np.tile(np.arange(1.0, 7.0), 334)), "beyond 2,000 differences the gaps are filled"
    assert sign_flip._lumpy(np.append(np.linspace(1.0, 2.0, 2500), 100.0)), "one that is large among however many"


def test_the_p_of_multiples_is_exact_for_mixed_sizes() -> None:
    """Against the distribution built up one user after the other."""
    sizes = rng(8).choice([1, 2, 3], 34) * rng(9).choice([-1, 1, 1], 34)
    counts = np.zeros(2 * 120 + 1)
    counts[120] = 1.0
    for size in np.abs(sizes):
        counts = (np.roll(counts, size) + np.roll(counts, -size)) / 2
    reach = np.abs(np.arange(-120, 121))
    expected = counts[reach >= abs(sizes.sum())].sum()
    assert p_of(sizes * 0.1) == pytest.approx(expected, rel=1e-9)
    assert sign_flip._of_multiples(sizes + 0.001 * np.arange(34)) is None
    assert sign_flip._of_multiples(np.append(sizes, 2.00001)) is None, "nearly a multiple is none"


def test_two_users_and_three_datasets_are_the_least() -> None:
    two = [UserScores(f"d{n}", ("a", "b"), np.array([[0.1, 0.2], [0.3, 0.5]])) for n in range(3)]
    found = compare_users(two, "ndcg@10", higher_is_better=True, replicates=100)
    assert found.summary[0].effects is not None
    assert compare_users(two[:2], "ndcg@10", higher_is_better=True, replicates=100).summary[0].effects is None
    alone = compare_users(two[:1], "ndcg@10", higher_is_better=True)
    assert (alone.summary, alone.alpha, alone.replicates) == ((), 0.05, 10_000)
    assert list(alone.frames()) == ["users_pairs", "users_means"]
    nobody = UserScores("books", (), np.ones((0, 5)))
    kept = compare_users(
        [nobody, *two], "ndcg@10", higher_is_better=True, replicates=100, skipped={"films": "it failed"}
    )
    assert kept.skipped == {"films": "it failed", "books": "nothing has scores"}
    assert found.datasets[0].users == 2
    with pytest.raises(NotApplicableError, match="no dataset has per-user scores"):
        compare_users([], "ndcg@10", higher_is_better=True)
    with pytest.raises(NotApplicableError, match="films: it failed"):
        compare_users([], "ndcg@10", higher_is_better=True, skipped={"films": "it failed"})
    with pytest.raises(UsageError, match="alpha is 0; give a level"):
        compare_users(two, "ndcg@10", higher_is_better=True, alpha=0)
    summary = compare_users(two[:2], "ndcg@10", higher_is_better=True, replicates=100).summary_frame()
    assert summary.select("left", "right", "wins", "ties", "losses", "estimate").rows() == [("b", "a", 0, 2, 0, None)]
    assert summary.schema["p_holm"] == pl.Float64


def test_pairs_that_share_no_dataset_have_no_summary_and_others_count_where_both_are() -> None:
    values = scores(30, 1).values
    tables = [
        UserScores("films", ("a", "b"), values[:2]),
        UserScores("books", ("b", "c"), values[1:]),
        UserScores("songs", ("c", "d"), values[:2]),
    ]
    found = compare_users(tables, "ndcg@10", higher_is_better=True, replicates=100)
    pairs = {frozenset((pair.left, pair.right)): pair for pair in found.summary}
    assert set(pairs) == {frozenset("ab"), frozenset("bc"), frozenset("cd")}
    assert all(pair.wins + pair.ties + pair.losses == 1 for pair in found.summary)
    assert set(found.algorithms) == set("abcd")


def test_algorithms_are_ordered_by_their_share_of_the_places_of_each_dataset() -> None:
    """The second of two is last there; the third of five is in the middle."""
    level = np.linspace(0.9, 0.1, 5)[:, None] + np.zeros((5, 3))
    tables = [UserScores("films", tuple("abcde"), level), UserScores("books", ("f", "g"), level[:2])]
    found = compare_users(tables, "ndcg@10", higher_is_better=True, replicates=100)
    assert found.algorithms == ("a", "b", "f", "c", "d", "e", "g"), "shares 1/5, 2/5, 1/2, 3/5, 4/5, 1 and 1"
    turned = compare_users(tables[::-1], "ndcg@10", higher_is_better=True, replicates=100)
    assert turned.algorithms == found.algorithms, "equal shares by name"
    twins = compare_users([UserScores("films", ("z", "y"), level[[0, 0]])], "ndcg@10", higher_is_better=True)
    assert twins.datasets[0].algorithms == ("y", "z"), "equal means by name"
    songs = compare_users([UserScores("songs", ("z", "y", "x"), level[:3])], "ndcg@10", higher_is_better=True)
    assert songs.datasets[0].not_worse() == ("z", "y", "x"), "three users show nothing; the best mean is first"


def test_a_mean_of_zero_and_differences_without_spread() -> None:
    """Nothing is a share of 0, and an effect in deviations needs some deviation."""
    values = np.array([[0.5, 0.5, 0.5, 0.5], [0.3, 0.3, 0.3, 0.3], [0.0, 0.0, 0.0, 0.0]])
    found = compare_users(
        [UserScores("films", ("a", "b", "c"), values)], "ndcg@10", higher_is_better=True, replicates=100
    )
    first, second, third = found.datasets[0].pairs
    assert (first.left, first.right, first.relative) == ("a", "b", pytest.approx(2 / 3))
    assert (second.right, second.relative, third.relative) == ("c", None, None)
    below = compare_users(
        [UserScores("films", ("a", "b"), -values[:2])], "score", higher_is_better=True, replicates=100
    ).datasets[0]
    assert (below.pairs[0].left, below.pairs[0].difference, below.pairs[0].relative) == pytest.approx(("b", 0.2, 0.4))
    same = compare_users(
        [UserScores("films", ("a", "b"), values[[0, 0]])], "ndcg@10", higher_is_better=True, replicates=100
    )
    (pair,) = same.datasets[0].pairs
    assert (pair.difference, pair.effect, pair.p, pair.equal) == (0.0, 0.0, 1.0, 4)


def test_thirty_differences_are_still_enumerated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_flip, "_enumerated", lambda d: len(d) / 100)
    irregular = np.sqrt(np.arange(2.0, 33.0))
    assert p_of(irregular[:30]) == 0.3
    assert p_of(np.append(irregular[:30], np.zeros(5))) == 0.3, "differences of 0 have no sign"
    assert p_of(irregular) == pytest.approx(2.0**-30), "all on one side"


def test_users_and_pairs_in_blocks_give_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four algorithms have six pairs: blocks of four and two of them, and replicates by seven."""
    values = rng(3).random((4, 40))
    table = UserScores("films", tuple("abcd"), values)
    whole = compare_users([table], "ndcg@10", higher_is_better=True, replicates=100)
    monkeypatch.setattr(users_fit, "_BLOCK", 4 * 40)
    assert compare_users([table], "ndcg@10", higher_is_better=True, replicates=100).to_dict() == whole.to_dict()
    monkeypatch.setattr(users_fit, "_DRAWN_AT_ONCE", 7 * 42)
    assert compare_users([table], "ndcg@10", higher_is_better=True, replicates=100).to_dict() == whole.to_dict()
    few = user_intervals(values[:, :38], *np.triu_indices(4, 1), confidence=0.9, replicates=100, rng=rng(1))
    monkeypatch.setattr(users_fit, "_DRAWN_AT_ONCE", 4 * 40)
    again = user_intervals(values[:, :38], *np.triu_indices(4, 1), confidence=0.9, replicates=100, rng=rng(1))
    assert all(np.array_equal(one, other) for one, other in zip(few, again, strict=True))


def test_signs_in_blocks_are_as_many_as_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    smooth = rng(5).normal(0.1, 1.0, size=(60, 5))
    whole = sign_flip_p(smooth, rng())
    monkeypatch.setattr(sign_flip, "_BLOCK", 2 * 60)
    assert sign_flip_p(smooth, rng()).tolist() == whole.tolist()
    monkeypatch.setattr(sign_flip, "DRAWS", 1001)
    level = np.sqrt(np.arange(2.0, 22.0))
    assert sign_flip._drawn(np.concatenate([level, -level]), 0.5, rng()) == 1.0, "every sum is as far from 0 as none"


def test_a_table_of_pairs_may_begin_with_many_that_have_no_share_of_anything() -> None:
    values = np.array([[0.2, 0.4], [0.0, 0.0]])
    found = compare_users([UserScores("films", ("a", "b"), values)], "ndcg@10", higher_is_better=True, replicates=100)
    (pair,) = found.datasets[0].pairs
    many = replace(found.datasets[0], pairs=(*[pair] * 150, replace(pair, relative=0.5)))
    column = replace(found, datasets=(many,)).to_frame()["relative"]
    assert (column.null_count(), column[-1]) == (150, 0.5)


def test_one_that_loses_to_the_second_could_not_be_best_though_the_first_does_not_beat_it() -> None:
    """The first is ahead by a few users; the second beats the third on each of them."""
    third = rng(5).random(30)
    second = third + 0.05
    first = third + np.where(np.arange(30) < 3, 2.0, -0.05)
    scores = UserScores("shop", ("first", "second", "third"), np.stack([first, second, third]))
    found = compare_users([scores], "ndcg@10", higher_is_better=True, replicates=200).datasets[0]
    assert found.algorithms == ("first", "second", "third")
    assert found.not_worse() == ("first", "second", "third")
    assert found.could_be_best() == ("first", "second")
