"""Beta-IRT: published numbers, derivatives, recovery of known truth, and what a user meets."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betainc, expit, logit
from scipy.stats import beta as beta_distribution
from scipy.stats import norm, spearmanr

import recassay
from recassay.analysis.beta_irt import fit as beta_fit
from recassay.analysis.beta_irt import mode, sampling
from recassay.analysis.beta_irt import normal as beta_normal
from recassay.analysis.beta_irt import precision as beta_precision
from recassay.analysis.beta_irt.choice import find, find_likelier
from recassay.analysis.beta_irt.direction import fit_direction, shares_at_the_ends
from recassay.analysis.beta_irt.fit import ANALYSIS, fit_beta_irt
from recassay.analysis.beta_irt.mode import Mode, climb, find_mode, newton
from recassay.analysis.beta_irt.model import (
    Posterior,
    ScoreTable,
    characteristic_curve,
    density_cells,
    squared_error_cells,
)
from recassay.analysis.beta_irt.normal import Gaussian, laplace, variational, widen
from recassay.analysis.beta_irt.precision import _best_precision, precision_cells
from recassay.analysis.beta_irt.result import TRAITS, Direction, Trait
from recassay.analysis.inference.hierarchical import r_hat
from recassay.core.analysis import AnalysisResult, AnalysisSpec
from recassay.core.errors import NotApplicableError, RecAssayError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.results import Results
from recassay.plots.forms import label_rows
from recassay.reporting.drawing import render
from recassay.reporting.figures import figures
from recassay.reporting.sections import beta_irt as beta_irt_section
from recassay.reporting.sections.beta_irt import plot_direction, plot_traits
from recassay.reporting.words.beta_irt import direction_warnings
from recassay.testing.results import synthetic_results
from support.tables import dealt_by_content


def beta_parameters(theta, delta, a):
    """alpha and beta of the Beta density (equation 1)."""
    return (theta / delta) ** a, ((1 - theta) / (1 - delta)) ** a


def simulate(n: int, m: int, sigma: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Responses from the model with parameters from its priors, and the parameters."""
    rng = np.random.default_rng(seed)
    theta, delta, a = rng.uniform(size=n), rng.uniform(size=m), rng.normal(1, sigma, m)
    return rng.beta(*beta_parameters(theta[:, None], delta, a)), theta, delta, a


def log_density(p, theta, delta, a):
    return beta_distribution(*beta_parameters(theta, delta, a)).logpdf(p)


def names(prefix: str, count: int) -> tuple[str, ...]:
    return tuple(f"{prefix}{i}" for i in range(count))


@pytest.fixture(scope="module")
def published():
    return "published:bi-reirt", recassay.beta_irt("published:bi-reirt", "ndcg@10")


def test_numbers_of_the_model():
    alpha, beta = beta_parameters(0.7, 0.4, 1.5)
    assert alpha == pytest.approx(2.315032, abs=1e-6)
    assert beta == pytest.approx(0.353553, abs=1e-6)
    assert characteristic_curve(0.7, 0.4, 1.5) == pytest.approx(0.867513, abs=1e-6)
    assert log_density(0.8, 0.7, 0.4, 1.5) == pytest.approx(0.069634, abs=1e-6)
    assert characteristic_curve(0.3, 0.6, -1.5) == pytest.approx(0.867513, abs=1e-6)
    assert log_density(0.8, 0.3, 0.6, -1.5) == pytest.approx(0.193472, abs=1e-6)


