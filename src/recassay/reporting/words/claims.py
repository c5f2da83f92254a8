"""What you may claim: sentences that the verdict supports, those that people write and it does not, and one claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from recassay.analysis.verdict.result import PairVerdict, Verdict
from recassay.core.tables.labels import metric_name
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of, listing
from recassay.reporting.numbers import p_text
from recassay.reporting.words.verdict import effect_text, undecided_because

MOST = 5
"""Sentences that are offered."""

ANSWERS = {"holds": "Holds", "undecided": "Not shown", "reversed": "Reversed"}
"""How the verdict stands to a claim, as people read it."""


def box(v: Verdict, words: Vocabulary = USUAL) -> dict[str, list[str]]:
    """`supported` and `unsupported`: what may be claimed, and what may not."""
    return {"supported": supported(v, words), "unsupported": unsupported(v, words)}


def box_lines(content: Mapping[str, Sequence[str]]) -> list[str]:
    """The box as text."""
    titles = {"supported": "You may claim:", "unsupported": "You may not claim:"}
    return [line for key, title in titles.items() if content[key] for line in (title, *(f"- {x}" for x in content[key]))]


def supported(v: Verdict, words: Vocabulary = USUAL) -> list[str]:
    """At most five sentences to write, each with its scope: metric, number of datasets, what it generalises to."""
    if v.grade == "not_comparable":
        return []
    size = f"{metric_name(v.metric)}, {count_of(len(v.datasets), words.dataset)}"
    return [f"{text} ({size}; {kind})." for text, kind in _supported(v, words)][:MOST]


def _supported(v: Verdict, words: Vocabulary) -> Iterator[tuple[str, str]]:
    k, tested = len(v.algorithms), f"for {words.datasets} like these, all pairs tested at {100 * v.alpha:g} %"
    if v.control is not None and v.control not in v.leaders:
        beaten = [name for name in v.algorithms if v.status_of(v.control, name) == "better"]
        if beaten:
            own = f"for {words.datasets} like these, if {v.control} was named before the results were seen"
            yield f"{v.control} is better than {listing(beaten, most=8, last='and')}", own
    beaten = [name for name in v.algorithms if v.status_of(v.leaders[0], name) == "better"]
    if len(beaten) == k - 1 and k > 2:
        yield f"{v.leaders[0]} is better than all {k - 1} other {words.algorithms}", tested
    elif beaten:
        some = "" if k == 2 else f"{len(beaten)} of {k - 1} other {words.algorithms}: "
        yield f"{v.leaders[0]} is better than {some}{listing(beaten, most=8, last='and')}", tested
    pair = v.pair(v.leaders[0], v.rival)
    if pair.status == "better":
        little = f" by less than {100 * v.within:g} %" if v.close(pair) else ""
        yield f"{pair.a} is ahead of {pair.b}{little} ({effect_text(v, pair)})", f"on a typical {words.dataset}"
    elif pair.status == "equivalent":
        yield f"{pair.a} and {pair.b} are equivalent within {100 * v.within:g} %", tested
    out = [name for name in v.algorithms if name not in v.could_be_best]
    if out and len(v.could_be_best) > 1:
        yield f"{listing(out, most=8, last='and')} {'is' if len(out) == 1 else 'are'} not the best", tested
    seen = f"{listing(v.leaders, most=4, last='and')} {'has' if len(v.leaders) == 1 else 'share'} the best mean rank"
    first = f" and is first on {_firsts(v, words)}" if len(v.leaders) == 1 else ""
    yield f"{seen} ({v.mean_rank[0]:.2f} of {k}){first}", f"these {words.datasets} only, no test"


def unsupported(v: Verdict, words: Vocabulary = USUAL) -> list[str]:
    """What people usually write of such a table and it does not support, with the reason."""
    if v.grade == "not_comparable":
        return []
    name, n, k = v.leaders[0], len(v.datasets), len(v.algorithms)
    beaten = sum(status == "better" for status in v.status[0])
    lines = []
    if v.firsts is not None and v.firsts[0] < n:
        lines.append(f'"{name} is state of the art on all {words.datasets}": no, it is first on {_firsts(v, words)}.')
    if beaten < k - 1 and k > 2:
        lines.append(f'"{name} is significantly better than all others": no, than {beaten or 'none'} of {k - 1}.')
    pair = v.pair(name, v.rival)
    if pair.status in ("undecided", "undecidable"):
        lines.append(f'"{pair.a} outperforms {pair.b}": not shown; {_reason(v, pair, words)}.')
        lines.append(f'"{pair.a} and {pair.b} perform equally well": not shown either, within {100 * v.within:g} %.')
    return lines


def checked(v: Verdict, better: str, worse: str | None, standing: str, words: Vocabulary = USUAL) -> str:
    """How the verdict stands to the claim that one is better than another, or than all others, and why."""
    told = ANSWERS[standing]
    if worse is not None:
        pair = v.pair(better, worse)
        if standing == "undecided":
            return f"{told}: {better} > {worse}. {_upper(_reason(v, pair, words))}."
        return f"{told}: {better} > {worse}. {_better(v, pair, words)}"
    claim = f"{told}: {better} is best."
    if standing == "holds":
        weakest = max((v.pair(better, other).p for other in v.algorithms if other != better), default=0.0)
        return f"{claim} It is better than each of the {len(v.algorithms) - 1} others (largest {p_text(weakest)})."
    if standing == "reversed":
        ahead = next(name for name in v.algorithms if v.status_of(name, better) == "better")
        return f"{claim} {_better(v, v.pair(ahead, better), words)}"
    rivals = [name for name in v.could_be_best if name != better]
    why = f"{count_of(len(v.datasets), words.dataset)}"
    if v.grade == "too_little_data":
        why = f"{why} cannot show it, {v.fewest_datasets} are the minimum"
    return f"{claim} {listing(rivals, most=8, last='and')} could be best as well ({why})."


def _better(v: Verdict, pair: PairVerdict, words: Vocabulary) -> str:
    return f"{pair.a} is better ({_evidence(v, pair, words)}; adjusted {p_text(pair.p)})."


def _reason(v: Verdict, pair: PairVerdict, words: Vocabulary) -> str:
    """Why neither of a pair is shown to be better."""
    evidence = _evidence(v, pair, words)
    if pair.identical:
        return f"both have the same value on all {count_of(len(v.datasets), words.dataset)}"
    if pair.status == "undecidable":
        return f"{count_of(len(v.datasets), words.dataset)} cannot show it, {v.fewest_datasets} are the minimum ({evidence})"
    if pair.status == "equivalent":
        return f"they are equivalent within {100 * v.within:g} % ({evidence})"
    why = undecided_because(v, pair) or f" is not below {v.alpha:g}"
    return f"adjusted {p_text(pair.p)}{why} ({evidence})"


def _evidence(v: Verdict, pair: PairVerdict, words: Vocabulary) -> str:
    tied = f", {pair.ties} tied" if pair.ties else ""
    won = f"{pair.wins} of {len(v.datasets)} {words.datasets} won{tied}"
    return f"{pair.a} against {pair.b}: {effect_text(v, pair)}; {won}"


def _firsts(v: Verdict, words: Vocabulary) -> str:
    return f"{0 if v.firsts is None else v.firsts[0]} of {len(v.datasets)} {words.datasets}"


def _upper(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"
