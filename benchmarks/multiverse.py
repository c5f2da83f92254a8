"""The multiverse on synthetic truth: size of the joint test, coverage of the variance shares, and seconds.

python benchmarks/multiverse.py size [N]        N tables of equal algorithms per kind: how often the joint test rejects
python benchmarks/multiverse.py shares [N]      N planted multiverses per kind: how often intervals hold the true shares
python benchmarks/multiverse.py real FOLDER     a real multiverse: files of interactions, 8 algorithms, 24 universes
python benchmarks/multiverse.py seconds         processor seconds at 1,000 universes x 12 algorithms x 30 datasets
"""

from __future__ import annotations

import itertools
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

import recassay
from recassay.analysis.multiverse.claims import Stated, joint_test
from recassay.analysis.multiverse.fit import explore
from recassay.analysis.multiverse.shares import variance_parts
from recassay.core import ties
from recassay.core.registry import algorithms
from recassay.core.seeds import derived_rng
from recassay.core.specs.specs import ProtocolSpec
from recassay.metrics.evaluate import evaluate
from recassay.metrics.recommend import recommend_all
from recassay.protocol.apply import apply_protocol
from recassay.recommenders.validation import users_of


def size(count: int) -> None:
    """Algorithms that are equal on average, in universes that share more or less of their noise."""
    print("algorithms datasets universes shared   named pair  best (suggested)  pair (suggested)")
    for k, n, universes, shared in itertools.product((3, 8), (4, 10), (12, 100), (0.5, 0.95)):
        rejected = np.zeros(3)
        for at in range(count):
            rng = np.random.default_rng((k, n, universes, int(100 * shared), at))
            common = rng.normal(size=(k, n))
            noise = rng.normal(size=(universes, k, n))
            values = np.sqrt(shared) * common + np.sqrt(1 - shared) * noise
            ranks = ties.ranks(values, higher_is_better=True, axis=1)
            test = joint_test(ranks, 999, rng)
            leader = int(ranks.mean(axis=(0, 2)).argmin())
            second = int(ranks.mean(axis=(0, 2)).argsort()[1])
            claims = Stated(0, 1, True), Stated(leader, None, False), Stated(leader, second, False)
            rejected += [(test.p(claim) or 1.0) < 0.05 for claim in claims]
        shares = 100 * rejected / count
        print(f"{k:10} {n:8} {universes:9} {shared:6} {shares[0]:10.1f} % {shares[1]:15.1f} % {shares[2]:15.1f} %")


def shares(count: int) -> None:
    """Planted effects of axes and pairs; a part of the grid is seen, the shares of the whole grid are the truth."""
    print("levels       seen   coverage of axes  of pairs  mean width of axes  mean error of axes")
    for levels, seen in itertools.product(((3, 4, 5), (2, 3, 7, 4), (5, 5, 5)), (0.3, 0.5, 0.8)):
        inside: dict[int, list[bool]] = {1: [], 2: []}
        widths, errors = [], []
        grid = np.array(list(itertools.product(*map(range, levels))))
        for at in range(count):
            rng = np.random.default_rng((*levels, int(100 * seen), at))
            ranks = 0.3 * rng.normal(size=(len(grid), 5))
            for i in range(len(levels)):
                ranks += rng.uniform(0.1, 1.5) * rng.normal(size=(levels[i], 5))[grid[:, i]]
            for i, j in itertools.combinations(range(len(levels)), 2):
                ranks += rng.uniform(0, 0.7) * rng.normal(size=(levels[i], levels[j], 5))[grid[:, i], grid[:, j]]
            truth = variance_parts(ranks, grid, np.array(levels), rng)
            kept = rng.permutation(len(grid))[: int(seen * len(grid))]
            parts = variance_parts(ranks[kept], grid[kept], np.array(levels), rng)
            draws, exact = parts.of_distance(), truth.of_distance()[0]
            low, high = np.quantile(draws, [0.025, 0.975], axis=0)
            for source, lower, upper, share, mean in zip(parts.axes, low, high, exact, draws.mean(axis=0), strict=True):
                if source:
                    inside[len(source)].append(bool(lower <= share <= upper))
                if len(source) == 1:
                    widths.append(upper - lower)
                    errors.append(abs(mean - share))
        print(f"{levels!s:12} {seen:4} {100 * np.mean(inside[1]):14.1f} % {100 * np.mean(inside[2]):8.1f} % "
              f"{np.mean(widths):15.3f} {np.mean(errors):18.3f}")  # fmt: skip


