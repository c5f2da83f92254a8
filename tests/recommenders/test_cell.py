"""A cell in this process: what its algorithm is fitted with, what is asked of it, and what its row and files say."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from recassay.core.errors import InputError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.specs.search import Real
from recassay.core.specs.specs import ProtocolSpec, ReadSpec
from recassay.core.specs.study import ComPerSpec, DatasetSpec, TuningSpec
from recassay.core.types import TopK
from recassay.protocol.apply import apply_protocol
from recassay.protocol.audit import FINDINGS
from recassay.recommenders import cell, splits
from recassay.recommenders import work as working_on
from recassay.recommenders.payload import CellJob
from recassay.recommenders.plan import CellSpec, SplitSpec
from recassay.recommenders.splits import (
    is_usable,
    load_split,
    make_split,
    preparation_bytes,
    prepare_split,
    split_record,
    write_split,
)
from recassay.recommenders.work import Validation
from recassay.runner.energy import Reading
from recassay.runner.jobs import CHECKED, PROPOSED
from support.cell_job import JOB
from support.protocol import rows_of, synthetic

PROTOCOL = ProtocolSpec.checked(split="random_per_user", filter="none", ratios=(0.6, 0.2, 0.2), allow_leakage=FINDINGS)


class Told:
    """Recommends the items in the order of their numbers, and remembers what it was given."""

    space = {"rate": Real(0.0, 1.0, 0.5)}  # noqa: RUF012

    def __init__(self, rate=0.5, size=1):
        self.parameters = {"rate": rate, "size": size}

    def fit(self, train, *, rng):
        type(self).fits.append((self.parameters, len(train), train.item.flags.writeable, int(rng.integers(10**9))))
        self.n_items = train.n_items
        return self

    def recommend(self, users, k, *, exclude):
        type(self).asked.append((users.tolist(), k, exclude is not None))
        items, scores = np.full((len(users), k), -1, np.int32), np.full((len(users), k), -np.inf, np.float32)
        for place, user in enumerate(users):
            barred = [] if exclude is None else exclude[[user]].indices
            free = np.setdiff1d(np.arange(self.n_items), barred)[:k]
            items[place, : len(free)], scores[place, : len(free)] = free, -free
        return TopK(users, items, scores)


def working(tmp_path, monkeypatch, *, protocol=PROTOCOL, **more):
    """The work of a cell on a split in memory."""
    Told.fits, Told.asked = [], []
    split = apply_protocol(synthetic(12, 15, 150), protocol)
    values = {"settings": {}, "tuning": TuningSpec(trials=0, seed=9), "metrics": ("ndcg@5",), "seed": 3, "depth": 8}
    spec = CellSpec(
        algorithm="Own", code="1", dataset="films", split=SplitSpec(data="", protocol=protocol), **values | more
    )
    work = SimpleNamespace(spec=spec, kind=Told, split=split, folder=tmp_path, refuse_over_budget=lambda parameters: 77)
    monkeypatch.setattr(cell, "Work", lambda payload, emit: work)
    return work


def test_the_final_model_has_the_seed_of_its_cell_and_all_that_trains_it(tmp_path, monkeypatch):
    work = working(tmp_path, monkeypatch, settings={"size": 4})
    record = cell.run_cell(JOB, lambda event: None)
    drawn = int(derived_rng(3, "fit", "films", "Own", "final").integers(10**9))
    fit = work.split.refit()
    assert Told.fits == [({"rate": 0.5, "size": 4}, len(fit), False, drawn)]
    assert len(fit) > len(work.split.train)
    users = np.unique(work.split.test.user)
    assert Told.asked == [(users.tolist(), 8, True)]
    assert record["parameters"] == {"size": 4, "rate": 0.5}
    assert (record["validation"], record["predicted_memory"]) == (None, 77)
    assert record["counts"]["users"] == len(users)
    assert not [name for name in record["counts"] if name.startswith("undefined")]
    assert record["peak_memory"] >= record["memory"]
    assert min(record["seconds_tune"], record["seconds_fit"], record["seconds_predict"]) >= 0
    assert record["energy"].keys() == {"joules", "joules_fit", "how"}
    lists = pl.read_parquet(tmp_path / "lists" / "c1.parquet")
    assert lists.columns == ["user", "rank", "item", "score"]
    first = lists.filter(pl.col("user") == fit.users[int(users[0])])
    free = np.setdiff1d(np.arange(fit.n_items), fit.csr()[[users[0]]].indices)[:8]
    assert first.get_column("rank").to_list() == list(range(1, len(free) + 1))
    assert first.get_column("item").to_list() == fit.items.gather(free).to_list()
    assert first.get_column("score").to_list() == (-free).tolist()
    scores = pl.read_parquet(tmp_path / "scores" / "c1.parquet")
    assert record["metrics"]["ndcg@5"] == pytest.approx(scores.get_column("ndcg@5").mean())
    assert record["files"].keys() == {"scores", "lists"}


def test_the_memory_of_a_cell_is_that_of_its_last_fit_and_the_peak_that_of_all(tmp_path, monkeypatch):
    working(tmp_path, monkeypatch)
    state = {"held": 900}
    monkeypatch.setattr(cell, "peak_bytes", lambda: state["held"])
    monkeypatch.setattr(cell, "reset_peak", lambda: state.update(held=300))
    for child, memory in ((None, 300), (500, 500)):
        state["held"] = 900
        monkeypatch.setattr(cell, "children_peak_bytes", lambda child=child: child)
        record = cell.run_cell(JOB, lambda event: None)
        assert (record["memory"], record["peak_memory"]) == (memory, 900)
    judge = cell._judge_test
    monkeypatch.setattr(cell, "_judge_test", lambda *given: state.update(held=1500) or judge(*given))
    record = cell.run_cell(JOB, lambda event: None)
    assert (record["memory"], record["peak_memory"]) == (500, 1500), "what judges is not a memory of the algorithm"


def test_time_and_energy_are_those_of_tuning_of_the_final_fit_and_of_its_lists(tmp_path, monkeypatch):
    """A fit takes 7 seconds, lists take 3, and a second costs 10 joules."""
    clock = {"now": 100.0}

    class Slow(Told):
        def fit(self, train, *, rng):
            clock["now"] += 7
            return super().fit(train, rng=rng)

        def recommend(self, users, k, *, exclude):
            clock["now"] += 3
            return super().recommend(users, k, exclude=exclude)

    monkeypatch.setenv("RECASSAY_WATTS_PER_CORE", "10")
    monkeypatch.setattr(cell, "time", SimpleNamespace(perf_counter=lambda: clock["now"]))
    monkeypatch.setattr(cell, "read_counters", lambda: Reading(clock["now"], None))
    tuning = TuningSpec(trials=2, seed=9, metric="ndcg@5")
    work = working(tmp_path, monkeypatch, tuning=tuning, comper=ComPerSpec(k=3, size=0.5, targets=2))
    work.kind = Slow
    record = cell.run_cell(JOB, lambda event: None)
    assert (record["seconds_tune"], record["seconds_fit"], record["seconds_predict"]) == (20, 7, 3)
    # Two trials, the final fit and that of the attack; the energy of the final fit is that of its lists, too.
    assert (record["energy"]["joules"], record["energy"]["joules_fit"]) == (400, 100)
    assert cell.run_trial(JOB | {"number": 0, "trials": []}, lambda event: None)["joules"] == 100


def test_users_without_a_value_are_counted_by_metric(tmp_path, monkeypatch):
    work = working(tmp_path, monkeypatch, metrics=("ndcg@5", "diversity@5"))
    whole = Told.recommend

    def short(self, users, k, *, exclude):
        top = whole(self, users, k, exclude=exclude)
        top.items[:2, 1:] = -1
        return top

    monkeypatch.setattr(Told, "recommend", short)
    counts = cell.run_cell(JOB, lambda event: None)["counts"]
    assert {key: n for key, n in counts.items() if key.startswith("undefined")} == {"undefined diversity@5": 2}
    assert counts["evaluated"] == len(np.unique(work.split.test.user))


def test_lists_of_other_data_are_refused_by_what_trains_the_final_model(tmp_path, monkeypatch):
    work, given = working(tmp_path, monkeypatch), []
    monkeypatch.setattr(cell, "refuse_other_data", lambda kind, train: given.append((kind, len(train))))
    cell.run_cell(JOB, lambda event: None)
    assert given == [(Told, len(work.split.refit()))]


def test_the_attacked_model_has_the_parameters_and_the_chance_of_the_final_one(tmp_path, monkeypatch):
    tuning = TuningSpec(trials=1, seed=9, metric="ndcg@5")
    attack = ComPerSpec(k=3, size=0.5, targets=2)
    work = working(tmp_path, monkeypatch, tuning=tuning, settings={"size": 4}, comper=attack)
    known = {"number": 0, "state": "complete", "parameters": {"rate": 0.25}, "value": 9.0, "stages": []}
    record = cell.run_cell(JOB | {"trials": [known]}, lambda event: None)
    final, attacked = Told.fits
    assert final[0] == attacked[0] == {"rate": 0.25, "size": 4}
    assert final[3] == attacked[3]
    assert attacked[1] > final[1] == len(work.split.refit())
    assert [k for _, k, _ in Told.asked] == [8, 3]
    assert {"robustness", "ndcg@5"} < record["metrics"].keys()


def test_where_users_may_have_items_again_nothing_is_left_out(tmp_path, monkeypatch):
    again = ProtocolSpec.checked(split="user_time", filter="none", task="repeat", allow_leakage=FINDINGS)
    work = working(tmp_path, monkeypatch, protocol=again)
    cell.run_cell(JOB, lambda event: None)
    assert [exclude for _, _, exclude in Told.asked] == [False]
    lists = pl.read_parquet(tmp_path / "lists" / "c1.parquet")
    assert lists.height == 8 * len(np.unique(work.split.test.user))


def test_trials_that_are_known_are_not_run_again_and_new_ones_are_told(tmp_path, monkeypatch):
    work = working(tmp_path, monkeypatch, tuning=TuningSpec(trials=2, seed=9, metric="ndcg@5"))
    known = {"number": 0, "state": "complete", "parameters": {"rate": 0.25}, "value": 9.0, "stages": []}
    told = []
    record = cell.run_cell(JOB | {"trials": [known]}, told.append)
    assert [event["trial"]["number"] for event in told] == [1]
    assert (record["parameters"], record["validation"]) == ({"rate": 0.25}, 9.0)
    assert [length for _, length, *_ in Told.fits] == [len(work.split.train), len(work.split.refit())]
    drawn = int(derived_rng(9, "fit", "films", "Own", "trial", "1").integers(10**9))
    assert Told.fits[0][3] == drawn, "trials have the seed of the search"


def test_one_trial_is_a_job_that_says_what_it_tries_and_how_many_there_are(tmp_path, monkeypatch):
    working(tmp_path, monkeypatch, tuning=TuningSpec(trials=2, seed=9, metric="ndcg@5", parallel=2))
    told = []
    assert cell.run_trial(JOB | {"number": 1, "trials": []}, told.append)["trials"] == 2
    assert [next(iter(event)) for event in told] == [PROPOSED, "trial"]
    assert told[0][PROPOSED] == told[1]["trial"]["parameters"]
    assert told[1]["trial"]["number"] == 1
    told.clear()
    assert cell.run_trial(JOB | {"number": 2, "trials": []}, told.append)["trials"] == 2
    working(tmp_path, monkeypatch, tuning=TuningSpec(trials=2, seed=9), settings={"rate": 0.1})
    ended = cell.run_trial(JOB | {"number": 0, "trials": []}, told.append)
    assert (ended["trials"], told, Told.fits) == (0, [], [])
    assert ended["joules"] >= 0


def test_a_search_has_the_seed_the_names_and_the_rules_of_its_cell(tmp_path, monkeypatch):
    tuning = TuningSpec(trials=4, seed=9, metric="gini@5", pruning=False, parallel=2)
    search = cell.tuning_of(working(tmp_path, monkeypatch, tuning=tuning))
    assert (search.seed, search.names, search.trials, search.parallel) == (9, ("films", "Own"), 4, 2)
    assert (search.higher_is_better, search.pruning, search.once) == (False, False, False)
    assert set(search.space) == {"rate"}
    assert cell.tuning_of(working(tmp_path, monkeypatch, tuning=TuningSpec(trials=40))).pruning is True


def test_a_dry_run_asks_for_the_memory_at_the_defaults_and_for_the_most(tmp_path, monkeypatch):
    """An algorithm may need most of all at its defaults."""

    def declared(parameters, method="memory_bytes"):
        needed = {0.5: 900, 1.0: 700}[parameters["rate"]] + parameters.get("size", 0)
        return needed if method == "memory_bytes" else None if "size" in parameters else 2 * needed

    for settings, open_, expected in (
        ({}, True, (900, 900, 1800)),
        ({"size": 4}, True, (904, 904, None)),
        ({"rate": 1.0}, False, (700, 700, 1400)),
    ):
        work = working(tmp_path, monkeypatch, settings=settings, tuning=TuningSpec(trials=5))
        work.declared_memory, work.sizes = declared, (12, 15, 150)
        predicted = cell.predict(JOB, lambda event: None)
        assert tuple(predicted[key] for key in ("memory", "most_memory", "gpu_memory")) == expected
        assert predicted["trials"] == (5 if open_ else 0)
        assert [predicted[key] for key in ("users", "items", "interactions")] == [12, 15, 150]


def test_a_cell_without_a_test_part_or_without_lists_is_refused(tmp_path, monkeypatch):
    empty = PROTOCOL.model_copy(update={"ratios": (0.8, 0.2, 0.0)})
    working(tmp_path, monkeypatch, protocol=empty)
    with pytest.raises(InputError, match="the test part is empty; use another split or a weaker filter"):
        cell.run_cell(JOB, lambda event: None)
    working(tmp_path, monkeypatch)
    monkeypatch.setattr(Told, "recommend", lambda self, users, k, *, exclude: TopK.empty(users, k))
    with pytest.raises(InputError, match=r"it recommends nothing to any of the \d+ judged users"):
        cell.run_cell(JOB, lambda event: None)
    assert not (tmp_path / "lists").exists()


class Counted(Told):
    """Stages that say how many iterations they had; what trials share is made once."""

    stopped_by = "epochs"
    shared_for = 0

    def __init__(self, rate=0.5, size=1, epochs=20):
        super().__init__(rate, size)
        self.epochs = epochs

    @classmethod
    def shared(cls, train):
        cls.shared_for += 1
        return "shared"

    def fit_steps(self, train, *, rng, shared=None):
        assert shared == "shared"
        for iterations in (5, 10):
            self.iterations = iterations
            yield self.fit(train, rng=rng)


def test_a_training_that_stops_itself_is_tried_once_where_nothing_else_is_left_open(tmp_path, monkeypatch):
    """Both stages are equally good, so that the first one counts."""
    work = working(tmp_path, monkeypatch, tuning=TuningSpec(trials=7, metric="ndcg@5"), settings={"rate": 0.1})
    work.kind, told = Counted, []
    record = cell.run_cell(JOB, told.append)
    assert record["parameters"] == {"rate": 0.1, "epochs": 5}
    assert [event["trial"]["parameters"] for event in told] == [{"epochs": 5}]
    work.kind, told = Told, []
    record = cell.run_cell(JOB | {"id": "c2"}, told.append)
    assert (record["parameters"], record["validation"], told) == ({"rate": 0.1}, None, [])


def test_a_study_that_tunes_nothing_needs_no_validation_part(tmp_path, monkeypatch):
    bare = PROTOCOL.model_copy(update={"ratios": (0.8, 0.0, 0.2)})
    work = working(tmp_path, monkeypatch, protocol=bare)
    assert len(work.split.valid) == 0
    assert cell.run_cell(JOB, lambda event: None)["parameters"] == {"rate": 0.5}


def test_stages_settle_what_counts_them_unless_that_is_tuned(tmp_path, monkeypatch):
    from recassay.metrics.make import make_metric

    work = working(tmp_path, monkeypatch, tuning=TuningSpec(trials=2, seed=9, pruning=False))
    work.kind = Counted
    monkeypatch.setattr(Counted, "shared_for", 0)
    asked = []
    work.refuse_over_budget = asked.append
    validation = Validation(work, {"size": 2}, make_metric("ndcg@5"))
    stages = [list(validation.stages({"rate": 0.1}, number)) for number in (0, 1)]
    assert [[dict(stage.settled) for stage in trial] for trial in stages] == [[{"epochs": 5}, {"epochs": 10}]] * 2
    assert Counted.shared_for == 1
    assert [parameters for parameters, *_ in Counted.fits] == [{"rate": 0.1, "size": 2}] * 4
    assert {k for _, k, _ in Told.asked} == {5}
    assert asked == [{"rate": 0.1, "size": 2}] * 2, "a trial that would need too much is refused before it is fitted"
    tuned = list(validation.stages({"rate": 0.1, "epochs": 9}, 2))
    assert [dict(stage.settled) for stage in tuned] == [{}, {}], "a tuned number of epochs stays"
    most = Validation(work, {"epochs": 20}, make_metric("ndcg@5")).stages({"rate": 0.1}, 3)
    assert [dict(stage.settled) for stage in most] == [{"epochs": 5}, {"epochs": 10}], "one that is set is the most"
    plain = Validation(work, {}, make_metric("mrr"))
    monkeypatch.setattr(Counted, "stopped_by", None)
    (stage,) = plain.stages({}, 0)
    assert stage.settled == {}, "without pruning, stages that count nothing are not looked at"
    assert Told.asked[-1][1] == 100, "a metric without a cut-off reads lists of 100"


def test_a_job_knows_its_limits_and_says_once_that_its_split_is_sound(tmp_path, monkeypatch):
    spec = working(tmp_path, monkeypatch).spec
    record, asked, told = SimpleNamespace(fingerprint="f", sizes=(3, 2, 9)), [], []

    def load(*place, checked, note):
        asked.append((*place, checked))
        note({"here": "state"})
        return "the split"

    monkeypatch.setattr(working_on, "load_algorithm", lambda reference, base: (reference, base))
    monkeypatch.setattr(working_on, "split_record", lambda folder, split: record)
    monkeypatch.setattr(working_on, "refuse_other_split", lambda *given: asked.append(given))
    monkeypatch.setattr(working_on, "load_split", load)
    job = CellJob(spec, id="1", reference="./own.py:Own", base="b", folder=tmp_path)
    given = replace(job, memory=5, memory_in_words="budget is")
    work = working_on.Work(CellJob.of({**given.plain(), CHECKED: {"here": "x"}}), told.append)
    assert (work.spec, work.kind, work.folder, work.sizes) == (spec, ("./own.py:Own", "b"), tmp_path, (3, 2, 9))
    assert (work.memory_limit, work.limit_in_words) == (5, "budget is")
    assert (work.split, work.split) == ("the split",) * 2
    assert asked == [(work.kind, "f", "films"), (tmp_path, spec.split.id, {"here": "x"})]
    assert told == [{CHECKED: {"here": "state"}}]
    bare = working_on.Work(job, told.append)
    assert (bare.memory_limit, bare.limit_in_words) == (None, "the limit is")


def dataset(tmp_path, text="user,item,rating,timestamp\n", name="events"):
    rows = [f"u{n % 7},i{n % 5},{1 + n % 3},{1_600_000_000 + 100_000 * n}" for n in range(60)]
    (tmp_path / f"{name}.csv").write_text(text + "\n".join(rows) + "\n")
    return DatasetSpec(reference=f"./{name}.csv", name=name, read=ReadSpec(repeated="sum"))


def test_a_stored_split_keeps_its_weights_its_rule_its_task_and_its_final_fit(tmp_path):
    protocol = ProtocolSpec.checked(filter="none", task="repeat", final_fit="train", allow_leakage=FINDINGS)
    made = make_split(dataset(tmp_path), protocol, str(tmp_path))
    folder = tmp_path / "splits" / "one"
    folder.mkdir(parents=True)
    write_split(made, folder)
    back = load_split(tmp_path, "one")
    assert (back.task, back.final_fit, back.overlapping) == ("repeat", "train", True)
    assert (back.fingerprint, back.counts, back.audit) == (made.fingerprint, made.counts, made.audit)
    assert back.unjudged_valid is None
    for part in ("train", "valid", "test"):
        assert rows_of(getattr(back, part)) == rows_of(getattr(made, part))
        assert getattr(back, part).repeated == made.train.repeated
    assert made.train.repeated.name == "sum"
    assert made.train.weight is not None
    assert split_record(tmp_path, "one").sizes == (made.train.n_users, made.train.n_items, len(made.train))


def test_a_stored_split_keeps_the_validation_events_that_judge_nothing(tmp_path):
    """c and z are new to validation: their events are trained on in the end."""
    pairs = ["ax", "ay", "bx", "by", "aw", "bw", "cx", "bz", "az", "cy"]
    rows = "".join(f"{user},{item},{1_600_000_000 + 86_400 * day}\n" for day, (user, item) in enumerate(pairs))
    (tmp_path / "log.csv").write_text("user,item,timestamp\n" + rows)
    protocol = ProtocolSpec.checked(
        split="global_time", filter="none", ratios=(0.6, 0.2, 0.2), allow_leakage=["empty_valid", "empty_test"]
    )
    spec, named = SplitSpec(data="x", protocol=protocol), DatasetSpec(reference="./log.csv", name="log")
    made = make_split(named, protocol, str(tmp_path))
    assert prepare_split(tmp_path, spec, named, str(tmp_path)).sizes == (3, 4, 8)
    back = load_split(tmp_path, spec.id)
    assert rows_of(back.unjudged_valid) == rows_of(made.unjudged_valid)
    assert [len(part) for part in (back.train, back.valid, back.unjudged_valid, back.test)] == [6, 0, 2, 2]
    assert rows_of(back.refit()) == rows_of(made.refit())


def test_a_split_is_made_once_and_again_where_it_is_damaged(tmp_path, monkeypatch):
    spec, calls, make = SplitSpec(data="x", protocol=PROTOCOL), [], splits.make_split
    monkeypatch.setattr(splits, "make_split", lambda *given: calls.append(given) or make(*given))
    named, place = dataset(tmp_path), tmp_path / "out"
    first = prepare_split(place, spec, named, str(tmp_path))
    assert prepare_split(place, spec, named, str(tmp_path)) == first
    assert len(calls) == 1
    file = place / "splits" / spec.id / "train.item.npy"
    sound = file.read_bytes()
    file.write_bytes(sound[:-1])
    assert not is_usable(place, spec.id)
    assert prepare_split(place, spec, named, str(tmp_path)) == first
    assert (len(calls), file.read_bytes()) == (2, sound)
    described = file.with_name("split.json")
    stored = {
        key: value for key, value in json.loads(described.read_text()).items() if key not in ("seal", "checksums")
    }
    described.write_text(json.dumps(stored))
    assert is_usable(place, spec.id), "a version that kept no checksums made it"
    assert preparation_bytes(100_000_000) == 3_900_000_000


def test_files_that_were_found_sound_on_this_host_are_not_read_again(tmp_path, monkeypatch):
    spec = SplitSpec(data="x", protocol=PROTOCOL)
    prepare_split(tmp_path, spec, dataset(tmp_path), str(tmp_path))
    checked, notes = [], []
    monkeypatch.setattr(splits, "check_files", lambda *given: checked.append(given))
    monkeypatch.setattr(splits.socket, "gethostname", lambda: "here")
    load_split(tmp_path, spec.id, note=notes.append)
    (state,) = notes
    assert (list(state), len(checked)) == (["here"], 1)
    load_split(tmp_path, spec.id, checked=state, note=notes.append)
    assert (len(notes), len(checked)) == (1, 1)
    for other in ({"there": state["here"]}, {"here": "another state"}, {}):
        load_split(tmp_path, spec.id, checked=other, note=notes.append)
    assert (len(notes), len(checked)) == (4, 4)


@pytest.mark.parametrize("split", ["global_time", "rolling"])
def test_positions_are_no_clock_for_a_split_of_all_users(tmp_path, split):
    rows = "".join(f"u{n % 7},i{n % 5},{n // 7}\n" for n in range(60))
    (tmp_path / "placed.csv").write_text("user,item,timestamp\n" + rows)
    placed = DatasetSpec(reference="./placed.csv", name="placed")
    with pytest.raises(UsageError, match=f"the times are positions, not a clock, so a {split} split"):
        make_split(placed, ProtocolSpec.checked(split=split, filter="none"), str(tmp_path))
