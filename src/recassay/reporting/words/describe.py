"""A dataset at a glance, in words: what it holds, what a split leaves to judge, and what to think about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

MANY_REPEATS = 0.2
"""The share of repeated events from which on the task should be thought about."""

FEW_JUDGED = 200
"""Judged users below which intervals are wide."""

NAMES = {
    "Nu": "users",
    "Ni": "items",
    "Nr": "interactions (different pairs of user and item)",
    "SpaceSize": "cells of the matrix (users x items)",
    "Shape": "users per item of the catalogue",
    "Density": "density (share of the cells with an interaction)",
    "Rpu": "interactions per user",
    "Rpi": "interactions per item",
    "Giniu": "Gini coefficient of the users' activity",
    "Ginii": "Gini coefficient of the items' popularity",
    "APB": "average popularity bias of users",
    "StPB": "its standard deviation",
    "SkPB": "its skewness",
    "KuPB": "its excess kurtosis",
    "LTavg": "average share of long-tail items of users",
    "LTstd": "its standard deviation",
    "LTsk": "its skewness",
    "LTku": "its excess kurtosis",
}
"""The 18 characteristics of the papers in words."""


Seen: TypeAlias = Any
"""A `data.overview.Overview`: what judges results does not know the room that reads data."""


def size(name: str, seen: Seen) -> str:
    """How large a dataset is, and from when."""
    period = ""
    if seen.first_day is not None and seen.last_day is not None:
        days = (seen.last_day - seen.first_day).days + 1
        period = f", {seen.first_day} to {seen.last_day} ({days:,} day{'' if days == 1 else 's'})"
    again = f" {100 * seen.repeats / max(seen.events, 1):.0f} % of the rows repeat a user and item." * bool(
        seen.repeats
    )
    return f"{name}: {seen.events:,} events of {seen.users:,} users and {seen.items:,} items{period}.{again}"


def to_judge(trial: Mapping[str, Any]) -> str:
    """What the usual split would leave to judge, or why it cannot be made."""
    rule = {
        "global_time": "A split in time (the last 10 % of the events are the test)",
        "random": "A random split (10 % of the events are the test)",
    }[str(trial["split"])]
    if "refused" in trial:
        return f"{rule} is not possible: {trial['refused']}."
    return (
        f"{rule} leaves {trial['users']:,} users to judge, {100 * trial['share']:.0f} % of those trained on, with "
        f"{trial['events']:,} events; users and items with fewer than 5 events are left out."
    )


def advice(seen: Seen, trial: Mapping[str, Any] | None, *, timed: bool, bad: int = 0) -> list[str]:
    """What to think about before a study, the most serious first."""
    lines = []
    if trial is not None and trial.get("users", FEW_JUDGED) < FEW_JUDGED:
        lines.append(
            f"Few users would be judged ({trial['users']:,}): small differences will not be shown. A "
            "split for each user (`split='user_time'`) judges more."
        )
    if not timed:
        lines.append(
            "No times were read, so no split can keep the future out of training. If a column has them, name it: "
            "`columns={'timestamp': 'NAME'}`."
        )
    elif seen.first_day is None:
        lines.append("The times are positions and no clock: use the split leave_last_out or user_time.")
    if seen.repeats >= MANY_REPEATS * seen.events:
        lines.append(
            "Many events repeat a user and item. By default only new items are judged; to judge repeats, say "
            "`task='repeat'`."
        )
    weights = seen.weights
    if weights is not None and weights.kind == "ratings":
        lines.append(
            f"Ratings from {weights.least:g} to {weights.most:g} (median {weights.median:g}): all count as positive. "
            f"To leave low ones out, say `positive_threshold={weights.median:g}`."
        )
    if weights is not None and weights.kind == "counts":
        lines.append(
            f"Weights look like counts (median {weights.median:g}, at most {weights.most:,.0f}): algorithms that use "
            "weights take them as they are, and every event counts as positive."
        )
    if bad:
        lines.append(f"{bad:,} rows could not be read and are left out.")
    return lines
