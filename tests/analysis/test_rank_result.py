"""What a ranking says of itself: intervals of the means, plain data and tables, with few datasets and with enough."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from recassay.analysis.inference.bootstrap import dataset_weights, intervals, studentised
from recassay.analysis.inference.winners import mean_rank_intervals
from recassay.analysis.rank import fit as rank_fit
from recassay.analysis.rank.fit import rank_algorithms
from recassay.analysis.verdict.fit import judge
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix, MissingCells
from support.tables import by_content, dealt_by_content

NAMES = ("b", "c", "a")
VALUES = np.array([[0.2, 0.5, 0.3, 0.6, 0.4, 0.7], [0.9, 0.8, 0.2, 0.7, 0.6, 0.8], [0.1, 0.3, 0.25, 0.2, 0.5, 0.1]])


def table(values: np.ndarray, *, up: bool = True) -> Matrix:
    return Matrix(values, NAMES, tuple(f"d{j}" for j in range(values.shape[1])), "ndcg@10", up)


def test_a_ranking_as_plain_data_names_every_algorithm_in_its_own_order():
    found = rank_algorithms(table(VALUES), methods=["mean_rank", "mean", "plurality"], replicates=100, seed=4)
    told, verdict = found.to_dict(), found.judgement
    mean_ranks = stats.rankdata(-VALUES, axis=0).mean(axis=1)
    assert [NAMES[a] for a in found.order()] == ["c", "b", "a"]
    assert told["ranks"]["mean_rank"] == dict(zip(NAMES, stats.rankdata(mean_ranks).tolist(), strict=True))
    assert told["methods"]["mean"] == pytest.approx(dict(zip(NAMES, VALUES.mean(axis=1).tolist(), strict=True)))
    assert verdict.algorithms == ("c", "b", "a"), "the verdict has another order"
    again = dict(zip(verdict.algorithms, verdict.leads_again.tolist(), strict=True))
    assert told["probability_best"] == {"mean_rank": again}
    assert told["winner_p"] == {"mean_rank": dict(zip(verdict.algorithms, verdict.p_best.tolist(), strict=True))}
    assert told["possible_winners"] == list(verdict.could_be_best) == found.possible_winners()
    weights = dealt_by_content(VALUES, dataset_weights(6, 100, derived_rng(4, "rank", "ndcg@10")))
    drawn = stats.rankdata(-(weights @ VALUES.T), axis=1)
    share = (drawn == 1).mean(axis=0)
    assert told["resampling_share"]["mean"] == pytest.approx(dict(zip(NAMES, share.tolist(), strict=True)))
    ends = intervals(drawn, 6, 0.95, discrete=True)
    assert found.rankings["mean"].rank_interval.tolist() == ends.tolist()
    assert told["rank_interval"]["mean"]["a"] == ends[2].tolist()
    first = told["first"]
    assert (first["by_mean_rank"], first["aggregations"]) == ("c", len(found.counted()))
    assert first["under"]["c"] == [ranking.rule.title for ranking in found.counted()]
    assert list(first["under"]) == ["c"]
    settings = told["settings"]
    assert (settings["replicates"], settings["confidence"], settings["resampled"]) == (100, 0.95, "datasets")
    assert (settings["beta_max"], settings["beta_step"]) == (found.dolan_more.beta_max, None)


def test_the_tables_of_a_ranking_follow_the_mean_rank():
    found = rank_algorithms(table(VALUES), methods=["mean_rank", "mean"], replicates=100)
    frames = found.frames()
    rows = frames["rankings"]
    assert rows["algorithm"].to_list() == ["c", "b", "a"] * 2
    assert rows.filter(method="mean")["probability_best"].null_count() == 3, "it is about the mean rank"
    assert rows.filter(method="mean")["winner_p"].null_count() == 3
    beside = rows.filter(method="mean_rank").rows_by_key("algorithm", named=True, unique=True)
    verdict = found.judgement
    for at, name in enumerate(verdict.algorithms):
        assert beside[name]["probability_best"] == verdict.leads_again[at]
        assert beside[name]["winner_p"] == verdict.p_best[at]
    mean = rows.filter(method="mean").row(0, named=True)
    assert (mean["score"], mean["rank"]) == pytest.approx((VALUES[1].mean(), 1.0))
    assert (mean["score_low"], mean["score_high"]) == tuple(found.rankings["mean"].score_interval[1])
    assert (mean["rank_low"], mean["rank_high"]) == tuple(found.rankings["mean"].rank_interval[1])
    board = frames["leaderboard"]
    assert board.columns == ["algorithm", *(ranking.rule.title for ranking in found.rankings.values())]
    assert board["algorithm"].to_list() == ["c", "b", "a"]
    assert board.row(0)[2] == pytest.approx(VALUES[1].mean())
    assert list(frames) == ["rankings", "leaderboard", "verdict"]


@pytest.mark.parametrize(("datasets", "known"), [(4, False), (5, True)])
def test_from_five_datasets_on_something_is_said_of_others(datasets, known):
    found = rank_algorithms(table(VALUES[:, :datasets]), methods=["mean_rank", "mean"], replicates=100)
    told = found.to_dict()
    assert (found.probability_best is not None, found.winner_p is not None) == (known, known)
    for name in ("interval", "rank_interval", "resampling_share"):
        assert (told[name]["mean"] is not None) == known
    assert (told["probability_best"]["mean_rank"] is not None) == known
    assert (told["possible_winners"] is not None) == known
    rows = found.to_frame()
    assert (rows["score_low"].null_count() == 0) == known
    assert told["methods"]["mean"]["b"] == pytest.approx(VALUES[0, :datasets].mean())


def drawn_again(values: np.ndarray) -> np.ndarray:
    return dealt_by_content(values, dataset_weights(values.shape[1], 200, derived_rng(0, "rank", "ndcg@10")))


def interval_of(rule: str, values: np.ndarray, confidence: float = 0.9, **more: object) -> np.ndarray:
    found = rank_algorithms(table(values), methods=[rule], replicates=200, confidence=confidence, **more)
    return found.rankings[rule].score_interval


def test_intervals_of_means_are_those_of_the_scale_on_which_they_are_means():
    values = VALUES + 2.0
    weights = drawn_again(values)
    plain = studentised(values, weights, 0.9)
    assert interval_of("mean", values) == pytest.approx(plain)
    assert interval_of("geometric_mean", values) == pytest.approx(np.exp(studentised(np.log(values), weights, 0.9)))
    inverse = 1 / studentised(1 / values, weights, 0.9)
    assert interval_of("harmonic_mean", values) == pytest.approx(inverse[:, ::-1]), "the lower end comes first"


def test_an_interval_of_values_from_zero_on_does_not_reach_below_it():
    values = VALUES.copy()
    values[2] = [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]
    free = studentised(values, drawn_again(values), 0.99)
    assert free[2, 0] < 0
    assert interval_of("mean", values, 0.99) == pytest.approx(np.maximum(free, 0.0))
    below = values - 0.2
    assert interval_of("mean", below, 0.99) == pytest.approx(studentised(below, drawn_again(below), 0.99))
    assert np.isfinite(interval_of("geometric_mean", values)).all(), "a zero has no logarithm: percentiles"


def test_means_over_families_have_percentile_intervals():
    values, families = np.hstack([VALUES, VALUES[:, ::-1] + 0.05]), {f"d{j}": f"f{j // 2}" for j in range(12)}
    pairs = [dataset // 2 for dataset in by_content(values)]
    drawn = dataset_weights(6, 200, derived_rng(0, "rank", "ndcg@10"))
    weights = dealt_by_content(values, drawn[:, [list(dict.fromkeys(pairs)).index(pair) for pair in pairs]])
    expected = intervals(weights @ values.T / 12, 6, 0.9)
    assert interval_of("mean", values, families=families) == pytest.approx(expected)


def test_the_interval_of_the_mean_rank_is_that_of_the_verdict():
    found = rank_algorithms(table(VALUES), methods=["mean_rank", "mean"], replicates=100, confidence=0.9)
    ends = mean_rank_intervals(stats.rankdata(-VALUES, axis=0), 0.9)
    assert found.rankings["mean_rank"].score_interval == pytest.approx(ends)
    assert found.judgement.interval == pytest.approx(ends[[1, 0, 2]]), "in the order of the mean ranks"


def test_algorithms_with_the_same_values_count_as_one():
    """A copy has the place of its original, and nobody else has another place for it."""
    values, member = np.random.default_rng(3).random((3, 6)), [1, 0, 1, 2]
    copied = Matrix(values[member], ("c2", "b", "c", "a"), table(values).datasets, "ndcg@10", True)
    once, twice = (rank_algorithms(given, replicates=100) for given in (table(values), copied))
    assert twice.mean_ranks.tolist() == once.mean_ranks[member].tolist()
    for name, ranking in twice.rankings.items():
        single = once.rankings[name]
        assert ranking.scores.tolist() == pytest.approx(single.scores[member].tolist()), name
        assert ranking.score_interval == pytest.approx(single.score_interval[member]), name
    share, alone = twice.rankings["mean"].resampling_share, once.rankings["mean"].resampling_share
    assert share == pytest.approx(alone[member] / [2, 1, 2, 1])


def test_the_verdict_of_a_ranking_is_asked_with_its_settings(monkeypatch):
    asked, judged = [], judge
    monkeypatch.setattr(rank_fit, "judge", lambda given, **more: asked.append(more) or judged(given, **more))
    families = {f"d{j}": f"f{j % 5}" for j in range(6)}
    gap = MissingCells("worst", (("b", "d2"),))
    found = rank_algorithms(replace(table(VALUES), missing=gap), methods=["mean"], replicates=101, confidence=0.9,
                            control="b", families=families, seed=6, beta_max=4.0, beta_step=0.5)  # fmt: skip
    assert found.missing == gap
    assert found.to_dict()["settings"] == {
        "replicates": 101, "confidence": 0.9, "resampled": "datasets", "beta_max": 4.0, "beta_step": 0.5
    }  # fmt: skip
    assert asked == [{"control": "b", "alpha": 0.1, "families": families, "test": "sign-flips", "seed": 6}]
