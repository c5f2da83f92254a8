"""The contrastive loss of graph models: a node's two views are to be nearer than those of different nodes."""

from __future__ import annotations

from typing import Any

from recassay.algorithms.kernels.torch_when_used import torch
from recassay.algorithms.neural.embeddings import rows

MOST_CONTRASTED = 1 << 16
"""Nodes of one kind up to which a node is set against all of them; beyond, against those of its batch."""


def contrast(first: Any, second: Any, chosen: Any, temperature: float, *, in_batch: bool = False) -> Any:
    """InfoNCE: the mean over `chosen` of - ln exp(s(a_v, b_v) / T) / sum_w exp(s(a_v, b_w) / T), s the cosine.

    a and b are the rows of `first` and `second`; w runs over all rows, or over those that are chosen (`in_batch`).
    """
    normalize = torch.nn.functional.normalize
    if in_batch or len(second) > MOST_CONTRASTED:
        # Each node counts once. Repetitions are masked, not removed: the shapes stay the same for every batch.
        chosen = chosen.sort().values
        once = torch.nn.functional.pad(chosen[1:] != chosen[:-1], (1, 0), value=True)
        a, b = normalize(rows(first, chosen), dim=1), normalize(rows(second, chosen), dim=1)
        nearness = (a @ b.T / temperature).masked_fill(~once, -torch.inf)
        losses = torch.logsumexp(nearness, dim=1) - (a * b).sum(1) / temperature
        return (losses * once).sum() / once.sum()
    a, b = normalize(rows(first, chosen), dim=1), normalize(second, dim=1)
    same = (a * rows(b, chosen)).sum(1)
    return (torch.logsumexp(a @ b.T / temperature, dim=1) - same / temperature).mean()
