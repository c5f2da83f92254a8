"""Certificates: what a part of a multiverse settles is true of the whole."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy import stats

import recassay
from recassay.analysis.certify.belief import RHO, START, Belief, Blocks, believe
from recassay.analysis.certify.fit import (
    Multiverse,
    _cheapest,
    _prior,
    axis_shares,
    claims_of,
    decide,
    first_batch,
    replay,
    scores,
    truth,
    whole_grid,
)
from recassay.analysis.certify.result import CertificateResult, Certified
from recassay.analysis.multiverse.claims import Stated
from recassay.core.errors import UsageError


def planted(seed: int, levels=(3, 3, 2), datasets=5, metrics=4, algorithms=4):
    """Effects of datasets, of choices in common and by dataset, and noise; every block known."""
    rng = np.random.default_rng(seed)
    paid = np.array(list(itertools.product(*map(range, levels))))
    values = 0.6 * rng.normal(size=algorithms) + 0.6 * rng.normal(size=(datasets, 1, algorithms))
    values = values + 0.1 * rng.normal(size=(len(paid), datasets, metrics, algorithms))
    for i, size in enumerate(levels):
        values += (0.8 if i == 0 else 0.1) * rng.normal(size=(size, 1, 1, algorithms))[paid[:, i]]
    known = scores(-values).reshape(len(paid) * datasets, -1)
    grid = Multiverse(
        {**{f"x{i}": tuple(map(str, range(size))) for i, size in enumerate(levels)}, "metric": tuple("abcd")[:metrics]},
        paid, np.arange(metrics)[:, None], tuple(f"A{a}" for a in range(algorithms)),
        tuple(f"d{d}" for d in range(datasets)), np.ones((len(paid), datasets), dtype=bool),
    )  # fmt: skip
    return grid, known


def stated(text: str, grid: Multiverse) -> Stated:
    own, _, rival = text.partition(" > ")
    first = grid.algorithms.index(own.split()[0])
    return Stated(first, grid.algorithms.index(rival) if rival else None, True)


@pytest.mark.parametrize("seed", range(3))
def test_certified_shares_and_axes_are_those_of_the_whole(seed):
    grid, known = planted(seed)
    found = replay(grid, known, np.ones(len(known)), confidence=0.95, rng=np.random.default_rng(seed))
    assert found.complete
    assert found.cost < 0.8
    for claim in found.claims:
        assert abs(claim.share - truth(grid, known, [stated(claim.statement, grid)])[0]) <= 0.05 + 1e-9
    shares = axis_shares(grid, known)
    assert max(shares.values()) - shares[found.axis] <= 0.05 + 1e-9
    assert [run for run, _, _ in found.path] == sorted(run for run, _, _ in found.path)


def test_neighbours_in_choices_tell_most():
    grid, known = planted(1)
    blocks = grid.blocks()
    run = np.arange(0, len(known), 2)
    belief = believe(blocks, run, known[run])
    error = np.sqrt(((belief.mean - known[belief.open]) ** 2).mean())
    assert error < 0.6 * known.std()
    same = blocks.between(np.array([0]), np.array([0]))(belief.theta)
    other = blocks.between(np.array([0]), np.array([len(known) - 1]))(belief.theta)
    assert same > other
    assert isinstance(blocks, Blocks)
    assert belief.degrees == 45 - 1 - 3
    flat = believe(blocks, run, np.full((45, 16), 2.0))
    assert flat.mean == pytest.approx(np.full((45, 16), 2.0)), "what never varied is as it was"
    half = np.where(np.isin(np.arange(90), run)[:, None], known, np.nan)
    looked, theta = decide(grid, half, np.ones(90), None, confidence=0.999, rng=np.random.default_rng(0))
    assert len(looked.next) == 5, "an eighth of the 45 that were run, rounded down"
    assert theta == pytest.approx(belief.theta)


def test_scores_tell_how_near_a_tie_is_and_put_failures_last():
    values = np.array([[1.0, 1.1, 3.0], [2.0, np.nan, 2.0]])
    found = scores(values)
    assert found[0, 1] - found[0, 0] < 0.1 * (found[0, 2] - found[0, 1])
    assert found[1].tolist() == [0.0, 1.0, 0.0]
    grid, known = planted(1)
    half = np.where(np.arange(len(known))[:, None] % 2, known, np.nan)
    ranks = grid.ranks(half).reshape(len(half), -1, 4)
    assert np.isnan(ranks[::2]).all()
    assert (np.sort(ranks[1::2], axis=2) == np.arange(1, 5)).all()


def test_a_whole_multiverse_needs_no_estimate():
    grid, known = planted(2, levels=(2,), datasets=2)
    found = replay(grid, known, np.ones(len(known)), confidence=0.95, rng=np.random.default_rng(0))
    assert (found.cost, found.complete) == (1.0, True)
    assert all(claim.interval[0] == pytest.approx(claim.share) for claim in found.claims)


def test_the_published_multiverse_replayed():
    found = recassay.certify("published:time-to-split")
    shares = {claim.statement: claim.share for claim in found.claims if claim.certified}
    whole = {"SASRec is best": 125 / 132, "BERT4Rec is best": 11 / 132, "GRU4Rec is best": 8 / 132}
    assert found.complete
    assert found.cost <= 1.0
    for name, share in whole.items():
        assert shares[name] == pytest.approx(share, abs=0.05)
    assert found.verdict()[0].startswith("SASRec is best in about 9")
    assert set(found.to_dict()) >= {"universes", "cost", "claims", "axis", "complete"}
    assert found.frames()["certificate"].height == len(found.claims)


def test_what_cannot_be_certified_is_refused_in_words():
    rows = pl.DataFrame(
        {"algorithm": ["A", "B"] * 2, "dataset": "d", "metric": ["ndcg@10", "ndcg@10", "mrr@10", "mrr@10"],
         "value": [0.1, 0.2, 0.1, 0.2]}
    )  # fmt: skip
    with pytest.raises(UsageError, match="all choices of the table are free"):
        recassay.certify(rows)


def small(exists=None) -> Multiverse:
    """Two paid axes of two and three choices, one free axis of two, three algorithms, two datasets."""
    paid = np.array(list(itertools.product(range(2), range(3))))
    every = np.ones((6, 2), dtype=bool) if exists is None else exists
    axes = {"split": ("s0", "s1"), "filter": ("f0", "f1", "f2"), "metric": ("m0", "m1")}
    return Multiverse(axes, paid, np.array([[0], [1]]), tuple("ABC"), ("d0", "d1"), every)


def test_means_go_over_the_datasets_that_a_universe_has():
    exists = np.ones((6, 2), dtype=bool)
    exists[4, 0] = False
    grid = small(exists)
    values = np.random.default_rng(3).random((11, 2, 3))
    values[[2, 8], 0] = 0.5  # ties in one of two datasets, and in the only one of a universe
    ranks = grid.ranks(values.reshape(11, 6))
    assert ranks[2, :3].tolist() == [2.0, 2.0, 2.0]
    at, dataset = np.nonzero(exists)
    assert grid.blocks().dataset.tolist() == dataset.tolist()
    assert grid.blocks().places.tolist() == grid.paid[at].tolist()
    means = grid.mean_ranks(ranks)
    assert grid.places().tolist() == [[*paid, m] for paid in grid.paid.tolist() for m in range(2)]
    for universe, (split, kept, metric) in enumerate(grid.places()):
        own = [b for b in range(11) if tuple(grid.paid[at[b]]) == (split, kept)]
        expected = np.mean([stats.rankdata(values[b, metric]) for b in own], axis=0)
        assert means[universe] == pytest.approx(expected)
    known = values.reshape(11, 6)
    assert truth(grid, known, [Stated(0, None, True), Stated(0, 1, True)]) == pytest.approx(
        [(means[:, 0] <= means.min(axis=1) + 1e-9).mean(), (means[:, 0] < means[:, 1] - 1e-9).mean()]
    )
    total = ((means - means.mean(axis=0)) ** 2).sum()
    for axis, name in enumerate(grid.axes):
        places = grid.places()[:, axis]
        between = sum(
            (places == choice).sum() * ((means[places == choice].mean(axis=0) - means.mean(axis=0)) ** 2).sum()
            for choice in set(places)
        )
        assert axis_shares(grid, known)[name] == pytest.approx(between / total)
    # Two datasets, one further choice of the splits, two of the filters, and two more.
    assert first_batch(grid) == 2 + 1 + 2 + 2
    assert first_batch(planted(0, levels=(6,), datasets=2)[0]) == 2 + 3 + 2, "three further choices of an axis at most"


def test_the_covariance_of_blocks_is_the_stated_one():
    blocks = Blocks(np.array([[0, 0], [0, 1], [1, 1], [0, 0]]), np.array([0, 0, 1, 1]))
    theta = np.array([0.3, -0.5, 0.1, -1.0, 0.7, -0.2])
    every = np.arange(4)
    kernel = blocks.between(every, every)(theta)
    rho = 1 / (1 + np.exp(-theta[4:]))
    for i, j in itertools.product(range(4), range(4)):
        same = blocks.dataset[i] == blocks.dataset[j]
        alike = np.prod([r for r, a, b in zip(rho, blocks.places[i], blocks.places[j], strict=True) if a != b])
        dataset, common, own, rest = np.exp(theta[:4])
        expected = 100 + dataset * same + (common + own * same) * alike + rest * (i == j)
        assert kernel[i, j] == pytest.approx(expected)


def test_what_was_run_is_predicted_as_a_regression_on_its_neighbours():
    """Given the parameters, mean and covariance are those of a normal distribution that is conditioned by hand."""
    grid, known = planted(1, levels=(2, 2), datasets=2, metrics=1, algorithms=3)
    blocks, run = grid.blocks(), np.array([0, 1, 3, 4, 6])
    belief = believe(blocks, run, known[run])
    rest = belief.open
    assert rest.tolist() == [2, 5, 7]
    inner, across, outer = (blocks.between(*ends)(belief.theta) for ends in ((run, run), (run, rest), (rest, rest)))
    inner = inner + 1e-8 * np.eye(5)
    centre = known[run].mean(axis=0)
    assert belief.mean == pytest.approx(centre + across.T @ np.linalg.solve(inner, known[run] - centre))
    assert belief.spread == pytest.approx(outer - across.T @ np.linalg.solve(inner, across))
    assert belief.degrees == 4.0, "at least four"
    drawn = belief.draw(4000, np.random.default_rng(0))
    assert drawn.shape == (4000, 3, 3)
    assert drawn.mean(axis=0) == pytest.approx(belief.mean, abs=6 * drawn.std(axis=0).max() / np.sqrt(4000))


def test_a_decision_begins_with_a_batch_and_ends_with_everything_known():
    grid = small()
    values = np.random.default_rng(5).random((12, 6))
    values[:, 0] -= 1.0
    price = np.ones(12)
    price[5] = 1e-3
    source = np.random.default_rng(0)
    nothing, theta = decide(grid, np.full((12, 6), np.nan), price, None, confidence=0.9, rng=source)
    assert (nothing.claims, nothing.run, nothing.cost, nothing.complete, theta) == ((), 0, 0.0, False, None)
    assert len(nothing.next) == len(set(nothing.next)) == first_batch(grid)
    assert nothing.next[0] == (2, 1), "the cheapest"
    some = np.where(np.arange(12)[:, None] < 3, values, np.nan)
    more, _ = decide(grid, some, price, None, confidence=0.9, rng=source)
    assert len(more.next) == first_batch(grid) - 3
    assert not {(0, 0), (0, 1), (1, 0)} & set(more.next)
    half = np.where(np.arange(12)[:, None] < 8, values, np.nan)
    looked, _ = decide(grid, half, price, None, confidence=0.9, rng=source, least=3)
    assert len(looked.next) == 3
    assert looked.cost == pytest.approx(price[:8].sum() / price.sum())
    whole, theta = decide(grid, values, price, None, confidence=0.9, rng=source)
    means = grid.mean_ranks(grid.ranks(values))
    best = means <= means.min(axis=1, keepdims=True) + 1e-9
    order = sorted(range(3), key=lambda a: -best[:, a].mean())
    statements = [f"{'ABC'[a]} is best" for a in order] + [f"{'ABC'[order[0]]} > {'ABC'[b]}" for b in order[1:]]
    assert [claim.statement for claim in whole.claims] == statements
    shares = [best[:, a].mean() for a in order] + [(means[:, order[0]] < means[:, b]).mean() for b in order[1:]]
    assert [claim.share for claim in whole.claims] == pytest.approx(shares)
    assert all(claim.interval == (claim.share, claim.share) and claim.certified for claim in whole.claims)
    parts = axis_shares(grid, values)
    assert (whole.axis, whole.axis_share) == (max(parts, key=parts.get), pytest.approx(max(parts.values())))
    assert (whole.universes, whole.blocks, whole.run, whole.cost) == (12, 12, 12, 1.0)
    assert (whole.complete, whole.next, theta) == (True, (), None)
    assert whole.to_frame().rows()[0] == (statements[0], pytest.approx(shares[0]), shares[0], shares[0], True)
    told = replace(whole, path=((3, 0.5, 1),)).to_dict()
    assert told == {
        "universes": 12, "blocks": 12, "run": 12, "cost": 1.0, "axis": whole.axis, "axis_share": whole.axis_share,
        "axis_certified": True, "confidence": 0.9, "path": [[3, 0.5, 1]], "claims": told["claims"], "complete": True,
    }  # fmt: skip
    assert not replace(whole, axis_certified=False).complete
    unsure = replace(whole.claims[0], certified=False)
    assert not replace(whole, claims=(unsure, *whole.claims[1:])).complete
    asked, _ = decide(grid, values, price, claims_of(["C > A"], grid), confidence=0.9, rng=source)
    assert [claim.statement for claim in asked.claims] == ["C > A"]
    assert claims_of([], grid) is None


def test_a_table_becomes_blocks_of_what_every_algorithm_has():
    rows = [
        (a, d, m, s, {"A": 0.1, "B": 0.2}[a] * (k + 1) + (0.05 if s == "late" else 0.0))
        for a, (k, d), m, s in itertools.product("AB", enumerate(("x", "y")), ("r2", "rmse"), ("late", "soon"))
        if (a, d, m, s) != ("B", "y", "rmse", "soon")
    ]
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "split", "value"], orient="row")
    grid, known = whole_grid(frame, None)
    assert list(grid.axes) == ["split", "metric"]
    assert grid.axes["split"][0] == "late"
    assert grid.exists.tolist() == [[True, True], [True, False]]
    # Two algorithms are one deviation from their mean; lower is better, so that R2 changes sign.
    upward = grid.axes["metric"].index("r2")
    for block in known.reshape(3, 2, 2):
        assert block[upward] == pytest.approx([1.0, -1.0])
        assert block[1 - upward] == pytest.approx([-1.0, 1.0])
    broken = frame.filter((pl.col("algorithm") == "A") | (pl.col("metric") == "rmse"))
    with pytest.raises(UsageError, match="no dataset has every algorithm under every metric"):
        whole_grid(broken, None)


@pytest.mark.parametrize(
    ("share", "confidence", "certified"),
    [(0.425, 0.9, False), (0.1, 0.9, True), (0.1, 0.91, False), (0.0375, 0.9, True), (0.0, 0.99, True)],
)
def test_a_share_is_certified_when_the_draws_stay_within_five_points(monkeypatch, share, confidence, certified):
    """A is first in all twelve universes, or in all but one: in a share of the draws it is last there.

    At 42.5 %, the draws without it are 4.8 points from their mean: a tenth more is too much.
    """
    grid, known = small(), np.tile([1.0, 2.0, 3.0], (12, 2))
    known[8:] = np.nan
    turned = np.tile([1.0, 2.0, 3.0], (240, 4, 2))
    turned[: round(240 * share), 2:, 0] = 9.0
    fake = SimpleNamespace(
        open=np.arange(8, 12), spread=np.eye(4), theta=np.zeros(6), draw=lambda count, source: turned[:count]
    )
    asked = []
    monkeypatch.setattr("recassay.analysis.certify.fit.believe", lambda *given: asked.append(given) or fake)
    claims = claims_of(["A is best", "A > B"], grid)
    found, theta = decide(
        grid, known, np.ones(12), claims, confidence=confidence, rng=np.random.default_rng(0), theta=np.ones(6)
    )
    assert theta is fake.theta
    assert (asked[0][1].tolist(), asked[0][3].tolist()) == (list(range(8)), [1.0] * 6)
    for claim in found.claims:
        assert claim.share == pytest.approx(1 - share / 12)
        assert claim.interval == (pytest.approx(11 / 12 if share else 1.0), 1.0)
        assert claim.certified == certified
    # A deviation of one of twelve universes: of the variance, (c - 1) / 11 lies between the c choices of an axis.
    assert (found.axis, found.axis_share) == ("filter" if share else "split", pytest.approx(share * 2 / 11))
    assert found.axis_certified
    assert (found.run, found.cost, found.confidence) == (8, pytest.approx(8 / 12), confidence)
    assert len(found.next) == 1
    assert set(found.next) <= {(4, 0), (4, 1), (5, 0), (5, 1)}


def test_a_replay_ends_when_two_looks_in_a_row_settle_everything(monkeypatch):
    grid, known = planted(1, levels=(2, 2), datasets=2, metrics=1, algorithms=3)
    sure, heard, asked = iter([True, False, True, True, True]), [], []

    def look(grid, scores, price, claims, *, confidence, rng, theta):
        run = int(np.isfinite(scores).all(axis=1).sum())
        asked.append((claims, confidence, None if theta is None else theta.tolist()))
        assert np.array_equal(scores[:run], known[:run])
        claim = Certified("A0 is best", 0.5, (0.4, 0.6), next(sure))
        standing = CertificateResult(4, 8, run, run / 8, (claim,), "x0", 0.5, True, confidence, ((run // 2, run % 2),))
        return standing, np.array([float(run)])

    monkeypatch.setattr("recassay.analysis.certify.fit.decide", look)
    found = replay(
        grid, known, np.ones(8), ["claim"], confidence=0.8, rng=np.random.default_rng(0), progress=heard.append
    )
    assert (found.run, found.next, len(heard)) == (3, (), 4)
    assert found.path == ((0, 0.0, 1), (1, 0.125, 0), (2, 0.25, 1), (3, 0.375, 1))
    assert asked == [(["claim"], 0.8, theta) for theta in (None, [0.0], [1.0], [2.0])]


def test_before_anything_is_estimated_blocks_that_were_run_tell_of_the_others():
    blocks, run = small().blocks(), np.array([0, 5])
    rest, spread = _prior(blocks, run)
    assert rest.tolist() == [1, 2, 3, 4, *range(6, 12)]
    theta, every = np.concatenate([START, [RHO, RHO]]), np.arange(12)
    kernel = blocks.between(every, every)(theta) - 100
    inner, across = kernel[np.ix_(run, run)], kernel[np.ix_(run, rest)]
    assert spread == pytest.approx(kernel[np.ix_(rest, rest)] - across.T @ np.linalg.inv(inner) @ across)
    assert _prior(blocks, np.zeros(0, int))[1] == pytest.approx(kernel)


def test_draws_of_blocks_vary_as_the_outputs_that_were_seen():
    """Rows that were seen, with a random sign, spread over the blocks, and Student's for an estimated scale."""
    spread, seen = np.array([[1.0, 0.5], [0.5, 2.0]]), np.array([[1.0, 0.0], [2.0, 3.0], [0.5, 1.0]])
    mean = np.array([[5.0, -1.0], [0.0, 2.0]])
    drawn = Belief(np.arange(2), mean, spread, seen, 10.0, np.zeros(6)).draw(40_000, np.random.default_rng(0))
    assert drawn.mean(axis=0) == pytest.approx(mean, abs=0.06)
    wider = 10 / (10 - 2)
    assert drawn.var(axis=0) == pytest.approx(np.outer(np.diag(spread), (seen**2).mean(axis=0)) * wider, rel=0.06)
    together = ((drawn - mean)[:, 0] * (drawn - mean)[:, 1]).mean(axis=0)
    assert together == pytest.approx(0.5 * (seen**2).mean(axis=0) * wider, rel=0.15)


