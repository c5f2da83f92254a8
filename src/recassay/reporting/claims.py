"""What results say as data, from the facts that their sentences are made of."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recassay.analysis.verdict.result import Verdict
from recassay.core.analysis import AnalysisResult
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.claims import ALL, COURT, Relation, Statement
from recassay.core.system.plain import plain
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.reporting.headline import judgement
from recassay.reporting.telling import ask, sections_of
from recassay.reporting.words.claims import box, box_lines
from recassay.reporting.words.model import leader

if TYPE_CHECKING:  # a command loads the result that it shows, and not those of all others
    from recassay.analysis.beta_irt.result import BetaIRTResult
    from recassay.analysis.compare.result import CompareResult
    from recassay.analysis.model.result import ModelResult
    from recassay.analysis.multiverse.result import MultiverseResult
    from recassay.analysis.plan.result import PlanResult
    from recassay.analysis.rank.result import RankResult
    from recassay.analysis.ratings.result import RatingsResult
    from recassay.analysis.stress.result import StressResult
    from recassay.analysis.users.result import UsersResult

Said: TypeAlias = Iterator[Statement]


def statements(results: Mapping[str, AnalysisResult]) -> list[Statement]:
    """What these results say, each statement once."""
    return list(dict.fromkeys(claim for result in results.values() for claim in _of(result)))


def claim_files(tables: Iterable[Mapping[str, AnalysisResult]], words: Vocabulary = USUAL) -> dict[str, bytes]:
    """`claims.json`: what results say, and what may be claimed; `claims.md`: the latter as text. None without one."""
    content: dict[str, list[Any]] = {"claims": [], "supported": [], "unsupported": []}
    for results in tables:
        content["claims"] += plain(statements(results))
        if (verdict := judgement(results)) is not None:
            for key, lines in box(verdict, words).items():
                content[key] += lines
    if not content["supported"]:
        return {}
    data = json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False)
    return {"claims.json": data.encode(), "claims.md": "\n".join([*box_lines(content), ""]).encode()}


@dataclass(frozen=True)
class _Speaker:
    """A procedure that speaks of one metric."""

    procedure: str
    metric: str
    scope: str

    def __call__(self, subject: str, relation: Relation, object: str | None = None, number: Any = None) -> Statement:
        """A statement; its status follows from the relation."""
        shown = {"undecided": "not shown", "could_be_best": "not shown", "leads": "observed", "count": "observed"}
        shown |= dict.fromkeys(("better", "equivalent", "behind", "survives"), "shown")
        status: Any = shown.get(relation, "estimate")
        return Statement(subject, relation, object, self.metric, self.scope, self.procedure, status, number)

    def counts(self, of: str, total: int, parts: Mapping[str, int]) -> Said:
        """How many of so many are what; the parts add up to the total."""
        for name, number in {**parts, ALL: total}.items():
            yield self(name, "count", of, number)


def _speaker(result: Any, procedure: str) -> _Speaker:
    return _Speaker(procedure, result.metric, f"{len(result.datasets)} datasets")


def _of(result: Any) -> Said:
    room, _, word = type(result).__module__.removesuffix(".result").rpartition(".")
    if room == "recassay.analysis" and word in _MAKERS:
        yield from _MAKERS[word](result)
        return
    for section in sections_of(result):
        if first := ask(section, "leader", result, []):
            yield _speaker(result, section.title)(first, "leads")


def court(verdict: Verdict) -> Said:
    """The verdict: every pair, who could be best, who leads; numbers of the pairs of the leader and of the control."""
    over, k, pairs = f"{len(verdict.datasets)} datasets", len(verdict.algorithms), len(verdict.pairs)
    scope = over if verdict.families is None else f"{verdict.families} families of {over}"
    name = COURT if verdict.control is None else f"{COURT}, control {verdict.control}"
    say, spoken = _Speaker(name, verdict.metric, scope), {verdict.leaders[0], verdict.control}
    relations: dict[str, Relation] = {"better": "better", "equivalent": "equivalent"}
    for pair in verdict.listed(verdict.pairs):
        yield say(pair.a, relations.get(pair.status, "undecided"), pair.b)
        if spoken & {pair.a, pair.b}:
            yield say(pair.a, "p", pair.b, pair.p)
            yield say(pair.a, "effect", pair.b, pair.effect.estimate)
            if pair.effect.interval is not None:
                yield say(pair.a, "interval", pair.b, pair.effect.interval)
            parts = {"won": pair.wins, "lost": pair.losses, "tied": pair.ties}
            yield from say.counts(f"{over}, {pair.a} against {pair.b}", len(verdict.datasets), parts)
    for a, name in enumerate(verdict.algorithms):
        yield say(name, "could_be_best" if name in verdict.could_be_best else "behind")
        if verdict.interval is not None:
            yield say(name, "interval", "mean rank", tuple(verdict.interval[a].tolist()))
        if verdict.leads_again is not None:
            yield say(name, "chance", "leading again", float(verdict.leads_again[a]))
    yield from (say(name, "leads", "mean rank", float(verdict.mean_rank[0])) for name in verdict.leaders)
    decided, could = int((verdict.better | verdict.equivalent).sum()), verdict.could_be_best
    yield from say.counts("algorithms", k, {"could be best": len(could), "could not": k - len(could)})
    yield from say.counts("pairs", pairs, {"decided": decided, "open": pairs - decided})


def _rank(result: RankResult) -> Said:
    yield from court(result.judgement)
    firsts = Counter[str]()
    for ranking in result.counted():
        best = np.flatnonzero(ranking.ranks == ranking.ranks.min())
        firsts["several tied" if len(best) > 1 else result.algorithms[best[0]]] += 1
    yield from _speaker(result, "aggregations").counts("aggregations that it leads", len(result.counted()), firsts)


def _compare(result: CompareResult) -> Said:
    yield from court(result.judgement)
    if len(result.datasets) < FEWEST_DATASETS:
        return
    yield _speaker(result, "Friedman")("the algorithms", "p", "no difference", result.friedman.p)
    say, pairs = _speaker(result, "Wilcoxon-Holm"), len(result.pairs)
    significant = int(np.count_nonzero(result.pairs.columns["significant"]))
    yield from say.counts("pairs", pairs, {"significant": significant, "not significant": pairs - significant})
    for pair in result.pairs.take(np.flatnonzero(result.pairs.first == 0)):
        ends = (pair.right, pair.left) if pair.favours == pair.right else (pair.left, pair.right)
        yield say(ends[0], "better" if pair.significant and pair.favours else "undecided", ends[1])
        yield say(pair.left, "p", pair.right, pair.p_holm)


def _plan(result: PlanResult) -> Said:
    pairs, say = len(result.pairs) + result.left_out, _speaker(result, "hierarchical model, plan")
    for pair in result.pairs:
        yield say(pair.left, "chance", f"being ahead of {pair.right}", pair.chance)
        yield say(pair.left, "effect", pair.right, pair.gap)
    if result.look is not None:
        judged = _Speaker(COURT, result.metric, f"{result.complete} datasets")
        yield from judged.counts("pairs", result.decided + pairs, {"decided": result.decided, "open": pairs})
        yield judged(result.look.leader, "leads", "mean rank")


def _users(result: UsersResult) -> Said:
    for users in result.datasets:
        say = _Speaker(f"users of {users.dataset}", result.metric, f"{users.users} users")
        could, first, k = users.could_be_best(), users.algorithms[0], len(users.algorithms)
        yield say(first, "leads", "mean", users.means[0])
        yield from (say(name, "could_be_best" if name in could else "behind") for name in users.algorithms)
        yield from say.counts("algorithms", k, {"could be best": len(could), "could not": k - len(could)})
        for pair in users.pairs:
            ends = (pair.left, pair.right) if pair.difference > 0 else (pair.right, pair.left)
            if pair.significant or pair.left == first:
                yield say(ends[0], "better" if pair.significant else "undecided", ends[1])
                yield say(pair.left, "p", pair.right, pair.p_holm)
                yield say(pair.left, "effect", pair.right, pair.difference)
                yield say(pair.left, "interval", pair.right, (pair.low, pair.high))


def _model(result: ModelResult) -> Said:
    say = _speaker(result, "hierarchical model")
    if len(result.datasets) >= FEWEST_DATASETS:
        yield say(leader(result), "leads", "level")
        for row in result.to_frame().to_dicts():
            yield say(row["algorithm"], "interval", "level", (row["low"], row["high"]))
            yield say(row["algorithm"], "chance", "the best level", row["probability_best"])
            yield say(row["algorithm"], "chance", "first on a new dataset", row["probability_first"])


def _ratings(result: RatingsResult) -> Said:
    say = _speaker(result, "Bradley-Terry")
    yield say(result.algorithms[result.order()[0]], "leads", "rating", float(result.rating.max()))
    for name, ends in zip(result.algorithms, result.interval.tolist(), strict=True):
        yield say(name, "interval", "rating", tuple(ends))


def _beta_irt(result: BetaIRTResult) -> Said:
    say, ability = _speaker(result, "beta-IRT"), result.trait("ability")
    yield say(ability.names[ability.order()[0]], "leads", "ability", float(ability.estimate.max()))
    for name, *ends in zip(ability.names, ability.low.tolist(), ability.high.tolist(), strict=True):
        yield say(name, "interval", "ability", tuple(ends))


def _stress(result: StressResult) -> Said:
    conclusion = next(c for c in result.conclusions if c.kind == "first" and c.change == result.main.change)
    first, held, rules = conclusion.algorithms[0], conclusion.holds_under, len(result.rules)
    say = _speaker(result, "stress")
    yield _speaker(result, COURT)(first, "leads", "mean rank")
    yield from say.counts("aggregations", rules, {"hold": held, "fail": rules - held})
    if conclusion.verdict == "survives":
        yield say(first, "survives", conclusion.change.when)


def _multiverse(result: MultiverseResult) -> Said:
    metric = ", ".join(result.axes.get("metric", ())) or "as given"
    say = _Speaker("multiverse", metric, f"{result.universes} universes")
    rows = result.firsts()[~result.leaky]
    alone = Counter(result.algorithms[int(row.argmax())] if row.sum() == 1 else "several tied" for row in rows)
    yield from say.counts("universes that it leads", result.universes, alone)
    for claim in result.claims:
        for names in (("ahead", "tied", "behind"), ("holds", "undecided", "reversed")):
            parts = {name: int(getattr(claim.counts, name)) for name in names}
            yield from say.counts(f"universes, {claim.statement}: {names[0]} or not", claim.counts.universes, parts)
        if claim.p is not None:
            yield say(claim.algorithm, "p", claim.rival or "all others", claim.p)


_MAKERS: dict[str, Callable[[Any], Said]] = {
    "rank": _rank, "compare": _compare, "plan": _plan, "users": _users, "model": _model, "ratings": _ratings,
    "beta_irt": _beta_irt, "stress": _stress, "multiverse": _multiverse,
}  # fmt: skip
"""By the word of an analysis, what says its result."""
