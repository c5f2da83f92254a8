"""Letters that say which algorithms differ: two share one exactly where neither is shown to be better."""

from __future__ import annotations

from string import ascii_letters

import numpy as np

from recassay.core.types import BoolArray


def group_letters(differ: BoolArray) -> tuple[str, ...]:
    """The letters of each algorithm, from which pairs `differ` (algorithms x algorithms, the best first).

    Each letter is a group in which no pair differs. Groups are grown from the best algorithm down, from a pair that
    shares no letter yet, by the nearest algorithms that fit, until every pair that does not differ shares one. After z
    come A to Z, then a1, b1, ...
    """
    k = len(differ)
    alike = ~differ | np.eye(k, dtype=bool)
    shared = np.zeros((k, k), dtype=bool)
    groups: list[BoolArray] = []
    for i in range(k):
        while (open_ones := alike[i, i:] & ~shared[i, i:]).any():
            j = i + int(open_ones.argmax())
            group = np.zeros(k, dtype=bool)
            group[[i, j]] = True
            fits = alike[i] & alike[j] & ~group
            while fits.any():
                # The nearest that fits and brings a pair without a letter, else the nearest that fits.
                new = fits & (~shared[group] & alike[group]).any(axis=0)
                candidates = np.flatnonzero(new if new.any() else fits)
                one = candidates[np.abs(candidates - j).argmin()]
                group[one] = True
                fits &= alike[one]
                fits[one] = False
            groups.append(group)
            shared |= np.outer(group, group)
    names = [ascii_letters[g % 52] + (str(g // 52) if g >= 52 else "") for g in range(len(groups))]
    return tuple("".join(name for name, group in zip(names, groups, strict=True) if group[a]) for a in range(k))
