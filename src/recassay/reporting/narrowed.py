"""Pictures of many algorithms show the best of them: nobody reads 200 labels. The tables beside them have all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from recassay.core.analysis import AnalysisResult
from recassay.core.choices import MANY_ALGORITHMS, SHOWN_OF_MANY
from recassay.plots.grammar import specification
from recassay.reporting.section import Figure

LARGE = 900
"""Pixels from which on the side of a chart is one of many names, and shrinks with them."""


class Drawn:
    """A chart by its specification."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec

    def to_dict(self, **_: Any) -> dict[str, Any]:
        """The specification."""
        return self._spec


def narrowed_figures(figures: Iterable[Figure], results: Mapping[str, AnalysisResult]) -> list[Figure]:
    """The same pictures, of more than 60 algorithms with the first 30 and the control."""
    ranked = _best_first(results)
    if len(ranked) <= MANY_ALGORITHMS:
        return list(figures)
    asked = {name for result in results.values() if (name := _control(result)) is not None}
    hidden = frozenset(ranked[SHOWN_OF_MANY:]) - asked
    share = 1 - len(hidden) / len(ranked)
    count = len(ranked) - len(hidden)
    return [_narrowed_figure(figure, hidden, share, count, len(ranked)) for figure in figures]


def _narrowed_figure(figure: Figure, hidden: frozenset[str], share: float, count: int, of: int) -> Figure:
    whole = specification(figure.drawn)
    spec = narrowed(whole, hidden, share)
    if spec == whole:
        return figure
    caption = f"{figure.caption} Shown are {count} of {of} algorithms, the best by mean rank."
    return Figure(figure.name, caption, Drawn(spec), figure.table)


def narrowed(spec: Any, hidden: frozenset[str], share: float = 1.0) -> Any:
    """A specification without the rows of data and the entries of lists that name one of the hidden."""
    if isinstance(spec, list):
        kept = [one for one in spec if not _names(one, hidden)]
        return [narrowed(one, hidden, share) for one in kept]
    if not isinstance(spec, dict):
        return spec
    domain, values = spec.get("domain"), spec.get("range")
    if isinstance(domain, list) and isinstance(values, list) and len(domain) == len(values):
        pairs = [(name, value) for name, value in zip(domain, values, strict=True) if not _names(name, hidden)]
        spec = {**spec, "domain": [name for name, _ in pairs], "range": [value for _, value in pairs]}
    return {
        key: max(240, round(inner * share)) if key in ("width", "height") and _large(inner)
        else narrowed(inner, hidden, share)
        for key, inner in spec.items()
    }  # fmt: skip


def _large(value: Any) -> bool:
    return isinstance(value, (int, float)) and value > LARGE


def _names(entry: Any, hidden: frozenset[str]) -> bool:
    if isinstance(entry, str):
        return entry in hidden
    return isinstance(entry, dict) and any(isinstance(cell, str) and cell in hidden for cell in entry.values())


def _control(result: Any) -> str | None:
    control = getattr(getattr(result, "judgement", None), "control", None)
    return control if isinstance(control, str) else None


def _best_first(results: Mapping[str, Any]) -> list[str]:
    """The algorithms by the verdict where one is among the results, else by the own order of the first that has one."""
    for result in results.values():
        verdict = getattr(result, "judgement", None)
        if verdict is not None:
            return list(verdict.algorithms)
    for result in results.values():
        order, names = getattr(result, "order", None), getattr(result, "algorithms", None)
        places = order() if callable(order) else order
        if names is not None and isinstance(places, list) and len(places) == len(names):
            return [names[place] for place in places]
    return []
