"""What the manifest of a recommender study says."""

from __future__ import annotations

from typing import Any

from recassay.metrics.make import convention, make_metric
from recassay.recommenders.attacked import robustness_convention
from recassay.recommenders.plan import Plan
from recassay.runner.manifest import environment


def manifest_of(planned: Plan, workers: int, threads: int) -> dict[str, Any]:
    """What a reader needs to judge or repeat the study: versions, machine, seeds, spec, hashes and conventions."""
    study = planned.study
    labels = dict.fromkeys([*planned.cells[0].spec.metrics, planned.cells[0].spec.tuning.metric])
    return {
        "study": study.model_dump(mode="json", exclude={"base"}),
        "seeds": list(study.seeds),
        **environment(workers, threads),
        "datasets": {cell.dataset.name: cell.spec.split.data for cell in planned.splits().values()},
        "algorithms": {cell.algorithm.name: cell.spec.code for cell in planned.cells},
        "metrics": {label: convention(make_metric(label)) for label in labels} | robustness_convention(study.comper),
        "cells": [cell.id for cell in planned.cells],
    }
