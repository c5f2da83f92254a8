"""The multiverse: published counts, planted shares, the joint test, and bad input answered in words."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.analysis.multiverse import fit as multiverse_fit
from recassay.analysis.multiverse import shares as multiverse_shares
from recassay.analysis.multiverse import universes as multiverse_universes
from recassay.analysis.multiverse.claims import (
    Stated,
    describe,
    first_places,
    joint_test,
    observed,
    shown,
    suggested_claims,
)
from recassay.analysis.multiverse.fit import explore, scaled
from recassay.analysis.multiverse.repeats import drift_test, seed_shares, window_ranks
from recassay.analysis.multiverse.shares import variance_parts
from recassay.analysis.multiverse.universes import find_universes
from recassay.analysis.verdict.fit import judge
from recassay.core.content import content_order
from recassay.core.errors import InputError, UsageError
from recassay.core.system.plain import plain
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results
from recassay.reporting.sections.multiverse import sentences, tables
from recassay.reporting.words.multiverse import exceptions, notes

PUBLISHED = "published:time-to-split"


def table(levels: dict[str, int], algorithms: int = 3, datasets: int = 8, seed: int = 0, keep: float = 1.0) -> Any:
    """Random results under every combination of choices, or under some of them."""
    rng = np.random.default_rng(seed)
    grid = [combination for combination in itertools.product(*map(range, levels.values())) if rng.random() < keep]
    rows = [
        {"algorithm": f"A{a}", "dataset": f"d{d}", "metric": "ndcg@10", "value": 0.3 - 0.05 * a + 0.04 * rng.random()}
        | {name: f"{name}{at}" for name, at in zip(levels, combination, strict=True)}
        for combination in grid
        for a in range(algorithms)
        for d in range(datasets)
    ]
    return pl.DataFrame(rows)


@pytest.fixture(scope="module")
def published() -> Any:
    return recassay.multiverse(PUBLISHED)


def test_the_counts_of_the_published_multiverse(published):
    data = published.to_dict()
    assert data["universes"] == 132
    best = {row["algorithm"]: row["universes"] for row in data["best"]}
    assert best == {"SASRec": 125, "BERT4Rec": 11, "GRU4Rec": 8}
    assert data["best"][0]["share"] == pytest.approx(125 / 132)
    claims = {claim["claim"]: claim for claim in data["claims"]}
    first = {name: {c: claims[f"{c} is best"]["by_dataset"][name]["ahead"] for c in best} for name in data["datasets"]}
    assert first["Beauty"] == {"SASRec": 132, "BERT4Rec": 0, "GRU4Rec": 0}
    assert first["Diginetica"] == {"SASRec": 63, "BERT4Rec": 45, "GRU4Rec": 24}
    assert first["Movielens-1m"] == {"SASRec": 87, "BERT4Rec": 36, "GRU4Rec": 8}
    assert first["Zvuk"] == {"SASRec": 95, "BERT4Rec": 11, "GRU4Rec": 26}
    assert {axis["axis"] for axis in data["axes"]} == {"split", "validation", "target", "metric", "cutoff"}
    assert (
        published.verdict()[0]
        == "SASRec is best in 125 of 132 universes; BERT4Rec in 11, GRU4Rec in 8 (ties count for each)."
    )


def test_four_datasets_can_show_nothing_within_a_universe_but_much_over_all(published):
    main = published.claims[0]
    assert (main.counts.holds, main.counts.undecided, main.counts.reversed) == (0, 132, 0)
    assert set(published.grades) == {"too_little_data"}
    assert 0.001 < main.p < 0.05
    assert main.exceptions.startswith("validation = val_last_train_item and target = last (3 of 6")
    pair = next(claim for claim in published.claims if claim.rival == "BERT4Rec")
    assert pair.p <= main.p  # what is better than all is better than each
    assert main.chance is not None
    assert 0.5 < main.chance < 1


def test_the_status_of_a_universe_is_that_of_the_verdict():
    rows = table({"split": 2}, algorithms=4, datasets=10, seed=3)
    result = recassay.multiverse(rows, claims=["A0 > A3"])
    for universe in range(2):
        part = rows.filter(pl.col("split") == f"split{universe}").drop("split")
        verdict = judge(Results.from_frame(part).matrix("ndcg@10"))
        assert result.grades[universe] == verdict.grade
    counts = result.claims[0].counts
    assert (counts.universes, counts.holds) == (2, 2)
    assert result.claims[0].named


def test_shares_are_exact_on_full_grids():
    rng = np.random.default_rng(1)
    levels = np.array([3, 2, 4])
    places = np.array(list(itertools.product(*map(range, levels))))
    effects = [rng.normal(size=(size, 2)) for size in levels]
    effects = [effect - effect.mean(axis=0) for effect in effects]
    ranks = sum(effect[places[:, i]] for i, effect in enumerate(effects))
    parts = variance_parts(ranks, places, levels, rng)
    assert parts.exact
    planted = np.array([(effect**2).mean(axis=0).sum() for effect in effects])
    shares = parts.of_distance()[0]
    np.testing.assert_allclose(shares[:3], planted / planted.sum(), atol=1e-12)
    np.testing.assert_allclose(shares[3:], 0, atol=1e-12)
    lead = np.array([((effect[:, 1] - effect[:, 0]) ** 2).mean() for effect in effects])
    np.testing.assert_allclose(parts.of_lead(0, 1)[0, :3], lead / lead.sum(), atol=1e-12)


def test_planted_shares_are_within_the_intervals_of_incomplete_grids():
    rng = np.random.default_rng(5)
    levels = np.array([3, 4, 5])
    grid = np.array(list(itertools.product(*map(range, levels))))
    covered = []
    for _ in range(12):
        scale = rng.uniform(0.3, 1.5, 3)
        effects = [size * rng.normal(size=(n, 3)) for size, n in zip(scale, levels, strict=True)]
        ranks = sum(effect[grid[:, i]] for i, effect in enumerate(effects)) + 0.3 * rng.normal(size=(len(grid), 3))
        truth = variance_parts(ranks, grid, levels, rng).of_distance()[0, :3]
        kept = rng.permutation(len(grid))[:36]
        parts = variance_parts(ranks[kept], grid[kept], levels, rng)
        assert not parts.exact
        low, high = np.quantile(parts.of_distance()[:, :3], [0.025, 0.975], axis=0)
        covered += ((low <= truth) & (truth <= high)).tolist()
    assert np.mean(covered) >= 0.85  # benchmarks/multiverse.py measures it with more


def test_the_joint_test_keeps_its_level_on_equal_algorithms():
    rejected = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        shared = rng.normal(size=(4, 6))  # what the universes have in common
        rows = [
            {"algorithm": f"A{a}", "dataset": f"d{d}", "metric": "ndcg@10", "split": str(s),
             "value": float(np.exp(shared[a, d] + 0.3 * rng.normal()))}
            for a in range(4) for d in range(6) for s in range(3)
        ]  # fmt: skip
        claim = recassay.multiverse(pl.DataFrame(rows), claims=["A0 > A1"], permutations=400).claims[0]
        rejected.append(claim.p < 0.05)
    assert 0 < sum(rejected) <= 8  # binomial with 0.05: more than 8 of 60 has probability 0.002


def test_leaky_universes_are_told_apart(tmp_path):
    rows = table({"split": 3})
    swapped = pl.when(pl.col("split") == "split2").then(1 - pl.col("value")).otherwise(pl.col("value"))
    result = recassay.multiverse(rows.with_columns(swapped.alias("value")), leaky=["split=split2"])
    assert (result.universes, result.best(), result.best(leaky=True)) == (2, {"A0": 2}, {"A2": 1})
    assert result.claims[0].counts.universes == 2
    assert result.claims[0].leaky.behind == 1
    assert "marked as leaky" in result.verdict()[-1]
    level = rows.with_columns(pl.when(pl.col("split") == "split2").then(0.2).otherwise(pl.col("value")).alias("value"))
    for claim, seen in (("A0 is best", 1), ("A0 > A1", 0)):  # all tie: a shared first place is one, a tie no lead
        told = recassay.multiverse(level, leaky=["split=split2"], claims=[claim]).verdict()[-1]
        assert told == f"In the universe marked as leaky, not counted above, {claim} in {seen}."
    column = rows.with_columns((pl.col("split") == "split2").cast(pl.String).alias("leaky"))
    assert recassay.multiverse(column).universes == 2
    with pytest.raises(UsageError, match="no row has split=other"):
        recassay.multiverse(rows, leaky=["split=other"])
    with pytest.raises(UsageError, match="every universe is marked"):
        recassay.multiverse(rows, leaky=["split=split0", "split=split1", "split=split2"])


def test_copies_properties_and_measurements_are_no_axes_of_their_own():
    rng = np.random.default_rng(2)
    rows = table({"split": 2, "seed": 3})
    rows = rows.with_columns(
        pl.col("split").str.replace("split", "s").alias("split_name"),
        pl.col("algorithm").str.replace("A", "family ").alias("family"),
        pl.Series("minutes", rng.random(rows.height)),
    )
    result = recassay.multiverse(rows)
    assert list(result.axes) == ["split", "seed"]
    notes = " ".join(result.notes)
    assert "split_name always changes together with split: they count as one axis" in notes
    assert "never changes for a given algorithm, dataset and metric: family" in notes
    assert "look like measurements: minutes" in notes


def test_several_tables_differ_in_their_protocol(tmp_path):
    rows = table({"split": 2})
    for at in range(2):
        rows.filter(pl.col("split") == f"split{at}").drop("split").write_csv(tmp_path / f"protocol{at}.csv")
    result = recassay.multiverse([tmp_path / "protocol0.csv", tmp_path / "protocol1.csv"])
    assert result.axes == {"table": ("protocol0.csv", "protocol1.csv")}
    assert len(result.sources) == 2


@pytest.mark.parametrize(
    ("change", "more", "error", "words"),
    [
        (lambda f: f.filter(pl.col("split") == "split0"), {}, InputError, "the table has one universe"),
        (lambda f: f, {"axes": ["splt"]}, UsageError, "there is no column 'splt'"),
        (lambda f: f.with_columns(core=pl.lit("5")), {"axes": ["core"]}, UsageError, "core has one choice, '5'"),
        (lambda f: f, {"claims": ["A0 > Z"]}, UsageError, "the claim 'A0 > Z' names 'Z'"),
        (lambda f: f, {"claims": ["A0 = A1"]}, UsageError, "is not a claim"),
        (lambda f: f, {"claims": ["A0 > A0"]}, UsageError, "with itself"),
        (lambda f: f.with_columns(metric=pl.lit("glory")), {}, UsageError, "higher or lower values of 'glory'"),
        (lambda f: pl.concat([f, f.with_columns(pl.col("value") + 0.1)]), {}, InputError, "have several values"),
        (lambda f: f.filter(pl.col("algorithm") == "A0"), {}, InputError, "no universe has two algorithms"),
        (lambda f: f[1:], {"missing": "error"}, InputError, "1 cells are missing under split=split0, the first A0"),
    ],
)
def test_bad_input_is_answered_in_words(change, more, error, words):
    with pytest.raises(error, match=words):
        recassay.multiverse(change(table({"split": 2})), **more)


def test_small_and_unbalanced_universes_are_noted():
    rows = table({"split": 3})
    single = rows.filter((pl.col("split") != "split0") | (pl.col("dataset") == "d0"))
    assert any("1 universes have one dataset" in note for note in recassay.multiverse(single).notes)
    without = rows.filter((pl.col("split") != "split0") | (pl.col("algorithm") != "A2"))
    result = recassay.multiverse(without)
    assert any("not balanced: 1 of 3" in note for note in result.notes)
    absent = next(claim for claim in result.claims if claim.rival == "A2")
    counts = absent.counts
    assert (counts.universes, counts.holds + counts.undecided + counts.reversed) == (2, 2)
    assert result.n_datasets.tolist() == [8, 8, 8]
    assert result.curve_frame().filter(claim=absent.statement)["universe"].to_list() == [2, 3]
    filled = np.where(np.isnan(result.mean_ranks), np.nanmean(result.mean_ranks, axis=0), result.mean_ranks)
    assert np.linalg.norm(result.places[:, None] - result.places, axis=2) == pytest.approx(
        np.linalg.norm(filled[:, None] - filled, axis=2)
    )
    holes = recassay.multiverse(rows[1:])
    assert holes.n_datasets.tolist() == [7, 8, 8]
    assert any("In 1 universes datasets with missing cells were left out" in note for note in holes.notes)


def test_unnamed_columns_are_averaged_over_where_axes_are_named():
    rows = table({"split": 2, "seed": 3}).with_columns(core=pl.lit("5"))
    result = recassay.multiverse(rows, axes=["split"])
    assert result.universes == 2
    assert "Values are means over seed." in result.notes
    leaking = rows.with_columns(leaky=pl.when(split="split1", seed="seed2").then(pl.lit("yes")))
    assert find_universes(leaking, axes=["split", "split"]).leaky.tolist() == [False, True]
    assert list(find_universes(leaking, axes=["split", "split"]).axes) == ["split"]


def test_tables_figures_and_frames_are_whole(published):
    frames = published.frames()
    assert frames["multiverse_universes"].height == 132
    assert frames["multiverse_curves"].height == 132 * len(published.claims)
    assert frames["multiverse_axes"]["share"].sum() == pytest.approx(1, abs=1e-6)
    assert set(published.figures) == {"multiverse_curve", "multiverse_map", "multiverse_axes"}
    assert all(figure.table in frames for figure in published.figures.values())
    assert "SASRec > GRU4Rec" in published._repr_html_().replace("&gt;", ">")


def test_drift_is_counted_exactly_where_few_orders_are_possible():
    """Three windows of one dataset have three orders: p is a third of them, and no drift could be shown."""
    ranks = np.array([[[1.0, 2.0, 3.0]], [[2.0, 1.0, 2.0]], [[3.0, 3.0, 1.0]]])
    found = drift_test(ranks, "abc", np.random.default_rng(1))
    assert found.smallest_p == pytest.approx(1 / 3)
    assert found.p in (pytest.approx(1 / 3), pytest.approx(2 / 3), pytest.approx(1.0))
    steady = np.cumsum(np.ones((4, 2, 5)), axis=2) * np.array([1.0, 0.5, -0.5, -1.0])[:, None, None]
    found = drift_test(steady, "abcd", np.random.default_rng(1))
    assert found.p < 0.01
    assert found.smallest_p == pytest.approx(found.p)
    many = drift_test(np.tile(steady[:, :1], (1, 4, 1)), "abcd", np.random.default_rng(1))
    assert many.p == pytest.approx(1 / 1999), "the observed order is one of those tried"


def test_intervals_hold_the_planted_shares_of_seeds_where_one_split_moves_all_algorithms():
    """5 split, 3 tuning and 3 fit seeds; most of what a split does is common to the algorithms of a dataset."""
    k, n, levels, planted = 6, 6, (5, 3, 3), np.array([0.5, 0.3, 0.2])
    places = np.indices((k, n, *levels)).reshape(5, -1)
    names = ("algorithm", "dataset", "split_seed", "tuning_seed", "fit_seed")
    columns = {name: place.astype(str) for name, place in zip(names, places, strict=True)}
    inside = []
    for at in range(30):
        rng = np.random.default_rng(at)
        split = 0.9 * rng.normal(size=(1, n, 5)) + 0.436 * rng.normal(size=(k, n, 5))
        parts = split[..., None, None], rng.normal(size=(k, n, 5, 3, 1)), rng.normal(size=(k, n, *levels))
        values = 1 + 0.05 * sum(np.sqrt(share) * part for share, part in zip(planted, parts, strict=True))
        found = seed_shares(pl.DataFrame(columns | {"value": values.ravel()}), (), rng)
        assert [share.seed for share in found] == list(names[2:])
        inside.append(
            [low <= share <= high for (low, high), share in zip([f.interval for f in found], planted, strict=True)]
        )
    assert np.mean(inside) > 0.9
    assert np.mean(inside, axis=0).min() > 0.85


def test_an_algorithm_with_a_gap_in_every_universe_is_left_out_where_asked():
    rows = table({"split": 2}).filter((pl.col("algorithm") != "A1") | (pl.col("dataset") != "d3"))
    found = recassay.multiverse(rows, missing="drop-algorithms", permutations=50)
    assert [claim.statement for claim in found.claims] == ["A0 is best", "A0 > A2"]
    assert np.isfinite(found.places).all()
    assert found.notes[0] == "In 2 universes algorithms with missing cells were left out."


def test_ways_of_treating_missing_cells_and_aggregating_are_axes():
    """A0 lacks d3 under the first split; every other cell of A0 is the best, and A1 and A2 swap on d0."""
    values = {"A0": [9, 9, 9, 9], "A1": [1, 6, 6, 6], "A2": [5, 5, 5, 5]}
    rows = pl.DataFrame(
        [
            {"algorithm": name, "dataset": f"d{d}", "metric": "ndcg@10", "value": value / 10, "split": f"s{split}"}
            for split in range(2)
            for name, numbers in values.items()
            for d, value in enumerate(numbers)
            if (name, d, split) != ("A0", 3, 0)
        ]
    )
    found = explore(
        rows,
        missing=("worst", "drop-datasets", "drop-algorithms"),
        aggregation=("mean_rank", "mean_value"),
        permutations=20,
    )
    assert list(found.axes) == ["split", "missing", "aggregation"]
    names = [found.choice_names(u) for u in range(found.universes)]
    ranks = {tuple(name.values()): row.tolist() for name, row in zip(names, found.mean_ranks, strict=True)}
    gap = float("nan")
    assert ranks == {
        ("s0", "worst", "mean_rank"): pytest.approx([1.375, 2.0, 2.625]),
        ("s0", "drop-datasets", "mean_rank"): pytest.approx([1, 7 / 3, 8 / 3]),
        ("s0", "drop-algorithms", "mean_rank"): pytest.approx([gap, 1.25, 1.75], nan_ok=True),
        ("s0", "worst", "mean_value"): pytest.approx([1.5, (3 + 2.5 + 2.5 + 1) / 4, (2 + 3 + 3 + 3) / 4]),
        ("s0", "drop-datasets", "mean_value"): pytest.approx([1, 8 / 3, 8 / 3]),
        ("s0", "drop-algorithms", "mean_value"): pytest.approx([gap, 1.25, 1.75], nan_ok=True),
        # Without missing cells the ways of treating them are one universe.
        ("s1", "worst", "mean_rank"): pytest.approx([1, 2.25, 2.75]),
        ("s1", "worst", "mean_value"): pytest.approx([1, 10.5 / 4, 11 / 4]),
    }
    assert found.notes[:4] == (
        "4 of 12 universes have the same numbers as another: they count once.",
        "In 2 universes datasets with missing cells were left out.",
        "In 2 universes algorithms with missing cells were left out.",
        "The universes are not balanced: 4 of 8 lack algorithms or datasets of others.",
    )


def test_intervals_of_shares_are_called_by_their_level():
    random = pl.Series("value", np.random.default_rng(5).random(16 * 24))
    rows = table({"split": 3, "target": 4, "filter": 2}, keep=0.7).with_columns(random)
    by_level = {alpha: recassay.multiverse(rows, alpha=alpha, permutations=50) for alpha in (0.05, 0.2)}
    for alpha, level in ((0.05, "95 %"), (0.2, "80 %")):
        shares = next(part for part in tables(by_level[alpha]) if part.title.startswith("Which choices decide"))
        assert shares.header[-1] == level
        assert any(f"({level} interval " in sentence for sentence in sentences(by_level[alpha]))
    assert by_level[0.2].shares[0].interval != by_level[0.05].shares[0].interval


def test_claims_by_hand():
    """Mean ranks of three algorithms in four universes; B is absent from the last one."""
    gap = np.nan
    ranks = np.array([[1.0, 2.0, 3.0], [1.5, 1.5, 3.0], [3.0, 1.0, 2.0], [1.0, gap, 2.0]])
    best, pair = Stated(0, None, False), Stated(0, 1, False)
    assert (best.statement("ABC"), pair.statement("ABC")) == ("A is best", "A > B")
    assert observed(best, ranks).tolist() == [1, 0, -1, 1]
    assert observed(pair, ranks).tolist() == [1, 0, -1, -2]
    assert observed(Stated(1, 0, False), ranks).tolist() == [-1, 0, 1, -2]
    level = np.array([[1.0, 2.0, 3.0, gap], [3.0, 1.0, 2.0, gap]])  # A and B are first once each, B is better overall
    assert suggested_claims(level) == [
        Stated(1, None, False), Stated(0, None, False), Stated(1, 0, False), Stated(1, 2, False)
    ]  # fmt: skip
    assert suggested_claims(ranks) == [
        Stated(0, None, False), Stated(1, None, False), Stated(0, 1, False), Stated(0, 2, False)
    ]  # fmt: skip
    better = np.zeros((4, 3, 3), dtype=bool)
    better[0, 0, 1] = better[0, 0, 2] = better[1, 0, 2] = better[2, 1, 0] = better[3, 0, 2] = True
    present = np.isfinite(ranks)
    assert shown(best, better, present).tolist() == [1, 0, -1, 1]
    assert shown(pair, better, present).tolist() == [1, 0, -1, 0]


def test_the_joint_test_by_loops():
    """Relabelled within datasets, in all universes alike; D is not in every universe and stays out."""
    rng = np.random.default_rng(3)
    ranks = np.stack([np.stack([rng.permutation(4) + 1.0 for _ in range(5)], axis=1) for _ in range(3)])
    ranks[:, 0] -= 1.0
    ranks[2, 3] = np.nan
    ranks[1, :, 4] = np.nan  # a dataset that one universe lacks
    count = 200
    test = joint_test(ranks, count, np.random.default_rng(9))
    drawn = np.random.default_rng(9).permuted(np.tile(np.arange(3), (count, 5, 1)), axis=2)
    complete = np.where(np.isfinite(ranks[:, :3]).all(axis=1, keepdims=True), ranks[:, :3], 0.0)
    order = content_order(sum(np.sqrt(2 + u) * each for u, each in enumerate(complete)).round(9))  # the order of draws
    labels = np.empty_like(drawn)
    for j, d in enumerate(order.columns):
        for i, a in enumerate(order.rows):
            labels[:, d, a] = order.rows[drawn[:, j, i]]

    def mean_ranks(names):
        """Universes x common algorithms, the algorithm `a` of dataset `d` being that of `names[d, a]`."""
        moved = [[[ranks[u, names[d, a], d] for d in range(5)] for a in range(3)] for u in range(3)]
        return np.nanmean(np.array(moved), axis=2)

    tables = [mean_ranks(np.tile(np.arange(3), (5, 1)))] + [mean_ranks(names) for names in labels]
    totals = np.array([means.mean(axis=0) for means in tables])
    ordered = np.sort(totals, axis=1)
    lead = totals[:, 1] - totals[:, 0]
    best_lead = totals[:, 1:].min(axis=1) - totals[:, 0]

    def p(against, support):
        return (1 + (against[1:] >= support - 1e-9).sum()) / (count + 1)

    assert test.p(Stated(0, 1, True)) == pytest.approx(p(lead, lead[0]))
    assert test.p(Stated(0, None, True)) == pytest.approx(p(best_lead, best_lead[0]))
    alone = p(ordered[:, 1] - ordered[:, 0], best_lead[0])
    assert test.p(Stated(0, None, False)) == pytest.approx(alone)
    assert test.p(Stated(0, 1, False)) == pytest.approx(min(alone, p(ordered[:, 2] - ordered[:, 0], lead[0])))
    assert test.p(Stated(1, 0, False)) == 1.0
    ahead = np.array([means[:, :, None] < means[:, None] - 1e-9 for means in tables[1:101]])
    first = (ahead.sum(axis=3) == 2).mean(axis=1)
    before = ahead.mean(axis=1)
    assert test.chance(Stated(0, None, True)) == pytest.approx(np.quantile(first[:, 0], 0.95))
    assert test.chance(Stated(0, 2, True)) == pytest.approx(np.quantile(before[:, 0, 2], 0.95))
    assert test.chance(Stated(0, None, False)) == pytest.approx(np.quantile(first.max(axis=1), 0.95))
    assert test.chance(Stated(0, 2, False)) == pytest.approx(np.quantile(before.max(axis=(1, 2)), 0.95))
    for absent in (Stated(3, None, False), Stated(0, 3, True), Stated(3, 0, False)):
        assert (test.p(absent), test.chance(absent)) == (None, None)
    none = joint_test(ranks, 0, np.random.default_rng(9))
    assert (none.p(Stated(0, 1, True)), none.chance(Stated(0, 1, True))) == (1.0, None)
    lonely = joint_test(np.where(np.arange(4)[:, None] > 0, np.nan, ranks), 20, np.random.default_rng(9))
    assert (lonely.p(Stated(0, None, True)), lonely.chance(Stated(0, None, True))) == (None, None)


def in_words(fails, places, axes):
    """The choices that failures share, as a sentence has them."""
    return exceptions(SimpleNamespace(fails=describe(fails, places, axes)))


def remarked(found):
    """What was done to the tables, in sentences."""
    return tuple(notes(SimpleNamespace(reading=(), remarks=found.remarks)))


def test_failures_are_described_by_the_choices_they_share():
    axes = {"split": ("a", "b", "c"), "core": ("0", "5"), "seed": ("1", "2")}
    places = np.array(list(itertools.product(range(3), range(2), range(2))))
    split, core, _ = places.T
    assert in_words(np.zeros(12, dtype=bool), places, axes) == ""
    assert in_words(split == 2, places, axes) == "split = c (4 of 4 such universes)"
    both = (split == 2) & (core == 1)
    assert in_words(both, places, axes) == "split = c and core = 5 (2 of 2 such universes)"
    assert in_words(both & (places[:, 2] == 1), places, axes) == ""  # one failure is not a pattern
    assert in_words(split < 2, places, axes) == ""  # it mostly fails
    mixed = (split == 0) | ((split == 1) & (core == 0))
    assert in_words(mixed, places, axes) == (
        "split = a (4 of 4 such universes); split = b and core = 0 (2 of 2 such universes)"
    )


def test_a_description_holds_for_a_third_and_there_are_at_most_three():
    for seeds, told in ((6, "split = b (2 of 6 such universes)"), (7, "")):
        axes = {"split": ("a", "b"), "seed": tuple(map(str, range(seeds)))}
        places = np.array(list(itertools.product(range(2), range(seeds))))
        assert in_words((places[:, 0] == 1) & (places[:, 1] < 2), places, axes) == told
    axes = {"split": tuple("abcdefghij"), "seed": ("1", "2", "3")}
    places = np.array(list(itertools.product(range(10), range(3))))
    assert in_words(places[:, 0] < 4, places, axes) == "; ".join(
        f"split = {name} (3 of 3 such universes)" for name in "abc"
    )
    # All universes with split b have core 0: the shorter description is given.
    nested = np.array([(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 0, 1)])
    names = {"split": ("a", "b"), "core": ("0", "5"), "seed": ("1", "2")}
    assert in_words(nested[:, 0] == 1, nested, names) == "split = b (2 of 2 such universes)"


def test_drift_by_loops():
    """Two datasets with three windows each: all 36 orders, distances in time times squared distances of the ranks."""
    ranks = np.random.default_rng(4).permuted(np.tile(np.arange(1.0, 5), (2, 3, 1)), axis=2).transpose(2, 0, 1)
    ranks = np.concatenate([ranks, np.full((4, 1, 3), np.nan)], axis=1)
    found = drift_test(ranks, "abcd", np.random.default_rng(0))

    def statistic(orders):
        return sum(
            abs(s - t) * ((ranks[:, d, order[s]] - ranks[:, d, order[t]]) ** 2).mean()
            for d, order in enumerate(orders)
            for s in range(3)
            for t in range(3)
        )

    every = np.array([statistic(o) for o in itertools.product(itertools.permutations(range(3)), repeat=2)])
    assert found.p == pytest.approx((every >= statistic([(0, 1, 2)] * 2) - 1e-9).mean())
    assert found.smallest_p == pytest.approx((every >= every.max() - 1e-9).mean())
    apart = np.sqrt(
        [[((ranks[:, d, s] - ranks[:, d, t]) ** 2).mean() for s, t in ((0, 1), (1, 2), (0, 2))] for d in (0, 1)]
    )
    assert (found.neighbours, found.ends) == (pytest.approx(apart[:, :2].mean()), pytest.approx(apart[:, 2].mean()))
    assert found.slopes == pytest.approx(
        dict(zip("abcd", (ranks[:, :2, 2] - ranks[:, :2, 0]).mean(axis=1), strict=True))
    )
    assert (found.windows, found.datasets) == (3, 2)
    assert drift_test(ranks[:, :, :2], "abcd", np.random.default_rng(0)) is None
    assert drift_test(ranks[:, 2:], "abcd", np.random.default_rng(0)) is None


def test_shares_of_seeds_by_a_nested_analysis_of_variance():
    """Two algorithms on two datasets, three split seeds with two fit seeds each; values relative to their cell."""
    values = np.random.default_rng(2).uniform(0.9, 1.1, (2, 2, 3, 2)) * np.array([[[[3.0]], [[0.2]]]])
    places = np.indices(values.shape).reshape(4, -1)
    columns = dict(zip(("algorithm", "dataset", "split_seed", "fit_seed"), places.astype(str), strict=True))
    found = seed_shares(pl.DataFrame(columns | {"value": values.ravel()}), (), np.random.default_rng(0))
    relative = values / values.mean(axis=(2, 3), keepdims=True)
    within = relative.var(axis=3, ddof=1).mean()
    between = relative.mean(axis=3).var(axis=2, ddof=1).mean() - within / 2
    parts = np.maximum([between, within], 0)
    assert [share.seed for share in found] == ["split_seed", "fit_seed"]
    assert [share.share for share in found] == pytest.approx(parts / parts.sum())
    assert [share.deviation for share in found] == pytest.approx(np.sqrt(parts))
    zeros = pl.DataFrame(columns | {"value": 0 * values.ravel()}).with_columns(dataset=pl.lit("zero"))
    unknown = zeros.with_columns(dataset=pl.lit("unknown"), value=pl.lit(None, dtype=pl.Float64))
    whole = pl.concat([pl.DataFrame(columns | {"value": values.ravel()}), zeros, unknown])
    assert seed_shares(whole, (), np.random.default_rng(0)) == found, "cells without a relative value say nothing"
    extent = np.ptp(relative.reshape(2, 2, -1), axis=2).max()
    assert [share.swing for share in found] == pytest.approx([extent, extent])
    assert all(share.interval[0] <= share.share <= share.interval[1] for share in found)
    assert seed_shares(pl.DataFrame(columns | {"value": values.ravel()}).drop("split_seed", "fit_seed"), (), None) == ()
    once = pl.DataFrame({"algorithm": ["A", "B"], "dataset": ["x", "x"], "seed": ["1", "2"], "value": [0.3, 0.4]})
    assert seed_shares(once, (), np.random.default_rng(0)) == (), "no cell was repeated"


def test_seeds_that_differ_in_number_count_by_the_harmonic_mean():
    """One cell: three split seeds with two, two and four fit seeds; their means are known to 1 / 2.4 of a variance."""
    parts = [np.array([0.8, 1.0]), np.array([1.1, 1.3]), np.array([0.7, 0.9, 0.9, 1.2])]
    rows = [("A", "x", str(i), str(j), value) for i, part in enumerate(parts) for j, value in enumerate(part.tolist())]
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "split_seed", "fit_seed", "value"], orient="row")
    found = seed_shares(frame, (), np.random.default_rng(0))
    parts = [part / np.concatenate(parts).mean() for part in parts]
    within = np.mean([part.var(ddof=1) for part in parts])
    between = np.var([part.mean() for part in parts], ddof=1) - within / 2.4
    assert [share.deviation for share in found] == pytest.approx(np.sqrt([between, within]))


def test_windows_are_ranked_each_by_itself_and_averaged_over_universes():
    """A falls behind B from window 9 to 11 under both splits; by errors it is the other way round."""
    values = {("s0", "9"): (0.9, 0.5), ("s0", "10"): (0.5, 0.5), ("s0", "11"): (0.1, 0.5), ("s1", "9"): (0.3, 0.2),
              ("s1", "10"): (0.3, 0.4), ("s1", "11"): (0.3, 0.4), ("s1", "(none)"): (0.9, 0.1)}  # fmt: skip
    rows = [
        {"algorithm": name, "dataset": dataset, "label": label, "split": split, "window": window, "value": value}
        for (split, window), pair in values.items()
        for name, value in zip("AB", pair, strict=True)
        for dataset, label in (("x", "ndcg@10"), ("y", "rmse"))
        if (name, dataset, window) != ("B", "y", "10")
    ]
    directions = {"ndcg@10": True, "rmse": False}
    ranks, names = window_ranks(pl.DataFrame(rows), ["split"], directions, "label")
    assert names == ("A", "B")
    assert ranks[0, 0].tolist() == [1.0, 1.75, 2.0]
    assert ranks[1, 0].tolist() == [2.0, 1.25, 1.0]
    assert ranks[:, 1, [0, 2]].tolist() == [[2.0, 1.0], [1.0, 2.0]]
    assert np.isnan(ranks[:, 1, 1]).all()
    both = pl.DataFrame(rows).with_columns(dataset=pl.lit("x")).filter(pl.col("window") != "10")
    assert window_ranks(both, ["split"], directions, "label")[0].tolist() == [[[1.5, 1.5]], [[1.5, 1.5]]]


def long_rows(**columns):
    """Two algorithms on two datasets under both choices of `split`, with further columns (functions of the row)."""
    rows = [
        {"algorithm": a, "dataset": d, "metric": "ndcg@10", "split": s, "value": 0.1 * at}
        for at, (a, d, s) in enumerate(itertools.product("AB", "xy", ("10", "9")), start=1)
    ]
    return pl.DataFrame([row | {name: of(row) for name, of in columns.items()} for row in rows])


def test_universes_as_arrays():
    found = find_universes(long_rows())
    assert found.axes == {"split": ("9", "10")}  # numbers by their size
    assert (found.algorithms, found.datasets) == (("A", "B"), ("x", "y"))
    assert found.places.tolist() == [[1], [0]]
    assert found.values[0].tolist() == pytest.approx(np.array([[0.1, 0.3], [0.5, 0.7]]))
    assert (found.upward.tolist(), found.leaky.tolist()) == ([True, True], [False, False])
    worse = pl.concat([long_rows(), long_rows(metric=lambda row: "rmse")])
    assert (find_universes(worse).axes, find_universes(worse).upward.tolist()) == (found.axes, [True, True])
    both = find_universes(worse, metric="all")
    assert both.axes == {"split": ("9", "10"), "metric": ("ndcg@10", "rmse")}
    assert both.upward.tolist() == [True, True, False, False]
    assert find_universes(worse, metric="rmse").upward.tolist() == [False, False]
    assert find_universes(worse, metric="all", higher_is_better=True).upward.all()
    assert not find_universes(worse, metric="all", higher_is_better=False).upward.any()
    assert list(find_universes(worse, axes=["metric"], metric="all").axes) == ["metric"]
    cuts = pl.concat([long_rows(metric=lambda row, m=m: m) for m in ("ndcg@5", "ndcg@10", "recall@5", "mrr")])
    assert find_universes(cuts).axes == {
        "split": ("9", "10"), "metric": ("mrr", "ndcg", "recall"), "cutoff": ("(none)", "5", "10")
    }  # fmt: skip
    cost = find_universes(pl.concat([long_rows(), long_rows(metric=lambda row: "seconds")]))
    assert "metric" not in cost.axes
    assert remarked(cost) == ("Costs are not measures of quality, and left out unless named as metric: seconds.",)
    for spelling in ("seconds", "Seconds"):
        spelt = long_rows(metric=lambda row, name=spelling: name if row["dataset"] == "x" else "seconds")
        alone = find_universes(spelt)
        assert (alone.upward.tolist(), remarked(alone)) == ([False, False], ()), "a cost is all that there is"
    lost = long_rows().with_columns(value=pl.when(algorithm="A", dataset="y").then(None).otherwise(pl.col("value")))
    assert np.isnan(find_universes(lost).values).tolist() == [[[False, True], [False, False]]] * 2


def test_a_universe_is_leaky_where_any_of_its_rows_is():
    marked = long_rows(leaky=lambda row: "x" if (row["algorithm"], row["split"]) == ("A", "9") else None)
    assert find_universes(marked).leaky.tolist() == [False, True]
    assert find_universes(marked, leaky=["split=10"]).leaky.tolist() == [True, True]
    with pytest.raises(UsageError, match="'splt=9' is not of the form column=choice; did you mean 'split'"):
        find_universes(marked, leaky=["splt=9"])


def test_windows_of_time_are_repeats_unless_they_are_named_as_an_axis(monkeypatch):
    asked = []
    monkeypatch.setattr(
        multiverse_universes, "window_ranks", lambda *given: asked.append(given[1]) or window_ranks(*given)
    )
    rows = pl.concat([
        long_rows(window=lambda row, w=w: str(w), leaky=lambda row, w=w: "yes" if (w, row["split"]) == (1, "9") else "")
        .with_columns(pl.col("value") + 0.1 * w)
        for w in range(3)
    ])  # fmt: skip
    found = find_universes(rows)
    assert list(found.axes) == ["split"]
    assert (found.drift.windows, found.drift.datasets, found.drift.ends) == (3, 2, 0.0)
    assert found.values == pytest.approx(find_universes(long_rows()).values + 0.1)
    assert found.leaky.tolist() == [False, True]
    named = find_universes(rows, axes=["split", "window"])
    assert (named.axes["window"], named.drift, len(named)) == (("0", "1", "2"), None, 6)
    find_universes(pl.concat([rows, rows.with_columns(metric=pl.lit("auc"))]))
    assert asked == [["split"], ["split"]], "windows are ranked within each universe"


def test_seeds_are_compared_within_their_universe():
    rows = pl.concat(
        [long_rows(seed=lambda row, s=s: s).with_columns(pl.col("value") * float(s)) for s in ("0.9", "1.1")]
    )
    (share,) = find_universes(rows).seeds
    assert (share.seed, share.share) == ("seed", 1.0)
    assert (share.deviation, share.swing) == pytest.approx((np.sqrt(0.02), 0.2))


def test_what_is_nested_is_an_axis_and_what_is_a_copy_is_not():
    rows = pl.concat([long_rows(fine=lambda row, part=part: row["split"] + part) for part in "ab"])
    expected = {"split": ("9", "10"), "fine": ("10a", "10b", "9a", "9b")}
    for columns in (rows.columns, rows.columns[::-1]):
        assert find_universes(rows.select(columns)).axes == expected
    twins = long_rows(name=lambda row: f"s{row['split']}", code=lambda row: f"c{row['split']}")
    found = find_universes(twins)
    assert list(found.axes) == ["split"]
    assert remarked(found) == ("name, code always change together with split: they count as one axis.",)
    rates = pl.concat([long_rows(rate=lambda row, r=r: r) for r in ("auto", *(f"{r}.5" for r in range(30)))])
    assert len(find_universes(rates).axes["rate"]) == 31, "with a word among them the numbers are choices"


def test_which_rows_are_leaky_and_which_columns_are_choices():
    marked = long_rows(leaky=lambda row: "Yes" if row["split"] == "9" else "no")
    assert find_universes(marked).leaky.tolist() == [False, True]
    core = long_rows(core=lambda row: "5")
    assert find_universes(core, leaky=["split=9 & core=5"]).leaky.tolist() == [False, True]
    for condition, words in (("split", "'split' is not of the form column=choice"), ("core=7 & split=9", "no row has")):
        with pytest.raises(UsageError, match=words):
            find_universes(core, leaky=[condition])
    several = pl.concat([long_rows(seed=lambda row, s=s: str(s)) for s in range(31)])
    assert find_universes(several).axes["seed"] == tuple(str(s) for s in range(31))  # whole numbers are choices
    broken = pl.concat([long_rows(seed=lambda row, s=s: str(s + 0.5)) for s in range(31)])
    measured = find_universes(broken)
    assert list(measured.axes) == ["split"]
    assert remarked(measured) == ("Not a choice, since its numbers look like measurements: seed.",)
    other = pl.when(pl.col("algorithm") == "B", pl.col("seed") == "3.5").then(0.9).otherwise(pl.col("value"))
    with pytest.raises(InputError) as refused:
        find_universes(broken.with_columns(other.alias("value")))
    assert "4 cells have several values, the first algorithm=B, dataset=x, label=ndcg@10, split=10" in str(
        refused.value
    )
    few = pl.concat([long_rows(seed=lambda row, s=s: str(s + 0.5)) for s in range(30)])
    assert len(find_universes(few).axes["seed"]) == 30
    twice = pl.concat([long_rows(), long_rows()])
    assert find_universes(twice).values.tolist() == find_universes(long_rows()).values.tolist()
    mean = find_universes(pl.concat([twice, twice.with_columns(pl.col("value") + 0.4)]), axes=["split"])
    assert mean.values == pytest.approx(find_universes(long_rows()).values + 0.2)
    assert remarked(mean) == ("Repeated values are averaged.",)


def test_a_whole_result_by_plain_computation():
    """Three splits on six datasets, the last one leaky; A leads under the first, B under the second and third."""
    rng = np.random.default_rng(8)
    lifts = {"s0": [0.2, 0.0, 0.05], "s1": [0.0, 0.2, 0.05], "s2": [0.0, 0.3, 0.1]}
    values = {split: np.array(lift)[:, None] + rng.uniform(0.2, 0.5, (3, 6)) for split, lift in lifts.items()}
    rows = [
        {"algorithm": "ABC"[a], "dataset": f"d{d}", "metric": "ndcg@10", "split": split, "value": float(table[a, d])}
        for split, table in values.items()
        for a in range(3)
        for d in range(6)
    ]
    found = explore(pl.DataFrame(rows), leaky=["split=s2"], alpha=0.1, permutations=30, claims=["A > B", "B is best"])
    ranks = np.array([1 + (table[None] > table[:, None]).sum(axis=1) for table in values.values()])
    mean = ranks.mean(axis=2)
    assert found.mean_ranks == pytest.approx(mean)
    assert (found.leaky.tolist(), found.universes, found.n_datasets.tolist()) == ([False, False, True], 2, [6, 6, 6])
    matrices = [Matrix(table, tuple("ABC"), tuple(f"d{d}" for d in range(6)), "m", True) for table in values.values()]
    verdicts = [judge(each, alpha=0.1) for each in matrices]
    assert found.grades == tuple(verdict.grade for verdict in verdicts)
    first, second = found.claims
    assert (first.statement, second.statement, first.named, second.rival) == ("A > B", "B is best", True, None)
    lead = mean[:, 1] - mean[:, 0]
    assert [first.counts.ahead, first.counts.behind] == [(lead[:2] > 0).sum(), (lead[:2] < 0).sum()] == [1, 1]
    assert first.lead == pytest.approx(lead[:2].mean())
    assert second.lead == pytest.approx((np.delete(mean, 1, axis=1).min(axis=1) - mean[:, 1])[:2].mean())
    by_dataset = np.sign(ranks[:2, 1] - ranks[:2, 0])
    assert first.by_dataset == {
        f"d{d}": tuple(int((by_dataset[:, d] == sign).sum()) for sign in (1, 0, -1)) for d in range(6)
    }
    shown_better = [{(pair.a, pair.b) for pair in verdict.pairs if pair.status == "better"} for verdict in verdicts]
    assert first.counts.holds == sum(("A", "B") in pairs for pairs in shown_better[:2])
    assert first.counts.reversed == sum(("B", "A") in pairs for pairs in shown_better[:2])
    assert second.counts.holds == sum({("B", "A"), ("B", "C")} <= pairs for pairs in shown_better[:2])
    assert (first.leaky.universes, first.leaky.behind, second.leaky.ahead) == (1, 1, 1)
    assert (first.counts.universes, first.counts.holds + first.counts.undecided + first.counts.reversed) == (2, 2)
    assert found.best() == {name: 1 for name in "AB"}
    assert found.best(leaky=True) == {"B": 1}
    centred = mean - mean.mean(axis=0)
    assert np.linalg.norm(found.places[:, None] - found.places, axis=2) == pytest.approx(
        np.linalg.norm(centred[:, None] - centred, axis=2)
    )
    assert sum(found.explained) == pytest.approx(1.0)
    data, frames = found.to_dict(), found.frames()
    assert data["claims"][0]["share"]["ahead"] == 0.5
    assert sum(data["grades"].values()) == 2
    assert data["axes"] == [
        {"axis": "split", "share": pytest.approx(1.0), "interval": None, "of_leads": {"A > B": pytest.approx(1.0)},
         "choices": ["s0", "s1", "s2"]}
    ]  # fmt: skip
    assert (data["axis_pairs"], data["rest"]) == ([], pytest.approx(0.0))
    assert data["leaky"] == {"universes": 1, "best": {"B": 1}}
    assert data["mean_rank"] == pytest.approx(dict(zip("ABC", mean[:2].mean(axis=0), strict=True)))
    assert data["settings"] == {"alpha": 0.1, "permutations": 30, "seed": 0}
    assert frames["multiverse_universes"].get_column("first").to_list() == ["A", "B", "B"]
    assert frames["multiverse_universes"].get_column("mean_rank C").to_list() == pytest.approx(mean[:, 2])
    curve = frames["multiverse_curves"].filter(pl.col("claim") == "A > B")
    assert curve.get_column("lead").to_list() == pytest.approx(sorted(lead))
    assert curve.get_column("universe").to_list() == (np.argsort(lead) + 1).tolist()
    assert frames["multiverse_axes"].rows() == [
        ("split", pytest.approx(1.0), None, None), ("the rest", pytest.approx(0.0), None, None)
    ]  # fmt: skip
    assert frames["multiverse_datasets"].row(0) == ("A > B", "d0", *first.by_dataset["d0"])
    assert found.choice_names(1) == {"split": "s1"}


def test_a_choice_of_the_analysis_that_is_a_column_is_refused():
    found = find_universes(long_rows())
    name = next(iter(found.axes))
    with pytest.raises(InputError, match=f"'{name}' is a column of the table and a choice of the analysis; rename"):
        found.times(name, ("a", "b"))
    assert found.times(name, ("a",)) is found


def test_each_universe_is_judged_with_the_settings_that_were_asked_for(monkeypatch):
    asked, whole = [], multiverse_fit.decide

    def decided(matrix, **settings):
        asked.append(settings)
        return whole(matrix, **settings)

    monkeypatch.setattr(multiverse_fit, "decide", decided)
    rows = table({"split": 2}, datasets=4)
    options = {"alpha": 0.2, "seed": 4, "permutations": 10, "claims": ["A0 > A1", "A0 > A1"]}
    found = explore(rows, notes=("Read this first.",), **options)
    assert asked == [{"control": None, "within": 0.02, "alpha": 0.2, "seed": 4, "flips": 10_000}] * 2
    assert found.notes[0] == "Read this first."
    assert [claim.statement for claim in found.claims] == ["A0 > A1"]
    asked.clear()
    monkeypatch.setattr(multiverse_fit, "FEW_UNIVERSES", 1)
    explore(rows, **options)
    assert [settings["flips"] for settings in asked] == [1_000, 1_000]
    glory = rows.with_columns(metric=pl.lit("glory"))
    assert explore(glory, higher_is_better=False, permutations=10).best() == {"A2": 2}
    found = []
    monkeypatch.setattr(
        multiverse_fit, "find_universes", lambda rows, **more: found.append(more) or find_universes(rows)
    )
    explore(rows, axes=["split"], metric="ndcg@10", leaky=["split=x"], higher_is_better=True, seed=4, permutations=10)
    assert found == [
        {"axes": ["split"], "metric": "ndcg@10", "leaky": ["split=x"], "higher_is_better": True, "seed": 4}
    ], "the seed is that of drift and of seeds as well"


def test_another_seed_draws_other_tables():
    rows = table({"split": 3, "target": 2}, datasets=5)
    rows = rows.filter((pl.col("split") != "split0") | (pl.col("target") != "target1"))
    rows = rows.with_columns(value=pl.Series(np.random.default_rng(1).random(rows.height)))
    one, other = (explore(rows, permutations=60, seed=seed) for seed in (0, 1))
    assert one.shares[0].interval != other.shares[0].interval
    assert [claim.p for claim in one.claims] != [claim.p for claim in other.claims]
    assert [claim.counts for claim in one.claims] == [claim.counts for claim in other.claims]
    assert (one.settings.seed, other.settings.seed) == (0, 1)


def test_values_on_the_scale_of_ranks_by_hand():
    values = np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]])
    names = tuple("abc"), ("x", "y")
    assert scaled(Matrix(values, *names, "rmse", False)).tolist() == [[1.0, 2.0], [pytest.approx(5 / 3), 2.0], [3, 2]]
    assert scaled(Matrix(values, *names, "ndcg", True)).tolist() == [[3.0, 2.0], [pytest.approx(7 / 3), 2.0], [1, 2]]


def test_a_missing_error_is_the_largest_of_its_dataset():
    """Without A on y, the worst there is 0.6: A ties with B; a gap that counted as the least error would be first."""
    values = {("A", "x"): 0.1, ("B", "x"): 0.2, ("C", "x"): 0.3, ("B", "y"): 0.6, ("C", "y"): 0.5}
    rows = [(*cell, "rmse", value, split) for split in ("s0", "s1") for cell, value in values.items()]
    rows += [("A", "y", "rmse", 0.1, "s1")]
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value", "split"], orient="row")
    found = explore(frame, missing="worst", permutations=10)
    assert found.mean_ranks.tolist() == [[1.75, 2.25, 2.0], [1.0, 2.5, 2.5]]


def test_universes_without_two_algorithms_on_a_dataset_are_left_out():
    """The third split has no value, the fourth one algorithm, and in the fifth nobody shares a dataset."""
    rows = table({"split": 5}, algorithms=2, datasets=2)
    of = {at: pl.col("split") == f"split{at}" for at in range(5)}
    gone = of[2] | (of[3] & (pl.col("algorithm") == "A1"))
    gone |= of[4] & ((pl.col("algorithm") == "A0") == (pl.col("dataset") == "d0"))
    rows = rows.with_columns(value=pl.when(gone).then(None).otherwise(pl.col("value")))
    for missing, universes, left_out in (("drop-datasets", 2, 3), ("worst", 3, 2)):
        found = explore(rows, missing=missing, permutations=10)
        assert found.universes == universes
        assert f"{left_out} universes were left out: without two algorithms on a dataset." in found.notes


def test_absent_algorithms_and_shared_first_places_are_no_exceptions():
    """A and B tie under the first split, C is absent under the second; everywhere else A leads and C is last."""
    values = {"A": 0.5, "B": 0.4, "C": 0.1}
    rows = [
        (name, dataset, "ndcg@10", (0.5 if (split, name) == ("s0", "B") else value) + int(split[1] + seed), split, seed)
        for name, value in values.items()
        for dataset in "xyz"
        for split in ("s0", "s1", "s2", "s3")
        for seed in ("1", "2")
        if (name, split) != ("C", "s1")
    ]
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value", "split", "seed"], orient="row")
    found = explore(frame, permutations=10, claims=["A is best", "A > B", "A > C"])
    assert [claim.exceptions for claim in found.claims] == ["", "split = s0 (2 of 2 such universes)", ""]
    assert [claim.counts.ahead for claim in found.claims] == [6, 6, 6]
    assert [claim.counts.universes for claim in found.claims] == [8, 8, 6]
    assert [claim.counts.undecided for claim in found.claims] == [8, 8, 6]


def test_shares_are_those_of_the_choices_and_algorithms_that_all_clean_universes_have():
    """The first split is leaky, and the third algorithm is absent under the second: the grid of the rest is full."""
    rows = table({"split": 3, "target": 2, "seed": 2}).with_columns(
        value=pl.Series(np.random.default_rng(3).random(12 * 24))
    )
    rows = rows.filter((pl.col("split") != "split1") | (pl.col("algorithm") != "A2"))
    found = explore(rows, leaky=["split=split0"], permutations=10)
    assert [share.interval for share in found.shares] == [None] * 7
    sizes = [len(share.axes) for share in found.shares]
    assert sizes == [1, 1, 1, 2, 2, 2, 0]
    for size in (1, 2):
        own = [share.share for share in found.shares if len(share.axes) == size]
        assert own == sorted(own, reverse=True)
    assert [len(pair["axis"]) for pair in found.to_dict()["axis_pairs"]] == [2, 2, 2]
    places = np.array(list(itertools.product(range(2), repeat=3)))
    parts = variance_parts(found.mean_ranks[4:, :2], places, np.array([2, 2, 2]), np.random.default_rng(0))
    expected = dict(zip([("split",), ("target",), ("seed",)], parts.of_distance()[0], strict=False))
    assert {share.axes: share.share for share in found.axis_shares()} == pytest.approx(expected)


def test_where_no_two_algorithms_are_everywhere_no_choice_is_said_to_decide():
    rows = table({"split": 3, "target": 2}, datasets=3)
    gone = pl.col("algorithm").str.tail(1) == pl.col("split").str.tail(1)
    told = "It was not estimated which choice decides: too many combinations, or no two algorithms in every universe."
    found = explore(rows.filter(~gone), permutations=10)
    assert (found.shares, told in found.notes) == ((), True)
    assert told not in explore(rows, permutations=10).notes
    single = explore(rows.filter(~gone).drop("target").unique(["algorithm", "dataset", "split"]), permutations=10)
    assert (single.shares, told in single.notes) == ((), False), "with one axis there is no choice between choices"


def test_too_many_combinations_are_not_completed_and_large_ones_have_fewer_draws(monkeypatch):
    ranks, places = np.random.default_rng(0).random((6, 3)), np.array(list(itertools.product(range(2), range(3))))
    levels = np.array([2, 3])
    assert variance_parts(ranks, places, levels, np.random.default_rng(0)).axes == ((0,), (1,), ())
    monkeypatch.setattr(multiverse_shares, "MOST_CELLS", 6)
    incomplete = ranks[:5], places[:5], levels, np.random.default_rng(0)
    assert len(variance_parts(*incomplete).products) == 400
    monkeypatch.setattr(multiverse_shares, "MOST_NUMBERS", 18 * 50)
    assert len(variance_parts(*incomplete).products) == 50
    monkeypatch.setattr(multiverse_shares, "MOST_NUMBERS", 18)
    assert len(variance_parts(*incomplete).products) == 40
    monkeypatch.setattr(multiverse_shares, "MOST_CELLS", 5)
    assert variance_parts(*incomplete) is None
    monkeypatch.undo()
    monkeypatch.setattr(multiverse_shares, "_fitted", lambda *given: lambda rng: np.zeros((6, 3)))
    filled = np.vstack([ranks[:5], ranks[:5].mean(axis=0)])  # what occurs stays as it is, the rest is drawn
    drawn, whole = variance_parts(*incomplete), variance_parts(filled, places, levels, np.random.default_rng(0))
    assert drawn.products[7] == pytest.approx(whole.products[0])
    same = variance_parts(np.ones((6, 3)), places, levels, np.random.default_rng(0))
    assert same.of_distance().tolist() == [[0.0, 0.0, 0.0]], "nothing varies"


def described(fails, places, axes):
    """By loops: of all choices and pairs of choices, the one that agrees best with the failures that are left."""
    names, left, texts = list(axes), set(np.flatnonzero(fails).tolist()), []
    every = range(len(fails))
    while len(texts) < 3 and len(left) > 1 and fails.mean() <= 0.5:
        found = []
        for size in (1, 2):
            for chosen in itertools.combinations(range(len(names)), size):
                for at in itertools.product(*(range(len(axes[names[i]])) for i in chosen)):
                    inside = {u for u in every if all(places[u, i] == a for i, a in zip(chosen, at, strict=True))}
                    failed = {u for u in inside if fails[u]}
                    if len(left & inside) > 1 and 3 * len(failed) >= len(inside):
                        found.append((2 * len(left & inside) / (len(left) + len(inside)), chosen, at, inside, failed))
        if not found:
            break
        _, chosen, at, inside, failed = max(found, key=lambda one: (one[0], -len(one[1])))
        text = " and ".join(f"{names[i]} = {axes[names[i]][a]}" for i, a in zip(chosen, at, strict=True))
        texts.append(f"{text} ({len(failed)} of {len(inside)} such universes)")
        left -= inside
    return "; ".join(texts)


def test_failures_are_described_by_what_agrees_best_with_those_left():
    axes = {"split": ("a", "b", "c"), "core": ("0", "5"), "seed": ("1", "2", "3", "4")}
    grid = np.array(list(itertools.product(range(3), range(2), range(4))))
    several = 0
    for seed in range(14):
        rng = np.random.default_rng(seed)
        places = grid[rng.random(24) < 0.9]
        fails = (places[:, 0] == rng.integers(3)) & (rng.random(len(places)) < 0.8)
        fails |= (places[:, 2] == rng.integers(4)) & (rng.random(len(places)) < 0.6)
        told = in_words(fails, places, axes)
        assert told == described(fails, places, axes)
        several += ";" in told
    assert several > 2
    half = np.arange(24) < 12
    assert in_words(half, grid, axes) == described(half, grid, axes) != "", "half of the universes may fail"


def test_places_that_rounding_alone_separates_are_shared_and_rivals_follow_by_mean_rank():
    level = np.array([[1.0 + 1e-12, 1.0, 2.0]])
    assert first_places(level).tolist() == [[True, True, False]]
    assert observed(Stated(0, 1, True), level).tolist() == observed(Stated(1, None, True), level).tolist() == [0]
    alone = np.array([[1.0, np.nan, np.nan]])
    assert observed(Stated(0, None, True), alone).tolist() == [-2], "there is nobody to be better than"
    ranks = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])  # C is first once, and worse than B overall
    assert suggested_claims(ranks) == [
        Stated(0, None, False), Stated(2, None, False), Stated(0, 1, False), Stated(0, 2, False)
    ]  # fmt: skip


def test_leaky_universes_count_in_no_claim_and_no_test():
    """Suggested claims, leads, p and the share by chance are those of the clean universes alone."""
    rows = table({"split": 2, "core": 2}, datasets=4, seed=2)
    turned = pl.when(pl.col("split") == "split1").then(1 - pl.col("value")).otherwise(pl.col("value"))
    rows = rows.with_columns(value=turned)
    marked = explore(rows, leaky=["split=split1"], permutations=30)
    clean = explore(rows.filter(pl.col("split") != "split1"), permutations=30)
    for ours, theirs in zip(marked.claims, clean.claims, strict=True):
        assert (ours.statement, ours.p, ours.chance, ours.lead) == (
            theirs.statement, theirs.p, theirs.chance, pytest.approx(theirs.lead)
        )  # fmt: skip
        assert (ours.counts, ours.by_dataset) == (theirs.counts, theirs.by_dataset)
    assert [(share.axes, share.share) for share in marked.shares] == [
        (share.axes, pytest.approx(share.share)) for share in clean.shares
    ]


def test_intervals_of_shares_leave_half_of_the_level_at_each_end():
    products = np.random.default_rng(0).random((200, 3, 2, 2))
    parts = multiverse_shares.Parts(((0,), (1,), ()), products)
    found = multiverse_fit._shares(parts, ["split", "core"], [Stated(0, 1, True)], ("A", "B"), 0.1)
    distance = parts.of_distance()
    ends = np.quantile(distance, [0.05, 0.95], axis=0)
    order = [*sorted((0, 1), key=lambda at: -distance[:, at].mean()), 2]
    assert [share.interval for share in found] == [(ends[0, at], ends[1, at]) for at in order]
    assert [share.share for share in found] == pytest.approx(distance.mean(axis=0)[order])
    assert [share.of_leads["A > B"] for share in found] == pytest.approx(parts.of_lead(0, 1).mean(axis=0)[order])
    assert found[2].axes == ()


def test_universes_that_were_left_out_count_in_no_other_note():
    """Under the third split nobody shares a dataset; under the second one dataset has a gap."""
    rows = table({"split": 3}, algorithms=2, datasets=3)
    gone = (pl.col("split") == "split2") & ((pl.col("algorithm") == "A0") == (pl.col("dataset") == "d0"))
    gone |= (pl.col("split") == "split1") & (pl.col("algorithm") == "A1") & (pl.col("dataset") == "d2")
    rows = rows.with_columns(value=pl.when(gone).then(None).otherwise(pl.col("value")))
    assert explore(rows, permutations=10).notes[:3] == (
        "1 universes were left out: without two algorithms on a dataset.",
        "In 1 universes datasets with missing cells were left out.",
        "The universes are not balanced: 1 of 2 lack algorithms or datasets of others.",
    )


def test_a_dataset_without_one_window_says_nothing_of_drift():
    ranks = np.random.default_rng(1).random((3, 4, 3))
    ranks[1, 2, 0] = np.nan
    found, whole = (drift_test(part, "abc", np.random.default_rng(0)) for part in (ranks, np.delete(ranks, 2, axis=1)))
    assert found == whole
    assert found.datasets == 3


def test_a_column_that_changes_with_the_metric_alone_is_no_choice():
    both = pl.concat([long_rows(), long_rows().with_columns(metric=pl.lit("recall@10"))])
    unit = pl.when(pl.col("metric") == "recall@10").then(pl.lit("share")).otherwise(pl.lit("gain"))
    found = find_universes(both.with_columns(unit=unit))
    assert list(found.axes) == ["split", "metric"]
    assert remarked(found) == (
        "Not a choice, since it never changes for a given algorithm, dataset and metric: unit.",
    )  # fmt: skip
    empty = long_rows(core=lambda row: None if row["split"] == "9" else "5")
    assert multiverse_universes._marked(empty, ["core=5"]).to_list() == [row == "10" for row in empty["split"]]


@pytest.mark.parametrize(
    "cost", ["seconds", "seconds_fit", "seconds_predict", "memory", "joules", "energy", "emissions"]
)
def test_what_an_algorithm_costs_is_no_choice_of_a_metric(cost):
    found = find_universes(pl.concat([long_rows(), long_rows(metric=lambda row: cost)]), higher_is_better=True)
    assert list(found.axes) == ["split"]
    assert len(remarked(found)) == 1


@pytest.mark.parametrize("column", ["deviation", "runs", "higher_is_better", "user", "version", "leaky"])
def test_what_is_said_of_a_value_is_no_choice(column):
    assert list(find_universes(long_rows(**{column: lambda row: str(row["value"])})).axes) == ["split"]


@pytest.mark.parametrize(
    ("mark", "leaky"), [("1", True), ("TRUE", True), ("yes", True), ("Y", True), ("leaky", True), ("x", True),
                        ("0", False), ("no", False), ("", False), (None, False)],
)  # fmt: skip
def test_how_a_row_is_marked_as_leaky(mark, leaky):
    rows = long_rows(leaky=lambda row: mark if row["split"] == "9" else "no")
    assert find_universes(rows).leaky.tolist() == [False, leaky]


@pytest.mark.parametrize("seed", ["split_seed", "tuning_seed", "fit_seed", "seed"])
def test_every_kind_of_seed_is_told_apart(seed):
    rows = pl.concat([long_rows(**{seed: lambda row, s=s: str(s)}).with_columns(pl.col("value") * (1 + 0.1 * s))
                      for s in range(3)])  # fmt: skip
    (share,) = find_universes(rows).seeds
    assert (share.seed, share.share) == (seed, 1.0)
    assert share.deviation == pytest.approx(0.1 / 1.1)


def test_cells_whose_mean_is_zero_say_nothing_of_seeds():
    rows = [(a, "x", str(s), value) for a, values in (("A", (1.0, 1.2)), ("B", (-0.5, 0.5)), ("C", (0.0, 0.0)))
            for s, value in enumerate(values)]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "seed", "value"], orient="row")
    (found,) = seed_shares(frame, (), np.random.default_rng(0))
    (alone,) = seed_shares(frame.filter(algorithm="A"), (), np.random.default_rng(0))
    assert (found.deviation, found.swing) == pytest.approx((alone.deviation, alone.swing))
    assert found.swing == pytest.approx(0.2 / 1.1)


def effects_by_covariances(y, places, levels, *, pairs):
    """The EM of the model of effects by the covariance of the universes: effects, their covariance, the noise, and
    what no effect explains. Stops as the model does."""
    sources = [(i,) for i in range(len(levels))] + (
        list(itertools.combinations(range(len(levels)), 2)) if pairs else []
    )
    columns = [(source, at) for source in sources for at in itertools.product(*(range(levels[i]) for i in source))]
    seen = np.array([[float(tuple(place[list(source)]) == at) for source, at in columns] for place in places])
    kind = np.array([sources.index(source) for source, _ in columns])
    scale = (y**2).mean()
    variance, noise = np.full(len(sources), scale / (len(sources) + 1)), scale / (len(sources) + 1)
    for _ in range(100):
        prior = np.diag(variance[kind])
        gain = prior @ seen.T @ np.linalg.inv(seen @ prior @ seen.T + noise * np.eye(len(y)))
        effect, covariance = gain @ y, prior - gain @ seen @ prior
        second = (effect**2).mean(axis=1) + np.diag(covariance)
        renewed = np.array([second[kind == g].mean() for g in range(len(sources))])
        residual = y - seen @ effect
        noise = (residual**2).mean() + np.trace(seen @ covariance @ seen.T) / len(y)
        moved, variance = np.abs(np.log(renewed / variance)).max(), renewed
        if moved < 1e-3:
            break
    degrees = len(y) - np.trace(seen @ covariance @ seen.T) / noise
    return columns, effect, covariance, noise, residual, max(degrees, 3.0)


@pytest.mark.parametrize(
    ("levels", "most", "pairs"), [((2, 3, 2), 23, True), ((2, 3, 2), 22, False), ((2, 4), 700, True)]
)
def test_universes_that_do_not_occur_are_drawn_from_the_effects_of_choices(monkeypatch, levels, most, pairs):
    """Effects of choices and, where they are not too many, of pairs of them; what is left is correlated as it was."""
    monkeypatch.setattr(multiverse_shares, "MOST_EFFECTS", most)
    grid = np.array(list(itertools.product(*map(range, levels))))
    rng = np.random.default_rng(6)
    lift = [rng.normal(size=(size, 3)) for size in levels]
    y = sum(effect[grid[:, i]] for i, effect in enumerate(lift)) + 0.6 * rng.normal(size=(len(grid), 3))
    y, places = y[:-2] - y[:-2].mean(axis=0), grid[:-2]
    drawn = multiverse_shares._fitted(y, places, np.array(levels))(np.random.default_rng(1))
    columns, effect, covariance, noise, residual, degrees = effects_by_covariances(y, places, levels, pairs=pairs)
    again = np.random.default_rng(1)
    stretch = np.sqrt(degrees / again.chisquare(degrees))
    root = np.linalg.cholesky(covariance + 1e-12 * (y**2).mean() * np.eye(len(covariance)))
    moved = effect + stretch * root @ again.standard_normal(effect.shape)
    rest = residual.T @ residual
    values, vectors = np.linalg.eigh(rest * 3 * noise / np.trace(rest))
    left = stretch * again.standard_normal((len(grid), 3)) @ (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    expected = [
        row + sum(moved[c] for c, (source, at) in enumerate(columns) if tuple(place[list(source)]) == at)
        for row, place in zip(left, grid, strict=True)
    ]
    assert drawn == pytest.approx(np.array(expected), rel=1e-5, abs=1e-5)


def test_intervals_of_seeds_are_the_wider_of_resampled_cells_and_of_the_degrees_of_freedom():
    """Three split seeds move both algorithms of a dataset alike in part; two fit seeds each."""
    rng = np.random.default_rng(7)
    split = rng.normal(size=(1, 4, 3)) + 0.8 * rng.normal(size=(2, 4, 3))
    values = 1 + 0.05 * (split[..., None] + 0.5 * rng.normal(size=(2, 4, 3, 2)))
    places = np.indices(values.shape).reshape(4, -1).astype(str)
    columns = dict(zip(("algorithm", "dataset", "split_seed", "fit_seed"), places, strict=True))
    found = seed_shares(pl.DataFrame(columns | {"value": values.ravel()}), (), np.random.default_rng(3))
    relative = values / values.mean(axis=(2, 3), keepdims=True)
    means = relative.mean(axis=3)
    v = np.stack([means.var(axis=2, ddof=1).ravel(), relative.var(axis=3, ddof=1).mean(axis=2).ravel()], axis=1)
    common = means.mean(axis=0).var(axis=1, ddof=1).mean()
    alike = 2 * common / v[:, 0].mean() - 1  # two cells per dataset
    assert 0.2 < alike < 0.8
    degrees = 8 * 2 / (1 + alike**2)
    again = np.random.default_rng(3)
    resampled = v[again.integers(0, 8, (400, 8))].mean(axis=1)
    counted = np.column_stack([v[:, 0].mean() * degrees / again.chisquare(degrees, 400), resampled[:, 1]])
    ends = []
    for drawn in (resampled, counted):
        parts = np.maximum(np.column_stack([drawn[:, 0] - drawn[:, 1] / 2, drawn[:, 1]]), 0.0)
        ends.append(np.quantile(parts / parts.sum(axis=1, keepdims=True), [0.025, 0.975], axis=0))
    low, high = np.minimum(ends[0][0], ends[1][0]), np.maximum(ends[0][1], ends[1][1])
    assert [share.interval for share in found] == [pytest.approx((low[i], high[i])) for i in (0, 1)]
    assert ends[0][0] != pytest.approx(ends[1][0])


def test_universes_that_are_all_alike_are_one():
    rows = table({"split": 1}).drop("split")
    found = explore(pl.concat([rows.with_columns(split=pl.lit(name)) for name in ("s0", "s1")]))
    assert plain(found.settings) == {"alpha": 0.05, "permutations": 10_000, "seed": 0}
    assert found.places == pytest.approx(np.zeros((1, 2)))
    assert found.explained == (0.0, 0.0)
    assert (found.universes, found.shares) == (1, ())
    assert "1 of 2 universes have the same numbers as another: they count once." in found.notes


def test_copies_of_a_choice_change_neither_counts_nor_the_joint_test():
    """Three copies of one choice, in the order and under the names of others, are the one that they copy."""
    rows = table({"split": 3, "target": 2})
    once = explore(rows, permutations=200)
    copied = [rows.filter(split="split0").with_columns(split=pl.lit(f"copy{n}")) for n in range(3)]
    again = explore(pl.concat([*copied, rows]), permutations=200)
    assert [(c.counts, c.p) for c in again.claims] == [(c.counts, c.p) for c in once.claims]
    assert (again.universes, once.universes) == (6, 6)
    note = "6 of 12 universes have the same numbers as another: they count once."
    assert note in again.notes
    assert not any("count once" in text for text in once.notes)


def test_of_a_leaky_universe_and_a_clean_one_with_its_numbers_the_clean_one_counts():
    rows = table({"split": 2}).filter(split="split0")
    both = pl.concat([rows.with_columns(split=pl.lit("a")), rows.with_columns(split=pl.lit("b"))])
    found = explore(both, leaky=["split=a"], permutations=10)
    assert (found.universes, found.leaky.tolist(), found.choice_names(0)) == (1, [False], {"split": "b"})


def test_by_default_metrics_of_one_kind_are_alternatives():
    """Accuracy where there is any, else errors; `all` takes every kind, and a note names what was left out."""
    parts = {m: table({"split": 2}, seed=n).with_columns(metric=pl.lit(m))
             for n, m in enumerate(("ndcg@10", "recall@10", "coverage@10", "rmse", "mae"))}  # fmt: skip
    assert explore(pl.concat(parts.values()), permutations=10).axes["metric"] == ("ndcg@10", "recall@10")
    mixed = explore(pl.concat(parts.values()), permutations=10)
    assert "By default metrics of one kind are alternatives; left out: coverage@10, mae, rmse." in mixed.notes
    everything = explore(pl.concat(parts.values()), metric="all", permutations=10)
    assert set(everything.axes["metric"]) == set(parts)
    assert not any("of one kind" in note for note in everything.notes)
    errors = explore(pl.concat([parts["rmse"], parts["mae"], parts["coverage@10"]]), permutations=10)
    assert errors.axes["metric"] == ("mae", "rmse")
    single = explore(pl.concat([parts["ndcg@10"], parts["recall@10"]]), permutations=10)
    assert not any("of one kind" in note for note in single.notes)


def test_a_claim_about_two_that_never_meet_is_seen_nowhere():
    """A and B under the first split, B and C under the second."""
    rows = table({"split": 2}).filter(
        (pl.col("algorithm") == "A1") | ((pl.col("algorithm") == "A0") == (pl.col("split") == "split0"))
    )
    found = explore(rows, claims=["A0 > A2", "A0 is best"], permutations=10)
    never, best = found.claims
    told = never.to_dict()
    assert (told["counts"]["universes"], told["lead"], told["p"], told["chance"]) == (0, None, None, None)
    assert set(told["share"].values()) == {0.0}
    assert (never.exceptions, best.counts.universes, best.counts.ahead) == ("", 1, 1)
    assert found.curve_frame()["claim"].to_list() == ["A0 is best"]
    assert (found.to_frame()["p"].null_count(), found.to_frame().schema["p"]) == (2, pl.Float64)
