"""The board of the open benchmark: its page in a browser, and docs/benchmark.md against the shipped table."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
import pytest

from recassay.data.published.benchmark import RESULTS, open_benchmark

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def board():
    sys.path.insert(0, str(DOCS))
    try:
        from reference import board as made
        from reference.board_table import Board
    finally:
        sys.path.remove(str(DOCS))
    return made, Board(open_benchmark())


@pytest.mark.slow
def test_the_page_of_the_documentation_is_what_the_table_says(board):
    made, table = board
    text = made.PAGE.read_text()
    assert made.written(text, made.markdown(table)) == text, "run: python3 dev.py docs --board"
    assert text.count("| ---") == 0


@pytest.mark.slow
def test_in_a_browser_the_board_sorts_filters_and_opens_cards(board, chromium, tmp_path):
    made, table = board
    (tmp_path / "board.html").write_text(made.board_page())
    for width in (1280, 390):
        page = chromium.new_page(viewport={"width": width, "height": 844})
        problems = []
        page.on("pageerror", lambda error, seen=problems: seen.append(str(error)))
        page.on("request", lambda request, seen=problems: request.url.startswith("http") and seen.append(request.url))
        page.goto((tmp_path / "board.html").as_uri())
        names = page.locator("#rows td:nth-child(2)").all_inner_texts()
        frame = pl.read_csv(open_benchmark().folder / RESULTS)
        assert sorted(names) == frame["algorithm"].unique().sort().to_list()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "only tables scroll sideways"
        page.locator("#head button", has_text="algorithm").click()
        assert page.locator("#rows td:nth-child(2)").all_inner_texts() == sorted(names)
        page.locator("#rows button").first.click()
        assert page.locator("#card h3").inner_text() == sorted(names)[0]
        page.locator("#data-rows button").first.click()
        assert "Licence" in page.locator("#data-card").inner_text()
        families = page.locator("#families input")
        for n in range(1, families.count()):
            families.nth(n).uncheck()
        first = sorted({one.family for one in table.benchmark.datasets.values()})[0]
        kept = [name for name, one in table.benchmark.datasets.items() if one.family == first]
        assert f"on {len(kept)} datasets" in page.locator("#said").inner_text()
        page.select_option("#metric", table.metrics[1])
        assert table.metrics[1] in page.locator("#said").inner_text()
        page.fill("#limit", "0")
        assert page.locator("#said").inner_text() == "Nothing is left."
        assert not problems
        page.close()


@pytest.mark.slow
def test_mean_ranks_in_the_page_are_those_of_the_verdict(board, chromium, tmp_path):
    made, table = board
    if table.values("ndcg@10").height != len(table.overall.algorithms) * len(table.overall.datasets):
        pytest.skip("the shipped table has gaps: ranks are scaled there")
    (tmp_path / "board.html").write_text(made.board_page())
    page = chromium.new_page()
    page.goto((tmp_path / "board.html").as_uri())
    shown = dict(
        zip(
            page.locator("#rows td:nth-child(2)").all_inner_texts(),
            page.locator("#rows td:nth-child(3)").all_inner_texts(),
            strict=True,
        )
    )
    assert shown == {
        name: f"{rank:.1f}" for name, rank in zip(table.overall.algorithms, table.overall.mean_rank, strict=True)
    }
