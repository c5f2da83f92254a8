"""Logistic IRT on users: algorithms are the respondents, users the items, and a hit is a right answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from recassay.analysis.logistic_irt.fit import fit_logistic
from recassay.analysis.logistic_irt.priors import ItemPriors
from recassay.analysis.logistic_irt.start import constant_items
from recassay.analysis.user_irt.result import ALL, LEAST_ALGORITHMS, LEAST_USERS, MOST_USERS, UserFit, UserIRTResult
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.choices import LogisticModel
from recassay.core.errors import NotApplicableError
from recassay.core.system.display import worded
from recassay.core.tables.responses import MISSING, Responses
from recassay.core.tables.results import Results

USER_PRIORS = ItemPriors(slope_deviation=0.5, intercept_deviation=2.0, adaptive=False, anchored=True)
"""With 5 to 30 algorithms the slopes of many users have no scale of their own: left free they run away together."""


def fit_user_irt(
    tables: Mapping[str, Responses],
    model: LogisticModel = "1pl",
    *,
    metric: str = "hitrate",
    priors: ItemPriors | None = USER_PRIORS,
    confidence: float = 0.95,
) -> UserIRTResult:
    """Fit the users of each dataset, and those of all datasets together (abilities ~ Normal(0, 1) in each).

    Users whom every algorithm serves, or none, tell nothing apart and are counted only. With few algorithms a user's
    own parameters are weakly determined, and `reliability` says how weakly. The 1PL has one discrimination for all
    users and its intervals hold with 5 algorithms already (they are of abilities among these algorithms: origin and
    unit of the scale, which all share, do not count); the 2PL and 3PL need the tight `USER_PRIORS`, and their
    intervals are too narrow below some 20 algorithms. Datasets with fewer than 3 algorithms or 20 telling users are
    left out with a note.
    """
    too_few: dict[str, tuple[int, int]] = {}
    used: dict[str, Responses] = {}
    for name, table in tables.items():
        telling = ~constant_items(table)
        if len(table.respondents) < LEAST_ALGORITHMS or telling.sum() < LEAST_USERS:
            too_few[name] = len(table.respondents), int(telling.sum())
        else:
            used[name] = table
    if not used:
        reasons = "; ".join(worded("user_irt", "left_out", too_few))
        raise NotApplicableError(f"no dataset has enough users: {reasons}", fix="use a study with more users")
    kept = {name: _fit(table, model, priors, confidence=confidence) for name, table in used.items()}
    if len(kept) > 1:
        kept = {ALL: _fit(pooled(used), model, priors, confidence=confidence), **kept}
    return UserIRTResult(metric, model, kept, confidence=confidence, too_few=too_few)


def pooled(tables: Mapping[str, Responses]) -> Responses:
    """The users of all datasets as items; an algorithm without a dataset has no response there."""
    respondents = sorted({name for table in tables.values() for name in table.respondents})
    place = {name: i for i, name in enumerate(respondents)}
    parts = []
    for table in tables.values():
        codes = np.full((len(respondents), len(table.items)), MISSING, dtype=np.uint8)
        codes[[place[name] for name in table.respondents]] = table.codes
        parts.append(codes)
    items = tuple(f"{name}/{user}" for name, table in tables.items() for user in table.items)
    return Responses(np.concatenate(parts, axis=1), tuple(respondents), items)


def _fit(table: Responses, model: LogisticModel, priors: ItemPriors | None, confidence: float) -> UserFit:
    telling = np.flatnonzero(~constant_items(table))
    right, known = table.right(), table.observed()
    by_all = int(((right.sum(axis=0) == known.sum(axis=0)) & right.any(axis=0)).sum())
    chosen = telling
    if len(telling) > MOST_USERS:
        chosen = telling[np.linspace(0, len(telling) - 1, MOST_USERS).round().astype(np.int64)]
    fit = fit_logistic(table.on_items(chosen), model, priors=priors or False, confidence=confidence)
    fit = replace(fit, ability_intervals=fit.abilities.interval(confidence))
    return UserFit(
        users=len(table.items),
        hit_by_all=by_all,
        hit_by_none=len(table.items) - by_all - len(telling),
        hit_rate=dict(zip(table.respondents, table.score_share().tolist(), strict=True)),
        fit=fit,
    )


def _run(results: Results, spec: AnalysisSpec) -> UserIRTResult:
    metric, tables = spec.required("user_responses")(spec.metric)
    return fit_user_irt(tables, metric=metric, confidence=1 - spec.alpha)


ANALYSIS = Analysis(
    name="user_irt",
    question="Which {algorithm} serves {users} that others fail, and how much do {users} differ?",
    source="logistic IRT with users as items; Cardoso et al. 2020",
    run=_run,
)
