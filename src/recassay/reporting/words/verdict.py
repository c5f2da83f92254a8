"""The verdict in words: a headline of at most 20 words, three sentences, one caution, one next step, and the folds."""

from __future__ import annotations

from recassay.analysis.verdict.result import Grade, PairVerdict, Verdict
from recassay.core.tables.labels import metric_name
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of, listing
from recassay.reporting.numbers import chance, p_text
from recassay.reporting.words.missing import missing_cells

GRADES: dict[Grade, str] = {
    "clear_winner": "Clear winner",
    "shared_lead": "Shared lead",
    "no_difference": "No difference seen",
    "too_little_data": "Too little data",
    "not_comparable": "Not comparable",
}
"""Each grade as people read it."""


def headline(v: Verdict, words: Vocabulary = USUAL) -> str:
    """What is known, in one sentence."""
    k, n, could = len(v.algorithms), len(v.datasets), v.could_be_best
    if v.grade == "not_comparable":
        return f"Not comparable: every value of {metric_name(v.metric)} is 0, so nothing was measured."
    if v.grade == "too_little_data":
        least = v.fewest_datasets
        return (
            f"Too little data: {_datasets(n, words)} cannot show which {words.algorithm} is better; {least} are the "
            "minimum."
        )
    if v.grade == "clear_winner":
        if k == 2:
            little = f", by less than {100 * v.within:g} %," if v.close(v.pairs[0]) else ""
            return f"{v.algorithms[0]} is better than {v.algorithms[1]}{little} on {words.datasets} like these."
        return f"{v.algorithms[0]} is the clear winner: it beats all {k - 1} others on {words.datasets} like these."
    if v.identical.all():
        return f"No difference: the {k} {words.algorithms} have identical results on all {n} {words.datasets}."
    if v.equivalent.all():
        return f"No difference: all {k} {words.algorithms} are equivalent within {100 * v.within:g} %."
    if v.grade == "no_difference":
        if k == 2:
            return f"No difference seen: either {v.algorithms[0]} or {v.algorithms[1]} could be the better one."
        return f"No difference seen: any of the {k} {words.algorithms} could be best on {words.datasets} like these."
    if len(could) == 2 and v.status_of(*could) == "equivalent":
        return f"{could[0]} and {could[1]} share the lead: they are equivalent within {100 * v.within:g} %."
    if len(could) <= 3:
        rest = k - len(could)
        others = f"the other {rest} could not" if rest > 1 else "the other one could not"
        return f"No clear winner: {listing(could, last='or')} could be best; {others}."
    return f"No clear winner: {len(could)} of {k} {words.algorithms} could be best on {words.datasets} like these."


def sentences(v: Verdict, words: Vocabulary = USUAL) -> list[str]:
    """Who leads and how likely again; the leader against its rival; what carries the lead, or what goes unseen."""
    if v.grade == "not_comparable":
        return []
    lines = [_lead(v, words), pair_sentence(v, v.pair(v.leaders[0], v.rival), words)]
    if v.grade == "clear_winner" and v.removal is not None:
        lines.append(removal_sentence(v, *v.removal, words))
    return lines


def _lead(v: Verdict, words: Vocabulary) -> str:
    rank, n = f"{v.mean_rank[0]:.2f}", len(v.datasets)
    if len(v.leaders) > 1:
        who = f"{listing(v.leaders, most=4, last='and')} share the best mean rank ({rank})"
    else:
        who = f"{v.leaders[0]} leads by mean rank ({rank} of {len(v.algorithms)})"
    if v.leads_again is None or v.grade == "too_little_data":
        return f"On these {_datasets(n, words)} {who}."
    if len(v.leaders) > 1:
        chances = [chance(float(p)) for p in v.leads_again[: len(v.leaders)]]
        each = f"each has {chances[0]}" if len(set(chances)) == 1 else listing(chances, most=4, last="and")
        return f"{who}; their chance of leading again: {each}."
    lead = f"{who}; its chance of leading again is {chance(float(v.leads_again[0]))}"
    favourite = int(v.leads_again.argmax())
    if v.leads_again[favourite] > v.leads_again[0] + NOTABLE:
        return f"{lead}, that of {v.algorithms[favourite]} {chance(float(v.leads_again[favourite]))}."
    return f"{lead}."


NOTABLE = 0.02
"""By how much the chance of another must exceed that of the leader to be mentioned: more than Monte-Carlo error."""


