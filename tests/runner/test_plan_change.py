"""What is said of a study that is run again with another plan."""

from __future__ import annotations

import pytest

import recassay
from recassay.runner.plan_change import plan_changes
from recassay.store.records import PlannedRow
from support.in_process import without_processes


def row(cell: str, algorithm: str, dataset: str = "films") -> PlannedRow:
    return PlannedRow(cell, algorithm, dataset, 1, None, ("ndcg@10",), "t", 0)


BEFORE = [row("a", "ALS"), row("b", "BPR"), row("c", "MostPop")]


@pytest.mark.parametrize(
    ("after", "done", "told"),
    [
        (BEFORE, {"a"}, ()),
        ([*BEFORE[::-1]], {"a"}, ()),
        (
            [BEFORE[0], BEFORE[2], row("d", "EASE"), row("e", "EASE", "books")],
            {"a", "b"},
            (
                "The plan has changed: 2 cells kept, of which 1 done.",
                "New: 2 cells (EASE on films, books).",
                "No longer part of the plan: 1 cell (BPR on films); the results stay in the folder, and count again "
                "when named.",
            ),
        ),
        (
            [row("x", "ALS"), row("y", "BPR"), BEFORE[2]],
            {"y"},
            (
                "The plan has changed: 1 cell kept, of which none done.",
                "Asked for in another way: 2 cells (ALS, BPR on films); 1 done before.",
            ),
        ),
    ],
)
def test_what_is_kept_new_and_gone(after, done, told):
    assert plan_changes(BEFORE, after, done) == told


def test_a_first_plan_changes_nothing():
    assert plan_changes([], BEFORE, set()) == ()


@pytest.mark.slow
def test_a_study_run_again_with_other_algorithms_says_so(tmp_path):
    told = []

    def run(*algorithms: str):
        study = recassay.make_study(["synthetic:few-items"], list(algorithms), metrics=["ndcg@10"], trials=0)
        with without_processes():
            return recassay.run(study, tmp_path / "study", progress=lambda event: told.extend(event.changes))

    assert run("Random", "MostPop").changes == ()
    again = run("MostPop", "ItemKNN")
    assert again.changes == tuple(told)
    assert [line.partition(":")[0] for line in told] == ["The plan has changed", "New", "No longer part of the plan"]
    assert "1 cell kept, of which 1 done" in told[0]
    back = run("Random", "MostPop")
    assert (back.ran, back.done) == (0, 2), "what was done counts again"
