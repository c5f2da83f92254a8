"""`recassay run` and `recassay status` as a user meets them, and what follows a study."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest

import recassay

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
    first, *problems = ran.err.strip().splitlines()
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