def pair_sentence(v: Verdict, pair: PairVerdict, words: Vocabulary = USUAL) -> str:
    """What is known of one pair, how large it is, how sure, and on what evidence."""
    evidence = f"{pair.wins} of {len(v.datasets)} {words.datasets} won"
    if pair.ties:
        evidence += f", {pair.ties} tied"
    size = effect_text(v, pair)
    sure = f"adjusted {p_text(pair.p)}"
    if pair.identical:
        return f"{pair.a} and {pair.b} have identical values on all {len(v.datasets)} {words.datasets}."
    if pair.status == "better":
        little = f" by less than {100 * v.within:g} %" if v.close(pair) else ""
        return f"{pair.a} beats {pair.b}{little} ({size}; {evidence}; {sure})."
    if pair.status == "equivalent":
        return f"{pair.a} and {pair.b} are equivalent within {100 * v.within:g} % ({size}; {evidence})."
    if pair.status == "undecidable":
        return (
            f"{pair.a} against {pair.b}: {size}; {evidence}. No result on {_datasets(len(v.datasets), words)} could be "
            f"significant (smallest p = {v.smallest_p:.2g})."
        )
    sure += undecided_because(v, pair)
    return f"Between {pair.a} and {pair.b} the data do not decide ({size}; {evidence}; {sure})."


def undecided_because(v: Verdict, pair: PairVerdict) -> str:
    """Why a pair is not decided although its p is below alpha: the test is one of three conditions."""
    if pair.p >= v.alpha:
        return ""
    if pair.effect.interval is not None and pair.effect.interval[0] < (1 if pair.effect.kind == "ratio" else 0):
        return ", but the interval reaches below no effect"
    return ", but mean ranks and values point in different directions"


def effect_text(v: Verdict, pair: PairVerdict) -> str:
    """The effect with its interval: `nDCG@10 +4.1 %, 95 % interval 1.0 to 7.2 %`; `better by` where lower is better."""
    effect, level = pair.effect, f"{100 * (1 - v.alpha):g} % interval"
    by = f"{metric_name(v.metric)} {'' if v.higher_is_better else 'better by '}"
    if effect.kind == "ratio":
        ends = () if effect.interval is None else tuple(f"{_rounded(100 * (end - 1)):.1f}" for end in effect.interval)
        size = f"{by}{_rounded(100 * (effect.estimate - 1)):+.1f} %"
        return f"{size}, {level} {ends[0]} to {ends[1]} %" if ends else size
    size = f"{by}{effect.estimate + 0.0:+.3g}"
    return size if effect.interval is None else f"{size}, {level} {effect.interval[0]:.3g} to {effect.interval[1]:.3g}"


def _rounded(value: float) -> float:
    """To one decimal, without a negative zero."""
    return round(value, 1) + 0.0


