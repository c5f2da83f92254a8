"""The verb `advise`: one's own dataset is described as the benchmark's datasets were, after the same filter."""

from __future__ import annotations

import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.api.advise import _command, _protocol, _study, _trials
from recassay.core.specs.specs import ProtocolSpec, ReadSpec
from support.benchmarks import benchmark, characteristics, fading, long_frame
from support.stores import DoneCell, write_store

NAMES = ("Nu", "Ni", "Nr", "Density")


@pytest.fixture(scope="module")
def asked():
    table = characteristics(10, names=NAMES).to_frame()
    results = long_frame(benchmark(fading(5, 10)))
    return lambda data, **more: recassay.advise(data, results, "ndcg@10", characteristics=table, **more).characteristics


# Eight users of six items each, one item that two of them know, and one user with a single item.
OFTEN = [(f"u{user}", f"i{item}", 5.0) for user in range(8) for item in range(6)]
SELDOM = [("u0", "rare", 5.0), ("u1", "rare", 5.0), ("stranger", "i0", 5.0)]
LOW = [(f"u{user}", "disliked", 1.0) for user in range(8)]


def frame(rows):
    return pl.DataFrame(rows, schema=["user", "item", "rating"], orient="row")


def test_what_is_seldom_leaves_before_the_dataset_is_described(asked):
    own = asked(frame(OFTEN + SELDOM))
    assert (own["Nu"], own["Ni"], own["Nr"], own["Density"]) == (8, 6, 48, 1)
    assert own == pytest.approx(asked(frame(OFTEN)), nan_ok=True)


def test_the_filter_and_the_threshold_can_be_said(asked):
    whole = asked(frame(OFTEN + SELDOM), protocol={"filter": "none"})
    assert (whole["Nu"], whole["Ni"], whole["Nr"]) == (9, 7, 51)
    lower = asked(frame(OFTEN + SELDOM), protocol={"min_item_interactions": 2})
    assert (lower["Nu"], lower["Ni"], lower["Nr"]) == (8, 7, 50)
    liked = asked(frame(OFTEN + LOW), protocol={"positive_threshold": 3})
    assert (liked["Ni"], liked["Nr"]) == (6, 48)


def test_by_default_the_filter_is_that_of_the_study(tmp_path):
    matrix = benchmark(fading(5, 10))
    cells = [
        DoneCell(algorithm, dataset, [matrix.values[i, j]])
        for i, algorithm in enumerate(matrix.algorithms)
        for j, dataset in enumerate(matrix.datasets)
    ]
    protocol = {"min_item_interactions": 2, "min_user_interactions": 1}
    write_store(tmp_path / "study", "ndcg@10", cells, {"study": {"protocol": protocol}})
    table = characteristics(10, names=NAMES).to_frame()
    own = recassay.advise(frame(OFTEN + SELDOM), tmp_path / "study", characteristics=table).characteristics
    assert (own["Nu"], own["Ni"], own["Nr"]) == (9, 7, 51)
    asked = {"characteristics": table, "protocol": {"min_item_interactions": 3}}
    own = recassay.advise(frame(OFTEN + SELDOM), tmp_path / "study", **asked).characteristics
    assert (own["Nu"], own["Ni"], own["Nr"]) == (9, 6, 49), "what is said goes before what the study says"
    loaded = [recassay.load_results(tmp_path / "study")]
    assert recassay.advise(frame(OFTEN + SELDOM), loaded, characteristics=table).characteristics["Nr"] == 51


def test_weights_that_are_no_ratings_meet_no_threshold():
    """Events of weight 1 to 3 all count; ratings up to 5 count from the benchmark's threshold on."""
    events = frame([(user, item, 1.0 + (n % 3)) for n, (user, item, _) in enumerate(OFTEN)])
    assert recassay.advise(events).characteristics["Nr"] == 48
    rated = recassay.advise(frame(OFTEN + LOW))
    assert rated.characteristics["Nr"] == 48
    assert any("Ratings of 3.5 or more count" in note for note in rated.warnings())
    assert 'split = "random"' in rated.study
    timed = frame(OFTEN).with_row_index("timestamp", offset=1_600_000_000)
    assert 'split = "global_time"' in recassay.advise(timed).study


@pytest.mark.parametrize(("timed", "threshold"), [(True, 3.5), (False, None)])
def test_the_study_to_run_next_has_the_first_four_that_there_are(timed, threshold):
    names = ("Random", "EASE", "Mine", "ALS", "MostPop", "BPR", "ItemKNN", "SLIM")
    advice = SimpleNamespace(algorithms=names, order=lambda: [4, 0, 3, 2, 1, 7, 5, 6], metric="recall@10")
    spec = ProtocolSpec.checked(positive_threshold=threshold, min_item_interactions=2, min_user_interactions=3)
    study = tomllib.loads(_study(advice, "my films.csv" if timed else frame(OFTEN), spec, timed))
    threshold_of = {} if threshold is None else {"positive_threshold": 3.5}
    assert study == {
        "study": {
            "name": "next", "seed": 1, "datasets": ["my films.csv" if timed else "mine.parquet"],
            "algorithms": ["ALS", "EASE", "SLIM", "BPR", "MostPop"],
            "metrics": ["recall@10", "hitrate@10", "coverage@10"],
        },
        "protocol": {
            **threshold_of, "split": "global_time" if timed else "random", "filter": spec.filter,
            "min_item_interactions": 2, "min_user_interactions": 3,
        },
        "tuning": {"trials": 40, "metric": "recall@10"},
    }  # fmt: skip


