"""Seconds and memory of the commands on tables: `python benchmarks/large_tables.py [--most SECONDS] [SIZE ...]`.

A table of A algorithms x D datasets (`200x50`) is drawn from a model with abilities, difficulties and noise, written as
CSV, and given to each command in a process of its own, whose processor time and peak memory are printed. `import` is
Python with `import recassay` and the function `rank`. `--commands analyze` writes the page and all files and figures.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

COMMANDS = ("rank", "compare", "ratings", "model", "stress")
IMPORT = "import"
CHILD = """
import atexit, resource, sys
def told():
    spent = resource.getrusage(resource.RUSAGE_SELF)
    print(spent.ru_utime + spent.ru_stime, spent.ru_maxrss, file=sys.stderr)
atexit.register(told)
if sys.argv[1] == "import":
    import recassay
    sys.exit(not recassay.rank)
from recassay.cli.start import main
sys.exit(main())
"""
"""A command whose last line on stderr has its own processor seconds and peak memory in kilobytes."""

SIZES = ("11x30", "30x30", "200x50", "1000x100")


def write_table(path: Path, algorithms: int, datasets: int) -> None:
    """A wide table with one row per algorithm."""
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 1, (algorithms, 1)) + rng.normal(0, 1, datasets) + rng.normal(0, 0.5, (algorithms, datasets))
    values = 1 / (1 + np.exp(-logits))
    columns = {f"d{j:03d}": values[:, j].round(4) for j in range(datasets)}
    pl.DataFrame({"model": [f"m{i:04d}" for i in range(algorithms)], **columns}).write_csv(path)


def measured(command: str, table: Path, most: float) -> str:
    """Processor seconds and peak memory of one command, or why there are none."""
    began = time.monotonic()
    out = ["--out", str(table.with_name("out"))] if command == "analyze" else []
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, command, str(table), "--metric", "accuracy", "--json", *out],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        _, errors = child.communicate(timeout=most)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return f"more than {most:.0f} s"
    *lines, spent = errors.strip().splitlines()
    if child.returncode:
        return f"failed: {lines[-1][:80]}"
    seconds, kilobytes = (float(number) for number in spent.split())
    return f"{seconds:.1f} s, {kilobytes / 2**20:.2f} GB (waited {time.monotonic() - began:.0f} s)"


def main() -> None:
    """Measure every command on every size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", default=SIZES)
    parser.add_argument("--most", type=float, default=600.0, help="seconds after which a command is ended")
    parser.add_argument("--commands", default=",".join((IMPORT, *COMMANDS)))
    given = parser.parse_args()
    for size in given.sizes:
        algorithms, _, datasets = size.partition("x")
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table.csv"
            write_table(table, int(algorithms), int(datasets))
            for name in given.commands.split(","):
                print(f"{size:>9} {name:>8}: {measured(name, table, given.most)}", flush=True)


if __name__ == "__main__":
    main()
