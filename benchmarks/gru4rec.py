"""GRU4Rec beside its author's program: both are trained and judged on the same sessions.

python benchmarks/gru4rec.py CHECKOUT [--data DIR] [--parts theirs ours] [--losses NAMES ...] [--seeds 1] [--out FILE]

CHECKOUT is a copy of github.com/hidasib/GRU4Rec_PyTorch_Official; pandas must be installed. Nothing is written there.

Sessions of the Yoochoose sample `rsc15-100k` in the order of their beginnings; the newest tenth is judged, items that
training lacks and sessions of one event are left out, as in the author's preparation. Every event after the first is
asked for after those before it, among all items; equal scores count as worse. Theirs takes the author's published
parameters (`paramfiles/`: Yoochoose for cross-entropy, RetailRocket for BPR-max) and ten epochs. Ours takes the same
size of vectors, a rate of .004 and for BPR-max the author's dropout, power and penalty; it trains for as many epochs as
are best on the newest ninth of the training sessions. The seconds are those of one processor, of the last training.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.neural.gru4rec import GRU4Rec
from recassay.core.histories import Histories
from recassay.core.interactions import Interactions
from recassay.core.seeds import derived_rng

DATA = Path(os.environ.get("RECASSAY_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
CUT = 20
PARAMETERS = {"cross-entropy": "rsc15_xe_shared_100_best", "bpr-max": "retailrocket_bprmax_shared_best"}
OURS: dict[str, dict[str, Any]] = {
    "cross-entropy": {"embedding": 100, "rate": 0.004},
    "bpr-max": {"embedding": 224, "rate": 0.004, "dropout": 0.5, "power": 0.4, "penalty": 1.95},
}


def parted(log: pd.DataFrame, share: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(older sessions, the newest `share` of them with items of the older ones), of two events or more."""
    begun = log.groupby("SessionId").Time.min().sort_values(kind="stable")
    newest = set(begun.index[int(len(begun) * (1 - share)) :])
    is_new = log.SessionId.isin(newest)
    older, newer = log[~is_new], log[is_new]
    newer = newer[newer.ItemId.isin(older.ItemId.unique())]
    return tuple(part[part.groupby("SessionId").ItemId.transform("size") > 1].copy() for part in (older, newer))


def sessions_of(folder: Path) -> pd.DataFrame:
    """The events by session and time, in the author's columns."""
    frame = pl.read_parquet(folder / "interactions" / "rsc15-100k.parquet")
    frame = frame.sort("user", "timestamp", maintain_order=True)
    columns = {"SessionId": frame["user"].to_numpy(), "ItemId": frame["item"].to_numpy()}
    return pd.DataFrame({**columns, "Time": frame["timestamp"].to_numpy()})


def interactions(log: pd.DataFrame, items: Any) -> Interactions:
    """Sessions as users."""
    user, ids = pd.factorize(log.SessionId)
    tables = pl.Series(np.arange(len(ids))), pl.Series(np.arange(len(items)))
    item = np.searchsorted(items, log.ItemId.to_numpy()).astype(np.int32)
    return Interactions(user.astype(np.int32), item, *tables, time=np.arange(len(log)))


def judged(model: Any, log: pd.DataFrame, items: Any) -> dict[str, float]:
    """Recall and MRR over all events of sessions but their first."""
    sessions = [np.searchsorted(items, part.ItemId.to_numpy()) for _, part in log.groupby("SessionId")]
    prefixes = [session[:place] for session in sessions for place in range(1, len(session))]
    wanted = np.concatenate([session[1:] for session in sessions])
    starts = np.cumsum([0, *map(len, prefixes)]).astype(np.int64)
    asked = Histories(np.concatenate(prefixes).astype(np.int32), starts)
    hits = model.recommend_from(asked, CUT, exclude=None).items == wanted[:, None]
    reciprocal = (hits / np.arange(1, CUT + 1)).sum(1)
    return {"recall@20": float(hits.any(1).mean()), "mrr@20": float(reciprocal.mean()), "events": len(wanted)}


def ours(loss: str, train: pd.DataFrame, test: pd.DataFrame, seed: int, most: int) -> dict[str, Any]:
    """Epochs by validation, then trained on all."""

    def training(log: pd.DataFrame) -> tuple[Any, Any]:
        items = np.unique(log.ItemId)
        algorithm = GRU4Rec(loss=loss, device="cpu", **OURS[loss])
        return algorithm.training(interactions(log, items), derived_rng(seed, "gru4rec")), items

    inner, valid = parted(train, 1 / 9)
    trained, items = training(inner)
    best, epochs, done = -1.0, 0, 0
    while done < most and done - epochs <= 12:
        trained.advance(3)
        done += 3
        value = judged(trained.model(), valid, items)["mrr@20"]
        print(f"  {loss} epoch {done}: {value:.4f} on validation", file=sys.stderr, flush=True)
        if value > best:
            best, epochs = value, done
    spent = time.process_time()
    trained, items = training(train)
    trained.advance(epochs)
    spent = time.process_time() - spent
    return judged(trained.model(), test, items) | {"epochs": epochs, "processor s": spent}


def theirs(loss: str, train: pd.DataFrame, test: pd.DataFrame, seed: int) -> dict[str, Any]:
    """The author's program with the author's parameters."""
    program, evaluation = (importlib.import_module(name) for name in ("gru4rec_pytorch", "evaluation"))
    parameters = importlib.import_module(f"paramfiles.{PARAMETERS[loss]}").gru4rec_params
    # Items as they first appear: the program reads a Series by position, which pandas does by label today.
    places = pd.Series(np.arange(train.ItemId.nunique()), index=train.ItemId.unique())
    train, test = (part.assign(ItemId=places[part.ItemId].to_numpy()) for part in (train, test))
    torch.manual_seed(seed)
    model = program.GRU4Rec(device=torch.device("cpu"))
    model.set_params(**parameters)
    spent = time.process_time()
    model.fit(train, sample_cache_max_size=1_000_000, compatibility_mode=False)
    spent = time.process_time() - spent
    recall, mrr = evaluation.batch_eval(model, test, cutoff=[CUT], batch_size=100)
    found = {"recall@20": float(recall[CUT]), "mrr@20": float(mrr[CUT])}
    return found | {"epochs": model.n_epochs, "processor s": spent}


def main() -> None:
    """Print one row per program, loss and seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--parts", nargs="*", default=["theirs", "ours"])
    parser.add_argument("--losses", nargs="*", default=list(PARAMETERS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=60, help="the most epochs of ours")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    sys.path.insert(0, str(asked.checkout))
    train, test = parted(sessions_of(asked.data), 0.1)
    print(f"{len(train)} events of {train.SessionId.nunique()} sessions to learn from", flush=True)
    rows = []
    for loss in asked.losses:
        for seed in range(1, asked.seeds + 1):
            for part in asked.parts:
                if part == "theirs":
                    found = theirs(loss, train, test, seed)
                else:
                    found = ours(loss, train, test, seed, asked.epochs)
                rows.append({"program": part, "loss": loss, "seed": seed, **found})
                print(json.dumps(rows[-1]), flush=True)
    if asked.out:
        asked.out.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
