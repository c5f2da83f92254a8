"""The evidence of groups: scores by group of users, exposure by group of items, and scores weighted by exposure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError, NotApplicableError
from recassay.core.seeds import derived_rng
from recassay.core.specs.study import StudySpec
from recassay.core.tables.groups import GroupedScores, GroupsEvidence, WeightedScores
from recassay.core.tables.labels import places_of
from recassay.core.tables.results import Results
from recassay.core.tables.scores import UserScores
from recassay.core.types import Interactions, TopK
from recassay.data.groups import MOST_GROUPS, memberships, read_groups
from recassay.data.sources import path_of
from recassay.evidence.group_tables import GroupTables, kept_file, known_groups
from recassay.evidence.lists import JudgedLists, JudgingSplit
from recassay.evidence.users import paired_scores, table_scores, user_matrix, user_rows
from recassay.metrics.context import EvaluationContext
from recassay.metrics.groups import exposure_by_user, opportunity, parity
from recassay.metrics.lists import recommendations_to_topk
from recassay.metrics.weighted import weight_facts
from recassay.recommenders.plan import CellSpec
from recassay.recommenders.splits import is_prepared, load_split
from recassay.store.files import LISTS, cell_file, write_parquet
from recassay.store.store import Store

LEAST_USERS = 10
"""Smaller groups of users are left out: their intervals say nothing."""

DEPTH = 10
"""Places of each list that count for exposure, where the metric names no cut-off."""

Parts: TypeAlias = tuple[Interactions, Interactions]
"""What was trained on, and the test part."""


def named_groups(study: StudySpec) -> dict[tuple[str, str], pl.DataFrame]:
    """By dataset and key (user or item), the tables of groups that a study names."""
    return {
        (dataset.name, key): read_groups(path_of(file, study.base), key)
        for dataset in study.datasets
        for key, file in ((c.USER, dataset.groups), (c.ITEM, dataset.item_groups))
        if file is not None
    }


def keep_groups(tables: Mapping[tuple[str, str], pl.DataFrame], folder: Path) -> None:
    """Copy tables of groups into the folder of their study, so that it says all by itself."""
    for (dataset, key), frame in tables.items():
        target = kept_file(folder, dataset, key)
        target.parent.mkdir(exist_ok=True)
        write_parquet(target, frame)


def groups_evidence(metric: str, *, results: Results, folder: Path | None, tables: GroupTables) -> GroupsEvidence:
    """What is known by group of a table with rows of users, or of the study in `folder`."""
    named, weightings = known_groups(metric, results=results, folder=folder, tables=tables)
    by_users = any(files.users is not None for files in named.values())

    def scores_of(label: str) -> dict[str, UserScores]:
        pairs, _ = table_scores(results, label) if folder is None else paired_scores(folder, label)
        return {scores.dataset: scores for scores in pairs}

    plain, weighted = scores_of(metric), {label: scores_of(label) for label in weightings}
    found: list[GroupedScores] = []
    rows: list[dict[str, Any]] = []
    under: list[WeightedScores] = []
    left_out: list[str] = []
    k = depth_of(metric)
    for dataset, scores in plain.items():
        files = named[dataset]
        if files.users is not None:
            found += group_scores(dataset, scores, files.users, left_out)
        parts, tops = (None, {}) if folder is None else _first_run(folder, dataset, k, lists=files.items is not None)
        if files.items is not None and parts is not None and tops:
            rows += item_exposure(dataset, tops, parts, files.items, k, left_out)
        elif files.items is not None:
            gone = "are not kept" if parts is None else "are kept after each user's longest history alone"
            left_out.append(f"the lists of {dataset} {gone}")
        for label, weighting in weightings.items():
            if dataset in weighted[label]:
                other, facts = weighted[label][dataset], None
                if parts is not None:
                    events = EvaluationContext(parts[0]).weights(parts[1].csr(), weighting).data
                    facts = weight_facts(events, other.values[int(np.argmax(other.values.mean(axis=1)))])
                under.append(WeightedScores(label, scores, other, facts))
    if by_users and not found:
        raise InputError("; ".join(left_out), where="groups", fix="give groups of the users of these datasets")
    if not (found or rows or under):
        raise NotApplicableError(
            "; ".join(left_out), where="item groups", fix="give groups of their items, and judge all targets as one set"
        )
    return GroupsEvidence(tuple(found), tuple(rows), tuple(under), tuple(left_out))


def _first_run(folder: Path, dataset: str, k: int, *, lists: bool) -> tuple[Parts | None, dict[str, TopK]]:
    """What the finished cells of a dataset's first split and seed were trained and judged on, and their lists."""
    with Store.open(folder) as store:
        done = [cell for cell in store.cells() if cell.status == "done" and cell.dataset == dataset]
        runs = [(CellSpec.model_validate(cell.spec).split.id, cell.seed) for cell in done]
        cells = [cell for cell, run in zip(done, runs, strict=True) if run == runs[0]]
        whole = all(cell_file(folder, LISTS, cell.id).is_file() for cell in cells)
        if not whole or not is_prepared(folder, runs[0][0]):
            return None, {}
        split = load_split(folder, runs[0][0])
        train, rng, first = split.refit(), derived_rng(0, "groups", "ties"), pl.col(c.RANK) <= k
        lists = lists and done[0].spec["split"]["protocol"].get("target", "all") == "all"
        frames = {cell.algorithm: store.top_lists(cell.id).filter(first) for cell in cells if lists}
    tops = {name: recommendations_to_topk(frame, train, least=k, rng=rng).top for name, frame in frames.items()}
    return (train, split.test), tops


