"""What is known of a study beyond its results table, loaded only when an analysis asks for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recassay.core.errors import NotApplicableError

if TYPE_CHECKING:
    from recassay.core.strata_scores import StrataEvidence


def evidence_of(folder: Path | None) -> dict[str, Callable[[], Any]]:
    """By name, ways to load what the study in `folder` holds besides its table; nothing for a bare table.

    A study of classifiers holds answers on test instances, one of recommenders users, lists and interactions.
    """
    if folder is None:
        return {}
    from recassay.api.classifiers import is_classifier_study, load_instances
    from recassay.api.selection import study_characteristics
    from recassay.api.user_scores import user_scores

    if is_classifier_study(folder):
        return {"instances": partial(load_instances, folder)}
    return {
        "popularity": lambda: partial(_popularity, folder),
        "comper": partial(comper_settings, folder),
        "user_responses": lambda: partial(_user_responses, folder),
        "characteristics": partial(study_characteristics, folder),
        "user_scores": partial(user_scores, folder),
    }


def _popularity(folder: Path, metric: str, *, seed: int) -> StrataEvidence:
    """The popularity strata of the study under one of its metrics, where that is a metric of lists."""
    from recassay.api.strata import study_strata
    from recassay.core.labels import split_label
    from recassay.core.registry import metrics

    if split_label(metric)[0] not in metrics:
        raise NotApplicableError(f"{metric} is no metric of lists, so it has no popularity strata")
    return study_strata(folder, metric, seed=seed)


def comper_settings(folder: Path) -> dict[str, Any]:
    """The metric of correctness and the cut-off that the study's `[comper]` section names; nothing without one."""
    from recassay.store.store import Store

    with Store.open(folder) as store:
        said = store.manifest()["study"].get("comper")
    return {name: said[name] for name in ("correctness", "k")} if said else {}


def _user_responses(folder: Path, metric: str) -> Any:
    """Hits by `metric` where it tells a hit, else by the metric that does."""
    from recassay.store.responses import HIT_METRICS, user_responses
    from recassay.store.store import Store

    with Store.open(folder) as store:
        return user_responses(store, metric if metric.partition("@")[0] in HIT_METRICS else None)
