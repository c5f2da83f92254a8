"""One decision of an adaptive benchmark: how things stand, and what to run next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from recassay.analysis.adaptive.belief import Belief, complete
from recassay.analysis.adaptive.certificate import Certificate, certify
from recassay.analysis.adaptive.choice import Block, choose, opening
from recassay.analysis.adaptive.prior import Prior
from recassay.analysis.adaptive.result import AdaptiveResult, Ended, Step
from recassay.core.choices import AdaptiveTarget
from recassay.core.errors import UsageError
from recassay.core.predicted_seconds import predict_seconds
from recassay.core.seeds import derived_rng
from recassay.core.types import BoolArray, FloatArray
from recassay.core.words import count_of

GROWTH = 0.25
"""A batch takes at least this share of the seconds that were spent before it, so that decisions stay few."""

LEAST_SECONDS = 1e-6
"""What a cell is taken to have cost at least."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be settled: see `core.choices.AdaptiveTarget`; `indifference` is in mean ranks."""

    target: AdaptiveTarget = "first"
    confidence: float = 0.95
    indifference: float = 1.0
    rho: float = 0.97

    def __post_init__(self) -> None:
        if not 0 < self.rho <= 1:
            raise UsageError(f"rho is {self.rho:g}", fix="give a correlation above 0, at most 1")


@dataclass(frozen=True, slots=True, eq=False)
class CellGrid:
    """All cells that a benchmark could run, and what is known of them before: the logarithm of the size of each
    dataset, and the `classes` of the algorithms, which say which of them cost alike.
    """

    metric: str
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    log_size: FloatArray | None = None
    classes: tuple[str, ...] | None = None
    higher_is_better: bool = True
    """Of the metric as it is reported; the values that a decision reads are always turned so that higher is better."""

    def __post_init__(self) -> None:
        if len(self.algorithms) < 2 or len(self.datasets) < 2:
            raise UsageError(
                f"{count_of(len(self.algorithms), 'algorithm')} on {count_of(len(self.datasets), 'dataset')}",
                fix="an adaptive benchmark needs at least two of each",
            )

    def unknown(self) -> FloatArray:
        """A table of cells of which nothing is known."""
        return np.full((len(self.algorithms), len(self.datasets)), np.nan)

    def place(self, algorithm: str, dataset: str) -> tuple[int, int]:
        """Where a cell stands in the tables."""
        return self.algorithms.index(algorithm), self.datasets.index(dataset)


@dataclass(frozen=True, slots=True, eq=False)
class Probes:
    """Cheaper looks at the cells of a grid: their values and seconds, as those of cells are given to `decide`, the
    share of a cell's seconds that one is expected to take, and whether `more` of them may be chosen.
    """

    values: FloatArray
    seconds: FloatArray
    ratio: float = 0.1
    more: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.ratio < 1:
            raise UsageError(f"a probe takes {self.ratio:g} of a cell's seconds", fix="give a share between 0 and 1")


