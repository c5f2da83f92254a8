"""Which density of the responses: that of the model, one with a precision of its own, or the paper's squared error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from recassay.analysis.beta_irt.mode import Mode, find_mode, least_squares
from recassay.analysis.beta_irt.model import Posterior, ScoreTable
from recassay.analysis.beta_irt.precision import fit_precision
from recassay.core.types import FloatArray

Density = Literal["beta", "precision", "bi-reirt"]


@dataclass(frozen=True, slots=True, eq=False)
class DensityFit:
    """A posterior with its mode; `noise` is the deviation of the squared-error fit, `precision` the phi of its kind."""

    density: Density
    posterior: Posterior
    mode: Mode
    squeezed: int
    noise: float | None = None
    precision: float | None = None


def find(values: FloatArray, sigma: float, density: Density, start: DensityFit | None = None) -> DensityFit:
    """The best mode under one density; `start` saves finding that of `beta` again, where all others begin."""
    responses = ScoreTable.squeeze(values)
    if start is None:
        start = DensityFit("beta", *find_mode(responses, sigma), squeezed=responses.squeezed)
    if density == "beta":
        return start
    if density == "precision":
        posterior, mode, precision = fit_precision(responses, sigma, start.mode.z)
        return DensityFit(density, posterior, mode, responses.squeezed, precision=precision)
    posterior, mode, noise = least_squares(ScoreTable.plain(values), sigma, start.mode.z)
    return DensityFit(density, posterior, mode, 0, noise=noise)


def least_error(values: FloatArray, sigma: float, start: DensityFit) -> float:
    """The mean squared error that the paper's own fit reaches: how well curves of this kind can do."""
    fit = find(values, sigma, "bi-reirt", start)
    return float(np.nanmean((values - fit.posterior.curve(fit.mode.z)) ** 2))


def find_likelier(tables: Sequence[FloatArray], sigma: float) -> tuple[tuple[DensityFit, ...], dict[str, float]]:
    """The modes of all tables under `beta` or under `precision`, whichever is likelier, and both log posteriors.

    That is the log posterior density at the mode, summed over the tables. The priors are the same and both are
    densities of the same responses, so that the difference is one of the likelihoods; `precision` has one parameter
    more, which its correction for the degrees of freedom pays for.
    """
    plain = tuple(find(values, sigma, "beta") for values in tables)
    free = tuple(find(values, sigma, "precision", start) for values, start in zip(tables, plain, strict=True))
    log_posteriors = {
        name: float(sum(fit.mode.log_density for fit in fits)) for name, fits in (("beta", plain), ("precision", free))
    }
    return (plain if log_posteriors["beta"] >= log_posteriors["precision"] else free), log_posteriors
