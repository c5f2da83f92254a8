"""Which differences between algorithms are more than luck: all tests over datasets on one matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from recassay.analysis.compare.bayesian import BayesianPair, enough_draws, posterior_weights, signed_rank_rows
from recassay.analysis.compare.control import against_control
from recassay.analysis.compare.result import CREDIBILITY, CompareResult, Equivalence, PowerStatement
from recassay.analysis.inference.effects import hodges_lehmann
from recassay.analysis.inference.families import family_means, family_numbers
from recassay.analysis.inference.friedman import friedman
from recassay.analysis.inference.pair_rows import PairRows, blocks
from recassay.analysis.inference.significance import advantages, dataset_ranks, nemenyi_cd, wilcoxon_holm
from recassay.analysis.inference.skillings_mack import skillings_mack
from recassay.analysis.verdict.beside import with_table
from recassay.analysis.verdict.fit import find_control, judge
from recassay.analysis.verdict.result import Verdict, indistinguishable_runs
from recassay.core import ties
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.choices import PRACTICALLY_EQUAL, BarsRule, MissingPolicy, PairTest, ZeroMethod, refuse_level
from recassay.core.content import content_order
from recassay.core.errors import UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results
from recassay.core.types import BoolArray, FloatArray, IntArray

MOST_ROPE = 1e100


def compare_algorithms(
    matrix: Matrix,
    *,
    alpha: float = 0.05,
    zeros: ZeroMethod = "wilcox",
    rope: float = 0.0,
    test: PairTest = "sign-flips",
    bars: BarsRule | None = None,
    control: str | None = None,
    within: float = PRACTICALLY_EQUAL,
    families: str | Mapping[str, str] | None = None,
    gaps_kept: FloatArray | None = None,
    names_kept: Sequence[str] | None = None,
    draws: int | None = None,
    seed: int = 0,
    results: Results | None = None,
    missing: MissingPolicy = "error",
) -> CompareResult:
    """Friedman, Nemenyi, Wilcoxon-Holm and the Bayesian signed-rank test on one matrix.

    Under the Wilcoxon-Holm rule two algorithms differ when the adjusted p is below `alpha`; under the Bayesian rule
    when one of them is better with posterior probability above `CREDIBILITY`; under Nemenyi's when their mean ranks
    differ by more than the critical difference. `rope`, a region of practical equivalence in the metric's units, is 0
    by default: metric values of different datasets are not on one scale (KDD'24, section 4.2.2). The Bayesian rule
    looks at each pair alone: among many equal algorithms some pair passes it nearly always. `bars` says which of the
    rules the critical-difference diagram draws; by default that of the verdict, `test`. `control` is compared with
    every other algorithm (`control`); pairs are practically equal when they are shown to lie within `within`
    (`equivalence`). `gaps_kept` is the table (algorithms x datasets) before anything was dropped or filled, of the
    algorithms `names_kept` (None: those of the matrix): with missing cells in it, Skillings and Mack's test is made on
    it.
    `families` of datasets count as one piece of evidence each, in the verdict and in every test beside it but Skillings
    and Mack's: Wilcoxon's and the Bayesian test take the mean difference of each family, Friedman's and Nemenyi's the
    order of the mean ranks within each family. With the `results` that the matrix is of, the judgement also says what
    their other metrics support and what their seeds show (`verdict.beside`).
    """
    refuse_level(alpha)
    _refuse_settings(rope=rope, within=within, test=test, zeros=zeros, bars=bars)

    # The verdict, and pairs in the order of its algorithms.
    judgement = judge(matrix, control=control, within=within, alpha=alpha, families=families, test=test, seed=seed)
    if results is not None:
        judgement = with_table(judgement, matrix, results, missing=missing, families=families, seed=seed)
    names, k = judgement.algorithms, len(judgement.algorithms)
    order = np.array([matrix.algorithms.index(name) for name in names])
    first, second = np.triu_indices(k, 1)
    left, right = order[first], order[second]
    ranks = dataset_ranks(matrix)
    numbers = None if families is None else family_numbers(matrix.datasets, families)

    # Witnesses: Wilcoxon-Holm of every pair, the control, and Skillings and Mack's test of a table with gaps.
    def gaps(part: slice) -> FloatArray:
        return family_means(advantages(matrix, left[part], right[part]), numbers)

    pairs = wilcoxon_holm(names, first, second, gaps, alpha=alpha, zeros=zeros)
    if numbers is not None:
        ranks = ties.ranks(family_means(ranks, numbers), higher_is_better=False, axis=0)
        pairs.columns |= {name: judgement.pairs.columns[name] for name in ("wins", "ties", "losses")}
    units, by_unit = ranks.shape[1], ranks.mean(axis=1)
    named = None
    if control is not None:
        rank_by_unit = dict(zip(matrix.algorithms, by_unit.tolist(), strict=True))
        named = against_control(find_control(control, names), pairs, rank_by_unit, units, judgement)
    with_gaps = None
    if gaps_kept is not None and np.isnan(gaps_kept).any():
        rng = derived_rng(seed, "skillings", matrix.metric)
        names_kept = names_kept or matrix.algorithms
        with_gaps = skillings_mack(gaps_kept, names_kept, higher_is_better=matrix.higher_is_better, rng=rng)

    # The Bayesian signed-rank test of every pair, with weights that do not depend on the order of the datasets.
    draws = enough_draws(k) if draws is None else draws
    weights = posterior_weights(units, draws, derived_rng(seed, "bayesian signed rank", matrix.metric))
    weights[1:] = weights[1:][content_order(family_means(matrix.upward, numbers)).column_places]
    shares = np.concatenate([signed_rank_rows(gaps(part), weights, rope) for part in blocks(len(first), units)])
    ends = {name: pairs.columns[name] for name in ("left", "right")}
    posterior = dict(zip(("p_left", "p_rope", "p_right"), shares.T, strict=True))
    cd = nemenyi_cd(k, units, alpha=alpha)
    differing = {
        "wilcoxon_holm": pairs.columns["significant"],
        test.replace("-", "_"): judgement.better,
        "bayesian": np.maximum(shares[:, 0], shares[:, 2]) > CREDIBILITY,
        "nemenyi": np.abs(by_unit[right] - by_unit[left]) > cd,
    }
    return CompareResult(
        metric=matrix.metric,
        higher_is_better=matrix.higher_is_better,
        algorithms=names,
        datasets=matrix.datasets,
        mean_ranks=tuple(judgement.mean_rank.tolist()),
        alpha=alpha,
        judgement=judgement,
        friedman=friedman(ranks, derived_rng(seed, "friedman", matrix.metric)),
        nemenyi_cd=cd,
        pairs=pairs,
        bayesian=PairRows(BayesianPair, first, second, {**ends, **posterior}),
        groups={rule: _runs(names, first, second, differ) for rule, differ in differing.items()},
        power=PowerStatement(units, k, alpha=alpha),
        bars=bars or test,
        control=named,
        equivalence=_equivalence(matrix.values[order], judgement, numbers),
        within=within,
        skillings_mack=with_gaps,
        missing=matrix.missing,
        zeros=zeros,
        rope=rope,
        draws=draws,
    )


def _refuse_settings(*, rope: float, within: float, test: PairTest, zeros: ZeroMethod, bars: BarsRule | None) -> None:
    if not 0 <= rope <= MOST_ROPE:
        raise UsageError(f"rope is {rope}", fix=f"give a width from 0 to {MOST_ROPE:g}, in the metric's units")
    if not 0 < within < 1:
        raise UsageError(f"within is {within}", fix="give a relative difference between 0 and 1, such as 0.02")
    if test == "wilcoxon-holm" and zeros != "wilcox":
        raise UsageError(
            f"zeros is {zeros!r}", fix="leave it out where the verdict is Wilcoxon's: it drops equal values"
        )
    if test == "wilcoxon-holm" and bars == "sign-flips":
        raise UsageError("bars of flipped signs beside a verdict by Wilcoxon's test", fix="leave one of both out")


def _runs(names: tuple[str, ...], first: IntArray, second: IntArray, differ: BoolArray) -> tuple[tuple[str, ...], ...]:
    """The runs of neighbours of which no pair differs; `first` and `second` are the pairs."""
    square = np.zeros((len(names), len(names)), dtype=bool)
    square[first, second] = differ
    return indistinguishable_runs(names, square)


def _equivalence(values: FloatArray, judgement: Verdict, families: IntArray | None) -> PairRows[Equivalence]:
    """The pairs whose values (in the order of the verdict) are all above 0, as the verdict has them."""
    positive: BoolArray = np.all(values > 0, axis=1)
    logs = np.log(np.where(positive[:, None], values, 1.0)) * (1 if judgement.higher_is_better else -1)
    columns = judgement.pairs.columns
    known = np.flatnonzero(positive[judgement.pairs.first] & positive[judgement.pairs.second])
    first, second = judgement.pairs.first[known], judgement.pairs.second[known]
    fields = {
        "left": columns["a"][known],
        "right": columns["b"][known],
        "ratio": partial(_ratios, logs, first, second, families),
        "p_equal": judgement.p_equal[0][known],
        "p_equal_holm": judgement.p_equal[1][known],
    }
    return PairRows(Equivalence, first, second, fields)


def _ratios(
    logs: FloatArray, first: IntArray, second: IntArray, families: IntArray | None, places: IntArray
) -> list[float]:
    """The typical ratio of each of the pairs at these places."""
    gaps = family_means(logs[first[places]] - logs[second[places]], families)
    ratios: list[float] = np.exp(hodges_lehmann(gaps)[:, 0]).tolist()
    return ratios


def _run(results: Results, spec: AnalysisSpec) -> CompareResult:
    matrix = spec.matrix(results)
    return compare_algorithms(
        matrix,
        alpha=spec.alpha,
        control=spec.control,
        test=spec.test,
        gaps_kept=results.table(matrix.metric),
        names_kept=results.algorithms,
        seed=spec.seed,
        results=results,
        missing=spec.missing,
    )


ANALYSIS = Analysis(
    name="compare",
    question="Which differences between {algorithms} are more than luck?",
    source="Demšar 2006; Benavoli et al. 2017; KDD'24 section 4.2.2",
    run=_run,
    aside=4,
)
