"""Files of other frameworks: each is known by its content alone, and read with its conventions."""

from __future__ import annotations

import json
import shutil
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest
from tests.support.readings import FILES, expected, sample_reading
from tests.support.readings import FOLDERS as FOLDERS_OF_SAMPLES

import recassay
from recassay import RecAssayError, load_results
from recassay.core import columns as c
from recassay.core.registry import importers
from recassay.data.importers.contract import RESULTS, Imported, Importer
from recassay.data.importers.conventions import Known, with_conventions
from recassay.data.importers.detect import detect
from recassay.data.importers.elliot import METRICS as ELLIOT
from recassay.data.importers.literals import literals_in, read_literal
from recassay.data.importers.load import _repeated
from recassay.data.importers.mlflow import _place as mlflow_place
from recassay.data.importers.opened import OpenedFile, meaningful
from recassay.data.importers.optuna import Study, _best
from recassay.data.tables.join import Part

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
TABLES = SAMPLES / "tables"
LISTS = SAMPLES / "lists"
FRAMEWORK_FILES = sorted(
    path
    for path in SAMPLES.rglob("*")
    if path.is_file() and path.suffix != ".md" and not {TABLES, LISTS} & set(path.parents)
)
# Not of a framework that one can tell: a plain table, and a printed dictionary of metrics.
PLAIN = {"ranx_report.tex", "ranx_report.txt", "rectools_pivot.csv", "rectools_calc_metrics.txt"}
FOLDERS = {"recbole_printed": "recbole"}


def cell(results, algorithm, metric, dataset=None, column=c.VALUE):
    rows = results.frame.filter(pl.col(c.ALGORITHM) == algorithm, pl.col(c.METRIC) == metric)
    rows = rows if dataset is None else rows.filter(pl.col(c.DATASET) == dataset)
    assert rows.height == 1, rows
    return rows.get_column(column)[0]


@pytest.mark.parametrize("path", FRAMEWORK_FILES, ids=lambda path: str(path.relative_to(SAMPLES)))
def test_each_sample_is_known_by_its_content(path):
    """One importer at most finds results in it, and it is that of its folder."""
    file = OpenedFile(path)
    found = {name: kind for name, one in importers if (kind := one.recognise(file)) is not None}
    held = [name for name, kind in found.items() if kind in RESULTS]
    framework = path.relative_to(SAMPLES).parts[0]
    if path.name in PLAIN:
        assert not found
    elif held:
        assert held == [FOLDERS.get(framework, framework)]
        assert load_results(path).frame.height > 0
    else:
        assert found
        with pytest.raises(RecAssayError, match=r"holds (recommendation lists|relevance judgements|settings or tests)"):
            load_results(path)


@pytest.mark.parametrize("name", [*FILES, *FOLDERS_OF_SAMPLES])
def test_each_sample_is_read_as_it_was(name):
    """Every row, note and guess; `tests/support/readings.py` says how to write them again."""
    assert sample_reading(name) == expected()["samples"][name]


def test_every_framework_has_a_sample():
    sampled = {FOLDERS.get(path.relative_to(SAMPLES).parts[0], path.relative_to(SAMPLES).parts[0])
               for path in FRAMEWORK_FILES}  # fmt: skip
    assert sampled == set(importers.names())
    told = (SAMPLES / "README.md").read_text()
    assert all(f"`{folder.name}`" in told for folder in SAMPLES.iterdir() if folder.is_dir() and folder != TABLES)


@pytest.mark.parametrize("path", [p for p in FRAMEWORK_FILES if p.name not in PLAIN][:40:3], ids=lambda p: p.name[:30])
def test_every_row_carries_its_framework(path):
    file = OpenedFile(path)
    if detect(file)[1] in RESULTS:
        frame = load_results(path).frame
        assert frame.get_column(c.FRAMEWORK).null_count() == 0


def test_recbole_logs():
    results = load_results(SAMPLES / "recbole")
    assert results.algorithms == ["BPR", "ItemKNN", "Pop"]
    assert results.datasets == ["toya"]
    assert cell(results, "ItemKNN", "ndcg@10") == 0.3682  # test result, not best valid (0.3007)
    assert cell(results, "BPR", "hitrate@10", column=c.SEED) == "2020"
    assert "'split': {'RS': [0.8, 0.1, 0.1]}" in cell(results, "BPR", "hitrate@10", column=c.PROTOCOL)
    assert any("issue 2198" in note for note in results.notes)


def test_recbole_as_people_keep_it():
    folder = SAMPLES / "recbole_printed"
    printed = load_results(folder / "ml-100k.txt")
    assert (printed.algorithms, printed.datasets) == (["RaCT", "Random"], ["ml-100k"])
    assert cell(printed, "RaCT", "ndcg@10") == 0.2971
    dicts = load_results(folder / "dicts.txt")
    assert cell(dicts, "BPR", "ndcg@10", "ml-1m") == 0.21
    assert "entropy_mean@10" in dicts.metrics
    assert "entropy@10" not in dicts.metrics
    as_json = load_results(folder / "results.json")
    assert cell(as_json, "EASE", "recall@10", "ml-1m") == 0.25
    log = load_results(folder / "BPR-ml-100k-Nov-15-2026_10-22-27-b7b11b.log")
    assert log.algorithms == ["BPR", "LightGCN"]
    assert cell(log, "LightGCN", "recall@10[sampled 100]") == 0.18
    assert cell(log, "LightGCN", "longtail@10[sampled 100]") is None
    assert "uni100" in cell(log, "BPR", "recall@10[sampled 100]", column=c.PROTOCOL)


