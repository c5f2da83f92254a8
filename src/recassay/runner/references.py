"""What a study's names mean: datasets and algorithms, registered or in files, with the version of their content."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

from recassay.core.errors import InputError, UsageError
from recassay.core.names import canonical
from recassay.core.registry import algorithms
from recassay.core.study import AlgorithmSpec, DatasetSpec
from recassay.core.types import Interactions

SYNTHETIC = "synthetic:"
GENERATOR_VERSION = "synthetic 1"
"""Part of the version of every synthetic dataset: raise it when the same spec comes to give other data."""

_LIST_SUFFIXES = (".csv", ".tsv", ".parquet")
_DATA_SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".dat", ".data", ".inter", ".parquet", ".pq", ".gz")


def is_file(reference: str, *, suffixes: Sequence[str] = ()) -> bool:
    """Whether a reference is a path: it starts with a dot or a tilde, holds a slash, or ends like a file."""
    return reference.startswith((".", "~")) or "/" in reference or "\\" in reference or reference.endswith((*suffixes,))


def algorithm_labels(references: Sequence[str]) -> list[str]:
    """What the results call each algorithm: its registered name, or for a file its class or its stem."""
    return _distinct(references, [_algorithm_label(reference) for reference in references])


def dataset_labels(references: Sequence[str]) -> list[str]:
    """What the results call each dataset: its name, the name of its preset, or the stem of its file."""
    return _distinct(references, [_dataset_label(reference) for reference in references])


def dataset_version(spec: DatasetSpec, base: str) -> str:
    """The hash of the dataset's content: of a preset's spec, of a file's bytes and how they are read, or as stored."""
    if spec.reference.startswith(SYNTHETIC):
        from recassay.data.presets import preset_spec

        name, scale = _preset(spec.reference)
        return _digest(GENERATOR_VERSION, preset_spec(name, scale=scale).content_hash())
    if is_file(spec.reference, suffixes=_DATA_SUFFIXES):
        return _digest(_file_hash(_path(spec.reference, base), "dataset"), spec.read.content_hash())
    from recassay.data.library import read_manifest

    return read_manifest(spec.reference).sha256


def load_interactions(spec: DatasetSpec, base: str) -> Interactions:
    """The raw interactions of a dataset of the study."""
    if spec.reference.startswith(SYNTHETIC):
        from recassay.data.presets import load_preset

        name, scale = _preset(spec.reference)
        return load_preset(name, scale=scale).interactions
    if is_file(spec.reference, suffixes=_DATA_SUFFIXES):
        from recassay.data.readers import read_interactions

        return read_interactions(_path(spec.reference, base), spec.read).interactions
    from recassay.data.library import load_dataset

    return load_dataset(spec.reference)


def algorithm_version(spec: AlgorithmSpec, base: str) -> str:
    """The version of an algorithm's code: the hash of its file, or the distribution that announces it.

    The file is not executed: what it does when it is imported happens in the process of its cell.
    """
    if is_algorithm_file(spec.reference):
        return _file_hash(_path(_file_part(spec.reference), base), "algorithm")
    algorithms.get(spec.reference)
    origin = algorithms.origin(spec.reference)
    if origin == "added from Python":
        raise UsageError(
            f"the algorithm {spec.reference!r} was added from Python, and the cells run in processes of their own",
            fix="put it in a file and name it as ./file.py:Class, or announce it by an entry point",
        )
    return origin


def load_algorithm(reference: str, base: str) -> type[Any]:
    """The class of an algorithm: registered, or from a file (which is executed)."""
    if is_algorithm_file(reference):
        from recassay.algorithms.plugins import load_plugin

        return load_plugin(reference, Path(base))
    found: type[Any] = algorithms.get(reference)
    return found


def is_algorithm_file(reference: str) -> bool:
    """Whether an algorithm is a user's own file rather than a registered name."""
    return ".py:" in reference or is_file(reference, suffixes=_LIST_SUFFIXES)


def _algorithm_label(reference: str) -> str:
    if not is_algorithm_file(reference):
        return next((name for name in algorithms.names() if canonical(name) == canonical(reference)), reference)
    return reference.rpartition(":")[2] if ".py:" in reference else PurePath(reference).stem


def _dataset_label(reference: str) -> str:
    if reference.startswith(SYNTHETIC):
        return reference.removeprefix(SYNTHETIC)
    if not is_file(reference, suffixes=_DATA_SUFFIXES):
        return reference
    name = PurePath(reference).name.removesuffix(".gz")
    return PurePath(name).stem or name


def _distinct(references: Sequence[str], labels: list[str]) -> list[str]:
    """The labels, with the whole reference in place of one that several share."""
    folded = [label.casefold() for label in labels]
    return [
        reference if folded.count(label.casefold()) > 1 else label
        for reference, label in zip(references, labels, strict=True)
    ]


def _preset(reference: str) -> tuple[str, float]:
    name, at, scale = reference.removeprefix(SYNTHETIC).partition("@")
    try:
        return name, float(scale) if at else 1.0
    except ValueError:
        raise UsageError(
            f"{scale!r} in {reference!r} is no scale", fix="write synthetic:NAME or synthetic:NAME@4"
        ) from None


def _file_part(reference: str) -> str:
    return reference.rpartition(":")[0] if ".py:" in reference else reference


def _path(reference: str, base: str) -> Path:
    return Path(base) / Path(reference).expanduser()


def _file_hash(path: Path, kind: str) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            f"the file of this {kind} cannot be read ({error.strerror})",
            where=str(path),
            fix="check the name; paths are relative to the study file",
        ) from None


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
