"""Lists that other tools wrote, judged and compared: numbers against a computation by hand and against the tools."""

from __future__ import annotations

import json
from itertools import combinations
from math import log2
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

import recassay
from recassay import RecAssayError
from recassay.data.lists.read import read_lists
from recassay.evidence.gains import judged_gains
from recassay.evidence.lists import _named

LISTS = Path(__file__).resolve().parents[1] / "samples" / "lists"
TRAIN, TEST = LISTS / "toya.train.csv.gz", LISTS / "toya.test.csv"
FILES = {
    "TREC run": "run_pop.trec",
    "ranx JSON": "ranx_pop.json",
    "ranx lz4": "ranx_pop.lz4",
    "ranx Parquet": "ranx_pop.parquet",
    "LensKit nested": "lenskit-recs.parquet",
    "LensKit flat": "lenskit-Pop-flat.parquet",
    "Elliot": "MostPop.tsv",
    "WarpRec": "Pop_15.11.2026_10-21-56.tsv",
    "OmniRec": "omnirec_predictions.json",
}


def relevant() -> dict[str, set[str]]:
    """The held-out items of each user, read by nothing of ours."""
    found: dict[str, set[str]] = {}
    for line in TEST.read_text().splitlines()[1:]:
        user, item, *_ = line.split(",")
        found.setdefault(user, set()).add(item)
    return found


def bare(name: object) -> str:
    return str(name).lstrip("ui")


def bounds(frame: pl.DataFrame, k: int = 10) -> dict[str, tuple[float, float, float, float]]:
    """By user the least and the largest recall@k and nDCG@k that any order of equal scores gives."""
    truth = relevant()
    by = "rank" if "rank" in frame.columns else "score"
    found = {}
    for user, liked in truth.items():
        rows = [(row[by], bare(row["item"])) for row in frame.iter_rows(named=True) if bare(row["user"]) == user]
        ends = []
        for best in (False, True):
            order = sorted(rows, key=lambda row: (row[0] if by == "rank" else -row[0], (row[1] in liked) != best))
            hits = [item in liked for _, item in order[:k]]
            gain = sum(hit / log2(place + 2) for place, hit in enumerate(hits))
            ideal = sum(1 / log2(place + 2) for place in range(min(k, len(liked))))
            ends.append((sum(hits) / len(liked), gain / ideal))
        found[user] = (ends[0][0], ends[1][0], ends[0][1], ends[1][1])
    return found


@pytest.mark.parametrize("kind", FILES)
def test_each_kind_of_list_is_judged_as_by_hand(kind):
    """The audit passes (a split per user, which is said), and every user's value is that of the file's own order."""
    report = recassay.evaluate(LISTS / FILES[kind], train=TRAIN, test=TEST, metrics=["recall@10", "ndcg@10"])
    assert any("follows time for each user by itself" in note for note in report.notes)
    per_user = report.per_user()
    lists = {one.name: one.frame for one in read_lists(LISTS / FILES[kind])}
    assert {one.name for one in report.judged} == set(lists)
    for name, frame in lists.items():
        own = per_user.filter(algorithm=name)
        assert own.height == 40
        assert own.get_column("recall@10").sum() > 0
        for user, (low, high, least, most) in bounds(frame).items():
            row = own.row(by_predicate=pl.col("user").cast(pl.String) == user, named=True)
            assert low - 1e-9 <= row["recall@10"] <= high + 1e-9
            assert least - 1e-9 <= row["ndcg@10"] <= most + 1e-9


def test_recall_is_that_of_lenskit_itself():
    theirs = pl.read_csv(LISTS / "lenskit-list_metrics.csv").select(
        "model", pl.col("user_id").cast(pl.String), "Recall@10"
    )
    report = recassay.evaluate(LISTS / "lenskit-recs.parquet", train=TRAIN, test=TEST, metrics=["recall@10"])
    ours = report.per_user().select(pl.col("algorithm").alias("model"), pl.col("user").cast(pl.String).alias("user_id"),
                                    "recall@10")  # fmt: skip
    both = ours.join(theirs, on=["model", "user_id"])
    assert both.height == 120
    assert both.get_column("recall@10").to_list() == pytest.approx(both.get_column("Recall@10").to_list(), abs=1e-6)


