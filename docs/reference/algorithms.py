"""The page of the algorithms: what each computes, its parameters, its search space, its source and what it costs."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path
from typing import Any

from reference.tables import table

ADVICE = Path(__file__).with_name("algorithms.toml")
SIZES = {
    "ml-100k": (943, 1_682, 100_000),
    "ml-1m": (6_040, 3_706, 1_000_209),
    "ml-20m": (138_493, 26_744, 20_000_263),
}
"""Users, items and interactions: what memory is shown for."""

INTRODUCTION = """# Every algorithm

{number} algorithms come with RecAssay. This page is made from the code: each has its definition, its parameters, what
tuning may vary, its paper, and the memory that it declares before it starts. `recassay list algorithms` prints the
list, `recassay list algorithms --spaces` the search spaces. Your own algorithm: [how to](how-to.md); those of other
libraries: [algorithms of other libraries](external.md). What the neural ones reach and how long they take:
[neural algorithms](neural.md).

A study tunes the parameters that have a search space and leaves the others at their defaults; a study file can fix any
of them or narrow a range ([studies](studies.md)). The default is always the first trial.
"""


def algorithms_page() -> str:
    """Every algorithm that comes with RecAssay."""
    from recassay.core.registry import algorithms

    advice = tomllib.loads(ADVICE.read_text(encoding="utf-8"))
    found = {name: kind for name, kind in algorithms if algorithms.origin(name).startswith("recassay ")}
    if set(advice) != set(found):
        named = ", ".join(sorted(set(advice) ^ set(found)))
        raise SystemExit(f"{ADVICE.name} must say when to use each algorithm, and no other: {named}")
    families = _families(found)
    parts = [INTRODUCTION.format(number=len(found)), _overview(found, families)]
    for family, names in families.items():
        parts.append(f"## {family}\n")
        parts += [_entry(name, found[name], advice[name]["when"]) for name in names]
    return "\n".join(parts)


def _families(found: dict[str, Any]) -> dict[str, list[str]]:
    from recassay.recommenders.price import CLASSES

    families: dict[str, list[str]] = {
        "Baselines": [], "Closed form": [], "Factor models": [], "Neural and graph models": [], "Others": [],
    }  # fmt: skip
    titles = {"baseline": "Baselines", "closed form": "Closed form", "factor model": "Factor models"}
    for name, kind in found.items():
        neural = ".neural." in kind.__module__
        known = titles.get(CLASSES.get(kind.__module__.rpartition(".")[2], ""), "Others")
        families["Neural and graph models" if neural else known].append(name)
    return {family: names for family, names in families.items() if names}


def _overview(found: dict[str, Any], families: dict[str, list[str]]) -> str:
    rows = []
    for family, names in families.items():
        for name in names:
            kind = found[name]
            made = kind(device="cpu") if "device" in inspect.signature(kind).parameters else kind()
            memory = [_bytes(made.memory_bytes(*size)) for size in SIZES.values()]
            rows.append([f"[{name}](#{name.lower()})", family, str(len(kind.space)), *memory])
    header = ["algorithm", "family", "parameters to tune", *(f"memory on {name}" for name in SIZES)]
    return (
        table(header, rows)
        + "\n\nMemory is what an algorithm declares at its defaults, on the processor; a study refuses a cell that"
        " would not fit. `recassay run --dry-run` says it for your data and search space.\n"
    )


def _entry(name: str, kind: type[Any], when: str) -> str:
    definition = inspect.getdoc(kind) or ""
    need = (inspect.getdoc(kind.memory_bytes) or "").split("\n\n")[0]
    lines = [f"### {name}\n", definition, "", f"**When to use.** {when}", "", f"**Source.** {kind.source}", ""]
    aliases = getattr(kind, "aliases", ())
    if aliases:
        lines += [f"**Also called** {', '.join(aliases)}.", ""]
    rows = _parameters(kind)
    lines += [table(["parameter", "default", "tuned over"], rows), ""] if rows else ["It has no parameters.", ""]
    return "\n".join([*lines, f"**Memory.** {need}", ""])


def _parameters(kind: type[Any]) -> list[list[str]]:
    from recassay.core.specs.search import in_words

    space = kind.space
    given = {
        name: parameter.default
        for name, parameter in inspect.signature(kind).parameters.items()
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    }
    return [
        [f"`{name}`", f"`{default}`", in_words(space[name]) if name in space else "fixed"]
        for name, default in given.items()
    ]


def _bytes(number: int) -> str:
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.0f} MB"