def test_the_next_blocks_lower_the_doubt_most_for_their_price():
    """One after the other, each given those that were chosen before it."""
    grid, source = small(), np.random.default_rng(2)
    unrun, half = np.array([1, 4, 6, 9, 11]), source.normal(size=(5, 5))
    spread, weight, price = half @ half.T + 0.1 * np.eye(5), source.random(6), 0.5 + source.random(12)
    told, left = [], spread
    for _ in range(3):
        lowered = [
            sum(weight[p] * (grid.weights()[unrun, p] @ left[:, b]) ** 2 for p in range(6))
            / left[b, b]
            / price[unrun[b]]
            if b not in told
            else -1.0
            for b in range(5)
        ]
        told.append(int(np.argmax(lowered)))
        rest = spread[:, told] @ np.linalg.inv(spread[np.ix_(told, told)]) @ spread[told]
        left = spread - rest
    blocks = np.argwhere(grid.exists)[unrun[told]]
    assert _cheapest(grid, unrun, spread, weight, price, 3) == tuple(map(tuple, blocks.tolist()))
    assert len(set(_cheapest(grid, unrun, spread, weight, price, 9))) == 5


@pytest.mark.parametrize(("ahead", "certified"), [(0.04, True), (0.048, False), (0.06, False)])
def test_the_deciding_axis_is_certified_when_no_other_explains_five_points_more(monkeypatch, ahead, certified):
    """In three draws of ten the second axis is ahead; the difference counts with a margin of a tenth."""
    grid, known = small(), np.tile([1.0, 2.0, 3.0], (12, 2))
    known[8:] = np.nan
    parts = np.tile([0.5, 0.0, 0.1], (240, 1))
    parts[:72, 1] = 0.5 + ahead
    monkeypatch.setattr("recassay.analysis.certify.fit._axis_shares", lambda *_: parts)
    found, _ = decide(grid, known, np.ones(12), None, confidence=0.9, rng=np.random.default_rng(0))
    assert (found.axis, found.axis_share, found.axis_certified) == ("split", pytest.approx(0.5), certified)


