"""Do two statements about one table ever contradict each other? Tables made by chance, every analysis, every claim.

python benchmarks/consistency.py [--tables 1000] [--seed 1] [--all] [--json FILE]

Each table has 1 to 40 datasets, 2 to 40 algorithms and one to four metrics; some have seeds, ties, gaps, users, related
datasets, or a metric of which less is better. The verbs run in this process with few draws; the expensive ones on a part of
the tables (with --all on every one). What their results say as data (`recassay.reporting.claims`) is checked: one pair
with two statuses, a possible winner that is shown to be behind, two numbers of one thing, counts that do not add up, words of
the verdict in the mouth of a witness, and advice that fails when it is followed. Prints each contradiction and a count per
kind; exit code 1 where there is one.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import recassay
from recassay.core.claims import contradictions
from recassay.core.errors import RecAssayError
from recassay.core.registry import analyses
from recassay.core.system.display import told_by  # noqa: F401  (results tell themselves)
from recassay.reporting.claims import statements, unnamed

METRICS = ("ndcg@10", "recall@20", "rmse", "hit_rate@5")
ADVICE = re.compile(r"recassay (\w+)")
FAST = ("rank", "compare", "model", "ratings")


@dataclass
class Drawn:
    """A table and how it is to be read."""

    frame: pl.DataFrame
    what: str
    options: dict[str, Any] = field(default_factory=dict)
    families: str | None = None


def draw_table(rng: np.random.Generator) -> Drawn:
    """One table: its size, its kind of values and what is odd about it are drawn."""
    n = int(rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 40]))
    k = int(rng.choice([2, 2, 3, 3, 4, 5, 6, 8, 10, 12, 20, 40], p=[0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.08, 0.06, 0.04, 0.02]))
    names = [f"A{a:02d}" for a in rng.permutation(k)]
    related = bool(rng.random() < 0.2)
    datasets = [f"Amazon {d}" if related and d % 2 else f"set{d:02d}" for d in range(n)]
    count = int(rng.integers(1, 5))
    seeds = int(rng.choice([1, 1, 1, 3]))
    odd = {name for name, share in (("ties", 0.2), ("gaps", 0.15), ("zeros", 0.1), ("copies", 0.15), ("users", 0.15))
           if rng.random() < share}  # fmt: skip
    rows: list[dict[str, Any]] = []
    skill = rng.normal(size=k) * rng.choice([0.0, 0.1, 0.3, 1.0])
    level = rng.normal(size=n) * rng.choice([0.1, 0.5, 1.0])
    n_users = int(rng.integers(20, 60)) if "users" in odd and n <= 8 and k <= 8 else 0
    for metric in METRICS[:count] if rng.random() < 0.8 else METRICS[2:3]:
        own = skill + 0.3 * rng.normal(size=k)
        score = own[:, None] + level + rng.choice([0.1, 0.5]) * rng.normal(size=(k, n))
        values = 1 / (1 + np.exp(-score)) if metric != "rmse" else np.exp(-score)
        if "ties" in odd:
            values = np.round(values, 1)
        if "zeros" in odd:
            values[rng.random((k, n)) < 0.05] = 0.0
        if "copies" in odd and k > 2:
            values[1] = values[0]
        for a in range(k):
            for d in range(n):
                if "gaps" in odd and rng.random() < 0.02 and metric == METRICS[0]:
                    continue
                row = {"algorithm": names[a], "dataset": datasets[d], "metric": metric}
                if n_users:
                    noise = rng.normal(size=n_users) * 0.1
                    rows += [{**row, "user": f"u{u}", "value": float(values[a, d] + noise[u])} for u in range(n_users)]
                else:
                    rows += [{**row, "seed": s, "value": float(values[a, d] + (0.01 * rng.normal() if s else 0))}
                             for s in range(seeds)]  # fmt: skip
    frame = pl.DataFrame(rows, infer_schema_length=None)
    if "seed" in frame.columns and seeds == 1:
        frame = frame.drop("seed")
    options: dict[str, Any] = {"metric": frame.get_column("metric")[0]}
    what = f"{k} algorithms, {n} datasets, {frame['metric'].n_unique()} metrics, seeds {seeds}, {', '.join(sorted(odd)) or 'plain'}"
    return Drawn(frame, what, options, "auto" if related and rng.random() < 0.5 else None)


def examine(table: Drawn, expensive: bool, rng: np.random.Generator) -> list[str]:
    """What contradicts in everything that is said of one table."""
    options = {**table.options, "missing": "worst" if rng.random() < 0.5 else "drop-datasets"}
    results: dict[str, Any] = {}
    results |= _asked("rank", table.frame, **options, replicates=100, families=table.families)
    results |= _asked("compare", table.frame, **options, draws=200, families=table.families)
    control = str(rng.choice(table.frame["algorithm"].unique().sort()))
    named = _asked("compare", table.frame, **options, draws=200, control=control, families=table.families)
    results |= {f"{name} --control": result for name, result in named.items()}
    whole = table.frame.height == table.frame.drop_nulls().height and "gaps" not in table.what
    results |= _asked("model", table.frame, table.options["metric"])
    if "users" in table.what:
        results |= _asked("users", table.frame, table.options["metric"], replicates=100)
    if table.families is None and whole:
        results |= _asked("ratings", table.frame, **table.options, replicates=100)
        results |= _asked("plan", table.frame, **table.options)
    if expensive and whole:
        results |= _asked("stress", table.frame, **table.options, draws=20)
        results |= _asked("beta_irt", table.frame, **table.options, samples=200) if table.options["metric"] != "rmse" else {}
        results |= _asked("glicko", table.frame, **table.options, orders=10)
        results |= _asked("multiverse", table.frame, permutations=50)
    problems = [*contradictions(statements(results)), *unnamed(results), *_advice(table, results)]
    return problems


def analyzed(table: Drawn) -> list[str]:
    """The same of `analyze` with all its analyses, and of its sentences together."""
    try:
        report = recassay.analyze(table.frame, table.options["metric"], missing="worst", replicates=100)
    except RecAssayError:
        return []
    failed = [f"{name} failed: {why}" for name, why in report.skipped.items() if "failed with" in why]
    return [*contradictions(statements(report.analyses)), *unnamed(report.analyses), *failed]


def _asked(verb: str, *arguments: Any, **options: Any) -> dict[str, Any]:
    """The result of a verb by its name; nothing where it does not apply to the table."""
    import inspect

    function = getattr(recassay, verb)
    known = inspect.signature(function).parameters
    try:
        return {verb: function(*arguments, **{name: value for name, value in options.items() if name in known})}
    except RecAssayError:
        return {}


def _advice(table: Drawn, results: dict[str, Any]) -> list[str]:
    """Commands that are advised and fail on this table."""
    problems = []
    verdicts = [getattr(result, "judgement", None) for result in results.values()]
    steps = {verdict.next_step for verdict in verdicts if verdict is not None and verdict.next_step}
    for verb, step in sorted({(word, step) for step in steps for word in ADVICE.findall(step)}):
        try:
            if verb == "analyze":  # it applies where the ranking does
                recassay.rank(table.frame, table.options["metric"], missing="worst", replicates=100)
            elif verb not in results:
                cheap = {"stress": {"draws": 20, "missing": "worst"}, "users": {"replicates": 100}}.get(verb, {})
                getattr(recassay, verb)(table.frame, table.options["metric"], **cheap)
        except RecAssayError as error:
            problems.append(f"advice that fails: {step!r}: {error}")
    return problems


def kind_of(problem: str) -> str:
    """A short name by which problems are counted."""
    for start, name in (("advice", "advice"), (" says ", "words"), ("counts more", "counts"), ("is not", "counts"), (" failed:", "failed")):
        if start in problem:
            return name
    relation = re.search(r" (better|equivalent|undecided|could_be_best|leads|effect|p|interval|chance|count) ", problem)
    return relation[1] if relation else "other"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="the expensive analyses on every table")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    analyses.loadable()
    counts, found, began = Counter[str](), [], time.process_time()
    for number in range(asked.tables):
        rng = np.random.default_rng([asked.seed, number])
        table = draw_table(rng)
        problems = examine(table, asked.all or number % 10 == 0, rng)
        if asked.all or number % 30 == 0:
            problems += analyzed(table)
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