def test_recbole_results_are_sampled_where_the_test_was(tmp_path):
    path = tmp_path / "run.json"
    for mode, label in (
        ("pop100", "ndcg@10[sampled 100 popular]"),
        ({"valid": "uni100", "test": "full"}, "ndcg@10"),
        ({"valid": "full", "test": "uni50"}, "ndcg@10[sampled 50]"),
    ):
        config = {"model": "BPR", "dataset": "toya", "eval_args": {"order": "RO", "mode": mode}}
        path.write_text(json.dumps({"config": config, "test_result": {"ndcg@10": 0.3}}))
        assert load_results(path).metrics == [label]


def test_runs_of_one_recbole_log_do_not_share_their_settings(tmp_path):
    path = tmp_path / "runs.log"
    path.write_text(
        "General Hyper Parameters:\nseed = 7\ndata_path = data/toya\nBPR(\ntest result: {'ndcg@10': 0.1}\n"
        "General Hyper Parameters:\ndata_path = data/toya\nEASE(\ntest result: {'ndcg@10': 0.2}\n"
    )
    found = load_results(path)
    assert [cell(found, name, "ndcg@10", column=c.SEED) for name in ("BPR", "EASE")] == ["7", ""]


def test_a_recbole_log_that_did_not_end(tmp_path):
    text = (SAMPLES / "recbole" / "Pop-toya-Nov-15-2026_10-16-39-e07d65.log").read_text()
    path = tmp_path / "Pop-toya-Nov-15-2026_10-16-39-e07d65.log"
    path.write_text(text.partition("best valid")[0])
    with pytest.raises(RecAssayError, match="holds no test result of RecBole"):
        load_results(path)


def test_recbole_names_of_files(tmp_path):
    """A dictionary that names no model is of the one that its file is named after."""
    result = "{'best_valid_result': {'ndcg@10': 0.1}, 'test_result': {'ndcg@10': 0.06}}"
    named = tmp_path / "LightGCN-ml-100k.txt"
    named.write_text(result)
    found = load_results(named)
    assert (found.algorithms, found.datasets) == (["LightGCN"], ["ml-100k"])
    assert any("'LightGCN' of the file's name was taken" in note for note in found.notes)
    dated = tmp_path / "BPR-ml-100k-Nov-15-2026_10-22-27-b7b11b.txt"
    dated.write_text(result)
    assert load_results(dated).datasets == ["ml-100k"], "when it ran is not part of the dataset"


def test_elliot_is_known_by_the_settings_in_its_names(tmp_path):
    source = next((SAMPLES / "elliot").rglob("rec_cutoff_10*.tsv"))
    renamed = tmp_path / "films.tsv"
    shutil.copy(source, renamed)
    found = load_results(renamed)
    assert cell(found, "MostPop", "gini") == pytest.approx(1 - 0.13863025210084035)
    assert found.datasets == ["films"]
    assert any("cut-off of Elliot's metrics" in note for note in found.notes)


def test_elliot_turns_its_gini_and_names_its_map():
    results = load_results(SAMPLES / "elliot")
    assert cell(results, "MostPop", "gini@10") == pytest.approx(1 - 0.13863025210084035)
    assert cell(results, "Random", "gini@10") < cell(results, "MostPop", "gini@10")
    assert cell(results, "ItemKNN", "map@10", column=c.CONVENTION).startswith("mean_precision")
    assert cell(results, "ItemKNN", "items_covered@10") == 90
    assert "coverage@10" not in results.metrics
    assert any("was turned" in note for note in results.notes)
    assert any("stand in several files with one value" in note for note in results.notes)
    assert results.datasets == ["toya"]


def test_a_cut_off_of_the_file_is_for_metrics_that_name_none():
    frame = pl.DataFrame({c.METRIC: ["nDCG@20", "nDCG", "MAE"], c.VALUE: [0.3, 0.2, 0.7]})
    found = with_conventions(frame, ELLIOT, framework="Elliot", k=10)
    assert found[c.METRIC].to_list() == ["ndcg@20", "ndcg@10", "mae"]
    renamed = with_conventions(frame, {"ndcg": Known("auc"), "mae": Known("mrr")}, framework="Mine", k=10)
    assert renamed[c.METRIC].to_list() == ["auc@20", "auc", "mrr@10"], "by what the metric is here"


def test_the_names_of_columns_may_stand_in_quotes(tmp_path):
    (tmp_path / "a.csv").write_text('"model" , "Top@k";x,""\n')
    assert OpenedFile(tmp_path / "a.csv").header == ["model", 'Top@k";x', ""]
    (tmp_path / "b.csv").write_text('"winner";"loser"\n"A";"B"\n')
    assert detect(OpenedFile(tmp_path / "b.csv"))[0].name == "battles"


