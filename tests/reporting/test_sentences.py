"""What sections say, word by word: each sentence has a result for which it stands there and one for which it does not.

The results are made by hand, so that every number in a sentence is known.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace as Made

import numpy as np
import polars as pl
import pytest

from recassay.analysis.bench.result import NOT_ASKED
from recassay.analysis.inference.effects import Effect
from recassay.analysis.model.result import PredictedCell, Shares, TippingPoint
from recassay.analysis.plan.result import Look
from recassay.analysis.stress.result import Change
from recassay.analysis.users.random_effects import RandomEffects
from recassay.analysis.users.result import (
    DatasetUsers,
    Gain,
    PairSummary,
    Reference,
    Uplift,
    UserPair,
    UsersResult,
    Window,
)
from recassay.analysis.verdict.fit import judge
from recassay.analysis.verdict.result import PairVerdict, Verdict
from recassay.core.tables.matrix import MissingCells
from recassay.core.tables.results import Results
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.reporting.sections import (
    adaptive,
    advise,
    associations,
    bench,
    beta_irt,
    certify,
    clusters,
    compare,
    comper,
    decodirt,
    glicko,
    logistic_irt,
    model,
    multiverse,
    pareto,
    per_dataset,
    plan,
    rank,
    ratings,
    select,
    strata,
    stress,
    user_irt,
    users,
)
from recassay.reporting.words import adaptive as adaptive_words
from recassay.reporting.words import bench as bench_words
from recassay.reporting.words import compare as compare_words
from recassay.reporting.words import decodirt as decodirt_words
from recassay.reporting.words import pairs as pair_words
from recassay.reporting.words import rank as rank_words
from recassay.reporting.words import users as users_words
from recassay.reporting.words import verdict as verdict_words
from support.made import framed
from support.tables import MIDDLE, named_table


def kept(*tables):
    """Of each table how many columns are names, which headings a narrow terminal keeps first, and the rows it shows."""
    return [(table.names, table.important, table.most) for table in tables]


def pair(left, right, difference, *, significant, counts=(30, 10, 20)):
    better, equal, worse = counts
    return UserPair(left, right, difference, difference - 0.01, difference + 0.01, None, 0.1, 0.012, 0.024, significant,
                    better, equal, worse)  # fmt: skip


def on_users(dataset, pairs, *, left_out=0):
    return DatasetUsers(dataset, 1234, left_out, ("EASE", "ALS", "Pop"), (0.3, 0.2, 0.1), (0.29, 0.19, 0.09),
                        (0.31, 0.21, 0.11), tuple(pairs))  # fmt: skip


WON = on_users("films", [
    pair("EASE", "ALS", 0.1, significant=True), pair("EASE", "Pop", 0.2, significant=True),
    pair("ALS", "Pop", 0.1, significant=False, counts=(4, 50, 5)),
], left_out=7)  # fmt: skip
OPEN = on_users("books", [
    pair("EASE", "ALS", 0.1, significant=False, counts=(0, 60, 0)), pair("EASE", "Pop", 0.2, significant=True),
    pair("ALS", "Pop", 0.1, significant=True),
])  # fmt: skip


def user_tests(*datasets, summary=(), skipped=None):
    return UsersResult("ndcg@10", True, ("EASE", "ALS", "Pop"), datasets, summary, 0.1, 0.9, 1000, skipped or {})


def together(estimate, *, significant, datasets=5, p_holm=0.03):
    effects = RandomEffects(
        datasets=datasets, estimate=estimate, low=estimate - 0.01, high=estimate + 0.01, p=0.01, tau=0.005,
        i_squared=0.2, predicted_low=0.0, predicted_high=0.1,
    )  # fmt: skip
    return PairSummary("EASE", "ALS", 3, 2, 1, effects, p_holm, significant)


SCOPE = (
    "Intervals and tests are over users: they speak of further users of {}, not of other datasets or of a later time."
)


def test_users_of_one_dataset():
    assert users_words.sentences(user_tests(WON)) == [
        "EASE is best on films by nDCG@10.",
        "EASE beats the next algorithm, ALS (nDCG@10 +0.1000; 90 % interval +0.0900 to +0.1100; p = 0.024 corrected "
        "for 3 pairs).",
        SCOPE.format("films"),
    ]
    turned_round = replace(WON, pairs=WON.pairs[::-1])
    same = users_words.sentences(user_tests(WON))
    assert users_words.sentences(user_tests(turned_round)) == same, "whatever the order of pairs"
    assert users_words.sentences(user_tests(OPEN)) == [
        "EASE or ALS is best on books by nDCG@10.",
        "EASE is not shown to differ from ALS.",
        SCOPE.format("books"),
    ]
    brief = users.brief(user_tests(OPEN, skipped={"songs": "two users"}))
    assert (brief.headline, brief.marked) == ("EASE or ALS is best on books by nDCG@10.", {"EASE", "ALS"})
    assert brief.sentences == tuple(users_words.sentences(user_tests(OPEN))[1:])
    assert brief.table.title == "books: nDCG@10 (higher is better) over 1,234 users"
    assert brief.table.rows == (
        ("EASE", "0.300", "0.290 to 0.310", "yes"),
        ("ALS", "0.200", "0.190 to 0.210", "yes"),
        ("Pop", "0.100", "0.090 to 0.110", "no"),
    )
    assert brief.table.notes == ("songs is left out: two users",)


def test_one_that_loses_to_another_than_the_first_could_not_be_best():
    """Pop is not shown to differ from EASE, but ALS beats it."""
    both = (pair("EASE", "ALS", 0.1, significant=False), pair("EASE", "Pop", 0.2, significant=False))
    beaten = replace(OPEN, pairs=(*both, pair("ALS", "Pop", 0.1, significant=True)))
    assert users_words.sentences(user_tests(beaten))[:2] == [
        "EASE or ALS is best on books by nDCG@10.",
        "EASE is not shown to differ from ALS or Pop.",
    ]
    brief = users.brief(user_tests(beaten))
    assert (brief.marked, [row[-1] for row in brief.table.rows]) == ({"EASE", "ALS"}, ["yes", "yes", "no"])
    one = replace(beaten, pairs=(pair("EASE", "ALS", 0.1, significant=True), *beaten.pairs[1:]))
    assert users_words.headline(one, user_tests(one)) == (
        "No clear winner on books by nDCG@10: only EASE could be best, but no difference from Pop is shown."
    )


def against(table, reference, *uplifts, why="most popular", **more):
    return replace(table, reference=Reference(reference, why), uplifts=uplifts, **more)


def test_the_uplift_over_a_reference():
    won = against(WON, "Pop", Uplift(2.0, 1.5, 2.6), Uplift(1.0, 0.004, float("inf")), None)
    assert users_words.sentences(user_tests(won))[:3] == [
        "EASE is best on films by nDCG@10; EASE is 200 % better than Pop.",
        "EASE beats Pop (the most popular items) (nDCG@10 +0.2000, +200 %; 90 % interval +150 % to +260 %; 1,234 "
        "users; p = 0.024 corrected for 3 pairs).",
        "EASE also beats the next algorithm, ALS (nDCG@10 +0.1000; 90 % interval +0.0900 to +0.1100; p = 0.024 "
        "corrected for 3 pairs).",
    ]
    table = users.brief(user_tests(won)).table
    assert [row[3:5] for row in table.rows] == [
        ("+200 %", "+150 to +260"), ("+100 %", "from +0"), ("reference", ""),
    ]  # fmt: skip
    led = against(WON, "EASE", None, Uplift(-0.3, -0.4, -0.2), None, why="control")
    assert users_words.sentences(user_tests(led))[:2] == [
        "EASE, the reference, is best on films by nDCG@10: it beats all 2 others.",
        "ALS is worse than EASE (nDCG@10 -0.1000, -30 %; 90 % interval -40 % to -20 %; 1,234 users; p = 0.024 "
        "corrected for 3 pairs).",
    ]
    close = against(OPEN, "ALS", Uplift(0.004, -0.002, 0.011), None, None, why="own lists")
    assert users_words.sentences(user_tests(close))[:2] == [
        "EASE or ALS is best on books by nDCG@10; EASE is not shown to beat ALS.",
        "EASE is not shown to differ from ALS, whose lists were made elsewhere and are judged as given, (nDCG@10 "
        "+0.1000, +0.4 %; 90 % interval -0.2 % to +1.1 %; 1,234 users; p = 0.024 corrected for 3 pairs).",
    ]
    nothing = against(WON, "Pop", None, None, None)
    assert users_words.headline(nothing, user_tests(nothing)).endswith("; EASE beats Pop.")
    for many in (won, led, close, nothing):
        assert len(users_words.headline(many, user_tests(many)).split()) <= 20


def test_windows_of_time_and_who_gains():
    means = [(0.3, 0.2, 0.1), (0.2, 0.3, 0.1), (0.4, 0.1, 0.2), (0.2, 0.2, 0.1)]
    told = against(WON, "Pop", None, None, None, windows=tuple(Window(f"w{i}", m) for i, m in enumerate(means)))
    said = users_words.windows(told, user_tests(told))
    assert said == "Of 4 windows of time, EASE was ahead of ALS in 2 and of Pop in 4."
    lower = replace(user_tests(told), higher_is_better=False)
    assert users_words.windows(told, lower).startswith(
        "Of 4 windows of time, EASE was ahead of ALS in 1 and of Pop in 0"
    )

    def gain(by, low, high, difference):
        return Gain(by, low, high, 40, 60, "EASE", "Pop", 0.3, 0.2, difference, difference - 0.01, difference + 0.01)

    groups = replace(told, gains=(gain("activity", 1, 1, 0.005), gain("activity", 2, 1400, -0.02),
                                  gain("popularity", 3, 4, 0.0)))  # fmt: skip
    assert users_words.gains(groups, user_tests(groups)) == [
        "Of 2 groups of users by activity, EASE gains in none and loses in 1, most with 2 to 1,400 training events "
        "(-0.020).",
        "Of 1 groups of held-out events by popularity of the item, EASE gains in none and loses in none.",
    ]


def test_users_of_several_datasets():
    start = "Tested over the users of each dataset (sign-flip test, Holm), on "
    assert users_words.sentences(user_tests(WON, OPEN)) == [
        f"{start}1 of 2 datasets one algorithm is better than every other: EASE on 1."
    ]
    assert users_words.sentences(user_tests(OPEN, OPEN)) == [
        f"{start}0 of 2 datasets one algorithm is better than every other."
    ]
    ahead = [pair("ALS", "EASE", 0.1, significant=True), pair("ALS", "Pop", 0.1, significant=True)]
    by_als = replace(WON, algorithms=("ALS", "EASE", "Pop"), pairs=tuple(ahead))
    assert users_words.sentences(user_tests(WON, by_als, WON, OPEN))[0].endswith(
        "than every other: EASE on 2, ALS on 1."
    )
    assert users_words.sentences(user_tests(WON, by_als))[0].endswith("than every other: ALS on 1, EASE on 1.")
    brief = users.brief(user_tests(WON, OPEN))
    assert brief.headline == "On 1 of the 2 datasets one algorithm significantly beats all others among the users."
    assert brief.table.rows == (("films", "1234", "EASE", "0.3000", "none"), ("books", "1234", "EASE", "0.3000", "ALS"))
    assert kept(brief.table) == [(1, ("best", "not shown to be worse"), None)]
    nowhere = users.brief(user_tests(OPEN, OPEN)).headline
    assert nowhere == "On none of the 2 datasets does one algorithm significantly beat all others among the users."


def test_users_over_the_datasets_together():
    def said(summary):
        return users_words.sentences(user_tests(WON, OPEN, summary=(summary,)))[1:]

    rest = "on the users of single datasets it is better on 3, worse on 1 and not shown to be either on 2 of them."
    start = "Over the datasets together (random effects), EASE"
    for summary, words in (
        (together(0.02, significant=True),
         "is better than ALS: mean difference in ndcg@10 +0.0200 (+0.0100 to +0.0300)"),
        (together(0.02, significant=False),
         "is not shown to be better than ALS: mean difference in ndcg@10 +0.0200 (+0.0100 to +0.0300)"),
        (together(-0.02, significant=True),
         "is worse than ALS: mean difference in ndcg@10 -0.0200 (-0.0300 to -0.0100)"),
        (together(-0.02, significant=False),
         "is not shown to be better than ALS: mean difference in ndcg@10 -0.0200 (-0.0300 to -0.0100)"),
    ):  # fmt: skip
        assert said(summary) == [f"{start} {words}; {rest}"]
        assert users.brief(user_tests(WON, OPEN, summary=(summary,))).sentences == (said(summary)[0],)
    for silent in (
        together(0.02, significant=True, datasets=4),
        together(0.02, significant=True, p_holm=None),
        replace(together(0.02, significant=True), effects=None),
    ):
        assert said(silent) == []


def test_the_tables_over_users():
    summary = (together(0.02, significant=True), replace(together(0.02, significant=False), effects=None, p_holm=None))
    means, pairs, *_, last = users.tables(user_tests(WON, OPEN, summary=summary))
    assert means.title == "films: nDCG@10 (higher is better) over 1,234 users; 7 without a score left out"
    assert kept(means, pairs, last) == [
        (1, ("could be best", "nDCG@10"), None), (2, ("right", "difference", "p (Holm)"), None),
        (2, ("right", "difference", "p (Holm)", "won-open-lost"), None),
    ]  # fmt: skip
    assert pairs.rows[0] == ("EASE", "ALS", "+0.10000", "+0.09000 to +0.11000", ".012", ".024*", "30-10-20")
    assert pairs.rows[2] == ("ALS", "Pop", "+0.10000", "+0.09000 to +0.11000", ".012", ".024 ", "4-50-5")
    assert pairs.notes[1] == "In 1 of 3 pairs fewer than 10 users differ: those intervals can be too narrow."
    assert last.rows[0] == ("EASE", "ALS", "3-2-1", "+0.02000", "+0.01000 to +0.03000", ".030*", "0.0050")
    assert last.rows[1] == ("EASE", "ALS", "3-2-1", "", "", "", "")
    for gap in ({"effects": None}, {"p_holm": None}):
        *_, untested = users.tables(user_tests(WON, summary=(replace(together(0.02, significant=True), **gap),)))
        assert untested.rows[0][5] == "", "there is no test to tell"
    ten = replace(WON, pairs=(pair("EASE", "ALS", 0.1, significant=True, counts=(6, 0, 4)),
                              pair("EASE", "ALS", 0.1, significant=True, counts=(0, 9, 1))))  # fmt: skip
    assert (
        users.pairs_table(ten, user_tests(ten), USUAL).notes[1].startswith("In 1 of 2 pairs fewer than 10 users differ")
    )
    (_, of_open) = users.tables(user_tests(OPEN))
    assert len(of_open.notes) == 1, "no user differs in the first pair, and many in the others"


def modelled(best, **given):
    """A result of the model with these probabilities of the highest level."""
    names = ("a", "b", "c")[: len(best)]
    usual = Made(
        metric="ndcg@10", algorithms=names, datasets=("d",) * 6, higher_is_better=True, identical=(), predicted=(),
        probability_best=lambda: np.array(best), probability_first=lambda: np.array([0.3, 0.996, 0.1][: len(best)]),
        order=lambda: list(range(len(best))), shares=Shares(1, 1, 0.6, 0.3, 0.1, 6), tipping=(),
        scale=Made(forward=lambda values: np.log(values)),
    )  # fmt: skip
    return Made(**{**vars(usual), **given})


def test_the_model_names_who_is_probably_best():
    where = (
        "60 % of the variance of a difference between two algorithms comes from how the algorithms suit different "
        "datasets: more datasets would tell more."
    )
    assert model.sentences(modelled([0.049, 0.951, 0.0])) == [
        "By the hierarchical model, b has the highest level of ndcg@10 for datasets like these with probability 0.95. "
        "On a single new dataset it is first with probability above 0.99.",
        where,
    ]
    assert " c also has at least a 5 % chance." in model.sentences(modelled([0.0, 0.95, 0.05]))[0]
    assert " c, a also have at least a 5 % chance." in model.sentences(modelled([0.2, 0.5, 0.3]))[0]
    assert model.sentences(modelled([0.2, 0.5, 0.3], datasets=("d",) * 4)) == []
    assert len(model.sentences(modelled([0.2, 0.5, 0.3], datasets=("d",) * 5))) == 2
    twins = model.sentences(modelled([0.2, 0.5, 0.3], identical=(("a", "c"),)))
    assert twins[1:] == ["a, c have the same value on every dataset.", where]
    twins = modelled((0.5, 0.5), order=lambda: [1, 0])
    assert model.sentences(twins)[0].startswith("By the hierarchical model, b has the highest level")
    assert " a also has at least a 5 % chance. " in model.sentences(twins)[0]
    assert model.leader(twins) == "b", "the verdict does not name another than the sentence"


@pytest.mark.parametrize(
    ("shares", "sentence"),
    [
        ((0.2, 0.7, 0.1), "70 % of the variance of a difference between two algorithms comes from the noise of seeds "
                          "or folds: more seeds or folds would tell more."),
        ((0.2, 0.1, 0.7), "70 % of the variance of a difference between two algorithms comes from the users of the "
                          "test parts: larger test parts would tell more."),
        ((0.2, 0.0, 0.0), "Nothing was measured repeatedly, so all uncertainty counts as how the algorithms suit "
                          "different datasets."),
    ],
)  # fmt: skip
def test_the_model_says_where_the_uncertainty_comes_from(shares, sentence):
    assert model.sentences(modelled([0.2, 0.5, 0.3], shares=Shares(1, 1, *shares, 6)))[-1] == sentence


def test_the_model_says_how_bad_missing_cells_would_have_to_be():
    cell = PredictedCell("c", "d", 0.2, 0.1, 0.3)
    far = TippingPoint("a", 2, 0.1, 0.9, "a")
    near = TippingPoint("c", 1, 0.2, 0.4, "c")
    given = {"predicted": (cell,), "tipping": (far, near)}
    assert model.sentences(modelled([0.2, 0.5, 0.3], **given))[2:] == [
        "1 missing cell was predicted, as if missing for reasons that have nothing to do with the scores.",
        "By the hierarchical model, c would lead if the missing cell of c were 0.4 or better (expected: 0.2).",
    ]
    given = {"predicted": (cell, cell), "tipping": (replace(near, cells=2, needed=0.15, leader="b"),)}
    assert model.sentences(modelled([0.2, 0.5, 0.3], **given))[2:] == [
        "2 missing cells were predicted, as if missing for reasons that have nothing to do with the scores.",
        "By the hierarchical model, b would lead if the 2 missing cells of c were 0.15 or worse on average (expected: "
        "0.2).",
    ]
    lower = model.sentences(modelled([0.2, 0.5, 0.3], higher_is_better=False, **given))[-1]
    assert lower == (
        "By the hierarchical model, b would lead if the 2 missing cells of c were 0.15 or better on average (expected: "
        "0.2)."
    )


def tournament(ranks, bounds=True):
    rows = [
        {"algorithm": "a", "rating": 1650.4, "low": 1600.6, "high": 1700.2, "order_rank_low": ranks[0],
         "order_rank_high": ranks[1]},
        {"algorithm": "b", "rating": 1500.0, "low": 1450.0, "high": 1550.0, "order_rank_low": 2.0,
         "order_rank_high": 2.0},
    ]  # fmt: skip
    return Made(bounds=np.zeros(1) if bounds else None, n_orders=50, to_frame=lambda: Made(to_dicts=lambda: rows))


def test_the_tournament():
    start = (
        "As a Glicko-2 tournament over the datasets, a ends first (1650, 95 % 1601 to 1700) before b (1500, 1450 to "
        "1550); over 50 random orders of the datasets a ends "
    )
    assert glicko.sentences(tournament((1.0, 1.0))) == [f"{start}first nearly always."]
    assert glicko.sentences(tournament((1.0, 1.6))) == [f"{start}between places 1 and 2."]
    assert glicko.sentences(tournament((2.0, 3.0))) == [f"{start}between places 2 and 3."]
    assert glicko.sentences(tournament((1.0, 1.0), bounds=False)) == []


def rated(**given):
    usual = {
        "algorithms": ("a", "b", "c"), "datasets": ("d",) * 5, "battles": None, "families": None, "confidence": 0.9,
        "order": lambda: [1, 0, 2], "lead": lambda: (57.6, 0.583), "rating": np.array([1500.0, 1557.6, 1440.0]),
        "interval": np.array([[1400.0, 1600.0], [1501.0, 1610.0], [-np.inf, 1500.0]]), "rounds": "5 datasets",
        "least_share": lambda: 0.63, "metric": "ndcg@10", "skill": None, "anchored": None, "baseline": None,
    }  # fmt: skip
    return Made(**{**usual, **given})


def test_ratings_by_pairs():
    assert ratings.sentences(rated()) == [
        "By Bradley-Terry b is rated 1558 (90 % 1501 to 1610 over datasets), 58 points before a: it would win 58 % of "
        "pairwise comparisons."
    ]
    assert " over 3 families of datasets)" in ratings.sentences(rated(families=3))[0]
    assert " over 800 battles)" in ratings.sentences(rated(battles=800, rounds="800 battles"))[0]
    assert ratings.sentences(rated(datasets=("d",) * 4)) == []
    assert ratings.sentences(rated(datasets=("d",) * 4, battles=800, rounds="800 battles"))
    unbeaten = rated(interval=np.array([[1400.0, 1600.0], [1501.0, np.inf], [-np.inf, 1500.0]]))
    assert ratings.sentences(unbeaten) == [
        "b won all 5 datasets against every other: its true share is at least 63 % (90 %; rating 1501 or more)."
    ]


def test_the_table_of_ratings():
    rows = [
        {"algorithm": "b", "rating": 1557.6, "low": 1501.0, "high": np.inf, "win_rate": 1.0, "improvability": 0.012,
         "skill": 0.5},
        {"algorithm": "a", "rating": 1500.0, "low": 1400.0, "high": 1600.0, "win_rate": 0.5, "improvability": 0.1,
         "skill": 0.25},
        {"algorithm": "c", "rating": 1440.0, "low": -np.inf, "high": 1500.0, "win_rate": 0.0, "improvability": 0.2,
         "skill": 0.0},
    ]  # fmt: skip
    frame = {"to_frame": lambda: Made(to_dicts=lambda: rows)}
    (table,) = ratings.tables(rated(skill=np.zeros(3), baseline="c", anchored="c", **frame))
    assert [row[2] for row in table.rows] == ["1501 or more", "1400 to 1600", "1500 or less"]
    assert table.rows[0] == ("b", "1558", "1501 or more", "100 %", "1.2 %", "50.0 %")
    (battles,) = ratings.tables(rated(battles=800, rounds="800 battles", **frame))
    assert battles.title == "Ratings: ndcg@10, 800 battles; the mean is 1500"
    assert (battles.header, battles.notes) == (("algorithm", "rating", "90 %", "win rate"), ())


def repeated(*leads):
    return Made(ahead=[Made(repeats=repeats, share=share) for repeats, share in leads])


def test_dataset_by_dataset():
    end = "seeds or folds each; a count, no test)."
    start = "Taken one by one, on"
    middle = "datasets the best algorithm is ahead of the second in every repeat"
    assert per_dataset.sentences(repeated((1, 1.0))) == []
    assert per_dataset.sentences(repeated((5, 1.0), (5, 0.8), (1, 1.0))) == [f"{start} 1 of 2 {middle} (5 {end}"]
    assert per_dataset.sentences(repeated((5, 1.0), (3, 1.0), (4, 0.99))) == [f"{start} 2 of 3 {middle} (3 to 5 {end}"]
    for source, words in (
        ("users", "over the users of its test part"),
        ("stated", "from the deviations that the table states"),
        ("repeats", "over seeds or folds"),
    ):
        caption = per_dataset.plot_intervals.caption(Made(source=source, confidence=0.9), USUAL)
        assert caption == f"Each dataset's values with 90 % intervals {words}."
    shown = {0.1234: "0.123", 12.345: "12.35", 12345.6: "1.2e+04", 0.0004: "<0.001", -0.0004: "~0", 0.0: "0.000",
             0.0005: "0.001", 10.0: "10", 9.9996: "10.000", 1e4: "1.0e+04"}  # fmt: skip
    assert {value: per_dataset._short(value) for value in shown} == shown


def trade(other, front, share=None, left_out=()):
    names = ("a", "b", "c")
    shares = None if share is None else dict(zip(names, share, strict=True))
    return Made(other=other, algorithms=names, front=front, share=share, shares=lambda: shares,
                order=lambda: [1, 0, 2], left_out=left_out)  # fmt: skip


def test_the_pareto_front():
    start = "Pareto-optimal in ndcg@10 together with "
    sure = Made(metric="ndcg@10", trades=[trade("seconds", (True, True, False), (0.5, 0.996, 0.0)),
                                          trade("memory", (False, False, True), (0.0, 0.0, 1.0))])  # fmt: skip
    assert pareto.sentences(sure) == [
        f"{start}seconds: b (100 %), a (50 %); with memory: c (100 %). In brackets the share of bootstrap replicates "
        "over the datasets that agree."
    ]
    few = Made(metric="ndcg@10", trades=[trade("seconds", (True, True, False), left_out=("x",))] * 4)
    assert pareto.sentences(few) == [
        f"{start}seconds: b, a; with seconds: b, a; with seconds: b, a. This describes these datasets only; there are "
        "too few to generalise."
    ]
    assert pareto.plot_pareto.caption(few, USUAL).endswith("beaten in both; left out where values are missing: x.")
    assert pareto.plot_pareto.caption(sure, USUAL).endswith("hollow ones are beaten in both.")
    mixed = Made(metric="ndcg@10", trades=[few.trades[0], sure.trades[0]])
    assert pareto.sentences(mixed)[0].endswith("the datasets that agree."), (
        "shares stand in brackets where they are known"
    )
    late = Made(metric="ndcg@10", trades=[*few.trades[:3], *sure.trades])
    assert pareto.sentences(late)[0].endswith("there are too few to generalise."), "three trades are told"


def certified(claims, **given):
    usual = {"run": 30, "blocks": 120, "cost": 0.21, "universes": 60, "axis": "split", "axis_share": 0.44,
             "axis_certified": True}  # fmt: skip
    return Made(claims=claims, **{**usual, **given})


def test_a_certificate():
    spent = "30 of 120 blocks (combination of choices x dataset), 21 % of the cost"
    assert certify.sentences(certified([])) == [f"Nothing is certified yet: {spent}, were run."]
    claims = [
        Made(statement="a is best", share=0.75, interval=(0.7, 0.8), certified=True),
        Made(statement="a beats b", share=0.5, interval=(0.3, 0.7), certified=False),
    ]
    assert certify.sentences(certified(claims)) == [
        "a is best in about 75 % of 60 universes (95 % interval 70 to 80 %).",
        f"1 of 2 shares are certified within 5 points, from {spent}.",
        "The choice of split explains most of the differences between rankings (44 %).",
    ]
    seems = certify.sentences(certified(claims, axis_certified=False))[-1]
    assert seems == "The choice of split seems to explain most of the differences between rankings (44 %)."
    (table,) = certify.tables(certified(claims))
    assert table.rows == (("a is best", "75 %", "70 to 80", "yes"), ("a beats b", "50 %", "30 to 70", "no"))


def clustered(silhouette, p):
    number = Made(best_silhouette=silhouette, chance=(0.2, 0.41))
    return Made(number=number, p_differ=p, labels=(0,) * 12, sizes=(5, 7))


def test_clusters():
    start = "By their characteristics the 12 datasets fall into 2 clusters with a silhouette of "
    assert clusters.sentences(clustered(0.5, 0.049)) == [
        f"{start}0.50, above the 0.41 that points without any clusters reach in 5 % of cases.",
        "Mean ranks differ between the clusters more than between random groups of these sizes (p = 0.049).",
    ]
    assert clusters.sentences(clustered(0.41, 0.05)) == [
        f"{start}0.41, which points without any clusters reach, too (0.41 in 5 % of cases): read the groups as a "
        "convenient division, not as kinds of data.",
        "That mean ranks differ between the clusters is not shown: random groups of these sizes differ as much with p "
        "= 0.050.",
    ]


def associated(p, n_datasets=12):
    rho = np.array([[0.1, 0.1, 0.1], [0.3, 0.3, 0.3], [0.4, -0.9, 0.2]])
    adjusted = {"spearman": np.array([[0.9] * 3, [0.9] * 3, p]), "pearson": np.ones((2, 3))}
    return Made(values={"spearman": rho}, p_adjusted=adjusted, alpha=0.05, characteristics=("users", "items", "gini"),
                n_datasets=n_datasets, metric="ndcg@10")  # fmt: skip


def test_associations():
    assert associations.sentences(associated([0.04, 0.01, 0.05])) == [
        "Of 3 characteristics on 12 datasets, 2 go with ndcg@10 beyond chance (Spearman, mean over algorithms, "
        "corrected at 0.05): items (-0.90), users (+0.40). That is an association over datasets, not a cause."
    ]
    assert associations.sentences(associated([0.05, 0.2, 0.3])) == [
        "No characteristic of the datasets goes with ndcg@10 beyond chance (3 characteristics on 12 datasets, "
        "corrected)."
    ]
    assert (
        "3 characteristics on 12 datasets, 1 goes with ndcg@10"
        in associations.sentences(associated([0.05, 0.01, 1]))[0]
    )
    drawn = {(12, 0.5): True, (10, 0.5): True, (9, 0.5): False, (9, 0.04): True, (9, 0.05): False}
    assert {key: associations.telling(associated([key[1], 0.5, 0.5], key[0])) for key in drawn} == drawn


def open_pair(**given):
    usual = {"left": "a", "right": "b", "chance": 0.876, "alone": 40, "fewest": 25, "most": 90, "among_all": 60,
             "gap": 0.031, "low": -0.01, "high": 0.07, "relative": True, "without_repeats": 30,
             "without_users": None}  # fmt: skip
    made = {**usual, **given}
    return Made(**{"span": (made["fewest"], made["most"]), **made})


def planned(*pairs, **given):
    usual = {"pairs": pairs, "decided": 3, "power": 0.8, "difference": None, "datasets": ("d",) * 8, "left_out": 0,
             "challenger": None, "look": None, "removed": (), "complete": 8, "relative": True, "metric": "ndcg@10",
             "shares": {"repeats": 0.0, "users": 0.0}, "out_of_reach": lambda: [], "judgement": None}  # fmt: skip
    return Made(**{**usual, **given})


def test_what_more_would_tell():
    lead = "By the hierarchical model, a is ahead of b with a chance of 88 %"
    for result, sentence in (
        (planned(), "All 3 pairs are decided: nothing more needs to be run."),
        (planned(decided=1), "The only pair is decided: nothing more needs to be run."),
        (planned(open_pair()), f"{lead}. To show it with power 0.8 takes about 40 datasets (25 to 90, as the lead is "
                               "large or small); there are 8."),
        (planned(open_pair(fewest=None, most=None)),
         f"{lead}. To show it with power 0.8 takes about 40 datasets (? to more than 1,000, as the lead is large or "
         "small); there are 8."),
        (planned(open_pair(alone=None)),
         f"{lead}; no number of datasets up to 1,000 would show it with power 0.8."),
        (planned(open_pair(), difference=0.02),
         "To show a difference of 2 % between a and b with power 0.8 takes 40 datasets like these."),
        (planned(open_pair(alone=None), difference=0.02),
         "1,000 datasets would not show a difference of 2 % between a and b with power 0.8."),
    ):  # fmt: skip
        assert list(plan.sentences(result)) == [sentence]
    _, *others = plan.sentences(
        planned(open_pair(), open_pair(), out_of_reach=lambda: ["one"], left_out=1200, challenger="b",
                removed=("d", "e"), look=Look("a", (), ("b",), 10, 0.05, {})))  # fmt: skip
    assert others == [
        "1 of 2 undecided pairs is out of reach of 1,000 datasets.",
        "1,200 further undecided pairs, outside the best algorithms, are not planned for.",
        "Without 2 of the 8 complete datasets b would have the best mean rank.",
        "a has the best mean rank after 10 datasets; the sequential test for repeated looks (level 0.05 over all "
        "pairs) does not separate it from any other so far. It needs more datasets than a test that is made once.",
    ]
    (_, further) = plan.sentences(planned(open_pair(), left_out=2))
    assert further == "2 further undecided pairs, outside the best algorithms, are not planned for."
    left = list(plan.sentences(planned(open_pair(), left_out=1)))
    assert left[1:] == ["1 further undecided pair, outside the best algorithms, is not planned for."]
    two = list(plan.sentences(planned(open_pair(), open_pair(), out_of_reach=lambda: ["one", "two"])))
    assert two[1] == "2 of 2 undecided pairs are out of reach of 1,000 datasets."
    assert len(list(plan.sentences(planned(open_pair(), out_of_reach=lambda: ["one"])))) == 1, "said of the pair itself"
    assert len(list(plan.sentences(planned(open_pair(), open_pair())))) == 1, "nothing is out of reach"


def test_the_table_of_what_more_would_tell():
    assert list(plan.tables(planned())) == []
    (table,) = plan.tables(planned(open_pair(), open_pair(alone=None, fewest=None)))
    heads = ("ahead", "behind", "typical difference", "lead is real", "datasets", "range", "among all pairs")
    assert table.header == heads
    assert kept(table) == [(2, ("behind", "datasets", "range", "lead is real"), 30)]
    assert table.rows == (
        ("a", "b", "+3.1 % (-1.0 to +7.0)", "88 %", "40", "25 to 90", "60"),
        ("a", "b", "+3.1 % (-1.0 to +7.0)", "88 %", "> 1,000", "> 1,000 to 90", "60"),
    )
    assert len(table.notes) == 1
    noisy = planned(open_pair(relative=False), difference=0.02, shares={"repeats": 0.1, "users": 0.2})
    (asked,) = plan.tables(noisy)
    assert asked.title == "Datasets that would show a difference of 2 % with power 0.8 (ndcg@10), undecided pairs"
    assert asked.rows[0][2:] == ("+0.031 (-0.01 to +0.07)", "88 %", "40", "60", "30", "> 1,000")
    assert asked.notes == ()
    for noise, column in (("repeats", "without seed noise"), ("users", "without user noise")):
        (alone,) = plan.tables(planned(open_pair(), shares={"repeats": 0.0, "users": 0.0, noise: 0.1}))
        assert alone.header[6:] == ("among all pairs", column)


def advised(**given):
    skill = Made(rank_error=2.345, spearman=0.5, loss=0.0512, gain=0.1, gain_interval=(-0.05, 0.25))
    usual = {
        "algorithms": ("a", "b", "c"), "expected": np.array([1.2, 2.0, 2.8]), "overall": np.array([2.9, 1.1, 2.0]),
        "trusts_model": True, "order": lambda: [0, 1, 2], "title": "films", "evidence": "", "confidence": 0.9,
        "notes": ("It is far.",), "outside": (), "far": False, "dataset": "films",
        "usual_distance": (0.5, 1.25), "nearest": [Made(dataset="x", distance=0.7), Made(dataset="y", distance=0.9)],
        "overall_interval": np.array([[2.0, 3.0], [1.0, 2.0], [np.nan, np.nan]]),
        "expected_interval": np.array([[1.0, 2.0]] * 3), "near_ranks": np.array([1.0, 2.0, 3.0]),
        "near_interval": np.array([[1.0, 1.5]] * 3), "near_first": np.array([0.5, 0.25, np.nan]), "model": "ridge",
        "skills": {"model": skill, "baseline": skill, "nearest": skill}, "metric": "ndcg@10", "n_datasets": 20,
        "left_out": {"gini": "it is constant"}, "cost": (),
    }  # fmt: skip
    return Made(**{**usual, **given})


def test_advice():
    numbers = (
        "on tasks left out of its making its ranks miss by 2.35 (root mean square; overall mean rank: 2.35), and its "
        "first pick loses 5 % of the best value (overall: 5 %); its gain in squared error is +0.10 (90 %: -0.05 to "
        "+0.25)."
    )
    assert advise.sentences(advised(), Vocabulary("model", "task")) == [
        "On films try a (1.2) first, then b (2.0) and c (2.8): in brackets the rank to expect by the model on "
        "characteristics.",
        f"The model on characteristics improved on the overall mean rank: {numbers}",
        "It is far.",
    ]
    overall = advised(trusts_model=False, order=lambda: [1, 2, 0], evidence="30 datasets", notes=())
    assert advise.sentences(overall) == [
        "On films try b (1.1) first, then c (2.0) and a (2.9): in brackets the rank to expect by the mean rank over "
        "the whole benchmark.",
        f"The model on characteristics did not improve on the overall mean rank: {numbers.replace('tasks', 'datasets')}"
        " The order advised is therefore the overall one.",
        "Evidence: 30 datasets",
    ]
    assert advise.sentences(advised(order=lambda: [0]))[0].startswith("On films try a (1.2) first: in brackets")
    four = advised(algorithms=tuple("abcd"), expected=np.array([1.2, 2.0, 2.8, 4.0]), order=lambda: [0, 1, 2, 3])
    assert advise.sentences(four)[0].startswith("On films try a (1.2) first, then b (2.0) and c (2.8): in brackets")
    two = advised(order=lambda: [0, 1])
    assert advise.sentences(two)[0].startswith("On films try a (1.2) first, then b (2.0): in brackets")


def test_the_tables_of_advice():
    ranks, nearest, worth = advise.tables(advised())
    assert ranks.title.startswith("Ranks (1 is best), in the order advised; 90 % intervals: overall and model of the")
    assert ranks.header == ("algorithm", "overall", "model", "on the 2 nearest", "share first there")
    assert ranks.rows[0] == ("a", "2.9 (2.0 to 3.0)", "1.2 (1.0 to 2.0)", "1.0 (1.0 to 1.5)", "0.50")
    assert ranks.rows[2] == ("c", "2.0", "2.8 (1.0 to 2.0)", "3.0 (1.0 to 1.5)", "")
    assert ranks.important == ("model", "on the 2 nearest")
    assert next(advise.tables(advised(trusts_model=False))).important == ("overall", "on the 2 nearest")
    assert kept(nearest, worth) == [(1, (), None), (1, ("error of the ranks", "gain over overall"), None)]
    assert nearest.title == (
        "Nearest datasets to films (ndcg@10 from 20 datasets; distance in standard deviations, usual among the "
        "benchmark's own: 0.50, at most 1.25)"
    )
    assert nearest.rows == (("x", "0.70"), ("y", "0.90"))
    assert nearest.notes == ("gini was left out of the distance: it is constant.",)
    assert worth.rows == (
        ("model (ridge)", "2.35", "0.50", "5.1 %", "+0.10 (-0.05 to +0.25)"),
        ("overall mean rank", "2.35", "0.50", "5.1 %", "-"),
        ("2 nearest", "2.35", "0.50", "5.1 %", "+0.10 (-0.05 to +0.25)"),
    )
    slow, quick = (Made(algorithm=name, seconds=seconds, low=1.0, high=900.0)
                   for name, seconds in (("a", 1234.5), ("b", 2.0)))  # fmt: skip
    *_, cost = advise.tables(advised(cost=(slow, quick)))
    assert cost.title.endswith("on the machine of the benchmark; 90 % intervals for one dataset")
    assert cost.rows == (("b", "2", "1", "900"), ("a", "1.23e+03", "1", "900"))


def spread(mean, low=0.1, high=0.9):
    return Made(mean=mean, low=low, high=high)


def chosen(**given):
    usual = {"datasets": ("x", "y"), "left_out": spread(0.61), "simulated": spread(0.8), "rho": 0.95,
             "better_than_random": 0.75, "held_out_algorithms": spread(0.7), "held_out_p": 0.049,
             "by_metric": {"recall@10": 0.5, "map@10": 0.7}, "held_out_both": spread(0.44)}  # fmt: skip
    return Made(**{**usual, **given})


def selected(**choices):
    return Made(k=2, datasets=tuple("abcdefgh"), metric="ndcg@10", rule="mean rank", choices=choices,
                skipped={"Slow": "has no value on x"})  # fmt: skip


def test_few_datasets():
    at_random = (
        "2 of the 8 datasets, taken at random, rank in ndcg@10 as the other 6 do with a Spearman correlation of 0.61 "
        "on average (middle 95 %: 0.10 to 0.90; with all 8, which contain them, 0.80)."
    )
    start = "The choice that best preserves it (x, y) reaches 0.95 on the numbers it was made on"
    judged = (
        f"{start}; chosen on one half of the algorithms and judged by the other on the datasets left out, such a "
        "choice reaches 0.70, a random one 0.60: "
    )
    random = chosen(held_out_algorithms=spread(0.6))
    assert select.sentences(selected(random=random, preserving=chosen())) == [
        at_random, f"{judged}better than random subsets (p = 0.049)."
    ]  # fmt: skip
    for p, words in ((0.05, "0.050"), (None, "1.000")):
        assert select.sentences(selected(random=random, preserving=chosen(held_out_p=p)))[1] == (
            f"{judged}not better than random subsets (p = {words})."
        )
    flattered = f"{start}, which flatters it."
    assert select.sentences(selected(preserving=chosen())) == [flattered]
    assert select.sentences(selected(random=random, preserving=chosen(held_out_algorithms=None)))[1] == flattered
    unjudged = chosen(held_out_algorithms=None)
    assert select.sentences(selected(random=unjudged, preserving=chosen()))[1] == flattered
    assert select.sentences(selected(random=chosen(simulated=None))) == []
    assert select.sentences(selected(random=random)) == [at_random]


def test_the_tables_of_few_datasets():
    table, named = select.tables(selected(random=chosen(by_metric={}, held_out_both=None), preserving=chosen()))
    judged = ("other algorithms", "with those left out", "its choice", "both other", "other metrics")
    assert kept(table, named) == [(1, judged, None), (2, (), None)]
    assert table.rows == (
        ("random", "0.610 (0.10 to 0.90)", "0.800 (0.10 to 0.90)", "-", "-", "0.700 (0.10 to 0.90)", "-", "-"),
        ("preserving", "0.610 (0.10 to 0.90)", "0.800 (0.10 to 0.90)", "0.950", "75 %", "0.700 (0.10 to 0.90)", "0.600",
         "0.440"),
    )  # fmt: skip
    assert table.notes[0].endswith(" Against random subsets on other algorithms: p = 0.049.")
    assert named.rows == (("random", "x, y"), ("preserving", "x, y"))
    (alone, _) = select.tables(selected(random=chosen(held_out_p=None)))
    assert alone.notes[0].endswith("which the choice did not see.")
    _, named = select.tables(selected(random=chosen(datasets=()), preserving=chosen()))
    assert named.rows == (("preserving", "x, y"),), "nothing was chosen at random"
    assert select._spread(spread(-0.0001, low=-0.004)) == "0.000 (0.00 to 0.90)"
    assert select._spread(spread(-0.0042, low=-0.0051)) == "-0.004 (-0.01 to 0.90)", "a small number keeps its sign"
    assert select._spread(None) == "-"


def claim(**given):
    counts = Made(ahead=40, tied=2, behind=18, universes=60, holds=20, undecided=35, reversed=5)
    usual = {"statement": "a is best", "counts": counts, "named": False, "fails": (), "by_dataset": {}, "p": 0.04,
             "lead": 0.456, "leaky": None, "rival": None}  # fmt: skip
    return Made(**{**usual, **given})


def universes(*claims, **given):
    usual = {"claims": claims, "best": lambda: {"a": 40, "b": 15, "c": 3, "d": 1, "e": 1}, "universes": 60,
             "shares": (), "axes": {"split": (), "metric": ()}, "settings": Made(alpha=0.05), "drift": None,
             "datasets": ("x", "y"), "seeds": (), "leaky": np.zeros(60, bool)}  # fmt: skip
    return Made(**{**usual, **given})


WITHIN = "Within single universes the claim is significant in 20, undecided in 35 and reversed in 5."


def test_claims_over_universes():
    best = "a is best in 40 of 60 universes; b in 15, c in 3, d in 1 and 1 more."
    joint = "equal algorithms would reach (mean lead 0.46 mean ranks; 2 datasets; joint p = 0.0"
    assert list(multiverse.sentences(universes())) == [best]
    assert list(multiverse.sentences(universes(best=lambda: {"a": 60}))) == ["a is best in 60 of 60 universes."]
    assert list(multiverse.sentences(universes(claim()))) == [
        best, WITHIN, f"Over all universes its support is more than {joint}40)."
    ]  # fmt: skip
    fails = (Made(choices={"split": "random"}, fails=15, of=20),)
    by_dataset = {"x": (10, 2), "y": (3, 9), "z": (2, 1), "w": (0, 0), "v": (4, 0)}
    assert list(multiverse.sentences(universes(claim(named=True, fails=fails, by_dataset=by_dataset,
                                                     p=0.05)))) == [
        "a is best in 40 of 60 universes (tied in 2), by mean rank.",
        "It fails mainly under split = random (15 of 20 such universes).",
        "On single datasets it is ahead in 0 of 0 universes on w and in 4 of 4 on v.",
        WITHIN,
        f"Over all universes its support is not more than {joint}50).",
    ]  # fmt: skip
    alone = list(multiverse.sentences(universes(claim(by_dataset={"x": (10, 2)}, p=None))))
    assert alone[1:] == [WITHIN, "There is no joint test: fewer than two algorithms are in every universe."]


def test_the_choices_that_decide():
    def said(*shares, **given):
        made = [Made(name=name, axes=axes, share=share, interval=ends) for name, axes, share, ends in shares]
        return list(multiverse.sentences(universes(shares=made, **given)))[1:]

    start = "The deciding choices, by their share of the differences between rankings:"
    rest = ("datasets", (), 0.9, None)
    split, metric = ("split", (0,), 0.05, None), ("metric", (1,), 0.4, (0.31, 0.52))
    both = ("split x metric", (0, 1), 0.049, None)
    assert said(rest, split, metric, both) == [f"{start} metric 40 % (95 % interval 31 to 52 %), split 5 %."]
    assert said(rest, both) == ["No choice decides: no axis explains 5 % of the differences between the rankings."]
    assert said(rest, split, split, metric, split) == [
        f"{start} metric 40 % (95 % interval 31 to 52 %), split 5 %, split 5 %."
    ]
    assert said(rest) == []
    assert said(split, axes={"split": ()}) == []


def test_drift_seeds_and_leaks():
    def drifted(p, smallest=0.01):
        return Made(slopes={"c": 0.5, "a": 0.75, "b": -1.25}, windows=6, datasets=1, p=p, smallest_p=smallest)

    def said(**given):
        return list(multiverse.sentences(universes(**given)))[1:]

    assert said(drift=drifted(0.049)) == [
        "The order drifts over time (6 windows, 1 dataset; p = 0.049): from the first window to the last b gains 1.2 "
        "ranks, a loses 0.8."
    ]
    assert said(drift=drifted(0.05)) == ["No drift of the order over time is seen (6 windows, 1 dataset; p = 0.050)."]
    assert said(drift=drifted(0.05, smallest=0.05)) == [
        "So few windows cannot show a drift of the order over time (6 windows, 1 dataset; the smallest possible p is "
        "0.05)."
    ]
    seeds = (Made(seed="model", share=0.7, swing=0.12), Made(seed="split", share=0.3, swing=0.05))
    assert said(seeds=seeds[:1]) == ["Seeds alone move a value by up to 12 % of its mean."]
    assert said(seeds=seeds) == [
        "Seeds alone move a value by up to 12 % of its mean; of the variance that they cause: model 70 %, split 30 %."
    ]
    leaky = np.zeros(60, bool)
    leaky[:1] = True
    seen = Made(ahead=1, tied=2)
    start = "marked as leaky, not counted above, a is best in"
    assert list(multiverse.sentences(universes(claim(leaky=seen), leaky=leaky)))[-1] == f"In the universe {start} 3."
    leaky[:3] = True
    against = claim(leaky=seen, rival="b")
    assert list(multiverse.sentences(universes(against, leaky=leaky)))[-1] == f"In the 3 universes {start} 1."
    for silent in (universes(claim(), leaky=leaky), universes(leaky=leaky), universes(claim(leaky=seen))):
        assert not any("leaky" in line for line in multiverse.sentences(silent))
    assert multiverse.drawn_claim(universes(claim(), against)) is against
    assert multiverse.drawn_claim(universes(claim(statement="first"), claim())).statement == "first"


def test_the_tables_of_universes():
    share = Made(name="split", axes=(0,), share=0.004, interval=None)
    two = Made(name="split x metric", axes=(0, 1), share=0.005, interval=(0.001, 0.0123))
    small = Made(name="x", axes=(0, 1), share=0.0049, interval=None)
    made = universes(claim(by_dataset={"x": (10, 2), "y": (3, 9)}),
                     claim(p=None, by_dataset={"x": (0, 1), "y": (1, 0)}),
                     shares=(share, two, small), algorithms=("a", "b", "c"))  # fmt: skip
    claims, decide, by_dataset = multiverse.tables(made)
    assert claims.title.startswith("Claims over 60 universes, 3 algorithms, 2 datasets: seen by mean rank, and shown")
    assert claims.rows[0] == ("a is best", "40", "2", "18", "20", "35", "5", "0.46", ".040")
    assert kept(claims, decide, by_dataset) == [
        (1, ("ahead", "behind", "joint p", "holds", "tied"), 30), (1, (), 20), (1, (), None)
    ]  # fmt: skip
    assert claims.rows[1][-1] == ""
    assert decide.header == ("choice", "share", "95 %")
    assert decide.rows == (("split", "0.4 %", "exact"), ("split x metric", "0.5 %", "0.1 to 1.2"))
    assert by_dataset.rows == (("a is best", "10 of 12", "3 of 12"), ("a is best", "0 of 1", "1 of 1"))
    assert len(list(multiverse.tables(universes(datasets=("x",), algorithms=("a",))))) == 2
    for count, shown in ((12, 3), (13, 2)):
        assert len(list(multiverse.tables(universes(datasets=("x",) * count, algorithms=("a",))))) == shown


def partly(**given):
    measured = np.array([[True, True, False], [True, False, False]])
    usual = {
        "measured": measured, "algorithms": ("b", "a"), "order": ("a", "b"), "datasets": ("x", "y", "z"),
        "target": "first", "certified": True, "probabilities": {"first": 0.962, "top3": 0.9, "order": 0.5, "rho": 0.6},
        "confidence": 0.95, "indifference": 1.0, "rho": 0.9, "spent": 90.0, "share": 0.055,
        "seconds": np.full((2, 3), 600.0), "probed": 0, "probes_took": 30.0, "prior": (), "prior_weight": 1.234,
        "leader_fails": 0.07, "next": None, "ended": None, "settled": lambda: [True, True],
        "ranks": np.array([[2.0, 1.5, 1.9], [1.0, 1.04, 1.0]]), "metric": "ndcg@10", "steps": (),
    }  # fmt: skip
    return Made(**{**usual, **given})


COST = "3 of 6 cells were run, 2 min: 5.5 % of the predicted 60 min of the whole grid; the other ranks are predicted."
UNSEEN = "a was not run on 2 of 3 datasets; that it fails on any of them is counted as 7 % probable."


def test_a_part_of_the_grid():
    assert list(adaptive.sentences(partly())) == [
        "Certified with 96.2 %: a has the best mean rank of the whole grid.", COST, UNSEEN, "Place 2 is settled."
    ]  # fmt: skip
    step = Made(probes=[("a", "z")], cells=[("b", "y"), ("b", "z")], seconds=1200.0)
    asked = partly(target="order", certified=False, probed=4, next=step, settled=lambda: [True, False, False, True])
    assert list(adaptive.sentences(asked)) == [
        "Not certified (50.0 %; asked for 95 %): the order a, b is that of the whole grid up to 1 mean rank.",
        COST,
        "4 cells were probed besides (30 s, counted above): a cheaper look that says something about the cell and "
        "stands in no table.",
        UNSEEN,
        "a is first with 96 %.",
        "Place 1 is settled.",
        "Places 2 to 3 are not settled.",
        "Place 4 is settled.",
        "Next: a probe of a on z, b on y, b on z (20 min).",
    ]
    whole = list(adaptive.sentences(partly(measured=np.ones((2, 3), bool), target="top3", order=("a", "b", "c", "d"))))
    assert whole[0] == "Every cell was run: a, b and c are the best three of the whole grid."
    assert not any("was not run" in line for line in whole)
    assert list(adaptive.sentences(partly(probed=1)))[2].startswith("1 cell was probed besides (30 s, counted above)")
    assert "3 of 6 cells and 1 probe, " in adaptive_words.standing(partly(probed=1))
    rho = next(adaptive.sentences(partly(target="rho", probabilities={"first": 1, "rho": 0.99999})))
    assert rho == "Certified with 99.9 %: the order a, b agrees with that of the whole grid (rho at least 0.9)."
    none_yet = list(adaptive.sentences(partly(measured=np.zeros((2, 3), bool))))
    assert not any("was not run" in line for line in none_yet)


def test_where_the_belief_started():
    def said(**given):
        return list(adaptive.sentences(partly(prior=("kdd24 (12 algorithms)", "mine"), **given)))[2]

    start = "It started from kdd24 (12 algorithms) and mine, which"
    counts = f"{start} now count as much as 1.23 measured datasets (the less, the more new cells disagree)."
    assert said() == counts
    assert said(prior_weight=0.05) == counts.replace("1.23", "0.05")
    assert said(prior_weight=0.049) == f"{start} the new cells contradict: that counts for nothing now."
    assert said(prior_weight=0.0, measured=np.zeros((2, 3), bool)) == counts.replace("1.23", "0.00")


def test_how_an_adaptive_run_stands():
    step = Made(probes=[("a", "z")], cells=[("b", "y")], seconds=1200.0)
    cost = "3 of 6 cells, 5.5 % of the predicted cost"
    assert adaptive_words.standing(partly()) == f"the first place is settled (96.2 %); place 2 is settled; {cost}"
    for given, words in (
        ({"next": step}, "next: a probe of a on z and 1 more, 20 min"),
        ({"next": Made(probes=[], cells=[("b", "y")], seconds=60.0)}, "next: b on y, 60 s"),
        ({"ended": "budget"}, "the budget is spent"),
        ({"ended": "certified"}, "nothing more has to be run"),
        ({"prior": ("kdd24 (12 algorithms)",)}, "prior: kdd24, as much as 1.23 datasets"),
    ):
        assert adaptive_words.standing(partly(**given)).endswith(f"{cost}; {words}")
    assert adaptive_words.standing(partly(target="order", certified=False, indifference=0.5, probed=2)) == (
        "the order up to 0.5 mean ranks is not settled (50.0 %); places 1 to 2 are settled; 3 of 6 cells and 2 probes, "
        "5.5 % of the predicted cost"
    )
    rho = adaptive_words.standing(partly(target="rho", measured=np.ones((2, 3), bool)))
    assert rho.startswith("the order (rho at least 0.9) is settled (known); ")
    shares = {0.1: "10 %", 0.099: "9.9 %", 0.002: "0.2 %", 0.0019: "0.19 %"}
    assert {share: adaptive_words.cost_share(share) for share in shares} == shares


def test_the_tables_of_a_part_of_the_grid():
    row = {"place": 1, "algorithm": "a", "mean_rank": 1.25, "deviation": 0.1, "settled": True, "cells_run": 1,
           "seconds": 90.0}  # fmt: skip
    step = Made(probes=[], cells=[("b", "y")], seconds=60.0, why="it is close")
    ranks, grid, steps = adaptive.tables(partly(steps=(step,), to_frame=lambda: Made(to_dicts=lambda: [row])))
    assert ranks.rows == (("1", "a", "1.25", "0.10", "yes", "1 of 3", "2 min"),)
    assert kept(ranks, grid, steps) == [(2, ("algorithm", "mean rank", "settled"), None), (1, (), 40), (3, (), 30)]
    assert grid.header == ("dataset", "a", "b")
    assert grid.rows == (("x", "1", "2"), ("y", "(1.0)", "1.5"), ("z", "(1.0)", "(1.9)"))
    assert steps.rows == (("1", "b on y", "it is close", "1", "60 s"),)
    assert len(list(adaptive.tables(partly(to_frame=lambda: Made(to_dicts=lambda: [row]))))) == 2, "nothing was run yet"
    turns = partly(target="order", settled=lambda: [True, False, True, False, True, False])
    assert [line for line in adaptive.sentences(turns) if "settled" in line] == [
        "Place 1 is settled.", "Place 2 is not settled.", "Place 3 is settled.", "Place 4 is not settled."
    ]  # fmt: skip


def crossing(first, second, threshold, *, proven=True):
    return Made(first=first, second=second, threshold=threshold, proven=proven, significant_below=proven,
                significant_above=True)  # fmt: skip


def popular(name, crossings=(), *, proven=0, first="a", last="a", apart=True):
    return Made(
        dataset=name, algorithms=("a", "b", "c"), rank=np.array([[2, 1, 3], [1, 2, 3]]), crossings=crossings,
        sensitivity=Made(proven=proven), order=lambda row: [first, "c"], first_on_all=lambda: last,
        told_from_best=lambda alpha: np.full((2, 3), apart), thresholds=(5, 50),
    )  # fmt: skip


def stratified(*datasets, estimate=0.2, beyond=True):
    study = Made(estimate=estimate, beyond_chance=beyond, chance=Made(mean=0.05, low=0.01, high=0.12))
    return Made(datasets=datasets, study=study, metric="ndcg@10", confidence=0.9, alpha=0.05, left_out=(),
                sensitivity_frame=lambda: Made(to_dicts=lambda: []))  # fmt: skip


def turned(over="", judged="more than chance gives"):
    return (
        f"Between the least popular items and all items 20 % of the pairs with an order at both ends turn round{over}: "
        f"{judged} (between random halves of the users at one and the same threshold 5 %, 90 % of the halvings 1 % to "
        "12 %)."
    )


def test_an_order_that_changes_with_popularity():
    flip = crossing("b", "a", 12.4)
    one = "on films b leads a below P = 12 and trails above"
    unproven = crossing("c", "a", 3.0, proven=False)
    assert list(strata.sentences(stratified(popular("films", [unproven, flip, unproven])))) == [
        "On the dataset the order in ndcg@10 changes with the popularity of the held-out items, significantly on both "
        f"sides: {one}. {turned()}"
    ]
    several = [popular("films", [flip, crossing("c", "b", 9.0), crossing("c", "a", 7.0), crossing("a", "c", 3.0)]),
               *(popular(name, [flip]) for name in ("x", "y", "z")), popular("calm")]  # fmt: skip
    said = list(strata.sentences(stratified(*several)))
    many = turned(over=", on average over 5 datasets")
    assert said == [
        "On 4 of 5 datasets the order in ndcg@10 changes with the popularity of the held-out items, significantly on "
        "both sides: on films b leads a below P = 12 and trails above, c leads a below P = 7 and trails above (and 2 "
        "more pairs); on x b leads a below P = 12 and trails above; on y b leads a below P = 12 and trails above; and "
        f"1 more dataset. {many}"
    ]
    assert strata.brief(stratified(*several)).headline == (
        "The order changes with the popularity of items on 4 of 5 datasets."
    )


def test_an_order_that_does_not_change_with_popularity():
    calm = "That two algorithms change places with the popularity of the held-out items is not shown on"
    chance = turned(judged="no more than chance may give")
    unproven = popular("films", [crossing("b", "a", 12.4, proven=False)])
    assert list(strata.sentences(stratified(unproven, beyond=False))) == [f"{calm} the dataset. {chance}"]
    assert strata.brief(stratified(unproven)).headline == (
        "No change of order with the popularity of items is shown on the dataset."
    )
    (said,) = strata.sentences(stratified(popular("x", proven=2), popular("y", proven=1)))
    assert said == (
        f"{calm} any of 2 datasets. {turned(over=', on average over 2 datasets')} 3 pairs differ significantly at both "
        "ends, before correction for the search over thresholds."
    )
    (said,) = strata.sentences(stratified(popular("x", proven=1)))
    assert said.endswith(
        " 1 pair differs significantly at both ends, before correction for the search over thresholds."
    )
    (unseen,) = strata.sentences(stratified(popular("x"), estimate=float("nan")))
    assert unseen.endswith("On the least popular items no two algorithms have an order: nothing was hit there.")


def test_another_first_without_the_popular_items():
    other = popular("films", [crossing("b", "a", 12.4)], first="b", last="a")
    sentence = "Without the popular items another algorithm is first: on films b in place of a (P = 5)."
    assert list(strata.sentences(stratified(other)))[1:] == [sentence]
    assert strata.brief(stratified(other)).sentences[1:] == (sentence,)
    for silent in (popular("x", first="a", last="a"), popular("x", first="b", last="a", apart=False)):
        assert strata.brief(stratified(silent)).sentences[1:] == ()
    at_one_end = popular("x", first="b", last="a")
    for sure in ([[True, False, False], [False, False, False]], [[False, False, False], [False, True, False]]):
        at_one_end.told_from_best = lambda alpha, sure=sure: np.array(sure)
        assert strata.brief(stratified(at_one_end)).sentences[1:] == ()


def served(sure, known):
    main = Made(lead=lambda: ("a", "b", sure), telling_users=30, users=50, reliability=lambda: {"difficulty": known},
                fit=Made(respondents=("a", "b", "c")))  # fmt: skip
    return Made(main=main, metric="hit@10", model="2pl")


def test_abilities_on_users():
    telling = "30 of 50 users tell algorithms apart"
    assert user_irt.sentences(served(0.95, 0.7)) == [
        "By the 2PL model alone, a has a higher ability on these users than b with probability 0.950 (hit@10 by user). "
        f"{telling}."
    ]
    assert user_irt.sentences(served(0.949, 0.69)) == [
        "By the 2PL model alone, a has a higher ability on these users than b with probability 0.95 (hit@10 by user). "
        f"{telling}; how hard a single user is to serve is known only roughly from 3 algorithms (reliability 0.69)."
    ]


def test_abilities_on_binary_responses():
    def answered(abilities, negative):
        rows = [{"respondent": name, "ability": ability, "ability_low": ability - 0.5, "ability_high": ability + 0.5}
                for name, ability in zip("abcd", abilities, strict=False)]  # fmt: skip
        return Made(model="2pl", confidence=0.9, items=Made(names=("i",) * 40), summary=lambda: {
            "negative_share": negative}, to_frame=lambda: Made(to_dicts=lambda: rows))  # fmt: skip

    assert logistic_irt.sentences(answered([1.5, 0.0, -1.0], 0.125)) == [
        "By the 2PL on 40 items, the ablest of 3 respondents is a (1.50, 90 % 1.00 to 2.00), the least able c (-1.00, "
        "90 % -1.50 to -0.50).",
        "12.5 % of the items discriminate negatively, which abler respondents would fail more often.",
    ]
    alike, none = logistic_irt.sentences(answered([1.5, -1.0, -1.0, -1.0], 0.0))
    assert "least able d (and 2 more alike) (-1.00," in alike
    assert none == "None of the items discriminate negatively, which abler respondents would fail more often."


def trait(names, estimates):
    order = sorted(range(len(names)), key=lambda i: -estimates[i])
    return Made(names=names, estimate=estimates, order=lambda: order)


def responses(datasets=6, algorithms=6, positive=None, holes=0):
    names, items = [f"a{i}" for i in range(algorithms)], [f"d{i}" for i in range(datasets)]
    ability = trait(names, [0.3 + 0.1 * i for i in range(algorithms)])
    challenge = trait(items, [0.8 - 0.1 * i for i in range(datasets)])
    exceeds = np.full((algorithms, algorithms), 0.5)
    exceeds[-1, -2] = 0.914
    fine = {"flat": (), "reliability": 1.0, "reached": True, "settled": True}
    direct = Made(number=1, exceeds=exceeds, items=items, probability_positive=positive or [0.5] * datasets, **fine)
    reverse = Made(
        number=2,
        **fine,
        highest=np.array([0.7] + [0.0] * (datasets - 1)),
        lowest=np.array([0.0] * (datasets - 1) + [0.6]),
    )
    return Made(directions=(direct, reverse), trait=lambda name: ability if name == "ability" else challenge,
                datasets=items, algorithms=names, higher_is_better=True,
                values=np.array([np.nan] * holes + [0.5] * (6 - holes)))  # fmt: skip


def test_ability_and_challenge():
    assert beta_irt.sentences(responses()) == [
        "By item response theory a5 has the highest ability (0.80), above a4 with probability 0.91; d0 is the most "
        "challenging dataset (0.80, in 70 % of bootstrap replicates over the algorithms), d5 the least (0.30, in 60 % "
        "of bootstrap replicates over the algorithms)."
    ]
    few = beta_irt.sentences(responses(datasets=4, algorithms=4, positive=[0.49, 0.5, 0.9, 0.1], holes=2))
    assert few == [
        "By item response theory a3 has the highest ability (0.60); d0 is the most challenging dataset (0.80), d3 the "
        "least (0.50).",
        "On d0, d3 abler algorithms do worse (negative discrimination): noise, or an error there.",
        "2 of 6 cells are missing and were left out.",
    ]
    assert " with probability 0.91" in beta_irt.sentences(responses(datasets=5, algorithms=4))[0]
    assert "of bootstrap replicates" in beta_irt.sentences(responses(datasets=4, algorithms=5))[0]


def aggregated(places, total=4):
    return Made(first_places=lambda: places, counted=lambda: ["x"] * total, judgement=Made(leaders=("a",)),
                uncounted=dict)  # fmt: skip


def test_who_is_first_under_which_aggregation():
    everywhere = ["mean", "median", "Copeland", "Dowdall"]
    assert rank_words._agreement(aggregated({("a",): everywhere})) == "a is first under all 4 aggregations."
    tied = aggregated({("a",): ["median", "Copeland"], ("a", "b"): ["mean"], ("a", "c"): ["Dowdall"]})
    assert rank_words._agreement(tied) == (
        "a is first under all 4 aggregations, tied with b under mean; c under Dowdall."
    )
    apart = aggregated({("c",): ["Dowdall", "median"], ("b",): ["mean"], ("a",): ["Copeland"]})
    assert rank_words._agreement(apart) == (
        "The aggregations disagree on who is first: a by Copeland (1 of 4); c by Dowdall, median (2 of 4); b by mean "
        "(1 of 4)."
    )
    assert rank_words._agreement(aggregated({("b",): everywhere})) == (
        "The aggregations disagree on who is first: b by mean, median, Copeland, Dowdall (4 of 4)."
    )
    shared = aggregated({("a",): ["mean", "median"], ("a", "b"): ["Copeland"], ("b",): ["Dowdall"]})
    assert rank_words._agreement(shared) == (
        "The aggregations disagree on who is first: a by mean, median (2 of 4); b by Dowdall (1 of 4); a and b tied by "
        "Copeland (1 of 4)."
    ), "the counts add up to all"
    assert rank_words.aggregations(apart) == "4 aggregations"
    apart.uncounted = lambda: {"Borda": "Mean rank"}
    assert rank_words.aggregations(apart) == "4 aggregations and Borda (orders like Mean rank)"


def with_holes(p=0.04, families=None, **unseen):
    usual = {"possible": True, "cells": 1, "needed": 0.25, "beaten": 0.5, "leader": "b", "algorithm": "c"}
    return Made(skillings_mack=Made(p=p, missing=3, unseen=Made(**{**usual, **unseen}) if unseen else None), alpha=0.05,
                judgement=Made(families=families))  # fmt: skip


def test_missing_cells_in_the_comparison():
    kept = (
        "With the {} kept, Skillings and Mack's test {} that all algorithms perform alike (p = {}). It takes cells as "
    )
    reason = "missing for reasons that have nothing to do with the scores"
    assert list(compare_words._holes(Made(skillings_mack=None), USUAL)) == []
    assert list(compare_words._holes(with_holes(), USUAL)) == [
        f"{kept.format('3 missing cells', 'rejects', '0.040')}{reason}."
    ]
    assert list(compare_words._holes(with_holes(p=0.05, families=4), USUAL)) == [
        f"{kept.format('3 missing cells', 'does not reject', '0.050')}{reason}, and the datasets of a family as "
        "independent."
    ]
    single = with_holes()
    single.skillings_mack.missing = 1
    assert next(compare_words._holes(single, USUAL)).startswith("With the missing cell kept, ")
    by = "By Skillings and Mack's scores,"
    assert list(compare_words._holes(with_holes(possible=False), USUAL))[1:] == [
        f"{by} no values of the missing cells of a single algorithm would change who is first."
    ]
    assert list(compare_words._holes(with_holes(cells=1), USUAL))[1:] == [
        f"{by} b would be first if c had better values than at most 25 % of the others on its missing cell (where it "
        "was run: 50 %)."
    ]
    assert list(compare_words._holes(with_holes(cells=2, needed=0.9), USUAL))[1:] == [
        f"{by} b would be first if c had better values than at least 90 % of the others on its 2 missing cells (where "
        "it was run: 50 %)."
    ]
    assert "than at least 50 % of the others" in list(compare_words._holes(with_holes(needed=0.5), USUAL))[1]


def controlled(**known):
    """A verdict on the control `own`, with its status against each other."""
    pairs = [Made(b=name, status=status) for name, status in known.items()]
    return Made(control="own", algorithms=("own", *known), against=lambda name: pairs, grade="shared_lead")


def test_the_control_against_the_others():
    end = "Adjusted for its {}; valid if own was named before the results were seen."
    all_kinds = controlled(a="better", b="undecided", c="undecidable", d="worse", e="equivalent", f="better")
    assert compare_words._control(all_kinds, USUAL) == (
        f"It is better than a, f; worse than d; equivalent to e; undecided against b, c. {end.format('6 comparisons')}"
    )
    assert pair_words.control_headline(all_kinds) == (
        "own, the control, is better than 2 of 6 others, worse than 1, equivalent to 1 and undecided against 2."
    )
    one = controlled(a="undecided")
    assert compare_words._control(one, USUAL) == f"It is undecided against a. {end.format('1 comparison')}"
    assert pair_words.control_headline(one) == "own, the control, is undecided against a."
    assert (
        pair_words.control_headline(controlled(a="worse", b="worse")) == "own, the control, is worse than all 2 others."
    )


def test_the_control_comes_right_after_the_headline_unless_that_says_it():
    def lines(table, control):
        return verdict_words.first_lines(judge(Results.from_frame(table).matrix("ndcg@10"), control=control))

    told = "MyModel, the control, is better than 1 of 4 others, worse than 2 and undecided against 1."
    assert lines(MIDDLE, "MyModel")[0] == told
    winner = named_table({"A": [400 + n for n in range(10)], "B": [300 + n for n in range(10)], "C": [200] * 10})
    assert lines(winner, "B")[0] == "B, the control, is better than 1 of 2 others and worse than 1."
    few = MIDDLE.filter(pl.col("dataset").is_in(["d0", "d1", "d2"]))
    for table, control in ((MIDDLE, None), (winner, "A"), (few, "MyModel")):
        assert not any("the control" in line for line in lines(table, control))


def benched(**given):
    verdict = Made(
        algorithms=tuple("abcdefghij"), mean_rank=np.arange(1.0, 11.0), mean=np.linspace(0.5, 0.05, 10),
        interval=np.stack([np.arange(0.5, 10.0), np.arange(1.5, 11.0)], axis=1), metric="ndcg@10", caution="Careful.",
        leaders=("a",), status_of=lambda own, other: f"{own} to {other}",
    )  # fmt: skip
    verdict.place_of = partial(Verdict.place_of, verdict)
    row = Made(dataset="x", value=0.5, place=2, of=10, best="b", best_value=0.25, difference=0.01, low=-0.01, high=0.03,
               p=0.0001)  # fmt: skip
    usual = {
        "algorithm": "g", "judgement": verdict, "headline": lambda: "g is 7th.", "rows": (row,), "skipped": {},
        "of_datasets": 6, "left_out": (), "notes": (), "seconds": None, "joules": None,
        "pairs": (), "beats": (), "behind": (),
    }  # fmt: skip
    return Made(**{**usual, **given})


def test_one_algorithm_among_the_baselines(monkeypatch):
    monkeypatch.setattr(bench_words, "headline", lambda result, words: "g is 7th.")
    monkeypatch.setattr(bench_words, "beaten", lambda result: ["It beats j."])
    monkeypatch.setattr(bench_words, "caution", lambda verdict, words: verdict.caution)
    assert bench.sentences(benched()) == ["g is 7th.", "It beats j."]
    skipped = {"y": NOT_ASKED, "z": "no users", "w": NOT_ASKED}
    told = bench.sentences(benched(seconds=1234.5, joules=2500.0, skipped=skipped, left_out=("h",), notes=("Note.",)))
    assert told[2:] == [
        "g took 21 min and 2.5 kJ in all, tuning included.",
        f"1 of the benchmark's 6 datasets were used; not used: z (no users), 2 {NOT_ASKED}.",
        "Not compared, since values are missing: h.",
        "Note.",
    ]
    assert bench.sentences(benched(seconds=3.0))[2] == "g took 3 s in all, tuning included."
    assert bench.sentences(benched(skipped={"z": "no users"}))[2].endswith("not used: z (no users).")
    assert bench.sentences(benched(algorithm="a"))[-1] == "Careful."
    calm = benched(algorithm="a")
    calm.judgement.caution = None
    assert bench.sentences(calm) == ["g is 7th.", "It beats j."]
    shared = benched(algorithm="a")
    shared.judgement.leaders = ("a", "b")
    assert "Careful." not in bench.sentences(shared)


def test_the_tables_of_one_algorithm_among_the_baselines():
    standing, by_dataset = bench.tables(benched())
    assert standing.title.startswith("g among 9 baselines by mean rank of ndcg@10 ")
    assert [row[:2] for row in standing.rows] == [
        ("1", "a"), ("2", "b"), ("3", "c"), ("4", "d"), ("5", "e"), ("6", "f"), ("7", "g"), ("8", "h"), ("9", "i"),
        ("10", "j"),
    ]  # fmt: skip
    assert standing.rows[0] == ("1", "a", "1.0", "0.5 to 1.5", "g to a")
    assert standing.rows[6] == ("7", "g", "7.0", "6.5 to 7.5", "")
    for own, rows in (("a", "abcd"), ("m", "abcjklm")):
        many = benched(algorithm=own)
        many.judgement.algorithms, many.judgement.mean_rank = tuple("abcdefghijklm"), np.arange(1.0, 14.0)
        many.judgement.interval = None
        assert "".join(row[1] for row in next(bench.tables(many)).rows) == rows
    equal = benched()
    equal.judgement.mean_rank = np.array([1.0, 2.5, 2.5, *range(4, 11)])
    assert [row[0] for row in next(bench.tables(equal)).rows][:4] == ["1", "2", "2", "4"]
    few = benched()
    few.judgement.interval = None
    assert next(bench.tables(few)).rows[0] == ("1", "a", "1.0", "g to a")
    assert by_dataset.rows == (("x", "0.5000", "2 of 10", "b", "0.2500", "+0.0100 (-0.0100 to +0.0300)", "< .001"),)
    assert kept(standing, by_dataset) == [
        (1, ("mean rank", "status"), None), (1, ("place", "best baseline", "p (Holm)"), None)
    ]  # fmt: skip


def by_both_tests(decided, significant, favours, **power):
    """Three pairs, the left of which has the better mean rank, and what two tests say of them."""
    left, right = np.array(["a", "a", "b"]), np.array(["b", "c", "c"])
    favoured = np.where(np.array(favours) == "left", left, right)
    pairs = [Made(left=one, right=other) for one, other in zip(left, right, strict=True)]

    class Pairs(list):
        def take(self, places):
            return [self[place] for place in places]

    listed = Pairs(pairs)
    listed.columns = {"significant": np.array(significant), "favours": favoured, "left": left, "right": right}
    able = Made(wilcoxon_can_decide=True, smallest_p_holm=0.1875, **power)
    return Made(judgement=Made(better=np.array(decided), families=None, datasets=("x",) * 6), pairs=listed, power=able,
                datasets=("x",) * 6)  # fmt: skip


def test_the_usual_test_of_papers_is_told_where_it_differs():
    yes, no = [True, True, False], [False] * 3
    assert compare_words._other_test(by_both_tests(yes, yes, ["left"] * 3), USUAL) == []
    start = "Wilcoxon-Holm, common in papers,"
    weighs = "It weighs differences by rank and corrects without the dependence between pairs."
    assert compare_words._other_test(by_both_tests(yes, no, ["left"] * 3), USUAL) == [
        f"{start} finds 0 of 3 pairs significant; it differs from the verdict on 2. {weighs}"
    ]
    turned = compare_words._other_test(by_both_tests(yes, yes, ["left", "right", "left"]), USUAL)
    assert turned == [
        f"{start} finds 1 of 3 pairs significant; it differs from the verdict on 1. {weighs} Against the order of the "
        "mean ranks, Wilcoxon-Holm favours c over a."
    ]
    also = compare_words._other_test(
        by_both_tests([True, False, False], [True, False, True], ["left", "left", "right"]), USUAL
    )
    assert also == [
        f"{start} finds 1 of 3 pairs significant; it differs from the verdict on 0. {weighs} Against the order of the "
        "mean ranks, Wilcoxon-Holm favours c over b."
    ]
    cannot = by_both_tests(yes, no, ["left"] * 3)
    cannot.power.wilcoxon_can_decide = False
    assert compare_words._other_test(cannot, USUAL) == [
        f"{start} cannot be significant with 6 datasets and 3 pairs: its smallest corrected p is 0.19."
    ]
    cannot.judgement.families, cannot.power.smallest_p_holm = 4, 1.5
    assert compare_words._other_test(cannot, USUAL) == [
        f"{start} cannot be significant with 4 families of datasets and 3 pairs: its smallest corrected p is 1."
    ]


def test_the_comparison_as_a_whole(monkeypatch):
    monkeypatch.setattr(compare_words, "pairs_headline", lambda verdict, words: "h")
    monkeypatch.setattr(compare_words, "neighbours", lambda verdict, words: "n")
    monkeypatch.setattr(compare_words, "why", lambda verdict, words: ["how many", "w"])
    result = by_both_tests([True, True, False], [True, True, False], ["left"] * 3)
    result.judgement = Made(grade="shared_lead", control=None, families=None, better=result.judgement.better,
                            algorithms=("a", "b", "c"), datasets=("x",) * 6)  # fmt: skip
    result.friedman, result.alpha, result.skillings_mack = Made(p=0.049), 0.05, None
    alone = "that all algorithms perform alike (p = {}); it says nothing of single pairs."
    assert compare.sentences(result) == ["h", "n", "w", f"Friedman's test rejects {alone.format('0.049')}"]
    result.friedman.p, result.judgement.families = 0.05, 3
    assert compare.sentences(result)[-1] == (
        f"Friedman's test over 3 families of datasets does not reject {alone.format('0.050')}"
    )
    result.datasets = ("x",) * 5
    assert len(compare.sentences(result)) == 4
    result.judgement.algorithms = ("a", "b")
    assert compare.sentences(result)[:2] == ["h", "w"], "two algorithms have no neighbours to tell of"
    result.judgement.algorithms, result.datasets = ("a", "b", "c"), ("x",) * 4
    assert compare.sentences(result) == ["h", "n"], "no test is told"
    assert (
        compare._diagram_caption(result, USUAL)
        == "Mean ranks (further left is better) on 4 datasets, too few for a test."
    )
    result.judgement.grade = "not_comparable"
    assert compare.sentences(result) == ["h"]


def test_the_caption_of_the_diagram():
    columns = {"a": np.array(["a", "a", "b"]), "b": np.array(["b", "c", "c"])}
    judgement = Made(
        grade="shared_lead", test="sign-flips", better=np.array([False, False, True]), pairs=Made(columns=columns)
    )
    made = Made(datasets=("x",) * 5, bars="nemenyi", alpha=0.1, nemenyi_cd=1.234, credibility=0.9, control=None,
                drawn=(("a", "b"),), judgement=judgement)  # fmt: skip
    assert compare._diagram_caption(made, USUAL) == (
        "Mean ranks (further left is better); a bar joins algorithms that are nearer than Nemenyi's critical "
        "difference of 1.23 at the 0.1 level."
    )
    made.bars = "wilcoxon-holm"
    assert compare._diagram_caption(made, USUAL).endswith(
        "a bar joins algorithms that Wilcoxon-Holm does not separate at the 0.1 level."
    )
    made.bars = "sign-flips"
    assert compare._diagram_caption(made, USUAL) == (
        "Mean ranks (further left is better); a bar joins algorithms that the test of all pairs (flipped signs) does "
        "not separate at the 0.1 level. Not separated either, with another algorithm between them: a and c."
    )
    made.drawn = ()
    assert compare._diagram_caption(made, USUAL).startswith(
        "Mean ranks (further left is better); no bar: there are no neighbours that the test of all pairs"
    )
    judgement.grade = "too_little_data"
    assert compare._diagram_caption(made, USUAL) == (
        "Mean ranks (further left is better) on 5 datasets, too few to decide any pair."
    )
    made.bars, made.control = "bayesian", Made(name="own")
    assert compare._diagram_caption(made, USUAL) == (
        "Mean ranks (further left is better). own is the control; a star: shown to differ from it (sign-flip test)."
    )


def compared_tables(**given):
    friedman = Made(p=0.01, least_p=None, way="exact", chi_square=9.87654, p_value=0.00712, f=5.1, f_p_value=0.02,
                    chi_square_ties=10.0, p_value_ties=0.0067)  # fmt: skip
    pair = Made(left="a", right="b", wins=5, ties=1, losses=0, p=0.03125, p_holm=0.0312, significant=True,
                rank_biserial=0.75)  # fmt: skip
    posterior = Made(p_left=0.9, p_rope=0.07, p_right=0.03)
    own = Made(other="b", p=0.03125, p_holm=0.0312, significant=True, z=2.5, p_dunn=0.0124)
    judged = PairVerdict("a", "b", "better", 5, 0, 1, Effect("ratio", 1.05, (1.01, 1.1)), 0.031, 0.031)
    usual = {
        "friedman": friedman,
        "nemenyi_cd": 1.23456,
        "alpha": 0.1,
        "groups": {"wilcoxon_holm": (("a", "b"),), "nemenyi": (), "bayesian": ()},
        "judgement": Made(families=None, pairs=[judged], grade="clear_winner", control="a", algorithms=("a", "b"),
                          metric="ndcg@10", alpha=0.1, within=0.02, higher_is_better=True, datasets=("x",) * 6,
                          against=lambda name: [judged], close=lambda pair: True, listed=list),
        "missing": MissingCells(),
        "algorithms": ("a", "b"),
        "mean_ranks": np.array([1.25, 1.75]),
        "datasets": ("x",) * 6,
        "pairs": [pair],
        "bayesian": [posterior],
        "metric": "ndcg@10",
        "control": Made(name="a", pairs=[own], dunn_cd=0.9876),
        "within": 0.02,
    }  # fmt: skip
    return Made(**{**usual, **given})


def test_the_tables_of_the_comparison():
    own, pairs, witnesses, ranks, others = compare.tables(compared_tables())
    effect = ("+5.0 %", "+1.0 to +10.0 %", "5-1-0", ".031", "better (< 2 %)")
    assert own.rows == (("b", *effect),)
    assert own.notes == (
        "nDCG@10: on a typical dataset (Hodges and Lehmann); p is adjusted. (< 2 %): also shown to differ by less than "
        "that.",
    )
    assert pairs.rows == (("a", "b", *effect),)
    assert witnesses.header == ("other", "Wilcoxon p", "Holm p", "Holm < 0.1", "Dunn z", "Dunn p", "Dunn < 0.1")
    assert witnesses.rows == (("b", ".031", ".031", "yes", "+2.50", ".012", "yes"),)
    undecided = compared_tables()
    undecided.control.pairs[0].significant = False
    (row,) = list(compare.tables(undecided))[2].rows
    assert row[3] == ""
    assert ranks.rows == (("a", "1.250"), ("b", "1.750"))
    assert others.rows == (("a", "b", ".031", ".031", "yes", "+0.75", "0.900", "0.070", "0.030"),)
    first = ("right", "Holm p", "Holm < 0.1", "Bayes P(left)", "rank-biserial", "Bayes P(right)")
    assert kept(witnesses, ranks, others) == [
        (1, ("Holm p", "Holm < 0.1", "Dunn p"), None), (1, (), None), (2, first, None)
    ]  # fmt: skip
    made = compared_tables(control=None, missing=MissingCells("worst", (("a", "x"), ("a", "y"))))
    made.judgement.families, made.judgement.control = 3, None
    _, ranks, _ = compare.tables(made)
    assert ranks.notes[-2:] == (
        "Every test counts 3 families of datasets: mean differences and mean ranks within a family are one "
        "observation.",
        "2 cells were missing; each took the worst value seen on its dataset.",
    )
    made.judgement.grade = "not_comparable"
    assert [table.title.startswith("Witnesses") for table in compare.tables(made)] == [True, True]


def test_the_tables_of_ranks():
    def ranking(short, ranks, scores):
        return Made(rule=Made(short=short), ranks=np.array(ranks), scores=np.array(scores))

    result = Made(
        rankings={"mean": ranking("mean", [2.0, 1.5], [0.12345, 0.5]), "wins": ranking("wins", [1.0, 2.0], [7.0, 3.0])},
        order=lambda: [1, 0],
        algorithms=("a", "b"),
        probability_best=np.array([0.2, 0.8]),
        winner_p=np.array([0.03, 1.0]),
        judgement=Made(could_be_best=("b",), not_judged=(), metrics=()),
        higher_is_better=False,
        metric="rmse",
        datasets=("x",) * 6,
    )
    ranks, scores = rank.tables(result)
    assert kept(ranks, scores) == [(1, ("could be best", "P(first again)"), None), (1, (), None)]
    assert ranks.rows == (("b", "1.5", "2", "yes (p = 1.000)", "0.80"), ("a", "2", "1", "no (p = 0.030)", "0.20"))
    result.higher_is_better = True
    assert scores.rows == (("b", "0.5", "3"), ("a", "0.1235", "7"))
    result.probability_best = None
    assert next(rank.tables(result)).rows == (("b", "1.5", "2"), ("a", "2", "1"))
    assert [rank._digits(scores) for scores in ([1.0, 2.0], [1.5, 99.9], [1.5, 100.0], [-100.5, 1.0])] == [0, 3, 1, 1]
    assert rank._lines("one two three four", 12) == ["one two three", "four"]


def test_the_sentences_of_ranks(monkeypatch):
    for kind in ("headline", "sentences"):
        monkeypatch.setattr(verdict_words, kind, lambda verdict, words, kind=kind: getattr(verdict, kind))
    verdict = Made(grade="shared_lead", headline="h", sentences=("s",), leads_again=None, leaders=("a",))
    result = Made(
        judgement=verdict,
        skipped={"Slow": "has no value on x"},
        missing=MissingCells("worst", (("a", "x"), ("a", "y"))),
        first_places=lambda: {("a",): ["mean"]},
        counted=lambda: ["mean"],
    )
    filled = "2 cells were missing; each took the worst value seen on its dataset."
    notes = ["Slow was left out: it has no value on x.", filled]
    assert rank.sentences(result) == ["h", "s", *notes]
    verdict.leads_again = np.ones(1)
    assert rank.sentences(result) == ["h", "s", "a is first under all 1 aggregations.", *notes]
    verdict.grade, result.skipped, result.missing = "not_comparable", {}, MissingCells()
    assert rank.sentences(result) == ["h", "s"]


def test_the_tables_of_the_model():
    level = {"algorithm": "b", "level": 0.51234, "low": 0.4, "high": 0.6, "probability_best": 0.9,
             "probability_first": 0.7}  # fmt: skip
    pairs = [
        {"left": "b", "right": "a", "probability_better": 0.95, "probability_beats": 0.8, "probability_equal": 0.1},
        {"left": "a", "right": "b", "probability_better": 0.5, "probability_beats": 0.5, "probability_equal": 0.1},
    ]
    result = modelled(
        [0.2, 0.8], confidence=0.9, to_frame=lambda: framed(level, {**level, "algorithm": "a"}), within=0.02,
        level=np.zeros((4000, 2)), sampling=Made(effective=1234.6, r_hat=1.0012, error=0.0044),
        pairs_frame=lambda: framed(*pairs), predicted=(PredictedCell("c", "d", 0.2, 0.1, 0.3),),
    )  # fmt: skip
    levels, against, predicted = model.tables(result)
    assert levels.header[2] == "90 %"
    assert levels.rows[0] == ("b", "0.5123", "0.4000 to 0.6000", "0.90", "0.70")
    assert against.rows == (("a", "0.95", "0.80", "0.10"),)
    assert predicted.rows == (("c", "d", "0.2000", "0.1000 to 0.3000"),)
    assert kept(levels, against, predicted) == [
        (1, ("P(best)", "level", "P(first on a new dataset)", "90 %"), None), (1, (), None),
        (2, ("expected", "90 %"), 20),
    ]  # fmt: skip
    result.predicted = ()
    assert len(list(model.tables(result))) == 2
    assert model.leader(result) == "b"


def test_the_tables_of_traits():
    def trait(*names):
        n = len(names)
        values = np.linspace(0.5, 0.7, n)
        return Made(
            names=names, estimate=values, low=values - 0.1, high=values + 0.1, order=lambda: list(range(n))[::-1]
        )

    def direction(number, respondent, level, slope, people, things):
        traits = {respondent: trait(*people), level: trait(*things), slope: trait(*things)}
        return Made(number=number, traits=traits, mse=0.01234, log_likelihood=12.34, reliability=0.876,
                    probability_positive=[0.99] * len(things))  # fmt: skip

    directions = (
        direction(1, "ability", "difficulty", "discrimination", ("a", "b"), ("x", "y", "z")),
        direction(2, "challenge", "difficulty_limit", "consistency", ("x", "y", "z"), ("a", "b")),
    )
    result = Made(directions=directions, estimator="precision", metric="ndcg@10",
                  log_posteriors={"precision": 30.0, "beta": 17.6})  # fmt: skip
    able, hard, challenged, limits = beta_irt.tables(result)
    assert able.rows == (("b", "0.700 [0.600, 0.800]"), ("a", "0.500 [0.400, 0.600]"))
    assert able.notes == (beta_irt.NARROW,)
    assert hard.rows[0] == ("z", "0.700 [0.600, 0.800]", "0.700 [0.600, 0.800]", "0.990")
    fit = "Fit: mean squared error 0.0123, log-likelihood 12.3, reliability 0.88."
    assert hard.notes == (fit,)
    assert [one.important for one in (able, hard, challenged, limits)] == [
        (), ("difficulty", "P(> 0)"), (), ("difficulty limit", "P(> 0)")
    ]  # fmt: skip
    density = "The responses follow a Beta density around the curves with a precision of its own"
    result.log_posteriors = {}
    assert list(beta_irt.tables(result))[-1].notes[1] == f"{density}."
    result.estimator = "beta"
    assert list(beta_irt.tables(result))[-1].notes[1] == "The responses follow the Beta density of the model."


def test_the_table_of_the_tournament():
    row = {"algorithm": "a", "rating": 1650.4, "deviation": 51.6, "volatility": 0.06, "low": 1600.6, "high": 1700.2,
           "order_low": 1640.0, "order_high": 1660.0, "order_rank_low": 1.0, "order_rank_high": 2.0}  # fmt: skip
    result = Made(metric="rmse", higher_is_better=False, datasets=("x", "y"), order_name="as given", n_orders=50,
                  settled=False, tau=0.5, to_frame=lambda: framed(row, {**row, "low": None}))  # fmt: skip
    (table,) = glicko.tables(result)
    result.higher_is_better = True
    assert next(glicko.tables(result)).title.startswith("Glicko-2: rmse (higher is better), 2 datasets")
    assert table.rows[0] == ("a", "1650", "52", "0.0600", "1601 to 1700", "1640 to 1660", "1 to 2")
    assert table.rows[1][4] == ""
    assert table.notes[1].startswith("The ratings ran away (a volatility above ")
    assert kept(table) == [(1, ("rating", "95 %", "rank over orders", "over orders"), None)]


def test_the_tables_of_abilities():
    row = {"respondent": "a", "ability": 1.2345, "ability_low": 1.0, "ability_high": 1.5, "true_score": 0.8,
           "accuracy": 0.75}  # fmt: skip
    summary = {
        "mean_discrimination": 1.0,
        "discrimination_deviation": 0.5,
        "mean_difficulty": 0.1,
        "difficulty_deviation": 0.9,
        "mean_guessing": 0.2,
        "guessing_deviation": 0.1,
        "negative_share": 0.125,
    }
    result = Made(model="3pl", abilities=Made(method="EAP"), respondents=("a", "b"), items=Made(names=("i",) * 40),
                  confidence=0.9, to_frame=lambda: framed(row), summary=lambda: summary, notes=("Note.",))  # fmt: skip
    (table,) = logistic_irt.tables(result)
    assert kept(table) == [(1, (), 30)]
    assert table.header[2] == "90 %"
    assert table.rows == (("a", "1.234", "1.00 to 1.50", "0.800", "0.750"),)
    result.model, summary["mean_guessing"] = "2pl", None
    assert next(logistic_irt.tables(result)).notes == ("Note.",)


def test_the_tables_of_abilities_on_users():
    fit = Made(lead=lambda: ("a", "b", 0.9876), reliability=lambda: {"ability": 0.9, "difficulty": 0.4},
               fit=Made(respondents=("a", "b", "c"), converged=False, items=Made(names=range(30))),
               telling_users=30)  # fmt: skip
    row = {"dataset": "all users", "users": 50, "telling_users": 30, "mean_discrimination": 1.0,
           "discrimination_deviation": 0.5, "mean_difficulty": 0.1, "difficulty_deviation": 0.9}  # fmt: skip
    ability = {"dataset": "all users", "algorithm": "a", "ability": 0.5, "low": 0.4, "high": 0.6, "hit_rate": 0.25}
    result = Made(
        fits={"all users": fit},
        datasets_frame=lambda: framed(row),
        model="2pl",
        metric="hit@10",
        confidence=0.9,
        to_frame=lambda: framed(ability, {**ability, "dataset": "x", "ability": 9.0}),
        main=fit,
        too_few={},
    )
    abilities, of_users = user_irt.tables(result)
    assert abilities.title == "2PL: algorithms on the users of all users, hit by hit@10"
    assert abilities.header[2] == "90 %"
    assert abilities.rows == (("a", "0.500", "0.40 to 0.60", "0.250"),)
    assert of_users.rows == (("all users", "50", "30", "a", "0.988", "1.00 (0.50)", "0.10 (0.90)", "0.90 / 0.40"),)
    assert of_users.notes[0].endswith("as they rest on 3 algorithms each.")
    assert of_users.notes[1:] == (
        "3 algorithms are few for the 2PL: its intervals are too narrow, those of the 1PL hold",
        "all users: the estimation did not converge",
    )
    assert kept(of_users) == [(1, ("ablest", "P(ablest)", "users", "telling", "reliability"), None)]


def test_the_tables_of_popularity():
    shares = {"share_of_items": [0.5, 1.0], "share_of_train": [0.125, 1.0], "events": pl.Series([100, 2000])}
    dataset = popular("films", [crossing("b", "a", 12.4, proven=False), crossing("c", "a", 7.0)])
    dataset.told_from_best = lambda alpha: np.array([[False, False, True], [False, True, True]])
    dataset.order = lambda row: ["a", "b", "c"]
    dataset.value = np.array([[0.1, 0.2, 0.05], [0.4, 0.3, 0.2]])
    dataset.users, dataset.shares, dataset.shortened = (1200, 3400), shares, 1500
    result = stratified(dataset)
    result.left_out = ("books has one stratum",)
    row = {"dataset": "films", "distance": float("nan"), "chance": 0.05, "chance_low": 0.01, "chance_high": 0.1,
           "pairs": 3, "observed": 3, "flipped": 1, "proven": None}  # fmt: skip
    result.sensitivity_frame = lambda: framed(row, {**row, "distance": 0.333})
    values, crossings, sensitivity = strata.tables(result)
    assert values.rows == (
        ("a", "0.1000~", "0.4000*"),
        ("b", "0.2000*", "0.3000 "),
        ("c", "0.0500 ", "0.2000 "),
        ("(users)", "1,200 ", "3,400 "),
        ("(% of items)", "50.0 ", "100.0 "),
        ("(% of training events)", "12.5 ", "100.0 "),
    )
    assert values.notes[2] == "1,500 lists had too few items left after removal: their values are lower bounds."
    assert crossings.rows == (("c", "a", "7", "both"), ("b", "a", "12", "only above"))
    assert sensitivity.header[3] == "90 %"
    assert sensitivity.rows[0] == ("films", "undefined", "0.05", "0.01 to 0.10", "3", "3", "1", "")
    assert sensitivity.rows[1][1] == "0.33"
    assert sensitivity.notes[2:] == ("Left out: books has one stratum.",)
    assert values.important == ("5", "50")
    assert kept(crossings) == [(2, (), 20)]
    shares["events"], dataset.shortened, dataset.crossings = pl.Series([100, 100]), 0, ()
    values, _ = strata.tables(result)
    assert values.notes[0].startswith("Every T_P has 100 events with items")
    assert len(values.notes) == 2


def test_the_ends_of_many_thresholds_matter_most():
    dataset = popular("films")
    dataset.thresholds, dataset.users, dataset.shortened = (5, 10, 20, 50), (1, 2, 3, 4), 0
    dataset.rank = np.array([[2, 1, 3], [2, 1, 3], [1, 2, 3], [1, 2, 3]])
    dataset.told_from_best = lambda alpha: np.ones((4, 3), bool)
    dataset.order, dataset.value = lambda row: ["a", "b", "c"] if row == 3 else ["b"], np.zeros((4, 3))
    shares = [0.1, 0.2, 0.5, 1.0]
    dataset.shares = {"share_of_items": shares, "share_of_train": shares, "events": pl.Series([100, 200, 150, 400])}
    values, _ = strata.tables(stratified(dataset))
    assert values.important == ("5", "50", "10", "20")
    assert [row[0] for row in values.rows[:3]] == ["a", "b", "c"]
    assert values.rows[1] == ("b", "0.0000*", "0.0000*", "0.0000 ", "0.0000 ")
    assert values.notes[0].startswith("Every T_P has 100 to 400 events")
    dataset.crossings = [crossing("b", "c", 9.0), crossing("c", "a", 7.0)]
    assert "films c leads a below P = 7 and trails above, b leads c below" in next(
        strata.sentences(stratified(dataset))
    )
    three = [popular(name, [crossing("b", "a", 12.4)] * 2) for name in "xyz"]
    assert "more" not in next(strata.sentences(stratified(*three))).partition(". Between")[0]


def test_long_names_are_cut_in_statements_the_longest_first():
    names = ("Algorithm with a long name", "Algorithm with a long name, tuned")
    text = stress._brief(Made(algorithms=names), f"{names[1]} beats {names[0]}")
    assert text == "Algorithm with a long… beats Algorithm with a long…"


def test_the_tables_of_stress(monkeypatch):
    fewer = Change("datasets", 2, 4)
    conclusion = Made(statement="a is first", change=fewer, holds_under=3, verdict="fragile")
    subset = Made(size=3, numbers={"full": np.array([[0.9, 0.5, 1.0, 0]]), "disjoint": np.array([[0.7, 0.2, 0.9, 0]])})
    curve = Made(x=np.array([1, 2, 3]), numbers=np.array([[[0.99, 0.9, 1], [0.8, 0.61, 0.95], [0.5, 0.1, 0.9]]]))
    result = Made(
        algorithms=("a", "b"),
        datasets=("x",) * 4,
        metric="ndcg@10",
        titles=("mean",),
        draws=100,
        main=Made(change=fewer),
        signs=[
            Made(name="pareto", size=3, signs=["+"], numbers=[0.0]),
            Made(name="settings", size=0, signs=["NA"], numbers=[0.5]),
        ],
        subsets=[subset, Made(size=2, numbers={"full": np.array([[0.6, 0.1, 0.9, 0]])})],
        curves={"drop_datasets": curve},
        conclusions=[conclusion, Made(change=Change("copies"))],
        rules=("r",) * 10,
        skipped={"Slow": "has no value on x"},
        missing=MissingCells("worst", (("a", "x"), ("a", "y"))),
    )
    signs, agreement, survive = stress.tables(result)
    assert signs.rows == (("mean", "0.000 +", "NA"),)
    assert agreement.rows == (
        ("mean", "0.900 [0.50, 1.00]", "0.700 [0.20, 0.90]", "0.600 [0.10, 0.90]", "0.800 [0.61, 0.95]"),
    )
    assert survive.title.startswith(
        "What survives when 2 of the 4 datasets are left out: under how many aggregations at least 95 %"
    )
    assert survive.rows == (("a is first", "3 of 10", "fragile"),)
    monkeypatch.setattr(stress, "sentences", lambda result, words: ["One.", "Two.", "Three.", "Four.", "Five."])
    brief = stress.brief(result)
    assert (brief.headline, brief.sentences, brief.table) == ("One.", ("Two.", "Three.", "Four."), survive)
    result.missing = MissingCells()
    assert next(stress.tables(result)).notes == ("Slow was left out: it has no value on x.",)


def test_the_tables_of_comper():
    agreement = {"measure": "comper", "scope": "all", "settings": 2, "tau": None, "first": "a", "same_first": 0.5,
                 "reversed_share": 0.25}  # fmt: skip
    others = [
        {**agreement, "measure": "recall", "scope": "split"},
        {**agreement, "measure": "comper", "scope": "split", "tau": 0.5, "same_first": None, "reversed_share": None},
        {**agreement, "measure": "recall"},
    ]
    result = Made(
        table=Made(algorithms=("a", "b"), datasets=("x", "y")), order=lambda: [1, 0], normalisation="minmax",
        scores=np.array([[0.1, 0.2], [0.3, 0.5]]), by_dimension=np.array([[[0.1, 0.0], [0.1, 0.0]], [[0.2, 0.2]] * 2]),
        matrix=Made(name="the paper"), dimensions=("correctness", "coverage"), agreements=("yes",),
        agreement_frame=lambda: framed(agreement, *others),
    )  # fmt: skip
    scores, settings, holds = comper.tables(result)
    assert scores.title.startswith(
        "ComPer over 2 settings: score, and what each dimension adds to it (minmax, the paper)"
    )
    assert scores.rows == (("b", "0.400", "0.200", "0.200"), ("a", "0.150", "0.100", "0.000"))
    assert settings.rows == (("b", "0.300", "0.500"), ("a", "0.100", "0.200"))
    assert [row[:2] for row in holds.rows] == [("comper", "all"), ("comper", "split"), ("recall", "all")]
    assert holds.rows[0] == ("comper", "all", "2", "-", "a", "0.50", "0.25")
    assert holds.rows[1] == ("comper", "split", "2", "0.50", "a", "-", "-")
    assert kept(holds) == [(2, ("reversed", "most often first", "share", "Kendall's tau", "scope"), None)]
    result.agreements, result.table.datasets = (), ("x",)
    assert len(list(comper.tables(result))) == 1
    result.table.datasets = tuple("abcdefghi")
    assert len(list(comper.tables(result))) == 1
    result.table.datasets, result.scores = tuple("abcdefgh"), np.zeros((2, 8))
    assert len(list(comper.tables(result))) == 2


def test_the_derivation_of_the_matrix():
    frames = {
        "comper_expert_labels": pl.DataFrame({"dimension": ["coverage"], "label": ["high"], "mean": [0.25]}),
        "comper_matrix": pl.DataFrame({"dimension": ["coverage"], "novelty": [0.25], "trust": [0.5]}),
    }
    agreed = {"agree_after_matching_1": 7, "agree_after_matching_2": 9}
    derived = Made(frames=lambda: dict(frames), to_dict=lambda: agreed)
    assert comper.derivation_sentences(derived) == [
        "7 pairs agree after matching 1, 9 after matching 2; the others take the mean similarity of their mean label."
    ]
    labels, weighed = comper.derivation_tables(derived)
    assert (labels.title, labels.rows) == ("Expert labels", (("coverage", "high", "0.250"),))
    assert weighed.header == ("dimension", "novelty", "trust", "weight")
    assert weighed.rows == (("coverage", "0.2500", "0.5000", "0.7500"),)
    assert kept(weighed) == [(1, ("weight",), None)]


def tournament_on(name, *order, datasets=("x", "y")):
    """A rating of a set of datasets: all instances, and those kept."""
    played = Made(
        algorithms=("a", "b", "optimal"), order=lambda: [("a", "b", "optimal").index(one) for one in order],
        ratings=np.array([[1600.4, 1500.0, 1700.0], [50.0, 60.0, 70.0], [0.06, 0.06, 0.06]]),
    )  # fmt: skip
    return Made(set=Made(title=f"the {name} half", name=name, datasets=datasets), all=played, kept=played)


def half(**given):
    candidate = Made(
        set=Made(title="the hard half", datasets=("x", "y")),
        baselines=Made(above_optimal=0, below_pessimal=1),
        separated=0.75,
        tau=0.9,
    )
    usual = {"set": candidate.set, "datasets": ("x", "y"), "tau": 0.91, "random_tau": (0.5, 0.8, 0.95), "beaten": 0.97,
             "left_out": (), "candidates": (candidate,)}  # fmt: skip
    return Made(**{**usual, **given})


def classified(**given):
    def row(name, difficulty, discrimination):
        return {"dataset": name, "bin": 1, "instances": 40, "mean_difficulty": difficulty, "difficulty_deviation": 0.5,
                "mean_discrimination": discrimination, "discrimination_deviation": 0.25, "mean_guessing": 0.2,
                "guessing_deviation": 0.1, "negative_share": 0.125, "converged": True}  # fmt: skip

    sound, broken, unknown = (Made(above_optimal=n, sound=n == 0) for n in (0, 2, None))
    usual = {
        "to_frame": lambda: framed(
            row("x", 1.0, 0.5), row("y", 0.0, 0.0), row("z", -1.0, -0.5), row("flat", None, None)
        ),
        "ratings": [
            tournament_on("hard", "optimal", "a", "b"),
            tournament_on("easy", "optimal", "b", "a"),
            tournament_on("odd", "a", "optimal", "b"),
        ],
        "roles": {"a": "real", "b": "real", "optimal": "artificial"},
        "traits": [
            Made(varied=True, statistics=lambda: {"negative_share": 0.1}),
            Made(varied=True, statistics=lambda: {"negative_share": 0.3}),
            Made(varied=False, statistics=lambda: {"negative_share": 0.0}),
        ],
        "most_negative": lambda: Made(dataset="y"),
        "checks": lambda: {
            "hard": {"all_instances": broken, "without_negative": sound},
            "easy": {"all_instances": sound, "without_negative": unknown},
        },
        "correlations": Made(
            properties=2,
            statistics=("mean_difficulty", "negative_share"),
            telling=lambda: framed(),
            to_frame=lambda: framed(),
        ),
        "recommendation": half(),
        "notes": ("Note.",),
        "players": ("a", "b"),
        "how": Made(confidence=0.9),
        "bins": [
            Made(
                number=1,
                datasets=("x", "y"),
                parameters=Made(difficulty=0.5, discrimination=0.25, guessing=0.2, negative_share=0.1),
            )
        ],
        "mean_scores_frame": lambda: framed(
            *(
                {
                    "respondent": name,
                    "role": "real",
                    "probability": 0.8,
                    "probability_without_negative": 0.9,
                    "accuracy": 0.7,
                    "datasets": 3,
                }
                for name in ("a", "hidden")
            )
        ),
    }
    return Made(**{**usual, **given})


def test_classifiers_on_test_instances(monkeypatch):
    monkeypatch.setattr(decodirt_words, "notes", lambda result, words: result.notes)
    assert list(decodirt.sentences(classified())) == [
        "Of 3 datasets 1 has instances of a mean difficulty above 0 (harder than the average respondent is able), "
        "and 1 a positive mean discrimination; x is the hardest (1.00), z the easiest (-1.00).",
        "a has the highest Glicko-2 rating of the real classifiers on 2 of 3 sets of datasets; b on the easy half.",
        "On average 20.0 % of the instances of a dataset discriminate negatively (abler classifiers fail them more "
        "often: noise, or a wrong label), on y 30.0 %.",
        "With all instances nobody ends above the optimal classifier or below the pessimal one on 1 of 2 sets of "
        "datasets.",
        "Without negative ones nobody ends above the optimal classifier or below the pessimal one on 1 of 1 sets of "
        "datasets.",
        "None of the 4 correlations of properties with item parameters over 3 datasets is significant after Holm's "
        "correction.",
        "The recommended half (the hard half, 2 datasets) orders the real classifiers as all datasets do with "
        "Kendall's tau 0.91; random subsets of that size reach 0.80 (95 %: 0.50 to 0.95).",
        "Note.",
    ]
    rows = classified().to_frame().to_dicts()
    twice = classified(to_frame=lambda: framed(rows[0], *rows))
    told = next(decodirt.sentences(twice))
    assert told.startswith("Of 4 datasets 2 have instances of a mean difficulty above 0")
    assert ", and 2 a positive mean discrimination; x is the hardest (1.00)" in told
    pairs = [{"left": "NumberOfClasses", "right": "mean_difficulty", "pearson": -0.456}]
    told = Made(properties=2, statistics=("mean_difficulty",), telling=lambda: framed(*pairs))
    assert list(decodirt.sentences(classified(correlations=told)))[5] == (
        "After Holm's correction over 2 correlations of properties with item parameters, these remain: NumberOfClasses "
        "with mean difficulty (r = -0.46)."
    )
    silent = classified(to_frame=lambda: framed(), ratings=[], most_negative=lambda: None, checks=dict, notes=(),
                        correlations=Made(properties=0), recommendation=None)  # fmt: skip
    assert list(decodirt.sentences(silent)) == []
    artificial = classified(roles=dict.fromkeys(("a", "b", "optimal"), "artificial"))
    assert not any("Glicko-2" in line for line in decodirt.sentences(artificial)), "no classifier is real"
    networks = classified(roles={"a": "mlp", "b": "real", "optimal": "artificial"})
    assert list(decodirt.sentences(networks))[1] == (
        "b has the highest Glicko-2 rating of the real classifiers on 3 of 3 sets of datasets."
    ), "the many MLPs calibrate the instances, and are not candidates"
    positive = classified(traits=[Made(varied=True, statistics=lambda: {"negative_share": 0.0})])
    assert not any("On average" in line for line in decodirt.sentences(positive)), "no instance is negative"
    assert not any("recommended" in line for line in decodirt.sentences(classified(recommendation=half(tau=None))))
    assert not any(
        "recommended" in line for line in decodirt.sentences(classified(recommendation=half(random_tau=None)))
    )


def test_the_tables_of_classifiers():
    datasets, bins, every, sound, scores, halves = decodirt.tables(classified())
    assert datasets.rows[0] == ("x", "1", "40", "1.00 (0.50)", "0.50 (0.25)", "0.20 (0.10)", "12.5 %", "yes")
    assert datasets.rows[3][3] == ""
    assert bins.rows == (("1", "2", "0.50", "0.25", "0.20", "10.0 %"),)
    assert every.header == ("classifier", "hard", "easy", "odd")
    assert every.rows == (
        ("optimal", "1700 ± 137 (1)", "1700 ± 137 (1)", "1700 ± 137 (2)"),
        ("a", "1600 ± 98 (2)", "1600 ± 98 (3)", "1600 ± 98 (1)"),
        ("b", "1500 ± 118 (3)", "1500 ± 118 (2)", "1500 ± 118 (3)"),
    )
    assert sound.title.startswith("Glicko-2 ratings, without negatively discriminating instances: ")
    assert scores.rows == (("a", "real", "0.800", "0.900", "0.700", "3"),)
    assert kept(datasets, scores, halves) == [
        (1, ("difficulty", "discrimination", "negative", "instances"), 80),
        (2, ("all instances", "without negative", "accuracy"), None),
        (1, ("Kendall's tau with all", "pairs apart", "above optimal", "below pessimal"), None),
    ]  # fmt: skip
    assert halves.rows == (("the hard half", "2", "0", "1", "75 %", "0.90"),)
    few = half(tau=None, left_out=("z",))
    assert list(decodirt.tables(classified(recommendation=few)))[-1].notes[2:] == (
        "Left out for negative mean discrimination: z.",
    )
    for unknown in ({"random_tau": None}, {"beaten": None}):
        assert len(list(decodirt.tables(classified(recommendation=half(**unknown))))[-1].notes) == 2
    assert not any("Glicko-2" in table.title for table in decodirt.tables(classified(ratings=[])))
    pair = {
        "left": "NumberOfClasses",
        "right": "mean_difficulty",
        "pearson": -0.456,
        "low": -0.8,
        "high": -0.1,
        "p": 0.01,
        "p_holm": 0.04,
        "spearman": -0.5,
        "datasets": 12,
    }
    known = Made(to_frame=lambda: framed(*[pair] * 9, {**pair, "p_holm": None}))
    correlations = list(decodirt.tables(classified(correlations=known, recommendation=None)))[2]
    assert correlations.header[3] == "90 %"
    assert kept(correlations) == [(2, ("of the items", "Pearson", "p (Holm)", "90 %"), None)]
    assert correlations.rows[0] == ("NumberOfClasses", "mean difficulty", "-0.46", "-0.80 to -0.10", ".010", ".040",
                                    "-0.50", "12")  # fmt: skip
    assert len(correlations.rows) == 8


def test_which_pictures_classifiers_have():
    drawn = {plot.name for plot in decodirt.FIGURES if plot.when(classified(metadata_bins={}))}
    assert "decodirt_ratings" in drawn
    assert not any(name.startswith(("decodirt_by_", "decodirt_ranks_")) for name in drawn)
    several = classified(metadata_bins={"NumberOfInstances": (1, 2), "MinorityClassPercentage": (1,)},
                         ratings=[tournament_on("difficulty", "a"), tournament_on("least_difficulty_deviation", "a",
                                                                                  datasets=("x",))])  # fmt: skip
    drawn = {plot.name for plot in decodirt.FIGURES if plot.when(several)}
    assert {name for name in drawn if name.startswith(("decodirt_by_", "decodirt_ranks_"))} == {
        "decodirt_by_NumberOfInstances", "decodirt_ranks_difficulty"
    }  # fmt: skip


def test_long_lists_in_sentences_are_cut_and_the_rest_is_counted(monkeypatch):
    monkeypatch.setattr(bench_words, "headline", lambda result, words: "")
    monkeypatch.setattr(bench_words, "caution", lambda verdict, words: None)
    monkeypatch.setattr(decodirt_words, "notes", lambda result, words: ())
    names = tuple("abcdefghijkl")
    level = DatasetUsers("films", 9, 0, names, (0.3,) * 12, (0.2,) * 12, (0.4,) * 12,
                         tuple(pair("a", other, 0.1, significant=False) for other in names[1:]))  # fmt: skip
    but_one = replace(level, pairs=(*level.pairs[:-1], pair("a", "l", 0.1, significant=True)))
    first = users_words.lines(but_one, user_tests(but_one))[0]
    assert first == "a is not shown to differ from b, c, d, e, f, g and 4 more."
    assert users_words.headline(but_one, user_tests(but_one)).endswith(": 11 of 12 algorithms could be best.")
    table = users.brief(user_tests(level, level)).table
    assert table.rows[0][-1] == "b, c and 9 more"
    won = [DatasetUsers(name, 9, 0, (name, "z"), (0.3, 0.2), (0.2, 0.1), (0.4, 0.3),
                        (pair(name, "z", 0.1, significant=True),)) for name in names]  # fmt: skip
    assert users_words.sentences(user_tests(*won))[0].endswith("e on 1, f on 1 and 6 more.")
    everywhere = [f"rule {i}" for i in range(6)]
    four = "rule 0, rule 1, rule 2, rule 3 and 2 more"
    assert rank_words._agreement(aggregated({("a", "b"): everywhere}, 6)).endswith(f"tied with b under {four}.")
    assert rank_words._agreement(aggregated({("b",): everywhere}, 6)).endswith(f"b by {four} (6 of 6).")
    better = controlled(**dict.fromkeys(names, "better"))
    assert "It is better than a, b, c, d, e, f, g, h and 4 more. Adjusted" in compare_words._control(better, USUAL)
    mixed = controlled(a="worse", **dict.fromkeys(names[1:], "undecided"))
    assert "; undecided against b, c, d, e, f, g, h, i and 3 more. " in compare_words._control(mixed, USUAL)
    many = np.arange(9)
    rho, p = np.array([np.linspace(0.9, 0.1, 9)]), {"spearman": np.full((1, 9), 0.01)}
    result = Made(values={"spearman": rho}, p_adjusted=p, alpha=0.05, characteristics=tuple(f"c{i}" for i in many),
                  n_datasets=12, metric="ndcg@10")  # fmt: skip
    assert "c4 (+0.50), c5 (+0.40) and 3 more. That is" in associations.sentences(result)[0]
    front = Made(other="seconds", algorithms=names, front=(True,) * 12, share=None, shares=lambda: None,
                 order=lambda: range(12), left_out=())  # fmt: skip
    assert "with seconds: a, b, c, d, e and 7 more." in pareto.sentences(Made(metric="ndcg@10", trades=[front]))[0]
    left = benched(skipped={f"d{i}": "no users" for i in range(10)}, left_out=names, against=lambda *kinds: ())
    *_, unused, missing = bench.sentences(left)
    assert unused.endswith("d6 (no users), d7 (no users) and 2 more.")
    assert missing.endswith("values are missing: a, b, c, d, e, f, g, h and 4 more.")
    step = Made(probes=[], cells=[(name, "x") for name in names], seconds=60.0, why="it is close")
    *_, following = adaptive.sentences(partly(next=step))
    assert following == "Next: a on x, b on x, c on x, d on x and 8 more (60 s)."
    assert "; next: a on x and 11 more, 60 s" in adaptive_words.standing(partly(next=step))
    *_, steps = adaptive.tables(partly(steps=(step,), to_frame=lambda: framed()))
    assert steps.rows == (("1", "a on x, b on x and 10 more", "it is close", "12", "60 s"),)
    prior = partly(prior=tuple(f"t{i} (of mine)" for i in range(6)))
    assert "; prior: t0, t1 and 4 more, as much as" in adaptive_words.standing(prior)
    assert "t2 (of mine), t3 (of mine) and 2 more, which" in list(adaptive.sentences(prior))[2]
    others = [popular(name, [crossing("b", "a", 12.4)], first="b", last="a") for name in "vwxyz"]
    assert strata.brief(stratified(*others)).sentences[-1].endswith("on x b in place of a (P = 5) and 2 more.")
    sets = [tournament_on(name, "b", "a", "optimal") for name in "ghijk"]
    sets += [tournament_on(name, "a", "b", "optimal") for name in "abcdef"]
    ablest = next(line for line in decodirt.sentences(classified(ratings=sets)) if "Glicko-2" in line)
    assert ablest.endswith("on 6 of 11 sets of datasets; b on the g half, the h half, the i half and 2 more.")
