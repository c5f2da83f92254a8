"""Tables on terminals of any width: nothing is broken in two, nothing disappears without a word."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.analysis.decodirt.fit import analyze_instances
from recassay.analysis.strata.fit import sweep_strata
from recassay.api.publish.content import tell
from recassay.cli.layout import brief_lines, cells, shortened, table_lines, wrapped
from recassay.cli.layout import cells as cell_len
from recassay.cli.render import (
    ANSWER,
    print_answer,
    print_brief,
    print_json,
    print_lines,
    print_notes,
    print_saved,
    print_title,
)
from recassay.core.choices import MANY_ALGORITHMS
from recassay.core.tables.results import Results
from recassay.reporting.headline import drawn_axis, drawn_interval, even
from recassay.reporting.section import Brief, Table
from recassay.reporting.telling import Answer
from recassay.testing.results import synthetic_results
from support.benchmarks import characteristics
from support.decodirt import benchmark as classifiers
from support.strata import evidence, scores

pytestmark = pytest.mark.xdist_group("layout")

WIDTHS = (80, 110, 200)
NAMES = (
    "EASE",
    "a_very_long_name_without_a_single_space_in_it_version_1",
    "a_very_long_name_without_a_single_space_in_it_version_2",
    "Neighbours of items, by cosine, shrunk",
    "協調フィルタリング",
    "Zoë",
)
SETS = tuple(f"d{i:02d}" for i in range(8))


def results() -> Results:
    rng = np.random.default_rng(7)
    rows = [
        (algorithm, dataset, metric, float(np.clip(0.6 - 0.07 * a + 0.05 * rng.normal(), 0.01, 0.99)))
        for metric in ("ndcg@10", "auc", "coverage@10", "diversity@10", "robustness", "seconds")
        for a, algorithm in enumerate(NAMES)
        for dataset in SETS
    ]
    return Results.from_frame(pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row"))


def strata():
    means = np.array([[0.5, 0.3, 0.2], [0.45, 0.35, 0.2], [0.3, 0.4, 0.2], [0.2, 0.5, 0.2]])
    return sweep_strata(evidence(scores(means), scores(means[::-1], name="books")), replicates=100)


MADE = {
    "rank": lambda table: recassay.rank(table, "ndcg@10", replicates=100),
    "compare": lambda table: recassay.compare(table, "ndcg@10"),
    "irt beta": lambda table: recassay.beta_irt(table, "ndcg@10"),
    "ratings --method glicko": lambda table: recassay.glicko(table, "ndcg@10", orders=20),
    "comper": lambda table: recassay.comper(table, draws=50),
    "comper --derive-matrix": lambda table: recassay.comper_matrix(),
    "select": lambda table: recassay.select(
        table, "ndcg@10", k=3, characteristics=characteristics(8).to_frame(), simulations=20, splits=2, curve=False
    ),
    "stress": lambda table: recassay.stress(table, "ndcg@10", draws=100),
    "multiverse": lambda table: recassay.multiverse("published:time-to-split", permutations=100),
    "strata": lambda table: strata(),
    "classify": lambda table: analyze_instances(classifiers(4, items=20, networks=4), orders=3),
    "irt logistic": lambda table: recassay.logistic_irt(classifiers(1, items=20, networks=30)[0].responses, "1pl"),
}


@pytest.fixture(scope="module")
def answers():
    table = results()
    return {name: tell(make(table)) for name, make in MADE.items()}


def printed(answer, width, monkeypatch, capsys) -> str:
    if width is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", str(width))
    capsys.readouterr()
    print_answer(answer)
    return capsys.readouterr().out


LEFT_OUT = re.compile(r"Left out at \d+ columns: (.*?) \(a wider terminal or --json has all\)\.")


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("command", MADE)
def test_every_command_fits_and_breaks_nothing(answers, command, width, monkeypatch, capsys):
    answer = answers[command]
    assert answer.not_done == ()
    whole = printed(answer, None, monkeypatch, capsys)
    shown = printed(answer, width, monkeypatch, capsys)
    assert max(map(cell_len, shown.splitlines())) <= width
    known = set(whole.split())
    flowing = " ".join(shown.split())
    for word in LEFT_OUT.sub("", flowing).split():
        assert word in known or set(word) == {"─"} or ("…" in word and is_shortened(word, known)), word
    left_out = LEFT_OUT.findall(flowing)
    for table in answer.tables:
        for heading in table.header:
            assert heading.split()[0] in shown.split() or any(heading in names for names in left_out), heading


def is_shortened(word: str, known: set[str]) -> bool:
    front, back = word.split("…")
    return any(other.startswith(front) and other.endswith(back) for other in known)


@pytest.mark.slow
@pytest.mark.parametrize("command", MADE)
def test_every_command_ends_with_its_answer_and_a_pipe_gets_all(answers, command, monkeypatch, capsys):
    answer = answers[command]
    whole = printed(answer, None, monkeypatch, capsys)
    assert 1 <= len(answer.sentences[:ANSWER]) <= 3
    assert "Left out at" not in whole
    words = whole.split()
    said = " ".join(answer.sentences[:ANSWER]).split()
    assert words[-len(said) :] == said
    assert words[-len(said) - 1] == "Answer"
    text = " ".join(words)
    assert all(" ".join(sentence.split()) in text for sentence in answer.sentences)
    for table in answer.tables:
        assert all(" ".join(note.split()) in text for note in table.notes)
        rows = {tuple(line.split()) for line in whole.splitlines()}
        assert any(tuple(" ".join(row).split()) in rows for row in table.rows)


def test_columns_go_by_importance():
    table = Table("t", ["name", "one", "two", "three"], [["a", "1", "2", "3"]], important=["three"])
    assert [table.header[i] for i in table.left_out_first()] == ["two", "one", "three"]
    assert table_lines(table, 40)[0].split() == ["name", "one", "two", "three"]
    assert table_lines(table, 11)[0].split() == ["name", "three"]
    assert table_lines(table, 11)[3:6] == ["Left out at", "11 columns:", "one, two (a"]


def test_long_names_are_shortened_only_as_far_as_they_stay_different():
    same = "x" * 40
    table = Table("t", ["name", "number"], [[f"{same}1{same}", "1"], [f"{same}2{same}", "2"]])
    names = [line.split()[0] for line in table_lines(table, 80)[2:4]]
    assert len(set(names)) == 2
    assert shortened("abcdefghij", 7) == "abcd…ij"
    assert shortened("abc", 7) == "abc"
    assert cells(shortened("協調フィルタリング", 9)) <= 9
    assert table_lines(table, 40, whole=True)[2].split()[0] == f"{same}1{same}"


def test_text_cannot_steer_the_terminal_and_paths_stay_whole():
    assert wrapped("\x1b[31mred\x07", 80) == [" [31mred "]
    assert wrapped(" " * 100, 80) == [""]
    path = "/a/" + "long/" * 30
    assert wrapped(f"now {path} then", 40) == ["now", path, "then"]
    lines = table_lines(Table("t", ["name"], [["\x1b]0;title\x07"]]), 40)
    assert not any("\x1b" in line for line in lines)


def test_a_terminal_that_cannot_write_it_gets_a_question_mark(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", out)
    print_answer(SimpleNamespace(sentences=("協 is best ± 1.",), tables=(), not_done=("it failed",)))
    out.flush()
    assert out.buffer.getvalue().decode() == "Not done: it failed.\n\nAnswer\n? is best ? 1.\n"
    out.buffer.truncate(0)
    out.buffer.seek(0)
    print_lines(["├─●─┤ of a long…name"])
    out.flush()
    assert out.buffer.getvalue().decode() == "|-o-| of a long~name\n"


def test_a_brief_answer_says_what_failed_and_where_the_rest_is(capsys):
    answer = Answer(("One.",), (), ("it failed",), Brief("A wins."))
    print_answer(answer, everything=False)
    assert capsys.readouterr().out.splitlines() == [
        "A wins.", "", "Not done: it failed.", "Everything: --all, as data: --json, in a folder: --out DIR",
    ]  # fmt: skip
    print_answer(replace(answer, brief=None), everything=False)
    assert capsys.readouterr().out.splitlines() == ["Not done: it failed.", "", "Answer", "One."]


@pytest.mark.parametrize(("columns", "width"), [("30", 30), ("5", 20), ("many", 132)])
def test_lines_are_as_long_as_the_terminal_says_where_that_is_a_number(monkeypatch, capsys, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    print_lines(["ab " * 100])
    assert len(capsys.readouterr().out.splitlines()[0]) == width - (width + 1) % 3
    print_brief(Brief("ab " * 100))
    brief = min(width, 80)
    assert len(capsys.readouterr().out.splitlines()[0]) == brief - (brief + 1) % 3
    print_answer(Answer((), (Table("t", ["name", *(f"column {i}" for i in range(40))], [["A"] * 41]),)))
    assert ("Left out at" in " ".join(capsys.readouterr().out.split())) == (width < 132), "a pipe gets whole tables"


def test_long_tables_are_counted():
    table = Table("t", ["name"], [[f"n{i}"] for i in range(1200)], most=3)
    assert table_lines(table, 80)[-2:] == ["n2", "and 1,197 more rows (--json or --out DIR has all)"]


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["rank", "compare", "analyze", "stress"])
def test_an_answer_has_at_most_25_lines_of_80_columns_and_no_colour_in_a_pipe(cli, tmp_path, verb):
    table = tmp_path / "table.csv"
    synthetic_results(8, seed=1).filter(pl.col("metric") == "ndcg@10").write_csv(table)
    ran = cli(verb, table)
    lines = ran.out.splitlines()
    assert ran.code == 0, ran.err
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in ran.out
    assert lines[-1].startswith("Everything: ")
    assert len(cli(verb, table, "--all").out.splitlines()) > 25


def test_a_brief_answer_drops_rows_then_sentences_and_counts_them():
    rows = [[f"a{i:02d}", f"{i}.0"] for i in range(40)]
    brief = Brief(
        "Nobody wins.", Table("t", ["algorithm", "rank"], rows), frozenset({"a00"}), ("One.", "Two."), "Three."
    )
    lines = brief_lines(brief, 80, ["Everything: --all"])
    assert 24 <= len(lines) <= 25
    assert lines[0] == ("Nobody wins.", "headline")
    assert [line for line, kind in lines if kind == "marked"] == ["a00         0.0"]
    shown = sum(line.startswith("a") and line[1:3].isdigit() for line, _ in lines)
    assert (f"{40 - shown} more: --all", "") in lines
    assert [line for line, _ in lines[-3:]] == ["Two.", "Caution: Three.", "Everything: --all"]
    long = Brief("Nobody wins.", brief.table, sentences=("One.", *(f"{n} words " * 60 for n in range(3))))
    short = brief_lines(long, 80, [])
    assert len(short) <= 25
    assert sum(line.startswith("a") for line, _ in short) > 3


def test_an_interval_is_drawn_on_the_axis_of_the_ranks():
    assert drawn_interval(1.0, 3.0, 5.0, 5, width=9) == "├───●───┤"
    assert drawn_interval(2.0, 2.0, 3.0, 5, width=9) == "  ●─┤    "
    assert drawn_axis(12, "95 %", width=18) == "1     95 %      12"
    assert even([0.1234, 0.01, 0.5]) == ["0.123", "0.010", "0.500"]
    assert even([12.345, 3.0]) == ["12.3", "3.0"]


def test_a_table_line_by_line():
    """Words on the left and wrapped, numbers on the right and whole; headings end on one line."""
    table = Table(
        "t", ["name", "kind", "a long heading", "n"],
        [["EASE", "closed form", "0.5", "10"], ["MostPop", "", "12.25", "7"]], names=2, notes=["A note on it."],
    )  # fmt: skip
    assert table_lines(table, 40) == [
        "name     kind         a long heading   n",
        "────────────────────────────────────────",
        "EASE     closed form             0.5  10",
        "MostPop                        12.25   7",
        "A note on it.",
    ]
    assert max(map(cells, table_lines(table, 32))) <= 32


def test_a_brief_answer_line_by_line():
    table = Table("t", ["algorithm", "rank"], [["A", "1.0"], ["B", "2.0"], ["C", "3.0"]])
    brief = Brief("A wins.", table, frozenset({"A"}), ("It leads.", "Others follow."), "few datasets", "run more")
    assert brief_lines(brief, 40, ["Everything: --all"]) == [
        ("A wins.", "headline"), ("It leads.", ""), ("", ""), ("algorithm  rank", ""), ("───────────────", ""),
        ("A           1.0", "marked"), ("B           2.0", ""), ("C           3.0", ""), ("", ""),
        ("Others follow.", ""), ("Caution: few datasets", ""), ("Next: run more", ""), ("Everything: --all", ""),
    ]  # fmt: skip
    assert brief_lines(Brief("Nothing is known."), 40, []) == [("Nothing is known.", "headline")]
    short = brief_lines(Brief("A wins.", Table("t", ["x"], [[f"r{i}"] for i in range(9)])), 40, [], most=10)
    assert [line for line, _ in short] == ["A wins.", "", "x", "──", "r0", "r1", "r2", "r3", "5 more: --all"]


BELOW = ["Second.", "Third.", "Fourth."]
SHORT = {9: ([], 3), 12: ([], 3), 13: (BELOW[:1], 3), 14: (BELOW[:2], 3), 15: (BELOW, 3), 16: (BELOW, 4)}
"""By the lines that there are, the sentences below the table and its rows: three of them stay in any case."""


@pytest.mark.parametrize("most", SHORT)
def test_the_last_sentences_go_first_and_three_rows_stay(most):
    sentences, rows = SHORT[most]
    table = Table("t", ["x"], [[f"r{i}"] for i in range(9)])
    brief = Brief("A wins.", table, sentences=("First.", "Second.", "Third.", "Fourth."))
    assert [line for line, _ in brief_lines(brief, 40, ["Rest."], most=most)] == [
        "A wins.", "First.", "", "x", "──", *(f"r{i}" for i in range(rows)), f"{9 - rows} more: --all", "", *sentences,
        "Rest.",
    ]  # fmt: skip


WIDE = Table("t", ["name of it", "a b", "n"], [["協調フィルタリング one", "1", "2"], ["x", "10", "20"]])
LONG = Table("t", ["name", "k"], [[f"abcdefghijklmnopqrstuvwxyz012345678{n} and", str(n)] for n in (9, 0)])
LAID_OUT = [
    (WIDE, 24, ["                       a", "name of it             b", "─" * 24, "協調フィルタリング     1", "one",
                "x                     10", "Left out at 24 columns:", "n (a wider terminal or", "--json has all)."]),
    (WIDE, 30, ["                         a", "name of it               b   n", "─" * 30,
                "協調フィルタリング one   1   2", "x                       10  20"]),
    (WIDE, 40, ["name of it              a b   n", "─" * 31, "協調フィルタリング one    1   2",
                "x                        10  20"]),
    (LONG, 3, ["name", "─" * 4, "ab…9", "and", "ab…0", "and"]),
    (LONG, 8, ["name", "─" * 8, "abcde…89", "and", "abcde…80", "and"]),
    (LONG, 30, ["name", "─" * 30, "abcdefghijklmnopqrst…123456789", "and", "abcdefghijklmnopqrst…123456780", "and"]),
    (LONG, 36, [f"name{' ' * 31}k", "─" * 36, "abcdefghijklmnopqrstuv…0123456789  9", "and",
                "abcdefghijklmnopqrstuv…0123456780  0", "and"]),
    (Table("t", ["left", "right", "n"], [["A", "Bbbbbbb", "1"], ["C", "D", "10"]], names=2, important=["n"]), 8,
     ["left   n", "─" * 8, "A      1", "C     10"]),
    (Table("t", ["n", "i"], [["A", "0.1 to 0.2"]]), 9, ["n", "─", "A", "Left out", "at 9"]),
    (Table("t", ["n", "i"], [["A", "0.1 to 0.2"]]), 13, ["n           i", "─" * 13, "A  0.1 to 0.2"]),
]  # fmt: skip


@pytest.mark.parametrize(("table", "width", "lines"), LAID_OUT)
def test_a_table_on_a_narrow_terminal_line_by_line(table, width, lines):
    """Headings end side by side; a name is shortened to 28 cells before a column goes; a number is never wrapped."""
    assert table_lines(table, width)[: len(lines)] == lines


@pytest.fixture
def terminal(monkeypatch):
    """Makes standard output a terminal of 40 columns; what is printed then."""

    def printed(*calls):
        shown = io.StringIO()
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: True, write=shown.write, encoding="utf-8"))
            for call in calls:
                call()
        return shown.getvalue().splitlines()

    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return printed


BOLD, CYAN, PLAIN = "\x1b[1m", "\x1b[36m", "\x1b[0m"


def test_a_terminal_has_colours_unless_it_is_told_not_to(terminal, monkeypatch):
    brief = Brief("A wins.", Table("t", ["name"], [["A"], ["B"]]), frozenset({"A"}))
    coloured = [f"{BOLD}A wins.{PLAIN}", "", "name", "────", f"{CYAN}A{PLAIN}", "B"]
    assert terminal(lambda: print_brief(brief)) == coloured
    for name, value in (("NO_COLOR", ""), ("TERM", "dumb")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert terminal(lambda: print_brief(brief)) == ["A wins.", "", "name", "────", "A", "B"]


def test_sentences_and_titles_are_wrapped_to_the_terminal(terminal):
    words = "one two three four five six seven eight nine ten"
    assert terminal(lambda: print_title("A title"), lambda: print_lines([words])) == [
        f"{BOLD}A title{PLAIN}", "one two three four five six seven eight", "nine ten",
    ]  # fmt: skip


def test_long_tables_of_an_answer_are_cut_and_its_sentences_end_it(capsys):
    def shown(rows, sentences):
        table = Table("t", ["name"], [[f"n{i}"] for i in range(rows)])
        print_answer(SimpleNamespace(sentences=sentences, tables=(table,), not_done=()))
        return capsys.readouterr().out.splitlines()

    few = Table("t", ["name"], [[f"n{i}"] for i in range(300)], most=3)
    print_answer(SimpleNamespace(sentences=(), tables=(few,), not_done=()))
    assert capsys.readouterr().out.splitlines()[3:] == [
        "n0", "n1", "n2", "and 297 more rows (--json or --out DIR has all)", "",
    ]  # fmt: skip
    whole, cut = shown(200, ("One.",)), shown(201, ("One.", "Two.", "Three.", "Four."))
    assert whole[-4:] == ["n199", "", "Answer", "One."]
    assert cut[cut.index("n59") :] == [
        "n59", "and 141 more rows (--json or --out DIR has all)", "", "Four.", "", "Answer", "One.", "Two.", "Three.",
    ]  # fmt: skip


def test_json_of_many_algorithms_is_one_line(capsys):
    print_json({"algorithms": ["é"] * (MANY_ALGORITHMS + 1)})
    one = capsys.readouterr().out
    print_json({"algorithms": ["é"] * MANY_ALGORITHMS})
    assert (one.count("\n"), one.count("é")) == (1, MANY_ALGORITHMS + 1)
    assert capsys.readouterr().out.count("\n") > MANY_ALGORITHMS
    with pytest.raises(ValueError, match="JSON"):
        print_json({"value": float("nan")})


def test_notes_and_files_are_told_on_stderr(capsys, tmp_path):
    print_notes(["first", "second"])
    print_saved([tmp_path / "a", tmp_path / "b"], tmp_path)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"note: first\nnote: second\nwrote 2 files to {tmp_path}\n"
