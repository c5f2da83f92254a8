"""recassay model."""

from __future__ import annotations

from typing import Any

import recassay
from recassay.cli import options as o
from recassay.cli.on_table import Asked, on_table


@on_table("model", without=("missing",))
def model(
    asked: Asked,
    within: o.Within = "2%",
    families: o.Families = None,
    confidence: o.Confidence = 0.95,
    seed: o.Seed = 0,
) -> Any:
    """Who is best for datasets like these, and how surely?"""
    return recassay.model(
        asked.results,
        asked.metric,
        within=o.share("--within", within),
        families=families,
        higher_is_better=asked.higher_is_better,
        confidence=confidence,
        seed=seed,
    )
