"""A control against every other, practical equality, and the test that takes missing cells."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

from recassay.analysis.compare.control import against_control, dunn_cd
from recassay.analysis.compare.fit import compare_algorithms
from recassay.analysis.inference.effects import equivalence_p, hodges_lehmann
from recassay.analysis.inference.skillings_mack import skillings_mack
from recassay.analysis.inference.wilcoxon import wilcoxon_rows
from recassay.analysis.verdict.fit import judge
from recassay.core.errors import UsageError
from recassay.core.tables.matrix import Matrix
from recassay.reporting.sections.compare import sentences
from recassay.testing.results import synthetic_results

C45 = np.random.default_rng(5).random((4, 14)) * 0.2 + 0.7
NAMES = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")


def matrix(values, names=None, *, up=True):
    names = names or tuple(f"a{i:02d}" for i in range(len(values)))
    return Matrix(
        np.asarray(values, dtype=float), names, tuple(f"d{j:02d}" for j in range(np.shape(values)[1])), "auc", up
    )


def test_the_published_example_of_a_control():
    """Demšar 2006, section 3.2.3: the mean ranks of C4.5 and three tuned ones on 14 datasets, z of each against it."""
    ranks = {"C4.5+m+cf": 1.964, "C4.5+m": 2.000, "C4.5+cf": 2.893, "C4.5": 3.143}
    result = compare_algorithms(matrix(C45, NAMES), draws=500)
    found = against_control("C4.5", result.pairs, ranks, len(result.judgement.datasets), result.judgement)
    z = {pair.other: -pair.z for pair in found.pairs}
    assert z == pytest.approx({"C4.5+m+cf": 2.416, "C4.5+m": 2.342, "C4.5+cf": 0.512}, abs=2e-3)
    alone = {pair.other: pair.p_dunn / 3 for pair in found.pairs if pair.p_dunn < 1}
    assert alone == pytest.approx({"C4.5+m+cf": 0.016, "C4.5+m": 0.019}, abs=5e-4)
    assert dunn_cd(4, 14, 0.10) == pytest.approx(1.04, abs=5e-3)


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.241), (4, 2.394), (5, 2.498), (7, 2.638), (10, 2.773)])
def test_the_published_points_of_bonferroni_and_dunn(k, q):
    assert dunn_cd(k, 1, 0.05) / np.sqrt(k * (k + 1) / 6) == pytest.approx(q, abs=1.1e-3)


@pytest.mark.slow
def test_a_control_is_corrected_over_fewer_comparisons(kdd24):
    import recassay

    whole = recassay.compare(kdd24, "ndcg@10")
    found = recassay.compare(kdd24, "ndcg@10", control="ease").control
    second = next(pair for pair in found.pairs if pair.other == "MultiVAE")
    assert second.p == pytest.approx(0.00538, abs=5e-5)
    assert second.p_holm == pytest.approx(0.0161, abs=5e-4)
    assert next(p for p in whole.pairs if p.right == "MultiVAE").p_holm == pytest.approx(0.151, abs=5e-3)
    assert len(found.pairs) == 10
    assert all(pair.favours == "EASE" for pair in found.pairs)


def test_wins_and_losses_are_the_controls():
    values = np.stack([np.arange(8.0), np.arange(8.0) + 1, np.arange(8.0) - np.r_[np.ones(6), -np.ones(2)]])
    found = compare_algorithms(matrix(values), control="a00", draws=500).control
    told = {pair.other: (pair.wins, pair.losses, pair.favours, np.sign(pair.median_difference)) for pair in found.pairs}
    assert told == {"a01": (0, 8, "a01", -1), "a02": (6, 2, "a00", 1)}
    values[2, :3] = values[0, :3]
    values[1, 3:5] = values[0, 3:5]
    tied = compare_algorithms(matrix(values), control="a00", draws=100).control.pairs
    assert {pair.other: (pair.wins, pair.ties, pair.losses) for pair in tied} == {"a01": (0, 2, 6), "a02": (3, 3, 2)}


def test_a_control_that_is_level_with_another_differs_by_0_and_not_by_minus_0():
    level = np.tile(np.linspace(0.1, 0.8, 8), (3, 1))
    for name in ("a00", "a01", "a02"):
        pairs = compare_algorithms(matrix(level), control=name, draws=100).control.pairs
        assert [str(pair.median_difference) for pair in pairs] == ["0.0", "0.0"]


def test_a_control_differs_where_the_corrected_p_value_is_below_the_level():
    """Six wins of six: Wilcoxon's p is 2 / 2^6, and there is one comparison."""
    values = np.array([[0.7, 0.8, 0.9, 0.6, 0.75, 0.85], [0.1, 0.3, 0.2, 0.15, 0.4, 0.25]])
    for alpha, different in ((2 / 64, False), (0.032, True)):
        (pair,) = compare_algorithms(matrix(values), control="a00", alpha=alpha, draws=100).control.pairs
        assert (pair.p_holm, pair.significant) == (2 / 64, different)


