"""Certificates: what a part of a multiverse settles is true of the whole."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.analysis.certify.belief import Blocks, believe
from recassay.analysis.certify.fit import Multiverse, axis_shares, replay, scores, truth
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
