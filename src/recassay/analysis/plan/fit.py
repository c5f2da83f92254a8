"""How many more datasets, seeds or users would show a difference, simulated from the hierarchical model."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from scipy.special import betaln

from recassay.analysis.inference.all_pairs import fewest_datasets
from recassay.analysis.inference.distributions import normal_cdf, normal_quantile, t_quantile
from recassay.analysis.inference.significance import dataset_ranks
from recassay.analysis.inference.winners import fewest_to_remove
from recassay.analysis.model.cells import read_cells
from recassay.analysis.model.fit import fit_model
from recassay.analysis.model.result import ModelResult
from recassay.analysis.plan.result import MOST, Look, PairPlan, PlanResult
from recassay.analysis.verdict.fit import judge
from recassay.analysis.verdict.result import Verdict
from recassay.core import ties
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.choices import FEWEST_DATASETS, MANY_ALGORITHMS, SHOWN_OF_MANY, PairTest, refuse_level
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results
from recassay.core.tables.scores import PairedScores
from recassay.core.types import FloatArray

POWER = 0.8
PRIOR = 0.5
"""Both parameters of the Beta mixture: Jeffreys' prior of the probability of winning."""


def plan_study(
    results: Results,
    metric: str,
    *,
    difference: float | None = None,
    power: float = POWER,
    alpha: float = 0.05,
    higher_is_better: bool | None = None,
    users: PairedScores | None = None,
    families: str | Mapping[str, str] | None = None,
    test: PairTest = "sign-flips",
    looks: bool = False,
    seed: int = 0,
) -> PlanResult:
    """For every undecided pair: the datasets at which a new benchmark shows the lead with probability `power`.

    That probability is an average (O'Hagan, Stevens and Campbell 2005, "Assurance in clinical trial design"): over what
    the difference of the two levels may be, by the hierarchical model, wrong directions included. An observed lead
    taken as true would promise too much, since leads that are looked at are lucky ones. Around the levels lie the
    interaction and the noise of seeds and users, with the tails that the model saw. `difference` (relative: 0.02 is
    2 %) is planned for as if it were known. `alone` tests the pair at `alpha` (a pair named before the study, or a
    control); `among_all` at alpha / m for m pairs. Two further numbers say what more seeds or more users could save:
    the datasets needed without that noise. Who is ahead, and by how much, is as the verdict has it. Pairs that the
    verdict has decided are left out; with more than 60 algorithms so are those of all but the 30 best. `looks` adds the
    sequential test (`look_at`).
    """
    if difference is not None and not 0 < difference < 10:
        raise UsageError(f"difference is {difference}", fix="give a relative difference above 0, such as 0.02")
    if not 0.5 <= power < 1:
        raise UsageError(f"power is {power}", fix="give a probability from 0.5 to below 1")
    refuse_level(alpha)
    model = fit_model(results, metric, higher_is_better=higher_is_better, users=users, families=families, seed=seed)
    if len(model.datasets) < FEWEST_DATASETS:
        raise NotApplicableError(
            f"{model.metric} has {len(model.datasets)} datasets", fix=f"planning needs {FEWEST_DATASETS} to learn from"
        )
    cells = read_cells(results, metric, higher_is_better)
    whole = np.isfinite(cells.values).all(axis=1)
    names = tuple(cells.datasets[j] for j in np.flatnonzero(whole))
    removal = look = verdict = None
    if len(names) >= 2:
        matrix = Matrix(cells.values[whole].T, cells.algorithms, names, cells.metric, cells.higher_is_better)
        removal = fewest_to_remove(dataset_ranks(matrix))
        look = look_at(matrix, alpha=alpha) if looks else None
        verdict = judge(matrix, alpha=alpha, families=families, test=test, seed=seed)

    # Pairs that the verdict leaves open, and of those the ones that are planned for.
    order, k = model.order(), len(model.algorithms)
    undecided = list(combinations(order, 2))
    shown = set(order if k <= MANY_ALGORITHMS else order[:SHOWN_OF_MANY])
    if verdict is not None:
        place = [verdict.algorithms.index(name) for name in model.algorithms]
        undecided = [(a, b) for a, b in undecided if verdict.status[place[a]][place[b]].startswith("undecid")]
        spoken = {verdict.leaders[0], verdict.rival}
        shown |= {model.algorithms.index(name) for name in spoken}
    among = alpha / (k * (k - 1) / 2)
    pairs = [
        _pair(model, left, right, difference, power, alpha=alpha, among=among, seed=seed, verdict=verdict)
        for left, right in undecided
        if shown.issuperset((left, right))
    ]
    if verdict is not None:  # the pair that the verdict speaks of comes first
        pairs.sort(key=lambda pair: {pair.left, pair.right} != spoken)
    return PlanResult(
        metric=model.metric,
        algorithms=model.algorithms,
        datasets=model.datasets,
        relative=model.scale.transform != "identity",
        difference=difference,
        power=power,
        alpha=alpha,
        pairs=tuple(pairs),
        decided=k * (k - 1) // 2 - len(undecided),
        left_out=len(undecided) - len(pairs),
        challenger=None if removal is None else cells.algorithms[removal[0]],
        removed=() if removal is None else tuple(names[d] for d in removal[1]),
        complete=len(names),
        shares=model.shares.of_a_difference(),
        look=look,
        judgement=verdict,
    )


