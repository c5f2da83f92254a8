"""The universes of a study as a long table, from cells written by hand."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from types import SimpleNamespace

import pytest

from recassay.api.study.studies import make_study
from recassay.evidence import universes as evidence
from recassay.evidence.universes import free_choices, has_universes, universe_rows
from recassay.recommenders.plan import plan
from recassay.store import CellRecord, Store
from support.stores import write_records


def written(folder, spec, value, *, failed=(), absent=(), split=attrgetter("split")):
    """A store in which every planned cell has the value that `value` gives it."""
    records = []
    for number, cell in enumerate(plan(spec).cells):
        if number in absent:
            continue
        protocol = cell.spec.split.protocol
        status = "failed" if number in failed else "done"
        fold = protocol.fold if protocol.split in ("rolling", "kfold") else None
        records.append(CellRecord(
            f"c{number}", cell.algorithm.name, cell.dataset.name, cell.spec.seed, fold,
            cell.spec.model_dump(mode="json"), status, reason="slow" if status == "failed" else None,
            metrics={"ndcg@10": value(number, cell)}, split=split(protocol),
        ))  # fmt: skip
    manifest = {"study": spec.model_dump(mode="json")}
    write_records(folder, ["ndcg@10"], records, manifest=manifest)
    with Store.open(folder) as store:  # each cell belongs to a universe of its own, the first to the study's
        store.set_plan([replace(row, universe=number) for number, row in enumerate(store.plan())], manifest)
    return folder


@pytest.fixture
def leaks(monkeypatch):
    """Random splits were refused by the audit, others not."""
    monkeypatch.setattr(evidence, "_refused", lambda folder, split: split == "random")


@pytest.mark.usefixtures("leaks")
def test_each_universe_has_its_rows_and_what_leaks_is_marked(tmp_path):
    spec = make_study(["synthetic:dense-small"], ["MostPop", "Random"], trials=0, metrics=["ndcg@10"],
                      multiverse={"split": ["global_time", "random"], "split_seed": [0, 1],
                                  "missing": ["worst", "drop-datasets"]})  # fmt: skip
    folder = written(tmp_path / "study", spec, lambda number, cell: number / 10, failed={1})
    rows = universe_rows(folder).rows(named=True)
    assert has_universes(folder)
    assert free_choices(folder) == {"missing": ("worst", "drop-datasets")}
    # The seed of the split does not matter for one by time: both universes share its cells.
    told = [(row["algorithm"], row["split"], row["split_seed"], row["value"], row["leaky"]) for row in rows]
    assert sorted(told, key=str) == sorted([
        ("MostPop", "global_time", "0", 0.0, "no"), ("Random", "global_time", "0", None, "no"),
        ("MostPop", "global_time", "1", 0.0, "no"), ("Random", "global_time", "1", None, "no"),
        ("MostPop", "random", "0", 0.2, "yes"), ("Random", "random", "0", 0.3, "yes"),
        ("MostPop", "random", "1", 0.4, "yes"), ("Random", "random", "1", 0.5, "yes"),
    ], key=str)  # fmt: skip
    assert "missing" not in rows[0], "a choice of the analysis needs no cells"
    assert not {"seed", "window"} & set(rows[0]), "what does not vary is left out"


@pytest.mark.usefixtures("leaks")
def test_folds_are_averaged_windows_stay_and_a_failed_fold_leaves_no_value(tmp_path):
    folds = make_study(["synthetic:dense-small"], ["MostPop", "Random"], trials=0, metrics=["ndcg@10"], seed=[1, 2],
                       protocol={"split": "kfold", "folds": 3}).model_copy(update={"folds": (0, 1, 2)})  # fmt: skip
    cells = plan(folds).cells
    assert len(cells) == 12
    lost = next(n for n, cell in enumerate(cells) if (cell.algorithm.name, cell.spec.seed) == ("Random", 2))
    folder = written(tmp_path / "folds", folds, lambda number, cell: cell.spec.seed + cell.spec.split.protocol.fold,
                     failed={lost})  # fmt: skip
    told = {(row["algorithm"], row["seed"]): row["value"] for row in universe_rows(folder).rows(named=True)}
    assert told == {("MostPop", "1"): 2.0, ("MostPop", "2"): 3.0, ("Random", "1"): 2.0, ("Random", "2"): None}
    assert not has_universes(folder)
    rolling = make_study(["synthetic:dense-small"], ["MostPop", "Random"], trials=0, metrics=["ndcg@10"],
                         protocol={"split": "rolling", "folds": 3})  # fmt: skip
    moved = written(tmp_path / "rolling", rolling, lambda number, cell: float(cell.spec.split.protocol.fold))
    assert has_universes(moved)
    assert {(row["window"], row["value"]) for row in universe_rows(moved).rows(named=True)} == {
        ("0", 0.0), ("1", 1.0), ("2", 2.0)}  # fmt: skip
    assert free_choices(moved) == {}


def test_one_fold_that_leaks_makes_its_universe_leak(tmp_path, monkeypatch):
    folds = make_study(["synthetic:dense-small"], ["MostPop"], trials=0, metrics=["ndcg@10"],
                       protocol={"split": "kfold", "folds": 3}).model_copy(update={"folds": (0, 1, 2)})  # fmt: skip
    folder = written(tmp_path / "folds", folds, lambda number, cell: 0.5, split=lambda cell: f"fold {cell.fold}")
    for leaking, marked in (("fold 1", "yes"), ("none", "no")):
        monkeypatch.setattr(evidence, "_refused", lambda folder, split, leaking=leaking: split == leaking)
        assert universe_rows(folder)["leaky"].to_list() == [marked]


@pytest.mark.usefixtures("leaks")
def test_a_seed_that_is_a_choice_stands_once(tmp_path):
    spec = make_study(["synthetic:dense-small"], ["MostPop"], trials=0, metrics=["ndcg@10"],
                      multiverse={"fit_seed": [1, 2]})  # fmt: skip
    folder = written(tmp_path / "study", spec, lambda number, cell: float(cell.spec.seed))
    rows = universe_rows(folder)
    assert "seed" not in rows.columns
    assert sorted(rows.select("fit_seed", "value").rows()) == [("1", 1.0), ("2", 2.0)]


@pytest.mark.parametrize(
    ("audit", "refused"),
    [
        ({"findings": [{"refuses": False}, {"refuses": True}]}, True),
        ({"findings": [{"refuses": False}]}, False),
        ({"findings": []}, False),
        ({}, False),
    ],
)
def test_a_split_leaks_where_its_audit_refused_something(monkeypatch, tmp_path, audit, refused):
    asked = []
    monkeypatch.setattr(evidence, "split_record", lambda *names: asked.append(names) or SimpleNamespace(audit=audit))
    assert evidence._refused(tmp_path, "s1") is refused
    assert asked == [(tmp_path, "s1")]


@pytest.mark.usefixtures("leaks")
def test_choices_of_tuning_tell_cells_apart_and_a_cell_that_has_not_run_has_no_row(tmp_path):
    spec = make_study(["synthetic:dense-small"], ["ItemKNN"], metrics=["ndcg@10"], multiverse={"trials": [1, 2]})
    assert [cell.spec.tuning.trials for cell in plan(spec).cells] == [1, 2]
    folder = written(tmp_path / "study", spec, lambda number, cell: cell.spec.tuning.trials / 10)
    assert universe_rows(folder).select("trials", "value").rows() == [("1", 0.1), ("2", 0.2)]
    part = written(tmp_path / "part", spec, lambda number, cell: cell.spec.tuning.trials / 10, absent={0})
    assert universe_rows(part).select("trials", "value").rows() == [("2", 0.2)]
