"""What tables say together: repeated rows, one result with two values, significance, and what others report."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from recassay.analysis.review.result import Flag, about, flag
from recassay.core.names import canonical, dataset_key
from recassay.core.tables.labels import is_share
from recassay.core.tables.printed import Entry, ExpectedValue, PaperTable, Passage

_TEST = re.compile(
    r"\bt-?\s?test|wilcoxon|mann.?whitney|sign test|sign-?\s?flip|welch|permutation|bootstrap|"
    r"friedman|nemenyi|anova|bonferroni|holm\b",
    re.IGNORECASE,
)
_SIGNED_RANK = re.compile(r"wilcoxon|sign test|signed.rank", re.IGNORECASE)
_SIGNIFICANT = re.compile(r"signific|\bp\s*(?:<|≤|-?\s?values?\b)", re.IGNORECASE)
_LEVEL = re.compile(r"p\s*(?:-?value)?s?\s*(?:<|≤|of|at)\s*(0?\.\d+)", re.IGNORECASE)
_RUNS = re.compile(
    r"\b(\d+|two|three|four|five|six|seven|eight|ten)\s+(?:independent\s+|different\s+|random\s+)*"
    r"(?:runs|seeds|times|repetitions|trials|datasets)\b", re.IGNORECASE,
)  # fmt: skip
_OTHERWISE = re.compile(
    r"backbone|cold|nois|sparse|subset|qwen|llama|embedding|scenario|transfer|zero-shot|robust", re.IGNORECASE
)
"""Words of captions by which two tables measure different things."""
_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "ten": 10}


def check_repetition(tables: Sequence[PaperTable]) -> Iterator[Flag]:
    """Two rows of one table with the same values, and an algorithm that has other values in another table."""
    for table in tables:
        yield from _same_rows(table)
    known: dict[tuple[str, ...], tuple[PaperTable, Entry]] = {}
    pairs: dict[tuple[int, str], list[tuple[PaperTable, Entry, Entry]]] = defaultdict(list)
    for table in tables:
        for entry in table.entries:
            key = tuple(map(canonical, (entry.algorithm, *entry.setting)))
            first, before = known.setdefault(key, (table, entry))
            scale = first.unit / table.unit
            differ = before.cell.high < entry.cell.low * scale or before.cell.low > entry.cell.high * scale
            if first is not table and differ and entry.dataset and _purpose(first) == _purpose(table):
                pairs[table.number, entry.algorithm].append((first, before, entry))
    for (number, _), found in pairs.items():
        first, before, entry = found[0]
        table = next(table for table in tables if table.number == number)
        facts = {**about(entry), "elsewhere": first.number, "others": before.cell.text, "count": len(found)}
        yield flag("repetition", "two_values", "worth a look", table, [each for *_, each in found], facts)


def _purpose(table: PaperTable) -> set[str]:
    return set(_OTHERWISE.findall(table.caption.lower()))


def _same_rows(table: PaperTable) -> Iterator[Flag]:
    rows: dict[tuple[str, ...], list[Entry]] = defaultdict(list)
    for entry in table.entries:
        rows[entry.algorithm, entry.group, entry.condition, entry.dataset].append(entry)
    seen: dict[tuple[tuple[str, str], ...], tuple[str, ...]] = {}
    for key, entries in rows.items():
        other = seen.setdefault(tuple((entry.metric, entry.cell.text) for entry in entries), key)
        distinct = {entry.cell.text for entry in entries if entry.cell.half < 0.006}
        if other is not key and len(distinct) > (2 if other[0] == key[0] else 1):
            facts = {
                "first": " ".join(filter(None, other)),
                "second": " ".join(filter(None, key)),
                "count": len(entries),
            }
            yield flag("repetition", "same_row", "worth a look", table, [entries[0], rows[other][0]], facts)


def check_significance(tables: Sequence[PaperTable], passages: Sequence[Passage]) -> Iterator[Flag]:
    """Stars without a test that is named, and levels that a test cannot reach with the runs that are named."""
    stated = [passage.text for passage in passages if _SIGNIFICANT.search(passage.text)]
    named = any(_TEST.search(text) for text in stated)
    held = [table for table in tables if table.entries]
    for table in held:
        starred = [entry for entry in table.entries if entry.cell.marks & {"star", "dagger"}]
        claimed = _SIGNIFICANT.search(table.caption) is not None
        if (starred or claimed) and not named:
            code = "no_test" if claimed or stated else "no_meaning"
            yield flag("significance", code, "worth a look", table, starred[:1], {"count": len(starred)})
    for text in stated:
        level, runs = _LEVEL.search(text), _RUNS.search(text)
        if held and level and runs and _SIGNED_RANK.search(text):
            count = min(int(runs[1]), 1000) if runs[1].isdecimal() else _NUMBERS[runs[1].lower()]
            smallest = 2.0 ** (1 - count)
            if smallest > float(level[1]):
                facts = {"runs": count, "smallest": smallest, "level": float(level[1])}
                yield flag("significance", "unreachable", "certain", held[0], [], facts)


def check_expected(
    tables: Sequence[PaperTable], expected: Sequence[ExpectedValue], users: Mapping[str, int]
) -> Iterator[Flag]:
    """Baselines far below or above what others report for the same dataset, as far as its users are as many."""
    published: dict[tuple[str, str, str], list[ExpectedValue]] = defaultdict(list)
    for value in expected:
        same = value.metric.replace("hitrate", "recall") if "leave-one-out" in value.protocol else value.metric
        for label in {value.metric, same}:  # with one target per user the two are the same
            published[dataset_key(value.dataset), canonical(value.algorithm), label].append(value)
    for table in tables:
        for entry in table.entries if not {entry.condition for entry in table.entries} - {""} else ():
            judged = users.get(canonical(entry.dataset))
            others = published.get((dataset_key(entry.dataset), canonical(entry.algorithm), entry.metric), [])
            others = [o for o in others if o.users is None or judged is None or abs(o.users / judged - 1) < 0.05]
            if not others or not is_share(entry.metric):
                continue
            share, known = (entry.cell.value or 0.0) / table.unit, sorted(o.value for o in others)
            if share < 0.67 * known[0] or share > 1.5 * known[-1]:
                near = (max if share < known[0] else min)(others, key=lambda o: o.value)
                facts = {**about(entry), "low": known[0], "high": known[-1], **near._asdict(), "value": entry.cell.text}
                yield flag("baselines", "far_from_published", "worth a look", table, [entry], facts)
