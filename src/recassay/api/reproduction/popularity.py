"""Jadidinejad et al., How Sensitive is Offline Evaluation to Popularity?, REVEAL 2019.

Its numbers are of models trained on MovieLens-20M, which is not here; the shares of the text and the order that it
concludes from Table 1 follow from printed numbers.
"""

from __future__ import annotations

from recassay.api.reproduction.numbers import Numbers
from recassay.core import columns as c
from recassay.data.published.tables import published_results

NAME = "published:popularity-stratified"
NEGLECTED, ITEMS = 63, 26_745
"""Items above the threshold of 30,000 interactions, and all items (section 2)."""


def numbers() -> Numbers:
    """Shares of items below and above the threshold, and the places of the five models."""
    ordered = published_results(NAME).frame.sort(c.VALUE, descending=True).get_column(c.ALGORITHM).to_list()
    return {
        ("section 2", "items neglected", "percent"): 100 * NEGLECTED / ITEMS,
        ("section 2", "items that remain", "percent"): 100 * (1 - NEGLECTED / ITEMS),
        **{("section 2", f"place {place}", "model"): name for place, name in enumerate(ordered, start=1)},
    }
