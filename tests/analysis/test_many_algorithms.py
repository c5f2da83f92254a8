"""Tables of very many algorithms: the same numbers in less memory, and fewer draws, which the results state."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import polars as pl
import pytest

from recassay import compare, rank, ratings, stress
from recassay.analysis.aggregation import rules
from recassay.analysis.inference import effects
from recassay.analysis.inference.effects import hodges_lehmann


def table(algorithms: int, datasets: int) -> pl.DataFrame:
    values = np.random.default_rng(5).random((algorithms, datasets)).round(2)
    rows = [(f"a{i:03d}", f"d{j}", float(v)) for (i, j), v in np.ndenumerate(values)]
    return pl.DataFrame(rows, schema=["algorithm", "dataset", "accuracy"], orient="row")


def test_with_more_than_sixty_algorithms_fewer_draws_are_made_and_stated() -> None:
    few, many = table(60, 6), table(61, 6)
    assert rank(few, "accuracy", methods=["mean_rank"], replicates=2000).replicates == 2000
    assert rank(many, "accuracy", methods=["mean_rank"], replicates=2000).replicates == 1000
    assert rank(many, "accuracy", methods=["mean_rank"], replicates=500).replicates == 500
    assert ratings(many, "accuracy", replicates=2000).replicates == 300
    assert compare(many, "accuracy").draws == 1000
    stressed = stress(many, "accuracy", methods=["mean_rank"])
    assert stressed.draws == 100
    assert set(stressed.curves["similar"].tried.tolist()) == {10}


def test_duels_do_not_depend_on_how_many_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"methods": ["copeland", "minimax"], "replicates": 300}
    whole = rank(table(9, 8), "accuracy", **asked).to_frame()
    monkeypatch.setattr(rules, "DUELS_AT_ONCE", 500)
    assert rank(table(9, 8), "accuracy", **asked).to_frame().equals(whole)


@pytest.mark.parametrize("n", [4, 7, 12])
def test_estimates_are_those_of_all_ordered_pair_means(n: int) -> None:
    rows = np.random.default_rng(n).normal(size=(40, n)).round(1)
    for row, (estimate, low, high) in zip(rows, hodges_lehmann(rows), strict=True):
        means = sorted((a + b) / 2 for a, b in combinations_with_replacement(row, 2))
        assert estimate == np.median(means)
        cut = effects._lower_end(n, 0.025)
        assert (low, high) == ((means[cut], means[-1 - cut]) if cut >= 0 else (-np.inf, np.inf))
