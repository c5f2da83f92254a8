"""Sentences that claim something of the results, and whether it follows from the tables.

A sentence is checked only where its subject is the paper's own method or an algorithm of a table. What names
something that no table has cannot be checked, and is said to be so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from recassay.analysis.review.result import CheckedClaim, Standing, TableVerdict
from recassay.analysis.review.settings import MOST_NAMES, competing, ratio, upward
from recassay.analysis.verdict.result import Verdict
from recassay.core.names import canonical
from recassay.core.tables.labels import normal_label, split_label
from recassay.core.tables.printed import Entry, PaperTable, Passage

_I = re.IGNORECASE
_BEATS = (
    r"(?:out-?perform(?:s|ed|ing)?|surpass(?:es|ed|ing)?|beats?|exceeds?|superior to|improv(?:es?|ed|ing) (?:up)?on|"
    r"better than|improvements? over|gains? over|improv(?:es?|ed|ing)\b(?:[^.;]|\.\d)*?\bover)"
)
_ALL = re.compile(
    rf"{_BEATS}[^.;]*?\b(?:all|every|each|any|the|existing|other|competing|state.of.the.art|sota|strong)\b[^.;]*?"
    r"(?:baselines?|methods?|models?|competitors?|approaches|recommenders?|algorithms?|alternatives|counterparts?|"
    r"state.of.the.art)", _I,
)  # fmt: skip
_BEST = re.compile(
    r"\b(?:achiev|obtain|reach|attain|yield|deliver|show|perform|has|have|is|are|give)\w*\s+(?:\w+\s+){0,3}?the "
    r"(?:best|highest|strongest|top)\b(?! (?:mean|average|rank|trade|balance))|"
    r"\bperforms? (?:the )?best\b|\bconsistently (?:the )?best\b|\branks? first\b|"
    r"\bnew state.of.the.art|\bstate.of.the.art (?:performance|results|accuracy)", _I,
)  # fmt: skip
_OURS = re.compile(r"\bours?\b|\bproposed\b|^our", _I)
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_SIGNIFICANT = re.compile(r"\b(?:statistically )?significant(?:ly)?\b", _I)
_SUBJECT = re.compile(r"\b(?:we|our|ours|proposed|it|(?:this|the) (?:model|method|approach))\b", _I)
_HEDGED = re.compile(
    r"\b(?:may|might|could|would|will|aims?|try|tries|should|if|whether|hypothesi[sz]e|expect|prior work|previous work|"
    r"et al)\b|\?", _I,
)  # fmt: skip
_LEGEND = re.compile(
    r"\b(?:bold\w*|underlin\w*|denote[sd]?|indicates?|refers? to|marked|highlight\w*|stands? for)\b", _I
)
_OF = re.compile(r"\bon (?P<some>\w+)(?: out)? of (?:the |all )?(?P<all>\w+) (?:\w+ )?datasets", _I)
_COUNT = re.compile(
    r"(?<![@\w.])(?P<all>two|three|four|five|six|seven|eight|nine|ten|\d+) (?:\w+[ -]){0,3}?datasets", _I
)
_MOST = re.compile(r"\b(?:most|majority|many|generally|in general|mostly|almost all|nearly all)\b", _I)
_BETTER = re.compile(r"\b(?:improv|gain|increas|boost|better|higher|lift|outperform|surpass|exceed)", _I)
_AVERAGE = re.compile(r"\b(?:averag\w*|mean)\b", _I)
_UP_TO = re.compile(r"\bup to|at most|as much as|maximum|largest", _I)
_FOREIGN = re.compile(
    r"\s*(?:(?:Moreover|In particular|Notably|Overall|However|Here),?\s+)?[A-Z][\w-]*[A-Z0-9][\w-]*\s+(?!on\b)"
)
"""A sentence that begins with the name of something that no table has."""
_RIVAL = re.compile(rf"(?i:{_BEATS})\s+(?:the )?((?-i:[A-Z])[\w-]*(?-i:[A-Z0-9])[\w+-]*)")
"""The name that follows the verb."""
_RESULT = re.compile(r"\bdatasets?|baselines?|outperform|metric|recommend|nDCG|recall|improve", _I)
_METRIC = re.compile(r"\b(n?DCG|Recall|HR|Hit(?:[- ]?(?:Rate|Ratio))?|MRR|Precision|MAP|AUC|F1)\b(?:\s*@\s*(\d+)|)", _I)
_NUMBERS = {word: n for n, word in enumerate("zero one two three four five six seven eight nine ten".split())}  # noqa: SIM905


Judged = tuple[Standing, dict[str, Any]]
Pair = tuple[Entry, Entry]


class Court:
    """The results that sentences speak of, and the paper's own method."""

    def __init__(self, tables: Sequence[PaperTable], verdicts: Sequence[TableVerdict], own: str | None) -> None:
        several = [table for table in tables if 1 < len(table.algorithms) <= MOST_NAMES]
        main = [table for table in several if table.kind == "results"] or several
        self.sets = [each for table in main for each in competing(table) if len(each) > 1]
        self.verdicts = [each.verdict for each in verdicts if each.verdict is not None]
        self.names = sorted({entry.algorithm for each in self.sets for entry in each}, key=len, reverse=True)
        self.datasets = {canonical(entry.dataset) for each in self.sets for entry in each if len(entry.dataset) > 2}
        self.spoken = {canonical(name) for name in (*self.names, *self.datasets) if len(name) > 2}
        self.lower = [(name, name.lower()) for name in self.names]
        self.first = [{entry.algorithm: entry for entry in reversed(each)} for each in self.sets]
        self.ranked = [sorted(each, key=upward, reverse=True) for each in self.sets]
        self.known: dict[str, tuple[str | None, str | None]] = {}
        self.own = own or next((table.own for table in main if table.own), None) or self._own()

    def _own(self) -> str | None:
        """The algorithm that is called ours, else the last of the table where it leads most settings."""
        called = [name for name in self.names if _OURS.search(name)]
        last = next((each[-1].algorithm for each in self.sets), "")
        rows = [(each, entry) for each in self.sets for entry in each if entry.algorithm == last]
        led = sum(upward(entry) == max(map(upward, each)) for each, entry in rows)
        return called[0] if called else last if rows and 2 * led > len(rows) else None

    def parties(self, text: str) -> tuple[str | None, str | None]:
        """Who is said to be better, and than whom: by where the sentence names them around its verb."""
        if text not in self.known:
            self.known = {text: self._parties(text)}
        return self.known[text]

    def _parties(self, text: str) -> tuple[str | None, str | None]:
        verb = re.search(_BEATS, text, _I)
        at, places = verb.start() if verb else len(text), dict[str, tuple[int, int]]()
        lower = text.lower()
        likely = [name for name, folded in self.lower if folded in lower]
        for name in likely:  # the longest first, so that a name within another one is not taken for it
            found = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, _I)
            if found and len(name) > 1 and not any(b <= found.start() < e for b, e in places.values()):
                places[name] = found.span()
        before = [name for name, (begin, _) in sorted(places.items(), key=lambda item: item[1]) if begin < at]
        foreign = _FOREIGN.match(text)
        if before:
            subject: str | None = before[-1]
        else:
            subject = self.own if _SUBJECT.search(text) and not foreign else None
        others = sorted((begin, name) for name, (begin, _) in places.items() if begin > at and name != subject)
        return subject, others[0][1] if others else None

    def pairs(self, text: str, subject: str, other: str | None) -> list[Pair]:
        """In each setting that a sentence speaks of, the subject and the best of the others (or the one named)."""
        folded, metrics, found = canonical(text), metrics_in(text), []
        named = {name for name in self.datasets if name in folded}
        for each, first in zip(self.ranked, self.first, strict=True):
            own = first.get(subject)
            fits = (not named or canonical(each[0].dataset) in named) and (
                not metrics or _named(each[0].metric, metrics)
            )
            if own is None or not fits:
                continue
            best = next((entry for entry in each if entry is not own and other in (None, entry.algorithm)), None)
            if best is not None:
                found.append((own, best))
        return found


