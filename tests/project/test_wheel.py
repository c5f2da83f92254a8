"""The wheel in an environment of its own: what a user gets from an index, without the files of the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from support.places import ROOT


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> Path:
    """The interpreter of an environment with the wheel; what RecAssay needs comes from the one that tests run in."""
    folder = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    python = next((folder / "venv").glob("[bS]*/python*"))
    asked = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(packages)
    # A path in a .pth file comes after the environment's own packages, and .pth files behind it are not read.
    paths = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (packages / "needed.pth").write_text("\n".join([*paths, sysconfig.get_path("purelib")]) + "\n")
    return python


def run(python: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(python), "-m", "recassay", *arguments], cwd=folder, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.skipif("PYTHONPATH" in os.environ, reason="PYTHONPATH comes before the environment's own packages")
def test_the_wheel_holds_all_that_commands_need(environment, tmp_path):
    where = [str(environment), "-c", "import recassay; print(recassay.__file__)"]
    place = subprocess.run(where, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert str(ROOT) not in place
    assert run(environment, tmp_path, "doctor").returncode == 0
    written = run(environment, tmp_path, "import", "published:kdd24", "--out", "table.csv")
    assert written.returncode == 0, written.stderr
    assert "EASE," in (tmp_path / "table.csv").read_text()


def test_the_demo_runs_from_the_wheel(environment, tmp_path):
    ended = run(environment, tmp_path, "demo")
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "recassay-demo" / "report.html").stat().st_size > 100_000
