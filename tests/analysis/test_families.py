"""Datasets that belong together: families by name, and the caution they deserve."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from recassay.analysis.compare.fit import compare_algorithms
from recassay.analysis.inference.bootstrap import dataset_weights, intervals
from recassay.analysis.inference.families import family_means, family_numbers, obvious_families
from recassay.analysis.inference.significance import nemenyi_cd
from recassay.analysis.rank.fit import rank_algorithms
from recassay.analysis.verdict.decision import decide
from recassay.analysis.verdict.fit import judge
from recassay.core.errors import UsageError
from recassay.core.tables.matrix import Matrix
from recassay.reporting.sections.compare import sentences
from support.tables import matrix

NAMES = ("Amazon-Books", "amazon_beauty", "ML-1M", "ml-100k", "yelp", "d01", "d02", "letter")


def test_families_by_name_by_mapping_and_those_that_are_obvious():
    assert obvious_families(NAMES) == {"amazon": ("Amazon-Books", "amazon_beauty"), "movielens": ("ML-1M", "ml-100k")}
    assert len(np.unique(family_numbers(NAMES, "auto"))) == 5  # amazon, ml, yelp, d, letter
    assert family_numbers(NAMES, None).tolist() == list(range(8))
    by_letter = {name: name[0] for name in NAMES}
    assert family_numbers(NAMES, by_letter).tolist() == [0, 2, 1, 5, 6, 3, 3, 4]
    with pytest.raises(UsageError, match="families is 'some'"):
        family_numbers(NAMES, "some")
    with pytest.raises(UsageError, match="form 2 families"):
        family_numbers(("x", "y", "z"), {"x": "one", "y": "one", "z": "other"})


def test_a_verdict_from_related_datasets_says_so():
    values = np.random.default_rng(1).uniform(0.1, 0.5, (2, 8))
    values[0] += 0.5
    found = judge(Matrix(values, ("a", "b"), NAMES, "ndcg@10", True))
    assert found.caution == (
        "4 of the 8 datasets come from amazon and movielens: they are related. Counted as families, they support the "
        "same verdict."
    )
    assert found.families is None


def related_table(better, rng):
    """Eight families of three datasets that share 80 % of what is theirs; the first of five algorithms is better."""
    shared, own = rng.standard_normal((5, 8))[:, np.repeat(np.arange(8), 3)], rng.standard_normal((5, 24))
    values = np.r_[better, np.zeros(4)][:, None] + np.sqrt(0.8) * shared + np.sqrt(0.2) * own
    return Matrix(values, tuple("abcde"), tuple(f"{family}-{i}" for family in "hijklmno" for i in range(3)), "x", True)


def test_families_keep_the_level_that_independent_datasets_do_not():
    """Equal algorithms on related datasets: any pair called better in 47 % of tables, and in 3 % by families."""
    rng, found = np.random.default_rng(5), {None: 0, "auto": 0}
    for _ in range(40):
        matrix = related_table(0.0, rng)
        numbers = family_numbers(matrix.datasets, "auto")
        for families in found:
            known = None if families is None else numbers
            decision = decide(matrix, control=None, within=0.02, alpha=0.05, seed=1, flips=500, families=known)
            found[families] += bool((decision.codes == "better").any())
    assert found["auto"] <= 5
    assert found[None] >= 10


def test_rank_compare_and_plan_take_families():
    matrix = related_table(1.0, np.random.default_rng(2))
    alone, together = rank_algorithms(matrix, replicates=500), rank_algorithms(matrix, replicates=500, families="auto")
    assert together.judgement.families == 8
    widths = [np.ptp(one.rankings["mean"].score_interval, axis=1).mean() for one in (alone, together)]
    assert widths[1] > 1.3 * widths[0]
    assert (together.judgement.leads_again[0] < alone.judgement.leads_again[0]) or alone.judgement.leads_again[0] > 0.99
    assert "8 families" in " ".join(together.judgement.how_sure)
    compared = compare_algorithms(matrix, families="auto", draws=200)
    assert compared.judgement.pairs[0].p == together.judgement.pairs[0].p > alone.judgement.pairs[0].p
    assert compared.pairs[0].p > compare_algorithms(matrix, draws=200).pairs[0].p
    assert [(p.wins, p.losses) for p in compared.pairs] == [(p.wins, p.losses) for p in compared.judgement.pairs]
    assert compared.power.datasets == 8
    assert "over 8 families of datasets" in " ".join(sentences(compared))
    assert compared.to_dict()["verdict"]["families"] == 8
    with pytest.raises(UsageError, match="form 1 family"):
        compare_algorithms(matrix, families=dict.fromkeys(matrix.datasets, "one"))


def test_every_test_beside_the_verdict_counts_families():
    """Equal algorithms on related datasets: Friedman, Wilcoxon-Holm, Nemenyi and Bayes err as often as they say."""
    rng, runs = np.random.default_rng(6), 25
    found = {None: np.zeros(4), "auto": np.zeros(4)}
    for _ in range(runs):
        matrix = related_table(0.0, rng)
        for families, count in found.items():
            one = compare_algorithms(matrix, families=families, draws=400)
            sure = sum(max(pair.p_left, pair.p_right) > 0.975 for pair in one.bayesian)
            parted = one.groups["nemenyi"] != (one.algorithms,)
            count += [one.friedman.p < 0.05, any(p.significant for p in one.pairs), parted, sure]
    assert (found["auto"][:3] <= 4).all()
    assert (found[None][:3] >= 5).all()
    assert found["auto"][3] <= 25 < 45 <= found[None][3], "of 250 pairs, uncorrected: 5 % are 12"


def test_a_verdict_that_depends_on_families_says_so():
    names = (*(f"amazon-{i}" for i in range(9)), *(f"d{i:02d}" for i in range(6)))
    values = np.random.default_rng(1).uniform(0.1, 0.2, (2, 15))
    values[0, :9] += 0.3
    found = judge(Matrix(values, ("a", "b"), names, "ndcg@10", True))
    assert found.grade == "clear_winner"
    assert found.caution == (
        "9 of the 15 datasets come from amazon: if each collection counts as one dataset, 2 of 2 algorithms could be "
        "best."
    )


def test_family_means_and_draws_of_whole_families():
    numbers = np.array([0, 0, 1])
    values = np.array([[1.0, 3.0, 5.0]])
    assert family_means(values, numbers).tolist() == [[2.0, 5.0]]
    assert family_means(values, numbers, by_size=True).mean() == pytest.approx(values.mean())
    weights = dataset_weights(3, 200, np.random.default_rng(1), numbers)
    assert (weights[:, 0] == weights[:, 1]).all()
    assert weights.sum(axis=1) == pytest.approx(np.full(200, 3.0))


def test_intervals_of_ranks_are_expanded_for_the_number_of_families(monkeypatch):
    widths = []

    def heard(sampled, units, confidence, **more):
        widths.append(units)
        return intervals(sampled, units, confidence, **more)

    monkeypatch.setattr("recassay.analysis.rank.fit.intervals", heard)
    table = matrix(np.random.default_rng(0).random((3, 12)))
    families = {name: f"family {i // 2}" for i, name in enumerate(table.datasets)}
    rank_algorithms(table, replicates=100, methods=["mean_rank"], families=families)
    assert set(widths) == {6}
    widths.clear()
    rank_algorithms(table, replicates=100, methods=["mean_rank"])
    assert set(widths) == {12}


def test_every_number_beside_the_verdict_is_that_of_the_families():
    """Six families of two datasets: mean differences of each, and the order of the mean ranks within each."""
    values = np.random.default_rng(4).uniform(0.2, 0.6, (3, 12)) + np.array([[0.3], [0.1], [0.0]])
    table = matrix(values)
    found = compare_algorithms(
        table, families={name: f"f{i // 2}" for i, name in enumerate(table.datasets)}, control="a01", draws=200
    )

    def means(of_datasets):
        return of_datasets.reshape(len(of_datasets), 6, 2).mean(axis=2)

    ranks = stats.rankdata(means(stats.rankdata(-values, axis=0)), axis=0)
    by_family = ranks.mean(axis=1)
    assert found.friedman.chi_square_ties == pytest.approx(stats.friedmanchisquare(*ranks).statistic)
    assert found.nemenyi_cd == pytest.approx(nemenyi_cd(3, 6, 0.05))
    assert found.power.datasets == 6
    for pair, equal in zip(found.pairs, found.equivalence, strict=True):
        left, right = int(pair.left[1:]), int(pair.right[1:])
        assert pair.p == pytest.approx(stats.wilcoxon(means(values[[left]] - values[[right]])[0]).pvalue)
        gap = means(np.log(values[[left]] / values[[right]]))[0]
        first, second = np.triu_indices(6)
        assert (equal.left, equal.right) == (pair.left, pair.right)
        assert equal.ratio == pytest.approx(np.exp(np.median((gap[first] + gap[second]) / 2)))
    for pair in found.control.pairs:
        other = int(pair.other[1:])
        assert pair.z == pytest.approx((by_family[other] - by_family[1]) / np.sqrt(3 * 4 / (6 * 6)))
    assert found.control.dunn_cd == pytest.approx(stats.norm.ppf(1 - 0.05 / 4) * np.sqrt(3 * 4 / (6 * 6)))


@pytest.mark.parametrize(
    ("names", "collection"),
    [
        (("Amazon-Books", "amazon_toys"), "amazon"), (("Amazon Books", "AMAZON Toys"), "amazon"),
        (("ml-1m", "MovieLens20M"), "movielens"),
        (("goodreads-comics", "Goodreads_poetry"), "goodreads"), (("lastfm-1k", "LastFM.360k"), "lastfm"),
        (("Yelp2018", "yelp-2020"), "yelp"), (("douban-book", "Douban-movie"), "douban"),
        (("MIND-small", "mind_large"), "mind"), (("Adressa-1w", "adressa-10w"), "adressa"),
        (("KuaiRec-big", "kuairec-small"), "kuairec"), (("jester-1", "Jester2"), "jester"),
        (("HetRec-ml", "hetrec-lastfm"), "hetrec"), (("Steam-200k", "steam_au"), "steam"),
        (("taobao-ad", "Tmall"), "taobao"), (("yoochoose-4", "Yoochoose64"), "yoochoose"),
    ],
)  # fmt: skip
def test_datasets_of_a_well_known_collection_are_obvious_relatives(names, collection):
    assert obvious_families(("letters", *names)) == {collection: names}
