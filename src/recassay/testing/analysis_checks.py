"""What every analysis promises, one check a promise.

A check takes a `Trial` of an analysis and raises `ConformanceError` with a plain sentence where the promise is broken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from recassay.core.analysis import Analysis, AnalysisResult
from recassay.core.errors import NotApplicableError, RecAssayError
from recassay.testing.analysis_examples import Case, Evidence, odd_cases, rearranged, usual_case
from recassay.testing.answers import (
    ConformanceError,
    disturbed_chance,
    inputs_kept,
    is_text,
    label,
    require,
    run_checks,
)

FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class Trial:
    """An analysis with its answer on the usual table, computed once for all checks."""

    def __init__(self, analysis: Analysis, evidence: Evidence | None = None) -> None:
        self.analysis, self.evidence = analysis, dict(evidence or {})
        self.case = usual_case()

    @cached_property
    def result(self) -> AnalysisResult:
        """The answer on the usual table, which must apply to it."""
        try:
            with inputs_kept(self.analysis, "evidence"):
                return self.answer(self.case)
        except NotApplicableError as reason:
            complaint = f"does not apply to a table that has everything: {reason}"
            raise ConformanceError(complaint, where=label(self.analysis)) from reason

    def answer(self, case: Case) -> AnalysisResult:
        """The answer on a table."""
        return self.analysis.run(case.results, case.spec(self.evidence))


Check: TypeAlias = Callable[[Trial], None]


def check_analysis(analysis: Analysis, *, evidence: Evidence | None = None, skip: Collection[str] = ()) -> None:
    """Run every check of `ANALYSIS_CHECKS` but those named in `skip`; the first broken promise raises.

    `evidence` is what the analysis asks for beyond what the examples of the suite have (`AnalysisSpec.evidence`).
    """
    run_checks(ANALYSIS_CHECKS, Trial(analysis, evidence), skip)


def check_declaration(trial: Trial) -> None:
    """It has a name that can be a file's, a question, and a source (empty for what has none)."""
    analysis = trial.analysis
    named = is_text(analysis.name) and FILE_NAME.fullmatch(analysis.name)
    require(named, f"has the name {analysis.name!r}, which is not a file name", analysis)
    require(is_text(analysis.question) and analysis.question.endswith("?"), "asks no question", analysis)
    require(isinstance(analysis.source, str), "has a source that is not text", analysis)
    aliases = isinstance(analysis.aliases, tuple) and all(map(is_text, analysis.aliases))
    require(aliases, "has aliases that are not a tuple of texts", analysis)


def check_result(trial: Trial) -> None:
    """It answers on a small table that has everything: flat tables, the main one first and not empty."""
    analysis, result = trial.analysis, trial.result
    require(isinstance(result, AnalysisResult), "gives a result without to_frame, frames or to_dict", analysis)
    main, frames = result.to_frame(), result.frames()
    require(isinstance(main, pl.DataFrame) and main.height and main.width, "has an empty main table", analysis)
    require(isinstance(frames, dict) and frames, "has no tables", analysis)
    for name, frame in frames.items():
        require(FILE_NAME.fullmatch(str(name)), f"has a table {name!r}, which is not a file name", analysis)
        require(isinstance(frame, pl.DataFrame), f"has a table {name!r} that is not a polars frame", analysis)
        nested = any(kind.is_nested() or kind == pl.Object for kind in frame.dtypes)
        require(not nested, f"has nested values in the table {name!r}, which no CSV can hold", analysis)
    require(next(iter(frames.values())).equals(main), "does not have its main table first in `frames`", analysis)


def check_plain(trial: Trial) -> None:
    """`to_dict` is plain JSON: dictionaries by text, lists, texts, finite numbers, booleans and None."""
    content = trial.result.to_dict()
    require(isinstance(content, dict), "gives no dictionary from to_dict", trial.analysis)
    odd = _not_plain(content, "to_dict()")
    require(odd is None, f"is not plain JSON: {odd}", trial.analysis)


def check_repeatable(trial: Trial) -> None:
    """The same seed gives the same answer, whatever the global generator does and in whatever order the rows come."""
    with disturbed_chance(1):
        again = trial.answer(Case("the usual table", rearranged(usual_case().results)))
    require(_same(trial.result, again), "gives two different answers for one table and seed", trial.analysis)


def check_inputs_kept(trial: Trial) -> None:
    """Results and evidence are the same afterwards."""
    answered = trial.result is not None
    kept = trial.case.results.frame.equals(usual_case().results.frame)
    require(answered and kept, "gives no answer, or changes the table that it was given", trial.analysis)


def check_odd_tables(trial: Trial) -> None:
    """On any table it answers, in plain JSON, or raises `NotApplicableError`.

    What `Results.matrix` refuses (missing cells under the policy `error`, say), it may refuse in the same words. An
    analysis that looks at evidence alone, and gives the same answer on two tables, is not asked for more.
    """
    for number, case in enumerate(odd_cases()):
        try:
            result = trial.answer(case)
        except NotApplicableError:
            continue
        except RecAssayError as refusal:
            kind = type(refusal).__name__
            require(str(refusal) == case.refusal(), f"raises {kind} on {case.what} ({refusal})", trial.analysis)
            continue
        except Exception as error:
            what = f"fails on {case.what}: {type(error).__name__}: {error}"
            raise ConformanceError(what, where=label(trial.analysis)) from error
        odd = _not_plain(result.to_dict(), "to_dict()")
        require(odd is None, f"is not plain JSON on {case.what}: {odd}", trial.analysis)
        tables = all(isinstance(each, pl.DataFrame) for each in (result.to_frame(), *result.frames().values()))
        require(tables, f"has something else than tables on {case.what}", trial.analysis)
        if number == 0 and _same(result, trial.result):
            return


ANALYSIS_CHECKS: tuple[Check, ...] = (
    check_declaration,
    check_inputs_kept,
    check_result,
    check_plain,
    check_repeatable,
    check_odd_tables,
)


def _not_plain(value: Any, where: str) -> str | None:
    """Where and what the first thing is that JSON does not know."""
    if value is None or isinstance(value, str) or type(value) in (bool, int):
        return None
    if type(value) is float:
        return None if np.isfinite(value) else f"{where} is {value}"
    if isinstance(value, dict):
        strange = next((key for key in value if not isinstance(key, str)), None)
        if strange is not None:
            return f"{where} has the key {strange!r}"
        parts = (_not_plain(inner, f"{where}[{key!r}]") for key, inner in value.items())
        return next(filter(None, parts), None)
    if isinstance(value, list | tuple):
        return next(filter(None, (_not_plain(inner, f"{where}[{at}]") for at, inner in enumerate(value))), None)
    return f"{where} is a {type(value).__name__}"


def _same(first: AnalysisResult, second: AnalysisResult) -> bool:
    left, right = first.frames(), second.frames()
    if list(left) != list(right) or not all(left[name].equals(right[name]) for name in left):
        return False
    texts = [json.dumps(each.to_dict(), default=str) for each in (first, second)]
    return texts[0] == texts[1]
