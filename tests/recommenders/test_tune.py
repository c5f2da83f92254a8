from __future__ import annotations

import errno
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optuna.distributions import CategoricalDistribution

from recassay.api.study.studies import make_study
from recassay.core.errors import NotApplicableError, RecAssayError, UsageError
from recassay.core.specs.search import Choice, Real, Whole
from recassay.core.specs.study import PATIENCE, AlgorithmSpec, OptionsSpec, RangeSpec
from recassay.recommenders.preflight import checked_plan
from recassay.recommenders.space import highest, settle, stops_itself
from recassay.recommenders.tune import SLOW_STAGES, Tuning, _frozen
from recassay.recommenders.work import Stage
from recassay.runner.jobs import JobFailure
from recassay.runner.work import GIVE_UP_AFTER
from recassay.store import TrialRecord

SPACE = {
    "reg": Real(1e-3, 100.0, 1.0, log=True),
    "depth": Whole(1, 50, 10),
    "how": Choice(("a", "b", "c"), "b"),
    "rate": Real(0.0, 1.0, 0.5),
}


def objective(parameters, number):
    yield Stage(-abs(parameters["rate"] - 0.3) - abs(parameters["depth"] - 30) / 50 + (parameters["how"] == "c") / 10)


def staged(parameters, number):
    for share in (0.2, 0.4, 0.6, 0.8, 1.0):
        yield Stage(share * (2 + next(objective(parameters, number)).value))


def tune(space, fit, *, history=(), record=lambda _: None, **more):
    return Tuning(space, fit, **more).run(history, record)


def run(fit=objective, *, history=(), trials=25, seed=1, names=("data", "algorithm"), **more):
    return tune(SPACE, fit, trials=trials, higher_is_better=True, seed=seed, names=names, history=history, **more)


def identity(trials):
    return [(t.number, t.state, dict(t.parameters), t.value, t.stages) for t in trials]


def test_defaults_come_first_and_tuning_beats_them():
    done = run()
    assert dict(done.trials[0].parameters) == {"reg": 1.0, "depth": 10, "how": "b", "rate": 0.5}
    assert len(done.trials) == 25
    assert done.value == max(t.value for t in done.trials)
    assert done.value > done.trials[0].value + 0.1


def test_starting_trials_vary_the_defaults_and_keep_some_of_them():
    trials = run(trials=10).trials
    default = dict(trials[0].parameters)
    changed = [sum(trial.parameters[name] != default[name] for name in SPACE) for trial in trials[1:]]
    assert min(changed) >= 1
    assert 1 < sum(changed) / len(changed) < len(SPACE) - 0.5


def test_a_starting_trial_keeps_each_default_with_chance_one_half_and_never_all():
    kept = []
    for seed in range(100):
        trial = Tuning(SPACE, objective, 3, True, seed, ("a",))._propose(1, [])
        kept.append(len(trial.study.trials[trial.number].system_attrs["fixed_params"]))
    # Of four, one is varied in any case; the other three are kept by the toss of a coin: 1.5 on average.
    assert max(kept) == len(SPACE) - 1
    assert sum(kept) / len(kept) == pytest.approx(1.5, abs=0.3)


def test_stages_may_be_judged_on_a_sample_and_the_best_of_them_on_all():
    asked = []

    def fit(parameters, number):
        for epochs, value in ((1, 0.2), (2, 0.5), (3, 0.4)):
            yield Stage(value, {"epochs": epochs}, lambda epochs=epochs: asked.append(epochs) or 10.0 + epochs)

    done = tune({}, fit, trials=1, higher_is_better=True, seed=1, names=("data",), once=True)
    assert asked == [2]
    assert (done.value, done.parameters, done.trials[0].stages) == (12.0, {"epochs": 2}, (0.2, 0.5, 0.4))


@cache
def whole_run(fit):
    return run(fit)


@pytest.mark.slow
@settings(max_examples=6)
@given(cut=st.integers(0, 24))
def test_a_tuning_that_resumes_makes_the_same_trials(cut):
    for fit in (objective, staged):
        whole = whole_run(fit)
        stored = [TrialRecord.from_dict(t.to_dict()) for t in whole.trials[:cut]]
        told = []
        resumed = run(fit, history=stored, record=told.append)
        assert identity(resumed.trials) == identity(whole.trials)
        assert [t.number for t in told] == list(range(cut, 25))