def seconds() -> None:
    """Full and incomplete grids of a thousand universes."""
    for levels, keep in (((10, 10, 10), 1.0), ((5, 5, 4, 4, 5), 0.5)):
        rng = np.random.default_rng(1)
        grid = np.array(list(itertools.product(*map(range, levels))))
        grid = grid[rng.permutation(len(grid))[: int(keep * len(grid))]]
        values = np.exp(rng.normal(0, 0.2, (12, 30)) + rng.normal(0, 0.1, (len(grid), 12, 30)) - 2)
        universe, algorithm, dataset = (places.ravel() for places in np.indices(values.shape))
        frame = pl.DataFrame(
            {"algorithm": [f"A{a:02}" for a in algorithm], "dataset": [f"d{d}" for d in dataset], "metric": "ndcg@10",
             "value": values.ravel()}
            | {f"axis{i}": grid[universe, i].astype(str) for i in range(len(levels))}
        )  # fmt: skip
        start = time.process_time()
        explore(frame)
        took = time.process_time() - start
        print(f"{len(grid)} universes x 12 algorithms x 30 datasets, axes of {levels}: {took:.1f} CPU s")


DATASETS = ("ml-100k", "ml-latest-small", "filmtrust", "lastfm-2k", "foursquare-sg", "bookcrossing-ratings",
            "retailrocket-s", "msweb")  # fmt: skip
ALGORITHMS = ("MostPop", "ItemKNN", "UserKNN", "EASE", "PureSVD", "ALS", "BPR", "RP3beta")
METRICS = tuple(f"{name}@{k}" for name in ("ndcg", "recall", "mrr") for k in (5, 20))


def real(folder: Path) -> None:
    """Eight algorithms with their defaults on files of interactions, under two splits and two filters; a table."""
    written = Path("real_multiverse.csv")
    rows: list[dict[str, object]] = []
    for name, split, core in itertools.product(DATASETS, ("random_per_user", "random"), (5, 10)):
        spec = ProtocolSpec(split=split, min_item_interactions=core, min_user_interactions=core, filter="core")
        try:
            parts = apply_protocol(recassay.load_data(folder / f"{name}.parquet"), spec)
        except recassay.InputError as error:
            print(f"{name} {split} {core}: {error}", flush=True)
            continue
        train, test = parts.refit(), parts.test
        for algorithm in ALGORITHMS:
            begin = time.process_time()
            model = algorithms.get(algorithm)().fit(train, rng=derived_rng(0, name, algorithm))
            top = recommend_all(model, users_of(test), 20, exclude=parts.barred(train.csr()), n_items=train.n_items)
            values = evaluate(top, test, METRICS, train=train).mean()
            print(f"{name} {split} {core} {algorithm}: {time.process_time() - begin:.1f} s", flush=True)
            rows += [
                {
                    "algorithm": algorithm,
                    "dataset": name,
                    "metric": metric,
                    "value": value,
                    "split": split,
                    "core": core,
                }
                for metric, value in values.items()
            ]
        pl.DataFrame(rows).write_csv(written)
    print("\n".join(recassay.multiverse(written).verdict()))


if __name__ == "__main__":
    what, count = [*sys.argv[1:], ""][0], int(sys.argv[2]) if sys.argv[2:] and sys.argv[2].isdigit() else 200
    {"size": lambda: size(count), "shares": lambda: shares(count), "seconds": seconds,
     "real": lambda: real(Path(sys.argv[2]))}[what]()  # fmt: skip
