"""`recassay run` and `recassay status` as a user meets them, and what follows a study."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

import recassay
from recassay.cli.studies import _verified
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.system.failures import causes
from recassay.reporting.telling import Answer
from recassay.store import CellRecord
from support.stores import write_records

STUDY = """
[study]
name = "small"
datasets = ["synthetic:dense-small", "./mine.csv"]
algorithms = ["MostPop", "EASE", "./model.py:Mine"]
metrics = ["ndcg@10", "coverage@10"]

[tuning]
trials = 2

[algorithm.EASE]
reg = { low = 10.0, high = 500.0 }
"""

PLUGIN = '''
import numpy as np
from recassay.algorithms.baselines import MostPop

class Mine(MostPop):
    """Popularity, called mine."""
    name = "Mine"
'''


@pytest.fixture
def study(tmp_path):
    data = recassay.load_data("synthetic:few-items")
    pl.DataFrame({"user": data.users.gather(data.user), "item": data.items.gather(data.item), "timestamp": data.time}
                 ).write_csv(tmp_path / "mine.csv")  # fmt: skip
    (tmp_path / "model.py").write_text(PLUGIN)
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def test_run_status_analyze(cli, study, tmp_path):
    out = tmp_path / "out"
    plan = cli("run", study, "--out", out, "--dry-run", "--json").json()
    assert plan["planned"] == 6
    assert all(cell["memory"] > 0 for cell in plan["cells"])
    assert not (out / "study.sqlite").exists()
    ran = cli("run", study, "--out", out, "-j", 1, "--json")
    assert ran.code == 0, ran.err
    assert ran.json()["ran"] == 6
    value = recassay.results(out, ["ndcg@10"]).filter(algorithm="EASE", dataset="mine")["value"][0]
    assert re.search(rf"EASE on mine: ndcg@10 {value:.4f}, \d+\.\d s", ran.err), "a line has the score and the seconds"
    again = cli("run", study, "--out", out)
    assert "6 of 6 cells are done; this run ran no cell" in again.out
    assert cli("status", out, "--json").json()["done"] == 6
    assert "6 of 6 cells done" in cli("status", out).out
    answer = cli("rank", out, "--metric", "ndcg@10", "--json").json()
    assert answer["algorithms"] == ["EASE", "Mine", "MostPop"]
    assert answer["methods"]["mean"]["Mine"] == pytest.approx(answer["methods"]["mean"]["MostPop"], rel=0.05)
    assert answer["ranks"]["mean"]["EASE"] == 1
    assert cli("analyze", out, "--json").json()["analyses"]["compare"]["datasets"] == ["dense-small", "mine"]
    manifest = json.loads((out / "manifest.json").read_text())
    assert {"recassay", "python"} & set(json.dumps(manifest).split('"'))


@pytest.mark.usefixtures("in_process")
def test_a_study_without_a_file_is_named_after_its_folder(cli, tmp_path):
    ran = cli("run", "--datasets", "synthetic:few-items", "--algorithms", "MostPop", "--trials", 0, "--metrics",
              "ndcg@10", "--out", tmp_path / "films", "-j", 1)  # fmt: skip
    assert ran.code == 0, ran.err
    assert json.loads((tmp_path / "films" / "manifest.json").read_text())["study"]["name"] == "films"
    assert not (tmp_path / "films" / "running.json").exists()


def test_an_interrupted_run_says_what_is_kept_and_how_to_go_on(cli, tmp_path, monkeypatch):
    command = ["run", "--datasets", "synthetic:few-items", "--algorithms", "Random,MostPop", "--trials", 0,
               "--metrics", "ndcg@10", "--out", tmp_path / "films", "-j", 1]  # fmt: skip

    def interrupted(event):
        if event.kind == "finished":
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("recassay.cli.studies.show_progress", lambda: interrupted)
        stopped = cli(*command)
    assert stopped.code == 130
    assert f"interrupted; 1 of 2 cells and 0 trials are kept in {tmp_path / 'films'}; the same command" in stopped.err
    assert "2 of 2 cells are done; this run ran 1 cell" in cli(*command).out


@pytest.mark.usefixtures("in_process")
def test_cells_of_an_earlier_version_are_named_and_run_again(cli, tmp_path, copied_package):
    out = tmp_path / "out"
    command = ("run", "--datasets", "synthetic:dense-small,synthetic:few-items", "--algorithms", "MostPop,EASE",
               "--trials", 0, "--metrics", "ndcg@5", "--out", out)  # fmt: skip
    assert "earlier version" not in cli(*command).err
    assert cli("status", out, "--json").json()["earlier"] == {}
    source = copied_package("recassay.algorithms") / "linear.py"
    source.write_text(source.read_text() + "EDITED = True\n")
    said = "2 cells were made by an earlier version of EASE; they are run again"
    assert cli("status", out, "--json").json()["earlier"] == {"EASE": 2}
    assert f"{said} by `recassay run`" in " ".join(cli("status", out).out.split())
    assert said in cli(*command, "--dry-run").out
    assert cli(*command, "--dry-run", "--json").json()["earlier"] == {"EASE": 2}
    ran = cli(*command, "--json")
    assert said in ran.err
    assert (ran.json()["ran"], ran.json()["earlier"]) == (2, {"EASE": 2})
    again = cli(*command, "--json")
    assert (again.json()["ran"], again.json()["earlier"]) == (0, {})
    assert "earlier" not in cli("status", out).out + again.err


@pytest.mark.usefixtures("in_process")
def test_without_a_file(cli, tmp_path):
    out = tmp_path / "quick"
    ran = cli("run", "--datasets", "synthetic:dense-small", "--algorithms", "MostPop,ItemKNN", "--trials", 0,
              "--metrics", "ndcg@5", "--out", out, "-j", 1)  # fmt: skip
    assert ran.code == 0, ran.err
    assert recassay.load_results(out).metrics[0] == "ndcg@5"


@pytest.mark.usefixtures("in_process")
def test_a_failed_cell_is_a_row_and_exit_1(cli, study, tmp_path):
    (tmp_path / "model.py").write_text(
        PLUGIN + "    def fit(self, train, *, rng):\n        raise ValueError('no luck')\n"
    )
    stopped = cli("run", study, "--out", tmp_path / "out", "-j", 1)
    assert (stopped.code, (tmp_path / "out").exists()) == (2, False)
    assert "algorithm Mine: It raises ValueError: no luck (model.py, line" in stopped.err
    ran = cli("run", study, "--out", tmp_path / "out", "-j", 1, "--skip-preflight")
    assert ran.code == 1
    assert "4 of 6 cells are done and 2 failed; this run ran 6 cells" in " ".join(ran.out.split())
    assert "failed: Mine on dense-small, mine: ValueError: no luck" in " ".join(ran.out.split())
    assert "no luck" in ran.out
    assert cli("status", tmp_path / "out", "--json").json()["done"] == 4
    missing = cli("rank", tmp_path / "out", "--metric", "ndcg@10")
    assert missing.code == 2
    assert "Mine on dense-small" in missing.err
    (tmp_path / "model.py").write_text(PLUGIN)
    mended = cli("run", study, "--out", tmp_path / "out", "-j", 1, "--json")
    assert mended.code == 0
    assert mended.json()["ran"] == 2


def test_everything_that_stops_a_study_is_said_at_once(cli, tmp_path):
    (tmp_path / "model.py").write_text(
        "class Mine:\n    def fit(self, train):\n        self.n = train.n_items\n\n"
        "    def recommend(self, users, k):\n        return [[self.n] * k for _ in users]\n"
    )
    (tmp_path / "plain.csv").write_text("user,item\n" + "\n".join(f"{u},{i}" for u in range(9) for i in range(6)))
    study = tmp_path / "study.toml"
    study.write_text(
        '[study]\ndatasets = ["./plain.csv", "./absent.csv", "synthetic:dense"]\n'
        'algorithms = ["EASE", "EASY", "./model.py:Mine"]\nmetrics = ["ndcg@10", "ndgc@10"]\n'
        "[algorithm.EASE]\nrag = 1\n"
    )
    ran = cli("run", study, "--out", tmp_path / "out", "-j", 1)
    told, first, *problems = ran.err.strip().splitlines()
    assert "plain.csv: user from 'user', item from 'item' (no column of weight or time)" in told
    assert (ran.code, (tmp_path / "out").exists()) == (2, False)
    assert first == f"recassay: {len(problems)} problems; nothing was run or written"
    told = ["absent.csv: there is no such file", "no preset 'dense'", "EASE has no parameter 'rag'",
            "unknown algorithm 'EASY'", "unknown metric 'ndgc'", "dataset plain: the split 'global_time' follows time",
            "algorithm Mine: Its recommend lists item"]  # fmt: skip
    assert len(problems) == len(told)
    for problem, words in zip(problems, told, strict=True):
        assert words in problem


BAD = {
    "nothing": (["run"], "a study is a file, or --datasets and --algorithms"),
    "no file": (["run", "absent.toml"], "absent.toml"),
    "unknown algorithm": (["run", "--datasets", "synthetic:dense-small", "--algorithms", "EASY"], "mean 'EASE'"),
    "unknown dataset": (["run", "--datasets", "synthetic:dense", "--algorithms", "EASE"], "dense"),
    "unknown metric": (["run", "--datasets", "synthetic:dense-small", "--algorithms", "EASE", "--metrics", "ndgc@3"],
                       "did you mean 'ndcg'"),
    "unknown split": (["run", "--datasets", "synthetic:dense-small", "--algorithms", "EASE", "--split", "x"], "split"),
    "no study there": (["status", "."], "there is no study in this folder"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_usage_is_one_line(cli, tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    arguments, message = BAD[case]
    ran = cli(*arguments)
    assert ran.code == 2, ran.err
    assert message in ran.err
    assert len(ran.err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_misspelt_key_is_named_with_its_line(cli, study):
    study.write_text(STUDY.replace("trials = 2", "trails = 2"))
    ran = cli("run", study)
    assert ran.code == 2
    assert "did you mean 'trials'" in ran.err
    assert "line 9" in ran.err or ":9" in ran.err


@pytest.mark.usefixtures("in_process")
def test_positions_refuse_a_global_split(cli, tmp_path):
    path = tmp_path / "sequences.csv"
    path.write_text(
        "user,item,timestamp\n" + "\n".join(f"{u},{(3 * u + i) % 9},{i}" for u in range(40) for i in range(8))
    )
    ran = cli("run", "--datasets", path, "--algorithms", "MostPop", "--trials", 0, "--out", tmp_path / "out", "-j", 1)
    assert (ran.code, (tmp_path / "out").exists()) == (2, False)
    assert "the times of this dataset are positions" in ran.err


@pytest.mark.usefixtures("in_process")
def test_auc_of_a_study_reads_the_whole_order(tmp_path):
    """A random order has an AUC of one half; lists of a hundred alone would say the same of any algorithm's tail."""
    study = recassay.make_study(["synthetic:long-tail"], ["Random", "EASE"], metrics=["auc", "ndcg@10"], trials=0)
    recassay.run(study, tmp_path / "auc", workers=1)
    auc = dict(recassay.load_results(tmp_path / "auc").frame.filter(metric="auc").select("algorithm", "value").rows())
    assert auc["Random"] == pytest.approx(0.5, abs=0.02)
    assert auc["EASE"] > 0.8


