"""A few steps of every iteration lead where they led: what is followed to its end elsewhere is followed closely here.

Where an iteration ends depends on the processor, and a step of it does not. Numbers are kept to five digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from recassay.analysis.adaptive.belief import _kernels, _latents
from recassay.analysis.adaptive.prior import Prior, support
from recassay.analysis.beta_irt import direction, sampling
from recassay.analysis.beta_irt import normal as beta_normal
from recassay.analysis.beta_irt.mode import newton
from recassay.analysis.beta_irt.model import Posterior, ScoreTable, density_cells
from recassay.analysis.beta_irt.precision import precision_cells
from recassay.analysis.certify.belief import Blocks, believe
from recassay.analysis.inference.chains import Chains
from recassay.analysis.inference.failures import draw_failures
from recassay.analysis.inference.few_factors import FewFactors
from recassay.analysis.inference.full_covariance import FullCovariance
from recassay.analysis.logistic_irt import em, grid, items, priors
from recassay.analysis.logistic_irt.errors import item_covariance
from recassay.analysis.multiverse import shares
from recassay.analysis.multiverse.repeats import seed_shares
from recassay.analysis.multiverse.shares import variance_parts
from recassay.core.system.plain import plain
from recassay.core.tables.responses import Responses
from support.frozen import changed

CLOSE = 1e-5
LESS_CLOSE = {"blocks": 2e-3, "single precision": 1e-3, "draws": 1e-3}
"""Where a search without derivatives, or fewer digits, end sooner."""


def answers(
    n: int, m: int, *, seed: int, slope: float = 1.3, guessing: float = 0.0, gaps: float = 0.0, turned: int = 0
) -> Responses:
    """Of respondents whose abilities are normal; the first `turned` items are answered the wrong way round."""
    random = np.random.default_rng(seed)
    able, hard = random.normal(size=(n, 1)), random.normal(size=m)
    steep = slope * np.exp(0.3 * random.normal(size=m)) * np.where(np.arange(m) < turned, -1, 1)
    right = random.random((n, m)) < guessing + (1 - guessing) / (1 + np.exp(-steep * (able - hard)))
    return Responses.from_array(np.where(random.random((n, m)) < gaps, np.nan, right))


def cycles(table: Responses, model: Any, asked: Any, count: int, tolerance: float = 1e-4) -> dict[str, Any]:
    """Cycles of the EM algorithm: where each ended, how far it looked ahead, and what it would do next."""
    run = em.EMRun(table, model, asked, tolerance)
    path: dict[str, list[Any]] = {}
    while run.cycle < count and not run.converged:
        run.advance()
        shown = np.arange(len(run.points))[run.shown]
        seen = {
            "change": run.change, "ahead": run.ahead, "near": run.near, "converged": run.converged,
            "guessed": run.guessed, "steps": run.extrapolation.steps, "points": len(run.points),
            "shown": [int(shown[0]), int(shown[-1])],
            "slope": float(run.reached.slope.sum()), "intercept": float(run.reached.intercept.sum()),
            "guessing": float(run.reached.guessing.sum()), "next": float(run.state.slope.sum()),
        }  # fmt: skip
        for name, value in seen.items():
            path.setdefault(name, []).append(value)
    prior = {} if run.priors is None else asdict(run.priors)
    return path | {"history": run.history, "state": plain(run.state), "priors": prior}


STEEP = answers(60, 90, seed=3, slope=3.0)
"""So many telling items that the grid is made finer on the way."""


def scattered() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean ranks of three algorithms in two thirds of the universes of a grid."""
    random = np.random.default_rng(6)
    levels = np.array([3, 2, 4])
    places = np.array(list(product(*map(range, levels))))
    places = places[random.random(len(places)) < 0.67]
    effects = [random.normal(size=(size, 3)) * scale for size, scale in zip(levels, (1.0, 0.4, 0.2), strict=True)]
    ranks = sum(effect[places[:, i]] for i, effect in enumerate(effects)) + 0.3 * random.normal(size=(len(places), 3))
    return ranks, places, levels


