"""Glicko-2: Glickman's numbers, the volatility, tournaments over datasets, orders, and the command."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import recassay
from recassay.analysis.glicko import fit as glicko_fit
from recassay.analysis.glicko.fit import ANALYSIS, classical_properties, given_order, rate_algorithms, rate_table
from recassay.analysis.glicko.system import START, rate_period, round_robin, tournament, win_probability
from recassay.core.analysis import AnalysisSpec
from recassay.core.errors import InputError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix, MissingCells
from recassay.core.tables.results import Results
from recassay.reporting.drawing import render
from recassay.reporting.figures import figures
from recassay.reporting.sections.glicko import plot_glicko_bump, plot_glicko_ratings


def one_player(rating, deviation, volatility, opponents, scores, tau=0.5):
    n = 1 + len(opponents)
    table = np.full((n, n), np.nan)
    table[0, 1:] = scores
    start = (
        np.array([rating, *(o[0] for o in opponents)], dtype=float),
        np.array([deviation, *(o[1] for o in opponents)], dtype=float),
        np.full(n, volatility),
    )
    return [float(x[0]) for x in rate_period(*start, table, tau)]


def matrix(values, *, higher=True):
    values = np.asarray(values, dtype=float)
    names = tuple(f"a{i:02d}" for i in range(len(values)))
    return Matrix(values, names, tuple(f"d{i:02d}" for i in range(values.shape[1])), "ndcg@10", higher)


def test_glickmans_example():
    after = one_player(1500, 200, 0.06, [(1400, 30), (1550, 100), (1700, 300)], [1, 0, 0])
    assert after == pytest.approx([1464.0506705, 151.5165241, 0.0599959844], abs=1e-7)


def test_the_case_that_sees_the_volatility():
    after = one_player(1200, 120, 0.09, [(1900, 60), (1850, 60), (1700, 60)], [1, 1, 1])
    assert after == pytest.approx([1429.98645, 118.41026, 0.0903382], abs=5e-6)
    calm = one_player(1200, 120, 0.09, [(1900, 60), (1850, 60), (1700, 60)], [1, 1, 1], tau=0.02)
    assert calm[2] == pytest.approx(0.09, abs=1e-5), "a small tau holds the volatility"


def test_an_idle_period_widens_the_deviation():
    idle = np.full((1, 1), np.nan)
    rating, deviation, volatility = rate_period(np.array([1500.0]), np.array([200.0]), np.array([0.06]), idle)
    assert rating[0] == 1500
    assert volatility[0] == 0.06
    assert deviation[0] == pytest.approx(200.2714167, abs=1e-7)


def slope_of_the_likelihood(x, phi, sigma, gain, variance, tau):
    """Glickman's f, written out again."""
    e = np.exp(x)
    return e * (gain**2 - phi**2 - variance - e) / (2 * (phi**2 + variance + e) ** 2) - (x - np.log(sigma**2)) / tau**2


@pytest.mark.slow
@given(
    st.floats(0.1, 2.5), st.floats(0.02, 0.3), st.floats(-6, 6), st.floats(0.05, 50), st.floats(0.1, 1.2)
)  # fmt: skip
def test_the_volatility_is_the_root(phi, sigma, gain, variance, tau):
    from recassay.analysis.glicko.system import new_volatility

    found = new_volatility(*(np.array([x]) for x in (phi, sigma, gain, variance)), tau)
    at = 2 * np.log(found[0])
    near = [slope_of_the_likelihood(at + h, phi, sigma, gain, variance, tau) for h in (-1e-6, 1e-6)]
    assert near[0] * near[1] <= 0


def test_round_robin_scores_and_ties():
    scores = round_robin(np.array([[0.3], [0.2], [0.29]]), higher_is_better=True, tie=0.02)
    assert scores[0, 0, 1] == 1
    assert scores[0, 1, 0] == 0
    assert scores[0, 0, 2] == scores[0, 2, 0] == 0.5
    assert np.isnan(scores[0, 1, 1])
    lower = round_robin(np.array([[0.3], [0.2], [0.29]]), higher_is_better=False)
    assert lower[0, 1].tolist()[0] == 1
    edge = round_robin(np.array([[0.5], [0.25], [0.0], [np.nan]]), higher_is_better=True, tie=0.25)[0]
    assert np.nan_to_num(edge[:3, :3], nan=9).tolist() == [[9, 0.5, 1], [0.5, 9, 0.5], [0, 0.5, 9]]
    assert np.isnan(edge[3]).all()
    assert np.isnan(edge[:, 3]).all(), "without a value there is no game"


