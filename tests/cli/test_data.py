"""`recassay data` and `recassay evaluate` as a user meets them."""

from __future__ import annotations

import http.server
import re
import threading
import zipfile
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.cli import data as data_commands
from recassay.cli.evaluate import _shown
from recassay.data.catalog import entries as catalog
from recassay.data.synthetic.generate import generate
from recassay.data.synthetic.presets import preset_spec
from support.made import lines_of


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    monkeypatch.setenv("RECASSAY_HOME", str(folder))
    return folder


@pytest.fixture
def events(tmp_path):
    data = generate(preset_spec("dense-small")).interactions
    path = tmp_path / "events.csv"
    pl.DataFrame(
        {
            "user_id": data.users.gather(data.user),
            "item_id": data.items.gather(data.item),
            "timestamp": data.time,
        }
    ).write_csv(path)
    return path


@pytest.mark.slow
def test_import_list_describe_remove(cli, events):
    manifest = cli("data", "import", events, "--name", "mine", "--note", "a try", "--json").json()
    assert manifest["interactions"] == 15_000
    assert manifest["time_unit"] == "seconds"
    assert "15,000 interactions" in cli("data", "import", events, "--name", "again").out
    listed = cli("data", "list", "--json").json()["datasets"]
    assert {row["name"] for row in listed} == {"mine", "again"}
    by_name = cli("data", "describe", "mine", "--json").json()
    by_file = cli("data", "describe", events, "--json").json()
    assert by_name["characteristics"] == by_file["characteristics"]
    assert len(by_name["characteristics"]) == 18
    assert by_name["characteristics"]["Nr"] == 15_000
    assert cli("data", "remove", "mine").code == 0
    assert {row["name"] for row in cli("data", "list", "--json").json()["datasets"]} == {"again"}


def test_describe_is_one_screen_and_all_has_the_characteristics(cli, events):
    shown = cli("data", "describe", events)
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert len(lines) <= 30
    assert " events of " in lines[0]
    assert "█" in shown.out
    assert "Gini" not in shown.out
    whole = lines_of(cli("data", "describe", events, "--all").out)
    for words in ("Ginii Gini coefficient of the items' popularity ", "SpaceSize cells of the matrix (users x items) "):
        assert any(line.startswith(words) for line in whole)


def test_describe_a_split_and_its_audit(cli, events):
    found = cli("data", "describe", events, "--split", "global_time", "--json").json()["split"]
    assert set(found["parts"]) == {"train", "valid", "test"}
    assert found["audit"]["findings"] == []
    assert 0 < found["audit"]["share_of_users_evaluated"] <= 1
    shown = cli("data", "describe", events, "--split", "user_time")
    assert "note train_after_test" in shown.out
    assert "No leakage found." in cli("data", "describe", "synthetic:dense-small", "--split", "global_time").out


@pytest.mark.parametrize("which", ["synthetic:long-tail", "synthetic:few-items@2"])
def test_embedded_datasets(cli, which):
    assert cli("data", "describe", which, "--json").json()["characteristics"]["Nr"] > 10_000


def test_everything_is_listed(cli):
    rows = {row["name"]: row for row in cli("data", "list", "--all", "--json").json()["datasets"]}
    assert rows["synthetic:dense-small"]["kind"] == "embedded"
    assert rows["ml-20m"]["kind"] == "fetch"
    assert rows["ml-20m"]["tried"] is False
    assert len(rows) > 80


def test_fetch_from_a_server(cli, tmp_path, monkeypatch, events, home):
    served = tmp_path / "served"
    served.mkdir()
    with zipfile.ZipFile(served / "tiny.zip", "w") as archive:
        archive.write(events, "tiny/events.csv")
    handler = lambda *a: http.server.SimpleHTTPRequestHandler(*a, directory=str(served))  # noqa: E731
    monkeypatch.setattr(http.server.SimpleHTTPRequestHandler, "log_message", lambda *a: None)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}/tiny.zip"
        entry = catalog.CatalogEntry(
            name="tiny", title="Tiny", domain="Books", home=address, addresses=(address,), member="tiny/events.csv",
            feedback="implicit",
        )  # fmt: skip
        monkeypatch.setattr(catalog, "CATALOG", catalog.Catalog((entry,)))
        fetched = cli("data", "fetch", "tiny", "--json")
        server.shutdown()
    assert fetched.code == 0, fetched.err
    assert fetched.json()["interactions"] == 15_000
    assert cli("data", "describe", "tiny", "--json").json()["characteristics"]["Nr"] == 15_000
    assert (home / "datasets" / "tiny" / "manifest.json").exists()


