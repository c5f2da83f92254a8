"""Who answered what rightly: a binary table of respondents x items, and the parameters of logistic items.

In a study of classifiers the respondents are classifiers and the items test instances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from recassay.core.errors import InputError
from recassay.core.tables.cells import places_in
from recassay.core.tables.sources import Source
from recassay.core.types import BoolArray, FloatArray
from recassay.core.words import listing

MISSING = 2
"""The code of a response that was not observed."""


@dataclass(frozen=True, slots=True, eq=False)
class Responses:
    """Who answered what right."""

    codes: NDArray[np.uint8]
    """Respondents x items: 1 where right, 0 where wrong, `MISSING` where nothing is known."""
    respondents: tuple[str, ...]
    """Names of the respondents, in the order of the rows."""
    items: tuple[str, ...]
    """Names of the items, in the order of the columns."""
    sources: tuple[Source, ...] = ()
    complete: bool = field(init=False)
    """Whether every response is known."""

    def __post_init__(self) -> None:
        if self.codes.shape != (len(self.respondents), len(self.items)):
            raise ValueError(f"codes {self.codes.shape} do not fit the names")
        for names, what in ((self.respondents, "respondent"), (self.items, "item")):
            if not names:
                raise InputError(f"the response table has no {what}", fix="give at least one respondent and one item")
            if len(set(names)) < len(names):
                twice = sorted({n for n in names if names.count(n) > 1}) if len(names) < 5000 else []
                raise InputError(f"the {what} {listing(twice)} appears twice", fix="give each a name of its own")
        if bool((self.codes == MISSING).all()):
            raise InputError("no response is known", fix="give 1 for right and 0 for wrong")
        object.__setattr__(self, "complete", not bool((self.codes == MISSING).any()))

    @classmethod
    def from_array(
        cls, values: ArrayLike, respondents: Sequence[str] | None = None, items: Sequence[str] | None = None
    ) -> Responses:
        """From numbers 0 and 1 with NaN for missing; names default to `r1, r2, ...` and `item1, item2, ...`."""
        table = np.asarray(values)
        if table.ndim != 2:
            raise InputError(f"responses have {table.ndim} dimensions", fix="give respondents x items")
        missing = np.isnan(table) if table.dtype.kind == "f" else np.zeros(table.shape, dtype=bool)
        strange = ~missing & (table != 0) & (table != 1)
        if strange.any():
            row, column = (int(x[0]) for x in np.nonzero(strange))
            raise InputError(
                f"response {table[row, column]} of row {row + 1}, column {column + 1} is neither 0 nor 1",
                fix="give 1 for right, 0 for wrong, and leave a missing response empty (NaN)",
            )
        codes = np.where(missing, MISSING, np.where(missing, 0, table)).astype(np.uint8)
        return cls(
            codes,
            tuple(respondents) if respondents is not None else tuple(f"r{i + 1}" for i in range(len(table))),
            tuple(items) if items is not None else tuple(f"item{i + 1}" for i in range(table.shape[1])),
        )

    @classmethod
    def from_rows(
        cls, frame: pl.DataFrame, respondent: str, item: str, value: str, sources: tuple[Source, ...] = ()
    ) -> Responses:
        """From one row per respondent and item: right where `value` is above 0, missing where it or the row is absent.

        Respondents and items are in alphabetical order.
        """
        table = frame.select(
            pl.col(respondent).cast(pl.String), pl.col(item).cast(pl.String), pl.col(value).cast(pl.Float64)
        )
        if table.select(pl.struct(respondent, item).is_duplicated().any()).item():
            raise InputError("a respondent has an item twice", fix="select one metric, dataset and seed first")
        respondents, items = (table.get_column(n).unique().sort().to_list() for n in (respondent, item))
        numbers = table.get_column(value).fill_null(np.nan).to_numpy()
        codes = np.full((len(respondents), len(items)), MISSING, dtype=np.uint8)
        place = places_in(respondents, table.get_column(respondent)), places_in(items, table.get_column(item))
        codes[place] = np.where(np.isnan(numbers), MISSING, numbers > 0)
        return cls(codes, tuple(respondents), tuple(items), sources)

    def on_items(self, at: NDArray[np.int64]) -> Responses:
        """The responses to the items at these positions."""
        return Responses(self.codes[:, at], self.respondents, tuple(self.items[i] for i in at))

    def right(self) -> BoolArray:
        """Where the response is right."""
        return self.codes == 1

    def observed(self) -> BoolArray:
        """Where a response is known."""
        return self.codes != MISSING

    def score_share(self) -> FloatArray:
        """Each respondent's share of right answers among those observed; 0.5 where none is."""
        known = self.observed().sum(axis=1)
        return np.where(known > 0, self.right().sum(axis=1) / np.maximum(known, 1), 0.5)


@dataclass(frozen=True, slots=True, eq=False)
class LogisticItems:
    """Item parameters in slope and intercept form: P = c + (1 - c) / (1 + exp(-(slope theta + intercept))).

    The discrimination is the slope and the difficulty -intercept / slope: not defined (NaN) where the slope is 0.
    """

    names: tuple[str, ...]
    """Names of the items, in the order of the arrays."""
    slope: FloatArray
    """The discrimination of each."""
    intercept: FloatArray
    """The intercept of each; the difficulty is -intercept / slope."""
    guessing: FloatArray
    """The probability c of a right answer without any ability."""

    @classmethod
    def from_difficulty(
        cls, names: Sequence[str], discrimination: ArrayLike, difficulty: ArrayLike, guessing: ArrayLike | None = None
    ) -> LogisticItems:
        """From the usual parameters (a, b, c)."""
        a = np.asarray(discrimination, dtype=np.float64)
        b = np.asarray(difficulty, dtype=np.float64)
        c = np.zeros_like(a) if guessing is None else np.asarray(guessing, dtype=np.float64)
        bad = ~np.isfinite(a) | ~np.isfinite(b) | ~(c >= 0) | ~(c < 1)
        if bad.any():
            which = listing((n for n, x in zip(names, bad, strict=True) if x), most=3)
            raise InputError(
                f"the parameters of {which} cannot be used",
                fix="discrimination and difficulty are finite numbers, guessing lies from 0 to below 1",
            )
        return cls(tuple(names), a, -a * b, c)

    @property
    def difficulty(self) -> FloatArray:
        """Where the logistic part is one half."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.slope != 0, -self.intercept / self.slope, np.nan)

    def take(self, which: slice | BoolArray | NDArray[np.int64]) -> LogisticItems:
        """The items of a slice, at these positions, or where this mask is true."""
        at = np.arange(len(self.names))[which]
        return LogisticItems(tuple(self.names[i] for i in at), self.slope[at], self.intercept[at], self.guessing[at])


@dataclass(frozen=True, slots=True, eq=False)
class InstanceResponses:
    """The responses on one dataset (Cardoso et al., "Enhancing Classifier Evaluation", 4.2.1).

    Respondents are classifier names, items test instances named `r<row number in the file>`. `roles` says of each
    respondent what it is: "real", "artificial" or "mlp"; `truth` holds the class of each item. `metadata` holds the
    properties of section 5.1 under their OpenML names, of the whole table: NumberOfClasses, NumberOfInstances,
    NumberOfFeatures, ClassEntropy, Dimensionality, PercentageOfInstancesWithMissingValues, MajorityClassPercentage and
    MinorityClassPercentage.
    """

    dataset: str
    responses: Responses
    """Who classified which test instance right."""
    roles: tuple[str, ...]
    truth: tuple[str, ...] | None
    metadata: Mapping[str, float]
