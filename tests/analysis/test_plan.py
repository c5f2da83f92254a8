"""Planning: stated against simulated power, the fewest removals by brute force, anytime-valid p-values."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy import optimize, stats

from recassay.analysis.inference import hierarchical
from recassay.analysis.inference.all_pairs import fewest_datasets
from recassay.analysis.inference.wilcoxon import wilcoxon_rows
from recassay.analysis.inference.winners import fewest_to_remove
from recassay.analysis.plan import fit as plan_fit
from recassay.analysis.plan.fit import (
    _pair,
    anytime_p,
    datasets_needed,
    look_at,
    plan_study,
    power_of,
    sign_evidence,
    standardised,
)
from recassay.analysis.plan.result import MOST, Look, PlanResult
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results
from recassay.reporting.sections.plan import sentences, tables


@pytest.mark.parametrize(("shift", "n", "power"), [(0.5, 36, 0.8), (2.0, 6, 0.87), (3.0, 6, 0.992), (1.0, 12, 0.86)])
def test_the_power_of_a_known_difference_is_that_of_the_test(shift, n, power):
    """A difference of three deviations needs six datasets; Noether's formula, which is for small ones, says eleven."""
    gaps = shift + np.random.default_rng(1).standard_normal((600, n))
    found = np.mean([wilcoxon_rows(gap[None]).p[0] <= 0.05 for gap in gaps])
    stated = float(power_of(np.array([shift]), n, 0.05)[0])
    assert stated == pytest.approx(power, abs=0.03)
    assert stated == pytest.approx(found, abs=0.05)


def test_what_the_test_sees_of_a_difference():
    rng = np.random.default_rng(2)
    around = 0.5 * rng.standard_normal(20_000)
    assert standardised(np.array([0.2, -0.2]), around, rng) == pytest.approx([0.4, -0.4], abs=0.02)
    failing = np.where(rng.random(20_000) < 0.1, around - 50, around)
    assert 0.1 < standardised(np.array([0.2]), failing, rng)[0] < 0.35  # some failures, as a rank test counts them


def test_an_uncertain_lead_is_planned_as_one():
    sure, unsure = np.full(400, 0.5), 0.5 + 0.5 * np.random.default_rng(3).standard_normal(400)
    assert datasets_needed(sure, 0.05, 0.8) == pytest.approx(36, abs=2)
    needed = datasets_needed(unsure, 0.05, 0.8)
    assert needed is None or needed > 100  # a sixth of the probability is on the other side
    assert datasets_needed(-sure, 0.05, 0.8) is None
    assert datasets_needed(np.zeros(3), 0.05, 0.8) is None


def test_no_fewer_datasets_than_can_be_significant():
    for level in (0.05, 0.05 / 55):
        n = fewest_datasets(level)
        assert 2 / 2**n <= level < 2 / 2 ** (n - 1)
        assert datasets_needed(np.array([50.0]), level, 0.8) == n


def test_the_fewest_removals_by_brute_force():
    rng = np.random.default_rng(3)
    for _ in range(20):
        ranks = np.argsort(np.argsort(rng.random((4, 9)) + np.array([0, 0.1, 0.2, 0.3])[:, None], axis=0), axis=0) + 1.0
        found = fewest_to_remove(ranks)
        leader = int(np.argmin(ranks.mean(axis=1)))

        def changes(gone, ranks=ranks, leader=leader):
            left = np.delete(ranks, list(gone), axis=1).mean(axis=1)
            return left[leader] > left.min() + 1e-12

        smallest = next((m for m in range(1, 9) if any(map(changes, combinations(range(9), m)))), None)
        if found is None:
            assert smallest is None
        else:
            assert len(found[1]) == smallest
            assert changes(found[1])
    assert fewest_to_remove(np.array([[1.0, 1.0], [2.0, 2.0]])) is None


