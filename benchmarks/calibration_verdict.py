"""Is the verdict right as often as it says? Size and power of the all-pairs test, the grade, and who could be best.

    python benchmarks/calibration_verdict.py [pairs kinds grades winners failures] [--share 0.2] [--write FILE]

Tables are drawn from a known truth: on every dataset an algorithm's value is the dataset's level, the algorithm's own
level, and noise of deviation 1 of some kind. `--write` replaces the part of the page between its two markers.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from recassay.analysis.inference.significance import dataset_ranks, nemenyi_cd, wilcoxon_holm
from recassay.analysis.verdict.decision import Decision, decide
from recassay.core.choices import PRACTICALLY_EQUAL
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix

ALPHA = 0.05
FLIPS = 1_000
"""A tenth of what the product draws: the level is the same, its noise a little larger."""

Row = list[str]
Part = tuple[str, list[str], list[Row]]
"""A caption, a header and rows."""


def drawn(kind: str, levels: np.ndarray, n: int, rng: np.random.Generator) -> Matrix:
    """A table of n datasets whose noise is of this kind, symmetric between the algorithms."""
    k = len(levels)
    noise = rng.standard_normal((k, n))
    scale, failed = np.ones(n), np.zeros((k, n))
    if kind == "heavy tails":
        noise = rng.standard_t(3, (k, n)) / np.sqrt(3)
    elif kind == "datasets of unequal scale":
        scale = np.exp(rng.standard_normal(n))
    elif kind == "algorithms of unequal scale":
        noise *= np.linspace(0.4, 1.6, k)[:, None]
    elif kind == "a common factor":
        noise = np.sqrt(0.5) * (noise + rng.standard_normal(k)[:, None] * rng.standard_normal(n))
    elif kind == "failures":
        failed = -8.0 * (rng.random((k, n)) < 0.07)
    elif kind == "skew":
        noise = 0.7 * np.exp(noise)
    values = (levels[:, None] + noise + failed) * scale + 1.5 * rng.standard_normal(n)
    if kind == "ties":
        values = np.round(levels[:, None] + noise)
    return Matrix(values, tuple(f"a{i:02d}" for i in range(k)), tuple(f"d{j:02d}" for j in range(n)), "score", True)


KINDS = ("normal", "heavy tails", "datasets of unequal scale", "algorithms of unequal scale", "a common factor",
         "failures", "skew", "ties")  # fmt: skip


def judged(matrix: Matrix) -> Decision:
    """The status of every pair, as the verdict has it."""
    return decide(matrix, control=None, within=PRACTICALLY_EQUAL, alpha=ALPHA, seed=0, flips=FLIPS)


def found_pairs(matrix: Matrix) -> dict[str, np.ndarray]:
    """By procedure, algorithms x algorithms: where the row is shown to be better than the column."""
    decision = judged(matrix)
    k, n = decision.ranks.shape
    ours = np.zeros((k, k), dtype=bool)
    ours[np.ix_(decision.order, decision.order)] = decision.better
    first, second = np.triu_indices(k, 1)
    gaps = matrix.values[first] - matrix.values[second]
    tested = wilcoxon_holm([""] * k, first, second, gaps.__getitem__, ALPHA, "wilcox")
    holm = np.zeros((k, k), dtype=bool)
    for i, j, pair in zip(first, second, tested, strict=True):
        if pair.significant and pair.rank_biserial:
            holm[(i, j) if pair.rank_biserial > 0 else (j, i)] = True
    mean = dataset_ranks(matrix).mean(axis=1)
    far = mean[None] - mean[:, None] > nemenyi_cd(k, n, ALPHA)
    return {"all pairs": ours, "Wilcoxon-Holm": holm, "Nemenyi": far}


def share(values: list[float] | list[bool]) -> str:
    """Their mean, for a table."""
    return f"{np.mean(values):.3f}"


def pairs(tables: int) -> list[Part]:
    """Size and power of the all-pairs test beside Wilcoxon-Holm and Nemenyi."""
    parts = []
    for kind in ("normal", "heavy tails"):
        rows = []
        for n in (3, 5, 8, 12, 30):
            for k in (3, 6, 11):
                rng = derived_rng(1, "pairs", kind, str(n), str(k))
                cells: dict[str, tuple[list[bool], list[float]]] = {}
                for better in (0.0, 1.5):
                    for _ in range(tables):
                        for name, shown in found_pairs(drawn(kind, np.r_[better, np.zeros(k - 1)], n, rng)).items():
                            size, power = cells.setdefault(name, ([], []))
                            if better:
                                power.append(float(shown[0, 1:].mean()))
                            else:
                                size.append(bool(shown.any()))
                rows.append([str(n), str(k), *(f"{share(size)} / {share(power)}" for size, power in cells.values())])
        caption = (
            f"Noise: {kind}. Size (share of {tables} tables of equal algorithms in which any pair is called different) "
            "/ power (share of the differences found when one algorithm is better by 1.5 deviations)"
        )
        parts.append((caption, ["datasets", "algorithms", "all pairs", "Wilcoxon-Holm", "Nemenyi"], rows))
    return parts


def kinds(tables: int) -> list[Part]:
    """The size of the all-pairs test under every kind of noise."""
    sizes = [(6, 3), (6, 10), (8, 6), (12, 3), (12, 11), (15, 20), (30, 3), (30, 6), (30, 20)]
    rows = []
    for kind in KINDS:
        row = [kind]
        for n, k in sizes:
            rng = derived_rng(1, "kinds", kind, str(n), str(k))
            row.append(share([bool(judged(drawn(kind, np.zeros(k), n, rng)).better.any()) for _ in range(tables)]))
        rows.append(row)
    caption = (
        f"Share of {tables} tables of equal algorithms in which any pair is called different (datasets x algorithms)"
    )
    return [(caption, ["noise", *(f"{n} x {k}" for n, k in sizes)], rows)]


def grades(tables: int) -> list[Part]:
    """The grade on equal algorithms, and with a winner by 1, 2, 3 standard errors."""
    parts = []
    for errors in (0, 1, 2, 3, 5):
        rows = []
        for k, n in ((2, 3), (3, 2), (2, 6), (3, 6), (2, 12), (4, 8), (6, 12), (12, 12), (12, 30), (30, 40), (40, 30)):
            rng = derived_rng(1, "grades", str(errors), str(n), str(k))
            counts: dict[str, int] = {}
            right = wrong = held = 0
            levels = np.r_[errors * np.sqrt(2 / n), np.zeros(k - 1)]
            many = tables if k < 30 else max(tables // 4, 10)
            for _ in range(many):
                matrix = drawn("normal", levels, n, rng)
                decision = judged(matrix)
                counts[decision.grade] = counts.get(decision.grade, 0) + 1
                held += bool(decision.p_best[decision.order.index(0)] >= ALPHA)
                if decision.grade == "clear_winner":
                    right, wrong = right + (decision.order[0] == 0), wrong + (decision.order[0] != 0)
            if errors:
                shown = [f"{c / many:.3f}" for c in (right, wrong, counts.get("shared_lead", 0),
                                                     counts.get("no_difference", 0), held)]  # fmt: skip
            else:
                shown = [f"{counts.get(g, 0) / many:.3f}" for g in ("clear_winner", "shared_lead", "no_difference")]
            rows.append([str(k), str(n), str(many), *shown])
        header = ["algorithms", "datasets", "tables"]
        if errors:
            plural = "s" if errors > 1 else ""
            caption = f"One algorithm better than the others, which are equal, by {errors} standard error{plural}"
            header += [
                "clear winner, right",
                "clear winner, wrong",
                "shared lead",
                "no difference",
                "best not ruled out",
            ]
        else:
            caption = "Equal algorithms"
            header += ["clear winner", "shared lead", "no difference"]
        parts.append((caption, header, rows))
    return parts


def _bootstrap_sets(ranks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Those that could be best by the studentised bootstrap (Mogstad, Romano, Shaikh and Wilhelm 2024)."""
    k, n = ranks.shape
    weights = rng.multinomial(n, np.full(n, 1 / n), size=500) / n
    could = np.ones(k, dtype=bool)
    for i in range(k):
        gap = np.delete(ranks[i] - ranks, i, axis=0)
        mean, error = gap.mean(axis=1), gap.std(axis=1, ddof=1) / np.sqrt(n)
        again = weights @ gap.T
        spread = np.sqrt(np.maximum(weights @ (gap**2).T - again**2, 0) / (n - 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.nan_to_num((again - mean) / np.where(spread > 1e-9, spread, np.nan), nan=0.0)
            seen = np.where(error > 1e-9, mean / np.where(error > 1e-9, error, 1), np.sign(mean) * np.inf)
        could[i] = seen.max() <= np.quantile(t.max(axis=1), 1 - ALPHA)
    return could


def _betting_sets(ranks: np.ndarray) -> np.ndarray:
    """Those that could be best if ranks are only known to be bounded: a bet against each mean difference, corrected."""
    k, _ = ranks.shape
    could = np.ones(k, dtype=bool)
    for i in range(k):
        gap = np.delete(ranks[i] - ranks, i, axis=0) / (k - 1)  # from -1 to 1; above 0 where the other is better
        stakes = np.linspace(0.05, 0.95, 19)
        wealth = np.mean([np.prod(1 + stake * gap, axis=1) for stake in stakes], axis=0)
        could[i] = wealth.max() < (k - 1) / ALPHA
    return could


def winner_sets(matrix: Matrix, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """By procedure, which algorithms could be best."""
    decision = judged(matrix)
    ours = np.ones(len(decision.order), dtype=bool)
    ours[decision.order] = decision.p_best >= ALPHA
    own = dataset_ranks(matrix)
    return {
        "all pairs (the verdict)": ours,
        "with the best, studentised bootstrap": _bootstrap_sets(own, rng),
        "with the best, bounded ranks (betting)": _betting_sets(own),
    }


def winners(tables: int) -> list[Part]:
    """Who could be best: how often a best algorithm is ruled out, and how many are left."""
    rows: list[Row] = []
    for title, kind, lead in (("equal", "normal", 0.0), ("one better by 1", "normal", 1.0),
                              ("one better by 1", "heavy tails", 1.0)):  # fmt: skip
        for n, k in ((6, 6), (10, 8), (10, 16), (30, 11)):
            rng = derived_rng(1, "winners", title, kind, str(n), str(k))
            out: dict[str, tuple[list[bool], list[bool], list[float]]] = {}
            for _ in range(tables):
                matrix = drawn(kind, np.r_[lead, np.zeros(k - 1)], n, rng)
                for name, could in winner_sets(matrix, rng).items():
                    first, some, left = out.setdefault(name, ([], [], []))
                    first.append(not could[0])
                    some.append(not (could[:1] if lead else could).all())
                    left.append(float(could.mean()))
            for name, (first, some, left) in out.items():
                rows.append(
                    [f"{title} ({kind})", str(n), str(k), name, share(first), share(some), f"{np.mean(left):.2f}"]
                )
    header = [
        "truth",
        "datasets",
        "algorithms",
        "procedure",
        "a given best ruled out",
        "any best ruled out",
        "share left",
    ]
    return [(f"{tables} tables per row", header, rows)]


def failures(tables: int) -> list[Part]:
    """A leader that fails rarely: the second, which never fails, has the better mean rank in truth."""
    rows: list[Row] = []
    for n, k in ((10, 16), (15, 16), (10, 8), (30, 16)):
        rng = derived_rng(1, "failures", str(n), str(k))
        chance = 1.2 / k  # of a failure: the mean rank of the leader is then 0.2 (k - 1) / k behind the second's
        out: dict[str, list[bool]] = {}
        for _ in range(tables):
            levels = np.r_[2.0, 1.0, np.linspace(-1, -6, k - 2)]
            values = levels[:, None] + 0.1 * rng.standard_normal((k, n)) + rng.standard_normal(n)
            values[0, rng.random(n) < chance] -= 50.0
            matrix = drawn("normal", levels, n, rng)
            matrix = Matrix(values, matrix.algorithms, matrix.datasets, "score", True)
            for name, could in winner_sets(matrix, rng).items():
                out.setdefault(name, []).append(not could[1])
        rows.append([str(n), str(k), f"{(1 - chance) ** n:.3f}", *(share(one) for one in out.values())])
    header = ["datasets", "algorithms", "no failure seen", *out]
    caption = f"Share of {tables} tables in which the true best is ruled out, beside how often no failure is seen"
    return [(caption, header, rows)]


PARTS: dict[str, tuple[Callable[[int], list[Part]], int, str]] = {
    "pairs": (pairs, 400, "Is A better than B"),
    "kinds": (kinds, 400, "The size of the all-pairs test under other noise"),
    "grades": (grades, 400, "The grade"),
    "winners": (winners, 200, "Who could be best"),
    "failures": (failures, 400, "A leader that fails rarely"),
}
BEGIN, END = "<!-- verdict: begin -->", "<!-- verdict: end -->"


def in_markdown(name: str, share_of: float) -> str:
    """A part as Markdown."""
    measure, tables, title = PARTS[name]
    lines = [f"### {title}", ""]
    for caption, header, rows in measure(max(10, round(share_of * tables))):
        lines += [f"{caption}.", "", f"| {' | '.join(header)} |", "|" + " --- |" * len(header)]
        lines += [f"| {' | '.join(row)} |" for row in rows]
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Measure the parts that are named, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)}; by default all")
    parser.add_argument("--share", type=float, default=1.0, help="that share of the tables")
    parser.add_argument("--write", type=Path, help="the page whose part between the markers is replaced")
    asked = parser.parse_args()
    unknown = [name for name in asked.parts if name not in PARTS]
    if unknown:
        parser.error(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    start = time.perf_counter()
    told = "\n".join(in_markdown(name, asked.share) for name in asked.parts or PARTS)
    print(told)
    print(f"{time.perf_counter() - start:.0f} s")
    if asked.write is not None:
        page = asked.write.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        asked.write.write_text(f"{before}{BEGIN}\n\n{told}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
