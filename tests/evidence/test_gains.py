"""Who gains: scores, activity and held-out events of two algorithms of a study; windows; lists made elsewhere."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.core.errors import NotApplicableError
from recassay.evidence.gains import gain_scores
from recassay.evidence.users import own_lists
from recassay.evidence.windows import window_means
from recassay.recommenders.plan import CellSpec
from recassay.recommenders.splits import load_split
from recassay.reporting.telling import result_sentences
from recassay.store.store import Store
from support.in_process import without_processes

pytestmark = pytest.mark.slow

SECONDS = 1_500_000_000


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Orders of 60 users over 40 items in about eleven months, each pair once."""
    rng = np.random.default_rng(3)
    item = rng.zipf(1.3, 12_000) % 40
    frame = pl.DataFrame({"user": rng.integers(0, 60, 12_000), "item": item,
                          "timestamp": SECONDS + rng.integers(0, 28_000_000, 12_000)})  # fmt: skip
    path = tmp_path_factory.mktemp("log") / "orders.csv"
    frame.unique(["user", "item"], keep="first", maintain_order=True).write_csv(path)
    return path


def run(log, folder, *, seed=1, algorithms=("ItemKNN", "MostPop"), **protocol):
    kept = {"filter": "none", **protocol}
    study = recassay.make_study([str(log)], list(algorithms), metrics=["ndcg@5", "coverage@5"], trials=0, seed=seed,
                                tuning_metric="ndcg@5", protocol=kept)  # fmt: skip
    with without_processes():
        recassay.run(study, folder, skip_preflight=True)
    return folder


@pytest.fixture(scope="module")
def folder(log, tmp_path_factory):
    return run(log, tmp_path_factory.mktemp("one") / "study", seed=[1, 2], split="user_time")


def test_values_activity_and_events_are_those_of_the_study(folder):
    found = gain_scores(folder, "orders", "ndcg@5", ("ItemKNN", "MostPop"))
    with Store.open(folder) as store:
        cells = {(cell.algorithm, cell.seed): cell for cell in store.cells()}
        text = pl.col("user").cast(pl.String)
        users, again = (store.per_user(cells["MostPop", seed].id).with_columns(text).sort("user") for seed in (1, 2))
        listed = store.top_lists(cells["ItemKNN", 1].id).filter(pl.col("rank") <= 5)
    split = load_split(folder, CellSpec.model_validate(cells["MostPop", 1].spec).split.id)
    assert found.users == users.height
    mean = (users.get_column("ndcg@5") + again.get_column("ndcg@5")) / 2  # equal counts fall as the seed says
    assert found.values[1] == pytest.approx(mean.to_numpy())
    train = split.refit()
    names = train.users.cast(pl.String)
    events = dict(zip(names, np.bincount(train.user, minlength=train.n_users).tolist(), strict=True))
    assert found.activity.tolist() == [events[name] for name in users.get_column("user")]
    assert found.k == 5
    assert len(found.event_user) == len(split.test)
    pairs = set(listed.select("user", "item").iter_rows())
    tested = zip(train.users[split.test.user], train.items[split.test.item], strict=True)
    assert found.found[0].tolist() == [float(pair in pairs) for pair in tested]
    popular = [len(set(train.user[train.item == item])) for item in split.test.item[:20]]
    assert found.event_popularity[:20].tolist() == popular


def test_where_targets_are_asked_for_one_by_one_users_alone_are_compared(log, tmp_path):
    folder = run(log, tmp_path / "next", split="user_time", target="next")
    found = gain_scores(folder, "orders", "ndcg@5", ("ItemKNN", "MostPop"))
    assert (found.k, len(found.event_user), found.found.shape) == (None, 0, (2, 0))
    assert found.users == len(found.activity) > 0
    assert {gain.by for gain in recassay.users(folder).datasets[0].gains} <= {"activity"}


def test_an_algorithm_without_lists_has_no_gains(folder):
    with pytest.raises(NotApplicableError, match="are not kept"):
        gain_scores(folder, "orders", "ndcg@5", ("ItemKNN", "Nobody"))


def test_the_windows_of_a_rolling_split_are_called_after_their_days(log, tmp_path):
    folder = run(log, tmp_path / "rolling", split="rolling", folds=3)
    means = window_means(folder, "orders", "ndcg@5")
    assert [name.partition(",")[0] for name in means] == ["window 1", "window 2", "window 3"]
    first = next(iter(means)).partition(", ")[2]
    assert first.startswith("20")
    assert " to 20" in first
    assert all(set(own) == {"ItemKNN", "MostPop"} for own in means.values())
    with Store.open(folder) as store:
        cell = next(c for c in store.cells() if c.algorithm == "MostPop" and c.fold == 0)
    assert next(iter(means.values()))["MostPop"] == pytest.approx(cell.metrics["ndcg@5"])
    users = recassay.users(folder).datasets[0]
    assert len(users.windows) == 3
    assert "Of 3 windows of time, " in "\n".join(result_sentences(recassay.users(folder)))


def test_another_split_has_no_windows_and_lists_made_elsewhere_are_the_reference(folder, log, tmp_path):
    assert window_means(folder, "orders", "ndcg@5") == {}
    assert own_lists(folder) == ()
    frame = pl.read_csv(log).select("user", "item").unique("user", keep="first", maintain_order=True)
    users = frame.get_column("user").unique().to_list()
    rows = [(user, item, 10 - item) for user in users for item in range(10)]
    pl.DataFrame(rows, schema=["user", "item", "score"], orient="row").write_csv(tmp_path / "ours.csv")
    made = run(log, tmp_path / "own", split="user_time", algorithms=("MostPop", str(tmp_path / "ours.csv")))
    assert own_lists(made) == ("ours",)
    users = recassay.users(made).datasets[0]
    assert (users.reference.name, users.reference.why) == ("ours", "own lists")
    said = recassay.analyze(made, replicates=200).cautions
    assert any(line.startswith("Judged as given: ours") for line in said)
    assert not any(line.startswith("Untuned") and "ours" in line for line in said)
