"""A known table in many shapes: it is read as it was meant, or refused; never anything else."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.support.shapes import SHAPES, World, Written

from recassay import RecAssayError, load_results
from recassay.core import columns as c
from recassay.data.tables.orientation import opinion

NEUTRAL = (("Vorn", "Quill", "Mapp", "Jox", "Brel"), ("Tarsk", "Oblo", "Fenn", "Grat"))
KNOWN = (("EASE", "ItemKNN", "BPR", "MostPop", "ALS"), ("ml-1m", "yelp", "gowalla", "netflix"))
WORLDS = {
    "neutral names": World(*NEUTRAL),
    "neutral names, other words": World(*NEUTRAL, "Method", "Task"),
    "neutral names, as many of both": World(NEUTRAL[0][:4], NEUTRAL[1], "APPROACH", "corpus"),
    "neutral names, no words": World(*NEUTRAL, "", ""),
    "known names": World(*KNOWN),
    "known names, no words": World(*KNOWN, "", ""),
}
LEAST = {"neutral names": 100, "known names": 118, "known names, no words": 118}
"""How many shapes are read at least; the others are refused."""


APART = ("with_a_setting_as_column", "with_improvement_row", "panels_of_datasets")
"""Shapes with rows or columns that are neither algorithms nor datasets: one answer does not settle them."""


def truth(world: World, written: Written) -> dict[tuple[str, str, str], float]:
    order = sorted(world.datasets)
    rows = {name: f"row {order.index(name) + 1}" if written.numbered else name for name in world.datasets}
    return {(a, rows[d], m.lower()): value for (a, d, m), value in world.truth.items() if m in written.metrics}


def read(written: Written, folder, **said):
    """What is read, by cell; None where the table is refused, and why."""
    source = written.content
    if written.name:
        source = folder / written.name
        source.write_bytes(written.content if isinstance(written.content, bytes) else written.content.encode())
    try:
        results = load_results(source, **written.said, **said)
    except RecAssayError as error:
        return None, str(error)
    values = Counter()
    rows = results.frame.select("algorithm", "dataset", "metric", "value").rows()
    counts = Counter(row[:3] for row in rows)
    for *cell, value in rows:
        values[tuple(cell)] += value / counts[tuple(cell)]
    return dict(values), ""


def same(one, other):
    return one.keys() == other.keys() and all(one[cell] == pytest.approx(other[cell], abs=1e-6) for cell in one)


DAILY = ("neutral names", "known names, no words")
"""The worlds that every run reads; of the others the day takes one (`LONG` in `conftest.py`), and `dev.py test` all."""


@pytest.mark.parametrize("name", DAILY)
def test_as_meant_or_refused(name, tmp_path):
    check_every_shape(name, tmp_path)


@pytest.mark.parametrize("name", [name for name in WORLDS if name not in DAILY])
def test_as_meant_or_refused_in_other_worlds(name, tmp_path):
    check_every_shape(name, tmp_path)


def check_every_shape(name, tmp_path):
    world, wrong, count = WORLDS[name], [], 0
    assert len(SHAPES) >= 130
    for shape, write in SHAPES.items():
        written = write(world)
        values, _ = read(written, tmp_path)
        count += values is not None
        if values is not None and not same(values, truth(world, written)):
            wrong.append(shape)
    assert wrong == []
    assert count >= LEAST.get(name, 0)


@pytest.mark.parametrize("part", range(4))
def test_the_two_ways_settle_what_is_unclear(part, tmp_path):
    """Where the question is which names are algorithms, one answer gives the truth, and the other its mirror."""
    world = WORLDS["neutral names, no words"]
    asked = 0
    for shape, write in list(SHAPES.items())[part::4]:
        written = write(world)
        values, why = read(written, tmp_path)
        if values is not None or "not clear whether its rows" not in why or shape in APART or "_printed" in shape:
            continue
        asked += 1
        wanted = truth(world, written)
        mirror = {(d, a, m): value for (a, d, m), value in wanted.items()}
        ways = [read(written, tmp_path, **{way: True})[0] for way in ("wide", "transpose")]
        assert any(way is not None and same(way, wanted) for way in ways), shape
        assert all(way is None or same(way, wanted) or same(way, mirror) for way in ways), shape
    assert asked >= 15


def test_words_that_known_names_contradict_are_asked_about(tmp_path):
    table = "dataset,ml-1m,yelp,netflix\nEASE,0.1,0.2,0.3\nItemKNN,0.2,0.3,0.4\n"
    (tmp_path / "t.csv").write_text(table)
    with pytest.raises(RecAssayError, match=r"but EASE, ItemKNN are known as algorithms; add `wide=True`"):
        load_results(tmp_path / "t.csv", metric="ndcg@10")
    assert load_results(tmp_path / "t.csv", metric="ndcg@10", wide=True).algorithms == ["EASE", "ItemKNN"]


def test_a_guess_is_told(tmp_path):
    (tmp_path / "t.csv").write_text(",ml-1m,yelp\nEASE,0.1,0.2\nMine,0.2,0.3\n")
    results = load_results(tmp_path / "t.csv", metric="ndcg@10")
    assert results.algorithms == ["EASE", "Mine"]
    assert results.guesses == ("its rows were taken as algorithms, since EASE is known as an algorithm",)


NAMES, DATA = ["EASE", "ItemKNN", "SLIM", "ALS"], ["Gowalla", "MovieLens-1M"]
BOTH = "EASE, ItemKNN are known as algorithms"


@pytest.mark.parametrize(
    ("rows", "across", "said"),
    [
        (["EASE", "a", "b"], ["x", "y", "z"], (c.ALGORITHM, "EASE is known as an algorithm")),
        (["EASE", "a", "b", "d"], ["x", "y", "z", "w"], (None, "")),  # one of four says too little
        (["EASE", "a", "b", "d"], ["x", "y", "z"], (c.ALGORITHM, "EASE is known as an algorithm")),
        (["EASE", "a", "b", "d"], [], (None, "")),
        ([*NAMES[:2], *"abcdefghijk"], [*"lmnopqrstuvwxyz"], (c.ALGORITHM, BOTH)),
        ([*NAMES, DATA[0]], ["x", "y"], (c.ALGORITHM, "EASE, ItemKNN, SLIM and 2 more are known as algorithms")),
        ([*NAMES[:3], DATA[0]], ["x", "y"], (None, "")),  # more than a quarter speaks against it
        (["a", "b"], DATA, (c.ALGORITHM, "Gowalla, MovieLens-1M are known as datasets")),
        (["a", "b"], DATA[:1], (c.ALGORITHM, "Gowalla is known as a dataset")),
        (["a", "b"], NAMES[:2], (c.DATASET, BOTH)),
        (DATA, ["x", "y"], (c.DATASET, "Gowalla, MovieLens-1M are known as datasets")),
        (["a", "b"], ["x", "y"], (None, "")),
        (
            ["a", "b"],
            ["Netflix Prize", "Food.com interactions"],
            (c.ALGORITHM, "Netflix Prize, Food.com interactions are known as datasets"),
        ),
    ],
)
def test_how_many_known_names_decide(rows, across, said):
    assert opinion(rows, across) == said
