"""Tables to try an analysis on: a small one that has everything, and odd ones, each with the evidence of a study."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.analysis import AnalysisSpec
from recassay.core.choices import MissingPolicy
from recassay.core.errors import RecAssayError
from recassay.core.seeds import derived_rng
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.tables.groups import GroupedScores, GroupsEvidence, WeightedScores, WeightFacts
from recassay.core.tables.responses import InstanceResponses, Responses
from recassay.core.tables.results import Results
from recassay.core.tables.scores import StrataEvidence, StrataScores, UserScores
from recassay.core.types import FloatArray
from recassay.testing.results import synthetic_results

Evidence: TypeAlias = Mapping[str, Callable[[], Any]]

METRIC = "ndcg@10"
EVERYTHING = {METRIC: 1.0, "hitrate@10": 1.5, "auc": 1.2, "coverage@10": 0.7, "diversity@10": 0.9, "robustness": 0.1,
              "seconds_fit": 20.0, "seconds_predict": 2.0, "memory": 100.0}  # fmt: skip
"""Metrics of the odd tables, each a multiple of the first with some noise."""


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A results table, what is asked of it, and what to call it in a message."""

    what: str
    results: Results
    missing: MissingPolicy = "error"
    metric: str = METRIC
    higher_is_better: bool | None = None

    def spec(self, evidence: Evidence) -> AnalysisSpec:
        """What is asked, with few replicates; `evidence` is known besides that of the examples."""
        known = {**example_evidence(self.results.datasets), **evidence}
        return AnalysisSpec(self.metric, self.missing, self.higher_is_better, 3, replicates=200, evidence=known)

    def refusal(self) -> str | None:
        """In what words `Results.matrix` refuses the table; None where it does not."""
        try:
            self.results.matrix(self.metric, missing=self.missing, higher_is_better=self.higher_is_better)
        except RecAssayError as refused:
            return str(refused)
        return None


def usual_case() -> Case:
    """Six algorithms on nine datasets, two seeds, accuracy, coverage, diversity, robustness, times and memory."""
    frame = synthetic_results(9, seeds=2).filter(~pl.col(c.ALGORITHM).is_in(["Twin B", "Weak"]))
    of = {name: frame.filter(pl.col(c.METRIC) == name) for name in (METRIC, "coverage@10", "seconds_fit")}

    def another(name: str, metric: str, value: pl.Expr) -> pl.DataFrame:
        return of[metric].with_columns(value.alias(c.VALUE), pl.lit(name).alias(c.METRIC))

    value = pl.col(c.VALUE)
    more = [
        another("auc", METRIC, value.sqrt()),
        another("diversity@10", "coverage@10", 1 - value / 2),
        another("robustness", "coverage@10", value / 10),
        another("seconds_predict", "seconds_fit", value / 10),
        another("memory", "seconds_fit", value * 50),
    ]
    return Case("the usual table", Results.from_frame(pl.concat([frame, *more])))


def rearranged(results: Results) -> Results:
    """The same table with its rows the other way round; metrics and datasets still first appear in their order."""
    frame = results.frame
    place = {key: frame.get_column(key).unique(maintain_order=True).to_list() for key in (c.METRIC, c.DATASET)}
    order = [pl.col(key).replace_strict(names, range(len(names))) for key, names in place.items()]
    return Results(frame.reverse().sort(order, maintain_order=True), results.sources)