def test_the_cells_are_the_density():
    values, theta, delta, a = simulate(5, 4, 0.5, 3)
    responses = ScoreTable.squeeze(values)
    x, y = logit(theta), logit(delta)
    cells = density_cells(responses)(x[:, None], y[None], a[None], False)[0]
    inside = (responses.below + responses.above) == 0
    np.testing.assert_allclose(cells[inside], log_density(values, theta[:, None], delta, a)[inside], rtol=1e-9)
    alpha, beta = beta_parameters(theta[:, None], delta, a)
    end = responses.values
    beyond = np.where(responses.below, betainc(alpha, beta, end), betainc(beta, alpha, 1 - end))
    np.testing.assert_allclose(cells[~inside], np.log(beyond[~inside]), atol=0.09)
    assert (~inside).any()


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [density_cells, lambda r: squared_error_cells(r, 0.1), lambda r: precision_cells(r, 30.0)],
    ids=["density", "squares", "precision"],
)
@settings(max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_derivatives_agree_with_finite_differences(make, seed):
    values, theta, delta, a = simulate(4, 3, 0.7, seed)
    values[0, 0], values[1, 1], values[2, 2] = 0.0, 1.0, np.nan
    posterior = Posterior(make(ScoreTable.squeeze(values)), 4, 3, 0.7)
    z = np.concatenate([np.clip(logit(theta), -3, 3), np.clip(logit(delta), -3, 3), a]) + 0.1
    _, gradient, hessian = posterior.evaluate(z)
    h = 1e-5
    for k, unit in enumerate(np.eye(posterior.size)):
        up, down = posterior.evaluate(z + h * unit), posterior.evaluate(z - h * unit)
        assert gradient[k] == pytest.approx(
            (up[0] - down[0]) / (2 * h), rel=1e-4, abs=1e-3 + 1e-6 * abs(gradient).max()
        )
        np.testing.assert_allclose(
            hessian[k], (up[1] - down[1]) / (2 * h), rtol=1e-3, atol=1e-3 + 1e-5 * abs(hessian).max()
        )
    loss, slope = posterior.loss(z)
    assert loss == pytest.approx(-float(posterior.evaluate(z)[0]))
    np.testing.assert_allclose(slope, -gradient)


@pytest.mark.parametrize("seed", range(4))
def test_the_mode_is_found_and_not_beaten_from_the_truth(seed):
    values, theta, delta, a = simulate(17, 11, 1.0, seed)
    mode = find_mode(ScoreTable.squeeze(values), 1.0)
    posterior = mode.posterior
    assert mode.converged
    assert (np.linalg.eigvalsh(posterior.evaluate(mode.z)[2]) < 0).all()
    truth = np.concatenate([np.clip(logit(theta), -9, 9), np.clip(logit(delta), -9, 9), a])
    assert newton(posterior, climb(posterior, truth))[1] <= mode.log_density + 1e-6


def simulate_precise(n: int, m: int, sigma: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The same curves with a precision of 20 to 100, and the parameters."""
    rng = np.random.default_rng(seed)
    theta, delta, a = rng.uniform(size=n), rng.uniform(size=m), rng.normal(1, sigma, m)
    mean, precision = characteristic_curve(theta[:, None], delta, a), np.exp(rng.uniform(3, 4.6))
    return rng.beta(precision * mean, precision * (1 - mean)), theta, delta, a


@pytest.mark.slow
@pytest.mark.parametrize(
    ("density", "n", "m", "seeds"),
    [
        ("beta", 17, 11, range(4)),
        ("precision", 17, 11, range(4)),
        ("beta", 40, 30, range(2)),
        ("precision", 40, 30, range(2)),
    ],
)
def test_recovery_and_coverage(n, m, seeds, density, record_property):
    """The default finds which density the responses follow, and its 95 % intervals hold.

    All parameters of a table share an uncertain shift, so that its intervals hold or fail together, and the coverage
    over few tables varies: it must be 0.90 to 0.98 within two standard errors over the tables (their deviation taken as
    0.1 at least, since a few tables may agree by chance). Over 60 tables of 17 x 11 and 12 of 40 x 30 it was 0.93 to
    0.96.
    """
    covered: dict[str, list[float]] = {t: [] for t in TRAITS[0]}
    errors: dict[str, list[float]] = {t: [] for t in TRAITS[0]}
    correlation: dict[str, list[float]] = {t: [] for t in TRAITS[0]}
    for seed in seeds:
        sigma = 0.5 + 0.5 * (seed % 2)
        values, *truth = (simulate if density == "beta" else simulate_precise)(n, m, sigma, seed)
        (chosen,), _ = find_likelier([values], sigma)
        assert chosen.density == density
        found = fit_direction(1, values, names("a", n), names("d", m), chosen, confidence=0.95)
        for (name, trait), true in zip(found.traits.items(), truth, strict=True):
            covered[name].append(float(((trait.low <= true) & (true <= trait.high)).mean()))
            errors[name] += (trait.estimate - true).tolist()
            correlation[name].append(float(np.corrcoef(trait.estimate, true)[0, 1]))
    rmse = {name: math.sqrt(np.mean(np.square(e))) for name, e in errors.items()}
    for name in TRAITS[0]:
        record_property(f"{name} {n} x {m} {density}", f"cover {np.mean(covered[name])}, rmse {rmse[name]}")
        error = max(np.std(covered[name], ddof=1), 0.1) / math.sqrt(len(covered[name]))
        assert np.mean(covered[name]) + 2 * error >= 0.90, name
        assert np.mean(covered[name]) - 2 * error <= 0.98, name
        assert np.mean(covered[name]) > 0.80, name
        assert np.mean(correlation[name]) > 0.88, name
    assert rmse["ability"] < (0.09 if n == 17 else 0.06)
    assert rmse["difficulty"] < 0.15
    assert rmse["discrimination"] < (0.35 if n == 17 else 0.2)


@pytest.mark.slow
def test_the_normal_agrees_with_draws(monkeypatch):
    values, *_ = simulate(17, 11, 0.5, 0)
    mode = find_mode(ScoreTable.squeeze(values), 0.5)
    posterior = mode.posterior
    normal = widen(posterior, variational(posterior, laplace(posterior, mode.z)))
    assert normal.converged
    monkeypatch.setattr(sampling, "DRAWS", 200)
    draws, r_hat = sampling.sample_posterior(posterior, normal, np.random.default_rng(1))
    assert r_hat < 1.05
    deviation = np.sqrt(np.diag(normal.covariance))
    assert np.abs(draws.mean(axis=0) - normal.mean).max() < 0.35 * deviation.max()
    assert np.median(draws.std(axis=0) / deviation) == pytest.approx(1, abs=0.08)


@pytest.mark.slow
def test_a_negative_discrimination_and_missing_cells_are_found():
    values, theta, _, _ = simulate(25, 10, 0.3, 5)
    rng = np.random.default_rng(0)
    values[:, 0] = rng.beta(*beta_parameters(theta, np.array(0.5), np.array(-1.5)))
    values[rng.uniform(size=values.shape) < 0.15] = np.nan
    for estimator in ("beta", "precision", "bi-reirt"):
        result = fit_beta_irt(values, names("a", 25), names("d", 10), estimator=estimator)
        positive = result.directions[0].probability_positive
        assert positive[0] < 0.05
        assert np.median(positive) > 0.95
        assert spearmanr(result.trait("ability").estimate, theta)[0] > 0.85
        assert "cells are missing" in result.warnings[0]
        residuals = result.frames()["irt_residuals"]
        assert residuals.get_column("residual").null_count() == 2 * int(np.isnan(values).sum())


@pytest.mark.slow
def test_directions_are_the_transpose_with_challenge_turned_round():
    values, *_ = simulate(8, 6, 0.4, 2)
    one = fit_beta_irt(values, names("a", 8), names("d", 6))
    other = fit_beta_irt(values.T, names("d", 6), names("a", 8))
    np.testing.assert_allclose(one.trait("challenge").estimate, 1 - other.trait("ability").estimate, atol=1e-9)
    np.testing.assert_allclose(one.trait("difficulty_limit").low, 1 - other.trait("difficulty").high, atol=1e-9)
    np.testing.assert_allclose(one.trait("consistency").estimate, other.trait("discrimination").estimate, atol=1e-9)
    for direction in one.directions:
        np.testing.assert_allclose(direction.exceeds + direction.exceeds.T, 1, atol=1e-9)
        first = direction.traits[TRAITS[direction.number - 1][0]].estimate
        assert ((direction.exceeds > 0.5) == (first[:, None] > first)).all()
    curves = one.frames()["irt_curves"].filter(pl.col("direction") == 2, pl.col("item") == "a0")
    level = float(one.trait("difficulty_limit").estimate[0])
    at_level = np.interp(level, curves.get_column("trait"), curves.get_column("expected"))
    assert at_level == pytest.approx(0.5, abs=0.02)


@pytest.mark.slow
def test_lower_is_better_turns_the_responses_round():
    values, *_ = simulate(6, 5, 0.4, 2)
    up = fit_beta_irt(values, names("a", 6), names("d", 5))
    down = fit_beta_irt(1 - values, names("a", 6), names("d", 5), higher_is_better=False)
    np.testing.assert_allclose(up.trait("ability").estimate, down.trait("ability").estimate, atol=1e-6)
    assert "1 - " in down.warnings[0]


@pytest.mark.slow
def test_diversity_that_fails_is_said():
    values = np.full((5, 4), 0.3) + np.random.default_rng(0).normal(0, 1e-5, (5, 4))
    result = fit_beta_irt(values, names("a", 5), names("d", 4))
    assert any("Assumption 1" in note and "score alike" in note for note in result.warnings)
    noise = np.random.default_rng(1).uniform(0.2, 0.8, (8, 3))
    assert any("do not differ reliably" in note for note in fit_beta_irt(noise, names("a", 8), names("d", 3)).warnings)


def test_what_does_not_fit_is_refused():
    values, *_ = simulate(4, 4, 0.4, 2)
    who = names("a", 4), names("d", 4)
    with pytest.raises(NotApplicableError, match="divide percentages"):
        fit_beta_irt(50 * values + 1, *who)
    with pytest.raises(NotApplicableError, match="at least 3"):
        fit_beta_irt(values[:2], who[0][:2], who[1])
    with pytest.raises(UsageError, match="estimator"):
        recassay.beta_irt(synthetic_results(), estimator="ols")
    with pytest.raises(UsageError, match="sigma"):
        fit_beta_irt(values, *who, sigma=0)
    empty = values.copy()
    empty[1] = np.nan
    with pytest.raises(recassay.RecAssayError, match="a1"):
        fit_beta_irt(empty, *who)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [41, 68, 71, 91])
def test_small_tables_have_wide_intervals_and_no_traceback(seed):
    """Tables on which the search for the nearest density used to leave the place of the posterior."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 7)), int(rng.integers(2, 11))
    values = rng.random((n, m))
    if seed % 10 == 1:
        values[0] = 0.5
    else:
        values[:, 0] = 0.5
    result = fit_beta_irt(values, names("a", n), names("d", m))
    ability = result.trait("ability")
    assert np.isfinite([ability.low, ability.estimate, ability.high]).all()
    assert (ability.high - ability.low).min() > 0.2


@pytest.mark.parametrize("values", [np.zeros((4, 5)), np.ones((3, 3)), np.eye(4), np.full((3, 4), 0.5)])
def test_zeros_ones_and_constants_are_fitted(values):
    result = fit_beta_irt(values, names("a", len(values)), names("d", values.shape[1]))
    for one in result.directions:
        for trait in one.traits.values():
            assert np.isfinite([trait.low, trait.estimate, trait.high]).all()


@pytest.mark.slow
def test_the_hardest_dataset_comes_with_the_share_of_replicates():
    """Far from the others it is the hardest whichever algorithms there are; one of two twins is so by lot."""
    ability = np.linspace(-1, 1, 6)[:, None]
    noise = 0.05 * np.random.default_rng(3).standard_normal((6, 4))
    clear = fit_beta_irt(expit(ability - [3, 0, 0, -2] + noise), names("a", 6), names("d", 4)).directions[1]
    assert clear.ends()["highest"]["d0"] == clear.ends()["lowest"]["d3"] == 1
    twins = fit_beta_irt(expit(ability - [1, 1, 0, -2] + 4 * noise), names("a", 6), names("d", 4))
    shares = twins.directions[1].ends()["highest"]
    assert shares["d0"] + shares["d1"] > 0.95
    assert max(shares.values()) < 1
    said = beta_irt_section.sentences(twins)[0]
    hardest = max(shares, key=lambda name: twins.to_dict()["direction_2"]["challenge"][name]["estimate"])
    assert f"{hardest} is the most challenging dataset" in said
    assert f"in {100 * shares[hardest]:.0f} % of bootstrap replicates over the algorithms" in said
    assert "with probability" not in said, "four datasets give no probability over datasets"
    few = fit_beta_irt(expit(ability - [3, 0, 0, -2] + noise)[:4], names("a", 4), names("d", 4))
    assert "bootstrap" not in beta_irt_section.sentences(few)[0]


@pytest.mark.slow
def test_the_analysis_keeps_the_contract():
    results = recassay.load_results(synthetic_results())
    found = ANALYSIS.run(results, AnalysisSpec("ndcg@10"))
    assert isinstance(found, AnalysisResult)
    ability = found.trait("ability")
    assert ability.names[ability.order()[0]] == "Oracle"
    assert ability.names[ability.order()[-1]] == "Random"
    assert "Oracle has the highest ability" in beta_irt_section.sentences(found)[0]
    with pytest.raises(NotApplicableError):
        ANALYSIS.run(results, AnalysisSpec("seconds_fit"))


@pytest.mark.slow
def test_the_published_matrix(published):
    path, result = published
    ability, challenge = result.trait("ability"), result.trait("challenge")
    order = [ability.names[i] for i in ability.order()]
    assert order[-2:] == ["ENMF", "Random"]
    assert order[0] in {"MultiVAE", "DiffRec", "RaCT"}
    hard = [challenge.names[i] for i in challenge.order()]
    assert set(hard[:2]) == {"All_Beauty", "Handmade_Products"}
    assert set(hard[-2:]) == {"ml-100k", "ml-1m"}
    assert spearmanr(ability.estimate, _gradient_descent(result.values))[0] >= 0.95
    assert result.estimator == "precision"
    assert result.log_posteriors["precision"] > result.log_posteriors["beta"] + 100
    squares = recassay.beta_irt(path, "ndcg@10", estimator="bi-reirt")
    assert squares.trait("ability").order()[-2:] == ability.order()[-2:]
    for direction, by_squares in zip(result.directions, squares.directions, strict=True):
        assert by_squares.mse <= 0.00072
        assert by_squares.mse_mode <= 0.00072
        assert direction.mse_least == pytest.approx(by_squares.mse_mode)
        for each in (direction, by_squares):
            assert each.converged
            assert not each.warnings


@pytest.mark.slow
def test_hits_give_the_same_ends():
    result = recassay.beta_irt("published:bi-reirt", "hit@10")
    ability, challenge = result.trait("ability"), result.trait("challenge")
    assert [ability.names[i] for i in ability.order()][-2:] == ["ENMF", "Random"]
    assert ability.names[ability.order()[0]] == "RaCT"
    assert {challenge.names[i] for i in challenge.order()[:2]} == {"All_Beauty", "Handmade_Products"}
    assert {challenge.names[i] for i in challenge.order()[-2:]} == {"ml-100k", "ml-1m"}


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["auto", "bi-reirt"])
def test_the_description_of_the_posterior_settles_on_thirty_datasets(kdd24, estimator):
    result = recassay.beta_irt(kdd24, "ndcg@10", estimator=estimator)
    assert not result.warnings
    assert all(direction.converged for direction in result.directions)


def _gradient_descent(values: np.ndarray) -> np.ndarray:
    """The paper's estimator: 10,000 steps of 100 on the mean squared error, from one start (a good one)."""
    rng = np.random.default_rng(0)
    n, m = values.shape
    x, y, a = rng.normal(scale=0.1, size=n), np.ones(m), np.ones(m)
    for _ in range(10_000):
        gap = x[:, None] - y
        mean = expit(a * gap)
        slope = 200 * (mean - values) * mean * (1 - mean) / values.size
        x, y, a = x - (slope * a).sum(axis=1), y + (slope * a).sum(axis=0), a - (slope * gap).sum(axis=0)
    assert np.mean((values - expit(a * (x[:, None] - y))) ** 2) < 0.0008
    return x


@pytest.mark.slow
def test_the_command_prints_both_directions_whatever_the_seed(cli, published):
    path, result = published
    first = cli("irt", "beta", path, "--metric", "ndcg@10", "--json", "--seed", 1)
    assert first.code == 0
    assert first.out == cli("irt", "beta", path, "--metric", "ndcg@10", "--json", "--seed", 2).out
    answer = first.json()
    assert set(answer["direction_1"]) == {"ability", "difficulty", "discrimination"}
    assert set(answer["direction_2"]) == {"challenge", "difficulty_limit", "consistency"}
    for traits in (answer["direction_1"], answer["direction_2"]):
        for values in traits.values():
            for entry in values.values():
                low, high = entry["interval"]
                assert low < entry["estimate"] < high
    assert (
        answer["direction_1"]["ability"]["Random"]["estimate"]
        == result.trait("ability").estimate[result.algorithms.index("Random")]
    )
    assert answer["fit"]["direction_1"]["mse_least"] <= 0.00072
    assert answer["settings"]["estimator"] == "precision"
    assert "P(> 0)" in cli("irt", "beta", path, "--all").out
    assert cli("irt", "beta", path, "--estimator", "nonsense").code == 2


def test_labels_do_not_touch():
    placed = label_rows([0.9] * 10 + [0.5, 0.52, 0.1], 0.03)
    gaps = np.diff(np.sort(placed))
    assert (gaps > 0.03 - 1e-9).all()
    assert placed[-1] == pytest.approx(0.1)
    assert label_rows([0.95, 0.99, 0.97], 0.1, top=1.0) == pytest.approx([0.8, 1.0, 0.9])


@pytest.mark.slow
def test_pictures_of_thirty_names_are_drawn():
    values, *_ = simulate(30, 6, 0.4, 1)
    long = tuple(f"Algorithm with a rather long name {i}" for i in range(30))
    result = fit_beta_irt(values, long, names("d", 6))
    assert {figure.name for figure in figures({"irt": result})} == {"irt_traits", "irt_datasets", "irt_algorithms"}
    picture = render(plot_direction(result, number=2), "svg")
    assert picture.count(b"Algorithm with a rather") >= 60
    assert len(plot_traits(result).to_dict()["hconcat"]) == 2


def test_trigamma_is_that_of_scipy():
    from scipy.special import zeta

    from recassay.analysis.beta_irt.trigamma import trigamma

    x = np.exp(np.linspace(-40, 40, 2001)).reshape(3, 667)
    np.testing.assert_allclose(trigamma(x), zeta(2.0, x), rtol=1e-12)


def test_a_table_of_many_cells_climbs_once_to_the_same_mode(monkeypatch):
    rng = np.random.default_rng(8)
    ability, difficulty = rng.normal(size=(9, 1)), rng.normal(size=7)
    values = np.clip(1 / (1 + np.exp(difficulty - ability + rng.normal(0, 0.4, (9, 7)))), 0.02, 0.98)
    responses = ScoreTable.squeeze(values)
    usual = mode.find_mode(responses, 1.0)
    monkeypatch.setattr(mode, "MANY_CELLS", 10)
    once = mode.find_mode(responses, 1.0)
    assert once.log_density == pytest.approx(usual.log_density, abs=1e-6)
    np.testing.assert_allclose(once.z, usual.z, atol=1e-4)


def described(density: str, number: int, confidence: float = 0.8):
    """A small table with a gap, its mode, the normal density of its posterior, and the direction made of them."""
    values = np.clip(simulate(4, 5, 0.5, 3)[0], 0.05, 0.95)
    values[1, 2] = np.nan
    found = find(values, 1.0, density)
    normal = widen(found.posterior, variational(found.posterior, laplace(found.posterior, found.z)))
    direction = fit_direction(number, values, names("r", 4), names("i", 5), found, confidence=confidence)
    return values, found, normal, direction


@pytest.mark.parametrize(("density", "number"), [("beta", 1), ("bi-reirt", 2), ("precision", 2)])
def test_every_number_of_a_direction_follows_from_the_normal_density(density, number):
    values, found, normal, direction = described(density, number)
    sign = 1 if number == 1 else -1
    centre, deviation = normal.mean, np.sqrt(np.diag(normal.covariance))
    half = norm.ppf(0.9) * deviation
    theta, delta, slope = (direction.traits[name] for name in TRAITS[number - 1])
    for trait, part in ((theta, slice(0, 4)), (delta, slice(4, 9))):
        assert trait.estimate == pytest.approx(expit(sign * centre[part]))
        assert trait.low == pytest.approx(expit(sign * centre[part] - half[part]))
        assert trait.high == pytest.approx(expit(sign * centre[part] + half[part]))
        assert trait.mode == pytest.approx(expit(sign * found.z[part]))
    assert slope.estimate == pytest.approx(centre[9:])
    assert (slope.low, slope.high) == (pytest.approx(centre[9:] - half[9:]), pytest.approx(centre[9:] + half[9:]))
    assert (theta.names, delta.names, slope.names) == (names("r", 4), names("i", 5), names("i", 5))
    assert direction.probability_positive == pytest.approx(norm.cdf(centre[9:] / deviation[9:]))
    for i in range(4):
        for j in range(4):
            variance = normal.covariance[i, i] + normal.covariance[j, j] - 2 * normal.covariance[i, j]
            ahead = 0.5 if i == j else norm.cdf(sign * (centre[i] - centre[j]) / np.sqrt(variance))
            assert direction.exceeds[i, j] == pytest.approx(ahead)
    curve = expit(centre[9:] * (centre[:4, None] - centre[4:9]))
    at_mode = expit(found.z[9:] * (found.z[:4, None] - found.z[4:9]))
    seen = np.isfinite(values)
    assert direction.expected == pytest.approx(curve)
    assert direction.mse == pytest.approx(((values - curve)[seen] ** 2).mean())
    assert direction.mse_mode == pytest.approx(((values - at_mode)[seen] ** 2).mean())
    assert direction.mse_least <= direction.mse_mode + 1e-9
    assert (direction.noise, direction.precision) == (found.noise, found.precision)
    if density == "beta":
        likely = log_density(values, expit(centre[:4, None]), expit(centre[4:9]), centre[9:])
    elif density == "precision":
        likely = beta_distribution(found.precision * curve, found.precision * (1 - curve)).logpdf(values)
    else:
        likely = norm(curve, found.noise).logpdf(values)
    assert direction.log_likelihood == pytest.approx(likely[seen].sum())
    inner = normal.covariance[:4, :4] - normal.covariance[:4, :4].mean(axis=0)
    within = np.diag(inner - inner.mean(axis=1, keepdims=True)).mean()
    assert direction.reliability == pytest.approx(centre[:4].var() / (centre[:4].var() + within))
    assert direction.highest.sum() == pytest.approx(1)
    assert direction.lowest.sum() == pytest.approx(1)
    ends = direction.highest, direction.lowest
    assert [own.argmax() for own in ends] == [theta.estimate.argmax(), theta.estimate.argmin()]
    assert direction.range == (theta.estimate.min(), theta.estimate.max())


def test_the_shares_at_the_ends_are_those_of_items_drawn_again(monkeypatch):
    monkeypatch.setattr("recassay.analysis.beta_irt.direction.REPLICATES", 30)
    monkeypatch.setattr("recassay.analysis.beta_irt.direction._AT_ONCE", 500)
    values = np.clip(simulate(3, 4, 0.5, 1)[0], 0.05, 0.95)
    found = find(values, 1.0, "beta")
    shares = shares_at_the_ends(found.posterior, found.z, values, np.random.default_rng(2))
    drawn = dealt_by_content(values, np.random.default_rng(2).multinomial(4, [0.25] * 4, size=30))
    grid = np.linspace(-7, 7, 71)
    highest, lowest = np.zeros(3), np.zeros(3)
    for counts in drawn:
        means = []
        for i in range(3):
            likely = log_density(values[i], expit(grid[:, None]), expit(found.z[3:7]), found.z[7:]) @ counts
            weight = np.exp(likely + np.log(expit(grid) * expit(-grid)))
            means.append((weight * grid).sum() / weight.sum())
        highest[np.argmax(means)] += 1 / 30
        lowest[np.argmin(means)] += 1 / 30
    assert shares[0] == pytest.approx(highest)
    assert shares[1] == pytest.approx(lowest)


@pytest.mark.parametrize(("number", "who", "what"), [(1, "algorithms", "dataset"), (2, "datasets", "algorithm")])
def test_what_fails_is_said_in_words(number, who, what):
    facts = SimpleNamespace(number=number, flat=("y", "z"), reliability=0.494, reached=False, settled=False)
    notes = tuple(direction_warnings(facts))
    fails = f"direction {number}: Assumption 1 (diversity) fails:"
    assert notes == (
        f"{fails} all {who} score alike (within 0.001) on {what} y, z, whose parameters are the priors'",
        f"{fails} the {who} do not differ reliably (reliability 0.49, below 0.5)",
        f"direction {number}: the mode was not reached",
        f"direction {number}: the description of the posterior did not settle; its intervals are rough",
    )
    fine = SimpleNamespace(number=number, flat=(), reliability=0.5, reached=True, settled=True)
    assert not list(direction_warnings(fine))


@pytest.mark.parametrize("many", [0, 5_000])
def test_of_several_starts_the_one_that_leads_highest_is_taken(monkeypatch, many):
    """From abilities turned round the climb ends in the mirrored mode, which the priors make less likely."""
    responses = ScoreTable.squeeze(np.clip(simulate(4, 5, 0.5, 3)[0], 0.05, 0.95))
    best, (good, *_) = find_mode(responses, 1.0), mode.starting_abilities(responses)
    monkeypatch.setattr(mode, "MANY_CELLS", many)
    monkeypatch.setattr(mode, "starting_abilities", lambda _: [-good])
    assert find_mode(responses, 1.0).log_density < best.log_density - 1
    monkeypatch.setattr(mode, "starting_abilities", lambda _: [-good, good])
    assert find_mode(responses, 1.0).log_density == pytest.approx(best.log_density)


def test_every_start_runs_with_the_mean_over_items():
    for seed in range(12):
        values = expit(np.random.default_rng(seed).normal(np.linspace(-1, 1, 5)[:, None], 0.5, (5, 6)))
        mean, turned, first = mode.starting_abilities(ScoreTable.squeeze(values))
        assert min(mean @ turned, mean @ first) > 0
        assert [mean.std(), turned.std(), first.std()] == pytest.approx([1.6] * 3)


def test_chains_that_do_not_mix_have_a_large_r_hat():
    draws = np.random.default_rng(0).normal(size=(40, 3, 2))
    draws[:, 0, 1] += 3.0
    halves = np.concatenate([draws[:20], draws[20:]], axis=1)
    for parameter, found in enumerate(r_hat(np.swapaxes(draws, 0, 1))):
        own = halves[:, :, parameter]
        within, between = own.var(axis=0, ddof=1).mean(), 20 * own.mean(axis=0).var(ddof=1)
        assert found == pytest.approx(np.sqrt((19 / 20 * within + between / 20) / within))
    assert r_hat(np.swapaxes(draws, 0, 1))[1] > 1.5


def test_responses_at_the_ends_are_squeezed_half_way():
    """Of responses far from the ends at most by 0.0005."""
    far = ScoreTable.squeeze(np.array([[0.0, 0.2], [1.0, 0.9]]))
    assert far.values.tolist() == [[0.0005, 0.2], [0.9995, 0.9]]
    table = ScoreTable.squeeze(np.array([[0.0, 0.2, np.nan], [1.0, 0.99975, 0.0004]]))
    assert table.values == pytest.approx(np.array([[0.0002, 0.2, 0.5], [0.999875, 0.99975, 0.0004]]))
    assert table.observed.tolist() == [[1, 1, 0], [1, 1, 1]]
    assert (table.below.tolist(), table.above.tolist()) == ([[1, 0, 0], [0, 0, 0]], [[0, 0, 0], [1, 0, 0]])
    assert table.squeezed == 2
    tiny = ScoreTable.squeeze(np.array([[0.0, 1e-12, 1.0]]))
    assert tiny.values[0, :2].tolist() == [1e-9, 1e-9]
    near = ScoreTable.squeeze(np.array([[0.0, 1 - 1e-12, 1.0]]))
    assert near.values[0, 1:].tolist() == [1 - 1e-9, 1 - 1e-9]
    plain = ScoreTable.plain(np.array([[0.0, np.nan, 1.0]]))
    assert (plain.values.tolist(), plain.squeezed) == ([[0.0, 0.5, 1.0]], 0)


def test_the_likelier_density_is_taken_over_both_directions():
    values = simulate(4, 4, 0.5, 5)[0]
    modes, heights = find_likelier((values, values.T), 1.0)
    plain = [find(table, 1.0, "beta") for table in (values, values.T)]
    free = [find(table, 1.0, "precision") for table in (values, values.T)]
    assert heights == pytest.approx(
        {"beta": sum(own.log_density for own in plain), "precision": sum(own.log_density for own in free)}
    )
    assert {own.density for own in modes} == {max(heights, key=heights.get)}


def test_the_tables_of_both_directions_and_a_table_with_gaps(monkeypatch):
    rows = [(f"A{a}", f"d{d}", "ndcg@10", 0.2 + 0.1 * a + 0.05 * ((a + d) % 4)) for a in range(4) for d in range(4)]
    rows = [row if row[:2] != ("A1", "d2") else (*row[:3], None) for row in rows]
    rows += [("A9", "d0", "ndcg@10", None), ("A9", "d0", "mrr@10", 0.1)]
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row")
    results, asked = recassay.load_results(frame), []
    with monkeypatch.context() as patched:
        patched.setattr(
            "recassay.analysis.beta_irt.fit.fit_beta_irt", lambda *given, **more: asked.append((given, more))
        )
        ANALYSIS.run(results, AnalysisSpec("ndcg@10", alpha=0.2))
        ANALYSIS.run(results, AnalysisSpec("ndcg@10", missing="drop-algorithms", higher_is_better=False))
    (kept, options), (dropped, others) = asked
    assert [list(part) for part in kept[1:]] == [["A0", "A1", "A2", "A3"], ["d0", "d1", "d2", "d3"]]
    assert (options["higher_is_better"], options["confidence"]) == (True, pytest.approx(0.8))
    assert list(dropped[1]) == ["A0", "A2", "A3"]
    assert (others["higher_is_better"], others["confidence"]) == (False, 0.95)
    result = fit_beta_irt(*kept, metric="loss", higher_is_better=False, estimator="beta")
    assert result.warnings[:2] == (
        "lower loss is better: the responses are 1 - loss", "1 of 16 cells are missing and were left out"
    )  # fmt: skip
    assert np.array_equal(result.values, 1 - kept[0], equal_nan=True)
    assert (result.estimator, result.log_posteriors, result.sigma) == ("beta", {}, 1.0)
    second = result.directions[1]
    assert result.trait("challenge") is second.traits["challenge"]
    with pytest.raises(UsageError, match="no trait 'luck'; one of ability, difficulty, discrimination, challenge, "):
        result.trait("luck")
    curves = result.frames()["irt_curves"].filter(direction=2, item="A3")
    limit, slope = (second.traits[name].estimate[3] for name in TRAITS[1][1:])
    trait = curves["trait"].to_numpy()[1:-1]
    # Challenge counts against the algorithm: the curve falls, and is 1/2 at the limit.
    assert curves["expected"].to_numpy()[1:-1] == pytest.approx(expit(slope * (logit(limit) - logit(trait))))
    residuals = result.frames()["irt_residuals"].filter(direction=2, algorithm="A3", dataset="d1").row(0, named=True)
    assert residuals["expected"] == pytest.approx(second.expected[1, 3])
    assert residuals["residual"] == pytest.approx(residuals["value"] - residuals["expected"])
    traits = result.to_frame()
    signs = traits.filter(pl.col("probability_positive").is_not_null())["trait"].unique().to_list()
    assert sorted(signs) == ["consistency", "discrimination"]
    told = replace(result, log_posteriors={"beta": -1.0, "precision": -2.0}).to_dict()
    assert told["settings"] == {"estimator": "beta", "heights": {"beta": -1.0, "precision": -2.0}, "sigma": 1.0,
                                "confidence": 0.95, "posterior": "normal"}  # fmt: skip
    assert (told["metric"], told["higher_is_better"], told["warnings"]) == ("loss", False, list(result.warnings))
    assert told["resampling_share"]["challenge"]["highest"]["d1"] == second.highest[1]
    ranges = result.frames()["irt_ranges"].rows()
    assert ranges == [(d.number, TRAITS[d.number - 1][0], *d.range) for d in result.directions]
    exceeds = result.frames()["irt_exceeds"].filter(direction=1, left="A0", right="A3")["probability_greater"][0]
    assert (
        exceeds == result.directions[0].exceeds[0, 3] == result.to_dict()["probability_greater"]["ability"]["A0"]["A3"]
    )


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (np.full((2, 4), 0.5), {}, "2 algorithms; beta-IRT needs at least 3 algorithms"),
        (np.full((4, 2), 0.5), {}, "2 datasets; beta-IRT needs at least 3 datasets"),
        (np.full((1, 4), 0.5), {}, "1 algorithm; beta-IRT needs at least 3 algorithms"),
        (np.array([[0.5, 0.5, 0.5], [np.nan] * 3, [0.1, 0.2, 0.3]]), {}, "no value of response for algorithm a1"),
        (
            np.array([[0.5, np.nan, 0.5], [0.5, np.nan, 0.1], [0.1, np.nan, 0.3]]),
            {},
            "no value of response for dataset d1",
        ),
        (np.full((3, 3), 50.0), {}, "response runs from 50 to 50; .*between 0 and 1; divide percentages by 100"),
        (np.full((3, 3), 100.0), {}, "response runs from 100 to 100; .*divide percentages by 100"),
        (np.full((3, 3), 0.5), {"sigma": -1.0}, "sigma is -1.0"),
        (np.full((3, 3), 50.0), {"higher_is_better": False}, "response runs from 50 to 50; .*between 0 and 1$"),
        (np.full((3, 3), 500.0), {}, "response runs from 500 to 500; .*between 0 and 1$"),
        (np.full((3, 3), -0.5), {}, "response runs from -0.5 to -0.5; .*between 0 and 1$"),
        (np.full((3, 3), 0.5), {"sigma": 0.0}, "sigma is 0.0; give a positive standard deviation"),
        (np.full((3, 3), 0.5), {"sigma": np.inf}, "sigma is inf"),
    ],
)
def test_tables_and_options_that_do_not_fit_are_refused(values, options, message):
    with pytest.raises(RecAssayError, match=message):
        fit_beta_irt(values, names("a", len(values)), names("d", values.shape[1]), **options)
    with pytest.raises(ValueError, match="do not fit the names"):
        fit_beta_irt(values, names("a", len(values) + 1), names("d", values.shape[1]))


