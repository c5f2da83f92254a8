"""Which density of the responses: that of the model, one with a precision of its own, or the paper's squared error."""

from __future__ import annotations

from collections.abc import Sequence

from recassay.analysis.beta_irt.mode import Density, Mode, find_mode, least_squares
from recassay.analysis.beta_irt.model import ScoreTable
from recassay.analysis.beta_irt.precision import fit_precision
from recassay.core.types import FloatArray


def find(values: FloatArray, sigma: float, density: Density, start: Mode | None = None) -> Mode:
    """The best mode under one density; `start` saves finding that of `beta` again, where all others begin."""
    responses = ScoreTable.squeeze(values)
    start = start or find_mode(responses, sigma)
    if density == "beta":
        return start
    if density == "precision":
        return fit_precision(responses, sigma, start.z)
    return least_squares(ScoreTable.plain(values), sigma, start.z)


def find_likelier(tables: Sequence[FloatArray], sigma: float) -> tuple[tuple[Mode, ...], dict[str, float]]:
    """The modes of all tables under `beta` or under `precision`, whichever is likelier, and both log posteriors.

    That is the log posterior density at the mode, summed over the tables. The priors are the same and both are
    densities of the same responses, so that the difference is one of the likelihoods; `precision` has one parameter
    more, which its correction for the degrees of freedom pays for.
    """
    plain = tuple(find(values, sigma, "beta") for values in tables)
    free = tuple(find(values, sigma, "precision", start) for values, start in zip(tables, plain, strict=True))
    log_posteriors = {
        name: float(sum(mode.log_density for mode in modes)) for name, modes in (("beta", plain), ("precision", free))
    }
    return (plain if log_posteriors["beta"] >= log_posteriors["precision"] else free), log_posteriors
