"""The boards: their page in a browser, docs/benchmark.md against the shipped tables, and what findings say."""

from __future__ import annotations

import gzip
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

import recassay
from recassay.analysis.board.fit import RULES, Board, against, agreement, find, fragile
from recassay.api.publish.boards import board_of, findings_of
from recassay.core.tables.matrix import Matrix
from recassay.data.published.benchmark import open_benchmark
from recassay.reporting.board.page import board_data
from recassay.reporting.words.board import change, grade, reasons, second_lines, sentence

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


def test_the_findings_were_tried_on_the_shipped_tables(made, boards):
    assert made.tried([board for board, _ in boards]), "run: python3 dev.py docs --board"


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
        pl.lit(3).alias("trials"), pl.lit("{}").alias("parameters"), pl.lit("cpu").alias("device"),
        pl.lit(2.0).alias("seconds"), pl.lit(1).alias("seed")
    )  # fmt: skip
    (folder / "cells.csv.gz").write_bytes(gzip.compress(cells.write_csv().encode()))
    return folder


@pytest.fixture
def two(tmp_path, monkeypatch):
    """Two boards of eight datasets: A beats B everywhere on both, Gappy lacks one dataset of the first."""
    monkeypatch.setattr(Board, "traits", {})
    rows = {"A": [0.3 + n / 100 for n in range(8)], "B": [0.2 + n / 100 for n in range(8)], "C": [0.1] * 8}
    gap = {"algorithm": "Gappy", "dataset": "d0", "reason": "no value after 120 s"}
    first = small(tmp_path / "one", "board", {**rows, "Gappy": [None, *[0.25] * 7]}, [gap])
    second = small(tmp_path / "two", "board-time", rows)
    return [board_of(open_benchmark(folder)) for folder in (first, second)]


def tables(two):
    return [board for board, _ in two]


def told(boards, tried=None):
    return [(sentence(one), grade(one), change(one)) for one in find(boards, {}, tried)]


def test_a_place_has_who_ran_on_every_dataset(made, two):
    board, cards = two[0]
    assert board.placed == ["A", "B", "C"]
    assert board.table.gaps == {"Gappy": {"d0": "no value after 120 s"}}
    data = board_data(board.result(), cards, find([board], {}))
    assert data["gaps"] == {"Gappy": ["no value within the time of a cell: d0"]}
    assert data["verdicts"]["ndcg@10"]["order"] == ["A", "B", "C"]
    assert data["values"]["ndcg@10"]["Gappy"][0] is None
    assert data["ofBest"]["A"] == 1.0
    assert data["headlines"]["ndcg@10"] == "A beats the 2 other algorithms on the 8 datasets split at random."
    assert data["notes"][-1].startswith("Cells: 31 done, 1 refused by a rule.")
    assert "| Gappy | no value within the time of a cell: d0 |" in made._board_part(board.result(), cards)


def test_scores_that_are_not_numbers_are_a_failure(tmp_path):
    gaps = [{"algorithm": "Gappy", "dataset": f"d{n}", "reason": f"{n} scores are NaN, the first in row 0 for item 0"}
            for n in range(2)]  # fmt: skip
    board, cards = board_of(open_benchmark(small(tmp_path / "one", "board", {"A": [0.3, 0.3, 0.3]}, gaps)))
    assert cards.cells == {"done": 3, "refused by a rule": 0, "failed": 2, "not run": 0}
    assert reasons(board.table.gaps["Gappy"], 3) == ["failed, since its scores are not numbers: d0, d1"]


def test_findings_say_on_how_many_datasets_and_whether_the_boards_agree(two):
    found = [first for first, _, _ in told(tables(two))]
    assert found[0].startswith(
        "The 8 datasets split by time confirm the order on random splits. Of the 3 pairs of algorithms that random "
        "splits decide, they decide 3 the same way and none the other way. The orders of the 3 algorithms with a place "
        "on both boards correlate at 1.00 (Spearman)."
    )
    assert found[1] == "A beats the 2 other algorithms on the 8 datasets split at random."
    assert all("8 datasets" in sentence for sentence in found[1:])