@given(st.integers(0, 50))
def test_players_are_interchangeable(seed):
    rng = np.random.default_rng(seed)
    values = rng.random((5, 4))
    shuffle = rng.permutation(5)
    order = np.arange(4)[None, :]
    plain = tournament(round_robin(values, higher_is_better=True), order)[0]
    moved = tournament(round_robin(values[shuffle], higher_is_better=True), order)[0]
    assert moved == pytest.approx(plain[:, :, shuffle], rel=1e-9)


def test_many_tournaments_at_once_are_each_alone():
    rng = np.random.default_rng(3)
    scores = round_robin(rng.random((6, 5)), higher_is_better=True)
    orders = np.stack([rng.permutation(5) for _ in range(4)])
    together = tournament(scores, orders)
    for k in range(4):
        assert together[k] == pytest.approx(tournament(scores, orders[k : k + 1])[0], rel=1e-12)


def test_all_draws_change_nothing_but_the_deviation():
    result = rate_algorithms(matrix(np.ones((4, 6))), orders=5)
    assert result.ratings[0] == pytest.approx(np.full(4, 1500.0))
    assert (result.ratings[1] < START[1]).all()
    assert result.wins[0, 1] == pytest.approx(0.5)


def test_win_probabilities_add_to_one():
    wins = win_probability(np.array([1800.0, 1500, 1200]), np.array([50.0, 80, 200]))
    assert wins + wins.T == pytest.approx(np.ones((3, 3)))
    assert wins[0, 2] > wins[0, 1] > 0.5


def test_the_better_ends_higher_and_the_spread_holds_the_rating():
    rng = np.random.default_rng(0)
    values = np.linspace(0, 1, 8)[:, None] + rng.normal(0, 0.15, (8, 15))
    result = rate_algorithms(matrix(values), seed=1)
    assert np.corrcoef(result.ratings[0], np.arange(8))[0, 1] > 0.95
    assert result.settled
    assert result.tau == 0.5
    assert (result.spread[0] <= result.spread[1]).all()
    assert (result.rank_spread[0] <= result.rank_spread[2]).all()
    again = rate_algorithms(matrix(values), seed=1)
    assert np.array_equal(again.spread, result.spread)
    assert not np.array_equal(rate_algorithms(matrix(values), seed=2).spread, result.spread)
    assert np.array_equal(rate_algorithms(matrix(-values, higher=False), seed=1).history, result.history)


@pytest.mark.slow
def test_a_runaway_volatility_is_said_and_cured():
    noise = np.random.default_rng(0).random((40, 40))
    forced = rate_algorithms(matrix(noise), tau=0.5, orders=2)
    assert not forced.settled
    assert "ran away" in forced.notes[0]
    assert np.isfinite(forced.history).all()
    cured = rate_algorithms(matrix(noise), orders=5)
    assert cured.settled
    assert cured.tau < 0.5
    assert np.ptp(cured.ratings[0]) < 1000
    assert "tau is" in cured.notes[0]
    assert rate_algorithms(matrix(noise[:4, :5]), tau=0.3, orders=2).notes == [], "a tau that was asked for"


def results_frame():
    rows = [
        (a, d, "ndcg@10", value)
        for d, values in (("z", (0.9, 0.8, 0.7)), ("m", (0.2, 0.3, 0.1)), ("a", (0.5, 0.4, 0.45)))
        for a, value in zip(("x", "y", "w"), values, strict=True)
    ]
    return pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row")


def test_orders_of_the_datasets():
    table = Results.from_frame(results_frame())
    assert given_order(table, table.matrix("ndcg@10")) == ["z", "m", "a"]
    assert recassay.glicko(table, orders=2).datasets == ("z", "m", "a")
    assert recassay.glicko(table, order="name", orders=2).datasets == ("a", "m", "z")
    assert recassay.glicko(table, order="difficulty", orders=2).datasets == ("z", "a", "m")
    assert recassay.glicko(table, order=["m", "a", "z"], orders=2).datasets == ("m", "a", "z")
    with pytest.raises(UsageError, match="1 of the 3 datasets are not listed"):
        recassay.glicko(table, order=["m", "z"], orders=2)
    known = {"z": {"difficulty": 3.0}, "m": {"difficulty": 1.0}, "a": {"difficulty": 2.0}}
    assert recassay.glicko(table, order="difficulty", properties=known, orders=2).datasets == ("m", "a", "z")
    found = classical_properties(table.matrix("ndcg@10"))
    assert found["deviation"] == pytest.approx(np.std([[0.5, 0.4, 0.45], [0.2, 0.3, 0.1], [0.9, 0.8, 0.7]], axis=1))
    with pytest.raises(UsageError, match="difficulty"):
        recassay.glicko(table, order="dificulty")
    with pytest.raises(UsageError, match="nowhere"):
        recassay.glicko(table, order=["z", "nowhere"])
    with pytest.raises(InputError, match="not known of m"):
        recassay.glicko(table, order="difficulty", properties={"z": {"difficulty": 1}, "a": {"difficulty": 2}})
    with pytest.raises(UsageError, match="tau"):
        recassay.glicko(table, tau=0)


