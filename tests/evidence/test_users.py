"""Per-user scores of a study as responses."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from recassay.core.errors import InputError, NotApplicableError, UsageError
from recassay.core.tables.responses import MISSING
from recassay.core.tables.results import Results
from recassay.evidence.users import (
    hit_metric,
    paired_scores,
    table_responses,
    table_scores,
    user_responses,
    user_scores,
)
from recassay.store import CellRecord, Store
from recassay.store.files import SCORES, cell_file, write_cell_files
from support.stores import LISTS, DoneCell, write_records, write_store

HITS = {("EASE", 5): [1, 1, 0, 0], ("EASE", 3): [0, 0, 1, 1], ("Pop", 5): [1, 0, 0, 0], ("Pop", 3): [0, 1, 1, 1]}


def answers(folder, order):
    """The responses of a study that has the cells of `HITS` in this order."""
    cells = [DoneCell(algorithm, "films", HITS[algorithm, seed], seed) for algorithm, seed in order]
    write_store(folder, "hitrate@10", cells)
    with Store.open(folder) as store:
        label, tables = user_responses(store)
    assert label == "hitrate@10"
    assert list(tables["films"].items) == ["u1", "u2", "u3", "u4"]
    return dict(zip(tables["films"].respondents, tables["films"].codes.tolist(), strict=True))


@pytest.mark.parametrize("first", [5, 3])
def test_of_two_seeds_the_first_of_the_study_answers(tmp_path, first):
    found = answers(tmp_path / "study", sorted(HITS, key=lambda cell: cell[1] != first))
    assert found == {"EASE": HITS["EASE", first], "Pop": HITS["Pop", first]}


def test_an_algorithm_whose_first_seed_failed_answers_with_the_next(tmp_path):
    found = answers(tmp_path / "study", [cell for cell in HITS if cell != ("EASE", 5)])
    assert found == {"EASE": HITS["EASE", 3], "Pop": HITS["Pop", 5]}


def test_scores_of_users_are_paired_over_algorithms_and_averaged_over_seeds(tmp_path):
    cells = [DoneCell("EASE", "films", [1.0, 0.0, 0.5], 5), DoneCell("EASE", "films", [0.0, 0.5, 0.5], 3),
             DoneCell("Pop", "films", [0.25, 0.75], 5), DoneCell("Pop", "books", [1.0], 5)]  # fmt: skip
    write_store(tmp_path / "study", "ndcg@10", cells)
    (films, books), skipped = paired_scores(tmp_path / "study", "ndcg@10")
    assert (films.dataset, films.algorithms, films.left_out) == ("films", ("EASE", "Pop"), 1)
    assert films.values.tolist() == [[0.5, 0.25], [0.25, 0.75]]
    assert (books.algorithms, books.values.tolist(), skipped) == (("Pop",), [[1.0]], {})
    with pytest.raises(NotApplicableError, match="coverage has no value of its own for each user"):
        paired_scores(tmp_path / "study", "coverage")
    spread = user_scores(tmp_path / "study", "ndcg@10")
    assert spread["n"].to_list() == [3, 3, 2], "one user has no deviation"
    assert spread["deviation"].to_list() == pytest.approx(
        [np.std(row, ddof=1) for row in ([1, 0, 0.5], [0, 0.5, 0.5], [0.25, 0.75])]
    )
    assert user_scores(tmp_path / "study", "coverage").height == 0


def test_a_dataset_without_a_finished_cell_is_skipped_with_its_reasons(tmp_path):
    failed = CellRecord("c2", "EASE", "books", 1, None, {}, "failed", reason="out of memory")
    cells = [CellRecord("c1", "EASE", "films", 1, None, {}, "done", metrics={"ndcg@10": 0.5}), failed]
    folder = write_records(tmp_path / "study", ["ndcg@10"], cells)
    scores, skipped = paired_scores(folder, "ndcg@10")
    assert [table.dataset for table in scores] == ["films"]
    assert skipped == {"books": "no cell is done (out of memory)"}
    slow = CellRecord("c3", "EASE", "songs", 1, None, {}, "failed", reason="out of time")
    several = write_records(tmp_path / "several", ["ndcg@10"], [*cells, slow])
    # What a cell wrote before it failed does not count.
    left = pl.DataFrame({"user": ["u1", "u2"], "ndcg@10": [0.1, 0.2]})
    write_cell_files(several, "c2", per_user=left, lists=LISTS)
    scores, skipped = paired_scores(several, "ndcg@10")
    assert [table.dataset for table in scores] == ["films"]
    assert skipped == {"books": "no cell is done (out of memory)", "songs": "no cell is done (out of time)"}
    assert user_scores(several, "ndcg@10").height == 0, "one user has no deviation, and the other cells failed"
    judged = pl.DataFrame({"user": ["u1", "u2", "u3"], "ndcg@10": [0.1, None, 0.3]})
    write_cell_files(several, "c1", per_user=judged, lists=LISTS)
    assert user_scores(several, "ndcg@10")["n"].to_list() == [2], "for one user the metric is not defined"
    with (
        Store.open(folder) as store,
        pytest.raises(InputError, match="the study has no dataset 'books'; use one of films"),
    ):
        user_responses(store, datasets=["books"])
    none = write_records(tmp_path / "none", ["ndcg@10"], [failed])
    with Store.open(none) as store, pytest.raises(InputError, match="no cell of this study is done"):
        user_responses(store)
    assert paired_scores(none, "ndcg@10") == ([], {"books": "no cell is done (out of memory)"})


def test_each_dataset_has_its_own_respondents_and_users(tmp_path):
    cells = [DoneCell("EASE", "films", [1, 0]), DoneCell("Pop", "films", [0, 1]), DoneCell("Pop", "books", [1, 1, 0])]
    write_store(tmp_path / "study", "hitrate@10", cells)
    with Store.open(tmp_path / "study") as store:
        _, tables = user_responses(store)
        assert list(user_responses(store, datasets=["films"])[1]) == ["films"]
    assert list(tables) == ["books", "films"]
    assert (tables["films"].respondents, tables["films"].codes.tolist()) == (("EASE", "Pop"), [[1, 0], [0, 1]])
    assert (tables["books"].respondents, tables["books"].codes.tolist()) == (("Pop",), [[1, 1, 0]])


def test_a_user_is_an_item_in_each_fold(tmp_path):
    cells = [CellRecord(f"c{fold}", "EASE", "films", 1, fold, {}, "done", metrics={"hitrate@10": value})
             for fold, value in ((0, 1.0), (1, 0.0))]  # fmt: skip
    folder = write_records(tmp_path / "study", ["hitrate@10"], cells)
    with Store.open(folder) as store:
        _, tables = user_responses(store)
    assert dict(zip(tables["films"].items, tables["films"].codes[0].tolist(), strict=True)) == {
        "u1 (fold 0)": 1, "u1 (fold 1)": 0}  # fmt: skip


def single_users(rows, metric="ndcg@10"):
    """A table with rows of single users: algorithm, dataset, user, value."""
    users = pl.DataFrame(rows, schema=["algorithm", "dataset", "user", "value"], orient="row").with_columns(
        pl.lit(metric).alias("metric")
    )
    means = users.group_by("algorithm", "dataset", "metric", maintain_order=True).agg(pl.col("value").mean())
    return Results(Results.from_frame(means).frame, users=users)


ROWS = [
    ("A", "films", "u1", 0.4), ("A", "films", "u1", 0.6), ("A", "films", "u2", 0.0), ("B", "films", "u1", 0.0),
    ("B", "films", "u2", 0.3), ("B", "films", "u3", 0.9), ("A", "books", "u1", 0.2), ("B", "books", "u1", 0.1),
]  # fmt: skip


def test_rows_of_single_users_of_a_table_are_scores_and_responses():
    table = single_users(ROWS)
    (films, books), skipped = table_scores(table, "ndcg@10")
    assert (films.algorithms, films.values.tolist(), films.left_out) == (("A", "B"), [[0.5, 0.0], [0.0, 0.3]], 1)
    assert (books.dataset, skipped) == ("books", {})
    (films, _), _ = table_scores(single_users([(row[0].replace("A", "user"), *row[1:]) for row in ROWS]), "ndcg@10")
    assert (films.algorithms, films.values.tolist()) == (("B", "user"), [[0.0, 0.3], [0.5, 0.0]]), "any name will do"
    assert table_scores(table, "recall@10") == ([], dict.fromkeys(("books", "films"), "it has no rows of single users"))
    label, tables = table_responses(table, datasets=["Films"])
    assert (label, list(tables)) == ("ndcg@10", ["films"])
    assert dict(zip(tables["films"].respondents, tables["films"].codes.tolist(), strict=True)) == {
        "A": [1, 0, MISSING], "B": [0, 1, 1]}  # fmt: skip
    bare = Results(table.frame)
    for read in (table_scores, table_responses):
        with pytest.raises(NotApplicableError, match="the table has no rows of single users"):
            read(bare, "ndcg@10")


def test_a_metric_of_0_and_1_tells_a_hit_whatever_its_name():
    binary = [(*row[:3], float(row[3] > 0)) for row in ROWS]
    assert table_responses(single_users(binary, "solved"))[0] == "solved"
    assert table_responses(single_users(binary, "solved"), "Solved")[0] == "solved"
    known = "use one of hitrate, ndcg, precision, recall, map, mrr, f1, hit_count"
    with pytest.raises(UsageError, match=f"score does not tell a hit from a miss; {known}$"):
        table_responses(single_users(ROWS, "score"), "score")
    with pytest.raises(NotApplicableError, match="no metric of the study tells a hit"):
        table_responses(single_users(ROWS, "score"))


def test_the_metric_that_tells_a_hit_is_the_first_of_its_kind_at_ten_if_there_is_one():
    assert hit_metric(("coverage@10", "recall@10", "ndcg@5", "ndcg@10")) == "ndcg@10"
    assert hit_metric(("recall@10", "ndcg@20", "ndcg@5")) == "ndcg@20", "the kind counts before the length"
    assert hit_metric(("ndcg@10", "hitrate@100", "hitrate")) == "hitrate@100"
    assert hit_metric(("ndcg@10", "recall@5"), "Recall@5") == "recall@5"
    with pytest.raises(UsageError, match="coverage@10 does not tell a hit from a miss"):
        hit_metric(("ndcg@10", "coverage@10"), "coverage@10")
    with pytest.raises(NotApplicableError, match=r"tells a hit from a miss; add hitrate@10 to the metrics"):
        hit_metric(("coverage@10",))


def test_missing_values_of_users_are_no_answers_and_no_scores():
    table = single_users([*ROWS, ("A", "films", "u3", None), ("B", "songs", "u1", None)])
    (films, books), skipped = table_scores(table, "ndcg@10")
    assert (films.values.tolist(), films.left_out) == ([[0.5, 0.0], [0.0, 0.3]], 1)
    assert (books.dataset, skipped) == ("books", {"songs": "it has no rows of single users"})
    _, tables = table_responses(table)
    assert set(tables) == {"films", "books"}, "a dataset without a value has no responses"
    assert tables["films"].codes.tolist()[list(tables["films"].respondents).index("A")][2] == MISSING
    gaps = [(*row[:3], float(row[3] > 0)) for row in ROWS] + [("A", "films", "u9", None)]
    assert table_responses(single_users(gaps, "solved"))[0] == "solved", "a missing value is neither 0 nor 1"


def test_of_two_metrics_the_one_asked_for_tells_the_hits():
    binary = single_users([(*row[:3], float(row[3] > 0.5)) for row in ROWS], "solved")
    both = Results(pl.concat([binary.frame, single_users(ROWS).frame], how="diagonal"),
                   users=pl.concat([binary.users, single_users(ROWS).users]))  # fmt: skip
    label, tables = table_responses(both)
    assert (label, tables["films"].codes.tolist()[0]) == ("solved", [1, 0, MISSING]), "the mean of 0 and 1 is above 0"
    label, tables = table_responses(both, "ndcg@10")
    assert (label, tables["films"].codes.tolist()[1]) == ("ndcg@10", [0, 1, 1])


def test_reasons_of_a_dataset_are_told_once_and_no_more_than_two(tmp_path):
    reasons = ("slow", "too large", "slow", "odd")
    cells = [CellRecord(f"c{i}", f"A{i}", "books", 1, None, {}, "failed", reason=why) for i, why in enumerate(reasons)]
    folder = write_records(tmp_path / "study", ["ndcg@10"], cells)
    assert paired_scores(folder, "ndcg@10")[1] == {"books": "no cell is done (odd, slow and 1 more)"}


def test_a_finished_cell_whose_scores_are_gone_says_nothing_of_its_users(tmp_path):
    cells = [
        DoneCell("EASE", "films", [1.0, 0.0]),
        DoneCell("Pop", "films", [0.5, 0.25]),
        DoneCell("Pop", "books", [1, 0]),
    ]
    write_store(tmp_path / "study", "ndcg@10", cells)
    for name in ("cell0", "cell2"):
        cell_file(tmp_path / "study", SCORES, name).unlink()
    assert user_scores(tmp_path / "study", "ndcg@10")["algorithm"].to_list() == ["Pop"]
    (films,), skipped = paired_scores(tmp_path / "study", "ndcg@10")
    assert (films.dataset, films.algorithms) == ("films", ("Pop",))
    assert list(skipped) == ["books"]


def test_a_metric_that_some_cells_lack_is_told_of_the_others(tmp_path):
    cells = [DoneCell("EASE", "films", [1.0, 0.0]), DoneCell("Pop", "films", [0.5, 0.5])]
    write_store(tmp_path / "study", "ndcg@10", cells)
    other = pl.DataFrame({"user": ["u1", "u2"], "recall@10": [0.1, 0.3]})
    write_cell_files(tmp_path / "study", "cell1", per_user=other, lists=LISTS)
    assert user_scores(tmp_path / "study", "ndcg@10")["algorithm"].to_list() == ["EASE"]
    assert user_scores(tmp_path / "study", "recall@10")["algorithm"].to_list() == ["Pop"]
