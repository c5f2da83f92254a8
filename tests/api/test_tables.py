"""Tables in and out of the verbs: which study, metric and characteristics are meant, and what is refused."""

from __future__ import annotations

import io
from types import SimpleNamespace

import polars as pl
import pytest

import recassay
from recassay.api import data, installation, tables
from recassay.api.publish.analyze import known_evidence
from recassay.core.errors import InputError, NotApplicableError, RecAssayError, UsageError
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
    LONG.filter(algorithm="A").with_columns(algorithm=pl.lit("C")).write_csv(tmp_path / "other.csv")
    assert tables.study_folder(recassay.load_results([study, tmp_path / "other.csv"])) is None
    mine = LONG.filter(algorithm="A").with_columns(algorithm=pl.lit("Mine"))
    assert tables.study_folder(recassay.load_results([study, mine])) is None
    assert tables.published_of(recassay.load_results("published:demsar")) is not None
    joined = recassay.load_results(["published:demsar", mine.with_columns(metric=pl.lit("auc"))])
    assert len(joined.sources) == 1, "a table in memory is not a file"
    assert tables.published_of(joined) is None, "not all of its numbers are published"
    again = [recassay.load_results(study)]
    assert tables.study_folder(again) is None, "loaded results in a list are joined"
    assert set(known_evidence(again, recassay.load_results(again), None)) == set(known_evidence(study, again[0], None))
    assert "users" in known_evidence(study, again[0], None)


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
    again = [recassay.load_results(study)]
    assert tables.known_characteristics(again, recassay.load_results(again), None) == ("of", study)
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
    assert known_evidence("published:kdd24", alone, None)["characteristics"]().datasets
    assert known_evidence("published:demsar", recassay.load_results("published:demsar"), None).keys() == {"groups"}
    LONG.write_csv(tmp_path / "other.csv")
    both = recassay.load_results(["published:kdd24", tmp_path / "other.csv"])
    assert tables.published_of(both) is tables.own_characteristics(both) is None, "not alone"


def test_a_table_as_a_file():
    frame = pl.DataFrame({"a": ["x,y"], "b": [1]})
    assert tables.table_bytes(frame, ".csv") == b'a,b\n"x,y",1\n'
    assert tables.table_bytes(frame, ".tsv") == b"a\tb\nx,y\t1\n"
    for ending in (".parquet", ".pq"):
        assert pl.read_parquet(io.BytesIO(tables.table_bytes(frame, ending))).equals(frame)


def test_an_imported_table_is_written_as_its_ending_says(tmp_path):
    recassay.import_results(LONG, out=tmp_path / "out.Parquet")
    assert pl.read_parquet(tmp_path / "out.Parquet")["value"].to_list() == [1.0, 2.0, 3.0, 4.0]
    for ending, separator in ((".CSV", ","), (".tsv", "\t"), (".TSV", "\t")):
        recassay.import_results(LONG, out=tmp_path / f"out{ending}")
        written = pl.read_csv(tmp_path / f"out{ending}", separator=separator)
        assert written["value"].to_list() == [1.0, 2.0, 3.0, 4.0]
    for name, words in (("out.xlsx", ".xlsx"), ("out", "a file without an ending")):
        with pytest.raises(UsageError, match=f"cannot write {words}; name a file that ends in .parquet, .csv, .tsv"):
            recassay.import_results(LONG, out=tmp_path / name)


def record(name, algorithm, *, fold=None, status="done", **spec):
    metrics = {"ndcg@10": 0.5, "coverage@10": 0.25} if status == "done" else {}
    return CellRecord(name, algorithm, "d", 3, fold, spec, status, metrics=metrics)


def test_every_number_of_a_study_down_to_its_users(tmp_path):
    """Coverage has no value for a user; a cell that failed has none at all."""
    labels = ["ndcg@10", "coverage@10"]
    folds = write_records(
        tmp_path / "folds",
        labels,
        [record("a", "A", fold=0), record("b", "A", fold=1), record("c", "B", status="failed")],
    )
    wanted = recassay.results(folds, ["nDCG@10"])
    assert set(wanted["metric"]) == {"ndcg@10"}
    assert wanted["value"].to_list() == [0.5, 0.5, None]
    row = {"algorithm": "A", "dataset": "d", "metric": "ndcg@10", "user": "u1", "value": 0.5, "seed": 3}
    assert recassay.results(folds, per_user=True).to_dicts() == [row | {"fold": 0}, row | {"fold": 1}]
    with pytest.raises(NotApplicableError, match=r"coverage@10: no value for each user"):
        recassay.results(folds, ["coverage@10"], per_user=True)
    assert recassay.results(folds, labels, per_user=True).height == 2
    mixed = write_records(tmp_path / "mixed", labels, [record("a", "A", fold=0), record("b", "B")])
    assert recassay.results(mixed, per_user=True)["fold"].to_list() == [0, None]
    once = write_records(tmp_path / "once", labels, [record("a", "A")])
    assert recassay.results(once, per_user=True).to_dicts() == [row], "no fold where there are none"
    classified = write_records(tmp_path / "classified", labels, [record("a", "A", classifier="SVM")])
    with pytest.raises(InputError, match="the study keeps no scores of users; run a study of recommenders"):
        recassay.results(classified, per_user=True)


