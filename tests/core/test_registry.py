"""The one door for parts: lazy, no collisions, near names suggested; and the metric labels."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from recassay.core import registry as module
from recassay.core.analysis import Analysis, AnalysisResult
from recassay.core.errors import InputError, RecAssayError, UsageError
from recassay.core.metric_facts import FACTS
from recassay.core.names import canonical
from recassay.core.registry import Registry
from recassay.core.tables.labels import (
    find_label,
    known_direction,
    metric_name,
    normal_label,
    refuse_bad_label,
)


@pytest.fixture
def announce(monkeypatch):
    def make(*entries: tuple[str, str]) -> Registry:
        points = [EntryPoint(name, value, "recassay.metrics") for name, value in entries]
        monkeypatch.setattr(module, "entry_points", lambda group: points)
        return Registry("metric", "recassay.metrics")

    return make


def test_parts_load_when_asked(announce):
    parts = announce(("Fine", "json:dumps"), ("broken", "no_such_module:thing"))
    assert parts.names() == ["Fine", "broken"]
    import json

    assert parts.get("fine") is json.dumps
    with pytest.raises(RecAssayError, match=r"'broken' cannot be loaded from no_such_module:thing"):
        parts.get("broken")


def test_parts_that_cannot_be_loaded_are_told_and_the_others_are_there(announce, monkeypatch, tmp_path):
    import json

    (tmp_path / "leaving_part.py").write_text("raise SystemExit(3)\n")
    monkeypatch.syspath_prepend(tmp_path)
    parts = announce(("Fine", "json:dumps"), ("leaving", "leaving_part:thing"), ("fine", "json:dumps"))
    loaded, problems = parts.loadable()
    assert loaded == {"fine": json.dumps}
    assert list(problems) == ["leaving"]
    assert "the metric 'leaving' cannot be loaded from leaving_part:thing: 3; reinstall" in problems["leaving"]


def test_aliases_are_found_beside_a_part_that_cannot_be_loaded(announce):
    class Thing:
        aliases = ("hr",)

    parts = announce(("broken", "no_such_module:thing"))
    thing = Thing()
    parts.add("Hit-Rate", thing)
    assert parts.get("HR") is thing
    assert "unheard" not in parts
    with pytest.raises(RecAssayError, match=r"'broken' cannot be loaded from no_such_module:thing.*; reinstall or"):
        parts.get("unheard")


def test_who_announced_a_part_is_told(announce):
    parts = announce(("fine", "json:dumps"))
    parts.add("mine", 7)
    assert parts.names() == ["fine", "mine"]
    assert (parts.origin("mine"), parts.origin("fine")) == ("added from Python", "json:dumps")
    assert parts.announcement("FINE").value == "json:dumps"
    assert parts.announcement("mine") is parts.announcement("nothing") is None
    with pytest.raises(UsageError, match="the metric name 'Mine' is taken by added from Python; choose another name"):
        parts.add("Mine", 8)


def test_unknown_names_suggest(announce):
    with pytest.raises(UsageError, match=r"unknown metric 'precison'; did you mean 'precision'\?"):
        announce(("precision", "json:dumps"), ("recall", "json:loads")).get("precison")


def test_collisions_are_refused(announce):
    parts = announce(("ndcg", "one:A"), ("nDCG", "two:B"))
    with pytest.raises(RecAssayError, match="two packages announce the metric 'nDCG': one:A and two:B"):
        parts.names()
    parts = announce(("ndcg", "json:dumps"))
    with pytest.raises(UsageError, match="'NDCG' is taken by"):
        parts.add("NDCG", object())


def test_aliases_and_python_parts(announce):
    class Thing:
        aliases = ("hr",)

    parts = announce()
    thing = Thing()
    parts.add("hitrate", thing)
    assert parts.get("HR") is parts.get("hit_rate") is thing
    assert "hr" in parts
    assert "x" not in parts
    other = Thing()
    parts.add("hits", other)
    with pytest.raises(RecAssayError, match="alias of several"):
        parts.get("hr")


def test_our_analyses_come_through_the_door():
    found = dict(module.analyses)
    assert {"rank", "compare", "profiles", "correlations"} <= set(found)
    for name, analysis in found.items():
        assert isinstance(analysis, Analysis)
        assert analysis.name == name
        assert analysis.question.endswith("?")


@pytest.mark.slow
def test_results_of_analyses_keep_the_contract():
    from recassay import analyze
    from recassay.core.tables.results import Results
    from recassay.testing.results import synthetic_results

    report = analyze(Results.from_frame(synthetic_results()), replicates=100)
    assert set(report.analyses) | set(report.skipped) == set(module.analyses.names())
    for result in report.analyses.values():
        assert isinstance(result, AnalysisResult)
        assert result.to_frame().equals(next(iter(result.frames().values())))


def test_labels_are_unambiguous():
    names = [canonical(n) for label in FACTS for n in (label.name, *label.aliases)]
    assert len(names) == len(set(names))


def test_labels():
    assert normal_label(" HR@20 ") == "hitrate@20"
    assert normal_label("Fancy@5") == "fancy@5"
    assert known_direction("rmse") is False
    assert known_direction("MRR@5") is True
    assert known_direction("fancy") is None
    assert find_label("ndcg", ["ndcg@10", "mrr@10"]) == "ndcg@10"
    with pytest.raises(UsageError, match="ambiguous; choose one of ndcg@10, ndcg@5"):
        find_label("ndcg", ["ndcg@10", "ndcg@5"])


def test_of_which_metrics_less_is_better():
    less = {label.name for label in FACTS if not label.higher_is_better}
    assert less == {
        "gini", "popularity", "calibration", "poprsp", "popreo", "rmse", "mse", "mae",
        "logloss", "error", "seconds", "seconds_fit",
        "seconds_predict", "mape", "smape", "wape", "mase", "wql", "sql", "perplexity", "energy", "joules", "emissions",
        "robustness", "scalability", "memory",
    }  # fmt: skip
    more = {"ndcg", "coverage", "diversity", "novelty", "serendipity", "entropy", "longtail", "accuracy", "r2", "auc"}
    assert more <= {label.name for label in FACTS} - less


@pytest.mark.parametrize(
    ("text", "stored", "written"),
    [
        ("HR@20", "hitrate@20", "HitRate@20"),
        ("NDCG @ 5", "ndcg@5", "nDCG@5"),
        ("map@10[by_k]", "map@10[by_k]", "MAP@10[by_k]"),
        ("auc", "auc", "AUC"),
        ("Recip_Rank", "mrr", "MRR"),
        ("train_time_s", "seconds_fit", "training time (s)"),
        ("Inference Time", "seconds_predict", "recommendation time (s)"),
        ("Fancy_Score@3", "fancy_score@3", "Fancy score@3"),
        ("ap[by_k]", "map[by_k]", None),
    ],
)
def test_labels_as_they_are_stored_and_written(text, stored, written):
    assert normal_label(text) == stored
    assert written is None or metric_name(stored) == written


ALIASES = {
    "ndcg": "Normalized Discounted Cumulative Gain", "hitrate": "hit, hits, HR, Hit Ratio", "precision": "prec, P",
    "recall": "rec, R", "map": "AP, mean average precision",
    "mrr": "RR, reciprocal rank, mean reciprocal rank, recip_rank", "f1": "F-measure, f_score, F1 score",
    "rprecision": "R-prec", "auc": "ROC-AUC, AUROC", "coverage": "cov, item coverage, catalogue coverage",
    "diversity": "ILD, div, intra-list diversity", "novelty": "nov", "serendipity": "ser",
    "entropy": "Shannon entropy, s_entropy", "longtail": "APLT, long tail share",
    "gini": "Gini index, Gini coefficient", "popularity": "ARP, average popularity", "calibration": "miscalibration",
    "accuracy": "acc", "balanced_accuracy": "bacc, balacc", "logloss": "cross-entropy, NLL",
    "error": "error rate, test error, metric_error", "seconds": "time, runtime, duration, time_s, duration_s",
    "seconds_fit": "fit time, training_time, fit_seconds, train time, train_s, train_time_s, time_train_s, "
    "training_time_s, training duration, fit_s",
    "seconds_predict": "predict time, inference_time, test_s, time_infer_s, inference_time_s, predict_duration, "
    "predict_s",
    "r2": "R squared", "perplexity": "PPL", "exact_match": "EM", "energy": "energy consumed",
    "memory": "peak memory, memory_mb, memory_gb",
}  # fmt: skip


@pytest.mark.parametrize("name", ALIASES)
def test_metrics_are_known_by_the_names_people_use(name):
    assert {normal_label(f"{alias}@5") for alias in ALIASES[name].split(", ")} == {f"{name}@5"}


def test_metrics_as_papers_write_them():
    labels = "ndcg map mrr auc hitrate f1 rprecision longtail gini rmse mse mae gauc logloss joules recall exact_match"
    assert [metric_name(label) for label in labels.split()] == [
        "nDCG", "MAP", "MRR", "AUC", "HitRate", "F1", "R-Precision", "LongTail", "Gini", "RMSE", "MSE", "MAE", "GAUC",
        "LogLoss", "energy (J)", "Recall", "Exact match",
    ]  # fmt: skip


def test_good_cut_offs():
    refused = []
    for label in ("ndcg@1", "ndcg@1000000", "recall@10[by_k]", "auc", "fancy@many", "map[by_k]", "ndcg@0"):
        try:
            refuse_bad_label(label)
        except RecAssayError:
            refused.append(label)
    assert refused == ["ndcg@0"]


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("ndcg@0", "here: '0' in 'ndcg@0' is not a cut-off; use a whole number from 1 to 1,000,000, as in ndcg@10"),
        ("ndcg@1000001", "'1000001' in 'ndcg@1000001' is not a cut-off"),
        ("HR@-1", "'-1' in 'HR@-1' is not a cut-off"),
        ("recall@²", "'²' in 'recall@²' is not a cut-off"),
        ("map@x[by_k]", "'x' in 'map@x[by_k]' is not a cut-off"),
        ("@10", "'@10' is not a metric label; write name@k, as in ndcg@10"),
    ],
)
def test_bad_cut_offs(label, message):
    with pytest.raises(InputError) as refused:
        refuse_bad_label(label, "here")
    assert message in str(refused.value)


def test_a_plugin_metric_brings_its_direction(announce, monkeypatch):
    class Joy:
        higher_is_better = False

    parts = announce()
    parts.add("joy", Joy())
    monkeypatch.setattr(module, "metrics", parts)
    assert known_direction("joy@10") is False


def test_core_reaches_no_room_above_it():
    root = Path(module.__file__).parent
    for path in root.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*import recassay\b", text, re.M), path
        assert "registry.sections" not in text, path
