"""The GPUs of this machine: what memory is free on them, and which jobs are on them at the same time."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from recassay.algorithms.kernels.device import torch, visible_gpus

PROCESS_BYTES = 1_000_000_000
"""What a process takes of a GPU besides what its algorithm states: CUDA's context, and memory that torch keeps."""

MARGIN = 1.25
"""What is set aside for each byte that an algorithm states."""


class GpuPlaces:
    """Places on GPUs, each named as CUDA_VISIBLE_DEVICES names it.

    A GPU takes `at_once` jobs at a time; by default as many as its free memory holds, by what they state. A job that
    states nothing, or more than there is, has a GPU to itself.
    """

    def __init__(self, names: Iterable[str], free: Mapping[str, int] | None = None, at_once: int | None = None) -> None:
        self._held: dict[str, list[float]] = {name: [] for name in names}
        self._free, self._at_once = free or {}, at_once

    def __bool__(self) -> bool:
        return bool(self._held)

    def find(self, need: int | None) -> str | None:
        """The GPU with the fewest jobs among those that have room for one more; None: it must wait."""
        fit = [name for name in self._held if self._fits(name, need)]
        return min(fit, key=lambda name: len(self._held[name]), default=None)

    def take(self, name: str, need: int | None) -> None:
        """Hold a place on this GPU until `give`."""
        self._held[name].append(_claim(need))

    def give(self, name: str, need: int | None) -> None:
        """Free the place that was held for such a need."""
        self._held[name].remove(_claim(need))

    def _fits(self, name: str, need: int | None) -> bool:
        held = self._held[name]
        if self._at_once is not None:
            return len(held) < self._at_once
        return not held or sum(held) + _claim(need) <= self._free.get(name, 0)


def _claim(need: int | None) -> float:
    return float("inf") if need is None else MARGIN * need + PROCESS_BYTES


@cache
def management() -> Any:
    """The management library of NVIDIA's driver, ready to be asked; None where there is none."""
    try:
        library = ctypes.CDLL("nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1")
        return library if library.nvmlInit_v2() == 0 else None
    except (OSError, AttributeError):
        return None


class _Memory(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_ulonglong) for name in ("total", "free", "used"))


def free_bytes() -> dict[str, int]:
    """By GPU that this process may use, its free memory; without those whose driver does not say."""
    library, found = management(), {}
    for number, name in enumerate(visible_gpus() if library is not None else ()):
        device, memory = ctypes.c_void_p(), _Memory()
        uuid = f"GPU-{getattr(torch.cuda.get_device_properties(number), 'uuid', '')}".encode()  # older torch has none
        if (
            library.nvmlDeviceGetHandleByUUID(uuid, ctypes.byref(device)) == 0
            and library.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)) == 0
        ):
            found[name] = int(memory.free)
    return found
