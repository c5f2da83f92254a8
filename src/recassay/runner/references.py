"""What a study's names mean: datasets and algorithms, registered or in files, with the version of their content."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path, PurePath
from typing import Any

from recassay.core.errors import InputError, UsageError
from recassay.core.names import canonical
from recassay.core.registry import Registry, algorithms, classifiers
from recassay.core.specs.external import ExternalSpec
from recassay.core.specs.study import DatasetSpec, is_plain_name
from recassay.core.system.files import file_checksum, refuse_special
from recassay.core.words import listing
from recassay.data.library import stored_rule
from recassay.data.lists.read import SIDECAR
from recassay.data.parts import find_parts
from recassay.data.sources import SYNTHETIC, is_path, path_of, preset_of, stored_manifest
from recassay.runner.code_version import code_hash, imported_hash

MOST_CODE = 1 << 20
"""Bytes of a file that is searched for the name it declares."""

GENERATOR_VERSION = "synthetic 1"
"""Part of the version of every synthetic dataset: raise it when the same spec comes to give other data."""


def part_labels(references: Sequence[str], base: str, parts: Registry[Any] = algorithms) -> list[str]:
    """What the results call each algorithm (or other part): its registered name, or for a file the name that the file
    declares, else its class or stem."""
    labels = [_part_label(reference, base, parts) for reference in references]
    registered = [label for reference, label in zip(references, labels, strict=True) if not is_part_file(reference)]
    twice = next((label for label in registered if registered.count(label) > 1), None)
    if twice is not None:
        written = [reference for reference in references if canonical(reference) == canonical(twice)]
        raise UsageError(f"the {parts.kind} {twice} is named twice, as {listing(written)}", fix="name it once")
    return distinct(references, labels)


def dataset_labels(references: Sequence[str]) -> list[str]:
    """What the results call each dataset: its name, the name of its preset, or the stem of its file."""
    return distinct(references, [_dataset_label(reference) for reference in references])


def dataset_version(spec: DatasetSpec, base: str) -> str:
    """The hash of the dataset's content: of a preset's spec, of a file's bytes and how they are read, or as stored."""
    if spec.reference.startswith(SYNTHETIC):
        return _digest(GENERATOR_VERSION, preset_of(spec.reference).content_hash())
    if is_path(spec.reference):
        path = path_of(spec.reference, base)
        if path.is_dir():
            files = [*find_parts(path).values(), *path.glob(SIDECAR)]
            return _digest(*(file_version(file, "dataset") for file in files), spec.read.content_hash())
        return _digest(file_version(path, "dataset"), spec.read.content_hash())
    manifest = stored_manifest(spec.reference)
    return _digest(manifest.sha256, repr(stored_rule(manifest)))


def part_version(reference: str, base: str, parts: Registry[Any] = algorithms) -> str:
    """The version of the code of an algorithm (or other part), which changes when that code is edited.

    For a registered one: the hash of the module that its entry point names and of what that module imports of its own
    package (for ours, of `recassay.algorithms` or `recassay.classifiers`); for one of another distribution, besides,
    that distribution's name and version. For a user's file: the hash of the file, and of what it imports of ours.
    The file is not executed: what it does when it is imported happens in the process of its cell.
    """
    if is_part_file(reference):
        return _file_part_version(path_of(_file_part(reference), base), parts)
    parts.get(reference)
    entry = parts.announcement(reference)
    if entry is None:
        raise UsageError(
            f"the {parts.kind} {reference!r} was added from Python, and the cells run in processes of their own",
            fix="put it in a file and name it as ./file.py:Class, or announce it by an entry point",
        )
    return announced_version(entry, parts)


def announced_version(entry: EntryPoint, parts: Registry[Any]) -> str:
    """The version of the code that an entry point announces; nothing is imported."""
    package = entry.module.partition(".")[0]
    name = f"{entry.dist.name} {entry.dist.version}" if entry.dist else package
    ours = entry.module.startswith(f"{parts.group}.")
    packages = (parts.group,) if ours else (parts.group, package)
    code = code_hash(entry.module, packages)
    if code is None:  # no file to read: an import system of its own
        return name
    return f"{package} {code}" if ours else f"{name} {code}"


def current_code(manifest: Mapping[str, Any]) -> dict[str, str]:
    """By name, the version that the code of every algorithm (or classifier) of a study has now; nothing is imported.

    For one in a file, or one that is no longer installed, the version of the last run.
    """
    versions: dict[str, str] = {}
    for parts in (algorithms, classifiers):
        kind = parts.group.rpartition(".")[2]
        specs = manifest.get("study", {}).get(kind, ())
        references = {spec["name"]: spec["reference"] for spec in specs if not is_part_file(spec["reference"])}
        for name, version in manifest.get(kind, {}).items():
            entry = parts.announcement(references[name]) if name in references else None
            versions[name] = version if entry is None else announced_version(entry, parts)
    return versions


def _file_part_version(path: Path, parts: Registry[Any]) -> str:
    version = file_version(path, parts.kind)
    if path.suffix.lower() == ".toml":
        return _digest(version, file_version(ExternalSpec.read(path).script_path, "script"))
    ours = imported_hash(path, (parts.group,)) if path.suffix == ".py" else None
    return version if ours is None else _digest(version, ours)


def is_part_file(reference: str) -> bool:
    """Whether an algorithm or classifier is a user's own file rather than a registered name."""
    return ".py:" in reference or is_path(reference)


def _part_label(reference: str, base: str, parts: Registry[Any]) -> str:
    if not is_part_file(reference):
        return next((name for name in parts.names() if canonical(name) == canonical(reference)), reference)
    file, short = path_of(_file_part(reference), base), short_name(reference)
    with contextlib.suppress(OSError, SyntaxError, ValueError):  # what is wrong with the file is said when it is read
        if 0 < file.stat().st_size <= MOST_CODE:
            text = file.read_text(encoding="utf-8")
            declared = tomllib.loads(text).get("name") if file.suffix == ".toml" else _declared_name(text, short)
            if isinstance(declared, str) and declared.strip() and is_plain_name(declared):
                return declared
    return short


def short_name(reference: str) -> str:
    """The class of a reference to a Python file, the stem of any other file."""
    return reference.rpartition(":")[2] if ".py:" in reference else PurePath(reference).stem


def _declared_name(code: str, wanted: str) -> Any:
    """The `name` of a class in Python code, or of what `wrap` makes of another; the code is read, not executed."""
    for node in ast.parse(code).body:
        if isinstance(node, ast.ClassDef) and node.name == wanted:
            for line in node.body:
                targets = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
                value = getattr(line, "value", None)
                if any(isinstance(target, ast.Name) and target.id == "name" for target in targets):
                    return value.value if isinstance(value, ast.Constant) else None
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            named = next((word.value for word in node.value.keywords if word.arg == "name"), None)
            if any(isinstance(target, ast.Name) and target.id == wanted for target in node.targets):
                return named.value if isinstance(named, ast.Constant) else None
    return None


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
    refuse_special(path)
    try:
        return file_checksum(path)
    except OSError as error:
        raise InputError(
            f"the file of this {kind} cannot be read ({error.strerror})",
            where=str(path),
            fix="check the name; paths are relative to the study file",
        ) from None


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
