"""The recipes of the documentation, command by command, in an empty folder."""

from __future__ import annotations

import re
import shlex

import numpy as np
import polars as pl
import pytest

from recassay.data.sources import open_dataset
from recassay.testing import check_algorithm
from recassay.testing.results import synthetic_results
from support.places import ROOT
from support.shared import only_analyses

TEXT = (ROOT / "docs" / "how-to.md").read_text()


def blocks(text: str) -> list[tuple[str, str]]:
    """The fenced blocks of a page: the language and the lines."""
    found: list[tuple[str, list[str]]] = []
    inside = False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = not inside
            if inside:
                found.append((line[3:], []))
        elif inside:
            found[-1][1].append(line)
    return [(language, "\n".join(lines)) for language, lines in found]


RECIPES = {
    title: [line for kind, text in blocks(body) if not kind for line in text.splitlines()]
    for title, body in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", TEXT, re.S | re.M)
}
TUTORIALS = (ROOT / "docs" / "tutorials.md").read_text()
STEPS = {
    title: [line for kind, text in blocks(body) if not kind for line in text.splitlines()]
    for title, body in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", TUTORIALS, re.S | re.M)
}
EXAMPLE = next(text for kind, text in blocks(TEXT) if kind == "python")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What the recipes speak of: a results table, characteristics, ratings, and the class of the example."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECASSAY_HOME", str(tmp_path / "home"))
    results = synthetic_results(8)
    results.write_csv("results.csv")
    rng = np.random.default_rng(1)
    datasets = results["dataset"].unique().sort()
    names = ("Nu", "Ni", "Density", "Giniu", "APB")
    pl.DataFrame({"dataset": datasets, **{name: np.exp(rng.normal(size=8)) for name in names}}).write_csv(
        "characteristics.csv"
    )
    events = open_dataset("synthetic:few-items").interactions
    pl.DataFrame({"user": events.user, "item": events.item, "timestamp": events.time}).write_csv("ratings.csv")
    for name, shift in (("mine", 0), ("theirs", 7)):
        lists = [
            f"{user},{(user + place + shift) % 60},{10 - place}"
            for user in range(events.n_users)
            for place in range(10)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(["user,item,score", *lists]))
    (tmp_path / "popularity.py").write_text(EXAMPLE)
    return tmp_path


def test_the_recipes_are_found():
    assert sum(map(len, RECIPES.values())) >= 10


@pytest.mark.parametrize("title", [title for title, lines in RECIPES.items() if lines])
@pytest.mark.usefixtures("in_process")
def test_a_recipe_runs(title, folder, cli, monkeypatch):
    only_analyses(monkeypatch, "rank", "compare", "profiles")
    for line in RECIPES[title]:
        ran = cli(*shlex.split(line)[1:])
        assert ran.code == 0, (line, ran.err)
    if "LaTeX" in title:
        assert "\\toprule" in (folder / "tests" / "tables" / "mean_ranks.tex").read_text()
        assert (folder / "tests" / "figures" / "critical_difference.pdf").read_bytes().startswith(b"%PDF")
    if "results that I already have" in title:
        assert (folder / "verdict" / "report.html").is_file()


def test_the_algorithm_keeps_the_promises():
    names: dict[str, object] = {}
    exec(compile(EXAMPLE, "how-to.md", "exec"), names)  # noqa: S102
    check_algorithm(names["Popularity"])
    assert names["Popularity"].name == "Popularity"


@pytest.mark.slow
@pytest.mark.parametrize("title", [title for title, lines in STEPS.items() if lines])
@pytest.mark.usefixtures("in_process")
def test_a_tutorial_runs(title, folder, cli, monkeypatch):
    only_analyses(monkeypatch, "rank", "compare", "profiles")
    texts = dict(blocks(TUTORIALS))
    (folder / "mine.py").write_text(texts["python"])
    (folder / "study.toml").write_text(texts["toml"])
    for line in STEPS[title]:
        ran = cli(*shlex.split(line)[1:])
        assert ran.code == 0, (line, ran.err, ran.out)


def test_the_tutorials_are_five():
    assert len(STEPS) == 5
