"""The live page: read-only, on this machine, and true while a study runs."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import struct
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

import recassay
from recassay.api.publish.analyze import examine
from recassay.api.study.serve import LiveStudy, _page_aside, _tuning, print_page
from recassay.evidence.pace import seconds_left
from recassay.reporting.live import MOST_CLIENTS, LiveServer, live_page
from recassay.runner.running import RunningCells
from recassay.store import CellRecord, Store
from recassay.store.records import PlannedRow, TrialRecord
from support.asking import ask
from support.browser import why_not
from support.in_process import without_processes
from support.shared import only_analyses
from support.stores import write_records


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("live") / "study"
    spec = recassay.make_study(
        ["synthetic:few-items", "synthetic:dense-small"],
        ["Random", "MostPop"],
        name="two",
        metrics=["ndcg@10"],
        trials=0,
    )
    with without_processes():
        recassay.run(spec, folder)
    return folder


@pytest.fixture
def server(study):
    with (
        LiveStudy(study, None, lambda: b"<p>the report</p>") as live,
        LiveServer(("127.0.0.1", 0), live.snapshot, live.report) as running,
    ):
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()


def test_status_page_and_report(server):
    answer, body = ask(server, "/")
    assert answer.status == 200
    assert b"status.json" in body
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    found = json.loads(ask(server, "/status.json")[1])
    assert (found["planned"], found["done"], found["failed"]) == (4, 4, [])
    assert found["grid"] == [["done", "done"], ["done", "done"]]
    assert found["metric"] == "ndcg@10"
    assert found["best"] == [max(row) for row in found["values"]]
    assert all(0 < value < 1 for row in found["values"] for value in row)
    assert [row["algorithm"] for row in found["leaderboard"]["rows"]] == ["MostPop", "Random"]
    assert found["leaderboard"]["rows"][0]["mean_rank"] == 1.0
    deadline = time.monotonic() + 60
    while json.loads(ask(server, "/status.json")[1])["report"] is None and time.monotonic() < deadline:
        time.sleep(0.05)
    answer, body = ask(server, "/report.html?cells=4")
    assert body == b"<p>the report</p>"


def test_a_report_that_fails_is_told_and_the_page_goes_on(study):
    def fails():
        raise ZeroDivisionError("no\nreport")

    with LiveStudy(study, None, fails) as live:
        deadline = time.monotonic() + 60
        while live.status()["no_report"] is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert live.status()["no_report"] == "the report failed with ZeroDivisionError: no report"
        assert live.status()["done"] == 4


def test_cells_at_work_and_the_time_left_are_told(study, tmp_path):
    folder = tmp_path / "study"
    shutil.copytree(study, folder)
    live = LiveStudy(folder, None, lambda: b"")
    assert (live.status()["running"], live.status()["seconds_left"]) == ([], None)
    with RunningCells(folder) as at_work:
        at_work.start("x", "MostPop", "few-items", 1)
        found = live.status()
        assert [(one["algorithm"], one["dataset"]) for one in found["running"]] == [("MostPop", "few-items")]
        assert "running" in [state for row in found["grid"] for state in row]
        assert found["seconds_left"] in (None, 0.0)
        text = (folder / "running.json").read_text()
        (folder / "running.json").write_text(text.replace(f'"process": {os.getpid()}', '"process": 999999999'))
        assert live.status()["running"] == [], "the run is gone"
    assert not (folder / "running.json").exists()


def test_trials_of_the_cells_at_work_and_of_the_latest_are_told(tmp_path, monkeypatch):
    rows = [PlannedRow(f"c{i}", f"A{i}", "films", 1, None, ("ndcg@10",), f"t{i}", 9) for i in range(3)]
    untuned = PlannedRow("u", "Pop", "films", 1, None, ("ndcg@10",), "tu", 0)
    trials = [
        TrialRecord(0, "complete", {"k": 5, "name": "x", "fixed": 3, "on": True}, 0.1, stages=(0.05, 0.1)),
        TrialRecord(1, "failed", {"k": 50, "name": "y", "fixed": 3, "on": False}, None),
        TrialRecord(2, "complete", {"k": 500, "fixed": 3}, 0.3, stages=(0.3,)),
    ]
    with Store.open(tmp_path / "study", create=True) as store:
        store.set_plan([*rows, untuned], {"study": {"tuning": {"metric": "rmse"}}})
        for row in rows[:2]:
            for trial in trials:
                store.record_trial(row.tuning, trial)
        plan, cells = store.plan(), [replace(cell("c1", "A1", "films", 0.5), finished="2026-01-02")]
        found = _tuning(store, plan, cells, {"c0"})
        assert [(one["algorithm"], one["running"], one["planned"]) for one in found] == [
            ("A0", True, 9),
            ("A1", False, 9),
        ]
        assert found[0]["values"] == [0.1, None, 0.3]
        assert found[0]["stages"] == [[0.05, 0.1]], "one stage is not a curve"
        assert found[0]["parameters"] == {"k": [5.0, 50.0, 500.0]}, "numbers that vary"
        monkeypatch.setattr("recassay.api.study.serve.MOST_TUNED", 1)
        monkeypatch.setattr("recassay.api.study.serve.MOST_TRIALS", 2)
        (one,) = _tuning(store, plan, cells, set())
        assert (one["algorithm"], one["values"]) == ("A1", [0.1, None]), "it finished last"
    status = LiveStudy(tmp_path / "study", None, lambda: b"").status()
    assert (status["tuned_by"], status["least_is_best"]) == ("rmse", True)
    json.dumps(status, allow_nan=False)


def cell(name, algorithm, dataset, value, *, seed=1, status="done", **more):
    metrics = {} if value is None else {"ndcg@10": value}
    reason = None if status == "done" else "no luck"
    return CellRecord(name, algorithm, dataset, seed, None, {}, status, reason=reason, metrics=metrics, **more)


def test_the_status_of_a_study_that_is_half_done(tmp_path):
    """Worked out by hand: two seeds of A on films, C failed on songs, B has not been run there."""
    records = [
        cell("a1", "A", "films", 0.25, seconds=2000.0),
        cell("a2", "A", "films", 0.75, seed=2, seconds=2000.0),
        cell("b1", "B", "films", 0.375, seconds=8000.0),
        cell("c1", "C", "films", 0.625, seconds=2000.0),
        cell("a3", "A", "books", 0.125, seconds=2000.0),
        cell("b2", "B", "books", 0.5, seconds=8000.0),
        cell("c2", "C", "books", 0.25, seconds=2000.0),
        cell("a4", "A", "songs", 0.5, seconds=2000.0),
        cell("c3", "C", "songs", None, status="failed"),
    ]
    manifest = {"study": {"name": "half"}, "machine": {"workers": 2}}
    write_records(tmp_path, ["ndcg@10"], records, to_go=[("B", "songs", 1)], manifest=manifest)
    live = LiveStudy(tmp_path, None, lambda: b"")
    found = live.status()
    assert (found["name"], found["metric"], found["planned"], found["done"]) == ("half", "ndcg@10", 10, 8)
    assert [(one["algorithm"], one["dataset"], one["reason"]) for one in found["failed"]] == [("C", "songs", "no luck")]
    assert found["to_go"] == [{"algorithm": "B", "dataset": "songs", "seed": 1}]
    assert (found["algorithms"], found["datasets"]) == (["A", "B", "C"], ["films", "books", "songs"])
    assert found["values"] == [[0.5, 0.375, 0.625], [0.125, 0.5, 0.25], [0.5, None, None]]
    assert found["best"] == [0.625, 0.5, 0.5]
    assert found["grid"] == [["done"] * 3, ["done"] * 3, ["done", "to go", "failed"]]
    assert found["leaderboard"]["rows"] == [
        {"algorithm": "C", "mean_rank": 1.5, "mean": 0.4375},
        {"algorithm": "B", "mean_rank": 2.0, "mean": 0.4375},
        {"algorithm": "A", "mean_rank": 2.5, "mean": 0.3125},
    ]
    assert found["leaderboard"]["said"].startswith("ndcg@10 over the 2 datasets that all have finished. ")
    assert len(found["leaderboard"]["said"]) > 70, "what the datasets so far say"
    assert (found["report"], found["no_report"], found["adaptive"], found["seconds_left"]) == (None, None, None, None)
    with RunningCells(tmp_path) as at_work:
        at_work.start("later0", "B", "songs", 1)
        found = live.status()
        assert [(one["algorithm"], one["dataset"], one["seed"]) for one in found["running"]] == [("B", "songs", 1)]
        assert found["grid"][2] == ["done", "running", "failed"]
        # B takes four times as long as the others, and songs neither more nor less than its algorithm.
        expected = [cell for cell in records if cell.seconds]
        assert found["seconds_left"] == pytest.approx(
            seconds_left(expected, [PlannedRow("x", "B", "songs", 1, None, (), "", 0)], (), 2), abs=300
        )
    assert LiveStudy(tmp_path, "seconds_fit", lambda: b"").status()["best"] == [None, None, None]


@pytest.mark.parametrize(("machine", "seconds"), [({"workers": 2}, 4000), ({"workers": 5}, 4000), ({}, 8000)])
def test_the_time_left_is_shared_by_the_processes_that_have_something_to_do(tmp_path, machine, seconds):
    records = [cell(f"a{n}", "A", f"d{n}", 0.5, seconds=4000.0) for n in range(3)]
    to_go = [("A", "films", 1), ("A", "songs", 1)]
    write_records(tmp_path, ["ndcg@10"], records, to_go=to_go, manifest={"machine": machine})
    live = LiveStudy(tmp_path, None, lambda: b"")
    with RunningCells(tmp_path) as at_work:
        at_work.start("later0", "A", "films", 1)
        assert live.status()["seconds_left"] == pytest.approx(seconds, abs=300)


def test_the_best_follows_the_direction_of_the_metric(tmp_path):
    records = [cell("a", "A", "films", 0.5, seconds_fit=3.0), cell("b", "B", "films", 0.5, seconds_fit=1.0)]
    write_records(tmp_path, ["ndcg@10"], records)
    found = LiveStudy(tmp_path, "seconds_fit", lambda: b"").status()
    assert (found["metric"], found["values"], found["best"]) == ("seconds_fit", [[3.0, 1.0]], [1.0])
    assert found["leaderboard"] is None, "one dataset"
    assert found["name"] == tmp_path.name


def test_less_may_lead_and_the_workers_of_the_run_share_what_is_left(tmp_path, monkeypatch):
    records = [cell(f"{name}{place}", name, place, 0.5, seconds_fit=took)
               for name, took in (("A", 3.0), ("B", 1.0)) for place in ("films", "books")]  # fmt: skip
    folder = write_records(tmp_path / "study", ["ndcg@10"], records, manifest={"machine": {"workers": 3}})
    live = LiveStudy(folder, "seconds_fit", lambda: b"")
    assert [row["algorithm"] for row in live.status()["leaderboard"]["rows"]] == ["B", "A"]
    monkeypatch.setattr("recassay.api.study.serve.seconds_left", lambda done, to_go, running, workers: float(workers))
    with RunningCells(folder) as at_work:
        at_work.start("x", "A", "films", 1)
        assert live.status()["seconds_left"] == 3.0
    live.snapshot()
    folder.rename(tmp_path / "elsewhere")
    with pytest.raises(recassay.RecAssayError, match="there is no study in this folder"):
        live.snapshot()


def test_of_several_seeds_the_first_is_shown(tmp_path):
    records = [cell("a1", "A", "films", None, status="failed"), cell("a2", "A", "films", 0.5, seed=2),
               cell("b1", "B", "films", 0.5), cell("b2", "B", "films", None, seed=2, status="failed")]  # fmt: skip
    write_records(tmp_path, ["ndcg@10"], records)
    found = LiveStudy(tmp_path, None, lambda: b"").status()
    assert (found["grid"], found["values"]) == ([["failed", "done"]], [[0.5, 0.5]])


def test_what_is_no_metric_of_the_study_is_refused_before_it_listens(tmp_path):
    write_records(tmp_path, ["ndcg@10"], [cell("a", "A", "films", 0.5)])
    with pytest.raises(recassay.UsageError, match="recall@10"):
        recassay.serve(tmp_path, metric="recall@10", port=0)


def test_a_study_is_read_again_only_where_it_has_changed(tmp_path, monkeypatch):
    write_records(tmp_path, ["ndcg@10"], [cell("a", "A", "films", 0.5)], to_go=[("B", "films", 1)])
    live, opened = LiveStudy(tmp_path, None, lambda: b""), []
    real = recassay.api.study.serve.Store.open
    monkeypatch.setattr("recassay.api.study.serve.Store.open", lambda folder: opened.append(folder) or real(folder))
    first = live.snapshot()
    live._stale = float("inf")
    assert live.snapshot() is first, "not yet stale"
    live._stale = 0.0
    live.snapshot()
    assert len(opened) == 1
    with Store.open(tmp_path) as store:
        store.record(cell("later0", "B", "films", None, status="failed"))
    live._stale = 0.0
    assert json.loads(live.snapshot())["grid"] == [["done", "failed"]]
    assert len(opened) == 3  # the test's own, and the second reading


def test_a_cell_is_shown_while_the_run_still_holds_the_store(tmp_path):
    write_records(tmp_path, ["ndcg@10"], [cell("a", "A", "films", 0.5)], to_go=[("B", "films", 1)])
    live = LiveStudy(tmp_path, None, lambda: b"")
    with Store.open(tmp_path) as store:
        assert live.status()["grid"] == [["done", "to go"]]
        store.record(cell("later0", "B", "films", None, status="failed"))
        assert live.status()["grid"] == [["done", "failed"]]


def test_a_report_of_a_process_of_its_own(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.setattr("recassay.api.study.serve.report_page", lambda folder, spec: (
        None, f"{folder.name} {spec.metric!r} {spec.missing} {spec.replicates}"))  # fmt: skip
    print_page(str(tmp_path), "")
    assert capfdbinary.readouterr().out.decode() == f"{tmp_path.name} '' drop-datasets None"

    def refuses(*_, **__):
        raise recassay.UsageError("nothing is done", fix="wait")

    monkeypatch.setattr("recassay.api.study.serve.report_page", refuses)
    with pytest.raises(SystemExit, match="nothing is done; wait"):
        print_page(str(tmp_path), "ndcg@10")
    monkeypatch.setattr("recassay.api.study.serve.report_page", lambda *_, **__: {}["nothing"])
    with pytest.raises(SystemExit, match="the report failed with KeyError: 'nothing'"):
        print_page(str(tmp_path), "ndcg@10")
    with pytest.raises(recassay.RecAssayError, match="absent"):
        _page_aside(tmp_path / "absent", None)


def test_an_interval_is_the_same_on_the_live_page_and_in_analyze(study, monkeypatch):
    """Of users, of single values and of ranks: what `serve` asks for gives the numbers of `analyze`."""
    only_analyses(monkeypatch, "rank", "users", "per_dataset")
    asked = []
    monkeypatch.setattr(
        "recassay.api.study.serve.report_page", lambda folder, spec: asked.append((folder, spec)) or (None, "")
    )
    print_page(str(study), "ndcg@10")
    live, analysed = examine(*asked[0])[0], recassay.analyze(study, "ndcg@10")
    assert set(live.analyses) == set(analysed.analyses) == {"rank", "users", "per_dataset"}
    for name, result in analysed.analyses.items():
        assert live.analyses[name].to_dict() == result.to_dict(), name
    assert analysed.analyses["users"].datasets[0].low[0] < analysed.analyses["users"].datasets[0].high[0]


def test_the_last_line_of_a_report_that_failed_is_its_reason(tmp_path, monkeypatch):
    asked, answer = [], SimpleNamespace(returncode=0, stdout=b"page", stderr=b"a warning")
    run = lambda command, **more: asked.append((command[3:], more)) or answer  # noqa: E731
    monkeypatch.setattr("recassay.api.study.serve.subprocess.run", run)
    assert _page_aside(tmp_path, "ndcg@10") == b"page"
    assert _page_aside(tmp_path, None) == b"page"
    assert [command[1:] for command, _ in asked] == [[str(tmp_path), "ndcg@10"], [str(tmp_path), ""]]
    assert "PYTHONPATH" in asked[0][1]["env"]
    answer.returncode, answer.stderr = 3, b"a warning\nthe table is \xff\n\n"
    with pytest.raises(recassay.RecAssayError, match=r"^the table is \ufffd$"):
        _page_aside(tmp_path, None)
    answer.stderr = b""
    with pytest.raises(recassay.RecAssayError, match=r"^exit code 3$"):
        _page_aside(tmp_path, None)


def test_a_status_that_took_long_to_read_is_kept_longer(tmp_path, monkeypatch):
    """Two seconds to read: the next is one second and four times as long after."""
    write_records(tmp_path, ["ndcg@10"], [cell("a", "A", "films", 0.5)])
    live, ticks, read = LiveStudy(tmp_path, None, lambda: b""), [100.0, 102.0, 110.5, 111.0, 111.0], []
    monkeypatch.setattr("recassay.api.study.serve.time", SimpleNamespace(monotonic=lambda: ticks.pop(0)))
    monkeypatch.setattr(live, "status", lambda: {"read": read.append(1) or len(read)})
    assert [json.loads(live.snapshot())["read"] for _ in range(3)] == [1, 1, 2]


def test_a_study_is_served_as_it_was_asked(tmp_path, monkeypatch):
    write_records(tmp_path, ["ndcg@10"], [cell("a", "A", "films", 0.5)])
    heard = []

    class Server:
        def __init__(self, address, status, report, *, names):
            heard.append((address, json.loads(status())["metric"], report(), names))

        def __enter__(self):
            return self

        def __exit__(self, *_):
            heard.append("closed")

        def serve_forever(self):
            heard.append("served")

    monkeypatch.setattr("recassay.api.study.serve.LiveServer", Server)
    monkeypatch.setattr("recassay.api.study.serve._page_aside", lambda folder, metric: time.sleep(5))
    ready = []
    recassay.serve(tmp_path, host="::", port=9, metric="nDCG@10", allow_host=["a"], ready=ready.append)
    assert heard == [(("::", 9), "ndcg@10", None, ["a"]), "served", "closed"]
    assert isinstance(ready[0], Server)
    recassay.serve(tmp_path, metric="seconds_fit")
    assert heard[3][0] == ("127.0.0.1", 8765)
    write_records(tmp_path / "old", [], [], to_go=[("A", "films", 1)])
    recassay.serve(tmp_path / "old", metric="recall@10")
    assert heard[6][1] is None, "a plan that names no metrics refuses none"


def test_a_folder_that_is_being_written_again_is_looked_at_later(tmp_path, monkeypatch):
    """A report is made when more cells are done than the last one knew, and not otherwise."""
    counts, made = [0, 2, None, 2, 3], []
    live = LiveStudy(tmp_path, None, lambda: made.append(len(counts)) or b"page")

    class Opened:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def statuses(self):
            return {str(n): "done" for n in range(done[0])} | {"x": "failed"}

    done, waited = [0], []

    def opened(folder):
        done[0] = counts.pop(0)
        if done[0] is None:
            raise OSError("moved")
        return Opened()

    def wait(seconds):
        waited.append(seconds)
        if not counts:
            live._stop.set()

    monkeypatch.setattr("recassay.api.study.serve.Store.open", opened)
    monkeypatch.setattr(live._stop, "wait", wait)
    live._keep_reporting()
    assert made == [3, 0]
    assert waited == [2.0, 20.0, 2.0, 2.0, 20.0]
    assert (live.report(), live._cells, live._refused) == (b"page", 3, None)


def test_it_only_reads_and_only_what_it_names(server):
    assert ask(server, "/", "POST")[0].status == 501
    assert ask(server, "/manifest.json")[0].status == 404
    assert ask(server, "/../study.sqlite")[0].status == 404
    assert ask(server, "/", "HEAD")[1] == b""
    assert ask(server, "/", Host="evil.example")[0].status == 403
    assert ask(server, "/", Host="localhost:1")[0].status == 200


def test_on_other_addresses_only_known_names_are_served():
    with LiveServer(("0.0.0.0", 0), lambda: b"{}", lambda: None, names=["Studies.example"]) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        port = running.server_address[1]
        for host, status in (
            (f"127.0.0.1:{port}", 200),
            (f"192.0.2.7:{port}", 200),
            ("studies.example", 200),
            (f"{socket.gethostname()}:{port}", 200),
            ("evil.example", 403),
            ("192.0.2.7.evil.example", 403),
            ("", 403),
        ):
            assert ask(running, "/", Host=host)[0].status == status, host
        running.shutdown()


def test_bad_folders_and_ports_are_one_line(study, tmp_path, cli, server):
    assert cli("serve", tmp_path).code == 2
    port = server.server_address[1]
    answer = cli("serve", study, "--port", str(port))
    assert answer.code == 2
    assert "choose another --port" in answer.err
    assert cli("serve", study, "--port", "70000").code == 2


@pytest.mark.skipif(why_not() is not None, reason=f"browser tests: {why_not()}")
def test_the_page_shows_the_study_in_a_browser(server, chromium):
    page = chromium.new_page()
    said = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.goto(server.url)
    page.wait_for_selector("#board:not([hidden])")
    assert page.title() == "4 of 4 · two"
    assert page.locator("#cells tbody td.done").count() == 4
    assert page.locator("#board tbody th").all_inner_texts() == ["MostPop", "Random"]
    page.wait_for_selector("#report:not([hidden])", timeout=60_000)
    assert page.frame_locator("iframe").locator("p").inner_text() == "the report"
    assert said == []
    page.close()


def test_clients_that_hold_on_or_break_off_do_not_stop_it(server, monkeypatch, capfd):
    monkeypatch.setattr("recassay.reporting.live._Handler.timeout", 0.3)
    idle = [socket.create_connection(server.server_address[:2], timeout=5) for _ in range(MOST_CLIENTS + 20)]
    for one in idle[::2]:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        one.sendall(b"GET /status.json HTTP/1.1\r\n")
        one.close()  # a reset
    time.sleep(1.0)
    answer, _ = ask(server, "/status.json")
    for one in idle[1::2]:
        one.close()
    assert answer.status == 200
    assert capfd.readouterr().err == ""


def test_a_study_that_is_gone_is_said(server, study, tmp_path):
    aside = tmp_path / "aside"
    study.rename(aside)
    try:
        assert ask(server, "/status.json")[0].status == 503
    finally:
        aside.rename(study)
    deadline = time.monotonic() + 30
    while ask(server, "/status.json")[0].status != 200 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert ask(server, "/status.json")[0].status == 200


def test_many_readers_cost_what_one_does(server, study, monkeypatch):
    """While slow clients hold on: the study is read once, and every reader has its answer at once."""
    opened = []
    real = recassay.api.study.serve.Store.open
    monkeypatch.setattr("recassay.api.study.serve.Store.open", lambda folder: opened.append(folder) or real(folder))
    ask(server, "/status.json")
    slow = [socket.create_connection(server.server_address[:2], timeout=5) for _ in range(MOST_CLIENTS + 10)]
    for one in slow:
        with contextlib.suppress(OSError):  # hung up on for one that came later
            one.sendall(b"GET /status.json HTTP/1.1\r\nX: ")
    waited = []

    def read():
        begin = time.monotonic()
        assert json.loads(ask(server, "/status.json")[1])["done"] == 4
        waited.append(time.monotonic() - begin)

    readers = [threading.Thread(target=read) for _ in range(100)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    for one in slow:
        one.close()
    assert len(waited) == 100
    assert max(waited) < 5
    assert len(opened) < 10


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_of_the_page_has_a_contrast_of_4_5(scheme):
    """The ratio of WCAG 2, from the colours of the style sheet."""
    light, dark = (
        dict(re.findall(r"--(\w+): (#\w{6})", block)) for block in live_page()[1].decode().split("@media")[:2]
    )
    colours = light if scheme == "light" else light | dark
    for text in ("ink", "faint", "done", "failed", "running"):
        pair = sorted([luminance(colours[text]), luminance(colours["paper"])])
        assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, text


def test_a_report_that_is_refused_is_tried_again_with_the_next_cell(tmp_path, monkeypatch):
    write_records(tmp_path, ["ndcg@10"], [cell("a", "A", "films", 0.5)])
    answers = [recassay.UsageError("too few datasets", fix="wait"), KeyError("x"), b"page"]

    def made():
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    live, refused, done = LiveStudy(tmp_path, None, made), [], iter([1, 2, 3])
    monkeypatch.setattr(Store, "statuses", lambda store: dict.fromkeys(range(next(done)), "done"))

    def wait(seconds):
        refused.append(live.status()["no_report"])
        if not answers:
            live._stop.set()

    monkeypatch.setattr(live._stop, "wait", wait)
    live._keep_reporting()
    assert refused == ["too few datasets; wait", "the report failed with KeyError: 'x'", None]
    assert live.status()["report"] == {"cells": 3}


def test_a_study_without_a_result_has_no_order_yet(tmp_path):
    write_records(tmp_path, ["ndcg@10"], [], to_go=[("A", "films", 1)])
    found = LiveStudy(tmp_path, None, lambda: b"").status()
    assert (found["leaderboard"], found["metric"], found["values"], found["best"]) == (None, None, [[None]], [None])
    assert found["grid"] == [["to go"]]
