"""The verb `user_irt`: algorithms on the users of a study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from recassay.analysis.user_irt import fit
from recassay.analysis.user_irt.result import UserIRTResult
from recassay.api.arguments import checked
from recassay.core.choices import Level, LogisticModel
from recassay.evidence.users import user_responses
from recassay.store.store import Store


@checked
def user_irt(
    folder: str | Path,
    model: LogisticModel = "1pl",
    *,
    metric: str | None = None,
    datasets: Sequence[str] | None = None,
    priors: bool = True,
    confidence: Level = 0.95,
) -> UserIRTResult:
    """Algorithms as respondents and users as items: which algorithm serves users that others fail?

    `folder` is that of a study. A response is right where the user's `metric` is above 0 (by default hitrate@10, or
    what else tells a hit). Fits each dataset (or those named) and, where there are several, all users together.

    Args:
        folder: the folder of a study.
        model: `1pl`, `2pl` or `3pl`.
        metric: a user is served where it is above 0; by default `hitrate@10`, or what else tells a hit.
        datasets: names of datasets; by default all.
        priors: whether items have priors.
        confidence: level of the intervals.
    """
    with Store.open(folder) as store:
        label, tables = user_responses(store, metric, None if datasets is None else list(datasets))
    chosen = fit.USER_PRIORS if priors else None
    return fit.fit_user_irt(tables, model, metric=label, priors=chosen, confidence=confidence)
