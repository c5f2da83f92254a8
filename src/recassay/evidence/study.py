"""What is known of a study beyond its results table, loaded only when an analysis asks for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recassay.core.errors import NotApplicableError

if TYPE_CHECKING:
    from recassay.core.tables.characteristics import CharacteristicsTable
    from recassay.core.tables.results import Results
    from recassay.core.tables.scores import StrataEvidence
    from recassay.data.tables.join import Part
    from recassay.store.store import Store


def evidence_of(folder: Path | None) -> dict[str, Callable[[], Any]]:
    """By name, ways to load what the study in `folder` holds besides its table; nothing for a bare table.

    A study of classifiers holds answers on test instances, one of recommenders users, lists and interactions.
    """
    if folder is None:
        return {}
    from recassay.evidence.gains import gain_scores
    from recassay.evidence.instances import stored_instances
    from recassay.evidence.users import own_lists, paired_scores, user_scores
    from recassay.evidence.windows import window_means
    from recassay.store.adaptive import ADAPTIVE_FILE
    from recassay.store.store import Store

    with Store.open(folder) as store:
        if "classifiers" in store.manifest():
            return {"instances": partial(stored_instances, folder)}
    return {
        **({"adaptive": partial(adaptive_journal, folder)} if (folder / ADAPTIVE_FILE).is_file() else {}),
        "strata": lambda: partial(_strata, folder),
        "comper": partial(comper_settings, folder),
        "user_responses": lambda: partial(_user_responses, folder),
        "characteristics": partial(study_characteristics, folder),
        "user_scores": lambda: partial(user_scores, folder),
        "users": lambda: partial(paired_scores, folder),
        "gains": lambda: partial(gain_scores, folder),
        "own_lists": partial(own_lists, folder),
        "windows": lambda: partial(window_means, folder),
    }


def _strata(folder: Path, metric: str, *, seed: int) -> StrataEvidence:
    """The popularity strata of the study under one of its metrics, where that is a metric of lists."""
    from recassay.core.registry import metrics
    from recassay.core.tables.labels import split_label
    from recassay.evidence.strata import study_strata
    from recassay.evidence.strata_sets import Sweep, accuracy_metric

    if split_label(metric)[0] not in metrics:
        raise NotApplicableError(f"{metric} is not a metric of lists, so it has no popularity strata")
    return study_strata(folder, Sweep(accuracy_metric(metric), seed=seed))


def comper_settings(folder: Path) -> tuple[str | None, int | None]:
    """The metric of correctness and the cut-off that the study's `[comper]` section names; None without one."""
    from recassay.store.store import Store

    with Store.open(folder) as store:
        settings = store.manifest().get("study", {}).get("comper")
    return (settings["correctness"], settings["k"]) if settings else (None, None)


def _user_responses(folder: Path, metric: str) -> Any:
    """Hits by `metric` where it tells a hit, else by the metric that does."""
    from recassay.evidence.users import is_hit_metric, user_responses
    from recassay.store.store import Store

    with Store.open(folder) as store:
        return user_responses(store, metric if is_hit_metric(metric) else None)


def candidates(store: Store) -> Results:
    """The table of a study; of a classifier study without the artificial classifiers and the many MLPs.

    Those answer for the calibration of test instances and are not candidates; `classify` rates them all. Where fewer
    than two candidates are left, all stay.
    """
    from recassay.core import columns as c
    from recassay.core.tables.results import Results

    results = store.results()
    others = {cell.algorithm for cell in store.cells() if cell.spec.get("role", "real") != "real"}
    kept = results.frame.filter(~results.frame.get_column(c.ALGORITHM).is_in(sorted(others)))
    return Results(kept, results.sources) if others and kept.get_column(c.ALGORITHM).n_unique() > 1 else results


def study_part(folder: Path) -> Part:
    """The table of a study as a part of a larger one: each value with its version, its convention and its split."""
    import polars as pl

    from recassay.core import columns as c
    from recassay.core.errors import InputError
    from recassay.data.tables.join import Part
    from recassay.recommenders.plan import SplitSpec
    from recassay.recommenders.splits import split_record
    from recassay.store.store import Store

    with Store.open(folder) as store:
        results, manifest, cells = candidates(store), store.manifest(), store.cells()
    splits: dict[str, str] = {}
    for cell in cells:
        if "split" in cell.spec and cell.dataset not in splits and cell.fold is None:
            try:
                record = split_record(folder, SplitSpec.model_validate(cell.spec["split"]).id)
            except InputError:
                continue
            splits[cell.dataset] = f"split {record.fingerprint[:12]}"
    ways = {
        label: f"{convention['variant']}: {convention['convention']}"
        for label, convention in manifest.get("metrics", {}).items()
        if "variant" in convention
    }
    frame = results.frame.with_columns(
        pl.lit("RecAssay").alias(c.FRAMEWORK),
        pl.lit(manifest.get("versions", {}).get("recassay"), dtype=pl.String).alias(c.VERSION),
        pl.col(c.METRIC).replace_strict(ways, default=None, return_dtype=pl.String).alias(c.CONVENTION),
        pl.col(c.DATASET).replace_strict(splits, default=None, return_dtype=pl.String).alias(c.PROTOCOL),
    )
    return Part(frame, where=str(folder), source=results.sources[0] if results.sources else None)


def adaptive_journal(folder: Path) -> dict[str, Any] | None:
    """The journal, and under `seconds` what each algorithm took on each dataset in all, tuning included."""
    from recassay.store.adaptive import read_adaptive
    from recassay.store.store import Store

    journal = read_adaptive(folder)
    if journal is None:
        return None
    seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
    with Store.open(folder) as store:
        for cell in store.cells():
            seconds[cell.algorithm, cell.dataset] += cell.seconds or 0.0
    return {**journal, "seconds": [(*key, took) for key, took in seconds.items()]}


def study_characteristics(folder: str | Path) -> CharacteristicsTable:
    """The 18 characteristics of a study's datasets as its protocol left them: training, validation and test together.

    They are computed from the splits that the study keeps; of a cross-validation one fold's split serves, its parts
    being the same data.
    """
    import numpy as np

    from recassay.core.tables.characteristics import CharacteristicsTable
    from recassay.data.characteristics import describe
    from recassay.recommenders.plan import SplitSpec
    from recassay.recommenders.splits import is_prepared, load_split
    from recassay.store.store import Store

    home = Path(folder)
    with Store.open(home) as store:
        cells = [cell for cell in store.cells() if "split" in cell.spec]
    ids = [(cell.dataset, SplitSpec.model_validate(cell.spec["split"]).id) for cell in cells]
    characteristics = {}
    for name, split_id in {name: split_id for name, split_id in ids if is_prepared(home, split_id)}.items():
        split = load_split(home, split_id)
        characteristics[name] = describe(*split.refit_parts(), split.test)
    if not characteristics:
        raise NotApplicableError("the study keeps no interactions to describe", where=str(home))
    names = tuple(next(iter(characteristics.values())))
    values = np.array([[float(row[name]) for name in names] for row in characteristics.values()])
    return CharacteristicsTable(values, tuple(characteristics), names, where=str(home))
