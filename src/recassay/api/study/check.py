"""The verb `check`: does an algorithm of one's own keep the rules, with every breach named at once?

It is tried in a process of its own, as before a run: an algorithm that ends its process, prints or never ends cannot
speak for the check.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from recassay.api.arguments import checked
from recassay.core.errors import InputError
from recassay.core.specs.study import Budget
from recassay.core.system.plugin_file import split_reference, typed_reference
from recassay.core.tabular import stated
from recassay.recommenders.trying import try_apart, why
from recassay.runner.memory import memory_limit
from recassay.testing.rules import BrokenRule

TUNE = (
    "To have an argument tuned, name its range in the class: from recassay import Real, Whole, Choice; "
    'space = {"power": Real(0.1, 2.0, default=1.0)}.'
)

MOST_SECONDS = 300.0
"""How long an algorithm is tried; ten times as long by all rules."""

ENDS = "Training and asking end within the limits, and leave the process alone."


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Which rules an algorithm keeps on a small dataset."""

    name: str
    """What results will call the algorithm."""
    tunable: tuple[str, ...]
    """The parameters that tuning may vary."""
    kept: tuple[str, ...]
    """The rules that it keeps."""
    broken: tuple[BrokenRule, ...]
    """The rules that it breaks."""
    seconds: float
    """How long the check took."""
    caution: str = ""
    """What breaks no rule and should be looked at: it learns little of data that can be learned."""
    printed: str = ""
    """What the algorithm printed meanwhile, at most the last 2,000 characters."""

    def verdict(self) -> list[str]:
        """The answer in plain sentences, the most important first."""
        count = len(self.kept) + len(self.broken)
        caution = f"Caution: {self.caution}. It may run; its parameters may not suit so small a dataset."
        cautions = [caution] if self.caution else []
        if not self.broken:
            tuning = f"tuning varies {', '.join(self.tunable)}" if self.tunable else "nothing is tuned"
            first = f"{self.name} is ready: it keeps all {count} rules ({self.seconds:.1f} s; {tuning})."
            return [first, *([] if self.tunable else [TUNE]), *cautions]
        return [
            f"{self.name} breaks {len(self.broken)} of {count} rules.",
            *(f"{broken.sentence()}. Rule: {broken.rule}" for broken in self.broken),
            *cautions,
        ]

    def to_frame(self) -> pl.DataFrame:
        """One row per rule: rule, kept, problem, where."""
        rows = [(broken.rule, False, broken.problem, broken.where) for broken in self.broken]
        rows += [(rule, True, "", "") for rule in self.kept]
        return pl.DataFrame(rows, schema=["rule", "kept", "problem", "where"], orient="row")

    def to_dict(self) -> dict[str, Any]:
        """`name`, `ready`, `tunable`, `seconds` and `rules`."""
        return {
            "name": self.name,
            "ready": not self.broken,
            **stated(self, "tunable", "seconds", "caution", "printed"),
            "rules": self.to_frame().to_dicts(),
        }


@checked
def check(algorithm: str, *, every: bool = False) -> CheckResult:
    """Whether an algorithm of one's own keeps the rules, tried on a small dataset in a few seconds.

    Every broken rule is listed, not only the first. It is tried in a process of its own, within limits of time (5
    minutes, with all rules 50) and memory.

    Args:
        algorithm: a registered name, `./mymodel.py:MyModel`, or the description of an external one, `./library.toml`.
        every: try all rules, also those that need many fits.
    """
    begun = time.perf_counter()
    payload = {"reference": typed_reference(algorithm), "base": str(Path.cwd()), "every": every}
    limit = MOST_SECONDS * (10 if every else 1)
    tried = try_apart("check_algorithm", [payload], seconds=limit, memory=memory_limit(Budget()))[0]
    record = dict(tried.outcome.record or {})
    if "refused" in record:
        what, where, fix = record["refused"]
        raise InputError(what, where=where, fix=fix)
    if tried.outcome.status != "done":
        record = {
            "name": split_reference(algorithm)[1] or algorithm,
            "broken": [{"rule": ENDS, "problem": f"It gives no answer: {why(tried, limit)}", "where": ""}],
        }
    return CheckResult(
        record["name"],
        tuple(record.get("tunable", ())),
        tuple(record.get("kept", ())),
        tuple(BrokenRule(**rule) for rule in record["broken"]),
        round(time.perf_counter() - begun, 2),
        record.get("caution", ""),
        tried.printed,
    )
