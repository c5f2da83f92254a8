"""Logistic IRT: textbook numbers, the paper's tables, recovery of known parameters, and awkward tables."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recassay
from recassay.analysis.logistic_irt import em as logistic_em
from recassay.analysis.logistic_irt import errors as logistic_errors
from recassay.analysis.logistic_irt import fit as logistic_fit
from recassay.analysis.logistic_irt.ability import estimate_abilities
from recassay.analysis.logistic_irt.em import ADAPTING, EMRun, LogisticFit, fit_em
from recassay.analysis.logistic_irt.errors import item_covariance
from recassay.analysis.logistic_irt.fit import fit_logistic, score_logistic
from recassay.analysis.logistic_irt.grid import (
    AbilityGrid,
    grid,
    grid_log_likelihood,
    interpolation,
    posterior_on_grid,
    window,
)
from recassay.analysis.logistic_irt.items import STEEPEST, bounded, maximise_items, slopes
from recassay.analysis.logistic_irt.model import (
    blocks,
    item_information,
    log_right_wrong,
    probabilities,
    test_information,
    true_score,
)
from recassay.analysis.logistic_irt.priors import ItemPriors, ItemState
from recassay.analysis.logistic_irt.result import PARAMETERS
from recassay.analysis.logistic_irt.start import constant_items, standardised, starting_state, with_constant
from recassay.core.errors import InputError, UsageError
from recassay.core.tables.responses import LogisticItems, Responses
from recassay.core.words import listing
from recassay.data.tables.responses import read_items, read_responses
from recassay.reporting.drawing import render
from recassay.reporting.figures import figures
from support.vega import assert_valid

test_information.__test__ = False

TABLE_1 = [[1, 0, 0, 1, 1], [0, 0, 1, 1, 0], [1, 1, 0, 1, 0], [0, 0, 1, 1, 1], [1, 0, 1, 0, 0]]
TABLE_2 = ([1.199, 1.319, 0.760, 1.462, 1.552], [-0.899, 0.255, -1.054, -0.809, -0.156],
           [0.242, 0.262, 0.241, 0.274, 0.275])  # fmt: skip
"""Responses and items of Cardoso et al., Tables 1 and 2."""


def paper_items() -> LogisticItems:
    return LogisticItems.from_difficulty([f"item{i + 1}" for i in range(5)], *TABLE_2)


def simulated(n, m, seed, *, guessing=False, negative=0.0):
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=n)
    a = np.exp(rng.normal(0.2, 0.35, m)) * np.where(rng.random(m) < negative, -1, 1)
    b, c = rng.normal(0, 1, m), rng.beta(5, 17, m) if guessing else np.zeros(m)
    items = LogisticItems.from_difficulty([f"item{i + 1}" for i in range(m)], a, b, c)
    return Responses.from_array((rng.random((n, m)) < probabilities(theta, items)).astype(int)), theta, items


def inside(interval, truth):
    return (interval[..., 0] < truth) & (truth < interval[..., 1])


def test_lsat7():
    responses = recassay.load_responses("published:lsat7")
    found = fit_em(responses, "2pl")
    assert found.converged
    assert found.items.slope == pytest.approx([0.9875, 1.0808, 1.7075, 0.7650, 0.7357], abs=2e-4)
    assert found.items.intercept == pytest.approx([1.8559, 0.8080, 1.8052, 0.4860, 1.8545], abs=2e-4)
    assert found.log_likelihood == pytest.approx(-2658.8051, abs=1e-4)
    patterns = Responses.from_array([[0, 0, 0, 0, 0], [1, 0, 1, 0, 1], [1, 1, 1, 1, 1]])
    eap = estimate_abilities(patterns, found.items, "eap")
    assert eap.estimate == pytest.approx([-1.8698, -0.3034, 0.7272], abs=2e-4)
    assert eap.standard_error[0] == pytest.approx(0.6927, abs=2e-4)


def test_lsat6():
    responses = recassay.load_responses("published:lsat6")
    two = fit_em(responses, "2pl")
    assert two.log_likelihood == pytest.approx(-2466.6534, abs=1e-4)
    assert two.items.slope == pytest.approx([0.8257, 0.7227, 0.8909, 0.6884, 0.6569], abs=2e-4)
    rasch = fit_em(responses, "1pl", tolerance=2e-5)
    assert rasch.items.slope == pytest.approx(np.full(5, 0.7551), abs=1e-4)
    assert rasch.log_likelihood == pytest.approx(-2466.9376, abs=1e-4)


def test_the_papers_true_scores():
    result = recassay.logistic_irt(np.array(TABLE_1), "3pl", items=paper_items())
    assert result.true_scores[:4] == pytest.approx([3.457, 2.214, 3.169, 3.063], abs=0.002)
    assert result.true_scores[4] == pytest.approx(2.206, abs=0.03)
    assert result.abilities.method == "ml"


@pytest.mark.slow
def test_the_papers_true_scores_from_the_command(cli, tmp_path):
    names = [f"Item {i + 1}" for i in range(5)]
    rows = [[f"Individual {r + 1}", *row] for r, row in enumerate(TABLE_1)]
    pl.DataFrame(rows, schema=["respondent", *names], orient="row").write_csv(tmp_path / "responses.csv")
    discrimination, difficulty, guessing = TABLE_2
    pl.DataFrame(
        {"item": names, "discrimination": discrimination, "difficulty": difficulty, "guessing": guessing}
    ).reverse().write_csv(tmp_path / "items.csv")
    ran = cli(
        "irt", "logistic", tmp_path / "responses.csv", "--model", "3pl", "--items", tmp_path / "items.csv", "--json"
    )
    assert ran.code == 0
    shown = ran.json()
    assert list(shown["true_score"].values()) == pytest.approx([3.456, 2.214, 3.169, 3.063, 2.18], abs=0.001)
    assert set(shown["ability"]["Individual 1"]) >= {"estimate", "interval"}
    assert shown["items"]["Item 2"] == pytest.approx(
        {"discrimination": 1.319, "difficulty": 0.255, "guessing": 0.262}
    )  # fmt: skip
    fitted = cli("irt", "logistic", tmp_path / "responses.csv", "--model", "2pl", "--priors", "--out", tmp_path / "out")
    assert fitted.code == 0
    assert (tmp_path / "out" / "figures" / "item_curves.svg").exists()
    assert cli("irt", "logistic", tmp_path / "responses.csv", "--model", "4pl").code == 2


def test_a_table_as_large_as_the_papers():
    """139 classifiers on 500 instances, every discrimination positive."""
    responses, truth, items = simulated(139, 500, 3, guessing=True)
    result = recassay.logistic_irt(responses, "3pl")
    assert result.converged
    assert result.gradient < 0.01
    assert np.corrcoef(result.abilities.estimate, truth)[0, 1] > 0.99
    assert np.sqrt(np.mean((result.abilities.estimate - truth) ** 2)) < 0.15
    assert np.sqrt(np.mean((result.items.slope - items.slope) ** 2)) < 0.5
    assert np.sqrt(np.mean((result.items.guessing - items.guessing) ** 2)) < 0.1
    assert np.median(np.abs(result.items.difficulty - items.difficulty)) < 0.3
    assert 0.9 <= inside(result.item_intervals[:, 0], items.slope).mean() <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "m", "model", "negative", "seeds"),
    [
        (139, 500, "2pl", 0.0, range(3)),
        (139, 500, "3pl", 0.1, range(3)),
        (1000, 2000, "2pl", 0.1, range(1)),
        (1000, 2000, "3pl", 0.1, range(1)),
    ],
)
def test_recovery(n, m, model, negative, seeds, record_property):
    """Correlations and errors of each parameter, and the coverage of the 95 % intervals over all tables."""
    covered: dict[str, list[float]] = {}
    large = n >= 1000
    for seed in seeds:
        responses, theta, items = simulated(n, m, seed, guessing=model == "3pl", negative=negative)
        result = fit_logistic(responses, model, priors=True)
        assert result.converged
        assert np.corrcoef(result.abilities.estimate, theta)[0, 1] > (0.995 if large else 0.98)
        assert np.sqrt(np.mean((result.abilities.estimate - theta) ** 2)) < (0.1 if large else 0.25)
        assert np.corrcoef(result.items.slope, items.slope)[0, 1] > (0.95 if large else 0.7)
        assert np.median(np.abs(result.items.difficulty - items.difficulty)) < (0.15 if large else 0.35)
        clear = np.abs(items.slope) > 0.6
        assert (np.sign(result.items.slope) == np.sign(items.slope))[clear].mean() > 0.985
        covered.setdefault("ability", []).append(inside(result.ability_intervals, theta).mean())
        covered.setdefault("slope", []).append(inside(result.item_intervals[:, 0], items.slope).mean())
        covered.setdefault("difficulty", []).append(inside(result.item_intervals[:, 1], items.difficulty).mean())
        if model == "3pl":
            assert np.sqrt(np.mean((result.items.guessing - items.guessing) ** 2)) < 0.1
            covered.setdefault("guessing", []).append(inside(result.item_intervals[:, 2], items.guessing).mean())
    for name, values in covered.items():
        record_property(f"{name} {n} x {m} {model}", f"cover {np.mean(values):.3f}")
        assert 0.9 <= np.mean(values) <= 0.98, (name, values)


def test_few_nodes_serve_many_points():
    responses, _, items = simulated(40, 3_000, 3, guessing=True, negative=0.1)
    points = grid(items)
    few = AbilityGrid.of(points, items.slope)
    assert len(few.nodes) < len(points) / 2
    coarse, marginal = posterior_on_grid(responses, items, few)
    fine, exact = posterior_on_grid(responses, items, AbilityGrid(points, points))
    assert marginal == pytest.approx(exact, abs=1e-3)
    assert np.abs(coarse - fine).max() < 1e-4
    assert few.to_nodes(fine).sum(axis=1) == pytest.approx(np.ones(40))
    steep = AbilityGrid.of(points, np.append(items.slope, 25.0))
    assert len(steep.nodes) > 2 * len(few.nodes)


def test_single_precision_changes_little(monkeypatch):
    from recassay.analysis.logistic_irt import grid as logistic_grid

    responses, _, _ = simulated(60, 300, 4, guessing=True)
    double = fit_logistic(responses, "3pl")
    monkeypatch.setattr(logistic_grid, "DOUBLE", 0)
    single = fit_logistic(responses, "3pl")
    assert single.converged
    assert single.items.slope == pytest.approx(double.items.slope, abs=2e-3)
    assert single.abilities.estimate == pytest.approx(double.abilities.estimate, abs=1e-3)


def test_an_extrapolation_finds_the_limit_of_a_slow_iteration():
    from recassay.analysis.inference.extrapolation import Extrapolation

    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    matrix = turn @ np.diag([0.99, 0.95, 0.9, 0.1, 0.05, 0.0]) @ turn.T
    goal = rng.normal(size=6)
    plain = x = np.zeros(6)
    guess = Extrapolation()
    for _ in range(12):
        plain = goal + matrix @ (plain - goal)
        x = guess.ahead(x, goal + matrix @ (x - goal))
    assert np.abs(x - goal).max() < 1e-4
    assert np.abs(plain - goal).max() > 0.1
    guess.forget()
    assert guess.steps == 0


def test_block_errors_agree_with_the_whole_matrix(monkeypatch):
    responses, _, _ = simulated(500, 30, 5)
    found = fit_em(responses, "2pl")
    whole = item_covariance(responses, found, "2pl")
    monkeypatch.setattr(logistic_errors, "JOINT", 0)
    block = item_covariance(responses, found, "2pl")
    for k in (0, 1):
        assert np.sqrt(block[:, k, k]) == pytest.approx(np.sqrt(whole[:, k, k]), rel=0.1)


def numeric_information(responses, found, h=1e-3):
    """Minus the second differences of the marginal log-likelihood in one slope and one intercept."""

    def value(slope, intercept):
        items = LogisticItems(found.items.names, slope, intercept, found.items.guessing)
        return posterior_on_grid(responses, items, found.grid)[1].sum()

    flat = np.concatenate([found.items.slope, found.items.intercept])
    m, p = len(found.items.slope), len(flat)
    hessian = np.empty((p, p))
    for i in range(p):
        for j in range(p):
            total = 0.0
            for si in (-1, 1):
                for sj in (-1, 1):
                    x = flat.copy()
                    x[i] += si * h
                    x[j] += sj * h
                    total += si * sj * value(x[:m], x[m:])
            hessian[i, j] = -total / (4 * h * h)
    return np.linalg.inv(hessian)


@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_errors_are_those_of_the_likelihood(gaps):
    responses, _, _ = simulated(400, 6, 2)
    lost = np.random.default_rng(3).random((400, 6)) < gaps
    responses = Responses.from_array(np.where(lost, np.nan, responses.codes))
    found = fit_em(responses, "2pl", tolerance=1e-6)
    ours = item_covariance(responses, found, "2pl")
    numeric = numeric_information(responses, found)
    assert np.sqrt(ours[:, 0, 0]) == pytest.approx(np.sqrt(np.diag(numeric)[:6]), rel=2e-3)
    assert np.sqrt(ours[:, 1, 1]) == pytest.approx(np.sqrt(np.diag(numeric)[6:]), rel=2e-3)


def test_errors_by_item_are_those_of_its_own_parameters_and_of_the_scale(monkeypatch):
    """With the other items held, and the variances of origin and unit, 1 / n and 1 / (2 n), added."""
    responses, _, _ = simulated(200, 5, 2)
    lost = np.random.default_rng(3).random((200, 5)) < 0.2
    responses = Responses.from_array(np.where(lost, np.nan, responses.codes))
    found = fit_em(responses, "2pl", tolerance=1e-6)
    asked, whole = [], logistic_errors._joint
    monkeypatch.setattr(logistic_errors, "_joint", lambda *given: asked.append(given) or whole(*given))
    monkeypatch.setattr(logistic_errors, "JOINT", 10)  # five items with two parameters each
    item_covariance(responses, found, "2pl")
    monkeypatch.setattr(logistic_errors, "JOINT", 9)
    block = item_covariance(responses, found, "2pl")
    assert len(asked) == 1
    h = 1e-3

    def value(by_slope, by_intercept):
        slope, intercept = found.items.slope.copy(), found.items.intercept.copy()
        slope[0] += by_slope
        intercept[0] += by_intercept
        items = LogisticItems(found.items.names, slope, intercept, found.items.guessing)
        return posterior_on_grid(responses, items, found.grid)[1].sum()

    middle = value(0, 0)
    own = [(2 * middle - value(h, 0) - value(-h, 0)) / h**2, (2 * middle - value(0, h) - value(0, -h)) / h**2]
    cross = -(value(h, h) - value(h, -h) - value(-h, h) + value(-h, -h)) / (4 * h**2)
    expected = np.linalg.inv([[own[0], cross], [cross, own[1]]])
    slope = found.items.slope[0]
    assert block[0, :2, :2] == pytest.approx(expected + np.diag([slope**2 / 400, slope**2 / 200]), rel=2e-3)


def test_the_likelihood_never_falls():
    responses, _, _ = simulated(60, 80, 3, guessing=True, negative=0.1)
    for model, priors in (("1pl", None), ("2pl", ItemPriors()), ("3pl", ItemPriors())):
        run = EMRun(responses, model, priors, tolerance=1e-4)
        while run.cycle < 25 and not run.converged:
            run.advance()
        settled = ADAPTING[-1] if priors else 0
        assert np.diff(run.history[settled:]).min() > -1e-3, model


def test_the_grid_grows_with_the_root_of_the_items():
    sizes = [len(grid(simulated(2, m, 0)[2])) for m in (500, 5_000)]
    assert sizes[1] / sizes[0] == pytest.approx(np.sqrt(10), rel=0.05)
    assert len(grid(paper_items())) == 61


def test_respondents_that_agree_wholly_have_finite_slopes():
    """A Guttman scale: every respondent has right what a lesser one has. The likelihood has no maximum."""
    codes = (np.arange(40)[:, None] > np.repeat(np.arange(2, 38), 4)[None, :]).astype(np.uint8)
    responses = Responses(codes, tuple(f"r{i}" for i in range(40)), tuple(f"i{i}" for i in range(144)))
    found = fit_em(responses, "3pl", priors=ItemPriors(unit_deviation=0.1))
    assert found.converged
    assert found.gradient < 0.05
    assert 1 < found.items.slope.mean() < 15
    assert np.all(np.diff(found.posterior @ found.grid.points) > -1e-9)


@given(st.floats(0.2, 5), st.integers(3, 500), st.floats(0.1, 10), st.floats(0.05, 2))
def test_the_spread_maximises_its_objective(variance, n, unit, deviation):
    priors = ItemPriors(unit=unit, unit_deviation=deviation)
    best = priors.spread(variance, n)

    def objective(sigma):
        return -n * np.log(sigma) - n * variance / (2 * sigma**2) - (np.log(sigma * unit) / deviation) ** 2 / 2

    assert objective(best) >= max(objective(best * 1.001), objective(best / 1.001))


def test_thousands_of_items_do_not_underflow():
    responses, theta, _ = simulated(30, 2_000, 1)
    found = fit_em(responses, "2pl", priors=ItemPriors(), tolerance=5e-2)
    assert np.isfinite(found.log_likelihood)
    assert np.corrcoef(found.posterior @ found.grid.points, theta)[0, 1] > 0.99
    with np.errstate(divide="ignore"):
        assert np.isneginf(np.log(np.exp(found.log_likelihood / 30)))


def test_blocks_change_nothing(monkeypatch):
    from recassay.analysis.logistic_irt import model as logistic_model

    responses, _, _ = simulated(50, 60, 4, guessing=True)
    whole = fit_logistic(responses, "3pl", tolerance=1e-2)
    monkeypatch.setattr(logistic_model, "BLOCK_CELLS", 1 << 11)
    parts = fit_logistic(responses, "3pl", tolerance=1e-2)
    assert parts.items.slope == pytest.approx(whole.items.slope, abs=1e-6)
    assert parts.item_errors[:, 0] == pytest.approx(whole.item_errors[:, 0], abs=1e-5)


def test_constant_items_and_missing_responses():
    responses, theta, items = simulated(200, 60, 6)
    table = responses.codes.astype(float)
    table[:, 0], table[:, 1] = 1, 0
    table[np.random.default_rng(0).random(table.shape) < 0.2] = np.nan
    result = fit_logistic(Responses.from_array(table), "2pl")
    assert result.converged
    assert result.constant[:2].all()
    assert not result.constant[2:].any()
    assert np.isnan(result.items.difficulty[:2]).all()
    assert probabilities([0.0], result.items)[0, 0] > 0.99
    assert "2 of 60" in " ".join(result.notes)
    assert result.to_dict()["constant_items"] == ["item1", "item2"]
    assert np.corrcoef(result.abilities.estimate, theta)[0, 1] > 0.9
    assert np.corrcoef(result.items.slope[2:], items.slope[2:])[0, 1] > 0.6
    for method in ("ml", "map"):
        other = estimate_abilities(Responses.from_array(table), result.items, method)
        assert np.corrcoef(other.estimate, result.abilities.estimate)[0, 1] > 0.95


def test_nothing_varies():
    result = fit_logistic(Responses.from_array([[1, 0], [1, 0], [1, 0]]), "3pl")
    assert result.abilities.estimate == pytest.approx(np.zeros(3), abs=1e-9)
    assert result.abilities.standard_error == pytest.approx(np.ones(3), abs=1e-3)
    assert result.summary()["negative_share"] == 0.0
    assert np.isnan(result.summary()["mean_difficulty"])
    birnbaum = fit_logistic(Responses.from_array([[1, 0], [1, 0], [1, 0]]), "2pl", estimator="birnbaum", ability="map")
    assert (birnbaum.change, birnbaum.abilities.method) == (0.0, "map")


def test_a_separable_item_without_priors_is_not_called_converged():
    theta = np.linspace(-2, 2, 80)
    rng = np.random.default_rng(0)
    table = (rng.random((80, 40)) < 1 / (1 + np.exp(-3 * (theta[:, None] - rng.normal(0, 1, 40))))).astype(int)
    table[:, 0] = theta > 0
    result = fit_logistic(Responses.from_array(table), "2pl", max_cycles=60)
    if np.abs(result.items.slope[0]) > 20:
        assert not result.converged
        assert "priors" in " ".join(result.notes)
    with_priors = fit_logistic(Responses.from_array(table), "2pl", priors=True)
    assert fit_em(Responses.from_array(table), "2pl", priors=ItemPriors(adaptive=False)).converged
    assert with_priors.converged
    assert np.abs(with_priors.items.slope).max() < 20


@pytest.mark.slow
@pytest.mark.parametrize("model", ["1pl", "2pl", "3pl"])
@pytest.mark.parametrize("priors", [None, False])
def test_tables_too_small_for_the_model_end_without_a_traceback(model, priors):
    """A Guttman scale without a finite slope, three respondents, answers of all and of nobody, and gaps."""
    rng = np.random.default_rng(4)
    guttman = np.linspace(0, 1, 5)[:, None] >= np.linspace(0.05, 0.95, 9)
    three, six = (rng.random((n, m)) < rng.random((n, 1)) for n, m in ((3, 10), (6, 4)))
    six[0], six[-1] = True, False
    gaps = np.where(rng.random((4, 6)) < 0.3, np.nan, rng.random((4, 6)) < 0.5)
    for table in (guttman, three, six, gaps):
        result = recassay.logistic_irt(table.astype(float), model, priors=priors, max_cycles=100)
        assert np.abs(result.items.slope).max() <= 25
        assert np.isfinite(result.abilities.estimate).all()
        assert np.isfinite(result.ability_intervals).all()
        assert result.converged or "did not converge" in result.notes[0]


def test_few_respondents_have_priors_unless_they_are_refused():
    few, many = (simulated(n, 12, 3)[0] for n in (12, 60))

    def slopes(table, priors):
        return fit_logistic(table, "2pl", priors=priors).items.slope.tolist()

    assert fit_logistic(few, "2pl").converged
    assert slopes(few, None) == slopes(few, True) != slopes(few, False)
    assert slopes(many, None) == slopes(many, False)


def test_stopping_early_is_said():
    responses, _, _ = simulated(60, 30, 8)
    result = fit_logistic(responses, "2pl", max_cycles=2)
    assert (result.converged, result.cycles) == (False, 2)
    assert "did not converge" in result.notes[0]


def test_priors_and_limits_are_passed_on_as_the_model_needs_them(monkeypatch):
    asked = {}

    class Asked(Exception):
        pass

    def fitted(responses, model, **options):
        asked.update(options)
        raise Asked

    monkeypatch.setattr(logistic_fit, "fit_em", fitted)
    own = ItemPriors(slope_deviation=0.5)
    for n, model, priors, used in (
        (49, "2pl", None, ItemPriors()), (50, "2pl", None, None), (49, "1pl", None, None),
        (50, "3pl", None, ItemPriors()), (49, "2pl", False, None), (50, "3pl", False, None),
        (50, "1pl", True, ItemPriors()), (50, "2pl", own, own),
    ):  # fmt: skip
        with pytest.raises(Asked):
            fit_logistic(simulated(n, 3, 1)[0], model, priors=priors, tolerance=0.25, max_cycles=7)
        assert asked == {"priors": used, "tolerance": 0.25, "max_cycles": 7}, (n, model, priors)


@pytest.mark.parametrize("priors", [False, True])
def test_birnbaums_items_are_logistic_regressions_on_the_accuracies(priors):
    """Where the derivatives of the likelihood, with the prior of the slope, are 0; missing answers say nothing."""
    responses, _, _ = simulated(120, 6, 3)
    lost = np.random.default_rng(4).random((120, 6)) < 0.25
    responses = Responses.from_array(np.where(lost, np.nan, responses.codes))
    found = fit_logistic(responses, "2pl", estimator="birnbaum", priors=priors)
    share = np.nanmean(np.where(lost, np.nan, responses.codes), axis=1)
    theta = (share - share.mean()) / share.std()
    right = 1 / (1 + np.exp(-theta[:, None] * found.items.slope - found.items.intercept))
    left = np.where(lost, 0.0, (responses.codes == 1) - right)
    pull = found.items.slope - 1.0 if priors else 0.0
    assert left.sum(axis=0) == pytest.approx(np.zeros(6), abs=1e-4)
    assert theta @ left - pull == pytest.approx(np.zeros(6), abs=1e-4)


@pytest.mark.slow
def test_birnbaum():
    responses, theta, items = simulated(139, 100, 9, guessing=True)
    result = recassay.logistic_irt(responses, "3pl", estimator="birnbaum")
    assert result.estimator == "birnbaum"
    assert np.corrcoef(np.clip(result.abilities.estimate, -4, 4), theta)[0, 1] > 0.9
    assert np.corrcoef(result.items.slope, items.slope)[0, 1] > 0.5
    abilities = estimate_abilities(Responses.from_array(TABLE_1), paper_items(), "ml")
    assert true_score(abilities.estimate, paper_items())[0] == pytest.approx(3.456, abs=0.001)


@pytest.mark.parametrize(("method", "pull"), [("ml", 0.0), ("map", 1.0)])
@pytest.mark.parametrize("seed", [0, 4, 7])
def test_abilities_are_where_the_likelihood_is_highest(method, pull, seed):
    """Answers are missing, one respondent has all right, and guessing makes the steps of the search too short."""
    responses, _, items = simulated(40, 25, seed, guessing=True)
    codes = np.where(np.random.default_rng(seed).random((40, 25)) < 0.1, 2, responses.codes).astype(np.uint8)
    codes[0] = 1
    found = estimate_abilities(Responses(codes, responses.respondents, responses.items), items, method)
    theta = np.linspace(-6, 6, 24_001)
    right = probabilities(theta, items)
    height = np.log(right) @ (codes == 1).T + np.log1p(-right) @ (codes == 0).T - pull * theta[:, None] ** 2 / 2
    assert found.estimate == pytest.approx(theta[height.argmax(axis=0)], abs=2.6e-4)
    information = (item_information(found.estimate, items) * (codes != 2)).sum(axis=1)
    assert found.standard_error == pytest.approx(1 / np.sqrt(information + pull))
    assert found.at_bound.tolist() == (np.abs(found.estimate) == 6).tolist()
    assert found.at_bound[0] == (method == "ml")


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_information_is_the_variance_of_the_score(seed):
    rng = np.random.default_rng(seed)
    items = LogisticItems.from_difficulty(["x"], [rng.normal(1, 1)], [rng.normal()], [rng.uniform(0, 0.5)])
    theta, h = float(rng.normal()), 1e-5
    p = probabilities([theta], items)[0, 0]
    slope = (probabilities([theta + h], items)[0, 0] - probabilities([theta - h], items)[0, 0]) / (2 * h)
    assert item_information([theta], items)[0, 0] == pytest.approx(slope**2 / (p * (1 - p)), rel=1e-5, abs=1e-9)
    assert test_information([theta], items)[0] == pytest.approx(item_information([theta], items).sum())


@settings(max_examples=15)
@given(st.integers(0, 1000))
def test_ml_and_map_are_maxima(seed):
    responses, _, items = simulated(8, 12, seed, guessing=True)
    for method in ("ml", "map"):
        found = estimate_abilities(responses, items, method)
        fine = np.linspace(-6, 6, 1201)
        height = grid_log_likelihood(responses, items, fine) - (fine**2 / 2 if method == "map" else 0)
        for r in range(8):
            at = grid_log_likelihood(responses, items, found.estimate[r : r + 1])[r, 0]
            at -= found.estimate[r] ** 2 / 2 if method == "map" else 0
            assert at >= height[r].max() - 1e-4


def test_an_order_of_rows_and_items_changes_nothing():
    responses, _, _ = simulated(60, 25, 10)
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(60), rng.permutation(25)
    plain = fit_logistic(responses, "2pl", tolerance=1e-6)
    moved = fit_logistic(Responses.from_array(responses.codes[rows][:, columns].astype(int)), "2pl", tolerance=1e-6)
    assert moved.items.slope == pytest.approx(plain.items.slope[columns], abs=1e-4)
    assert moved.abilities.estimate == pytest.approx(plain.abilities.estimate[rows], abs=1e-4)


def test_reading_responses(tmp_path):
    (tmp_path / "r.csv").write_text("name,i1,i2,i3\nA,1,0,\nB,true,no,1\n")
    table = read_responses(tmp_path / "r.csv")
    assert table.respondents == ("A", "B")
    assert table.codes.tolist() == [[1, 0, 2], [1, 0, 1]]
    assert not table.complete
    assert read_responses(pl.DataFrame({"r": ["A"], "i": [1.0]})).codes.tolist() == [[1]]
    (tmp_path / "bad.csv").write_text("name,i1\nA,2\n")
    with pytest.raises(InputError, match="data row 1"):
        read_responses(tmp_path / "bad.csv")
    (tmp_path / "twice.csv").write_text("name,i1\nA,1\nA,0\n")
    with pytest.raises(InputError, match="twice"):
        read_responses(tmp_path / "twice.csv")
    with pytest.raises(InputError, match="neither"):
        Responses.from_array([[0, 3]])
    (tmp_path / "items.csv").write_text("item,a,b\ni1,1,oops\n")
    with pytest.raises(InputError, match="difficulty"):
        read_items(tmp_path / "items.csv")
    (tmp_path / "few.csv").write_text("item,a,b\ni1,1,0\n")
    with pytest.raises(InputError, match="no parameters"):
        recassay.logistic_irt(tmp_path / "r.csv", "2pl", items=tmp_path / "few.csv")
    with pytest.raises(UsageError, match="guessing"):
        recassay.logistic_irt(np.array(TABLE_1), "2pl", items=paper_items())
    with pytest.raises(UsageError, match="ability is 'best'; give one of"):
        recassay.logistic_irt(np.array(TABLE_1), "3pl", items=paper_items(), ability="best")


def test_algorithms_on_users():
    frame = pl.DataFrame(
        {"algorithm": ["A", "A", "B"], "user": [7, 9, 7], "value": [1.0, 0.0, 0.25]}
    )  # fmt: skip
    table = Responses.from_rows(frame, "algorithm", "user", "value")
    assert table.items == ("7", "9")
    assert table.codes.tolist() == [[1, 0], [1, 2]]


@pytest.mark.slow
def test_charts():
    result = fit_logistic(simulated(70, 90, 3, negative=0.1)[0], "2pl", priors=True)
    pictures = figures({"irt": result})
    assert_valid(pictures)
    drawn = {figure.name: figure.drawn for figure in pictures}
    assert set(drawn) == {"item_curves", "abilities"}
    assert "negative discrimination" in render(drawn["item_curves"], "svg").decode()
    assert render(drawn["abilities"], "png").startswith(b"\x89PNG")


def test_where_all_answer_alike_no_note_is_empty():
    from recassay.reporting.sections.logistic_irt import tables

    same = pl.DataFrame({"respondent": ["a", "b", "c"], "q1": [1, 1, 1], "q2": [0, 0, 0]})
    [table] = tables(recassay.logistic_irt(same))
    assert [note.partition(" items")[0] for note in table.notes] == ["Everybody or nobody has 2 of 2 (q1, q2)"]


def some_state(model, seed=0, count=4):
    rng = np.random.default_rng(seed)
    guessing = rng.normal(-1.4, 0.5, count) if model == "3pl" else np.full(count, -np.inf)
    return ItemState(rng.normal(1, 0.6, count), rng.normal(0, 1, count), guessing)


def moved_state(state, parameter, by):
    parts = [state.slope, state.intercept, state.guessing_logit]
    parts[parameter] = parts[parameter] + by
    return ItemState(*parts)


@pytest.mark.parametrize("priors", [None, ItemPriors(unit=1.3, origin=0.4, slope_deviation=0.7)])
@pytest.mark.parametrize("model", ["1pl", "2pl", "3pl"])
def test_derivatives_of_the_penalised_likelihood_are_its_differences(model, priors):
    """Value, gradient and second derivatives; parameters that the model does not estimate have 0 and 1."""
    points, rng, h = np.linspace(-3, 3, 9), np.random.default_rng(1), 1e-4
    trials = rng.uniform(1, 3, (4, 9))
    right = trials * rng.uniform(0.2, 0.8, (4, 9))
    state = some_state(model)

    def value(at):
        return slopes(points, right, trials, at, model, priors).value

    found = slopes(points, right, trials, state, model, priors)
    p = state.guessing[:, None] + (1 - state.guessing[:, None]) / (
        1 + np.exp(-state.slope[:, None] * points - state.intercept[:, None])
    )
    prior = np.zeros(4)
    if priors is not None and model != "1pl":
        prior -= ((state.slope / 1.3 - 1) / 0.7) ** 2 / 2
    if priors is not None and model == "3pl":
        prior -= ((state.intercept + 0.4 * state.slope) / 5) ** 2 / 2 + ((state.guessing_logit + 1.39) / 0.5) ** 2 / 2
    assert found.value == pytest.approx((right * np.log(p) + (trials - right) * np.log(1 - p)).sum(axis=1) + prior)
    free = {"1pl": (1,), "2pl": (0, 1), "3pl": (0, 1, 2)}[model]
    for i in range(3):
        if i not in free:
            assert found.gradient[:, i].tolist() == [0] * 4
            assert found.information[:, i].tolist() == [np.eye(3)[i].tolist()] * 4
            continue
        step = value(moved_state(state, i, h)) - value(moved_state(state, i, -h))
        assert found.gradient[:, i] == pytest.approx(step / (2 * h), rel=1e-5, abs=1e-6)
        for j in free:
            ahead, behind = (
                slopes(points, right, trials, moved_state(state, j, by), model, priors).gradient[:, i] for by in (h, -h)
            )
            assert found.information[:, i, j] == pytest.approx(-(ahead - behind) / (2 * h), rel=1e-4, abs=1e-5)
    assert (np.linalg.eigvalsh(found.positive[:, :2, :2]) > 0).all()


def test_unit_origin_and_adapted_deviation_of_the_priors():
    """The frame maximises the density of the items and of the unit; the anchored one stays where it is."""
    state = some_state("3pl", seed=3, count=30)
    priors = ItemPriors(unit_deviation=0.3).framed(state)

    def total(unit, origin):
        return replace(priors, unit=unit, origin=origin).log_total(state, "3pl")

    best = total(priors.unit, priors.origin)
    assert all(best > total(priors.unit * factor, priors.origin) for factor in (0.98, 1.02))
    assert all(best > total(priors.unit, priors.origin + by) for by in (-0.02, 0.02))
    assert priors.log_total(state, "1pl") == 0.0
    expected = priors.log_density(state, "2pl").sum() - (np.log(priors.unit) / 0.3) ** 2 / 2
    assert priors.log_total(state, "2pl") == pytest.approx(expected)
    assert ItemPriors(anchored=True).framed(state) == ItemPriors(anchored=True)
    turned = ItemState(-np.abs(state.slope), state.intercept, state.guessing_logit)
    assert ItemPriors().framed(turned).unit == 1.0
    slope = np.array([0.8, 1.0, 1.5])
    wide = ItemPriors(unit=2.0).adapted(slope, np.array([0.1, 0.2, 0.3]), 1.0)
    assert wide.slope_deviation == pytest.approx(np.sqrt(((slope - 2) ** 2 + [0.1, 0.2, 0.3]).mean()) / 2)
    assert ItemPriors().adapted(np.ones(3), np.full(3, 1e-4), 1.0).slope_deviation == 0.25
    assert ItemPriors().adapted(np.ones(3), np.full(3, 1e-4), 0.1).slope_deviation == 0.1
    assert ItemPriors().adapted(slope + 9, np.zeros(3), 1.0).slope_deviation == 1.0
    assert ItemPriors(anchored=True, unit_deviation=0.1).spread(0.25, 5) == 0.5


def test_errors_and_intervals_of_items_and_abilities_by_the_delta_method():
    responses, _, _ = simulated(80, 12, 5, guessing=True)
    result = fit_logistic(responses, "3pl", confidence=0.8, tolerance=1e-3)
    fit = fit_em(responses, "3pl", priors=ItemPriors(), tolerance=1e-3)
    cov = item_covariance(responses, fit, "3pl")
    a, b, c = result.parameters().T
    ended = {name: getattr(fit, name) for name in ("converged", "cycles", "change", "gradient", "log_likelihood")}
    assert result.to_dict()["fit"] == ended
    assert 0 < ended["change"] < 1e-3
    z = 1.2815515655446004
    by_a, by_d = -b / a, -1 / a  # b = -d / a
    variance = by_a**2 * cov[:, 0, 0] + by_d**2 * cov[:, 1, 1] + 2 * by_a * by_d * cov[:, 0, 1]
    errors = np.sqrt([cov[:, 0, 0], variance, (c * (1 - c)) ** 2 * cov[:, 2, 2]]).T
    assert result.item_errors == pytest.approx(errors)
    for k, value in enumerate((a, b)):
        assert result.item_intervals[:, k, 0] == pytest.approx(value - z * errors[:, k])
        assert result.item_intervals[:, k, 1] == pytest.approx(value + z * errors[:, k])
    logit, half = np.log(c / (1 - c)), z * np.sqrt(cov[:, 2, 2])
    ends = [1 / (1 + np.exp(-(logit + side * half))) for side in (-1, 1)]
    assert result.item_intervals[:, 2] == pytest.approx(np.stack(ends, axis=1))
    theta, error = result.abilities.estimate, result.abilities.standard_error
    wide = z * np.sqrt(error**2 + (1 + theta**2 / 2) / 80)
    assert result.ability_intervals == pytest.approx(np.stack([theta - wide, theta + wide], axis=1))
    known = score_logistic(responses, result.items, "3pl", ability="eap", confidence=0.8)
    theta, error = known.abilities.estimate, known.abilities.standard_error
    assert known.ability_intervals == pytest.approx(np.stack([theta - z * error, theta + z * error], axis=1))
    assert (known.estimator, known.confidence, known.constant.any()) == ("given", 0.8, False)
    assert np.isnan(known.item_errors).all()
    assert known.true_scores == pytest.approx(probabilities(theta, result.items).sum(axis=1))


def test_notes_name_what_has_no_finite_estimate_and_what_is_negative():
    """q1 is answered alike, q2 turned, and the answers of r59 are the best there are."""
    theta = np.linspace(-2, 2, 60)
    rng = np.random.default_rng(2)
    table = (rng.random((60, 8)) < 1 / (1 + np.exp(-2 * (theta[:, None] - np.linspace(-1, 1, 8))))).astype(int)
    table[:, 0], table[:, 1], table[59, 2:] = 1, theta < 0, 1
    names = [f"r{i}" for i in range(60)], [f"q{j + 1}" for j in range(8)]
    result = fit_logistic(Responses.from_array(table, *names), "2pl", priors=True, ability="ml")
    at_bound = [f"r{i}" for i in np.flatnonzero(result.abilities.at_bound)]
    assert "r59" in at_bound
    assert result.notes == (
        "Everybody or nobody has 1 of 8 (q1) items right: they say nothing of ability.",
        "The discrimination of 1 of 8 (q2) items is negative (abler respondents fail them more often: noise, or a "
        "wrong answer key); of 1 clearly, the whole interval lies below 0.",
        f"{len(at_bound)} of 60 ({listing(at_bound, most=3)}) respondents have no finite maximum-likelihood ability: "
        "they stand at the bound.",
    )
    assert result.item_errors[1, 1] > 0
    birnbaum = fit_logistic(Responses.from_array(table, *names), "2pl", estimator="birnbaum")
    assert not any("clearly" in note for note in birnbaum.notes)
    assert any("q2) items is negative" in note for note in birnbaum.notes)
    assert (birnbaum.cycles, birnbaum.abilities.method, birnbaum.constant.tolist()) == (1, "ml", [True] + [False] * 7)
    steep = np.tile((theta > 0).astype(int)[:, None], (1, 6))
    steep[:, 1] = theta > 0.5
    loose = fit_logistic(Responses.from_array(steep), "2pl", priors=False, max_cycles=40)
    assert not loose.converged
    assert "The estimation did not converge: read the parameters with care." in loose.notes
    assert any("items have no finite estimate: use priors." in note for note in loose.notes)


def test_known_items_are_matched_by_name_and_must_fit_the_model():
    items = paper_items()
    responses = Responses.from_array(TABLE_1)
    backward = Responses.from_array(np.array(TABLE_1)[:, ::-1], items=responses.items[::-1])
    plain, turned = (score_logistic(table, items) for table in (responses, backward))
    assert turned.abilities.estimate == pytest.approx(plain.abilities.estimate)
    assert (plain.abilities.method, plain.model) == ("ml", "3pl")
    assert plain.to_dict()["item_intervals"] == {}
    names = replace(plain, abilities=replace(plain.abilities, estimate=np.zeros(5)), respondents=tuple("edcba"))
    assert names.order() == [4, 3, 2, 1, 0], "of equal abilities the first name comes first"
    flat = LogisticItems(items.names, np.ones(5), items.intercept, np.zeros(5))
    assert score_logistic(responses, flat, "1pl").model == "1pl"
    more = LogisticItems(("other", *items.names), *(np.append(first, rest) for first, rest in (
        (2.0, flat.slope), (0.5, flat.intercept), (0.3, flat.guessing))))  # fmt: skip
    for model in ("1pl", "2pl"):  # an item that was not asked may be of another kind
        asked = score_logistic(responses, more, model)
        assert asked.abilities.estimate == pytest.approx(score_logistic(responses, flat, model).abilities.estimate)
    for known, model, words in (
        (items, "2pl", "the items have guessing and the model is 2pl"),
        (replace(flat, guessing=items.guessing), "1pl", "the items have guessing and the model is 1pl"),
        (replace(flat, slope=items.slope), "1pl", "the items have different discriminations and the model is 1pl"),
    ):
        with pytest.raises(UsageError, match=words):
            score_logistic(responses, known, model)
    with pytest.raises(InputError, match="2 items have no parameters: item2, item4"):
        score_logistic(responses, items.take(np.array([0, 2, 4])))
    with pytest.raises(InputError, match="one respondent cannot calibrate items"):
        fit_logistic(Responses.from_array(TABLE_1[:1]), "1pl")


def test_the_result_as_tables_and_plain_data():
    responses, _, _ = simulated(60, 6, 4)
    table = responses.codes.astype(float)
    table[:, 5] = 1
    result = fit_logistic(Responses.from_array(table), "2pl", priors=True)
    assert result.to_frame().get_column("respondent")[0] == result.respondents[result.order()[0]]
    assert result.to_frame().get_column("ability").is_sorted(descending=True)
    items = result.items_frame()
    ends = ("", "_error", "_low", "_high")
    assert items.columns == ["item", *(f"{name}{end}" for name in PARAMETERS for end in ends)]
    assert items.get_column("difficulty_high")[0] == result.item_intervals[0, 1, 1]
    values = result.parameters()[:5]
    summary = result.summary()
    assert summary["mean_difficulty"] == pytest.approx(np.clip(values[:, 1], -6, 6).mean())
    assert summary["discrimination_deviation"] == pytest.approx(values[:, 0].std())
    assert summary["negative_share"] == (values[:, 0] < 0).mean()
    data = result.to_dict()
    first = data["ability"]["r1"]
    assert first["estimate"] == result.abilities.estimate[0]
    assert first["interval"] == result.ability_intervals[0].tolist()
    assert first["standard_error"] == result.abilities.standard_error[0]
    assert data["items"]["item2"] == dict(zip(PARAMETERS, values[1], strict=True))
    assert data["item_intervals"]["item2"]["difficulty"] == result.item_intervals[1, 1].tolist()
    assert data["constant_items"] == ["item6"]
    assert data["accuracy"]["r1"] == pytest.approx((table[0]).mean())
    assert fit_logistic(Responses.from_array(table), "2pl", estimator="birnbaum").to_dict()["item_intervals"] == {}


def test_the_grid_interpolates_and_follows_the_mass():
    points, nodes = np.linspace(-2, 2, 41), np.linspace(-2, 2, 9)
    weights = interpolation(points, nodes)
    for power in range(8):  # eight nodes carry a polynomial of degree seven exactly
        assert weights @ nodes**power == pytest.approx(points**power, abs=1e-9)
    mass = np.where(np.abs(points) < 0.55, 1.0, 0.0)
    part = window(points, points, mass)
    assert points[part].tolist() == pytest.approx(points[(points >= -0.751) & (points <= 0.751)].tolist())
    assert window(points, points[part], np.ones(len(points[part]))) == slice(None)
    for end in (1, -2):  # mass at one end of what is shown is enough to show all of it again
        mass = np.zeros(len(points[part]))
        mass[[end, 7]] = 1.0
        assert window(points, points[part], mass) == slice(None)
    where = AbilityGrid.of(np.linspace(-6, 6, 401), np.array([1.0, 0.5]))
    assert len(where.nodes) == 61  # 0.2 apart
    assert len(AbilityGrid.of(np.linspace(-6, 6, 401), np.full(9, 5.0)).nodes) == 121  # half of 1 / slope
    assert AbilityGrid.of(np.linspace(-6, 6, 61), np.array([1.0])).between is None
    assert np.exp(where.log_weights).sum() == pytest.approx(1.0)


def test_slopes_of_either_sign_run_into_their_bound():
    slope = np.array([STEEPEST, 0.9 * STEEPEST, -0.9 * STEEPEST, -STEEPEST])
    fit = SimpleNamespace(items=SimpleNamespace(slope=slope))
    assert LogisticFit.at_bound.fget(fit).tolist() == [True, False, False, True]


def test_parameters_stay_within_their_bounds_and_no_guessing_stays_none():
    far = ItemState(np.array([30.0, -30.0, 1.0]), np.array([50.0, -50.0, 2.0]), np.array([5.0, -20.0, -np.inf]))
    found = bounded(far)
    assert found.slope.tolist() == [25.0, -25.0, 1.0]
    assert found.intercept.tolist() == [40.0, -40.0, 2.0]
    assert found.guessing_logit.tolist() == [3.0, -9.0, -np.inf]


def test_items_with_and_without_guessing_stand_side_by_side():
    items = LogisticItems.from_difficulty(["x", "y"], [1.0, 2.0], [0.0, 0.5], [0.0, 0.25])
    points = np.linspace(-3, 3, 7)
    right, wrong = (np.exp(logs).T for logs in log_right_wrong(points, items))
    assert right == pytest.approx(probabilities(points, items))
    assert wrong == pytest.approx(1 - probabilities(points, items))
    assert all(len(grid(simulated(2, m, 1)[2])) % 2 == 1 for m in (300, 330, 360, 400)), "the middle is a point"


def test_where_estimation_starts_with_gaps_and_items_that_do_not_vary():
    gap = np.nan
    table = Responses.from_array([[1, gap, 1], [1, 0, 0], [gap, 0, 1], [1, 0, 0]])
    constant = constant_items(table)
    assert constant.tolist() == [True, True, False]
    state = with_constant(table, ~constant, ItemState(np.array([0.7]), np.array([0.2]), np.array([-1.0])))
    assert state.slope.tolist() == [0.0, 0.0, 0.7]
    shares = np.array([3.5 / 4, 0.5 / 4])  # (right + 1/2) / (answers + 1), those that are known
    assert state.intercept.tolist() == pytest.approx([*np.log(shares / (1 - shares)), 0.2])
    assert state.guessing.tolist() == pytest.approx([0.0, 0.0, 1 / (1 + np.e)])
    assert standardised(np.full(3, 0.4)).tolist() == [0.0, 0.0, 0.0]
    own = starting_state(table, "3pl", ItemPriors(guessing_mean=-2.0))
    assert own.guessing_logit.tolist() == [-2.0] * 3
    assert starting_state(table, "3pl", None).guessing_logit.tolist() == [-1.39] * 3
    assert np.isneginf(starting_state(table, "2pl", ItemPriors()).guessing_logit).all()
    level = Responses.from_array([[1, 0], [0, 1], [1, 0], [0, 1]])  # all have the same score
    assert starting_state(level, "1pl", None).slope.tolist() == [0.3, 0.3]
    table = Responses.from_array([[1, 0, 1], [1, 1, 0], [0, gap, 1], [0, 0, 0], [1, gap, 1]])
    start = starting_state(table, "2pl", None)
    share = np.array([2 / 3, 2 / 3, 0.5, 0.0, 1.0])
    score = ((share - share.mean()) / share.std())[[0, 1, 3]]  # of those who answered the second item
    p = 1.5 / 4
    r = 1.2 * (score * (np.array([0, 1, 0]) - p)).mean() / np.sqrt(p * (1 - p))
    assert start.slope[1] == pytest.approx(1.7 * r / np.sqrt(1 - r**2))
    assert start.intercept[1] == pytest.approx(np.log(p / (1 - p)) / np.sqrt(1 - r**2))
    assert abs(r) < 0.85


def test_slopes_adapt_to_their_spread_unless_that_is_refused():
    responses, _, _ = simulated(60, 12, 5)
    fixed = fit_em(responses, "2pl", priors=ItemPriors(adaptive=False), tolerance=1e-2)
    adapted = fit_em(responses, "2pl", priors=ItemPriors(), tolerance=1e-2)
    assert fixed.priors.slope_deviation == 1.0
    assert 0.25 <= adapted.priors.slope_deviation < 1.0


def test_abilities_rise_with_the_score_wherever_the_estimation_starts(monkeypatch):
    responses, _, _ = simulated(80, 8, 5)
    plain = fit_em(responses, "2pl", tolerance=1e-5)
    first = starting_state(responses, "2pl", None)
    turned = ItemState(-first.slope, first.intercept, first.guessing_logit)
    monkeypatch.setattr(logistic_em, "starting_state", lambda *given: turned)
    found = fit_em(responses, "2pl", tolerance=1e-5)
    assert found.items.slope == pytest.approx(plain.items.slope, abs=1e-3)
    assert found.posterior @ found.grid.points == pytest.approx(plain.posterior @ plain.grid.points, abs=1e-3)


def test_one_slope_for_all_has_no_prior_and_a_slope_at_its_bound_is_not_converged(monkeypatch):
    responses, _, _ = simulated(60, 8, 5)
    plain = fit_em(responses, "1pl")
    assert plain.converged
    assert fit_em(responses, "1pl", priors=ItemPriors()).items.slope == pytest.approx(plain.items.slope, abs=1e-6)
    monkeypatch.setattr(logistic_em, "STEEPEST", 0.5)
    assert not fit_em(responses, "1pl").converged


@pytest.mark.parametrize("slope", [12.0, 18.0])
def test_of_many_narrow_maxima_the_highest_is_found(slope):
    """Fourteen steep items with guessing, answered by lot: the likelihood has a maximum between any two of them."""
    items = LogisticItems.from_difficulty(
        [f"item{i + 1}" for i in range(14)], np.full(14, slope), np.linspace(-1, 1, 14), np.full(14, 0.3)
    )
    codes = (np.random.default_rng(0).random((60, 14)) < 0.55).astype(int)
    theta = np.linspace(-6, 6, 24_001)
    right, wrong = log_right_wrong(theta, items)
    height = codes @ right + (1 - codes) @ wrong - theta**2 / 2
    found = estimate_abilities(Responses.from_array(codes), items, "map")
    assert found.estimate == pytest.approx(theta[height.argmax(axis=1)], abs=3e-4)


def test_a_step_of_newtons_never_lowers_the_likelihood_of_an_item():
    """Items at their bounds, where a step cut off at the bound may lead downwards however short it is."""
    points = np.linspace(-3, 3, 13)
    for seed in (826, 1572, 2223):
        rng = np.random.default_rng(seed)
        trials = rng.uniform(0, 3, (8, 13))
        right = trials * (rng.random((8, 13)) < rng.random((8, 1)))
        start = ItemState(
            rng.choice([25.0, -25.0, 5.0, 0.1], 8),
            rng.choice([40.0, -40.0, 0.0, 3.0], 8) * rng.random(8),
            rng.choice([-9.0, 3.0, 0.0], 8),
        )
        end = maximise_items(points, right, trials, start, "3pl", steps=1)
        before, after = (slopes(points, right, trials, state, "3pl", None).value for state in (start, end))
        assert (after - before).min() > -1e-8


def test_what_interpolation_leaves_below_zero_is_no_information():
    points, trials = np.array([-1.0, 0.0, 2.0]), np.array([[-0.1, 1.0, 2.0]])
    state = ItemState(np.array([1.5]), np.array([0.3]), np.array([-np.inf]))
    p = 1 / (1 + np.exp(-1.5 * points - 0.3))
    weight = np.array([0.0, 1.0, 2.0]) * p * (1 - p)
    found = slopes(points, np.array([[0.0, 0.5, 1.5]]), trials, state, "2pl", None).information[0, :2, :2]
    assert found == pytest.approx(np.array([[weight @ points**2, weight @ points], [weight @ points, weight.sum()]]))
    level = ItemState(np.array([1.0, -1.0]), np.zeros(2), np.full(2, -np.inf))
    assert ItemPriors().framed(level).unit == 1.0, "slopes of no sum have no unit"
    assert [part.start for part in blocks(3, 1 << 22)] == [0, 1, 2], "one item at a time is the least"


@pytest.mark.parametrize("model", ["2pl", "3pl"])
def test_birnbaums_procedure_says_how_far_the_items_moved(model, monkeypatch):
    responses, _, _ = simulated(60, 6, 3, guessing=True)
    priors = ItemPriors(guessing_mean=-2.5)
    found = fit_logistic(responses, model, estimator="birnbaum", priors=priors)
    start = starting_state(responses, model, priors)
    names = "slope", "intercept", "guessing"
    moved = [np.abs(getattr(found.items, name) - getattr(start, name)).max() for name in names]
    assert found.change == pytest.approx(max(moved))
    monkeypatch.setattr(logistic_fit, "maximise_items", lambda theta, right, trials, state, *more, **options: state)
    still = fit_logistic(responses, model, estimator="birnbaum", priors=priors)
    assert still.items.guessing == pytest.approx(start.guessing), "the search begins where the priors have their mean"
    assert still.change == 0.0


@pytest.mark.parametrize(
    ("reached", "guess", "near", "steps", "ahead", "converged"),
    [
        (1e-4, 5e-4, False, 3, 5e-4, False),
        (1e-4, 5e-4, True, 3, 5e-4, True),
        (5e-3, 0.0, True, 3, 5e-4, True),
        (4e-2, 0.0, True, 3, 4e-3, False),
        (4e-3, 0.0, True, 2, 4e-3, False),
        (1e-4, 1.5, True, 3, 1.5, False),
    ],
)
def test_a_limit_that_is_guessed_must_be_near_twice(reached, guess, near, steps, ahead, converged):
    """A cycle moved each slope by `reached`, and the last ones point as far again as `guess`."""
    run = EMRun(simulated(60, 4, 1)[0], "2pl", None, tolerance=1e-3)
    start = run.state
    run.reached = ItemState(start.slope + reached, start.intercept, start.guessing_logit)
    run.cycle, run.change, run.near = 9, 2 * reached, near
    limit = np.concatenate([run.reached.slope + guess, run.reached.intercept])
    run.extrapolation = SimpleNamespace(ahead=lambda before, after, calm: limit, steps=steps)
    run._look_ahead()
    assert (run.ahead, run.converged) == (pytest.approx(ahead), converged)
    assert run.guessed == (guess < 1)
    assert run.state.slope == pytest.approx(run.reached.slope + (guess if guess < 1 else 0.0))


def test_nothing_is_extrapolated_while_priors_adapt_or_the_grid_may_change():
    responses = simulated(60, 4, 1)[0]
    for cycle, asked, moved, forgotten in (
        (6, ItemPriors(), 1e-6, True), (7, ItemPriors(), 1e-6, False), (3, None, 1e-6, True), (4, None, 1e-6, False),
        (6, None, 1e-6, False), (9, None, 0.06, True), (9, None, 0.04, False),
    ):  # fmt: skip
        run = EMRun(responses, "2pl", asked, tolerance=1e-3)
        run.cycle, run.change, run.near, told = cycle, 2 * moved, True, []
        run.reached = ItemState(run.state.slope + moved, run.state.intercept, run.state.guessing_logit)
        flat = np.concatenate([run.reached.slope, run.reached.intercept])
        run.extrapolation = SimpleNamespace(
            forget=lambda told=told: told.append(1), ahead=lambda *given, flat=flat: flat, steps=3
        )
        run._look_ahead()
        assert bool(told) == forgotten, cycle
        assert run.guessed != forgotten
        assert run.converged == (moved == 1e-6 and (asked is None or cycle > ADAPTING[-1])), cycle


def test_an_estimation_that_ends_the_wrong_way_round_is_turned_with_its_priors(monkeypatch):
    responses, _, _ = simulated(60, 5, 4)
    fair = fit_em(responses, "2pl", priors=ItemPriors(), max_cycles=5)
    turned = ItemState(-fair.state.slope, fair.state.intercept, fair.state.guessing_logit)
    ended = SimpleNamespace(
        cycle=3, converged=True, reached=turned, table=responses, priors=replace(fair.priors, unit=1.0, origin=-9.0),
        points=fair.grid.points, ahead=0.25,
    )  # fmt: skip
    monkeypatch.setattr(logistic_em, "EMRun", lambda *given: ended)
    found = fit_em(responses, "2pl", priors=ItemPriors())
    assert found.items.slope == pytest.approx(fair.items.slope)
    assert found.items.intercept == pytest.approx(fair.items.intercept)
    assert found.posterior @ found.grid.points == pytest.approx(fair.posterior @ fair.grid.points)
    assert found.priors == ended.priors.framed(fair.state)
    assert (found.cycles, found.change, found.converged) == (3, 0.25, True)
    assert found.log_likelihood == pytest.approx(fair.log_likelihood)
    h, by = 1e-5, []
    for k in range(10):
        ends = []
        for step in (h, -h):
            flat = np.concatenate([fair.state.slope, fair.state.intercept])
            flat[k] += step
            state = ItemState(flat[:5], flat[5:], fair.state.guessing_logit)
            marginal = posterior_on_grid(responses, state, found.grid)[1].sum()
            ends.append(marginal + found.priors.log_density(state, "2pl").sum())
        by.append((ends[0] - ends[1]) / (2 * h))
    assert found.gradient == pytest.approx(np.abs(by).max(), rel=1e-4)


def own_scores(responses, items, where, item, free, h=1e-4):
    """Respondents x parameters: the derivatives of each marginal log-likelihood in the parameters of one item."""
    parts = [items.slope, items.intercept, items.guessing_logit]
    columns = []
    for k in free:
        ends = []
        for step in (h, -h):
            moved = [part.copy() for part in parts]
            moved[k][item] += step
            ends.append(posterior_on_grid(responses, ItemState(*moved), where)[1])
        columns.append((ends[0] - ends[1]) / (2 * h))
    return np.stack(columns, axis=1)


def test_where_the_information_is_not_positive_the_squared_scores_stand_in():
    """Far from the maximum, with a table so small that the information of all items together fails as well."""
    rng = np.random.default_rng(1)
    responses = Responses.from_array((rng.random((6, 4)) < 0.5).astype(int))
    state = ItemState(np.array([3.0, -2.0, 4.0, 0.5]), np.array([2.0, -1.0, 0.5, 0.0]), np.full(4, -np.inf))
    points = np.linspace(-6, 6, 121)
    where = AbilityGrid(points, points)
    posterior, marginal = posterior_on_grid(responses, state, where)
    fit = LogisticFit(
        state.named(responses.items), state, np.zeros(4, dtype=bool), where, posterior, log_likelihood=marginal.sum()
    )
    found = item_covariance(responses, fit, "2pl")[:, :2, :2]
    replaced = []
    for i in range(4):
        score = own_scores(responses, state, where, i, (0, 1))
        right, trials = posterior.T @ (responses.codes[:, i] == 1), posterior.sum(axis=0)
        complete = slopes(points, right[None], trials[None], state.take(slice(i, i + 1)), "2pl", None).information[0]
        instead = np.diag(np.diag(complete)[:2]) * 1e-6 + score.T @ score
        scale = np.diag([state.slope[i] ** 2 / 12, state.slope[i] ** 2 / 6])
        replaced.append(np.allclose(found[i], np.linalg.inv(instead) + scale, rtol=1e-3))
    assert np.isfinite(found).all()
    assert sum(replaced) >= 2, replaced


def test_intervals_of_birnbaums_abilities_have_the_level_asked_for():
    responses, _, _ = simulated(40, 12, 3)
    found = fit_logistic(responses, "2pl", estimator="birnbaum", priors=True, confidence=0.8)
    half = 1.2815515655446004 * found.abilities.standard_error
    assert found.confidence == 0.8
    assert found.ability_intervals[:, 1] - found.abilities.estimate == pytest.approx(half)


def test_one_slope_at_its_bound_is_noted():
    result = score_logistic(Responses.from_array(TABLE_1), paper_items())
    at_bound = np.array([False, True, False, False, False])
    note = "The slopes of 1 of 5 (item2) items have no finite estimate: use priors."
    assert note in replace(result, unbounded=at_bound).notes
    assert note not in replace(result, unbounded=~at_bound).notes
    for unbounded in (np.zeros(5, dtype=bool), None):
        assert not any("finite estimate" in text for text in replace(result, unbounded=unbounded).notes)


def test_the_grid_is_as_fine_as_the_most_telling_ability_needs():
    """A hundred items of slope 3 and difficulty 2: their information is largest there, 100 x 9 / 4."""
    names = [f"i{j}" for j in range(100)]
    items = LogisticItems.from_difficulty(names, np.full(100, 3.0), np.full(100, 2.0), np.zeros(100))
    assert len(grid(items)) == int(np.ceil(12 * np.sqrt(1 + 225) / 1.2)) + 2  # an odd number


def test_two_respondents_are_enough_to_calibrate_items():
    found = fit_logistic(Responses.from_array([[1, 1, 0], [0, 1, 1]]), "1pl", max_cycles=3)
    assert np.isfinite(found.abilities.estimate).all()


def test_a_flat_item_has_no_difficulty_and_does_not_count_in_its_mean():
    items = LogisticItems(("x", "y", "z"), np.array([1.0, 0.0, 0.5]), np.array([1.0, 0.3, -1.0]), np.zeros(3))
    summary = score_logistic(Responses.from_array([[1, 0, 1], [0, 1, 0]], items=items.names), items).summary()
    assert (summary["mean_difficulty"], summary["difficulty_deviation"]) == pytest.approx((0.5, 1.5)), "-1 and 2"
    assert summary["mean_discrimination"] == pytest.approx(0.5)