@pytest.mark.slow
def test_the_command(cli, tmp_path):
    path = tmp_path / "results.csv"
    results_frame().write_csv(path)
    ran = cli("ratings", "--method", "glicko", path, "--metric", "ndcg@10", "--order", "given", "--json")
    assert ran.code == 0
    shown = ran.json()
    assert set(shown["ratings"]) == {"w", "x", "y"}
    assert set(shown["ratings"]["x"]) >= {"rating", "deviation", "volatility"}
    assert [period["dataset"] for period in shown["history"]] == ["z", "m", "a"]
    last = shown["history"][-1]["ratings"]
    assert last["x"]["rating"] == pytest.approx(shown["ratings"]["x"]["rating"])
    assert shown["input"][0]["sha256"]
    (tmp_path / "p.csv").write_text("dataset,hardness\nz,2\nm,1\na,3\n")
    ordered = cli(
        "ratings", "--method", "glicko", path, "--order", "hardness", "--properties", tmp_path / "p.csv", "--json"
    ).json()
    assert ordered["datasets"] == ["m", "z", "a"]
    table = cli("ratings", "--method", "glicko", path, "--out", tmp_path / "out")
    assert "rating" in table.out
    assert (tmp_path / "out" / "figures" / "glicko_ranks.svg").exists()
    assert (tmp_path / "out" / "tables" / "glicko_history.csv").exists()


def test_two_players_by_hand(cli, tmp_path):
    (tmp_path / "r.csv").write_text(
        "algorithm,dataset,metric,value\nA,d1,auc,0.9\nB,d1,auc,0.1\nA,d2,auc,1\nB,d2,auc,0\n"
    )
    shown = cli("ratings", "--method", "glicko", tmp_path / "r.csv", "--metric", "auc", "--json").json()
    first = one_player(1500, 350, 0.06, [(1500, 350)], [1])
    assert shown["history"][0]["ratings"]["A"]["rating"] == pytest.approx(first[0])
    second = one_player(*first, [(3000 - first[0], first[1])], [1])
    assert shown["ratings"]["A"]["rating"] == pytest.approx(second[0])
    assert shown["ratings"]["A"]["volatility"] == pytest.approx(second[2])


def test_charts_hold_every_rank():
    result = rate_algorithms(matrix(np.random.default_rng(1).random((12, 9))), orders=5)
    assert {figure.name for figure in figures({"glicko": result})} == {"glicko_ranks", "glicko_ratings"}
    rows = result.history_frame()
    assert rows.height == 12 * 9
    for _, period in rows.group_by("period"):
        assert sorted(period.get_column("rank").to_list()) == list(range(1, 13))
    for chart in (plot_glicko_bump(result), plot_glicko_ratings(result)):
        svg = render(chart, "svg").decode()
        assert all(f"a{i:02d}" in svg for i in range(12))


@pytest.mark.slow
def test_intervals_hold_the_start_for_equal_players():
    """The games of a dataset hang together, which deviations ignore; drawn datasets know it (deviations: about 0.8)."""
    rng = np.random.default_rng(0)
    drawn, own = [], []
    for trial in range(40):
        result = rate_algorithms(matrix(rng.random((8, 10))), orders=20, seed=trial)
        ends, rating, deviation = result.intervals(), *result.ratings[:2]
        drawn += list((ends[:, 0] <= 1500) & (ends[:, 1] >= 1500))
        own += list(np.abs(rating - 1500) <= 1.96 * deviation)
    assert 0.92 <= np.mean(drawn) <= 1.0
    assert np.mean(own) < 0.9


