"""The embedded datasets: synthetic ones of different character, small enough for a demonstration."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from recassay.core.errors import UsageError
from recassay.core.names import did_you_mean
from recassay.data.synthetic.generate import SyntheticSpec

_TABLES = tomllib.loads(files("recassay.data.synthetic").joinpath("presets.toml").read_text("utf-8"))
SUMMARIES: dict[str, str] = {name: table.pop("summary") for name, table in _TABLES.items()}
"""One line on the character of each preset."""

PRESETS: dict[str, SyntheticSpec] = {name: SyntheticSpec.model_validate(table) for name, table in _TABLES.items()}


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
