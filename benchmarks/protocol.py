"""How long the way from a Parquet file to a described split takes, and how much memory, from 1 to 20 million
rows.

python benchmarks/protocol.py [--millions 1 5 20] [--split global_time] [--threads 2] [--json FILE]

For every size a process of its own writes synthetic interactions (popularity and activity skewed, ratings,
times in seconds, rows in random order) to a temporary Parquet file; a second process, whose peak memory is
measured (getrusage), reads it, applies the protocol (threshold 3.5, 5-filter, split, cold removal, audit,
fingerprint) and describes the result. The reader, the generator and the characteristics of `recassay.data`
are used where they are installed; where not, plain polars and numpy stand in, and the table says so.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.types import Interactions
from recassay.protocol.apply import apply_protocol
from recassay.protocol.splits import SPLITS

STAGES = ("read", "protocol", "describe")
ROW_BYTES = 4 + 4 + 4 + 8


def installed(module: str) -> bool:
    """Whether a module of `recassay.data` is there."""
    return find_spec(f"recassay.data.{module}") is not None


def make(path: Path, rows: int) -> str:
    """Write `rows` different pairs to `path`; the name of the generator is returned."""
    users, items = rows // 140 + 100, rows // 700 + 100
    if installed("synthetic"):
        from recassay.data.synthetic.generate import SyntheticSpec, generate

        data = generate(
            SyntheticSpec(n_users=users, n_items=items, n_interactions=rows, ratings=True, seed=1)
        ).interactions
        user, item, weight, moment = data.user, data.item, data.weight, data.time
        name = "recassay.data.synthetic.generate"
    else:
        user, item, weight, moment = draw(users, items, rows)
        name = "numpy, in this script"
    order = np.random.default_rng(2).permutation(rows)
    frame = {c.USER: user[order], c.ITEM: item[order], c.RATING: weight[order], c.TIMESTAMP: moment[order]}
    pl.DataFrame(frame).write_parquet(path)
    return name


def draw(users: int, items: int, rows: int) -> tuple[Any, Any, Any, Any]:
    """Pairs of users of log-normal activity and items of Zipf popularity, ratings 1 to 5, four years of
    seconds."""
    rng = np.random.default_rng(1)
    activity = np.cumsum(rng.lognormal(0.0, 1.0, users))
    popularity = np.cumsum(rng.permutation((np.arange(items) + 10.0) ** -0.8))
    pairs = np.empty(0, dtype=np.int64)
    while len(pairs) < rows:
        wanted = int(1.3 * (rows - len(pairs))) + 1000
        user = np.searchsorted(activity, rng.random(wanted) * activity[-1], side="right")
        item = np.searchsorted(popularity, rng.random(wanted) * popularity[-1], side="right")
        pairs = np.unique(np.concatenate([pairs, user * items + item]))
    pairs = rng.permutation(pairs)[:rows]
    weight = rng.choice(np.arange(1, 6, dtype=np.float32), rows, p=[0.06, 0.11, 0.27, 0.34, 0.22])
    moment = rng.integers(1_300_000_000, 1_426_000_000, rows)
    return (pairs // items).astype(np.int32), (pairs % items).astype(np.int32), weight, moment


def read(path: Path) -> tuple[Interactions, str]:
    """The file as Interactions, and what read it."""
    if installed("readers"):
        from recassay.data.readers import read_interactions

        return read_interactions(path).interactions, "recassay.data.readers"
    frame = pl.read_parquet(path)
    ids = {}
    for name in (c.USER, c.ITEM):
        table = frame[name].unique().sort()
        place = np.zeros(int(table[-1]) + 1, dtype=np.int32)
        place[table.to_numpy()] = np.arange(table.len(), dtype=np.int32)
        ids[name] = table, place[frame[name].to_numpy()]
    data = Interactions(
        user=ids[c.USER][1],
        item=ids[c.ITEM][1],
        users=ids[c.USER][0],
        items=ids[c.ITEM][0],
        weight=frame[c.RATING].to_numpy(),
        time=frame[c.TIMESTAMP].to_numpy(),
    )
    return data, "polars, in this script"


def describe(data: Interactions) -> tuple[dict[str, float], str]:
    """What the final training looks like, and what computed it."""
    if installed("characteristics"):
        from recassay.data.characteristics import describe as characteristics

        return characteristics(data), "the 18 of recassay.data.characteristics"
    counts = [np.sort(np.bincount(ids)).astype(np.float64) for ids in (data.user, data.item)]
    ginis = [1 - 2 * float(((len(x) - np.arange(len(x))) * x).sum()) / ((len(x) + 1) * float(x.sum())) for x in counts]
    shape = {"Nu": data.n_users, "Ni": data.n_items, "Nr": len(data), "Giniu": ginis[0], "Ginii": ginis[1]}
    return shape, "five counts in this script (not the 18)"


def work(path: Path, split: str) -> dict[str, Any]:
    """Run the stages on one file; seconds of each, and the peak memory of the process before and after
    each."""

    def peak() -> int:
        kilo = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * kilo

    peaks, seconds, moment = {"start": peak()}, {}, time.perf_counter()

    def done(stage: str) -> None:
        nonlocal moment
        seconds[stage] = time.perf_counter() - moment
        peaks[stage] = peak()
        moment = time.perf_counter()

    data, reader = read(path)
    done("read")
    parts = apply_protocol(data, ProtocolSpec(positive_threshold=3.5, split=split))  # type: ignore[arg-type]
    done("protocol")
    shape, described = describe(parts.refit())
    done("describe")
    processor = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "seconds": seconds,
        "peaks": peaks,
        "processor_seconds": processor.ru_utime + processor.ru_stime,
        "counts": parts.counts,
        "shape": shape,
        "reader": reader,
        "described": described,
        "fingerprint": parts.fingerprint,
    }


def in_process(arguments: list[str], threads: int) -> dict[str, Any]:
    """Run this script with `arguments` in a process of its own and return the JSON it prints."""
    names = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, str(threads))
    done = subprocess.run(
        [sys.executable, __file__, *arguments], env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def measure(millions: list[float], split: str, threads: int) -> list[dict[str, Any]]:
    """One record a size."""
    records = []
    for million in millions:
        rows = round(million * 1e6)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "interactions.parquet"
            made = in_process(["--make", str(path), str(rows)], threads)
            record = in_process(["--work", str(path), split], threads)
            record |= {"rows": rows, "file_bytes": path.stat().st_size, **made}
        records.append(record)
        print(f"{rows:,} rows: {sum(record['seconds'].values()):.1f} s", file=sys.stderr)
    return records


def table(records: list[dict[str, Any]], split: str, threads: int) -> str:
    """The records in words and columns; growth is against the first size."""
    first = records[0]
    lines = [
        f"split {split}, {threads} threads; data made by {first['generator']}, read by {first['reader']}; "
        f"described: {first['described']}",
        "peak memory is of the whole process with its libraries; 'x data' takes the start off "
        f"and divides by {ROW_BYTES} bytes a row",
        "",
        f"{'rows':>12} {'read s':>8} {'protocol s':>11} {'describe s':>11} {'total s':>8} {'cpu s':>7} "
        f"{'growth':>7} {'peak MB':>8} {'growth':>7} {'x data':>7}",
    ]
    total_first, peak_first = sum(first["seconds"].values()), first["peaks"]["describe"]
    for record in records:
        seconds, total, top = record["seconds"], sum(record["seconds"].values()), record["peaks"]["describe"]
        extra = (top - record["peaks"]["start"]) / (record["rows"] * ROW_BYTES)
        lines.append(
            f"{record['rows']:>12,} {seconds['read']:>8.2f} {seconds['protocol']:>11.2f} "
            f"{seconds['describe']:>11.2f} {total:>8.2f} {record['processor_seconds']:>7.1f} "
            f"{total / total_first:>7.1f} {top / 1e6:>8.0f} {top / peak_first:>7.1f} {extra:>7.1f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Read the arguments; `--make` and `--work` are how the script calls itself."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--millions", type=float, nargs="+", default=[1, 5, 20])
    parser.add_argument("--split", choices=[name for name in SPLITS if name != "given"], default="global_time")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--make", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.make:
        print(json.dumps({"generator": make(Path(chosen.make[0]), int(chosen.make[1]))}))
    elif chosen.work:
        print(json.dumps(work(Path(chosen.work[0]), chosen.work[1])))
    else:
        records = measure(chosen.millions, chosen.split, chosen.threads)
        print(table(records, chosen.split, chosen.threads))
        if chosen.json:
            chosen.json.write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
