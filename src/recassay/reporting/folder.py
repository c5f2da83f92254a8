"""A folder of tables, figures and one JSON: what `--out` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from recassay.core.analysis import AnalysisResult
from recassay.core.choices import USUAL
from recassay.core.vocabulary import Vocabulary
from recassay.reporting.claims import claim_files
from recassay.reporting.content import ReportContent
from recassay.reporting.drawing import MARKED, Drawers
from recassay.reporting.figures import begin_drawing, build_sections
from recassay.reporting.files import safe_stem, write_files
from recassay.reporting.tables import paper_tables

WORTH_A_PROCESS = 8
"""Fewer pictures are drawn sooner than further processes start."""


def write_folder(
    out: Path,
    results: Mapping[str, AnalysisResult],
    document: Mapping[str, Any],
    *,
    formats: Sequence[str] = USUAL,
    content: ReportContent | None = None,
    drawers: Drawers | None = None,
) -> list[Path]:
    """Write `analysis.json` (the document), `tables/*` and `figures/*`, and with `content` the page `report.html`.

    Where there is a verdict, `claims.json` and `claims.md` have what may be claimed.

    Tables are CSV, and LaTeX and Markdown where they are short; every chart is laid out once for all of its files, and
    the page shows the same SVG.
    """
    files = {"analysis.json": json.dumps(document, indent=1, allow_nan=False).encode()}
    files |= claim_files([results], Vocabulary() if content is None else content.words)
    needed = formats if content is None else tuple(dict.fromkeys((MARKED, *formats)))
    built = list(build_sections(results, Vocabulary() if content is None else content.words))
    several = sum(len(section.figures) for section in built) >= WORTH_A_PROCESS
    with nullcontext(drawers) if drawers is not None else Drawers(None if several else 0) as pool:
        filled = begin_drawing(built, needed, pool)
    for result in results.values():
        for name, frame in result.frames().items():
            caption = table_caption(name, getattr(result, "metric", None))
            for file, data in paper_tables(safe_stem(name), frame, caption).items():
                files[f"tables/{file}"] = data
    for section in filled:
        for figure in section.figures:
            drawing = section.files[figure.name]
            if drawing.exception() is None:  # the page tells what could not be drawn
                for form, data in drawing.result().items():
                    if form in formats:
                        files[f"figures/{safe_stem(figure.name)}.{'vl.json' if form == 'json' else form}"] = data
    if content is not None:
        from recassay.reporting.page.build import build_page

        files = {"report.html": build_page(content, filled, beside=formats).encode(errors="backslashreplace"), **files}
    return write_files(out, files, share=True)


CAPTIONS = {
    "verdict": "Mean and mean rank of each algorithm with intervals, groups that do not differ, possible winners, and "
    "the chance of leading again",
    "rankings": "Score and rank of each algorithm under each aggregation over datasets, with bootstrap intervals",
    "leaderboard": "Score of each algorithm under each aggregation over datasets",
    "pairs": "Every pair of algorithms over datasets: Wilcoxon's test with Holm's correction, effect sizes and "
    "Bayesian probabilities",
    "mean_ranks": "Mean rank of each algorithm over datasets",
    "groups": "Algorithms between which no pair is shown to differ, by rule",
    "control": "The control against every other algorithm",
    "users_pairs": "Every pair of algorithms on the users of each dataset: sign-flip test with Holm's correction",
    "users_means": "Mean over users of each algorithm on each dataset, with intervals over users",
    "users_summary": "Every pair of algorithms over datasets: wins on users and a random-effects summary",
    "profiles": "Performance profiles: share of datasets on which an algorithm is within a factor beta of the best",
    "profile_areas": "Areas under the performance profiles",
    "per_dataset": "Value of each algorithm on each dataset, with intervals",
    "values": "Value of each algorithm on each dataset",
    "metric_correlations": "Rank correlation of metrics over datasets",
    "model": "Level of each algorithm in the hierarchical model, with intervals and probabilities",
    "model_pairs": "Probabilities of the hierarchical model for every pair of algorithms",
    "model_variances": "Sources of variance in the hierarchical model",
    "plan": "Datasets that would be needed to show the difference of each pair",
    "ratings": "Bradley-Terry rating of each algorithm, with intervals",
    "win_rates": "How often each algorithm beats each other one",
    "stress_signs": "What each aggregation bears, by property",
    "stress_curves": "Agreement of rankings with the full one under each kind of change",
    "stress_subsets": "Agreement of rankings on subsets of datasets with the full one",
    "stress_conclusions": "Conclusions and the changes under which they hold",
    "stress_order": "Tiers of algorithms over all aggregations",
    "irt_traits": "Traits of algorithms and datasets by beta-IRT, with intervals",
    "irt_curves": "Item characteristic curves of beta-IRT",
    "irt_ranges": "Ranges of the traits of beta-IRT",
    "irt_residuals": "Observed and expected values by beta-IRT",
    "irt_exceeds": "Probability that one trait of beta-IRT exceeds another",
    "glicko_ratings": "Glicko-2 rating of each algorithm, with intervals",
    "glicko_history": "Glicko-2 ratings after each dataset",
    "glicko_wins": "Expected wins of each algorithm against each other one, by Glicko-2",
    "pareto": "Algorithms on the Pareto front of each pair of metrics",
    "cost_by_algorithm": "Cost of each algorithm over datasets",
    "cost_by_dataset": "Cost on each dataset over algorithms",
    "cost_cells": "Cost of each algorithm on each dataset",
    "selection": "How well few datasets stand for all, by method of choice",
    "selection_metrics": "How well few datasets stand for all, by metric",
    "selection_aggregations": "How well few datasets stand for all, by aggregation",
    "selection_curve": "How well k datasets stand for all, by method of choice",
    "characteristics_and_performance": "Correlation of characteristics of datasets with performance on them",
    "strata": "Value of each algorithm in each popularity stratum",
    "strata_crossings": "Pairs of algorithms whose order changes between popularity strata",
    "strata_pairs": "Pairs of algorithms in each popularity stratum",
    "strata_shares": "Share of test interactions in each popularity stratum",
}


def table_caption(name: str, metric: str | None) -> str:
    """The caption of a saved table; of one that is not known, its name in words."""
    caption = CAPTIONS.get(name, name.replace("_", " ").capitalize())
    return f"{caption} ({metric})." if metric else f"{caption}."
