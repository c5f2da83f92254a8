from __future__ import annotations

import numpy as np
import pytest

from recassay.core.errors import InputError, UsageError
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.types import Split
from recassay.protocol.apply import apply_protocol
from recassay.protocol.strata import default_thresholds, popularity, popularity_strata
from support.protocol import interactions, rows_of, shuffled, synthetic

# item counts in training: x 3, y 2, z 1
WHOLE = interactions(
    [
        ("a", "x", 1, 1), ("b", "x", 1, 1), ("c", "x", 1, 1), ("a", "y", 1, 1), ("b", "y", 1, 1),
        ("a", "z", 1, 1),
        ("d", "x", 1, 2), ("e", "x", 1, 2), ("c", "y", 1, 2), ("d", "y", 1, 2), ("b", "z", 1, 2),
        ("c", "z", 1, 2),
    ]
)  # fmt: skip
TRAIN, TEST = WHOLE.take(np.arange(6)), WHOLE.take(np.arange(6, 12))


@pytest.fixture(scope="module")
def split() -> Split:
    return apply_protocol(synthetic(300, 200, 12_000), ProtocolSpec(split="random"))


def test_popularity_counts_different_users() -> None:
    repeated = TRAIN.take(np.array([0, 0, 0, 1, 2, 3, 4, 5]))
    assert popularity(repeated).tolist() == popularity(TRAIN).tolist() == [3, 2, 1]


def test_pools_and_shares_by_hand() -> None:
    strata = popularity_strata(TRAIN, TEST, thresholds=[2, 3, 4], seed=0).strata
    assert [s.threshold for s in strata] == [2, 3, 4]
    assert [s.pool for s in strata] == [2, 4, 6]
    assert [s.items for s in strata] == [1, 2, 3]
    assert [s.train_interactions for s in strata] == [1, 3, 6]
    assert [s.share_of_items for s in strata] == pytest.approx([1 / 3, 2 / 3, 1])
    assert [s.share_of_train for s in strata] == pytest.approx([1 / 6, 1 / 2, 1])
    assert [s.share_of_test for s in strata] == pytest.approx([1 / 3, 2 / 3, 1])
    assert [len(s.sample) for s in strata] == [2, 2, 2]
    assert {row[1] for row in rows_of(strata[0].sample)} == {"z"}


def test_all_takes_every_event_below_each_threshold() -> None:
    result = popularity_strata(TRAIN, TEST, thresholds=[4, 2, 3, 3], size="all", seed=0)
    assert result.size is None
    assert [len(stratum.sample) for stratum in result.strata] == [2, 4, 6]
    assert popularity_strata(TRAIN, TEST, thresholds=[2, 3], seed=0).size == 2
    assert result.to_frame().row(0, named=True) == {
        "threshold": 2, "sampled": 2, "pool": 2, "items": 1, "train_interactions": 1,
        "share_of_items": pytest.approx(1 / 3), "share_of_train": pytest.approx(1 / 6),
        "share_of_test": pytest.approx(1 / 3),
    }  # fmt: skip
    with pytest.raises(InputError, match=r"below 1 \(0 events\); 1 are wanted"):
        popularity_strata(TRAIN, TEST, thresholds=[1, 4], size="all", seed=0)


def test_training_events_are_counted_and_popularity_is_of_users() -> None:
    """z is trained on three times by one user: its popularity is 1, its events are 3."""
    repeated = TRAIN.take(np.array([0, 1, 2, 3, 4, 5, 5, 5]))
    (stratum,) = popularity_strata(repeated, TEST, thresholds=[2], seed=0).strata
    assert (stratum.pool, stratum.items, stratum.train_interactions) == (2, 1, 3)
    assert stratum.share_of_train == pytest.approx(3 / 8)


def test_thresholds_by_hand() -> None:
    """Six test events on items of popularity 1, 1, 2, 2, 3, 3."""
    assert default_thresholds(TRAIN, TEST, steps=3) == (2, 3, 4)
    assert default_thresholds(TRAIN, TEST, steps=2) == (3, 4)
    assert default_thresholds(TRAIN, TEST) == (2, 3, 4)
    assert default_thresholds(TRAIN, TEST, steps=1) == (4,)


def test_items_without_a_training_event_are_tested_but_not_counted() -> None:
    (stratum,) = popularity_strata(TRAIN.take(np.arange(5)), TEST, thresholds=[3], seed=0).strata
    assert (stratum.pool, stratum.items, stratum.share_of_items) == (4, 1, 0.5)