def odd_cases() -> Iterator[Case]:
    """Tables that people bring: few, equal, zero, negative, missing, repeated and strangely named results."""
    rng = derived_rng(0, "odd tables")
    base = rng.uniform(0.05, 0.6, (4, 6))
    yield Case("two algorithms on two datasets", _table(base[:2, :2]))
    yield Case("results that are all equal", _table(np.full((4, 6), 0.25)))
    yield Case("two algorithms that are equal everywhere", _table(base[[0, 1, 1, 2]]))
    constant = base.copy()
    constant[:, 2] = 0.4
    yield Case("a dataset on which all are equal", _table(constant))
    zero = base.copy()
    zero[3], zero[:, 1] = 0.0, 0.0
    yield Case("an algorithm and a dataset with zeros alone", _table(zero))
    yield Case("results that are all zero", _table(np.zeros((4, 6))))
    yield Case("negative values", _table(base - 0.3))
    yield Case("values of very different size", _table(base * 10.0 ** np.arange(-8, 4, 2)))
    yield Case("lower is better", _table(np.where(base > 0.3, 1.0, base)), metric="robustness")
    unknown = _table(base, {"my score": 1.0})
    yield Case("one metric, of unknown name", unknown, metric="my score", higher_is_better=True)
    gaps = np.where(rng.random(base.shape) < 0.2, np.nan, base)
    gaps[:, 0] = base[:, 0]
    policies: tuple[MissingPolicy, ...] = ("error", "drop-datasets", "worst")
    for policy in policies:
        yield Case(f"missing cells under {policy}", _table(gaps), missing=policy)
    absent = np.array(base)
    absent[2] = np.nan
    yield Case("an algorithm without any value", _table(absent), missing="drop-algorithms")
    yield Case("unequal numbers of seeds in the folds", _repeated(base))
    names = ["dataset", "value", "A\u0301lgo \u202e<b>&\"'", "../up"], ["algorithm", "d,1", "d\n2", "x" * 300, "π", "0"]
    yield Case("strange names", _table(base, names=names))


def example_evidence(datasets: Sequence[str]) -> dict[str, Callable[[], Any]]:
    """Small evidence of every kind that a study has: characteristics of these datasets, strata, users, instances."""
    return {
        "characteristics": lambda: _characteristics(datasets),
        "strata": lambda: _strata,
        "users": lambda: _user_scores,
        "groups": lambda: _groups,
        "user_responses": lambda: _user_responses,
        "instances": _instances,
        "comper": dict,
        "adaptive": lambda: _adaptive(datasets),
    }


def _adaptive(datasets: Sequence[str]) -> dict[str, Any]:
    """The journal of an adaptive run on these datasets that has no step yet."""
    question = {"target": "first", "confidence": 0.95, "indifference": 1.0, "rho": 0.97}
    return {"metric": METRIC, "algorithms": None, "datasets": list(datasets), "question": question, "seed": 0,
            "steps": [], "said": ""}  # fmt: skip


def _table(
    values: FloatArray, metrics: dict[str, float] | None = None, *, names: tuple[list[str], list[str]] | None = None
) -> Results:
    """Algorithms x datasets as results; the other metrics of `EVERYTHING` follow the first with noise of their own."""
    rng = derived_rng(1, "odd metrics")
    algorithms, datasets = names or ([f"a{i}" for i in range(len(values))], [f"d{i}" for i in range(values.shape[1])])
    rows = []
    for metric, factor in (metrics or EVERYTHING).items():
        noisy = values * factor * (1.0 if metric == METRIC else rng.uniform(0.8, 1.2, values.shape))
        rows += [
            (a, d, metric, None if np.isnan(noisy[i, j]) else float(noisy[i, j]))
            for i, a in enumerate(algorithms)
            for j, d in enumerate(datasets)
        ]
    schema = {c.ALGORITHM: pl.String, c.DATASET: pl.String, c.METRIC: pl.String, c.VALUE: pl.Float64}
    return Results.from_frame(pl.DataFrame(rows, schema=schema, orient="row"))


def _repeated(values: FloatArray) -> Results:
    table = _table(values).frame
    folds = [(0, 1), (0, 2), (0, 3), (1, 1)]
    parts = [
        table.with_columns(
            pl.col(c.VALUE) * (1 + 0.1 * fold + 0.01 * seed), pl.lit(fold).alias(c.FOLD), pl.lit(seed).alias(c.SEED)
        )
        for fold, seed in folds
    ]
    return Results.from_frame(pl.concat(parts))


def _characteristics(datasets: Sequence[str]) -> CharacteristicsTable:
    rng = derived_rng(2, "characteristics")
    names = ("users", "items", "density", "gini", "constant", "unknown")
    values = rng.lognormal(size=(len(datasets), len(names)))
    values[:, 4], values[:1, 5] = 1.0, np.nan
    values.flags.writeable = False
    return CharacteristicsTable(values, tuple(datasets), names)


