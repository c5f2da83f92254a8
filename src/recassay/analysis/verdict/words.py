"""The verdict in words: a headline of at most 20 words, three sentences, one caution, one next step, and the folds."""

from __future__ import annotations

from typing import Any

from recassay.analysis.inference.families import obvious_families
from recassay.analysis.verdict.result import PairVerdict, Verdict
from recassay.core.errors import listing
from recassay.core.tables.labels import metric_name
from recassay.core.tables.matrix import MissingCells


def in_words(verdict: Verdict, missing: MissingCells) -> dict[str, Any]:
    """The fields of the verdict that are sentences."""
    change = what_would_change(verdict)
    return {
        "headline": headline(verdict),
        "sentences": tuple(sentences(verdict)),
        "caution": caution(verdict, missing),
        "next_step": next_step(verdict),
        "why": tuple(why(verdict)),
        "how_sure": tuple(how_sure(verdict)),
        "what_would_change": tuple(change),
    }


def headline(v: Verdict) -> str:
    """What is known, in one sentence."""
    k, n, could = len(v.algorithms), len(v.datasets), v.could_be_best
    if v.grade == "not_comparable":
        return f"Not comparable: every value of {metric_name(v.metric)} is 0, so nothing was measured."
    if v.grade == "too_little_data":
        least = fewest(v.alpha)
        return f"Too little data: {_datasets(n)} cannot show that any algorithm is better; {least} are the minimum."
    if v.grade == "clear_winner":
        if k == 2:
            return f"{v.algorithms[0]} is better than {v.algorithms[1]} on datasets like these."
        return f"{v.algorithms[0]} is the clear winner: it beats all {k - 1} others on datasets like these."
    if all(pair.identical for pair in v.pairs):
        return f"No difference: the {k} algorithms have identical results on all {n} datasets."
    if all(pair.status == "equivalent" for pair in v.pairs):
        return f"No difference: all {k} algorithms are equivalent within {100 * v.within:g} %."
    if v.grade == "no_difference":
        if k == 2:
            return f"No difference seen: either {v.algorithms[0]} or {v.algorithms[1]} could be the better one."
        return f"No difference seen: any of the {k} algorithms could be best on datasets like these."
    if len(could) == 2 and v.status_of(*could) == "equivalent":
        return f"{could[0]} and {could[1]} share the lead: they are equivalent within {100 * v.within:g} %."
    if len(could) <= 3:
        rest = k - len(could)
        others = f"the other {rest} could not" if rest > 1 else "the other one could not"
        return f"No clear winner: {listing(could, last='or')} could be best; {others}."
    return f"No clear winner: {len(could)} of {k} algorithms could be best on datasets like these."


def sentences(v: Verdict) -> list[str]:
    """Who leads and how likely again; the leader against its rival; what such a benchmark can show."""
    if v.grade == "not_comparable":
        return []
    said = [_lead(v), pair_sentence(v, v.pair(v.leaders[0], v.rival))]
    if v.grade == "too_little_data":
        if len(v.could_be_best) < len(v.algorithms):
            said.append(
                f"The comparison with the best leaves {listing(v.could_be_best, last='or')} as possible winners."
            )
        return said
    if v.visible_lead is not None:
        said.append(f"With {_datasets(len(v.datasets))}, leads below {v.visible_lead:.1f} mean ranks often go unseen.")
    return said


def _lead(v: Verdict) -> str:
    rank, n = f"{v.mean_rank[0]:.2f}", len(v.datasets)
    if len(v.leaders) > 1:
        who = f"{listing(v.leaders, most=4, last='and')} share the best mean rank ({rank})"
    else:
        who = f"{v.leaders[0]} has the best mean rank ({rank} of {len(v.algorithms)})"
    if v.leads_again is None:
        return f"On these {_datasets(n)} {who}."
    favourite = int(v.leads_again.argmax())
    chance = percent(float(v.leads_again[0]))
    if len(v.leaders) > 1:
        chances = ", ".join(percent(float(p)) for p in v.leads_again[: len(v.leaders)])
        return f"{who}; their chances of leading a new benchmark of this size are {chances}."
    said = f"{who} and a {chance} chance of leading again"
    if v.leads_again[favourite] > v.leads_again[0] + 0.02:
        return f"{said}; {v.algorithms[favourite]} has the higher chance, {percent(float(v.leads_again[favourite]))}."
    return f"{said} on {n} new datasets of this kind."


