"""Sealed plans: what a study will do, fixed before its results exist, and every way in which the study then deviates.

A seal holds hashes and settings, no data, no paths and no secrets: it fits into a repository or an appendix. It is not
a signature: publishing its `sha256` (in a preregistration, a commit, a paper) makes it binding.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from pydantic import Field, ValidationError

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.system.files import refuse_special
from recassay.core.system.shapes import Shape, shaped
from recassay.core.version import __version__
from recassay.core.words import count_of, listing
from recassay.metrics.make import make_metric
from recassay.recommenders.plan import CellSpec, Plan
from recassay.recommenders.study import manifest_of
from recassay.runner.manifest import now
from recassay.store.records import TRIALS, CellRecord, PlannedRow, Verification, unpacked
from recassay.store.store import Store
from recassay.store.verification import verify_store

FORMAT = 1
FILE = "seal.json"
"""The name of a seal in the folder of its study."""

MOST_BYTES = 4 << 20


class _Dataset(Shape):
    protocol: dict[str, Any] | None = None


class _Algorithm(Shape):
    settings: dict[str, Any] | None = None


class _Plan(Shape):
    name: str | None = None
    seeds: list[int] | None = None
    datasets: dict[str, _Dataset] | None = None
    algorithms: dict[str, _Algorithm] | None = None
    metrics: list[str] | None = None


class _Cells(Shape):
    count: int | None = None
    digest: str | None = None


class _Analysis(Shape):
    metric: str
    alpha: Annotated[float, Field(gt=0, lt=1)]


class _Seal(Shape):
    recassay_seal: int
    made: str
    recassay: str | None = None
    plan: _Plan
    cells: _Cells
    analysis: _Analysis
    claims: list[str]
    done_before: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Deviation:
    """One way in which a study is not what was sealed."""

    kind: str
    """`seal`, `plan`, `data`, `code`, `results`, `analysis`, or `unfinished`: cells that were not run yet."""
    sentence: str
    """What deviates, in words."""


def make_seal(planned: Plan, *, claims: Sequence[str], analysis: Mapping[str, Any], done: int) -> dict[str, Any]:
    """The seal of a plan: `done` counts the cells that had results already."""
    content = {
        "recassay_seal": FORMAT,
        "made": now(),
        "recassay": __version__,
        "plan": sealed_plan(manifest_of(planned, 0, 0)),
        "cells": {"count": len(planned.cells), "digest": digest(sorted(cell.id for cell in planned.cells))},
        "analysis": dict(analysis),
        "claims": list(claims),
        "done_before": done,
    }
    return {**content, "sha256": digest(content)}


def sealed_plan(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What a manifest says of the plan, without paths, machine and time."""
    study, hashes = manifest.get("study") or {}, {key: manifest.get(key) or {} for key in ("datasets", "algorithms")}
    return {
        "name": study.get("name"),
        "seeds": study.get("seeds") or [],
        "datasets": {
            dataset["name"]: {
                "data": hashes["datasets"].get(dataset["name"]),
                "protocol": dataset.get("protocol"),
                "folds": dataset.get("folds"),
            }
            for dataset in study.get("datasets") or ()
        },
        "algorithms": {
            part["name"]: {"code": hashes["algorithms"].get(part["name"]), "settings": part.get("settings")}
            for part in study.get("algorithms") or ()
        },
        **{key: study.get(key) for key in ("metrics", "folds", "protocol", "tuning", "budget", "comper", "multiverse")},
    }


def read_seal(path: Path) -> dict[str, Any]:
    """The seal in a file; `InputError` where it is not a seal."""
    refuse_special(path)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError("is too large for a seal", where=str(path), fix="name the file that recassay seal wrote")
        seal = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        seal = None
    return valid_seal(seal, str(path))


def valid_seal(seal: Any, where: str) -> dict[str, Any]:
    """The seal; `InputError` where it has another form."""
    if isinstance(seal, dict) and isinstance(seal.get("recassay_seal"), int) and seal["recassay_seal"] > FORMAT:
        raise InputError("was made by a newer version of RecAssay", where=where, fix="update RecAssay")
    shaped(_Seal, seal, "is not a seal", where=where, fix="name the file that recassay seal wrote")
    return dict(seal or {})


def without_checksum(content: Mapping[str, Any]) -> dict[str, Any]:
    """What the checksum of a seal is of."""
    return {key: value for key, value in content.items() if key != "sha256"}