def check_claims(
    passages: Sequence[Passage],
    tables: Sequence[PaperTable],
    verdicts: Sequence[TableVerdict],
    own: str | None = None,
) -> Iterator[CheckedClaim]:
    """Each sentence that claims something of the results, with its standing."""
    court = Court(tables, verdicts, own)
    for passage in passages:
        text = passage.text
        legend = passage.place != "abstract" and _LEGEND.search(text)
        folded = canonical(text)
        named = any(name in folded for name in court.spoken)
        about = named or _RESULT.search(text) or _METRIC.search(text)
        if about and not legend and not _HEDGED.search(text):
            for claim in _kinds(text, court):
                standing, facts = _judged(claim, text, court)
                if passage.place != "abstract" and facts.get("why") == "subject":
                    continue
                yield CheckedClaim(text, passage.place, claim, standing, facts)


def _kinds(text: str, court: Court) -> Iterator[str]:
    """What a sentence claims: `by` so many percent, `beats` another one, `best` of all; and `significant`."""
    beats, better = re.search(_BEATS, text, _I), _BETTER.search(text)
    if _PERCENT.search(text) and better:
        yield "by"
    elif beats and court.parties(text)[1] is not None:
        yield "beats"
    elif _ALL.search(text) or _BEST.search(text):
        yield "best"
    if _SIGNIFICANT.search(text) and (beats or better):
        yield "significant"


