"""What is said as data, that no two statements contradict, and what may be claimed."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.core.claims import COURT, Statement
from recassay.reporting.claims import statements
from recassay.reporting.words.claims import box
from support import consistency
from support.consistency import (
    analyzed,
    contradictions,
    control_of,
    draw_table,
    examine,
    foreign_words,
    published,
)


def say(subject, relation, against=None, number=None, procedure=COURT):
    return Statement(subject, relation, against, "ndcg@10", "8 datasets", procedure, "observed", number)


CLASHES = {
    "better and undecided": [say("A", "better", "B"), say("B", "undecided", "A")],
    "better both ways": [say("A", "better", "B"), say("B", "better", "A")],
    "possible and behind": [say("A", "could_be_best"), say("B", "better", "A")],
    "leads and behind": [say("A", "leads", "mean rank", 1.5), say("A", "behind")],
    "two leaders": [say("A", "leads", "mean rank", 1.5), say("B", "leads", "mean rank")],
    "two p": [say("A", "p", "B", 0.01), say("A", "p", "B", 0.02)],
    "two intervals": [say("A", "interval", "B", (1.0, 1.2)), say("A", "interval", "B", (1.0, 1.3))],
    "effect outside": [say("A", "effect", "B", 2.0), say("A", "interval", "B", (1.0, 1.2))],
    "no probability": [say("A", "chance", "leading again", 1.2)],
    "counts": [
        say("won", "count", "datasets", 9),
        say("lost", "count", "datasets", 2),
        say("all", "count", "datasets", 10),
    ],
    "possible winners": [say("could be best", "count", "algorithms", 2), say("A", "could_be_best")],
}
FINE = {
    "two procedures": [say("A", "better", "B"), say("B", "undecided", "A", procedure="Wilcoxon-Holm")],
    "a control": [say("A", "p", "B", 0.01), say("A", "p", "B", 0.02, procedure=f"{COURT}, control A")],
    "tied leaders": [say("A", "leads", "mean rank", 1.5), say("B", "leads", "mean rank", 1.5)],
    "a witness leads": [say("A", "leads", "mean rank", 1.5), say("B", "leads", "rating", 1600.0, "Bradley-Terry")],
    "counts": [
        say("won", "count", "datasets", 8),
        say("lost", "count", "datasets", 2),
        say("all", "count", "datasets", 10),
    ],
}


@pytest.mark.parametrize("said", CLASHES.values(), ids=CLASHES)
def test_a_contradiction_is_found(said):
    assert len(contradictions(said)) == 1


@pytest.mark.parametrize("said", FINE.values(), ids=FINE)
def test_what_does_not_contradict_is_left_alone(said):
    assert contradictions(said) == []


def test_a_witness_is_named_and_the_court_is_not():
    court_word = "EASE leads, but its lead is not yet significant."
    assert len(foreign_words("plan", [court_word], court=False)) == 1
    assert foreign_words("rank", [court_word], court=True) == []
    assert foreign_words("plan", [f"By the hierarchical model, {court_word}"], court=False) == []
    assert foreign_words("model", ["EASE has the highest level."], court=False) == []
    many = "The aggregations disagree: A by Mean (9 of 10); B by Copeland (2 of 10)"
    assert len(foreign_words("rank", [f"{many}."], court=True)) == 1
    assert foreign_words("rank", [f"{many} (ties count for each)."], court=True) == []


@pytest.mark.parametrize("tens", range(6))
def test_sixty_tables_do_not_contradict_themselves(tens):
    found = {}
    for number in range(10 * tens, 10 * tens + 10):
        rng = np.random.default_rng([49, number])
        table = draw_table(rng, small=True)
        problems = examine(table, number % 30 == 0, rng) + (analyzed(table) if number == 30 else [])
        if problems:
            found[number, table.what] = problems
    assert found == {}


def table(gap, n=8, noise=0.03, k=4):
    """Algorithms A0 to A3, the last the best by `gap` each."""
    rng = np.random.default_rng(7)
    rows = [(f"A{a}", f"d{d}", "ndcg@10", 0.3 + gap * a + noise * rng.normal()) for a in range(k) for d in range(n)]
    return pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row")


@pytest.fixture(scope="module")
def clear():
    return recassay.rank(table(0.1), replicates=100)


@pytest.fixture(scope="module")
def unclear():
    return recassay.rank(table(0.004), replicates=100)


def test_the_statements_are_those_of_the_verdict(clear):
    verdict, said = clear.judgement, statements({"rank": clear})
    pairs = {(s.subject, s.object): s.relation for s in said if s.relation in ("better", "equivalent", "undecided")}
    assert len(pairs) == 6
    assert set(pairs.values()) == {"better"}
    assert {s.subject for s in said if s.relation == "could_be_best"} == {"A3"}
    p = next(s.number for s in said if (s.subject, s.relation, s.object) == ("A3", "p", "A2"))
    assert p == verdict.pair("A3", "A2").p
    assert {s.procedure for s in said} == {COURT, "aggregations"}


def test_the_box_offers_what_is_shown_and_no_more(clear, unclear):
    yes, no = box(clear.judgement).values()
    assert yes[0].startswith("A3 is better than all 3 others (nDCG@10, 8 datasets; for datasets like these, all pairs")
    assert no == []
    assert len(yes) <= 5
    assert yes[-1].startswith("A3 has the best mean rank (1.00 of 4) and is first on 8 of 8 datasets")
    yes, no = box(unclear.judgement).values()
    assert not any("is better than" in line for line in yes)
    name = unclear.judgement.leaders[0]
    first = unclear.judgement.firsts[0]
    assert no[0] == f'"{name} is state of the art on all datasets": no, it is first on {first} of 8.'
    assert no[1] == f'"{name} is significantly better than all others": no, than none of 3.'
    assert "not shown; adjusted p = " in no[2]
    assert "is not below 0.05" in no[2]


def test_the_box_refuses_best_by_every_metric_where_another_metric_disagrees():
    first = table(0.1)
    names = {f"A{a}": f"A{3 - a}" for a in range(4)}
    other = first.with_columns(pl.lit("recall@20").alias("metric"), pl.col("algorithm").replace(names))
    no = box(recassay.rank(pl.concat([first, other]), "ndcg@10", replicates=100).judgement)["unsupported"]
    refused = '"A3 is best by every accuracy metric": not shown. By Recall@20 A0 is the clear winner.'
    assert no == [refused]
    same = first.with_columns(pl.lit("recall@20").alias("metric"))
    assert box(recassay.rank(pl.concat([first, same]), "ndcg@10", replicates=100).judgement)["unsupported"] == []


@pytest.mark.slow
def test_the_page_and_the_paper_are_read_by_the_check(monkeypatch):
    rng = np.random.default_rng([49, 7])
    drawn = draw_table(rng, small=True)
    assert published(drawn, control_of(drawn, rng)) == []
    said = consistency.stated_in
    monkeypatch.setattr(
        consistency,
        "stated_in",
        lambda folder: [
            replace(s, number=0.5) if s.relation == "p" and "paper" in str(folder) else s for s in said(folder)
        ],
    )
    assert any(" p " in problem for problem in published(drawn))


def test_the_next_step_fits_the_table():
    few = table(0.1, n=3)
    step = recassay.rank(few).judgement.next_step
    assert step == "recassay analyze: what each dataset shows by itself; over datasets, run at least 6"
    users = pl.concat([few.with_columns(pl.lit(f"u{u}").alias("user"), pl.col("value") + u / 100) for u in range(5)])
    assert recassay.rank(users).judgement.next_step.startswith(
        "recassay users: compare on each dataset, over its users"
    )
    assert recassay.users(users, replicates=100).datasets
    two = recassay.rank(table(0.1, k=2)).judgement
    assert two.grade == "clear_winner"
    assert two.next_step is None


@pytest.fixture
def files(tmp_path):
    for name, frame in {"clear": table(0.1), "unclear": table(0.004), "few": table(0.1, n=4)}.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    return tmp_path


def test_a_claim_holds_is_reversed_or_is_not_shown(cli, files):
    ran = cli("rank", files / "clear.csv", "--claim", "A3 > A2", "--claim", "a0 beats A3", "--claim", "A3 is best")
    assert ran.code == 0
    holds, turned, best = ran.out.splitlines()
    assert holds.startswith("Holds: A3 > A2. A3 is better than A2 (nDCG@10 +")
    assert "8 of 8 datasets won" in holds
    assert turned.startswith("Reversed: A0 > A3. A3 is better than A0 (")
    assert best.startswith("Holds: A3 is best. It is better than all 3 others (largest adjusted p")
    open_one = cli("compare", files / "unclear.csv", "--claim", "A3 > A2", "--json")
    assert open_one.code == 0
    [answer] = json.loads(open_one.out)["checked"]
    assert answer["answer"] == "not shown"
    assert "is not below 0.05" in answer["reason"]
    few = cli("rank", files / "few.csv", "--claim", "A3 > A0").out
    assert few.startswith("Not shown: A3 > A0. Why: 4 datasets cannot show it, 6 are the minimum")
    wrong = cli("rank", files / "few.csv", "--claim", "A3 > EASE")
    assert wrong.code == 2
    assert "names 'EASE'" in wrong.err


def test_what_may_be_claimed_is_printed_and_written(cli, files):
    ran = cli("rank", files / "unclear.csv", "--claims")
    assert ran.code == 0
    assert ran.out.startswith("You may claim:\n- ")
    assert "You may not claim:\n- " in ran.out
    assert "You may not claim" not in cli("rank", files / "clear.csv", "--claims").out
    assert cli("compare", files / "clear.csv", "--claims", "--paragraph").code == 2
    assert cli("rank", files / "clear.csv", "--claims", "--out", files / "x").code == 2
    assert cli("rank", files / "unclear.csv", "--out", files / "out").code == 0
    assert cli("paper", files / "unclear.csv", "--out", files / "paper", "--figures", "none").code == 0
    for folder in ("out", "paper"):
        written = json.loads((files / folder / "claims.json").read_text())
        assert written["claims"]
        assert written["unsupported"]
        assert (files / folder / "claims.md").read_text().startswith("You may claim:")


def test_the_report_has_the_box(files):
    page = recassay.report(files / "unclear.csv", out=files / "report.html", replicates=100).files[0].read_text()
    assert 'id="claims"' in page
    assert "What you may claim" in page
    assert "is state of the art on all datasets" in page


@pytest.mark.parametrize("command", ["rank", "compare", "plan", "model", "ratings", "irt beta", "stress", "multiverse"])
def test_json_has_the_claims(cli, tmp_path, command):
    frame = table(0.02)
    other = frame.with_columns(pl.lit("recall@20").alias("metric"), pl.col("value") * 0.9)
    pl.concat([frame, other] if command == "multiverse" else [frame]).write_csv(tmp_path / "t.csv")
    ran = cli(*command.split(), tmp_path / "t.csv", "--json")
    said = json.loads(ran.out)["statements" if command == "multiverse" else "claims"]
    assert said
    assert {"subject", "relation", "object", "metric", "scope", "procedure", "status", "number"} == set(said[0])
    if command == "multiverse":
        counted = {one["object"].partition(": ")[2]: one["subject"] for one in reversed(said) if one["object"]}
        assert (counted["ahead or not"], counted["holds or not"]) == ("ahead", "holds"), "seen, and shown"


def test_analyze_states_the_claims_of_all_its_analyses():
    report = recassay.analyze(table(0.02, n=6), replicates=100)
    procedures = {claim["procedure"] for claim in report.to_dict()["claims"]}
    assert {COURT, "Wilcoxon-Holm", "hierarchical model", "Bradley-Terry", "beta-IRT", "stress"} <= procedures
    assert contradictions(statements(report.analyses)) == []
