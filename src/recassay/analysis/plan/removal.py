"""The fewest datasets that would have to be left out for another winner."""

from __future__ import annotations

import numpy as np

from recassay.core.types import FloatArray


def fewest_to_remove(ranks: FloatArray) -> tuple[int, list[int]] | None:
    """(the challenger, the datasets) whose removal brings the leader by mean rank behind the challenger; None where no
    removal does (the leader beats it everywhere).

    `ranks` are algorithms x datasets. For one challenger the sum of rank differences must change its sign, and taking
    the datasets that speak most for the leader first does that with the fewest: so the answer is exact.
    """
    leader = int(np.argmin(ranks.mean(axis=1)))
    best: tuple[int, list[int]] | None = None
    for challenger in range(len(ranks)):
        lead = ranks[challenger] - ranks[leader]
        if challenger == leader or not (lead < 0).any():
            continue
        order = np.argsort(-lead, kind="stable")
        left = lead.sum() - np.cumsum(lead[order])
        count = int(np.flatnonzero(left < 0)[0]) + 1
        if best is None or count < len(best[1]):
            best = (challenger, sorted(int(d) for d in order[:count]))
    return best
