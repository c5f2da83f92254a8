"""Tiny studies for the tests of the run: a plugin file of fake algorithms, and workers that know our metrics."""

from __future__ import annotations

from pathlib import Path

from recassay.api.study.studies import make_study
from recassay.core.specs.study import StudySpec
from recassay.store import Store

PLUGIN = '''
import ctypes, os, signal, sys, time
import numpy as np
from scipy.sparse import csr_array
from recassay.core.ranking import select_top
from recassay.core.specs.search import Choice, Real, Whole
from recassay.core.types import TopK


class Fitted:
    def __init__(self, scores, seed):
        self.scores, self.seed = scores, seed

    def recommend(self, users, k, *, exclude):
        items, scores = select_top(
            self.scores[users], k, exclude=None if exclude is None else exclude[users],
            rng=np.random.default_rng(self.seed),
        )
        return TopK(users, items, scores)


class Fake:
    """Co-occurrence with a popularity exponent and some noise from `rng`."""

    name = "Fake"
    space = {"power": Real(0.0, 2.0, 0.5), "depth": Whole(1, 50, 20), "how": Choice(("raw", "log"), "raw")}
    source = "none"

    def __init__(self, power=0.5, depth=20, how="raw"):
        self.power, self.depth, self.how = power, depth, how

    def fit(self, train, *, rng):
        matrix = train.csr()
        gram = (matrix.T @ matrix).toarray()
        popularity = np.maximum(np.diag(gram), 1)
        if self.how == "log":
            gram = np.log1p(gram)
        gram = gram / popularity[None, :] ** self.power
        keep = np.partition(gram, -min(self.depth, len(gram)), axis=0)[-min(self.depth, len(gram))]
        gram[gram < keep] = 0
        scores = np.asarray(matrix @ gram) + rng.normal(0, 1e-3, (train.n_users, train.n_items))
        return Fitted(scores.astype(np.float32), 1)

    def memory_bytes(self, n_users, n_items, n_interactions):
        return 8 * n_users * n_items + 8 * n_items**2


class Unsure(Fake):
    name = "Unsure"

    def memory_bytes(self, n_users, n_items, n_interactions):
        return float("nan")


class Pop:
    name, space, source = "Pop", {}, "none"

    def fit(self, train, *, rng):
        scores = np.bincount(train.item, minlength=train.n_items).astype(np.float32)
        return Fitted(np.broadcast_to(scores, (train.n_users, train.n_items)), int(rng.integers(100)))

    def memory_bytes(self, n_users, n_items, n_interactions):
        return 8 * n_items


class Staged(Fake):
    name = "Staged"
    space = {"power": Real(0.0, 2.0, 0.5)}
    made = 0

    def __init__(self, power=0.5):
        super().__init__(power)

    @staticmethod
    def shared(train):
        Staged.made += 1
        assert Staged.made == 1
        return {"popularity": np.bincount(train.item, minlength=train.n_items)}

    def fit(self, train, *, rng, shared=None):
        *_, last = self.fit_steps(train, rng=rng, shared=shared)
        return last

    def fit_steps(self, train, *, rng, shared=None):
        popularity = shared["popularity"] if shared else np.bincount(train.item, minlength=train.n_items)
        for depth in (1, 5, 25):
            self.depth = depth
            yield super().fit(train, rng=rng)


class Slow(Fake):
    def fit(self, train, *, rng):
        time.sleep(0.05)
        return super().fit(train, rng=rng)


class SlowStaged(Staged):
    def fit_steps(self, train, *, rng, shared=None):
        for recommender in super().fit_steps(train, rng=rng, shared=shared):
            time.sleep(0.03)
            yield recommender


class Raises(Fake):
    def fit(self, train, *, rng):
        raise ValueError("the matrix is singular")


class Hangs(Fake):
    def fit(self, train, *, rng):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            time.sleep(1)


class Eats(Fake):
    def fit(self, train, *, rng):
        held = []
        while True:
            held.append(np.ones(1 << 19))
            time.sleep(0.002)


class Huge(Fake):
    def memory_bytes(self, n_users, n_items, n_interactions):
        return 10**15


class Leaves(Fake):
    def fit(self, train, *, rng):
        os._exit(3)


class Exits(Fake):
    def fit(self, train, *, rng):
        sys.exit("good bye")


class Segfaults(Fake):
    def fit(self, train, *, rng):
        ctypes.string_at(0)


class Broken:
    """Ends in a recommender whose answers are wrong."""

    name, space, source = "Broken", {}, "none"

    def fit(self, train, *, rng):
        self.inner = Pop().fit(train, rng=rng)
        return self

    def memory_bytes(self, n_users, n_items, n_interactions):
        return 0


class Seen(Broken):
    def recommend(self, users, k, *, exclude):
        return self.inner.recommend(users, k, exclude=None)


class Shapes(Broken):
    def recommend(self, users, k, *, exclude):
        return self.inner.recommend(users, k + 1, exclude=exclude)


class Nan(Broken):
    def recommend(self, users, k, *, exclude):
        top = self.inner.recommend(users, k, exclude=exclude)
        return TopK(top.users, top.items, np.full_like(top.scores, np.nan))


class Talks(Fake):
    def fit(self, train, *, rng):
        print('{"record": {}}', flush=True)
        os.write(1, b"garbage\\n")
        return super().fit(train, rng=rng)


class Writes(Fake):
    def fit(self, train, *, rng):
        train.user[0] = 0
        return super().fit(train, rng=rng)
'''

