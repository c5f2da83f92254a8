"""Messages speak of options to those who type commands, and of arguments to those who call functions."""

from __future__ import annotations

import polars as pl
import pytest

import recassay
from recassay.core.errors import as_arguments
from recassay.testing.results import synthetic_results


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ("choose --missing drop-datasets or worst", "choose missing=drop-datasets or worst"),
        ("say --wide --metric ndcg@10 (or", "say wide=True metric=ndcg@10 (or"),
        ("say --higher-is-better or --lower-is-better", "say higher_is_better=True or higher_is_better=False"),
        ("give --characteristics FILE, or the folder", "give characteristics=FILE, or the folder"),
        ("name it with --column (as in --column value=score)", "name it with columns (as in columns=value=score)"),
        ("leave out --wide", "leave out wide=True"),
        ("then: recassay data import FILE --name films", "then: recassay data import FILE --name films"),
        ("(recassay evaluate --split DIR), or --train", "(recassay evaluate --split DIR), or train"),
        ("a--b and x -- y", "a--b and x -- y"),
    ],
)  # fmt: skip
def test_options_become_arguments_and_commands_stay(options, arguments):
    assert as_arguments(options) == arguments


def test_a_function_and_a_command_say_the_same_in_their_own_words(cli, tmp_path):
    frame = synthetic_results(5)
    first = (pl.col("algorithm") == frame["algorithm"][0]) & (pl.col("dataset") == frame["dataset"][0])
    frame.filter(~first).write_csv(tmp_path / "holes.csv")
    with pytest.raises(recassay.RecAssayError, match="choose missing=drop-datasets"):
        recassay.rank(tmp_path / "holes.csv")
    assert "choose --missing drop-datasets" in cli("rank", tmp_path / "holes.csv").err
    with pytest.raises(recassay.RecAssayError, match="choose missing=drop-datasets"):
        recassay.rank(tmp_path / "holes.csv")
