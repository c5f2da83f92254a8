"""ComPer: one score out of five dimensions, and how far it can be relied on."""

from __future__ import annotations

import numpy as np

from recassay.analysis.comper.result import ComPerResult, Derivation
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.reporting.numbers import percent
from recassay.reporting.words.missing import missing_cells


def sentences(result: ComPerResult, words: Vocabulary = USUAL) -> list[str]:
    """What the numbers support; nothing for a single algorithm."""
    if len(result.table.algorithms) < 2:
        return []
    return [_lead(result, words), *_held(result), _weighed(result), *notes(result, words)]


def notes(result: ComPerResult, words: Vocabulary = USUAL) -> list[str]:
    """What a reader must know before reading the scores."""
    unit, missing = result.table.time_unit, missing_cells(result.table.missing, words)
    mixed = unit is not None and result.normalisation == "ratio"
    scale = [f"Scalability is in {unit}: equation (4) depends on the unit, and the score with it."] if mixed else []
    return [*scale, *([missing] if missing else [])]


def _lead(result: ComPerResult, words: Vocabulary) -> str:
    """Who has the highest mean score, and what separates the first two."""
    names, mean = result.table.algorithms, result.scores.mean(axis=1)
    first, second = result.order()[:2]
    gap = (result.by_dimension[first] - result.by_dimension[second]).mean(axis=0)
    most = int(np.argmax(gap))
    settings = result.table.datasets
    where = f"over {len(settings)} settings" if len(settings) > 1 else f"on {settings[0]}"
    often = ""
    if result.resampling_share is not None:
        share = percent(result.resampling_share[first])
        often = f" it is so in {share} of bootstrap replicates over the {words.datasets};"
    return (
        f"By ComPer {names[first]} is best ({mean[first]:.3f} {where}), before {names[second]} "
        f"({mean[second]:.3f});{often} {result.dimensions[most]} is the largest part of that lead ({gap[most]:+.3f} of "
        f"{gap.sum():+.3f})."
    )


def _held(result: ComPerResult) -> list[str]:
    """Whether the order holds over settings, beside that of the single dimensions and of an unweighted mean."""
    whole, plain = result.agreement("comper"), result.agreement("mean of normalised")
    if whole is None or plain is None:
        return []
    if not whole.reversed_share > 0:  # or undefined: all are equal everywhere
        return [f"The order by ComPer is the same in every setting ({whole.settings} of them)."]
    single = [each for name in result.dimensions if (each := result.agreement(name)) is not None]
    shares = [each.reversed_share for each in single if each.reversed_share == each.reversed_share]
    beside = f" (single dimensions: {percent(min(shares))} to {percent(max(shares))})" if shares else ""
    best = result.order()[0]
    wins = int(np.count_nonzero(result.scores[best] == result.scores.max(axis=0)))
    return [
        f"{result.table.algorithms[best]} has the highest score in {wins} of {whole.settings} settings; "
        f"{percent(whole.reversed_share)} of the pairwise orders go against the majority of settings{beside}, and "
        f"{percent(plain.reversed_share)} by the unweighted mean of the normalised dimensions."
    ]


def _weighed(result: ComPerResult) -> str:
    """How much the order depends on the matrix."""
    by_scheme = {drawn.scheme: drawn for drawn in result.sensitivities}
    near, free = by_scheme["perturbed"], by_scheme["any"]
    best = result.order()[0]
    return (
        f"With every entry of the matrix off by up to half, the order of the mean scores changes in "
        f"{percent(near.order_changed[-1])} of {near.draws:,} draws and the first in "
        f"{percent(near.first_changed[-1])}; with the five weights drawn at random {result.table.algorithms[best]} is "
        f"first in {percent(free.probability_first[best, -1])} of draws."
    )


def derivation_sentences(result: Derivation) -> list[str]:
    """How many pairs of a dimension and an objective the experts and the similarities agree on."""
    derived = result.to_dict()
    return [
        f"{derived['agree_after_matching_1']} pairs agree after matching 1, {derived['agree_after_matching_2']} after "
        "matching 2; the others take the mean similarity of their mean label."
    ]
