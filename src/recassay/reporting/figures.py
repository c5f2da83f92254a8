"""Which chart shows which result, and charts as files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from recassay.analysis.aggregate import RankResult
from recassay.analysis.beta_irt import BetaIRTResult
from recassay.analysis.compare import CompareResult
from recassay.analysis.correlations import CorrelationsResult
from recassay.analysis.glicko import GlickoResult
from recassay.analysis.logistic_result import LogisticResult
from recassay.analysis.profiles import ProfilesResult
from recassay.core.analysis import AnalysisResult

FORMATS = ("svg", "pdf", "png", "json")


def charts(results: Mapping[str, AnalysisResult]) -> dict[str, Any]:
    """The charts of these results by file name; a result without a chart has none."""
    from recassay.plots.beta_irt import plot_direction, plot_traits
    from recassay.plots.correlations import plot_correlations
    from recassay.plots.critical_difference import plot_critical_difference
    from recassay.plots.glicko import plot_glicko_bump, plot_glicko_ratings
    from recassay.plots.leaderboard import plot_leaderboard
    from recassay.plots.logistic_irt import plot_abilities, plot_item_curves
    from recassay.plots.profiles import plot_profiles

    drawn: dict[str, Any] = {}
    for result in results.values():
        if isinstance(result, RankResult):
            drawn["leaderboard"] = plot_leaderboard(result)
        elif isinstance(result, CompareResult):
            drawn["critical_difference"] = plot_critical_difference(result)
        elif isinstance(result, ProfilesResult):
            drawn["performance_profiles"] = plot_profiles(result)
        elif isinstance(result, CorrelationsResult):
            drawn["metric_correlations"] = plot_correlations(result)
        elif isinstance(result, BetaIRTResult):
            drawn["irt_traits"] = plot_traits(result)
            drawn["irt_datasets"] = plot_direction(result, 1)
            drawn["irt_algorithms"] = plot_direction(result, 2)
        elif isinstance(result, GlickoResult):
            drawn["glicko_ranks"] = plot_glicko_bump(result)
            drawn["glicko_ratings"] = plot_glicko_ratings(result)
        elif isinstance(result, LogisticResult):
            drawn["item_curves"] = plot_item_curves(result)
            drawn["abilities"] = plot_abilities(result)
    return drawn


def render(chart: Any, form: str) -> bytes:
    """A chart as SVG, PDF, PNG (two pixels a point) or its Vega-Lite JSON, without a browser."""
    import vl_convert

    spec = chart.to_dict()
    if form == "json":
        return json.dumps(spec, indent=1, allow_nan=False).encode()
    if form == "svg":
        return str(vl_convert.vegalite_to_svg(spec)).encode()
    if form == "pdf":
        return bytes(vl_convert.vegalite_to_pdf(spec))
    return bytes(vl_convert.vegalite_to_png(spec, scale=2))
