"""What beta-IRT concluded in both directions, as tables and plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from recassay.analysis.beta_irt.choice import Density
from recassay.analysis.beta_irt.traits import ITEM_TRAITS, TRAITS, Direction, Trait
from recassay.core import columns as c
from recassay.core.choices import PosteriorForm
from recassay.core.errors import UsageError, listing
from recassay.core.system.display import Displayed
from recassay.core.tabular import by_name, by_pair, long_frame, stated
from recassay.core.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class BetaIRTResult(Displayed):
    """The traits of algorithms and datasets from both directions."""

    metric: str
    higher_is_better: bool
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    values: FloatArray
    """Algorithms x datasets: the responses, higher better (1 - value where lower is better), NaN where missing."""
    directions: tuple[Direction, Direction]
    """What each direction found: first the paper's direction 1 (algorithms answer, datasets are the items), then
    direction 2."""
    estimator: Density
    """The density of the responses that was used."""
    log_posteriors: dict[str, float]
    """By density, the log posterior density at the mode, which decided under `auto`; empty where the density was
    named."""
    posterior: PosteriorForm
    """How the posterior was described: by a normal density, or by samples."""
    sigma: float
    """Standard deviation of the prior of slopes."""
    confidence: float
    warnings: tuple[str, ...]
    """What a reader of the traits must know: cells left out, estimates at their bounds, fits that did not settle."""

    def trait(self, name: str) -> Trait:
        """A trait by its name in the paper's Table 1: ability, difficulty, discrimination, challenge, ..."""
        for direction in self.directions:
            if name in direction.traits:
                return direction.traits[name]
        raise UsageError(
            f"no trait {name!r}", fix=f"one of {listing((n for names in TRAITS for n in names), most=None)}"
        )

    def to_frame(self) -> pl.DataFrame:
        """One row per trait and name: estimate, interval, mode of the joint posterior, P(a > 0) for slopes."""
        return pl.concat(
            long_frame(
                {"direction": [d.number], "trait": [name], "name": trait.names},
                {
                    "estimate": trait.estimate,
                    "low": trait.low,
                    "high": trait.high,
                    "mode": trait.mode,
                    "probability_positive": d.probability_positive if name == ITEM_TRAITS[d.number][1] else None,
                },
            )
            for d in self.directions
            for name, trait in d.traits.items()
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """Traits, characteristic curves, ranges of the observed respondents, residuals and pairwise probabilities."""
        return {
            "irt_traits": self.to_frame(),
            "irt_curves": pl.concat([d.curves() for d in self.directions]),
            "irt_ranges": pl.DataFrame(
                [
                    {"direction": d.number, "trait": TRAITS[d.number - 1][0], "low": d.range[0], "high": d.range[1]}
                    for d in self.directions
                ]
            ),
            "irt_residuals": pl.concat([self._residuals(d) for d in self.directions]),
            "irt_exceeds": pl.concat([d.exceeds_frame() for d in self.directions]),
        }

    def _residuals(self, direction: Direction) -> pl.DataFrame:
        expected = direction.expected if direction.number == 1 else direction.expected.T
        return long_frame(
            {"direction": [direction.number], c.ALGORITHM: self.algorithms, c.DATASET: self.datasets},
            {c.VALUE: self.values, "expected": expected, "residual": self.values - expected},
        )

    def to_dict(self) -> dict[str, Any]:
        """`direction_1`, `direction_2`, the probabilities, the resampling shares, `fit`, `settings` and `warnings`."""
        by_number = {f"direction_{d.number}": d for d in self.directions}
        by_trait = {TRAITS[d.number - 1][0]: d for d in self.directions}
        return {
            **stated(self, "metric", "higher_is_better", "algorithms", "datasets"),
            **{key: {n: t.to_dict() for n, t in d.traits.items()} for key, d in by_number.items()},
            "probability_positive": {
                ITEM_TRAITS[d.number][1]: by_name(d.probability_positive, d.items) for d in self.directions
            },
            "probability_greater": {name: by_pair(d.exceeds, d.respondents) for name, d in by_trait.items()},
            "resampling_share": {name: d.ends() for name, d in by_trait.items()},
            "fit": {key: d.fit() for key, d in by_number.items()},
            "settings": {
                "estimator": self.estimator,
                "heights": self.log_posteriors,
                **stated(self, "sigma", "confidence", "posterior"),
            },
            "warnings": list(self.warnings),
        }
