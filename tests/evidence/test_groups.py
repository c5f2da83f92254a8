"""Groups of a study and of lists made elsewhere: the numbers by hand, the commands, and bad input."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.core.errors import InputError, NotApplicableError
from recassay.metrics.weighted import Weighting
from recassay.recommenders.plan import CellSpec, plan
from recassay.recommenders.splits import load_split
from recassay.recommenders.study_file import load_study
from recassay.store import Store
from support.in_process import without_processes
from support.shared import only_analyses

pytestmark = pytest.mark.slow

STUDY = """
[study]
datasets = ["synthetic:dense-small"]
algorithms = ["Random", "MostPop", "EASE"]
metrics = ["ndcg@10", "ndcg@10[ips]", "PopREO@10"]
[protocol]
split = "random"
filter = "none"
ratios = [0.8, 0.0, 0.2]
[tuning]
trials = 0
[dataset."synthetic:dense-small"]
"""
NAMED = 'groups = "users.csv"\nitem_groups = "items.csv"\n'


def genres(item: str) -> list[str]:
    """Two of three genres for every fifth item, else one."""
    number = sum(map(ord, item))
    return ["war", "love"] if number % 5 == 0 else [("war", "love", "crime")[number % 3]]


def sex(user: str) -> str:
    return "f" if sum(map(ord, user)) % 3 == 0 else "m"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three algorithms on one embedded dataset, with groups named in the study file."""
    place = tmp_path_factory.mktemp("groups")
    data = recassay.load_data("synthetic:dense-small")
    users, items = (table.cast(pl.String).to_list() for table in (data.users, data.items))
    pl.DataFrame({"user": users, "sex": map(sex, users), "zip": users}).write_csv(place / "users.csv")
    pl.DataFrame({"item": items, "genre": ["|".join(genres(i)) for i in items]}).write_csv(place / "items.csv")
    (place / "study.toml").write_text(STUDY + NAMED)
    with without_processes():
        assert not recassay.run(place / "study.toml", place / "study").failed
    return place


def test_groups_change_no_cell_and_no_path_is_kept(folder, tmp_path):
    (tmp_path / "bare.toml").write_text(STUDY)
    named, bare = (plan(load_study(path)) for path in (folder / "study.toml", tmp_path / "bare.toml"))
    assert [cell.id for cell in named.cells] == [cell.id for cell in bare.cells]
    assert str(folder) not in (folder / "study" / "manifest.json").read_text()
    assert {path.name for path in (folder / "study" / "groups").iterdir()} == {
        "dense-small.users.parquet", "dense-small.items.parquet",
    }  # fmt: skip


@pytest.fixture(scope="module")
def report(folder):
    with pytest.MonkeyPatch.context() as patch, without_processes():
        only_analyses(patch, "groups")
        return recassay.analyze(folder / "study", "ndcg@10")


def test_a_study_is_told_by_its_own_groups(folder, report):
    result = report.analyses["groups"]
    with Store.open(folder / "study") as store:
        cells = {cell.algorithm: cell for cell in store.cells()}
        scores = {name: store.per_user(cell.id) for name, cell in cells.items()}
        lists = store.top_lists(cells["EASE"].id).filter(pl.col("rank") <= 10)
        split = load_split(store.folder, CellSpec.model_validate(cells["EASE"].spec).split.id)
    assert [each.attribute for each in result.users] == ["sex"]
    frame = result.to_frame()
    for group in "fm":
        own = scores["EASE"].filter(pl.col("user").cast(pl.String).map_elements(sex, return_dtype=pl.String) == group)
        row = frame.row(by_predicate=(pl.col("group") == group) & (pl.col("algorithm") == "EASE"), named=True)
        assert row["users"] == own.height
        assert row["value"] == pytest.approx(own["ndcg@10"].mean())
        assert row["low"] < row["value"] < row["high"]
    assert any(text.startswith("zip has ") for text in result.left_out)

    share = {name: 0.0 for name in ("war", "love", "crime")}
    users = lists["user"].n_unique()
    for user, item in lists.select("user", "item").rows():
        own_genres = genres(str(item))
        for genre in own_genres:
            share[genre] += 1 / len(own_genres) / lists.filter(pl.col("user") == user).height / users
    events = {name: 0.0 for name in share}
    train = split.refit()
    for item in train.items.gather(train.item).cast(pl.String):
        for genre in genres(item):
            events[genre] += 1 / len(genres(item)) / len(train)
    rows = {row["group"]: row for row in result.exposure if row["algorithm"] == "EASE"}
    for genre, row in rows.items():
        assert row["share"] == pytest.approx(share[genre])
        assert row["events"] == pytest.approx(events[genre])
        assert row["ratio"] == pytest.approx(share[genre] / events[genre])
        assert row["low"] < row["share"] < row["high"]
    assert set(rows) == set(share)

    [under] = result.weighted
    weights = Weighting("ips").weights(
        split.test.csr(), np.bincount(train.csr().indices, minlength=train.n_items), None
    )
    assert under.facts.effective == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert dict(zip(under.weighted.algorithms, under.weighted.means, strict=True))["EASE"] == pytest.approx(
        scores["EASE"]["ndcg@10[ips]"].mean()
    )