def test_random_lists_are_no_witness_of_agreement(tmp_path):
    """All beat Random on both boards, and A and B are decided on the first one alone."""
    last = {"Random": [0.01] * 8}
    first = {"A": [0.3 + n / 100 for n in range(8)], "B": [0.2 + n / 100 for n in range(8)], "C": [0.1] * 8}
    second = {name: [0.2 + (n + k) % 3 / 100 for n in range(8)] for k, name in enumerate("ABC")}
    one, _ = board_of(open_benchmark(small(tmp_path / "one", "board", first | last)))
    other, _ = board_of(open_benchmark(small(tmp_path / "two", "board-time", second | last)))
    assert {other.verdict().status_of(name, "Random") for name in "ABC"} == {"better"}
    found = agreement(one, other)
    assert (found.facts["shared"], found.facts["decided"], found.facts["alike"]) == (3, 3, 0)
    assert "The orders of the 3 algorithms with a place on both boards (without Random) correlate" in sentence(found)


@pytest.mark.parametrize("names", ["ABCD", "DCBA", "BDAC"])
def test_algorithms_of_equal_mean_rank_share_their_place_whatever_their_names(names, tmp_path):
    """On the first board the second and the third lead each other on half the datasets."""
    best, one, other, last = names
    first = {best: [0.9] * 8, one: [0.5, 0.4] * 4, other: [0.4, 0.5] * 4, last: [0.1] * 8}
    second = {best: [0.9] * 8, one: [0.1] * 8, other: [0.4] * 8, last: [0.5] * 8}
    boards = [board_of(open_benchmark(small(tmp_path / name, name, rows)))[0]
              for name, rows in (("board", first), ("board-time", second))]  # fmt: skip
    facts = agreement(*boards).facts
    assert facts["rho"] == pytest.approx(spearmanr([1, 2.5, 2.5, 4], [1, 4, 3, 2])[0])
    assert (facts["moved"], facts["places"]) == (last, ((4, False), (2, False)))


@pytest.mark.parametrize("names", ["ABCDE", "EDCBA"])
def test_a_shared_place_is_written_as_tables_have_it(names, tmp_path):
    """The first board has two, or three, on the second place; one of them is the last on the second board."""
    best, one, other, third, last = names
    two = {best: [0.9] * 8, one: [0.5, 0.4] * 4, other: [0.4, 0.5] * 4, third: [0.3] * 8, last: [0.1] * 8}
    three = two | {other: [0.5, 0.4] * 4, third: [0.5, 0.4] * 4}
    second = {best: [0.9] * 8, other: [0.5] * 8, third: [0.4] * 8, last: [0.3] * 8, one: [0.1] * 8}
    for name, first in (("two", two), ("three", three)):
        boards = [board_of(open_benchmark(small(tmp_path / f"{name}{board}", board, rows)))[0]
                  for board, rows in (("board", first), ("board-time", second))]  # fmt: skip
        assert f"{one} moves most: from number 2 (shared) to number 5." in sentence(agreement(*boards))


@pytest.mark.parametrize(("one", "other"), [("MultiVAE", "ELSA"), ("ELSA", "MultiVAE")])
def test_networks_of_the_same_mean_rank_lead_together_whatever_their_names(one, other, tmp_path):
    """Each leads the other on half the datasets; the one of higher values is set against the best of the rest."""
    rows = {"EASE": [0.9] * 8, one: [0.5, 0.4] * 4, other: [0.45, 0.46] * 4, "SimpleX": [0.1] * 8}
    board, _ = board_of(open_benchmark(small(tmp_path / "tied", "board", rows)))
    networks = RULES["networks"](board)
    assert networks.facts["of_kind"] == (other, one)
    together = f"{other} and {one} share the best mean rank of the 3 networks with a place"
    assert f"{together}, EASE the best of the 1 others." in sentence(networks)
    assert "EASE has the best mean rank by nDCG@10, and " in second_lines(board.result())[0]
    alone, _ = board_of(open_benchmark(small(tmp_path / "alone", "board", rows | {other: [0.2] * 8})))
    assert f"{one} is the best of the 3 networks with a place" in sentence(RULES["networks"](alone))
    del rows["EASE"]
    first, _ = board_of(open_benchmark(small(tmp_path / "first", "board", rows)))
    assert f"{' and '.join(sorted([one, other]))} share the best mean rank by nDCG@10." in second_lines(first.result())


