"""Groups of users, exposure and weights: what is planted is found, and the sizes of the tests."""

from __future__ import annotations

import numpy as np
import pytest

from recassay.analysis.groups.fit import compare_groups
from recassay.core.seeds import derived_rng
from recassay.core.tables.groups import GroupedScores, GroupsEvidence, WeightedScores, WeightFacts
from recassay.core.tables.scores import UserScores
from recassay.reporting.telling import answer
from recassay.reporting.words.groups import first_line, weights_sentence

NAMES = ("A", "B", "C")
EVEN, WILD = WeightFacts(1000, 900.0, 3.0, 0.01), WeightFacts(1000, 40.0, 300.0, 0.2)


def grouped(values: np.ndarray, **places: np.ndarray | slice) -> GroupedScores:
    parts = tuple(UserScores(name, NAMES, values[:, at]) for name, at in places.items())
    return GroupedScores("films", "sex", UserScores("films", NAMES, values), parts)


def found(*groups: GroupedScores, weighted: tuple[WeightedScores, ...] = (), **asked):
    asked = {"higher_is_better": True, "replicates": 400} | asked
    return compare_groups(GroupsEvidence(tuple(groups), (), weighted), "ndcg@10", **asked)


def noise(users: int, seed: int = 1) -> np.ndarray:
    return derived_rng(seed, "groups of users").uniform(0, 0.4, (3, users))


def test_another_algorithm_for_a_group_is_found_and_named_first():
    values = noise(300)
    values[0] += 0.2  # A is best over all
    values[0, 240:] -= 0.25
    values[1, 240:] += 0.15  # and B for the last 60
    result = found(grouped(values, m=slice(240), f=slice(240, 300)))
    [each] = result.users
    assert each.leader == "A"
    assert each.best_in == {"m": "A", "f": "B"}
    case = next(case for case in each.worse if case.better == "B")
    assert case.group == "f"
    assert case.difference == pytest.approx((values[1, 240:] - values[0, 240:]).mean())
    assert case.low < case.difference < case.high
    assert case.p_holm < 0.001
    line = first_line(result)
    assert line.startswith("A, the best over all, is worse than ")
    assert "for f (sex) on films" in line
    said = answer({"groups": result}).sentences
    assert any("The best algorithm is not the same in all groups by sex on films: A for m; B for f." in s for s in said)


@pytest.mark.slow  # scipy.stats
def test_a_gap_is_welchs_test_of_the_two_ends():
    from scipy.stats import ttest_ind

    values = noise(200)
    values[0] += 0.2
    values[0, :80] += 0.1
    result = found(grouped(values, a=slice(80), b=slice(80, 200)))
    gap = result.users[0].gaps[0]
    test = ttest_ind(values[0, :80], values[0, 80:], equal_var=False)
    span = test.confidence_interval(0.95)
    assert (gap.algorithm, gap.best, gap.worst) == ("A", "a", "b")
    assert [gap.difference, gap.low, gap.high, gap.p] == pytest.approx(
        [values[0, :80].mean() - values[0, 80:].mean(), span.low, span.high, test.pvalue]
    )
    assert gap.mad == pytest.approx(gap.difference)
    assert first_line(result).startswith("A is worse for b than for a (sex) on films (nDCG@10 differs by 0.")


def test_mad_of_ranking_is_the_mean_difference_over_pairs_and_the_choice_among_pairs_costs():
    values = noise(90)
    places = {name: slice(30 * i, 30 * i + 30) for i, name in enumerate("abc")}
    three = found(grouped(values, **places)).users[0].gaps[0]
    means = [values[0, at].mean() for at in places.values()]
    assert three.mad == pytest.approx(
        np.mean([abs(means[0] - means[1]), abs(means[0] - means[2]), abs(means[1] - means[2])])
    )
    ends = {name: places[name] for name in (three.best, three.worst)}
    two = found(grouped(values, **ends)).users[0].gaps[0]
    assert three.p == pytest.approx(min(1, 3 * two.p))
    assert three.low < two.low < two.high < three.high


