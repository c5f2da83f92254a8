"""Universes of a long table: every combination of choices (split, target, metric, cut-off, ...) that occurs in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from recassay.analysis.multiverse.remarks import Remark
from recassay.analysis.multiverse.repeats import (
    SEED_AXES,
    WINDOW,
    Drift,
    SeedShare,
    drift_test,
    seed_shares,
    window_ranks,
)
from recassay.core import columns as c
from recassay.core.errors import InputError, UsageError
from recassay.core.names import did_you_mean
from recassay.core.seeds import derived_rng
from recassay.core.tables.cells import places_of
from recassay.core.tables.labels import facts_of, find_label, is_cost, known_direction, normal_label, split_label
from recassay.core.types import BoolArray, FloatArray, IntArray

CUTOFF = "cutoff"
ALL = "all"
"""In place of a metric: metrics of every kind."""

LEAKY = "leaky"
"""A column of this name marks universes whose numbers are not to be trusted."""

NO_CHOICES = (c.DEVIATION, c.RUNS, c.HIGHER_IS_BETTER, c.USER, c.VERSION, LEAKY)
"""Columns that say something of a value and are not choices of the protocol."""

MOST_NUMBERS = 30
"""A column with more different numbers than this, not all of them whole, holds measurements."""

FREE_AXES = (c.METRIC, CUTOFF, "missing", "aggregation")
"""Choices that need no further cell."""

NONE = "(none)"
"""The choice of rows that leave a column empty."""

_TRUE = {"1", "true", "yes", "y", "leaky", "x"}
_LABEL, _UNIVERSE = "label", "universe"


@dataclass(frozen=True, slots=True, eq=False)
class Universes:
    """The values of a table by universe; `values` is universes x algorithms x datasets, NaN where there is none."""

    axes: dict[str, tuple[str, ...]]
    """By axis, a choice that every evaluation has to make, the alternatives that occur."""
    places: IntArray
    """Universes x axes: the position of its choice among those of the axis."""
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    values: FloatArray
    upward: BoolArray
    """For each universe, whether higher values are better."""
    leaky: BoolArray
    """For each universe, whether it was marked as leaky or indefensible."""
    remarks: tuple[Remark, ...] = ()
    drift: Drift | None = None
    """Whether the order drifts over windows of time; None where there are none."""
    seeds: tuple[SeedShare, ...] = ()
    """How much each kind of seed moves the values; empty where no seed varies."""

    def __len__(self) -> int:
        return len(self.places)

    def times(self, name: str, choices: tuple[str, ...]) -> Universes:
        """Every universe once per choice of a further axis; the same where there is one choice."""
        if len(choices) < 2:
            return self
        if name in self.axes:
            raise InputError(
                f"{name!r} is a column of the table and a choice of the analysis",
                fix=f"rename the column, or give one value for {name}",
            )
        count, n = len(choices), len(self)
        return replace(
            self,
            axes=self.axes | {name: choices},
            places=np.hstack([np.tile(self.places, (count, 1)), np.repeat(np.arange(count), n)[:, None]]),
            values=np.tile(self.values, (count, 1, 1)),
            upward=np.tile(self.upward, count),
            leaky=np.tile(self.leaky, count),
        )


def find_universes(
    rows: pl.DataFrame,
    *,
    axes: Sequence[str] | None = None,
    metric: str | None = None,
    leaky: Sequence[str] = (),
    higher_is_better: bool | None = None,
    seed: int = 0,
) -> Universes:
    """The universes of a long frame: algorithm, dataset, metric, value, and a column per further choice (text).

    By default every further column with several values is an axis, unless it is a property of algorithms or datasets
    (it never changes while algorithm, dataset and metric stay the same) or holds measurements. The metric and its
    cut-off are axes where they vary; by default metrics of one kind (accuracy where there is any), with `all` of every
    kind but cost. Columns that are not among the `axes` named are averaged over.
    """
    remarks: list[Remark] = []
    frame, directions = _labelled(rows, metric, higher_is_better, remarks)
    marked = _marked(frame, leaky)
    named = _named(frame, axes) if axes is not None else _usual(frame, remarks)
    frame = frame.with_columns(marked.alias(LEAKY))
    used = named + [n for n in (c.METRIC, CUTOFF) if n not in named and frame.get_column(n).n_unique() > 1]
    if not used:
        raise InputError(
            "the table has one universe: no column besides algorithm, dataset, metric and value has several values",
            fix="add a column per choice (split, seed, ...), or give several tables that differ in their protocol",
        )
    drift = None
    if WINDOW in frame.columns and WINDOW not in used:
        paid = [name for name in used if name not in (c.METRIC, CUTOFF)]
        drift = drift_test(*window_ranks(frame, paid, directions, _LABEL), derived_rng(seed, "multiverse", "drift"))
        others = [name for name in frame.columns if name not in (WINDOW, c.VALUE, LEAKY)]
        frame = frame.group_by(others, maintain_order=True).agg(pl.col(c.VALUE).mean(), pl.col(LEAKY).any())
    frame = _one_value_per_cell(frame, used, explicit=axes is not None, remarks=remarks)
    choices, places, universe = _universes(frame, used, remarks)
    algorithms, datasets = (tuple(sorted(frame.get_column(name).unique())) for name in (c.ALGORITHM, c.DATASET))
    values = np.full((len(places), len(algorithms), len(datasets)), np.nan)
    values[universe, *places_of(frame, algorithms, datasets)] = frame.get_column(c.VALUE).fill_null(np.nan).to_numpy()
    upward, suspect = np.ones(len(places), dtype=bool), np.zeros(len(places), dtype=bool)
    upward[universe] = frame.get_column(_LABEL).replace_strict(directions, return_dtype=pl.Boolean).to_numpy()
    np.logical_or.at(suspect, universe, frame.get_column(LEAKY).to_numpy())
    cells = [_LABEL, *(name for name in used if name not in SEED_AXES)]
    return Universes(
        axes=choices,
        places=places,
        algorithms=algorithms,
        datasets=datasets,
        values=values,
        upward=upward,
        leaky=suspect,
        remarks=tuple(remarks),
        drift=drift,
        seeds=seed_shares(frame, cells, derived_rng(seed, "multiverse", "seeds")),
    )


def _labelled(
    rows: pl.DataFrame, metric: str | None, higher_is_better: bool | None, remarks: list[Remark]
) -> tuple[pl.DataFrame, dict[str, bool]]:
    """The rows with normal metric labels, metric and cut-off apart, and the direction of each label."""
    labels = {label: normal_label(label) for label in rows.get_column(c.METRIC).unique().to_list()}
    frame = rows.with_columns(pl.col(c.METRIC).replace(labels).alias(_LABEL))
    if metric is not None and metric != ALL:
        frame = frame.filter(pl.col(_LABEL) == find_label(metric, sorted(set(labels.values()))))
    else:
        every = sorted(set(labels.values()))
        costs = [label for label in every if is_cost(label)]
        if costs and len(costs) < len(every):
            frame = frame.filter(~pl.col(_LABEL).is_in(costs))
            remarks.append(Remark("costs_left_out", tuple(costs)))
        others = _other_kinds([label for label in every if label not in costs]) if metric is None else []
        if others:
            frame = frame.filter(~pl.col(_LABEL).is_in(others))
            remarks.append(Remark("kinds_left_out", tuple(others)))
    directions: dict[str, bool] = {}
    for label in frame.get_column(_LABEL).unique(maintain_order=True):
        known = known_direction(label) if higher_is_better is None else higher_is_better
        if known is None:
            raise UsageError(
                f"it is not known whether higher or lower values of {label!r} are better",
                fix="say `higher_is_better=True` or `higher_is_better=False`, or choose another `metric`",
            )
        directions[label] = known
    parts = {label: split_label(label) for label in directions}
    if len({name for name, _ in parts.values()}) == len(parts):  # a cut-off that goes with the metric is part of it
        parts = {label: (label, None) for label in directions}
    return frame.with_columns(
        pl.col(_LABEL).replace({label: name for label, (name, _) in parts.items()}).alias(c.METRIC),
        pl.col(_LABEL).replace({label: cut or NONE for label, (_, cut) in parts.items()}).alias(CUTOFF),
    ), directions


def _other_kinds(labels: list[str]) -> list[str]:
    """The labels that are not alternatives to the others: all but accuracy where there is any, else but one kind."""
    kinds = {label: facts.kind if (facts := facts_of(label)) is not None else "other" for label in labels}
    kept = next((kind for kind in ("accuracy", "error", "beyond accuracy") if kind in kinds.values()), None)
    return [] if kept is None else [label for label, kind in kinds.items() if kind != kept]


def _marked(frame: pl.DataFrame, leaky: Sequence[str]) -> pl.Series:
    """Which rows are leaky: by a column of that name, or by conditions such as `split=random & core=0`."""
    marked = pl.Series(np.zeros(frame.height, dtype=bool))
    if LEAKY in frame.columns:
        marked = frame.get_column(LEAKY).cast(pl.String).str.to_lowercase().is_in(sorted(_TRUE)).fill_null(False)
    for condition in leaky:
        mask = pl.Series(np.ones(frame.height, dtype=bool))
        for term in condition.split("&"):
            name, equals, choice = (part.strip() for part in term.partition("="))
            if not equals or name not in frame.columns:
                raise UsageError(
                    f"leaky: {term.strip()!r} is not of the form column=choice",
                    fix=did_you_mean(name, frame.columns),
                )
            mask = mask & (frame.get_column(name) == choice).fill_null(False)
        if not mask.any():
            raise UsageError(f"leaky: no row has {condition}", fix="check the choice, its case included")
        marked = marked | mask
    return marked


def _candidates(frame: pl.DataFrame) -> list[str]:
    taken = {*c.RESULT_KEY, c.VALUE, _LABEL, CUTOFF, *NO_CHOICES}
    return [name for name in frame.columns if name not in taken]


def _named(frame: pl.DataFrame, axes: Sequence[str]) -> list[str]:
    """The axes that were named, each a column with several values."""
    known = [*_candidates(frame), c.METRIC, CUTOFF]
    for name in axes:
        if name not in known:
            raise UsageError(f"axes: there is no column {name!r}", fix=did_you_mean(name, known))
        if frame.get_column(name).n_unique() < 2:
            only = frame.get_column(name)[0]
            raise UsageError(
                f"axes: {name} has one choice, {only!r}, in every row", fix="an axis needs at least two; leave it out"
            )
    return list(dict.fromkeys(axes))


def _usual(frame: pl.DataFrame, remarks: list[Remark]) -> list[str]:
    """Every further column that is a choice of the protocol; those that are not are noted."""
    chosen, properties, measurements = [], [], []
    keys = [c.ALGORITHM, c.DATASET, _LABEL]
    for name in _candidates(frame):
        column = frame.get_column(name)
        if column.n_unique() < 2 or name == WINDOW:
            continue
        numbers = column.cast(pl.Float64, strict=False)
        if numbers.null_count() == 0 and column.n_unique() > MOST_NUMBERS and ((numbers % 1) != 0).any():
            measurements.append(name)
        elif frame.group_by(keys).agg(pl.col(name).n_unique()).get_column(name).max() == 1:
            properties.append(name)
        else:
            chosen.append(name)
    if properties:
        remarks.append(Remark("properties", tuple(properties)))
    if measurements:
        remarks.append(Remark("measurements", tuple(measurements)))
    return chosen


def _one_value_per_cell(frame: pl.DataFrame, used: list[str], *, explicit: bool, remarks: list[Remark]) -> pl.DataFrame:
    """One row per universe, algorithm and dataset: the mean over what is not an axis; contradictions are refused."""
    keys = [c.ALGORITHM, c.DATASET, _LABEL, *(name for name in used if name not in (c.METRIC, CUTOFF))]
    cells = frame.group_by(keys, maintain_order=True)
    several = cells.agg(pl.len().alias("rows"), pl.col(c.VALUE).n_unique().alias("values")).filter(pl.col("rows") > 1)
    differing = several.filter(pl.col("values") > 1)
    if differing.height and not explicit:
        first = differing.row(0, named=True)
        where = ", ".join(f"{name}={first[name]}" for name in keys)
        raise InputError(
            f"{differing.height} cells have several values, the first {where}",
            fix="add the column that tells them apart (such as seed), or keep one value",
        )
    if several.height and explicit:
        other = [name for name in _candidates(frame) if name not in used and frame.get_column(name).n_unique() > 1]
        remarks.append(Remark("averaged", tuple(other)))
    rest = [pl.col(name).first() for name in (c.METRIC, CUTOFF) if name not in keys]
    return cells.agg(*rest, pl.col(c.VALUE).mean(), pl.col(LEAKY).any())


def _universes(
    frame: pl.DataFrame, used: list[str], remarks: list[Remark]
) -> tuple[dict[str, tuple[str, ...]], IntArray, IntArray]:
    """The axes with their choices, the choices of every universe, and the universe of every row."""
    table = frame.select(used).unique(maintain_order=True).with_row_index(_UNIVERSE)
    universe = frame.select(used).join(table, on=used, how="left", maintain_order="left").get_column(_UNIVERSE)
    choices = {name: _sorted(table.get_column(name).unique().to_list()) for name in used}
    places = {name: np.array([choices[name].index(text) for text in table.get_column(name)]) for name in used}
    copies: dict[str, list[str]] = {}  # by axis, itself and other columns that always change together with it
    for name in used:
        twin = next((other for other in copies if _copies(places[name], places[other])), name)
        copies.setdefault(twin, []).append(name)
    for name, (_, *others) in copies.items():
        if others:
            remarks.append(Remark("together", (name, *others)))
    axes = {name: choices[name] for name in copies}
    return axes, np.stack([places[name] for name in axes], axis=1), universe.to_numpy().astype(np.int64)


def _sorted(choices: list[str]) -> tuple[str, ...]:
    """Numbers by their size, else by name."""
    try:
        return tuple(sorted(choices, key=lambda text: (0, float(text)) if text != NONE else (-1, 0.0)))
    except ValueError:
        return tuple(sorted(choices))


def _copies(left: IntArray, right: IntArray) -> bool:
    """Whether each choice of one goes with one choice of the other."""
    pairs = len(np.unique(np.stack([left, right]), axis=1).T)
    return pairs == len(np.unique(left)) == len(np.unique(right))
