"""Verbs on a results table: load, rank, compare, profile, correlate, analyse, save."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recassay.core.errors import NotApplicableError, UsageError

if TYPE_CHECKING:
    from recassay.analysis.aggregate import RankResult
    from recassay.analysis.compare import CompareResult
    from recassay.analysis.correlations import CorrelationsResult
    from recassay.analysis.profiles import ProfilesResult
    from recassay.analysis.significance import ZeroMethod
    from recassay.core.analysis import AnalysisResult
    from recassay.core.results import MissingPolicy, Results, Sourced
    from recassay.reporting.content import ReportContent
    from recassay.reporting.figures import Figures
    from recassay.store.store import Store


def load_results(
    source: Any,
    *,
    metric: str | None = None,
    wide: bool = False,
    transpose: bool = False,
    columns: Mapping[str, str] | None = None,
) -> Results:
    """A checked results table from a path (CSV, TSV, Parquet), several paths, or a polars or pandas frame.

    See `recassay.data.results.read_results` for the shapes. The folder of a study gives its table; a `Results` is
    returned as it is.
    """
    from recassay.core.results import Results
    from recassay.data.results import read_results

    if isinstance(source, Results):
        return source
    folder = _study_folder(source)
    if folder is not None:
        from recassay.store.store import Store

        with Store.open(folder) as store:
            return _candidates(store)
    return read_results(source, metric=metric, wide=wide, transpose=transpose, columns=columns)


def _candidates(store: Store) -> Results:
    """The table of a study; of a classifier study without the artificial classifiers and the many MLPs.

    Those answer for the calibration of test instances and are no candidates; `classify` rates them all. Where fewer
    than two candidates are left, all stay.
    """
    from recassay.core import columns as c
    from recassay.core.results import Results

    results = store.results()
    others = {cell.algorithm for cell in store.cells() if cell.spec.get("role", "real") != "real"}
    kept = results.frame.filter(~results.frame.get_column(c.ALGORITHM).is_in(sorted(others)))
    return Results(kept, results.sources) if others and kept.get_column(c.ALGORITHM).n_unique() > 1 else results


def _study_folder(source: Any) -> Path | None:
    """The folder of a study, where `source` is one (alone or in a list of one), or the `Results` of one."""
    from recassay.core.results import Results

    if isinstance(source, Results):
        source = [found.file for found in source.sources]
    one = source[0] if isinstance(source, (list, tuple)) and len(source) == 1 else source
    return Path(one) if isinstance(one, (str, Path)) and Path(one).is_dir() else None


def default_metric(results: Results) -> str:
    """The metric that is meant when none is named: `ndcg@10` or `accuracy` where present, else the only one."""
    for usual in ("ndcg@10", "accuracy"):
        if usual in results.metrics:
            return usual
    if len(results.metrics) == 1:
        return results.metrics[0]
    raise UsageError(
        f"the table has {len(results.metrics)} metrics",
        fix=f"choose one with --metric: {', '.join(results.metrics)}",
    )


def rank(
    results: Any,
    metric: str | None = None,
    *,
    methods: Sequence[str] | None = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    replicates: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    beta_max: float = 3.0,
    beta_step: float | None = None,
) -> RankResult:
    """Which algorithm is best under each aggregation over datasets, with bootstrap intervals."""
    from recassay.analysis.aggregate import rank_algorithms
    from recassay.analysis.rules import DolanMore

    table = load_results(results, metric=metric)
    matrix = table.matrix(metric or default_metric(table), missing=missing, higher_is_better=higher_is_better)
    return rank_algorithms(
        matrix,
        methods=methods,
        replicates=replicates,
        confidence=confidence,
        seed=seed,
        dolan_more=DolanMore(beta_max, beta_step),
    )


def compare(
    results: Any,
    metric: str | None = None,
    *,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    alpha: float = 0.05,
    zeros: ZeroMethod = "wilcox",
    rope: float = 0.0,
    seed: int = 0,
) -> CompareResult:
    """Which differences are more than luck: Friedman, Nemenyi, Wilcoxon-Holm and the Bayesian signed-rank test."""
    from recassay.analysis.compare import compare_algorithms

    table = load_results(results, metric=metric)
    matrix = table.matrix(metric or default_metric(table), missing=missing, higher_is_better=higher_is_better)
    return compare_algorithms(matrix, alpha=alpha, zeros=zeros, rope=rope, seed=seed)


def profiles(
    results: Any,
    metric: str | None = None,
    *,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    beta_max: float = 3.0,
) -> ProfilesResult:
    """Dolan-Moré performance profiles and the areas under them."""
    from recassay.analysis.profiles import fit_profiles

    table = load_results(results, metric=metric)
    matrix = table.matrix(metric or default_metric(table), missing=missing, higher_is_better=higher_is_better)
    return fit_profiles(matrix, beta_max=beta_max)


def correlations(results: Any) -> CorrelationsResult:
    """Spearman's correlation between metrics, averaged over datasets."""
    from recassay.analysis.correlations import correlate_metrics

    return correlate_metrics(load_results(results))


