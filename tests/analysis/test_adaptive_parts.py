"""The parts of an adaptive benchmark one by one, on draws and tables worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy import optimize, stats

import recassay
from recassay.analysis.adaptive import belief as belief_module
from recassay.analysis.adaptive import decide as decide_module
from recassay.analysis.adaptive import fit as fit_module
from recassay.analysis.adaptive.belief import (
    Belief,
    _before,
    _drawn_sizes,
    _kernels,
    _latents,
    as_evidence,
    complete,
)
from recassay.analysis.adaptive.certificate import certify
from recassay.analysis.adaptive.choice import _gains, pair_weights
from recassay.analysis.adaptive.decide import CellGrid, Probes, Question, _ended, decide
from recassay.analysis.adaptive.fit import ANALYSIS, Benchmark, log_sizes, replay, run_adaptive
from recassay.analysis.adaptive.prior import ALIASES, GUMBEL, Prior, _between, _evidence, same_name
from recassay.analysis.adaptive.result import AdaptiveResult
from recassay.analysis.adaptive.sampler import MOVES, _draw_levels, _draw_trust, redraw_column
from recassay.core.analysis import AnalysisSpec
from recassay.core.errors import UsageError
from support.made import rng


def published(deviations=(0.3, 0.3, 0.3)) -> Prior:
    """Of three algorithms, which ran on two published datasets."""
    levels, covariance = np.array([1.0, 0.0, -1.0]), np.array([[1.0, 0.5, 0.0], [0.5, 2.0, 0.0], [0.0, 0.0, 1.0]])
    return Prior(
        ("t",), levels, np.array(deviations), covariance, np.zeros(3), np.ones((3, 2)), np.array([5.0, 6.0])
    )  # fmt: skip


def seen(run: int = 1) -> np.ndarray:
    """Three algorithms, of which the first is best, on three datasets; so many of them were run."""
    return np.where(np.arange(3) < run, np.array([[3.0], [2.0], [1.0]]), np.nan)


def share(left: np.ndarray, right: np.ndarray) -> float:
    """What the one tells of the variance of the other."""
    return float(np.corrcoef(left, right)[0, 1] ** 2)


def test_what_cells_failures_and_probes_tell_is_their_share_of_the_variance():
    """A failure on the second dataset moves the first algorithm; the fourth dataset is known; probes are noisy."""
    source, draws = rng(4), 400
    ranks, failed = source.normal(size=(draws, 3, 4)), np.zeros((draws, 3, 4), bool)
    failed[:, 0, 1], failed[:, 2, 0] = source.random((2, draws)) < 0.3
    ranks[:, 0, 1] += 6.0 * failed[:, 0, 1]
    ranks[:, :, 3] = [1.0, 2.0, 3.0]
    means = ranks.mean(axis=2)
    looks = ranks[:, :, :2] + 2.0 * source.normal(size=(draws, 3, 2))
    weight = np.array([[0.0, 0.2, 0.1], [0.2, 0.0, 0.05], [0.1, 0.05, 0.0]])

    def told(columns: np.ndarray) -> float:
        pairs = [(a, b, j) for a, b in permutations(range(3), 2) for j in range(columns.shape[2])]
        shares = [
            share(means[:, a] - means[:, b], columns[:, a, j] - columns[:, b, j])
            for a, b, j in pairs
            if columns[:, a, j].std() > 0
        ]
        return float(np.mean(shares)) - 1 / draws

    usual, less = told(ranks), told(looks) / told(ranks)
    assert 0.1 < less < 0.9
    alone = np.zeros((3, 4))
    for i, j in ((0, 1), (2, 0)):
        others = [b for b in range(3) if b != i]
        shares = [max(share(means[:, i] - means[:, b], failed[:, i, j]) - 4 / draws, 0.0) for b in others]
        alone[i, j] = sum(weight[i, b] * told_of for b, told_of in zip(others, shares, strict=True)) / usual
    assert alone[0, 1] > 0.2
    gain, seeing = _gains(Belief(ranks, failed), weight)
    assert gain == pytest.approx(np.repeat(weight[:, :, None], 4, axis=2))
    assert seeing == pytest.approx(alone)
    gain, seeing = _gains(Belief(ranks[:, :, :2], failed[:, :, :2], looks), weight)
    means = ranks[:, :, :2].mean(axis=2)
    less = told(looks) / told(ranks[:, :, :2])
    assert gain[:, :, :2] == pytest.approx(np.repeat(weight[:, :, None], 2, axis=2))
    assert gain[:, :, 2:] == pytest.approx(less * gain[:, :, :2])
    assert seeing[:, 2:] == pytest.approx(less * seeing[:, :2])
    whole = np.repeat(means[:, :, None], 2, axis=2)
    assert _gains(Belief(ranks[:, :, :2], failed[:, :, :2], whole), weight)[0][0, 1, 2] == 0.2, "no probe beats a cell"


def test_a_decision_counts_what_its_question_asks_for():
    values = np.full((5, 6), np.nan)
    values[:, :3] = rng(1).normal(size=(5, 3)) + np.arange(5)[:, None]
    grid = CellGrid("score", tuple("abcde"), tuple("uvwxyz"))

    def found(seed: int = 0, **asked) -> dict[str, float]:
        return dict(decide(grid, Question("order", 0.9, **asked), values, np.ones((5, 6)), seed=seed).probabilities)

    usual = found()
    assert found(rho=0.3)["rho"] > found(rho=0.9)["rho"] > usual["rho"]
    assert found(indifference=4.0)["order"] > usual["order"] > found(indifference=0.0)["order"]
    assert found() == usual != found(seed=1)


def test_a_leader_that_ran_everywhere_will_not_fail():
    """It failed once, where it was run; c was not run on the last dataset."""
    values = np.array([[-np.inf, 9, 9, 9, 9], [5, 5, 5, 5, 5], [1, 1, 1, 1, np.nan]])
    found = decide(CellGrid("score", tuple("abc"), tuple("vwxyz")), Question(), values, np.ones((3, 5)))
    assert found.order[0] == "a"
    assert found.leader_fails == 0
    assert found.cells().filter(algorithm="a")["state"].to_list() == ["failed", *["measured"] * 4]


def test_cells_that_took_no_time_are_decided_on():
    values = seen()
    found = decide(CellGrid("score", tuple("abc"), tuple("xyz")), Question("order", 0.999), values, 0.0 * values)
    assert found.next is not None
    assert found.spent == 0


@pytest.mark.parametrize(
    ("complete", "certified", "left", "expected"),
    [
        (True, True, [], "complete"), (False, True, [1.0], "certified"), (False, False, [], "stuck"),
        (False, False, [3.0, 2.5], "budget"), (False, False, [3.0, 2.0], None), (False, False, [9.0, 1.0], None),
    ],
)  # fmt: skip
def test_a_run_ends_when_no_cell_is_within_what_may_be_spent(complete, certified, left, expected):
    assert _ended(complete, certified, np.array(left), 2.0) == expected


def test_cells_beyond_the_budget_are_not_chosen():
    values, seconds = seen(2), np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [90.0, 90.0, 90.0]])
    grid = CellGrid("score", tuple("abc"), tuple("xyz"))
    found = decide(grid, Question("order", 0.99999), values, seconds, most_seconds=9.0)
    assert found.ended is None
    assert found.next.cells == (("a", "z"), ("b", "z"))
    only = np.zeros((3, 3), bool)
    only[2, 2] = True
    left = decide(grid, Question("order", 0.99999), values, seconds, most_seconds=9.0, allowed=only)
    assert left.ended == "budget", "the cheap cells are not allowed"


@pytest.mark.parametrize(
    ("applies", "sized", "counted"), [(0.5, True, True), (0.9, True, True), (0.49, True, False), (0.9, False, False)]
)
def test_where_published_algorithms_ran_counts_where_the_tables_apply(monkeypatch, applies, sized, counted):
    heard = []

    def failures(failed, run, size, draws, source, *, elsewhere):
        heard.append((run, elsewhere))
        return np.zeros((draws, *failed.shape), bool)

    monkeypatch.setattr(belief_module, "draw_failures", failures)
    monkeypatch.setattr(belief_module, "support", lambda prior, table: heard.append(table) or applies)
    prior, looks = published(), np.full((3, 3), np.nan)
    looks[0, 2] = 1.0
    complete(seen(), np.arange(3.0) if sized else None, probes=looks, prior=prior, rng=rng())
    table, (run, elsewhere) = heard
    assert np.array_equal(table, np.hstack([seen(), looks]), equal_nan=True)
    assert np.array_equal(run, ~np.isnan(table))
    assert (elsewhere is not None) == counted
    assert not counted or (elsewhere[0] is prior.succeeded and elsewhere[1] is prior.log_size)


def test_the_weight_of_a_prior_is_that_of_the_algorithms_it_knows(monkeypatch):
    def latents(values, kernels, log_prior, prior, count, source):
        return source.standard_normal((count, *values.shape)), np.array([4.0, 2.0, 0.0])

    monkeypatch.setattr(belief_module, "_latents", latents)
    monkeypatch.setattr(belief_module, "support", lambda *_: 0.5)
    found = complete(seen(), prior=published((0.3, 0.3, np.inf)), rng=rng())
    assert found.weight == pytest.approx(1.5), "two known ones of weight 4 and 2, in half of the draws"
    assert found.without.weight == 0
    assert len(found.ranks) == len(found.without.ranks) == 540
    assert np.array_equal(found.ranks[270:], found.without.ranks[270:]), "the other half knows no prior"
    assert not np.array_equal(found.ranks[:270], found.without.ranks[:270])


def test_the_best_guess_counts_failures_of_those_that_failed_before(monkeypatch):
    def failures(failed, run, size, draws, source, **_):
        drawn = np.repeat(failed[None], draws, axis=0)
        drawn[:, 0, 3] = True
        return drawn

    monkeypatch.setattr(belief_module, "draw_failures", failures)
    values = np.hstack([seen(3), np.full((3, 1), np.nan)])
    never = complete(values, rng=rng())
    assert never.mean_ranks.mean(axis=0)[0] == pytest.approx((1 + 1 + 1 + 3) / 4)
    assert never.expected[0] < (1 + 1 + 1 + 2.5) / 4
    values[0, 2] = -np.inf
    once = complete(values, rng=rng())
    assert once.expected[0] == once.mean_ranks.mean(axis=0)[0] == pytest.approx((1 + 1 + 3 + 3) / 4)


def test_the_best_guess_is_of_the_datasets_and_not_of_their_probes():
    """Every cell and every probe was run, and they say the opposite."""
    turned = complete(seen(3), probes=seen(3)[::-1], rng=rng())
    assert turned.expected.tolist() == turned.mean_ranks[0].tolist() == [1.0, 2.0, 3.0]
    assert turned.probes[0, :, 0].tolist() == [3.0, 2.0, 1.0]


def test_before_any_cell_levels_vary_by_the_tables_and_between_benchmarks():
    """t is 0.3 in the middle of its grid; a level that no table knows has the deviation 1."""
    drawn = _before(published((0.4, 0.5, np.inf)), (40_000, 3, 2), rng())
    one, other = drawn[:, :, 0], drawn[:, :, 1]
    assert one.mean(axis=0) == pytest.approx([1.0, 0.0, -1.0], abs=0.03)
    level = np.array([0.16 + 0.09, 0.25 + 0.09, 1.0])
    assert one.var(axis=0) == pytest.approx(level + np.diag(published().covariance), rel=0.04)
    assert np.cov(one[:, 0], one[:, 1])[0, 1] == pytest.approx(0.5, abs=0.05)
    assert [np.cov(one[:, i], other[:, i])[0, 1] for i in range(3)] == pytest.approx(level, abs=0.05)


def test_a_table_is_evidence_of_the_datasets_that_it_has_values_of(monkeypatch):
    """Latents come in units of a dataset's own deviation, whatever scale they are drawn on."""
    values = np.array([[1.0, np.nan, 2.0], [0.5, np.nan, -np.inf], [0.1, np.nan, 1.0]])
    seconds = np.array([[1.0, 1.0, np.e], [0.0, 1.0, 1.0], [np.nan, 1.0, 1.0]])
    drawn = rng(1).normal(size=(540, 3, 2)) + 3.0
    latents = []
    for scale in (1.0, 7.0):
        monkeypatch.setattr(belief_module, "_latents", lambda *_, by=scale: (by * drawn, np.zeros(3)))
        table = as_evidence("t", tuple("abc"), values, seconds, np.array([4.0, 5.0, 6.0]), rng())
        latents.append(table.latent)
    assert latents[0] == pytest.approx(latents[1])
    assert latents[0].sum(axis=0) == pytest.approx([0.0, 0.0], abs=1e-12)
    assert table.log_seconds == pytest.approx(np.array([[0.0, 1.0], [np.nan, 0.0], [np.nan, 0.0]]), nan_ok=True)
    assert table.log_size.tolist() == [4.0, 6.0]
    assert table.ran.tolist() == [[True, True], [True, False], [True, True]]
    assert np.isnan(as_evidence("t", tuple("abc"), values, seconds, None, rng()).log_size).all()