def test_looking_after_every_dataset_does_not_cheat():
    rng = np.random.default_rng(4)
    wins = np.cumsum(rng.random((4000, 200)) < 0.5, axis=1).astype(float)
    losses = np.arange(1, 201) - wins
    assert (anytime_p(wins, losses).min(axis=1) <= 0.05).mean() <= 0.05
    assert sign_evidence(np.array(0.0), np.array(0.0)) == pytest.approx(1.0)
    average = sum(
        float(sign_evidence(np.array(float(w)), np.array(6.0 - w))) * p
        for w, p in zip(range(7), np.array([1, 6, 15, 20, 15, 6, 1]) / 64, strict=True)
    )
    assert average == pytest.approx(1.0)  # a fair game
    assert float(anytime_p(np.array(20.0), np.array(0.0))) < 1e-4


def table(gap, n=14, k=3, seed=5):
    rng = np.random.default_rng(seed)
    scores = 1.2 * rng.standard_normal((n, 1)) + 0.25 * rng.standard_normal((n, k)) - 2
    scores[:, 0] += gap
    rows = [
        {"algorithm": f"a{a}", "dataset": f"d{j:02}", "metric": "ndcg@10", "value": 1 / (1 + np.exp(-scores[j, a]))}
        for j in range(n)
        for a in range(k)
    ]
    return Results.from_frame(pl.DataFrame(rows))


@pytest.fixture
def fewer_draws(monkeypatch):
    monkeypatch.setattr(hierarchical, "CHAINS", 8)
    monkeypatch.setattr(hierarchical, "ERROR", 1.0)


def test_only_undecided_pairs_are_planned_for(fewer_draws):
    clear = plan_study(table(0.6), "ndcg@10")
    assert [{pair.left, pair.right} for pair in clear.pairs] == [{"a1", "a2"}]
    assert clear.decided == 2
    assert clear.complete == 14
    faint = plan_study(table(0.12), "ndcg@10")
    first = faint.pairs[0]
    assert first.low <= first.gap <= first.high
    effect = faint.judgement.pair(first.left, first.right).effect
    assert (first.left, first.gap) == (faint.judgement.leaders[0], pytest.approx(effect.estimate - 1))
    assert (first.low, first.high) == pytest.approx(tuple(end - 1 for end in effect.interval))
    assert first.alone is None or first.fewest <= first.alone
    assert "By the hierarchical model, " in next(sentences(faint))
    asked = plan_study(table(0.12), "ndcg@10", difference=1.0).pairs[0]
    assert 5 < asked.alone <= 12  # log 2 beside a deviation of 0.35
    assert asked.alone < asked.among_all
    assert faint.to_frame().height == len(faint.pairs)
    assert clear.shares["datasets"] == pytest.approx(1.0)
    with pytest.raises(UsageError, match="above 0"):
        plan_study(table(0.6), "ndcg@10", difference=0.0)
    with pytest.raises(NotApplicableError, match="4 datasets"):
        plan_study(table(0.6, n=4), "ndcg@10")


def test_who_fails_often_does_not_lead_and_no_lead_is_shown_more_often_than_it_is_real(fewer_draws):
    rng = np.random.default_rng(7)
    scores = rng.standard_normal((12, 1)) + 0.1 * rng.standard_normal((12, 2))
    scores[[1, 4, 6, 9], 0] -= 4.0
    scores[:, 0] += 0.03
    rows = [
        {"algorithm": f"a{a}", "dataset": f"d{j:02}", "metric": "ndcg@10", "value": 1 / (1 + np.exp(2 - scores[j, a]))}
        for j in range(12)
        for a in range(2)
    ]
    (pair,) = plan_study(Results.from_frame(pl.DataFrame(rows)), "ndcg@10").pairs
    assert pair.left == "a1"
    assert pair.alone is None or pair.chance >= 0.75


def test_differences_of_values_that_can_be_negative_are_in_their_own_units(fewer_draws):
    rng = np.random.default_rng(6)
    rows = [
        {"algorithm": f"a{a}", "dataset": f"d{j:02}", "metric": "score", "value": 100 * rng.standard_normal() + 3 * a}
        for j in range(8)
        for a in range(2)
    ]
    plan = plan_study(Results.from_frame(pl.DataFrame(rows)), "score", higher_is_better=True)
    assert not plan.relative
    assert "%" not in next(tables(plan)).rows[0][2]


