"""Which conclusions survive the choices that nobody argues about: every universe judged, claims counted over all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from recassay.analysis.multiverse.claims import (
    JointTest,
    Stated,
    describe,
    joint_test,
    named_claims,
    observed,
    opponent,
    overall_ranks,
    shown,
    suggested_claims,
)
from recassay.analysis.multiverse.remarks import Kind, Remark
from recassay.analysis.multiverse.result import Claim, Counts, MultiverseResult, MultiverseSettings, Share
from recassay.analysis.multiverse.shares import Parts, variance_parts
from recassay.analysis.multiverse.universes import Universes, find_universes
from recassay.analysis.verdict.decision import decide
from recassay.analysis.verdict.result import Grade
from recassay.core.choices import PRACTICALLY_EQUAL, Aggregation, MissingPolicy, refuse_level
from recassay.core.decompositions import signed_svd
from recassay.core.errors import InputError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.system.blas import one_blas_thread
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.sources import Source
from recassay.core.types import BoolArray, FloatArray, IntArray

PERMUTATIONS = 10_000
FEW_UNIVERSES = 100
"""Beyond so many universes each is judged by fewer patterns of signs, where not all are tried."""

FLIPS = 1_000


def explore(
    rows: pl.DataFrame,
    *,
    axes: Sequence[str] | None = None,
    claims: Sequence[str] | None = None,
    metric: str | None = None,
    leaky: Sequence[str] = (),
    missing: MissingPolicy | Sequence[MissingPolicy] = "drop-datasets",
    aggregation: Sequence[Aggregation] = ("mean_rank",),
    higher_is_better: bool | None = None,
    alpha: float = 0.05,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    sources: tuple[Source, ...] = (),
    notes: Sequence[str] = (),
) -> MultiverseResult:
    """Every universe of a long table (see `find_universes`) ranked and judged, and the claims over all of them.

    A universe is judged by the rules of the verdict; of several with the same numbers one counts. Simonsohn, Simmons
    and Nelson (2020) is the source of the specification curve and of its joint test, Steegen et al. (2016) of the
    multiverse. Several policies for missing cells, or several aggregations, are further axes.
    """
    refuse_level(alpha)
    universes = find_universes(
        rows, axes=axes, metric=metric, leaky=leaky, higher_is_better=higher_is_better, seed=seed
    )
    policies = (missing,) if isinstance(missing, str) else tuple(missing)
    ways = [(policy, mean) for mean in aggregation for policy in policies for _ in range(len(universes))]
    universes = universes.times("missing", policies).times("aggregation", tuple(aggregation))
    with one_blas_thread():
        judged = _judged(universes, ways, alpha=alpha, seed=seed)
        clean = ~judged.leaky
        if not clean.any():
            raise UsageError(
                "leaky: every universe is marked", fix="mark fewer: what holds among clean ones is the answer"
            )
        mean_ranks = judged.mean_ranks
        named = [] if claims is None else named_claims(claims, universes.algorithms)
        made = named or suggested_claims(mean_ranks[clean])
        test = joint_test(judged.ranks[clean], permutations, derived_rng(seed, "multiverse", "relabel"))
        parts, used = _parts(mean_ranks[clean], judged.places[clean], seed=seed)
        points, explained = _map(mean_ranks)
        return MultiverseResult(
            axes=universes.axes,
            choices=judged.places,
            algorithms=universes.algorithms,
            datasets=universes.datasets,
            mean_ranks=mean_ranks,
            n_datasets=np.isfinite(judged.ranks).any(axis=1).sum(axis=1),
            grades=judged.grades,
            leaky=judged.leaky,
            places=points,
            explained=explained,
            claims=tuple(_claim(claim, universes, judged, test) for claim in made),
            shares=_shares(parts, [list(universes.axes)[i] for i in used], made, universes.algorithms, alpha=alpha),
            reading=tuple(notes),
            remarks=(*universes.remarks, *judged.remarks, *_remarks(judged, parts, used)),
            settings=MultiverseSettings(alpha=alpha, permutations=permutations, seed=seed),
            sources=sources,
            drift=universes.drift,
            seeds=universes.seeds,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """The universes that could be judged."""

    places: IntArray
    leaky: BoolArray
    ranks: FloatArray
    """Universes x algorithms x datasets; NaN where an algorithm or a dataset is absent."""
    mean_ranks: FloatArray
    """Universes x algorithms: the mean over the datasets that count; NaN where an algorithm is absent."""
    better: BoolArray
    """Universes x algorithms x algorithms: who is shown to be better than whom."""
    grades: tuple[Grade, ...]
    remarks: tuple[Remark, ...]


def _judged(universes: Universes, ways: list[tuple[MissingPolicy, Aggregation]], alpha: float, seed: int) -> _Judged:
    """By universe, `ways` has how missing cells are treated and how the datasets are aggregated."""
    cells = [_complete(u, universes, policy) for u, (policy, _) in enumerate(ways)]
    whole = [u for u, (rows, columns, _) in enumerate(cells) if len(rows) > 1 and len(columns)]
    kept = _distinct(whole, cells, universes, ways)
    if not kept:
        raise InputError(
            "no universe has two algorithms with values on a common dataset",
            fix="check the axes: a column that names algorithms or runs is not a choice",
        )
    k, n = len(universes.algorithms), len(universes.datasets)
    ranks, better = np.full((len(kept), k, n), np.nan), np.zeros((len(kept), k, k), dtype=bool)
    flips = 10_000 if len(kept) <= FEW_UNIVERSES else FLIPS
    grades: list[Grade] = []
    for at, u in enumerate(kept):
        rows, columns, values = cells[u]
        matrix = Matrix(
            values=values,
            algorithms=tuple(universes.algorithms[a] for a in rows),
            datasets=tuple(universes.datasets[d] for d in columns),
            metric="universe",
            higher_is_better=bool(universes.upward[u]),
        )
        decision = decide(matrix, control=None, within=PRACTICALLY_EQUAL, alpha=alpha, seed=seed, flips=flips)
        place = rows[decision.order]
        scores = decision.ranks if ways[u][1] == "mean_rank" else scaled(matrix)[decision.order]
        ranks[at][np.ix_(place, columns)] = scores
        better[at][np.ix_(place, place)] = decision.better
        grades.append(decision.grade)
    remarks = tuple(_missing(universes, cells, kept, len(whole)))
    total, count = np.nansum(ranks, axis=2), np.isfinite(ranks).sum(axis=2)
    mean = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return _Judged(universes.places[kept], universes.leaky[kept], ranks, mean, better, tuple(grades), remarks)


def _distinct(
    whole: list[int],
    cells: list[tuple[IntArray, IntArray, FloatArray]],
    universes: Universes,
    ways: list[tuple[MissingPolicy, Aggregation]],
) -> list[int]:
    """Of universes with the same numbers, direction and aggregation one: the first, and a clean one before a leaky."""
    first: dict[tuple[object, ...], int] = {}
    for u in sorted(whole, key=lambda u: bool(universes.leaky[u])):
        rows, columns, values = cells[u]
        content = rows.tobytes(), columns.tobytes(), values.tobytes(), bool(universes.upward[u]), ways[u][1]
        first.setdefault(content, u)
    return sorted(first.values())


def scaled(matrix: Matrix) -> FloatArray:
    """Values on the scale of ranks: on each dataset 1 for the best and k for the worst, between them in proportion."""
    down = -matrix.values if matrix.higher_is_better else matrix.values
    low, high = down.min(axis=0), down.max(axis=0)
    k = len(matrix.algorithms)
    shares = np.where(high > low, (down - low) / np.where(high > low, high - low, 1.0), 0.5)
    return np.asarray(1.0 + (k - 1) * shares)


def _complete(u: int, universes: Universes, missing: MissingPolicy) -> tuple[IntArray, IntArray, FloatArray]:
    """The algorithms and datasets of one universe that have every cell, and the cells, as the policy says."""
    values = universes.values[u]
    known = np.isfinite(values)
    rows, columns = np.flatnonzero(known.any(axis=1)), np.flatnonzero(known.any(axis=0))
    part = known[np.ix_(rows, columns)]
    if missing == "error" and not part.all():
        row, column = (int(place[0]) for place in np.nonzero(~part))
        places = zip(universes.axes.items(), universes.places[u], strict=True)
        choices = ", ".join(f"{axis}={every[at]}" for (axis, every), at in places)
        raise InputError(
            f"{int((~part).sum())} cells are missing under {choices}, the first {universes.algorithms[rows[row]]} on "
            f"{universes.datasets[columns[column]]}",
            fix="choose `missing='drop-datasets'`, `missing='drop-algorithms'` or `missing='worst'`",
        )
    if missing == "drop-datasets":
        columns = columns[part.all(axis=0)]
    elif missing == "drop-algorithms":
        rows = rows[part.all(axis=1)]
    cells = values[np.ix_(rows, columns)]
    if missing == "worst" and cells.size:
        worst = np.nanmin(cells, axis=0) if universes.upward[u] else np.nanmax(cells, axis=0)
        cells = np.where(np.isnan(cells), worst, cells)
    return rows, columns, cells


def _missing(
    universes: Universes, cells: list[tuple[IntArray, IntArray, FloatArray]], kept: list[int], whole: int
) -> Iterator[Remark]:
    """What was left out for cells that are missing, or as a copy."""
    if whole < len(universes):
        yield Remark("universes_left_out", count=len(universes) - whole)
    if len(kept) < whole:
        yield Remark("identical", count=whole - len(kept), of=whole)
    known = np.isfinite(universes.values)
    kinds: tuple[tuple[Kind, int, int], ...] = (("datasets_left_out", 1, 1), ("algorithms_left_out", 2, 0))
    for kind, axis, columns in kinds:
        present = known.any(axis=axis).sum(axis=1)
        lost = sum(len(cells[u][columns]) < present[u] for u in kept)
        if lost:
            yield Remark(kind, count=int(lost))
    full = (len(universes.algorithms), len(universes.datasets))
    uneven = sum((len(cells[u][0]), len(cells[u][1])) != full for u in kept)
    if uneven:
        yield Remark("unbalanced", count=uneven, of=len(kept))


def _remarks(judged: _Judged, parts: Parts | None, used: list[int]) -> Iterator[Remark]:
    """What small universes, and too few or too many of them, do not allow."""
    counts = np.isfinite(judged.ranks).any(axis=1).sum(axis=1)
    single, undecidable = int((counts == 1).sum()), sum(grade == "too_little_data" for grade in judged.grades)
    if single:
        yield Remark("single_dataset", count=single)
    if undecidable:
        yield Remark("undecidable", count=undecidable, of=len(counts))
    if parts is None and len(used) > 1:
        yield Remark("no_shares")


def _counts(claim: Stated, judged: _Judged, part: BoolArray) -> Counts:
    seen = observed(claim, judged.mean_ranks[part])
    sure = shown(claim, judged.better[part], np.isfinite(judged.mean_ranks[part]))[seen > -2]
    seen = seen[seen > -2]
    return Counts(len(seen), *_times(seen), *_times(sure))


def _times(signs: IntArray) -> tuple[int, int, int]:
    """How often 1, 0 and -1 occur."""
    return int((signs == 1).sum()), int((signs == 0).sum()), int((signs == -1).sum())


def _claim(claim: Stated, universes: Universes, judged: _Judged, test: JointTest) -> Claim:
    names, clean = universes.algorithms, ~judged.leaky
    mean_ranks = judged.mean_ranks[clean]
    seen = observed(claim, mean_ranks)
    # Being first counts ties for each: a shared first place is not an exception.
    fails = (seen == -1) if claim.rival is None else (seen < 1) & (seen > -2)
    on_datasets = observed(claim, judged.ranks[clean].transpose(0, 2, 1))
    by_dataset = {name: _times(column) for name, column in zip(universes.datasets, on_datasets.T, strict=True)}
    leads = opponent(mean_ranks, claim.algorithm, claim.rival) - mean_ranks[:, claim.algorithm]
    leads = leads[np.isfinite(leads)]
    return Claim(
        statement=claim.statement(names),
        algorithm=names[claim.algorithm],
        rival=None if claim.rival is None else names[claim.rival],
        named=claim.named,
        counts=_counts(claim, judged, clean),
        by_dataset=by_dataset,
        lead=float(leads.mean()) if len(leads) else float("nan"),
        p=test.p(claim),
        chance=test.chance(claim),
        fails=describe(fails, judged.places[clean], universes.axes),
        leaky=_counts(claim, judged, judged.leaky) if judged.leaky.any() else None,
    )


def _parts(mean_ranks: FloatArray, places: IntArray, seed: int) -> tuple[Parts | None, list[int]]:
    """The parts of the variance, over the algorithms that are in every universe and the axes that vary."""
    common = ~np.isnan(mean_ranks).any(axis=0)
    used = [i for i in range(places.shape[1]) if len(np.unique(places[:, i])) > 1]
    if not used or common.sum() < 2:
        return None, used
    coded = np.stack([np.unique(places[:, i], return_inverse=True)[1] for i in used], axis=1)
    ranks = np.where(common, mean_ranks, 0.0)
    order = np.lexsort(ranks.round(9)[::-1])  # by content, so that names have no part in what is drawn
    parts = variance_parts(ranks[:, order], coded, coded.max(axis=0) + 1, derived_rng(seed, "multiverse", "shares"))
    if parts is None:
        return None, used
    back = np.argsort(order)
    return replace(parts, products=parts.products[..., back, :][..., back]), used


def _shares(
    parts: Parts | None, axes: list[str], claims: Sequence[Stated], algorithms: Sequence[str], alpha: float
) -> tuple[Share, ...]:
    """The part that each source has in the distance between rankings, and in the lead of each claim of two."""
    if parts is None:
        return ()
    of_leads = {
        claim.statement(algorithms): parts.of_lead(claim.algorithm, claim.rival).mean(axis=0)
        for claim in claims
        if claim.rival is not None
    }
    distance = parts.of_distance()
    low, high = np.quantile(distance, [alpha / 2, 1 - alpha / 2], axis=0)
    shares = [
        Share(
            axes=tuple(axes[i] for i in source),
            share=float(distance[:, at].mean()),
            interval=None if parts.exact else (float(low[at]), float(high[at])),
            of_leads={statement: float(lead[at]) for statement, lead in of_leads.items()},
        )
        for at, source in enumerate(parts.axes)
    ]
    return tuple(sorted(shares, key=lambda share: (len(share.axes) or 3, -share.share)))


def _map(mean_ranks: FloatArray) -> tuple[FloatArray, tuple[float, float]]:
    """Two directions along which the mean ranks of the universes differ most (classical scaling of their distances)."""
    overall = overall_ranks(mean_ranks)
    filled = np.where(np.isnan(mean_ranks), overall, mean_ranks)[:, np.isfinite(overall)]
    centred = filled - filled.mean(axis=0)
    left, size, _ = signed_svd(centred)
    total = float((size**2).sum()) or 1.0
    left, size = np.pad(left, ((0, 0), (0, 2)))[:, :2], np.pad(size, (0, 2))[:2]  # where there is one direction
    return left * size, (float(size[0] ** 2 / total), float(size[1] ** 2 / total))