def test_the_noise_of_least_squares_is_its_error_over_the_degrees_of_freedom():
    able = np.array([-1.0, -0.3, 0.2, 0.6, 1.1, 1.5])
    values = expit(able[:, None] - np.linspace(-1, 1, 7)) ** 1.3
    values += 0.05 * np.sin(np.arange(42)).reshape(6, 7) * values * (1 - values)
    values[2, 3] = np.nan
    responses = ScoreTable.squeeze(values)
    start = find_mode(responses, 1.0)
    found = mode.least_squares(responses, 1.0, start.z)
    error = (responses.values - found.posterior.curve(found.z)) * responses.observed
    assert found.noise == pytest.approx(np.sqrt((error**2).sum() / (41 - (6 + 2 * 7) + 2)), rel=1e-4)


@pytest.mark.parametrize(("number", "r_hat", "settled"), [(1, 1.09, True), (2, 1.1, False)])
def test_every_number_of_a_direction_follows_from_its_draws(monkeypatch, number, r_hat, settled):
    values = np.clip(simulate(4, 5, 0.5, 3)[0], 0.05, 0.95)
    found = find(values, 0.7, "beta")
    draws = np.random.default_rng(2).normal(size=(400, 14)) + found.z
    monkeypatch.setattr("recassay.analysis.beta_irt.direction.sample_posterior", lambda *_: (draws, r_hat))
    heard = []
    monkeypatch.setattr("recassay.analysis.beta_irt.direction.find", lambda *given: heard.append(given) or found)
    source = np.random.default_rng(0)
    direction = fit_direction(number, values, names("r", 4), names("i", 5), found, confidence=0.8, rng=source)
    sign = 1 if number == 1 else -1
    theta, delta, slope = (direction.traits[name] for name in TRAITS[number - 1])
    for trait, part in ((theta, slice(0, 4)), (delta, slice(4, 9))):
        low, middle, high = np.quantile(sign * draws[:, part], [0.1, 0.5, 0.9], axis=0)
        assert (trait.low, trait.estimate, trait.high) == tuple(
            pytest.approx(expit(own)) for own in (low, middle, high)
        )
    low, middle, high = np.quantile(draws[:, 9:], [0.1, 0.5, 0.9], axis=0)
    assert (slope.low, slope.estimate, slope.high) == tuple(pytest.approx(own) for own in (low, middle, high))
    assert direction.probability_positive == pytest.approx((draws[:, 9:] > 0).mean(axis=0))
    for i in range(4):
        for j in range(4):
            ahead = 0.5 if i == j else (sign * draws[:, i] > sign * draws[:, j]).mean()
            assert direction.exceeds[i, j] == pytest.approx(ahead)
    apart = draws[:, :4] - draws[:, :4].mean(axis=1, keepdims=True)
    between, within = np.median(draws[:, :4], axis=0).var(), apart.var(axis=0, ddof=1).mean()
    assert direction.reliability == pytest.approx(between / (between + within))
    assert (direction.r_hat, direction.converged) == (r_hat, settled)
    ((_, sigma, density, start),) = heard
    assert (sigma, density, start) == (0.7, "bi-reirt", found), "the squared error has the same priors"
    assert direction.mse_least == direction.mse_mode
    assert any("did not settle" in note for note in direction.warnings) != settled


