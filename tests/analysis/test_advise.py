"""Advice for a new dataset: distances, honest leave-one-out numbers, warnings; characteristics from a study."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

import recassay
from recassay.analysis.advise import fit as advise_module
from recassay.analysis.advise.fit import _interval, advise_for, expected_cost
from recassay.analysis.advise.order_model import (
    CANDIDATES,
    OrderModel,
    best_candidate,
    bounded,
    left_out,
    nearest,
    nested_predictions,
    predict,
)
from recassay.analysis.advise.result import Cost, Neighbour, Outside, Skill
from recassay.analysis.dataset_space.space import Standardisation
from recassay.analysis.inference.bootstrap import dataset_weights, intervals
from recassay.core.errors import InputError, NotApplicableError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results
from recassay.reporting.sections import advise as section
from recassay.reporting.telling import sections
from support.benchmarks import benchmark, characteristics, fading, long_frame
from support.vega import assert_valid

RANKS = {"Nu": 1.0, "Ni": 1.0, "Density": 1.0, "Giniu": 1.0, "APB": 1.0}


def steered(n: int = 30, strength: float = 3.0, seed: int = 0) -> tuple[np.ndarray, object]:
    """Results whose order turns round with the logarithm of Density."""
    table = characteristics(n, seed)
    z = np.log(table.values[:, 2])
    ability = np.linspace(1, -1, 6)[:, None]
    noise = 0.5 * np.random.default_rng(seed + 1).normal(size=(6, n))
    return 1 / (1 + np.exp(-(strength * ability * z + noise))), table


@pytest.mark.parametrize("candidate", CANDIDATES, ids=lambda each: each.name)
def test_leaving_out_is_fitting_without(candidate):
    rng = np.random.default_rng(0)
    points, ranks = rng.normal(size=(14, 4)), rng.random((14, 5))
    quick = left_out(candidate, points, ranks)
    for held in range(14):
        rest = np.arange(14) != held
        slow = predict(candidate, points[rest], ranks[rest], points[[held]])[0]
        assert quick[held] == pytest.approx(slow)


def test_the_judged_dataset_has_no_part_in_its_prediction():
    values, table = steered(12)
    ranks = values.T.argsort(axis=1).argsort(axis=1) + 1.0
    one, _ = nested_predictions(table.values, ranks)
    other = ranks.copy()
    other[5] = other[5, ::-1]
    two, _ = nested_predictions(table.values, other)
    assert two[5] == pytest.approx(one[5])
    assert two[4] != pytest.approx(one[4])


def test_each_dataset_is_predicted_by_the_model_that_was_chosen_without_it():
    values, table = steered(11, strength=0.2)
    ranks = stats.rankdata(-values, axis=0).T
    predicted, chosen = nested_predictions(table.values, ranks)
    assert len(set(chosen)) > 1, "not every choice is the same"
    for held in range(11):
        rest = np.delete(np.arange(11), held)
        scale = Standardisation.of(table.values[rest], log_skewed=True)
        points = scale(table.values[rest])
        assert chosen[held] == best_candidate(points, ranks[rest])
        new = bounded(scale, table.values[[held]], points)
        assert predicted[held] == pytest.approx(predict(chosen[held], points, ranks[rest], new)[0])


def test_a_model_that_can_know_beats_the_baseline_and_one_that_cannot_says_so():
    values, table = steered()
    new = {**RANKS, "Density": float(np.exp(1.5))}
    result = advise_for("mine", new, benchmark(values), table, replicates=500)
    assert result.trusts_model
    assert result.skills["model"].rank_error < 0.8 * result.skills["baseline"].rank_error
    assert result.model_worth().startswith("The model on characteristics improved on the overall mean rank")
    assert result.order()[:2] == [0, 1]
    assert result.order()[-1] == 5
    turned = advise_for("mine", {**RANKS, "Density": float(np.exp(-1.5))}, benchmark(values), table, replicates=500)
    assert turned.order()[0] == 5
    trusted = 0
    for seed in range(6):
        noise = np.random.default_rng(seed).random((6, 20))
        blind = advise_for("mine", new, benchmark(noise), characteristics(20, seed), replicates=300)
        trusted += blind.trusts_model
        if not blind.trusts_model:
            assert "did not improve on the overall mean rank" in blind.model_worth()
            assert blind.order() == sorted(range(6), key=lambda a: (blind.overall[a], blind.algorithms[a]))
    assert trusted <= 1


@pytest.mark.slow
def test_intervals_of_predicted_ranks_hold_what_they_promise():
    held = []
    for seed in range(8):
        values, table = steered(31, strength=1.0, seed=seed)
        row = dict(zip(table.names, table.values[30], strict=True))
        rest = replace(table, values=table.values[:30], datasets=table.datasets[:30])
        result = advise_for("mine", row, benchmark(values[:, :30]), rest, replicates=200)
        truth = (-values[:, 30]).argsort().argsort() + 1
        for interval in (result.expected_interval, result.overall_interval):
            held.append((interval[:, 0] - 1e-9 <= truth) & (truth <= interval[:, 1] + 1e-9))
    share = np.mean(held)
    assert share > 0.9 - 3 * np.sqrt(0.09 / 48)
    few = advise_for("mine", RANKS, benchmark(fading(4, 8)), characteristics(8), replicates=200)
    assert few.expected_interval.tolist() == [[1.0, 4.0]] * 4


def test_nearest_and_outside():
    table = characteristics(12)
    own = dict(zip(table.names, table.values[4], strict=True))
    own["Nu"] = 1000 * table.values[:, 0].max()
    result = advise_for("mine", own, benchmark(fading(5, 12)), table, k=3, replicates=200)
    assert len(result.nearest) == 3
    assert [near.distance for near in result.nearest] == sorted(near.distance for near in result.nearest)
    assert [each.characteristic for each in result.outside] == ["Nu"]
    assert result.frames()["advice_characteristics"].filter(pl.col("outside"))["characteristic"].to_list() == ["Nu"]
    for edge in (table.values.min(axis=0), table.values.max(axis=0)):
        at = advise_for(
            "mine", dict(zip(table.names, edge, strict=True)), benchmark(fading(5, 12)), table, replicates=100
        )
        assert at.outside == (), "the benchmark reaches as far"
    assert "is above every dataset of the benchmark" in result.warnings()[0]
    assert result.far
    same = advise_for(
        "mine", dict(zip(table.names, table.values[4], strict=True)), benchmark(fading(5, 12)), table, replicates=200
    )
    assert same.nearest[0].dataset == "d04"
    assert same.nearest[0].distance == pytest.approx(0, abs=1e-9)
    assert not same.far
    first, worth, warning = section.sentences(same)
    assert first.startswith("On mine try a00 (")
    assert worth == same.model_worth()
    assert "d04 is the same or nearly the same dataset" in warning


def test_the_ranking_among_the_nearest_is_theirs():
    table, matrix = characteristics(12), benchmark(fading(5, 12, noise=1.0))
    few = advise_for("mine", RANKS, matrix, table, k=4, replicates=200)
    assert np.isnan(few.near_first).all(), "four datasets say nothing of others"
    assert few.to_frame()["nearest_resampling_share"].null_count() == 5
    result = advise_for("mine", RANKS, matrix, table, k=5, replicates=200)
    near = [matrix.datasets.index(each.dataset) for each in result.nearest]
    ranks = (-matrix.values[:, near]).argsort(axis=0).argsort(axis=0) + 1
    assert result.near_ranks == pytest.approx(ranks.mean(axis=1))
    assert result.near_first.sum() == pytest.approx(1)


def test_what_is_not_known_of_the_new_dataset_is_left_out():
    own = {**RANKS, "Giniu": float("nan"), "Mine": 2.0}
    del own["APB"]
    result = advise_for("mine", own, benchmark(fading(5, 12)), characteristics(12), replicates=200)
    assert result.left_out == {"Giniu": "undefined for the new dataset", "APB": "not known of the new dataset"}
    assert result.used == ("Nu", "Ni", "Density")
    described = result.frames()["advice_characteristics"].select("characteristic", "used", "outside").rows()
    assert described == [
        ("Nu", True, False), ("Ni", True, False), ("Density", True, False), ("Giniu", False, False),
        ("Mine", False, False),
    ]  # fmt: skip
    endless = {**RANKS, "Giniu": float("inf")}
    endless = advise_for("mine", endless, benchmark(fading(5, 12)), characteristics(12), replicates=100)
    assert endless.left_out == {"Giniu": "undefined for the new dataset"}
    table = characteristics(12)
    table.values[:, 0] = 3.0
    constant = advise_for("mine", RANKS, benchmark(fading(5, 12)), table, replicates=100)
    assert constant.left_out == {"Nu": "the same for every dataset"}
    with pytest.raises(InputError, match="are not computed by RecAssay"):
        advise_for("mine", {"other": 1.0}, benchmark(fading(5, 12)), characteristics(12))
    with pytest.raises(NotApplicableError, match="7 datasets are too few to advise from"):
        advise_for("mine", RANKS, benchmark(fading(5, 7)), characteristics(7))
    for k in (1, 12):
        with pytest.raises(InputError, match=f"the {k} nearest of 12 datasets were asked for; choose -k from 2 to 11"):
            advise_for("mine", RANKS, benchmark(fading(5, 12)), characteristics(12), k=k)
    for k in (2, 11):
        allowed = advise_for("mine", RANKS, benchmark(fading(5, 12)), characteristics(12), k=k, replicates=100)
        assert len(allowed.nearest) == k


def test_the_choice_of_a_model_is_by_its_error():
    values, table = steered(20)
    ranks = (-values).argsort(axis=0).argsort(axis=0).T + 1.0
    points = (np.log(table.values) - np.log(table.values).mean(axis=0)) / np.log(table.values).std(axis=0)
    chosen = best_candidate(points, ranks)
    errors = {each: ((left_out(each, points, ranks) - ranks) ** 2).mean() for each in CANDIDATES}
    assert errors[chosen] == min(errors.values())
    assert chosen != OrderModel("baseline")
    assert best_candidate(points, np.ones((20, 3))) == OrderModel("baseline"), "of models that err alike the simplest"


@pytest.mark.slow
def test_the_command(cli, tmp_path):
    names = ("Nu", "Ni", "Nr", "Density", "Giniu", "APB")
    long_frame(benchmark(fading(5, 10))).write_csv(tmp_path / "results.csv")
    characteristics(10, names=names).to_frame().write_csv(tmp_path / "c.csv")
    arguments = ["advise", "synthetic:few-items", "--results", tmp_path / "results.csv"]
    given = [*arguments, "--characteristics", tmp_path / "c.csv", "-k", "3"]
    ran = cli(*given, "--json")
    assert ran.code == 0
    answer = ran.json()
    assert answer["dataset"] == "synthetic:few-items"
    assert len(answer["nearest"]) == 3
    assert set(answer["order"]) == {f"a{i:02d}" for i in range(5)}
    assert set(answer["skill"]) == {"model", "nearest", "baseline"}
    assert answer["skill"]["baseline"]["gain_over_baseline"]["estimate"] == 0
    assert {each["characteristic"] for each in answer["outside"]} >= {"Nu", "Nr"}
    assert answer["predicted"]["a00"]["interval"][0] >= 1
    shown = cli(*given, "--all", "--out", tmp_path / "out")
    assert "Nearest datasets" in shown.out
    assert "Nu = " in shown.out
    assert (tmp_path / "out" / "figures" / "advice.svg").is_file()
    ran = cli(*arguments)
    assert ran.code == 2
    assert "a results table does not say what its datasets are like; give --characteristics" in ran.err
    ran = cli("advise", "no-such-dataset", *given[2:])
    assert (ran.code, len(ran.complaints)) == (2, 1)


def test_ratings_without_a_threshold_are_remarked_on(tmp_path):
    rng = np.random.default_rng(0)
    rated = pl.DataFrame(
        {"user": rng.integers(0, 30, 900), "item": rng.integers(0, 20, 900), "rating": rng.integers(1, 6, 900)}
    ).unique(["user", "item"], maintain_order=True)
    names = ("Nu", "Ni", "Nr", "Density")
    table, matrix = characteristics(10, names=names), long_frame(benchmark(fading(5, 10)))
    plain = recassay.advise(rated, matrix, "ndcg@10", characteristics=table.to_frame())
    assert any("no threshold was given" in warning for warning in plain.warnings())
    above = recassay.advise(
        rated, matrix, "ndcg@10", characteristics=table.to_frame(), protocol={"positive_threshold": 4}
    )
    assert not any("threshold" in line for line in above.warnings())
    assert above.characteristics["Nr"] < plain.characteristics["Nr"]
    with pytest.raises(UsageError):
        recassay.advise(rated, matrix, "ndcg@10")


def test_every_result_has_its_section_and_pictures():
    result = advise_for("a/very/long/path/to/mine.csv", RANKS, benchmark(fading(30, 12)), characteristics(12))
    assert any(isinstance(result, each.of) for each in sections()[0])
    drawn = section.FIGURES(result)[0]
    assert_valid([drawn])
    assert "mine.csv" in drawn.spec["title"]["text"]
    assert "a/very" not in drawn.caption
    assert drawn.table in result.frames()


def test_on_the_paper_s_benchmark_characteristics_do_not_beat_the_mean_rank(kdd24):
    table = recassay.load_characteristics(kdd24)
    row = dict(zip(table.names, table.values[table.datasets.index("movielens_1m")], strict=True))
    result = advise_for("mine", row, recassay.load_results(kdd24).matrix("ndcg@10"), table, replicates=1000)
    assert not result.trusts_model
    assert result.algorithms[result.order()[0]] == "EASE"
    assert result.skills["model"].gain_interval[0] < 0 < result.skills["model"].gain_interval[1]
    assert result.nearest[0].dataset == "movielens_1m"


@pytest.mark.usefixtures("in_process")
def test_a_study_knows_the_characteristics_of_its_datasets(tmp_path):
    from recassay.evidence.study import evidence_of

    study = recassay.make_study(
        ["synthetic:few-items", "synthetic:dense-small"], ["Random", "MostPop"], name="s", metrics=["ndcg@10"], trials=0
    )
    recassay.run(study, tmp_path / "s", workers=1)
    table = recassay.load_characteristics(tmp_path / "s")
    assert set(table.datasets) == {"few-items", "dense-small"}
    described = recassay.describe_data("synthetic:few-items", protocol=study.protocol)
    row = dict(zip(table.names, table.values[table.datasets.index("few-items")], strict=True))
    assert row == pytest.approx(described.characteristics)
    assert evidence_of(tmp_path / "s")["characteristics"]().datasets == table.datasets
    assert "characteristics" not in evidence_of(None)
    with pytest.raises(NotApplicableError, match="2 datasets are too few to advise from"):
        recassay.advise("synthetic:long-tail", tmp_path / "s")


@pytest.mark.slow
def test_advice_needs_no_benchmark_of_ones_own(cli, tmp_path):
    """The published benchmark answers: its protocol, the distance, the cost, and a study that can be run."""
    study = tmp_path / "next.toml"
    ran = cli("advise", "synthetic:dense-small", "--study", study, "--json")
    assert ran.code == 0, ran.err
    answer = ran.json()
    assert "The board of random splits" in answer["evidence"]
    assert "tuned for ndcg@10" in answer["evidence"]
    assert any("Nu = 300 is below every dataset" in line for line in answer["warnings"])
    low, high = answer["seconds_fit"]["EASE"]["interval"]
    assert 0 < low < answer["seconds_fit"]["EASE"]["estimate"] < high
    spec = recassay.load_study(study)
    assert spec.algorithms[0].name == answer["order"][0]
    assert spec.algorithms[-1].name == "MostPop"
    brief = cli("advise", "synthetic:dense-small").out
    assert brief.startswith(f"On synthetic:dense-small try {answer['order'][0]} (")
    assert "\n  recassay run --datasets synthetic:dense-small --algorithms " in brief
    assert "Nearest datasets" not in brief
    assert "Nearest datasets" in cli("advise", "synthetic:dense-small", "--all").out


def test_the_expected_cost_covers_datasets_left_out(kdd24):
    results, table = recassay.load_results(kdd24), recassay.load_characteristics(kdd24)
    inside = []
    times = results.frame.filter(metric="seconds_fit").drop_nulls("value")
    for d, name in enumerate(table.datasets):
        size = table.values[d, table.names.index("Nr")]
        rest = Results(results.frame.filter(results.frame.get_column("dataset") != name))
        measured = dict(times.filter(dataset=name).select("algorithm", "value").rows())
        inside += [one.low <= measured[one.algorithm] <= one.high
                   for one in expected_cost(rest, table, size) if one.algorithm in measured]  # fmt: skip
    assert len(inside) > 300
    assert 0.85 <= np.mean(inside) <= 0.97


def test_without_timings_no_cost_is_told():
    result = advise_for("mine", RANKS, benchmark(fading(6, 12)), characteristics(12))
    assert result.cost == ()
    assert "advice_cost" not in result.frames()


def by_hand(values: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Characteristics in standard deviations, logged first where they are positive and skewed by more than 1."""
    columns, new = [], []
    for column, value in zip(values.T, own, strict=True):
        if column.min() > 0 and stats.skew(column) > 1:
            column, value = np.log(column), np.log(value)
        columns.append((column - column.mean()) / column.std())
        new.append((value - column.mean()) / column.std())
    return np.array(columns).T, np.array(new)