def test_a_rating_has_no_interval_below_five_datasets():
    result = rate_algorithms(matrix(np.random.default_rng(0).random((4, 4))), orders=20)
    assert result.bounds is None
    assert {found["interval"] for found in result.to_dict()["ratings"].values()} == {None}
    assert result.to_frame()["low"].null_count() == 4
    two = rate_algorithms(matrix(np.array([np.arange(5.0) + 1, np.arange(5.0)])), orders=20)
    wide = two.intervals()[:, 1] - two.intervals()[:, 0]
    assert (wide >= 2 * 1.95 * two.ratings[1]).all(), "one game a dataset: the deviation itself is right"


def test_spread_and_intervals_are_those_of_tournaments_in_other_orders():
    """Random orders, and benchmarks drawn with replacement; the interval is at least 1.96 deviations wide each way."""
    values = np.linspace(0, 0.3, 4)[:, None] + np.random.default_rng(5).normal(0, 0.2, (4, 6))
    result = rate_algorithms(matrix(values), orders=40, seed=3)
    scores = round_robin(values, higher_is_better=True)
    orders = np.argsort(derived_rng(3, "glicko orders", "ndcg@10").random((40, 6)), axis=1)
    final = np.array([tournament(scores, order[None])[0, -1, 0] for order in orders])
    assert result.spread == pytest.approx(np.quantile(final, [0.025, 0.5, 0.975], axis=0))
    ranks = (-final).argsort(axis=1).argsort(axis=1) + 1
    expected = np.quantile(ranks, [0.025, 0.5, 0.975], axis=0, method="inverted_cdf")
    assert result.rank_spread.tolist() == expected.tolist()
    drawn = derived_rng(3, "glicko bootstrap", "ndcg@10").integers(6, size=(500, 6))
    again = np.array([tournament(scores, order[None])[0, -1, 0] for order in drawn])
    rating, deviation, _ = tournament(scores, np.arange(6)[None])[0, -1]
    tail = stats.norm.cdf(-np.sqrt(6 / 5) * stats.t.ppf(0.975, 5))
    low = np.minimum(np.quantile(again, tail, axis=0), rating - 1.959964 * deviation)
    high = np.maximum(np.quantile(again, 1 - tail, axis=0), rating + 1.959964 * deviation)
    assert result.intervals() == pytest.approx(np.stack([low, high], axis=1))
    assert (result.tau, result.tie, result.n_orders, result.order_name) == (0.5, 0.0, 40, "given")


def test_the_result_as_plain_data_and_tables():
    """Three algorithms on two datasets; b wins both, a and c share the games between them."""
    table = matrix([[0.3, 0.1], [0.9, 0.8], [0.2, 0.2]])
    result = rate_algorithms(table, orders=7, tie=0.05, order=["d01", "d00"])
    data, names = result.to_dict(), ["a01", "a00", "a02"]
    (rating, deviation, volatility), order = result.ratings, [1, 0, 2]
    assert rating[1] > rating[0] > rating[2]  # the last win counts more
    assert result.wins == pytest.approx(win_probability(rating, deviation)), "by the final ratings"
    assert data["datasets"] == ["d01", "d00"]
    assert data["order"] == "listed"
    assert list(data["ratings"]) == names
    assert data["ratings"]["a00"] == {"rating": rating[0], "deviation": deviation[0], "volatility": volatility[0],
                                      "interval": None}  # fmt: skip
    assert [period["dataset"] for period in data["history"]] == ["d01", "d00"]
    assert data["history"][0]["ratings"]["a02"]["rating"] == result.history[1, 0, 2]
    assert data["win_probability"]["a01"] == {"a00": result.wins[1, 0], "a02": result.wins[1, 2]}
    assert data["random_orders"]["orders"] == 7
    assert data["random_orders"]["rating"]["a00"] == {"estimate": result.spread[1, 0],
                                                      "interval": result.spread[[0, 2], 0].tolist()}  # fmt: skip
    assert data["random_orders"]["rank"]["a01"] == {"estimate": 1.0, "interval": [1.0, 1.0]}
    assert data["settings"] == {"tau": 0.5, "tie": 0.05, "start": [1500.0, 350.0, 0.06]}
    assert (data["settled"], data["notes"]) == (True, [])
    frames = result.frames()
    assert frames["glicko_ratings"].get_column("algorithm").to_list() == names
    assert frames["glicko_ratings"].get_column("order_high").to_list() == result.spread[2, order].tolist()
    assert frames["glicko_ratings"].get_column("order_rank_low").to_list() == result.rank_spread[0, order].tolist()
    assert frames["glicko_ratings"].get_column("order_rank_high").to_list() == result.rank_spread[2, order].tolist()
    assert frames["glicko_history"].columns[:3] == ["period", "dataset", "algorithm"]
    assert frames["glicko_history"].get_column("period").to_list() == [1, 1, 1, 2, 2, 2]
    assert frames["glicko_history"].get_column("rank").to_list() == [1, 3, 2, 1, 2, 3]
    assert frames["glicko_wins"].rows() == [
        (names[i], names[j], result.wins[order[i], order[j]]) for i in range(3) for j in range(3) if i != j
    ]


