"""How the defaults of algorithms are chosen: candidates on the validation parts of several datasets, no test part read.

python benchmarks/defaults.py NAMES ... [--candidates 8] [--datasets ...] [--jobs 2] [--device auto] [--data DIR]
    [--seconds 500] [--extra FILE.json] [--out FILE.jsonl]
python benchmarks/defaults.py --choose FILE.jsonl ...

The first candidate is the default as it is; in the others every parameter is, with probability 1/2, drawn again from
the search space (to two digits); `--extra` adds those of a file ({name: [parameters, ...]}). Each is trained on the
training part of each dataset, with early stopping where the algorithm has it, and judged by nDCG@10 on the validation
part. `--choose` prints, for each algorithm, the candidates by the mean over datasets of their score divided by the best
one there, and their seconds; the first of them is to become the default. A failed candidate counts 0. Every result is a
line of FILE.jsonl as soon as it is there: a run can be stopped at any time, and several files read together.
"""

from __future__ import annotations

import argparse
import inspect
import json
import multiprocessing
import os
import sys
import time
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from neural import DATA, ndcg, stopped_early

from recassay.core.registry import algorithms
from recassay.core.seeds import derived_rng
from recassay.core.specs.search import Choice, Parameter, Whole, defaults
from recassay.core.specs.specs import ProtocolSpec, ReadSpec
from recassay.core.types import Split
from recassay.data.readers import read_interactions
from recassay.protocol.apply import apply_protocol

RANDOM = ProtocolSpec(split="random_per_user")
DATASETS: dict[str, int] = {
    "ml-1m-half": 3,
    "lastfm-2k": 1,
    "steam-200k": 1,
    "foursquare-sg": 1,
    "bookcrossing": 1,
    "citeulike-a": 1,
    "amazon-beauty-seq": 1,
}
"""Datasets of different density and size, and which share of their users takes part (one of so many)."""


def candidates(name: str, n: int, extra: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The default, n variations of it, always the same, and those of our own."""
    space = algorithms.get(name).space
    rng = derived_rng(1, "defaults", name)

    def variation() -> dict[str, Any]:
        return {key: _drawn(p, rng) if rng.random() < 0.5 else p.default for key, p in space.items()}

    return [defaults(space), *(variation() for _ in range(n)), *({**defaults(space), **one} for one in extra)]


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
        if "device" in inspect.signature(kind).parameters:
            parameters = parameters | {"device": device}
        found = stopped_early(kind(**parameters), split, rng)
        told = {"valid": found.valid, "epochs": found.epochs}
    else:
        told = {"valid": ndcg(kind(**parameters).fit(split.train, rng=rng), split.valid, split.train)}
    return told | {"seconds": time.perf_counter() - begin}


@cache
def part(dataset: str, folder: str) -> Split:
    """Items and users with at least 5 events, split at random within each user."""
    read = read_interactions(Path(folder) / f"{dataset}.parquet", ReadSpec()).interactions
    return apply_protocol(read.take(read.user % DATASETS[dataset] == 0), RANDOM)


def work(task: tuple[str, str, int, dict[str, Any], str, str, float]) -> dict[str, Any] | None:
    """One candidate on one dataset, unless the time is over."""
    name, dataset, number, parameters, device, folder, until = task
    if time.time() > until:
        return None
    row = {"algorithm": name, "dataset": dataset, "candidate": number, "parameters": parameters}
    try:
        return row | judged(algorithms.get(name), parameters, part(dataset, folder), device)
    except Exception as error:
        return row | {"valid": None, "error": f"{type(error).__name__}: {error}"}


def choose(files: list[Path]) -> None:
    """Print the candidates of each algorithm that ran on all of its datasets, best first."""
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    table: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    for row in rows:
        options = json.dumps(defaults(algorithms.get(row["algorithm"]).space) | row["parameters"])
        table[row["algorithm"]][options][row["dataset"]] = row["valid"] or 0.0
        seconds[row["algorithm"], options] += row.get("seconds", 0.0)
    for name, values in sorted(table.items()):
        datasets = sorted({dataset for scores in values.values() for dataset in scores})
        whole = {options: scores for options, scores in values.items() if len(scores) == len(datasets)}
        best = {d: max((scores[d] for scores in whole.values()), default=0.0) or 1.0 for d in datasets}
        mean = {options: float(np.mean([scores[d] / best[d] for d in datasets])) for options, scores in whole.items()}
        print(f"{name}: {len(whole)} candidates on {', '.join(datasets)}; {len(values) - len(whole)} on fewer")
        for options in sorted(mean, key=lambda t: -mean[t]):
            scores = " ".join(f"{whole[options][d]:.4f}" for d in datasets)
            mark = " (now)" if json.loads(options) == defaults(algorithms.get(name).space) else ""
            print(f"  {mean[options]:.3f}  {scores}  {seconds[name, options]:.0f} s  {options}{mark}")


def main() -> None:
    """Run candidates, or choose among those that ran."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--candidates", type=int, default=8)
    parser.add_argument("--extra", type=Path)
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
    extra = json.loads(options.extra.read_text()) if options.extra else {}
    tasks = [
        (name, dataset, number, parameters, options.device, str(options.data), until)
        for dataset in reversed(options.datasets)
        for name in options.names
        for number, parameters in enumerate(candidates(name, options.candidates, extra.get(name, [])))
    ]
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool, options.out.open("a") as out:
        for row in pool.imap_unordered(work, tasks):
            if row is not None:
                out.write(json.dumps(row) + "\n")
                out.flush()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