def test_lower_is_better_turns_best_and_worst():
    values = noise(200)
    values[0, :100] -= 0.2
    gap = found(grouped(values, a=slice(100), b=slice(100, 200)), higher_is_better=False).users[0]
    assert gap.leader == "A"
    assert (gap.gaps[0].best, gap.gaps[0].worst) == ("a", "b")


@pytest.mark.slow
def test_equal_groups_seldom_seem_unequal():
    """At 5 %: a gap of the leader, and a better algorithm for a group, of four groups of unequal sizes."""
    ends = np.cumsum([0, 20, 40, 80, 160])
    gaps = worse = 0
    for seed in range(200):
        rng = derived_rng(seed, "equal groups")
        values = (rng.random((3, 300)) < 0.3) * rng.uniform(0.2, 1, (3, 300))
        places = {str(i): slice(ends[i], ends[i + 1]) for i in range(4)}
        [each] = found(grouped(values, **places), replicates=50).users
        gaps += next(gap.significant for gap in each.gaps if gap.algorithm == each.leader)
        worse += bool(each.worse)
    assert gaps <= 20  # of 200; 10 at 5 %, and more than 20 with a chance of 0.1 %
    assert worse <= 20


def test_one_algorithm_has_groups_but_no_pairs():
    scores = UserScores("films", ("A",), noise(40)[:1])
    parts = (UserScores("m", ("A",), scores.values[:, :20]), UserScores("f", ("A",), scores.values[:, 20:]))
    result = found(GroupedScores("films", "sex", scores, parts))
    assert result.users[0].worse == ()
    assert result.to_frame().height == 2


def weighted(values: np.ndarray, facts: WeightFacts | None) -> WeightedScores:
    plain = noise(200)
    plain[0] += 0.3
    return WeightedScores("ndcg@10[snips]", *(UserScores("films", NAMES, v) for v in (plain, values)), facts)


def test_a_lead_that_weights_take_away_is_said():
    result = found(weighted=(weighted(noise(200, seed=2), EVEN),))
    assert result.weighted[0].vanishes
    assert set(result.weighted[0].lost) == {"B", "C"}
    assert first_line(result).startswith("Weighted by exposure (ndcg@10[snips]), the lead of A over ")
    assert result.frames()["groups_weighted"].columns == ["dataset", "label", "algorithm", "plain", "weighted"]


def test_a_lead_that_stays_and_weights_that_are_wild_are_no_reason():
    kept = noise(200, seed=2)
    kept[0] += 0.3
    assert first_line(found(weighted=(weighted(kept, EVEN),))) is None
    wild = found(weighted=(weighted(noise(200, seed=2), WILD),))
    assert wild.weighted[0].vanishes
    assert first_line(wild) is None
    assert any("These weights cannot be trusted." in line for line in answer({"groups": wild}).sentences)


def test_wild_weights_are_not_to_be_trusted():
    assert weights_sentence("ndcg@10[ips]", WILD).startswith("Do not trust ndcg@10[ips]: its weights are too uneven.")
    assert "are worth 900 equal ones" in weights_sentence("ndcg@10[ips]", EVEN)


def test_exposure_gets_its_interval():
    row = {"dataset": "films", "attribute": "genre", "algorithm": "A", "group": "war", "k": 10, "share": 0.3,
           "error": 0.01, "events": 0.1, "deviation": 0.2, "ratio": 3.0, "rsp": 0.5, "reo": 0.4}  # fmt: skip
    result = compare_groups(GroupsEvidence((), (row,)), "ndcg@10", higher_is_better=True)
    assert [result.exposure[0][end] for end in ("low", "high")] == pytest.approx([0.3 - 0.0196, 0.3 + 0.0196], abs=1e-5)
    said = answer({"groups": result})
    assert "war has 30 % of the first 10 places and 10 % of the training events" in said.sentences[0]
    assert said.tables[0].rows[0][:4] == ("films", "genre", "war", "A")
