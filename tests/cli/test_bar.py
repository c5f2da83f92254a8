"""How a command shows that it goes on: the bar of a study on a terminal, lines elsewhere, and the end by Ctrl-C."""

import re
import signal
from types import SimpleNamespace

import pytest

from recassay.cli import progress
from recassay.cli.progress import Bar, damaged_lines, earlier_lines, resumable, show_progress, show_stages
from recassay.cli.render import Interrupted
from recassay.runner.work import Event


def screen(text: str) -> list[str]:
    """What a terminal shows after the text: lines that were cleared are gone."""
    lines = [""]
    for part in re.split(r"(\x1b\[\d*[AJ]|\r|\n)", text):
        if part == "\n":
            lines.append("")
        elif part.endswith("A") and part.startswith("\x1b"):
            del lines[len(lines) - int(part[2:-1]) :]
            lines[-1] = ""
        elif part and part[0] not in "\r\x1b":
            lines[-1] += part
    return lines


def record(value):
    return SimpleNamespace(metrics={"coverage@10": 0.9, "ndcg@10": value})


def test_the_bar_counts_estimates_and_names_the_best(monkeypatch):
    monkeypatch.setenv("COLUMNS", "90")
    text, now = [], [0.0]
    bar = Bar(text.append, clock=lambda: now[0])
    bar.show(Event("plan", 0, 0, 4))
    bar.show(Event("started", 0, 0, 4, dataset="films", algorithm="EASE", cell="a"))
    bar.show(Event("started", 0, 0, 4, dataset="films", algorithm="ALS", cell="b"))
    bar.show(Event("trial", 0, 0, 4, dataset="films", algorithm="ALS", cell="b", trials=3))
    now[0] = 10.0
    bar.show(Event("finished", 1, 0, 4, dataset="films", algorithm="EASE", cell="a", record=record(0.2)))
    assert screen("".join(text)) == [
        f"[{'#' * 7}{'-' * 22}] 1 of 4 done, 1 running, 0 failed, about 30 s left",
        "running: ALS on films, trial 3",
        "best on films: EASE (ndcg@10 0.2000)",
        "",
    ]
    bar.show(Event("finished", 1, 1, 4, dataset="films", algorithm="ALS", cell="b", reason="no luck"), "ALS: no luck")
    bar.show(Event("finished", 2, 1, 4, dataset="films", algorithm="Pop", cell="c", record=record(0.1)))
    shown = screen("".join(text))
    assert shown[0] == "ALS: no luck"
    assert "2 of 4 done, 0 running, 1 failed" in shown[1]
    assert shown[2] == "best on films: EASE (ndcg@10 0.2000)"
    bar.show(Event("trial", 2, 1, 4, dataset="films", algorithm="Late", cell="gone", trials=3))
    bar.show(Event("finished", 3, 1, 4, dataset="films", algorithm="Equal", cell="d", record=record(0.2)))
    shown = screen("".join(text))
    assert shown[1].endswith("] 3 of 4 done, 0 running, 1 failed"), "all have ended: no time is left"
    assert shown[2:] == ["best on films: EASE (ndcg@10 0.2000)", ""], "the first of equals"
    bar.show(Event("end", 2, 1, 4))
    assert screen("".join(text)) == ["ALS: no luck", ""]


def test_no_line_is_wider_than_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    text = []
    bar = Bar(text.append)
    for place in range(12):
        event = Event("finished", place, 0, 12, dataset=f"a-long-name-{place}" * 3, algorithm="A" * 30, cell="x",
                      record=record(0.1))  # fmt: skip
        bar.show(event)
    shown = screen("".join(text))
    assert max(map(len, shown)) <= 39
    assert shown[-2] == "... and 4 more datasets"


def test_a_plan_without_cells_has_an_empty_bar(monkeypatch):
    monkeypatch.setenv("COLUMNS", "90")
    text = []
    Bar(text.append).show(Event("plan", 0, 0, 0))
    assert screen("".join(text)) == [f"[{'-' * 29}] 0 of 0 done, 0 running, 0 failed", ""]


def test_of_several_cut_offs_the_first_names_the_best():
    text = []
    both = SimpleNamespace(metrics={"ndcg@5": 0.1, "ndcg@10": 0.2})
    Bar(text.append).show(Event("finished", 1, 0, 2, dataset="films", algorithm="EASE", cell="a", record=both))
    assert "best on films: EASE (ndcg@5 0.1000)" in screen("".join(text))


def cell(kind, algorithm="EASE", **more):
    return Event(kind, 1, 1, 4, dataset="films", algorithm=algorithm, cell="a", **more)