def test_sizes_that_are_not_known_scatter_around_those_of_the_work_that_is():
    drawn = _drawn_sizes(3, np.array([1.0, np.nan, 4.0]), 4000, rng())
    assert (drawn[:, [0, 2]] == [1.0, 4.0]).all()
    assert (drawn[:, 1].mean(), drawn[:, 1].std()) == (pytest.approx(2.5, abs=0.1), pytest.approx(1.5, rel=0.05))
    unknown = _drawn_sizes(2, None, 4000, rng())
    assert unknown.mean(axis=0) == pytest.approx([0.0, 0.0], abs=0.1)
    assert unknown.std(axis=0) == pytest.approx([1.5, 1.5], rel=0.05)


def test_datasets_of_one_size_have_no_slope():
    kernels, _ = _kernels(2, np.array([3.0, 3.0]), with_probes=False, informed=False)
    assert np.array_equal(np.unique(kernels[:, 0, 1]), [0.3, 1.0, 3.0])


@pytest.mark.parametrize("upward", [True, False])
def test_a_replay_reveals_what_the_table_reports(monkeypatch, upward):
    """Values are kept turned so that higher is better; a cell that failed gives none."""
    given = {}

    def heard(runner, grid, question, **options):
        given.update(options, runner=runner)

    monkeypatch.setattr(fit_module, "run_adaptive", heard)
    sign = 1.0 if upward else -1.0
    values = np.array([[sign * 0.1, -np.inf], [sign * 0.2, np.nan]])
    grid = CellGrid("score", ("a", "b"), ("x", "y"), higher_is_better=upward)
    looks = Probes(values / 2, np.full((2, 2), 0.5), 0.25)
    replay(Benchmark(grid, values, np.full((2, 2), 3.0), looks), Question(), budget=7.0)
    cells = [("a", "x"), ("b", "x"), ("a", "y")]
    assert given["runner"](cells) == dict(zip(cells, [(0.1, 3.0), (0.2, 3.0), (None, 3.0)], strict=True))
    assert given["probe"](cells[:1]) == {("a", "x"): (0.05, 0.5)}
    assert (given["probe_ratio"], given["budget"]) == (0.25, 7.0)
    assert given["allowed"].tolist() == [[True, True], [True, False]]
    replay(Benchmark(grid, values, np.full((2, 2), np.nan)), Question())
    assert given["runner"](cells[:1]) == {("a", "x"): (0.1, 1.0)}, "without any time a cell takes a second"
    sized, some = np.array([1.0, 2.0]), np.array([[3.0, np.nan], [1.0, 2.0]])
    monkeypatch.setattr(fit_module, "predict_seconds", lambda *asked: given.update(asked=asked) or np.full((2, 2), 9.0))
    replay(Benchmark(CellGrid("score", ("a", "b"), ("x", "y"), sized, ("u", "v"), upward), values, some), Question())
    assert given["asked"] == (some, sized, ("u", "v"))
    assert given["runner"](cells[:1]) == {("a", "x"): (0.1, 9.0)}


