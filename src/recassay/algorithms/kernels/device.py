"""Where an algorithm computes: on the processor, or on a GPU through torch, which is imported when it is first used."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recassay.core.errors import MissingExtraError, NotEnoughMemoryError, UsageError


class _TorchWhenUsed:
    """Stands for the module `torch`; the first attribute that is asked for imports it."""

    def __getattr__(self, name: str) -> Any:
        try:
            module = importlib.import_module("torch")
        except ModuleNotFoundError as error:
            raise MissingExtraError("torch", "neural", "this algorithm") from error
        attribute = getattr(module, name)
        setattr(self, name, attribute)
        return attribute


torch: Any = _TorchWhenUsed()


DEVICES = ("auto", "cpu", "cuda", "mps")
"""What the parameter `device` takes; `auto` is a CUDA GPU where torch finds one, else the processor."""

TORCH_BYTES = 300 << 20
"""Host memory that torch itself takes, once it is imported."""

WORKSPACE_BYTES = 72 << 20
"""What cuBLAS keeps on a GPU for two streams, where its sums must have a fixed order."""


def settled_device(device: str, algorithm: str) -> str:
    """`cpu`, `cuda` or `mps`: what `device` means on this machine; one that is not there raises."""
    if device == "cpu" or (device == "auto" and not (has_gpu() and has_torch() and torch.cuda.is_available())):
        return "cpu"
    if not has_torch():
        raise MissingExtraError("torch", "neural", f"{algorithm} on {device}")
    available = torch.backends.mps.is_available() if device == "mps" else torch.cuda.is_available()
    if not available:
        raise UsageError(
            f"{algorithm} is to run on {device!r}, and torch {torch.__version__} finds no such device",
            fix="use device = 'cpu' or 'auto', or install a build of torch for the GPU",
        )
    return "cuda" if device == "auto" else device


def has_torch() -> bool:
    """Whether the extra `neural` is installed; torch is not imported."""
    return importlib.util.find_spec("torch") is not None


def has_gpu() -> bool:
    """Whether the system shows an NVIDIA GPU to this process: a look at device files, without importing torch."""
    if os.environ.get("CUDA_VISIBLE_DEVICES", "all").strip() in ("", "-1"):
        return False
    if os.name == "nt":
        return shutil.which("nvidia-smi") is not None
    return any(Path("/dev").glob("nvidia[0-9]*")) or Path("/dev/dxg").exists()


def gpu_count() -> int:
    """How many CUDA GPUs torch sees; 0, without importing it, where the system shows none."""
    return int(torch.cuda.device_count()) if has_gpu() and has_torch() else 0


def visible_gpus() -> tuple[str, ...]:
    """The CUDA GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them."""
    named = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    return tuple((named or list(map(str, range(gpu_count()))))[: gpu_count()])


def gpu_name() -> str | None:
    """What the first CUDA GPU is called."""
    return str(torch.cuda.get_device_name(0)) if gpu_count() else None


def require_gpu_memory(needed: int, device: str, algorithm: str) -> None:
    """Raise where a CUDA GPU has less than `needed` bytes free; other devices share the host's memory."""
    if device != "cuda":
        return
    free = int(torch.cuda.mem_get_info()[0])
    if needed > free:
        raise NotEnoughMemoryError(
            f"{algorithm} would need about {needed / 1e9:.3g} GB of GPU memory, and {free / 1e9:.3g} GB are free",
            fix="use smaller parameters, or device = 'cpu'",
        )


@contextmanager
def reproducible() -> Iterator[None]:
    """A context in which torch gives the same numbers for the same input on one device, or refuses to compute.

    A GPU that runs out of memory in it raises `NotEnoughMemoryError`. oneDNN is off: for small products it costs ten
    times the product on some processors, and nothing is gained for large ones.
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    before, filled = torch.are_deterministic_algorithms_enabled(), torch.utils.deterministic.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "TF32 acceleration on top of oneDNN", UserWarning)
            with torch.backends.mkldnn.flags(enabled=False):
                yield
    except torch.OutOfMemoryError as error:
        raise NotEnoughMemoryError(
            f"the GPU ran out of memory: {' '.join(str(error).split())[:200]}", fix="use smaller parameters or batches"
        ) from error
    finally:
        torch.use_deterministic_algorithms(before)
        torch.utils.deterministic.fill_uninitialized_memory = filled


@contextmanager
def tensor_cores(*, allowed: bool) -> Iterator[None]:
    """A context in which a GPU may, or may not, take the factors of float32 products to 10 bits after the point."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = allowed
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
