"""What results say as data, from the facts that their sentences are made of; and the words that only the court uses."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from recassay.analysis.beta_irt.result import BetaIRTResult
from recassay.analysis.compare.result import CompareResult
from recassay.analysis.model.result import ModelResult
from recassay.analysis.multiverse.result import MultiverseResult
from recassay.analysis.plan.result import PlanResult
from recassay.analysis.rank.result import RankResult
from recassay.analysis.ratings.result import RatingsResult
from recassay.analysis.stress.result import StressResult
from recassay.analysis.users.result import UsersResult
from recassay.analysis.verdict.result import Verdict
from recassay.core.analysis import AnalysisResult
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.claims import ALL, COURT, Relation, Statement
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.reporting.headline import judgement
from recassay.reporting.telling import ask, sections_of, with_sections
from recassay.reporting.words.claims import box, box_lines
from recassay.reporting.words.model import leader

Said: TypeAlias = Iterator[Statement]
Sayer: TypeAlias = Callable[..., Statement]


def statements(results: Mapping[str, AnalysisResult]) -> list[Statement]:
    """What these results say, each statement once."""
    return list(dict.fromkeys(said for result in results.values() for said in _of(result)))


def _of(result: Any) -> Said:
    for kind, maker in _MAKERS.items():
        if isinstance(result, kind):
            yield from maker(result)
            return
    if isinstance(verdict := getattr(result, "judgement", None), Verdict):
        yield from court(verdict)
    for section in sections_of(result):
        if first := ask(section, "leader", result, []):
            yield Statement(first, "leads", None, result.metric, _datasets(result), section.title.lower())


def court(verdict: Verdict) -> Said:
    """The verdict: every pair, who could be best, who leads; numbers of the pairs of the leader and of the control."""
    procedure = COURT if verdict.control is None else f"{COURT}, control {verdict.control}"
    over = _datasets(verdict)
    scope = over if verdict.families is None else f"{verdict.families} families of {over}"
    say = partial(_say, metric=verdict.metric, scope=scope, procedure=procedure)
    spoken = {verdict.leaders[0], verdict.control}
    relations: dict[str, Relation] = {"better": "better", "equivalent": "equivalent"}
    for pair in verdict.listed(verdict.pairs):
        relation = relations.get(pair.status, "undecided")
        yield say(pair.a, relation, pair.b, status="not shown" if relation == "undecided" else "shown")
        if spoken & {pair.a, pair.b}:
            yield say(pair.a, "p", pair.b, pair.p)
            yield say(pair.a, "effect", pair.b, pair.effect.estimate)
            if pair.effect.interval is not None:
                yield say(pair.a, "interval", pair.b, pair.effect.interval)
            against = f"{pair.a} against {pair.b}"
            parts = {"won": pair.wins, "lost": pair.losses, "tied": pair.ties, ALL: len(verdict.datasets)}
            yield from _counts(say, parts, f"datasets, {against}")
    could = set(verdict.could_be_best)
    for a, name in enumerate(verdict.algorithms):
        yield say(name, "could_be_best" if name in could else "behind", None, status=_shown(name not in could))
        if verdict.interval is not None:
            yield say(name, "interval", "mean rank", tuple(verdict.interval[a].tolist()))
        if verdict.leads_again is not None:
            yield say(name, "chance", "leading again", float(verdict.leads_again[a]))
    for name in verdict.leaders:
        yield say(name, "leads", "mean rank", float(verdict.mean_rank[0]), "observed")
    k, decided = len(verdict.algorithms), int((verdict.better | verdict.equivalent).sum())
    yield from _counts(say, {"could be best": len(could), "could not": k - len(could), ALL: k}, "algorithms")
    yield from _counts(say, {"decided": decided, "open": len(verdict.pairs) - decided, ALL: len(verdict.pairs)}, "pairs")


def _rank(result: RankResult) -> Said:
    yield from court(result.judgement)
    say = _sayer(result, "aggregations")
    firsts = Counter[str]()
    for ranking in result.counted():
        best = np.flatnonzero(ranking.ranks == ranking.ranks.min())
        firsts["several tied" if len(best) > 1 else result.algorithms[best[0]]] += 1
    yield from _counts(say, {**firsts, ALL: len(result.counted())}, "aggregations under which it alone is first")


def _compare(result: CompareResult) -> Said:
    yield from court(result.judgement)
    if len(result.datasets) < FEWEST_DATASETS:
        return
    yield _sayer(result, "Friedman")("the algorithms", "p", "no difference", result.friedman.p)
    say, own = _sayer(result, "Wilcoxon-Holm"), result.algorithms[0]
    significant = int(np.count_nonzero(result.pairs.columns["significant"]))
    pairs = len(result.pairs)
    yield from _counts(say, {"significant": significant, "not significant": pairs - significant, ALL: pairs}, "pairs")
    tested = [(say, own, pair.right, pair) for pair in result.pairs.take(np.flatnonzero(result.pairs.first == 0))]
    if result.control is not None:
        named = _sayer(result, f"Wilcoxon-Holm, control {result.control.name}")
        tested += [(named, result.control.name, pair.other, pair) for pair in result.control.pairs]
    for said, one, other, pair in tested:
        won = pair.favours if pair.significant else None
        ends = (one, other) if won in (one, None) else (other, one)
        yield said(ends[0], "undecided" if won is None else "better", ends[1], status=_shown(won is not None))
        yield said(one, "p", other, pair.p_holm)


def _plan(result: PlanResult) -> Said:
    pairs, k = len(result.pairs) + result.left_out, len(result.algorithms)
    say = _sayer(result, "hierarchical model, plan")
    for pair in result.pairs:
        yield say(pair.left, "chance", f"a real lead over {pair.right}", pair.chance)
        yield say(pair.left, "effect", pair.right, pair.gap)
    if result.complete < 2:
        return
    judged = partial(_say, metric=result.metric, scope=f"{result.complete} datasets", procedure=COURT)
    yield from _counts(judged, {"decided": result.decided, "open": pairs, ALL: k * (k - 1) // 2}, "pairs")
    if result.look is not None:
        look = partial(_say, metric=result.metric, scope=f"{result.look.datasets} datasets", procedure="every look")
        yield judged(result.look.leader, "leads", "mean rank", None, "observed")
        for status, names in (("better", result.look.behind), ("undecided", result.look.open)):
            for name in names:
                yield look(result.look.leader, status, name, status=_shown(status == "better"))


def _users(result: UsersResult) -> Said:
    for users in result.datasets:
        say = partial(
            _say, metric=result.metric, scope=f"{users.users} users", procedure=f"users of {users.dataset}"
        )
        could, first = users.not_worse(), users.algorithms[0]
        yield say(first, "leads", "mean", users.means[0], "observed")
        for name, low, high in zip(users.algorithms, users.low, users.high, strict=True):
            yield say(name, "interval", "mean", (low, high))
            yield say(name, "could_be_best" if name in could else "behind", None, status=_shown(name not in could))
        for pair in users.pairs:
            if pair.significant:
                ends = (pair.left, pair.right) if pair.difference > 0 else (pair.right, pair.left)
                yield say(ends[0], "better", ends[1], status="shown")
            elif pair.left == first:
                yield say(pair.left, "undecided", pair.right, status="not shown")
            if pair.left == first:
                yield say(pair.left, "p", pair.right, pair.p_holm)
                yield say(pair.left, "effect", pair.right, pair.difference)
                yield say(pair.left, "interval", pair.right, (pair.low, pair.high))
    for pair in result.summary[:1]:
        say = _sayer(result, "users, random effects")
        parts = {"won": pair.wins, "not decided": pair.ties, "lost": pair.losses}
        yield from _counts(say, parts, f"datasets, {pair.left} against {pair.right}")
        if pair.effects is not None and pair.p_holm is not None:
            yield say(pair.left, "p", pair.right, pair.p_holm)
            yield say(pair.left, "effect", pair.right, pair.effects.estimate)
            yield say(pair.left, "interval", pair.right, (pair.effects.low, pair.effects.high))


def _model(result: ModelResult) -> Said:
    say = _sayer(result, "hierarchical model")
    if len(result.datasets) >= FEWEST_DATASETS:
        yield say(leader(result), "leads", "level", None, "observed")
    for row in result.to_frame().to_dicts():
        yield say(row["algorithm"], "interval", "level", (row["low"], row["high"]))
        yield say(row["algorithm"], "chance", "the best level", row["probability_best"])
        yield say(row["algorithm"], "chance", "first on a new dataset", row["probability_first"])


def _ratings(result: RatingsResult) -> Said:
    say = _sayer(result, "Bradley-Terry")
    yield say(result.algorithms[result.order()[0]], "leads", "rating", float(result.rating.max()), "observed")
    for name, ends in zip(result.algorithms, result.interval.tolist(), strict=True):
        yield say(name, "interval", "rating", tuple(ends))


def _beta_irt(result: BetaIRTResult) -> Said:
    say, ability = _sayer(result, "beta-IRT"), result.trait("ability")
    yield say(ability.names[ability.order()[0]], "leads", "ability", float(ability.estimate.max()), "observed")
    for name, low, high in zip(ability.names, ability.low, ability.high, strict=True):
        yield say(name, "interval", "ability", (float(low), float(high)))


def _stress(result: StressResult) -> Said:
    first = result.algorithms[result.order[0]]
    yield _say(first, "leads", "mean rank", None, "observed", result.metric, _datasets(result), COURT)
    conclusion = next(c for c in result.conclusions if c.kind == "first" and c.change == result.main.change)
    say = _sayer(result, "stress")
    yield say(conclusion.algorithms[0], "survives", conclusion.change.when, None,
              _shown(conclusion.verdict == "survives"))  # fmt: skip
    held, rules = conclusion.holds_under, len(result.rules)
    yield from _counts(say, {"hold": held, "do not": rules - held, ALL: rules}, "aggregations")


def _multiverse(result: MultiverseResult) -> Said:
    metric = ", ".join(result.axes.get("metric", ())) or "as given"
    say = partial(_say, metric=metric, scope=f"{result.universes} universes", procedure="multiverse")
    firsts = result.firsts()[~result.leaky]
    alone = Counter(result.algorithms[int(row.argmax())] if row.sum() == 1 else "several tied" for row in firsts)
    yield from _counts(say, {**alone, ALL: result.universes}, "universes in which it alone is first")
    for claim in result.claims:
        counts = claim.counts
        for what, names in (("seen", ("ahead", "tied", "behind")), ("shown", ("holds", "undecided", "reversed"))):
            parts = {name: getattr(counts, name) for name in names}
            yield from _counts(say, {**parts, ALL: counts.universes}, f"universes, {claim.statement}, {what}")
        if claim.p is not None:
            yield say(claim.algorithm, "p", claim.rival or "all others", claim.p)


_MAKERS: dict[type[Any], Callable[[Any], Said]] = {
    RankResult: _rank, CompareResult: _compare, PlanResult: _plan, UsersResult: _users, ModelResult: _model,
    RatingsResult: _ratings, BetaIRTResult: _beta_irt, StressResult: _stress, MultiverseResult: _multiverse,
}  # fmt: skip


def _say(
    subject: str, relation: Relation, object: str | None, number: Any = None, status: Any = "estimate",
    metric: str = "", scope: str = "", procedure: str = COURT,
) -> Statement:  # fmt: skip
    return Statement(subject, relation, object, metric, scope, procedure, status, number)


def _sayer(result: Any, procedure: str) -> Sayer:
    return partial(_say, metric=result.metric, scope=_datasets(result), procedure=procedure)


def _datasets(result: Any) -> str:
    return f"{len(getattr(result, 'datasets', ()))} datasets"


def _shown(yes: bool) -> str:
    return "shown" if yes else "not shown"


def _counts(say: Sayer, parts: Mapping[str, int], of: str) -> Said:
    for name, number in parts.items():
        yield say(name, "count", of, number, "observed")


def claim_files(tables: Iterable[Mapping[str, AnalysisResult]], words: Vocabulary = USUAL) -> dict[str, bytes]:
    """`claims.json`: what the results of one or several metrics say, and what may be claimed; `claims.md`: the latter
    as text. Nothing where there is no verdict."""
    content: dict[str, list[Any]] = {"claims": [], "supported": [], "unsupported": []}
    for results in tables:
        content["claims"] += [said.to_dict() for said in statements(results)]
        if (verdict := judgement(results)) is not None:
            for key, lines in box(verdict, words).items():
                content[key] += lines
    if not content["supported"]:
        return {}
    data = json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False)
    return {"claims.json": data.encode(), "claims.md": "\n".join([*box_lines(content), ""]).encode()}


COURT_WORDS = re.compile(r"\b(?:better|beats?|leads|could be best|significant(?:ly)?|winner)\b")
"""Words that only the court may use without a name."""

NAMES = re.compile(
    r"hierarchical model|Bradley-Terry|Glicko|item response|beta-IRT|[123]PL|random effects|users of|instances of|"
    r"Wilcoxon|Friedman|Skillings|Nemenyi|universe|aggregation|popularity|at every look|Pareto|higher is better|ComPer",
    re.IGNORECASE,
)
"""How witnesses are named in sentences."""

_PARTS = re.compile(r"\((\d+) of (\d+)\)")


def unnamed(results: Mapping[str, AnalysisResult], words: Vocabulary = USUAL) -> list[str]:
    """Sentences of witnesses that use a word of the court without naming the procedure, and of all whose counts exceed
    their total."""
    problems = []
    for section, name, result in with_sections(results):
        for sentence in ask(section, "sentences", result, [], words):
            word = COURT_WORDS.search(sentence)
            if word and not hasattr(result, "judgement") and not NAMES.search(sentence):
                problems.append(f"{name} says {word[0]!r} without its name: {sentence}")
            parts = [(int(some), int(every)) for some, every in _PARTS.findall(sentence)]
            if len({every for _, every in parts}) == 1 and sum(some for some, _ in parts) > parts[0][1]:
                if "ties count" not in sentence:
                    problems.append(f"{name} counts more than there are: {sentence}")
    return problems
