"""The verdict in words: a headline of at most 20 words, a few sentences, one caution, one next step, and the folds."""

from __future__ import annotations

from recassay.analysis.verdict.result import Grade, MetricGrade, PairVerdict, Verdict
from recassay.core.choices import PairTest
from recassay.core.tables.labels import metric_name
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of, listing
from recassay.reporting.numbers import chance, p_text, smallest
from recassay.reporting.words.control import of_control
from recassay.reporting.words.missing import missing_cells

GRADES: dict[Grade, str] = {
    "clear_winner": "Clear winner",
    "shared_lead": "Shared lead",
    "no_difference": "No difference seen",
    "too_little_data": "Too little data",
    "not_comparable": "Not comparable",
}
"""Each grade as people read it."""

TESTS: dict[PairTest, str] = {
    "sign-flips": "sign-flip test",
    "wilcoxon-holm": "Wilcoxon's signed-rank test with Holm's correction",
}
"""The test that the verdict on pairs rests on."""


def headline(v: Verdict, words: Vocabulary = USUAL) -> str:
    """What is known, in one sentence."""
    k, n, could = len(v.algorithms) - len(v.not_judged), len(v.datasets), v.could_be_best
    by = f" by {metric_name(v.metric)}" if v.peers else ""
    all_k, like_these, rest_open = _field(v, words)
    if v.grade == "not_comparable":
        return f"Not comparable: every value of {metric_name(v.metric)} is 0, so nothing was measured."
    if v.grade == "too_little_data":
        least = v.fewest_datasets
        return (
            f"Too little data: {_datasets(n, words)} cannot show which {words.algorithm} is better; {least} are the "
            "minimum."
        )
    if k < 2:
        gaps = "the other one has" if len(v.not_judged) == 1 else f"the other {len(v.not_judged)} have"
        return f"No verdict{by}: {v.algorithms[0]} leads, but {gaps} gaps."
    if v.grade == "clear_winner":
        if k == 2:
            little = f", by less than {100 * v.within:g} %," if v.close(v.pair(v.algorithms[0], v.rival)) else ""
            return f"{v.algorithms[0]} is better than {v.rival}{by}{little}{like_these or _only_two(v)}{rest_open}."
        among = f" of {all_k}" if v.missing.policy == "drop-algorithms" and v.missing.dropped else ""
        return f"{v.algorithms[0]} is the clear winner{by}{among}: it beats all {k - 1} others{like_these}{rest_open}."
    if v.identical.all():
        return f"No difference{by}: {all_k} have identical results on all {n} {words.datasets}."
    if v.equivalent.all():
        every = all_k.replace("the", "all", 1)
        return f"No difference{by}: {every} are equivalent within {100 * v.within:g} %."
    if v.grade == "no_difference":
        if k == 2:
            either = f"either {could[0]} or {could[1]} could be the better one"
            return f"No difference seen{by}: {either}{'' if like_these else _only_two(v)}{rest_open}."
        return f"No difference seen{by}: any of {all_k} could be best{like_these}{rest_open}."
    if len(could) == 2 and v.status_of(*could) == "equivalent":
        return (
            f"{could[0]} and {could[1]} share the lead{by}: they are equivalent within {100 * v.within:g} %{rest_open}."
        )
    if len(could) <= 3:
        rest = k - len(could)
        others = f"the other {rest} could not" if rest > 1 else "the other one could not"
        if not like_these and not v.not_judged:
            return f"No clear winner{by}: {listing(could, last='or')} could be best of {all_k}."
        return f"No clear winner{by}: {listing(could, last='or')} could be best{rest_open or f'; {others}'}."
    some = f"{len(could)} of {k} {words.algorithms}" if like_these or v.not_judged else f"{len(could)} of {all_k}"
    return f"No clear winner{by}: {some} could be best{like_these}{rest_open}."


def _field(v: Verdict, words: Vocabulary) -> tuple[str, str, str]:
    """The algorithms that are judged, for which datasets that holds, and how many are not judged.

    Which of two gaps the table had is said in place of the second: a headline has 20 words.
    """
    k = len(v.algorithms) - len(v.not_judged)
    if v.not_judged:
        gaps = f"{len(v.not_judged)} with gaps {'is' if len(v.not_judged) == 1 else 'are'} not judged"
        return f"the {k} judged {words.algorithms}", "", f"; {gaps}"
    if v.missing.policy == "drop-algorithms" and v.missing.dropped:
        return f"the {k} {words.algorithms} without gaps", "", ""
    return f"the {k} {words.algorithms}", f" on {words.datasets} like these", ""


