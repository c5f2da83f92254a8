"""Intervals that cover, chances that add up, and numbers that do not depend on the order of the table."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from recassay.analysis.inference.bootstrap import (
    content_weights,
    dataset_weights,
    expanded_tail,
    intervals,
    random_subsets,
    refuse_few,
    studentised,
    subset_weights,
)
from recassay.analysis.inference.families import renumbered
from recassay.analysis.inference.winners import mean_rank_intervals
from recassay.analysis.rank.fit import rank_algorithms
from recassay.core.errors import UsageError
from recassay.core.seeds import derived_rng
from recassay.core.system.plain import plain
from recassay.core.tables.results import Results
from recassay.testing.results import synthetic_results
from support.tables import by_content, dealt_by_content, matrix


@pytest.mark.slow
@pytest.mark.parametrize("n_datasets", [6, 12, 30])
def test_intervals_of_the_mean_cover(n_datasets):
    """95 % intervals of the mean cover the truth in 90 to 98 % of simulated benchmarks, few datasets included."""
    rng = np.random.default_rng(n_datasets)
    hits = []
    for trial in range(80):
        values = rng.normal([[0.5], [0.4]], 0.1, size=(2, n_datasets))
        result = rank_algorithms(matrix(values), methods=["mean"], replicates=800, seed=trial)
        low, high = result.rankings["mean"].score_interval.T
        hits += list((low <= [0.5, 0.4]) & (high >= [0.5, 0.4]))
    assert 0.90 <= np.mean(hits) <= 0.985


def test_expanded_tail():
    """For many observations the plain 2.5 %; for few a smaller tail, as Student's t asks."""
    assert expanded_tail(0.95, 100_000) == pytest.approx(0.025, abs=1e-4)
    z = np.sqrt(5 / 4) * stats.t.ppf(0.975, 4)
    assert expanded_tail(0.95, 5) == pytest.approx(stats.norm.sf(z))


def test_probabilities_and_intervals():
    rng = np.random.default_rng(0)
    values = rng.random((5, 12)) + np.array([0.4, 0, 0, 0, 0])[:, None]
    result = rank_algorithms(matrix(values), replicates=500)
    for ranking in result.rankings.values():
        assert ranking.resampling_share.sum() == pytest.approx(1)
        assert (ranking.rank_interval[:, 0] <= ranking.ranks).all()
        assert (ranking.rank_interval[:, 1] >= ranking.ranks).all()
        assert (ranking.score_interval[:, 0] <= ranking.score_interval[:, 1]).all()
    assert result.rankings["mean"].resampling_share.argmax() == 0
    assert result.probability_best.sum() == pytest.approx(1)
    assert result.probability_best.argmax() == 0


@pytest.mark.parametrize("n_datasets", [2, 4])
def test_below_five_datasets_nothing_is_said_of_others(n_datasets):
    result = rank_algorithms(matrix(np.random.default_rng(0).random((3, n_datasets))), replicates=100)
    answer = json.loads(json.dumps(plain(result.to_dict()), allow_nan=False))
    assert answer["probability_best"] == {"mean_rank": None}
    for part in ("interval", "rank_interval", "resampling_share"):
        assert set(answer[part].values()) == {None}
    assert set(answer["methods"]["mean"]) == {"a00", "a01", "a02"}
    assert answer["winner_p"] == {"mean_rank": None}
    assert answer["possible_winners"] is None
    assert result.to_frame()["rank_low"].null_count() == result.to_frame().height


