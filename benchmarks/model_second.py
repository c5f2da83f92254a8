"""The hierarchical model a second time, by other means, on three tables: both must give the same probabilities.

    python benchmarks/model_second.py [--steps 800]

`inference.full_covariance` completes the table by Gibbs sampling and moves on a grid of settings. Here true scores and
settings are summed out: on each dataset the scores are normal with covariance Sigma plus noise for every combination of
kinds of cells, and the prior of S is a mixture over all settings. What is left (m, v, c, S, kappa) is sampled by an
ensemble of walkers that stretch along lines through each other (Goodman and Weare 2010), which shares no line with the
Gibbs sampler. It takes about a minute.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np
from scipy.special import logsumexp, multigammaln

from recassay.analysis.inference import full_covariance as prior
from recassay.analysis.inference.chains import SHRINKAGE_PRIOR, SHRINKAGES
from recassay.analysis.inference.hierarchical import fit_hierarchical

WALKERS, STRETCH = 64, 2.0


def tables() -> dict[str, np.ndarray]:
    """Three tables: one with differences, one with a failure, one with missing cells."""
    rng = np.random.default_rng(7)

    def made(n: int, k: int, spread: float) -> np.ndarray:
        return spread * rng.standard_normal(k) + 1.5 * rng.standard_normal((n, 1)) + rng.standard_normal((n, k))

    failed, holes = made(12, 3, 0.5), made(10, 3, 0.5)
    failed[4, 1] -= 25.0
    holes[[0, 3, 5, 8], [0, 2, 1, 0]] = np.nan
    return {"12 x 3, levels differ": made(12, 3, 0.7), "12 x 3, one failure": failed, "10 x 3, 4 cells missing": holes}


class Posterior:
    """The log density of many points at once: m, log v, the factor L of S with a logarithmic diagonal, u and x.

    c = L u / sqrt(kappa); kappa is the quantile of its prior at the logistic function of x.
    """

    def __init__(self, scores: np.ndarray) -> None:
        n, self.k = scores.shape
        given = prior.FullCovariance(scores, np.zeros(scores.shape), np.arange(n), 2, np.random.default_rng(0))
        self.d = d = self.k - 1
        self.back = given.back
        grid = list(product(prior.SPARE_DEGREES, prior.WIDTHS, range(len(prior.OWN))))
        self.degrees = np.array([spare + self.k for spare, _, _ in grid])
        self.scales = np.stack([spare * width * given.bases[own] for spare, width, own in grid])
        self.constant = (
            self.degrees / 2 * np.linalg.slogdet(self.scales)[1] - self.degrees * d / 2 * np.log(2)
            - np.array([multigammaln(one / 2, d) for one in self.degrees])
        )  # fmt: skip
        kinds = np.array(list(product(range(len(given.log_kinds)), repeat=self.k)))
        there = ~np.isnan(scores)
        self.weight = given.log_kinds[kinds].sum(axis=1) + np.where(
            (~there[:, None] & (kinds > 0)).any(axis=2), -np.inf, 0.0
        )  # a missing cell is of one kind
        self.scores = np.nan_to_num(scores)
        self.added = given.added[np.arange(self.k), kinds] + (given.noise + np.where(there, 0.0, 1e8))[:, None]
        self.steps = np.cumsum(SHRINKAGE_PRIOR)[:-1]
        self.rows, self.columns = np.tril_indices(d)
        self.diagonal = np.flatnonzero(self.rows == self.columns)

    def parts(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The factor of S, and the levels of the algorithms."""
        lower = np.zeros((len(points), self.d, self.d))
        lower[:, self.rows, self.columns] = points[:, 3 + self.d :]
        at = np.arange(self.d)
        lower[:, at, at] = np.exp(lower[:, at, at])
        kappa = np.array(SHRINKAGES)[np.searchsorted(self.steps, 1 / (1 + np.exp(-points[:, 2])))]
        middle = (lower @ points[:, 3 : 3 + self.d, None])[:, :, 0] / np.sqrt(kappa)[:, None]
        return lower, points[:, :1] + middle @ self.back.T

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """The log density at each point, up to a constant."""
        lower, level = self.parts(points)
        x, normal = points[:, 2], points[:, 3 : 3 + self.d]
        log_diagonal = points[:, 3 + self.d :][:, self.diagonal]
        found = -np.abs(x) - 2 * np.log1p(np.exp(-np.abs(x))) - (normal**2).sum(axis=1) / 2
        # S = L L' has the Jacobian prod L_ii^(d - i + 1), and the logarithms on the diagonal one more power of each
        found += (np.arange(self.d + 1, 1, -1) * log_diagonal).sum(axis=1)
        inverse = np.linalg.inv(lower @ lower.swapaxes(1, 2))
        wishart = self.constant - (self.degrees + self.d + 1) * log_diagonal.sum(axis=1)[:, None]
        wishart = wishart - np.einsum("gxy,pyx->pg", self.scales, inverse) / 2
        loads = self.back @ lower
        sigma = np.exp(points[:, 1])[:, None, None] + loads @ loads.swapaxes(1, 2)
        found += logsumexp(wishart, axis=1)
        return np.asarray(found + logsumexp(self._scores(sigma, level) + self.weight, axis=2).sum(axis=1))

    def _scores(self, sigma: np.ndarray, level: np.ndarray) -> np.ndarray:
        """Normal log densities, points x datasets x kinds: Cholesky's factor, entry by entry over all of them."""
        k, error = self.k, self.scores - level[:, None]
        factor: dict[tuple[int, int], np.ndarray] = {}
        half: list[np.ndarray] = []
        log_density = np.zeros((len(level), *self.added.shape[:2]))
        for i in range(k):
            for j in range(i):
                rest = sigma[:, i, j][:, None, None] - sum(factor[i, s] * factor[j, s] for s in range(j))
                factor[i, j] = rest / factor[j, j]
            own = sigma[:, i, i][:, None, None] + self.added[:, :, i] - sum(factor[i, s] ** 2 for s in range(i))
            factor[i, i] = np.sqrt(own)
            half.append((error[:, :, i][:, :, None] - sum(factor[i, s] * half[s] for s in range(i))) / factor[i, i])
            log_density -= half[i] ** 2 / 2 + np.log(own) / 2
        return log_density


