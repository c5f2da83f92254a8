"""The report in a real browser: it opens from disk, answers to its controls, and serves every reader."""

from __future__ import annotations

import itertools
import re

import polars as pl
import pytest

from recassay.analysis.aggregation.rules import RULES
from recassay.analysis.rank.fit import rank_algorithms
from recassay.analysis.verdict.fit import judge
from recassay.core.tables.results import Results
from support.browser import ALGORITHMS, needs_browser
from support.shared import HOSTILE

pytestmark = needs_browser


def test_it_opens_from_disk_with_no_error_and_no_request(opened, page_report):
    opened.page.wait_for_selector("#board-table tbody tr")
    assert opened.said == []
    assert {re.sub(r"#.*", "", url) for url in opened.asked} == {page_report.out.as_uri()}


def shown_rows(page) -> dict[str, dict[str, str]]:
    rows = page.eval_on_selector_all(
        "#board-table tbody tr",
        "rows => rows.map(r => [r.dataset.name, "
        "[...r.querySelectorAll('td')].map(c => [c.dataset.key, c.textContent])])",
    )
    return {name: dict(cells) for name, cells in rows}


def test_switching_metric_and_aggregation_shows_pythons_numbers(page, page_results):
    for metric, rule in (("hitrate@10", "borda"), ("seconds_fit", "geometric_mean"), ("novelty@10", "mean")):
        page.select_option("#board-metric", label=metric)
        page.select_option("#board-rule", label=RULES[rule].title)
        ranked = rank_algorithms(page_results.matrix(metric, missing="drop-datasets"), methods=[rule], replicates=100)
        rows = shown_rows(page)
        assert list(rows) == sorted(
            ranked.algorithms, key=lambda n: (ranked.rankings[rule].ranks[ranked.algorithms.index(n)], n)
        )
        for a, name in enumerate(ranked.algorithms):
            assert float(rows[name]["score"]) == pytest.approx(float(ranked.rankings[rule].scores[a]), rel=5e-4)
            assert float(rows[name]["rank"]) == ranked.rankings[rule].ranks[a]
        assert rows[name]["groups"] in judge(page_results.matrix(metric, missing="drop-datasets")).groups
    note = page.text_content("#board-note")
    assert "whole selection only" in note
    assert all(f"d{d:02d}" in note for d in (2, 4, 5))


def test_algorithms_that_tie_share_their_places(page, page_results):
    page.select_option("#board-rule", label=RULES["plurality"].title)
    ranked = rank_algorithms(page_results.matrix("ndcg@10"), methods=["plurality"], replicates=100)
    ranks, rows = ranked.rankings["plurality"].ranks.tolist(), shown_rows(page)
    assert any(ranks.count(rank) > 1 for rank in ranks)
    for name, rank in zip(ranked.algorithms, ranks, strict=True):
        tied = ranks.count(rank)
        first = rank - (tied - 1) / 2
        assert rows[name]["rank"] == (f"{rank:g}" if tied == 1 else f"{first:g} to {first + tied - 1:g}")


def test_intervals_are_those_python_computed(page, page_results):
    ranked = rank_algorithms(page_results.matrix("ndcg@10"))
    ranking = ranked.rankings["mean_rank"]
    rows = shown_rows(page)
    for a, name in enumerate(ranked.algorithms):
        low, high = (float(end) for end in rows[name]["low"].split(" to "))
        assert (low, high) == pytest.approx(tuple(ranking.score_interval[a]), rel=1e-3)
        assert float(rows[name]["again"]) == pytest.approx(ranked.probability_best[a], abs=0.0051)
        assert float(rows[name]["share"]) == pytest.approx(ranking.resampling_share[a], abs=0.0051)
        assert rows[name]["could"] == ("yes" if name in ranked.possible_winners() else "no")


def test_leaving_datasets_and_algorithms_out_changes_the_numbers(page, page_results):
    whole = shown_rows(page)
    page.click("summary:has(#count-datasets)")
    page.click("summary:has(#count-algorithms)")
    page.uncheck("#choose-datasets label:has-text('d03') input")
    page.uncheck(f"#choose-datasets label:has-text('{HOSTILE}') input")
    page.uncheck("#choose-algorithms label:has-text('Zeta') input")
    rows = shown_rows(page)
    left = page_results.frame.filter(~pl.col("dataset").is_in(["d03", HOSTILE]) & (pl.col("algorithm") != "Zeta"))
    judged = judge(Results(left).matrix("ndcg@10"))
    assert set(rows) == set(whole) - {"Zeta"}
    assert {"groups", "p", "could", "low", "again"}.isdisjoint(rows["Alpha"]), "nothing of it was tested"
    assert {"groups", "p", "could"} <= set(whole["Alpha"])
    for name, rank in zip(judged.algorithms, judged.mean_rank, strict=True):
        assert "meanRank" not in rows[name], "the score is the mean rank: it stands once"
        assert float(rows[name]["score"]) == pytest.approx(rank, rel=5e-4)
    status = page.text_content("#board-status")
    assert "5 algorithms over 13 datasets. Ranks of your selection; no test was made for it." in status
    assert page.locator("#board-difference svg line[stroke-linecap=round]").count() == 0, "no bar without a test"
    assert page.locator("#board-difference svg text", has_text="Zeta").count() == 0
    page.click("#choose-datasets button:has-text('none')")
    assert "at least two" in page.text_content("#board-status")