def test_draws_are_made_where_they_are_asked_for_and_seeded(monkeypatch):
    heard = []

    def fitted(number, table, rows, columns, mode, **options):
        heard.append((number, table.shape, rows, columns, options))
        return SimpleNamespace(number=number, flat=(), reliability=1.0, reached=False, settled=True)

    monkeypatch.setattr("recassay.analysis.beta_irt.fit.fit_direction", fitted)
    table = np.linspace(0.1, 0.9, 12).reshape(3, 4), names("a", 3), names("d", 4)
    plain = fit_beta_irt(*table, estimator="beta", confidence=0.8, sigma=0.7)
    drawn = fit_beta_irt(*table, estimator="beta", posterior="samples", seed=3)
    assert [each[:4] for each in heard[:2]] == [(1, (3, 4), table[1], table[2]), (2, (4, 3), table[2], table[1])]
    assert [each[4] for each in heard[:2]] == [{"confidence": 0.8, "rng": None}] * 2
    for number, each in enumerate(heard[2:], 1):
        assert each[4]["rng"].random() == derived_rng(3, "beta-irt", str(number)).random()
    assert (plain.posterior, plain.confidence, plain.sigma, plain.warnings) == (
        "normal",
        0.8,
        0.7,
        ("direction 1: the mode was not reached", "direction 2: the mode was not reached"),
    )
    assert (drawn.posterior, drawn.confidence, drawn.sigma) == ("samples", 0.95, 1.0)