def sample(density: Posterior, scores: np.ndarray, steps: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Points of the second half of the steps, steps x walkers x parameters, and the share of accepted moves."""
    size = 3 + density.d + len(density.rows)
    start = np.zeros(size)
    start[0], start[1] = np.nanmedian(scores), np.log(max(np.nanvar(np.nanmedian(scores, axis=1)), 1e-3))
    points = start + 0.3 * rng.standard_normal((WALKERS, size))
    height, kept, accepted = density(points), [], 0.0
    halves = np.arange(WALKERS).reshape(2, -1)
    for step in range(steps):
        for own, other in (halves, halves[::-1]):
            stretch = ((STRETCH - 1) * rng.random(len(own)) + 1) ** 2 / STRETCH
            partner = points[rng.choice(other, size=len(own))]
            tried = partner + stretch[:, None] * (points[own] - partner)
            new = density(tried)
            take = np.log(rng.random(len(own))) < (size - 1) * np.log(stretch) + new - height[own]
            points[own[take]], height[own[take]] = tried[take], new[take]
            accepted += take.mean() / 2 / steps
        if step >= steps // 2:
            kept.append(points.copy())
    return np.stack(kept), accepted


def main() -> None:
    """P(best) of every algorithm by both, and the intervals of the levels."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=800)
    steps = parser.parse_args().steps
    for name, scores in tables().items():
        ours = fit_hierarchical(scores, rng=np.random.default_rng(0))
        density = Posterior(scores)
        points, accepted = sample(density, scores, steps, np.random.default_rng(1))
        runs = [density.parts(part.reshape(-1, part.shape[2]))[1] for part in np.array_split(points, 8)]
        best = np.stack([_best(one) for one in runs])
        error = best.std(axis=0, ddof=1) / np.sqrt(len(runs))
        print(f"{name} ({100 * accepted:.0f} % of the moves accepted)")
        print(f"  P(best) Gibbs {_best(ours.level).round(3).tolist()} (error at most {ours.error:.3f})")
        print(f"  P(best) walkers {best.mean(axis=0).round(3).tolist()} (errors {error.round(3).tolist()})")
        level = np.concatenate(runs)
        for tail in (0.025, 0.5, 0.975):
            one, other = (np.quantile(draws, tail, axis=0).round(2).tolist() for draws in (ours.level, level))
            print(f"  {100 * tail:g} % quantile of the levels: Gibbs {one}, walkers {other}", flush=True)


def _best(level: np.ndarray) -> np.ndarray:
    return np.bincount(level.argmax(axis=1), minlength=level.shape[1]) / len(level)


if __name__ == "__main__":
    main()
