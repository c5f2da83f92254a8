"""The study of one algorithm on the datasets of a shipped benchmark: the same splits, tuning, seeds and metrics."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from recassay.core.errors import RecAssayError, UsageError
from recassay.core.names import did_you_mean
from recassay.core.specs.specs import ProtocolSpec, ReadSpec
from recassay.core.specs.study import Budget, DatasetSpec, StudySpec, TuningSpec
from recassay.core.system.files import write_whole
from recassay.core.system.plugin_file import typed_reference
from recassay.data.catalog.entries import all_datasets
from recassay.data.library import list_datasets
from recassay.data.parts import SUFFIXES
from recassay.data.published.benchmark import Benchmark, BenchmarkDataset, rounded
from recassay.data.sources import SYNTHETIC
from recassay.recommenders.plan import SplitSpec, dataset_protocol, plan
from recassay.recommenders.preflight import checked_plan
from recassay.recommenders.seal import FILE, digest, make_seal, read_seal
from recassay.recommenders.splits import prepare_split
from recassay.recommenders.study_file import SECTIONS, study_of
from recassay.runner.file_tables import read_tables
from recassay.runner.references import dataset_version
from recassay.store.records import CellRecord
from recassay.store.store import Store

NOT_FOUND = "not found here"
Place: TypeAlias = Literal["embedded", "folder", "stored", "download"]
"""Where a dataset comes from: it is made by chance, lies in the folder of the call, is stored, or is downloaded."""


def one_algorithm_study(benchmark: Benchmark, algorithm: str, seeds: int) -> StudySpec:
    """The study that the benchmark's rules make of an algorithm: a name, `./file.py:Class`, or a TOML file with one."""
    settings: Mapping[str, Any] = {}
    base, named = Path(), [typed_reference(algorithm)]
    if algorithm.endswith(".toml"):
        tables, _ = read_tables(Path(algorithm), SECTIONS)
        named, settings = list(tables.get("study", {}).get("algorithms", [])), tables.get("algorithm", {})
        base = Path(algorithm).resolve().parent
        if len(named) != 1:
            raise UsageError(
                f"names {len(named)} algorithms", where=algorithm, fix='name one: [study] algorithms = ["./my.py:My"]'
            )
    if ":" in named[0] and "/" not in named[0] and "\\" not in named[0]:
        named = [f"./{named[0]}"]
    study = {"datasets": ["synthetic:dense-small"], "algorithms": named}
    spec = study_of({"study": study, "algorithm": settings}, base=base)
    checked_plan(spec, base / f"bench-{spec.algorithms[0].name}")  # before datasets are looked for
    return spec.model_copy(
        update={
            "name": f"bench-{spec.algorithms[0].name}",
            "seeds": benchmark.seeds[:seeds],
            "datasets": (),
            "metrics": benchmark.metrics,
            "tuning": TuningSpec.model_validate(benchmark.tuning),
            "budget": Budget.model_validate(benchmark.budget),
        }
    )


def chosen_datasets(benchmark: Benchmark, names: Sequence[str] | None) -> list[BenchmarkDataset]:
    """The datasets that were asked for, all by default."""
    for name in names or ():
        if name not in benchmark.datasets:
            raise UsageError(f"the benchmark has no dataset {name!r}", fix=did_you_mean(name, list(benchmark.datasets)))
    return [benchmark.datasets[name] for name in names or benchmark.datasets]


@dataclass(frozen=True, slots=True)
class Located:
    """A dataset of a benchmark, and where it will be taken from."""

    dataset: BenchmarkDataset
    kind: Place
    reference: str
    """What the study names."""


