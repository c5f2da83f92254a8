"""Verbs on studies: run or resume one, say how far it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from recassay.api.arguments import checked, refuse_no_time
from recassay.core.choices import AdaptiveTarget, Advanced, Level, Range, Seconds, Share, Workers
from recassay.core.errors import RecAssayError, UsageError
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.specs.study import DEFAULT_METRICS, Budget, StudySpec, TuningSpec
from recassay.core.system.plugin_file import typed_reference
from recassay.data.sources import is_path, open_dataset, path_of
from recassay.evidence.groups import keep_groups, named_groups
from recassay.recommenders.probes import Probing, prober
from recassay.recommenders.study import Event, StudyChooser, StudyRecord, run_study
from recassay.recommenders.study_file import WITHOUT_FILE, assemble_study
from recassay.recommenders.study_file import load_study as load
from recassay.runner.drive import settled_workers
from recassay.runner.file_tables import names_of, parse_file, refusing
from recassay.runner.references import current_code
from recassay.store.adaptive import read_adaptive
from recassay.store.records import StoreStatus
from recassay.store.sealed import manifest_left_out
from recassay.store.store import Store
from recassay.store.verification import verify_store

_TOLD_BYTES = 64 << 20
ON_UNIVERSES = "leave it out: the run settles the share of universes of each claim"


@checked
def load_study(path: str | Path) -> StudySpec:
    """The study that a TOML (or YAML) file describes.

    Args:
        path: a TOML or YAML file.
    """
    return load(path)


def is_classifier_study(path: str | Path) -> bool:
    """Whether a study file is about classifiers: it names `classifiers` or `mlps` and no `algorithms`."""
    with suppress(RecAssayError):  # what cannot be read is refused where it is loaded
        tables, _ = parse_file(Path(path))
        study = tables.get("study")
        named = {*tables, *(study if isinstance(study, dict) else ())}
        return bool(named & {"classifiers", "classifier", "mlps"}) and not named & {"algorithms", "algorithm"}
    return False


@checked
def make_study(
    datasets: Sequence[str],
    algorithms: Sequence[str],
    *,
    metrics: Sequence[str] | None = None,
    name: str = "study",
    seed: int | Sequence[int] = 1,
    trials: int = 40,
    parallel: int = 1,
    tuning_metric: str = "ndcg@10",
    protocol: ProtocolSpec | Mapping[str, Any] | None = None,
    seconds_per_cell: float | None = 3600.0,
    memory_gb: float | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    dataset_settings: Mapping[str, Mapping[str, Any]] | None = None,
    comper: Mapping[str, Any] | None = None,
    multiverse: Mapping[str, Any] | None = None,
    base: str | Path = ".",
) -> StudySpec:
    """A study without a file.

    Args:
        datasets: names of the catalogue, `synthetic:PRESET`, or files.
        algorithms: registered names, `./file.py:Class`, or files of recommendation lists.
        metrics: labels; by default nine.
        name: what the study is called.
        seed: one seed or several; each algorithm runs once per seed.
        trials: tuning trials per algorithm and dataset.
        parallel: how many of them are proposed together; above 1 each is a job of its own, on any free process.
        tuning_metric: what tuning maximises on the validation part.
        protocol: how the data are filtered and split: `ProtocolSpec(positive_threshold=4)`, or its fields.
        seconds_per_cell: time limit of a cell.
        memory_gb: memory limit of a cell.
        settings: by algorithm, fixed parameters or narrower search spaces.
        dataset_settings: by dataset, keys of its `[dataset.NAME]` section.
        comper: keys of the `[comper]` section; None for a study without the attacked fit.
        multiverse: keys of the `[multiverse]` section: alternatives that make universes; None for one universe.
        base: folder that relative paths start from.
    """
    with refusing(WITHOUT_FILE, "tuning"):
        tuning = TuningSpec(trials=trials, metric=tuning_metric, parallel=parallel)
    with refusing(WITHOUT_FILE, "budget"):
        budget = Budget(seconds_per_cell=seconds_per_cell, memory_gb=memory_gb)
    return assemble_study(
        list(datasets),
        [typed_reference(algorithm, base) for algorithm in algorithms],
        metrics=names_of(list(metrics), "metrics", WITHOUT_FILE) if metrics else DEFAULT_METRICS,
        name=name,
        seeds=seed if isinstance(seed, Sequence) else [seed],
        protocol=ProtocolSpec.of(protocol),
        tuning=tuning,
        budget=budget,
        settings=settings or {},
        dataset_settings=dataset_settings or {},
        comper=comper,
        multiverse=multiverse,
        base=str(Path(base).resolve()),
        place=WITHOUT_FILE,
    )


@checked
def told_logs(study: StudySpec) -> tuple[str, ...]:
    """Which columns of its files a study takes for what, and which rows it leaves out and why.

    A file above 64 MiB, which would take seconds to read once more, is not mentioned; nor is one that cannot be read,
    of which the run tells with all other problems.

    Args:
        study: a study of files; datasets of the catalogue and synthetic ones are known.
    """
    files = [(data, path_of(data.reference, study.base)) for data in study.datasets if is_path(data.reference)]
    small = [(data, path) for data, path in files if path.is_file() and path.stat().st_size <= _TOLD_BYTES]
    notes: list[str] = []
    for data, path in small:
        with suppress(RecAssayError):
            notes += open_dataset(path, data.read).notes()
    return tuple(notes)


@checked
def run(
    study: StudySpec | str | Path,
    folder: str | Path | None = None,
    *,
    workers: Workers | None = None,
    progress: Callable[[Event], None] | None = None,
    retry_failed: bool = False,
    dry_run: bool = False,
    cluster: Annotated[str | None, Advanced] = None,
    adaptive: bool = False,
    target: AdaptiveTarget = "first",
    confidence: Level = 0.95,
    indifference: Annotated[float, Range(0.0)] = 1.0,
    budget: Seconds | None = None,
    probes: bool = False,
    probe_users: Annotated[Share | None, Advanced] = None,
    probe_epochs: Annotated[Annotated[int, Range(1)] | None, Advanced] = None,
    prior: bool = True,
    threads: Annotated[Annotated[int, Range(1)], Advanced] = 1,
    skip_preflight: Annotated[bool, Advanced] = False,
) -> StudyRecord:
    """Run a study (a spec or its file) in `folder` (by default named after the study), or resume it there.

    Before the first cell, all that is known to stop the study is raised at once, and nothing is written.
    Every cell runs in a process of its own with the budget's limits; a cell that fails becomes a row with its reason.
    The same call after an interruption goes on; a changed study runs only what changed. An adaptive run chooses the
    cells that tell most about the ranking of the whole grid per second, and stops when the target is certified (see
    docs/adaptive.md). Of a study with a `[multiverse]` it chooses the universes and datasets that tell most about its
    claims, and stops when the share of each is known within 5 points (docs/multiverse-studies.md). Run without
    `adaptive` afterwards, the study goes on to the whole grid, and its cells count.

    Args:
        study: a study file (TOML or YAML), or a spec.
        folder: the folder of the study; by default its name.
        workers: processes at a time; by default one per core, fewer with several threads.
        progress: called with every event of the run.
        retry_failed: run failed cells again.
        dry_run: list the cells and the memory they need, and run nothing.
        cluster: address of a Dask scheduler whose workers run the cells; `folder` must be on a disk that they share.
        adaptive: run the cells that tell most per second, and stop when the target is certified.
        target: what an adaptive run is to settle: `first`, `top3`, `order` (up to `indifference`), or `rho`.
        confidence: probability with which the target must hold.
        indifference: for `order`: mean ranks that do not matter.
        budget: time limit of an adaptive run, in seconds; by default none.
        probes: let an adaptive run look at cells without tuning first, and tune where that decides.
        probe_users: probes on this share of the users, drawn at random.
        probe_epochs: probes of algorithms that are trained in epochs with so many of them.
        prior: start an adaptive run from what published tables say about the algorithms that they know; a run that was
            begun without goes on without.
        threads: threads of each process: several pay where cells are fewer than cores.
        skip_preflight: start without a look at names, timestamps, memory, packages and own algorithms.
    """
    refuse_no_time(budget)
    spec = study if isinstance(study, StudySpec) else load_study(study)
    place = Path(folder) if folder is not None else Path(spec.name)
    groups = named_groups(spec)
    if probe_users is not None and not 0 < probe_users < 1:
        raise UsageError(f"probe_users is {probe_users:g}", fix="give a share of the users between 0 and 1")
    probing = Probing(users=probe_users, epochs=probe_epochs) if probes or probe_users or probe_epochs else None
    choose: StudyChooser | None = None
    processes = settled_workers(workers, threads)
    if adaptive and spec.multiverse is not None:
        from recassay.api.study.adaptive_universes import AdaptiveUniverses

        asked = {"target": target != "first", "indifference": indifference != 1.0, "probes": probing is not None}
        for name in (name for name, given in asked.items() if given):
            raise UsageError(f"{name} does not apply to a study with a [multiverse]", fix=ON_UNIVERSES)
        choose = AdaptiveUniverses(confidence, budget, processes)
    elif adaptive:
        from recassay.analysis.adaptive.fit import Question
        from recassay.api.study.adaptive_study import AdaptiveStudy, published_prior

        question = Question(target=target, confidence=confidence, indifference=indifference)
        choose = AdaptiveStudy(question, budget, processes, evidence=published_prior if prior else None)
        if probing is not None:
            choose.probe = prober(spec, probing, workers=workers, threads=threads, cluster=cluster)
            choose.probing = probing
    record = run_study(
        spec,
        place,
        workers=workers,
        threads=threads,
        progress=progress,
        retry_failed=retry_failed,
        dry_run=dry_run,
        cluster=cluster,
        choose=choose,
        preflight=not skip_preflight,
    )
    if not dry_run:
        keep_groups(groups, place)
    return record


def adaptive_standing(folder: str | Path) -> str | None:
    """How the adaptive run in `folder` stood at its last decision, in one line; None where there was none.

    Of a study with a `[multiverse]` it says which shares are certified.

    Args:
        folder: the folder of a study.
    """
    journal = read_adaptive(folder)
    if journal is not None:
        return str(journal["said"])
    if not has_universes(folder):
        return None
    from recassay.api.study.adaptive_universes import certificate_of, standing_of

    return standing_of(certificate_of(folder))


def has_universes(folder: str | Path) -> bool:
    """Whether the study in `folder` has a `[multiverse]`."""
    with Store.open(folder) as store:
        return store.manifest().get("study", {}).get("multiverse") is not None


@checked
def status(folder: str | Path, *, verify: bool = False) -> StoreStatus:
    """How far the study in `folder` is: cells done, failed (with reasons) and to go, and what was left out and why.

    `earlier` counts the cells that an earlier version of an algorithm's code has made; the next run makes them again,
    and those that `verified` names as damaged.

    Args:
        folder: the folder of a study.
        verify: hold the rows, trials, files and splits of the done cells against their checksums.
    """
    with Store.open(folder) as store:
        earlier = store.earlier_versions(store.plan(), current_code(store.manifest()))
        verified = verify_store(store) if verify else None
        return replace(store.status(), earlier=earlier, verified=verified, left_out=manifest_left_out(store.manifest()))
