"""Studies with a [multiverse]: what is planned, what is shared, what is refused, and what the analysis sees of it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.api.study.studies import adaptive_standing, make_study
from recassay.core.errors import InputError, UsageError
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.specs.study import MultiverseSpec
from recassay.recommenders.plan import plan
from recassay.recommenders.price import _stored as stored_seconds
from recassay.recommenders.price import price
from recassay.recommenders.study import run_study
from recassay.recommenders.study_file import load_study
from recassay.recommenders.universes import Universe, _checked, _label, universes
from recassay.store.store import Store

SPLITS = ["global_time", "random", "rolling"]
pytestmark = pytest.mark.usefixtures("in_process")


def study(multiverse, *, trials=0, **more):
    more = {"algorithms": ["MostPop", "ItemKNN"], "metrics": ["ndcg@10", "recall@5"], **more}
    return make_study(["synthetic:dense-small"], trials=trials, multiverse=multiverse, **more)


def test_equal_splits_are_shared_between_universes():
    spec = study(
        {"split": SPLITS, "split_seed": [0, 1], "ratios": [[0.8, 0.1, 0.1], [0.6, 0.2, 0.2]]}, protocol={"folds": 3}
    )
    planned = plan(spec)
    assert len(universes(spec)) == 12
    # 2 ratios x (time, random with 2 seeds, 3 windows) x 2 algorithms; the seed does not matter for splits by time
    assert len(planned.splits()) == 2 * (1 + 2 + 3)
    assert len(planned.cells) == 24
    assert planned.price().startswith("12 universes, each with 2 metrics: 24 cells (16 more are shared), 12 splits")
    first = [cell for cell in planned.cells if cell.universe == 0]
    assert {cell.spec.split.protocol.split for cell in first} == {"global_time"}
    assert len(first) == 2


def test_rules_exclude_universes_datasets_and_algorithms():
    rules = [{"split": "random", "min_interactions": [5, 10]}, {"split": "rolling", "algorithm": "MostPop"}]
    spec = study({"split": SPLITS, "min_interactions": [0, 5, 10], "exclude": rules}, protocol={"folds": 2})
    found = universes(spec)
    assert len(found) == 7
    assert not any(one.labels["split"] == "random" and one.labels["min_interactions"] != "0" for one in found)
    assert found[0].study.protocol.min_user_interactions == 1
    rolling = {cell.algorithm.name for cell in plan(spec).cells if cell.spec.split.protocol.split == "rolling"}
    assert rolling == {"ItemKNN"}


def test_seeds_are_a_design_and_share_their_trials():
    spec = study({"tuning_seed": [1, 2], "fit_seed": [1, 2, 3]}, trials=4, algorithms=["ALS"])
    cells = plan(spec).cells
    assert len(cells) == 6
    assert len({cell.spec.tuning_id for cell in cells}) == 2
    assert {(cell.spec.search_seed, cell.spec.seed) for cell in cells} == {(t, f) for t in (1, 2) for f in (1, 2, 3)}
    alone = plan(study({"fit_seed": [5, 6]}, trials=4, algorithms=["ALS"])).cells
    assert len({cell.spec.tuning_id for cell in alone}) == 1  # what varies is the final fit
    named = study({"fit_seed": [5, 6]}, trials=4, algorithms=["ALS"])
    named = named.model_copy(update={"tuning": named.tuning.model_copy(update={"seed": 9})})
    assert {(cell.spec.search_seed, cell.spec.seed) for cell in plan(named).cells} == {(9, 5), (9, 6)}
    seeds = plan(study({"split": SPLITS[:2]}, trials=4, algorithms=["ALS"], seed=[3, 4])).cells
    assert {(cell.spec.search_seed, cell.spec.seed) for cell in seeds} == {(3, 3), (4, 4)}


def test_a_universe_runs_all_folds_unless_the_study_names_one_of_the_same_split():
    def folds(multiverse, **protocol):
        spec = study(multiverse, algorithms=["MostPop"], protocol=protocol)
        return [(cell.spec.split.protocol.split, cell.spec.fold) for cell in plan(spec).cells]

    least = {"min_interactions": [0, 5]}
    assert folds(least, split="kfold", folds=3, fold=1) == [("kfold", 1)] * 2
    assert folds(least, split="kfold", folds=2) == [("kfold", 0), ("kfold", 1)] * 2
    both = {"split": ["kfold", "rolling"]}
    assert folds(both, folds=2) == [("kfold", 0), ("kfold", 1), ("rolling", 0), ("rolling", 1)]
    named = folds(both, split="kfold", folds=2, fold=1)
    assert named == [("kfold", 1), ("rolling", 0), ("rolling", 1)]


def test_a_dataset_with_a_split_of_its_own_keeps_its_folds():
    own = {"dense-small": {"split": "kfold", "folds": 3}}
    spec = study({"min_interactions": [0, 5]}, algorithms=["MostPop"], dataset_settings=own)
    assert [cell.spec.fold for cell in plan(spec).cells] == [0, 1, 2] * 2
    (dataset,) = study({"split": ["kfold", "random"]}, protocol={"split": "kfold", "folds": 3}).datasets
    assert dataset.folds == (0, 1, 2)
    found = universes(study({"split": ["kfold", "random"]}, protocol={"split": "kfold", "folds": 3}))
    assert [universe.study.datasets[0].folds for universe in found] == [None, None]


def test_the_seed_of_the_search_is_the_studys_own_where_the_final_fit_varies():
    spec = study({"fit_seed": [5, 6]}, trials=4, algorithms=["ALS"], seed=3)
    assert {cell.spec.search_seed for cell in plan(spec).cells} == {3}
    stated = spec.model_copy(update={"tuning": spec.tuning.model_copy(update={"seed": 8})})
    assert {cell.spec.search_seed for cell in plan(stated).cells} == {8}
    objectives = study({"tuning_metric": ["recall@5", "ndcg@10"], "trials": [2, 3]}, trials=4)
    found = {(u.study.tuning.metric, u.study.tuning.trials) for u in universes(objectives)}
    assert found == {(metric, trials) for metric in ("recall@5", "ndcg@10") for trials in (2, 3)}


def test_a_rule_may_name_several_choices_and_a_dataset():
    rules = [{"min_interactions": [5, 10], "dataset": "few-items"}]
    spec = make_study(["synthetic:dense-small", "synthetic:few-items"], ["MostPop"], trials=0,
                      multiverse={"min_interactions": [0, 5, 10], "exclude": rules})  # fmt: skip
    assert [(u.has("dense-small", "MostPop"), u.has("few-items", "MostPop")) for u in universes(spec)] == [
        (True, True), (True, False), (True, False)
    ]  # fmt: skip
    assert len(plan(spec).cells) == 4


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"splitt": ["random", "kfold"]}, r"multiverse.splitt: there is no such choice; did you mean 'split'"),
        ({"split": ["random"]}, "has not two different choices"),
        ({"split": ["random", "random"]}, "has not two different choices"),
        ({"seed": [1, 2]}, "say split_seed, tuning_seed or fit_seed"),
        ({"metric": ["ndcg@10", "recall@10"]}, "list all in study.metrics|list them in study.metrics"),
        ({"split": "random"}, "is not a list"),
        ({"split": ["random", "wild"]}, "split = wild: split"),
        ({"split": SPLITS, "task": ["new", "repeat"]}, "exclude this combination"),
        ({"missing": ["worst", "best"]}, "there is no 'best'"),
        ({"split": SPLITS, "exclude": [{"core": 5}]}, "'core' is not a choice that varies"),
        ({"split": SPLITS, "exclude": [{"split": "kfold"}]}, "split is never 'kfold'"),
        ({"split": SPLITS, "exclude": "none"}, "is not a list of rules"),
        ({"split": SPLITS, "exclude": [{}]}, "is not a list of rules"),
        ({"split": SPLITS, "exclude": [{"split": SPLITS}]}, "leaves no universe"),
        ({}, "lists no choice"),
        ({"split_seed": list(range(500)), "fit_seed": list(range(500))}, "250,000 combinations"),
    ],
    ids=str,
)
def test_bad_choices_are_refused_in_words(said, words):
    with pytest.raises((InputError, UsageError), match=words):
        study(said)


def test_a_hundred_thousand_combinations_are_not_too_many():
    axes = {"split_seed": tuple(range(1000)), "fit_seed": tuple(range(100))}
    assert _checked(MultiverseSpec(axes=axes)) == axes
    with pytest.raises(UsageError, match=r"multiverse has 101,000 combinations; list fewer: 100,000 at most"):
        _checked(MultiverseSpec(axes={**axes, "fit_seed": tuple(range(101))}))


def test_a_mistake_in_a_file_has_its_line(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text('[study]\ndatasets = ["a"]\nalgorithms = ["EASE"]\n[multiverse]\ntrials = [0]\n', encoding="utf-8")
    with pytest.raises(
        InputError, match=r"study.toml, line 5: multiverse.trials = \[0\] has not two different choices"
    ):
        load_study(path)


def test_a_study_runs_resumes_and_is_analysed_over_its_universes(tmp_path):
    choices = {
        "split": SPLITS,
        "min_interactions": [5, 10],
        "split_seed": [0, 1],
        "missing": ["drop-datasets", "worst"],
    }
    spec = study(choices, metrics=["ndcg@10"], protocol={"folds": 3}, algorithms=["MostPop", "Random"])
    told = []
    record = run_study(spec, tmp_path / "study", workers=2, progress=told.append)
    assert not record.failed
    assert told[0].said == f"{plan(spec).price()}; the time is not known before cells have run"
    assert record.ran == len(plan(spec).cells) == 2 * 2 * (1 + 2 + 3)
    assert run_study(spec, tmp_path / "study", workers=1).ran == 0
    with Store.open(tmp_path / "study") as store:
        assert store.status().done == record.ran
        assert len(store.cells()) == 2  # other commands judge the first universe
        assert store.results().frame.filter(metric="ndcg@10").height == 2
    result = recassay.multiverse(tmp_path / "study")
    assert list(result.axes) == ["split", "min_interactions", "split_seed", "missing"]
    # The filter drops nobody, no cell is missing, and only the random split depends on its seed.
    assert result.universes == 4
    assert "20 of 24 universes have the same numbers as another: they count once." in result.notes
    assert result.drift is not None
    assert (result.drift.windows, result.drift.datasets) == (3, 1)
    assert [seed.seed for seed in result.seeds] == ["split_seed"]
    frame = result.universes_frame()
    same = frame.filter(pl.col("split") == "global_time").get_column("mean_rank MostPop")
    assert same.n_unique() == 1


def test_the_price_is_told_in_time_by_cells_that_ran_or_by_published_times(tmp_path, monkeypatch):
    """Times that are known are added up: of a fit, for every fit that is not yet done, a shared search once."""
    rows = [
        {"algorithm": name, "dataset": data, "metric": metric, "value": value}
        for name, data in product(("MostPop", "ItemKNN"), ("dense-small", "other"))
        for metric, value in (("seconds_fit", 400.0), ("seconds_predict", 200.0))
    ]
    published = recassay.load_results(pl.DataFrame(rows))
    monkeypatch.setattr("recassay.recommenders.price.published_results", lambda name: published)
    planned = plan(study({"split": SPLITS[:2], "fit_seed": [1, 2]}, trials=4))
    assert (len(planned.cells), len({cell.spec.tuning_id for cell in planned.cells})) == (8, 4)
    # 4 searches of 4 trials and 8 last fits, each of 600 seconds
    assert price(planned, tmp_path / "new").endswith(
        "; about 4.0 h of one process by published times of published:open"
    )
    small, large = study({"split": SPLITS[:2]}), study({"split": SPLITS[:2], "split_seed": [0, 1]})
    run_study(small, tmp_path / "study", workers=2)
    with Store.open(tmp_path / "study") as store:
        seconds = {cell.algorithm: cell.seconds for cell in store.cells(every=True)}
    assert set(seconds) == {"MostPop", "ItemKNN"}
    told = price(plan(large), tmp_path / "study")
    assert told.endswith("s of one process by 4 cells that ran here")
    assert len(plan(large).cells) == 6
    with Store.open(tmp_path / "study") as store:
        cells = store.cells(every=True)
    tuned = {**cells[0].spec, "tuning": {**cells[0].spec["tuning"], "trials": 4}}
    for took in (61.0, 500.0):  # with the trials of another cell, and with trials of its own
        own = [replace(cell, seconds=took, seconds_fit=50.0, seconds_predict=10.0, spec=tuned) for cell in cells]
        with monkeypatch.context() as patch:
            patch.setattr(Store, "cells", lambda self, own=own, **_: own)
            seconds, _, _ = stored_seconds(tmp_path / "study", ("MostPop",), ("dense-small",))
        assert seconds.tolist() == [[60.0 if took == 61.0 else 100.0]]
    known = np.array([[60.0, np.nan], [60.0, np.nan]])
    two = plan(make_study(["synthetic:dense-small", "synthetic:few-items"], ["MostPop", "ItemKNN"], trials=0,
                          metrics=["ndcg@10"], multiverse={"split": SPLITS[:2]}))  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr("recassay.recommenders.price._stored", lambda *_: (known, 1, {two.cells[0].id}))
        # three of the four cells on dense-small are to come; the size of few-items is not known
        assert price(two, tmp_path / "new").endswith(
            "; about 3 min of one process by 1 cell that ran here; not known on few-items"
        )
        few = {cell.spec.split.id for cell in two.cells if cell.dataset.name == "few-items"}
        patch.setattr("recassay.recommenders.price.split_size", lambda _, split: 1000.0 if split in few else None)
        assert price(two, tmp_path / "new").endswith("; not known on few-items"), "that of dense-small is not known"
        patch.setattr("recassay.recommenders.price.split_size", lambda folder, split: 1000.0)
        assert "not known" not in price(two, tmp_path / "new"), "it takes as long as a dataset of its size"
    with monkeypatch.context() as patch:
        patch.setattr("recassay.recommenders.price._published", lambda *_: np.full((2, 2), np.nan))
        patch.setattr("recassay.recommenders.price.split_size", lambda folder, split: 1000.0)
        told = price(two, tmp_path / "new")
        assert told.endswith("; the time is not known before cells have run"), "sizes alone tell no time"
    monkeypatch.setattr("recassay.recommenders.price._stored", lambda *_: (np.array([[60.0], [30.0]]), 4, set()))
    assert "; about 4 min of one process by 4 cells" in price(plan(large), tmp_path / "study")


def test_splits_that_the_audit_refused_are_marked_as_leaky(tmp_path):
    from recassay.evidence.universes import universe_rows

    spec = study({"min_interactions": [5, 10]}, protocol={"split": "random"})
    run_study(spec, tmp_path / "study", workers=2)
    assert set(universe_rows(tmp_path / "study").get_column("leaky")) == {"no"}


def test_an_adaptive_run_stops_when_the_shares_are_known(tmp_path, cli):
    spec = study({"split_seed": list(range(12))}, protocol={"split": "random"}, algorithms=["MostPop", "Random"])
    record = recassay.run(spec, tmp_path / "study", workers=2, adaptive=True)
    assert record.planned == 24
    assert record.done < 24
    found = recassay.certify(tmp_path / "study")
    assert found.complete
    assert found.claims[0].statement == "MostPop is best"
    assert found.claims[0].share > 0.95
    assert found.run == record.done // 2
    assert recassay.run(spec, tmp_path / "study", workers=1, adaptive=True).ran == 0
    assert adaptive_standing(tmp_path / "study").startswith("MostPop is best in about")
    shown = " ".join(cli("status", tmp_path / "study").out.split())
    assert "MostPop is best in about" in shown
    assert "shares are certified within 5 points" in shown


@pytest.mark.parametrize("more", [{"target": "order"}, {"probes": True}, {"indifference": 2.0}])
def test_what_an_adaptive_run_over_universes_does_not_know_is_refused(tmp_path, more):
    spec = study({"split_seed": [0, 1]}, protocol={"split": "random"})
    with pytest.raises(UsageError, match=f"{next(iter(more))} does not apply to a study with a .multiverse."):
        recassay.run(spec, tmp_path / "study", adaptive=True, **more)
    assert not (tmp_path / "study").exists()


def test_keys_without_an_effect_are_those_of_the_study():
    base = ProtocolSpec.checked(
        min_item_interactions=7, min_user_interactions=8, seed=9, folds=4, fold=2, ratios=(0.5, 0.2, 0.3)
    )
    here = Universe({"split": "random"}, study(None), base, ())
    other = {"min_item_interactions": 2, "min_user_interactions": 3, "seed": 4, "folds": 6, "fold": 5}
    other |= {"ratios": (0.8, 0.15, 0.05)}
    counts = {"min_item_interactions", "min_user_interactions"}
    for split, names, kept in (
        ("random", "once", counts | {"seed", "ratios"}),
        ("random_per_user", "none", {"seed", "ratios"}),
        ("kfold", "core", counts | {"seed", "folds", "fold"}),
        ("rolling", "none", {"folds", "fold", "ratios"}),
        ("global_time", "none", {"ratios"}),
        ("leave_last_out", "none", set()),
    ):
        protocol = ProtocolSpec.checked(split=split, filter=names, **other)
        settled = here.settled(protocol)
        assert {name for name in other if getattr(settled, name) == other[name]} == kept, split
        assert {name: getattr(settled, name) for name in other if name not in kept} == {
            name: getattr(base, name) for name in other if name not in kept
        }


def test_a_given_split_has_no_alternatives():
    for more in (
        {"multiverse": {"split": ["given", "random"]}},
        {"multiverse": {"trials": [1, 2]}, "given": True},
        {"multiverse": {"split": ["random", "global_time"]}, "given": True},
    ):
        protocol = {"split": "given"} if more.pop("given", False) else {}
        with pytest.raises(InputError, match="a given split has no alternatives; leave split out of"):
            study(more["multiverse"], protocol=protocol)


@pytest.mark.parametrize(
    ("choice", "label"),
    [(True, "true"), (0.50, "0.5"), ((0.8, 0.1, 0.1), "0.8/0.1/0.1"), ([], "none"), (3, "3"), ("once", "once")],
)
def test_a_choice_as_text(choice, label):
    assert _label(choice) == label