def test_tables_that_rank_two_first_are_quoted_with_both(tmp_path):
    rows = {"EASE": [0.9] * 8, "ALS": [0.5, 0.4] * 4, "BPR": [0.4, 0.5] * 4, "ItemKNN": [0.1] * 8}
    board, _ = board_of(open_benchmark(small(tmp_path / "board", "board", rows)))
    alone = [[0.3] * 8, [0.9] * 8, [0.5] * 8, [0.1] * 8]
    theirs = Matrix(np.array(alone), tuple(sorted(rows)), tuple(f"d{n}" for n in range(8)), "ndcg@10", True)
    assert "KDD'24 ranks BPR first and the board EASE" in sentence(against(board, "kdd24", theirs))
    tied = [[0.5, 0.4] * 4, [0.2] * 8, [0.4, 0.5] * 4, [0.1] * 8]
    theirs = replace(theirs, values=np.array(tied))
    assert "KDD'24 ranks ALS and EASE first and the board EASE" in sentence(against(board, "kdd24", theirs))


def test_boards_that_decide_a_pair_in_opposite_ways_contradict_each_other(two, tmp_path):
    rows = {"A": [0.1 + n / 100 for n in range(8)], "B": [0.2 + n / 100 for n in range(8)], "C": [0.3] * 8}
    turned, _ = board_of(open_benchmark(small(tmp_path / "turned", "board-time", rows)))
    found = agreement(two[0][0], turned)
    assert sentence(found).startswith(
        "The 8 datasets split by time contradict the order on random splits. Of the 3 pairs"
    )
    assert (found.standing, found.claim) == ("shown", ("contradicts",))


def with_seeds(folder, seeds):
    """A benchmark with as many seeds of each algorithm; values of the second are 0.01 above, of the third below."""
    for file in ("results.csv.gz", "cells.csv.gz"):
        frame = pl.read_csv(folder / file).with_columns(pl.lit(1, dtype=pl.Int64).alias("seed"))
        parts = [frame]
        for seed, shift in ((2, 0.01), (3, -0.01)):
            more = frame.filter(pl.col("algorithm").is_in([name for name, count in seeds.items() if count >= seed]))
            parts.append(more.with_columns(pl.lit(seed, dtype=pl.Int64).alias("seed")))
            if "value" in frame.columns:
                parts[-1] = parts[-1].with_columns(pl.col("value") + shift)
            else:
                parts[-1] = parts[-1].with_columns(
                    pl.lit(0, dtype=pl.Int64).alias("trials"), pl.lit("{}").alias("parameters")
                )
        (folder / file).write_bytes(gzip.compress(pl.concat(parts).write_csv().encode()))
    stated = json.loads((folder / "benchmark.json").read_text())
    (folder / "benchmark.json").write_text(json.dumps(stated | {"seeds": [1, 2, 3]}))
    return folder


