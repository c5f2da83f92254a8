"""AUC over the whole order, against the pairwise definition, whatever the batches."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from recassay.algorithms.kernels.scoring import ScoreRecommender
from recassay.metrics.accuracy import AUC
from recassay.metrics.evaluate import whole_ranking_values

N_USERS, N_ITEMS = 23, 40


@pytest.mark.parametrize(("budget", "batches"), [(1, N_USERS), (4 * 6 * N_ITEMS * 5, 5), (1 << 28, 1)])
def test_whole_auc_is_the_share_of_pairs_in_order(budget, batches):
    rng = np.random.default_rng(0)
    score = rng.random((N_USERS, N_ITEMS)).astype(np.float32)
    train = rng.random((N_USERS, N_ITEMS)) < 0.2
    truth = (rng.random((N_USERS, N_ITEMS)) < 0.2) & ~train
    users = np.arange(N_USERS, dtype=np.int32)
    sizes = []
    recommender = ScoreRecommender(lambda u: sizes.append(len(u)) or score[u], n_items=N_ITEMS, rng=rng)
    ours = whole_ranking_values(
        recommender, users, csr_array(truth.astype(np.float32)), [AUC()], train=csr_array(train.astype(np.float32)),
        exclude=csr_array(train.astype(np.float32)), memory_budget=budget,
    )["auc"]  # fmt: skip
    assert len(sizes) == batches, "a place of a whole list takes six times the memory of its score"
    for u in users:
        good, bad = score[u, truth[u]], score[u, ~truth[u] & ~train[u]]
        expected = (good[:, None] > bad[None, :]).mean() if len(good) and len(bad) else np.nan
        assert ours[u] == pytest.approx(expected, nan_ok=True)
