"""The curated references: what is cited for an algorithm, a dataset, a metric or a test."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Literal

from recassay.core.names import canonical

Kind = Literal["algorithms", "metrics", "analyses", "datasets", "published", "tuning"]

_HERE = files("recassay.reporting.paper")


@cache
def entries() -> dict[str, str]:
    """Every BibTeX entry by key."""
    text = _HERE.joinpath("references.bib").read_text(encoding="utf-8")
    found = re.findall(r"^(@\w+\{([^,]+),\n.*?^\})$", text, flags=re.MULTILINE | re.DOTALL)
    return {key: entry for entry, key in found}


@cache
def citations() -> dict[str, dict[str, list[str]]]:
    """The keys that stand for each name, by kind."""
    told = tomllib.loads(_HERE.joinpath("citations.toml").read_text(encoding="utf-8"))
    return {kind: {canonical(name): keys for name, keys in of_kind.items()} for kind, of_kind in told.items()}


def cited(kind: Kind, name: str) -> list[str] | None:
    """The keys that stand for a name; None where nothing is known of it, an empty list where nothing is cited.

    A dataset is also known by the start of its name: `ml-100k` by `ml`.
    """
    known = citations()[kind]
    wanted = canonical(name)
    if wanted in known:
        return known[wanted]
    if kind != "datasets":
        return None
    starts = [start for start in known if wanted.startswith(start)]
    return known[max(starts, key=len)] if starts else None


def cite(kind: Kind, name: str) -> str:
    """`~\\cite{key}` after a name, or nothing."""
    keys = cited(kind, name)
    return rf"~\cite{{{','.join(keys)}}}" if keys else ""


def bibliography(text: str, further: Iterable[str] = ()) -> str:
    """The BibTeX file of all keys that the LaTeX text cites, and of further ones, sorted by key."""
    keys = {key.strip() for group in re.findall(r"\\cite\{([^}]*)\}", text) for key in group.split(",")}
    return "\n\n".join(entries()[key] for key in sorted(keys | set(further))) + "\n"
