"""Algorithms of other libraries in environments of their own: a description, an interpreter and a script.

The script is run as `python SCRIPT FOLDER` by the interpreter that the description names. In FOLDER it finds

- `train.parquet`: one row per event, `user` and `item` (int32 positions), `weight` and `time` where the data have them;
- `request.json`: `parameters`, `seed`, `k`, `n_users`, `n_items`;

and writes `recommendations.parquet`: `user`, `item`, `score`, the best `k` items for every user that the user does not
have in `train.parquet` (fewer, or none, where it has no more to say). No package of ours is seen there, none of theirs
here. What it prints goes to the log of the cell.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from recassay.algorithms.kernels.scoring import scoring_bytes
from recassay.core import columns as c
from recassay.core.errors import InputError, RecAssayError
from recassay.core.specs.external import ExternalSpec
from recassay.core.specs.search import SearchSpace, defaults
from recassay.core.types import IdArray, Interactions, Recommender, TopK

DEPTH = 100
"""How many items a list has, unless the study asks for another `depth`."""

MOST_BYTES_A_ROW = 1 << 10
"""A file of recommendations larger than this many bytes for each place of all lists is not read."""

_CHECK = "import sys, importlib.metadata as m; print([p + ' ' + m.version(p) for p in sys.argv[1:]])"
_HIDDEN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PYTHONSTARTUP")
"""Variables by which our packages would show through."""


class ExternalProcess:
    """An algorithm that another interpreter runs; see the module, and `external_process` for how one is made.

    Parameters are handed on as they are. `depth` is the length of the lists that the script is asked for.
    """

    name: ClassVar[str]
    space: ClassVar[SearchSpace]
    source: ClassVar[str]
    spec: ClassVar[ExternalSpec]

    def __init__(self, *, depth: int = DEPTH, **parameters: Any) -> None:
        self._depth = depth
        self._parameters = {**defaults(self.space), **self.spec.parameters, **parameters}

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Recommender:
        """Run the script on `train`, and read its lists."""
        k = min(self._depth, max(train.n_items, 1))
        request = {
            "parameters": self._parameters,
            "seed": int(rng.integers(2**31)),
            "k": k,
            "n_users": train.n_users,
            "n_items": train.n_items,
        }
        with tempfile.TemporaryDirectory(prefix="recassay-external-") as temporary:
            folder = Path(temporary)
            _events(train).write_parquet(folder / "train.parquet")
            (folder / "request.json").write_text(json.dumps(request), "utf-8")
            self._run(folder)
            table = _read(folder / "recommendations.parquet", train, k, self.name)
        ordered = table.sort(c.USER, c.SCORE, descending=[False, True], maintain_order=True)
        return Lists(ordered[c.USER], ordered[c.ITEM], ordered[c.SCORE], train)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """A guess, since the library cannot be asked: 256 float32 for every id, and the data four times."""
        return 4 * 256 * (n_users + n_items) + 64 * n_interactions + 16 * self._depth * n_users + scoring_bytes(n_items)

    def _run(self, folder: Path) -> None:
        """The script, in this process's group and with its limits on threads."""
        environment = {key: value for key, value in os.environ.items() if key not in _HIDDEN}
        command = [str(self.spec.interpreter), "-P", str(self.spec.script_path), str(folder)]
        with tempfile.TemporaryFile() as output:
            try:
                if self.spec.requires:
                    self._check_versions(environment)
                ended = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stderr=output)
            except OSError as error:
                raise InputError(
                    f"its interpreter cannot be started: {error.strerror}",
                    where=str(self.spec.interpreter),
                    fix="correct `python` in the description, or make the environment",
                ) from error
            output.seek(0, os.SEEK_END)
            output.seek(max(0, output.tell() - 20_000))
            text = output.read().decode("utf-8", "replace")
        sys.stderr.write(text)
        if ended.returncode != 0:
            last = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it said nothing")
            how = f"exit code {ended.returncode}" if ended.returncode > 0 else f"signal {-ended.returncode}"
            raise RecAssayError(f"its script ended with {how}: {last[:300]}", where=self.name)

    def _check_versions(self, environment: Mapping[str, str]) -> None:
        wanted = dict(requirement.split("==") for requirement in self.spec.requires)
        answer = subprocess.run(
            [str(self.spec.interpreter), "-P", "-c", _CHECK, *wanted],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        expected = str([f"{name} {version}" for name, version in wanted.items()])
        if answer.stdout.strip() != expected:
            versions = answer.stdout.strip() or (answer.stderr.strip().splitlines() or ["nothing"])[-1]
            raise InputError(
                f"its environment has {versions}, and the description requires {', '.join(self.spec.requires)}",
                where=self.name,
                fix="install what is required there, or correct `requires`",
            )


class Lists:
    """Ready-made lists, from the rows of a table that is sorted by user, then best first; all are positions."""

    def __init__(self, user: pl.Series, item: pl.Series, score: pl.Series, train: Interactions) -> None:
        length = np.bincount(user.to_numpy(), minlength=train.n_users)
        self._start = np.concatenate([[0], np.cumsum(length)])  # the list of user u begins at `_start[u]`
        self._item, self._score = item.to_numpy().astype(np.int32), score.to_numpy().astype(np.float32)
        self._n_items = train.n_items

    def recommend(self, users: IdArray, k: int, *, exclude: csr_array | None) -> TopK:
        """The first k of each user's list that are not excluded."""
        top = TopK.empty(users, k)
        length = self._start[users + 1] - self._start[users]
        row = np.repeat(np.arange(len(users)), length)
        event = np.arange(len(row)) - np.repeat(np.cumsum(length) - length, length) + self._start[users][row]
        if exclude is not None:
            rows = exclude[users]
            barred = np.repeat(np.arange(len(users)), np.diff(rows.indptr)) * self._n_items + rows.indices
            allowed = ~np.isin(row * self._n_items + self._item[event], barred)
            row, event = row[allowed], event[allowed]
        place = np.arange(len(row)) - np.searchsorted(row, row)
        kept = place < k
        top.items[row[kept], place[kept]] = self._item[event[kept]]
        top.scores[row[kept], place[kept]] = self._score[event[kept]]
        return top


def external_process(path: Path) -> type[ExternalProcess]:
    """An algorithm class for the description (TOML) at `path`."""
    spec = ExternalSpec.read(path)
    described = {
        "name": spec.name,
        "source": spec.source,
        "space": spec.search_space(),
        "spec": spec,
        "__doc__": f"{spec.name}: {spec.source}, run by {spec.python}.",
    }
    return type("External", (ExternalProcess,), described)


def _events(train: Interactions) -> pl.DataFrame:
    columns = {c.USER: train.user, c.ITEM: train.item, "weight": train.weight, "time": train.time}
    return pl.DataFrame({name: values for name, values in columns.items() if values is not None})


def _read(path: Path, train: Interactions, k: int, name: str) -> pl.DataFrame:
    """The recommendations, refused in one line where they are not what was asked for."""
    if not path.is_file():
        raise RecAssayError("its script wrote no recommendations.parquet", where=name)
    if path.stat().st_size > MOST_BYTES_A_ROW * (train.n_users * k + 1000):
        raise RecAssayError("its recommendations.parquet is far larger than what was asked for", where=name)
    try:
        written = pl.read_parquet(path, columns=[c.USER, c.ITEM, c.SCORE])
        table = written.cast({c.USER: pl.Int64, c.ITEM: pl.Int64, c.SCORE: pl.Float64})
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RecAssayError(
            f"its recommendations.parquet cannot be read: {str(error).splitlines()[0]}",
            where=name,
            fix="write the columns user, item and score",
        ) from error
    for column, size in ((c.USER, train.n_users), (c.ITEM, train.n_items)):
        between = written.filter(pl.col(column) != table[column]).height if written[column].dtype.is_float() else 0
        if between:
            raise RecAssayError(
                f"{between:,} of its {table.height:,} rows have no whole number as {column}",
                where=name,
                fix="write the positions of train.parquet",
            )
        wrong = table.filter(~pl.col(column).is_between(0, size - 1) | pl.col(column).is_null()).height
        if wrong:
            raise RecAssayError(f"{wrong} of its rows have no {column} from 0 to {size - 1}", where=name)
    if table.filter(pl.col(c.SCORE).is_null() | ~pl.col(c.SCORE).is_finite()).height:
        raise RecAssayError("it gives a score that is not a finite number", where=name)
    if table.select(c.USER, c.ITEM).is_duplicated().any():
        raise RecAssayError("it recommends an item twice to one user", where=name)
    seen = table.join(_events(train).select(c.USER, c.ITEM), on=[c.USER, c.ITEM], how="semi").height
    if table.height and seen == table.height:
        raise RecAssayError(
            f"all {seen:,} rows of its recommendations.parquet name an item that the user has in train.parquet",
            where=name,
            fix="leave out the items that a user already has",
        )
    return table
