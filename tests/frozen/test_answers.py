"""Every analysis on tables of several kinds answers as it did: numbers, sentences, tables and pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.analysis.decodirt.fit import analyze_instances
from recassay.analysis.strata.fit import sweep_strata
from recassay.api.publish.analyze import examine
from recassay.core.analysis import AnalysisSpec
from recassay.reporting.figures import build_sections, figures
from recassay.reporting.page.top import top
from recassay.reporting.telling import answer
from support.charts import with_hidden
from support.decodirt import benchmark
from support.frozen import NEAR, changed, leaves, recorded
from support.strata import evidence, scores

NAMES = ["EASE", "ALS", "BPR", "ItemKNN", "MostPop"]


def table(datasets: int, spread: float, *, metric: str = "ndcg@10", seeds: int = 1, digits: int = 3) -> pl.DataFrame:
    """Each algorithm is a step behind the one before it, and chance moves it by `spread` on each dataset."""
    random = np.random.default_rng(7)
    rows = []
    for i, name in enumerate(NAMES):
        for j in range(datasets):
            middle = 0.42 - 0.05 * i + 0.02 * j + spread * random.normal()
            for seed in range(seeds):
                value = round(min(max(middle + 0.004 * random.normal() * (seeds > 1), 0.01), 0.97), digits)
                rows.append({"algorithm": name, "dataset": f"d{j}", "metric": metric, "value": value, "seed": seed})
    return pl.DataFrame(rows).drop([] if seeds > 1 else ["seed"])


def by_user() -> pl.DataFrame:
    random = np.random.default_rng(1)
    rows = [
        {"algorithm": name, "dataset": f"d{j}", "metric": "recall@10", "user": f"u{user}",
         "value": round(max(random.random() - 0.08 * i, 0), 2)}
        for i, name in enumerate(NAMES[:3])
        for j in range(3)
        for user in range(30)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def sizes(datasets: int) -> pl.DataFrame:
    random = np.random.default_rng(2)
    names = {name: np.round(random.lognormal(8, 2, datasets)) for name in ("Nu", "Ni", "Nr")}
    return pl.DataFrame({"dataset": [f"d{j}" for j in range(datasets)]} | names)


GAPS = table(9, 0.05).filter(~((pl.col("dataset") == "d2") & pl.col("algorithm").is_in(["BPR", "MostPop"])))
REPORTS: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "mixed": (table(8, 0.12, digits=2), {"control": "ALS"}),
    "clear": (table(10, 0.004), {"alpha": 0.01}),
    "errors": (table(7, 0.04, metric="rmse", seeds=3), {"seed": 5}),
    "gaps": (GAPS, {"missing": "worst", "alpha": 0.1}),
    "few": (table(3, 0.02).filter(pl.col("algorithm") != "MostPop"), {}),
    "users": (by_user(), {}),
}
KNOWN = {"mixed": sizes(8)}


def told(word: str, result: Any) -> dict[str, Any]:
    """What a result says in every form."""
    said = answer({word: result})
    return {
        "data": result.to_dict(),
        "sentences": "\n".join(map(str, said.sentences)),
        # Rows of long tables may be all but tied: they are in the data, whatever their order.
        "tables": {
            shown.title: "\n".join(
                " | ".join(row) for row in (shown.header, *(shown.rows if len(shown.rows) < 12 else ()), shown.notes)
            )
            for shown in said.tables
        },
    }


def choices() -> pl.DataFrame:
    """A table of universes: two splits and two targets."""
    parts = [table(4, spread).with_columns(split=pl.lit(split), target=pl.lit(target))
             for split, spread in (("random", 0.05), ("time", 0.09)) for target in ("all", "new")]  # fmt: skip
    return pl.concat(parts)


def responses() -> pl.DataFrame:
    random = np.random.default_rng(2)
    able = np.linspace(-2, 2, 30)[:, None] - np.linspace(-1, 1, 8)
    right = (random.random(able.shape) < 1 / (1 + np.exp(-able))).astype(int)
    return pl.DataFrame({"respondent": [f"r{i}" for i in range(30)]} | {f"i{j}": right[:, j] for j in range(8)})


def dimensions() -> pl.DataFrame:
    random = np.random.default_rng(4)
    rows = [
        {"algorithm": name, "dataset": f"d{j}", "metric": metric, "value": round(0.2 + 0.1 * i + random.random(), 3)}
        for metric in ("auc", "coverage@10", "diversity@10", "robustness", "seconds")
        for i, name in enumerate(NAMES)
        for j in range(3)
    ]
    return pl.DataFrame(rows)


ROUGH = dict.fromkeys(("beta_irt", "user_irt", "decodirt", "1pl", "2pl", "3pl"), 0.01)
"""Iterations that end when a step is small: where they end depends on the processor."""

MEANS = [[0.30, 0.28, 0.10], [0.25, 0.24, 0.12], [0.16, 0.22, 0.15], [0.10, 0.20, 0.19]]
HIDDEN = {"comper": "ALS", "adaptive": "ALS", "decodirt": "DecisionTree"}
"""By result, an algorithm that its pictures can leave out."""

RESULTS: dict[str, Callable[[], Any]] = {
    "multiverse": lambda: recassay.multiverse(choices(), permutations=50, leaky=["split=random"]),
    "certify": lambda: recassay.certify(choices()),
    "comper": lambda: recassay.comper(dimensions(), draws=50),
    "adaptive": lambda: recassay.adaptive(table(6, 0.06)),
    "1pl": lambda: recassay.logistic_irt(responses(), model="1pl"),
    "2pl": lambda: recassay.logistic_irt(responses(), model="2pl"),
    "3pl": lambda: recassay.logistic_irt(responses(), model="3pl"),
    "decodirt": lambda: analyze_instances(benchmark(6, items=40, networks=20)),
    "strata": lambda: sweep_strata(evidence(scores(MEANS), scores(MEANS[:3], seed=1, name="books")), replicates=100),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_tells_what_it_told(name):
    result = RESULTS[name]()
    pictures = {
        figure.name: {"caption": figure.caption, "spec": leaves(figure.spec)} for figure in figures({name: result})
    }
    said = told(name, result) | {"pictures": pictures}
    assert changed("results", name, said, near=ROUGH.get(name, NEAR)) == []
    if name in HIDDEN:
        pictures = with_hidden(result, HIDDEN[name])
        assert pictures, "some show algorithms"
        assert [picture for picture, named in pictures.items() if named] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_tells_what_it_told(name):
    frame, asked = REPORTS[name]
    report, content = examine(frame, AnalysisSpec("", replicates=1000, **asked), characteristics=KNOWN.get(name))
    filled = list(build_sections(report.analyses))
    for word, result in report.analyses.items():
        assert changed(name, word, told(word, result), near=ROUGH.get(word, NEAR)) == []
        assert [picture for picture, named in with_hidden(result, "ALS").items() if named] == []
    pictures = {figure.name: {"caption": figure.caption, "spec": leaves(figure.spec)}
                for part in filled for figure in part.figures}  # fmt: skip
    assert changed(name, "pictures", pictures) == []
    page = {
        "verdict": report.verdict,
        "cautions": report.cautions,
        "skipped": report.skipped,
        "top": str(top(content, filled)),
    }
    assert changed(name, "page", page) == []
    assert recorded(name).keys() == {*report.analyses, "pictures", "page"}
