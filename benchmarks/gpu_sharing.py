"""How many small networks one GPU trains in a minute: one process, and several at once.

python benchmarks/gpu_sharing.py [PROCESSES ...] [--data DIR] [--device cuda]

Every process trains LightGCN, ENMF and MultiVAE for 60 epochs and UltraGCN for 10 on all events of ml-100k. All begin
together after 2 epochs of each that are not counted, and the time is that of the slowest. Run it with NVIDIA's MPS
(`nvidia-cuda-mps-control -d`) and without.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from pathlib import Path
from typing import Any

from neural import DATA

from recassay.core.registry import algorithms
from recassay.core.seeds import derived_rng
from recassay.data.readers import read_interactions

EPOCHS = {"LightGCN": 60, "ENMF": 60, "MultiVAE": 60, "UltraGCN": 10}


def train(data: Path, device: str, together: Any, times: Any) -> None:
    """One process: its seconds go to `times`."""
    events = read_interactions(data / "ml-100k.parquet").interactions

    def trained(name: str, epochs: int) -> None:
        training = algorithms.get(name)(device=device).training(events, derived_rng(1, name))
        training.advance(epochs)  # reads the loss of every epoch, so that the GPU has done its work

    for name in EPOCHS:
        trained(name, 2)
    together.wait()
    begin = time.perf_counter()
    for name, epochs in EPOCHS.items():
        trained(name, epochs)
    times.put(time.perf_counter() - begin)


def main() -> None:
    """Print a line per number of processes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("processes", nargs="*", type=int, default=[1, 8])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--device", default="cuda")
    asked = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    for number in asked.processes:
        together, times = context.Barrier(number), context.Queue()
        started = [
            context.Process(target=train, args=(asked.data, asked.device, together, times)) for _ in range(number)
        ]
        for process in started:
            process.start()
        slowest = max(times.get() for _ in started)
        trainings = number * len(EPOCHS)
        print(f"{number} at once: {trainings} trainings in {slowest:.2f} s, {60 * trainings / slowest:.0f} a minute")


if __name__ == "__main__":
    main()
