"""What lists do for groups of users and of items, and what weighting by exposure changes."""

from __future__ import annotations

from recassay.core.tables.groups import WeightFacts


def weights_sentence(label: str, facts: WeightFacts) -> str:
    """How far the weights of a weighted metric may be trusted."""
    size = (
        f"{facts.events:,} weighted test events are worth {facts.effective:,.0f} equal ones; the largest weight is "
        f"{facts.largest:.3g} times the mean"
    )
    if facts.wild:
        return f"Do not trust {label}: its weights are too uneven. The {size}."
    return f"{label}: the {size}; standard error {facts.standard_error:.4f} over users."