ARFF_ROWS = "@data\n1,a\n"
BY_NAME = {name: {"ndcg@10": 0.3, "mrr": 0.2} for name in ("A", "B", "C", "D", "E")}
LIKE = [
    ("rectools", "a.csv", "model,i_split,NDCG@10\nA,0,0.3\n", "results"),
    ("rectools", "a.csv", "model,dataset,i_split,NDCG@10\nA,x,0,0.3\n", None),
    ("rectools", "a.csv", "user_id,item_id,score,rank\n1,2,3,1\n", "lists"),
    ("rectools", "a.csv", "user_id,item_id,rank,score\n1,2,1,3\n", None),
    ("ranx", "a.json", json.dumps(BY_NAME), None),
    ("ranx", "a.json", json.dumps({f"u{n}": {"i1": 0.5, "i2": 1} for n in range(5)}), "lists"),
    ("ranx", "a.json", json.dumps({f"u{n}": {"i1": 2, "i2": 1} for n in range(5)}), "judgements"),
    ("ranx", "a.json", json.dumps({f"u{n}": {"i1": 2} if n else {} for n in range(5)}), None),
    ("ranx", "a.json", json.dumps({f"u{n}": {"i1": "2"} for n in range(5)}), None),
    ("responses", "a.csv", "Classifier,i1,i2,i3\nA,0,1,\n", "user results"),
    ("responses", "a.csv", "Classifier,i1,i2\nA,0,1\n", None),
    ("responses", "a.csv", "Classifier,i1,i2,i3\nA,0,1,0.5\n", None),
    ("responses", "a.csv", "model,i1,i2,i3\nA,0,1,1\n", None),
    ("openml", "a.arff", f"@relation x\n@attribute row_id numeric\n@attribute prediction {{a,b}}\n{ARFF_ROWS}",
     "user results"),
    ("openml", "a.arff", f"@relation x\n@attribute row numeric\n@attribute prediction {{a,b}}\n{ARFF_ROWS}", None),
    ("openml", "a.arff", f"@attribute row_id numeric\n@attribute prediction {{a,b}}\n{ARFF_ROWS}", None),
    ("openml", "a.arff", f"@relation openml_task_7_predictions\n@attribute x numeric\n{ARFF_ROWS}", "user results"),
    ("swe_bench", "a.json", '{"resolved_ids": ["a"], "unresolved_ids": []}', "user results"),
    ("swe_bench", "a.json", '{"resolved_ids": ["a"], "total": 1}', None),
    ("swe_bench", "a.json", '{"resolved_ids": 1, "submitted_ids": []}', None),
    ("swe_bench", "a.json", '{"resolved": ["a"], "no_logs": []}', "user results"),
    ("swe_bench", "a.json", '{"resolved": ["a"], "submitted_ids": []}', None),
    ("mteb", "a.json", '{"mteb_version": "1", "test": {"map": 1}}', "results"),
    ("mteb", "a.json", '{"test": {"map": 1}}', None),
    ("mteb", "a.json", '{"mteb_version": "1", "task_name": "t", "test": 3}', None),
    ("mteb", "a.json", '{"revision": "1", "n_parameters": 2, "max_tokens": 3}', "other"),
    ("lm_eval", "a.json", '{"results": {"t": {"acc": 1}}, "versions": {}}', "results"),
    ("lm_eval", "a.json", '{"results": {"t": {"acc": 1}, "u": 1}, "versions": {}}', None),
    ("lm_eval", "a.json", '{"results": {}, "versions": {}}', None),
    ("lm_eval", "a.json", '{"results": {"t": {"acc": 1}}}', None),
    ("lm_eval", "a.jsonl", '{"doc_id": 1, "resps": []}\n', "user results"),
    ("lm_eval", "a.jsonl", '{"doc_id": 1}\n', None),
    ("helm", "a.json", '[{"name": {"name": "em", "split": "test"}, "mean": 1}]', "results"),
    ("helm", "a.json", '[{"name": {"name": "em", "split": "test"}}]', None),
    ("helm", "a.json", '{"adapter_spec": {}, "scenario_spec": {}}', "other"),
    ("helm", "a.json", '{"adapter_spec": {}}', None),
    ("inspect_ai", "a.json", '{"eval": {"task": "t", "model": "m"}, "status": "error"}', "other"),
    ("inspect_ai", "a.json", '{"eval": {"task": "t", "model": "m"}, "samples": [1]}', None),
    ("inspect_ai", "a.json", '{"eval": {"task": "t"}, "status": "success", "samples": [1]}', None),
    ("optuna", "a.csv", "number,value,datetime_start,state\n0,1,,COMPLETE\n", "results"),
    ("optuna", "a.csv", "number,value,state\n0,1,COMPLETE\n", None),
    ("mlflow", "a.csv", "run_id,status,metrics.ndcg\n1,FINISHED,1\n", "results"),
    ("mlflow", "a.csv", "run_id,metrics.ndcg\n1,1\n", None),
    ("mlflow", "a.csv", "run_id,status,ndcg\n1,FINISHED,1\n", None),
    ("warprec", "recs/a.tsv", "user_id\titem_id\trating\n1\t2\t3\n", "lists"),
    ("warprec", "other/a.tsv", "user_id\titem_id\trating\n1\t2\t3\n", None),
    ("warprec", "a_k_10_per_user.tsv", "user_id\tnDCG\n1\t0.5\n", "user results"),
    ("warprec", "a.tsv", "user_id\tnDCG\n1\t0.5\n", None),
    ("elliot", "recs/a.tsv", "1\t2\t0.5\n", "lists"),
    ("elliot", "recs/a.tsv", "1\t2\tx\n", None),
    ("elliot", "recs/a.csv", "1\t2\t0.5\n", None),
    ("elliot", "stat_paired_ttest_cutoff_10_x.tsv", "a\tb\n", "other"),
    ("omnirec", "a.json", '{"d-1234": [{"algorithm": "A", "name": "n", "value": 1}]}', "results"),
    ("omnirec", "a.json", '{"d-1234": [{"algorithm": "A", "name": "n", "value": 1}], "e": []}', None),
    ("omnirec", "a.json", '{"user": {}, "item": {}, "score": {}}', "lists"),
    ("recpack", "a.json", '{"NDCGK_10": {"A": 0.5, "B": null}}', "results"),
    ("recpack", "a.json", '{"A": {"NDCGK_10": 0.5}}', "results"),
    ("recpack", "a.json", '{"A": {"NDCGK_10": 0.5, "other": 1}}', None),
    ("recpack", "a.json", '{"NDCGK_10": {"A": "high"}}', None),
]  # fmt: skip


@pytest.mark.parametrize(("framework", "name", "content", "kind"), LIKE)
def test_files_that_are_like_those_of_a_framework_are_told_apart(tmp_path, framework, name, content, kind):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content)
    assert import_module(f"recassay.data.importers.{framework}").recognise(OpenedFile(path)) == kind


