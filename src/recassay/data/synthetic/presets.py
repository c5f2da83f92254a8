"""The embedded datasets: synthetic ones of different character, small enough for a demonstration."""

from __future__ import annotations

from recassay.core.errors import UsageError
from recassay.core.names import did_you_mean
from recassay.data.synthetic.generate import SyntheticData, SyntheticSpec, generate

SUMMARIES: dict[str, str] = {
    "dense-small": "a quarter of a small matrix is filled; everybody knows much",
    "sparse-large": "many users and items, about a dozen interactions each; grows by `scale`",
    "few-items": "sixty items and many users: half of the catalogue fits in a list or two",
    "long-tail": "a steep power law: most interactions on few items, most items with few interactions",
    "drifting": "what is popular changes over time, and tastes a little; the past misleads",
    "near-random": "four of five interactions are chance: nothing much to learn beyond popularity",
    "heavy-users": "a few users make most of the interactions, many have hardly more than the minimum",
    "ratings-explicit": "ratings from 1 to 5; what users like differs from what they meet",
    "cold-catalogue": "four of five items are born during the span: the newest have no past to learn from",
    "niche-tastes": "thirty narrow tastes and an even popularity: personalisation is everything",
    "blockbuster": "everybody meets the same hits, tastes add little: popularity is hard to beat",
}
"""One line on the character of each preset."""

PRESETS: dict[str, SyntheticSpec] = {
    "dense-small": SyntheticSpec(
        seed=1_000_000,
        n_users=300,
        n_items=200,
        n_interactions=15_000,
        n_factors=6,
        popularity_exponent=0.5,
        activity_exponent=0.3,
    ),
    "sparse-large": SyntheticSpec(
        seed=2_000_000,
        n_users=3_000,
        n_items=4_000,
        n_interactions=40_000,
        n_factors=24,
        taste_strength=0.9,
        taste_breadth=0.3,
        popularity_exponent=0.7,
    ),
    "few-items": SyntheticSpec(
        seed=3_000_000,
        n_users=1_500,
        n_items=60,
        n_interactions=18_000,
        n_factors=5,
        popularity_exponent=0.6,
        activity_exponent=0.2,
    ),
    "long-tail": SyntheticSpec(
        seed=4_000_000,
        n_users=1_200,
        n_items=3_000,
        n_interactions=30_000,
        n_factors=12,
        taste_strength=0.9,
        taste_breadth=0.5,
        popularity_exponent=1.5,
        noise=0.03,
    ),
    "drifting": SyntheticSpec(
        seed=5_000_000,
        n_users=1_000,
        n_items=600,
        n_interactions=30_000,
        n_factors=10,
        taste_breadth=0.5,
        popularity_drift=1.0,
        taste_drift=0.2,
        new_items=0.2,
        user_turnover=0.1,
    ),
    "near-random": SyntheticSpec(
        seed=6_000_000,
        n_users=800,
        n_items=500,
        n_interactions=20_000,
        n_factors=8,
        taste_strength=0.1,
        popularity_exponent=0.5,
        noise=0.8,
    ),
    "heavy-users": SyntheticSpec(
        seed=7_000_000,
        n_users=1_000,
        n_items=1_500,
        n_interactions=40_000,
        n_factors=16,
        taste_strength=0.9,
        taste_breadth=0.5,
        popularity_exponent=0.6,
        activity_exponent=1.2,
    ),
    "ratings-explicit": SyntheticSpec(
        seed=8_000_000,
        n_users=700,
        n_items=600,
        n_interactions=45_000,
        n_factors=8,
        ratings=True,
    ),
    "cold-catalogue": SyntheticSpec(
        seed=9_000_000,
        n_users=1_000,
        n_items=1_200,
        n_interactions=25_000,
        n_factors=10,
        new_items=0.8,
    ),
    "niche-tastes": SyntheticSpec(
        seed=10_000_000,
        n_users=1_000,
        n_items=1_000,
        n_interactions=25_000,
        n_factors=30,
        taste_strength=0.9,
        taste_breadth=0.3,
        popularity_exponent=0.5,
    ),
    "blockbuster": SyntheticSpec(
        seed=11_000_000,
        n_users=1_200,
        n_items=800,
        n_interactions=25_000,
        n_factors=8,
        taste_strength=0.65,
        taste_breadth=0.4,
        popularity_exponent=1.0,
    ),
}
"""The presets' specs; their seeds lie a million apart, so that two presets never share their chance."""


def preset_spec(name: str, *, seed: int = 0, scale: float = 1.0) -> SyntheticSpec:
    """The spec of a preset, its own seed moved on by `seed`, grown by `scale`.

    Users and interactions grow by `scale`, items by its square root: a bigger one of the same kind has as
    many interactions per user, more per item, and a lower density.
    """
    if name not in PRESETS:
        raise UsageError(f"no preset {name!r}", fix=did_you_mean(name, list(PRESETS)))
    if not 1 <= scale <= 10_000:
        raise UsageError(f"scale is {scale}", where=f"preset {name}", fix="give a number from 1 to 10,000")
    spec = PRESETS[name]
    return spec.model_copy(
        update={
            "n_users": int(spec.n_users * scale),
            "n_items": int(spec.n_items * scale**0.5),
            "n_interactions": int(spec.n_interactions * scale),
            "seed": spec.seed + seed,
        }
    )


def load_preset(name: str, *, seed: int = 0, scale: float = 1.0) -> SyntheticData:
    """Generate a preset (see `preset_spec`): interactions and the truth behind them."""
    return generate(preset_spec(name, seed=seed, scale=scale))
