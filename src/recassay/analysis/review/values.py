"""Values by themselves: bounds, slipped decimal points, and shares that a number of users allows."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping

from recassay.analysis.review.result import Flag, about, flag
from recassay.analysis.review.settings import settings_of
from recassay.core.names import canonical
from recassay.core.tables.labels import is_share, split_label
from recassay.core.tables.printed import Entry, PaperTable

_OF_USERS = frozenset({"hitrate", "recall"})


def check_range(table: PaperTable) -> Iterator[Flag]:
    """Shares outside of 0 to 1 (or 100), and values that fit tenfold or at a tenth."""
    for entry in table.entries:
        share = (entry.cell.value or 0.0) / table.unit
        if is_share(entry.metric) and not -1e-9 <= share <= 1 + 1e-9:
            yield flag("range", "bounds", "certain", table, entry, **about(entry))
    for each in settings_of(table).values():
        for entry in each:
            value, others = (
                entry.cell.value or 0.0,
                [o.cell.value for o in each if o is not entry and (o.cell.value or 0) > 0],
            )
            if others and value > 0:
                low, high = min(filter(None, others)) / 1.2, max(filter(None, others)) * 1.2
                above = value > 4 * high and low <= value / 10 <= high
                below = value < low / 4 and low <= value * 10 <= high and len(others) > 2
                if above or below:
                    facts = about(entry, meant=value / 10 if above else value * 10)
                    yield flag("range", "decimal_point", "worth a look", table, entry, **facts)


def check_grain(table: PaperTable, users: Mapping[str, int]) -> Iterator[Flag]:
    """Hit rates that no whole number of users gives; where most are such, the number of users is another one."""
    by_dataset: dict[str, list[Entry]] = defaultdict(list)
    for entry in table.entries:
        if split_label(entry.metric)[0] in _OF_USERS and not entry.condition and entry.cell.value:
            by_dataset[entry.dataset].append(entry)
    for dataset, entries in by_dataset.items():
        n = users.get(canonical(dataset)) or users.get("") or 0
        chance = n * 2 * min(entry.cell.half for entry in entries) / table.unit
        if not 0 < chance <= 0.8:  # above, nearly every printed value exists
            continue
        impossible = [entry for entry in entries if not _exists(entry, n, table.unit)]
        if len(entries) > 2 and len(impossible) > max(0.4 * (1 - chance) * len(entries), 2):
            yield flag("grain", "other_users", "worth a look", table, *impossible[:1], users=n, dataset=dataset,
                       count=len(impossible), of=len(entries))  # fmt: skip
        else:
            for entry in impossible:
                yield flag(
                    "grain", "impossible_share", "certain if", table, entry, needs="users", **about(entry, users=n)
                )


def _exists(entry: Entry, users: int, unit: float) -> bool:
    """Whether a whole number of users over all of them is printed so."""
    low, high = entry.cell.low / unit * users, entry.cell.high / unit * users
    return math.floor(high + 1e-9) >= math.ceil(low - 1e-9)