def test_from_five_datasets_on_others_are_spoken_of():
    result = rank_algorithms(matrix(np.random.default_rng(0).random((3, 5))), methods=["borda", "mean_rank", "mean"],
                             replicates=100)  # fmt: skip
    assert all(ranking.rank_interval is not None for ranking in result.rankings.values())
    rows = result.to_frame()
    assert rows.filter(method="mean_rank")["probability_best"].null_count() == 0
    assert rows.filter(method="mean")["probability_best"].null_count() == 3, "it is about the mean rank alone"
    assert result.mean_ranks.tolist() == result.rankings["mean_rank"].scores.tolist()
    named = rank_algorithms(matrix(np.random.default_rng(0).random((3, 5))), methods=["mean"], replicates=100,
                            control="A01")  # fmt: skip
    assert named.judgement.control == "a01"
    answer = result.to_dict()
    assert answer["possible_winners"] == list(result.judgement.could_be_best)
    leader = result.algorithms[int(result.mean_ranks.argmin())]
    assert (answer["first"]["by_mean_rank"], answer["first"]["aggregations"]) == (leader, 2), "Borda says the same"
    assert sorted(title for titles in answer["first"]["under"].values() for title in titles) == ["Mean", "Mean rank"]


def first_again(effects: np.ndarray, n: int, rng: np.random.Generator, tables: int = 40) -> tuple[float, float, float]:
    """On average over tables: the probability said of the observed first, how often it is true, resampling's share."""
    said, true, share = [], [], []
    for trial in range(tables):
        strength = effects[trial % len(effects)][:, None]
        result = rank_algorithms(
            matrix(strength + rng.normal(size=(strength.size, n))), methods=["mean_rank"], replicates=200, seed=trial
        )
        first = result.order()[0]
        others = strength + rng.normal(size=(200, strength.size, n))
        ranks = stats.rankdata(-others, axis=1).mean(axis=2)
        said.append(result.probability_best[first])
        share.append(result.rankings["mean_rank"].resampling_share[first])
        true.append((ranks.argmin(axis=1) == first).mean())
    return float(np.mean(said)), float(np.mean(true)), float(np.mean(share))


@pytest.mark.slow
def test_equal_algorithms_are_first_again_by_lot():
    """Seven equal algorithms on 30 datasets: 1/7. That they are equal is not known beforehand, so a quarter is said of
    the first; the bootstrap's share is three times as far off."""
    said, true, share = first_again(np.zeros((1, 7)), 30, np.random.default_rng(0))
    assert true == pytest.approx(1 / 7, abs=0.03)
    assert said == pytest.approx(true, abs=0.12)
    assert said - true < (share - true) / 3


@pytest.mark.slow
@pytest.mark.parametrize(("spread", "n"), [(0.5, 10), (0.5, 30), (1.5, 30)])
def test_the_probability_of_being_first_again_is_true_of_different_algorithms(spread, n):
    rng = np.random.default_rng(int(10 * spread) + n)
    said, true, _ = first_again(rng.normal(0, spread, (40, 7)), n, rng)
    assert said == pytest.approx(true, abs=0.07)


def test_intervals_of_ranks_end_at_ranks_that_were_attained():
    """Between two attained ranks the interval is widened to the outer one: no algorithm was ever "rank 1.3"."""
    samples = np.array([[1, 1], [2, 1], [3, 1], [4, 2], [5, 2], [6, 4], [7, 4], [8, 4], [9, 4], [10, 4], [11, 7]])
    low, high = intervals(samples, 100_000, 0.9, discrete=True).T
    assert (low.tolist(), high.tolist()) == ([1, 1], [11, 7])
    low, high = intervals(samples, 100_000, 0.9).T
    np.testing.assert_allclose([low, high], [[1.5, 1], [10.5, 5.5]], atol=1e-3)
    result = rank_algorithms(matrix(np.random.default_rng(0).random((6, 7))), replicates=101)
    ends = np.stack([ranking.rank_interval for ranking in result.rankings.values()])
    np.testing.assert_array_equal(ends * 2, np.round(ends * 2))


def test_order_of_the_rows_does_not_matter_and_the_seed_does():
    frame = synthetic_results(10)
    straight = rank_algorithms(Results.from_frame(frame).matrix("ndcg@10"), replicates=300).to_dict()
    shuffled = Results.from_frame(frame.sample(fraction=1.0, shuffle=True, seed=3)).matrix("ndcg@10")
    assert rank_algorithms(shuffled, replicates=300).to_dict()["interval"] == straight["interval"]
    other = rank_algorithms(shuffled, replicates=300, seed=1).to_dict()
    assert other["interval"] != straight["interval"]
    assert other["methods"] == straight["methods"]