def test_all_pairs_decided_leaves_nothing_to_plan(fewer_draws):
    plan = plan_study(table(3.0, k=2), "ndcg@10")
    assert plan.pairs == ()
    assert next(sentences(plan)) == "The only pair is decided: nothing more needs to be run."
    assert plan.to_frame().height == 0
    assert plan.to_frame().schema["left"] == pl.String
    assert (plan.to_frame().schema["gap"], plan.to_frame().schema["alone"]) == (pl.Float64, pl.Int64)


def grown(rng, k, most, gap=0.0):
    values = rng.standard_normal((k, most))
    values[0] += gap
    return values


@pytest.mark.slow
def test_watching_does_not_cheat():
    """Equal algorithms, looked at after every dataset: somebody is shown to lead in at most 5 % of the studies."""
    rng, wrong = np.random.default_rng(8), []
    for _ in range(150):
        values = grown(rng, 3, 40)
        wrong.append(any(look_at(matrix_of(values[:, :n])).behind for n in range(2, 41)))
    assert np.mean(wrong) <= 0.06


def test_a_better_one_is_found_by_watching():
    look = look_at(matrix_of(grown(np.random.default_rng(9), 3, 40, gap=2.5)))
    assert (look.leader, set(look.behind), look.open) == ("a0", {"a1", "a2"}, ())
    assert "sequential test for repeated looks" in look.sentence()
    early = look_at(matrix_of(grown(np.random.default_rng(9), 3, 3, gap=2.5)))
    assert early.behind == ()
    assert early.sentence().startswith("a0 has the best mean rank after 3 datasets; the sequential test")


def test_the_p_values_of_a_leader_that_the_data_chose_are_corrected_for_all_pairs():
    """Nine wins of nine would be enough for a leader that was named before; one of six pairs needs more."""
    look = look_at(matrix_of(np.array([[4.0] * 9, [3.0] * 9, [2.0] * 9, [1.0] * 9])))
    alone = float(anytime_p(np.array(9.0), np.array(0.0)))
    assert look.p == pytest.approx(dict.fromkeys(("a1", "a2", "a3"), 6 * alone))
    assert 3 * alone < 0.05 < 6 * alone
    assert look.behind == ()


def matrix_of(values):
    k, n = values.shape
    return Matrix(values, tuple(f"a{i}" for i in range(k)), tuple(f"d{j}" for j in range(n)), "ndcg@10", True)


def plain_power(standard, n, level):
    """Student's test with 3 / pi of the datasets, by the normal approximation to the noncentral t."""
    critical = stats.t.ppf(1 - level / 2, n - 1)
    above = standard * np.sqrt(3 / np.pi * n) * (1 - 1 / (4 * (n - 1))) - critical
    power = stats.norm.cdf(above / np.sqrt(1 + critical**2 / (2 * (n - 1))))
    return np.minimum(power, stats.norm.cdf(standard) ** n) if n == fewest_datasets(level) else power


def test_power_by_its_formula_and_the_fewest_datasets_by_trying_all():
    standard = np.array([-0.3, 0.0, 0.4, 1.1, 2.5])
    for n, level in ((6, 0.05), (7, 0.05), (9, 0.01), (40, 0.002)):
        assert power_of(standard, n, level) == pytest.approx(plain_power(standard, n, level), rel=1e-9)
    assert power_of(standard, 5, 0.05).tolist() == [0.0] * 5
    for mean, level, power in ((0.5, 0.05, 0.8), (0.3, 0.01, 0.9), (3.0, 0.01, 0.9)):
        differences = np.array([mean - 0.02, mean, mean + 0.02])
        n = datasets_needed(differences, level, power)
        assert plain_power(differences, n, level).mean() >= power
        assert n == fewest_datasets(level) or plain_power(differences, n - 1, level).mean() < power
    assert datasets_needed(np.array([3.0]), 0.01, 0.9) == fewest_datasets(0.01)
    least = optimize.brentq(lambda mean: plain_power(mean, MOST, 0.05) - 0.8, 0.05, 0.2)
    assert datasets_needed(np.array([1.0001 * least]), 0.05, 0.8) == MOST == 1000
    assert datasets_needed(np.array([0.9999 * least]), 0.05, 0.8) is None


