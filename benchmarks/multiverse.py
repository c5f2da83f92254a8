"""The multiverse on synthetic truth: size of the joint test, coverage of the variance shares, and seconds.

python benchmarks/multiverse.py size [N]        N tables of equal algorithms per kind: how often the joint test rejects
python benchmarks/multiverse.py shares [N]      N planted multiverses per kind: how often intervals hold the true shares
python benchmarks/multiverse.py drift [N]       N tables per size without drift: how often the drift test rejects
python benchmarks/multiverse.py seeds [N]       N tables per design: do intervals hold the planted shares of seeds?
python benchmarks/multiverse.py certificate [N] N planted multiverses per kind, run adaptively: are certificates true?
python benchmarks/multiverse.py seconds         processor seconds at 1,000 universes x 12 algorithms x 30 datasets
"""

from __future__ import annotations

import itertools
import sys
import time

import numpy as np
import polars as pl

from recassay.analysis.certify.fit import Multiverse, axis_shares, replay, scores, truth
from recassay.analysis.multiverse.claims import Stated, joint_test
from recassay.analysis.multiverse.fit import explore
from recassay.analysis.multiverse.repeats import drift_test, seed_shares
from recassay.analysis.multiverse.shares import variance_parts
from recassay.core import ties


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


PLANTED = ((0.6, 0.3, 0.1), (0.1, 0.2, 0.7), (0.2, 0.4, 0.4))
"""Shares of the variance that split, tuning and fit seeds cause."""


def seeds(count: int) -> None:
    """Values that split, tuning and fit seeds move; the split's part is common to the algorithms, or each one's own."""
    print("algorithms datasets seeds      common   split covered, width   tuning        fit")
    for (k, n), levels, common in itertools.product(((4, 4), (8, 6), (6, 12)), ((3, 2, 2), (5, 3, 3)), (0.0, 0.7)):
        inside, widths = np.zeros(3), np.zeros(3)
        places = np.indices((k, n, *levels)).reshape(5, -1)
        keys = ("algorithm", "dataset", "split_seed", "tuning_seed", "fit_seed")
        columns = {name: place.astype(str) for name, place in zip(keys, places, strict=True)}
        for at in range(count):
            rng = np.random.default_rng((k, n, *levels, int(10 * common), at))
            planted = np.array(PLANTED[at % len(PLANTED)])
            deviation = 0.05 * np.sqrt(planted)
            shape = (k, n, levels[0])
            split = np.sqrt(common) * rng.normal(size=(1, *shape[1:])) + np.sqrt(1 - common) * rng.normal(size=shape)
            values = rng.uniform(0.1, 0.4, (k, n, 1, 1, 1)) * (
                1 + deviation[0] * split[..., None, None] + deviation[1] * rng.normal(size=(*shape, levels[1], 1))
                + deviation[2] * rng.normal(size=(*shape, *levels[1:]))
            )  # fmt: skip
            found = seed_shares(pl.DataFrame(columns | {"value": values.ravel()}), (), rng)
            intervals = np.array([share.interval for share in found])
            inside += (intervals[:, 0] <= planted) & (planted <= intervals[:, 1])
            widths += intervals[:, 1] - intervals[:, 0]
        covered = "   ".join(f"{100 * c / count:5.1f} %, {w / count:.2f}" for c, w in zip(inside, widths, strict=True))
        print(f"{k:10} {n:8} {levels!s:10} {common:6}   {covered}", flush=True)


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


def drift(count: int) -> None:
    """Windows in which the order varies at random about one per dataset: how often the drift test rejects."""
    print("algorithms datasets windows   rejected at 5 %")
    for k, n, windows in ((3, 1, 5), (5, 2, 3), (5, 2, 5), (4, 4, 5), (8, 6, 4), (12, 10, 8)):
        rejected = 0
        for at in range(count):
            rng = np.random.default_rng((k, n, windows, at))
            values = rng.normal(size=(k, n, windows)) + rng.normal(size=(k, n, 1))
            found = drift_test(ties.ranks(values, higher_is_better=True, axis=0), [str(a) for a in range(k)], rng)
            rejected += found is not None and found.p <= 0.05
        print(f"{k:10} {n:8} {windows:7} {100 * rejected / count:12.1f} %")