def test_known_best_is_found_and_twins_tie():
    result = rank_algorithms(Results.from_frame(synthetic_results()).matrix("ndcg@10"), replicates=500)
    for name, ranking in result.rankings.items():
        best = result.algorithms[int(ranking.ranks.argmin())]
        assert best == "Oracle", name
    ranking = result.rankings["mean_rank"]
    a, b = (result.algorithms.index(t) for t in ("Twin A", "Twin B"))
    (low_a, high_a), (low_b, high_b) = ranking.rank_interval[a], ranking.rank_interval[b]
    assert low_a <= high_b
    assert low_b <= high_a


def test_means_of_skewed_scores_are_covered_better_than_by_percentiles():
    """Lognormal scores (nDCG over datasets is skewed): the bootstrap-t covers in about 0.91, percentiles in 0.85."""
    rng = np.random.default_rng(3)
    truth, hits = np.exp(0.5), {"studentised": [], "percentile": []}
    for _ in range(40):
        values = np.exp(rng.normal(size=(20, 10)))
        weights = dataset_weights(10, 800, rng)
        by_t, by_share = studentised(values, weights, 0.95), intervals(weights @ values.T / 10, 10, 0.95)
        hits["studentised"] += list((by_t[:, 0] <= truth) & (truth <= by_t[:, 1]))
        hits["percentile"] += list((by_share[:, 0] <= truth) & (truth <= by_share[:, 1]))
    assert np.mean(hits["studentised"]) >= 0.89
    assert np.mean(hits["studentised"]) > np.mean(hits["percentile"]) + 0.03


def test_means_without_spread_and_zeros_have_intervals():
    flat = rank_algorithms(matrix(np.array([[0.5] * 6, [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]])), replicates=200)
    for name in ("mean", "geometric_mean", "harmonic_mean"):
        low, high = flat.rankings[name].score_interval.T
        assert (low <= flat.rankings[name].scores + 1e-12).all(), name
        assert (high >= flat.rankings[name].scores - 1e-12).all(), name
        assert (low >= 0).all()
    assert flat.rankings["mean"].score_interval[0].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("paired", [False, True])
def test_noise_of_seeds_is_counted_once(paired):
    """Three noisy seeds (or folds) behind every cell: the intervals of the mean cover as they do without."""
    rng = np.random.default_rng(7)
    hits, widths = [], []
    for trial in range(60):
        truth = np.array([0.5, 0.4])
        cells = truth[:, None, None] + rng.normal(0, 0.1, (2, 12, 1))
        noise = rng.normal(0, 0.15, (1 if paired else 2, 12, 3))
        measured = cells + noise
        table = matrix(measured.mean(axis=2), replicates=measured, paired=paired)
        interval = rank_algorithms(table, methods=["mean"], replicates=800, seed=trial).rankings["mean"].score_interval
        hits += list((interval[:, 0] <= truth) & (truth <= interval[:, 1]))
        widths += list(np.diff(interval, axis=1)[:, 0])
    ideal = 2 * stats.t.ppf(0.975, 11) * np.sqrt((0.1**2 + 0.15**2 / 3) / 12)
    assert 0.91 <= np.mean(hits) <= 0.98
    assert np.mean(widths) == pytest.approx(ideal, rel=0.1)


