"""Study files (TOML, or YAML where it is installed), read with messages that name the key and the nearest one."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import ValidationError

from recassay.core.errors import InputError, MissingExtraError
from recassay.core.names import canonical, did_you_mean
from recassay.core.specs import ProtocolSpec, ReadSpec, Spec
from recassay.core.study import (
    DEFAULT_METRICS,
    AlgorithmSpec,
    Budget,
    DatasetSpec,
    OptionsSpec,
    RangeSpec,
    Setting,
    StudySpec,
    TuningSpec,
)
from recassay.runner.references import dataset_labels, part_labels

Made = TypeVar("Made", bound=Spec)

SECTIONS = ("study", "protocol", "tuning", "budget", "algorithm", "dataset")
STUDY_KEYS = ("name", "seed", "datasets", "algorithms", "metrics")
_DATASET_KEYS = ("read", *(name for name in ProtocolSpec.model_fields if name != "split"))


def load_study(path: str | Path) -> StudySpec:
    """The study that a file describes (the shape is in the documentation); paths in it are relative to the file.

    A mistake raises `InputError` with the file, the line where it can be found, the key's path and the nearest valid
    key.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the study file cannot be read ({_short(error)})", where=str(path), fix="check its name"
        ) from None
    tables = _parse_yaml(text, path) if path.suffix.lower() in (".yaml", ".yml") else _parse_toml(text, path)
    return _study(tables, _Place(str(path), text), base=str(path.resolve().parent), default_name=path.stem)


def study_from_arguments(
    datasets: Sequence[str],
    algorithms: Sequence[str],
    *,
    metrics: Sequence[str] = DEFAULT_METRICS,
    name: str = "study",
    seed: int | Sequence[int] = 1,
    trials: int = 40,
    tuning_metric: str = "ndcg@10",
    protocol: Mapping[str, Any] | None = None,
    seconds_per_cell: float | None = 3600.0,
    memory_gb: float | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    base: str | Path = ".",
) -> StudySpec:
    """A study without a file: the same checks, with paths relative to `base`."""
    tables = {
        "study": {
            "name": name,
            "seed": list(seed) if isinstance(seed, Sequence) else seed,
            "datasets": list(datasets),
            "algorithms": list(algorithms),
            "metrics": list(metrics),
        },
        "protocol": dict(protocol or {}),
        "tuning": {"trials": trials, "metric": tuning_metric},
        "budget": {"seconds_per_cell": seconds_per_cell, "memory_gb": memory_gb},
        "algorithm": {label: dict(table) for label, table in (settings or {}).items()},
    }
    return _study(tables, _Place("the study", ""), base=str(Path(base).resolve()), default_name=name)


class _Place:
    """Where a key stands: the file, and its line where the text shows it."""

    def __init__(self, source: str, text: str) -> None:
        self.source, self.lines = source, text.splitlines()

    def refuse(self, keys: Sequence[object], what: str, fix: str) -> NoReturn:
        line = self._line([str(key) for key in keys if isinstance(key, str)])
        where = self.source + (f", line {line}" if line else "")
        raise InputError(what, where=where, fix=fix) from None

    def _line(self, keys: list[str]) -> int | None:
        """The line of the last of `keys`, below the header of the others (TOML) or simply of that name."""
        if not keys:
            return None
        below, wanted = 0, re.compile(rf"^\s*[\"']?{re.escape(keys[-1])}[\"']?\s*[=:]")
        for number, line in enumerate(self.lines):
            section = re.match(r"^\s*\[+\s*(.*?)\s*\]+\s*(#.*)?$", line)
            if section is not None:
                named = section[1].replace('"', "").replace("'", "")
                if named == ".".join(keys):
                    return number + 1
                below = int(named == ".".join(keys[: len(named.split("."))]))
            elif wanted.match(line) and (below or len(keys) == 1 or "[" not in "".join(self.lines[:number])):
                return number + 1
        return None


def _parse_toml(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"this is not TOML: {_short(error)}", where=str(path), fix="correct the line") from None


def _parse_yaml(text: str, path: Path) -> dict[str, Any]:
    try:
        import yaml  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise MissingExtraError("pyyaml", "yaml", f"reading {path.name}") from None
    try:
        tables = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"this is not YAML: {_short(error)}", where=str(path), fix="correct the line") from None
    if not isinstance(tables, dict):
        raise InputError("this holds no sections", where=str(path), fix=f"write {', '.join(SECTIONS)}")
    return tables


