"""The verbs `add_bundle` and `build_board`: what others hand in is checked, and shown on one page."""

from __future__ import annotations

import json
import re
import secrets
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from recassay.analysis.board.result import Finding
from recassay.api.arguments import checked
from recassay.api.publish.boards import BOARDS, Submission, board_of, items_of, page_of
from recassay.core import columns as c
from recassay.core.choices import Advanced, Range, Workers
from recassay.core.errors import UsageError
from recassay.core.registry import algorithms
from recassay.core.system.files import refuse_no_folder, write_all, write_whole
from recassay.core.tabular import stated
from recassay.data.published.benchmark import Benchmark, open_benchmark
from recassay.data.published.tables import PREFIX, published
from recassay.recommenders.bench import locate, one_algorithm_study, with_datasets
from recassay.recommenders.bundle.again import hold_lists, run_again, with_settings
from recassay.recommenders.bundle.check import check_bundle
from recassay.recommenders.bundle.form import Bundle, read_bundle
from recassay.recommenders.rerun import Chances, RerunCell
from recassay.recommenders.study import Progress
from recassay.reporting.words.board import checked_lines


@dataclass(frozen=True, slots=True)
class BundleCheck:
    """What was checked of a bundle, and what came out."""

    bundle: str
    """The file."""
    algorithm: str
    benchmark: str
    """The board that it is for."""
    sha256: str
    """Of its content: what to publish, and what a board names it by."""
    seal: str
    """The checksum of its sealed plan."""
    cells: int
    """How many cells it has."""
    done: int
    """How many of them have a value."""
    late: int
    """How many had a value already when the plan was sealed."""
    held: int
    """Of how many cells the sampled lists were held against the data."""
    rerun: tuple[RerunCell, ...] = ()
    """The cells that were run again."""
    chances: Chances | None = None
    """What the reruns would catch; None where none was made."""
    draw: int | None = None
    """The number that the cells run again were drawn by."""
    why_not: str = ""
    """Why no cell was run again."""
    kept: str = ""
    """Where it was put."""

    @property
    def sound(self) -> bool:
        """Whether every cell that was run again came out as it says."""
        return all(cell.state in ("same", "within noise") for cell in self.rerun)

    def verdict(self) -> list[str]:
        """The answer in plain sentences."""
        told = {name: getattr(self, name) for name in self.__slots__}
        return checked_lines(told | {"rerun": [(cell, cell.state) for cell in self.rerun]}, sound=self.sound)

    def to_frame(self) -> pl.DataFrame:
        """One row per cell that was run again: algorithm, dataset, seed, reported, again, allowed and state."""
        return pl.DataFrame([{**asdict(cell), "state": cell.state} for cell in self.rerun])

    def to_dict(self) -> dict[str, Any]:
        """All of it, and `sound`."""
        rerun = [{**asdict(cell), "state": cell.state} for cell in self.rerun]
        return {**asdict(self), "rerun": rerun, **stated(self, "sound")}


