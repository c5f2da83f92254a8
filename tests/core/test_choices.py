"""What may be chosen: ranges with their ends, and how many draws are made of how many algorithms."""

from __future__ import annotations

from typing import get_args

import pytest

from recassay.core.choices import DRAWS_OF, Draws, Level, Range, Seconds, Seed, Share, Workers, Written


@pytest.mark.parametrize(
    ("limits", "inside", "outside", "words"),
    [
        (Range(1, 100), (1, 50, 100), (0.999, 100.001), " from 1 to 100"),
        (Range(0.5, 0.999), (0.5, 0.999), (0.4999, 1), " from 0.5 to 0.999"),
        (Range(0), (0, 1e9), (-1,), " from 0"),
        (Range(None, 1_000_000), (-5, 1_000_000), (1_000_001,), " to 1,000,000"),
        (Range(), (-1e300, 1e300), (), ""),
    ],
)
def test_a_range_holds_its_ends(limits, inside, outside, words):
    assert all(map(limits.holds, inside))
    assert not any(map(limits.holds, outside))
    assert limits.words() == words


def test_what_numbers_of_options_may_be_and_how_they_are_written():
    stated = {kind: get_args(kind)[1] for kind in (Level, Draws, Seed, Workers, Share, Seconds)}
    assert list(stated.values()) == [
        Range(0.5, 0.999), Range(None, 1_000_000), Range(0), Range(None, 4096), Written("2%"), Written("2h")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "asked", "algorithms", "number", "note"),
    [
        ("rank", None, 60, 10_000, None),
        ("rank", None, 61, 10_000, None),
        ("rank", None, 64, 9_765, "64 algorithms: 9,765 bootstrap replicates, not 10,000; `replicates` sets more"),
        ("rank", None, 200, 1_000, "200 algorithms: 1,000 bootstrap replicates, not 10,000; `replicates` sets more"),
        ("rank", None, 500, 200, "500 algorithms: 200 bootstrap replicates, not 10,000; `replicates` sets more"),
        ("rank", 500, 200, 500, None),
        ("rank", 1_000, 200, 1_000, None),
        (
            "rank", 2_000, 200, 2_000,
            "200 algorithms: 2,000 bootstrap replicates take about 2 times as long as the default, 1,000",
        ),
        ("rank", 50_000, 60, 50_000, None),
        ("compare", None, 200, 1_000, "200 algorithms: 1,000 posterior draws per pair, not 10,000; `draws` sets more"),
        ("ratings", None, 200, 300, "200 algorithms: 300 bootstrap replicates, not 10,000; `replicates` sets more"),
        ("ratings", None, 400, 100, "400 algorithms: 100 bootstrap replicates, not 10,000; `replicates` sets more"),
        ("stress", None, 200, 100, "200 algorithms: 100 random subsets per size, not 1,000; `draws` sets more"),
        ("stress", None, 40, 1_000, None),
    ],
)  # fmt: skip
def test_many_algorithms_have_fewer_draws_and_are_told_so(command, asked, algorithms, number, note):
    draws = DRAWS_OF[command]
    assert (draws.number(asked, algorithms), draws.note(asked, algorithms)) == (number, note)