def short_list(**seconds: float) -> SimpleNamespace:
    names = ("EASE", "ALS", "MostPop")
    cost = tuple(SimpleNamespace(algorithm=name, seconds=taken) for name, taken in seconds.items())
    return SimpleNamespace(algorithms=names, order=lambda: [0, 1, 2], metric="ndcg@10", cost=cost)


def test_the_command_to_paste_runs_the_short_list_within_a_budget(tmp_path):
    assert _trials(short_list(EASE=1.0, ALS=2.0)) == (40, 123.0)
    assert _trials(short_list(EASE=40.0, ALS=20.0)) == (14, 900.0)
    assert _trials(short_list(EASE=4000.0, ALS=20.0)) == (5, 4020.0 * 6)
    assert _trials(short_list(EASE=1.0)) == (40, None), "nothing is known of ALS"
    read = ReadSpec(columns={"user": "who is it", "item": "what"})
    said = _command(short_list(), Path("my log.csv"), ProtocolSpec(), False, trials=7, read=read)
    assert said == (
        "recassay run --datasets 'my log.csv' --column 'user=who is it' --column item=what --algorithms "
        "EASE,ALS,MostPop --split random --trials 7 --out study"
    )
    rated = ProtocolSpec(positive_threshold=3.5)
    timed = _command(short_list(), "films", rated, True, trials=40, read=ReadSpec())
    assert timed == (
        "recassay run --datasets films --algorithms EASE,ALS,MostPop --threshold 3.5 --trials 40 --out study"
    )
    for dataset, spec, own in (
        (frame(OFTEN), ProtocolSpec(), ReadSpec()),
        ("films", ProtocolSpec(filter="core"), ReadSpec()),
        ("films", ProtocolSpec(), ReadSpec(encoding="latin-1")),
    ):
        assert _command(short_list(), dataset, spec, True, trials=40, read=own) == ""


def test_the_study_to_run_next_names_the_columns(tmp_path):
    columns = {"user": "who", "item": "what"}
    written = _study(short_list(), tmp_path / "log.csv", ProtocolSpec(), False, trials=9, columns=columns)
    (tmp_path / "next.toml").write_text(written)
    (tmp_path / "log.csv").write_text("who,what\n1,2\n")
    study = recassay.load_study(tmp_path / "next.toml")
    assert (study.datasets[0].name, dict(study.datasets[0].read.columns)) == ("log", columns)
    assert study.tuning.trials == 9


AS_BENCHMARK = "Ratings of 3.5 or more count, as in the benchmark; `positive_threshold` changes that."
EVERY = "Its events have weights, and no threshold was given: events of every weight count."


@pytest.mark.parametrize(
    ("published", "weights", "given", "threshold", "notes"),
    [
        (3.5, [1.0, 5.0], {}, 3.5, (AS_BENCHMARK,)),
        (3.5, [1.0, 3.5], {}, 3.5, (AS_BENCHMARK,)),
        (3.5, [1.0, 3.0], {}, None, (EVERY,)),
        (3.5, [1.0, 10.0], {}, None, (EVERY,)),
        (3.5, [1.0, 5.0], {"positive_threshold": 2.0}, 2.0, ()),
        (3.5, None, {}, None, ()),
        (None, [1.0, 5.0], {}, None, (EVERY,)),
    ],
)
def test_the_threshold_is_that_of_the_benchmark_where_ratings_are_like_its(published, weights, given, threshold, notes):
    data = SimpleNamespace(weight=None if weights is None else np.array(weights))
    table = None if published is None else SimpleNamespace(positive_threshold=published)
    spec, said = _protocol(None, ProtocolSpec(**given), table, data)
    assert (spec.positive_threshold, said) == (threshold, notes)


def test_advice_is_handed_all_that_it_is_asked(monkeypatch):
    heard = {}
    advice = recassay.advise(frame(OFTEN))

    def advised(*given, **named):
        heard.update(named, name=given[0], characteristics=given[3])
        return advice

    monkeypatch.setattr("recassay.api.advise.advise_for", advised)
    table = characteristics(10, names=NAMES).to_frame()
    results = long_frame(benchmark(fading(5, 10)))
    recassay.advise(frame(OFTEN), results, "ndcg@10", characteristics=table, k=3, confidence=0.6, seed=7)
    assert {name: heard[name] for name in ("k", "confidence", "seed", "evidence")} == {
        "k": 3, "confidence": 0.6, "seed": 7, "evidence": "",
    }  # fmt: skip
    assert heard["characteristics"].to_frame().equals(table)
    told, *notes = heard["notes"]
    assert "user from " in told
    assert notes == [EVERY]
    assert len(heard["results"].algorithms) == 5
    recassay.advise(frame(OFTEN))
    assert ". Its protocol: " in heard["evidence"]
    with pytest.raises(recassay.UsageError, match="is a results table, and advice is about a dataset"):
        recassay.advise(results, results, "ndcg@10", characteristics=table)