@pytest.mark.parametrize(("confidence", "axis_sure"), [(0.9, True), (0.91, True), (0.9, False)])
def test_the_next_blocks_are_those_of_universes_whose_claims_are_open(monkeypatch, confidence, axis_sure):
    """A is last in one universe in a tenth of the draws: `A is best` and `A > B` are open at 0.91 and certified at 0.9,
    `C > B` is certain. A universe weighs the p (1 - p) of the claims that are open, of all where none is.
    """
    grid, known = small(), np.tile([1.0, 2.0, 3.0], (12, 2))
    known[8:] = np.nan
    turned = np.tile([1.0, 2.0, 3.0], (240, 4, 2))
    turned[:24, 2:, 0] = 9.0
    fake = SimpleNamespace(
        open=np.arange(8, 12), spread=np.eye(4), theta=np.zeros(6), draw=lambda count, source: turned[:count]
    )
    parts = np.tile([0.5, 0.0, 0.1] if axis_sure else [0.5, 0.0, 0.6], (240, 1))
    parts[120:] = [0.5, 0.0, 0.1] if axis_sure else [0.9, 0.0, 0.1]
    asked = []
    monkeypatch.setattr("recassay.analysis.certify.fit.believe", lambda *given: fake)
    monkeypatch.setattr("recassay.analysis.certify.fit._axis_shares", lambda *_: parts)
    monkeypatch.setattr("recassay.analysis.certify.fit._cheapest", lambda *given: asked.append(given) or ())
    claims = claims_of(["A is best", "A > B", "C > B"], grid)
    price = np.arange(1.0, 13.0)
    found, _ = decide(grid, known, price, claims, confidence=confidence, rng=np.random.default_rng(0), least=2)
    assert [claim.certified for claim in found.claims] == [confidence == 0.9] * 2 + [True]
    assert found.axis_certified == axis_sure
    _, unrun, spread, weight, prices, count = asked[0]
    # Two claims in the last of six combinations, under one of two metrics; an axis in doubt adds 0.05 to each.
    doubt = np.array([0.0] * 5 + [2 * 0.1 * 0.9])
    if confidence == 0.9 and not axis_sure:
        doubt[:] = 0.0
    assert weight == pytest.approx(doubt + 2 * (0.0 if axis_sure else 0.05), abs=1e-5)
    assert (unrun.tolist(), spread.tolist(), prices.tolist(), count) == (
        [8, 9, 10, 11], np.eye(4).tolist(), price.tolist(), 2,
    )  # fmt: skip


