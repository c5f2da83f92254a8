"""The hierarchical model: known truth, holes, failures, small tables, scales, and what it says of variances."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.special import multigammaln

from recassay.analysis.inference import hierarchical
from recassay.analysis.inference.chains import first_guess, interactions, without_outliers
from recassay.analysis.inference.few_factors import FewFactors
from recassay.analysis.inference.full_covariance import FullCovariance
from recassay.analysis.inference.hierarchical import effective_size, fit_hierarchical, r_hat, representatives
from recassay.analysis.inference.sweep import sweep_cells
from recassay.analysis.model import fit as model_fit
from recassay.analysis.model.cells import read_cells
from recassay.analysis.model.fit import ANALYSIS, fit_model
from recassay.analysis.model.result import ModelResult, PredictedCell, Sampling, Shares, TippingPoint, first_shares
from recassay.analysis.model.scale import Scale, choose_scale
from recassay.core.analysis import AnalysisSpec
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.results import Results
from recassay.core.tables.scores import UserScores
from recassay.reporting.sections.model import sentences


@pytest.fixture(autouse=True)
def fewer_draws(monkeypatch):
    monkeypatch.setattr(hierarchical, "CHAINS", 8)
    monkeypatch.setattr(hierarchical, "ERROR", 1.0)  # one round


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


@pytest.mark.slow
def test_probabilities_are_calibrated_on_known_truth():
    rng = np.random.default_rng(5)
    said, right, beats, truth = [], [], [], []
    for _ in range(30):
        level, table = made(12, 4, 0.4, rng)
        found = fit_hierarchical(table, draws=600, rng=rng)
        chance = first_shares(found.level)
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
    favoured = [
        first_shares(fit_hierarchical(made(30, 8, 0.0, rng)[1], draws=600, rng=rng).level).max() for _ in range(6)
    ]
    assert max(favoured) < 0.75
    assert np.mean(favoured) < 0.45


class Drawn(SimpleNamespace):
    """The draws of a result, without the fit that they come from."""

    equal, better = ModelResult.equal, ModelResult.better


def test_equal_is_relative_to_the_levels_where_scores_are_not_transformed():
    level = np.array([[10.0, 10.1, 12.0], [10.0, 10.05, 12.0]])
    drawn = Drawn(level=level, within=0.02, scale=Scale("identity", True))
    assert drawn.equal()[0].tolist() == [1.0, 1.0, 0.0]  # 2 % of a level of about 10.7
    signed = Drawn(level=level * [1.0, 1.0, -1.0], within=0.02, scale=Scale("identity", True))
    assert signed.equal()[0].tolist() == [1.0, 1.0, 0.0], "of the size of the levels, whatever their sign"


def test_of_two_on_the_same_level_the_one_that_fails_less_is_better():
    drawn = Drawn(level=np.full((4, 2), 0.3), negligible=1e-9, failing=np.array([0.1, 0.5]))
    assert drawn.better()[0, 1] == 1.0
    assert drawn.better()[1, 0] == 0.0


def test_a_clear_winner_is_called_one():
    _, table = made(30, 4, 0.0, np.random.default_rng(7))
    table[:, 2] += 1.0
    assert first_shares(fit_hierarchical(table, draws=600, rng=np.random.default_rng(1)).level)[2] > 0.99


@pytest.mark.slow
def test_intervals_of_missing_cells_hold_their_values():
    rng = np.random.default_rng(8)
    held = []
    for _ in range(20):
        _, table = made(12, 5, 0.5, rng)
        holes = rng.random(table.shape) < 0.2
        holes[np.arange(12), rng.integers(5, size=12)] = False
        found = fit_hierarchical(np.where(holes, np.nan, table), draws=400, rng=rng)
        low, high = np.quantile(found.cells, [0.025, 0.975], axis=0)
        held.extend(((low < table) & (table < high))[holes])
    # Over 90 tables 93 % were held; the standard error of 20 tables is 0.022.
    assert len(held) > 150
    assert 0.87 < np.mean(held) < 0.99


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
    assert first_shares(noisy.level).max() < first_shares(exact.level).max()


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (2, 5), (3, 3)])
def test_the_smallest_tables_and_constant_ones_are_fitted(shape):
    rng = np.random.default_rng(11)
    for table in (rng.standard_normal(shape), np.ones(shape), np.arange(shape[0])[:, None] + np.zeros(shape)):
        found = fit_hierarchical(table, draws=200, rng=rng)
        assert np.isfinite(found.level).all()
        assert np.isfinite(found.new).all()


@pytest.mark.slow
@pytest.mark.parametrize(("n", "spread"), [(5, 0.5), (10, 0.0), (30, 0.5)])
def test_levels_are_covered(n, spread):
    """The mean of all datasets is not known either; taken as known, 54 to 79 % of the intervals held the level."""
    rng = np.random.default_rng([16, n, int(10 * spread)])
    held = []
    for _ in range(30):
        level, table = made(n, 4, spread, rng, deviation=1.0)
        low, high = np.quantile(fit_hierarchical(table, draws=320, rng=rng).level, [0.025, 0.975], axis=0)
        held.append(((low < level) & (level < high)).mean())
    assert np.mean(held) > 0.84  # levels of a table move together: three standard errors below 0.95


@pytest.mark.parametrize("size", [10, 160, 5000])
@pytest.mark.parametrize("n", [6, 15])
def test_a_failure_of_any_size_says_no_more_than_a_missing_cell(size, n):
    _, table = made(n, 5, 0.0, np.random.default_rng(17), deviation=0.05)
    failed, missing = table.copy(), table.copy()
    failed[3, 2] -= size * 0.05
    missing[3, 2] = np.nan
    one, other = (fit_hierarchical(x, draws=1200, rng=np.random.default_rng(4)) for x in (failed, missing))
    assert np.abs(first_shares(one.level) - first_shares(other.level)).max() < 0.08
    assert first_shares(one.new)[2] < first_shares(other.new)[2] + 0.02  # but failures count for a new dataset


def test_an_algorithm_that_is_never_better_and_once_worse_is_last():
    scores = 1.5 * np.random.default_rng(18).standard_normal((15, 1)) + np.zeros((15, 5))
    scores[3, 2] -= 0.3
    result = fit_model(results_of(1 / (1 + np.exp(-scores))), "ndcg@10")
    assert result.probability_best().tolist() == [0.25, 0.25, 0.0, 0.25, 0.25]
    assert result.probability_first()[2] < result.probability_first()[0]
    assert result.order()[-1] == 2
    assert result.identical == (("a0", "a1", "a3", "a4"),)
    assert result.better()[0, 2] == 1.0
    assert result.better()[0, 1] == 0.5


def test_all_algorithms_identical_and_nothing_measured():
    column = np.random.default_rng(19).uniform(0.1, 0.9, (8, 1))
    result = fit_model(results_of(column + np.zeros((8, 3))), "ndcg@10")
    assert result.probability_best().tolist() == pytest.approx([1 / 3] * 3)
    assert "a0, a1, a2 have the same value on every dataset." in " ".join(sentences(result))
    with pytest.raises(NotApplicableError, match="nothing was measured"):
        fit_model(results_of(np.zeros((6, 3))), "ndcg@10")
    holes = np.zeros((6, 3))
    holes[1, 1] = np.nan
    with pytest.raises(NotApplicableError, match="nothing was measured"):
        fit_model(results_of(holes), "ndcg@10")


def test_the_chance_in_a_probability_is_small_and_said(monkeypatch):
    monkeypatch.undo()
    _, table = made(12, 4, 0.2, np.random.default_rng(20))
    table[np.random.default_rng(21).random(table.shape) < 0.2] = np.nan
    runs = [fit_hierarchical(table, rng=np.random.default_rng(seed)) for seed in range(5)]
    chances = np.array([first_shares(run.level) for run in runs])
    assert max(run.error for run in runs) <= 0.01
    assert chances.std(axis=0, ddof=1).max() < 0.02  # two standard errors
    assert max(run.r_hat for run in runs) < 1.02


def test_related_datasets_are_less_evidence():
    rng = np.random.default_rng(22)
    family = np.repeat(np.arange(6), 5)
    own = rng.standard_normal((6, 3))[family] + 0.2 * rng.standard_normal((30, 3))
    table = own + 1.5 * rng.standard_normal((30, 1)) + np.array([3.0, 0.0, -3.0])
    related = fit_hierarchical(table, families=family, draws=1600, rng=np.random.default_rng(1)).level
    apart = fit_hierarchical(table, draws=1600, rng=np.random.default_rng(1)).level
    gap = [(level[:, 0] - level[:, 1]).std() for level in (related, apart)]
    assert gap[0] > 1.4 * gap[1]  # sqrt(1 + 4 * 0.96) = 2.2 if the relation were known


def test_how_bad_missing_cells_would_have_to_be():
    scores = np.tile(np.linspace(-2, 2, 10)[:, None], (1, 2)) + np.array([0.2, 0.0])
    scores += 0.05 * np.random.default_rng(23).standard_normal(scores.shape)
    scores[:2, 0] = np.nan
    values = 1 / (1 + np.exp(-scores))
    result = fit_model(results_of(values), "ndcg@10", draws=800)
    (point,) = result.tipping
    assert (point.algorithm, point.cells, point.leader) == ("a0", 2, "a1")
    needed, expected = (result.scale.forward(np.array(x)) for x in (point.needed, point.expected))
    assert needed - expected == pytest.approx(-0.2 * 10 / 2, abs=0.2)  # the lead of 0.2 over ten datasets, in two cells
    assert "a1 would lead if the 2 missing cells of a0 were" in " ".join(sentences(result))


def test_percent_and_shares_are_one_scale_and_errors_are_none():
    rng = np.random.default_rng(24)
    values = rng.uniform(0.05, 0.9, size=(8, 3))
    share, percent = (fit_model(results_of(x, metric="hitrate@10"), "hitrate@10") for x in (values, 100 * values))
    assert share.probability_best().tolist() == percent.probability_best().tolist()
    assert percent.levels() == pytest.approx(100 * share.levels())
    assert fit_model(results_of(values, metric="rmse"), "rmse").scale.transform == "log"  # below 1, and no share


def test_scales():
    logit, values = choose_scale(np.array([[0.2, 0.0], [0.5, 1.0], [np.nan, 0.5]]), True, "ndcg@10")
    assert logit.transform == "logit"
    assert logit.moved == 2
    assert values[:2].tolist() == [[0.2, 0.1], [0.5, 0.75]]
    np.testing.assert_allclose(logit.backward(logit.forward(values)), values)
    log, values = choose_scale(np.array([[2.0, 40.0], [np.nan, 3.0]]), False, "rmse")
    assert log.transform == "log"
    assert log.forward(values)[0, 0] > log.forward(values)[0, 1]  # lower is better, higher on the scale
    assert np.isnan(log.forward(values)[1, 0])
    assert choose_scale(np.array([[-1.0, 2.0]]), True, "score")[0].transform == "identity"
    assert choose_scale(np.zeros((2, 2)), True, "score")[0].transform == "identity"
    assert choose_scale(np.array([[20.0, 150.0]]), True, "ndcg@10")[0].transform == "log", "above 100 it is not a share"
    assert choose_scale(np.array([[0.2, 0.5]]), True, "NDCG@10")[0].transform == "logit"
    percent, _ = choose_scale(np.array([[20.0, 100.0]]), True, "hitrate@10")
    assert (percent.transform, percent.whole, percent.moved) == ("logit", 100.0, 1)
    ends = np.array([[0.0, 0.0], [1.0, 1.0], [0.2, 0.9]])  # the first two datasets have nothing inside the scale
    assert choose_scale(ends, True, "ndcg@10")[1] == pytest.approx(np.array([[0.1, 0.1], [0.95, 0.95], [0.2, 0.9]]))
    full, kept = choose_scale(np.ones((2, 2)), True, "ndcg@10")  # nor has the table
    assert (full.moved, kept.tolist()) == (4, [[0.75, 0.75], [0.75, 0.75]])
    assert choose_scale(np.array([[0.0, 1.0]]), True, "ndcg@10")[1].tolist() == [[0.5, 0.5]]
    step = 1e-6
    for scale in (Scale("logit", True), Scale("logit", True, whole=100.0), Scale("log", True), Scale("identity", True)):
        at = np.array([0.3])
        slope = (scale.forward(at + step) - scale.forward(at - step)) / (2 * step)
        np.testing.assert_allclose(scale.slope(at), slope, rtol=1e-6)


@pytest.mark.parametrize(
    ("metric", "transform"),
    [(name, "logit") for name in ("ndcg", "hitrate", "precision", "recall", "map", "mrr", "f1", "rprecision", "auc",
                                  "gauc", "coverage", "longtail", "gini", "accuracy", "balanced_accuracy",
                                  "exact_match")]
    + [(name, "log") for name in ("rmse", "novelty", "seconds", "score", "error")],
)  # fmt: skip
def test_which_metrics_are_shares(metric, transform):
    for label in (metric, f"{metric}@10"):
        assert choose_scale(np.array([[0.2, 0.5], [0.3, 0.9]]), True, label)[0].transform == transform


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


def test_cells_of_one_metric_with_the_deviations_that_the_table_states():
    rows = [("a", "x", 0.4, 0.03, 5), ("b", "x", 0.5, 0.02, None), ("a", "y", 0.3, None, 4), ("b", "y", 0.2, 0.01, 1),
            ("c", "x", None, 0.1, 3)]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "value", "deviation", "runs"], orient="row")
    other = frame.with_columns(metric=pl.lit("auc"), value=pl.lit(0.9), deviation=pl.lit(0.5))
    results = Results.from_frame(pl.concat([frame.with_columns(metric=pl.lit("ndcg@10")), other], how="diagonal"))
    cells = read_cells(results, "ndcg@10")
    assert (cells.algorithms, cells.datasets, cells.metric) == (("a", "b"), ("x", "y"), "ndcg@10")
    assert cells.values.tolist() == [[0.4, 0.5], [0.3, 0.2]]
    assert cells.repeats.tolist() == [[5, 2], [1, 2]], "an unknown number of runs counts as two"
    assert cells.deviations.tolist() == [[0.03, 0.02], [0.0, 0.01]]
    bare = read_cells(Results.from_frame(results.frame.drop("runs")), "ndcg@10")
    assert bare.repeats.tolist() == [[2, 2], [1, 2]]
    seeds = pl.DataFrame({"algorithm": ["a", "a", "b", "a", "b"], "dataset": ["x", "x", "x", "y", "y"],
                          "metric": "ndcg@10", "value": [0.2, 0.4, 0.3, 0.5, 0.6], "seed": [1, 2, 1, 1, 1],
                          "deviation": [0.7] * 5, "runs": [9] * 5})  # fmt: skip
    own = read_cells(Results.from_frame(seeds), "ndcg@10")
    assert own.repeats.tolist() == [[2, 9], [9, 9]], "runs that the table has count before those that it states"
    assert own.deviations[0].tolist() == pytest.approx([np.sqrt(0.02), 0.7])


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


def test_many_algorithms_have_few_factors() -> None:
    """Above 50 algorithms the covariance is that of factors: levels are covered, and like those of the full one."""
    rng = np.random.default_rng(11)
    truth = 0.7 * rng.standard_normal(60)
    shared = rng.standard_normal((24, 1)) * rng.standard_normal(60)
    table = truth + 1.5 * rng.standard_normal((24, 1)) + shared + rng.standard_normal((24, 60))
    table[3, 5], table[4, 6] = table[3, 5] - 40, np.nan
    wide = fit_hierarchical(table, draws=400, rng=np.random.default_rng(1))
    low, high = np.quantile(wide.level - wide.level.mean(axis=1, keepdims=True), [0.025, 0.975], axis=0)
    assert ((low < truth - truth.mean()) & (truth - truth.mean() < high)).mean() >= 0.9
    assert wide.outlying[3, 5] == 1
    assert wide.outlying.mean() < 0.05
    narrow = fit_hierarchical(table[:, :12], draws=400, rng=np.random.default_rng(1))
    gaps = [one.level[:, :12] - one.level[:, :12].mean(axis=1, keepdims=True) for one in (wide, narrow)]
    assert np.abs(gaps[0].mean(axis=0) - gaps[1].mean(axis=0)).max() < 0.35
    assert 0.7 < gaps[0].std(axis=0).mean() / gaps[1].std(axis=0).mean() < 1.3


def test_families_need_few_algorithms() -> None:
    """With many algorithms families are refused, with a reason."""
    table = np.random.default_rng(1).standard_normal((6, 52))
    with pytest.raises(UsageError, match="at most 50 algorithms"):
        fit_hierarchical(table, families=np.array([0, 0, 1, 2, 3, 4]), rng=np.random.default_rng(1))


def plain_interactions(table):
    """Residuals of dataset and algorithm, cut where datasets are enough, and drawn to the mean of all."""
    n, k = table.shape
    middle = np.median if n >= 5 else np.mean
    rest = table - middle(table, axis=1)[:, None]
    rest = rest - middle(rest, axis=0)
    cut = rest
    if n >= 5:
        reach = 3 * 1.4826 * np.median(np.abs(rest), axis=0)
        cut = np.minimum(np.maximum(rest, -reach), reach)
    own = np.array([(cut[:, a] ** 2).sum() / (n - 1) * k / (k - 1) for a in range(k)])
    return rest, np.maximum((n * own + 5 * own.mean()) / (n + 5), 0.01 * own.mean())


@pytest.mark.parametrize("n", [3, 4, 5, 9])
def test_first_guesses_of_a_table(n):
    rng = np.random.default_rng(n)
    additive = rng.standard_normal((n, 1)) + rng.standard_normal(3)
    holes = np.zeros((n, 3), dtype=bool)
    holes[1, 2] = True
    assert first_guess(np.where(holes, np.nan, additive), holes) == pytest.approx(additive)
    with pytest.raises(ValueError, match="no score at all"):
        first_guess(additive, np.arange(3) == np.full((n, 1), 1))
    table = additive + 0.1 * rng.standard_normal((n, 3))
    table[2, 1] += 9.0
    rest, tau = plain_interactions(table)
    assert interactions(table) == pytest.approx(tau)
    start, farthest = without_outliers(table, tau)
    reach = 4 * np.sqrt(tau)
    assert start == pytest.approx(table - rest + np.maximum(np.minimum(rest, reach), -reach))
    assert farthest == pytest.approx(max((rest**2 / tau).max(), 6.0))


def test_a_sweep_draws_each_cell_from_its_posterior():
    """Two algorithms, one of three datasets lacks a value, and one is so far off that its cell is an outlier."""
    precision = np.array([[[2.0, -0.5], [-0.5, 1.0]]])
    expected = np.array([[[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]])
    scores, noise = np.array([[0.5, 0.1], [np.nan, 0.2], [30.0, 0.3]]), np.full((3, 2), 0.04)
    added, shares = np.array([[0.0, 100.0], [0.0, 50.0]]), np.array([0.9, 0.1])
    rng = np.random.default_rng(0)
    normal, uniform = rng.standard_normal((1, 3, 2)), rng.random((1, 3, 2))
    table, outlier = np.zeros((1, 3, 2)), np.ones((1, 3, 2), dtype=np.bool_)
    missing = np.isnan(scores)
    sweep_cells(table, outlier, scores, noise, missing, precision, expected, added, np.log(shares), normal, uniform)
    now, seen = np.zeros((3, 2)), []
    for j in range(3):
        for a in range(2):
            b, variance = 1 - a, 1 / precision[0, a, a]
            mean = expected[0, j, a] - variance * precision[0, a, b] * (now[j, b] - expected[0, j, b])
            if missing[j, a]:
                seen.append(False)
                now[j, a] = mean + np.sqrt(variance) * normal[0, j, a]
                continue
            error = scores[j, a] - mean
            spread = variance + noise[j, a] + added[a]
            chance = shares * np.exp(-(error**2) / 2 / spread) / np.sqrt(spread)
            kind = int(uniform[0, j, a] >= chance[0] / chance.sum())
            seen.append(bool(kind))
            v = noise[j, a] + added[a, kind]
            posterior = 1 / (1 / variance + 1 / v)
            now[j, a] = posterior * (mean / variance + scores[j, a] / v) + np.sqrt(posterior) * normal[0, j, a]
    assert table[0] == pytest.approx(now)
    assert outlier.ravel().tolist() == seen
    assert seen[4]
    # a precision of one column per algorithm: independent given what is expected
    table, alone = np.zeros((1, 3, 2)), np.array([[[2.0], [1.0]]])
    sweep_cells(table, outlier, scores, noise, missing, alone, expected, added, np.log(shares), 0 * normal, 0 * uniform)
    assert table[0, 0] == pytest.approx((expected[0, 0] * [2, 1] + scores[0] / 0.04) / ([2, 1] + 1 / np.full(2, 0.04)))
    assert table[0, 1, 0] == expected[0, 1, 0]


def test_agreement_and_worth_of_chains_by_loops():
    """Split R-hat and Geyer's effective size of correlated chains (Vehtari et al. 2021), written out."""
    rng = np.random.default_rng(3)
    draws = np.zeros((4, 41, 2))
    for t in range(1, 41):
        draws[:, t] = np.array([0.9, 0.1]) * draws[:, t - 1] + rng.standard_normal((4, 2))
    for quantity in range(2):
        halves = np.concatenate([draws[:, :20, quantity], draws[:, 20:40, quantity]])
        within, between = halves.var(axis=1, ddof=1).mean(), halves.mean(axis=1).var(ddof=1)
        pooled = 19 / 20 * within + between
        assert r_hat(draws)[quantity] == pytest.approx(np.sqrt(pooled / within))
        total = 0.0
        off = halves - halves.mean(axis=1, keepdims=True)
        rho = [1 - (within - (off[:, : 20 - t] * off[:, t:]).sum(axis=1).mean() / 20) / pooled for t in range(20)]
        pairs, least = [rho[t] + rho[t + 1] for t in range(0, 20, 2)], np.inf
        for pair in pairs:
            if pair <= 0:
                break
            least = min(least, pair)
            total += least
        expected = min(160, 160 / (2 * total - 1))
        assert effective_size(draws)[quantity] == pytest.approx(expected)
    assert effective_size(draws)[0] < 40 < effective_size(draws)[1]
    assert (r_hat(np.ones((2, 8, 1)))[0], effective_size(np.ones((2, 8, 1)))[0]) == (1.0, 16.0)


