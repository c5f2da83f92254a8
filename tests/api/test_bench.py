"""The shipped benchmark: export from studies, reading it back, and one's own algorithm among the baselines."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from shipping import export_benchmark

import recassay
from recassay.analysis.bench.result import BenchResult
from recassay.api.study import bench as verb
from recassay.api.study.bench import _notes, _paired
from recassay.core.errors import InputError, RecAssayError, UsageError
from recassay.data.published.benchmark import (
    RESULTS,
    BenchmarkDataset,
    compressed_csv,
    open_benchmark,
    packed,
    rounded,
    sampled_users,
    unpacked,
)
from recassay.recommenders import bench
from recassay.reporting.words.bench import plan_lines
from recassay.store import CellRecord
from recassay.store.store import Store
from support.in_process import without_processes
from support.stores import write_records

DATASETS = ["synthetic:dense-small", "synthetic:long-tail"]
OWN = '''
import numpy as np


class Mine:
    """Pairs of items that are seen together."""

    def fit(self, train):
        self.seen = train.csr()
        self.pairs = (self.seen.T @ self.seen).toarray()

    def score(self, users):
        return self.seen[users] @ self.pairs
'''


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """A study of four cheap algorithms, exported."""
    folder = tmp_path_factory.mktemp("bench")
    spec = recassay.make_study(
        DATASETS, ["MostPop", "Random", "ItemKNN", "EASE"], metrics=["ndcg@10", "recall@10"], trials=1, seed=[1, 2]
    )
    with without_processes():
        recassay.run(spec, folder / "study", workers=2)
    about = {"dense-small": {"family": "made", "licence": "none", "source": "a preset"}}
    excluded = {"Random": {"long-tail": "not counted"}}
    export_benchmark([folder / "study"], folder / "excluding", excluded=excluded, notes=["One seed."])
    sizes = export_benchmark([folder / "study"], folder / "shipped", about=about, reasons={"SLIM": "too slow"})
    assert set(sizes) == {
        "benchmark.json", "results.csv.gz", "cells.csv.gz", "users.parquet", "characteristics.csv.gz"
    }  # fmt: skip
    (folder / "mine.py").write_text(OWN)
    return folder


@pytest.mark.slow
def test_what_is_shipped_is_what_the_study_found(shipped):
    benchmark = open_benchmark(shipped / "shipped")
    with Store.open(shipped / "study") as store:
        cells, results = store.cells(), store.results()
        kept = {cell.id: store.per_user(cell.id) for cell in cells}
    values = pl.read_csv(shipped / "shipped" / "results.csv.gz")
    both = values.join(
        results.frame.with_columns(pl.col("seed").cast(pl.Int64)), on=["algorithm", "dataset", "metric", "seed"]
    )
    assert both.height == values.height == len(cells) * 6
    assert np.allclose(both["value"], both["value_right"], rtol=1e-5)
    assert benchmark.seeds == (1, 2)
    assert {one["reason"] for one in benchmark.not_run} == {"too slow"}
    assert {name: one.judged for name, one in benchmark.datasets.items()} == {
        cell.dataset: kept[cell.id].height for cell in cells
    }
    assert all(len(one.split) == 64 for one in benchmark.datasets.values())
    assert [one.family for one in benchmark.datasets.values()] == ["made", "other"]
    first = next(cell for cell in cells if cell.algorithm == "EASE")
    mean = kept[first.id]["ndcg@10"].mean()
    assert np.nanmean(benchmark.scores_of(first.dataset)["EASE"]) == pytest.approx(mean, abs=0.02)
    assert json.loads(benchmark.cells().filter(pl.col("algorithm") == "EASE")["parameters"][0]).keys() == {"reg"}
    assert str(shipped) not in (shipped / "shipped" / "benchmark.json").read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("in_process")
def test_only_the_own_algorithm_runs_and_is_placed_among_the_baselines(shipped, monkeypatch):
    monkeypatch.chdir(shipped)
    result = recassay.bench("mine.py:Mine", benchmark="shipped", fetch=False, workers=2, seeds=2)
    assert {row.dataset for row in result.rows} == {"dense-small", "long-tail"}
    assert len(result.judgement.algorithms) == 5
    assert result.judgement.control == "Mine"
    assert result.notes == ("Nothing was tuned: the algorithm states no `space`, while the baselines were tuned.",)
    assert all(row.users and row.low <= row.difference <= row.high for row in result.rows)
    with Store.open(shipped / "bench-Mine") as store:
        assert {cell.algorithm for cell in store.cells()} == {"Mine"}
        assert {cell.seed for cell in store.cells()} == {1, 2}
        assert result.seconds == pytest.approx(sum(cell.seconds for cell in store.cells()))
        own = {cell.dataset: cell.metrics["ndcg@10"] for cell in store.cells()}
    assert {row.dataset: row.value for row in result.rows} == pytest.approx(own, rel=1e-5)
    assert (result.of_datasets, result.folder, result.skipped) == (2, "bench-Mine", {})
    again = recassay.bench("mine.py:Mine", benchmark="shipped", fetch=False, workers=1, datasets=["long-tail"])
    assert again.skipped == {"dense-small": "not asked for"}
    assert "on 1 of the 2 datasets" in again.headline()
    # A baseline placed among the baselines is as good as itself.
    same = recassay.bench("EASE", benchmark="shipped", fetch=False, workers=2)
    pair = same.judgement.pair("EASE (yours)", "EASE")
    assert pair.ties == 2
    assert all(row.difference == pytest.approx(0, abs=0.003) for row in same.rows if row.best == "EASE")
    assert same.notes == ("1 of the benchmark's 2 seeds was run.",)


@pytest.mark.slow
def test_one_page_says_where_the_algorithm_stands(shipped, monkeypatch, cli):
    monkeypatch.chdir(shipped)
    ran = cli("bench", "mine.py:Mine", "--benchmark", "shipped", "--no-fetch", "--out", "page.html")
    assert ran.code == 0, ran.err
    page = (shipped / "page.html").read_text()
    headline = ran.out.partition("\n")[0]
    assert "Mine is number" in headline
    assert f'class="headline">{headline}' in page.replace("\u00a0", " ")
    assert "Mine among the baselines of published:open" in page
    assert 'class="grade"' not in page.partition("</section>")[0]
    assert "Dataset by dataset, with the test over users" in page
    data = json.loads(re.search(r'id="board-data"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    assert data["algorithms"][data["about"]]["name"] == "Mine"
    assert page.count(' control" data-name="Mine">') == 1
    assert str(shipped) not in page


@pytest.mark.slow
def test_an_algorithm_that_cannot_run_is_refused_before_any_dataset_is_looked_for(shipped, monkeypatch):
    monkeypatch.chdir(shipped)
    (shipped / "broken.py").write_text(OWN.replace("return self.seen[users] @ self.pairs", "return 'nothing'"))
    looked = []
    wrong = {
        "nothere.py:Mine": "no such file",
        "mine.py:Other": "Other",
        "broken.py:Mine": r"answers with scores of type <U7",
    }
    for reference, words in wrong.items():
        with pytest.raises(RecAssayError, match=words):
            recassay.bench(reference, benchmark="shipped", fetch=False, told=looked.append)
    with pytest.raises(UsageError, match="nowhere: this folder does not exist; name the folder of the datasets' files"):
        recassay.bench("mine.py:Mine", benchmark="shipped", fetch=False, told=looked.append, data="nowhere")
    assert looked == []


def test_where_a_dataset_of_the_benchmark_is_found(tmp_path, monkeypatch):
    asked = BenchmarkDataset("films", "u.data", {}, {}, "f" * 64, 3)
    monkeypatch.setattr(bench, "list_datasets", lambda: [SimpleNamespace(name="stored")])
    monkeypatch.setattr(bench, "all_datasets", lambda: [
        SimpleNamespace(names=("far", "other"), addresses=("https://a/b",)),
        SimpleNamespace(names=("films",), addresses=()),
    ])  # fmt: skip

    def found(data=tmp_path, fetch=False, **changed):
        located, skipped = bench.locate([replace(asked, **changed)], data, fetch=fetch)
        return (located[0].kind, located[0].reference) if located else skipped

    assert found(reference="synthetic:few-items") == ("embedded", "synthetic:few-items")
    assert found() == found(fetch=True) == {"films": "not found here"}, "it has no address"
    assert found(name="far") == {"far": "not found here"}
    assert found(name="far", data=None, fetch=True) == ("download", "far")
    assert found(name="stored", fetch=True) == ("stored", "stored")
    (tmp_path / "films.csv").write_text("")
    assert found() == ("folder", str((tmp_path / "films.csv").resolve()))
    (tmp_path / "u.data").write_text("")
    assert found() == ("folder", str((tmp_path / "u.data").resolve()))
    monkeypatch.chdir(tmp_path.parent)
    assert found(data=Path(tmp_path.name)) == ("folder", str((tmp_path / "u.data").resolve()))


def test_where_datasets_come_from_is_said_first_and_in_few_lines():
    sources = [("a", "folder"), ("b", "stored"), ("c", "folder"), ("d", "download"), ("e", "embedded")]
    assert plan_lines("Mine", "board", sources, {"f": "not found here", "g": "not found here"}, "films") == [
        "Mine on 5 of 7 datasets of board; nothing has run yet.",
        "Embedded (1): e.",
        "From films (2): a, c.",
        "Stored (1): b.",
        "To be downloaded (1): d.",
        "Skipped (2), not found here: f, g.",
    ]
    more = plan_lines("Mine", "board", [], {"f": "not found here"}, "")
    assert more[-1].startswith("Name the folder of their files as `data`")


def test_only_datasets_with_the_split_of_the_benchmark_are_used(tmp_path, monkeypatch):
    made = {"a": "f" * 64, "b": "0" * 64}

    def prepare(folder, split, spec, base):
        if spec.name in ("c", "d"):
            raise InputError("is empty", where=f"{spec.name}.csv")
        return SimpleNamespace(fingerprint=made.get(spec.name) or str(split.protocol.fold) * 64)

    monkeypatch.setattr(bench, "prepare_split", prepare)
    study = recassay.make_study(["synthetic:few-items"], ["EASE"], trials=0)
    wanted = [
        BenchmarkDataset(name, "synthetic:few-items", {"time": "ignore"}, {"split": "random"}, "f" * 64, 3)
        for name in "abcd"
    ]
    rolling = {"split": "rolling", "folds": 2, "fold": 1}
    wanted.append(BenchmarkDataset("e", "", {}, rolling, "1" * 64, 3, windows=("0" * 64, "1" * 64)))
    wanted.append(BenchmarkDataset("f", "", {}, rolling, "1" * 64, 3, windows=("1" * 64, "0" * 64)))
    kinds = dict.fromkeys("abcef", "embedded") | {"d": "download"}
    located = [bench.Located(one, kinds[one.name], "synthetic:few-items") for one in wanted]
    told, fetched = [], []
    found, skipped = bench.with_datasets(study, located, tmp_path, fetched.append, told.append)
    assert (told, fetched) == (list("abcdef"), ["d"])
    dataset, windows = found.datasets
    assert (windows.name, windows.folds, dataset.folds) == ("e", (0, 1), None)
    assert (dataset.name, dataset.reference, dataset.read.time) == ("a", "synthetic:few-items", "ignore")
    assert dataset.protocol["split"] == "random"
    assert skipped == {
        "b": "its split 00000000 is not the benchmark's ffffffff: other data", "c": "c.csv: is empty",
        "d": "cannot be downloaded: d.csv: is empty",
        "f": "its split 00000000 is not the benchmark's 11111111: other data",
    }  # fmt: skip


def test_an_algorithm_with_settings_comes_from_a_file(tmp_path, monkeypatch):
    rules = SimpleNamespace(
        seeds=(5, 6, 7),
        metrics=("ndcg@10",),
        tuning={"trials": 7},
        budget={"memory_gb": 3.0},
        datasets={"a": 1, "b": 2},
    )
    (tmp_path / "my.py").write_text(OWN)
    (tmp_path / "one.toml").write_text('[study]\nalgorithms = ["my.py:Mine"]\n[algorithm.Mine]\ndepth = 3\n')
    checked = []
    monkeypatch.setattr(bench, "checked_plan", lambda spec, folder: checked.append(folder))
    spec = bench.one_algorithm_study(rules, str(tmp_path / "one.toml"), 2)
    assert (spec.algorithms[0].reference, spec.base) == ("./my.py:Mine", str(tmp_path))
    assert spec.algorithms[0].settings == {"depth": 3}
    assert (spec.name, spec.seeds, spec.datasets, spec.metrics) == ("bench-Mine", (5, 6), (), ("ndcg@10",))
    assert (spec.tuning.trials, spec.budget.memory_gb) == (7, 3.0)
    assert checked == [tmp_path / "bench-Mine"]
    placed = f"{tmp_path / 'my.py'}:Mine"
    assert bench.one_algorithm_study(rules, placed, 1).algorithms[0].reference == placed
    (tmp_path / "two.toml").write_text('[study]\nalgorithms = ["EASE", "ALS"]\n')
    with pytest.raises(UsageError, match=r"two\.toml: names 2 algorithms; name one"):
        bench.one_algorithm_study(rules, str(tmp_path / "two.toml"), 2)
    assert bench.chosen_datasets(rules, None) == [1, 2]
    assert bench.chosen_datasets(rules, ["b"]) == [2]
    with pytest.raises(UsageError, match="the benchmark has no dataset 'c'"):
        bench.chosen_datasets(rules, ["c"])


@pytest.mark.parametrize(
    ("named", "reference"),
    [
        ("my.py:My", "./my.py:My"),
        ("models/my.py:My", "models/my.py:My"),
        (r"C:\models\my.py:My", r"C:\models\my.py:My"),
        ("EASE", "EASE"),
    ],
)
def test_a_file_beside_us_needs_no_folder_before_its_name(named, reference, monkeypatch):
    asked = []

    def study_of(tables, **_):
        asked.extend(tables["study"]["algorithms"])
        raise UsageError("enough")

    monkeypatch.setattr(bench, "study_of", study_of)
    with pytest.raises(UsageError, match="enough"):
        bench.one_algorithm_study(None, named, 1)
    assert asked == [reference]


@pytest.mark.slow
def test_excluded_cells_do_not_count_and_baselines_with_gaps_are_named(shipped, monkeypatch):
    monkeypatch.chdir(shipped)
    benchmark = open_benchmark("excluding")
    assert [tuple(one.values()) for one in benchmark.not_run] == [("Random", "long-tail", "not counted")]
    assert benchmark.notes == ("One seed.",)
    result = recassay.bench("mine.py:Mine", benchmark="excluding", fetch=False, workers=2)
    assert result.left_out == {"Random": "1 of 2 datasets were not run"}
    assert "Random" not in result.judgement.algorithms


@pytest.mark.slow
def test_other_data_are_skipped_by_name(shipped, monkeypatch):
    monkeypatch.chdir(shipped)
    told = json.loads((shipped / "shipped" / "benchmark.json").read_text())
    told["datasets"]["dense-small"]["split"] = "0" * 64
    told["datasets"]["long-tail"]["reference"] = "nowhere.csv"
    other = shipped / "other"
    other.mkdir(exist_ok=True)
    (other / "benchmark.json").write_text(json.dumps(told))
    with pytest.raises(InputError, match=r"none of the benchmark's.*not found here; .*is not the benchmark's 00000000"):
        recassay.bench("MostPop", benchmark="other", fetch=False)
    with pytest.raises(UsageError, match="has no dataset 'long-tale'; did you mean"):
        recassay.bench("MostPop", benchmark="shipped", datasets=["long-tale"])
    with pytest.raises(InputError, match="no benchmark in this folder"):
        recassay.bench("MostPop", benchmark=str(shipped / "study"))


def test_values_of_users_survive_their_packing():
    values = np.array([0.0, 1.0, 0.5, np.nan, 0.3871])
    assert np.allclose(unpacked(packed(values)), values, atol=0.5 / 250, equal_nan=True)
    chosen = sampled_users("films", 5_000)
    assert len(chosen) == 1_000
    assert (np.diff(chosen) > 0).all()
    assert (chosen == sampled_users("films", 5_000)).all()
    assert (sampled_users("films", 7) == np.arange(7)).all()
    assert (sampled_users("films", 1_000) == np.arange(1_000)).all()
    assert len(sampled_users("films", 1_001)) == 1_000
    # The shipped values stand for these users.
    assert chosen[:8].tolist() == [0, 12, 15, 17, 23, 24, 31, 40]
    assert sampled_users("books", 5_000).tolist() != chosen.tolist()


def test_values_of_users_are_bytes_of_steps_of_one_in_250():
    values = np.array([0.0, 1.0, 0.5, np.nan, 0.003, 0.0018, -0.2, 1.7, np.inf])
    assert list(packed(values)) == [0, 250, 125, 255, 1, 0, 0, 250, 255]
    assert np.array_equal(unpacked(bytes([0, 1, 125, 250, 255])), [0, 0.004, 0.5, 1, np.nan], equal_nan=True)
    numbers = [1234567.8, 0.123456789, -2e-9, float("nan"), float("inf"), None]
    assert [rounded(number) for number in numbers] == [1234570.0, 0.123457, -2e-9, None, None, None]
    table = compressed_csv(pl.DataFrame({"a": [1, 2], "b": ["x", None]}))
    assert (gzip.decompress(table), table[4:8]) == (b"a,b\n1,x\n2,\n", bytes(4))


def test_users_are_paired_where_they_are_the_same():
    shipped = SimpleNamespace(
        datasets={"films": SimpleNamespace(judged=4)},
        scores_of=lambda dataset: {"EASE": np.array([0.1, np.nan, 0.3, 0.4]), "ALS": np.array([0.5, 0.6, 0.7, 0.8])},
    )
    own = [[np.array([0.0, 0.0, 1.0, np.nan])], [np.array([1.0, 0.0]), np.array([0.0, 1.0])]]  # in two windows
    both = _paired(shipped, "films", "Mine", own)
    assert (both.dataset, both.algorithms, both.left_out) == ("films", ("EASE", "ALS", "Mine"), 2)
    np.testing.assert_allclose(both.values, [[0.1, 0.3], [0.5, 0.7], [0.5, 0.5]])  # the means over two seeds
    assert _paired(shipped, "films", "Mine", []) is None
    for count in (3, 5):
        assert _paired(shipped, "films", "Mine", [*own, [np.zeros(count)]]) is None, "other users"
    shipped.scores_of = lambda dataset: {}
    assert _paired(shipped, "films", "Mine", own) is None


def test_what_the_algorithm_was_spared_is_noted():
    tuned = SimpleNamespace(seed=1, validation=0.5)
    untuned = SimpleNamespace(seed=1, validation=None)
    three = SimpleNamespace(seeds=(1, 2, 3), tuning={"trials": 40})
    assert tuple(_notes(three, [tuned])) == ("1 of the benchmark's 3 seeds was run.",)
    assert tuple(_notes(three, [tuned, SimpleNamespace(seed=2, validation=None)])) == (
        "2 of the benchmark's 3 seeds were run.",
    )
    assert tuple(_notes(SimpleNamespace(seeds=(1,), tuning={"trials": 40}), [untuned])) == (
        "Nothing was tuned: the algorithm states no `space`, while the baselines were tuned.",
    )
    assert tuple(_notes(SimpleNamespace(seeds=(1,), tuning={"trials": 0}), [untuned])) == ()


@pytest.mark.slow
def test_failed_cells_of_the_own_algorithm_are_run_again(shipped, monkeypatch):
    class Ran(Exception):
        pass

    def run(study, place, **more):
        given.update(more)
        raise Ran

    given, fetching, find = {}, [], verb.locate
    monkeypatch.setattr(verb, "locate", lambda *asked, fetch: fetching.append(fetch) or find(*asked, fetch=fetch))
    monkeypatch.setattr("recassay.api.study.bench.run_study", run)
    monkeypatch.chdir(shipped)
    with pytest.raises(Ran):
        recassay.bench("mine.py:Mine", benchmark="shipped", fetch=False, workers=2, progress=None)
    assert given == {"workers": 2, "progress": None, "retry_failed": True}
    with pytest.raises(Ran):
        recassay.bench("mine.py:Mine", benchmark="shipped", workers=2)
    assert fetching == [False, True]


def test_users_of_a_cell_stand_in_their_order():
    frames = {"a": pl.DataFrame({"user": ["u2", "u1", "u3"], "ndcg@10": [0.2, 0.1, None]}),
              "b": pl.DataFrame({"user": ["u1"], "recall@10": [0.5]})}  # fmt: skip
    done = [SimpleNamespace(id="a", dataset="films", seed=1, fold=None),
            SimpleNamespace(id="b", dataset="films", seed=2, fold=None),
            SimpleNamespace(id="c", dataset="songs", seed=1, fold=None)]  # fmt: skip
    ((values,),) = verb._scores(SimpleNamespace(per_user=frames.get), done, "films")
    np.testing.assert_equal(values, [0.1, 0.2, np.nan])
    frames["b"] = pl.DataFrame({"user": ["u1"], "ndcg@10": [0.5]})
    windows = [SimpleNamespace(id=name, dataset="films", seed=1, fold=fold) for name, fold in (("b", 1), ("a", 0))]
    ((first, second),) = verb._scores(SimpleNamespace(per_user=frames.get), windows, "films")
    assert (len(first), second.tolist()) == (3, [0.5])


def placed(folder, monkeypatch, own, baselines, skipped):
    """What is placed among baselines (algorithm, dataset, value); own cells are (dataset, value, joules)."""
    records = [
        CellRecord(f"c{n}", "Mine", dataset, 1, None, {}, "failed" if value is None else "done", seconds=2.0,
                   reason=None if value else "no luck", metrics={} if value is None else {"ndcg@10": value},
                   energy=None if joules is None else {"joules": joules})
        for n, (dataset, value, joules) in enumerate(own)
    ]  # fmt: skip
    rows = [(*row[:2], "ndcg@10", row[2], 1) for row in baselines]
    columns = ["algorithm", "dataset", "metric", "value", "seed"]
    folder.mkdir()
    pl.DataFrame(rows, schema=columns, orient="row").write_csv(folder / RESULTS.removesuffix(".gz"))
    with gzip.open(folder / RESULTS, "wb") as file:
        file.write((folder / RESULTS.removesuffix(".gz")).read_bytes())
    shipped = SimpleNamespace(
        name="open", folder=folder, seeds=(1,), tuning={}, scores_of=lambda dataset: {},
        datasets={dataset: SimpleNamespace(judged=1) for dataset, _, _ in own},
    )  # fmt: skip
    heard = {}

    def place(matrix, name, users, **more):
        heard.update(more, matrix=matrix, name=name)
        return BenchResult(name, more["benchmark"], None, (), more["of_datasets"])

    monkeypatch.setattr(verb, "place_algorithm", place)
    made = verb._placed(shipped, write_records(folder / "study", ["ndcg@10"], records), "Mine", "ndcg@10", skipped, 7)
    return {part.name: getattr(made, part.name) for part in fields(made)} | heard


ALL = [(name, dataset, 0.25) for name in ("EASE", "ALS") for dataset in ("films", "songs", "books")]


def test_cells_that_failed_are_skipped_by_name(tmp_path, monkeypatch):
    own = [("films", 0.12345678, 3.0), ("songs", None, None), ("books", 0.75, None)]
    heard = placed(tmp_path / "one", monkeypatch, own, [*ALL, ("BPR", "films", 0.1)], {"books": "not asked for"})
    assert heard["skipped"] == {"books": "not asked for", "songs": "Mine failed: no luck"}
    assert (heard["matrix"].datasets, heard["name"], heard["seed"]) == (("films",), "Mine", 7)
    assert heard["matrix"].algorithms == ("ALS", "BPR", "EASE", "Mine")
    assert (heard["joules"], heard["seconds"], heard["left_out"]) == (3.0, 6.0, {})
    assert heard["matrix"].values.tolist() == [[0.25], [0.1], [0.25], [0.123457]], "rounded as those that are shipped"
    assert (heard["benchmark"], heard["of_datasets"], heard["user_metric"]) == ("open", 3, "ndcg@10")
    assert [source.file for source in heard["sources"]] == ["published:open"]
    assert [source.file for source in heard["results"].sources] == ["Mine among the baselines of published:open"]
    assert (heard["folder"], heard["notes"]) == (str(tmp_path / "one" / "study"), ())
    two = placed(tmp_path / "two", monkeypatch, own[::2], [*ALL, ("BPR", "films", 0.1), ("Mine", "films", 0.9)], {})
    assert two["left_out"] == {"BPR": "1 of 2 datasets were not run", "Mine": "1 of 2 datasets were not run"}
    assert two["name"] == "Mine (yours)"
    assert placed(tmp_path / "no", monkeypatch, [("films", 0.5, None)], ALL, {})["joules"] is None
    with pytest.raises(InputError, match=r"Mine has no value on any dataset \(Mine failed: no luck\); mend the algor"):
        placed(tmp_path / "three", monkeypatch, own[1:2], ALL, {})
    with pytest.raises(InputError, match="no baseline has a value on all of these datasets; choose fewer datasets"):
        placed(tmp_path / "four", monkeypatch, own[::2], [("EASE", "films", 0.1), ("ALS", "books", 0.1)], {})


def test_a_bench_is_handed_all_that_it_is_asked(tmp_path, monkeypatch):
    heard = {}

    def hears(name, answer):
        monkeypatch.setattr(verb, name, lambda *given, **named: heard.update({name: (given, named)}) or answer)

    songs = SimpleNamespace(name="songs")
    shipped = SimpleNamespace(
        name="open", metrics=("recall@10", "ndcg@10"), datasets={"films": 1, "songs": 2, "books": 3}
    )
    empty = SimpleNamespace(name="bench-Mine", datasets=(), algorithms=[SimpleNamespace(name="Mine")])
    study = SimpleNamespace(**{**vars(empty), "datasets": (songs,)})
    hears("open_benchmark", shipped)
    hears("one_algorithm_study", empty)
    hears("chosen_datasets", [songs, SimpleNamespace(name="books")])
    located = [SimpleNamespace(dataset=songs, kind="folder")]
    hears("locate", (located, {"books": "not found here"}))
    hears("with_datasets", (study, {}))
    hears("seal_plan", None)
    hears("run_study", None)
    hears("make_bundle", b"bundle")
    hears("_placed", BenchResult("Mine", "open", None, (), 3))
    monkeypatch.chdir(tmp_path)
    asked = {"datasets": ["songs", "books"], "data": ".", "benchmark": "open", "metric": "Recall@10", "seeds": 3}
    told = []
    more = {"folder": "new", "workers": 2, "progress": len, "told": told.append, "seed": 7}
    assert recassay.bench("mine.py:Mine", bundle="r.zip", **asked, **more).algorithm == "Mine"
    assert ((tmp_path / "r.zip").read_bytes(), heard["make_bundle"][0]) == (b"bundle", (Path("new"), shipped, "Mine"))
    assert heard["seal_plan"][0] == (study, tmp_path / "new", "recall@10")
    assert told[:2] == ["Mine on 1 of 2 datasets of open; nothing has run yet.", "From . (1): songs."]
    assert heard["open_benchmark"][0] == ("open",)
    assert heard["one_algorithm_study"][0] == (shipped, "mine.py:Mine", 3)
    assert heard["chosen_datasets"][0] == (shipped, ["songs", "books"])
    assert heard["locate"] == (([songs, SimpleNamespace(name="books")], Path()), {"fetch": True})
    assert heard["with_datasets"][0][1:4] == (located, tmp_path / "new", verb.fetch_data)
    heard["with_datasets"][0][4]("songs")
    assert told[-1] == "songs: making its split"
    assert heard["run_study"] == ((study, Path("new")), {"workers": 2, "progress": len, "retry_failed": True})
    skipped = {"books": "not found here", "films": "not asked for"}
    assert heard["_placed"] == ((shipped, Path("new"), "Mine", "recall@10", skipped), {"seed": 7})
    recassay.bench("mine.py:Mine", fetch=False)
    assert heard["open_benchmark"][0] == ("published:board",)
    assert heard["locate"][0][1] is None
    assert heard["locate"][1] == {"fetch": False}
    assert heard["with_datasets"][0][2] == tmp_path / "bench-Mine"
    assert (heard["_placed"][0][1], heard["_placed"][0][3]) == (Path("bench-Mine"), "ndcg@10")
    with pytest.raises(UsageError, match="nowhere: this folder does not exist; name the folder of the datasets' files"):
        recassay.bench("mine.py:Mine", data="nowhere")
    reasons = {"films": "gone", "songs": "other data", "books": "late", "games": "lost"}
    hears("locate", ([], dict(reasons)))
    hears("with_datasets", (empty, {}))
    hears("chosen_datasets", [SimpleNamespace(name=name) for name in reasons])
    words = (
        r"none of the benchmark's datasets can be used \(films: gone; songs: other data; books: late\); name a folder"
    )
    with pytest.raises(InputError, match=words):
        recassay.bench("mine.py:Mine")


def test_an_altered_description_of_a_benchmark_is_one_line(tmp_path):
    stated = json.loads((open_benchmark().folder / "benchmark.json").read_text())
    one = next(iter(stated["datasets"]))
    stated["datasets"] = {one: stated["datasets"][one]}
    (tmp_path / RESULTS).touch()
    odd = (None, 1, -1, "x", [], [1], {}, {"x": 1}, 10**30)
    places = [stated, stated["tuning"], stated["budget"], stated["datasets"], stated["datasets"][one]]
    for part in [*places, stated["datasets"][one]["protocol"], stated["datasets"][one]["read"]]:
        for key, value in list(part.items()):
            for other in odd:
                part[key] = other
                (tmp_path / "benchmark.json").write_text(json.dumps(stated))
                try:
                    bench.one_algorithm_study(open_benchmark(tmp_path), "MostPop", 1)
                except RecAssayError as error:
                    assert "\n" not in str(error)  # noqa: PT017
            part[key] = value
