"""A process that runs analyses: tables come in on its standard input, results go out on its standard output.

What it reads and writes are pickles, of and for the process that started it. It ends when its input does.
"""

from __future__ import annotations

import json
import pickle
import signal
import sys
from typing import Any, BinaryIO

from threadpoolctl import threadpool_limits

from recassay.core.analysis import AnalysisResult, AnalysisSpec
from recassay.core.errors import RecAssayError
from recassay.core.registry import analyses
from recassay.core.system.plain import plain
from recassay.core.tables.results import Results
from recassay.reporting.telling import failure


def answer(name: str, table: Results, spec: AnalysisSpec) -> AnalysisResult | str:
    """The result of an analysis, or why it does not apply or what it failed with.

    A result must be able to tell itself as plain data and as tables; one that cannot counts as failed.
    """
    try:
        with threadpool_limits(1, user_api="blas"):  # the matrices are tiny: more threads cost more than they give
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


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Read a table and what is asked of it, and answer one name after the other."""
    table, spec = _next(requests)
    while (name := _next(requests)) is not None:
        pickle.dump(answer(name, table, spec), answers)
        answers.flush()


def _next(requests: BinaryIO) -> Any:
    """What comes next from the process that started this one; None at the end."""
    try:
        return pickle.load(requests)  # noqa: S301 - of our parent
    except EOFError:
        return None


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asked is interrupted, and then closes our input
    analyses.loadable()  # while the process that started this one reads the table
    serve(sys.stdin.buffer, sys.stdout.buffer)