def pair_sentence(v: Verdict, pair: PairVerdict) -> str:
    """What is known of one pair, how large it is, how sure, and on what evidence."""
    evidence = f"{pair.wins} of {len(v.datasets)} datasets won"
    if pair.ties:
        evidence += f", {pair.ties} tied"
    size = effect_text(v, pair)
    sure = f"adjusted {p_text(pair.p, v.smallest_p)}"
    if pair.identical:
        return f"{pair.a} and {pair.b} have identical values on all {len(v.datasets)} datasets."
    if pair.status == "better":
        return f"{pair.a} beats {pair.b} ({size}; {evidence}; {sure})."
    if pair.status == "equivalent":
        return f"{pair.a} and {pair.b} are equivalent within {100 * v.within:g} % ({size}; {evidence})."
    if pair.status == "undecidable":
        return (
            f"{pair.a} against {pair.b}: {size}; {evidence}. No result on {_datasets(len(v.datasets))} could be "
            f"significant (smallest p = {v.smallest_p:.2g})."
        )
    return f"Between {pair.a} and {pair.b} the data do not decide ({size}; {evidence}; {sure})."


def effect_text(v: Verdict, pair: PairVerdict) -> str:
    """The effect with its interval: `nDCG@10 +4.1 %, 95 % interval 1.0 to 7.2 %`."""
    effect, level = pair.effect, f"{100 * (1 - v.alpha):g} % interval"
    if effect.kind == "ratio":
        said = f"{metric_name(v.metric)} {100 * (effect.estimate - 1):+.1f} %"
        ends = None if effect.interval is None else [f"{100 * (end - 1):.1f}" for end in effect.interval]
        return said if ends is None else f"{said}, {level} {ends[0]} to {ends[1]} %"
    said = f"{metric_name(v.metric)} {effect.estimate:+.3g}"
    return said if effect.interval is None else f"{said}, {level} {effect.interval[0]:.3g} to {effect.interval[1]:.3g}"


def caution(v: Verdict, missing: MissingCells) -> str | None:
    """The one thing to be wary of first."""
    if missing.cells:
        return f"{missing.sentence()}."
    if (
        v.grade in ("clear_winner", "shared_lead")
        and v.removal is not None
        and v.removal[1] <= max(1, len(v.datasets) // 10)
    ):
        return f"The lead rests on few datasets: without {v.removal[1]} of them {v.removal[0]} would lead."
    families = obvious_families(v.datasets)
    related = sum(map(len, families.values()))
    if v.grade in ("clear_winner", "shared_lead") and 3 * related >= len(v.datasets):
        return (
            f"{related} of the {len(v.datasets)} datasets come from {listing(sorted(families), last='and')}: they are "
            "related, so the evidence is weaker than it looks."
        )
    return None


def next_step(v: Verdict) -> str | None:
    """What to do next."""
    if v.grade in ("shared_lead", "no_difference", "too_little_data"):
        return f"recassay plan: how many datasets would separate {v.leaders[0]} from {v.rival}"
    if v.grade == "clear_winner":
        return "recassay stress: does the winner change when datasets or algorithms are left out"
    return None


def why(v: Verdict) -> list[str]:
    """Who is shown to be better than whom."""
    if v.grade in ("not_comparable", "too_little_data"):
        return []
    decided, k = v.decided(), len(v.algorithms)
    beaten = [pair.b for pair in decided if pair.a == v.algorithms[0]]
    said = [f"One algorithm is shown to be better in {len(decided)} of {len(v.pairs)} pairs."]
    if beaten and len(beaten) < k - 1:
        said.append(f"{v.algorithms[0]} beats {listing(beaten, most=8)}.")
    equal = [f"{p.a} and {p.b}" for p in v.pairs if p.status == "equivalent"]
    if equal:
        count = "1 pair is" if len(equal) == 1 else f"{len(equal)} pairs are"
        said.append(f"{count} equivalent within {100 * v.within:g} %: {listing(equal, most=4)}.")
    return said


def how_sure(v: Verdict) -> list[str]:
    """The procedure and what it assumes."""
    if v.grade in ("not_comparable", "too_little_data"):
        return []
    return [
        f"All pairs are tested together by flipping the signs of whole datasets; the chance of any false finding is at "
        f"most {100 * v.alpha:g} %.",
        "The test assumes that a difference is as likely to be large in one direction as in the other, and that no "
        "algorithm fails rarely in a way these datasets do not show.",
    ]


def what_would_change(v: Verdict) -> list[str]:
    """How few datasets carry the lead."""
    if v.removal is None:
        return []
    count = "1 dataset" if v.removal[1] == 1 else f"{v.removal[1]} of the {len(v.datasets)} datasets"
    return [f"Without {count}, {v.removal[0]} would have the best mean rank."]


def fewest(alpha: float) -> int:
    """The fewest datasets with which a difference could be shown at this level."""
    n = 2
    while 2.0 ** (1 - n) >= alpha:
        n += 1
    return n


def p_text(p: float, smallest: float) -> str:
    """A p-value as people write it, never below what the number of datasets allows."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def percent(p: float) -> str:
    """A probability as people say it."""
    if p < 0.005:
        return "less than 1 %"
    return "more than 99 %" if p > 0.995 else f"{100 * p:.0f} %"


def _datasets(n: int) -> str:
    return "1 dataset" if n == 1 else f"{n} datasets"
