"""The hierarchical model: known truth, holes, failures, small tables, scales, and what it says of variances."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from recassay.analysis.inference import hierarchical
from recassay.analysis.inference.hierarchical import fit_hierarchical
from recassay.analysis.model.cells import read_cells
from recassay.analysis.model.fit import fit_model
from recassay.analysis.model.scale import Scale, choose_scale
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.tables.results import Results
from recassay.core.tables.users import UserScores


@pytest.fixture(autouse=True)
def fewer_sweeps(monkeypatch):
    monkeypatch.setattr(hierarchical, "SWEEPS", 240)
    monkeypatch.setattr(hierarchical, "BURN_IN", 60)


def made(n, k, spread, rng, deviation=0.5):
    level = spread * rng.standard_normal(k)
    table = level + 1.5 * rng.standard_normal((n, 1)) + deviation * rng.standard_normal((n, k))
    return level, table


def results_of(values, *, metric="ndcg@10", **columns):
    rows = [
        {"algorithm": f"a{a}", "dataset": f"d{j:02}", "metric": metric, "value": value}
        for j, row in enumerate(values)
        for a, value in enumerate(row)
        if not np.isnan(value)
    ]
    return Results.from_frame(pl.DataFrame(rows))


def best(draws):
    return np.bincount(draws.argmax(axis=1), minlength=draws.shape[1]) / len(draws)


@pytest.mark.slow
def test_probabilities_are_calibrated_on_known_truth():
    rng = np.random.default_rng(5)
    said, right, beats, truth = [], [], [], []
    for _ in range(30):
        level, table = made(12, 4, 0.4, rng)
        found = fit_hierarchical(table, draws=600, rng=rng)
        chance = best(found.level)
        said.append(chance.max())
        right.append(chance.argmax() == level.argmax())
        beats.append((found.new[:, 0] > found.new[:, 1]).mean())
        truth.append(0.5 * (1 + np.tanh(1.7 * (level[0] - level[1]) / np.sqrt(2 * 0.25) / 2)))
    assert abs(np.mean(said) - np.mean(right)) < 0.17  # two standard errors of 30 tables
    assert np.mean(np.abs(np.array(beats) - truth)) < 0.14
    assert np.corrcoef(beats, truth)[0, 1] > 0.75


@pytest.mark.slow
def test_equal_algorithms_are_not_told_apart():
    rng = np.random.default_rng(6)
    favoured = [best(fit_hierarchical(made(30, 8, 0.0, rng)[1], draws=600, rng=rng).level).max() for _ in range(6)]
    assert max(favoured) < 0.75
    assert np.mean(favoured) < 0.45


def test_a_clear_winner_is_called_one():
    _, table = made(30, 4, 0.0, np.random.default_rng(7))
    table[:, 2] += 1.0
    assert best(fit_hierarchical(table, draws=600, rng=np.random.default_rng(1)).level)[2] > 0.99


@pytest.mark.slow
def test_intervals_of_missing_cells_hold_their_values():
    rng = np.random.default_rng(8)
    held = []
    for _ in range(8):
        _, table = made(12, 5, 0.5, rng)
        holes = rng.random(table.shape) < 0.2
        holes[np.arange(12), rng.integers(5, size=12)] = False
        found = fit_hierarchical(np.where(holes, np.nan, table), draws=400, rng=rng)
        low, high = np.quantile(found.cells, [0.025, 0.975], axis=0)
        held.extend(((low < table) & (table < high))[holes])
    assert len(held) > 60
    assert 0.88 < np.mean(held) <= 1.0


def test_a_failure_moves_neither_its_level_nor_the_others():
    _, table = made(20, 4, 0.0, np.random.default_rng(9), deviation=0.2)
    failed = table.copy()
    failed[[3, 11], 1] -= 6.0
    before = fit_hierarchical(table, draws=800, rng=np.random.default_rng(2))
    after = fit_hierarchical(failed, draws=800, rng=np.random.default_rng(2))
    assert np.abs(after.level.mean(axis=0) - before.level.mean(axis=0)).max() < 0.15
    assert after.outlying[[3, 11], 1].min() > 0.95
    others = np.delete(after.outlying.ravel(), [3 * 4 + 1, 11 * 4 + 1])
    assert others.mean() < 0.15
    assert (after.new[:, 1] - after.level[:, 1] < -3).mean() == pytest.approx(0.1, abs=0.05)  # but failures count


def test_measured_noise_widens_what_is_said():
    _, table = made(10, 3, 0.3, np.random.default_rng(10), deviation=0.1)
    exact = fit_hierarchical(table, draws=600, rng=np.random.default_rng(3))
    noisy = fit_hierarchical(table, np.full(table.shape, 1.0), draws=600, rng=np.random.default_rng(3))
    assert best(noisy.level).max() < best(exact.level).max()


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (2, 5), (3, 3)])
def test_the_smallest_tables_and_constant_ones_are_fitted(shape):
    rng = np.random.default_rng(11)
    for table in (rng.standard_normal(shape), np.ones(shape), np.arange(shape[0])[:, None] + np.zeros(shape)):
        found = fit_hierarchical(table, draws=200, rng=rng)
        assert np.isfinite(found.level).all()
        assert np.isfinite(found.new).all()


def test_scales():
    logit, values = choose_scale(np.array([[0.2, 0.0], [0.5, 1.0]]), True)
    assert logit.transform == "logit"
    assert logit.moved == 2
    assert values.tolist() == [[0.2, 0.1], [0.5, 0.75]]
    np.testing.assert_allclose(logit.backward(logit.forward(values)), values)
    log, values = choose_scale(np.array([[2.0, 40.0], [np.nan, 3.0]]), False)
    assert log.transform == "log"
    assert log.forward(values)[0, 0] > log.forward(values)[0, 1]  # lower is better, higher on the scale
    assert np.isnan(log.forward(values)[1, 0])
    assert choose_scale(np.array([[-1.0, 2.0]]), True)[0].transform == "identity"
    step = 1e-6
    for scale in (Scale("logit", True), Scale("log", True), Scale("identity", True)):
        at = np.array([0.3])
        slope = (scale.forward(at + step) - scale.forward(at - step)) / (2 * step)
        np.testing.assert_allclose(scale.slope(at), slope, rtol=1e-6)


def test_cells_average_within_folds_first_and_keep_holes():
    frame = pl.DataFrame(
        {
            "algorithm": ["a", "a", "a", "b", "b"],
            "dataset": ["x", "x", "x", "x", "y"],
            "metric": "ndcg@10",
            "value": [0.2, 0.4, 0.8, 0.1, 0.3],
            "fold": [0, 0, 1, 0, 0],
            "seed": [1, 2, 1, 1, 1],
        }
    )
    cells = read_cells(Results.from_frame(frame), "ndcg@10")
    assert cells.values[0].tolist() == pytest.approx([0.55, 0.1])
    assert np.isnan(cells.values[1, 0])
    assert cells.repeats.tolist() == [[2, 1], [0, 1]]


def test_the_result_says_what_the_draws_say():
    rng = np.random.default_rng(12)
    _, table = made(12, 3, 0.0, rng, deviation=0.3)
    table[:, 0] += 1.0
    values = 1 / (1 + np.exp(-table + 2))
    values[4, 2] = np.nan
    result = fit_model(results_of(values), "ndcg@10", draws=400, seed=3)
    plain = json.loads(json.dumps(result.to_dict()))
    assert max(plain["probability_best"], key=plain["probability_best"].get) == "a0"
    assert sum(plain["probability_best"].values()) == pytest.approx(1.0)
    assert plain["beats"]["a0"]["a1"] + plain["beats"]["a1"]["a0"] == pytest.approx(1.0)
    assert plain["better"]["a0"]["a1"] > plain["beats"]["a0"]["a1"] > 0.7
    assert [(cell["algorithm"], cell["dataset"]) for cell in plain["predicted"]] == [("a2", "d04")]
    low, high = plain["predicted"][0]["interval"]
    assert 0 < low < plain["predicted"][0]["estimate"] < high < 1
    assert result.to_frame().get_column("algorithm")[0] == "a0"
    assert fit_model(results_of(values), "ndcg@10", draws=400, seed=3).to_dict() == result.to_dict()
    assert 0.05 < result.shares.interaction < 0.3  # 0.09 is the truth


def test_a_table_in_percent_gives_the_same_order_and_lower_is_better_is_turned():
    rng = np.random.default_rng(13)
    values = rng.uniform(10, 90, size=(8, 3))
    values[:, 1] += 40
    upward = fit_model(results_of(values, metric="score"), "score", higher_is_better=True, draws=300)
    downward = fit_model(results_of(values, metric="score"), "score", higher_is_better=False, draws=300)
    assert upward.order()[0] == 1
    assert downward.order()[-1] == 1


def test_users_and_seeds_are_told_apart():
    rng = np.random.default_rng(14)
    base = np.full((6, 3), 0.5)
    rows = [
        {"algorithm": f"a{a}", "dataset": f"d{j}", "metric": "ndcg@10", "seed": s,
         "value": float(np.clip(base[j, a] + 0.02 * rng.standard_normal(), 0.01, 0.99))}
        for j in range(6) for a in range(3) for s in range(3)
    ]  # fmt: skip
    results = Results.from_frame(pl.DataFrame(rows))
    n = 4000  # users whose scores share most of their spread
    own, common = 0.01 * np.sqrt(n) * rng.standard_normal((6, 3, n)), np.sqrt(5e-4 * n) * rng.standard_normal((6, 1, n))

    def users(metric):
        assert metric == "ndcg@10"
        return [UserScores(f"d{j}", ("a0", "a1", "a2"), own[j] + common[j], 0) for j in range(6)], {}

    shares = fit_model(results, "ndcg@10", users=users, draws=200).shares
    assert shares.repeats == pytest.approx((0.02 / 0.25) ** 2 / 3, rel=0.6)
    assert shares.users == pytest.approx(1e-4 / 0.25**2, rel=0.3)  # what all share belongs to the dataset
    assert sum(shares.of_a_difference().values()) == pytest.approx(1.0)


def test_refusals():
    one = results_of(np.array([[0.1, 0.2]]))
    with pytest.raises(NotApplicableError, match="only one dataset has values"):
        fit_model(one, "ndcg@10")
    with pytest.raises(UsageError, match="between 0 and 1"):
        fit_model(results_of(np.full((3, 3), 0.5)), "ndcg@10", within=0.0)


def test_stated_deviations_count_as_repeats():
    rng = np.random.default_rng(15)
    frame = pl.DataFrame([
        {"algorithm": f"a{a}", "dataset": f"d{j}", "metric": "ndcg@10", "value": 0.4 + 0.05 * rng.standard_normal(),
         "deviation": 0.03, "runs": 5}
        for a in range(3) for j in range(6)
    ])  # fmt: skip
    stated = fit_model(Results.from_frame(frame), "ndcg@10", draws=200).shares
    assert stated.repeats == pytest.approx((0.03 / 0.24) ** 2 / 5, rel=0.5)
    assert fit_model(Results.from_frame(frame.drop("deviation", "runs")), "ndcg@10", draws=200).shares.repeats == 0
