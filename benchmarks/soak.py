"""Hours of everything that can go wrong, with one table at the end: kills, chance, damage, full disks, clocks.

python benchmarks/soak.py [--hours 1] [--seed 1] [--json FILE] [--keep FOLDER]

Rounds of about three minutes until the time is over. In each: small studies whose drivers, workers, jobs and schedulers
are killed while their disk is full at random moments and their clocks jump (`faults.py --troubles`); files made by
chance at a few doors, others in every round (`fuzz.py`); finished studies that are damaged in one place, verified and
run again; studies whose disk has too little room for all that they write, splits, scores, lists and the manifest;
commands that write a page, a paper or a file onto a disk with little room; studies whose clock jumps. A round that ends
badly is counted, and the next one begins. The exit code is 1 where a promise was broken. Linux; the full disk needs the
right to mount one, and is counted as not tried without it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

import faults  # noqa: E402
from recassay.core.errors import RecAssayError  # noqa: E402
from recassay.recommenders.study import run_study  # noqa: E402
from recassay.store import Store  # noqa: E402
from recassay.store.verification import verify_store  # noqa: E402
from support.doors import DOORS  # noqa: E402

ROUND_MINUTES = 0.5
DOORS_A_ROUND = 3
EDITS = (
    "UPDATE metrics SET value = value + 0.1",
    "UPDATE cells SET parameters = '{}' WHERE parameters <> '{}'",
    "UPDATE cells SET seconds_fit = 9",
    "UPDATE trials SET value = value / 2",
    "UPDATE trials SET parameters = '{\"power\": 1}'",
    "DELETE FROM metrics WHERE position = 0",
)
WRITING = (
    "rank {table}", "compare {table}", "paper {table}", "plan {table}", "ratings {table}", "irt beta {table}",
    "analyze {table} --out {place}.html", "import {table} --out {place}.csv", "analyze {study} --out {place}.html",
    "results {study} --out {place}.csv", "results {study} --per-user --out {place}.parquet",
    "split {events} --split random", "recommend {events} --algorithm MostPop --out {place}.csv",
    "seal {plan} --out {place}.json",
)  # fmt: skip
"""What a command writes where; without `--out` into the folder {place}."""
STUDY = "import sys; sys.path.insert(0, sys.argv[1]); import faults; from pathlib import Path; faults.run_study(faults.study(Path(sys.argv[2])), Path(sys.argv[3]), workers=1)"  # noqa: E501


class Soak:
    """What was tried, and what came of it, by kind."""

    def __init__(self, seed: int, scratch: Path, keep: Path | None = None) -> None:
        self.chance, self.scratch, self.kept = random.Random(seed), scratch, keep or scratch / "kept"
        self.tried: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        self.notes: dict[str, str] = {}
        self.base = scratch / "base"
        self.base.mkdir()
        faults.write_inputs(self.base)
        self.spec = faults.study(self.base)
        run_study(self.spec, scratch / "sound", workers=1)
        self.sound = faults.table(scratch / "sound")

    def check(self, kind: str, holds: bool, note: str) -> None:
        """Count one trial of a promise; the note of the first that is broken is kept."""
        self.tried[kind] += 1
        if not holds:
            self.broken[kind] += 1
            self.notes.setdefault(kind, note)

    def script(self, name: str, *more: str) -> dict[str, Any]:
        """Run another script of this folder; what it counted."""
        out = self.scratch / "counts.json"
        out.unlink(missing_ok=True)
        command = [sys.executable, str(HERE / name), "--seed", str(self.chance.randrange(10**6)), "--json", str(out)]
        ran = subprocess.run([*command, *more], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if not out.is_file():
            return {"failed": ran.stderr[-300:] or f"exit code {ran.returncode}"}
        counted: dict[str, Any] = json.loads(out.read_text())
        return counted

    def kills(self) -> None:
        """Studies that are killed, here and on a cluster."""
        told = self.script("faults.py", "--minutes", str(ROUND_MINUTES), "--cluster-share", "0.3", "--troubles")
        if "failed" in told:
            self.check("kills", False, told["failed"])
            return
        for who, count in told["kills"].items():
            self.tried[f"kills of {who}"] += count
        for what in ("acknowledged_cells", "acknowledged_trials", "full_disks", "crashed_rows"):
            self.tried[what.replace("_", " ")] += told[what]
        wrong = {name: told[name] for name in ("lost", "failed_cells", "tables_different", "left_running", "hangs")}
        for _ in range(told["studies"]):
            self.check("studies after kills and troubles are whole", not any(wrong.values()), str(wrong))

    def chances(self) -> None:
        """Files made by chance."""
        for door in self.chance.sample(sorted(DOORS), DOORS_A_ROUND):
            told = self.script("fuzz.py", "--minutes", str(ROUND_MINUTES / DOORS_A_ROUND), "--door", door,
                               "--keep", str(self.kept))  # fmt: skip
            counts = told.get(door, told.get("doors", {}).get(door, told))
            self.tried["files at doors"] += int(counts.get("inputs", 0))
            bad = sum(int(counts.get(name, 0)) for name in ("tracebacks", "hangs", "memory", "crashes"))
            self.check("doors hold", not bad and "failed" not in told, f"{door}: {counts}")

    def damage(self) -> None:
        """A finished study that is changed in one place: it is noticed, and the next run makes it whole."""
        folder = self.scratch / "damaged"
        for _ in range(6):
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(self.scratch / "sound", folder)
            what = self._harm(folder)
            try:
                with Store.open(folder) as store:
                    noticed = bool(verify_store(store).damaged)
            except (RecAssayError, OSError):
                noticed = True
            self.check("damage is noticed", noticed, what)
            try:
                run_study(self.spec, folder, workers=1)
                self.check("damage is mended", faults.table(folder) == self.sound, what)
            except (RecAssayError, OSError):  # a store that cannot be read is refused, not used
                self.tried["damaged stores refused"] += 1

    def _harm(self, folder: Path) -> str:
        if self.chance.random() < 0.5:
            statement = self.chance.choice(EDITS)
            connection = sqlite3.connect(folder / "study.sqlite")
            connection.execute(statement)
            connection.commit()
            connection.close()
            return statement
        files = [*folder.glob("scores/*"), *folder.glob("lists/*"), *folder.glob("splits/*/*")]
        path = self.chance.choice(sorted(files))
        content = bytearray(path.read_bytes())
        how = self.chance.choice(("flipped", "cut", "emptied", "removed", "zeroed"))
        if how == "removed":
            path.unlink()
        elif how == "flipped":
            content[self.chance.randrange(len(content))] ^= 1 << self.chance.randrange(8)
        if how != "removed":
            changed = {"cut": content[: len(content) // 2], "emptied": b"", "zeroed": bytes(len(content))}
            path.write_bytes(changed.get(how, content))
        return f"{path.relative_to(folder)} {how}"

    def full_disk(self) -> None:
        """A study on a disk with too little room for it: one line, and the same command goes on when there is room."""
        with faults.disk(self.scratch / "disk", 1 << 14) as mounted:
            if not mounted:
                self.notes.setdefault("full disks", "not tried: no right to mount one")
                return
            folder, needed = self.scratch / "disk" / "study", _bytes(self.scratch / "sound") + 150_000
            for _ in range(4):
                room = self.chance.randrange(needed)
                filler = faults.fill(folder.parent, room)
                last = (self._study(folder).strip().splitlines() or [""])[-1]
                full = "No space left on device" in last or "the disk is full" in last
                self.check("full disks are one line", full or not last, f"{room:,} bytes: {last[:300]}")
                filler.unlink()
                last = self._study(folder)
                self.check("studies go on after a full disk", not last, f"{room:,} bytes: {last[-300:]}")
                self.check("and end as in peace", faults.table(folder) == self.sound, f"{room:,} bytes")
                shutil.rmtree(folder)

    def writing(self) -> None:
        """Commands that write onto a disk with little room: what was there before, or what they write, and no part."""
        table, plan = self.scratch / "table.csv", self.base / "study.toml"
        rows = [f"a{n},d{d},ndcg@10,0.{n}{d}\n" for n in range(1, 5) for d in range(1, 7)]
        table.write_text("algorithm,dataset,metric,value\n" + "".join(rows))
        plan.write_text(
            '[study]\nname = "s"\ndatasets = ["./one.csv"]\nalgorithms = ["MostPop"]\n[protocol]\nsplit = "random"\n'
        )
        named = {"table": table, "study": self.scratch / "sound", "events": self.base / "one.csv", "plan": plan}
        with faults.disk(self.scratch / "disk", 1 << 14) as mounted:
            for number, line in enumerate(self.chance.sample(WRITING, 4) if mounted else ()):
                home = self.scratch / "disk" / str(number)
                home.mkdir()
                command = [part.format(place=home / "out", **named) for part in line.split()]
                command += [] if "{place}" in line else ["--out", str(home / "out")]
                if self.chance.random() < 0.3:  # what is there already is replaced, or stays as it is
                    self._command(command)
                before, room = _content(home), self.chance.choice((0, 4096, self.chance.randrange(500_000)))
                filler = faults.fill(home.parent, room)
                ran = self._command(command, home.parent if self.chance.random() < 0.3 else None)
                filler.unlink()
                last, after = ran.stderr.strip().splitlines() or [""], _content(home)
                said = ran.returncode == 0 or (ran.returncode == 2 and last[-1].startswith("recassay: "))
                why = f"{line}, {room:,} bytes: {ran.returncode} {ran.stderr[-300:]}"
                self.check("what cannot be written is one line", said and "Traceback" not in ran.stderr, why)
                self.check("files and folders are whole or absent", ran.returncode == 0 or after == before, why)

    def _command(self, command: list[str], temporary: Path | None = None) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "RECASSAY_HOME": str(self.scratch / "home")}
        environment |= {} if temporary is None else {"TMPDIR": str(temporary)}
        command = [sys.executable, "-m", "recassay", *command]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment)

    def clocks(self) -> None:
        """Clocks that jump by months, and files of the future: the numbers are the same."""
        folder, environment = self.scratch / "clock-study", faults.jumping(self.scratch)
        shutil.rmtree(folder, ignore_errors=True)
        self._study(folder, environment)
        for path in folder.rglob("*"):
            moment = time.time() + self.chance.uniform(-1e8, 1e8)
            os.utime(path, (moment, moment))
        self._study(folder, environment)
        self.check("clocks that jump", faults.table(folder) == self.sound, "another table")

    def _study(self, folder: Path, environment: dict[str, str] | None = None) -> str:
        """Run the study; what it said on the stream of errors."""
        command = [sys.executable, "-c", STUDY, str(HERE), str(self.base), str(folder)]
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment)
        return ran.stderr

    def round(self) -> None:
        """Everything once; what ends badly is counted."""
        parts = (self.damage, self.clocks, self.full_disk, self.writing, self.kills, self.chances)
        for part in parts:
            try:
                part()
            except Exception as error:
                self.check(f"{part.__name__}: the soak itself", False, f"{type(error).__name__}: {error}"[:300])

    def rows(self) -> list[tuple[str, int, int, str]]:
        """Kind, how often it was tried, how often it broke, and the first note."""
        kinds = sorted({*self.tried, *self.notes})
        return [(kind, self.tried[kind], self.broken[kind], self.notes.get(kind, "")) for kind in kinds]


def _content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _bytes(folder: Path) -> int:
    return sum(4096 * -(-len(content) // 4096) for content in _content(folder).values())


def main() -> int:
    """Soak for as long as asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", type=Path, help="where inputs that broke a door are kept")
    asked = parser.parse_args()
    end, rounds = time.monotonic() + 3600 * asked.hours, 0
    with tempfile.TemporaryDirectory(prefix="recassay-soak-") as scratch:
        soak = Soak(asked.seed, Path(scratch), asked.keep)
        while rounds == 0 or time.monotonic() < end:
            soak.round()
            rounds += 1
            print(f"round {rounds}: {soak.tried.total():,} trials, {soak.broken.total()} broken", flush=True)
        rows = soak.rows()
    width = max(len(row[0]) for row in rows)
    print(f"\n{'what':<{width}}  {'tried':>9}  {'broken':>6}")
    for kind, tried, broken, note in rows:
        print(f"{kind:<{width}}  {tried:>9,}  {broken:>6}{f'  {note}' if note else ''}")
    if asked.json is not None:
        asked.json.write_text(json.dumps({"rounds": rounds, "hours": asked.hours, "rows": rows}, indent=1))
    return 1 if soak.broken else 0


if __name__ == "__main__":
    sys.exit(main())
