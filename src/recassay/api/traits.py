"""Verbs that estimate latent traits: beta-IRT and Glicko-2 on a results table, logistic IRT on a binary one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recassay.api.results import default_metric, load_results

if TYPE_CHECKING:
    from recassay.analysis.beta_irt import BetaIRTResult, Estimator, GapPolicy, PosteriorForm
    from recassay.analysis.glicko import GlickoResult
    from recassay.analysis.logistic_ability import AbilityMethod
    from recassay.analysis.logistic_priors import ItemPriors, LogisticModel
    from recassay.analysis.logistic_result import LogisticResult
    from recassay.analysis.user_irt import UserIRTResult
    from recassay.core.responses import Responses
    from recassay.core.results import MissingPolicy


def fit_beta_irt(
    results: Any,
    metric: str | None = None,
    *,
    missing: GapPolicy = "keep",
    higher_is_better: bool | None = None,
    sigma: float = 1.0,
    estimator: Estimator | None = None,
    posterior: PosteriorForm = "normal",
    confidence: float = 0.95,
    seed: int = 0,
) -> BetaIRTResult:
    """How able are the algorithms, how hard and how telling the datasets: beta-IRT in both directions.

    `seed` matters for `posterior="samples"` alone: all else is computed without chance.
    """
    from recassay.analysis import beta_irt

    table = load_results(results, metric=metric)
    values, algorithms, datasets, label, upward = beta_irt.response_table(
        table, metric or default_metric(table), missing, higher_is_better
    )
    return beta_irt.fit_beta_irt(
        values,
        algorithms,
        datasets,
        metric=label,
        higher_is_better=upward,
        estimator=estimator or beta_irt.DEFAULT_ESTIMATOR,
        sigma=sigma,
        posterior=posterior,
        confidence=confidence,
        seed=seed,
    )


def load_responses(source: Any) -> Responses:
    """A binary response table from a path, a frame or an array: see `data.responses.read_responses`."""
    from recassay.data.responses import read_responses

    return read_responses(source)


def fit_logistic_irt(
    responses: Any,
    model: LogisticModel = "2pl",
    *,
    items: Any = None,
    estimator: Literal["mml", "birnbaum"] = "mml",
    priors: ItemPriors | bool | None = None,
    ability: AbilityMethod | None = None,
    confidence: float = 0.95,
    tolerance: float = 1e-4,
    max_cycles: int = 500,
) -> LogisticResult:
    """Items, abilities and true scores of a binary table under the 1PL, 2PL or 3PL.

    `responses`: a path, a frame (first column respondent, one 0/1 column an item, empty for missing), an array, or
    `Responses`. With `items` (a path or frame: item, discrimination, difficulty, guessing) nothing but the abilities is
    estimated, by maximum likelihood unless `ability` says `map` or `eap`. Priors are on by default for the 3PL alone.
    """
    from recassay.analysis.logistic_irt import fit_logistic, score_logistic
    from recassay.data.responses import read_items

    table = load_responses(responses)
    if items is not None:
        return score_logistic(table, read_items(items), model, ability=ability, confidence=confidence)
    return fit_logistic(
        table,
        model,
        estimator=estimator,
        priors=priors,
        ability=ability,
        confidence=confidence,
        tolerance=tolerance,
        max_cycles=max_cycles,
    )


def fit_user_irt(
    folder: str | Path,
    model: LogisticModel = "1pl",
    *,
    metric: str | None = None,
    datasets: Sequence[str] | None = None,
    priors: bool = True,
    confidence: float = 0.95,
) -> UserIRTResult:
    """Algorithms as respondents and users as items: which algorithm serves users that others fail?

    `folder` is that of a study. A response is right where the user's `metric` is above 0 (by default hitrate@10, or
    what else tells a hit). Fits each dataset (or those named) and, where there are several, all users together.
    """
    from recassay.analysis import user_irt
    from recassay.store.responses import user_responses
    from recassay.store.store import Store

    with Store.open(folder) as store:
        label, tables = user_responses(store, metric, None if datasets is None else list(datasets))
    chosen = user_irt.USER_PRIORS if priors else None
    return user_irt.fit_user_irt(tables, model, metric=label, priors=chosen, confidence=confidence)


def glicko(
    results: Any,
    metric: str | None = None,
    *,
    order: str | Sequence[str] = "given",
    properties: Any = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    tau: float | None = None,
    tie: float = 0.0,
    orders: int | None = None,
    seed: int = 0,
) -> GlickoResult:
    """Glicko-2 ratings: every dataset is a rating period in which all algorithms play all, the better value wins.

    `order` of the datasets: `given` (first appearance in the table), `name`, `difficulty`, `discrimination`,
    `deviation`, any column of `properties` (a path, a frame with a column dataset, or a mapping by dataset), or names.
    """
    from recassay.analysis.glicko import given_order, rate_algorithms

    table = load_results(results, metric=metric)
    matrix = table.matrix(metric or default_metric(table), missing=missing, higher_is_better=higher_is_better)
    return rate_algorithms(
        matrix,
        given=given_order(table, matrix),
        order=order,
        properties=_properties(properties),
        tau=tau,
        tie=tie,
        orders=orders,
        seed=seed,
    )


def _properties(source: Any) -> Mapping[str, Mapping[str, float]] | None:
    if source is None or isinstance(source, Mapping):
        return source
    from recassay.data.responses import read_properties

    return read_properties(source)