def test_a_value_that_is_no_number_is_a_failed_cell():
    grid = CellGrid("score", ("a", "b"), ("x", "y"))
    asked = []

    def runner(cells):
        asked.extend(cells)
        assert len(asked) == len(set(asked)), "a cell that failed is not run again"
        return {(a, d): (float("nan") if a == "a" else 1.0, 2.0) for a, d in cells}

    found = run_adaptive(runner, grid, Question("order"))
    assert np.isneginf(found.values[0][found.measured[0]]).all()
    assert found.order == ("b", "a")
    for answer in ((1.0, 2.0, 3.0), 1.0):
        with pytest.raises(UsageError, match="gave no value and seconds for a on x"):
            run_adaptive(lambda cells, given=answer: dict.fromkeys(cells, given), grid, Question())


def test_the_report_asks_for_its_metric_and_direction(monkeypatch):
    asked = []
    monkeypatch.setattr(fit_module, "fit_adaptive", lambda *given, **options: asked.append((given, options)))
    rows = [(a, d, "rmse", 0.1) for a in "ab" for d in "xy"]
    results = recassay.load_results(
        pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row")
    )
    journal = {"metric": "ndcg@10"}
    ANALYSIS.run(results, AnalysisSpec("rmse", higher_is_better=True, evidence={"adaptive": lambda: journal}))
    assert asked == [((results, journal), {"metric": "rmse", "higher_is_better": True})]


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("Pop", "mostpop"), ("Popularity", "mostpop"), ("TopPop", "mostpop"), ("Item-CF", "itemknn"),
        ("UserCF", "userknn"), ("MF-BPR", "bpr"), ("BPR_MF", "bpr"), ("EASE-R", "ease"), ("Mult-VAE", "multivae"),
        ("MultDAE", "multidae"), ("iALS", "als"), ("ImplicitMF", "als"), ("Slim", "slim"),
    ],
)  # fmt: skip
def test_an_algorithm_is_known_by_its_other_names(name, same):
    assert same_name(name) == same
    assert set(ALIASES.values()).isdisjoint(ALIASES)


