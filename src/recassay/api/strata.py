"""The verb `strata`: how every algorithm of a study fares on held-out items below a popularity threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from recassay.analysis.strata.fit import sweep_strata
from recassay.analysis.strata.result import StrataResult
from recassay.api.arguments import checked
from recassay.api.data import load_data
from recassay.core.choices import Advanced, Alpha, Draws, Level, OtherItems, Task
from recassay.core.errors import UsageError
from recassay.core.specs.specs import ProtocolSpec, ReadSpec
from recassay.data.lists.read import read_lists
from recassay.evidence.strata import METRIC, given_evidence, study_strata
from recassay.evidence.strata_sets import Sweep, accuracy_metric
from recassay.protocol.apply import apply_protocol


@checked
def strata(
    folder: str | Path | None = None,
    metric: str = METRIC,
    *,
    train: Any = None,
    test: Any = None,
    lists: Mapping[str, Any] | None = None,
    thresholds: Annotated[Sequence[int] | None, Advanced] = None,
    size: Annotated[int | Literal["all"] | None, Advanced] = None,
    others: Annotated[OtherItems, Advanced] = "keep",
    seed: Annotated[int, Advanced] = 0,
    alpha: Alpha = 0.05,
    confidence: Level = 0.95,
    replicates: Annotated[Draws, Advanced] = 2000,
    read: ReadSpec | Mapping[str, Any] | None = None,
    allow_leakage: Sequence[str] = (),
    task: Task = "new",
) -> StrataResult:
    """Does the order of the algorithms hold on the less popular items?

    T_P is a set of held-out events with items that fewer than P users have in training, one for each threshold P: see
    `recassay.protocol.strata`. Of a study, or of lists made elsewhere together with their training and test data.

    Args:
        folder: the folder of a study, or None for lists made elsewhere.
        metric: an accuracy metric with a cut-off.
        train: training interactions, for lists made elsewhere.
        test: held-out interactions, for lists made elsewhere.
        lists: by algorithm, a file or frame `user,item,score[,rank]`.
        thresholds: popularity thresholds P; by default ten.
        size: events in every T_P, or `all`; by default as many as the smallest pool has.
        others: a user's held-out items outside T_P: kept in the lists as no hits, or removed from them.
        seed: the same seed gives the same numbers.
        alpha: level of the tests; intervals have level 1 - alpha.
        confidence: level of the intervals.
        replicates: bootstrap replicates over users.
        read: how files are read: a `ReadSpec` or its fields.
        allow_leakage: names of audit findings that are accepted.
        task: for lists made elsewhere, whether test pairs that training has are left out (`new`) or judged (`repeat`).
    """
    if folder is not None and (train is not None or test is not None or lists is not None):
        raise UsageError("a study folder and train, test or lists were given", fix="give one or the other")
    if folder is None and (train is None or test is None or not lists):
        raise UsageError("strata need a study folder, or train, test and lists", fix="give all three")
    sweep = Sweep(accuracy_metric(metric), thresholds=thresholds, size=size, others=others, seed=seed)
    if folder is not None:
        evidence = study_strata(folder, sweep)
    else:
        learned, held_out = load_data(train, read), load_data(test, read)
        spec = ProtocolSpec.checked(split="given", filter="none", allow_leakage=tuple(allow_leakage), task=task)
        split = apply_protocol(None, spec, given=(learned, held_out.take(held_out.user < 0), held_out))
        files = [file for name, source in (lists or {}).items() for file in read_lists(source, name=name)]
        frames = {file.name: (file.frame, file.where) for file in files}
        evidence = given_evidence(split, frames, sweep)
    return sweep_strata(evidence, alpha=alpha, confidence=confidence, replicates=replicates, seed=seed)
