"""An order of rows and columns that names and positions have no part in, and rows that are the same."""

from __future__ import annotations

import numpy as np
import pytest

from recassay.core import ties
from recassay.core.content import content_order, copies


def reals(rng, shape):
    return rng.normal(size=shape)


def with_gaps(rng, shape):
    values = rng.normal(size=shape)
    values[rng.random(shape) < 0.25] = np.nan
    return values


def few(rng, shape):
    return rng.integers(0, 3, shape).astype(float)


def few_with_gaps(rng, shape):
    values = few(rng, shape)
    values[rng.random(shape) < 0.25] = np.nan
    return values


def doubled(rng, shape):
    """Rows and columns that stand twice."""
    values = few(rng, shape)
    values[-1], values[:, -1] = values[0], values[:, 0]
    return values


@pytest.mark.parametrize("shape", [(2, 2), (3, 7), (8, 3), (7, 12), (12, 20)])
@pytest.mark.parametrize("table", [reals, with_gaps, few, few_with_gaps, doubled])
def test_the_order_does_not_depend_on_where_rows_and_columns_stand(table, shape):
    rng = np.random.default_rng(shape)
    for _ in range(40):
        values = table(rng, shape)
        rows, columns = rng.permutation(shape[0]), rng.permutation(shape[1])
        moved = values[np.ix_(rows, columns)]
        here, there = content_order(values), content_order(moved)
        np.testing.assert_array_equal(here.sorted(values), there.sorted(moved))
        if table is reals:
            assert here.rows.tolist() == rows[there.rows].tolist()
            assert here.columns.tolist() == columns[there.columns].tolist(), "no two rows or columns are alike"


def test_rows_and_columns_come_by_their_sorted_values():
    values = np.array([[5.0, 1.0, 9.0], [2.0, 8.0, 0.0], [1.0, 4.0, 9.0]])
    order = content_order(values)
    assert order.rows.tolist() == [1, 2, 0], "0 2 8 before 1 4 9 before 1 5 9"
    assert order.columns.tolist() == [2, 0, 1], "0 9 9 before 1 2 5 before 1 4 8"
    assert order.row_places.tolist() == [2, 0, 1]
    assert order.column_places.tolist() == [1, 2, 0]
    assert order.sorted(values).tolist() == [[0.0, 2.0, 8.0], [9.0, 1.0, 4.0], [9.0, 5.0, 1.0]]
    assert order.sorted(values)[np.ix_(order.row_places, order.column_places)].tolist() == values.tolist()


def test_rows_with_the_same_values_are_told_apart_by_the_columns_they_stand_in():
    """Both rows hold 1 and 2; the column of the third row's 7 decides."""
    values = np.array([[1.0, 2.0], [2.0, 1.0], [7.0, 8.0]])
    for rows in ([0, 1, 2], [1, 0, 2], [2, 1, 0]):
        for columns in ([0, 1], [1, 0]):
            moved = values[np.ix_(rows, columns)]
            order = content_order(moved)
            assert order.sorted(moved).tolist() == values.tolist()
            assert np.array(rows)[order.rows].tolist() == [0, 1, 2]


def plain_copies(values):
    """The number of each row's set, in the order in which the sets are met."""
    members, firsts = [], []
    for row in values:
        same = [i for i, first in enumerate(firsts) if not (ties.beats(row, first) | ties.beats(first, row)).any()]
        members.append(same[0] if same else len(firsts))
        if not same:
            firsts.append(row)
    return members


def test_copies_by_brute_force():
    rng = np.random.default_rng(4)
    for _ in range(200):
        values = few(rng, (rng.integers(2, 9), rng.integers(1, 4))) / 10
        values = values * (1 + rng.choice([0.0, 1e-14, -3e-13], values.shape))  # the last bits differ
        rows, member = copies(values)
        expected = plain_copies(values)
        if max(expected) == 0:
            expected = list(range(len(values)))
        assert member.tolist() == expected
        assert rows.tolist() == [expected.index(number) for number in range(max(expected) + 1)]


def test_rows_that_are_all_the_same_are_kept_apart():
    rows, member = copies(np.full((4, 3), 0.7))
    assert rows.tolist() == member.tolist() == [0, 1, 2, 3]


def test_rows_that_differ_by_rounding_are_copies():
    rows, member = copies(np.array([[0.3, 1.0], [0.2, 1.0], [0.1 + 0.2, 1.0]]))
    assert 0.1 + 0.2 != 0.3
    assert (rows.tolist(), member.tolist()) == ([0, 1], [0, 1, 0])
    assert copies(np.array([[0.3, 1.0], [0.3, 1.0 + 1e-8]]))[0].tolist() == [0, 1], "not by rounding"


def test_symmetric_tables_of_few_numbers_have_one_order():
    """Rings and blocks, whose rows no sorted values tell apart: written in any order, they are the same table."""
    rng = np.random.default_rng(5)
    ring = np.array([[float((i - j) % 7 in (1, 6)) for j in range(7)] for i in range(7)])
    for values in (ring, np.kron(np.eye(3), 1 - np.eye(2)), rng.integers(0, 2, (6, 8)).astype(float)):
        first = content_order(values).sorted(values)
        for _ in range(10):
            other = values[rng.permutation(len(values))][:, rng.permutation(values.shape[1])]
            assert np.array_equal(content_order(other).sorted(other), first)