def test_of_densities_that_are_as_likely_the_models_own_is_taken(monkeypatch):
    monkeypatch.setattr(
        "recassay.analysis.beta_irt.choice.find",
        lambda values, sigma, density, start=None: SimpleNamespace(density=density, log_density=2.0, start=start),
    )
    modes, heights = find_likelier((np.zeros((2, 2)), np.zeros((2, 2))), 1.0)
    assert [found.density for found in modes] == ["beta", "beta"]
    assert heights == {"beta": 4.0, "precision": 4.0}


def test_equal_traits_are_listed_by_name_and_a_mode_is_where_the_gradient_vanishes():
    half = np.full(3, 0.5)
    assert Trait(("c", "a", "b"), half, half, half, half).order() == [1, 2, 0]
    flat = [Mode("beta", None, half, 0.0, gradient).converged for gradient in (0.0, 9.9e-5, 1e-4)]
    assert flat == [True, True, False]


def test_a_precision_is_the_likeliest_with_the_degrees_of_freedom_taken_off():
    values, theta, delta, a = simulate(7, 6, 0.5, 3)
    table, at = ScoreTable.squeeze(values), (logit(theta), logit(delta), a)

    def likelihood(precision):
        mean = expit(a * (logit(theta)[:, None] - logit(delta)))
        return beta_distribution(precision * mean, precision * (1 - mean)).logpdf(values).sum()

    best = _best_precision(table, at, 1.0)
    assert likelihood(best) > max(likelihood(best * 1.02), likelihood(best / 1.02))
    assert _best_precision(table, at, 0.9) == pytest.approx(0.9 * (1 + best) - 1)
    assert _best_precision(table, at, 1e-9) == 1.0


