"""Clusters of datasets: known groups are found, none are not claimed, and Table 5 and Figure 8 of KDD'24."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.cluster import KMeans

import recassay
from recassay.analysis.clusters.fit import cluster_datasets
from recassay.analysis.clusters.number import adjusted_rand, davies_bouldin, silhouette
from recassay.analysis.dataset_space.kmeans import kmeans, kmeans_runs
from recassay.analysis.dataset_space.space import Standardisation, isolation_scores, place_datasets
from recassay.core.errors import InputError, NotApplicableError
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.reporting.sections import clusters as section
from support.benchmarks import benchmark, characteristics, fading
from support.tables import printed_table


def blobs(sizes: tuple[int, ...], apart: float, seed: int = 0) -> CharacteristicsTable:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(len(sizes), 4)) * apart
    points = np.concatenate([centre + rng.normal(size=(n, 4)) for centre, n in zip(centres, sizes, strict=True)])
    return CharacteristicsTable(points, tuple(f"d{i:02d}" for i in range(len(points))), tuple("wxyz"))


@pytest.mark.parametrize("seed", [0, 1])
def test_table_5_of_the_paper(kdd24, seed):
    """Whatever the seed; the numbers of Figure 8 are in `test_reproduce`."""
    result = recassay.clusters(kdd24, "ndcg@10", seed=seed)
    printed = printed_table("kdd24", "Table 5")
    published = [sorted(name for (name, _), number in printed.items() if number == str(k)) for k in range(1, 7)]
    assert sorted(result.members(k + 1) for k in range(len(result.sizes))) == sorted(published)
    # What the paper does not say: neither the clusters nor the difference of the ranks stand out from chance.
    assert result.number.best_silhouette < result.number.chance[1] + 0.02
    assert result.p_differ > 0.05
    assert "differ between the clusters is not shown" in section.sentences(result)[1]


def test_known_groups_are_found():
    table = blobs((8, 7, 5), apart=8.0)
    values = fading(5, 20)
    values[:, 15:] = values[::-1, 15:]
    result = cluster_datasets(benchmark(values), table)
    assert result.number.chosen == 3
    assert result.sizes.tolist() == [8, 7, 5]
    assert result.labels.tolist() == [1] * 8 + [2] * 7 + [3] * 5
    assert result.number.best_silhouette > result.number.chance[1]
    assert result.stability > 0.95
    assert result.p_differ < 0.01
    said = section.sentences(result)
    assert "above the" in said[0]
    assert "Mean ranks differ between the clusters" in said[1]
    assert result.mean_rank[0, 2] > 3 > result.mean_rank[0, 0]
    assert {name in result.members(k + 1) for k, name in enumerate(result.central)} == {True}


def test_a_cloud_is_not_taken_for_clusters():
    reached = [cluster_datasets(benchmark(fading(4, 24, seed=s)), blobs((24,), 1.0, s), seed=s) for s in range(2)]
    assert sum(r.number.best_silhouette > r.number.chance[1] for r in reached) <= 1
    assert "not as kinds of data" in section.sentences(
        min(reached, key=lambda r: r.number.best_silhouette - r.number.chance[1])
    )[0]  # fmt: skip


def test_the_same_seed_the_same_clusters_and_bad_requests():
    table, matrix = characteristics(12), benchmark(fading(4, 12))
    one, two = (cluster_datasets(matrix, table, seed=3) for _ in range(2))
    assert one.to_dict() == two.to_dict()
    assert one.frames()["cluster_numbers"].filter(chosen=True).height == 1
    with pytest.raises(InputError, match="10 clusters of 10 datasets"):
        cluster_datasets(matrix, table, clusters=10)
    with pytest.raises(NotApplicableError, match="5 datasets are too few to cluster"):
        cluster_datasets(benchmark(fading(4, 5)), characteristics(5))


def test_negative_values_have_no_geometric_mean():
    result = cluster_datasets(benchmark(fading(3, 10) - 0.5), characteristics(10))
    assert result.geometric_mean is None
    assert result.frames()["cluster_ranks"]["geometric_mean"].null_count() == 3 * len(result.sizes)
    zero = fading(3, 10)
    zero[0] = 0.0
    assert (cluster_datasets(benchmark(zero), characteristics(10)).geometric_mean[0] == 0).all()


def test_components_are_those_of_the_correlation_matrix():
    table = characteristics(15)
    space = place_datasets(table, rng=np.random.default_rng(0))
    scaled = (table.values - table.values.mean(axis=0)) / table.values.std(axis=0)
    values, vectors = np.linalg.eigh(np.corrcoef(scaled.T))
    assert space.explained == pytest.approx(values[::-1][:3] / values.sum())
    assert np.abs(space.loadings) == pytest.approx(np.abs(vectors.T[::-1][:3]))
    assert space.points == pytest.approx(scaled @ space.loadings.T)
    assert space.outlier.sum() == round(15 / 6)


def test_skewed_positive_characteristics_are_logged():
    values = np.stack([np.exp(np.linspace(0, 9, 12)), np.linspace(-1, 1, 12)], axis=1)
    scale = Standardisation.of(values, log_skewed=True)
    assert scale.logged.tolist() == [True, False]
    assert scale(values).mean(axis=0) == pytest.approx([0, 0], abs=1e-12)
    assert scale(values).std(axis=0) == pytest.approx([1, 1])
    assert scale(np.array([[0.0, 0.0]]))[0, 0] == -np.inf


@settings(max_examples=25)
@given(st.integers(2, 5), st.integers(0, 50))
def test_kmeans_is_as_good_as_the_usual_one(clusters, seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(14, 2))
    labels, centres = kmeans(points, clusters, rng)
    inertia = ((points - centres[labels]) ** 2).sum()
    usual = KMeans(clusters, n_init=10, random_state=seed).fit(points).inertia_
    assert inertia <= usual * 1.02
    for k in range(clusters):
        assert centres[k] == pytest.approx(points[labels == k].mean(axis=0))
    assert sorted(set(labels)) == list(range(clusters))


def test_points_that_coincide_lose_clusters_and_say_so():
    _, _, inertia = kmeans_runs(np.zeros((1, 6, 2)), 3, np.random.default_rng(0), starts=4)
    assert np.isinf(inertia).all()


def test_isolation_agrees_with_the_usual_forest_and_finds_what_lies_apart():
    from sklearn.ensemble import IsolationForest

    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 3))
    points[7] = 9.0
    scores = isolation_scores(points, rng, trees=500)
    usual = -IsolationForest(n_estimators=200, random_state=0).fit(points).score_samples(points)
    assert scores.argmax() == 7
    assert scores == pytest.approx(usual, abs=0.03)
    same = isolation_scores(np.zeros((5, 2)), rng, trees=10)
    assert same == pytest.approx([0.5] * 5)


@pytest.mark.parametrize("seed", range(5))
def test_the_indices_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    points, labels = rng.normal(size=(25, 3)), rng.permutation(np.arange(25) % (seed + 3))
    labels[labels == 2] = np.where(np.arange((labels == 2).sum()) == 0, 2, 0)  # a point alone in its cluster
    assert silhouette(points, labels) == pytest.approx(metrics.silhouette_score(points, labels))
    assert davies_bouldin(points, labels) == pytest.approx(metrics.davies_bouldin_score(points, labels))
    other = rng.integers(0, 4, 25)
    assert adjusted_rand(labels, other) == pytest.approx(metrics.adjusted_rand_score(labels, other))
    assert adjusted_rand(labels, labels) == 1
