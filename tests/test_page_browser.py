"""The report in a real browser: it opens from disk, answers to its controls, and agrees with Python."""

from __future__ import annotations

import itertools
import re

import numpy as np
import polars as pl
import pytest
from scipy import stats

import browser as system
import recassay
from recassay.analysis.aggregate import rank_algorithms
from recassay.analysis.compare import compare_algorithms
from recassay.analysis.profiles import fit_profiles
from recassay.analysis.rules import RULES
from recassay.core.results import Results

pytestmark = [
    pytest.mark.skipif(system.why_not() is not None, reason=f"browser tests: {system.why_not()}"),
    pytest.mark.xdist_group("browser"),
]

HOSTILE = "<script>alert(1)</script>"
ALGORITHMS = ("Alpha", '"><img src=x onerror=alert(2)>', "Gamma", "Delta", "Epsilon", "Zeta")
DATASETS = (HOSTILE, *(f"d{i:02d}" for i in range(14)))
METRICS = ("ndcg@10", "hitrate@10", "novelty@10", "seconds_fit")


def table() -> pl.DataFrame:
    """Continuous values, values full of ties and zeros, one with gaps, and one where lower is better."""
    rng = np.random.default_rng(7)
    strength = np.linspace(0.2, 0.8, len(ALGORITHMS))
    rows = []
    for a, algorithm in enumerate(ALGORITHMS):
        for d, dataset in enumerate(DATASETS):
            smooth = strength[a] * rng.uniform(0.3, 1.0)
            gap = metric_gap(a, d)
            rows += [
                (algorithm, dataset, "ndcg@10", smooth),
                (algorithm, dataset, "hitrate@10", round(4 * smooth) / 4),
                (algorithm, dataset, "novelty@10", None if gap else 5 + rng.normal()),
                (algorithm, dataset, "seconds_fit", float(np.exp(rng.normal(a / 3)))),
            ]
    return pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row")


def metric_gap(a: int, d: int) -> bool:
    return (a, d) in {(0, 3), (2, 5), (2, 6)}


@pytest.fixture(scope="module")
def results() -> Results:
    return Results.from_frame(table())


@pytest.fixture(scope="module")
def report(results, tmp_path_factory):
    out = tmp_path_factory.mktemp("page") / "report.html"
    return recassay.report(results, "ndcg@10", out=out, replicates=200)


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=system.find(), args=list(system.ARGUMENTS))
        yield launched
        launched.close()


class Watched:
    """A page and everything it said, asked for or popped up."""

    def __init__(self, page) -> None:
        self.page, self.said, self.asked = page, [], []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: self.asked.append(request.url))


@pytest.fixture(scope="module")
def opened(chromium, report):
    page = chromium.new_page(viewport={"width": 1200, "height": 900})
    watched = Watched(page)
    page.goto(report.files[0].as_uri())
    yield watched
    page.close()


@pytest.fixture
def page(opened):
    opened.page.click("#board-reset")
    return opened.page


def choose(metric: str, rule: str, algorithms, datasets) -> dict:
    names, places = sorted(ALGORITHMS), sorted(DATASETS)
    return {
        "metric": METRICS.index(metric),
        "rule": list(RULES).index(rule),
        "algorithms": sorted(names.index(ALGORITHMS[a]) for a in algorithms),
        "datasets": sorted(places.index(DATASETS[d]) for d in datasets),
    }


def python_matrix(results: Results, choice: dict):
    algorithms = [sorted(ALGORITHMS)[a] for a in choice["algorithms"]]
    datasets = [sorted(DATASETS)[d] for d in choice["datasets"]]
    rows = results.frame.filter(pl.col("algorithm").is_in(algorithms) & pl.col("dataset").is_in(datasets))
    return Results(rows).matrix(METRICS[choice["metric"]], missing="drop-datasets")


CHOICES = [
    ("ndcg@10", range(6), range(15)),
    ("ndcg@10", (0, 2, 5), (1, 4, 5, 9)),
    ("ndcg@10", range(6), range(12)),
    ("hitrate@10", range(6), range(15)),
    ("hitrate@10", (0, 1, 2, 3), range(9)),
    ("novelty@10", range(6), range(15)),
    ("novelty@10", (1, 3, 4), range(15)),
    ("seconds_fit", range(6), range(15)),
    ("seconds_fit", (5, 1), (0, 1)),
]


def test_it_opens_from_disk_with_no_error_and_no_request(opened, report):
    opened.page.wait_for_selector("#board-table tbody tr")
    assert opened.said == []
    assert {re.sub(r"#.*", "", url) for url in opened.asked} == {report.files[0].as_uri()}


