"""Faults that a third audit found: each test failed on the state before."""

from __future__ import annotations

import polars as pl
import pytest

import recassay
from recassay.api.tables import load_characteristics

CONTROL, JOINED, TURNED = "\x01\x02", "A\u200b", "B\u202e"


def table(folder, names, ending="csv"):
    rows = [
        {"algorithm": name, "dataset": f"d{day}\x07", "metric": "ndcg@10", "value": (7 * a + 3 * day) % 11 / 20 + 0.1}
        for a, name in enumerate(names)
        for day in range(6)
    ]
    pl.DataFrame(rows).write_csv(folder / f"results.{ending}")
    return folder / f"results.{ending}"


def test_names_are_cleaned_at_the_door_with_a_note(tmp_path):
    results = recassay.load_results(table(tmp_path, ["A", JOINED, CONTROL, TURNED]))
    assert results.algorithms == ["A", "A\\u200b", "B\\u202e", "\\x01\\x02"]
    assert results.datasets[0] == "d0\\x07"
    assert [note for note in results.notes if "codes" in note] == [
        "9 names hold characters that cannot be shown and stand with their codes: A\\u200b, B\\u202e, \\x01\\x02, "
        "d0\\x07, d1\\x07 and 4 more"
    ]


def test_names_that_can_be_shown_are_left_alone(tmp_path):
    names = ["A b", "Ä", "名", "😀", "x\\x01"]
    results = recassay.load_results(
        pl.read_csv(table(tmp_path, names)).with_columns(dataset=pl.lit("d").add(pl.col("dataset").str.slice(1, 1)))
    )
    assert results.algorithms == sorted(names)
    assert not [note for note in results.notes if "codes" in note]


def test_scores_of_users_and_characteristics_find_the_cleaned_names(tmp_path):
    rows = pl.DataFrame(
        [
            {"algorithm": name, "dataset": "films\x01", "metric": "ndcg@10", "user": f"u{user}", "value": user / 20}
            for name in ("A", CONTROL)
            for user in range(20)
        ]
    )
    results = recassay.load_results(rows)
    assert set(results.users["algorithm"]) == set(results.algorithms) == {"A", "\\x01\\x02"}
    path = tmp_path / "sizes.csv"
    pl.DataFrame({"dataset": ["films\x01", "books"], "users": [3, 4]}).write_csv(path)
    assert load_characteristics(path).aligned(results.datasets).values.tolist() == [[3.0]]


@pytest.mark.slow
def test_a_paper_with_a_name_of_control_characters(tmp_path):
    recassay.paper(table(tmp_path, ["EASE", CONTROL, "BPR"]), out=tmp_path / "paper")
    assert r"\textbackslash{}x01" in (tmp_path / "paper" / "tables" / "main.tex").read_text()