def test_no_direction_is_wider_than_the_priors_nor_sharper_than_rounding_allows():
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    found = beta_normal._positive(turn @ np.diag([1e12, 2.0, -3.0]) @ turn.T)
    assert np.linalg.eigvalsh(found) == pytest.approx([0.04, 2.0, 1e10], rel=1e-4)
    usual = np.diag([1.0, 4.0])
    for precision, near in (([0.26, 4.0], True), ([0.24, 4.0], False), ([1.0, 0.99], False), ([9.0, 9.0], True)):
        assert beta_normal._near(np.diag(precision), usual) == near


@pytest.fixture(scope="module")
def twenty_cells():
    """A posterior of four respondents and five items, and the normal density around its mode."""
    values = simulate(4, 5, 0.5, 2)[0]
    posterior = Posterior(density_cells(ScoreTable.squeeze(values)), 4, 5, 1.0)
    return posterior, laplace(posterior, find(values, 1.0, "beta").z)


def test_a_guess_far_wider_than_the_step_is_not_followed(twenty_cells, monkeypatch):
    posterior, start = twenty_cells
    monkeypatch.setattr(beta_normal, "_MOST_STEPS", 12)
    monkeypatch.setattr(beta_normal, "_from_flat", lambda flat, unit: None)
    plain = variational(posterior, start)
    wide = np.eye(posterior.size) * 1e-3
    monkeypatch.setattr(beta_normal, "_from_flat", lambda flat, unit: (flat[: len(unit)] + 5.0, wide))
    assert variational(posterior, start).mean == pytest.approx(plain.mean)


