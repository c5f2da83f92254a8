"""The verb `certify`: what a part of a multiverse settles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated

import numpy as np

from recassay.analysis.certify.fit import claims_of, replay, whole_grid
from recassay.analysis.certify.result import CertificateResult
from recassay.api.arguments import checked
from recassay.api.inputs import ResultsLike
from recassay.api.study.adaptive_universes import certificate_of
from recassay.api.tables import study_folder
from recassay.core.choices import Advanced, Level
from recassay.core.errors import UsageError
from recassay.core.seeds import derived_rng
from recassay.data.published.tables import is_published, published_choices
from recassay.data.tables.universes import read_choices


@checked
def certify(
    results: ResultsLike,
    axes: Sequence[str] | None = None,
    claims: Sequence[str] | None = None,
    *,
    confidence: Level = 0.95,
    progress: Callable[[CertificateResult], None] | None = None,
    seed: Annotated[int, Advanced] = 0,
) -> CertificateResult:
    """Which shares of universes are known within 5 points, from a part of a multiverse.

    With the folder of a study that has a `[multiverse]`, it says how the study stands. With a table that has every
    universe, an adaptive run is replayed: what it would have said, and at which share of the price.

    Args:
        results: the folder of a study, or a table with a column per choice.
        axes: columns that are choices; by default all with several values, and metric and cut-off.
        claims: such as `A > B` or `A is best`; by default those that the data suggest.
        confidence: probability with which a statement must hold to be certified.
        progress: called with the result of every decision.
        seed: the same seed gives the same numbers.
    """
    folder = study_folder(results)
    if folder is not None:
        return certificate_of(folder, claims, confidence=confidence, seed=seed)
    table = published_choices(results) if is_published(results) else read_choices(results)
    if table is None:
        raise UsageError("this is not a table with a column per choice", fix="give a long table, or a study's folder")
    rows, sources = table
    grid, scores = whole_grid(rows, axes)
    made = claims_of(claims, grid)
    rng = derived_rng(seed, "certificate", "replay")
    price = np.ones(len(scores))
    certificate = replay(grid, scores, price, made, confidence=confidence, rng=rng, progress=progress)
    return replace(certificate, sources=sources)
