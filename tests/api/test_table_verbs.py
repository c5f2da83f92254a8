"""Verbs on a table pass their options on by name: what a fit takes, its verb offers with the same default."""

from __future__ import annotations

import inspect

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.analysis.compare.fit import compare_algorithms
from recassay.analysis.glicko.fit import rate_algorithms
from recassay.analysis.model.fit import fit_model
from recassay.analysis.plan.fit import plan_study
from recassay.analysis.profiles import fit_profiles
from recassay.analysis.rank.fit import rank_algorithms
from recassay.analysis.ratings.fit import rate_by_pairs
from recassay.analysis.stress.fit import stress_rankings

READING = {"results", "metric", "wide", "transpose", "missing", "higher_is_better"}
FITS = {
    "rank": rank_algorithms,
    "compare": compare_algorithms,
    "ratings": rate_by_pairs,
    "profiles": fit_profiles,
    "stress": stress_rankings,
    "glicko": rate_algorithms,
    "model": fit_model,
    "plan": plan_study,
}


@pytest.mark.parametrize("verb", FITS)
def test_a_verb_offers_what_its_fit_takes(verb):
    offered = inspect.signature(getattr(recassay, verb)).parameters
    taken = inspect.signature(FITS[verb]).parameters
    passed_on = {name: parameter.default for name, parameter in offered.items() if name not in {*READING, "metrics"}}
    assert set(passed_on) <= set(taken)
    different = {
        name for name, default in passed_on.items() if taken[name].default not in (default, inspect.Parameter.empty)
    }
    assert different <= {"draws", "tau", "orders"}, "None there means the default of the fit"


@pytest.mark.parametrize("verb", ["rank", "compare", "ratings", "profiles", "glicko", "beta_irt"])
def test_every_verb_on_a_table_can_be_told_its_orientation(verb):
    values = np.random.default_rng(0).random((3, 8))
    frame = pl.DataFrame({"": ["p", "q", "r"]} | {f"x{j}": values[:, j] for j in range(8)})
    found = getattr(recassay, verb)(frame, "accuracy", wide=True)
    assert set(found.algorithms) == {"p", "q", "r"}
    assert len(getattr(recassay, verb)(frame, "accuracy", transpose=True).algorithms) == 8


LONG_ONLY = {
    "users",
    "correlations",
    "comper",
    "multiverse",
    "certify",
    "strata",
    "user_irt",
    "seal",
    "results",
    "serve",
}
"""What they ask stands in columns of a long table (users, several metrics, choices), or in a study."""


def test_every_verb_that_can_read_a_wide_table_takes_its_orientation():
    verbs = {name for name in dir(recassay) if callable(getattr(recassay, name)) and name[0].islower()}
    reading = {
        name
        for name in verbs
        if {"results", "results_or_runner"} & set(inspect.signature(getattr(recassay, name)).parameters)
        and "metric" in str(inspect.signature(getattr(recassay, name)))
    }
    without = {
        name
        for name in reading
        if not {"wide", "transpose"} <= set(inspect.signature(getattr(recassay, name)).parameters)
    }
    assert {"analyze", "report", "paper", "select", "adaptive", "advise"} <= reading - without
    assert without <= LONG_ONLY


def test_analyze_reads_a_wide_frame_by_its_orientation(monkeypatch):
    monkeypatch.setattr("recassay.api.publish.analyze.run_analyses", lambda table, spec, **more: ({}, {}))
    frame = pl.DataFrame({"": ["p", "q", "r"]} | {f"x{j}": np.random.default_rng(j).random(3) for j in range(8)})
    assert recassay.analyze(frame, "accuracy", transpose=True).results.datasets == ["p", "q", "r"]
