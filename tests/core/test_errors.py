"""Messages speak of options to those who type commands, and of arguments to those who call functions."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import polars as pl
import pytest

import recassay
from recassay.cli import commands
from recassay.cli.wording import in_options, speak_of
from recassay.testing.results import synthetic_results

LIBRARY = Path(recassay.__file__).parent


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ("choose `missing='drop-datasets'` or worst", "choose --missing drop-datasets or worst"),
        ("say `wide=True` and `metric='ndcg@10'`", "say --wide and --metric ndcg@10"),
        ("say `higher_is_better=True` or `higher_is_better=False`", "say --higher-is-better or --lower-is-better"),
        ("with `columns` (as in `columns={'value': 'score'}`)", "with --column (as in --column value=score)"),
        ("accept it with `allow_leakage=['a', 'b']`", "accept it with --allow-leakage a,b"),
        ("then: `recassay.import_data(FILE, name='films')`", "then: recassay data import FILE --name films"),
        ("see `recassay.list_data(everything=True)`", "see recassay data list --all"),
        ("`unknown` and `recassay.unknown` stay", "`unknown` and `recassay.unknown` stay"),
    ],
)  # fmt: skip
def test_arguments_become_options_and_functions_commands(arguments, options):
    rank, describe = commands.PROGRAM.known["rank"], commands.DATA.known["describe"]
    names = {
        p.name: next(o for o in p.opts if o.startswith("--"))
        for c in (describe, rank)
        for p in c.params
        if p.opts[0][0] == "-"
    }
    speak_of(names)
    assert in_options(arguments) == options


def test_a_function_and_a_command_say_the_same_in_their_own_words(cli, tmp_path):
    frame = synthetic_results(5)
    first = (pl.col("algorithm") == frame["algorithm"][0]) & (pl.col("dataset") == frame["dataset"][0])
    frame.filter(~first).write_csv(tmp_path / "holes.csv")
    with pytest.raises(recassay.RecAssayError, match="choose `missing='drop-datasets'`"):
        recassay.rank(tmp_path / "holes.csv")
    assert "choose --missing drop-datasets" in cli("rank", tmp_path / "holes.csv").err
    with pytest.raises(recassay.RecAssayError, match="choose `missing='drop-datasets'`"):
        recassay.rank(tmp_path / "holes.csv")


def test_no_message_of_the_library_names_an_option():
    """Every text in a call of an error, a fix or a note: the library speaks of arguments."""
    groups = (commands.PROGRAM, commands.DATA, commands.IRT)
    known = [command for group in groups for command in group.known.values()]
    ours = {name for command in known for param in command.params for name in param.opts if name.startswith("--")}
    assert "--metric" in ours
    named = []
    for path in sorted(LIBRARY.rglob("*.py")):
        if path.is_relative_to(LIBRARY / "cli"):
            continue
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and re.search(r"Error$|^append$|^did_you_mean$", _called(call.func)):
                texts = [n.value for n in ast.walk(call) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
                named += [
                    f"{path}:{call.lineno}: {text}" for text in texts if ours & set(re.findall(r"--[a-z][a-z-]*", text))
                ]
    assert not named


def _called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
