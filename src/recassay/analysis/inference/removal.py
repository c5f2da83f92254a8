"""The fewest datasets that would have to be left out for another winner."""

from __future__ import annotations

import numpy as np

from recassay.core import ties
from recassay.core.types import FloatArray


def fewest_to_remove(ranks: FloatArray) -> tuple[int, list[int]] | None:
    """(who then leads, the datasets) whose removal brings the leader by mean rank behind another; None where no removal
    does: it is behind nobody on any dataset.

    `ranks` are algorithms x datasets. For one challenger the sum of rank differences must change its sign, and taking
    the datasets that speak most for the leader first does that with the fewest: so the number is exact. Where another
    algorithm than the challenger is then first, that one is named.
    """
    leader = int(np.argmin(ranks.mean(axis=1)))
    fewest: list[int] | None = None
    for challenger in range(len(ranks)):
        lead = ranks[challenger] - ranks[leader]
        if challenger == leader or not (lead < 0).any():
            continue
        order = np.argsort(-lead, kind="stable")
        left = lead.sum() - np.cumsum(lead[order])
        count = int(np.flatnonzero(left < 0)[0]) + 1
        if fewest is None or count < len(fewest):
            fewest = sorted(int(d) for d in order[:count])
    if fewest is None:
        return None
    kept = np.delete(ranks, fewest, axis=1).mean(axis=1)
    return int(np.flatnonzero(~ties.beats(kept, kept.min()))[0]), fewest
