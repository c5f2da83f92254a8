"""The study that is killed: its files, what its store must hold, and a process that starts its drivers."""

from __future__ import annotations

import errno
import json
import os
import sys
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
