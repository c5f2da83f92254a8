"""No option of a verb on a table is ignored: with another value, more changes in the answer than its settings."""

from __future__ import annotations

import inspect
import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.analysis.adaptive.fit import Question, log_sizes
from recassay.analysis.certify import result as certify_result
from recassay.api import evaluate as verb_evaluate
from recassay.api.multiverse import _table_names as table_names
from recassay.api.publish.analyze import known_evidence
from recassay.api.publish.content import AnalysisReport, report_content
from recassay.api.study import studies
from recassay.api.study.adaptive_study import published_prior
from recassay.classifiers.spec import ClassifyStudySpec
from recassay.core.analysis import AnalysisSpec
from recassay.core.registry import analyses
from recassay.core.seeds import derived_rng
from recassay.core.tables.results import Results
from recassay.recommenders.probes import Probing
from recassay.reporting.page.parts import LIVE
from recassay.reporting.paper.arrange import Room
from recassay.reporting.paper.main_table import TableStyle
from recassay.store import CellRecord
from recassay.testing import checks
from recassay.testing.rules import BrokenRule
from support.frozen import changed, leaves
from support.stores import write_records

ALGORITHMS = ["EASE", "ALS", "BPR", "ItemKNN", "MostPop", "Random"]
DATASETS = [f"d{j}" for j in range(8)]
KINDS = {name: f"kind {max(j, 3)}" for j, name in enumerate(DATASETS)}
AGES = pl.DataFrame({"dataset": DATASETS, "age": [5, 3, 8, 1, 2, 7, 6, 4]})
HITS, USERS = "hitrate@10", 40


def long_table(*metrics: str, **columns: Any) -> pl.DataFrame:
    """Values with two digits, so that some are tied."""
    random = np.random.default_rng(3)
    level = np.array([0.3, 0.28, 0.26, 0.2, 0.1, 0.08])
    rows = []
    for metric in metrics:
        values = np.round(np.clip(level[:, None] + random.normal(0, 0.05, (6, 8)), 0.02, 0.98), 2)
        rows += [
            {"algorithm": name, "dataset": dataset, "metric": metric, "value": float(values[i, j]), **columns}
            for i, name in enumerate(ALGORITHMS)
            for j, dataset in enumerate(DATASETS)
        ]
    return pl.DataFrame(rows)