def test_comparison_agrees_with_an_independent_one():
    """Sign-flip p-values by scipy, Holm's correction by hand, bootstrap intervals by scipy."""
    report = recassay.evaluate(
        {"knn": LISTS / "run_itemknn.trec", "pop": LISTS / "run_pop.trec", "elliot": LISTS / "MostPop.tsv"},
        train=TRAIN, test=LISTS / "qrels.trec", metrics=["ndcg@10"], compare=True,
    )  # fmt: skip
    wide = report.per_user().pivot(on="algorithm", index="user", values="ndcg@10")
    found = report.comparison["ndcg@10"].datasets[0]
    p = {}
    for one, two in combinations(("knn", "pop", "elliot"), 2):
        pair = next(pair for pair in found.pairs if {pair.left, pair.right} == {one, two})
        differences = (wide.get_column(pair.left) - wide.get_column(pair.right)).to_numpy()
        assert pair.difference == pytest.approx(differences.mean())
        assert (pair.better, pair.worse) == ((differences > 0).sum(), (differences < 0).sum())
        theirs = stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=20_000, rng=1)
        assert pair.p == pytest.approx(theirs.pvalue, abs=0.01)
        if (differences != 0).sum() > 20:
            drawn = stats.bootstrap((differences,), np.mean, n_resamples=4000, method="percentile", rng=1)
            ends = drawn.confidence_interval
            assert pair.high - pair.low == pytest.approx(ends.high - ends.low, rel=0.2)
        p[pair] = pair.p
    ordered = sorted(p, key=lambda pair: p[pair])
    adjusted = np.maximum.accumulate([(3 - i) * p[pair] for i, pair in enumerate(ordered)]).clip(max=1)
    assert [pair.p_holm for pair in ordered] == pytest.approx(adjusted.tolist())
    assert "knn & \\textbf{" in report.latex
    assert report.latex.count("$^\\dagger$") == sum(
        pair.significant for pair in found.pairs if "knn" in (pair.left, pair.right)
    )


def test_the_level_of_a_comparison_is_the_one_that_was_asked_for():
    lists = {"knn": LISTS / "run_itemknn.trec", "pop": LISTS / "run_pop.trec"}

    def compared(alpha):
        report = recassay.evaluate(lists, train=TRAIN, test=TEST, metrics=["ndcg@10"], compare=True, alpha=alpha)
        (pair,) = report.comparison["ndcg@10"].datasets[0].pairs
        return pair, report.latex.count("$^\\dagger$")

    p = compared(0.05)[0].p_holm
    (strict, none), (lax, daggers) = compared(0.9 * p), compared(1.1 * p)
    assert (strict.significant, none, lax.significant, daggers) == (False, 0, True, 1)
    assert strict.low < lax.low < lax.high < strict.high


def test_command_compares_and_saves(cli, tmp_path):
    out = tmp_path / "out"
    ran = cli("evaluate", LISTS / "run_itemknn.trec", LISTS / "run_pop.trec", "--train", TRAIN, "--test", TEST,
              "--metrics", "ndcg@10,coverage@10", "--compare", "--out", out)  # fmt: skip
    assert ran.code == 0, ran.err
    first, *_ = ran.out.splitlines()
    assert first == "itemknn is best on toya by nDCG@10; itemknn is 40 % better than pop."
    assert "p (Holm)" not in ran.out
    assert "\\begin{tabular}" not in ran.out
    row = next(line for line in ran.out.splitlines() if line.startswith("a  itemknn"))
    assert row.split() == ["a", "itemknn", "0.312", "b", next(iter(row.split()[4:]))]
    whole = cli("evaluate", LISTS / "run_itemknn.trec", LISTS / "run_pop.trec", "--train", TRAIN, "--test", TEST,
                "--metrics", "ndcg@10,coverage@10", "--compare", "--all").out  # fmt: skip
    assert "p (Holm)" in whole
    assert "< .001*" in whole
    assert "e-" not in whole
    assert {path.name for path in out.iterdir()} >= {"metrics.csv", "per_user.csv", "pairs.csv", "evaluation.tex"}
    assert "\\begin{tabular}" in (out / "evaluation.tex").read_text()
    told = json.loads((out / "evaluation.json").read_text())
    assert set(told["algorithms"]) == {"itemknn", "pop"}
    assert set(told["comparison"]) == {"ndcg@10"}  # coverage has no value for each user
    alone = cli("evaluate", LISTS / "run_pop.trec", "--train", TRAIN, "--test", TEST, "--compare")
    assert alone.code == 2
    assert "cannot be compared with itself" in alone.err


