"""The published benchmark, and a command line that runs in process."""

from __future__ import annotations

import gc
import importlib
import json
import os
import shutil
import signal
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from support.browser import chromium, opened, page, page_report, page_results, why_not  # noqa: F401
from support.in_process import in_process  # noqa: F401
from support.shared import analyzed  # noqa: F401
from support.tex import why_no_tex

# Several test processes on few cores: more threads of BLAS or Polars only make them wait for each other.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(variable, "1")
# Ten thousand tests are made of many small objects, none of which goes away: looking for garbage there finds nothing.
gc.disable()
# Reports draw and analyse in this process: what further ones do has tests of its own.
os.environ.setdefault("RECASSAY_CORES", "1")
# A shell hands Ctrl-C down as ignored to what it runs in the background: tests interrupt processes of their own.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A GPU and the machine's counters of energy are there by chance: tests see neither. Those marked `gpu` see the GPU, and
# run when they are asked for: `python3 dev.py test -m gpu`. Another process reads neither, too.
GPU_ASKED = False

# The same examples at every run, so that a change is judged by the change; HYPOTHESIS_PROFILE=explore looks further.
# No deadline: how long an example takes says something of the machine, not of the code.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("explore", derandomize=False, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--rotate") and not config.option.markexpr:
        config.option.markexpr = CHOSEN
    global GPU_ASKED
    GPU_ASKED = "gpu" in str(config.option.markexpr)
    if not GPU_ASKED:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""


@pytest.fixture(autouse=True)
def no_counters(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The counters of energy of this machine are not read; a test that has its own says where they are."""
    if "energy" in request.node.nodeid or "recassay.runner.energy" in sys.modules:
        from recassay.runner import energy

        monkeypatch.setattr(energy, "POWERCAP", Path("no counters"))
        energy._domains.cache_clear()


@pytest.fixture(scope="session")
def kdd24() -> str:
    return "published:kdd24"


@pytest.fixture
def copied_package(tmp_path, monkeypatch):
    """From the name of a package of ours to a copy of its files, from which versions of code are read from then on."""

    def copy(package: str) -> Path:
        module = importlib.import_module(package)
        target = tmp_path / "copies" / package
        shutil.copytree(Path(module.__path__[0]), target, ignore=shutil.ignore_patterns("__pycache__"))
        monkeypatch.setattr(module.__spec__, "submodule_search_locations", [str(target)])
        return target

    return copy


class Ran:
    """What a command ended with."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    def json(self) -> dict[str, Any]:
        return json.loads(self.out)

    @property
    def complaints(self) -> list[str]:
        """The lines on stderr that are neither how a table was read nor notes."""
        return [line for line in self.err.splitlines() if not line.startswith(("read: ", "note: "))]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """`cli("rank", "file.csv", "--json")` -> exit code, stdout, stderr; tables are whole, as in a pipe."""
    from recassay.cli.main import main

    monkeypatch.delenv("COLUMNS", raising=False)

    def run(*arguments: object) -> Ran:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return Ran(int(stopped.value.code or 0), captured.out, captured.err)

    return run


LONG = {
    "algorithms/test_external_process": 2,
    "api/test_analysts": 2,
    "data/test_budgets.py::test_a_small_file": 6,
    "data/test_read_as_meant.py::test_as_meant": 1,
    "data/test_read_as_meant.py::test_the_two_ways": 1,
    "data/test_stream.py::test_blocks_give": 3,
    "data/test_stream.py::test_hashes_are_new": 0,
    "docs/test_board": 1,
    "store/test_damage": 4,
    "algorithms/test_neural.py::test_any_stage": 1,
    "algorithms/test_neural.py::test_learnable_tastes": 1,
    "algorithms/test_neural.py::test_promises": 1,
    "api/test_serve.py::test_clients": 1,
    "api/test_serve.py::test_many_readers": 0,
    "api/test_serve.py::test_the_page_shows": 1,
    "classifiers/test_study": 1,
    "cli/test_adaptive.py::test_a_published": 0,
    "cli/test_adaptive.py::test_run_status": 1,
    "cli/test_closed_streams": 1,
    "cli/test_streams": 1,
    "cli/test_studies.py::test_an_interrupted": 1,
    "cli/test_studies.py::test_run_status": 1,
    "docs/test_how_to": 1,
    "docs/test_site": 1,
    "faults/test_found": 4,
    "faults/test_fuzz": 3,
    "faults/test_inputs": 250,
    "project/test_wheel.py::test_the_demo": 0,
    "recommenders/test_adaptive.py::test_killed": 1,
    "recommenders/test_adaptive.py::test_probes_are": 1,
    "reporting/test_page_browser": 3,
    "reporting/test_page_look": 1,
    "reporting/test_page_numbers": 3,
    "runner/test_chaos": 1,
    "runner/test_cluster.py::test_the_numbers": 1,
    "runner/test_cluster_hosts": 0,
    "runner/test_cluster_lost": 1,
    "runner/test_hostile.py::test_each_has_its_own_message": 1,
    "runner/test_hostile.py::test_failed_cells": 1,
    "runner/test_hostile.py::test_the_others_complete": 1,
    "runner/test_orphans.py::test_after_the_driver": 1,
    "api/test_options.py::test_an_option": 40,
    "testing/test_analysis_conformance.py::test_promises": 4,
    "testing/test_conformance.py::test_promises": 80,
}
"""Tests, mostly whole files of them, that run whole studies, clusters, browsers or many bad inputs: they are marked
`long`, and so `slow`. The number says how many of them are marked `sampled` as well: CI runs these."""

SLOW_SHARE = 16
"""Of the other tests that are marked `slow`, CI runs one in so many: they are `long`, and these are `sampled`."""


GATE = "2026-11-18"
"""The draw that CI makes, the same on every day: what passed passes again. `--rotate DATE` draws others."""

CHOSEN = "not long or sampled"


def pytest_addoption(parser) -> None:
    parser.addoption("--rotate", metavar="DATE", help="the quick tests, and the long ones that this date draws")


def pytest_collection_modifyitems(config, items) -> None:
    day = config.getoption("--rotate") or GATE
    names = {item.nodeid: item for item in items}
    for name, count in LONG.items():
        family = [item for nodeid, item in names.items() if name in nodeid]
        for item in family:
            item.add_marker(pytest.mark.long)
            item.add_marker(pytest.mark.slow)
        # A hash, not a generator: every test process draws the same tests, whatever else it has collected.
        for item in sorted(family, key=lambda item: sha256(f"{day} {item.nodeid}".encode()).digest())[:count]:
            item.add_marker(pytest.mark.sampled)

    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("long"):
            item.add_marker(pytest.mark.long)
            if sha256(f"{day} {item.nodeid}".encode()).digest()[0] % SLOW_SHARE == 0:
                item.add_marker(pytest.mark.sampled)
        if item.get_closest_marker("gpu") and not GPU_ASKED:
            item.add_marker(pytest.mark.skip(reason="needs a GPU: python3 dev.py test -m gpu"))


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter) -> None:
    reason = why_not()
    if reason is not None:
        terminalreporter.write_line(f"The browser tests of the report were skipped: {reason}")
    if why_no_tex() is not None:
        terminalreporter.write_line(f"The tests that set LaTeX were skipped: {why_no_tex()}")