def test_every_dataset_is_listed_once_as_it_can_be_had(monkeypatch):
    entry = {"domain": "Films", "threshold": None, "licence": "CC0", "home": "http://x", "tried": False,
             "md5": None, "sha256": None}  # fmt: skip
    catalogue = [
        SimpleNamespace(name="open", title="Open", addresses=("http://x",), how=None, convert=None, **entry),
        SimpleNamespace(name="packed", title="Packed", addresses=("http://x",), how=None, convert="unpack it", **entry),
        SimpleNamespace(name="asked", title="Asked", addresses=(), how="ask for it", convert=None, **entry),
        SimpleNamespace(name="mine", title="Mine", addresses=("http://x",), how=None, convert=None, **entry),
    ]
    stored = SimpleNamespace(name="mine", interactions=3, users=2, items=1, time_unit=None, licence=None, note=None,
                             source="mine.csv")  # fmt: skip
    monkeypatch.setattr(data, "all_datasets", lambda: catalogue)
    monkeypatch.setattr(data, "list_datasets", lambda: [stored])
    monkeypatch.setattr(data, "SUMMARIES", {"small": "A small one."})
    own = {"name": "mine", "kind": "stored", "interactions": 3, "users": 2, "items": 1, "time": "none", "licence": "",
           "what": "mine.csv"}  # fmt: skip
    assert recassay.list_data() == [own]
    first, embedded, *others = recassay.list_data(everything=True)
    assert (first, embedded) == (own, {"name": "synthetic:small", "kind": "embedded", "what": "A small one."})
    assert [(row["name"], row["kind"], row["how"]) for row in others] == [
        ("open", "fetch", None), ("packed", "by hand", "unpack it"), ("asked", "by hand", "ask for it"),
    ]  # fmt: skip
    stored.note, stored.licence, stored.time_unit = "A note.", "CC0", "seconds"
    assert recassay.list_data() == [own | {"what": "A note.", "licence": "CC0", "time": "seconds"}]


def test_an_installation_is_looked_at_part_by_part(monkeypatch):
    def twice():
        raise RecAssayError("two packages announce one name")

    required = ["polars>=1.0", "numpy==2", "click[all]>=8", "torch>2; extra == 'neural'"]
    monkeypatch.setattr(installation.metadata, "requires", lambda name: required)
    monkeypatch.setattr(installation.metadata, "version", lambda name: f"version of {name}")
    monkeypatch.setattr(installation.os, "sysconf", {"SC_PHYS_PAGES": 1_000_000, "SC_PAGE_SIZE": 4096}.get)
    monkeypatch.setattr(installation.importlib.util, "find_spec", {"torch": "there"}.get)
    known = [SimpleNamespace(loadable=lambda: ({}, {"x": "x cannot be loaded"})), SimpleNamespace(loadable=twice)]
    monkeypatch.setattr(installation.registry, "REGISTRIES", known)
    health = recassay.doctor()
    assert health["dependencies"] == {name: f"version of {name}" for name in ("polars", "numpy", "click")}
    assert [extra for extra, there in health["extras"].items() if there] == ["neural"]
    assert health["memory_gb"] == 4.1
    assert health["problems"] == ["x cannot be loaded", "two packages announce one name"]


def test_a_dataset_in_memory_is_called_by_its_kind():
    events = pl.DataFrame({"user": ["a", "a", "b"], "item": ["x", "y", "x"]})
    described = recassay.describe_data(events)
    assert described.name == "DataFrame"
    assert described.to_dict().keys() == {"dataset", "characteristics", "reading", "overview", "trial"}
    assert (described.characteristics["Nu"], described.characteristics["Nr"]) == (2, 3)


@pytest.mark.parametrize(
    ("metrics", "meant"),
    [
        (["ndcg@5", "ndcg@10", "accuracy"], "ndcg@10"),
        (["ndcg@20", "recall@20", "accuracy"], "ndcg@20"),
        (["ndcg@5", "ndcg@20", "accuracy"], "accuracy"),
        (["recall@5"], "recall@5"),
    ],
)
def test_the_metric_that_is_meant_where_none_is_named(metrics, meant):
    table = pl.concat([LONG.with_columns(metric=pl.lit(metric)) for metric in metrics])
    assert tables.default_metric(recassay.load_results(table)) == meant


def test_a_study_gives_the_scores_of_its_users(study, monkeypatch):
    heard = []
    monkeypatch.setattr("recassay.api.model.fit_model", lambda table, metric, **more: heard.append((metric, more)))
    recassay.model(study, within=0.1)
    recassay.model(LONG, families="auto")
    assert [metric for metric, _ in heard] == ["ndcg@10", "ndcg@10"]
    assert [callable(more.pop("users")) for _, more in heard] == [True, False]
    usual = {"within": 0.02, "families": None, "higher_is_better": None, "confidence": 0.95, "seed": 0}
    assert [more for _, more in heard] == [usual | {"within": 0.1}, usual | {"families": "auto"}]
