"""Do corrections for exposure bring the offline number nearer to the truth? What `docs/exposure.md` reports.

    python benchmarks/exposure.py coat [--splits 20] [--like 4]
    python benchmarks/exposure.py synthetic [--logs 20]
    python benchmarks/exposure.py coverage [--logs 400]

`coat`: Schnabel et al. (2016) have ratings of items that people chose and of items shown at random. Algorithms learn
from half of the chosen ones; every estimator reads the other half, and the truth is the same metric on the items shown
at random. Needs `exposure/coat` under RECASSAY_DATA. `synthetic`: the same on logs whose exposure is known. `coverage`:
how often 95 % intervals of the estimates hold the truth. Each takes `--json FILE`.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array
from scipy.stats import kendalltau

from recassay.analysis.users.fit import user_intervals
from recassay.core.registry import algorithms
from recassay.core.seeds import derived_rng
from recassay.core.types import Interactions, TopK
from recassay.evidence.strata_sets import Sweep, accuracy_metric
from recassay.metrics.context import EvaluationContext
from recassay.metrics.evaluate import lists_of
from recassay.metrics.make import make_metric
from recassay.metrics.recommend import recommend_all
from recassay.metrics.weighted import PropensityTable, Weighting, weight_facts
from recassay.protocol.strata import default_thresholds, popularity_strata

NAMES = (
    "Random", "MostPop", "ItemKNN", "UserKNN", "EASE", "SLIM", "ALS", "BPR", "PureSVD", "NMF", "RP3beta", "LocalEASE",
    "NCE-PLRec", "WARP", "AspectModel",
)  # fmt: skip
METRICS = ("recall@10", "ndcg@10", "hitrate@10", "map@10")
DRAWS = 1000

Given = tuple[PropensityTable | None, str]
"""A table of propensities, or None for popularity, and what a label says besides: ` power 1`, ` clip 5`."""

Values = dict[str, np.ndarray]
"""By estimator, algorithms x users; NaN where a user is not judged."""


def per_user(label: str, tops: list[TopK], truth: csr_array, context: EvaluationContext) -> np.ndarray:
    """The metric of every algorithm for every user of the table."""
    users = np.flatnonzero(np.diff(truth.indptr)).astype(np.int32)
    values = np.full((len(tops), truth.shape[0]), np.nan)
    metric = make_metric(label)
    for row, top in enumerate(tops):
        values[row, users] = metric.per_user(lists_of(users, top, truth.shape[0])[0], truth, context)
    return values


def stratified(label: str, tops: list[TopK], train: Interactions, test: Interactions, seed: int) -> Values:
    """The values on the rarest stratum of the paper, and the mean over its ten thresholds."""
    sweep = Sweep(accuracy_metric(label), seed=seed)
    thresholds = default_thresholds(train, test, steps=max(2, min(10, len(test) // 30)))
    strata = popularity_strata(train, test, thresholds=thresholds, seed=seed).strata
    context = EvaluationContext(train)
    values = [per_user(label, tops, stratum.sample.csr(), context) for stratum in strata]
    assert sweep.metric.label == label
    with np.errstate(invalid="ignore"):
        together = np.nansum(values, axis=0) / np.maximum(np.isfinite(values).sum(axis=0), 1)
    together[np.isnan(values).all(axis=0)] = np.nan
    return {"stratified (rarest)": values[0], "stratified (mean)": together}


def estimates(
    label: str, tops: list[TopK], train: Interactions, test: Interactions, given: dict[str, Given], seed: int
) -> Values:
    """Every estimator on the observed test part."""
    truth = test.csr()
    values = {"plain": per_user(label, tops, truth, EvaluationContext(train))}
    values |= stratified(label, tops, train, test, seed)
    for name, (chances, rest) in given.items():
        context = EvaluationContext(train, chances)
        values |= {
            f"{kind} {name}": per_user(f"{label}[{kind}{rest}]", tops, truth, context) for kind in ("ips", "snips")
        }
    return values


def fitted_lists(train: Interactions, names: tuple[str, ...], k: int, seed: int) -> list[TopK]:
    """The lists of every algorithm with its defaults, without training items."""
    users = np.arange(train.n_users, dtype=np.int32)
    tops = []
    for name in names:
        rng = derived_rng(seed, "exposure", name)
        recommender = algorithms.get(name)().fit(train, rng=rng)
        tops.append(recommend_all(recommender, users, k, exclude=train.csr(), n_items=train.n_items))
    return tops


def interactions(users: np.ndarray, items: np.ndarray, n_users: int, n_items: int) -> Interactions:
    """Events over tables of whole numbers."""
    tables = pl.Series("user", np.arange(n_users)), pl.Series("item", np.arange(n_items))
    return Interactions(users.astype(np.int32), items.astype(np.int32), *tables)


def without(events: Interactions, others: Interactions) -> Interactions:
    """The events whose pair is not in `others`."""
    codes = events.user.astype(np.int64) * events.n_items + events.item
    return events.take(~np.isin(codes, others.user.astype(np.int64) * events.n_items + others.item))


def table(values: np.ndarray, truth: np.ndarray, rng: np.random.Generator) -> dict[str, Any]:
    """Bias, error and order of one estimator (algorithms x users), with intervals over users."""
    users = np.arange(values.shape[1])
    rows, orders = [], []
    for draw in range(DRAWS + 1):
        who = users if draw == 0 else rng.integers(0, len(users), len(users))
        guess, true = np.nanmean(values[:, who], axis=1), np.nanmean(truth[:, who], axis=1)
        gap = guess - true
        lost = true.max() - true[guess.argmax()]
        orders.append(kendalltau(guess, true).statistic)
        rows.append((gap.mean(), np.sqrt((gap**2).mean()), orders[-1], lost))
    spans = np.quantile(rows[1:], [0.025, 0.975], axis=0).T
    names = ("bias", "error", "order", "lost")
    found: dict[str, Any] = {name: [rows[0][i], *spans[i].tolist()] for i, name in enumerate(names)}
    return found | {"orders": orders}


def report(values: dict[str, Values], truth: dict[str, np.ndarray], seed: int) -> dict[str, Any]:
    """By metric and estimator; printed as it is made."""
    made: dict[str, Any] = {}
    for label, estimators in values.items():
        made[label] = {}
        plain = np.zeros(0)
        agree = halves(truth[label], seed)
        print(f"\n{label}: two halves of the users agree on the order by {agree:.2f}")
        print(f"  truth {np.nanmean(truth[label], axis=1).round(3).tolist()}")
        for name, guess in estimators.items():
            row = table(guess, truth[label], derived_rng(seed, "users drawn"))  # the same draws for all
            orders = np.array(row.pop("orders"))
            plain = orders if name == "plain" else plain
            change = orders - plain
            row["change of order"] = [change[0], *np.quantile(change[1:], [0.025, 0.975]).tolist()]
            made[label][name] = row
            cells = "  ".join(f"{key} {v[0]:+.4f} ({v[1]:+.4f} to {v[2]:+.4f})" for key, v in row.items())
            print(f"  {name:26s} {cells}", flush=True)
    return made


def halves(truth: np.ndarray, seed: int) -> float:
    """Kendall's tau between the orders on random halves of the users: what chance leaves of the true order."""
    rng, n = derived_rng(seed, "halves of users"), truth.shape[1]
    found = []
    for _ in range(200):
        order = rng.permutation(n)
        sides = [np.nanmean(truth[:, part], axis=1) for part in (order[: n // 2], order[n // 2 :])]
        found.append(kendalltau(*sides).statistic)
    return float(np.mean(found))


def mean_of(parts: list[np.ndarray]) -> np.ndarray:
    """The mean over splits of each user's value, NaN where the user is never judged."""
    stacked = np.stack(parts)
    known = np.isfinite(stacked)
    total = np.where(known, stacked, 0.0).sum(axis=0)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)


def coat(splits: int, like: float, seed: int = 1) -> dict[str, Any]:
    """Every estimator on the chosen items against the truth on items shown at random."""
    folder = Path(os.environ.get("RECASSAY_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    read = {part: pl.read_parquet(folder / "exposure" / "coat" / f"{part}.parquet")
            for part in ("self_selected", "at_random", "propensity")}  # fmt: skip
    n_users, n_items = 290, 300
    parts = {}
    for part in ("self_selected", "at_random"):
        liked = read[part].filter(pl.col("rating") >= like)
        parts[part] = interactions(liked["user"].to_numpy(), liked["item"].to_numpy(), n_users, n_items)
    rows = read["propensity"]
    chance = csr_array((rows["propensity"].to_numpy().astype(float), (rows["user"], rows["item"])),
                       shape=(n_users, n_items))  # fmt: skip
    given = {
        "popularity, fitted": (None, " power fitted"),
        "popularity, power 0.5": (None, ""),
        "popularity, power 1": (None, " power 1"),
        "table": (chance, ""),
        "table, clipped at 5": (chance, " clip 5"),
    }
    seen: dict[str, dict[str, list[np.ndarray]]] = {label: {} for label in METRICS}
    true: dict[str, list[np.ndarray]] = {label: [] for label in METRICS}
    for split in range(splits):
        half = derived_rng(seed, "halves", str(split)).random(len(parts["self_selected"])) < 0.5
        train, test = parts["self_selected"].take(half), parts["self_selected"].take(~half)
        shown = without(parts["at_random"], train)
        tops = fitted_lists(train, NAMES, 10, seed + split)
        context = EvaluationContext(train)
        if split == 0:
            print(f"train {len(train)}, test {len(test)}, at random {len(shown)}")
            for name, (chances, rest) in given.items():
                weighting = Weighting.parse(f"ips{rest}")
                weights = weighting.weights(test.csr(), context.popularity, chances)
                print(name, weight_facts(weights, weights))
        for label in METRICS:
            true[label].append(per_user(label, tops, shown.csr(), context))
            for name, values in estimates(label, tops, train, test, given, seed + split).items():
                seen[label].setdefault(name, []).append(values)
    values = {label: {name: mean_of(part) for name, part in seen[label].items()} for label in METRICS}
    return report(values, {label: mean_of(true[label]) for label in METRICS}, seed)


def shape(kind: str, n_items: int) -> np.ndarray:
    """The chance of each item to be seen: all 0.3 (`even`), or falling with the place of the item."""
    place = np.arange(1, n_items + 1)
    fall = {"even": 0.0, "mild": 0.3, "steep": 0.7, "wild": 2.0}[kind]
    return np.clip(0.9 * place**-fall, 1e-4, 0.9) if fall else np.full(n_items, 0.3)


def tastes(rng: np.random.Generator, n_users: int, n_items: int, attraction: float) -> np.ndarray:
    """The chance that a user likes an item: of a few kinds of taste, and by `attraction` more where items are seen."""
    kinds = derived_rng(7, "kinds of items").normal(size=(n_items, 4))
    people = rng.normal(size=(n_users, 4))
    appeal = attraction * (1 - 2 * np.arange(n_items) / n_items)
    return 1 / (1 + np.exp(-(people @ kinds.T + appeal - 2.2)))


def synthetic(logs: int, seed: int = 1) -> dict[str, Any]:
    """Every estimator on logs of known exposure against the metric on everything that users like."""
    made = {}
    for kind in ("even", "mild", "steep"):
        seen: dict[str, dict[str, list[np.ndarray]]] = {label: {} for label in METRICS}
        true: dict[str, list[np.ndarray]] = {label: [] for label in METRICS}
        for log in range(logs):
            rng = derived_rng(seed, "logs", kind, str(log))
            n_users, n_items = 400, 200
            likes = rng.random((n_users, n_items)) < tastes(rng, n_users, n_items, attraction=0.5)
            chance = np.tile(shape(kind, n_items), (n_users, 1))
            shown = likes & (rng.random(likes.shape) < chance)
            half = rng.random(likes.shape) < 0.5
            train = interactions(*np.nonzero(shown & half), n_users, n_items)
            test = interactions(*np.nonzero(shown & ~half), n_users, n_items)
            rest = interactions(*np.nonzero(likes & ~(shown & half)), n_users, n_items)
            # What is left after training comes into the test part with this chance.
            given = {"known": (csr_array(0.5 * chance / (1 - 0.5 * chance)), ""),
                     "popularity, fitted": (None, " power fitted"), "popularity, power 0.5": (None, "")}  # fmt: skip
            tops = fitted_lists(train, NAMES, 10, seed + log)
            for label in METRICS:
                true[label].append(per_user(label, tops, rest.csr(), EvaluationContext(train)))
                for name, values in estimates(label, tops, train, test, given, seed + log).items():
                    seen[label].setdefault(name, []).append(values)
        print(f"\n== exposure: {kind}")
        values = {label: {n: np.concatenate(v, axis=1) for n, v in seen[label].items()} for label in METRICS}
        made[kind] = report(values, {label: np.concatenate(true[label], axis=1) for label in METRICS}, seed)
    return made


def coverage(logs: int, seed: int = 1) -> dict[str, Any]:
    """How often the 95 % interval over users holds the value on a test part of the same size with even exposure.

    Every log has new users. The lists know the tastes with noise and prefer items that are seen.
    """
    n_items, made = 200, {}
    print(
        "exposure  users  events per user  effective  largest  wild "
        + "  ".join(f"{m} plain ips snips" for m in METRICS)
    )
    for kind in ("even", "mild", "steep", "wild"):
        for share in (0.1, 0.5):  # of what users like, on average over items
            chance = shape(kind, n_items)
            chance = np.clip(chance * share / chance.mean(), 1e-4, 0.95)
            draw = _drawn_log(chance, n_items)
            truth = {label: float(np.nanmean(draw(derived_rng(seed, "truth"), 40_000, None)[label]["plain"]))
                     for label in METRICS}  # fmt: skip
            held = {label: dict.fromkeys(("plain", "ips", "snips"), 0) for label in METRICS}
            facts = []
            for log in range(logs):
                rng = derived_rng(seed, "covered", kind, str(share), str(log))
                values = draw(rng, 400, facts)
                for label, by_kind in values.items():
                    for name, each in by_kind.items():
                        known = each[np.isfinite(each)][None, :]
                        none = np.empty(0, dtype=np.int64)
                        span, _ = user_intervals(known, none, none, confidence=0.95, replicates=1000, rng=rng)
                        held[label][name] += span[0, 0] <= truth[label] <= span[0, 1]
            mean = {
                name: float(np.mean([getattr(f, name) for f in facts]))
                for name in ("events", "effective", "largest", "wild")
            }
            shares = {label: {name: count / logs for name, count in held[label].items()} for label in METRICS}
            made[f"{kind} {share:g}"] = {**mean, "held": shares}
            cells = "  ".join(" ".join(f"{shares[m][n]:.3f}" for n in ("plain", "ips", "snips")) for m in METRICS)
            sizes = f"{mean['events'] / 400:6.1f} {mean['effective']:8.0f} {mean['largest']:8.1f} {mean['wild']:5.2f}"
            print(f"{kind:6s} {sizes}  {cells}", flush=True)
    return made


def _drawn_log(chance: np.ndarray, n_items: int) -> Callable[..., dict[str, Values]]:
    """A function that draws users, their lists and what was seen of what they like; where `facts` is None, evenly."""
    weighting = Weighting("ips")
    nothing = np.zeros(n_items, dtype=np.int64)

    def draw(rng: np.random.Generator, n_users: int, facts: list[Any] | None) -> dict[str, Values]:
        like = tastes(rng, n_users, n_items, attraction=0.5)
        likes = rng.random(like.shape) < like
        score = np.log(like) + rng.normal(size=like.shape) + 0.3 * np.log(chance / chance.max())
        top = TopK(np.arange(n_users, dtype=np.int32), np.argsort(-score, axis=1)[:, :10].astype(np.int32),
                   np.zeros((n_users, 10), dtype=np.float32))  # fmt: skip
        # The truth: as many test events, each liked item with the same chance to be among them.
        seen = chance if facts is not None else np.full(n_items, float((like @ chance).sum() / like.sum()))
        shown = likes & (rng.random(likes.shape) < seen)
        truth = csr_array(shown.astype(np.float64))
        context = EvaluationContext(csr_array((n_users, n_items)), chance)
        if facts is not None:
            weights = weighting.weights(truth, nothing, chance)
            facts.append(weight_facts(weights, weights))
        kinds = ("plain", "ips", "snips") if facts is not None else ("plain",)
        written = {"plain": "{}", "ips": "{}[ips]", "snips": "{}[snips]"}
        return {label: {k: per_user(written[k].format(label), [top], truth, context)[0] for k in kinds}
                for label in METRICS}  # fmt: skip

    return draw


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("coat", "synthetic", "coverage"))
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--like", type=float, default=4)
    parser.add_argument("--logs", type=int, default=20)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    found = {"coat": lambda: coat(asked.splits, asked.like), "synthetic": lambda: synthetic(asked.logs),
             "coverage": lambda: coverage(asked.logs)}[asked.what]()  # fmt: skip
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1))
