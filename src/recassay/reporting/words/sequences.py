"""Sentences on sequences: which event is asked for, what all algorithms know, and how much order there is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recassay.core.tables.labels import metric_name

TARGETS = {
    "next": "the next event of each user",
    "last": "the last event of each user",
    "each": "each held-out event in turn, after a history that grows",
}

LITTLE = 0.05
"""A share of the metric: where shuffling costs less, a dataset is not sequential."""


def target_words(protocol: Mapping[str, Any]) -> tuple[str, ...]:
    """What a study asks for, and what all of its algorithms know; nothing where all held-out events are one set."""
    target = protocol.get("target", "all")
    gap = protocol.get("sessions")
    sessions = (f"Logs are cut into sessions at gaps of more than {gap}; a session counts as a user.",) if gap else ()
    if target == "all":
        return sessions
    fed = (
        "Every algorithm is trained on the training and validation events and asked with the same history."
        if protocol.get("final_fit") != "train"
        else "Every algorithm is trained on the training events alone; validation events are in the history that it is "
        "asked with."
    )
    return (*sessions, f"The target is {TARGETS[target]}: one relevant item per judgement, averaged per user.", fed)


def order_words(dataset: str, order: Mapping[str, Any]) -> str:
    """What shuffling the histories costs on a dataset."""
    change = order.get("change")
    if change is None:
        return f"How much order {dataset} has is not known: {order['algorithm']} finds nothing there."
    low, high = order["low"], order["high"]
    kind = "so this dataset has order"
    if low > -LITTLE:
        kind = "so this dataset is not sequential"
    elif high > -LITTLE:
        kind = "so it is not clear whether this dataset is sequential"
    turn = "costs" if change <= 0 else "gains"
    return (
        f"Shuffling the histories of {dataset} {turn} {100 * abs(change):.0f} % of {metric_name(order['metric'])}, "
        f"{kind} (95 % interval of the change {100 * low:+.0f} % to {100 * high:+.0f} %; {order['algorithm']} "
        f"{order['in_order']:.4f} in order, {order['shuffled']:.4f} shuffled; {order['users']:,} users)."
    )


def share_words(audit: Mapping[str, Any]) -> str:
    """How many targets are in their history, repeat its last item, share their time with another event of their user
    or come before events that training has, and how many users training has not seen."""
    targets, before = audit["targets"], audit.get("share_of_test_before_train")
    unseen = targets["unseen_users"]
    new = f" Training has not seen {unseen:,} of the users: their history is all that is known." if unseen else ""
    later = f" Training has events from after {100 * before:.1f} % of the test events." if before else ""
    return (
        f"Of {targets['events']:,} targets {100 * targets['share_in_history']:.1f} % are in the history, "
        f"{100 * targets['share_last_again']:.1f} % are its last item again, and {100 * targets['share_tied']:.1f} % "
        f"share their time with another event of the user.{later}{new}"
    )