def deviations(folder: Path, seal: Mapping[str, Any], analysis: Mapping[str, Any] | None = None) -> list[Deviation]:
    """Every way in which the study in `folder` is not what was sealed; none where it is.

    `analysis` is what the results were analysed with (`metric`, `alpha`, ...), where that is known.
    """
    ways: list[Deviation] = []
    if seal.get("sha256") != digest(without_checksum(seal)):
        ways.append(Deviation("seal", "The seal was changed after it was made: its checksum differs."))
    if seal.get("done_before"):
        ways.append(Deviation("seal", f"Of its cells, {seal['done_before']} had results when the plan was sealed."))
    with Store.open(folder) as store:
        cells, rows = store.cells(every=True, damaged=True), store.plan()
        trials, verified = store.trials(), verify_store(store)
        unlike = list(_unlike_scores(store, cells))
        try:
            manifest = store.manifest()
        except InputError as error:
            return [*ways, Deviation("results", f"The manifest cannot be used: {error.what}.")]
    changes = [Deviation(*change) for change in sorted(_changes(seal["plan"], sealed_plan(manifest)))]
    made_with, sealed_with = (manifest.get("versions") or {}).get("recassay"), seal.get("recassay")
    if made_with not in (None, sealed_with):
        changes.append(Deviation("code", f"The plan was sealed with RecAssay {sealed_with} and run with {made_with}."))
    if not changes and digest(sorted(row.cell for row in rows)) != seal["cells"].get("digest"):
        changes = [Deviation("plan", f"The {len(rows)} cells of the study are not the sealed ones.")]
    results = [*_altered(cells, trials), *unlike, *_not_as_planned(cells, rows, seal["made"]), *_unsound(verified)]
    analysed = [
        Deviation("analysis", f"The analysis uses {key} {value}; sealed was {seal['analysis'][key]}.")
        for key, value in (analysis or {}).items()
        if key in seal["analysis"] and seal["analysis"][key] != value
    ]
    return [*ways, *changes, *results, *analysed]


def _altered(cells: Sequence[CellRecord], trials: pl.DataFrame) -> Iterator[Deviation]:
    """Cells whose row says of itself or of its tuning what the rest of the store does not."""
    for cell in cells:
        spec, which = stored_spec(cell), f"{cell.algorithm} on {cell.dataset}"
        if spec is None or spec.id != cell.id:
            yield Deviation("results", f"The stored plan of {which} is not that of its cell.")
        if spec is not None and cell.validation is not None and not _is_of_best_trial(cell, spec, trials):
            yield Deviation("results", f"The parameters of {which} are not those of its best recorded trial.")
        if spec is not None and cell.validation is not None and (lacking := _lacking_trials(cell, spec, trials)):
            yield Deviation("results", f"Of the {spec.tuning.trials} trials of {which}, {lacking} are not recorded.")


def _lacking_trials(cell: CellRecord, spec: CellSpec, trials: pl.DataFrame) -> int:
    """How many trials of a tuned cell are gone.

    An algorithm that only finds out when to stop has a single one: the row of its cell says so, or, of a version that
    did not count them, the trial has at most one parameter. Where the search has a limit of time that was met, those
    that did not begin are not gone.
    """
    rows = trials.filter(pl.col("cell") == cell.id)
    tried, counted = rows.get_column("parameters").to_list(), (cell.counts or {}).get(TRIALS)
    if counted is None and len(tried) == 1 and len(unpacked("parameters", tried[0], Path()) or {}) <= 1:
        counted = 1
    late = spec.tuning.seconds is not None and rows.get_column("seconds").sum() > spec.tuning.seconds
    wanted = (counted or 0) if counted == 1 or late else spec.tuning.trials
    return max(wanted - len(tried), 0)


def _unlike_scores(store: Store, cells: Sequence[CellRecord]) -> Iterator[Deviation]:
    """Cells whose stored means are not the means of their stored scores of users."""
    for cell in cells:
        if cell.status != "done":
            continue
        try:
            means = store.per_user(cell.id).select(pl.selectors.numeric()).mean()
        except InputError:  # what is damaged is named by its checksum
            continue
        for label in cell.metrics.keys() & set(means.columns):
            mean, value = means.get_column(label)[0], cell.metrics[label]
            if (mean is None) != (value is None) or (value is not None and not isclose(mean, value, abs_tol=1e-9)):
                which = f"{label} of {cell.algorithm} on {cell.dataset}"
                yield Deviation("results", f"The stored {which} is not the mean of its stored scores of users.")