def test_the_mean_over_all_tasks_is_no_task(tmp_path):
    tasks = {"all": {"acc": 0.5}, "t1": {"acc": 0.4}, "t2": {"acc": 0.6}}
    content = json.dumps({"config_general": {"model_name": "m"}, "results": tasks})
    (tmp_path / "a.json").write_text(content)
    found = load_results(tmp_path / "a.json")
    assert found.datasets == ["t1", "t2"]
    assert found.notes == ("groups were left out, their tasks stay: all",)


def test_a_line_of_ir_measures_without_a_query_is_of_all(tmp_path):
    lines = [{"query_id": "q1", "measure": "AP", "value": 0.2}, {"query_id": "q2", "measure": "AP", "value": 0.4},
             {"measure": "AP", "value": 0.9}, {"measure": "RR", "value": 0.7}]  # fmt: skip
    (tmp_path / "bm25.jsonl").write_text("\n".join(map(json.dumps, lines)))
    found = load_results(tmp_path / "bm25.jsonl", format="ir_measures")
    assert (cell(found, "bm25", "map"), cell(found, "bm25", "mrr")) == (pytest.approx(0.3), 0.7)


def test_a_task_of_fev_without_a_name_is_its_dataset(tmp_path):
    paths, names = ["data/m4.arrow", "data/m5.arrow"], ["", "sales"]
    frame = pl.DataFrame({"model_name": ["A", "A"], "dataset_path": paths, "task_name": names, "test_error": [1.0, 2]})
    frame.write_parquet(tmp_path / "a.parquet")
    found = load_results(tmp_path / "a.parquet")
    assert (cell(found, "A", "error", "m4"), cell(found, "A", "error", "sales")) == (1, 2)
    assert found.frame.get_column(c.VERSION).to_list() == [None, None]


def test_a_list_of_no_places_is_no_cut_off(tmp_path):
    rows = [{"algorithm": "A", "name": "NDCG", "value": 0.3, "k": k} for k in (None, 5)]
    (tmp_path / "a.json").write_text(json.dumps({"films-1a2b": rows}))
    assert load_results(tmp_path / "a.json").metrics == ["ndcg", "ndcg@5"]
    (tmp_path / "a.json").write_text(json.dumps({"films-1a2b": [{**rows[0], "k": 0}]}))
    with pytest.raises(RecAssayError, match="'0' in 'ndcg@0' is not a cut-off"):
        load_results(tmp_path / "a.json")


def test_names_by_which_files_and_parameters_say_the_model(tmp_path):
    (tmp_path / "org__gpt-4.1.run-7.json").write_text('{"resolved_ids": ["a"], "unresolved_ids": ["b"]}')
    (tmp_path / "gpt.json").write_text('{"resolved_ids": ["a"], "unresolved_ids": ["b"]}')
    named = [load_results(tmp_path / name).algorithms for name in ("org__gpt-4.1.run-7.json", "gpt.json")]
    assert named == [["org/gpt-4.1"], ["gpt"]]
    columns = ["tags.algorithm", "params.Model", "params.model", "params.algo", "tags.data"]
    assert (mlflow_place(columns, c.ALGORITHM), mlflow_place(columns, c.DATASET)) == ("params.algo", "tags.data")
    assert mlflow_place(columns[:3], c.ALGORITHM) == "params.Model"
    assert mlflow_place(columns, c.SEED) is None


def test_objectives_of_a_study_that_have_no_name_are_counted():
    study = Study(
        "EASE/films", [True, False, False], ["ndcg@10"], values=[[0.1, 3.0, 7.0], [0.2, 2.0], [0.3, 4.0, 9.0]]
    )
    rows = [(row[c.METRIC], row[c.VALUE]) for row in _best(study)]
    assert rows == [("ndcg@10", 0.3), ("objective 2", 2.0), ("objective 3", 7.0)]
    assert [row[c.METRIC] for row in _best(Study("x", [True], values=[[1.0]]))] == ["objective"]


@pytest.mark.parametrize(
    ("path", "repeat"),
    [
        ("Seed_3/results.csv", ("seed", "3")),
        ("films/RUN-4/results.csv", ("seed", "4")),
        ("films/Fold 2/results.csv", ("fold", "2")),
        ("split=1/results_seed7.csv", ("seed", "7")),
        ("seed1/fold2.csv", ("fold", "2")),
        ("films/runner3.csv", None),
        ("seeds/a.csv", None),
    ],
)
def test_repeats_by_the_words_of_a_path(path, repeat):
    frame = pl.DataFrame({c.ALGORITHM: ["A"], c.VALUE: [0.1]})
    found = _repeated(Part(frame, where="a.csv"), Path(path)).frame
    added = set(found.columns) - set(frame.columns)
    assert [(name, found[name].item()) for name in added] == ([repeat] if repeat else [])


def test_warprec_has_users_and_counts():
    results = load_results(SAMPLES / "warprec")
    assert cell(results, "EASE", "items_covered@10") == 99
    assert cell(results, "EASE", "ndcg@10", column=c.RUNS) == 200  # from the file of the users
    assert cell(results, "Pop", "ndcg@10", column=c.RUNS) is None
    assert cell(results, "EASE", "ndcg@10") == pytest.approx(0.27378, abs=1e-5)
    matrix_errors = cell(results, "EASE", "ndcg@10", column=c.DEVIATION)
    assert 0.1 < matrix_errors < 0.4


def test_lenskit_means_over_users():
    csv_, parquet = (load_results(SAMPLES / "lenskit" / name)
                     for name in ("toya-list_metrics.csv", "toyb-list_metrics.parquet"))  # fmt: skip
    assert csv_.datasets == ["toya"]
    assert cell(csv_, "Pop", "ndcg@10") == pytest.approx(cell(parquet, "Pop", "ndcg@10"))
    assert cell(csv_, "Pop", "mrr", column=c.RUNS) == 25
    assert cell(csv_, "Pop", "ndcg@10", column=c.CONVENTION).startswith("log2_rank")
    assert cell(csv_, "Pop", "mrr", column=c.CONVENTION) == "first: the first hit within the list counts"
    summary = load_results(SAMPLES / "lenskit" / "toyc-list_summary.csv")
    assert cell(summary, "ALS", "recall@10") == pytest.approx(0.29905, abs=1e-5)
    assert any("give the list metrics" in note for note in summary.notes)


