"""What a study's names mean: datasets and algorithms, registered or in files, with the version of their content."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

from recassay.core.errors import InputError, UsageError
from recassay.core.external import ExternalSpec
from recassay.core.names import canonical
from recassay.core.registry import Registry, algorithms
from recassay.core.study import DatasetSpec
from recassay.data.sources import SYNTHETIC, is_path, path_of, preset_of, stored_manifest

GENERATOR_VERSION = "synthetic 1"
"""Part of the version of every synthetic dataset: raise it when the same spec comes to give other data."""


def part_labels(references: Sequence[str], parts: Registry[Any] = algorithms) -> list[str]:
    """What the results call each algorithm (or other part): its registered name, or for a file its class or stem."""
    return distinct(references, [_part_label(reference, parts) for reference in references])


def dataset_labels(references: Sequence[str]) -> list[str]:
    """What the results call each dataset: its name, the name of its preset, or the stem of its file."""
    return distinct(references, [_dataset_label(reference) for reference in references])


def dataset_version(spec: DatasetSpec, base: str) -> str:
    """The hash of the dataset's content: of a preset's spec, of a file's bytes and how they are read, or as stored."""
    if spec.reference.startswith(SYNTHETIC):
        return _digest(GENERATOR_VERSION, preset_of(spec.reference).content_hash())
    if is_path(spec.reference):
        return _digest(file_version(path_of(spec.reference, base), "dataset"), spec.read.content_hash())
    return stored_manifest(spec.reference).sha256


def part_version(reference: str, base: str, parts: Registry[Any] = algorithms) -> str:
    """The version of the code of an algorithm (or other part): its file's hash, or the distribution announcing it.

    The file is not executed: what it does when it is imported happens in the process of its cell.
    """
    if is_part_file(reference):
        path = path_of(_file_part(reference), base)
        version = file_version(path, parts.kind)
        if path.suffix.lower() == ".toml":
            return _digest(version, file_version(ExternalSpec.read(path).script_path, "script"))
        return version
    parts.get(reference)
    origin = parts.origin(reference)
    if origin == "added from Python":
        raise UsageError(
            f"the {parts.kind} {reference!r} was added from Python, and the cells run in processes of their own",
            fix="put it in a file and name it as ./file.py:Class, or announce it by an entry point",
        )
    return origin


def is_part_file(reference: str) -> bool:
    """Whether an algorithm or classifier is a user's own file rather than a registered name."""
    return ".py:" in reference or is_path(reference)


def _part_label(reference: str, parts: Registry[Any]) -> str:
    if not is_part_file(reference):
        return next((name for name in parts.names() if canonical(name) == canonical(reference)), reference)
    return reference.rpartition(":")[2] if ".py:" in reference else PurePath(reference).stem


def _dataset_label(reference: str) -> str:
    if reference.startswith(SYNTHETIC):
        return reference.removeprefix(SYNTHETIC)
    if not is_path(reference):
        return reference
    name = PurePath(reference).name.removesuffix(".gz")
    return PurePath(name).stem or name


def distinct(references: Sequence[str], labels: list[str]) -> list[str]:
    """The labels, with the whole reference in place of one that several share."""
    folded = [label.casefold() for label in labels]
    return [
        reference if folded.count(label.casefold()) > 1 else label
        for reference, label in zip(references, labels, strict=True)
    ]


def _file_part(reference: str) -> str:
    return reference.rpartition(":")[0] if ".py:" in reference else reference


def file_version(path: Path, kind: str) -> str:
    """The SHA-256 of a file of the study; `kind` says in an error what the file was for."""
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
