"""What is known to stop a study is said before anything is written: all of it at once, and no more than counts."""

from __future__ import annotations

import importlib
from types import SimpleNamespace

import polars as pl
import pytest

from recassay.api.study.studies import make_study
from recassay.core.errors import MissingExtraError, RecAssayError
from recassay.recommenders import dispatch, preflight, trying
from recassay.recommenders.dispatch import PROCESS_BYTES, expected_need, missing_packages, trial_rounds
from recassay.recommenders.plan import plan
from recassay.recommenders.preflight import checked_plan
from recassay.recommenders.study import _work
from recassay.runner.jobs import Outcome
from recassay.runner.work import Rounds
from recassay.testing.checks import EXTERNAL_CHECKS, check_learns

OWN = "class Own:\n    def fit(self, train):\n        pass\n    def score(self, users):\n        return 1\n"


@pytest.fixture
def data(tmp_path):
    rows = pl.DataFrame({"user": [f"u{n % 20}" for n in range(300)], "item": [f"i{n % 31}" for n in range(300)]})
    rows.write_csv(tmp_path / "plain.csv")
    rows.with_columns(pl.Series("timestamp", range(300))).write_csv(tmp_path / "placed.csv")
    rows.write_parquet(tmp_path / "known.parquet")
    (tmp_path / "own.py").write_text(OWN)
    return tmp_path


def study(data, datasets=("./plain.csv",), algorithms=("MostPop",), split="random_per_user", **more):
    more = {"trials": 0, **more}
    return make_study(list(datasets), list(algorithms), protocol={"split": split}, base=data, **more)


def refused(spec, data, **how):
    with pytest.raises(RecAssayError) as raised:
        checked_plan(spec, data / "out", **how)
    assert not (data / "out").exists()
    return str(raised.value)


def test_all_names_that_mean_nothing_are_told_at_once(data):
    spec = study(data, ("./gone.csv", "nosuchset", "synthetic:dense"), ("EAES", "./no.py:Own"), metrics=["ndgc@10"],
                 tuning_metric="recal@5")  # fmt: skip
    message = refused(spec, data)
    assert message.startswith("7 problems; nothing was run or written\n")
    for part in (
        f"{data / 'gone.csv'}: there is no such file; check the name; paths are relative to the study",
        "nosuchset",
        "unknown algorithm 'EAES'; did you mean 'EASE'",
        "no.py",
        "ndgc",
        "recal",
        "dense-small",
    ):
        assert part in message


@pytest.mark.parametrize(
    ("file", "split", "words"),
    [
        ("plain", "user_time", "dataset plain: the split 'user_time' follows time, and this dataset has no timestamps; "
         "choose split = 'random_per_user' for it, or name its column of timestamps"),
        ("placed", "global_time", "dataset placed: the split 'global_time' needs a clock, and the times of this "
         "dataset are positions; choose split = 'leave_last_out', 'user_time' or 'random_per_user' for it"),
        ("placed", "rolling", "dataset placed: the split 'rolling' needs a clock, and the times of this dataset are "
         "positions; choose split = 'leave_last_out', 'user_time' or 'random_per_user' for it"),
        ("plain", "random_per_user", None),
        ("placed", "user_time", None),
    ],
)  # fmt: skip
def test_a_split_by_time_needs_times(data, file, split, words):
    spec = study(data, (f"./{file}.csv",), split=split)
    if words is None:
        assert len(checked_plan(spec, data / "out").cells) == 1
    else:
        assert refused(spec, data) == words
        assert refused(spec, data, elsewhere=True) == words


def test_what_an_algorithm_of_ones_own_breaks_is_said_once_per_kind(data, monkeypatch):
    """Each class is tried in a process of its own; one that takes too long, or too much, is not judged."""
    ends = [
        Outcome("done", {"broken": ["list 1 has 3 items", "list 2 has 4 items", "it forgets its seed"]}),
        Outcome("crashed", reason="it ended by SIGSEGV"),
        Outcome("timeout", reason="late"),
        Outcome("failed", reason="no class Own"),
        Outcome("done", {"broken": []}),
        Outcome("memory", reason="held 3 GB"),
    ]
    made = []

    class Trying:
        def __init__(self, workers, logs, *, preload):
            made.append((workers, tuple(preload)))

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def run(self, jobs, watcher):
            for job, outcome in zip(jobs, ends, strict=True):
                made.append((job.function, job.seconds, job.memory, job.payload()["reference"]))
                watcher.finished(job, outcome)

    monkeypatch.setattr(trying, "LocalExecutor", Trying)
    files = [f"./own.py:{name}" for name in ("A", "B", "C", "D", "E", "F")]
    spec = study(data, algorithms=("MostPop", *files), memory_gb=2)
    message = refused(spec, data, workers=9)
    for part in (
        "algorithm A: list 1 has 3 items",
        "algorithm A: it forgets its seed",
        "algorithm B: it ended by SIGSEGV",
        "algorithm D: no class Own",
    ):
        assert part in message
    assert message.startswith("4 problems; nothing was run or written\n")
    assert message.index("list 1 has") < message.index("forgets")
    function = "recassay.recommenders.trying:try_algorithm"
    assert made == [(6, ("recassay.recommenders.trying",)), *((function, 60.0, 2 * 10**9, file) for file in files)]
    made.clear()
    with pytest.raises(ValueError, match="zip"):
        checked_plan(study(data, algorithms=files[:1]), data / "out", workers=1)
    assert made[0] == (1, ("recassay.recommenders.trying",))
    made.clear()
    assert checked_plan(study(data, algorithms=files[:1]), data / "out", elsewhere=True)
    assert made == []


