"""What results say: each is asked through its sections, in reading order, and one that fails costs no report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from recassay.core import registry
from recassay.core.analysis import AnalysisResult
from recassay.core.system.display import answer_html, summary_line
from recassay.reporting.section import PARTS, Section, Table
from recassay.reporting.tables import heading, shown


@dataclass(frozen=True, slots=True)
class Answer:
    """What results say in sentences and tables; `not_done` holds what could not be told, and why."""

    sentences: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    not_done: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        said = [*self.sentences, *(f"Not done: {reason}" for reason in self.not_done)]
        return answer_html(said, self.tables)


def sections() -> tuple[list[Section], dict[str, str]]:
    """Every section, ours and plugins', in reading order; and by name why some cannot be loaded."""
    loaded, problems = registry.sections.loadable()
    found = {name: section for name, section in loaded.items() if isinstance(section, Section)}
    problems |= {name: "what it announces is no Section" for name in loaded.keys() - found.keys()}
    return sorted(
        found.values(), key=lambda section: (PARTS.index(section.part), section.order, section.title)
    ), problems


def with_sections(results: Mapping[str, AnalysisResult]) -> Iterator[tuple[Section, str, AnalysisResult]]:
    """Each result with its name and a section that tells it, in reading order; one without a section is left out."""
    for section in sections()[0]:
        for name, result in results.items():
            if isinstance(result, section.of):
                yield section, name, result


def ask(section: Section, what: Literal["sentences", "tables", "figures"], result: Any, not_done: list[str]) -> Any:
    """What a section gives of a result; where its function raises, nothing, and `not_done` gets the reason."""
    try:
        return list(getattr(section, what)(result))
    except Exception as error:
        not_done.append(failure(f"the {what} of the section {section.title!r}", error))
        return []


def failure(what: str, error: Exception) -> str:
    """What failed and why, in one line."""
    return " ".join(f"{what} failed with {type(error).__name__}: {error}".split())


def answer(results: Mapping[str, AnalysisResult]) -> Answer:
    """The sentences and tables of these results in reading order; one without a section shows its main table."""
    sentences: list[str] = []
    tables: list[Table] = []
    not_done: list[str] = []
    told = set()
    for section, name, result in with_sections(results):
        sentences += ask(section, "sentences", result, not_done)
        tables += ask(section, "tables", result, not_done)
        told.add(name)
    tables += [main_table(result) for name, result in results.items() if name not in told]
    return Answer(tuple(sentences), tuple(tables), tuple(not_done))


def main_table(result: AnalysisResult) -> Table:
    """The main frame of a result that no section tells, for people."""
    frame = result.to_frame()
    rows = [[shown(value) for value in row] for row in frame.iter_rows()]
    return Table(summary_line(result), map(heading, frame.columns), rows, most=50)