@pytest.mark.parametrize(("metric", "algorithms", "datasets"), CHOICES)
def test_every_aggregation_equals_python(page, results, metric, algorithms, datasets):
    for rule in RULES:
        choice = choose(metric, rule, algorithms, datasets)
        answer = page.evaluate("(choice) => RecAssay.compute(RecAssay.data, choice)", choice)
        matrix = python_matrix(results, choice)
        ranked = rank_algorithms(matrix, methods=[rule], replicates=100)
        assert [sorted(DATASETS)[d] for d in answer["datasets"]] == list(matrix.datasets)
        np.testing.assert_allclose(answer["scores"], ranked.rankings[rule].scores, rtol=1e-12, atol=1e-12)
        assert answer["ranks"] == ranked.rankings[rule].ranks.tolist()


@pytest.mark.parametrize(("metric", "algorithms", "datasets"), CHOICES)
def test_every_test_and_profile_equals_python(page, results, metric, algorithms, datasets):
    choice = choose(metric, "mean_rank", algorithms, datasets)
    answer = page.evaluate("(choice) => RecAssay.compute(RecAssay.data, choice)", choice)
    matrix = python_matrix(results, choice)
    compared, test = compare_algorithms(matrix, draws=100), answer["test"]

    def named(places):
        return tuple(matrix.algorithms[a] for a in places)

    assert named(test["order"]) == compared.algorithms
    assert [named((p["left"], p["right"])) for p in test["pairs"]] == [(p.left, p.right) for p in compared.pairs]
    np.testing.assert_allclose([p["p"] for p in test["pairs"]], [p.p for p in compared.pairs], rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose([p["pHolm"] for p in test["pairs"]], [p.p_holm for p in compared.pairs], rtol=1e-9)
    assert [named(g) for g in test["groups"]["wilcoxonHolm"]] == list(compared.groups["wilcoxon_holm"])
    assert [named(g) for g in test["groups"]["nemenyi"]] == list(compared.groups["nemenyi"])
    assert test["criticalDifference"] == pytest.approx(compared.nemenyi_cd, rel=1e-12)
    assert test["friedman"]["p"] == pytest.approx(compared.friedman.p_value_ties, rel=1e-10, abs=1e-15)
    assert test["friedman"]["fP"] == pytest.approx(compared.friedman.f_p_value_ties, rel=1e-10, abs=1e-15)
    profiles = fit_profiles(matrix)
    np.testing.assert_allclose(answer["shares"], profiles.auc, rtol=1e-12)
    corners = profiles.to_dict()["profiles"]
    for a, name in enumerate(matrix.algorithms):
        np.testing.assert_allclose(answer["profiles"][a], corners[name], rtol=1e-12)


@pytest.mark.parametrize("policy", ["drop-datasets", "drop-algorithms", "worst"])
def test_gaps_are_met_as_python_meets_them(page, results, policy):
    choice = choose("novelty@10", "mean", range(6), range(15))
    answer = page.evaluate(
        "([choice, missing]) => RecAssay.compute({...RecAssay.data, missing}, choice)", [choice, policy]
    )
    matrix = results.matrix("novelty@10", missing=policy)
    assert [sorted(ALGORITHMS)[a] for a in answer["algorithms"]] == list(matrix.algorithms)
    assert len(answer["holes"]) == len(matrix.missing.cells) == 3
    assert sorted(answer["dropped"]) == sorted(matrix.missing.dropped)
    np.testing.assert_allclose(answer["scores"], matrix.values.mean(axis=1), rtol=1e-12)


def test_negative_values_have_ranks_and_no_ratios(page):
    negated = """rule => {
      const data = structuredClone(RecAssay.data);
      data.metrics[0].values = data.metrics[0].values.map((row) => row.map((value) => -value));
      const all = (names) => names.map((_, i) => i);
      return RecAssay.compute(data, {metric: 0, rule, algorithms: all(data.algorithms), datasets: all(data.datasets)});
    }"""
    refused = page.evaluate(negated, list(RULES).index("dm_auc"))
    assert refused["problem"] == "DM AUC needs values of at least 0, and ndcg@10 has negative ones."
    ranked = page.evaluate(negated, list(RULES).index("mean_rank"))
    assert "profiles" not in ranked
    assert min(ranked["ranks"]) == 1


def test_wilcoxon_equals_scipy_for_any_number_of_datasets(page):
    rng = np.random.default_rng(3)
    cases = []
    for n in (2, 3, 5, 8, 13, 14, 30, 50, 51, 80):
        cases += [rng.normal(0.3, 1, n), rng.integers(-3, 5, n).astype(float), np.round(rng.normal(1, 1, n), 1)]
    cases = [case for case in cases if case.any()]
    found = page.evaluate("(cases) => cases.map(RecAssay.tests.wilcoxon)", [case.tolist() for case in cases])
    assert len(cases) >= 28
    np.testing.assert_allclose(found, [stats.wilcoxon(case).pvalue for case in cases], rtol=1e-9, atol=1e-13)


def shown_rows(page) -> dict[str, dict[str, str]]:
    rows = page.eval_on_selector_all(
        "#board-table tbody tr",
        "rows => rows.map(r => [r.dataset.name, "
        "[...r.querySelectorAll('td')].map(c => [c.dataset.key, c.textContent])])",
    )
    return {name: dict(cells) for name, cells in rows}


def test_switching_metric_and_aggregation_shows_pythons_numbers(page, results):
    for metric, rule in (("hitrate@10", "borda"), ("seconds_fit", "geometric_mean"), ("novelty@10", "mean")):
        page.select_option("#board-metric", label=metric)
        page.select_option("#board-rule", label=RULES[rule].title)
        ranked = rank_algorithms(results.matrix(metric, missing="drop-datasets"), methods=[rule], replicates=100)
        rows = shown_rows(page)
        assert list(rows) == sorted(
            ranked.algorithms, key=lambda n: (ranked.rankings[rule].ranks[ranked.algorithms.index(n)], n)
        )
        for a, name in enumerate(ranked.algorithms):
            assert float(rows[name]["score"]) == pytest.approx(float(ranked.rankings[rule].scores[a]), rel=5e-4)
            assert float(rows[name]["rank"]) == ranked.rankings[rule].ranks[a]
        assert "first" not in rows[name]
    note = page.text_content("#board-note")
    assert "whole selection only" in note
    assert all(f"d{d:02d}" in note for d in (2, 4, 5))


def test_intervals_are_those_python_computed(page, report):
    ranking = report.analyses["rank"].rankings["mean_rank"]
    rows = shown_rows(page)
    for a, name in enumerate(report.analyses["rank"].algorithms):
        low, high = (float(end) for end in rows[name]["low"].split(" to "))
        assert (low, high) == pytest.approx(tuple(ranking.score_interval[a]), rel=1e-3)
        assert float(rows[name]["first"]) == pytest.approx(ranking.probability_best[a], abs=0.0051)


def test_leaving_datasets_and_algorithms_out_changes_the_numbers(page, results):
    whole = shown_rows(page)
    page.click("summary:has(#count-datasets)")
    page.click("summary:has(#count-algorithms)")
    page.uncheck("#choose-datasets label:has-text('d03') input")
    page.uncheck(f"#choose-datasets label:has-text('{HOSTILE}') input")
    page.uncheck("#choose-algorithms label:has-text('Zeta') input")
    rows = shown_rows(page)
    left = results.frame.filter(~pl.col("dataset").is_in(["d03", HOSTILE]) & (pl.col("algorithm") != "Zeta"))
    compared = compare_algorithms(Results(left).matrix("ndcg@10"), draws=100)
    assert set(rows) == set(whole) - {"Zeta"}
    assert "first" not in rows["Alpha"]
    for name, rank in zip(compared.algorithms, compared.mean_ranks, strict=True):
        assert float(rows[name]["meanRank"]) == pytest.approx(rank, rel=5e-4)
    assert "5 algorithms over 13 datasets" in page.text_content("#board-status")
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
    curve = page.locator("#figure-performance_profiles .mark-line path[data-n]").first
    name = page.evaluate("n => RecAssay.data.algorithms[n].name", curve.get_attribute("data-n"))
    curve.scroll_into_view_if_needed()
    curve.dispatch_event("pointermove", {"bubbles": True, "clientX": 500, "clientY": 400})
    assert page.text_content("#tip").startswith(name)
    assert "share of datasets within it:" in page.text_content("#tip")
    assert "dimmed" in page.get_attribute("#figure-performance_profiles svg.chart", "class")
    page.select_option("#highlight", label="Gamma")
    lit = page.eval_on_selector_all("svg.chart.dimmed", "charts => charts.length")
    assert lit >= 6
    assert page.locator("#board-table tr.lit").count() == 1
    page.keyboard.press("Escape")
    assert page.locator("svg.chart.dimmed").count() == 0


def test_definitions_and_numbers_open_from_their_links(page):
    page.click("#figure-leaderboard a:has-text('Definition')")
    assert page.locator("#definition-aggregations[open]").count() == 1
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
def test_pictures_light_dark_and_narrow(chromium, report, tmp_path, scheme, width):
    page = chromium.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page.goto(report.files[0].as_uri())
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
