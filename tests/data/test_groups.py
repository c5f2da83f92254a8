"""Tables of propensities: what is read, and what is refused in one line."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from recassay.core.errors import InputError
from recassay.core.types import Interactions
from recassay.data.groups import memberships, read_groups, read_propensity

KNOWN = Interactions(
    np.array([0, 1], np.int32), np.array([0, 1], np.int32), pl.Series(["7", "8"]), pl.Series([10, 20, 30])
)


def test_by_item_and_by_user_and_item(tmp_path):
    file = tmp_path / "p.csv"
    file.write_text("item,propensity\n30,0.5\n10,0.25\n99,1\n")
    assert read_propensity(file, KNOWN).tolist() == [0.25, 0, 0.5]
    pairs = pl.DataFrame({"user": [7, 8, 9], "item": [20, 10, 10], "propensity": [0.1, 0.2, 0.3]})
    assert read_propensity(pairs, KNOWN).toarray().tolist() == [[0, 0.1, 0], [0.2, 0, 0]]


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ({"item": [10], "chance": [0.5]}, "has no column 'propensity'"),
        ({"item": [10, 20], "propensity": [0.5, 0.0]}, "data row 2: the propensity is 0.0"),
        ({"item": [10], "propensity": ["often"]}, "data row 1: the propensity is often"),
        ({"item": [10, 10], "propensity": [0.5, 0.5]}, "data row 1: item 10 has several rows"),
        ({"user": [7, 7], "item": [10, 10], "propensity": [0.5, 0.5]}, "user 7 and item 10 has several rows"),
    ],
)
def test_what_is_wrong_is_said(frame, said):
    with pytest.raises(InputError, match=said):
        read_propensity(pl.DataFrame(frame), KNOWN)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ({"id": [7], "sex": ["f"]}, "has no column 'user'"),
        ({"user": [7, 7], "sex": ["f", "m"]}, "data row 1: user 7 has several rows"),
        ({"user": [7]}, "has no attribute"),
    ],
)
def test_a_table_of_groups_is_refused(frame, said):
    with pytest.raises(InputError, match=said):
        read_groups(pl.DataFrame(frame), "user")


def test_groups_are_shared_out_and_sorted():
    frame = read_groups(pl.DataFrame({"item": [30, 10, 99], "year": ["9| 10", "", "2"]}), "item")
    names, member = memberships(KNOWN.items, frame, "item", "year")
    assert names == ["9", "10"]
    assert member.tolist() == [[0, 0], [0, 0], [0.5, 0.5]]


def test_ids_that_no_table_knows_are_in_no_group():
    frame = pl.DataFrame({"user": ["x", "y"], "sex": ["f", "m"]})
    names, member = memberships(pl.Series(["1", "2", "3"]), frame, "user", "sex")
    assert names == []
    assert member.shape == (3, 0)
