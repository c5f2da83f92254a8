"""The draws of the hierarchical model one by one, against the distributions that they are drawn from."""

from __future__ import annotations

import numpy as np
import pytest

from recassay.analysis.inference.chains import interactions, without_outliers
from recassay.analysis.inference.few_factors import FewFactors
from recassay.analysis.inference.full_covariance import RELATIONS, FullCovariance

CHAINS = 4000


def scores(n: int, k: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, k)) + np.arange(k)


def test_what_a_family_shares_is_drawn_given_the_residuals_of_its_members():
    """Residuals are c + e, c ~ N(0, rho S) of the family and e ~ N(0, (1 - rho) S) of the dataset."""
    families = np.array([0, 1, 0, 0])
    chains = FullCovariance(scores(4, 3), np.zeros((4, 3)), families, CHAINS, np.random.default_rng(2))
    assert chains.relations.tolist() == list(RELATIONS)
    at = int(np.argmin(np.abs(np.array(RELATIONS) - 0.5)))
    rho = RELATIONS[at]
    assert 0 < rho < 1
    residual = np.array([[1.0, 0.0], [2.0, -1.0], [3.0, 0.5], [-1.0, 1.0]])
    factor = np.array([[2.0, 0.0], [1.0, 0.5]])
    drawn = chains._common(
        np.repeat(residual[None], CHAINS, axis=0), np.full(CHAINS, at), np.repeat(factor[None], CHAINS, axis=0)
    )
    assert np.array_equal(drawn[:, 0], drawn[:, 2])
    assert np.array_equal(drawn[:, 0], drawn[:, 3])
    for dataset, members in ((0, [0, 2, 3]), (1, [1])):
        among = 1 - rho + rho * len(members)
        spread = rho * (1 - rho) / among * factor @ factor.T
        mean = rho / among * residual[members].sum(axis=0)
        error = 5 * np.sqrt(np.diag(spread) / CHAINS)
        assert (np.abs(drawn[:, dataset].mean(axis=0) - mean) < error).all()
        assert np.cov(drawn[:, dataset].T) == pytest.approx(spread, rel=0.15, abs=0.02 * spread.max())


def test_datasets_without_relatives_have_no_relation_to_learn():
    alone = FullCovariance(scores(4, 3), np.zeros((4, 3)), np.arange(4), 8, np.random.default_rng(0))
    assert alone.relations.tolist() == [RELATIONS[0]] == [0.0]


def test_a_single_algorithm_has_a_mean_with_students_t():
    table = scores(5, 1)
    chains = FullCovariance(table, np.zeros((5, 1)), np.arange(5), CHAINS, np.random.default_rng(3))
    level, new, variances, outlier = chains.step()
    squares = ((chains.table[0, :, 0] - chains.table[0, :, 0].mean()) ** 2).sum()
    assert (squares / variances[:, 0]).mean() == pytest.approx(4, rel=0.08), "chi-square with n - 1 degrees of freedom"
    assert ((level - table.mean())[:, 0] ** 2 * 5 / variances[:, 0]).mean() == pytest.approx(1, rel=0.12)
    assert ((new - level)[:, 0] ** 2 / variances[:, 0]).mean() == pytest.approx(1, rel=0.12)
    assert not variances[:, 1].any()
    assert not outlier.any()


def test_few_factors_tell_what_datasets_share_by_the_products_of_loadings():
    chains = FewFactors(scores(8, 6), np.zeros((8, 6)), 12, np.random.default_rng(4))
    _, _, variances, _ = chains.step()
    products = chains.load @ chains.load.swapaxes(1, 2)
    apart = ~np.eye(6, dtype=bool)
    mean_of_pairs = products[:, apart].mean(axis=1)
    whole = np.trace(products, axis1=1, axis2=2) / 6 + chains.interaction.mean(axis=1)
    shared = variances.sum(axis=1) - whole
    assert variances[:, 0] == pytest.approx(shared + mean_of_pairs)
    assert (shared > 0).all()


def test_what_the_levels_move_the_datasets_by_is_part_of_every_level(monkeypatch):
    """One dataset's effect is like the others', so that the centre is near their mean."""
    chains = FewFactors(np.tile(scores(1, 6), (9, 1)), np.zeros((9, 6)), 12, np.random.default_rng(4))
    before = chains.row.mean()
    monkeypatch.setattr(chains, "_levels", lambda rest: np.full(12, 100.0))
    level, new, _, _ = chains.step()
    assert level - chains.column == pytest.approx(np.full((12, 6), before + 100), abs=1.0)
    assert new == pytest.approx(level, abs=5.0)


