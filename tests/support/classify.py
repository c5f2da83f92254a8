"""Tiny tables to classify, and classifiers that misbehave on demand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

PLUGIN = '''
import os, signal, time
import numpy as np


class Nearest:
    """The class of the nearest mean; sklearn-like, and told a seed."""

    def __init__(self, shift=0.0, random_state=None):
        self.shift, self.random_state = shift, random_state

    def fit(self, X, y):
        self.classes = np.unique(y)
        self.means = np.stack([X[y == c].mean(axis=0) for c in self.classes]) + self.shift
        self.noise = np.random.default_rng(self.random_state).normal(0, 1e-3, self.means.shape)
        return self

    def predict(self, X):
        distance = ((X[:, None, :] - (self.means + self.noise)[None]) ** 2).sum(axis=2)
        return self.classes[distance.argmin(axis=1)]


class Slow(Nearest):
    def fit(self, X, y):
        time.sleep(0.15)
        return super().fit(X, y)


class Raises(Nearest):
    def fit(self, X, y):
        raise ValueError("no luck today")


class Hangs(Nearest):
    def fit(self, X, y):
        time.sleep(60)


class Dies(Nearest):
    def fit(self, X, y):
        os.kill(os.getpid(), signal.SIGSEGV)


class Short(Nearest):
    def predict(self, X):
        return super().predict(X)[:-1]


class Texts(Nearest):
    def predict(self, X):
        return np.array(["a"] * len(X))


class Spy(Nearest):
    """Wants the truth: has an `answer`, as the artificial ones have."""

    role = "artificial"

    def answer(self, truth):
        return truth


class Lazy:
    def predict(self, X):
        return X[:, 0]
'''


def tiny_table(rows: int = 80, classes: int = 3, seed: int = 0) -> pl.DataFrame:
    """Two numeric features and a categorical one that tell the classes apart, with noise and holes."""
    rng = np.random.default_rng(seed)
    label = rng.integers(classes, size=rows)
    first = label + rng.normal(0, 0.6, rows)
    second = rng.normal(0, 1, rows) - label
    colour = np.array(["red", "green", "blue"])[(label + (rng.random(rows) < 0.2)) % 3]
    return pl.DataFrame(
        {
            "first": [None if rng.random() < 0.05 else float(round(v, 4)) for v in first],
            "second": second.round(4),
            "colour": [None if rng.random() < 0.05 else str(v) for v in colour],
            "class": [f"c{v}" for v in label],
        }
    )


def write_tables(folder: Path, *names: str, rows: int = 80) -> None:
    for at, name in enumerate(names):
        tiny_table(rows, seed=at).write_csv(folder / f"{name}.csv")
    (folder / "mine.py").write_text(PLUGIN)


def study_text(datasets: str = '"one.csv", "two.csv"', classifiers: str = "", more: str = "") -> str:
    chosen = f"classifiers = [{classifiers}]\n" if classifiers else ""
    return f'[study]\nname = "tables"\ndatasets = [{datasets}]\n{chosen}\n[mlps]\ncount = 0\n\n{more}'


def write_study(folder: Path, **parts: str) -> Path:
    path = folder / "study.toml"
    path.write_text(study_text(**parts))
    return path
