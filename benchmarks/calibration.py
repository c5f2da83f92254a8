"""Do the tests keep their level, do the intervals cover, are the probabilities true? By simulation, for every size.

    python3 dev.py bench calibration
    python benchmarks/calibration.py [tests intervals probabilities] [--quick | --share 0.4] [--write FILE]

Tables are drawn from a known truth: on every dataset an algorithm's value is the dataset's level, the algorithm's own
level, and noise of deviation 1. `--write` puts the tables of numbers into the page of the documentation, each part
under its heading. The model, planning and the tests over users have scripts of their own (`calibration_*.py`).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np

from recassay.analysis.compare.bayesian import posterior_weights, signed_rank_rows
from recassay.analysis.glicko.fit import rate_algorithms
from recassay.analysis.inference.friedman import friedman
from recassay.analysis.inference.significance import dataset_ranks, nemenyi_cd, wilcoxon_holm
from recassay.analysis.inference.winners import probability_first
from recassay.analysis.rank.fit import rank_algorithms
from recassay.analysis.ratings.fit import rate_by_pairs
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix

DATASETS, ALGORITHMS = (3, 5, 10, 30), (2, 4, 8, 16)
ALPHA, FEWEST = 0.05, 5
SPREAD = 0.5
"""The deviation of the levels of algorithms that differ, in units of the noise on one dataset."""

Cells = dict[str, dict[tuple[int, int], str]]
"""By what was measured, and by datasets and algorithms, what came out."""

Measure = Callable[[int, int, int, np.random.Generator], dict[str, str]]


def table(levels: np.ndarray, n: int, rng: np.random.Generator, *, skewed: bool = False) -> Matrix:
    """One benchmark of n datasets; `skewed` values are lognormal."""
    noise = rng.standard_normal((len(levels), n))
    values = levels[:, None] + 1.5 * rng.standard_normal(n) + noise
    if skewed:
        values = np.exp(levels[:, None] + noise)
    names = tuple(f"a{i:02d}" for i in range(len(levels))), tuple(f"d{j:02d}" for j in range(n))
    return Matrix(values, *names, "score", True)


def tests(n: int, k: int, tables: int, rng: np.random.Generator) -> dict[str, str]:
    """Size on equal algorithms, and power where the first is better by one deviation of the noise."""
    found: dict[str, list[float]] = {}
    pairs = list(combinations(range(k), 2))
    limit, weights = nemenyi_cd(k, n, ALPHA), posterior_weights(n, 500, rng)
    for better in (0.0, 1.0):
        for _ in range(tables):
            matrix = table(np.r_[better, np.zeros(k - 1)], n, rng)
            ranks = dataset_ranks(matrix)
            gaps = np.stack([matrix.values[a] - matrix.values[b] for a, b in pairs])
            tested = wilcoxon_holm([""] * k, *np.array(pairs).T, gaps.__getitem__, ALPHA, "wilcox")
            mean = ranks.mean(axis=1)
            far = [abs(mean[a] - mean[b]) > limit for a, b in pairs]
            sure = signed_rank_rows(np.array(gaps), weights, 0.0)[:, ::2].max(axis=1) > 0.95
            of_first = [i for i, (a, _) in enumerate(pairs) if a == 0]
            shown = {
                "Friedman": float(friedman(ranks, rng).p < ALPHA),
                "Wilcoxon-Holm": _shown([one.significant for one in tested], of_first, better),
                "Nemenyi": _shown(far, of_first, better),
                "Bayesian signed rank above 0.95": _shown(sure, of_first, better),
            }
            for name, value in shown.items():
                found.setdefault(f"{name}: {'power' if better else 'size'}", []).append(value)
    return {name: f"{np.mean(values):.3f}" for name, values in found.items()}


def _shown(pairs: list[bool], of_first: list[int], better: float) -> float:
    """On equal algorithms whether any pair is distinguished, else the share of the true differences that is."""
    return float(np.mean([pairs[i] for i in of_first])) if better else float(any(pairs))


def intervals(n: int, k: int, tables: int, rng: np.random.Generator) -> dict[str, str]:
    """How often 95 % intervals hold the truth, over all algorithms of equal ones."""
    if n < FEWEST:
        return {}
    held: dict[str, list[float]] = {}

    def count(name: str, ends: np.ndarray | None, truth: float) -> None:
        assert ends is not None
        held.setdefault(name, []).append(float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean()))

    for i in range(tables):
        for kind, truth in (("normal", 0.0), ("lognormal", float(np.exp(0.5)))):
            matrix = table(np.zeros(k), n, rng, skewed=kind == "lognormal")
            ranked = rank_algorithms(matrix, methods=["mean", "mean_rank"], replicates=500, seed=i).rankings
            count(f"mean of {kind} scores", ranked["mean"].score_interval, truth)
            if kind == "normal":
                count("mean rank", ranked["mean_rank"].score_interval, (k + 1) / 2)
                count("Glicko-2 rating", rate_algorithms(matrix, orders=20, seed=i).intervals(), 1500)
                count("Bradley-Terry rating", rate_by_pairs(matrix, replicates=300, seed=i).interval, 1500)
    return {name: f"{np.mean(values):.3f}" for name, values in held.items()}


def probabilities(n: int, k: int, tables: int, rng: np.random.Generator) -> dict[str, str]:
    """What is said of being first again, and how often that is so."""
    if n < FEWEST:
        return {}
    out = {}
    for title, spread in (("equal algorithms", 0.0), (f"levels of deviation {SPREAD:g}", SPREAD)):
        said, true = [], []
        for _ in range(tables):
            levels = spread * rng.standard_normal(k)
            ranks = dataset_ranks(table(levels, n, rng))
            first = int(ranks.mean(axis=1).argmin())
            said.append(probability_first(ranks, rng, draws=2000)[first])
            values = levels[:, None] + rng.standard_normal((100, k, n))
            again = (-values).argsort(axis=1).argsort(axis=1).mean(axis=2).argmin(axis=1)
            true.append((again == first).mean())
        out[f"first again, {title}: said / true"] = f"{np.mean(said):.2f} / {np.mean(true):.2f}"
    return out


PARTS: dict[str, tuple[Measure, int, str]] = {
    "tests": (
        tests,
        100,
        "Size: the share of tables of equal algorithms in which Friedman's p is below 0.05, or any pair is "
        "distinguished. Power: the share of the differences that are found when one algorithm is better than the "
        "others, which are equal, by one deviation of the noise (Friedman's: of the tables). The Bayesian rule looks "
        "at each pair alone, and is not what the verdict goes by.",
    ),
    "intervals": (
        intervals,
        40,
        "How often a 95 % interval holds the truth, on equal algorithms. Below five datasets there are none.",
    ),
    "probabilities": (
        probabilities,
        100,
        "The probability that the first would be first again in a new benchmark of the same size, beside how often it "
        "was. Then how often the set of possible winners (at 95 %) held the best. Below five datasets there are none.",
    ),
}


def write_section(page: Path, title: str, text: str) -> None:
    """Put `text` under the heading `title` of the page, in place of what stands there."""
    head, *sections = page.read_text(encoding="utf-8").split("\n## ")
    known = [section.partition("\n")[0] for section in sections]
    section = f"{title}\n\n{text.strip()}\n"
    if title in known:
        sections[known.index(title)] = section
    else:
        sections.append(section)
    page.write_text("\n## ".join([head, *sections]).rstrip() + "\n", encoding="utf-8")


def measured(names: list[str], share: float) -> dict[str, str]:
    """With that share of the tables, each part as Markdown: one table per quantity."""
    parts = {}
    for name in names:
        measure, tables, meaning = PARTS[name]
        tables = max(round(share * tables), 5)
        cells: Cells = {}
        for n in DATASETS:
            for k in ALGORITHMS:
                rng = derived_rng(1, "calibration", name, str(n), str(k))
                for title, value in measure(n, k, tables, rng).items():
                    cells.setdefault(title, {})[n, k] = value
        lines = [f"{meaning} {tables} tables per cell.", ""]
        for title, found in cells.items():
            lines += [f"**{title[0].upper()}{title[1:]}**", "", _markdown(found), ""]
        parts[name.capitalize()] = "\n".join(lines)
    return parts


def _markdown(found: dict[tuple[int, int], str]) -> str:
    rows = [["datasets", *(f"{k} algorithms" for k in ALGORITHMS)], ["---"] * (len(ALGORITHMS) + 1)]
    rows += [[str(n), *(found.get((n, k), "-") for k in ALGORITHMS)] for n in DATASETS if (n, 2) in found]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> None:
    """Measure the parts that are named, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)}; by default all")
    parser.add_argument("--quick", action="store_true", help="a tenth of the tables")
    parser.add_argument("--share", type=float, default=1.0, help="that share of the tables")
    parser.add_argument("--write", type=Path, help="the page to write")
    asked = parser.parse_args()
    unknown = [name for name in asked.parts if name not in PARTS]
    if unknown:
        parser.error(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    start = time.perf_counter()
    for title, text in measured(asked.parts or list(PARTS), 0.1 if asked.quick else asked.share).items():
        print(f"## {title}\n\n{text}")
        if asked.write is not None:
            write_section(asked.write, title, text)
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
