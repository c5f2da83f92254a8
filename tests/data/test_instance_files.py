"""Files with one line per test instance: read with their instances, or refused in one line."""

from __future__ import annotations

import io
import json
import os
import shutil
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import recassay
from recassay import RecAssayError, load_results

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
LM_EVAL = SAMPLES / "lm_eval" / "samples_toy_mc_2026-11-15T10-24-26.600199.jsonl"


def inspect_log(model: str, grades: str, task: str = "toy_sum") -> dict:
    samples = [{"id": f"q{i}", "epoch": 1, "scores": {"match": {"value": grade}}} for i, grade in enumerate(grades)]
    told = {"task": task, "model": model, "packages": {"inspect_ai": "0.3"}}
    return {"version": 2, "status": "success", "eval": told, "samples": samples}


def packed(log: dict, **more: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({key: log[key] for key in ("version", "status", "eval")}))
        for sample in log["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
        for name, text in more.items():
            archive.writestr(name, text)
    return stream.getvalue()


def test_samples_of_the_harness_are_instances():
    results = load_results(LM_EVAL)
    documents = [json.loads(line) for line in LM_EVAL.read_text().splitlines()]
    assert results.words == ("model", "task")
    assert results.datasets == ["toy_mc"]
    assert results.users is not None
    values = results.users.filter(pl.col("metric") == "accuracy").sort(pl.col("user").cast(pl.Int64))
    assert values.get_column("value").to_list() == [document["acc"] for document in documents]
    assert results.algorithms == load_results(next(LM_EVAL.parent.glob("results_*.json"))).algorithms


def test_a_true_log_of_inspect_gives_its_own_mean_and_error():
    path = next((SAMPLES / "inspect_ai").glob("*.json"))
    printed = json.loads(path.read_text())["results"]["scores"][0]["metrics"]
    row = load_results(path).frame.row(0, named=True)
    assert row["value"] == pytest.approx(printed["accuracy"]["value"])
    assert row["deviation"] / row["runs"] ** 0.5 == pytest.approx(printed["stderr"]["value"])


def test_logs_of_inspect_both_ways(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(inspect_log("mock/a", "CICP")))
    (tmp_path / "b.eval").write_bytes(packed(inspect_log("mock/b", "IICC")))
    results = load_results(tmp_path)
    assert results.told_reading() == "read: 2 models (mock/a, mock/b), 1 task (toy_sum), 1 metric (accuracy)"
    assert results.users is not None
    assert results.users.height == 8
    means = dict(results.frame.select("algorithm", "value").rows())
    assert means == {"mock/a": 0.625, "mock/b": 0.5}


def test_scores_that_are_true_or_false_are_an_accuracy(tmp_path):
    log = inspect_log("mock/a", "CC")
    for sample, right in zip(log["samples"], (True, False), strict=True):
        sample["scores"] = {"match": {"value": right}, "words": {"value": 1 + right}}
    (tmp_path / "a.json").write_text(json.dumps(log))
    rows = load_results(tmp_path / "a.json").frame.select("metric", "value", "higher_is_better").rows()
    assert rows == [("accuracy[match]", 0.5, True), ("words", 1.5, None)]


def test_a_log_without_samples_gives_the_totals_of_its_scorer(tmp_path):
    log = inspect_log("mock/a", "")
    metrics = {"accuracy": {"value": 0.431}, "stderr": {"value": 0.016}}
    (tmp_path / "a.json").write_text(
        json.dumps({**log, "results": {"scores": [{"name": "match", "metrics": metrics}]}})
    )
    results = load_results(tmp_path / "a.json")
    assert results.frame.select("algorithm", "dataset", "metric", "value").rows() == [
        ("mock/a", "toy_sum", "accuracy", 0.431)
    ]


def test_a_run_of_helm_without_a_test_split_is_read_on_its_validation_split(tmp_path):
    def stats(split: str, value: float) -> list[dict]:
        return [{"name": {"name": "exact_match", "split": split}, "mean": value}]

    for run, splits in (("hellaswag:model=a", ("valid", "valid")), ("mmlu:model=a", ("valid", "test"))):
        (tmp_path / run).mkdir()
        rows = [{"instance_id": f"id{i}", "stats": stats(split, float(i))} for i, split in enumerate(splits)]
        (tmp_path / run / "per_instance_stats.json").write_text(json.dumps(rows))
    users = load_results(tmp_path).users
    assert users is not None
    assert users.sort("dataset", "user").select("dataset", "user", "value").rows() == [
        ("hellaswag", "id0", 0.0), ("hellaswag", "id1", 1.0), ("mmlu", "id1", 1.0)
    ]  # fmt: skip


def test_instances_lead_to_a_paired_comparison(tmp_path):
    for model, grades in (("a", "C" * 30), ("b", "CI" * 15), ("c", "CII" * 10)):
        for task in ("one", "two"):
            (tmp_path / f"{model}-{task}.json").write_text(json.dumps(inspect_log(model, grades, task)))
    assert recassay.users(load_results(tmp_path), "accuracy") is not None


def _bomb() -> bytes:
    return packed(inspect_log("m", "C"), **{"summaries.json": "[" + " " * (80 << 20) + "]"})


HOSTILE = {
    "samples_t_2026-01-01T00-00-00.0.jsonl": b'{"doc_id": 0, "resps": [], "metrics": ["acc"], "acc": 1.0}\n[1]\n',
    "samples_cut_2026-01-01T00-00-00.0.jsonl": b'{"doc_id": 0, "resps": [], "metrics": ["acc"], "acc": 1.0}\n{"doc',
    "samples_none_2026-01-01T00-00-00.0.jsonl": b'{"doc_id": 0, "resps": [], "metrics": []}\n',
    "no header.eval": packed(inspect_log("m", "C")).replace(b"header.json", b"header.jsox"),
    "cut.eval": packed(inspect_log("m", "C"))[:200],
    "bomb.eval": _bomb(),
    "odd.eval": packed({"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [{"id": 1}]}),
    "scores.json": json.dumps(inspect_log("m", "C") | {"samples": [3]}).encode(),
    "null.json": json.dumps(inspect_log("m", "C") | {"samples": [{"id": "q", "scores": {"s": None}}]}).encode(),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_versions_are_one_line(name, tmp_path):
    (tmp_path / name).write_bytes(HOSTILE[name])
    with pytest.raises(RecAssayError) as error:
        load_results(tmp_path / name)
    assert "\n" not in str(error.value)


def test_a_search_beside_its_results_is_left_out(tmp_path):
    rows = "\n".join(f"{a},{d},0.{i}{k}" for i, a in enumerate("AB") for k, d in enumerate("xy"))
    (tmp_path / "results.csv").write_text(f"model,dataset,ndcg@10\n{rows}\n")
    search = "\n".join(f"{a},{d},0.{t}" for a in "AB" for d in "xy" for t in (1, 2, 3))
    (tmp_path / "search.csv").write_text(f"model,dataset,ndcg@10\n{search}\n")
    results = load_results(tmp_path)
    assert results.frame.height == 4
    assert any("1 file with several values per cell (trials of a search?)" in note for note in results.notes)


@pytest.mark.parametrize("word", ["i_split", "fold_id", "split", "fold", "cv_fold"])
def test_folds_under_other_names(word, tmp_path):
    rows = "\n".join(f"{a},{d},{fold},0.{i}{k}{fold}" for i, a in enumerate("AB") for k, d in enumerate("xy")
                     for fold in range(3))  # fmt: skip
    (tmp_path / "t.csv").write_text(f"model,dataset,{word},ndcg@10\n{rows}\n")
    results = load_results(tmp_path / "t.csv")
    assert results.metrics == ["ndcg@10"]
    assert results.frame.get_column("fold").unique().sort().to_list() == ["0", "1", "2"]


def test_instances_of_each_format_give_their_means(tmp_path):
    helm = load_results(SAMPLES / "helm" / "per_instance_stats.json")
    assert helm.frame.select("value", "runs").row(0) == (pytest.approx(2 / 6), 6)  # perturbed ones are left out
    samples = load_results(SAMPLES / "every_eval_ever" / "4f1c_samples.jsonl")
    means = dict(samples.frame.select("metric", "value").iter_rows())
    assert means == {"accuracy": pytest.approx(0.2), "score": pytest.approx(0.5)}
    report = load_results(SAMPLES / "swe_bench" / "org__agent.lite-run.json")
    assert report.algorithms == ["org/agent"]
    assert report.frame.get_column("value").to_list() == [0.5]
    without = {part: [part] for part in ("empty_patch_ids", "error_ids", "incomplete_ids")}
    (tmp_path / "agent.run.json").write_text(json.dumps({"resolved_ids": ["a"], "unresolved_ids": [], **without}))
    assert load_results(tmp_path / "agent.run.json").frame.get_column("value").to_list() == [0.25], (
        "an instance without an answer is not resolved"
    )
    predictions = load_results(SAMPLES / "openml" / "predictions.arff")
    assert predictions.datasets == ["openml task 59"]
    assert predictions.frame.get_column("value").item() == pytest.approx(3 / 7)
    for one in (helm, samples, report, predictions):
        assert one.words == ("model", "task")


def test_what_another_submission_resolved_counts_as_not_resolved(tmp_path):
    results = load_results(SAMPLES / "swe_bench" / "verified")
    assert dict(results.frame.select("algorithm", "value").iter_rows()) == {"20240402_one": 0.75, "20240620_two": 0.25}
    alone = tmp_path / "verified" / "one" / "results" / "results.json"
    alone.parent.mkdir(parents=True)
    alone.write_text('{"no_generation": [], "no_logs": [], "resolved": ["a-1"]}')
    with pytest.raises(RecAssayError, match="resolved instances only"):
        load_results(alone)
    other = tmp_path / "verified" / "two" / "results" / "results.json"
    other.parent.mkdir(parents=True)
    for time, instances in enumerate((["a-2"], ["a-2", "a-3", "a-4"])):  # what the other has may change meanwhile
        other.write_text(json.dumps({"no_generation": [], "no_logs": [], "resolved": instances}))
        os.utime(other, (time, time))
        assert load_results(alone).frame["value"].to_list() == [1 / (1 + len(instances))]


def test_folders_of_mteb_are_models_and_tasks(tmp_path):
    results = load_results(SAMPLES / "mteb")
    assert results.algorithms == ["org/old", "org/small"]
    assert results.datasets == ["BIOSSES", "Banking77Classification", "STS22[de]", "STS22[en]"]
    again = tmp_path / "org__small"
    shutil.copytree(SAMPLES / "mteb" / "org__small", again)
    shutil.copytree(again / "e4ce9877abf3", again / "c007d7ef6fd8")
    assert load_results(tmp_path).algorithms == ["org/small@c007d7e", "org/small@e4ce987"]


def test_the_retrieval_metrics_of_mteb_have_cut_offs_and_conventions(tmp_path):
    scores = {"ndcg_at_10": 0.4, "map_at_3": 0.2, "mrr_at_5": 0.3, "v_measure": 0.6, "main_score": 0.4}
    document = {"mteb_version": "1.12", "task_name": "SciFact", "scores": {"test": [scores]}}
    (tmp_path / "SciFact.json").write_text(json.dumps(document))
    rows = load_results(tmp_path / "SciFact.json").frame.select("metric", "value", "convention").rows()
    ways = {metric: (value, (way or "").partition(":")[0]) for metric, value, way in rows}
    assert ways == {"ndcg@10": (0.4, "graded_linear"), "map@3": (0.2, "by_relevant"), "mrr@5": (0.3, "first"),
                    "v_measure": (0.6, ""), "main_score": (0.4, "")}  # fmt: skip


def test_battles_are_rated_as_bradley_and_terry(tmp_path):
    found = recassay.ratings(SAMPLES / "battles" / "clean_battle.json", replicates=200)
    # gpt-4 made 1 + 1 + 0.5 + 0 points in four battles, vicuna 0 + 0.5 + 1 + 1 in four, koala the other 1.
    assert found.battles == 6
    rating = dict(zip(found.algorithms, found.rating, strict=True))
    assert rating["gpt-4"] == pytest.approx(rating["vicuna-13b"], abs=1e-6)
    assert rating["koala-13b"] < rating["gpt-4"]
    rng = np.random.default_rng(1)
    strength = np.array([0.8, 0.2, -1.0])
    rows = []
    for a, b in rng.choice([(0, 1), (0, 2), (1, 2), (1, 0)], size=4000).tolist():
        wins = rng.random() < 1 / (1 + np.exp(strength[b] - strength[a]))
        rows.append((f"m{a}", f"m{b}", "model_a" if wins else "model_b"))
    pl.DataFrame(rows, schema=["model_a", "model_b", "winner"], orient="row").write_csv(tmp_path / "b.csv")
    result = recassay.ratings(tmp_path / "b.csv", replicates=200)
    truth = 1500 + 400 / np.log(10) * strength
    assert ((result.interval[:, 0] <= truth) & (truth <= result.interval[:, 1])).all()
    assert result.to_dict()["battles"] == 4000
    with pytest.raises(RecAssayError, match="families"):
        recassay.ratings(tmp_path / "b.csv", families="auto")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("b.csv", "model_a,model_b,winner\na,a,model_a\n", "meets itself"),
        ("b.csv", "model_a,model_b,winner\na,b,c\n", "neither of"),
        ("b.csv", "model_a,model_b,winner\na,,tie\n", "lacks a model"),
        ("b.jsonl", '{"model_a": "a", "model_b": "b", "winner": "tie"}\n[]\n', "line 2: is not a JSON object"),
        ("p.arff", "@relation openml_task_1_predictions\n@attribute row_id numeric\n"
         "@attribute prediction {a}\n@data\n1,a\n", "no true class"),
        ("t.json", '{"mteb_version": "1.1", "test": {"languages": []}}', "holds no score"),
        ("t.json", '{"mteb_version": "1.1", "task_name": "x", "scores": {"test": [3]}}', "is not what MTEB writes"),
        ("s.json", '{"resolved_ids": [], "submitted_ids": []}', "resolved instances only"),
        ("s.json", '{"resolved_ids": [[1]], "submitted_ids": [{}]}', "is not what SWE-bench writes"),
        ("h.json", '[{"instance_id": "i", "stats": [3]}]', "is not what HELM writes"),
        ("h.json", '[{"instance_id": "i", "stats": []}]', "holds no score of an instance"),
        ("e.jsonl", '{"schema_version": "instance_level_eval_0.2.2"}\n', "is not what Every Eval Ever writes"),
        ("e.jsonl", '{"schema_version": "instance_level_eval_0.2.2", "x": ' + "[" * 5000 + "\n", "JSON|nested"),
    ],
)  # fmt: skip
def test_bad_instance_files_are_refused_in_one_line(name, text, words, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(RecAssayError, match=words) as refused:
        load_results(tmp_path / name)
    assert "\n" not in str(refused.value)
