"""Lists made elsewhere, judged on a split: the split they belong to, what they hold, and what they are worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.choices import Task
from recassay.core.errors import InputError, UsageError
from recassay.core.pairs import contained, pair_codes, sorted_codes
from recassay.core.seeds import derived_rng
from recassay.core.specs.specs import ProtocolSpec, ReadSpec
from recassay.core.tabular import stated
from recassay.core.types import Interactions, Split
from recassay.data.groups import read_propensity
from recassay.data.lists.judgements import read_judgements
from recassay.data.lists.read import ReadLists, read_lists
from recassay.data.parts import in_one_clock
from recassay.data.readers import read_interactions
from recassay.data.sources import open_dataset
from recassay.metrics.evaluate import EvaluationResult, evaluate
from recassay.metrics.lists import ListsRecord, recommendations_to_topk, without_prefix
from recassay.metrics.protocol import Metric
from recassay.metrics.weighted import PropensityTable
from recassay.protocol.apply import apply_protocol
from recassay.protocol.audit import own_future
from recassay.recommenders.references import refuse_lists_of_another_split, refuse_strange_items
from recassay.recommenders.split_folder import exported_protocol, open_split_folder, read_sidecar

_PLACED = ("rows", "unknown_users", "unknown_user_rows", "unknown_items", "unknown_item_rows", "examples")
"""What is said about the rows of a file of lists."""


@dataclass(frozen=True, slots=True, eq=False)
class JudgingSplit:
    """What lists are judged on. `fingerprint` is that of a split of ours, None for parts that were just given;
    `untrained` where there is no training data."""

    name: str
    split: Split
    fingerprint: str | None
    untrained: bool = False
    notes: tuple[str, ...] = ()

    @property
    def users(self) -> int:
        """How many users are judged."""
        return len(np.unique(self.split.test.user))


@dataclass(frozen=True, slots=True, eq=False)
class JudgedLists:
    """The lists of one algorithm, what of them was unknown, and what they are worth."""

    name: str
    """Name of the algorithm."""
    lists: ReadLists
    """The lists as they were read."""
    record: ListsRecord
    """What of them could not be placed."""
    result: EvaluationResult
    """What they are worth."""
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            **self.result.to_dict(),
            "lists": {
                "file": self.lists.where,
                **stated(self.lists, "format", "split"),
                **{name: getattr(self.record, name) for name in _PLACED},
            },
        }


def split_of_folder(folder: Path, task: Task, read: ReadSpec, allowed: tuple[str, ...]) -> JudgingSplit:
    """The split that lies in a folder: one that `recassay split` wrote, or files of parts."""
    meta = read_sidecar(folder)
    if meta is None:
        spec = ProtocolSpec.checked(split="given", filter="none", task=task, allow_leakage=allowed)
        split, notes = _judgeable(lambda spec: open_split_folder(folder, spec, read), spec)
        return JudgingSplit(folder.name, split, None, notes=notes)
    split = open_split_folder(folder, exported_protocol(meta), read)
    return JudgingSplit(str(meta.get("dataset", folder.name)), split, split.fingerprint)


def given_split(
    train: Any, test: Any, task: Task, threshold: float | None, read: ReadSpec, allowed: tuple[str, ...]
) -> JudgingSplit:
    """The split of training and test data that were given; judgements of other tools serve as test data."""
    judgements = read_judgements(test)
    name = Path(test).name.split(".")[0] if isinstance(test, str | Path) else "the data"
    notes: list[str] = []
    learned = None if train is None else open_dataset(train, read)
    notes += [] if learned is None else learned.notes()
    if judgements is not None:
        if learned is not None:
            for side, table in ((c.USER, learned.interactions.users), (c.ITEM, learned.interactions.items)):
                bare, prefix = without_prefix(judgements.get_column(side), table)
                judgements = judgements.with_columns(bare)
                notes += [f"test: the {side} ids were taken without their prefix {prefix!r}"] if prefix else []
        opened = read_interactions(judgements)
        held_out, unit = opened.interactions, opened.record.time_unit
    else:
        dataset = open_dataset(test, read)
        notes += dataset.notes()
        held_out, unit = dataset.interactions, dataset.reading.get("time_unit")
    if learned is None:
        return JudgingSplit(name, _untrained(held_out, threshold=threshold), None, untrained=True, notes=tuple(
            [*notes, "there is no training data: the audit could not be done, and items of training count as any other"]
        ))  # fmt: skip
    trained, held_out = in_one_clock([(learned.interactions, learned.reading.get("time_unit")), (held_out, unit)], name)
    for column in ("time", "weight"):
        if (getattr(trained, column) is None) != (getattr(held_out, column) is None):
            if column == "weight" and threshold is not None:
                raise UsageError("a threshold needs ratings in both parts", fix="leave the threshold out")
            without: dict[str, Any] = {column: None}
            trained, held_out = replace(trained, **without), replace(held_out, **without)
            if column == "time":
                notes.append("only one of the parts has times, so that no leakage in time could be seen")
    spec = ProtocolSpec.checked(
        split="given", filter="none", task=task, positive_threshold=threshold, allow_leakage=allowed
    )
    parts = trained, held_out.take(held_out.user < 0), held_out
    split, excused = _judgeable(lambda spec: apply_protocol(None, spec, given=parts), spec)
    return JudgingSplit(name, split, None, notes=(*notes, *excused))


def _judgeable(make: Callable[[ProtocolSpec], Split], spec: ProtocolSpec) -> tuple[Split, tuple[str, ...]]:
    """The given split, where other users' future may be trained on as long as no user's own is, and what to tell.

    Lists that exist are judged as they were made: a split per user is one of the usual kinds, and said to be one.
    """
    later = ("train_after_test", "train_after_valid")
    split = make(spec.model_copy(update={"allow_leakage": (*spec.allow_leakage, *later)}))
    excused = {finding["name"] for finding in split.audit["findings"]} & set(later) - set(spec.allow_leakage)
    if not excused:
        return split, ()
    if own_future(split):
        return make(spec), ()
    return split, ("the split follows time for each user by itself: the future of other users is in the training data",)


def _untrained(test: Interactions, threshold: float | None) -> Split:
    if threshold is not None and test.weight is not None:
        test = test.take(test.weight >= np.float32(threshold))
    nothing = test.take(test.user < 0)
    return Split(nothing, nothing, test, fingerprint="", counts={"test_interactions": len(test)},
                 audit={"findings": []}, final_fit="train")  # fmt: skip


def judge_lists(
    recommendations: Any, judging: JudgingSplit, metrics: Sequence[Metric], *, propensity: Any = None, seed: int
) -> tuple[JudgedLists, ...]:
    """Every list in `recommendations` judged by `metrics`; lists made for another split or other data raise.

    `propensity`, for weighted metrics, is a table of chances by item or by user and item.
    """
    chances = None if propensity is None else read_propensity(propensity, judging.split.train)
    named = _named(recommendations).items()
    return tuple(_judged(name, lists, judging, metrics, seed=seed, chances=chances) for name, lists in named)


def _named(recommendations: Any) -> dict[str, ReadLists]:
    """The lists by name; where files share a name, each takes the name of its file."""
    if isinstance(recommendations, Mapping):
        files = [file for name, source in recommendations.items() for file in read_lists(source, name=str(name))]
    elif isinstance(recommendations, list | tuple):
        paths = [Path(source).resolve() for source in recommendations if isinstance(source, str | Path)]
        twice = next((path for path in paths if paths.count(path) > 1), None)
        if twice is not None:
            raise UsageError("is given twice", where=str(twice), fix="give each file of lists once")
        files = [file for source in recommendations for file in read_lists(source)]
    else:
        files = read_lists(recommendations)
    if not files:
        raise UsageError("no lists were given", fix="give at least one file, frame or folder of lists")
    count = Counter(file.name for file in files)
    named: dict[str, ReadLists] = {}
    for place, file in enumerate(files, start=1):
        first = file.name if count[file.name] == 1 else f"{file.name} ({Path(file.where).name})"
        choices = (first, f"{file.name} ({file.where})", f"{first} {place}")
        named[next(name for name in choices if name not in named)] = file
    return named


def _judged(
    name: str,
    lists: ReadLists,
    judging: JudgingSplit,
    metrics: Sequence[Metric],
    seed: int,
    chances: PropensityTable | None = None,
) -> JudgedLists:
    split, notes = judging.split, list(lists.notes)
    if judging.fingerprint is not None:
        refuse_lists_of_another_split(lists, judging.fingerprint, "the split")
        if lists.split is None:
            notes.append("the lists do not name their split: that they were made for this one is taken on trust")
    elif lists.split is not None:
        notes.append(f"the lists name the split {lists.split[:12]}: give `split` to have that checked")
    train = split.refit()
    frame, repeated = _each_item_once(lists.frame)
    if repeated:
        notes.append(f"{repeated:,} rows repeat an item of their list and were left out; what stood below moved up")
    depth, rng = max((metric.k or 1 for metric in metrics), default=1), derived_rng(seed, "evaluate", "ties")
    record = recommendations_to_topk(frame, train, least=depth, rng=rng, where=lists.where)
    _refuse_other_data(record, split, lists.where, judging.untrained)
    if split.task == "new" and not judging.untrained:
        notes += _seen_note(record, train, lists.where)
    notes += [f"the {side} ids were taken without their prefix {prefix!r}" for side, prefix in record.prefixes.items()]
    result = evaluate(record.top, split.test, metrics, train=train, propensity=chances)
    return JudgedLists(name, lists, record, result, tuple(notes))


def _seen_note(record: ListsRecord, train: Interactions, where: str) -> list[str]:
    """How many rows cannot be hits, since their user has the item in training; lists of nothing else raise."""
    row, place = np.nonzero(record.top.items >= 0)
    codes = pair_codes(record.top.users[row], record.top.items[row, place], train.n_items)
    seen = int(np.count_nonzero(contained(codes, sorted_codes(train))))
    if not seen:
        return []
    if seen == len(codes):
        raise InputError(
            f"all {seen:,} rows that can be judged name an item that the user has in the training data",
            where=where,
            fix="recommend other items; where repeats are to be judged, the task is repeat",
        )
    return [f"{seen:,} of {len(codes):,} rows name an item that the user has in the training data: none can be a hit"]


def _each_item_once(frame: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The lists with the best place of each item alone, and how many rows that leaves out."""
    by = c.RANK if c.RANK in frame.columns else c.SCORE
    if by not in frame.columns or not frame.select(c.USER, c.ITEM).is_duplicated().any():
        return frame, 0
    ordered = frame.sort(by, descending=by == c.SCORE, nulls_last=True, maintain_order=True)
    once = ordered.unique([c.USER, c.ITEM], keep="first", maintain_order=True)
    return once, frame.height - once.height


def _refuse_other_data(record: ListsRecord, split: Split, where: str, untrained: bool) -> None:
    """Lists for none of the judged users, or mostly of items that the data does not have, are of other data."""
    train, test = split.train, split.test
    if not np.isin(record.top.users, test.user).any():
        raise InputError(
            f"none of the {len(np.unique(test.user)):,} judged users has a list in it",
            where=where,
            fix=f"these lists were made for other data; its users are called like {train.users[int(test.user[0])]!r}",
        )
    if not untrained:
        refuse_strange_items(record.unknown_item_rows, record.rows - record.unknown_user_rows, train, where)