def test_values_are_means_over_the_seeds_that_there_are(made, tmp_path, monkeypatch):
    """A has three seeds, B two, C one: all have a place, a value, and a spread where there is more than one."""
    monkeypatch.setattr(Board, "traits", {})
    rows = {"A": [0.3 + n / 100 for n in range(8)], "B": [0.2 + n / 100 for n in range(8)], "C": [0.1] * 8}
    gap = {"algorithm": "Gappy", "dataset": "d0", "reason": "no value after 120 s"}
    folder = small(tmp_path / "seeds", "board", {**rows, "Gappy": [None, *[0.25] * 7]}, [gap])
    board, cards = board_of(open_benchmark(with_seeds(folder, {"A": 3, "B": 2})))
    assert board.placed == ["A", "B", "C"]
    data = board_data(board.result(), cards, find([board], {}))
    values, spread = data["values"]["ndcg@10"], data["spread"]["ndcg@10"]
    assert [values[name][0] for name in "ABC"] == [0.3, 0.205, 0.1], "the means over three, two and one"
    assert [spread[name][0] for name in "AB"] == [0.01, 0.0071], "of 0.3, 0.31 and 0.29; of 0.2 and 0.21"
    assert set(spread) == {"A", "B"}
    assert data["algorithms"]["A"]["trials"] == 3, "the further seeds have no search"
    said = (
        "Values are means over up to 3 seeds, which share the search of the first: 8 cells have 3, 8 cells have 2 and "
        "15 cells have one."
    )
    assert data["notes"][0] == said
    assert f"- {said}" in made._board_part(board.result(), cards)
    assert data["notes"][-1].startswith("Cells: 31 done, 1 refused by a rule."), "whatever their seeds"


def test_one_seed_is_said_to_be_one(two):
    data = board_data(two[0][0].result(), two[0][1], [])
    assert data["notes"][0] == "One seed was run, so chance in training is not averaged out."
    assert data["spread"]["ndcg@10"] == {}


def test_verbs_take_unequal_numbers_of_seeds(tmp_path):
    """The same order and verdict as from the means alone; single datasets are tested where both have three seeds."""
    rows = {name: [0.3 - k / 20 + n / 100 for n in range(8)] for k, name in enumerate("ABCD")}
    folder = with_seeds(small(tmp_path / "seeds", "board", rows), {"A": 3, "B": 3, "C": 2})
    seeds = recassay.load_results(folder / "results.csv.gz")
    means = seeds.frame.group_by("algorithm", "dataset", "metric").agg(pl.col("value").sort().mean())
    both = [recassay.rank(frame, metric="ndcg@10") for frame in (seeds, means.sort("algorithm", "dataset", "metric"))]
    first, second = (one.judgement for one in both)
    assert (first.algorithms, first.could_be_best, first.grade) == (
        second.algorithms,
        second.could_be_best,
        second.grade,
    )
    assert first.mean_rank.tolist() == second.mean_rank.tolist()
    assert not seeds.notes
    assert first.seeds.between("A", "B").tested == 8
    assert first.seeds.between("A", "C").tested == 0, "two seeds say too little of how values vary"
    assert second.seeds is None


def test_floors_that_are_behind_decide_nothing(tmp_path):
    """A, B and C change places, and only Random and MostPop are beaten: who could be best is not decided."""
    alike = {name: [0.2 + (n + k) % 3 / 100 for n in range(9)] for k, name in enumerate("ABC")}
    floors = {"Random": [0.01] * 9, "MostPop": [0.05] * 9}
    board, _ = board_of(open_benchmark(small(tmp_path / "floors", "board", alike | floors)))
    assert set(board.verdict().could_be_best) == set("ABC")
    found = {one.rule: one for one in find([board], {}) if one.rule in ("overall", "recall", "cheapest")}
    assert sentence(found["overall"]) == (
        "The 9 datasets split at random do not show which of the 3 algorithms (without MostPop and Random) is best: "
        "any could be."
    )
    assert {grade(one) for one in found.values()} == {"Not decided"}
    assert "cheapest" not in found, "nobody shares a lead"
    behind = {"D": [0.1 + n / 1000 for n in range(9)]}
    board, _ = board_of(open_benchmark(small(tmp_path / "behind", "board", alike | floors | behind)))
    found = {one.rule: one for one in find([board], {})}
    assert sentence(found["overall"]) == (
        "3 of the 4 algorithms (without MostPop and Random) could be best on the 9 datasets split at random: A, B "
        "and C."
    )
    assert grade(found["overall"]) == "Shown"
    assert "cheapest" in found


