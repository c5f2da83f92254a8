"""A paragraph for a paper: which tests, with which statistics, and what follows, ready to paste."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from recassay.analysis.compare.result import CompareResult
from recassay.analysis.verdict.result import PairVerdict, Verdict
from recassay.core.tables.labels import metric_name
from recassay.core.words import listing
from recassay.reporting.latex import latex_text
from recassay.reporting.numbers import better, p_text
from recassay.reporting.words.verdict import headline

WRITTEN = {
    "friedman1937use": "Friedman 1937",
    "demsar2006statistical": "Demšar 2006",
    "westfall1993resampling": "Westfall and Young 1993",
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
    """The paragraph, from the verdict and Friedman's test of one comparison; `cite` writes the references."""
    verdict = compared.judgement
    if verdict.grade == "not_comparable":
        return headline(verdict)
    return " ".join([*_tests(compared, verdict, cite), *_findings(verdict, cite)])


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
    works = cite(["westfall1993resampling", "romano2005exact"])
    what = "Pairs" if verdict.control is None else f"{verdict.control}, named beforehand, and every other algorithm"
    yield (
        f"{what} were compared by a permutation test that flips the signs of whole datasets, adjusted step-down over "
        f"the maximum statistic{works} at a family-wise level of {level}."
    )
    if verdict.smallest_p >= verdict.alpha:
        yield f"With {n} datasets no difference could be significant (smallest possible p = {verdict.smallest_p:.2g})."


def _findings(verdict: Verdict, cite: Cite) -> Iterator[str]:
    leader, level = verdict.leaders[0], f"{100 * (1 - verdict.alpha):g} %"
    interval = ""
    if verdict.interval is not None:
        interval = f", {level} bootstrap interval {verdict.interval[0][0]:.2f} to {verdict.interval[0][1]:.2f}"
    if len(verdict.leaders) > 1:
        yield f"{listing(verdict.leaders, last='and')} share the best mean rank ({verdict.mean_rank[0]:.2f}{interval})."
    else:
        yield f"{leader} has the best mean rank ({verdict.mean_rank[0]:.2f}{interval})."
    of_leader = verdict.pairs[: len(verdict.algorithms) - 1]
    beaten = [pair for pair in of_leader if pair.status == "better"]
    if beaten and len(beaten) == len(of_leader) > 1:
        worst = max(pair.p for pair in beaten)
        yield f"It is significantly better than each other algorithm (adjusted {p_text(worst)} or less)."
    elif beaten:
        yield f"It is significantly better than {_named(beaten)}."
    alike = [pair for pair in of_leader if pair.status == "equivalent"]
    if alike:
        names = listing((pair.b for pair in alike), most=None, last="and")
        yield f"It is equivalent to {names} within {100 * verdict.within:g} %."
    unknown = [pair for pair in of_leader if pair.b in verdict.not_judged]
    if unknown:
        names = listing((pair.b for pair in unknown), most=None, last="and")
        yield f"Not judged, for their missing cells: {names}."
    undecided = [pair for pair in of_leader if pair.status in ("undecided", "undecidable")]
    open_pairs = [pair for pair in undecided if pair not in unknown]
    if open_pairs:
        yield f"No significant difference was found from {_named(open_pairs)}."
    if of_leader:
        rival = verdict.pair(leader, verdict.rival)
        yield f"Against {verdict.rival}, {_effect(rival, level, cite(['hodges1963estimates']))}."
    yield f"In {verdict.better.sum()} of {len(verdict.pairs)} pairs one algorithm is significantly better."
    could, k = verdict.could_be_best, len(verdict.algorithms) - len(verdict.not_judged)
    if verdict.grade == "clear_winner":
        yield f"{leader} is therefore the winner on datasets like these."
    elif len(could) < k:
        yield f"{listing(could, most=None, last='and')} remain possible winners on datasets like these."


def _named(pairs: Sequence[PairVerdict]) -> str:
    return listing((f"{pair.b} ({p_text(pair.p)})" for pair in pairs), most=None, last="and")


def _effect(pair: PairVerdict, level: str, work: str) -> str:
    effect = pair.effect
    if effect.kind == "ratio":
        size = f"the typical ratio is {effect.estimate:.3f}"
    else:
        size = f"the typical difference is {effect.estimate:+.3g}"
    ends = "" if effect.interval is None else f", {level} interval {effect.interval[0]:.3f} to {effect.interval[1]:.3f}"
    won = f"{pair.wins} of {pair.wins + pair.losses + pair.ties} datasets won"
    return f"{size} by the Hodges-Lehmann estimator{work}{ends} ({won})"
