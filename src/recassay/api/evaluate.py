"""The verb `evaluate`: recommendations made elsewhere, judged on given training and test data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from recassay.analysis.groups.fit import compare_groups
from recassay.analysis.groups.result import GroupsResult
from recassay.analysis.users.fit import compare_users
from recassay.analysis.users.result import UsersResult
from recassay.api.arguments import checked
from recassay.api.inputs import InteractionsLike, PathLike, TableLike
from recassay.api.publish.report import report_page
from recassay.core import columns as c
from recassay.core.analysis import AnalysisSpec
from recassay.core.choices import Advanced, Alpha, Seed, Task
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.specs.specs import ReadSpec
from recassay.core.specs.study import DEFAULT_METRICS
from recassay.core.system.places import shareable
from recassay.core.tables.groups import GroupsEvidence
from recassay.core.tables.results import Results
from recassay.evidence.gains import judged_gains
from recassay.evidence.group_tables import GroupTables
from recassay.evidence.groups import groups_evidence, lists_groups
from recassay.evidence.lists import JudgedLists, JudgingSplit, given_split, judge_lists, split_of_folder
from recassay.evidence.users import user_matrix
from recassay.metrics.accuracy import AccuracyMetric
from recassay.metrics.evaluate import EvaluationResult
from recassay.metrics.lists import ListsRecord
from recassay.metrics.make import as_metrics
from recassay.metrics.protocol import Metric, has_user_values
from recassay.reporting.files import write_files
from recassay.reporting.section import Brief
from recassay.reporting.tables import evaluation_latex, evaluation_table
from recassay.reporting.words import users as user_words
from recassay.reporting.words.groups import weights_sentence


@dataclass(frozen=True, slots=True, eq=False)
class EvaluationReport:
    """What lists were worth, what of them was unknown, the audit of the split they were judged on, and, where asked
    for, the paired tests between them by metric."""

    judged: tuple[JudgedLists, ...]
    """The lists of each algorithm: what they are worth (`result`), and what of them was unknown (`record`)."""
    audit: dict[str, Any]
    counts: dict[str, int]
    fingerprint: str | None
    """The content hash of the split; None for parts that were just given."""
    notes: tuple[str, ...] = ()
    comparison: dict[str, UsersResult] = field(default_factory=dict)
    """By metric, the paired tests over users between the lists, where asked for."""
    latex: str = ""
    """The numbers as a LaTeX table, where they were compared."""
    groups: dict[str, GroupsResult] = field(default_factory=dict)
    """By accuracy metric, the values by group, where groups were given."""
    judging: Any = None
    """The split that the lists were judged on, as a page needs it."""
    tables: Any = None
    """The tables of groups that were given, as a page needs them."""

    @property
    def result(self) -> EvaluationResult:
        """What the only lists were worth; of several, ask `judged`."""
        return self._only().result

    @property
    def lists(self) -> ListsRecord:
        """What the only file of lists held; of several, ask `judged`."""
        return self._only().record

    def _only(self) -> JudgedLists:
        if len(self.judged) > 1:
            raise UsageError(f"{len(self.judged)} lists were judged", fix="take each from .judged")
        return self.judged[0]

    def brief(self) -> Brief | None:
        """The verdict on the first metric, one table, and what is known of the best; None without a comparison."""
        if not self.comparison:
            return None
        result = next(iter(self.comparison.values()))
        users = result.datasets[0]
        means = {lists.name: lists.result.mean() for lists in self.judged}
        table = evaluation_table(means, self.comparison, f"{users.users:,} users evaluated")
        lines = [*user_words.lines(users, result), *table.notes]
        return Brief(user_words.headline(users, result), table, frozenset(users.could_be_best()), tuple(lines))

    def to_frame(self) -> pl.DataFrame:
        """One row per algorithm and metric."""
        return _stacked(c.ALGORITHM, ((lists.name, lists.result.to_frame()) for lists in self.judged))

    def per_user(self) -> pl.DataFrame:
        """One row per algorithm and user."""
        return _stacked(c.ALGORITHM, ((lists.name, lists.result.per_user) for lists in self.judged))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: of one file of lists its numbers, of several `algorithms` by name."""
        shared: dict[str, Any] = {
            "split": {"fingerprint": self.fingerprint, "counts": self.counts, "audit": self.audit},
            "notes": list(self.notes),
        }
        if self.comparison:
            shared["comparison"] = {metric: tests.to_dict() for metric, tests in self.comparison.items()}
            shared["latex"] = self.latex
        if self.groups:
            shared["groups"] = {metric: found.to_dict() for metric, found in self.groups.items()}
        if len(self.judged) == 1:
            return {**self.judged[0].to_dict(), **shared}
        return {"algorithms": {lists.name: lists.to_dict() for lists in self.judged}, **shared}


