"""Where lists come from: a recommender asked in batches, or a table made elsewhere."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from recassay.core.errors import InputError, RecAssayError, UsageError
from recassay.core.ranking import select_top, tie_order
from recassay.core.types import Interactions, TopK
from recassay.metrics.lists import recommendations_to_topk, without_prefix
from recassay.metrics.recommend import recommend_all

SCORES = np.random.default_rng(0).integers(0, 5, (11, 30)).astype(np.float32)
SEEN = csr_array((np.random.default_rng(1).random((11, 30)) < 0.3).astype(np.float32))


class Fixed:
    """Recommends from a table of scores, and spoils the answer as told."""

    name = "Fixed"

    def __init__(self, spoil=lambda top: top):
        self.spoil, self.sizes = spoil, []

    def recommend(self, users, k, *, exclude):
        self.sizes.append(len(users))
        rows = None if exclude is None else exclude[users]
        items, scores = select_top(SCORES[users], k, exclude=rows, rng=np.random.default_rng(7))
        return self.spoil(TopK(users, items, scores))


def test_batches_give_what_one_call_gives():
    users = np.array([4, 0, 10, 3, 2, 9, 1], dtype=np.int32)
    whole = recommend_all(Fixed(), users, 5, exclude=SEEN, n_items=30)
    small = Fixed()
    parts = recommend_all(small, users, 5, exclude=SEEN, n_items=30, memory_budget=2 * 30 * 4)
    assert small.sizes == [2, 2, 2, 1]
    np.testing.assert_array_equal(parts.items, whole.items)
    np.testing.assert_array_equal(parts.users, users)
    assert parts.scores.dtype == np.float32


def test_lists_without_exclusion_and_without_a_length():
    users = np.arange(3, dtype=np.int32)
    assert recommend_all(Fixed(), users, 4, exclude=None, n_items=30).items.shape == (3, 4)
    with pytest.raises(UsageError, match="at least one"):
        recommend_all(Fixed(), users, 0, exclude=SEEN, n_items=30)


def test_no_users_give_no_lists():
    assert recommend_all(Fixed(), np.empty(0, np.int32), 4, exclude=SEEN, n_items=30).items.shape == (0, 4)


def change(top, row, place, item=None, score=None):
    items, scores = top.items.copy(), top.scores.copy()
    if item is not None:
        items[row, place] = item
    if score is not None:
        scores[row, place] = score
    return TopK(top.users, items, scores)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda top: top.items, "returned a ndarray; return a TopK"),
        (lambda top: TopK(top.users, top.items + 0.5, top.scores), "float64; return positions in the item table"),
        (lambda top: TopK(top.users, top.items.astype(str), top.scores), "returned items of type <U"),
        (lambda top: TopK(top.users, top.items, top.scores.astype(str)), "scores of type <U.*; return numbers"),
        (lambda top: top.cut(2), r"shape \(11, 2\) for 11 users and k = 5"),
        (lambda top: TopK(top.users[::-1], top.items, top.scores), "lists of other users"),
        (lambda top: change(top, 3, 1, item=0, score=np.nan), "the score of item 0 for user 3 is NaN"),
        (lambda top: change(top, 3, 1, score=np.nan), r"for user 3 is NaN \(1 such scores\)"),
        (lambda top: change(change(top, 3, 1, score=np.nan), 7, 0, score=np.nan), r"user 3 is NaN \(2 such scores\)"),
        (lambda top: change(top, 2, 0, item=30), "item 30 of user 2 is not one of the 30"),
        (lambda top: change(top, 2, 0, item=-2), "item -2 of user 2 is not one of the 30"),
        (lambda top: change(top, 2, 0, item=-7), "item -7 of user 2"),
        (lambda top: change(top, 5, 0, item=top.items[5, 1]), r"user 5 names item .* twice \(1 lists repeat an item\)"),
        (lambda top: TopK(top.users, np.repeat(top.items[:, :1], 5, axis=1), top.scores), r"\(11 lists repeat"),
        (lambda top: change(top, 0, 4, item=SEEN.indices[0]),
         rf"user 0 names the excluded item {SEEN.indices[0]} \(1 listed items were excluded\)"),
    ],
)  # fmt: skip
def test_each_fault_of_a_recommender_has_its_own_message(spoil, message):
    with pytest.raises(RecAssayError, match=message) as caught:
        recommend_all(Fixed(spoil), np.arange(11, dtype=np.int32), 5, exclude=SEEN, n_items=30)
    assert str(caught.value).startswith("Fixed: ")


def test_a_list_that_ends_early_is_no_fault():
    """Item -1 twice is not an item twice, and what stands beside it is not a score."""
    short = Fixed(lambda top: change(change(top, 2, 4, item=-1, score=np.nan), 2, 3, item=-1, score=np.nan))
    top = recommend_all(short, np.arange(11, dtype=np.int32), 5, exclude=SEEN, n_items=30)
    assert (top.items[2] == -1).tolist() == [False, False, False, True, True]


def test_a_recommender_may_spoil_what_it_is_given_and_need_not_have_a_name():
    class Careless:
        def recommend(self, users, k, *, exclude):
            assert not exclude.data.flags.writeable
            answer = Fixed().recommend(users.copy(), k, exclude=exclude)
            users[:] = 0
            return answer

    users = np.arange(4, dtype=np.int32)
    top = recommend_all(Careless(), users, 5, exclude=SEEN, n_items=30)
    assert top.users.tolist() == users.tolist() == [0, 1, 2, 3]
    wrong = Fixed(lambda top: None)
    unnamed = type("Unnamed", (), {"recommend": wrong.recommend})()
    with pytest.raises(RecAssayError, match=r"^Unnamed: recommend returned a NoneType"):
        recommend_all(unnamed, users, 5, exclude=SEEN, n_items=30)


def test_a_fit_that_returns_no_recommender_is_told():
    with pytest.raises(RecAssayError, match="fit returned a NoneType; return what has recommend"):
        recommend_all(None, np.arange(3, dtype=np.int32), 5, exclude=SEEN, n_items=30)


DATA = Interactions(
    np.array([0, 1, 2], np.int32),
    np.array([0, 1, 2], np.int32),
    pl.Series(["ann", "bob", "cy"]),
    pl.Series([10, 20, 30, 40]),
)


def read(frame, **options):
    return recommendations_to_topk(pl.DataFrame(frame), DATA, rng=np.random.default_rng(0), **options)


def test_lists_are_sorted_by_score_and_padded():
    record = read({"user": ["cy", "ann", "ann", "ann"], "item": [40, 10, 30, 20], "score": [1.0, 0.1, 0.9, 0.5]})
    assert record.top.users.tolist() == [0, 2]
    assert record.top.items.tolist() == [[2, 1, 0], [3, -1, -1]]
    np.testing.assert_allclose(record.top.scores[0], [0.9, 0.5, 0.1])
    assert record.rows == 4
    assert record.unknown_user_rows == record.unknown_item_rows == 0


def test_rank_goes_before_score_and_needs_none():
    frame = {"user": ["ann"] * 3, "item": [10, 20, 30], "rank": [3, 1, 2], "score": [9.0, 8.0, 7.0]}
    assert read(frame).top.items.tolist() == [[1, 2, 0]]
    bare = read({n: frame[n] for n in ("user", "item", "rank")}).top
    assert bare.items.tolist() == [[1, 2, 0]]
    assert bare.scores.tolist() == [[-1.0, -2.0, -3.0]], "the better the rank, the higher the score"
    assert read(frame).top.scores.tolist() == [[8.0, 7.0, 9.0]]


def test_unknown_ids_are_counted_and_keep_their_place():
    record = read(
        {
            "user": ["ann", "ann", "ann", "zoe", "zoe"],
            "item": [99, 10, 98, 10, 97],
            "score": [3.0, 2.0, 1.0, 1, 2],
        }
    )
    assert record.top.items.tolist() == [[-1, 0, -1]]
    assert (record.unknown_users, record.unknown_user_rows) == (1, 2)
    assert (record.unknown_items, record.unknown_item_rows) == (2, 2)
    assert record.examples == {"user": ["zoe"], "item": ["99", "98"]}
    tied = read({"user": ["ann"] * 3, "item": [99, 10, 40], "score": [1.0, 1.0, 1.0]}).top.items[0]
    assert (sorted(tied[:2].tolist()), tied[2]) == ([0, 3], -1), "of equal scores those that are known come first"
    many = read({"user": ["ann"] * 6, "item": [91, 92, 93, 94, 95, 96], "rank": [1, 2, 3, 4, 5, 6]})
    assert (many.unknown_items, many.examples["item"]) == (6, ["91", "92", "93", "94", "95"])


def test_a_few_unknown_ids_are_named_in_the_order_of_the_table():
    users, items = [f"x{n % 7}" for n in range(9, 0, -1)], [77 - n % 7 for n in range(9)]
    strangers = {"user": [*users, *["ann"] * 7], "item": [*range(100, 109), *items[:7]], "rank": [*range(9), *range(7)]}
    record = read(strangers)
    assert record.examples == {"user": ["x2", "x1", "x0", "x6", "x5"], "item": ["77", "76", "75", "74", "73"]}
    assert (record.unknown_users, record.unknown_user_rows) == (7, 9)
    assert (record.unknown_items, record.unknown_item_rows) == (7, 7)


def test_lists_are_as_wide_as_the_longest_and_as_was_asked_for():
    frame = {"user": ["ann", "ann"], "item": [10, 20], "score": [1.0, 2.0]}
    assert read(frame).top.items.tolist() == read(frame, least=1).top.items.tolist() == [[1, 0]]
    assert read(frame, least=3).top.items.tolist() == [[1, 0, -1]]


@pytest.mark.parametrize("items", [["10", "20"], [10.0, 20.0], [10, 20]])
def test_numbers_and_their_text_are_one_id(items):
    assert read({"user": ["ann", "ann"], "item": items, "rank": [1, 2]}).top.items.tolist() == [[0, 1]]


def test_a_broken_number_is_not_rounded_to_an_id():
    record = read({"user": ["ann", "ann"], "item": [10.4, 20.0], "rank": [1, 2]})
    assert record.top.items.tolist() == [[-1, 1]]


@settings(max_examples=25)
@given(seed=st.integers(0, 1000))
def test_ties_do_not_depend_on_the_order_of_rows(seed):
    frame = pl.DataFrame(
        {
            "user": ["ann"] * 4 + ["bob"] * 4,
            "item": [10, 20, 30, 40] * 2,
            "score": [1.0, 1.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0],
        }
    )
    shuffled = frame.sample(fraction=1, shuffle=True, seed=seed)
    one, other = (recommendations_to_topk(f, DATA, rng=np.random.default_rng(3)) for f in (frame, shuffled))
    np.testing.assert_array_equal(one.top.items, other.top.items)
    assert one.top.items[0, 0] == 3
    assert one.top.items[1].tolist() == np.argsort(tie_order(4, np.random.default_rng(3))).tolist()


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"user": ["ann", "ann"], "item": [10, 10], "score": [1.0, 2.0]}, "'ann' has the item 10 twice"),
        (
            {"user": ["cy", "ann", "bob", "ann"], "item": [10, 20, 20, 20], "score": [1.0, 2.0, 3.0, 4.0]},
            r"^recommendations: the list of user 'ann' has the item 20 twice \(data row 2; 2 rows take part in a "
            r"repetition\); give every item of a list once$",
        ),
        ({"user": ["ann", "ann"], "item": [10, 20], "rank": [1, 1]}, "has the rank 1 twice"),
        (
            {"user": ["ann", None], "item": [10, 20], "rank": [1, 1]},
            "1 rows have no user, the first is data row 2",
        ),
        ({"user": ["ann", "ann"], "item": [10, 20], "score": [1.0, float("nan")]}, "have no score"),
    ],
)
def test_broken_tables_are_refused(frame, message):
    with pytest.raises(InputError, match=message):
        read(frame)


def test_a_table_without_rows_or_known_users_gives_no_lists():
    nobody = read({"user": ["zoe"], "item": [10], "score": [1.0]})
    empty = pl.DataFrame(schema={"user": pl.String, "item": pl.Int64, "score": pl.Float64})
    assert nobody.top.items.shape[0] == 0
    assert nobody.unknown_user_rows == 1
    assert recommendations_to_topk(empty, DATA, rng=np.random.default_rng(0), least=5).top.items.shape == (0, 5)


@pytest.mark.parametrize(
    ("values", "bare", "prefix"),
    [
        (["u1", "u2", "u9"], ["1", "2", "9"], "u"),
        (["u1", "u8", "u9", "u2"], ["u1", "u8", "u9", "u2"], None),
        (["u1", "v2"], ["u1", "v2"], None),
        (["1", "u2", "u3"], ["1", "u2", "u3"], None),
        (["ann", "bob"], ["ann", "bob"], None),
        ([], [], None),
    ],
)
def test_letters_before_numbers_are_left_out_where_most_ids_are_then_known(values, bare, prefix):
    found, letters = without_prefix(pl.Series("user", values, dtype=pl.String), pl.Series([1, 2, 3]))
    assert (found.to_list(), letters) == (bare, prefix)


def test_letters_stay_where_the_data_knows_an_id_with_them():
    values = pl.Series("user", ["u1", "u2", "u3"])
    found, letters = without_prefix(values, pl.Series(["u1", "2", "3"]))
    assert (found.to_list(), letters) == (["u1", "u2", "u3"], None)


def test_the_record_of_a_table_with_prefixes_and_strangers():
    table = Interactions(
        np.array([0, 1], np.int32), np.array([0, 1], np.int32), pl.Series([7, 8]), pl.Series([10, 20, 30])
    )
    frame = pl.DataFrame({"user": ["u7", "u7", "u8", "u9"], "item": [10, 99, 20, 30], "rank": [2, 1, 1, 1]})
    record = recommendations_to_topk(frame, table, rng=np.random.default_rng(0))
    assert record.prefixes == {"user": "u"}
    assert record.top.users.tolist() == [0, 1]
    assert record.top.items.tolist() == [[-1, 0], [1, -1]]
    assert record.top.scores[0].tolist() == [-1, -2]
    assert (record.rows, record.unknown_users, record.unknown_user_rows) == (4, 1, 1)
    assert (record.unknown_items, record.unknown_item_rows) == (1, 1)
    assert record.examples == {"user": ["9"], "item": ["99"]}
