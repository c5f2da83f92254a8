"""The leakage audit: what a split lets a model know that it should not, by name and number.

The audit looks at the parts alone and trusts no split rule. Findings and what they mean:

| finding | what was found | refuses |
|---|---|---|
| train_after_test | training events later than the first test event | `global_time`, `rolling`, `given` |
| user_train_after_test | the same within one user | `user_time`, `leave_last_out` |
| train_after_valid | training events later than the first validation event | as train_after_test |
| test_pair_in_train, valid_pair_in_train | a pair to be predicted was trained on | unless the task is `repeat` |
| repeated_events | events repeat a user and item, in training or across its end | never |
| tied_with_train | a test event has the time of a training event of its user | never |
| users_of_one_time | all events of a user have one time, so that all train | never |
| cold_user_in_test, cold_item_in_test | a user or item only in the test part | always |
| cold_user_in_valid, cold_item_in_valid | the same of the validation part | always |
| empty_train, empty_test | nothing to learn from, nothing to judge by | always |
| empty_valid | nothing to tune by | never |
| tied_targets | at least 5 % of the targets share their time with another event of their user | never |
| few_test_users | so few users are judged that a mean over them says little | never |

A per-user or a random split leaks globally by construction: other users' future is trained on. Its name is
the admission, so `train_after_test` is reported with its share there and does not refuse it; a `given` split
carries no such name, so there it does. "Training" means what judges the part: `train` for validation,
`Split.refit` for the test. Repeats are counted on the events before any were made one; whether they left the test
or are judged is the protocol's `task`. Ties matter where a split follows time, or may have: our per-user splits keep
events of one user and time together, so that `tied_with_train` is found in given splits alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from recassay.core import blocks
from recassay.core.choices import Task
from recassay.core.errors import InputError, UsageError
from recassay.core.names import did_you_mean
from recassay.core.pairs import contained, pair_codes, sorted_codes
from recassay.core.specs.specs import SplitName
from recassay.core.types import BoolArray, IntArray, Interactions, Split
from recassay.core.words import listing
from recassay.protocol.ordering import used_ids
from recassay.protocol.repeats import RepeatCounts
from recassay.protocol.splits import SPLITS
from recassay.protocol.targets import TargetCounts

FINDINGS = (
    "train_after_test", "train_after_valid", "user_train_after_test", "test_pair_in_train", "valid_pair_in_train",
    "cold_user_in_test", "cold_item_in_test", "cold_user_in_valid", "cold_item_in_valid", "empty_train", "empty_test",
    "empty_valid", "few_test_users", "repeated_events", "tied_with_train", "users_of_one_time", "tied_targets",
)  # fmt: skip

FEW_USERS = 30
"""Below this the mean over users has no usable normal approximation: a rule of thumb, not a theorem."""

MANY_TIED = 0.05
"""A share of the targets: where fewer are tied, their order changes no conclusion."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found: `count` events, users or items; a finding that `refuses` must be allowed by its
    name."""

    name: str
    count: int
    refuses: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """What the audit of one split found; times are None for data without time, shares NaN-free (0 of nothing
    is 0).

    `share_of_users_evaluated` = users with a test event / users in the final training;
    `share_of_test_before_train` = test events earlier than some event of the final training / test events;
    `share_of_test_tied` = test events at the time of a training event of their own user / test events (None where
    the split does not follow time). `repeats` counts events that repeat a user and item (`repeats.RepeatCounts`).
    """

    split: SplitName
    scope: Literal["global", "per user", "given"]
    findings: tuple[Finding, ...]
    users_evaluated: int
    share_of_users_evaluated: float
    share_of_test_before_train: float | None
    last_train_time: int | None
    first_test_time: int | None
    task: Task
    repeats: RepeatCounts
    share_of_test_tied: float | None
    targets: TargetCounts | None = None
    """Of targets that are asked for one by one; None where the test events are one set."""

    def refusals(self, allowed: Sequence[str] = ()) -> tuple[Finding, ...]:
        """The findings that refuse the split, less those allowed by name."""
        return tuple(finding for finding in self.findings if finding.refuses and finding.name not in allowed)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        content = asdict(self) | {"findings": list(map(asdict, self.findings)), "repeats": self.repeats.to_dict()}
        if self.targets is None:
            del content["targets"]
            return content
        return content | {"targets": self.targets.to_dict()}


class _Seen(NamedTuple):
    """Which users and items occur."""

    user: BoolArray
    item: BoolArray


def audit_split(
    split: Split,
    kind: SplitName,
    *,
    repeats: RepeatCounts | None = None,
    one_time: int = 0,
    targets: TargetCounts | None = None,
) -> AuditRecord:
    """Audit the parts of `split`, made by the rule `kind`; nothing is raised (see `refuse_leakage`).

    What the parts no longer show is kept: `repeats`, counted before events were made one, and `one_time`, the users
    whose events all have one time. With `targets` the test events are asked for one by one, after a history: repeats
    are then part of it, and training need not know a user.
    """
    fit, test = split.refit_parts(), split.test
    in_train, in_valid, in_test = _seen(split.train), _seen(split.valid), _seen(test)
    in_fit = _Seen(*(np.logical_or.reduce(side) for side in zip(in_train, *map(_seen, fit[1:]), strict=True)))
    judged, trained = int(np.count_nonzero(in_test.user)), int(np.count_nonzero(in_fit.user))
    counted = trained if targets is None else int(np.count_nonzero(in_fit.user | in_test.user))
    counts = repeats or RepeatCounts()
    findings = [
        Finding(f"empty_{name}", 0, name != "valid", f"there is no event to {purpose}")
        for name, purpose in (("train", "learn from"), ("valid", "tune by"), ("test", "judge by"))
        if not len(getattr(split, name))
    ]

    def note(name: str, count: int, refuses: bool, sentence: str) -> None:
        if count:
            findings.append(Finding(name, count, refuses, sentence))

    # Time: training events later than what is judged.
    held_out = (("test", test, in_test, fit, in_fit), ("valid", split.valid, in_valid, (split.train,), in_train))
    for name, part, _, training, _ in held_out:
        later = _later_events(part, training)
        share = later / max(sum(map(len, training)), 1)
        sentence = f"{later:,} training events ({100 * share:.1f} %) are later than the first {name} event"
        note(f"train_after_{name}", later, kind in ("global_time", "rolling", "given"), sentence)
    if SPLITS[kind].scope == "per user" and SPLITS[kind].temporal:
        within = own_future(split)
        sentence = f"{within:,} training events are later than the first test event of their own user"
        note("user_train_after_test", within, True, sentence)
    # Repeated pairs, and users and items that were never trained on.
    for name, part, seen, training, _ in held_out if split.task == "new" and targets is None else ():
        known = _pairs_known(part, seen, training)
        sentence = f"{known:,} of {len(part):,} {name} events repeat a pair of user and item that was trained on"
        note(f"{name}_pair_in_train", known, True, sentence)
    for name, _, seen, _, learned in held_out:
        for side in _Seen._fields if targets is None else ("item",):
            cold = int(np.count_nonzero(getattr(seen, side) & ~getattr(learned, side)))
            note(f"cold_{side}_in_{name}", cold, True, f"{cold:,} {side}s of the {name} part were never trained on")
    # Order that the times do not settle, and too few users.
    if targets is not None and targets.tied >= MANY_TIED * targets.events:
        sentence = (
            f"{targets.tied:,} of {targets.events:,} targets ({100 * targets.tied / max(targets.events, 1):.1f} %) "
            "share their time with another event of their user: an order drawn from the seed decides what comes first"
        )
        note("tied_targets", targets.tied, False, sentence)
    few = judged if judged < FEW_USERS else 0
    note("few_test_users", few, False, f"only {judged} users are judged: a mean over them says little")
    if counts.train_repeats or counts.valid_repeats or counts.test_repeats:
        again = counts.train_repeats + counts.test_repeats
        findings.append(Finding("repeated_events", again, False, _repeats_in_words(counts, split.task)))
    tied = _tied_events(split) if SPLITS[kind].temporal or kind == "given" else None
    share_tied = None if tied is None else tied / max(len(test), 1)
    sentence = (
        f"{tied or 0:,} of {len(test):,} test events ({100 * (share_tied or 0):.1f} %) have the time of a training "
        "event of the same user: which came first is not known"
    )
    note("tied_with_train", tied or 0, False, sentence)
    sentence = (
        f"all events of {one_time:,} users ({100 * one_time / max(trained, 1):.1f} %) have one time: nothing tells "
        "their last from their first, so all of them train"
    )
    note("users_of_one_time", one_time, False, sentence)
    last_train, first_test, before = _times(fit, test)
    return AuditRecord(
        split=kind,
        scope=SPLITS[kind].scope,
        findings=tuple(findings),
        users_evaluated=judged,
        share_of_users_evaluated=judged / counted if counted else 0.0,
        share_of_test_before_train=before,
        last_train_time=last_train,
        first_test_time=first_test,
        task=split.task,
        repeats=counts,
        share_of_test_tied=share_tied,
        targets=targets,
    )


def _times(fit: Sequence[Interactions], test: Interactions) -> tuple[int | None, int | None, float | None]:
    """The last time of training, the first of the test, and the share of test events before the last of training."""
    last_train = max((int(part.time.max()) for part in fit if part.time is not None and len(part)), default=None)
    if test.time is None or not len(test):
        return last_train, None, None
    before = None if last_train is None else float(np.count_nonzero(test.time < last_train) / len(test))
    return last_train, int(test.time.min()), before


def check_allowed(allowed: Sequence[str]) -> None:
    """Raise `UsageError` for a name that is not one of `FINDINGS`."""
    for name in allowed:
        if name not in FINDINGS:
            raise UsageError(f"allow_leakage: there is no finding {name!r}", fix=did_you_mean(name, FINDINGS))


def refuse_leakage(record: AuditRecord, allowed: Sequence[str]) -> None:
    """Raise `InputError` for findings that refuse the split and are not allowed (`spec.allow_leakage`)."""
    refused = record.refusals(allowed)
    if refused:
        names = listing((repr(finding.name) for finding in refused), most=None)
        raise InputError(
            f"the {record.split} split is refused: " + "; ".join(f"{f.name} ({f.sentence})" for f in refused),
            fix=f"mend the data or the protocol, or accept it by name with `allow_leakage=[{names}]`",
        )


def _later_events(part: Interactions, training: Sequence[Interactions]) -> int:
    """How many training events are later than the first event of a part; 0 for data without time."""
    if part.time is None or not len(part):
        return 0
    first = part.time.min()
    return sum(int(np.count_nonzero(trained.time > first)) for trained in training if trained.time is not None)


def _first_test_times(split: Split) -> IntArray:
    """The time of each user's first test event; the largest number for a user without one."""
    first = np.full(split.test.n_users, np.iinfo(np.int64).max, dtype=np.int64)
    if split.test.time is not None:
        np.minimum.at(first, split.test.user, split.test.time)
    return first


