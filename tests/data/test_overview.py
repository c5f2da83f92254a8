"""A dataset at a glance: its numbers by plain counting, what its weights are, and what is said of it."""

from __future__ import annotations

from datetime import date
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.data.overview import overview
from recassay.reporting.words.describe import NAMES, advice, size, to_judge

DAY = 86_400


def log(**columns: list) -> pl.DataFrame:
    return pl.DataFrame({"user": [1, 1, 1, 2, 3], "item": [7, 8, 7, 7, 9], **columns})


def test_the_numbers_are_those_of_plain_counting() -> None:
    times = [1_500_000_000 + day * DAY for day in (0, 1, 2, 3, 9)]
    data = recassay.load_data(log(timestamp=times))
    seen = overview(data, 1)
    assert (seen.users, seen.items, seen.events, seen.repeats) == (3, 3, 5, 1)
    assert (seen.first_day, seen.last_day) == (date(2017, 7, 14), date(2017, 7, 23))
    assert seen.activity.counts == (2, 1, 0, 0, 0, 0, 0)
    assert (seen.activity.median, seen.activity.most, seen.activity.top_share) == (1, 3, 0.6)
    assert seen.popularity.counts == (2, 1, 0, 0, 0, 0, 0)
    assert seen.weights is None


@pytest.mark.parametrize(
    ("weights", "kind"),
    [
        (np.full(40, 1.0), "constant"),
        (np.arange(40) % 10 / 2 + 0.5, "ratings"),
        (np.arange(40) ** 2, "counts"),
        (np.linspace(0.25, 10, 40), "amounts"),
        (-np.arange(40.0), "amounts"),
    ],
)
def test_what_weights_are(weights: np.ndarray, kind: str) -> None:
    frame = pl.DataFrame({"user": np.arange(40), "item": np.arange(40), "rating": weights})
    found = overview(recassay.load_data(frame), 0).weights
    assert (found.kind, found.least, found.most) == (kind, weights.min(), weights.max())


def test_what_is_said() -> None:
    seen = SimpleNamespace(users=9, items=4, events=50, repeats=20, first_day=date(2020, 1, 1),
                           last_day=date(2020, 1, 31), weights=None)  # fmt: skip
    assert size("log.csv", seen) == (
        "log.csv: 50 events of 9 users and 4 items, 2020-01-01 to 2020-01-31 (31 days). 40 % of the rows repeat a user "
        "and item."
    )
    trial = {"split": "global_time", "users": 8, "share": 0.5, "events": 12}
    assert to_judge(trial).startswith(
        "A split in time (the last 10 % of the events are the test) leaves 8 users to judge"
    )
    few, repeats, bad = advice(seen, trial, timed=True, bad=3)
    assert few.startswith("Few users would be judged (8)")
    assert "`task='repeat'`" in repeats
    assert bad == "3 rows could not be read and are left out."
    seen.first_day, seen.repeats = None, 0
    assert "leave_last_out" in advice(seen, None, timed=True)[0]
    assert "`columns={'timestamp': 'NAME'}`" in advice(seen, None, timed=False)[0]
    seen.weights = SimpleNamespace(kind="ratings", least=0.5, median=4, most=5)
    assert advice(seen, None, timed=True)[-1].endswith("say `positive_threshold=4`.")
    seen.weights.kind = "counts"
    assert advice(seen, None, timed=True)[-1].startswith("Weights look like counts (median 4, at most 5)")
    refused = {"split": "random", "refused": "nothing is left"}
    assert to_judge(refused) == "A random split (10 % of the events are the test) is not possible: nothing is left."


def test_a_dataset_is_described_with_what_a_split_would_leave() -> None:
    found = recassay.describe_data("synthetic:dense-small")
    split = recassay.describe_data("synthetic:dense-small", protocol={"split": "global_time"})
    assert found.trial == {"split": "global_time", "users": split.audit["users_evaluated"],
                           "share": split.audit["share_of_users_evaluated"],
                           "events": split.parts["test"]["interactions"]}  # fmt: skip
    assert found.characteristics == recassay.describe_data("synthetic:dense-small").characteristics
    assert set(NAMES) == set(found.characteristics)
    assert found.to_dict()["overview"]["users"] == found.characteristics["Nu"]
    tiny = recassay.describe_data(log())
    assert tiny.trial["split"] == "random"
    assert "refused" in tiny.trial
    assert "is not possible" in tiny.sentences()[1]


def test_text_above_dates_is_a_header(tmp_path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("who,what,moment\nC1,S1,2017-01-03T22:06:55Z\nC2,S2,2017-01-02T22:24:14Z\n")
    with pytest.raises(
        recassay.RecAssayError, match="no column is recognised as the user among 'who', 'what', 'moment'"
    ):
        recassay.load_data(path)
