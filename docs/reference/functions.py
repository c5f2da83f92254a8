"""The page of the Python functions: signatures and docstrings."""

from __future__ import annotations

import inspect
import re

from reference.results import returns_line

INTRODUCTION = """# Python

Every command is a function of `recassay`. Results have `verdict()`, `to_frame()`, `to_dict()` and `plot()`;
[every result](results.md) has its fields explained.
"""
_ARGUMENT = re.compile(r"^    (\*{0,2}\w+): (.*)$")


def python_page() -> str:
    """Every public function and class of `recassay`: signature and docstring."""
    import recassay

    parts = [INTRODUCTION]
    for name in recassay.__all__:
        thing = getattr(recassay, name)
        if not callable(thing):
            continue
        signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(thing)))
        text = as_markdown(inspect.getdoc(thing) or "")
        gives = returns_line(thing) if inspect.isfunction(thing) else ""
        parts.append(f"## {name}\n\n```python\n{_wrapped(name, signature)}\n```\n\n{text}\n\n{gives}\n")
    return "\n".join(parts)


def as_markdown(docstring: str) -> str:
    """A docstring with its arguments as a list; other text is Markdown as it stands."""
    before, section, after = docstring.partition("\nArgs:\n")
    if not section:
        return docstring
    listed: list[str] = []
    lines = after.splitlines()
    while lines and (lines[0].startswith("    ") or not lines[0].strip()):
        line = lines.pop(0)
        argument = _ARGUMENT.match(line)
        if argument:
            listed.append(f"- `{argument[1]}`: {argument[2]}")
        elif line.strip() and listed:
            listed[-1] += f" {line.strip()}"
    return "\n".join([before, "", *listed, "", *lines])


def _wrapped(name: str, signature: str) -> str:
    if len(name + signature) <= 90:
        return name + signature
    inside, arrow, returned = signature.rpartition(") -> ")
    pieces, depth, start = [], 0, 0
    for i, letter in enumerate(inside):
        depth += letter in "[(" and i > 0
        depth -= letter in "])"
        if letter == "," and depth == 0:
            pieces.append(inside[start : i + 1].strip("( "))
            start = i + 1
    pieces.append(inside[start:].strip("( ") + ",")
    return f"{name}(\n" + "".join(f"    {piece}\n" for piece in pieces) + arrow + returned