def test_equal_columns_are_one_algorithm_where_their_holes_are_the_same():
    gap = np.nan
    table = np.array([[0.1, 0.1, 0.1, 0.3], [0.2, 0.2 + 1e-15, gap, 0.2], [gap, gap, gap, 0.1]])
    assert representatives(table).tolist() == [0, 0, 2, 3]
    assert representatives(np.array([[0.1, 0.1, 0.1], [0.1, 0.1, 0.2]])).tolist() == [0, 0, 2]


def by_hand(**changes):
    """Four draws of three algorithms; the first two are on the same level where they differ by less than 0.01."""
    level = np.array([[1.0, 1.005, 0.2], [1.2, 1.0, 0.9], [0.8, 1.1, 1.0], [1.1, 1.1, 0.6]])
    given = {
        "metric": "rmse", "higher_is_better": False, "algorithms": ("a", "b", "c"), "datasets": ("x", "y", "z"),
        "scale": Scale("log", False), "level": level, "new": level - [0.0, 0.35, 0.0],
        "shares": Shares(0.1, 0.2, 0.3, 0.1, 0.0, 3), "predicted": (PredictedCell("a", "x", 0.4, 0.3, 0.6),),
        "tipping": (TippingPoint("a", 1, 0.4, 0.9, "b"),), "identical": (), "negligible": 0.01,
        "failing": np.array([0.5, 0.0, 0.0]), "families": None, "sampling": Sampling(1.0, 4.0, 0.2), "within": 0.12,
        "confidence": 0.5, "seed": 7,
    }  # fmt: skip
    return ModelResult(**(given | changes))


