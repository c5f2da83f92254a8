"""What you may claim: sentences that the verdict supports, usual ones that it does not, and the check of one claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from recassay.analysis.verdict.result import PairVerdict, Verdict
from recassay.core.tables.labels import metric_name
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of, listing
from recassay.reporting.numbers import p_text
from recassay.reporting.words.verdict import effect_text, other_metrics, reservation

MOST = 5
"""Sentences that are offered."""

ANSWERS = {"holds": "Holds", "undecided": "Not shown", "reversed": "Reversed"}
"""How the verdict stands to a claim, as people read it."""


def box(v: Verdict, words: Vocabulary = USUAL) -> dict[str, list[str]]:
    """What may be claimed (`supported`), and what people write of such a table and may not (`unsupported`)."""
    size = f"{metric_name(v.metric)}, {count_of(len(v.datasets), words.dataset)}"
    supported = [f"{text} ({size}; {kind})." for text, kind in _supported(v, words)][:MOST]
    return {"supported": supported, "unsupported": list(_unsupported(v, words))}


def box_lines(content: Mapping[str, Sequence[str]]) -> list[str]:
    """The box as text."""
    titles = {"supported": "You may claim:", "unsupported": "You may not claim:"}
    parts = ([title, *(f"- {line}" for line in content[key])] for key, title in titles.items() if content[key])
    return [line for part in parts for line in part]


def _supported(v: Verdict, words: Vocabulary) -> Iterator[tuple[str, str]]:
    """Sentences with what they generalise to: metric and number of datasets are added to each."""
    if v.grade == "not_comparable":
        return
    lead, k, like = v.leaders[0], len(v.algorithms), f"for {words.datasets} like these"
    tested = f"{like}, all pairs tested at {100 * v.alpha:g} %"
    for name in dict.fromkeys(filter(None, (v.control, lead))):
        beaten = [other for other in v.algorithms if v.status_of(name, other) == "better"]
        some = f"all {k - 1} others" if len(beaten) == k - 1 > 1 else listing(beaten, most=8, last="and")
        if beaten:
            before = f"{like}, if {name} was named before the results were seen"
            yield f"{name} is better than {some}", before if name == v.control else tested
    pair = v.pair(lead, v.rival)
    if pair.status == "better":
        little = f" by less than {100 * v.within:g} %" if v.close(pair) else ""
        yield f"{pair.a} is ahead of {pair.b}{little} ({effect_text(v, pair)})", f"on a typical {words.dataset}"
    elif pair.status == "equivalent":
        yield f"{pair.a} and {pair.b} are equivalent within {100 * v.within:g} %", tested
    out = [name for name in v.algorithms if name not in v.could_be_best]
    if out and len(v.could_be_best) > 1:
        yield f"{listing(out, most=8, last='and')} {'is' if len(out) == 1 else 'are'} not the best", tested
    single = len(v.leaders) == 1
    seen = f"{listing(v.leaders, most=4, last='and')} {'has' if single else 'share'} the best mean rank"
    first = f" and is first on {v.firsts[0]} of {len(v.datasets)} {words.datasets}" if single else ""
    yield f"{seen} ({v.mean_rank[0]:.2f} of {k}){first}", f"these {words.datasets} only, no test"


def _unsupported(v: Verdict, words: Vocabulary) -> Iterator[str]:
    name, k, pair = v.leaders[0], len(v.algorithms), v.pair(v.leaders[0], v.rival)
    beaten = sum(status == "better" for status in v.status[0])
    if v.grade == "not_comparable":
        return
    if v.firsts[0] < (n := len(v.datasets)):
        yield f'"{name} is state of the art on all {words.datasets}": no, it is first on {v.firsts[0]} of {n}.'
    if not all(map(v.agrees, v.peers)):
        yield f'"{name} is best by every {v.kind} metric": not shown. {other_metrics(v, words)}'
    if beaten < k - 1 > 1:
        few = beaten or "none"
        yield f'"{name} is significantly better than all others": no, than {few} of {k - 1}.'
    if pair.status.startswith("undecid"):
        yield f'"{pair.a} outperforms {pair.b}": not shown; {_reason(v, pair, words)}.'
        yield f'"{pair.a} and {pair.b} perform equally well": not shown either, within {100 * v.within:g} %.'


def checked(v: Verdict, better: str, worse: str | None, standing: str, words: Vocabulary = USUAL) -> str:
    """How the verdict stands to the claim that one is better than another, or than all others, and why."""
    claim = f"{ANSWERS[standing]}: {better} {'is best' if worse is None else f'> {worse}'}."
    if standing == "reversed":
        ahead = worse or next(name for name in v.algorithms if v.status_of(name, better) == "better")
        return f"{claim} {_better(v, v.pair(ahead, better), words)}"
    if worse is not None:
        pair = v.pair(better, worse)
        return (
            f"{claim} {_better(v, pair, words)}" if standing == "holds" else f"{claim} Why: {_reason(v, pair, words)}."
        )
    others = [name for name in v.algorithms if name != better]
    if standing == "holds":
        largest = max(v.pair(better, other).p for other in others)
        return f"{claim} It is better than all {len(others)} others (largest adjusted {p_text(largest)})."
    rivals, why = [name for name in others if name in v.could_be_best], count_of(len(v.datasets), words.dataset)
    few = f" cannot show it, {v.fewest_datasets} are the minimum" if v.grade == "too_little_data" else ""
    return f"{claim} {listing(rivals, most=8, last='and')} could be best as well ({why}{few})."


def _better(v: Verdict, pair: PairVerdict, words: Vocabulary) -> str:
    return f"{pair.a} is better than {pair.b} ({_evidence(v, pair, words)}; adjusted {p_text(pair.p)})."


def _reason(v: Verdict, pair: PairVerdict, words: Vocabulary) -> str:
    """Why neither of a pair is shown to be better."""
    if pair.identical:
        return f"both have the same values on all {count_of(len(v.datasets), words.dataset)}"
    why = f"adjusted {p_text(pair.p)}{reservation(v, pair) or f' is not below {v.alpha:g}'}"
    if pair.status == "undecidable":
        why = f"{count_of(len(v.datasets), words.dataset)} cannot show it, {v.fewest_datasets} are the minimum"
    if pair.status == "equivalent":
        why = f"they are equivalent within {100 * v.within:g} %"
    return f"{why} ({pair.a} against {pair.b}: {_evidence(v, pair, words)})"


def _evidence(v: Verdict, pair: PairVerdict, words: Vocabulary) -> str:
    tied = f", {pair.ties} tied" if pair.ties else ""
    return f"{effect_text(v, pair)}; {pair.wins} of {len(v.datasets)} {words.datasets} won{tied}"
