"""What may be said of a study while it grows: statements that stay valid however often one looks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln

from recassay.core import ties
from recassay.core.errors import listing
from recassay.core.tables.matrix import Matrix
from recassay.core.types import FloatArray


@dataclass(frozen=True, slots=True)
class Look:
    """The leader by mean rank so far, whom it is shown to beat, and whom not; valid at every look.

    `p` holds, for each other algorithm, the anytime-valid p-value of the leader against it, corrected for all pairs.
    """

    leader: str
    """The best mean rank so far."""
    behind: tuple[str, ...]
    """Those whom it is shown to beat."""
    open: tuple[str, ...]
    """Those whom it is not."""
    datasets: int
    """How many datasets counted."""
    alpha: float
    p: dict[str, float]

    def sentence(self) -> str:
        """One sentence for people who watch the run."""
        over = f"after {self.datasets} dataset{'s' if self.datasets != 1 else ''}"
        if not self.behind:
            return f"{self.leader} leads, but {over} its lead is not yet significant."
        rest = f"; not yet ahead of {listing(self.open, most=4)}" if self.open else ""
        return (
            f"{self.leader} is shown to win on more than half of the datasets against {listing(self.behind, most=4)}"
            f"{rest} ({over}; holds however often one looks, level {self.alpha:g} over all pairs)."
        )


def look_at(matrix: Matrix, *, alpha: float = 0.05) -> Look:
    """The statement that watching does not spoil.

    Each pair has an e-value, a bet against "each wins half of the datasets" (`inference.anytime`); 1 / E times the
    number of pairs is a p-value that stays valid whatever makes one stop or go on (Ville 1939), and whichever algorithm
    happens to lead. It needs more datasets than a test that is made once: the price of looking.
    """
    ranks = ties.ranks(matrix.values, higher_is_better=matrix.higher_is_better, axis=0)
    k, n = ranks.shape
    order = sorted(range(k), key=lambda a: (ranks[a].mean(), matrix.algorithms[a]))
    first, others = order[0], order[1:]
    wins = (ranks[first] < ranks[others]).sum(axis=1).astype(np.float64)
    losses = (ranks[first] > ranks[others]).sum(axis=1).astype(np.float64)
    p = np.minimum(1.0, anytime_p(wins, losses) * k * (k - 1) / 2)
    names = [matrix.algorithms[a] for a in others]
    beaten = (p < alpha) & (wins > losses)
    return Look(
        leader=matrix.algorithms[first],
        behind=tuple(names[i] for i in np.flatnonzero(beaten)),
        open=tuple(names[i] for i in np.flatnonzero(~beaten)),
        datasets=n,
        alpha=alpha,
        p=dict(zip(names, p.tolist(), strict=True)),
    )


PRIOR = 0.5
"""Both parameters of the Beta mixture: Jeffreys' prior of the probability of winning."""


def sign_evidence(wins: FloatArray, losses: FloatArray) -> FloatArray:
    """How much a gambler makes who bets against "each wins half of the datasets", starting with 1 (an e-value).

    The mixture of the likelihood ratios of theta against 1/2 over a Beta(1/2, 1/2) prior,
    E = 2^n B(wins + 1/2, losses + 1/2) / B(1/2, 1/2), is a martingale under the null, so P(sup E >= 1 / alpha) <= alpha
    whatever the stopping rule (Ville 1939; Ramdas et al. 2023, "Game-theoretic statistics and safe anytime-valid
    inference"). Ties leave it as it is.
    """
    log_evidence = (wins + losses) * np.log(2.0) + betaln(wins + PRIOR, losses + PRIOR) - betaln(PRIOR, PRIOR)
    return np.asarray(np.exp(log_evidence))


def anytime_p(wins: FloatArray, losses: FloatArray) -> FloatArray:
    """The p-value 1 / E (at most 1), valid at any time."""
    return np.minimum(1.0, 1.0 / sign_evidence(wins, losses))
