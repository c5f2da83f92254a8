"""Generators derived from names: the same on every machine and in every version, and one of its own per name."""

from __future__ import annotations

import pytest

from recassay.core.seeds import derived_rng


@pytest.mark.parametrize(
    ("seed", "names", "first"),
    [
        (0, (), 17559845974519211254),
        (7, ("tuning", "films"), 7587962916153817307),
        (7, ("tuning", "films", "3"), 1832556604013712301),
    ],
)
def test_the_stream_is_the_one_that_published_numbers_were_drawn_from(seed, names, first):
    assert derived_rng(seed, *names).bit_generator.random_raw() == first


def test_where_one_name_ends_and_the_next_begins_matters():
    asked = [(1, "ab", "c"), (1, "a", "bc"), (1, "abc"), (1, "abc", ""), (1, "", "abc"), (1, "1"), (11,)]
    assert len({derived_rng(*one).bit_generator.random_raw() for one in asked}) == len(asked)