def test_what_draws_say_by_hand():
    result = by_hand()
    assert result.probability_best().tolist() == [0.25, 0.75, 0.0]  # b where a and b tie: a's failures cost more
    assert result.probability_first().tolist() == [0.75, 0.0, 0.25]
    assert result.better().tolist() == [[0.5, 0.25, 0.75], [0.75, 0.5, 1.0], [0.25, 0.0, 0.5]]
    assert result.beats().tolist() == [[0.5, 1.0, 0.75], [0.0, 0.5, 0.5], [0.25, 0.5, 0.5]]
    assert result.equal().tolist() == [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
    assert by_hand(failing=np.zeros(3)).probability_best().tolist() == [0.5, 0.5, 0.0]
    assert by_hand(failing=np.zeros(3)).better()[0].tolist() == [0.5, 0.5, 0.75]
    near = by_hand(failing=np.array([0.005, 0.0, 0.0]))
    assert near.probability_best().tolist() == [0.5, 0.5, 0.0], "costs that differ by less than 0.01 are the same"
    assert near.better()[0].tolist() == [0.5, 0.5, 0.75]
    plain = by_hand(scale=Scale("identity", True), within=0.107)  # of the mean level: 0.098; as a ratio 0.102
    assert plain.equal()[1].tolist() == [0.5, 1.0, 0.0]
    assert by_hand(within=0.107).equal()[1].tolist() == [0.5, 1.0, 0.5]
    assert result.ratios()[2].tolist() == pytest.approx(np.exp([-0.3, 0.0, -0.1]))
    assert result.order() == [1, 0, 2]
    rough = {"negligible": 0.2}  # a and b are on the same level
    assert by_hand(**rough).order() == [1, 0, 2]
    assert by_hand(**rough, failing=np.array([0.0, 0.5, 0.0])).order() == [0, 1, 2]
    assert by_hand(**rough, failing=np.zeros(3), algorithms=("b", "a", "c")).order() == [1, 0, 2]
    exact = by_hand(negligible=0.0, failing=np.zeros(3))
    assert exact.order() == [1, 0, 2]
    assert exact.better()[0].tolist() == [0.5, 0.375, 0.75], "of the draw in which both are equal each has a half"
    assert Shares(0.1, 0.2, 0.0, 0.0, 0.0, 3).of_a_difference() == {"datasets": 0.0, "repeats": 0.0, "users": 0.0}
    ends = np.quantile(result.level, [0.5, 0.75, 0.25], axis=0).T
    assert result.levels() == pytest.approx(np.exp(-ends))
    frame = result.to_frame()
    assert frame.columns == ["algorithm", "level", "low", "high", "probability_best", "probability_first"]
    assert frame.row(0) == pytest.approx(("b", *result.levels()[1], 0.75, 0.0))
    assert result.pairs_frame().rows() == [
        ("b", "a", 0.75, 0.0, 0.5), ("b", "c", 1.0, 0.5, 0.5), ("a", "c", 0.75, 0.75, 0.0)
    ]  # fmt: skip
    frames = result.frames()
    assert frames["model_variances"].rows() == [
        ("algorithm", 0.1), ("dataset", 0.2), ("interaction", 0.3), ("repeats", 0.1), ("users", 0.0)
    ]  # fmt: skip
    assert frames["model_predicted"].rows() == [("a", "x", 0.4, 0.3, 0.6)]
    assert "model_predicted" not in by_hand(predicted=()).frames()
    data = result.to_dict()
    assert data["better"] == {"a": {"b": 0.25, "c": 0.75}, "b": {"a": 0.75, "c": 1.0}, "c": {"a": 0.25, "b": 0.0}}
    assert data["levels"]["b"] == {"estimate": result.levels()[1, 0], "interval": result.levels()[1, 1:].tolist()}
    assert data["variances"]["of_a_difference"] == pytest.approx({"datasets": 0.75, "repeats": 0.25, "users": 0.0})
    assert data["predicted"] == [{"algorithm": "a", "dataset": "x", "estimate": 0.4, "interval": [0.3, 0.6]}]
    assert data["settings"] == {
        "within": 0.12, "confidence": 0.5, "families": None, "draws": 4, "seed": 7, "moved_off_the_end": 0
    }  # fmt: skip


def test_noise_predictions_and_tipping_points_by_hand(monkeypatch):
    """b lacks y. Noise: deviations of two runs, pooled on the logit; users: what each algorithm has of its own."""
    seen = {}

    def fitted(scores, noise, families, shape, *rest, **named):
        seen.update(noise=np.frombuffer(noise).reshape(shape), scores=np.frombuffer(scores).reshape(shape))
        seen.update(families=np.frombuffer(families, dtype=np.int64).tolist(), rest=(*rest, *named.values()))
        cells = np.repeat(np.array([[[0.0, -0.3], [-1.0, -1.5], [0.5, 0.1]]]), 5, axis=0)
        cells[:, 1, 1] += np.array([-2, -1, 0, 1, 2]) / 10
        return SimpleNamespace(
            level=np.tile([0.5, 0.0], (5, 1)), new=np.zeros((5, 2)), cells=cells, shared=np.arange(5.0),
            interaction=np.ones(5), negligible=0.01, failing=np.zeros(2), r_hat=1.0, effective=5.0, error=0.1,
        )  # fmt: skip

    monkeypatch.setattr(model_fit, "_fitted", fitted)
    rows = [("a", "x", 0.4, 1), ("a", "x", 0.6, 2), ("b", "x", 0.25, 1), ("b", "x", 0.35, 2), ("a", "y", 0.2, 1),
            ("a", "z", 0.5, 1), ("b", "z", 0.4, 1)]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "value", "seed"], orient="row")
    table = Results.from_frame(frame.with_columns(metric=pl.lit("ndcg@10")))
    scores = np.array([[0.3, 0.7, 0.5, 0.5], [0.1, 0.6, 0.2, 0.3]])
    paired = [UserScores("x", ("b", "a"), scores, 0), UserScores("elsewhere", ("a", "b"), scores, 0),
              UserScores("y", ("a",), scores[:1], 0), UserScores("z", ("a", "b"), scores[:, :1], 0)]  # fmt: skip
    result = fit_model(table, "ndcg@10", users=lambda metric: (paired, {}), confidence=0.8, draws=77, seed=5)
    assert (seen["families"], seen["rest"]) == ([0, 1, 2], (77, 5, "ndcg@10"))
    slope = 1 / (np.array([0.5, 0.3]) * (1 - np.array([0.5, 0.3])))
    pooled = ((0.1 * np.sqrt(2) * slope[0]) ** 2 + (0.05 * np.sqrt(2) * slope[1]) ** 2) / 2
    own = np.cov(scores[::-1]) / 4 * np.outer(slope, slope)
    users = np.maximum(np.diag(own) - own[0, 1], 0.0)
    runs = np.array([[2, 2], [1, 1], [1, 1]])
    expected = pooled / runs + np.array([users, [0, 0], [0, 0]])
    assert seen["noise"] == pytest.approx(expected)
    assert result.shares == Shares(
        pytest.approx(0.125), 2.0, 1.0, pytest.approx((pooled / runs).mean()), pytest.approx(users.sum() / 6), 3
    )
    (cell,) = result.predicted
    assert (cell.algorithm, cell.dataset) == ("b", "y")
    logits = np.quantile([-1.7, -1.6, -1.5, -1.4, -1.3], [0.5, 0.1, 0.9])
    assert [cell.estimate, cell.low, cell.high] == pytest.approx(1 / (1 + np.exp(-logits)))
    (error,) = fit_model(table, "ndcg@10", higher_is_better=False, confidence=0.8).predicted
    assert [error.estimate, error.low, error.high] == pytest.approx(1 / (1 + np.exp(logits[[0, 2, 1]])))
    (point,) = result.tipping

    def without_lists(metric):
        raise NotApplicableError(f"{metric} has no scores of users")

    assert fit_model(table, "ndcg@10", users=without_lists).shares.users == 0
    lead = (-0.5 / 3) - (-1.7 / 3)
    assert (point.algorithm, point.cells, point.leader) == ("b", 1, "b")
    assert [point.expected, point.needed] == pytest.approx(1 / (1 + np.exp([1.5, 1.5 - 3 * lead])))