def own_future(split: Split) -> int:
    """How many training events are later than the first test event of their own user; 0 for data without time."""
    first = _first_test_times(split)
    timed = [(part.user, part.time) for part in split.refit_parts() if part.time is not None]
    return sum(
        int(np.count_nonzero(time[block] > first[user[block]]))
        for user, time in timed
        for block in blocks.row_blocks(len(user))
    )


def _tied_events(split: Split) -> int | None:
    """How many test events have the time of an event of the final training of the same user; None without times."""
    test = split.test
    if test.time is None:
        return None
    first = _first_test_times(split)
    near = []
    for part in split.refit_parts():
        if part.time is None:
            continue
        for block in blocks.row_blocks(len(part)):
            user, time = part.user[block], part.time[block]
            rows = time >= first[user]
            near.append(pl.DataFrame({"user": user[rows], "time": time[rows]}))
    tested = pl.DataFrame({"user": test.user, "time": test.time})
    return tested.join(pl.concat(near).unique(), on=["user", "time"], how="semi").height if near else 0


def _repeats_in_words(counts: RepeatCounts, task: Task) -> str:
    shares = counts.to_dict()
    in_train = f"{counts.train_repeats:,} training events ({100 * shares['share_of_train']:.1f} %)"
    in_test = f"{counts.test_repeats:,} test events ({100 * shares['share_of_test']:.1f} %)"
    done = "and are judged" if task == "repeat" else "and left the test, since the task is to recommend new items"
    sentence = f"{in_train} repeat an earlier one; {in_test} repeat what their user had in training"
    return f"{sentence}, {done}" if counts.test_repeats else sentence


def _pairs_known(part: Interactions, seen: _Seen, fit: Sequence[Interactions]) -> int:
    """How many rows of `part` have their pair in `fit`, of which only rows with its users and items (`seen`) matter."""
    if not len(part):
        return 0
    wanted = sorted_codes(part)
    known = np.zeros(len(part), dtype=np.bool_)
    for trained in fit:
        if not blocks.in_order(trained.user, trained.item):
            known |= contained(wanted, sorted_codes(trained))
            continue
        for block in blocks.user_blocks(trained.user):
            user, item = trained.user[block], trained.item[block]
            rows = seen.user[user] & seen.item[item]
            codes = pair_codes(user[rows], item[rows], trained.n_items)
            if len(codes):
                here = slice(*np.searchsorted(wanted, [codes[0], codes[-1] + 1]).tolist())
                known[here] |= contained(wanted[here], codes)
    return int(np.count_nonzero(known))


def _seen(part: Interactions) -> _Seen:
    return _Seen(used_ids(part.user, part.n_users), used_ids(part.item, part.n_items))
