"""The verb `analyze`: every registered analysis on one results table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from recassay.analysis.rank.result import RankResult
from recassay.analysis.verdict.fit import find_control
from recassay.api.arguments import checked
from recassay.api.inputs import CharacteristicsLike, ResultsLike, TableLike
from recassay.api.publish.analysts import answered
from recassay.api.publish.content import AnalysisReport, document, report_content, with_verdicts, write_folder
from recassay.api.tables import load_characteristics, own_characteristics, read_metric, study_folder
from recassay.core.analysis import AnalysisResult, AnalysisSpec
from recassay.core.choices import Advanced, Alpha, MissingPolicy, PairTest, known_formats, refuse_level
from recassay.core.errors import UsageError
from recassay.core.registry import analyses
from recassay.core.tables.groups import GroupsEvidence
from recassay.core.tables.labels import find_label
from recassay.core.tables.results import Results
from recassay.core.vocabulary import Vocabulary
from recassay.evidence.group_tables import GroupTables, known_groups
from recassay.evidence.study import evidence_of
from recassay.reporting.content import ReportContent
from recassay.reporting.drawing import MARKED, Drawers
from recassay.reporting.figures import draw_ahead
from recassay.reporting.files import refuse_file
from recassay.reporting.page.cautions import cautions
from recassay.reporting.telling import verdict

LEAST_REPLICATES = 100
"""Fewer bootstrap replicates give no interval."""

WORTH_A_PROCESS = 100
"""Cells (algorithms x datasets) from which on further processes are ready before this one is done."""

Stages: TypeAlias = Callable[[int, int, str], None]
"""Told before each stage how many are done, how many there are and its name; at the end that all are done."""

Ahead: TypeAlias = Callable[[Mapping[str, AnalysisResult], Vocabulary], None]
"""Told the results that pictures are made of, as soon as they are there, and the words of their table."""


@checked
def analyze(
    results: ResultsLike,
    metric: str | None = None,
    *,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    seed: Annotated[int, Advanced] = 0,
    alpha: Alpha = 0.05,
    test: Annotated[PairTest, Advanced] = "sign-flips",
    replicates: int | None = None,
    control: str | None = None,
    out: str | Path | None = None,
    formats: Sequence[str] | None = None,
    characteristics: CharacteristicsLike | None = None,
    groups: TableLike | None = None,
    item_groups: TableLike | None = None,
    progress: Stages | None = None,
    wide: bool = False,
    transpose: bool = False,
) -> AnalysisReport:
    """Run every registered analysis on one metric; with `out`, write the report, tables and figures there.

    Args:
        results: a results table (file or frame), several of them, the folder of a study, or loaded results.
        metric: label such as `ndcg@10`; by default `ndcg@10` or `accuracy` where present, else the only metric.
        missing: how to treat missing cells: refuse them, drop their datasets or algorithms, or take the worst value.
        higher_is_better: direction of a metric that RecAssay does not know.
        seed: the same seed gives the same numbers.
        alpha: level of the tests; intervals have level 1 - alpha.
        test: which test the verdict rests on: all pairs by flipped signs, or `wilcoxon-holm`, common in papers.
        replicates: number of bootstrap replicates; by default 10,000, fewer with more than 60 algorithms.
        control: an algorithm, chosen before seeing the results, to compare with every other.
        out: folder for the report, the tables and the figures.
        formats: of the figures: `svg`, `pdf`, `png` and `json` (Vega-Lite); by default all but `png`.
        characteristics: characteristics of the datasets (file or frame); a study and a published table know their own.
        groups: groups of users: a table with a column user and one per attribute (sex, age); a study may name its own.
        item_groups: groups of items, likewise: a column item and one per attribute; for the folder of a study.
        progress: called before each stage with how many are done, how many there are, and its name.
        wide: the rows of the table are algorithms and its columns datasets, where the table does not say it.
        transpose: the rows of the table are datasets and its columns algorithms.
    """
    if out is not None:
        refuse_file(Path(out))
    chosen = known_formats(formats)
    drawn = tuple(dict.fromkeys((MARKED, *chosen)))
    spec = AnalysisSpec(
        metric or "", missing=missing, higher_is_better=higher_is_better, seed=seed, alpha=alpha, test=test,
        replicates=replicates,
        control=control,
    )  # fmt: skip
    with Drawers() if out is not None else nullcontext() as drawers:  # they start while analyses run
        ahead = partial(draw_ahead, formats=drawn, drawers=drawers) if drawers is not None else None
        report, content = examine(
            results, spec, characteristics=characteristics, groups=GroupTables.read(groups, item_groups),
            progress=progress, pictures=ahead, wide=wide, transpose=transpose,
        )  # fmt: skip
        if out is not None:
            answer = document("analyze", report.to_dict(), report.results)
            content = with_verdicts(content, spec)
            report.files.extend(
                write_folder(Path(out), report.analyses, answer, formats=chosen, content=content, drawers=drawers)
            )
    if progress is not None:
        progress(1, 1, "")
    return report


def examine(
    results: ResultsLike,
    spec: AnalysisSpec,
    *,
    characteristics: CharacteristicsLike | None = None,
    groups: GroupTables | None = None,
    progress: Stages | None = None,
    pictures: Ahead | None = None,
    wide: bool = False,
    transpose: bool = False,
    evidence: Mapping[str, Callable[[], Any]] | None = None,
) -> tuple[AnalysisReport, ReportContent]:
    """Every analysis with its verdict, and what a page is made of; nothing is written.

    `evidence` is what the caller knows besides the table, by name.

    Without a metric in `spec` the one that is meant is taken. `pictures` gets each result as it comes in, beside
    that of the ranking.
    """
    refuse_level(spec.alpha)
    if spec.replicates is not None and spec.replicates < LEAST_REPLICATES:
        raise UsageError(f"{spec.replicates} bootstrap replicates are too few", fix=f"use at least {LEAST_REPLICATES}")
    table, metric = read_metric(results, spec.metric or None, wide=wide, transpose=transpose)
    label = find_label(metric, table.metrics)
    refuse_unknown_control(spec.control, table)
    known = known_evidence(results, table, characteristics, groups)
    if groups is not None and (groups.users is not None or groups.items is not None) and "groups" in known:
        known["groups"]()(label)  # groups that fit nothing are refused before anything is computed
    spec = replace(spec, metric=label, evidence=known | dict(evidence or {}))
    spec.matrix(table, least_datasets=1)  # a missing cell is refused at once
    done, skipped = run_analyses(table, spec, progress=progress, pictures=pictures)
    words = Vocabulary.of(table.words)
    report = AnalysisReport(label, table, done, skipped, verdict(done, skipped, words))
    content = report_content(report, study_folder(results), spec)
    report.cautions.extend(f"{title}: {sentence}" for title, sentence in cautions(content))
    return report, content


def known_evidence(
    results: ResultsLike,
    table: Results,
    characteristics: CharacteristicsLike | None,
    groups: GroupTables | None = None,
) -> dict[str, Callable[[], Any]]:
    """By name, ways to load what is known besides the table: of a study, of a published table, and what was given."""
    folder = study_folder(results) or study_folder(table)
    evidence = evidence_of(folder)
    if "instances" not in evidence:
        known = partial(_by_group, results=table, folder=folder, tables=groups or GroupTables())
        evidence["groups"] = lambda: known
    if table.users is not None:
        from recassay.evidence.users import table_scores

        evidence["users"] = lambda: partial(table_scores, table)
    measured = own_characteristics(table)
    if characteristics is not None:
        given = load_characteristics(characteristics)
        given.aligned(table.datasets)  # a file of other datasets is refused before anything is computed
        evidence["characteristics"] = lambda: given
    elif measured is not None:
        evidence["characteristics"] = measured
    return evidence


def _by_group(metric: str, *, results: Results, folder: Path | None, tables: GroupTables) -> GroupsEvidence:
    """What is known by group; where nothing is, what computes it is not loaded either."""
    known_groups(metric, results=results, folder=folder, tables=tables)
    from recassay.evidence.groups import groups_evidence

    return groups_evidence(metric, results=results, folder=folder, tables=tables)


def refuse_unknown_control(control: str | None, table: Results) -> None:
    """Refuse a control that is not one of the algorithms."""
    if control is not None:
        find_control(control, table.algorithms)


def run_analyses(
    table: Results,
    spec: AnalysisSpec,
    names: Collection[str] | None = None,
    *,
    progress: Stages | None = None,
    pictures: Ahead | None = None,
) -> tuple[dict[str, AnalysisResult], dict[str, str]]:
    """The result of each registered analysis, or of those named; and by name why one does not apply, or what it
    failed with.
    """
    worth = names is None and len(table.algorithms) * len(table.datasets) >= WORTH_A_PROCESS
    done: dict[str, AnalysisResult] = {}
    skipped: dict[str, str] = {}
    chosen = [name for name in analyses.names() if names is None or name in names]

    def tell(count: int, name: str) -> None:
        if progress is not None:
            progress(count, len(chosen) + 1, name)

    for name, answer in answered(chosen, table, spec, starts=tell, processes=None if worth else 0):
        if isinstance(answer, str):
            skipped[name] = answer
            continue
        done[name] = answer
        if pictures is not None:
            ranked = {key: result for key, result in done.items() if isinstance(result, RankResult)}
            words = Vocabulary.of(table.words)
            pictures({**ranked, name: answer}, words)  # charts take the colours of algorithms from the ranking
    tell(len(chosen), "tables and figures")
    return {name: done[name] for name in chosen if name in done}, skipped
