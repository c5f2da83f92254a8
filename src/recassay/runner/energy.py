"""The energy of a job: measured where the machine has counters, else estimated from processor seconds.

The counters are those of the processor packages and their memory (RAPL, in `/sys/class/powercap`) and of NVIDIA GPUs
(NVML). RAPL counts the whole machine: a job is charged the share that its processor seconds have in those of all
processes. Of what a GPU takes, idle power included, it is charged the same part as every other process that is on the
GPU when the job ends. Without RAPL the processor seconds of the job count `watts_per_core()` each. Reading a counter
takes microseconds, and nothing runs beside the job. (codecarbon and tirex-tracker read the same counters in a thread or
a library of their own.)
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from recassay.algorithms.kernels.device import has_gpu
from recassay.runner.gpus import management

WATTS = 10.0
"""Power of a busy core with its share of memory and board, where nothing was stated: between the 4 to 7 W of a server
processor's thermal design power per core and the 8 to 15 W of a desktop's.
"""
WATTS_VARIABLE = "RECASSAY_WATTS_PER_CORE"
POWERCAP = Path("/sys/class/powercap")
_UUID_BYTES = 96


@dataclass(frozen=True, slots=True)
class Reading:
    """The counters at one moment."""

    processor: float
    """Processor seconds of this process and of those that it has started and outlived."""
    busy: float | None
    """Processor seconds of all processes of the machine."""
    packages: Mapping[Path, int] = field(default_factory=dict)
    """Microjoules by RAPL domain."""
    gpus: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """By UUID of the GPU, its millijoules, and how many processes compute on it."""


@dataclass(frozen=True, slots=True)
class Energy:
    """Joules, and how they are known."""

    joules: float
    how: str
    """`measured` or `estimated`, with the counters or the assumption."""

    def record(self, of_fit: Energy) -> dict[str, Any]:
        """What a cell keeps of its energy; `of_fit` is that of the final fit and the lists."""
        return {"joules": self.joules, "joules_fit": of_fit.joules, "how": self.how}


def read_counters() -> Reading:
    """The counters now; those of a GPU where this process may be using one."""
    clock = os.times()
    processor = time.process_time() + clock.children_user + clock.children_system
    packages = {}
    for domain in _domains():
        with contextlib.suppress(OSError, ValueError):
            packages[domain] = int((domain / "energy_uj").read_text("ascii"))
    gpus = _gpu_counters() if os.environ.get("CUDA_VISIBLE_DEVICES") and has_gpu() else {}
    return Reading(processor, _busy_seconds() if packages else None, packages, gpus)


def spent(begin: Reading, end: Reading) -> Energy:
    """What was spent between two readings by this process."""
    processor = max(end.processor - begin.processor, 0.0)
    if begin.packages.keys() == end.packages.keys() and begin.packages and begin.busy and end.busy:
        machine = sum(_rise(domain, begin.packages[domain], end.packages[domain]) for domain in begin.packages) / 1e6
        # Clocks of the machine tick in hundredths of a second: of very short spans the job may seem to be all.
        joules, how = machine * min(processor / max(end.busy - begin.busy, processor, 1e-9), 1.0), "measured (RAPL"
    else:
        joules, how = processor * watts_per_core(), f"estimated ({watts_per_core():g} W per busy core"
    gpu = _used_gpu(end.gpus)
    if gpu is None:
        return Energy(joules, f"{how})")
    if gpu in begin.gpus and gpu in end.gpus:
        (millijoules, sharers), before = end.gpus[gpu], begin.gpus[gpu][0]
        part = f", 1/{sharers} of it" if sharers > 1 else ""
        return Energy(joules + (millijoules - before) / 1e3 / sharers, f"{how}; GPU measured by NVML{part})")
    return Energy(joules, f"{how}; GPU not measured)")


def watts_per_core() -> float:
    """The power that a busy core is taken to have: the environment's, else `WATTS`."""
    with contextlib.suppress(ValueError):
        stated = float(os.environ.get(WATTS_VARIABLE, WATTS))
        return stated if math.isfinite(stated) and stated > 0 else WATTS
    return WATTS


@cache
def _domains() -> tuple[Path, ...]:
    """The RAPL domains that do not overlap: packages, and memory where it has a counter of its own."""
    domains = []
    for domain in sorted(POWERCAP.glob("intel-rapl:*")):
        with contextlib.suppress(OSError):
            name = (domain / "name").read_text("ascii").strip()
            (domain / "energy_uj").read_text("ascii")
            if name.startswith("package") or name == "dram":
                domains.append(domain)
    return tuple(domains)


def _rise(domain: Path, begin: int, end: int) -> int:
    """Microjoules between two readings of a counter that begins again at its end."""
    if end >= begin:
        return end - begin
    with contextlib.suppress(OSError, ValueError):
        return end + int((domain / "max_energy_range_uj").read_text("ascii")) - begin
    return 0


def _busy_seconds() -> float | None:
    """Processor seconds of all processes: user, nice, system, interrupts (not idle, not waiting)."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        ticks = [int(part) for part in Path("/proc/stat").read_text("ascii").splitlines()[0].split()[1:8]]
        return (sum(ticks[:3]) + sum(ticks[5:7])) / os.sysconf("SC_CLK_TCK")
    return None


def _used_gpu(counted: Mapping[str, tuple[int, int]]) -> str | None:
    """The UUID of the GPU that torch computes on in this process; None where it uses none."""
    torch: Any = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return None
    known = str(getattr(torch.cuda.get_device_properties(0), "uuid", ""))
    return next((uuid for uuid in counted if known and known in uuid), next(iter(counted), known))


def _gpu_counters() -> dict[str, tuple[int, int]]:
    """By UUID of every GPU whose driver counts them (Volta and later), millijoules and computing processes."""
    library, count = management(), ctypes.c_uint()
    if library is None or library.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0:
        return {}
    counters = {}
    for number in range(count.value):
        device, uuid, energy = ctypes.c_void_p(), ctypes.create_string_buffer(_UUID_BYTES), ctypes.c_ulonglong()
        if (
            library.nvmlDeviceGetHandleByIndex_v2(number, ctypes.byref(device)) == 0
            and library.nvmlDeviceGetUUID(device, uuid, _UUID_BYTES) == 0
            and library.nvmlDeviceGetTotalEnergyConsumption(device, ctypes.byref(energy)) == 0
        ):
            sharers = ctypes.c_uint(0)  # without a place for their names it is set to how many there are
            with contextlib.suppress(AttributeError):  # a driver of before 2022
                library.nvmlDeviceGetComputeRunningProcesses_v3(device, ctypes.byref(sharers), None)
            counters[uuid.value.decode("ascii", "replace")] = energy.value, max(sharers.value, 1)
    return counters
