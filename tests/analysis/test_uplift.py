"""Uplifts over a reference in percent: their intervals by plain computation and on simulated users, and the groups."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from recassay.analysis.users.fit import compare_users, difference_intervals, skewed_intervals
from recassay.analysis.users.gains import edges, find_gains
from recassay.analysis.users.uplift import choose_reference, uplifts
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.tables.scores import GainScores, UserScores
from support.made import rng


def sparse(users: int, generator: np.random.Generator, chances: tuple[float, ...] = (0.2, 0.15)) -> np.ndarray:
    """Scores of top lists: most users are missed, and some are easier than others."""
    ease = generator.beta(0.6, 1.5, size=users) / (0.6 / 2.1)
    rank = generator.integers(1, 11, size=(len(chances), users))
    hit = generator.random((len(chances), users)) < np.minimum(ease * np.array(chances)[:, None], 1)
    return np.where(hit, 1 / np.log2(rank + 1), 0.0)


def test_the_limits_are_the_ratios_at_which_the_interval_of_the_difference_ends_at_zero() -> None:
    own, base = sparse(300, rng(1))
    share, low, high = uplifts(own[None], base, confidence=0.9)[0]
    assert share == pytest.approx(own.mean() / base.mean() - 1)
    assert low < share < high
    differ = np.count_nonzero(own != base)
    for limit, end in ((low, 0), (high, 1)):
        gap = own - (1 + limit) * base
        # The size of the two added users is that of all users whose scores differ at a ratio of 1.
        added = np.sqrt((gap**2).sum() / differ)
        ends = skewed_intervals(np.append(gap, [added, -added])[None], 0.9)[0]
        assert ends[end] == pytest.approx(0, abs=1e-9)


def test_an_interval_in_percent_excludes_zero_where_that_of_the_difference_does() -> None:
    for seed in range(60):
        own, base = sparse(120, rng(seed), (0.3, 0.2))
        _, low, high = uplifts(own[None], base, confidence=0.95)[0]
        below, above = difference_intervals((own - base)[None], 0.95)[0]
        assert (low > 0, high < 0) == (below > 0, above < 0)


def test_the_unit_of_the_metric_does_not_matter_and_the_order_of_users_neither() -> None:
    own, base = sparse(150, rng(3))
    plain = uplifts(own[None], base, confidence=0.95)
    assert uplifts(own[None] * 100, base * 100, confidence=0.95) == pytest.approx(plain)
    turned = rng(4).permutation(150)
    assert uplifts(own[None, turned], base[turned], confidence=0.95) == pytest.approx(plain)


def test_what_has_no_share_of_the_reference_has_no_uplift() -> None:
    own = rng().random((1, 50))
    assert np.isnan(uplifts(own, np.zeros(50), confidence=0.95)).all(), "the reference is 0"
    assert np.isnan(uplifts(-own, own[0], confidence=0.95)).all(), "a negative score"
    rare = np.zeros(50)
    rare[0] = 1.0
    share, low, high = uplifts(own, rare, confidence=0.95)[0]
    assert (share > 20, np.isinf(high)) == (True, True), "one user is not a lower limit of the reference's mean"
    assert 0 < low < share
    twice = uplifts(np.stack([2 * own[0], np.zeros(50)]), own[0], confidence=0.95)
    assert twice[0] == pytest.approx([1, 1, 1], abs=1e-3)
    assert twice[1, :2] == pytest.approx([-1, -1])


def test_the_reference() -> None:
    names = ("ALS", "mine", "MostPop", "theirs")
    assert choose_reference(names).name == "MostPop"
    assert choose_reference(names, own_lists=("theirs", "mine")).name == "mine", "the first of the table"
    chosen = choose_reference(names, control="als", own_lists=("mine",))
    assert (chosen.name, chosen.why) == ("ALS", "control")
    assert choose_reference(("ALS", "BPR")) is None


def test_one_dataset_has_uplifts_in_every_table() -> None:
    table = UserScores("orders", ("A", "B", "MostPop"), sparse(400, rng(5), (0.4, 0.2, 0.2)))
    found = compare_users([table], "ndcg@10", higher_is_better=True, replicates=300)
    users = found.datasets[0]
    assert users.reference.name == "MostPop"
    assert users.uplift_of("MostPop") is None
    pair, uplift = users.pair("MostPop", "A"), users.uplift_of("A")
    assert uplift.share == pytest.approx(pair.difference / table.values[2].mean())
    row = found.means_frame().row(by_predicate=pl.col("algorithm") == "A", named=True)
    assert (row["reference"], row["uplift"], row["uplift_low"]) == ("MostPop", uplift.share, uplift.low)
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))["datasets"]["orders"]
    assert data["reference"] == {"name": "MostPop", "why": "most popular"}
    assert set(data["uplifts"]) == {"A", "B"}
    asked = compare_users([table], "ndcg@10", higher_is_better=True, replicates=300, control="b")
    assert asked.datasets[0].reference.name == "B"
    with pytest.raises(UsageError, match="the control 'C' is not one of the algorithms"):
        compare_users([table], "ndcg@10", higher_is_better=True, replicates=300, control="C")


def test_the_uplift_of_an_error_is_what_of_it_is_saved() -> None:
    generator = rng(6)
    base = generator.random(200) + 0.5
    values = np.stack([base * 0.8 + generator.normal(0, 0.02, 200), base])
    table = UserScores("orders", ("A", "MostPop"), values)
    users = compare_users([table], "rmse", higher_is_better=False, replicates=300).datasets[0]
    uplift = users.uplift_of("A")
    assert uplift.share == pytest.approx(0.2, abs=0.01)
    assert uplift.low < uplift.share < uplift.high


def gain_scores(**given: object) -> GainScores:
    """400 users: A finds more events of popular items, and serves active users better."""
    generator = rng(7)
    activity = generator.integers(1, 60, size=400)
    values = np.stack([generator.random(400) + (activity > 30), generator.random(400)])
    who = np.repeat(np.arange(400), 3)
    popular = generator.integers(1, 200, size=1200)
    found = np.stack([popular > 150, generator.random(1200) < 0.3]).astype(np.float64)
    whole = GainScores(("A", "B"), values, activity, who, popular, found, 10)
    return replace(whole, **given)


def test_who_gains_and_who_loses_by_plain_computation() -> None:
    scores = gain_scores()
    groups = list(find_gains(scores, "A", "B", higher_is_better=True, intervals=lambda gaps: (gaps.mean(), 0.0)))
    active = [group for group in groups if group.by == "activity"]
    assert len(active) == 10
    assert sum(group.users for group in active) == 400
    for group in active:
        own = (scores.activity >= group.low) & (scores.activity <= group.high)
        assert own.sum() == group.users >= 30
        gaps = scores.values[0, own] - scores.values[1, own]
        assert (group.difference, group.value) == pytest.approx((gaps.mean(), scores.values[0, own].mean()))
        assert group.interval_low == pytest.approx(gaps.mean())
    popular = [group for group in groups if group.by == "popularity"]
    assert sum(group.events for group in popular) == 1200
    for group in popular:
        among = (scores.event_popularity >= group.low) & (scores.event_popularity <= group.high)
        assert group.value == pytest.approx(scores.found[0, among].mean())
        assert group.difference == pytest.approx(scores.found[0, among].mean() - scores.found[1, among].mean())
        assert group.users == len(np.unique(scores.event_user[among]))
        assert group.interval_low == pytest.approx(group.difference), "the interval is around the ratio of sums"
    lower = next(find_gains(scores, "A", "B", higher_is_better=False, intervals=lambda gaps: (-1.0, 1.0)))
    assert lower.difference == pytest.approx(-active[0].difference)
    assert (lower.shown, groups[0].shown in (-1, 0, 1)) == (0, True)


@pytest.mark.parametrize(
    ("counts", "groups"),
    [
        (np.ones(500), []),
        (np.arange(50), []),
        (np.arange(60), [(0, 29), (30, 59)]),
        (np.repeat([1, 2, 3], [900, 50, 10]), [(1, 1), (2, 3)]),
        (np.repeat([1, 7], [10, 900]), []),
    ],
)
def test_groups_are_large_enough_and_equal_counts_stay_together(counts: np.ndarray, groups: list) -> None:
    assert edges(counts.astype(np.int64)) == groups


def test_groups_and_windows_are_those_of_the_best_against_the_reference() -> None:
    table = UserScores("orders", ("A", "B", "MostPop"), sparse(400, rng(5), (0.4, 0.2, 0.2)))
    asked = []

    def gains(dataset: str, metric: str, names: tuple[str, str]) -> GainScores:
        asked.append((dataset, metric, tuple(names)))
        return gain_scores(algorithms=tuple(names))

    def windows(dataset: str, metric: str) -> dict[str, dict[str, float]]:
        return {"w1": {"A": 0.3, "B": 0.2, "MostPop": 0.1}, "w2": {"A": 0.3}, "w3": {"A": 0.1, "B": 0.2, "MostPop": 0}}

    given = {"higher_is_better": True, "replicates": 300, "gains": gains, "windows": windows}
    users = compare_users([table], "ndcg@10", **given).datasets[0]
    assert asked == [("orders", "ndcg@10", ("A", "MostPop"))]
    assert {group.by for group in users.gains} == {"activity", "popularity"}
    assert [window.name for window in users.windows] == ["w1", "w3"], "w2 lacks two algorithms"
    assert users.windows_ahead("A", "B", higher_is_better=True) == 1
    frames = compare_users([table], "ndcg@10", **given).frames()
    assert frames["users_gains"].height == len(users.gains)
    assert frames["users_windows"].height == 6
    compare_users([table], "ndcg@10", control="A", **given)
    assert asked[-1][2] == (users.algorithms[1], "A"), "the best of the others, where the reference is best"
    two = compare_users([table, replace(table, dataset="clicks")], "ndcg@10", **given)
    assert not two.datasets[0].gains, "groups are of a single dataset"

    def gone(*_: object) -> GainScores:
        raise NotApplicableError("the lists are not kept")

    assert compare_users([table], "ndcg@10", **{**given, "gains": gone}).datasets[0].gains == ()


@pytest.mark.long
@pytest.mark.parametrize(
    ("users", "chances"),
    [(100, (0.3, 0.25)), (1000, (0.3, 0.25)), (300, (0.1, 0.05)), (1000, (0.1, 0.05)), (1000, (0.02, 0.02))],
)
def test_intervals_of_uplifts_hold_the_truth(users: int, chances: tuple[float, float]) -> None:
    """Users drawn again from a population with a known uplift; the fewer are hit, the more skewed are the scores."""
    generator = rng(8)
    means = sparse(4_000_000, generator, chances).mean(axis=1)
    truth, held = means[0] / means[1] - 1, 0
    for _ in range(2000):
        own, base = sparse(users, generator, chances)
        _, low, high = uplifts(own[None], base, confidence=0.95)[0]
        held += not (low > truth or high < truth)
    assert 0.93 <= held / 2000 <= 0.97