def sizes(seed: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    return pl.DataFrame({"dataset": DATASETS} | {name: random.lognormal(8, 2, 8) for name in ("Nu", "Ni", "Nr")})


def by_user() -> pl.DataFrame:
    random = np.random.default_rng(1)
    rows = [
        {"algorithm": name, "dataset": dataset, "metric": metric, "user": f"u{user}",
         "value": float(random.random() < 0.8 - 0.15 * i if metric == HITS else max(random.random() - 0.1 * i, 0))}
        for metric in (HITS, "recall@10")
        for i, name in enumerate(ALGORITHMS)
        for dataset in DATASETS[:2]
        for user in range(USERS)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def responses() -> pl.DataFrame:
    random = np.random.default_rng(2)
    able = np.linspace(-2, 2, 40)[:, None] - np.linspace(-1, 1, 6)
    right = (random.random(able.shape) < 1 / (1 + np.exp(-able))).astype(int)
    return pl.DataFrame({"respondent": [f"r{i}" for i in range(40)]} | {f"i{j}": right[:, j] for j in range(6)})


def with_gaps(table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(~((pl.col("dataset") == "d1") & pl.col("algorithm").is_in(["BPR", "ItemKNN"])))


TABLE, UNKNOWN = long_table("ndcg@10", "recall@10"), long_table("score")
GAPS = with_gaps(TABLE)
SMALL = TABLE.filter(pl.col("algorithm").is_in(ALGORITHMS[::2]) & pl.col("dataset").is_in(DATASETS[:4]))
CHOICES = pl.concat([
    long_table("ndcg@10", "recall@10", split="random"),
    long_table("recall@10", "ndcg@10", split="time").with_columns(pl.col("value") * 1.01),
])  # fmt: skip
DIMENSIONS = long_table("auc", "correctness", "coverage@5", "diversity@5", "coverage@10", "diversity@10", "robustness",
                        "seconds")  # fmt: skip
PER_USER, RESPONSES = by_user(), responses()
ITEMS = pl.DataFrame({"item": RESPONSES.columns[1:], "discrimination": 1.5, "difficulty": 0.5})


class Case:
    """One option: the value to try, the table that shows it, and what else is given with and without it."""

    def __init__(self, value: Any, table: pl.DataFrame | None = None, **given: Any) -> None:
        self.value, self.table, self.given = value, table, given


DIRECTION = Case(False, UNKNOWN, metric="score", higher_is_better=True)
MISSING = Case("drop-algorithms", GAPS, missing="drop-datasets")
METRIC = Case("recall@10")
READING = {"metric": METRIC, "missing": MISSING, "higher_is_better": DIRECTION}
GIVEN: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "rank": (TABLE, {"metric": "ndcg@10", "methods": ["mean", "dm_auc"], "replicates": 100}),
    "compare": (TABLE, {"metric": "ndcg@10", "draws": 1000}),
    "ratings": (TABLE, {"metric": "ndcg@10", "replicates": 100}),
    "profiles": (TABLE, {"metric": "ndcg@10"}),
    "stress": (TABLE, {"metric": "ndcg@10", "methods": ["mean", "dm_auc"], "draws": 100}),
    "glicko": (TABLE, {"metric": "ndcg@10", "orders": 5}),
    "model": (TABLE, {"metric": "ndcg@10"}),
    "plan": (TABLE, {"metric": "ndcg@10"}),
    "beta_irt": (TABLE, {"metric": "ndcg@10"}),
    "associations": (TABLE, {"metric": "ndcg@10", "characteristics": sizes(0), "permutations": 50}),
    "clusters": (TABLE, {"metric": "ndcg@10", "characteristics": sizes(0)}),
    "select": (TABLE, {"metric": "ndcg@10", "characteristics": sizes(0), "k": 3, "simulations": 10, "splits": 2}),
    "users": (PER_USER, {"metric": "recall@10", "replicates": 100}),
    "user_irt": (PER_USER, {"metric": HITS}),
    "logistic_irt": (RESPONSES, {}),
    "multiverse": (CHOICES, {"permutations": 50}),
    "comper": (DIMENSIONS, {"draws": 20}),
}
OPTIONS: dict[str, dict[str, Case]] = {
    "rank": {
        **READING,
        "metrics": Case("all", long_table("ndcg@10", "coverage@10")),
        "methods": Case(["mean"]),
        "families": Case(KINDS),
        "test": Case("wilcoxon-holm"),
        "replicates": Case(150),
        "confidence": Case(0.5),
        "seed": Case(1),
        "beta_max": Case(1.5),
        "beta_step": Case(0.5),
    },
    "compare": {
        **READING,
        "families": Case(KINDS),
        "alpha": Case(0.4),
        "test": Case("wilcoxon-holm"),
        "zeros": Case("pratt"),
        "rope": Case(0.05),
        "control": Case("MostPop"),
        "within": Case(0.5),
        "draws": Case(2000),
        "seed": Case(1),
    },
    "ratings": {
        **READING,
        "baseline": Case("MostPop"),
        "families": Case(KINDS),
        "replicates": Case(150),
        "confidence": Case(0.5),
        "seed": Case(1),
    },
    "profiles": {
        **READING,
        "beta_max": Case(1.5),
    },
    "stress": {
        **READING,
        "methods": Case(["mean"]),
        "draws": Case(150),
        "beta_max": Case(1.5),
        "seed": Case(1),
    },
    "glicko": {
        **READING,
        "order": Case(DATASETS[::-1]),
        "properties": Case(AGES.with_columns(-pl.col("age")), order="age", properties=AGES),
        "tau": Case(1.2),
        "tie": Case(0.1),
        "orders": Case(8),
        "seed": Case(1),
    },
    "model": {
        "metric": METRIC,
        "within": Case(0.4),
        "families": Case(KINDS),
        "higher_is_better": DIRECTION,
        "confidence": Case(0.5),
        "seed": Case(1),
    },
    "plan": {
        "metric": METRIC,
        "difference": Case(0.3),
        "power": Case(0.5),
        "alpha": Case(0.4),
        "families": Case(KINDS),
        "higher_is_better": DIRECTION,
        "looks": Case(True),
        "seed": Case(1),
    },
    "beta_irt": {
        "metric": METRIC,
        "missing": Case("drop-datasets", GAPS),
        "higher_is_better": DIRECTION,
        "sigma": Case(3.0),
        "estimator": Case("bi-reirt"),
        "posterior": Case("samples", SMALL),
        "confidence": Case(0.5),
        "seed": Case(1, SMALL, posterior="samples"),
    },
    "associations": {
        "metric": METRIC,
        "characteristics": Case(sizes(1)),
        "missing": MISSING,
        "alpha": Case(0.4),
        "permutations": Case(80),
        "seed": Case(1),
    },
    "clusters": {
        **READING,
        "characteristics": Case(sizes(1)),
        "number": Case(3),
        "log_skewed": Case(True),
        "seed": Case(1),
    },
    "select": {
        **READING,
        "k": Case(4),
        "characteristics": Case(sizes(1)),
        "methods": Case(["random", "kmeans"]),
        "aggregation": Case("mean"),
        "simulations": Case(15),
        "splits": Case(3),
        "curve": Case(False),
        "seed": Case(1),
    },
    "users": {
        "metric": Case(HITS),
        "alpha": Case(0.4),
        "replicates": Case(150),
        "seed": Case(1),
        "control": Case("EASE"),
    },
    "user_irt": {
        "model": Case("2pl"),
        "metric": Case("recall@10"),
        "datasets": Case(["d0"]),
        "priors": Case(False),
        "confidence": Case(0.5),
    },
    "logistic_irt": {
        "model": Case("1pl"),
        "items": Case(ITEMS),
        "estimator": Case("birnbaum"),
        "priors": Case(False),
        "ability": Case("ml"),
        "confidence": Case(0.5),
        "tolerance": Case(0.1),
        "max_cycles": Case(2),
    },
    "multiverse": {
        "axes": Case(["split"], pl.concat([CHOICES.with_columns(target=pl.lit(name)) for name in "ab"])),
        "claims": Case(["BPR > ALS"]),
        "metric": METRIC,
        "leaky": Case(["split=random"]),
        "missing": Case("drop-algorithms", with_gaps(CHOICES)),
        "higher_is_better": Case(
            False,
            CHOICES.filter(pl.col("metric") == "ndcg@10").with_columns(metric=pl.lit("score")),
            higher_is_better=True,
        ),
        "alpha": Case(0.4),
        "permutations": Case(80),
        "seed": Case(1),
    },
    "comper": {
        "correctness": Case("auc"),
        "k": Case(5, k=10),
        "matrix": Case("printed"),
        "normalisation": Case("min-max"),
        "time_unit": Case("milliseconds"),
        "missing": Case("drop-algorithms", with_gaps(DIMENSIONS), missing="drop-datasets"),
        "draws": Case(30),
        "seed": Case(1),
    },
}


ELSEWHERE = {
    ("compare", "bars"): "moves the bars of the diagram only: tests/plots/test_pictures.py",
    ("associations", "higher_is_better"): "correlates the values as they are; a metric that is not known needs it",
}
TOO_LARGE = {"adaptive", "advise", "analyze", "certify", "correlations", "paper", "report", "results", "seal", "serve"}
"""Verbs that ask several analyses, a study or a replay of many decisions, or that have no options. What they hand on
is tried at the end of this file, and by tests/api/test_advise.py."""


def test_every_option_of_every_verb_on_a_table_is_tried():
    reading = {
        name: list(inspect.signature(getattr(recassay, name)).parameters)
        for name in dir(recassay)
        if name[0].islower() and callable(getattr(recassay, name))
    }
    first = {name: next(iter(options), "") for name, options in reading.items()}
    verbs = {name for name in reading if first[name] in ("results", "results_or_runner")} | {"user_irt", "logistic_irt"}
    assert verbs - TOO_LARGE == set(OPTIONS)
    elsewhere = {"wide", "transpose", "progress"}  # tests/api/test_table_verbs.py tries the orientation of every verb
    offered = {(verb, option) for verb in OPTIONS for option in set(reading[verb]) - {first[verb]} - elsewhere}
    assert offered - ELSEWHERE.keys() == {(verb, option) for verb in OPTIONS for option in OPTIONS[verb]}


ASKED = {"seed": 1, "alpha": 0.4, "replicates": 150, "control": "MostPop"}
ANSWERS = {
    "associations": "seed alpha",
    "beta_irt": "alpha",
    "clusters": "seed",
    "compare": "seed alpha control",
    "glicko": "seed",
    "model": "seed alpha",
    "plan": "seed alpha",
    "profiles": "",
    "rank": "seed alpha replicates control",
    "ratings": "seed alpha replicates",
    "select": "seed",
    "stress": "seed",
    "users": "seed alpha replicates control",
}
"""Which options of a report each of its analyses answers to; the others have no such number."""


@pytest.mark.parametrize("name", ANSWERS)
def test_what_a_report_is_asked_reaches_its_analyses(name):
    frame, metric = (PER_USER, "recall@10") if name == "users" else (TABLE, "ndcg@10")
    table = recassay.load_results(frame)
    spec = AnalysisSpec(metric, replicates=100, evidence=known_evidence(frame, table, sizes(0)))
    run = analyses.get(name).run
    usual = without(run(table, spec), "alpha", "confidence")
    answered = {option for option, value in ASKED.items()
                if without(run(table, replace(spec, **{option: value})), "alpha", "confidence") != usual}  # fmt: skip
    assert answered == set(ANSWERS[name].split())


def without(result: Any, *options: str) -> str:
    """What a result says besides its settings and these options."""

    def kept(part: Any) -> Any:
        if isinstance(part, dict):
            own = {
                name: value for name, value in part.items() if name not in options or isinstance(value, (dict, list))
            }
            return {name: kept(value) for name, value in own.items() if name != "settings"}
        return [kept(value) for value in part] if isinstance(part, (list, tuple)) else part

    return json.dumps([kept(result.to_dict()), getattr(result, "grades", None)], default=str)


@pytest.mark.parametrize(("verb", "option"), [(verb, option) for verb, tried in OPTIONS.items() for option in tried])
def test_an_option_changes_the_answer(verb, option):
    case, (table, given) = OPTIONS[verb][option], GIVEN[verb]
    table, given = table if case.table is None else case.table, given | case.given
    usual, other = (getattr(recassay, verb)(table, **options) for options in (given, given | {option: case.value}))
    assert without(usual, option) != without(other, option)
    parts = {name: leaves(part) for name, part in other.to_dict().items() if name != "settings"}
    if given.get("posterior") != "samples" and option != "posterior":  # samples fall otherwise on another processor
        near = 0.05 if verb.endswith("irt") else 0.02
        assert changed("options", f"{verb} {option}", parts, near=near) == []


class Heard:
    """Stands for a function: keeps what it was called with, and answers with `answer`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, place: str, answer: Any = None) -> None:
        self.answer, self.given, self.named = answer, (), {}
        monkeypatch.setattr(place, self)

    def __call__(self, *given: Any, **named: Any) -> Any:
        self.given, self.named = given, named
        return self.answer


def test_a_report_refuses_what_it_cannot_do_before_the_work(monkeypatch, tmp_path):
    Heard(monkeypatch, "recassay.api.publish.analyze.run_analyses", ({}, {}))
    Heard(monkeypatch, "recassay.api.publish.report.build_page", "a page")
    drawn = Heard(monkeypatch, "recassay.api.publish.report.begin_drawing")
    page = recassay.report(UNKNOWN, "score", higher_is_better=False, out=tmp_path / "page.html").files
    assert (page, page[0].read_text()) == ([tmp_path / "page.html"], "a page")
    assert drawn.named == {"without": LIVE}
    monkeypatch.chdir(tmp_path)
    recassay.report(UNKNOWN.filter(dataset="d0"), "score", higher_is_better=True)
    assert drawn.named == {"without": ()}, "of one dataset nothing is computed in the browser"
    with pytest.raises(recassay.UsageError, match="99 bootstrap replicates are too few; use at least 100"):
        recassay.analyze(TABLE, "ndcg@10", replicates=99)
    for level in (0.0, 1.0):
        with pytest.raises(recassay.UsageError, match=f"alpha is {level}; give a number between 0 and 1"):
            recassay.analyze(TABLE, "ndcg@10", alpha=level)
    with pytest.raises(recassay.UsageError, match="'EASY' is not one of the algorithms; did you mean 'EASE'"):
        recassay.analyze(TABLE, "ndcg@10", control="EASY")
    told = []
    recassay.analyze(TABLE, "ndcg@10", replicates=100, control="ease", progress=lambda *stage: told.append(stage))
    assert told == [(1, 1, "")], "analyze says its end itself, since it writes files"
    others = sizes(0).with_columns(dataset=pl.col("dataset") + "x")
    with pytest.raises(recassay.RecAssayError, match="d0"):
        recassay.analyze(TABLE, "ndcg@10", characteristics=others)


def test_a_paper_names_its_metrics_figures_and_files(monkeypatch, tmp_path):
    Heard(monkeypatch, "recassay.api.publish.paper.run_analyses", ({}, {}))
    content = Heard(monkeypatch, "recassay.api.publish.paper.paper_content", SimpleNamespace(algorithms=ALGORITHMS))
    files = Heard(monkeypatch, "recassay.api.publish.paper.paper_files", {"main.tex": b"x"})
    Heard(monkeypatch, "recassay.api.publish.paper.paper_notes", ["small"])
    chart = SimpleNamespace(name="a figure", caption="c", drawn="d")
    skipped = {"other": "why", "more": "why"}
    drawn = Heard(monkeypatch, "recassay.api.publish.paper._figures", ([chart], ["rank"], skipped))
    figure = Heard(monkeypatch, "recassay.api.publish.paper.paper_figure", "made")
    made = recassay.paper(
        TABLE, ["recall@10", "ndcg@10"], out=tmp_path / "paper", figures=["other"], width="8cm", page_width=7,
        percent=True, decimals=3, deviations=False, mean=True, wide_table=True, rotated=True,
    )  # fmt: skip
    assert (drawn.given[1].metric, drawn.given[3]) == ("recall@10", ("other",)), "figures are of the first metric"
    assert files.named["style"] == TableStyle(True, 3, False, True)
    assert files.named["room"] == Room(pytest.approx(8 / 2.54), 7.0, True, True)
    assert files.named["title"] == "Recall@10 and nDCG@10 of 6 algorithms"
    assert made.notes == ("other, more not drawn: why", "small")
    assert repr(made) == f"Paper(recall@10, ndcg@10: 1 files in {tmp_path / 'paper'})"
    assert made._repr_html_().endswith(f"<li>small</li><li>{made!r}</li></ul>")
    assert made.to_dict() == {"metrics": ["recall@10", "ndcg@10"], "sentences": list(made.sentences),
                              "notes": list(made.notes), "files": [str(tmp_path / "paper" / "main.tex")]}  # fmt: skip
    recassay.paper(UNKNOWN, "score", out=tmp_path, higher_is_better=False, figures=[])
    assert (content.named["directions"], drawn.given[3]) == ({"score": False}, ())
    recassay.paper(TABLE.filter(pl.col("dataset").is_in(DATASETS[:5])), "ndcg@10", out=tmp_path)
    assert drawn.given[3] == ("critical_difference", "performance_profiles")
    with pytest.raises(recassay.RecAssayError, match="BPR on d1"):
        recassay.paper(GAPS.filter(pl.col("dataset").is_in(DATASETS[:2])), "ndcg@10", out=tmp_path)
    place = "recassay.api.publish.paper.study_folder"
    monkeypatch.setattr(place, lambda given: "folder" if isinstance(given, Results) else None)
    files.answer = {"main.tex": f"from {tmp_path / 'x' / 'y.csv'}".encode()}
    metrics = ["ndcg@10", "recall@10", "auc"]
    written = recassay.paper(long_table(*metrics), metrics, out=tmp_path).files[0].read_text()
    assert written.endswith("/x/y.csv")
    assert str(tmp_path) not in written, "places of this machine are not told"
    assert content.given[2] == "folder", "of results that were loaded from a study"
    assert files.named["title"] == "nDCG@10 and Recall@10 of 6 algorithms"
    few = recassay.paper(TABLE.filter(pl.col("dataset").is_in(DATASETS[:4])), "ndcg@10", out=tmp_path)
    assert drawn.given[3] == ()
    assert few.notes[0].startswith("no figures: with fewer than five datasets")
    assert recassay.paper(TABLE, "ndcg@10", out=tmp_path, page_width=1).notes
    assert figure.named["page_width"] == pytest.approx(3.33), "at least a column"


def test_a_table_is_replayed_where_it_is_complete_and_continued_where_it_is_not(monkeypatch):
    replayed = Heard(monkeypatch, "recassay.api.adaptive.replay", "replayed")
    decided = Heard(monkeypatch, "recassay.api.adaptive.decide", "decided")
    seconds = TABLE.filter(metric="ndcg@10").with_columns(metric=pl.lit("seconds"), value=2.0)
    timed = pl.concat([TABLE, seconds])
    kinds = dict.fromkeys(ALGORITHMS, "neural")
    assert recassay.adaptive(timed, "recall@10", classes=kinds, characteristics=sizes(0)) == "replayed"
    benchmark, question = replayed.given
    assert question == Question()
    assert (benchmark.grid.metric, benchmark.grid.classes) == ("recall@10", ("neural",) * 6)
    assert benchmark.grid.log_size.tolist() == log_sizes(recassay.load_characteristics(sizes(0))).tolist()
    recassay.adaptive(UNKNOWN, "score", higher_is_better=False)
    assert replayed.given[0].grid.higher_is_better is False
    monkeypatch.setattr("recassay.api.adaptive.published_prior", lambda grid: ("prior of", grid.algorithms))
    recassay.adaptive(TABLE, "ndcg@10", prior=True)
    assert replayed.named["prior"] == ("prior of", tuple(sorted(ALGORITHMS)))
    assert recassay.adaptive(with_gaps(timed), "ndcg@10", budget=40.0, workers=3) == "decided"
    _, _, values, took = decided.given
    assert np.isnan(values).sum() == np.isnan(took).sum() == 2
    assert (decided.named["cells"], decided.named["most_seconds"]) == (3, 40.0 - 2.0 * 46)
    recassay.adaptive(pl.concat([GAPS, seconds]), "ndcg@10", budget=100.0)
    assert decided.named["most_seconds"] == 100.0 - 2.0 * 46, "cells without a value have cost nothing"
    recassay.adaptive(GAPS, "ndcg@10")
    assert decided.named["most_seconds"] == np.inf
    recassay.adaptive(TABLE, "ndcg@10", algorithms=[*ALGORITHMS, "Mine"], datasets=DATASETS)
    assert decided.given[0].algorithms[-1] == "Mine"


def test_an_adaptive_study_is_told_from_its_journal_unless_a_grid_is_named(monkeypatch):
    fitted = Heard(monkeypatch, "recassay.api.adaptive.fit_adaptive", "fitted")
    Heard(monkeypatch, "recassay.api.adaptive.replay", "replayed")
    monkeypatch.setattr("recassay.api.adaptive.study_folder", lambda results: "folder")
    monkeypatch.setattr("recassay.api.adaptive.adaptive_journal", lambda folder: f"journal in {folder}")
    assert recassay.adaptive(TABLE, "recall@10") == "fitted"
    assert (fitted.given[1], fitted.named) == ("journal in folder", {"metric": "recall@10"})
    assert recassay.adaptive(TABLE, "ndcg@10", algorithms=ALGORITHMS) == "replayed"
    assert recassay.adaptive(TABLE, "ndcg@10", datasets=DATASETS) == "replayed"
    monkeypatch.setattr("recassay.api.adaptive.adaptive_journal", lambda folder: None)
    assert recassay.adaptive(TABLE, "ndcg@10") == "replayed"


def test_a_report_lies_in_its_study_or_where_it_is_asked_for(monkeypatch, tmp_path):
    made = Heard(monkeypatch, "recassay.api.publish.report.report_page")
    monkeypatch.setattr("recassay.api.publish.report.study_folder", lambda results: tmp_path / "study")
    (tmp_path / "file").write_text("")
    for out, place in ((None, "study/report.html"), ("new/page.htm", "new/page.htm"), ("study", "study/report.html")):
        made.answer = (SimpleNamespace(files=[]), f"a p\udc80ge of {tmp_path / 'x' / 'y.csv'}")
        report = recassay.report("study", "ndcg@10", out=None if out is None else tmp_path / out)
        assert report.files == [tmp_path / place]
        page = report.files[0].read_text()
        assert page.startswith("a p\\udc80ge of "), "what no encoding knows is shown by its code"
        assert page.endswith("/x/y.csv")
        assert str(tmp_path) not in page, "places of this machine are not told"
    with pytest.raises(recassay.RecAssayError, match="is a file"):
        recassay.report("study", out=tmp_path / "file" / "page.html")


def test_what_analyze_writes_is_all_that_it_found(monkeypatch, tmp_path):
    table = recassay.load_results(TABLE)
    report = AnalysisReport("ndcg@10", table, {}, {}, ["Nobody wins."])
    examined = Heard(monkeypatch, "recassay.api.publish.analyze.examine", (report, "content"))
    written = Heard(monkeypatch, "recassay.api.publish.analyze.write_folder", [tmp_path / "report.html"])
    monkeypatch.setattr("recassay.api.publish.analyze.Drawers", lambda: nullcontext("drawers"))
    monkeypatch.setattr("recassay.api.publish.analyze.with_verdicts", lambda content, spec: f"judged {content}")
    assert recassay.analyze(TABLE) is report
    assert (report.files, written.given, examined.named["pictures"]) == ([], (), None)
    assert recassay.analyze(TABLE, out=tmp_path / "out", formats=["png"]).files == [tmp_path / "report.html"]
    out, found, content = written.given
    assert (out, found, content["command"], content["sentences"]) == (
        tmp_path / "out", {}, "analyze", ["Nobody wins."],
    )  # fmt: skip
    assert written.named == {"formats": ("png",), "content": "judged content", "drawers": "drawers"}
    assert examined.named["pictures"].keywords == {"formats": ("marked", "png"), "drawers": "drawers"}
    (tmp_path / "file").write_text("")
    examined.named = {}
    with pytest.raises(recassay.RecAssayError, match="is a file"):
        recassay.analyze(TABLE, out=tmp_path / "file")
    with pytest.raises(recassay.UsageError, match="gif"):
        recassay.analyze(TABLE, out=tmp_path / "out", formats=["gif"])
    assert examined.named == {}, "refused before the work"
    assert repr(report) == "Nobody wins. [AnalysisReport of ndcg@10: 0 analyses]"
    assert repr(replace(report, verdict=[])) == "Nothing could be said. [AnalysisReport of ndcg@10: 0 analyses]"
    wary = replace(report, cautions=["Few datasets."])
    assert wary._repr_html_() == "<ul><li>Nobody wins.</li><li>Few datasets.</li></ul>"
    monkeypatch.setattr(AnalysisReport, "judgement", property(lambda made: "a verdict"))
    assert wary._repr_html_() == "<ul><li>Few datasets.</li></ul>", "the ranking says the verdict itself"
    drawn = SimpleNamespace(_repr_html_=lambda: "pictures")
    monkeypatch.setattr("recassay.api.publish.content.figures", lambda made: drawn)
    assert report._repr_html_() == "pictures"


def test_a_report_speaks_of_what_its_table_holds(monkeypatch):
    place = "recassay.api.publish.analyze"
    Heard(monkeypatch, f"{place}.run_analyses", ({}, {}))
    monkeypatch.setattr(f"{place}.verdict", lambda done, skipped, words: [f"no {words.algorithm} wins"])
    monkeypatch.setattr(f"{place}.cautions", lambda content: [("power", f"few {content.words.datasets}")])
    table = replace(recassay.load_results(TABLE), words=("model", "task"))
    report = recassay.analyze(table, "ndcg@10")
    assert report.verdict == ["no model wins"]
    assert report.cautions == ["power: few tasks"]
    evidence = known_evidence(PER_USER, recassay.load_results(PER_USER), None)
    scores, skipped = evidence["users"]()(HITS)
    assert ([one.dataset for one in scores], skipped) == (["d0", "d1"], {})


def test_tables_of_a_derivation_are_named_with_their_files(monkeypatch, tmp_path):
    derived = Heard(monkeypatch, "recassay.api.comper.derive_from_tables", recassay.comper_matrix())
    frame = pl.DataFrame({"dimension": ["x"], "objective": ["S"]})
    frame.write_csv(tmp_path / "one.csv")
    made = recassay.comper_matrix(experts=tmp_path / "one.csv", fourth=frame)
    ((table, where),) = derived.named["experts"]
    assert (table.rows(), where) == (frame.rows(), str(tmp_path / "one.csv"))
    assert (derived.named["fourth"][1], derived.named["similarities"], derived.named["definitions"]) == (
        "the frame", None, None,
    )  # fmt: skip
    assert [source.file for source in made.sources] == [str(tmp_path / "one.csv")]
    assert recassay.comper_matrix(experts=[frame, frame, frame]).sources == ()
    assert len(derived.named["experts"]) == 3


def test_a_function_that_runs_cells_has_a_grid_of_names(monkeypatch):
    ran = Heard(monkeypatch, "recassay.api.adaptive.run_adaptive", "ran")
    monkeypatch.setattr("recassay.api.adaptive.published_prior", lambda grid: "published")

    def run(cells: Any) -> dict[Any, Any]:
        return {}

    grid_of = {"algorithms": ["A", "B"], "datasets": DATASETS, "classes": {"A": "neural"}, "characteristics": sizes(0)}
    assert recassay.adaptive(run, "loss", **grid_of, prior=True, higher_is_better=False) == "ran"
    _, grid, _ = ran.given
    assert ran.named["prior"] == "published"
    assert (grid.metric, grid.algorithms, grid.datasets) == ("loss", ("A", "B"), tuple(DATASETS))
    assert (grid.classes, grid.higher_is_better) == (("neural", "other"), False)
    assert grid.log_size.shape == (8,)
    recassay.adaptive(run, algorithms=["A", "B"], datasets=DATASETS)
    assert (ran.given[1].metric, ran.given[1].log_size, ran.given[1].classes) == ("value", None, None)
    assert ran.given[1].higher_is_better
    assert ran.named["prior"] is None
    with pytest.raises(recassay.UsageError, match="the grid is not known; name its algorithms and its datasets"):
        recassay.adaptive(run, algorithms=["A", "B"])
    with pytest.raises(recassay.UsageError, match="a table cannot be probed"):
        recassay.adaptive(TABLE, "ndcg@10", probe=run)


def test_a_certificate_is_of_the_choices_of_a_table_or_of_a_study(monkeypatch):
    result = certify_result.CertificateResult(2, 2, 1, 0.5, (), "", 0.0, False, 0.9)
    replayed = Heard(monkeypatch, "recassay.api.certify.replay", result)
    choices = pl.concat([CHOICES.with_columns(target=pl.lit(name)) for name in "ab"])
    recassay.certify(choices, ["split"], ["BPR > ALS"], seed=7)
    grid, scores, price, claims = replayed.given
    assert list(grid.axes) == ["split", "metric"]
    assert [claim.statement(grid.algorithms) for claim in claims] == ["BPR > ALS"]
    assert price.tolist() == [1.0] * len(scores)
    assert replayed.named["rng"].random() == derived_rng(7, "certificate", "replay").random()
    made = recassay.certify("published:time-to-split")
    assert [source.file for source in made.sources] == ["published:time-to-split"]
    recassay.certify(choices)
    assert replayed.given[3] is None
    assert set(replayed.given[0].axes) == {"split", "target", "metric"}
    with pytest.raises(recassay.UsageError, match="this is not a table with a column per choice"):
        recassay.certify(pl.DataFrame({"": ["p", "q"], "d0": [0.1, 0.2], "d1": [0.3, 0.4]}))
    Heard(monkeypatch, "recassay.api.certify.certificate_of", "settled")
    monkeypatch.setattr("recassay.api.certify.study_folder", lambda results: "folder")
    assert recassay.certify("study") == "settled"


def test_strata_are_of_a_study_or_of_lists(monkeypatch):
    Heard(monkeypatch, "recassay.api.strata.sweep_strata", "swept")
    study = Heard(monkeypatch, "recassay.api.strata.study_strata", "evidence")
    assert recassay.strata("folder", "recall@5", thresholds=[5, 9]) == "swept"
    assert (study.given[1].metric.label, study.given[1].thresholds) == ("recall@5", [5, 9])
    Heard(monkeypatch, "recassay.api.strata.given_evidence", "given")
    split = Heard(monkeypatch, "recassay.api.strata.apply_protocol", "split")
    events = pl.DataFrame({"user": ["a", "a", "b"], "item": ["x", "y", "x"], "n": [1, 2, 3]})
    lists = {"Mine": pl.DataFrame({"user": ["a"], "item": ["z"], "score": [1.0]})}
    more = {"read": {"columns": {"rating": "n"}}, "allow_leakage": ["repeats"], "task": "repeat"}
    recassay.strata(None, "recall@5", train=events, test=events[:1], lists=lists, **more)
    _, spec = split.given
    assert (spec.split, spec.filter, spec.allow_leakage, spec.task) == ("given", "none", ("repeats",), "repeat")
    train, valid, test = split.named["given"]
    assert (len(train), len(valid), len(test)) == (3, 0, 1)
    assert (train.weight.tolist(), test.weight.tolist()) == ([1.0, 2.0, 3.0], [1.0])
    with pytest.raises(
        recassay.UsageError, match="strata need a study folder, or train, test and lists; give all three"
    ):
        recassay.strata(train=events, test=events, lists={})
    for wrong in ({"train": events}, {"test": events}, {"lists": lists}):
        with pytest.raises(recassay.UsageError, match="a study folder and train, test or lists were given"):
            recassay.strata("folder", **wrong)
        with pytest.raises(recassay.UsageError, match="strata need a study folder, or train, test and lists"):
            recassay.strata(**wrong)


def test_a_run_chooses_its_cells_as_it_is_asked(monkeypatch):
    ran = Heard(monkeypatch, "recassay.api.study.studies.run_study", "ran")
    spec = recassay.make_study(["synthetic:few-items"], ["MostPop"], name="named")
    assert recassay.run(spec, skip_preflight=True) == "ran"
    assert ran.given == (spec, Path("named"))
    assert (ran.named["choose"], ran.named["preflight"]) == (None, False)
    recassay.run(spec, adaptive=True, budget=40.0, workers=3)
    chosen = ran.named["choose"]
    assert (chosen.question, chosen.budget, chosen.workers, chosen.probe) == (Question(), 40.0, 3, None)
    assert chosen.evidence is published_prior
    recassay.run(spec, adaptive=True, prior=False)
    assert ran.named["choose"].evidence is None
    Heard(monkeypatch, "recassay.api.study.studies.prober", "a prober")
    for more, probing in (
        ({"probes": True}, Probing(None, None)),
        ({"probe_users": 0.25}, Probing(0.25, None)),
        ({"probe_epochs": 4}, Probing(None, 4)),
    ):
        recassay.run(spec, adaptive=True, **more)
        assert (ran.named["choose"].probe, ran.named["choose"].probing) == ("a prober", probing)
    for share in (0.0, 1.0):
        with pytest.raises(recassay.UsageError, match=f"probe_users is {share:g}; give a share of the users between"):
            recassay.run(spec, adaptive=True, probe_users=share)
    varied = recassay.make_study(["synthetic:few-items"], ["MostPop"], multiverse={"split_seed": [0, 1]})
    for name, wrong in (
        ("target", {"target": "order"}), ("indifference", {"indifference": 2.0}), ("probes", {"probe_epochs": 2}),
    ):  # fmt: skip
        with pytest.raises(
            recassay.UsageError, match=rf"{name} does not apply to a study with a \[multiverse\]; leave"
        ):
            recassay.run(varied, adaptive=True, **wrong)
        recassay.run(varied, **wrong)
    recassay.run(varied, adaptive=True, confidence=0.8, budget=40.0, workers=3)
    chosen = ran.named["choose"]
    assert (chosen.confidence, chosen.budget, chosen.workers) == (0.8, 40.0, 3)


def test_a_study_without_a_file_has_all_that_it_is_told():
    spec = recassay.make_study(
        ["synthetic:few-items"], ["EASE"], metrics=["recall@5"], name="named", seed=[3, 4], trials=7, parallel=2,
        tuning_metric="recall@10", protocol={"split": "random"}, seconds_per_cell=5.0, memory_gb=2.0,
        settings={"EASE": {"reg": 5.0}}, dataset_settings={"few-items": {"positive_threshold": 2.0}}, comper={"k": 5},
        multiverse={"split_seed": [0, 1]}, base="somewhere",
    )  # fmt: skip
    assert (spec.name, spec.seeds, spec.metrics) == ("named", (3, 4), ("recall@5",))
    assert spec.base == str(Path("somewhere").resolve())
    assert (spec.tuning.trials, spec.tuning.parallel, spec.tuning.metric) == (7, 2, "recall@10")
    assert (spec.budget.seconds_per_cell, spec.budget.memory_gb) == (5.0, 2.0)
    assert spec.protocol.split == "random"
    assert spec.algorithms[0].settings == {"reg": 5.0}
    assert spec.comper.k == 5
    assert spec.multiverse.axes["split_seed"] == (0, 1)
    plain = recassay.make_study(["synthetic:few-items"], ["EASE"])
    assert (plain.comper, plain.multiverse, plain.seeds, len(plain.metrics)) == (None, None, (1,), 9)
    assert recassay.make_study(["synthetic:few-items"], ["EASE"], comper={}).comper.k == 10, "all of it by default"


def test_a_demo_has_settings_that_are_quick(monkeypatch, tmp_path):
    made = Heard(monkeypatch, "recassay.api.demo.make_study", "spec")
    Heard(monkeypatch, "recassay.api.demo.run")
    Heard(monkeypatch, "recassay.api.demo.analyze", "report")
    assert recassay.demo(tmp_path, datasets=["few-items"], algorithms=["ALS", "EASE"]) == "report"
    assert made.given == (["synthetic:few-items"], ["ALS", "EASE"])
    assert made.named["settings"] == {"ALS": {"factors": 64}}
    assert "ndcg@10" in made.named["metrics"]


def test_a_classifier_study_runs_in_a_folder_of_its_name(monkeypatch):
    heard = Heard(monkeypatch, "recassay.api.classify.run_classifiers", "ran")
    spec = ClassifyStudySpec.model_construct(name="named")
    assert recassay.classify(spec) == "ran"
    assert heard.given == (spec, Path("named"))


def test_without_training_data_metrics_of_accuracy_alone_are_computed():
    test = pl.DataFrame({"user": ["a", "b"], "item": ["y", "z"]})
    lists = pl.DataFrame({"user": ["a", "b"], "item": ["y", "y"], "score": [1.0, 1.0]})
    judged = recassay.evaluate(lists, test=test, metrics=["recall@1", "mrr@1"])
    assert judged.result.mean() == {"recall@1": 0.5, "mrr@1": 0.5}
    with pytest.raises(recassay.UsageError, match=r"^coverage@1 looks at the training data; give `train`, or ask for"):
        recassay.evaluate(lists, test=test, metrics=["recall@1", "coverage@1"])


def test_battles_have_no_families(tmp_path):
    battles = {"model_a": ["A", "B", "A"] * 4, "model_b": ["B", "C", "C"] * 4, "winner": ["model_a"] * 12}
    pl.DataFrame(battles).write_csv(tmp_path / "battles.csv")
    rated = recassay.ratings(tmp_path / "battles.csv", replicates=100)
    assert (set(rated.algorithms), rated.battles) == ({"A", "B", "C"}, 12)
    with pytest.raises(recassay.UsageError, match="battles have no families of datasets; leave `families` out"):
        recassay.ratings(tmp_path / "battles.csv", families="auto")


def test_lists_are_compared_by_the_direction_of_each_metric():
    train = pl.DataFrame({"user": ["a", "b", "c", "c"], "item": ["x", "x", "y", "z"]})
    test = pl.DataFrame({"user": ["a", "b"], "item": ["y", "z"]})
    lists = {name: pl.DataFrame({"user": ["a", "b"], "item": items, "score": [1.0, 1.0]})
             for name, items in (("P", ["y", "y"]), ("Q", ["z", "z"]))}  # fmt: skip
    metrics = ["popularity@1", "recall@1", "coverage@1"]
    compared = recassay.evaluate(lists, train=train, test=test, metrics=metrics, compare=True).comparison
    directions = {label: tests.higher_is_better for label, tests in compared.items()}
    assert directions == {"popularity@1": False, "recall@1": True}


def test_a_download_is_kept_with_its_licence(monkeypatch, tmp_path):
    monkeypatch.setenv("RECASSAY_HOME", str(tmp_path))
    entry = SimpleNamespace(name="films", addresses=("http://x",), read="how", licence="CC0", title="Films", how="")
    Heard(monkeypatch, "recassay.api.data.find_dataset", entry)
    Heard(monkeypatch, "recassay.api.data.obtain", "file")
    kept = Heard(monkeypatch, "recassay.api.data.import_dataset", "manifest")
    assert recassay.fetch_data("films") == "manifest"
    assert (kept.given, kept.named) == (
        ("file", "films", "how"), {"licence": "CC0", "note": "Films", "replace": True},
    )  # fmt: skip


def test_what_is_named_goes_before_what_a_study_says_of_comper(monkeypatch):
    fitted = Heard(monkeypatch, "recassay.api.comper.fit_comper", "fitted")
    monkeypatch.setattr("recassay.api.comper.study_folder", lambda results: "folder")
    monkeypatch.setattr("recassay.api.comper.comper_settings", lambda folder: ("auc", 5))
    recassay.comper(DIMENSIONS)
    assert (fitted.named["correctness"], fitted.named["k"]) == ("auc", 5)
    recassay.comper(DIMENSIONS, k=10, correctness="correctness")
    assert (fitted.named["correctness"], fitted.named["k"]) == ("correctness", 10)


def test_choices_of_the_analysis_that_a_study_varies_are_explored(monkeypatch):
    explored = Heard(monkeypatch, "recassay.api.multiverse.explore", "explored")
    place = "recassay.api.multiverse"
    monkeypatch.setattr(f"{place}.study_folder", lambda results: "folder")
    monkeypatch.setattr(f"{place}.has_universes", lambda folder: True)
    rows = CHOICES.with_columns(window=pl.lit(None, dtype=pl.String))
    monkeypatch.setattr(f"{place}.universe_rows", lambda folder: rows)
    monkeypatch.setattr(f"{place}.load_results", lambda folder: SimpleNamespace(sources=("a file",)))
    free = {"missing": ("worst", "drop-datasets"), "aggregation": ("mean", "borda")}
    monkeypatch.setattr(f"{place}.free_choices", lambda folder: free)
    recassay.multiverse("study", leaky=["split=random"], missing="drop-algorithms")
    assert {name: explored.named[name] for name in free} == free
    assert (explored.named["leaky"], explored.named["sources"]) == (["split=random"], ("a file",))
    assert set(explored.given[0]["window"]) == {"(none)"}, "a choice that does not apply is one of its own"
    recassay.multiverse(["study", "other"], missing="drop-algorithms")
    assert explored.named["missing"] == "drop-algorithms", "of several places none decides for all"
    free.clear()
    recassay.multiverse("study", missing="drop-algorithms")
    assert (explored.named["missing"], explored.named["aggregation"]) == ("drop-algorithms", ("mean_rank",))


def test_loaded_results_are_explored_without_what_is_no_choice(monkeypatch, tmp_path):
    explored = Heard(monkeypatch, "recassay.api.multiverse.explore", "explored")
    noted = replace(recassay.load_results(TABLE.with_columns(seed=pl.lit(1))), notes=("One note.",))
    assert recassay.multiverse(noted) == "explored"
    assert explored.given[0].columns == ["algorithm", "dataset", "metric", "value", "seed"]
    assert (explored.named["leaky"], explored.named["notes"]) == ((), ("One note.",))
    recassay.multiverse([noted, noted])
    assert set(explored.given[0]["table"]) == {"table 1", "table 2"}
    assert explored.named["notes"] == ("One note.",), "a note is told once"
    monkeypatch.setattr("recassay.api.multiverse.read_choices", lambda place: pytest.fail("a study is not a table"))
    cells = [CellRecord("a", "A", "d0", 1, None, {}, "done", metrics={"ndcg@10": 0.5})]
    recassay.multiverse(write_records(tmp_path, ["ndcg@10"], cells))
    assert set(explored.given[0]["algorithm"]) == {"A"}
    with pytest.raises(recassay.UsageError, match="no results were given; name at least one table"):
        recassay.multiverse([])


def test_properties_of_datasets_may_be_a_mapping():
    asked = {"metric": "ndcg@10", "order": "age", "orders": 5}
    ages = {dataset: {"age": age} for dataset, age in AGES.iter_rows()}
    by_frame, by_name = (recassay.glicko(TABLE, properties=given, **asked) for given in (AGES, ages))
    assert without(by_frame) == without(by_name)


def test_several_tables_are_told_apart_by_the_ends_of_their_paths():
    assert table_names(["a/x.csv", "b/x.csv"]) == ["a/x.csv", "b/x.csv"]
    assert table_names(["a/x.csv", "a/y.csv"]) == ["x.csv", "y.csv"]
    assert table_names([TABLE, "a/y.csv"]) == ["table 1", "y.csv"]
    assert table_names([Path("a/x.csv"), Path("b/x.csv"), TABLE]) == ["a/x.csv", "b/x.csv", "table 3"]
    with pytest.raises(recassay.UsageError, match="the same table was given twice; name each table once"):
        table_names(["a/x.csv", "a/x.csv"])


def test_lists_are_judged_on_a_split_or_on_test_data():
    for wrong in ({}, {"split": "parts", "test": "b.csv"}, {"train": "a.csv"}):
        with pytest.raises(recassay.UsageError, match="lists are judged on a split or on test data; give `split`, or"):
            recassay.evaluate("lists.csv", **wrong)
    for wrong in ({"train": "a.csv"}, {"threshold": 3.5}):
        with pytest.raises(recassay.UsageError, match="a split folder says what is trained on and tested; leave `tra"):
            recassay.evaluate("lists.csv", split="parts", **wrong)
    several = verb_evaluate.EvaluationReport(("one", "two"), {}, {}, None)
    with pytest.raises(recassay.UsageError, match=r"2 lists were judged; take each from \.judged"):
        several.result  # noqa: B018


def test_a_split_is_written_with_how_its_dataset_was_read(monkeypatch, tmp_path):
    written = Heard(monkeypatch, "recassay.api.split.export_split", "written")
    split = Heard(monkeypatch, "recassay.api.split.apply_protocol", "parts")
    refused = []
    opened = SimpleNamespace(interactions="events", name="films", reading={"rows": 3}, refuse_positions=refused.append)
    Heard(monkeypatch, "recassay.api.split.open_dataset", opened)
    assert recassay.split("films.csv", tmp_path / "out", protocol={"split": "user_time"}, replace=True) == "written"
    assert refused == ["user_time"]
    assert (split.given[0], split.given[1].split, split.named) == ("events", "user_time", {"overwrite": True})
    assert (written.named["dataset"], written.named["reading"]) == ("films", {"rows": 3})


def test_users_are_compared_by_the_direction_of_the_metric():
    lower = PER_USER.filter(metric=HITS).with_columns(metric=pl.lit("popularity@10"))
    compared = recassay.users(lower, replicates=100)
    assert (compared.metric, compared.higher_is_better) == ("popularity@10", False)
    assert compared.datasets[0].means == tuple(sorted(compared.datasets[0].means))


def test_the_standing_of_an_adaptive_run_is_that_of_its_journal_or_of_its_universes(monkeypatch):
    place = "recassay.api.study.studies"
    monkeypatch.setattr(f"{place}.read_adaptive", lambda folder: {"said": "it is settled"})
    assert studies.adaptive_standing("folder") == "it is settled"
    monkeypatch.setattr(f"{place}.read_adaptive", lambda folder: None)
    monkeypatch.setattr(f"{place}.has_universes", lambda folder: False)
    assert studies.adaptive_standing("folder") is None
    monkeypatch.setattr(f"{place}.has_universes", lambda folder: True)
    monkeypatch.setattr(
        "recassay.api.study.adaptive_universes.certificate_of", lambda folder: f"certificate of {folder}"
    )
    monkeypatch.setattr("recassay.api.study.adaptive_universes.standing_of", lambda made: f"{made} stands")
    assert studies.adaptive_standing("folder") == "certificate of folder stands"


def test_formulas_are_those_of_the_study_alone(monkeypatch):
    facts = SimpleNamespace(conventions={"ndcg@10": "by hand"})
    monkeypatch.setattr("recassay.api.publish.content.study_facts", lambda folder: facts)
    report = AnalysisReport("ndcg@10", recassay.load_results(TABLE), {}, {"users": "too few"}, [])
    spec = AnalysisSpec("ndcg@10", missing="worst", alpha=0.2)
    content = report_content(report, Path("study"), spec)
    assert (content.facts, content.formulas) == (facts, {"ndcg@10": "by hand"})
    assert (content.alpha, content.missing, content.skipped) == (0.2, "worst", {"users": "too few"})
    assert content.questions["rank"][0].endswith("?")
    table_alone = report_content(report, None, spec)
    assert (table_alone.facts, table_alone.formulas) == (None, {})


@pytest.mark.usefixtures("in_process")
def test_an_algorithm_is_checked_by_few_rules_or_by_all(monkeypatch):
    tried, broken = [], []

    def rules(kind, chosen, file):
        tried.append(([check.__name__ for check in chosen], file))
        weak = [check for check in chosen if check is checks.check_learns]
        return ["a rule"], [BrokenRule("It learns.", "It finds little", "")] if weak else list(broken)

    kind = SimpleNamespace(name="Mine", space={"depth": 1})
    monkeypatch.setattr("recassay.recommenders.trying.load_algorithm", lambda reference, base: kind)
    monkeypatch.setattr("recassay.testing.rules.try_rules", rules)
    result = recassay.check("./mine.py:Mine")
    assert (result.name, result.tunable, result.kept, result.broken) == ("Mine", ("depth",), ("a rule",), ())
    assert result.caution == "It finds little"
    few, learns = tried
    assert learns == (["check_learns"], "mine.py")
    assert few == ([check.__name__ for check in checks.EXTERNAL_CHECKS if check is not checks.check_learns], "mine.py")
    broken += [BrokenRule("It holds.", "It is wrong", ""), BrokenRule("It ends.", "It does not", "")]
    tried.clear()
    result = recassay.check("./mine.py:Mine", every=True)
    assert (result.broken, result.caution) == (tuple(broken), ""), "what is broken cannot learn"
    assert [len(names) for names, _ in tried] == [len(checks.ALGORITHM_CHECKS) - 1]
