"""Classifier study files: the tables, classifiers and MLPs that a TOML (or YAML) file names."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from recassay.classifiers.parts import role_of
from recassay.classifiers.spec import (
    MOST_MLPS,
    ClassifierSpec,
    ClassifyStudySpec,
    HoldoutSpec,
    MlpsSpec,
    Parameter,
    TableSpec,
)
from recassay.core.errors import UsageError
from recassay.core.registry import classifiers
from recassay.core.specs.study import Budget
from recassay.data.classification.openml import SUITE, TABLE, describe_openml, is_openml, openml_id, suite_tables
from recassay.data.classification.table import SUFFIXES
from recassay.runner.file_tables import Place, by_label, known_keys, make_spec, names_of, read_tables, refusing
from recassay.runner.references import dataset_labels, distinct, is_part_file, part_labels

SECTIONS = ("study", "protocol", "mlps", "budget", "classifier", "dataset")
STUDY_KEYS = ("name", "seed", "datasets", "classifiers")

_REAL = (
    "GaussianNB BernoulliNB KNeighbors-2 KNeighbors-3 KNeighbors-5 KNeighbors-8 DecisionTree RandomForest-3 "
    "RandomForest-5 RandomForest SVM MLP"
)
REAL = tuple(_REAL.split())
"""The twelve that the paper evaluates (4.2.1), in its order."""

ARTIFICIAL = ("optimal", "pessimal", "majority", "minority", "rand1", "rand2", "rand3")
"""The seven that mark the limits."""

GROUPS = {"real": REAL, "artificial": ARTIFICIAL}
"""What a study file may write instead of their names."""


def load_classify_study(path: str | Path) -> ClassifyStudySpec:
    """The classifier study that a file describes (the shape is in the documentation); paths are relative to the file.

    Patterns (`../data/*.csv.gz`) and suites (`openml-suite:99`) are replaced by their tables here; what OpenML says of
    its tables is fetched where it is not in the cache. A mistake raises `InputError` or `UsageError` with the file, the
    line where it can be found, the key's path and the nearest valid key.
    """
    path = Path(path)
    tables, place = read_tables(path, SECTIONS)
    base = str(path.resolve().parent)
    study = tables.get("study", {})
    known_keys(study, STUDY_KEYS, ("study",), place)
    protocol = dict(tables.get("protocol", {}))
    known_keys(protocol, (*HoldoutSpec.model_fields, "target"), ("protocol",), place)
    target = protocol.pop("target", None)
    if target is not None and not isinstance(target, str):
        place.refuse(
            ["protocol", "target"], f"protocol.target = {target!r} is not a name", "name the column of the class"
        )
    mlps = make_spec(MlpsSpec, tables.get("mlps", {}), ("mlps",), place)
    datasets = tuple(_datasets(study, tables.get("dataset", {}), target, base, place))
    classifiers = (*_classifiers(study, tables.get("classifier", {}), base, place), *growing_mlps(mlps))
    holdout = make_spec(HoldoutSpec, protocol, ("protocol",), place)
    budget = make_spec(Budget, tables.get("budget", {}), ("budget",), place)
    with refusing(place, "study"):
        return ClassifyStudySpec(
            name=study.get("name", path.stem),
            seed=study.get("seed", 1),
            datasets=datasets,
            classifiers=classifiers,
            protocol=holdout,
            mlps=mlps,
            budget=budget,
            base=base,
        )


def growing_mlps(spec: MlpsSpec) -> tuple[ClassifierSpec, ...]:
    """`count` of the 120 MLPs, evenly spaced from the first to the last: mlp-1, ..., mlp-120 (one: the last)."""
    numbers = np.linspace(MOST_MLPS if spec.count == 1 else 1, MOST_MLPS, spec.count).round().astype(int).tolist()
    if spec.grow == "iterations":
        made: list[tuple[str, dict[str, Parameter]]] = [("MLP", {"max_iter": n}) for n in numbers]
    else:
        made = [("GrowingMLP", {"depth": n, "width": spec.width, "max_iter": spec.max_iter}) for n in numbers]
    return tuple(
        ClassifierSpec(reference=reference, name=f"mlp-{n}", role="mlp", settings=settings)
        for n, (reference, settings) in zip(numbers, made, strict=True)
    )


def _classifiers(study: Mapping[str, Any], tables: Mapping[str, Any], base: str, place: Place) -> list[ClassifierSpec]:
    named = names_of(study["classifiers"], "classifiers", place) if "classifiers" in study else list(GROUPS)
    references = list(dict.fromkeys(name for group in named for name in GROUPS.get(group, (group,))))
    for reference in references:
        if not is_part_file(reference):
            try:
                classifiers.get(reference)
            except UsageError as error:
                place.refuse(["study", "classifiers"], error.what, error.fix or "")
    labels = part_labels(references, base, classifiers)
    settings = by_label(tables, labels, references, "classifier", place)
    return [
        ClassifierSpec(
            reference=reference,
            name=label,
            role=role_of(reference),
            settings=_settings(settings.get(label, {}), label, place),
        )
        for reference, label in zip(references, labels, strict=True)
    ]


def _settings(table: Mapping[str, Any], label: str, place: Place) -> dict[str, Parameter]:
    settings: dict[str, Parameter] = {}
    for key, value in table.items():
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(part, (bool, int, float, str)) for part in values):
            path = ("classifier", label, key)
            place.refuse(path, f"{'.'.join(path)} = {value!r}", "give a value, or a list of values")
        settings[key] = tuple(values) if isinstance(value, list) else value
    return settings


def _datasets(
    study: Mapping[str, Any], tables: Mapping[str, Any], target: str | None, base: str, place: Place
) -> list[TableSpec]:
    by_place: dict[str, str] = {}
    for entry in names_of(study.get("datasets"), "datasets", place):
        for reference in _expanded(entry, base, place):
            by_place.setdefault(
                reference if is_openml(reference) else os.path.normpath(Path(base) / reference), reference
            )
    references = list(by_place.values())
    labels = _labels(references)
    chosen = by_label(tables, labels, references, "dataset", place)
    specs = []
    for reference, label in zip(references, labels, strict=True):
        table, path = chosen.get(label, {}), ("dataset", label)
        known_keys(table, [key for key in TableSpec.model_fields if key not in ("reference", "name")], path, place)
        whole = {"target": None if is_openml(reference) else target, **table, "reference": reference, "name": label}
        specs.append(make_spec(TableSpec, whole, path, place))
    return specs


def _expanded(reference: str, base: str, place: Place) -> Sequence[str]:
    """The tables that one entry of `study.datasets` means."""
    if reference.startswith(SUITE):
        return [f"{TABLE}{table}" for table in suite_tables(openml_id(reference))]
    if reference.startswith(TABLE):
        return [f"{TABLE}{openml_id(reference)}"]
    if not any(mark in reference for mark in "*?["):
        return [reference]
    pattern = Path(reference).expanduser()
    paths = sorted(path for path in glob.glob(str(base / pattern), recursive=True) if _is_table(path))
    if not paths:
        place.refuse(["study", "datasets"], f"no table fits the pattern {reference!r}", f"paths start from {base}")
    return paths if pattern.is_absolute() else [f"./{Path(os.path.relpath(path, base)).as_posix()}" for path in paths]


def _is_table(path: str) -> bool:
    return path.lower().removesuffix(".gz").endswith(SUFFIXES) and Path(path).is_file()


def _labels(references: Sequence[str]) -> list[str]:
    """What the results call each table: the name that OpenML gives it, or the stem of its file."""
    files = dict(zip(references, dataset_labels(references), strict=True))
    names = [
        describe_openml(openml_id(reference)).name if is_openml(reference) else files[reference]
        for reference in references
    ]
    return distinct(references, names)
