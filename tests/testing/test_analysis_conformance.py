"""Every registered analysis against every promise, and the suite against analyses that break one."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from recassay.analysis.rank.fit import ANALYSIS as RANK
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.errors import InputError, NotApplicableError
from recassay.core.registry import analyses
from recassay.core.tables.results import Results
from recassay.testing import ANALYSIS_CHECKS, ConformanceError, analysis_checks, check_analysis
from recassay.testing.analysis_checks import Trial
from recassay.testing.analysis_examples import odd_cases, usual_case
from support.places import announced


@pytest.mark.parametrize("name", analyses.names())
def test_promises(name: str) -> None:
    check_analysis(analyses.get(name))


def test_every_analysis_of_the_package_is_in_the_suite() -> None:
    assert announced("recassay.analyses") <= set(analyses.names())


def test_every_check_is_in_the_list() -> None:
    found = vars(analysis_checks).items()
    written = {name for name, value in found if name.startswith("check_") and inspect.isfunction(value)}
    assert written - {"check_analysis"} == {check.__name__ for check in ANALYSIS_CHECKS}


def test_the_odd_tables_are_what_they_say_and_most_can_be_ranked() -> None:
    cases = {case.what: case for case in odd_cases()}
    refused = {what for what, case in cases.items() if case.refusal() is not None}
    assert len(cases) >= 14
    assert refused == {"missing cells under error"}
    assert all(Trial(RANK).answer(case).rankings for what, case in cases.items() if what not in refused)


@dataclass(frozen=True)
class Answer:
    """A good result to break in one place."""

    rows: int
    content: dict[str, Any] = field(default_factory=lambda: {"rows": 1})
    names: tuple[str, ...] = ("answer",)
    extra: Any = None

    def to_frame(self) -> pl.DataFrame:
        return pl.DataFrame({"rows": [self.rows] if self.rows else []}, schema={"rows": pl.Int64})

    def frames(self) -> dict[str, pl.DataFrame]:
        return dict.fromkeys(self.names, self.to_frame()) | ({} if self.extra is None else {"extra": self.extra})

    def to_dict(self) -> dict[str, Any]:
        return self.content


def good(results: Results, spec: AnalysisSpec) -> Answer:
    if len(results.algorithms) < 3:
        raise NotApplicableError("too few")
    return Answer(len(results.algorithms))


GOOD = Analysis("mine", "How many rows?", "", good)


def answers(**changed: Any) -> Analysis:
    return replace(GOOD, run=lambda results, spec: replace(Answer(4), **changed))


def only_usual(results: Results, spec: AnalysisSpec, otherwise: Any) -> Answer:
    """Good on the usual table, broken on others."""
    if len(results.datasets) == len(usual_case().results.datasets):
        return Answer(4)
    return otherwise()


def fails() -> Answer:
    raise ZeroDivisionError("division by zero")


def refuses() -> Answer:
    raise InputError("I do not like this table")


def refuses_all(results: Results, spec: AnalysisSpec) -> Answer:
    raise NotApplicableError("too few")


def global_chance(results: Results, spec: AnalysisSpec) -> Answer:
    return Answer(1 + int(np.random.randint(1_000_000)))  # noqa: NPY002


def order_of_rows(results: Results, spec: AnalysisSpec) -> Answer:
    return Answer(1, {"first": results.frame.row(0)[0]})


def writes_table(results: Results, spec: AnalysisSpec) -> Answer:
    results.frame[0, "value"] = 5.0
    return Answer(4)


def writes_evidence(results: Results, spec: AnalysisSpec) -> Answer:
    spec.required("characteristics").values[0, 0] = 5.0
    return Answer(4)


BROKEN: dict[str, tuple[Analysis, str]] = {
    "name": (replace(GOOD, name="my analysis"), "not a file name"),
    "question": (replace(GOOD, question="Rows."), "asks no question"),
    "source": (replace(GOOD, source=None), "a source that is not text"),
    "aliases": (replace(GOOD, aliases="rows"), "aliases"),
    "blank alias": (replace(GOOD, aliases=("rows", " ")), "aliases that are not a tuple of texts"),
    "refuses all": (replace(GOOD, run=refuses_all), "does not apply to a table that has everything: too few"),
    "no result": (replace(GOOD, run=lambda *_: {"rows": 1}), "without to_frame, frames or to_dict"),
    "empty": (answers(rows=0), "an empty main table"),
    "file name": (answers(names=("../answer",)), "is not a file name"),
    "no tables": (answers(names=()), "has no tables"),
    "nested": (answers(extra=pl.DataFrame({"x": [[1, 2]]})), "nested values in the table 'extra'"),
    "objects": (answers(extra=pl.DataFrame({"x": [object()]}, schema={"x": pl.Object})), "nested values in the table"),
    "no frame": (answers(extra=[1]), "has a table 'extra' that is not a polars frame"),
    "no dictionary": (answers(content=[1]), "gives no dictionary from to_dict"),
    "main first": (answers(names=(), extra=pl.DataFrame({"x": [1]})), "main table first"),
    "numpy": (answers(content={"x": np.float64(1.0)}), r"to_dict\(\)\['x'\] is a float64"),
    "not a number": (answers(content={"x": [1.0, float("nan")]}), r"to_dict\(\)\['x'\]\[1\] is nan"),
    "key": (answers(content={"x": {1: 2}}), "has the key 1"),
    "chance": (replace(GOOD, run=global_chance), "two different answers"),
    "order": (replace(GOOD, run=order_of_rows), "two different answers"),
    "table": (replace(GOOD, run=writes_table), "changes the table"),
    "evidence": (replace(GOOD, run=writes_evidence), "writes into evidence"),
    "fails": (replace(GOOD, run=lambda r, s: only_usual(r, s, fails)), "fails on two algorithms on two datasets: Zero"),
    "refusal": (replace(GOOD, run=lambda r, s: only_usual(r, s, refuses)), "raises InputError on two algorithms"),
    "odd tables": (
        replace(GOOD, run=lambda r, s: only_usual(r, s, lambda: Answer(1, extra=[1]))),
        "has something else than tables on two algorithms on two datasets",
    ),
    "odd numbers": (
        replace(GOOD, run=lambda r, s: only_usual(r, s, lambda: Answer(1, {"x": float("inf")}))),
        "is not plain JSON on two algorithms on two datasets",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_promise_is_named(what: str) -> None:
    analysis, sentence = BROKEN[what]
    with pytest.raises(ConformanceError) as raised:
        check_analysis(analysis)
    assert re.search(sentence, str(raised.value)), raised.value


def test_a_good_analysis_passes_and_brings_evidence_of_its_own() -> None:
    check_analysis(GOOD)
    asks = replace(GOOD, run=lambda results, spec: Answer(spec.required("my evidence")))
    check_analysis(asks, evidence={"my evidence": lambda: 7})
    instead = replace(GOOD, run=lambda results, spec: Answer(spec.required("characteristics")))
    check_analysis(instead, evidence={"characteristics": lambda: 7})
    with pytest.raises(ConformanceError, match="needs my evidence"):
        check_analysis(asks)
    check_analysis(asks, skip=[check.__name__ for check in ANALYSIS_CHECKS])


def test_what_the_table_itself_refuses_an_analysis_may_refuse_in_the_same_words() -> None:
    def ranked(results: Results, spec: AnalysisSpec) -> Answer:
        matrix = results.matrix(spec.metric, missing=spec.missing, higher_is_better=spec.higher_is_better)
        return Answer(1, {"best": float(matrix.values.max())})

    check_analysis(replace(GOOD, run=ranked))


def test_an_analysis_of_evidence_alone_is_tried_on_one_odd_table() -> None:
    def evidence_alone(results: Results, spec: AnalysisSpec) -> Answer:
        return Answer(4) if len(results.datasets) in (2, 9) else fails()

    def first_alone_differs(results: Results, spec: AnalysisSpec) -> Answer:
        if results.frame.filter(metric=spec.metric)["value"].n_unique() == 1:
            return Answer(4)
        return replace(evidence_alone(results, spec), rows=len(results.datasets) // 2)

    check_analysis(replace(GOOD, run=evidence_alone))
    with pytest.raises(ConformanceError, match="fails on two algorithms that are equal everywhere: ZeroDivisionError"):
        check_analysis(replace(GOOD, run=first_alone_differs))
    with pytest.raises(ConformanceError, match="fails on results that are all equal: ZeroDivisionError"):
        check_analysis(replace(GOOD, run=lambda r, s: replace(evidence_alone(r, s), content={"n": len(r.datasets)})))
