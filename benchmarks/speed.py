"""Seconds of BPR, WARP and ALS on Gowalla by the number of cores, and of ALS on a GPU, with recall@20.

python benchmarks/speed.py [NAMES ...] [--data DIR] [--cores 1 4 16] [--devices cpu cuda] [--seed 1] [--peers]

DIR has the parts of a split, as for `strength.py`. A row is a study of one cell with so many threads (by default one
for each core). One trial finds the iterations of a default on the validation part; the final training is on both. By
default ALS runs on a GPU, too, where there is one. The line below says what a training took of the GPU's memory at its
peak, and what ALS states. `--peers` adds implicit's ALS and BPR, where it is installed, with our settings and as many
iterations, on the last number of cores; it has no search.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from neural import DATA
from scipy.sparse import csr_matrix
from strength import METRICS, study

from recassay.algorithms.als import ALS
from recassay.algorithms.bpr import BPR
from recassay.algorithms.kernels.compiled import one_blas_thread
from recassay.algorithms.kernels.device import gpu_name
from recassay.algorithms.kernels.scoring import FactorRecommender
from recassay.core.seeds import derived_rng
from recassay.core.specs.specs import ProtocolSpec, ReadSpec
from recassay.core.system.machine import usable_cores
from recassay.core.types import Split
from recassay.data.parts import read_parts
from recassay.metrics.evaluate import evaluate
from recassay.metrics.make import make_metric
from recassay.metrics.recommend import recommend_all
from recassay.protocol.apply import apply_protocol
from recassay.recommenders.study import run_study
from recassay.store.store import Store

NAMES = ["ALS", "WARP", "BPR"]


def cell(name: str, folder: Path, device: str, cores: int, seed: int) -> tuple[str, int]:
    """One row of the table, and the iterations of the final training."""
    asked = study([name], folder, [seed], {name: {"device": device}} if name == "ALS" else {})
    with tempfile.TemporaryDirectory() as scratch:
        run_study(asked, Path(scratch) / "study", workers=1, threads=cores)
        with Store.open(Path(scratch) / "study") as store:
            (done,) = store.cells()
    if done.status != "done":
        return f"{done.status}: {done.reason}", 0
    parts = done.seconds_tune or 0.0, done.seconds_fit or 0.0, done.seconds_predict or 0.0
    counts = [value for key, value in done.parameters.items() if key in ("iterations", "epochs")]
    values = " | ".join(f"{done.metrics[metric]:.4f}" for metric in METRICS)
    return f"{sum(parts):.1f} | {' | '.join(f'{part:.1f}' for part in parts)} | {counts[0]} | {values}", counts[0]


def memory_line(split: Split) -> str:
    """What one training of ALS takes of a GPU, and what it states."""
    import torch

    train, algorithm = split.refit(), ALS(device="cuda")
    ALS(device="cuda", iterations=1).fit(train, rng=derived_rng(1))  # starts the GPU and its libraries
    begin = time.perf_counter()
    model = algorithm.fit(train, rng=derived_rng(1))
    torch.cuda.synchronize()
    fitted = time.perf_counter()
    recommend_all(model, np.unique(split.test.user), 20, exclude=train.csr(), n_items=train.n_items)
    listed = time.perf_counter() - fitted
    stated = algorithm.gpu_memory_bytes(train.n_users, train.n_items, len(train)) / 1e9
    peak = torch.cuda.max_memory_allocated() / 1e9
    return (
        f"ALS on the GPU, {algorithm.iterations} iterations: fit {fitted - begin:.2f} s, lists {listed:.2f} s; "
        f"peak {peak:.2f} GB of {stated:.2f} GB stated"
    )


def peer(name: str, split: Split, cores: int, iterations: int) -> str:
    """One row of implicit, at our settings."""
    train = split.refit()
    common: dict[str, Any] = {"iterations": iterations, "num_threads": cores, "random_state": 1}
    if name == "ALS":
        from implicit.als import AlternatingLeastSquares

        ours = ALS()
        made = AlternatingLeastSquares(
            factors=ours.factors, alpha=ours.alpha, regularization=ours.reg, use_gpu=False, **common
        )
    else:
        from implicit.bpr import BayesianPersonalizedRanking

        mine = BPR()
        made = BayesianPersonalizedRanking(
            factors=mine.factors, learning_rate=mine.rate, regularization=mine.reg, use_gpu=False, **common
        )
    begin = time.perf_counter()
    with one_blas_thread():
        made.fit(csr_matrix(train.csr(), dtype=np.float32), show_progress=False)
    seconds = time.perf_counter() - begin
    model = FactorRecommender(made.user_factors, made.item_factors, rng=derived_rng(1))
    seen = train.csr()
    top = recommend_all(model, np.unique(split.test.user), 20, exclude=seen, n_items=train.n_items)
    means = evaluate(top, split.test.csr(), [make_metric(label) for label in METRICS], train=seen).mean()
    return f"{seconds:.1f} |  | {seconds:.1f} |  | {iterations} | {' | '.join(f'{means[m]:.4f}' for m in METRICS)}"


def main() -> None:
    """Print a row after each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--data", type=Path, default=DATA.parent / "splits" / "gowalla")
    parser.add_argument("--cores", type=int, nargs="+", default=[usable_cores()])
    parser.add_argument("--devices", nargs="+", default=["cpu", "cuda"] if gpu_name() else ["cpu"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peers", action="store_true")
    asked = parser.parse_args()
    print(f"{gpu_name() or 'no GPU'}, {usable_cores()} cores", flush=True)
    print("| algorithm | where | seconds | search | fit | lists | iterations | recall@20 | nDCG@20 |", flush=True)
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    split = apply_protocol(None, ProtocolSpec(split="given", filter="none"), given=read_parts(asked.data, ReadSpec()))
    found: dict[str, int] = {}
    if "cuda" in asked.devices and "ALS" in asked.names:
        print(f"| ALS | GPU | {cell('ALS', asked.data, 'cuda', asked.cores[-1], asked.seed)[0]} |", flush=True)
        print(memory_line(split), flush=True)
    for cores in asked.cores if "cpu" in asked.devices else ():
        for name in asked.names:
            line, found[name] = cell(name, asked.data, "cpu", cores, asked.seed)
            print(f"| {name} | {cores} cores | {line} |", flush=True)
    for name in found if asked.peers and find_spec("implicit.als") else ():
        if name != "WARP" and found[name]:
            print(f"| {name} of implicit | {cores} cores | {peer(name, split, cores, found[name])} |", flush=True)


if __name__ == "__main__":
    main()
