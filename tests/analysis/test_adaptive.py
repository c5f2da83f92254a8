"""Adaptive benchmarking on synthetic truth: belief, costs, choice, certificate, and the loop that joins them."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy import stats

import recassay
from recassay.analysis.adaptive import decide as decide_module
from recassay.analysis.adaptive.belief import (
    BIASES,
    INFORMED_LEVELS,
    LEVELS,
    LINKS,
    SLOPES,
    _kernels,
    _ranks,
    as_evidence,
    complete,
)
from recassay.analysis.adaptive.certificate import certify
from recassay.analysis.adaptive.choice import Block, _best_block, choose, opening, pair_weights
from recassay.analysis.adaptive.draws import cut_normal
from recassay.analysis.adaptive.fit import (
    Benchmark,
    CellGrid,
    Probes,
    Question,
    Table,
    decide,
    fit_adaptive,
    log_sizes,
    read_benchmark,
    replay,
    replay_costs,
    run_adaptive,
)
from recassay.analysis.adaptive.prior import (
    APPLIES,
    GUMBEL,
    LEVEL_MOVES,
    LEVEL_SPREADS,
    Prior,
    prior_from,
    support,
)
from recassay.analysis.adaptive.sampler import redraw_column
from recassay.analysis.inference.failures import draw_failures
from recassay.api.study.adaptive_study import published_prior
from recassay.core import ties
from recassay.core.errors import InputError, UsageError
from recassay.core.predicted_seconds import predict_seconds
from recassay.core.system.plain import plain
from recassay.reporting.sections.adaptive import sentences
from support.grids import GRID_KINDS, synthetic_grid, synthetic_probes
from support.made import rng
from support.vega import assert_valid


def benchmark(kind="factors", seed=0, algorithms=6, datasets=8) -> Benchmark:
    grid = synthetic_grid(kind, rng(seed), algorithms=algorithms, datasets=datasets)
    names = tuple(f"a{i}" for i in range(algorithms)), tuple(f"d{j}" for j in range(datasets))
    return Benchmark(CellGrid("score", *names, grid.features[:, 0]), grid.values, grid.seconds)


def whole_ranks(values: np.ndarray) -> np.ndarray:
    return ties.ranks(values, higher_is_better=True, axis=0).mean(axis=1)


@pytest.mark.parametrize(
    ("low", "high"),
    [(-np.inf, np.inf), (1.0, 1.3), (3.0, np.inf), (-np.inf, -2.5), (-0.2, 0.1), (0.5, 9.0), (-1.0, 5.0)],
)
def test_a_cut_normal_has_the_moments_of_one(low, high):
    source = rng(1)
    drawn = np.array([cut_normal(low, high, source) for _ in range(4000)])
    truth = stats.truncnorm(low, high)
    assert low <= drawn.min() <= drawn.max() <= high
    assert drawn.mean() == pytest.approx(truth.mean(), abs=5 * truth.std() / np.sqrt(4000))
    assert drawn.std() == pytest.approx(truth.std(), rel=0.08)


def test_a_column_is_drawn_from_its_normal_distribution_cut_to_what_was_seen():
    """One cell seen orders nothing: the column has its mean and Sigma/sharpness. Two seen: those draws that agree."""
    mean, sharpness = np.array([0.5, -1.0, 2.0, 0.0]), 2.0
    half = rng(1).normal(size=(4, 4))
    sigma = half @ half.T + np.eye(4)
    straight = rng(2).multivariate_normal(mean, sigma / sharpness, size=40_000)
    source, order = rng(3), np.array([2, 0, 1, 3])
    for known, agree in ((1, np.ones(len(straight), bool)), (2, straight[:, 2] < straight[:, 0])):
        z, drawn = np.array([1.0, 0.0, -1.0, 0.0]), np.empty((40_000, 4))
        for row in drawn:
            redraw_column(z, mean, sharpness, order, np.arange(4), known, np.linalg.inv(sigma), source)
            row[:] = z
        truth = straight[agree]
        assert known == 1 or (drawn[:, 2] < drawn[:, 0]).all()
        assert np.allclose(drawn.mean(axis=0), truth.mean(axis=0), atol=0.08)
        assert np.allclose(np.cov(drawn.T), np.cov(truth.T), atol=0.15)


def test_the_belief_keeps_every_order_that_was_seen():
    values = rng(2).normal(size=(6, 7))
    values[rng(3).random((6, 7)) < 0.4] = np.nan
    values[:, 6] = np.nan
    ranks = complete(values, rng(4).normal(size=7), rng=rng(5)).ranks
    for j in range(7):
        seen = np.flatnonzero(~np.isnan(values[:, j]))
        best_first = seen[np.argsort(-values[seen, j])]
        assert (np.diff(ranks[:, best_first, j], axis=1) > 0).all()
    assert np.allclose(ranks.sum(axis=1), 21), "ranks, shared by those that may fail"


def test_a_complete_grid_is_known_ties_and_failures_included():
    values = np.array([[0.5, 0.1], [0.5, np.nan], [0.2, -np.inf], [0.1, 0.3]])
    whole = values.copy()
    whole[1, 1] = -np.inf
    ranks = complete(whole, rng=rng()).ranks
    assert (ranks == ranks[0]).all()
    assert ranks[0].T.tolist() == [[1.5, 1.5, 3, 4], [2, 3.5, 3.5, 1]]
    assert certify(ranks.mean(axis=2)).probabilities["order"] == 1.0
    partly = complete(values, rng=rng()).ranks[:, :, 1]
    assert (partly[:, 2] >= 3).all()
    assert len(np.unique(partly[:, 1])) == 4


def test_nothing_known_means_anything_goes():
    ranks = complete(np.full((4, 5), np.nan), rng=rng()).ranks
    assert np.abs(ranks.mean(axis=0) - 2.5).max() < 0.3


def test_the_belief_learns_levels_and_says_how_sure_it_is():
    scores, errors = [], []
    for seed in range(4):
        grid = synthetic_grid("factors", rng(seed), algorithms=8, datasets=16)
        values = grid.values.copy()
        values[:, np.argsort(grid.features[:, 0])[8:]] = np.nan
        means = complete(values, grid.features[:, 0], rng=rng(seed)).mean_ranks
        truth = whole_ranks(grid.values)
        scores.append(stats.spearmanr(means.mean(axis=0), truth)[0])
        errors.append((truth - means.mean(axis=0)) / means.std(axis=0))
    assert np.mean(scores) > 0.8
    assert 0.4 < np.std(errors) < 1.6


def test_unlike_datasets_are_less_certain():
    values = np.full((5, 8), np.nan)
    values[:, :5] = rng(1).normal(size=(5, 5)) + np.arange(5)[:, None]
    log_size = np.array([1.0, 1.1, 0.9, 1.0, 1.2, 1.05, 1.1, 9.0])
    ranks = complete(values, log_size, rng=rng(2)).ranks
    assert ranks[:, :, 7].var(axis=0).mean() > 1.1 * ranks[:, :, 5].var(axis=0).mean()


def test_costs_are_learned_from_what_was_run():
    size = np.linspace(8, 14, 12)
    a, b = np.array([-8.0, -5.0, -6.0, -2.0]), np.array([1.0, 1.2, 0.8, 1.1])
    truth = np.exp(a[:, None] + b[:, None] * size)
    seen = truth.copy()
    seen[:, 6:] = np.nan
    found = predict_seconds(seen, size)
    assert np.array_equal(found[:, :6], truth[:, :6])
    assert np.abs(np.log(found / truth)).max() < 1.2
    seen[3] = np.nan
    alike = predict_seconds(seen, size, ["quick", "slow", "quick", "slow"])
    assert alike[3].sum() > predict_seconds(seen, size, ["quick", "slow", "slow", "quick"])[3].sum()
    assert np.isfinite(predict_seconds(np.full((3, 4), np.nan))).all()


def conditioned_seconds(seconds, size, classes, expected, probes, ratio, relative, unsized=1, of_class=2.25):
    """`predict_seconds` by the covariances of its formula: what is not known, given what is, averaged over the grid."""
    sizes, table = size - size.mean(), np.hstack([seconds, probes])
    places = [(i, j % len(size), float(j >= len(size))) for i in range(len(table)) for j in range(table.shape[1])]
    known = np.isfinite(table.ravel())
    taken = np.log(table.ravel()[known])
    predictions, weights = [], []
    for (alike, chance), of_dataset, of_rest in product(((True, 0.8), (False, 0.2)), (0.25, 0.5, 1), (0.2, 0.4, 0.8)):
        compared = [alike and np.isfinite(value) for value in relative]
        mean = [
            (relative[i] if compared[i] else expected[classes[i]]) + sizes[j] + look * np.log(ratio)
            for i, j, look in places
        ]
        shared = [
            [
                100 + 0.09 * sizes[j] * sizes[at] + of_class * (classes[i] == classes[k])
                + (i == k) * ((0.49 if compared[i] else 2.25) + 0.09 * sizes[j] * sizes[at])
                + (j == at) * (unsized * of_dataset) ** 2 + look * other * (0.49 + 0.09 * (i == k))
                for k, at, other in places
            ]
            for i, j, look in places
        ]  # fmt: skip
        mean, shared = np.array(mean), np.array(shared)
        seen = shared[np.ix_(known, known)] + of_rest**2 * np.eye(known.sum())
        gain = shared[:, known] @ np.linalg.inv(seen)
        variance = np.diag(shared) + of_rest**2 - (gain * shared[:, known]).sum(axis=1)
        middle = mean + gain @ (taken - mean[known])
        predictions.append(np.exp(middle + np.minimum(variance, 1) / 2))
        weights.append(chance * stats.multivariate_normal(mean[known], seen).pdf(taken))
    predicted = np.average(predictions, axis=0, weights=weights).reshape(table.shape)
    return np.where(np.isfinite(table), table, predicted)


def test_seconds_are_those_of_the_normal_model():
    rng = np.random.default_rng(3)
    size = np.array([4.0, 6.5, 9.0, 10.0])
    seconds = np.exp(rng.normal(1, 1, (3, 4)) + size / 2)
    seconds[[0, 1, 2, 2], [3, 2, 0, 1]] = np.nan
    probes = np.where(rng.random((3, 4)) < 0.5, 0.2 * np.exp(size / 2), np.nan)
    classes, expected = ["slow", "quick", "slow"], {"slow": 1.5, "quick": 0.0}
    relative = np.array([0.0, -1.0, np.nan])
    made = predict_seconds(seconds, size, classes, {"slow": 1.5}, probes=probes, ratio=0.3, relative=relative)
    by_hand = conditioned_seconds(seconds, size, classes, expected, probes, 0.3, relative)
    np.testing.assert_allclose(made, by_hand, rtol=1e-6)
    none = np.full(3, np.nan)
    bare = conditioned_seconds(seconds, np.zeros(4), "aaa", {"a": 0}, np.empty((3, 0)), 1, none, 3, 0)
    np.testing.assert_allclose(predict_seconds(seconds), bare, rtol=1e-6)


def test_of_the_characteristics_the_size_alone_is_used():
    table = {"dataset": ["x", "y"], "Nu": [3.0, 4.0], "Ni": [5.0, 6.0], "Nr": [10.0, 100.0], "gini": [None, 0.5]}
    assert log_sizes(recassay.load_characteristics(pl.DataFrame(table))).tolist() == np.log([10.0, 100.0]).tolist()
    unnamed = pl.DataFrame({"dataset": ["x", "y"], "Nu": [3.0, 4.0], "Ni": [5.0, 6.0]})
    assert log_sizes(recassay.load_characteristics(unnamed)).tolist() == np.log([3.0, 4.0]).tolist()
    zero = pl.DataFrame({"dataset": ["x", "y"], "size": [0.0, 2.0]})
    assert log_sizes(recassay.load_characteristics(zero)).tolist() == [0.0, 2.0]
    logarithms = pl.DataFrame({"dataset": ["x", "y"], "size": [-1.0, 2.0]})
    assert log_sizes(recassay.load_characteristics(logarithms)).tolist() == [-1.0, 2.0]
    with pytest.raises(InputError, match="not known of every dataset"):
        log_sizes(recassay.load_characteristics(pl.DataFrame({**table, "Nr": [10.0, None]})))


def test_claims_are_counted_over_draws():
    draws = np.tile([1.0, 2.0, 3.0, 4.0], (99, 1))
    draws[:30, :2] = [2.0, 1.0]
    found = certify(draws, stretch=1.0)
    assert found.order.tolist() == [0, 1, 2, 3]
    assert found.probabilities["first"] == pytest.approx(0.69)
    assert found.sets.tolist() == pytest.approx([0.69, 0.99, 0.99, 1.0])
    assert found.probabilities["top3"] == pytest.approx(0.99)
    assert found.probabilities["order"] == pytest.approx(0.99)
    assert certify(draws, stretch=1.0, indifference=0.5).probabilities["order"] == pytest.approx(0.69)
    assert found.probabilities["rho"] == pytest.approx(0.69)


def test_a_stretch_makes_claims_later():
    draws = rng().normal([1.0, 2.0, 3.0], 0.5, size=(500, 3))
    assert certify(draws, stretch=1.5).sets[0] < certify(draws, stretch=1.0).sets[0]


def test_the_choice_weighs_what_is_open_and_its_price():
    values = np.full((4, 6), np.nan)
    values[:, 0], values[:, 1] = [4, 3, 2, 1], [3, 4, 2, 1]
    belief = complete(values, rng=rng())
    certificate = certify(belief.mean_ranks)
    weight = pair_weights(belief.mean_ranks, certificate, "first")
    assert weight[0, 1] > 3 * weight[0, 3] if certificate.order[0] == 0 else weight[1, 0] > 3 * weight[1, 3]
    assert weight[2, 3] == 0
    done = ~np.isnan(values)
    seconds = np.ones((4, 6))
    seconds[:, 3] = 0.01
    assert {block.dataset for block in choose(belief, certificate, "first", done, seconds)} == {3}
    every = choose(belief, certificate, "order", done, np.ones((4, 6)), cells=16, least_seconds=0.0)
    assert not any(done[i, block.dataset] for block in every for i in block.algorithms)
    for most in (0.5, 0.01):
        few = choose(belief, certificate, "order", done, seconds, cells=99, most_seconds=most)
        assert {block.dataset for block in few} == {3}
    assert opening(np.zeros((4, 6), bool), seconds).dataset == 3
    run = np.array([[True, True, False], [True, False, False]])
    first = opening(run, np.array([[1.0, 9.0, 2.0], [1.0, 3.0, 2.0]]))
    assert first == Block(1, (1,), 1.0, 3.0), "the cheapest of what is left"


@pytest.mark.slow
@pytest.mark.parametrize("target", ["first", "top3", "order", "rho"])
def test_a_run_ends_with_a_claim_that_is_true_of_its_whole_grid(target):
    table = benchmark(seed=11)
    found = replay(table, Question(target, 0.9), seed=1)
    assert found.ended in ("certified", "complete")
    assert found.probabilities[target] >= 0.9
    assert found.measured.sum() == sum(len(step.cells) for step in found.steps)
    assert np.isnan(found.values[~found.measured]).all()
    curve = found.curve()
    assert curve.get_column("done").is_sorted()
    assert 0 < found.share <= 1
    again = replay(table, Question(target, 0.9), seed=1)
    assert again.order == found.order
    assert again.steps == found.steps


@pytest.mark.slow
def test_claims_hold_on_grids_of_every_kind():
    right = []
    for number, kind in enumerate([*GRID_KINDS, *GRID_KINDS]):
        table = benchmark(kind, seed=100 + number, algorithms=5, datasets=7)
        found = replay(table, Question("first"), seed=number)
        truth = whole_ranks(table.values)
        right.append(truth[table.grid.algorithms.index(found.order[0])] <= truth.min() + 1e-9)
    assert sum(right) >= 11


def test_run_to_the_end_it_is_the_full_ranking():
    table = benchmark("none", seed=3, algorithms=4, datasets=4)
    found = replay(table, Question("order", 0.999, indifference=0.0), seed=0)
    assert found.measured.all()
    assert found.ended == "complete"
    assert np.allclose(found.mean_ranks, whole_ranks(table.values))
    assert found.certified


def test_the_budget_is_kept_and_can_be_raised():
    table = benchmark("none", seed=5)
    costs = replay_costs(table)
    poor = replay(table, Question("order", 0.99), budget=0.05 * costs.sum())
    assert poor.ended == "budget"
    assert not poor.certified
    assert poor.spent <= 0.2 * costs.sum()
    rich = decide(table.grid, Question("order", 0.99), poor.values, poor.seconds, most_seconds=0.45 * costs.sum())
    assert rich.next is not None
    at = [table.grid.place(*cell) for cell in rich.next.cells]
    assert not any(poor.measured[cell] for cell in at)


def test_a_runner_whose_cells_fail_and_whose_metric_falls():
    asked = []

    def runner(cells):
        asked.extend(cells)
        return {(a, d): (None if a == "broken" else {"good": 0.1, "bad": 0.9}[a], 1.0) for a, d in cells}

    grid = CellGrid("loss", ("bad", "broken", "good"), ("x", "y", "z"), higher_is_better=False)
    found = run_adaptive(runner, grid, Question("order", 0.9))
    assert found.order == ("good", "bad", "broken")
    assert len(asked) == len(set(asked)) == found.measured.sum()
    assert set(found.cells().filter(pl.col("algorithm") == "broken").get_column("state")) <= {"failed", "predicted"}


def test_values_are_shown_as_they_were_measured_where_lower_is_better():
    def runner(cells):
        return {(a, d): ({"good": 0.1, "bad": 0.9}[a], 1.0) for a, d in cells}

    found = recassay.adaptive(runner, "loss", algorithms=["bad", "good"], datasets=["x", "y"], higher_is_better=False)
    assert found.order == ("good", "bad")
    assert set(found.cells().drop_nulls("value").select("algorithm", "value").rows()) == {("good", 0.1), ("bad", 0.9)}


def test_the_verb_reads_tables_with_holes_and_says_what_is_next():
    table = benchmark(seed=1)
    rows = [
        (a, d, metric, float(part[i, j]))
        for metric, part in (("ndcg@10", table.values), ("seconds_fit", table.seconds))
        for i, a in enumerate(table.grid.algorithms)
        for j, d in enumerate(table.grid.datasets)
        if j < 2 or i == 0
    ]
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row")
    found = recassay.adaptive(frame)
    assert_valid(recassay.figures(found))
    assert found.next is not None
    assert not {(a, d) for a, d, *_ in rows} & set(found.next.cells)
    states = found.cells().group_by("state").len().rows()
    assert dict(states) == {"measured": len(rows) // 2, "predicted": 48 - len(rows) // 2}
    predicted = found.cells().filter(pl.col("state") == "predicted")
    assert predicted.get_column("value").null_count() == predicted.height
    more = recassay.adaptive(frame, algorithms=[*table.grid.algorithms, "new"], datasets=table.grid.datasets)
    assert "new" in more.order


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(UsageError, match="confidence"):
        recassay.adaptive(lambda cells: {}, confidence=1.0)
    with pytest.raises(UsageError, match="target is 'second'"):
        recassay.adaptive(lambda cells: {}, target="second")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="indifference is -1"):
        recassay.adaptive(lambda cells: {}, indifference=-1)
    for rho in (0.0, -0.5, 1.01):
        with pytest.raises(UsageError, match=f"rho is {rho:g}; give a correlation above 0, at most 1"):
            Question(rho=rho)
    assert Question(rho=1.0) == Question("first", 0.95, 1.0, 1.0)
    assert Question().rho == 0.97
    for ratio in (0.0, 1.0, -0.1):
        with pytest.raises(UsageError, match=f"a probe takes {ratio:g} of a cell's seconds; give a share between 0"):
            Probes(np.zeros((2, 2)), np.zeros((2, 2)), ratio)
    with pytest.raises(UsageError, match="1 algorithm on 2 datasets; an adaptive benchmark needs at least two"):
        CellGrid("x", ("a",), ("d", "e"))
    with pytest.raises(UsageError, match="2 algorithms on 1 dataset;"):
        CellGrid("x", ("a", "b"), ("d",))
    with pytest.raises(UsageError, match="name its algorithms"):
        recassay.adaptive(lambda cells: {})
    frame = pl.DataFrame({"algorithm": ["a", "b"], "dataset": "d", "metric": "ndcg@10", "value": [0.1, 0.2]})
    with pytest.raises(InputError, match="the table has the algorithm 'b', which is not of the grid"):
        recassay.adaptive(frame, algorithms=["a", "c"], datasets=["d", "e"])
    with pytest.raises(InputError, match="the table has the dataset 'd', which is not of the grid"):
        recassay.adaptive(frame, algorithms=["a", "b"], datasets=["f", "e"])


def test_equal_results_everywhere():
    grid = CellGrid("x", ("a", "b", "c"), ("d", "e"))
    found = decide(grid, Question("order"), np.full((3, 2), 0.5), np.ones((3, 2)))
    assert found.ended == "complete"
    assert found.mean_ranks.tolist() == [2, 2, 2]
    assert found.certified


def probed(seed=0, noise=0.2, ratio=0.05, **size) -> Benchmark:
    whole = benchmark(seed=seed, **size)
    values, seconds = synthetic_probes(
        synthetic_grid("factors", rng(seed), algorithms=len(whole.values), datasets=whole.values.shape[1]),
        rng(seed + 100), ratio=ratio, noise=noise,
    )  # fmt: skip
    return replace(whole, probes=Probes(values, seconds, ratio))


def test_probes_tell_of_cells_as_far_as_they_agree_where_both_were_run():
    """With half of the datasets run, probes of the others: faithful ones narrow the mean ranks, noise hardly does."""
    spread = {}
    for name, noise in (("none", None), ("faithful", 0.05), ("noise", 50.0)):
        found = []
        for seed in range(4):
            made = probed(seed, noise or 1.0, algorithms=8, datasets=16)
            hidden = made.values.copy()
            hidden[:, 8:] = np.nan
            looks = None if noise is None else made.probes.values
            belief = complete(hidden, made.grid.log_size, probes=looks, rng=rng(seed))
            found.append(belief.mean_ranks.std(axis=0).mean())
            assert belief.ranks.shape[1:] == (8, 16)
        spread[name] = np.mean(found)
    assert spread["faithful"] < 0.7 * spread["none"]
    assert spread["noise"] > 0.85 * spread["none"]


def test_what_probes_cost_is_learned_from_those_that_were_run():
    made = probed(ratio=0.02, algorithms=6, datasets=8)
    seconds, looks = made.seconds.copy(), made.probes.seconds.copy()
    seconds[:, 3:], looks[:, 2:] = np.nan, np.nan
    found = predict_seconds(seconds, made.grid.log_size, probes=looks, ratio=0.5)
    assert found.shape == (6, 16)
    cells, probes = found[:, :8], found[:, 8:]
    assert np.array_equal(cells[:, :3], made.seconds[:, :3])
    assert np.array_equal(probes[:, :2], made.probes.seconds[:, :2])
    error = np.log(probes[:, 2:] / made.probes.seconds[:, 2:])
    assert abs(error.mean()) < 0.6, "said to be half, learned to be a fiftieth"


@pytest.mark.slow
def test_a_run_with_faithful_probes_claims_rightly_and_runs_fewer_cells():
    fewer, right = [], []
    for seed in range(3):
        made = probed(seed, noise=0.1, ratio=0.01, algorithms=7, datasets=12)
        truth = whole_ranks(made.values)
        plain = replay(replace(made, probes=None), Question("order"), seed=seed)
        found = replay(made, Question("order"), seed=seed)
        ranks = truth[[made.grid.algorithms.index(name) for name in found.order]]
        assert found.certified
        right.append((np.maximum.accumulate(ranks)[:-1] - ranks[1:] <= 1 + 1e-9).all())
        fewer.append(found.measured.sum() < plain.measured.sum())
        assert found.probed == sum(len(step.probes) for step in found.steps) > 0
        assert found.spent == pytest.approx(found.seconds[found.measured].sum() + found.probes_took)
        batches = found.frames()["adaptive_batches"]
        assert batches.filter(kind="probe").height == found.probed
    assert all(right)
    assert all(fewer)


def test_a_runner_may_bring_its_own_probe():
    made = probed(noise=0.1, algorithms=5, datasets=6)
    at = {(a, d): (i, j) for i, a in enumerate(made.grid.algorithms) for j, d in enumerate(made.grid.datasets)}

    def look(values, seconds):
        return lambda cells: {cell: (float(values[at[cell]]), float(seconds[at[cell]])) for cell in cells}

    found = recassay.adaptive(
        look(made.values, made.seconds), algorithms=made.grid.algorithms, datasets=made.grid.datasets,
        probe=look(made.probes.values, made.probes.seconds), probe_ratio=0.05,
    )  # fmt: skip
    assert found.probed > 0
    assert f"{found.probed} cells were probed besides" in " ".join(found.verdict())
    with pytest.raises(UsageError, match="a table cannot be probed"):
        recassay.adaptive("published:kdd24", probe=look(made.values, made.seconds))
    for ratio in (2.0, 1.0, 0.0):
        with pytest.raises(UsageError, match=rf"takes {ratio:g} of a cell's seconds"):
            Probes(made.values, made.seconds, ratio)


def failure_probabilities(failed, run, size):
    return draw_failures(failed, run, size, 2000, rng(1)).mean(axis=0)


def test_an_algorithm_that_fails_above_a_size_is_expected_to_fail_there():
    """Seven algorithms on twelve datasets: one fails on the three largest that were run; the others ran everywhere."""
    size = np.arange(12.0)
    run = np.zeros((7, 12), bool)
    run[:, :10] = True
    failed = np.zeros((7, 12), bool)
    failed[0, 7:10] = True
    chance = failure_probabilities(failed, run, size)
    assert (chance[0, 10:] > 0.9).all()
    assert (chance[1:, 10:] < 0.15).all()
    assert np.array_equal(chance[:, :10], failed[:, :10])
    narrow, wide = run.copy(), run.copy()
    narrow[1, 4:], wide[1, 8:] = False, False
    assert failure_probabilities(failed, narrow, size)[1, 11] > failure_probabilities(failed, wide, size)[1, 11]
    ran = np.zeros((7, 2))
    ran[1] = 2.0
    drawn = draw_failures(failed, narrow, size, 2000, rng(1), elsewhere=(ran, np.array([10.0, 11.0])))
    assert drawn[:, 1, 11].mean() < 0.5 * failure_probabilities(failed, narrow, size)[1, 11]


def test_a_failed_cell_says_nothing_of_the_score_that_it_would_have_had():
    """The best of five crashes on the two largest datasets that were run: it stays best where it will not fail."""
    size = np.linspace(8, 14, 10)
    values = np.full((5, 10), np.nan)
    values[:, :8] = np.arange(5.0)[:, None] + rng(3).normal(0, 0.2, (5, 8))
    values[4, 6:8] = -np.inf
    belief = complete(values, size, rng=rng(4))
    assert belief.failed[:, 4, 9].mean() > 0.8
    succeeds = ~belief.failed[:, 4, 9]
    assert belief.ranks[succeeds, 4, 9].mean() < 2
    assert (belief.ranks[~succeeds, 4, 9] >= 3).all()
    found = decide(CellGrid("score", tuple("abcde"), tuple(f"d{j}" for j in range(10)), size),
                   Question("first"), values, np.ones((5, 10)))  # fmt: skip
    assert found.order[0] == "d", "e is last wherever it fails"
    assert 0 < found.leader_fails < 0.5
    assert "d was not run on 2 of 10 datasets; that it fails on any of them is counted as" in " ".join(sentences(found))


def halves(seed: int, names: tuple[str, ...] | None = None) -> tuple[Benchmark, Prior]:
    """The half of a grid, and the prior that the other half gives; its algorithms may go by wrong names."""
    whole = benchmark("families", seed=seed, algorithms=8, datasets=24)
    known, new = np.arange(0, 24, 2), np.arange(1, 24, 2)
    log_size = whole.grid.log_size
    table = as_evidence(
        "known",
        names or whole.grid.algorithms,
        whole.values[:, known],
        whole.seconds[:, known],
        log_size[known],
        rng(),
    )
    grid = CellGrid("score", whole.grid.algorithms, tuple(f"d{j}" for j in new), log_size[new])
    prior = prior_from([table], whole.grid.algorithms)
    assert prior is not None
    return Benchmark(grid, whole.values[:, new], whole.seconds[:, new]), prior


def test_a_prior_sharpens_the_belief_where_it_is_right_and_counts_little_where_it_is_wrong():
    closer, weights = [], []
    for seed in range(3):
        table, prior = halves(seed)
        values = table.values.copy()
        values[:, 4:] = np.nan
        truth = whole_ranks(table.values)
        error = []
        for given in (None, prior, halves(seed, tuple(np.roll(table.grid.algorithms, 3).tolist()))[1]):
            belief = complete(values, table.grid.log_size, prior=given, rng=rng(seed))
            error.append(np.abs(belief.mean_ranks.mean(axis=0) - truth).mean())
            weights.append(belief.weight)
        closer.append(error)
    none, right, wrong = np.mean(closer, axis=0)
    assert right < none
    assert wrong < 1.1 * none
    assert np.mean(weights[0::3]) == 0
    assert np.mean(weights[1::3]) > 10 * np.mean(weights[2::3])


def test_before_any_cell_the_order_is_that_of_the_prior_and_nothing_is_claimed():
    table, prior = halves(1)
    nothing = np.full(table.values.shape, np.nan)
    standing = decide(table.grid, Question("first", 0.6), nothing, nothing, prior=prior)
    order = [table.grid.algorithms.index(name) for name in standing.order]
    assert np.corrcoef(np.argsort(order), -prior.levels)[0, 1] > 0.9
    assert standing.ended is None


def test_a_prior_that_is_wrong_about_the_leader_delays_no_claim(monkeypatch):
    """The cells support the leader, and the prior another one, whatever they say."""
    table, prior = halves(3)
    leader, rival = np.argsort(whole_ranks(table.values))[:2]
    levels = prior.levels.copy()
    levels[leader], levels[rival] = levels[leader] - 2, levels[rival] + 2
    sure = replace(prior, levels=levels, deviations=np.full(len(levels), 0.05))
    monkeypatch.setattr("recassay.analysis.adaptive.belief.support", lambda *_: 0.9)
    values = np.where(np.arange(12) < 5, table.values, np.nan)
    belief = complete(values, table.grid.log_size, prior=sure, rng=rng())
    assert certify(belief.mean_ranks, belief.expected).sets[0] < 0.62
    asked = table.grid, Question("first", 0.62), values, table.seconds
    alone, together = decide(*asked), decide(*asked, prior=sure)
    assert alone.ended == together.ended == "certified"
    assert alone.order[0] == together.order[0] == table.grid.algorithms[leader]


def test_how_far_a_prior_applies_is_learned_from_the_orders():
    """Nothing run: as before; then the right one gains and the shuffled one loses with every dataset."""
    right, shuffled = [], []
    for seed in range(4):
        table, prior = halves(seed)
        wrong = halves(seed, tuple(np.roll(table.grid.algorithms, 3).tolist()))[1]
        seen = [np.where(np.arange(12) < count, table.values, np.nan) for count in (0, 1, 6)]
        assert support(prior, seen[0]) == support(wrong, seen[0]) == APPLIES
        right.append([support(prior, part) for part in seen[1:]])
        shuffled.append([support(wrong, part) for part in seen[1:]])
    assert np.median(right, axis=0)[1] > 0.99
    assert np.median(shuffled, axis=0)[0] < APPLIES
    assert np.max(shuffled, axis=0)[1] < 0.05
    failed = np.where(rng(1).random(seen[2].shape) < 0.2, -np.inf, seen[2])
    assert 0 < support(prior, failed) < 1, "failed cells say nothing about the order"


def test_the_evidence_for_a_prior_is_that_of_a_simulation():
    """Two datasets, three algorithms: Plackett and Luce's probabilities averaged over drawn levels."""
    values = np.array([[3.0, 2.0], [2.0, 3.0], [1.0, np.nan]])
    prior = prior_from([as_evidence("t", tuple("abc"), rng(2).normal(np.array([[1.0], [0], [-1]]), 1, (3, 9)),
                                    np.ones((3, 9)), None, rng())], tuple("abc"))  # fmt: skip
    assert prior is not None

    def likelihood(mean, variance):
        u = np.exp(GUMBEL * (mean + np.sqrt(variance) * rng(5).standard_normal((200_000, 3))))
        first = u[:, 0] / u.sum(axis=1) * u[:, 1] / (u[:, 1] + u[:, 2])
        return float((first * u[:, 1] / (u[:, 0] + u[:, 1])).mean())

    ahead = np.mean([likelihood(prior.levels, prior.deviations**2 + move) for move in LEVEL_MOVES])
    behind = np.mean([likelihood(np.zeros(3), spread) for spread in LEVEL_SPREADS])
    assert support(prior, values) == pytest.approx(ahead / (ahead + behind), abs=0.03)


