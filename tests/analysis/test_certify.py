"""Certificates: what a part of a multiverse settles is true of the whole."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.analysis.certify.belief import Blocks, believe
from recassay.analysis.certify.fit import Multiverse, axis_shares, replay, truth
from recassay.analysis.multiverse.claims import Stated
from recassay.core import ties
from recassay.core.errors import UsageError


def planted(seed: int, levels=(3, 3, 2), datasets=5, metrics=4, algorithms=4):
    """Effects of datasets, of choices in common and by dataset, and noise; every block known."""
    rng = np.random.default_rng(seed)
    paid = np.array(list(itertools.product(*map(range, levels))))
    values = 0.6 * rng.normal(size=algorithms) + 0.6 * rng.normal(size=(datasets, 1, algorithms))
    values = values + 0.1 * rng.normal(size=(len(paid), datasets, metrics, algorithms))
    for i, size in enumerate(levels):
        values += (0.8 if i == 0 else 0.1) * rng.normal(size=(size, 1, 1, algorithms))[paid[:, i]]
    ranks = ties.ranks(values, higher_is_better=True, axis=3).reshape(len(paid) * datasets, -1)
    grid = Multiverse(
        {**{f"x{i}": tuple(map(str, range(size))) for i, size in enumerate(levels)}, "metric": tuple("abcd")[:metrics]},
        paid, np.arange(metrics)[:, None], tuple(f"A{a}" for a in range(algorithms)),
        tuple(f"d{d}" for d in range(datasets)), np.ones((len(paid), datasets), dtype=bool),
    )  # fmt: skip
    return grid, ranks


def stated(text: str, grid: Multiverse) -> Stated:
    own, _, rival = text.partition(" > ")
    first = grid.algorithms.index(own.split()[0])
    return Stated(first, grid.algorithms.index(rival) if rival else None, True)


@pytest.mark.parametrize("seed", range(3))
def test_certified_shares_and_axes_are_those_of_the_whole(seed):
    grid, ranks = planted(seed)
    found = replay(grid, ranks, np.ones(len(ranks)), confidence=0.95, rng=np.random.default_rng(seed))
    assert found.complete
    assert found.cost < 0.8
    for claim in found.claims:
        assert abs(claim.share - truth(grid, ranks, [stated(claim.statement, grid)])[0]) <= 0.05 + 1e-9
    shares = axis_shares(grid, ranks)
    assert max(shares.values()) - shares[found.axis] <= 0.05 + 1e-9
    assert [run for run, _, _ in found.path] == sorted(run for run, _, _ in found.path)


def test_neighbours_in_choices_tell_most():
    grid, ranks = planted(1)
    blocks = grid.blocks()
    run = np.arange(0, len(ranks), 2)
    belief = believe(blocks, run, ranks[run])
    error = np.sqrt(((belief.mean - ranks[belief.open]) ** 2).mean())
    assert error < 0.6 * ranks.std()
    same = blocks.kernel(belief.theta, np.array([0]), np.array([0]))
    other = blocks.kernel(belief.theta, np.array([0]), np.array([len(ranks) - 1]))
    assert same > other
    assert isinstance(blocks, Blocks)


def test_a_whole_multiverse_needs_no_estimate():
    grid, ranks = planted(2, levels=(2,), datasets=2)
    found = replay(grid, ranks, np.ones(len(ranks)), confidence=0.95, rng=np.random.default_rng(0))
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