def test_weights_by_content_follow_their_datasets():
    """However rows and columns stand, and whether an algorithm stands twice."""
    rng = np.random.default_rng(1)
    values, families = rng.random((4, 9)), np.array([4, 4, 0, 1, 1, 1, 2, 3, 3])
    drawn = dataset_weights(9, 50, np.random.default_rng(3))
    plain = content_weights(values, 50, np.random.default_rng(3))
    assert plain.tolist() == dealt_by_content(values, drawn).tolist()
    grouped = content_weights(values, 50, np.random.default_rng(3), families)
    assert grouped.sum(axis=1) == pytest.approx(np.full(50, 9.0))
    for number in range(5):
        assert len(np.unique(grouped[:, families == number], axis=1).T) == 1, "families are drawn whole"
    assert (np.unique(grouped, axis=1).T.shape[0], np.unique(plain, axis=1).T.shape[0]) == (5, 9)
    for _ in range(5):
        rows, columns, names = rng.permutation(4), rng.permutation(9), rng.permutation(5)
        moved = values[np.ix_([*rows, rows[0]], columns)]
        assert content_weights(moved, 50, np.random.default_rng(3)).tolist() == plain[:, columns].tolist()
        numbers = names[families[columns]]
        assert content_weights(moved, 50, np.random.default_rng(3), numbers).tolist() == grouped[:, columns].tolist()


def test_families_are_numbered_as_they_come():
    families = np.array([2, 0, 1, 1, 2, 5])
    assert renumbered(families, np.arange(6)).tolist() == [0, 1, 2, 2, 0, 3]
    assert renumbered(families, np.array([5, 3, 4, 2])).tolist() == [0, 1, 2, 1], "of some of the datasets"


@pytest.mark.parametrize("families", [None, {f"d{j:02d}": f"f{j // 2}" for j in range(10)}])
def test_scores_ranks_and_shares_of_the_replicates_by_plain_computation(families):
    """Means have bootstrap-t intervals on their own scale where single datasets are drawn, the mean rank that of the
    verdict, all else percentiles."""
    values = np.random.default_rng(3).random((3, 10)) + 0.05
    found = rank_algorithms(matrix(values), replicates=150, confidence=0.9, families=families, seed=5)
    units = 10 if families is None else 5
    rng, pairs = derived_rng(5, "rank", "ndcg@10"), [dataset // 2 for dataset in by_content(values)]
    if families is None:
        weights = dealt_by_content(values, dataset_weights(10, 150, rng))
    else:  # a family comes where its first dataset does
        drawn = dataset_weights(5, 150, rng)
        weights = dealt_by_content(values, drawn[:, [list(dict.fromkeys(pairs)).index(pair) for pair in pairs]])
    ranks = 1 + (values[None] > values[:, None]).sum(axis=1)
    scored = {"mean": weights @ values.T / 10, "geometric_mean": np.exp(weights @ np.log(values).T / 10),
              "harmonic_mean": 10 / (weights @ (1 / values).T), "mean_rank": weights @ ranks.T / 10}  # fmt: skip
    means = {"mean": studentised(values, weights, 0.9),
             "geometric_mean": np.exp(studentised(np.log(values), weights, 0.9)),
             "harmonic_mean": 1 / studentised(1 / values, weights, 0.9)[:, ::-1]}  # fmt: skip
    for name, sampled in scored.items():
        expected = intervals(sampled, units, 0.9) if families else np.maximum(means.get(name, 0), 0)
        if name == "mean_rank":
            together = ranks if families is None else ranks.reshape(3, 5, 2).mean(axis=2)
            expected = mean_rank_intervals(together, 0.9)
        assert found.rankings[name].score_interval == pytest.approx(expected), name
    drawn = scored["mean"]
    places = 1 + (drawn[:, None, :] > drawn[:, :, None]).sum(axis=2)
    ranking = found.rankings["mean"]
    assert ranking.rank_interval == pytest.approx(intervals(places.astype(float), units, 0.9, discrete=True))
    assert ranking.resampling_share == pytest.approx((places == 1).mean(axis=0))
    assert found.judgement.alpha == 0.1
    assert (found.judgement.families, found.replicates, found.confidence) == (families and 5, 150, 0.9)
    told, names = found.to_dict(), found.algorithms
    assert told["interval"]["mean"][names[1]] == ranking.score_interval[1].tolist()
    assert told["rank_interval"]["mean"][names[1]] == ranking.rank_interval[1].tolist()
    assert told["methods"]["mean"][names[1]] == pytest.approx(values[1].mean())
    order = [found.judgement.algorithms.index(name) for name in names]
    assert found.probability_best.tolist() == found.judgement.leads_again[order].tolist()
    assert found.winner_p.tolist() == found.judgement.p_best[order].tolist()
    rows = found.to_frame().filter(method="mean_rank")
    assert rows["algorithm"].to_list() == list(found.judgement.algorithms)
    assert rows["probability_best"].to_list() == found.judgement.leads_again.tolist()
    assert found.to_frame().filter(method="mean")["winner_p"].null_count() == 3
    with pytest.raises(UsageError, match="at least 100"):
        rank_algorithms(matrix(values), replicates=99)


def test_intervals_of_means_stay_on_the_side_of_the_values():
    """No mean of values from 0 on reaches below 0; where some are 0 there is no mean of logs or of inverses."""
    values = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.9], [0.2, 0.1, 0.3, 0.2, 0.1, 0.2]])
    found = rank_algorithms(matrix(values), replicates=200)
    assert found.rankings["mean"].score_interval[0, 0] == 0.0
    sampled = dataset_weights(6, 200, derived_rng(0, "rank", "ndcg@10"))
    zero = (sampled[:, :5].sum(axis=1) > 0).mean()
    assert zero > 0.9
    assert found.rankings["geometric_mean"].score_interval[0, 0] == 0.0
    signed = rank_algorithms(matrix(values - 0.5), replicates=200)
    assert signed.rankings["mean"].score_interval[0, 0] < -0.5


