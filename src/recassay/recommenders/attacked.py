"""Robustness of a cell: the same algorithm, fitted once more on attacked training data (ComPer, section V.B)."""

from __future__ import annotations

from typing import Any

import numpy as np

from recassay.core.errors import UsageError
from recassay.core.seeds import derived_rng
from recassay.core.specs.study import ComPerSpec
from recassay.core.types import Algorithm, IdArray, Interactions, TopK
from recassay.metrics.evaluate import evaluate
from recassay.metrics.recommend import recommend_all
from recassay.protocol.attacks import attack, choose_targets
from recassay.recommenders.plan import ROBUSTNESS, CellSpec

BEFORE, AFTER = "hit_ratio_before_attack", "hit_ratio_after_attack"
"""Kept with the cell beside `robustness`, their absolute difference."""


def hit_ratio_shift(
    algorithm: Algorithm, spec: CellSpec, train: Interactions, test: Interactions, top: TopK
) -> dict[str, float]:
    """`robustness`, the absolute shift of the average hit ratio, and the hit ratios before and after the attack.

    `top` are the lists of the model of `train`. The attack, with its targets, derives from the seed and the dataset, so
    that all algorithms meet the same one. The algorithm has the parameters of the clean fit and the same chance. Lists
    are made for the same test users, and what a user has had is left out of both, unless the task is repeat
    consumption.
    """
    comper = spec.comper
    if comper is None:
        raise UsageError("the cell names no attack", fix="give the study a [comper] section")
    rng = derived_rng(spec.seed, "attack", spec.dataset)
    targets = choose_targets(train, comper.kind, comper.targets, rng=rng)
    attacked = attack(train, comper, rng=rng, targets=targets)
    chance = derived_rng(spec.seed, "fit", spec.dataset, spec.algorithm, "final")
    barred = attacked.csr() if spec.split.protocol.task == "new" else None
    recommender = algorithm.fit(attacked.read_only(), rng=chance)
    lists = recommend_all(recommender, top.users, comper.k, exclude=barred, n_items=train.n_items)
    before, after = (_hit_ratio(shown.cut(comper.k), comper, targets, train, test) for shown in (top, lists))
    return {ROBUSTNESS: abs(after - before), BEFORE: before, AFTER: after}


def average_hit_ratio(top: TopK, targets: IdArray) -> float:
    """The mean over `targets` of the share of lists that hold the target (Mobasher et al. 2007, section 4.2):
    HitRatio(i) = |{u : i in R_u}| / |U|, averaged over the attacked items i.
    """
    return float(np.count_nonzero(np.isin(top.items, targets)) / (len(top.users) * len(targets)))


def robustness_convention(comper: ComPerSpec | None) -> dict[str, Any]:
    """What a manifest says of `robustness`; nothing for a study without an attack."""
    if comper is None:
        return {}
    return {
        ROBUSTNESS: {
            "metric": ROBUSTNESS,
            "k": comper.k,
            "higher_is_better": False,
            "formula": "|average hit ratio after the attack - before it|",
            "variant": comper.hits,
            "convention": "target items in the lists of test users" if comper.hits == "targets" else "test users hit",
            "source": "Alslaity and Tran 2019, section V.B",
        }
    }


def _hit_ratio(top: TopK, comper: ComPerSpec, targets: IdArray, train: Interactions, test: Interactions) -> float:
    if comper.hits == "targets":
        return average_hit_ratio(top, targets)
    label = f"hitrate@{comper.k}"
    return evaluate(top, test, [label], train=train).mean()[label]
