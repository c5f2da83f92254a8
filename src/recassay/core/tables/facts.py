"""What is known of a study besides its numbers: what was asked, what happened, and what a reader must be warned of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from recassay.core.system.failures import Failed, LeftOut


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """What the leakage audit found on a dataset; `leak` where it lets a model know what it should not.

    `share` is the share of test events that it concerns, where it is about repeated events.
    """

    dataset: str
    name: str
    sentence: str
    leak: bool
    share: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class StudyFacts:
    """The facts of a study folder that a report tells.

    `protocols` is what held for each dataset, from its cells (`protocol` is what the study asked of all). `trials` is
    what the study asked for, `spent` what happened: by algorithm the fewest and the most trials of a finished cell.
    `untuned` are algorithms without a single trial although they have something to tune, or may have: the file of an
    algorithm is not read for a report. Frames: `splits` (one row per dataset), `parameters` (one row per finished
    cell, chosen values as text), `spaces` (one row per tuned parameter). `conventions` are
    formula and convention by metric label; an empty `protocol` is that of a study without recommenders; `manifest` is
    the whole of it, as kept in the folder.
    """

    name: str
    written: str
    planned: int
    done: int
    to_go: int
    seeds: tuple[int, ...] = ()
    trials: int = 0
    tuning_metric: str = ""
    spent: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    protocol: Mapping[str, Any] = field(default_factory=dict)
    protocols: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    budget: Mapping[str, Any] = field(default_factory=dict)
    failed: tuple[Failed, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    """The algorithms that are not part of the plan on some dataset, and why."""
    findings: tuple[AuditFinding, ...] = ()
    untuned: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    """The algorithms that are lists made elsewhere, and judged as given."""
    splits: pl.DataFrame = field(default_factory=pl.DataFrame)
    parameters: pl.DataFrame = field(default_factory=pl.DataFrame)
    spaces: pl.DataFrame = field(default_factory=pl.DataFrame)
    conventions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    manifest: Mapping[str, Any] = field(default_factory=dict)
    order: pl.DataFrame = field(default_factory=pl.DataFrame)
    """Of targets after histories, one row per split: shares of repeats and ties, and what shuffling costs."""
    histories: pl.DataFrame = field(default_factory=pl.DataFrame)
    """Of cells that were asked with histories: how many these were, and the milliseconds per history."""
    sequential: tuple[str, ...] = ()
    """Algorithms that read the order of events."""
    simple: tuple[str, ...] = ()
    """Those of them that are not trained: rules, Markov chains and nearest histories."""
    one_negative: tuple[str, ...] = ()
    """Those that the study trains with one negative item per target."""
    energy: str = ""
    """What all cells took, and how that is known; empty where nothing was kept."""
    plan: str = ""
    """Whether the plan was sealed before the results, and the checksum of its seal."""
    deviations: tuple[str, ...] = ()
    """Every way in which the study is not what was sealed."""
