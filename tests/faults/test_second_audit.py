"""What the second audit of faults found: each is one line, or an answer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import recassay
from recassay.analysis.inference.friedman import friedman
from recassay.core.registry import sections
from recassay.core.ties import ranks
from recassay.reporting.section import Section
from support.shared import only_analyses

LONG = "algorithm,dataset,metric,value\n"


@pytest.fixture
def table(tmp_path):
    """A table of three algorithms on five datasets."""
    rows = [f"{a},d{d},ndcg@10,{0.1 * n + 0.01 * d * (n % 2):g}" for n, a in enumerate("ABC", 1) for d in range(5)]
    (tmp_path / "good.csv").write_text(LONG + "\n".join(rows) + "\n")
    return tmp_path / "good.csv"


def refused(ran, words):
    assert ran.code == 2, ran.err
    assert words in ran.err
    assert "Traceback" not in ran.err
    assert "fault of RecAssay" not in ran.err


@pytest.mark.filterwarnings("ignore")
def test_values_below_the_smallest_normal_number_are_reported(tmp_path, cli):
    rows = [f"{a},d{d},ndcg@10,{1e-320 * n * (d + 1):g}" for n, a in enumerate("ABC", 1) for d in range(5)]
    (tmp_path / "tiny.csv").write_text(LONG + "\n".join(rows))
    ran = cli("analyze", tmp_path / "tiny.csv", "--out", tmp_path / "report.html")
    assert ran.code == 0, ran.err
    assert (tmp_path / "report.html").stat().st_size > 100_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r'[{"algorithm": "\ud800", "dataset": "d", "metric": "m", "value": 1}]', "half of a character (U+D800)"),
        ('[{"algorithm": "a", "algorithm": "b", "dataset": "d", "metric": "m", "value": 1}]', "'algorithm' twice"),
    ],
)
def test_json_that_would_lose_something_is_refused(tmp_path, cli, text, words):
    (tmp_path / "a.json").write_text(text)
    ran = cli("rank", tmp_path / "a.json")
    refused(ran, words)
    assert ran.out == ""


@pytest.mark.parametrize("span", ["²", "9" * 5000, "-1", "0", " ", "0x10"])
def test_a_cell_of_html_spans_what_can_be_said(tmp_path, span):
    rows = "".join(f"<tr><td>{a}<td>ndcg@10<td>x<td>0.{n}</tr>" for n, a in enumerate("AB", 1))
    head = f"<tr><th>algorithm<th>metric<th>dataset<th colspan='{span}'>value</tr>"
    (tmp_path / "a.html").write_text(f"<table>{head}{rows}</table>")
    try:
        assert recassay.load_results(tmp_path / "a.html").frame.height == 2
    except recassay.RecAssayError:
        assert span.startswith("9")


def test_a_budget_beyond_all_machines_is_refused(tmp_path, cli):
    study = '[study]\nname = "x"\ndatasets = ["synthetic:few-items"]\nalgorithms = ["MostPop"]\n'
    (tmp_path / "s.toml").write_text(f"{study}[budget]\nmemory_gb = 1e300\n")
    refused(cli("run", tmp_path / "s.toml", "--out", tmp_path / "out"), "budget.memory_gb")
    assert not (tmp_path / "out").exists()


def test_the_order_of_a_section_is_a_number():
    with pytest.raises(ValueError, match="the order 'first', which is not a whole number"):
        Section(of=int, title="Mine", part="leaderboard", page="report", order="first")  # type: ignore[arg-type]


def test_a_section_that_ends_the_program_is_told_and_the_answer_given(table, cli, monkeypatch):
    from recassay.analysis.rank.result import RankResult

    monkeypatch.setattr(sections, "_added", {})
    sections.add(
        "mine", Section(of=RankResult, title="Mine", part="leaderboard", page="report", sentences=lambda _: exit(0))
    )
    ran = cli("rank", table)
    assert ran.code == 0
    assert "C" in ran.out
    assert "'Mine' failed with SystemExit" in " ".join((ran.out + ran.err).split())


@pytest.mark.skipif(sys.platform == "win32", reason="names of POSIX")
def test_a_path_that_is_not_utf_8_is_read_and_written(table, tmp_path, cli, monkeypatch):
    only_analyses(monkeypatch, "rank", "compare")
    odd = tmp_path / os.fsdecode(b"odd\xff.csv")
    try:
        odd.write_bytes(table.read_bytes())
    except OSError:
        pytest.skip("this file system wants UTF-8")
    assert cli("rank", odd, "--json").code == 0
    assert cli("analyze", odd, "--out", tmp_path / os.fsdecode(b"r\xff.html")).code == 0
    refused(cli("rank", tmp_path / os.fsdecode(b"none\xff.csv")), "no such file")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("delay", [0.3, 0.5, 0.8])
def test_ctrl_c_while_it_starts_is_one_line(table, delay):
    """Earlier than that Python itself starts, which prints a traceback of its own."""
    command = "import sys; from recassay.cli.start import main; print(flush=True); sys.argv[1:] = ['rank', sys.argv[1]]"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{command}; main()", str(table)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(delay / 3)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert "Traceback" not in told
    assert process.returncode in (0, 130)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_while_the_package_is_loaded_ends_it_without_a_traceback(tmp_path):
    (tmp_path / "lazy_loader.py").write_text("import os, signal; os.kill(os.getpid(), signal.SIGINT)")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    ran = subprocess.run(
        [sys.executable, "-m", "recassay", "--help"], env={**os.environ, "PYTHONPATH": path}, capture_output=True
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (-signal.SIGINT, b"", b"")


def test_importing_the_package_leaves_signals_alone():
    asked = "import signal; before = signal.getsignal(2); import recassay; print(signal.getsignal(2) is before)"
    assert subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True).stdout.strip() == "True"


def test_a_page_of_the_documentation_is_a_file(tmp_path, cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(cli("reproduce", "textbooks", "--markdown", "."), "is a folder, not a file")
    assert list(tmp_path.iterdir()) == []


def test_the_test_of_friedman_takes_many_algorithms():
    """180! arrangements are beyond the largest floating-point number."""
    values = np.random.default_rng(0).random((180, 12)) + np.linspace(0, 0.3, 180)[:, None]
    assert 0 < friedman(ranks(values, higher_is_better=True, axis=0)).p < 0.05


def test_a_written_table_holds_names_as_they_are(tmp_path, cli):
    names = ["=1+1", "+A", "-A", "@A"]
    rows = [f"{name},d{d},ndcg@10,0.{d + 1}" for name in names for d in range(2)]
    (tmp_path / "a.csv").write_text(LONG + "\n".join(rows) + "\n")
    assert cli("import", tmp_path / "a.csv", "--out", tmp_path / "b.csv").code == 0
    assert recassay.load_results(tmp_path / "b.csv").algorithms == sorted(names)
    assert {line.partition(",")[0] for line in (tmp_path / "b.csv").read_text().splitlines()[1:]} == set(names)