def test_unknown_algorithms_get_the_level_of_their_class_and_a_prior_survives_a_journal():
    table, _ = halves(1)
    evidence = as_evidence("t", tuple("abcdefgh"), table.values, table.seconds, None, rng())
    names, kinds = ("a", "B-", "c", "new", "other"), ("x", "x", "y", "x", "z")
    prior = prior_from([evidence], names, kinds)
    assert prior is not None
    assert prior.known.tolist() == [True, True, True, False, False]
    assert prior.levels[3] == pytest.approx(prior.levels[:2].mean())
    assert prior.levels[4] == 0
    assert prior.sources == ("t (3 of 5 algorithms, 12 datasets)",)
    assert np.linalg.eigvalsh(prior.covariance).min() > 0
    again = Prior.from_dict(json.loads(json.dumps(plain(prior))))
    assert again.sources == prior.sources
    for name in ("levels", "deviations", "covariance", "log_seconds", "succeeded", "log_size"):
        assert np.array_equal(getattr(again, name), getattr(prior, name), equal_nan=True)
    assert prior_from([evidence], ("a", "b", "new")) is None, "two shared algorithms are too few"


def test_tables_that_disagree_make_an_uncertain_prior():
    """Two tables of the same levels, and two whose levels differ by a deviation of 1: how sure the prior is of them."""
    names, levels = tuple("abcdefgh"), rng(4).normal(0, 1, (8, 1))
    shift = rng(5).normal(0, 1, (8, 1))
    sure = {}
    for moved in (0.0, 1.0):
        tables = [as_evidence(f"t{i}", names, levels + (i * moved) * shift + 0.3 * rng(6 + i).normal(0, 1, (8, 20)),
                              np.ones((8, 20)), None, rng()) for i in range(2)]  # fmt: skip
        sure[moved] = prior_from(tables, names).deviations.mean()
    assert sure[0.0] < 0.5 * sure[1.0]
    alone = prior_from(tables[:1], names)
    assert prior_from(tables[:1], names, between=1.0).deviations.min() > max(1.0, alone.deviations.max())


