"""The examples of the suites are the same everywhere: what a plugin fails on here, it fails on at home."""

from __future__ import annotations

import numpy as np
import pytest

from recassay.core.types import FloatArray
from recassay.testing.analysis_examples import example_evidence, odd_cases, rearranged, usual_case
from recassay.testing.examples import example_interactions, judged_lists, learnable_tastes
from recassay.testing.results import ALGORITHMS, synthetic_results
from support.grids import GRID_KINDS, synthetic_grid, synthetic_probes

GRIDS = {
    "factors": (-116.0880, 169.8230),
    "tails": (-109.8242, 14.0468),
    "regimes": (-88.4995, 43.9004),
    "none": (-104.0874, 91.7468),
    "failures": (-91.0375, 166.1206),
    "ties": (-104.5243, 135.8142),
    "families": (-73.1109, 176.2172),
    "bands": (-98.2381, 164.7101),
    "memory": (-88.4832, 93.9826),
}
"""By kind, the sums of the logarithms of finite values and of seconds, of five algorithms on seven datasets."""


def logs(values: FloatArray) -> float:
    return float(np.log(values[np.isfinite(values)]).sum())


@pytest.mark.parametrize("kind", GRID_KINDS)
def test_synthetic_grids(kind) -> None:
    grid = synthetic_grid(kind, np.random.default_rng(3), algorithms=5, datasets=7)
    assert (logs(grid.values), logs(grid.seconds)) == pytest.approx(GRIDS[kind], abs=1e-3)
    assert float(grid.features.sum()) == pytest.approx(77.2642, abs=1e-3)
    assert bool(np.isneginf(grid.values).any()) == (kind == "memory")


def test_the_size_of_a_grid_and_probes_of_its_cells() -> None:
    assert synthetic_grid("none", np.random.default_rng(3)).values.shape == (15, 11)
    grid = synthetic_grid("factors", np.random.default_rng(3), algorithms=5, datasets=7)
    for noise, sums, sizes in ((None, (-2.5616, 65.6552), 48.3203), (0.5, (0.4021, 66.3274), 31.9390)):
        values, seconds = synthetic_probes(grid, np.random.default_rng(4), noise=noise)
        assert (logs(values), logs(seconds)) == pytest.approx(sums, abs=1e-3)
        assert float(np.abs(np.log(values)).sum()) == pytest.approx(sizes, abs=1e-3)


def test_synthetic_results() -> None:
    frame = synthetic_results(2, seeds=2)
    sums = {metric[0]: group["value"].sum() for metric, group in frame.group_by("metric")}
    assert sums == pytest.approx(
        {"ndcg@10": 3.945784, "hitrate@10": 9.588056, "coverage@10": 12.640854, "seconds_fit": 570.378598}, rel=1e-6
    )
    seconds = frame.filter(metric="seconds_fit", seed=0)["value"].to_list()
    assert seconds[:4] == pytest.approx([76.3446, 40.2821, 58.7424, 23.1951], rel=1e-5)
    assert frame["algorithm"].unique(maintain_order=True).to_list() == list(ALGORITHMS)