def shares_of_universes(patch: pytest.MonkeyPatch) -> dict[str, Any]:
    patch.setattr(shares, "DRAWS", 60)
    parts = variance_parts(*scattered(), np.random.default_rng(2))
    assert parts is not None
    drawn = {"mean": parts.products.mean(axis=0), "deviation": parts.products.std(axis=0),
             "distance": np.quantile(parts.of_distance(), [0.05, 0.5, 0.95], axis=0)}  # fmt: skip
    return {name: numbers.ravel().tolist() for name, numbers in drawn.items()}


def belief_about_blocks() -> dict[str, Any]:
    random = np.random.default_rng(8)
    places = np.array(list(product(range(3), range(2), range(4))))
    blocks = Blocks(places[:, :2], places[:, 2])
    run = np.sort(random.permutation(24)[:15])
    values = random.normal(size=(3, 6))[places[run, 0]] + random.normal(size=(4, 6))[places[run, 2]]
    values = values + 0.3 * random.normal(size=values.shape)
    theta = np.array([0.2, -1.0, -1.2, -1.4, 0.6, 0.9])
    first, again = believe(blocks, run, values), believe(blocks, run, values, theta)
    drawn = first.draw(3, random)
    return {
        "theta": first.theta.tolist(), "again": again.theta.tolist(), "mean": first.mean.ravel().tolist(),
        "spread": first.spread.ravel().tolist(), "outputs": first.outputs.ravel().tolist(),
        "degrees": first.degrees, "drawn": drawn.ravel().tolist(),
    }  # fmt: skip


def posterior(density: str, n: int = 6, m: int = 7) -> Posterior:
    """That of a table with a missing cell, a zero and a one."""
    random = np.random.default_rng(11)
    values = 1 / (1 + np.exp(-random.normal(size=(n, 1)) + random.normal(size=m) - 0.5 * random.normal(size=(n, m))))
    values[0, 0], values[1, 1], values[2, 2] = np.nan, 0.0, 1.0
    table = ScoreTable.squeeze(values)
    cells = density_cells(table) if density == "beta" else precision_cells(table, 12.0)
    return Posterior(cells, n, m, 0.8)


@cache
def mode() -> np.ndarray:
    """That of the model's own density, by Newton's method from the middle."""
    target = posterior("beta")
    return newton(target, np.concatenate([np.zeros(13), np.ones(7)]), 25)[0]


def description(density: str, steps: int) -> Callable[[pytest.MonkeyPatch], Any]:
    """The normal density after so many steps from the mode, and the same widened."""

    def told(patch: pytest.MonkeyPatch) -> Any:
        patch.setattr(beta_normal, "_MOST_STEPS", steps)
        target = posterior(density)
        start = beta_normal.laplace(target, mode())
        found = beta_normal.variational(target, start)
        wide = beta_normal.widen(target, found)
        parts = {"start": start, "found": found, "wide": wide}
        return {name: [part.mean.tolist(), part.covariance.ravel().tolist(), part.converged]
                for name, part in parts.items()}  # fmt: skip

    return told


def scores(n: int, k: int) -> np.ndarray:
    """Datasets x algorithms, with a failure and a missing cell."""
    random = np.random.default_rng(4)
    values = random.normal(size=(n, 1)) + 0.4 * random.normal(size=k) + 0.3 * random.normal(size=(n, k))
    values[1, 2] -= 9.0
    values[3, 0] = np.nan
    return np.asarray(values)


def chains(make: Callable[[np.ndarray, np.random.Generator], Chains]) -> dict[str, Any]:
    """A few steps of the sampler side by side."""
    sampler = make(scores(8, 5), np.random.default_rng(9))
    sampler.burn_in = 2
    level, new, cells, variances = sampler.run(4)
    parts = {"level": level, "new": new, "cells": cells, "variances": variances, "outlying": sampler.outlying}
    return {name: part.ravel().tolist() for name, part in parts.items()}