@pytest.mark.parametrize(
    ("order", "group", "means"),
    [([2, 0, 1], [0, 0, 1], [-0.423, 0.846, -0.423]), ([1, 2, 0], [0, 1, 1], [0.423, -0.846, 0.423]),
     ([2, 0, 1], [0, 1, 2], [0.0, 0.846, -0.846]), ([0, 1, 2], [0, 0, 0], [0.0, 0.0, 0.0])],
)  # fmt: skip
def test_algorithms_that_tie_on_a_dataset_are_in_no_order(order, group, means):
    """Three standard normal numbers: the largest of them is 0.846 on average, and their sum is 0."""
    source, z, drawn = rng(3), np.array([0.0, 0.0, 0.0]), np.empty((6000, 3))
    z[order] = group
    for row in drawn:
        redraw_column(z, np.zeros(3), 1.0, np.array(order), np.array(group), 3, np.eye(3), source)
        row[:] = z
    assert drawn.mean(axis=0) == pytest.approx(means, abs=0.08)
    for a, b in permutations(range(3), 2):
        assert group[a] >= group[b] or (drawn[:, order[a]] < drawn[:, order[b]]).all()


def test_claims_hold_of_algorithms_that_share_a_place():
    """The first two are level in every draw, up to rounding; the third moves behind them."""
    draws = np.column_stack([np.full(9, 0.1 + 0.2), np.full(9, 0.3), np.linspace(2, 3, 9)])
    found = certify(draws, np.array([1.0, 2.0, 3.0]), stretch=1.0, indifference=0.0)
    assert found.sets == pytest.approx([0.9, 0.9, 1.0])
    assert found.probabilities["order"] == pytest.approx(0.9)


