"""Does an answer change with what should not matter? Every analysis, on tables that are written in several ways.

python benchmarks/invariance.py [--tables 20] [--seed 0] [--only ANALYSIS ...]

A table is written with other names and orders of its datasets or algorithms, with values x 100, negated (lower is
better), with another factor per dataset, with a dataset on which all tie, with a copy of an algorithm, and judged by 1
and by 4 threads. Prints by analysis and way of writing how many tables were tried, and in how many of them anything
that was said changed by more than 1e-9; a dash where the answer is in the unit, or speaks of what was added.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("NUMBA_NUM_THREADS", "4")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numba
import numpy as np
from threadpoolctl import threadpool_limits

from recassay.analysis.verdict.fit import _judge
from support import invariance as written

WAYS = {
    "datasets": written.other_datasets,
    "algorithms": written.other_algorithms,
    "x 100": written.in_percent,
    "negated": written.negated,
    "levels": written.other_levels,
    "a tie": written.with_a_tie,
    "a copy": written.with_a_copy,
    "threads": None,
}
NAMES = {"datasets", "algorithms", "threads"}
ASKED: dict[str, tuple[Callable[[written.Table], written.Said], set[str], int, int]] = {
    "verdict": (written.the_verdict, set(WAYS), 30, 40),
    "rank": (written.the_ranking, NAMES, 12, 30),
    "compare": (written.the_comparison, NAMES | {"x 100", "negated"}, 12, 30),
    "model": (written.the_model, NAMES, 5, 12),
    "plan": (written.the_plan, NAMES, 5, 12),
    "ratings": (written.the_ratings, NAMES | {"x 100", "negated"}, 12, 30),
    "beta-IRT": (written.the_items, NAMES, 5, 9),
    "stress": (written.the_stress, NAMES | {"x 100"}, 8, 12),
    "multiverse": (written.the_multiverse, NAMES | {"x 100"}, 8, 20),
    "select": (written.the_choice, NAMES | {"x 100"}, 8, 12),
    "users": (written.the_users, NAMES, 8, 40),
    "strata": (written.the_strata, NAMES, 8, 40),
}
"""By analysis what it says, in which ways that is the same, and the most algorithms and datasets."""


def changed(said: Callable[[written.Table], written.Said], table: written.Table, way: str) -> bool:
    """Whether anything is said otherwise of a table that is written so."""
    if way == "threads":
        return bool(written.differences(*(by_threads(said, table, count) for count in (1, 4)), 1e-9))
    other, old = WAYS[way](table)
    after = written.translated(said(other), old)
    if way == "a copy" and "best" in after:
        after["best"] = after["best"] - {"copy"}
    return bool(written.differences(said(table), after, 1e-9))


def by_threads(said: Callable[[written.Table], written.Said], table: written.Table, count: int) -> written.Said:
    """What is said where so many threads compute."""
    _judge.cache_clear()
    numba.set_num_threads(count)
    with threadpool_limits(count):
        return said(table)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=ASKED, default=list(ASKED), metavar="ANALYSIS")
    asked = parser.parse_args()
    print("| analysis | tables |", " | ".join(WAYS), "|", flush=True)
    for name in asked.only:
        said, ways, most_k, most_n = ASKED[name]
        rng, counts = np.random.default_rng([asked.seed, len(name)]), dict.fromkeys(WAYS, 0)
        tables = asked.tables * 3 if name == "verdict" else asked.tables
        for number in range(tables):
            least = 3 if name == "beta-IRT" else 2
            k, n = int(rng.integers(least, most_k + 1)), int(rng.integers(1 if name == "verdict" else 6, most_n + 1))
            table = written.drawn(k, n, number, rounded=number % 4 == 3)
            for way in ways:
                counts[way] += changed(said, table, way)
        cells = " | ".join(str(counts[way]) if way in ways else "-" for way in WAYS)
        print(f"| {name} | {tables} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