def _study(tables: Mapping[str, Any], place: _Place, *, base: str, default_name: str) -> StudySpec:
    _known(tables, SECTIONS, (), place)
    for section in SECTIONS:
        if not isinstance(tables.get(section, {}), Mapping):
            place.refuse([section], f"{section} is no section", f"write it as [{section}] with keys below it")
    study = dict(tables.get("study", {}))
    _known(study, STUDY_KEYS, ("study",), place)
    algorithms = _names(study, "algorithms", place)
    datasets = _names(study, "datasets", place)
    labels = part_labels(algorithms)
    settings = _by_label(tables.get("algorithm", {}), labels, algorithms, "algorithm", place)
    data_labels = dataset_labels(datasets)
    data_tables = _by_label(tables.get("dataset", {}), data_labels, datasets, "dataset", place)
    protocol = _make(ProtocolSpec, tables.get("protocol", {}), ("protocol",), place)
    if protocol.split == "given":
        place.refuse(
            ["protocol", "split"], "a study cannot take a given split", "choose another split, or evaluate the lists"
        )
    seed = study.get("seed", 1)
    all_folds = protocol.split == "kfold" and "fold" not in tables.get("protocol", {})
    fields = {
        "name": study.get("name", default_name),
        "seeds": tuple(seed) if isinstance(seed, list) else (seed,),
        "datasets": tuple(
            _dataset(reference, label, data_tables.get(label, {}), protocol, place)
            for reference, label in zip(datasets, data_labels, strict=True)
        ),
        "algorithms": tuple(
            AlgorithmSpec(reference=reference, name=label, settings=_settings(settings.get(label, {}), label, place))
            for reference, label in zip(algorithms, labels, strict=True)
        ),
        "metrics": tuple(_names(study, "metrics", place)) if "metrics" in study else DEFAULT_METRICS,
        "protocol": protocol,
        "folds": tuple(range(protocol.folds)) if all_folds else None,
        "tuning": _make(TuningSpec, tables.get("tuning", {}), ("tuning",), place),
        "budget": _make(Budget, tables.get("budget", {}), ("budget",), place),
        "base": base,
    }
    try:
        return StudySpec.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        key = {"seeds": "seed"}.get(str(first["loc"][0]), str(first["loc"][0]))
        place.refuse(["study", key], f"study.{key} = {first['input']!r}: {_said(first)}", "correct the value")


def _names(study: Mapping[str, Any], key: str, place: _Place) -> list[str]:
    found = study.get(key)
    if not isinstance(found, list) or not found or not all(isinstance(name, str) and name for name in found):
        what = f"study.{key} is missing" if found is None else f"study.{key} is no list of names"
        place.refuse(["study", key], what, f'write {key} = ["...", "..."] with at least one name')
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        place.refuse(["study", key], f"study.{key} names {twice!r} twice", "name it once")
    return found


def _by_label(
    tables: Mapping[str, Any], labels: Sequence[str], references: Sequence[str], section: str, place: _Place
) -> dict[str, Mapping[str, Any]]:
    """The tables `[section.NAME]` under the label that NAME means: the label or the reference as it was written."""
    known = {canonical(n): label for pair in (labels, references) for n, label in zip(pair, labels, strict=True)}
    found = {}
    for name, table in tables.items():
        if canonical(name) not in known:
            place.refuse(
                [section, name], f"{section}.{name}: the study has no such {section}", did_you_mean(name, labels)
            )
        if not isinstance(table, Mapping):
            place.refuse([section, name], f"{section}.{name} is no section", f"write [{section}.{name}] and keys below")
        found[known[canonical(name)]] = table
    return found


def _dataset(
    reference: str, label: str, table: Mapping[str, Any], protocol: ProtocolSpec, place: _Place
) -> DatasetSpec:
    path = ("dataset", label)
    _known(table, _DATASET_KEYS, path, place)
    changes = {key: None if value == "none" and key != "filter" else value for key, value in table.items()}
    changes.pop("read", None)
    _make(ProtocolSpec, {**protocol.model_dump(), **changes}, path, place)
    read = _make(ReadSpec, table.get("read", {}), (*path, "read"), place)
    return DatasetSpec(reference=reference, name=label, read=read, protocol=changes)


def _settings(table: Mapping[str, Any], label: str, place: _Place) -> dict[str, Setting]:
    return {key: _setting(value, ("algorithm", label, key), place) for key, value in table.items()}


def _setting(value: Any, path: tuple[str, ...], place: _Place) -> Setting:
    if isinstance(value, list):
        return _make(OptionsSpec, {"options": value}, path, place)
    if isinstance(value, Mapping):
        if "options" in value:
            return _make(OptionsSpec, value, path, place)
        return _make(RangeSpec, value, path, place)
    if isinstance(value, (bool, int, float, str)):
        return value
    place.refuse(path, f"{'.'.join(path)} = {value!r}", "give a value, [a, b, c], or {low = 1, high = 10, log = true}")


def _known(table: Mapping[str, Any], known: Iterable[str], path: tuple[str, ...], place: _Place) -> None:
    for key in table:
        if key not in known:
            place.refuse([*path, key], f"unknown key {'.'.join([*path, str(key)])}", did_you_mean(str(key), known))


def _make(kind: type[Made], table: Any, path: tuple[str, ...], place: _Place) -> Made:
    if not isinstance(table, Mapping):
        place.refuse(path, f"{'.'.join(path)} is no section", f"write [{'.'.join(path)}] with keys below it")
    _known(table, kind.model_fields, path, place)
    try:
        return kind.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        inside = [str(part) for part in first["loc"][:1]]
        given = f" = {first['input']!r}" if inside and inside[0] in table else ""
        place.refuse([*path, *inside], f"{'.'.join([*path, *inside])}{given}: {_said(first)}", "correct the value")


def _said(error: Any) -> str:
    said = str(error["msg"]).removeprefix("Value error, ")
    return said[:1].lower() + said[1:]


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
