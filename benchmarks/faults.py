"""Kill drivers, workers, jobs and schedulers of many small studies at random moments; count what was lost.

python benchmarks/faults.py [--kills 1000] [--minutes 60] [--seed 1] [--cluster-share 0.15] [--json FILE] [--troubles]

Every study is the same small one (two datasets, three algorithms, tuned), in a folder of its own, so that each must end
with the table of one that was left in peace: cells, metrics, trials, scores of users, lists. A study is started, killed
somewhere, and started again by the same call until it ends by itself. After every kill the store is read: a cell or a
trial that was acknowledged before and is not there now is lost. At the end nothing that the study started may still
run. A share of the studies runs on a Dask scheduler with two workers, which are killed and started again too. With
`--troubles` their disk is full at random moments and for random times, and the clock of every process jumps by months.
A cell that failed for any other reason than three kills in a row counts as one that failed for the machine's. Linux.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from recassay.api.study.studies import make_study
from recassay.core.errors import RecAssayError
from recassay.recommenders.study import run_study
from recassay.store import Store

PLUGIN = """
import time
import numpy as np
from recassay.core.ranking import select_top
from recassay.core.specs.search import Real
from recassay.core.types import TopK


class Fitted:
    def __init__(self, scores):
        self.scores = scores

    def recommend(self, users, k, *, exclude):
        rng = np.random.default_rng(1)
        rows = None if exclude is None else exclude[users]
        return TopK(users, *select_top(self.scores[users], k, exclude=rows, rng=rng))


class Popular:
    name, space, source = "Popular", {}, "none"

    def fit(self, train, *, rng):
        counts = np.bincount(train.item, minlength=train.n_items).astype(np.float32)
        return Fitted(np.broadcast_to(counts, (train.n_users, train.n_items)))

    def memory_bytes(self, n_users, n_items, n_interactions):
        return 8 * n_items


class Slow:
    name, source = "Slow", "none"
    space = {"power": Real(0.0, 2.0, 0.5)}

    def __init__(self, power=0.5):
        self.power = power

    def fit(self, train, *, rng):
        time.sleep(0.03)
        matrix = train.csr()
        gram = (matrix.T @ matrix).toarray()
        gram = gram / np.maximum(np.diag(gram), 1)[None, :] ** self.power
        noise = rng.normal(0, 1e-3, (train.n_users, train.n_items))
        return Fitted((np.asarray(matrix @ gram) + noise).astype(np.float32))

    def memory_bytes(self, n_users, n_items, n_interactions):
        return 16 * n_users * n_items


class Slower(Slow):
    name = "Slower"

    def fit(self, train, *, rng):
        time.sleep(0.05)
        return super().fit(train, rng=rng)
"""
ALGORITHMS = ("Popular", "Slow", "Slower")
TRIALS = 6


@dataclass
class Counts:
    """What was done and what came of it."""

    studies: int = 0
    full_disks: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    acknowledged_cells: int = 0
    acknowledged_trials: int = 0
    lost: int = 0
    crashed_rows: int = 0
    """Cells that were given up after three kills in a row; the study then runs them again on request."""
    failed_cells: int = 0
    """Cells that failed for another reason, which here is always the machine's."""
    tables_equal: int = 0
    tables_different: int = 0
    left_running: int = 0
    hangs: int = 0
    seconds: float = 0.0
    drivers: list[int] = field(default_factory=list, repr=False)

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        told = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "drivers"}
        return {**told, "kills": dict(self.kills), "all_kills": self.kills.total(), "drivers": len(self.drivers)}


JUMPING = """
import datetime, random, time, warnings
real, chance, shift = time.time, random.Random(), [0.0]


def now():
    if chance.random() < 0.05:
        shift[0] = chance.uniform(-1e7, 1e7)
    return real() + shift[0]


class Jumping(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(now(), tz)


time.time, time.time_ns, datetime.datetime = now, lambda: int(1e9 * now()), Jumping
warnings.simplefilter("ignore")
"""
"""What a process runs when it starts where its clock is to jump by months."""


def jumping(folder: Path) -> dict[str, str]:
    """The environment of processes whose clocks jump, their own children's too."""
    place = folder / "clock"
    place.mkdir(exist_ok=True)
    (place / "sitecustomize.py").write_text(JUMPING)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")])}


@contextlib.contextmanager
def disk(folder: Path, kilobytes: int) -> Iterator[bool]:
    """A disk of its own at `folder`, of this size; whether there was the right to mount one."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    mounted = shutil.which("mount") is not None and not subprocess.run(command, capture_output=True).returncode
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], capture_output=True)


def fill(folder: Path, left: int) -> Path:
    """Fill the disk of a folder but for so many bytes; the file that fills it."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        size = max(shutil.disk_usage(folder).free - left, 0)
        with contextlib.suppress(OSError):
            for place in range(0, size, 1 << 16):
                file.write(bytes(min(1 << 16, size - place)))
    return filler