LINES = [
    (Event("decided", 0, 0, 4, said="the first place is open"), ["the first place is open"]),
    (Event("waiting", 0, 0, 4, reason="the disk is full"), ["the disk is full"]),
    (Event("note", 0, 0, 4, said="two machines"), ["two machines"]),
    (Event("plan", 0, 0, 4), []),
    (Event("plan", 0, 0, 4, earlier={"EASE": 1}), [
        "1 cell was made by an earlier version of EASE; it is run again"]),
    (Event("plan", 0, 0, 4, damaged=["a.parquet"]), [
        "a.parquet: gone, or not what was written; its cell is run again"]),
    (Event("split", 1, 1, 4, dataset="films"), ["[2/4] films: split ready"]),
    (cell("started"), []),
    (cell("trial", trials=2), []),
    (cell("finished", record=SimpleNamespace(metrics={"recall@5": 0.5, "ndcg@10": 0.25}, seconds=1.25)),
     ["[2/4] EASE on films: ndcg@10 0.2500, 1.2 s"]),
    (cell("finished", record=SimpleNamespace(metrics={"ndcg@10": None, "recall@5": 0.5}, seconds=None)),
     ["[2/4] EASE on films: recall@5 0.5000"]),
    (cell("finished", record=SimpleNamespace(metrics={}, seconds=None)), ["[2/4] EASE on films: done"]),
    (cell("finished"), ["[2/4] EASE on films: done"]),
    (cell("finished", reason="no luck"), ["[2/4] EASE on films: no luck"]),
]  # fmt: skip


@pytest.mark.parametrize(("event", "lines"), LINES)
def test_without_a_terminal_there_are_lines(capsys, event, lines):
    show_progress()(event)
    assert capsys.readouterr().err.splitlines() == lines


def test_a_dataset_that_is_refused_is_told_once(capsys):
    show = show_progress()
    show(Event("split", 0, 0, 4, dataset="films", reason="no times"))
    show(cell("finished", reason="no times"))
    show(cell("finished", reason="no luck"))
    show(Event("split", 0, 0, 4, dataset="songs", reason="no times"))
    assert capsys.readouterr().err.splitlines() == [
        "[0/4] films: no times", "[2/4] EASE on films: no luck", "[0/4] songs: no times",
    ]  # fmt: skip


def test_on_a_terminal_only_what_fails_stays(monkeypatch):
    text = []
    monkeypatch.setattr("sys.stderr", SimpleNamespace(isatty=lambda: True, write=text.append, flush=lambda: None))
    show = show_progress()
    show(Event("split", 0, 0, 4, dataset="films"))
    show(cell("finished", record=record(0.5)))
    show(cell("finished", algorithm="ALS", reason="no luck"))
    show(Event("end", 1, 1, 4))
    assert screen("".join(text)) == ["[2/4] ALS on films: no luck", ""]


def test_what_is_run_again_is_counted():
    assert earlier_lines({}) == damaged_lines([]) == []
    assert earlier_lines({"A": 2, "B": 1}, " by `run`") == [
        "3 cells were made by an earlier version of 2 algorithms (A, B); they are run again by `run`"
    ]
    assert damaged_lines(["a", "b", "c"]) == [
        "a (and 2 more): gone, or not what was written; their cells are run again"
    ]


def test_stages_are_counted_with_the_time_left(monkeypatch):
    monkeypatch.setattr("sys.stderr", SimpleNamespace(isatty=lambda: False))
    assert show_stages() is None
    text, now = [], [100.0]
    monkeypatch.setattr("sys.stderr", SimpleNamespace(isatty=lambda: True, write=text.append, flush=lambda: None))
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    show = show_stages()
    show(0, 4, "rank")
    now[0] = 110.0
    show(2, 4, "compare")
    show(3, 4, "x" * 99)
    now[0] = 102.0
    show(3, 4, "model")
    show(4, 4, "")
    cleared = "\r\x1b[K"
    assert text == [f"{cleared}[1/4] rank", f"{cleared}[3/4] compare", f"{cleared}[4/4] {'x' * 70} (about 3 s left)",
                    f"{cleared}[4/4] model", cleared]  # fmt: skip


def test_ctrl_c_says_what_is_kept(monkeypatch, capsys, tmp_path):
    state = SimpleNamespace(done=3, planned=9, trials=40)
    monkeypatch.setattr(progress.recassay, "status", lambda folder: state)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(Interrupted), resumable(lambda: tmp_path):
        raise KeyboardInterrupt
    said = capsys.readouterr().err.split("\n", 1)[1]
    kept = f"3 of 9 cells and 40 trials are kept in {tmp_path}"
    assert said == f"recassay: interrupted; {kept}; the same command goes on from there\n"
    assert signal.getsignal(signal.SIGINT) is before
    monkeypatch.undo()
    with pytest.raises(Interrupted), resumable(lambda: tmp_path / "absent"):  # there is no study yet
        raise KeyboardInterrupt
    assert capsys.readouterr().err.endswith("recassay: interrupted; the same command goes on from there\n")
