"""Clusters of datasets: known groups are found, none are not claimed, and Table 5 and Figure 8 of KDD'24."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics
from sklearn.cluster import KMeans

import recassay
from recassay.analysis.clusters.fit import ANALYSIS, _difference, cluster_datasets
from recassay.analysis.clusters.number import (
    adjusted_rand,
    davies_bouldin,
    number_of_clusters,
    ordered_labels,
    silhouette,
    stability,
)
from recassay.analysis.dataset_space.kmeans import kmeans, kmeans_runs
from recassay.analysis.dataset_space.space import DatasetSpace, Standardisation, isolation_scores, place_datasets
from recassay.core.analysis import AnalysisSpec
from recassay.core.errors import InputError, NotApplicableError
from recassay.core.seeds import derived_rng
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.tables.matrix import Matrix
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
    for clusters in (10, 1):
        with pytest.raises(InputError, match=rf"{clusters} clusters of 10 datasets .* were asked for; ask for 2 to 9"):
            cluster_datasets(matrix, table, clusters=clusters)
    assert cluster_datasets(matrix, table, clusters=9).number.chosen == 9
    with pytest.raises(NotApplicableError, match="5 datasets are too few to cluster"):
        cluster_datasets(benchmark(fading(4, 5)), characteristics(5))
    assert len(cluster_datasets(benchmark(fading(4, 6)), characteristics(6)).labels) == 6


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
    largest = np.abs(space.loadings).argmax(axis=1)
    assert (space.loadings[np.arange(3), largest] > 0).all()
    assert [place_datasets(characteristics(n), rng=np.random.default_rng(0)).outlier.sum() for n in (3, 4, 6)] == [
        0,
        1,
        1,
    ]


def test_characteristics_that_say_the_same_are_one_component_and_others_are_dropped():
    rng = np.random.default_rng(1)
    size, skewed = rng.random(9), np.exp(np.linspace(0, 8, 9))
    values = np.stack([size, 2 * size + 1, np.full(9, 3.0), np.where(size > 0.5, size, np.nan)], axis=1)
    table = CharacteristicsTable(values, tuple(f"d{i}" for i in range(9)), tuple("wxyz"))
    space = place_datasets(table, rng=rng)
    assert (space.points.shape, space.loadings.shape, space.characteristics) == ((9, 1), (1, 2), ("w", "x"))
    assert space.explained == pytest.approx([1.0])
    assert space.dropped == {"y": "the same for every dataset", "z": "not known of every dataset"}
    logged = CharacteristicsTable(skewed[:, None], table.datasets, ("size",))
    steps = np.diff(np.sort(place_datasets(logged, log_skewed=True, rng=rng).points[:, 0]))
    assert steps == pytest.approx(np.full(8, steps[0])), "logarithms of these are evenly spaced"
    assert np.ptp(np.diff(np.sort(place_datasets(logged, rng=rng).points[:, 0]))) > 0.1


def test_skewed_positive_characteristics_are_logged():
    values = np.stack([np.exp(np.linspace(0, 9, 12)), np.linspace(-1, 1, 12)], axis=1)
    scale = Standardisation.of(values, log_skewed=True)
    assert scale.logged.tolist() == [True, False]
    assert scale(values).mean(axis=0) == pytest.approx([0, 0], abs=1e-12)
    assert scale(values).std(axis=0) == pytest.approx([1, 1])
    assert scale(np.array([[0.0, 0.0]]))[0, 0] == -np.inf
    assert scale(np.array([[-1.0, 0.0]]))[0, 0] == -np.inf
    even, zero, constant = np.linspace(1, 2, 12), np.r_[0.0, np.exp(np.linspace(0, 9, 11))], np.full(12, 4.0)
    scale = Standardisation.of(np.stack([even, zero, constant], axis=1), log_skewed=True)
    assert scale.logged.tolist() == [False, False, False]
    assert scale(np.array([[1.5, 0.0, 6.0]]))[0, 2] == 2.0, "a constant column keeps its unit"
    assert not Standardisation.of(values).logged.any()


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


def test_the_depth_of_isolation_is_that_of_random_cuts_of_a_line():
    """Five points: three cuts at most, then the mean depth of a search among those that are still together."""
    points = np.array([0.0, 1.0, 5.0, 20.0, 90.0])
    search = {1: 0.0, 2: 1.0, 3: 3 - 4 / 3, 4: 2 * (1 + 1 / 2 + 1 / 3) - 3 / 2, 5: 2 * (25 / 12) - 8 / 5}

    def depth(point: float, group: list[float], cuts: int = 0) -> float:
        if len(group) == 1 or cuts == 3:
            return cuts + search[len(group)]
        total, width = 0.0, group[-1] - group[0]
        for at in range(1, len(group)):
            side = group[:at] if point < group[at] else group[at:]
            total += (group[at] - group[at - 1]) / width * depth(point, side, cuts + 1)
        return total

    expected = [2 ** (-depth(point, points.tolist()) / search[5]) for point in points]
    assert isolation_scores(points[:, None], np.random.default_rng(0), trees=10_000) == pytest.approx(
        expected, abs=3e-3
    )


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


def test_every_number_of_a_clustering_follows_from_its_labels():
    table, values = blobs((7, 6, 5), apart=6.0), fading(4, 18, noise=1.0)
    values[2, 3] = 0.0
    matrix = Matrix(values, tuple("abcd"), table.datasets, "rmse", False)
    found = cluster_datasets(matrix, table, clusters=3, seed=4)
    ranks, outlier = stats.rankdata(values, axis=0), found.space.outlier
    assert outlier.sum() == 3
    points = found.space.points
    centres = np.array([points[(found.labels == k) & ~outlier].mean(axis=0) for k in (1, 2, 3)])
    away = np.linalg.norm(points[:, None] - centres, axis=2)
    assert found.labels[outlier].tolist() == (away.argmin(axis=1) + 1)[outlier].tolist()
    sizes = np.bincount(found.labels[~outlier])[1:]
    assert sizes.tolist() == sorted(sizes, reverse=True)
    for k in range(3):
        inside = found.labels == k + 1
        assert found.mean_rank[:, k] == pytest.approx(ranks[:, inside].mean(axis=1))
        with np.errstate(divide="ignore"):
            assert found.geometric_mean[:, k] == pytest.approx(np.exp(np.log(values[:, inside]).mean(axis=1)))
        own = np.flatnonzero(inside & ~outlier)
        assert found.central[k] == table.datasets[own[away[own, k].argmin()]]
        assert found.members(k + 1) == [name for name, there in zip(table.datasets, inside, strict=True) if there]
    assert found.overall_rank == pytest.approx(ranks.mean(axis=1))
    answer = found.to_dict()
    assert answer["outliers"] == [name for name, out in zip(table.datasets, outlier, strict=True) if out]
    assert answer["clusters"]["2"] == {"datasets": found.members(2), "central": found.central[1]}
    assert answer["mean_rank"]["b"]["3"] == found.mean_rank[1, 2]
    assert answer["geometric_mean"]["b"]["3"] == found.geometric_mean[1, 2]
    assert answer["explained"] == found.space.explained.tolist()
    assert (answer["stability"], answer["p_ranks_differ"]) == (found.stability, found.p_differ)
    assert (answer["metric"], answer["number"]["chosen"], answer["dropped"]) == ("rmse", 3, {})
    assert found.to_frame().filter(pl.col("central"))["dataset"].to_list() == sorted(found.central)


def test_the_difference_between_clusters_is_judged_by_permuted_labels():
    rng = np.random.default_rng(2)
    ranks, labels = stats.rankdata(rng.random((3, 9)), axis=0), np.array([0, 0, 0, 1, 1, 2, 2, 2, 2])

    def between(order):
        centred = ranks - ranks.mean(axis=1, keepdims=True)
        return sum(len(own) * (centred[:, own].mean(axis=1) ** 2).sum() for k in range(3)
                   if len(own := np.flatnonzero(order == k)))  # fmt: skip

    permuted = np.random.default_rng(5).permuted(np.tile(labels, (2000, 1)), axis=1)
    reached = sum(between(order) >= between(labels) - 1e-9 for order in permuted)
    assert _difference(ranks, labels, np.random.default_rng(5)) == pytest.approx((1 + reached) / 2001)


def test_the_number_of_clusters_is_that_of_both_indices_and_chance_is_that_of_clouds(monkeypatch):
    points = np.random.default_rng(3).normal(size=(12, 2)) * [1.0, 3.0]
    found = number_of_clusters(points, np.random.default_rng(0))
    source = np.random.default_rng(0)
    labels = [kmeans(points, k, source)[0] for k in range(2, 10)]
    assert found.candidates == tuple(range(2, 10))
    assert found.silhouette == pytest.approx([metrics.silhouette_score(points, own) for own in labels])
    assert found.davies_bouldin == pytest.approx([metrics.davies_bouldin_score(points, own) for own in labels])
    clouds = source.normal(size=(20, 12, 2)) * points.std(axis=0)
    grouped = [kmeans(clouds, k, source, starts=10)[0] for k in range(2, 10)]
    best = [max(metrics.silhouette_score(cloud, own[i]) for own in grouped) for i, cloud in enumerate(clouds)]
    assert found.chance == pytest.approx((np.mean(best), np.quantile(best, 0.95)))
    again = stability(points, labels[1], 3, np.random.default_rng(1))
    source = np.random.default_rng(1)
    parts = np.stack([source.choice(12, 11, replace=False) for _ in range(20)])
    others = kmeans(points[parts], 3, source, starts=10)[0]
    agree = [metrics.adjusted_rand_score(labels[1][part], own) for part, own in zip(parts, others, strict=True)]
    assert again == pytest.approx(np.mean(agree))
    # Ranks by silhouette (higher) and Davies-Bouldin (lower) add up; of equal sums the higher silhouette wins.
    drawn = {"silhouette": [0.5, 0.6, 0.4], "davies_bouldin": [0.8, 0.9, 1.5]}
    few = points[:5]
    for name, values in drawn.items():
        told = iter([*values, *np.zeros(60)])
        monkeypatch.setattr(f"recassay.analysis.clusters.number.{name}", lambda *_, told=told: next(told))
    assert number_of_clusters(few, np.random.default_rng(0)).chosen == 3
    monkeypatch.undo()
    named = number_of_clusters(few, np.random.default_rng(0), wanted=2)
    assert (named.candidates, named.chosen, named.best_silhouette) == ((2, 3, 4), 2, named.silhouette[0])
    assert number_of_clusters(points, np.random.default_rng(0), wanted=10).candidates == (*range(2, 10), 10)


def test_clusters_are_numbered_by_size_then_by_place():
    points = np.array([[5.0], [5.1], [-3.0], [-3.1], [0.0], [0.1], [0.2]])
    labels, centres = ordered_labels(points, 3, np.random.default_rng(0))
    assert labels.tolist() == [2, 2, 1, 1, 0, 0, 0]
    assert centres[:, 0] == pytest.approx([0.1, -3.05, 5.05])


def test_clusters_without_extent_have_no_index():
    """As scikit-learn has it: points that coincide, points alone, and centres that coincide."""
    same, pairs = np.zeros((4, 2)), np.array([0, 0, 1, 1])
    assert silhouette(same, pairs) == 0
    assert davies_bouldin(same, pairs) == 0
    apart = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    assert davies_bouldin(apart, np.arange(3)) == metrics.davies_bouldin_score(np.vstack([apart, apart]), [0, 1, 2] * 2)
    crossed = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]])
    assert davies_bouldin(crossed, pairs) == metrics.davies_bouldin_score(crossed, pairs) == 0
    three, labels = np.vstack([crossed, [[9.0, 0.0], [9.0, 1.0]]]), np.array([0, 0, 1, 1, 2, 2])
    assert davies_bouldin(three, labels) == pytest.approx(metrics.davies_bouldin_score(three, labels))


def test_clusterings_that_agree_no_better_than_chance_have_an_index_of_0():
    apart, whole = np.array([0, 0, 1, 1]), np.zeros(4, dtype=int)
    assert adjusted_rand(apart, whole) == adjusted_rand(whole, apart) == 0
    assert adjusted_rand(whole, whole) == 1
    assert adjusted_rand(np.arange(4), np.arange(4)) == 1
    assert adjusted_rand(np.arange(4), whole) == metrics.adjusted_rand_score(np.arange(4), whole) == 0


def test_nine_tenths_of_the_points_are_at_least_as_many_as_the_clusters():
    points = np.arange(25.0)[:, None] ** 2
    assert 0 <= stability(points, np.minimum(np.arange(25), 23), 24, np.random.default_rng(0)) <= 1


def test_an_outlier_is_not_central_and_what_was_asked_is_passed_on(monkeypatch):
    """The third dataset lies in the middle of its cluster and was set aside as an outlier."""
    points = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.1], [9.0, 9.0], [9.5, 9.0], [9.2, 9.0], [1.0, 0.5], [9.3, 9.8]])
    outlier = np.array([False, False, True, False, False, False, False, True])
    names = ("h", "g", "f", "e", "d", "c", "b", "a")
    table = CharacteristicsTable(points, names, ("x", "y"))
    asked = []

    def placed(known, *, log_skewed, rng):
        asked.append((known.datasets, log_skewed, rng.random()))
        return DatasetSpace(points, np.array([0.7, 0.3]), np.eye(2), names, ("x", "y"), {}, outlier)

    monkeypatch.setattr("recassay.analysis.clusters.fit.place_datasets", placed)
    matrix = Matrix(np.random.default_rng(0).random((3, 8)), tuple("pqr"), names, "ndcg@10", True)
    found = cluster_datasets(matrix, table, clusters=2, log_skewed=True, seed=3)
    assert asked == [(names, True, derived_rng(3, "outliers").random())]
    assert [found.members(k) for k in (1, 2)] == [["b", "f", "g", "h"], ["a", "c", "d", "e"]]
    assert found.central == ("b", "c")
    assert found.to_frame().filter(pl.col("central"))["dataset"].to_list() == ["c", "b"]


def test_the_report_clusters_by_its_own_seed(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "recassay.analysis.clusters.fit.cluster_datasets", lambda *given, **more: asked.append((given, more))
    )
    table = blobs((3, 3), apart=3.0)
    matrix = Matrix(np.ones((2, 6)), tuple("pq"), table.datasets, "ndcg@10", True)
    results = SimpleNamespace(matrix=lambda *given, **more: matrix)
    ANALYSIS.run(results, AnalysisSpec("ndcg@10", seed=7, evidence={"characteristics": lambda: table}))
    ((given, more),) = asked
    assert (given[0].values.tolist(), given[1], more) == (matrix.values.tolist(), table, {"seed": 7})