def test_blocks_without_any_doubt_are_run_once_each():
    grid, unrun = small(), np.array([1, 4, 6])
    chosen = _cheapest(grid, unrun, np.eye(3), np.zeros(6), np.ones(12), 3)
    assert sorted(chosen) == [(0, 1), (2, 0), (3, 0)]


def test_an_output_that_hardly_varies_counts_for_nothing():
    blocks, run, source = small().blocks(), np.arange(10), np.random.default_rng(4)
    own = source.normal(size=(10, 1)) + 2.0 * blocks.places[run][:, [1]]
    alone = believe(blocks, run, own).theta
    beside = believe(blocks, run, np.hstack([own, 1e-4 * source.normal(size=(10, 5))])).theta
    assert beside == pytest.approx(alone, abs=0.01)
    assert np.abs(alone - [*START, RHO, RHO]).max() > 0.1, "something was learned"


def test_a_scale_from_few_blocks_is_that_of_one_fewer():
    """Outputs that were run are whitened and centred: n - 1 of n are free."""
    blocks, run = small().blocks(), np.array([0, 1, 3, 4, 6, 9, 10])
    values = np.random.default_rng(1).normal(size=(7, 3))
    theta = np.array([0.2, -1.0, -0.5, -1.5, 0.8, 0.4])
    belief = believe(blocks, run, values, theta)
    inner = blocks.between(run, run)(belief.theta) + 1e-8 * np.eye(7)
    white = np.linalg.solve(np.linalg.cholesky(inner), values - values.mean(axis=0))
    assert belief.outputs == pytest.approx(white * np.sqrt(7 / 6))
    assert belief.degrees == 4.0
    many = np.arange(11)
    assert believe(blocks, many, np.random.default_rng(2).normal(size=(11, 3)), theta).degrees == 11 - 1 - 2


