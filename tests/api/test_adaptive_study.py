"""What the choosers of adaptive studies read from a store, worked out by hand on stores that no run has made."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.analysis.adaptive.fit import CellGrid, Probes, Question, log_sizes
from recassay.analysis.adaptive.result import AdaptiveResult, Step
from recassay.analysis.certify.fit import CONFIRMED
from recassay.api.study import adaptive_study as module
from recassay.api.study import adaptive_universes as universes_module
from recassay.api.study.adaptive_study import AdaptiveStudy, published_prior, stored_cells, stored_probes, study_grid
from recassay.api.study.adaptive_universes import AdaptiveUniverses, certificate_of, stored_blocks
from recassay.core.errors import UsageError
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.recommenders.plan import plan
from recassay.recommenders.probes import PROBES, Probing
from recassay.store import CellRecord, Store
from recassay.store.adaptive import read_adaptive
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


def test_a_cell_whose_value_is_not_defined_counts_as_failed(tmp_path):
    """Otherwise it would count as not run, and be chosen again."""
    ran = SimpleNamespace(algorithm="A", dataset="films", status="done", metrics={NDCG: float("nan")}, seconds=3.0)
    store = SimpleNamespace(plan=lambda: [ran], cells=lambda: [ran])
    values, seconds = stored_cells(CellGrid(NDCG, ("A", "B"), ("films", "songs")), store)
    assert (values[0, 0], seconds[0, 0]) == (-np.inf, 3.0)


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


GRID = CellGrid(NDCG, ("A", "B"), ("films", "songs"), np.array([1.5, 2.5]), ("neural", "other"))
PLANNED = SimpleNamespace(study=SimpleNamespace(tuning=SimpleNamespace(trials=3)))
BATCH = Step(1, 3.0, 0.5, "A", 0.9, 1.0, 0.8, 0.7, (("B", "songs"), ("A", "songs")), 20.0, "it tells most",
             (("A", "films"),))  # fmt: skip


def decided(next_step, ended=None):
    """A result of which only the next batch matters."""
    nothing = np.zeros((2, 2))
    return AdaptiveResult(
        NDCG, True, ("A", "B"), ("films", "songs"), "first", 0.95, 1.0, 0.97, ("A", "B"), np.ones(2), np.zeros(2),
        np.ones(2), {"first": 0.9}, nothing > 0, nothing, nothing, nothing, next=next_step, ended=ended,
    )  # fmt: skip


class Deciding:
    """Stands for the decisions of a run, for its clock (a second passes between two looks) and for its probes."""

    def __init__(self, monkeypatch, *answers):
        self.answers, self.asked, self.events, ticks = list(answers), [], [], count(100.0)
        monkeypatch.setattr(module, "decide", self.decide)
        monkeypatch.setattr(module, "standing", lambda result: f"ended: {result.ended}")
        monkeypatch.setattr(module, "study_grid", lambda planned, folder: GRID)
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(ticks)))

    def decide(self, *given, **named):
        self.events.append("decided")
        self.asked.append((given, named))
        return self.answers.pop(0)

    def probe(self, folder, cells):
        self.events.append((folder, cells))


def test_a_decision_rests_on_what_is_stored_and_is_kept(tmp_path, monkeypatch):
    half_run(tmp_path)
    half_run(tmp_path / PROBES)
    run = Deciding(monkeypatch, decided(BATCH), decided(None, "certified"))
    question = Question("order", 0.8, 0.5)
    chooser = AdaptiveStudy(question, 50.0, 3, evidence=lambda grid: {"of": grid.algorithms}, probing=Probing(0.4))
    chooser.probe = run.probe
    with Store.open(tmp_path) as store:
        first = chooser(PLANNED, store)
        kept = read_adaptive(tmp_path)
        second = chooser(PLANNED, store)
    assert first.cells == ["b3", "a3", "later0"], "all seeds of each cell, in the order of the batch"
    assert (first.said, first.again) == ("ended: None", True)
    assert (second.cells, second.said, second.again) == ([], "ended: certified", False)
    assert run.events == ["decided", (tmp_path, BATCH.probes), "decided"], "probes run once, before the next decision"
    (given, named), (_, later) = run.asked
    assert given[:2] == (GRID, question)
    np.testing.assert_equal(given[2], [[0.5, np.nan], [-np.inf, -np.inf]])
    np.testing.assert_equal(given[3], [[3.0, np.nan], [12.0, 0.0]])
    assert (named["probes"].ratio, named["probes"].more) == (0.1, True), "0.4 of the users, one trial of four"
    assert (named["prior"], named["steps"], named["cells"]) == ({"of": ("A", "B")}, (), 3)
    assert (named["least_seconds"], named["most_seconds"]) == (0.0, 50.0)
    assert later["steps"] == (BATCH,)
    assert (later["least_seconds"], later["most_seconds"]) == (15.0, 48.0), "5 times 1 second on 3 workers; 2 are gone"
    assert chooser.last.steps == (BATCH,)
    assert (kept["metric"], kept["algorithms"], kept["datasets"]) == (NDCG, ["A", "B"], ["films", "songs"])
    assert (kept["features"], kept["classes"]) == ([[1.5], [2.5]], ["neural", "other"])
    assert (kept["budget"], kept["seed"], kept["ended"], kept["said"]) == (50.0, 0, None, "ended: None")
    assert (kept["question"]["target"], kept["question"]["indifference"]) == ("order", 0.5)
    assert [Step.from_dict(step) for step in kept["steps"]] == [BATCH]
    assert (kept["with_prior"], kept["prior"], kept["probe_ratio"]) == (True, {"of": ["A", "B"]}, 0.1)
    assert kept["probes"] == [["A", "films", 0.5, 3.0], ["B", "films", None, 12.0], ["B", "songs", None, 0.0]]
    assert read_adaptive(tmp_path)["ended"] == "certified"


def test_a_run_goes_on_from_its_journal_and_has_a_budget_of_its_own(tmp_path, monkeypatch):
    half_run(tmp_path)
    run = Deciding(monkeypatch, decided(replace(BATCH, probes=())), *[decided(None, "certified")] * 3)
    with Store.open(tmp_path) as store:
        assert AdaptiveStudy(Question())(PLANNED, store).again is False
        again = AdaptiveStudy(Question(), budget=10.0, evidence=lambda grid: "published")
        again(PLANNED, store)
        assert "probes" not in read_adaptive(tmp_path)
        assert read_adaptive(tmp_path)["with_prior"] is False
        journal = read_adaptive(tmp_path)
        del journal["with_prior"]
        monkeypatch.setattr(module, "read_adaptive", lambda folder: journal)
        AdaptiveStudy(Question(), evidence=lambda grid: "published")(PLANNED, store)
    first, second, third = (named for _, named in run.asked)
    assert (first["probes"], first["prior"], first["most_seconds"], first["cells"]) == (None, None, np.inf, 1)
    assert second["steps"] == (replace(BATCH, probes=()),)
    assert (second["most_seconds"], second["prior"]) == (10.0, None), "begun without a prior, it goes on without"
    assert third["prior"] == "published", "a journal that does not say had one"


def test_the_grid_of_a_study_has_its_algorithms_with_their_classes_and_the_metric_that_decides(tmp_path, monkeypatch):
    sizes = CharacteristicsTable(np.array([[10.0, 20, 300], [40, 50, 6000]]), ("few-items", "long-tail"),
                                 ("Nu", "Ni", "Nr"))  # fmt: skip
    monkeypatch.setattr(module, "planned_sizes", lambda planned, folder: sizes)

    def grid(metrics, tuned):
        datasets, names = ["synthetic:few-items", "synthetic:long-tail"], ["MultiVAE", "EASE", "MostPop"]
        spec = recassay.make_study(datasets, names, metrics=metrics, tuning_metric=tuned, seed=[1, 2])
        return study_grid(plan(spec), tmp_path)

    found = grid(["popularity@10", "recall@10"], "Recall@10")
    assert (found.metric, found.higher_is_better) == ("recall@10", True)
    assert (found.algorithms, found.datasets) == (("MultiVAE", "EASE", "MostPop"), ("few-items", "long-tail"))
    assert found.classes == ("neural", "closed form", "baseline")
    assert found.log_size.tolist() == log_sizes(sizes).tolist()
    lower = grid(["popularity@10", "recall@10"], "ndcg@10")
    assert (lower.metric, lower.higher_is_better) == ("popularity@10", False)


def test_a_published_table_is_evidence_without_the_datasets_of_the_grid(monkeypatch):
    names = ["films", "Songs", "books", "games", "shoes"]
    rows = [(f"a{i}", dataset, metric, 0.1 * i + 0.01 * j, seconds)
            for i in range(3) for j, dataset in enumerate(sorted(names))
            for metric, seconds in (("ndcg@10", 0), ("recall@10", 0))]  # fmt: skip
    took = [(f"a{i}", dataset, "seconds", 10.0 * i + j, 0) for i in range(3) for j, dataset in enumerate(sorted(names))]
    columns = ["algorithm", "dataset", "metric", "value", "seed"]
    table = recassay.load_results(pl.DataFrame(rows + took, schema=columns, orient="row"))
    traits = CharacteristicsTable(np.arange(1.0, 6)[:, None] * [1, 1, 1], tuple(names), ("Nu", "Ni", "Nr"))
    entry = SimpleNamespace(results="a file", replaced_by="", characteristics="a file")
    monkeypatch.setattr(module, "published", lambda: {"one": entry, "part": replace_entry(entry, replaced_by="one"),
                                                      "traits": replace_entry(entry, results=None)})  # fmt: skip
    monkeypatch.setattr(module, "published_results", lambda name: table)
    monkeypatch.setattr(module, "published_characteristics", lambda name: traits)
    monkeypatch.setattr(module, "as_evidence", lambda *given: given)
    evidence = module._evidence.__wrapped__
    name, algorithms, values, seconds, size, _ = evidence("one", "recall@10", frozenset({"songs"}))
    others = ["books", "films", "games", "shoes"]
    assert (name, algorithms) == ("published:one", ("a0", "a1", "a2"))
    np.testing.assert_allclose(values[1], [0.11, 0.12, 0.13, 0.14])
    assert seconds[2].tolist() == [21.0, 22.0, 23.0, 24.0]
    assert size.tolist() == log_sizes(traits.aligned(others)).tolist()
    assert len(evidence("one", "recall@10", frozenset({"songs", "films"}))[2][0]) == 3
    assert evidence("one", "recall@10", frozenset({"songs", "films", "games"})) is None, "two datasets are too few"
    assert evidence("one", "map@20", frozenset())[2][1][0] == pytest.approx(0.1), "nDCG@10 speaks for it"
    assert evidence("one", "coverage@10", frozenset()) is None
    entry.characteristics = None
    assert evidence("one", "recall@10", frozenset())[4] is None
    heard = {}
    monkeypatch.setattr(module, "_evidence", lambda *asked: heard.setdefault(asked) or asked[0])
    monkeypatch.setattr(module, "prior_from", lambda *given, **named: (given, named))
    grid = CellGrid(NDCG, ("A", "B"), ("Films", "My-Songs"), classes=("x", "y"))
    assert published_prior(grid) == ((["one"], ("A", "B"), ("x", "y")), {"between": 0.25})
    assert list(heard) == [("one", NDCG, frozenset({"films", "mysongs"}))]


def replace_entry(entry, **changed):
    return SimpleNamespace(**{**vars(entry), **changed})


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
    assert {"published:board", "published:board-time"} <= set(whole)
    assert "published:open" not in whole, "replaced by the boards"


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
    other = next(
        c for c in planned.cells
        if c.dataset.name == ran.dataset.name and c.algorithm.name != ran.algorithm.name
        and c.spec.split == ran.spec.split
    )  # fmt: skip
    untimed = replace(record, id=other.id, algorithm=other.algorithm.name, spec=other.spec.model_dump(mode="json"),
                      seconds=None)  # fmt: skip
    folder = write_records(
        tmp_path / "both", [NDCG], [record, untimed], manifest={"study": spec.model_dump(mode="json")}
    )
    with Store.open(folder) as store:
        assert stored_blocks(store)[2].tolist() == [4.0] * 3, "a cell without a time took none: (4 + 0) / 2 for each"


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