@pytest.mark.slow
def test_proposals_depend_on_seed_and_names():
    first = identity(run().trials)
    assert first == identity(run().trials)
    assert first != identity(run(seed=2).trials)
    assert first != identity(run(names=("data", "other")).trials)


def test_more_trials_begin_with_the_same_ones():
    assert identity(run(trials=12).trials) == identity(run(trials=25).trials)[:12]


def test_lower_is_better_is_minimised():
    done = tune(SPACE, objective, trials=12, higher_is_better=False, seed=1, names=())
    assert done.value == min(t.value for t in done.trials)


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_of_equally_good_trials_the_earliest_wins(higher_is_better):
    """Plain parameters are not given up for others that are no better."""
    sign = 1 if higher_is_better else -1

    def level(parameters, number):
        yield Stage(sign * (0.25 if number in (0, 3) else 0.5))

    done = tune(SPACE, level, trials=6, higher_is_better=higher_is_better, seed=1, names=())
    assert len({str(t.parameters) for t in done.trials}) == 6
    assert done.parameters == dict(done.trials[1].parameters)


def test_a_trial_that_falls_behind_is_stopped():
    done = run(staged)
    pruned = [t for t in done.trials if t.state == "pruned"]
    assert pruned
    assert all(SLOW_STAGES < len(t.stages) < 5 for t in pruned)
    assert {t.state for t in run(staged, pruning=False).trials} == {"complete"}


def test_a_pruned_trial_counts_with_its_estimate_and_a_complete_one_is_judged_on_all():
    def judged(parameters, number):
        for stage in staged(parameters, number):
            yield Stage(stage.value, {}, lambda value=stage.value: 100 + value)

    trials = run(judged).trials
    assert {trial.state for trial in trials} == {"complete", "pruned"}
    for trial in trials:
        assert trial.value == trial.stages[-1] + (100 if trial.state == "complete" else 0)


def test_where_stages_are_no_models_of_their_own_the_last_one_counts():
    def falling(parameters, number):
        for value in (0.5, 0.4, 0.3, 0.2):
            yield Stage(value)

    done = run(falling, trials=1)
    assert (done.value, done.trials[0].stages) == (0.2, (0.5, 0.4, 0.3, 0.2))
    assert run(trials=1).trials[0].stages == (), "a single stage is told by its value"
    two = run(lambda parameters, number: iter([Stage(0.5), Stage(0.4)]), trials=1)
    assert two.trials[0].stages == (0.5, 0.4)


def test_of_more_known_trials_than_are_wanted_the_first_count():
    whole = run(trials=5).trials
    told = []
    assert identity(run(trials=3, history=whole, record=told.append).trials) == identity(whole[:3])
    assert told == []


def test_a_starting_trial_never_keeps_all_defaults_and_steps_are_kept():
    more = {"trials": 10, "higher_is_better": True, "names": ("d",)}
    for seed in range(3):
        done = tune({"rate": SPACE["rate"]}, lambda parameters, number: iter([Stage(0.0)]), seed=seed, **more)
        assert [trial.parameters["rate"] == 0.5 for trial in done.trials] == [True] + [False] * 9
    steps = tune({"depth": Whole(1, 9, 1, step=4)}, lambda parameters, number: iter([Stage(0.0)]), seed=1, **more)
    assert {trial.parameters["depth"] for trial in steps.trials} <= {1, 5, 9}


def test_trials_zero_and_an_empty_space_mean_the_defaults():
    assert run(trials=0).parameters == {"reg": 1.0, "depth": 10, "how": "b", "rate": 0.5}
    assert run(trials=0).value is None
    nothing = tune({}, objective, trials=10, higher_is_better=True, seed=1, names=())
    assert (nothing.parameters, nothing.trials) == ({}, ())


def test_a_failing_trial_is_kept_and_the_search_goes_on():
    def fit(parameters, number):
        if number % 3 == 0:
            raise ValueError("diverged")
        yield from objective(parameters, number)

    done = run(fit, trials=10)
    assert [t.state for t in done.trials] == ["failed", "complete", "complete"] * 3 + ["failed"]
    assert done.trials[0].reason.startswith("ValueError: diverged (test_tune.py, line")


