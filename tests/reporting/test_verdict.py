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
    ranked = rank_algorithms(clear, replicates=100)
    assert ranking.sentences(ranked)[0] == ranked.judgement.headline == repr(ranked).removesuffix(" [RankResult]")
    assert "a00 is the clear winner" in ranked.judgement.headline
    compared = compare_algorithms(clear)
    assert comparison.sentences(compared)[:2] == [
        "All 3 pairs of algorithms differ in nDCG@10 on datasets like these.",
        "Each algorithm is better than the next by mean rank: a00, a01, a02.",
    ]
    assert repr(compared) == "All 3 pairs of algorithms differ in nDCG@10 on datasets like these. [CompareResult]"
    twins = matrix(np.stack([ladder + 0.3, ladder + 0.3, ladder]))
    assert any(
        sentence.startswith("a00 is first under all 10 aggregations, tied with a01 under")
        for sentence in ranking.sentences(rank_algorithms(twins, replicates=100))
    )
    disputed = matrix(np.array([[0.95, 0.25, 0.25, 0.25, 0.25], [0.3] * 5, [0.2] * 5]))
    told = " ".join(ranking.sentences(rank_algorithms(disputed, replicates=100)))
    assert "The aggregations disagree on who is first: a01 by" in told
    assert "a00 by" in told
    few = ranking.sentences(rank_algorithms(matrix(disputed.values[:, :3]), replicates=100))
    assert few[0].startswith("Too little data: 3 datasets cannot show")
    assert "aggregations" not in " ".join(few)


def test_no_order_is_read_into_chance():
    noise = matrix(np.random.default_rng(0).random((4, 8)))
    result = compare_algorithms(noise)
    assert result.friedman.p > 0.05
    assert comparison.sentences(result)[-1] == (
        "Friedman's test does not reject that all algorithms perform alike (p = 0.959); it says nothing of single "
        "pairs."
    )