def plain_standardised(shifts, around, rng):
    halves = (around + rng.permutation(around)) / 2
    chance = [1 - ((halves < -shift).sum() + 0.5) / (len(halves) + 1) for shift in shifts]
    return stats.norm.ppf(chance) / np.sqrt(2)


@pytest.mark.parametrize("transform", ["log", "identity"])
@pytest.mark.parametrize("difference", [None, 0.2])
def test_every_number_of_a_pair_by_plain_computation(transform, difference):
    rng = np.random.default_rng(0)
    level = np.array([2.0, 1.5]) + 0.3 * rng.standard_normal((2000, 2))
    model = SimpleNamespace(
        scale=SimpleNamespace(transform=transform), metric="ndcg@10", algorithms=("a", "b"), datasets=("d",) * 12,
        level=level, new=level + 0.4 * rng.standard_normal((2000, 2)),
        shares=SimpleNamespace(repeats=0.09, users=0.04),
    )  # fmt: skip
    pair = _pair(model, 0, 1, difference, 0.8, 0.05, 0.01, 7)
    drawn = derived_rng(7, "plan", "ndcg@10")
    gap = level[:, 0] - level[:, 1]
    residual = model.new[:, 0] - model.new[:, 1] - gap
    shifts = gap
    relative = transform == "log"
    if difference is not None:
        residual = residual - np.median(residual)
        shifts = np.array([np.log(1.2) if relative else 0.2 * np.abs(level).mean()])
    noise = drawn.standard_normal(2000)
    seen = [residual + np.sqrt(2 * variance) * noise for variance in (0.13, 0.04, 0.09)]
    everything, without_repeats, without_users = (plain_standardised(shifts, around, drawn) for around in seen)
    ends = np.quantile(gap, [0.25, 0.5, 0.75])
    low, _, high = (np.array([end]) for end in plain_standardised(ends, seen[0], drawn))
    low_end, middle, high_end = np.exp(ends) - 1 if relative else ends
    assert (pair.left, pair.right) == ("a", "b")
    assert (pair.low, pair.gap, pair.high) == pytest.approx((low_end, middle, high_end))
    assert pair.chance == pytest.approx((everything > 0).mean())
    assert pair.assurance == pytest.approx(plain_power(everything, 12, 0.05).mean())
    assert pair.alone == datasets_needed(everything, 0.05, 0.8)
    assert pair.among_all == datasets_needed(everything, 0.01, 0.8)
    assert pair.without_repeats == datasets_needed(without_repeats, 0.05, 0.8)
    assert pair.without_users == datasets_needed(without_users, 0.05, 0.8)
    known = (datasets_needed(high, 0.05, 0.8), datasets_needed(low, 0.05, 0.8))
    assert (pair.fewest, pair.most) == (known if difference is None else (None, None))
    assert None not in (pair.alone, pair.among_all, pair.without_repeats, pair.without_users)
    assert pair.without_repeats < pair.alone < pair.among_all
    named = _pair(SimpleNamespace(**vars(model) | {"algorithms": ("x", "y")}), 0, 1, difference, 0.8, 0.05, 0.01, 7)
    assert replace(named, left="a", right="b") == pair, "whatever the names"
    turned = _pair(model, 1, 0, difference, 0.8, 0.05, 0.01, 7)
    assert (turned.left, turned.right) == (("a", "b") if difference is None else ("b", "a"))


