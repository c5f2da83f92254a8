"""Claims as people write them, and what a verdict says of each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recassay.analysis.verdict.claims import Claim, parse_claim, standing
from recassay.analysis.verdict.fit import judge
from recassay.core.errors import UsageError
from recassay.core.tables.matrix import Matrix

NAMES = ("EASE", "ALS", "Item KNN > old")


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("EASE > ALS", Claim("EASE", "ALS")),
        ("ease beats als", Claim("EASE", "ALS")),
        (" ALS is best ", Claim("ALS")),
        ("ALS>ease", Claim("ALS", "EASE")),
        ("ALS < EASE", Claim("EASE", "ALS")),
        ("als IS  best", Claim("ALS")),
    ],
)
def test_a_claim_is_read(text, claim):
    assert parse_claim(text, NAMES) == claim
    assert parse_claim(str(claim), NAMES) == claim


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("EASE", "'EASE' is not a claim; write it as 'A > B' or 'A is best'"),
        ("EASE > ESAE", "names 'ESAE'.*did you mean 'EASE'"),
        ("EASE > ease", "compares EASE with itself; name two algorithms"),
        ("", "is not a claim"),
    ],
)
def test_what_is_no_claim_is_refused(text, message):
    with pytest.raises(UsageError, match=message):
        parse_claim(text, NAMES)


def test_a_verdict_stands_to_claims():
    noise = np.random.default_rng(3).normal(size=(3, 20)) * 0.01
    levels = np.array([0.5, 0.3, 0.3])[:, None] + noise
    verdict = judge(Matrix(levels, ("A", "B", "C"), tuple(f"d{i}" for i in range(20)), "ndcg@10", True))
    claims = {
        "A > B": "holds",
        "B > A": "reversed",
        "B > C": "undecided",
        "A is best": "holds",
        "B is best": "reversed",
    }
    assert {text: standing(parse_claim(text, "ABC"), verdict) for text in claims} == claims
    # One leads alone and another may still be the best: that it is best is not shown.
    open_race = replace(verdict, grade="leads", leaders=("A",), could_be_best=("A", "B"))
    claims = {"A is best": "undecided", "B is best": "undecided", "C is best": "reversed"}
    assert {text: standing(parse_claim(text, "ABC"), open_race) for text in claims} == claims