def _not_as_planned(cells: Sequence[CellRecord], rows: Sequence[PlannedRow], made: str) -> Iterator[Deviation]:
    """Cells that ran before the seal was made, failed, or have not run."""
    ran = {cell.id for cell in cells}
    early = [cell for cell in cells if cell.finished and cell.finished < made]
    failed = [cell for cell in cells if cell.status != "done"]
    absent = [row for row in rows if row.cell not in ran]
    if early:
        yield Deviation("results", f"Finished before the plan was sealed: {_cells(early)}.")
    if failed:
        yield Deviation("results", f"Failed, without a result: {_cells(failed)}.")
    if absent:
        yield Deviation("unfinished", f"Not run: {_cells(absent)}; the same `recassay run` goes on.")


def _unsound(verified: Verification) -> Iterator[Deviation]:
    """What differs from its checksum, or has none."""
    if verified.damaged:
        # A place is a path, perhaps followed in parentheses by what of it is damaged.
        parts = [place.partition(" (") for place in verified.damaged]
        places = listing("".join((Path(path).name, *detail)) for path, *detail in parts)
        yield Deviation("results", f"Changed after it was written: {places}.")
    if verified.unverified:
        counts = listing(f"{count} {what if count > 1 else what[:-1]}" for what, count in verified.unverified.items())
        yield Deviation("results", f"Cannot be verified, since no checksum was stored: {counts}.")


def stored_spec(cell: CellRecord) -> CellSpec | None:
    """What a cell was to be, as its row says; None where that was changed into something else."""
    try:
        return CellSpec.model_validate(cell.spec)
    except ValidationError:
        return None


def _is_of_best_trial(cell: CellRecord, spec: CellSpec, trials: pl.DataFrame) -> bool:
    """Whether a cell's validation value is the best of its complete trials, all of which are there."""
    tried = trials.filter(pl.col("cell") == cell.id)
    values = tried.filter(pl.col("state") == "complete").get_column(c.VALUE)
    if values.is_empty() or tried.get_column("number").to_list() != list(range(tried.height)):
        return False
    higher = make_metric(spec.tuning.metric).higher_is_better
    return bool(cell.validation == (values.max() if higher else values.min()))


def _changes(sealed: Mapping[str, Any], now_: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The differences between two plans: which kind of deviation each is, and its sentence."""
    for what, hashed in (("datasets", "data"), ("algorithms", "code")):
        before, after, part = sealed.get(what) or {}, now_.get(what) or {}, what.removesuffix("s")
        for name in before.keys() - after:
            yield "plan", f"The {part} {name} was planned and is not in the study."
        for name in after.keys() - before:
            yield "plan", f"The {part} {name} was added after the seal."
        for name in before.keys() & after.keys():
            if before[name].get(hashed) != after[name].get(hashed):
                yield hashed, f"The {hashed} of {name} changed after the seal."
            settings = [{k: v for k, v in plan[name].items() if k != hashed} for plan in (before, after)]
            yield from (("plan", f"{name}: {text}") for text in _differences("", *settings))
    for key in ("metrics", "seeds"):
        before, after = sealed.get(key) or (), now_.get(key) or ()
        gone = [value for value in before if value not in after]
        new = [value for value in after if value not in before]
        if gone:
            yield "plan", f"Of the {key}, {listing(gone)} was planned and is not in the study."
        if new:
            yield "plan", f"Of the {key}, {listing(new)} was added after the seal."
    told_above = ("datasets", "algorithms", "metrics", "seeds")
    rest = [{key: value for key, value in plan.items() if key not in told_above} for plan in (sealed, now_)]
    yield from (("plan", text) for text in _differences("", *rest))


def _differences(path: str, before: Any, after: Any) -> Iterator[str]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys([*before, *after]):
            yield from _differences(f"{path}.{key}" if path else str(key), before.get(key), after.get(key))
    elif before != after:
        yield f"{path} was sealed as {_shown(before)} and is {_shown(after)}."


def _shown(value: Any) -> str:
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)


def _cells(cells: Sequence[Any]) -> str:
    seeds = len({cell.seed for cell in cells}) > 1
    names = listing(
        (f"{cell.algorithm} on {cell.dataset}{f' with seed {cell.seed}' if seeds else ''}" for cell in cells), most=4
    )
    return f"{count_of(len(cells), 'cell')} ({names})"


def digest(content: Any) -> str:
    """The hash of plain data, whatever the order of its keys."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
