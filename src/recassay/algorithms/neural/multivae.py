"""MultiVAE and MultiDAE: autoencoders with a multinomial likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.neural.algorithm import NeuralAlgorithm
from recassay.algorithms.neural.events import Events, held_bytes
from recassay.algorithms.neural.network import Pass, ProfileNetwork, multinomial_loss, through, tower, unit_length
from recassay.core.specs.search import real, whole

_SOURCE = "Liang, Krishnan, Hoffman & Jebara 2018, Variational Autoencoders for Collaborative Filtering, WWW"


class MultiVAE(NeuralAlgorithm):
    """Variational autoencoder with a multinomial likelihood (Mult-VAE).

    x_u is brought to unit length, dropped out (`dropout`) and encoded by tanh layers (items, `hidden`, `latent`) to the
    mean and variance of z_u; pi(z_u) = softmax of the mirrored decoder. Minimises, over users,

        - E_q sum_i x_ui log pi_i(z_u) + beta KL(q(z_u | x_u) || N(0, I))   (equation 5)

    with beta = min(`anneal_cap`, epochs done / `anneal_epochs`). The paper's 200,000 steps of annealing to 1 are about
    850 epochs of its smallest data; counted in epochs, small data reach the cap as well. `noise` scales the random
    part of z (1: the definition; RecBole has 0.01). Scores are the logits at the mean of z.
    """

    name: ClassVar[str] = "MultiVAE"
    aliases: ClassVar[tuple[str, ...]] = ("Mult-VAE",)
    source: ClassVar[str] = _SOURCE

    latent: int = whole(40, 320, default=200, step=40)
    anneal_cap: float = real(0.1, 1.0, default=0.5)
    dropout: float = real(0.3, 0.8, default=0.5, least=0, most=0.99)
    rate: float = real(3e-4, 6e-3, default=2e-3, log=True)
    hidden: int = 600
    anneal_epochs: int = 100
    noise: float = 1.0
    epochs: int = 200
    batch: int = 1000

    def network(self, events: Events) -> Variational:
        """Encoder and decoder."""
        return Variational(self, events)

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """Two layers of items x hidden; the profiles of a batch and what is computed from them."""
        learned = (2 * self.hidden + 1) * n_items + 4 * self.hidden * self.latent
        return learned, 6 * min(self.batch, n_users) * n_items


class Variational(ProfileNetwork[MultiVAE]):
    """The network of `MultiVAE`."""

    def __init__(self, algorithm: MultiVAE, events: Events) -> None:
        super().__init__(algorithm, events)
        self.recordable = held_bytes(events.n_users, events.n_items) > 0
        # Tensor cores multiply rows of whole groups of eight numbers several times as fast as others.
        self.spare = -events.n_items % 8 if events.device == "cuda" else 0
        hidden, latent, width = algorithm.hidden, algorithm.latent, events.n_items + self.spare
        self.encoder = tower((width, hidden, 2 * latent), self.chance)
        self.decoder = tower((latent, hidden, width), self.chance)
        self.beta = torch.zeros((), device=events.device)

    def passes(self) -> Sequence[Pass]:
        """All active users once."""
        self.anneal()
        return super().passes()

    def anneal(self) -> None:
        """Take the beta of the epoch that begins."""
        reached = self.epoch / max(self.algorithm.anneal_epochs, 1e-9)
        self.beta.fill_(min(self.algorithm.anneal_cap, reached))

    def loss(self, users: Any) -> Any:
        """Likelihood and divergence of a batch."""
        profiles = self.events.profiles(users)
        inputs = self.chance.dropout(unit_length(profiles), self.algorithm.dropout)
        _, likelihood, divergence = self.scored(profiles, inputs)
        return (likelihood + self.beta * divergence).mean()

    def scored(self, profiles: Any, inputs: Any) -> tuple[Any, Any, Any]:
        """(logits, minus log likelihood, divergence) of each user, z drawn once."""
        mean, log_variance = self._encoded(inputs)
        noise = self.chance.normal(*mean.shape) * self.algorithm.noise
        scores = self._decoded(mean + noise * torch.exp(0.5 * log_variance))
        divergence = 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).sum(1)
        return scores, multinomial_loss(scores, profiles), divergence

    def answer(self, users: Any, profiles: Any) -> Any:
        """Logits at the mean of z."""
        return self._decoded(self._encoded(unit_length(profiles))[0])

    def _decoded(self, z: Any) -> Any:
        return through(self.decoder, z)[:, : self.events.n_items]

    def _encoded(self, inputs: Any) -> tuple[Any, Any]:
        inputs = torch.nn.functional.pad(inputs, (0, self.spare))
        mean, log_variance = through(self.encoder, inputs).float().chunk(2, dim=1)
        return mean, log_variance


class MultiDAE(NeuralAlgorithm):
    """Denoising autoencoder with a multinomial likelihood (Mult-DAE).

    As `MultiVAE` without the variational part: z_u is a point, and `reg` times half the squared weights, per user of a
    batch, takes the place of the divergence. The paper finds no hidden layer best: items, `latent`, items; `hidden`
    above 0 puts a layer on either side.
    """

    name: ClassVar[str] = "MultiDAE"
    aliases: ClassVar[tuple[str, ...]] = ("Mult-DAE",)
    source: ClassVar[str] = _SOURCE

    latent: int = whole(32, 256, default=200, step=8)
    dropout: float = real(0.0, 0.7, default=0.5, least=0, most=0.99)
    reg: float = real(1e-5, 0.1, default=0.01, log=True)
    rate: float = real(1e-5, 1e-2, default=1e-3, log=True)
    hidden: int = 0
    epochs: int = 200

    def network(self, events: Events) -> Denoising:
        """Encoder and decoder."""
        return Denoising(self, events)

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """Two layers of items x their neighbour; the profiles of a batch and what is computed from them."""
        width = self.hidden or self.latent
        return (2 * width + 1) * n_items + 2 * self.hidden * self.latent, 6 * min(self.batch, n_users) * n_items


class Denoising(ProfileNetwork[MultiDAE]):
    """The network of `MultiDAE`."""

    def __init__(self, algorithm: MultiDAE, events: Events) -> None:
        super().__init__(algorithm, events)
        sizes = [events.n_items, *([algorithm.hidden] if algorithm.hidden else []), algorithm.latent]
        self.encoder, self.decoder = tower(sizes, self.chance), tower(sizes[::-1], self.chance)

    def loss(self, users: Any) -> Any:
        """Likelihood of a batch and the penalty on the weights."""
        profiles = self.events.profiles(users)
        scores = self._scores(self.chance.dropout(unit_length(profiles), self.algorithm.dropout))
        penalty = sum(layer.weight.square().sum() for layer in (*self.encoder, *self.decoder))
        return multinomial_loss(scores, profiles).mean() + self.algorithm.reg / self.algorithm.batch * penalty

    def answer(self, users: Any, profiles: Any) -> Any:
        """Logits."""
        return self._scores(unit_length(profiles))

    def _scores(self, inputs: Any) -> Any:
        return through(self.decoder, torch.tanh(through(self.encoder, inputs)))
