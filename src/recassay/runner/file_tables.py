"""Tables of a study file (TOML, or YAML where it is installed), and messages that name the key and its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import ValidationError

from recassay.core.errors import InputError, MissingExtraError
from recassay.core.names import canonical, did_you_mean
from recassay.core.specs.specs import Spec
from recassay.core.system.files import refuse_special
from recassay.core.system.lines import lines_of
from recassay.core.words import listing
from recassay.runner.references import short_name

MOST_BYTES = 10_000_000
"""Of a study file."""

Made = TypeVar("Made", bound=Spec)


class Place:
    """Where a key stands: the file, and its line where the text shows it."""

    def __init__(self, source: str, text: str) -> None:
        self.source, self.lines = source, lines_of(text)

    def refuse(self, keys: Sequence[object], what: str, fix: str) -> NoReturn:
        """Raise `InputError` for the key at that path."""
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


def read_tables(path: Path, sections: Sequence[str]) -> tuple[dict[str, Any], Place]:
    """The tables of a study file; keys of the outermost level are `sections`, and each holds keys of its own."""
    tables, place = parse_file(path, sections)
    check_sections(tables, sections, place)
    return tables, place


def parse_file(path: Path, sections: Sequence[str] = ()) -> tuple[dict[str, Any], Place]:
    """What a study file says, whatever its sections; `sections` are those that a refusal names."""
    refuse_special(path)
    try:
        if path.is_file() and path.stat().st_size > MOST_BYTES:
            raise InputError("is too large for a study file", where=str(path), fix="name a TOML or YAML file")
        if path.is_dir():
            raise InputError("is a folder, not a study file", where=str(path), fix="name a TOML or YAML file")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("the study file is not UTF-8 text", where=str(path), fix="save it as UTF-8") from None
    except OSError as error:
        raise InputError(
            f"the study file cannot be read ({_short(error)})", where=str(path), fix="check its name"
        ) from None
    yaml = path.suffix.lower() in (".yaml", ".yml")
    try:
        tables = _parse_yaml(text, path, sections) if yaml else tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"this is not TOML: {_short(error)}", where=str(path), fix="correct the line") from None
    except RecursionError:
        raise InputError("this is nested too deeply", where=str(path), fix="write plain keys in sections") from None
    return tables, Place(str(path), text)


def check_sections(tables: Mapping[str, Any], sections: Sequence[str], place: Place) -> None:
    """Refuse a section that is unknown or is not a table."""
    known_keys(tables, sections, (), place)
    for section in sections:
        if not isinstance(tables.get(section, {}), Mapping):
            place.refuse([section], f"{section} is not a section", f"write it as [{section}] with keys below it")


def _parse_yaml(text: str, path: Path, sections: Sequence[str]) -> dict[str, Any]:
    try:
        import yaml  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise MissingExtraError("pyyaml", "yaml", f"reading {path.name}") from None
    try:
        _refuse_repeated_keys(yaml.compose(text, Loader=yaml.SafeLoader), path)
        tables = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"this is not YAML: {_short(error)}", where=str(path), fix="correct the line") from None
    if not isinstance(tables, dict):
        raise InputError("this holds no sections", where=str(path), fix=f"write {listing(sections, most=None)}")
    return tables


def _refuse_repeated_keys(node: Any, path: Path) -> None:
    """YAML takes the last of several equal keys, silently; TOML refuses them, and so do we."""
    waiting, seen = [node], set[int]()
    while waiting:
        branch = waiting.pop()
        if branch is None or id(branch) in seen or isinstance(branch.value, str):
            continue
        seen.add(id(branch))
        keys = [key.value for key, _ in branch.value if isinstance(key.value, str)] if branch.id == "mapping" else []
        for place, key in enumerate(keys):
            if key in keys[:place]:
                line = branch.value[place][0].start_mark.line + 1
                raise InputError(f"the key {key!r} stands twice", where=f"{path}, line {line}", fix="keep one of them")
        waiting += [value for _, value in branch.value] if branch.id == "mapping" else branch.value


def names_of(names: Any, key: str, place: Place) -> list[str]:
    """The names that `study.KEY` lists, at least one and none twice."""
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        what = f"study.{key} is missing" if names is None else f"study.{key} is not a list of names"
        place.refuse(["study", key], what, f'write {key} = ["...", "..."] with at least one name')
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        place.refuse(["study", key], f"study.{key} names {twice!r} twice", "name it once")
    return names


def by_label(
    tables: Mapping[str, Any], labels: Sequence[str], references: Sequence[str], section: str, place: Place
) -> dict[str, Mapping[str, Any]]:
    """The tables `[section.NAME]` under the label that NAME means: the label, or the reference or its class or stem."""
    spellings = ([short_name(reference) for reference in references], references, labels)
    known = {canonical(n): label for names in spellings for n, label in zip(names, labels, strict=True)}
    chosen = {}
    for name, table in tables.items():
        if canonical(name) not in known:
            place.refuse(
                [section, name], f"{section}.{name}: the study has no such {section}", did_you_mean(name, labels)
            )
        if not isinstance(table, Mapping):
            place.refuse(
                [section, name], f"{section}.{name} is not a section", f"write [{section}.{name}] and keys below"
            )
        chosen[known[canonical(name)]] = table
    return chosen


def known_keys(table: Mapping[str, Any], known: Iterable[str], path: tuple[str, ...], place: Place) -> None:
    """Refuse a key that is not `known`, with the nearest that is."""
    for key in table:
        if key not in known:
            place.refuse([*path, key], f"unknown key {'.'.join([*path, str(key)])}", did_you_mean(str(key), known))


def make_spec(kind: type[Made], table: Any, path: tuple[str, ...], place: Place) -> Made:
    """The spec of a table; what does not fit is refused with its key."""
    if not isinstance(table, Mapping):
        place.refuse(path, f"{'.'.join(path)} is not a section", f"write [{'.'.join(path)}] with keys below it")
    known_keys(table, kind.model_fields, path, place)
    with refusing(place, *path):
        return kind.model_validate(table)


@contextmanager
def refusing(place: Place, *path: str) -> Iterator[None]:
    """While a spec is made of its parts: what does not fit is refused with its key below `path`."""
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        inside = ["seed" if part == "seeds" else str(part) for part in first["loc"][:1]]
        unnamed = first["type"] == "missing" and len(first["loc"]) == 1
        given = f" = {first['input']!r}" if inside and not unnamed else ""
        if not inside and path == ("study",):
            inside = ["seed"]  # the study as a whole is checked for its seeds
        key = ".".join([*path, *inside])
        place.refuse([*path, *inside], f"{key}{given}: {_problem(first)}", "correct the value")


def _problem(error: Any) -> str:
    """What pydantic says of one error, to stand after a colon."""
    text = str(error["msg"]).removeprefix("Value error, ")
    return text[:1].lower() + text[1:]


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