def test_a_difference_is_relative_to_the_size_of_levels_of_either_sign():
    """Levels of 2 and -2: a fifth of them is 0.4, though their mean is 0."""
    rng = np.random.default_rng(1)
    level = np.tile([2.0, -2.0], (500, 1))
    model = SimpleNamespace(
        scale=SimpleNamespace(transform="identity"), metric="score", algorithms=("a", "b"), datasets=("d",) * 12,
        level=level, new=level + 0.3 * rng.standard_normal((500, 2)), shares=SimpleNamespace(repeats=0.0, users=0.0),
    )  # fmt: skip
    pair = _pair(model, 0, 1, 0.2, 0.8, 0.05, 0.01, 7)
    residual = (model.new - level) @ [1.0, -1.0]
    drawn = derived_rng(7, "plan", "score")
    drawn.standard_normal(500)
    standard = plain_standardised([0.4], residual - np.median(residual), drawn)
    assert pair.assurance == pytest.approx(plain_power(standard, 12, 0.05)[0])
    assert pair.alone == datasets_needed(standard, 0.05, 0.8)
    assert pair.chance == 1.0


def test_a_look_at_ties_and_at_costs_by_hand():
    """b has the best mean rank of costs; it wins 23 of 24 against a, with one tie, and 18 of 24 against c."""
    values = np.array([[3.0] * 23 + [1.0], [1.0] * 24, [0.5] * 6 + [2.0] * 18])
    table = Matrix(values, ("a", "b", "c"), tuple(f"d{j:02}" for j in range(24)), "seconds", False)
    look = look_at(table, alpha=0.01)

    def evidence(wins, losses):
        ratio = stats.beta(wins + 0.5, losses + 0.5)
        odds = np.log(2.0) * (wins + losses) + np.log(0.3) * (wins - 0.5) + np.log(0.7) * (losses - 0.5)
        return np.exp(odds - ratio.logpdf(0.3)) / np.pi  # B(w + 1/2, l + 1/2) from the density at any point

    assert look.leader == "b"
    assert look.p == pytest.approx({"a": 3 / evidence(23, 0), "c": 3 / evidence(18, 6)})
    assert look.p["a"] < 0.01 < look.p["c"] < 1
    assert (look.behind, look.open, look.datasets, look.alpha) == (("a",), ("c",), 24, 0.01)
    assert Look("b", ("a", "c"), (), 24, 0.05, {}).sentence() == (
        "By the sequential test for repeated looks (level 0.05 over all pairs), b wins more than half of the datasets "
        "against a, c (after 24 datasets)."
    )
    many = tuple(f"x{i}" for i in range(6))
    assert Look("b", many, many[:5], 24, 0.05, {}).sentence().startswith(
        "By the sequential test for repeated looks (level 0.05 over all pairs), b wins more than half of the datasets "
        "against x0, x1, x2, x3 and 2 more, not against x0, x1, x2, x3 and 1 more (after"
    )  # fmt: skip
    assert look.sentence() == (
        "By the sequential test for repeated looks (level 0.01 over all pairs), b wins more than half of the datasets "
        "against a, not against c (after 24 datasets)."
    )
    one = look_at(Matrix(np.array([[1.0], [1.0]]), ("z", "a"), ("d",), "ndcg@10", True))
    assert one.sentence() == (
        "a has the best mean rank after 1 dataset; the sequential test for repeated looks (level 0.05 over all pairs) "
        "does not separate it from any other so far. It needs more datasets than a test that is made once."
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"difference": -0.1}, "difference is -0.1"),
        ({"difference": 10}, "difference is 10"),
        ({"difference": 0}, "difference is 0"),
        ({"power": 0.49}, "power is 0.49"),
        ({"power": 1.0}, "power is 1.0"),
        ({"alpha": 0.0}, "alpha is 0.0"),
        ({"alpha": 1.0}, "alpha is 1.0"),
    ],
)
def test_impossible_plans_are_refused(wrong, message):
    with pytest.raises(UsageError, match=message):
        plan_study(table(0.6), "ndcg@10", **wrong)


