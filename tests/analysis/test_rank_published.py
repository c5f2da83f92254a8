"""The KDD'24 benchmark at ndcg@10, beyond the numbers of its tables, which `test_reproduce` holds."""

from __future__ import annotations

import numpy as np
import pytest

import recassay


@pytest.fixture(scope="module")
def answer(kdd24):
    return recassay.rank(kdd24, "ndcg@10", replicates=200).to_dict()


def test_exact_areas(answer):
    assert round(answer["methods"]["dm_auc"]["EASE"], 3) == 0.120
    assert round(answer["methods"]["dm_auc"]["LightGCN"], 3) == 0.112
    assert sum(answer["methods"]["dm_auc"].values()) == pytest.approx(1)


def test_shared_ranks(answer):
    assert answer["ranks"]["minimax"]["LightGCN"] == answer["ranks"]["minimax"]["MultiVAE"] == 3.5


def test_lower_is_better_puts_the_cheap_first(kdd24):
    cheap = recassay.rank(kdd24, "seconds_fit", missing="drop-datasets", replicates=100).to_dict()
    for method, ranks in cheap["ranks"].items():
        assert min(ranks, key=ranks.get) in {"MostPop", "Random"}, method


def test_missing_timings_are_listed(kdd24):
    with pytest.raises(recassay.RecAssayError, match=r"2 cells of seconds_fit are missing: .* on .*missing="):
        recassay.rank(kdd24, "seconds_fit")


@pytest.mark.slow
def test_friedman_and_groups(kdd24):
    answer = recassay.compare(kdd24, "ndcg@10")
    assert answer.algorithms[0] == "EASE"
    assert answer.algorithms[-1] == "Random"
    assert answer.friedman.f_p_value < 1e-20
    assert all("Random" not in group for group in answer.groups["wilcoxon_holm"])
    assert np.isclose(answer.nemenyi_cd, 3.219 * np.sqrt(11 * 12 / (6 * 30)), atol=2e-3)  # Demšar, Table 5a: q for 11