def test_a_report_asks_the_model_with_its_level_and_seed(monkeypatch):
    values = np.random.default_rng(2).uniform(0.2, 0.6, (4, 3))
    result = ANALYSIS.run(results_of(values), AnalysisSpec("ndcg@10", alpha=0.2, seed=3))
    assert (result.confidence, result.seed, result.families, result.within) == (0.8, 3, None, 0.02)
    assert result.level.tolist() == fit_model(results_of(values), "ndcg@10", seed=3).level.tolist()
    with pytest.raises(NotApplicableError, match="2 datasets say nothing of other datasets"):
        ANALYSIS.run(results_of(values[:2]), AnalysisSpec("ndcg@10"))
    asked = {}

    def fitted(results, metric, **options):
        asked.update(options, metric=metric)
        return SimpleNamespace(datasets=("x", "y", "z"))

    with monkeypatch.context() as patch:
        patch.setattr(model_fit, "fit_model", fitted)
        spec = AnalysisSpec("score", higher_is_better=False, alpha=0.1, seed=8, evidence={"users": lambda: "scores"})
        assert ANALYSIS.run(None, spec).datasets == ("x", "y", "z"), "three datasets are enough"
    assert asked == {"metric": "score", "higher_is_better": False, "users": "scores", "confidence": 0.9, "seed": 8}
    related = fit_model(results_of(np.tile(values, (3, 1))), "ndcg@10", draws=64,
                        families={f"d{j:02}": f"f{j // 2}" for j in range(12)})  # fmt: skip
    assert related.families == 6
    assert result.identical == ()
    twins = fit_model(results_of(values[:, [0, 1, 0, 2, 1]]), "ndcg@10", draws=64)
    assert twins.identical == (("a0", "a2"), ("a1", "a4"))
    lone = Results.from_frame(results_of(values).frame.filter(pl.col("algorithm") == "a0"))
    with pytest.raises(NotApplicableError, match="ndcg@10 has values of 1 algorithm on 4 datasets"):
        fit_model(lone, "ndcg@10")
    with pytest.raises(NotApplicableError, match="every value of ndcg@10 is 0: nothing was measured"):
        fit_model(results_of(np.zeros((3, 3))), "ndcg@10")
    for within in (0.0, 1.0):
        with pytest.raises(UsageError, match=f"within is {within}"):
            fit_model(results_of(values), "ndcg@10", within=within)


