"""Products of a sparse matrix and a dense one on a GPU, summed in a fixed order.

The sparse products of cuSPARSE add in whatever order threads finish, so that two runs differ in the last bits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from recassay.algorithms.kernels.device import torch

AT_ONCE = 32
"""Entries of a row that are summed together."""

COLUMNS = 256
"""Columns of the dense matrix that are summed together: the sums of parts take memory."""


class OrderedSums:
    """A sparse matrix on a GPU: row r has `values` in the columns from `first[r]` to `first[r + 1]`.

    A bag is summed link by link, so that the longest row decides how long a product takes. Rows are therefore summed in
    parts of at most `AT_ONCE` links, and the parts of a row after that.
    """

    def __init__(self, first: Any, column: Any, values: Any) -> None:
        self._column, self._values = column, values
        parts = (first.diff() + AT_ONCE - 1) // AT_ONCE
        self._first_part = torch.nn.functional.pad(parts.cumsum(0), (1, 0))
        row = torch.repeat_interleave(parts)
        self._part = torch.arange(len(row), device=first.device)
        starts = first[row] + (self._part - self._first_part[row]) * AT_ONCE
        self._first_link = torch.cat([starts, first[-1:]])

    def put(self, values: Any) -> None:
        """Take these values in place of the ones so far, in the same memory."""
        self._values.copy_(values)

    def __matmul__(self, dense: Any) -> Any:
        if dense.shape[1] <= COLUMNS:
            return self._sums(dense)
        return torch.cat([self._sums(part.contiguous()) for part in dense.split(COLUMNS, dim=1)], dim=1)

    def _sums(self, dense: Any) -> Any:
        bag, sums = torch.nn.functional.embedding_bag, _compiled_sums() if dense.is_cuda else None
        if sums is not None:
            parts = sums(self._first_link, self._column, self._values, dense, AT_ONCE)
        else:
            values = self._values.to(dense.dtype)
            parts = bag(
                self._column, dense, self._first_link, mode="sum", per_sample_weights=values, include_last_offset=True
            )
        return bag(self._part, parts, self._first_part, mode="sum", include_last_offset=True)


@cache
def _compiled_sums() -> Callable[..., Any] | None:
    """The kernel of `row_sums`; None where Triton is not installed or finds no compiler."""
    try:
        from recassay.algorithms.kernels.row_sums import row_sums

        ones = torch.ones(1, 1, device="cuda")
        row_sums(torch.tensor([0, 1], device="cuda"), torch.tensor([0], device="cuda"), ones[0], ones, AT_ONCE)
    except Exception:
        return None
    return row_sums
