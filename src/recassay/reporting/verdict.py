"""What the numbers support, in plain sentences: generated from the results and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from recassay.analysis.aggregate import RankResult
from recassay.analysis.beta_irt import BetaIRTResult
from recassay.analysis.compare import CompareResult
from recassay.core.analysis import AnalysisResult
from recassay.core.errors import listing


def p_text(p: float) -> str:
    """A p-value as people write it."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def rank_sentences(result: RankResult) -> list[str]:
    """Who is first, under how many aggregations, and how firmly."""
    leaders: dict[str, list[str]] = {}
    for ranking in result.rankings.values():
        for a, name in enumerate(result.algorithms):
            if ranking.ranks[a] == ranking.ranks.min():
                leaders.setdefault(name, []).append(ranking.rule.title)
    best = max(leaders, key=lambda name: len(leaders[name]))
    total = len(result.rankings)
    whole = f"{best} is first in {result.metric} under"
    over = f"aggregations over {len(result.datasets)} datasets"
    others = [f"{name} under {listing(titles, most=4)}" for name, titles in leaders.items() if name != best]
    if len(leaders[best]) == total:
        first = f"{whole} all {total} {over}" + (f", tied with {'; '.join(others)}." if others else ".")
    else:
        first = f"{whole} {len(leaders[best])} of {total} {over}; first or tied elsewhere: {'; '.join(others)}."
    place = result.algorithms.index(best)
    chances = [float(r.probability_best[place]) for r in result.rankings.values()]
    firm = (
        f"With the {result.resampled} drawn anew, {best} stays first with probability "
        f"{min(chances):.2f} to {max(chances):.2f}, depending on the aggregation."
    )
    notes = [f"{name} was left out: it {reason}." for name, reason in result.skipped.items()]
    missing = result.missing.sentence()
    return [first, firm, *notes, *([missing + "."] if missing else [])]


def compare_sentences(result: CompareResult) -> list[str]:
    """Whether the algorithms differ at all, what separates the best, and what could have been seen."""
    best, second = result.algorithms[:2]
    pair = next(p for p in result.pairs if (p.left, p.right) == (best, second))
    bayes = next(b for b in result.bayesian if (b.left, b.right) == (best, second))
    not_beaten = [p.right for p in result.pairs if p.left == best and not p.significant]
    lead = (
        f"{best} has the best mean rank ({result.mean_ranks[0]:.2f}); its lead over {second} "
        f"({result.mean_ranks[1]:.2f}) is {'' if pair.significant else 'not '}significant "
        f"(Wilcoxon-Holm {p_text(pair.p_holm)}; Bayesian probability of being better {bayes.p_left:.2f})."
    )
    whole = result.friedman.f_p_value_ties
    test = f"Friedman with Iman-Davenport, {p_text(whole)}"
    if whole >= result.alpha:
        overall = f"The algorithms do not differ as a whole ({test}): read no order into the ranks."
    elif not_beaten:
        overall = (
            f"The algorithms differ as a whole ({test}), but {best} cannot be told from "
            f"{listing(not_beaten, most=6)} at the {result.alpha:g} level."
        )
    else:
        overall = f"The algorithms differ as a whole ({test}), and {best} differs significantly from every other one."
    return [lead, overall, result.power.sentence()]


def beta_irt_sentences(result: BetaIRTResult) -> list[str]:
    """The ablest algorithm and how surely, the hardest and the easiest dataset, and what the model warns of."""
    one = result.directions[0]
    ability, challenge = result.trait("ability"), result.trait("challenge")
    first, second = ability.order()[:2]
    order = challenge.order()
    able = (
        f"By item response theory {ability.names[first]} has the highest ability ({ability.estimate[first]:.2f}), "
        f"above {ability.names[second]} with probability {one.exceeds[first, second]:.2f}; "
        f"{challenge.names[order[0]]} is the most challenging dataset "
        f"({challenge.estimate[order[0]]:.2f}), {challenge.names[order[-1]]} the least "
        f"({challenge.estimate[order[-1]]:.2f})."
    )
    backwards = [n for n, p in zip(one.items, one.probability_positive, strict=True) if p < 0.5]
    against = f"On {listing(backwards)} abler algorithms do worse (negative discrimination): noise, or an error there."
    return [able, *([against] if backwards else []), *(f"{note[0].upper()}{note[1:]}." for note in result.warnings)]


def verdict(results: Mapping[str, AnalysisResult]) -> list[str]:
    """The sentences of every analysis that has any, in reading order."""
    sentences: list[str] = []
    for result in results.values():
        if isinstance(result, RankResult):
            sentences = rank_sentences(result) + sentences
        elif isinstance(result, CompareResult):
            sentences += compare_sentences(result)
        elif isinstance(result, BetaIRTResult):
            sentences += beta_irt_sentences(result)
    return sentences