def latents(*, with_probes: bool = False) -> list[float]:
    random = np.random.default_rng(5)
    values = random.normal(size=(4, 6 if with_probes else 3))
    values[:, 1], values[2, 0], values[1, 2] = np.nan, np.nan, values[0, 2]
    log_size = np.array([3.0, 5.0, 9.0])
    kernels = _kernels(3, log_size, with_probes=with_probes, informed=False)
    drawn, _ = _latents(values, *kernels, None, 3, random)
    return drawn.ravel().tolist()


def failures() -> list[float]:
    failed = np.zeros((4, 6), dtype=bool)
    run = np.ones((4, 6), dtype=bool)
    failed[0, 4:], failed[1, 2], run[:, 5], run[3, :3] = True, True, False, False
    size = np.array([2.0, 3.0, 4.0, 6.0, 8.0, 9.0])
    elsewhere = np.full((4, 2), 0.5), np.array([5.0, 10.0])
    drawn = [draw_failures(failed & run, run, size, 400, np.random.default_rng(3), elsewhere=other).mean(axis=0)
             for other in (None, elsewhere)]  # fmt: skip
    return np.concatenate(drawn).ravel().tolist()


def hard_items() -> dict[str, Any]:
    """Newton's steps on items that start far off, one of them where the second derivatives do not allow one."""
    random, points = np.random.default_rng(2), np.linspace(-3, 3, 13)
    trials = np.ones((5, 13)) * np.exp(-(points**2) / 4) * 8
    share = 0.2 + 0.75 / (1 + np.exp(-np.array([0.4, 1.0, 2.5, -1.0, 6.0])[:, None] * points))
    state = items.ItemState(
        np.array([3.0, -2.0, 0.1, 2.0, 9.0]), np.array([4.0, 3.0, -6.0, 0.0, 1.0]), random.normal(size=5)
    )
    right, held = trials * share, priors.ItemPriors()
    found = {
        f"{model} {steps}": plain(items.maximise_items(points, right, trials, state, model, held, steps=steps))
        for model, steps in product(("2pl", "3pl"), (1, 6))
    }
    free = items.maximise_items(points, right, trials[:1], state, "3pl", steps=4)
    return found | {"free": plain(free)}


def single(patch: pytest.MonkeyPatch) -> dict[str, Any]:
    patch.setattr(grid, "DOUBLE", 0)
    return cycles(answers(40, 25, seed=5, gaps=0.1), "2pl", priors.ItemPriors(), 9)


def errors(model: Any, joint: int) -> Callable[[pytest.MonkeyPatch], Any]:
    def told(patch: pytest.MonkeyPatch) -> Any:
        from recassay.analysis.logistic_irt import errors as module

        patch.setattr(module, "JOINT", joint)
        table = answers(50, 6, seed=8, gaps=0.1, turned=1)
        found = em.fit_em(table, model, priors=priors.ItemPriors(), max_cycles=6)
        return item_covariance(table, found, model).ravel().tolist()

    return told


def seeds() -> dict[str, Any]:
    """Values of two algorithms on three datasets under four split seeds, two or three fit seeds each."""
    random = np.random.default_rng(12)
    rows = [
        {"algorithm": a, "dataset": d, "split_seed": str(s), "fit_seed": str(f),
         "value": 0.3 + 0.02 * random.normal() + 0.03 * np.sin(7 * s + 2 * ord(d))}
        for a in "AB" for d in "xyz" for s in range(4) for f in range(2 + (s == 1))
    ]  # fmt: skip
    return {share.seed: asdict(share) for share in seed_shares(pl.DataFrame(rows), (), np.random.default_rng(1))}


