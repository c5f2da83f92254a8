"""What a paper is made of, gathered from a results table and, where it is one, the study behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from recassay.analysis.compare.result import CompareResult
from recassay.analysis.rank.result import RankResult
from recassay.analysis.users.result import UsersResult
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
    findings = [_findings(table, metric, analyses, directions[metric]) for metric, analyses in by_metric.items()]
    algorithms = _order(table, findings[0], order)
    datasets = (
        list(table.frame.get_column(c.DATASET).unique(maintain_order=True)) if order == "given" else table.datasets
    )
    shown = np.ix_(
        [table.algorithms.index(name) for name in algorithms], [table.datasets.index(name) for name in datasets]
    )
    return PaperContent(
        algorithms=tuple(algorithms),
        datasets=_datasets(table, datasets, facts),
        findings=tuple(
            replace(
                finding,
                values=finding.values[shown],
                deviations=None if finding.deviations is None else finding.deviations[shown],
            )
            for finding in findings
        ),
        alpha=alpha,
        facts=facts,
        references=_references(facts),
        origin=_origin(table),
    )


def _findings(
    table: Results, metric: str, analyses: Mapping[str, AnalysisResult], higher_is_better: bool
) -> MetricFindings:
    rank, compare, users = (analyses.get(name) for name in ("rank", "compare", "users"))
    deviations, repeats = _deviations(table, metric)
    return MetricFindings(
        metric=metric,
        higher_is_better=higher_is_better,
        values=table.table(metric),
        deviations=deviations,
        repeats=repeats,
        rank=rank if isinstance(rank, RankResult) else None,
        compare=compare if isinstance(compare, CompareResult) else None,
        users=users if isinstance(users, UsersResult) else None,
    )


def _deviations(table: Results, metric: str) -> tuple[FloatArray | None, str]:
    """The standard deviation of every cell over its folds, its seeds or the runs that were stated, and over what."""
    rows = table.frame.filter(pl.col(c.METRIC) == metric)
    repeated = next((n for n in (c.FOLD, c.SEED) if n in rows.columns and rows.get_column(n).n_unique() > 1), None)
    if repeated is not None:
        means = rows.group_by(c.ALGORITHM, c.DATASET, repeated).agg(pl.col(c.VALUE).mean())
        spread = means.group_by(c.ALGORITHM, c.DATASET).agg(pl.col(c.VALUE).std().alias("spread"))
        words = f"{rows.get_column(repeated).n_unique()} {repeated}s"
    elif c.DEVIATION in rows.columns and rows.get_column(c.DEVIATION).count():
        spread = rows.group_by(c.ALGORITHM, c.DATASET).agg(pl.col(c.DEVIATION).first().alias("spread"))
        runs = rows.get_column(c.RUNS).drop_nulls().unique().to_list() if c.RUNS in rows.columns else []
        words = f"{int(runs[0])} runs" if len(runs) == 1 else "repeated runs, as the results state it"
    else:
        return None, ""
    values = table_of(spread, "spread", table.algorithms, table.datasets)
    return (values, words) if np.isfinite(values).any() else (None, "")


def _order(table: Results, main: MetricFindings, order: RowOrder) -> list[str]:
    if order == "given":
        return table.frame.get_column(c.ALGORITHM).unique(maintain_order=True).to_list()
    if order == "name":
        return table.algorithms
    if main.rank is not None:
        ranked = [main.rank.algorithms[a] for a in main.rank.order()]
    else:
        best = np.nan_to_num(main.values[:, 0] * (1 if main.higher_is_better else -1), nan=-np.inf)
        ranked = [table.algorithms[a] for a in np.argsort(-best, kind="stable")]
    return [*ranked, *(name for name in table.algorithms if name not in ranked)]


def _datasets(table: Results, names: Sequence[str], facts: StudyFacts | None) -> tuple[DatasetFacts, ...]:
    """What the catalogue, the splits of the study or a table of characteristics know of each dataset."""
    catalogue = {name: entry for entry in all_datasets() for name in (entry.name, *entry.aliases)}
    described = []
    for name in names:
        entry = catalogue.get(name)
        described.append(DatasetFacts(name) if entry is None else DatasetFacts(name, entry.name, str(entry.home)))
    if facts is not None and facts.splits.height:
        rows = {row[c.DATASET]: row for row in reversed(facts.splits.to_dicts())}
        return tuple(
            replace(dataset, users=row["users"], items=row["items"], interactions=row["training interactions"],
                    tested=row["test interactions"], judged=row["users judged"])
            if (row := rows.get(dataset.name)) else dataset
            for dataset in described
        )  # fmt: skip
    load = own_characteristics(table)
    if load is None:
        return tuple(described)
    counted = load()
    places = {name: i for i, name in enumerate(counted.datasets)}
    columns = [counted.names.index(name) for name in ("Nu", "Ni", "Nr") if name in counted.names]
    if len(columns) < 3:
        return tuple(described)
    rest = []
    for dataset in described:
        row = counted.values[places[dataset.name], columns] if dataset.name in places else np.full(3, np.nan)
        users, items, interactions = (None if np.isnan(value) else round(float(value)) for value in row)
        rest.append(replace(dataset, users=users, items=items, interactions=interactions))
    return tuple(rest)


def _references(facts: StudyFacts | None) -> dict[str, str]:
    """What each algorithm of a study is an instance of: the registered name, or the path of its file."""
    algorithms = facts.manifest.get("study", {}).get("algorithms", ()) if facts is not None else ()
    return {
        str(part["name"]): str(part["reference"])
        for part in algorithms
        if isinstance(part, dict) and "reference" in part
    }


def _origin(table: Results) -> tuple[str, str]:
    """Of a published table, what it is and its name."""
    published = published_of(table)
    if published is None:
        return "", ""
    protocol = f" ({published.protocol})" if published.protocol else ""
    return f"The numbers are those of {published.paper.partition(', https')[0]}{protocol}", published.name
