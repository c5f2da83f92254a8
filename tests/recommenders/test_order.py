"""How much order a dataset has: what shuffling costs, what a study keeps of it, and how it is said."""

from __future__ import annotations

from dataclasses import replace
from html import unescape

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.core.errors import InputError, UsageError
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.specs.study import DatasetSpec
from recassay.core.tables.facts import StudyFacts
from recassay.core.vocabulary import USUAL
from recassay.evidence.facts import SIMPLE, _order_row, _sequential
from recassay.protocol.apply import apply_protocol
from recassay.recommenders.order import audit_order
from recassay.recommenders.splits import load_split, make_split, write_split
from recassay.recommenders.study_file import study_of
from recassay.reporting.page.build import _study
from recassay.reporting.page.cautions import _sequences
from recassay.reporting.page.top import _split
from recassay.reporting.words.sequences import order_words, share_words, target_words

SPEC = ProtocolSpec.checked(split="leave_last_out", filter="none", target="last", final_fit="train")


def walks(ordered: bool, users: int = 120, items: int = 40, length: int = 9) -> pl.DataFrame:
    """Each user walks round a circle of items, or visits the same items in a random order."""
    rng = np.random.default_rng(3)
    rows = []
    for user in range(users):
        walk = (int(rng.integers(items)) + np.arange(length)) % items
        walk = walk if ordered else rng.permutation(walk)
        rows += [(f"u{user}", f"i{item}", 1_600_000_000 + 60 * place) for place, item in enumerate(walk)]
    return pl.DataFrame(rows, schema=["user", "item", "timestamp"], orient="row")


def split_of(ordered: bool):
    return apply_protocol(recassay.load_data(walks(ordered)), SPEC)


def test_shuffling_costs_most_where_there_is_nothing_but_order():
    audit = audit_order(split_of(ordered=True), SPEC)
    assert audit is not None
    assert (audit.algorithm, audit.metric, audit.users) == ("SequentialRules", "ndcg@10", 120)
    assert audit.in_order > 0.9
    assert audit.change is not None
    assert audit.change < -0.2
    assert audit.low < audit.change < audit.high < -0.05
    assert audit.change == pytest.approx(audit.shuffled / audit.in_order - 1)
    again = audit_order(split_of(ordered=True), SPEC)
    assert audit == again


@pytest.mark.slow
def test_a_network_is_judged_where_it_is_asked_for(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr("recassay.recommenders.order.EPOCHS", 12)
    described = recassay.describe_data(walks(ordered=True), sequences=True, trained=True)
    assert described.audit is not None
    rules, network = described.audit["order"], described.audit["order_trained"]
    assert (rules["algorithm"], network["algorithm"]) == ("SequentialRules", "SASRec")
    assert network["shuffled"] < network["in_order"]
    assert "SASRec" in described.told_order()[1]
    monkeypatch.setattr("recassay.recommenders.order.MOST_TRAINED", 300)
    fewer = audit_order(split_of(ordered=True), SPEC, trained=True)
    assert fewer is not None
    assert fewer.users < network["users"]
    with pytest.raises(UsageError, match="set `sequences`"):
        recassay.describe_data(walks(ordered=True), trained=True)


def test_shuffling_costs_nothing_where_there_is_no_order():
    audit = audit_order(split_of(ordered=False), SPEC)
    assert audit is not None
    assert audit.low < 0 < audit.high


def test_users_are_drawn_and_nobody_is_no_audit(monkeypatch):
    monkeypatch.setattr("recassay.recommenders.order.MOST_USERS", 7)
    split = split_of(ordered=True)
    audit = audit_order(split, SPEC)
    assert audit is not None
    assert audit.users == 7
    monkeypatch.setattr("recassay.recommenders.order.MOST_EVENTS", len(split.train) // 2)
    fewer = audit_order(split, SPEC)
    assert fewer is not None
    assert fewer.users == 7
    assert fewer.shuffled != audit.shuffled
    assert audit_order(replace(split, test=split.test.take(slice(0, 0))), SPEC) is None


def test_a_prepared_split_keeps_its_audit_and_one_of_sets_has_none(tmp_path):
    walks(ordered=True).write_csv(tmp_path / "walks.csv")
    data = DatasetSpec(reference="walks.csv", name="walks")
    split = make_split(data, SPEC, str(tmp_path))
    assert split.audit["order"]["users"] == 120
    assert split.audit["targets"]["events"] == 120
    write_split(split, _made(tmp_path, "walks"))
    kept = load_split(tmp_path, "walks")
    assert kept.audit == split.audit
    row = _order_row(kept.audit)
    assert row["share_in_history"] == 0
    assert row["share_before_training_event"] == 0
    assert row["change"] == split.audit["order"]["change"]
    of_sets = make_split(data, ProtocolSpec.checked(split="leave_last_out", filter="none"), str(tmp_path))
    assert not {"order", "targets"} & set(of_sets.audit)


def _made(folder, name):
    from recassay.store.sealed import split_folder

    made = split_folder(folder, name)
    made.mkdir(parents=True)
    return made


ORDER = {
    "algorithm": "SequentialRules", "metric": "ndcg@10", "users": 1234, "in_order": 0.2, "shuffled": 0.19,
    "change": -0.05, "low": -0.06, "high": -0.04,
}  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (-0.04, 0.01, "costs 5 % of nDCG@10, so this dataset is not sequential"),
        (-0.06, -0.04, "so it is not clear whether this dataset is sequential"),
        (
            -0.5,
            -0.06,
            "so this dataset has order (95 % interval of the change -50 % to -6 %; SequentialRules 0.2000",
        ),
    ],
)
def test_the_answer_comes_with_its_interval(low, high, said):
    assert said in order_words("films", {**ORDER, "low": low, "high": high})


