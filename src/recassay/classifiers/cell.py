"""A classifier cell: one classifier on one table, its answers on the test instances."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recassay.classifiers.artificial import Artificial
from recassay.classifiers.parts import load_classifier, make_classifier
from recassay.classifiers.spec import ClassifierCellSpec, TableSpec, TableSplitSpec
from recassay.classifiers.tables import PreparedTable, load_table, prepare_table
from recassay.core.errors import InputError
from recassay.core.seeds import derived_rng
from recassay.core.system.plain import plain
from recassay.runner.energy import read_counters, spent
from recassay.runner.jobs import Emit
from recassay.runner.memory import peak_bytes, reset_peak
from recassay.store.files import RESPONSES, cell_file, write_parquet


def prepare(payload: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
    """The job that prepares a table: payload `folder`, `split`, `table`, `base`."""
    return prepare_table(
        Path(payload["folder"]),
        TableSplitSpec.model_validate(payload["split"]),
        TableSpec.model_validate(payload["table"]),
        payload["base"],
    )


def run_cell(payload: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
    """The job of a cell: fit on the training rows, answer for the test rows, write what was right.

    Payload: `cell` (a `ClassifierCellSpec`), `id`, `reference` and `base` of the classifier, `folder` of the study.
    Only classifiers of role `artificial` get the truth.
    """
    spec, folder = ClassifierCellSpec.model_validate(payload["cell"]), Path(payload["folder"])
    table = load_table(folder, spec.split.id)
    part = load_classifier(payload["reference"], payload["base"])
    seed = int(derived_rng(spec.split.seed, "fit", spec.split.dataset, spec.classifier).integers(2**31))
    classifier, parameters = make_classifier(part, spec.classifier, spec.settings, seed)
    reset_peak()
    with warnings.catch_warnings():
        _ignore_convergence()
        begin, counters = time.perf_counter(), read_counters()
        fitted = classifier.fit(table.train_x, table.train_y)
        seconds_fit = time.perf_counter() - begin
        begin = time.perf_counter()
        answers = _answers(classifier if fitted is None else fitted, table, spec.role)
        seconds_predict, energy = time.perf_counter() - begin, spent(counters, read_counters())
    right = answers == table.test_y
    checksum = write_parquet(cell_file(folder, RESPONSES, payload["id"]), _responses(table, answers, right))
    record = {
        "parameters": parameters,
        "seconds_fit": seconds_fit,
        "seconds_predict": seconds_predict,
        "memory": peak_bytes(),
        "peak_memory": peak_bytes(),
        "energy": energy.record(energy),
        "counts": {"train": len(table.train_y), "test": len(table.test_y)},
        "metrics": {"accuracy": float(right.mean()), "balanced_accuracy": balanced_accuracy(table.test_y, right)},
        "files": {RESPONSES: checksum},
    }
    return plain(record)


def balanced_accuracy(truth: NDArray[np.int64], right: NDArray[np.bool_]) -> float:
    """The mean over the classes that were tested of the share of their instances that are answered rightly."""
    counts = np.bincount(truth)
    hits = np.bincount(truth, weights=right)
    return float((hits[counts > 0] / counts[counts > 0]).mean())


def _answers(fitted: Any, table: PreparedTable, role: str) -> NDArray[np.int64]:
    if role == "artificial" and isinstance(fitted, Artificial):
        return fitted.answer(table.test_y)
    answers = np.asarray(fitted.predict(table.test_x))
    if answers.shape != table.test_y.shape:
        raise InputError(
            f"predict gave an answer of shape {answers.shape} for {len(table.test_y)} instances",
            fix="return one class for each row",
        )
    if answers.dtype.kind not in "iufb" or not np.isfinite(answers).all():
        raise InputError(
            f"predict gave {answers.dtype} where classes are whole numbers", fix="return values of the y that fit got"
        )
    classes = np.arange(len(table.classes))
    strange = ~np.isin(answers, classes)
    if strange.any():
        raise InputError(
            f"predict gave {answers[strange][0]!s}, which is not a class "
            f"({int(strange.sum())} of {len(answers)} answers)",
            fix="return values of the y that fit got",
        )
    return answers.astype(np.int64)


def _responses(table: PreparedTable, answers: NDArray[np.int64], right: NDArray[np.bool_]) -> pl.DataFrame:
    names = pl.Series(table.classes, dtype=pl.String)
    predicted = [table.classes[answer] if 0 <= answer < len(names) else None for answer in answers]
    return pl.DataFrame(
        {
            "row": table.rows,
            "truth": names.gather(table.test_y),
            "predicted": pl.Series(predicted, dtype=pl.String),
            "right": right.astype(np.uint8),
        }
    )


def _ignore_convergence() -> None:
    """A network stopped by its number of iterations is what was asked for, not a defect."""
    if "sklearn" in sys.modules:
        from sklearn.exceptions import ConvergenceWarning

        warnings.simplefilter("ignore", ConvergenceWarning)
