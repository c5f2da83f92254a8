"""The evidence of popularity strata: from the lists a study keeps, or from lists made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError, NotApplicableError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.scores import StrataEvidence, StrataScores
from recassay.core.types import Interactions, Split, TopK
from recassay.core.words import listing
from recassay.evidence.strata_sets import Sweep, score_dataset
from recassay.metrics.lists import recommendations_to_topk
from recassay.recommenders.plan import CellSpec
from recassay.recommenders.splits import is_prepared, load_split
from recassay.store.files import LISTS, cell_file
from recassay.store.records import CellRecord
from recassay.store.store import Store

METRIC = "ndcg@20"


def study_strata(folder: str | Path, sweep: Sweep) -> StrataEvidence:
    """The per-user scores on the strata of the study in `folder`, from its kept lists; nothing is fitted.

    Cells of several seeds or folds of one algorithm are averaged user by user. A cell that failed is left out and
    named; so is a dataset with fewer than two algorithms or too few test events for two strata.
    """
    folder = Path(folder)
    with Store.open(folder) as store:
        cells = store.cells()
        left_out = [f"{cell.algorithm} on {cell.dataset}: {cell.reason}" for cell in cells if cell.status != "done"]
        left_out += [f"{row.algorithm} on {row.dataset}: has not run yet" for row in store.status().to_go]
        done = [cell for cell in cells if cell.status == "done"]
        _refuse_targets(folder, done)
        _refuse_unusable(folder, done, sweep)
        datasets = []
        for dataset in dict.fromkeys(cell.dataset for cell in done):
            of_dataset = [cell for cell in done if cell.dataset == dataset]
            scores = _study_dataset(store, dataset, of_dataset, sweep)
            if isinstance(scores, str):
                left_out.append(f"{dataset}: {scores}")
            else:
                datasets.append(scores)
    if not datasets:
        raise NotApplicableError(
            f"no dataset of this study has popularity strata ({listing(left_out) or 'no cell is done'})",
            where=str(folder),
            fix="run at least two algorithms on a dataset with more test events",
        )
    return StrataEvidence(
        sweep.metric.label, sweep.metric.higher_is_better, tuple(datasets), sweep.others, tuple(left_out)
    )


def given_evidence(split: Split, frames: Mapping[str, tuple[pl.DataFrame, str]], sweep: Sweep) -> StrataEvidence:
    """The strata of one split, for lists made elsewhere (by algorithm, a table and what to call it)."""
    if len(frames) < 2:
        raise UsageError("the lists of one algorithm have no order", fix="give those of at least two")
    lists = {
        name: partial(_read_lists, frame, split.train, sweep, where=where, whole=True)
        for name, (frame, where) in sorted(frames.items())
    }
    scores = score_dataset("the data", [(split, lists)], sweep)
    if isinstance(scores, str):
        raise InputError(scores, fix="give more test data")
    return StrataEvidence(sweep.metric.label, sweep.metric.higher_is_better, (scores,), sweep.others)


def _refuse_targets(folder: Path, cells: Sequence[CellRecord]) -> None:
    """Raise where the kept lists answer another question than strata ask."""
    targets = {str(cell.spec["split"]["protocol"].get("target", "all")) for cell in cells}
    if targets - {"all"}:
        raise NotApplicableError(
            "the study judges targets after histories, one by one, and strata judge all test events as one set",
            where=str(folder),
            fix="use a study with target = 'all'",
        )


def _refuse_unusable(folder: Path, cells: Sequence[CellRecord], sweep: Sweep) -> None:
    """Raise where the lists or splits of the study are gone, or are shorter than the metric."""
    absent = [cell for cell in cells if not cell_file(folder, LISTS, cell.id).is_file()]
    if absent:
        who = listing((f"{cell.algorithm} on {cell.dataset}" for cell in absent), most=3)
        raise NotApplicableError(
            f"the lists of {len(absent)} cells are not kept ({who})", where=str(folder), fix="run the study again"
        )
    depth = min((int(cell.spec["depth"]) for cell in cells), default=0)
    if cells and (sweep.metric.k or 1) > depth:
        raise NotApplicableError(
            f"{sweep.metric.label} looks deeper than the kept lists, which have {depth} items",
            where=str(folder),
            fix=f"ask for {sweep.metric.name}@{depth} or less",
        )
    for cell in cells:
        if not is_prepared(folder, CellSpec.model_validate(cell.spec).split.id):
            raise NotApplicableError(
                f"the split of {cell.dataset} is not kept", where=str(folder), fix="run the study again"
            )


def _study_dataset(store: Store, dataset: str, cells: Sequence[CellRecord], sweep: Sweep) -> StrataScores | str:
    algorithms = sorted({cell.algorithm for cell in cells})
    by_run: dict[tuple[str, int], dict[str, CellRecord]] = {}
    for cell in cells:
        split_id = CellSpec.model_validate(cell.spec).split.id
        by_run.setdefault((split_id, cell.seed), {})[cell.algorithm] = cell
    kept = [name for name in algorithms if all(name in run for run in by_run.values())]
    if len(kept) < 2:
        return "fewer than two algorithms have lists for every seed and fold"
    splits = {split_id: load_split(store.folder, split_id) for split_id, _ in by_run}
    runs = [
        (
            splits[split_id],
            {name: partial(_kept_lists, store, run[name].id, splits[split_id].train, sweep) for name in kept},
        )
        for (split_id, _), run in by_run.items()
    ]
    return score_dataset(dataset, runs, sweep)


def _kept_lists(store: Store, cell: str, train: Interactions, sweep: Sweep) -> TopK:
    return _read_lists(store.top_lists(cell), train, sweep, where=f"lists of cell {cell}")


def _read_lists(frame: pl.DataFrame, train: Interactions, sweep: Sweep, *, where: str, whole: bool = False) -> TopK:
    """The lists as far as the sweep looks: whole where items may leave them, else to the cut-off."""
    k = sweep.metric.k
    if k is not None and sweep.others == "keep" and not whole:
        frame = frame.filter(pl.col(c.RANK) <= k)
    rng = derived_rng(sweep.seed, "strata", "ties")
    return recommendations_to_topk(frame, train, least=k or 1, rng=rng, where=where).top
