"""Largest first: costs are learned from what was done, and the order follows them."""

from __future__ import annotations

import numpy as np
import pytest

from recassay.recommenders.study import run_study
from recassay.runner.order import LearnedCosts, chain_seconds
from recassay.runner.work import Rounds, WorkCell
from recassay.store.records import PlannedRow
from support.run import PLUGIN, tiny_data, tiny_study

SIZES = {"small": 1e4, "middle": 1e5, "large": 1e6}
CLASSES = {"Pop": "baseline", "Gram": "closed form", "Factors": "factor model", "Net": "neural"}


def cell(algorithm, dataset, **more):
    row = PlannedRow(f"{algorithm} {dataset}", algorithm, dataset, 1, None, (), "", 0)
    return WorkCell(row, dataset, {}, lambda _: {}, **more)


CELLS = [cell(algorithm, dataset) for dataset in SIZES for algorithm in CLASSES]


def order(costs):
    return [one.id for one in sorted(CELLS, key=costs.seconds, reverse=True)]


def test_before_anything_is_known_size_and_class_decide():
    found = order(LearnedCosts(CELLS, CLASSES, SIZES))
    assert found[0] == "Net large"
    assert found[-1] == "Pop small"
    assert found.index("Net middle") < found.index("Gram middle") < found.index("Pop middle")


def test_what_is_done_outweighs_what_was_expected():
    costs = LearnedCosts(CELLS, CLASSES, SIZES)
    for dataset in ("small", "middle"):
        costs.add(cell("Gram", dataset), SIZES[dataset] / 10)
        costs.add(cell("Net", dataset), SIZES[dataset] / 1e5)
    assert costs.seconds(cell("Gram", "large")) < costs.seconds(cell("Net", "large"))
    assert costs.learn()
    assert not costs.learn()
    assert costs.seconds(cell("Gram", "large")) > 100 * costs.seconds(cell("Net", "large"))
    assert costs.seconds(cell("Gram", "small")) == pytest.approx(1e3)


def test_costs_are_learned_again_when_a_twentieth_more_is_done():
    costs = LearnedCosts(CELLS, CLASSES, SIZES)
    learned = []
    for _ in range(45):
        costs.add(CELLS[0], 2.0)
        learned.append(costs.learn())
    assert [n + 1 for n, again in enumerate(learned) if again] == [*range(1, 21), *range(22, 41, 2), 43]
    assert costs.seconds(CELLS[0]) == pytest.approx(2.0)


def test_without_sizes_or_classes_all_is_alike():
    costs = LearnedCosts(CELLS, {}, {})
    assert len({round(costs.seconds(one), 9) for one in CELLS}) == 1
    assert np.isfinite(costs.seconds(CELLS[0]))


def test_a_dataset_of_unknown_size_counts_like_the_mean_and_a_tiny_one_like_a_single_event():
    known = {"small": 1e4, "large": 3e6}
    unknown, mean = (LearnedCosts(CELLS, CLASSES, known | more) for more in ({}, {"middle": (1e4 + 3e6) / 2}))
    assert unknown.seconds(cell("Net", "middle")) == pytest.approx(mean.seconds(cell("Net", "middle")))
    assert unknown.seconds(cell("Net", "small")) < unknown.seconds(cell("Net", "middle"))
    empty, single = (LearnedCosts(CELLS, CLASSES, SIZES | {"small": size}) for size in (0.0, 1.0))
    assert empty.seconds(cell("Net", "small")) == pytest.approx(single.seconds(cell("Net", "small")))


def test_seeds_and_folds_of_a_cell_are_taken_together_by_their_mean():
    costs = LearnedCosts(CELLS, CLASSES, SIZES)
    for seconds in (10.0, 30.0):
        costs.add(cell("Net", "large"), seconds)
    costs.learn()
    assert costs.seconds(cell("Net", "large")) == pytest.approx(20.0)
    odd = [cell("Odd", "large"), cell("Factors", "large")]
    unknown = LearnedCosts(odd, {"Factors": "factor model"}, SIZES)
    assert unknown.seconds(odd[0]) == pytest.approx(unknown.seconds(odd[1])), "of no known class: as factor models"


def test_the_chain_of_a_cell_in_trials_grows_shorter():
    spread = cell("Net", "large", rounds=Rounds(40, 8))
    assert chain_seconds(cell("Net", "large"), 41.0) == 41.0
    assert [chain_seconds(spread, 41.0, known) for known in (0, 8, 40)] == [6.0, 5.0, 1.0]


def test_a_run_begins_with_the_largest_dataset_and_what_it_learned_before(tmp_path, in_process):
    (tmp_path / "fakes.py").write_text(PLUGIN)
    tiny_data(tmp_path, "tiny")
    tiny_data(tmp_path, "wide", users=150)
    spec = tiny_study(tmp_path, ("Pop", "Fake"), datasets=("tiny", "wide"), trials=0)
    told = []
    run_study(spec, tmp_path / "out", workers=1, progress=told.append)
    begun = [(event.algorithm, event.dataset) for event in told if event.kind == "started"]
    assert begun[0][1] == "wide"
    assert len(begun) == 4
