"""What a reader must know before believing a number: leakage, gaps, failures, untuned algorithms, low power."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from recassay.analysis.compare.result import CompareResult
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.tables.facts import AuditFinding, StudyFacts
from recassay.core.tables.matrix import MissingCells
from recassay.core.words import count_of, listing
from recassay.reporting.content import ReportContent
from recassay.reporting.words.missing import missing_cells

MANY_REPEATS = 0.2
"""The share of test events that repeat one of training from which on the task should be thought about."""

Caution: TypeAlias = tuple[str, str]
"""A warning: a few words that stand out, and one sentence."""


def cautions(content: ReportContent) -> Iterator[Caution]:
    """Every warning that the results, the tests and the study's own record give cause for."""
    facts = content.facts
    if facts is not None:
        yield from _study(facts)
    yield from _missing(content)
    if facts is not None and facts.untuned:
        most = max((most for _, most in facts.spent.values()), default=0)
        beside = f", while others got up to {count_of(most, 'trial')}" if most else ""
        names = listing(facts.untuned, most=8)
        yield "Untuned", f"{names} ran with default parameters: no trial was spent on tuning{beside}."
    if facts is not None and facts.given:
        given = listing(facts.given, most=8)
        yield "Judged as given", f"{given}: lists made elsewhere; nothing here tuned or trained what made them."
    yield from _power(content)


def _study(facts: StudyFacts) -> Iterator[Caution]:
    """Leaks, failures and cells to go, and what was not done as it was planned."""
    kinds: dict[tuple[str, bool], list[AuditFinding]] = {}
    for finding in facts.findings:
        kinds.setdefault((finding.name, finding.leak), []).append(finding)
    for (name, leak), findings in kinds.items():
        datasets = list(dict.fromkeys(finding.dataset for finding in findings))
        where = f"{name.replace('_', ' ')} on {listing(datasets, most=6)}"
        first = " (the first of them)" if len(datasets) > 1 else ""
        if name != "repeated_events":
            yield "Leakage" if leak else "Weak evidence", f"{where}: {findings[0].sentence}{first}."
        elif max(finding.share for finding in findings) >= MANY_REPEATS:
            yield "Repeated events", f"on {listing(datasets, most=6)}: {findings[0].sentence}{first}."
    if facts.failed:
        cells = listing((f"{f.algorithm} on {f.dataset} ({f.status})" for f in facts.failed), most=5)
        count = f"{len(facts.failed)} of {facts.planned} cells failed"
        yield "Failed cells", f"{count}: {cells}. Reasons stand under Cost."
    if facts.to_go:
        yield "Unfinished", f"{facts.to_go} of {facts.planned} cells have not run yet; the numbers will change."
    for sentence in facts.deviations:
        yield "Not as planned", sentence


def _missing(content: ReportContent) -> Iterator[Caution]:
    records = [getattr(result, "missing", None) for result in content.analyses.values()]
    sentence = next((missing_cells(each, content.words) for each in records if isinstance(each, MissingCells)), "")
    if sentence:
        yield "Missing cells", f"Of {content.metric}, {sentence}"
    labels = [label for label in content.results.metrics if label != content.metric]
    gaps = {label: int(np.isnan(content.results.table(label)).sum()) for label in labels}
    if any(gaps.values()):
        gaps_named = listing((f"{label} ({count})" for label, count in gaps.items() if count), most=6)
        yield "Missing cells", f"Of other metrics some cells have no value: {gaps_named}."


def _power(content: ReportContent) -> Iterator[Caution]:
    compared, words = content.result(CompareResult), content.words
    if compared is None:
        return
    power = compared.power
    if power.datasets < FEWEST_DATASETS:
        yield (
            f"Few {words.datasets}",
            f"{power.datasets} {words.datasets} prove nothing about others: no test, no probability is given.",
        )