def test_every_set_has_the_size_and_only_items_below_its_threshold(split: Split) -> None:
    fit = split.refit()
    count = popularity(fit)
    result = popularity_strata(fit, split.test, size=50, seed=3)
    assert result.to_frame()["sampled"].to_list() == [50] * len(result.strata)
    everything = set(rows_of(split.test))
    for stratum in result.strata:
        assert count[stratum.sample.item].max() < stratum.threshold
        rows = rows_of(stratum.sample)
        assert len(set(rows)) == 50
        assert set(rows) <= everything


def test_default_thresholds_let_in_growing_shares_up_to_all(split: Split) -> None:
    fit = split.refit()
    thresholds = default_thresholds(fit, split.test, steps=5)
    shares = [s.share_of_test for s in popularity_strata(fit, split.test, thresholds=thresholds, seed=0).strata]
    assert shares[-1] == 1.0
    assert all(share >= wanted - 1e-9 for share, wanted in zip(shares, (0.2, 0.4, 0.6, 0.8, 1.0), strict=True))
    assert shares[0] < 0.3


def test_a_set_depends_on_seed_and_threshold_alone(split: Split) -> None:
    fit = split.refit()
    middle = default_thresholds(fit, split.test)[4]

    def drawn(test: object, thresholds: list[int], seed: int) -> list[tuple[object, ...]]:
        strata = popularity_strata(fit, test, thresholds=thresholds, size=40, seed=seed).strata  # type: ignore[arg-type]
        return next(rows_of(s.sample) for s in strata if s.threshold == middle)

    alone = drawn(split.test, [middle], 1)
    assert drawn(split.test, [middle, middle + 5], 1) == alone
    assert drawn(split.test.take(np.arange(len(split.test))[::-1]), [middle], 1) == alone
    assert drawn(split.test, [middle], 2) != alone


def test_draws_are_uniform_over_the_pool() -> None:
    hits = dict.fromkeys(rows_of(TEST), 0)
    for seed in range(300):
        for row in rows_of(popularity_strata(TRAIN, TEST, thresholds=[4], size=3, seed=seed).strata[0].sample):
            hits[row] += 1
    assert sum(hits.values()) == 900
    assert all(110 < count < 190 for count in hits.values())  # 150 expected, standard deviation 8.7


def test_thresholds_with_too_few_events_are_named() -> None:
    with pytest.raises(InputError, match=r"popularity below 2 \(2 events\); 3 are wanted"):
        popularity_strata(TRAIN, TEST, thresholds=[2, 4], size=3, seed=0)
    with pytest.raises(InputError, match=r"below 1 \(0 events\)"):
        popularity_strata(TRAIN, TEST, thresholds=[1, 4], seed=0)
    with pytest.raises(InputError, match="test part is empty"):
        popularity_strata(TRAIN, TEST.take(np.array([], dtype=np.int64)), seed=0)
    with pytest.raises(UsageError, match="at least one threshold"):
        popularity_strata(TRAIN, TEST, thresholds=[], seed=0)


def test_strata_do_not_depend_on_how_ids_are_numbered() -> None:
    mixed = shuffled(WHOLE, 4)
    times = mixed.time
    assert times is not None
    fit, test = mixed.take(times == 1), mixed.take(times == 2)
    one = popularity_strata(TRAIN, TEST, thresholds=[3], size=2, seed=9).strata[0]
    other = popularity_strata(fit, test, thresholds=[3], size=2, seed=9).strata[0]
    assert rows_of(one.sample) == rows_of(other.sample)


@pytest.mark.parametrize(("size", "thresholds"), [(0, (5, 9)), (-1, (5, 9)), (1, ())])
def test_no_threshold_and_no_size_are_refused(split: Split, size: int, thresholds: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="at least one threshold and a size of at least 1"):
        popularity_strata(split.refit(), split.test, thresholds=thresholds, size=size, seed=0)


def test_every_threshold_has_a_draw_of_its_own_in_the_order_of_the_rows() -> None:
    """All events lie below both thresholds, and the two draws differ."""
    place = {row: at for at, row in enumerate(rows_of(TEST))}
    by_row = [place[row] for n in range(len(TEST)) for row in rows_of(TEST.take(np.array([n])))]
    pairs = []
    for seed in range(12):
        low, high = popularity_strata(TRAIN, TEST, thresholds=[4, 5], size=3, seed=seed).strata
        for stratum in (low, high):
            drawn = [place[row] for n in range(3) for row in rows_of(stratum.sample.take(np.array([n])))]
            assert [by_row.index(at) for at in drawn] == sorted(by_row.index(at) for at in drawn)
        pairs.append(rows_of(low.sample) == rows_of(high.sample))
    assert not all(pairs)


def test_a_share_of_the_events_that_is_no_whole_number_is_rounded_up() -> None:
    """Three test events of popularity 3, 2 and 1: half of them are two."""
    assert default_thresholds(TRAIN, TEST.take(np.array([0, 2, 4])), steps=2) == (3, 4)
