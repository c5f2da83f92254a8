"""One table written in several ways, and what every analysis says of it: names, orders, units, ties, copies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.beta_irt.fit import fit_beta_irt
from recassay.analysis.compare.fit import compare_algorithms
from recassay.analysis.model.fit import fit_model
from recassay.analysis.multiverse.fit import explore
from recassay.analysis.plan.fit import plan_study
from recassay.analysis.rank.fit import rank_algorithms
from recassay.analysis.ratings.fit import rate_by_pairs
from recassay.analysis.select.fit import select_datasets
from recassay.analysis.strata.fit import sweep_strata
from recassay.analysis.stress.fit import stress_rankings
from recassay.analysis.users.fit import compare_users
from recassay.analysis.verdict.fit import judge
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results
from recassay.core.tables.scores import UserScores
from support.strata import evidence, of

Said = dict[Any, Any]
"""What an analysis says: a number or a word, by what it is said of."""


@dataclass(frozen=True)
class Table:
    """Values (algorithms x datasets) and their names, in any order."""

    values: np.ndarray
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    upward: bool = True

    def matrix(self) -> Matrix:
        """As analyses get it: names sorted."""
        rows, columns = np.argsort(self.algorithms), np.argsort(self.datasets)
        names = tuple(self.algorithms[a] for a in rows), tuple(self.datasets[d] for d in columns)
        return Matrix(np.ascontiguousarray(self.values[np.ix_(rows, columns)]), *names, "score", self.upward)

    def results(self) -> Results:
        """As a long table."""
        rows = [(a, d, "ndcg@10", "0", float(self.values[i, j]))
                for i, a in enumerate(self.algorithms) for j, d in enumerate(self.datasets)]  # fmt: skip
        schema = ["algorithm", "dataset", "metric", "seed", "value"]
        return Results(pl.DataFrame(rows, schema=schema, orient="row"))


def drawn(k: int, n: int, seed: int, *, rounded: bool = False) -> Table:
    """Algorithms whose levels differ a little, on datasets that differ much."""
    rng = np.random.default_rng([k, n, seed])
    logs = rng.normal(0, 0.6, n) + 0.25 * (rng.normal(size=(k, n)) + 0.3 * rng.permutation(k)[:, None])
    values = 0.15 * np.exp(logs)
    values = values.round(2) if rounded else values
    return Table(values, tuple(f"a{i:02d}" for i in range(k)), tuple(f"d{j:02d}" for j in range(n)))


def renamed(names: tuple[str, ...], seed: int) -> dict[str, str]:
    """Other names in another order."""
    order = np.random.default_rng(seed).permutation(len(names))
    return {name: f"x{at:02d}" for name, at in zip(names, order, strict=True)}


Written = tuple[Table, dict[str, str]]
"""The table written otherwise, and for each new name the old one."""


def other_datasets(table: Table) -> Written:
    new = renamed(table.datasets, 1)
    return Table(table.values, table.algorithms, tuple(new.values())), {b: a for a, b in new.items()}


def other_algorithms(table: Table) -> Written:
    new = renamed(table.algorithms, 2)
    return Table(table.values, tuple(new.values()), table.datasets), {b: a for a, b in new.items()}


def in_percent(table: Table) -> Written:
    return Table(100 * table.values, table.algorithms, table.datasets), {}


def negated(table: Table) -> Written:
    return Table(-table.values, table.algorithms, table.datasets, upward=False), {}


def other_levels(table: Table) -> Written:
    factor = 2.0 ** np.random.default_rng(3).integers(-3, 4, len(table.datasets))
    return Table(table.values * factor, table.algorithms, table.datasets), {}


def with_a_tie(table: Table) -> Written:
    values = np.column_stack([table.values, np.full(len(table.values), 0.2)])
    return Table(values, table.algorithms, (*table.datasets, "tie")), {}


def with_a_copy(table: Table) -> Written:
    values = np.vstack([table.values, table.values[:1]])
    return Table(values, (*table.algorithms, "copy"), table.datasets), {}


def the_verdict(table: Table) -> Said:
    verdict = judge(table.matrix())
    said: Said = {"grade": verdict.grade, "best": frozenset(verdict.could_be_best)}
    for pair in verdict.pairs:
        turned = {"better": "worse"}.get(pair.status, pair.status)
        said[pair.a, pair.b] = pair.status, round(pair.p, 7)
        said[pair.b, pair.a] = turned, round(pair.p, 7)
    return said


def the_ranking(table: Table) -> Said:
    found = rank_algorithms(table.matrix(), replicates=200)
    said: Said = dict(zip(found.algorithms, found.mean_ranks, strict=True))
    for name, ranking in found.rankings.items():
        for at, algorithm in enumerate(found.algorithms):
            said[name, algorithm] = float(ranking.ranks[at])
            if ranking.score_interval is not None:
                said[name, algorithm, "interval"] = tuple(ranking.score_interval[at])
                said[name, algorithm, "share"] = float(ranking.resampling_share[at])
    again = found.judgement.leads_again
    if again is not None:
        said |= {("again", name): float(p) for name, p in zip(found.judgement.algorithms, again, strict=True)}
    return said


def the_comparison(table: Table) -> Said:
    found = compare_algorithms(table.matrix(), draws=1000)
    said: Said = {"friedman": found.friedman.p}
    for pair in found.pairs:
        said[frozenset((pair.left, pair.right))] = pair.p_holm
    for belief in found.bayesian:
        said[belief.left, belief.right] = float(belief.p_left)
        said[belief.right, belief.left] = float(belief.p_right)  # those that tie in mean rank may change places
    return said


def the_model(table: Table) -> Said:
    found = fit_model(table.results(), "ndcg@10")
    best, first = found.probability_best(), found.probability_first()
    return {name: (float(b), float(f)) for name, b, f in zip(found.algorithms, best, first, strict=True)}


def the_plan(table: Table) -> Said:
    found = plan_study(table.results(), "ndcg@10")
    return {frozenset((pair.left, pair.right)): (max(pair.chance, 1 - pair.chance), pair.alone) for pair in found.pairs}


def the_ratings(table: Table) -> Said:
    found = rate_by_pairs(table.matrix(), replicates=200)
    return {
        name: (float(rating), *map(float, ends))
        for name, rating, ends in zip(found.algorithms, found.rating, found.interval, strict=True)
    }


def the_stress(table: Table) -> Said:
    found = stress_rankings(table.matrix(), draws=100)
    said: Said = {"first": found.algorithms[found.order[0]]}
    for name, curve in found.curves.items():
        said[name] = tuple(map(float, curve.numbers.ravel()))
    return said


def the_choice(table: Table) -> Said:
    found = select_datasets(table.matrix(), 4, methods="preserving", simulations=20, splits=2, curve=False)
    return {name: frozenset(choice.datasets) for name, choice in found.choices.items()}


def the_items(table: Table) -> Said:
    found = fit_beta_irt(table.values, table.algorithms, table.datasets, metric="ndcg@10")
    said: Said = {}
    for direction in found.directions:
        ends = zip(direction.respondents, direction.highest, strict=True)
        said |= {(direction.number, name): float(share) for name, share in ends}
    return said


def the_multiverse(table: Table) -> Said:
    """The values and a power of them as two cut-offs."""
    rows = table.results().frame.select("algorithm", "dataset", "metric", "value")
    other = rows.with_columns(metric=pl.lit("ndcg@20"), value=pl.col("value") ** 1.5)
    found = explore(pl.concat([rows, other]), permutations=200)
    said: Said = {}
    for claim in found.claims:
        said[claim.algorithm, claim.rival] = claim.counts.holds, claim.counts.undecided, claim.p
    return said


def the_users(table: Table) -> Said:
    """Each dataset is taken for a user, of one dataset."""
    matrix = table.matrix()
    users = UserScores("shop", matrix.algorithms, matrix.values)
    found = compare_users([users], "ndcg@10", higher_is_better=table.upward, replicates=200).datasets[0]
    said: Said = dict(zip(found.algorithms, map(float, found.means), strict=True))
    for pair in found.pairs:
        said[frozenset((pair.left, pair.right))] = pair.significant, float(pair.p_holm), abs(float(pair.difference))
    return said


def the_strata(table: Table) -> Said:
    """Each dataset is taken for a user; those of low values have nothing in the first stratum."""
    values = table.matrix().values
    high = values.max(axis=0)
    first = np.where(high >= np.median(high), values, np.nan)
    scores = of(np.stack([first, values]))
    found = sweep_strata(evidence(scores), replicates=200).datasets[0]
    names = table.matrix().algorithms
    said: Said = {(at, name): float(found.value[at, a]) for at in range(2) for a, name in enumerate(names)}
    for pair, (a, b) in enumerate(zip(found.tests.left, found.tests.right, strict=True)):
        said["p", frozenset((names[a], names[b]))] = tuple(map(float, found.tests.p_holm[:, pair]))
    return said


def translated(said: Said, old: dict[str, str]) -> Said:
    """The same with the old names."""

    def back(thing: Any) -> Any:
        if isinstance(thing, tuple):
            return tuple(map(back, thing))
        if isinstance(thing, frozenset):
            return frozenset(map(back, thing))
        return old.get(thing, thing) if isinstance(thing, str) else thing

    return {back(key): back(value) for key, value in said.items()}


def differences(before: Said, after: Said, near: float) -> list[Any]:
    """What is said otherwise; numbers may differ by `near`, relatively."""

    def same(left: Any, right: Any) -> bool:
        if isinstance(left, tuple) and isinstance(right, tuple):
            return len(left) == len(right) and all(map(same, left, right))
        if isinstance(left, float) and isinstance(right, float | int):
            return bool(abs(left - right) <= near * max(1.0, abs(left)))
        return bool(left == right)

    return [(key, value, after.get(key)) for key, value in before.items() if not same(value, after.get(key))]