def locate(
    wanted: Sequence[BenchmarkDataset], data: Path | None, *, fetch: bool
) -> tuple[list[Located], dict[str, str]]:
    """Where each dataset is, and by name why others cannot be had: nothing is read or downloaded yet."""
    located: list[Located] = []
    skipped: dict[str, str] = {}
    stored = {manifest.name for manifest in list_datasets()}
    for dataset in wanted:
        names = [dataset.reference, *(f"{dataset.name}{suffix}" for suffix in SUFFIXES)]
        file = None if data is None else next((data / name for name in names if (data / name).is_file()), None)
        if dataset.reference.startswith(SYNTHETIC):
            located.append(Located(dataset, "embedded", dataset.reference))
        elif file is not None:
            located.append(Located(dataset, "folder", str(file.resolve())))
        elif dataset.name in stored:
            located.append(Located(dataset, "stored", dataset.name))
        elif fetch and any(dataset.name in entry.names and entry.addresses for entry in all_datasets()):
            located.append(Located(dataset, "download", dataset.name))
        else:
            skipped[dataset.name] = NOT_FOUND
    return located, skipped


def with_datasets(
    study: StudySpec,
    located: Sequence[Located],
    folder: Path,
    fetch: Callable[[str], object],
    told: Callable[[str], None],
) -> tuple[StudySpec, dict[str, str]]:
    """The study with those datasets whose splits are the benchmark's; and by name why others are not used.

    The splits are made in `folder`, where the study finds them again. `told` hears of each dataset before.
    """
    usable: list[DatasetSpec] = []
    skipped: dict[str, str] = {}
    for place in located:
        dataset = place.dataset
        told(dataset.name)
        try:
            if place.kind == "download":
                fetch(dataset.name)
            spec = DatasetSpec(
                reference=place.reference,
                name=dataset.name,
                read=ReadSpec.model_validate(dataset.read),
                protocol=ProtocolSpec.model_validate(dataset.protocol).model_dump(),
                folds=None if dataset.windows is None else tuple(range(len(dataset.windows))),
            )
            wrong = _other_split(study, spec, dataset, folder)
        except (RecAssayError, OSError) as error:
            wrong = f"cannot be downloaded: {error}" if place.kind == "download" else str(error)
        if wrong:
            skipped[dataset.name] = wrong
        else:
            usable.append(spec)
    return study.model_copy(update={"datasets": tuple(usable)}), skipped


def _other_split(study: StudySpec, spec: DatasetSpec, dataset: BenchmarkDataset, folder: Path) -> str:
    """What is wrong with the split of a dataset, or of one of its windows; nothing where it is the board's."""
    version = dataset_version(spec, study.base)
    for fold, expected in enumerate(dataset.windows or (dataset.split,)):
        protocol = dataset_protocol(study, spec, None if dataset.windows is None else fold)
        made = prepare_split(folder, SplitSpec(data=version, protocol=protocol), spec, study.base).fingerprint
        if made != expected:
            return f"its split {made[:8]} is not the benchmark's {expected[:8]}: other data"
    return ""


def seal_plan(study: StudySpec, folder: Path, metric: str) -> None:
    """Seal the plan of a benchmark's study before its cells run; a plan that has changed is sealed again.

    The seal says how many of its cells had results by then.
    """
    planned, target = plan(study), folder / FILE
    digest_now = digest(sorted(cell.id for cell in planned.cells))
    if target.is_file() and read_seal(target)["cells"].get("digest") == digest_now:
        return
    ids = {cell.id for cell in planned.cells}
    done = 0
    if Store.begun(folder):
        with Store.open(folder) as store:
            done = sum(status == "done" and cell in ids for cell, status in store.statuses().items())
    content = make_seal(planned, claims=(), analysis={"metric": metric, "alpha": 0.05}, done=done)
    write_whole(target, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


def windows_of(cells: Sequence[CellRecord]) -> dict[tuple[str, int], list[CellRecord]]:
    """By dataset and seed its cells: one, or one per window of time, in their order."""
    groups: dict[tuple[str, int], list[CellRecord]] = {}
    for cell in sorted(cells, key=lambda cell: cell.fold or 0):
        groups.setdefault((cell.dataset, cell.seed), []).append(cell)
    return groups


def value_of(windows: Sequence[CellRecord], metric: str) -> float | None:
    """The value of a dataset as boards have it: the mean over its windows, None where one has no value."""
    values = [cell.metrics.get(metric) for cell in windows]
    known = [value for value in values if value is not None]
    return rounded(sum(known) / len(known)) if len(known) == len(values) else None