def test_the_rules_that_are_tried_are_those_that_a_weak_algorithm_can_keep(data, monkeypatch):
    tried = []

    def try_rules(kind, rules, file):
        tried.append((kind, rules, file))
        return [], [SimpleNamespace(sentence=lambda: "it is broken")]

    monkeypatch.setattr("recassay.testing.rules.try_rules", try_rules)
    monkeypatch.setattr(trying, "load_algorithm", lambda reference, base: (reference, base))
    asked = {"reference": "./own.py:Own", "base": str(data)}
    assert trying.try_algorithm(asked, lambda _: None) == {"broken": ["it is broken"]}
    ((kind, rules, file),) = tried
    assert (kind, file) == (("./own.py:Own", str(data)), "own.py")
    assert set(rules) == {*EXTERNAL_CHECKS} - {check_learns}


def test_what_does_not_fit_in_memory(data, monkeypatch):
    spec = study(data, ("./known.parquet",), memory_gb=0.1)
    assert refused(spec, data) == "every cell needs at least 0.15 GB, and budget.memory_gb is 0.1; raise it"
    assert len(checked_plan(spec, data / "out", elsewhere=True).cells) == 1
    message = refused(study(data, ("./known.parquet",), memory_gb=0.25), data)
    assert message == (
        "dataset known: reading its 300 events needs about 0.3 GB, and budget.memory_gb is 0.25; "
        "raise it, or leave it out"
    )
    assert checked_plan(study(data, ("./known.parquet",), memory_gb=0.31), data / "out")
    assert checked_plan(study(data, memory_gb=0.15), data / "out"), (
        "just enough for a process, and the rest is not known"
    )
    just = 300_000_000 + 36 * 300
    monkeypatch.setattr(preflight, "memory_limit", lambda budget: just)
    assert checked_plan(study(data, ("./known.parquet",)), data / "out"), "it just fits"
    monkeypatch.setattr(preflight, "declared_bytes", lambda cell, folder: (just, 9 * just))
    assert checked_plan(study(data, ("./known.parquet",)), data / "out"), "so does the algorithm"
    monkeypatch.setattr(preflight, "memory_limit", lambda budget: just - 1)
    assert "reading its 300 events needs" in refused(study(data, ("./known.parquet",)), data)
    monkeypatch.setattr(preflight, "memory_limit", lambda budget: 10_000_000)
    message = refused(study(data), data)
    assert message == (
        "every cell needs at least 0.15 GB, and nine tenths of the machine's memory are 0.01; "
        "use a machine with more memory"
    )


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"plain": (9e9, 9e9), "placed": (2e9, 9e9)},
         "algorithm MostPop: needs at least 2 GB on each dataset, and budget.memory_gb is 1; "
         "raise it, or leave it out"),
        ({"plain": (9e9, 9e9), "placed": (0.5e9, 9e9)}, None),
        ({"plain": (9e9, 9e9), "placed": None}, None),
    ],
)  # fmt: skip
def test_an_algorithm_that_fits_on_no_dataset(data, monkeypatch, declared, words):
    monkeypatch.setattr(preflight, "declared_bytes", lambda cell, folder: declared[cell.dataset.name])
    spec = study(data, ("./plain.csv", "./placed.csv"), memory_gb=1)
    if words is None:
        assert len(checked_plan(spec, data / "out").cells) == 2
    else:
        assert refused(spec, data) == words


def test_a_cell_shares_a_gpu_by_the_most_that_its_algorithm_states(data, monkeypatch):
    asked = {"gpu_memory_bytes": (5, 9), "memory_bytes": (70, 80)}
    monkeypatch.setattr(dispatch, "declared_bytes", lambda cell, folder, method="memory_bytes": asked[method])
    on_gpu, plain = _work(plan(study(data, algorithms=("EASE", "MostPop")))).cells
    assert (on_gpu.gpu, on_gpu.gpu_need(data), on_gpu.need(data)) == (True, 9, 80 + PROCESS_BYTES)
    assert (plain.gpu, plain.gpu_need(data)) == (False, None)
    asked["gpu_memory_bytes"] = None
    assert _work(plan(study(data, algorithms=("EASE",)))).cells[0].gpu_need(data) is None
    del asked["gpu_memory_bytes"]
    assert _work(plan(study(data, algorithms=("EASE",)))).cells[0].gpu_need(data) is None, (
        "an error is the cell's to say"
    )


