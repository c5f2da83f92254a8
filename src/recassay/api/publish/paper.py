"""The verb `paper`: the tables, figures, setup and references that a paper needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from recassay.api.arguments import checked
from recassay.api.inputs import PathLike, ResultsLike
from recassay.api.publish.analyze import known_evidence, refuse_unknown_control, run_analyses
from recassay.api.publish.paper_content import paper_content
from recassay.api.tables import default_metric, load_results, study_folder
from recassay.core.analysis import AnalysisResult, AnalysisSpec
from recassay.core.choices import FEWEST_DATASETS, Advanced, Alpha, MissingPolicy, PairTest, RowOrder, refuse_level
from recassay.core.errors import RecAssayError, UsageError
from recassay.core.names import did_you_mean
from recassay.core.registry import analyses
from recassay.core.tables.labels import find_label, is_cost, metric_name
from recassay.core.tables.results import Results
from recassay.core.tabular import stated
from recassay.core.words import listing
from recassay.reporting.claims import claim_files
from recassay.reporting.content import grouped
from recassay.reporting.figures import build_sections
from recassay.reporting.files import refuse_file, safe_stem, write_files
from recassay.reporting.paper.arrange import COLUMN_WIDTH, PAGE_WIDTH, Room
from recassay.reporting.paper.figures import paper_figure
from recassay.reporting.paper.files import paper_files, paper_notes
from recassay.reporting.paper.main_table import TableStyle
from recassay.reporting.section import Figure
from recassay.reporting.telling import answer_html, figures_by_analysis, verdict

FIGURES = ("critical_difference", "performance_profiles")
"""The figures of a paper that names none."""

FEW = "no figures: with fewer than five datasets they show nothing that the table does not; name them to have them: {}"

TESTS = ("rank", "compare", "users")
"""The analyses behind the tables."""

INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27, "": 1.0}


@dataclass(frozen=True, slots=True)
class Paper:
    """What was written for a paper."""

    metrics: tuple[str, ...]
    """Labels of the metrics in its tables."""
    sentences: tuple[str, ...]
    """What its numbers support, for the text: of the first metric."""
    notes: tuple[str, ...]
    """What a writer should know: figures that were not drawn, letters that came out small, and the like."""
    files: tuple[Path, ...]
    """The files that were written."""
    results: Results
    """The table that it describes."""

    def __repr__(self) -> str:
        return f"Paper({', '.join(self.metrics)}: {len(self.files)} files in {self.files[0].parent})"

    def _repr_html_(self) -> str:
        return answer_html([*self.sentences, *self.notes, repr(self)], ())

    def to_dict(self) -> dict[str, Any]:
        """`metrics`, `sentences`, `notes` and `files`."""
        return {**stated(self, "metrics", "sentences", "notes"), "files": [str(file) for file in self.files]}


@checked
def paper(
    results: ResultsLike,
    metrics: str | Sequence[str] | None = None,
    *,
    out: PathLike = "paper",
    figures: Sequence[str] | None = None,
    width: float | str = COLUMN_WIDTH,
    page_width: float | str = PAGE_WIDTH,
    letters: Annotated[float, Advanced] = 9.0,
    percent: bool = False,
    decimals: int | None = None,
    deviations: bool = True,
    mean: bool = False,
    wide_table: bool = False,
    rotated: Annotated[bool, Advanced] = False,
    order: Annotated[RowOrder, Advanced] = "rank",
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    alpha: Alpha = 0.05,
    test: Annotated[PairTest, Advanced] = "sign-flips",
    replicates: Annotated[int, Advanced] = 10_000,
    control: str | None = None,
    seed: Annotated[int, Advanced] = 0,
    wide: bool = False,
    transpose: bool = False,
) -> Paper:
    """Write what a paper needs: `main.tex`, `setup.tex`, `references.bib`, and folders of tables and figures.

    The main table has algorithms by datasets (turned where that fits better), the best value bold, the second
    underlined, and a star where the best is significantly better than the second: on a dataset by the sign-flip test
    over its users, where the results are a study that keeps their scores, else by Welch's test over its seeds; for mean
    columns by the verdict's test of all pairs over datasets. All tables are LaTeX (booktabs), Typst, Markdown and HTML;
    `main.csv` has every digit.

    Args:
        results: results table (file, frame or several files), the folder of a study, or loaded results.
        metrics: one label such as `ndcg@10` or several; the first is that of the figures. By default all metrics of
            the results but costs, `ndcg@10` or `accuracy` first where present.
        out: the folder.
        figures: names of figures, or of analyses whose figures are all wanted. By default the critical-difference
            diagram and the performance profiles; none of them below five datasets, of which they can show nothing.
        width: width of a column of text, which figures and narrow tables have: inches, or text such as `8.5cm`.
        page_width: width of the text of a page, for figures and tables over all columns.
        letters: size of the letters in figures, in points.
        percent: print values between 0 and 1 in percent.
        decimals: digits after the point; by default 4, in percent 2, and fewer for larger numbers.
        deviations: print the standard deviation over seeds, folds or stated runs beside each value.
        mean: add the mean over datasets as a column.
        wide_table: set the main table over all columns (`table*`) even where it would fit one.
        rotated: turn the main table by 90 degrees, on a page of its own.
        order: order of the algorithms: by mean `rank`, by `name`, or as `given`.
        missing: how to treat missing cells in ranks and tests: see `Results.matrix`. The table shows them as –.
        higher_is_better: direction of a metric that RecAssay does not know.
        alpha: level of the tests; intervals have level 1 - alpha.
        test: which test the verdict rests on: all pairs by flipped signs, or `wilcoxon-holm`, common in papers.
        replicates: bootstrap replicates.
        control: an algorithm that was named beforehand: tests over datasets compare it with every other.
        seed: the same seed gives the same numbers.
        wide: the rows of the table are algorithms and its columns datasets, where the table does not say it.
        transpose: the rows of the table are datasets and its columns algorithms.
    """
    refuse_file(Path(out))
    column, page = inches(width, "width"), inches(page_width, "page_width")
    if not 4 <= letters <= 24:
        raise UsageError(f"letters of {letters:g} points", fix="give a size from 4 to 24, as in 9")
    if decimals is not None and not 0 <= decimals <= 10:
        raise UsageError(f"{decimals} decimals", fix="give a number from 0 to 10")
    wanted = [metrics] if isinstance(metrics, str) else list(metrics or ())
    table = load_results(results, metric=wanted[0] if len(wanted) == 1 else None, wide=wide, transpose=transpose)
    without: dict[str, str] = {}
    labels = [find_label(name, table.metrics) for name in wanted]
    if not wanted:
        labels, without = _all_metrics(table, missing, higher_is_better)
    if len(set(labels)) < len(labels):
        raise UsageError(f"a metric is asked for twice: {listing(labels, most=5)}", fix="name each once")
    refuse_level(alpha)
    refuse_unknown_control(control, table)
    evidence = known_evidence(results, table, None)

    # The tests of each metric.
    specs = {
        label: AnalysisSpec(
            label, missing=missing, higher_is_better=higher_is_better, seed=seed, alpha=alpha, test=test,
            replicates=replicates, control=control, evidence=evidence,
        )
        for label in labels
    }  # fmt: skip
    findings = {}
    for label, spec in specs.items():
        if len(table.datasets) > 1:
            table.matrix(label, missing=missing, higher_is_better=higher_is_better)  # a missing cell is refused at once
        findings[label] = run_analyses(table, spec, TESTS)[0]

    # Figures, tables and sentences of the paper, as files.
    few = len(table.datasets) < FEWEST_DATASETS
    names = (() if few else FIGURES) if figures is None else tuple(figures)
    drawn, named, skipped = _figures(table, specs[labels[0]], findings[labels[0]], names)
    content = paper_content(
        table,
        findings,
        study_folder(results) or study_folder(table),
        directions={label: table.direction(label, higher_is_better) for label in labels},
        alpha=alpha,
        order=order,
    )
    made = [
        paper_figure(
            safe_stem(figure.name), figure.caption, figure.drawn, width=column, page_width=max(page, column),
            letters=letters,
        )
        for figure in drawn
    ]  # fmt: skip
    sentences = verdict(findings[labels[0]])
    title = f"{' and '.join(map(metric_name, labels[:2]))} of {len(content.algorithms)} algorithms"
    files = paper_files(
        content,
        made,
        sentences,
        title=title,
        style=TableStyle(percent=percent, decimals=decimals, deviations=deviations, mean=mean),
        room=Room(column, page, wide_table, rotated),
        analyses=named,
    )
    files |= claim_files(findings.values())
    notes = [f"{metric_name(label)} is left out: {why}" for label, why in without.items()]
    notes += [FEW.format(listing(FIGURES))] if few and figures is None else []
    notes += [f"{listing(names)} not drawn: {why}" for why, names in grouped(skipped).items()]
    notes += paper_notes(content, made, letters)
    return Paper(tuple(labels), tuple(sentences), tuple(notes), tuple(write_files(Path(out), files, share=True)), table)


def _all_metrics(
    table: Results, missing: MissingPolicy, higher_is_better: bool | None
) -> tuple[list[str], dict[str, str]]:
    """Every metric but costs, the default one first; and by label why another cannot be in the table."""
    main = default_metric(table)
    labels = [main]
    without: dict[str, str] = {}
    for label in table.metrics:
        if label == main or is_cost(label):
            continue
        try:
            table.matrix(label, missing=missing, higher_is_better=higher_is_better, least_datasets=1)
            labels.append(label)
        except RecAssayError as error:
            without[label] = str(error)
    return labels, without


def inches(length: float | str, name: str) -> float:
    """A length in inches: a number of them, or text with a unit (in, cm, mm, pt)."""
    read = re.fullmatch(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*(in|cm|mm|pt|)\s*", str(length))
    value = round(float(read[1]) * INCHES[read[2]], 6) if read else 0.0
    if not 1 <= value <= 40:
        raise UsageError(
            f"{name} {length!r} is not a width of a page", fix="give it as 3.33in or 8.5cm, 1 to 40 inches"
        )
    return value


def _figures(
    table: Results, spec: AnalysisSpec, tests: Mapping[str, AnalysisResult], names: Iterable[str]
) -> tuple[list[Figure], list[str], dict[str, str]]:
    """The figures of these names in order, the analyses behind them, and by name why some are not there."""
    known = [name for name, _ in analyses]
    drawn_by = {figure: name for name, drawn in figures_by_analysis(known).items() for figure in drawn}
    charts: dict[str, list[Figure]] = {}
    why: dict[str, str] = {}
    chosen: dict[str, Figure] = {}
    not_drawn: dict[str, str] = {}
    for name in dict.fromkeys(names):
        analysis = drawn_by.get(name, name)
        if analysis not in known:
            raise UsageError(f"there is no figure {name!r}", fix=did_you_mean(name, [*drawn_by, *known]))
        if analysis not in charts:
            ran = {analysis: tests[analysis]} if analysis in tests else {}
            if not ran:
                ran, reasons = run_analyses(table, spec, [analysis])
                why |= reasons
            charts[analysis] = [figure for filled in build_sections(ran) for figure in filled.figures]
        drawn = charts[analysis]
        figures = drawn if name == analysis else [figure for figure in drawn if figure.name == name]
        if not figures:
            not_drawn[name] = why.get(analysis, "these results give nothing to draw in it")
        chosen |= {figure.name: figure for figure in figures}
    behind = [name for name, drawn in charts.items() if any(figure.name in chosen for figure in drawn)]
    return list(chosen.values()), behind, not_drawn
