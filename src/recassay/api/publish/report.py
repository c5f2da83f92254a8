"""The verb `report`: one page that tells everything about a table or a study."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from recassay.analysis.bench.result import BenchResult
from recassay.api.arguments import checked
from recassay.api.inputs import CharacteristicsLike, ResultsLike, TableLike
from recassay.api.publish.analyze import Stages, examine
from recassay.api.publish.content import AnalysisReport, with_verdicts
from recassay.api.tables import study_folder
from recassay.core.analysis import AnalysisSpec
from recassay.core.choices import Advanced, Alpha, MissingPolicy, PairTest
from recassay.core.system.places import shareable
from recassay.evidence.group_tables import GroupTables
from recassay.reporting.content import ReportContent
from recassay.reporting.drawing import MARKED, Drawers
from recassay.reporting.figures import begin_drawing, build_sections, draw_ahead
from recassay.reporting.files import refuse_file, write_files
from recassay.reporting.page.build import build_page
from recassay.reporting.page.parts import LIVE
from recassay.reporting.words.bench import beaten, headline

PAGE = "report.html"


@checked
def report(
    results: ResultsLike,
    metric: str | None = None,
    *,
    out: str | Path | None = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    seed: Annotated[int, Advanced] = 0,
    alpha: Alpha = 0.05,
    test: Annotated[PairTest, Advanced] = "sign-flips",
    replicates: Annotated[int, Advanced] = 10_000,
    control: str | None = None,
    characteristics: CharacteristicsLike | None = None,
    groups: TableLike | None = None,
    item_groups: TableLike | None = None,
    progress: Stages | None = None,
    wide: bool = False,
    transpose: bool = False,
) -> AnalysisReport:
    """Run every analysis and write one self-contained HTML page, without the folder of figures and tables.

    The path is the only one in `files` of the answer.

    Args:
        results: results table (file, frame or several files), the folder of a study, or loaded results.
        metric: label such as `ndcg@10`; by default `ndcg@10` or `accuracy` where present, else the only metric.
        out: the file, or a folder for `report.html`; by default the folder of a study, else the current one.
        missing: how to treat missing cells: see `Results.matrix`.
        higher_is_better: direction of a metric that RecAssay does not know.
        seed: the same seed gives the same numbers.
        alpha: level of the tests; intervals have level 1 - alpha.
        test: which test the verdict rests on: all pairs by flipped signs, or `wilcoxon-holm`, common in papers.
        replicates: bootstrap replicates.
        control: an algorithm, chosen before seeing the results, to compare with every other.
        characteristics: characteristics of the datasets (file or frame); a study knows its own.
        groups: groups of users: a table with a column user and one per attribute (sex, age); a study may name its own.
        item_groups: groups of items, likewise: a column item and one per attribute; for the folder of a study.
        progress: called before each stage with how many are done, how many there are, and its name.
        wide: the rows of the table are algorithms and its columns datasets, where the table does not say it.
        transpose: the rows of the table are datasets and its columns algorithms.
    """
    folder = study_folder(results)
    target = Path(out) if out is not None else (folder or Path()) / PAGE
    target = target / PAGE if target.is_dir() else target
    refuse_file(target.parent)
    spec = AnalysisSpec(
        metric or "", missing=missing, higher_is_better=higher_is_better, seed=seed, alpha=alpha, test=test,
        replicates=replicates, control=control,
    )  # fmt: skip
    made, page = report_page(
        results, spec, characteristics=characteristics, groups=GroupTables.read(groups, item_groups),
        progress=progress, wide=wide, transpose=transpose,
    )  # fmt: skip
    content = shareable(page).encode(errors="backslashreplace")  # whatever the file's name ends with
    made.files.extend(write_files(target.parent, {target.name: content}))
    return made


def bench_page(result: BenchResult) -> str:
    """One page that says where an algorithm stands among the shipped baselines."""
    assert result.results is not None  # `bench` states them
    verdict = result.judgement
    content = ReportContent(
        metric=verdict.metric,
        higher_is_better=verdict.higher_is_better,
        results=result.results,
        analyses={"bench": result},
        skipped={},
        own=(headline(result), *beaten(result)),
    )
    with Drawers() as drawers:
        return build_page(content, begin_drawing(build_sections(content.analyses, content.words), (MARKED,), drawers))


def report_page(
    results: ResultsLike,
    spec: AnalysisSpec,
    *,
    characteristics: CharacteristicsLike | None = None,
    groups: GroupTables | None = None,
    progress: Stages | None = None,
    wide: bool = False,
    transpose: bool = False,
    evidence: Mapping[str, Callable[[], Any]] | None = None,
) -> tuple[AnalysisReport, str]:
    """Every analysis, and the page that tells them; `evidence` is what the caller knows besides the table."""
    with Drawers() as drawers:  # they start while analyses run
        ahead = partial(draw_ahead, formats=(MARKED,), drawers=drawers, without=LIVE)
        made, content = examine(
            results, spec, characteristics=characteristics, groups=groups, progress=progress, pictures=ahead, wide=wide,
            transpose=transpose, evidence=evidence,
        )  # fmt: skip
        live = LIVE if len(made.results.datasets) > 1 else ()
        filled = begin_drawing(build_sections(made.analyses, content.words), (MARKED,), drawers, without=live)
        return made, build_page(with_verdicts(content, spec), filled)
