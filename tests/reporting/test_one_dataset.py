"""The first screen of a page about one dataset: headline, means, uplift, cost, and who gains."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from xml.etree import ElementTree

import polars as pl
import pytest

from recassay.analysis.users.result import DatasetUsers, Gain, Reference, Uplift, UserPair, UsersResult
from recassay.core.tables.facts import StudyFacts
from recassay.core.tables.results import Results
from recassay.reporting.content import ReportContent
from recassay.reporting.numbers import even_uplifts
from recassay.reporting.page.board import one_dataset
from recassay.reporting.page.intervals import Axis
from recassay.reporting.page.one_dataset import users_card
from recassay.reporting.page.scatter import Point, scatter
from recassay.reporting.page.top import top
from recassay.reporting.tables import html_table

NAMES = ("EASE <b>", "ALS", "MostPop")


def pair(left: str, right: str, *, significant: bool) -> UserPair:
    return UserPair(left, right, 0.1, 0.09, 0.11, None, 0.1, 0.012, 0.024, significant, 30, 10, 20)


def gain(by: str, low: int, high: int, difference: float) -> Gain:
    return Gain(by, low, high, 40, 60, NAMES[0], "MostPop", 0.3, 0.2, difference, difference - 0.01, difference + 0.01)


USERS = DatasetUsers(
    "orders", 1234, 0, NAMES, (0.3, 0.2, 0.1), (0.29, 0.19, 0.09), (0.31, 0.21, 0.11),
    (pair(*NAMES[:2], significant=False), pair(NAMES[0], NAMES[2], significant=True),
     pair(*NAMES[1:], significant=True)),
    reference=Reference("MostPop", "most popular"), uplifts=(Uplift(2.0, 1.8, 2.2), Uplift(1.0, 0.9, 1.1), None),
    gains=(gain("activity", 1, 9, 0.02), gain("activity", 10, 99, -0.02), gain("popularity", 3, 3, 0.001)),
)  # fmt: skip
RESULT = UsersResult("ndcg@10", True, NAMES, (USERS,), (), 0.05, 0.95, 1000, {})
COSTS = {"seconds_fit": (3.0, 0.5, 0.01), "seconds_predict": (0.5, 0.25, 0.1), "memory": (900.0, 300.0, 200.0)}


def content(result: UsersResult = RESULT, **costs: tuple[float, ...]) -> ReportContent:
    measured = {"ndcg@10": (0.3, 0.2, 0.1), "coverage@10": (0.5, 12.25, 0.001), **costs}
    rows = [(name, "orders", metric, values[i]) for metric, values in measured.items() for i, name in enumerate(NAMES)]
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row")
    return ReportContent("ndcg@10", True, Results.from_frame(frame), {"users": result}, {})


def test_the_first_screen_answers_first() -> None:
    page = str(top(content(**COSTS), []))
    ElementTree.fromstring(f"<div>{page.replace(' hidden', '')}</div>".replace("&nbsp;", " "))
    headline = re.search(r'<h2 id="verdict-title"[^>]*>(.*?)</h2>', page)[1].replace("\u00a0", " ")
    assert headline == (
        "EASE &lt;b&gt; or ALS is best on orders by nDCG@10; EASE &lt;b&gt; is 200 % better than MostPop."
    )
    order = [page.index(text) for text in ("verdict-title", 'class="forest means"', 'class="cost"', 'class="gains"')]
    assert order == sorted(order)
    assert page.count("not of other datasets") == 1, "what it generalises to is said once"


def test_means_have_even_digits_and_the_reference_is_marked() -> None:
    page = str(users_card(content(), RESULT))
    assert re.findall(r'<td class="mean">([0-9.]+)</td>', page)[:3] == ["0.300", "0.200", "0.100"]
    assert [row for row in re.findall(r'<tr class="([^"]*)" data-name', page)] == [
        "possible", "possible", "behind reference",
    ]  # fmt: skip
    assert re.findall(r'<td class="uplift">([^<]*)', page) == ["+200 %", "+100 %", "reference"]
    assert re.findall(r'<td class="limits">([^<]*)', page) == ["+180 to +220", "+90 to +110", ""]
    assert "the dashed line is the reference, MostPop" in page
    bare = replace(USERS, reference=None, uplifts=(), gains=())
    page = str(users_card(content(), replace(RESULT, datasets=(bare,))))
    assert not re.search("uplift|reference|Who gains|cost", page)


def test_accuracy_against_cost_has_a_panel_for_each_cost_that_is_known() -> None:
    page = str(users_card(content(**COSTS), RESULT))
    labels = re.findall(r"<g[^>]*><title>([^<]*)</title>", page)
    assert len(labels) == 9
    assert "ALS: nDCG@10 0.2, seconds to train 0.5" in labels
    assert "ALS: nDCG@10 0.2, users served per second 4.94e+03" in labels, "1,234 users in 0.25 s"
    some = str(users_card(content(seconds_fit=(1.0, 2.0, 0.0)), RESULT))
    assert some.count('class="scatter"') == 1
    assert "MostPop: nDCG@10" not in some, "no time was measured"


def test_numbers_of_a_table_are_aligned_and_have_the_same_decimals() -> None:
    frame = pl.DataFrame({"name": ["a", "b"], "value": [0.5, 0.12345], "seconds": [0.0012, 300.0], "p": [0.5, 1e-9]})
    page = str(html_table(frame, "numbers"))
    assert re.findall(r'<td class="n">([^<]*)', page) == ["0.5000", "0.0012", ".500", "0.1235", "300", "&lt; .001"]
    assert re.findall(r'<th scope="col" class="n">([^<]*)', page) == ["value", "seconds", "p"]


def test_uplifts_of_a_column_have_the_same_decimals() -> None:
    assert even_uplifts([(0.051, -0.012, 0.1), None]) == (["+5.1 %", ""], ["-1.2 to +10.0", ""])
    assert even_uplifts([(0.051, -0.012, 1.2)]) == (["+5 %"], ["-1 to +120"])
    assert even_uplifts([(0.5, 0.1, float("inf"))])[1] == ["from +10.0"]


def test_the_first_caution_is_said_once() -> None:
    failed = (SimpleNamespace(algorithm="X", dataset="orders", status="failed", reason="no luck", cells=1),)
    facts = StudyFacts("s", "", 9, 5, 3, failed=failed, deviations=("Another seed was run.",))
    page = str(top(replace(content(), facts=facts), []))
    assert page.count("1 of 9 cells failed") == 1
    assert "1 of 9 cells failed" in page[: page.index('id="warnings"')]
    assert "Another seed was run." in page[page.index('id="warnings"') :]


def test_who_gains_and_who_loses() -> None:
    page = str(users_card(content(), RESULT))
    gains = page[page.index("Who gains and who loses") :]
    assert re.findall(r'<tr class="(possible|lost|behind)"><th scope="row" class="name">([^<]*)', gains) == [
        ("possible", "1 to 9"), ("lost", "10 to 99"), ("behind", "3"),
    ]  # fmt: skip
    assert re.findall(r'<td class="mean">([^<]*)', gains) == ["+0.0200", "-0.0200", "+0.00100"]


def test_the_leaderboard_of_one_dataset_has_every_metric_with_its_own_digits() -> None:
    page = str(one_dataset(content(**COSTS)))
    assert re.findall(r'<th scope="col"[^>]*>([^<]*)', page)[:3] == ["algorithm", "nDCG@10", "Coverage@10"]
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", page)
    assert re.findall(r'<td class="n">([^<]*)', rows[1])[:2] == ["0.200", "12.2"]


@pytest.mark.parametrize(("low", "high"), [(0.0368, 0.055), (0.0, 0.0), (-3.0, 900.0), (1e-7, 3e-7)])
def test_an_axis_has_round_ticks_within_reach(low: float, high: float) -> None:
    axis = Axis.around([low, high, float("nan")])
    ticks = axis.ticks()
    assert 1 <= len(ticks) <= 4
    for value, text in ticks:
        assert axis.low - 1e-12 <= value <= axis.high + 1e-12
        assert float(text) == pytest.approx(value, abs=1e-12)
    assert (axis.place(axis.low), axis.place(axis.high)) == ("3.00%", "97.00%")


def test_labels_of_a_scatter_stay_inside_and_apart() -> None:
    points = [Point(f"algorithm {i}", 1.0 + i / 100, 0.1, best=False) for i in range(6)]
    drawn = str(scatter(points, across="seconds", up="nDCG@10", right_is_better=False))
    heights = sorted(float(y) for y in re.findall(r'y="([0-9.]+)"[^>]*>algorithm', drawn))
    assert all(after - before >= 10.9 for before, after in pairwise(heights))
    assert min(heights) > 0
    assert "← seconds" in drawn
