"""Files made by chance at every door, by the clock: what is neither an answer nor one line is counted and kept.

python benchmarks/fuzz.py [--minutes 10] [--door NAME]... [--seed 1] [--keep FOLDER] [--json FILE]

The doors and the files are those of `tests/faults/test_fuzz.py`. Each door has a process of its own that spends so many
minutes of processor time; what takes an input more than 20 seconds of it (or 120 of the clock), more than 4 GiB beside
what it began with, or ends the process, is counted as a hang, as memory or as a crash, and the door goes on with the
next input. Offending inputs lie in FOLDER with a note of what they did, one for each kind of fault. Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.doors import DOORS, Door
from support.fuzzing import attempt, drawn

MOST_SECONDS, MOST_WAIT, MOST_BYTES = 20.0, 120.0, 4 << 30
FAULTS = ("tracebacks", "hangs", "memory", "crashes")


def serve(door: Door, seed: int, until: float, place: Path) -> None:
    """Meet inputs for so many seconds of processor time; before each one `place` gets it, after it the counts."""
    door.seeds()
    chance, counts, kinds = random.Random(seed), Counter[str](), set[str]()
    while time.process_time() < until:
        name, content = drawn(chance, door)
        (place / "now").write_bytes(json.dumps(name).encode() + b"\n" + content)
        (place / "began").write_text(f"{time.process_time()} {time.monotonic()}")
        counts["inputs"] += 1
        with tempfile.TemporaryDirectory(dir=place) as folder:
            try:
                said = attempt(door, Path(folder), name, content)
                counts["refusals" if said else "answers"] += 1
            except BaseException as error:
                counts["tracebacks"] += 1
                if (kind := _kind(error)) not in kinds:
                    kinds.add(kind)
                    text = "".join(traceback.format_exception(error))
                    said = " ".join(str(error).split())[:120]
                    (place / f"fault-{len(kinds)}").write_text(f"{kind}: {said}\n{text}", errors="backslashreplace")
                    (place / "now").rename(place / f"input-{len(kinds)}")
        (place / "counts.new").write_text(json.dumps(counts))
        (place / "counts.new").rename(place / "counts")


def _kind(error: BaseException) -> str:
    """The type and the last line of ours, which is what makes two faults one."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "recassay" in frame.filename]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__} at {where}"


def resident(pid: int) -> int:
    """Bytes of a process."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return 1024 * int(found[1]) if found else 0


def processor(pid: int) -> float:
    """Seconds of processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watched(server: subprocess.Popen[bytes], place: Path) -> str | None:
    """Wait for a process; why it was ended, or None where it ended as it should."""
    first = 0
    while (code := server.poll()) is None:
        try:
            used, since = map(float, (place / "began").read_text().split())
            first = first or resident(server.pid)
            slow = processor(server.pid) - used > MOST_SECONDS or time.monotonic() - since > MOST_WAIT
            large = resident(server.pid) - first > MOST_BYTES
        except (OSError, ValueError):
            slow = large = False
        if slow or large:
            server.kill()
            server.wait()
            return "hangs" if slow else "memory"
        time.sleep(0.2)
    return None if code == 0 else "crashes"


def fuzzed(name: str, seed: int, minutes: float, keep: Path) -> dict[str, Any]:
    """One door for so many minutes of processor time."""
    counts, left = Counter[str](), 60 * minutes
    for life in range(1000):
        with tempfile.TemporaryDirectory(prefix="recassay-fuzz-") as scratch:
            place = Path(scratch)
            before = os.times()
            command = [sys.executable, __file__, "--door", name, "--seed", f"{seed}{life:03}", "--serve", scratch]
            command += ["--minutes", str(left / 60)]
            with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
                why = watched(server, place)
            after = os.times()
            used = after.children_user + after.children_system - before.children_user - before.children_system
            counts.update(json.loads((place / "counts").read_text()) if (place / "counts").is_file() else {})
            if why is not None:
                counts[why] += 1
                counts["inputs"] += why != "tracebacks"
                _save(keep, f"{name} {why} {seed}-{life}", place / "now", f"{why}\n")
            for fault in sorted(place.glob("fault-*")):
                number = fault.name.rpartition("-")[2]
                _save(keep, f"{name} {seed}-{life}-{number}", place / f"input-{number}", fault.read_text())
        left -= used
        counts["seconds"] += round(used)
        if left < 1:
            break
    return dict(counts)


def _save(keep: Path, name: str, input_: Path, text: str) -> None:
    keep.mkdir(parents=True, exist_ok=True)
    stem = name.replace(" ", "-")
    (keep / f"{stem}.txt").write_text(text)
    if input_.is_file():
        (keep / f"{stem}.input").write_bytes(input_.read_bytes())
    print(f"{name}: {text.splitlines()[0]}", file=sys.stderr, flush=True)


def again(file: Path, name: str) -> None:
    """Meet a kept input once more."""
    first, _, content = file.read_bytes().partition(b"\n")
    with tempfile.TemporaryDirectory() as folder:
        print(attempt(DOORS[name], Path(folder), json.loads(first), content) or "an answer")


def main() -> None:
    """Fuzz the doors one after the other, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0, help="of processor time, for each door")
    parser.add_argument("--door", action="append", choices=list(DOORS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-faults"))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--again", type=Path, help="a kept input, to be met once more by --door")
    options = parser.parse_args()
    if options.again is not None:
        again(options.again, options.door[0])
        return
    if options.serve is not None:
        serve(DOORS[options.door[0]], options.seed, time.process_time() + 60 * options.minutes, options.serve)
        return
    found = {}
    for name in options.door or DOORS:
        found[name] = fuzzed(name, options.seed, options.minutes, options.keep)
        print(json.dumps({"door": name, **found[name]}), flush=True)
        if options.json is not None:
            options.json.write_text(json.dumps(found, indent=1) + "\n")
    if any(counts.get(fault) for counts in found.values() for fault in FAULTS):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