def test_published_tables_speak_for_the_algorithms_they_know_and_not_for_their_own_datasets():
    grid = CellGrid("recall@20", ("EASE", "ItemCF", "Pop", "Mine"), ("d1", "d2"), None, ("closed form",) * 4)
    prior = published_prior(grid)
    assert prior is not None
    assert prior.known.tolist() == [True, True, True, False]
    assert prior.levels[0] > prior.levels[1] > prior.levels[2]
    assert any("published:kdd24 (3 of 4 algorithms, 30 datasets)" in source for source in prior.sources)
    own = published_prior(replace(grid, datasets=recassay.load_results("published:kdd24").datasets))
    assert own is None or not any("kdd24" in source for source in own.sources)
    assert published_prior(replace(grid, metric="coverage@20")) is None


def test_how_much_costs_scatter_is_learned():
    """Two grids with the same sizes: where times scatter more, more is expected of cells that were not run."""
    size = np.linspace(8, 14, 20)
    noise = rng(1).normal(0, 1.0, (6, 20))
    found = []
    for scatter in (0.05, 1.0):
        truth = np.exp(-6 + size + scatter * noise)
        seen = truth.copy()
        seen[:, 10:] = np.nan
        found.append(predict_seconds(seen, size)[:, 10:] / np.exp(-6 + size[10:]))
    assert np.median(np.abs(np.log(found[0]))) < 0.15
    assert np.median(found[1]) > 1.15 * np.median(found[0])
    relative = predict_seconds(np.full((3, 4), np.nan), relative=np.array([0.0, 2.0, np.nan]))
    assert 4 < relative[1, 0] / relative[0, 0] < np.exp(2), "mostly as elsewhere"
    seen = np.full((6, 20), np.nan)
    costs = np.exp(np.arange(6)[:, None] - 6 + size)
    seen[:, :2] = costs[:, :2]
    wrong, none = (predict_seconds(seen, size, relative=known) for known in (np.arange(6.0)[::-1], None))
    assert np.abs(np.log(wrong / costs)).mean() < 1.1 * np.abs(np.log(none / costs)).mean(), "refuted, it is forgotten"


