"""What `compare` prints: the pairs, in the first three lines the answer, by the verdict alone."""

from __future__ import annotations

import re

import pytest

from support.tables import MIDDLE, named_table


@pytest.fixture
def screen(cli, tmp_path):
    """The lines that `compare` prints of a table, without the line that says where everything is."""

    def printed(table, *options):
        path = tmp_path / "table.csv"
        table.write_csv(path)
        ran = cli("compare", path, *options)
        assert ran.code == 0, ran.err
        return [line for line in ran.out.splitlines() if not line.startswith("Everything: --all")]

    return printed


def test_pairs_neighbours_and_groups(screen):
    assert screen(MIDDLE) == [
        "8 of 10 pairs of algorithms differ in nDCG@10; 2 are undecided.",
        "Neighbours by mean rank not shown to differ (2 of 4): EASE and SLIM, MyModel and",
        "ALS.",
        "",
        "group  algorithms not shown to differ  1       mean rank        5",
        "─────────────────────────────────────────────────────────────────",
        "a      EASE, SLIM                        ●─●",
        "b      MyModel, ALS                                   ●●",
        "c      MostPop                                                  ●",
        "",
        "Next: recassay plan: how many datasets would separate EASE from SLIM",
    ]


def test_a_control_in_the_middle(screen):
    assert screen(MIDDLE, "--control", "mymodel") == [
        "MyModel, the control, is better than 1 of 4 others, worse than 2 and undecided",
        "against 1.",
        "Adjusted for its 4 comparisons; valid if MyModel was named before the results",
        "were seen.",
        "",
        "MyModel against  nDCG@10     95 % interval  won-tied-lost     p  MyModel is",
        "───────────────────────────────────────────────────────────────────────────",
        "EASE             -12.9 %  -14.2 to -12.0 %         0-0-10  .002       worse",
        "SLIM             -12.8 %  -14.8 to -11.0 %         0-0-10  .002       worse",
        "ALS               +0.5 %    -1.3 to +2.4 %          6-0-4  .410   undecided",
        "MostPop          +78.2 %  +74.6 to +82.2 %         10-0-0  .002      better",
        "",
    ]


def test_two_algorithms_of_which_one_is_better_by_little(screen):
    little = named_table({"A": [304, 405, 223, 354, 202, 283, 444, 263], "B": [300, 401, 221, 351, 200, 281, 440, 260]})
    assert screen(little) == [
        "A is better than B, by less than 2 %, on datasets like these.",
        "",
        "left  right  nDCG@10   95 % interval  won-tied-lost     p         left is",
        "─────────────────────────────────────────────────────────────────────────",
        "A     B       +1.0 %  +0.8 to +1.2 %          8-0-0  .008  better (< 2 %)",
        "",
    ]


def test_three_datasets_decide_no_pair(screen):
    few = MIDDLE.filter(MIDDLE["dataset"].is_in(["d0", "d1", "d2"]))
    assert screen(few) == [
        "No pair can be decided: even winning all 3 datasets gives no smaller p than",
        "0.31.",
        "6 datasets are the minimum; the numbers describe these 3 datasets only.",
        "",
        "left     right     nDCG@10  won-tied-lost",
        "─────────────────────────────────────────",
        "EASE     SLIM       +0.7 %          2-0-1",
        "EASE     MyModel   +14.8 %          3-0-0",
        "EASE     ALS       +16.2 %          3-0-0",
        "EASE     MostPop  +104.4 %          3-0-0",
        "SLIM     MyModel   +15.0 %          3-0-0",
        "SLIM     ALS       +16.7 %          3-0-0",
        "SLIM     MostPop  +105.2 %          3-0-0",
        "MyModel  ALS        +1.2 %          2-0-1",
        "MyModel  MostPop   +78.5 %          3-0-0",
        "ALS      MostPop   +77.5 %          3-0-0",
        "",
        "Next: recassay analyze: what each dataset shows by itself; over datasets, run at",
        "least 6",
    ]
    assert screen(few, "--control", "EASE")[:6] == [
        "No comparison of EASE can be decided: even winning all 3 datasets gives no",
        "smaller p than 0.31.",
        "6 datasets are the minimum; the numbers describe these 3 datasets only.",
        "",
        "EASE against   nDCG@10  won-tied-lost",
        "─────────────────────────────────────",
    ]


WORDS_OF_THE_COURT = re.compile(r"better|beats|significan|leads|could be best")


def test_everything_names_the_witnesses(screen):
    """Below a title that names its procedures, no table of a witness uses the words of the verdict."""
    lines = screen(MIDDLE, "--control", "MyModel", "--all")
    titles = [line for line in lines if line.startswith(("Witnesses:", "Pairs by", "MyModel (the", "Groups of"))]
    assert titles == [
        "MyModel (the control) against every other, by the verdict",
        "Groups of algorithms that are not shown to differ: nDCG@10",
        "Pairs by the verdict (left has the better mean rank)",
        "Witnesses: MyModel (the control) by Wilcoxon-Holm and by Bonferroni-Dunn, ndcg@10",
        "Witnesses: mean ranks with Friedman's and Nemenyi's tests, ndcg@10, 5 algorithms on 10 datasets",
        "Witnesses: every pair by Wilcoxon-Holm and by the Bayesian signed-rank test",
    ]
    said = lines[lines.index(titles[3]) : lines.index(next(line for line in lines if "EASE beats" in line))]
    assert not [line for line in said if WORDS_OF_THE_COURT.search(line)]
    assert lines[lines.index("Answer") + 1] == (
        "MyModel, the control, is better than 1 of 4 others, worse than 2 and undecided against 1."
    )


def test_rank_answers_another_question(screen, cli, tmp_path):
    screen(MIDDLE)
    ranked = cli("rank", tmp_path / "table.csv").out.splitlines()
    assert ranked[0] == "No clear winner: EASE or SLIM could be best; the other 3 could not."
    assert screen(MIDDLE)[:3] != ranked[:3]
