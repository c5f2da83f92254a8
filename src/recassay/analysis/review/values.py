"""Values by themselves: bounds, slipped decimal points, and shares that a number of users allows."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping

import numpy as np

from recassay.analysis.review.result import Flag, about, flag
from recassay.analysis.review.settings import settings_of
from recassay.core.names import canonical
from recassay.core.tables.labels import is_share, split_label
from recassay.core.tables.printed import Entry, PaperTable


def check_range(table: PaperTable) -> Iterator[Flag]:
    """Shares outside of 0 to 1 (or 100), and values that fit tenfold or at a tenth."""
    for entry in table.entries:
        share = (entry.cell.value or 0.0) / table.unit
        if is_share(entry.metric) and not -1e-9 <= share <= 1 + 1e-9:
            yield flag("range", "bounds", "certain", table, [entry], about(entry))
    sets = [each for each in settings_of(table).values() if len(each) > 1]
    usual: dict[str, list[float]] = defaultdict(list)  # of an algorithm, its values as shares of the settings' medians
    for each in sets:
        middle = float(np.median([entry.cell.value or 0.0 for entry in each]))
        for entry in each:
            usual[entry.algorithm].append((entry.cell.value or 0.0) / middle if middle else 1.0)
    for each in sets:
        positive = sorted(entry.cell.value for entry in each if entry.cell.value and entry.cell.value > 0)
        for entry in each:
            value = entry.cell.value or 0.0
            if len(positive) < 2 or value <= 0:
                continue
            least, most = positive[value == positive[0]], positive[-1 - (value == positive[-1])]
            low, high = least / 1.2, most * 1.2
            above = value > 4 * high and low <= value / 10 <= high
            # A weak baseline is low everywhere; a slip is low once.
            below = (
                value < low / 4
                and low <= value * 10 <= high
                and len(positive) > 3
                and np.median(usual[entry.algorithm]) > 0.4
            )
            if above or below:
                meant = value / 10 if above else value * 10
                yield flag("range", "decimal_point", "worth a look", table, [entry], {**about(entry), "meant": meant})


def check_grain(table: PaperTable, users: Mapping[str, int], *, one_target: bool = True) -> Iterator[Flag]:
    """Hit rates that no whole number of users gives; where most are such, the number of users is another one.

    With `one_target` recall is a hit rate.
    """
    counted = {"hitrate", "recall"} if one_target else {"hitrate"}
    by_dataset: dict[str, list[Entry]] = defaultdict(list)
    for entry in table.entries:
        if split_label(entry.metric)[0] in counted and not entry.condition and entry.cell.value:
            by_dataset[entry.dataset].append(entry)
    for dataset, entries in by_dataset.items():
        n = users.get(canonical(dataset)) or users.get("") or 0
        chance = n * 2 * min(entry.cell.half for entry in entries) / table.unit
        if not 0 < chance <= 0.8:  # above, nearly every printed value exists
            continue
        impossible = [entry for entry in entries if not _exists(entry, n, table.unit)]
        if len(entries) > 2 and len(impossible) > max(0.4 * (1 - chance) * len(entries), 2):
            facts = {"users": n, "dataset": dataset, "count": len(impossible), "of": len(entries)}
            yield flag("grain", "other_users", "worth a look", table, impossible[:1], facts)
        else:
            for entry in impossible:
                facts = {**about(entry), "users": n}
                yield flag("grain", "impossible_share", "certain if", table, [entry], facts, "users")


def _exists(entry: Entry, users: int, unit: float) -> bool:
    """Whether a whole number of users over all of them is printed so."""
    low, high = entry.cell.low / unit * users, entry.cell.high / unit * users
    return math.floor(high + 1e-9) >= math.ceil(low - 1e-9)
