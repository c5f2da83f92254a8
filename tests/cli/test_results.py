"""One dataset is enough: a study from its file to every number of it, and what needs several datasets in one line."""

from __future__ import annotations

import io
import json
import sys

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.cli.results import _table
from recassay.evidence.facts import study_facts
from recassay.reporting.page.top import _protocols
from recassay.store import CellRecord
from support.in_process import without_processes
from support.made import lines_of
from support.shared import made_once
from support.stores import write_records

STUDY = """
[study]
name = "films"
datasets = ["./films.csv"]
algorithms = ["MostPop", "EASE", "Random"]
metrics = ["ndcg@10", "recall@10", "coverage@10"]
[protocol]
split = "random_per_user"
filter = "none"
[tuning]
trials = 0
"""


def films() -> str:
    """80 users in two groups that like different items, so that EASE is ahead of popularity."""
    rng = np.random.default_rng(5)
    rows = ["user,item"]
    for user in range(80):
        liked = rng.permutation(20)[:10] + 20 * (user % 2)
        rows += [f"{user},{item}" for item in (*liked, *rng.permutation(40)[:2])]
    return "\n".join(dict.fromkeys(rows))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    def make(folder):
        (folder / "films.csv").write_text(films())
        (folder / "study.toml").write_text(STUDY)
        with without_processes():
            recassay.run(folder / "study.toml", folder / "out")

    return made_once(tmp_path_factory, "one dataset", make) / "out"


@pytest.mark.slow
def test_one_dataset_gets_a_leaderboard_tests_and_one_line_for_the_rest(cli, study):
    ran = cli("analyze", study, "--metric", "ndcg@10", "--json")
    assert ran.code == 0, ran.err
    answer = ran.json()
    users = answer["analyses"]["users"]
    assert {"users", "pareto", "cost", "strata"} <= answer["analyses"].keys()
    board = next(iter(users["datasets"].values())) if isinstance(users["datasets"], dict) else users["datasets"][0]
    assert board["users"] == 80
    several = {name for name, why in answer["skipped"].items() if "only one dataset has values" in why}
    assert {"rank", "compare", "profiles", "glicko", "beta_irt", "model", "plan"} <= several
    told = cli("analyze", study, "--metric", "ndcg@10", "--all").out
    assert " ".join(told.split()).count("needs at least two datasets") == 1
    assert told.count("P(first again)") == 0
    assert "p (Holm)" in told


def test_the_leaderboard_is_that_of_the_users(study):
    """Means, signs and p-values from the scores of single users, by an independent way."""
    from scipy import stats

    found = recassay.users(study, "ndcg@10").datasets[0]
    wide = recassay.results(study, ["ndcg@10"], per_user=True).pivot(on="algorithm", index="user", values="value")
    means = {name: wide.get_column(name).mean() for name in ("EASE", "MostPop", "Random")}
    assert found.algorithms[0] == max(means, key=means.get)
    for pair in found.pairs:
        differences = (wide.get_column(pair.left) - wide.get_column(pair.right)).to_numpy()
        assert pair.difference == pytest.approx(differences.mean())
        drawn = stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=20_000, rng=0)
        assert pair.p == pytest.approx(drawn.pvalue, abs=0.02)
        assert pair.p_holm >= pair.p


@pytest.mark.slow
def test_results_in_every_form(cli, study, tmp_path):
    table = cli("results", study, "--all")
    assert "9 rows" not in table.out
    assert "3 rows" in table.out  # metrics side by side
    frame = pl.read_csv(io.StringIO(cli("results", study, "--csv").out))
    assert frame.columns == ["algorithm", "dataset", "metric", "seed", "value"]
    assert set(frame.get_column("metric")) >= {"ndcg@10", "recall@10", "coverage@10", "seconds_fit"}
    answer = cli("results", study, "--metric", "ndcg@10", "--json").json()
    assert {row["metric"] for row in answer["results"]} == {"ndcg@10"}
    expected = {row["algorithm"]: row["value"] for row in answer["results"]}
    forms = {
        "parquet": pl.read_parquet,
        "csv": pl.read_csv,
        "tsv": lambda path: pl.read_csv(path, separator="\t"),
        "json": lambda path: pl.DataFrame(json.loads(path.read_text())["results"]),
    }
    written = (
        ("a.parquet", "parquet", ()), ("b.csv", "csv", ()), ("c.tsv", "tsv", ()), ("d.json", "json", ["--json"]),
        ("e", "parquet", ["--parquet"]), ("f.pq", "csv", ["--csv"]), ("g.parquet", "json", ["--json"]),
        ("H.PARQUET", "parquet", ()), ("I.Tsv", "tsv", ()),
    )  # fmt: skip
    for name, form, flag in written:
        path = tmp_path / "new" / name
        ran = cli("results", study, "-m", "ndcg@10", "--out", path, *flag)
        assert ran.code == 0, ran.err
        rows = forms[form](path).to_dicts()
        assert {row["algorithm"]: row["value"] for row in rows} == pytest.approx(expected)
    assert cli("results", study, "--csv", "--json").code == 2
    assert cli("results", study, "--metric", "coverage@10", "--per-user").code == 2
    assert cli("results", tmp_path).code == 2


