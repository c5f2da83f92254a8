"""The documentation says what is true: its commands exist, its example runs, its links lead somewhere."""

from __future__ import annotations

import ast
import re
import shlex
from itertools import pairwise

import pytest

import recassay
from recassay.analysis.aggregation.rules import RULES
from recassay.api.reproduce import _HEAD
from recassay.core.registry import algorithms
from recassay.testing.results import synthetic_results
from support.places import ROOT

MADE_BY_THE_BUILD = {f"{name}.md" for name in ("algorithms", "metrics-list", "cli", "python", "results", "changelog")}
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])


def test_the_readme_names_the_two_commands():
    text = (ROOT / "README.md").read_text()
    assert "python3 dev.py demo" in text
    assert "python3 dev.py test" in text


def test_the_python_example_runs(tmp_path, monkeypatch, capsys):
    synthetic_results(6).write_csv(tmp_path / "results.csv")
    monkeypatch.chdir(tmp_path)
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S).group(1)
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102
    headline = recassay.rank("results.csv", "ndcg@10").verdict()[0]
    assert headline in capsys.readouterr().out
    assert len(headline.split()) <= 20


def test_the_readme_counts_the_algorithms():
    (stated,) = re.findall(r"the (\d+) algorithms that come along", (ROOT / "README.md").read_text())
    assert int(stated) == len(algorithms.names())


@pytest.mark.slow
def test_the_algorithm_of_the_documentation_keeps_the_promises():
    from recassay.testing import check_algorithm

    example = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "studies.md").read_text(), re.S).group(1)
    names: dict[str, object] = {}
    exec(compile(example, "studies.md", "exec"), names)  # noqa: S102
    check_algorithm(names["MyModel"])
    assert names["MyModel"].name == "MyModel"


def test_the_study_file_of_the_documentation_is_valid(tmp_path):
    from recassay import load_study

    text = re.search(r"```toml\n(.*?)```", (ROOT / "docs" / "studies.md").read_text(), re.S).group(1)
    (tmp_path / "study.toml").write_text(text)
    study = load_study(tmp_path / "study.toml")
    assert [algorithm.name for algorithm in study.algorithms] == ["MostPop", "EASE", "ItemKNN", "MyModel"]


def test_every_command_in_the_documentation_exists(cli):
    named = {m for page in PAGES for m in re.findall(r"recassay ([a-z]+) ", page.read_text())} - {"helped", "says"}
    shown = cli("help", "--all").out
    assert {"analyze", "rank", "compare"} <= named
    commands = {"help", *re.findall(r"^  ([a-z]+)  +\S", shown.partition("Start:")[2], re.M)}
    assert named - commands <= {"assays", "reproduces"}


@pytest.mark.slow
def test_every_option_in_the_documentation_exists():
    from recassay.cli.commands import BOARD, DATA, IRT, PROGRAM

    wrong = []
    for page in PAGES:
        for line in re.findall(r"^recassay (.+?)(?: +#.*)?$", page.read_text(), re.M):
            words = line.split()
            command = tuple(words[: 2 if words[0] in ("data", "irt", "board") else 1])
            group = {"data": DATA, "irt": IRT, "board": BOARD}.get(command[0], PROGRAM)
            known = group.known.get(command[-1])
            offered = {name for p in getattr(known, "params", ()) for name in (*p.opts, *p.secondary_opts)}
            wrong += [
                (page.name, line, o) for o in re.findall(r"(?<= )--?[a-z-]+", line) if o not in {*offered, "--help"}
            ]
    assert not wrong


