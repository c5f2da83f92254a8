"""Products of a sparse matrix and a dense one on a GPU, summed in a fixed order.

The sparse products of cuSPARSE add in whatever order threads finish, so that two runs differ in the last bits.
"""

from __future__ import annotations

from typing import Any

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.kernels.device_code import runs_triton

AT_ONCE = 128
"""Entries of a row that are summed together."""

COLUMNS = 256
"""Columns of the dense matrix that are summed together: the sums of parts take memory."""


class OrderedSums:
    """A sparse matrix on a GPU: row r has `values` in the columns from `first[r]` to `first[r + 1]`.

    The longest sum decides how long a product takes. Rows are therefore summed in parts of at most `AT_ONCE` links,
    and the parts of a row after that.
    """

    def __init__(self, first: Any, column: Any, values: Any) -> None:
        self._first, self._column, self._values = first, column, values
        self._n_rows = len(first) - 1
        # A row without links has a part as well, so that its sum is written.
        parts = ((first.diff() + AT_ONCE - 1) // AT_ONCE).clamp(min=1)
        self._first_part = torch.nn.functional.pad(parts.cumsum(0), (1, 0))
        row = torch.repeat_interleave(parts)
        self._part = torch.arange(len(row), device=first.device)
        number = self._part - self._first_part[row]
        self._first_link = torch.cat([first[row] + number * AT_ONCE, first[-1:]])
        # The sum of the first part of a row stands in the place of the row, the others behind all rows.
        self._target = torch.where(number == 0, row, self._n_rows + self._part - row - 1)
        self._long = torch.nonzero(parts > 1).flatten()
        self._first_extra = torch.nn.functional.pad((parts[self._long] - 1).cumsum(0), (1, 0))

    def put(self, values: Any) -> None:
        """Take these values in place of the ones so far, in the same memory."""
        self._values.copy_(values)

    def __matmul__(self, dense: Any) -> Any:
        return self.plus(None, dense)

    def plus(self, start: Any, dense: Any) -> Any:
        """The product with a dense matrix, and `start` added to it where there is one."""
        if dense.shape[1] <= COLUMNS:
            return self._sums(start, dense)
        starts = [None] * -(-dense.shape[1] // COLUMNS) if start is None else start.split(COLUMNS, dim=1)
        parts = zip(starts, dense.split(COLUMNS, dim=1), strict=True)
        return torch.cat([self._sums(begun, part.contiguous()) for begun, part in parts], dim=1)

    def at(self, rows: Any, dense: Any) -> Any:
        """These rows of the product, which has a few hundred columns at most."""
        if not runs_triton(dense.device):
            return (self @ dense)[rows]
        from recassay.algorithms.kernels.row_sums import row_sums

        to = torch.arange(len(rows), device=rows.device)
        return row_sums(self._first[rows], self._first[rows + 1], to, self._column, self._values, dense, None, 0)

    def _sums(self, start: Any, dense: Any) -> Any:
        if not runs_triton(dense.device):
            bag, values = torch.nn.functional.embedding_bag, self._values.to(dense.dtype)
            sums = bag(
                self._column, dense, self._first_link, mode="sum", per_sample_weights=values, include_last_offset=True
            )
            sums = bag(self._part, sums, self._first_part, mode="sum", include_last_offset=True)
            return sums if start is None else start + sums
        from recassay.algorithms.kernels.row_sums import add_parts, row_sums

        begin, end = self._first_link[:-1], self._first_link[1:]
        sums = row_sums(begin, end, self._target, self._column, self._values, dense, start, self._n_rows)
        add_parts(self._long, self._first_extra, sums, self._n_rows)
        return sums[: self._n_rows]
