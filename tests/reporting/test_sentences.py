"""What sections say, word by word: each sentence has a result for which it stands there and one for which it does not.

The results are made by hand, so that every number in a sentence is known.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace as Made

import numpy as np
import pytest

from recassay.analysis.model.result import PredictedCell, Shares, TippingPoint
from recassay.analysis.users.random_effects import RandomEffects
from recassay.analysis.users.result import DatasetUsers, PairSummary, UserPair, UsersResult
from recassay.reporting.sections import (
    adaptive,
    advise,
    associations,
    beta_irt,
    certify,
    clusters,
    compare,
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
    user_irt,
    users,
)


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


def test_users_of_one_dataset():
    assert users.sentences(user_tests(WON)) == [
        "EASE significantly beats all others on the users of films.",
        "On the 1,234 users of films, EASE has the best ndcg@10 (0.3000, 90 % interval 0.2900 to 0.3100); it is better "
        "than every other algorithm, ALS first (by 0.1000, 0.0900 to 0.1100; sign-flip test over users, Holm). This "
        "says nothing of other datasets.",
    ]
    assert users.sentences(user_tests(OPEN)) == [
        "No clear winner on books: 2 of 3 could be best.",
        "On the 1,234 users of books, EASE has the best ndcg@10 (0.3000, 90 % interval 0.2900 to 0.3100); no "
        "difference from ALS is shown (sign-flip test over users, Holm).",
    ]
    brief = users.brief(user_tests(OPEN, skipped={"songs": "two users"}))
    assert (brief.headline, brief.marked) == ("No clear winner on books: 2 of 3 could be best.", {"EASE", "ALS"})
    assert brief.sentences == tuple(users.sentences(user_tests(OPEN))[1:])
    assert brief.table.title == "books: ndcg@10 over 1,234 users"
    assert brief.table.header == ("algorithm", "mean", "90 % interval", "shown to be worse than the best")
    assert brief.table.rows == (
        ("EASE", "0.30000", "0.29000 to 0.31000", "no"),
        ("ALS", "0.20000", "0.19000 to 0.21000", "no"),
        ("Pop", "0.10000", "0.09000 to 0.11000", "yes"),
    )
    assert brief.table.notes == ("songs is left out: two users",)


def test_users_of_several_datasets():
    start = "Tested over the users of each dataset (sign-flip test, Holm), on "
    assert users.sentences(user_tests(WON, OPEN)) == [
        f"{start}1 of 2 datasets one algorithm is better than every other: EASE on 1."
    ]
    assert users.sentences(user_tests(OPEN, OPEN)) == [
        f"{start}0 of 2 datasets one algorithm is better than every other."
    ]
    brief = users.brief(user_tests(WON, OPEN))
    assert brief.headline == "On 1 of the 2 datasets one algorithm significantly beats all others among the users."
    assert brief.table.header == ("dataset", "users", "best", "ndcg@10", "not shown to be worse")
    assert brief.table.rows == (("films", "1234", "EASE", "0.3000", "none"), ("books", "1234", "EASE", "0.3000", "ALS"))
    nowhere = users.brief(user_tests(OPEN, OPEN)).headline
    assert nowhere == "On none of the 2 datasets does one algorithm significantly beat all others among the users."


def test_users_over_the_datasets_together():
    def said(summary):
        return users.sentences(user_tests(WON, OPEN, summary=(summary,)))[1:]

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
    assert means.title == "films: ndcg@10 over 1,234 users; 7 without a score left out"
    assert pairs.header[3] == "90 % interval"
    assert pairs.rows[0] == ("EASE", "ALS", "+0.10000", "+0.09000 to +0.11000", "0.012", "0.024*", "30-10-20")
    assert pairs.rows[2] == ("ALS", "Pop", "+0.10000", "+0.09000 to +0.11000", "0.012", "0.024 ", "4-50-5")
    assert pairs.notes[1] == "In 1 of 3 pairs fewer than 10 users differ: those intervals can be too narrow."
    assert last.title == "ndcg@10 over 2 datasets (random effects)"
    assert last.rows[0] == ("EASE", "ALS", "3-2-1", "+0.02000", "+0.01000 to +0.03000", "0.03*", "0.0050")
    assert last.rows[1] == ("EASE", "ALS", "3-2-1", "", "", "", "")
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
        "For datasets like these, b has the highest level of ndcg@10 with probability 0.95. On a single new dataset it "
        "is first with probability above 0.99.",
        where,
    ]
    assert " c also has at least a 5 % chance." in model.sentences(modelled([0.0, 0.95, 0.05]))[0]
    assert " c, a also have at least a 5 % chance." in model.sentences(modelled([0.2, 0.5, 0.3]))[0]
    assert model.sentences(modelled([0.2, 0.5, 0.3], datasets=("d",) * 4)) == []
    assert len(model.sentences(modelled([0.2, 0.5, 0.3], datasets=("d",) * 5))) == 2
    twins = model.sentences(modelled([0.2, 0.5, 0.3], identical=(("a", "c"),)))
    assert twins[1:] == ["a, c have the same value on every dataset.", where]


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
        "c would lead if the missing cell of c were 0.4 or better (expected: 0.2).",
    ]
    given = {"predicted": (cell, cell), "tipping": (replace(near, cells=2, needed=0.15, leader="b"),)}
    assert model.sentences(modelled([0.2, 0.5, 0.3], **given))[2:] == [
        "2 missing cells were predicted, as if missing for reasons that have nothing to do with the scores.",
        "b would lead if the 2 missing cells of c were 0.15 or worse on average (expected: 0.2).",
    ]
    lower = model.sentences(modelled([0.2, 0.5, 0.3], higher_is_better=False, **given))[-1]
    assert lower == "b would lead if the 2 missing cells of c were 0.15 or better on average (expected: 0.2)."


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
        "By pairwise wins b is rated 1558 (90 % 1501 to 1610 over datasets), 58 points before a: it would win 58 % of "
        "their meetings."
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
    assert table.title == "Ratings: ndcg@10, 5 datasets; c is 1000"
    assert table.header == ("algorithm", "rating", "90 %", "win rate", "improvability", "skill against c")
    assert [row[2] for row in table.rows] == ["1501 or more", "1400 to 1600", "1500 or less"]
    assert table.rows[0] == ("b", "1558", "1501 or more", "100 %", "1.2 %", "50.0 %")
    assert table.notes == ("Improvability: the share of the best score that is left, averaged over datasets.",)
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
        caption = per_dataset.plot_intervals.caption(Made(source=source, confidence=0.9))
        assert caption == f"Each dataset's values with 90 % intervals {words}."
    shown = {0.1234: "0.123", 12.345: "12.35", 12345.6: "1.2e+04", 0.0004: "<0.001", -0.0004: "~0", 0.0: "0.000",
             0.0005: "0.001"}  # fmt: skip
    assert {value: per_dataset._short(value) for value in shown} == shown


def trade(other, front, share=None, left_out=()):
    names = ("a", "b", "c")
    shares = None if share is None else dict(zip(names, share, strict=True))
    return Made(other=other, algorithms=names, front=front, share=share, shares=lambda: shares,
                order=lambda: [1, 0, 2], left_out=left_out)  # fmt: skip


def test_the_pareto_front():
    start = "Not beaten in both ndcg@10 and another metric (the Pareto front), by "
    sure = Made(metric="ndcg@10", trades=[trade("seconds", (True, True, False), (0.5, 0.996, 0.0)),
                                          trade("memory", (False, False, True), (0.0, 0.0, 1.0))])  # fmt: skip
    assert pareto.sentences(sure) == [
        f"{start}seconds: b (100 %), a (50 %); by memory: c (100 %). In brackets the share of bootstrap replicates "
        "over the datasets that agree."
    ]
    few = Made(metric="ndcg@10", trades=[trade("seconds", (True, True, False), left_out=("x",))] * 4)
    assert pareto.sentences(few) == [
        f"{start}seconds: b, a; by seconds: b, a; by seconds: b, a. That holds for the datasets at hand; they are too "
        "few to speak of others."
    ]
    assert pareto.plot_pareto.caption(few).endswith("beaten in both; left out where values are missing: x.")
    assert pareto.plot_pareto.caption(sure).endswith("hollow ones are beaten in both.")


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
        "= 0.05.",
    ]


def associated(p, n_datasets=12):
    rho = np.array([[0.1, 0.1, 0.1], [0.4, -0.9, 0.2]])
    adjusted = {"spearman": np.array([[0.9] * 3, p]), "pearson": np.ones((2, 3))}
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
             "gap": 0.031, "low": -0.01, "high": 0.07, "without_repeats": 30, "without_users": None}  # fmt: skip
    return Made(**{**usual, **given})


def planned(*pairs, **given):
    usual = {"pairs": pairs, "decided": 3, "power": 0.8, "difference": None, "datasets": ("d",) * 8, "left_out": 0,
             "challenger": None, "look": None, "removed": (), "complete": 8, "relative": True, "metric": "ndcg@10",
             "shares": {"repeats": 0.0, "users": 0.0}, "out_of_reach": lambda: []}  # fmt: skip
    return Made(**{**usual, **given})


def test_what_more_would_tell():
    lead = "The lead of a over b is real with a chance of 88 %"
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
                removed=("d", "e"), look=Made(sentence=lambda: "Look again after 10.")))  # fmt: skip
    assert others == [
        "1 of 2 undecided pairs is out of reach of 1,000 datasets.",
        "1,200 further undecided pairs, outside the best algorithms, are not planned for.",
        "Without 2 of the 8 complete datasets b would have the best mean rank.",
        "Look again after 10.",
    ]
    left = list(plan.sentences(planned(open_pair(), left_out=1)))
    assert left[1:] == ["1 further undecided pair, outside the best algorithms, is not planned for."]
    two = list(plan.sentences(planned(open_pair(), open_pair(), out_of_reach=lambda: ["one", "two"])))
    assert two[1] == "2 of 2 undecided pairs are out of reach of 1,000 datasets."
    assert len(list(plan.sentences(planned(open_pair(), out_of_reach=lambda: ["one"])))) == 1, "said of the pair itself"


def test_the_table_of_what_more_would_tell():
    assert list(plan.tables(planned())) == []
    (table,) = plan.tables(planned(open_pair(), open_pair(alone=None, fewest=None)))
    assert table.title == "Datasets that would show the lead with power 0.8 (ndcg@10), undecided pairs"
    assert table.header == ("better", "worse", "difference", "lead is real", "datasets", "range", "among all pairs")
    assert table.rows == (
        ("a", "b", "+3.1 % (-1.0 to +7.0)", "88 %", "40", "25 to 90", "60"),
        ("a", "b", "+3.1 % (-1.0 to +7.0)", "88 %", "> 1,000", "> 1,000 to 90", "60"),
    )
    assert len(table.notes) == 1
    noisy = planned(open_pair(), difference=0.02, relative=False, shares={"repeats": 0.1, "users": 0.2})
    (asked,) = plan.tables(noisy)
    assert asked.title == "Datasets that would show a difference of 2 % with power 0.8 (ndcg@10), undecided pairs"
    assert asked.header[5:] == ("among all pairs", "without seed noise", "without user noise")
    assert asked.rows[0][2:] == ("+0.031 (-0.01 to +0.07)", "88 %", "40", "60", "30", "> 1,000")
    assert asked.notes == ()


def advised(**given):
    skill = Made(rank_error=2.345, spearman=0.5, loss=0.0512, gain=0.1, gain_interval=(-0.05, 0.25))
    usual = {
        "algorithms": ("a", "b", "c"), "expected": np.array([1.2, 2.0, 2.8]), "overall": np.array([2.9, 1.1, 2.0]),
        "trusts_model": True, "order": lambda: [0, 1, 2], "title": "films", "evidence": "", "confidence": 0.9,
        "model_worth": lambda: "It is worth it.", "warnings": lambda: ["It is far."], "dataset": "films",
        "usual_distance": (0.5, 1.25), "nearest": [Made(dataset="x", distance=0.7), Made(dataset="y", distance=0.9)],
        "overall_interval": np.array([[2.0, 3.0], [1.0, 2.0], [np.nan, np.nan]]),
        "expected_interval": np.array([[1.0, 2.0]] * 3), "near_ranks": np.array([1.0, 2.0, 3.0]),
        "near_interval": np.array([[1.0, 1.5]] * 3), "near_first": np.array([0.5, 0.25, np.nan]), "model": "ridge",
        "skills": {"model": skill, "baseline": skill, "nearest": skill}, "metric": "ndcg@10", "n_datasets": 20,
        "left_out": {"gini": "it is constant"}, "cost": (),
    }  # fmt: skip
    return Made(**{**usual, **given})


def test_advice():
    assert advise.sentences(advised()) == [
        "On films try a (1.2) first, then b (2.0) and c (2.8): in brackets the rank to expect by the model on "
        "characteristics.",
        "It is worth it.",
        "It is far.",
    ]
    overall = advised(trusts_model=False, order=lambda: [1, 2, 0], evidence="30 datasets", warnings=lambda: [])
    assert advise.sentences(overall) == [
        "On films try b (1.1) first, then c (2.0) and a (2.9): in brackets the rank to expect by the mean rank over "
        "the whole benchmark.",
        "It is worth it.",
        "Evidence: 30 datasets",
    ]
    assert advise.sentences(advised(order=lambda: [0]))[0].startswith("On films try a (1.2) first: in brackets")


def test_the_tables_of_advice():
    ranks, nearest, worth = advise.tables(advised())
    assert ranks.title.startswith("Ranks (1 is best), in the order advised; 90 % intervals: overall and model of the")
    assert ranks.header == ("algorithm", "overall", "model", "on the 2 nearest", "share first there")
    assert ranks.rows[0] == ("a", "2.9 (2.0 to 3.0)", "1.2 (1.0 to 2.0)", "1.0 (1.0 to 1.5)", "0.50")
    assert ranks.rows[2] == ("c", "2.0", "2.8 (1.0 to 2.0)", "3.0 (1.0 to 1.5)", "")
    assert ranks.important == ("model", "on the 2 nearest")
    assert next(advise.tables(advised(trusts_model=False))).important == ("overall", "on the 2 nearest")
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
        at_random, f"{judged}more than luck (p = 0.049)."
    ]  # fmt: skip
    for p, words in ((0.05, "0.05"), (None, "1.00")):
        assert select.sentences(selected(random=random, preserving=chosen(held_out_p=p)))[1] == (
            f"{judged}no more than subsets that know nothing may reach (p = {words})."
        )
    flattered = f"{start}, which flatters it."
    assert select.sentences(selected(preserving=chosen())) == [flattered]
    assert select.sentences(selected(random=random, preserving=chosen(held_out_algorithms=None)))[1] == flattered
    assert select.sentences(selected(random=chosen(simulated=None))) == []
    assert select.sentences(selected(random=random)) == [at_random]


def test_the_tables_of_few_datasets():
    table, named = select.tables(selected(random=chosen(by_metric={}, held_out_both=None), preserving=chosen()))
    assert table.title == "Spearman's rho between the ranking on 2 datasets and on all 8 (ndcg@10, mean rank)"
    assert table.rows == (
        ("random", "0.610 (0.10 to 0.90)", "0.800 (0.10 to 0.90)", "-", "-", "0.700 (0.10 to 0.90)", "-", "-"),
        ("preserving", "0.610 (0.10 to 0.90)", "0.800 (0.10 to 0.90)", "0.950", "75 %", "0.700 (0.10 to 0.90)", "0.600",
         "0.440"),
    )  # fmt: skip
    assert table.notes[0].endswith(" Subsets that know nothing reach as much on other algorithms with p = 0.049.")
    assert named.rows == (("random", "x, y"), ("preserving", "x, y"))
    assert named.notes == ("Slow was left out: it has no value on x.",)
    (alone, _) = select.tables(selected(random=chosen(held_out_p=None)))
    assert alone.notes[0].endswith("which the choice did not see.")
    assert select._spread(spread(-0.0001, low=-0.004)) == "0.000 (0.00 to 0.90)"
    assert select._spread(None) == "-"


def claim(**given):
    counts = Made(ahead=40, tied=2, behind=18, universes=60, holds=20, undecided=35, reversed=5)
    usual = {"statement": "a is best", "counts": counts, "named": False, "exceptions": "", "by_dataset": {}, "p": 0.04,
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
    by_dataset = {"x": (10, 2), "y": (3, 9), "z": (5, 5)}
    assert list(multiverse.sentences(universes(claim(named=True, exceptions="split: random", by_dataset=by_dataset,
                                                     p=0.05)))) == [
        "a is best in 40 of 60 universes (tied in 2), by mean rank.",
        "It fails mainly under split: random.",
        "By dataset it is seen in 3 of 12 universes on y and in 10 of 12 on x.",
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
        return Made(slopes={"a": -1.25, "b": 0.5, "c": 0.75}, windows=6, datasets=1, p=p, smallest_p=smallest)

    def said(**given):
        return list(multiverse.sentences(universes(**given)))[1:]

    assert said(drift=drifted(0.049)) == [
        "The order drifts over time (6 windows, 1 dataset; p = 0.049): from the first window to the last a gains 1.2 "
        "ranks, c loses 0.8."
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
    assert not any("leaky" in line for line in multiverse.sentences(universes(claim(), leaky=leaky)))


def test_the_tables_of_universes():
    share = Made(name="split", axes=(0,), share=0.004, interval=None)
    two = Made(name="split x metric", axes=(0, 1), share=0.005, interval=(0.001, 0.0123))
    small = Made(name="x", axes=(0, 1), share=0.0049, interval=None)
    made = universes(claim(by_dataset={"x": (10, 2), "y": (3, 9)}),
                     claim(p=None, by_dataset={"x": (0, 1), "y": (1, 0)}),
                     shares=(share, two, small), algorithms=("a", "b", "c"))  # fmt: skip
    claims, decide, by_dataset = multiverse.tables(made)
    assert claims.title.startswith("Claims over 60 universes, 3 algorithms, 2 datasets: seen by mean rank, and shown")
    assert claims.header == (
        "claim",
        "ahead",
        "tied",
        "behind",
        "holds",
        "undecided",
        "reversed",
        "mean lead",
        "joint p",
    )
    assert claims.rows[0] == ("a is best", "40", "2", "18", "20", "35", "5", "0.46", ".040")
    assert claims.rows[1][-1] == ""
    assert decide.header == ("choice", "share", "95 %")
    assert decide.rows == (("split", "0.4 %", "exact"), ("split x metric", "0.5 %", "0.1 to 1.2"))
    assert by_dataset.rows == (("a is best", "10 of 12", "3 of 12"), ("a is best", "0 of 1", "1 of 1"))
    assert len(list(multiverse.tables(universes(datasets=("x",), algorithms=("a",))))) == 2


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
    assert "3 of 6 cells and 1 probe, " in adaptive.standing(partly(probed=1))
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
    assert adaptive.standing(partly()) == f"the first place is settled (96.2 %); place 2 is settled; {cost}"
    for given, words in (
        ({"next": step}, "next: a probe of a on z and 1 more, 20 min"),
        ({"next": Made(probes=[], cells=[("b", "y")], seconds=60.0)}, "next: b on y, 60 s"),
        ({"ended": "budget"}, "the budget is spent"),
        ({"ended": "certified"}, "nothing more has to be run"),
        ({"prior": ("kdd24 (12 algorithms)",)}, "prior: kdd24, as much as 1.23 datasets"),
    ):
        assert adaptive.standing(partly(**given)).endswith(f"{cost}; {words}")
    assert adaptive.standing(partly(target="order", certified=False, indifference=0.5, probed=2)) == (
        "the order up to 0.5 mean ranks is not settled (50.0 %); places 1 to 2 are settled; 3 of 6 cells and 2 probes, "
        "5.5 % of the predicted cost"
    )
    rho = adaptive.standing(partly(target="rho", measured=np.ones((2, 3), bool)))
    assert rho.startswith("the order (rho at least 0.9) is settled (known); ")
    shares = {0.1: "10 %", 0.099: "9.9 %", 0.002: "0.2 %", 0.0019: "0.19 %"}
    assert {share: adaptive.cost_share(share) for share in shares} == shares


def test_the_tables_of_a_part_of_the_grid():
    row = {"place": 1, "algorithm": "a", "mean_rank": 1.25, "deviation": 0.1, "settled": True, "cells_run": 1,
           "seconds": 90.0}  # fmt: skip
    step = Made(probes=[], cells=[("b", "y")], seconds=60.0, why="it is close")
    ranks, grid, steps = adaptive.tables(partly(steps=(step,), to_frame=lambda: Made(to_dicts=lambda: [row])))
    assert ranks.rows == (("1", "a", "1.25", "0.10", "yes", "1 of 3", "2 min"),)
    assert grid.header == ("dataset", "a", "b")
    assert grid.rows == (("x", "1", "2"), ("y", "(1.0)", "1.5"), ("z", "(1.0)", "(1.9)"))
    assert steps.rows == (("1", "b on y", "it is close", "1", "60 s"),)


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
    assert list(strata.sentences(stratified(popular("films", [flip])))) == [
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
        "Among these users a serves more than b, beyond chance (probability 0.950); this says nothing of other "
        f"datasets (hit@10 by user, 2PL). {telling}."
    ]
    assert user_irt.sentences(served(0.949, 0.69)) == [
        "Among these users no difference between a and b is shown (probability 0.95 that a serves more) (hit@10 by "
        f"user, 2PL). {telling}; how hard a single user is to serve is known only roughly from 3 algorithms "
        f"(reliability 0.69)."
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


def responses(datasets=6, algorithms=6, positive=None, warnings=()):
    names, items = [f"a{i}" for i in range(algorithms)], [f"d{i}" for i in range(datasets)]
    ability = trait(names, [0.3 + 0.1 * i for i in range(algorithms)])
    challenge = trait(items, [0.8 - 0.1 * i for i in range(datasets)])
    exceeds = np.full((algorithms, algorithms), 0.5)
    exceeds[-1, -2] = 0.914
    direct = Made(exceeds=exceeds, items=items, probability_positive=positive or [0.5] * datasets)
    reverse = Made(highest=np.array([0.7] + [0.0] * (datasets - 1)), lowest=np.array([0.0] * (datasets - 1) + [0.6]))
    return Made(directions=(direct, reverse), trait=lambda name: ability if name == "ability" else challenge,
                datasets=items, algorithms=names, warnings=warnings)  # fmt: skip


def test_ability_and_challenge():
    assert beta_irt.sentences(responses()) == [
        "By item response theory a5 has the highest ability (0.80), above a4 with probability 0.91; d0 is the most "
        "challenging dataset (0.80, in 70 % of bootstrap replicates over the algorithms), d5 the least (0.30, in 60 % "
        "of bootstrap replicates over the algorithms)."
    ]
    few = beta_irt.sentences(
        responses(datasets=4, algorithms=4, positive=[0.49, 0.5, 0.9, 0.1], warnings=["it is odd"])
    )
    assert few == [
        "By item response theory a3 has the highest ability (0.60); d0 is the most challenging dataset (0.80), d3 the "
        "least (0.50).",
        "On d0, d3 abler algorithms do worse (negative discrimination): noise, or an error there.",
        "It is odd.",
    ]
    assert " with probability 0.91" in beta_irt.sentences(responses(datasets=5, algorithms=4))[0]
    assert "of bootstrap replicates" in beta_irt.sentences(responses(datasets=4, algorithms=5))[0]


def aggregated(firsts, total=4):
    return Made(firsts=lambda: firsts, counted=lambda: ["x"] * total, judgement=Made(leaders=("a",)))


def test_who_is_first_under_which_aggregation():
    everywhere = ["mean", "median", "Copeland", "Borda"]
    assert rank._agreement(aggregated({"a": everywhere})) == "a is first under all 4 aggregations."
    assert rank._agreement(aggregated({"a": everywhere, "b": ["mean"], "c": ["Borda", "mean"]})) == (
        "a is first under all 4 aggregations, tied with b under mean; c under Borda, mean."
    )
    assert rank._agreement(aggregated({"c": ["Borda", "median"], "b": ["mean"], "a": ["Copeland"]})) == (
        "The aggregations disagree on who is first: a by Copeland (1 of 4); c by Borda, median (2 of 4); b by mean (1 "
        "of 4)."
    )
    assert rank._agreement(aggregated({"b": everywhere})) == (
        "The aggregations disagree on who is first: b by mean, median, Copeland, Borda (4 of 4)."
    )


def with_holes(p=0.04, families=None, **unseen):
    usual = {"possible": True, "cells": 1, "needed": 0.25, "beaten": 0.5, "leader": "b", "algorithm": "c"}
    return Made(skillings_mack=Made(p=p, missing=3, unseen=Made(**{**usual, **unseen}) if unseen else None), alpha=0.05,
                judgement=Made(families=families))  # fmt: skip


def test_missing_cells_in_the_comparison():
    kept = (
        "as a whole (Skillings and Mack, p = 0.0{}). That takes cells as missing for reasons that have nothing to do "
        "with the scores{}."
    )
    shown, not_shown = (
        f"With the 3 missing cells kept, {words} is shown" for words in ("a difference", "no difference")
    )
    assert compare._holes(Made(skillings_mack=None)) == []
    assert compare._holes(with_holes()) == [f"{shown} {kept.format(40, '')}"]
    assert compare._holes(with_holes(p=0.05, families=4)) == [
        f"{not_shown} {kept.format(50, ', and the datasets of a family as independent')}"
    ]
    single = with_holes()
    single.skillings_mack.missing = 1
    assert compare._holes(single)[0].startswith("With the missing cell kept, a difference is shown as a whole")
    assert compare._holes(with_holes(possible=False))[1:] == [
        "No values of the missing cells of a single algorithm would change who beats most others."
    ]
    assert compare._holes(with_holes(cells=1))[1:] == [
        "b would lead if c beat at most 25 % of the others on its missing cell (where it was run: 50 %)."
    ]
    assert compare._holes(with_holes(cells=2, needed=0.9))[1:] == [
        "b would lead if c beat at least 90 % of the others on its 2 missing cells (where it was run: 50 %)."
    ]


def test_the_control_against_the_others():
    def said(**known):
        names = ("own", *known)
        verdict = Made(control="own", algorithms=names, status_of=lambda _, other: known[other])
        return compare._control(verdict)

    end = "(adjusted for its {} comparisons; valid if it was named before the results were seen)."
    assert said(a="better", b="undecided", c="undecidable", d="worse", e="equivalent", f="better") == (
        "own, the control, is shown to be better than a, f and worse than d and equivalent to e; against b, c the data "
        f"do not decide {end.format(6)}"
    )
    assert said(a="undecided") == (
        f"own, the control, is shown to be neither better nor worse than any other {end.format(1)}"
    )
    assert said(a="worse") == f"own, the control, is shown to be worse than a {end.format(1)}"