def _only_two(v: Verdict) -> str:
    return "" if v.not_judged else " (the only two without gaps)"


def sentences(v: Verdict, words: Vocabulary = USUAL) -> list[str]:
    """Whether other metrics agree; who leads and how likely again; what other rules, seeds and the rival say."""
    return [*first_lines(v, words), *pair_lines(v, words)]


def first_lines(v: Verdict, words: Vocabulary = USUAL) -> list[str]:
    """What belongs to the answer: the control, other metrics, the lead, other rules than mean ranks, and the seeds."""
    if v.grade == "not_comparable":
        return []
    wins = v.grade == "clear_winner" and v.leaders == (v.control,)  # then the headline says it
    control = None if v.control is None or wins or v.grade == "too_little_data" else of_control(v)
    lead, rules, seeds = _lead(v, words), other_rules(v), over_seeds(v, words)
    after = (seeds, lead, rules) if v.grade == "too_little_data" else (lead, rules, seeds)
    return [line for line in (control, other_metrics(v, words), *after) if line is not None]


def pair_lines(v: Verdict, words: Vocabulary = USUAL) -> list[str]:
    """The leader against its rival, whether its estimates point the same way, and what carries a winner's lead."""
    if v.grade == "not_comparable":
        return []
    pair = v.pair(v.leaders[0], v.rival)
    directions = other_directions(v, pair, words)
    lines = [pair_sentence(v, pair, words), *([directions] if directions else [])]
    if v.grade == "clear_winner" and v.removal is not None:
        lines.append(removal_sentence(v, *v.removal, words))
    return lines


def other_metrics(v: Verdict, words: Vocabulary = USUAL) -> str | None:
    """Whether the other metrics of the same kind agree, and what those that do not agree support."""
    if not v.peers or v.grade == "not_comparable":
        return None
    named: dict[str, list[str]] = {}
    agreeing = [other for other in v.peers if v.agrees(other)]
    for other in v.peers:
        if other not in agreeing:
            named.setdefault(_stated(v, other, words), []).append(metric_name(other.metric))
    undecided = [text for text in named if "could be best" in text]
    if v.grade != "clear_winner" and len(undecided) > 1:
        several = [metric for text in undecided for metric in named.pop(text)]
        named["by {} there is no clear winner either, but others could be best"] = several
    ordered = sorted(named.items(), key=lambda item: ("clear winner" not in item[0], "no clear" in item[0]))
    parts = [text.format(listing(metrics, most=3, last="and")) for text, metrics in ordered[:MOST_STATEMENTS]]
    unsaid = sum(len(metrics) for _, metrics in ordered[MOST_STATEMENTS:])
    if unsaid:
        parts.append(f"{unsaid} further metrics differ, too" if unsaid > 1 else "1 further metric differs, too")
    if agreeing:
        parts.append(_agreement(v, len(agreeing), whole=not named))
    sentence = "; ".join(parts)
    return f"{sentence[:1].upper()}{sentence[1:]}."


MOST_STATEMENTS = 2
"""Statements of other metrics that a sentence has; the table of all metrics has every one."""


def _agreement(v: Verdict, count: int, *, whole: bool) -> str:
    """That so many other metrics support the same."""
    kind = f"{v.kind} metric" if count == 1 else f"{v.kind} metrics"
    number = "" if count == 1 else f"{count} "
    those = f"the other {number}{kind}" if whole else f"{count} other {kind}"
    if v.grade == "too_little_data":
        verb = "puts" if count == 1 else "put"
        return f"{those} {verb} {listing(v.leaders, most=3, last='and')} first, too"
    return f"{those} {'agrees' if count == 1 else 'agree'}"


def _stated(v: Verdict, other: MetricGrade, words: Vocabulary) -> str:
    """What another metric supports, with a place for its name."""
    if other.grade is None:
        return "{} could not be judged"
    if other.grade == "not_comparable":
        return "by {} every value is 0"
    leaders, could = _escaped(other.leaders), other.could_be_best
    if other.grade == "clear_winner":
        return f"by {{}} {leaders[0]} is the clear winner"
    if other.grade == "too_little_data":
        return f"by {{}} {listing(leaders, most=3, last='and')} {'leads' if len(leaders) == 1 else 'lead'} by mean rank"
    if v.grade == "clear_winner":
        still = "could be best" if v.leaders[0] in could else "could not be best"
        return f"by {{}} there is no clear winner, and {_escaped(v.leaders)[0]} {still}"
    if len(could) <= 3:
        return f"by {{}} {listing(_escaped(could), last='or')} could be best"
    return f"by {{}} {len(could)} of {other.algorithms} {words.algorithms} could be best"


