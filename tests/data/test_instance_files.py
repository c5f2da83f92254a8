"""Files with one line per test instance: read with their instances, or refused in one line."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

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
    assert any("1 files with several values per cell (trials of a search?)" in note for note in results.notes)


@pytest.mark.parametrize("word", ["i_split", "fold_id", "split", "fold", "cv_fold"])
def test_folds_under_other_names(word, tmp_path):
    rows = "\n".join(f"{a},{d},{fold},0.{i}{k}{fold}" for i, a in enumerate("AB") for k, d in enumerate("xy")
                     for fold in range(3))  # fmt: skip
    (tmp_path / "t.csv").write_text(f"model,dataset,{word},ndcg@10\n{rows}\n")
    results = load_results(tmp_path / "t.csv")
    assert results.metrics == ["ndcg@10"]
    assert results.frame.get_column("fold").unique().sort().to_list() == ["0", "1", "2"]