def test_an_algorithm_that_always_fails_is_given_up_with_its_reason():
    told = []

    def fit(parameters, number):
        raise RecAssayError("lists of other users")
        yield

    with pytest.raises(JobFailure, match=r"lists of other users \(all 5 trials failed\)") as raised:
        run(fit, record=told.append)
    assert raised.value.status == "failed"
    assert len(told) == GIVE_UP_AFTER


def test_an_algorithm_that_cannot_use_the_data_is_not_tried_again():
    trials = []

    def fit(parameters, number):
        trials.append(number)
        raise NotApplicableError("the data have no times")
        yield

    with pytest.raises(NotApplicableError, match=r"the data have no times$"):
        run(fit)
    assert trials == [0]


@pytest.mark.parametrize(
    ("error", "status"), [(JobFailure("over_budget", "big"), "over_budget"), (MemoryError(), "memory")]
)
def test_the_status_of_trials_becomes_that_of_the_cell(error, status):
    def fit(parameters, number):
        raise error
        yield

    with pytest.raises(JobFailure) as raised:
        run(fit)
    assert raised.value.status == status


def test_an_undefined_objective_is_a_failed_trial():
    with pytest.raises(JobFailure, match="nowhere defined"):
        run(lambda parameters, number: iter([Stage(float("nan"))]))


def test_parameters_that_were_tried_keep_their_value():
    space, asked = {"how": Choice(("a", "b"), "b")}, []

    def fit(parameters, number):
        asked.append(parameters["how"])
        yield Stage(float(parameters["how"] == "a") + number / 1000)

    done = tune(space, fit, trials=10, higher_is_better=True, seed=1, names=())
    assert sorted(asked) == ["a", "b"]
    assert len(done.trials) == 10
    assert done.parameters == {"how": "a"}


def test_parameters_that_failed_are_tried_again():
    space, asked = {"how": Choice(("a", "b"), "b")}, []

    def fit(parameters, number):
        asked.append(parameters["how"])
        if len(asked) == 1:
            raise ValueError("the machine was busy")
        yield Stage(float(parameters["how"] == "b"))

    done = tune(space, fit, trials=10, higher_is_better=True, seed=1, names=())
    assert sorted(asked) == ["a", "b", "b"]
    assert [t.state for t in done.trials].count("failed") == 1
    assert done.parameters == {"how": "b"}


def learning_curve(parameters, number):
    """Better up to epoch 30, worse afterwards; every stage is a model of its own."""
    for epochs in range(10, 210, 10):
        yield Stage(next(objective(parameters, number)).value - abs(epochs - 30) / 1000, {"epochs": epochs})


def test_a_trial_ends_when_it_no_longer_gets_better_and_counts_with_its_best_stage():
    done = run(learning_curve, trials=8, pruning=False)
    assert {t.parameters["epochs"] for t in done.trials} == {30}
    assert {len(t.stages) for t in done.trials} == {3 + PATIENCE}
    assert all(t.value == t.stages[2] == max(t.stages) for t in done.trials)
    assert done.parameters["epochs"] == 30
    stored = [TrialRecord.from_dict(t.to_dict()) for t in done.trials[:5]]
    assert identity(run(learning_curve, history=stored, trials=8, pruning=False).trials) == identity(done.trials)


def test_where_lower_is_better_the_lowest_stage_counts_and_ends_the_trial():
    def fit(parameters, number):
        for epochs, value in enumerate((0.5, 0.2, 0.2, *[0.3] * 30), start=1):
            yield Stage(value, {"epochs": epochs})

    done = tune({}, fit, trials=1, higher_is_better=False, seed=1, names=("data",), once=True)
    assert (done.value, done.parameters) == (0.2, {"epochs": 2})
    assert len(done.trials[0].stages) == 2 + PATIENCE


@pytest.mark.parametrize(("higher", "direction"), [(True, "MAXIMIZE"), (False, "MINIMIZE")])
def test_proposals_and_pruning_know_what_is_better(higher, direction):
    search = Tuning(SPACE, objective, 3, higher, 1, ("a",))
    known = [TrialRecord(0, "complete", {"reg": 1.0, "depth": 10, "how": "b", "rate": 0.5}, value=0.3)]
    study = search._propose(1, known).study
    assert study.direction.name == direction
    assert [(trial.value, trial.params["depth"]) for trial in study.trials if trial.state.is_finished()] == [(0.3, 10)]