def decide(
    grid: CellGrid,
    question: Question,
    values: FloatArray,
    seconds: FloatArray,
    *,
    probes: Probes | None = None,
    prior: Prior | None = None,
    steps: Sequence[Step] = (),
    allowed: BoolArray | None = None,
    cells: int = 1,
    least_seconds: float = 0.0,
    most_seconds: float = np.inf,
    seed: int = 0,
) -> AdaptiveResult:
    """How things stand with `values` (algorithms x datasets, higher is better; NaN: not run; -inf: failed) and the
    `seconds` that those cells took (NaN where unknown), and the batch to run next.

    `probes` are cheaper looks at the cells, where there can be any: they are chosen like cells, by what they tell about
    the grid per second. `prior` is what published tables say about the algorithms. `steps` were taken before. A cell is
    chosen only where `allowed`, and where it should take at most `most_seconds`; a batch has at least so many `cells`
    and `least_seconds`.
    """
    # What was run, what it took, and what may not be run.
    n = len(grid.datasets)
    measured = ~np.isnan(values)
    done = measured if probes is None else np.hstack([measured, ~np.isnan(probes.values)])
    predicted = predict_seconds(
        np.where(measured, seconds, np.nan),
        grid.log_size,
        grid.classes,
        probes=None if probes is None else np.where(done[:, n:], probes.seconds, np.nan),
        ratio=0.1 if probes is None else probes.ratio,
        relative=None if prior is None else prior.log_seconds,
    )
    spent = float(predicted[done].sum())
    barred = np.zeros(done.shape, bool) if allowed is None else np.tile(~allowed, (1, done.shape[1] // n)) & ~done
    if probes is not None:
        barred[:, n:] |= (measured | (not probes.more)) & ~done[:, n:]  # what was run needs no probe

    # What is believed about the whole grid. A cell that was reused may have taken no measurable time.
    log_seconds = np.log(np.maximum(predicted[:, :n], LEAST_SECONDS))
    work = np.where(np.asarray(done[:, :n].any(axis=0)), log_seconds.mean(axis=0), np.nan)
    looked = None if probes is None else probes.values
    counts = [str(int((~np.isnan(table)).sum())) for table in (values, looked) if table is not None]
    rng = derived_rng(seed, "adaptive", grid.metric, *counts)
    belief = complete(values, grid.log_size, probes=looked, work=work, prior=prior, rng=rng)
    certificate = _certificate(belief, question)
    certified = certificate.probabilities[question.target] >= question.confidence

    # What to run next. Probes, or earlier tables, may settle it before any cell has run: a dataset is run all the same,
    # to have a result.
    unseen = certified and not measured.any() and not barred[:, :n].all()
    ended = _ended(bool(measured.all()), certified and not unseen, predicted[~done & ~barred], most_seconds)
    blocks: list[Block] = []
    if ended is None:
        if unseen or not done.any():
            closed = done | barred
            closed[:, n:] |= unseen
            blocks = [opening(closed, predicted)]
        else:
            blocks = choose(
                belief, certificate, question.target, done, np.where(barred, np.inf, predicted),
                cells=cells, least_seconds=max(least_seconds, GROWTH * spent),
                most_seconds=min(most_seconds, np.finfo(float).max),
            )  # fmt: skip
        ended = None if blocks else "stuck"
    result = AdaptiveResult(
        metric=grid.metric,
        higher_is_better=grid.higher_is_better,
        algorithms=grid.algorithms,
        datasets=grid.datasets,
        **asdict(question),
        order=tuple(grid.algorithms[i] for i in certificate.order),
        mean_ranks=certificate.mean_ranks,
        deviations=certificate.deviations,
        sets=certificate.sets,
        probabilities=certificate.probabilities,
        measured=measured,
        values=values,
        ranks=belief.ranks.mean(axis=0),
        seconds=predicted[:, :n],
        steps=tuple(steps),
        ended=ended,
        probe_values=None if probes is None else probes.values,
        probe_seconds=None if probes is None else predicted[:, n:],
        prior=() if prior is None else prior.sources,
        prior_weight=belief.weight,
        leader_fails=float((belief.failed & ~measured)[:, certificate.order[0]].any(axis=1).mean()),
    )
    if not blocks:
        return result
    chosen = [(grid.algorithms[i], block.dataset) for block in blocks for i in block.algorithms]
    step = Step(
        **result.standing(),
        cells=tuple((algorithm, grid.datasets[j]) for algorithm, j in chosen if j < n),
        seconds=float(sum(block.seconds for block in blocks)),
        why=_why(grid, question, certificate, blocks, done, first=unseen or not done.any()),
        probes=tuple((algorithm, grid.datasets[j - n]) for algorithm, j in chosen if j >= n),
    )
    return replace(result, next=step)


def _certificate(belief: Belief, question: Question) -> Certificate:
    """A claim is made when the belief supports it, with the prior or without: so a wrong prior delays none."""
    certificates = [
        certify(each.mean_ranks, each.expected, indifference=question.indifference, rho=question.rho)
        for each in (belief, belief.without)
        if each is not None
    ]
    sure = [each for each in certificates if each.probabilities[question.target] >= question.confidence]
    return (sure or certificates)[0]


def _ended(complete: bool, certified: bool, left: FloatArray, most: float) -> Ended | None:
    """Why nothing more is run; `left` are the seconds of the cells and probes that may be run."""
    if complete:
        return "complete"
    if certified:
        return "certified"
    if not left.size:
        return "stuck"
    return "budget" if (left > most).all() else None


def _why(
    grid: CellGrid, question: Question, certificate: Certificate, blocks: Sequence[Block], done: BoolArray, first: bool
) -> str:
    """Why these cells, in a few words; `first`: none has run."""
    if first:
        looks = "probes of " if blocks[0].dataset >= len(grid.datasets) else ""
        return f"the cheapest dataset first, {looks}all algorithms"
    place = {int(i): n for n, i in enumerate(certificate.order, 1)}
    parts = []
    for block in blocks[:3]:
        whole = len(block.algorithms) == int((~done[:, block.dataset]).sum())
        places = sorted(place[i] for i in block.algorithms)
        probe = block.dataset >= len(grid.datasets)
        who = "completes" if whole and not probe else "all" if whole else f"places {', '.join(map(str, places))}"
        who = f"probes of {who} on" if probe else who if who == "completes" else f"{who} on"
        parts.append(f"{who} {grid.datasets[block.dataset % len(grid.datasets)]}")
    more = f" and {count_of(len(blocks) - 3, 'more dataset')}" if len(blocks) > 3 else ""
    return f"tells most per second about the {_ABOUT[question.target]}: {'; '.join(parts)}{more}"


_ABOUT = {"first": "first place", "top3": "first three", "order": "order", "rho": "order"}
