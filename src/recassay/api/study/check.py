"""The verb `check`: does an algorithm of one's own keep the rules, all of them told at once?"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from recassay.api.arguments import checked
from recassay.core.system.plugin_file import split_reference
from recassay.core.tabular import stated
from recassay.testing.rules import BrokenRule, try_rules

TUNE = (
    "To have an argument tuned, name its range in the class: from recassay import Real, Whole, Choice; "
    'space = {"power": Real(0.1, 2.0, default=1.0)}.'
)


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
            **stated(self, "tunable", "seconds", "caution"),
            "rules": self.to_frame().to_dicts(),
        }


@checked
def check(algorithm: str, *, every: bool = False) -> CheckResult:
    """Whether an algorithm of one's own keeps the rules, tried on a small dataset in a few seconds.

    Every broken rule is listed, not only the first.

    Args:
        algorithm: a registered name, `./mymodel.py:MyModel`, or the description of an external one, `./library.toml`.
        every: try all rules, also those that need many fits.
    """
    from recassay.recommenders.references import load_algorithm
    from recassay.testing.checks import ALGORITHM_CHECKS, EXTERNAL_CHECKS, check_learns

    begun = time.perf_counter()
    kind = load_algorithm(algorithm, str(Path.cwd()))
    file = split_reference(algorithm)[0].name
    rules = [rule for rule in (ALGORITHM_CHECKS if every else EXTERNAL_CHECKS) if rule is not check_learns]
    kept, broken = try_rules(kind, rules, file)
    weak = [] if broken else try_rules(kind, [check_learns], file)[1]
    return CheckResult(
        str(kind.name),
        tuple(kind.space),
        tuple(kept),
        tuple(broken),
        round(time.perf_counter() - begun, 2),
        weak[0].sentence() if weak else "",
    )
