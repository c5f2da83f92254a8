"""The study of one algorithm on the datasets of a shipped benchmark: the same splits, tuning, seeds and metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from recassay.core.errors import RecAssayError, UsageError
from recassay.core.names import did_you_mean
from recassay.core.specs.specs import ProtocolSpec, ReadSpec
from recassay.core.specs.study import Budget, DatasetSpec, StudySpec, TuningSpec
from recassay.data.library import list_datasets
from recassay.data.parts import SUFFIXES
from recassay.data.published.benchmark import Benchmark, BenchmarkDataset
from recassay.data.sources import SYNTHETIC
from recassay.recommenders.plan import SplitSpec, dataset_protocol
from recassay.recommenders.preflight import checked_plan
from recassay.recommenders.splits import prepare_split
from recassay.recommenders.study_file import SECTIONS, study_of
from recassay.runner.file_tables import read_tables
from recassay.runner.references import dataset_version

NOT_FOUND = "not found here"


def one_algorithm_study(benchmark: Benchmark, algorithm: str, seeds: int) -> StudySpec:
    """The study that the benchmark's rules make of an algorithm: a name, `./file.py:Class`, or a TOML file with one."""
    settings: Mapping[str, Any] = {}
    base, named = Path(), [algorithm]
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
    checked_plan(spec, base / f"bench-{spec.algorithms[0].name}")  # before 21 datasets are looked for
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


def with_datasets(
    study: StudySpec,
    wanted: Sequence[BenchmarkDataset],
    folder: Path,
    data: Path | None,
    fetch: Callable[[str], object] | None,
    told: Callable[[str], None],
) -> tuple[StudySpec, dict[str, str]]:
    """The study with those datasets that could be had and whose split is the benchmark's; and why others are not used.

    The splits are made in `folder`, where the study finds them again.
    """
    usable: list[DatasetSpec] = []
    skipped: dict[str, str] = {}
    for dataset in wanted:
        told(dataset.name)
        if dataset.windows is not None:
            skipped[dataset.name] = f"it is judged in {len(dataset.windows)} windows, and bench makes one split"
            continue
        try:
            reference = _reference(dataset, data, fetch)
            spec = DatasetSpec(
                reference=reference,
                name=dataset.name,
                read=ReadSpec.model_validate(dataset.read),
                protocol=ProtocolSpec.model_validate(dataset.protocol).model_dump(),
            )
            split = SplitSpec(data=dataset_version(spec, study.base), protocol=dataset_protocol(study, spec))
            made = prepare_split(folder, split, spec, study.base).fingerprint
        except (RecAssayError, OSError) as error:
            skipped[dataset.name] = str(error)
            continue
        if made == dataset.split:
            usable.append(spec)
        else:
            skipped[dataset.name] = f"its split {made[:8]} is not the benchmark's {dataset.split[:8]}: other data"
    return study.model_copy(update={"datasets": tuple(usable)}), skipped


def _reference(dataset: BenchmarkDataset, data: Path | None, fetch: Callable[[str], object] | None) -> str:
    """Where the dataset is: a preset, a file of the user's folder, a stored dataset, or a download."""
    if dataset.reference.startswith(SYNTHETIC):
        return dataset.reference
    if data is not None:
        names = [dataset.reference, *(f"{dataset.name}{suffix}" for suffix in SUFFIXES)]
        for name in names:
            if (data / name).is_file():
                return str((data / name).resolve())
    if dataset.name in {manifest.name for manifest in list_datasets()}:
        return dataset.name
    if fetch is not None:
        try:
            fetch(dataset.name)
        except RecAssayError as error:
            raise UsageError(f"{NOT_FOUND}, nor to be downloaded: {error}") from error
        return dataset.name
    raise UsageError(NOT_FOUND)