@pytest.mark.slow
def test_the_whole_family_errs_at_most_as_often_as_said():
    rng = np.random.default_rng(0)
    wrong = {"verdict": [], "Wilcoxon-Holm": []}
    for _ in range(120):
        found = compare_algorithms(matrix(rng.random((5, 12))), control="a00", draws=100).control
        wrong["verdict"].append(any(pair.status in ("better", "worse") for pair in found.pairs))
        wrong["Wilcoxon-Holm"].append(any(pair.significant for pair in found.pairs))
    assert all(np.mean(errors) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 120) for errors in wrong.values())


def test_an_unknown_control_is_refused():
    with pytest.raises(UsageError, match="the control 'b' is not one of the algorithms"):
        compare_algorithms(matrix(C45, NAMES), control="b", draws=500)


def test_the_verdict_speaks_of_the_control_alone():
    said = sentences(compare_algorithms(matrix(C45, NAMES), control="C4.5", draws=500))
    assert said[:2] == [
        "C4.5, the control, is undecided against all 3 others.",
        "It is undecided against C4.5+m, C4.5+m+cf, C4.5+cf. Adjusted for its 3 comparisons; valid if C4.5 was named "
        "before the results were seen.",
    ]
    assert not any("lead of" in sentence for sentence in said)
    assert not any("control" in sentence for sentence in sentences(compare_algorithms(matrix(C45, NAMES), draws=500)))


@pytest.mark.slow
def test_the_command(cli, tmp_path):
    table = tmp_path / "table.csv"
    synthetic_results(8, seed=1).filter(pl.col("metric") == "ndcg@10").write_csv(table)
    ran = cli("compare", table, "--control", "oracle", "--within", "5%", "--json")
    found = ran.json()
    assert found["control"]["name"] == "Oracle"
    assert len(found["control"]["pairs"]) == 7
    assert found["equivalence"]["within"] == 0.05
    assert "against every other" in cli("compare", table, "--control", "Oracle", "--all").out
    assert "--within" in cli("compare", table, "--within", "lots").err
    whole = cli("analyze", table, "--control", "Oracle", "--json").json()
    assert whole["analyses"]["compare"]["control"]["name"] == found["control"]["name"]
    assert "the control" in json.dumps(whole["sentences"])


def test_one_sided_wilcoxon_is_scipys():
    rng = np.random.default_rng(1)
    for n in (4, 9, 25):
        d = rng.normal(0.4, 1.0, n)
        assert wilcoxon_rows(d[None]).greater[0] == pytest.approx(
            stats.wilcoxon(d, alternative="greater", method="exact").pvalue
        )
    assert wilcoxon_rows(np.zeros((1, 5))).greater[0] == 1.0


def status(ratios, within=0.02):
    """The status of a pair whose log ratios are these."""
    level = np.linspace(0.2, 0.4, len(ratios))
    return judge(matrix(np.array([level * np.exp(ratios), level])), within=within).pairs[0]


def test_equal_different_and_neither():
    small = np.linspace(-0.004, 0.004, 12)
    assert status(small).status == "equivalent"
    assert status(small + 0.0005).status == "equivalent"  # a difference that is not shown, but shown to be small
    assert status(small + 0.01).status == "better"  # a difference that is shown, and shown to be small
    assert status(small + 0.3).status == "better"
    assert status(small * 100).status == "undecided"
    assert status(small + 0.3).effect.estimate == pytest.approx(np.exp(0.3))
    assert hodges_lehmann(np.array([0.0, 1.0, 5.0]))[0] == 1.75  # of the means 0, .5, 2.5, 1, 3, 5


