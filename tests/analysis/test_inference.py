"""The building blocks of the tests and intervals: boundaries, ties, empty and single inputs, by hand."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from recassay.analysis.inference import (
    all_pairs,
    chains,
    effects,
    friedman,
    hierarchical,
    pair_kernels,
    pair_rows,
    winners,
)
from recassay.analysis.inference.agreement import spearman
from recassay.analysis.inference.all_pairs import (
    compare_pairs,
    fewest_datasets,
    relative_values,
    scaled_values,
    sign_patterns,
    smallest_p,
)
from recassay.analysis.inference.bootstrap import dataset_weights, studentised
from recassay.analysis.inference.chains import Chains, first_guess
from recassay.analysis.inference.effects import equivalence_p, rounding_unit
from recassay.analysis.inference.extrapolation import Extrapolation
from recassay.analysis.inference.failures import draw_failures
from recassay.analysis.inference.families import family_numbers, obvious_families, related
from recassay.analysis.inference.hierarchical import fit_hierarchical
from recassay.analysis.inference.pair_kernels import walsh_places
from recassay.analysis.inference.pair_rows import PairRows, blocks
from recassay.analysis.inference.significance import advantages, wilcoxon_holm
from recassay.analysis.inference.skillings_mack import UnseenCells, skillings_mack
from recassay.analysis.inference.wilcoxon import exact_ties, sum_distribution, wilcoxon_rows
from recassay.analysis.inference.winners import fewest_to_remove, probability_first
from recassay.analysis.verdict.decision import decide
from recassay.core.errors import UsageError
from recassay.reporting.words.compare import iman_davenport
from support.made import rng
from support.tables import matrix


def test_rankings_that_put_everybody_level_agree_with_each_other_alone():
    level, order = np.full(3, 2.0), np.array([1.0, 2.0, 3.0])
    found = spearman(np.stack([level, level, order, order]), np.stack([level, order, level, order[::-1]]))
    assert found.tolist() == [1.0, 0.0, 0.0, -1.0]
    close = np.array([0.1, 0.2, 0.4])
    assert abs(spearman(close, close * 3)) <= 1.0


def test_all_signs_are_tried_up_to_fourteen_datasets_and_to_eighteen_of_few_pairs():
    """2^14 patterns of 6103 pairs and 2^17 of 762 are no more than 10^8 statistics."""
    assert sign_patterns(14, rng(), 100, 10**9).shape == (2**13, 14)
    assert sign_patterns(15, rng(), 100, 6103).shape == (2**14, 15)
    assert sign_patterns(18, rng(), 100, 762).shape == (2**17, 18)
    for n, pairs in ((15, 6104), (18, 763), (19, 1)):
        drawn = sign_patterns(n, rng(), 100, pairs)
        assert drawn.shape == (101, n)
        assert (drawn[0] == 1).all(), "the observed signs come first"
    every = sign_patterns(5, rng())
    assert len(np.unique(np.vstack([every, -every]), axis=0)) == 2**5, "a pattern stands for its opposite"
    assert (every[0] == 1).all()


def test_values_in_levels_and_spreads_of_their_dataset_by_hand():
    """Medians 2 and 8; then variances 1/4 and 1/16 with the median 5/32, which counts as two algorithms beside the
    three of the dataset."""
    values = np.array([[1.0, 6.0], [2.0, 8.0], [3.0, 10.0]])
    spread = np.sqrt((2 * np.array([1 / 4, 1 / 16]) + 2 * 5 / 32) / 4)
    expected = np.array([[-1.0], [0.0], [1.0]]) * [1 / 2, 1 / 4] / spread
    assert scaled_values(matrix(values)) == pytest.approx(expected)
    assert scaled_values(matrix(values, higher_is_better=False)) == pytest.approx(-expected)
    assert scaled_values(matrix(-values, higher_is_better=False)) == pytest.approx(expected)
    assert scaled_values(matrix(values * [10, 0.1])) == pytest.approx(expected), "a harder one counts like others"
    # Values of both signs have no level: variances 1 and 4 with the median 2.5.
    spread = np.sqrt((2 * np.array([1.0, 4.0]) + 2 * 2.5) / 4)
    assert scaled_values(matrix(values - 2)) == pytest.approx(np.array([[-1.0], [0.0], [1.0]]) * [1.0, 2.0] / spread)
    flat = np.array([[1.0, 5.0, 5.0], [2.0, 5.0, 5.0], [3.0, 5.0, 5.0]])  # the median of 1/4, 0 and 0 is not a spread
    assert scaled_values(matrix(flat))[:, 0] == pytest.approx(np.array([-1, 0, 1]) / 2 / np.sqrt((2 + 2 / 3) / 16))
    assert not scaled_values(matrix(np.full((3, 4), 0.2))).any()
    rounded = scaled_values(matrix(np.array([[0.3, 0.1], [0.1 + 0.2, 0.2], [0.5, 0.3]])))
    assert rounded[0, 0] == rounded[1, 0]


@pytest.mark.parametrize("up", [True, False])
def test_the_level_of_a_dataset_is_its_median_else_its_mean(up):
    """Medians 4 and 2; a median of 0 and the mean 2; nothing but zeros."""
    values = np.array([[2.0, 1.0, 0.0, 0.0], [4.0, 2.0, 0.0, 0.0], [8.0, 9.0, 6.0, 0.0]])
    relative = np.array([[0.5, 0.5, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [2.0, 4.5, 3.0, 0.0]])
    for sign in (1, -1):
        table = matrix(sign * values, higher_is_better=up)
        assert relative_values(table).tolist() == ((sign if up else -sign) * relative).tolist()
    mixed = values - [0, 0, 0, 1]
    assert relative_values(matrix(mixed, higher_is_better=up)).tolist() == (mixed if up else -mixed).tolist()
    worse = np.vstack([values[:, :2], values[0, :2] / 2, values[2, :2]])
    nothing = worse.copy()
    nothing[3] = 0.0
    assert relative_values(matrix(nothing))[:3] == pytest.approx(relative_values(matrix(worse))[:3]), (
        "an algorithm with values of 0 changes nothing for the others"
    )


def test_a_pair_is_no_surer_than_those_tested_before_it(monkeypatch):
    def counted(sums, first, second, weight, least, alone, together):
        alone[:], together[:] = 1, [3, 1, 2]

    monkeypatch.setattr(all_pairs, "count_flips", counted)
    found = compare_pairs(rng(1).normal(size=(3, 6)), np.array([0, 0, 1]), np.array([1, 2, 2]), rng())
    assert found.adjusted.tolist() == [3 / 32] * 3
    assert found.single.tolist() == [1 / 32] * 3


def plain_pairs(scaled, first, second, floor):
    """Single and adjusted p of the two statistics, each in units of its own quantile, by all patterns of signs."""
    n = scaled.shape[1]
    gaps = scaled[first] - scaled[second]
    squares = (gaps**2).sum(axis=1)
    flips = np.array([(*signs, 1) for signs in itertools.product([1, -1], repeat=n - 1)])
    weight = np.zeros(len(gaps))
    for added, quantile in ((0.0, 0.99), (floor, 0.96)):
        size = np.array([(square + added) ** -0.5 if square + added > 0 else 0.0 for square in squares])
        largest = np.sort(np.abs(flips @ gaps.T * size).max(axis=1))
        weight = np.maximum(weight, size / largest[int(np.ceil(quantile * (len(flips) - 1)))])
    drawn, seen = np.abs(flips @ gaps.T) * weight, np.abs(gaps.sum(axis=1)) * weight
    single = (drawn >= seen - 1e-9).mean(axis=0)
    adjusted, order = np.empty(len(gaps)), np.argsort(-seen, kind="stable")
    for place, pair in enumerate(order):
        reached = (drawn[:, order[place:]].max(axis=1) >= seen[pair] - 1e-9).mean()
        adjusted[pair] = max(reached, adjusted[order[place - 1]] if place else 0.0)
    return single, adjusted


@pytest.mark.parametrize("n", [6, 9, 11])
def test_pairs_are_compared_by_two_statistics_in_units_of_their_quantiles(n):
    first, second = np.triu_indices(5, 1)
    spread = np.array([[1.0], [0.1], [0.1], [2.0], [0.3]])
    scaled = spread * rng(n).normal(size=(5, n)) + np.array([[0.5], [0.3], [0.2], [0.0], [-0.1]])
    floor = np.median([((scaled[a] - scaled[b]) ** 2).sum() for a, b in zip(first, second, strict=True)])
    found = compare_pairs(scaled, first, second, rng())
    single, adjusted = plain_pairs(scaled, first, second, floor)
    assert found.single == pytest.approx(single)
    assert found.adjusted == pytest.approx(adjusted)
    assert found.sums == pytest.approx((scaled[first] - scaled[second]).sum(axis=1))
    assert plain_pairs(scaled, first, second, 100 * floor)[1] != pytest.approx(adjusted), "the floor matters"


def test_more_patterns_are_drawn_where_a_p_lies_near_the_level(monkeypatch):
    """Between 0.6 and 1.4 of the level, ten times as many, up to `MOST` statistics; never where all were tried."""
    tried = []

    def counted(share):
        def count(sums, first, second, weight, least, alone, together):
            tried.append(len(sums))
            alone += 0.01 * len(sums)
            together += share * len(sums)

        return count

    def found(share, n=19, pairs=1, **given):
        tried.clear()
        monkeypatch.setattr(all_pairs, "count_flips", counted(share))
        first = np.arange(pairs)
        tests = compare_pairs(rng(1).normal(size=(pairs + 1, n)), first, first + 1, rng(), 1000, **given)
        assert tests.single == pytest.approx(np.full(pairs, 0.01)), "shares of all that were drawn"
        assert tests.adjusted == pytest.approx(np.full(pairs, share))
        assert tried[0] == (1001 if n > 18 else 2 ** (n - 1))
        return sum(tried)

    assert [found(share) for share in (0.029, 0.031, 0.05, 0.069, 0.071)] == [1001, 10_001, 10_001, 10_001, 1001]
    assert [found(share, alpha=0.1) for share in (0.05, 0.061, 0.139, 0.15)] == [1001, 10_001, 10_001, 1001]
    assert found(0.05, n=10) == 2**9, "all patterns were tried"
    assert found(0.05, n=16) == 2**15
    monkeypatch.setattr(all_pairs, "MOST", 9003)
    assert found(0.05, pairs=3) == 3001, "9003 statistics of three pairs"
    monkeypatch.setattr(all_pairs, "MOST", 3003)
    assert found(0.05, pairs=3) == 1001


def test_at_most_8192_patterns_tell_the_quantiles(monkeypatch):
    whole, tried = all_pairs.largest_flips, []
    monkeypatch.setattr(all_pairs, "largest_flips", lambda sums, *rest: tried.append(sums) or whole(sums, *rest))
    scaled = rng(2).normal(size=(2, 15))
    for n in (6, 14, 15):
        compare_pairs(scaled[:, :n], np.array([0]), np.array([1]), rng())
    assert [len(sums) for sums in tried] == [2**5, 8192, 8192]
    assert len(np.unique(tried[2][:, 0])) == 8192, "each at most once"


def test_replicates_of_equal_values_do_not_count_whatever_rounding_leaves():
    values = rng(2).random((40, 7))
    values[:, 1:3] = values[:, :1]
    weights = dataset_weights(7, 80, rng(3))
    equal = np.array([[3.0, 2, 2, 0, 0, 0, 0], [2.0, 2, 3, 0, 0, 0, 0], [7.0, 0, 0, 0, 0, 0, 0]])
    weights = weights[(weights[:, 3:] > 0).sum(axis=1) > 1]
    assert studentised(values, np.vstack([weights, equal]), 0.9) == pytest.approx(studentised(values, weights, 0.9))


def test_pairs_without_a_ratio_on_either_side_are_not_equivalent():
    values = np.vstack([np.linspace(0.2, 0.4, 12)] * 3) * np.exp(0.001 * rng(1).standard_normal((3, 12)))
    values[2, 0] = 0.0
    alone, together = equivalence_p(values, np.array([0, 0, 2]), np.array([1, 2, 1]), within=0.02)
    assert (alone[0] == together[0], alone[0] < 0.01) == (True, True)
    assert alone[1:].tolist() == together[1:].tolist() == [1.0, 1.0]
    units = [rounding_unit(values.round(digits)) for digits in (4, 5, 6, 7)]
    assert units == pytest.approx([1e-4, 1e-5, 1e-6, 0.0], rel=1e-9, abs=0), "five digits after the 4 of 0.4"
    percent = [rounding_unit((100 * values).round(digits)) for digits in (2, 3, 4, 5)]
    assert percent == pytest.approx([1e-2, 1e-3, 1e-4, 0.0], rel=1e-9, abs=0), "percentages have the same digits"


def test_what_rounding_hides_is_that_of_the_smaller_value_and_many_algorithms_have_fewer_exact_ties(monkeypatch):
    """1.0 may be 0.6 rounded up by 0.1: log(1.9) less 0.1 / 0.6 does not hold the ratio, less 0.1 / 1.0 it would."""
    values = np.repeat([[1.0], [0.6]], 6, axis=1)
    assert equivalence_p(values, np.array([0, 1]), np.array([1, 0]), within=0.9)[0].tolist() == [1.0, 1.0]
    asked = []

    def tested(rows, **options):
        asked.append(options["most_tied"])
        return wilcoxon_rows(rows, **options)

    monkeypatch.setattr(effects, "wilcoxon_rows", tested)
    for count in (400, 401):
        equivalence_p(np.ones((count, 3)), np.array([0]), np.array([1]), within=0.02)
    assert asked == [200, 200, 50, 50]


def test_a_guess_leaves_restless_coordinates_and_steps_without_a_difference_alone():
    guess = Extrapolation(depth=2)
    for step in range(6):
        x = np.array([0.5**step, 3.0 + step])
        after = np.array([0.5 ** (step + 1), 4.0 + step])
        ahead = guess.ahead(x, after, np.array([True, False]))
    assert guess.steps == 3
    assert ahead == pytest.approx([0.0, 9.0], abs=1e-6)
    steady = Extrapolation()
    for start in (0.0, 1.0):
        moved = steady.ahead(np.full(2, start), np.full(2, start + 1))
    assert moved.tolist() == [2.0, 2.0]


def test_failures_where_all_datasets_have_one_size():
    run, failed = np.array([[True, True, False]] * 2), np.array([[True, True, False], [False, False, False]])
    chance = draw_failures(failed, run, np.full(3, 9.0), 400, rng()).mean(axis=0)
    assert chance[:, :2].tolist() == failed[:, :2].tolist()
    assert chance[0, 2] > 0.4 > 0.2 > chance[1, 2]
    size, other, ran = np.array([1.0, 2.0, 4.0]), np.array([3.0, 5.0]), np.ones((2, 2))
    one, same = (
        draw_failures(failed, run, unit * size + 7 * (unit - 1), 200, rng(2),
                      elsewhere=(ran, unit * other + 7 * (unit - 1)))
        for unit in (1.0, 10.0)
    )  # fmt: skip
    assert (one == same).all(), "the unit of the sizes does not matter"


def test_families_need_five_and_names_may_begin_with_a_digit():
    assert family_numbers(("10a", "20a", "30a", "40a", "50a"), "auto").tolist() == [0, 1, 2, 3, 4]
    names = ("a.x", "a.y", "b x", "c_1", "d-1", "e7")
    assert family_numbers(names, "auto").tolist() == [0, 0, 1, 2, 3, 4]
    for count in (1, 4):
        mapping = {f"d{i}": f"f{i % count}" for i in range(8)}
        with pytest.raises(UsageError, match=f"the datasets form {count} famil{'y' if count == 1 else 'ies'}"):
            family_numbers(list(mapping), mapping)
    with pytest.raises(UsageError, match="no family is given for 'y'"):
        family_numbers(("x", "y"), {"x": "one"})
    shops = ("Tmall", "taobao-2", "Yelp", "ml-1m", "letter")
    assert obvious_families(shops) == {"taobao": ("Tmall", "taobao-2")}
    numbers = related(shops).tolist()
    assert numbers[0] == numbers[1]
    assert len(set(numbers)) == 4


def agreeing(k, n):
    return np.tile(np.arange(1.0, k + 1)[:, None], (1, n))


def test_how_friedmans_p_is_found_depends_on_the_size_of_the_table(monkeypatch):
    assert friedman.friedman(agreeing(3, 12)).least_p is None, "an exact p has no least value"
    two = friedman.permutation_p(agreeing(7, 2))
    assert two == (pytest.approx(1 / 5040), "exact"), "of two datasets one can stand as it is"
    tied = np.array([1.0, *[4.5] * 6])
    one_long = friedman.permutation_p(np.column_stack([tied, np.arange(1.0, 8.0), tied]))
    assert one_long == (pytest.approx(1 / 49), "exact"), "the dataset of 5040 arrangements stands as it is"
    one_best = np.repeat(np.array([1.0, *[11.0] * 19])[:, None], 3, axis=1)
    assert friedman.permutation_p(one_best)[1] == "permutations", "the rank sums of 20 do not fit one whole number"
    monkeypatch.setattr(friedman, "DRAWN", 40)
    monkeypatch.setattr(friedman, "DRAWS", 50)
    assert [friedman.permutation_p(agreeing(8, n))[1] for n in (5, 6)] == ["permutations", "moments"]


def test_many_algorithms_have_few_factors_unless_their_datasets_have_families(monkeypatch):
    for name, value in (("ERROR", 1.0), ("MOST_TOGETHER", 3), ("FEWER_DRAWS", 64), ("CHAINS", 4)):
        monkeypatch.setattr(hierarchical, name, value)
    scores = rng(1).standard_normal((6, 4))
    apart, together = np.arange(6), np.array([0, 0, 1, 2, 3, 4])
    assert fit_hierarchical(scores, draws=96, families=apart, rng=rng(1)).level.shape == (64, 4)
    with pytest.raises(UsageError, match="4 algorithms in families of datasets; families need at most 3 algorithms"):
        fit_hierarchical(scores, families=together, rng=rng(1))
    for twin in (scores[:, :3], scores[:, [0, 1, 2, 2]]):  # identical columns are one algorithm
        assert len(fit_hierarchical(twin, draws=96, families=together, rng=rng(1)).level) == 96


def test_what_draws_are_worth_is_that_of_the_worst_question():
    """Two algorithms that are the same but for a step of 0.1, whose sign differs between the chains."""
    shared = rng(3).standard_normal((4, 60, 1))
    level = np.concatenate([shared, shared + 0.1 * np.array([1, 1, -1, -1])[:, None, None]], axis=2)
    worth, error = hierarchical._trust(level, 0.2)
    assert (error, worth.min() > 100) == (0.0, True), "within 0.2 both are best"
    worth, error = hierarchical._trust(level, 0.01)
    assert worth.min() < 10
    assert error == pytest.approx(np.sqrt(0.25 / worth.min()))


class Counting(Chains):
    """Chains whose levels count the steps; in every second one the cells of the second dataset are outliers."""

    burn_in = 3
    steps = 0

    def step(self):
        self.steps += 1
        outlier = np.zeros(self.table.shape, dtype=bool)
        outlier[:, 1] = self.steps % 2 == 0
        k = self.scores.shape[1]
        return np.full((self.chains, k), self.steps), np.zeros((self.chains, k)), np.zeros((self.chains, 2)), outlier


def test_chains_burn_in_once_and_keep_cells_now_and_then(monkeypatch):
    scores = rng(2).normal(size=(6, 2))
    scores[0, 1] = np.nan
    sampler = Counting(scores, np.zeros((6, 2)), 2, rng(2))
    sampler.table = sampler.table - 1.0  # an outlier was measured 1 above what its cell is
    level, new, cells, variances = sampler.run(40)
    assert level[0, :, 0].tolist() == list(range(4, 44))
    assert (new.shape, cells.shape, variances.shape) == ((2, 40, 2), (2, 10, 6, 2), (2, 40, 2))
    table = sampler.table[0]
    for own in range(2):
        lost = scores[1, own] - table[1, own]  # what the failure costs, on one dataset of six
        assert np.unique(new[:, :, own].round(9)).tolist() == pytest.approx(sorted([0.0, lost]))
    assert np.unique(cells[:, :, 0, 1].round(9)).tolist() == pytest.approx(sorted([table[0, 1], table[0, 1] + lost]))
    assert (cells[:, :, 1:] == table[1:]).all(), "measured cells are as they are"
    assert sampler.outlying.tolist() == [[0, 0], [40, 40], [0, 0], [0, 0], [0, 0], [0, 0]]
    monkeypatch.setattr(chains, "MOST_CELLS", 2 * sampler.table.size)
    level, _, cells, _ = sampler.run(40)
    assert level[0, :, 0].tolist() == list(range(44, 84)), "no second burn-in"
    assert cells.shape[1] == 2
    for empty in (np.arange(6)[:, None] == 2, np.arange(2) == 1):
        with pytest.raises(ValueError, match="no score at all"):
            first_guess(np.ones((6, 2)), np.broadcast_to(empty, (6, 2)))


def test_pairs_in_blocks_compare_as_sequences():
    assert [(part.start, part.stop) for part in blocks(3, 5_000_000)] == [(0, 1), (1, 2), (2, 3)]
    assert [part.stop - part.start for part in blocks(5, 1_000_000)] == [4, 1]
    rows = PairRows(lambda *row: row, np.array([0, 0, 1]), np.array([1, 2, 2]),
                    {"p": np.array([0.1, 0.2, 0.3]), "name": lambda places: [f"n{at}" for at in places]})  # fmt: skip
    assert rows == [(0.1, "n0"), (0.2, "n1"), (0.3, "n2")]
    assert rows != 3
    assert (rows[-1], rows[1:], rows.values("name")) == ((0.3, "n2"), list(rows)[1:], ["n0", "n1", "n2"])


def holm_pairs(rows, *, alpha=0.05, zeros="wilcox", names=("a", "b")):
    gaps = np.atleast_2d(np.asarray(rows, dtype=float))
    first, second = np.zeros(len(gaps), dtype=np.int64), np.ones(len(gaps), dtype=np.int64)
    return wilcoxon_holm(names, first, second, lambda part: gaps[part], alpha, zeros)


def test_a_pair_is_significant_below_the_level_and_favours_nobody_where_sums_are_equal():
    wins = np.arange(1.0, 6)  # p = 2 / 2^5
    assert [holm_pairs(wins, alpha=alpha)[0].significant for alpha in (0.0625, 0.0626)] == [False, True]
    assert [holm_pairs(row)[0].favours for row in (wins, -wins, [1.0, -1.0], [0.0, 0.0])] == ["a", "b", None, None]
    gaps = [3.0, -1.0, 2.0, 0.0]
    for zeros, statistic in (("wilcox", 1.0), ("pratt", 2.0), ("zsplit", 2.5)):
        pair = holm_pairs(gaps, zeros=zeros)[0]
        assert pair.rank_biserial == pytest.approx(4 / 6), "the effect does not depend on what is done with zeros"
        assert pair.statistic == statistic == stats.wilcoxon(gaps, zero_method=zeros, method="approx").statistic
    table = matrix(np.array([[0.3, 0.5], [0.1 + 0.2, 0.4]]))
    assert advantages(table, np.array([0]), np.array([1]))[0].tolist() == [0.0, pytest.approx(0.1)]


def plain_normal(gaps):
    ranks = stats.rankdata(np.abs(gaps))
    z = (np.sign(gaps) * ranks).sum() / np.sqrt((ranks**2).sum())
    return z, 2 * stats.norm.sf(abs(z))


def test_where_the_exact_distribution_ends():
    """200 differences, or 50 with ties among more than 400 algorithms."""
    many = rng(5).normal(0.15, 1, 201)
    assert wilcoxon_rows(many[None, :200]).p[0] == pytest.approx(
        stats.wilcoxon(many[:200], method="exact").pvalue, rel=1e-9
    )
    assert wilcoxon_rows(many[None]).p[0] == pytest.approx(plain_normal(many)[1], rel=1e-9)
    z, _ = plain_normal(-many)
    assert wilcoxon_rows(-many[None]).greater[0] == pytest.approx(stats.norm.sf(z))
    assert stats.norm.sf(z) > 0.5
    assert (exact_ties(400), exact_ties(401)) == (200, 50)
    tied = np.sign(many[:51]) * np.ceil(np.abs(many[:51]) * 4)
    names = [str(i) for i in range(401)]
    assert holm_pairs(tied, names=names)[0].p == pytest.approx(plain_normal(tied)[1])
    assert holm_pairs(tied, names=names[1:])[0].p != pytest.approx(plain_normal(tied)[1], rel=1e-6)
    assert holm_pairs(tied[:50], names=names)[0].p == holm_pairs(tied[:50])[0].p
    assert holm_pairs(many[:60], names=names)[0].p == holm_pairs(many[:60])[0].p, "without ties it stays exact"


def test_the_observed_table_counts_among_those_of_skillings_and_mack():
    values = np.arange(4.0)[:, None] + np.zeros(12)
    found = skillings_mack(values, tuple("abcd"), higher_is_better=True, rng=rng())
    assert found.p == pytest.approx(1 / 10_001)
    half = skillings_mack(values[:2, :2], tuple("ab"), higher_is_better=True, rng=rng())
    assert half.p == pytest.approx(0.5, abs=0.03), "tables that reach the statistic exactly count"


def test_whose_missing_cells_could_change_the_leader():
    gone = np.nan
    values = np.array([[3.0, 3, 3, 3, gone, gone], [2.0, 2, 2, 2, 3, 3], [1.0, 1, 1, 1, 2, 2], [0.0, 0, 0, 0, 1, 1]])
    up = skillings_mack(values, tuple("abcd"), higher_is_better=True, rng=rng())
    down = skillings_mack(-values, tuple("abcd"), higher_is_better=False, rng=rng())
    assert up.unseen == down.unseen
    assert up.unseen.leader == "b"
    never = np.vstack([values[1:], np.full(6, gone)])
    assert skillings_mack(never, tuple("bcdz"), higher_is_better=True, rng=rng()).unseen is None, "z was never run"
    tied = np.array([[2.0, 1, 2, 1], [1.0, 2, 1, 2], [gone, gone, 0, 0]])
    assert skillings_mack(tied, tuple("abc"), higher_is_better=True, rng=rng()).unseen is None, "a and b lead together"
    needed = (-0.01, 0.0, 1.0, 1.01)
    assert [UnseenCells("a", 1, 0.5, at, "b").possible for at in needed] == [False, True, True, False]


def test_who_leads_once_the_fewest_datasets_are_removed():
    for seed in range(12):
        ranks = stats.rankdata(rng(seed).random((4, 9)) + np.array([[0.0], [0.05], [0.1], [0.15]]), axis=0)
        challenger, gone = fewest_to_remove(ranks)
        left = np.delete(ranks, gone, axis=1).mean(axis=1)
        assert left[challenger] == left.min() < left[ranks.mean(axis=1).argmin()]


def test_one_that_ties_on_half_of_the_datasets_and_never_wins_is_not_first(monkeypatch):
    values = np.array([[3.0, 3, 3, 1, 1, 1], [3.0, 3, 3, 0, 0, 0], [0.0, 0, 5, 5, 5, 5]])
    found = probability_first(stats.rankdata(-values, axis=0), rng())
    assert found[1] == 0
    values[1, 2] = 2.0  # it ties on two of six
    assert probability_first(stats.rankdata(-values, axis=0), rng())[1] > 0
    ranks = stats.rankdata(rng(4).random((3, 6)), axis=0)
    monkeypatch.setattr(winners, "DRAWS", 64)
    monkeypatch.setattr(winners, "DRAWS_OF_MANY", 7)
    for most, draws in ((3, 64), (2, 7)):
        monkeypatch.setattr(winners, "VERY_MANY", most)
        shares = probability_first(ranks, rng()) * draws
        assert shares == pytest.approx(shares.round())


def test_where_most_pairs_are_equal_the_floor_is_that_of_the_mean_pair():
    """One algorithm is 1, 2 and 3 away from four equal ones: four of ten pairs have squares of 14, the mean is 5.6."""
    scaled = np.vstack([np.zeros((4, 3)), [[1.0, 2.0, 3.0]]])
    first, second = np.triu_indices(5, 1)
    found = compare_pairs(scaled, first, second, rng())
    assert found.sums.tolist() == [0, 0, 0, -6, 0, 0, -6, 0, -6, -6]
    assert found.single[second == 4] == pytest.approx(np.full(4, 1 / 4))
    assert found.adjusted[second < 4].tolist() == [1.0] * 6
    # Two that are apart, in other ways, from six equal ones: 13 of 28 pairs differ.
    scaled = np.vstack([np.zeros((6, 8)), rng(6).normal(0.6, [[1.0], [0.3]], (2, 8))])
    first, second = np.triu_indices(8, 1)
    squares = ((scaled[first] - scaled[second]) ** 2).sum(axis=1)
    assert np.median(squares) == 0
    found = compare_pairs(scaled, first, second, rng())
    single, adjusted = plain_pairs(scaled, first, second, squares.mean())
    assert found.single == pytest.approx(single)
    assert found.adjusted == pytest.approx(adjusted)
    assert plain_pairs(scaled, first, second, 1.0)[1] != pytest.approx(adjusted), "the floor matters"


@pytest.mark.parametrize(("level", "datasets"), [(0.05, 6), (0.0625, 6), (0.063, 5), (0.5, 3), (0.9, 2), (0.01, 8)])
def test_the_fewest_datasets_have_a_p_below_the_level(level, datasets):
    assert fewest_datasets(level) == datasets
    assert smallest_p(datasets) < level


def test_a_single_pair_is_a_sequence_of_one():
    rows = PairRows(lambda *row: row, np.array([0]), np.array([1]), {"p": np.array([0.1])})
    assert (list(rows), len(rows), rows[0]) == ([(0.1,)], 1, (0.1,))


def test_friedmans_p_is_told_as_far_as_it_is_known():
    agreed = friedman.friedman(np.tile([[1.0], [2.0]], (1, 2)))
    assert (agreed.p, agreed.way, agreed.least_p) == (0.5, "exact", None)
    assert iman_davenport(SimpleNamespace(friedman=agreed)) == "undefined (all datasets agree)"
    for p, way, least in ((1e-4, "permutations", 1e-4), (1.1e-4, "permutations", None), (1e-5, "exact", None)):
        assert replace(agreed, p=p, way=way).least_p == least
    assert (
        iman_davenport(SimpleNamespace(friedman=replace(agreed, f=2.34567, f_p_value=0.01234))) == "2.346 (p = 0.012)"
    )


def test_a_level_that_is_attained_exactly_has_an_interval():
    """All five signs are the same with a probability of 1/32 on either side: 93.75 % has an interval, more has none."""
    gaps = np.array([[1.0, 2.0, 4.0, 7.0, 11.0]])
    assert effects.hodges_lehmann(gaps, 0.9375)[0, 1:].tolist() == [1.0, 11.0]
    assert effects.hodges_lehmann(gaps, 0.94)[0, 1:].tolist() == [-np.inf, np.inf]


def test_a_leader_is_overtaken_by_the_second_where_its_unseen_cells_are_bad():
    """A beats both others on two datasets and was not run on the third; B is second with 0.5, 0.5 and 1."""
    values = np.array([[3.0, 3.0, np.nan], [2.0, 2.0, 2.0], [1.0, 1.0, 1.0]])
    found = skillings_mack(values, "ABC", higher_is_better=True, rng=rng()).unseen
    assert found == UnseenCells("A", 1, 1.0, pytest.approx(0.0), "B")


def test_pairs_that_are_tested_in_blocks_have_the_same_numbers(monkeypatch):
    """Four algorithms on nine datasets: six pairs, four at a time."""
    table = matrix(rng(2).uniform(0.3, 0.4, (4, 9)) + np.array([[0.3], [0.05], [0.0], [0.0]]))
    first, second = np.triu_indices(4, 1)

    def numbers():
        made = decide(table, control=None, within=0.15, alpha=0.1, seed=0)
        gaps = advantages(table, first, second)
        rows = wilcoxon_holm(table.algorithms, first, second, gaps.__getitem__, 0.05, "wilcox")
        return made.codes.tolist(), made.p.tolist(), [part.tolist() for part in made.equal], list(rows)

    whole = numbers()
    assert len(set(whole[0])) > 1
    monkeypatch.setattr(pair_rows, "BLOCK", 4 * 9)
    assert numbers() == whole


def test_algorithms_that_never_met_add_no_degree_of_freedom():
    """a beats b on two datasets, c beats d on two others: 2 + 2 with one degree each."""
    gone = np.nan
    values = np.array([[2.0, 2, gone, gone], [1.0, 1, gone, gone], [gone, gone, 2, 2], [gone, gone, 1, 1]])
    found = skillings_mack(values, tuple("abcd"), higher_is_better=True, rng=rng())
    assert (found.statistic, found.degrees) == (pytest.approx(4.0), 2)
    assert found.p_chi_square == pytest.approx(stats.chi2.sf(4, 2))
    assert found.p == pytest.approx(1 / 4, abs=0.03), "of the 16 tables four are as far apart"


def test_no_p_is_below_that_of_a_single_table(monkeypatch):
    """Twelve datasets agree on the order of three: six of the 6^12 tables do."""
    monkeypatch.setattr(friedman, "ENUMERATED", 5)
    monkeypatch.setattr(friedman, "DRAWN", 35)
    agreed = np.tile([[1.0], [2.0], [3.0]], (1, 12))
    assert friedman.permutation_p(agreed) == (pytest.approx(6.0**-11), "moments")


@pytest.mark.parametrize("n", [201, 202, 210, 212])
def test_the_interval_of_many_differences_ends_where_the_exact_one_does(n):
    below = np.cumsum(sum_distribution(np.arange(1, n + 1)))
    assert effects._lower_end(n, 0.05) == np.flatnonzero(below <= 0.05)[-1]


def test_uncertain_sizes_count_by_their_mean():
    """It ran on the small ones and failed on the large ones; one of the draws has the sizes the other way round."""
    size = np.array([1.0, 2.0, 3.0, 8.0, 9.0, 10.0, 11.0])
    failed, run = (size > 5)[None] & (size < 11), (size < 11)[None]
    sizes = np.tile(size, (300, 1))
    sizes[0] = size[::-1]
    sure, unsure = (draw_failures(failed, run, given, 300, rng(2))[1:, 0, 6].mean() for given in (size, sizes))
    assert sure > 0.9
    assert unsure == pytest.approx(sure, abs=0.03)


def test_every_walk_along_the_pair_means_ends(monkeypatch):
    """A place that there is not, and values that are not numbers, give NaN; the walk ran on."""
    rows = np.array([[3.0, 1.0, 2.0], [1.0, np.nan, 2.0], [np.inf, -np.inf, 1.0]])
    for few in (0, pair_kernels.FEW_MEANS):
        monkeypatch.setattr(pair_kernels, "FEW_MEANS", few)
        chosen = walsh_places(rows, np.array([0, 5, 6, -1]))
        assert chosen[0, :2].tolist() == [1.0, 3.0]
        assert np.isnan(chosen[0, 2:]).all()
        assert np.isnan(chosen[1]).all()
    assert np.isnan(effects.hodges_lehmann(np.full((1, 4), np.nan))[0, 0])
    assert effects.hodges_lehmann(np.array([[1.0, 2.0, 3.0, 4.0, 5.0]]), confidence=-4.0).shape == (1, 3)


@pytest.mark.slow
def test_numpy_and_machine_code_agree_on_pairs(monkeypatch):
    rows = rng(5).normal(0.1, 1, (30, 11)).round(1)
    places = np.arange(11 * 12 // 2)
    few, tied = walsh_places(rows, places), wilcoxon_rows(rows)
    monkeypatch.setattr(pair_kernels, "FEW_MEANS", 0)
    monkeypatch.setattr(pair_kernels, "FEW_STEPS", 0)
    np.testing.assert_array_equal(walsh_places(rows, places), few)
    np.testing.assert_allclose(wilcoxon_rows(rows).p, tied.p, rtol=1e-13)
