"""`irt` and `glicko`: latent traits of algorithms, datasets, respondents and items."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recassay import api
from recassay.cli import options as o
from recassay.cli.render import print_json, print_lines, print_saved, print_table
from recassay.cli.table import finish, load_table, said_direction

if TYPE_CHECKING:
    from recassay.analysis.beta_irt import BetaIRTResult
    from recassay.analysis.glicko import GlickoResult
    from recassay.analysis.logistic_result import LogisticResult
    from recassay.core.results import Results


def glicko(
    files: o.Files,
    metric: o.Metric = None,
    order: Annotated[
        str,
        typer.Option(
            "--order",
            help="Order of the datasets: given, name, difficulty, discrimination, deviation, a column of --properties, "
            "or names separated by commas.",
        ),
    ] = "given",
    properties: Annotated[
        Path | None,
        typer.Option("--properties", help="Table of dataset properties to order by.", show_default=False),
    ] = None,
    tau: Annotated[
        float | None,
        typer.Option(
            "--tau", help="How fast volatility may change. [default: 0.5, less if it runs away]", show_default=False
        ),
    ] = None,
    tie: Annotated[float, typer.Option("--tie", help="Values that differ by at most this are a draw.")] = 0.0,
    orders: Annotated[
        int | None,
        typer.Option("--orders", help="Random orders, for the spread. [default: 200]", show_default=False),
    ] = None,
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    missing: o.Missing = "error",
    higher: o.Higher = False,
    lower: o.Lower = False,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Glicko-2 ratings, datasets as rating periods."""
    results = load_table(files, metric, wide, transpose, column)
    result = api.glicko(
        results,
        metric,
        order=[name.strip() for name in order.split(",")] if "," in order else order,
        properties=properties,
        missing=missing,  # type: ignore[arg-type]
        higher_is_better=said_direction(higher, lower),
        tau=tau,
        tie=tie,
        orders=orders,
        seed=seed,
    )
    finish("glicko", {"glicko": result}, result.to_dict(), results, as_json, out, lambda: show_glicko(result))


Model = Annotated[
    str | None,
    typer.Option("--model", help="Logistic IRT on a binary response table: 1pl, 2pl or 3pl.", show_default=False),
]
Items = Annotated[
    Path | None,
    typer.Option(
        "--items", help="Known items (item, discrimination, difficulty, guessing): abilities only.", show_default=False
    ),
]
Ability = Annotated[
    str | None,
    typer.Option("--ability", help="ml, map or eap. [default: eap; ml with --items]", show_default=False),
]
Priors = Annotated[
    bool | None,
    typer.Option("--priors/--no-priors", help="Priors on the items. [default: with 3pl only]", show_default=False),
]


