"""The verb `analyze`: every registered analysis on one results table."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from threadpoolctl import threadpool_limits

from recassay.api.content import AnalysisReport, report_content
from recassay.api.saving import document, save
from recassay.api.tables import (
    default_metric,
    load_characteristics,
    load_results,
    own_characteristics,
    study_folder,
)
from recassay.core.analysis import AnalysisResult, AnalysisSpec
from recassay.core.choices import MissingPolicy
from recassay.core.errors import RecAssayError, UsageError
from recassay.core.formats import known_formats
from recassay.core.inputs import CharacteristicsLike, ResultsLike
from recassay.core.names import canonical, did_you_mean
from recassay.core.registry import analyses
from recassay.core.system.plain import plain
from recassay.core.tables.labels import find_label
from recassay.core.tables.results import Results
from recassay.evidence.study import evidence_of
from recassay.evidence.users import table_scores
from recassay.reporting.drawers import Drawers
from recassay.reporting.files import refuse_file
from recassay.reporting.page.cautions import cautions
from recassay.reporting.telling import failure
from recassay.reporting.verdict import verdict

LEAST_REPLICATES = 100
"""Fewer bootstrap replicates give no interval."""

Stages: TypeAlias = Callable[[int, int, str], None]
"""Told before each stage how many are done, how many there are and its name; at the end that all are done."""


def analyze(
    results: ResultsLike,
    metric: str | None = None,
    *,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    seed: int = 0,
    alpha: float = 0.05,
    replicates: int = 10_000,
    control: str | None = None,
    out: str | Path | None = None,
    formats: Sequence[str] | None = None,
    characteristics: CharacteristicsLike | None = None,
    progress: Stages | None = None,
) -> AnalysisReport:
    """Run every registered analysis on one metric; with `out`, write the report, tables and figures there.

    Args:
        results: results table (file, frame or several files), the folder of a study, or loaded results.
        metric: label such as `ndcg@10`; by default `ndcg@10` or `accuracy` where present, else the only metric.
        missing: what becomes of missing cells: see `Results.matrix`.
        higher_is_better: direction of a metric that RecAssay does not know.
        seed: the same seed gives the same numbers.
        alpha: level of the tests; intervals have level 1 - alpha.
        replicates: bootstrap replicates.
        control: an algorithm that was named beforehand, to be compared with every other.
        out: folder for the report, the tables and the figures.
        formats: of the figures: `svg`, `pdf`, `png` and `json` (Vega-Lite); by default all but `png`.
        characteristics: characteristics of the datasets (file or frame); a study and a published table know their own.
        progress: called before each stage with how many are done, how many there are, and its name.
    """
    if not 0 < alpha < 1:
        raise UsageError(f"alpha is {alpha}", fix="give a level between 0 and 1")
    if replicates < LEAST_REPLICATES:
        raise UsageError(f"{replicates} bootstrap replicates are too few", fix=f"use at least {LEAST_REPLICATES}")
    if out is not None:
        refuse_file(Path(out))
    known_formats(formats)
    table = load_results(results, metric=metric)
    label = find_label(metric or default_metric(table), table.metrics)
    if control is not None and canonical(control) not in map(canonical, table.algorithms):
        raise UsageError(
            f"the control {control!r} is none of the algorithms", fix=did_you_mean(control, table.algorithms)
        )
    evidence = known_evidence(results, table, characteristics)
    spec = AnalysisSpec(label, missing, higher_is_better, seed, alpha, replicates, control, evidence)
    table.matrix(label, missing=missing, higher_is_better=higher_is_better, least_datasets=1)
    with Drawers() if out is not None else nullcontext() as drawers:  # they start while analyses run
        done, skipped = run_analyses(table, spec, progress=progress)
        said = verdict(done, skipped)
        report = AnalysisReport(label, table, done, skipped, said)
        content = report_content(
            report, study_folder(results), alpha=alpha, missing=missing, higher_is_better=higher_is_better
        )
        report.cautions.extend(f"{found.title}: {found.sentence}" for found in cautions(content))
        if out is not None:
            answer = document("analyze", report.to_dict(), table)
            report.files.extend(save(done, answer, out, formats=formats, content=content, drawers=drawers))
    if progress is not None:
        progress(1, 1, "")
    return report


def known_evidence(
    results: ResultsLike, table: Results, characteristics: CharacteristicsLike | None
) -> dict[str, Callable[[], Any]]:
    """By name, ways to load what is known besides the table: of a study, of a published table, and what was given."""
    evidence = evidence_of(study_folder(results) or study_folder(table))
    if table.users is not None:
        evidence["users"] = lambda: partial(table_scores, table)
    own = own_characteristics(table)
    if characteristics is not None:
        given = load_characteristics(characteristics)
        given.aligned(table.datasets)  # a file of other datasets is refused before anything is computed
        evidence["characteristics"] = lambda: given
    elif own is not None:
        evidence["characteristics"] = own
    return evidence


def run_analyses(
    table: Results, spec: AnalysisSpec, names: Collection[str] | None = None, progress: Stages | None = None
) -> tuple[dict[str, AnalysisResult], dict[str, str]]:
    """The result of each registered analysis, or of those named; and by name why one does not apply, or what it
    failed with.

    A result must be able to tell itself as plain data and as tables; one that cannot counts as failed.
    """
    done: dict[str, AnalysisResult] = {}
    found, skipped = analyses.loadable()
    chosen = {name: analysis for name, analysis in found.items() if names is None or name in names}
    for number, (name, analysis) in enumerate(chosen.items()):
        if progress is not None:
            progress(number, len(chosen) + 1, name)
        try:
            with threadpool_limits(1, user_api="blas"):  # the matrices are tiny: more threads cost more than they give
                result = analysis.run(table, spec)
            json.dumps(plain(result.to_dict()), allow_nan=False)
            result.frames()
            done[name] = result
        except RecAssayError as reason:
            skipped[name] = str(reason)
        except Exception as error:
            skipped[name] = failure("it", error)
    if progress is not None:
        progress(len(chosen), len(chosen) + 1, "tables and figures")
    return done, skipped