@pytest.mark.parametrize(("alpha", "order"), [(0.05, [0, 1, 2, 3]), (0.2, [2, 1, 0, 3])])
def test_a_plan_is_of_the_undecided_pairs_and_passes_on_what_was_asked(monkeypatch, alpha, order):
    """Four algorithms whose last is far behind; a dataset that lacks a cell counts for the model alone."""
    rng = np.random.default_rng(1)
    values = (
        np.linspace(0.3, 0.6, 9) + np.array([[0.02], [0.015], [0.01], [-0.25]]) + 0.02 * rng.standard_normal((4, 9))
    )
    rows = [
        {"algorithm": f"a{a}", "dataset": f"d{j}", "metric": "score",
         "value": None if (a, j) == (3, 8) else values[a, j]}
        for a in range(4) for j in range(9)
    ]  # fmt: skip
    asked = {}
    level = rng.normal(np.array([0.3, 0.2, 0.1, -3.0]), 0.2, (400, 4))
    model = SimpleNamespace(
        scale=SimpleNamespace(transform="log"), metric="score", algorithms=("a0", "a1", "a2", "a3"), level=level,
        datasets=tuple(f"d{j}" for j in range(9)), new=level + 0.1 * rng.standard_normal((400, 4)),
        shares=SimpleNamespace(repeats=0.0, users=0.0, of_a_difference=lambda: {"datasets": 1.0}),
        order=lambda: order,
    )  # fmt: skip
    monkeypatch.setattr(plan_fit, "fit_model", lambda *args, **more: asked.update(more) or model)
    users = object()
    found = plan_study(Results.from_frame(pl.DataFrame(rows)), "score", higher_is_better=True, users=users, alpha=alpha,
                       power=0.7, seed=3, looks=True)  # fmt: skip
    assert asked == {"higher_is_better": True, "users": users, "families": None, "seed": 3}
    table = Matrix(values[:, :8], model.algorithms, model.datasets[:8], "score", True)
    verdict = plan_fit.judge(table, alpha=alpha, seed=3)
    ordered = combinations(model.algorithms, 2)
    undecided = [pair for pair in ordered if verdict.status_of(*pair).startswith("undecid")]
    assert 0 < len(undecided) < 6
    assert {frozenset((pair.left, pair.right)) for pair in found.pairs} == {frozenset(pair) for pair in undecided}
    assert {found.pairs[0].left, found.pairs[0].right} == {verdict.leaders[0], verdict.rival}
    assert (found.decided, found.left_out, found.complete) == (6 - len(undecided), 0, 8)
    first = found.pairs[0]
    own = _pair(model, int(first.left[1]), int(first.right[1]), None, 0.7, alpha, alpha / 6, 3, turned=True)
    assert (first.alone, first.among_all, first.assurance) == (own.alone, own.among_all, own.assurance)
    assert (found.alpha, found.power, found.difference, found.relative) == (alpha, 0.7, None, True)
    assert found.look == look_at(table, alpha=alpha)
    ranks = np.array([stats.rankdata(-values[:, j]) for j in range(8)]).T
    challenger, gone = fewest_to_remove(ranks)
    assert (found.challenger, found.removed) == (model.algorithms[challenger], tuple(f"d{j}" for j in gone))
    told = found.to_dict()
    assert told["removal"] == {"challenger": found.challenger, "datasets": list(found.removed), "of": 8}
    assert told["settings"] == {"difference": None, "power": 0.7, "alpha": alpha}
    assert told["anytime"]["statement"] == found.look.sentence()
    assert "left_out" not in told
    assert (told["metric"], told["relative"], told["decided"]) == ("score", True, found.decided)
    assert found.out_of_reach() == tuple(pair for pair in found.pairs if pair.alone is None)
    # With more algorithms than are shown, the pair that the verdict speaks of and those of the best are left.
    asked = {"higher_is_better": True, "alpha": alpha, "power": 0.7, "seed": 3}
    monkeypatch.setattr(plan_fit, "MANY_ALGORITHMS", 4)
    monkeypatch.setattr(plan_fit, "SHOWN_OF_MANY", 1)
    assert plan_study(Results.from_frame(pl.DataFrame(rows)), "score", **asked).pairs == found.pairs
    monkeypatch.setattr(plan_fit, "MANY_ALGORITHMS", 3)
    fewer = plan_study(Results.from_frame(pl.DataFrame(rows)), "score", **asked)
    spoken = {verdict.leaders[0], verdict.rival}
    kept = spoken | {model.algorithms[order[0]]}
    assert fewer.pairs == tuple(pair for pair in found.pairs if {pair.left, pair.right} <= kept)
    assert (fewer.decided, fewer.left_out) == (found.decided, len(undecided) - len(fewer.pairs))
    assert fewer.to_dict().get("left_out", 0) == fewer.left_out