def _pair(
    model: ModelResult,
    a: int,
    b: int,
    difference: float | None,
    power: float,
    alpha: float,
    among: float,
    seed: int,
    *,
    verdict: Verdict | None = None,
    turned: bool = False,
) -> PairPlan:
    """What would show that the one with the better mean rank is better.

    Without a verdict it is whichever is likelier to win datasets; the one with the better level need not be that:
    failures move no level, but lose datasets.
    """
    if verdict is not None:
        left = verdict.pair(model.algorithms[a], model.algorithms[b]).a
        a, b = (a, b) if left == model.algorithms[a] else (b, a)
    relative = model.scale.transform != "identity"
    rng = derived_rng(seed, "plan", model.metric)  # the same for every pair, whatever the names
    gap = model.level[:, a] - model.level[:, b]
    residual = model.new[:, a] - model.new[:, b] - gap
    shifts = gap
    if difference is not None:
        residual = residual - np.median(residual)
        shifts = np.array([np.log1p(difference) if relative else difference * np.abs(model.level).mean()])
    noise = rng.standard_normal(len(residual))
    repeats, over_users = model.shares.repeats, model.shares.users
    seen = {
        kept: residual + np.sqrt(2 * variance) * noise
        for kept, variance in (("all", repeats + over_users), ("users", over_users), ("repeats", repeats))
    }
    standard = {kept: standardised(shifts, around, rng) for kept, around in seen.items()}
    chance = float((standard["all"] > 0).mean())
    if difference is None and chance < 0.5 and not turned and verdict is None:
        return _pair(model, b, a, difference, power, alpha=alpha, among=among, seed=seed, turned=True)
    ends = np.quantile(gap, [0.25, 0.5, 0.75])
    low, _, high = standardised(ends, seen["all"], rng)[:, None]  # one draw for both, so that the ends are in order
    if verdict is not None:
        effect = verdict.pair(model.algorithms[a], model.algorithms[b]).effect
        relative, none = effect.kind == "ratio", float(effect.kind == "ratio")
        size, spread = effect.estimate - none, effect.interval and tuple(end - none for end in effect.interval)
    else:
        middle = np.expm1(ends) if relative else ends
        size, spread = float(middle[1]), (float(middle[0]), float(middle[2]))
    return PairPlan(
        left=model.algorithms[a],
        right=model.algorithms[b],
        gap=size,
        low=spread[0] if spread else None,
        high=spread[1] if spread else None,
        relative=relative,
        chance=chance,
        assurance=float(power_of(standard["all"], len(model.datasets), level=alpha).mean()),
        alone=datasets_needed(standard["all"], level=alpha, power=power),
        fewest=None if difference is not None else datasets_needed(high, level=alpha, power=power),
        most=None if difference is not None else datasets_needed(low, level=alpha, power=power),
        among_all=datasets_needed(standard["all"], level=among, power=power),
        without_repeats=datasets_needed(standard["users"], level=alpha, power=power),
        without_users=datasets_needed(standard["repeats"], level=alpha, power=power),
    )


def _run(results: Results, spec: AnalysisSpec) -> PlanResult:
    return plan_study(
        results,
        spec.metric,
        alpha=spec.alpha,
        test=spec.test,
        higher_is_better=spec.higher_is_better,
        users=spec.known("users"),
        seed=spec.seed,
    )


ANALYSIS = Analysis(
    name="plan",
    question="How many more {datasets}, seeds or {users} would show what this study could not?",
    source="assurance: power averaged over the posterior of the hierarchical model",
    run=_run,
)


