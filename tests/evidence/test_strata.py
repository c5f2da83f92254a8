"""`recassay strata` on studies and on lists made elsewhere: the numbers by hand, the command, and bad input."""

from __future__ import annotations

import json
import shutil
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.core.errors import InputError, NotApplicableError, UsageError
from recassay.core.types import TopK
from recassay.evidence import strata, strata_sets
from recassay.evidence.strata_sets import Sweep, _curve, _shares, _strata, accuracy_metric, score_dataset, without_items
from recassay.protocol.strata import popularity, popularity_strata
from recassay.recommenders.plan import CellSpec
from recassay.recommenders.splits import load_split
from recassay.store import CellRecord, Store
from recassay.testing.results import synthetic_results
from support.in_process import without_processes
from support.protocol import interactions
from support.run import tiny_data, tiny_folder, tiny_study
from support.shared import only_analyses
from support.stores import write_records

WIDE = (25, 60)
PROTOCOL = {"split": "random", "filter": "none", "ratios": (0.8, 0.0, 0.2)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three algorithms on two embedded datasets, defaults, lists of 100."""
    out = tmp_path_factory.mktemp("strata") / "study"
    with without_processes():
        assert not recassay.run(study_of(["Random", "MostPop", "EASE"]), out).failed
    return out


def study_of(algorithms):
    return recassay.make_study(
        ["synthetic:dense-small", "synthetic:few-items"],
        algorithms,
        metrics=("ndcg@10", "hitrate@10"),
        trials=0,
        protocol=PROTOCOL,
    )


def opened(folder, dataset):
    """The split of a dataset and the lists of its algorithms, by user, in original ids."""
    with Store.open(folder) as store:
        cells = [cell for cell in store.cells() if cell.dataset == dataset]
        split = load_split(folder, CellSpec.model_validate(cells[0].spec).split.id)
        lists = {
            cell.algorithm: {
                key[0]: part.sort("rank")["item"].to_list()
                for key, part in store.top_lists(cell.id).partition_by("user", as_dict=True).items()
            }
            for cell in cells
        }
    return split, lists


def slow_ndcg(ranked, relevant, k):
    gain = sum(1 / np.log2(place + 2) for place, item in enumerate(ranked[:k]) if item in relevant)
    return gain / sum(1 / np.log2(place + 2) for place in range(min(k, len(relevant))))


@pytest.mark.slow
@pytest.mark.parametrize("others", ["keep", "remove"])
def test_values_are_the_definition(folder, others):
    dataset = "dense-small"
    result = recassay.strata(folder, "ndcg@5", others=others, seed=3, replicates=100)
    found = next(one for one in result.datasets if one.dataset == dataset)
    split, lists = opened(folder, dataset)
    users, items = split.test.users.to_list(), split.test.items.to_list()
    drawn = popularity_strata(split.refit(), split.test, seed=3)
    held_out = {}
    for u, i in zip(split.test.user, split.test.item, strict=True):
        held_out.setdefault(users[u], set()).add(items[i])
    assert found.thresholds == tuple(stratum.threshold for stratum in drawn.strata)
    for row in (0, 4, len(drawn.strata) - 1):
        truth = {}
        for u, i in zip(drawn.strata[row].sample.user, drawn.strata[row].sample.item, strict=True):
            truth.setdefault(users[u], set()).add(items[i])
        for a, name in enumerate(found.algorithms):
            values = []
            for user, relevant in truth.items():
                ranked = lists[name][user]
                if others == "remove":
                    ranked = [item for item in ranked if item not in held_out[user] - relevant]
                values.append(slow_ndcg(ranked, relevant, 5))
            assert found.value[row, a] == pytest.approx(np.mean(values))
        assert found.users[row] == len(truth)
    assert (found.value[:, found.algorithms.index("EASE")] > 0).any()


@pytest.mark.slow
def test_with_all_events_the_last_stratum_is_the_study(folder):
    result = recassay.strata(folder, "ndcg@10", size="all", replicates=100)
    table = recassay.load_results(folder).frame.filter(pl.col("metric") == "ndcg@10")
    for row in table.iter_rows(named=True):
        found = next(one for one in result.datasets if one.dataset == row["dataset"])
        assert found.value[-1, found.algorithms.index(row["algorithm"])] == pytest.approx(row["value"])
        assert found.shares["events"].to_list() == found.shares["pool"].to_list()
        assert found.shares["share_of_test"][-1] == 1


def test_popular_items_make_the_popular_list_good(folder):
    result = recassay.strata(folder, replicates=100)
    found = next(one for one in result.datasets if one.dataset == "dense-small")
    place = found.algorithms.index("MostPop")
    assert found.value[0, place] < 0.01
    assert found.value[-1, place] > 5 * found.value[0, place]


@pytest.mark.slow
def test_lists_made_elsewhere_give_the_same_numbers(folder, tmp_path):
    """The study's own split and lists as files: the same sets T_P, the same values and bands."""
    split, _ = opened(folder, "few-items")
    for name, part in (("train", split.refit()), ("test", split.test)):
        pl.DataFrame({"user": part.users.gather(part.user), "item": part.items.gather(part.item)}).write_csv(
            tmp_path / f"{name}.csv"
        )
    with Store.open(folder) as store:
        for cell in store.cells():
            if cell.dataset == "few-items":
                store.top_lists(cell.id).write_csv(tmp_path / f"{cell.algorithm}.csv")
    result = recassay.strata(
        train=tmp_path / "train.csv",
        test=tmp_path / "test.csv",
        lists={name: tmp_path / f"{name}.csv" for name in ("Random", "MostPop", "EASE")},
        size="all",
        replicates=100,
    )
    own = next(
        one for one in recassay.strata(folder, size="all", replicates=100).datasets if one.dataset == "few-items"
    )
    np.testing.assert_allclose(result.datasets[0].value, own.value)
    assert result.datasets[0].thresholds == own.thresholds
    assert result.datasets[0].algorithms == own.algorithms


def test_an_oracle_of_popular_items_crosses_one_of_rare_items():
    """One lists each user's popular held-out items first, the other the rare ones: the order must flip, proven."""
    rng = np.random.default_rng(0)
    weight = 1 / np.arange(1, 61)
    train, test, lists = [], [], {"popular": [], "rare": []}
    for user in range(150):
        chosen = rng.choice(60, size=24, replace=False, p=weight / weight.sum())
        train += [(f"u{user}", f"i{item}") for item in chosen[:16]]
        test += [(f"u{user}", f"i{item}") for item in chosen[16:]]
        by_rank = np.sort(chosen[16:])
        for name, known in (("popular", by_rank[:6]), ("rare", by_rank[6:])):
            shown = [*known, *(60 + np.arange(20 - len(known)))]
            lists[name] += [(f"u{user}", f"i{item}", rank + 1) for rank, item in enumerate(shown)]
    frames = {name: pl.DataFrame(rows, schema=["user", "item", "rank"], orient="row") for name, rows in lists.items()}
    parts = [pl.DataFrame(rows, schema=["user", "item"], orient="row") for rows in (train, test)]
    result = recassay.strata(train=parts[0], test=parts[1], lists=frames, metric="ndcg@20", replicates=200)
    found = result.datasets[0]
    assert any((one.first, one.second) == ("rare", "popular") and one.proven for one in found.crossings)
    assert found.sensitivity.estimate == 1
    assert found.sensitivity.proven == 1


@pytest.mark.slow
@pytest.mark.usefixtures("in_process")
def test_seeds_and_folds_are_averaged_and_failed_cells_named(tmp_path):
    tiny_data(tiny_folder(tmp_path), users=80)
    study = tiny_study(tmp_path, ("Fake", "Pop", "Raises"), trials=0, seed=[1, 2])
    recassay.run(study, tmp_path / "seeds", workers=1, skip_preflight=True)
    result = recassay.strata(tmp_path / "seeds", "recall@10", thresholds=WIDE, size="all", replicates=100)
    (found,) = result.datasets
    assert found.algorithms == ("Fake", "Pop")
    assert len(result.left_out) == 2
    assert all(text.startswith("Raises on tiny: ") for text in result.left_out)
    values = []
    for seed in (1, 2):
        recassay.run(tiny_study(tmp_path, ("Fake", "Pop"), trials=0, seed=seed), tmp_path / "seeds", workers=1)
        alone = recassay.strata(tmp_path / "seeds", "recall@10", thresholds=WIDE, size="all", replicates=100)
        values.append(alone.datasets[0].value)
    assert (values[0] != values[1]).any()
    np.testing.assert_allclose(found.value, np.mean(values, axis=0))

    folds = {"split": "kfold", "filter": "none", "folds": 4}
    spec = tiny_study(tmp_path, ("Fake", "Pop"), trials=0, protocol=folds).model_copy(update={"folds": (0, 1)})
    recassay.run(spec, tmp_path / "folds", workers=1)
    (found,) = recassay.strata(tmp_path / "folds", "recall@10", replicates=100, size=20).datasets
    assert found.shares["events"].n_unique() == 1
    assert np.isfinite(found.value).all()


@pytest.mark.slow
def test_the_command(cli, folder, tmp_path):
    out = tmp_path / "out"
    ran = cli("strata", folder, "--metric", "hit@10", "--json", "--out", out, "--replicates", 200, "--seed", 4)
    assert ran.code == 0, ran.err
    answer = ran.json()
    assert answer["command"] == "strata"
    assert answer["metric"] == "hitrate@10"
    assert answer["settings"]["others"] == "keep"
    assert set(answer["datasets"]) == {"dense-small", "few-items"}
    stratum = answer["datasets"]["dense-small"]["strata"][0]
    assert {"threshold", "events", "pool", "share_of_items", "share_of_train", "users", "order"} <= set(stratum)
    assert 0 <= answer["sensitivity"]["estimate"] <= 1
    saved = json.loads((out / "analysis.json").read_text())
    assert saved.pop("input")[0]["sha256"] == answer["input"][0]["sha256"]  # what is saved names no folder of a person
    assert saved == {key: value for key, value in answer.items() if key != "input"}
    assert {path.stem for path in (out / "figures").glob("*.svg")} == {
        "popularity_strata", "popularity_sensitivity", "popularity_curve", "popularity_shares",
    }  # fmt: skip
    assert (out / "tables" / "strata_crossings.csv").is_file()
    shown = cli("strata", folder, "--replicates", 100, "--all").out
    assert "dense-small: ndcg@20 on T_P" in shown
    assert "Popularity sensitivity" in shown
    again = cli("strata", folder, "--metric", "hit@10", "--json", "--replicates", 200, "--seed", 4)
    assert again.json() == answer


@pytest.mark.slow
def test_analyze_includes_strata_of_a_study_and_skips_them_on_a_table(cli, folder, tmp_path, monkeypatch):
    only_analyses(monkeypatch, "rank", "strata")
    answer = cli("analyze", folder, "--json").json()
    assert answer["analyses"]["strata"]["metric"] == "ndcg@10"
    assert any("popularity of the held-out items" in line for line in answer["sentences"])
    costs = cli("analyze", folder, "--metric", "seconds_fit", "--json").json()
    assert "not a metric of lists" in costs["skipped"]["strata"]
    synthetic_results(6).write_csv(tmp_path / "results.csv")
    assert "this is a table" in cli("analyze", tmp_path / "results.csv", "--json").json()["skipped"]["strata"]


BAD = {
    "no folder": (["absent"], "absent: there is no study in this folder"),
    "no study": (["{empty}"], "there is no study in this folder"),
    "deep metric": (["{study}", "--metric", "ndcg@200"], "which have 100 items; ask for ndcg@100 or less"),
    "other metric": (["{study}", "--metric", "coverage@10"], "need an accuracy metric with a cut-off"),
    "unknown metric": (["{study}", "--metric", "ndgc@20"], "did you mean 'ndcg'"),
    "few events": (["{study}", "--thresholds", "1,100"], "dense-small: too few test events have an item"),
    "large size": (["{study}", "--size", "1000000"], "1,000,000 are wanted; use a smaller size"),
    "one threshold": (["{study}", "--thresholds", "50"], "are not a sweep; give at least two"),
    "words": (["{study}", "--thresholds", "low,high"], "are not whole numbers"),
    "size": (["{study}", "--size", "0"], "use a whole number from 1, or all"),
    "others": (["{study}", "--others", "drop"], "is not one of 'keep', 'remove'"),
    "no lists": (["{bare}"], "the lists of 6 cells are not kept"),
    "no splits": (["{unsplit}"], "is not kept; run the study again"),
}


@pytest.fixture(scope="module")
def places(folder, tmp_path_factory):
    away = tmp_path_factory.mktemp("damaged")
    for name, part in (("bare", "lists"), ("unsplit", "splits")):
        shutil.copytree(folder, away / name)
        shutil.rmtree(away / name / part)
    (away / "empty").mkdir()
    return {"study": folder, "bare": away / "bare", "unsplit": away / "unsplit", "empty": away / "empty"}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_exit_2(cli, places, case):
    arguments, message = BAD[case]
    ran = cli("strata", *(text.format(**places) for text in arguments))
    assert ran.code == 2
    assert message in ran.err
    assert len(ran.complaints) == 1


def test_bad_calls_from_python(folder):
    with pytest.raises(UsageError, match="give one or the other"):
        recassay.strata(folder, train="train.csv")
    with pytest.raises(UsageError, match="give all three"):
        recassay.strata(train="train.csv", test="test.csv")
    events = pl.DataFrame({"user": ["a", "b"], "item": ["x", "y"]})
    held_out = pl.DataFrame({"user": ["a", "b"], "item": ["y", "x"]})
    shown = pl.DataFrame({"user": ["a"], "item": ["y"], "score": [1.0]})
    with pytest.raises(UsageError, match="at least two"):
        recassay.strata(train=events, test=held_out, lists={"one": shown})
    with pytest.raises(InputError, match="2 test events are too few for two strata"):
        recassay.strata(train=events, test=held_out, lists={"one": shown, "two": shown})


@pytest.mark.usefixtures("in_process")
def test_a_study_with_one_algorithm_has_no_order(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "one")
    recassay.run(study_of(["MostPop"]), tmp_path / "one", workers=1)
    with pytest.raises(NotApplicableError, match="fewer than two algorithms"):
        recassay.strata(tmp_path / "one")


def test_all_events_of_each_pool():
    data = interactions([("a", "x", 1, 1), ("b", "x", 1, 1), ("a", "y", 1, 1), ("c", "x", 1, 2), ("b", "y", 1, 2)])
    train, test = data.take(np.arange(3)), data.take(np.arange(3, 5))
    assert popularity(train).tolist() == [2, 1]
    strata = popularity_strata(train, test, thresholds=[2, 3], size="all", seed=0)
    assert [len(stratum.sample) for stratum in strata.strata] == [1, 2]
    assert strata.size is None


def test_items_leave_lists_and_the_rest_moves_up():
    top = TopK(
        np.array([0, 1, 2], dtype=np.int32),
        np.array([[3, 1, 2, 0], [0, 1, 2, 3], [2, 0, -1, -1]], dtype=np.int32),
        np.array([[4, 3, 2, 1], [4, 3, 2, 1], [2, 1, -np.inf, -np.inf]], dtype=np.float32),
    )
    banned = interactions([("a", "w", 1, 1), ("b", "w", 1, 1), ("b", "x", 1, 1), ("c", "y", 1, 1), ("c", "z", 1, 1)])
    left, short = without_items(top, banned.take(np.array([0, 1, 2, 3])).csr(), 3)
    assert left.items.tolist() == [[3, 1, 2], [2, 3, -1], [0, -1, -1]]
    assert left.scores.tolist() == [[4, 3, 2], [2, 1, -np.inf], [1, -np.inf, -np.inf]]
    assert short == 1, "the second list was full and may have gone on; the third had named all its candidates"
    ended = TopK(top.users[2:], np.array([[2, 3, -1, -1]], dtype=np.int32), top.scores[2:])
    left, short = without_items(ended, banned.csr(), 3)
    assert (left.items.tolist(), short) == ([[-1, -1, -1]], 0), "nothing is left of it, and nothing was cut off"
    whole = TopK(top.users[2:], np.array([[2, 3, 1, 0]], dtype=np.int32), top.scores[:1])
    assert without_items(whole, banned.csr(), 3)[1] == 1
    assert without_items(whole, banned.csr(), 2)[1] == 0, "two are left of it"
    unknown = TopK(top.users[:1], np.array([[3, -1, 0, 2]], dtype=np.int32), top.scores[:1])
    left, short = without_items(unknown, banned.take(np.array([0])).csr(), 3)
    assert (left.items.tolist(), left.scores.tolist(), short) == ([[3, -1, 2]], [[4, 3, 1]], 0)


@pytest.mark.parametrize(
    ("label", "others", "values", "shortened"),
    [
        ("ndcg@1", "keep", [[0, 1], [1, 1]], 0),
        ("ndcg@1", "remove", [[1, 1], [1, 1]], 0),  # w alone is left of both lists, and one item is enough
        ("recall@2", "remove", [[1, 1], [1, 1]], 4),  # two lists in each of two runs had two items, and have one left
        ("recall", "remove", [[1, 1], [1, 1]], 4),
    ],
)
def test_other_held_out_items_stay_or_leave_and_shortened_lists_are_counted(
    monkeypatch, label, others, values, shortened
):
    """The rare w and the popular q are held out; A lists q first, B lists w first."""
    monkeypatch.setattr(strata_sets, "LEAST_EVENTS", 1)
    data = interactions([("b", "w", 1, 1), ("b", "q", 1, 1), ("c", "q", 1, 1), ("a", "w", 1, 2), ("a", "q", 1, 2)])
    split = SimpleNamespace(refit=lambda: data.take(np.arange(3)), test=data.take(np.arange(3, 5)))
    item = {name: place for place, name in enumerate(data.items)}
    user = np.array([data.users.to_list().index("a")], dtype=np.int32)

    def lists(*names):
        places = np.array([[item[name] for name in names]], dtype=np.int32)
        return lambda: TopK(user, places, np.array([[2.0, 1.0]], dtype=np.float32))

    sweep = Sweep(accuracy_metric(label), (2, 3), size="all", others=others)
    found = score_dataset("films", [(split, {"A": lists("q", "w"), "B": lists("w", "q")})] * 2, sweep)
    assert found.thresholds == (2, 3)
    assert found.scores[:, :, 0].tolist() == values
    assert found.shortened == shortened
    assert found.whole.tolist() == [1.0, 1.0], "the mean over the two runs, on all that is held out"


def test_the_popularity_of_items_falls_with_their_rank_and_shares_are_means_over_parts():
    rows = [(f"u{u}", item, 1, u) for item, users in (("x", 2), ("y", 5), ("z", 1), ("v", 3)) for u in range(users)]
    data = interactions([*rows, ("u9", "new", 1, 9)])
    train, test = data.take(np.arange(11)), data.take(np.arange(6, 12))
    assert _curve(train).rows() == [(1, 5), (2, 3), (3, 2), (4, 1)], "an item that nobody trained on has no place"
    drawn = [
        popularity_strata(train, part, thresholds=[3, 6], size="all", seed=0)
        for part in (test, test.take(np.arange(4)))
    ]
    shares = _shares(drawn)
    assert shares["threshold"].to_list() == [3, 6]
    assert shares["events"].to_list() == [np.mean([len(each.strata[row].sample) for each in drawn]) for row in (0, 1)]
    assert shares["share_of_items"].to_list() == [0.5, 1.0]
    assert shares["share_of_train"].to_list() == pytest.approx([3 / 11, 1.0])


def test_the_curve_of_many_items_has_ranks_evenly_spaced_by_logarithm(monkeypatch):
    monkeypatch.setattr(strata_sets, "popularity", lambda train: np.arange(1001))
    ranks = sorted({round(1000 ** (step / 199)) for step in range(200)})
    assert _curve(None).rows() == [(rank, 1001 - rank) for rank in ranks]


def test_there_are_as_many_thresholds_as_test_events_allow(monkeypatch):
    asked = []
    monkeypatch.setattr(
        strata_sets, "default_thresholds", lambda train, test, *, steps: asked.append((len(test), steps)) or [5]
    )
    sweep = Sweep(accuracy_metric("ndcg@10"))

    def split(events):
        return SimpleNamespace(refit=lambda: "train", test=range(events))

    wanted = {0: 1, 29: 1, 59: 1, 60: 2, 299: 9, 300: 10, 10_000: 10}
    for events in wanted:
        few = score_dataset("films", [(split(events), {})], sweep)
        assert few == f"{events:,} test events are too few for two strata"
    assert dict(asked) == wanted, "thirty events each, and ten at most"
    first, second = split(40), split(1200)
    told = score_dataset("films", [(first, {}), (first, {}), (second, {})], sweep)
    assert told == "1,240 test events are too few for two strata", "two seeds on one split have the same events"
    assert asked[-1] == (40, 1), "the thresholds are those of the first part"


@pytest.mark.parametrize("thresholds", [(5,), (5, 5), (0, 5), (5, -1), ()])
def test_a_sweep_needs_two_thresholds_from_1_on(thresholds):
    with pytest.raises(UsageError, match="are not a sweep; give at least two whole numbers from 1"):
        Sweep(accuracy_metric("ndcg@10"), thresholds)
    assert Sweep(accuracy_metric("ndcg@10"), (1, 2)).thresholds == (1, 2)
    assert Sweep(accuracy_metric("ndcg@10")).thresholds is None


def test_strata_have_one_size_in_all_parts_and_enough_events(monkeypatch):
    pools, asked = [50, 40], []

    def drawn(train, test, *, thresholds, seed, size):
        asked.append((train, thresholds, seed, size))
        strata = [SimpleNamespace(threshold=thresholds[0], pool=pools[train])]
        return SimpleNamespace(size=pools[train] if size is None else size, strata=strata)

    def sweep(parts, **more):
        asked.clear()
        return _strata("films", [(part, None) for part in parts], (5, 9), Sweep(accuracy_metric("ndcg@10"), **more))

    monkeypatch.setattr(strata_sets, "popularity_strata", drawn)
    assert [strata.size for strata in sweep([0, 1], seed=3)] == [40, 40]
    assert asked == [(0, (5, 9), 3, None), (1, (5, 9), 3, None), (0, (5, 9), 3, 40), (1, (5, 9), 3, 40)]
    assert [strata.size for strata in sweep([0])] == [50]
    assert len(asked) == 1, "one part has the size of its own smallest pool"
    assert [strata.size for strata in sweep([0, 1], size=33)] == [33, 33]
    pools[1] = 30
    assert len(sweep([0, 1])) == 2, "thirty events are enough"
    pools[1] = 29
    for size in (None, "all"):
        with pytest.raises(InputError, match=r"^films: too few .* popularity below 5 \(29 events\); 30 are wanted"):
            sweep([0, 1], size=size)
    assert len(sweep([0, 1], size=20)) == 2, "who asks for a size may have fewer"

    def refused(*parts, **more):
        raise InputError("no event", fix="give more")

    monkeypatch.setattr(strata_sets, "popularity_strata", refused)
    with pytest.raises(InputError, match=r"^films: no event; give more$"):
        sweep([0])


@pytest.mark.parametrize(
    ("label", "depths", "message"),
    [
        ("ndcg@20", (20, 50), None),
        ("ndcg@21", (50, 20), "ndcg@21 looks deeper than the kept lists, which have 20 items; ask for ndcg@20 or less"),
        ("ndcg", (20,), None),
        ("ndcg@99", (), None),
    ],
)
def test_a_metric_looks_no_deeper_than_the_shortest_kept_lists(monkeypatch, tmp_path, label, depths, message):
    (tmp_path / "kept").touch()
    monkeypatch.setattr(strata, "cell_file", lambda folder, kind, cell: tmp_path / "kept")
    monkeypatch.setattr(strata, "is_prepared", lambda folder, split: True)
    split = SimpleNamespace(split=SimpleNamespace(id="s"))
    monkeypatch.setattr(strata.CellSpec, "model_validate", classmethod(lambda cls, spec: split))
    cells = [SimpleNamespace(id="c", algorithm="A", dataset="films", spec={"depth": depth}) for depth in depths]
    sweep = Sweep(accuracy_metric(label))
    if message is None:
        strata._refuse_unusable(tmp_path, cells, sweep)
        return
    with pytest.raises(NotApplicableError, match=message):
        strata._refuse_unusable(tmp_path, cells, sweep)


def test_a_user_counts_in_the_runs_that_judge_them(monkeypatch):
    """The first user is judged in both runs, the second in the other, and at one threshold; the third in none."""
    nan = np.nan
    values = {
        "one": np.array([[[0.2, nan, nan], [0.6, nan, nan]], [[0.0, nan, nan], [0.0, nan, nan]]]),
        "two": np.array([[[0.4, nan, nan], [0.0, nan, nan]], [[1.0, 0.5, nan], [0.5, 0.25, nan]]]),
    }
    strata_of = SimpleNamespace(strata=[SimpleNamespace(threshold=3), SimpleNamespace(threshold=6)])
    monkeypatch.setattr(strata_sets, "_strata", lambda name, parts, thresholds, sweep: [strata_of] * len(parts))
    monkeypatch.setattr(strata_sets, "_shares", lambda drawn: len(drawn))
    monkeypatch.setattr(strata_sets, "_curve", lambda train: "the curve")
    tables = {"one": (3, np.array([0.5, 0.1])), "two": (4, np.array([0.7, 0.3]))}
    monkeypatch.setattr(strata_sets, "_scores", lambda lists, strata, train, test, sweep: (values[test], *tables[test]))
    splits = [SimpleNamespace(refit=lambda: SimpleNamespace(n_users=3), test=name) for name in ("one", "two")]
    sweep = Sweep(accuracy_metric("ndcg@10"), (3, 6))
    found = score_dataset("films", [(split, {"A": None, "B": None}) for split in splits], sweep)
    assert found.scores[0] == pytest.approx(np.array([[0.3, nan], [0.3, nan]]), nan_ok=True)
    assert found.scores[1] == pytest.approx(np.array([[0.5, 0.5], [0.25, 0.25]]))
    assert (found.algorithms, found.thresholds, found.shortened) == (("A", "B"), (3, 6), 7)
    assert found.whole.tolist() == pytest.approx([0.6, 0.2])
    assert (found.dataset, found.shares, found.curve) == ("films", 2, "the curve")


def test_lists_and_splits_that_are_gone_are_named(monkeypatch, tmp_path):
    (tmp_path / "kept").touch()
    monkeypatch.setattr(strata, "cell_file", lambda folder, kind, cell: tmp_path / ("kept" if cell == "c0" else cell))
    monkeypatch.setattr(strata, "is_prepared", lambda folder, split: split != "gone")
    monkeypatch.setattr(strata.CellSpec, "model_validate", classmethod(
        lambda cls, spec: SimpleNamespace(split=SimpleNamespace(id=spec["split"]))))  # fmt: skip

    def cell(name, algorithm, split="s"):
        return SimpleNamespace(id=name, algorithm=algorithm, dataset="films", spec={"depth": 20, "split": split})

    sweep = Sweep(accuracy_metric("ndcg@20"))
    lost = [cell("c0", "A"), *(cell(f"c{n}", f"B{n}") for n in range(1, 6))]
    with pytest.raises(NotApplicableError, match=r"the lists of 5 cells are not kept \(B1 on films, .* and 2 more\)"):
        strata._refuse_unusable(tmp_path, lost, sweep)
    with pytest.raises(NotApplicableError, match="the split of films is not kept; run the study again"):
        strata._refuse_unusable(tmp_path, [cell("c0", "A"), cell("c0", "B", "gone")], sweep)
    strata._refuse_unusable(tmp_path, [cell("c0", "A")], sweep)


def test_lists_after_histories_answer_another_question(tmp_path):
    def cell(**protocol):
        return SimpleNamespace(spec={"split": {"protocol": protocol}})

    strata._refuse_targets(tmp_path, [cell(split="random"), cell(target="all")])
    with pytest.raises(NotApplicableError, match="the study judges targets after histories, one by one"):
        strata._refuse_targets(tmp_path, [cell(), cell(target="next")])


def finished(name, algorithm, dataset, *, seed=1, split="s1", **more):
    status = more.pop("status", "done")
    return CellRecord(name, algorithm, dataset, seed, None, {"split": split}, status, metrics={"ndcg@10": 0.5}, **more)


def test_what_has_no_strata_is_named_with_its_reason(monkeypatch, tmp_path):
    asked = []

    def scored(store, dataset, cells, sweep):
        asked.append((dataset, [cell.id for cell in cells], sweep.metric.label, sweep.others, sweep.seed))
        return ["scores of films"] if dataset == "films" else f"no order on {dataset}"

    monkeypatch.setattr(strata, "_refuse_unusable", lambda folder, cells, sweep: asked.append(len(cells)))
    monkeypatch.setattr(strata, "_refuse_targets", lambda folder, cells: None)
    monkeypatch.setattr(strata, "_study_dataset", scored)
    cells = [
        finished("c1", "A", "films"), finished("c2", "A", "books"), finished("c3", "B", "films"),
        finished("c4", "C", "films", status="failed", reason="too slow"),
        finished("c5", "C", "books", status="timeout", reason="out of time"),
    ]  # fmt: skip
    folder = write_records(tmp_path / "study", ["ndcg@10"], cells, to_go=[("B", "books", 1)])
    found = strata.study_strata(folder, Sweep(accuracy_metric("ndcg@20"), others="remove", seed=4))
    how = ("ndcg@20", "remove", 4)
    assert asked == [3, ("films", ["c1", "c3"], *how), ("books", ["c2"], *how)]
    assert (found.metric, found.higher_is_better, found.datasets, found.others) == (
        "ndcg@20", True, (["scores of films"],), "remove"
    )  # fmt: skip
    assert found.left_out == (
        "C on films: too slow", "C on books: out of time", "B on books: has not run yet", "books: no order on books",
    )  # fmt: skip
    alone = write_records(tmp_path / "alone", ["ndcg@10"], cells[1:2])
    with pytest.raises(
        NotApplicableError, match=r"has popularity strata \(books: no order on books\); run at least two"
    ):
        strata.study_strata(alone, Sweep(accuracy_metric("ndcg@20")))
    with pytest.raises(NotApplicableError, match=r"has popularity strata \(no cell is done\)"):
        strata.study_strata(write_records(tmp_path / "none", ["ndcg@10"], []), Sweep(accuracy_metric("ndcg@20")))


def test_only_algorithms_with_every_seed_and_fold_have_strata(monkeypatch):
    runs_of = []

    def validated(cls, spec):
        return SimpleNamespace(split=SimpleNamespace(id=spec["split"]))

    monkeypatch.setattr(strata.CellSpec, "model_validate", classmethod(validated))
    monkeypatch.setattr(strata, "load_split", lambda folder, split: SimpleNamespace(train=f"train of {split}"))
    monkeypatch.setattr(strata, "score_dataset", lambda name, runs, sweep: runs_of.append((name, runs)) or "scored")
    monkeypatch.setattr(strata, "_kept_lists", lambda store, cell, train, sweep: (cell, train))
    store, sweep = SimpleNamespace(folder="here"), Sweep(accuracy_metric("ndcg@10"))
    cells = [
        finished("b1", "B", "films"), finished("a1", "A", "films"), finished("a2", "A", "films", seed=2),
        finished("b2", "B", "films", seed=2), finished("c1", "C", "films"),
        finished("a3", "A", "films", split="s2"), finished("b3", "B", "films", split="s2"),
    ]  # fmt: skip
    assert strata._study_dataset(store, "films", cells, sweep) == "scored"
    ((name, runs),) = runs_of
    assert name == "films"
    assert [{who: load() for who, load in lists.items()} for _, lists in runs] == [
        {"A": ("a1", "train of s1"), "B": ("b1", "train of s1")},
        {"A": ("a2", "train of s1"), "B": ("b2", "train of s1")},
        {"A": ("a3", "train of s2"), "B": ("b3", "train of s2")},
    ], "C has no second seed, and no second fold"
    assert runs[0][0] is runs[1][0], "seeds share their split"
    assert (
        strata._study_dataset(store, "films", cells[1:], sweep)
        == "fewer than two algorithms have lists for every seed and fold"
    )


def test_lists_made_elsewhere_become_the_strata_of_one_split(monkeypatch):
    given = []

    def scored(name, runs, sweep):
        given.append((name, runs, sweep))
        return given_back.pop()

    monkeypatch.setattr(strata, "score_dataset", scored)
    train = interactions([("u", "x", 1, 1), ("u", "y", 1, 1), ("v", "x", 1, 1), ("v", "z", 1, 1)])
    split = SimpleNamespace(train=train)
    shown = pl.DataFrame({"user": ["u", "u", "v"], "item": ["x", "z", "y"], "score": [0.1, 0.9, 0.5]})
    frames = {"late": (shown, "late.csv"), "early": (shown, "early.csv")}
    given_back = ["3 test events are too few", ["scores"]]
    asked = Sweep(accuracy_metric("ndcg@2"), others="remove", seed=7)
    found = strata.given_evidence(split, frames, asked)
    assert (found.metric, found.higher_is_better, found.datasets, found.others, found.left_out) == (
        "ndcg@2", True, (["scores"],), "remove", ()
    )  # fmt: skip
    ((name, ((own, lists),), sweep),) = given
    assert (name, own, sweep.seed) == ("the data", split, 7)
    assert list(lists) == ["early", "late"]
    assert lists["late"]().items.tolist() == [[2, 0], [1, -1]], "by score, the highest first"
    with pytest.raises(InputError, match=r"^3 test events are too few; give more test data$"):
        strata.given_evidence(split, frames, asked)
    with pytest.raises(UsageError, match="the lists of one algorithm have no order"):
        strata.given_evidence(split, {"late": frames["late"]}, asked)
    twice = pl.DataFrame({"user": ["u", "u"], "item": ["x", "x"], "score": [0.1, 0.9]})
    given_back = [["scores"]]
    strata.given_evidence(split, {**frames, "twice": (twice, "twice.csv")}, asked)
    with pytest.raises(InputError, match=r"^twice\.csv"):
        given[-1][1][0][1]["twice"]()


def test_kept_lists_are_read_to_the_cut_off_and_ties_follow_the_seed():
    train = interactions([("u", name, 1, 1) for name in "abcdefgh"])
    ranked = pl.DataFrame({"user": ["u"] * 4, "item": list("dbca"), "rank": [1, 2, 3, 4]})

    def items(frame, label, **more):
        whole = more.pop("whole", False)
        sweep = Sweep(accuracy_metric(label), **more)
        return strata._read_lists(frame, train, sweep, where="here", whole=whole).items[0].tolist()

    assert items(ranked, "ndcg@2") == [3, 1]
    assert items(ranked, "ndcg@2", others="remove") == [3, 1, 2, 0], "another may move up"
    assert items(ranked, "ndcg@2", whole=True) == [3, 1, 2, 0]
    assert items(ranked, "ndcg") == [3, 1, 2, 0]
    assert items(ranked, "ndcg@6") == [3, 1, 2, 0, -1, -1], "as wide as the metric looks"
    tied = pl.DataFrame({"user": ["u"] * 8, "item": list("abcdefgh"), "score": [1.0] * 8})
    orders = {seed: items(tied, "ndcg@8", others="remove", seed=seed) for seed in (1, 2, 3)}
    assert len(set(map(tuple, orders.values()))) == 3
    assert items(tied, "ndcg@8", others="remove", seed=2) == orders[2]
