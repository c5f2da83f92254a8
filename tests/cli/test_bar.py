"""The bar of a study on a terminal."""

import re
from types import SimpleNamespace

from recassay.cli.progress import Bar
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


def test_of_several_cut_offs_the_first_names_the_best():
    text = []
    both = SimpleNamespace(metrics={"ndcg@5": 0.1, "ndcg@10": 0.2})
    Bar(text.append).show(Event("finished", 1, 0, 2, dataset="films", algorithm="EASE", cell="a", record=both))
    assert "best on films: EASE (ndcg@5 0.1000)" in screen("".join(text))