SIZES = {"main": (0.5, 0.2, 0.0, 0.0), "one": (1.0, 0.1, 0.0, 0.0), "by dataset": (0.1, 0.6, 0.0, 0.0),
         "pairs": (0.2, 0.2, 0.4, 0.0), "rough": (0.1, 0.1, 0.0, 0.8), "flat": (0.0, 0.0, 0.0, 0.0)}  # fmt: skip
"""By kind of multiverse, deviations of effects of choices, of choices by dataset, of pairs of choices, of blocks."""


def planted(kind: str, seed: int, levels: tuple[int, ...] = (3, 2, 2, 2)) -> tuple[Multiverse, np.ndarray]:
    """A multiverse of (here) 24 paid combinations, 5 datasets, 4 metrics and 4 algorithms: 120 blocks."""
    rng = np.random.default_rng((sum(map(ord, kind)), seed))
    d, f, k = 5, 4, 4
    paid = np.array(list(itertools.product(*map(range, levels))))
    choice, own, pair, block = SIZES[kind]
    values = 0.6 * rng.normal(size=k) + 0.8 * rng.normal(size=(d, 1, k)) + 0.2 * rng.normal(size=(f, k))
    values = values + 0.1 * rng.normal(size=(len(paid), d, f, k)) + 0.15 * rng.normal(size=(len(paid), d, 1, k))
    for i, size in enumerate(levels):
        of_one = 0.05 if kind == "one" and i else choice
        values += (
            of_one * rng.normal(size=(size, 1, 1, k))[paid[:, i]] + own * rng.normal(size=(size, d, 1, k))[paid[:, i]]
        )
    for i, j in itertools.combinations(range(len(levels)), 2):
        values += pair * rng.normal(size=(levels[i], levels[j], 1, 1, k))[paid[:, i], paid[:, j]]
    values += block * rng.normal(size=(len(paid), d, 1, k))
    axes = {f"x{i}": tuple(map(str, range(size))) for i, size in enumerate(levels)} | {"metric": tuple("abcd")}
    grid = Multiverse(axes, paid, np.arange(f)[:, None], tuple("ABCD"), tuple(map(str, range(d))),
                      np.ones((len(paid), d), dtype=bool))  # fmt: skip
    return grid, scores(-values).reshape(len(paid) * d, f * k)


def certificate(count: int) -> None:
    """How often certified statements are true of the whole multiverse, and what they cost."""
    print("kind         cost (least to most)   shares true   those of 2 to 98 %   axes true   CPU s")
    for kind in SIZES:
        costs, every, open_shares, axes = [], [], [], []
        start = time.process_time()
        for seed in range(count):
            grid, known = planted(kind, seed)
            found = replay(grid, known, np.ones(len(known)), confidence=0.95, rng=np.random.default_rng(seed))
            costs.append(found.cost)
            for claim in (claim for claim in found.claims if claim.certified):
                own, _, rival = claim.statement.partition(" > ")
                made = Stated(grid.algorithms.index(own[0]), grid.algorithms.index(rival) if rival else None, True)
                exact = float(truth(grid, known, [made])[0])
                every.append(abs(claim.share - exact) <= 0.05 + 1e-9)
                open_shares += [every[-1]] if 0.02 < exact < 0.98 else []
            whole = axis_shares(grid, known)
            axes += [max(whole.values()) - whole[found.axis] <= 0.05 + 1e-9] if found.axis_certified else []
        print(f"{kind:10} {np.mean(costs):6.2f} ({min(costs):.2f} to {max(costs):.2f}) {sum(every):6} of {len(every)} "
              f"{sum(open_shares):10} of {len(open_shares):3} {sum(axes):10} of {len(axes):2} "
              f"{(time.process_time() - start) / count:8.1f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    what, count = [*sys.argv[1:], ""][0], int(sys.argv[2]) if sys.argv[2:] and sys.argv[2].isdigit() else 200
    {"size": lambda: size(count), "shares": lambda: shares(count), "seconds": seconds, "seeds": lambda: seeds(count),
     "drift": lambda: drift(count),
     "certificate": lambda: certificate(count)}[what]()  # fmt: skip
