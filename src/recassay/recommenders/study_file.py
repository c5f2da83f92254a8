"""Study files (TOML, or YAML where it is installed), read with messages that name the key and the nearest one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recassay.core.errors import UsageError
from recassay.core.specs.specs import FOLDED, ProtocolSpec, ReadSpec
from recassay.core.specs.study import (
    DEFAULT_METRICS,
    AlgorithmSpec,
    Budget,
    ComPerSpec,
    DatasetSpec,
    MultiverseSpec,
    OptionsSpec,
    RangeSpec,
    Setting,
    StudySpec,
    TuningSpec,
)
from recassay.recommenders.universes import universes
from recassay.runner.file_tables import (
    Place,
    by_label,
    check_sections,
    known_keys,
    make_spec,
    names_of,
    read_tables,
    refusing,
)
from recassay.runner.references import dataset_labels, part_labels

SECTIONS = ("study", "protocol", "tuning", "budget", "comper", "multiverse", "algorithm", "dataset")
STUDY_KEYS = ("name", "seed", "datasets", "algorithms", "metrics")
WITHOUT_FILE = Place("the study", "")
_DATASET_KEYS = ("data", "read", "groups", "item_groups", *ProtocolSpec.model_fields)


def load_study(path: str | Path) -> StudySpec:
    """The study that a file describes (the shape is in the documentation); paths in it are relative to the file.

    A mistake raises `InputError` with the file, the line where it can be found, the key's path and the nearest valid
    key.
    """
    path = Path(path)
    tables, place = read_tables(path, SECTIONS)
    return _study(tables, place, base=str(path.resolve().parent), default_name=path.stem)


def study_of(tables: Mapping[str, Any], *, base: str | Path = ".") -> StudySpec:
    """The study that these sections describe: the same checks without a file, with paths relative to `base`."""
    check_sections(tables, SECTIONS, WITHOUT_FILE)
    return _study(tables, WITHOUT_FILE, base=str(Path(base).resolve()), default_name="study")


def _study(tables: Mapping[str, Any], place: Place, *, base: str, default_name: str) -> StudySpec:
    study = tables.get("study", {})
    known_keys(study, STUDY_KEYS, ("study",), place)
    seed = study.get("seed", 1)
    return assemble_study(
        study.get("datasets"),
        study.get("algorithms"),
        metrics=names_of(study["metrics"], "metrics", place) if "metrics" in study else DEFAULT_METRICS,
        name=study.get("name", default_name),
        seeds=seed if isinstance(seed, list) else [seed],
        protocol=make_spec(ProtocolSpec, tables.get("protocol", {}), ("protocol",), place),
        tuning=make_spec(TuningSpec, tables.get("tuning", {}), ("tuning",), place),
        budget=make_spec(Budget, tables.get("budget", {}), ("budget",), place),
        settings=tables.get("algorithm", {}),
        dataset_settings=tables.get("dataset", {}),
        comper=tables.get("comper"),
        multiverse=tables.get("multiverse"),
        base=base,
        place=place,
    )


def assemble_study(
    datasets: object,
    algorithms: object,
    *,
    metrics: Sequence[str],
    name: str,
    seeds: Sequence[int],
    protocol: ProtocolSpec,
    tuning: TuningSpec,
    budget: Budget,
    settings: Mapping[str, Any],
    dataset_settings: Mapping[str, Any],
    comper: Mapping[str, Any] | None,
    multiverse: Mapping[str, Any] | None,
    base: str,
    place: Place,
) -> StudySpec:
    """The study of these parts; names and sections are checked here, and refused with their keys in `place`."""
    references = names_of(algorithms, "algorithms", place)
    data = names_of(datasets, "datasets", place)
    labels, data_labels = part_labels(references, base), dataset_labels(data)
    chosen = by_label(settings, labels, references, "algorithm", place)
    data_tables = by_label(dataset_settings, data_labels, data, "dataset", place)
    all_folds = protocol.split in FOLDED and "fold" not in protocol.stated()
    axes = None if multiverse is None else _multiverse(multiverse, place)
    attacked = None if comper is None else make_spec(ComPerSpec, comper, ("comper",), place)
    chosen_data = tuple(
        _dataset(reference, label, data_tables.get(label, {}), protocol, place)
        for reference, label in zip(data, data_labels, strict=True)
    )
    chosen_algorithms = tuple(
        AlgorithmSpec(reference=reference, name=label, settings=_settings(chosen.get(label, {}), label, place))
        for reference, label in zip(references, labels, strict=True)
    )
    with refusing(place, "study"):
        made = StudySpec(
            name=name,
            seeds=tuple(seeds),
            datasets=chosen_data,
            algorithms=chosen_algorithms,
            metrics=tuple(metrics),
            protocol=protocol,
            folds=tuple(range(protocol.folds)) if all_folds else None,
            tuning=tuning,
            budget=budget,
            comper=attacked,
            multiverse=axes,
            base=base,
        )
    try:
        universes(made)
    except UsageError as error:
        key = error.what.partition(" ")[0].removeprefix("multiverse.").rstrip(":,")
        place.refuse(["multiverse", key], error.what, error.fix or "correct it")
    return made


def _multiverse(table: Mapping[str, Any], place: Place) -> MultiverseSpec:
    """The choices that vary, each a list, and the rules of `exclude`."""
    rules = table.get("exclude", [])
    if not isinstance(rules, list) or not all(isinstance(rule, Mapping) and rule for rule in rules):
        fix = 'write exclude = [{split = "random", task = "repeat"}]'
        place.refuse(["multiverse", "exclude"], "multiverse.exclude is not a list of rules", fix)
    axes = {key: values for key, values in table.items() if key != "exclude"}
    for key, values in axes.items():
        if not isinstance(values, list):
            place.refuse(
                ["multiverse", key], f"multiverse.{key} = {values!r} is not a list", f"write {key} = [..., ...]"
            )
    return MultiverseSpec(axes={key: tuple(values) for key, values in axes.items()}, exclude=tuple(rules))


def _dataset(reference: str, label: str, table: Mapping[str, Any], protocol: ProtocolSpec, place: Place) -> DatasetSpec:
    """A dataset with the keys of the protocol that it replaces.

    A given split is filtered only where the study or the dataset says so: it was made elsewhere, of data that may have
    been filtered there. A cross-validation runs all folds unless one is named.
    """
    path = ("dataset", label)
    known_keys(table, _DATASET_KEYS, path, place)
    changes = {key: None if value == "none" and key != "filter" else value for key, value in table.items()}
    changes.pop("read", None)
    groups = {key: changes.pop(key) for key in ("groups", "item_groups") if key in changes}
    for key, file in groups.items():
        if not isinstance(file, str) or not file:
            place.refuse([*path, key], f"dataset.{label}.{key} = {file!r}", "name a file")
    data = changes.pop("data", reference)
    if not isinstance(data, str) or not data:
        place.refuse(
            [*path, "data"], f"dataset.{label}.data = {data!r}", "name a stored dataset, a preset, a file or a folder"
        )
    together = protocol.stated() | changes
    if together.get("split") == "given" and "filter" not in together:
        changes["filter"] = "none"
    spec = make_spec(ProtocolSpec, protocol.stated() | changes, path, place)
    read = make_spec(ReadSpec, table.get("read", {}), (*path, "read"), place)
    folds = tuple(range(spec.folds)) if spec.split in FOLDED and "fold" not in together else None
    return DatasetSpec(reference=data, name=label, read=read, protocol=changes, folds=folds, **groups)


def _settings(table: Mapping[str, Any], label: str, place: Place) -> dict[str, Setting]:
    return {key: _setting(value, ("algorithm", label, key), place) for key, value in table.items()}


def _setting(value: Any, path: tuple[str, ...], place: Place) -> Setting:
    if isinstance(value, list):
        return make_spec(OptionsSpec, {"options": value}, path, place)
    if isinstance(value, Mapping):
        if "options" in value:
            return make_spec(OptionsSpec, value, path, place)
        return make_spec(RangeSpec, value, path, place)
    if isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    place.refuse(path, f"{'.'.join(path)} = {value!r}", "give a value, [a, b, c], or {low = 1, high = 10, log = true}")
