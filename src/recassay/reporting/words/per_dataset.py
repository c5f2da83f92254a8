"""Every algorithm on every dataset."""

from __future__ import annotations

from recassay.analysis.per_dataset import PerDatasetResult
from recassay.core.vocabulary import USUAL, Vocabulary


def sentences(result: PerDatasetResult, words: Vocabulary = USUAL) -> list[str]:
    """On how many datasets the best is ahead in every repeat; where there are users, the tests over them say more."""
    several = [lead for lead in result.ahead if lead.repeats > 1]
    if not several:
        return []
    always = sum(lead.share == 1 for lead in several)
    repeats = sorted({lead.repeats for lead in several})
    many = f"{repeats[0]}" if len(repeats) == 1 else f"{repeats[0]} to {repeats[-1]}"
    return [
        f"Taken one by one, on {always} of {len(several)} {words.datasets} the best {words.algorithm} is ahead of the "
        f"second in every repeat ({many} seeds or folds each; a count, no test)."
    ]