@pytest.mark.parametrize("free", ["missing", "aggregation"])
def test_choices_of_the_analysis_need_no_further_block(free):
    rows = [
        {"algorithm": a, "dataset": d, "metric": "ndcg@10", free: f, "split": s, "value": 0.1 * (i + 1) * (j + 1)}
        for i, a in enumerate("AB")
        for j, (d, f, s) in enumerate(itertools.product("xy", ("one", "two"), ("late", "soon")))
    ]
    grid, known = whole_grid(pl.DataFrame(rows), None)
    assert (list(grid.axes), len(grid.paid), len(grid.free), len(known)) == (["split", free], 2, 2, 4)


def test_choices_that_are_not_named_are_averaged_over():
    rows = [
        {"algorithm": a, "dataset": d, "metric": "ndcg@10", "split": s, "trained": t, "value": 0.1 * (i + 1) * (j + 1)}
        for i, a in enumerate("AB")
        for j, (d, s, t) in enumerate(itertools.product("xy", ("late", "soon"), ("once", "twice")))
    ]
    assert list(whole_grid(pl.DataFrame(rows), None)[0].axes) == ["split", "trained"]
    grid, known = whole_grid(pl.DataFrame(rows), ["split"])
    assert (list(grid.axes), len(grid.paid), len(known)) == (["split"], 2, 4)