def test_a_floor_that_could_be_best_competes(tmp_path):
    rows = {"A": [0.2 + n % 2 / 50 for n in range(9)], "MostPop": [0.21] * 9, "Random": [0.01] * 9}
    board, _ = board_of(open_benchmark(small(tmp_path / "floors", "board", rows)))
    assert sentence(RULES["overall"](board)) == (
        "The 9 datasets split at random do not show which of the 2 algorithms (without Random) is best: any could be."
    )
    alone = {"A": [0.2 + n / 100 for n in range(9)], "Random": [0.01] * 9}
    board, _ = board_of(open_benchmark(small(tmp_path / "alone", "board", alone)))
    assert RULES["overall"](board) is None, "that A beats Random is no contest"


@pytest.mark.slow
def test_a_finding_changes_without_the_dataset_that_carries_it(tmp_path):
    """With six datasets A beats B; five are too few for any difference."""
    rows = {"A": [0.3 + n / 100 for n in range(6)], "B": [0.2 + n / 100 for n in range(6)]}
    board, _ = board_of(open_benchmark(small(tmp_path / "six", "board", rows)))
    tried = fragile([board])
    assert tried["changes"]["board overall"] == list(board.datasets)
    assert tried["orders"]["board"]["d0"] == ["A", "B"]
    assert told([board], tried)[0][1:] == ("Fragile", "It changes when any of 6 of the 6 datasets is left out.")
    assert findings_of([board])[0].without == board.datasets, "other tables than the shipped ones are tried at once"


@pytest.mark.slow
def test_who_joins_and_who_leaves_those_that_could_be_best_is_said(tmp_path):
    """C is beaten on all of nine datasets but the last: without another one it could be best, too."""
    rows = {"A": [0.3 + n / 100 for n in range(9)], "B": [0.301 + n / 90 for n in range(4)] + [0.2] * 5,
            "C": [0.1 + n / 100 for n in range(9)], "D": [0.05] * 9}  # fmt: skip
    board, _ = board_of(open_benchmark(small(tmp_path / "nine", "board", rows)))
    whole = set(board.verdict().could_be_best)
    tried = fragile([board])
    less = [set(replace(board, without=(name,)).verdict().could_be_best) for name in board.datasets]
    assert tried["joining"]["board overall"] == sorted(set().union(*less) - whole)
    assert tried["leaving"]["board overall"] == sorted(whole - set.intersection(*less))
    finding = replace(find([board], {}, tried)[0], joining=("E",), leaving=("B", "C"), without=())
    assert change(finding).startswith(
        "With one dataset left out, E could also be best, or B or C could no longer be best."
    )


@pytest.mark.slow
def test_who_beats_popularity_must_still_do_and_where_nobody_does_nobody_must(tmp_path):
    """Of six datasets the last one keeps A from beating popularity: without it there would be something to tell."""
    rows = {"A": [0.3 + n / 100 for n in range(8)] + [0.1], "MostPop": [0.2 + n / 100 for n in range(8)] + [0.9]}
    board, _ = board_of(open_benchmark(small(tmp_path / "nine", "board", rows)))
    first = RULES["popularity"](board)
    assert (first.facts["better"], first.standing) == ([], "undecided")
    assert sentence(first) == (
        "On the 9 datasets split at random, no algorithm is shown to beat popularity; MostPop is number 2 of 2."
    )
    without = fragile([board])["changes"]["board popularity"]
    assert without == ["d8"], "the one dataset without which A is shown to beat it"