def test_with_fewer_than_two_complete_datasets_every_pair_is_open(monkeypatch):
    """One dataset has both values: nothing is tested on it, and the plan is the model's alone."""
    level = np.random.default_rng(0).normal([0.5, 0.0], 0.2, (400, 2))
    model = SimpleNamespace(
        scale=SimpleNamespace(transform="log"), metric="score", algorithms=("a0", "a1"), level=level,
        datasets=tuple(f"d{j}" for j in range(6)), new=level, order=lambda: [0, 1],
        shares=SimpleNamespace(repeats=0.0, users=0.0, of_a_difference=lambda: {"datasets": 1.0}),
    )  # fmt: skip
    monkeypatch.setattr(plan_fit, "fit_model", lambda *args, **more: model)
    for complete, looked in ((1, False), (2, True)):
        rows = [
            {"algorithm": f"a{a}", "dataset": f"d{j}", "metric": "score",
             "value": 0.2 + 0.1 * a + 0.01 * j if j < complete or j % 2 == a else None}
            for a in range(2) for j in range(6)
        ]  # fmt: skip
        unasked = plan_study(Results.from_frame(pl.DataFrame(rows)), "score", higher_is_better=True)
        assert (unasked.look, unasked.to_dict()["anytime"]) == (None, None)
        plan = plan_study(Results.from_frame(pl.DataFrame(rows)), "score", higher_is_better=True, looks=True)
        assert plan.complete == complete
        assert (plan.look is not None) == looked
        assert (len(plan.pairs), plan.decided) == (1, 0)
        if not looked:
            assert plan.to_dict()["anytime"] is None
            assert (plan.challenger, plan.removed) == (None, ())


def test_five_datasets_are_enough_to_plan_from_and_the_usual_power_is_80_percent(fewer_draws):
    assert plan_study(table(0.6, n=5), "ndcg@10").power == 0.8


def test_out_of_reach_is_what_nothing_shows_even_alone():
    shown, together, never = (SimpleNamespace(alone=alone, among_all=among_all)
                              for alone, among_all in ((20, 40), (30, None), (None, None)))  # fmt: skip
    assert PlanResult.out_of_reach(SimpleNamespace(pairs=(shown, together, never))) == (never,)


class Asked(Exception):
    """That the settings were accepted."""


@pytest.mark.parametrize("edge", [{"power": 0.5}, {"difference": 9.99}, {"alpha": 0.99}, {"power": 0.999}])
def test_settings_at_their_edges_are_planned_for(monkeypatch, edge):
    def fit(*args, **more):
        raise Asked

    monkeypatch.setattr(plan_fit, "fit_model", fit)
    with pytest.raises(Asked):
        plan_study(table(0.6), "ndcg@10", **edge)