def test_a_game_that_nobody_doubts_changes_nothing_but_the_deviation():
    """So far apart that the chance of the weaker one is 0 in floating point."""
    rating, deviation, volatility = np.array([1e6, -1e6]), np.array([50.0, 80.0]), np.array([0.06, 0.06])
    found = rate_period(rating, deviation, volatility, np.array([[np.nan, 1.0], [0.0, np.nan]]))
    assert found[0] == pytest.approx(rating)
    assert found[1] == pytest.approx(173.7178 * np.sqrt((deviation / 173.7178) ** 2 + 0.06**2), rel=1e-4)
    assert found[2] == pytest.approx(volatility, rel=0.01)


def test_win_probability_and_classical_properties_by_their_formulas():
    wins = win_probability(np.array([1800.0, 1500.0]), np.array([50.0, 80.0]))
    phi = (50**2 + 80**2) / 173.7178**2
    assert wins[0, 1] == pytest.approx(1 / (1 + 10 ** (-300 / 400 / np.sqrt(1 + 3 * phi / np.pi**2))), rel=1e-6)
    values = np.random.default_rng(2).random((5, 4))
    for table, up in ((matrix(values), values), (matrix(values, higher=False), -values)):
        found = classical_properties(table)
        standard = stats.zscore(up, axis=0)
        rest = [np.delete(standard, d, axis=1).mean(axis=1) for d in range(4)]
        expected = [np.corrcoef(up[:, d], rest[d])[0, 1] for d in range(4)]
        assert found["discrimination"] == pytest.approx(expected)
        assert found["difficulty"] == pytest.approx(-up.mean(axis=0))
    flat = classical_properties(matrix([[1, 1], [1, 1]]))
    assert (flat["discrimination"].tolist(), flat["deviation"].tolist()) == ([0, 0], [0, 0])


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [
        ({"tau": 10.0}, True),
        ({"tau": 10.01}, False),
        ({"tau": 0.0}, False),
        ({"tie": 0.0}, True),
        ({"tie": -0.01}, False),
        ({"tie": float("inf")}, False),
        ({"tie": float("nan")}, False),
        ({"orders": 1}, True),
        ({"orders": 0}, False),
        ({"orders": 100_001}, False),
    ],
)
def test_settings_out_of_range_are_refused(settings, allowed):
    table = matrix([[0.3, 0.1], [0.9, 0.8]])
    if allowed:
        assert rate_algorithms(table, **({"orders": 2} | settings)).settled
        return
    with pytest.raises(UsageError) as refused:
        rate_algorithms(table, **({"orders": 2} | settings))
    assert refused.value.fix == (
        "tau is above 0 and at most 10 (usual: 0.3 to 1.2), tie a number from 0 on, orders from 1 to 100,000"
    )


def test_lists_of_datasets_and_properties_that_do_not_fit_are_refused():
    table = matrix([[0.3, 0.1], [0.9, 0.8]])
    for order, words in (
        (["d00", "d01", "d00"], "order: a dataset is listed twice, or none is"),
        ([], "order: a dataset is listed twice, or none is"),
        (["d00", "d09"], "order: unknown datasets d09"),
        (["d01"], "order: 1 of the 2 datasets are not listed (d00)"),
        ("hardness", "unknown order 'hardness'"),
        ("siize", "unknown order 'siize'; did you mean 'size'"),
        ("givn", "did you mean 'given'"),
        ("nam", "did you mean 'name'"),
        ("dificulty", "did you mean 'difficulty'"),
        ("discriminaton", "did you mean 'discrimination'"),
        ("deviatoin", "did you mean 'deviation'"),
    ):
        with pytest.raises(UsageError) as refused:
            rate_algorithms(table, order=order, orders=2, properties={"d00": {"size": 1.0}, "d01": {"size": 1.0}})
        assert words in str(refused.value)
    with pytest.raises(InputError, match=r"the properties are of other datasets \(x\)"):
        rate_algorithms(table, properties={"x": {"size": 1.0}}, orders=2)
    with pytest.raises(InputError, match=r"the properties are of other datasets \(\)"):
        rate_algorithms(table, properties={}, orders=2)
    equal = {"d01": {"size": 3.0}, "d00": {"size": 3.0}}
    assert rate_algorithms(table, order="size", properties=equal, orders=2).datasets == ("d00", "d01")
    assert rate_algorithms(table, order="given", given=["d01", "d00"], orders=2).datasets == ("d01", "d00")


