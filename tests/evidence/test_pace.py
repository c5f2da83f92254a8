"""When a study will end: the time of cells that are left, by algorithm, dataset, process and what has run already."""

from __future__ import annotations

import datetime

import pytest

from recassay.evidence.pace import seconds_left
from recassay.runner.running import RunningCell
from recassay.store.records import CellRecord, PlannedRow


def cell(algorithm: str, dataset: str, seconds: float | None) -> CellRecord:
    return CellRecord(f"{algorithm} {dataset}", algorithm, dataset, 1, None, {}, "done", seconds=seconds)


def planned(algorithm: str, dataset: str) -> PlannedRow:
    return PlannedRow(f"{algorithm} {dataset}", algorithm, dataset, 1, None, (), "", 0)


def test_the_time_left_follows_algorithms_and_datasets() -> None:
    done = [cell("A", "d", 1.0), cell("B", "d", 10.0), cell("A", "e", 4.0)]
    left = seconds_left(done, [planned("B", "e")], [], 1)
    assert left is not None
    # The geometric means: B takes 10, e takes 4, all of them 40 to the power of a third.
    assert left == pytest.approx(10 * 4 / 40 ** (1 / 3))
    assert seconds_left(done, [planned("C", "f")], [], 1) == pytest.approx(40 ** (1 / 3)), "what is new is as usual"
    assert seconds_left(done[:2], [planned("B", "e")], [], 1) is None
    assert seconds_left(done, [], [], 1) == 0
    untimed = [cell("B", "e", 0.0), cell("B", "f", None)]
    assert seconds_left([*done, *untimed], [planned("B", "e")], [], 1) == left, "a cell without a time says nothing"
    assert seconds_left([*done[:2], *untimed], [planned("B", "e")], [], 1) is None


def test_processes_share_the_cells_that_are_left_but_not_one_cell() -> None:
    done = [cell("A", name, 8.0) for name in "def"]
    to_go = [planned("A", name) for name in "gh"]
    assert [seconds_left(done, to_go, [], workers) for workers in (1, 2, 16)] == pytest.approx([16.0, 8.0, 8.0])


def test_what_a_running_cell_has_had_is_taken_off() -> None:
    done = [cell("A", name, 100.0) for name in "def"]
    begun = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=40)
    running = [RunningCell("A g", "A", "g", 1, begun.isoformat())]
    assert seconds_left(done, [planned("A", "g")], running, 1) == pytest.approx(60.0, abs=10.0)
    late = [RunningCell("A g", "A", "g", 1, (begun - datetime.timedelta(hours=1)).isoformat())]
    assert seconds_left(done, [planned("A", "g"), planned("A", "h")], late, 1) == pytest.approx(100.0)
