"""Every rule that an algorithm breaks, found by trying it on small data."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recassay.core.errors import RecAssayError
from recassay.core.system.printable import one_line
from recassay.testing.checks import Check

_METHODS = ("fit", "recommend", "score", "memory_bytes")


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule that an algorithm breaks."""

    rule: str
    """The rule, as a sentence."""
    problem: str
    """What the algorithm did instead."""
    where: str
    """The line of the algorithm's file that raised an error, where there was one."""

    def sentence(self) -> str:
        """What it did instead, and where."""
        return f"{self.problem}{f' ({self.where})' if self.where else ''}"


def try_rules(kind: type[Any], checks: Iterable[Check], file: str) -> tuple[list[str], list[BrokenRule]]:
    """The rules that a class keeps and those that it breaks; `file` is the name of its file, whose lines are named."""
    kept, broken = [], []
    for attempt in checks:
        rule = " ".join((attempt.__doc__ or attempt.__name__).split())
        try:
            attempt(kind)
            kept.append(rule)
        except RecAssayError as error:
            whose = "Its" if re.split(r"\W", error.what)[0] in _METHODS else "It"
            broken.append(BrokenRule(rule, f"{whose} {error.what}", ""))
        except (Exception, SystemExit) as error:
            raised = traceback.extract_tb(error.__traceback__)
            lines = [frame.lineno for frame in raised if Path(frame.filename).name == file]
            where = f"{file}, line {lines[-1]}" if lines else ""
            broken.append(BrokenRule(rule, one_line(f"It raises {type(error).__name__}: {error}", 300), where))
    return kept, broken