def caution(v: Verdict, words: Vocabulary = USUAL) -> str | None:
    """The one thing to be wary of first."""
    if v.hopeful is not None:
        cells = count_of(len(v.missing.cells), "missing cell")
        return f"The leader depends on {cells}: with the best values there, {v.hopeful} would lead."
    if v.missing.cells:
        return missing_cells(v.missing, words)
    few = max(1, len(v.datasets) // 10)
    if v.grade in ("clear_winner", "shared_lead") and v.removal is not None and v.removal[1] <= few:
        return f"The lead rests on few {words.datasets}. {removal_sentence(v, *v.removal, words)}"
    families = v.collections
    among = sum(map(len, families.values()))
    if v.families is not None or v.grade_by_family is None:
        return None
    come = f"{among} of the {len(v.datasets)} {words.datasets} come from {listing(sorted(families), last='and')}"
    if v.grade_by_family == "too_little_data":
        return f"{come}: counted as families, they are too few for a verdict."
    if v.grade_by_family != v.grade or v.best_by_family != len(v.could_be_best):
        then = f"{v.best_by_family} of {len(v.algorithms)} {words.algorithms} could be best"
        return f"{come}: if each collection counts as one {words.dataset}, {then}."
    if 3 * among >= len(v.datasets):
        return f"{come}: they are related. Counted as families, they support the same verdict."
    return None


def next_step(v: Verdict, words: Vocabulary = USUAL) -> str | None:
    """What to do next."""
    if v.grade == "too_little_data":
        alone = f"recassay analyze: what each {words.dataset} shows by itself"
        if v.users:
            alone = f"recassay users: compare on each {words.dataset}, over its {words.users}"
        return f"{alone}; over {words.datasets}, run at least {v.fewest_datasets}"
    if v.status_of(v.leaders[0], v.rival) == "equivalent":
        return None
    if v.grade in ("shared_lead", "no_difference"):
        return f"recassay plan: how many {words.datasets} would separate {v.leaders[0]} from {v.rival}"
    if v.grade == "clear_winner" and len(v.algorithms) > 2:
        return f"recassay stress: does the winner change when {words.datasets} or {words.algorithms} are left out"
    return None


def why(v: Verdict, words: Vocabulary = USUAL) -> list[str]:
    """Who is shown to be better than whom."""
    if v.grade in ("not_comparable", "too_little_data"):
        return []
    decided, k = int(v.better.sum()), len(v.algorithms)
    beaten = [name for name, status in zip(v.algorithms, v.status[0], strict=True) if status == "better"]
    lines = [f"One {words.algorithm} is shown to be better in {decided or 'none'} of {count_of(len(v.pairs), 'pair')}."]
    if beaten and len(beaten) < k - 1:
        lines.append(f"{v.algorithms[0]} beats {listing(beaten, most=8)}.")
    columns = v.pairs.columns
    same, equal = ([f"{a} and {b}" for a, b in zip(columns["a"][chosen], columns["b"][chosen], strict=True)]
                   for chosen in (v.identical, v.equivalent & ~v.identical))  # fmt: skip
    if same:
        lines.append(f"Identical results on all {len(v.datasets)} {words.datasets}: {listing(same, most=4)}.")
    if equal:
        count = "1 pair is" if len(equal) == 1 else f"{len(equal)} pairs are"
        lines.append(f"{count} equivalent within {100 * v.within:g} %: {listing(equal, most=4)}.")
    return lines


def how_sure(v: Verdict, words: Vocabulary = USUAL) -> list[str]:
    """The procedure and what it assumes."""
    if v.grade == "not_comparable":
        return []
    if v.grade == "too_little_data":
        return [
            f"All differences on one side would still have p = {v.smallest_p:.2g} with "
            f"{_datasets(len(v.datasets), words)}."
        ]
    lines = [
        f"All pairs are tested together by flipping the signs of whole {words.datasets}; the chance of any false "
        f"finding is at most {100 * v.alpha:g} %.",
        f"Better means better on a typical {words.dataset}: a difference must be as likely to be large in either "
        f"direction. Rare failures that these {words.datasets} do not show are not covered.",
        "The interval of an effect is that of its pair alone, not adjusted for the other pairs.",
    ]
    if (v.equivalent & ~v.identical).any():
        lines.append(
            "Equivalent speaks of the typical ratio: where rare differences are large, the mean is farther off."
        )
    if v.families is not None:
        lines.append(
            f"{words.datasets.capitalize()} of one family count as one piece of evidence: {v.families} families."
        )
    if v.control is not None:
        lines.append(
            f"The pairs of {v.control}, the control, are adjusted for its {len(v.algorithms) - 1} comparisons only: "
            f"the chance of a false finding is at most {100 * v.alpha:g} % among them, and as much among the others. "
            "That is valid if it was named before the results were seen."
        )
    return lines


def what_would_change(v: Verdict, words: Vocabulary = USUAL) -> list[str]:
    """How few datasets, or failures, would cost the leader its place."""
    if len(v.leaders) > 1 or v.grade == "not_comparable":
        return []
    lines = [] if v.removal is None else [removal_sentence(v, *v.removal, words)]
    gap, room = float(v.mean_rank[1] - v.mean_rank[0]), len(v.algorithms) - float(v.mean_rank[1])
    if room > 0:
        count = int(len(v.datasets) * gap / room + 1e-9) + 1
        lines.append(
            f"If {v.leaders[0]} failed (came last) on {_datasets(count, words, 'further ')}, {v.algorithms[1]} would "
            "lead."
        )
    return lines


def removal_sentence(v: Verdict, name: str, count: int, words: Vocabulary = USUAL) -> str:
    """Who would lead without which datasets, and how many other choices of so many do the same."""
    those = (
        listing(v.removed, last="and")
        if 0 < len(v.removed) <= 3
        else f"{count} of the {len(v.datasets)} {words.datasets}"
    )
    if v.removals is None or v.removals[1] == 1:
        return f"Without {those}, {name} would lead."
    some, every = v.removals
    choices = f"the {every} {words.datasets}" if count == 1 else f"{every} choices of {_datasets(count, words)}"
    return f"Without {those}, {name} would lead ({some} of {choices} change the leader when left out)."


def _datasets(n: int, words: Vocabulary, which: str = "") -> str:
    return count_of(n, f"{which}{words.dataset}")
