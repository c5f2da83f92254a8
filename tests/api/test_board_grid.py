"""From records of the grid to a shipped board: windows, gaps, lines that were cut off, and what the reader gives."""

from __future__ import annotations

import base64
import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.data.published.benchmark import open_benchmark, packed
from recassay.reporting.board.page import AlgorithmCard

HERE = Path(__file__).resolve().parents[2] / "benchmarks" / "board"
MACHINE = {"written": "2026-11-18", "versions": {}, "machine": {}, "hard": 120.0, "search": 10.0}


@pytest.fixture(scope="module", params=["export"])
def export(request):
    spec = importlib.util.spec_from_file_location(f"board_{request.param}", HERE / f"{request.param}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look for it
    sys.path.insert(0, str(HERE))
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(HERE))
    del sys.modules[spec.name]


def split(dataset, fold):
    protocol = {"split": "rolling" if fold != "-1" else "global_time"}
    return {"what": "split", "board": "time", "dataset": dataset, "fold": fold, "status": "done", "protocol": protocol,
            "fingerprint": f"{dataset}{fold}", "characteristics": {"Nu": 3.0}}  # fmt: skip


def cell(algorithm, dataset, fold, value, **changed):
    done = {"status": "done", "metrics": {"ndcg@10": value}, "seconds_fit": 1.0, "seconds_predict": 1.0, "joules": 20.0,
            "joules_fit": 10.0, "energy": "estimated", "memory": 2e6, "judged": 2, "gpu": False, "trials": [[]],
            "seconds": 3.0, "validation": 0.5, "parameters": {"k": 3},
            "users": base64.b64encode(packed(np.array([value, 0.0]))).decode()}  # fmt: skip
    return {"what": "cell", "board": "time", "dataset": dataset, "fold": fold, "algorithm": algorithm, "seed": "1",
            **done, **changed}  # fmt: skip


@pytest.fixture
def shipped(export, tmp_path):
    datasets = ("ml-1m-half", "amazon-instant-video", "completejourney", "amazon-grocery", "rsc15-100k", "epub")
    lines = [split(name, str(n)) for name in ("ml-100k", "ml-latest-small") for n in range(4)]
    lines += [split(name, "-1") for name in datasets]
    for algorithm in ("ALS", "EASE"):
        lines += [cell(algorithm, name, str(n), n / 10, gpu=algorithm == "EASE")
                  for name in ("ml-100k", "ml-latest-small") for n in range(4)]  # fmt: skip
        lines += [cell(algorithm, name, "-1", 0.5) for name in datasets]
    last = lines.index(cell("EASE", "ml-latest-small", "3", 0.3, gpu=True))
    lines[last] = cell("EASE", "ml-latest-small", "3", 0.3) | {"status": "refused", "reason": "no value after 120 s"}
    file = tmp_path / "cells.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)) + '\n{"what": "cell", "boa')
    export.fresh(export.records([file]), "time", [MACHINE]).write(tmp_path / "to")
    return tmp_path / "to"


def test_windows_become_one_value_and_stand_behind_each_other(shipped):
    board = open_benchmark(shipped)
    one = board.datasets["ml-100k"]
    assert one.windows == ("ml-100k0", "ml-100k1", "ml-100k2", "ml-100k3")
    assert (one.split, one.judged) == ("ml-100k3", 8)
    assert board.datasets["epub"].windows is None
    values = pl.read_csv(shipped / "results.csv.gz")
    mean = values.filter(algorithm="ALS", dataset="ml-100k", metric="ndcg@10")["value"]
    assert mean.to_list() == [pytest.approx(0.15)]
    assert board.scores_of("ml-100k")["ALS"].tolist() == pytest.approx([0, 0, 0.1, 0, 0.2, 0, 0.3, 0])
    assert board.cells().filter(algorithm="ALS", dataset="ml-100k")["window"].to_list() == [0, 1, 2, 3]


def test_a_dataset_counts_where_all_windows_are_done_and_gaps_have_their_reason(shipped):
    board = open_benchmark(shipped)
    values = pl.read_csv(shipped / "results.csv.gz")
    assert values.filter(algorithm="EASE", dataset="ml-latest-small").height == 0
    reasons = {(gap["algorithm"], gap["dataset"]): gap["reason"] for gap in board.not_run}
    assert reasons["EASE", "ml-latest-small"] == "no value after 120 s"
    assert reasons["BPR", "epub"] == "not started when the grid's time was up"
    assert ("ALS", "epub") not in reasons


