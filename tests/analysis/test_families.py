"""Datasets that belong together: families by name, and the caution they deserve."""

from __future__ import annotations

import numpy as np
import pytest

from recassay.analysis.inference.families import enough_families, family_numbers, obvious_families
from recassay.analysis.verdict.fit import judge
from recassay.core.errors import UsageError
from recassay.core.tables.matrix import Matrix

NAMES = ("Amazon-Books", "amazon_beauty", "ML-1M", "ml-100k", "yelp", "d01", "d02", "letter")


def test_families_by_name_by_mapping_and_those_that_are_obvious():
    assert obvious_families(NAMES) == {"amazon": ("Amazon-Books", "amazon_beauty"), "movielens": ("ML-1M", "ml-100k")}
    assert len(np.unique(family_numbers(NAMES, "auto"))) == 5  # amazon, ml, yelp, d, letter
    assert family_numbers(NAMES, None).tolist() == list(range(8))
    assert family_numbers(("x", "y"), {"x": "one", "y": "one"}).tolist() == [0, 0]
    with pytest.raises(UsageError, match="families is 'some'"):
        family_numbers(NAMES, "some")
    with pytest.raises(UsageError, match="form 2 families"):
        enough_families(np.array([0, 1, 1]))


def test_a_verdict_from_related_datasets_says_so():
    values = np.random.default_rng(1).uniform(0.1, 0.5, (2, 8))
    values[0] += 0.5
    found = judge(Matrix(values, ("a", "b"), NAMES, "ndcg@10", True))
    assert found.caution == (
        "4 of the 8 datasets come from amazon and movielens: they are related, so the evidence is weaker than it looks."
    )
