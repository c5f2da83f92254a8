"""Pictures and tables of many algorithms show the best and those that were asked for, and say so."""

from __future__ import annotations

import json
from types import SimpleNamespace as Made

import numpy as np
import pytest

from recassay.analysis.compare.fit import compare_algorithms
from recassay.analysis.ratings.fit import rate_by_pairs
from recassay.plots.grammar import Chart
from recassay.reporting.figures import build_sections, narrowed, narrowed_figures
from recassay.reporting.section import Figure, Table
from recassay.reporting.tables import html_section_table
from support.tables import matrix


def many(count: int):
    values = np.random.default_rng(0).random((count, 8)) + np.linspace(1, 0, count)[:, None]
    return matrix(values)


@pytest.fixture(scope="module")
def compared():
    return compare_algorithms(many(64), control="a60", draws=100)


def figures(result):
    return [figure for filled in build_sections({"x": result}) for figure in filled.figures]


def test_pictures_of_many_show_the_best_and_the_control(compared):
    ranked = compared.judgement.algorithms
    for figure in figures(compared):
        text = json.dumps(figure.spec)
        assert all(f'"{name}"' in text for name in ranked[:30])
        assert '"a60"' in text
        assert not any(f'"{name}"' in text for name in ranked[30:] if name != "a60")
    pairs = next(figure for figure in figures(compared) if figure.name == "pairs")
    assert pairs.caption.endswith("Shown are 31 of 64 algorithms, the best by mean rank.")
    assert pairs.spec["height"] < 900


def test_results_without_a_verdict_go_by_their_own_order():
    rated = rate_by_pairs(many(64), replicates=100)
    best = {rated.algorithms[a] for a in rated.order()[:30]}
    for figure in figures(rated):
        text = json.dumps(figure.spec)
        assert sum(f'"{name}"' in text for name in rated.algorithms) == 30
        assert all(f'"{name}"' in text for name in best)


def test_pictures_of_few_are_whole():
    found = compare_algorithms(many(12), draws=100)
    assert all("Shown are" not in figure.caption for figure in figures(found))
    assert all(f'"{name}"' in json.dumps(figures(found)[0].spec) for name in found.algorithms)


@pytest.mark.parametrize(("count", "hidden"), [(60, 0), (61, 30)])
def test_more_than_sixty_algorithms_are_many(count, hidden):
    names = [f"n{i:02d}" for i in range(count)]
    drawn = Chart([{"algorithm": name} for name in names]).mark("point").encode(y="algorithm:N")
    results = {"x": Made(judgement=Made(algorithms=names, control="n60"))}
    (figure,) = narrowed_figures([Figure("f", "Of all.", drawn, "t")], results)
    rows = [row["algorithm"] for row in figure.spec["data"]["values"]]
    assert rows == (names if not hidden else [*names[:30], "n60"])
    shown = "" if not hidden else " Shown are 31 of 61 algorithms, the best by mean rank."
    assert figure.caption == f"Of all.{shown}"


def test_rows_orders_and_colours_lose_the_same_names():
    def chart(names, colours, height):
        rows = [{"a": name, "v": 1} for name in names]
        colour = {"scale": {"domain": names, "range": colours}}
        return {"data": {"values": rows}, "height": height, "encoding": {"y": {"sort": names}, "color": colour}}

    whole = chart(["x", "y"], ["red", "blue"], 2000)
    assert narrowed(whole, frozenset({"x"}), 0.5) == chart(["y"], ["blue"], 1000)


@pytest.mark.parametrize(
    ("rows", "shown", "searched"), [(30, 30, False), (31, 31, True), (1000, 1000, True), (1001, 60, True)]
)
def test_a_long_table_has_a_search_box_and_a_list_of_pairs_is_cut(rows, shown, searched):
    made = html_section_table(Table("Pairs", ["name", "p"], [[f"n{i}", i] for i in range(rows)]))
    assert made.count("<tr>") == shown + 1
    assert ('type="search"' in made) == searched
    assert ('aria-label="Find in: Pairs"' in made) == searched
    assert (f"The first 60 of {rows:,} rows." in made) == (shown < rows)


def test_columns_of_names_are_set_as_words():
    made = html_section_table(Table("Pairs", ["left", "right", "p"], [["a", "b", "0.1"]], names=2, notes=["N."]))
    assert '<th scope="row">a</th><td>b</td><td class="n">0.1</td>' in made
    assert made.endswith('<p class="note">N.</p>')


def test_pictures_beside_a_verdict_show_the_algorithms_of_the_verdict():
    names = [f"n{i:02d}" for i in range(61)]
    judged = Made(judgement=Made(algorithms=names[::-1], control=None))
    own = Made(order=lambda: list(range(61)), algorithms=tuple(names))
    drawn = Figure("f", "C.", Chart([{"algorithm": name} for name in names]).mark("point"), "t")
    for results, first in (({"own": own, "x": judged}, "n60"), ({"own": own}, "n00")):
        (figure,) = narrowed_figures([drawn], results)
        rows = [row["algorithm"] for row in figure.spec["data"]["values"]]
        assert (len(rows), first in rows) == (30, True)
    plain = Figure("g", "C.", Chart([{"dataset": "d"}]).mark("point"), "t")
    assert narrowed_figures([plain], {"x": judged}) == [plain], "a picture that names none of them is whole"


def test_of_results_one_by_one_pictures_show_the_algorithms_of_the_verdict_of_all(monkeypatch):
    names = [f"n{i:02d}" for i in range(61)]
    judged = Made(judgement=Made(algorithms=names[::-1], control="n00"))
    own = Made(order=lambda: list(range(61)), algorithms=tuple(names), frames=lambda: {"t": None})
    drawn = Figure("f", "C.", Chart([{"algorithm": name} for name in names]).mark("point"), "t")
    section = Made(sentences=lambda result: [], tables=lambda result: [], figures=lambda result: [drawn])
    monkeypatch.setattr(
        "recassay.reporting.figures.with_sections", lambda told: [(section, name, told[name]) for name in told]
    )
    (filled,) = build_sections({"own": own, "compare": judged}, only="own")
    (figure,) = filled.figures
    assert {row["algorithm"] for row in figure.spec["data"]["values"]} == {"n00", *names[31:]}
