"""The accuracy metrics against other libraries, where the convention is the same.

`RECORDED` was made with `python benchmarks/metrics_peers.py NAME CASE.npz` on `peer_case()`, in environments
that have those libraries (RecTools needs an older numpy, so they cannot all be installed beside RecAssay).
Not recorded, since the definition is another: the novelty of recommenders (shares of interactions, not of
users) and the diversity of RecTools (Hamming distance).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from recassay.core.types import TopK
from recassay.metrics.accuracy import NDCG, AveragePrecision, HitRate, Precision, Recall, ReciprocalRank
from recassay.metrics.beyond import Novelty
from recassay.metrics.context import EvaluationContext
from recassay.metrics.diversity import Diversity
from recassay.metrics.exposure import Coverage

USERS, ITEMS, K = 40, 60, 10


def peer_case() -> dict[str, np.ndarray]:
    """Lists of 10 for 40 users over 60 items; from a congruential generator of our own."""
    state = 12345

    def draw(limit: int) -> int:
        nonlocal state
        state = (1103515245 * state + 12345) % 2**31
        return (state >> 8) % limit

    train, test, lists = [], [], []
    for user in range(USERS):
        order = list(range(ITEMS))
        for place in range(ITEMS - 1, 0, -1):
            other = draw(place + 1)
            order[place], order[other] = order[other], order[place]
        seen, unseen = sorted(order[: 5 + draw(20)]), order[30:]
        train += [(user, item) for item in seen]
        lists.append([item for item in unseen if item % 4][:K])
        shifted = unseen[draw(16) :]
        test += [(user, item) for item in shifted[:: 1 + draw(4)][: 1 + draw(15)]]
    return {
        "users": np.arange(USERS, dtype=np.int32),
        "items": np.array(lists, dtype=np.int32),
        "scores": np.tile(np.arange(K, 0, -1, dtype=np.float32), (USERS, 1)),
        "train_user": np.array([user for user, _ in train], dtype=np.int32),
        "train_item": np.array([item for _, item in train], dtype=np.int32),
        "test_user": np.array([user for user, _ in test], dtype=np.int32),
        "test_item": np.array([item for _, item in test], dtype=np.int32),
        "n_items": np.array(ITEMS),
    }


# library -> (version, numpy's version, {our metric and variant: its value})
RECORDED = {
    "ranx": (
        "0.3.21",
        "2.4.6",
        {
            ("precision", "by_k"): 0.24,
            ("recall", "by_relevant"): 0.36643537018537015,
            ("ndcg", "ideal_min"): 0.2930978991666571,
            ("map", "by_relevant"): 0.17386562470267827,
            ("mrr", "first"): 0.3030456349206349,
            ("hitrate", "any"): 0.775,
        },
    ),
    "recommenders": (
        "1.2.1",
        "2.4.6",
        {
            ("precision", "by_k"): 0.2399999999999999,
            ("recall", "by_relevant"): 0.3664353701853702,
            ("ndcg", "ideal_min"): 0.29309789916665707,
            ("map", "by_relevant"): 0.17386562470267825,
            ("map", "by_min"): 0.18578844246031742,
            ("coverage", "train"): 0.75,
            ("diversity", "cosine"): 0.7392990983894715,
        },
    ),
    "RecTools": (
        "0.19.0",
        "1.26.4",
        {
            ("precision", "by_k"): 0.24,
            ("recall", "by_relevant"): 0.36643537018537026,
            ("ndcg", "ideal_min"): 0.2930978991666571,
            ("ndcg", "ideal_k"): 0.21594698493499917,
            ("map", "by_relevant"): 0.17386562470267827,
            ("map", "by_k"): 0.11810714285714288,
            ("mrr", "first"): 0.3030456349206349,
            ("hitrate", "any"): 0.775,
            ("novelty", "bits"): 2.1917616399571633,
            ("coverage", "catalogue"): 0.75,
        },
    ),
    "torchmetrics": (
        "1.9.0",
        "2.4.6",
        {
            ("precision", "by_k"): 0.24000000953674316,
            ("recall", "by_relevant"): 0.36643534898757935,
            ("ndcg", "ideal_min"): 0.29309791326522827,
            ("map", "by_hits"): 0.3025026023387909,
            ("mrr", "first"): 0.3030456602573395,
            ("hitrate", "any"): 0.7749999761581421,
        },
    ),
}
KINDS = {
    kind.name: kind
    for kind in (
        Precision,
        Recall,
        HitRate,
        NDCG,
        AveragePrecision,
        ReciprocalRank,
        Novelty,
        Diversity,
        Coverage,
    )
}


@pytest.mark.parametrize(
    ("library", "name", "variant"),
    [(library, *key) for library, (_, _, values) in RECORDED.items() for key in values],
)
def test_equals_what_the_library_says(library, name, variant):
    case = peer_case()
    train, truth = (
        csr_array(
            (np.ones(len(case[f"{part}_user"]), np.float32), (case[f"{part}_user"], case[f"{part}_item"])),
            shape=(USERS, ITEMS),
        )
        for part in ("train", "test")
    )
    top, context = TopK(case["users"], case["items"], case["scores"]), EvaluationContext(train)
    metric = KINDS[name](K, variant)
    ours = (
        metric.catalogue(top, truth, context)
        if metric.scope == "catalogue"
        else metric.per_user(top, truth, context).mean()
    )
    assert ours == pytest.approx(RECORDED[library][2][name, variant], abs=1e-6)
