"""The page in a browser: parts that open on demand, dark pictures, a phone, print."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.slow

OPEN_ALL = "document.querySelectorAll('details.section').forEach(fold => fold.open = true)"


def test_a_reader_who_opens_nothing_has_read_the_study(page):
    address = page.url.partition("#")[0]
    page.goto("about:blank")  # others may have opened parts of the page before
    page.goto(address)
    folds = page.eval_on_selector_all("details.section", "folds => folds.map(f => f.open)")
    assert len(folds) > 8
    assert not any(folds)
    answers = page.eval_on_selector_all(".part details.section > summary .answer", "all => all.map(a => a.textContent)")
    assert all(len(answer) > 20 for answer in answers)
    assert page.evaluate("document.documentElement.scrollHeight") < 7000
    for shown in ("#verdict", "#board-table", "#board-difference svg"):
        assert page.is_visible(shown)
    assert not page.is_visible("#section-compare figure")


def test_nothing_appears_twice(page):
    titles = page.eval_on_selector_all("h2, h3", "all => all.map(one => one.textContent)")
    assert len(titles) == len(set(titles))
    assert page.query_selector("#figure-critical_difference") is None
    assert page.query_selector("#figure-performance_profiles") is None


def test_a_link_opens_what_it_points_to(page):
    page.evaluate("location.hash = '#figure-pairs'")
    page.wait_for_selector("#figure-pairs svg", state="visible")
    assert page.evaluate("document.getElementById('section-compare').open")


def colours(page, selector):
    return page.evaluate(
        """(selector) => {
          const svg = document.querySelector(selector);
          const style = (element) => getComputedStyle(element);
          return {
            page: style(document.body).backgroundColor,
            sheet: style(svg.closest(".picture")).backgroundColor,
            ink: [...svg.querySelectorAll("text")].map((text) => style(text).fill),
            white: [...svg.querySelectorAll("rect")].filter((rect) => style(rect).fill === "rgb(255, 255, 255)").length,
          };
        }""",
        selector,
    )


@pytest.mark.parametrize("selector", ["#board-difference svg", "#board-profiles svg", "#figure-leaderboard svg"])
def test_pictures_follow_the_dark_page(page, selector):
    page.evaluate(OPEN_ALL)
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    light = colours(page, selector)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    dark = colours(page, selector)
    assert light["page"] == "rgb(255, 255, 255)"
    assert dark["page"] != light["page"]
    assert dark["sheet"] == "rgba(0, 0, 0, 0)"  # no card: the page shines through
    assert dark["white"] == 0
    assert "rgb(27, 31, 36)" in light["ink"]
    assert "rgb(27, 31, 36)" not in dark["ink"]


def test_on_a_phone_nothing_is_cut(page):
    page.set_viewport_size({"width": 390, "height": 800})
    page.evaluate(OPEN_ALL)
    page.wait_for_function("document.querySelectorAll('.picture.wide').length > 3")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    cut = page.eval_on_selector_all(
        ".picture",
        """boxes => boxes.filter((box) => box.scrollWidth > box.clientWidth + 2
             && !(box.classList.contains("wide") && getComputedStyle(box).overflowX === "auto")).length""",
    )
    assert cut == 0


def test_print_opens_the_reasons_and_on_demand_every_section(page):
    page.evaluate("document.querySelectorAll('.folds details, details.section').forEach(fold => fold.open = false)")
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("[...document.querySelectorAll('.folds details')].every(fold => fold.open)")
    assert not page.evaluate("[...document.querySelectorAll('details.section')].some(fold => fold.open)")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.evaluate("document.documentElement.classList.add('print-all')")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("[...document.querySelectorAll('details.section')].every(fold => fold.open)")
    breaks = page.eval_on_selector_all(".part", "parts => parts.map(p => getComputedStyle(p).breakBefore)")
    assert set(breaks) == {"page"}
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.evaluate("document.documentElement.classList.remove('print-all')")
    assert not page.evaluate("[...document.querySelectorAll('details.section')].some(fold => fold.open)")
    page.emulate_media(media="screen")


def test_print_has_margins_and_few_pages(page, tmp_path):
    if page.context.browser.browser_type.name != "chromium":
        pytest.skip("only Chromium prints to a file")
    printed = page.pdf(format="A4", prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) <= 8
    assert "@page{margin:" in page.content()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_first_screen_has_headline_grade_and_forest(page, width):
    page.set_viewport_size({"width": width, "height": 800 if width == 1280 else 844})
    page.evaluate("window.scrollTo(0, 0)")
    for selector in (".grade", ".headline", "table.forest tbody tr:first-child svg.interval", "tr.possible .dot"):
        box = page.locator(f"#verdict {selector}").first.bounding_box()
        assert box["y"] + box["height"] <= (800 if width == 1280 else 844), selector
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.set_viewport_size({"width": 1280, "height": 800})