def test_only_grids_of_scarce_memory_lack_values_of_the_best():
    for kind in ("factors", "memory"):
        lost = ~np.isfinite(synthetic_grid(kind, rng(4), algorithms=6, datasets=12).values)
        assert lost.any() == (kind == "memory")
    assert lost.any(axis=1).sum() == 2


@pytest.mark.parametrize("answer", [lambda cells: [(0.1, 1.0) for _ in cells], lambda cells: {}, lambda cells: None])
def test_a_function_that_does_not_answer_for_its_cells_is_refused(answer):
    with pytest.raises(UsageError, match="gave no value and seconds for A on x"):
        recassay.adaptive(answer, "ndcg@10", algorithms=["A", "B", "C"], datasets=["x", "y", "z"])


def test_a_table_is_read_as_cells_that_ran_failed_or_are_open():
    rows = [
        ("a", "x", "rmse", 0.5), ("a", "y", "rmse", None), ("b", "x", "rmse", 0.7),
        ("a", "x", "seconds", 99.0), ("b", "x", "seconds", 5.0),
    ]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row")
    sizes = recassay.load_characteristics(pl.DataFrame({"dataset": ["y", "x"], "n": [np.e, 1.0]}))
    found = read_benchmark(recassay.load_results(frame), "rmse", characteristics=sizes, classes={"b": "quick"})
    assert (found.grid.algorithms, found.grid.datasets) == (("a", "b"), ("x", "y"))
    assert not found.grid.higher_is_better
    assert np.array_equal(found.values, [[-0.5, -np.inf], [-0.7, np.nan]], equal_nan=True)
    assert np.array_equal(found.seconds, [[99.0, np.nan], [5.0, np.nan]], equal_nan=True)
    assert found.grid.log_size == pytest.approx([0.0, 1.0])
    assert found.grid.classes == ("other", "quick")
    more = [("a", "x", "seconds_fit", 2.0), ("a", "x", "seconds_predict", 0.5), ("b", "x", "seconds_fit", 3.0)]
    timed = pl.concat([frame, pl.DataFrame(more, schema=frame.schema, orient="row")])
    found = read_benchmark(recassay.load_results(timed), "rmse", higher_is_better=True, datasets=["y", "x", "z"])
    assert np.array_equal(found.values, [[-np.inf, 0.5, np.nan], [np.nan, 0.7, np.nan]], equal_nan=True)
    assert np.array_equal(found.seconds[:, 1], [2.5, np.nan], equal_nan=True), "both parts, or none"