def test_only_cells_that_would_run_count(data, monkeypatch):
    spec = study(data, split="user_time")
    (cell,) = plan(spec).cells
    for status, again, runs in (("done", True, False), ("failed", False, False), ("failed", True, True)):
        monkeypatch.setattr(preflight, "known_cells", lambda folder, status=status: {cell.id: status})
        if runs:
            assert "has no timestamps" in refused(spec, data, retry_failed=again)
        else:
            assert len(checked_plan(spec, data / "out", retry_failed=again).cells) == 1


def test_the_memory_that_a_cell_is_sent_with(data, monkeypatch):
    def need(reference="MostPop", **more):
        planned = plan(study(data, algorithms=(reference,), **more))
        return expected_need(planned, planned.cells[0], data)

    declared = {"answer": (10**9, 3 * 10**9)}
    monkeypatch.setattr(dispatch, "declared_bytes", lambda cell, folder: declared["answer"])
    assert need(memory_gb=10) == 3 * 10**9 + PROCESS_BYTES
    assert need(memory_gb=2) == 2 * 10**9
    declared["answer"] = declared["answer"][::-1]
    assert need(memory_gb=10) == 3 * 10**9 + PROCESS_BYTES, "one that needs most at its defaults"
    monkeypatch.setattr(dispatch, "memory_limit", lambda budget: None)
    assert need() == 3 * 10**9 + PROCESS_BYTES
    assert need("./own.py:Own") is None
    monkeypatch.setattr(dispatch, "memory_limit", lambda budget: 7)
    assert need("./own.py:Own", memory_gb=10) == 7
    assert need("./own.py:Own") is None
    declared["answer"] = None
    assert need() is None
    del declared["answer"]
    assert need() is None


def test_what_a_registered_algorithm_declares_at_its_defaults_and_at_the_upper_corner(data, monkeypatch):
    planned = plan(study(data, algorithms=("PLSA", "./own.py:Own"), settings={"PLSA": {"iterations": 20}}))
    monkeypatch.setattr(dispatch, "is_prepared", lambda folder, split: True)
    monkeypatch.setattr(dispatch, "split_record", lambda folder, split: SimpleNamespace(sizes=(100, 50, 1000)))
    assert dispatch.declared_bytes(planned.cells[0], data) == (16 * 64 * 150 + 48_000, 16 * 200 * 150 + 48_000)
    assert dispatch.declared_bytes(planned.cells[1], data) is None
    monkeypatch.setattr(dispatch, "is_prepared", lambda folder, split: False)
    assert dispatch.declared_bytes(planned.cells[0], data) is None


@pytest.mark.parametrize(
    ("reference", "settings", "trials", "parallel", "rounds"),
    [
        ("EASE", {}, 8, 4, Rounds(8, 4)),
        ("EASE", {}, 8, 1, Rounds(0)),
        ("EASE", {}, 1, 4, Rounds(0)),
        ("EASE", {}, 2, 4, Rounds(2, 4)),
        ("EASE", {"EASE": {"reg": 3.0}}, 8, 4, Rounds(0)),
        ("EASE", {"EASE": {"rge": 3.0}}, 8, 4, Rounds(8, 4)),
        ("MostPop", {}, 8, 4, Rounds(0)),
        ("./own.py:Own", {}, 8, 4, Rounds(8, 4)),
    ],
)
def test_trials_that_are_jobs_of_their_own(data, reference, settings, trials, parallel, rounds):
    spec = study(data, algorithms=(reference,), trials=trials, parallel=parallel, settings=settings)
    assert trial_rounds(spec, spec.algorithms[0]) == rounds


def test_a_missing_package_is_told_once_with_all_who_need_it(data, monkeypatch):
    spec = study(data, algorithms=("ELSA", "MostPop", "CDAE", "./own.py:Own"))
    monkeypatch.setattr(dispatch.importlib.util, "find_spec", lambda module: None)
    (missing,) = missing_packages(spec.algorithms)
    assert isinstance(missing, MissingExtraError)
    assert str(missing) == ("the algorithm 'ELSA', 'CDAE' needs torch; install it with: pip install 'recassay[neural]'")
    with pytest.raises(MissingExtraError):
        dispatch.part_modules(spec)
    monkeypatch.setattr(dispatch.importlib.util, "find_spec", lambda module: object())
    assert missing_packages(spec.algorithms) == []
    modules = dispatch.part_modules(spec)
    assert modules[-1] == "torch"
    assert {"recassay.algorithms.neural.elsa", "recassay.algorithms.baselines", "recassay.recommenders.tune"} < {
        *modules
    }


def test_workers_load_the_machine_code_of_a_metric_and_a_list_of_metrics_does_not(data):
    spec = study(data).model_copy(update={"metrics": ("ndcg@10", "diversity@10")})
    assert dispatch.part_modules(spec)[-1] == "recassay.metrics.common_users"
    assert not {"compiled_exactly", "common_users"} & vars(importlib.import_module("recassay.metrics.diversity")).keys()
