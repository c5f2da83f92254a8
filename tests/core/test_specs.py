"""Specifications: what they are known by, what they refuse, and what tuning may vary."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from recassay import load_results
from recassay.core.analysis import AnalysisSpec
from recassay.core.errors import InputError, NotApplicableError, UsageError
from recassay.core.specs.external import ExternalSpec
from recassay.core.specs.search import (
    Choice,
    Limits,
    Real,
    Tunable,
    Whole,
    choice,
    defaults,
    fixed,
    in_words,
    real,
    whole,
)
from recassay.core.specs.specs import AttackSpec, ProtocolSpec, ReadSpec
from recassay.core.specs.study import Budget, ComPerSpec, OptionsSpec, RangeSpec, StudySpec, TuningSpec
from recassay.core.system import machine

PARTS = {"datasets": [{"reference": "a", "name": "a"}], "algorithms": [{"reference": "EASE", "name": "EASE"}]}


def test_what_is_asked_by_default():
    assert ProtocolSpec().model_dump() == {
        "positive_threshold": None, "min_item_interactions": 5, "min_user_interactions": 5, "filter": "once",
        "split": "global_time", "ratios": (0.8, 0.1, 0.1), "folds": 5, "fold": 0, "seed": 0, "final_fit": "train+valid",
        "task": "new", "allow_leakage": (),
    }  # fmt: skip
    assert ReadSpec().model_dump() == {
        "format": "auto", "delimiter": None, "header": None, "columns": {}, "encoding": "utf-8", "time": "auto",
        "repeated": "last", "event_weights": None, "skip_bad_rows": False,
    }  # fmt: skip
    assert TuningSpec().model_dump() == {"trials": 40, "metric": "ndcg@10", "pruning": True}
    assert Budget().model_dump() == {"seconds_per_cell": 3600.0, "memory_gb": None, "cells_per_gpu": None}
    attack = {
        "kind": "nuke", "filler": "random", "size": 0.05, "profile_length": None, "targets": 10, "selected": 5
    }  # fmt: skip
    assert AttackSpec().model_dump() == attack
    assert ComPerSpec(k=7).model_dump() == {**attack, "k": 7, "correctness": "auc", "hits": "targets"}
    assert ComPerSpec(k=7).metrics == ("auc", "coverage@7", "diversity@7")
    assert StudySpec.model_validate(PARTS).metrics == (
        "ndcg@10", "hitrate@10", "precision@10", "recall@10", "map@10", "mrr@10", "coverage@10", "diversity@10",
        "novelty@10",
    )  # fmt: skip


def test_a_protocol_is_known_by_what_has_an_effect():
    """Other hashes would make every cell of a stored study anew."""
    assert ProtocolSpec().content_hash()[:16] == "07a1074901b787cd"
    assert ProtocolSpec(window="sliding", user_share=1).content_hash() == ProtocolSpec().content_hash()
    rolling = [ProtocolSpec(split="rolling", folds=3, window=window) for window in ("growing", "sliding")]
    assert len({spec.content_hash() for spec in rolling}) == 2
    assert TuningSpec(parallel=2, seed=0).model_dump() == {**TuningSpec().model_dump(), "parallel": 2, "seed": 0}
    study = StudySpec.model_validate(PARTS)
    assert "multiverse" not in study.model_dump()
    assert "multiverse" in StudySpec.model_validate({**PARTS, "multiverse": {"axes": {}}}).model_dump()
    assert ProtocolSpec(user_share=0.5).model_dump()["user_share"] == 0.5
    assert ProtocolSpec(user_share=0.5).content_hash() != ProtocolSpec().content_hash()


@pytest.mark.parametrize(
    ("kind", "values", "message"),
    [
        (ProtocolSpec, {"ratios": (0.8, 0.1, 0.2)}, "must be three shares that sum to 1, the first above 0; correct"),
        (ProtocolSpec, {"ratios": (0, 0.5, 0.5)}, "the first above 0"),
        (ProtocolSpec, {"ratios": (1.1, -0.2, 0.1)}, "must be three shares"),
        (ProtocolSpec, {"fold": 5}, "fold 5 is not one of the 5 folds 0..4"),
        (ProtocolSpec, {"split": "rolling", "folds": 9}, "9 windows that test 10 % each leave nothing to train"),
        (ProtocolSpec, {"split": "rolling", "folds": 2, "ratios": (0.8, 0.2, 0)}, "2 windows that test 0 % each"),
        (ProtocolSpec, {"split": "kfold", "task": "repeat"}, "split 'kfold' keeps all events of a user and item"),
        (ProtocolSpec, {"split": "random", "task": "repeat"}, "split 'random' keeps all events of a user and item"),
        (ProtocolSpec, {"split": "random_per_user", "task": "repeat"}, "task = 'repeat' needs a split by time, or"),
        (ProtocolSpec, {"folds": 1}, "folds: Input should be greater than or equal to 2"),
        (ProtocolSpec, {"folds": 1001}, "folds: Input should be less than or equal to 1000"),
        (ProtocolSpec, {"fold": -1}, "fold: Input should be greater than or equal to 0"),
        (ProtocolSpec, {"min_item_interactions": 0}, "min_item_interactions: Input should be greater than or equal"),
        (ProtocolSpec, {"min_user_interactions": 0}, "min_user_interactions: Input should be greater than or equal"),
        (ProtocolSpec, {"user_share": 0}, "user_share: Input should be greater than 0"),
        (ProtocolSpec, {"user_share": 1.1}, "user_share: Input should be less than or equal to 1"),
        (ProtocolSpec, {"folds": True}, "folds: true and false are not numbers"),
        (ProtocolSpec, {"folds": "3"}, "folds: a text is not a number: leave the quotation marks out"),
        (ProtocolSpec, {"ratios": (True, 0, 0)}, "ratios: true and false are not numbers"),
        (ProtocolSpec, {"ratios": [True, 0, 0]}, "ratios: true and false are not numbers"),
        (ProtocolSpec, {"ratios": ["0.8", 0.1, 0.1]}, "ratios: a text is not a number: leave the quotation marks out"),
        (ProtocolSpec, {"ratio": 1}, "there is no option 'ratio'; did you mean 'ratios'"),
        (ProtocolSpec, {"positive_threshold": float("nan")}, "positive_threshold: Input should be a finite number"),
        (ReadSpec, {"event_weights": {"view": -1}}, "the event 'view' weighs -1; a weight is 0 or more"),
        (AttackSpec, {"size": 0}, "size: Input should be greater than 0"),
        (AttackSpec, {"size": 1.5}, "size: Input should be less than or equal to 1"),
        (AttackSpec, {"profile_length": 0}, "profile_length: Input should be greater than or equal to 1"),
        (AttackSpec, {"targets": 0}, "targets: Input should be greater than or equal to 1"),
        (AttackSpec, {"selected": 0}, "selected: Input should be greater than or equal to 1"),
        (ComPerSpec, {"k": 0}, "k: Input should be greater than or equal to 1"),
        (TuningSpec, {"seed": -1}, "seed: Input should be greater than or equal to 0"),
        (TuningSpec, {"seed": 2**63}, "seed: Input should be less than 9223372036854775808"),
        (TuningSpec, {"trials": -1}, "trials: Input should be greater than or equal to 0"),
        (TuningSpec, {"trials": 1_000_001}, "trials: Input should be less than or equal to 1000000"),
        (TuningSpec, {"parallel": 0}, "parallel: Input should be greater than or equal to 1"),
        (TuningSpec, {"parallel": 1_001}, "parallel: Input should be less than or equal to 1000"),
        (Budget, {"seconds_per_cell": 0}, "seconds_per_cell: Input should be greater than 0"),
        (Budget, {"memory_gb": 0}, "memory_gb: Input should be greater than 0"),
        (Budget, {"memory_gb": 1e10}, "memory_gb: Input should be less than or equal to 1000000000"),
        (Budget, {"cells_per_gpu": 0}, "cells_per_gpu: Input should be greater than or equal to 1"),
        (RangeSpec, {"low": 2, "high": 1}, "low = 2 is above high = 1; correct it"),
        (OptionsSpec, {"options": ()}, "options: Tuple should have at least 1 item"),
        (StudySpec, {**PARTS, "seeds": (3, 1, 2, 1, 2)}, "the seed 1 is listed twice"),
        (StudySpec, {**PARTS, "seeds": ()}, "seeds: Tuple should have at least 1 item"),
        (StudySpec, {**PARTS, "name": ""}, "name: String should have at least 1 character"),
        (StudySpec, {**PARTS, "name": "a/b"}, "name: a name has no slash, no line break and no other unprintable"),
        (StudySpec, {**PARTS, "name": "a\\b"}, "name: a name has no slash"),
        (StudySpec, {**PARTS, "name": ".."}, "name: a name has no slash"),
        (StudySpec, {**PARTS, "name": "a\nb"}, "name: a name has no slash"),
        (StudySpec, {**PARTS, "name": "n" * 201}, "name: String should have at most 200 characters"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_a_line(kind, values, message):
    with pytest.raises(UsageError) as refused:
        kind.checked(**values)
    assert message in str(refused.value)


def test_what_just_fits():
    assert ProtocolSpec(split="rolling", folds=7, ratios=(0.7, 0.2, 0.1)).folds == 7
    assert ProtocolSpec(split="user_time", task="repeat", positive_threshold="none").positive_threshold is None
    assert ReadSpec(event_weights={"view": 0}, delimiter="1").delimiter == "1"
    assert ProtocolSpec.of(None) == ProtocolSpec.of({}) == ProtocolSpec()
    assert not TuningSpec(trials=5).staged
    assert TuningSpec(trials=6).staged
    assert not TuningSpec(trials=6, pruning=False).staged
    assert ProtocolSpec(folds=1000, fold=999, min_item_interactions=1, ratios=(1, 0, 0)).fold == 999
    assert (RangeSpec(low=1, high=1).log, TuningSpec(trials=0, seed=2**63 - 1).trials) == (None, 0)
    study = StudySpec.checked(**PARTS, name=" a.b ", seeds=(2, 1))
    assert (study.name, study.seeds, study.base, study.comper) == (" a.b ", (2, 1), ".", None)
    assert StudySpec.of(study) is study
    assert OptionsSpec(options=("1", 2, True)).options == ("1", 2, True)
    assert (AttackSpec(size=1, profile_length=1).size, Budget(memory_gb=1e9).memory_gb) == (1, 1e9)


class Model(Tunable):
    name = "Model"
    factors: int = whole(16, 512, default=64, log=True)
    layers: int = whole(0, 3, default=1, step=1)
    width: int = whole(32, 256, default=64, step=32, least=8)
    rounds: int = whole(2, 9, default=3)
    depth: int = whole(1, 4, default=2)
    reg: float = real(1e-3, 10, default=0.1, log=True)
    shift: float = real(-1, 1, default=0.0)
    share: float = real(0.1, 0.9, default=0.5, above=0, most=1)
    loss: str = choice(("bpr", "warp"), default="bpr", among=("bpr", "warp", "hinge"))
    power: float = choice((0.5, 1, 2), default=1)
    biased: bool = choice((True, False), default=True)
    device: str = fixed("cpu")
    seconds: float | None = fixed(None, above=0)


class Narrow(Model):
    name = "Narrow"
    factors: int = whole(4, 8, default=4)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"factors": 0}, "Model cannot work with factors = 0; give a number that is at least 1"),
        ({"rounds": 0}, "Model cannot work with rounds = 0; give a number that is at least 1"),
        ({"depth": -1}, "give a number that is at least 0"),
        ({"width": 4}, "Model cannot work with width = 4; give a number that is at least 8"),
        ({"layers": -1}, "Model cannot work with layers = -1; give a number that is at least 0"),
        ({"reg": -0.1}, "give a number that is at least 0"),
        ({"share": 0}, "Model cannot work with share = 0; give a number that is above 0 and at most 1"),
        ({"share": 1.5}, "above 0 and at most 1"),
        ({"share": "half"}, "Model cannot work with share = half"),
        ({"loss": "wrap"}, "Model has no loss 'wrap'; did you mean 'warp'"),
        ({"seconds": 0}, "Model cannot work with seconds = 0; give a number that is above 0"),
    ],
)
def test_parameters_beyond_their_limits_are_refused(values, message):
    with pytest.raises(UsageError) as refused:
        Model(**values)
    assert message in str(refused.value)


def test_parameters_within_their_limits_and_their_ranges():
    Model(factors=1, rounds=1, depth=0, layers=0, reg=0, shift=-5, share=1, loss="hinge", seconds=None, device="cuda")
    assert list(Model.space) == [
        "factors",
        "layers",
        "width",
        "rounds",
        "depth",
        "reg",
        "shift",
        "share",
        "loss",
        "power",
        "biased",
    ]
    assert {name: in_words(parameter) for name, parameter in Model.space.items()} == {
        "factors": "16 to 512, log scale", "layers": "0 to 3", "width": "32 to 256 in steps of 32",
        "rounds": "2 to 9", "depth": "1 to 4",
        "reg": "0.001 to 10, log scale", "shift": "-1 to 1", "share": "0.1 to 0.9", "loss": "bpr or warp",
        "power": "0.5, 1 or 2", "biased": "True or False",
    }  # fmt: skip
    assert Narrow.space["factors"] == Whole(4, 8, 4)
    assert list(Narrow.space) == list(Model.space)
    assert (Narrow().factors, Narrow().reg, Narrow.limits["share"]) == (4, 0.1, Limits(above=0, most=1))
    assert defaults(Narrow.space) == {
        "factors": 4, "layers": 1, "width": 64, "rounds": 3, "depth": 2, "reg": 0.1, "shift": 0.0, "share": 0.5,
        "loss": "bpr", "power": 1, "biased": True,
    }  # fmt: skip


EXTERNAL = """
name = "Other"
source = "a paper"
python = "bin/python"
script = "other.py"
requires = ["implicit==0.7.3"]