def journal(**more):
    """Of three algorithms on three datasets, `ndcg@10`; one batch was run."""
    step = {
        "done": 0, "spent": 0.0, "share": 0.0, "leader": "a", "first": 0.4, "top3": 1.0, "ordered": 0.2,
        "agreement": 0.3, "cells": [["a", "x"], ["b", "x"], ["c", "x"]], "seconds": 3.0, "why": "cheap",
    }  # fmt: skip
    question = {"target": "order", "confidence": 0.99, "indifference": 0.5, "rho": 0.9}
    return {
        "metric": "ndcg@10", "algorithms": ["a", "b", "c"], "datasets": ["x", "y", "z"], "question": question,
        "features": [[1.0, 7.0], [2.0, 8.0], [3.0, 9.0]],
        "seconds": [["a", "x", 7.0], ["gone", "x", 1.0], ["b", "gone", 1.0]],
        "steps": [step], "seed": 0, **more,
    }  # fmt: skip


def test_a_journal_says_what_was_asked_taken_and_probed(monkeypatch):
    rows = [(a, "x", m, v) for m in ("ndcg@10", "mrr@10") for a, v in (("a", 0.3), ("b", 0.2), ("c", 0.1))]
    rows += [(a, "x", "seconds", 2.0) for a in "abc"]
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row")
    probes = {"probes": [["b", "y", 0.25, 0.5], ["c", "y", None, 0.125]], "probe_ratio": 0.2}
    results, stored = recassay.load_results(frame), journal(**probes, ended="budget")
    found = fit_adaptive(results, stored)
    assert (found.target, found.confidence, found.indifference, found.rho) == ("order", 0.99, 0.5, 0.9)
    assert found.seconds[:, 0].tolist() == [7.0, 2.0, 2.0], "the journal knows what tuning took"
    looked = np.full((3, 3), np.nan)
    looked[1, 1], looked[2, 1] = 0.25, -np.inf
    assert np.array_equal(found.probe_values, looked, equal_nan=True)
    assert (found.probed, found.probes_took, found.spent) == (2, 0.625, 11.625)
    assert found.share == pytest.approx(11.625 / found.seconds.sum())
    assert found.steps[0].cells == (("a", "x"), ("b", "x"), ("c", "x"))
    assert found.frames()["adaptive_batches"].rows()[-1] == (1, "c", "x", "cell", "cheap")
    standing = found.curve().rows(named=True)
    assert [row["spent"] for row in standing] == [0.0, 11.625]
    assert standing[1] == {
        "done": 3, "spent": 11.625, "share": found.share, "leader": found.order[0],
        "first": found.probabilities["first"], "top3": found.probabilities["top3"],
        "ordered": found.probabilities["order"], "agreement": found.probabilities["rho"],
    }  # fmt: skip
    assert found.ended == ("budget" if found.next else found.ended)
    edge = replace(found, sets=np.array([0.95, 0.94, 1.0]), probabilities={"order": 0.95}, confidence=0.95)
    assert (edge.certified, edge.settled()) == (True, [True, False, False])
    assert not replace(edge, probabilities={"order": 0.949}).certified
    table = edge.to_frame()
    assert table["place"].to_list() == [1, 2, 3]
    assert dict(table.select("algorithm", "seconds").rows()) == {"a": 7.0, "b": 2.0, "c": 2.0}
    assert table["cells_run"].to_list() == [1, 1, 1]
    turned = replace(edge, order=("c", "a", "b"), deviations=np.array([0.1, 0.2, 0.3])).to_frame()
    assert turned["algorithm"].to_list() == ["c", "a", "b"]
    assert turned["mean_rank"].to_list() == edge.mean_ranks[[2, 0, 1]].tolist()
    assert (turned["deviation"].to_list(), turned["seconds"].to_list()) == ([0.3, 0.1, 0.2], [2.0, 7.0, 2.0])
    assert found.next is None or found.to_dict()["next"]["why"] == found.next.why
    cells = found.cells()
    assert dict(cells.filter(dataset="x").select("algorithm", "value").rows()) == {"a": 0.3, "b": 0.2, "c": 0.1}
    assert cells.filter(dataset="y")["state"].unique().to_list() == ["predicted"]
    whole = frame.filter(metric="ndcg@10").drop("dataset").join(pl.DataFrame({"dataset": ["x", "y", "z"]}), how="cross")
    done = fit_adaptive(recassay.load_results(whole.select(frame.columns)), journal(ended="budget"))
    assert (done.ended, done.next, done.probe_values) == ("complete", None, None)
    sized = []
    with monkeypatch.context() as patched:
        patched.setattr(
            "recassay.analysis.adaptive.fit.decide", lambda grid, *_, **more: sized.append((grid, more)) or found
        )
        fit_adaptive(results, stored)
        fit_adaptive(results, journal(features=None, classes=["u", "v", "u"], seed=5))
        fit_adaptive(results, stored, higher_is_better=False)
    (first, options), (second, others), (third, _) = sized
    assert (first.higher_is_better, third.higher_is_better) == (True, False)
    assert (first.log_size.tolist(), first.classes, options["seed"]) == ([1.0, 2.0, 3.0], None, 0)
    assert options["probes"].ratio == 0.2
    assert (second.log_size, second.classes, others["seed"]) == (None, ("u", "v", "u"), 5)
    named = fit_adaptive(results, stored, metric="ndcg@10")
    assert (named.probed, named.spent) == (2, 11.625), "the journal's own metric by name"
    other = fit_adaptive(results, stored, metric="mrr@10")
    assert (other.metric, other.probe_values, other.probe_seconds, other.spent) == ("mrr@10", None, None, 11.0)
    told = replace(found, prior=("t (3 of 3 algorithms)",), prior_weight=2.5, leader_fails=0.25).to_dict()
    assert told["prior"] == {"sources": ["t (3 of 3 algorithms)"], "weight_in_datasets": 2.5}
    assert (told["leader_fails"], told["certified"], told["ended"]) == (0.25, found.certified, found.ended)
    assert told["settings"] == {"target": "order", "confidence": 0.99, "indifference": 0.5, "rho": 0.9}
    assert (told["metric"], told["higher_is_better"], told["sets"]) == ("ndcg@10", True, found.sets.tolist())
    cost = found.to_dict()["cost"]
    assert (cost["cells"], cost["of"], cost["seconds"], cost["probes"], cost["probe_seconds"]) == (
        3, 9, 11.625, 2, 0.625
    )  # fmt: skip