def irt(
    files: o.Files,
    metric: o.Metric = None,
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    missing: Annotated[
        str, typer.Option("--missing", help="Missing cells: keep, error, drop-datasets, drop-algorithms or worst.")
    ] = "keep",
    higher: o.Higher = False,
    lower: o.Lower = False,
    estimator: Annotated[
        str | None,
        typer.Option(
            "--estimator",
            help="bi-reirt (squared error of the curves) or beta (Beta density); with --model: mml or birnbaum. "
            "[default: bi-reirt; mml]",
            show_default=False,
        ),
    ] = None,
    sigma: Annotated[float, typer.Option("--sigma", help="Prior standard deviation of the discriminations.")] = 1.0,
    posterior: Annotated[
        str, typer.Option("--posterior", help="normal (an approximation, no chance in it) or samples (HMC).")
    ] = "normal",
    confidence: Annotated[float, typer.Option("--confidence", min=0.5, max=0.999)] = 0.95,
    seed: Annotated[int, typer.Option("--seed", help="Seed of --posterior samples; nothing else is random.")] = 0,
    model: Model = None,
    items: Items = None,
    ability: Ability = None,
    priors: Priors = None,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Ability, difficulty, discrimination: beta-IRT, or --model."""
    if model is not None:
        if len(files) != 1:
            raise api.UsageError(f"{len(files)} response tables were given", fix="give one")
        irt_responses(files[0], model, items, estimator or "mml", ability, priors, confidence, as_json, out)
        return
    if items is not None or ability is not None or priors is not None:
        raise api.UsageError(
            "--items, --ability and --priors are for response tables", fix="say --model 1pl, 2pl or 3pl"
        )
    results = load_table(files, metric, wide, transpose, column)
    direction = said_direction(higher, lower)
    _beta(results, metric, missing, direction, estimator, sigma, posterior, confidence, seed, as_json, out)


def irt_responses(
    file: Path,
    model: str,
    items: Path | None,
    estimator: str,
    ability: str | None,
    priors: bool | None,
    confidence: float,
    as_json: bool,
    out: Path | None,
) -> None:
    """`irt --model`: logistic IRT on a binary response table."""
    table = api.load_responses(file)
    result = api.fit_logistic_irt(
        table,
        model,  # type: ignore[arg-type]
        items=items,
        estimator=estimator,  # type: ignore[arg-type]
        ability=ability,  # type: ignore[arg-type]
        priors=priors,
        confidence=confidence,
    )
    document = api.document("irt", result.to_dict(), table)  # type: ignore[arg-type]
    if as_json:
        print_json(document)
    else:
        show_logistic(result)
    if out is not None:
        print_saved(api.save({"irt": result}, document, out), out)


def _beta(
    results: Results,
    metric: str | None,
    missing: str,
    higher_is_better: bool | None,
    estimator: str | None,
    sigma: float,
    posterior: str,
    confidence: float,
    seed: int,
    as_json: bool,
    out: Path | None,
) -> None:
    result = api.fit_beta_irt(
        results,
        metric,
        missing=missing,  # type: ignore[arg-type]
        higher_is_better=higher_is_better,
        sigma=sigma,
        posterior=posterior,  # type: ignore[arg-type]
        estimator=estimator,  # type: ignore[arg-type]
        confidence=confidence,
        seed=seed,
    )
    finish("irt", {"irt": result}, result.to_dict(), results, as_json, out, lambda: show_beta_irt(result))


def show_glicko(result: GlickoResult) -> None:
    """Ratings, highest first, with the spread over orders."""
    arrow = "higher" if result.higher_is_better else "lower"
    print_table(
        f"Glicko-2: {result.metric} ({arrow} is better), {len(result.datasets)} datasets in the order: "
        f"{result.order_name}",
        ["algorithm", "rating", "deviation", "volatility", "95 %", "over orders", "rank over orders"],
        [
            [
                row["algorithm"],
                f"{row['rating']:.0f}",
                f"{row['deviation']:.0f}",
                f"{row['volatility']:.4f}",
                f"{row['low']:.0f} to {row['high']:.0f}",
                f"{row['order_low']:.0f} to {row['order_high']:.0f}",
                f"{row['order_rank_low']:.0f} to {row['order_rank_high']:.0f}",
            ]
            for row in result.to_frame().to_dicts()
        ],
    )
    print_lines([f"Over orders: the middle 95 % of {result.n_orders} random orders of the datasets.", *result.notes])


def show_logistic(result: LogisticResult, *, most: int = 30) -> None:
    """Abilities and true scores, ablest first, then what the items are like."""
    rows = result.to_frame().to_dicts()
    print_table(
        f"{result.model.upper()}: abilities ({result.abilities.method}) of {len(rows)} respondents on "
        f"{len(result.items.names)} items",
        ["respondent", "ability", f"{100 * result.confidence:.3g} %", "true score", "accuracy"],
        [
            [
                row["respondent"],
                f"{row['ability']:.3f}",
                f"{row['ability_low']:.2f} to {row['ability_high']:.2f}",
                f"{row['true_score']:.3f}",
                f"{row['accuracy']:.3f}",
            ]
            for row in rows[:most]
        ],
    )
    if len(rows) > most:
        print_lines([f"and {len(rows) - most} more (--json or --out DIR has all)"])
    found = result.summary()
    print_lines(
        [
            f"Items: discrimination {found['mean_discrimination']:.2f} (deviation "
            f"{found['discrimination_deviation']:.2f}), difficulty {found['mean_difficulty']:.2f} "
            f"({found['difficulty_deviation']:.2f}), guessing {found['mean_guessing']:.2f} "
            f"({found['guessing_deviation']:.2f}); {100 * found['negative_share']:.1f} % discriminate negatively.",
            *result.notes,
        ]
    )


def show_beta_irt(result: BetaIRTResult) -> None:
    """A table of respondents and one of items for each direction, then the fit and the warnings."""
    for direction in result.directions:
        respondent, level, slope = direction.traits
        who, what = ("algorithm", "dataset") if direction.number == 1 else ("dataset", "algorithm")
        for name, key in ((respondent, who), (level, what)):
            trait = direction.traits[name]
            steep = direction.traits[slope]
            rows = [[trait.names[i], _span(trait, i)] for i in trait.order()]
            header = [key, name.replace("_", " ")]
            if name == level:
                header += [slope, "P(> 0)"]
                for row, i in zip(rows, trait.order(), strict=True):
                    row += [_span(steep, i), f"{direction.probability_positive[i]:.3f}"]
            print_table(f"Direction {direction.number}: {who}s on {what}s, {result.metric}", header, rows)
        print_lines(
            [
                f"Fit: mean squared error {direction.mse:.3g}, log-likelihood {direction.log_likelihood:.1f}, "
                f"reliability {direction.reliability:.2f}",
                "",
            ]
        )
    print_lines(f"Warning: {note}" for note in result.warnings)


def _span(trait: object, i: int) -> str:
    estimate, low, high = (float(getattr(trait, key)[i]) for key in ("estimate", "low", "high"))
    return f"{estimate:.3f} [{low:.3f}, {high:.3f}]"
