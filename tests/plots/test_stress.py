"""The pictures of the stress tests hold the numbers of the result, whatever the names."""

from __future__ import annotations

import numpy as np
import pytest

from recassay.analysis.stress.fit import stress_rankings
from recassay.core.tables.matrix import Matrix
from recassay.reporting.drawing import render
from recassay.reporting.figures import figures
from recassay.reporting.sections.stress import SECTION

NASTY = "<script>alert('1')</script> \\ \"quoted\" and far too long a name for any picture to show whole"
PICTURES = ("stress_conclusions", "stress_signs", "stress_datasets", "stress_algorithms", "stress_additions")


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(4)
    names = (NASTY, *(f"Algorithm {i:02d}" for i in range(1, 6)))
    values = 1 / (1 + np.exp(-(np.linspace(0, 1.5, 6)[:, None] + rng.normal(0, 0.6, (6, 10)))))
    table = Matrix(values, names, tuple(f"d{i}" for i in range(10)), "ndcg@10", True)
    return stress_rankings(table, methods=["mean", "copeland", "dm_auc"], draws=100)


@pytest.fixture(scope="module")
def drawn(result):
    return {figure.name: figure for figure in figures({"stress": result})}


def test_the_section_tells_the_verdict_and_draws_five_pictures(result, drawn):
    assert SECTION.part == "robustness"
    assert SECTION.sentences(result) == result.verdict()
    assert tuple(drawn) == PICTURES
    assert {figure.table for figure in drawn.values()} <= set(result.frames())


def test_pictures_carry_the_numbers(result, drawn):
    dropping = drawn["stress_datasets"].spec
    assert [panel["title"]["text"] for panel in dropping["concat"]] == result.titles
    assert {row["rho"] for row in dropping["data"]["values"]} == set(result.curves["drop_datasets"].rho.ravel())
    signs = render(drawn["stress_signs"].drawn, "svg").decode()
    assert signs.count(">NA<") == sum(sign == "NA" for row in result.signs for sign in row.signs) == 2
    assert len(drawn["stress_additions"].spec["hconcat"]) == 3


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_comes_out_and_carries_no_script(drawn, name):
    svg = render(drawn[name].drawn, "svg")
    assert svg.startswith(b"<svg")
    assert b"<script" not in svg
