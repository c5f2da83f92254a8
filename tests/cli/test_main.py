"""The command line as a user meets it."""

from __future__ import annotations

import importlib.metadata
import io
import json
import platform
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import click
import numpy as np
import polars as pl
import pytest

import recassay
from recassay.api.installation import AVAILABLE
from recassay.api.publish.content import AnalysisReport, document, report_brief
from recassay.cli import main, start
from recassay.cli.analyze import show_report
from recassay.cli.main import SAFE
from recassay.cli.render import Failed, Interrupted
from recassay.core import registry
from recassay.core.errors import InputError, SeveralProblemsError, UsageError
from recassay.core.tables.sources import Source
from recassay.reporting.section import Brief
from recassay.testing.results import synthetic_results


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "results.csv"
    synthetic_results(6).write_csv(path)
    return path


def test_rank_json(cli, table):
    ran = cli("rank", table, "--metric", "ndcg@10", "--json", "--replicates", 200)
    assert ran.code == 0
    answer = ran.json()
    keys = {"recassay", "input", "metric", "algorithms", "datasets", "methods", "ranks", "interval", "probability_best"}
    assert keys <= set(answer)
    assert answer["recassay"] == recassay.__version__
    assert answer["input"][0]["file"] == str(table)
    assert answer["methods"]["mean_rank"]["Oracle"] == min(answer["methods"]["mean_rank"].values())
    low, high = answer["interval"]["mean"]["Oracle"]
    assert low < answer["methods"]["mean"]["Oracle"] < high


def test_rank_json_on_the_published_table(cli, kdd24):
    answer = cli("rank", kdd24, "--metric", "ndcg@10", "--json").json()
    assert answer["methods"]["copeland"]["EASE"] == 10
    assert len(answer["algorithms"]) == 11
    assert len(answer["datasets"]) == 30


def test_compare_json(cli, table):
    answer = cli("compare", table, "--json").json()
    assert {"friedman", "nemenyi_cd", "wilcoxon_holm", "bayesian", "groups", "power"} <= set(answer)
    assert {"left", "right", "statistic", "p", "p_holm", "significant"} <= set(answer["wilcoxon_holm"][0])
    assert {"left", "right", "p_left", "p_rope", "p_right"} == set(answer["bayesian"][0])
    assert len(answer["wilcoxon_holm"]) == len(answer["bayesian"]) == 28


@pytest.mark.slow
@pytest.mark.parametrize("command", ["rank", "compare", "analyze"])
def test_tables_on_a_terminal(cli, table, command):
    ran = cli(command, table)
    assert ran.code == 0
    assert "Oracle" in ran.out
    assert "ndcg@10" in ran.out.lower()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["rank", "compare"])
def test_out_saves_tables_and_figures(cli, table, tmp_path, command):
    out = tmp_path / "deep" / "out"
    ran = cli(command, table, "--json", "--out", out)
    assert ran.code == 0
    written, printed = json.loads((out / "analysis.json").read_text()), ran.json()
    assert {**written, "input": printed["input"]} == printed
    assert list((out / "tables").glob("*.csv"))
    assert {p.suffix for p in (out / "figures").iterdir()} == {".svg", ".pdf", ".json"}
    assert not list(out.rglob(".*"))


@pytest.mark.slow
def test_analyze_writes_everything(analyzed):
    answer = analyzed.answer
    expected = {"rank", "compare", "profiles", "correlations", "beta_irt", "glicko", "select", "stress"}
    assert set(answer["analyses"]) >= {*expected, "per_dataset"}
    assert answer["sentences"][0].startswith("No clear winner by nDCG@10: ")
    assert json.loads((analyzed.out / "analysis.json").read_text()) | {"input": answer["input"]} == answer
    pairs = pl.read_csv(analyzed.out / "tables" / "pairs.csv")
    assert pairs.height == 28


