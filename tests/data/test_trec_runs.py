"""TREC runs with qrels: the values are those of trec_eval and pytrec_eval, query by query."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from recassay import import_results, users
from recassay.core.errors import InputError

SAMPLES = Path(__file__).parents[1] / "samples"
NAMES = {"map": "map", "recip_rank": "mrr", "P_10": "precision@10", "recall_10": "recall@10", "ndcg_cut_10": "ndcg@10"}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    shutil.copytree(SAMPLES / "trec" / "toya", tmp_path / "toya", ignore=shutil.ignore_patterns("*.txt"))
    return tmp_path / "toya"


def values(folder: Path, system: str) -> dict[tuple[str, str], float]:
    found = import_results(folder).users
    assert found is not None
    own = found.filter(pl.col("algorithm") == system)
    return {(metric, query): value for metric, query, value in own.select("metric", "user", "value").iter_rows()}


def test_every_query_has_the_value_of_pytrec_eval(runs: Path) -> None:
    ours = values(runs, "pop")
    theirs = json.loads((SAMPLES / "trec" / "pytrec_eval_pop.json").read_text())
    assert len(theirs) == 6
    for query, measures in theirs.items():
        for name, label in NAMES.items():
            if name == "ndcg_cut_10":  # that file counts every relevant document alike
                continue
            assert ours[label, query] == pytest.approx(measures[name], abs=1e-12), (query, name)


@pytest.mark.parametrize("system", ["pop", "itemknn", "random"])
def test_every_query_has_the_value_that_trec_eval_prints(runs: Path, system: str) -> None:
    ours = values(runs, system)
    printed = (SAMPLES / "trec" / "toya" / f"trec_eval_q_{system}.txt").read_text()
    lines = [found for found in re.findall(r"^(\S+)\s+(u\S+)\s+([\d.]+)$", printed, re.MULTILINE) if found[0] in NAMES]
    assert len(lines) == 60
    assert all(ours[NAMES[name], query] == pytest.approx(float(value), abs=5.1e-5) for name, query, value in lines)


def test_ties_go_by_the_document_and_a_query_without_a_list_counts_zero(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 0.5 a\nq1 Q0 d2 2 0.5 a\nq1 Q0 d3 3 0.5 a\n")
    (tmp_path / "b.run").write_text("q1 Q0 d3 1 9 b\nq2\tQ0  d1 1 9 b\n")
    (tmp_path / "x.qrels").write_text("q1 0 d3 1\nq2 0 d1 2\nq2 0 d9 1\nq3 0 d1 0\n")
    assert values(tmp_path, "a")["mrr", "q1"] == 1  # d3 comes first of the three, though it was written last
    assert values(tmp_path, "a")["map", "q2"] == 0
    assert values(tmp_path, "b")["map", "q2"] == pytest.approx(1 / 2)
    assert ("map", "q3") not in values(tmp_path, "a")
    assert any("1 judged query is not in the run and counts 0" in note for note in import_results(tmp_path).notes)


def test_each_folder_is_a_dataset_and_qrels_may_stand_above(tmp_path: Path) -> None:
    for folder in ("films", "books"):
        (tmp_path / folder).mkdir()
        for system, document in (("a", "d1"), ("b", "d2")):
            lines = "".join(f"q{q} Q0 {document} 1 1 {system}\n" for q in range(8))
            (tmp_path / folder / f"{system}.run").write_text(lines)
    (tmp_path / "all.qrels").write_text("".join(f"q{q} 0 d1 1\n" for q in range(8)))
    found = import_results(tmp_path)
    assert set(found.datasets) == {"films", "books"}
    assert users(tmp_path, "map").to_dict()["datasets"]


def test_runs_beside_the_output_of_trec_eval_are_left_out(runs: Path) -> None:
    shutil.copy(SAMPLES / "trec" / "trec_eval_q_pop.txt", runs / "trec_eval_q_pop.txt")
    found = import_results(runs)
    assert found.algorithms == ["pop"]
    assert any("3 files with recommendation lists" in note for note in found.notes)


def test_a_response_table_is_one_dataset_with_an_answer_per_instance(tmp_path: Path) -> None:
    (tmp_path / "iris.csv").write_text("classifier,i1,i2,i3,i4\nsvm,1,1,0,1\ntree,1,0,0,\n")
    (tmp_path / "wine.csv").write_text("classifier,i1,i2,i3,i4\nsvm,1,0,0,1\ntree,1,0,1,1\n")
    found = import_results(tmp_path)
    table = {(a, d): v for a, d, v in found.frame.select("algorithm", "dataset", "value").iter_rows()}
    assert table == {("svm", "iris"): 0.75, ("tree", "iris"): 1 / 3, ("svm", "wine"): 0.5, ("tree", "wine"): 0.75}
    assert found.users is not None
    assert found.users.height == 15
    assert found.words == ("model", "task")
    (tmp_path / "iris.csv").write_text("classifier,i1,i2,i3,i4\nsvm,1,1,0,2\ntree,1,0,0,1\n")
    with pytest.raises(InputError, match="holds '2'"):
        import_results(tmp_path / "iris.csv", format="responses")
