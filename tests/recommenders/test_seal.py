"""Sealed plans: what is found when a study is not what was sealed, and silence where it is."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sqlite3
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.analysis.verdict.fit import judge
from recassay.api.study.checklist import ChecklistAnswer, ChecklistResult
from recassay.api.study.seal import FORESEEN, UNSEEN, ClaimResult, Seal, VerifyResult, _tested
from recassay.api.study.serve import LiveStudy
from recassay.api.study.studies import make_study
from recassay.core.errors import InputError, RecAssayError, UsageError
from recassay.evidence.facts import study_facts
from recassay.recommenders import rerun as rerunning
from recassay.recommenders import seal as sealing
from recassay.recommenders.rerun import Chances, RerunCell, altered_cells, chances, reruns_for, with_value
from recassay.recommenders.seal import (
    Deviation,
    _changes,
    _is_of_best_trial,
    _not_as_planned,
    _unsound,
    deviations,
    read_seal,
)
from recassay.recommenders.study import run_study
from recassay.store import CellRecord
from recassay.store.files import write_parquet
from recassay.store.records import PlannedRow, Verification
from recassay.store.sealed import read_sealed, write_sealed
from recassay.store.store import Store
from support.run import tiny_data, tiny_folder, tiny_study
from support.stores import write_records


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """The folder of a study that was sealed and then run."""
    folder = tmp_path_factory.mktemp("sealed")
    tiny_folder(folder, other=True)
    spec = tiny_study(folder, ("Pop", "Fake"), datasets=("tiny", "other"), trials=3)
    recassay.seal(spec, claims=["Fake > Pop", "Pop is best"], folder=folder / "study")
    assert run_study(spec, folder / "study", workers=1).failed == ()
    return folder / "study"


@pytest.fixture
def study(honest, tmp_path):
    shutil.copytree(honest, tmp_path / "study")
    return tmp_path / "study"


def test_an_honest_study_is_what_was_sealed(honest):
    checked = recassay.verify(honest)
    assert checked.state == "sealed"
    assert checked.verdict()[0].startswith("The study is what was sealed on ")
    assert [claim.claim for claim in checked.claims] == ["Fake > Pop", "Pop is best"]
    content = (honest / "seal.json").read_text()
    made = json.loads(content)
    assert (checked.sha256, checked.made, checked.done) == (made["sha256"], made["made"], 4)
    assert (checked.chances.caught, checked.chances.level) == (None, 0.95), (
        "what reruns would catch is said without any"
    )
    assert str(honest.parent) not in content
    assert len(content) < 6_000


def test_without_a_seal_everything_is_exploratory(study):
    (study / "seal.json").unlink()
    assert recassay.verify(study).verdict()[0] == "This study has no sealed plan: everything in it is exploratory."


def edit_manifest(study: Path, change) -> None:
    """As a run of another plan would have written it: with a checksum of its own."""
    manifest = read_sealed(study, "manifest.json", "the manifest")
    change(manifest)
    write_sealed(study / "manifest.json", manifest)


def in_plan(*keys, value):
    def change(study: Path) -> None:
        def apply(manifest):
            place = manifest["study"]
            for key in keys[:-1]:
                place = place[key]
            place[keys[-1]] = value

        edit_manifest(study, apply)

    return change


def hashed(kind: str, name: str):
    return lambda study: edit_manifest(study, lambda manifest: manifest[kind].update({name: "0" * 64}))


def sql(*statements: str):
    def change(study: Path) -> None:
        connection = sqlite3.connect(study / "study.sqlite")
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()

    return change


def file(pattern: str, act):
    def change(study: Path) -> None:
        act(sorted(study.glob(pattern)))

    return change


def flip(paths: list[Path]) -> None:
    data = bytearray(paths[0].read_bytes())
    data[len(data) // 2] ^= 1
    paths[0].write_bytes(data)


def exchange(paths: list[Path]) -> None:
    first, second = paths[0].read_bytes(), paths[1].read_bytes()
    paths[0].write_bytes(second)
    paths[1].write_bytes(first)


def forge(study: Path) -> None:
    """Better scores of users, with the checksum that goes with them."""
    path = sorted(study.glob("scores/*"))[0]
    written = write_parquet(path, pl.read_parquet(path).with_columns(pl.col("ndcg@10") * 0.5 + 0.5))
    cell = path.stem
    sql(f"UPDATE cells SET files = json_set(files, '$.scores', '{written}'), seal = NULL WHERE id = '{cell}'")(study)


def in_seal(change):
    def apply(study: Path) -> None:
        content = json.loads((study / "seal.json").read_text())
        change(content)
        (study / "seal.json").write_text(json.dumps(content))

    return apply


def more(key: str, part: dict):
    return lambda study: edit_manifest(study, lambda manifest: manifest["study"][key].append(part))


def fewer(key: str):
    return lambda study: edit_manifest(study, lambda manifest: manifest["study"][key].pop())


DATASET = {"name": "third", "reference": "third", "read": {}, "protocol": {}, "folds": None}
TAMPERING = {
    "more trials": (in_plan("tuning", "trials", value=40), "tuning.trials was sealed as 3 and is 40"),
    "another objective": (in_plan("tuning", "metric", value="recall@20"), "tuning.metric was sealed as"),
    "no pruning": (in_plan("tuning", "pruning", value=False), "tuning.pruning was sealed as true and is false"),
    "parallel trials": (in_plan("tuning", "parallel", value=4), "tuning.parallel was sealed as not set and is 4"),
    "another split": (in_plan("protocol", "split", value="user_time"), "protocol.split was sealed as"),
    "other ratios": (in_plan("protocol", "ratios", value=[0.9, 0.05, 0.05]), "protocol.ratios was sealed as"),
    "another threshold": (in_plan("protocol", "positive_threshold", value=4), "protocol.positive_threshold"),
    "fewer rare users": (in_plan("protocol", "min_user_interactions", value=20), "protocol.min_user_interactions"),
    "fewer rare items": (in_plan("protocol", "min_item_interactions", value=20), "protocol.min_item_interactions"),
    "another filter": (in_plan("protocol", "filter", value="core"), "protocol.filter was sealed as"),
    "another seed of the split": (in_plan("protocol", "seed", value=7), "protocol.seed was sealed as 0 and is 7"),
    "folds": (in_plan("protocol", "folds", value=10), "protocol.folds was sealed as 5 and is 10"),
    "another fold": (in_plan("protocol", "fold", value=3), "protocol.fold was sealed as"),
    "final fit": (in_plan("protocol", "final_fit", value="train"), "protocol.final_fit was sealed as"),
    "another task": (in_plan("protocol", "task", value="repeat"), "protocol.task was sealed as"),
    "leakage allowed": (in_plan("protocol", "allow_leakage", value=["train after test"]), "protocol.allow_leakage"),
    "folds to run": (in_plan("folds", value=[0, 1]), "folds was sealed as not set"),
    "a larger budget": (in_plan("budget", "seconds_per_cell", value=1e6), "budget.seconds_per_cell was sealed as"),
    "more memory": (in_plan("budget", "memory_gb", value=64), "budget.memory_gb was sealed as"),
    "cells per gpu": (
        in_plan("budget", "cells_per_gpu", value=2),
        "budget.cells_per_gpu was sealed as not set and is 2",
    ),
    "a multiverse": (in_plan("multiverse", value={"seeds": [1, 2]}), "multiverse was sealed as not set"),
    "an attack": (in_plan("comper", value={"k": 10}), "comper was sealed as not set"),
    "another name": (in_plan("name", value="better"), "name was sealed as"),
    "a seed more": (in_plan("seeds", value=[1, 2]), "Of the seeds, 2 was added after the seal."),
    "another seed": (in_plan("seeds", value=[2]), "Of the seeds, 1 was planned and is not in the study."),
    "a metric more": (lambda s: more("metrics", "mrr@10")(s), "Of the metrics, mrr@10 was added after the seal."),
    "a metric less": (fewer("metrics"), "was planned and is not in the study."),
    "a dataset more": (more("datasets", DATASET), "The dataset third was added after the seal."),
    "a dataset less": (fewer("datasets"), "was planned and is not in the study."),
    "an algorithm less": (fewer("algorithms"), "The algorithm Fake was planned and is not in the study."),
    "an algorithm more": (
        more("algorithms", {"name": "New", "reference": "New", "settings": {}}),
        "The algorithm New was added after the seal.",
    ),
    "a fixed parameter": (
        in_plan("algorithms", 1, "settings", value={"power": 1.0}),
        "Fake: settings.power was sealed",
    ),
    "a protocol of its own": (
        in_plan("datasets", 0, "protocol", value={"split": "random"}),
        "tiny: protocol.split was sealed as not set",
    ),
    "folds of its own": (in_plan("datasets", 0, "folds", value=[0]), "tiny: folds was sealed as not set"),
    "other data": (hashed("datasets", "tiny"), "The data of tiny changed after the seal."),
    "other code": (hashed("algorithms", "Fake"), "The code of Fake changed after the seal."),
    "another version": (
        lambda s: edit_manifest(s, lambda m: m["versions"].update(recassay="0.0.1")),
        "and run with 0.0.1.",
    ),
    "a manifest by hand": (file("manifest.json", flip), "The manifest cannot be used"),
    "better numbers": (sql("UPDATE metrics SET value = value * 1.1"), "Changed after it was written"),
    "one better number": (
        sql("UPDATE metrics SET value = value + 0.01 WHERE rowid = (SELECT min(rowid) FROM metrics)"),
        "Changed after it was written",
    ),
    "a number gone": (
        sql("DELETE FROM metrics WHERE rowid = (SELECT min(rowid) FROM metrics)"),
        "Changed after it was written",
    ),
    "a result gone": (
        sql("DELETE FROM cells WHERE rowid = (SELECT min(rowid) FROM cells)"),
        "Not run: 1 cell (",
    ),
    "called failed": (sql("UPDATE cells SET status = 'failed' WHERE algorithm = 'Pop'"), "Failed, without a result: "),
    "a cell out of the plan": (
        sql("DELETE FROM plan WHERE position = 0"),
        "The 3 cells of the study are not the sealed ones.",
    ),
    "a cell twice in the plan": (
        sql(
            "CREATE TEMP TABLE one AS SELECT * FROM plan WHERE position = 0",
            "UPDATE one SET position = 99, cell = 'f' || substr(cell, 2), seed = 5",
            "INSERT INTO plan SELECT * FROM one",
        ),
        "The 5 cells of the study are not the sealed ones.",
    ),
    "other parameters": (
        sql("UPDATE cells SET parameters = '{\"power\": 2.0}' WHERE algorithm = 'Fake'"),
        "Changed after it was written",
    ),
    "a better validation": (
        sql("UPDATE cells SET validation = 0.99, seal = NULL WHERE algorithm = 'Fake'"),
        "are not those of its best recorded trial.",
    ),
    "a trial gone": (sql("DELETE FROM trials WHERE number = 0"), "are not those of its best recorded trial."),
    "the last trial gone": (
        sql("DELETE FROM trials WHERE number = 2"),
        "Of the 3 trials of Fake on tiny, 1 are not recorded.",
    ),
    "all trials but one gone": (
        sql("DELETE FROM trials WHERE number > 0"),
        "Of the 3 trials of Fake on tiny, 2 are not recorded.",
    ),
    "the manifest's checksum gone": (
        file(
            "manifest.json",
            lambda paths: paths[0].write_text(json.dumps(read_sealed(paths[0].parent, "manifest.json", ""))),
        ),
        "Cannot be verified, since no checksum was stored: 1 manifest.",
    ),
    "forged scores": (forge, "is not the mean of its stored scores of users."),
    "a trial made worse": (sql("UPDATE trials SET value = value / 2"), "Changed after it was written"),
    "another plan of a cell": (
        sql("UPDATE cells SET spec = replace(spec, '\"seed\": 1', '\"seed\": 2'), seal = NULL"),
        "is not that of its cell.",
    ),
    "checksums removed": (sql("UPDATE cells SET seal = NULL"), "Cannot be verified, since no checksum was stored"),
    "an earlier result": (
        sql("UPDATE cells SET finished = '2001-01-01T00:00:00+00:00', seal = NULL"),
        "Finished before the plan was sealed: ",
    ),
    "scores changed": (file("scores/*", flip), "Changed after it was written"),
    "scores exchanged": (file("scores/*", exchange), "Changed after it was written"),
    "scores gone": (file("scores/*", lambda paths: paths[0].unlink()), "Changed after it was written"),
    "lists changed": (file("lists/*", flip), "Changed after it was written"),
    "a split changed": (file("splits/*/*test*", flip), "Changed after it was written"),
    "a split emptied": (file("splits/*/*train*", lambda paths: paths[0].write_bytes(b"")), "Changed after it was"),
    "a claim less": (in_seal(lambda seal: seal["claims"].pop()), "The seal was changed after it was made"),
    "another claim": (in_seal(lambda seal: seal.update(claims=["Pop > Fake"])), "The seal was changed"),
    "another metric in the seal": (in_seal(lambda seal: seal["analysis"].update(metric="mrr@10")), "The seal was"),
    "another date": (in_seal(lambda seal: seal.update(made="2001-01-01T00:00:00+00:00")), "The seal was changed"),
}


@pytest.mark.parametrize("kind", TAMPERING)
def test_tampering_is_found(kind, study):
    change, sentence = TAMPERING[kind]
    change(study)
    checked = recassay.verify(study)
    assert checked.state == "deviated"
    assert any(sentence in deviation.sentence for deviation in checked.deviations), checked.verdict()
    assert not any(str(study.parent) in deviation.sentence for deviation in checked.deviations)


def test_a_manifest_that_names_no_version_is_no_deviation(study):
    edit_manifest(study, lambda manifest: manifest["versions"].pop("recassay"))
    assert recassay.verify(study).state == "sealed"


def test_another_metric_of_the_analysis_is_a_deviation(honest):
    checked = recassay.verify(honest, metric="hitrate@5")
    assert [deviation.kind for deviation in checked.deviations] == ["analysis"]
    seal = read_seal(honest / "seal.json")
    assert deviations(honest, seal, {**seal["analysis"], "never sealed": 1}) == []


def test_a_moved_study_and_a_copied_seal_are_honest(honest, tmp_path):
    shutil.copytree(honest, tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "seal.json").rename(tmp_path / "mine.json")
    assert recassay.verify(tmp_path / "elsewhere", seal=tmp_path / "mine.json").state == "sealed"


def test_what_is_no_seal_is_refused(study, tmp_path):
    (tmp_path / "seal.json").write_text("{}")
    with pytest.raises(InputError, match="is not a seal"):
        recassay.verify(study, seal=tmp_path / "seal.json")
    with pytest.raises(InputError, match="is not a seal"):
        recassay.verify(study, seal=tmp_path / "gone.json")


def test_a_seal_of_another_time_or_of_another_size_is_refused(honest, tmp_path, monkeypatch):
    made = json.loads((honest / "seal.json").read_text())
    (tmp_path / "new.json").write_text(json.dumps(made | {"recassay_seal": 2}))
    with pytest.raises(InputError, match="was made by a newer version of RecAssay; update RecAssay"):
        read_seal(tmp_path / "new.json")
    for key, value in (
        ("recassay_seal", "1"),
        ("made", 3),
        ("plan", []),
        ("cells", []),
        ("analysis", 1),
        ("claims", {}),
    ):
        (tmp_path / "new.json").write_text(json.dumps(made | {key: value}))
        with pytest.raises(InputError, match=r"is not a seal( \(.*\))?; name the file that recassay seal wrote"):
            read_seal(tmp_path / "new.json")
    monkeypatch.setattr("recassay.recommenders.seal.MOST_BYTES", 10)
    with pytest.raises(InputError, match="is too large for a seal"):
        read_seal(honest / "seal.json")


ODD = (None, True, 0, -1, 1.5, "x", [], [1], {}, {"x": 1}, [[]], 10**30)


def altered(content, at=()):
    """A description with each of its parts, one after the other, replaced by odd values and removed."""
    for key, value in content.items() if isinstance(content, dict) else enumerate(content):
        for odd in ODD:
            yield (*at, key), lambda part, key=key, odd=odd: part.__setitem__(key, odd)
        yield (*at, key), lambda part, key=key: part.__delitem__(key)
        if isinstance(value, dict | list) and len(at) < 4:
            yield from altered(value, (*at, key))


def some_of(content, count, seed=0):
    changes = list(altered(content))
    return [changes[at] for at in np.sort(np.random.default_rng(seed).choice(len(changes), count, replace=False))]


def changed_copy(content, at, change):
    copied = part = json.loads(json.dumps(content))
    for key in at[:-1]:
        part = part[key]
    change(part)
    return copied


def answer(verb, study):
    """What a verb answers, or the one line with which it refuses."""
    try:
        return verb(study)
    except RecAssayError as error:
        return str(error)


def current_page(study):
    """What the page of a running study shows."""
    return LiveStudy(study, None, bytes).snapshot()


@pytest.mark.slow
def test_an_altered_seal_is_refused_or_named(study):
    made = json.loads((study / "seal.json").read_text())
    for at, change in some_of(made, 25):
        changed = changed_copy(made, at, change)
        (study / "seal.json").write_text(json.dumps(changed))
        said = answer(recassay.verify, study)
        assert "seal.json: " in said if isinstance(said, str) else changed == made or said.state == "deviated", at


@pytest.mark.slow
def test_an_altered_manifest_is_refused_or_named(study):
    """With the checksum of the altered content: who can write the manifest can write that, too."""
    made = read_sealed(study, "manifest.json", "the manifest")
    for at, change in some_of(made, 15, seed=1):
        write_sealed(study / "manifest.json", changed_copy(made, at, change))
        for verb in (recassay.verify, recassay.checklist):
            said = answer(verb, study)
            assert not isinstance(said, str) or "manifest" in said, at


PARTS = ["name", "protocol", "tuning", "algorithms", "algorithms.0.reference"]


@pytest.mark.parametrize("keys", ["study", *(f"study.{part}" for part in PARTS), "machine", "versions", "metrics"])
def test_a_manifest_without_a_part_is_refused_or_read(study, keys):
    made, (*above, key) = read_sealed(study, "manifest.json", "the manifest"), keys.split(".")
    at = [int(part) if part.isdigit() else part for part in (*above, key)]
    for change in (lambda part: part.__delitem__(key), lambda part: part.__setitem__(key, None)):
        write_sealed(study / "manifest.json", changed_copy(made, at, change))
        for verb in (recassay.verify, recassay.checklist, recassay.status, study_facts, current_page):
            said = answer(verb, study)
            assert not isinstance(said, str) or "manifest" in said


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
@pytest.mark.parametrize("name", ["manifest.json", "split.json", "seal.json"])
def test_a_pipe_in_place_of_a_description_does_not_hang(study, name):
    path = next(study.rglob(name))
    path.unlink()
    os.mkfifo(path)
    said = answer(recassay.verify, study)
    assert "is a pipe or a device" in said if isinstance(said, str) else said.state == "deviated"
    assert answer(recassay.checklist, study)
    assert answer(lambda folder: recassay.status(folder, verify=True), study)


def test_a_study_of_classifiers_has_no_checklist(tmp_path):
    write_records(tmp_path / "one", ["ndcg@10"], [], manifest={"study": {"name": "c"}, "classifiers": {}})
    with pytest.raises(UsageError, match="is a study of classifiers; the checklist asks about recommenders"):
        recassay.checklist(tmp_path / "one")


@pytest.mark.parametrize(
    ("reported", "again", "allowed", "state"),
    [
        (0.5, None, 1.0, "failed"),
        (0.5, 0.5 * (1 + 5e-7), 0.0, "same"),
        (0.5, 0.5 * (1 - 5e-6), 0.0, "differs"),
        (0.5, 0.51, 0.011, "within noise"),
        (0.5, 0.49, 0.011, "within noise"),
        (0.5, 0.48, 0.011, "differs"),
        (0.0, 0.0, 0.0, "same"),
    ],
)
def test_a_number_that_came_out_again(reported, again, allowed, state):
    assert RerunCell("a", "d", 1, reported, again, allowed).state == state


@pytest.mark.slow
def test_a_seal_is_not_replaced_and_says_when_it_came_late(honest, tmp_path):
    folder = honest.parent
    spec = tiny_study(folder, ("Pop", "Fake"), datasets=("tiny", "other"), trials=3)
    with pytest.raises(UsageError, match="there is a seal already"):
        recassay.seal(spec, folder=honest)
    late = recassay.seal(spec, folder=honest, out=tmp_path / "late.json")
    assert late.done == 4
    assert json.loads((tmp_path / "late.json").read_text())["analysis"] == {"metric": "ndcg@10", "alpha": 0.05}
    asked = recassay.seal(spec, folder=tmp_path / "new", metric="HR@5", alpha=0.01)
    assert (asked.file, asked.done) == (tmp_path / "new" / "seal.json", 0)
    assert json.loads(asked.file.read_text())["analysis"] == {"metric": "hitrate@5", "alpha": 0.01}
    checked = recassay.verify(honest, seal=tmp_path / "late.json")
    assert "Of its cells, 4 had results when the plan was sealed." in [d.sentence for d in checked.deviations]
    with pytest.raises(UsageError, match="names 'Fak'"):
        recassay.seal(spec, claims=["Fak > Pop"], folder=honest, out=tmp_path / "other.json")


NO_LEVELS = [float("nan"), 0.0, 1.0, -0.1, 2.0, 5, float("inf")]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        *(({"alpha": level}, "give a number between 0 and 1") for level in NO_LEVELS),
        ({"metric": "frob@3"}, "unknown metric 'frob"),
        ({"metric": "ndcg@0"}, "is not a cut-off"),
        ({"metric": "recall@7"}, "the study does not report recall@7; choose ndcg@10, hitrate@5 or coverage@10"),
    ],
)
def test_what_no_study_can_be_judged_by_is_not_sealed(honest, tmp_path, more, words):
    spec = make_study(
        [f"{honest.parent}/tiny.csv"], ["MostPop"], metrics=("ndcg@10", "hitrate@5", "coverage@10"), trials=0
    )
    with pytest.raises(RecAssayError, match=re.escape(words)):
        recassay.seal(spec, folder=tmp_path / "new", claims=[], **more)
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
def test_a_plugin_that_cannot_run_is_not_sealed(tmp_path):
    tiny_data(tmp_path)
    (tmp_path / "fakes.py").write_text("class Broken(:\n")
    with pytest.raises(UsageError, match=r"algorithm Broken: .*fakes\.py, line 1"):
        recassay.seal(tiny_study(tmp_path, ("Broken",), trials=0), folder=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_seal_with_a_level_that_is_none_does_not_reach_the_test(study):
    in_seal(lambda seal: seal["analysis"].update(alpha=5))(study)
    with pytest.raises(UsageError, match="alpha is 5; give a level between 0 and 1"):
        judge(recassay.load_results(study).matrix("ndcg@10"), alpha=5)


def test_a_seal_counts_the_cells_that_had_results_and_goes_where_the_study_will_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spec = recassay.make_study(["synthetic:few-items"], ["MostPop", "Random"], trials=0, name="Früh")
    cells = [CellRecord("a", "MostPop", "few-items", 1, None, {}, "done", metrics={"ndcg@10": 0.5}),
             CellRecord("b", "Random", "few-items", 1, None, {}, "failed")]  # fmt: skip
    write_records(tmp_path / "begun", ["ndcg@10"], cells, to_go=[("EASE", "few-items", 1)])
    late = recassay.seal(spec, claims=["MostPop>Random"], folder="begun", out="late.json")
    assert (late.done, late.cells, late.claims, late.file) == (1, 2, ("MostPop > Random",), Path("late.json"))
    kept = json.loads(late.file.read_text())
    assert (kept["done_before"], kept["claims"], kept["sha256"]) == (1, ["MostPop > Random"], late.sha256)
    assert not (tmp_path / "begun" / "seal.json").exists()
    early = recassay.seal(spec)
    assert (early.done, early.file) == (0, Path("Früh/seal.json"))
    assert '"name": "Früh"' in early.file.read_text(), "for people to read"


def test_the_chance_of_catching_is_that_of_counting():
    import itertools

    from recassay.recommenders.rerun import chance_of_catching

    for cells, altered, drawn in itertools.product((1, 5, 9), (0, 1, 3), (0, 2, 5)):
        if altered <= cells >= drawn:
            draws = list(itertools.combinations(range(cells), drawn))
            share = sum(min(draw, default=cells) < altered for draw in draws) / len(draws)
            assert chance_of_catching(cells, altered, drawn) == pytest.approx(share)
    assert chance_of_catching(720, 14, 138) >= 0.95 > chance_of_catching(720, 14, 137)


def grid(rng, shape=(8, 10), scatter=0.12):
    """The drawing of a study: levels of algorithms and of datasets, and a scatter."""
    from recassay.recommenders.rerun import Drawing

    logs = rng.normal(0, 0.3, shape[0])[:, None] + rng.normal(0, 0.8, shape[1]) + rng.normal(0, scatter, shape)
    return Drawing(logs.ravel(), *(axis.ravel() for axis in np.indices(shape)))


def test_the_printed_number_of_reruns_catches_95_percent():
    from dataclasses import replace

    from recassay.recommenders.rerun import reruns_for

    rng, caught = np.random.default_rng(1), 0
    for study in range(100):
        drawing = grid(rng)
        altered = rng.choice(len(drawing.logs), 2, replace=False)
        drawing = replace(drawing, logs=drawing.logs + np.log(1.1) * np.isin(np.arange(80), altered))
        drawn = drawing.order(study)[: reruns_for(drawing.reruns_until_met(0.02, 0.1), 0.95)]
        caught += bool(np.isin(altered, drawn).any())
    assert caught >= 90  # 95 are expected; fewer than 90 by chance in 1 of 100 tests


def test_no_choice_of_cells_is_safe_and_longer_reruns_begin_with_shorter_ones():
    from dataclasses import replace

    rng = np.random.default_rng(2)
    drawing = grid(rng)
    ordinary = np.argsort(drawing._surprise(drawing.logs[None])[0])[:4]  # improved where they were surprisingly bad
    drawing = replace(drawing, logs=drawing.logs + np.log(1.02) * np.isin(np.arange(80), ordinary))
    met = [np.isin(ordinary, drawing.order(seed)[:30]).any() for seed in range(300)]
    assert np.mean(met) > 0.58 - 0.06  # 15 of 80 at random meet one of four with a chance of 0.58
    assert sorted(drawing.order(1)) == list(range(80))


def test_reruns_begin_at_random_and_the_most_surprising_cell_comes_second():
    drawing = grid(np.random.default_rng(4), scatter=0.01)
    drawing = replace(drawing, logs=drawing.logs + 2.0 * (np.arange(80) == 37))
    orders = [drawing.order(seed) for seed in range(40)]
    assert len({int(order[0]) for order in orders}) > 20
    assert all(37 in order[:2] for order in orders)
    falling = replace(drawing, logs=drawing.logs - 4.0 * (np.arange(80) == 37))
    assert sum(37 in falling.order(seed)[:2] for seed in range(40)) < 10, "what is bad is no reason to look"


def test_seeds_folds_and_missing_cells_have_their_place():
    from dataclasses import replace

    drawing = grid(np.random.default_rng(3))
    keep = np.r_[0:17, 19:80, 40:60]  # two cells are missing, and twenty were run twice
    drawing = replace(drawing, **{name: getattr(drawing, name)[keep] for name in ("logs", "algorithm", "dataset")})
    assert np.isfinite(drawing._surprise(drawing.logs[None])).all()
    assert sorted(drawing.order(0)) == list(range(98))
    alone = replace(drawing, **{name: getattr(drawing, name)[:1] for name in ("logs", "algorithm", "dataset")})
    assert alone.reruns_until_met(0.02, 0.1).tolist() == [1] * 1000
    assert alone.reruns_until_met(0.02, 0.1, tolerance=0.2).tolist() == [2] * 1000  # nothing is found
    # What was reported is 1.1 times what comes out, which is less by 1 / 11 of it.
    for tolerance, met in ((0.0909, 1), (0.0910, 2)):
        assert alone.reruns_until_met(0.02, 0.1, tolerance=tolerance).tolist() == [met] * 1000


@pytest.mark.parametrize("quiet", [0.25, 0.01])
def test_what_is_left_of_a_cell_counts_by_what_is_usually_left_there(quiet):
    """All medians are zero; half of the algorithms scatter less, but are not believed below a tenth of the usual."""
    from recassay.recommenders.rerun import Drawing

    signs, sizes, usual = np.outer([1, -1, 1, -1], [1, -1, 1, -1]), np.array([quiet, quiet, 1, 1]), (1 + quiet) / 2
    logs = signs * sizes[:, None]
    drawing = Drawing(logs.ravel(), *(axis.ravel() for axis in np.indices(logs.shape)))
    expected = logs / np.sqrt(np.maximum(sizes, 0.1 * usual) * usual)[:, None]
    np.testing.assert_allclose(drawing._surprise(drawing.logs[None])[0], expected.ravel(), rtol=1e-6)


def test_noise_is_that_of_seeds_or_of_reruns_that_came_out_better(honest):
    from dataclasses import replace

    from recassay.recommenders.rerun import NOISE, _noise

    with Store.open(honest) as store:
        one = store.cells()[0]
    cells = [
        replace(one, algorithm="a", dataset=f"d{i}", seed=seed, metrics={"ndcg@10": 0.1 * (1 + 0.02 * seed)})
        for i in range(4)
        for seed in (-1, 0, 1)
    ]
    assert _noise(cells, "ndcg@10", [("a", 0.1, 0.09)])["a"] == pytest.approx(0.08, rel=0.01)  # four deviations
    assert _noise(cells, "ndcg@10", [("a", 0.1, 0.09), ("a", 0.2, 0.2)]) == {}  # it repeats its numbers
    little, much = ([("a", 0.1, 0.1 * (1 + share))] * 2 for share in (0.001, 0.1))
    assert _noise(cells, "ndcg@10", little)["a"] == pytest.approx(0.08, rel=0.01)  # seeds say more
    assert _noise(cells, "ndcg@10", much)["a"] == pytest.approx(4 * 1.4826 * 0.1)
    single = [cell for cell in cells if cell.seed == 0]
    assert _noise(single, "ndcg@10", [("a", 0.11, 0.1)] * 5) == {}  # all improved: no noise, but alteration
    moved = [("a", 0.1, 0.101), ("a", 0.1, 0.102), ("a", 0.1, 0.099), ("a", 0.1, 0.098), ("a", 0.11, 0.1)]
    assert _noise(single, "ndcg@10", moved)["a"] == pytest.approx(4 * 1.4826 * 0.015)
    assert _noise([], "gini@10", [("a", 0.1, 0.099), ("a", 0.1, 0.098)]) == pytest.approx({"a": 4 * 1.4826 * 0.015})
    assert _noise(single, "ndcg@10", [("a", 0.1, 0.1001), ("a", 0.1, 0.1001)]) == {"a": NOISE}
    # Where less is better, nothing at all is better too.
    assert _noise([], "gini@10", [("a", 0.1, 0.0), ("a", 0.1, 0.05)]) == pytest.approx({"a": 4 * 1.4826 * 0.75})
    assert _noise(single, "ndcg@10", [("a", 0.1, 0.12), ("a", 0.1, 0.09)]) == {}  # a single one says nothing
    folds = [replace(one, algorithm="a", dataset="d", fold=fold, metrics={"ndcg@10": 0.1 + fold}) for fold in (0, 1)]
    assert _noise(folds, "ndcg@10", [("a", 0.1, 0.09)]) == {}  # folds differ, and that is no chance
    zeros = [replace(one, algorithm="a", dataset="d", seed=seed, metrics={"ndcg@10": 0.0}) for seed in (0, 1)]
    assert _noise(zeros, "ndcg@10", [("a", 0.0, 0.1)]) == {}  # no share of nothing can be told


def test_the_reruns_that_catch_at_a_level_are_those_of_the_simulation_with_its_error():
    assert reruns_for(np.arange(1, 1001), 0.95) == 964  # 0.95 and two standard errors of 0.0069
    assert reruns_for(np.arange(1, 11), 0.95) == 10
    assert [altered_cells(cells, 0.02) for cells in (1, 100, 720)] == [1, 2, 14]


def test_what_reruns_would_catch_whichever_cells_are_improved(honest):
    from math import comb

    with Store.open(honest) as store:
        one = store.cells()[0]
    cells = [
        replace(one, algorithm=f"a{n % 10}", dataset=f"d{n // 10}", metrics={"ndcg@10": 0.1 + n / 1000})
        for n in range(100)
    ]
    again = [RerunCell("a1", "d1", 1, 0.5, 0.5, 0.005)] * 20

    def caught(reruns):
        drawn = (reruns + 1) // 2
        return 1 - comb(98, drawn) / comb(100, drawn)

    found = chances(cells, "ndcg@10", again)
    assert (found.share, found.gain, found.level) == (0.02, 0.10, 0.95)
    assert found.needed_hidden == next(n for n in range(1, 101) if caught(n) >= 0.95 or n == 100)
    assert found.caught_hidden == pytest.approx(caught(20))
    assert chances(cells, "ndcg@10", again * 5).caught_hidden == 1.0
    assert chances(cells, "ndcg@10", again * 5).caught == 1.0
    many = [replace(cell, dataset=f"{cell.dataset} {n}") for n in range(3) for cell in cells]
    drawn = next(n for n in range(1, 301) if 1 - comb(294, n) / comb(300, n) >= 0.95)  # 2 % of 300 are 6
    assert chances(many, "ndcg@10").needed_hidden == 2 * drawn - 1 < 300
    before = chances(cells, "ndcg@10")
    assert (before.caught, before.caught_hidden, before.needed) == (None, None, found.needed)
    own = [replace(cell, algorithm="a1", dataset=f"d{n}") for n, cell in enumerate(cells)]
    for reported, found_at_all in ((0.5, False), (1.0, True)):  # 0.05 is 10 % of what was reported, or 5 %
        wide = [RerunCell("a1", "d1", 1, reported, reported, 0.05)]
        assert (chances(own, "ndcg@10", wide).needed is not None) is found_at_all
    assert with_value([*cells, replace(one, status="failed"), replace(one, metrics={})], "ndcg@10") == cells
    nothing = replace(one, metrics={"ndcg@10": 0.0})
    assert with_value([nothing, replace(one, metrics={"ndcg@10": None})], "ndcg@10") == [nothing]


@pytest.mark.slow
def test_rerun_cells_come_out_the_same_and_altered_ones_are_caught(study, honest):
    checked = recassay.verify(study, rerun=4, base=honest.parent, workers=1)
    assert [cell.state for cell in checked.rerun] == ["same"] * 4
    assert checked.sound
    sql("UPDATE metrics SET value = value * 1.1 WHERE metric = 'ndcg@10'", "UPDATE cells SET seal = NULL")(study)
    checked = recassay.verify(study, rerun=2, base=honest.parent, workers=1)
    assert [cell.state for cell in checked.rerun] == ["differs"] * 2
    assert not checked.sound
    assert sum("reported" in sentence for sentence in checked.verdict()) == 2


def test_surprisingly_good_results_are_drawn_more_often(honest):
    from dataclasses import replace

    from recassay.recommenders.rerun import Drawing

    with Store.open(honest) as store:
        one = store.cells()[0]
    cells = [
        replace(one, algorithm=f"a{i}", dataset=f"d{j}", metrics={"ndcg@10": 0.1 * (1 + i) * (1 + j)})
        for i in range(8)
        for j in range(8)
    ]
    cells[9] = replace(cells[9], metrics={"ndcg@10": 1.1 * cells[9].metrics["ndcg@10"]})
    drawing = Drawing.of(cells, "ndcg@10")
    assert all(9 in drawing.order(seed)[:4] for seed in range(50))  # at random it would be 3 of 50
    lower = [replace(cell, metrics={"gini@10": cell.metrics["ndcg@10"]}) for cell in cells]
    assert np.array_equal(Drawing.of(lower, "gini@10").logs, -drawing.logs)


def test_a_sealed_plan_without_a_run_and_an_unfinished_one_say_so(study, honest, tmp_path):
    (tmp_path / "planned").mkdir()
    shutil.copy(study / "seal.json", tmp_path / "planned")
    with pytest.raises(UsageError, match="the plan is sealed, but the study has not been run"):
        recassay.verify(tmp_path / "planned")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="the plan is sealed, but the study has not been run"):
        recassay.verify(tmp_path / "empty", seal=study / "seal.json")
    with pytest.raises(InputError, match="there is no study in this folder"):
        recassay.verify(tmp_path / "empty")
    sql("DELETE FROM cells WHERE algorithm = 'Pop'", "DELETE FROM metrics WHERE cell NOT IN (SELECT id FROM cells)")(
        study
    )
    assert recassay.verify(study).verdict()[0] == "So far the study is what was sealed, but it is not finished."


def test_the_checklist_is_filled_from_the_records(honest, study):
    filled = {answer.question: answer for answer in recassay.checklist(honest).answers}
    assert filled["Was the plan registered before the results?"].answer == "yes"
    assert filled["Are results reported over several seeds?"].answer == "no"
    assert filled["Are ethical questions discussed?"].answer == "open"
    assert filled["Is the code of new methods available?"].answer == "open"
    assert "Pop, Fake" in filled["Is the code of new methods available?"].evidence
    (study / "seal.json").unlink()
    sql("UPDATE cells SET status = 'failed' WHERE algorithm = 'Pop'", "UPDATE cells SET seal = NULL")(study)
    changed = {answer.question: answer for answer in recassay.checklist(study).answers}
    assert changed["Was the plan registered before the results?"].answer == "no"
    assert changed["Are all planned results reported, failures included?"].answer == "no"
    assert changed["Can the numbers be checked?"].answer == "no"
    text = recassay.checklist(honest).to_markdown()
    assert text.count("- **") == len(filled)
    assert str(honest.parent) not in text


def test_a_report_shows_the_seal_and_every_deviation(study):
    from recassay.evidence.facts import study_facts

    assert study_facts(study).plan.startswith("sealed on ")
    assert study_facts(study).plan.endswith("no deviations")
    in_plan("tuning", "trials", value=40)(study)
    facts = study_facts(study)
    assert facts.plan.endswith(", 1 deviation")
    assert facts.deviations == ("tuning.trials was sealed as 3 and is 40.",)
    (study / "seal.json").unlink()
    assert study_facts(study).plan == "not sealed"


def test_what_differs_from_its_checksum_or_has_none_is_named_without_its_folder():
    places = ("/home/me/study/study.sqlite (the row of A on films, seed 1)", "/home/me/study/scores/c1.parquet")
    changed, unknown = _unsound(Verification(9, 2, places, {"cells": 1, "trials": 3}))
    assert changed == Deviation(
        "results", "Changed after it was written: study.sqlite (the row of A on films, seed 1), c1.parquet."
    )
    assert unknown.sentence == "Cannot be verified, since no checksum was stored: 1 cell, 3 trials."
    assert list(_unsound(Verification(9, 2, (), {}))) == []


def test_every_difference_of_two_plans_has_its_sentence():
    part = {"data": "1", "protocol": {"split": "random"}, "folds": None}
    sealed = {
        "name": "a", "datasets": {"films": part, "gone": part, "kept": part}, "seeds": [1, 2], "metrics": ["ndcg@10"],
        "algorithms": {"EASE": {"code": "1", "settings": {"reg": 3.0}}, "ALS": {"code": "1", "settings": {}}},
        "tuning": {"trials": 3}, "comper": None,
    }  # fmt: skip
    now = {
        **sealed,
        "datasets": {"films": {**part, "data": "2", "protocol": {"split": "kfold"}}, "kept": part, "new": part},
        "seeds": [2, 3], "metrics": ["ndcg@10", "mrr"], "tuning": {"trials": 4, "seed": 5},
        "algorithms": {"EASE": {"code": "1", "settings": {"reg": 4.0}}, "ALS": {"code": "2", "settings": {}}},
    }  # fmt: skip
    assert list(_changes(sealed, sealed)) == []
    assert sorted(_changes(sealed, now)) == sorted([
        ("plan", "The dataset gone was planned and is not in the study."),
        ("plan", "The dataset new was added after the seal."),
        ("data", "The data of films changed after the seal."),
        ("plan", 'films: protocol.split was sealed as "random" and is "kfold".'),
        ("plan", "EASE: settings.reg was sealed as 3.0 and is 4.0."),
        ("code", "The code of ALS changed after the seal."),
        ("plan", "Of the metrics, mrr was added after the seal."),
        ("plan", "Of the seeds, 1 was planned and is not in the study."),
        ("plan", "Of the seeds, 3 was added after the seal."),
        ("plan", "tuning.trials was sealed as 3 and is 4."),
        ("plan", "tuning.seed was sealed as not set and is 5."),
    ])  # fmt: skip


def test_cells_of_all_universes_and_damaged_ones_are_compared_with_the_seal(monkeypatch):
    plan = {"name": "a", "seeds": [1], "metrics": [], "folds": None, "protocol": {}, "tuning": {}, "budget": {}}
    study = {**plan, "comper": None, "datasets": [], "algorithms": []}
    rows = [PlannedRow(name, name, "films", 1, None, (), "", 0) for name in "AB"]
    asked = []

    @contextmanager
    def opened(folder):
        yield SimpleNamespace(
            cells=lambda **which: asked.append(which) or [],
            plan=lambda: rows,
            trials=pl.DataFrame,
            manifest=lambda: {"study": study, "datasets": {}, "algorithms": {}, "versions": {"recassay": "9"}},
        )

    monkeypatch.setattr(sealing.Store, "open", opened)
    monkeypatch.setattr(sealing, "verify_store", lambda store: Verification(0, 0, (), {}))
    seal = {
        "plan": sealing.sealed_plan({"study": study, "datasets": {}, "algorithms": {}}),
        "made": "2026",
        "recassay": "9",
    }
    seal |= {"cells": {"digest": sealing.digest(["A", "B"])}, "analysis": {"metric": "mrr", "alpha": 0.05}}
    seal["sha256"] = sealing.digest(seal)
    absent = "Not run: 2 cells (A on films, B on films); the same `recassay run` goes on."
    found = deviations(Path(), seal, {"metric": "mrr", "alpha": 0.1, "other": 3})
    assert asked == [{"every": True, "damaged": True}]
    assert [(one.kind, one.sentence) for one in found] == [
        ("unfinished", absent), ("analysis", "The analysis uses alpha 0.1; sealed was 0.05.")
    ]  # fmt: skip
    changed = {**seal, "recassay": "8", "done_before": 2, "cells": {"digest": "x"}}
    assert [(one.kind, one.sentence) for one in deviations(Path(), changed)] == [
        ("seal", "The seal was changed after it was made: its checksum differs."),
        ("seal", "Of its cells, 2 had results when the plan was sealed."),
        ("code", "The plan was sealed with RecAssay 8 and run with 9."),
        ("unfinished", absent),
    ]  # fmt: skip
    rows.pop()
    first = deviations(Path(), seal)[0]
    assert first == Deviation("plan", "The 1 cells of the study are not the sealed ones.")


def test_cells_that_ran_early_failed_or_did_not_run_are_counted_and_named():
    def one(name, seed=1, **more):
        return CellRecord(name, name, "films", seed, None, {}, **{"status": "done", "finished": "2026-02", **more})

    rows = [PlannedRow(name, name, "films", 1, None, (), "", 0) for name in "ABCDEF"]
    cells = [one("A", finished="2026-01"), one("B", status="over_budget"), one("C", finished="")]
    early, failed, absent = _not_as_planned(cells, rows, "2026-02")
    assert early == Deviation("results", "Finished before the plan was sealed: 1 cell (A on films).")
    assert failed == Deviation("results", "Failed, without a result: 1 cell (B on films).")
    assert (absent.kind, absent.sentence) == (
        "unfinished", "Not run: 3 cells (D on films, E on films, F on films); the same `recassay run` goes on."
    )  # fmt: skip
    assert list(_not_as_planned([one(name) for name in "ABCDEF"], rows, "2026-02")) == []
    (both,) = _not_as_planned([one(name, seed, status="failed") for name in "AB" for seed in (1, 2, 3)], [], "2026")
    assert both.sentence == (
        "Failed, without a result: 6 cells (A on films with seed 1, A on films with seed 2, A on films with seed 3, "
        "B on films with seed 1 and 2 more)."
    )


@pytest.mark.parametrize(("metric", "best"), [("ndcg@10", 0.5), ("gini@10", 0.1)])
def test_the_value_of_a_cell_is_that_of_its_best_complete_trial(metric, best):
    spec = SimpleNamespace(tuning=SimpleNamespace(metric=metric))
    trials = pl.DataFrame({
        "cell": ["c", "c", "c", "c", "other"], "number": [0, 1, 2, 3, 0], "value": [0.1, 0.5, 0.9, 0.0, 0.95],
        "state": ["complete", "complete", "pruned", "failed", "complete"],
    })  # fmt: skip
    for value in (0.1, 0.5, 0.9, 0.0, 0.95):
        cell = SimpleNamespace(id="c", validation=value)
        assert _is_of_best_trial(cell, spec, trials) is (value == best)
    lost = trials.filter(pl.col("number") != 2)
    assert not _is_of_best_trial(SimpleNamespace(id="c", validation=best), spec, lost), "a trial is gone"
    assert not _is_of_best_trial(SimpleNamespace(id="new", validation=best), spec, trials)


def test_a_cell_whose_value_is_zero_is_held_against_its_trials(monkeypatch):
    spec = SimpleNamespace(id="c", tuning=SimpleNamespace(metric="ndcg@10", trials=1, seconds=None))
    monkeypatch.setattr(sealing, "stored_spec", lambda cell: spec)
    trials = pl.DataFrame({"cell": ["c"], "number": [0], "value": [0.5], "state": ["complete"], "parameters": ["{}"]})
    of = {"id": "c", "algorithm": "A", "dataset": "films", "counts": None}
    told = {
        value: len([*sealing._altered([SimpleNamespace(**of, validation=value)], trials)]) for value in (None, 0.0, 0.5)
    }
    assert told == {None: 0, 0.0: 1, 0.5: 0}


@pytest.mark.parametrize(
    ("counts", "seconds", "recorded", "lacking"),
    [
        (None, None, 5, 0),
        (None, None, 3, 2),
        ({"trials": 5}, None, 3, 2),
        ({"trials": 1}, None, 1, 0),
        ({"trials": 5}, None, 1, 4),
        ({"trials": 3}, 2.5, 3, 0),
        ({"trials": 4}, 2.5, 3, 1),
        ({"trials": 3}, 9.0, 3, 2),
        (None, 2.5, 3, 0),
    ],
)
def test_trials_that_are_gone_are_counted_and_those_that_did_not_begin_are_not(counts, seconds, recorded, lacking):
    spec = SimpleNamespace(tuning=SimpleNamespace(trials=5, seconds=seconds))
    rows = range(recorded)
    trials = pl.DataFrame({"cell": ["c" for _ in rows], "parameters": ['{"a": 1, "b": 2}' for _ in rows]})
    trials = trials.with_columns(seconds=pl.lit(1.0))
    assert sealing._lacking_trials(SimpleNamespace(id="c", counts=counts), spec, trials) == lacking


def stored(monkeypatch, known, cells, *, again=0.9, processor=None):
    """A finished study as `rerun` meets it; what is run again, and with which values it comes out."""
    ran = []

    def run_study(spec, folder, *, only, **how):
        ran.append((spec.base, set(only), how))

    class Opened:
        def __init__(self, folder):
            self.own = folder != "study"

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def manifest(self):
            study = recassay.make_study(["synthetic:few-items"], ["EASE", "ALS", "BPR"], trials=0)
            machine = {"processor": processor or platform.machine()}
            return {"study": study.model_dump(mode="json", exclude={"base"}), "machine": machine}

        def cells(self, *, damaged=False):
            now = [replace(cell, metrics={"ndcg@10": again * cell.metrics["ndcg@10"]}) for cell in cells]
            return [replace(now[0], status="failed"), *now[1:]] if self.own else cells

    monkeypatch.setattr(rerunning, "run_study", run_study)
    monkeypatch.setattr(rerunning, "Store", SimpleNamespace(open=Opened))
    monkeypatch.setattr(rerunning, "plan", known)
    return ran


def test_cells_run_again_are_compared_with_what_was_reported(monkeypatch):
    cells = [
        CellRecord(f"c{n}", f"a{n}", "d", 1, None, {}, "done", metrics={"ndcg@10": 0.1 + 0.1 * n}) for n in range(3)
    ]
    ran = stored(monkeypatch, lambda spec: SimpleNamespace(cells=cells), [*cells, replace(cells[0], status="failed")])
    found = rerunning.rerun("study", 2, base="here", metric="ndcg@10", seed=4, workers=3)
    ((base, only, how),) = ran
    order = rerunning.Drawing.of(cells, "ndcg@10").order(4)
    assert (base, how) == ("here", {"workers": 3, "progress": None})
    assert only == {f"c{n}" for n in order[:2]} == {cell.algorithm.replace("a", "c") for cell in found}
    every = {cell.algorithm: cell for cell in rerunning.rerun("study", 9, base="here", metric="ndcg@10")}
    assert len(every) == 3
    assert (every["a0"].state, every["a0"].again) == ("failed", None)
    assert (every["a2"].reported, every["a2"].again) == pytest.approx((0.3, 0.27))
    assert every["a2"].allowed == pytest.approx(0.003)
    assert every["a2"].state == "differs"
    assert RerunCell("A", "d", 1, 0.5, 0.75, 0.25).state == "within noise", "just as much as chance may explain"
    assert RerunCell("A", "d", 1, 0.5, 0.25, 0.125).state == "differs"


@pytest.mark.parametrize(("processor", "state"), [("another", "within noise"), (platform.machine(), "differs")])
def test_roundings_of_an_iterative_algorithm_grow_on_another_processor(monkeypatch, processor, state):
    """EASE is a closed form, ALS counts iterations; both come out 2 % lower."""
    cells = [
        CellRecord(name, name, "d", 1, None, {}, "done", metrics={"ndcg@10": 0.5}) for name in ("EASE", "ALS", "BPR")
    ]
    stored(monkeypatch, lambda spec: SimpleNamespace(cells=cells), cells, again=0.98, processor=processor)
    found = {cell.algorithm: cell.state for cell in rerunning.rerun("study", 3, base="here", metric="ndcg@10")}
    assert {name: found[name] for name in ("ALS", "BPR")} == {"ALS": state, "BPR": state}
    assert found["EASE"] in ("differs", "failed")


def test_cells_whose_data_or_code_are_gone_cannot_be_run_again(monkeypatch):
    cells = [CellRecord(f"c{n}", "A", f"d{n}", 1, None, {}, "done", metrics={"ndcg@10": 0.5}) for n in range(3)]

    def gone(spec):
        raise InputError("there is no such file", where="films.csv")

    ran = stored(monkeypatch, lambda spec: SimpleNamespace(cells=cells[:1]), cells)
    with pytest.raises(InputError, match=r"study: 2 cells cannot be run again: .* \(first: A on d1\); check out the"):
        rerunning.rerun("study", 1, base=".", metric="ndcg@10")
    stored(monkeypatch, gone, cells)
    with pytest.raises(
        InputError, match=r"films\.csv: cells cannot be run again: there is no such file; name the folder"
    ):
        rerunning.rerun("study", 1, base=".", metric="ndcg@10")
    assert ran == []


ALTERED = "10 % of its cells improved by 5 %"
LIKELY = Chances(0.1, 0.05, 0.95, 12, 20)
RERUN = (
    RerunCell("A", "films", 1, 0.5, 0.5, 0.0),
    RerunCell("A", "songs", 1, 0.5, 0.52, 0.03),
    RerunCell("B", "films", 1, 0.5, 0.6, 0.03),
    RerunCell("B", "songs", 1, 0.5, None, 0.03),
)


def judged(sealed=True, deviations=(), claims=(), **more):
    return VerifyResult(sealed, "2026-03-01T10:00:00", "abc", tuple(deviations), tuple(claims), 40, **more)


def test_what_a_rerun_would_catch_is_said():
    first = f"Rerunning 12 of the 40 done cells would catch a study with {ALTERED} with a chance of 95 %."
    hidden = "If those cells were chosen to look ordinary, it would take 20."
    assert judged(False, chances=LIKELY).verdict() == [
        "This study has no sealed plan: everything in it is exploratory.", first, hidden,
    ]  # fmt: skip
    every = replace(LIKELY, needed=None, needed_hidden=40)
    assert judged(chances=every).verdict() == [
        "The study is what was sealed on 2026-03-01.", first.replace("12", "40"), hidden.replace("20", "40"), UNSEEN,
    ]  # fmt: skip
    assert len(judged(chances=replace(LIKELY, needed=20)).verdict()) == 3
    assert judged().verdict() == ["The study is what was sealed on 2026-03-01.", UNSEEN]


def test_what_came_out_again_is_said():
    caught = replace(LIKELY, caught=0.614, caught_hidden=None)
    assert judged(rerun=RERUN, chances=caught, draw=7).verdict()[1:] == [
        "Of 4 cells run again, 1 came out the same, 1 within noise, and 2 did not.",
        "B on films: reported 0.5, now 0.6.",
        "B on songs: reported 0.5, failed this time.",
        f"A study with {ALTERED} would have been caught with a chance of 61 %, "
        "and of 0 % if those cells were chosen to look ordinary.",
        "The cells were drawn by the number 7; `--draw 7` draws them again.",
        UNSEEN,
    ]
    known = judged(rerun=RERUN, chances=caught, draw=7, foreseen=True)
    assert known.verdict()[-2:] == [FORESEEN, UNSEEN]
    assert known.to_dict()["foreseen"]
    seeds = judged(rerun=(RERUN[0], replace(RERUN[2], seed=2)), chances=caught).verdict()
    assert seeds[2] == "B on films with seed 2: reported 0.5, now 0.6."
    assert [judged(rerun=RERUN[:n]).sound for n in (2, 3)] == [True, False]
    assert not judged(rerun=RERUN[3:]).sound
    assert not judged(deviations=[Deviation("code", "EASE is another.")]).sound
    assert [cell["state"] for cell in judged(rerun=RERUN).to_dict()["rerun"]] == [
        "same", "within noise", "differs", "failed",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("claims", "control"),
    [(["A > B", "A > C"], "A"), (["A > B", "C > B"], None), (["B is best"], "B")],
)
def test_claims_of_one_algorithm_are_adjusted_for_its_pairs_alone(monkeypatch, claims, control):
    heard = {}
    pairs = (SimpleNamespace(a="B", b="A", p=0.25), SimpleNamespace(a="B", b="C", p=0.5))

    def matrix(metric, **more):
        heard.update(more, metric=metric)
        return SimpleNamespace(algorithms=("A", "B", "C"))

    def judge(table, **more):
        heard.update(more)
        return SimpleNamespace(pairs=pairs)

    monkeypatch.setattr("recassay.api.study.seal.load_results", lambda folder: SimpleNamespace(matrix=matrix))
    monkeypatch.setattr("recassay.api.study.seal.judge", judge)
    monkeypatch.setattr("recassay.api.study.seal.standing", lambda claim, verdict: "holds")
    plan = {"claims": claims, "analysis": {"metric": "recall@5", "alpha": 0.01}}
    tested = _tested(Path("study"), plan)
    p = {"A > B": 0.25, "A > C": None, "C > B": 0.5, "B is best": None}
    assert tested == [ClaimResult(claim, "holds", p[claim]) for claim in claims]
    assert heard == {"metric": "recall@5", "missing": "drop-datasets", "control": control, "alpha": 0.01}
    assert _tested(Path("study"), plan | {"claims": []}) == []
    refused = _tested(Path("study"), plan | {"claims": ["A > B", "A > Z"]})
    assert [(one.claim, one.standing, "'Z'" in one.reason) for one in refused] == [
        ("A > B", None, True), ("A > Z", None, True),
    ]  # fmt: skip


def test_reruns_are_asked_for_as_they_were_said(honest, monkeypatch, tmp_path):
    heard = {}
    monkeypatch.setattr(
        "recassay.api.study.seal.rerun_cells",
        lambda folder, count, **more: heard.update(more, count=count) or RERUN[:1],
    )
    monkeypatch.chdir(tmp_path)
    checked = recassay.verify(honest, rerun=2, draw=5, workers=3, progress=len, base="somewhere")
    assert checked.rerun == RERUN[:1]
    assert checked.chances.caught is not None
    assert heard == {"count": 2, "base": str(tmp_path / "somewhere"), "metric": "ndcg@10", "seed": 5, "workers": 3,
                     "progress": len}  # fmt: skip
    heard.clear()
    assert recassay.verify(honest).rerun == ()
    assert heard == {}
    recassay.verify(honest, rerun=1, metric="hitrate@5")
    assert heard["metric"] == "hitrate@5"
    unknown = {recassay.verify(honest, rerun=1).draw for _ in range(3)}
    assert len(unknown) == 3, "nobody knows beforehand what is drawn"
    assert heard["seed"] in unknown


@pytest.mark.parametrize(
    ("reference", "answer"),
    [("EASE", "yes"), ("mine.py:Mine", "open"), ("lists/mine.csv", "open"), ("./mine.py:Mine", "open")],
)
def test_code_that_does_not_come_with_us_is_to_be_published(tmp_path, monkeypatch, reference, answer):
    found = listed(tmp_path, monkeypatch, seeds=[1], reference=reference)
    assert found["Is the code of new methods available?"][0] == answer


@pytest.mark.parametrize(
    ("damaged", "unverified", "answer"), [((), {}, "yes"), (("a",), {}, "no"), ((), {"cells": 1}, "no")]
)
def test_numbers_can_be_checked_where_every_checksum_is_there(tmp_path, monkeypatch, damaged, unverified, answer):
    kept = SimpleNamespace(cells=2, splits=1, damaged=damaged, unverified=unverified)
    monkeypatch.setattr("recassay.api.study.checklist.verify_store", lambda store: kept)
    found = listed(tmp_path, monkeypatch, seeds=[1])
    assert found["Can the numbers be checked?"] == (
        answer, f"2 cells and 1 splits are held against checksums; {len(damaged)} are damaged.",
    )  # fmt: skip


def test_deviations_and_claims_are_said():
    points = [Deviation("code", "EASE is another."), Deviation("unfinished", "3 cells were not run.")]
    claims = [
        ClaimResult("A > B", "holds", 0.0123456),
        ClaimResult("A is best", "undecided"),
        ClaimResult("C > D", None, reason="C is unknown"),
    ]
    assert judged(deviations=points, claims=claims).verdict() == [
        "The study deviates from its sealed plan in 2 points.", "EASE is another.", "3 cells were not run.",
        "Confirmatory: A > B: holds (p = 0.012).", "Confirmatory: A is best: undecided.",
        "Confirmatory: C > D: not tested (C is unknown).", UNSEEN,
    ]  # fmt: skip
    states = {judged(False).state, judged().state, judged(deviations=points).state}
    assert states == {"not sealed", "sealed", "deviated"}
    assert judged(deviations=points[1:]).verdict()[0].startswith("So far the study is what was sealed")
    assert judged(deviations=points).to_frame().rows() == [(point.kind, point.sentence) for point in points]


def test_the_seal_is_told(tmp_path):
    late = Seal(tmp_path / "seal.json", "abc", 1, ("A > B",), 1)
    assert late.verdict() == [
        f"Sealed: 1 cell and 1 claim in {tmp_path / 'seal.json'}.",
        "1 of its cells have results already, and the seal says so.",
        "Publish this line to make it binding: abc",
    ]
    assert replace(late, done=0, claims=(), cells=2).verdict() == [
        f"Sealed: 2 cells in {tmp_path / 'seal.json'}.", "Publish this line to make it binding: abc",
    ]  # fmt: skip
    assert late.to_dict() == {"file": "seal.json", "sha256": "abc", "cells": 1, "done": 1, "claims": ["A > B"]}
    assert late.to_frame().to_dicts() == [late.to_dict()]


def test_questions_are_counted_and_told_by_topic():
    answers = [
        ("Data", "Named?", "yes", "Yes."),
        ("Data", "Split?", "no", "No."),
        ("Writing", "Limits?", "open", "You."),
    ]
    result = ChecklistResult("films", tuple(ChecklistAnswer(*answer) for answer in answers))
    assert result.verdict() == [
        "2 of 3 questions are answered by the study's own records; 1 are left to you.",
        "No: Split?",
        "The questions are those of RecSys, ECIR and TORS in our words: check the form of the year.",
    ]
    assert result.to_markdown() == (
        "# Reproducibility checklist: films\n\n## Data\n\n- **Named?** yes. Yes.\n- **Split?** no. No.\n\n"
        "## Writing\n\n- **Limits?** open. You.\n"
    )
    assert result.to_frame().rows() == answers
    rows = [dict(zip(("topic", "question", "answer", "evidence"), answer, strict=True)) for answer in answers]
    assert result.to_dict() == {"study": "films", "answers": rows}


def listed(folder, monkeypatch, *, seeds, findings=(), untuned=(), reference="EASE", status="done", threshold=None):
    """By question, the answer and its evidence, of a study written by hand."""
    facts = SimpleNamespace(findings=findings, untuned=untuned)
    monkeypatch.setattr("recassay.api.study.checklist.study_facts", lambda folder: facts)
    protocol = {"filter": "core", "min_user_interactions": 3, "min_item_interactions": 2,
                "positive_threshold": threshold, "split": "random", "ratios": [0.8, 0.1, 0.1], "seed": 5}  # fmt: skip
    datasets = [{"name": name, "reference": f"{name}.csv"} for name in "de"]
    spec = {"name": "films", "datasets": datasets, "protocol": protocol,
            "tuning": {"trials": 40, "metric": "ndcg@10"}, "seeds": seeds,
            "algorithms": [{"name": "Mine", "reference": reference}], "metrics": ["ndcg@10", "auc"],
            "multiverse": None}  # fmt: skip
    manifest = {"study": spec, "versions": {"python": "3.12", "recassay": "1.0"},
                "machine": {"cores": 8, "memory_bytes": 32 * 10**9, "gpu": None}}  # fmt: skip
    cells = [
        CellRecord("a", "Mine", "d", 1, None, {}, "done", metrics={"ndcg@10": 0.5}, seconds=1800.0),
        CellRecord("b", "Mine", "e", 1, None, {}, status, metrics={"ndcg@10": 0.5}, seconds=3600.0),
    ]
    write_records(folder, ["ndcg@10"], cells, manifest=manifest)
    return {answer.question: (answer.answer, answer.evidence) for answer in recassay.checklist(folder).answers}


def test_each_question_is_answered_by_its_record(tmp_path, monkeypatch):
    found = listed(tmp_path / "one", monkeypatch, seeds=[1])
    assert found["Is the preprocessing described?"] == (
        "yes", "filter core, at least 3 events per user and 2 per item, threshold none.",
    )  # fmt: skip
    from_zero = listed(tmp_path / "zero", monkeypatch, seeds=[1], threshold=0.0)["Is the preprocessing described?"]
    assert from_zero[1].endswith("2 per item, threshold 0.0."), "negative ratings were left out"
    assert found["Is the split described and repeatable?"][1].startswith("random, ratios [0.8, 0.1, 0.1], seed 5;")
    assert found["Is the split free of leakage?"] == ("yes", "The audit of every split found none.")
    assert found["Is the code of new methods available?"] == ("yes", "All algorithms come with RecAssay.")
    tuned = "40 trials per algorithm and dataset, judged by ndcg@10 on the validation part"
    assert found["Were baselines tuned with the same budget as the proposal?"] == ("yes", f"{tuned}.")
    assert found["Are metrics defined?"][1].startswith("ndcg@10, auc, each with its convention")
    assert found["Are results reported over several seeds?"] == ("no", "Seeds: 1.")
    assert found["Are all planned results reported, failures included?"] == (
        "yes", "2 of 2 cells are done; 0 failed, 0 were not run.",
    )  # fmt: skip
    assert found["Was the plan registered before the results?"][0] == "no"
    assert found["Is the computing environment described?"][1] == (
        "Python 3.12, RecAssay 1.0, 8 cores, 32 GB, GPU none."
    )
    assert found["Is the cost reported?"] == ("yes", "1.50 hours over all cells, and per cell.")
    assert found["Can the numbers be checked?"][0] == "no", "a hand wrote no checksums"
    findings = (SimpleNamespace(dataset="d", sentence="It leaks.", leak=True),
                SimpleNamespace(dataset="e", sentence="It does not.", leak=False))  # fmt: skip
    other = listed(tmp_path / "two", monkeypatch, seeds=[1, 2], findings=findings, untuned=("Mine",),
                   reference="./mine.py:Mine", status="failed")  # fmt: skip
    assert other["Is the cost reported?"][1].startswith("1.50 hours"), "what failed has cost time, too"
    assert other["Is the split free of leakage?"] == ("no", "d: It leaks.")
    assert other["Is the code of new methods available?"] == ("open", "Publish the files of Mine.")
    assert other["Were baselines tuned with the same budget as the proposal?"] == ("no", f"{tuned}; not tuned: Mine.")
    assert other["Are results reported over several seeds?"] == ("yes", "Seeds: 1, 2.")
    assert other["Are all planned results reported, failures included?"] == (
        "no", "1 of 2 cells are done; 1 failed, 0 were not run.",
    )  # fmt: skip