def write_inputs(folder: Path) -> None:
    """Two datasets and the file of algorithms."""
    (folder / "fakes.py").write_text(PLUGIN)
    for seed, name in enumerate(("one", "two")):
        rng = np.random.default_rng(seed)
        rows = ["user,item,timestamp"]
        for user in range(40):
            items = rng.choice(30, size=12, replace=False)
            rows += [f"u{user},i{item},{1_600_000_000 + int(t)}" for item, t in zip(items, rng.integers(0, 10**7, 12))]  # noqa: B905
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n")


def study(base: Path) -> Any:
    """The study that all folders hold."""
    return make_study(
        ["./one.csv", "./two.csv"],
        [f"./fakes.py:{name}" for name in ALGORITHMS],
        base=base,
        metrics=("ndcg@10", "hitrate@5"),
        trials=TRIALS,
        protocol={"split": "random", "filter": "none"},
        seconds_per_cell=120.0,
        memory_gb=4.0,
    )


def table(folder: Path) -> tuple[Any, ...]:
    """Everything of a store that must not depend on how its run went."""
    with Store.open(folder) as store:
        cells = [(c.id, c.status, c.parameters, c.validation, dict(c.metrics), c.counts) for c in store.cells()]
        done = [c.id for c in store.cells() if c.status == "done"]
        trials = store.trials().drop("seconds").rows()
        return cells, trials, [store.per_user(c).rows() for c in done], [store.top_lists(c).rows() for c in done]


def known(folder: Path) -> tuple[set[str], set[tuple[str, int]]]:
    """The cells and the trials that a store acknowledges; nothing where there is no store yet."""
    try:
        with Store.open(folder) as store:
            trials = set(store.trials().select("cell", "number").iter_rows())
            return {c.id for c in store.cells() if c.status == "done"}, trials
    except RecAssayError:
        return set(), set()


def serve_drivers(base: Path) -> None:
    """A process that forks a driver for each line of its input: a start then costs no import."""
    import recassay.recommenders.cell
    import recassay.recommenders.tune  # noqa: F401

    spec = study(base)
    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if pid == 0:
            code = 0
            try:
                sys.stdin = open(os.devnull)  # noqa: SIM115
                run_study(spec, Path(request["folder"]), workers=2, cluster=request["cluster"])
            except RecAssayError:
                code = 1
            except OSError as error:  # what the command line says in a line
                code = 1 if error.errno == errno.ENOSPC else 3
            except BaseException as error:
                print(f"driver: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
                code = 3
            os._exit(code)
        print(pid, flush=True)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def relatives(driver: int) -> tuple[list[int], list[int]]:
    """The workers that serve a driver, and the processes of their jobs."""
    workers: list[int] = []
    jobs: list[int] = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            if f"--driver\0{driver}\0" in (place / "cmdline").read_text():
                parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
                (workers if parent == driver else jobs).append(int(place.name))
    return workers, jobs


def kill(pid: int) -> bool:
    """Whether there was something to kill."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


class Cluster:
    """A scheduler and two workers without nannies, each a process that can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.file, self.folder = folder / "scheduler.json", folder
        self.parts: dict[str, subprocess.Popen[bytes]] = {}

    def _start(self, name: str, *options: str) -> None:
        command = [
            sys.executable,
            "-m",
            "dask",
            name.split("-", maxsplit=1)[0],
            "--scheduler-file",
            str(self.file),
            *options,
        ]
        with (self.folder / "dask.log").open("ab") as log:
            self.parts[name] = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)

    def mend(self) -> str:
        """Start what is not running; the address of the scheduler."""
        scheduler = self.parts.get("scheduler")
        if scheduler is None or scheduler.poll() is not None:
            self.end()
            self.file.unlink(missing_ok=True)
            self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
            while not self.file.is_file() or not self.file.read_text():
                time.sleep(0.1)
        for name in ("worker-1", "worker-2"):
            if name not in self.parts or self.parts[name].poll() is not None:
                self._start(name, "--nthreads", "1", "--no-nanny", "--no-dashboard")
        return str(json.loads(self.file.read_text())["address"])

    def end(self) -> None:
        """Kill all of it."""
        for part in self.parts.values():
            part.kill()
            part.wait()
        self.parts.clear()


def disturb(
    driver: int, chance: random.Random, cluster: Cluster | None, counts: Counts, filled: Path | None = None
) -> None:
    """Kill one thing of the run, perhaps the driver itself, or fill the disk at `filled` for a moment."""
    if filled is not None and chance.random() < 0.5:
        filler = fill(filled, chance.choice((0, 0, 4096, 20_000)))
        counts.full_disks += 1
        time.sleep(chance.random() * chance.choice((0.05, 0.5, 2.0)))
        filler.unlink()
        return
    workers, jobs = relatives(driver)
    victims: dict[str, list[int]] = {"driver": [driver], "worker": workers, "job": jobs}
    if cluster is not None:
        parts = {name: part for name, part in cluster.parts.items() if part.poll() is None}
        victims = {
            "driver": [driver],
            "scheduler": [part.pid for name, part in parts.items() if name == "scheduler"],
            "cluster worker": [part.pid for name, part in parts.items() if name != "scheduler"],
        }
    kind = chance.choice([name for name, found in victims.items() if found])
    if kill(chance.choice(victims[kind])):
        counts.kills[kind] += 1


