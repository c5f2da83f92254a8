"""Pictures and tables of many algorithms show the best and those that were asked for, and say so."""

from __future__ import annotations

import json
from types import SimpleNamespace as Made

import numpy as np
import pytest

from recassay.analysis.compare.fit import compare_algorithms
from recassay.analysis.ratings.fit import rate_by_pairs
from recassay.core.vocabulary import USUAL
from recassay.plots.grammar import marks
from recassay.plots.shown import ALL, Shown
from recassay.reporting.figures import build_sections, shown_of
from recassay.reporting.section import Plot, Plots, Table
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
    shown = shown_of({"x": Made(judgement=Made(algorithms=names, control="n60"))})
    assert shown.of(names) == (names if not hidden else [*names[:30], "n60"])
    assert (len(shown.hidden), shown is ALL) == (hidden, not hidden)


def test_a_drawing_that_takes_the_algorithms_to_show_gets_them_and_its_caption_says_so():
    def narrow(result, words, shown):
        return marks(shown.rows(result.rows), "point")

    plots = Plots([Plot("narrow", "Of all.", narrow), Plot("whole", "Of {datasets}.", lambda result: "whole")])
    names = ["a", "b", "c"]
    result = Made(rows=[{"algorithm": name} for name in names])
    first, second = plots(result, USUAL, Shown(frozenset({"b"}), 3))
    assert [row["algorithm"] for row in first.spec["data"]["values"]] == ["a", "c"]
    assert first.caption == "Of all. Shown are 2 of 3 algorithms, the best by mean rank."
    assert (second.drawn, second.caption) == ("whole", "Of datasets.")
    assert [figure.caption for figure in plots(result)] == ["Of all.", "Of datasets."]
    assert len(plots[0](result).spec["data"]["values"]) == 3


def test_rows_are_kept_that_name_none_of_the_hidden():
    rows = [{"row": "a", "column": "b"}, {"row": "b", "column": "a"}, {"row": "c", "column": "c"}]
    assert Shown(frozenset({"b"}), 3).rows(rows, "row") == [rows[0], rows[2]]
    assert Shown(frozenset({"b"}), 3).rows(rows, "row", "column") == [rows[2]]
    assert ALL.rows(rows, "row") == rows


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
    assert shown_of({"own": own, "x": judged}).of(names) == names[31:]
    assert shown_of({"own": own}).of(names) == names[:30]


def test_of_results_one_by_one_pictures_show_the_algorithms_of_the_verdict_of_all(monkeypatch):
    names = [f"n{i:02d}" for i in range(61)]
    judged = Made(judgement=Made(algorithms=names[::-1], control="n00"))
    own = Made(order=lambda: list(range(61)), algorithms=tuple(names), frames=lambda: {"t": None})
    draw = Plot("f", "C.", lambda result, shown: marks(shown.rows([{"algorithm": n} for n in names]), "point"), "t")
    section = Made(sentences=lambda result: [], tables=lambda result: [], figures=Plots([draw]))
    monkeypatch.setattr(
        "recassay.reporting.figures.with_sections", lambda told: [(section, name, told[name]) for name in told]
    )
    (filled,) = build_sections({"own": own, "compare": judged}, only="own")
    (figure,) = filled.figures
    assert {row["algorithm"] for row in figure.spec["data"]["values"]} == {"n00", *names[31:]}