@checked
def add_bundle(
    bundle: str | Path,
    *,
    board: str | Path | None = None,
    data: str | Path | None = None,
    algorithm: str | None = None,
    rerun: Annotated[int, Range(0)] | None = None,
    benchmark: Annotated[str | Path | None, Advanced] = None,
    draw: Annotated[int | None, Advanced] = None,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> BundleCheck:
    """Check what somebody hands in: its hashes, its seal, whether its numbers agree with each other and with the rules.

    Where the data are at hand, its sampled lists are held against them. Where the algorithm is at hand, too, cells are
    run again, as many as `verify` asks for. Nothing in a bundle is executed, and nothing is downloaded.

    Args:
        bundle: the file that `bench` wrote.
        board: put it into this folder when it is sound, with what was checked beside it.
        data: folder with files named after the datasets; others are looked for among the stored ones.
        algorithm: the algorithm itself, `my.py:MyAlgorithm`, which is executed; a registered one is found by its name.
        rerun: how many cells to run again; by default as many as catch an improved cell with a chance of 95 %.
        benchmark: the benchmark, where it is not a shipped one: its folder.
        draw: the number that the cells are drawn by; without one the system draws it.
        workers: processes for the reruns; by default one per core.
        progress: called with every event of the reruns.
    """
    if board is not None:
        refuse_no_folder(Path(board))
    if data is not None and not Path(data).is_dir():
        raise UsageError("this folder does not exist", where=str(data), fix="name the folder of the datasets' files")
    read = read_bundle(bundle)
    shipped = _benchmark_of(read, benchmark)
    specs = check_bundle(read, shipped, items_of(shipped))
    told = read.content
    done = {specs[place].dataset for place, cell in enumerate(told.cells) if cell.status == "done"}
    wanted = [dataset for name, dataset in shipped.datasets.items() if name in done]
    located, _ = locate(wanted, None if data is None else Path(data), fetch=False)
    # Of what a bundle names, only a registered algorithm is run: a path would be a file that nobody here has named.
    named = algorithm or (told.reference if (told.reference or "") in algorithms else None)
    again: tuple[RerunCell, ...] = ()
    likely: Chances | None = None
    drawn = secrets.randbelow(10**9) if draw is None else draw
    with tempfile.TemporaryDirectory(prefix="recassay-board-") as place:
        folder = Path(place)
        study = one_algorithm_study(shipped, named or "MostPop", len(shipped.seeds))
        study, _ = with_datasets(study, located, folder, lambda _: None, lambda _: None)
        held = hold_lists(read, specs, study, folder) if study.datasets else 0
        why = "" if study.datasets else "no dataset of it is at hand"
        if not why and named is None:
            why = "its algorithm is not at hand"
        if not why and rerun != 0:
            again, likely = run_again(
                read, specs, with_settings(study, read, specs[0]), folder, count=rerun, draw=drawn, workers=workers,
                progress=progress,
            )  # fmt: skip
    result = BundleCheck(
        read.file, told.algorithm, shipped.name, told.sha256, str(told.seal.get("sha256")), len(told.cells),
        sum(cell.status == "done" for cell in told.cells), int(told.seal.get("done_before") or 0), held, again, likely,
        drawn if again else None, why,
    )  # fmt: skip
    if board is None or not result.sound:
        return result
    kept = f"{re.sub(r'[^A-Za-z0-9]+', '-', told.algorithm).strip('-')}-{told.sha256[:12]}"
    record = {key: value for key, value in result.to_dict().items() if key not in ("bundle", "kept", "why_not")}
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    files = write_all(Path(board), {f"{kept}.zip": Path(bundle).read_bytes(), f"{kept}.checked.json": text.encode()})
    return replace(result, kept=str(files[0]))


def _benchmark_of(bundle: Bundle, named: str | Path | None) -> Benchmark:
    """The benchmark that a bundle is of: a shipped one, or the one that was named."""
    if named is not None:
        return open_benchmark(named)
    if bundle.content.benchmark not in published():
        raise bundle.unsound(
            f"it is of the benchmark {bundle.content.benchmark!r}, which is not shipped: name its folder"
        )
    return open_benchmark(f"{PREFIX}{bundle.content.benchmark}")


@dataclass(frozen=True, slots=True)
class BuiltBoard:
    """The page of the boards, and who is on it."""

    page: Path
    """Where it is."""
    submitted: tuple[tuple[str, str, int | None], ...]
    """By submitted algorithm: its name, the board, and its place, where it ran on every dataset."""
    findings: tuple[Finding, ...]
    """What the boards support, submitted algorithms included."""

    def verdict(self) -> list[str]:
        """The answer in plain sentences."""
        return [
            *(f"{name}: {'without a place' if place is None else f'number {place}'} on {board}."
              for name, board, place in self.submitted),
            f"Open {self.page}; it needs no network.",
        ]  # fmt: skip

    def to_frame(self) -> pl.DataFrame:
        """One row per submitted algorithm: algorithm, board and place."""
        return pl.DataFrame(self.submitted, schema=[c.ALGORITHM, "board", "place"], orient="row")

    def to_dict(self) -> dict[str, Any]:
        """`page` and `submitted`."""
        return {"page": self.page.name, "submitted": self.to_frame().to_dicts()}


@checked
def build_board(
    folder: str | Path,
    *,
    out: str | Path = "site",
    benchmarks: Annotated[Sequence[str], Advanced] = BOARDS,
) -> BuiltBoard:
    """One page of the shipped boards and of all bundles in a folder, each checked again; it works without a network.

    A submitted algorithm has a place where it ran on every dataset of a board.

    Args:
        folder: the folder of the bundles (`*.zip`), as `add_bundle` fills it.
        out: the folder for `index.html`.
        benchmarks: the boards that are shown.
    """
    if not Path(folder).is_dir():
        raise UsageError("this folder does not exist", where=str(folder), fix="name the folder of the bundles")
    refuse_no_folder(Path(out))
    files = sorted(Path(folder).glob("*.zip"))
    shipped = [open_benchmark(benchmark) for benchmark in benchmarks]
    taken: set[str] = set()
    submitted: dict[str, list[Submission]] = {one.name: [] for one in shipped}
    for file in files:
        bundle = read_bundle(file)
        home = next((one for one in shipped if one.name == bundle.content.benchmark), None)
        if home is None:
            raise bundle.unsound(f"it is of the benchmark {bundle.content.benchmark!r}, which is not on this board")
        specs = check_bundle(bundle, home, items_of(home))
        submitted[home.name].append(Submission.of(bundle, specs, home, taken))
    boards = [(one, *board_of(one, submitted[one.name])) for one in shipped]
    page, findings = page_of([(board, cards) for _, board, cards in boards])
    target = Path(out) / "index.html"
    write_whole(target, page.encode())
    places = [
        (entry.name, one.name, board.verdict().place_of(entry.name) if entry.name in board.placed else None)
        for one, board, _ in boards
        for entry in submitted[one.name]
    ]
    return BuiltBoard(target, tuple(places), tuple(findings))
