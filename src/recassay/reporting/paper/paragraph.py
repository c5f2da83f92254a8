"""A paragraph for a paper: which tests, with which statistics, and what follows, ready to paste."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from recassay.analysis.compare.result import CompareResult
from recassay.analysis.verdict.result import PairVerdict, Verdict
from recassay.core.tables.labels import metric_name
from recassay.core.words import listing
from recassay.reporting.latex import latex_text
from recassay.reporting.numbers import better, p_text, smallest
from recassay.reporting.words.verdict import TESTS, headline, reservation

WRITTEN = {
    "friedman1937use": "Friedman 1937",
    "demsar2006statistical": "Demšar 2006",
    "westfall1993resampling": "Westfall and Young 1993",
    "wilcoxon1945individual": "Wilcoxon 1945",
    "holm1979simple": "Holm 1979",
    "romano2005exact": "Romano and Wolf 2005",
    "hodges1963estimates": "Hodges and Lehmann 1963",
}
"""The works that the paragraph cites, as prose names them; the keys are those of `references.bib`."""

Cite = Callable[[Sequence[str]], str]


def in_prose(keys: Sequence[str]) -> str:
    """`(Demšar 2006; Romano and Wolf 2005)` after a space."""
    return f" ({'; '.join(WRITTEN[key] for key in keys)})"


def latex_paragraph(compared: CompareResult) -> str:
    """The paragraph as LaTeX, with citations."""
    text = latex_text(paragraph(compared, lambda keys: f" CITE({','.join(keys)})"))
    return re.sub(r" CITE\(([^)]*)\)", r"~\\cite{\1}", text) + "\n"


def paragraph(compared: CompareResult, cite: Cite = in_prose) -> str:
    """The paragraph, from the verdict and Friedman's test of one comparison; `cite` writes the references.

    With a control it speaks of the control.
    """
    verdict = compared.judgement
    if verdict.grade == "not_comparable":
        return headline(verdict)
    findings = _findings(verdict, cite) if verdict.control is None else _of_control(verdict, verdict.control, cite)
    return " ".join([*_tests(compared, verdict, cite), *findings])


def _tests(compared: CompareResult, verdict: Verdict, cite: Cite) -> Iterator[str]:
    k, n, level = len(verdict.algorithms), len(verdict.datasets), f"{verdict.alpha:g}"
    direction = better(verdict.higher_is_better)
    yield f"We compared {k} algorithms on {n} datasets by {metric_name(verdict.metric)} ({direction})."
    if k > 2:
        friedman = compared.friedman
        works = cite(["friedman1937use", "demsar2006statistical"])
        rejects = "rejects" if friedman.p < verdict.alpha else "does not reject"
        statistic = f"chi-squared = {friedman.chi_square:.2f}, {k - 1} degrees of freedom, {p_text(friedman.p)}"
        yield f"Friedman's test{works} {rejects} that all perform alike ({statistic})."
    what = "Pairs" if verdict.control is None else f"{verdict.control}, named beforehand, and every other algorithm"
    if verdict.test == "wilcoxon-holm":
        how = f"{TESTS[verdict.test]}{cite(['wilcoxon1945individual', 'holm1979simple'])}"
    else:
        works = cite(["westfall1993resampling", "romano2005exact"])
        how = (
            "a permutation test that flips the signs of whole datasets, adjusted step-down over the maximum "
            f"statistic{works}"
        )
    yield f"{what} were compared by {how} at a family-wise level of {level}."
    if verdict.grade == "too_little_data":
        least = smallest(verdict.smallest_p)
        yield f"With {n} datasets no difference could be significant (smallest possible p = {least})."


def _of_control(verdict: Verdict, name: str, cite: Cite) -> Iterator[str]:
    """What is known of the control, against each other algorithm."""
    place, pairs = verdict.algorithms.index(name), verdict.against(name)
    rank = f"{verdict.mean_rank[place]:.2f}{_interval(verdict, place)}"
    tied = [other for other in verdict.leaders if other != name] if name in verdict.leaders else []
    if tied:
        yield f"{name} shares the best mean rank with {listing(tied, last='and')} ({rank})."
    elif place == 0:
        yield f"{name} has the best mean rank ({rank})."
    else:
        where = f"place {place + 1} of {len(verdict.algorithms)}{_interval(verdict, place)}"
        yield f"{name} has a mean rank of {verdict.mean_rank[place]:.2f} ({where})."
    yield from _standings(verdict, pairs)
    strongest = pairs[0]
    yield f"Against {strongest.b}, {_effect(strongest, verdict, cite(['hodges1963estimates']))}."


def _findings(verdict: Verdict, cite: Cite) -> Iterator[str]:
    leader = verdict.leaders[0]
    rank = f"{verdict.mean_rank[0]:.2f}{_interval(verdict, 0)}"
    if len(verdict.leaders) > 1:
        yield f"{listing(verdict.leaders, last='and')} share the best mean rank ({rank})."
    else:
        yield f"{leader} has the best mean rank ({rank})."
    of_leader = verdict.pairs[: len(verdict.algorithms) - 1]
    yield from _standings(verdict, of_leader)
    if of_leader:
        rival = verdict.pair(leader, verdict.rival)
        yield f"Against {verdict.rival}, {_effect(rival, verdict, cite(['hodges1963estimates']))}."
    if len(verdict.pairs) > 1 and verdict.grade != "too_little_data":
        yield f"In {verdict.better.sum()} of {len(verdict.pairs)} pairs one algorithm is significantly better."
    could, k = verdict.could_be_best, len(verdict.algorithms) - len(verdict.not_judged)
    if verdict.grade == "clear_winner" and k > 2:
        yield f"{leader} is therefore the winner on datasets like these."
    elif len(could) < k and k > 2:
        yield f"{listing(could, most=None, last='and')} remain possible winners on datasets like these."


def _interval(verdict: Verdict, place: int) -> str:
    if verdict.interval is None:
        return ""
    low, high = verdict.interval[place]
    return f", {100 * (1 - verdict.alpha):g} % interval {low:.2f} to {high:.2f}"


def _standings(verdict: Verdict, pairs: Sequence[PairVerdict]) -> Iterator[str]:
    """Whom the first of these pairs is better than, worse than and equivalent to, and where nothing is decided."""
    if verdict.grade == "too_little_data":
        return
    for status in ("better", "worse"):
        shown = [pair for pair in pairs if pair.status == status]
        if shown and len(shown) == len(pairs) > 1:
            largest = max(pair.p for pair in shown)
            yield f"It is significantly {status} than each other algorithm (adjusted {p_text(largest)} or less)."
            little = [pair.b for pair in shown if verdict.close(pair)]
            if little:
                yield f"The difference from {listing(little, most=None, last='and')} is less than {_margin(verdict)}."
        elif shown:
            yield f"It is significantly {status} than {_named(verdict, shown)}."
    alike = [pair.b for pair in pairs if pair.status == "equivalent"]
    if alike:
        yield f"It is equivalent to {listing(alike, most=None, last='and')} within {_margin(verdict)}."
    unknown = [pair.b for pair in pairs if pair.b in verdict.not_judged]
    if unknown:
        yield f"Not judged, for their missing cells: {listing(unknown, most=None, last='and')}."
    undecided = [pair for pair in pairs if pair.status in ("undecided", "undecidable")]
    open_pairs = [pair for pair in undecided if pair.b not in unknown]
    if open_pairs:
        yield f"No significant difference was found from {_named(verdict, open_pairs)}."


def _margin(verdict: Verdict) -> str:
    return f"{100 * verdict.within:g} %"


def _named(verdict: Verdict, pairs: Sequence[PairVerdict]) -> str:
    """The others of these pairs with their p, and what else is known where p alone would mislead."""

    def further(pair: PairVerdict) -> str:
        if pair.status in ("better", "worse"):
            return f", by less than {_margin(verdict)}" if verdict.close(pair) else ""
        return reservation(verdict, pair)

    return listing((f"{pair.b} ({p_text(pair.p)}{further(pair)})" for pair in pairs), most=None, last="and")


def _effect(pair: PairVerdict, verdict: Verdict, work: str) -> str:
    effect, level = pair.effect, f"{100 * (1 - verdict.alpha):g} %"
    if effect.kind == "ratio":
        size = f"the typical ratio is {effect.estimate:.3f}"
    else:
        size = f"the typical difference is {effect.estimate:+.3g}"
    ends = "" if effect.interval is None else f", {level} interval {effect.interval[0]:.3f} to {effect.interval[1]:.3f}"
    won = f"{pair.wins} of {pair.wins + pair.losses + pair.ties} datasets won"
    return f"{size} by the Hodges-Lehmann estimator{work}{ends} ({won})"
