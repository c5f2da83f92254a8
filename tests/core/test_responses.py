"""Answers: right, wrong and missing ones, and the parameters of logistic items."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from recassay.core.errors import InputError
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.tables.responses import LogisticItems, Responses
from recassay.core.tables.sources import Source


def test_answers_from_numbers_and_from_rows():
    table = Responses.from_array([[1.0, 0.0, np.nan], [0.0, np.nan, np.nan], [np.nan] * 3])
    assert table.codes.tolist() == [[1, 0, 2], [0, 2, 2], [2, 2, 2]]
    assert (table.respondents, table.items) == (("r1", "r2", "r3"), ("item1", "item2", "item3"))
    assert not table.complete
    assert table.score_share().tolist() == [0.5, 0.0, 0.5]
    assert table.on_items(np.array([1, 0])).codes.tolist() == [[0, 1], [2, 0], [2, 2]]
    assert table.on_items(np.array([1, 0])).items == ("item2", "item1")
    assert Responses.from_array([[True, False]], ["me"], ["a", "b"]).complete
    rows = [("B", 2, 0.0), ("A", 10, 0.3), ("A", 2, None), ("B", 10, -1.0)]
    frame = pl.DataFrame(rows, schema=["who", "what", "score"], orient="row")
    made = Responses.from_rows(frame, "who", "what", "score", (Source("a.csv", "0" * 64),))
    assert made.sources == (Source("a.csv", "0" * 64),)
    assert (made.respondents, made.items) == (("A", "B"), ("10", "2"))
    assert made.codes.tolist() == [[1, 2], [0, 0]]


@pytest.mark.parametrize(
    ("values", "names", "message"),
    [
        ([1, 0], {}, "responses have 1 dimensions; give respondents x items"),
        ([[1, 0], [0, 2]], {}, "response 2 of row 2, column 2 is neither 0 nor 1"),
        ([[1, -1]], {}, "response -1 of row 1, column 2 is neither"),
        ([[np.nan, np.nan]], {}, "no response is known; give 1 for right and 0 for wrong"),
        ([[1, 0]], {"items": ["a", "a"]}, "the item a appears twice; give each a name of its own"),
        (np.empty((0, 2)), {}, "the response table has no respondent"),
        (np.empty((2, 0)), {}, "the response table has no item"),
    ],
)
def test_tables_that_are_no_answers(values, names, message):
    with pytest.raises(InputError) as refused:
        Responses.from_array(values, **names)
    assert message in str(refused.value)


def test_an_item_twice_is_refused():
    frame = pl.DataFrame({"who": ["A", "A"], "what": [1, 1], "score": [1.0, 0.0]})
    with pytest.raises(InputError, match="a respondent has an item twice; select one metric, dataset and seed first"):
        Responses.from_rows(frame, "who", "what", "score")


def test_items_by_difficulty():
    items = LogisticItems.from_difficulty(["a", "b", "c"], [2.0, 0.0, -1.0], [1.5, 3.0, 0.5], [0.0, 0.25, 0.999])
    assert (items.slope.tolist(), items.intercept.tolist()) == ([2, 0, -1], [-3, 0, 0.5])
    assert items.difficulty[[0, 2]].tolist() == [1.5, 0.5]
    assert np.isnan(items.difficulty[1])
    assert items.guessing.tolist() == [0, 0.25, 0.999]
    assert items.take(np.array([False, True, True])).names == ("b", "c")
    assert LogisticItems.from_difficulty(["a"], [1], [2]).guessing.tolist() == [0]
    for wrong in ([np.inf, 1, 0], [1, np.nan, 0], [1, 1, -0.1], [1, 1, 1], [1, 1, np.nan]):
        with pytest.raises(InputError, match=r"the parameters of b cannot be used; .* guessing lies from 0 to below 1"):
            LogisticItems.from_difficulty(["a", "b"], *([1 if k < 2 else 0, value] for k, value in enumerate(wrong)))


TRAITS = CharacteristicsTable(
    np.array([[1.0, 5.0, np.nan], [2.0, 5.0, 3.0], [4.0, 5.0, 3.0]]),
    ("ML-1M", "Movie Lens", "movielens"),
    ("a", "b", "c"),
)


def test_characteristics_in_the_order_of_the_results():
    aligned = TRAITS.aligned(["movielens", "ml_1m"])
    assert aligned.values[:, 0].tolist() == [4.0, 1.0]
    assert aligned.datasets == ("movielens", "ml_1m")
    with pytest.raises(InputError) as refused:
        TRAITS.aligned(["ml-1m", "MOVIE-LENS"])  # two datasets are called so
    assert "only 1 of the 2 datasets of the results have characteristics; missing: MOVIE-LENS; named" in str(
        refused.value
    )
    with pytest.raises(
        InputError,
        match=r"^traits\.csv: none of the 1 datasets .*named there: ML-1M, Movie Lens, movielens; give one row",
    ):
        replace(TRAITS, where="traits.csv").aligned(["books"])


def test_characteristics_that_say_something():
    kept, dropped = TRAITS.usable()
    assert (kept.names, kept.values.tolist()) == (("a",), [[1], [2], [4]])
    assert dropped == {"c": "not known of every dataset", "b": "the same for every dataset"}
    with pytest.raises(InputError, match="no characteristic is known of every dataset and differs between them"):
        CharacteristicsTable(np.array([[1.0], [1.0]]), ("x", "y"), ("a",)).usable()
    for values, message in (([[1.0, 2.0]], "do not fit the names"), ([[np.inf]], "finite, or NaN where unknown")):
        with pytest.raises(ValueError, match=message):
            CharacteristicsTable(np.array(values), ("x",), ("a",))


def test_names_must_fit_the_codes():
    with pytest.raises(ValueError, match=r"codes \(1, 2\) do not fit the names"):
        Responses(np.array([[0, 1]], dtype=np.uint8), ("a",), ("x", "y", "z"))
