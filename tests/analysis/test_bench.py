"""Where one algorithm stands among the baselines: places, the test over users, and the sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recassay.analysis.bench import fit as bench_module
from recassay.analysis.bench.fit import place_algorithm
from recassay.analysis.bench.result import BenchResult
from recassay.analysis.users.fit import compare_users
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.scores import UserScores
from recassay.reporting.sections.bench import tables
from recassay.reporting.words.bench import beaten


def placed(values, users=None, *, upward: bool = True, user_metric: str = "ndcg@10") -> BenchResult:
    names, datasets = ("A", "Mine", "Z")[: len(values)], tuple(f"d{j}" for j in range(len(values[0])))
    matrix = Matrix(np.array(values), names, datasets, "ndcg@10", upward)
    return place_algorithm(
        matrix, "Mine", users or {}, user_metric=user_metric, seed=3, benchmark="b", of_datasets=len(datasets)
    )


def test_each_dataset_has_its_place_and_the_test_against_its_best_baseline():
    """Three datasets: on d0 Mine is ahead of Z, on d1 behind A, d2 has no users that both were judged on."""
    rng = np.random.default_rng(0)
    users = {
        "d0": UserScores("d0", ("A", "Z", "Mine"), np.array([[0.0], [0.1], [0.3]]) + rng.random((3, 40))),
        "d1": UserScores("d1", ("Z", "Mine", "A"), np.array([[0.0], [0.1], [0.4]]) + rng.random((3, 30)), left_out=2),
        "d2": UserScores("d2", ("A", "Mine"), rng.random((2, 30))),
    }
    values = [[0.1, 0.9, 0.3], [0.6, 0.5, 0.3], [0.4, 0.2, 0.5]]
    result = placed(values, users)
    rows = {row.dataset: row for row in result.rows}
    assert [(row.dataset, row.place, row.of, row.best, row.best_value, row.value) for row in result.rows] == [
        ("d0", 1, 3, "Z", 0.4, 0.6), ("d1", 2, 3, "A", 0.9, 0.5), ("d2", 2, 3, "Z", 0.5, 0.3)
    ]  # fmt: skip
    p = []
    for dataset, best, sign in (("d0", "Z", 1), ("d1", "A", -1)):
        known, row = users[dataset], rows[dataset]
        own, other = (known.values[known.algorithms.index(name)] for name in ("Mine", best))
        both = UserScores(dataset, ("Mine", best), np.stack([own, other]))
        test = compare_users([both], "", higher_is_better=True, seed=3).datasets[0].pairs[0]
        assert (test.left == "Mine") == (sign > 0)
        assert row.users == known.users
        assert row.difference == pytest.approx((own - other).mean())
        assert (row.low, row.high) == ((test.low, test.high) if sign > 0 else (-test.high, -test.low))
        p.append(test.p)
    # Holm over the two datasets that were tested: the smaller p twice.
    assert min(rows[d].p for d in ("d0", "d1")) == pytest.approx(2 * min(p))
    assert max(rows[d].p for d in ("d0", "d1")) == pytest.approx(max(2 * min(p), max(p)))
    assert (rows["d2"].users, rows["d2"].difference, rows["d2"].p) == (None, None, None)
    other_metric = placed(values, users, user_metric="recall@10")
    assert all(row.p is None for row in other_metric.rows)
    alone = {"d0": UserScores("d0", ("A", "Z", "Mine"), np.ones((3, 1)))}
    assert all(row.p is None for row in placed(values, alone).rows), "one user is not a sample"
    downward = placed(values, upward=False).rows
    assert [(row.dataset, row.place, row.best) for row in downward] == [("d2", 1, "A"), ("d1", 2, "Z"), ("d0", 3, "A")]


def test_the_headline_says_whom_it_beats():
    better, middle, worse = (np.linspace(low, low + 0.1, 9) for low in (0.7, 0.5, 0.3))
    first, between, last = placed([middle, better, worse]), placed([better, middle, worse]), placed([better, worse])
    assert first.headline() == "Mine beats all 2 baselines on 9 datasets."
    assert between.headline() == "Mine is number 2 of 3 on 9 datasets: it beats 1 baseline, and 1 beats it."
    assert last.headline() == "Mine is number 2 of 2 on 9 datasets: it beats no baseline, and 1 beats it."
    both = placed([better, worse, middle])
    assert both.headline() == "Mine is number 3 of 3 on 9 datasets: it beats no baseline, and 2 beat it."
    close = placed([better + np.where(np.arange(9) % 2, 0.01, -0.011), better, worse])
    assert close.headline() == "Mine is number 1 of 3 on 9 datasets: it beats 1 baseline, and none beats it."
    few = placed([middle[:1], better[:1], worse[:1]])
    assert few.headline() == "Mine is number 1 of 3 on 1 dataset: too few for a verdict."
    assert beaten(few) == ["Against A and Z nothing is decided."]
    assert few.to_dict()["undecided"] == ["A", "Z"]
    assert first.judgement.control == "Mine"
    assert (first.mean_rank, between.mean_rank, both.mean_rank) == (1, 2, 3)
    assert beaten(first) == ["Mine beats A and Z."]
    assert beaten(between) == ["Mine beats Z.", "A beats Mine."]
    assert beaten(both) == ["A and Z beat Mine."]
    alike = middle * (1 + 1e-4 * np.array([1, -1, 2, -2, 0.5, -0.5, 3, -3, 0.1]))
    assert beaten(placed([alike, middle])) == ["Mine and A are equivalent within 2 %."]
    assert beaten(placed([middle * (1 + 1e-4), middle])) == ["A beats Mine."], "by little, but everywhere"
    mixed = middle + np.tile([0.2, -0.2, 0.1], 3)
    assert beaten(placed([middle, mixed])) == ["Against A nothing is decided."]
    answer = between.to_dict()
    assert [answer[key] for key in ("beats", "beaten_by", "equivalent", "undecided")] == [["Z"], ["A"], [], []]


def test_the_verdict_on_a_bench_is_that_of_its_control_and_seed(monkeypatch):
    asked = []
    real = bench_module.judge
    monkeypatch.setattr(
        bench_module, "judge", lambda matrix, **options: asked.append(options) or real(matrix, **options)
    )
    tested = bench_module.compare_users
    monkeypatch.setattr(
        bench_module, "compare_users", lambda *given, **options: asked.append(options) or tested(*given, **options)
    )
    users = {"d0": UserScores("d0", ("A", "Mine"), np.random.default_rng(0).random((2, 9)))}
    found = placed([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], users)
    assert asked == [{"higher_is_better": True, "seed": 3}, {"control": "Mine", "seed": 3}]
    assert (found.benchmark, found.of_datasets, found.folder, found.seconds) == ("b", 3, "", None)
    facts = {"skipped": {"d9": "not asked for"}, "left_out": {"Z": "no value"}, "seconds": 3.0, "joules": 50.0,
             "folder": "here", "notes": ("A note.",)}  # fmt: skip
    told = replace(found, **facts).to_dict()
    assert {name: told[name] for name in facts} == facts | {"notes": ["A note."]}
    assert (told["algorithm"], told["benchmark"], told["of_datasets"], told["mean_rank"]) == ("Mine", "b", 3, 1.0)
    assert found.frames()["bench"]["place"].to_list() == [1, 1, 1]
    assert found.frames()["bench_standing"].height == 2


def test_equal_mean_ranks_share_a_place_whatever_the_names():
    better, worse = np.linspace(0.7, 0.8, 9), np.linspace(0.3, 0.4, 9)
    for values in ([worse, worse, better], [better, worse, worse]):
        result = placed(values)
        assert "Mine is number 2 of 3 (shared) on 9 datasets" in result.headline()
        standing = next(iter(tables(result)))
        assert [row[0] for row in standing.rows] == ["1", "2", "2"]


def test_equal_values_share_the_better_place_and_datasets_are_listed_by_place_and_name():
    rows = placed([[0.3, 0.5, 0.2, 0.9], [0.3, 0.4, 0.2, 0.1], [0.1, 0.4, 0.1, 0.5]]).rows
    assert [(row.dataset, row.place, row.best) for row in rows] == [
        ("d0", 1, "A"), ("d2", 1, "A"), ("d1", 2, "A"), ("d3", 3, "A")
    ]  # fmt: skip
    turned = Matrix(np.array([[0.3, 0.3, 0.3], [0.4, 0.4, 0.2]]), ("A", "Mine"), ("z", "b", "a"), "ndcg@10", True)
    listed = place_algorithm(turned, "Mine", {}, user_metric="ndcg@10", seed=3, benchmark="b", of_datasets=3).rows
    assert [row.dataset for row in listed] == ["b", "z", "a"], "whatever the order of the table"


def test_many_names_in_the_sentences_are_cut():
    names = ("Mine", *(f"b{i}" for i in range(10)))
    table = np.linspace(1.0, 0.1, 11)[:, None] + np.linspace(0, 0.01, 8)
    matrix = Matrix(table, names, tuple(f"d{j}" for j in range(8)), "ndcg@10", True)
    found = place_algorithm(matrix, "Mine", {}, user_metric="", benchmark="b", of_datasets=8)
    assert beaten(found) == ["Mine beats b0, b1, b2, b3, b4, b5, b6, b7 and 2 more."]
