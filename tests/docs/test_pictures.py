"""The pictures of the documentation show what the demo gives today: the numbers behind them are computed again."""

from __future__ import annotations

import importlib
import json
import math

import polars as pl
import pytest

import recassay
from recassay.api.publish.analyze import run_analyses
from recassay.core.analysis import AnalysisSpec
from support.places import ROOT

FROM_THE_TABLE = {
    "rank": {"forest", "leaderboard", "rank_intervals"},
    "compare": {"critical_difference", "pairs"},
    "profiles": {"performance_profiles"},
    "ratings": {"ratings"},
    "beta_irt": {"irt_traits"},
    "stress": {"stress_conclusions"},
}
"""Analyses whose pictures need nothing but the table of the demo."""


@pytest.fixture(scope="module")
def pictures():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        yield importlib.import_module("reference.pictures")


def differences(kept, computed):
    """The first cells of each picture that differ by more than the last of their four digits."""
    for name, rows in computed.items():
        assert len(rows) == len(kept[name]), name
        for row, old in zip(rows, kept[name], strict=True):
            for key, value in row.items():
                same = value == old[key]
                if isinstance(value, float) and isinstance(old[key], float):
                    same = math.isclose(value, old[key], rel_tol=2e-3, abs_tol=1e-6)
                if not same:
                    yield name, row, key, old[key]
                    break


@pytest.mark.slow
def test_pictures_show_the_numbers_of_the_demo(pictures):
    table = recassay.load_results(pictures.TABLE)
    found, skipped = run_analyses(table, AnalysisSpec("ndcg@10"), list(FROM_THE_TABLE))
    assert skipped == {}
    computed = pictures.numbers_behind(found)
    assert set(computed) == set().union(*FROM_THE_TABLE.values())
    kept = json.loads(pictures.NUMBERS.read_text())
    changed = list(differences(kept, computed))
    assert changed == [], "python3 dev.py docs --pictures renews them"


def test_a_changed_number_is_noticed(pictures):
    kept = json.loads(pictures.NUMBERS.read_text())
    other = {"forest": [{**row, "mean_rank": row["mean_rank"] + 0.1} for row in kept["forest"]]}
    assert len(list(differences(kept, other))) == len(kept["forest"]) == 12


def test_every_picture_has_its_numbers_and_stands_on_a_page(pictures):
    drawn = {path.stem for path in pictures.PICTURES.glob("*.png")}
    of_the_demo = {name for name in drawn if not name.startswith("multiverse")}
    assert of_the_demo - set(pictures.TIMED) == set(json.loads(pictures.NUMBERS.read_text()))
    pages = "".join(path.read_text() for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    assert [name for name in drawn if f"pictures/{name}.png" not in pages] == []
    first = (ROOT / "README.md").read_text().partition("![")[2]
    assert first.partition("](")[2].startswith("docs/pictures/forest.png")


@pytest.mark.long
@pytest.mark.slow
def test_the_demo_gives_the_table_behind_the_pictures(pictures, tmp_path):
    report = recassay.demo(tmp_path / "demo")
    new = report.results.frame.select("algorithm", "dataset", "metric", pl.col("value").alias("new"))
    both = pl.read_csv(pictures.TABLE).join(new, on=["algorithm", "dataset", "metric"], how="left")
    off = both.filter(((pl.col("value") - pl.col("new")).abs() > 1e-4).fill_null(True))
    assert off.height == 0, f"python3 dev.py docs --pictures renews them: {off.head(5)}"
