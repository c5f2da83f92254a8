"""Pictures: what they hold, that nothing overlaps, and that every format comes out."""

from __future__ import annotations

import json

import altair as alt
import numpy as np
import pytest

import recassay
from recassay.core.choices import FORMATS
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results
from recassay.plots.compare import BAR, ROW, _bars, lay_out, plot_critical_difference, plot_pairwise
from recassay.plots.theme import COLOURS, DASHES, colour_scale, colours_of, dash_scale
from recassay.reporting.drawing import render
from recassay.reporting.figures import figures
from recassay.reporting.sections.profiles import plot_profiles
from recassay.reporting.sections.rank import plot_leaderboard
from recassay.testing.results import synthetic_results
from support.charts import with_hidden
from support.vega import assert_valid

pytestmark = pytest.mark.slow

NASTY = "<script>alert('1')</script> \\ \"quoted\" and far too long a name for any picture to show whole"


def many(k: int = 30, n: int = 15) -> Matrix:
    rng = np.random.default_rng(4)
    names = tuple(f"Algorithm {i:02d}" if i else NASTY for i in range(k))
    values = 1 / (1 + np.exp(-(np.linspace(0, 1.5, k)[:, None] + rng.normal(0, 0.6, (k, n)))))
    return Matrix(values, names, tuple(f"d{i}" for i in range(n)), "ndcg@10", True)


@pytest.fixture(scope="module")
def compared():
    from recassay.analysis.compare.fit import compare_algorithms

    return compare_algorithms(many(), draws=4000)


def test_labels_never_overlap_for_thirty(compared):
    layout = lay_out(compared)
    for side in ("left", "right"):
        levels = sorted(row["y"] for row in layout.labels if row["side"] == side)
        assert len(levels) == 15
        assert min(np.diff(levels)) >= ROW
        assert max(levels) < layout.height
    assert {row["algorithm"] for row in layout.labels} == set(compared.algorithms)
    assert all(len(row["label"]) < 40 for row in layout.labels)


@pytest.mark.slow
def test_bars_are_the_groups_and_do_not_touch(compared):
    layout = lay_out(compared)
    assert len(layout.bars) == len(compared.groups["sign_flips"]) > 0
    drawn = [(b["y"], b["x"], b["x2"]) for b in layout.bars]
    for y, low, high in drawn:
        for other in drawn:
            if other != (y, low, high) and other[0] == y:
                assert other[1] > high or other[2] < low
    assert max(b["y"] for b in layout.bars) + BAR <= min(row["y"] for row in layout.labels)


@pytest.mark.parametrize(("third", "rows"), [(2.02, 2), (2.1, 2), (2.5, 1)])
def test_bars_that_nearly_touch_stand_on_two_lines(third, rows):
    ranks = {"a": 1.0, "b": 2.0, "c": third, "d": 4.0}
    bars = _bars((("a", "b"), ("c", "d")), ranks, 0, 4)
    assert len({bar["y"] for bar in bars}) == rows


@pytest.mark.parametrize("bars", ["wilcoxon-holm", "nemenyi", "bayesian"])
def test_the_ruler_belongs_to_the_rule_of_the_bars(bars):
    from recassay.analysis.compare.fit import compare_algorithms

    result = compare_algorithms(many(6, 12), draws=2000, bars=bars)
    layout = lay_out(result)
    assert [bar["group"] for bar in layout.bars] == [
        ", ".join(group) for group in result.groups[bars.replace("-", "_")]
    ]
    spec = json.dumps(plot_critical_difference(result).to_dict())
    assert ("critical difference 2" in spec) == (bars == "nemenyi")
    assert ("strokeDash" in spec) == (bars == "bayesian")
    assert ("not corrected" in spec) == (bars == "bayesian")


def test_the_posterior_is_not_coloured_as_a_test(compared):
    rows = plot_pairwise(compared).to_dict()["data"]["values"]
    posterior = [row for row in rows if row["test"].startswith("posterior")]
    assert posterior
    assert {row["standing"] for row in posterior} == {"posterior, not corrected"}


def test_a_bar_reaches_from_the_first_to_the_last_of_its_group(compared):
    layout = lay_out(compared)
    rank = dict(zip(compared.algorithms, compared.mean_ranks, strict=True))
    overhang = 0.02 * (len(rank) - 1)
    assert layout.bars
    for bar, group in zip(layout.bars, compared.groups["sign_flips"], strict=True):
        assert bar["group"].split(", ") == list(group)
        assert rank[group[0]] - overhang <= bar["x"] <= rank[group[0]]
        assert rank[group[-1]] <= bar["x2"] <= rank[group[-1]] + overhang


