"""Sums of rows that go to the same place, in whole numbers, by kernels in Triton.

Whole numbers give the same sum in any order, so that all threads may add at once. (torch sorts the places first, in
eight passes.) A number v becomes the whole number v 2^s, with the largest s for which no sum can overflow: what is lost
is 2^-40 of the largest number, or less.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

BLOCK = 1024
ROWS_A_BLOCK = 4


@triton.jit
def _find_largest(values, largest, n, block: tl.constexpr):
    """The bits of a number without its sign have its order; infinity and NaN come last."""
    place = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    bits = tl.load(values + place, mask=place < n, other=0.0).to(tl.int32, bitcast=True) & 0x7FFFFFFF
    tl.atomic_max(largest, tl.max(bits, axis=0))


@triton.jit
def _power_of_two(exponent):
    return ((exponent + 1023).to(tl.int64) << 52).to(tl.float64, bitcast=True)


@triton.jit
def _add(place, values, largest, sums, n, size, room, rows: tl.constexpr, width: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * rows + tl.arange(0, rows)
    feature = tl.arange(0, width)
    inside = (row < n)[:, None] & (feature < size)[None, :]
    to = tl.load(place + row, mask=row < n, other=0)
    value = tl.load(values + row[:, None] * size + feature[None, :], mask=inside, other=0.0)
    scale = _power_of_two(room - ((tl.load(largest) >> 23) - 127))
    whole = (value.to(tl.float64) * scale).to(tl.int64)
    tl.atomic_add(sums + to[:, None] * size + feature[None, :], whole, mask=inside, sem="relaxed")


@triton.jit
def _as_numbers(sums, largest, answer, n, room, block: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    bits = tl.load(largest)
    value = tl.load(sums + place, mask=place < n, other=0).to(tl.float64) * _power_of_two((bits >> 23) - 127 - room)
    value = tl.where(bits < 0x7F800000, value.to(tl.float32), float("nan"))
    tl.store(answer + place, value, mask=place < n)


def summed_rows(place: Any, values: Any, n: int) -> Any:
    """n rows: row r is the sum of the rows of `values` whose `place` is r; NaN where any value is not finite."""
    size = values.shape[1]
    if not values.numel():
        return torch.zeros(n, size, device=values.device)
    values, answer = values.contiguous(), torch.empty(n, size, device=values.device)
    largest = torch.zeros((), dtype=torch.int32, device=values.device)
    sums = torch.zeros(n, size, dtype=torch.int64, device=values.device)
    room = 61 - len(place).bit_length()
    _find_largest[(triton.cdiv(values.numel(), BLOCK),)](values, largest, values.numel(), block=BLOCK)
    width = max(16, triton.next_power_of_2(size))
    _add[(triton.cdiv(len(place), ROWS_A_BLOCK),)](
        place, values, largest, sums, len(place), size, room, rows=ROWS_A_BLOCK, width=width
    )
    _as_numbers[(triton.cdiv(sums.numel(), BLOCK),)](sums, largest, answer, sums.numel(), room, block=BLOCK)
    return answer
