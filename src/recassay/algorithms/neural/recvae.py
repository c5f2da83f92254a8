"""RecVAE: a variational autoencoder whose prior remembers its own last encoding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.neural.algorithm import NeuralAlgorithm
from recassay.algorithms.neural.chance import Chance
from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.network import (
    Dense,
    Pass,
    ProfileNetwork,
    Weights,
    learned,
    multinomial_loss,
    unit_length,
)
from recassay.core.specs.search import real, whole

DEPTH = 5
"""Layers of the encoder."""

MIXTURE = ((3 / 20, 0.0), (1 / 10, 10.0))
"""Weight and log variance of the two fixed parts of the prior; the last encoding has the other 3 / 4."""


class RecVAE(NeuralAlgorithm):
    """As `MultiVAE`, with a deeper encoder, a composite prior, a divergence by profile, and alternating steps.

    The encoder has five layers of `hidden` with swish and layer normalisation, each fed the sum of all before it; the
    decoder is linear. The prior of z_u mixes N(0, I), N(0, e^10 I) and the encoding of x_u by the encoder of the last
    epoch, weights 3/20, 1/10 and 3/4, in each dimension (as the authors' code has it). The divergence of user u counts
    `gamma` |x_u| (equation 9). An epoch trains the encoder `encoder_passes` times on profiles with dropout, then the
    decoder once without.
    """

    name: ClassVar[str] = "RecVAE"
    source: ClassVar[str] = "Shenbin, Alekseev, Tutubalina, Malykh & Nikolenko 2020, RecVAE, WSDM"

    latent: int = whole(32, 256, default=200, step=8)
    gamma: float = real(1e-3, 0.05, default=0.015, log=True)
    dropout: float = real(0.0, 0.7, default=0.6, least=0, most=0.99)
    rate: float = real(1e-5, 1e-2, default=5e-4, log=True)
    hidden: int = 600
    encoder_passes: int = 3

    def network(self, events: Events) -> CompositeVariational:
        """Encoder, its last state, and decoder."""
        return CompositeVariational(self, events)

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """The encoder twice and the decoder; the profiles of a batch and what is computed from them."""
        encoder = self.hidden * (n_items + DEPTH * self.hidden + 2 * self.latent)
        return 2 * encoder + (self.latent + 1) * n_items, 8 * min(self.batch, n_users) * n_items


class Encoder(Weights):
    """From profiles to the mean and log variance of z."""

    def __init__(self, n_items: int, hidden: int, latent: int, chance: Chance) -> None:
        self.layers = [Dense(size, hidden, chance) for size in (n_items, *[hidden] * (DEPTH - 1))]
        self.scales = [learned(torch.ones(hidden, device=chance.device)) for _ in range(DEPTH)]
        self.shifts = [learned(torch.zeros(hidden, device=chance.device)) for _ in range(DEPTH)]
        self.mean, self.log_variance = Dense(hidden, latent, chance), Dense(hidden, latent, chance)

    def __call__(self, inputs: Any) -> tuple[Any, Any]:
        """(mean, log variance) for the rows of `inputs`."""
        functional = torch.nn.functional
        x, before = inputs, 0.0
        for layer, scale, shift in zip(self.layers, self.scales, self.shifts, strict=True):
            x = functional.silu(layer(x) + before)
            x = functional.layer_norm(x, x.shape[-1:], scale, shift, eps=0.1)
            before = before + x
        return self.mean(x).float(), self.log_variance(x).float()


class CompositeVariational(ProfileNetwork[RecVAE]):
    """The network of `RecVAE`."""

    def __init__(self, algorithm: RecVAE, events: Events) -> None:
        super().__init__(algorithm, events)
        self.encoder = Encoder(events.n_items, algorithm.hidden, algorithm.latent, self.chance)
        self.decoder = Dense(algorithm.latent, events.n_items, self.chance)
        self.last = self.encoder.frozen()

    def passes(self) -> Sequence[Pass]:
        """The encoder several times, then the decoder; the prior takes over the encoder of the epoch before."""
        self.last = self.encoder.frozen()
        encoder = [Pass(self.loss, self.among, "encoder")] * self.algorithm.encoder_passes
        return (*encoder, Pass(self.decoder_loss, self.among, "decoder"))

    def groups(self) -> dict[str, tuple[list[Any], float]]:
        """Encoder and decoder apart."""
        return {"encoder": (list(self.encoder.parameters()), 1.0), "decoder": (list(self.decoder.parameters()), 1.0)}

    def loss(self, users: Any) -> Any:
        """Likelihood and divergence of a batch, with dropout."""
        profiles = self.events.profiles(users)
        inputs = unit_length(profiles)
        mean, log_variance = self.encoder(self.chance.dropout(inputs, self.algorithm.dropout))
        z = self._drawn(mean, log_variance)
        divergence = (log_density(z, mean, log_variance) - self._log_prior(z, inputs)).sum(1)
        divergence = divergence * self.algorithm.gamma * profiles.sum(1)
        return (multinomial_loss(self.decoder(z), profiles) + divergence).mean()

    def decoder_loss(self, users: Any) -> Any:
        """Likelihood of a batch, without dropout."""
        profiles = self.events.profiles(users)
        with torch.no_grad():
            z = self._drawn(*self.encoder(unit_length(profiles)))
        return multinomial_loss(self.decoder(z), profiles).mean()

    def _drawn(self, mean: Any, log_variance: Any) -> Any:
        return mean + self.chance.normal(*mean.shape) * torch.exp(0.5 * log_variance)

    def _log_prior(self, z: Any, inputs: Any) -> Any:
        with torch.no_grad():
            mean, log_variance = self.last(inputs)
        fixed = [math.log(w) + log_density(z, torch.zeros_like(z), torch.full_like(z, v)) for w, v in MIXTURE]
        remembered = math.log(1 - sum(w for w, _ in MIXTURE)) + log_density(z, mean, log_variance)
        return torch.logsumexp(torch.stack([*fixed, remembered]), dim=0)

    def answer(self, users: Any, profiles: Any) -> Any:
        """Logits at the mean of z."""
        return self.decoder(self.encoder(unit_length(profiles))[0])


def log_density(z: Any, mean: Any, log_variance: Any) -> Any:
    """The log density of a normal distribution, entry by entry."""
    return -0.5 * (log_variance + math.log(2 * math.pi) + (z - mean).square() / log_variance.exp())
