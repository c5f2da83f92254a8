"""What of a bundle can be held against the board and against itself: the first thing that does not agree, in one line.

Hashes catch a careless change of a bundle. These checks ask what a careful forger must keep consistent: the cells
with the seal and the rules of the board, values with those of users, parameters with trials, lists with coverage, and,
where the data are at hand, lists with the truth. What is left is for reruns.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from math import isclose
from typing import Any

import numpy as np
from pydantic import ValidationError

from recassay.core.errors import InputError
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.specs.study import LIST_DEPTH, TuningSpec
from recassay.core.tables.labels import facts_of
from recassay.core.types import FloatArray, Split, TopK
from recassay.data.published.benchmark import Benchmark
from recassay.metrics.evaluate import evaluate
from recassay.recommenders.bundle.form import Bundle, BundleCell, sampled_places
from recassay.recommenders.bundle.make import benchmark_hash, by_name, list_depth, user_metrics
from recassay.recommenders.plan import CELL_VERSION, CellSpec
from recassay.recommenders.seal import digest, valid_seal, without_checksum
from recassay.store.records import CellRecord

TOLERANCE = 2e-6
"""Relative and absolute difference between a mean and that of 32-bit floats."""
SLACK = 1.5
"""How much longer than the budget a cell may take: processes begin and end."""


def check_bundle(bundle: Bundle, shipped: Benchmark, items: Mapping[str, int]) -> dict[int, CellSpec]:
    """The specs of the cells by their place; `InputError` for the first thing that does not agree.

    `items` is how many items the datasets have, where that is known.
    """
    told = bundle.content
    if told.benchmark != shipped.name or told.benchmark_sha256 != benchmark_hash(shipped):
        raise bundle.unsound(
            f"it is of a benchmark {told.benchmark!r} whose rules are not those of {shipped.name!r} here"
        )
    specs = {place: _spec(bundle, cell) for place, cell in enumerate(told.cells)}
    for fault in _seal_faults(bundle, specs):
        raise bundle.unsound(fault)
    named = list(zip(told.cells, specs.values(), strict=True))
    places = [(spec.dataset, spec.fold, spec.seed) for spec in specs.values()]
    if len(set(places)) < len(places):
        raise bundle.unsound("two of its cells are the same one")
    searches: dict[str, list[BundleCell]] = {}
    for cell, spec in named:
        searches.setdefault(spec.tuning_id, []).append(cell)
    for place, (cell, spec) in enumerate(named):
        sharing = searches[spec.tuning_id]
        which = f"{spec.dataset}{'' if spec.fold is None else f' (window {spec.fold})'} with seed {spec.seed}"
        for fault in (*_rule_faults(cell, spec, shipped), *(_trial_faults(cell, spec, shipped, sharing))):
            raise bundle.unsound(f"{which}: {fault}")
        if cell.status == "done":
            for fault in _value_faults(bundle, place, spec, items.get(spec.dataset)):
                raise bundle.unsound(f"{which}: {fault}")
    whole = {name for name, one in shipped.datasets.items() if one.windows is None}
    for cell, spec in named:
        if cell.status == "done" and spec.dataset in whole and cell.judged != shipped.datasets[spec.dataset].judged:
            raise bundle.unsound(f"{spec.dataset}: it says that {cell.judged} users were judged; on the board it is "
                                 f"{shipped.datasets[spec.dataset].judged}")  # fmt: skip
    if not any(cell.status == "done" for cell in told.cells):
        raise bundle.unsound("none of its cells has a value")
    return specs


def _spec(bundle: Bundle, cell: BundleCell) -> CellSpec:
    try:
        spec = CellSpec.model_validate(cell.spec)
    except (ValidationError, RecursionError):
        raise bundle.unsound("the plan of a cell is not one") from None
    if spec.id != cell.id:
        raise bundle.unsound(f"the plan of {spec.dataset} is not that of its cell")
    return spec


def _seal_faults(bundle: Bundle, specs: Mapping[int, CellSpec]) -> Iterator[str]:
    """Whether the plan was sealed, and these are its cells."""
    told, seal = bundle.content, bundle.content.seal
    try:
        valid_seal(seal, bundle.file)
    except InputError as error:
        yield f"its seal cannot be used: {error.what}"
        return
    if seal.get("sha256") != digest(without_checksum(seal)):
        yield "its seal was changed after it was made: the checksum differs"
    ids = sorted(spec.id for spec in specs.values())
    if seal["cells"] != {"count": len(ids), "digest": digest(ids)}:
        yield "its cells are not those of its seal: cells were left out, added or run under another plan"
    parts = {(spec.algorithm, spec.code, repr(sorted(spec.settings.items()))) for spec in specs.values()}
    if len(parts) > 1 or next(iter(parts))[0] != told.algorithm:
        yield "its cells are not all of one algorithm with one code and the same settings"
    algorithms = {name: one.get("code") for name, one in (seal["plan"].get("algorithms") or {}).items()}
    if algorithms != {told.algorithm: specs[0].code}:
        yield "the code of its algorithm is not that of its seal"
    stated = (seal["plan"].get("tuning"), seal["plan"].get("metrics"), sorted(seal["plan"].get("datasets") or {}))
    if stated != (
        specs[0].tuning.model_dump(mode="json"),
        list(specs[0].metrics),
        sorted({s.dataset for s in specs.values()}),
    ):
        yield "the plan of its seal is not that of its cells"
    done = seal.get("done_before")
    if not isinstance(done, int) or not 0 <= done <= len(ids) or seal["recassay_seal"] < 1:
        yield "its seal does not say how many cells were done"
    if seal.get("recassay") != told.versions.get("recassay"):
        yield f"it was sealed with RecAssay {seal.get('recassay')} and run with {told.versions.get('recassay')}"
    made = _time(seal["made"])
    for cell in told.cells:
        finished = _time(cell.finished)
        if made is None or finished is None:
            yield "a time in it cannot be read"
        elif finished < made and not seal.get("done_before"):
            yield "a cell was finished before the plan was sealed, and the seal does not say so"


def _rule_faults(cell: BundleCell, spec: CellSpec, shipped: Benchmark) -> Iterator[str]:
    """Whether a cell is one of the board: its split, protocol, metrics, tuning and seed."""
    dataset = shipped.datasets.get(spec.dataset)
    if dataset is None:
        yield "the board has no such dataset"
        return
    protocol = ProtocolSpec.model_validate(dataset.protocol)
    if dataset.windows is not None:
        protocol = protocol.model_copy(update={"fold": spec.split.protocol.fold})
    if spec.split.protocol != protocol:
        yield "its protocol is not that of the board"
    if spec.metrics != shipped.metrics or spec.tuning != TuningSpec.model_validate(shipped.tuning):
        yield "its metrics or its tuning are not those of the board"
    if (spec.version, spec.comper) != (CELL_VERSION, None) or spec.depth != max(
        LIST_DEPTH, list_depth(shipped.metrics)
    ):
        yield "it was made by another version of RecAssay, whose cells are others"
    if spec.seed not in shipped.seeds:
        yield f"the board has no seed {spec.seed}"
    if cell.status != "done":
        return
    fold = spec.split.protocol.fold
    known = dataset.split if dataset.windows is None else dict(enumerate(dataset.windows)).get(fold)
    if cell.split != known:
        yield "the hash of its split is not that of the board: other data"


def _trial_faults(cell: BundleCell, spec: CellSpec, shipped: Benchmark, sharing: Sequence[BundleCell]) -> Iterator[str]:
    """Whether parameters, validation and seconds are those of the trials; `sharing` are the cells with this search.

    The seconds of a search that several seeds share are part of one of their cells, and of none after an interruption.
    """
    limit = shipped.budget.get("seconds_per_cell")
    searched_here = [trial.seconds for trial in cell.trials] if len(sharing) == 1 else []
    spent = [cell.seconds_fit, cell.seconds_predict, *searched_here]
    if any(other.trials != cell.trials for other in sharing):
        yield "its trials are not those of the other seeds, which share its search"
    if cell.status == "done" and (None in (*spent[:2], cell.seconds, cell.memory) or cell.memory == 0):
        yield "it does not say what it cost"
    if cell.seconds is not None and sum(took or 0.0 for took in spent) > 1.1 * cell.seconds + 0.1:
        yield "its parts took longer than the whole"
    if limit is not None and (cell.seconds or 0.0) > SLACK * limit + 10:
        yield f"it took {cell.seconds:.0f} s, and the board allows {limit:g}"
    if len(cell.trials) > spec.tuning.trials:
        yield f"it had {len(cell.trials)} trials, and the board allows {spec.tuning.trials}"
    if cell.status != "done":
        return
    complete = [trial for trial in cell.trials if trial.state == "complete" and trial.value is not None]
    best = max(complete, key=lambda trial: trial.value or 0.0, default=None)
    if (best is None) != (cell.validation is None) or (best is not None and best.value != cell.validation):
        yield "its validation is not that of its best trial"
    elif best is not None and any(cell.parameters.get(key) != value for key, value in best.parameters.items()):
        yield "its parameters are not those of its best trial"
    fixed = {key: value for key, value in spec.settings.items() if isinstance(value, (bool, int, float, str))}
    if any(cell.parameters.get(key, value) != value for key, value in fixed.items()):
        yield "its parameters are not its settings"
    searched = best is not None and (len(cell.trials) > 1 or len(best.parameters) > 1)
    late = spec.tuning.seconds is not None and sum(trial.seconds for trial in cell.trials) > spec.tuning.seconds
    if searched and len(cell.trials) < spec.tuning.trials and not late:
        yield f"of its {spec.tuning.trials} trials {spec.tuning.trials - len(cell.trials)} are gone"


def _value_faults(bundle: Bundle, place: int, spec: CellSpec, items: int | None) -> Iterator[str]:
    """Whether values lie within their bounds and are the means of those of users, and lists are lists."""
    cell, labels = bundle.content.cells[place], user_metrics(spec.metrics)
    if set(cell.metrics) != set(spec.metrics):
        yield "its metrics are not those of the board"
        return
    scores, lists = bundle.users(place), bundle.lists(place)
    if len(scores) != len(labels) or lists.shape[1] != list_depth(spec.metrics):
        yield "it does not have a value per user and metric, or lists of the length that metrics look at"
        return
    for label, value in cell.metrics.items():
        low, high = _bounds(label)
        if value is None and label not in labels:
            yield f"it has no {label}"
        elif value is not None and not low <= value <= high:
            yield f"{label} is {value:.6g}, and it lies between {low:g} and {high:g}"
    by_label = dict(zip(labels, scores, strict=True))
    for label, scored in by_label.items():
        low, high = _bounds(label)
        known = scored[~np.isnan(scored)]
        if np.isinf(scored).any() or (known < low - TOLERANCE).any() or (known > high + TOLERANCE).any():
            yield f"a user's {label} does not lie between {low:g} and {high:g}"
            return
        value, mean = cell.metrics[label], known.mean() if len(known) else None
        if (value is None) != (mean is None) or (
            value is not None and mean is not None and not isclose(value, mean, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        ):
            yield f"{label} is {value}, and the mean of its users' values is {mean}"
    yield from _unlike_hits(by_label)
    shown = lists[:, : list_depth(spec.metrics)]
    if (lists < -1).any() or (items is not None and (lists >= items).any()):
        yield "a list names an item that the dataset does not have"
    if any(
        len(set(row[row >= 0].tolist())) < (row >= 0).sum() or (np.diff((row < 0).astype(int)) < 0).any()
        for row in shown
    ):
        yield "a list names an item twice, or has a gap"
    for label, value in cell.metrics.items():
        facts = facts_of(label)
        if facts is not None and facts.name == "coverage" and items and value is not None:
            named = lists[:, : int(label.partition("@")[2])]
            if len(set(named[named >= 0].tolist())) > value * items * (1 + TOLERANCE) + 0.5:
                yield f"its sampled lists name more items than {label} allows"


def _unlike_hits(by_label: Mapping[str, FloatArray]) -> Iterator[str]:
    """Metrics at the same cut-off that are above 0 exactly for users with a hit must agree on who has one."""
    hits: dict[str, tuple[str, Any]] = {}
    for label, scored in by_label.items():
        facts = facts_of(label)
        if facts is not None and facts.hit_like:
            first, known = hits.setdefault(label.partition("@")[2], (label, scored > 0))
            if (known != (scored > 0)).any():
                yield f"{first} and {label} do not agree on which users have a hit"


def _bounds(label: str) -> tuple[float, float]:
    facts = facts_of(label)
    return (facts.bounds if facts is not None else None) or (-1e12, 1e12)


def _time(text: str) -> datetime.datetime | None:
    try:
        return datetime.datetime.fromisoformat(text).astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        return None


def check_lists(bundle: Bundle, place: int, spec: CellSpec, split: Split) -> bool:
    """Hold the sampled lists of a cell against the truth: the users' values that they come to are those it states.

    Whether there was something to hold.
    """
    cell, lists = bundle.content.cells[place], bundle.lists(place)
    if spec.split.protocol.target != "all" or not (lists >= 0).any():
        return False
    dense = by_name(split.train.items)  # by place, the dense item
    judged = np.unique(split.test.user)
    order = by_name(split.train.users.gather(judged))
    places = sampled_places(cell.judged)
    users = judged[order][places]
    if (lists >= len(dense)).any():
        raise bundle.unsound(f"{spec.dataset}: a list names an item that the dataset does not have")
    by_user = np.argsort(users)
    found = np.where(lists >= 0, dense[np.maximum(lists, 0)], -1)[by_user].astype(np.int32)
    top = TopK(users[by_user].astype(np.int32), found, np.zeros(found.shape, dtype=np.float32))
    labels = user_metrics(spec.metrics)
    again = evaluate(top, split.test, labels, train=split.refit())
    values = again.per_user.filter(again.per_user["user"].is_in(split.train.users.gather(top.users).implode()))
    stated = bundle.users(place)[:, places][:, by_user]
    for row, label in enumerate(labels):
        found_again = values.get_column(label).cast(float).fill_null(np.nan).to_numpy()
        if not np.allclose(found_again, stated[row], rtol=1e-5, atol=1e-5, equal_nan=True):
            raise bundle.unsound(f"{spec.dataset}: its sampled lists do not come to the {label} that it states")
    return True


def records(bundle: Bundle, specs: Mapping[int, CellSpec]) -> list[CellRecord]:
    """The cells as a store would give them."""
    return [
        CellRecord(
            cell.id, spec.algorithm, spec.dataset, spec.seed, spec.fold, cell.spec, cell.status, cell.reason,
            parameters=cell.parameters, seconds=cell.seconds, metrics=cell.metrics,
        )
        for cell, spec in zip(bundle.content.cells, specs.values(), strict=True)
    ]  # fmt: skip
