"""Algorithms of one's own, tried on small data in processes of their own: whatever they do there ends with the process.

What they print is kept apart from what is said about them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from recassay.core.errors import RecAssayError
from recassay.core.system.plugin_file import plugin_path, split_reference
from recassay.core.system.printable import one_line, printable
from recassay.recommenders.references import load_algorithm
from recassay.runner.jobs import Collected, Emit, Job, Outcome
from recassay.runner.local import LocalExecutor
from recassay.runner.references import is_part_file

PRINTED = 2000
"""Characters that are kept of what an algorithm prints, the last ones."""


@dataclass(frozen=True, slots=True)
class Tried:
    """How a trial ended, and what the algorithm printed meanwhile."""

    outcome: Outcome
    printed: str


def try_apart(
    function: str, payloads: Sequence[Mapping[str, Any]], *, seconds: float, memory: int | None, workers: int = 1
) -> list[Tried]:
    """Run a job function of this module on each payload, in a process of its own within these limits."""
    tried, name = Collected(), f"{__name__}:{function}"
    jobs = [Job(str(place), name, partial(dict, one), seconds, memory) for place, one in enumerate(payloads)]
    with tempfile.TemporaryDirectory(prefix="recassay-", ignore_cleanup_errors=True) as folder:
        logs = Path(folder)
        with LocalExecutor(min(workers, len(jobs)), logs, preload=[__name__]) as executor:
            executor.run(jobs, tried)
        return [Tried(tried.outcomes[job.id], _printed(logs / f"{job.id}.log")) for job in jobs]


def why(tried: Tried, seconds: float) -> str:
    """Why a trial gave no answer, in a line: its log is gone when this is read, so its last line stands here."""
    outcome = tried.outcome
    if outcome.status == "timeout":
        return f"it did not end within {seconds:g} seconds"
    reason = str(outcome.reason).partition(" (its output is in ")[0]
    if outcome.status != "crashed":
        return reason
    last = next((line for line in reversed(tried.printed.splitlines()) if line.strip()), "")
    return f"{reason}, after it printed {one_line(last, 120)!r}" if last else reason


def try_algorithm(payload: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
    """The job that tries a class of one's own: `broken`, a sentence per broken rule. A weak algorithm may run."""
    from recassay.testing.checks import EXTERNAL_CHECKS, check_learns
    from recassay.testing.rules import try_rules

    kind = load_algorithm(payload["reference"], payload["base"])
    rules = [rule for rule in EXTERNAL_CHECKS if rule is not check_learns]
    _, broken = try_rules(kind, rules, plugin_path(payload["reference"], payload["base"]).name)
    return {"broken": [rule_broken.sentence() for rule_broken in broken]}


def check_algorithm(payload: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
    """The job of the verb `check`: `name`, `tunable`, `kept` and `broken` rules, `caution`, or why it is `refused`."""
    from recassay.testing.checks import ALGORITHM_CHECKS, EXTERNAL_CHECKS, check_learns
    from recassay.testing.rules import try_rules

    try:
        kind = load_algorithm(payload["reference"], payload["base"])
    except RecAssayError as error:
        return {"refused": [error.what, error.where, error.fix]}
    file = split_reference(payload["reference"])[0].name if is_part_file(payload["reference"]) else ""
    rules = [rule for rule in (ALGORITHM_CHECKS if payload["every"] else EXTERNAL_CHECKS) if rule is not check_learns]
    kept, broken = try_rules(kind, rules, file)
    weak = [] if broken else try_rules(kind, [check_learns], file)[1]
    return {
        "name": str(kind.name),
        "tunable": [str(name) for name in kind.space],
        "kept": kept,
        "broken": [asdict(rule) for rule in broken],
        "caution": weak[0].sentence() if weak else "",
    }


def _printed(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 4 * PRINTED))
            return printable(file.read().decode("utf-8", "replace"))[-PRINTED:].strip()
    except OSError:
        return ""