@pytest.mark.parametrize("informed", [False, True])
def test_the_sampler_gets_the_observed_orders_and_the_prior_of_their_covariance(monkeypatch, informed):
    """Sigma has 6 spare degrees around the identity, or 12 around what published tables say."""
    given = []

    def sampled(*arguments):
        given.extend(arguments)
        return np.tile(np.arange(3.0), (5, 3, 1)), np.ones(3)

    monkeypatch.setattr(belief_module, "sample", sampled)
    values = np.array([[np.nan, 0.3, 0.9], [np.nan, 0.1 + 0.2, np.nan], [np.nan, 0.5, 0.1]])
    prior = published() if informed else None
    kernels = _kernels(3, None, with_probes=False, informed=informed)
    drawn, _ = _latents(values, *kernels, prior, 5, rng())
    start, order, group, known, inverse, log_weight, slope, factor, degrees, base, centre, spread, sweeps, burn, _ = (
        given
    )
    assert order.tolist() == [[0, 1, 2], [2, 0, 1]], "from worst to best, then those without a value"
    assert group.tolist() == [[0, 0, 1], [0, 1, 0]], "numbers that differ by rounding tie"
    assert known.tolist() == [3, 2]
    assert start == pytest.approx(np.array([[-0.5, -0.5, 0.5], [0.5, 0.0, -0.5]]))
    spare, scale = (12, prior.covariance) if informed else (6, np.eye(3))
    assert degrees == 3 + 1 + spare
    assert base == pytest.approx(spare * scale)
    assert (centre.tolist(), spread.tolist()) == (([1.0, 0.0, -1.0], [0.3] * 3) if informed else ([], []))
    assert sweeps - burn == 5
    level = np.array([0.03, 0.3, 1.0] if informed else [0.3, 1.0, 3.0])
    inner = level[:, None, None] + np.eye(2)
    assert inverse == pytest.approx(np.linalg.inv(inner))
    assert log_weight - log_weight[0] == pytest.approx(-1.5 * np.log(np.linalg.det(inner) / np.linalg.det(inner[0])))
    share = level / (1 + 2 * level)
    assert slope == pytest.approx(np.repeat(share, 2).reshape(3, 1, 2))
    assert factor[:, 0, 0] == pytest.approx(np.sqrt(1 + level - 2 * share * level))
    assert drawn[0, 0].tolist() == [2.0, 0.0, 1.0], "the column that nothing was seen of was drawn last"


