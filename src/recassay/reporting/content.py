"""What a report is made of."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TypeVar

from recassay.analysis.verdict.result import Verdict
from recassay.core.analysis import AnalysisResult
from recassay.core.choices import MissingPolicy
from recassay.core.tables.facts import StudyFacts
from recassay.core.tables.results import Results
from recassay.core.vocabulary import Vocabulary
from recassay.core.words import listing

Value = TypeVar("Value")


def grouped(values: Mapping[str, Value]) -> dict[Value, list[str]]:
    """Names under the value that they share: a reason, a protocol, a number of trials."""
    names: dict[Value, list[str]] = {}
    for name, value in values.items():
        names.setdefault(value, []).append(name)
    return names


@dataclass(frozen=True, slots=True, eq=False)
class ReportContent:
    """One table, one metric, every answer to it; `facts` where the table is that of a study folder.

    `questions` holds, by the name of an analysis, its question and source; `formulas` the formula and convention of
    metrics, by label.
    """

    metric: str
    higher_is_better: bool
    results: Results
    analyses: Mapping[str, AnalysisResult]
    skipped: Mapping[str, str]
    alpha: float = 0.05
    missing: MissingPolicy = "error"
    facts: StudyFacts | None = None
    questions: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    formulas: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    """On other metrics, by label: what the leaderboard shows where a reader chooses them."""
    own: tuple[str, ...] = ()
    """On a page about one algorithm its headline and sentences, in place of the verdict on the whole field."""

    def result(self, kind: type[Value]) -> Value | None:
        """The first result of a kind."""
        return next((result for result in self.analyses.values() if isinstance(result, kind)), None)

    @property
    def words(self) -> Vocabulary:
        """The words of the table, in which all of the report is written."""
        return Vocabulary.of(self.results.words)

    @property
    def day(self) -> date:
        """When a study was written, else today; `SOURCE_DATE_EPOCH` fixes the day, as in reproducible builds."""
        if self.facts is not None and re.match(r"\d{4}-\d\d-\d\d", self.facts.written):
            return date.fromisoformat(self.facts.written[:10])
        fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
        return datetime.fromtimestamp(int(fixed), UTC).date() if fixed.isdecimal() else datetime.now(UTC).date()

    @property
    def title(self) -> str:
        """What the report calls itself."""
        if self.facts is not None:
            return f"Study “{self.facts.name}”"
        files = list(dict.fromkeys(name for name, _ in self.sources))
        return listing(files, most=3) if files else "Results"

    @property
    def sources(self) -> list[tuple[str, str]]:
        """The files behind the table, without their folders (a page is sent to others), and the start of their hash."""
        return [
            (source.file.replace("\\", "/").rstrip("/").rpartition("/")[2], source.sha256[:12])
            for source in self.results.sources
        ]