EFFICIENCY = 3 / np.pi
"""Datasets that Student's test needs for one of the signed-rank test, where differences are normal."""


def standardised(shifts: FloatArray, around: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Mean differences in deviations of a normal difference that the signed-rank test finds as easily.

    With D = shift + R, R the residuals `around` it, the test sees P(D + D' > 0); a normal difference with that chance
    has mean over deviation z / sqrt(2). So tails and failures count as much as the test lets them.
    """
    halves = np.sort((around + rng.permutation(around)) / 2)
    chance = 1 - (np.searchsorted(halves, -shifts) + 0.5) / (len(halves) + 1)
    return np.asarray(normal_quantile(chance) / np.sqrt(2))


def power_of(standard: FloatArray, n: int, level: float) -> FloatArray:
    """The chance that n datasets show a difference with this mean over deviation, in its own direction.

    That of Student's test with the efficiency of the signed-rank test, by the normal approximation to the noncentral t.
    The fewest datasets that could show anything must all be won; fewer show nothing.
    """
    if n < fewest_datasets(level):
        return np.zeros_like(standard)
    effective, freedom = EFFICIENCY * n, n - 1
    critical = float(t_quantile(1 - level / 2, freedom))
    above = standard * np.sqrt(effective) * (1 - 1 / (4 * freedom)) - critical
    power: FloatArray = normal_cdf(above / np.sqrt(1 + critical**2 / (2 * freedom)))
    return np.minimum(power, normal_cdf(standard) ** n) if n == fewest_datasets(level) else power


def datasets_needed(standard: FloatArray, level: float, power: float) -> int | None:
    """The fewest datasets that show the difference with this probability, averaged over what it may be; None beyond
    `MOST`."""

    def enough(n: int) -> bool:
        return float(power_of(standard, n, level).mean()) >= power

    low, high = fewest_datasets(level) - 1, MOST
    if not enough(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def look_at(matrix: Matrix, *, alpha: float = 0.05) -> Look:
    """The statement that watching does not spoil.

    Each pair has an e-value, a bet against "each wins half of the datasets" (`sign_evidence`); 1 / E times the
    number of pairs is a p-value that stays valid whatever makes one stop or go on (Ville 1939), and whichever algorithm
    happens to lead. It needs more datasets than a test that is made once: the price of looking.
    """
    ranks = ties.ranks(matrix.values, higher_is_better=matrix.higher_is_better, axis=0)
    k, n = ranks.shape
    order = sorted(range(k), key=lambda a: (ranks[a].mean(), matrix.algorithms[a]))
    first, others = order[0], order[1:]
    wins = (ranks[first] < ranks[others]).sum(axis=1).astype(np.float64)
    losses = (ranks[first] > ranks[others]).sum(axis=1).astype(np.float64)
    p = np.minimum(1.0, anytime_p(wins, losses) * k * (k - 1) / 2)
    names = [matrix.algorithms[a] for a in others]
    beaten = (p < alpha) & (wins > losses)
    return Look(
        leader=matrix.algorithms[first],
        behind=tuple(names[i] for i in np.flatnonzero(beaten)),
        open=tuple(names[i] for i in np.flatnonzero(~beaten)),
        datasets=n,
        alpha=alpha,
        p=dict(zip(names, p.tolist(), strict=True)),
    )


def sign_evidence(wins: FloatArray, losses: FloatArray) -> FloatArray:
    """How much a gambler makes who bets against "each wins half of the datasets", starting with 1 (an e-value).

    The mixture of the likelihood ratios of theta against 1/2 over a Beta(1/2, 1/2) prior,
    E = 2^n B(wins + 1/2, losses + 1/2) / B(1/2, 1/2), is a martingale under the null, so P(sup E >= 1 / alpha) <= alpha
    whatever the stopping rule (Ville 1939; Ramdas et al. 2023, "Game-theoretic statistics and safe anytime-valid
    inference"). Ties leave it as it is.
    """
    log_evidence = (wins + losses) * np.log(2.0) + betaln(wins + PRIOR, losses + PRIOR) - betaln(PRIOR, PRIOR)
    return np.asarray(np.exp(log_evidence))


def anytime_p(wins: FloatArray, losses: FloatArray) -> FloatArray:
    """The p-value 1 / E (at most 1), valid at any time."""
    return np.minimum(1.0, 1.0 / sign_evidence(wins, losses))
