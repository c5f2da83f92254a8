"""The KDD'24 protocol on ml-100k against the published counts, and MostPop on its test part."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from recassay.core.specs.specs import ProtocolSpec
from recassay.core.types import FloatArray, Interactions, Split
from recassay.protocol.apply import apply_protocol
from support.places import DATA
from support.protocol import shuffled

FILE = DATA / "interactions" / "ml-100k.parquet"
KDD24 = ProtocolSpec(positive_threshold=3.5)

pytestmark = pytest.mark.skipif(not FILE.exists(), reason="ml-100k is not here (set RECASSAY_DATA)")


@pytest.fixture(scope="module")
def raw() -> Interactions:
    frame = pl.read_parquet(FILE)
    codes = {name: frame[name].rank("dense").to_numpy().astype(np.int32) - 1 for name in ("user", "item")}
    return Interactions(
        user=codes["user"],
        item=codes["item"],
        users=frame["user"].unique().sort(),
        items=frame["item"].unique().sort(),
        weight=frame["rating"].to_numpy(),
        time=frame["timestamp"].to_numpy(),
    )


@pytest.fixture(scope="module")
def split(raw: Interactions) -> Split:
    return apply_protocol(raw, KDD24)


def most_popular(split: Split, *, low_ids_first: bool) -> tuple[FloatArray, FloatArray]:
    """nDCG@10 and hit@10 of each test user, items seen in the final training left out.

    Gains are binary, discounts 1 / log2(rank + 1), the ideal list has min(10, relevant) hits. Popularity
    counts events of the final training; equal counts are ordered by id, from either end.
    """
    fit, k = split.refit(), 10
    count = np.bincount(fit.item, minlength=fit.n_items)
    tie = np.arange(fit.n_items) if low_ids_first else -np.arange(fit.n_items)
    ranked = np.lexsort((tie, -count))
    users = np.unique(split.test.user)
    unseen = ~fit.csr()[users].toarray().astype(bool)[:, ranked]
    relevant = split.test.csr()[users].toarray().astype(bool)[:, ranked]
    place = np.cumsum(unseen, axis=1) - 1
    hits = relevant & unseen & (place < k)
    discounts = 1 / np.log2(np.arange(k) + 2)
    gains = np.where(hits, discounts[np.clip(place, 0, k - 1)], 0).sum(axis=1)
    ideal = np.cumsum(discounts)[np.minimum(relevant.sum(axis=1), k) - 1]
    return gains / ideal, hits.any(axis=1).astype(np.float64)


def test_counts_after_the_filter(split: Split) -> None:
    counts = split.counts
    assert counts["filtered_interactions"] == 54_413
    assert counts["filtered_users"] == 938
    assert counts["filtered_items"] == 1_008


def test_users_of_the_test_part(raw: Interactions, split: Split) -> None:
    assert split.counts["test_users"] == 72
    alone = apply_protocol(raw, KDD24.model_copy(update={"final_fit": "train"}))
    assert alone.counts["test_users"] == 53


@pytest.mark.parametrize("low_ids_first", [True, False])
def test_most_popular_as_published(split: Split, low_ids_first: bool) -> None:
    ndcg, hit = most_popular(split, low_ids_first=low_ids_first)
    assert len(ndcg) == 72
    assert round(float(ndcg.mean()), 4) == 0.1446
    assert round(float(hit.mean()), 4) == 0.4306


def test_no_leakage_and_the_shares_are_near_the_ratios(split: Split) -> None:
    assert split.audit["findings"] == []
    whole = split.counts["filtered_interactions"]
    assert split.counts["train_interactions"] / whole == pytest.approx(0.8, abs=1e-4)
    held_out = split.counts["test_interactions"] + split.counts["test_cold_interactions"]
    assert held_out / whole == pytest.approx(0.1, abs=1e-4)


def test_row_order_and_id_type_do_not_matter(raw: Interactions, split: Split) -> None:
    other = apply_protocol(shuffled(raw, 7), KDD24)
    assert other.fingerprint == split.fingerprint
    assert np.array_equal(other.test.item, split.test.item)