def test_bootstrap_t_by_loops():
    """Each replicate's mean by its own standard error; a replicate of one dataset alone does not count."""
    values = np.array([[0.1, 0.5, 0.2, 0.9], [0.3, 0.3, 0.3, 0.3]])
    weights = np.vstack([dataset_weights(4, 60, np.random.default_rng(2)), [[0, 4, 0, 0]]])
    t = []
    for times in weights:
        drawn = np.repeat(values[0], times.astype(int))
        if np.ptp(drawn) > 0:
            t.append((drawn.mean() - values[0].mean()) / (drawn.std() / np.sqrt(3)))
    error = values[0].std(ddof=1) / 2
    low, high = values[0].mean() - np.quantile(t, [0.95, 0.05]) * error
    assert studentised(values, weights, 0.9).ravel().tolist() == pytest.approx([low, high, 0.3, 0.3])


def test_intervals_need_a_hundred_replicates_and_two_observations():
    with pytest.raises(UsageError, match="99 bootstrap replicates are too few for an interval") as refused:
        refuse_few(99)
    assert refused.value.fix == "use at least 100"
    refuse_few(100)
    assert expanded_tail(0.95, 1) == 0.0
    assert 0 < expanded_tail(0.95, 2) < expanded_tail(0.9, 2) < 0.05
    weights = dataset_weights(5, 40, np.random.default_rng(1))
    assert (weights.sum(axis=1) == 5).all()
    drawn = random_subsets(6, 2, 500, np.random.default_rng(1))
    assert {tuple(sorted(subset)) for subset in drawn.tolist()} == set(combinations(range(6), 2))
    assert subset_weights(drawn[:3], 6).sum(axis=1).tolist() == [2, 2, 2]
    assert subset_weights(np.array([[4, 1]]), 6).tolist() == [[0, 1, 0, 0, 1, 0]]


def test_ends_of_rank_intervals_are_ranks_that_occur():
    values = np.random.default_rng(1).random((7, 9))
    found = rank_algorithms(matrix(values), methods=["mean", "mean_rank"], replicates=137)
    ends = np.concatenate([ranking.rank_interval.ravel() for ranking in found.rankings.values()])
    assert (ends * 2 == np.round(ends * 2)).all(), "ties share the mean of their places"
    weights = dealt_by_content(values, dataset_weights(9, 137, derived_rng(0, "rank", "ndcg@10")))
    drawn = weights @ values.T
    places = 1.0 + (drawn[:, None, :] > drawn[:, :, None]).sum(axis=2)
    between = intervals(places, 9, 0.95)
    assert (between != np.round(between)).any(), "plain quantiles would fall between two ranks"
