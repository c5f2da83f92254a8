"""docs/evidence/session_rec.csv: what session-rec's authors print of Diginetica, and ours beside it."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import polars as pl
import pytest

from support.places import DATA, ROOT

TABLE = ROOT / "docs" / "evidence" / "session_rec.csv"
OURS = ["ar", "markov", "sr", "vsknn"]
NOT_ACCURACY = ["COV@20", "POP@20", "seconds"]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("session_rec_values", ROOT / "benchmarks" / "session_rec_values.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclass looks for it
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def table():
    return pl.read_csv(TABLE)


def test_every_printed_value_is_listed_as_it_is_printed(script, table):
    if not script.PUBLISHED.is_file():
        pytest.skip("the published table is not here (set RECASSAY_DATA)")
    printed = script.published(script.PUBLISHED).drop_nulls()
    listed = table.drop_nulls("published").select("algorithm", "metric", "published")
    assert printed.height == listed.height == 148
    both = printed.join(listed, on=["algorithm", "metric"], suffix=" listed")
    assert both.height == 148
    assert both.select((pl.col("published") - pl.col("published listed")).abs().max()).item() <= 5e-5


def test_ours_have_all_metrics_and_are_near(table):
    ours = table.drop_nulls("ours")
    assert sorted(ours["algorithm"].unique()) == OURS
    assert ours.height == 18 * len(OURS)
    accuracy = ours.filter(~pl.col("metric").is_in(NOT_ACCURACY)).drop_nulls("published")
    assert accuracy.height == 55
    assert (accuracy["ours"] / accuracy["published"] - 1).abs().max() < 0.022


def test_the_pages_have_the_values_of_the_table(table):
    known = {row[:2]: row[2:] for row in table.iter_rows()}
    lines = (ROOT / "docs" / "evidence" / "sequences.md").read_text().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    metrics = {row[0]: row[1:] for row in rows if "@" in row[0]}
    assert len(metrics) == 17
    for metric, cells in metrics.items():
        wanted = [value for name in ("markov", "ar", "sr", "vsknn") for value in known[name, metric]]
        assert [float(cell) if cell else None for cell in cells] == wanted, metric
    page = (ROOT / "docs" / "sequences.md").read_text()
    for ours, name in (("MarkovChain", "markov"), ("AssociationRules", "ar"), ("V-SKNN", "vsknn")):
        values = [*known[name, "HR@20"], *known[name, "MRR@20"]]
        assert f"| {ours} | " + " | ".join(f"{value:.4f}".lstrip("0") for value in values) + " |" in page


def test_judged_by_hand(script):
    """Sessions 0 1 2 1 and 3 4: after 0 follow 1, 2 and 1, ...; the first list has its hits at places 2 and 5."""
    asked = script.Sessions.of(np.array([0, 0, 0, 0, 1, 1]), np.array([0, 1, 2, 1, 3, 4], dtype=np.int32))
    assert asked.at.tolist() == [1, 2, 3, 5]
    histories = asked.histories(slice(1, 4))
    assert histories.items.tolist() == [0, 1, 0, 1, 2, 3]
    assert histories.starts.tolist() == [0, 2, 5, 6]
    rest = np.arange(10, 25)
    lists = np.stack([np.r_[9, 1, 8, 7, 2, rest], np.r_[2, 3, 4, 5, 6, rest], np.r_[7, 8, 9, 3, 4, rest],
                      np.r_[5, 6, 7, 8, 4, rest]])  # fmt: skip
    events = np.r_[4, 2, np.ones(23)]
    values = script.judged(lists, asked, events)
    assert values["HR@5"] == pytest.approx(3 / 4)
    assert values["MRR@5"] == pytest.approx((1 / 2 + 1 + 0 + 1 / 5) / 4)
    assert values["P@5"] == pytest.approx((2 / 5 + 1 / 5 + 0 + 1 / 5) / 4)
    assert values["R@5"] == pytest.approx((2 / 3 + 1 / 2 + 0 + 1) / 4)
    assert values["MAP@5"] == pytest.approx((1 / 5 / 3 + 1 / 5 / 2 + 0 + 0) / 4), "the last place is never reached"
    assert values["MAP@10"] == pytest.approx(((1 + 2) / 10 / 3 + 1 / 10 / 2 + 0 + 1 / 10) / 4)
    assert values["COV@20"] == pytest.approx(24 / 25), "all items but 0"
    first = (1 / 2 + 19 / 4) / 20
    assert values["POP@20"] == pytest.approx((first + 3 * (20 / 4) / 20) / 4)


@pytest.mark.slow
def test_rules_on_diginetica_have_the_values_of_the_table(script, table):
    if not (DATA / "sequences" / "diginetica-sessions-train.parquet").is_file():
        pytest.skip("Diginetica is not here (set RECASSAY_DATA)")
    log, asked = script.diginetica(DATA)
    assert (len(log), log.n_users, log.n_items, len(asked.at)) == (906_140, 186_670, 43_097, 60_858)
    found = script.measured("sr", log, asked)
    known = dict(table.filter(algorithm="sr").select("metric", "ours").iter_rows())
    assert set(found) == set(known)
    for metric in set(known) - {"seconds"}:
        assert found[metric] == pytest.approx(known[metric], abs=1e-4), metric
