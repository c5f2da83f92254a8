"""Synthetic events of any number in one Parquet file, made and written in pieces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

PIECE = 5_000_000
START, SECONDS = 1_400_000_000, 4 * 365 * 86_400


def sizes(events: int) -> tuple[int, int]:
    """Users and items: a hundredth and a four-hundredth of the events (200 million: 2 million and 500,000)."""
    return max(events // 100, 50), max(events // 400, 20)


def write_events(path: Path, events: int, *, text: bool, seed: int = 1) -> None:
    """Write `events` rows of user, item, rating (1 to 5) and timestamp (seconds of four years), in random order.

    Users and items are drawn from shifted power laws (Zipf-Mandelbrot) with exponents 1.5 and 1.2, whose rarest ids
    have about 8 and 30 events; pairs repeat as they fall. Ids are integers in no order of popularity, or text made of
    them. One piece of `PIECE` rows is in memory at a time; the pieces are then streamed into one file.
    """
    n_users, n_items = sizes(events)
    pieces = []
    for number, start in enumerate(range(0, events, PIECE)):
        rng = np.random.default_rng([seed, number])
        rows = min(PIECE, events - start)
        frame = pl.DataFrame(
            {
                "user": _scattered(_power_law(rng, rows, n_users, 1.5, n_users / 50), n_users),
                "item": _scattered(_power_law(rng, rows, n_items, 1.2, n_items / 500), n_items),
                "rating": rng.choice(np.arange(1, 6, dtype=np.float32), rows, p=[0.06, 0.11, 0.27, 0.34, 0.22]),
                "timestamp": START + rng.integers(0, SECONDS, rows),
            }
        )
        if text:
            frame = frame.with_columns(
                user=pl.concat_str(pl.lit("member-"), pl.col("user").cast(pl.String).str.zfill(9)),
                item=pl.concat_str(pl.lit("article/"), pl.col("item").cast(pl.String)),
            )
        piece = path.with_suffix(f".{number}.part")
        frame.write_parquet(piece)
        pieces.append(piece)
    pl.scan_parquet(pieces).sink_parquet(path)
    for piece in pieces:
        piece.unlink()


def _power_law(rng: np.random.Generator, rows: int, n: int, power: float, shift: float) -> Any:
    """Ranks 0 .. n - 1 with density (1 + rank / shift) ** -power, by the inverse of its distribution function."""
    share = rng.random(rows)
    share *= (1 + n / shift) ** (1 - power) - 1
    share += 1
    np.power(share, 1 / (1 - power), out=share)
    share -= 1
    share *= shift
    return np.minimum(share.astype(np.int64), n - 1)


def _scattered(ranks: Any, n: int) -> Any:
    """Other numbers for ranks, one for each, below the next power of two."""
    return (ranks * 2_654_435_761 + 12_345) & ((1 << (n - 1).bit_length()) - 1)
