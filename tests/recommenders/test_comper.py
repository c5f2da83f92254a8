"""ComPer from a study: the attacked fit, its place in the identity of cells, several splits of one dataset."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.core.errors import InputError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.specs.study import ComPerSpec
from recassay.core.types import Interactions, TopK
from recassay.protocol.attacks import choose_targets
from recassay.recommenders.attacked import AFTER, BEFORE, average_hit_ratio, hit_ratio_shift
from recassay.recommenders.plan import plan
from recassay.recommenders.study_file import load_study
from recassay.store import Store
from support.in_process import without_processes
from support.places import ROOT

STUDY = """
[study]
name = "films"
datasets = ["films@0.4", "films@0.8"]
algorithms = ["PLSA", "MostPop", "./same.py:Same"]
metrics = ["ndcg@10"]
[protocol]
split = "random"
filter = "none"
[tuning]
trials = 0
[comper]
size = 0.2
targets = 3
k = 5
[algorithm.PLSA]
iterations = 5
classes = 4
[dataset."films@0.4"]
data = "synthetic:dense-small"
ratios = [0.4, 0.0, 0.6]
[dataset."films@0.8"]
data = "synthetic:dense-small"
ratios = [0.8, 0.0, 0.2]
"""

SAME = '''
import re

import numpy as np
from recassay.core.types import TopK

class Same:
    """The last items of the catalogue, whatever the data: nothing can move it."""
    name, space, source = "Same", {}, "none"

    def fit(self, train, *, rng):
        self.n_items = train.n_items
        return self

    def memory_bytes(self, n_users, n_items, n_interactions):
        return 8 * n_items

    def recommend(self, users, k, *, exclude):
        free = np.ones((len(users), self.n_items), dtype=bool)
        if exclude is not None:
            rows = exclude[users]
            free[np.repeat(np.arange(len(users)), np.diff(rows.indptr)), rows.indices] = False
        order = np.argsort(~free, axis=1, kind="stable")[:, :k].astype(np.int32)
        kept = np.take_along_axis(free, order, axis=1)
        scores = np.broadcast_to(-np.arange(order.shape[1], dtype=np.float32), order.shape)
        items = np.full((len(users), k), -1, dtype=np.int32)
        worth = np.full((len(users), k), -np.inf, dtype=np.float32)
        items[:, : order.shape[1]] = np.where(kept, order, -1)
        worth[:, : order.shape[1]] = np.where(kept, scores, -np.inf)
        return TopK(users, items, worth)
'''


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("comper")
    (folder / "same.py").write_text(SAME)
    (folder / "study.toml").write_text(STUDY)
    with without_processes():
        record = recassay.run(folder / "study.toml", folder / "out")
    assert record.failed == ()
    return folder


def test_cells_report_robustness(study):
    with Store.open(study / "out") as store:
        cells, results = store.cells(), store.results()
        manifest = store.manifest()
    assert results.metrics[:5] == ["ndcg@10", "auc", "coverage@5", "diversity@5", "robustness"]
    for cell in cells:
        kept = cell.metrics
        assert kept["robustness"] == pytest.approx(abs(kept[AFTER] - kept[BEFORE]))
        assert 0 <= kept[BEFORE] <= 1
    assert {cell.metrics["robustness"] for cell in cells if cell.algorithm == "Same"} == {0.0}
    assert max(cell.metrics["robustness"] for cell in cells if cell.algorithm == "PLSA") > 0
    assert manifest["metrics"]["robustness"]["variant"] == "targets"
    assert manifest["study"]["comper"]["targets"] == 3


def test_the_command_on_the_folder(cli, study):
    ran = cli("comper", study / "out", "--json")
    assert ran.code == 0, ran.err
    shown = ran.json()
    assert set(shown["scores"]) == {"films@0.4", "films@0.8"}
    assert set(shown["scores"]["films@0.4"]) == {"MostPop", "PLSA", "Same"}
    assert shown["metrics"] == {
        "correctness": ["auc"],
        "coverage": ["coverage@5"],
        "diversity": ["diversity@5"],
        "robustness": ["robustness"],
        "scalability": ["seconds_fit", "seconds_predict"],
    }
    assert shown["time_unit"] == "seconds"
    table = cli("comper", study / "out", "--time-unit", "milliseconds", "--correctness", "ndcg@10")
    assert "Scalability is in milliseconds" in table.out.replace("\n", " ")


def test_analyze_takes_the_settings_of_the_study(study):
    from recassay.analysis.comper.fit import ANALYSIS
    from recassay.core.analysis import AnalysisSpec
    from recassay.evidence.study import evidence_of

    spec = AnalysisSpec("ndcg@10", replicates=50, evidence=evidence_of(study / "out"))
    result = ANALYSIS.run(recassay.load_results(study / "out"), spec)
    assert result.table.metrics[1] == ("coverage@5",)


@pytest.mark.usefixtures("in_process")
def test_a_study_without_the_attack_is_one_line(cli, study, tmp_path):
    (tmp_path / "same.py").write_text(SAME)
    text = STUDY.replace("[comper]\nsize = 0.2\ntargets = 3\nk = 5\n", "").replace('"PLSA", "MostPop", ', "")
    text = text.replace('["ndcg@10"]', '["auc", "coverage@10", "diversity@10"]')
    text = text.replace("[algorithm.PLSA]\niterations = 5\nclasses = 4\n", "").replace('"films@0.4", ', "")
    text = text.replace('[dataset."films@0.4"]\ndata = "synthetic:dense-small"\nratios = [0.4, 0.0, 0.6]\n', "")
    (tmp_path / "study.toml").write_text(text)
    recassay.run(tmp_path / "study.toml", tmp_path / "out", workers=1)
    ran = cli("comper", tmp_path / "out")
    assert ran.code == 2
    assert "the results have no robustness" in ran.err
    assert "[comper] section" in ran.err
    assert len([line for line in ran.err.strip().splitlines() if not line.startswith("read: ")]) == 1


def test_a_study_without_timings_is_one_line(cli, study, tmp_path):
    frame = recassay.load_results(study / "out").frame
    frame.filter(~pl.col("metric").str.starts_with("seconds")).write_csv(tmp_path / "t.csv")
    ran = cli("comper", tmp_path / "t.csv", "-k", 5)
    assert ran.code == 2
    assert "the results have no scalability" in ran.err
    untimed = frame.with_columns(value=pl.when(pl.col("metric") == "seconds_fit").then(None).otherwise(pl.col("value")))
    untimed.write_csv(tmp_path / "u.csv")
    ran = cli("comper", tmp_path / "u.csv", "-k", 5)
    assert ran.code == 2
    assert "no scalability" in ran.err
    assert len([line for line in ran.err.strip().splitlines() if not line.startswith("read: ")]) == 1


def planned(text, folder):
    (folder / "same.py").write_text(SAME)
    (folder / "study.toml").write_text(text)
    return plan(load_study(folder / "study.toml")).cells


def test_cells_without_the_section_keep_their_identity(tmp_path):
    without = STUDY.replace("[comper]\nsize = 0.2\ntargets = 3\nk = 5\n", "")
    cell = planned(without, tmp_path)[0]
    assert "comper" not in cell.spec.model_dump(mode="json")
    attacked = planned(STUDY, tmp_path)[0]
    assert attacked.id != cell.id
    assert attacked.spec.tuning_id == cell.spec.tuning_id
    other = planned(STUDY.replace("size = 0.2", "size = 0.3"), tmp_path)[0]
    assert other.id != attacked.id
    assert other.spec.tuning_id == attacked.spec.tuning_id


def test_a_pinned_id_of_a_study_without_the_section():
    study = recassay.make_study(
        ["synthetic:dense-small"], ["EASE"], metrics=["ndcg@10", "coverage@10"], trials=3, seed=1
    )
    spec = plan(study).cells[0].spec.model_copy(update={"code": "pinned"})
    assert spec.model_copy(update={"split": spec.split.model_copy(update={"data": "pinned"})}).id == PINNED


PINNED = "5e45078e7de20d6450c7465816fd5820"
"""As it was before studies had a [comper] section: what is done stays done."""


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (("size = 0.2", "size = 2"), ["comper.size = 2", "less than or equal to 1"]),
        (("size = 0.2", "sise = 0.2"), ["unknown key comper.sise", "'size'"]),
        (("size = 0.2", 'kind = "bribe"'), ["comper.kind = 'bribe'", "'nuke' or 'push'"]),
        (('data = "synthetic:dense-small"\nratios = [0.4', "data = 3\nratios = [0.4"), ["dataset.films@0.4.data = 3"]),
    ],
)
def test_a_mistake_in_the_file_names_its_key(tmp_path, change, parts):
    (tmp_path / "study.toml").write_text(STUDY.replace(*change, 1))
    with pytest.raises(InputError) as raised:
        load_study(tmp_path / "study.toml")
    assert all(part in str(raised.value) for part in parts)


def test_an_unknown_metric_of_correctness_is_refused_before_the_run(tmp_path):
    with pytest.raises(UsageError, match="auk"):
        planned(STUDY.replace("k = 5", 'k = 5\ncorrectness = "auk"'), tmp_path)


def test_several_splits_of_one_dataset(tmp_path):
    cells = planned(STUDY, tmp_path)
    assert {cell.dataset.name: cell.spec.split.protocol.ratios[0] for cell in cells} == {
        "films@0.4": 0.4,
        "films@0.8": 0.8,
    }
    assert len({cell.spec.split.data for cell in cells}) == 1
    assert len({cell.spec.split.id for cell in cells}) == 2


def test_the_average_hit_ratio_by_hand():
    top = TopK(
        np.arange(3, dtype=np.int32), np.array([[0, 1], [1, 2], [5, -1]], dtype=np.int32), np.zeros((3, 2), np.float32)
    )
    assert average_hit_ratio(top, np.array([1, 2], dtype=np.int32)) == pytest.approx(3 / 6)
    assert average_hit_ratio(top, np.array([4], dtype=np.int32)) == 0


class Popular:
    name, space, source = "Popular", {}, "none"

    def fit(self, train, *, rng):
        self.order = np.argsort(-np.bincount(train.item, minlength=train.n_items), kind="stable").astype(np.int32)
        return self

    def recommend(self, users, k, *, exclude):
        items = np.stack([self.order[~np.isin(self.order, exclude[[user]].indices)][:k] for user in users])
        return TopK(users, items, np.zeros(items.shape, np.float32))


@pytest.mark.parametrize("hits", ["targets", "test"])
def test_a_push_lifts_the_targets_of_a_popularity_model(tmp_path, hits):
    """Forty users, thirty items with falling counts: fake users push unpopular targets into everybody's list."""
    pairs = [(u, i) for u in range(40) for i in range(30) if (u * 7 + i * 3) % 40 < 36 - i]
    user, item = (np.array(column, dtype=np.int32) for column in zip(*pairs, strict=True))
    train = Interactions(user, item, pl.Series(range(40)), pl.Series(range(30)))
    cell = planned(STUDY, tmp_path)[0].spec
    spec = cell.model_copy(
        update={"comper": ComPerSpec(kind="push", size=1.0, targets=2, k=3, hits=hits, profile_length=1)}
    )
    unseen = [(u, next(i for i in range(30) if (u, i) not in set(pairs))) for u in range(40)]
    held = np.array(unseen, dtype=np.int32)
    test = Interactions(held[:, 0].copy(), held[:, 1].copy(), train.users, train.items)
    before = Popular().fit(train, rng=None).recommend(np.arange(40, dtype=np.int32), 3, exclude=train.csr())
    found = hit_ratio_shift(Popular(), spec, train, test, before)
    assert found["robustness"] == pytest.approx(abs(found[AFTER] - found[BEFORE]))
    if hits == "targets":
        assert found[AFTER] > found[BEFORE] + 0.3
    else:
        assert found[AFTER] < found[BEFORE]
    again = hit_ratio_shift(Popular(), spec, train, test, before)
    assert again == found


