"""How an adaptive benchmark stands: what is certified of the whole grid, what was run and why, what is next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.choices import AdaptiveTarget
from recassay.core.tables.matrix import MatrixResult
from recassay.core.tabular import long_frame, stated
from recassay.core.types import BoolArray, FloatArray

Ended: TypeAlias = Literal["certified", "budget", "complete", "stuck"]
"""Why nothing more is run: the target is certified, the seconds are spent, every cell was run, or those left are not to
be had."""


CLAIMS = {"first": "first", "top3": "top3", "order": "ordered", "rho": "agreement"}
"""By target, the field of a step that has its probability."""


@dataclass(frozen=True, slots=True)
class Step:
    """A batch of cells (algorithm, dataset), how things stood before it, and why it was chosen.

    `spent` seconds were paid for `done` cells, `share` of the predicted cost of the whole grid; `leader` stood first;
    `first`, `top3`, `ordered` and `agreement` are the probabilities of the claims (see `certificate`). `seconds` is
    what the batch is expected to take. `probes` are cells that get a cheaper look.
    """

    done: int
    spent: float
    share: float
    leader: str
    first: float
    top3: float
    ordered: float
    agreement: float
    cells: tuple[tuple[str, str], ...]
    """The cells of the batch, each as algorithm and dataset."""
    seconds: float
    why: str
    probes: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Step:
        """The step that `asdict` made plain."""
        fields = {name: stored[name] for name in cls.__dataclass_fields__ if name in stored}
        named = {name: tuple((str(a), str(d)) for a, d in stored.get(name, ())) for name in ("cells", "probes")}
        return cls(**{**fields, **named})


@dataclass(frozen=True, slots=True, eq=False)
class AdaptiveResult(MatrixResult):
    """The mean ranks of the whole grid as far as they are known, and the way there."""

    target: AdaptiveTarget
    """What is to be settled: who is first, which three are, the order up to `indifference`, or an order that agrees
    with that of the whole grid."""
    confidence: float
    """The probability at which the target counts as certified."""
    indifference: float
    """The difference in mean rank up to which an order may be wrong (target `order`)."""
    rho: float
    """The least correlation with the order of the whole grid (target `rho`)."""
    order: tuple[str, ...]
    """The algorithms, best first."""
    mean_ranks: FloatArray
    """The expected mean rank of each algorithm over the whole grid, in the order of `algorithms`."""
    deviations: FloatArray
    """Their standard deviations, stretched by a margin for a model that is wrong; 0 where all is known."""
    sets: FloatArray
    """By place k from 0 on, the probability that the first k + 1 of `order` are the best k + 1."""
    probabilities: Mapping[str, float]
    """The probability of each target, by its name."""
    measured: BoolArray
    """Algorithms x datasets: which cells were run; a failed one counts."""
    values: FloatArray
    """Algorithms x datasets: what was measured (with its sign turned where lower is better), NaN elsewhere, minus
    infinity where the cell failed."""
    ranks: FloatArray
    """Algorithms x datasets: the rank of each cell, measured or expected; a failed one has the last."""
    seconds: FloatArray
    """Algorithms x datasets: what each cell took, or is expected to take where it was not run."""
    steps: tuple[Step, ...] = ()
    """The batches so far, each with how things stood before it and why it was chosen."""
    next: Step | None = None
    """The batch to run next; None where nothing more is to be run."""
    ended: Ended | None = None
    """Why nothing more is run: the target is `certified`, the `budget` is spent, every cell was run (`complete`), or
    those left are not to be had (`stuck`); None while there is a next batch."""
    probe_values: FloatArray | None = None
    """Algorithms x datasets: what probes (cells without tuning) gave, as in `values`; None where none may be run."""
    probe_seconds: FloatArray | None = None
    """Algorithms x datasets: what each probe took, or is expected to take."""
    prior: tuple[str, ...] = ()
    """The published tables that the belief started from, in words; none where it started from nothing."""
    prior_weight: float = 0.0
    """How many measured datasets these tables count for, on average over the algorithms that they know. It falls where
    the new cells disagree with them."""
    leader_fails: float = 0.0
    """The probability that the first of `order` fails on at least one dataset on which it was not run."""

    @property
    def certified(self) -> bool:
        """Whether the target's probability has reached the level."""
        return self.probabilities[self.target] >= self.confidence

    @property
    def spent(self) -> float:
        """Seconds of the cells that were run, and of the probes."""
        return float(self.seconds[self.measured].sum()) + self.probes_took

    @property
    def probed(self) -> int:
        """How many probes were run."""
        return 0 if self.probe_values is None else int((~np.isnan(self.probe_values)).sum())

    @property
    def probes_took(self) -> float:
        """Seconds of the probes."""
        if self.probe_values is None or self.probe_seconds is None:
            return 0.0
        return float(self.probe_seconds[~np.isnan(self.probe_values)].sum())

    @property
    def share(self) -> float:
        """Of the predicted cost of the whole grid."""
        return self.spent / max(float(self.seconds.sum()), 1e-12)

    def settled(self) -> list[bool]:
        """By place, whether its holder is settled at the level: the sets that end before it and with it are."""
        sure = [True, *(bool(p >= self.confidence) for p in self.sets)]
        return [a and b for a, b in pairwise(sure)]

    def to_frame(self) -> pl.DataFrame:
        """One row per algorithm, best first."""
        at = [self.algorithms.index(name) for name in self.order]
        return long_frame(
            {c.ALGORITHM: self.order},
            {
                "place": np.arange(1, len(at) + 1),
                "mean_rank": self.mean_ranks[at],
                "deviation": self.deviations[at],
                "settled": self.settled(),
                "cells_run": self.measured[at].sum(axis=1),
                "seconds": np.where(self.measured, self.seconds, 0.0)[at].sum(axis=1),
            },
        ).select("place", pl.exclude("place"))

    def cells(self) -> pl.DataFrame:
        """One row per cell: whether its rank is measured or predicted, its value where measured, its seconds."""
        run = np.where(np.isneginf(self.values), "failed", "measured")
        value = np.where(np.isfinite(self.values), self.values, np.nan)
        return long_frame(
            {c.ALGORITHM: self.algorithms, c.DATASET: self.datasets},
            {
                "state": np.where(self.measured, run, "predicted"),
                c.VALUE: value if self.higher_is_better else -value,
                c.RANK: self.ranks,
                "seconds": self.seconds,
            },
        )

    def standing(self) -> dict[str, Any]:
        """How things stand, in the fields of a `Step`."""
        return {
            "done": int(self.measured.sum()),
            "spent": self.spent,
            "share": self.share,
            "leader": self.order[0],
            **{CLAIMS[target]: probability for target, probability in self.probabilities.items()},
        }

    def curve(self) -> pl.DataFrame:
        """How certainty grew with cost: one row per decision, and the present one last."""
        now = self.standing()
        before = [{name: getattr(step, name) for name in now} for step in self.steps]
        return pl.DataFrame([*before, now])

    def frames(self) -> dict[str, pl.DataFrame]:
        """Algorithms, cells, the curve, and the batches with their reasons."""
        rows = [
            (n, a, d, kind, step.why)
            for n, step in enumerate(self.steps, 1)
            for kind, chosen in (("probe", step.probes), ("cell", step.cells))
            for a, d in chosen
        ]
        schema = {"batch": pl.Int64} | {name: pl.String for name in (c.ALGORITHM, c.DATASET, "kind", "why")}
        batches = pl.DataFrame(rows, schema=schema, orient="row")
        return {
            "adaptive": self.to_frame(),
            "adaptive_cells": self.cells(),
            "adaptive_curve": self.curve(),
            "adaptive_batches": batches,
        }

    def to_dict(self) -> dict[str, Any]:
        """`order`, `probabilities`, `certified`, `cost`, `cells`, `curve`, `next` and the settings."""
        return {
            **stated(self, "metric", "higher_is_better"),
            "order": self.to_frame().to_dicts(),
            **stated(self, "probabilities", "sets", "certified", "leader_fails", "ended"),
            "cost": {
                "cells": int(self.measured.sum()),
                "of": int(self.measured.size),
                "seconds": self.spent,
                "probes": self.probed,
                "probe_seconds": self.probes_took,
                "predicted_total": float(self.seconds.sum()),
                "share": self.share,
            },
            "prior": {"sources": list(self.prior), "weight_in_datasets": self.prior_weight},
            "next": None if self.next is None else asdict(self.next),
            "cells": self.cells().to_dicts(),
            "curve": self.curve().to_dicts(),
            "settings": stated(self, "target", "confidence", "indifference", "rho"),
        }