@pytest.mark.usefixtures("in_process")
def test_a_dataset_that_cannot_be_read_is_said_once(cli, tmp_path):
    (tmp_path / "broken.csv").write_text("user,item\n1\n")
    ran = cli("run", "--datasets", tmp_path / "broken.csv", "--algorithms", "MostPop,Random", "--trials", 0,
              "--out", tmp_path / "out", "-j", 1)  # fmt: skip
    assert ran.code == 1
    assert ran.out.count("failed: ") == 1
    assert "failed: MostPop, Random on broken" in ran.out
    assert "recassay analyze" not in ran.out


def failed(reason="no luck"):
    return SimpleNamespace(algorithm="EASE", dataset="films", status="failed", reason=reason)


def ended(monkeypatch, *, multiverse=None, **more):
    """`run` ends with this record, and runs nothing; what it was asked."""
    asked = {}
    record = SimpleNamespace(**{"folder": Path("out"), "done": 3, "planned": 4, "failed": [], "ran": 2, "seconds": 7.6,
                                "earlier": {}, "predictions": (), "left_out": ()} | more)  # fmt: skip
    record.causes = lambda: causes(record.failed)
    spec = SimpleNamespace(name="named", multiverse=multiverse, seed=1)
    studies = "recassay.api.study.studies"
    monkeypatch.setattr("recassay.cli.classify.load_study", lambda path: asked.update(path=path) or spec)
    monkeypatch.setattr("recassay.cli.classify.make_study", lambda **named: asked.update(named) or spec)
    monkeypatch.setattr(f"{studies}.run", lambda study, **named: asked.update(named, study=study) or record)
    monkeypatch.setattr("recassay.cli.studies.told_logs", lambda study: ())
    return asked


