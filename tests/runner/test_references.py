"""What a dataset of a study is known by: its content, and how it is read."""

from __future__ import annotations

import json
import os
import re
import socket
from dataclasses import replace
from types import SimpleNamespace

import pytest

from recassay.core.errors import InputError, UsageError
from recassay.core.specs.specs import ReadSpec
from recassay.core.specs.study import DatasetSpec
from recassay.runner import drive, manifest, references, running
from recassay.runner.drive import settled_workers
from recassay.runner.references import (
    dataset_labels,
    dataset_version,
    file_version,
    part_labels,
    part_version,
    short_name,
)
from recassay.runner.running import RunningCells, running_cells


@pytest.mark.parametrize(
    "read",
    [
        {"repeated": "sum"},
        {"time": "ignore"},
        {"columns": {"user": "item", "item": "user"}},
        {"skip_bad_rows": True},
        {"event_weights": "inverse_frequency"},
    ],
    ids=lambda read: next(iter(read)),
)
def test_a_file_read_in_another_way_is_another_dataset(tmp_path, read):
    """The same bytes can give other interactions, so that cells of the first reading must not stand for the second."""
    (tmp_path / "films.csv").write_text("user,item,timestamp\nu1,i1,5\nu1,i1,6\n")
    plain = DatasetSpec(reference="./films.csv", name="films")
    other = DatasetSpec(reference="./films.csv", name="films", read=ReadSpec(**read))
    again = DatasetSpec(reference="./films.csv", name="another name")
    assert dataset_version(other, str(tmp_path)) != dataset_version(plain, str(tmp_path))
    assert dataset_version(again, str(tmp_path)) == dataset_version(plain, str(tmp_path))


def test_a_folder_of_parts_is_known_by_all_its_files(tmp_path):
    spec = DatasetSpec(reference="./parts", name="parts")
    other = DatasetSpec(reference="./parts", name="parts", read=ReadSpec(time="ignore"))
    (tmp_path / "parts").mkdir()
    for part in ("train", "valid", "test"):
        (tmp_path / "parts" / f"{part}.csv").write_text(f"user,item\n{part},i1\n")
    seen = [dataset_version(spec, str(tmp_path)), dataset_version(other, str(tmp_path))]
    for name in ("train.csv", "valid.csv", "test.csv", "split.json"):
        with (tmp_path / "parts" / name).open("a") as file:
            file.write("u9,i9\n")
        seen.append(dataset_version(spec, str(tmp_path)))
    assert len(set(seen)) == len(seen)
    (tmp_path / "parts" / "notes.txt").write_text("not read")
    assert dataset_version(spec, str(tmp_path)) == seen[-1]


def test_a_preset_is_known_by_its_settings():
    versions = [
        dataset_version(DatasetSpec(reference=f"synthetic:{name}", name="x"), ".")
        for name in ("dense-small", "dense-small@2", "few-items")
    ]
    assert len(set(versions)) == 3
    assert versions[0] == dataset_version(DatasetSpec(reference="synthetic:dense-small", name="y"), "elsewhere")


def test_a_file_names_its_algorithm(tmp_path):
    (tmp_path / "mine.py").write_text(
        "raise SystemExit('not executed')\n"
        "class Named:\n    name: str = 'My model'\n"
        "class Plain:\n    pass\n"
        "Other = recassay.wrap(Plain, name='Wrapped')\n"
        "class Computed:\n    name = 'a' + 'b'\n"
        "class Bad:\n    name = 'a/b'\n"
        "class Both:\n    label = name = 'Of both'\n"
    )
    (tmp_path / "lib.toml").write_text('name = "implicit ALS"\n')
    files = ["./mine.py:Named", "./mine.py:Plain", "./mine.py:Other", "./mine.py:Computed", "./mine.py:Bad"]
    files.append("./mine.py:Both")
    labels = part_labels([*files, "./lib.toml", "./gone.toml"], str(tmp_path))
    assert labels == ["My model", "Plain", "Wrapped", "Computed", "Bad", "Of both", "implicit ALS", "gone"]
    (tmp_path / "large.py").write_text("class Large:\n    name = 'Named'\n" + "#" * (1 << 20))
    (tmp_path / "blank.toml").write_text('name = "  "\n')
    assert part_labels(["./large.py:Large", "./blank.toml"], str(tmp_path)) == ["Large", "blank"]


def test_an_algorithm_that_is_named_twice_is_refused():
    with pytest.raises(UsageError, match="the algorithm EASE is named twice, as EASE, ease; name it once"):
        part_labels(["EASE", "ALS", "ease"], ".")
    assert part_labels(["ease", "./a/EASE.csv"], ".") == ["ease", "./a/EASE.csv"]
    assert part_labels(["most-pop", "./a/mine.csv", "./b/Mine.csv"], ".") == ["MostPop", "./a/mine.csv", "./b/Mine.csv"]


def test_what_datasets_and_files_are_called():
    references = ["synthetic:dense-small@2", "ml-100k", "./a/films.csv.gz", "./b/films.parquet", "./d/x.tsv.gz"]
    labels = ["dense-small@2", "ml-100k", "./a/films.csv.gz", "./b/films.parquet", "x"]
    assert dataset_labels(references) == labels
    assert [short_name(part) for part in ("./a/mine.py:Mine", "./lists/best.csv", "lib.toml")] == [
        "Mine",
        "best",
        "lib",
    ]


def test_a_file_that_cannot_be_read_says_what_it_was_for(tmp_path):
    with pytest.raises(
        InputError, match=r"gone\.csv: the file of this dataset cannot be read \(No such file"
    ) as raised:
        file_version(tmp_path / "gone.csv", "dataset")
    assert "paths are relative to the study file" in str(raised.value)