EXAMPLES = sorted(
    {
        (command, shown)
        for page in PAGES
        for command, shown in re.findall(r"^```[a-z]*\n\$ (recassay [^\n]+)\n(.*?)^```", page.read_text(), re.S | re.M)
    }
)
"""Commands of pages with what they print; `...` on a line of its own stands for lines left out."""


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted({command for command, _ in EXAMPLES}))
def test_pages_show_what_commands_print(cli, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    ran = cli(*shlex.split(command)[1:])
    assert ran.code == 0
    printed = [line.rstrip() for line in (ran.out + ran.err).splitlines()]
    for shown in (shown for named, shown in EXAMPLES if named == command):
        rest = iter(printed)
        lines = [line.rstrip() for line in shown.splitlines() if line.strip() not in ("", "...")]
        assert [line for line in lines if line not in rest] == [], (
            "lines of the page that are not printed, or elsewhere"
        )


SHOWN = {
    f"{page.name}: {line}"
    for page in PAGES
    for block in re.findall(r"^```text\n(.*?)^```", page.read_text(), re.S | re.M)
    for line in block.splitlines()
}
"""What commands print of studies and papers that stand nowhere: their words are those of the program."""


def stated() -> str:
    """Every text of the program but docstrings, with one blank between words."""
    texts = []
    for path in (ROOT / "src" / "recassay").rglob("*.py"):
        described = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):  # what holds a text comes before it
            if isinstance(node, ast.Expr):
                described.add(id(node.value))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in described:
                texts.append(node.value)
    return " ".join(" | ".join(texts).split())


def phrases(line: str) -> list[str]:
    """Pairs of words in a printed line that no number, name or punctuation parts; the unit of a number is dropped."""
    kept = re.sub(r"\d\S*( %| [a-z]+)?|\S*[A-Z_/*]\S*|\w+\.\w+", "|", line)
    runs = [re.findall(r"[a-z-]+", part) for part in re.split(r"[^a-z -]+", kept)]
    return [" ".join(pair) for run in runs for pair in pairwise(run)]


def test_examples_without_a_study_are_worded_as_the_program_words_them():
    """Most pairs of words stand in the program; others it puts together from parts."""
    program = stated()
    assert len(SHOWN) > 10
    known = {line: [pair in program for pair in phrases(line)] for line in SHOWN}
    assert [line for line, found in known.items() if sum(found) < 0.6 * len(found) - 1] == []
    assert phrases("Of 40 cells run again, the RP3beta cell was wrong") == ["run again", "cell was", "was wrong"]


def test_the_page_of_reproduced_numbers_begins_as_the_program_begins_it():
    assert (ROOT / "docs" / "evidence" / "reproduction.md").read_text().startswith(_HEAD)


def test_the_first_example_is_on_both_front_pages():
    for page in (ROOT / "README.md", ROOT / "docs" / "index.md"):
        assert any(
            shown in page.read_text() for command, shown in EXAMPLES if command == "recassay rank published:kdd24"
        )


def test_every_variant_in_the_documentation_exists():
    from recassay.metrics.make import make_metric

    labels = {label for page in PAGES for label in re.findall(r"`([a-z]+@\d+(?:\[\w+\])?)`", page.read_text())}
    assert "map@10" in labels
    examples_of_mistakes = {"ndcg@0"}
    right = sorted(label for label in labels - examples_of_mistakes if not label.startswith(("hit@", "ndgc")))
    assert [make_metric(label).k for label in right]


def test_every_aggregation_is_documented():
    text = (ROOT / "docs" / "rank.md").read_text()
    assert all(f"`{name}`" in text for name in RULES)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text())
    missing = {n for n in links if not n.startswith("http") and not (page.parent / n).exists()}
    assert missing <= (MADE_BY_THE_BUILD if page.parent.name == "docs" else set())


def test_every_promise_names_a_test_that_exists():
    text = (ROOT / "docs" / "safety.md").read_text().partition("## Installation")[0]
    promises = re.findall(r"^- .*?(?=^- |^#|\Z)", text, re.M | re.S)
    assert len(promises) >= 25
    for promise in promises:
        named = re.findall(r"`(tests/[^`]+\.py)`", promise)
        assert named, promise[:80]
        assert [name for name in named if not (ROOT / name).is_file()] == []
