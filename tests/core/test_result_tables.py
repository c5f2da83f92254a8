"""Results by hand: repeats in any order, holes and how they are filled, what is refused, and how a table is told."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from recassay.core.errors import InputError, NotApplicableError, UsageError
from recassay.core.tables.labels import find_label, metric_name
from recassay.core.tables.matrix import Matrix, MissingCells
from recassay.core.tables.results import Results
from recassay.core.tables.sources import Source
from recassay.reporting.words.missing import missing_cells


def results(rows, *more, metric="mrr", **options):
    """From rows (algorithm, dataset, value, ...), the further columns being named by `more`."""
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "value", *more], orient="row", strict=False)
    return Results.from_frame(frame.with_columns(metric=pl.lit(metric)), **options)


FOLDED = [(a, d, 10.0 * f + x, f) for a, x in (("A", 1), ("B", 2)) for d in "xy" for f in (0, 1, 2)]


def test_folds_are_paired_in_whatever_order_the_rows_stand():
    shuffled = [*FOLDED[:6], *FOLDED[:5:-1]]
    matrix = results(shuffled, "fold").matrix("mrr")
    assert matrix.paired
    assert matrix.replicates.tolist() == [[[1, 11, 21]] * 2, [[2, 12, 22]] * 2]


def test_folds_are_paired_where_datasets_have_other_numbers_of_them():
    fewer = [row for row in FOLDED if row[1:] != ("y", row[2], 2)]
    matrix = results(fewer, "fold").matrix("mrr")
    assert matrix.paired
    assert matrix.values.tolist() == [[11, 6], [12, 7]]
    assert np.isnan(matrix.replicates[:, 1, 2]).all()
    other = [row if row[0] == "A" else (*row[:3], row[3] + 1) for row in FOLDED]  # as many folds, and not the same
    assert not results(other, "fold").matrix("mrr").paired
    crossed = [row for row in FOLDED if (row[0], row[1], row[3]) not in {("A", "x", 2), ("B", "y", 2)}]
    assert not results(crossed, "fold").matrix("mrr").paired


def test_a_fold_with_more_seeds_weighs_no_more_than_another():
    rows = [("A", "x", 1.0, 0, 1), ("A", "x", 3.0, 0, 2), ("A", "x", 8.0, 1, 1), ("B", "x", 4.0, 0, 1)]
    table = results(rows, "fold", "seed")
    assert table.cells("mrr").rows() == [("A", "x", 5.0), ("B", "x", 4.0)]
    without = [row[:3] + row[4:] for row in rows if row[3:] != (1, 1)]
    assert results(without, "seed").cells("mrr").rows() == [("A", "x", 2.0), ("B", "x", 4.0)]


def test_what_a_table_says_of_the_direction_counts_for_unknown_metrics_where_it_is_of_one_mind():
    rows = [("A", "x", 1.0, "false"), ("B", "x", 2.0, None), ("C", "x", 3.0, "false")]
    assert results(rows, "higher_is_better", metric="joy").direction("joy") is False
    assert results(rows, "higher_is_better", metric="joy").direction("joy", True) is True
    assert results(rows, "higher_is_better").direction("mrr") is True, "what is known is not asked of the table"
    mixed = results([*rows, ("D", "x", 4.0, "true")], "higher_is_better", metric="joy")
    with pytest.raises(UsageError, match="it is not known whether higher or lower values of 'joy' are better"):
        mixed.direction("joy")


def test_a_cell_with_a_failed_measurement_keeps_none_of_the_others():
    rows = [("A", "x", None, 1), ("A", "x", 9.0, 2), ("A", "y", 1.0, 1), ("A", "y", 3.0, 2)]
    rows += [("B", d, v, s) for d in "xy" for v, s in ((4.0, 1), (6.0, 2))]
    table = results(rows, "seed")
    assert table.table("mrr").tolist()[1] == [5, 5]
    matrix = table.matrix("mrr", missing="worst")
    assert matrix.values.tolist() == [[5, 2], [5, 5]]
    assert matrix.replicates[0, 0, 0] == 5
    assert np.isnan(matrix.replicates[0, 0, 1])
    dropped = table.matrix("mrr", missing="drop-datasets", least_datasets=1)
    assert dropped.replicates.tolist() == [[[1, 3]], [[4, 6]]]


def test_a_filled_cell_has_no_standard_error():
    rows = [("A", "x", None, 4.0), ("A", "y", 1.0, 0.5), ("B", "x", 2.0, 0.25), ("B", "y", 3.0, float("inf"))]
    matrix = results(rows, "deviation").matrix("mrr", missing="worst")
    assert matrix.standard_errors.tolist() == [[0, 0.5], [0.25, 0]]
    assert (matrix.replicates, matrix.repeated) == (None, True), "what the table states counts as repeats do"
    plain = results([("A", "x", 1.0), ("A", "y", 1.0), ("B", "x", 2.0), ("B", "y", 3.0)]).matrix("mrr")
    assert (plain.standard_errors, plain.repeated) == (None, False)
    assert results([("A", "x", 1.0, 0.0), ("B", "x", 1.0, -0.5)], "deviation").frame["deviation"].to_list() == [0, None]


def test_a_deviation_of_no_run_or_of_an_unknown_number_is_taken_as_that_of_one():
    rows = [("A", "x", 1.0, 4.0, 0), ("A", "y", 1.0, 4.0, None), ("B", "x", 2.0, 4.0, 4), ("B", "y", 3.0, 4.0, 1)]
    assert results(rows, "deviation", "runs").matrix("mrr").standard_errors.tolist() == [[4, 4], [2, 4]]


def test_what_is_left_when_everything_with_a_hole_is_dropped():
    rows = [("A", "x", 1.0), ("A", "y", None), ("B", "x", None), ("B", "y", 2.0), ("C", "x", 3.0), ("C", "y", 4.0)]
    table = results(rows)
    with pytest.raises(InputError, match="no dataset is left for mrr; a comparison needs at least one"):
        table.matrix("mrr", missing="drop-datasets")
    with pytest.raises(InputError, match="only one algorithm has values for mrr; a comparison needs at least two"):
        table.matrix("mrr", missing="drop-algorithms")
    with pytest.raises(InputError, match="no algorithm is left for mrr"):
        results(rows[:4]).matrix("mrr", missing="drop-algorithms")
    kept = results([*rows, ("D", "x", 5.0), ("D", "y", 6.0)]).matrix("mrr", missing="drop-algorithms")
    assert (kept.algorithms, kept.values.tolist()) == (("C", "D"), [[3, 4], [5, 6]])
    assert missing_cells(kept.missing) == "2 cells were missing; dropped 2 algorithms: A, B."
    assert kept.missing.cells == (("A", "y"), ("B", "x"))
    empty = results([("A", "x", 1.0), ("A", "y", None), ("B", "x", 2.0), ("B", "y", None)])
    with pytest.raises(InputError, match="no algorithm has mrr on y; choose `missing='drop-datasets'`"):
        empty.matrix("mrr", missing="worst")
    assert missing_cells(MissingCells("drop-datasets")) == ""


def test_a_single_dataset_is_enough_only_where_it_is_said():
    table = results([("A", "x", 1.0), ("B", "x", 2.0)])
    assert table.matrix("mrr", least_datasets=1).datasets == ("x",)
    with pytest.raises(NotApplicableError, match=r"only one dataset has values for mrr.*recassay users tests over its"):
        table.matrix("mrr")


def test_a_matrix_is_finite_and_fits_its_names():
    for values, message in (([[1.0, 2.0]], "do not fit the names"), ([[np.nan], [1.0]], "holds finite values only")):
        with pytest.raises(ValueError, match=message):
            Matrix(np.array(values), ("A", "B"), ("x",), "mrr", True)
    made = Matrix(np.ones((2, 1)), ("A", "B"), ("x",), "mrr", False)
    assert made.head == ("mrr", False, ("A", "B"), ("x",))


def test_what_a_caller_changes_does_not_change_the_table():
    table = results([("B", "y", 1.0), ("A", "x", 2.0), ("A", "y", 3.0), ("B", "x", 4.0)])
    table.table("mrr")[0, 0] = 99
    table.metrics.append("more")
    table.algorithms.clear()
    assert table.table("mrr").tolist() == [[2, 3], [4, 1]]
    assert (table.metrics, table.algorithms, table.datasets) == (["mrr"], ["A", "B"], ["x", "y"])
    assert table.cells("mrr").rows() == [("A", "x", 2.0), ("A", "y", 3.0), ("B", "x", 4.0), ("B", "y", 1.0)]


@pytest.mark.parametrize("absent", ["", " ", "nan", "NaN", "NA", "n/a", "null", "None", "-"])
def test_words_for_no_value(absent):
    table = results([("A", "x", "1.5"), ("A", "y", absent), ("B", "x", " 2 "), ("B", "y", "-3e-1")])
    assert table.frame["value"].to_list() == [1.5, None, 2.0, -0.3]


def test_a_column_without_any_value_is_missing_as_a_whole():
    assert results([("A", "x", None), ("B", "x", None)]).frame["value"].to_list() == [None, None]
    assert results([("A", "x", float("nan")), ("B", "x", 1.0)]).frame["value"].to_list() == [None, 1.0]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [("A", "x", -2e100), ("B", "x", 1.0)],
            r"here: 1 values are beyond 1e\+100, the first in data row 1; give the",
        ),
        (
            [("A", "x", 1.0), ("B", "x", float("-inf"))],
            r"here: 1 values are infinite, the first in data row 2 \(B on x",
        ),
        ([("A", "x", 1.0), (" ", "x", 2.0)], "here: column 'algorithm' is empty in data row 2; fill it in or remove"),
        ([("A", None, 1.0), ("B", "x", 2.0)], "here: column 'dataset' is empty in data row 1"),
        ([("A", "x", 1.0), (" A ", "x ", 2.0)], r"2 rows repeat a cell, the first in data row 1 \(A on x, mrr\)"),
        ([("A", "x", "1,5"), ("B", "x", "two")], "here: 2 values are not numbers, the first '1,5' in data row 1 of "),
        (
            [("A", "x", [1.0]), ("B", "x", [2.0])],
            r"column 'value' holds list\(float64\), not text or numbers; write it as",
        ),
        ([(b"A", "x", 1.0), (b"B", "x", 2.0)], "column 'algorithm' holds binary, not text or numbers"),
        ([], "here: the table is empty; give at least two algorithms on two datasets"),
    ],
)
def test_tables_that_are_refused(rows, message):
    with pytest.raises(InputError, match=message):
        results(rows, where="here")


def test_labels_that_are_no_metrics_are_refused():
    for metric, message in (
        ("ndcg@0", "here: '0' in 'ndcg@0' is not a cut-off"),
        ("@5", "here: '@5' is not a metric label"),
    ):
        with pytest.raises(InputError, match=message):
            results([("A", "x", 1.0)], metric=metric, where="here")


def test_columns_that_are_not_there_are_named():
    frame = pl.DataFrame({"dataset": ["x"], "value": [1.0], "model": ["A"]})
    words = r"here: no column 'algorithm', 'metric' among 'dataset', 'value', 'model'; name it with `columns`"
    with pytest.raises(InputError, match=words):
        Results.from_frame(frame, where="here")


def test_the_largest_value_is_taken():
    assert results([("A", "x", -1e100), ("B", "x", 1e100)]).frame["value"].to_list() == [-1e100, 1e100]


def test_names_and_details_lose_the_space_around_them_and_keep_their_kind():
    frame = pl.DataFrame(
        {
            "algorithm": [" A", "B"], "dataset": [1, 2], "metric": "NDCG @ 5", "value": [1, 2], "seed": [3, 4],
            "deviation": ["0.5", "much"], "runs": ["3", "x"], "higher_is_better": ["False", "perhaps"],
            "framework": ["RecBole", None], "beside": [1, 2],
        }
    )  # fmt: skip
    source = Source("a.csv", "0" * 64)
    made = Results.from_frame(frame, sources=(source,), notes=("note",))
    assert made.frame.rows() == [
        ("A", "1", "ndcg@5", "3", 1.0, 0.5, 3, "RecBole", False),
        ("B", "2", "ndcg@5", "4", 2.0, None, None, None, None),
    ]
    assert (made.sources, made.notes) == ((source,), ("note",))


def test_how_a_table_was_read_is_told():
    table = results([("A", "x", 1.0), ("B", "x", 2.0)], metric="HR@5")
    assert table.told_reading() == "read: 2 algorithms (A, B), 1 dataset (x), 1 metric (hitrate@5)"
    guessed = Results(table.frame, guesses=("by names", "by size"), words=("model", "task"))
    assert guessed.told_reading() == (
        "read: 2 models (A, B), 1 task (x), 1 metric (hitrate@5); guessed: by names; by size"
    )
    assert guessed.reading == {
        "algorithms": {"count": 2, "examples": ["A", "B"]}, "datasets": {"count": 1, "examples": ["x"]},
        "metrics": {"count": 1, "examples": ["hitrate@5"]}, "words": ["model", "task"],
        "guesses": ["by names", "by size"],
    }  # fmt: skip
    assert "Results: 2 algorithms, 1 dataset, 1 metric<" in table._repr_html_()


def test_a_metric_is_found_by_any_of_its_names():
    assert find_label("HR", ["ndcg@10", "hitrate@5"]) == "hitrate@5"
    assert find_label("Hits@5", ["hitrate@5", "hitrate@10"]) == "hitrate@5"
    assert metric_name("map[by_k]") == "MAP[by_k]"
