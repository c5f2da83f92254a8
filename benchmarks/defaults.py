"""How the defaults of algorithms are chosen: candidates on the validation parts of several datasets, no test part read.

python benchmarks/defaults.py NAMES ... [--candidates 8] [--datasets ...] [--jobs 2] [--device auto] [--data DIR]
    [--seconds 500] [--out FILE.jsonl]
python benchmarks/defaults.py --choose FILE.jsonl ...

The first candidate is the default as it is, the others are drawn from the search space (to two digits). Each is
trained on the training part of each dataset, with early stopping where the algorithm has it, and judged by nDCG@10 on
the validation part. `--choose` prints, for each algorithm, the candidates by the mean over datasets of their score
divided by the best one there; the first of them is to become the default. A failed candidate counts 0. Every result
is one line of FILE.jsonl, so that a run can be stopped at any time, and several files can be read together.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from neural import DATA, ndcg, read_split, stopped_early

from recassay.core.registry import algorithms
from recassay.core.search import Choice, Parameter, Whole, defaults
from recassay.core.seeds import derived_rng
from recassay.core.specs import ProtocolSpec
from recassay.core.types import Split

RANDOM = ProtocolSpec(split="random_per_user")
ORDERED = ProtocolSpec(split="user_time")
DATASETS: dict[str, tuple[ProtocolSpec, str]] = {
    "ml-100k": (RANDOM, "auto"),
    "filmtrust": (RANDOM, "auto"),
    "lastfm-2k": (RANDOM, "auto"),
    "foursquare-sg": (RANDOM, "auto"),
    "steam-200k": (RANDOM, "auto"),
    "amazon-beauty-seq": (ORDERED, "position"),
}
"""Protocol (items and users with at least 5 events) and what the time column is."""


def candidates(name: str, n: int) -> list[dict[str, Any]]:
    """The default and n further draws from the search space, always the same."""
    space = algorithms.get(name).space
    rng = derived_rng(1, "defaults", name)
    return [defaults(space), *({key: _drawn(p, rng) for key, p in space.items()} for _ in range(n))]


def _drawn(parameter: Parameter, rng: np.random.Generator) -> Any:
    if isinstance(parameter, Choice):
        return parameter.options[int(rng.integers(len(parameter.options)))]
    low, high = float(parameter.low), float(parameter.high)
    value = float(np.exp(rng.uniform(np.log(low), np.log(high))) if parameter.log else rng.uniform(low, high))
    if isinstance(parameter, Whole):
        step = parameter.step
        return int(min(parameter.high, parameter.low + step * round((value - low) / step)))
    return float(min(max(float(f"{value:.2g}"), low), high))


def judged(kind: Any, parameters: dict[str, Any], split: Split, device: str) -> dict[str, Any]:
    """nDCG@10 on the validation part."""
    begin, rng = time.perf_counter(), derived_rng(1, "defaults", kind.name)
    if hasattr(kind, "stopped_by"):
        found = stopped_early(kind(**parameters, device=device), split, rng)
        told = {"valid": found.valid, "epochs": found.epochs}
    else:
        told = {"valid": ndcg(kind(**parameters).fit(split.train, rng=rng), split.valid, split.train)}
    return told | {"seconds": time.perf_counter() - begin}


def work(task: tuple[str, str, int, str, str, float]) -> list[dict[str, Any]]:
    """All candidates of one algorithm on one dataset, until the time is over."""
    name, dataset, n, device, folder, until = task
    protocol, clock = DATASETS[dataset]
    split, rows = read_split(dataset, Path(folder), protocol, time=clock), []
    for number, parameters in enumerate(candidates(name, n)):
        if time.time() > until:
            break
        row = {"algorithm": name, "dataset": dataset, "candidate": number, "parameters": parameters}
        try:
            rows.append(row | judged(algorithms.get(name), parameters, split, device))
        except Exception as error:
            rows.append(row | {"valid": None, "error": f"{type(error).__name__}: {error}"})
    return rows


def choose(files: list[Path]) -> None:
    """Print the candidates of each algorithm, best first."""
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    table: dict[str, dict[int, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    told: dict[tuple[str, int], dict[str, Any]] = {}
    for row in rows:
        table[row["algorithm"]][row["candidate"]][row["dataset"]] = row["valid"] or 0.0
        told[row["algorithm"], row["candidate"]] = row["parameters"]
    for name, values in sorted(table.items()):
        datasets = sorted({dataset for scores in values.values() for dataset in scores})
        datasets = [d for d in datasets if sum(d in scores for scores in values.values()) == len(values)]
        best = {d: max(scores[d] for scores in values.values()) or 1.0 for d in datasets}
        mean = {c: float(np.mean([values[c][d] / best[d] for d in datasets])) for c in values}
        print(f"{name}: {len(values)} candidates on {', '.join(datasets)}")
        for candidate in sorted(mean, key=lambda c: -mean[c]):
            scores = " ".join(f"{values[candidate][d]:.4f}" for d in datasets)
            mark = " (now)" if candidate == 0 else ""
            print(f"  {mean[candidate]:.3f}  {scores}  {told[name, candidate]}{mark}")


def main() -> None:
    """Run candidates, or choose among those that ran."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--candidates", type=int, default=8)
    parser.add_argument("--datasets", nargs="*", default=list(DATASETS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--out", type=Path, default=Path("defaults.jsonl"))
    parser.add_argument("--choose", type=Path, nargs="*")
    options = parser.parse_args()
    if options.choose:
        choose(options.choose)
        return
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[variable] = "1"
    until = time.time() + options.seconds
    tasks = [
        (name, dataset, options.candidates, options.device, str(options.data), until)
        for dataset in reversed(options.datasets)
        for name in options.names
    ]
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool, options.out.open("a") as out:
        for rows in pool.imap_unordered(work, tasks):
            for row in rows:
                out.write(json.dumps(row) + "\n")
            out.flush()
            seconds = sum(row.get("seconds", 0.0) for row in rows)
            print(
                rows[0]["algorithm"] if rows else "-",
                rows[0]["dataset"] if rows else "",
                f"{seconds:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