def test_what_is_given_goes_before_what_the_study_names(folder, tmp_path):
    users = pl.read_csv(folder / "users.csv", infer_schema=False)["user"]
    frame = pl.DataFrame({"user": users, "half": ["a" if i % 2 else "b" for i in range(users.len())]})
    with pytest.MonkeyPatch.context() as patch, without_processes():
        only_analyses(patch, "groups")
        given = recassay.analyze(folder / "study", "ndcg@10", groups=frame).analyses["groups"]
        assert [each.attribute for each in given.users] == ["half"]
        with pytest.raises(InputError, match="give groups of the users of these datasets"):
            recassay.analyze(folder / "study", "ndcg@10", groups=frame.with_columns(user=pl.lit("?") + pl.col("user")))


def test_exposure_is_not_judged_by_lists_after_the_longest_histories(tmp_path):
    ids = recassay.load_data("synthetic:drifting").items.cast(pl.String).to_list()
    items = pl.DataFrame({"item": ids, "half": ["ab"[place % 2] for place in range(len(ids))]})
    ordered = STUDY.replace('"random"', '"leave_last_out"\ntarget = "last"').replace("Random", "MarkovChain")
    ordered = ordered.replace("dense-small", "drifting").replace("ratios = [0.8, 0.0, 0.2]", "")
    ordered = ordered.replace(', "ndcg@10[ips]", "PopREO@10"', "").replace(', "EASE"]', "]")
    (tmp_path / "study.toml").write_text(ordered)
    with pytest.MonkeyPatch.context() as patch, without_processes():
        assert not recassay.run(tmp_path / "study.toml", tmp_path / "study").failed
        only_analyses(patch, "groups")
        with pytest.raises(NotApplicableError, match="drifting are kept after each user's longest history alone"):
            recassay.analyze(tmp_path / "study", "ndcg@10", item_groups=items)


def test_a_bare_table_says_what_is_missing(tmp_path):
    rows = [("A", "d", "ndcg@10", u, 0.1 * (u % 3)) for u in range(30)] + [
        ("B", "d", "ndcg@10", u, 0.2) for u in range(30)
    ]
    pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "user", "value"], orient="row").write_csv(
        tmp_path / "t.csv"
    )
    groups = pl.DataFrame({"user": range(30), "sex": ["f", "m"] * 15})
    with pytest.MonkeyPatch.context() as patch, without_processes():
        only_analyses(patch, "groups")
        assert "groups" in recassay.analyze(tmp_path / "t.csv").skipped
        found = recassay.analyze(tmp_path / "t.csv", groups=groups).analyses["groups"]
    assert found.to_frame().height == 4
    assert found.users[0].leader == "B"


def test_lists_made_elsewhere_by_group(folder, tmp_path, cli):
    with Store.open(folder / "study") as store:
        cells = {cell.algorithm: cell for cell in store.cells()}
        split = load_split(store.folder, CellSpec.model_validate(cells["EASE"].spec).split.id)
        for name, cell in cells.items():
            store.top_lists(cell.id).write_csv(tmp_path / f"{name}.csv")
    for name, part in (("train", split.refit()), ("test", split.test)):
        pl.DataFrame({"user": part.users.gather(part.user), "item": part.items.gather(part.item)}).write_csv(
            tmp_path / f"{name}.csv"
        )
    asked = ["evaluate", tmp_path / "EASE.csv", tmp_path / "MostPop.csv", "--train", tmp_path / "train.csv", "--test",
             tmp_path / "test.csv", "--metrics", "ndcg@10", "--groups", folder / "users.csv", "--item-groups",
             folder / "items.csv"]  # fmt: skip
    document = json.loads(cli(*asked, "--json").out)["groups"]["ndcg@10"]
    [by_sex] = document["users"]
    assert set(by_sex["groups"]) == {"f", "m"}
    assert {row["group"] for row in document["exposure"]} == {"war", "love", "crime"}
    ran = cli(*asked, "--out", tmp_path / "out")
    assert "ndcg@10 by sex" in ran.out
    assert {"groups.csv", "groups_gaps.csv", "groups_exposure.csv"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }
    bad = cli(*asked[:-3], tmp_path / "train.csv", *asked[-2:])
    assert bad.code == 2
    assert "has several rows" in bad.err


@pytest.mark.parametrize(("line", "said"), [("groups = 3", "name a file"), ('groups = "no.csv"', "no such file")])
def test_a_study_file_with_bad_groups_is_refused(tmp_path, line, said):
    (tmp_path / "study.toml").write_text(f"{STUDY}{line}\n")
    with pytest.raises(InputError, match=said):
        recassay.run(tmp_path / "study.toml", tmp_path / "study")
    assert not (tmp_path / "study").exists()