def test_what_was_seen_is_completed_around_the_levels_of_a_prior():
    """The tables are sure of the first two; of the third they know the level of its class, and it was not run."""
    prior = replace(published((0.05, 0.05, np.inf)), levels=np.array([2.0, 0.0, 3.0]))
    values = np.array([[1.0, np.nan, np.nan], [0.5, np.nan, np.nan], [np.nan, np.nan, np.nan]])
    drawn, weights = _latents(values, *_kernels(3, None, with_probes=False, informed=True), prior, 400, rng())
    assert drawn[:, :, 2].mean(axis=0) == pytest.approx([2.0, 0.0, 3.0], abs=0.45)
    assert (drawn[:, 0, 0] > drawn[:, 1, 0]).all()
    # A level that is followed counts for 1 / (0.05^2 + t^2) datasets, t from 0.1 to 0.7.
    assert ((weights[:2] > 1) & (weights[:2] < 80)).all()
    assert weights[2] == 0


def test_levels_are_drawn_from_their_normal_distribution():
    source = rng(2)
    z, mean, variance = source.normal(size=(2, 3)), np.array([1.0, 0.0, -1.0]), np.array([0.5, 1.0, 2.0])
    q, precision = np.array([[1.5, -0.5], [-0.5, 1.0]]), np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 1.5]])
    drawn = np.array([_draw_levels.py_func(z, q, precision, mean, variance, source) for _ in range(2000)])
    within = np.linalg.inv(q.sum() * precision + np.diag(1 / variance))
    assert np.cov(drawn.T) == pytest.approx(within, abs=0.08)
    assert drawn.mean(axis=0) == pytest.approx(within @ (precision @ (q.sum(axis=0) @ z) + mean / variance), abs=0.08)