def lists_groups(
    judging: JudgingSplit, judged: Sequence[JudgedLists], metric: str, tables: GroupTables
) -> GroupsEvidence:
    """What is known by group of lists made elsewhere; files whose ids are of other data raise."""
    table, left_out, k = tables.of(judging.name, None), list[str](), depth_of(metric)
    found: list[GroupedScores] = []
    rows: list[dict[str, Any]] = []
    if table.users is not None:
        by_user = [user_rows(lists.name, lists.result.per_user, metric) for lists in judged]
        found += group_scores(judging.name, user_matrix(judging.name, pl.concat(by_user)), table.users, left_out)
    if table.items is not None:
        parts = judging.split.refit(), judging.split.test
        tops = {lists.name: lists.record.top for lists in judged}
        rows += item_exposure(judging.name, tops, parts, table.items, k, left_out)
    if not found and not rows:
        raise InputError("; ".join(left_out), where="groups", fix="give groups of the users or items of these data")
    return GroupsEvidence(tuple(found), tuple(rows), (), tuple(left_out))


def depth_of(metric: str) -> int:
    """The cut-off that a label names, else `DEPTH`."""
    return places_of(metric) or DEPTH


def group_scores(dataset: str, scores: UserScores, frame: pl.DataFrame, left_out: list[str]) -> Iterator[GroupedScores]:
    """The scores by each attribute; `left_out` gets the groups and attributes that are not taken, and why."""
    if scores.ids is None:
        return
    for attribute in frame.drop(c.USER).columns:
        names, member = memberships(scores.ids, frame, c.USER, attribute)
        sizes = (member > 0).sum(axis=0)
        large = np.flatnonzero(sizes >= LEAST_USERS)
        if len(names) > MOST_GROUPS or len(large) < 2:
            known = f"{len(names):,} values for the users of {dataset}, {len(large)} with {LEAST_USERS} users or more"
            left_out.append(f"{attribute} has {known}: give 2 to {MOST_GROUPS} groups")
            continue
        left_out += [f"{attribute} {name} on {dataset} has {n} users" for name, n in zip(names, sizes, strict=True)
                     if n < LEAST_USERS]  # fmt: skip
        parts = (UserScores(names[g], scores.algorithms, scores.values[:, member[:, g] > 0]) for g in large)
        yield GroupedScores(dataset, attribute, scores, tuple(parts))


def item_exposure(
    dataset: str, tops: Mapping[str, TopK], split: Parts, frame: pl.DataFrame, k: int, left_out: list[str]
) -> Iterator[dict[str, Any]]:
    """Rows of `GroupsEvidence.exposure`; `left_out` gets the attributes that are not groups."""
    train, test = split
    context, truth = EvaluationContext(train), test.csr()
    events = np.bincount(train.item, minlength=train.n_items)
    for attribute in frame.drop(c.ITEM).columns:
        names, member = memberships(train.items, frame, c.ITEM, attribute)
        if not 1 < len(names) <= MOST_GROUPS:
            left_out.append(f"{attribute} has {len(names):,} values for items of {dataset}, not 2 to {MOST_GROUPS}")
            continue
        total = events @ member / max((events @ member).sum(), 1)
        for name, top in tops.items():
            exposure = exposure_by_user(top, k, member)
            exposure = exposure[np.isfinite(exposure).all(axis=1)]
            rsp = parity(top, k, context, member)
            reo = opportunity(top, k, truth, context, member)
            share, error = exposure.mean(axis=0), exposure.std(axis=0, ddof=1) / np.sqrt(len(exposure))
            for g, group in enumerate(names):
                yield {
                    c.DATASET: dataset, "attribute": attribute, c.ALGORITHM: name, "group": group, "k": k,
                    "share": float(share[g]), "error": float(error[g]), "events": float(total[g]),
                    "deviation": float(share[g] - total[g]),
                    "ratio": float(share[g] / total[g]) if total[g] > 0 else None, "rsp": rsp, "reo": reo,
                }  # fmt: skip
