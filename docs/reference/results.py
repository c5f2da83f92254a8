"""The page of the results: what functions return, with every field explained."""

from __future__ import annotations

import inspect
import re
import tomllib
import typing
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from reference.fields import Field, fields_of, named, parts_of, returned_by
from reference.tables import table

SHARED = Path(__file__).with_name("results.toml")
INTRODUCTION = """# Every result

What the functions of [recassay](python.md) return. This page is made from the code. The result of a question says its
answer on a terminal and in a notebook, and has:

- `verdict()`: the answer in plain sentences, the most important first;
- `to_frame()`: its main table as a Polars frame (`to_pandas()`: as a pandas one), and `frames()`: every table by name;
- `to_dict()`: everything as plain data, what `--json` prints;
- `figures`: its pictures by name, each with `save("name.pdf")`, and `plot()`: the first, or the one named, which
  a notebook shows.

`FloatArray`, `IntArray` and `BoolArray` are NumPy arrays; "algorithms x datasets" is the shape of an array with a row
for each algorithm and a column for each dataset. Examples begin with `import recassay`; `study` is the folder of a
study, `published:kdd24` and the like are tables that come with RecAssay.
"""
GROUPS = {
    "Answers": "What a question about results finds.",
    "Tables, records and settings": "What is read, written or set up.",
    "Parts": "What fields of the above hold.",
}


def results_page() -> str:
    """Every class that a public function or an analysis returns, and the classes that their fields hold."""
    grouped = groups()
    shown = {kind for kinds in grouped.values() for kind in kinds}
    lines = [INTRODUCTION]
    for title, kinds in grouped.items():
        lines.append(f"## {title}\n\n{GROUPS[title]}\n")
        lines += [_entry(kind, shown) for kind in sorted(kinds, key=lambda kind: kind.__name__.lower())]
    return "\n".join(lines)


@cache
def groups() -> dict[str, list[type[Any]]]:
    """The classes of the page, by the part of it in which they stand."""
    from recassay.core.system.display import Displayed

    found = list(sources())
    answers = [kind for kind in found if issubclass(kind, Displayed) or hasattr(kind, "verdict")]
    answers += [kind for kind in found if kind.__name__ in ("EvaluationReport", "Paper", "Answer", "Figures")]
    others = [kind for kind in found if kind not in answers]
    parts = [kind for kind in parts_of(answers) if kind not in others]
    return dict(zip(GROUPS, (answers, others, parts), strict=True))


@cache
def sources() -> dict[type[Any], list[str]]:
    """By class, the calls that give it: of public functions, and of `analyze`, which has every analysis."""
    import recassay
    from recassay.core.registry import analyses

    found: dict[type[Any], list[str]] = {}
    for name in recassay.__all__:
        thing = getattr(recassay, name)
        if inspect.isfunction(thing):
            for kind in returned_by(thing):
                found.setdefault(kind, []).append(f"[`{name}`](python.md#{name})")
    for name, analysis in analyses.loadable()[0].items():
        for kind in returned_by(analysis.run):
            found.setdefault(kind, []).append(f'`analyze(...).analyses["{name}"]`')
    return found


def anchor(kind: type[Any]) -> str:
    """Where the page describes a class."""
    return kind.__name__.lower()


def meaning(kind: type[Any], field: Field) -> str:
    """What a field is: by itself, by the docstring of its class, or as everywhere; empty where nothing is said."""
    if field.meaning:
        return field.meaning
    if re.search(rf"`{field.name}\b", inspect.getdoc(kind) or ""):
        return "See above."
    return told()["fields"].get(field.name, "")


@cache
def told() -> dict[str, dict[str, str]]:
    """Shared meanings (`fields`) and `examples`."""
    return tomllib.loads(SHARED.read_text(encoding="utf-8"))


def _entry(kind: type[Any], shown: set[type[Any]]) -> str:
    example = told()["examples"].get(kind.__name__)
    rows = [[f"`{field.name}`", _type(kind, field, shown), meaning(kind, field)] for field in fields_of(kind)]
    parts = [
        f"### {kind.__name__}",
        inspect.getdoc(kind) or "",
        *([f"**From** {', '.join(sources()[kind])}."] if kind in sources() else []),
        *([table(["field", "type", "meaning"], rows)] if rows else []),
        *([_methods(kind)] if _methods(kind) else []),
        *([f"```python\n{example.strip()}\n```"] if example else []),
    ]
    return "\n\n".join(parts) + "\n"


def _type(kind: type[Any], field: Field, shown: set[type[Any]]) -> str:
    """The type with its choices spelled out, and links to classes of this page."""

    def spelled(word: re.Match[str]) -> str:
        meant = named(kind.__module__, word[0])
        if typing.get_origin(meant) is typing.Literal:
            return escape(" | ".join(repr(one) for one in typing.get_args(meant)), quote=False)
        if inspect.isclass(meant) and meant in shown:
            return f'<a href="#{anchor(meant)}">{word[0]}</a>'
        # To a reader, pairs that are kept as columns are a sequence like any other.
        return "Sequence" if word[0] == "PairRows" else word[0]

    text = re.sub(r"\w+", spelled, field.kind)
    return f"<code>{text}</code>".replace("|", "&#124;")


def _methods(kind: type[Any]) -> str:
    """A list of what a class offers besides its fields."""
    own = {name: thing for name, thing in vars(kind).items() if not name.startswith("_")}
    lines = []
    for name, thing in own.items():
        call = thing.fget if isinstance(thing, property) else getattr(thing, "__func__", thing)
        if not inspect.isfunction(call) or inspect.getmodule(call) is None or not call.__doc__:
            continue
        said = " ".join(inspect.cleandoc(call.__doc__).split("\n\n")[0].split())
        lines.append(f"- `{name}{'' if isinstance(thing, property) else _arguments(call)}`: {said}")
    return "\n".join(lines)


def _arguments(function: Any) -> str:
    """The names of the arguments; those that may be left out with their defaults."""
    taken = [one for one in inspect.signature(function).parameters.values() if one.name not in ("self", "cls")]
    return (
        "(" + ", ".join(one.name if one.default is one.empty else f"{one.name}={one.default!r}" for one in taken) + ")"
    )


def returns_line(function: Any) -> str:
    """For the page of functions: links from what a function returns to this page."""
    linked = [f"[`{kind.__name__}`](results.md#{anchor(kind)})" for kind in returned_by(function)]
    return f"Returns {' or '.join(linked)}." if linked else ""
