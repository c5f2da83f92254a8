"""Messages speak of options to those who type commands, and of arguments to those who call functions."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.cli import commands
from recassay.cli.wording import in_options, speak_of
from recassay.core.errors import (
    InputError,
    MissingExtraError,
    NotApplicableError,
    NotEnoughMemoryError,
    RecAssayError,
    SeveralProblemsError,
    UsageError,
    refuse_all,
)
from recassay.core.names import canonical, did_you_mean
from recassay.core.system.display import table_html
from recassay.core.system.failures import Cause, causes
from recassay.core.system.json_text import read_json
from recassay.core.system.lines import lines_of
from recassay.core.system.plain import plain
from recassay.core.system.printable import one_line, printable
from recassay.core.tables.facts import AuditFinding
from recassay.core.words import count_of, duration, energy, listing
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
        text = path.read_text(encoding="utf-8")
        if path.is_relative_to(LIBRARY / "cli") or "--" not in text:
            continue
        for call in ast.walk(ast.parse(text)):
            if isinstance(call, ast.Call) and re.search(r"Error$|^append$|^did_you_mean$", _called(call.func)):
                texts = [n.value for n in ast.walk(call) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
                named += [
                    f"{path}:{call.lineno}: {text}" for text in texts if ours & set(re.findall(r"--[a-z][a-z-]*", text))
                ]
    assert not named


def _called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def test_numbers_in_words():
    assert [duration(s) for s in (0.04, 0.96, 1, 89.4, 90, 5399, 5400, 9000)] == [
        "0.0 s", "1.0 s", "1 s", "89 s", "2 min", "90 min", "1.5 h", "2.5 h"
    ]  # fmt: skip
    assert [energy(j) for j in (0, 0.04, 7.92, 99.96, 999.4, 999.5, 2500, 1.23e6, 4e9)] == [
        "0 J", "0 J", "7.9 J", "100 J", "999 J", "1 kJ", "2.5 kJ", "1.2 MJ", "4000 MJ"
    ]  # fmt: skip
    assert [count_of(n, "cell") for n in (0, 1, 2)] == ["0 cells", "1 cell", "2 cells"]
    names = list("abcdefg")
    assert listing(names) == "a, b, c, d, e and 2 more"
    assert listing(names[:5], last="or") == "a, b, c, d or e"
    assert listing(names, most=6, last="or") == "a, b, c, d, e, f and 1 more"
    assert (listing(names, most=None), listing(["a"], last="or"), listing([])) == ("a, b, c, d, e, f, g", "a", "")


def test_a_message_is_one_line_and_each_problem_is_told_once():
    error = InputError("is\nodd", where="a.csv", fix="mend it")
    assert (str(error), error.exit_code) == ("a.csv: is odd; mend it", 2)
    codes = {
        kind: kind("x").exit_code for kind in (RecAssayError, UsageError, NotApplicableError, NotEnoughMemoryError)
    }
    assert list(codes.values()) == [1, 2, 2, 1]
    missing = MissingExtraError("torch", "neural", "LightGCN")
    assert str(missing) == "LightGCN needs torch; install it with: pip install 'recassay[neural]'"
    assert missing.exit_code == 2
    refuse_all([])
    with pytest.raises(InputError, match="is odd"):
        refuse_all([error, InputError("is odd", where="a.csv", fix="mend it")])
    with pytest.raises(SeveralProblemsError) as refused:
        refuse_all([error, error, UsageError("y")])
    assert str(refused.value) == "2 problems; nothing was run or written\na.csv: is odd; mend it\ny"


def test_causes_of_failures_are_told_once():
    failed = [
        SimpleNamespace(algorithm=algorithm, dataset=dataset, status=status, reason=reason)
        for algorithm, dataset, status, reason in (
            ("EASE", "a", "memory", "too large"),
            ("ALS", "a", "failed", None),
            ("EASE", "b", "memory", "too large"),
            ("ALS", "b", "memory", "too large"),
            ("ALS", "c", "timeout", "too large"),
        )
    ]
    assert [(cause.sentence(), cause.cells) for cause in causes(failed)] == [
        ("memory: EASE, ALS on a, b: too large", 3),
        ("failed: ALS on a: no reason was kept", 1),
        ("timeout: ALS on c: too large", 1),
    ]
    many = Cause("failed", "why", tuple("abcd"), tuple("uvwxyz"), 24)
    assert many.sentence() == "failed: a, b, c and 1 more on u, v, w and 3 more: why"


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("UserKNM", ["UserKNN", "EASE"], "did you mean 'UserKNN'?"),
        ("user_knn", ["EASE", "UserKNN", "User KNN"], "did you mean 'User KNN'?"),
        ("ItemKNN", ["EASE", "ItemKNN2", "ItemKNN3"], "did you mean 'ItemKNN3' or 'ItemKNN2'?"),
        ("aab", ["aaa", "aac", "aad", "aae"], "did you mean 'aae', 'aad' or 'aac'?"),
        ("zzz", ["b", "a", "b"], "known: a, b"),
        ("zzz", [f"n{i:02}" for i in range(21)], f"known: {', '.join(f'n{i:02}' for i in range(20))} and 1 more"),
        ("zzz", [], "there are none"),
    ],
)
def test_near_names(name, known, hint):
    assert did_you_mean(name, known) == hint
    assert did_you_mean("qqq", ["EASE"], else_see="the list") == "see the list"
    assert did_you_mean("eas", ["EASE"], else_see="the list") == "did you mean 'EASE'?"
    assert canonical("Hit-Rate. of_Straße") == "hitrateofstrasse"


def test_json_of_others():
    assert read_json(b'\xef\xbb\xbf{"a": "\\ud83d\\ude00"}', "x") == {"a": "😀"}
    for text, message in (
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "x: has the key 'c' twice in one object; keep one of the two"),
        ('["\\ud800"]', r"x: holds half of a character \(U\+D800\); write it again as UTF-8"),
    ):
        with pytest.raises(InputError, match=message):
            read_json(text, "x")
    with pytest.raises(ValueError, match="nested too deeply"):
        read_json("[" * 100_000, "x")


def test_text_of_others():
    assert lines_of("a\r\nb\rc\x0cd\u2028e\n") == ["a", "b", "c\x0cd\u2028e"]
    assert lines_of("a\n\n") == ["a", ""]
    assert printable("a\tb\nc\x1b\u202e\U000e0001") == "a\tb\nc\\x1b\\u202e\\U000e0001"
    hidden = "\x00\x08\x0b\x1f\x7f\x9f\u200b\u200f\u2028\u2060\u2069\ufeff\ufffc\uffff\ud800\U0010ffff"
    assert printable(hidden) == hidden.encode("unicode-escape").decode()
    assert printable("é\xa0 ‐ 中 😀") == "é\xa0 ‐ 中 😀"
    assert one_line("a \n b" + "c" * 200, most=10) == "a bcccccc…"
    assert (one_line("x" * 10, most=10), one_line(" " * 50 + "x", most=10)) == ("x" * 10, "…")


def test_plain_data():
    finding = AuditFinding("films", "late", "s", True)
    values = {1: np.float64(2.5), "nan": float("nan"), "array": np.array([1, 2]), "inf": [np.inf, True, None]}
    assert plain(values) == {"1": 2.5, "nan": None, "array": [1, 2], "inf": [None, True, None]}
    assert plain([np.float32("inf"), np.float32(0.5), np.bool_(True), np.int64(3)]) == [None, 0.5, True, 3]
    assert plain(AuditFinding) is AuditFinding
    assert plain((finding,)) == [{"dataset": "films", "name": "late", "sentence": "s", "leak": True, "share": 0.0}]


def test_a_frame_as_a_table():
    frame = pl.DataFrame({"<a>": ["x & y", None, "z"], "b": [0.123456, 1.0, 2.0]})
    assert table_html(frame, "Two <rows>", most=2) == (
        '<table><caption>Two &lt;rows&gt;</caption><thead><tr><th scope="col">&lt;a&gt;</th><th scope="col">b</th></tr>'
        "</thead><tbody><tr><td>x &amp; y</td><td>0.1235</td></tr><tr><td></td><td>1</td></tr></tbody></table>"
        "<p>and 1 more rows in <code>to_frame()</code></p>"
    )
    assert "more rows" not in table_html(frame, "", most=3)


CALL = re.compile(r"\b(?:InputError|UsageError|NotApplicableError|refused)\(")


@pytest.fixture(scope="module")
def refusals():
    """Every call that makes a refusal: its kind, what it says, its other parts, and the arguments of its function."""
    calls = []
    for path in LIBRARY.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if CALL.search(text) is None:
            continue
        below = [(ast.parse(text), frozenset())]
        while below:
            node, arguments = below.pop()
            if isinstance(node, ast.FunctionDef):
                arguments = {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
            if isinstance(node, ast.Call):
                kind = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if kind in {"InputError", "UsageError", "NotApplicableError", "refused"}:
                    calls.append((kind, ast.unparse(node.args[0]), {given.arg for given in node.keywords}, arguments))
            below += [(child, arguments) for child in ast.iter_child_nodes(node)]
    return calls


NO_ADVICE = (
    # Nothing can be done about it, or the words themselves say what to do.
    "every value of", "datasets say nothing of other", "no two algorithms can be compared", "no value for each user",
    "there is no study in this folder", "No such command", "which these results do not have", "is not a range",
    "is not among the options", "too large for a description", "cannot be read as TOML", "is not a path",
    "cannot be loaded as Python", "fails when it is loaded", "attributes are declared", "names column",
    "is an http address", "mismatch", "there is no such file", "absurd length", "were promised", "ONE_COLUMN",
    "too wide and too long", "unpacks to more than the limit", "is not a metric of lists", "keeps no interactions",
    "no value of its own", "NOT_FOUND", "sentence", "why(one, TRY_SECONDS)",
)  # fmt: skip


def test_every_refusal_says_what_to_do(refusals):
    assert len(refusals) > 600
    silent = {what for _, what, parts, _ in refusals if "fix" not in parts}
    assert {what for what in silent if not any(known in what for known in NO_ADVICE)} == set()


def test_what_is_wrong_with_a_file_is_told_with_its_place(refusals):
    places = {"where", "path", "file", "folder", "source", "text"}
    nowhere = {
        what
        for kind, what, parts, arguments in refusals
        if kind == "InputError" and "where" not in parts and places & arguments
    }
    assert {what for what in nowhere if "benchmark's datasets" not in what and "TREC files" not in what} == {"what"}