def test_omnirec_folds_and_short_names():
    results = load_results(SAMPLES / "omnirec" / "results.json")
    assert (results.algorithms, results.datasets) == (["LensKit.PopScorer", "RecPack.Random"], ["toya", "toyb"])
    assert results.matrix("ndcg@10").paired


def test_cornac_reads_the_test_not_the_validation():
    results = load_results(SAMPLES / "cornac" / "toya_CornacExp.log")
    assert cell(results, "MostPop", "ndcg@10") == 0.2883
    assert cell(results, "MF", "seconds_fit") == 0.0257
    assert cell(load_results(SAMPLES / "cornac"), "BPR", "rmse", "toyb") > 0


def test_cornac_cross_validation(tmp_path):
    """A table for each model below its name; rows are folds, then their mean and deviation, which are left out."""
    rule = "------ + -------"
    body = f"       | NDCG@10\n{rule}\nFold 0 |  0.10\nFold 1 |  0.12\n{rule}\nMean   |  0.11\nStd    |  0.01\n"
    path = tmp_path / "films.txt"
    path.write_text(f"TEST:\n...\n[BPR]\n{body}\n[MF]\n{body.replace('0.1', '0.3')}")
    found = load_results(path)
    assert found.algorithms == ["BPR", "MF"]
    assert found.frame.filter(algorithm="MF").sort(c.FOLD).get_column(c.VALUE).to_list() == [0.30, 0.32]


def test_recpack_metrics_as_a_table(tmp_path):
    path = tmp_path / "films.csv"
    path.write_text(',NDCGK_10,HitK_10\n"ItemKNN(K=100)",0.3,1.9\n"EASE(l2=1)",0.35,2.1\n')
    found = load_results(path)
    assert cell(found, "EASE", "hit_count@10") == 2.1
    turned = tmp_path / "turned.json"
    turned.write_text('{"A": {"NDCGK_10": 0.1, "HitK_10": 1.2}, "B": {"NDCGK_10": 0.2, "HitK_10": 2.2}}')
    assert cell(load_results(turned), "B", "hit_count@10") == 2.2


def test_recpack_counts_hits():
    results = load_results(SAMPLES / "recpack")
    assert results.algorithms == ["EASE", "ItemKNN", "Popularity"]
    assert results.datasets == ["toya"]
    assert cell(results, "EASE", "hit_count@10") == 2.63
    assert "hitrate@10" not in results.metrics


def test_bars_leaderboards_join_by_their_names():
    results = load_results(SAMPLES / "bars")
    assert results.datasets == ["avazu_x1", "gowalla_m1", "yelp18_m1"]
    assert cell(results, "ItemCF", "ndcg@20", "gowalla_m1") == 0.1214
    assert cell(results, "LR", "logloss", "avazu_x1") == 0.3735


def test_trec_eval_leaves_the_row_of_all():
    results = load_results(SAMPLES / "trec" / "trec_eval_q_pop.txt")
    rows = [line.split() for line in (SAMPLES / "trec" / "trec_eval_q_pop.txt").read_text().splitlines()]
    users = [float(value) for measure, query, value in rows if measure == "ndcg_cut_10" and query != "all"]
    assert cell(results, "pop", "ndcg@10") == pytest.approx(sum(users) / len(users))
    assert cell(results, "pop", "precision@10", column=c.RUNS) == len(users)
    means = load_results(SAMPLES / "trec" / "trec_eval_random.txt", dataset="films")
    assert (means.algorithms, means.datasets) == (["random"], ["films"])
    assert "num_q" not in means.metrics


def test_a_measure_that_trec_eval_has_of_all_queries_alone_is_kept(tmp_path):
    path = tmp_path / "trec_eval_q_pop.txt"
    path.write_text("map q1 0.5\nmap q2 0.1\nmap all 0.3\nndcg_cut_10 all 0.2\n")
    found = load_results(path, dataset="films")
    assert (cell(found, "pop", "map", column=c.RUNS), cell(found, "pop", "ndcg@10")) == (2, 0.2)


def test_ir_measures_ranx_rectools_replay():
    both = load_results(SAMPLES / "ir_measures")
    assert both.algorithms == ["itemknn", "pop"]
    assert both.datasets == ["toya", "toyb"]
    ranx = [load_results(SAMPLES / "ranx" / f"ranx_report.{ending}") for ending in ("csv", "json", "tex", "txt")]
    for one in ranx:
        assert cell(one, "itemknn", "hitrate@10") == pytest.approx(0.865)
        assert cell(one, "pop", "ndcg@10") == pytest.approx(0.197, abs=5e-4)
    rectools = load_results(SAMPLES / "rectools" / "toya" / "rectools_cross_validate.csv")
    assert rectools.matrix("ndcg@10", missing="drop-datasets").paired if len(rectools.datasets) > 1 else True
    assert "items_covered@10" in rectools.metrics
    assert rectools.frame.filter(pl.col(c.METRIC) == "ndcg@10").get_column(c.CONVENTION)[0].startswith("ideal_k")
    assert rectools.frame.get_column(c.FOLD).n_unique() == 2
    replay = load_results(SAMPLES / "replay" / "replay_experiment.csv")
    assert cell(replay, "pop", "ndcg@10", column=c.DEVIATION) == pytest.approx(0.024441190357871054 / 1.959964)
    assert "precision-median@10" in replay.metrics


