"""The ComPer score: hand-worked numbers, properties, what may stand for a dimension, agreement, sensitivity."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import recassay
from recassay.analysis.comper.fit import ANALYSIS, comper_scores
from recassay.analysis.comper.matrix import DIMENSIONS, CorrelationMatrix, published_matrix
from recassay.analysis.comper.sensitivity import agreement, agreement_of, family, random_weights, resampled_first
from recassay.analysis.comper.table import DimensionTable, _complete, dimension_table, normalise
from recassay.core.analysis import AnalysisResult, AnalysisSpec
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import MissingCells
from recassay.core.tables.results import Results
from recassay.data.published.tables import published_results
from recassay.reporting.drawing import render
from recassay.reporting.figures import figures
from recassay.reporting.words.missing import missing_cells
from support.vega import assert_valid


def averaged() -> dict[str, dict[str, tuple[float, ...]]]:
    """Tables 10 to 12: the five dimensions, averaged over four splits."""
    found: dict[str, dict[str, list[float]]] = {}
    for algorithm, dataset, _, value in published_results("published:comper").frame.rows():
        found.setdefault(dataset, {}).setdefault(algorithm, []).append(value)
    return {dataset: {name: tuple(five) for name, five in each.items()} for dataset, each in found.items()}


AVERAGED = averaged()
# The formula on these, worked by hand.
BY_HAND = {
    "filmtrust": {"AspectModel": 1.031, "PLSA": 1.036},
    "ml-100k": {"AspectModel": 1.016, "PLSA": 1.062},
    "ciaodvd": {"AspectModel": 0.963, "PLSA": 0.958},
}


def long(dimensions=DIMENSIONS, data=AVERAGED):
    rows = [
        (algorithm, dataset, metric, value)
        for dataset, values in data.items()
        for algorithm, five in values.items()
        for metric, value in zip(dimensions, five, strict=True)
    ]
    return pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row")


def cube(values):
    values = np.asarray(values, dtype=float)
    return DimensionTable(
        values,
        tuple(f"a{a:02d}" for a in range(values.shape[0])),
        tuple(f"d{s:02d}" for s in range(values.shape[1])),
    )


def test_the_hand_worked_scores_to_three_digits(cli, tmp_path):
    long().write_csv(tmp_path / "table.csv")
    shown = cli("comper", tmp_path / "table.csv", "--json").json()
    for dataset, scores in BY_HAND.items():
        for algorithm, value in scores.items():
            assert round(shown["scores"][dataset][algorithm], 3) == value
    assert shown["negative_dimensions"] == ["robustness", "scalability"]
    assert shown["sum"]["filmtrust"]["PLSA"] == pytest.approx(0.9053 + 0.0534 + 1.969 + 0.014 + 1076)
    assert shown["mean"]["filmtrust"]["PLSA"] == pytest.approx(shown["sum"]["filmtrust"]["PLSA"] / 5)
    assert shown["input"][0]["sha256"]


def test_algorithm_1_written_out():
    values = np.random.default_rng(0).uniform(0, 3, (3, 2, 5))
    result = comper_scores(cube(values), draws=5)
    matrix = published_matrix()
    for a in range(3):
        for s in range(2):
            total = 0.0
            for o in range(6):
                for d, name in enumerate(DIMENSIONS):
                    scaled = 1 - 1 / (values[a, s, d] + 1)
                    scaled = 1 - scaled if name in ("robustness", "scalability") else scaled
                    total += scaled * matrix.values[d, o]
            assert result.scores[a, s] == pytest.approx(total)


@st.composite
def tables(draw):
    shape = (draw(st.integers(2, 5)), draw(st.integers(1, 4)), 5)
    return cube(draw(arrays.arrays(np.float64, shape, elements=st.floats(0, 1e4))))


@pytest.mark.slow
@given(tables())
def test_contributions_sum_to_the_score_and_the_score_is_bounded(table):
    result = comper_scores(table, draws=3)
    assert result.by_dimension.sum(axis=2) == pytest.approx(result.scores)
    assert result.by_objective.sum(axis=2) == pytest.approx(result.scores)
    assert (result.scores >= -1e-12).all()
    assert (result.scores <= published_matrix().weights.sum() + 1e-12).all()


@pytest.mark.slow
@given(tables(), st.integers(0, 4), st.floats(0.01, 100))
def test_a_better_dimension_never_lowers_the_score(table, d, more):
    better = table.values.copy()
    better[0, 0, d] = max(better[0, 0, d] - more, 0) if table.negative[d] else better[0, 0, d] + more
    before, after = (comper_scores(cube(values), draws=1).scores for values in (table.values, better))
    assert after[0, 0] >= before[0, 0] - 1e-12
    assert after.ravel()[1:] == pytest.approx(before.ravel()[1:])


@pytest.mark.slow
@given(tables(), st.floats(0.1, 50))
def test_the_order_does_not_depend_on_the_scale_of_the_matrix(table, factor):
    scaled = CorrelationMatrix(published_matrix().values * factor)
    one, other = comper_scores(table, draws=1), comper_scores(table, matrix=scaled, draws=1)
    assert other.scores == pytest.approx(one.scores * factor)


@given(tables(), st.floats(0.5, 20), st.floats(0, 5))
def test_min_max_does_not_depend_on_units(table, factor, shift):
    moved = cube(table.values * factor + shift)
    spread = np.ptp(table.values, axis=(0, 1)).min()
    if spread > 1e-3:
        assert normalise(moved, "min-max") == pytest.approx(normalise(table, "min-max"), abs=1e-6)
    within = normalise(table, "min-max-dataset")
    assert within.min() >= 0
    assert within.max() <= 1


def test_min_max_by_hand():
    table = cube([[[1, 0, 3, 0.0, 10], [2, 0, 5, 0.2, 20]], [[3, 0, 3, 0.1, 30], [2, 0, 4, 0.2, 60]]])
    whole, within = normalise(table, "min-max"), normalise(table, "min-max-dataset")
    assert whole[0, 0].tolist() == pytest.approx([0, 0.5, 0, 1, 1])
    assert whole[1, 1].tolist() == pytest.approx([0.5, 0.5, 0.5, 0, 0])
    assert within[0, 0].tolist() == pytest.approx([0, 0.5, 0.5, 1, 1])
    assert within[1, 1].tolist() == pytest.approx([0.5, 0.5, 0, 0.5, 0])


def test_equation_4_needs_values_of_at_least_0():
    table = cube([[[0.5, 0.1, 1, -0.02, 3]]])
    with pytest.raises(NotApplicableError, match=r"robustness of a00 on d00 is -0\.02"):
        comper_scores(table)
    assert comper_scores(table, normalisation="min-max", draws=1).scores.shape == (1, 1)


def test_metric_labels_stand_for_dimensions():
    frame = long(("AUC", "coverage@10", "diversity@10", "robustness", "seconds"))
    table = dimension_table(Results.from_frame(frame))
    assert table.metrics == (("auc",), ("coverage@10",), ("diversity@10",), ("robustness",), ("seconds",))
    assert table.time_unit == "seconds"
    assert table.values[0, 1].tolist() == [*AVERAGED["filmtrust"]["AspectModel"]]
    in_ms = dimension_table(Results.from_frame(frame), time_unit="milliseconds")
    assert in_ms.values[0, 1, 4] == 2630e3


def test_fit_and_predict_seconds_are_added_and_seeds_averaged():
    rows = [
        ("x", "d", metric, value, seed)
        for seed, scale in ((1, 1.0), (2, 3.0))
        for metric, value in (
            ("ndcg@10", 0.2), ("rmse", 0.5), ("coverage@5", 0.1), ("coverage@20", 0.3), ("diversity@20", 0.6),
            ("robustness", 0.02), ("seconds_fit", 2.0), ("seconds_predict", 0.5),
        )
        for value in [value * scale]
    ]  # fmt: skip
    results = Results.from_frame(
        pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value", "seed"], orient="row")
    )
    table = dimension_table(results, correctness="ndcg@10", k=20)
    assert table.values[0, 0].tolist() == pytest.approx([0.4, 0.6, 1.2, 0.04, 5.0])
    assert table.negative.tolist() == [False, False, False, True, True]
    assert dimension_table(results, correctness="rmse", k=20).negative.tolist()[0]
    with pytest.raises(NotApplicableError, match="no correctness"):
        dimension_table(results, k=20)
    with pytest.raises(UsageError, match="coverage is there as coverage@5, coverage@20, and not as coverage@10"):
        dimension_table(results, correctness="ndcg@10")
    with pytest.raises(UsageError, match="ndcg@7"):
        dimension_table(results, correctness="ndcg@7")


def test_missing_cells_and_their_policies():
    frame = long().filter(
        ~((pl.col("algorithm") == "PLSA") & (pl.col("dataset") == "ciaodvd") & (pl.col("metric") == "robustness"))
    )
    results = Results.from_frame(frame)
    with pytest.raises(NotApplicableError, match=r"1 cells lack a dimension of ComPer: PLSA on ciaodvd .*robustness"):
        dimension_table(results)
    assert dimension_table(results, missing="drop-datasets").datasets == ("filmtrust", "ml-100k")
    assert dimension_table(results, missing="drop-algorithms").algorithms == ("AspectModel",)
    filled = dimension_table(results, missing="worst")
    assert filled.values[1, 0, 3] == 0.0005
    assert "missing" in " ".join(comper_scores(filled, draws=1).notes)
    alone = Results.from_frame(frame.filter(pl.col("algorithm") == "PLSA", pl.col("dataset") == "ciaodvd"))
    with pytest.raises(NotApplicableError, match="no robustness"):
        dimension_table(alone)


BAD = {
    "attack": ("robustness", "the results have no robustness", "[comper]"),
    "timings": ("scalability", "the results have no scalability", "seconds_fit and seconds_predict"),
    "coverage": ("coverage", "the results have no coverage", "coverage@10"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_table_without_a_dimension_is_one_line(cli, tmp_path, case):
    left_out, message, cure = BAD[case]
    long().filter(pl.col("metric") != left_out).write_csv(tmp_path / "t.csv")
    ran = cli("comper", tmp_path / "t.csv", "--json")
    assert ran.code == 2
    assert message in ran.err
    assert cure in ran.err
    assert len([line for line in ran.err.strip().splitlines() if not line.startswith("read: ")]) == 1


@pytest.mark.slow
def test_the_command_with_options(cli, tmp_path):
    long().write_csv(tmp_path / "t.csv")
    ran = cli("comper", tmp_path / "t.csv", "--out", tmp_path / "out")
    assert ran.code == 0, ran.err
    assert "By ComPer PLSA is best" in ran.out
    for name in ("scores", "dimensions", "sensitivity"):
        assert (tmp_path / "out" / "figures" / f"comper_{name}.svg").exists()
    for name in ("scores", "contributions", "agreement", "sensitivity", "matrix"):
        assert (tmp_path / "out" / "tables" / f"comper_{name}.csv").exists()
    (tmp_path / "m.csv").write_text("dimension,all\n" + "\n".join(f"{d},{int(d == 'coverage')}" for d in DIMENSIONS))
    only = cli("comper", tmp_path / "t.csv", "--matrix", tmp_path / "m.csv", "--json").json()
    assert only["scores"]["filmtrust"]["PLSA"] == pytest.approx(0.0534 / 1.0534)
    assert list(only["contributions"]["objectives"]["filmtrust"]["PLSA"]) == ["all"]
    printed = cli("comper", tmp_path / "t.csv", "--matrix", "printed", "--json").json()
    assert printed["scores"]["filmtrust"]["PLSA"] == pytest.approx(1.03664, abs=1e-5)
    wide = cli("comper", tmp_path / "t.csv", "--normalisation", "min-max", "--json").json()
    assert max(wide["normalised"]["ciaodvd"]["PLSA"].values()) <= 1
    assert cli("comper", tmp_path / "t.csv", "--time-unit", "hours").code == 2
    assert "no such file" in cli("comper", tmp_path / "t.csv", "--matrix", tmp_path / "none.csv").err


@pytest.mark.slow
def test_analyze_runs_it_where_it_applies():
    report = recassay.analyze(long(), "correctness", replicates=200)
    result = report.analyses["comper"]
    assert result.scores.shape == (2, 3)
    assert isinstance(result, AnalysisResult)
    assert result.to_frame().equals(next(iter(result.frames().values())))
    assert any(sentence.startswith("By ComPer") for sentence in report.verdict)


def test_the_kdd24_table_lacks_dimensions(kdd24):
    with pytest.raises(NotApplicableError, match="no correctness, robustness, and"):
        recassay.comper(kdd24)


def test_agreement_by_hand():
    same = agreement(np.array([[3.0, 9, 5], [2, 8, 4], [1, 7, 3]]), ["a", "b", "c"])
    assert (same.tau, same.first, same.same_first, same.reversed_share) == (1, "a", 1, 0)
    mixed = agreement(np.array([[3.0, 3, 1], [2, 2, 2], [1, 1, 3]]), ["a", "b", "c"])
    assert mixed.tau == pytest.approx((1 - 1 - 1) / 3)
    assert mixed.same_first == pytest.approx(2 / 3)
    assert mixed.reversed_share == pytest.approx(3 / 9)
    shared = agreement(np.array([[1.0, 2.0], [2.0, 2.0]]), ["a", "b"])
    assert (shared.first, shared.same_first) == ("b", 1), "alone in one setting, and level in the other"
    flat = agreement(np.ones((2, 2)), ["a", "b"])
    assert np.isnan(flat.tau)
    assert np.isnan(flat.reversed_share)


def test_settings_of_one_dataset_are_a_scope_of_their_own():
    values = {"m": np.array([[2.0, 2, 1, 1], [1, 1, 2, 2]])}
    found = agreement_of(values, ["x", "y"], ["films@0.2", "films@0.8", "books@0.2", "books@0.8"])
    assert [(one.scope, one.settings, one.tau) for one in found[1:]] == [("films", 2, 1), ("books", 2, 1)]
    assert found[0].scope == "all"
    assert found[0].reversed_share == 0.5
    assert agreement_of({"m": np.ones((2, 1))}, ["x", "y"], ["films"]) == []
    assert agreement_of({"m": np.ones((1, 2))}, ["x"], ["films", "books"]) == []
    one = agreement_of(values, ["x", "y"], ["films@0.2", "films@0.4", "films@0.6", "films@0.8"])
    assert [each.scope for each in one] == ["all"], "the settings of one dataset are all that there are"
    lone = agreement_of(values, ["x", "y"], ["films@0.2", "films@0.8", "books", "music"])
    assert [each.scope for each in lone] == ["all", "films"], "a single setting is not a scope"
    assert comper_scores(cube(np.ones((1, 3, 5))), draws=2).conclusions() == []


def test_sensitivity_is_certain_where_one_algorithm_dominates():
    values = np.array(
        [[[0.9, 0.9, 0.9, 0.0, 0.1]] * 2, [[0.5, 0.5, 0.5, 0.4, 9.0]] * 2, [[0.1, 0.1, 0.1, 0.8, 99]] * 2]
    )
    for one in comper_scores(cube(values), draws=500).sensitivities:
        assert one.order_changed.max() == 0
        assert one.probability_first[:, -1].tolist() == [1, 0, 0]


def test_the_best_comes_with_the_share_of_replicates():
    """The first wins on five of six datasets and loses much on the sixth."""
    values = np.full((2, 6, 5), 0.5)
    values[0, :5, 0], values[0, 5, 0] = 0.6, 0.35
    found = comper_scores(cube(values), draws=4000)
    assert found.resampling_share.sum() == pytest.approx(1)
    assert found.order()[0] == 0
    assert 0.5 < found.resampling_share[0] < 1
    often = f"; it is so in {100 * found.resampling_share[0]:.0f} % of bootstrap replicates over the datasets; "
    assert often in found.conclusions()[0]
    assert found.to_dict()["resampling_share"] == dict(
        zip(found.table.algorithms, found.resampling_share.tolist(), strict=True)
    )
    few = comper_scores(cube(values[:, :4]), draws=100)
    assert few.resampling_share is None
    assert comper_scores(cube(values[:, :5]), draws=100).resampling_share.tolist() == [1, 0], "five are enough"
    assert "bootstrap" not in " ".join(few.conclusions())


def test_words_of_an_order_that_holds_and_of_one_that_does_not():
    same = np.array([[[0.9, 0.9, 0.9, 0.1, 1.0]] * 3, [[0.5, 0.5, 0.5, 0.5, 2.0]] * 3])
    found = comper_scores(cube(same), draws=200)
    assert {found.agreement(name).first for name in DIMENSIONS} == {"a00"}, "robust and quick are those of low values"
    said = " ".join(found.conclusions())
    assert "The order by ComPer is the same in every setting (3 of them)." in said
    assert "with the five weights drawn at random" in said
    assert (found.agreement("scalability").first, found.agreement("sum").first) == ("a00", "a01"), (
        "a plain sum takes a long time for a merit"
    )
    turned = same.copy()
    turned[:, 0] = turned[::-1, 0]
    said = " ".join(comper_scores(cube(turned), draws=200).conclusions())
    assert "same in every setting" not in said
    assert "go against the majority of settings" in said
    mixed = np.full((2, 3, 5), 0.5)
    mixed[0, 0, 0], mixed[0, 2, 0] = 0.9, 0.4
    said = comper_scores(cube(mixed), draws=50).conclusions()[1]
    assert said.startswith("a00 has the highest score in 2 of 3 settings; 50 % of the pairwise orders go against"), (
        "alone in one, and shared in another"
    )
    said = comper_scores(cube(mixed[::-1]), draws=50).conclusions()[1]
    assert said.startswith("a01 has the highest score in 2 of 3 settings; "), "wherever it stands in the table"
    said = comper_scores(cube(mixed[:, :, [1, 0, 2, 3, 4]]), draws=50).conclusions()[1]
    assert "(single dimensions: 50 % to 50 %)" in said, "the others are alike everywhere and have no order"


def test_sensitivity_by_simulation_matches_the_exact_share():
    """Two algorithms that differ in two dimensions by g and h: under any weights the first wins where w1 g > w2 h, and
    the two weights are Dirichlet, so w1 / (w1 + w2) is uniform: P = 1 - h / (g + h)."""
    values = np.zeros((2, 1, 5))
    values[0, 0, 0], values[1, 0, 1] = 1.0, 0.5
    g, h = 1 / 2, 0.5 / 1.5
    found = {one.scheme: one for one in comper_scores(cube(values), draws=40_000).sensitivities}
    assert found["any"].probability_first[0, -1] == pytest.approx(1 - h / (g + h), abs=0.01)
    assert found["perturbed"].order_changed[0] < 0.05


def test_random_weights_keep_what_their_scheme_promises():
    matrix, rng = published_matrix().values, np.random.default_rng(1)
    free = random_weights(matrix, "any", 1000, rng)
    assert free.sum(axis=1) == pytest.approx(np.full(1000, matrix.sum()))
    near = random_weights(matrix, "perturbed", 1000, rng)
    assert (near > 0.5 * matrix.sum(axis=1)).all()
    assert (near < 1.5 * matrix.sum(axis=1)).all()
    ranged = random_weights(matrix, "random", 1000, rng)
    assert ranged.min() > 6 * matrix.min()
    assert ranged.max() < 6 * matrix.max()


def test_the_same_seed_gives_the_same_draws():
    table = cube(np.random.default_rng(5).random((4, 3, 5)))
    one, two, other = (comper_scores(table, draws=300, seed=seed).sensitivity_frame() for seed in (7, 7, 8))
    assert one.equals(two)
    assert not one.equals(other)


@pytest.mark.slow
@pytest.mark.parametrize(("algorithms", "settings"), [(1, 1), (30, 3)])
def test_pictures_hold_every_algorithm(algorithms, settings):
    result = comper_scores(cube(np.random.default_rng(2).random((algorithms, settings, 5))), draws=50)
    drawn = figures({"comper": result})
    assert len(drawn) == (3 if algorithms > 1 else 2)
    assert_valid(drawn)
    for figure in drawn:
        svg = render(figure.drawn, "svg").decode()
        assert all(name in svg for name in result.table.algorithms)
        assert figure.table in result.frames()


def test_from_python():
    result = recassay.comper(long(), draws=100)
    assert result.to_frame().height == 6
    assert result.to_frame().filter(rank=1).get_column("algorithm").to_list() == ["AspectModel", "PLSA", "PLSA"]
    assert result.agreement("correctness").reversed_share == pytest.approx(1 / 3)
    for wrong in ({"draws": 0}, {"normalisation": "z-score"}, {"missing": "guess"}, {"time_unit": "days"}):
        with pytest.raises(UsageError, match=f"{next(iter(wrong))} is"):
            recassay.comper(long(), **wrong)


def test_what_was_done_about_missing_cells_is_kept_and_said():
    gone = (pl.col("algorithm") == "PLSA") & (pl.col("dataset") == "ciaodvd") & (pl.col("metric") != "coverage")
    results = Results.from_frame(long().filter(~gone))
    cells = (("PLSA", "ciaodvd"),)
    for policy, dropped in (("drop-datasets", ("ciaodvd",)), ("drop-algorithms", ("PLSA",)), ("worst", ())):
        table = dimension_table(results, missing=policy)
        assert table.missing == MissingCells(policy, cells, dropped)
        assert comper_scores(table, draws=1).notes[-1] == missing_cells(table.missing)
        assert np.isfinite(table.values).all()
    # The worst: the least where higher is better, the largest of shifts and times.
    values = [[[0.5, 0.5, np.nan, 0.1, 2.0], [0.4, 0.4, 0.4, np.nan, 1.0]], [[0.3, 0.2, 0.9, np.nan, 3.0], [0.1] * 5],
              [[0.2, 0.2, 0.8, 0.3, np.nan], [0.3, 0.3, 0.3, 0.2, 5.0]]]  # fmt: skip
    filled = _complete(cube(values), "worst").values
    assert [filled[0, 0, 2], filled[1, 0, 3], filled[2, 0, 4], filled[0, 1, 3]] == [0.8, 0.3, 3.0, 0.2]
    everywhere = np.array(values)
    everywhere[:, 1, 1] = np.nan
    with pytest.raises(NotApplicableError, match="no algorithm has coverage on d01; choose `missing='drop-datasets'`"):
        _complete(cube(everywhere), "worst")
    with pytest.raises(NotApplicableError, match="every algorithm lacks a dimension somewhere"):
        _complete(cube(everywhere), "drop-algorithms")
    assert _complete(cube(np.ones((2, 2, 5))), "error").missing == MissingCells()


@pytest.mark.parametrize(
    ("labels", "options", "expected"),
    [
        (["coverage@5", "coverage@10", "auc"], {}, "coverage@10"),
        (["coverage@5", "coverage@10", "auc"], {"k": 5}, "coverage@5"),
        (["coverage@5", "auc"], {}, "coverage@5"),
        (["coverage@5", "coverage", "auc"], {"k": 5}, "coverage"),
        (["coverage@5", "auc"], {"k": 20}, "coverage is there as coverage@5, and not as coverage@20; name the cut-off"),
        (["coverage@5", "coverage@20", "auc"], {}, "and not as coverage@10"),
    ],
)
def test_the_cut_off_of_coverage(labels, options, expected):
    rest = ["diversity", "robustness", "seconds"]
    rows = [(a, "x", label, 0.5) for a in "AB" for label in (*labels, *rest)]
    results = Results.from_frame(pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row"))
    if " " in expected:
        with pytest.raises(UsageError, match=expected):
            dimension_table(results, **options)
        return
    table = dimension_table(results, **options, time_unit="milliseconds")
    assert table.metrics == (("auc",), (expected,), ("diversity",), ("robustness",), ("seconds",))
    assert (table.time_unit, table.values[0, 0].tolist()) == ("milliseconds", [0.5, 0.5, 0.5, 0.5, 500.0])
    assert table.negative.tolist() == [False, False, False, True, True]


def test_the_draws_of_weights_are_counted_one_by_one(monkeypatch):
    monkeypatch.setattr("recassay.analysis.comper.sensitivity._AT_ONCE", 60)
    table = cube(np.random.default_rng(2).random((3, 2, 5)))
    found = comper_scores(table, draws=40, seed=6)
    three = np.concatenate([found.normalised, found.normalised.mean(axis=1, keepdims=True)], axis=1)
    matrix = published_matrix().values
    usual = np.argsort(-three @ matrix.sum(axis=1), axis=0)
    for drawn in found.sensitivities:
        weights = random_weights(matrix, drawn.scheme, 40, derived_rng(6, "comper", drawn.scheme))
        orders = np.array([np.argsort(-three @ weight, axis=0) for weight in weights])
        assert drawn.order_changed == pytest.approx((orders != usual).any(axis=1).mean(axis=0))
        assert drawn.first_changed == pytest.approx((orders[:, 0] != usual[0]).mean(axis=0))
        first = [[(orders[:, 0, s] == a).mean() for s in range(3)] for a in range(3)]
        assert drawn.probability_first == pytest.approx(np.array(first))
    again = resampled_first(found.scores, ["x@1", "x@2"], draws=10, seed=0)
    assert again is None
    scores, datasets = np.random.default_rng(4).random((3, 7)), ["x@1", "a", "x@2", "b", "c", "d", "e@0"]
    share = resampled_first(scores, datasets, draws=50, seed=3)
    counts = derived_rng(3, "comper", "datasets").multinomial(6, [1 / 6] * 6, size=50)
    place = [5, 0, 5, 1, 2, 3, 4]
    wins = np.zeros(3)
    for count in counts:
        wins[np.argmax(scores @ count[place])] += 1 / 50
    assert share == pytest.approx(wins)


def test_conclusions_are_whole_sentences():
    values = np.array([[[0.9, 0.5, 0.5, 0.1, 1.0], [0.9, 0.5, 0.5, 0.1, 1.0], [0.2, 0.5, 0.5, 0.1, 1.0]],
                       [[0.4, 0.5, 0.6, 0.1, 1.0]] * 3])  # fmt: skip
    table = replace(cube(values), time_unit="seconds")
    found = comper_scores(table, draws=100)
    weight = published_matrix().weights
    ratio = values / (values + 1)
    ratio[:, :, 3:] = 1 - ratio[:, :, 3:]
    scores = ratio @ weight
    mean = scores.mean(axis=1)
    assert mean[0] > mean[1]
    parts = (ratio[0].mean(axis=0) - ratio[1].mean(axis=0)) * weight
    changes = {drawn.scheme: drawn for drawn in found.sensitivities}
    near, free = changes["perturbed"], changes["any"]
    assert found.conclusions() == [
        f"By ComPer a00 is best ({mean[0]:.3f} over 3 settings), before a01 ({mean[1]:.3f}); correctness is the "
        f"largest part of that lead ({parts[0]:+.3f} of {parts.sum():+.3f}).",
        "a00 has the highest score in 2 of 3 settings; 33 % of the pairwise orders go against the majority of settings "
        "(single dimensions: 0 % to 33 %), and 33 % by the unweighted mean of the normalised dimensions.",
        f"With every entry of the matrix off by up to half, the order of the mean scores changes in "
        f"{100 * near.order_changed[-1]:.0f} % of 100 draws and the first in {100 * near.first_changed[-1]:.0f} %; "
        f"with the five weights drawn at random a00 is first in {100 * free.probability_first[0, -1]:.0f} % of draws.",
        "Scalability is in seconds: equation (4) depends on the unit, and the score with it.",
    ]  # fmt: skip
    one = comper_scores(cube(values[:, :1]), draws=20).conclusions()
    assert one[0].startswith(f"By ComPer a00 is best ({scores[0, 0]:.3f} on d00), before a01 ({scores[1, 0]:.3f}); ")
    assert len(one) == 2
    behind = np.array([[[0.9, 0.9, 0.9, 0.5, 9.0]], [[0.5, 0.5, 0.5, 0.5, 1.0]]])
    mixed = comper_scores(cube(behind), matrix=CorrelationMatrix(np.ones((5, 1)), ("all",)), draws=20).conclusions()[0]
    assert mixed.endswith("correctness is the largest part of that lead (+0.140 of +0.021)."), "time is against it"
    assert comper_scores(table, normalisation="min-max", draws=20).notes == []
    row = found.to_frame().filter(dataset="d02", algorithm="a01").row(0, named=True)
    assert (row["rank"], row["sum"], row["mean"]) == (1.0, pytest.approx(2.6), pytest.approx(0.52))
    parted = found.frames()["comper_contributions"].group_by("kind", "dataset", "algorithm")
    for kind, dataset, algorithm, total in parted.agg(pl.col("contribution").sum()).rows():
        assert kind in ("dimension", "objective")
        assert total == pytest.approx(scores[int(algorithm[1:]), int(dataset[1:])])
    assert comper_scores(table, normalisation="min-max", draws=10).notes == [], "min-max does not depend on the unit"
    films = replace(table, datasets=("films@1", "books", "films@2"))
    assert comper_scores(films, draws=10).agreement() == found.agreement(), "over all settings, not those of films"
    answer = found.to_dict()
    assert answer["negative_dimensions"] == ["robustness", "scalability"]
    assert answer["mean_scores"] == pytest.approx({"a00": mean[0], "a01": mean[1]})
    assert answer["sensitivity"]["any"]["probability_first"]["a01"] == pytest.approx(free.probability_first[1, -1])


def test_a_correctness_whose_direction_nobody_knows_is_better_where_higher():
    frame = long(("mine", "coverage", "diversity", "robustness", "scalability"))
    known = dimension_table(Results.from_frame(long()))
    table = dimension_table(Results.from_frame(frame), correctness="mine")
    assert table.negative.tolist() == known.negative.tolist() == [False, False, False, True, True]
    ranked = Results.from_frame(long(("auc@5", "coverage@20", "diversity@20", "robustness", "scalability")))
    assert dimension_table(ranked, k=20).metrics[0] == ("auc@5",), "the cut-off is that of coverage and diversity"
    errors = Results.from_frame(frame.with_columns(pl.col("metric").replace("mine", "rmse")))
    errors = dimension_table(errors, correctness="rmse")
    assert errors.negative.tolist() == [True, False, False, True, True]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["auc", "correctness", "scalability", "seconds"], ("correctness", "scalability")),
        (["auc", "seconds", "seconds_fit", "seconds_predict"], ("auc", "seconds")),
        (["auc", "seconds_fit", "seconds_predict"], ("auc", "seconds_fit", "seconds_predict")),
        (["auc@10", "seconds"], ("auc@10", "seconds")),
    ],
)
def test_a_metric_with_the_name_of_a_dimension_stands_for_it(labels, expected):
    """Only seconds have a unit."""
    rows = [(a, "x", label, 0.5) for a in "AB" for label in (*labels, "coverage", "diversity", "robustness")]
    results = Results.from_frame(pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row"))
    table = dimension_table(results, time_unit="milliseconds")
    assert (*table.metrics[0], *table.metrics[-1]) == expected
    timed = expected[-1] != "scalability"
    assert table.time_unit == ("milliseconds" if timed else None)
    assert table.values[0, 0, -1] == 0.5 * (len(expected) - 1) * (1000 if timed else 1)
    with pytest.raises(NotApplicableError, match="the results have no scalability, and ComPer needs"):
        dimension_table(Results.from_frame(results.frame.filter(~pl.col("metric").str.starts_with("s"))))


def test_equal_scores_are_listed_by_name_and_an_analysis_passes_on_what_was_asked(monkeypatch):
    level = replace(cube(np.ones((3, 2, 5))), algorithms=("c", "a", "b"))
    same = comper_scores(level, draws=5)
    assert same.order() == [1, 2, 0]
    assert same.conclusions()[1] == "The order by ComPer is the same in every setting (2 of them)."
    assert same.frames()["comper_agreement"]["tau"].null_count() == 8
    asked = []
    monkeypatch.setattr(
        "recassay.analysis.comper.fit.fit_comper", lambda results, **options: asked.append((results, options))
    )
    results = Results.from_frame(long())
    settings = {"comper": lambda: ("auc", 5)}
    ANALYSIS.run(results, AnalysisSpec("auc", missing="worst", replicates=77, seed=9, evidence=settings))
    ANALYSIS.run(results, AnalysisSpec("auc"))
    assert asked == [
        (results, {"missing": "worst", "draws": 77, "seed": 9, "correctness": "auc", "k": 5}),
        (results, {"missing": "error", "draws": 10_000, "seed": 0, "correctness": None, "k": None}),
    ]


def test_scores_that_differ_by_rounding_are_equal():
    values = np.random.default_rng(3).random((1, 5, 5))
    found = comper_scores(cube(np.concatenate([values, values * (1 + 1e-13)])), draws=50)
    assert found.resampling_share.tolist() == [0.5, 0.5]
    for drawn in found.sensitivities:
        assert drawn.order_changed.max() == 0
        assert (drawn.probability_first[0] == 1).all(), "of equal ones the first of the table"


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [("films", "films"), ("films@0.2", "films"), ("films@home@0.2", "films@home"), ("@x", "@x")],
)
def test_settings_of_a_dataset_share_what_stands_before_the_last_at(dataset, expected):
    assert family(dataset) == expected


def test_every_table_of_a_result_has_its_numbers_in_their_places():
    """Three algorithms in two settings: what belongs to one of them stands under its names."""
    values = np.random.default_rng(6).random((3, 2, 5))
    found = comper_scores(replace(cube(values), time_unit="milliseconds"), normalisation="min-max", draws=30, seed=1)
    weights, plain = found.matrix.weights, found.to_dict()
    low, high = values.min(axis=(0, 1)), values.max(axis=(0, 1))
    scaled = (values - low) / (high - low)
    scaled[:, :, 3:] = 1 - scaled[:, :, 3:]
    assert plain["normalised"]["d01"]["a02"] == pytest.approx(dict(zip(DIMENSIONS, scaled[2, 1], strict=True)))
    assert plain["dimensions"]["d01"]["a02"] == pytest.approx(dict(zip(DIMENSIONS, values[2, 1], strict=True)))
    assert plain["scores"]["d00"]["a01"] == pytest.approx(scaled[1, 0] @ weights)
    parts = plain["contributions"]
    assert parts["dimensions"]["d01"]["a00"]["diversity"] == pytest.approx(scaled[0, 1, 2] * weights[2])
    assert parts["objectives"]["d01"]["a00"]["apply"] == pytest.approx(scaled[0, 1] @ found.matrix.values[:, 2])
    assert (plain["sum"]["d01"]["a00"], plain["mean"]["d01"]["a00"]) == pytest.approx(
        (values[0, 1].sum(), values[0, 1].mean())
    )
    assert (plain["normalisation"], plain["time_unit"], plain["notes"]) == ("min-max", "milliseconds", [])
    assert plain["weights"] == pytest.approx(dict(zip(DIMENSIONS, weights, strict=True)))
    row = found.to_frame().filter(dataset="d01", algorithm="a02").row(0, named=True)
    assert (row["coverage"], row["coverage_normalised"]) == pytest.approx((values[2, 1, 1], scaled[2, 1, 1]))
    assert row["rank"] == 1 + (found.scores[:, 1] > found.scores[2, 1]).sum()
    contributions = found.contributions_frame()
    assert contributions.height == 3 * 2 * (5 + 6)
    one = contributions.filter(dataset="d01", algorithm="a02", kind="objective", name="create")["contribution"]
    assert one.to_list() == pytest.approx([scaled[2, 1] @ found.matrix.values[:, 5]])
    for drawn in found.sensitivities:
        told = plain["sensitivity"][drawn.scheme]
        assert (told["meaning"], told["draws"]) == (found.schemes[drawn.scheme], 30)
        assert told["order_changed"] == dict(
            zip(("d00", "d01", "mean over settings"), drawn.order_changed.tolist(), strict=True)
        )
        assert told["first_changed"]["d01"] == drawn.first_changed[1]
        assert told["probability_first"]["a02"] == drawn.probability_first[2, 2]
        frame = found.sensitivity_frame().filter(scheme=drawn.scheme)
        assert frame.filter(setting="d01", algorithm="a02").row(0)[3:] == (
            drawn.order_changed[1], drawn.first_changed[1], drawn.probability_first[2, 1], 30
        )  # fmt: skip
    measures = [each.measure for each in found.agreements if each.scope == "all"]
    assert measures == ["comper", *DIMENSIONS, "sum", "mean of normalised"]
    assert found.agreement("sum") == agreement(found.sums, found.table.algorithms, measure="sum")
    assert found.agreement("scalability") == agreement(-values[:, :, 4], ("a00", "a01", "a02"), measure="scalability")
    assert found.agreement("mean of normalised").tau == agreement(scaled.mean(axis=2), "abc").tau
    assert found.frames()["comper_agreement"].filter(measure="sum").row(0)[1:3] == ("all", 2)
