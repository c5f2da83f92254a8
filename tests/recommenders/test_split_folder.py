"""Splits as files: written and read back as the same split, and lists that name the split they were made for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl
import pytest

import recassay
from recassay import RecAssayError
from recassay.core.choices import SplitFormat
from recassay.core.errors import UsageError
from recassay.core.specs.specs import ProtocolSpec, ReadSpec
from recassay.core.specs.study import DatasetSpec
from recassay.protocol.apply import apply_protocol
from recassay.protocol.audit import FINDINGS
from recassay.recommenders.split_folder import exported_protocol, open_split_folder, read_sidecar
from recassay.recommenders.splits import make_split

USER_TIME = {"split": "user_time", "positive_threshold": 3, "filter": "none"}


@pytest.fixture(scope="module")
def ratings(tmp_path_factory) -> Path:
    """60 users, 40 items, ratings and times; ids are words, so that no format may take them for places."""
    rng = np.random.default_rng(3)
    rows = ["user,item,rating,timestamp"]
    for user in range(60):
        chosen = rng.permutation(40)[:12]
        rows += [
            f"u{user},i{item},{rng.integers(1, 6)},{1_600_000_000 + 1000 * user + place * 77_777}"
            for place, item in enumerate(chosen)
        ]
    path = tmp_path_factory.mktemp("ratings") / "films.csv"
    path.write_text("\n".join(rows))
    return path


def made(source: Path, folder: Path, **protocol: object):
    return recassay.split(source, folder, protocol={**USER_TIME, **protocol})


def popular(folder: Path, path: Path, k: int = 10) -> Path:
    """Lists of the most popular items of a written split, by nothing of ours but the files."""
    train = pl.read_csv(folder / "train.csv")
    test = pl.read_csv(folder / "test.csv")
    best = train.group_by("item").len().sort("len", "item", descending=[True, False]).get_column("item").to_list()[:k]
    users = test.get_column("user").unique().sort().to_list()
    rows = [f"{user},{item},{k - place}" for user in users for place, item in enumerate(best)]
    path.parent.mkdir(exist_ok=True)
    path.write_text("user,item,score\n" + "\n".join(rows))
    return path


@pytest.mark.parametrize("form", get_args(SplitFormat))
def test_a_split_comes_back_as_itself_from_every_format(ratings, tmp_path, form):
    exported = recassay.split(ratings, tmp_path / "out", form=form, protocol=USER_TIME)
    meta = read_sidecar(tmp_path / "out")
    assert meta["fingerprint"] == exported.fingerprint
    told = (meta["dataset"], meta["format"], meta["counts"], meta["files"], meta["audit"])
    assert told == (exported.dataset, form, exported.counts, exported.files, exported.audit)
    assert (meta["recassay"], meta["protocol"]["split"]) == (recassay.__version__, "user_time")
    back = open_split_folder(tmp_path / "out", exported_protocol(meta), ReadSpec())
    assert back.fingerprint == exported.fingerprint
    data = recassay.load_data(ratings)
    own = apply_protocol(data, ProtocolSpec.checked(**USER_TIME))
    assert own.fingerprint == exported.fingerprint
    for part in ("train", "test"):
        ours, theirs = getattr(own, part), getattr(back, part)
        pairs = [set(zip(one.users.gather(one.user).to_list(), one.items.gather(one.item).to_list(), strict=True))
                 for one in (ours, theirs)]  # fmt: skip
        assert pairs[0] == pairs[1]
        assert len(ours) == len(theirs) == exported.files[part]["rows"]


def test_the_files_are_what_each_library_reads(ratings, tmp_path):
    recassay.split(ratings, tmp_path / "rb", form="recbole", protocol={"split": "user_time"})
    head = (tmp_path / "rb" / "rb.train.inter").read_text().splitlines()[0]
    assert head == "user_id:token\titem_id:token\trating:float\ttimestamp:float"
    recassay.split(ratings, tmp_path / "lk", form="lenskit", protocol=USER_TIME)
    assert {"user_id", "item_id"} <= set(pl.read_parquet_schema(tmp_path / "lk" / "train.parquet"))
    recassay.split(ratings, tmp_path / "tr", form="trec", protocol=USER_TIME)
    assert len((tmp_path / "tr" / "test.qrels").read_text().splitlines()[0].split()) == 4


def test_the_validation_file_holds_what_trains_the_final_model_and_judges_nothing(tmp_path):
    """c and z are new to validation: their events are trained on in the end, and judge nothing."""
    rows = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("a", "w"), ("b", "w"), ("c", "x"), ("b", "z"),
            ("a", "z"), ("c", "y")]  # fmt: skip
    text = "".join(f"{user},{item},{1_600_000_000 + 86_400 * day}\n" for day, (user, item) in enumerate(rows))
    (tmp_path / "log.csv").write_text("user,item,timestamp\n" + text)
    allowed = ["empty_valid", "empty_test"]
    protocol = {"split": "global_time", "filter": "none", "ratios": [0.6, 0.2, 0.2], "allow_leakage": allowed}
    exported = recassay.split(tmp_path / "log.csv", tmp_path / "out", protocol=protocol)
    assert {part: told["rows"] for part, told in exported.files.items()} == {"train": 6, "valid": 2, "test": 2}
    valid = pl.read_csv(tmp_path / "out" / "valid.csv")
    assert set(valid.select("user", "item").rows()) == {("c", "x"), ("b", "z")}
    assert exported.to_dict()["folder"] == str(tmp_path / "out")
    plain = exported_protocol(read_sidecar(tmp_path / "out"))
    back = open_split_folder(tmp_path / "out", plain, ReadSpec())
    assert (back.audit, back.fingerprint) == (exported.audit, exported.fingerprint)
    assert (len(back.valid), len(back.refit()), len(back.test)) == (0, 8, 2)
    assert exported.audit["split"] == "global_time"


def test_a_folder_comes_back_with_the_rule_of_its_repeats(tmp_path):
    rows = "".join(f"u{n % 4},i{n % 3},{1 + n % 2},{1_600_000_000 + 86_400 * n}\n" for n in range(40))
    (tmp_path / "log.csv").write_text("user,item,rating,timestamp\n" + rows)
    protocol = {"split": "user_time", "filter": "none", "task": "repeat"}
    recassay.split(tmp_path / "log.csv", tmp_path / "out", protocol=protocol, read={"repeated": "sum"})
    meta = read_sidecar(tmp_path / "out")
    assert meta["repeated"]["name"] == "sum"
    back = open_split_folder(tmp_path / "out", exported_protocol(meta), ReadSpec())
    assert (back.train.repeated.name, back.task) == ("sum", "repeat")


def test_a_file_that_was_changed_is_refused(ratings, tmp_path):
    made(ratings, tmp_path / "out")
    path = tmp_path / "out" / "test.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    with pytest.raises(RecAssayError, match=r"test.csv is not the file that was written"):
        recassay.evaluate(popular(tmp_path / "out", tmp_path / "l.csv"), split=tmp_path / "out")


@pytest.mark.slow
def test_lists_are_judged_on_their_split_and_refused_on_another(ratings, tmp_path, cli):
    """By a sidecar beside them, by one of their own name, by a column; another protocol or dataset refuses."""
    one, two = made(ratings, tmp_path / "one"), made(ratings, tmp_path / "two", ratios=(0.6, 0.2, 0.2))
    assert one.fingerprint != two.fingerprint
    beside = popular(tmp_path / "one", tmp_path / "lists" / "Pop.csv")
    (beside.parent / "split.json").write_text((tmp_path / "one" / "split.json").read_text())
    right = cli("evaluate", beside, "--split", tmp_path / "one", "--metrics", "recall@10", "--json")
    assert right.code == 0, right.err
    assert right.json()["split"]["fingerprint"] == one.fingerprint
    wrong = cli("evaluate", beside, "--split", tmp_path / "two", "--metrics", "recall@10")
    assert wrong.code == 2
    assert f"made for the split {one.fingerprint[:12]}" in wrong.err
    column = tmp_path / "column.csv"
    pl.read_csv(beside).with_columns(split=pl.lit(two.fingerprint)).write_csv(column)
    with pytest.raises(RecAssayError, match="another dataset, or another protocol"):
        recassay.evaluate(column, split=tmp_path / "one", metrics=["recall@10"])
    other = tmp_path / "books.csv"
    other.write_text(ratings.read_text().replace("u1,", "v1,"))
    made(other, tmp_path / "other")
    with pytest.raises(RecAssayError, match="another dataset, or another protocol"):
        recassay.evaluate(beside, split=tmp_path / "other", metrics=["recall@10"])
    bare = recassay.evaluate(popular(tmp_path / "one", tmp_path / "bare.csv"), split=tmp_path / "one")
    assert any("taken on trust" in note for note in bare.notes)


def test_recall_on_a_split_is_that_by_hand(ratings, tmp_path):
    made(ratings, tmp_path / "one")
    lists = popular(tmp_path / "one", tmp_path / "l.csv")
    found = recassay.evaluate(lists, split=tmp_path / "one", metrics=["recall@10", "precision@10"])
    test = pl.read_csv(tmp_path / "one" / "test.csv")
    best = set(pl.read_csv(lists).get_column("item").unique())
    by_user = test.group_by("user").agg(pl.col("item").is_in(sorted(best)).sum().alias("hits"), pl.len())
    assert found.result.mean()["recall@10"] == pytest.approx((by_user["hits"] / by_user["len"]).mean())
    assert found.result.mean()["precision@10"] == pytest.approx((by_user["hits"] / 10).mean())


def test_the_split_of_a_study_is_the_one_that_is_written(ratings, tmp_path, cli):
    study = tmp_path / "study.toml"
    study.write_text(
        f'[study]\nname = "s"\ndatasets = ["{ratings}"]\nalgorithms = ["MostPop"]\n'
        '[protocol]\npositive_threshold = 4\n[dataset.films]\nsplit = "random"\npositive_threshold = "none"\n'
        'final_fit = "train"\n'
    )
    written = recassay.split("films", tmp_path / "out", study=study)
    alone = recassay.split(ratings, tmp_path / "alone", protocol={"split": "random", "final_fit": "train"})
    assert written.fingerprint == alone.fingerprint
    assert written.final_fit == "train"
    assert recassay.split(str(ratings), tmp_path / "file", study=study).fingerprint == alone.fingerprint
    assert cli("split", "book", "--study", study, "--out", tmp_path / "x").code == 2
    again = cli("split", ratings, "--out", tmp_path / "out")
    assert again.code == 2
    assert "not empty" in again.err
    asked = ("--split", "random", "--final-fit", "train", "--replace", "--json")
    replaced = cli("split", ratings, "--out", tmp_path / "out", *asked).json()
    assert (replaced["fingerprint"], replaced["final_fit"]) == (alone.fingerprint, "train")


def test_a_damaged_sidecar_is_one_line(ratings, tmp_path):
    made(ratings, tmp_path / "out")
    (tmp_path / "out" / "split.json").write_text(json.dumps({"fingerprint": "short"}))
    with pytest.raises(RecAssayError, match="is damaged"):
        read_sidecar(tmp_path / "out")


@pytest.mark.parametrize("more", [{"protocol": {"split": "random"}}, {"read": {"repeated": "last"}}])
def test_a_study_says_how_its_datasets_are_read_and_split(tmp_path, more):
    with pytest.raises(
        recassay.UsageError, match="a study says how its datasets are read and split; leave the protocol out"
    ):
        recassay.split("films", tmp_path / "out", study=tmp_path / "study.toml", **more)
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_split_is_refused(tmp_path):
    (tmp_path / "study.toml").write_text('[study]\ndatasets = ["synthetic:few-items"]\nalgorithms = ["MostPop"]\n')
    with pytest.raises(recassay.UsageError, match="the study has no dataset 'few-item'; did you mean 'few-items'"):
        recassay.split("few-item", tmp_path / "out", study=tmp_path / "study.toml")
    with pytest.raises(recassay.UsageError, match="a given split is made already; choose another split"):
        recassay.split("synthetic:few-items", tmp_path / "out", protocol={"split": "given"})


def test_what_a_sidecar_must_hold(ratings, tmp_path):
    made(ratings, tmp_path / "out")
    path = tmp_path / "out" / "split.json"
    meta = json.loads(path.read_text())
    assert read_sidecar(tmp_path) is None
    for change in (
        {"fingerprint": "a" * 63},
        {"fingerprint": "A" * 64},
        {"protocol": []},
        {"files": []},
        {"audit": None},
        {"repeated": {"name": "sometimes", "levels": []}},
        {"repeated": {"name": meta["repeated"]["name"], "levels": ["high"]}},
        {"files": {part: meta["files"][part] for part in ("train", "valid")}},
        {"protocol": meta["protocol"] | {"task": "both"}},
    ):
        path.write_text(json.dumps(meta | change))
        with pytest.raises(RecAssayError, match=r"split\.json: is damaged; write the split again, or remove this file"):
            read_sidecar(tmp_path / "out")
    path.write_text(json.dumps(meta))
    assert read_sidecar(tmp_path / "out") == meta


@pytest.mark.parametrize(
    "more",
    [
        {"task": "repeat"},
        {"final_fit": "train"},
        {"filter": "once"},
        {"positive_threshold": 2.0},
        {"user_share": 0.5},
    ],
    ids=lambda more: next(iter(more)),
)
def test_a_protocol_that_adds_something_makes_a_split_of_its_own_which_is_audited(ratings, tmp_path, more):
    exported = made(ratings, tmp_path / "out")
    plain = exported_protocol(read_sidecar(tmp_path / "out"))
    assert open_split_folder(tmp_path / "out", plain, ReadSpec()).fingerprint == exported.fingerprint
    with pytest.raises(RecAssayError, match=r"the given split is refused: train_after_test|have no weights"):
        open_split_folder(tmp_path / "out", plain.model_copy(update=more), ReadSpec())


def test_a_threshold_makes_another_split_of_rated_files(ratings, tmp_path):
    exported = made(ratings, tmp_path / "out", positive_threshold=None, split="random", allow_leakage=list(FINDINGS))
    plain = exported_protocol(read_sidecar(tmp_path / "out")).model_copy(update={"allow_leakage": FINDINGS})
    same = open_split_folder(tmp_path / "out", plain, ReadSpec())
    assert same.fingerprint == exported.fingerprint
    assert same.train.weight is not None
    liked = open_split_folder(tmp_path / "out", plain.model_copy(update={"positive_threshold": 3.0}), ReadSpec())
    assert liked.fingerprint != exported.fingerprint
    assert len(liked.train) == int((same.train.weight >= 3).sum()) < len(same.train)


def test_what_is_in_the_way_and_what_a_format_cannot_say(ratings, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    for replaced, words in (
        (False, "the folder is not empty"),
        (True, "the folder holds no split, so it is not replaced"),
    ):
        with pytest.raises(RecAssayError, match=words):
            recassay.split(ratings, tmp_path / "out", protocol=USER_TIME, replace=replaced)
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"
    with pytest.raises(UsageError, match="the folder is not empty; choose another one"):
        recassay.split(ratings, tmp_path / "out" / "notes.txt", protocol=USER_TIME)
    text = ratings.read_text()
    for side, old, new in (("user", "u1,", "u 1,"), ("item", ",i1,", ",i 1,")):
        (tmp_path / "blank.csv").write_text(text.replace(old, new))
        with pytest.raises(RecAssayError, match=f"a {side} id has a blank in it, and TREC files are separated by"):
            recassay.split(tmp_path / "blank.csv", tmp_path / "trec", form="trec", protocol=USER_TIME)
        assert not (tmp_path / "trec").exists()
    recassay.split(ratings, tmp_path / "trec", form="trec", protocol=USER_TIME)
    first = (tmp_path / "trec" / "test.qrels").read_text().splitlines()[0].split(" ")
    assert (first[1], first[3], len(first)) == ("0", "1", 4)
    assert not (tmp_path / "trec" / "train.qrels").exists()
    assert (tmp_path / "trec" / "valid.qrels").is_file()
    recassay.split(ratings, tmp_path / "trec", form="parquet", protocol=USER_TIME, replace=True)
    files = {"split.json", "train.parquet", "valid.parquet", "test.parquet"}
    assert {file.name for file in (tmp_path / "trec").iterdir()} == files, "nothing of the split before is left"
    (tmp_path / "empty").mkdir()
    assert recassay.split(ratings, tmp_path / "empty", protocol=USER_TIME).files["train"]["file"] == "train.csv"


def test_a_given_split_is_a_folder():
    spec = DatasetSpec(reference="ml-100k", name="ml-100k")
    with pytest.raises(UsageError, match="split = 'given' takes a folder of parts, and 'ml-100k' is a dataset"):
        make_split(spec, ProtocolSpec.checked(split="given", filter="none"), ".")