def test_a_manifest_names_no_folder_of_this_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(manifest, "home", lambda: tmp_path / "home")
    base = tmp_path / "home" / "study"
    places = {
        base / "data" / "films.csv": "./data/films.csv",
        tmp_path / "home" / "other.csv": "~/other.csv",
        tmp_path / "elsewhere.csv": str(tmp_path / "elsewhere.csv"),
        "./films.csv": "./films.csv",
        "ml-100k": "ml-100k",
    }
    for kind in ("datasets", "algorithms", "classifiers"):
        study = {"name": "x", kind: [{"name": "d", "reference": str(place)} for place in places]}
        moved = manifest.portable(study, base)
        assert moved == {"name": "x", kind: [{"name": "d", "reference": place} for place in places.values()]}
    made = manifest.environment(3, 2)
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", made["written"])
    assert (made["machine"]["workers"], made["machine"]["threads"]) == (3, 2)
    assert {"python", "recassay", "numpy", "polars"} <= made["versions"].keys()


def test_how_many_processes(monkeypatch):
    assert settled_workers(3) == 3
    monkeypatch.setattr(drive, "usable_cores", lambda: 7)
    assert [settled_workers(None, threads) for threads in (1, 2, 8)] == [7, 3, 1]
    for workers, threads in ((0, 1), (1, 0)):
        with pytest.raises(UsageError, match=f"{workers} workers with {threads} threads; give at least one of each"):
            settled_workers(workers, threads)


def test_cells_at_work_are_told_while_their_run_lasts(tmp_path):
    assert running_cells(tmp_path) == []
    with RunningCells(tmp_path) as at_work:
        at_work.start("c1", "EASE", "films", 3)
        at_work.start("c2", "ALS", "films", 4)
        at_work.finish("c1")
        assert [cell.cell for cell in running_cells(tmp_path)] == ["c2"]
        at_work.finish("unknown")
        (cell,) = running_cells(tmp_path)
        assert (cell.cell, cell.algorithm, cell.dataset, cell.seed) == ("c2", "ALS", "films", 4)
        assert 0 <= cell.seconds < 3600
        assert replace(cell, started="2999-01-01T00:00:00+00:00").seconds == 0
        assert replace(cell, started="2020-01-01T00:00:00+00:00").seconds > 86_400
        written = json.loads((tmp_path / "running.json").read_text())
        assert (written["process"], written["host"]) == (os.getpid(), socket.gethostname())
        gone = 2**22 + 12345  # beyond the largest process of Linux
        for host, process, seen in ((written["host"], gone, 0), ("elsewhere", gone, 1), (written["host"], 1, 1)):
            (tmp_path / "running.json").write_text(json.dumps(written | {"host": host, "process": process}))
            assert len(running_cells(tmp_path)) == seen
        for damaged in ("{", "[]", '{"host": 1}'):
            (tmp_path / "running.json").write_text(damaged)
            assert running_cells(tmp_path) == []
    assert not (tmp_path / "running.json").exists()


EXTERNAL = """name = "lib"
source = "somebody"
python = "python3"
script = "run.py"
requires = ["implicit==0.7.3"]
"""


@pytest.mark.parametrize("suffix", ["toml", "TOML"])
def test_an_external_algorithm_is_known_by_its_description_and_its_script(tmp_path, suffix):
    description, script, seen = tmp_path / f"lib.{suffix}", tmp_path / "run.py", []
    for text, code in ((EXTERNAL, "print(1)"), (EXTERNAL, "print(2)"), (EXTERNAL + "# changed\n", "print(2)")):
        description.write_text(text)
        script.write_text(code)
        seen.append(part_version(f"./lib.{suffix}", str(tmp_path)))
    assert len(set(seen)) == 3


def test_a_stored_dataset_is_known_by_its_content_and_by_what_its_repeats_mean(monkeypatch):
    def version(content, rule, **more):
        manifest = SimpleNamespace(sha256=content, record={"repeated_rule": rule, **more})
        monkeypatch.setattr(references, "stored_manifest", {"films": manifest}.__getitem__)
        return dataset_version(DatasetSpec(reference="films", name="x"), ".")

    versions = [version("a", "last"), version("b", "last"), version("a", "sum")]
    assert len(set(versions)) == 3
    assert version("a", "last") == versions[0]


def test_a_file_of_the_largest_size_is_searched_for_its_name(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("class Mine:\n    name = 'Named'\nOther = wrap(Mine, name=NAME)\nNo = Mine\n")
    size = (tmp_path / "mine.py").stat().st_size
    names = ["./mine.py:Mine", "./mine.py:Other", "./mine.py:No"]
    for most, labels in ((size, ["Named", "Other", "No"]), (size - 1, ["Mine", "Other", "No"])):
        monkeypatch.setattr(references, "MOST_CODE", most)
        assert part_labels(names, str(tmp_path)) == labels


def test_a_process_of_somebody_else_is_alive_and_a_file_that_cannot_be_written_ends_nothing(tmp_path, monkeypatch):
    def forbidden(process, how):
        assert how == 0
        raise PermissionError

    monkeypatch.setattr(running.os, "kill", forbidden)
    assert running._alive(1)
    with monkeypatch.context() as patch:
        patch.setattr(running.os, "name", "nt")
        patch.setattr(running.os, "kill", None)
        assert running._alive(1), "where asking would end it, it is believed to be"

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(running, "write_whole", full)
    at_work = RunningCells(tmp_path)
    at_work.start("c1", "EASE", "films", 3)
    assert list(at_work.cells) == ["c1"]