def test_every_number_of_an_advice_is_that_of_a_plain_computation():
    """Ten datasets, four algorithms, a metric of which lower is better: distances, skills, intervals."""
    rng = np.random.default_rng(4)
    n, k = 10, 4
    values = 1 + rng.random((k, n)) + 0.3 * np.arange(k)[:, None]
    matrix = Matrix(values, tuple("abcd"), tuple(f"d{i}" for i in range(n)), "rmse", False)
    described = np.stack([np.exp(2 * rng.normal(size=n)), rng.normal(size=n), rng.random(n) + 1], axis=1)
    table = CharacteristicsTable(described, matrix.datasets, ("skewed", "signed", "flat"))
    own = np.array([described[:, 0].max() * 1.5, 0.2, 0.5])
    found = advise_for("mine", dict(zip(table.names, own, strict=True)), matrix, table, k=3, confidence=0.8, seed=7)

    points, place = by_hand(described, own)
    apart = np.sqrt(((points - place) ** 2).mean(axis=1))
    near = np.argsort(apart)[:3]
    assert [(each.dataset, each.distance) for each in found.nearest] == [
        (matrix.datasets[d], pytest.approx(apart[d])) for d in near
    ]
    between = np.sqrt(((points[:, None] - points) ** 2).mean(axis=2)) + np.diag(np.full(n, np.inf))
    assert found.usual_distance == pytest.approx((np.median(between.min(axis=1)), between.min(axis=1).max()))
    assert [(each.characteristic, each.low, each.high) for each in found.outside] == [
        ("skewed", described[:, 0].min(), described[:, 0].max()), ("flat", described[:, 2].min(), described[:, 2].max())
    ]  # fmt: skip

    ranks = stats.rankdata(values, axis=0).T
    assert found.overall == pytest.approx(ranks.mean(axis=0))
    assert found.near_ranks == pytest.approx(ranks[near].mean(axis=0))
    guesses = {
        "baseline": np.array([np.delete(ranks, d, axis=0).mean(axis=0) for d in range(n)]),
        "nearest": np.array([ranks[np.argsort(between[d])[:3]].mean(axis=0) for d in range(n)]),
        "model": nested_predictions(described, ranks)[0],
    }
    missed = {name: ((guess - ranks) ** 2).mean(axis=1) for name, guess in guesses.items()}
    weights = dataset_weights(n, 10_000, derived_rng(7, "advise", "rmse")) / n
    for name, guess in guesses.items():
        first = guess.argmin(axis=1)
        lost = [1 - values[:, d].min() / values[first[d], d] for d in range(n)]
        rho = [stats.spearmanr(guess[d], ranks[d])[0] for d in range(n)]
        skill, gain = found.skills[name], missed["baseline"] - missed[name]
        assert skill.rank_error == pytest.approx(np.sqrt(missed[name].mean()))
        assert skill.spearman == pytest.approx(np.mean(rho))
        assert skill.loss == pytest.approx(np.mean(lost))
        assert skill.gain == pytest.approx(gain.mean(), abs=1e-12)
        assert skill.gain_interval == pytest.approx(tuple(intervals((weights @ gain)[:, None], n, 0.8)[0]))
    told, frames = found.to_dict(), found.frames()
    assert told["usual_distance"] == {"median": found.usual_distance[0], "largest": found.usual_distance[1]}
    assert told["outside"][1] == {
        "characteristic": "flat", "value": 0.5, "range": [described[:, 2].min(), described[:, 2].max()]
    }  # fmt: skip
    assert told["overall"]["b"] == {"estimate": found.overall[1], "interval": found.overall_interval[1].tolist()}
    assert told["predicted"]["b"] == {"estimate": found.expected[1], "interval": found.expected_interval[1].tolist()}
    assert told["ranking_among_nearest"]["b"]["estimate"] == found.near_ranks[1]
    assert told["settings"] == {"datasets": 10, "confidence": 0.8}
    assert frames["advice_nearest"].rows() == [(each.dataset, each.distance) for each in found.nearest]
    skill = found.skills["nearest"]
    assert frames["advice_skill"].filter(method="nearest").row(0, named=True) == {
        "method": "nearest", "rank_error": skill.rank_error, "spearman": skill.spearman,
        "loss_of_first_pick": skill.loss, "beats_baseline": skill.beats_baseline, "gain": skill.gain,
        "gain_low": skill.gain_interval[0], "gain_high": skill.gain_interval[1],
    }  # fmt: skip
    assert told["skill"]["nearest"]["gain_over_baseline"] == {
        "estimate": skill.gain, "interval": list(skill.gain_interval)}  # fmt: skip
    advised = found.to_frame()
    assert advised["algorithm"].to_list() == told["order"]
    assert advised.filter(algorithm="b").row(0)[1:7] == pytest.approx((
        found.overall[1], *found.overall_interval[1], found.expected[1], *found.expected_interval[1]
    ))  # fmt: skip
    chosen = best_candidate(points, ranks)
    inside = np.clip(place, points.min(axis=0) - 1, points.max(axis=0) + 1)
    assert (inside != place).any()
    assert found.model == chosen.name
    assert found.expected == pytest.approx(predict(chosen, points, ranks, inside[None])[0])
    # The ninth of ten errors: ceil(11 x 0.8).
    for centre, interval, guess in ((found.overall, found.overall_interval, guesses["baseline"]),
                                    (found.expected, found.expected_interval, guesses["model"])):  # fmt: skip
        margin = np.sort(np.abs(guess - ranks), axis=0)[8]
        assert interval[:, 0] == pytest.approx(np.maximum(centre - margin, 1))
        assert interval[:, 1] == pytest.approx(np.minimum(centre + margin, k))


