"""Whether a study is what was written: rows, trials, files, splits and the plan against their checksums."""

from __future__ import annotations

from collections.abc import Iterable

from recassay.core.errors import InputError
from recassay.core.system.files import UNFINISHED
from recassay.store.records import Verification
from recassay.store.sealed import SPLITS, folder_state, has_seal, read_sealed, split_folder
from recassay.store.store import INDEX_FILE, MANIFEST_FILE, NO_ROW, PLAN_DIGEST, Store


def damaged_cells(store: Store, cells: Iterable[str]) -> dict[str, str]:
    """Of done `cells` those of which something is not what was written, and where: they do not count as done.

    That is a file that is gone or has another checksum, the row of the cell and its metrics, or a trial of its
    tuning. Every file is read.
    """
    seals, trials = store.seals(), store.damaged_trials()[0]
    rows = {row.cell: row for row in store.plan()}
    names = {cell: f"{row.algorithm} on {row.dataset}, seed {row.seed}" for cell, row in rows.items()}
    index = store.folder / INDEX_FILE
    damaged = {}
    for cell in cells:
        seal, now = seals.get(cell, NO_ROW)
        if seal not in (None, now):
            damaged[cell] = f"{index} (the row of {names.get(cell, cell)})"
        elif cell in rows and rows[cell].tuning in trials:
            damaged[cell] = f"{index} (trial {trials[rows[cell].tuning]} of {names[cell]})"
        elif (file := store.damaged_file(cell)) is not None:
            damaged[cell] = str(file)
    return damaged


def verify_store(store: Store) -> Verification:
    """Compare everything that the done cells of the plan rest on with its checksum: rows, trials, files, splits."""
    done = [cell for cell in store.cells(every=True, damaged=True) if cell.status == "done"]
    seals, unsealed_trials = store.seals(), store.damaged_trials()[1]
    damaged = list(damaged_cells(store, (cell.id for cell in done)).values())
    unsealed = [cell for cell in done if seals.get(cell.id, NO_ROW)[0] is None or not cell.files]
    folders = {split_folder(store.folder, cell.split) for cell in done if cell.split is not None}
    if (store.folder / SPLITS).is_dir():
        folders |= {place for place in (store.folder / SPLITS).iterdir() if not place.name.startswith(UNFINISHED)}
    states = {folder: folder_state(folder) for folder in sorted(folders)}
    try:
        digest = read_sealed(store.folder, MANIFEST_FILE, "the manifest").get(PLAN_DIGEST)
    except InputError:  # of older versions, or damaged; what reads the manifest says so
        digest = None
    if digest not in (None, store.plan_digest()):
        damaged.append(f"{store.folder / INDEX_FILE} (the plan)")
    damaged += [str(folder) for folder, state in states.items() if state == "damaged"]
    unknown = {
        "cells": len(unsealed),
        "splits": sum(state == "unsealed" for state in states.values()),
        "trials": unsealed_trials,
        "plans": int(digest is None and bool(store.plan())),
        "manifests": int(digest is not None and not has_seal(store.folder / MANIFEST_FILE)),
    }
    return Verification(
        cells=len(done),
        splits=len(states),
        damaged=tuple(damaged),
        unverified={what: count for what, count in unknown.items() if count},
    )
