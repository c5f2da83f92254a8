"""Lists made elsewhere: the split they are judged on, what is told of them, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from recassay.core.errors import InputError, UsageError
from recassay.core.specs.specs import ProtocolSpec, ReadSpec
from recassay.data.lists.read import ReadLists
from recassay.evidence import lists as lists_module
from recassay.evidence.lists import (
    JudgingSplit,
    _each_item_once,
    _judgeable,
    _judged,
    _named,
    given_split,
    split_of_folder,
)
from recassay.metrics.make import as_metrics

ITEMS = [f"i{n}" for n in range(8)]


def frame(rows, *columns):
    return pl.DataFrame(rows, schema=["user", "item", *columns], orient="row")


def training(*columns, row=lambda u, i: ()):
    return frame([(f"p{u}", ITEMS[i], *row(u, i)) for u in range(4) for i in range(8) if i != u], *columns)


def held_out(*columns, row=lambda u: ()):
    return frame([(f"p{u}", ITEMS[u], *row(u)) for u in range(4)], *columns)


def judged_on(train, test, *, task="new", threshold=None, allowed=()):
    """The split and its notes, but for those on how the two were read."""
    judging = given_split(train, test, task, threshold, ReadSpec(), allowed)
    return replace(judging, notes=tuple(note for note in judging.notes if not note.startswith("read ")))


def test_a_given_split_is_taken_with_its_name_and_without_a_fingerprint():
    judging = judged_on(training(), held_out())
    assert (judging.name, judging.fingerprint, judging.untrained, judging.notes) == ("the data", None, False, ())
    assert (len(judging.split.train), len(judging.split.test), judging.users) == (28, 4, 4)
    assert judging.split.task == "new"


def test_a_split_from_a_file_is_called_after_it(tmp_path):
    held_out().write_csv(tmp_path / "films.test.csv")
    assert judged_on(training(), tmp_path / "films.test.csv").name == "films"
    assert judged_on(training(), str(tmp_path / "films.test.csv")).name == "films"


def test_judgements_of_other_tools_may_have_letters_before_their_ids(tmp_path):
    qrels = tmp_path / "films.qrels"
    qrels.write_text("".join(f"user{u} 0 item{u} 1\n" for u in range(4)))
    numbers = frame([(u, i) for u in range(4) for i in range(8) if i != u])
    judging = judged_on(numbers, qrels)
    assert judging.notes == (
        "test: the user ids were taken without their prefix 'user'",
        "test: the item ids were taken without their prefix 'item'",
    )
    assert (judging.name, judging.users, len(judging.split.test)) == ("films", 4, 4)
    named = frame([(f"user{u}", f"item{i}") for u in range(4) for i in range(8) if i != u])
    assert judged_on(named, qrels).notes == ()
    assert judged_on(None, qrels).notes == (
        "there is no training data: the audit could not be done, and items of training count as any other",
    )


def test_without_training_data_nothing_is_audited_and_a_threshold_still_counts():
    test = held_out("rating", row=lambda u: (float(u + 1),))
    judging = judged_on(None, test, threshold=3.0)
    assert judging.untrained
    assert judging.notes == (
        "there is no training data: the audit could not be done, and items of training count as any other",
    )
    assert (len(judging.split.train), len(judging.split.test)) == (0, 2), "ratings of 3 and 4"
    assert len(judged_on(None, test).split.test) == 4
    assert len(judged_on(None, held_out(), threshold=3.0).split.test) == 4


def test_what_one_part_alone_has_is_left_out_and_said():
    timed = training("timestamp", row=lambda u, i: (10 * u + i,))
    judging = judged_on(timed, held_out())
    assert judging.notes == ("only one of the parts has times, so that no leakage in time could be seen",)
    assert judging.split.train.time is None
    late = held_out("timestamp", row=lambda u: (99,))
    assert judged_on(training(), late).notes == judging.notes
    assert judged_on(timed, late).notes == ()
    assert judged_on(timed, late).split.train.time is not None
    rated = training("rating", row=lambda u, i: (5.0,))
    assert judged_on(rated, held_out()).split.train.weight is None
    assert judged_on(rated, held_out()).notes == ()
    with pytest.raises(UsageError, match="a threshold needs ratings in both parts"):
        judged_on(rated, held_out(), threshold=3.0)
    both = judged_on(rated, held_out("rating", row=lambda u: (float(u + 1),)), threshold=3.0)
    assert len(both.split.test) == 2


def test_other_users_future_is_told_and_ones_own_is_refused_unless_allowed():
    """Test events at 50; in training others go on to 90, and then p0 as well."""
    late = training("timestamp", row=lambda u, i: (90 if u == 1 and i == 7 else i,))
    test = held_out("timestamp", row=lambda u: (95 if u == 1 else 50,))
    follows = "the split follows time for each user by itself: the future of other users is in the training data"
    assert judged_on(late, test).notes == (follows,)
    assert judged_on(late, test, allowed=("train_after_test", "train_after_valid")).notes == (), (
        "it was accepted by name"
    )
    own = held_out("timestamp", row=lambda u: (50,))
    with pytest.raises(InputError, match="train_after_test"):
        judged_on(late, own)
    assert judged_on(late, own, allowed=("train_after_test", "train_after_valid")).notes == ()
    early = held_out("timestamp", row=lambda u: (100,))
    assert judged_on(late, early).notes == ()


def lists(rows, *columns, **more):
    return ReadLists("mine", frame(rows, *columns), "mine.csv", "csv", **more)


def judge(own, judging, *metrics, seed=0):
    return _judged("mine", own, judging, as_metrics(metrics or ("recall@2",)), seed)


def test_lists_say_what_was_left_out_and_whether_their_split_is_known():
    judging = judged_on(training(), held_out())
    rows = [("p0", "i0", 2), ("p0", "i0", 1), ("p0", "i3", 3), ("p1", "i7", 1), ("zoe", "i1", 1)]
    found = judge(lists(rows, "rank"), judging)
    assert found.notes == (
        "1 rows repeat an item of their list and were left out; what stood below moved up",
        "2 of 3 rows name an item that the user has in the training data: none can be a hit",
    )
    assert found.result.mean() == {"recall@2": 0.25}
    assert found.record.top.items.shape == (2, 2), "as wide as the metric looks"
    told = found.to_dict()["lists"]
    assert (told["file"], told["rows"], told["unknown_users"], told["unknown_user_rows"]) == ("mine.csv", 4, 1, 1)
    assert (told["format"], told["split"], told["unknown_items"], told["unknown_item_rows"]) == ("csv", None, 0, 0)
    assert "zoe" in str(told["examples"])
    assert found.to_dict().keys() > found.result.to_dict().keys(), "what the lists are worth is told with them"
    assert judge(lists(rows, "rank"), judging, "recall@5").record.top.items.shape == (2, 5)
    scored = [("p0", "i0", 0.1), ("p0", "i0", 0.9), ("p0", "i3", 0.5)]
    assert judge(lists(scored, "score"), judging, "mrr@2").result.mean() == {"mrr@2": 0.25}, "the best place counts"
    named = judge(lists(rows, "rank", split="ab12" * 8), judging)
    assert named.notes[0] == "the lists name the split ab12ab12ab12: give `split` to have that checked"
    ours = replace(judging, fingerprint="ab12" * 16)
    assert "the lists do not name their split" in judge(lists(rows, "rank"), ours).notes[0]
    assert "split" not in judge(lists(rows, "rank", split="ab12" * 8), ours).notes[0]
    with pytest.raises(InputError, match="the lists were made for the split ffff"):
        judge(lists(rows, "rank", split="ffff"), ours)


@pytest.mark.parametrize(("by", "better", "worse"), [("rank", 1, 2), ("score", 0.9, 0.1)])
def test_of_an_item_that_is_listed_twice_the_best_place_stays_and_a_missing_one_is_the_last(by, better, worse):
    rows = [("a", "x", None), ("a", "x", worse), ("b", "x", worse), ("a", "x", better), ("a", "y", None)]
    once, left_out = _each_item_once(frame(rows, by))
    assert left_out == 2
    assert sorted(once.rows(), key=str) == [("a", "x", better), ("a", "y", None), ("b", "x", worse)]
    whole = frame(rows[2:], by)
    assert _each_item_once(whole) == (whole, 0)
    both = frame([("a", "x", 1, 0.1), ("a", "x", 2, 0.9)], "rank", "score")
    assert _each_item_once(both)[0].rows() == [("a", "x", 1, 0.1)], "a rank is the place itself"


def test_prefixes_are_told_and_lists_of_other_data_are_refused():
    judging = judged_on(
        frame([(u, i) for u in range(4) for i in range(8) if i != u]), frame([(u, u) for u in range(4)])
    )
    own = lists([(f"user{u}", f"item{u}", 1.0) for u in range(4)], "score")
    found = judge(own, judging)
    assert found.notes == (
        "the user ids were taken without their prefix 'user'", "the item ids were taken without their prefix 'item'"
    )  # fmt: skip
    assert found.result.mean() == {"recall@2": 1.0}
    nobody = lists([("zoe", 1, 1.0)], "score")
    with pytest.raises(InputError, match="none of the 4 judged users has a list in it") as refused:
        judge(nobody, judging)
    assert refused.value.fix == "these lists were made for other data; its users are called like 0"
    strange = lists([(u, 100 + u, 1.0) for u in range(4)] + [(0, 0, 0.5)], "score")
    with pytest.raises(InputError, match="4 of the 5 rows of known users name an item that the data lacks"):
        judge(strange, judging)
    strangers = pl.concat([strange.frame, frame([(90 + n, 0, 1.0) for n in range(20)], "score")])
    with pytest.raises(InputError, match="4 of the 5 rows of known users name an item"):
        judge(replace(strange, frame=strangers), judging)
    unseen = replace(judging, untrained=True)
    assert judge(strange, unseen).result.mean() == {"recall@2": 0.25}, "without training no item is strange"
    seen = lists([(u, (u + 1) % 4, 1.0) for u in range(4)], "score")
    with pytest.raises(InputError, match="all 4 rows that can be judged name an item that the user has"):
        judge(seen, judging)
    again = replace(judging, split=replace(judging.split, task="repeat"))
    assert judge(seen, again).notes == ()
    assert judge(seen, unseen).notes == ()


def test_equal_scores_follow_the_seed():
    judging = judged_on(training(), held_out())
    own = lists([("p0", item, 1.0) for item in ITEMS], "score")
    tops = {tuple(judge(own, judging, seed=seed).record.top.items[0]) for seed in range(6)}
    assert len(tops) > 1
    first, again = (judge(own, judging, seed=3).record.top.items[0].tolist() for _ in range(2))
    assert first == again


def test_names_of_lists_and_what_is_given_twice(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("user,item,rank\nu1,i1,1\n")
    assert list(_named({"A": path, "B": path})) == ["A", "B"]
    assert "mine" in _named([path, frame([("u", "i", 1)], "rank")])
    other = tmp_path / "other" / "mine.csv"
    other.parent.mkdir()
    other.write_text(path.read_text())
    assert list(_named([path, other])) == ["mine (mine.csv)", f"mine ({other})"], "equal names are told apart"
    with pytest.raises(UsageError, match="is given twice"):
        _named([path, tmp_path / "." / "mine.csv"])
    same = [frame([("u", "i", 1)], "rank") for _ in range(3)]
    assert len(_named(same)) == 3, "tables without a name are counted"
    with pytest.raises(UsageError, match="no lists were given"):
        _named([])


def test_judged_users_are_those_with_a_test_event():
    judging = judged_on(training(), held_out()[:3])
    assert isinstance(judging, JudgingSplit)
    assert judging.users == 3
    assert np.unique(judging.split.test.user).tolist() == [0, 1, 2]


def test_the_split_of_a_folder_is_ours_with_its_fingerprint_or_parts_that_are_audited(monkeypatch, tmp_path):
    given = judged_on(training(), held_out()).split
    asked, found = [], {"meta": None}
    monkeypatch.setattr(lists_module, "read_sidecar", lambda folder: found["meta"])
    monkeypatch.setattr(lists_module, "exported_protocol", lambda meta: f"the protocol of {meta['version']}")
    monkeypatch.setattr(lists_module, "open_split_folder", lambda *names: asked.append(names) or given)
    read = ReadSpec()
    parts = split_of_folder(tmp_path / "films", "repeat", read, ("cold_users",))
    assert (parts.name, parts.split, parts.fingerprint, parts.notes) == ("films", given, None, ())
    ((folder, spec, how),) = asked
    assert (folder, how) == (tmp_path / "films", read)
    assert (spec.split, spec.filter, spec.task) == ("given", "none", "repeat")
    assert set(spec.allow_leakage) == {"cold_users", "train_after_test", "train_after_valid"}
    for meta, name in (({"version": 1, "dataset": "ml"}, "ml"), ({"version": 1}, "films")):
        found["meta"] = meta
        ours = split_of_folder(tmp_path / "films", "new", read, ())
        assert (ours.name, ours.fingerprint, ours.untrained) == (name, given.fingerprint, False)
        assert asked[-1] == (tmp_path / "films", "the protocol of 1", read)


def test_leakage_that_was_accepted_by_name_stays_accepted():
    judging = judged_on(training(), held_out())
    asked = []

    def make(spec):
        asked.append(set(spec.allow_leakage))
        return judging.split

    spec = ProtocolSpec.checked(split="given", filter="none", allow_leakage=("cold_users",))
    assert _judgeable(make, spec) == (judging.split, ())
    assert asked == [{"cold_users", "train_after_test", "train_after_valid"}]
