"""Tables and plain data that follow from the axes of a result's arrays."""

from __future__ import annotations

import sys
from dataclasses import dataclass, is_dataclass
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from recassay import analysis
from recassay.core.errors import UsageError
from recassay.core.system.display import Displayed
from recassay.core.system.plain import plain
from recassay.core.tabular import by_name, by_pair, estimates, long_frame, stated

VALUES = np.array([[1.0, 2.0, np.nan], [4.0, 5.0, 6.0]])


def test_a_row_per_combination_with_the_last_axis_in_its_own_order() -> None:
    frame = long_frame(
        {"dataset": ("x", "y"), "algorithm": ("a", "b", "c")},
        {"value": VALUES, ("low", "high"): np.stack([VALUES - 1, VALUES + 1], axis=-1), "mean": [7, 8, 9], "p": None},
        order=[2, 0, 1],
    )
    assert frame.columns == ["dataset", "algorithm", "value", "low", "high", "mean", "p"]
    assert frame.row(0) == ("x", "c", None, None, None, 9, None)
    assert frame.row(4) == ("y", "a", 4.0, 3.0, 5.0, 7, None)
    assert (frame.schema["p"], frame.schema["mean"]) == (pl.Float64, pl.Int64)


def test_arrays_by_the_names_of_their_axes() -> None:
    assert by_name(VALUES[1:], ["y"], ["a", "b", "c"]) == {"y": {"a": 4.0, "b": 5.0, "c": 6.0}}
    assert by_name(VALUES[1:], ["y"]) == {"y": [4.0, 5.0, 6.0]}
    assert by_name(None, ["y"]) is None
    assert by_pair([[0, 1], [2, 0]], ["a", "b"]) == {"a": {"b": 1}, "b": {"a": 2}}
    many = [f"a{i}" for i in range(61)]
    values = np.add.outer(100 * np.arange(61), np.arange(61))
    of_first, of_best = by_pair(values, many), by_pair(values, many, order=[60, *range(60)])
    assert (list(of_first), list(of_best)) == (many[:60], [*many[:59], "a60"])
    assert (of_best["a60"]["a3"], of_best["a3"]["a60"]) == (6003, 360)
    assert len(by_pair(values[:60, :60], many[:60], order=[0])) == 60
    assert estimates(["a"], [1.5], [[1, 2]]) == {"a": {"estimate": 1.5, "interval": [1, 2]}}
    assert estimates(["a"], [1.5], None) == {"a": {"estimate": 1.5, "interval": None}}
    with pytest.raises(ValueError, match="longer"):
        by_name(VALUES, ["x"])


@dataclass(frozen=True)
class Inner:
    share: float


@dataclass(frozen=True)
class Own:
    def to_dict(self) -> dict[str, Any]:
        return {"own": (1, float("nan"))}


@dataclass(frozen=True)
class Answer(Displayed):
    """An answer."""

    names: tuple[str, ...] = ("a", "b")
    inner: Inner = Inner(0.5)

    def to_frame(self) -> pl.DataFrame:
        return pl.DataFrame({"name": self.names})


def test_fields_are_stated_under_their_names_data_classes_included() -> None:
    assert stated(Answer(), "names", "inner") == {"names": ["a", "b"], "inner": {"share": 0.5}}
    assert plain([Own(), Inner(np.float64(1.0))]) == [{"own": [1, None]}, {"share": 1.0}]


def test_every_result_is_a_pandas_frame_where_pandas_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Answer().to_pandas()["name"].tolist() == ["a", "b"]
    frame = pl.DataFrame({"n": [1, None], "x": [0.5, None], "s": ["a", None], "b": [True, False], "l": [[1], [2, 3]]})
    whole = frame.with_columns(i=pl.Series([1, 2]), d=pl.Series([datetime(2020, 1, 2), None]))
    for made in (whole, whole.clear()):
        monkeypatch.setattr(Answer, "to_frame", lambda answer, made=made: made)
        theirs = made.to_pandas()
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        ours = Answer().to_pandas()
        monkeypatch.undo()
        assert list(ours.columns) == list(theirs.columns)
        assert ours[["n", "x", "i"]].equals(theirs[["n", "x", "i"]])
        assert ours.astype(object).where(ours.notna(), None).to_dict("list") == made.to_dict(as_series=False)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match=r"needs pandas, which is not installed; pip install pandas"):
        Answer().to_pandas()


def test_results_cannot_be_changed():
    """Pictures, pages and files are made of one result, one after the other: none may change it for the next."""
    found = []
    for folder in sorted(Path(analysis.__path__[0]).glob("*/result.py")):
        module = import_module(f"recassay.analysis.{folder.parent.name}.result")
        found += [one for one in vars(module).values() if is_dataclass(one) and one.__module__ == module.__name__]
    assert len(found) > 50
    assert [one.__qualname__ for one in found if not one.__dataclass_params__.frozen] == []