ENDS = [
    ({}, "", 0, "3 of 4 cells are done; this run ran 2 cells in 8 s.\nNow: recassay analyze out\n"),
    ({"ran": 1}, "", 0, "3 of 4 cells are done; this run ran 1 cell in 8 s.\nNow: recassay analyze out\n"),
    ({"done": 0, "ran": 0}, "", 0, "0 of 4 cells are done; this run ran no cell.\n"),
    ({"ran": 0}, "", 0, "3 of 4 cells are done; this run ran no cell.\nNow: recassay analyze out\n"),
    ({"failed": [failed()]}, "", 1, "3 of 4 cells are done and 1 failed; this run ran 2 cells in 8 s.\n"
     "failed: EASE on films: no luck\nNow: recassay analyze out\n"),
    ({}, "--adaptive", 0, "3 of 4 cells are done; this run ran 2 cells in 8 s.\nAdaptive: all is settled.\n"
     "Now: recassay status out\n"),
]  # fmt: skip


@pytest.mark.parametrize(("record", "options", "code", "words"), ENDS)
def test_how_a_run_ends(cli, monkeypatch, record, options, code, words):
    ended(monkeypatch, **record)
    monkeypatch.setattr("recassay.cli.studies.adaptive_standing", lambda folder: "all is settled")
    ran = cli("run", "s.toml", *options.split())
    assert (ran.code, ran.out) == (code, words)