def test_mlflow_optuna_fev():
    runs = load_results(SAMPLES / "mlflow" / "search_runs.csv")
    assert runs.matrix("ndcg@10").replicates.shape == (3, 2, 2)
    assert runs.metrics == ["recall@10", "ndcg@10"]
    assert any("val_ndcg_at_10" in note for note in runs.notes)
    stored, journal = (load_results(SAMPLES / "optuna" / name) for name in ("studies.db.gz", "journal.log"))
    assert stored.matrix("ndcg@10").values == pytest.approx(journal.matrix("ndcg@10").values)
    assert cell(stored, "EASE", "ndcg@10", "toya") == pytest.approx(0.3027583, abs=1e-6)
    assert stored.frame.get_column(c.VERSION)[0] == "5.0.0"
    trials = load_results(SAMPLES / "optuna" / "ItemKNN_trials.csv", dataset="toyb")
    assert cell(trials, "ItemKNN", "ndcg@10") == pytest.approx(cell(stored, "ItemKNN", "ndcg@10", "toyb"))
    tasks = load_results(SAMPLES / "fev" / "summaries.csv")
    assert tasks.direction("mase") is False
    assert recassay.rank(tasks, "mase", replicates=100).algorithms == ("naive", "seasonal_naive")


def test_literals_keep_the_kinds_of_their_keys():
    assert read_literal("{1: -2, 'a': (3, nan), None: {4.5: true}}") == {1: -2, "a": [3, None], "None": {4.5: True}}
    assert read_literal("OrderedDict([(1, 2), ('b', np.float32(3))])") == {1: 2, "b": 3}
    assert read_literal("dict(a=1, b='x')") == {"a": 1, "b": "x"}
    assert read_literal("{'a': -None, 'b': --1}") == {"a": None, "b": 1}
    assert literals_in("x {'a': 1} {} y OrderedDict([('b', 2)]) {'c': ") == [{"a": 1}, {"b": 2}]


def test_names_of_systems_are_no_queries(tmp_path):
    path = tmp_path / "films.json"
    path.write_text('{"bm25f": {"ndcg_cut_10": 0.1}, "q1": {"ndcg_cut_10": 0.2}}')
    assert load_results(path).algorithms == ["films"]
    path.write_text('{"pop": {"ndcg_cut_10": 0.1}, "knn": {"ndcg_cut_10": 0.2}}')
    assert load_results(path).algorithms == ["knn", "pop"]


def test_trials_of_optuna_name_their_study(tmp_path):
    head = "number,value,datetime_start,user_attrs_dataset,state\n"
    path = tmp_path / "EASE_ml-1m.csv"
    path.write_text(head.replace(",user_attrs_dataset", "") + "0,0.1,t,COMPLETE\n1,0.3,t,COMPLETE\n2,,t,FAIL\n")
    found = load_results(path)
    assert (found.algorithms, found.datasets) == (["EASE"], ["ml-1m"])
    assert cell(found, "EASE", "objective") == 0.3
    told = tmp_path / "EASE.csv"
    told.write_text(head + "0,0.1,t,yelp,COMPLETE\n")
    assert load_results(told).datasets == ["yelp"]


def test_autogluon_leaderboard(tmp_path):
    path = tmp_path / "adult_leaderboard.csv"
    path.write_text("model,score_test,score_val,eval_metric,pred_time_test,fit_time,stack_level\n"
                    "GBM,-0.4,-0.3,log_loss,1,5,1\nRF,-0.5,-0.2,log_loss,2,6,1\n")  # fmt: skip
    found = load_results(path)
    assert (found.datasets, found.metrics) == (["adult"], ["score", "seconds_fit", "seconds_predict"])
    assert found.direction("score") is True
    assert cell(found, "GBM", "score") == -0.4


def test_repeats_by_their_folders(tmp_path):
    for dataset in ("ml-1m", "yelp"):
        for seed in (1, 2):
            folder = tmp_path / dataset / f"seed_{seed}"
            folder.mkdir(parents=True)
            (folder / "results.csv").write_text(f"model,NDCG@10\nA,0.1{seed}\nB,0.2{seed}\n")
    found = load_results(tmp_path)
    assert found.datasets == ["ml-1m", "yelp"]
    assert found.matrix("ndcg@10").replicates.shape == (2, 2, 2)


def test_other_fields():
    amlb = load_results(SAMPLES / "automl" / "amlb_results.csv")
    assert amlb.direction("result") is True
    assert cell(amlb.__class__(amlb.frame.filter(pl.col(c.FOLD) == "0")), "RandomForest", "auc", "kc2") == 0.865801
    tab = recassay.rank(load_results(SAMPLES / "automl" / "tabarena_results.csv"), "metric_error", replicates=100)
    assert tab.rankings["mean_rank"].ranks.tolist() == [2, 1]
    lm = load_results(next((SAMPLES / "lm_eval").glob("results_*.json")))
    assert lm.direction("acc_norm") is True
    assert cell(lm, "i82qcls7", "accuracy", "toy_mc", c.DEVIATION) == pytest.approx(0.13055824)
    assert lm.frame.get_column(c.VERSION)[0] == "0.4.13"
    eee = load_results(SAMPLES / "every_eval_ever")
    assert eee.direction("score") is False
    assert cell(eee, "toy/model-a", "score", "RealToxicity", c.DEVIATION) == pytest.approx(0.02 / 1.959964)
    table = load_results(SAMPLES / "helm" / "groups" / "core_scenarios_accuracy.json")
    assert cell(table, "Pythia", "f1", "NarrativeQA") == 0.22
    assert table.direction("ece") is False


def test_an_automl_run_listed_twice_counts_once(tmp_path):
    sample = SAMPLES / "automl" / "amlb_results.csv"
    header, first, *others = sample.read_text().splitlines()
    twice = tmp_path / "results.csv"
    twice.write_text("\n".join([header, first, *others, first]))
    assert load_results(twice).frame.equals(load_results(sample).frame)


