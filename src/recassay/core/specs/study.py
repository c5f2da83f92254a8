"""What a study asks for: datasets, algorithms, a protocol, tuning and a budget."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from recassay.core.metric_facts import FACTS
from recassay.core.specs.specs import AttackSpec, ProtocolSpec, ReadSpec, Spec


def is_plain_name(name: str) -> bool:
    """Whether a name can stand in a table and in a path."""
    return name not in (".", "..") and all(letter.isprintable() and letter not in "/\\" for letter in name)


def _plain_name(name: str) -> str:
    if not is_plain_name(name):
        raise ValueError("a name has no slash, no line break and no other unprintable character")
    return name


Value: TypeAlias = bool | int | float | str

DEFAULT_METRICS = tuple(f"{facts.name}@10" for facts in FACTS if facts.usual)
"""The metrics of a study that names none: those that the KDD'24 study compares."""

PRUNE_AFTER = 5
"""Complete trials before the median may stop another (Optuna's own default)."""

PATIENCE = 4
"""Stages of training without a better objective after which a trial ends, where any stage is a model of its own."""

LIST_DEPTH = 100
"""How long the kept lists are, unless a metric looks deeper."""


Seed: TypeAlias = Annotated[int, Field(ge=0, lt=2**63)]

StudyName: TypeAlias = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_plain_name)]
"""What a study is called, which is also its folder where none is named."""


class RangeSpec(Spec):
    """A narrower range for one parameter; `log` None keeps the scale that the algorithm declares."""

    low: int | float
    high: int | float
    log: bool | None = None

    @model_validator(mode="after")
    def _check(self) -> RangeSpec:
        if self.low > self.high:
            raise ValueError(f"low = {self.low} is above high = {self.high}")
        return self


class OptionsSpec(Spec):
    """A few values for one parameter, instead of a range."""

    options: Annotated[tuple[Value, ...], Field(min_length=1)]


Setting: TypeAlias = Value | RangeSpec | OptionsSpec


class AlgorithmSpec(Spec):
    """An algorithm of the study: a registered name or a file (`./mymodel.py:MyModel`), and what is settled about it.

    `name` is what the results table calls it. A plain value in `settings` fixes a parameter; a range or options narrow
    what tuning may vary.
    """

    reference: str
    name: str
    settings: dict[str, Setting] = Field(default_factory=dict)


class DatasetSpec(Spec):
    """A dataset of the study: an imported name, `synthetic:PRESET[@scale]`, a file, or a folder of a given split.

    `read` says how a file is read; `protocol` replaces keys of the study's protocol for this dataset (another split for
    data without a clock, a rating threshold on another scale; in a file, `positive_threshold = "none"` lifts the
    study's). `folds` are those of a cross-validation to run; None: the one that the protocol names.
    """

    reference: str
    name: str
    read: ReadSpec = ReadSpec()
    protocol: dict[str, Any] = Field(default_factory=dict)
    folds: tuple[int, ...] | None = None
    groups: str | None = None
    """A file of groups of users, which a run copies into the study; no number of a cell depends on it."""
    item_groups: str | None = None
    """A file of groups of items, likewise."""

    def idle(self) -> dict[str, bool]:
        """No groups."""
        return {"groups": self.groups is None, "item_groups": self.item_groups is None}


class TuningSpec(Spec):
    """How parameters are chosen: the same number of trials for every algorithm, judged on the validation part."""

    trials: Annotated[int, Field(ge=0, le=1_000_000)] = 40
    """0: the defaults are used as they are."""
    metric: str = "ndcg@10"
    pruning: bool = True
    """Whether a trial that falls behind the median may be stopped, where the algorithm reports its stages."""
    parallel: Annotated[int, Field(ge=1, le=1_000)] = 1
    """How many trials of a cell are proposed together, each from the trials of the rounds before, and run as jobs of
    their own where there is more than one. The numbers depend on it; 1 leaves a cell known by the other fields alone.
    """
    seed: Seed | None = None
    """Seed of the search and of the fits in it; None: the seed of the cell. With one, cells that differ in their seed
    alone share their trials, and the seed of the cell is that of the final fit."""
    seconds: Annotated[float, Field(gt=0)] | None = None
    """No trial begins after the trials before it took so long; the first always does. None: all trials are run."""

    def idle(self) -> dict[str, bool]:
        """One trial at a time, the seed of the cell, and no limit of time."""
        return {"parallel": self.parallel == 1, "seed": self.seed is None, "seconds": self.seconds is None}

    @property
    def staged(self) -> bool:
        """Whether the stages of training are judged at all: with so few trials no median would stop one."""
        return self.pruning and self.trials > PRUNE_AFTER


