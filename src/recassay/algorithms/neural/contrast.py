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
        chosen = torch.unique(chosen)
        one, other = normalize(rows(first, chosen), dim=1), normalize(rows(second, chosen), dim=1)
        same = (one * other).sum(1)
    else:
        one, other = normalize(rows(first, chosen), dim=1), normalize(second, dim=1)
        same = (one * rows(other, chosen)).sum(1)
    return (torch.logsumexp(one @ other.T / temperature, dim=1) - same / temperature).mean()
