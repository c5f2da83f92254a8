"""The numbers of the papers: all that used to agree still do, and the page tells the same."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import recassay
from recassay.api import reproduce as verb
from recassay.api.reproduce import _judged, reproduction_page
from recassay.core.errors import NotApplicableError, UsageError
from recassay.data.published.printed import VERDICTS, PrintedNumber, papers, printed_numbers
from recassay.data.published.tables import (
    FOLDER,
    is_published,
    published,
    published_characteristics,
    published_choices,
    published_responses,
    published_results,
)
from support.places import ROOT
from support.tables import printed_table

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("reproduce")]


@pytest.fixture(scope="module")
def result():
    return recassay.reproduce()


def test_no_number_that_used_to_agree_has_fallen(result):
    assert [(one.published, one.ours) for one in result.fallen] == []
    assert len(result.numbers) == len(printed_numbers()) > 700


@pytest.mark.slow
@pytest.mark.parametrize(
    ("paper", "table", "least"),
    [
        ("kdd24", "Table 2", 79),
        ("kdd24", "Table 5", 30),
        ("kdd24", "Figure 8", 132),
        ("kdd24", "authors' file, CD", 11),
        ("kdd24", "authors' file, Dolan-Moré", 11),
        ("comper", "Table 8", 30),
        ("comper", "Table 7", 30),
        ("textbooks", "LSAT7, 2pl", 15),
    ],
)
def test_tables_that_follow_to_their_digits(result, paper, table, least):
    counts = result.count(paper, table)
    assert counts["exact"] + counts["printed digits"] >= least


def test_what_does_not_follow_has_a_reason(result):
    assert all(one.reason for one in result.numbers if one.verdict == "does not follow")
    assert result.count()["does not follow"] < 0.13 * len(result.numbers)


def test_the_page_is_up_to_date(result):
    """Every printed number and verdict; ours may differ in its last digits between machines."""

    def apart(text: str) -> tuple[list[str], list[Any]]:
        rows = [re.fullmatch(r"(.*)\| ([^|]*) (\| [a-z ]+ \|)", line) or line for line in text.splitlines()]
        others = [row if isinstance(row, str) else row[1] + row[3] for row in rows]
        ours = [row[2] for row in rows if not isinstance(row, str)]
        return others, [float(one) if re.fullmatch(r"-?[\d.]+", one) else one for one in ours]

    page, made = apart((ROOT / "docs" / "evidence" / "reproduction.md").read_text()), apart(reproduction_page(result))
    assert page[0] == made[0]
    assert [one if isinstance(one, str) else pytest.approx(one, rel=0.02, abs=0.02) for one in page[1]] == made[1]
    assert sum(isinstance(one, float) for one in page[1]) > 500


def test_the_short_page_counts_the_same(result):
    """One row per paper, in the order of the verdicts; its first sentence has the totals."""
    text = (ROOT / "docs" / "reproduction.md").read_text()
    counted = {
        paper.name: tuple(
            sum(one.published.paper == paper.name and one.verdict == verdict for one in result.numbers)
            for verdict in VERDICTS
        )
        for paper in result.papers
    }
    rows = re.findall(r"^\| `([\w-]+)` \|.*?\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", text, re.M)
    assert {name: tuple(map(int, counts)) for name, *counts in rows} == counted
    total = result.count()
    follows = len(result.numbers) - total["does not follow"]
    assert f"Of {len(result.numbers)} printed numbers, {follows} follow from public tables" in text
    assert (
        f"{total['exact']} exactly, {total['printed digits']} to their printed digits, {total['near']} within" in text
    )
    assert f"The other {total['does not follow']} do not" in text


def test_a_number_that_falls_is_told_and_exits_1(monkeypatch, cli):
    told = printed_numbers()
    spoilt = tuple(
        dataclasses.replace(one, printed="0.5") if one.paper == "popularity-stratified" and one.digits else one
        for one in told
    )
    monkeypatch.setattr(verb, "printed_numbers", lambda: spoilt)
    ran = cli("reproduce", "popularity-stratified", "--json")
    assert ran.code == 1
    assert len(ran.json()["no_longer_agrees"]) == 2
    assert "2 numbers that used to agree no longer do" in ran.err


def test_the_command(cli, tmp_path):
    ran = cli("reproduce", "comper", "--all", "--markdown", tmp_path / "page.md")
    assert ran.code == 0, ran.err
    assert "132 numbers" in ran.out
    assert "Table 13" in ran.out
    assert (tmp_path / "page.md").read_text().startswith("# The papers' numbers")
    assert cli("reproduce", "kdd42").code == 2


def test_every_paper_is_in_the_list():
    assert {one.paper for one in printed_numbers()} == set(papers()) == set(verb.RECOMPUTED)
    assert {one.expected for one in printed_numbers()} <= set(VERDICTS)
    keys = [(one.paper, one.table, one.row, one.column) for one in printed_numbers()]
    assert len(set(keys)) == len(keys)
    assert float(printed_table("kdd24", "Table 2")["EASE", "mean"]) == 0.069


def test_published_tables_have_their_source():
    for name, one in published().items():
        assert all((one.title, one.paper, one.licence, one.date)), name
        files = [file for file in (one.results, one.characteristics, one.responses, one.universes, one.items) if file]
        assert files
        assert all((FOLDER / file).is_file() for file in files)
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 200_000


def test_published_names_work_where_a_table_does(cli, kdd24):
    ran = cli("rank", kdd24, "--json")
    assert ran.json()["input"][0]["file"] == "published:kdd24"
    assert recassay.clusters("published:KDD24").sizes.sum() == 30  # with its own characteristics
    assert len(published_results("published:bi-reirt").algorithms) == 17
    assert (
        cli("irt", "logistic", "published:lsat7", "--model", "2pl", "--json").json()["items"]["item1"]["discrimination"]
        > 0
    )
    for wrong, message in (
        ("published:kdd25", "did you mean 'kdd24'"),
        ("published:lsat6", "has no results; it holds responses"),
    ):
        ran = cli("rank", wrong)
        assert ran.code == 2
        assert message in ran.err
    assert recassay.load_characteristics(kdd24).names[0] == "Nu"
    with pytest.raises(recassay.RecAssayError, match="has no characteristics"):
        recassay.load_characteristics("published:bi-reirt")
    assert {row["name"] for row in recassay.list_available("published")} >= {"published:kdd24", "published:comper"}
    listed = recassay.list_available("importers")
    assert len(listed) >= 20
    assert all(row["files"] and row["what"] for row in listed)


def told(printed="0.5", digits=2, near=0.1, expected="near", reason="chance"):
    return PrintedNumber("paper", "table", "row", "column", printed, digits, near, expected, reason)


@pytest.mark.parametrize(
    ("printed", "ours", "difference", "verdict"),
    [
        (told(), None, None, "does not follow"),
        (told("Ease"), "EASE", None, "exact"),
        (told("EASE"), "ALS", None, "does not follow"),
        (told(digits=None), 0.5 + 1e-12, 0.0, "exact"),
        (told(digits=None), 0.5001, 0.0001, "near"),
        (told(), 0.505, 0.005, "printed digits"),
        (told(), 0.4949, -0.0051, "near"),
        (told(), 0.6, 0.1, "near"),
        (told(), 0.601, 0.101, "does not follow"),
        (told("3", digits=0), 3.0, 0.0, "exact"),
        (told("3", digits=0), 3.4, 0.4, "printed digits"),
        (told("4000000", digits=None), 4_000_000.001, 0.001, "exact"),
    ],
)
def test_a_number_is_judged_by_its_printed_digits(printed, ours, difference, verdict):
    judged = verb._judged(printed, ours)
    assert judged.verdict == verdict
    assert judged.ours == ours
    assert judged.difference == (None if difference is None else pytest.approx(difference, abs=1e-9))


def test_what_falls_below_its_verdict_says_so():
    fallen = verb._judged(told(expected="exact"), 0.55)
    assert (fallen.fell, fallen.reason) == (True, "it used to be: exact")
    kept = verb._judged(told(), 0.55)
    assert (kept.fell, kept.reason) == (False, "chance")
    better = verb._judged(told(expected="does not follow"), 0.5)
    assert (better.fell, better.reason) == (False, "")
    result = verb.ReproduceResult((papers()["comper"],), (fallen, kept, better))
    assert result.fallen == [fallen]
    assert result.count("paper", "table") == {"exact": 0, "printed digits": 1, "near": 2, "does not follow": 0}
    assert result.count("other")["near"] == 0
    assert result.to_dict()["no_longer_agrees"] == ["paper, table, row, column"]
    tables = result.frames()
    assert list(tables) == ["reproduction", "reproduction_summary"]
    assert tables["reproduction_summary"].rows() == [("paper", "table", 0, 1, 2, 0)]
    assert tables["reproduction"].rows()[0] == (
        "paper", "table", "row", "column", "0.5", "0.5500", pytest.approx(0.05), "near", "it used to be: exact",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("ours", "digits", "text"),
    [(None, 2, None), ("EASE", 2, "EASE"), (3.0, 0, "3"), (3.4, 0, "3.40"), (0.123456, 2, "0.1235"), (0.1, None, "0.1"),
     (0.12345678901234, 9, "0.1234567890")],
)  # fmt: skip
def test_ours_has_two_digits_more(ours, digits, text):
    assert verb.shown(ours, digits) == text


@pytest.mark.parametrize(
    ("read", "name", "message"),
    [
        (
            published_responses, "kdd24",
            "published:kdd24 has no responses; it holds results and characteristics; responses are in published:deco",
        ),
        (
            published_characteristics, "demsar",
            "published:demsar has no characteristics of its datasets; it holds results; characteristics are in pub",
        ),
        (published_results, "time-to-split", "published:time-to-split has results under many protocols; ask for"),
        (published_results, "kdd42", "there is no published table 'kdd42'; did you mean 'kdd24'?"),
    ],
)  # fmt: skip
def test_a_published_table_that_lacks_what_is_asked(read, name, message):
    with pytest.raises((NotApplicableError, UsageError)) as refused:
        read(f"published:{name}")
    assert str(refused.value).startswith(message)


def test_published_rows_have_their_source():
    frame, sources = published_choices("published:time-to-split")
    assert frame.schema["value"] == pl.Float64
    assert [source.file for source in sources] == ["published:time-to-split"]
    plain, _ = published_choices("published:Demsar")
    results = published_results("published:demsar")
    assert plain.height == results.frame.height
    assert [source.file for source in results.sources] == ["published:demsar"]
    answers = published_responses("published:lsat6")
    assert (answers.codes.shape, answers.complete, answers.sources[0].file) == ((1000, 5), True, "published:lsat6")
    assert is_published(Path("published:x"))
    assert not is_published("x/published:y")
    assert not is_published(3)


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [(0.5, "printed digits"), (0.5004, "printed digits"), (0.503, "near"), (0.497, "near"),
     (0.506, "does not follow"), (0.494, "does not follow"), (None, "does not follow"), ("0.500", "exact")],
)  # fmt: skip
def test_a_number_is_judged_on_both_sides_of_the_printed_one(ours, verdict):
    wanted = dataclasses.replace(printed_numbers()[0], printed="0.500", digits=3, near=0.005)
    assert _judged(wanted, ours).verdict == verdict


def test_only_what_does_not_follow_is_shown_unless_all_is_asked_for(cli, monkeypatch):
    numbers = (
        verb._judged(told(), 0.55),
        verb._judged(told(expected="does not follow", reason="other data"), 0.75),
        verb._judged(dataclasses.replace(told("EASE"), row="winner"), "EASE"),
    )
    comper = papers()["comper"]
    asked = []
    result = verb.ReproduceResult((comper,), numbers)
    monkeypatch.setattr(verb, "reproduce", lambda paper: asked.append(paper) or result)
    shown = [" ".join(line.split()) for line in cli("reproduce", "comper").out.splitlines()]
    assert asked == [["comper"]]
    assert shown[0] == "3 numbers: 1 exact, 0 printed digits, 1 near, 1 does not follow"
    assert "paper table 1 1 1" in shown, "a count of none is left empty"
    wrong = "paper table row column 0.5 0.7500 +0.25 does not follow other data"
    assert [line for line in shown if line.startswith("paper table row column 0.5")] == [wrong]
    assert "Numbers that do not follow (--all shows every number)" in shown
    what, why = comper.not_recomputed[0]
    assert f"comper, {what}: not computed again: {why}." in " ".join(shown)
    every = [" ".join(line.split()) for line in cli("reproduce", "--all").out.splitlines()]
    assert asked[1:] == [None]
    assert "Every number" in every
    assert {wrong, "paper table row column 0.5 0.5500 +0.05 near chance",
            "paper table winner column EASE EASE exact"} <= set(every)  # fmt: skip


def test_a_paper_that_is_named_twice_is_computed_once(monkeypatch):
    monkeypatch.setitem(verb.RECOMPUTED, "comper", dict)
    result = recassay.reproduce(["comper", "ComPer"])
    assert [paper.name for paper in result.papers] == ["comper"]
    assert len(result.numbers) == sum(number.paper == "comper" for number in printed_numbers())
    assert {number.verdict for number in result.numbers} == {"does not follow"}
    with pytest.raises(UsageError, match="there is no paper 'comber'; did you mean 'comper'"):
        recassay.reproduce("comber")


def test_a_page_that_cannot_be_written_is_refused_before_the_work(cli, monkeypatch, tmp_path):
    monkeypatch.setattr(verb, "reproduce", lambda paper: pytest.fail("the work was done for nothing"))
    ran = cli("reproduce", "--markdown", tmp_path)
    assert (ran.code, ran.err) == (2, f"recassay: {tmp_path}: is a folder, not a file; name a file in it\n")