def test_helm_runs_by_their_folders(tmp_path):
    for run, source in (
        ("mmlu:subject=law,method=joint,model=openai_gpt2", "gpt2"),
        ("mmlu:subject=law,model=a_b", "b"),
    ):
        folder = tmp_path / run
        folder.mkdir()
        shutil.copy(SAMPLES / "helm" / "stats.json", folder / "stats.json")
        (folder / "run_spec.json").write_text(json.dumps({"name": run, "adapter_spec": {}, "scenario_spec": {}}))
        assert source
    results = load_results(tmp_path)
    assert results.algorithms == ["a/b", "openai/gpt2"]
    assert results.datasets == ["mmlu:subject=law"]
    assert cell(results, "a/b", "exact_match") == 0.24  # without perturbation, on the test split
    assert not any("num_" in metric or "runtime" in metric for metric in results.metrics)


def test_unlike_conventions_are_not_joined_without_a_word():
    results = load_results([SAMPLES / "recbole", SAMPLES / "elliot"], prefer="first")
    told = " ".join(results.notes)
    assert "ndcg@10 is computed in 2 ways, and their values cannot be compared" in told
    assert "RecBole: ideal_min" in told
    assert "Elliot: graded_exponential" in told
    assert "come from different splits or protocols" in told
    with pytest.raises(RecAssayError, match=r"ItemKNN on toya, recall@10: 0.4817 in .*RecBole|prefer="):
        load_results([SAMPLES / "recbole", SAMPLES / "elliot"])


def test_a_format_can_be_forced(tmp_path):
    path = tmp_path / "gowalla.csv"
    path.write_text("model,NDCG@10,HR@10\nA,0.2,0.5\nB,0.1,0.4\n")
    assert cell(load_results(path), "A", "ndcg@10") == 0.2
    with pytest.raises(RecAssayError, match=r"is not what BARS writes .*format='table'"):
        load_results(path, format="bars")
    with pytest.raises(RecAssayError, match=r"unknown format 'recbol'; did you mean 'recbole'"):
        load_results(path, format="recbol")
    board = SAMPLES / "bars" / "gowalla_m1.csv"
    assert load_results(board, format="table").metrics == load_results(board).metrics


def test_a_plugin_adds_an_importer(tmp_path, monkeypatch):
    def read(file: OpenedFile) -> Imported:
        name, value = file.text.split()[1:]
        return Imported(pl.DataFrame({c.ALGORITHM: [name], c.METRIC: ["ndcg@10"], c.VALUE: [float(value)]}))

    mine = Importer("mine", "Mine", "*.mine", lambda f: "results" if f.head.startswith("MINE") else None, read)
    monkeypatch.setattr(importers, "_added", {"mine": ("mine", mine)})
    path = tmp_path / "films.txt"
    path.write_text("MINE Best 0.5")
    assert load_results(path).frame.select(c.ALGORITHM, c.DATASET, c.VALUE).row(0) == ("Best", "films", 0.5)


@pytest.mark.parametrize(("score", "kind"), [([1, 2], "relevance judgements"), ([0.5, 2.0], "recommendation lists")])
def test_parquet_of_ranx_holds_judgements_or_lists(tmp_path, score, kind):
    pl.DataFrame({"q_id": ["q", "q"], "doc_id": ["a", "b"], "score": score}).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(RecAssayError, match=f"holds {kind} of ranx, not results"):
        load_results(tmp_path / "x.parquet")


def test_two_importers_that_know_one_file_are_asked_about(tmp_path, monkeypatch):
    def importer(name, kind):
        read = Imported(pl.DataFrame({c.ALGORITHM: [name], c.METRIC: ["ndcg@10"], c.VALUE: [0.5]}))
        return name, Importer(
            name, name.upper(), "x", lambda f: kind if f.head.startswith("MINE") else None, lambda _: read
        )

    path = tmp_path / "films.txt"
    path.write_text("MINE")
    added = [importer("one", "results"), importer("two", "user results"), importer("three", "lists")]
    monkeypatch.setattr(importers, "_added", {name: (name, made) for name, made in added})
    with pytest.raises(RecAssayError, match=r"films.txt: may be of one or two; say which with `format='one'`"):
        load_results(path)
    assert load_results(path, format="two").algorithms == ["two"]
    monkeypatch.setattr(importers, "_added", {name: (name, made) for name, made in reversed(added[1:])})
    assert load_results(path).algorithms == ["two"]  # what finds results comes before what finds lists


def test_literals_are_read_and_nothing_runs():
    text = (
        "OrderedDict([('a', np.float64(0.1)), ('b', -inf), ('c', tensor(0.5, device='cuda:0')), ('d', {'e': [1, 2]})])"
    )
    assert read_literal(text) == {"a": 0.1, "b": None, "c": 0.5, "d": {"e": [1, 2]}}
    assert read_literal("defaultdict(<class 'float'>, {'ndcg': 0.3})") == {"ndcg": 0.3}
    for hostile in (
        "__import__('os').system('true')",
        "{'a': open('x')}",
        "[x for x in (1,)]",
        "(lambda: 1)()",
        "(" * 5000,
    ):
        assert read_literal(hostile) is None
    assert literals_in("before {'a': 1} between {bad} after {'b': '}'}") == [{"a": 1}, {"b": "}"}]
    assert literals_in(r"before {'a\'s }': 1} after") == [{"a's }": 1}]
    assert literals_in("{'a': {'b': 1}} then {'c': 2}") == [{"a": {"b": 1}}, {"c": 2}]


