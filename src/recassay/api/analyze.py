"""Verbs on a results table: load, rank, compare, profile, correlate, analyse, save."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from recassay.api.content import AnalysisReport, report_content
from recassay.api.saving import document, save
from recassay.api.tables import default_metric, load_characteristics, load_results, study_folder
from recassay.core.analysis import AnalysisResult, AnalysisSpec
from recassay.core.choices import MissingPolicy
from recassay.core.errors import NotApplicableError
from recassay.core.labels import find_label
from recassay.core.registry import analyses
from recassay.evidence.study import evidence_of
from recassay.reporting.files import refuse_file
from recassay.reporting.verdict import verdict


def analyze(
    results: Any,
    metric: str | None = None,
    *,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    seed: int = 0,
    alpha: float = 0.05,
    replicates: int = 10_000,
    out: str | Path | None = None,
    characteristics: Any = None,
) -> AnalysisReport:
    """Run every registered analysis on one metric; with `out`, write the report, tables and figures there.

    `characteristics` of the datasets (a path or a frame) are for a table; a study knows its own.
    """
    if out is not None:
        refuse_file(Path(out))
    table = load_results(results, metric=metric)
    label = find_label(metric or default_metric(table), table.metrics)
    evidence = evidence_of(study_folder(results))
    if characteristics is not None:
        evidence["characteristics"] = partial(load_characteristics, characteristics)
    spec = AnalysisSpec(label, missing, higher_is_better, seed, alpha, replicates, evidence=evidence)
    done: dict[str, AnalysisResult] = {}
    skipped: dict[str, str] = {}
    for name, analysis in analyses:
        try:
            done[name] = analysis.run(table, spec)
        except NotApplicableError as reason:
            skipped[name] = str(reason)
    report = AnalysisReport(label, table, done, skipped, verdict(done))
    if out is not None:
        content = report_content(
            report, study_folder(results), alpha=alpha, missing=missing, higher_is_better=higher_is_better
        )
        report.files.extend(save(done, document("analyze", report.to_dict(), table), out, content=content))
    return report