def test_what_is_typed_reaches_the_run(cli, monkeypatch, tmp_path):
    asked = ended(monkeypatch)
    options = ["--out", tmp_path / "films", "-j", 3, "--retry-failed", "--cluster", "tcp://a:1", "--adaptive",
               "--target", "order", "--indifference", 0.5, "--confidence", 0.9, "--budget", "2h", "--probe-users",
               "25%", "--probe-epochs", 4, "--no-prior", "--threads", 2, "--skip-preflight"]  # fmt: skip
    monkeypatch.setattr("recassay.cli.studies.adaptive_standing", lambda folder: None)
    assert cli("run", "s.toml", *options).code == 0
    assert asked.pop("progress")
    assert asked.pop("study").name == "named"
    assert asked == {
        "path": "s.toml", "folder": tmp_path / "films", "workers": 3, "retry_failed": True, "cluster": "tcp://a:1",
        "adaptive": True, "target": "order", "indifference": 0.5, "confidence": 0.9, "budget": 7200.0,
        "probe_users": 0.25, "probe_epochs": 4, "prior": False, "threads": 2, "skip_preflight": True,
    }  # fmt: skip
    asked.clear()
    alone = ["--datasets", "a,b", "--algorithms", "EASE", "--metrics", "ndcg@5", "--trials", 3, "--seed", "1,2",
             "--split", "random", "--threshold", 4, "--out", tmp_path / "films"]  # fmt: skip
    assert cli("run", *alone).code == 0
    assert "path" not in asked, "no file is read"
    made = {name: asked[name] for name in ("datasets", "algorithms", "metrics", "trials", "seed", "protocol", "name")}
    assert made == {"datasets": ["a", "b"], "algorithms": ["EASE"], "metrics": ["ndcg@5"], "trials": 3, "seed": [1, 2],
                    "protocol": ProtocolSpec(split="random", positive_threshold=4), "name": "films"}  # fmt: skip


