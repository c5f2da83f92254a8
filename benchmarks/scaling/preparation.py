"""From a Parquet file to an audited split on disk and its 18 characteristics: time and memory by events.

For every size one process writes synthetic events (`events.py`), and another, whose memory is measured (getrusage),
reads them, applies the protocol (threshold 3.5, 5-core, global temporal split, cold removal, repeats, audit,
fingerprint), writes the split and describes it.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from scaling.growth import Stages, exponent, in_process

STAGES = ("read", "protocol", "save", "describe")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The sizes and the kind of ids; `--make` and `--work` are how the section calls itself."""
    parser.add_argument("--events", type=float, nargs="+", default=[5e5, 2e6, 8e6])
    parser.add_argument("--ids", choices=["integers", "text"], nargs="+", default=["integers", "text"])
    parser.add_argument("--filter", choices=["none", "once", "core"], default="core")
    parser.add_argument("--split", default="global_time")
    parser.add_argument("--threshold", type=float, default=3.5, help="0: none, so that the weights stay")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where the temporary folder is made (up to 25 bytes per event)")
    parser.add_argument("--make", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)


def main(chosen: argparse.Namespace) -> int:
    """Measure every size and print the table."""
    if chosen.make:
        from scaling.events import write_events

        path, events, ids = chosen.make
        write_events(Path(path), int(events), text=ids == "text")
        print(json.dumps({}))
        return 0
    if chosen.work:
        print(json.dumps(work(Path(chosen.work[0]), Path(chosen.work[1]), chosen)))
        return 0
    for ids in chosen.ids:
        records = [measure(round(events), ids, chosen) for events in chosen.events]
        print(table(records, ids, chosen), flush=True)
    return 0


def measure(events: int, ids: str, chosen: argparse.Namespace) -> dict[str, Any]:
    """One size: its file made and prepared, each in a process of its own, and all of it removed."""
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        path = Path(folder) / "events.parquet"
        in_process(["preparation", "--make", str(path), str(events), ids], threads=chosen.threads)
        rest = ["--filter", chosen.filter, "--split", chosen.split, "--threshold", str(chosen.threshold)]
        record = in_process(["preparation", "--work", str(path), folder, *rest], threads=chosen.threads)
        return record | {"events": events, "file_bytes": path.stat().st_size}


def work(path: Path, folder: Path, chosen: argparse.Namespace) -> dict[str, Any]:
    """Prepare one file; the cost of each stage."""
    from recassay.core.specs.specs import ProtocolSpec
    from recassay.data.characteristics import describe
    from recassay.data.sources import open_dataset
    from recassay.protocol.apply import apply_protocol
    from recassay.recommenders.splits import write_split

    stages = Stages()
    spec = ProtocolSpec.checked(
        positive_threshold=chosen.threshold or None, filter=chosen.filter, split=chosen.split, allow_leakage=[]
    )
    with stages.stage("start"):
        pass
    with stages.stage("read"):
        events = open_dataset(path).interactions
    with stages.stage("protocol"):
        split = apply_protocol(events, spec, overwrite=True)
        del events
    with stages.stage("save"):
        (folder / "split").mkdir()
        write_split(split, folder / "split")
    with stages.stage("describe"):
        shape = describe(*split.refit_parts(), split.test)
    return {
        "stages": stages.found,
        "fingerprint": split.fingerprint,
        "counts": split.counts,
        "findings": [found["name"] for found in split.audit["findings"]],
        "shape": shape,
    }


def table(records: list[dict[str, Any]], ids: str, chosen: argparse.Namespace) -> str:
    """Processor and wall seconds, memory, and exponents of the processor seconds between the sizes."""
    lines = [
        f"{ids} as ids, threshold {chosen.threshold:g}, filter {chosen.filter}, split {chosen.split}, "
        f"{chosen.threads} threads; CPU seconds (wall seconds), the peak of the whole process so far",
        f"{'events':>13} " + " ".join(f"{stage:>16} {'MB':>6}" for stage in STAGES) + f" {'all':>16} {'B/event':>11}",
    ]
    for record in records:
        found = record["stages"]
        total = [sum(found[stage][unit] for stage in STAGES) for unit in ("cpu", "wall")]
        peak = found[STAGES[-1]]["peak"]
        cells = " ".join(
            f"{found[stage]['cpu']:>8.1f} {'(' + format(found[stage]['wall'], '.1f') + ')':>7} "
            f"{found[stage]['peak'] / 1e6:>6.0f}"
            for stage in STAGES
        )
        beyond = (peak - found["start"]["peak"]) / record["events"]
        lines.append(
            f"{record['events']:>13,} {cells} {total[0]:>8.1f} {'(' + format(total[1], '.1f') + ')':>7} {beyond:>11.1f}"
        )
    if len(records) > 1:
        sizes = [record["events"] for record in records]
        costs = {stage: [record["stages"][stage]["cpu"] for record in records] for stage in STAGES}
        costs["all"] = [sum(one) for one in zip(*costs.values(), strict=True)]
        slopes = ", ".join(f"{name} {exponent(sizes, cost):.2f}" for name, cost in costs.items())
        last = ", ".join(f"{name} {exponent(sizes[-2:], cost[-2:]):.2f}" for name, cost in costs.items())
        lines += [f"exponent of CPU seconds: {slopes}", f"between the last two sizes: {last}"]
    largest = records[-1]
    lines.append(
        f"largest: {largest['shape']['Nu']:,} users and {largest['shape']['Ni']:,} items stay, "
        f"{largest['shape']['Nr']:,} pairs; file {largest['file_bytes'] / 1e6:,.0f} MB; "
        f"findings: {', '.join(largest['findings']) or 'none'}\n"
    )
    return "\n".join(lines)