def test_why_nothing_more_is_run():
    table = benchmark("none", seed=5, algorithms=3, datasets=4)
    some = np.where(np.arange(4) < 2, table.values, np.nan)
    question = Question("order", 0.999, indifference=0.0)

    def ended(values, **more):
        return decide(table.grid, question, values, table.seconds, **more).ended

    assert ended(table.values) == "complete"
    assert ended(some) is None
    assert ended(some, allowed=~np.isnan(some)) == "stuck"
    left = table.seconds[:, 2:]
    assert ended(some, most_seconds=left.min() * 1e-6) == "budget"
    sure = decide(table.grid, Question("order", 1e-9), some, table.seconds)
    assert (sure.ended, sure.next, sure.certified) == ("certified", None, True)
    nothing = np.full((3, 4), np.nan)
    first = decide(table.grid, question, nothing, nothing).next
    assert first.why == "the cheapest dataset first, all algorithms"
    assert {a for a, _ in first.cells} == {"a0", "a1", "a2"}
    assert len({d for _, d in first.cells}) == 1
    looks = Probes(nothing, nothing, 0.05)
    assert decide(table.grid, question, nothing, nothing, probes=looks).next.why == (
        "the cheapest dataset first, probes of all algorithms"
    )
    unwanted = decide(table.grid, question, nothing, nothing, probes=replace(looks, more=False)).next
    assert (len(unwanted.cells), unwanted.probes) == (3, ())


@pytest.mark.parametrize(
    ("target", "about"), [("first", "first place"), ("top3", "first three"), ("order", "order"), ("rho", "order")]
)
def test_a_batch_says_why_it_was_chosen(monkeypatch, target, about):
    values = np.full((4, 6), np.nan)
    values[:, 0] = [3.0, 2.0, 1.0, 4.0]
    values[0, 1:], values[3, 1:] = 3.0, 2.5
    grid = CellGrid("score", tuple("abcd"), tuple("uvwxyz"))
    looks = np.full((4, 6), np.nan)
    looks[2, 4] = 1.0
    blocks = [Block(1, (1, 2), 1.0, 2.5), Block(2, (2,), 1.0, 1.5), Block(9, (1, 2), 1.0, 1.0), Block(10, (1,), 1, 2)]
    asked = grid, Question(target, 0.9999), values, np.ones((4, 6))
    for chosen in (blocks, blocks[:1], [*blocks[2:], Block(11, (0, 1, 2, 3), 1.0, 1.0)]):
        monkeypatch.setattr("recassay.analysis.adaptive.decide.choose", lambda *_, given=chosen, **__: given)
        found = decide(*asked, probes=Probes(looks, looks, 0.1))
        place = sorted(found.order.index(name) + 1 for name in "bc")
        parts = {1: "completes v", 2: f"places {found.order.index('c') + 1} on w",
                 9: f"probes of places {place[0]}, {place[1]} on x",
                 10: f"probes of places {found.order.index('b') + 1} on y", 11: "probes of all on z"}  # fmt: skip
        said = "; ".join(parts[block.dataset] for block in chosen[:3])
        more = " and 1 more dataset" if len(chosen) > 3 else ""
        assert found.next.why == f"tells most per second about the {about}: {said}{more}"
        assert found.next.seconds == sum(block.seconds for block in chosen)
    assert found.next.cells == ()
    assert found.next.probes == (("b", "x"), ("c", "x"), ("b", "y"), *((name, "z") for name in "abcd"))


