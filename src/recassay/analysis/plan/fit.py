"""How many more datasets, seeds or users would show a difference, simulated from the hierarchical model."""

from __future__ import annotations

import numpy as np

from recassay.analysis.aggregation.contest import Contest
from recassay.analysis.inference.removal import fewest_to_remove
from recassay.analysis.model.cells import read_cells
from recassay.analysis.model.fit import PairedScores, fit_model
from recassay.analysis.plan.look import look_at
from recassay.analysis.plan.power import concordance, datasets_needed
from recassay.analysis.plan.result import PairPlan, PlanResult
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results

__all__ = ["look_at", "plan_study"]

POWER = 0.8
FEWEST_DATASETS = 3


def plan_study(
    results: Results,
    metric: str,
    *,
    difference: float | None = None,
    power: float = POWER,
    alpha: float = 0.05,
    higher_is_better: bool | None = None,
    users: PairedScores | None = None,
    seed: int = 0,
) -> PlanResult:
    """For every pair: the datasets at which the signed-rank test shows it with probability `power`.

    Differences between two algorithms on datasets like these are drawn from the hierarchical model: the levels apart by
    what the model estimates (or by `difference`, relatively: 0.02 is 2 %), and around that the interaction and the
    noise of seeds and users, with the tails that the model saw; `power.datasets_needed` turns them into a number.
    `alone` tests the pair at `alpha` (a pair named before the study, or a control); `among_all` at alpha / m for m
    pairs, the level at which Holm's correction starts. Two further numbers say what more seeds or more users could
    save: the datasets needed without that noise.
    """
    if difference is not None and not 0 < difference < 10:
        raise UsageError(f"difference is {difference}", fix="give a relative difference above 0, such as 0.02")
    if not 0.5 <= power < 1:
        raise UsageError(f"power is {power}", fix="give a probability from 0.5 to below 1")
    if not 0 < alpha < 1:
        raise UsageError(f"alpha is {alpha}", fix="give a level between 0 and 1")
    model = fit_model(results, metric, higher_is_better=higher_is_better, users=users, seed=seed)
    if len(model.datasets) < FEWEST_DATASETS:
        raise NotApplicableError(
            f"{model.metric} has {len(model.datasets)} datasets", fix=f"planning needs {FEWEST_DATASETS} to learn from"
        )
    order = model.order()
    mean = model.level.mean(axis=0)
    around = model.new - model.level
    noise = derived_rng(seed, "plan", model.metric).standard_normal(len(around))
    level = alpha / (len(order) * (len(order) - 1) / 2)
    repeats, over_users = model.shares.repeats, model.shares.users
    pairs = []
    for i, a in enumerate(order):
        for b in order[i + 1 :]:
            gap = float(mean[a] - mean[b])
            own = around[:, a] - around[:, b]
            drawn = own + gap if difference is None else own - np.median(own) + np.log1p(difference)
            chance = {
                kept: concordance(drawn + np.sqrt(2 * variance) * noise)
                for kept, variance in (("all", repeats + over_users), ("users", over_users), ("repeats", repeats))
            }
            pairs.append(
                PairPlan(
                    left=model.algorithms[a],
                    right=model.algorithms[b],
                    gap=float(np.expm1(gap)) if model.scale.transform != "identity" else gap,
                    alone=datasets_needed(chance["all"], alpha, power),
                    among_all=datasets_needed(chance["all"], level, power),
                    without_repeats=datasets_needed(chance["users"], alpha, power),
                    without_users=datasets_needed(chance["repeats"], alpha, power),
                )
            )
    cells = read_cells(results, metric, higher_is_better)
    whole = np.isfinite(cells.values).all(axis=1)
    removal = look = None
    kept = [cells.datasets[j] for j in np.flatnonzero(whole)]
    if whole.sum() >= 2:
        values = cells.values[whole].T
        contest = Contest(values[None], higher_is_better=cells.higher_is_better)
        removal = fewest_to_remove(contest.ranks[0])
        complete = Matrix(values, cells.algorithms, tuple(kept), cells.metric, cells.higher_is_better)
        look = look_at(complete, alpha=alpha)
    return PlanResult(
        metric=model.metric,
        algorithms=model.algorithms,
        datasets=model.datasets,
        difference=difference,
        power=power,
        alpha=alpha,
        pairs=tuple(pairs),
        challenger=None if removal is None else cells.algorithms[removal[0]],
        removed=() if removal is None else tuple(kept[d] for d in removal[1]),
        shares=model.shares.of_a_difference(),
        look=look,
    )


def _run(results: Results, spec: AnalysisSpec) -> PlanResult:
    return plan_study(
        results,
        spec.metric,
        alpha=spec.alpha,
        higher_is_better=spec.higher_is_better,
        users=spec.known("users"),
        seed=spec.seed,
    )


ANALYSIS = Analysis(
    name="plan",
    question="How many more datasets, seeds or users would show what this study could not?",
    source="power of the signed-rank test by simulation from the hierarchical model",
    run=_run,
)
