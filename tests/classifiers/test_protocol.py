"""The division of a table and its preprocessing: in proportion, and without a leak."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recassay.classifiers import cell
from recassay.classifiers.parts import make_classifier
from recassay.classifiers.tables import encode_features, stratified_test
from recassay.core.errors import InputError
from support.classify import tiny_table


def division(labels, share=0.3, most=500, seed=0):
    return stratified_test(np.asarray(labels), share=share, most=most, rng=np.random.default_rng(seed))


@given(
    counts=st.lists(st.integers(1, 60), min_size=2, max_size=6),
    share=st.floats(0.1, 0.6),
    most=st.integers(2, 40),
)
def test_every_class_in_proportion_and_in_training(counts, share, most):
    labels = np.repeat(np.arange(len(counts)), counts)
    total = min(round(share * len(labels)), most)
    try:
        test = division(labels, share, most)
    except InputError:
        assert total < 1 or max(counts) == 1
        return
    tested = np.bincount(labels[test], minlength=len(counts))
    assert tested.sum() <= total
    assert (tested <= np.asarray(counts) - 1).all()
    exact = np.asarray(counts) * total / len(labels)
    allowed = np.minimum(np.floor(exact + 1e-9), np.asarray(counts) - 1)
    assert (tested >= allowed).all()
    assert (tested <= np.floor(exact) + 1).all()


def test_five_hundred_at_most_and_the_rest_trains():
    labels = np.repeat([0, 1], [3000, 1000])
    test = division(labels)
    assert np.bincount(labels[test]).tolist() == [375, 125]
    assert (~test).sum() == 3500


def test_a_class_with_one_row_is_never_tested():
    labels = np.array([0] * 20 + [1] * 20 + [2])
    assert all(not division(labels, seed=seed)[-1] for seed in range(30))


@pytest.mark.parametrize(
    ("counts", "share", "tested"),
    [
        ((5, 5), 0.3, [2, 1]),  # 1.5 and 1.5 of 3: of equal remainders the earlier class first
        ((4, 6), 0.3, [1, 2]),  # 1.2 and 1.8
        ((2, 18), 0.9, [1, 17]),  # 1.8 and 16.2 of 18, and each class keeps a row for training
        ((1, 9), 0.5, [0, 5]),  # 0.5 and 4.5 of 5, and a single row is never tested
    ],
)
def test_rests_of_a_division_go_to_the_largest_remainders(counts, share, tested):
    labels = np.repeat(np.arange(2), counts)
    assert np.bincount(labels[division(labels, share)], minlength=2).tolist() == tested


def test_a_division_without_test_rows_is_refused():
    for labels, share, rows in (([0, 0, 1, 1], 0.1, 0), ([0, 1, 2, 3], 0.5, 2)):
        with pytest.raises(InputError, match=f"{rows} test rows of 4 leave nothing to test on; raise test_share"):
            division(labels, share)
    assert division([0, 0, 1, 1], 0.3).sum() == 1


def test_a_number_that_no_row_has_takes_no_test_row():
    labels = np.repeat([0, 2], [10, 10])
    test = division(labels, share=0.3)
    assert np.bincount(labels[test]).tolist() == [3, 0, 3]


def test_the_division_depends_on_the_generator_alone():
    labels = np.repeat([0, 1, 2], 30)
    assert np.array_equal(division(labels, seed=4), division(labels, seed=4))
    assert not np.array_equal(division(labels, seed=4), division(labels, seed=5))


def test_numbers_are_imputed_and_scaled_by_training_rows():
    train = np.array([True, True, True, True, False, False])
    frame = pl.DataFrame({"x": [1.0, 2.0, None, 6.0, None, 100.0]})
    values = encode_features(frame, train)[0][:, 0]
    filled = np.array([1.0, 2.0, 2.0, 6.0])
    assert values[:4] == pytest.approx((filled - filled.mean()) / filled.std())
    assert values[4] == values[2]
    assert values[5] == pytest.approx((100 - filled.mean()) / filled.std())


def test_categories_known_missing_and_unknown():
    train = np.array([True, True, True, False, False])
    frame = pl.DataFrame({"c": ["b", None, "a", "new", None]})
    values, columns = encode_features(frame, train)
    assert columns == ["c=a", "c=b", "c=missing"]
    assert values.tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 0], [0, 0, 1]]


def test_many_categories_become_one_column_by_frequency():
    train = np.array([True] * 6 + [False])
    frame = pl.DataFrame({"c": ["a", "b", "b", "b", "c", "c", "other"]})
    values, columns = encode_features(frame, train, one_hot_limit=2)
    assert columns == ["c"]
    order = values[[1, 4, 0, 6], 0]
    assert np.all(np.diff(order[:3]) > 0)
    assert order[3] < order[0]
    assert encode_features(frame, train, one_hot_limit=3)[1] == ["c=a", "c=b", "c=c"], "three are not more than three"
    tied = pl.DataFrame({"c": ["b", None, "a", "c", "c", "a"]})
    places = encode_features(tied, np.ones(6, dtype=bool), one_hot_limit=3)[0][[2, 3, 0, 1], 0]
    assert np.all(np.diff(places) > 0), "equally frequent ones by name, and what is missing last"


def test_nothing_of_the_test_rows_is_learned():
    frame = tiny_table(60).drop("class")
    train = np.arange(60) < 40
    before = encode_features(frame, train)[0][train]
    other = frame.with_columns(
        pl.when(pl.Series(train)).then(pl.col("first")).otherwise(1e6).alias("first"),
        pl.when(pl.Series(train)).then(pl.col("colour")).otherwise(pl.lit("ultraviolet")).alias("colour"),
    )
    assert np.array_equal(encode_features(other, train)[0][train], before)


def test_constant_and_empty_features_are_left_out():
    train = np.array([True, True, False, False])
    frame = pl.DataFrame(
        {
            "same": [1.0, 1.0, 2.0, 3.0],
            "empty": pl.Series([None, None, 1.0, 2.0]),
            "one": ["a", "a", "b", "c"],
            "rounding": [0.1 + 0.2, 0.3, 0.4, 0.5],
            "large": [1e9 + 1e-4, 1e9, 0.0, 1.0],
            "x": [1.0, 2.0, 3.0, 4.0],
            "small": [1e-9, 2e-9, 3e-9, 4e-9],
        }
    )
    assert encode_features(frame, train)[1] == ["x", "small"]
    frame = frame.drop("small")
    with pytest.raises(InputError, match="every feature is constant"):
        encode_features(frame.drop("x"), train)


def test_each_classifier_and_table_has_a_seed_of_its_own(monkeypatch):
    seeds = []

    def stop(part, name, settings, seed):
        seeds.append(seed)
        raise LookupError

    for name, replacement in {"load_table": None, "load_classifier": None, "make_classifier": stop}.items():
        monkeypatch.setattr(cell, name, replacement or (lambda *arguments: None))
    for dataset in ("iris", "wine", "glass", "seeds"):
        split = {
            "dataset": dataset,
            "data": "",
            "target": None,
            "categorical": (),
            "drop": (),
            "protocol": {},
            "seed": 1,
        }
        for name in ("SVM", "KNN", "Tree"):
            spec = {"classifier": name, "role": "real", "code": "", "split": split}
            with pytest.raises(LookupError):
                cell.run_cell({"cell": spec, "folder": "", "reference": name, "base": ""}, lambda *told: None)
    assert len(set(seeds)) == 12
    assert max(seeds) > 2**20


def test_a_random_state_that_is_set_stays():
    def made(random_state=None, depth=1):
        return random_state, depth

    assert make_classifier(made, "made", {"depth": 3}, 7)[0] == (7, 3)
    assert make_classifier(made, "made", {"random_state": 5}, 7) == ((5, 1), {"random_state": 5})
    assert make_classifier(lambda depth: depth, "made", {"depth": 3}, 7) == (3, {"depth": 3})
