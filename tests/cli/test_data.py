"""`recassay data` and `recassay evaluate` as a user meets them."""

from __future__ import annotations

import http.server
import threading
import zipfile

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.data.catalog import entries as catalog
from recassay.data.synthetic.generate import generate
from recassay.data.synthetic.presets import preset_spec


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
    "scale": (["data", "describe", "synthetic:dense-small@x"], "is no scale"),
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