@checked
def evaluate(
    recommendations: Any,
    *,
    train: InteractionsLike | None = None,
    test: InteractionsLike | None = None,
    split: PathLike | None = None,
    metrics: Sequence[str] | None = None,
    compare: bool = False,
    alpha: Alpha = 0.05,
    control: str | None = None,
    task: Task = "new",
    threshold: float | None = None,
    propensity: TableLike | None = None,
    groups: TableLike | None = None,
    item_groups: TableLike | None = None,
    read: ReadSpec | Mapping[str, Any] | None = None,
    allow_leakage: Sequence[str] = (),
    seed: Annotated[Seed, Advanced] = 0,
) -> EvaluationReport:
    """Judge lists made elsewhere on given training and test data, user by user, and compare them.

    The two parts go through the leakage audit of a given split: training events after the first test event of their own
    user refuse it unless named in `allow_leakage`. Test events of users or items that training lacks leave the test
    part and are counted, and so do pairs that training has, unless the task is repeat consumption. Without training
    data only metrics of accuracy can be computed, and nothing can be audited.

    Args:
        recommendations: a file (a table, a TREC run, ranx, LensKit, ...), a folder of them, a frame, several of these
            in a list, or a mapping from names to them.
        train: the interactions that the lists were made from.
        test: the held-out interactions, or relevance judgements (TREC qrels, ranx).
        split: instead of both, a folder that `recassay split` wrote, or one with train and test files.
        metrics: labels; by default nine.
        compare: whether the lists are compared by paired tests over users, with Holm's correction for each metric.
        alpha: level of the tests.
        control: the lists that the others are compared with in percent; by default those of the most popular items.
        task: whether test pairs that training has are left out (`new`) or judged (`repeat`).
        threshold: the lowest rating that counts as positive; by default all count.
        propensity: for weighted metrics (`ndcg@10[snips]`), a table of the chance that a relevant item was seen, by
            item or by user and item; by default a power of popularity.
        groups: groups of users: a table with a column user and one per attribute (sex, age).
        item_groups: groups of items, likewise: a column item and one per attribute.
        read: how files of interactions are read: a `ReadSpec` or its fields.
        allow_leakage: names of audit findings that are accepted.
        seed: the same seed gives the same numbers.
    """
    options, allowed = ReadSpec.of(read), tuple(allow_leakage)
    if (split is None) == (test is None):
        raise UsageError("lists are judged on a split or on test data", fix="give `split`, or `train` and `test`")
    if split is None:
        judging = given_split(train, test, task, threshold=threshold, read=options, allowed=allowed)
    elif train is not None or threshold is not None:
        raise UsageError("a split folder says what is trained on and tested", fix="leave `train` and `threshold` out")
    else:
        judging = split_of_folder(Path(split), task, options, allowed)
    wanted = _wanted(metrics, untrained=judging.untrained)
    if propensity is not None and not any(getattr(metric, "weighting", None) for metric in wanted):
        raise UsageError("no metric is weighted by propensity", fix="ask for one in `metrics`, as in ndcg@10[snips]")
    judged = judge_lists(recommendations, judging, wanted, propensity=propensity, seed=seed)
    comparison: dict[str, UsersResult] = {}
    latex = ""
    if compare:
        comparison = _compared(judging.name, judged, wanted, alpha=alpha, control=control, seed=seed)
        directions = {metric.label: metric.higher_is_better for metric in wanted}
        caption = (
            f"Lists judged on {judging.users:,} users of {judging.name}. Bold: the best; dagger: significantly worse "
            f"than the best (paired sign-flip test over users, Holm's correction, level {alpha:g})."
        )
        latex = evaluation_latex(
            {lists.name: lists.result.mean() for lists in judged}, directions, comparison, caption=caption
        )
    weights = [weights_sentence(label, facts) for label, facts in judged[0].result.weights.items()]
    notes = (*judging.notes, *weights, *(f"{lists.name}: {note}" for lists in judged for note in lists.notes))
    by_group: dict[str, GroupsResult] = {}
    tables = None
    if groups is not None or item_groups is not None:
        tables = GroupTables.read(groups, item_groups)
        for label in (metric.label for metric in wanted if isinstance(metric, AccuracyMetric)):
            evidence = lists_groups(judging, judged, label, tables)
            by_group[label] = compare_groups(evidence, label, higher_is_better=True, alpha=alpha, seed=seed)
        if not by_group:
            raise UsageError("no metric has values by group", fix="ask for one of accuracy in `metrics`, as in ndcg@10")
    return EvaluationReport(
        judged,
        judging.split.audit,
        judging.split.counts,
        judging.fingerprint,
        notes,
        comparison,
        latex,
        by_group,
        judging,
        tables,
    )


def _wanted(metrics: Sequence[str] | None, *, untrained: bool) -> list[Metric]:
    """The metrics that were asked for; without training data only those of accuracy can be computed."""
    wanted = list(as_metrics(metrics or DEFAULT_METRICS))
    if not untrained:
        return wanted
    known: list[Metric] = [metric for metric in wanted if isinstance(metric, AccuracyMetric)]
    others = [metric.label for metric in wanted if metric not in known]
    if metrics is not None and others:
        raise UsageError(f"{others[0]} looks at the training data", fix="give `train`, or ask for other metrics")
    return known