@pytest.fixture
def stored(tmp_path):
    """Three cells, of which one failed."""
    records = [
        CellRecord(name, algorithm, dataset, 1, None, {}, "done" if value else "failed", metrics={"ndcg@10": value})
        for name, algorithm, dataset, value in (("a", "A", "songs", None), ("b", "A", "films", 0.123456),
                                                ("c", "B", "films", 0.5))
    ]  # fmt: skip
    return write_records(tmp_path / "stored", ["ndcg@10"], records)


def test_the_numbers_of_a_study_stand_by_dataset(cli, stored):
    ran = cli("results", stored, "-m", "ndcg@10")
    assert [line for line in lines_of(ran.out) if "─" not in line] == [
        "3 rows: 2 algorithms, 2 datasets.", "", "dataset algorithm seed ndcg@10", "films A 1 0.12346", "films B 1 0.5",
        "songs A 1", "", "Everything: --all, as data: --csv, --parquet or --json",
    ]  # fmt: skip
    assert lines_of(cli("results", stored, "-m", "ndcg@10", "--all").out)[0] == "3 rows"
    folds = [CellRecord(f"f{fold}", "A", "films", 1, fold, {}, "done", metrics={"ndcg@10": 0.5}) for fold in (0, 1)]
    shown = lines_of(cli("results", write_records(stored / "folds", ["ndcg@10"], folds), "-m", "ndcg@10").out)
    assert {"dataset algorithm seed fold ndcg@10", "films A 1 0 0.5", "films A 1 1 0.5"} <= set(shown)


@pytest.mark.parametrize(("rows", "said"), [(200, False), (201, True)])
def test_more_than_200_rows_are_counted(capsys, rows, said):
    _table(pl.DataFrame({"user": [f"u{n}" for n in range(rows)], "value": [0.5] * rows}), True)
    shown = capsys.readouterr().out.splitlines()
    assert (shown[0], shown[202][:4]) == (f"{rows} rows", "u199")
    assert ("The first 200 of 201 rows; --csv or --parquet has them all." in shown) == said