def _strata(metric: str, *, seed: int) -> StrataEvidence:
    rng = derived_rng(seed, "strata")
    thresholds = (5, 10, 20)
    share = np.linspace(0.3, 1, len(thresholds))
    made = []
    for name in ("films", "songs"):
        scores = rng.uniform(0, 1, (len(thresholds), 3, 40)) + np.array([0.0, 0.1, 0.2])[:, None]
        scores[:, :, rng.random(40) < 0.2] = np.nan
        scores.flags.writeable = False
        counts = dict.fromkeys(("events", "pool", "items", "train_interactions"), 50.0)
        shares = dict.fromkeys(("share_of_items", "share_of_train", "share_of_test"), share)
        frame = pl.DataFrame({"threshold": thresholds, **counts, **shares})
        curve = pl.DataFrame({"rank": [1, 10, 100], "popularity": [90, 12, 1]})
        made.append(StrataScores(name, ("a0", "a1", "a2"), thresholds, scores, frame, curve))
    return StrataEvidence(metric, True, tuple(made))


def _user_scores(metric: str) -> tuple[list[UserScores], dict[str, str]]:
    rng = derived_rng(1, "user scores")
    made = []
    for name in ("films", "songs"):
        values = rng.uniform(0, 0.8, (3, 40)) + np.array([[0.0], [0.1], [0.2]])
        values.flags.writeable = False
        made.append(UserScores(name, ("a0", "a1", "a2"), values))
    return made, {}


def _groups(metric: str) -> GroupsEvidence:
    [whole, _], _ = _user_scores(metric)
    halves = tuple(UserScores(name, whole.algorithms, whole.values[:, at::2]) for at, name in enumerate("fm"))
    exposed = {c.DATASET: "films", "attribute": "genre", "k": 10, "share": 0.5, "error": 0.01, "events": 0.4,
               "deviation": 0.1, "ratio": 1.25, "rsp": 0.2, "reo": 0.1}  # fmt: skip
    items = tuple(
        exposed | {c.ALGORITHM: name, "group": group} for name in whole.algorithms for group in ("war", "love")
    )
    weighted = UserScores("films", whole.algorithms, whole.values[::-1].copy())
    by_weight = WeightedScores(f"{metric}[ips]", whole, weighted, WeightFacts(500, 300.0, 4.0, 0.02))
    return GroupsEvidence((GroupedScores("films", "sex", whole, halves),), items, (by_weight,))


def _user_responses(metric: str) -> tuple[str, dict[str, Responses]]:
    return "hitrate@10", {name: _responses(name, 5, 60) for name in ("films", "songs")}


def _instances() -> list[InstanceResponses]:
    """Six datasets of 16 instances, answered by eight classifiers and the best and the worst one can be."""
    made = []
    for number in range(6):
        real = _responses(f"instances {number}", 8, 16)
        codes = np.concatenate([real.codes, np.ones((1, 16)), np.zeros((1, 16))]).astype(np.uint8)
        names = (*(f"classifier {i}" for i in range(8)), "optimal", "pessimal")
        roles = ("real",) * 4 + ("mlp",) * 4 + ("artificial",) * 2
        facts = {"NumberOfClasses": 2.0 + number, "NumberOfInstances": 50.0 * (1 + number)}
        made.append(InstanceResponses(f"set {number}", Responses(codes, names, real.items), roles, None, facts))
    return made


def _responses(name: str, respondents: int, items: int) -> Responses:
    rng = derived_rng(4, "responses", name)
    ability, difficulty = np.linspace(-1.5, 1.5, respondents), rng.normal(size=items)
    right = rng.random((respondents, items)) < 1 / (1 + np.exp(difficulty - ability[:, None]))
    codes = right.astype(np.uint8)
    codes.flags.writeable = False
    return Responses(codes, tuple(f"a{i}" for i in range(respondents)), tuple(f"r{i}" for i in range(items)))
