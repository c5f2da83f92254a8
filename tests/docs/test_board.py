"""The boards: their page in a browser, docs/benchmark.md against the shipped tables, and what findings say."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import polars as pl
import pytest

from recassay.data.published.benchmark import open_benchmark

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def made():
    sys.path.insert(0, str(DOCS))
    try:
        from reference import board
    finally:
        sys.path.remove(str(DOCS))
    return board


@pytest.fixture(scope="module")
def boards(made):
    return made.open_boards()


def small(folder, name, values, reasons=()):
    """A benchmark of made-up values by algorithm, one per dataset; None is a gap."""
    described = json.loads((open_benchmark("published:board").folder / "benchmark.json").read_text())
    dataset = next(iter(described["datasets"].values()))
    names = [f"d{n}" for n in range(len(next(iter(values.values()))))]
    described |= {"name": name, "datasets": dict.fromkeys(names, dataset), "not_run": list(reasons), "left_out": {}}
    rows = [
        (algorithm, names[n], metric, value)
        for algorithm, of in values.items()
        for n, value in enumerate(of)
        if value is not None
        for metric in ("ndcg@10", "recall@20", "coverage@10", "seconds_fit")
    ]
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row")
    folder.mkdir()
    (folder / "benchmark.json").write_text(json.dumps(described))
    (folder / "results.csv.gz").write_bytes(gzip.compress(frame.write_csv().encode()))
    cells = frame.select("algorithm", "dataset").unique(maintain_order=True).with_columns(
        pl.lit(3).alias("trials"), pl.lit("{}").alias("parameters"), pl.lit("cpu").alias("device")
    )  # fmt: skip
    (folder / "cells.csv.gz").write_bytes(gzip.compress(cells.write_csv().encode()))
    return folder


@pytest.fixture
def two(made, tmp_path, monkeypatch):
    """Two boards of eight datasets: A beats B everywhere on both, Gappy lacks one dataset of the first."""
    monkeypatch.setattr(made.Board, "traits", {})
    rows = {"A": [0.3 + n / 100 for n in range(8)], "B": [0.2 + n / 100 for n in range(8)], "C": [0.1] * 8}
    gap = {"algorithm": "Gappy", "dataset": "d0", "reason": "no value after 120 s"}
    first = small(tmp_path / "one", "board", {**rows, "Gappy": [None, *[0.25] * 7]}, [gap])
    second = small(tmp_path / "two", "board-time", rows)
    return made.open_boards([first, second])


def test_a_place_has_who_ran_on_every_dataset(made, two):
    assert two[0].placed == ["A", "B", "C"]
    assert two[0].gaps == {"Gappy": {"d0": "no value after 120 s"}}
    data = made.board_data(two[0])
    assert data["gaps"] == {"Gappy": ["no value within the time of a cell: d0"]}
    assert data["verdicts"]["ndcg@10"]["order"] == ["A", "B", "C"]
    assert data["values"]["ndcg@10"]["Gappy"][0] is None
    assert data["ofBest"]["A"] == 1.0
    assert "| Gappy | no value within the time of a cell: d0 |" in made._board_part(two[0])


def test_findings_say_on_how_many_datasets_and_whether_the_boards_agree(made, two):
    sentences = [one.sentence for one in made.told(two)]
    assert sentences[0].startswith(
        "The board by time confirms the order on random splits: of 3 pairs that random splits decide, its 8 datasets "
        "decide 3 the same way and 0 the other way. The orders of the 3 algorithms on both correlate by 1.00"
    )
    assert sentences[1].startswith("3 algorithms on the 8 datasets split at random: A is the clear winner")
    assert all("8 datasets" in sentence for sentence in sentences[1:])


def test_boards_that_decide_a_pair_in_opposite_ways_contradict_each_other(made, two, tmp_path):
    rows = {"A": [0.1 + n / 100 for n in range(8)], "B": [0.2 + n / 100 for n in range(8)], "C": [0.3] * 8}
    (turned,) = made.open_boards([small(tmp_path / "turned", "board-time", rows)])
    from reference.board_findings import agreement

    found = agreement(two[0], turned)
    assert found.sentence.startswith("The board by time contradicts the order on random splits: of 3 pairs")
    assert (found.grade, found.claim) == ("Shown", ["contradicts"])


@pytest.mark.slow
def test_a_finding_falls_without_the_dataset_that_carries_it(made, tmp_path):
    """With six datasets A beats B; five are too few for any difference."""
    rows = {"A": [0.3 + n / 100 for n in range(6)], "B": [0.2 + n / 100 for n in range(6)]}
    (board,) = made.open_boards([small(tmp_path / "six", "board", rows)])
    from reference.board_findings import findings, fragile

    tried = fragile([board])
    assert tried["falls"]["board overall"] == board.datasets
    assert tried["orders"]["board"]["d0"] == ["A", "B"]
    assert findings([board], tried)[0].change.startswith("It falls without any one of 6 of the 6 datasets.")


@pytest.mark.slow
def test_the_page_of_the_documentation_is_what_the_tables_say(made, boards):
    text = made.PAGE.read_text()
    assert made.stability(boards), "run: python3 dev.py docs --board"
    assert made.written(text, made.markdown(boards)) == text, "run: python3 dev.py docs --board"
    assert text.count("| ---") == 0


@pytest.mark.slow
def test_in_a_browser_the_boards_rank_filter_and_open_cards(made, boards, chromium, tmp_path):
    (tmp_path / "board.html").write_text(made.board_page(boards))
    for width, table in zip((1280, 390), boards, strict=True):
        page = chromium.new_page(viewport={"width": width, "height": 844}, color_scheme="dark")
        problems = []
        page.on("pageerror", lambda error, seen=problems: seen.append(str(error)))
        page.on("request", lambda request, seen=problems: request.url.startswith("http") and seen.append(request.url))
        page.goto((tmp_path / "board.html").as_uri() + f"#{table.benchmark.name}")
        verdict = table.overall
        assert page.locator("#rows .name").all_inner_texts() == list(verdict.algorithms)
        ranks = page.locator("#rows td:nth-child(3)").all_inner_texts()
        assert [float(rank) for rank in ranks] == pytest.approx(verdict.mean_rank.tolist(), abs=0.051)
        assert page.locator("#headline").inner_text() == verdict.headline
        assert page.locator("#rows", has_text="yes").count() == 1
        assert page.locator("#picture polyline").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "only tables scroll sideways"
        assert sorted(page.locator("#lacking .name").all_inner_texts()) == sorted(table.gaps)
        page.locator("#head button", has_text="algorithm").click()
        assert page.locator("#rows .name").all_inner_texts() == sorted(table.placed)
        page.locator("#rows button").first.click()
        assert page.locator("#card h3").inner_text() == sorted(table.placed)[0]
        page.keyboard.press("Escape")
        page.locator("#data-rows button").first.click()
        assert "Licence" in page.locator("#card").inner_text()
        page.keyboard.press("Escape")
        page.locator("#filters summary").click()
        page.locator("#families input").first.uncheck()
        assert page.locator("#said").inner_text().startswith("Ranks of a selection")
        assert page.locator("#grade").inner_text() == "No verdict."
        assert "interval" not in page.locator("#head").inner_text()
        for box in page.locator("#kinds input").all():
            box.uncheck()
        assert page.locator("#headline").inner_text() == "Nothing is left."
        assert not problems
        page.close()