def test_large_tables_play_fewer_orders(monkeypatch):
    monkeypatch.setattr(glicko_fit, "GAMES", 2_000)
    for players, expected in ((2, 166), (4, 41), (9, 20)):  # 2,000 games over players^2 x 3 datasets
        values = np.random.default_rng(players).random((players, 3))
        assert rate_algorithms(matrix(values)).n_orders == expected


def test_a_report_rates_in_the_order_of_the_table_with_its_seed():
    table = Results.from_frame(results_frame())
    result = ANALYSIS.run(table, AnalysisSpec("ndcg@10", seed=4))
    assert result.datasets == ("z", "m", "a")
    matrix_of = table.matrix("ndcg@10")
    assert result.spread.tolist() == rate_algorithms(matrix_of, given=["z", "m", "a"], seed=4).spread.tolist()


def test_the_order_of_the_table_is_that_of_the_metric_and_of_the_datasets_that_are_rated():
    wide = [("x", "ndcg@10", "zmaq"), ("y", "ndcg@10", "zma"), ("x", "auc", "amzq"), ("y", "auc", "amz")]
    rows = [(a, d, metric, 0.5) for a, metric, datasets in reversed(wide) for d in datasets]
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row")
    table = Results.from_frame(frame)
    assert given_order(table, table.matrix("ndcg@10", missing="drop-datasets")) == ["z", "m", "a"]
    assert given_order(table, table.matrix("auc", missing="drop-datasets")) == ["a", "m", "z"]


def test_ratings_that_never_settle_say_so_at_the_smallest_tau(monkeypatch):
    table = matrix(np.random.default_rng(1).random((3, 5)))
    asked = Matrix(
        table.values, table.algorithms, table.datasets, "auc", True, missing=MissingCells("worst", (("a", "b"),))
    )
    assert rate_algorithms(asked, orders=2).missing == asked.missing
    for tau in (0.3, 0.5, 0.7):
        assert rate_algorithms(table, orders=2, tau=tau).notes == []
    assert rate_algorithms(table, orders=2, tau=0.2).notes == [
        "tau is 0.2: with 0.5 the volatility of some algorithm may run away on this table."
    ]
    monkeypatch.setattr(glicko_fit, "SETTLED", 0.0)
    wild = rate_algorithms(table, orders=2)
    assert (wild.settled, wild.tau) == (False, 0.02)
    assert wild.notes == ["The ratings ran away (a volatility above 1) and mean nothing: use a smaller tau."]
    calm = glicko_fit._final_ratings
    monkeypatch.setattr(glicko_fit, "_final_ratings", lambda *given: (calm(*given)[0], True))
    assert not rate_algorithms(table, orders=2, tau=0.5).settled, "the order asked for counts, too"


def test_of_equal_ratings_the_first_name_comes_first_and_large_tables_have_fewer_replicates(monkeypatch):
    drawn, whole = [], glicko_fit._final_ratings

    def played(scores, orders, tau):
        drawn.append(orders.shape)
        return whole(scores, orders, tau)

    monkeypatch.setattr(glicko_fit, "_final_ratings", played)
    equal = rate_table(np.ones((3, 5)), ("c", "a", "b"), tuple("vwxyz"), metric="auc", orders=3)
    assert equal.order() == [1, 2, 0]
    monkeypatch.setattr(glicko_fit, "GAMES", 3**2 * 5 * 120)
    rate_table(np.ones((3, 5)), ("c", "a", "b"), tuple("vwxyz"), metric="auc", orders=3)
    monkeypatch.setattr(glicko_fit, "GAMES", 1)
    rate_table(np.ones((3, 5)), ("c", "a", "b"), tuple("vwxyz"), metric="auc", orders=3)
    assert [shape for shape in drawn if shape[0] != 3] == [(500, 5), (120, 5), (100, 5)]