def test_without_evidence_the_mean_of_a_factor_is_that_of_its_datasets():
    """The factors of n datasets are N(0, I): their mean has the variance 1 / n."""
    chains = FewFactors(scores(8, 6), np.zeros((8, 6)), CHAINS, np.random.default_rng(5))
    chains.interaction = np.full_like(chains.interaction, 1e9)
    chains._levels(chains.table - chains.factor @ chains.load.swapaxes(1, 2))
    means = chains.factor.mean(axis=1)
    assert means.mean(axis=0) == pytest.approx(np.zeros(means.shape[1]), abs=5 / np.sqrt(8 * CHAINS))
    assert means.var(axis=0) == pytest.approx(np.full(means.shape[1], 1 / 8), rel=0.15)


@pytest.mark.parametrize(("n", "middle"), [(4, np.mean), (5, np.median), (9, np.median)])
def test_from_five_datasets_on_failures_do_not_count_as_interaction(n, middle):
    table = scores(n, 3)
    table[1, 2] -= 50.0
    rest = table - middle(table, axis=1, keepdims=True)
    rest = rest - middle(rest, axis=0)
    cut = np.clip(rest, *(sign * 3 * 1.4826 * np.median(np.abs(rest), axis=0) for sign in (-1, 1)))
    own = ((rest if n < 5 else cut) ** 2).sum(axis=0) / (n - 1) * 3 / 2
    tau = interactions(table)
    assert tau == pytest.approx((n * own + 5 * own.mean()) / (n + 5))
    start, farthest = without_outliers(table, tau)
    reach = 4 * np.sqrt(tau)
    assert start == pytest.approx(table - rest + np.clip(rest, -reach, reach))
    assert farthest == pytest.approx(max((rest**2 / tau).max(), 6.0))


def test_the_effects_of_related_datasets_have_the_mean_of_least_squares():
    families = np.array([0, 0, 0, 1, 2])
    chains = FullCovariance(scores(5, 3), np.zeros((5, 3)), families, 200, np.random.default_rng(6))
    row = np.random.default_rng(7).normal(size=(200, 5))
    relation, centre, squares = chains._rows(row)
    assert len(np.unique(relation)) > 1
    related = families[:, None] == families
    for chain in range(0, 200, 10):
        rho = RELATIONS[relation[chain]]
        inverse = np.linalg.inv((1 - rho) * np.eye(5) + rho * related)
        mean = (inverse @ row[chain]).sum() / inverse.sum()
        assert centre[chain] == pytest.approx(mean)
        assert squares[chain] == pytest.approx((row[chain] - mean) @ inverse @ (row[chain] - mean))


def test_variances_of_few_factors_are_inverse_gamma():
    chains = FewFactors(scores(8, 6), np.zeros((8, 6)), CHAINS, np.random.default_rng(8))
    chains.closeness, chains.scale = np.full(CHAINS, 4.0), np.full(CHAINS, 0.5)
    rest = np.random.default_rng(9).normal(size=(8, 6))
    chains._variances(np.repeat(rest[None], CHAINS, axis=0))
    expected = (4 + 8 / 2) / (4 * 0.5 + (rest**2).sum(axis=0) / 2)
    assert (1 / chains.interaction).mean(axis=0) == pytest.approx(expected, rel=0.05)
    assert (chains.scale * 4 * (1 / chains.interaction).sum(axis=1)).mean() == pytest.approx(6 * 4, rel=0.02)


def test_factors_are_drawn_as_a_regression_on_their_loadings():
    """With loadings L and variances P: N(M L' P^-1 y, M), M = (I + L' P^-1 L)^-1; then the loadings likewise."""
    chains = FewFactors(scores(8, 6), np.zeros((8, 6)), CHAINS, np.random.default_rng(10))
    load, own = chains.load[0].copy(), chains.interaction[0].copy()
    rest = (chains.table - chains.row[:, :, None] - chains.column[:, None])[0]
    chains._factors()
    covariance = np.linalg.inv(np.eye(load.shape[1]) + (load / own[:, None]).T @ load)
    mean = rest @ (load / own[:, None]) @ covariance
    error = 5 * np.sqrt(np.diag(covariance) / CHAINS)
    assert (np.abs(chains.factor.mean(axis=0) - mean) < error).all()
    assert np.cov(chains.factor[:, 3].T) == pytest.approx(covariance, rel=0.2, abs=0.06 * covariance.max())
    squares = (chains.load**2).sum(axis=1) / 2 + 0.05 * chains.middle
    assert (squares / chains.spread).mean(axis=0) == pytest.approx(np.full(load.shape[1], 0.5 + 6 / 2), rel=0.06)


def test_an_algorithm_that_never_departs_has_a_hundredth_of_the_usual_interaction_at_least():
    noise = np.random.default_rng(11).uniform(0.5, 2.0, (600, 2))
    tau = interactions(np.column_stack([-noise[:, 0], np.zeros(600), noise[:, 1]]))
    mean = (tau[0] + tau[2]) * 605 / (3 * 600 + 10)  # of the three before they are drawn together, the second 0
    assert tau[1] == pytest.approx(0.01 * mean, rel=1e-6)
