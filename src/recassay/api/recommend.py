"""The verb `recommend`: lists to be used, by an algorithm that is fitted on all events of a log."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from recassay.algorithms.kernels.device import visible_gpus
from recassay.api.arguments import checked, refuse_no_time
from recassay.api.inputs import InteractionsLike, PathLike
from recassay.core import columns as c
from recassay.core.choices import Advanced, Range, Seconds, Seed, Task
from recassay.core.errors import InputError, NotEnoughMemoryError, RecAssayError, UsageError
from recassay.core.repeated import merged
from recassay.core.specs.specs import ProtocolSpec, ReadSpec
from recassay.core.specs.study import AlgorithmSpec, Budget, DatasetSpec
from recassay.core.system.files import UNFINISHED, refuse_no_file, sync_file, sync_folder
from recassay.core.system.machine import usable_cores
from recassay.data.readers import read_interactions
from recassay.data.reading.roles import is_known_name
from recassay.data.sources import is_path
from recassay.data.tables.read import read_bytes, read_frame
from recassay.protocol.audit import FINDINGS
from recassay.recommenders.dispatch import missing_packages, wants_gpu
from recassay.recommenders.recommend import MADE_ELSEWHERE, REFUSED, STAGE, Settled, settled_by_study
from recassay.recommenders.split_folder import events_frame
from recassay.runner.gpus import GpuPlaces
from recassay.runner.jobs import Collected, Job
from recassay.runner.local import LocalExecutor
from recassay.runner.memory import memory_limit
from recassay.runner.references import is_part_file, part_labels

ENDINGS = (".csv", ".parquet")
_JOB = "recommend"


@dataclass(frozen=True, slots=True)
class RecommendResult:
    """What was written: the file, by which algorithm with which parameters, from what, and what it cost."""

    out: Path
    """The file of lists: one row per place, best first for each user."""
    algorithm: str
    parameters: dict[str, Any]
    """The parameters of the fit."""
    study: str | None
    """The study that the parameters come from; None: the defaults of the algorithm."""
    k: int
    """The length of the lists."""
    columns: list[str]
    """The columns of the file."""
    lists: int
    """Users with a list."""
    rows: int
    """Rows of the file."""
    short: int
    """Lists shorter than `k`: their users have had nearly everything."""
    users: int
    """Users that the algorithm was fitted on."""
    items: int
    """Items that it was fitted on."""
    events: int
    """Events that it was fitted on, several of one user and item counted once."""
    unknown: list[str]
    """Users that were asked for and are not in the log."""
    uncounted: int
    """Users without an event that counts: they have no list."""
    task: Task
    """Whether items that a user has had are left out (`new`) or not (`repeat`)."""
    seconds_fit: float
    """Seconds of the fit."""
    seconds_lists: float
    """Seconds of making and writing the lists."""
    memory: int | None
    """The most bytes that the process held."""
    told: tuple[str, ...] = ()
    """How the log was read."""
    notes: tuple[str, ...] = ()

    def to_frame(self) -> pl.DataFrame:
        """The lists, as they lie in the file."""
        return pl.read_csv(self.out) if self.out.suffix == ".csv" else pl.read_parquet(self.out)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self) | {"out": str(self.out)}


@checked
def recommend(
    source: InteractionsLike,
    algorithm: str | None = None,
    *,
    out: PathLike,
    k: Annotated[int, Range(1, 100_000)] = 10,
    users: str | Sequence[str] | None = None,
    study: PathLike | None = None,
    settings: Mapping[str, Any] | None = None,
    threshold: float | None = None,
    min_item_interactions: Annotated[int, Range(1)] = 1,
    task: Task | None = None,
    read: ReadSpec | Mapping[str, Any] | None = None,
    seconds: Seconds | None = None,
    memory_gb: Annotated[float, Range(0)] | None = None,
    progress: Callable[[str, Mapping[str, Any]], None] | None = None,
    seed: Annotated[Seed, Advanced] = 1,
) -> RecommendResult:
    """Fit an algorithm on all events of a log and write its lists, for all users or some.

    With `study`, the parameters are the best that a finished study found for the algorithm on this dataset, and the
    algorithm is by default the best of the study there. The log is then read as in the study, with its threshold and
    task; nothing is held back, and users with few events get lists, too. Items that a user has had are left out unless
    the task is `repeat`. The work is done in a process of its own that is held to time and memory as a cell of a study
    is, and the file appears whole or not at all. Its columns are called as in the log, with `rank` and `score`.

    Args:
        source: a log: a file, a stored dataset, `synthetic:PRESET`, a frame or a sparse matrix.
        algorithm: a registered name or `./file.py:Class`; by default the best of `study`.
        out: the file to write; .csv or .parquet.
        k: length of the lists.
        users: the users to recommend to, or a file of them (one per line, or a table with a column of users); by
            default all.
        study: the folder of a finished study whose best parameters are taken; by default those of the algorithm.
        settings: values of parameters, over those of the study and the defaults.
        threshold: the lowest rating that counts as positive; by default that of the study, else all count.
        min_item_interactions: items with fewer events are not recommended.
        task: whether items that a user has had are left out (`new`) or may be listed (`repeat`); by default that of the
            study, else `new`.
        read: how a file is read: a `ReadSpec` or its fields.
        seconds: time limit; by default that of the study, else an hour.
        memory_gb: memory limit; by default that of the study, else nine tenths of the machine's memory.
        progress: called with what is being done (`read`, `fit`, `lists`) and how much of it.
        seed: the same seed gives the same lists.
    """
    refuse_no_time(seconds)
    target = _target(out)
    if algorithm is None and study is None:
        raise UsageError("no algorithm was named", fix="give `algorithm`, or `study` for the best of a study")
    named = str(source) if isinstance(source, (str, Path)) else type(source).__name__
    settled = _settled(named, algorithm, study)
    problems = missing_packages([settled.algorithm])
    if problems:
        raise problems[0]

    # What the study settled, with what was said here over it.
    budget = Budget(
        seconds_per_cell=settled.budget.seconds_per_cell if seconds is None else seconds,
        memory_gb=settled.budget.memory_gb if memory_gb is None else memory_gb or None,
    )
    protocol = ProtocolSpec(
        split="given",
        final_fit="train",
        min_user_interactions=1,
        min_item_interactions=min_item_interactions,
        positive_threshold=settled.protocol.positive_threshold if threshold is None else threshold,
        task=task or settled.protocol.task,
        allow_leakage=FINDINGS,  # nothing is judged
    )
    stated = ReadSpec.of(read).model_dump(exclude_unset=True)
    dataset = settled.dataset.model_copy(
        update={"reference": named, "read": ReadSpec.checked(**(settled.dataset.read.model_dump() | stated))}
    )

    # The lists, made in a process of its own beside their place.
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=target.parent) as scratch:
        columns = None
        if not isinstance(source, (str, Path)):
            dataset, columns = _on_disk(source, dataset, Path(scratch))
        made = Path(scratch, f"lists{target.suffix.lower()}")
        memory = "nine tenths of the machine's memory are" if budget.memory_gb is None else "`memory_gb` is"
        payload = {
            "dataset": dataset.model_dump(mode="json"),
            "protocol": protocol.model_dump(mode="json"),
            "algorithm": settled.algorithm.model_dump(mode="json"),
            "parameters": settled.parameters | dict(settings or {}),
            "base": ".",
            "k": k,
            "users": None if users is None else _names(users),
            "columns": columns,
            "seed": seed,
            "target": str(made),
            "memory": memory_limit(budget),
            "memory_in_words": memory,
        }
        record = _run(payload, budget, wants_gpu(settled.algorithm), Path(scratch), progress)
        sync_file(made)
        made.replace(target)
        sync_folder(target.parent)
    return RecommendResult(
        out=target,
        algorithm=settled.algorithm.name,
        parameters=dict(record["parameters"]),
        study=None if study is None else str(study),
        k=k,
        columns=record["columns"],
        lists=record["lists"],
        rows=record["rows"],
        short=record["short"],
        users=record["users"],
        items=record["items"],
        events=record["events"],
        unknown=record["unknown"],
        uncounted=record["uncounted"],
        task=protocol.task,
        seconds_fit=record["seconds_fit"],
        seconds_lists=record["seconds_lists"],
        memory=record["memory"],
        told=tuple(record["told"]) if columns is None else (),
        notes=settled.notes,
    )


def _target(out: PathLike) -> Path:
    """The file to write, refused before the work where it cannot be."""
    target = Path(out)
    if target.suffix.lower() not in ENDINGS:
        raise UsageError("lists are written as .csv or .parquet", where=str(out), fix="give `out` one of these endings")
    refuse_no_file(target)
    return target.resolve() if target.is_symlink() else target


def _settled(source: str, algorithm: str | None, study: PathLike | None) -> Settled:
    """What a study says, or the defaults."""
    if study is not None:
        settled = settled_by_study(Path(study), source, algorithm)
    else:
        assert algorithm is not None
        spec = AlgorithmSpec(reference=algorithm, name=part_labels([algorithm], ".")[0])
        named = Path(source).name if is_path(source) else source
        settled = Settled(spec, {}, DatasetSpec(reference=source, name=named), ProtocolSpec(), Budget())
    reference = settled.algorithm.reference
    if is_part_file(reference) and ".py:" not in reference:
        fix = "name one with `algorithm`" if algorithm is None else "name an algorithm"
        raise UsageError(f"{settled.algorithm.name}: {MADE_ELSEWHERE}", fix=fix)
    return settled


def _names(users: str | Sequence[str]) -> list[str]:
    """The users that were named, or those that stand in a file."""
    if isinstance(users, str):
        path = Path(users)
        if not path.is_file():
            if is_path(users):
                raise InputError("there is no such file of users", where=users, fix="check the path")
            return [users]
        return _users_of_file(path)
    names = [str(name) for name in users]
    if not names:
        raise UsageError("no user was named", fix="name at least one, or leave `users` out for all")
    return names


def _users_of_file(path: Path) -> list[str]:
    """The users of a table with a column of them, or of a text with one per line."""
    data, _ = read_bytes(path, empty_fix="write one user per line")
    parquet = data.startswith(b"PAR1")
    lines = [] if parquet else [line.strip() for line in data.decode("utf-8-sig", errors="replace").splitlines()]
    lines = [line for line in lines if line]
    if not parquet and not any(mark in lines[0] for mark in ",;\t"):
        return lines[1:] if is_known_name(lines[0]) else lines
    frame = read_frame(data, path.name, parquet=parquet)
    column = next((name for name in frame.columns if is_known_name(name)), frame.columns[0])
    return frame.get_column(column).drop_nulls().cast(pl.String).to_list()


def _on_disk(source: Any, dataset: DatasetSpec, folder: Path) -> tuple[DatasetSpec, list[str]]:
    """What lies in memory as a file that another process reads, and what it calls users and items."""
    result = read_interactions(source, dataset.read)
    events, columns = merged(result.interactions), result.record.columns
    place = folder / "events.parquet"
    events_frame(events).write_parquet(place)
    read = ReadSpec(time=result.record.time_unit or "ignore")
    names = [columns.get(role, role) for role in (c.USER, c.ITEM)]
    return dataset.model_copy(update={"reference": str(place), "read": read}), names


class _Watcher(Collected):
    """Remembers how the job ended and what it refused, and tells what it does."""

    def __init__(self, progress: Callable[[str, Mapping[str, Any]], None] | None) -> None:
        super().__init__()
        self.progress, self.refused = progress, dict[str, Any]()

    def event(self, job: Job, event: Mapping[str, Any]) -> None:
        """Tell a stage; keep an error."""
        self.refused = dict(event.get(REFUSED, self.refused))
        if self.progress is not None and STAGE in event:
            self.progress(event[STAGE], {name: value for name, value in event.items() if name != STAGE})


def _run(
    payload: Mapping[str, Any],
    budget: Budget,
    gpu: bool,
    scratch: Path,
    progress: Callable[[str, Mapping[str, Any]], None] | None,
) -> Mapping[str, Any]:
    """What the job answers, in a process that is held to the budget; how it failed is raised."""
    watcher = _Watcher(progress)
    job = Job(
        _JOB,
        "recassay.recommenders.recommend:make_lists",
        lambda: payload,
        budget.seconds_per_cell,
        memory_limit(budget),
        gpu=gpu,
    )
    gpus = GpuPlaces(visible_gpus() if gpu else ())
    with LocalExecutor(1, scratch / "logs", threads=usable_cores(), gpus=gpus) as executor:
        executor.run([job], watcher)
    outcome, name, reference = watcher.outcomes[_JOB], payload["algorithm"]["name"], payload["algorithm"]["reference"]
    if outcome.status == "done" and outcome.record is not None:
        return outcome.record
    if watcher.refused:
        kind = InputError if watcher.refused.pop("code") == InputError.exit_code else RecAssayError
        raise kind(watcher.refused["what"], where=watcher.refused["where"], fix=watcher.refused["fix"])
    if outcome.status == "timeout":
        fix = "give more with `seconds`, or choose a faster algorithm"
        raise RecAssayError(f"it took longer than {budget.seconds_per_cell:g} seconds", where=name, fix=fix)
    if outcome.status in ("memory", "over_budget"):
        reason = outcome.reason if outcome.status == "over_budget" else _held(outcome.peak_memory, budget)
        fix = "give more with `memory_gb`, leave rare items out with `min_item_interactions`, or choose another one"
        raise NotEnoughMemoryError(str(reason), where=name, fix=fix)
    reason = str(outcome.reason).partition(" (its output is in")[0]
    raise RecAssayError(
        reason, where=name, fix=f"try it first: recassay check {reference}" if is_part_file(reference) else None
    )


def _held(peak: int | None, budget: Budget) -> str:
    limit = memory_limit(budget)
    held = "" if peak is None else f"{peak / 1e9:.3g} GB, "
    return f"it held {held}more than the {0 if limit is None else limit / 1e9:.3g} GB it may"