class Budget(Spec):
    """What one cell may use; a cell beyond it becomes a row with its reason. Not part of a cell's identity."""

    seconds_per_cell: Annotated[float, Field(gt=0)] | None = 3600.0
    memory_gb: Annotated[float, Field(gt=0, le=1e9)] | None = None
    """In units of 10^9 bytes; None: nine tenths of the machine's memory."""
    cells_per_gpu: Annotated[int, Field(ge=1)] | None = None
    """How many cells compute on one GPU at a time; None: as many as fit into its memory. Where there are several, their
    seconds are not those of a GPU of their own."""


class ComPerSpec(AttackSpec):
    """What a study measures for ComPer: the attack that its algorithms are fitted on once more, and three metrics.

    Robustness is the absolute shift of the average hit ratio between the two fits (ComPer, section V.B).
    """

    k: Annotated[int, Field(ge=1)] = 10
    """Length of the lists of which hits, coverage and diversity are taken (the paper's N)."""
    correctness: str = "auc"
    hits: Literal["targets", "test"] = "targets"
    """`targets`: how many of the test users are recommended a target item, averaged over targets (the average hit ratio
    of the source that the paper cites, Avazpour et al. 2014, after Mobasher et al. 2007); `test`: the share of test
    users with a held-out item in their list, that is accuracy."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """The labels that the study reports for it, besides `robustness` and the seconds of every cell."""
        return self.correctness, f"coverage@{self.k}", f"diversity@{self.k}"


class MultiverseSpec(Spec):
    """Alternatives for keys of the protocol and of tuning: every combination of them is a universe of the study."""

    axes: dict[str, tuple[Any, ...]]
    """By key, its alternatives; the first of each make the universe that all other commands judge."""
    exclude: tuple[dict[str, Any], ...] = ()
    """Combinations that make no sense: choices by key; `dataset` and `algorithm` narrow a rule to these."""


class StudySpec(Spec):
    """A whole study. Relative paths in it start from the folder `base`."""

    name: StudyName = "study"
    """What the study is called."""
    seeds: Annotated[tuple[Seed, ...], Field(min_length=1)] = (1,)
    """The seeds: every cell is run once with each."""
    datasets: Annotated[tuple[DatasetSpec, ...], Field(min_length=1)]
    """The datasets, each with how it is read and what of the protocol is its own."""
    algorithms: Annotated[tuple[AlgorithmSpec, ...], Field(min_length=1)]
    """The algorithms, each with the parameters that are fixed or searched."""
    metrics: Annotated[tuple[str, ...], Field(min_length=1)] = DEFAULT_METRICS
    """Labels of the metrics that are reported."""
    protocol: ProtocolSpec = ProtocolSpec()
    """How the data are filtered and split."""
    folds: tuple[int, ...] | None = None
    """For `split = "kfold"`: the folds to run on datasets that do not say; None: the one that the protocol names."""
    tuning: TuningSpec = TuningSpec()
    """How parameters are chosen."""
    budget: Budget = Budget()
    """What one cell may use."""
    comper: ComPerSpec | None = None
    """What is measured for ComPer; None: nothing."""
    multiverse: MultiverseSpec | None = None
    """Choices that are varied; None: none."""
    base: str = "."

    def idle(self) -> dict[str, bool]:
        """Choices that are not varied."""
        return {"multiverse": self.multiverse is None}

    @model_validator(mode="after")
    def _check(self) -> StudySpec:
        twice = sorted({seed for seed in self.seeds if self.seeds.count(seed) > 1})
        if twice:
            raise ValueError(f"the seed {twice[0]} is listed twice")
        targets = {str(data.protocol.get("target", self.protocol.target)) for data in self.datasets}
        if self.multiverse is not None:
            targets |= set(map(str, self.multiverse.axes.get("target", ())))
        if self.comper is not None and targets != {"all"}:
            raise ValueError("[comper] compares the lists of known users: it needs target = 'all'")
        return self
