import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from recassay.core import columns
from recassay.core.errors import InputError
from recassay.core.types import Interactions
from recassay.data.characteristics import describe, gini, long_tail
from recassay.data.published.tables import published_characteristics
from support.places import DATA

PAPER_ORDER = [
    *("Nu", "Ni", "Nr", "SpaceSize", "Shape", "Density", "Rpu", "Rpi", "Giniu", "Ginii"),
    *("APB", "StPB", "SkPB", "KuPB", "LTavg", "LTstd", "LTsk", "LTku"),
]


def make(pairs, n_users=None, n_items=None, item_ids=None):
    user = np.array([pair[0] for pair in pairs], dtype=np.int32)
    item = np.array([pair[1] for pair in pairs], dtype=np.int32)
    n_users = n_users or int(user.max()) + 1
    n_items = n_items or int(item.max()) + 1
    return Interactions(
        user=user,
        item=item,
        users=pl.Series("user", range(n_users)),
        items=pl.Series("item", list(range(n_items)) if item_ids is None else item_ids),
    )


def slow(pairs):
    """The definitions word for word, with dictionaries and scipy."""
    pairs = set(pairs)
    by_user, by_item = Counter(u for u, _ in pairs), Counter(i for _, i in pairs)
    nu, ni, nr = len(by_user), len(by_item), len(pairs)

    def slow_gini(counts):
        n, ascending = len(counts), sorted(counts)
        return 1 - 2 * sum((n + 1 - i) * x for i, x in enumerate(ascending, 1)) / ((n + 1) * sum(ascending))

    head, covered, tail = set(), 0, set()
    for item, count in sorted(by_item.items(), key=lambda entry: (-entry[1], entry[0])):
        covered += count
        (tail if 5 * covered > 4 * nr else head).add(item)
    profiles = {u: [i for v, i in pairs if v == u] for u in by_user}
    bias = [sum(by_item[i] for i in items) / (nu * len(items)) for items in profiles.values()]
    share = [sum(i in tail for i in items) / len(items) for items in profiles.values()]

    def moments(values):
        if len(values) == 1:
            return [values[0], math.nan, math.nan, math.nan]
        if len(set(values)) == 1:
            return [values[0], 0.0, math.nan, math.nan]
        return [np.mean(values), np.std(values, ddof=1), stats.skew(values), stats.kurtosis(values)]

    sizes = [nu, ni, nr, nu * ni, nu / ni, nr / (nu * ni), nr / nu, nr / ni]
    return [*sizes, slow_gini(by_user.values()), slow_gini(by_item.values()), *moments(bias), *moments(share)]


