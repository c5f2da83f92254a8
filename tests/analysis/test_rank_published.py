"""The KDD'24 benchmark at ndcg@10: Table 2 and the authors' own output files."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import recassay

pytestmark = pytest.mark.reference

TABLE_2 = {  # KDD'24, Table 2; three digits
    "mean": {"EASE": 0.069, "LightGCL": 0.065, "LightGCN": 0.064, "MultiVAE": 0.061, "LightFM": 0.059, "SLIM": 0.058,
             "BPR": 0.057, "ALS": 0.057, "ItemKNN": 0.056, "MostPop": 0.041, "Random": 0.007},
    "geometric_mean": {"EASE": 0.042, "LightGCN": 0.038, "LightGCL": 0.038, "MultiVAE": 0.038, "ALS": 0.035,
                       "LightFM": 0.034, "ItemKNN": 0.033, "BPR": 0.030, "SLIM": 0.025, "MostPop": 0.017,
                       "Random": 0.001},
    "harmonic_mean": {"EASE": 0.023, "LightGCN": 0.021, "ALS": 0.020, "LightGCL": 0.020, "MultiVAE": 0.020,
                      "ItemKNN": 0.018, "LightFM": 0.017, "BPR": 0.014, "MostPop": 0.006, "SLIM": 0.003,
                      "Random": 0.000},
    "copeland": {"EASE": 10, "MultiVAE": 8, "LightGCN": 6, "SLIM": 3, "ALS": 2, "LightGCL": 0, "LightFM": -1,
                 "ItemKNN": -4, "BPR": -6, "MostPop": -8, "Random": -10},
    "minimax": {"EASE": 0, "SLIM": -21, "MultiVAE": -22, "LightGCN": -22, "LightGCL": -23, "ALS": -24, "BPR": -25,
                "ItemKNN": -26, "LightFM": -26, "MostPop": -29, "Random": -30},
    "dm_lbo": {"EASE": 1, "LightGCN": 2, "LightGCL": 3, "MultiVAE": 4, "ALS": 5, "ItemKNN": 6, "LightFM": 7, "BPR": 8,
               "SLIM": 9, "MostPop": 10, "Random": 11},
}  # fmt: skip


@pytest.fixture(scope="module")
def answer(kdd24):
    return recassay.rank(kdd24, "ndcg@10", replicates=200).to_dict()


@pytest.mark.parametrize("method", TABLE_2)
def test_table_2(answer, method):
    digits = 3 if "mean" in method else 9
    assert {a: round(s, digits) for a, s in answer["methods"][method].items()} == TABLE_2[method]


def test_mean_ranks_are_the_authors(answer, reference):
    published = dict(pl.read_csv(reference / "kdd24" / "published_cd_ndcg_10.csv").select("Model_name", "score").rows())
    assert answer["methods"]["mean_rank"] == pytest.approx(published, abs=1e-9)


def test_grid_areas_are_the_authors(kdd24, reference):
    table = pl.read_csv(reference / "kdd24" / "published_dolan_more_ndcg_10.csv")
    grid = recassay.rank(kdd24, "ndcg@10", methods=["dm_auc"], beta_step=0.1, replicates=100).to_dict()
    assert grid["methods"]["dm_auc"] == pytest.approx(dict(table.select("Model_name", "score").rows()), abs=1e-12)


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
    with pytest.raises(recassay.RecAssayError, match=r"2 cells of seconds_fit are missing: .* on .*--missing"):
        recassay.rank(kdd24, "seconds_fit")


def test_metric_correlations_are_figure_2(kdd24):
    rho = recassay.correlations(kdd24).to_dict()["spearman"]
    figure = {("recall", "ndcg"): 0.90, ("recall", "mrr"): 0.85, ("recall", "map"): 0.86, ("recall", "hitrate"): 0.92,
              ("recall", "precision"): 0.96, ("ndcg", "mrr"): 0.95, ("ndcg", "map"): 0.97, ("ndcg", "hitrate"): 0.90,
              ("mrr", "map"): 0.94, ("mrr", "hitrate"): 0.89, ("map", "hitrate"): 0.85, ("map", "precision"): 0.91,
              ("ndcg", "coverage"): -0.08, ("ndcg", "novelty"): 0.01, ("ndcg", "diversity"): 0.0}  # fmt: skip
    ours = {pair: rho[f"{pair[0]}@10"][f"{pair[1]}@10"] for pair in figure}
    assert ours == pytest.approx(figure, abs=0.0151)


def test_friedman_and_groups(kdd24):
    answer = recassay.compare(kdd24, "ndcg@10")
    assert answer.algorithms[0] == "EASE"
    assert answer.algorithms[-1] == "Random"
    assert answer.friedman.f_p_value < 1e-20
    assert all("Random" not in group for group in answer.groups["wilcoxon_holm"])
    assert np.isclose(answer.nemenyi_cd, 3.219 * np.sqrt(11 * 12 / (6 * 30)), atol=2e-3)  # Demšar, Table 5a: q for 11