def test_sorting_and_finding(page):
    page.click("#board-table th button[data-key=name]")
    assert list(shown_rows(page)) == sorted(ALGORITHMS)
    assert page.get_attribute("#board-table th:has(button[data-key=name])", "aria-sort") == "ascending"
    page.focus("#board-table th button[data-key=firsts]")
    page.keyboard.press("Enter")
    firsts = [float(row["firsts"]) for row in shown_rows(page).values()]
    assert firsts == sorted(firsts, reverse=True)
    page.keyboard.press("Enter")
    firsts = [float(row["firsts"]) for row in shown_rows(page).values()]
    assert firsts == sorted(firsts)
    page.fill("#board-find", "LTA")
    assert list(shown_rows(page)) == ["Delta"]


def test_hostile_names_are_text(page, opened):
    assert page.locator("main img").count() == 0
    assert page.locator("script").count() == 2
    assert HOSTILE in page.text_content("#glance")
    assert page.locator("#choose-datasets label", has_text=HOSTILE).count() == 1
    assert page.locator("svg.chart text", has_text="<script>").count() >= 3
    assert page.locator("#board-table th", has_text=ALGORITHMS[1]).count() == 1
    assert opened.said == []


def test_hover_tells_values_and_lights_one_algorithm(page):
    page.evaluate("location.hash = '#figure-glicko_ratings'")
    curve = page.locator("#figure-glicko_ratings [data-n][data-v]").first
    name = page.evaluate("n => RecAssay.data.algorithms[n].name", curve.get_attribute("data-n"))
    curve.scroll_into_view_if_needed()
    curve.dispatch_event("pointermove", {"bubbles": True, "clientX": 500, "clientY": 400})
    assert name in page.text_content("#tip")
    assert "rating:" in page.text_content("#tip")
    assert "dimmed" in page.get_attribute("#figure-glicko_ratings svg.chart", "class")
    page.select_option("#highlight", label="Gamma")
    lit = page.eval_on_selector_all("svg.chart.dimmed", "charts => charts.length")
    assert lit >= 6
    assert page.locator("#board-table tr.lit").count() == 1
    page.click("#board-table thead button >> nth=1")  # what is drawn again is lit again
    assert page.locator("#board-table tr.lit").count() == 1
    page.keyboard.press("Escape")
    assert page.locator("svg.chart.dimmed").count() == 0


def test_definitions_and_numbers_open_from_their_links(page):
    page.click("#section-rank > summary")
    page.click("#figure-leaderboard a:has-text('Definition')")
    page.wait_for_selector("#definition-rank[open]", state="attached")
    assert page.url.endswith("#definition-rank")
    targets = page.eval_on_selector_all("a[href^='#']", "links => links.map(a => a.getAttribute('href').slice(1))")
    assert all(page.evaluate("id => document.getElementById(id) !== null", target) for target in set(targets))


def test_a_reader_without_eyes_or_mouse_is_served(page):
    assert page.eval_on_selector_all("svg.chart", "s => s.every(c => c.getAttribute('role') === 'img' && c.ariaLabel)")
    assert page.eval_on_selector_all("main th", "cells => cells.every(c => c.closest('.definition') || c.scope)")
    assert page.eval_on_selector_all("select, input", "fields => fields.every(f => f.labels.length === 1)")
    levels = page.eval_on_selector_all("h1, h2, h3", "heads => heads.map(h => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    identifiers = page.eval_on_selector_all("[id]", "all => all.map(e => e.id)")
    assert len(identifiers) == len(set(identifiers))


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 1200), ("light", 390), ("dark", 390)])
def test_pictures_light_dark_and_narrow(chromium, page_report, tmp_path, scheme, width):
    page = chromium.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page.goto(page_report.out.as_uri())
    page.wait_for_selector("#board-table tbody tr")
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    assert page.evaluate("document.documentElement.scrollWidth") == width
    shot = tmp_path / f"{scheme}-{width}.png"
    page.screenshot(path=shot, full_page=True)
    assert shot.stat().st_size > 50_000
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.close()


def test_the_algorithm_that_a_page_is_about_is_lit_from_the_start(opened, page_report, tmp_path):
    text = page_report.out.read_text(encoding="utf-8")
    assert text.count('"fewest":') == 1
    about = tmp_path / "about.html"
    about.write_text(text.replace('"fewest":', '"about":2,"fewest":'), encoding="utf-8")
    page = opened.page.context.browser.new_page()
    page.goto(about.as_uri())
    page.wait_for_selector("#board-table tr.lit")
    assert page.locator("#board-table tr.lit").get_attribute("data-name") == page.evaluate(
        "RecAssay.data.algorithms[2].name"
    )
    assert page.locator("#highlight").input_value() == "2"
    page.close()
