"""`irt`: traits of algorithms and datasets, of respondents and items, of algorithms and users."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, get_args

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.table import finish, load_table, said_direction
from recassay.core.choices import (
    AbilityMethod,
    BetaEstimator,
    GapPolicy,
    IRTEstimator,
    LogisticEstimator,
    LogisticModel,
    PosteriorForm,
)

Model = Annotated[
    LogisticModel | None,
    typer.Option(
        "--model",
        help="Logistic IRT on a binary response table. [default with --users: 1pl]",
        show_default=False,
    ),
]
Items = Annotated[
    Path | None,
    typer.Option(
        "--items", help="Known items (item, discrimination, difficulty, guessing): abilities only.", show_default=False
    ),
]
Ability = Annotated[
    AbilityMethod | None,
    typer.Option("--ability", help="How abilities are estimated. [default: eap; ml with --items]", show_default=False),
]
Priors = Annotated[
    bool | None,
    typer.Option(
        "--priors/--no-priors",
        help="Priors on the items. [default: with 3pl, --users, and 2pl below 50 respondents]",
        show_default=False,
    ),
]
Users = Annotated[
    bool,
    typer.Option(
        "--users", help="Logistic IRT on a study: algorithms are respondents, its users items, a hit is right."
    ),
]
Datasets = Annotated[
    list[str] | None,
    typer.Option(
        "--dataset", help="With --users: this dataset only (repeatable); else what the table is on.", show_default=False
    ),
]


_OF_RESULTS = (
    "metric", "wide", "transpose", "column", "format_", "prefer", "missing", "higher", "lower", "sigma", "posterior",
    "seed",
)  # fmt: skip


def irt(
    context: typer.Context,
    files: o.Files,
    metric: o.Metric = None,
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    format_: o.Format = None,
    prefer: o.Prefer = "error",
    missing: Annotated[
        GapPolicy, IRTEstimator, typer.Option("--missing", help="What becomes of missing cells.")
    ] = "keep",
    higher: o.Higher = False,
    lower: o.Lower = False,
    estimator: Annotated[
        IRTEstimator | None,
        typer.Option(
            "--estimator",
            help="beta (the model's density), precision (noise of its own), auto (the likelier) or bi-reirt (squared "
            "error); with --model: mml or birnbaum. [default: auto; mml]",
            show_default=False,
        ),
    ] = None,
    sigma: Annotated[float, typer.Option("--sigma", help="Prior standard deviation of the discriminations.")] = 1.0,
    posterior: Annotated[
        PosteriorForm, typer.Option("--posterior", help="normal (an approximation, no chance in it) or samples (HMC).")
    ] = "normal",
    confidence: o.Confidence = 0.95,
    seed: Annotated[int, typer.Option("--seed", help="Seed of --posterior samples; nothing else is random.")] = 0,
    model: Model = None,
    users: Users = False,
    dataset: Datasets = None,
    items: Items = None,
    ability: Ability = None,
    priors: Priors = None,
    as_json: o.Json = False,
    out: o.Out = None,
    formats: o.Formats = None,
) -> None:
    """Ability, difficulty, discrimination: beta-IRT, or --model, or --users."""
    if dataset and (model or (not users and len(dataset) > 1)):
        raise recassay.UsageError("--dataset is for --users", fix="say --users, and name the folder of a study")
    if (model or users) and len(files) != 1:
        raise recassay.UsageError(
            f"{len(files)} files were given", fix="give one response table, or one study with --users"
        )
    if model or users:
        of_results = [name for name in _OF_RESULTS if name != "metric" or not users]
        o.refuse_given(
            context, of_results, "is for tables of results", "leave it out, or leave --model and --users out"
        )
    if users:
        _users(
            Path(files[0]), model or "1pl", metric, dataset, items, ability, priors, confidence, as_json, out, formats
        )
    elif model is not None:
        _responses(
            files[0],
            model,
            items,
            _one_of(estimator or "mml", get_args(LogisticEstimator)),
            ability,
            priors,
            confidence,
            as_json,
            out,
            formats,
        )
    elif items is not None or ability is not None or priors is not None:
        raise recassay.UsageError(
            "--items, --ability and --priors are for response tables", fix="say --model 1pl, 2pl or 3pl"
        )
    else:
        results = load_table(files, metric, wide, transpose, column, dataset[0] if dataset else None, format_, prefer)
        found = recassay.fit_beta_irt(
            results,
            metric,
            missing=missing,
            higher_is_better=said_direction(higher, lower),
            sigma=sigma,
            posterior=posterior,
            estimator=_one_of(estimator, get_args(BetaEstimator)),
            confidence=confidence,
            seed=seed,
        )
        finish("irt", "irt", found, results, as_json, out, formats)


def _one_of(estimator: str | None, fitting: tuple[Any, ...]) -> Any:
    """The estimator where it fits the model that was asked for; one of the other model is refused."""
    if estimator is not None and estimator not in fitting:
        raise recassay.UsageError(f"--estimator {estimator} is for another model", fix=f"use {', '.join(fitting)}")
    return estimator


def _responses(
    file: str,
    model: LogisticModel,
    items: Path | None,
    estimator: LogisticEstimator,
    ability: AbilityMethod | None,
    priors: bool | None,
    confidence: float,
    as_json: bool,
    out: Path | None,
    formats: str | None,
) -> None:
    """`irt --model`: logistic IRT on a binary response table."""
    table = recassay.load_responses(file)
    found = recassay.fit_logistic_irt(
        table,
        model,
        items=items,
        estimator=estimator,
        ability=ability,
        priors=priors,
        confidence=confidence,
    )
    finish("irt", "irt", found, table, as_json, out, formats)


def _users(
    folder: Path,
    model: LogisticModel,
    metric: str | None,
    datasets: list[str] | None,
    items: Path | None,
    ability: AbilityMethod | None,
    priors: bool | None,
    confidence: float,
    as_json: bool,
    out: Path | None,
    formats: str | None,
) -> None:
    """`irt --users`: algorithms as respondents, the users of a study as items."""
    if items is not None or ability is not None:
        raise recassay.UsageError("--items and --ability are for response tables", fix="leave them out with --users")
    found = recassay.fit_user_irt(
        folder,
        model,
        metric=metric,
        datasets=datasets,
        priors=priors is not False,
        confidence=confidence,
    )
    finish("irt", "user_irt", found, recassay.load_results(folder), as_json, out, formats)
