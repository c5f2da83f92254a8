"""Losses for the item that comes next: by all items, or by some that are drawn."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.neural.network import rows

LOSSES = ("softmax", "sampled", "gbce", "bce")
"""Cross-entropy over all items, or over drawn ones; binary cross-entropy with many or with one negative."""

SCORES_AT_ONCE = 1 << 28
"""Scores that are held for the gradient; with more, places go part by part and their scores are computed twice."""

CACHED_PLACES = 128
"""Places whose scores a processor holds at a time, in its cache: with all at once it waits for memory."""

LEFT_OUT = -1e9


def softmax_numbers(places: int, n_items: int, device: str) -> int:
    """How many numbers `softmax_loss` holds: the scores three times."""
    held = min(places, CACHED_PLACES) if device == "cpu" else places
    return min(3 * held * n_items, 4 * SCORES_AT_ONCE)


def softmax_loss(known: Any, items: Any, target: Any, weight: Any) -> Any:
    """Cross-entropy of each target among all `items`, weighed and added up."""
    if known.device.type == "cpu":
        return _softmax_by_parts().apply(known, items, target, weight)

    def loss(known: Any, target: Any, weight: Any) -> Any:
        return (torch.nn.functional.cross_entropy((known @ items.T).float(), target, reduction="none") * weight).sum()

    return _in_parts(loss, len(items), known, target, weight)


def sampled_loss(known: Any, items: Any, target: Any, weight: Any, others: Any) -> Any:
    """Cross-entropy of each target among itself and `others`, which are the same for all places."""

    def loss(known: Any, target: Any, weight: Any) -> Any:
        right = (known * rows(items, target)).sum(1).float()
        wrong = (known @ rows(items, others).T).float().masked_fill(others == target[:, None], LEFT_OUT)
        return ((torch.logsumexp(torch.cat([right[:, None], wrong], dim=1), dim=1) - right) * weight).sum()

    return _in_parts(loss, len(others), known, target, weight)


def gbce_loss(known: Any, items: Any, target: Any, weight: Any, others: Any, calibration: float) -> Any:
    """Generalised binary cross-entropy (Petrov & Macdonald 2023): the positive to the power of beta.

    With n of N items drawn and t = `calibration`, a = n / (N - 1), beta = a (t (1 - 1 / a) + 1 / a).
    """
    share = min(len(others) / max(len(items) - 1, 1), 1.0)
    beta = share * (calibration * (1 - 1 / share) + 1 / share)

    def loss(known: Any, target: Any, weight: Any) -> Any:
        right = (known * rows(items, target)).sum(1).float()
        wrong = (known @ rows(items, others).T).float().masked_fill(others == target[:, None], LEFT_OUT)
        softplus = torch.nn.functional.softplus
        return ((beta * softplus(-right) + softplus(wrong).sum(1)) * weight).sum()

    return _in_parts(loss, len(others), known, target, weight)


def binary_loss(known: Any, items: Any, target: Any, weight: Any, other: Any) -> Any:
    """Binary cross-entropy of each target and of one other item."""
    right, wrong = ((known * rows(items, item)).sum(1).float() for item in (target, other))
    softplus = torch.nn.functional.softplus
    return ((softplus(-right) + softplus(wrong)) * weight).sum()


@cache
def _softmax_by_parts() -> Any:
    """The loss with its slopes, which the scores of a part give at once; the class is made when torch is there."""

    class Softmax(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(context: Any, known: Any, items: Any, target: Any, weight: Any) -> Any:
            slopes, of_items = torch.empty_like(known), torch.zeros_like(items)
            loss = torch.zeros((), dtype=known.dtype)
            columns = target[:, None], weight[:, None], slopes
            for part, right, heavy, slope in zip(*(x.split(CACHED_PLACES) for x in (known, *columns)), strict=True):
                scores = part @ items.T
                scores -= scores.amax(1, keepdim=True)
                gap = scores.gather(1, right)
                total = scores.exp_().sum(1, keepdim=True)
                loss += ((total.log() - gap) * heavy).sum()
                scores.mul_(heavy / total).scatter_add_(1, right, -heavy)
                torch.mm(scores, items, out=slope)
                of_items.addmm_(scores.T, part)
            context.save_for_backward(slopes, of_items)
            return loss

        @staticmethod
        def backward(context: Any, slope: Any) -> Any:
            return *(slope * part for part in context.saved_tensors), None, None

    return Softmax


def _in_parts(loss: Callable[..., Any], width: int, *of_places: Any) -> Any:
    size = max(1, SCORES_AT_ONCE // max(width, 1))
    if len(of_places[0]) <= size:
        return loss(*of_places)
    again = torch.utils.checkpoint.checkpoint
    parts = zip(*(part.split(size) for part in of_places), strict=True)
    return sum(again(loss, *part, use_reentrant=False, preserve_rng_state=False) for part in parts)
