"""The verdict on one table: the status of each pair is computed here, once, and everything else is read off it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from string import ascii_letters
from typing import Any

import numpy as np

from recassay.analysis.aggregation.contest import Contest
from recassay.analysis.aggregation.rules import DolanMore, applicable, choose_rules, distinct
from recassay.analysis.inference.effects import Effect, hodges_lehmann, pair_gaps
from recassay.analysis.inference.families import (
    family_means,
    family_numbers,
    obvious_families,
    related,
)
from recassay.analysis.inference.pair_rows import PairRows
from recassay.analysis.inference.significance import dataset_ranks
from recassay.analysis.inference.winners import (
    fewest_to_remove,
    mean_rank_intervals,
    probability_first,
    ways_to_lose,
)
from recassay.analysis.verdict.decision import Decision, decide
from recassay.analysis.verdict.result import OtherRules, PairVerdict, Status, Verdict
from recassay.core import ties
from recassay.core.choices import FEWEST_DATASETS, MANY_ALGORITHMS, PRACTICALLY_EQUAL, PairTest, refuse_level
from recassay.core.content import copies
from recassay.core.errors import UsageError
from recassay.core.names import canonical, did_you_mean
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix
from recassay.core.types import BoolArray, IntArray


def judge(
    matrix: Matrix,
    *,
    control: str | None = None,
    within: float = PRACTICALLY_EQUAL,
    alpha: float = 0.05,
    families: str | Mapping[str, str] | None = None,
    test: PairTest = "sign-flips",
    seed: int = 0,
) -> Verdict:
    """The verdict on a matrix; asked again with the same arguments it is not computed again.

    A pair is `better` where the all-pairs test rejects at `alpha` (`inference.all_pairs`), the mean ranks point the
    same way, and the interval of its effect does not reach below zero. The pairs of a `control` that was named
    beforehand are adjusted for its k - 1 comparisons only. That the leader beats every other has a fifth of `alpha` for
    itself (`decision`). A pair that is not `better` is `equivalent` where two one-sided tests, Holm-corrected, put
    their ratio within the margin, or where all values are the same. Everything else is `undecided`, or `undecidable`
    where even 2 / 2^N is not below alpha. Datasets of one of the `families` count as one piece of evidence: their signs
    are flipped together, and effects are those of family means.

    With `test` "wilcoxon-holm" a pair is `better` where Wilcoxon's signed-rank test of the differences rejects, with
    Holm's correction over all pairs, and the mean ranks point the same way (Demšar 2006); the rest is the same.
    """
    refuse_level(alpha)
    chosen = None if control is None else find_control(control, matrix.algorithms)
    numbers = None if families is None else family_numbers(matrix.datasets, families)
    return _judge(asked_of(matrix, numbers), chosen, within, alpha=alpha, test=test, seed=seed)


def find_control(name: str, algorithms: Sequence[str]) -> str:
    """The algorithm that is meant, whatever its case."""
    named = [known for known in algorithms if canonical(known) == canonical(name)]
    if not named:
        raise UsageError(f"the control {name!r} is not one of the algorithms", fix=did_you_mean(name, list(algorithms)))
    return named[0]


@dataclass(frozen=True, slots=True)
class Asked:
    """A matrix and the families of its datasets, equal to another by their `content`."""

    content: tuple[Any, ...]
    matrix: Matrix = field(compare=False)
    families: IntArray | None = field(compare=False)


def asked_of(matrix: Matrix, families: IntArray | None) -> Asked:
    """What is asked of a matrix, by its content."""
    known = (matrix.missing, matrix.users, None if families is None else families.tobytes())
    content = (matrix.values.tobytes(), *matrix.head, *known)
    return Asked(content, matrix, families)


def decision_on(
    asked: Asked, control: str | None, within: float, *, alpha: float, test: PairTest, seed: int
) -> Decision:
    """`decide`; of few algorithms the last decisions are kept, since a report asks for those on each metric twice."""
    kept = len(asked.matrix.algorithms) <= MANY_ALGORITHMS
    return (_decided if kept else _decided.__wrapped__)(asked, control, within, alpha, test, seed)


@lru_cache(maxsize=64)
def _decided(asked: Asked, control: str | None, within: float, alpha: float, test: PairTest, seed: int) -> Decision:
    return decide(
        asked.matrix, control=control, within=within, alpha=alpha, seed=seed, test=test, families=asked.families
    )


@lru_cache(maxsize=8)
def _judge(asked: Asked, control: str | None, within: float, alpha: float, test: PairTest, seed: int) -> Verdict:
    matrix, families = asked.matrix, asked.families
    decision = decision_on(asked, control, within, alpha=alpha, test=test, seed=seed)
    order, ranks, better = decision.order, decision.ranks, decision.better
    mean_rank = ranks.mean(axis=1)
    names, values = tuple(matrix.algorithms[a] for a in order), matrix.values[order]
    k, n = ranks.shape
    p_best = decision.p_best
    interval = again = None
    if n >= FEWEST_DATASETS:
        # Algorithms with the same values count once; what is drawn is drawn in an order of the content.
        distinct, numbers = np.unique(decision.copies, return_index=True)[1], decision.copies
        alone = family_means(ranks[distinct], families, by_size=True)
        interval = mean_rank_intervals(alone, confidence=1 - alpha)[numbers]
        again = probability_first(alone, derived_rng(seed, "first again", matrix.metric))[numbers]
    could = (p_best >= alpha) & decision.judged
    behind = [name for name, yes in zip(names[1:], decision.judged[1:], strict=True) if yes]
    leaders = tuple(name for name, rank in zip(names, mean_rank, strict=True) if not ties.beats(rank, mean_rank[0]))
    removal = fewest_to_remove(ranks) if len(leaders) == 1 else None
    verdict = Verdict(
        metric=matrix.metric,
        higher_is_better=matrix.higher_is_better,
        algorithms=names,
        datasets=matrix.datasets,
        alpha=alpha,
        within=within,
        control=control,
        test=test,
        grade=decision.grade,
        leaders=leaders,
        rival=next((name for name, yes in zip(names[1:], could[1:], strict=True) if yes), (*behind, names[1])[0]),
        could_be_best=tuple(name for name, yes in zip(names, could, strict=True) if yes),
        mean=values.mean(axis=1),
        mean_rank=mean_rank,
        firsts=(ranks == ranks.min(axis=0)).sum(axis=1),
        interval=interval,
        rank_interval=np.stack([1 + better.sum(axis=0), k - better.sum(axis=1)], axis=1),
        leads_again=again,
        p_best=p_best,
        groups=group_letters(better | better.T),
        status=_square(decision.codes, k),
        pairs=_pairs(matrix, decision, alpha=alpha, families=families),
        p_equal=decision.equal,
        smallest_p=decision.smallest,
        removal=None if removal is None else (names[removal[0]], len(removal[1])),
        removed=() if removal is None else tuple(matrix.datasets[d] for d in removal[1]),
        removals=None if removal is None else ways_to_lose(ranks, len(removal[1])),
        hopeful=_hopeful(matrix, leaders),
        families=None if families is None else int(families.max()) + 1,
        missing=matrix.missing,
        not_judged=tuple(name for name, yes in zip(names, decision.judged, strict=True) if not yes),
        users=matrix.users,
        other_rules=None if decision.grade == "not_comparable" else _other_rules(matrix, names, leaders),
    )
    if families is None and verdict.grade in ("clear_winner", "shared_lead") and obvious_families(matrix.datasets):
        by_family = asked_of(matrix, related(matrix.datasets))
        together = decision_on(by_family, control, within, alpha=alpha, test=test, seed=seed)
        verdict = replace(
            verdict,
            grade_by_family=together.grade,
            best_by_family=int((together.p_best[together.judged] >= alpha).sum()),
        )
    return verdict


def _square(codes: Any, k: int) -> tuple[tuple[Status, ...], ...]:
    first, second = np.triu_indices(k, 1)
    square = np.full((k, k), "equivalent", dtype=object)
    square[first, second] = codes
    square[second, first] = np.where(codes == "better", "worse", codes)
    return tuple(tuple(row) for row in square.tolist())


def _pairs(matrix: Matrix, decision: Decision, alpha: float, families: IntArray | None) -> PairRows[PairVerdict]:
    first, second = np.triu_indices(len(decision.order), 1)
    names = np.array(matrix.algorithms, dtype=object)[decision.order]
    wins, losses = decision.wins[first, second], decision.wins[second, first]
    order = np.array(decision.order)
    columns = {
        "a": names[first],
        "b": names[second],
        "status": decision.codes,
        "wins": wins,
        "losses": losses,
        "ties": len(matrix.datasets) - wins - losses,
        "effect": partial(_effects, matrix, order[first], order[second], families, 1 - alpha),
        "p": decision.p,
        "p_single": decision.single,
    }
    return PairRows(PairVerdict, first, second, columns)


def _effects(
    matrix: Matrix, first: IntArray, second: IntArray, families: IntArray | None, confidence: float, places: IntArray
) -> list[Effect]:
    """The effects of the pairs at these places."""
    gaps, ratio = pair_gaps(matrix, first[places], second[places])
    estimates = hodges_lehmann(family_means(gaps, families), confidence=confidence)
    known = bool(np.isfinite(estimates).all())
    estimates = np.where(ratio[:, None], np.exp(estimates), estimates)
    kinds = np.where(ratio, "ratio", "difference").tolist()
    return [
        Effect(kind, estimate, (low, high) if known else None)
        for kind, (estimate, low, high) in zip(kinds, estimates.tolist(), strict=True)
    ]


def _other_rules(matrix: Matrix, names: Sequence[str], leaders: Sequence[str]) -> OtherRules | None:
    """Who is first under most other aggregations that count for themselves, where no leader by mean rank is.

    Of several that are first as often, it is the one with the better mean rank: `names` have it first.
    """
    rules = [rule for rule in distinct(applicable(choose_rules(None), matrix)[0]) if rule.name != "mean_rank"]
    rows, member = copies(matrix.values)
    contest = Contest(matrix.values[None, rows], higher_is_better=matrix.higher_is_better)
    firsts: dict[str, list[str]] = {name: [] for name in names}
    for rule in rules:
        scores = rule.score(contest, np.ones((1, len(matrix.datasets))), DolanMore())[:, member]
        ranks = ties.ranks(scores, higher_is_better=rule.higher_is_better(matrix.higher_is_better))[0]
        for name in np.array(matrix.algorithms, dtype=object)[ranks == ranks.min()]:
            firsts[name].append(rule.title)
    most = max(names, key=lambda name: len(firsts[name]))
    count = len(firsts[most])
    if 2 * count <= len(rules) or any(len(firsts[leader]) == count for leader in leaders):
        return None
    return OtherRules(most, tuple(firsts[most]), len(rules))


def _hopeful(matrix: Matrix, leaders: tuple[str, ...]) -> str | None:
    """Who would lead instead if the cells that were filled with the worst value of their dataset had the best."""
    missing = matrix.missing
    if missing.policy != "worst" or not missing.cells:
        return None
    values = matrix.values.copy()
    best = values.max(axis=0) if matrix.higher_is_better else values.min(axis=0)
    for name, dataset in missing.cells:
        at = matrix.datasets.index(dataset)
        values[matrix.algorithms.index(name), at] = best[at]
    ranks = dataset_ranks(replace(matrix, values=values)).mean(axis=1)
    first = matrix.algorithms[int(ranks.argmin())]
    return None if first in leaders else first


def group_letters(differ: BoolArray) -> tuple[str, ...]:
    """The letters of each algorithm, from which pairs `differ` (algorithms x algorithms, the best first).

    Each letter is a group in which no pair differs. Groups are grown from the best algorithm down, from a pair that
    shares no letter yet, by the nearest algorithms that fit, until every pair that does not differ shares one. After z
    come A to Z, then a1, b1, ...
    """
    k = len(differ)
    alike = ~differ | np.eye(k, dtype=bool)
    shared = np.zeros((k, k), dtype=bool)
    groups: list[BoolArray] = []
    for i in range(k):
        while (open_ones := alike[i, i:] & ~shared[i, i:]).any():
            j = i + int(open_ones.argmax())
            group = np.zeros(k, dtype=bool)
            group[[i, j]] = True
            fits = alike[i] & alike[j] & ~group
            unshared = alike[[i, j]] & ~shared[[i, j]]
            bring = unshared[0] | unshared[1]
            while fits.any():
                # The nearest that fits and brings a pair without a letter, else the nearest that fits.
                new = fits & bring
                candidates = np.flatnonzero(new if new.any() else fits)
                nearest = candidates[np.abs(candidates - j).argmin()]
                group[nearest] = True
                bring |= alike[nearest] & ~shared[nearest]
                fits &= alike[nearest]
                fits[nearest] = False
            groups.append(group)
            shared |= np.outer(group, group)
    names = [ascii_letters[g % 52] + (str(g // 52) if g >= 52 else "") for g in range(len(groups))]
    return tuple("".join(name for name, group in zip(names, groups, strict=True) if group[a]) for a in range(k))
