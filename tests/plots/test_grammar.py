"""Charts as plain specifications: valid Vega-Lite, the same as Altair's, and Altair's where that is asked for."""

from __future__ import annotations

import altair as alt
import jsonschema
import pytest

from recassay.plots.grammar import Chart, channel, concat, condition, fixed, hconcat, layer, vconcat
from support.vega import validate

ROWS = [{"a": 1, "b": 2, "c": "x"}]
OTHER = [{"a": 3}]


def test_a_wrong_specification_is_found_out():
    wrong = Chart(ROWS).mark("line", colour="red").encode(x=channel("a:Q", scale={"domian": [0, 1]}))
    with pytest.raises(jsonschema.ValidationError):
        validate(wrong.to_dict())


def test_it_says_what_altair_says():
    rows = _Shared(values=ROWS)
    theirs = alt.Chart(rows).encode(x=alt.X("a:Q", title=None, scale=alt.Scale(zero=False)), tooltip=["a:Q", "c:N"])
    base = Chart(ROWS)
    ours = base.encode(x=channel("a:Q", title=None, scale={"zero": False}), tooltip=["a:Q", "c:N"])
    theirs = theirs.mark_rule(size=2).encode(x2="b:Q") + theirs.transform_filter("datum.a > 0").mark_text().encode(
        text="c:N", color=alt.condition("datum.b", alt.value("red"), alt.Color("c:N", legend=None))
    )
    ours = ours.mark("rule", size=2).encode(x2="b:Q") + ours.transform_filter("datum.a > 0").mark("text").encode(
        text="c:N", color=condition("datum.b", fixed("red"), channel("c:N", legend=None))
    )
    assert _plain(ours) == _plain(theirs)
    joined = (theirs | alt.Chart(rows).mark_bar().encode(y="b:Q")).resolve_scale(y="shared").properties(title="both")
    mine = hconcat(ours, base.mark("bar").encode(y="b:Q")).resolve(scale={"y": "shared"}).properties(title="both")
    assert _plain(mine) == _plain(joined)


def test_data_stand_once_where_they_are_shared_and_no_chart_changes():
    base, data = Chart(ROWS), {"values": ROWS}
    one, two = base.mark("bar"), base.mark("line")
    before = (dict(one.spec), dict(two.spec))
    assert layer(one, two).spec == {"data": data, "layer": [{"mark": {"type": "bar"}}, {"mark": {"type": "line"}}]}
    assert (one + two + Chart(OTHER)).spec["layer"][2] == {"data": {"values": OTHER}}
    assert "data" not in vconcat(one, Chart(OTHER)).spec
    assert concat(Chart(), Chart(), data=data, columns=2).spec == {"data": data, "columns": 2, "concat": [{}, {}]}
    assert (one.spec, two.spec) == before


def test_each_word_adds_to_those_before():
    assert Chart().transform_filter("datum.a").transform_filter("datum.b").spec["transform"] == [
        {"filter": "datum.a"}, {"filter": "datum.b"}
    ]  # fmt: skip
    resolved = Chart().resolve(scale={"x": "shared"}).resolve(legend={"color": "shared"})
    assert resolved.spec["resolve"] == {"scale": {"x": "shared"}, "legend": {"color": "shared"}}
    placed = Chart().encode(x="a:O", x2="b:Q").encode(x="c:T", y2="d:Q", tooltip=["a:N", "b:Q"])
    assert placed.spec["encoding"] == {
        "x": {"field": "c", "type": "temporal"}, "x2": {"field": "b"}, "y2": {"field": "d"},
        "tooltip": [{"field": "a", "type": "nominal"}, {"field": "b", "type": "quantitative"}],
    }  # fmt: skip
    assert channel("a:b:O", title=None) == {"field": "a:b", "type": "ordinal", "title": None}
    one, two, three = (Chart().mark(kind) for kind in ("bar", "line", "point"))
    assert [view["mark"]["type"] for view in (one + two + three).spec["layer"]] == ["bar", "line", "point"]
    assert Chart().to_dict() == {"$schema": "https://vega.github.io/schema/vega-lite/v6.json"}


class _Shared(alt.Data):
    """Rows that Altair does not copy, so that it finds them shared."""

    def __deepcopy__(self, memo):
        return self


def _plain(chart):
    spec = chart.to_dict()
    return {key: value for key, value in spec.items() if key not in ("$schema", "config")}