@pytest.mark.parametrize(("name", "left"), [
    ("toya-all-list_metrics", "toya"), ("results", ""), ("gowalla_m1", "gowalla_m1"), ("ml-100k", "ml-100k"),
    ("metrics_ml-1m_2024-05-01", "ml-1m"), ("yelp2018", "yelp2018"),
    ("run1", ""), ("seed_42", ""), ("toya_CornacExp", "toya"),
])  # fmt: skip
def test_datasets_by_the_names_of_files(name, left):
    assert meaningful(name) == left


def test_a_dataset_is_named_by_one_of_the_four_folders_above(tmp_path):
    for folder, dataset in (("yelp/results/runs/metrics", "yelp"), ("yelp/results/runs/metrics/scores", "final")):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "final.csv").write_text("model,NDCG@10\nEASE,0.3\n")
        assert OpenedFile(tmp_path / folder / "final.csv").dataset() == dataset


HOSTILE = {
    "empty.json": b"{}",
    "deep.json": b"[" * 100_000,
    "broken.json": b'{"metrics": {"ndcg@10": ',
    "zip.xlsx": b"PK\x03\x04" + b"\0" * 100,
    "half.parquet": b"PAR1" + b"\0" * 50,
    "sqlite.db": b"SQLite format 3\0" + b"study_directions trial_values" + b"\0" * 200,
    "recpack.json": b'{"NDCGK_10": {"a": null}}',
    "lm.json": b'{"results": {"x": {}}, "versions": {}}',
    "helm.json": b'[{"name": {"name": "x", "split": "test"}, "mean": "high"}]',
    "eee.json": b'{"schema_version": 1, "model_info": [], "evaluation_results": {}}',
    "omni.json": b'{"a": [{"algorithm": 1, "name": 2, "value": "x"}]}',
    "table.tex": b"\\begin{tabular}{ll} \\multicolumn{9999999}{c}{x} & \\multirow{-1}{*}{ \\\\ \\end{tabular}",
    "bars.md": b"|" * 3000 + b"\n|-|\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_one_line(tmp_path, cli, name):
    path = tmp_path / name
    path.write_bytes(HOSTILE[name])
    ran = cli("rank", path)
    assert ran.code == 2
    assert len([line for line in ran.err.strip().splitlines() if not line.startswith(("note:", "read:"))]) == 1


USUAL = {
    "Precision@10": ("precision@10", "by_k"), "Recall@10": ("recall@10", "by_relevant"),
    "HR@10": ("hitrate@10", "any"), "MRR@10": ("mrr@10", "first"),
}  # fmt: skip
"""What nearly all frameworks compute alike, with the name of the convention."""
MEANT: dict[str, tuple[str, str, dict[str, tuple[str, str | None]]]] = {
    # nDCG, MAP, and what else the framework has: its name, ours, and the convention
    "cornac": ("ideal_min", "whole_list", {"AUC": ("auc", None)}),
    "elliot": ("graded_exponential", "mean_precision", {
        "ItemCoverage": ("items_covered", None), "UserCoverage": ("users_covered", None),
        "Gini": ("gini", "over_n_minus_1"),
        "NumRetrieved": ("num_retrieved", None), "SEntropy": ("entropy", "bits"), "ARP": ("popularity", "count")}),
    "ir_measures": ("graded_linear", "by_relevant", {"Success@5": ("hitrate@5", "any")}),
    "lenskit": ("log2_rank", "", {"RecipRank": ("mrr", "first"), "Hit@5": ("hitrate@5", "any")}),
    "ranx": ("graded_linear", "by_relevant", {}),
    "recbole": ("ideal_min", "by_min", {
        "itemcoverage@5": ("coverage@5", "catalogue"), "averagepopularity@5": ("popularity@5", "count"),
        "giniindex@5": ("gini@5", "recbole"), "shannonentropy@5": ("entropy_mean@5", "recbole"),
        "tailpercentage@5": ("longtail@5", "recbole")}),
    "recpack": ("ideal_min", "", {
        "HR@10": ("hit_count@10", None), "Coverage@5": ("coverage@5", "catalogue"),
        "CalibratedRecall@5": ("recall@5", "by_min")}),
    "rectools": ("ideal_k", "by_relevant", {
        "CatalogCoverage@5": ("items_covered@5", None), "Coverage@5": ("items_covered@5", None),
        "Novelty@5": ("novelty@5", "bits"),
        "MeanInvUserFreq@5": ("novelty@5", "bits"), "AvgRecPopularity@5": ("popularity@5", "count")}),
    "replay": ("ideal_min", "by_min", {"Coverage@5": ("coverage@5", "catalogue")}),
    "trec": ("graded_linear", "by_relevant", {"recip_rank": ("mrr", "first"), "success@5": ("hitrate@5", "any")}),
    "warprec": ("graded_exponential", "by_min", {
        "ItemCoverage@5": ("items_covered@5", None), "UserCoverage@5": ("users_covered@5", None),
        "Gini@5": ("gini@5", "over_n_minus_1"),
        "ARP@5": ("popularity@5", "count")}),
}  # fmt: skip


@pytest.mark.parametrize("name", MEANT)
def test_what_each_framework_means_by_its_metrics(name):
    """By its documentation or its code; values of Elliot's Gini are turned, all others stay."""
    ndcg, mean_precision, others = MEANT[name]
    more = {"NDCG@10": ("ndcg@10", ndcg), "MAP@10": ("map@10", mean_precision or None), **others}
    meant = {**USUAL, **more}
    table = import_module(f"recassay.data.importers.{name}").METRICS
    frame = pl.DataFrame({"metric": list(meant), "value": [0.25] * len(meant)})
    made = with_conventions(frame, table, framework=name).with_columns(pl.col("convention").str.split(":").list.first())
    assert dict(zip(meant, made.select("metric", "convention").rows(), strict=True)) == meant
    turned = [theirs for theirs, value in zip(meant, made.get_column("value"), strict=True) if value != 0.25]
    assert turned == (["Gini"] if name == "elliot" else [])
