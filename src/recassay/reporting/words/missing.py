"""Cells that a table lacks, and what was done about them."""

from __future__ import annotations

from recassay.core.tables.matrix import MissingCells
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of, listing


def missing_cells(missing: MissingCells, words: Vocabulary = USUAL) -> str:
    """What was done, in one sentence; empty where nothing was missing."""
    if not missing.cells:
        return ""
    if missing.policy == "worst":
        done = f"each took the worst value seen on its {words.dataset}"
    else:
        kind = words.algorithm if missing.policy == "drop-algorithms" else words.dataset
        done = f"dropped {count_of(len(missing.dropped), kind)}: {listing(missing.dropped, most=30)}"
    return f"{count_of(len(missing.cells), 'cell')} {'was' if len(missing.cells) == 1 else 'were'} missing; {done}."
