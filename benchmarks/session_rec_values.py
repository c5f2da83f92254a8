"""Every value that session-rec's authors print of Diginetica's single split, and ours beside it.

python benchmarks/session_rec_values.py [--data DIR] [--published FILE] [--out docs/evidence/session_rec.csv]

Theirs: 17 metrics of `recsys2019`, protocol `single`, dataset `diginetica`, in the published tables of
github.com/rn5l/session-rec. Ours: GCE-GNN's files of the same log, cut the same way (7 days test, items with 5 events,
sessions with 2); they lack the sessions of the day of the cut, which session-rec trains on. Of the other datasets there
is no file here, or one without times, from which the five windows cannot be cut.

Settings are those of its file `single_digi_baselines.yml`. Of V-SKNN, the decay of scores there is linear and ours is
1 / r. Its rules are cut to the 20 best of each item, ours are not. Its lists end with items of score 0 in no stated
order, ours with the most popular ones: coverage and popularity differ by that. Seconds are of one processor, for
training and 60,858 lists, kernels compiled before. One run takes about a minute.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recassay.algorithms.sequential.rules import AssociationRules, MarkovChain, SequentialRules
from recassay.algorithms.sequential.session_knn import VSKNN
from recassay.core.histories import Histories
from recassay.core.interactions import Interactions
from recassay.core.seeds import derived_rng

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("RECASSAY_DATA", ROOT.parent / "shared" / "data"))
PUBLISHED = DATA.parent / "reference" / "session_rec_published.csv"
OUT = ROOT / "docs" / "evidence" / "session_rec.csv"
RUNS: Mapping[str, tuple[Any, float]] = {
    "markov": (MarkovChain(), 0.0),
    "ar": (AssociationRules(), 0.0),
    "sr": (SequentialRules(last=1, confidence=0.0, steps=15), 0.0),
    "vsknn": (VSKNN(k=1500, sample=10_000, position=2, score_position=1, last=200), 10.0),
}
"""By its name there our algorithm, and the weight of the inverse document frequency of items."""
CUTS = (5, 10, 20)
REACH = 3000
"""So many items are weighed by inverse document frequency, before the best are listed."""
AT_ONCE = 2048


@dataclass(frozen=True)
class Sessions:
    """The events of test sessions, one after the other; judgement j is event `at[j]`, in a session to `end[j]`."""

    items: np.ndarray
    begin: np.ndarray
    at: np.ndarray
    end: np.ndarray

    @classmethod
    def of(cls, sessions: np.ndarray, items: np.ndarray) -> Sessions:
        """Every event but the first of a session is judged."""
        starts = np.flatnonzero(np.diff(sessions, prepend=-1))
        bounds = np.append(starts, len(items))
        session = np.repeat(np.arange(len(starts)), np.diff(bounds))
        at = np.setdiff1d(np.arange(len(items)), starts)
        return cls(items, bounds[session[at]], at, bounds[session[at] + 1])

    def histories(self, part: slice) -> Histories:
        """What came before some of the judgements."""
        begin, lengths = self.begin[part], self.at[part] - self.begin[part]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(begin - starts[:-1], lengths) + np.arange(starts[-1])
        return Histories(self.items[places], starts.astype(np.int64))


def judged(lists: np.ndarray, asked: Sessions, events: np.ndarray) -> dict[str, float]:
    """The metrics as session-rec computes them: means over judgements, not over sessions.

    HR and MRR ask for the next event, P, R and MAP for all that follow in the session. P = hits / k, R = hits / events
    that follow. MAP = sum over the hits at places below k of (hits so far / k) / events that follow: the last place is
    never reached there. COV: items listed / items of training. POP: mean of an item's events / those of the most
    popular one. `events` has those of training, by item.
    """
    right = lists == asked.items[asked.at][:, None]
    follow = np.stack([np.isin(row, asked.items[at:end])
                       for row, at, end in zip(lists, asked.at, asked.end, strict=True)])  # fmt: skip
    left = asked.end - asked.at
    values = {}
    for k in CUTS:
        hit, hits = right[:, :k].any(axis=1), np.cumsum(follow[:, :k], axis=1)
        values[f"HR@{k}"] = hit.mean()
        values[f"MRR@{k}"] = np.where(hit, 1 / (1 + right[:, :k].argmax(axis=1)), 0).mean()
        values[f"P@{k}"] = hits[:, -1].mean() / k
        values[f"R@{k}"] = (hits[:, -1] / left).mean()
        values[f"MAP@{k}"] = ((hits * follow[:, :k])[:, : k - 1].sum(axis=1) / k / left).mean()
    longest = CUTS[-1]
    values[f"COV@{longest}"] = len(np.unique(lists[lists >= 0])) / len(events)
    values[f"POP@{longest}"] = (events / events.max())[lists].mean()
    return {name: float(value) for name, value in values.items()}


def diginetica(data: Path) -> tuple[Interactions, Sessions]:
    """The log to learn from, in the order of its days, and the sessions that are asked for."""
    parts = (pl.read_parquet(data / "sequences" / f"diginetica-sessions-{part}.parquet") for part in ("train", "test"))
    train, test = (part.sort("user", "position") for part in parts)
    known, item = np.unique(train["item"].to_numpy(), return_inverse=True)
    user = np.unique(train["user"].to_numpy(), return_inverse=True)[1]
    tables = pl.Series(np.arange(user.max() + 1)), pl.Series(np.arange(len(known)))
    log = Interactions(user.astype(np.int32), item.astype(np.int32), *tables, time=np.arange(len(item)))
    asked = np.searchsorted(known, test["item"].to_numpy()).astype(np.int32)
    return log, Sessions.of(np.unique(test["user"].to_numpy(), return_inverse=True)[1], asked)


def measured(name: str, log: Interactions, asked: Sessions) -> dict[str, float]:
    """The values of an algorithm, and its processor seconds."""
    algorithm, idf = RUNS[name]
    everything = slice(0, len(asked.at))
    algorithm.fit(log.take(slice(0, 2000)), rng=derived_rng(0, "warm")).recommend_from(
        asked.histories(slice(0, 9)), 20, exclude=None
    )
    begin = time.process_time()
    model = algorithm.fit(log, rng=derived_rng(0, "session-rec"))
    lists = model.recommend_from(asked.histories(everything), CUTS[-1], exclude=None).items
    seconds = time.process_time() - begin
    events = np.bincount(log.item, minlength=log.n_items)
    if idf:
        weight, blocks = 1 + idf * np.log(log.n_users / events), []
        for at in range(0, everything.stop, AT_ONCE):
            part = slice(at, min(at + AT_ONCE, everything.stop))
            top = model.recommend_from(asked.histories(part), REACH, exclude=None)
            best = np.argsort(-np.maximum(top.scores, 0) * weight[top.items], axis=1, kind="stable")[:, : CUTS[-1]]
            blocks.append(np.take_along_axis(top.items, best, axis=1))
        lists = np.concatenate(blocks)
    return judged(lists, asked, events) | {"seconds": seconds}


def published(file: Path) -> pl.DataFrame:
    """Their values, of the algorithms that we have no such of, too."""
    table = pl.read_csv(file, infer_schema_length=None)
    rows = table.filter(paper="recsys2019", protocol="single", dataset="diginetica")
    return rows.select("algorithm", "metric", pl.col("value").cast(pl.Float64).alias("published"))


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--published", type=Path, default=PUBLISHED)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    log, asked = diginetica(options.data)
    rows = [(name, metric, value) for name in RUNS for metric, value in measured(name, log, asked).items()]
    ours = pl.DataFrame(rows, schema=["algorithm", "metric", "ours"], orient="row")
    both = published(options.published).join(ours, on=["algorithm", "metric"], how="full", coalesce=True)
    both.sort("metric", "algorithm").write_csv(options.out, float_precision=4)
    print(options.out.read_text())


if __name__ == "__main__":
    main()
