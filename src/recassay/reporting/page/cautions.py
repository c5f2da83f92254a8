"""What a reader must know before believing a number: leakage, gaps, failures, untuned algorithms, low power, groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from recassay.analysis.compare.result import CompareResult
from recassay.analysis.groups.result import GroupsResult
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.system.failures import causes
from recassay.core.tables.facts import AuditFinding, StudyFacts
from recassay.core.tables.matrix import MissingCells
from recassay.core.words import count_of, listing
from recassay.reporting.content import ReportContent
from recassay.reporting.words.groups import first_line
from recassay.reporting.words.missing import missing_cells
from recassay.reporting.words.sequences import LITTLE, order_words

MANY_REPEATS = 0.2
"""The share of test events that repeat one of training from which on the task should be thought about."""

Caution: TypeAlias = tuple[str, str]
"""A warning: a few words that stand out, and one sentence."""


def cautions(content: ReportContent) -> Iterator[Caution]:
    """Every warning that the results, the tests and the study's own record give cause for."""
    groups = content.result(GroupsResult)
    first = None if groups is None else first_line(groups)
    if first is not None:
        yield "Not for everyone", first
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
    for cause in causes(facts.left_out):
        names, where = (listing(named, most=8) for named in (cause.algorithms, cause.datasets))
        yield "Left out", f"{names} on {where}: {cause.reason}."
    if facts.to_go:
        yield "Unfinished", f"{facts.to_go} of {facts.planned} cells have not run yet; the numbers will change."
    for sentence in facts.deviations:
        yield "Not as planned", sentence
    yield from _sequences(facts)


def _sequences(facts: StudyFacts) -> Iterator[Caution]:
    """Readers of order on data without it, and trained ones without a simple one beside them."""
    trained = [name for name in facts.sequential if name not in facts.simple]
    if trained and not facts.simple:
        names = listing(trained, most=8)
        verb = "reads" if len(trained) == 1 else "read"
        yield (
            "No simple rival",
            f"{names} {verb} the order of events, and no simple method that does is compared with: add SequentialRules "
            "or V-SKNN, which often equal trained models.",
        )
    if facts.one_negative:
        yield (
            "One negative",
            f"{listing(facts.one_negative, most=8)} learned with one negative item per target, the loss of 2018: on "
            "MovieLens 1M it loses 26 % of nDCG against the full softmax. Use loss = 'softmax' for a fair rival.",
        )
    for row in facts.order.iter_rows(named=True):
        if row["low"] is not None and row["low"] > -LITTLE:
            yield "Little order", order_words(row["dataset"], row)


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
