"""The LaTeX source of a paper as one text: a file, a folder or the archive from arXiv, put together within limits.

A source is a stranger's program. Only files inside its folder are read, macros are expanded a limited number of times,
and size, depth and time have a budget; what exceeds it is refused in one line.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from recassay.core.errors import InputError
from recassay.core.system.files import refuse_special
from recassay.core.system.printable import one_line
from recassay.core.tables.sources import Source
from recassay.data.download.unpack import archive_kind, unpack
from recassay.data.tables.latex import arguments

MOST_BYTES = 16 << 20
"""Of all text together; the source of a book has a tenth of that."""
MOST_FILES = 2_000
MOST_DEPTH = 20
"""Of files that read files, and of macros within macros."""
MOST_EXPANSIONS = 200_000
MOST_SECONDS = 8.0
"""Of processor time: a busy machine refuses nothing that another one reads."""
ALONE = "give the file with the tables alone"

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_HIDDEN = re.compile(r"\\begin\{(comment|verbatim\*?|lstlisting|filecontents\*?)\}|\\iffalse\b")
_INPUT = re.compile(
    r"\\(?:input|include|subfile)(?![A-Za-z])\s*(?:\{([^{}]*)\}|([^\s{}\\]+))|\\(?:sub)?import\*?\{([^{}]*)\}\{([^{}]*)\}"
)
_DEFINED = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|DeclareMathOperator|DeclareRobustCommand)\*?\s*\{?\s*\\([A-Za-z]+)\s*\}?"
    r"\s*(?:\[(\d)\])?\s*(?:\[([^\]]*)\])?\s*(?=\{)|\\[egx]?def\s*\\([A-Za-z]+)\s*((?:#\d)*)\s*(?=\{)"
)
_CALL = re.compile(r"\\([A-Za-z]+)")
_KEPT = frozenset(
    [
        "textbf",
        "textit",
        "underline",
        "mathbf",
        "bm",
        "multirow",
        "multicolumn",
        "cite",
        "label",
        "ref",
        "caption",
        "arraystretch",
    ]
)
"""Commands that stay as they are, whatever a preamble makes of them."""


@dataclass(slots=True)
class Budget:
    """What reading a paper may still use."""

    where: str
    room: int = MOST_BYTES
    expansions: int = MOST_EXPANSIONS
    end: float = field(default_factory=lambda: time.process_time() + MOST_SECONDS)

    def take(self, characters: int) -> None:
        """Count text that was read or made; refuse what exceeds the budget."""
        self.room -= characters
        if self.room < 0:
            raise self.refused(f"its text has more than {MOST_BYTES >> 20} MiB with files and macros put in", fix=ALONE)
        if time.process_time() > self.end:
            raise self.refused(f"reading its source takes longer than {MOST_SECONDS:.0f} seconds", fix=ALONE)

    def refused(self, what: str, *, fix: str) -> InputError:
        """What is wrong with the source, as an error that names it."""
        return InputError(what, where=self.where, fix=fix)


def without(text: str, opening: re.Pattern[str], closing: Callable[[re.Match[str]], str]) -> str:
    """The text without what stands from an opening to its closing; one that is never closed stays."""
    parts, at, absent = [], 0, set[str]()
    for found in opening.finditer(text):
        mark = closing(found)
        end = text.find(mark, found.end()) if found.start() >= at and mark not in absent else -1
        if end >= 0:
            parts.append(text[at : found.start()])
            at = end + len(mark)
        elif found.start() >= at:
            absent.add(mark)
    return " ".join((*parts, text[at:]))


def read_source(path: Path, budget: Budget) -> tuple[str, tuple[Source, ...], tuple[str, ...]]:
    """The whole text with files and macros put in, the files it came from, and notes."""
    refuse_special(path)
    if not path.exists():
        raise InputError("there is no such file or folder", where=str(path), fix="check the path")
    if path.is_dir():
        return _assembled(path, budget)
    with path.open("rb") as stream:
        head = stream.read(5)
    if head == b"%PDF-":
        raise budget.refused("is a PDF, and only LaTeX is read", fix="give its source (arXiv has it as a download)")
    if archive_kind(path) is None:
        return _assembled(path.parent, budget, path)
    with tempfile.TemporaryDirectory(prefix="recassay-") as scratch:
        single = path.name.lower().removesuffix(".gz").endswith(".tex")
        unpack(path, Path(scratch) / "paper", members=None if single else ("*.tex",), max_bytes=MOST_BYTES,
               max_files=MOST_FILES)  # fmt: skip
        text, _, notes = _assembled(Path(scratch) / "paper", budget)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return text, (Source(str(path), digest),), notes


def _assembled(
    folder: Path, budget: Budget, main: Path | None = None
) -> tuple[str, tuple[Source, ...], tuple[str, ...]]:
    """The text from the main file on, or from all files that no other one reads."""
    root, sources, absent = folder.resolve(), dict[Path, Source](), list[str]()

    def text_of(file: Path, above: tuple[Path, ...]) -> str:
        if file in above or len(above) > MOST_DEPTH:
            raise budget.refused(f"the file {file.name!r} reads itself, or through others", fix="break the circle")
        refuse_special(file)
        if file.stat().st_size > MOST_BYTES:
            what = f"the file {file.name!r} has {file.stat().st_size:,} bytes, and {MOST_BYTES:,} is the limit"
            raise budget.refused(what, fix=ALONE)
        data = file.read_bytes()
        sources[file] = Source(str(file), hashlib.sha256(data).hexdigest())
        text = data.decode("utf-8", "replace").replace("\0", " ")
        budget.take(len(text))
        text = without(_COMMENT.sub(r"\1", text), _HIDDEN, lambda m: f"\\end{{{m[1]}}}" if m[1] else r"\fi")

        def put_in(call: re.Match[str]) -> str:
            name = (call[1] or call[2] or f"{call[3]}/{call[4]}").strip().strip('"')
            found = _inside(root, file.parent, name, budget)
            if found is None:
                absent.append(one_line(name, 100))
                return " "
            return text_of(found, (*above, file))

        return _INPUT.sub(put_in, text)

    files = [main.resolve()] if main else _main_files(root, budget)
    text = "\n".join(text_of(file, ()) for file in files)
    missing = [f"files that were not there: {', '.join(dict.fromkeys(absent))}"] if absent else []
    return expanded(text, budget), tuple(sources.values()), tuple(missing)


def _main_files(root: Path, budget: Budget) -> list[Path]:
    """The file with the document, or else every file that is not read by another."""
    files: list[Path] = []
    for file in sorted(root.rglob("*")):
        if file.suffix.lower() == ".tex" and file.is_file() and not file.is_symlink():
            files.append(file)
        if len(files) > MOST_FILES:
            raise budget.refused(f"holds more than {MOST_FILES:,} LaTeX files", fix=ALONE)
    lone = [file for file in root.iterdir() if file.is_file()] if not files else []
    if not files and len(lone) != 1:  # the source of a paper of one file is that file, whatever its name
        raise budget.refused("holds no LaTeX file", fix="name the folder with the .tex files")
    files = files or lone
    heads = {file: file.read_bytes()[:MOST_BYTES].decode("utf-8", "replace") for file in files}
    whole = [file for file, text in heads.items() if r"\begin{document}" in text]
    if whole:
        return [max(whole, key=lambda file: (len(_INPUT.findall(heads[file])), len(heads[file])))]
    read = {
        Path(name).stem for text in heads.values() for call in _INPUT.finditer(text) for name in call.groups() if name
    }
    return [file for file in files if file.stem not in read] or files


def _inside(root: Path, folder: Path, name: str, budget: Budget) -> Path | None:
    """The file that `\\input` names; None where it is not there. One outside the folder is refused."""
    for base in (root, folder):
        for ending in ("", ".tex"):
            try:
                place = (base / f"{name}{ending}").resolve()
                found = place.is_file() and bool(ending or place.suffix)
            except (OSError, RuntimeError):  # a name that is too long, a circle of links
                continue
            if not place.is_relative_to(root):
                what = f"reads {one_line(name, 100)!r}, which lies outside its folder"
                raise budget.refused(what, fix="keep all files in one folder")
            if found:
                return place
    return None


def expanded(text: str, budget: Budget) -> str:
    """The text with the macros of its own put in."""
    macros = dict(_definitions(text))
    if not macros:
        return text

    def put_in(text: str, depth: int, name: str) -> str:
        if depth > MOST_DEPTH:
            raise budget.refused(f"its macro \\{name} expands without end", fix="define it without itself")
        parts, at = [], 0
        while (call := _CALL.search(text, at)) is not None:
            parts.append(text[at : call.start()])
            known, at = macros.get(call[1]), call.end()
            if known is None:
                parts.append(call[0])
                continue
            count, default, body = known
            budget.expansions -= 1
            if budget.expansions < 0:
                raise budget.refused(f"its macros expand more than {MOST_EXPANSIONS:,} times", fix=ALONE)
            given, at = _given(text, at, count, default)
            for place in range(count, 0, -1):
                calls = body.count(f"#{place}")
                budget.take(calls * len(given[place - 1]))
                body = body.replace(f"#{place}", given[place - 1])
            budget.take(len(body))
            parts.append(put_in(body, depth + 1, call[1]))
        return "".join((*parts, text[at:]))

    return put_in(_without_definitions(text), 0, "")


def _given(text: str, at: int, count: int, default: str | None) -> tuple[list[str], int]:
    """The arguments of a call, empty where it has fewer, and where they end."""
    first: list[str] = []
    if default is not None:
        option = re.compile(r"\s*\[([^\]]*)\]").match(text, at)
        first, at = [option[1] if option else default], option.end() if option else at
    if count == 0 and text[at : at + 2] == "{}":
        return first, at + 2
    rest, end = arguments(text, at, most=count - len(first)) if count > len(first) else ([], at)
    return [*first, *rest, *[""] * (count - len(first) - len(rest))], end


def _definitions(text: str) -> Iterator[tuple[str, tuple[int, str | None, str]]]:
    """By name, the number of arguments, the default of the first, and the body of each macro."""
    for found in _DEFINED.finditer(text):
        name = found[1] or found[4]
        body, _ = arguments(text, found.end(), most=1)
        if name not in _KEPT and body:
            count = int(found[2] or 0) if found[1] else len(found[5] or "") // 2
            yield name, (count, found[3], body[0].replace(r"\xspace", ""))


def _without_definitions(text: str) -> str:
    """The text without the definitions themselves."""
    parts, at = [], 0
    for found in _DEFINED.finditer(text):
        if found.start() >= at:
            parts.append(text[at : found.start()])
            _, at = arguments(text, found.end(), most=1)
    return "".join((*parts, text[at:]))