def test_the_draws_of_a_table_are_made_of_what_was_asked(monkeypatch):
    asked = {}
    monkeypatch.setattr(
        model_fit, "fit_hierarchical", lambda table, noise, **more: asked.update(more, table=table, noise=noise)
    )
    scores, families = np.arange(6.0).reshape(3, 2), np.array([0, 0, 1])
    given = scores.tobytes(), (scores / 10).tobytes(), families.tobytes(), (3, 2)
    model_fit._fitted.__wrapped__(*given, 77, 5, "auc")
    assert (asked["table"].tolist(), asked["noise"].tolist()) == (scores.tolist(), (scores / 10).tolist())
    assert (asked["families"].tolist(), asked["draws"]) == ([0, 0, 1], 77)
    assert asked["rng"].random() == derived_rng(5, "model", "auc").random()


def captured(sampler, monkeypatch):
    """The logarithms of chances that the sampler draws a setting by, one list per draw; it then takes the first."""
    seen = []

    def first(log_chance):
        seen.append(log_chance)
        return np.zeros(len(log_chance), dtype=np.int64)

    monkeypatch.setattr(sampler, "pick", first)
    return seen


def relative(log_chance):
    return log_chance - log_chance[:, :1]


def test_settings_are_drawn_by_the_marginal_likelihood_of_the_table(monkeypatch):
    """A matrix-t density in full: rows of a family share rho, and the level adds 1 / kappa to all of them."""
    rng = np.random.default_rng(5)
    scores, families = rng.normal(size=(6, 3)) + np.arange(3.0), np.array([0, 0, 1, 2, 2, 2])
    sampler = FullCovariance(scores, np.zeros((6, 3)), families, 2, rng)
    seen, tau = captured(sampler, monkeypatch), interactions(scores)
    np.testing.assert_allclose(sampler.contrasts @ np.ones(3), 0, atol=1e-12)
    np.testing.assert_allclose(sampler.contrasts @ sampler.contrasts.T, np.eye(2), atol=1e-12)
    middle = np.exp(np.log(tau).mean())
    contrast = sampler.table @ sampler.contrasts.T
    n, d = contrast.shape[1:]
    spares, widths, owns, relations = (2, 6, 20, 100), (0.3, 0.6, 1.2, 2.4), (0, 0.5, 1), (0, 0.3, 0.6, 0.8, 0.9, 0.96)
    kappas, prior = (0.1, 0.3, 1, 3, 10, 30, 1e6), (0.14, 0.14, 0.18, 0.18, 0.14, 0.12, 0.1)

    def rows_of(rho):
        return (1 - rho) * np.eye(n) + rho * (families[:, None] == families)

    def density(values, spare, width, own, relation, kappa):
        scale = np.diag(middle * (tau / middle) ** owns[own])
        scale = spares[spare] * widths[width] * sampler.contrasts @ scale @ sampler.contrasts.T
        rows = rows_of(relations[relation]) + 1 / kappa
        degrees = spares[spare] + d + 1
        whole = scale + values.T @ np.linalg.inv(rows) @ values
        return (
            multigammaln((degrees + n) / 2, d) - multigammaln(degrees / 2, d) - d / 2 * np.linalg.slogdet(rows)[1]
            + degrees / 2 * np.linalg.slogdet(scale)[1] - (degrees + n) / 2 * np.linalg.slogdet(whole)[1]
        )  # fmt: skip

    for axis, size in enumerate((4, 4, 3, 6)):
        before = sampler.state.copy()
        sampler._settings(*sampler._products(contrast))
        expected = []
        for chain in range(2):
            tried = [before[chain].copy() for _ in range(size)]
            for at, state in enumerate(tried):
                state[axis] = at
            expected.append(
                [density(contrast[chain], *state, kappa) + np.log(share)
                 for state in tried for kappa, share in zip(kappas, prior, strict=True)]
            )  # fmt: skip
        assert relative(seen[-1]) == pytest.approx(relative(np.array(expected)), rel=1e-6, abs=1e-6)
        assert sampler.state[:, axis].tolist() == [0, 0]
    row = rng.normal(size=(2, 6))
    relation, centre, squares = sampler._rows(row)
    expected = []
    for values in row:
        inverses = [np.linalg.inv(rows_of(rho)) for rho in relations]
        means = [inverse.sum(axis=0) @ values / inverse.sum() for inverse in inverses]
        rest = [(values - m) @ inverse @ (values - m) for m, inverse in zip(means, inverses, strict=True)]
        expected.append(
            [-(np.linalg.slogdet(rows_of(rho))[1] + np.log(inverse.sum()) + 5 * np.log(left)) / 2
             for rho, inverse, left in zip(relations, inverses, rest, strict=True)]
        )  # fmt: skip
    assert relative(seen[-1]) == pytest.approx(relative(np.array(expected)))
    assert centre == pytest.approx(row.mean(axis=1))  # the first relation is none
    assert squares == pytest.approx(6 * row.var(axis=1))
    assert relation.tolist() == [0, 0]