def test_every_pair_is_planned_at_its_level_and_the_verdict_knows_the_families(monkeypatch):
    """Three algorithms: alone at alpha, among all pairs at a third of it."""
    level = np.zeros((10, 3))
    model = SimpleNamespace(
        scale=SimpleNamespace(transform="log"), metric="ndcg@10", algorithms=("a0", "a1", "a2"), level=level, new=level,
        datasets=tuple(f"d{j:02}" for j in range(14)), order=lambda: [2, 0, 1],
        shares=SimpleNamespace(of_a_difference=lambda: {"datasets": 1.0}),
    )  # fmt: skip
    asked, judged, modelled = [], {}, {}
    real = plan_fit.judge

    def pair(model, a, b, *settings, verdict, **named):
        asked.append((model.algorithms[a], model.algorithms[b], *settings, *named.values()))
        return SimpleNamespace(left=model.algorithms[a], right=model.algorithms[b], alone=1)

    monkeypatch.setattr(plan_fit, "fit_model", lambda *args, **more: modelled.update(more) or model)
    monkeypatch.setattr(plan_fit, "judge", lambda given, **more: judged.update(more) or real(given, **more))
    monkeypatch.setattr(plan_fit, "_pair", pair)
    families = {f"d{j:02}": f"f{j // 2}" for j in range(14)}
    found = plan_study(table(0.0), "ndcg@10", families=families, alpha=0.06, power=0.7, difference=0.3, seed=5)
    assert judged == {"alpha": 0.06, "families": families, "test": "sign-flips", "seed": 5}
    assert (modelled["families"], modelled["seed"]) == (families, 5)
    pairs = (("a2", "a0"), ("a2", "a1"), ("a0", "a1"))
    assert asked == [(*pair, 0.3, 0.7, 0.06, pytest.approx(0.02), 5) for pair in pairs]
    assert (len(found.pairs), found.decided, found.left_out) == (3, 0, 0)


def test_a_difference_that_was_asked_for_is_not_turned_round():
    """The left one fails on 45 % of new datasets: it loses them, but the plan is for its lead."""
    rng = np.random.default_rng(3)
    level = np.array([1.0, 0.9]) + 0.01 * rng.standard_normal((2000, 2))
    failing = level - np.where(rng.random(2000) < 0.45, 50.0, 0.0)[:, None] * [1, 0]
    model = SimpleNamespace(
        scale=SimpleNamespace(transform="log"), metric="ndcg@10", algorithms=("a", "b"), datasets=("d",) * 12,
        level=level, new=failing + 0.01 * rng.standard_normal((2000, 2)),
        shares=SimpleNamespace(repeats=0.0, users=0.0),
    )  # fmt: skip
    asked = _pair(model, 0, 1, 0.02, 0.8, 0.05, 0.01, 7)
    assert (asked.left, asked.right, asked.chance) == ("a", "b", 0.0)
    believed = _pair(model, 0, 1, None, 0.8, 0.05, 0.01, 7)
    assert (believed.left, believed.right) == ("b", "a")
    assert believed.chance > 0.5


def test_a_leader_by_mean_rank_is_not_said_to_beat_one_that_wins_more_often():
    """a1 is just ahead of a0 on 35 of 40 datasets, and last of nine on the others."""
    values = np.tile(np.arange(9.0, 0, -1)[:, None], (1, 40))
    values[:2, :35] = values[1::-1, :35]
    values[1, 35:] = 0.0
    look = look_at(matrix_of(values))
    assert look.leader == "a0"
    assert look.p["a1"] < 0.05
    assert "a1" not in look.behind
    assert "a1" in look.open


@pytest.mark.parametrize("seed", range(4))
def test_the_range_of_a_plan_holds_its_number_and_is_in_order(seed):
    """A large lead needs fewer datasets than a small one, also where one dataset turns the means."""
    rng = np.random.default_rng(seed)
    base = 0.1 + 0.01 * np.arange(8)
    values = {"A": base * 1.03, "B": base * np.where(np.arange(8) == 3, 1.6, 1.0), "C": 0.4 * base}
    rows = [
        (name, f"d{d}", "ndcg@10", float(value * np.exp(0.002 * rng.normal())))
        for name, column in values.items()
        for d, value in enumerate(column)
    ]
    schema = ["algorithm", "dataset", "metric", "value"]
    found = plan_study(Results.from_frame(pl.DataFrame(rows, schema=schema, orient="row")), "ndcg@10", seed=seed)
    assert found.pairs
    for pair in found.pairs:
        ends = [math.inf if end is None else end for end in (pair.fewest, pair.most)]
        assert ends[0] <= ends[1]
        low, high = (math.inf if end is None else end for end in pair.span)
        assert low <= (math.inf if pair.alone is None else pair.alone) <= high
