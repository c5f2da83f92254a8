"""The page in a browser: parts that open on demand, dark pictures, a phone, print."""

from __future__ import annotations

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


def test_print_opens_every_part_and_begins_each_on_a_new_page(page):
    page.evaluate("document.querySelectorAll('details.section').forEach(fold => fold.open = false)")
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("[...document.querySelectorAll('details.section')].every(fold => fold.open)")
    breaks = page.eval_on_selector_all(".part", "parts => parts.map(p => getComputedStyle(p).breakBefore)")
    assert set(breaks[1:]) == {"page"}
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert not page.evaluate("[...document.querySelectorAll('details.section')].some(fold => fold.open)")
    page.emulate_media(media="screen")
