"""The sentences say what the numbers support, and no more."""

from __future__ import annotations

import numpy as np

from recassay.analysis.compare.fit import compare_algorithms
from recassay.analysis.rank.fit import rank_algorithms
from recassay.reporting.sections import compare as comparison
from recassay.reporting.sections import rank as ranking
from support.tables import matrix


def test_a_clear_winner_a_tie_and_a_disputed_first_place():
    ladder = np.linspace(0.2, 0.6, 12)
    clear = matrix(np.stack([ladder + 0.3, ladder + 0.1, ladder]))
    assert ranking.sentences(rank_algorithms(clear, replicates=100))[0] == (
        "a00 is first in ndcg@10 under all 10 aggregations over 12 datasets. At 95 % no other could have the best mean "
        "rank over datasets like these."
    )
    assert "and a00 is shown to be better than every other" in comparison.sentences(compare_algorithms(clear))[1]
    twins = matrix(np.stack([ladder + 0.3, ladder + 0.3, ladder]))
    assert (
        "under all 10 aggregations over 12 datasets, tied with a01 under"
        in ranking.sentences(rank_algorithms(twins, replicates=100))[0]
    )
    disputed = matrix(np.array([[0.95, 0.25, 0.25, 0.25, 0.25], [0.3] * 5, [0.2] * 5]))
    first = ranking.sentences(rank_algorithms(disputed, replicates=100))[0]
    assert first.startswith("The aggregations disagree on who is first in ndcg@10 over 5 datasets: a01 by")
    assert "a00 by" in first
    few = ranking.sentences(rank_algorithms(matrix(disputed.values[:, :3]), replicates=100))
    assert few[0].startswith("3 datasets are too few to say who is first over all.")


def test_no_order_is_read_into_chance():
    noise = matrix(np.random.default_rng(0).random((4, 8)))
    result = compare_algorithms(noise)
    assert result.friedman.p > 0.05
    assert "read no order into the ranks" in comparison.sentences(result)[1]