def test_energy_of_a_shared_gpu_is_not_shipped(shipped):
    joules = pl.read_csv(shipped / "results.csv.gz").filter(metric="joules", dataset="ml-100k")
    assert joules["algorithm"].to_list() == ["ALS"]


@pytest.mark.parametrize("folder", ["board", "board-time"])
def test_a_shipped_board_is_read_and_written_as_it_was(export, tmp_path, folder):
    board = next(name for name, of in export.FOLDERS.items() if of == folder)
    whole = export.Tables.read(export.SHIPPED / folder)
    export.merged(whole, [], board, []).write(tmp_path)
    for name in ("benchmark.json", "results.csv.gz", "cells.csv.gz", "characteristics.csv.gz"):
        assert (tmp_path / name).read_bytes() == (export.SHIPPED / folder / name).read_bytes(), name
    assert export.Tables.read(tmp_path).users == whole.users


def test_further_records_are_put_over_a_shipped_board(export, shipped, tmp_path):
    base, later = export.Tables.read(shipped), MACHINE | {"written": "2026-11-19"}
    mended = [split("epub", "-1"), cell("EASE", "epub", "-1", 0.9), cell("BPR", "epub", "-1", 0.7),
              cell("WARP", "epub", "-1", 0.0, status="refused", reason="too slow")]  # fmt: skip
    export.merged(base, mended, "time", [later]).write(tmp_path / "merged")
    values = pl.read_csv(tmp_path / "merged" / "results.csv.gz").filter(metric="ndcg@10")
    on_epub = values.filter(dataset="epub").select("algorithm", "value").rows()
    assert on_epub == [("ALS", 0.5), ("BPR", 0.7), ("EASE", 0.9)]
    assert values.filter(dataset="ml-100k").height == 2
    board = open_benchmark(tmp_path / "merged")
    assert board.cells().filter(dataset="epub")["algorithm"].to_list() == ["ALS", "BPR", "EASE"]
    assert board.scores_of("epub")["EASE"].tolist() == pytest.approx([0.9, 0.0])
    reasons = {(gap["algorithm"], gap["dataset"]): gap["reason"] for gap in board.not_run}
    assert ("BPR", "epub") not in reasons
    assert reasons["WARP", "epub"] == "too slow"
    assert reasons["EASE", "ml-latest-small"] == "no value after 120 s"
    assert [one["written"] for one in board.environments] == ["2026-11-18", "2026-11-19"]


def further(algorithm, dataset, fold, value, seed, **changed):
    """A cell of a further seed: the parameters of the first one, without a search."""
    return cell(algorithm, dataset, fold, value, seed=str(seed), trials=[], validation=None, **changed)


def test_further_seeds_stand_beside_the_first_and_gaps_are_counted_by_cell(export, shipped, tmp_path):
    windows = [split("ml-100k", str(n)) for n in range(4)]
    lines = [split("epub", "-1"), *windows, further("ALS", "epub", "-1", 0.7, 2), further("ALS", "epub", "-1", 0.9, 3)]
    lines += [further("ALS", "ml-100k", str(n), 0.2, 2) for n in range(4)]
    lines += [further("ALS", "ml-100k", str(n), 0.2, 3) for n in range(3)]  # one window is lacking
    lines += [further("EASE", "epub", "-1", 0.0, 2, status="refused", reason="no value after 120 s")]
    before = export.Tables.read(shipped)
    after = export.merged(before, lines, "time", [MACHINE])
    after.write(tmp_path / "merged")
    values = pl.read_csv(tmp_path / "merged" / "results.csv.gz").filter(algorithm="ALS", metric="ndcg@10")
    assert values.filter(dataset="epub").select("seed", "value").rows() == [(1, 0.5), (2, 0.7), (3, 0.9)]
    assert values.filter(dataset="ml-100k").select("seed", "value").rows() == [(1, 0.15), (2, 0.2)], "a window lacks"
    board = open_benchmark(tmp_path / "merged")
    assert board.seeds == (1, 2, 3)
    assert board.tuning["seed"] == 1, "all seeds share the search of the first"
    assert after.manifest["cells_by_seeds"] == {"1": 13, "2": 1, "3": 1}
    assert board.not_run == open_benchmark(shipped).not_run, "EASE has a value on epub, of the first seed"
    assert after.users == before.users, "users' values are those of the first seed"
    assert board.cells().filter(algorithm="ALS", dataset="ml-100k", seed=2)["window"].to_list() == [0, 1, 2, 3]