def test_which_levels_follow_the_prior_is_drawn_by_their_odds():
    """Each follows N(centre, spread^2 + t^2) with probability 1 - e, else N(0, 1); the third is not known."""
    level, centre, spread = np.array([1.2, 0.3, 5.0]), np.array([1.0, 1.5, 0.0]), np.array([0.2, 0.3, np.inf])
    missed, moved = 0.3, 0.4
    follows = stats.norm(centre[:2], np.sqrt(spread[:2] ** 2 + moved**2)).pdf(level[:2]) * (1 - missed)
    chance = follows / (follows + stats.norm.pdf(level[:2]) * missed)
    source, drawn, shares, moves = rng(6), [], [], []
    for _ in range(1500):
        trusted = np.zeros(3)
        share, move = _draw_trust.py_func(level, centre, spread, trusted, missed, moved, source)
        drawn.append(trusted), shares.append(share), moves.append(move)
    drawn, shares, moves = np.array(drawn), np.array(shares), np.array(moves)
    assert drawn.mean(axis=0) == pytest.approx([*chance, 0.0], abs=0.04)
    both = drawn[:, :2].all(axis=1)
    assert shares[both].mean() == pytest.approx(1 / (1 + 12 + 2), abs=0.01), "as one of twelve before, and two met"
    height = [np.prod(stats.norm(centre[:2], np.hypot(spread[:2], t)).pdf(level[:2])) for t in MOVES]
    expected = np.array(height) / np.sum(height)
    assert [(moves[both] == t).mean() for t in MOVES] == pytest.approx(expected, abs=0.06)


def test_what_a_decision_reads_of_the_belief(monkeypatch):
    """The work of a dataset is known where any cell was run; the guess counts no failure that never happened."""
    heard = []
    real = decide_module.complete

    def completed(values, log_size, **options):
        heard.append((options, real(values, log_size, **options)))
        return heard[-1][1]

    monkeypatch.setattr(decide_module, "complete", completed)
    values = seen()
    values[0, 1] = 3.0
    found = decide(
        CellGrid("score", tuple("abc"), tuple("xyz")), Question("order", 0.999), values, np.full((3, 3), 2.0)
    )
    ((options, belief),) = heard
    assert options["work"][0] == pytest.approx(np.log(2.0))
    assert np.isfinite(options["work"]).tolist() == [True, True, False]
    assert found.mean_ranks == pytest.approx(belief.expected)
    assert found.ranks == pytest.approx(belief.ranks.mean(axis=0))
    assert found.ranks[:, 0].tolist() == [1.0, 2.0, 3.0]


def test_a_look_after_more_cells_or_probes_draws_anew(monkeypatch):
    starts = []
    real = decide_module.complete

    def completed(*given, rng, **options):
        starts.append(rng.bit_generator.state["state"]["state"])
        return real(*given, rng=rng, **options)

    monkeypatch.setattr(decide_module, "complete", completed)
    grid, question, seconds = CellGrid("score", tuple("abc"), tuple("xyz")), Question("order", 0.999), np.ones((3, 3))
    for cells, looks in ((1, None), (2, None), (1, 1), (1, 2)):
        probes = None if looks is None else Probes(seen(looks), seconds)
        decide(grid, question, seen(cells), seconds, probes=probes)
    assert len(set(starts)) == 4


def test_what_was_run_counts_as_spent_where_no_more_may_be_run(monkeypatch):
    """Of the first dataset nothing more is allowed: what its cells took decides how large a step may be."""
    heard = []
    monkeypatch.setattr(decide_module, "choose", lambda *given, **_: heard.append(given) or [])
    allowed = np.ones((3, 3), bool)
    allowed[:, 0] = allowed[2, 2] = False
    grid = CellGrid("score", tuple("abc"), tuple("xyz"))
    found = decide(grid, Question("order", 0.999), seen(), np.full((3, 3), 2.0), allowed=allowed)
    costs = heard[0][4]
    assert costs[:, 0].tolist() == [2.0, 2.0, 2.0]
    assert np.isinf(costs[:, 1:]).tolist() == [[False, False], [False, False], [False, True]]
    assert found.ended == "stuck"
    none = decide(grid, Question("order", 0.999), seen(), np.full((3, 3), 2.0), allowed=allowed, most_seconds=1e-6)
    assert none.ended == "budget"
    allowed[:] = False
    assert decide(grid, Question("order", 0.999), seen(), np.ones((3, 3)), allowed=allowed).ended == "stuck"


