"""The verb `report`: one page that tells everything about a table or a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recassay.api.results import AnalysisReport
    from recassay.core.results import MissingPolicy
    from recassay.reporting.content import ReportContent

PAGE = "report.html"


def report(
    results: Any,
    metric: str | None = None,
    *,
    out: str | Path | None = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    seed: int = 0,
    alpha: float = 0.05,
    replicates: int = 10_000,
    characteristics: Any = None,
) -> AnalysisReport:
    """Run every analysis and write one self-contained HTML page, without the folder of figures and tables.

    `out` is the file, or a folder for `report.html`; by default the folder of a study, else the current one. The path
    is the only one in `files` of the answer.
    """
    from recassay.api.results import _study_folder
    from recassay.reporting.folder import refuse_file, write_files

    folder = _study_folder(results)
    target = Path(out) if out is not None else (folder or Path()) / PAGE
    target = target / PAGE if target.is_dir() else target
    refuse_file(target.parent)
    found, page = report_page(
        results,
        metric,
        missing=missing,
        higher_is_better=higher_is_better,
        seed=seed,
        alpha=alpha,
        replicates=replicates,
        characteristics=characteristics,
    )
    found.files.extend(write_files(target.parent, {target.name: page.encode()}))
    return found


def report_page(
    results: Any,
    metric: str | None = None,
    *,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    alpha: float = 0.05,
    **more: Any,
) -> tuple[AnalysisReport, str]:
    """Every analysis, and the page that tells them; `more` goes to `analyze`."""
    from recassay.api.results import _study_folder, analyze
    from recassay.reporting.figures import told_and_drawn
    from recassay.reporting.page import build_page

    found = analyze(results, metric, missing=missing, higher_is_better=higher_is_better, alpha=alpha, **more)
    content = report_content(
        found, _study_folder(results), alpha=alpha, missing=missing, higher_is_better=higher_is_better
    )
    parts, drawings = told_and_drawn(found.analyses)
    return found, build_page(content, parts, drawings)


def report_content(
    found: AnalysisReport,
    folder: Path | None,
    *,
    alpha: float,
    missing: MissingPolicy,
    higher_is_better: bool | None,
) -> ReportContent:
    """What a page about these answers is made of; the facts come from the study folder where there is one.

    Formulas are those that the study computed by: nothing is claimed of how a foreign table was made.
    """
    from recassay.api.facts import study_facts
    from recassay.core.registry import analyses
    from recassay.reporting.content import ReportContent

    facts = study_facts(folder) if folder is not None else None
    return ReportContent(
        metric=found.metric,
        higher_is_better=found.results.direction(found.metric, higher_is_better),
        results=found.results,
        analyses=found.analyses,
        skipped=found.skipped,
        alpha=alpha,
        missing=missing,
        facts=facts,
        questions={name: (analysis.question, analysis.source) for name, analysis in analyses},
        formulas=facts.conventions if facts is not None else {},
    )
