"""Histories: events by user and time, cut, as a matrix, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recassay.core.histories import Histories
from recassay.testing.examples import example_interactions


def lists(histories: Histories) -> list[list[int]]:
    return [part.tolist() for part in np.split(histories.items, histories.starts[1:-1])]


def example():
    events = example_interactions(np.array([1, 0, 1, 1, 3, 0]), np.array([4, 0, 2, 4, 1, 3]), n_users=4, n_items=5)
    return replace(events, time=np.array([9, 5, 3, 9, 0, 2], dtype=np.int64))


def test_events_come_by_time_and_equal_stamps_keep_their_order():
    histories = Histories.of(example(), np.array([1, 2, 0, 1], dtype=np.int32))
    assert lists(histories) == [[2, 4, 4], [], [3, 0], [2, 4, 4]]
    assert histories.time is not None
    assert histories.time.tolist() == [3, 9, 9, 2, 5, 3, 9, 9]
    assert len(histories) == 4
    assert histories.lengths().tolist() == [3, 0, 2, 3]
    tied = replace(example(), time=np.zeros(6, dtype=np.int64))
    assert lists(Histories.of(tied, np.array([1, 0], dtype=np.int32))) == [[4, 2, 4], [0, 3]]


def test_events_without_stamps_keep_their_order():
    histories = Histories.of(replace(example(), time=None), np.array([1, 0], dtype=np.int32))
    assert lists(histories) == [[4, 2, 4], [0, 3]]
    assert histories.time is None


def test_the_newest_events_stay():
    histories = Histories.of(example(), np.array([1, 2, 0], dtype=np.int32))
    last = histories.last(2)
    assert lists(last) == [[4, 4], [], [3, 0]]
    assert last.time is not None
    assert last.time.tolist() == [9, 9, 2, 5]
    assert lists(histories.last(9)) == lists(histories)


def test_a_matrix_has_a_one_where_an_item_occurs():
    matrix = Histories.of(example(), np.array([1, 2, 0], dtype=np.int32)).csr(5)
    assert matrix.toarray().tolist() == [[0, 0, 1, 0, 1], [0, 0, 0, 0, 0], [1, 0, 0, 1, 0]]
    assert matrix.has_sorted_indices
    kept = Histories(np.array([4, 2, 4, 0], dtype=np.int32), np.array([0, 3, 4]))
    assert kept.csr(5).nnz == 3
    assert (kept.items.tolist(), kept.starts.tolist()) == ([4, 2, 4, 0], [0, 3, 4]), "the events stay as they are"
    nobody = Histories(np.empty(0, dtype=np.int32), np.zeros(1, dtype=np.int64))
    assert nobody.csr(5).shape == (0, 5)
    assert lists(nobody.last(3)) == [[]]


def test_starts_that_do_not_fit_are_refused():
    items = np.array([1, 2], dtype=np.int32)
    for starts in ([], [1, 2], [0, 1]):
        with pytest.raises(ValueError, match="from 0 to the 2 events"):
            Histories(items, np.array(starts, dtype=np.int64))
    with pytest.raises(ValueError, match="time has 1 rows and items has 2"):
        Histories(items, np.array([0, 2]), np.array([7]))
