"""DiffRec: profiles are blurred step by step, and a network learns to undo it."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.neural.algorithm import NeuralAlgorithm
from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.network import Dense, ProfileNetwork, through, tower
from recassay.core.specs.search import choice, fixed, real, whole

CLOCK = 10
"""Numbers that tell the network which step it is at."""

FIRST_VARIANCE = 1e-5
"""The variance of the first step, fixed to keep it from overfitting."""

REMEMBERED = 10
"""Losses of each step that importance sampling looks back on."""


class DiffRec(NeuralAlgorithm):
    """Diffusion recommender model.

    Step t of `steps` keeps sqrt(1 - beta_t) of the profile and adds normal noise of variance beta_t, so that the noise
    of all steps up to t grows linearly from `noise_min` to `noise_max`, times `noise_scale` (equation 4). A network
    (tanh layer of `hidden`, the step's number beside its input, dropout) predicts the profile x_0 from x_t. Minimises
    the squared error, each step weighted by the loss of signal to noise since the one before (equation 11, capped by 1
    at the first), steps drawn by importance. To recommend, the profile as it is goes back through all steps without
    noise.
    """

    name: ClassVar[str] = "DiffRec"
    source: ClassVar[str] = "Wang, Xu, Feng, Lin, He & Chua 2023, Diffusion Recommender Model, SIGIR"

    hidden: int = choice((200, 300, 600, 1000), default=300)
    steps: int = whole(2, 40, default=5, log=True)
    noise_scale: float = real(1e-5, 0.1, default=1e-3, log=True)
    rate: float = real(1e-5, 1e-2, default=1e-3, log=True)
    noise_min: float = 5e-4
    noise_max: float = 5e-3
    dropout: float = fixed(0.5, least=0, most=0.99)
    batch: int = 400

    def network(self, events: Events) -> Denoiser:
        """The denoising network."""
        return Denoiser(self, events)

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """Two layers of items x hidden; the profiles of a batch and what is computed from them."""
        return (2 * self.hidden + 1) * n_items + CLOCK * self.hidden, 8 * min(self.batch, n_users) * n_items


def signal_left(algorithm: DiffRec) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Per step, the product of 1 - beta up to it (alpha bar), for a noise that grows linearly."""
    noise = algorithm.noise_scale * np.linspace(algorithm.noise_min, algorithm.noise_max, algorithm.steps)
    left = 1 - noise
    betas = np.minimum(1 - left / np.concatenate([[1.0], left[:-1]]), 0.999)
    betas[0] = FIRST_VARIANCE
    return np.cumprod(1 - betas)


class Denoiser(ProfileNetwork[DiffRec]):
    """The network of `DiffRec`."""

    optimiser = "AdamW"

    def __init__(self, algorithm: DiffRec, events: Events) -> None:
        super().__init__(algorithm, events)
        left = signal_left(algorithm)
        before = np.concatenate([[1.0], left[:-1]])
        beta = 1 - left / before
        ratio = left / (1 - left)
        # Equation 10: the mean of x_{t-1} given x_t and x_0 has these shares of x_0 and of x_t.
        of_start, of_now = np.sqrt(before) * beta / (1 - left), np.sqrt(1 - beta) * (1 - before) / (1 - left)
        weight = np.concatenate([[1.0], ratio[:-1] - ratio[1:]])
        self.left, self.weight, self.of_start, self.of_now = (
            torch.tensor(values, dtype=torch.float32, device=events.device)
            for values in (left, weight, of_start, of_now)
        )
        self.clock = Dense(CLOCK, CLOCK, self.chance)
        self.layers = tower((events.n_items + CLOCK, algorithm.hidden, events.n_items), self.chance)
        self.losses = torch.zeros(algorithm.steps, REMEMBERED, device=events.device)
        self.seen = torch.zeros(algorithm.steps, dtype=torch.long, device=events.device)

    def loss(self, users: Any) -> Any:
        """Weighted squared error of a batch, divided by the chance of the step that was drawn."""
        profiles = self.events.profiles(users)
        step, chance = self._steps(len(users))
        left = self.left[step][:, None]
        blurred = left.sqrt() * profiles + (1 - left).sqrt() * self.chance.normal(*profiles.shape)
        answer = self._denoised(self.chance.dropout(blurred, self.algorithm.dropout), step).float()
        losses = self.weight[step] * (profiles - answer).square().mean(1)
        self._remember(step, losses.detach())
        return (losses / chance).mean()

    def answer(self, users: Any, profiles: Any) -> Any:
        """The profile after all steps back."""
        x = profiles
        for number in reversed(range(self.algorithm.steps)):
            step = torch.full((len(profiles),), number, device=profiles.device)
            x = self.of_start[number] * self._denoised(x, step) + self.of_now[number] * x
        return x

    def _denoised(self, x: Any, step: Any) -> Any:
        half = CLOCK // 2
        speed = torch.exp(-math.log(10_000) * torch.arange(half, device=x.device) / half)
        angle = step[:, None].float() * speed
        time = self.clock(torch.cat([angle.cos(), angle.sin()], dim=1))
        return through(self.layers, torch.cat([x, time], dim=1))

    def _steps(self, n: int) -> tuple[Any, Any]:
        """A step for each of n rows, by its remembered losses once all are known, and steps times its chance."""
        known = (self.seen >= REMEMBERED).all()
        size = self.losses.square().mean(1).sqrt()
        drawn = 0.999 * size / size.sum().clamp(min=1e-30) + 0.001 / len(size)
        chance = torch.where(known, drawn, torch.full_like(drawn, 1 / len(drawn)))
        bounds = torch.tensor(chance.cpu().numpy().cumsum(), device=chance.device)
        step = torch.searchsorted(bounds, self.chance.uniform(n)).clamp(max=len(chance) - 1)
        return step, chance[step] * len(chance)

    def _remember(self, step: Any, losses: Any) -> None:
        """Keep the last `REMEMBERED` losses of every step."""
        order = torch.argsort(step, stable=True)
        step, losses = step[order], losses[order]
        count = step.bincount(minlength=len(self.seen))
        place = torch.arange(len(step), device=step.device) - (count.cumsum(0) - count)[step]
        kept = place >= (count[step] - REMEMBERED)
        slot = (self.seen[step] + place) % REMEMBERED
        self.losses[step[kept], slot[kept]] = losses[kept]
        self.seen += count