def test_the_number_of_epochs_is_found_even_where_nothing_else_is_tuned():
    def fit(parameters, number):
        for epochs in (1, 2, 3):
            yield Stage(-abs(epochs - 2.0), {"epochs": epochs})

    done = tune({}, fit, trials=10, higher_is_better=True, seed=1, names=(), once=True)
    assert (done.parameters, len(done.trials)) == ({"epochs": 2}, 1)
    assert tune({}, fit, trials=0, higher_is_better=True, seed=1, names=(), once=True).parameters == {}


class Algorithm:
    space = SPACE

    def __init__(self, reg=1.0, depth=10, how="b", rate=0.5, verbose=False):
        pass


def test_settings_fix_and_narrow():
    fixed, space = settle(
        Algorithm,
        {
            "reg": RangeSpec(low=10, high=500),
            "depth": RangeSpec(low=20, high=30, log=True),
            "how": OptionsSpec(options=("a", "c")),
            "rate": 0.25,
            "verbose": True,
        },
        "Algorithm",
    )
    assert fixed == {"rate": 0.25, "verbose": True}
    assert space == {
        "reg": Real(10.0, 500.0, 10.0, log=True),
        "depth": Whole(20, 30, 20, log=True),
        "how": Choice(("a", "c"), "a"),
    }
    assert highest(space) == {"reg": 500.0, "depth": 30, "how": "a"}
    even = settle(Algorithm, {"reg": RangeSpec(low=0, high=500, log=False)}, "Algorithm")[1]["reg"]
    assert even == Real(0.0, 500.0, 1.0), "a range that the algorithm searches by logarithm is searched evenly"


class Undeclared:
    def __init__(self, size=7, rate=0.5, mode=None, quiet=True, **more):
        pass


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ({"size": RangeSpec(low=2, high=5)}, {"size": Whole(2, 5, 5)}),
        ({"size": RangeSpec(low=2.0, high=9.0)}, {"size": Real(2.0, 9.0, 7.0)}),
        ({"rate": RangeSpec(low=1, high=5, log=True)}, {"rate": Real(1.0, 5.0, 1.0, log=True)}),
        ({"mode": RangeSpec(low=2, high=5)}, {"mode": Whole(2, 5, 2)}),
        ({"quiet": RangeSpec(low=2, high=5)}, {"quiet": Whole(2, 5, 2)}),
        ({"quiet": RangeSpec(low=0, high=5)}, {"quiet": Whole(0, 5, 0)}),
        ({"rate": RangeSpec(low=0, high=1, log=False)}, {"rate": Real(0.0, 1.0, 0.5)}),
        ({"other": RangeSpec(low=2, high=5)}, {"other": Whole(2, 5, 2)}),
        ({"size": OptionsSpec(options=(3, 7))}, {"size": Choice((3, 7), 7)}),
        ({"size": OptionsSpec(options=(3, 4))}, {"size": Choice((3, 4), 3)}),
    ],
)
def test_a_range_of_what_an_algorithm_does_not_declare(setting, expected):
    assert settle(Undeclared, setting, "Undeclared") == ({}, expected)


def test_a_choice_that_becomes_a_range_begins_at_its_low_end():
    fixed, space = settle(Algorithm, {"how": RangeSpec(low=2.0, high=5.0)}, "Algorithm")
    assert (fixed, space["how"]) == ({}, Real(2.0, 5.0, 2.0))


def test_which_trainings_say_when_they_are_enough():
    def steps(self):
        pass

    parts = {"stopped_by": "epochs", "fit_steps": steps}
    assert stops_itself(type("Counted", (), parts))
    assert not stops_itself(type("Staged", (), {"fit_steps": steps}))
    assert not stops_itself(type("Plain", (), {"stopped_by": "epochs"}))
    assert not stops_itself(type("Unnamed", (), {**parts, "stopped_by": None}))


@pytest.mark.parametrize(("state", "value"), [("complete", 0.5), ("pruned", 0.4)])
def test_a_trial_with_parameters_of_an_earlier_one_has_its_answer(state, value):
    earlier = TrialRecord(0, state, {"how": "b", "epochs": 7}, value=value, stages=(0.3, value), seconds=9.0)

    def fit(parameters, number):
        raise AssertionError("it is not fitted again")

    told = []
    search = Tuning({"how": Choice(("b",), "b")}, fit, 3, True, 1, ("a",))
    again = search.one(1, [earlier], told.append)
    assert told == [{"how": "b"}]
    assert (again.number, again.seconds, again.state, again.value) == (1, 0.0, state, value)
    assert (dict(again.parameters), again.stages) == ({"how": "b", "epochs": 7}, (0.3, value))