@pytest.mark.slow
def test_missing_policy_is_written_into_the_output(cli, tmp_path):
    path = tmp_path / "r.csv"
    synthetic_results(6, seeds=1).filter(
        ~((pl.col("algorithm") == "Weak") & (pl.col("dataset") == "set-01"))
    ).write_csv(path)
    refused = cli("rank", path, "--metric", "ndcg@10")
    assert refused.code == 2
    assert "Weak on set-01" in refused.err
    kept = cli("rank", path, "--metric", "ndcg@10", "--missing", "drop-datasets", "--json").json()
    assert kept["missing"] == {"policy": "drop-datasets", "cells": [["Weak", "set-01"]], "dropped": ["set-01"]}
    assert "1 cell was missing" in cli("rank", path, "--metric", "ndcg@10", "--missing", "worst", "--all").out


BAD = {
    "no command": (["frobnicate"], "No such command 'frobnicate'"),
    "bad option": (["rank", "{table}", "--metrix", "x"], "No such option"),
    "bad metric": (["rank", "{table}", "--metric", "ndgc@10"], "did you mean 'ndcg@10'"),
    "bad method": (["rank", "{table}", "--methods", "bordar"], "did you mean 'borda'"),
    "bad policy": (
        ["rank", "{table}", "--missing", "guess"],
        "'--missing': 'guess' is not one of 'error', 'drop-datasets'",
    ),
    "bad zeros": (["compare", "{table}", "--zeros", "x"], "'--zeros': 'x' is not one of 'wilcox', 'pratt', 'zsplit'"),
    "both directions": (["rank", "{table}", "--higher-is-better", "--lower-is-better"], "exclude each other"),
    "few replicates": (["rank", "{table}", "--replicates", "5"], "use at least 100"),
    "beta": (["rank", "{table}", "--beta-max", "1"], "give a ratio above 1"),
    "column form": (["rank", "{table}", "--column", "value"], "not of the form role=name"),
    "column role": (["rank", "{table}", "--column", "x=y"], "there is no column role 'x'"),
    "no file": (["rank", "absent.csv"], "absent.csv: no such file"),
    "nothing": (["rank"], "Missing argument"),
    "list": (["list", "metric"], "did you mean 'metrics'"),
    "out is a file": (["rank", "{table}", "--out", "{table}"], "is a file, not a folder"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_usage_is_one_line_and_exit_2(cli, table, case):
    arguments, message = BAD[case]
    ran = cli(*(a.format(table=table) for a in arguments))
    assert ran.code == 2
    assert message in ran.err
    assert len([line for line in ran.err.strip().splitlines() if not line.startswith("read: ")]) == 1
    assert "Traceback" not in ran.err


def on_a_pipe(end):
    end.__context__ = BrokenPipeError()
    return end


ENDS = {
    "nothing": (None, 0, ""),
    "a number": (3, 3, ""),
    "failed work": (Failed(), 1, ""),
    "told": (Interrupted(), 130, ""),
    "interrupted": (KeyboardInterrupt(), 130, f"recassay: interrupted; {SAFE}\n"),
    "130": (130, 130, f"recassay: interrupted; {SAFE}\n"),
    "aborted": (click.Abort(), 130, f"recassay: interrupted; {SAFE}\n"),
    "usage": (click.UsageError("no  such\noption"), 2, "recassay: no such option\n"),
    "of pydantic": (click.UsageError("Value error, too small"), 2, "recassay: too small\n"),
    "ours": (UsageError("it is wrong", fix="mend it"), 2, "recassay: it is wrong; mend it\n"),
    "several lines": (
        SeveralProblemsError([InputError("one"), UsageError("two")]), 2,
        "recassay: 2 problems; nothing was run or written\nrecassay: one\nrecassay: two\n",
    ),
    "memory": (MemoryError(), 2,
               "recassay: there is not enough memory for this; ask for less (fewer draws, a smaller table)\n"),
    "depth": (RecursionError(), 2, "recassay: the input is nested too deeply; give a flatter file\n"),
    "no file": (FileNotFoundError(2, "No such file", "a.csv"), 2, "recassay: a.csv: "),
    "disk": (ValueError("polars: No space left on device (os error 28)"), 2, "recassay: the disk is full"),
    "exit": (SystemExit(4), 4, ""),
    "exit on a closed pipe": (on_a_pipe(SystemExit(1)), 0, ""),
    "a disk that is full elsewhere": (OSError(28, "No space left on device"), 2, "recassay: the disk is full"),
    "a pipe": (BrokenPipeError(), 0, ""),
}  # fmt: skip


@pytest.mark.parametrize("case", ENDS)
def test_how_a_command_ends(cli, monkeypatch, case):
    end, code, words = ENDS[case]

    def run(arguments, **options):
        assert options == {"prog_name": "recassay", "standalone_mode": False}
        if isinstance(end, BaseException):
            raise end
        return end

    monkeypatch.setattr(main.PROGRAM, "main", run)
    monkeypatch.setattr(main, "_without_output", lambda: None)
    ran = cli("rank", "results.csv")
    assert ran.code == code
    assert ran.err == words if words.endswith("\n") or not words else ran.err.startswith(words)


def test_an_exit_after_the_output_was_given_up_is_no_failure(cli, monkeypatch):
    def run(arguments, **options):
        monkeypatch.setattr("sys.stdout", io.StringIO())  # as the parser does where nobody reads
        raise SystemExit(1)

    monkeypatch.setattr(main.PROGRAM, "main", run)
    assert cli("rank", "results.csv").code == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full")
def test_an_answer_that_cannot_be_written_is_told_so(cli, monkeypatch):
    with open("/dev/full", "w") as full, monkeypatch.context() as patch:
        patch.setattr("sys.stdout", full)
        ran = cli("--version")
    said = "the answer cannot be written (the disk is full); send it elsewhere; files and studies are whole"
    assert (ran.code, ran.err) == (2, f"recassay: standard output: {said}\n")


@pytest.mark.parametrize("handler", [signal.SIG_DFL, signal.SIG_IGN])
def test_ctrl_c_is_one_line_from_the_first_moment_unless_it_is_ignored(monkeypatch, capsys, handler):
    heard = []

    def interrupted():
        heard.append(signal.getsignal(signal.SIGINT))
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "main", interrupted)
    before = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(SystemExit) as ended:
            start.main()
    finally:
        signal.signal(signal.SIGINT, before)
    assert (ended.value.code, capsys.readouterr().err) == (130, "recassay: interrupted\n")
    assert heard == [signal.default_int_handler if handler is signal.SIG_DFL else signal.SIG_IGN]


def test_a_file_that_is_missing_is_named_wherever_it_was_missed(cli, monkeypatch):
    def run(arguments, **options):
        raise FileNotFoundError(2, "No such file", "a.csv")

    monkeypatch.setattr(main.PROGRAM, "main", run)
    monkeypatch.setattr(main, "_was_printing", lambda error: True)
    assert cli("rank").err.startswith("recassay: a.csv: ")


def test_streams_that_are_closed_or_know_few_letters_are_made_ready(monkeypatch):
    few = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdin", None)
    monkeypatch.setattr("sys.stdout", few)
    monkeypatch.setattr("sys.stderr", None)
    monkeypatch.setattr(main, "hold_descriptors", lambda: None)
    main._ready_streams()
    with sys.stdin as nothing, sys.stderr as nowhere:
        assert (nothing.read(), nowhere.write("x")) == ("", 1)
    few.write("é")
    few.flush()
    assert few.buffer.getvalue() == b"\\xe9"


def test_a_fault_of_ours_keeps_its_traceback(cli, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(main.PROGRAM, "main", lambda *_, **__: {}["missing"])
    ran = cli("rank")
    (kept,) = tmp_path.iterdir()
    said = f"recassay: this is a fault of RecAssay: KeyError: 'missing'; please report it; the traceback is in {kept}\n"
    assert (ran.code, ran.err) == (1, said)
    assert kept.name.startswith("recassay-fault-")
    assert "KeyError: 'missing'" in kept.read_text()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    assert "please report it; it happened at " in cli("rank").err


def test_without_words_there_is_help(cli):
    assert cli().out == cli("--help").out != ""


def test_the_command_line_is_that_of_the_process(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["recassay", "--version"])
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert not ended.value.code
    assert capsys.readouterr().out == f"recassay {recassay.__version__}\n"


@pytest.mark.slow
def test_list_and_doctor(cli):
    labels = cli("list", "labels", "--json").json()["labels"]
    assert {"name": "rmse", "better": "lower"}.items() <= next(r for r in labels if r["name"] == "rmse").items()
    metrics = {row["name"]: row for row in cli("list", "metrics", "--json").json()["metrics"]}
    assert len(metrics) == 24
    assert all(row["formula"] and row["convention"] for row in metrics.values())
    assert "min(k" in metrics["precision"]["variants"]
    assert "formula" in cli("list", "metrics").out
    assert "movielens" in cli("list", "datasets").out.lower()
    assert "Which algorithm is best" in cli("list", "analyses").out
    found = cli("doctor", "--json").json()
    assert found["problems"] == []
    assert "polars" in found["dependencies"]
    assert cli("doctor").code == 0


def test_search_spaces_are_seen_before_a_run(cli):
    listed = cli("list", "algorithms", "--spaces", "--json").json()["algorithms"]
    rows = {(row["name"], row["parameter"]): row for row in listed}
    assert {name for name, _ in rows} == set(registry.algorithms.names())
    assert {"low": 10.0, "high": 1000.0, "log": True, "default": 100.0}.items() <= rows["EASE", "reg"].items()
    assert rows["ItemKNN", "similarity"]["options"] == ["cosine", "jaccard"]
    assert rows["Random", ""]["values"] == "nothing to tune"
    shown = cli("list", "algorithms", "--spaces").out
    assert shown.splitlines()[1].split() == ["name", "parameter", "values", "default"]
    assert "10 to 1000, log scale" in shown
    assert "32 to 256 in steps of 32" in shown
    assert "cosine or jaccard" in shown
    wrong = cli("list", "metrics", "--spaces")
    assert wrong.code == 2
    assert "metrics have no search space" in wrong.err


def test_version_and_help(cli):
    assert cli("--version").out.strip() == f"recassay {recassay.__version__}"
    shown = cli("--help").out
    assert all(name in shown for name in ("analyze", "rank", "compare", "list", "demo", "run"))


@pytest.mark.slow
def test_demo_in_small(tmp_path, capsys):
    """The demo's own function on a part of its datasets and algorithms; the whole runs from the README."""
    out = tmp_path / "demo"
    report = recassay.demo(
        out, datasets=("dense-small", "few-items"), algorithms=("Random", "MostPop", "EASE"), trials=1
    )
    assert report.verdict[0].startswith("Too little data: 2 datasets cannot show which algorithm is better")
    assert (out / "figures" / "critical_difference.pdf").stat().st_size > 5_000
    assert report.files[0] == out / "report.html"
    assert "Study “demo”" in report.files[0].read_text()
    assert recassay.status(out / "study").done == 6


def test_importing_and_help_load_nothing_heavy():
    """`recassay --help` must not import what only the work needs."""
    code = (
        "import sys, recassay.cli.main\n"
        "heavy = {'numpy', 'polars', 'scipy', 'altair', 'pydantic', 'pandas', 'torch'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.slow
def test_ranking_a_small_table_loads_no_compiler():
    code = (
        "import sys; from recassay.cli.main import main\n"
        "try: main(['rank', 'published:kdd24'])\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "heavy = {'numba', 'pydantic', 'narwhals', 'scipy.optimize', 'scipy.sparse', 'altair'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_an_installation_with_problems_fails(cli, monkeypatch):
    health = {"recassay": "1", "memory_gb": 2.5, "dependencies": {"polars": "1.2"}, "gpu": None,
              "extras": {"neural": True, "dask": False}, "problems": []}  # fmt: skip
    monkeypatch.setattr("recassay.api.installation.doctor", lambda: health)
    sound = cli("doctor")
    lines = [" ".join(line.split()) for line in sound.out.splitlines()]
    assert sound.code == 0
    assert {"memory_gb 2.5", "polars 1.2", "neural yes", "dask no", "no problems found"} <= set(lines)
    assert not any(line.startswith(("dependencies", "extras", "problems")) for line in lines), "they have tables"
    health["problems"] = ["EASE cannot be loaded"]
    broken = cli("doctor")
    assert broken.code == cli("doctor", "--json").code == 1
    assert "EASE cannot be loaded" in broken.out
    assert "no problems found" not in broken.out


def test_a_dependency_that_cannot_be_loaded_here_is_a_problem(monkeypatch):
    real, load = importlib.metadata.version, importlib.import_module

    def version(name):
        if name == "vl-convert-python":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    def import_module(name, package=None):
        if name == "polars":
            raise ImportError("illegal instruction")
        return load(name, package)

    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setattr(importlib, "import_module", import_module)
    found = recassay.doctor()
    assert found["dependencies"]["vl-convert-python"] == "missing"
    gone, broken = (next(line for line in found["problems"] if line.startswith(name)) for name in ("vl-", "polars"))
    assert "this platform has no wheel" in gone
    assert "illegal instruction" in broken
    assert found["machine"] == platform.machine()
    assert found["blas"]


def test_a_kind_of_which_nothing_is_installed_is_told(cli, monkeypatch):
    listed = []
    monkeypatch.setattr("recassay.api.installation.list_available", lambda kind: listed)
    assert cli("list", "executors").out == "no executors are installed\n"
    assert cli("list", "executors", "--json").json() == {"executors": []}
    listed += [{"name": "dask", "what": "a cluster"}, {"name": "mine", "from": "a plugin"}]
    shown = [" ".join(line.split()) for line in cli("list", "executors").out.splitlines()]
    assert {"name what from", "dask a cluster", "mine a plugin"} <= set(shown)


@pytest.mark.parametrize(("broken", "code"), [((), 0), (("a rule",), 1)])
def test_an_algorithm_that_breaks_a_rule_fails(cli, monkeypatch, broken, code):
    asked = {}
    answer = {"verdict": lambda: ["Checked."], "to_dict": lambda: {"ready": not broken}}
    result = SimpleNamespace(broken=broken, printed="hello", **answer)
    monkeypatch.setattr("recassay.api.study.check.check", lambda algorithm, **more: asked.update(more) or result)
    ran = cli("check", "EASE", "--all")
    assert (ran.code, ran.out, asked) == (code, "Checked.\n", {"every": True})
    assert ran.err == "It printed:\nhello\n"
    assert cli("check", "EASE", "--json").json() == {"ready": not broken}


def test_what_is_available_says_where_it_is_from():
    kinds = {kind: recassay.list_available(kind) for kind in ("analyses", "sections", "executors", "algorithms")}
    ours = f"recassay {recassay.__version__}"
    assert {row["name"]: row["from"] for row in kinds["analyses"]}["rank"] == ours
    rank = {row["name"]: row for row in kinds["analyses"]}["rank"]
    assert rank["what"].endswith("?")
    assert {row["name"] for row in kinds["sections"]} >= {"rank", "compare"}
    assert all(row["what"] for rows in kinds.values() for row in rows)
    labels = {row["name"]: row for row in recassay.list_available("labels")}
    assert (labels["ndcg"]["better"], labels["rmse"]["better"]) == ("higher", "lower")
    metrics = {row["name"]: row["better"] for row in recassay.list_available("metrics")}
    assert (metrics["ndcg"], metrics["popularity"]) == ("higher", "lower")
    empty = {kind for kind in AVAILABLE if not recassay.list_available(kind)}
    assert empty <= {"executors"}, "those are a plugin's alone"


def report(**more):
    table = recassay.load_results(synthetic_results(6))
    skipped = {"a": "too few", "b": "too few", "c": "no users"}
    cautions = ["Low power: six datasets.", "Verdict: It is open."]
    return AnalysisReport("ndcg@10", table, {}, skipped, ["Nobody wins.", "It is open."], cautions, **more)


def test_a_report_is_told_whole(capsys, tmp_path):
    show_report(report(), False, None, everything=True)
    assert capsys.readouterr().out.splitlines() == [
        "Nobody wins.", "It is open.", "Before you believe it: Low power: six datasets.",
        "Not done: a, b: too few.", "Not done: c: no users.", "",
        "With --out DIR the report (one HTML page), the tables and the figures are saved.",
    ]  # fmt: skip
    show_report(report(files=[tmp_path / "report.html"]), False, tmp_path, everything=True)
    said = capsys.readouterr()
    whole = " ".join(said.out.split())  # a long path wraps the line
    assert whole.endswith(f"Open {tmp_path / 'report.html'} first; figures and tables lie beside it.")
    assert said.err == f"wrote 1 files to {tmp_path}\n"
    show_report(report(), True, None, everything=False)
    assert json.loads(capsys.readouterr().out)["sentences"] == ["Nobody wins.", "It is open."]


def test_a_report_is_told_in_brief_and_says_where_the_rest_is(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("recassay.cli.analyze.report_brief", lambda made: Brief("A wins."))
    show_report(report(), False, None, everything=False)
    assert capsys.readouterr().out.splitlines() == ["A wins.", "", "Everything: --all, or --out DIR for the report"]
    show_report(report(), False, Path("out"), everything=False)
    assert capsys.readouterr().out.splitlines()[-1] == "Everything: out/report.html"
    show_report(report(), False, None, everything=True)
    assert capsys.readouterr().out.startswith("Nobody wins.\n")


def test_the_demo_says_where_its_report_is(cli, monkeypatch):
    monkeypatch.setattr("recassay.api.demo.demo", lambda **asked: report(files=[Path("there/report.html")]))
    ran = cli("demo")
    assert ran.out.splitlines()[-1] == "Open there/report.html first; figures and tables lie beside it."
    assert ran.err == "wrote 1 files to there\n"


def test_the_first_caution_of_a_report_is_its_own_or_what_failed(monkeypatch):
    brief = Brief("A wins.", caution=None)
    monkeypatch.setattr("recassay.api.publish.content.tell", lambda result, table: SimpleNamespace(brief=result))
    monkeypatch.setattr(
        "recassay.api.publish.content.judgement", lambda analyses: analyses.get("compare") or analyses.get("rank")
    )
    monkeypatch.setattr("recassay.api.publish.content.verdict_brief", lambda verdict, words: verdict)
    ranked = replace(report(), analyses={"users": Brief("U"), "rank": Brief("R"), "compare": Brief("C")})
    ranked.analyses["rank"] = brief
    assert report_brief(ranked).headline == "A wins.", "the verdict, as rank tells it"
    assert report_brief(replace(report(), analyses={"users": Brief("U")})).headline == "U"
    assert report_brief(ranked).caution == "Low power: six datasets."
    assert report_brief(replace(ranked, cautions=[])).caution is None
    failed = replace(ranked, cautions=[], skipped={"model": "it failed with KeyError", "c": "no users"})
    assert report_brief(failed).caution == "model failed: it failed with KeyError"
    assert report_brief(replace(failed, cautions=["Leakage: one."])).caution == "Leakage: one.", "before what failed"
    own = replace(ranked, analyses={"rank": Brief("R", caution="few")})
    assert (report_brief(own).headline, report_brief(own).caution) == ("R", "few")
    assert report_brief(report()) is None


def test_the_document_names_its_files_notes_and_reading():
    table = recassay.load_results(synthetic_results(6))
    made = document("rank", {"value": np.float64(0.5), "none": None}, table)
    assert list(made)[:3] == ["recassay", "command", "input"]
    assert (made["recassay"], made["command"], made["value"]) == (recassay.__version__, "rank", 0.5)
    assert made["reading"] == table.reading
    sourced = SimpleNamespace(sources=(Source("a.csv", "abc"),), notes=("One note.",))
    assert document("x", {}, sourced) == {
        "recassay": recassay.__version__, "command": "x", "input": [{"file": "a.csv", "sha256": "abc"}],
        "notes": ["One note."],
    }  # fmt: skip
