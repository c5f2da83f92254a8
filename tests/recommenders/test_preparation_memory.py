"""A dataset that cannot be prepared within the memory of the study is refused before it is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from recassay.algorithms.baselines import MostPop
from recassay.core.errors import InputError, RecAssayError
from recassay.core.seeds import derived_rng
from recassay.core.specs.search import Whole
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.specs.study import DatasetSpec, TuningSpec
from recassay.data.sources import count_events, open_dataset
from recassay.metrics.evaluate import evaluate
from recassay.metrics.make import make_metric
from recassay.protocol.apply import apply_protocol
from recassay.recommenders import cell
from recassay.recommenders import work as working
from recassay.recommenders.cell import prepare
from recassay.recommenders.plan import SplitSpec
from recassay.recommenders.splits import load_split, preparation_bytes
from recassay.recommenders.work import Validation, Work
from recassay.runner.jobs import JobFailure
from support.cell_job import JOB


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = pl.DataFrame({"user": range(400), "item": range(400), "timestamp": range(10**9, 10**9 + 400)})
    rows.with_columns(pl.col("user", "item") % 7).write_parquet(tmp_path / "events.parquet")
    rows.write_csv(tmp_path / "events.csv")
    return tmp_path


def payload(folder: Path, memory: int | None) -> dict[str, object]:
    protocol = ProtocolSpec.checked(filter="none", task="repeat")
    return {
        "folder": str(folder),
        "split": SplitSpec(data="x", protocol=protocol).model_dump(mode="json"),
        "dataset": DatasetSpec(name="events", reference="./events.parquet").model_dump(mode="json"),
        "base": str(folder),
        "memory": memory,
    }


def test_what_cannot_fit_is_said_and_nothing_is_made(folder: Path) -> None:
    needed = preparation_bytes(400)
    with pytest.raises(JobFailure, match=r"400 events of events would need about 0.3 GB.*budget.memory_gb") as error:
        prepare(payload(folder, needed - 1), lambda *_: None)
    assert error.value.status == "over_budget"
    assert not (folder / "splits").exists()
    made = prepare(payload(folder, needed), lambda *_: None)
    assert made["counts"]["input_interactions"] == 400
    split = load_split(folder, made["id"])
    held_back = 0 if split.unjudged_valid is None else len(split.unjudged_valid)
    assert made["n_interactions"] == len(split.train) + len(split.valid) + held_back > len(split.train)
    assert (made["n_users"], made["n_items"]) == (split.train.n_users, split.train.n_items)


def test_events_are_counted_where_no_reading_is_needed(folder: Path) -> None:
    assert count_events("./events.parquet", folder) == 400
    assert count_events("./events.csv", folder) is None
    assert count_events("synthetic:dense-small") == len(open_dataset("synthetic:dense-small").interactions)


class Declares:
    """Says that it needs what it was made with."""

    instead = "use MostPop"

    def __init__(self, needs: Any = 0) -> None:
        self.needs = needs

    def memory_bytes(self, *sizes: int) -> Any:
        assert sizes == (30, 20, 100)
        return self.needs


def declaring(limit: int | None = None) -> Work:
    work = Work.__new__(Work)
    work.kind, work.sizes, work.memory_limit, work.limit_in_words = Declares, (30, 20, 100), limit, "the limit is"
    return work


def test_what_an_algorithm_declares_must_be_a_number_of_bytes() -> None:
    assert declaring().declared_memory({"needs": 3.7}) == 3
    assert declaring().declared_memory({"needs": np.int64(8)}) == 8
    assert declaring().declared_memory({}, "gpu_memory_bytes") is None
    for wrong in ("many", -1, float("inf"), float("nan"), None):
        with pytest.raises(RecAssayError, match=f"its memory_bytes returned {wrong!r}, which is not a number of bytes"):
            declaring().declared_memory({"needs": wrong})


def test_a_cell_beyond_its_memory_says_how_far_and_what_to_use_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "resident_bytes", lambda: 10**9)
    assert declaring(3 * 10**9).refuse_over_budget({"needs": 2 * 10**9}) == 2 * 10**9
    assert declaring(None).refuse_over_budget({"needs": 10**18}) == 10**18
    with pytest.raises(JobFailure) as refused:
        declaring(3 * 10**9 - 10**7).refuse_over_budget({"needs": 2 * 10**9})
    assert refused.value.status == "over_budget"
    assert str(refused.value) == "would need about 3 GB, and the limit is 2.99 (use MostPop)"


class Staged(MostPop):
    """Two stages: the most popular items, then the least popular ones."""

    stopped_by = "rounds"

    def fit_steps(self, train: Any, *, rng: Any) -> Any:
        for iterations in (1, 2):
            model = self.fit(train, rng=rng)
            model._order = model._order[:: 1 if iterations == 1 else -1]
            model.iterations = iterations
            yield model


def test_stages_are_judged_on_some_users_and_the_best_one_on_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "USERS_A_STAGE", 40)
    protocol = ProtocolSpec.checked(split="random_per_user")
    split = apply_protocol(open_dataset("synthetic:dense-small").interactions, protocol, overwrite=True)
    cell = SimpleNamespace(protocol=protocol)
    spec = SimpleNamespace(search_seed=1, dataset="d", algorithm="a", tuning=TuningSpec(), split=cell)
    work = SimpleNamespace(split=split, spec=spec, kind=Staged, refuse_over_budget=lambda parameters: None)
    metric = make_metric("ndcg@5")
    validation = Validation(work, {}, metric)
    seen, everyone = split.train.csr(), np.unique(split.valid.user).astype(np.int32)
    assert len(validation.some_users) == len(set(validation.some_users)) == 40 < len(everyone)
    assert np.array_equal(np.unique(validation.some_truth.nonzero()[0]), validation.some_users)
    models = list(Staged().fit_steps(split.train, rng=derived_rng(1, "fit", "d", "a", "trial", "0")))
    stages = list(validation.stages({}, 0))
    assert [stage.settled for stage in stages] == [{"rounds": 1}, {"rounds": 2}]
    for model, stage in zip(models, stages, strict=True):
        for users, found in ((validation.some_users, stage.value), (everyone, stage.on_all())):
            top = model.recommend(users, 5, exclude=seen)
            truth = split.valid.take(np.isin(split.valid.user, users))
            assert found == pytest.approx(evaluate(top, truth, [metric], train=seen).mean()["ndcg@5"])
    assert stages[0].value > stages[1].value
    other = SimpleNamespace(**{**vars(work), "spec": SimpleNamespace(**{**vars(spec), "search_seed": 2})})
    assert set(Validation(other, {}, metric).some_users) != set(validation.some_users)
    monkeypatch.setattr(working, "USERS_A_STAGE", len(everyone))
    whole = list(Validation(work, {}, metric).stages({}, 0))
    assert [stage.on_all for stage in whole] == [None, None]
    assert [stage.value for stage in whole] == pytest.approx([stage.on_all() for stage in stages])
    empty = replace(split, valid=split.valid.take(np.zeros(len(split.valid), dtype=bool)))
    with pytest.raises(InputError, match="tuning needs a validation part, and it is empty; use another split, or"):
        Validation(SimpleNamespace(split=empty, spec=spec, kind=Staged), {}, metric)


@pytest.mark.parametrize(("settings", "trials", "most"), [({}, 5, 90), ({"size": 4}, 0, 40)])
def test_a_dry_run_asks_for_the_defaults_and_for_the_upper_corner(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], trials: int, most: int
) -> None:
    class Sized:
        space = {"size": Whole(1, 9, 3)}  # noqa: RUF012

        def __init__(self, size: int = 3) -> None: ...

    spec = SimpleNamespace(settings=settings, algorithm="Sized", tuning=TuningSpec(trials=5))
    work = SimpleNamespace(
        kind=Sized,
        spec=spec,
        sizes=(30, 20, 100),
        declared_memory=lambda parameters, method="memory_bytes": (
            parameters["size"] * (10 if method == "memory_bytes" else 100)
        ),
    )
    monkeypatch.setattr(cell, "Work", lambda payload, emit: work)
    at_defaults = settings.get("size", 3)
    assert cell.predict(JOB, lambda *_: None) == {
        "memory": 10 * at_defaults,
        "most_memory": most,
        "gpu_memory": 100 * at_defaults,
        "users": 30,
        "items": 20,
        "interactions": 100,
        "trials": trials,
    }
