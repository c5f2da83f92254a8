"""The hierarchical model a second time, by other means: NumPyro's NUTS on the marginal likelihood, on three tables.

    pip install numpyro                      # in an environment of its own
    PYTHONPATH=src python benchmarks/model_numpyro.py

`inference.hierarchical` completes the table by Gibbs sampling and moves on a grid of settings. Here true scores and
settings are summed out: z_j is normal with covariance Sigma plus noise for every combination of kinds of cells, and the
prior of S and c is a mixture over all settings. What is left (m, v, c, S) is sampled by Hamiltonian Monte Carlo. Both
must give the same probabilities, up to chance.
"""

from __future__ import annotations

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from jax.scipy.special import logsumexp
from numpyro import distributions as dist
from numpyro.infer import MCMC, NUTS
from scipy.special import multigammaln

from recassay.analysis.inference import hierarchical as ours

jax.config.update("jax_enable_x64", True)


def tables() -> dict[str, np.ndarray]:
    """Three tables: one with differences, one with a failure, one with missing cells."""
    rng = np.random.default_rng(7)

    def made(n: int, k: int, spread: float) -> np.ndarray:
        return spread * rng.standard_normal(k) + 1.5 * rng.standard_normal((n, 1)) + rng.standard_normal((n, k))

    failed, holes = made(12, 3, 0.5), made(10, 3, 0.5)
    failed[4, 1] -= 25.0
    holes[[0, 3, 5, 8], [0, 2, 1, 0]] = np.nan
    return {"12 x 3, levels differ": made(12, 3, 0.7), "12 x 3, one failure": failed, "10 x 3, 4 cells missing": holes}


def model(scores: np.ndarray, given: ours._Sampler) -> None:
    """m, v, c and S; everything else is summed out."""
    k = scores.shape[1]
    d = k - 1
    centre = numpyro.sample("m", dist.ImproperUniform(dist.constraints.real, (), ()))
    log_shared = numpyro.sample("log_v", dist.ImproperUniform(dist.constraints.real, (), ()))  # p(v) ~ 1 / v
    middle = numpyro.sample("c", dist.ImproperUniform(dist.constraints.real, (), (d,)))
    lower = numpyro.sample("L", dist.ImproperUniform(dist.constraints.lower_cholesky, (), (d, d)))
    diagonal = jnp.diagonal(lower)
    numpyro.factor("jacobian of S = L L'", (jnp.arange(d, 0, -1) * jnp.log(diagonal)).sum())
    covariance = lower @ lower.T
    inverse = jnp.linalg.inv(covariance)
    log_det, length = 2 * jnp.log(diagonal).sum(), middle @ inverse @ middle
    grid = list(product(ours.SPARE_DEGREES, ours.WIDTHS, range(len(ours.OWN))))
    degrees = np.array([spare + k for spare, _, _ in grid])
    scales = np.stack([spare * width * given.bases[own] for spare, width, own in grid])
    constant = (
        degrees / 2 * np.linalg.slogdet(scales)[1] - degrees * d / 2 * np.log(2)
        - np.array([multigammaln(one / 2, d) for one in degrees])
    )  # fmt: skip
    wishart = constant - (degrees + d + 1) / 2 * log_det - jnp.einsum("gxy,yx->g", scales, inverse) / 2
    kappa = np.array(ours.SHRINKAGES)
    normal = np.log(ours.SHRINKAGE_PRIOR) + d / 2 * np.log(kappa) - log_det / 2 - kappa * length / 2
    numpyro.factor("prior of S and c", logsumexp(wishart) + logsumexp(normal))
    loads = given.back @ lower
    sigma = jnp.exp(log_shared) + loads @ loads.T
    level = centre + given.back @ middle
    numpyro.deterministic("level", level)
    kinds = np.array(list(product(range(len(given.log_kinds)), repeat=k)))
    added = given.added[np.arange(k), kinds]  # combinations x algorithms
    weight = given.log_kinds[kinds]
    there = ~np.isnan(scores)
    allowed = np.where((~there[:, None] & (kinds > 0)).any(axis=2), -np.inf, 0.0)  # a missing cell is of one kind
    known = np.nan_to_num(scores)
    spread = sigma + jax.vmap(jax.vmap(jnp.diag))(added + given.noise[:, None] + np.where(there, 0.0, 1e8)[:, None])
    lower = jnp.linalg.cholesky(spread)  # datasets x combinations
    error = jax.scipy.linalg.solve_triangular(
        lower, (known - level)[:, None, :, None] + 0 * spread[..., :1], lower=True
    )
    log_density = -(error**2).sum(axis=(2, 3)) / 2 - jnp.log(jnp.diagonal(lower, axis1=2, axis2=3)).sum(axis=2)
    numpyro.factor("scores", logsumexp(log_density + weight.sum(axis=1) + allowed, axis=1).sum())


def main() -> None:
    """P(best) of every algorithm by both, and the intervals of the levels."""
    for name, scores in tables().items():
        found = ours.fit_hierarchical(scores, rng=np.random.default_rng(0))
        given = ours._Sampler(scores, np.zeros(scores.shape), np.arange(len(scores)), np.random.default_rng(0))
        k = scores.shape[1]
        start = {"m": 0.0, "log_v": 0.0, "c": jnp.zeros(k - 1), "L": jnp.eye(k - 1)}
        sampler = MCMC(NUTS(model, init_strategy=numpyro.infer.init_to_value(values=start)), num_warmup=200,
                       num_samples=1000, progress_bar=False)  # fmt: skip
        sampler.run(jax.random.PRNGKey(1), scores, given)
        level = np.asarray(sampler.get_samples()["level"])
        print(f"{name}\n  P(best)    ours {_best(found.level)}   NumPyro {_best(level)}")
        for tail in (0.025, 0.5, 0.975):
            one, other = (np.quantile(draws, tail, axis=0).round(2).tolist() for draws in (found.level, level))
            print(f"  {tail:5.1%} ours {one}   NumPyro {other}", flush=True)


def _best(level: np.ndarray) -> list[float]:
    return (np.bincount(level.argmax(axis=1), minlength=level.shape[1]) / len(level)).round(3).tolist()


if __name__ == "__main__":
    main()
