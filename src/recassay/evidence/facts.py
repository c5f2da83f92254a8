"""The facts of a study folder, for its report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recassay.core.words import energy, listing

if TYPE_CHECKING:
    import polars as pl

    from recassay.core.specs.study import StudySpec
    from recassay.core.tables.facts import AuditFinding, StudyFacts
    from recassay.store.records import CellRecord

HARMLESS = (
    "empty_valid", "few_test_users", "repeated_events", "tied_with_train", "users_of_one_time", "tied_targets",
)  # fmt: skip
"""Findings of the audit that weaken a study without leaking anything."""


def study_facts(folder: str | Path) -> StudyFacts:
    """What the study in `folder` asked for, what happened, and what its audit found.

    A study of classifiers has no protocol, tuning or audit of interactions.
    """
    from recassay.core.tables.facts import StudyFacts
    from recassay.evidence.users import own_lists
    from recassay.store.sealed import manifest_left_out, manifest_study
    from recassay.store.store import Store

    with Store.open(folder) as store:
        manifest, status, cells, tried = store.manifest(), store.status(), store.cells(), store.trials()
    study = None if "classifiers" in manifest else manifest_study(manifest, Path(folder))
    plan = manifest.get("study", {})
    facts = StudyFacts(
        name=str(plan.get("name", "")),
        written=str(manifest.get("written", "")),
        planned=status.planned,
        done=status.done,
        to_go=len(status.to_go),
        seeds=tuple(manifest.get("seeds", ())),
        budget=plan.get("budget", {}),
        failed=status.failed,
        left_out=manifest_left_out(manifest),
        parameters=_parameters(cells),
        energy=_energy(cells),
        manifest=manifest,
    )
    if study is None:
        return facts
    splits, findings, order = _splits(Path(folder), cells)
    spent = _spent(cells, tried)
    spaces, tunable = _spaces(study)
    given = own_lists(Path(folder))
    return replace(
        facts,
        trials=study.tuning.trials,
        tuning_metric=study.tuning.metric,
        protocol=plan.get("protocol", {}),
        protocols={cell.dataset: cell.spec["split"]["protocol"] for cell in cells},
        findings=findings,
        spent=spent,
        untuned=tuple(name for name in tunable if spent.get(name, (0, 1))[1] == 0 and name not in given),
        given=given,
        splits=splits,
        order=order,
        histories=_histories(cells),
        **_sequential(study),
        spaces=spaces,
        conventions=manifest.get("metrics", {}),
        **_sealed(Path(folder)),
    )


def _energy(cells: tuple[CellRecord, ...]) -> str:
    """The energy of all cells that kept theirs, also in kWh, with how it is known."""
    kept = [cell.energy for cell in cells if cell.energy]
    if not kept:
        return ""
    joules = sum(float(one["joules"]) for one in kept)
    ways = listing(sorted({str(one["how"]) for one in kept}), most=None)
    lacking = f"; {len(cells) - len(kept)} cells without a record" if len(kept) < len(cells) else ""
    return f"{energy(joules)} ({joules / 3.6e6:.2g} kWh), {ways}{lacking}"


def _sealed(folder: Path) -> dict[str, Any]:
    """What the seal in the folder says of the study, where there is one."""
    from recassay.recommenders.seal import FILE, deviations, read_seal

    if not (folder / FILE).is_file():
        return {"plan": "not sealed"}
    seal = read_seal(folder / FILE)
    sentences = tuple(deviation.sentence for deviation in deviations(folder, seal))
    state = f"{len(sentences) or 'no'} {'deviation' if len(sentences) == 1 else 'deviations'}"
    return {"plan": f"sealed on {seal['made'][:10]} ({str(seal['sha256'])[:12]}), {state}", "deviations": sentences}


SIMPLE = ("AssociationRules", "LastItems", "MarkovChain", "SequentialRules", "STAN", "V-SKNN")
"""Algorithms that read the order of events and are counted, not trained."""


def _sequential(study: StudySpec) -> dict[str, Any]:
    """The algorithms of a study that read order, those that are simple, and those trained with one negative.

    An algorithm of a file is not loaded.
    """
    from recassay.core.registry import algorithms

    known = [(spec, algorithms.get(spec.reference)) for spec in study.algorithms if spec.reference in algorithms]
    ordered = [(spec, kind) for spec, kind in known if getattr(kind, "reads_order", False)]
    return {
        "sequential": tuple(spec.name for spec, _ in ordered),
        "simple": tuple(spec.name for spec, kind in ordered if kind.name in SIMPLE),
        "one_negative": tuple(spec.name for spec, _ in ordered if spec.settings.get("loss") == "bce"),
    }


def _splits(folder: Path, cells: tuple[CellRecord, ...]) -> tuple[pl.DataFrame, tuple[AuditFinding, ...], pl.DataFrame]:
    """One row per split, what its audit found, and where targets come after histories, how much order there is."""
    import polars as pl

    from recassay.core.errors import InputError
    from recassay.core.tables.facts import AuditFinding
    from recassay.recommenders.plan import SplitSpec
    from recassay.recommenders.splits import split_record

    rows, findings, order = [], [], []
    by_split: dict[str, CellRecord] = {}
    for cell in cells:
        split = SplitSpec.model_validate(cell.spec["split"]).id
        if cell.status == "done" or split not in by_split:
            by_split[split] = cell
    for split, cell in by_split.items():
        try:
            record = split_record(folder, split)
        except InputError:
            if cell.status == "done":
                gone = "the record of its split is gone, so nothing is known of leakage"
                findings.append(AuditFinding(cell.dataset, "no_audit", gone, True))
            continue
        fold = {} if cell.fold is None else {"fold": cell.fold}
        counts = record.counts
        rows.append(
            {"dataset": cell.dataset, **fold, "users": record.n_users, "items": record.n_items,
             "training interactions": record.n_interactions, "test interactions": counts.get("test_interactions"),
             "users judged": record.audit["users_evaluated"],
             "share of users judged": record.audit["share_of_users_evaluated"],
             "fingerprint": record.fingerprint[:12]}
        )  # fmt: skip
        if "targets" in record.audit:
            order.append({"dataset": cell.dataset, **fold} | _order_row(record.audit))
        findings += [
            AuditFinding(
                cell.dataset,
                finding["name"],
                finding["sentence"],
                finding["name"] not in HARMLESS,
                record.audit["repeats"]["share_of_test"] if finding["name"] == "repeated_events" else 0.0,
            )
            for finding in record.audit["findings"]
        ]
    return pl.DataFrame(rows), tuple(findings), pl.DataFrame(order)


def _histories(cells: tuple[CellRecord, ...]) -> pl.DataFrame:
    """One row per cell that was asked with histories: how many, and the milliseconds that each took."""
    import polars as pl

    rows = []
    for cell in cells:
        asked = (cell.counts or {}).get("judgements")
        if asked and cell.seconds_predict is not None:
            named = {"dataset": cell.dataset, "algorithm": cell.algorithm, "seed": cell.seed, "fold": cell.fold}
            rows.append(named | {"histories": asked, "ms per history": 1000 * cell.seconds_predict / asked})
    frame = pl.DataFrame(rows)
    return frame.drop(name for name in ("seed", "fold") if rows and frame[name].n_unique() == 1)


def _order_row(audit: Mapping[str, Any]) -> dict[str, Any]:
    from recassay.protocol.sessions import EARLIEST_CLOCK

    targets, order = audit["targets"], audit.get("order") or {}
    names = ("events", "unseen_users", "share_in_history", "share_last_again", "share_tied")
    shares = {name: targets[name] for name in names}
    clock = (audit["last_train_time"] or 0) >= EARLIEST_CLOCK  # positions of two users have no common order
    before = {"share_before_training_event": audit["share_of_test_before_train"] if clock else None}
    measured = ("algorithm", "metric", "users", "in_order", "shuffled", "change", "low", "high")
    return shares | before | {name: order.get(name) for name in measured}


def _parameters(cells: tuple[CellRecord, ...]) -> pl.DataFrame:
    import polars as pl

    rows = [
        {"algorithm": c.algorithm, "dataset": c.dataset, "seed": c.seed,
         **({} if c.fold is None else {"fold": c.fold}), "parameters": _words(c.parameters or {}),
         "validation": c.validation}
        for c in cells
        if c.status == "done"
    ]  # fmt: skip
    return pl.DataFrame(rows)


def _spent(cells: tuple[CellRecord, ...], tried: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """By algorithm, the fewest and the most trials of a finished cell."""
    counts = dict(tried.group_by("cell").len().iter_rows())
    trials_of: dict[str, list[int]] = {}
    for cell in cells:
        if cell.status == "done":
            trials_of.setdefault(cell.algorithm, []).append(counts.get(cell.id, 0))
    return {name: (min(trials), max(trials)) for name, trials in trials_of.items()}


def _spaces(study: StudySpec) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """What tuning could vary, and the algorithms that have something to vary, or may have.

    The class of an algorithm in a file is not loaded: a report executes nobody's code.
    """
    import polars as pl

    from recassay.core.registry import algorithms
    from recassay.core.specs.search import in_words
    from recassay.recommenders.references import are_lists
    from recassay.recommenders.space import settle

    rows: list[tuple[str, ...]] = []
    tunable = []
    for spec in study.algorithms:
        if spec.reference not in algorithms:
            where = "nothing: lists made elsewhere" if are_lists(spec.reference) else "in the algorithm's own file"
            rows.append((spec.name, "", where, ""))
            tunable.append(spec.name)
            continue
        fixed, space = settle(algorithms.get(spec.reference), spec.settings, spec.name)
        rows += [(spec.name, name, "fixed", str(value)) for name, value in fixed.items()]
        rows += [(spec.name, name, in_words(range_), str(range_.default)) for name, range_ in space.items()]
        tunable += [spec.name] if space else []
    return pl.DataFrame(rows, schema=["algorithm", "parameter", "searched", "default"], orient="row"), tuple(tunable)


def _words(parameters: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {json.dumps(value)}"
        for name, value in parameters.items()
    )
