"""Datasets of test instances with known item parameters, and classifiers of known ability that answer them."""

from __future__ import annotations

import numpy as np

from recassay.analysis.decodirt.metadata import METADATA
from recassay.analysis.logistic_irt.model import probabilities
from recassay.core.tables.responses import InstanceResponses, LogisticItems, Responses

REAL = {"GaussianNB": -0.6, "KNeighbors-5": 0.2, "DecisionTree": 0.0, "RandomForest": 1.2, "SVM": 0.8, "MLP": 1.0}


def simulated(
    name: str,
    *,
    difficulty: float = 0.0,
    discrimination: float = 1.5,
    deviation: float = 1.0,
    negative: float = 0.0,
    items: int = 60,
    networks: int = 40,
    seed: int = 0,
    metadata: dict[str, float] | None = None,
) -> tuple[InstanceResponses, LogisticItems]:
    """Answers on one dataset, and its true items: the first `negative` share of them discriminates negatively."""
    rng = np.random.default_rng([seed, *map(ord, name)])
    slope = discrimination * rng.lognormal(0, 0.2, items)
    slope[: round(negative * items)] *= -1
    truth = LogisticItems.from_difficulty(
        [f"r{i + 2}" for i in range(items)],
        slope,
        rng.normal(difficulty, deviation, items),
        rng.uniform(0.1, 0.25, items),
    )
    mlps = {f"MLP-{i + 1}": t for i, t in enumerate(rng.normal(0, 1, networks))}
    able = {**REAL, **mlps}
    right = rng.random((len(able), items)) < probabilities(list(able.values()), truth)
    classes = rng.integers(0, 2, items)
    artificial = {
        "optimal": np.ones(items),
        "pessimal": np.zeros(items),
        "majority": classes == 0,
        "minority": classes == 1,
        "rand1": rng.random(items) < 0.5,
        "rand2": rng.random(items) < 0.5,
    }
    codes = np.concatenate([right, np.stack(list(artificial.values()))]).astype(np.uint8)
    roles = ("real",) * len(REAL) + ("mlp",) * networks + ("artificial",) * len(artificial)
    known = dict(zip(METADATA, rng.uniform(1, 100, len(METADATA)).tolist(), strict=True))
    responses = Responses(codes, (*able, *artificial), truth.names)
    return InstanceResponses(name, responses, roles, None, {**known, **(metadata or {})}), truth


def benchmark(count: int = 12, *, seed: int = 0, items: int = 60, networks: int = 40) -> list[InstanceResponses]:
    """Datasets of rising difficulty, falling discrimination and rising deviation; NumberOfClasses rises with them."""
    found = []
    for k in range(count):
        share = k / max(count - 1, 1)
        one, _ = simulated(
            f"dataset-{k:02d}",
            difficulty=-1.5 + 2.5 * share,
            discrimination=2.2 - 1.2 * share,
            deviation=0.5 + 0.8 * share,
            negative=0.3 * share,
            items=items,
            networks=networks,
            seed=seed,
            metadata={"NumberOfClasses": float(2 + k)},
        )
        found.append(one)
    return found
