"""Analyses side by side: this process, and further ones for what takes long and needs the table alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeAlias

from recassay.core.analysis import AnalysisResult, AnalysisSpec
from recassay.core.errors import RecAssayError
from recassay.core.registry import analyses
from recassay.core.system.aside import Helpers
from recassay.core.system.blas import one_blas_thread
from recassay.core.system.plain import plain
from recassay.core.tables.results import Results
from recassay.reporting.telling import failure

MOST = 3
"""Processes at most: each takes a second to start and some 200 MB."""

HEARD = 0.1
"""Seconds between two looks at the keyboard while others work."""

Answered: TypeAlias = tuple[str, AnalysisResult | str]


def answer(name: str, table: Results, spec: AnalysisSpec) -> AnalysisResult | str:
    """The result of an analysis, or why it does not apply or what it failed with.

    A result must be able to tell itself as plain data and as tables; one that cannot counts as failed.
    """
    try:
        with one_blas_thread():
            result = analyses.get(name).run(table, spec)
        json.dumps(plain(result.to_dict()), allow_nan=False)
        result.frames()
    except RecAssayError as reason:
        return str(reason)
    except (Exception, SystemExit) as error:
        return failure("it", error)
    return result


def same(thing: Any) -> Any:
    """The thing: evidence that is already there."""
    return thing


def analyst() -> Callable[..., AnalysisResult | str]:
    """What a further process answers with; it loads the analyses while the first one reads the table."""
    analyses.loadable()
    return answer


def answered(
    names: Sequence[str],
    table: Results,
    spec: AnalysisSpec,
    *,
    starts: Callable[[int, str], None],
    processes: int | None = None,
) -> Iterator[Answered]:
    """Each analysis with its result, or why there is none, as they come in.

    `starts` gets, before each that this process runs, how many are done, and its name. Which process runs an
    analysis changes nothing about its numbers. What a process fails to answer this one does.
    """
    with Helpers(f"{__name__}:analyst", most=MOST, processes=processes) as helpers:
        # Other processes know announced analyses alone; the longest come first.
        aside = [
            name for name in names if helpers and _trait(name, "aside") and analyses.announcement(name) is not None
        ]
        aside.sort(key=lambda name: _trait(name, "aside"), reverse=True)
        known = {}
        if aside and "characteristics" in spec.evidence:
            try:
                known["characteristics"] = partial(same, spec.known("characteristics"))
            except RecAssayError:  # each that asks for them says why
                aside = []
        request = replace(table, users=None), replace(spec, evidence=known)
        asked = {name: helpers.submit(name, *request) for name in aside}
        here = sorted((name for name in names if name not in aside), key=lambda name: not _trait(name, "early"))
        done = 0
        while here or asked:
            # When its own are done, this process takes the shortest that no other has begun with.
            name = here.pop(0) if here else next((name for name in reversed(asked) if asked[name].cancel()), "")
            if name:
                asked.pop(name, None)
                starts(done, name)
                done += 1
                yield name, answer(name, table, spec)
            else:
                wait(asked.values(), timeout=HEARD, return_when=FIRST_COMPLETED)
            for other, future in [pair for pair in asked.items() if pair[1].done()]:
                del asked[other]
                if future.exception() is None:
                    done += 1
                    yield other, future.result()
                else:
                    here.append(other)


def _trait(name: str, trait: Literal["early", "aside"]) -> int:
    """What an analysis states about how it is run; one that cannot be loaded states nothing, and fails when asked."""
    try:
        return int(getattr(analyses.get(name), trait, 0))
    except RecAssayError:
        return 0