@pytest.mark.parametrize("task", ["new", "repeat"])
def test_the_attacked_fit_has_the_chance_and_the_task_of_the_clean_one(tmp_path, task):
    cell = planned(STUDY, tmp_path)[0].spec
    protocol = cell.split.protocol.model_copy(update={"task": task})
    split = cell.split.model_copy(update={"protocol": protocol})
    spec = cell.model_copy(update={"split": split, "comper": ComPerSpec(size=0.2, targets=2, k=3)})
    user, item = (
        np.array(column, dtype=np.int32)
        for column in zip(*[(u, (u + 2 * i) % 9) for u in range(12) for i in range(4)], strict=True)
    )
    train = Interactions(user, item, pl.Series(range(12)), pl.Series(range(9)))
    asked = []

    class Watched:
        def fit(self, given, *, rng):
            asked.append((given.n_users, given.item.flags.writeable, rng.integers(10**9)))
            return self

        def recommend(self, users, k, *, exclude):
            asked.append((users.tolist(), k, None if exclude is None else exclude[[3]].indices.tolist()))
            return TopK.empty(users, k)

    top = TopK.empty(np.array([3, 5], dtype=np.int32), 4)
    assert hit_ratio_shift(Watched(), spec, train, train, top) == {"robustness": 0.0, BEFORE: 0.0, AFTER: 0.0}
    (n_users, writeable, drawn), lists = asked
    assert n_users > 12
    assert not writeable
    assert drawn == derived_rng(spec.seed, "fit", spec.dataset, spec.algorithm, "final").integers(10**9)
    assert lists == ([3, 5], 3, sorted(item[user == 3].tolist()) if task == "new" else None)
    targets = choose_targets(train, "nuke", 2, rng=derived_rng(spec.seed, "attack", spec.dataset))
    others = np.setdiff1d(np.arange(9), targets)[:3]
    for place, before in ((3, 0.0), (2, 1 / 2)):  # lists are cut to the three that count
        items = np.insert(others, place, targets[0])[None].repeat(2, axis=0).astype(np.int32)
        deep = TopK(top.users, items, np.zeros(items.shape, np.float32))
        assert hit_ratio_shift(Watched(), spec, train, train, deep)[BEFORE] == before
    with pytest.raises(UsageError, match="the cell names no attack"):
        hit_ratio_shift(Watched(), spec.model_copy(update={"comper": None}), train, train, top)


def test_the_study_of_the_documentation_is_valid(tmp_path):
    text = re.search(r"```toml\n(.*?)```", (ROOT / "docs" / "comper.md").read_text(), re.S).group(1)
    (tmp_path / "study.toml").write_text(text)
    study = load_study(tmp_path / "study.toml")
    assert study.comper == ComPerSpec(profile_length=20)
    assert len(plan(study).cells) == 4
