"""What the choosers of adaptive studies read from a store, worked out by hand on stores that no run has made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import recassay
from recassay.analysis.adaptive.fit import CellGrid, Probes
from recassay.analysis.certify.fit import CONFIRMED
from recassay.api.study import adaptive_universes as universes_module
from recassay.api.study.adaptive_study import published_prior, stored_cells, stored_probes
from recassay.api.study.adaptive_universes import AdaptiveUniverses, certificate_of, stored_blocks
from recassay.core.errors import UsageError
from recassay.recommenders.plan import plan
from recassay.recommenders.probes import PROBES
from recassay.store import CellRecord, Store
from recassay.store.files import write_cell_files
from recassay.store.records import PlannedRow
from support.stores import LISTS, write_records

NDCG = "ndcg@10"


def cell(name, algorithm, dataset, seed, value, seconds, status="done", metric=NDCG):
    return CellRecord(name, algorithm, dataset, seed, None, {}, status, metrics={metric: value}, seconds=seconds)


def half_run(folder, metric=NDCG):
    """A is whole on films, B failed there once; A lacks a seed on songs, and B has no value."""
    records = [
        cell("a1", "A", "films", 1, 0.25, 1.0, metric=metric),
        cell("a2", "A", "films", 2, 0.75, 2.0, metric=metric),
        cell("b1", "B", "films", 1, 0.5, 4.0, metric=metric),
        cell("b2", "B", "films", 2, None, 8.0, "failed", metric=metric),
        cell("a3", "A", "songs", 1, 0.5, 16.0, metric=metric),
        cell("b3", "B", "songs", 1, None, None, metric=metric),
    ]
    return write_records(folder, [metric], records, to_go=[("A", "songs", 2)])


def test_a_cell_of_the_grid_has_all_its_seeds_or_has_not_run(tmp_path):
    grid = CellGrid(NDCG, ("A", "B"), ("films", "songs"))
    with Store.open(half_run(tmp_path)) as store:
        values, seconds = stored_cells(grid, store)
    np.testing.assert_equal(values, [[0.5, np.nan], [-np.inf, -np.inf]])
    np.testing.assert_equal(seconds, [[3.0, np.nan], [12.0, 0.0]])


def test_values_of_which_less_is_better_are_turned(tmp_path):
    grid = CellGrid("popularity@10", ("A", "B"), ("films", "songs"), higher_is_better=False)
    with Store.open(half_run(tmp_path, "popularity@10")) as store:
        values, _ = stored_cells(grid, store)
    np.testing.assert_equal(values, [[-0.5, np.nan], [-np.inf, -np.inf]])


def test_probes_are_read_where_there_are_any(tmp_path):
    grid = CellGrid(NDCG, ("A", "B"), ("films", "songs"))
    assert stored_probes(grid, tmp_path, 0.2, more=False) is None
    none_yet = stored_probes(grid, tmp_path, 0.2, more=True)
    assert isinstance(none_yet, Probes)
    assert np.isnan(none_yet.values).all()
    assert np.isnan(none_yet.seconds).all()
    assert none_yet.values.shape == (2, 2)
    half_run(tmp_path / PROBES)
    read = stored_probes(grid, tmp_path, 0.2, more=False)
    np.testing.assert_equal(read.values, [[0.5, np.nan], [-np.inf, -np.inf]])
    assert (read.ratio, read.more) == (0.2, False)


def test_published_tables_speak_for_metrics_of_their_kind_alone():
    names, datasets = ("EASE", "MostPop", "ALS"), ("one", "two")
    known = published_prior(CellGrid("recall@10", names, datasets))
    assert known is not None
    assert published_prior(CellGrid("coverage@3", names, datasets)) is None
    assert published_prior(CellGrid(NDCG, ("Mine", "Yours"), datasets)) is None


@pytest.mark.slow
def test_no_dataset_speaks_for_itself_in_the_prior():
    """A table counts from three datasets on that the grid does not have, under whatever spelling."""
    names, datasets = ("EASE", "MostPop", "ALS"), recassay.load_results("published:kdd24").datasets
    assert len(datasets) == 30

    def sources(own):
        prior = published_prior(CellGrid(NDCG, names, ("one", "two", *(name.upper() for name in own))))
        return {text.partition(" (")[0]: text for text in prior.sources}

    whole, fewer, too_few = sources([]), sources(datasets[3:]), sources(datasets[2:])
    assert "30 datasets" in whole["published:kdd24"]
    assert "3 datasets" in fewer["published:kdd24"]
    assert "published:kdd24" not in too_few
    assert "published:open" in whole
    assert "published:board" not in whole, "a part of another table"


@pytest.fixture
def universes(tmp_path):
    """Two seeds of the split, two datasets: one block whole, one with a failed cell, one half run, one that failed."""
    spec = recassay.make_study(
        ["synthetic:few-items", "synthetic:dense-small"], ["MostPop", "Random"], metrics=[NDCG, "recall@5"], trials=0,
        protocol={"split": "random"}, multiverse={"split_seed": [0, 1]},
    )  # fmt: skip
    planned = plan(spec)
    ran = {
        (0, "few-items", "MostPop"): (0.4, 0.2, 1.0),
        (0, "few-items", "Random"): (0.1, 0.3, 3.0),
        (0, "dense-small", "MostPop"): (0.5, 0.5, 2.0),
        (0, "dense-small", "Random"): None,
        (1, "few-items", "MostPop"): (0.4, 0.2, 5.0),
        (1, "dense-small", "MostPop"): None,
        (1, "dense-small", "Random"): None,
    }
    with Store.open(tmp_path / "study", create=True) as store:
        rows = [
            PlannedRow(c.id, c.algorithm.name, c.dataset.name, c.spec.seed, None, (NDCG, "recall@5"), "", 0, c.universe)
            for c in planned.cells
        ]
        store.set_plan(rows, {"study": spec.model_dump(mode="json")})
        for c in planned.cells:
            key = (c.spec.split.protocol.seed, c.dataset.name, c.algorithm.name)
            if key not in ran:
                continue
            status, metrics, seconds = "failed", {}, None
            if ran[key] is not None:
                ndcg, recall, seconds = ran[key]
                status, metrics = "done", {NDCG: ndcg, "recall@5": recall}
                write_cell_files(tmp_path / "study", c.id, per_user=LISTS, lists=LISTS)
            store.record(
                CellRecord(c.id, c.algorithm.name, c.dataset.name, c.spec.seed, None, c.spec.model_dump(mode="json"),
                           status, metrics=metrics, seconds=seconds)
            )  # fmt: skip
    return tmp_path / "study", planned


def test_blocks_of_a_multiverse(universes):
    folder, _ = universes
    with Store.open(folder) as store:
        grid, scores, price, cells = stored_blocks(store)
    assert grid.axes == {"split_seed": ("0", "1"), "metric": ("ndcg", "recall"), "cutoff": ("10", "5")}
    assert (grid.paid.tolist(), grid.free.tolist()) == ([[0], [1]], [[0, 0], [1, 1]])
    assert (grid.algorithms, grid.datasets) == (("MostPop", "Random"), ("few-items", "dense-small"))
    assert grid.exists.tolist() == [[True, True], [True, False]], "a block in which all failed is none"
    # Deviations in units of the spread, lower is better; a failed cell is one unit worse than the worst.
    np.testing.assert_allclose(scores, [[-1, 1, 1, -1], [0, 1, 0, 1], [np.nan] * 4])
    # What was run costs what it took; a cell that is open costs the mean of its dataset: (1 + 3 + 5) / 3.
    np.testing.assert_allclose(price, [4.0, 2.0, 8.0])
    assert {block: [key[0] for key in keys] for block, keys in cells.items()} == {
        (p, d): ["MostPop", "Random"] for p in (0, 1) for d in (0, 1)
    }


def test_choices_of_the_analysis_cost_nothing_and_a_new_dataset_costs_what_others_do(tmp_path):
    spec = recassay.make_study(
        ["synthetic:few-items", "synthetic:dense-small"], ["MostPop", "Random"], metrics=[NDCG], trials=0,
        protocol={"split": "random"}, multiverse={"split_seed": [0, 1], "missing": ["worst", "drop-datasets"]},
    )  # fmt: skip
    planned = plan(spec)
    ran = planned.cells[0]
    record = CellRecord(ran.id, ran.algorithm.name, ran.dataset.name, ran.spec.seed, None,
                        ran.spec.model_dump(mode="json"), "failed", seconds=4.0)  # fmt: skip
    folder = write_records(tmp_path, [NDCG], [record], manifest={"study": spec.model_dump(mode="json")})
    with Store.open(folder) as store:
        grid, scores, price, _ = stored_blocks(store)
    assert set(grid.axes) == {"split_seed", "metric", "cutoff"}
    assert grid.paid.tolist() == [[0], [1]]
    assert np.isnan(scores).all()
    assert price.tolist() == [8.0] * 4, "two cells, as long as the one that was run"


def test_the_certificate_counts_blocks_and_their_price(universes):
    folder, _ = universes
    found = certificate_of(folder)
    assert (found.universes, found.blocks, found.run) == (4, 3, 2)
    assert found.cost == pytest.approx(6 / 14)
    assert found.next == ((1, 0),)
    assert certificate_of(folder, confidence=0.8).confidence == 0.8


def test_the_next_cells_are_those_of_the_chosen_block_that_are_open(universes):
    folder, planned = universes
    with Store.open(folder) as store:
        chosen = AdaptiveUniverses()(planned, store)
        spent = AdaptiveUniverses(budget=1e-9)(planned, store)
    (open_cell,) = [
        c.id for c in planned.cells
        if (c.spec.split.protocol.seed, c.dataset.name, c.algorithm.name) == (1, "few-items", "Random")
    ]  # fmt: skip
    assert chosen.cells == [open_cell]
    assert not chosen.said.endswith("the budget is spent")
    assert spent.cells == []
    assert spent.said.endswith("; the budget is spent")


def test_each_look_has_a_block_per_worker_and_starts_from_the_last_fit(universes, monkeypatch):
    folder, planned = universes
    asked, decide = [], universes_module._decided
    monkeypatch.setattr(universes_module, "_decided", lambda store, **how: asked.append(how) or decide(store, **how))
    chooser = AdaptiveUniverses(confidence=0.9, workers=3)
    with Store.open(folder) as store:
        chooser(planned, store)
        fitted = chooser.theta
        chooser(planned, store)
    assert [(how["confidence"], how["least"]) for how in asked] == [(0.9, 3), (0.9, 3)]
    assert asked[0]["theta"] is None
    assert asked[1]["theta"] is fitted


def test_a_run_ends_when_looks_in_a_row_have_confirmed_it(universes, monkeypatch):
    folder, planned = universes
    whole = certificate_of(folder)
    settled = replace(whole, claims=(), axis_certified=True)
    monkeypatch.setattr(type(settled), "complete", property(lambda made: made.axis_certified))
    looks = []
    monkeypatch.setattr(universes_module, "_decided", lambda store, **how: (looks.pop(0), None, known))
    with Store.open(folder) as store:
        *_, known = stored_blocks(store)

        def ended(chooser, *answers):
            looks[:] = answers
            return [not chooser(planned, store).cells for _ in answers]

        assert ended(AdaptiveUniverses(), settled) == [True], "it had ended before"
        chooser = AdaptiveUniverses()
        row = [settled] * (CONFIRMED - 1)
        assert ended(chooser, whole, *row, whole, *row) == [False] * (2 + 2 * len(row))
        assert ended(chooser, settled) == [True]


def test_a_study_without_a_multiverse_has_no_blocks(tmp_path):
    spec = recassay.make_study(["synthetic:few-items"], ["MostPop"], trials=0)
    folder = write_records(tmp_path, [NDCG], [], manifest={"study": spec.model_dump(mode="json")})
    with Store.open(folder) as store, pytest.raises(UsageError, match=r"the study has no \[multiverse\]"):
        stored_blocks(store)