def test_kinds_are_compared_with_their_trials_and_cost_on_one_device(two):
    table = replace(
        two[0][0].table, kinds={"A": "network", "B": "linear", "C": "linear"}, trials={"A": 3.0, "B": 15.0},
        devices={"A": "gpu", "B": "cpu", "C": "cpu"},
    )  # fmt: skip
    found = RULES["networks"](Board(table))
    assert sentence(found).endswith(
        "A is the only network with a place, B the best of the 2 others. Their searches were unequal: 3 for A and 15 "
        "for B (median trials)."
    )
    worse = replace(table, kinds={"A": "linear", "B": "network", "C": "linear"})
    assert sentence(RULES["networks"](Board(worse))).startswith("A beats B ")
    assert RULES["sequences"](Board(table)) is None
    assert RULES["cheapest"](Board(table)) is None, "one alone could be best"
    even = table.frame.with_columns(
        pl.when(pl.col("algorithm") == "B").then(0.35).otherwise(pl.col("value")).alias("value")
    )
    cheap = RULES["cheapest"](Board(replace(table, frame=even)))
    assert sentence(cheap) == (
        "Of the 2 algorithms that could be best on the 8 datasets split at random, on one core B trains in 0.35 s; on "
        "a shared GPU A trains in at most 0.33 s (medians over the datasets)."
    )
    random = replace(table, frame=table.frame.with_columns(pl.col("algorithm").replace("C", "Random")))
    assert "(without Random)" in sentence(RULES["coverage"](Board(random)))
    assert "(without Random)" in sentence(RULES["recall"](Board(random))), "they are behind"


@pytest.mark.slow
def test_the_page_of_the_documentation_is_what_the_tables_say(made, boards):
    text = made.PAGE.read_text()
    assert made.written(text, made.markdown(boards)) == text, "run: python3 dev.py docs --board"
    assert text.count("| ---") == 0


@pytest.mark.slow
def test_in_a_browser_the_boards_rank_filter_and_open_cards(made, boards, chromium, tmp_path):
    (tmp_path / "board.html").write_text(made.board_page())
    for width, (board, _) in zip((1280, 390), boards, strict=True):
        table = board.table
        page = chromium.new_page(viewport={"width": width, "height": 844}, color_scheme="dark")
        problems = []
        page.on("pageerror", lambda error, seen=problems: seen.append(str(error)))
        page.on("request", lambda request, seen=problems: request.url.startswith("http") and seen.append(request.url))
        page.goto((tmp_path / "board.html").as_uri() + f"#{table.name}")
        verdict = board.verdict()
        assert page.locator("#rows .name").all_inner_texts() == list(verdict.algorithms)
        ranks = page.locator("#rows td:nth-child(3)").all_inner_texts()
        assert [float(rank) for rank in ranks] == pytest.approx(verdict.mean_rank.tolist(), abs=0.051)
        headline = next(sentence(one) for one in find([board], {}) if one.rule == "overall")
        assert page.locator("#headline").inner_text() == headline
        assert page.locator("#rows", has_text="yes").count() == 1
        assert page.locator("#picture polyline").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "only tables scroll sideways"
        assert sorted(page.locator("#lacking .name").all_inner_texts()) == sorted(table.gaps)
        page.locator("#head button", has_text="algorithm").click()
        assert page.locator("#rows .name").all_inner_texts() == sorted(board.placed)
        page.locator("#rows button").first.click()
        assert page.locator("#card h3").inner_text() == sorted(board.placed)[0]
        page.keyboard.press("Escape")
        page.locator("#data-rows button").first.click()
        assert "Licence" in page.locator("#card").inner_text()
        page.keyboard.press("Escape")
        page.locator("#filters summary").click()
        page.locator("#families input").first.uncheck()
        assert page.locator("#said").inner_text().endswith("; not tested.")
        assert "interval" not in page.locator("#head").inner_text()
        for box in page.locator("#kinds input").all():
            box.uncheck()
        assert page.locator("#headline").inner_text() == "Nothing is left."
        assert not problems
        page.close()