def test_a_study_without_a_file_or_a_folder_is_called_study(cli, monkeypatch):
    asked = ended(monkeypatch)
    assert cli("run", "--datasets", "a", "--algorithms", "b").code == 0
    assert (asked["name"], "folder" in asked) == ("study", False)


@pytest.mark.parametrize(("options", "folder"), [("", "named"), ("--out films", "films")])
def test_an_interrupted_run_names_the_folder_that_goes_on(cli, monkeypatch, options, folder):
    def interrupted(study, **named):
        raise KeyboardInterrupt

    ended(monkeypatch)
    monkeypatch.setattr("recassay.api.study.studies.run", interrupted)
    state = SimpleNamespace(done=1, planned=2, trials=5)
    monkeypatch.setattr("recassay.cli.progress.recassay.status", lambda place: state)
    ran = cli("run", "s.toml", *options.split())
    kept = f"1 of 2 cells and 5 trials are kept in {folder}"
    assert (ran.code, ran.err.splitlines()[-1]) == (
        130, f"recassay: interrupted; {kept}; the same command goes on from there",
    )  # fmt: skip


def test_other_runs_that_are_interrupted_name_their_folder(cli, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    for verb in ("study.bench.bench", "classify.classify"):
        monkeypatch.setattr(f"recassay.api.{verb}", interrupted)
    monkeypatch.setattr("recassay.cli.classify.is_classifier_study", lambda path: True)
    monkeypatch.setattr("recassay.api.classify.load_classify_study", lambda path: SimpleNamespace(name="named", seed=1))
    state = SimpleNamespace(done=1, planned=2, trials=5)
    monkeypatch.setattr("recassay.cli.progress.recassay.status", lambda place: state)
    for words, folder in (
        ("bench m.py:Mine --study films", "films"), ("run s.toml", "named"),
        ("run s.toml --out films", "films"),
    ):  # fmt: skip
        ran = cli(*words.split())
        assert ran.code == 130
        assert f"1 of 2 cells and 5 trials are kept in {folder}; the same command goes on" in ran.err


@pytest.mark.parametrize(("options", "standing"), [("", {}), ("--adaptive", {"adaptive": "all is settled"})])
def test_a_run_as_json_says_where_it_stands(cli, monkeypatch, options, standing):
    ended(monkeypatch, failed=[failed()], earlier={"EASE": 1}, changes=("New: A.",))
    monkeypatch.setattr("recassay.cli.studies.adaptive_standing", lambda folder: "all is settled")
    monkeypatch.setattr(
        "recassay.cli.studies.study_status", lambda folder: SimpleNamespace(to_dict=lambda: {"done": 3})
    )
    ran = cli("run", "s.toml", "--json", *options.split())
    assert ran.code == 1, "a cell failed"
    assert ran.json() == {
        "done": 3,
        "folder": "out",
        "ran": 2,
        "earlier": {"EASE": 1},
        "changes": ["New: A."],
        **standing,
    }


def state_of(monkeypatch, *, universes=False, standing=None, **more):
    """`status` finds this."""
    verified = SimpleNamespace(**{"cells": 3, "splits": 1, "damaged": (), "unverified": {}} | more)
    state = SimpleNamespace(done=3, planned=3, failed=[], to_go=[], trials=4, earlier={}, verified=verified,
                            left_out=[], to_dict=lambda: {"done": 3})  # fmt: skip
    monkeypatch.setattr("recassay.api.study.studies.status", lambda folder, **asked: state)
    monkeypatch.setattr("recassay.cli.studies.has_universes", lambda folder: universes)
    monkeypatch.setattr("recassay.cli.studies.adaptive_standing", lambda folder: standing)
    for verb in ("certify", "adaptive"):
        monkeypatch.setattr(f"recassay.api.{verb}.{verb}", lambda folder, verb=verb: f"{verb} of {folder}")
    monkeypatch.setattr("recassay.api.publish.content.tell", lambda result: Answer((f"{result}.",)))


FIRST = "3 of 3 cells done, 0 failed, 0 to go; 4 trials kept\nAll 3 done cells and 1 splits are what was written.\n"
STATES = [
    ({}, FIRST),
    ({"standing": "it is settled"}, f"{FIRST}Adaptive: it is settled.\nAnswer\nadaptive of out.\n"),
    ({"standing": "it is settled", "universes": True}, f"{FIRST}Answer\ncertify of out.\n"),
]


@pytest.mark.parametrize(("state", "words"), STATES)
def test_the_status_says_where_a_choosing_run_stands(cli, monkeypatch, state, words):
    state_of(monkeypatch, **state)
    ran = cli("status", "out")
    assert (ran.code, ran.out) == (0, words)
    assert cli("status", "out", "--json").json() == {"done": 3, "adaptive": state.get("standing")}


def test_a_study_with_damaged_files_fails(cli, monkeypatch):
    state_of(monkeypatch, damaged=("a.parquet",))
    assert cli("status", "out").code == cli("status", "out", "--json").code == 1


def test_the_address_of_the_live_page_is_said_and_opened(cli, monkeypatch):
    asked, opened = {}, []

    def serve(folder, ready, **more):
        asked.update(more, folder=folder)
        ready(SimpleNamespace(url="http://127.0.0.1:9/"))

    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("recassay.api.study.serve.serve", serve)
    said = "out is shown at http://127.0.0.1:9/ (read-only; Ctrl-C ends it)\n"
    assert (cli("serve", "out").err, opened) == (said, [])
    ran = cli("serve", "out", "--open", "-p", 9, "--host", "::", "--metric", "auc", "--allow-host", "a,b")
    assert (ran.err, opened) == (said, ["http://127.0.0.1:9/"])
    assert asked == {"folder": "out", "port": 9, "host": "::", "metric": "auc", "allow_host": ["a", "b"]}


@pytest.mark.parametrize("option", ["--target first", "--probes", "--probe-users 5%", "--probe-epochs 2", "--no-prior"])
def test_universes_know_no_targets_and_no_probes(cli, monkeypatch, option):
    ended(monkeypatch, multiverse={})
    ran = cli("run", "s.toml", "--adaptive", *option.split())
    assert ran.code == 2
    assert "does not apply to a study with a [multiverse]; leave it out: the run settles the share" in ran.err


def test_a_dry_run_is_a_table_and_fails_where_a_cell_cannot_run(cli, monkeypatch):
    @dataclass
    class Prediction:
        algorithm: str
        state: str
        trials: int | None = None
        memory: int | None = None
        most_memory: int | None = None
        gpu_memory: int | None = None
        dataset: str = "films"
        users: int | None = 60
        items: int | None = None
        interactions: int | None = 900

    cells = (Prediction("EASE", "to run", 0, 1_500_000, 2_000_000_000), Prediction("ALS", "failed", 40, 0, None, 3))
    ended(monkeypatch, predictions=cells, failed=[failed("too large")], earlier={"EASE": 1})
    ran = cli("run", "s.toml", "--dry-run")
    assert ran.code == 1
    assert [" ".join(line.split()) for line in ran.out.splitlines() if "─" not in line] == [
        "1 cell was made by an earlier version of EASE; it is run again", "4 cells",
        "algorithm dataset state trials MB most MB GPU MB users items interactions",
        "EASE films to run 0 1.5 2,000.0 60 900", "ALS films failed 40 0.0 0.0 60 900", "",
        "failed: EASE on films: too large",
    ]  # fmt: skip
    asked = cli("run", "s.toml", "--dry-run", "--json").json()
    assert (asked["planned"], asked["earlier"], asked["cells"][1]["trials"]) == (4, {"EASE": 1}, 40)
    ended(monkeypatch, predictions=cells[:1])
    assert cli("run", "s.toml", "--dry-run").code == 0


def cell(name, algorithm, dataset, status="done"):
    reason = None if status == "done" else "no luck"
    return CellRecord(name, algorithm, dataset, 1, None, {}, status, reason=reason, metrics={"ndcg@10": 0.5})


def test_the_status_is_told(cli, tmp_path):
    records = [cell("a", "EASE", "films"), cell("b", "ALS", "films", "timeout")]
    one = write_records(tmp_path / "one", ["ndcg@10"], records, to_go=[("BPR", "films", 1), ("BPR", "songs", 1)])
    ran = cli("status", one)
    assert ran.code == 0, ran.err
    assert [" ".join(line.split()) for line in ran.out.splitlines() if "─" not in line] == [
        "1 of 4 cells done, 1 failed, 2 to go; 0 trials kept", "timeout: ALS on films: no luck", "To go",
        "algorithm dataset", "BPR films", "BPR songs", "",
    ]  # fmt: skip
    two = write_records(tmp_path / "two", ["ndcg@10"], records[:1], to_go=[("BPR", "films", 1), ("BPR", "films", 2)])
    assert ["BPR", "films", "2"] in [line.split() for line in cli("status", two).out.splitlines()]
    assert "cells cannot be verified" not in cli("status", two).out
    assert "1 cell cannot be verified" in " ".join(cli("status", two, "--verify").out.split())


def test_what_the_checksums_say():
    def said(**more):
        known = SimpleNamespace(**{"cells": 8, "splits": 2, "damaged": (), "unverified": {}} | more)
        return _verified(SimpleNamespace(verified=known))

    assert _verified(SimpleNamespace(verified=None)) == []
    assert said() == ["All 8 done cells and 2 splits are what was written."]
    assert said(damaged=("a", "b", "c", "d")) == [
        "Damaged or gone: a, b, c and 1 more; the same `recassay run` makes this again."
    ]
    assert said(unverified={"cells": 1, "trials": 2}) == [
        "1 cell, 2 trials cannot be verified: the version that wrote this kept no checksums."
    ]


@pytest.mark.parametrize(("sound", "code"), [(True, 0), (False, 1)])
def test_a_study_that_deviates_fails(cli, monkeypatch, sound, code):
    asked = {}
    result = SimpleNamespace(sound=sound, verdict=lambda: ["It is."], to_dict=lambda: {"state": "sealed"})
    monkeypatch.setattr("recassay.api.study.seal.verify", lambda study, **more: asked.update(more) or result)
    ran = cli("verify", "out", "--rerun", 4, "--draw", 2, "--metric", "ndcg@5", "-j", 3, "--base", "b", "--seal", "s")
    assert (ran.code, ran.out) == (code, "It is.\n")
    assert asked.pop("progress")
    assert asked == {"rerun": 4, "draw": 2, "metric": "ndcg@5", "workers": 3, "base": "b", "seal": "s"}
    assert cli("verify", "out", "--json").json() == {"state": "sealed"}


def test_the_seal_names_the_next_command(cli, monkeypatch, tmp_path):
    asked = {}
    result = SimpleNamespace(verdict=lambda: ["Sealed."], to_dict=lambda: {})
    monkeypatch.setattr("recassay.api.study.seal.seal", lambda study, **more: asked.update(more) or result)
    ran = cli("seal", "s.toml", "--claim", "A > B", "--claim", "A is best", "--alpha", 0.01, "--metric", "ndcg@5")
    assert ran.out == "Sealed.\nNow: recassay run s.toml\n"
    assert asked == {"claims": ["A > B", "A is best"], "alpha": 0.01, "metric": "ndcg@5"}
    assert cli("seal", "s.toml", "--folder", "f").out == "Sealed.\nNow: recassay run s.toml --out f\n"


def test_the_checklist_is_printed_or_written(cli, monkeypatch, tmp_path):
    result = SimpleNamespace(
        to_markdown=lambda: "# One\n\n- two\n", verdict=lambda: ["18 of 20."], to_dict=lambda: {"a": 1}
    )
    monkeypatch.setattr("recassay.api.study.checklist.checklist", lambda study: result)
    assert cli("verify", "out", "--checklist").out == "# One\n\n- two\n"
    assert cli("verify", "out", "--checklist", "--out", tmp_path / "list.md").out == "18 of 20.\n"
    assert (tmp_path / "list.md").read_text() == "# One\n\n- two\n"
    assert cli("verify", "out", "--checklist", "--json").json() == {"a": 1}
    both = cli("verify", "out", "--checklist", "--json", "--out", tmp_path / "both.md")
    assert (both.json(), (tmp_path / "both.md").read_text()) == ({"a": 1}, "# One\n\n- two\n")