def test_a_prediction_is_carried_no_farther_than_one_standard_deviation_beyond_the_benchmark():
    values, table = steered(20)
    edge = {**RANKS, "Density": float(table.values[:, 2].max())}
    z = np.log(table.values[:, 2]).std()
    expected = [
        advise_for("mine", {**edge, "Density": edge["Density"] * np.exp(far * z)}, benchmark(values), table,
                   replicates=100).expected
        for far in (0.5, 1.0, 5.0)
    ]  # fmt: skip
    assert expected[1] == pytest.approx(expected[2])
    assert np.abs(expected[0] - expected[1]).max() > 1e-3
    scale, points = Standardisation(np.zeros(2, bool), np.zeros(2), np.ones(2)), np.array([[1.0, -5.0], [2.0, 7.0]])
    assert bounded(scale, np.array([[9.0, -9.0], [-9.0, 9.0], [1.5, 6.0]]), points).tolist() == [
        [3.0, -6.0], [0.0, 8.0], [1.5, 6.0]
    ]  # fmt: skip
    nothing = advise_for("mine", {**edge, "Density": 0.0}, benchmark(values), table, replicates=100)
    assert np.isfinite(nothing.expected).all(), "the logarithm of 0 is as far as can be"
    assert nothing.nearest[0].distance < 10


