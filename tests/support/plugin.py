"""A small package of somebody else's: an analysis with its section and picture, and sections that fail in every way."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from recassay.core import registry

MODULE = '''
from dataclasses import dataclass

import altair as alt
import polars as pl

from recassay.core.analysis import Analysis
from recassay.core.system.display import Displayed
from recassay.reporting.section import Figure, Section, Table


@dataclass(frozen=True)
class JoyResult(Displayed):
    """How much joy each algorithm gives."""

    joy: dict[str, int]

    def to_frame(self):
        return pl.DataFrame({"algorithm": list(self.joy), "joy": list(self.joy.values())})

    def frames(self):
        return {"joy": self.to_frame()}

    def to_dict(self):
        return {"joy": self.joy}


def run(results, spec):
    return JoyResult({name: len(name) for name in results.algorithms})


def sinks(results, spec):
    raise FloatingPointError("sorrow\\nhas no bottom")


class Mute(JoyResult):
    def to_dict(self):
        raise KeyError("no words")


SORROW = Analysis("sorrow", "How deep?", "", sinks)
MUTE = Analysis("mute", "Who is silent?", "", lambda results, spec: Mute({}))
ANALYSIS = Analysis("joy", "Which algorithm gives most joy?", "Somebody 2031", run)


def sentences(result):
    return [f"{max(result.joy, key=result.joy.get)} gives most joy."]


def tables(result):
    return [Table("Joy by algorithm", ["algorithm", "joy"], sorted(result.joy.items()), notes=["Joy counts letters."])]


def picture(result, name="joy", table="joy"):
    chart = alt.Chart(alt.Data(values=result.to_frame().to_dicts())).mark_bar().encode(x="joy:Q", y="algorithm:N")
    return Figure(name, "Joy of each algorithm.", chart, table)


def figures(result):
    return [picture(result)]


def fails(result):
    raise ZeroDivisionError("no joy\\nat all")


def broken(result):
    class Chart:
        def to_dict(self, **more):
            raise RuntimeError("this chart has no specification")

    class Undrawable:
        def to_dict(self, **more):
            return {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "mark": {"type": []}, "data": 3}

    good = picture(result, "second_joy")
    return [
        Figure("unspecified", "c", Chart(), "joy"),
        Figure("undrawable", "c", Undrawable(), "joy"),
        picture(result, "leaderboard"),
        picture(result, "lost", table="sorrow"),
        "no figure",
        good,
    ]


JOY = Section(JoyResult, "Joy", "beyond accuracy", "joy", figures, sentences, tables, order=99)
SILENT = Section(JoyResult, "Silent", "beyond accuracy", "joy", lambda result: [], fails, order=100)
EMPTY = Section(JoyResult, "Empty", "beyond accuracy", "joy", lambda result: [], tables=fails, order=101)
BLIND = Section(JoyResult, "Blind", "beyond accuracy", "joy", fails, order=102)
SMEARED = Section(JoyResult, "Smeared", "cost", "joy", broken, order=103)
NO_SECTION = "words"
'''

SOUND = {"recassay.analyses": ["joy = recassay_joy:ANALYSIS"], "recassay.sections": ["joy = recassay_joy:JOY"]}
FAILING = {
    "recassay.analyses": ["joy = recassay_joy:ANALYSIS"],
    "recassay.sections": [
        "joy = recassay_joy:JOY",
        "silent = recassay_joy:SILENT",
        "empty = recassay_joy:EMPTY",
        "blind = recassay_joy:BLIND",
        "smeared = recassay_joy:SMEARED",
        "absent = recassay_joy.nowhere:SECTION",
        "words = recassay_joy:NO_SECTION",
    ],
}
FAILING_ANALYSES = {
    "recassay.analyses": [
        *SOUND["recassay.analyses"],
        "mute = recassay_joy:MUTE",
        "sorrow = recassay_joy:SORROW",
        "gone = recassay_joy.nowhere:ANALYSIS",
    ],
    "recassay.sections": SOUND["recassay.sections"],
}


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, announced: dict[str, list[str]]) -> None:
    """Put the package on the path with its entry points; of our own analyses only `rank` is left, to be quick."""
    (folder / "recassay_joy.py").write_text(MODULE)
    information = folder / "recassay_joy-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: recassay-joy\nVersion: 1.0\n")
    lines = [line for group, names in announced.items() for line in (f"[{group}]", *names)]
    (information / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(folder)
    known = {entry.name: entry for entry in entry_points(group="recassay.analyses")}
    theirs = [line.partition(" ")[0] for line in announced["recassay.analyses"]]
    monkeypatch.setattr(registry.analyses, "_announced", {name: known[name] for name in ("rank", *theirs)})
    for registered in (registry.analyses, registry.sections):
        monkeypatch.setattr(registered, "_loaded", {})
    monkeypatch.setattr(registry.sections, "_announced", None)
    monkeypatch.delitem(sys.modules, "recassay_joy", raising=False)
