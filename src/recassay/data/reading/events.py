"""Event data (view, cart, purchase): what an event of each type weighs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from recassay.core.blocks import count_ids, looked_up
from recassay.core.interactions import RepeatRule
from recassay.core.types import Float32Array, IdArray


def inverse_frequency(codes: IdArray, names: pl.Series) -> tuple[dict[str, float], dict[str, int]]:
    """KDD'24 appendix A.1, step 1: the weight of a type is all events / events of that type (eq. 1); and the latter."""
    occurring = zip(names, count_ids(codes, names.len()).tolist(), strict=True)
    counts = {name: count for name, count in occurring if count}
    return {name: len(codes) / count for name, count in counts.items()}, counts


def weights_of_rows(codes: IdArray, names: pl.Series, weights: Mapping[str, float]) -> Float32Array:
    """The weight of each row's event type; a type that no row has may have none."""
    return looked_up(np.array([weights.get(name, np.nan) for name in names], dtype=np.float32), codes)


def bounded_rule(weights: Mapping[str, float]) -> RepeatRule:
    """KDD'24 appendix A.1, step 2: one event for each user and item, of one event type, with a bounded weight.

    The appendix reads: "Aggregate events by pairing users and items, retaining only the most frequent event
    type. We establish weight boundaries to ensure that events of a lesser significance never outnumber those
    of greater importance." It gives no formula. We read it so. A type is the more significant the greater its
    weight w(t), that is, the rarer it is. Within a pair the n(t) events of a type weigh

        b(t) = min(n(t) w(t), w(t+)),  strictly below w(t+), the next greater weight of any type in the data;

    the most significant type has no bound. The pair retains the type with the largest b(t), with weight b(t)
    and the time of that type's latest event. "Most frequent" is thus counted in weighted events; by the
    bounds no number of views outweighs one purchase, neither within a pair nor between pairs. (Counting raw
    events instead would drop every purchase that was preceded by two views, against the second sentence.)
    Types of equal weight are one type: their events are counted together. The rule needs no event types beside the
    weights, so a split can part the events first and merge them inside each part.
    """
    return RepeatRule("bounded", tuple(sorted({float(np.float32(weight)) for weight in weights.values()})))
