"""What a paper is made of, gathered from a results table and, where it is one, the study behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recassay.api.tables import own_characteristics, published_of
from recassay.core import columns as c
from recassay.core.analysis import AnalysisResult
from recassay.core.choices import RowOrder
from recassay.core.tables.cells import table_of
from recassay.core.tables.facts import StudyFacts
from recassay.core.tables.results import Results
from recassay.core.types import FloatArray
from recassay.data.catalog.entries import all_datasets
from recassay.evidence.facts import study_facts
from recassay.reporting.paper.content import DatasetFacts, MetricFindings, PaperContent


def paper_content(
    table: Results,
    by_metric: Mapping[str, Mapping[str, AnalysisResult]],
    folder: Path | None,
    *,
    directions: Mapping[str, bool],
    alpha: float,
    order: RowOrder,
) -> PaperContent:
    """The content of a paper from the results of `rank`, `compare` and `users` by metric, the main one first."""
    facts = study_facts(folder) if folder is not None else None
    main, tests = next(iter(by_metric.items()))
    if order == "given":
        in_frame = (table.frame.get_column(name).unique(maintain_order=True) for name in (c.ALGORITHM, c.DATASET))
        algorithms, datasets = (column.to_list() for column in in_frame)
    else:
        algorithms, datasets = table.algorithms, table.datasets
    if order == "rank":
        algorithms = _best_first(table, main, tests.get("rank"), directions[main])
    findings = []
    for metric, results in by_metric.items():
        deviations, repeats = _deviations(table, metric, algorithms, datasets)
        values = table_of(table.cells(metric), c.VALUE, algorithms, datasets)
        shown: dict[str, Any] = {name: results[name] for name in ("rank", "compare", "users") if name in results}
        seeds = shown["rank"].judgement.seeds if "rank" in shown and "users" not in shown else None
        found = MetricFindings(metric, directions[metric], values, deviations, repeats, seeds=seeds, **shown)
        findings.append(found)
    listed = facts.manifest.get("study", {}).get("algorithms", ()) if facts is not None else ()
    return PaperContent(
        algorithms=tuple(algorithms),
        datasets=tuple(_datasets(table, datasets, facts)),
        findings=tuple(findings),
        alpha=alpha,
        facts=facts,
        references={str(part["name"]): str(part["reference"]) for part in listed if "reference" in part},
        origin=_origin(table),
    )


def _deviations(
    table: Results, metric: str, algorithms: list[str], datasets: list[str]
) -> tuple[FloatArray | None, str]:
    """The standard deviation of every cell over its folds, its seeds or the runs that were stated, and over what."""
    rows = table.frame.filter(pl.col(c.METRIC) == metric)
    repeated = next((n for n in (c.FOLD, c.SEED) if n in rows.columns and rows.get_column(n).n_unique() > 1), None)
    if repeated is not None:
        means = rows.group_by(c.ALGORITHM, c.DATASET, repeated).agg(pl.col(c.VALUE).mean())
        spread = means.group_by(c.ALGORITHM, c.DATASET).agg(pl.col(c.VALUE).sort().std().alias("spread"))
        words = f"{rows.get_column(repeated).n_unique()} {repeated}s"
    elif c.DEVIATION in rows.columns and rows.get_column(c.DEVIATION).count():
        spread = rows.group_by(c.ALGORITHM, c.DATASET).agg(pl.col(c.DEVIATION).first().alias("spread"))
        runs = rows.get_column(c.RUNS).drop_nulls().unique().to_list() if c.RUNS in rows.columns else []
        words = f"{int(runs[0])} runs" if len(runs) == 1 else "repeated runs, as the results state it"
    else:
        return None, ""
    values = table_of(spread, "spread", algorithms, datasets)
    return (values, words) if np.isfinite(values).any() else (None, "")


def _best_first(table: Results, metric: str, rank: Any, higher_is_better: bool) -> list[str]:
    """The algorithms by mean rank; of a single dataset, which has no ranking, by their value. Others come last."""
    if rank is not None:
        ranked = [rank.algorithms[a] for a in rank.order()]
    else:
        best = np.nan_to_num(table.table(metric)[:, 0] * (1 if higher_is_better else -1), nan=-np.inf)
        ranked = [table.algorithms[a] for a in np.argsort(-best, kind="stable")]
    return [*ranked, *(name for name in table.algorithms if name not in ranked)]


def _datasets(table: Results, names: Sequence[str], facts: StudyFacts | None) -> Iterator[DatasetFacts]:
    """What the catalogue, the splits of the study or a table of characteristics know of each dataset."""
    counted, load = pl.DataFrame(), own_characteristics(table)
    if facts is not None and facts.splits.height:
        counted = facts.splits.select(
            c.DATASET,
            "users",
            "items",
            interactions="training interactions",
            tested="test interactions",
            judged="users judged",
        )
    elif load is not None and {"Nu", "Ni", "Nr"} <= set((known := load().to_frame()).columns):
        counted = known.select(
            c.DATASET,
            *(
                pl.col(name).fill_nan(None).round().cast(pl.Int64).alias(what)
                for name, what in (("Nu", "users"), ("Ni", "items"), ("Nr", "interactions"))
            ),
        )
    counts = {row.pop(c.DATASET): row for row in reversed(counted.to_dicts())}
    catalogue = {name: entry for entry in all_datasets() for name in (entry.name, *entry.aliases)}
    for name in names:
        entry = catalogue.get(name)
        known_as = ("", "") if entry is None else (entry.name, str(entry.home))
        yield DatasetFacts(name, *known_as, **counts.get(name, {}))


def _origin(table: Results) -> tuple[str, str]:
    """Of a published table, what it is and its name."""
    published = published_of(table)
    if published is None:
        return "", ""
    protocol = f" ({published.protocol})" if published.protocol else ""
    return f"The numbers are those of {published.paper.partition(', https')[0]}{protocol}", published.name