def _escaped(names: tuple[str, ...]) -> list[str]:
    """Names whose braces are not places."""
    return [name.replace("{", "{{").replace("}", "}}") for name in names]


def other_rules(v: Verdict) -> str | None:
    """Who would lead by most other aggregations, where that is not the leader by mean rank."""
    rules = v.other_rules
    if rules is None:
        return None
    count = f"all {rules.of}" if len(rules.rules) == rules.of else f"{len(rules.rules)} of {rules.of}"
    return f"By {count} other rules {rules.leader} would lead."


def over_seeds(v: Verdict, words: Vocabulary = USUAL) -> str | None:
    """On how many datasets the leader and its rival differ beyond seed noise, where the datasets do not decide."""
    if v.seeds is None or not v.status_of(v.leaders[0], v.rival).startswith("undecid"):
        return None
    pair = v.seeds.between(v.leaders[0], v.rival)
    if not pair.tested:
        return None
    a, b, n = pair.first, pair.second, _datasets(pair.tested, words)
    scope = f"(other seeds on these {words.datasets}, not other {words.datasets})"
    if not pair.wins and not pair.losses:
        return f"On none of the {n} do {a} and {b} differ beyond seed noise {scope}."
    parts = [
        f"on {len(won)} of {n} {one} beats {two}" for won, one, two in ((pair.wins, a, b), (pair.losses, b, a)) if won
    ]
    return f"O{', '.join(parts)[1:]} beyond seed noise {scope}."


def other_directions(v: Verdict, pair: PairVerdict, words: Vocabulary = USUAL) -> str | None:
    """That the effect of a pair points another way than the means or the mean ranks; None where it does not."""
    at = {name: place for place, name in enumerate(v.algorithms)}
    a, b = at[pair.a], at[pair.b]
    none, scale = (1.0, 100.0) if pair.effect.kind == "ratio" else (0.0, 1.0)
    size = scale * (pair.effect.estimate - none)
    if size == 0 or (pair.effect.kind == "ratio" and _rounded(size) == 0):
        return None
    signs = {
        "mean rank": float(v.mean_rank[b] - v.mean_rank[a]),
        f"mean {metric_name(v.metric)}": float(v.mean[a] - v.mean[b]) * (1 if v.higher_is_better else -1),
    }
    against = [name for name, sign in signs.items() if sign * size < 0]
    if not against:
        return None
    one, other = (pair.a, pair.b) if size > 0 else (pair.b, pair.a)
    favour = "favours" if len(against) == 1 else "favour"
    return (
        f"The typical {pair.effect.kind} per {words.dataset} favours {one}, {listing(against, last='and')} {favour} "
        f"{other}."
    )


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
            f"significant (smallest p = {smallest(v.smallest_p)})."
        )
    why, none, interval = reservation(v, pair), 1 if pair.effect.kind == "ratio" else 0, pair.effect.interval
    if not why and interval is not None and not interval[0] <= none <= interval[1]:
        size += " for this pair alone"
    return f"Between {pair.a} and {pair.b} the data do not decide ({size}; {evidence}; {sure}{why})."


def reservation(v: Verdict, pair: PairVerdict) -> str:
    """Why a pair is not decided although its p is below alpha: the test is one of three conditions."""
    if pair.b in v.not_judged:
        return f"; {pair.b} has missing cells that were filled"
    if pair.p >= v.alpha:
        return ""
    if (
        v.test == "sign-flips"
        and pair.effect.interval is not None
        and pair.effect.interval[0] < (1 if pair.effect.kind == "ratio" else 0)
    ):
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
            f"All differences on one side would still have p = {smallest(v.smallest_p)} with "
            f"{_datasets(len(v.datasets), words)}."
        ]
    how = f"All pairs are tested together by flipping the signs of whole {words.datasets}"
    if v.test == "wilcoxon-holm":
        how = f"Each pair is tested by {TESTS[v.test]} over the pairs"
    lines = [
        f"{how}; the chance of any false finding is at most {100 * v.alpha:g} %.",
        f"Better means better on a typical {words.dataset}: a difference must be as likely to be large in either "
        f"direction. Rare failures that these {words.datasets} do not show are not covered.",
        f"The effect of a pair is the typical ratio per {words.dataset} (Hodges and Lehmann's estimate), a difference "
        "where values are not all above 0. Its interval is that of its pair alone, not adjusted for the other pairs.",
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
    change = "changes" if some == 1 else "change"
    return f"Without {those}, {name} would lead ({some} of {choices} {change} the leader when left out)."


def _datasets(n: int, words: Vocabulary, which: str = "") -> str:
    return count_of(n, f"{which}{words.dataset}")
