"""Lists to be used: what `recommend` writes is what the algorithm says of all data, whole and with the log's names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.api import recommend as verb
from recassay.core.registry import algorithms
from recassay.core.seeds import derived_rng
from recassay.data.lists.read import read_lists
from recassay.metrics.recommend import recommend_all
from recassay.recommenders import recommend as work
from recassay.store import CellRecord
from support.in_process import InProcess
from support.stores import write_records

USERS, ITEMS = 30, 12


def log() -> pl.DataFrame:
    random = np.random.default_rng(5)
    rows = [
        {"kunde": f"k{user}", "artikel": f"a{item}", "stars": int(random.integers(1, 6)), "ts": 10 * user + item}
        for user in range(USERS)
        for item in random.choice(ITEMS, 5, replace=False)
    ]
    return pl.DataFrame(rows)


NAMED = {"columns": {"user": "kunde", "item": "artikel", "rating": "stars", "timestamp": "ts"}, "time": "seconds"}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(verb, "LocalExecutor", InProcess)
    log().write_csv("log.csv")
    return tmp_path


def pairs(frame: pl.DataFrame) -> set[tuple[str, str]]:
    return set(frame.select("kunde", "artikel").iter_rows())


def test_the_lists_are_those_of_the_algorithm_on_all_events(place):
    made = recassay.recommend("log.csv", "EASE", k=4, out="lists.parquet", read=NAMED)
    lists = made.to_frame()
    assert lists.columns == ["kunde", "rank", "artikel", "score"] == made.columns
    assert (made.lists, made.rows, made.short, made.events) == (USERS, 4 * USERS, 0, 5 * USERS)
    assert not pairs(lists) & pairs(log()), "what was had is left out"

    events = recassay.load_data("log.csv", NAMED)
    rng = derived_rng(1, "fit", "log.csv", "EASE", "final")
    fitted = algorithms.get("EASE")().fit(events, rng=rng)
    top = recommend_all(fitted, np.arange(USERS, dtype=np.int32), 4, exclude=events.csr(), n_items=ITEMS)
    for row, user in enumerate(events.users):
        scores = lists.filter(pl.col("kunde") == user).sort("rank")["score"]
        assert np.allclose(scores, top.scores[row], atol=1e-5), "by the order of ids, equal scores may change places"


def test_what_evaluate_reads(place):
    recassay.recommend("log.csv", "MostPop", k=3, out="lists.csv", read=NAMED)
    (lists,) = read_lists(place / "lists.csv")
    assert set(lists.frame.columns) == {"user", "item", "rank", "score"}
    assert lists.frame["user"].str.starts_with("k").all()
    assert lists.frame["item"].str.starts_with("a").all()


def test_disliked_items_are_left_out_and_had_ones_come_again_where_the_task_says_so(place):
    liked = recassay.recommend("log.csv", "MostPop", k=ITEMS, out="lists.csv", read=NAMED, threshold=4)
    assert liked.events == log().filter(pl.col("stars") >= 4).height
    assert liked.short == liked.lists
    assert not pairs(liked.to_frame()) & pairs(log()), "those below the threshold, too"
    again = recassay.recommend("log.csv", "MostPop", k=ITEMS, out="again.csv", read=NAMED, task="repeat")
    assert pairs(again.to_frame()) == {(f"k{u}", f"a{i}") for u in range(USERS) for i in range(ITEMS)}
    rare = log().group_by("artikel").len().filter(pl.col("len") < 12)["artikel"].to_list()
    common = recassay.recommend("log.csv", "MostPop", k=ITEMS, out="c.csv", read=NAMED, min_item_interactions=12)
    assert rare
    assert not set(common.to_frame()["artikel"]) & set(rare)


def test_some_users_by_name_or_in_a_file(place, monkeypatch):
    def served(users):
        made = recassay.recommend("log.csv", "MostPop", k=2, out="some.csv", read=NAMED, users=users)
        return made.to_frame()["kunde"].unique(maintain_order=True).to_list(), made.unknown

    (place / "plain.txt").write_text("k3\nk9\nk99\n")
    (place / "headed.txt").write_text("kunde\nk3\n")
    (place / "table.csv").write_text("segment,user\nA,k4\nB,k5\n")
    assert served("k7") == (["k7"], [])
    assert served(["k2", "k1", "k2"]) == (["k2", "k1"], [])
    assert served("plain.txt") == (["k3", "k9"], ["k99"])
    assert served("headed.txt") == (["k3"], [])
    assert served("table.csv") == (["k4", "k5"], [])
    with pytest.raises(recassay.RecAssayError, match="the user 'nobody' is not in the log; name users as the log does"):
        served("nobody")


def test_a_frame_is_recommended_from_as_a_file_is(place):
    columns = {"columns": NAMED["columns"]}
    from_file = recassay.recommend("log.csv", "ItemKNN", k=3, out="a.parquet", read=columns).to_frame()
    from_frame = recassay.recommend(log(), "ItemKNN", k=3, out="b.parquet", read=columns).to_frame()
    assert from_frame.columns == from_file.columns
    assert from_frame.select("kunde", "rank").equals(from_file.select("kunde", "rank"))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_many_users_are_written_in_blocks(place, monkeypatch, ending):
    whole = recassay.recommend("log.csv", "EASE", k=3, out=f"whole.{ending}", read=NAMED).to_frame()
    monkeypatch.setattr(work, "ROWS_AT_ONCE", 21)
    heard = []
    made = recassay.recommend(
        "log.csv", "EASE", k=3, out=f"blocks.{ending}", read=NAMED, progress=lambda stage, facts: heard.append(stage)
    )
    assert made.to_frame().equals(whole)
    assert heard == ["read", "fit", *["lists"] * 5]


def study(folder, scores, **settings):
    """A finished study of one dataset: by algorithm, the values on test and validation of its seeds."""
    cells = [
        CellRecord(f"{name}{seed}", name, "log", seed, None, {}, "done",
                   parameters={} if valid is None else {"reg": 10.0 * seed}, validation=valid,
                   metrics={"ndcg@10": test})
        for name, values in scores.items()
        for seed, (test, valid) in enumerate(values, 1)
    ]  # fmt: skip
    spec = recassay.make_study(
        ["./log.csv"], list(scores), protocol={"positive_threshold": 3}, dataset_settings={"log": {"read": NAMED}},
        seed=[1, 2], **settings,
    )  # fmt: skip
    manifest = {"study": spec.model_dump(mode="json", exclude={"base"})}
    return write_records(folder, ["ndcg@10"], cells, manifest=manifest)


def test_a_study_settles_the_algorithm_its_parameters_and_how_the_log_is_read(place):
    scores = {"MostPop": [(0.3, None), (0.3, None)], "EASE": [(0.5, 0.20), (0.1, 0.10)], "EASE-DAN": [(0.9, 0.1)]}
    study(place / "done", scores)
    made = recassay.recommend("log.csv", study="done", out="lists.csv", k=2)
    assert (made.algorithm, made.study) == ("MostPop", "done"), "0.3 in the mean; EASE-DAN has not all seeds"
    assert made.events == log().filter(pl.col("stars") >= 3).height, "the threshold of the study"
    tuned = recassay.recommend("log.csv", "EASE", study="done", out="lists.csv", k=2)
    assert (tuned.parameters["reg"], tuned.notes) == (10.0, ()), "of the seed that is best on the validation part"
    own = recassay.recommend("log.csv", "EASE", study="done", settings={"reg": 77.0}, out="lists.csv", k=2)
    assert own.parameters["reg"] == 77.0
    grown = work.settled_by_study(Path("done"), "log-2025.csv", "EASE")
    assert grown.notes == ("The parameters are those for log, the only dataset of done.",)
    with pytest.raises(recassay.UsageError, match="the study has no algorithm 'EASY'; did you mean 'EASE'"):
        recassay.recommend("log.csv", "EASY", study="done", out="lists.csv")


REFUSED = {
    "no algorithm": (["log.csv"], {}, "no algorithm was named; give `algorithm`, or `study`"),
    "an unknown one": (["log.csv", "EASY"], {}, "unknown algorithm 'EASY'"),
    "another ending": (["log.csv", "EASE"], {"out": "lists.txt"}, "lists.txt: lists are written as .csv or .parquet"),
    "lists": (["log.csv", "./lists.csv"], {}, "lists: lists that were made elsewhere cannot be fitted"),
    "no log": (["nowhere.csv", "EASE"], {}, "nowhere.csv: there is no such file"),
    "no file of users": (["log.csv", "EASE"], {"users": "./u.txt"}, "u.txt: there is no such file of users"),
    "no user": (["log.csv", "EASE"], {"users": []}, "no user was named"),
    "unnamed columns": (["log.csv", "EASE"], {"read": None}, "no column is recognised as the user"),
    "no study": (["log.csv"], {"study": "nowhere"}, "nowhere: there is no study in this folder"),
    "no parameter": (["log.csv", "EASE"], {"settings": {"regg": 1}}, "EASE has no parameter 'regg'"),
    "lists of nothing": (["log.csv", "EASE"], {"k": 0}, "k is 0; give a whole number from 1"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_writes_nothing(place, what):
    given, named, said = REFUSED[what]
    (place / "lists.csv").write_text("user,item,score\nk1,a1,1\n")
    before = sorted(path.name for path in place.iterdir())
    with pytest.raises(recassay.RecAssayError) as raised:
        recassay.recommend(*given, **({"out": "lists.csv", "read": NAMED} | named))
    assert said in str(raised.value)
    assert raised.value.exit_code == 2
    assert sorted(path.name for path in place.iterdir()) == before
    assert (place / "lists.csv").read_text().startswith("user,item,score")


def test_everything_had_leaves_nothing_to_recommend(place):
    pl.DataFrame({"user": ["a", "a", "b", "b"], "item": ["x", "y", "x", "y"]}).write_csv("all.csv")
    with pytest.raises(recassay.RecAssayError, match="nothing is left to recommend to the 2 users"):
        recassay.recommend("all.csv", "MostPop", out="lists.csv")


def test_it_is_held_to_memory_and_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log().write_csv("log.csv")
    with pytest.raises(MemoryError, match=r"^EASE: it held .* GB, more than the 0.02 GB it may; give more with"):
        recassay.recommend("log.csv", "EASE", out="lists.csv", read=NAMED, memory_gb=0.02)
    with pytest.raises(recassay.RecAssayError, match=r"^EASE: it took longer than 0.01 seconds; give more with"):
        recassay.recommend("log.csv", "EASE", out="lists.csv", read=NAMED, seconds=0.01)
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]


def test_too_much_declared_memory_is_refused_before_the_fit(place):
    with pytest.raises(MemoryError, match=r"would need about .* GB, and `memory_gb` is 1e-05"):
        recassay.recommend("log.csv", "EASE", out="lists.csv", read=NAMED, memory_gb=1e-5)


def test_the_command_says_what_it_wrote(place, cli):
    columns = ("--column", "user=kunde", "--column", "item=artikel")
    ran = cli("recommend", "log.csv", "--algorithm", "MostPop", "--k", 3, "--out", "lists.csv", *columns)
    assert ran.code == 0
    assert ran.out.startswith(
        "Wrote lists.csv: 3 items for each of 30 users, by MostPop with default parameters.\n"
        "Columns: kunde, rank, artikel, score. Items that a user has had are left out.\n"
        "Fitted on 150 events of 30 users and 12 items in "
    )
    asked = ("--users", "k1,k2,nobody", "--json")
    document = cli("recommend", "log.csv", "--algorithm", "MostPop", "--out", "l.csv", *columns, *asked).json()
    assert (document["lists"], document["unknown"], document["out"]) == (2, ["nobody"], "l.csv")
    assert cli("recommend", "log.csv", "--out", "lists.csv").err == (
        "recassay: no algorithm was named; give --algorithm, or --study for the best of a study\n"
    )