@dataclass(frozen=True, slots=True, eq=False)
class AnalysisReport:
    """Everything that `analyze` found on one table and metric."""

    metric: str
    results: Results
    analyses: dict[str, AnalysisResult]
    skipped: dict[str, str]
    verdict: list[str]
    files: list[Path] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The verdict, each analysis under its name, and why others were skipped."""
        return {
            "metric": self.metric,
            "verdict": self.verdict,
            "skipped": self.skipped,
            "analyses": {name: result.to_dict() for name, result in self.analyses.items()},
        }

    def _repr_html_(self) -> str:
        from html import escape

        said = "".join(f"<li>{escape(sentence)}</li>" for sentence in self.verdict)
        return f"<ul>{said}</ul>{figures(self)._repr_html_()}"


def figures(result: AnalysisReport | AnalysisResult) -> Figures:
    """The pictures of a result, or of all results of a report: a notebook shows them; `.chart` of each is Altair's."""
    from recassay.reporting import figures as reporting

    return reporting.figures(result.analyses if isinstance(result, AnalysisReport) else {"result": result})


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
    from recassay.api.evidence import evidence_of
    from recassay.core.analysis import AnalysisSpec
    from recassay.core.labels import find_label
    from recassay.core.registry import analyses
    from recassay.reporting.folder import refuse_file
    from recassay.reporting.verdict import verdict

    if out is not None:
        refuse_file(Path(out))
    table = load_results(results, metric=metric)
    label = find_label(metric or default_metric(table), table.metrics)
    evidence = evidence_of(_study_folder(results))
    if characteristics is not None:
        from recassay.api.selection import load_characteristics

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
        from recassay.api.reporting import report_content

        content = report_content(
            report, _study_folder(results), alpha=alpha, missing=missing, higher_is_better=higher_is_better
        )
        report.files.extend(save(done, document("analyze", report.to_dict(), table), out, content=content))
    return report


def document(command: str, content: Mapping[str, Any], results: Sourced) -> dict[str, Any]:
    """The JSON of a command: version, input files with their hashes, and the content as plain data."""
    from recassay.core.plain import plain
    from recassay.core.version import __version__

    files = [{"file": s.file, "sha256": s.sha256} for s in results.sources]
    return {"recassay": __version__, "command": command, "input": files, **plain(content)}


def save(
    analyses: Mapping[str, AnalysisResult],
    answer: Mapping[str, Any],
    out: str | Path,
    *,
    content: ReportContent | None = None,
) -> list[Path]:
    """Write tables (CSV, LaTeX, Markdown), figures (SVG, PDF, PNG, Vega-Lite JSON) and `analysis.json` into `out`.

    With `content` the page `report.html` comes first.
    """
    from recassay.reporting.folder import write_folder

    return write_folder(Path(out), analyses, answer, content=content)
