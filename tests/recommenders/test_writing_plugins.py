"""An algorithm that writes into what it is given cannot change how it is judged."""

from __future__ import annotations

import numpy as np
import pytest

from recassay.recommenders.study import run_study
from recassay.store import Store
from support.run import PLUGIN, tiny_folder, tiny_study

WRITERS = """

class Honest(Pop):
    def fit(self, train, *, rng):
        return Fitted(super().fit(train, rng=rng).scores, 1)


class WritesItems(Honest):
    def fit(self, train, *, rng):
        fitted = super().fit(train, rng=rng)
        train.item[:] = 0
        return fitted


class UnlocksItems(Honest):
    def fit(self, train, *, rng):
        fitted = super().fit(train, rng=rng)
        for column in (train.item, train.user):
            whole = column if column.base is None else column.base
            whole.flags.writeable = True
            whole[:] = 0
        train.items[0] = "another"
        return fitted


class Forgetful(Fitted):
    def recommend(self, users, k, *, exclude):
        exclude.indptr[:] = 0
        return super().recommend(users, k, exclude=exclude)


class WritesExclude(Honest):
    def fit(self, train, *, rng):
        fitted = super().fit(train, rng=rng)
        return Forgetful(fitted.scores, fitted.seed)
"""


@pytest.mark.usefixtures("in_process")
def test_what_judges_is_out_of_reach_of_the_algorithm(tmp_path):
    tiny_folder(tmp_path, PLUGIN + WRITERS)
    names = ("Honest", "WritesItems", "UnlocksItems", "WritesExclude")
    run_study(tiny_study(tmp_path, names), tmp_path / "out", workers=1)
    with Store.open(tmp_path / "out") as store:
        cells = {cell.algorithm.rpartition(":")[2]: cell for cell in store.cells()}
        known = set(store.top_lists(cells["Honest"].id).get_column("item"))
        named = set(store.top_lists(cells["UnlocksItems"].id).get_column("item"))
    assert cells["Honest"].status == cells["UnlocksItems"].status == "done"
    assert dict(cells["UnlocksItems"].metrics) == dict(cells["Honest"].metrics)
    assert "another" not in named
    assert named == known
    for name in ("WritesItems", "WritesExclude"):
        assert cells[name].status == "failed", name
        assert "read-only" in cells[name].reason


def test_read_only_interactions_share_memory_and_refuse_writing(tmp_path):
    import polars as pl

    from recassay.core.types import Interactions, read_only_matrix

    ids = pl.Series(["a", "b"])
    events = Interactions(np.array([0, 1], np.int32), np.array([1, 0], np.int32), ids, ids, np.ones(2, np.float32))
    given = events.read_only()
    assert np.shares_memory(given.user, events.user)
    for column in (given.user, given.item, given.weight):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1
    given.users[0] = "z"
    assert events.users.to_list() == ["a", "b"]
    seen = events.csr()
    view = read_only_matrix(seen)
    assert np.shares_memory(view.indices, seen.indices)
    with pytest.raises(ValueError, match="read-only"):
        view.data[0] = 0
    assert (view[[0]] != seen[[0]]).nnz == 0


ODD = """

class HasLists(Honest):
    lists = {"a": [1, 2]}
    table = "of contents"


class SeenAlone(Pop):
    def fit(self, train, *, rng):
        self.matrix = train.csr()
        return self

    def recommend(self, users, k, *, exclude):
        items = np.full((len(users), k), -1, dtype=np.int32)
        return TopK(users, items, np.full((len(users), k), -np.inf, dtype=np.float32))
"""


@pytest.mark.usefixtures("in_process")
def test_attributes_decide_nothing_and_empty_lists_are_no_result(tmp_path):
    tiny_folder(tmp_path, PLUGIN + WRITERS + ODD)
    record = run_study(tiny_study(tmp_path, ("Honest", "HasLists", "SeenAlone")), tmp_path / "out", workers=1)
    assert record.done == 2
    assert [cell.algorithm.rpartition(":")[2] for cell in record.failed] == ["SeenAlone"]
    assert "it recommends nothing to any of the" in record.failed[0].reason
    with Store.open(tmp_path / "out") as store:
        found = {
            cell.algorithm.rpartition(":")[2]: dict(cell.metrics) for cell in store.cells() if cell.status == "done"
        }
    assert found["HasLists"] == found["Honest"]