def test_what_a_family_shares_is_drawn_given_its_members(monkeypatch):
    """u ~ N(0, rho), members u + N(0, 1 - rho): a mean and a variance that stand in every textbook."""
    families = np.array([0, 0, 1, 2, 2, 2])
    sampler = FullCovariance(np.random.default_rng(1).normal(size=(6, 3)), np.zeros((6, 3)), families, 1,
                             np.random.default_rng(1))  # fmt: skip
    residual = np.arange(1.0, 7)[None, :, None]
    for chance in (0.0, 1.0):
        drawn = SimpleNamespace(standard_normal=lambda shape, chance=chance: np.full(shape, chance))
        monkeypatch.setattr(sampler, "rng", drawn)
        found = sampler._common(residual, np.array([2]), np.array([[[2.0]]]))[0, :, 0]
        members, sums, rho = np.array([2, 2, 1, 3, 3, 3]), np.array([3, 3, 3, 15, 15, 15]), 0.6
        precision = 1 / rho + members / (1 - rho)
        assert found == pytest.approx(sums / (1 - rho) / precision + 2 * chance / np.sqrt(precision))


def test_chains_start_from_the_table_and_pick_by_chance(monkeypatch):
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(7, 3))
    scores[2, 1] = np.nan
    sampler = FullCovariance(scores, np.full((7, 3), 1e-9), np.arange(7), 2, rng)
    fitted = first_guess(scores, np.isnan(scores))
    tau = interactions(fitted)
    assert sampler.negligible == pytest.approx(1e-4 * fitted.std())
    assert sampler.noise == pytest.approx(np.tile(1e-4 * tau, (7, 1)))
    assert sampler.table[1] == pytest.approx(without_outliers(fitted, tau)[0])
    kinds = np.exp(sampler.log_kinds)
    assert kinds[:3].tolist() == pytest.approx([0.94, 0.03, 0.02])
    assert kinds.sum() == pytest.approx(1.0)
    assert sampler.added == pytest.approx(tau[:, None] * [0, *(6.0**power for power in range(1, len(kinds)))])
    monkeypatch.setattr(sampler, "rng", SimpleNamespace(random=lambda shape: np.array([[0.25], [0.65]])))
    assert sampler.pick(np.log([[0.2, 0.1, 0.7], [5.0, 1.0, 4.0]])).tolist() == [1, 2]