def test_a_further_seed_without_the_parameters_of_the_first_is_refused_or_dropped(export, shipped, capsys):
    base, epub = export.Tables.read(shipped), split("epub", "-1")
    for line in (further("ALS", "epub", "-1", 0.7, 2, parameters={"k": 4}), further("BPR", "epub", "-1", 0.7, 2)):
        with pytest.raises(SystemExit, match=f"not the parameters that seed 1 has: {line['algorithm']} on epub"):
            export.merged(base, [epub, line], "time", [MACHINE])
    three = export.merged(base, [epub, further("ALS", "epub", "-1", 0.7, 3)], "time", [MACHINE])
    again = export.merged(three, [epub, cell("ALS", "epub", "-1", 0.6, parameters={"k": 5})], "time", [MACHINE])
    assert "of another search: 1 further seeds" in capsys.readouterr().out
    assert again.values.filter(algorithm="ALS", dataset="epub", metric="ndcg@10")["value"].to_list() == [0.6]
    assert again.manifest["seeds"] == [1]
    assert again.users["epub", "ALS"] == packed(np.array([0.6, 0.0]))


def test_records_of_another_split_or_other_limits_are_refused(export, shipped):
    base = export.Tables.read(shipped)
    with pytest.raises(SystemExit, match="epub are of another split"):
        export.merged(base, [split("epub", "-1") | {"fingerprint": "other"}], "time", [MACHINE])
    with pytest.raises(SystemExit, match="ml-100k are of another split"):
        export.merged(base, [split("ml-100k", "2")], "time", [MACHINE])
    with pytest.raises(SystemExit, match="other limits"):
        export.merged(base, [], "time", [MACHINE | {"search": 60.0}])
    with pytest.raises(SystemExit, match="no record of the split"):
        export.merged(base, [cell("BPR", "epub", "-1", 0.7)], "time", [MACHINE])


@pytest.mark.parametrize("export", ["grid"], indirect=True)
def test_further_seeds_wait_for_the_search_of_the_first(export, tmp_path):
    name = ("cell", "time", "epub", "-1", "BPR")
    first, second = (export.Task((*name, seed), {}, "time:epub") for seed in ("1", "2"))
    whole = export.Grid(tmp_path, 1, [first, second], end=0.0, ready={"time:epub": "done"})
    assert whole._next(0) is first
    whole.waiting.remove(first)
    assert whole._next(0) is None
    whole._write(first, cell("BPR", "epub", "-1", 0.7))
    assert whole._next(0) is second
    assert whole.found[second.searched] == {"parameters": {"k": 3}, "validation": 0.5}
    lines = export.records(
        [tmp_path / "cells.jsonl"], export.HERE.parents[1] / "src" / "recassay" / "data" / "published"
    )
    done, found = export.known_cells(lines), export.searches(lines)
    assert {(*name, "1"), ("cell", "time", "ml-100k", "0", "ALS", "1")} <= done & set(found)
    assert (*name, "2") not in done


def test_the_boards_have_no_gaps_among_those_with_a_place():
    for name, datasets, fewest in (("board", 27, 16), ("board-time", 8, 15)):
        benchmark, results = open_benchmark(f"published:{name}"), recassay.load_results(f"published:{name}")
        matrix = results.matrix("ndcg@10")  # a gap would raise
        assert len(matrix.datasets) == len(benchmark.datasets) == datasets
        assert len(matrix.algorithms) >= fewest
        lacking = {gap["algorithm"] for gap in benchmark.not_run}
        assert not lacking & set(matrix.algorithms)
        every = set(pl.read_csv(benchmark.folder / "results.csv.gz")["algorithm"].unique())
        assert every - set(matrix.algorithms) <= lacking, "who has no place is named with what is missing"
        assert recassay.load_characteristics(f"published:{name}").datasets
    assert open_benchmark("published:board-time").datasets["ml-100k"].windows is not None


def test_an_algorithm_that_was_handed_in_has_no_page_in_the_documentation():
    card = AlgorithmCard(handed_in="checked")
    assert (card.source, card.page) == ("", "")