METRICS = ("ndcg@10", "hitrate@5", "coverage@10")


def tiny_folder(folder: Path, plugin: str = PLUGIN, *, other: bool = False) -> Path:
    """A folder with the file of algorithms and one dataset, or two."""
    (folder / "fakes.py").write_text(plugin)
    tiny_data(folder)
    if other:
        tiny_data(folder, "other", seed=9)
    return folder


def tiny_data(folder: Path, name: str = "tiny", *, seed: int = 0, users: int = 60, items: int = 40) -> None:
    """A CSV with structure: users of two tastes, in the order of time."""
    import numpy as np

    rng = np.random.default_rng(seed)
    rows = []
    for user in range(users):
        weight = np.where(np.arange(items) % 2 == user % 2, 8.0, 1.0) / (1 + np.arange(items)) ** 0.3
        chosen = rng.choice(items, size=16, replace=False, p=weight / weight.sum())
        times = np.sort(rng.integers(1_600_000_000, 1_650_000_000, 16))
        rows += [f"u{user},i{item},{moment}" for item, moment in zip(chosen, times, strict=True)]
    (folder / f"{name}.csv").write_text("\n".join(["user,item,timestamp", *rows]) + "\n")


def tiny_study(
    folder: Path, algorithms: tuple[str, ...], *, datasets: tuple[str, ...] = ("tiny",), **more
) -> StudySpec:
    """A study over CSV files in `folder` with algorithms of its plugin file."""
    protocol = {"split": "random", "min_item_interactions": 1, "min_user_interactions": 1, "filter": "none"}
    return make_study(
        [f"./{name}.csv" for name in datasets],
        [f"./fakes.py:{name}" for name in algorithms],
        base=folder,
        **{"metrics": METRICS, "trials": 4, "protocol": protocol, "seconds_per_cell": 60.0, "memory_gb": 4.0} | more,
    )


def numbers(path: Path) -> tuple[list, ...]:
    """Everything of a store that must not depend on how its run went."""
    with Store.open(path) as store:
        cells = [(c.id, c.status, c.parameters, c.validation, dict(c.metrics), c.counts) for c in store.cells()]
        trials = store.trials().drop("seconds").rows()
        users = [store.per_user(c.id).rows() for c in store.cells() if c.status == "done"]
        lists = [store.top_lists(c.id).rows() for c in store.cells() if c.status == "done"]
    return cells, trials, users, lists


def children_of(pid: int) -> list[int]:
    """The workers of the driver `pid`, and the processes of their jobs."""
    found = []
    for task in Path("/proc").glob("[0-9]*"):
        try:
            if f"--driver\0{pid}\0" in (task / "cmdline").read_text(errors="replace"):
                found.append(int(task.name))
        except OSError:
            continue
    return found
