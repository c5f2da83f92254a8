"""Weighted sums of rows on a GPU, by kernels in Triton, which comes with torch on Linux.

torch's embedding bag fetches one row after another and waits for each; here several are fetched at once. The order of
a sum is fixed by the shapes.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

FETCHED = 32
"""Rows that are asked for together."""

WARPS = 4
"""Groups of 32 threads that share a sum."""


# Triton evaluates annotations: only those of constants may stand here.
@triton.jit
def _sum(
    begin,
    end,
    target,
    column,
    value,
    dense,
    start,
    answer,
    n_rows,
    size,
    started: tl.constexpr,
    entries: tl.constexpr,
    width: tl.constexpr,
):
    one = tl.program_id(0)
    to = tl.load(target + one)
    last = tl.load(end + one)
    feature = tl.arange(0, width)
    inside = feature < size
    total = tl.zeros([width], dtype=tl.float32)
    if started:
        total += tl.load(start + to * size + feature, mask=feature < tl.where(to < n_rows, size, 0), other=0.0)
    for first in range(tl.load(begin + one), last, entries):
        link = first + tl.arange(0, entries)
        within = link < last
        # All rows are asked for before the first of them is added.
        row = tl.load(column + link, mask=within, other=0)
        weight = tl.load(value + link, mask=within, other=0.0)
        place = dense + row[:, None] * size + feature[None, :]
        vectors = tl.load(place, mask=within[:, None] & inside[None, :], other=0.0)
        total += tl.sum(vectors * weight[:, None], axis=0)
    tl.store(answer + to * size + feature, total, mask=inside)


@triton.jit
def _add_parts(row, first, sums, n_rows, size, width: tl.constexpr):
    one = tl.program_id(0)
    to = tl.load(row + one)
    feature = tl.arange(0, width)
    inside = feature < size
    total = tl.load(sums + to * size + feature, mask=inside, other=0.0)
    for part in range(tl.load(first + one), tl.load(first + one + 1)):
        total += tl.load(sums + (n_rows + part) * size + feature, mask=inside, other=0.0)
    tl.store(sums + to * size + feature, total, mask=inside)


def row_sums(begin: Any, end: Any, target: Any, column: Any, value: Any, dense: Any, start: Any, n_rows: int) -> Any:
    """In row `target[p]`, the sum of value[l] * dense[column[l]] over the links l from `begin[p]` to `end[p]`.

    `start`, if there is one, has a row for each of the first `n_rows` targets, to which its sum is added.
    """
    size = dense.shape[1]
    answer = torch.empty(len(target), size, device=dense.device)
    if len(target):
        given = dense if start is None else start.contiguous()
        _sum[(len(target),)](
            begin, end, target, column, value, dense.contiguous(), given, answer, n_rows, size,
            started=start is not None, entries=FETCHED, width=_width(size), num_warps=WARPS,
        )  # fmt: skip
    return answer


def add_parts(row: Any, first: Any, sums: Any, n_rows: int) -> None:
    """To `sums[row[i]]` add the rows of `sums` from n_rows + `first[i]` to n_rows + `first[i + 1]`, in their order."""
    if len(row):
        _add_parts[(len(row),)](row, first, sums, n_rows, sums.shape[1], width=_width(sums.shape[1]), num_warps=1)


def _width(size: int) -> int:
    return max(16, triton.next_power_of_2(size))