def test_parquet_is_no_text_for_a_terminal(cli, stored, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    said = "Parquet is not text for a terminal; say --out FILE, or redirect the output"
    ran = cli("results", stored, "--parquet")
    assert (ran.code, ran.out, ran.err) == (2, "", f"recassay: {said}\n")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    monkeypatch.setattr("recassay.cli.results.table_bytes", lambda frame, ending: f"{frame.height} {ending}".encode())
    redirected = cli("results", stored, "--parquet", "-m", "ndcg@10")
    assert (redirected.code, redirected.out, redirected.err) == (0, "3 .parquet", "")


def test_an_imported_table_is_shown_in_part(cli, tmp_path):
    """No metric is the usual one: the first is shown."""
    rows = [
        {"algorithm": f"A{a:02d}", "dataset": f"d{d}", "metric": metric, "value": 0.1 + a + d}
        for metric in ("recall@5", "precision@5")
        for a in range(22)
        for d in range(9)
        if (a, d) != (0, 1)
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "table.csv")
    ran = cli("import", tmp_path / "table.csv")
    assert ran.complaints == [], "nothing was written"
    assert cli("import", tmp_path / "table.csv", "--out", tmp_path / "out.csv").complaints == [
        f"wrote {len(rows)} rows to {tmp_path / 'out.csv'}"
    ]
    shown = lines_of(ran.out)
    assert shown[0] == "recall@5: 22 algorithms on 9 datasets"
    assert shown[1] == "algorithm d0 d1 d2 d3 d4 d5 d6 d7"
    assert shown[3] == "A00 0.1 2.1 3.1 4.1 5.1 6.1 7.1"
    assert shown[22].startswith("A19 ")
    assert shown[-1] == "and 2 more algorithms, 1 more dataset, 1 more metric"
    pl.DataFrame(rows[:2]).write_csv(tmp_path / "small.csv")
    assert not any(line.startswith("and ") for line in lines_of(cli("import", tmp_path / "small.csv").out))


def test_an_imported_table_may_be_the_output_itself(cli, stored, monkeypatch):
    written = []
    monkeypatch.setattr("recassay.api.import_results.write_files", lambda folder, files: written.append(files))
    ran = cli("import", stored, "--out", "-")
    assert (ran.code, ran.out, list(written[0])) == (0, "", ["-"])
    assert ran.complaints == [], "where it went is not a news"


def test_all_rows_of_a_study_are_up_to_200(cli, study):
    ran = cli("results", study, "--per-user", "--metric", "ndcg@10", "--all")
    assert sum(line.startswith(("EASE", "MostPop", "Random")) for line in ran.out.splitlines()) == 200
    assert "The first 200 of 240 rows" in ran.out


@pytest.mark.slow
def test_users_go_out_and_in_again(cli, study, tmp_path):
    """The export of single users is a table that every command reads, and gives the same tests."""
    path = tmp_path / "films.csv"
    assert cli("results", study, "--per-user", "--csv", "--out", path).code == 0
    whole, again = recassay.users(study, "ndcg@10"), recassay.users(path, "ndcg@10")
    for one, two in zip(whole.datasets[0].pairs, again.datasets[0].pairs, strict=True):
        assert (one.left, one.right, one.better) == (two.left, two.right, two.better)
        assert one.p == pytest.approx(two.p)
    means = recassay.load_results(study)
    back = recassay.load_results(path)
    for name in means.algorithms:
        ours, theirs = (table.cells("ndcg@10").filter(algorithm=name).get_column("value")[0] for table in (means, back))
        assert ours == pytest.approx(theirs)
    ran = cli("analyze", path, "--metric", "ndcg@10", "--json")
    assert "users" in ran.json()["analyses"]
    refused = cli("users", study.parent / "films.csv")
    assert refused.code == 2


MIXED = """
[study]
name = "mixed"
datasets = ["./films.csv", "./rated.csv", "./given"]
algorithms = ["MostPop", "Random"]
metrics = ["ndcg@10"]
[protocol]
positive_threshold = 4
[dataset.films]
positive_threshold = "none"
split = "random"
ratios = [0.6, 0.2, 0.2]
filter = "none"
[dataset.given]
split = "given"
positive_threshold = "none"
[tuning]
trials = 0
"""


@pytest.fixture
def mixed(tmp_path, in_process):
    """Data without clock and ratings, data with both, and a split made elsewhere; one study."""
    rng = np.random.default_rng(1)
    (tmp_path / "films.csv").write_text(films())
    rows = ["user,item,rating,timestamp"]
    for user in range(60):
        rows += [f"{user},{item},{rng.integers(2, 6)},{1_600_000_000 + int(rng.integers(10**7))}"
                 for item in rng.permutation(30)[:15]]  # fmt: skip
    (tmp_path / "rated.csv").write_text("\n".join(rows))
    (tmp_path / "given").mkdir()
    parts = {"train": [], "valid": [], "test": []}
    for user in range(60):
        items = rng.permutation(30)[:12]
        for part, chosen in zip(parts, (items[:8], items[8:10], items[10:]), strict=True):
            parts[part] += [f"{user},{item}" for item in chosen]
    for part, lines in parts.items():
        (tmp_path / "given" / f"{part}.csv").write_text("\n".join(["user,item", *lines]))
    (tmp_path / "study.toml").write_text(MIXED)
    return tmp_path


def test_each_dataset_has_its_protocol(cli, mixed):
    ran = cli("run", mixed / "study.toml", "--out", mixed / "out", "--json")
    assert ran.code == 0, ran.err
    assert ran.json()["done"] == 6
    assert not ran.json()["failed"]
    told = " ".join(str(row) for row in _protocols(study_facts(mixed / "out")).values())
    for said in (
        "films</strong>: every interaction is positive; no filter; random (at random over all interactions), 60 /",
        "rated</strong>: ratings of at least 4 are positive; items with at least 5",
        "given</strong>: every interaction is positive; no filter; given (given files)",
    ):
        assert said in told, told
    test = pl.read_csv(mixed / "given" / "test.csv")
    users = recassay.results(mixed / "out", per_user=True).filter(dataset="given", algorithm="MostPop")
    assert set(users.get_column("user")) == set(test.get_column("user").cast(pl.String))
    train = pl.concat([pl.read_csv(mixed / "given" / f"{part}.csv") for part in ("train", "valid")])
    assert train.height == 600


@pytest.mark.slow
def test_a_dry_run_names_what_cannot_run_and_tells_a_cause_once(cli, mixed):
    study = mixed / "bad.toml"
    study.write_text(MIXED.replace('positive_threshold = "none"\nsplit = "random"', 'split = "random"'))
    plan = cli("run", study, "--out", mixed / "bad", "--dry-run", "--json").json()
    states = {(cell["algorithm"], cell["dataset"]): cell["state"] for cell in plan["cells"]}
    assert states["MostPop", "films"] == states["Random", "films"] == "cannot run"
    assert states["MostPop", "rated"] == "to go"
    told = " ".join(cli("run", study, "--out", mixed / "bad", "--dry-run").out.split())
    assert told.count("these interactions have no weights") == 1
    assert "cannot run: MostPop, Random on films" in told
    ran = cli("run", study, "--out", mixed / "bad")
    assert ran.code == 1
    assert " ".join(ran.out.split()).count("these interactions have no weights") == 1
