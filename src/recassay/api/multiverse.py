"""The verb that asks which claims survive the choices of the evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from recassay.analysis.multiverse.fit import PERMUTATIONS, explore
from recassay.analysis.multiverse.result import MultiverseResult
from recassay.api.arguments import checked
from recassay.api.inputs import ResultsLike
from recassay.api.tables import load_results, study_folder
from recassay.core import columns as c
from recassay.core.choices import Advanced, Alpha, MissingPolicy, Range
from recassay.core.errors import UsageError
from recassay.core.tables.results import Results
from recassay.core.tables.sources import Source
from recassay.data.published.tables import is_published, published_choices
from recassay.data.tables.universes import TABLE, read_choices
from recassay.evidence.universes import free_choices, has_universes, universe_rows


@checked
def multiverse(
    results: ResultsLike,
    axes: Sequence[str] | None = None,
    claims: Sequence[str] | None = None,
    *,
    metric: str | None = None,
    leaky: Sequence[str] | None = None,
    missing: MissingPolicy = "drop-datasets",
    higher_is_better: bool | None = None,
    alpha: Alpha = 0.05,
    permutations: Annotated[int, Range(0, 1_000_000), Advanced] = PERMUTATIONS,
    seed: Annotated[int, Advanced] = 0,
) -> MultiverseResult:
    """Which conclusions survive the choices of the evaluation (split, target, threshold, metric, cut-off, seed, ...).

    A universe is one combination of choices that occurs in the table. Each is ranked and judged; claims are counted
    over all of them, and the variance between them is divided among the choices.

    Args:
        results: table with a column per choice, or several tables that differ in their protocol.
        axes: columns that are choices; by default all with several values, and metric and cut-off.
        claims: such as `A > B` or `A is best`; by default those that the table suggests.
        metric: label such as `ndcg@10`, or `all`; by default all metrics of one kind, accuracy where there is any.
        leaky: choices whose universes are not to be trusted, such as `split=random`; shown apart.
        missing: how to treat missing cells within a universe: see `Results.matrix`.
        higher_is_better: direction of metrics that RecAssay does not know.
        alpha: level of the verdicts; intervals have level 1 - alpha.
        permutations: relabelled tables of the joint test.
        seed: the same seed gives the same numbers.
    """
    places = list(results) if isinstance(results, (list, tuple)) else [results]
    if not places:
        raise UsageError("no results were given", fix="name at least one table")
    parts = [_part(place) for place in places]
    folder = study_folder(places[0]) if len(places) == 1 else None
    free = free_choices(folder) if folder is not None and has_universes(folder) else {}
    frames = [frame for frame, _, _ in parts]
    if len(parts) > 1:
        names = _table_names(places)
        frames = [frame.with_columns(pl.lit(name).alias(TABLE)) for frame, name in zip(frames, names, strict=True)]
    rows = pl.concat(frames, how="diagonal_relaxed")
    further = [name for name in rows.columns if name not in (*c.RESULT_KEY, c.VALUE)]
    return explore(
        rows.with_columns(pl.col(further).fill_null("(none)")) if further else rows,
        axes=axes,
        claims=claims,
        metric=metric,
        leaky=leaky or (),
        missing=free.get("missing") or missing,  # type: ignore[arg-type]
        aggregation=free.get("aggregation") or ("mean_rank",),  # type: ignore[arg-type]
        higher_is_better=higher_is_better,
        alpha=alpha,
        permutations=permutations,
        seed=seed,
        sources=tuple(source for _, sources, _ in parts for source in sources),
        notes=tuple(dict.fromkeys(note for _, _, notes in parts for note in notes)),
    )


def _part(place: Any) -> tuple[pl.DataFrame, tuple[Source, ...], tuple[str, ...]]:
    """The rows of one place: a table with further columns, or whatever else results come as."""
    if is_published(place):
        return (*published_choices(place), ())
    folder = study_folder(place)
    if folder is not None and has_universes(folder):
        return universe_rows(folder), load_results(folder).sources, ()
    if not isinstance(place, Results) and folder is None:
        read = read_choices(place)
        if read is not None:
            return (*read, ())
    table = load_results(place)
    kept = [*c.RESULT_KEY, c.VALUE, *(name for name in c.RESULT_REPLICATES if name in table.frame.columns)]
    return table.frame.select(kept), table.sources, table.notes


def _table_names(places: Sequence[Any]) -> list[str]:
    """What tells the places apart: the last parts of their paths, as few as needed."""
    paths = [Path(place) if isinstance(place, (str, Path)) else Path(f"table {i}") for i, place in enumerate(places, 1)]
    for depth in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.parts[-depth:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    raise UsageError("the same table was given twice", fix="name each table once")