@pytest.mark.slow
def test_a_page_of_lists_is_the_report_of_a_study(cli, tmp_path):
    page = tmp_path / "page.html"
    ran = cli("evaluate", LISTS / "run_itemknn.trec", LISTS / "run_pop.trec", "--train", TRAIN, "--test", TEST,
              "--metrics", "ndcg@10,coverage@10", "--control", "itemknn", "--out", page)  # fmt: skip
    assert ran.code == 0, ran.err
    assert f"wrote {page}" in ran.err
    text = page.read_text()
    assert "itemknn, the reference, is best on toya by nDCG@10" in text.replace("\u00a0", " ")
    for part in ('class="forest means"', "Who gains and who loses: pop against itemknn", "Every metric on toya"):
        assert part in text
    alone = cli("evaluate", LISTS / "run_pop.trec", "--train", TRAIN, "--test", TEST, "--out", page)
    assert alone.code == 2
    unknown = cli("evaluate", LISTS / "run_itemknn.trec", LISTS / "run_pop.trec", "--train", TRAIN, "--test", TEST,
                  "--compare", "--control", "nobody")  # fmt: skip
    assert (unknown.code, "is not one of the algorithms" in unknown.err) == (2, True)


@pytest.mark.slow
def test_groups_stand_below_the_screen_of_compared_lists_and_on_their_page(cli, tmp_path):
    ids = pl.read_csv(TEST, infer_schema_length=None).to_series().unique(maintain_order=True).cast(pl.String)
    parts = pl.Series("part", [f"half {n % 2}" for n in range(len(ids))])
    pl.DataFrame({"user": ids, "part": parts}).write_csv(tmp_path / "groups.csv")
    page, lists = tmp_path / "page.html", (LISTS / "run_itemknn.trec", LISTS / "run_pop.trec")
    ran = cli("evaluate", *lists, "--train", TRAIN, "--test", TEST, "--metrics", "ndcg@10,ndcg@10[snips]",
              "--compare", "--groups", tmp_path / "groups.csv", "--out", page)  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[0].startswith("itemknn is best on toya by nDCG@10;")
    assert "half 0" in ran.out
    assert "half 1" in ran.out
    text = page.read_text()
    assert 'class="forest means"' in text
    assert "half 0" in text
    assert "ndcg@10[snips]" in text.lower()


def test_the_events_of_lists_are_found_as_by_hand():
    report = recassay.evaluate([LISTS / "run_itemknn.trec", LISTS / "run_pop.trec"], train=TRAIN, test=TEST,
                               metrics=["recall@10"], compare=True)  # fmt: skip
    split, names = report.judging.split, ("itemknn", "pop")
    found = judged_gains(split, report.judged, "toya", "recall@10", names)
    assert len(found.event_user) == len(split.test)
    counts = np.bincount(found.event_user, minlength=found.users)
    for row in range(2):
        recall = np.bincount(found.event_user, found.found[row], found.users) / counts
        assert recall == pytest.approx(found.values[row])


def test_an_item_twice_counts_once():
    """Elliot's Random writes items twice (a true file): the best place counts, and it is said."""
    report = recassay.evaluate(LISTS / "Random_seed=42.tsv", train=TRAIN, test=TEST, metrics=["recall@10"])
    assert [one.name for one in report.judged] == ["Random"]
    assert any("rows repeat an item of their list" in note for note in report.notes)


def test_a_users_own_future_refuses_and_is_accepted_by_name(tmp_path, cli):
    rows = ["user,item,timestamp", *(f"{u},{i},{100 * i + u}" for u in range(40) for i in range(6))]
    (tmp_path / "train.csv").write_text("\n".join(rows))
    (tmp_path / "test.csv").write_text(
        "user,item,timestamp\n" + "\n".join(f"{u},{(u + 1) % 6 + 6},150" for u in range(40))
    )
    (tmp_path / "lists.csv").write_text("user,item,score\n" + "\n".join(f"{u},{u % 6},1" for u in range(40)))
    ask = ["evaluate", tmp_path / "lists.csv", "--train", tmp_path / "train.csv", "--test", tmp_path / "test.csv"]
    refused = cli(*ask)
    assert refused.code == 2
    assert "--allow-leakage" in refused.err