def _judged(claim: str, text: str, court: Court) -> Judged:
    """How the tables stand to a claim, and the numbers that it would follow from."""
    subject, other = court.parties(text)
    rival = _RIVAL.search(text)
    if rival and other is None and not _named_in(rival[1], court):
        return "cannot be checked", {"why": "no numbers", "algorithm": rival[1]}
    if subject is None:
        return "cannot be checked", {"why": "subject"}
    if claim == "significant":
        won = any(_significant(verdict, subject, other) for verdict in court.verdicts)
        known: dict[str, Any] = {"algorithm": subject} if won else {"why": "significance", "algorithm": subject}
        return ("follows" if won else "cannot be checked"), known
    pairs, metrics = court.pairs(text, subject, other), metrics_in(text)
    if not pairs or not all(any(_named(own.metric, [metric]) for own, _ in pairs) for metric in metrics):
        return "cannot be checked", {"why": "no numbers", "algorithm": subject}
    return _by(pairs, text) if claim == "by" else _ahead(pairs, text)


def _named_in(name: str, court: Court) -> bool:
    return any(canonical(name) in canonical(known) for known in court.names) or bool(metrics_in(name))


def _significant(verdict: Verdict, subject: str, other: str | None) -> bool:
    """Whether the court says that the subject is better than the other, or than all."""
    if other is not None:
        return {subject, other} <= set(verdict.algorithms) and verdict.status_of(subject, other) == "better"
    return verdict.grade == "clear_winner" and verdict.leaders == (subject,)


def metrics_in(text: str) -> list[str]:
    """Metrics that a sentence names: `NDCG@10`, `Recall`, `HR@5`, `MRR`."""
    found = [(name, k) for name, k in _METRIC.findall(text) if name.lower() != "map" or name == "MAP"]
    return [normal_label(f"{name}@{k}" if k else name) for name, k in found]


def _named(label: str, metrics: Sequence[str]) -> bool:
    return any(label == metric or ("@" not in metric and split_label(label)[0] == metric) for metric in metrics)


def _by(pairs: list[Pair], text: str) -> Judged:
    """`by 12.3 %`: an average, a largest, a smallest or a single improvement, within rounding."""
    rates = [(100 * low, 100 * high) for low, high in (ratio(*pair) for pair in pairs)]
    groups, average = [rates], _AVERAGE.search(text)
    for part in ("metric", "condition") if average else ("metric", "condition", "dataset"):
        values = [getattr(own, part) for own, _ in pairs]
        groups += [
            [rate for rate, its in zip(rates, values, strict=True) if its == value] for value in dict.fromkeys(values)
        ]
    means = [_over(group, lambda ends: sum(ends) / len(ends)) for group in groups]
    least, most = _over(rates, min), _over(rates, max)
    if average:
        known = means
    else:
        known = [most] if _UP_TO.search(text) else [*means, least, most, *rates]
    claimed = [found[1] for found in _PERCENT.finditer(text)]
    slack = 10.0 ** -max(len(number.partition(".")[2]) for number in claimed)
    right = all(any(low - slack <= float(number) <= high + slack for low, high in known) for number in claimed)
    rivals = {rival.algorithm for _, rival in pairs}
    facts = {"algorithm": pairs[0][0].algorithm, "other": rivals.pop() if len(rivals) == 1 else None,
             "average": means[0], "smallest": least, "largest": most, "count": len(pairs)}  # fmt: skip
    return ("follows" if right else "does not follow"), facts


def _over(rates: Sequence[tuple[float, float]], combine: Any) -> tuple[float, float]:
    """The lower and the upper ends combined."""
    return combine([rate[0] for rate in rates]), combine([rate[1] for rate in rates])


def _ahead(pairs: list[Pair], text: str) -> Judged:
    """Whether the subject is ahead everywhere, in most places, or on as many datasets as the sentence says."""
    lost = [(own, rival) for own, rival in pairs if upward(own) <= upward(rival)]
    datasets = {own.dataset for own, _ in pairs}
    facts: dict[str, Any] = {"algorithm": pairs[0][0].algorithm, "count": len(pairs), "lost": len(lost)}
    if lost:
        own, rival = lost[0]
        facts |= {"other": rival.algorithm, "metric": own.metric, "dataset": own.dataset, "value": own.cell.text,
                  "others": rival.cell.text}  # fmt: skip
    some, counted = _OF.search(text), _COUNT.search(text)
    if some and _number(some["some"]):
        won = len(datasets - {own.dataset for own, _ in lost})
        right = won == _number(some["some"])
        facts |= {"datasets": won, "said": _number(some["some"])}
    elif counted and not lost and len(datasets) < _number(counted["all"]):
        return "cannot be checked", {"why": "fewer datasets", "algorithm": pairs[0][0].algorithm}
    else:
        right = 2 * len(lost) < len(pairs) if _MOST.search(text) else not lost
    return ("follows" if right else "does not follow"), facts


def _number(word: str) -> int:
    return int(word) if word.isdecimal() else _NUMBERS.get(word.lower(), 0)