def test_colours_stay_with_the_algorithm():
    order = ["b", "a", "c"]
    scale = colour_scale(order)
    assert scale["domain"] == order
    assert dict(zip(scale["domain"], scale["range"], strict=True)) == dict(zip("abc", COLOURS, strict=False))
    with colours_of(order):
        beside = colour_scale(["zero", "c", "aa"])["range"]
        assert beside == [COLOURS[4], COLOURS[2], COLOURS[3]]
        assert colour_scale(["x", "y"])["range"] == list(COLOURS[:2])
    names = [f"n{i:02d}" for i in range(30)]
    looks = set(zip(colour_scale(names)["range"], map(tuple, dash_scale(names)["range"]), strict=True))
    assert len(looks) == 30
    assert len(COLOURS) * len(DASHES) >= 40


@pytest.fixture(scope="module")
def analyses():
    """Every analysis of a table."""
    return recassay.analyze(Results.from_frame(synthetic_results(8)), replicates=100).analyses


@pytest.fixture(scope="module")
def pictures(analyses):
    return figures(analyses)


def test_every_picture_is_valid_vega_lite_and_an_altair_chart(pictures):
    assert len(pictures) > 20
    assert_valid(pictures)
    drawn = next(figure for figure in pictures if figure.name == "pareto")
    assert isinstance(drawn.chart, alt.ConcatChart)
    assert len(drawn.chart.to_dict()["concat"]) == len(drawn.spec["concat"])


def test_pictures_leave_out_hidden_algorithms(analyses):
    name = analyses["rank"].algorithms[2]
    hidden = {picture: named for result in analyses.values() for picture, named in with_hidden(result, name).items()}
    assert len(hidden) > 15
    assert [picture for picture, named in hidden.items() if named] == []


@pytest.mark.slow
def test_charts_carry_the_numbers(analyses, pictures):
    drawn = {figure.name: figure.spec for figure in pictures}
    assert set(drawn) >= {"leaderboard", "critical_difference", "performance_profiles", "metric_correlations"}
    board = drawn["leaderboard"]["data"]["values"]
    rank = analyses["rank"]
    assert {(r["algorithm"], r["method"]): r["score"] for r in board} == {
        (a, m): pytest.approx(float(ranking.scores[i]))
        for m, ranking in rank.rankings.items()
        for i, a in enumerate(rank.algorithms)
    }


def test_every_picture_names_a_table_of_its_result_and_says_what_it_shows(analyses, pictures):
    tables = {name for result in analyses.values() for name in result.frames()}
    assert {figure.table for figure in pictures} <= tables
    assert all(figure.caption.endswith(".") for figure in pictures)
    assert len({figure.name for figure in pictures}) == len(pictures)


def test_profiles_are_the_definition():
    table = many(4, 9)
    result = recassay.profiles(
        Results.from_frame(
            __import__("polars").DataFrame(
                [(a, d, "ndcg@10", table.values[i, j]) for i, a in enumerate(table.algorithms)
                 for j, d in enumerate(table.datasets)],
                schema=["algorithm", "dataset", "metric", "value"], orient="row",
            )
        )
    )  # fmt: skip
    best = table.values.max(axis=0)
    for name, beta, share in result.to_frame().rows():
        own = table.values[table.algorithms.index(name)]
        assert share == pytest.approx((best / own <= beta + 1e-12).mean())
    assert plot_profiles(result).to_dict()["mark"]["interpolate"] == "step-after"


@pytest.mark.parametrize("form", FORMATS)
def test_every_format(form, compared):
    data = render(plot_critical_difference(compared), form)
    start = {"svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG", "json": b"{"}[form]
    assert data.startswith(start)
    if form == "svg":
        assert b"<script" not in data
    if form == "json":
        assert json.loads(data)["config"]["font"]


@pytest.mark.slow
def test_thirty_algorithms_leaderboard_and_profiles_render():
    from recassay.analysis.profiles import fit_profiles
    from recassay.analysis.rank.fit import rank_algorithms

    table = many()
    board = render(plot_leaderboard(rank_algorithms(table, replicates=100)), "svg").decode()
    assert board.count("Algorithm 0") >= 9
    lines = render(plot_profiles(fit_profiles(table)), "svg").decode()
    assert all(f"Algorithm {i:02d}" in lines for i in range(1, 30))
    assert "<script" not in board + lines


SEEN = {
    "all cones": np.eye(3),
    "without red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "without green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
}
"""Linear RGB as people see it: Machado, Oliveira and Fernandes 2009, whole severity."""


@pytest.mark.parametrize("sight", SEEN)
def test_twelve_colours_differ_with_any_colour_vision(sight):
    assert len(COLOURS) == 12
    code = np.array([[int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for colour in COLOURS])
    linear = np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.array(SEEN[sight]).T, 0, 1)
    xyz = seen @ np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]).T
    xyz /= np.array([0.95047, 1.0, 1.08883])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    lab = np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)
    apart = np.linalg.norm(lab[:, None] - lab[None], axis=2)[np.triu_indices(12, 1)]
    assert apart.min() > 17  # CIELAB; about 2.3 is a difference that is just seen