def test_they_stand_in_the_order_of_the_paper():
    assert list(describe(make([(0, 0), (1, 1)]))) == PAPER_ORDER


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 12)), min_size=1, max_size=60))
@settings(deadline=None, max_examples=150)
def test_equals_the_slow_definition(pairs):
    values = list(describe(make(pairs, n_users=10, n_items=15)).values())
    np.testing.assert_allclose(values, slow(pairs), rtol=1e-9, atol=1e-12)


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 12)), min_size=1, max_size=40),
    st.randoms(use_true_random=False),
)
@settings(deadline=None, max_examples=60)
def test_row_order_repeats_and_positions_have_no_say(pairs, random):
    """Same ids in another file order: other rows, other positions, repeated rows; same characteristics."""
    shuffled = [*pairs, *pairs[: len(pairs) // 2]]
    random.shuffle(shuffled)
    positions = list(range(13))
    random.shuffle(positions)
    ids = [0] * 13
    for original, position in enumerate(positions):
        ids[position] = original
    moved = make([(u, positions[i]) for u, i in shuffled], n_items=13, item_ids=ids)
    np.testing.assert_allclose(
        list(describe(moved).values()),
        list(describe(make(pairs, n_items=13)).values()),
        rtol=1e-12,
    )


def test_one_user_has_no_spread():
    result = describe(make([(0, 0), (0, 1), (0, 2)]))
    assert (result["Nu"], result["Ni"], result["Nr"], result["Giniu"], result["APB"]) == (1, 3, 3, 0.0, 1.0)
    assert all(math.isnan(result[name]) for name in ("StPB", "SkPB", "KuPB", "LTstd", "LTsk", "LTku"))


def test_one_item_is_all_tail_and_has_zero_deviation():
    result = describe(make([(0, 0), (1, 0), (2, 0)]))
    assert (result["Ni"], result["Density"], result["Ginii"], result["APB"], result["LTavg"]) == (1, 1.0, 0.0, 1.0, 1.0)
    assert (result["StPB"], result["LTstd"]) == (0.0, 0.0)
    assert math.isnan(result["SkPB"])
    assert math.isnan(result["LTku"])


def test_nothing_to_describe_is_an_input_error():
    empty = make([(0, 0)]).take(np.zeros(1, dtype=bool))
    with pytest.raises(InputError, match="no interactions"):
        describe(empty)


def test_parts_of_a_dataset_are_described_together():
    pairs = [(0, 0), (0, 1), (1, 1), (2, 0), (2, 3), (3, 1)]
    parts = [make(some, n_users=4, n_items=4) for some in (pairs[:4], pairs[2:], pairs[:1])]
    whole = describe(make(pairs, n_users=4, n_items=4))
    np.testing.assert_allclose(list(describe(*parts).values()), list(whole.values()))
    empty = parts[0].take(parts[0].user < 0)
    np.testing.assert_allclose(list(describe(empty, *parts).values()), list(whole.values()))


def test_gini_of_known_counts():
    assert gini(np.array([4, 4, 4])) == pytest.approx(0.0, abs=1e-15)
    assert gini(np.array([1, 0, 0, 0])) == pytest.approx(3 / 5)
    assert gini(np.array([3, 1, 2])) == pytest.approx(1 - 2 * (3 * 1 + 2 * 2 + 1 * 3) / (4 * 6))


def test_long_tail_begins_with_the_item_that_passes_four_fifths():
    counts = np.array([2, 0, 8, 10, 1])
    covered = [10, 18, 20, 21]
    assert [5 * c > 4 * 21 for c in covered] == [False, True, True, True]
    assert long_tail(counts, pl.Series(range(5))).tolist() == [True, False, True, False, True]


def test_ties_at_the_boundary_follow_the_ids():
    counts = np.array([2, 2, 2, 2, 2])
    assert long_tail(counts, pl.Series(["e", "d", "c", "b", "a"])).tolist() == [
        True,
        False,
        False,
        False,
        False,
    ]


def test_published_sizes_follow_from_the_counts():
    """KDD'24's own table, 30 datasets: SpaceSize is the plain product (no root, no logarithm)."""
    table = published_characteristics("published:kdd24").to_frame()
    assert len(table) == 30
    assert set(table.columns) == {columns.DATASET, *PAPER_ORDER}
    users, items, pairs = (table[name].to_numpy().astype(float) for name in ("Nu", "Ni", "Nr"))
    derived = {
        "SpaceSize": users * items,
        "Shape": users / items,
        "Density": pairs / (users * items),
        "Rpu": pairs / users,
        "Rpi": pairs / items,
    }
    for name, values in derived.items():
        np.testing.assert_allclose(table[name].to_numpy(), values, rtol=1e-9, err_msg=name)
    for name in ("Giniu", "Ginii", "APB", "LTavg"):
        assert table[name].is_between(0, 1).all(), name


def test_movielens_1m_is_near_its_published_row():
    """Ratings of 3.5 or more, items then users with five: the published row also lost cold users."""
    data = DATA
    path = data / "interactions" / "ml-1m.parquet"
    if not path.exists():
        pytest.skip("ml-1m is not here (set RECASSAY_DATA)")
    frame = pl.read_parquet(path).filter(pl.col(columns.RATING) >= 3.5)
    frame = frame.filter(pl.len().over(columns.ITEM) >= 5).filter(pl.len().over(columns.USER) >= 5)
    result = describe(
        Interactions(
            user=(frame[columns.USER].rank("dense") - 1).cast(pl.Int32).to_numpy(),
            item=(frame[columns.ITEM].rank("dense") - 1).cast(pl.Int32).to_numpy(),
            users=frame[columns.USER].unique().sort(),
            items=frame[columns.ITEM].unique().sort(),
        )
    )
    published = {
        **{"Nu": 5970, "Ni": 3121, "Nr": 569029, "Density": 0.030540, "Giniu": 0.506730, "Ginii": 0.661529},
        **{"APB": 0.127364, "StPB": 0.0376727, "SkPB": 0.583107, "KuPB": 0.404406},
        **{"LTavg": 0.166169, "LTstd": 0.114944, "LTsk": 1.084686},
    }
    for name, value in published.items():
        assert result[name] == pytest.approx(value, rel=0.02), name
    assert result["LTku"] == pytest.approx(1.757140, rel=0.07)
