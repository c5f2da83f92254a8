"""What sections share: a measured process, stages with their cost, and how cost grows with size."""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

THREADS = tuple(f"{name}_THREADS" for name in ("POLARS_MAX", "OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMBA_NUM"))


class Stages:
    """Wall and processor seconds of named stages, and the peak memory of this process when each had ended."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, float]] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure what happens inside."""
        wall, cpu = time.perf_counter(), processor_seconds()
        yield
        self.found[name] = {
            "wall": time.perf_counter() - wall,
            "cpu": processor_seconds() - cpu,
            "peak": peak_bytes(),
        }


def processor_seconds() -> float:
    """User and system time of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_bytes() -> int:
    """The most memory that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def in_process(arguments: Sequence[str], *, threads: int = 2) -> dict[str, Any]:
    """Run `benchmarks/scale.py` with `arguments` in a process of its own and return the JSON of its last line."""
    script = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "scale.py")
    environment = os.environ | dict.fromkeys(THREADS, str(threads))
    done = subprocess.run(
        [sys.executable, script, *arguments], env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The slope b of cost = a size^b, by least squares of the logarithms; NaN for one size."""
    x, y = [math.log(size) for size in sizes], [math.log(max(cost, 1e-9)) for cost in costs]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    spread = sum((one - mean_x) ** 2 for one in x)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / spread if spread else math.nan