def test_equality_is_claimed_at_the_edge_as_often_as_said():
    rng = np.random.default_rng(2)
    first, second = np.array([0]), np.array([1])
    edge = np.log1p(0.02) + 0.01 * rng.standard_normal((1000, 15))
    claims = [equivalence_p(np.exp(np.stack([d, 0 * d])), first, second, within=0.02)[1][0] < 0.05 for d in edge]
    assert 0.03 <= np.mean(claims) <= 0.07


def test_rows_are_those_of_all_signs():
    rng = np.random.default_rng(3)
    rows = np.vstack([rng.normal(0.3, 1.0, (20, 9)), rng.integers(-2, 3, (20, 9)), np.zeros((1, 9))])
    signs = 1 - 2 * ((np.arange(2**9)[:, None] >> np.arange(9)) & 1)
    found = wilcoxon_rows(rows)
    for at, row in enumerate(rows):
        ranks = np.where(row == 0, 0.0, stats.rankdata(np.where(row == 0, -1.0, np.abs(row))) - (row == 0).sum())
        sums = (signs * ranks).sum(axis=1)
        observed = (np.sign(row) * ranks).sum()
        assert found.greater[at] == pytest.approx((sums >= observed - 1e-9).mean())
        assert found.p[at] == pytest.approx((np.abs(sums) >= abs(observed) - 1e-9).mean())
        assert found.biserial[at] == pytest.approx(observed / max(ranks.sum(), 1))


def test_values_that_are_not_above_zero_have_no_ratio():
    result = compare_algorithms(matrix(np.vstack([C45, np.zeros(14)])), draws=500)
    assert {e.right for e in result.equivalence} == {"a00", "a01", "a02", "a03"} - {result.equivalence[0].left}
    kinds = {frozenset((pair.a, pair.b)): pair.effect.kind for pair in result.judgement.pairs}
    assert all(kind == ("difference" if "a04" in pair else "ratio") for pair, kind in kinds.items())
    assert len(result.judgement.pairs) == len(result.pairs) == 10


# Hollander and Wolfe's example with four missing cells: R's Skillings.Mack gives 15.493 with 3 degrees, p 0.00144.
N = np.nan
ASSEMBLY = np.array([
    3.2, 4.1, 3.8, 4.2, 3.1, 3.9, 3.4, 4.0, 4.3, 3.5, 4.6, 4.8, 3.5, 3.6, 3.9, 4.0, 3.6, 4.2, 3.7, 3.9,
    4.5, 4.7, 3.7, N, N, 4.2, 3.4, N, 4.3, 4.6, 4.4, 4.9, 3.5, N, 3.7, 3.9,
]).reshape(9, 4).T  # fmt: skip


def test_skillings_and_mack_published():
    found = skillings_mack(ASSEMBLY, tuple("abcd"), higher_is_better=True, rng=np.random.default_rng(0))
    assert (found.statistic, found.p_chi_square) == pytest.approx((15.493, 0.00144), abs=5e-4)
    assert (found.degrees, found.datasets, found.missing) == (3, 9, 4)


def test_skillings_and_mack_is_friedmans_without_holes():
    values = np.random.default_rng(3).random((4, 7))
    found = skillings_mack(
        values, [str(i) for i in range(len(values))], higher_is_better=False, rng=np.random.default_rng(0)
    )
    assert found.statistic == pytest.approx(stats.friedmanchisquare(*values).statistic)


@pytest.mark.slow
def test_skillings_and_mack_keeps_its_size():
    rng = np.random.default_rng(4)
    found = []
    for _ in range(200):
        values = rng.random((4, 5))
        values[rng.random(values.shape) < 0.2] = np.nan
        answer = skillings_mack(values, tuple("abcdefgh"), higher_is_better=True, rng=rng)
        found.append(answer is not None and answer.p < 0.05)
    assert 0.015 <= np.mean(found) <= 0.085
    assert skillings_mack(np.full((3, 4), np.nan), tuple("abc"), higher_is_better=True, rng=rng) is None


