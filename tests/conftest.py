"""Where published numbers and real data lie, and a command line that runs in process."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from browser import chromium, opened, page, page_report, page_results, why_not  # noqa: F401

# Several test processes on few cores: more threads of BLAS only make them wait for each other.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# The same examples at every run, so that a change is judged by the change; HYPOTHESIS_PROFILE=explore looks further.
settings.register_profile("fixed", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

ROOT = Path(__file__).resolve().parent.parent


def _folder(variable: str, name: str) -> Path:
    path = Path(os.environ.get(variable) or ROOT.parent / "shared" / name)
    if not path.is_dir():
        pytest.skip(f"no {name} folder at {path} (set {variable})")
    return path


@pytest.fixture(scope="session")
def reference() -> Path:
    return _folder("RECASSAY_REFERENCE", "reference")


@pytest.fixture(scope="session")
def kdd24(reference: Path) -> Path:
    return reference / "kdd24" / "results.csv"


class Ran:
    """What a command ended with."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    def json(self) -> dict[str, Any]:
        return json.loads(self.out)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]):
    """`cli("rank", "file.csv", "--json")` -> exit code, stdout, stderr."""
    from recassay.cli.main import main

    def run(*arguments: object) -> Ran:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return Ran(int(stopped.value.code or 0), captured.out, captured.err)

    return run


def pytest_terminal_summary(terminalreporter) -> None:
    reason = why_not()
    if reason is not None:
        terminalreporter.write_line(f"The browser tests of the report were skipped: {reason}")
