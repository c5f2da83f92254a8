"""The published benchmark, and a command line that runs in process."""

from __future__ import annotations

import importlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from support.browser import chromium, opened, page, page_report, page_results, why_not  # noqa: F401
from support.in_process import in_process  # noqa: F401
from support.shared import analyzed  # noqa: F401
from support.tex import why_no_tex

# Several test processes on few cores: more threads of BLAS only make them wait for each other.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
# Reports draw and analyse in this process: what further ones do has tests of its own.
os.environ.setdefault("RECASSAY_CORES", "1")

# The same examples at every run, so that a change is judged by the change; HYPOTHESIS_PROFILE=explore looks further.
# No deadline: how long an example takes says something of the machine, not of the code.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("explore", derandomize=False, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


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


LONG = (
    "runner/test_chaos",
    "runner/test_cluster",
    "runner/test_hostile",
    "runner/test_orphans",
    "runner/test_cluster_hosts",
    "runner/test_cluster_lost",
    "recommenders/test_adaptive",
    "cli/test_adaptive",
    "cli/test_closed_streams",
    "cli/test_streams",
    "cli/test_studies",
    "classifiers/test_study",
    "reporting/test_page_numbers",
    "reporting/test_page_browser",
    "reporting/test_page_look",
    "faults/",
    "algorithms/test_neural",
    "docs/test_how_to",
    "docs/test_site",
    "testing/test_analysis_conformance",
    "api/test_serve",
)
"""Files whose tests run whole studies, clusters, browsers or many bad inputs: marked `long`, and so `slow`."""


def pytest_collection_modifyitems(items) -> None:
    for item in items:
        if any(name in item.nodeid for name in LONG):
            item.add_marker(pytest.mark.long)
            item.add_marker(pytest.mark.slow)


def pytest_terminal_summary(terminalreporter) -> None:
    reason = why_not()
    if reason is not None:
        terminalreporter.write_line(f"The browser tests of the report were skipped: {reason}")
    if why_no_tex() is not None:
        terminalreporter.write_line(f"The tests that set LaTeX were skipped: {why_no_tex()}")
