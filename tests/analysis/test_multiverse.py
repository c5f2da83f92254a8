"""The multiverse: published counts, planted shares, the joint test, and bad input answered in words."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.analysis.multiverse.fit import explore
from recassay.analysis.multiverse.repeats import drift_test, seed_shares
from recassay.analysis.multiverse.shares import variance_parts
from recassay.analysis.verdict.fit import judge
from recassay.core.errors import InputError, UsageError
from recassay.core.tables.results import Results
from recassay.reporting.sections.multiverse import sentences, tables

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
    assert published.verdict()[0] == "SASRec is best in 125 of 132 universes; BERT4Rec in 11, GRU4Rec in 8."


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
    assert next(claim for claim in result.claims if claim.rival == "A2").counts.universes == 2
    holes = recassay.multiverse(rows[1:])
    assert holes.n_datasets.tolist() == [7, 8, 8]
    assert any("In 1 universes datasets with missing cells were left out" in note for note in holes.notes)


def test_unnamed_columns_are_averaged_over_where_axes_are_named():
    result = recassay.multiverse(table({"split": 2, "seed": 3}), axes=["split"])
    assert result.universes == 2
    assert "Values are means over seed." in result.notes


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
    names = [found.choice_names(u) for u in range(12)]
    ranks = {tuple(name.values()): row.tolist() for name, row in zip(names, found.mean_ranks, strict=True)}
    gap = float("nan")
    assert ranks == {
        ("s0", "worst", "mean_rank"): pytest.approx([1.375, 2.0, 2.625]),
        ("s0", "drop-datasets", "mean_rank"): pytest.approx([1, 7 / 3, 8 / 3]),
        ("s0", "drop-algorithms", "mean_rank"): pytest.approx([gap, 1.25, 1.75], nan_ok=True),
        ("s0", "worst", "mean_value"): pytest.approx([1.5, (3 + 2.5 + 2.5 + 1) / 4, (2 + 3 + 3 + 3) / 4]),
        ("s0", "drop-datasets", "mean_value"): pytest.approx([1, 8 / 3, 8 / 3]),
        ("s0", "drop-algorithms", "mean_value"): pytest.approx([gap, 1.25, 1.75], nan_ok=True),
        **{("s1", way, "mean_rank"): pytest.approx([1, 2.25, 2.75]) for way in found.axes["missing"]},
        **{("s1", way, "mean_value"): pytest.approx([1, 10.5 / 4, 11 / 4]) for way in found.axes["missing"]},
    }
    assert found.notes[:3] == (
        "In 2 universes datasets with missing cells were left out.",
        "In 2 universes algorithms with missing cells were left out.",
        "The universes are not balanced: 4 of 12 lack algorithms or datasets of others.",
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
