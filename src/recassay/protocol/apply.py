"""From raw interactions to a split: threshold, filter, split, cold removal, repeats, dense ids, audit, fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from recassay.core.blocks import kept_rows, row_blocks, user_blocks
from recassay.core.errors import InputError, UsageError
from recassay.core.interactions import LAST
from recassay.core.repeated import merged, repeats
from recassay.core.seeds import derived_rng
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.types import BoolArray, IdArray, IntArray, Interactions, Split
from recassay.protocol.audit import audit_split, check_allowed, refuse_leakage
from recassay.protocol.filters import frequent_rows, positive_rows
from recassay.protocol.ordering import canonical, pair_keys, renumber, used_ids
from recassay.protocol.repeats import RepeatCounts, repeats_among, seen_rows, users_of_one_time
from recassay.protocol.sessions import cut_sessions
from recassay.protocol.splits import OUTSIDE, SPLITS, TEST, TRAIN, VALID, Labels, split_labels
from recassay.protocol.splits import given as given_split
from recassay.protocol.targets import count_targets

FINGERPRINT_VERSION = "recassay split 2"
"""Part of every fingerprint: raise it when the same data and protocol come to give another split."""

_COLUMNS = {"user": "<i4", "item": "<i4", "weight": "<f4", "time": "<i8"}
"""What events consist of, and the bytes of each in a fingerprint."""

GivenParts = tuple[Interactions, Interactions, Interactions]


def apply_protocol(
    interactions: Interactions | None,
    spec: ProtocolSpec,
    *,
    given: GivenParts | None = None,
    overwrite: bool = False,
) -> Split:
    """The split of `interactions` under `spec`; with `split = "given"`, of the three parts in `given`
    instead.

    With `overwrite` the columns of `interactions` are used up: they are sorted and divided where they lie, which takes
    half the memory, and the caller may not look at them again.

    The steps (KDD'24, 3.1 and 3.3), each counted in `Split.counts`:

    1. the positive threshold, the share of users, then the minimum counts (`filters`), for a given split over its parts
       together;
    2. the split rule (`splits`), on events: several of one user and item are still several;
    3. cold removal: events of users or items without training events leave validation and test. Validation is
       judged by a model of `train`, the test by one of `Split.refit()`: `final_fit` says whether that holds
       the validation events (all of them, cold ones too) or not;
    4. repeats: where the task is to recommend `new` items, events of pairs that the judged model was trained on leave
       validation and test; where it is `repeat` consumption they stay. Then each part makes the events of one
       pair one (`core.repeated`), so that no event of a later part takes away or changes one of an earlier;
       Where `target` is not `all`, events stay events, repeats stay in their part, and users that training has not
       seen stay, too: see `targets`;
    5. dense ids: only users and items of the final training keep an id, in the order of their ids' text; the
       rows of each part are in the order of user, item and time (where `target` is not `all`: of user and
       time, equal times in an order drawn from the seed);
    6. the leakage audit (`audit`): a finding that refuses the split raises `InputError` unless
       `spec.allow_leakage` names it.

    The fingerprint is the SHA-256 of the raw events in canonical order, what their repeats mean, the spec, and the part
    each event went to. It does not depend on the order of rows, the numbering of ids or the type an id was read as.
    """
    check_allowed(spec.allow_leakage)
    data, labels = _input(interactions, spec, given, overwrite)
    counts = {"input_interactions": len(data), "input_users": data.n_users, "input_items": data.n_items}
    digest = hashlib.sha256(f"{FINGERPRINT_VERSION}\n{spec.content_hash()}\n{data.repeated}\n".encode())
    _feed(digest, data)
    if labels is not None:
        digest.update(labels.data)

    # Step 1: sessions, the threshold, the share of users, the minimum counts.
    if spec.target != "all" and data.time is None:
        raise InputError(
            f"target = {spec.target!r} asks what comes after a history, and these interactions have no timestamps",
            fix="read the column of timestamps (`position` where it is not a clock), or use target = 'all'",
        )
    if spec.session_seconds is not None:
        data = cut_sessions(data, spec.session_seconds)
        counts["sessions"] = data.n_users
    kept = positive_rows(data, threshold=spec.positive_threshold)
    counts["below_threshold"] = len(data) - int(np.count_nonzero(kept))
    if spec.user_share < 1:
        drawn = derived_rng(spec.seed, "share of users").random(data.n_users) < spec.user_share
        kept &= drawn[data.user]
    kept = frequent_rows(data, spec, kept)
    if spec.positive_threshold is not None:
        data = replace(data, weight=None, repeated=data.repeated if data.repeated.name == "first" else LAST)
    elif data.weight is None and data.repeated.name == "sum":
        data = replace(data, weight=np.ones(len(data), dtype=np.float32))
    if not kept.all():
        data = _in_place(data, kept)
        labels = None if labels is None else labels[kept]
    if not len(data):
        raise _nothing_left(spec, counts["input_interactions"], counts["below_threshold"])

    # Steps 2 to 5: the split rule, cold removal, repeats, dense ids.
    if labels is None:
        labels = split_labels(data, spec)
    digest.update(np.packbits(kept).data)
    digest.update(labels.data)
    inside = labels != OUTSIDE
    if not inside.all():
        counts["outside_the_window"] = len(data) - int(np.count_nonzero(inside))
        data, labels = _in_place(data, inside), labels[inside]
    by_user = SPLITS[spec.split].scope == "per user" and SPLITS[spec.split].temporal
    one_time = users_of_one_time(data) if by_user else 0
    if by_user and not (labels == TEST).any() and "empty_test" not in spec.allow_leakage:
        raise _no_last_event(data, spec, one_time)
    split, repeat_counts = _parts(data, labels, spec)
    del data, labels, kept

    # Step 6: the audit.
    targets = None if spec.target == "all" else count_targets(split)
    record = audit_split(split, spec.split, repeats=repeat_counts, one_time=one_time, targets=targets)
    refuse_leakage(record, spec.allow_leakage)
    return replace(split, fingerprint=digest.hexdigest(), counts=counts | split.counts, audit=record.to_dict())


def _nothing_left(spec: ProtocolSpec, total: int, below: int) -> InputError:
    if not total:
        return InputError("there are no interactions to split", fix="give data with at least one row")
    undrawn = ", or to users that were not drawn" if spec.user_share < 1 else ""
    return InputError(
        f"none of {total:,} interactions is left: {below:,} are below positive_threshold, "
        f"{total - below:,} belong to items or users with too few{undrawn}",
        fix="lower the threshold, min_item_interactions or min_user_interactions, or use filter = 'none'",
    )


def _no_last_event(data: Interactions, spec: ProtocolSpec, one_time: int) -> InputError:
    """Why no user's last event can be held out; `one_time` users have several events, all at one time."""
    users = "users" if spec.session_seconds is None else f"sessions of {spec.sessions}"
    count = len(np.unique(data.user))
    what, fix = f"each of the {count:,} {users} has one event", "choose a longer gap for sessions"
    if spec.session_seconds is None:
        fix = "name the column that says which events belong together (a customer or a session) as user"
        fix += "" if spec.target != "all" else ", or choose `split='global_time'`"
    if one_time:
        what = f"all events of a user have one time ({one_time:,} of {count:,} {users} have several, the others one)"
        fix = "read a finer column of time (`position` where rows stand in order), or choose `split='global_time'`"
    return InputError(f"no user has a last event to hold out ({spec.split}): {what}", fix=fix)


def _input(
    interactions: Interactions | None, spec: ProtocolSpec, given: GivenParts | None, overwrite: bool
) -> tuple[Interactions, Labels | None]:
    """The raw events in canonical order, in columns that nobody else needs; with labels where the split was given."""
    if spec.split == "given":
        if given is None or interactions is not None:
            raise UsageError(
                "a given split is made of three parts and nothing else",
                fix="pass given=(train, valid, test), and None for the interactions",
            )
        train, valid, test = (canonical(part) for part in given)
        return given_split(train, valid, test)
    if interactions is None or given is not None:
        raise UsageError(f"split {spec.split!r} divides interactions", fix="pass interactions, and no given parts")
    return canonical(interactions, overwrite=overwrite), None


def _parts(data: Interactions, labels: Labels, spec: ProtocolSpec) -> tuple[Split, RepeatCounts]:
    """Cold removal, repeats and dense ids, with the counts of each."""
    consolidated = spec.final_fit == "train+valid"
    users = _presence(data.user, labels, data.n_users)
    items = _presence(data.item, labels, data.n_items)
    fit_users = users[TRAIN] | users[VALID] if consolidated else users[TRAIN]
    fit_items = items[TRAIN] | items[VALID] if consolidated else items[TRAIN]
    valid, test = np.flatnonzero(labels == VALID), np.flatnonzero(labels == TEST)
    warm_valid, warm_test = items[TRAIN][data.item[valid]], fit_items[data.item[test]]
    ordered = spec.target != "all"
    keys = pair_keys(data, spec.seed, "equal times") if ordered else None
    if ordered:  # a history says who is asked for, so that training need not know the user
        judged_users = np.union1d(data.user[test[warm_test]], data.user[valid[warm_valid]])
        kept_users = np.union1d(np.flatnonzero(fit_users), judged_users)
    else:
        warm_valid &= users[TRAIN][data.user[valid]]
        warm_test &= fit_users[data.user[test]]
        kept_users = np.flatnonzero(fit_users)
    again = repeats(data)
    seen_valid, seen_test = seen_rows(again, labels, valid, test, consolidated)
    judged_valid, judged_test = warm_valid, warm_test
    if spec.task == "new" and not ordered:
        judged_valid, judged_test = warm_valid & ~seen_valid, warm_test & ~seen_test

    kept_items = np.flatnonzero(fit_items)
    dense = replace(data, users=data.users.gather(kept_users), items=data.items.gather(kept_items))
    user_ids, item_ids = renumber(kept_users, data.n_users), renumber(kept_items, data.n_items)

    def part(rows: IntArray) -> Interactions:
        taken = dense.take(rows)
        taken = replace(taken, user=user_ids[taken.user], item=item_ids[taken.item])
        if keys is not None and taken.time is not None:
            return taken.take(np.lexsort((keys[rows], taken.time, taken.user)))
        return taken if again is None else merged(taken)

    counts = _counted("filtered", len(data), np.logical_or.reduce(users), np.logical_or.reduce(items))
    held_out = part(valid[judged_valid]), part(test[judged_test])
    unjudged = part(valid[~judged_valid]) if consolidated else None
    split = Split(
        train=_training(dense, labels, part),
        valid=held_out[0],
        test=held_out[1],
        fingerprint="",
        unjudged_valid=unjudged,
        final_fit=spec.final_fit,
        task=spec.task,
        overlapping=again is not None and not ordered,
    )
    counts |= _counted("train", len(split.train), users[TRAIN], items[TRAIN])
    cold = (
        (VALID, "valid", warm_valid, users[TRAIN], items[TRAIN]),
        (TEST, "test", warm_test, fit_users, fit_items),
    )
    for label, name, warm, known_users, known_items in cold:
        left = int(np.count_nonzero(~warm))
        counts |= _counted(f"{name}_cold", left, users[label] & ~known_users, items[label] & ~known_items)
        held: Interactions = getattr(split, name)
        counts |= _counted(name, len(held), used_ids(held.user, held.n_users), used_ids(held.item, held.n_items))
    fit = labels <= (VALID if consolidated else TRAIN)
    repeat_counts = RepeatCounts(
        train_events=int(np.count_nonzero(fit)),
        train_repeats=0 if again is None else repeats_among(again, fit),
        valid_events=int(np.count_nonzero(warm_valid)),
        valid_repeats=int(np.count_nonzero(seen_valid)),
        test_events=int(np.count_nonzero(warm_test)),
        test_repeats=int(np.count_nonzero(seen_test)),
    )
    counts["train_merged"] = int(np.count_nonzero(labels == TRAIN)) - len(split.train)
    for name, judged, warm in (("valid", judged_valid, warm_valid), ("test", judged_test, warm_test)):
        counts[f"{name}_seen"] = int(np.count_nonzero(warm)) - int(np.count_nonzero(judged))
        counts[f"{name}_merged"] = int(np.count_nonzero(judged)) - len(getattr(split, name))
    return replace(split, counts=counts), repeat_counts


def _in_place(data: Interactions, rows: BoolArray) -> Interactions:
    """The rows of a mask, in the columns that were there."""
    columns: dict[str, Any] = {name: getattr(data, name) for name in _COLUMNS}
    kept: dict[str, Any] = {name: kept_rows(column, rows) for name, column in columns.items() if column is not None}
    return replace(data, **kept)


def _training(data: Interactions, labels: Labels, part: Callable[[IntArray], Interactions]) -> Interactions:
    """What `part` makes of the training rows, at the front of the columns that `data` has."""
    end = 0
    for block in list(user_blocks(data.user)):
        taken = part(np.flatnonzero(labels[block] == TRAIN) + block.start)
        for name in _COLUMNS:
            if getattr(taken, name) is not None:
                getattr(data, name)[end : end + len(taken)] = getattr(taken, name)
        end += len(taken)
    return data.take(slice(0, end))


def _presence(ids: IdArray, labels: Labels, size: int) -> BoolArray:
    """`presence[label, id]`: whether the id occurs in rows of that label."""
    presence = np.zeros((3, size), dtype=np.bool_)
    for block in row_blocks(len(ids)):
        presence[labels[block], ids[block]] = True
    return presence


def _counted(name: str, events: int, users: BoolArray, items: BoolArray) -> dict[str, int]:
    return {
        f"{name}_interactions": events,
        f"{name}_users": int(np.count_nonzero(users)),
        f"{name}_items": int(np.count_nonzero(items)),
    }


def _feed(digest: Any, data: Interactions) -> None:
    """Add the events and their ids to `digest`; the lengths of ids keep ["ab", "c"] and ["a", "bc"] apart."""
    for table in (data.users, data.items):
        text = table.cast(pl.String)
        digest.update(f"{text.len()}\n".encode())
        digest.update(np.ascontiguousarray(text.str.len_bytes().to_numpy(), dtype="<u4"))
        for rows in row_blocks(text.len()):
            digest.update("".join(text[rows].to_list()).encode())
    for name, dtype in _COLUMNS.items():
        column = getattr(data, name)
        digest.update(f"{name} {-1 if column is None else len(column)}\n".encode())
        if column is not None:
            digest.update(np.ascontiguousarray(column, dtype=dtype))