def test_a_table_with_holes_is_tested_whole(tmp_path):
    import recassay

    table = synthetic_results(9, seeds=1, seed=2).filter(pl.col("metric") == "ndcg@10")
    frame = table[1:]
    result = recassay.compare(frame, missing="drop-datasets")
    assert (len(result.datasets), result.skillings_mack.missing) == (8, 1)
    assert any("missing cell kept" in sentence for sentence in sentences(result))
    assert recassay.compare(table).skillings_mack is None


def test_how_bad_the_unseen_cells_would_have_to_be():
    """a was not run on the two datasets on which it is weak: it leads, unless it beats few others there."""
    values = np.array(
        [[3.0, 3, 3, 3, np.nan, np.nan], [2.0, 2, 2, 2, 3, 3], [1.0, 1, 1, 1, 2, 2], [0.0, 0, 0, 0, 1, 1]]
    )
    values = np.hstack([values, values])
    found = skillings_mack(values, tuple("abcd"), higher_is_better=True, rng=np.random.default_rng(0))
    assert found.unseen is not None
    # b beats 2 of 3 on four datasets and 2 of 2 on two: 4.667 / 6; a needs that mean with 1 on four datasets
    assert found.unseen.algorithm == "a"
    assert (found.unseen.cells, found.unseen.leader, found.unseen.beaten) == (4, "b", 1.0)
    assert found.unseen.needed == pytest.approx((4 * 2 / 3 + 2 - 4) / 2)
    assert found.unseen.possible
    result = compare_algorithms(matrix(values[:, ~np.isnan(values[0])], tuple("abcd")), gaps_kept=values, draws=200)
    rest = values[1:]
    without = compare_algorithms(
        matrix(-rest, tuple("bcd"), up=False), gaps_kept=-values, names_kept=tuple("abcd"), draws=200
    ).skillings_mack
    assert without.unseen == found.unseen, "a was dropped from the other tests; lower is better"
    said = " ".join(sentences(result))
    assert "nothing to do with the scores" in said
    assert (
        "By Skillings and Mack's scores, b would be first if a had better values than at most 33 % of the others on "
        "its 4 missing cells (where it was run: 100 %)."
    ) in said


def test_unseen_cells_that_could_not_change_the_leader():
    values = np.array([[3.0] * 7 + [np.nan], [2.0] * 8, [1.0] * 8])
    found = skillings_mack(values, tuple("abc"), higher_is_better=True, rng=np.random.default_rng(0))
    assert found.unseen is not None
    assert not found.unseen.possible


def test_unseen_cells_that_could_change_the_leader_are_told_before_those_that_could_not():
    """b comes nearer to a than a falls to b, but b would have to beat more than all others on its missing cells."""
    gone = np.nan
    values = np.array([[4.0, 4, 4, 4, gone, gone], [3.0, gone, gone, gone, 3, 3], [2.0] * 6, [1.0] * 6])
    found = skillings_mack(values, tuple("abcd"), higher_is_better=True, rng=np.random.default_rng(0))
    assert found.unseen is not None
    assert (found.unseen.algorithm, found.unseen.leader, found.unseen.possible) == ("a", "b", True)
    assert found.unseen.needed == pytest.approx((6 * (2 / 3 + 2) / 3 - 4) / 2)


def test_a_value_on_a_dataset_that_nobody_else_has_is_not_a_missing_cell():
    values = np.array([[3.0] * 8, [2.0] * 7 + [np.nan], [1.0] * 7 + [np.nan]])
    found = skillings_mack(values, tuple("abc"), higher_is_better=True, rng=np.random.default_rng(0))
    assert (found.datasets, found.missing, found.unseen) == (7, 2, None)


def test_equivalence_speaks_of_the_typical_ratio_not_of_the_mean():
    """Lognormal log ratios at the margin: the typical one is kept at the level, the mean one is not."""
    rng = np.random.default_rng(9)
    gaps = (np.exp(rng.standard_normal((300, 15))) - np.exp(0.5)) / 2.16
    pairs = (np.exp(rng.standard_normal((2, 100_000))) - np.exp(0.5)) / 2.16
    typical = np.median(pairs.mean(axis=0))
    false = [(wilcoxon_rows(-(gaps - at)).greater < 0.05).mean() for at in (typical, 0.0)]
    assert false[0] < 0.12
    assert false[1] > 0.2
