"""What a classifier study asks for, and what identifies its cells."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from recassay.core.specs.specs import IdentifiedSpec, Spec
from recassay.core.specs.study import Budget, Value

MOST_MLPS = 120
"""How many MLPs the paper trains (4.2.1)."""

CELL_VERSION = 1
"""Part of every cell's identity: raise it when the same cell comes to give other numbers."""

METRICS = ("accuracy", "balanced_accuracy")

Role: TypeAlias = Literal["real", "artificial", "mlp"]
Parameter: TypeAlias = Value | tuple[Value, ...]


class ClassifierSpec(Spec):
    """A classifier of the study: a registered name or a file (`./mymodel.py:MyModel`), and its fixed parameters."""

    reference: str
    name: str
    role: Role = "real"
    settings: dict[str, Parameter] = Field(default_factory=dict)


class TableSpec(Spec):
    """A table of the study: a file or `openml:ID`, and how it is read; `target` None means the last column."""

    reference: str
    name: str
    target: str | None = None
    categorical: tuple[str, ...] = ()
    """Columns of numbers that are codes of categories."""
    drop: tuple[str, ...] = ()
    """Columns that are not features: identifiers, or what would give the class away."""


class HoldoutSpec(Spec):
    """How a table is divided (4.2.1): a stratified share for testing, at most `max_test` rows; the rest trains."""

    test_share: Annotated[float, Field(gt=0, lt=1)] = 0.3
    max_test: Annotated[int, Field(ge=2)] = 500
    one_hot_limit: Annotated[int, Field(ge=2)] = 30
    """A categorical feature with more categories is encoded by their order of frequency instead."""


class MlpsSpec(Spec):
    """The MLPs of the study: `count` of the paper's 120, evenly spaced, the last one included.

    `grow` is what number i of the 120 has i of: hidden layers of `width` neurons ("depth", as the paper says), or
    training iterations of scikit-learn's standard MLP ("iterations", which is what the authors' published tool grows).
    """

    count: Annotated[int, Field(ge=0, le=MOST_MLPS)] = 12
    grow: Literal["depth", "iterations"] = "depth"
    width: Annotated[int, Field(ge=1)] = 16
    max_iter: Annotated[int, Field(ge=1)] = 200
    """The most training iterations where the depth grows."""


class ClassifyStudySpec(Spec):
    """A whole classifier study. Relative paths in it start from the folder `base`."""

    name: Annotated[str, Field(min_length=1)] = "classifiers"
    """What the study is called."""
    seed: int = 1
    datasets: Annotated[tuple[TableSpec, ...], Field(min_length=1)]
    """The tables of classified instances."""
    classifiers: Annotated[tuple[ClassifierSpec, ...], Field(min_length=1)]
    """With the MLPs."""
    protocol: HoldoutSpec = HoldoutSpec()
    """How a table is divided into training and test instances."""
    mlps: MlpsSpec = MlpsSpec()
    """The neural networks that answer beside the classifiers."""
    budget: Budget = Budget()
    """What one cell may use."""
    base: str = "."


class TableSplitSpec(IdentifiedSpec):
    """A table divided and preprocessed: what the cells on it share."""

    kind: Literal["classification"] = "classification"
    version: int = CELL_VERSION
    dataset: str
    """Its name, since the division derives from it."""
    data: str
    """The version of the raw data."""
    target: str | None
    categorical: tuple[str, ...]
    drop: tuple[str, ...]
    protocol: HoldoutSpec
    seed: int


class ClassifierCellSpec(IdentifiedSpec):
    """One classifier on one table: all that its answers depend on, and nothing else (no path, no budget)."""

    version: int = CELL_VERSION
    classifier: str
    role: Role
    code: str
    settings: dict[str, Parameter] = Field(default_factory=dict)
    split: TableSplitSpec
