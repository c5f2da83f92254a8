"""How much order a dataset has: sequential rules judged on histories as they are, and on shuffled ones.

Both are fitted: on the training events in their order, and on those of each user in a random one. Rules take seconds;
SASRec serves where it is asked for, on fewer events and with one random order.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from recassay.algorithms.sequential.rules import SequentialRules
from recassay.core.histories import Histories
from recassay.core.judgements import Judgements
from recassay.core.registry import algorithms
from recassay.core.seeds import derived_rng
from recassay.core.specs.specs import ProtocolSpec, Target
from recassay.core.types import FloatArray, IntArray, Interactions, Split
from recassay.metrics.judgements import folding, judge
from recassay.metrics.make import make_metric
from recassay.protocol.targets import judgements

SHUFFLES = 3
"""Random orders of every history; their values are averaged."""

MOST_USERS = 10_000
"""Users that are judged; of more, some are drawn."""

MOST_EVENTS = 3_000_000
"""Training events that rules are counted on; of more, those of some users, drawn at random."""

EPOCHS, LENGTH = 60, 50
"""Of SASRec."""

MOST_TRAINED = 100_000
"""Events that SASRec is trained on; of more, those of some users."""

METRIC = "ndcg@10"


@dataclass(frozen=True, slots=True)
class OrderAudit:
    """The mean value over users of `algorithm` on histories in order, and `shuffled`; `change` is the second less the
    first as a share of the first, `low` and `high` its 95 % interval over users."""

    algorithm: str
    metric: str
    target: Target
    users: int
    in_order: float
    shuffled: float
    change: float | None
    low: float | None
    high: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def audit_order(split: Split, spec: ProtocolSpec, *, trained: bool = False) -> OrderAudit | None:
    """The order of the test histories of a split whose target is asked for after histories; None without a judgement.

    Where `trained`, SASRec is judged instead of rules. Where each event is asked for, the last of each user is: the
    longest history has the most order to lose.
    """
    target: Target = "next" if spec.target == "next" else "last"
    asked = judgements(split, target, "test")
    rng = derived_rng(spec.seed, "order")
    train, most = split.refit(), MOST_TRAINED if trained else MOST_EVENTS
    algorithm = algorithms.get("SASRec")(epochs=EPOCHS, length=LENGTH) if trained else SequentialRules()
    if len(train) > most:
        kept = rng.random(train.n_users) < most / len(train)
        train, asked = train.take(kept[train.user]), asked.of_users(np.flatnonzero(kept).astype(np.int32))
    if len(asked) > MOST_USERS:
        asked = asked.of_users(rng.choice(asked.judged(), MOST_USERS, replace=False))
    if not len(asked):
        return None
    value = _values(algorithm, train, asked)
    orders = range(1 if trained else SHUFFLES)
    shuffled = np.mean(
        [_values(algorithm, _shuffled(train, rng), _shuffled_histories(asked, rng)) for _ in orders], axis=0
    )
    mean, change = float(value.mean()), shuffled - value
    error = 1.96 * float(change.std(ddof=1)) / len(change) ** 0.5 if len(change) > 1 else float("inf")
    known = mean > 0 and np.isfinite(error)
    return OrderAudit(
        algorithm=algorithm.name,
        metric=METRIC,
        target=target,
        users=len(value),
        in_order=mean,
        shuffled=float(shuffled.mean()),
        change=float(change.mean()) / mean if known else None,
        low=(float(change.mean()) - error) / mean if known else None,
        high=(float(change.mean()) + error) / mean if known else None,
    )


def _values(algorithm: Any, train: Interactions, asked: Judgements) -> FloatArray:
    model = algorithm.fit(train, rng=derived_rng(0, "order", "ties"))
    metric = make_metric(METRIC)
    judged, _ = judge(folding(model, algorithm.name), asked, [metric], train=train, depth=metric.k or 10)
    values: FloatArray = judged.per_user.get_column(metric.label).to_numpy()
    return values


def _shuffled(train: Interactions, rng: np.random.Generator) -> Interactions:
    """The same events of each user, in a random order of time."""
    assert train.time is not None
    item = train.item.copy()
    item[np.lexsort((train.time, train.user))] = train.item[_any_order(train.user, rng)]
    return replace(train, item=item)


def _shuffled_histories(asked: Judgements, rng: np.random.Generator) -> Judgements:
    """The same judgements after the same events in a random order; one judgement per user."""
    sequences, ends = asked.sequences, np.zeros(len(asked.users), dtype=np.int64)
    ends[asked.row] = asked.place
    owner = np.repeat(np.arange(len(asked.users)), sequences.lengths())
    known = np.flatnonzero(np.arange(len(owner)) < ends[owner])
    items = sequences.items.copy()
    items[known] = items[known[_any_order(owner[known], rng)]]
    return replace(asked, sequences=Histories(items, sequences.starts, sequences.time))


def _any_order(owner: Any, rng: np.random.Generator) -> IntArray:
    """The rows by owner, those of one owner in a random order."""
    order: IntArray = np.lexsort((rng.random(len(owner)), owner))
    return order