[space.factors]
default = 8
low = 4
high = 16
log = true

[space.rate]
default = 0.5
low = 0
high = 1

[space.loss]
default = "bpr"
options = ["bpr", "warp"]
"""


def test_an_algorithm_of_another_environment(tmp_path):
    file = tmp_path / "other.toml"
    file.write_text(EXTERNAL)
    with pytest.raises(InputError, match=r"there is no script 'other.py' beside it"):
        ExternalSpec.read(file)
    (tmp_path / "other.py").write_text("")
    for end in (4, 16):
        file.write_text(EXTERNAL.replace("default = 8", f"default = {end}"))
        assert ExternalSpec.read(file).search_space()["factors"] == Whole(4, 16, end, True)
    file.write_text(EXTERNAL + "#" * (1 << 20))
    with pytest.raises(InputError, match="is too large for a description"):
        ExternalSpec.read(file)
    file.write_text(EXTERNAL)
    spec = ExternalSpec.read(file)
    assert (spec.interpreter, spec.script_path) == (tmp_path / "bin/python", tmp_path / "other.py")
    assert spec.search_space() == {
        "factors": Whole(4, 16, 8, True), "rate": Real(0.0, 1.0, 0.5), "loss": Choice(("bpr", "warp"), "bpr")
    }  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("default = 8", "default = 17", "other.toml: space.factors: 4 to 16 with the default 17 is not a range"),
        ("default = 8", "default = 3", "4 to 16 with the default 3 is not a range"),
        ("low = 4", "low = 0", "0 to 16 with the default 8 is not a range"),
        ("high = 16\n", "", "space.factors: has neither options nor a range"),
        ("low = 4\n", "", "space.factors: has neither options nor a range; give low, high and a default number"),
        ("default = 0.5", 'default = "x"', "space.rate: has neither options nor a range"),
        ('default = "bpr"', 'default = "x"', "space.loss: default 'x' is not among the options"),
        ("implicit==0.7.3", "implicit>=0.7", "other.toml: requires.0: String should match pattern"),
        ('name = "Other"', 'name = ""', "other.toml: name: String should have at least 1 character"),
        ("[space.rate]", "[space.rate", "cannot be read as TOML"),
    ],
)
def test_mistakes_in_its_description(tmp_path, before, after, message):
    (tmp_path / "other.py").write_text("")
    file = tmp_path / "other.toml"
    file.write_text(EXTERNAL.replace(before, after))
    with pytest.raises(InputError) as refused:
        ExternalSpec.read(file)
    assert message in str(refused.value)


def test_what_an_analysis_is_asked():
    results = load_results(
        pl.DataFrame(
            {"algorithm": ["A", "A", "B", "C"], "dataset": ["x", "y", "x", "x"], "metric": "joy", "value": [1, 2, 3, 4]}
        )
    )
    spec = AnalysisSpec("joy", missing="worst", higher_is_better=False, evidence={"users": lambda: 7})
    assert (spec.seed, spec.alpha, spec.draws, replace(spec, replicates=3).draws) == (0, 0.05, 10_000, 3)
    matrix = spec.matrix(results)
    assert (matrix.higher_is_better, matrix.values.tolist()) == (False, [[1, 2], [3, 2], [4, 2]])
    alone = replace(spec, missing="drop-datasets")
    assert alone.matrix(results, least_datasets=1).datasets == ("x",)
    with pytest.raises(NotApplicableError, match="only one dataset has values for joy"):
        alone.matrix(results)
    assert (spec.known("users"), spec.required("users"), spec.known("strata")) == (7, 7, None)
    with pytest.raises(NotApplicableError, match="popularity strata need a study's held-out interactions and lists"):
        spec.required("strata")
    with pytest.raises(NotApplicableError, match="needs moods, which these results do not have"):
        spec.required("moods")


@pytest.mark.parametrize(("limit", "memory"), [("max\n", 4_096_000), ("1000\n", 1000), ("9999999999\n", 4_096_000)])
def test_a_container_limits_the_memory(monkeypatch, limit, memory):
    monkeypatch.setattr(machine.os, "sysconf", {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}.__getitem__)
    monkeypatch.setattr(machine.Path, "read_text", lambda *_: limit)
    assert machine.machine_bytes() == memory


def test_memory_that_nobody_tells_is_not_known(monkeypatch):
    def refuses(name):
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr(machine.os, "sysconf", refuses)
    assert machine.machine_bytes() is None


def test_processors_are_counted_where_the_system_tells_no_more(monkeypatch):
    monkeypatch.delenv("RECASSAY_CORES", raising=False)
    monkeypatch.delattr(machine.os, "sched_getaffinity", raising=False)
    for there, cores in ((7, 7), (None, 1)):
        monkeypatch.setattr(machine.os, "cpu_count", lambda there=there: there)
        assert machine.usable_cores() == cores


def test_a_digit_in_place_of_a_word_is_answered_with_the_words():
    with pytest.raises(UsageError, match="format: Input should be 'auto', 'csv'"):
        ReadSpec.checked(format="1")
