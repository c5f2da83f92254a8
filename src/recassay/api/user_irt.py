"""The verb `user_irt`: algorithms on the users of a study, or models on test instances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from recassay.analysis.user_irt import fit
from recassay.analysis.user_irt.result import UserIRTResult
from recassay.api.arguments import checked
from recassay.api.inputs import ResultsLike
from recassay.api.tables import load_results, study_folder
from recassay.core.choices import Advanced, Level, LogisticModel
from recassay.evidence.users import table_responses, user_responses
from recassay.store.store import Store


@checked
def user_irt(
    folder: ResultsLike,
    model: LogisticModel = "1pl",
    *,
    metric: str | None = None,
    datasets: Sequence[str] | None = None,
    priors: Annotated[bool, Advanced] = True,
    confidence: Level = 0.95,
) -> UserIRTResult:
    """Algorithms as respondents and users as items: which algorithm serves users that others fail?

    `folder` is that of a study, or results with a row for each user or test instance. A response is right where the
    user's `metric` is above 0 (by default hitrate@10, or what else tells a hit). Fits each dataset (or those named)
    and, where there are several, all users together.

    Args:
        folder: the folder of a study, or results with a row for each user or test instance.
        model: `1pl`, `2pl` or `3pl`.
        metric: a user is served where it is above 0; by default `hitrate@10`, or what else tells a hit.
        datasets: names of datasets; by default all.
        priors: whether items have priors.
        confidence: level of the intervals.
    """
    named, study = None if datasets is None else list(datasets), study_folder(folder)
    if study is None:
        label, tables = table_responses(load_results(folder), metric, named)
    else:
        with Store.open(study) as store:
            label, tables = user_responses(store, metric, named)
    chosen = fit.USER_PRIORS if priors else None
    return fit.fit_user_irt(tables, model, metric=label, priors=chosen, confidence=confidence)
