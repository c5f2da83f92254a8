"""What `analyze` found, its pictures, what a page says about it, and what a command writes: its JSON and its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from recassay.analysis.verdict.claims import parse_claim, standing
from recassay.analysis.verdict.fit import judge
from recassay.analysis.verdict.result import Verdict
from recassay.api.arguments import checked
from recassay.core.analysis import AnalysisResult, AnalysisSpec
from recassay.core.choices import MANY_ALGORITHMS, MissingPolicy
from recassay.core.errors import RecAssayError
from recassay.core.registry import analyses
from recassay.core.system.plain import plain
from recassay.core.tables.labels import known_direction
from recassay.core.tables.results import Results
from recassay.core.tables.sources import Sourced
from recassay.core.version import __version__
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.evidence.facts import study_facts
from recassay.reporting import figures as reporting
from recassay.reporting.claims import statements
from recassay.reporting.content import ReportContent, grouped
from recassay.reporting.figures import Figures
from recassay.reporting.files import write_files
from recassay.reporting.folder import write_folder
from recassay.reporting.headline import judgement, verdict_brief
from recassay.reporting.paper.paragraph import paragraph
from recassay.reporting.section import Brief
from recassay.reporting.telling import Answer, answer, answer_html, leaders, result_html
from recassay.reporting.words import claims as claim_words
from recassay.reporting.words.claims import box_lines

__all__ = [
    "AnalysisReport", "box_lines", "claimable", "claims", "document", "figures", "paragraph",
    "report_brief", "report_content", "save_text", "tell", "with_verdicts", "write_folder",
]  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class AnalysisReport:
    """Everything that `analyze` found on one table and metric."""

    metric: str
    results: Results
    """The table that was analysed."""
    analyses: dict[str, AnalysisResult]
    """The result of each analysis by its name: `report.analyses["rank"]` is a `RankResult`."""
    skipped: dict[str, str]
    """By name, the analyses that do not apply or failed, and why."""
    verdict: list[str]
    """What the results support together, in sentences, the most important first."""
    cautions: list[str] = field(default_factory=list)
    """What to know before believing it, in sentences."""
    files: list[Path] = field(default_factory=list)
    """The files that were written, where `out` was given."""

    def not_done(self) -> dict[str, list[str]]:
        """The analyses that were skipped, by reason: one cause is named once."""
        return grouped(self.skipped)

    @property
    def figures(self) -> Figures:
        """The pictures of all results; `figures["critical_difference"].save("cd.pdf")` writes one of them."""
        return figures(self)

    @property
    def judgement(self) -> Verdict | None:
        """The verdict that the ranking and the comparison share; None where neither applies."""
        return judgement(self.analyses)

    @property
    def words(self) -> Vocabulary:
        """The words of the table, in which everything is said."""
        return Vocabulary.of(self.results.words)

    def __repr__(self) -> str:
        headline = self.verdict[0] if self.verdict else "Nothing could be said."
        return f"{headline} [AnalysisReport of {self.metric}: {len(self.analyses)} analyses]"

    def to_dict(self) -> dict[str, Any]:
        """The verdict, what to be wary of, who leads by which analysis, each analysis, and why others were skipped."""
        return {
            "metric": self.metric,
            "verdict": None if self.judgement is None else self.judgement.to_dict(),
            "sentences": self.verdict,
            "cautions": self.cautions,
            "leaders": leaders(self.analyses),
            "claims": plain(statements(self.analyses)),
            "skipped": self.skipped,
            "analyses": {name: result.to_dict() for name, result in self.analyses.items()},
        }

    def _repr_html_(self) -> str:
        lines = [*self.verdict, *self.cautions] if self.judgement is None else self.cautions
        first = [result_html(self.analyses["rank"])] if "rank" in self.analyses else []
        return "".join([*first, answer_html(lines, ())]) or figures(self)._repr_html_()


@checked
def figures(result: AnalysisReport | AnalysisResult) -> Figures:
    """The pictures of a result, or of all results of a report: a notebook shows them.

    Args:
        result: a result, or the report of `analyze`.
    """
    if isinstance(result, AnalysisReport):
        return reporting.figures(result.analyses, result.words)
    return reporting.figures({"result": result})


def tell(result: AnalysisReport | AnalysisResult, table: Any = None) -> Answer:
    """What a result says, or all results of a report: its sentences and tables, as commands and pages show them.

    Args:
        result: a result, or the report of `analyze`.
        table: the table that the result is of, in whose words it is described (models on tasks), where it is loaded
            results; a report knows its own.
    """
    if isinstance(result, AnalysisReport):
        return answer(result.analyses, result.words)
    return answer({"result": result}, Vocabulary.of(table.words) if isinstance(table, Results) else USUAL)


def report_brief(report: AnalysisReport) -> Brief | None:
    """What a terminal shows of a report: the verdict, or of one dataset what its users say, with the first caution."""
    ranked, over_users = report.analyses.get("rank"), report.analyses.get("users")
    brief: Brief | None = None
    if ranked is not None:
        brief = tell(ranked, report.results).brief
    elif report.judgement is not None:
        brief = verdict_brief(report.judgement, report.words)
    elif over_users is not None:
        brief = tell(over_users, report.results).brief
    if brief is None:
        return None
    failed = [f"{name} failed: {why}" for name, why in report.skipped.items() if "failed with" in why]
    caution = brief.caution or next(iter([*report.cautions, *failed]), None)
    return replace(brief, caution=caution)


def report_content(report: AnalysisReport, folder: Path | None, spec: AnalysisSpec) -> ReportContent:
    """What a page about these answers is made of; the facts come from the study folder where there is one.

    Formulas are those that the study computed by: nothing is claimed of how a foreign table was made.
    """
    facts = study_facts(folder) if folder is not None else None
    return ReportContent(
        metric=report.metric,
        higher_is_better=report.results.direction(report.metric, spec.higher_is_better),
        results=report.results,
        analyses=report.analyses,
        skipped=report.skipped,
        alpha=spec.alpha,
        missing=spec.missing,
        facts=facts,
        questions={name: (analysis.question, analysis.source) for name, analysis in analyses.loadable()[0].items()},
        formulas=facts.conventions if facts is not None else {},
    )


def with_verdicts(content: ReportContent, spec: AnalysisSpec) -> ReportContent:
    """The same with a verdict on each other metric, for its leaderboard; not of more than 60 algorithms."""
    if len(content.results.algorithms) > MANY_ALGORITHMS:
        return content
    verdicts = {}
    for label in content.results.metrics:
        if label != content.metric and known_direction(label) is not None:
            with suppress(RecAssayError):  # too few values for a comparison
                gaps: MissingPolicy = "drop-datasets" if spec.missing == "error" else spec.missing
                verdicts[label] = judge(
                    content.results.matrix(label, missing=gaps), alpha=spec.alpha, test=spec.test, seed=spec.seed
                )
    return replace(content, verdicts=verdicts)


def document(command: str, content: Mapping[str, Any], results: Sourced) -> dict[str, Any]:
    """The JSON of a command: version, input files with their hashes, what to know of them, and the answer.

    `results` is what knows the input files.
    """
    files = [{"file": s.file, "sha256": s.sha256} for s in results.sources]
    notes = getattr(results, "notes", ())
    extras: dict[str, Any] = {"notes": list(notes)} if notes else {}
    if isinstance(results, Results):
        extras["reading"] = results.reading
    return {"recassay": __version__, "command": command, "input": files, **extras, **plain(content)}


def claims(result: AnalysisResult) -> dict[str, Any]:
    """What a result says as data: under `claims`, or under `statements` where it has claims of its own."""
    from recassay.analysis.multiverse.result import MultiverseResult

    stated_claims = plain(statements({"result": result}))
    return {"statements" if isinstance(result, MultiverseResult) else "claims": stated_claims} if stated_claims else {}


def claimable(result: Any, claims: Sequence[str], table: Any = None) -> dict[str, list[Any]]:
    """What the verdict of `rank` or `compare` supports and what not, and under `checked` how it stands to the claims
    (`A > B`, `A is best`) and why; in the words of `table`, where that is loaded results."""
    verdict, words = result.judgement, Vocabulary.of(table.words) if isinstance(table, Results) else USUAL
    checked = []
    for claim in [parse_claim(text, verdict.algorithms) for text in claims]:
        known = standing(claim, verdict)
        reason = claim_words.checked(verdict, claim.better, claim.worse, known, words)
        pair = None if claim.worse is None else plain(verdict.pair(claim.better, claim.worse))
        answer = claim_words.ANSWERS[known].lower()
        checked.append({"claim": str(claim), "answer": answer, "reason": reason, "pair": pair})
    return {"checked": checked, **claim_words.box(verdict, words)}


def save_text(path: str | Path, text: str | bytes) -> Path:
    """Write a file whole; text in UTF-8, bytes as they are. Its folder is made where it is not there."""
    target = Path(path)
    return write_files(target.parent, {target.name: text if isinstance(text, bytes) else text.encode()})[0]