BAD = {
    "absent file": (["data", "import", "absent.csv", "--name", "x"], "absent.csv"),
    "no name": (["data", "import", "{file}"], "--name"),
    "bad name": (["data", "import", "{file}", "--name", "../x"], "../x"),
    "bad option": (["data", "import", "{file}", "--name", "x", "--time", "fortnights"], "time"),
    "bad column": (["data", "import", "{file}", "--name", "x", "--column", "user=nope"], "nope"),
    "column form": (["data", "import", "{file}", "--name", "x", "--column", "user"], "role=name"),
    "weights": (["data", "import", "{file}", "--name", "x", "--event-weights", "view"], "type=number"),
    "unknown dataset": (["data", "describe", "nothing-of-that-name"], "there is no dataset or file"),
    "known, not stored": (["data", "describe", "ml-20m"], "recassay data fetch ml-20m"),
    "unknown preset": (["data", "describe", "synthetic:dense-smal"], "did you mean 'dense-small'"),
    "scale": (["data", "describe", "synthetic:dense-small@x"], "is not a scale"),
    "split": (["data", "describe", "{file}", "--split", "magic"], "split"),
    "ratios": (["data", "describe", "{file}", "--split", "random", "--ratios", "1,2"], "ratios"),
    "threshold": (["data", "describe", "{file}", "--split", "random", "--threshold", "3"], "threshold"),
    "strict": (["data", "describe", "{file}", "--split", "random", "--min-user-interactions", "9999"], "filter"),
    "by hand": (["data", "fetch", "zvuk"], "cannot be fetched by a program"),
    "unknown fetch": (["data", "fetch", "ml-21m"], "did you mean"),
    "not stored": (["data", "remove", "nope"], "nope"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_leaves_nothing(cli, events, home, case):
    arguments, message = BAD[case]
    ran = cli(*(a.format(file=events) for a in arguments))
    assert ran.code == 2, ran.err
    assert message in ran.err
    assert len(ran.err.strip().splitlines()) == 1
    stored = home / "datasets"
    assert not stored.exists() or not list(stored.iterdir())


@pytest.fixture
def judged(tmp_path):
    """Train and test files, and lists whose worth is known by hand."""
    (tmp_path / "train.csv").write_text(
        "user,item,timestamp\n"
        + "\n".join(
            f"{u},{i},{t}" for u, i, t in [("a", "x", 1), ("a", "y", 2), ("b", "x", 3), ("c", "z", 4), ("c", "w", 5)]
        )
    )
    (tmp_path / "test.csv").write_text("user,item,timestamp\na,z,10\na,w,11\nb,y,12\nnew,x,13\n")
    (tmp_path / "recs.csv").write_text("user,item,score\na,z,0.9\na,w,0.8\nb,z,0.7\nb,y,0.6\nghost,x,0.1\n")
    return tmp_path  # fmt: skip


def test_evaluate_a_file(cli, judged):
    ran = cli("evaluate", judged / "recs.csv", "--train", judged / "train.csv", "--test", judged / "test.csv",
              "--metrics", "ndcg@2,hitrate@2,mrr@2,recall@2,coverage@2", "--json")  # fmt: skip
    assert ran.code == 0, ran.err
    answer = ran.json()
    assert answer["counts"]["evaluated"] == 2
    assert answer["metrics"]["ndcg@2"] == pytest.approx((1 + 1 / np.log2(3)) / 2)
    assert answer["metrics"]["mrr@2"] == pytest.approx(0.75)
    assert answer["metrics"]["recall@2"] == 1
    assert answer["metrics"]["coverage@2"] == pytest.approx(3 / 4)
    assert answer["lists"]["unknown_users"] == 1
    assert answer["conventions"]["ndcg@2"]["formula"]


def test_evaluate_saves_one_row_a_user(cli, judged):
    out = judged / "out"
    ran = cli("evaluate", judged / "recs.csv", "--train", judged / "train.csv", "--test", judged / "test.csv",
              "--out", out)  # fmt: skip
    assert ran.code == 0, ran.err
    assert "2 users evaluated" in ran.out
    per_user = pl.read_csv(out / "per_user.csv")
    assert per_user.columns[0] == "user", "of one file of lists no column names it"
    assert pl.read_csv(out / "metrics.csv").columns[0] == "metric"
    assert per_user.get_column("user").to_list() == ["a", "b"]
    assert per_user.get_column("ndcg@10").to_list() == pytest.approx([1.0, 1 / np.log2(3)])


@pytest.mark.slow
def test_evaluate_tells_of_repeats_and_refuses_bad_files(cli, judged):
    (judged / "leak.csv").write_text("user,item,timestamp\na,x,10\na,z,10\n")
    arguments = ["evaluate", judged / "recs.csv", "--train", judged / "train.csv", "--test", judged / "leak.csv"]
    ran = cli(*arguments)
    assert ran.code == 0
    said = "repeat what their user had in training, and left the test, since the task is to recommend new items"
    assert said in " ".join(ran.out.split())
    again = cli(*arguments, "--task", "repeat")
    assert "repeat what their user had in training, and are judged" in " ".join(again.out.split())
    (judged / "twice.csv").write_text("user,item,score\na,z,0.9\na,z,0.8\n")
    twice = cli("evaluate", judged / "twice.csv", "--train", judged / "train.csv", "--test", judged / "test.csv")
    assert twice.code == 0
    assert "1 rows repeat an item of their list and were left out" in twice.out
    (judged / "text.csv").write_text("user,item,score\na,z,high\n")
    text = cli("evaluate", judged / "text.csv", "--train", judged / "train.csv", "--test", judged / "test.csv")
    assert text.code == 2
    assert "'high' in data row 1" in text.err


def test_positions_are_no_clock(cli, tmp_path):
    path = tmp_path / "sequences.csv"
    path.write_text(
        "user,item,timestamp\n" + "\n".join(f"{u},{(3 * u + i) % 9},{i}" for u in range(9) for i in range(8))
    )
    refused = cli("data", "describe", path, "--split", "global_time")
    assert refused.code == 2
    assert "the times are positions, not a clock" in refused.err
    assert cli("data", "describe", path, "--split", "leave_last_out").code == 0


def test_python_verbs(events):
    data = recassay.load_data(events)
    assert len(data) == 15_000
    described = recassay.describe_data(data.csr(), protocol={"split": "random"})
    assert described.audit["findings"] == []
    with pytest.raises(recassay.RecAssayError, match="did you mean 'positive_threshold'"):
        recassay.describe_data(events, protocol={"positiv_threshold": 3})


def test_the_list_says_what_to_do_by_hand(cli, home):
    shown = " ".join(cli("data", "list", "--all").out.split())
    assert "Rekko challenge (Okko): log in at Kaggle" in shown
    rows = {row["name"]: row for row in cli("data", "list", "--all", "--json").json()["datasets"]}
    assert rows["msd-taste-profile"]["kind"] == "by hand"
    assert "millionsongdataset.com" in rows["msd-taste-profile"]["how"]
    assert rows["ml-100k"]["how"] is None


def test_sequences_are_described_with_their_order_first(cli, tmp_path):
    rows = [f"u{u},i{(u + n) % 11},{1_600_000_000 + 997 * u + 5000 * n}" for u in range(60) for n in range(6)]
    (tmp_path / "e.csv").write_text("user,item,timestamp\n" + "\n".join(rows))
    command = ("data", "describe", tmp_path / "e.csv", "--sequences", "--task", "repeat")
    split = cli(*command, "--json").json()["split"]
    assert (split["protocol"]["split"], split["protocol"]["target"], split["protocol"]["task"]) == (
        "leave_last_out", "last", "repeat"
    )  # fmt: skip
    order, told = split["audit"]["order"], cli(*command).out
    assert order["users"] == 60
    assert f"{100 * abs(order['change']):.0f} % of nDCG@10" in told
    assert "Of 60 targets 0.0 % are in the history" in told
    refused = cli("data", "describe", tmp_path / "e.csv", "--sessions", "1h")
    assert refused.code == 2
    assert "--sessions says how to split, and --split is not given" in refused.err


def test_a_described_split_is_told_number_by_number(cli, tmp_path, capsys):
    """Every number of the JSON stands in the tables; what the audit accepts is a note, what it refuses a leak."""
    rows = [f"u{u},i{(u + 3 * n) % 11},{1_600_000_000 + 997 * u + 5000 * n}" for u in range(40) for n in range(8)]
    (tmp_path / "e.csv").write_text("user,item,timestamp\n" + "\n".join(rows))
    command = ("data", "describe", tmp_path / "e.csv", "--split", "user_time", "--filter", "none")
    described, shown = cli(*command, "--json").json(), lines_of(cli(*command).out)
    split = described["split"]
    assert f"Split user_time, fingerprint {split['fingerprint'][:12]}" in shown
    for name, part in split["parts"].items():
        assert f"{name} {part['interactions']:,} {part['users']:,} {part['items']:,}" in shown
    assert sum(part["interactions"] for part in split["parts"].values()) == 320
    for step, count in split["counts"].items():
        assert f"{step} {count:,}" in shown
    whole = lines_of(cli(*command, "--all").out)
    assert any(line.startswith("Nr ") and line.endswith(" 320") for line in whole)
    assert any(line.startswith("Density ") and " 0.7273" in line for line in whole)
    audit = split["audit"]
    share = f"{100 * audit['share_of_users_evaluated']:.1f} % of the users are evaluated."
    assert f"Audit ({audit['scope']}): {share}" in shown
    assert any(line.startswith("note train_after_test: ") for line in shown)
    assert "No leakage found." not in shown
    leak = SimpleNamespace(
        parts={"train": {"interactions": 1234, "users": 2, "items": 3}},
        protocol={"split": "given"}, fingerprint="abc", counts={"read": 1234},
        audit={"scope": "pairs", "share_of_users_evaluated": 0.5,
               "findings": [{"name": "future", "refuses": True, "sentence": "It leaks."}]},
        told_order=lambda: ("It has order.",),
    )  # fmt: skip
    data_commands._show_split(leak)
    shown = lines_of(capsys.readouterr().out)
    assert {"train 1,234 2 3", "LEAK future: It leaks.", "read 1,234", "It has order."} <= set(shown)


def test_how_a_file_was_imported_is_told(cli, tmp_path):
    (tmp_path / "plain.csv").write_text("user,item,rating\na,x,1\na,x,5\nb,y,2\n")
    shown = lines_of(cli("data", "import", tmp_path / "plain.csv", "--name", "plain").out)
    assert shown[0] == "plain: 2 interactions of 2 users and 2 items, with ratings, times: none"
    assert shown[1] == "read 3 rows; 0 bad rows left out"
    assert "rows share their user and item with another row: they were made one (rule: " in " ".join(shown)
    (tmp_path / "timed.csv").write_text("user,item,timestamp\na,x,1600000000\na,x,1600000001\nb,y,1600000002\n")
    shown = " ".join(lines_of(cli("data", "import", tmp_path / "timed.csv", "--name", "timed").out))
    assert "timed: 3 interactions of 2 users and 2 items, without ratings, times: seconds" in shown
    assert "stay events, and each part of a split makes them one" in shown
    listed = {row["name"]: row for row in cli("data", "list", "--json").json()["datasets"]}
    assert {name: listed["timed"][name] for name in ("kind", "interactions", "users", "items", "time", "licence")} == {
        "kind": "stored", "interactions": 3, "users": 2, "items": 2, "time": "seconds", "licence": "",
    }  # fmt: skip
    assert listed["plain"]["time"] == "none"
    assert cli("data", "remove", "plain").out == "removed plain\n"
    assert cli("data", "import", tmp_path / "timed.csv", "--name", "timed").code == 2, "it is there already"
    again = cli("data", "import", tmp_path / "timed.csv", "--name", "timed", "--replace", "--licence", "CC0", "--json")
    assert again.json()["licence"] == "CC0"
    assert cli("data", "remove", "timed").code == 0
    assert cli("data", "list").out.startswith("No dataset is stored yet: recassay data import FILE --name NAME")


def test_a_column_whose_name_is_a_raised_digit_is_meant_by_its_name(cli, tmp_path):
    (tmp_path / "raised.csv").write_text("²,item\na,x\nb,y\n")
    ran = cli("data", "describe", tmp_path / "raised.csv", "--column", "user=²", "--column", "item=item", "--json")
    assert ran.code == 0, ran.err
    assert ran.json()["characteristics"]["Nu"] == 2


def test_a_column_may_be_named_by_its_position(cli, tmp_path):
    (tmp_path / "bare.csv").write_text("a,x,3\nb,y,4\na,y,5\n")
    columns = ("--no-header", "--column", "user=0", "--column", "item=1", "--column", "rating=2")
    ran = cli("data", "describe", tmp_path / "bare.csv", *columns, "--json")
    assert ran.code == 0, ran.err
    assert ran.json()["characteristics"]["Nr"] == 3
    (tmp_path / "named.csv").write_text("what,who\nx,a\ny,b\ny,a\nx,c\n")
    ran = cli(
        "data",
        "describe",
        tmp_path / "named.csv",
        "--header",
        *columns[1:2],
        "user=1",
        *columns[1:2],
        "item=0",
        "--json",
    )
    assert ran.code == 0, ran.err
    assert (ran.json()["characteristics"]["Nu"], ran.json()["characteristics"]["Ni"]) == (3, 2)


def test_lists_are_told_beside_each_other_or_alone(cli, judged):
    """By hand: recs finds both items of a and one of b; the other lists find nothing of b and have no list of a."""
    (judged / "other.csv").write_text("user,item,score\nb,w,0.9\n")
    where = ("--train", judged / "train.csv", "--test", judged / "test.csv", "--metrics", "hitrate@2,recall@2")
    alone = lines_of(cli("evaluate", judged / "recs.csv", *where).out)
    assert "2 users evaluated" in alone
    assert any(line.startswith("hitrate@2 ") and line.endswith(" 1.000000") for line in alone)
    assert "0 of them had no list and count as empty lists" in alone
    assert "1 rows of unknown users were left out; 0 rows of unknown items kept their place and are not hits" in alone
    both = cli("evaluate", judged / "recs.csv", judged / "other.csv", *where, "--compare", "--alpha", 0.2)
    assert both.out.splitlines()[0] == "No clear winner on test by HitRate@2: any of the 2 algorithms could be best."
    shown = lines_of(both.out)
    assert {"a recs 1.00 1.00", "b other 0.00 0.00"} <= set(shown)
    both = cli("evaluate", judged / "recs.csv", judged / "other.csv", *where, "--compare", "--alpha", 0.2, "--all")
    shown = lines_of(both.out)
    assert "recs 1.000000 1.000000 0" in shown
    assert "other 0.000000 0.000000 1" in shown
    assert "test: hitrate@2, pairs over 2 users (left has the better mean)" in shown
    assert "left right difference 80 % interval p p (Holm) users better-equal-worse" in shown
    assert any(re.fullmatch(r"recs other \+1\.00000 \S+ to \S+ \.500 \.500 2-0-0", line) for line in shown)
    assert not any(line.startswith("\\begin{table") for line in shown)
    for words, options in (
        ("lists are judged on a split or on test data; give --split, or --train and --test", ()),
        ("lists are judged on a split or on test data", ("--split", judged, "--test", judged / "test.csv")),
        ("a split folder says what is trained on and tested", ("--split", judged, "--threshold", 3)),
        ("a split folder says what is trained on and tested", ("--split", judged, "--train", judged / "train.csv")),
        ("coverage@2 looks at the training data; give --train, or ask for other metrics",
         ("--test", judged / "test.csv", "--metrics", "coverage@2")),
        ("one file of lists cannot be compared with itself; give at least two", (*where, "--compare")),
    ):  # fmt: skip
        refused = cli("evaluate", judged / "recs.csv", *options)
        assert refused.code == 2
        assert words in refused.err
    untrained = cli("evaluate", judged / "recs.csv", "--test", judged / "test.csv", "--json").json()
    assert set(untrained["metrics"]) < set(cli("evaluate", judged / "recs.csv", *where[:4], "--json").json()["metrics"])


def test_a_download_is_counted_on_a_terminal(monkeypatch):
    monkeypatch.setattr("sys.stderr", SimpleNamespace(isatty=lambda: False))
    assert data_commands._progress() is None
    text, now = [], [100.0]
    monkeypatch.setattr("sys.stderr", SimpleNamespace(isatty=lambda: True, write=text.append, flush=lambda: None))
    monkeypatch.setattr(data_commands.time, "monotonic", lambda: now[0])
    show = data_commands._progress()
    show(1_500_000, 2_000_000_000)
    now[0] = 110.0
    show(0, 4_000_000)
    show(1_000_000, 4_000_000)
    show(500_000, None)
    show(4_000_000, 4_000_000)
    shown = ["1.5 of 2,000.0 MB", "0.0 of 4.0 MB", "1.0 of 4.0 MB (about 30 s left)", "0.5 MB"]
    assert text[:4] == [f"\r\x1b[K{words}" for words in shown]
    assert text[4].startswith("\r\x1b[K4.0 of 4.0 MB")
    assert [part.endswith("\n") for part in text] == [False] * 4 + [True]


@pytest.mark.parametrize(
    ("options", "how", "trained"),
    [
        ("", "columns user, item and, where there are any, rating and timestamp.", "training and validation together"),
        ("--format trec", "CSV files to train on, and qrels of the held-out parts.", "the training part alone"),
        ("--format lenskit --final-fit train+valid",
         "from_interactions_df(polars.read_parquet(...)) with columns user_id and item_id.",
         "training and validation together"),
        ("--study study.toml", "columns user, item and, where there are any, rating and timestamp.",
         "the training part alone"),
    ],
)  # fmt: skip
def test_a_split_that_is_written_says_how_to_go_on(cli, monkeypatch, options, how, trained):
    made = SimpleNamespace(
        dataset="films", fingerprint="0123456789abcdef", folder="parts",
        files={"train": {"file": "train.csv", "rows": 12_345}},
        audit={"findings": [{"name": "x", "sentence": "It is."}]}, to_dict=lambda: {"dataset": "films"},
        final_fit="train" if "alone" in trained else "train+valid",
    )  # fmt: skip
    monkeypatch.setattr("recassay.api.split.split", lambda **asked: made)
    ran = cli("split", "films.csv", "--out", "parts", *options.split())
    shown = lines_of(ran.out)
    assert shown[0] == "films, split 0123456789ab in parts"
    assert "train train.csv 12,345" in shown
    assert how in shown
    assert f"A study trains its final model on {trained}, and judges it on the test part." in shown
    assert shown[-2].endswith("then: recassay evaluate LISTS --split parts")
    assert shown[-1] == "x: It is."
    assert cli("split", "films.csv", "--out", "parts", "--json").json() == {"dataset": "films"}


def test_what_was_odd_about_a_file_is_told(capsys):
    manifest = SimpleNamespace(
        name="films", interactions=3, users=2, items=1, has_ratings=False, time_unit=None,
        record={"rows": 1234, "bad": 1, "repeated": 0, "repeated_rule": "last", "warnings": ["The times are odd."]},
    )  # fmt: skip
    data_commands._show_imported(manifest, False)
    assert lines_of(capsys.readouterr().out) == [
        "films: 3 interactions of 2 users and 1 items, without ratings, times: none",
        "read 1,234 rows; 1 bad rows left out",
        "The times are odd.",
    ]


def test_a_value_that_is_not_defined_is_told_so():
    assert [_shown(value) for value in (float("nan"), 0.0, 0.25)] == ["undefined", "0.000000", "0.250000"]


@pytest.mark.slow
def test_every_command_on_a_log_says_which_columns_it_took(cli, tmp_path):
    log, lists = tmp_path / "log.csv", tmp_path / "lists.csv"
    rows = "".join(f"u{i},f{(i + j) % 7},{j}\n" for i in range(9) for j in range(1, 5))
    log.write_text(f"account,film,stars\n{rows},f1,2\n")
    lists.write_text("user,item,score\n" + "".join(f"u{i},f{i % 7},1\n" for i in range(9)))
    named = ("--column", "user=account", "--column", "item=film", "--skip-bad-rows")
    taken = "user from 'account', item from 'film', weight from 'stars' (no column of time)"
    advise = ("advise", log, "--min-user-interactions", "1", "--min-item-interactions", "1")
    for words in (("data", "describe", log), ("evaluate", lists, "--test", log), advise):
        done = cli(*words, *named)
        said = " ".join((done.out + done.err).split())
        assert taken in said, words
        assert "1 row of 37 left out (the first: line 38, user id is empty)" in said, words
        refused = cli(*words)
        assert refused.code == 2
        assert "--column user=NAME" in refused.err
    log.write_text(f"account,film,stars\n{rows}")
    study = ("run", "--datasets", log, "--algorithms", "MostPop", "--split", "random", "--dry-run")
    assert taken in " ".join(cli(*study, *named[:4], "-o", tmp_path / "study").err.split())
