"""Do two statements about one table ever contradict each other? Tables made by chance, every analysis, every claim.

python benchmarks/consistency.py [--tables 1000] [--seed 1] [--all] [--json FILE]

Each table has 1 to 40 datasets, 2 to 40 algorithms and one to four metrics; some have seeds, ties, gaps, users, related
datasets, or a metric of which less is better. The verbs run in this process with few draws; the expensive ones on a
part of the tables (with --all on every one), among them the page, the paper and what a notebook shows. What their
results say as data (`claims` in JSON) is checked: one pair with two statuses, a possible winner that is shown to be
behind, two numbers of one thing, counts that do not add up, two minimums, words of the verdict in the mouth of a
witness, a page or a paper with another headline, and advice that fails when it is followed. Prints each contradiction
and a count per kind; exit code 1 where there is one. `tests/reporting/test_claims.py` runs 60 tables.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.consistency import analyzed, control_of, draw_table, examine, kind_of, published


def main() -> None:
    """Draw, ask, check, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="the expensive analyses on every table")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    counts, found, began = Counter[str](), [], time.process_time()
    for number in range(asked.tables):
        rng = np.random.default_rng([asked.seed, number])
        table = draw_table(rng)
        problems = examine(table, asked.all or number % 10 == 0, rng)
        if asked.all or number % 30 == 0:
            problems += analyzed(table, control_of(table, rng) if number % 60 else None)
        if asked.all or number % 50 == 0:
            problems += published(table, control_of(table, rng) if number % 100 else None)
        for problem in dict.fromkeys(problems):
            counts[kind_of(problem)] += 1
            found.append({"table": number, "what": table.what, "problem": problem})
            print(f"table {number} ({table.what}): {problem}", flush=True)
    seconds = time.process_time() - began
    total = ", ".join(f"{kind} {count}" for kind, count in counts.most_common()) or "none"
    print(f"{asked.tables} tables, {len(found)} contradictions ({total}), {seconds:.0f} s of processor time")
    if asked.json is not None:
        asked.json.write_text(json.dumps(found, indent=1))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