def test_a_density_is_found_less_closely_for_tables_of_many_cells(twenty_cells, monkeypatch):
    """Twenty cells: within 0.001 deviations, or 0.01 where these are more than many."""
    posterior, start = twenty_cells
    away = {}
    for many in (20, 19):
        monkeypatch.setattr(beta_normal, "MANY_CELLS", many)
        found = variational(posterior, start)
        assert found.converged
        gradient, hessian = beta_normal.expected(posterior, found.mean, found.covariance)
        away[many] = np.abs(np.linalg.solve(-hessian, gradient) / np.sqrt(np.diag(found.covariance))).max()
    assert away[20] < 1e-3
    assert away[20] < away[19] < 1e-2


def test_traits_are_listed_from_the_largest_down():
    found = Trait(("a", "b", "c"), np.array([0.2, 0.9, 0.5]), *(np.zeros(3) for _ in range(3)))
    assert found.order() == [1, 2, 0]


def test_a_policy_for_missing_cells_knows_the_direction_that_was_asked_for(monkeypatch):
    """Of a metric whose direction nobody knows, the worst value of a dataset is what the caller says it is."""
    rows = [(a, d, "strange", v) for a, d, v in (
        ("A", "x", 0.1), ("A", "y", 0.2), ("B", "x", 0.3), ("C", "x", 0.5), ("C", "y", 0.6),
    )]  # fmt: skip
    results = Results.from_frame(pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row"))
    asked = []
    monkeypatch.setattr(beta_fit, "fit_beta_irt", lambda *given, **options: asked.append((given, options)))
    for upward, worst in ((False, 0.6), (True, 0.2)):
        beta_fit.fit_on_results(results, "strange", missing="worst", higher_is_better=upward)
        (values, algorithms, datasets), options = asked.pop()
        assert values.tolist() == [[0.1, 0.2], [0.3, worst], [0.5, 0.6]]
        assert (tuple(algorithms), tuple(datasets)) == (("A", "B", "C"), ("x", "y"))
        assert (options["metric"], options["higher_is_better"]) == ("strange", upward)


@pytest.mark.parametrize(("number", "sign"), [(1, 1), (2, -1)])
def test_the_curve_of_an_item_rises_with_ability_and_falls_with_challenge(number, sign):
    estimates = (SimpleNamespace(estimate=np.array([value])) for value in (0.6, 2.0))
    traits = dict(zip(TRAITS[number - 1][1:], estimates, strict=True))
    frame = Direction.curves(SimpleNamespace(number=number, items=("i",), traits=traits))
    assert frame.columns == ["direction", "item", "trait", "expected"]
    assert frame["direction"].unique().to_list() == [number]
    level = np.array([0.2, 0.6, 0.9])
    found = [frame.filter((pl.col("trait") - at).abs() < 1e-9)["expected"].item() for at in level]
    assert found == pytest.approx(expit(sign * 2.0 * (logit(level) - logit(0.6))))


def test_a_trajectory_that_leaves_the_numbers_is_not_followed(monkeypatch):
    """A standard normal density that is not a number beyond 1 in the first coordinate: nothing is drawn there."""
    monkeypatch.setattr(sampling, "WARM_UP", 20)
    monkeypatch.setattr(sampling, "DRAWS", 40)

    def evaluate(z, curved):
        value = np.where(z[:, 0] > 1, np.nan, -0.5 * (z**2).sum(axis=1))
        return value, -z, None

    posterior = SimpleNamespace(size=2, evaluate=evaluate)
    draws, _ = sampling.sample_posterior(posterior, Gaussian(np.zeros(2), np.eye(2), True), np.random.default_rng(0))
    assert draws.shape == (640, 2)
    assert draws[:, 0].max() <= 1
    assert draws.std(axis=0).min() > 0.4


@pytest.mark.parametrize(("shape", "holes", "share"), [((4, 5), 0, 8 / 20), ((4, 5), 3, 5 / 17), ((3, 3), 3, 1 / 6)])
def test_residuals_count_as_many_as_the_degrees_of_freedom_and_one_at_least(monkeypatch, shape, holes, share):
    asked = []
    monkeypatch.setattr(beta_precision, "_best_precision", lambda *given: asked.append(given[2]) or 10.0)
    values = np.random.default_rng(2).uniform(0.2, 0.8, shape)
    values.ravel()[[0, 4, 8][:holes]] = np.nan
    n, m = shape
    start = np.concatenate([np.zeros(n + m), np.ones(m)])
    beta_precision.fit_precision(ScoreTable.squeeze(values), 1.0, start)
    assert asked == [pytest.approx(share)]