def test_few_factors_draw_their_settings_by_the_density(monkeypatch):
    """kappa with levels, factors and the datasets' mean summed out; h by the inverse gamma density of the variances."""
    rng = np.random.default_rng(3)
    sampler = FewFactors(rng.normal(size=(8, 6)) + np.arange(6), np.zeros((8, 6)), 2, rng)
    seen = captured(sampler, monkeypatch)
    rest = sampler.table - sampler.factor @ sampler.load.swapaxes(1, 2)
    own, load, middle = sampler.interaction.copy(), sampler.load.copy(), sampler.middle
    mean = (sampler.table - sampler.row[:, :, None]).mean(axis=1)
    sampler._levels(rest)
    kappas, prior = (0.1, 0.3, 1, 3, 10, 30, 1e6), (0.14, 0.14, 0.18, 0.18, 0.14, 0.12, 0.1)
    expected = []
    for chain in range(2):
        row = []
        for kappa, share in zip(kappas, prior, strict=True):
            whole = np.diag(middle / kappa + own[chain] / 8) + load[chain] @ load[chain].T / 8
            inverse = np.linalg.inv(whole)
            off = mean[chain] - inverse.sum(axis=0) @ mean[chain] / inverse.sum()
            row.append(
                np.log(share) - (np.linalg.slogdet(whole)[1] + np.log(inverse.sum()) + off @ inverse @ off) / 2
            )  # fmt: skip
        expected.append(row)
    assert relative(seen[-1]) == pytest.approx(relative(np.array(expected)))
    sampler._variances(rest)
    scale, closeness = sampler.scale, (1.5, 4.0, 12.0, 50.0)
    density = [
        [stats.invgamma.logpdf(sampler.interaction[c], h, scale=h * scale[c]).sum() for h in closeness]
        for c in range(2)
    ]
    assert relative(seen[-1]) == pytest.approx(relative(np.array(density)))


