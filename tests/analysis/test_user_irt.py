"""Logistic IRT on the users of a study: recovery, counts, and what a user meets."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy import stats

import recassay
from recassay.analysis.logistic_irt.grid import REACH
from recassay.analysis.logistic_irt.priors import ItemPriors
from recassay.analysis.user_irt import fit as user_irt_fit
from recassay.analysis.user_irt.fit import ANALYSIS, fit_user_irt, pooled
from recassay.analysis.user_irt.result import ALL, UserFit
from recassay.core.analysis import AnalysisResult, AnalysisSpec
from recassay.core.errors import InputError, NotApplicableError, UsageError
from recassay.core.tables.responses import MISSING, Responses
from recassay.evidence.users import hit_metric, user_responses
from recassay.reporting.drawing import render
from recassay.reporting.figures import figures
from recassay.reporting.sections import user_irt as section
from recassay.store import Store
from support.in_process import without_processes
from support.shared import only_analyses
from support.vega import assert_valid


def simulated(n, m, seed, prefix="a"):
    """Hits of n algorithms on m users that differ in how hard they are to serve, and the abilities."""
    rng = np.random.default_rng(seed)
    ability = rng.normal(size=n)
    ability = (ability - ability.mean()) / ability.std()
    slope, hard = np.exp(rng.normal(0, 0.3, m)), rng.normal(1, 1.2, m)
    hits = rng.random((n, m)) < 1 / (1 + np.exp(-slope * (ability[:, None] - hard)))
    names = [f"{prefix}{i:02d}" for i in range(n)]
    return Responses.from_array(hits.astype(int), names, [f"u{j}" for j in range(m)]), ability


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("users") / "study"
    study = recassay.make_study(
        ["synthetic:dense-small", "synthetic:few-items"],
        ["Random", "MostPop", "EASE", "ItemKNN"],
        metrics=["ndcg@10", "hitrate@10", "coverage@10"],
        trials=0,
    )
    with without_processes():
        recassay.run(study, folder)
    return folder


def test_abilities_of_few_algorithms_are_recovered_and_their_differences_covered():
    inside = []
    for seed in range(8):
        table, ability = simulated(8, 400, seed)
        found = fit_user_irt({"x": table}).main
        estimate, error = found.fit.abilities.estimate, found.fit.abilities.standard_error
        assert np.corrcoef(estimate, ability)[0, 1] > 0.95
        unit = np.polyfit(estimate, ability, 1)[0]
        rows, columns = np.triu_indices(8, 1)
        gap = unit * (estimate[rows] - estimate[columns]) - (ability[rows] - ability[columns])
        inside.append(np.abs(gap) < 1.96 * unit * np.hypot(error[rows], error[columns]))
    # The users differ in discrimination, which the 1PL does not know: the coverage is 0.90 to 0.96 over many tables.
    assert 0.87 <= np.mean(inside) <= 0.98


def test_the_slopes_of_many_users_do_not_run_away():
    """With free slopes eight algorithms on 1,000 users ended at a mean discrimination of 10 and one ability of 3.6."""
    table, ability = simulated(8, 1_000, 3)
    result = fit_user_irt({"x": table}, "2pl")
    assert np.abs(result.main.fit.items.slope).max() < 5
    assert np.corrcoef(result.main.fit.abilities.estimate, ability)[0, 1] > 0.97
    assert "are few for the 2PL" in result.notes[0]
    assert set(result.main.reliability()) == {"ability", "difficulty", "discrimination"}
    assert result.main.reliability()["discrimination"] < 0.6


def test_counts_and_pooling():
    one, _ = simulated(5, 120, 1)
    two, _ = simulated(4, 90, 2)
    both = pooled({"x": one, "y": two})
    assert both.codes.shape == (5, 210)
    assert (both.codes[4, 120:] == MISSING).all()
    result = fit_user_irt({"x": one, "y": two})
    assert list(result.fits) == [ALL, "x", "y"]
    assert isinstance(result, AnalysisResult)
    for name, table in (("x", one), ("y", two)):
        found = result.fits[name]
        right = table.right().sum(axis=0)
        assert found.hit_by_none == (right == 0).sum()
        assert found.hit_by_all == (right == len(table.respondents)).sum()
        assert found.telling_users == len(found.fit.items.names)
        assert found.hit_rate[table.respondents[0]] == pytest.approx(table.right()[0].mean())
    assert result.main.users == 210
    parts = [result.fits[name] for name in ("x", "y")]
    assert result.main.hit_by_all == sum(found.hit_by_all for found in parts), "whom all that answered served"
    assert result.main.hit_by_none == sum(found.hit_by_none for found in parts)
    order = {name: [row["algorithm"] for row in result.to_frame().to_dicts() if row["dataset"] == name]
             for name in result.fits}  # fmt: skip
    rates = result.fits["x"].hit_rate
    assert order["x"] == sorted(order["x"], key=lambda a: -rates[a])
    frames = result.frames()
    assert frames["user_irt_users"].height == result.fits["x"].telling_users + result.fits["y"].telling_users
    assert frames["user_irt_datasets"].get_column("users").to_list() == [210, 120, 90]


def test_an_even_selection_of_too_many_users(monkeypatch):
    monkeypatch.setattr("recassay.analysis.user_irt.fit.MOST_USERS", 100)
    table, _ = simulated(6, 600, 4)
    result = fit_user_irt({"x": table})
    assert len(result.main.fit.items.names) == 100
    assert "an even selection of 100 of" in result.notes[0]
    hits = table.right().sum(axis=0)
    counts = int((hits == 6).sum()), int((hits == 0).sum())
    assert (result.main.hit_by_all, result.main.hit_by_none) == counts
    assert result.main.telling_users == 600 - sum(counts) > 100, "those that were not fitted tell algorithms apart, too"


def test_too_little_is_said():
    small, _ = simulated(5, 15, 1)
    with pytest.raises(NotApplicableError, match="too few"):
        fit_user_irt({"x": small})
    large, _ = simulated(5, 200, 1)
    result = fit_user_irt({"x": small, "y": large})
    assert list(result.fits) == ["y"]
    assert "x: 5 algorithms" in result.notes[0]
    with pytest.raises(NotApplicableError, match="folder of a study"):
        ANALYSIS.run(None, AnalysisSpec("ndcg@10"))


def test_the_metric_that_tells_a_hit():
    assert hit_metric(("ndcg@10", "hitrate@5", "hitrate@10")) == "hitrate@10"
    assert hit_metric(("coverage@10", "recall@20")) == "recall@20"
    assert hit_metric(("ndcg@10", "hitrate@10"), "hit@10") == "hitrate@10"
    with pytest.raises(UsageError, match="coverage@10"):
        hit_metric(("coverage@10",), "coverage@10")
    with pytest.raises(NotApplicableError, match="tells a hit"):
        hit_metric(("coverage@10",))


def test_the_responses_of_a_study_are_its_scores(study):
    with Store.open(study) as store:
        label, tables = user_responses(store)
        assert label == "hitrate@10"
        cell = next(x for x in store.cells() if x.algorithm == "EASE" and x.dataset == "few-items")
        scores = store.per_user(cell.id)
        with pytest.raises(InputError, match="no dataset 'nix'"):
            user_responses(store, datasets=["nix"])
    table = tables["few-items"]
    assert table.respondents == ("EASE", "ItemKNN", "MostPop", "Random")
    assert table.right()[0].mean() == pytest.approx(cell.metrics["hitrate@10"])
    place = {user: j for j, user in enumerate(table.items)}
    for user, hit in scores.select(pl.col("user").cast(pl.String), "hitrate@10").head(20).iter_rows():
        assert table.codes[0, place[user]] == (hit > 0)


@pytest.mark.slow
def test_the_command(cli, study, tmp_path):
    answer = cli("irt", "users", study, "--json").json()
    assert answer["metric"] == "hitrate@10"
    assert list(answer["datasets"]) == [ALL, "dense-small", "few-items"]
    ability = answer["datasets"][ALL]["ability"]
    assert min(ability, key=lambda a: ability[a]["estimate"]) == "Random"
    low, high = ability["EASE"]["interval"]
    assert low < ability["EASE"]["estimate"] < high
    one = cli("irt", "users", study, "--dataset", "few-items", "--metric", "ndcg@10", "--all",
              "--out", tmp_path / "out")  # fmt: skip
    assert one.code == 0
    assert "algorithms on the users of few-items, hit by ndcg@10" in one.out
    assert (tmp_path / "out" / "figures" / "user_abilities.svg").exists()
    for arguments, message in (
        ((study, "--dataset", "nix"), "no dataset 'nix'"),
        ((study, "--metric", "coverage@10"), "hit"),
        ((study, "--ability", "ml"), "No such option '--ability'"),
        ((tmp_path,), "no rows of single users"),
    ):
        ran = cli("irt", "users", *arguments)
        assert ran.code == 2, arguments
        assert message in ran.err


@pytest.mark.slow
def test_analyze_tells_of_users(study, monkeypatch):
    only_analyses(monkeypatch, "rank", "users", "user_irt")
    report = recassay.analyze(study, "ndcg@10", replicates=200)
    result = report.analyses["user_irt"]
    assert result.metric == "ndcg@10"
    assert any(sentence.startswith("By the 1PL model alone") for sentence in report.verdict)
    assert not any("beyond chance" in sentence or "serves more" in sentence for sentence in report.verdict)
    told = section.sentences(result)[0]
    assert f"{result.main.telling_users} of {result.main.users} users tell algorithms apart" in told
    bare = recassay.analyze(recassay.load_results(study).frame, "ndcg@10", replicates=200)
    assert "folder of a study" in bare.skipped["user_irt"]


def test_the_picture_of_thirty_long_names():
    table, _ = simulated(30, 300, 5, prefix="An algorithm with a rather long name ")
    (figure,) = figures({"user_irt": fit_user_irt({"x": table, "y": table})})
    assert_valid([figure])
    assert render(figure.drawn, "svg").count(b"rather long name") >= 30


def test_instances_of_a_table_are_items(tmp_path):
    """Models on test instances, read from a table: the better model is abler, and a metric of 0 and 1 tells a hit."""
    rng = np.random.default_rng(0)
    rows = ["model,task,instance,accuracy"]
    for model, chance in (("good", 0.9), ("fair", 0.6), ("poor", 0.2)):
        rows += [f"{model},t,i{i},{int(right)}" for i, right in enumerate(rng.random(60) < chance)]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    found = recassay.user_irt(str(tmp_path / "t.csv"))
    assert found.metric == "accuracy"
    estimates = found.main.fit.abilities.estimate
    ability = dict(zip(found.main.fit.respondents, estimates, strict=True))
    assert ability["good"] > ability["fair"] > ability["poor"]


def test_who_leads_the_reliability_and_the_counts_by_plain_computation():
    table, _ = simulated(5, 150, 6)
    result = fit_user_irt({"films": table}, "2pl", confidence=0.9)
    found = result.fits["films"]
    abilities = found.fit.abilities
    order = np.argsort(-abilities.estimate)
    gap = abilities.estimate[order[0]] - abilities.estimate[order[1]]
    error = np.hypot(*abilities.standard_error[order[:2]])
    assert found.lead() == (
        table.respondents[order[0]], table.respondents[order[1]], pytest.approx(stats.norm.cdf(gap / error))
    )  # fmt: skip
    half = stats.norm.ppf(0.95) * abilities.standard_error
    assert found.fit.ability_intervals == pytest.approx(
        np.stack([abilities.estimate - half, abilities.estimate + half], axis=1)
    )

    def reliability(values, errors):
        known = np.isfinite(values) & np.isfinite(errors)
        return np.var(values[known]) / (np.var(values[known]) + np.mean(errors[known] ** 2))

    values, errors = found.fit.parameters(), found.fit.item_errors
    assert found.reliability() == pytest.approx({
        "ability": reliability(abilities.estimate, abilities.standard_error),
        "difficulty": reliability(np.clip(values[:, 1], -REACH, REACH), errors[:, 1]),
        "discrimination": reliability(values[:, 0], errors[:, 0]),
    })  # fmt: skip
    assert "discrimination" not in fit_user_irt({"films": table}).main.reliability()
    assert result.notes[0] == "5 algorithms are few for the 2PL: its intervals are too narrow, those of the 1PL hold"
    assert (result.metric, result.confidence) == ("hitrate", 0.9)
    rows = result.to_frame().rows(named=True)
    assert [row["algorithm"] for row in rows] == [table.respondents[a] for a in order]
    assert (rows[0]["low"], rows[0]["high"]) == pytest.approx(tuple(found.fit.ability_intervals[order[0]]))
    assert rows[0]["hit_rate"] == pytest.approx(table.right()[order[0]].mean())


def test_few_algorithms_or_few_users_that_tell_are_left_out_with_a_note():
    hits = np.zeros((3, 40), dtype=int)
    hits[0, :19] = 1
    hits[:, 30:] = 1
    few = Responses.from_array(hits, ["a", "b", "c"], [f"u{j}" for j in range(40)])
    with pytest.raises(NotApplicableError, match="films: 3 algorithms and 19 users that tell them apart are too few"):
        fit_user_irt({"films": few})
    hits[0, :20] = 1
    enough = fit_user_irt({"films": Responses.from_array(hits, ["a", "b", "c"], [f"u{j}" for j in range(40)])}).main
    assert (enough.users, enough.hit_by_all, enough.hit_by_none, enough.telling_users) == (40, 10, 10, 20)
    two = Responses.from_array(hits[:2], ["a", "b"], [f"u{j}" for j in range(40)])
    with pytest.raises(NotApplicableError, match="films: 2 algorithms and 20 users"):
        fit_user_irt({"films": two})


def test_twenty_algorithms_are_no_longer_few_and_an_estimation_that_did_not_end_is_told(monkeypatch):
    made = []

    def fitted(table, model, priors, confidence):
        made.append((len(table.respondents), model, confidence))
        items = SimpleNamespace(names=table.items[:60])
        fit = SimpleNamespace(respondents=table.respondents, converged=len(table.items) != 50, items=items)
        return SimpleNamespace(fit=fit, telling_users=len(table.items))

    monkeypatch.setattr(user_irt_fit, "_fit", fitted)
    tables = {n: simulated(n, 60, 1)[0] for n in (19, 20)}
    few = "19 algorithms are few for the 3PL: its intervals are too narrow, those of the 1PL hold"
    assert fit_user_irt({"films": tables[19]}, "3pl", confidence=0.9).notes == (few,)
    assert made == [(19, "3pl", 0.9)]
    assert fit_user_irt({"films": tables[20]}, "3pl").notes == ()
    assert fit_user_irt({"films": tables[19]}).notes == ()
    both = fit_user_irt({"films": simulated(5, 61, 1)[0], "books": simulated(5, 50, 2)[0]})
    assert both.notes == (
        f"{ALL}: an even selection of 60 of 111 users was fitted",
        "films: an even selection of 60 of 61 users was fitted",
        "books: the estimation did not converge",
    )


def test_users_are_held_by_their_own_priors_unless_these_are_refused(monkeypatch):
    asked, fit = [], user_irt_fit.fit_logistic

    def fitted(table, model, **options):
        asked.append((model, options))
        return fit(table, "1pl", confidence=0.9)

    monkeypatch.setattr(user_irt_fit, "fit_logistic", fitted)
    table, _ = simulated(4, 60, 1)
    fit_user_irt({"films": table}, "2pl", confidence=0.9)
    fit_user_irt({"films": table}, "2pl", priors=None)
    tight = ItemPriors(slope_deviation=0.5, intercept_deviation=2.0, adaptive=False, anchored=True)
    assert asked == [
        ("2pl", {"priors": tight, "confidence": 0.9}),
        ("2pl", {"priors": False, "confidence": 0.95}),
    ]
    load = {"user_responses": lambda: lambda metric: (metric, {"d": table})}
    spec = AnalysisSpec("hitrate@10", alpha=0.1, evidence=load)
    result = ANALYSIS.run(None, spec)
    assert (result.metric, result.model, result.confidence) == ("hitrate@10", "1pl", 0.9)


def test_algorithms_of_several_datasets_are_pooled_by_name(monkeypatch):
    """Twelve and fifteen algorithms, seven of them on both datasets: twenty are not few."""
    names = [f"{letter}{i}" for i, letter in enumerate("kafhcjbgidetmsroqnlp")]
    some, others = simulated(12, 30, 1)[0], simulated(15, 40, 2)[0]
    tables = {
        "films": Responses(some.codes, tuple(names[:12]), some.items),
        "books": Responses(others.codes, tuple(names[5:]), others.items),
    }
    whole = pooled(tables)
    assert whole.respondents == tuple(sorted(names))
    assert whole.items == (*(f"films/u{i}" for i in range(30)), *(f"books/u{i}" for i in range(40)))
    at = whole.respondents.index(names[6])
    assert whole.codes[at].tolist() == [*some.codes[6], *others.codes[1]]
    assert whole.codes[whole.respondents.index(names[0])].tolist() == [*some.codes[0], *[MISSING] * 40]

    asked = []

    def fitted(table, *settings, confidence):
        asked.append((len(table.items), *settings, confidence))
        items = SimpleNamespace(names=table.items)
        fit = SimpleNamespace(respondents=table.respondents, converged=True, items=items)
        return SimpleNamespace(fit=fit, telling_users=len(table.items))

    monkeypatch.setattr(user_irt_fit, "_fit", fitted)
    few = tables | {"songs": simulated(2, 40, 1)[0]}
    assert list(fit_user_irt(few, "2pl", priors=ItemPriors(), confidence=0.8).fits) == [ALL, "films", "books"]
    settings = ("2pl", ItemPriors(), 0.8)
    assert asked == [(30, *settings), (40, *settings), (70, *settings)], "songs has too few algorithms"
    assert fit_user_irt(tables, "2pl").notes == ()
    left_out = fit_user_irt({"films": tables["films"], "few": simulated(2, 40, 1)[0]}, "1pl")
    assert list(left_out.fits) == ["films"], "one dataset is not pooled with itself"


def test_what_has_no_error_or_no_finite_value_says_nothing_of_reliability():
    items = np.array([[1.0, 9.0, 0.0], [2.0, -1.0, 0.0], [1.5, np.nan, 0.0], [0.5, 0.5, 0.0]])
    errors = np.array([[0.5, 1.0, 0.0], [np.nan, 0.5, 0.0], [0.25, np.nan, 0.0], [1.0, np.nan, 0.0]])
    abilities = SimpleNamespace(estimate=np.array([1.0, -1.0, 0.0]), standard_error=np.array([0.5, 0.5, np.inf]))
    fit = SimpleNamespace(item_errors=errors, parameters=lambda: items, abilities=abilities, model="2pl")
    found = UserFit(4, 0, 0, {}, fit).reliability()
    assert found == pytest.approx({
        "ability": 1.0 / 1.25,
        "difficulty": np.var([6.0, -1.0]) / (np.var([6.0, -1.0]) + 0.625),  # of difficulties, 6 is the most
        "discrimination": np.var([1.0, 1.5, 0.5]) / (np.var([1.0, 1.5, 0.5]) + np.mean([0.25, 0.0625, 1.0])),
    })  # fmt: skip
    fit.model = "3pl"
    assert UserFit(4, 0, 0, {}, fit).reliability() == found


def test_a_user_without_any_answer_is_served_by_none():
    hits = np.zeros((3, 40))
    hits[0, :20] = 1
    hits[:, 30:] = 1
    hits[:, 39] = np.nan
    table = Responses.from_array(hits, ["a", "b", "c"], [f"u{j}" for j in range(40)])
    found = fit_user_irt({"films": table}).main
    assert (found.users, found.hit_by_all, found.hit_by_none, found.telling_users) == (40, 9, 11, 20)
