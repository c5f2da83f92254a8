"""Beta-IRT with a precision of its own: the curve of the model, and noise that the data decide.

p_ij ~ Beta(phi mu_ij, phi (1 - mu_ij)) with mu the ICC (Bi-ReIRT, equation 2) and one phi for all cells, as in beta
regression (Ferrari and Cribari-Neto 2004). Equation 1 has the same curve but no free noise: where the ICC is below 1/2
its alpha is below 1, so that its density falls from 0 on and no response is ever too low.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.special import betaln, digamma, expit

from recassay.analysis.beta_irt.mode import Mode, climb, climb_with_items, item_grid, newton
from recassay.analysis.beta_irt.model import CellFunction, Jet, Posterior, ScoreTable, flat, log_expit, second_of_gap
from recassay.analysis.beta_irt.trigamma import trigamma
from recassay.core.types import FloatArray

_SMALLEST_SHARE = 1e-12
_PRECISIONS = (1.0, 1e4)
"""Beyond 10,000 (a deviation of 0.005 around 0.3) the noise says nothing that a benchmark could mean."""

_SAME = 1e-4


def precision_cells(responses: ScoreTable, precision: float) -> CellFunction:
    """The log density of each cell around its ICC, with analytic derivatives.

    With eta = a (x - y): d alpha / d eta = phi mu (1 - mu) = -d beta / d eta. Squeezed responses enter as in
    `density_cells`: with the probability of lying beyond the limit.
    """
    log_p, log_q = np.log(responses.values), np.log1p(-responses.values)

    def cells(x: FloatArray, y: FloatArray, a: FloatArray, curved: bool) -> Jet:
        gap = x - y
        mean = np.clip(expit(a * gap), _SMALLEST_SHARE, 1 - _SMALLEST_SHARE)
        alpha, beta = precision * mean, precision * (1 - mean)
        value = (alpha - 1) * log_p + (beta - 1) * log_q - betaln(alpha, beta)
        value = value + responses.below * (log_p - np.log(alpha)) + responses.above * (log_q - np.log(beta))
        slope = precision * mean * (1 - mean)
        pull = log_p - log_q - digamma(alpha) + digamma(beta)
        pull = pull - responses.below / alpha + responses.above / beta
        first = slope * pull
        zero = np.zeros_like(value)
        inner = np.stack([a + zero, -a + zero, gap + zero])
        if not curved:
            return responses.counted(value, first * inner, flat(value))
        bend = responses.below / alpha**2 + responses.above / beta**2 - trigamma(alpha) - trigamma(beta)
        curve = slope * (1 - 2 * mean) * pull + slope**2 * bend
        return responses.counted(value, first * inner, second_of_gap(first, curve, inner))

    return cells


def fit_precision(responses: ScoreTable, sigma: float, start: FloatArray) -> Mode:
    """The mode given the precision and the precision given the mode, in turn, from `start`.

    The likelihood of phi alone would take what the N + 2 M parameters explain for precision: its residuals count as
    many as the degrees of freedom (cells - parameters + 2), as in `least_squares`.
    """
    n, m = responses.values.shape
    cells = float(responses.observed.sum())
    freedom = max(cells - (n + 2 * m) + 2, 1.0)
    precision = 10.0
    posterior = Posterior(precision_cells(responses, precision), n, m, sigma)
    first = climb(posterior, start, 2000)
    best_of = partial(_best_items, posterior)
    z, _ = climb_with_items(posterior, best_of, first, height=-posterior.loss(first)[0], steps=2000)
    for _ in range(60):
        posterior = Posterior(precision_cells(responses, precision), n, m, sigma)
        z, height, slope = newton(posterior, z, 200)
        target = _best_precision(responses, posterior.split(z), freedom / cells)
        if abs(np.log(target / precision)) < _SAME:
            break
        precision = target
    return Mode("precision", posterior, z, height, slope, responses.squeezed, precision=precision)


def _best_items(posterior: Posterior, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Given abilities, the best (logit delta, a) of each item on a grid."""
    y, a = item_grid(posterior.sigma)
    cells = posterior.cells(x[:, None], y[:, None, None], a[:, None, None], False)[0]
    score = cells.sum(axis=1) + (log_expit(y) + log_expit(-y) - 0.5 * ((a - 1) / posterior.sigma) ** 2)[:, None]
    best = score.argmax(axis=0)
    return y[best], a[best]


def _best_precision(responses: ScoreTable, at: tuple[FloatArray, FloatArray, FloatArray], share: float) -> float:
    """The phi of largest likelihood at this mode, its spread corrected for the parameters spent on it."""
    from scipy.optimize import minimize_scalar  # see `climb`

    x, y, a = at

    def loss(log_precision: float) -> float:
        cells = precision_cells(responses, float(np.exp(log_precision)))
        return -float(cells(x[:, None], y, a, False)[0].sum())

    low, high = np.log(_PRECISIONS)
    best = float(minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": _SAME / 10}).x)
    return float(np.clip((1 + np.exp(best)) * share - 1, *_PRECISIONS))