def test_a_step_draws_levels_and_new_scores_with_the_moments_of_their_posterior(monkeypatch):
    """Many chains on one fixed table with fixed settings: means and covariances as the textbook has them."""
    scores, chains = np.random.default_rng(4).normal(size=(12, 3)) + np.arange(3.0), 6000
    sampler = FullCovariance(scores, np.zeros((12, 3)), np.arange(12), chains, np.random.default_rng(4))
    sampler.state, sampler.kappa = np.tile([3, 2, 1, 0], (chains, 1)), np.full(chains, 3.0)
    seen = {}
    monkeypatch.setattr(sampler, "_settings", lambda products, totals: None)
    monkeypatch.setattr(sampler, "sweep_cells", lambda precision, expected: seen.update(p=precision, e=expected))
    level, new, variances, _ = sampler.step()
    table, back, weights = sampler.table[0], sampler.back, sampler.weights
    contrast, row, size = table @ sampler.contrasts.T, table @ weights, 15.0
    total = contrast.sum(axis=0)
    scale = 100 * 1.2 * sampler.bases[1] + contrast.T @ contrast - np.outer(total, total) / size
    inner = scale / (100 + 3 + 12 - 2 - 1)  # the mean of an inverse Wishart matrix
    shared = ((row - row.mean()) ** 2).sum() / (11 - 2)
    ones, between = np.ones((3, 3)), back @ inner @ back.T
    assert level.mean(axis=0) == pytest.approx(row.mean() + back @ total / size, abs=0.03)
    assert np.cov(level.T) == pytest.approx(shared / 12 * ones + between / size, rel=0.12, abs=0.012)
    assert np.cov((new - level).T) == pytest.approx(shared * ones + between, rel=0.12, abs=0.06)
    whole = np.linalg.inv(seen["p"])  # the covariance of the algorithms on a dataset
    diagonal = np.trace(whole, axis1=1, axis2=2) / 3
    common = (whole.sum(axis=(1, 2)) - 3 * diagonal) / 6
    assert variances == pytest.approx(np.stack([common, diagonal - common], axis=1))
    assert (seen["e"] == level[:, None]).all()


def test_one_algorithm_alone_is_a_mean_with_students_t(monkeypatch):
    scores = np.array([[1.0], [2.0], [4.0], [5.0]])
    sampler = FullCovariance(scores, np.zeros((4, 1)), np.arange(4), 2, np.random.default_rng(1))
    degrees = []

    def chisquare(df, size):
        degrees.append(df)
        return np.full(size, 2.0)

    drawn = SimpleNamespace(chisquare=chisquare, standard_normal=lambda shape: np.full(shape, 0.5))
    monkeypatch.setattr(sampler, "rng", drawn)
    level, new, variances, outlier = sampler.step()
    values = sampler.table[0, :, 0]
    variance = ((values - values.mean()) ** 2).sum() / 2
    assert degrees == [3]
    assert level.ravel() == pytest.approx(np.full(2, values.mean() + 0.5 * np.sqrt(variance / 4)))
    assert new == pytest.approx(level + 0.5 * np.sqrt(variance))
    assert variances.tolist() == [[variance, 0.0]] * 2
    assert not outlier.any()
