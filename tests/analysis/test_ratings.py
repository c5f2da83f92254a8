"""Bradley-Terry ratings: against a direct maximisation, whatever the order, intervals that cover, and odd tables."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.optimize import minimize

from recassay.analysis.ratings.fit import ELO, VIRTUAL_GAMES, rate_battles, rate_by_pairs, strengths
from recassay.core.errors import UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix
from recassay.reporting.sections.ratings import plot_ratings, sentences, tables
from recassay.reporting.words.ratings import rounds
from support.tables import by_content, dealt_by_content


def matrix(values, *, higher=True, datasets=None):
    values = np.asarray(values, dtype=float)
    names = tuple(f"a{i}" for i in range(len(values)))
    return Matrix(values, names, datasets or tuple(f"d{j:02}" for j in range(values.shape[1])), "ndcg@10", higher)


def test_strengths_are_those_of_a_direct_maximisation():
    rng = np.random.default_rng(1)
    wins = rng.integers(0, 9, size=(4, 4)).astype(float) * (1 - np.eye(4))
    games = wins + wins.T
    virtual = VIRTUAL_GAMES / 3 * (1 - np.eye(4))

    def loss(s):
        margin = s[:, None] - s[None, :]
        return float(((wins + virtual / 2) * np.log1p(np.exp(-margin))).sum() + s.sum() ** 2)

    direct = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-10}).x
    np.testing.assert_allclose(strengths(wins.sum(axis=1)[None], games[None])[0], direct, atol=1e-5)


def test_two_algorithms_by_hand():
    values = np.array([[1.0] * 8 + [0.0] * 2, [0.0] * 8 + [1.0] * 2])
    result = rate_by_pairs(matrix(values), replicates=100)
    odds = (8 + 0.5) / (2 + 0.5)  # a virtual drawn game
    assert result.rating[0] - result.rating[1] == pytest.approx(ELO * np.log(odds))
    assert result.rating.mean() == pytest.approx(1500)
    assert result.win_rate[0, 1] == pytest.approx(0.8)


def test_the_order_of_datasets_and_the_scale_do_not_matter():
    rng = np.random.default_rng(2)
    values = rng.random((5, 12))
    first = rate_by_pairs(matrix(values), replicates=100)
    again = rate_by_pairs(matrix(values[:, ::-1]), replicates=100)
    np.testing.assert_allclose(first.rating, again.rating)
    np.testing.assert_allclose(first.rating, rate_by_pairs(matrix(np.exp(3 * values)), replicates=100).rating)
    np.testing.assert_allclose(first.rating, rate_by_pairs(matrix(-values, higher=False), replicates=100).rating)


def test_who_loses_everything_has_a_finite_rating_and_ties_are_half():
    values = np.vstack([np.zeros(6), np.ones((2, 6))])
    result = rate_by_pairs(matrix(values), replicates=200)
    assert np.isfinite(result.rating).all()
    assert result.interval[0, 0] == -np.inf  # nothing says how bad it is
    assert result.rating[1] == pytest.approx(result.rating[2])
    assert result.win_rate[1, 2] == pytest.approx(0.5)
    assert result.order()[-1] == 0


def test_intervals_cover_the_truth():
    rng = np.random.default_rng(3)
    truth = np.array([0.8, 0.0, -0.8])
    far = strengths(*_long_run(truth))[0] * ELO
    held = []
    for _ in range(60):
        values = truth[:, None] + rng.gumbel(size=(3, 25))
        found = rate_by_pairs(matrix(values), replicates=300, seed=1)
        held.append((found.interval[:, 0] <= 1500 + far) & (1500 + far <= found.interval[:, 1]))
    assert 0.88 <= np.mean(held) <= 0.99


def _long_run(truth):
    chance = 1 / (1 + np.exp(truth[None, :] - truth[:, None])) * (1 - np.eye(3))
    return 1e5 * chance.sum(axis=1)[None], 1e5 * (1 - np.eye(3))[None]


def test_a_baseline_anchors_the_scale_and_is_what_skill_means():
    values = np.array([[0.1, 0.2, 0.4], [0.11, 0.22, 0.44], [0.05, 0.1, 0.2]])
    result = rate_by_pairs(matrix(values), baseline="A0", replicates=100)
    assert result.rating[0] == pytest.approx(1000)
    assert result.interval[0].tolist() == pytest.approx([1000, 1000])
    np.testing.assert_allclose(result.skill, [0.0, 0.1, -0.5])
    np.testing.assert_allclose(result.improvability, [1 - 1 / 1.1, 0.0, 1 - 0.05 / 0.11])
    assert json.dumps(result.to_dict())
    with pytest.raises(UsageError, match="did you mean 'a1'"):
        rate_by_pairs(matrix(values), baseline="a11", replicates=100)


def test_families_are_drawn_whole():
    rng = np.random.default_rng(4)
    one = rng.random((3, 6))
    values = np.repeat(one, 5, axis=1)  # five copies of six datasets
    names = tuple(
        f"{family}-{i}" for family in ("amazon", "steam", "yelp", "movielens", "lastfm", "mind") for i in range(5)
    )
    copied = matrix(values, datasets=names)
    naive = rate_by_pairs(copied, replicates=400).interval
    honest = rate_by_pairs(copied, replicates=400, families="auto")
    assert honest.families == 6
    assert "over 6 families of datasets)" in sentences(honest)[0]
    assert (np.diff(honest.interval, axis=1) > np.diff(naive, axis=1)).all()
    by_hand = rate_by_pairs(copied, replicates=400, families={name: name.split("-")[0] for name in names})
    np.testing.assert_allclose(by_hand.rating, honest.rating)
    with pytest.raises(UsageError, match="no family is given"):
        rate_by_pairs(copied, families={"amazon-0": "x"}, replicates=100)
    with pytest.raises(UsageError, match="form 1 family"):
        rate_by_pairs(copied, families=dict.fromkeys(names, "one"), replicates=100)


def test_an_algorithm_that_won_everything_has_an_open_upper_end():
    rng = np.random.default_rng(5)
    values = rng.random((4, 15))
    values[2] += 2
    result = rate_by_pairs(matrix(values), replicates=200)
    low, high = result.interval[2]
    assert high == np.inf
    others = np.delete(result.rating, 2)
    assert (1 / (1 + 10 ** ((others - low) / 400))).mean() == pytest.approx(0.025 ** (1 / 15))
    assert "true share is at least 78 %" in sentences(result)[0]
    assert result.to_dict()["ratings"]["a2"]["interval"][1] is None
    assert np.isfinite(np.delete(result.interval, 2, axis=0)).all()
    turned = rate_by_pairs(matrix(-values), replicates=200)
    assert turned.interval[2, 0] == -np.inf
    assert "or less" in next(tables(turned)).rows[-1][2]
    assert "inf" not in json.dumps(plot_ratings(result).to_dict()).lower().replace("info", "")


def test_negative_values_have_no_improvability():
    result = rate_by_pairs(matrix([[-1.0, 2.0], [1.0, 3.0]]), replicates=100)
    assert np.isnan(result.improvability).all()
    assert result.to_frame().get_column("improvability").null_count() == 2


@pytest.mark.parametrize("families", [None, {f"d{j:02}": f"f{j // 2}" for j in range(12)}])
def test_intervals_are_students_t_times_the_deviation_of_the_bootstrap(families):
    values = np.random.default_rng(8).random((3, 12)) + np.array([[0.1], [0.0], [0.0]])
    found = rate_by_pairs(matrix(values), families=families, replicates=150, confidence=0.9, seed=4)
    units, pairs = (12, by_content(values)) if families is None else (6, [j // 2 for j in by_content(values)])
    ranks = 1 + (values[None] > values[:, None]).sum(axis=1)
    points = (ranks[None] > ranks[:, None]).sum(axis=1)
    drawn = derived_rng(4, "ratings", "ndcg@10").multinomial(units, np.full(units, 1 / units), size=150)
    drawn = dealt_by_content(values, drawn[:, [list(dict.fromkeys(pairs)).index(unit) for unit in pairs]])
    games = (1 - np.eye(3)) * drawn.sum(axis=1)[:, None, None]
    again = 1500 + ELO * strengths(drawn @ points.T.astype(float), games)
    whole = 1500 + ELO * strengths(points.sum(axis=1)[None].astype(float), 12 * (1 - np.eye(3))[None])[0]
    reach = stats.t.ppf(0.95, units - 1) * np.sqrt(units / (units - 1)) * again.std(axis=0)
    assert found.rating == pytest.approx(whole, abs=1e-4)
    assert found.interval == pytest.approx(np.stack([whole - reach, whole + reach], axis=1), abs=0.01)
    assert (found.families, found.replicates, found.confidence, found.seed) == (
        None if families is None else 6, 150, 0.9, 4)  # fmt: skip


def test_the_usual_baseline_gives_skill_and_no_anchor():
    names, datasets = ("A", "most-pop", "B"), ("x", "y")
    table = Matrix(np.array([[2.0, 8.0], [4.0, 4.0], [1.0, 0.01]]), names, datasets, "rmse", False)
    found = rate_by_pairs(table, replicates=100)
    assert (found.baseline, found.anchored) == ("most-pop", None)
    assert found.rating.mean() == pytest.approx(1500)
    # Ratios 1/2 and 2; 1 and 1; 1/4 and 1/400, which counts as 1/100.
    assert found.skill == pytest.approx([0.0, 0.0, 1 - np.sqrt(1 / 400)])
    assert found.improvability == pytest.approx([(1 / 2 + 799 / 800) / 2, (3 / 4 + 399 / 400) / 2, 0.0])
    zero = Matrix(np.array([[2.0, 0.0], [0.0, 0.0]]), ("A", "Pop"), datasets, "ndcg@10", True)
    assert rate_by_pairs(zero, replicates=100).skill == pytest.approx([np.sqrt(100 * 1) - 1, 0.0])
    named = rate_by_pairs(table, baseline="b", replicates=100)
    assert (named.baseline, named.anchored, named.rating[2]) == ("B", "B", pytest.approx(1000))
    assert rate_by_pairs(matrix([[1.0, 2.0], [2.0, 1.0]]), replicates=100).skill is None
    two = Matrix(np.array([[2.0, 1.0], [1.0, 3.0]]), ("Pop", "mostpop"), datasets, "ndcg@10", True)
    assert rate_by_pairs(two, replicates=100).baseline == "mostpop", "the most usual of several"
    signed = Matrix(np.array([[-1.0, 2.0], [1.0, 3.0]]), ("A", "Pop"), datasets, "score", True)
    assert np.isnan(rate_by_pairs(signed, replicates=100).skill).all()


def test_the_lead_and_the_least_share_of_who_won_everything():
    values = np.array([[3.0] * 10, [2.0] * 10, [1.0] * 10])
    found = rate_by_pairs(matrix(values), replicates=100, confidence=0.9)
    gap, share = found.lead()
    assert gap == pytest.approx(found.rating[0] - found.rating[1])
    assert share == pytest.approx(10 ** (gap / 400) / (1 + 10 ** (gap / 400)))
    assert found.least_share() == pytest.approx(0.05 ** (1 / 10))
    pairs = {f"d{j:02}": f"f{j // 2}" for j in range(10)}
    whole = rate_by_pairs(matrix(values), replicates=100, families=pairs)
    assert whole.least_share() == pytest.approx(0.025 ** (1 / 5))
    others = whole.rating[[0, 1]]
    assert whole.interval[2, 0] == -np.inf
    assert (1 / (1 + 10 ** ((others - whole.interval[2, 1]) / 400))).mean() == pytest.approx(1 - 0.025 ** (1 / 5))
    assert rounds(found) == "10 datasets"


def test_the_tables_of_ratings_have_the_shares_of_meetings_won():
    """a1 beats a0 on two of four datasets and ties once, and beats a2 everywhere; a0 beats a2 on three."""
    values = np.array([[2.0, 3.0, 2.0, 2.0], [3.0, 2.0, 2.0, 3.0], [1.0, 1.0, 1.0, 2.5]])
    found = rate_by_pairs(matrix(values), replicates=100)
    assert found.win_rate.tolist() == [[0, 3 / 8, 3 / 4], [5 / 8, 0, 1], [1 / 4, 0, 0]]
    assert [found.algorithms[a] for a in found.order()] == ["a1", "a0", "a2"]
    frame = found.to_frame()
    assert frame["algorithm"].to_list() == ["a1", "a0", "a2"]
    assert frame["win_rate"].to_list() == pytest.approx([13 / 16, 9 / 16, 1 / 8])
    assert (frame["low"].to_list(), frame["high"].to_list()) == (
        [found.interval[a, 0] for a in (1, 0, 2)], [found.interval[a, 1] for a in (1, 0, 2)])  # fmt: skip
    assert found.frames()["win_rates"].rows() == [
        ("a1", None, 5 / 8, 1.0), ("a0", 3 / 8, None, 3 / 4), ("a2", 0.0, 1 / 4, None)]  # fmt: skip
    assert found.frames()["win_rates"].columns == ["algorithm", "beats a1", "beats a0", "beats a2"]
    told = found.to_dict()
    assert told["win_rate"]["a1"] == {"a0": 5 / 8, "a2": 1.0}
    assert told["lead"] == {"points": found.lead()[0], "win_share": found.lead()[1]}
    lost = np.array([1 / 3 + 0 + 0 + 1 / 3, 0 + 1 / 3 + 0 + 0, 2 / 3 + 2 / 3 + 1 / 2 + 1 / 6]) / 4
    assert found.improvability == pytest.approx(lost), "without any baseline"
    assert told["settings"] == {"replicates": 100, "confidence": 0.95, "families": None, "seed": 0}


def test_one_dataset_has_no_spread():
    tied = rate_by_pairs(matrix([[1.0], [1.0]]), replicates=100)
    assert tied.interval.ravel() == pytest.approx([1500.0] * 4)
    won = rate_by_pairs(matrix([[2.0], [1.0]]), replicates=100)
    assert won.interval[0, 1] == np.inf
    assert won.interval[1, 0] == -np.inf


def battles(rows):
    """Rows of two models and the points of the first."""
    return pl.DataFrame(
        [(f"b{i}", "arena", name, float(won)) for i, (one, other, points) in enumerate(rows)
         for name, won in ((one, points), (other, 1 - points))],
        schema=["user", "dataset", "algorithm", "value"], orient="row",
    )  # fmt: skip


def test_battles_of_two_by_hand():
    """8 wins, 2 draws and 10 losses of a against b; c met a alone, and won twice."""
    rows = [("a", "b", 1)] * 8 + [("b", "a", 0.5)] * 2 + [("b", "a", 1)] * 10 + [("a", "c", 0)] * 2
    found = rate_battles(battles(rows), replicates=200, confidence=0.9, seed=2)
    assert (found.algorithms, found.battles, rounds(found)) == (("a", "b", "c"), 22, "22 battles")
    told = found.to_dict()
    assert told["settings"] == {"replicates": 200, "confidence": 0.9, "families": None, "seed": 2}
    assert (told["metric"], told["battles"], told["datasets"], told["skill"]) == ("won", 22, [], None)
    assert found.win_rate == pytest.approx(np.array([[0, 9 / 20, 0], [11 / 20, 0, 0], [1, 0, 0]]))
    games = np.array([[0, 20, 2], [20, 0, 0], [2, 0, 0]], dtype=float)
    whole = 1500 + ELO * strengths(np.array([[9.0, 11.0, 2.0]]), games[None])[0]
    assert found.rating == pytest.approx(whole)
    assert found.least_share() == pytest.approx(0.05 ** (1 / 22))
    kinds = {("a", "b", 1): 8, ("b", "a", 0.5): 2, ("b", "a", 1): 10, ("a", "c", 0): 2}
    order = sorted(kinds, key=lambda kind: kind)
    counts = np.array([kinds[kind] for kind in order])
    drawn = derived_rng(2, "ratings", "battles").multinomial(22, counts / 22, size=200)
    again = []
    for row in drawn:
        points, played = np.zeros(3), np.zeros((3, 3))
        for (one, other, won), number in zip(order, row, strict=True):
            i, j = "abc".index(one), "abc".index(other)
            points[i] += won * number
            points[j] += (1 - won) * number
            played[i, j] += number
            played[j, i] += number
        again.append(1500 + ELO * strengths(points[None], played[None])[0])
    reach = stats.t.ppf(0.95, 21) * np.sqrt(22 / 21) * np.std(again, axis=0)
    assert found.interval == pytest.approx(np.stack([whole - reach, whole + reach], axis=1), abs=0.01)
    anchored = rate_battles(battles(rows), baseline="B", replicates=100)
    assert (anchored.anchored, anchored.rating[1]) == ("b", pytest.approx(1000))
    assert anchored.replicates == 100
    assert rate_battles(battles(rows[:1])).replicates == 1000, "the usual number"
    assert rounds(rate_battles(battles(rows * 50), replicates=100)) == "1,100 battles"
    crowd = pl.concat(
        [battles(rows), pl.DataFrame([("b0", "arena", "c", 0.0)], schema=battles(rows).schema, orient="row")]
    )
    for wrong in (battles(rows)[1:], crowd):
        with pytest.raises(UsageError, match="in some battles there are not two algorithms"):
            rate_battles(wrong, replicates=100)
    elsewhere = pl.concat([battles(rows), battles(rows[:3]).with_columns(dataset=pl.lit("other"))])
    assert rate_battles(elsewhere, replicates=100).battles == 25, "a number counts once in every arena"
    with pytest.raises(UsageError, match="at least 100"):
        rate_battles(battles(rows), replicates=10)


@pytest.mark.parametrize("name", ["MostPop", "popularity", "Pop", "Top-Pop"])
def test_every_usual_baseline_gives_the_skill(name):
    table = Matrix(np.array([[2.0, 4.0], [1.0, 2.0]]), ("A", name), ("x", "y"), "ndcg@10", True)
    found = rate_by_pairs(table, replicates=100)
    assert (found.baseline, found.skill.tolist()) == (name, pytest.approx([1.0, 0.0]))


def test_battles_in_blocks_have_the_same_intervals(monkeypatch):
    rows = [("a", "b", 1)] * 8 + [("b", "a", 1)] * 10 + [("a", "c", 0)] * 4 + [("c", "b", 0.5)] * 3
    whole = rate_battles(battles(rows), replicates=100)
    for block in (9, 9 * 7):  # one replicate of three players at a time, and seven
        monkeypatch.setattr("recassay.analysis.ratings.fit._BLOCK", block)
        assert rate_battles(battles(rows), replicates=100).interval == pytest.approx(whole.interval, abs=1e-3)