def test_a_block_is_the_part_of_a_dataset_that_tells_most_per_second():
    """a was run. b tells much for little, c little for much: the first set is both, and c leaves it."""
    gain = np.array([[0.0, 1.0, 0.1], [1.0, 0.0, 0.05], [0.1, 0.05, 0.0]])
    done, seconds = np.array([True, False, False]), np.array([1.0, 1.0, 10.0])
    alone = np.array([0.0, 0.25, 0.0])
    assert _best_block(4, gain, alone, ~done, done, seconds) == Block(4, (1,), 1.25, 1.0)
    with np.errstate(all="raise"):  # what was run may have taken no measurable time
        assert _best_block(4, gain, alone, ~done, done, np.array([0.0, 1.0, 10.0])) == Block(4, (1,), 1.25, 1.0)
    cheap = _best_block(4, gain, alone, ~done, done, np.array([1.0, 1.0, 0.01]))
    assert cheap == Block(4, (2,), pytest.approx(0.1), 0.01)
    whole = _best_block(4, gain, np.zeros(3), np.ones(3, bool), np.zeros(3, bool), np.ones(3))
    assert whole == Block(4, (0, 1), 1.0, 2.0)
    assert _best_block(4, gain, alone, np.array([True, False, False]), np.zeros(3, bool), seconds) is None
    third = np.array([False, False, True])
    assert _best_block(4, gain, np.zeros(3), third, ~third, np.ones(3)) == Block(4, (2,), pytest.approx(0.15), 1.0)


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, [1]), ({"cells": 2}, [1, 2]), ({"least_seconds": 1.5}, [1, 2]), ({"cells": 9}, [1, 2])],
)
def test_a_batch_grows_to_what_is_asked_and_large_steps_wait(monkeypatch, options, expected):
    """10 seconds were spent: blocks of more than 3 wait, and so do those that tell less than a fifth of the best."""
    made = {0: Block(0, (0,), 10.0, 4.0), 1: Block(1, (0,), 2.0, 1.0), 2: Block(2, (0,), 0.5, 1.0),
            3: Block(3, (0,), 0.49, 1.0)}  # fmt: skip
    monkeypatch.setattr("recassay.analysis.adaptive.choice._best_block", lambda j, *_: made.get(j))
    values = np.full((2, 5), np.nan)
    values[:, 4] = [1.0, 2.0]
    belief = complete(values, rng=rng())
    done, seconds = ~np.isnan(values), np.full((2, 5), 5.0)
    chosen = choose(belief, certify(belief.mean_ranks), "first", done, seconds, **options)
    assert [block.dataset for block in chosen] == expected
    made.pop(1), made.pop(2), made.pop(3)
    assert choose(belief, certify(belief.mean_ranks), "first", done, seconds, cells=9) == [made[0]]


@pytest.mark.parametrize(("target", "asked"), [("first", 1), ("top3", 3), ("order", 4), ("rho", 4)])
def test_a_pair_weighs_how_open_it_is_where_the_target_asks_about_it(target, asked):
    draws = rng(8).normal([4.0, 1.0, 2.0, 3.0, 8.0], [0.5, 0.8, 0.5, 0.5, 0.1], (400, 5))
    certificate = certify(draws, indifference=0.3)
    weight = pair_weights(draws, certificate, target)
    slack = 0.3 if target == "order" else 0.0
    for first, second in itertools.combinations(range(5), 2):
        a, b = certificate.order[first], certificate.order[second]
        wrong = stats.norm.cdf(
            (draws[:, a] - draws[:, b]).mean() - slack, scale=(draws[:, a] - draws[:, b]).std(ddof=1)
        )
        within = second >= asked > first if target in ("first", "top3") else True
        expected = max(wrong * (1 - wrong), 0.02) if within else 0.0
        assert weight[a, b] == weight[b, a] == pytest.approx(expected)
    assert not np.diagonal(weight).any()


def test_a_certificate_follows_the_order_that_it_is_given():
    draws = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [2.0, 1.0, 3.0], [1.0, 3.0, 2.0]])
    found = certify(draws, np.array([1.2, 1.1, 3.0]), stretch=1.0, indifference=0.9, rho=0.5)
    assert found.order.tolist() == [1, 0, 2]
    assert found.mean_ranks.tolist() == [1.2, 1.1, 3.0]
    assert found.sets == pytest.approx([2 / 5, 3 / 5, 1.0])
    assert found.probabilities == pytest.approx({"first": 2 / 5, "top3": 1.0, "order": 2 / 5, "rho": 3 / 5})
    assert certify(draws).deviations == pytest.approx(1.1 * draws.std(axis=0)), "the margin is a tenth"
    assert certify(draws[:, :2], stretch=1.0).probabilities["top3"] == 1.0


def test_draws_are_ranked_with_failures_last():
    latent = np.array([[[0.1], [3.0], [2.0], [-1.0]]])
    none, some = np.zeros((1, 4, 1), bool), np.array([[[False], [True], [True], [False]]])
    assert _ranks(latent, none)[0, :, 0].tolist() == [3.0, 1.0, 2.0, 4.0]
    assert _ranks(latent, some)[0, :, 0].tolist() == [1.0, 3.5, 3.5, 2.0]


def test_the_covariance_of_datasets_and_probes_is_the_stated_one():
    log_size = np.array([1.0, 2.0, 4.0])
    x = (log_size - log_size.mean()) / log_size.std()
    kernels, log_prior = _kernels(3, log_size, with_probes=True, informed=False)
    settings = list(itertools.product(LEVELS, SLOPES, LINKS, BIASES))
    assert len(kernels) == len(settings) == len(log_prior)
    assert np.exp(log_prior).sum() == pytest.approx(1)
    assert sum(w for w, (_, s, _, _) in zip(np.exp(log_prior), settings, strict=True) if s == 0) == pytest.approx(0.5)
    for kernel, (level, slope, link, bias) in zip(kernels, settings, strict=True):
        for i, j in itertools.product(range(6), range(6)):
            common = level + slope * x[i % 3] * x[j % 3]
            same, probes = i % 3 == j % 3, (i >= 3) + (j >= 3)
            expected = {0: common + same, 1: common + link * same, 2: common + bias + same}[probes]
            assert kernel[i, j] == pytest.approx(expected)
    kernels, log_prior = _kernels(3, None, with_probes=False, informed=True)
    assert [kernel[0, 1] for kernel in kernels] == list(INFORMED_LEVELS)
    assert np.allclose(kernels[:, 0, 0], 1 + np.array(INFORMED_LEVELS))