def one_study(
    server: subprocess.Popen[str],
    folder: Path,
    chance: random.Random,
    cluster: Cluster | None,
    counts: Counts,
    filled: Path | None = None,
) -> None:
    """Start, disturb and start again until the study ends by itself; then count."""
    assert server.stdin is not None
    assert server.stdout is not None
    cells: set[str] = set()
    trials: set[tuple[str, int]] = set()
    peace = 0
    for start in range(60):
        address = None if cluster is None else cluster.mend()
        server.stdin.write(json.dumps({"folder": str(folder), "cluster": address}) + "\n")
        server.stdin.flush()
        driver = int(server.stdout.readline())
        counts.drivers.append(driver)
        ended = False
        if start < 40 and peace == 0:
            time.sleep(chance.random() * (3.0 if cluster is None else 8.0))
            for _ in range(chance.randint(1, 4)):
                if not Path(f"/proc/{driver}").exists():
                    break
                disturb(driver, chance, cluster, counts, filled)
                time.sleep(chance.random() * 0.5)
            if cluster is not None:
                cluster.mend()
        code = int(server.stdout.readline())
        now_cells, now_trials = known(folder)
        counts.lost += len(cells - now_cells) + len(trials - now_trials)
        counts.acknowledged_cells += len(now_cells - cells)
        counts.acknowledged_trials += len(now_trials - trials)
        cells, trials = now_cells, now_trials
        ended = code == 0
        if code == 3:
            raise SystemExit("a driver ended with a traceback; see above")
        if ended:
            break
    counts.hangs += not ended


def settled(folder: Path, base: Path) -> None:
    """Run the cells again that were given up since their processes were killed three times in a row."""
    run_study(study(base), folder, workers=1, retry_failed=True)


@contextlib.contextmanager
def server_of(base: Path, environment: dict[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """The process that forks drivers."""
    command, pipe = [sys.executable, __file__, "--serve", str(base)], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as server:
        yield server
        server.kill()


def main() -> None:
    """Run until the kills are done or the time is over, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cluster-share", type=float, default=0.15)
    parser.add_argument("--troubles", action="store_true", help="full disks and clocks that jump, too")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        serve_drivers(options.serve)
        return
    chance, counts, begin = random.Random(options.seed), Counts(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="recassay-faults-") as scratch, contextlib.ExitStack() as stack:
        base = Path(scratch)
        write_inputs(base)
        if run_study(study(base), base / "peace", workers=2).failed:
            raise SystemExit("the study fails in peace")
        expected, studies = table(base / "peace"), base / "studies"
        studies.mkdir()
        filled = studies if options.troubles and stack.enter_context(disk(studies, 1 << 16)) else None
        # Dask holds back what it sends until a clock that was set back has caught up: there the clocks are steady.
        steady = stack.enter_context(server_of(base))
        local = stack.enter_context(server_of(base, jumping(base))) if options.troubles else steady
        while counts.kills.total() < options.kills and time.monotonic() - begin < 60 * options.minutes:
            folder = studies / f"study-{counts.studies}"
            cluster = Cluster(base) if chance.random() < options.cluster_share else None
            try:
                one_study(local if cluster is None else steady, folder, chance, cluster, counts, filled)
            finally:
                if cluster is not None:
                    cluster.end()
            with Store.open(folder) as store:
                failed = [cell.reason or "" for cell in store.cells() if cell.status != "done"]
            killed = sum("was killed from outside" in reason for reason in failed)
            counts.crashed_rows += killed
            counts.failed_cells += len(failed) - killed
            if failed:
                print(*failed, sep="\n", file=sys.stderr)
                settled(folder, base)
            counts.studies += 1
            equal = table(folder) == expected
            counts.tables_equal += equal
            counts.tables_different += not equal
            if equal:
                shutil.rmtree(folder)
            print(json.dumps({name: value for name, value in counts.plain().items() if value}), flush=True)
        time.sleep(1.0)
        counts.left_running = sum(len(part) for driver in counts.drivers for part in relatives(driver))
    counts.seconds = round(time.monotonic() - begin, 1)
    print(json.dumps(counts.plain(), indent=1))
    if options.json is not None:
        options.json.write_text(json.dumps(counts.plain(), indent=1) + "\n")
    if counts.lost or counts.tables_different or counts.hangs or counts.left_running or counts.failed_cells:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