@pytest.mark.parametrize(("user", "item", "said"), [
    ("x{}y", "{}", "judged users has a list in it"), ("{}", "y{}z", "name an item that the data lacks"),
])  # fmt: skip
def test_lists_of_other_data_are_refused(tmp_path, user, item, said):
    other = tmp_path / "lists.csv"
    other.write_text("user,item,score\n" + "\n".join(f"{user},{item},1".format(u, u) for u in range(1, 50)))
    with pytest.raises(RecAssayError, match=said):
        recassay.evaluate(other, train=TRAIN, test=TEST, metrics=["recall@10"])


@pytest.mark.parametrize("others", [0, 40])
def test_lists_of_seen_items_are_refused_or_counted(tmp_path, others):
    rows = ["user,item", *(f"{user},{item}" for user in range(40) for item in range(6))]
    (tmp_path / "train.csv").write_text("\n".join([*rows, "39,6"]))
    (tmp_path / "test.csv").write_text("user,item\n" + "\n".join(f"{user},6" for user in range(39)))
    lists = [f"{user},{user % 6},2" for user in range(39)] + [f"{user},6,1" for user in range(min(others, 39))]
    (tmp_path / "lists.csv").write_text("user,item,score\n" + "\n".join(lists))
    ask = {"train": tmp_path / "train.csv", "test": tmp_path / "test.csv", "metrics": ["recall@2"]}
    if others:
        report = recassay.evaluate(tmp_path / "lists.csv", **ask)
        assert any("39 of 78 rows name an item that the user has in the training data" in n for n in report.notes)
    else:
        with pytest.raises(RecAssayError, match=r"all 39 rows that can be judged name an item that the user has"):
            recassay.evaluate(tmp_path / "lists.csv", **ask)


def test_lists_of_one_name_are_called_by_their_files(tmp_path):
    files = [tmp_path / folder / "mine.csv" for folder in ("a", "b", "c")]
    for file in files:
        file.parent.mkdir()
        file.write_text("user,item,rank\nu1,i1,1\n")
    other = tmp_path / "other.csv"
    other.write_text(files[0].read_text())
    assert list(_named([*files, other])) == ["mine (mine.csv)", f"mine ({files[1]})", f"mine ({files[2]})", "other"]


def test_command_weights_by_a_table_and_says_what_the_weights_are_worth(cli, tmp_path):
    rng = np.random.default_rng(2)
    pairs = np.argwhere(rng.random((150, 12)) < 0.6)
    halves = rng.random(len(pairs)) < 0.5
    halves[np.unique(pairs[:, 0], return_index=True)[1]] = True  # nobody is in the test part alone
    for name, part in (("train", pairs[halves]), ("test", pairs[~halves])):
        pl.DataFrame(part, schema=["user", "item"]).write_csv(tmp_path / f"{name}.csv")
    lists = [(u, int(i), 12 - r) for u in range(150) for r, i in enumerate(rng.permutation(12)[:5])]
    pl.DataFrame(lists, schema=["user", "item", "score"], orient="row").write_csv(tmp_path / "mine.csv")
    chance = np.linspace(0.2, 0.9, 12)
    pl.DataFrame({"item": range(12), "propensity": chance}).write_csv(tmp_path / "p.csv")
    asked = ["evaluate", tmp_path / "mine.csv", "--train", tmp_path / "train.csv", "--test", tmp_path / "test.csv",
             "--propensity", tmp_path / "p.csv", "--metrics"]  # fmt: skip
    found = json.loads(cli(*asked, "recall@5,recall@5[ips]", "--json").out)
    weights = 1 / chance[pairs[~halves][:, 1]]
    facts = found["weights"]["recall@5[ips]"]
    assert facts["effective"] == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert f"{facts['events']:,} weighted test events are worth" in cli(*asked, "recall@5,recall@5[ips]").out
    relevant = {u: {i: 1 / chance[i] / weights.mean() for i in pairs[~halves][pairs[~halves][:, 0] == u][:, 1]}
                for u in range(150)}  # fmt: skip
    listed = {u: [i for v, i, _ in lists if v == u] for u in range(150)}
    values = [sum(own.get(i, 0) for i in listed[u]) / len(own) for u, own in relevant.items() if own]
    assert found["metrics"]["recall@5[ips]"] == pytest.approx(np.mean(values))
    refused = cli(*asked, "recall@5")
    assert refused.code == 2
    assert "no metric is weighted by propensity" in refused.err
