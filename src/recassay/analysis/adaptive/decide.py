"""One decision of an adaptive benchmark: how things stand, and what to run next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recassay.analysis.adaptive.belief import Belief, complete
from recassay.analysis.adaptive.certificate import Certificate, certify
from recassay.analysis.adaptive.choice import Block, cells_of, choose, opening
from recassay.analysis.adaptive.result import AdaptiveResult, Ended, Step
from recassay.core.choices import AdaptiveTarget
from recassay.core.errors import UsageError
from recassay.core.predicted_seconds import predict_seconds
from recassay.core.seeds import derived_rng
from recassay.core.types import BoolArray, FloatArray

GROWTH = 0.1
"""A batch takes at least this share of the seconds that were spent before it, so that decisions stay few."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be settled: see `core.choices.AdaptiveTarget`; `indifference` is in mean ranks."""

    target: AdaptiveTarget = "first"
    confidence: float = 0.95
    indifference: float = 1.0
    rho: float = 0.97

    def __post_init__(self) -> None:
        if self.target not in ("first", "top3", "order", "rho"):
            raise UsageError(f"the target is {self.target!r}", fix="choose first, top3, order or rho")
        if not 0.5 <= self.confidence < 1:
            raise UsageError(f"the confidence is {self.confidence:g}", fix="give a probability from 0.5 to below 1")
        if not self.indifference >= 0:
            raise UsageError(f"the indifference is {self.indifference:g}", fix="give mean ranks, 0 or more")
        if not 0 < self.rho <= 1:
            raise UsageError(f"rho is {self.rho:g}", fix="give a correlation above 0, at most 1")


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """All cells that a benchmark could run, and what is known of them before: `features` (datasets x p, the logarithm
    of the size first) and the `classes` of the algorithms, which say which of them cost alike.
    """

    metric: str
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    features: FloatArray | None = None
    classes: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if len(self.algorithms) < 2 or len(self.datasets) < 2:
            raise UsageError(
                f"{len(self.algorithms)} algorithms on {len(self.datasets)} datasets",
                fix="an adaptive benchmark needs at least two of each",
            )


def decide(
    grid: Grid,
    question: Question,
    values: FloatArray,
    seconds: FloatArray,
    *,
    steps: Sequence[Step] = (),
    allowed: BoolArray | None = None,
    cells: int = 1,
    least_seconds: float = 0.0,
    most_seconds: float = np.inf,
    seed: int = 0,
) -> AdaptiveResult:
    """How things stand with `values` (algorithms x datasets, higher is better; NaN: not run; -inf: failed) and the
    `seconds` that those cells took (NaN where unknown), and the batch to run next.

    `steps` were taken before. A cell is chosen only where `allowed`, and where it should take at most `most_seconds`; a
    batch has at least so many `cells` and `least_seconds`.
    """
    done = ~np.isnan(values)
    size = None if grid.features is None else grid.features[:, 0]
    predicted = predict_seconds(np.where(done, seconds, np.nan), size, grid.classes)
    spent = float(predicted[done].sum())
    barred = np.zeros(done.shape, bool) if allowed is None else ~allowed & ~done
    belief, certificate = _believe(grid, question, values, seed)
    ended = _ended(certificate, question, done, barred, predicted, most_seconds)
    blocks: list[Block] = []
    if ended is None:
        if not done.any():
            blocks = [opening(done | barred, predicted)]
        else:
            blocks = choose(
                belief, certificate, question.target, done, np.where(barred, np.inf, predicted),
                cells=cells, least_seconds=max(least_seconds, GROWTH * spent),
                most_seconds=min(most_seconds, np.finfo(float).max),
            )  # fmt: skip
        ended = None if blocks else "stuck"
    order = tuple(grid.algorithms[i] for i in certificate.order)
    probabilities = {name: certificate.probability(name) for name in ("first", "top3", "order", "rho")}
    chosen = cells_of(blocks)
    step = Step(
        done=int(done.sum()),
        spent=spent,
        share=spent / max(float(predicted.sum()), 1e-12),
        leader=order[0],
        first=probabilities["first"],
        top3=probabilities["top3"],
        ordered=probabilities["order"],
        agreement=probabilities["rho"],
        cells=tuple((grid.algorithms[i], grid.datasets[j]) for i, j in chosen),
        seconds=float(sum(block.seconds for block in blocks)),
        why=_why(grid, question, certificate, blocks, done),
    )
    return AdaptiveResult(
        metric=grid.metric,
        algorithms=grid.algorithms,
        datasets=grid.datasets,
        target=question.target,
        confidence=question.confidence,
        indifference=question.indifference,
        rho=question.rho,
        order=order,
        mean_ranks=certificate.mean_ranks,
        deviations=certificate.deviations,
        sets=certificate.sets,
        probabilities=probabilities,
        measured=done,
        values=values,
        ranks=belief.ranks.mean(axis=0),
        seconds=predicted,
        steps=tuple(steps),
        next=step if blocks else None,
        ended=ended,
    )


def _believe(grid: Grid, question: Question, values: FloatArray, seed: int) -> tuple[Belief, Certificate]:
    done = int((~np.isnan(values)).sum())
    belief = complete(values, grid.features, rng=derived_rng(seed, "adaptive", grid.metric, str(done)))
    return belief, certify(belief.mean_ranks, indifference=question.indifference, rho=question.rho)


def _ended(
    certificate: Certificate, question: Question, done: BoolArray, barred: BoolArray, seconds: FloatArray, most: float
) -> Ended | None:
    if done.all():
        return "complete"
    if certificate.probability(question.target) >= question.confidence:
        return "certified"
    if barred[~done].all():
        return "stuck"
    return "budget" if (seconds[~done & ~barred] > most).all() else None


def _why(grid: Grid, question: Question, certificate: Certificate, blocks: Sequence[Block], done: BoolArray) -> str:
    """Why these cells, in a few words."""
    if not blocks:
        return ""
    if not done.any():
        return "the cheapest dataset first, all algorithms"
    place = {int(i): n for n, i in enumerate(certificate.order, 1)}
    parts = []
    for block in blocks[:3]:
        whole = len(block.algorithms) == int((~done[:, block.dataset]).sum())
        places = sorted(place[i] for i in block.algorithms)
        who = "completes" if whole else f"places {', '.join(map(str, places))} on"
        parts.append(f"{who} {grid.datasets[block.dataset]}")
    more = f" and {len(blocks) - 3} more datasets" if len(blocks) > 3 else ""
    return f"tells most per second about the {_ABOUT[question.target]}: {'; '.join(parts)}{more}"


_ABOUT = {"first": "first place", "top3": "first three", "order": "order", "rho": "order"}