def test_a_gain_and_nothing_found_are_said():
    assert "films gains 5 % of" in order_words("films", {**ORDER, "change": 0.05, "low": 0.01, "high": 0.09})
    said = order_words("films", {**ORDER, "change": None})
    assert said == "How much order films has is not known: SequentialRules finds nothing there."


def test_the_question_of_a_study_and_what_all_know_are_said():
    assert target_words({"split": "random"}) == ()
    each, known = target_words({"target": "each", "final_fit": "train"})
    assert each == (
        "The target is each held-out event in turn, after a history that grows: one relevant item per judgement, "
        "averaged per user."
    )
    assert "validation events are in the history" in known
    cut, _, trained = target_words({"target": "next", "sessions": "30min", "final_fit": "train+valid"})
    assert "gaps of more than 30min" in cut
    assert "trained on the training and validation events" in trained
    assert "The target is the next event of each user" in _split({"split": "leave_last_out", "target": "next"})
    assert "target" not in _split({"split": "leave_last_out"})
    shares = {"events": 2000, "share_in_history": 0.5, "share_last_again": 0.25, "share_tied": 0.125, "unseen_users": 0}
    said = share_words({"targets": shares, "share_of_test_before_train": 0.75})
    assert said.endswith("another event of the user. Training has events from after 75.0 % of the test events.")
    assert "not seen 1,000 of the users" in share_words({"targets": shares | {"unseen_users": 1000}})
    assert share_words({"targets": shares}).startswith(
        "Of 2,000 targets 50.0 % are in the history, 25.0 % are its last item again"
    )


def test_trained_readers_of_order_need_a_simple_rival_and_data_with_order():
    facts = StudyFacts("s", "", 1, 1, 0, sequential=("GRU4Rec",), order=pl.DataFrame([{"dataset": "films", **ORDER}]))
    assert [title for title, _ in _sequences(facts)] == ["No simple rival"]
    assert "GRU4Rec reads the order of events" in next(sentence for _, sentence in _sequences(facts))
    facts = replace(facts, sequential=("GRU4Rec", "SR"), simple=("SR",),
                    order=pl.DataFrame([{"dataset": "films", **ORDER, "low": -0.01}]))  # fmt: skip
    assert [title for title, _ in _sequences(facts)] == ["Little order"]
    facts = StudyFacts("s", "", 1, 1, 0, sequential=("SASRec", "SR"), simple=("SR",), one_negative=("SASRec",))
    assert [title for title, _ in _sequences(facts)] == ["One negative"]
    assert list(_sequences(StudyFacts("s", "", 1, 1, 0))) == []


def test_no_order_is_described_without_times():
    with pytest.raises(InputError, match=r"no timestamps, so the order of histories is not known; read the"):
        recassay.describe_data(pl.DataFrame({"user": ["a", "a", "b"], "item": ["x", "y", "x"]}), sequences=True)


def test_the_page_says_what_order_is_worth_on_each_dataset():
    facts = StudyFacts("s", "", 1, 1, 0, order=pl.DataFrame([{"dataset": "films", **ORDER}]))
    page = str(_study(facts, USUAL))
    assert order_words("films", ORDER) in unescape(page)
    assert page.index("<summary>Order") < page.index("Shuffling the histories of films")


def test_the_simple_ones_are_registered_and_read_order():
    study = study_of({"study": {"datasets": ["synthetic:few-items"], "algorithms": ["EASE", *SIMPLE]}})
    found = _sequential(study)
    assert set(found["simple"]) == set(found["sequential"]) == set(SIMPLE)
    tables = {"study": {"datasets": ["synthetic:few-items"], "algorithms": ["SASRec", "EASE"]}}
    assert _sequential(study_of(tables))["one_negative"] == ()
    old = _sequential(study_of(tables | {"algorithm": {"SASRec": {"loss": "bce"}}}))
    assert old == {"sequential": ("SASRec",), "simple": (), "one_negative": ("SASRec",)}


def test_a_dataset_is_described_without_a_protocol():
    described = recassay.describe_data(walks(ordered=True), sequences=True)
    assert described.protocol is not None
    assert (described.protocol["target"], described.protocol["split"]) == ("last", "leave_last_out")
    first, shares, *_ = described.told_order()
    assert "so this dataset has order" in first
    assert shares.startswith("Of 120 targets 0.0 %")
    fields = {"target": "next", "task": "repeat"}
    for given in (fields, ProtocolSpec(**fields)):
        both = recassay.describe_data(walks(ordered=True), sequences=True, protocol=given)
        assert both.protocol is not None
        assert [both.protocol[key] for key in ("target", "task", "split", "filter")] == [
            "next", "repeat", "leave_last_out", "none",
        ]  # fmt: skip
    assert recassay.describe_data(walks(ordered=True)).told_order() == ()