def _compared(
    dataset: str, judged: Sequence[JudgedLists], wanted: Sequence[Metric], *, alpha: float, control: str | None,
    seed: int,
) -> dict[str, UsersResult]:  # fmt: skip
    """By metric with a value per user, the tests between all lists."""
    if len(judged) < 2:
        raise UsageError("one file of lists cannot be compared with itself", fix="give at least two")
    comparison = {}
    for metric in wanted:
        if has_user_values(metric):
            value = pl.col(metric.label).cast(pl.Float64).alias(c.VALUE)
            frames = ((lists.name, lists.result.per_user.select(c.USER, value)) for lists in judged)
            comparison[metric.label] = compare_users(
                [user_matrix(dataset, _stacked(c.ALGORITHM, frames))], metric.label,
                higher_is_better=metric.higher_is_better, alpha=alpha, seed=seed, control=control,
            )  # fmt: skip
    return comparison


def _stacked(column: str, frames: Iterable[tuple[str, pl.DataFrame]]) -> pl.DataFrame:
    """Tables one below the other, the name of each in a first column."""
    return pl.concat([frame.select(pl.lit(name).alias(column), pl.all()) for name, frame in frames])


def evaluation_page(
    report: EvaluationReport, out: str | Path, *, alpha: float = 0.05, control: str | None = None
) -> list[Path]:
    """Write the report of a study about compared lists: one page.

    Args:
        report: what `evaluate` returned, with a comparison.
        out: the file.
        alpha: level of the tests.
        control: the lists that the others are compared with in percent.
    """
    if not report.comparison or report.judging is None:
        raise UsageError("a page is about lists that are compared", fix="give at least two, and `compare=True`")
    dataset, label = next(iter(report.comparison.values())).datasets[0].dataset, next(iter(report.comparison))
    frame = report.to_frame().with_columns(pl.lit(dataset).alias(c.DATASET)).drop_nulls(c.VALUE)
    scores = report.per_user().unpivot(index=[c.ALGORITHM, c.USER], variable_name=c.METRIC, value_name=c.VALUE)
    users = scores.with_columns(pl.lit(dataset).alias(c.DATASET), pl.col(c.VALUE).cast(pl.Float64))
    results = replace(Results.from_frame(frame.filter(pl.col(c.VALUE).is_finite())), users=users)
    known: dict[str, Callable[[], Any]] = {}
    judging: JudgingSplit = report.judging
    judged = report.judged
    if not judging.untrained:
        known["gains"] = lambda: partial(judged_gains, judging.split, judged)
    if report.tables is not None:
        groups = partial(_page_groups, report=report, results=results, tables=report.tables)
        known["groups"] = lambda: groups
    spec = AnalysisSpec(label, missing="drop-algorithms", alpha=alpha, control=control)
    _, page = report_page(results, spec, evidence=known)
    target = Path(out)
    return write_files(target.parent, {target.name: shareable(page).encode(errors="backslashreplace")})


def _page_groups(metric: str, *, report: EvaluationReport, results: Results, tables: GroupTables) -> GroupsEvidence:
    """What a page says by group: of the groups that were given, and of weighted metrics beside the plain one."""
    found = lists_groups(report.judging, report.judged, metric, tables)
    try:
        weighted = groups_evidence(metric, results=results, folder=None, tables=GroupTables()).weighted
    except NotApplicableError:  # no metric is weighted
        return found
    return replace(found, weighted=weighted)


def save_evaluation(report: EvaluationReport, content: Mapping[str, Any], out: str | Path) -> list[Path]:
    """Write `evaluation.json`, `metrics.csv`, `per_user.csv` and, of a comparison, `pairs.csv` and `evaluation.tex`.

    Args:
        report: what `evaluate` returned.
        content: its JSON document.
        out: the folder.
    """
    single = len(report.judged) == 1
    files = {
        "evaluation.json": json.dumps(content, indent=1, allow_nan=False).encode(),
        "metrics.csv": (report.result.to_frame() if single else report.to_frame()).write_csv().encode(),
        "per_user.csv": (report.result.per_user if single else report.per_user()).write_csv().encode(),
    }
    if report.comparison:
        pairs = _stacked(c.METRIC, ((metric, tests.to_frame()) for metric, tests in report.comparison.items()))
        files |= {"pairs.csv": pairs.write_csv().encode(), "evaluation.tex": report.latex.encode()}
    by_metric = {metric: result.frames() for metric, result in report.groups.items()}
    for name in next(iter(by_metric.values()), {}):
        rows = _stacked(c.METRIC, ((metric, frames[name]) for metric, frames in by_metric.items()))
        files[f"{name}.csv"] = rows.write_csv().encode()
    return write_files(Path(out), files)
