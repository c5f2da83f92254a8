"""recassay model."""

from __future__ import annotations

import recassay
from recassay.cli import options as o
from recassay.cli.table import finish, load_table, said_direction


def model(
    files: o.Files,
    metric: o.Metric = None,
    within: o.Within = "2%",
    wide: o.Wide = False,
    transpose: o.Transpose = False,
    column: o.Column = None,
    dataset: o.Dataset = None,
    format_: o.Format = None,
    prefer: o.Prefer = "error",
    higher: o.Higher = False,
    lower: o.Lower = False,
    confidence: o.Confidence = 0.95,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Who is best for datasets like these, and how surely?"""
    results = load_table(files, metric, wide, transpose, column, dataset, format_, prefer)
    result = recassay.model(
        results,
        metric,
        within=o.share("--within", within),
        higher_is_better=said_direction(higher, lower),
        confidence=confidence,
        seed=seed,
    )
    finish("model", "model", result, results, as_json, out)