@pytest.mark.parametrize(("level", "variance", "datasets"), [(4.0, 9.0, 4), (8.0, 1.0, 10), (0.5, 0.3, 2)])
def test_the_evidence_is_found_from_levels_that_the_orders_contradict(level, variance, datasets):
    """Laplace's approximation around the maximum that scipy finds: the last of three is first on every dataset."""
    mean = np.array([level, 0.0, -level])

    def loss(levels: np.ndarray) -> float:
        u = GUMBEL * levels
        likely = u[2] - np.logaddexp.reduce(u) + u[1] - np.logaddexp(u[0], u[1])
        return float(0.5 * ((levels - mean) ** 2 / variance + np.log(variance)).sum() - datasets * likely)

    top = optimize.minimize(loss, np.zeros(3), tol=1e-10).x
    step = 1e-3 * np.eye(3)
    curvature = [
        [(loss(top + a + b) - loss(top + a - b) - loss(top - a + b) + loss(top - a - b)) / 4e-6 for a in step]
        for b in step
    ]
    left, chosen = np.array([[1, 1, 1], [1, 1, 0]] * datasets, bool), np.array([2, 1] * datasets)
    found = _evidence(left, chosen, mean, np.full(3, variance))
    assert found == pytest.approx(-loss(top) - 0.5 * np.linalg.slogdet(curvature)[1], abs=1e-2)


def test_levels_between_tables_vary_as_far_as_their_noise_does_not_explain():
    """Two pairs of tables share enough: their estimates count by the algorithms shared less one."""
    first = np.arange(4), np.array([0.0, 1.0, 2.0, 3.0]), np.full(4, 0.1)
    second = np.array([3, 2, 1, 0]), np.array([5.0, 2.0, 1.0, 0.0]), np.full(4, 0.2)
    third = np.array([1, 2, 3, 9]), np.array([0.0, 3.0, 3.0, 7.0]), np.full(4, 0.3)
    apart = np.array([0.0, 0.0, 0.0, -2.0]), np.array([1.0, -1.0, 0.0]), np.array([1.0, -1.0, 2.0])
    noise = 0.3, 0.4, 0.5
    spreads = [(gap.var(ddof=1) - own) / 2 for gap, own in zip(apart, noise, strict=True)]
    expected = (3 * spreads[0] + 2 * spreads[1] + 2 * spreads[2]) / 7
    assert _between([first, second, third]) == pytest.approx(expected)
    two = np.array([0, 1, 8, 9]), np.array([0.0, 50.0, 1.0, 2.0]), np.full(4, 0.1)
    assert _between([first, two]) == 0, "two shared algorithms say nothing"
    assert _between([first, first]) == 0, "nor do tables that agree better than their noise"
    assert _between([first]) == 0


def test_the_share_is_of_what_the_whole_grid_costs():
    grid = SimpleNamespace(spent=3.0, seconds=np.array([[1.0, 2.0], [3.0, 4.0]]), measured=np.eye(2, dtype=bool))
    assert AdaptiveResult.share.fget(grid) == pytest.approx(0.3)


def test_of_three_algorithms_the_first_three_ask_who_is_last():
    draws = np.random.default_rng(0).normal([1.0, 2.0, 3.0], 1.0, (50, 3))
    weight = pair_weights(draws, certify(draws), "top3")
    assert (weight > 0).tolist() == [[False, False, True], [False, False, True], [True, True, False]]


@pytest.mark.parametrize(
    ("names", "size"),
    [(("n", "interactions", "size", "Nr"), 3), (("n", "interactions", "size", "x"), 2), (("x", "n", "interactions"), 2),
     (("x", "y", "n"), 2), (("x", "y", "z"), 0)],
)  # fmt: skip
def test_which_characteristic_is_the_size_of_a_dataset(names, size):
    table = pl.DataFrame({"dataset": ["a", "b"], **{name: [2.0 + at, 9.0] for at, name in enumerate(names)}})
    assert log_sizes(recassay.load_characteristics(table)).tolist() == np.log([2.0 + size, 9.0]).tolist()
