"""What is known of a study beyond its results table, loaded only when an analysis asks for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any


def evidence_of(folder: Path | None) -> dict[str, Callable[[], Any]]:
    """By name, ways to load what the study in `folder` holds besides its table; nothing for a bare table.

    `user_responses`: a function of a metric's label that gives the hits of every dataset's users.
    """
    if folder is None:
        return {}
    return {"user_responses": lambda: partial(_user_responses, folder)}


def _user_responses(folder: Path, metric: str) -> Any:
    """Hits by `metric` where it tells a hit, else by the metric that does."""
    from recassay.store.responses import HIT_METRICS, user_responses
    from recassay.store.store import Store

    with Store.open(folder) as store:
        return user_responses(store, metric if metric.partition("@")[0] in HIT_METRICS else None)