def draws(patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A few draws of the posterior, and who is first and last when items are drawn again."""
    for name, value in (("CHAINS", 3), ("WARM_UP", 4), ("DRAWS", 6)):
        patch.setattr(sampling, name, value)
    patch.setattr(direction, "REPLICATES", 60)
    target = posterior("beta")
    start = beta_normal.laplace(target, mode())
    drawn, r_hat = sampling.sample_posterior(target, start, np.random.default_rng(2))
    ends = direction.shares_at_the_ends(
        target, start.mean, np.random.default_rng(4).random((6, 7)), np.random.default_rng(3)
    )
    return {"drawn": drawn.ravel().tolist(), "r_hat": r_hat, "ends": [end.tolist() for end in ends]}


def few_effects(patch: pytest.MonkeyPatch) -> dict[str, Any]:
    patch.setattr(shares, "MOST_EFFECTS", 12)
    return shares_of_universes(patch)


def applies() -> list[float]:
    """How far a prior that does not know the last algorithm is believed, by orders with gaps, a failure and a tie."""
    prior = Prior(
        ("x",), np.array([1.0, 0.2, -0.8, 0.1]), np.array([0.3, 0.4, 0.3, np.inf]), np.eye(4), np.full(4, np.nan),
        np.zeros((4, 0)), np.zeros(0),
    )  # fmt: skip
    values = np.array(
        [[3.0, 2.0, np.nan, 1.0], [2.0, 2.5, 1.0, 1.0], [1.0, -np.inf, 0.5, 2.0], [np.nan, 1.0, 4.0, 0.0]]
    )
    return [support(prior, part) for part in (values, values[:, :1], -values[:, 3:], values[::-1])]


GUESSED, GAPS = answers(40, 12, seed=7, guessing=0.2), answers(40, 12, seed=2, gaps=0.2, turned=2)
HELD = priors.ItemPriors()
FAMILIES = np.array([0, 0, 0, 1, 1, 2, 3, 4])
STEPS: dict[str, Callable[[pytest.MonkeyPatch], Any]] = {
    "2pl": lambda _: cycles(answers(60, 12, seed=1), "2pl", None, 20),
    "2pl to the end": lambda _: cycles(answers(60, 12, seed=1), "2pl", None, 24, 0.02),
    "1pl": lambda _: cycles(answers(40, 9, seed=1, gaps=0.2), "1pl", HELD, 12),
    "2pl with priors and gaps": lambda _: cycles(GAPS, "2pl", HELD, 16),
    "3pl": lambda _: cycles(GUESSED, "3pl", HELD, 14),
    "anchored": lambda _: cycles(GUESSED, "3pl", priors.ItemPriors(adaptive=False, anchored=True), 10),
    "many items": lambda _: cycles(STEEP, "2pl", HELD, 13),
    "single precision": single,
    "hard items": lambda _: hard_items(),
    "errors of all items together": errors("3pl", 240),
    "errors of each item": errors("3pl", 0),
    "errors of one slope": errors("1pl", 240),
    "shares of universes": shares_of_universes,
    "blocks": lambda _: belief_about_blocks(),
    "beta": description("beta", 9),
    "precision": description("precision", 9),
    "full covariance": lambda _: chains(
        lambda of, random: FullCovariance(of, np.full_like(of, 0.01), np.arange(8), 3, random)
    ),
    "families": lambda _: chains(lambda of, random: FullCovariance(of, np.zeros_like(of), FAMILIES, 3, random)),
    "few factors": lambda _: chains(lambda of, random: FewFactors(of, np.full_like(of, 0.01), 3, random)),
    "latent scores": lambda _: latents(),
    "latent scores of probes": lambda _: latents(with_probes=True),
    "failures": lambda _: failures(),
    "seeds": lambda _: seeds(),
    "draws": draws,
    "few effects": few_effects,
    "applies": lambda _: applies(),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_lead_where_they_led(name, monkeypatch):
    assert changed("steps", name, STEPS[name](monkeypatch), near=LESS_CLOSE.get(name, CLOSE)) == []
