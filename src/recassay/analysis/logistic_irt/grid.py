"""The grid of abilities: where posteriors live, where curves are computed, and the sums over respondents and items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recassay.analysis.logistic_irt.model import ItemParameters, blocks, log_right_wrong, test_information
from recassay.core.tables.responses import MISSING, Responses
from recassay.core.types import FloatArray

REACH = 6.0
"""The grid runs from -REACH to REACH population standard deviations."""

FEWEST_POINTS = 61
STEP = 1.2
"""The grid's step in posterior standard deviations: the sum over points then equals the integral to 1e-6."""

NODE_STEP = 0.2
SMOOTH = (0.5, 1.5)
"""Nodes lie at most this far apart in units of 1 / slope: of the steep items (99 %), and of the steepest."""

ORDER = 8
"""Nodes that a value between them is interpolated from."""

DOUBLE = 1 << 22
"""Tables with more cells than this are summed in single precision within a block, in double over blocks."""

_NO_MASS = 1e-12
_MARGIN = 0.25


def grid(items: ItemParameters) -> FloatArray:
    """Evenly spaced abilities whose step is at most `STEP` posterior standard deviations where these are smallest.

    That deviation is 1 / sqrt(1 + the test's information where it is largest), so the number of points grows with the
    square root of the number of items.
    """
    information = float(test_information(np.linspace(-3, 3, 61), items).max())
    count = int(np.ceil(2 * REACH * np.sqrt(1 + information) / STEP)) + 1
    count = max(count, FEWEST_POINTS)
    return np.linspace(-REACH, REACH, count + (count % 2 == 0))


@dataclass(frozen=True, slots=True, eq=False)
class AbilityGrid:
    """`points`, fine enough for the posteriors, and `nodes`, fine enough for the curves.

    Posteriors narrow with the number of items, curves do not: with many items the curves are computed at few nodes, and
    a log-likelihood at the points is `between` (points x nodes) times that at the nodes. A sum over points of
    posterior x curve is then one over nodes of (posterior @ between) x curve. Without `between` the nodes are the
    points.
    """

    points: FloatArray
    nodes: FloatArray
    between: FloatArray | None = None

    @classmethod
    def of(cls, points: FloatArray, slope: FloatArray) -> AbilityGrid:
        """Nodes for these slopes and evenly spaced points; the points themselves where that saves less than a third."""
        steep = np.abs(slope)
        limit = min(SMOOTH[0] / max(float(np.quantile(steep, 0.99)), 1e-9), SMOOTH[1] / max(float(steep.max()), 1e-9))
        step = min(NODE_STEP, limit)
        count = max(int(np.ceil((points[-1] - points[0]) / step)) + 1, ORDER)
        if count > len(points) * 2 / 3:
            return cls(points, points)
        nodes = np.linspace(points[0], points[-1], count)
        return cls(points, nodes, interpolation(points, nodes))

    def to_points(self, values: FloatArray) -> FloatArray:
        """Values at the nodes (respondents x nodes) as values at the points."""
        return values if self.between is None else values @ self.between.T

    def to_nodes(self, posterior: FloatArray) -> FloatArray:
        """Weights at the points (respondents x points) as weights at the nodes; some may be slightly negative."""
        return posterior if self.between is None else posterior @ self.between

    @property
    def log_weights(self) -> FloatArray:
        """The logarithms of the population's weights: the Normal(0, 1) density at the points times their step."""
        step = self.points[1] - self.points[0]
        return np.asarray(np.log(step / np.sqrt(2 * np.pi)) - self.points**2 / 2)


def interpolation(points: FloatArray, nodes: FloatArray) -> FloatArray:
    """Weights (points x nodes) of the polynomial through the `ORDER` evenly spaced nodes around each point.

    For log P of slope a and nodes h apart the error is about 90 (a h / pi)^8: 4e-5 for a h = 1/2, 1e-7 for 1/4.
    """
    place = (points - nodes[0]) / (nodes[1] - nodes[0])
    first = np.clip(np.floor(place).astype(np.int64) - ORDER // 2 + 1, 0, len(nodes) - ORDER)
    offset = (place - first)[:, None]
    weights = np.zeros((len(points), len(nodes)))
    for j in range(ORDER):
        others = np.array([i for i in range(ORDER) if i != j])
        weights[np.arange(len(points)), first + j] = np.prod((offset - others) / (j - others), axis=1)
    return weights


def window(points: FloatArray, shown: FloatArray, mass: FloatArray) -> slice:
    """The part of the grid that holds any posterior mass, with a margin; all of it when mass reaches the margin."""
    held = shown[mass > _NO_MASS]
    low, high = held[0], held[-1]
    if len(shown) < len(points) and (low <= shown[1] or high >= shown[-2]):
        return slice(None)
    return slice(
        int(np.searchsorted(points, low - _MARGIN)), int(np.searchsorted(points, high + _MARGIN, side="right"))
    )


def precision(responses: Responses) -> float:
    """How exactly a log-likelihood of these responses is known, relative to its size."""
    return 1e-7 if responses.codes.size > DOUBLE else 1e-9


def _answers(responses: Responses, width: int) -> Iterator[tuple[slice, NDArray[Any], NDArray[Any] | None]]:
    """Blocks of items: their positions, and as 0 and 1 who has them right and who answered (None: everybody)."""
    kind = np.float32 if responses.codes.size > DOUBLE else np.float64
    for part in blocks(len(responses.items), width):
        codes = responses.codes[:, part]
        yield part, (codes == 1).astype(kind), None if responses.complete else (codes != MISSING).astype(kind)


def grid_log_likelihood(responses: Responses, items: ItemParameters, points: FloatArray) -> FloatArray:
    """log P(responses of r | ability = point q), respondents x points: sums of logarithms by matrix products.

    Products of probabilities underflow near 1,300 items; sums of their logarithms do not.
    """
    total = np.zeros((len(responses.respondents), len(points)))
    for part, hit, known in _answers(responses, max(total.shape)):
        right, wrong = log_right_wrong(points, items.take(part))
        total += hit @ (right - wrong).astype(hit.dtype, copy=False)
        total += wrong.sum(axis=0) if known is None else known @ wrong.astype(hit.dtype, copy=False)
    return total


def posterior_on_grid(responses: Responses, items: ItemParameters, where: AbilityGrid) -> tuple[FloatArray, FloatArray]:
    """The posterior of each respondent over the points (Normal(0, 1) population), and each marginal log-likelihood."""
    joint = where.to_points(grid_log_likelihood(responses, items, where.nodes))
    joint += where.log_weights
    top = joint.max(axis=1, keepdims=True)
    joint -= top
    np.exp(joint, out=joint)
    total = joint.sum(axis=1, keepdims=True)
    joint /= total
    return joint, (np.log(total) + top)[:, 0]


def expected_counts(table: Responses, weights: FloatArray) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
    """Blocks of items: their positions, and the expected right answers and answers at every node.

    `weights` are posteriors at the nodes (respondents x nodes).
    """
    shared = weights.sum(axis=0)[None, :]
    for part, hit, known in _answers(table, max(weights.shape)):
        small = weights.astype(hit.dtype, copy=False)
        trials = shared if known is None else (known.T @ small).astype(np.float64, copy=False)
        yield part, (hit.T @ small).astype(np.float64, copy=False), trials
