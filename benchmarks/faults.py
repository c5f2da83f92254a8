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
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from killing.study import known, serve_drivers, study, table, write_inputs
from killing.troubles import Cluster, Counts, disk, disturb, jumping, relatives

from recassay.recommenders.study import run_study
from recassay.store import Store


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
    for start in range(60):
        address = None if cluster is None else cluster.mend()
        server.stdin.write(json.dumps({"folder": str(folder), "cluster": address}) + "\n")
        server.stdin.flush()
        driver = int(server.stdout.readline())
        counts.drivers.append(driver)
        ended = False
        if start < 40:
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


@contextlib.contextmanager
def server_of(base: Path, environment: dict[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """The process that forks drivers."""
    command, pipe = [sys.executable, __file__, "--serve", str(base)], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as server:
        yield server
        server.kill()


def judge(folder: Path, base: Path, expected: tuple[Any, ...], counts: Counts) -> None:
    """Count the cells that failed in a study, run those again, and compare its table with the expected one."""
    with Store.open(folder) as store:
        failed = [cell.reason or "" for cell in store.cells() if cell.status != "done"]
    killed = sum("was killed from outside" in reason for reason in failed)
    counts.crashed_rows += killed
    counts.failed_cells += len(failed) - killed
    if failed:  # given up, since their processes were killed three times in a row
        print(*failed, sep="\n", file=sys.stderr)
        run_study(study(base), folder, workers=1, retry_failed=True)
    counts.studies += 1
    equal = table(folder) == expected
    counts.tables_equal += equal
    counts.tables_different += not equal
    if equal:
        shutil.rmtree(folder)


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
            judge(folder, base, expected, counts)
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
