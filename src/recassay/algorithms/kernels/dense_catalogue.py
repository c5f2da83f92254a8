"""Algorithms that hold dense items x items matrices say so before they start, and name those that do not."""

from __future__ import annotations

from recassay.core.errors import UsageError
from recassay.core.system.memory import machine_bytes

INSTEAD = "it holds dense items x items matrices; LocalEASE and ItemKNN do not"


def refuse_dense(algorithm: str, n_items: int, needed: int) -> None:
    """Raise where `needed` bytes for matrices of `n_items` x `n_items` are more than this machine has."""
    machine = machine_bytes()
    if machine is not None and needed > machine:
        raise UsageError(
            f"{algorithm} holds dense matrices of {n_items:,} x {n_items:,} items, about {needed / 1e9:,.3g} GB, and "
            f"this machine has {machine / 1e9:,.3g}",
            fix="use LocalEASE or ItemKNN, which hold no such matrix, or a filter that leaves fewer items",
        )