def test_a_prior_is_made_of_the_tables_by_hand():
    """Two tables that share three algorithms; the second has times and sizes, and one algorithm by another name."""
    first = Table("t1", ("a", "b", "c"), np.array([[2.0, 4.0], [1.0, 1.0], [0.0, -2.0]]), np.full((3, 2), np.nan),
                  np.full(2, np.nan), np.ones((3, 2), bool))  # fmt: skip
    second = Table("t2", ("C", "B", "A", "Pop"), np.array([[0.0, 0.0], [0.5, 1.5], [6.0, 6.0], [-1.0, -2.0]]),
                   np.log([[1.0, 2.0], [4.0, 8.0], [16.0, 32.0], [1.0, 1.0]]), np.array([5.0, 6.0]),
                   np.array([[True, True], [True, False], [True, True], [False, False]]))  # fmt: skip
    few = Table("t3", ("a", "b"), np.zeros((2, 2)), np.zeros((2, 2)), np.zeros(2), np.ones((2, 2), bool))
    prior = prior_from(
        [first, few, second], ("a", "b", "c", "MostPop", "new", "odd"), ("x", "other", "x", "y", "x", "other")
    )
    assert prior.sources == ("t1 (3 of 6 algorithms, 2 datasets)", "t2 (4 of 6 algorithms, 2 datasets)")
    levels = (np.array([3.0, 1.0, -1.0]), np.array([6.0, 1.0, 0.0, -1.5]))
    noise = [np.maximum(v, 0.25) / 2 for v in (np.array([1.0, 0.0, 1.0]), np.array([0.0, 0.25, 0.0, 0.25]))]
    gap = levels[0] - levels[1][:3]
    apart = max((gap.var(ddof=1) - (noise[0] + noise[1][:3]).mean()) / 2, 0.0)
    assert apart > 0.5
    precision = np.r_[1 / (noise[0] + apart), 0.0] + 1 / (noise[1] + apart)
    pulled = np.r_[(levels[0] - 1) / (noise[0] + apart), 0.0] + (levels[1] - 1.375) / (noise[1] + apart)
    known = pulled / precision
    assert prior.levels == pytest.approx([*known, (known[0] + known[2]) / 2, 0.0])
    assert prior.deviations == pytest.approx([*np.sqrt(1 / precision + apart), np.inf, np.inf])
    seconds = second.log_seconds[[2, 1, 0, 3]]
    assert prior.log_seconds[:4] == pytest.approx((seconds - seconds.mean(axis=0)).mean(axis=1))
    assert np.isnan(prior.log_seconds[4:]).all()
    assert prior.succeeded.tolist() == [[0.5, 0.5], [0.5, 0.0], [0.5, 0.5], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    assert prior.log_size.tolist() == [5.0, 6.0]
    # Errors of a and c are opposite in the first table (-0.7 of 0.7 + 0.3); those of b and MostPop are more so than
    # numbers can be, since the first table knows b alone: their smaller eigenvalue is raised to 0.05.
    assert prior.covariance[[0, 0, 0, 4, 4], [0, 1, 2, 4, 5]] == pytest.approx([1.0, 0.0, -0.7, 1.0, 0.0])
    more, less = 1 + 0.7 * np.sqrt(2), 0.05
    assert prior.covariance[[1, 3, 1], [1, 3, 3]] == pytest.approx(
        [(more + less) / 2, (more + less) / 2, (less - more) / 2]
    )
    partly = prior_from([replace(second, log_size=np.array([5.0, np.nan]))], ("a", "b", "c"))
    assert (partly.succeeded.shape, partly.log_size.tolist()) == ((3, 0), []), "sizes of all datasets, or of none"
    once = second.log_seconds.copy()
    once[0, 1] = np.nan
    assert np.isnan(prior_from([replace(second, log_seconds=once)], ("a", "b", "c")).log_seconds).all()
    wide = prior_from([first, second], ("a", "b", "c"), between=9.0)
    assert wide.deviations[1] == pytest.approx(np.sqrt(9 + 1 / (2 / (0.125 + 9.0))))


def test_a_budget_counts_probes_too():
    """Probes and cells of one second each; after each batch what is left of the budget of six is what may be spent."""
    asked = []

    def runner(kind):
        def run(cells):
            asked.extend((kind, cell) for cell in cells)
            return {(a, d): ({"a": 0.1, "b": 0.5, "c": 0.3}[a], 1.0) for a, d in cells}

        return run

    grid = CellGrid("score", tuple("abc"), tuple("uvwxyz"))
    found = run_adaptive(
        runner("cell"), grid, Question("order", 0.99999, indifference=0.0), budget=6.0, probe=runner("probe"),
        probe_ratio=0.5,
    )  # fmt: skip
    assert found.ended == "budget"
    assert len(asked) == len(set(asked)) == found.spent
    assert found.probed == sum(kind == "probe" for kind, _ in asked)
    assert 6 <= len(asked) <= 9


def test_what_is_asked_reaches_every_step_of_a_decision(monkeypatch):
    """Costs are predicted, the grid completed and cells chosen with what the caller said."""
    given = {}
    for name in ("predict_seconds", "complete", "choose"):
        real = getattr(decide_module, name)

        def noted(*arguments, real=real, name=name, **options):
            given[name] = arguments, options
            return real(*arguments, **options)

        monkeypatch.setattr(decide_module, name, noted)
    table, prior = halves(2)
    values = np.where(np.arange(12) < 3, table.values, np.nan)
    grid = replace(table.grid, classes=tuple("xyxyxyxy"))
    looks = np.full(values.shape, np.nan)
    looks[0, 1] = looks[0, 5] = 1.0
    asked = grid, Question("top3", 0.99999), values, np.ones(values.shape)
    probes = Probes(looks, np.ones(values.shape), 0.03)
    found = decide(*asked, probes=probes, prior=prior, cells=7, least_seconds=3.0, most_seconds=5.0)
    (seconds, *rest), options = given["predict_seconds"]
    assert np.array_equal(np.isfinite(seconds), np.isfinite(values))
    assert rest == [grid.log_size, grid.classes]
    assert (options["ratio"], options["relative"]) == (0.03, pytest.approx(prior.log_seconds, nan_ok=True))
    assert np.array_equal(options["probes"], looks, equal_nan=True), "of those that were run"
    _, options = given["complete"]
    assert options["prior"] is prior
    assert np.array_equal(options["probes"], looks, equal_nan=True)
    (*_, target, _, costs), options = given["choose"]
    assert target == "top3"
    assert costs[0, 13] == 1.0, "what it took was spent"
    costs[0, 13] = np.inf
    assert np.isinf(costs[:, 12:15]).all(), "what was run needs no probe"
    assert np.isfinite(costs[:, 15:]).all()
    # A batch takes at least a quarter of what was spent: 24 cells and two probes of one second each.
    assert options == {"cells": 7, "least_seconds": pytest.approx(6.5), "most_seconds": 5.0}
    assert found.spent == 26
    few = decide(*asked, cells=2, least_seconds=30.0)
    assert given["choose"][1]["least_seconds"] == 30.0
    assert given["choose"][1]["most_seconds"] == np.finfo(float).max
    assert few.prior == ()


def test_a_run_passes_on_what_is_left_of_its_budget(monkeypatch):
    asked = []

    def standing(grid, question, values, seconds, **options):
        asked.append(options)
        return real(grid, question, values, seconds, **options)

    real = decide
    monkeypatch.setattr("recassay.analysis.adaptive.fit.decide", standing)
    table = benchmark("none", seed=5, algorithms=3, datasets=4)
    values = table.values.copy()
    values[1, 3] = np.nan
    heard = []
    found = replay(
        replace(table, values=values, seconds=np.full((3, 4), np.nan)), Question("order", 0.99999), budget=20.0,
        workers=2, seed=4, progress=heard.append,
    )  # fmt: skip
    assert len(heard) == len(asked) == len(found.steps) + 1
    assert [options["most_seconds"] for options in asked[:2]] == [20.0, 17.0], "without times a cell takes a second"
    assert {(options["cells"], options["seed"]) for options in asked} == {(2, 4)}
    assert all(np.array_equal(options["allowed"], ~np.isnan(values)) for options in asked)
    assert found.measured.sum() == 11
    assert found.ended == "stuck"
    assert np.array_equal(found.values, values, equal_nan=True)


def test_a_target_that_probes_alone_settle_is_not_settled_before_a_dataset_was_run():
    """The probes are certain; without a cell there would be not a result to read."""
    made = probed(noise=0.01, ratio=0.01, algorithms=4, datasets=6)
    apart = 9.0 * np.arange(4)[:, None]
    made = replace(made, values=made.values + apart, probes=replace(made.probes, values=made.probes.values + apart))
    unseen, asked = made.grid.unknown(), Question("first", confidence=0.6)
    found = decide_module.decide(made.grid, asked, unseen, unseen, probes=made.probes)
    assert found.probabilities["first"] >= 0.6
    assert (found.ended, found.next.probes) == (None, ())
    dataset = made.grid.datasets[int(found.seconds.sum(axis=0).argmin())]
    assert found.next.cells == tuple((name, dataset) for name in made.grid.algorithms)
    assert found.next.why == "the cheapest dataset first, all algorithms"
    looks, took = made.probes.values.copy(), made.probes.seconds.copy()
    looks[:, 0] = took[:, 0] = np.nan
    partly = decide_module.decide(
        made.grid, asked, unseen, unseen, probes=replace(made.probes, values=looks, seconds=took)
    )
    assert (partly.certified, len(partly.next.cells), partly.next.probes) == (True, 4, ()), "however cheap a probe is"
    none = np.zeros(unseen.shape, bool)
    assert decide_module.decide(made.grid, asked, unseen, unseen, probes=made.probes, allowed=none).ended == "certified"
    values, seconds = unseen.copy(), unseen.copy()
    j = made.grid.datasets.index(dataset)
    values[:, j], seconds[:, j] = made.values[:, j], made.seconds[:, j]
    assert decide_module.decide(made.grid, asked, values, seconds, probes=made.probes).ended == "certified"


@pytest.mark.parametrize(
    "limits", [(1e200, np.inf), (-np.inf, -1e200), (1e155, 2e155), (np.nan, np.nan), (np.inf, np.inf)]
)
def test_a_cut_normal_ends_at_any_limits(limits):
    drawn = cut_normal(*limits, np.random.default_rng(0))
    assert np.isnan(drawn) if np.isnan(limits[0]) else limits[0] <= drawn <= limits[1]
