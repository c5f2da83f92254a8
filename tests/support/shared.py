"""What several test files need and is dear to make: made once for all test processes of a run."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HOSTILE = "<script>alert(1)</script>"


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that `make` filled in the first test process that asked for it; others wait until it is there."""
    root = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    folder, done = root / name, root / f"{name}.done"
    with _alone(root / f"{name}.lock"):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            done.touch()
    return folder


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold a lock that ends with the process."""
    with path.open("w") as file:
        with contextlib.suppress(ImportError):
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def command(*arguments: object) -> dict[str, Any]:
    """What a command that must succeed says with --json."""
    from recassay.cli.main import main

    said = io.StringIO()
    with contextlib.redirect_stdout(said), pytest.raises(SystemExit) as stopped:
        main([str(a) for a in (*arguments, "--json")])
    assert not stopped.value.code
    return json.loads(said.getvalue())


@dataclass(frozen=True)
class Written:
    """What a command that wrote files was given, where it wrote, and its answer."""

    table: Path
    out: Path
    answer: dict[str, Any]


def written_once(factory: pytest.TempPathFactory, verb: str, table: Callable[[], Any], out: str) -> Written:
    """`recassay VERB results.csv --out OUT --json`, run once for all test processes."""

    def make(folder: Path) -> None:
        table().write_csv(folder / "results.csv")
        answer = command(verb, folder / "results.csv", "--metric", "ndcg@10", "--out", folder / out)
        (folder / "answer.json").write_text(json.dumps(answer))

    folder = made_once(factory, f"{verb}-{Path(out).name}", make)
    return Written(folder / "results.csv", folder / out, json.loads((folder / "answer.json").read_text()))


@pytest.fixture(scope="session")
def analyzed(tmp_path_factory) -> Written:
    """Every analysis of a table, with every picture and table written; one algorithm and one dataset are hostile."""

    def table():
        from recassay.testing.results import synthetic_results

        frame = synthetic_results(6)
        names = {"Weak": HOSTILE}, {"set-01": HOSTILE}
        return frame.with_columns(frame["algorithm"].replace(names[0]), frame["dataset"].replace(names[1]))

    return written_once(tmp_path_factory, "analyze", table, "all")


def only_analyses(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let `analyze` and `report` run these analyses alone: for tests of what they write, not of every analysis."""
    from recassay.core.names import canonical
    from recassay.core.registry import analyses

    announced = analyses._entries()
    monkeypatch.setattr(analyses, "_announced", {canonical(name): announced[canonical(name)] for name in names})
