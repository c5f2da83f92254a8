"""The report of a study folder: facts of the run, warnings, failures with reasons, intervals over users."""

from __future__ import annotations

import re

import polars as pl
import pytest

import recassay
from recassay.core.vocabulary import USUAL
from recassay.evidence.facts import _spaces, study_facts
from recassay.evidence.study import evidence_of
from recassay.reporting.page.build import _study
from support.in_process import without_processes
from support.shared import only_analyses

BROKEN = """
class Broken:
    name, space, source = "Broken", {}, "none"

    def fit(self, train, *, rng):
        raise RuntimeError("no luck with <b>this</b> one")

    def memory_bytes(self, n_users, n_items, n_interactions):
        return 0
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three algorithms on two datasets without tuning, split at random (which leaks over time); one of them fails."""
    out = tmp_path_factory.mktemp("study")
    (out / "broken.py").write_text(BROKEN)
    study = recassay.make_study(
        ["synthetic:dense-small", "synthetic:few-items"],
        ["MostPop", "EASE", f"{out / 'broken.py'}:Broken"],
        name="small <i>study",
        metrics=["ndcg@10", "coverage@10"],
        trials=0,
        protocol={"split": "random"},
    )
    with without_processes():
        record = recassay.run(study, out / "study", skip_preflight=True)
    assert record.done == 4
    return out / "study"


def test_a_page_says_what_a_history_costs(tmp_path):
    events = [(f"u{user}", f"i{(user + step) % 20}", 60 * step) for user in range(30) for step in range(8)]
    table = pl.DataFrame(events, schema=["user", "item", "timestamp"], orient="row")
    table.write_csv(tmp_path / "walks.csv")
    protocol = {"split": "leave_last_out", "target": "last", "filter": "none"}
    study = recassay.make_study(
        [str(tmp_path / "walks.csv")], ["MarkovChain", "LastItems"], metrics=["ndcg@10"], trials=0, protocol=protocol
    )
    with without_processes():
        recassay.run(study, tmp_path / "study", skip_preflight=True)
    facts = study_facts(tmp_path / "study")
    assert facts.histories.columns == ["dataset", "algorithm", "histories", "ms per history"]
    assert facts.histories["histories"].to_list() == [30, 30]
    assert facts.histories["ms per history"].min() > 0
    assert "Milliseconds for the lists after one history" in str(_study(facts, USUAL))


def test_facts_are_those_of_the_run(folder):
    facts = study_facts(folder)
    assert (facts.name, facts.planned, facts.done, facts.to_go) == ("small <i>study", 6, 4, 0)
    assert facts.untuned == ("EASE",)
    assert facts.spent == {"EASE": (0, 0), "MostPop": (0, 0)}
    assert {(f.algorithm, f.status) for f in facts.failed} == {("Broken", "failed")}
    assert "no luck" in facts.failed[0].reason
    assert {(f.dataset, f.name) for f in facts.findings if f.leak} >= {
        ("dense-small", "train_after_test"),
        ("few-items", "train_after_test"),
    }
    assert sorted(facts.splits.get_column("dataset")) == ["dense-small", "few-items"]
    assert facts.splits.get_column("users judged").min() > 100
    assert facts.spaces.filter(pl.col("algorithm") == "EASE").get_column("parameter").to_list() == ["reg"]
    assert facts.parameters.height == 4
    assert "log2" in facts.conventions["ndcg@10"]["formula"]
    assert (facts.trials, facts.tuning_metric, facts.seeds, facts.plan) == (0, "ndcg@10", (1,), "not sealed")
    assert facts.budget["seconds_per_cell"] == 3600.0
    assert facts.protocol["split"] == "random"
    assert {name: asked["split"] for name, asked in facts.protocols.items()} == dict.fromkeys(
        ("dense-small", "few-items"), "random"
    )
    for row in facts.splits.iter_rows(named=True):
        assert 0 < row["test interactions"] < row["training interactions"]
        assert row["share of users judged"] == pytest.approx(row["users judged"] / row["users"])
    assert facts.spaces.filter(pl.col("algorithm") == "Broken").rows() == [
        ("Broken", "", "in the algorithm's own file", "")
    ]


def test_search_spaces_are_told_as_the_list_of_algorithms_tells_them():
    spaces, tunable = _spaces(recassay.make_study(["synthetic:few-items"], ["ALS", "ItemKNN"]))
    listed = {(row["name"], row["parameter"]): row["values"] for row in recassay.list_available("algorithms", True)}
    told = {(algorithm, parameter): searched for algorithm, parameter, searched, _ in spaces.rows()}
    assert told["ALS", "factors"] == "64 to 256 in steps of 64"
    assert told == {key: listed[key] for key in told}
    assert tunable == ("ALS", "ItemKNN")


def test_spread_over_users_is_that_of_the_kept_scores(folder):
    from recassay.store.store import Store

    spread = evidence_of(folder)["user_scores"]()
    with Store.open(folder) as store:
        cell = next(c for c in store.cells() if c.algorithm == "EASE" and c.dataset == "few-items")
        scores = store.per_user(cell.id).get_column("ndcg@10").drop_nulls()
    row = spread("ndcg@10").row(
        by_predicate=(pl.col("algorithm") == "EASE") & (pl.col("dataset") == "few-items"), named=True
    )
    assert (row["n"], row["deviation"]) == (len(scores), pytest.approx(scores.std()))
    assert scores.mean() == pytest.approx(cell.metrics["ndcg@10"])
    assert spread("coverage@10").height == 0


@pytest.mark.slow
def test_the_page_of_a_study_warns_and_explains(folder, cli, monkeypatch):
    only_analyses(monkeypatch, "rank", "compare", "per_dataset")
    refused = cli("analyze", folder, "--out", folder / "report.html")
    assert refused.code == 2
    assert "--missing" in refused.err
    ran = cli("analyze", folder, "--out", folder / "report.html", "--missing", "drop-algorithms")
    assert ran.code == 0
    page = (folder / "report.html").read_text()
    assert "<i>" not in page
    assert "<b>this" not in page
    warnings = re.search(r'<section id="warnings".*?</section>', page, re.S)[0]
    for title in ("Leakage", "Failed cells", "Missing cells", "Untuned", "Few datasets"):
        assert f"<strong>{title}</strong>" in warnings
    glance = re.search(r'<details id="glance".*?</dl>', page, re.S)[0]
    assert "4 of 6 done, 2 failed; seed 1" in glance
    assert "random (at random over all interactions), 80 / 10 / 10 %" in glance
    assert str(folder.parent) not in glance
    failures = re.search(r'<section id="failures".*?</section>', page, re.S)[0]
    assert "no luck with &lt;b&gt;this&lt;/b&gt; one" in failures
    assert 'id="figure-per_dataset_intervals"' in page
    assert "over the users of its test part" in page
    assert "Search spaces" in page
    assert "Best parameters" in page


@pytest.mark.slow
def test_the_terminal_and_the_json_warn_too(folder, cli, monkeypatch):
    only_analyses(monkeypatch, "rank", "compare", "per_dataset")
    ran = cli("analyze", folder, "--missing", "drop-algorithms", "--all")
    terminal = " ".join(ran.out.split())
    assert "Before you believe it: Leakage: train after test on dense-small, few-items:" in terminal
    assert "Before you believe it: Untuned: EASE ran with default parameters" in terminal
    told = cli("analyze", folder, "--missing", "drop-algorithms", "--json").json()["cautions"]
    assert [one.partition(":")[0] for one in told].count("Leakage") >= 1
    assert cli("analyze", folder / "no.csv").code == 2
