"""Logistic IRT: items and abilities of a binary response table."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from recassay.analysis.logistic_irt.result import LogisticResult
from recassay.core.types import BoolArray
from recassay.core.words import listing
from recassay.reporting.numbers import between, percent


def sentences(result: LogisticResult) -> list[str]:
    """Who is ablest and who least able, and how many items are right for the wrong respondents."""
    rows = result.to_frame().to_dicts()
    share = f"{100 * result.confidence:.3g} %"

    def who(end: int) -> str:
        row = rows[end]
        alike = sum(other["ability"] == row["ability"] for other in rows)
        name = row["respondent"] if alike == 1 else f"{row['respondent']} (and {alike - 1} more alike)"
        return f"{name} ({row['ability']:.2f}, {share} {between(row['ability_low'], row['ability_high'])})"

    negative = result.summary()["negative_share"]
    share_of_items = percent(negative, 1) if negative else "None"
    return [
        f"By the {result.model.upper()} on {len(result.items.names)} items, the ablest of {len(rows)} respondents is "
        f"{who(0)}, the least able {who(-1)}.",
        f"{share_of_items} of the items discriminate negatively, which abler respondents would fail more often.",
    ]


def notes(result: LogisticResult) -> Iterator[str]:
    """What a reader of the parameters must know."""
    names, respondents, negative = result.items.names, result.respondents, result.items.slope < 0

    def named(mask: BoolArray, names: tuple[str, ...]) -> str:
        return f"{int(mask.sum())} of {len(names)} ({listing((names[i] for i in np.flatnonzero(mask)), most=3)})"

    if not result.converged:
        yield "The estimation did not converge: read the parameters with care."
    if result.unbounded is not None and result.unbounded.any():
        yield f"The slopes of {named(result.unbounded, names)} items have no finite estimate: use priors."
    if result.constant.any():
        yield f"Everybody or nobody has {named(result.constant, names)} items right: they say nothing of ability."
    if negative.any():
        clearly = int((result.item_intervals[:, 0, 1] < 0).sum())
        sure = f"; of {clearly} clearly, the whole interval lies below 0" if result.estimator == "mml" else ""
        yield (
            f"The discrimination of {named(negative, names)} items is negative (abler respondents fail them more "
            f"often: noise, or a wrong answer key){sure}."
        )
    if result.abilities.at_bound.any():
        yield (
            f"{named(result.abilities.at_bound, respondents)} respondents have no finite maximum-likelihood ability: "
            "they stand at the bound."
        )