def test_the_cost_is_a_line_through_logarithms_with_the_interval_of_a_new_observation():
    rng = np.random.default_rng(1)
    sizes = np.exp(np.linspace(5, 12, 9))
    table = CharacteristicsTable(sizes[:, None], tuple(f"d{i}" for i in range(9)), ("Nr",))
    took = {
        "line": 2e-3 * sizes**1.1 * np.exp(0.2 * rng.normal(size=9)),
        "few": np.r_[sizes[:4], np.full(5, np.nan)],
        "instant": np.r_[np.zeros(5), sizes[5:]],
    }
    rows = [(name, f"d{d}", "seconds_fit", float(value * off), seed) for name, times in took.items()
            for d, value in enumerate(times) for seed, off in ((0, 0.5), (1, 1.5)) if np.isfinite(value)]  # fmt: skip
    rows += [(name, "d0", "ndcg@10", 0.1, 0) for name in took]
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value", "seed"], orient="row")
    results = Results.from_frame(frame)
    (cost,) = expected_cost(results, table, 3000.0, confidence=0.8)
    x, y = np.log(sizes), np.log(took["line"])
    line = stats.linregress(x, y)
    left = y - line.intercept - line.slope * x
    at = line.intercept + line.slope * np.log(3000)
    width = stats.t(7).ppf(0.9) * np.sqrt((left**2).sum() / 7)
    width *= np.sqrt(1 + 1 / 9 + (np.log(3000) - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum())
    assert (cost.algorithm, cost.datasets) == ("line", 9)
    assert (cost.seconds, cost.low, cost.high) == pytest.approx(tuple(np.exp([at, at - width, at + width])))
    assert expected_cost(results, table, 0.0) == ()
    assert expected_cost(Results.from_frame(frame.filter(metric="ndcg@10")), table, 3000.0) == ()


def test_an_advice_says_what_it_is_worth_in_whole_sentences():
    table = characteristics(12)
    result = advise_for("C:\\data\\mine\\", RANKS, benchmark(fading(3, 12)), table, replicates=200)
    skill = Skill(rank_error=1.234, spearman=0.5, loss=0.031, gain=0.25, gain_interval=(0.0, 0.5))
    base = Skill(rank_error=1.5, spearman=0.4, loss=0.05, gain=0.0, gain_interval=(0.0, 0.0))
    off = replace(
        result, skills={"model": skill, "baseline": base}, notes=("A note.",),
        outside=(Outside("Nu", 1.0, 2.0, 9.0), Outside("Ni", 12345.6, 2.0, 9.0)),
        usual_distance=(0.1, 0.3), nearest=(Neighbour("d01", 0.31),), confidence=0.8,
    )  # fmt: skip
    numbers = (
        "on datasets left out of its making its ranks miss by 1.23 (root mean square; overall mean rank: 1.50), and "
        "its first pick loses 3 % of the best value (overall: 5 %); its gain in squared error is +0.25 (80 %: {} to "
        "+0.50)."
    )
    assert off.model_worth() == (
        f"The model on characteristics did not improve on the overall mean rank: {numbers.format('+0.00')} The order "
        "advised is therefore the overall one."
    )
    assert off.to_dict()["order_by"] == "overall mean rank"
    surer = replace(off, skills={**off.skills, "model": replace(skill, gain_interval=(0.1, 0.5))})
    assert surer.model_worth() == (
        f"The model on characteristics improved on the overall mean rank: {numbers.format('+0.10')}"
    )
    assert surer.to_dict()["order_by"] == "model"
    assert off.warnings() == [
        "A note.",
        "Nu = 1 is below every dataset of the benchmark (2).",
        "Ni = 1.235e+04 is above every dataset of the benchmark (9).",
        "No dataset of the benchmark is near: the nearest is 0.31 standard deviations away; the benchmark's own are at "
        "most 0.30 from their nearest.",
    ]
    plain = replace(off, notes=(), outside=())
    assert replace(plain, nearest=(Neighbour("d01", 0.3),)).warnings() == []
    assert replace(plain, nearest=(Neighbour("d01", 0.05),)).warnings() == []
    assert replace(plain, nearest=(Neighbour("d01", 0.049),)).warnings() == [
        "d01 is the same or nearly the same dataset (distance 0.049): the benchmark's own results on it say more than "
        "any advice."
    ]
    close = replace(plain, usual_distance=(0.01, 0.02), nearest=(Neighbour("d01", 0.03),)).warnings()
    assert [line.split(" is ")[0] for line in close] == ["No dataset of the benchmark", "d01"], "both can be true"
    assert result.title == "mine"


def test_an_advice_passes_on_what_was_asked(monkeypatch):
    """To the ranking among the nearest, and to the cost of a dataset of this size."""
    asked = {}
    real = advise_module.rank_algorithms

    def ranked(matrix, **options):
        asked.update(options, matrix=matrix, among=real(matrix, **options))
        return asked["among"]

    def cost(results, table, size, *, confidence):
        asked.update(results=results, size=size, level=confidence)
        return (Cost("a00", 1.0, 0.5, 2.0, 9),)

    monkeypatch.setattr(advise_module, "rank_algorithms", ranked)
    monkeypatch.setattr(advise_module, "expected_cost", cost)
    table, errors = characteristics(12), replace(benchmark(fading(3, 12), "rmse"), higher_is_better=False)
    options = {"k": 5, "confidence": 0.7, "replicates": 150, "seed": 9, "evidence": "a board", "notes": ("A note.",)}
    found = advise_for("mine", {**RANKS, "Nr": 77.0}, errors, table, results="timings", **options)
    nearby = asked["matrix"]
    assert (nearby.metric, nearby.higher_is_better, nearby.algorithms) == ("rmse", False, errors.algorithms)
    assert nearby.datasets == tuple(near.dataset for near in found.nearest)
    assert [asked[name] for name in ("methods", "replicates", "confidence", "seed")] == [["mean_rank"], 150, 0.7, 9]
    among = asked["among"].rankings["mean_rank"]
    assert found.near_interval == pytest.approx(among.score_interval)
    assert found.near_first == pytest.approx(among.resampling_share)
    assert (asked["results"], asked["size"], asked["level"]) == ("timings", 77.0, 0.7)
    assert (found.evidence, found.notes, found.confidence, found.n_datasets) == ("a board", ("A note.",), 0.7, 12)
    assert found.frames()["advice_cost"].rows() == [("a00", 1.0, 0.5, 2.0, 9)]
    assert found.to_dict()["seconds_fit"] == {"a00": {"estimate": 1.0, "interval": [0.5, 2.0]}}
    told = replace(found, study="next.toml").to_dict()
    assert (told["evidence"], told["study"], told["model"]) == ("a board", "next.toml", found.model)
    assert (told["dataset"], told["metric"], told["characteristics"]["Nr"]) == ("mine", "rmse", 77.0)
    assert (told["left_out"], told["warnings"]) == (found.left_out, found.warnings())
    unsized = advise_for("mine", RANKS, errors, table, results="timings", replicates=100)
    assert (asked["size"], unsized.confidence, asked["level"], len(unsized.nearest)) == (0.0, 0.9, 0.9, 5)
    level = replace(
        unsized, algorithms=("c", "a", "b"), overall=np.zeros(3), skills={"model": unsized.skills["baseline"]}
    )
    assert level.order() == [1, 2, 0], "of equal ranks the first by name"


def test_models_of_the_order_have_names():
    assert [each.name for each in CANDIDATES] == [
        "overall mean rank", "3 nearest datasets", "5 nearest datasets", "8 nearest datasets", "12 nearest datasets",
        "ridge, penalty 10", "ridge, penalty 30", "ridge, penalty 100", "ridge, penalty 300",
    ]  # fmt: skip


def test_a_cost_needs_five_timings_of_datasets_whose_sizes_are_known_and_differ():
    """One dataset has no interactions, and of one nothing is known."""
    sizes = np.array([10.0, 20.0, 40.0, 80.0, 160.0, 0.0])
    table = CharacteristicsTable(sizes[:, None], tuple(f"d{i}" for i in range(6)), ("Nr",))
    rows = [("A", f"d{i}", "seconds_fit", 2.0 * size) for i, size in enumerate([*sizes[:5], 7.0, 7.0])]
    rows += [("B", f"d{i}", "seconds_fit", 1.0) for i in range(4)]
    results = Results.from_frame(pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row"))
    (cost,) = expected_cost(results, table, 100.0)
    assert (cost.algorithm, cost.datasets, cost.seconds) == ("A", 5, pytest.approx(200.0))
    assert expected_cost(results, replace(table, values=np.full((6, 1), 5.0)), 100.0) == ()
    assert expected_cost(results, replace(table, names=("Nu",)), 100.0) == ()


def test_nine_errors_are_just_enough_for_an_interval_of_90_percent():
    """ceil((n + 1) 0.9) is n for nine errors: the largest. Eight are too few, and nothing is excluded."""
    errors = np.array([[0.1, -0.5], [-0.9, 0.2], *[[0.3, 0.3]] * 7])
    assert _interval(np.array([1.5, 2.0]), errors, 0.9) == pytest.approx(np.array([[1.0, 2.0], [1.5, 2.0]]))
    assert _interval(np.array([1.5, 2.0]), errors[:8], 0.9).tolist() == [[1.0, 2.0]] * 2
    assert nearest(np.array([[1.0, 0.0, 1.0, 0.0]]), 3).tolist() == [[1, 3, 0]], "of equal distances the first"
