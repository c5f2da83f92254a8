"""`irt`: latent traits of algorithms and datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from recassay import api
from recassay.cli import options as o
from recassay.cli.render import print_lines, print_table
from recassay.cli.results import _direction, _finish, _load

if TYPE_CHECKING:
    from pathlib import Path

    from recassay.analysis.beta_irt import BetaIRTResult
    from recassay.core.results import Results


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
            help="bi-reirt (squared error of the curves) or beta (Beta density). [default: bi-reirt]",
            show_default=False,
        ),
    ] = None,
    sigma: Annotated[float, typer.Option("--sigma", help="Prior standard deviation of the discriminations.")] = 1.0,
    posterior: Annotated[
        str, typer.Option("--posterior", help="normal (an approximation, no chance in it) or samples (HMC).")
    ] = "normal",
    confidence: Annotated[float, typer.Option("--confidence", min=0.5, max=0.999)] = 0.95,
    seed: Annotated[int, typer.Option("--seed", help="Seed of --posterior samples; nothing else is random.")] = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Beta-IRT: ability, difficulty, discrimination, challenge."""
    results = _load(files, metric, wide, transpose, column)
    direction = _direction(higher, lower)
    _beta(results, metric, missing, direction, estimator, sigma, posterior, confidence, seed, as_json, out)


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
    _finish("irt", {"irt": result}, result.to_dict(), results, as_json, out, lambda: show_beta_irt(result))


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