def test_tastes_and_judged_lists() -> None:
    train, test = learnable_tastes()
    assert (len(train), len(test)) == (2160, 720)
    marks = [int((part.item.astype(np.int64) * part.user).sum()) for part in (train, test)]
    assert marks == [24_228_843, 8_300_121]
    train, test = learnable_tastes(held_out=8)
    with_own_left = set(train.user[train.item // 40 == train.user // 60])
    assert with_own_left.isdisjoint(test.user[test.item // 40 != test.user // 60]), "own choices are held out first"
    assert len(with_own_left) > 200
    lists = judged_lists()
    assert lists.top.users.tolist() == [3, 5, 0, 10, 6, 7, 2, 16, 11, 9, 4, 8, 12, 14, 15, 1, 13]
    assert (lists.top.items >= 0).sum(axis=1).tolist() == [7, 0, 3, 8, 6, 6, 7, 3, 6, 6, 3, 3, 3, 8, 8, 8, 8]
    assert (int(lists.top.items.sum()), int(lists.truth.sum()), int(lists.train.sum())) == (399, 34, 105)


ODD = {
    "two algorithms on two datasets": (36, 163.531, 0),
    "results that are all equal": (216, 779.508, 0),
    "two algorithms that are equal everywhere": (216, 952.486, 0),
    "a dataset on which all are equal": (216, 1053.67, 0),
    "an algorithm and a dataset with zeros alone": (216, 671.357, 0),
    "results that are all zero": (216, 0.0, 0),
    "negative values": (216, 112.827, 0),
    "values of very different size": (216, 20405.4, 0),
    "lower is better": (216, 1958.87, 0),
    "one metric, of unknown name": (24, 7.83948, 0),
    "missing cells under error": (216, 1021.26, 9),
    "missing cells under drop-datasets": (216, 1021.26, 9),
    "missing cells under worst": (216, 1021.26, 9),
    "an algorithm without any value": (216, 765.598, 54),
    "unequal numbers of seeds in the folds": (864, 4371.15, 0),
    "strange names": (216, 1048.24, 0),
}
"""By table, its rows, the sum of its values, and how many are missing."""


def test_odd_and_usual_tables() -> None:
    found = {case.what: case.results.frame for case in odd_cases()}
    assert list(found) == list(ODD)
    for what, (rows, total, missing) in ODD.items():
        assert (found[what].height, found[what]["value"].null_count()) == (rows, missing), what
        assert found[what]["value"].sum() == pytest.approx(total, rel=1e-5), what
    usual = usual_case().results.frame
    sums = {metric[0]: group["value"].sum() for metric, group in usual.group_by("metric")}
    assert sums == pytest.approx(
        {"ndcg@10": 10.1185, "hitrate@10": 25.7467, "coverage@10": 47.4459, "seconds_fit": 2609.378, "auc": 30.8165,
         "diversity@10": 84.277, "robustness": 4.74459, "seconds_predict": 260.9378, "memory": 130468.9},
        rel=1e-4,
    )  # fmt: skip


def test_evidence_of_every_kind() -> None:
    evidence = example_evidence(["x", "y", "z"])
    traits = evidence["characteristics"]()
    assert traits.values[1].tolist() == pytest.approx([1.5447, 0.3478, 1.3781, 0.469, 1.0, 4.8438], abs=1e-4)
    assert np.isnan(traits.values[:, 5]).tolist() == [True, False, False]
    users, skipped = evidence["users"]()("ndcg@10")
    assert [float(scores.values.sum()) for scores in users] == pytest.approx([53.8173, 62.148], abs=1e-3)
    assert skipped == {}
    assert [int(one.responses.codes.sum()) for one in evidence["instances"]()] == [67, 79, 81, 77, 85, 79]
    third = evidence["instances"]()[2]
    assert third.roles == ("real",) * 4 + ("mlp",) * 4 + ("artificial",) * 2
    assert (third.responses.respondents[8:], third.metadata) == (
        ("optimal", "pessimal"), {"NumberOfClasses": 4.0, "NumberOfInstances": 150.0},
    )  # fmt: skip
    assert (third.responses.codes[8].tolist(), third.responses.codes[9].tolist()) == ([1] * 16, [0] * 16)
    strata = evidence["strata"]()("ndcg@10", seed=3)
    assert [float(np.nansum(one.scores)) for one in strata.datasets] == pytest.approx([158.0606, 180.1314], abs=1e-3)
    other = evidence["strata"]()("ndcg@10", seed=4)
    assert abs(np.nansum(other.datasets[0].scores) - 158.0606) > 0.01, "they follow the seed"
    label, responses = evidence["user_responses"]()("ndcg@10")
    assert (label, [int(one.codes.sum()) for one in responses.values()]) == ("hitrate@10", [146, 155])
    arrays = [traits.values, *(one.values for one in users), *(one.scores for one in strata.datasets)]
    for array in (*arrays, *(one.codes for one in responses.values())):
        assert not array.flags.writeable, "an analysis that writes into its evidence is found out"
    assert [evidence[name]() for name in ("comper", "adaptive")] == [{}, {
        "metric": "ndcg@10", "algorithms": None, "datasets": ["x", "y", "z"], "seed": 0, "steps": [], "said": "",
        "question": {"target": "first", "confidence": 0.95, "indifference": 1.0, "rho": 0.97},
    }]  # fmt: skip


def test_events_of_the_examples_have_ratings_times_and_arrays_that_nobody_changes() -> None:
    made = example_interactions(np.arange(7) % 2, np.arange(7), n_users=3, n_items=8)
    assert (made.weight.tolist(), made.users.to_list()) == ([1.0, 2.0, 3.0, 4.0, 5.0, 1.0, 2.0], ["u0", "u1", "u2"])
    assert made.time.tolist() == list(range(1_000_000_000, 1_000_000_007))
    for array in (made.user, made.item, made.weight, made.time):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_table_the_other_way_round_has_its_metrics_and_datasets_in_their_order() -> None:
    usual = usual_case().results
    turned = rearranged(usual)
    for column in ("metric", "dataset"):
        first, second = (table.frame[column].unique(maintain_order=True).to_list() for table in (usual, turned))
        assert first == second
    assert turned.frame.row(0) != usual.frame.row(0)
    assert sorted(turned.frame.rows()) == sorted(usual.frame.rows())