def test_cut_offs_need_no_further_block():
    rows = [
        {"algorithm": a, "dataset": d, "metric": f"{m}@{k}", "split": s, "value": 0.1 * (i + 1) * (j + 1)}
        for i, a in enumerate("AB")
        for j, (d, m, k, s) in enumerate(itertools.product("xy", ("ndcg", "recall"), (5, 10), ("late", "soon")))
    ]
    grid, known = whole_grid(pl.DataFrame(rows), None)
    assert (list(grid.axes), len(grid.paid), len(grid.free), len(known)) == (["split", "metric", "cutoff"], 2, 4, 4)


def test_a_batch_is_no_larger_than_its_share_of_what_was_run(monkeypatch):
    monkeypatch.setattr("recassay.analysis.certify.fit.LOOKS", 0.35)
    known = np.where(np.arange(12)[:, None] < 8, np.random.default_rng(5).random((12, 6)), np.nan)
    looked, _ = decide(small(), known, np.ones(12), None, confidence=0.9, rng=np.random.default_rng(0))
    assert len(looked.next) == 2


def test_blocks_that_are_all_alike_teach_nothing_and_are_expected_again():
    found = believe(small().blocks(), np.arange(5), np.full((5, 6), 0.25))
    assert found.theta.tolist() == [*START, RHO, RHO], "as it was before anything was run"
    assert found.mean == pytest.approx(np.full((7, 6), 0.25))
    assert found.draw(3, np.random.default_rng(0)) == pytest.approx(np.full((3, 7, 6), 0.25))


def long_rows(algorithms, choices, datasets=("d", "e")):
    return pl.DataFrame(
        [
            {"algorithm": name, "dataset": dataset, "split": f"s{n}", "metric": "ndcg@10", "value": 0.1 + n / 5000}
            for name in algorithms
            for n in range(choices)
            for dataset in datasets
        ]
    )


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (long_rows("A", 3), "the table has one algorithm; give at least two"),
        (long_rows("AB", 101), "'split' has 101 choices, and at most 100 can be certified"),
        (long_rows("AB", 100, [f"d{n}" for n in range(6)]), "600 combinations of choices and datasets"),
    ],
)
def test_a_table_that_no_replay_can_hold_is_refused(rows, words):
    with pytest.raises(UsageError, match=words):
        whole_grid(rows, ["split"])
