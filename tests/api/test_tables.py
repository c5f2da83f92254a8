"""Tables in and out of the verbs: which study, metric and characteristics are meant, and what is refused."""

from __future__ import annotations

import io

import polars as pl
import pytest

import recassay
from recassay.api import tables
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.tables.results import Results
from recassay.store import CellRecord
from support.stores import write_records

LONG = pl.DataFrame(
    {"algorithm": ["A", "A", "B", "B"], "dataset": ["d", "e"] * 2, "metric": ["ndcg@10"] * 4, "value": [1.0, 2, 3, 4]}
)


@pytest.fixture
def study(tmp_path):
    records = [
        CellRecord(f"{name}{place}", name, place, 1, None, {}, "done", metrics={"ndcg@10": 0.5})
        for name in "AB"
        for place in ("d", "e")
    ]
    return write_records(tmp_path / "study", ["ndcg@10"], records)


def test_the_folder_of_a_study_alone_or_in_a_list_of_one(study, tmp_path):
    assert tables.study_folder(study) == tables.study_folder(str(study)) == tables.study_folder([study]) == study
    assert tables.study_folder(recassay.load_results(study)) == study
    assert tables.study_folder([study, study]) is None
    assert tables.study_folder(tmp_path) is None
    assert tables.study_folder(LONG) is None


def test_what_says_its_datasets_itself_is_told_no_dataset(study):
    for place in (study, "published:demsar"):
        with pytest.raises(UsageError, match="names its datasets itself, so `dataset` has no effect; leave it out"):
            recassay.load_results(place, dataset="mine")
    with pytest.raises(UsageError, match="the name of the dataset is empty"):
        recassay.load_results(LONG, dataset=" ")
    with pytest.raises(UsageError, match="no results were given; name at least one file"):
        recassay.load_results([])


def test_results_pass_as_they_are_and_join_others(study):
    loaded = recassay.load_results(LONG)
    assert recassay.load_results(loaded) is loaded
    assert isinstance(recassay.load_results(study), Results)
    other = LONG.with_columns(algorithm=pl.col("algorithm") + "2")
    joined = recassay.load_results([loaded, other])
    assert joined.algorithms == ["A", "A2", "B", "B2"]
    with_study = recassay.load_results([study, other])
    assert with_study.table("ndcg@10")[0].tolist() == [0.5, 0.5]
    assert {"d", "voting"} < set(recassay.load_results(["published:demsar", other]).datasets)


def test_characteristics_are_given_published_of_the_study_or_not_known(study, monkeypatch):
    given = pl.DataFrame({"dataset": ["d", "e"], "Nu": [1.0, 2.0]})
    loaded = recassay.load_results(LONG)
    assert tables.known_characteristics(LONG, loaded, given).datasets == ("d", "e")
    assert tables.known_characteristics(LONG, loaded, None) is None
    kdd = recassay.load_results("published:kdd24")
    assert len(tables.known_characteristics("published:kdd24", kdd, None).datasets) == len(kdd.datasets)
    monkeypatch.setattr(tables, "study_characteristics", lambda folder: ("of", folder))
    assert tables.known_characteristics(study, recassay.load_results(study), None) == ("of", study)
    assert recassay.load_characteristics(study) == ("of", study)

    def refuses(folder):
        raise NotApplicableError("classifiers")

    monkeypatch.setattr(tables, "study_characteristics", refuses)
    assert tables.known_characteristics(study, recassay.load_results(study), None) is None
    with pytest.raises(UsageError, match="a results table does not say what its datasets are like"):
        recassay.clusters(LONG, "ndcg@10")


def test_the_published_table_behind_results(tmp_path):
    alone = recassay.load_results("published:kdd24")
    assert tables.published_of(alone).name == "kdd24"
    assert tables.published_of(recassay.load_results(LONG)) is None
    assert tables.own_characteristics(recassay.load_results("published:demsar")) is None


def test_a_table_as_a_file():
    frame = pl.DataFrame({"a": ["x,y"], "b": [1]})
    assert tables.table_bytes(frame, ".csv") == b'a,b\n"x,y",1\n'
    assert tables.table_bytes(frame, ".tsv") == b"a\tb\nx,y\t1\n"
    for ending in (".parquet", ".pq"):
        assert pl.read_parquet(io.BytesIO(tables.table_bytes(frame, ending))).equals(frame)


def test_an_imported_table_is_written_as_its_ending_says(tmp_path):
    for ending, separator in ((".CSV", ","), (".tsv", "\t")):
        recassay.import_results(LONG, out=tmp_path / f"out{ending}")
        written = pl.read_csv(tmp_path / f"out{ending}", separator=separator)
        assert written["value"].to_list() == [1.0, 2.0, 3.0, 4.0]
    for name, words in (("out.xlsx", ".xlsx"), ("out", "a file without an ending")):
        with pytest.raises(UsageError, match=f"cannot write {words}; name a file that ends in .parquet, .csv, .tsv"):
            recassay.import_results(LONG, out=tmp_path / name)