def test_the_search_is_shown_the_stages_of_a_trial_or_its_value_as_the_only_one():
    for trial, shown in (
        (TrialRecord(0, "complete", {"how": "b"}, value=0.5), {0: 0.5}),
        (TrialRecord(0, "complete", {"how": "b"}, value=0.0), {0: 0.0}),
        (TrialRecord(0, "complete", {"how": "b", "epochs": 2}, value=0.5, stages=(0.25, 0.5)), {0: 0.25, 1: 0.5}),
        (TrialRecord(0, "failed", {"how": "b"}, reason="broken"), {}),
    ):
        frozen = _frozen(trial, {"how": CategoricalDistribution(("a", "b"))})
        assert (frozen.intermediate_values, frozen.params) == (shown, {"how": "b"})


def test_an_algorithm_without_a_stage_is_a_failed_trial():
    search = Tuning(SPACE, lambda parameters, number: iter(()), 3, True, 1, ("a",))
    trial = search.one(0, [])
    assert (trial.state, trial.reason, trial.value) == ("failed", "fit_steps gave no recommender", None)


def test_a_disk_without_room_is_no_failed_trial():
    def fit(parameters, number):
        raise OSError(errno.ENOSPC, "No space left on device")
        yield

    with pytest.raises(OSError, match="No space left"):
        run(fit)


@pytest.mark.parametrize(
    ("states", "reason", "status", "words"),
    [
        (["failed", "over_budget"], "broken", "failed", "broken (all 2 trials failed)"),
        (["over_budget", "over_budget"], "too much", "over_budget", "too much (all 2 trials failed)"),
        (["over_budget"], "too much", "over_budget", "too much"),
        (["failed"], "out of memory: 9 GB", "memory", "out of memory: 9 GB"),
    ],
)
def test_a_cell_without_a_complete_trial_says_why(states, reason, status, words):
    known = [TrialRecord(number, state, {}, reason=reason) for number, state in enumerate(states)]
    with pytest.raises(JobFailure) as raised:
        run(history=known, trials=len(known))
    assert (raised.value.status, str(raised.value)) == (status, words)


def test_the_reason_is_that_of_the_first_trial_that_failed():
    known = [TrialRecord(0, "pruned", {}, value=0.1), TrialRecord(1, "failed", {}, reason="broken")]
    with pytest.raises(JobFailure, match=r"^broken \(all 2 trials failed\)$"):
        run(history=known, trials=2)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"rge": 1}, "has no parameter 'rge'.*did you mean 'reg'"),
        ({"depth": RangeSpec(low=1.5, high=2)}, r"algorithm\.Algorithm\.depth: low and high must be whole"),
        ({"reg": RangeSpec(low=0, high=2)}, "low = 0 has no logarithm"),
    ],
)
def test_settings_that_mean_nothing_are_refused(setting, message):
    with pytest.raises(UsageError, match=message):
        settle(Algorithm, setting, "Algorithm")


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("ALS", {"reg": -3.0}, "ALS cannot work with reg = -3.0; give a number that is at least 0"),
        ("ALS", {"reg": "high"}, "ALS cannot work with reg = high; give a number that is at least 0"),
        ("ALS", {"factors": RangeSpec(low=0, high=8)}, "ALS cannot work with factors = 0"),
        ("SLIM", {"l1_ratio": RangeSpec(low=0.1, high=1.5)}, "SLIM cannot work with l1_ratio = 1.5"),
        ("LightGCN", {"hardest_of": OptionsSpec(options=(4, 0))}, "LightGCN cannot work with hardest_of = 0"),
    ],
)
def test_a_study_that_sets_what_cannot_work_is_refused_before_it_runs(name, settings, message, tmp_path):
    study = make_study(["synthetic:dense-small"], [name])
    chosen = AlgorithmSpec(reference=name, name=name, settings=settings)
    with pytest.raises(UsageError, match=message):
        checked_plan(study.model_copy(update={"algorithms": (chosen,)}), tmp_path, elsewhere=True)
