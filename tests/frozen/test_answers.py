"""Every analysis on tables of several kinds answers as it did: numbers, sentences, tables and pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from recassay.api.publish.analyze import examine
from recassay.reporting.figures import build_sections
from recassay.reporting.page.top import top
from recassay.reporting.telling import answer
from support.frozen import hashed, leaves, same_as_recorded

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
    "mixed": (table(8, 0.12, digits=2), {"characteristics": sizes(8), "control": "ALS"}),
    "clear": (table(10, 0.004), {"alpha": 0.01}),
    "errors": (table(7, 0.04, metric="rmse", seeds=3), {"seed": 5}),
    "gaps": (GAPS, {"missing": "worst", "alpha": 0.1}),
    "few": (table(3, 0.02).filter(pl.col("algorithm") != "MostPop"), {}),
    "users": (by_user(), {}),
}


def told(word: str, result: Any) -> dict[str, Any]:
    """What a result says in every form."""
    said = answer({word: result})
    return {
        "data": result.to_dict(),
        "sentences": "\n".join(map(str, said.sentences)),
        "tables": {shown.title: "\n".join(" | ".join(row) for row in (shown.header, *shown.rows, shown.notes))
                   if len(shown.rows) < 12 else hashed(str(shown)) for shown in said.tables},
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_tells_what_it_told(name):
    frame, asked = REPORTS[name]
    report, content = examine(frame, None, replicates=200, **asked)
    filled = list(build_sections(report.analyses))
    for word, result in report.analyses.items():
        same_as_recorded(name, word, told(word, result))
    pictures = {figure.name: {"caption": figure.caption, "spec": leaves(figure.spec)}
                for part in filled for figure in part.figures}  # fmt: skip
    same_as_recorded(name, "pictures", pictures)
    page = {
        "verdict": report.verdict,
        "cautions": report.cautions,
        "skipped": report.skipped,
        "top": str(top(content, filled)),
    }
    same_as_recorded(name, "page", page)
