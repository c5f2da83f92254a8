"""Planning: Noether's number against simulated power, the fewest removals by brute force, anytime-valid p-values."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm, wilcoxon

from recassay.analysis.inference import hierarchical
from recassay.analysis.inference.anytime import anytime_p, sign_evidence
from recassay.analysis.inference.removal import fewest_to_remove
from recassay.analysis.plan.fit import look_at, plan_study
from recassay.analysis.plan.power import concordance, datasets_needed, fewest
from recassay.core.errors import UsageError
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results


@pytest.mark.slow
def test_noethers_number_has_the_power_it_says():
    rng = np.random.default_rng(1)
    shift = 0.5
    needed = datasets_needed(norm.cdf(shift * np.sqrt(2)), 0.05, 0.8)
    found = [wilcoxon(shift + rng.standard_normal(needed)).pvalue < 0.05 for _ in range(400)]
    assert 0.74 < np.mean(found) < 0.88


def test_concordance_of_draws():
    draws = np.random.default_rng(2).standard_normal(20_000) + 0.3
    assert concordance(draws) == pytest.approx(norm.cdf(0.3 * np.sqrt(2)), abs=0.01)
    assert concordance(np.zeros(10)) == 0.5
    assert concordance(np.array([1.0, -1.0])) == pytest.approx((1 + 0.5 + 0.5 + 0) / 4)


def test_no_fewer_datasets_than_can_be_significant():
    for level in (0.05, 0.05 / 55):
        n = fewest(level)
        assert 2 / 2**n <= level < 2 / 2 ** (n - 1)
    assert datasets_needed(1.0, 0.05, 0.8) >= fewest(0.05)
    assert datasets_needed(0.5, 0.05, 0.8) is None
    assert datasets_needed(0.501, 0.05, 0.8) is None


def test_the_fewest_removals_by_brute_force():
    rng = np.random.default_rng(3)
    for _ in range(20):
        ranks = np.argsort(np.argsort(rng.random((4, 9)) + np.array([0, 0.1, 0.2, 0.3])[:, None], axis=0), axis=0) + 1.0
        found = fewest_to_remove(ranks)
        leader = int(np.argmin(ranks.mean(axis=1)))

        def changes(gone, ranks=ranks, leader=leader):
            left = np.delete(ranks, list(gone), axis=1).mean(axis=1)
            return left[leader] > left.min() + 1e-12

        smallest = next((m for m in range(1, 9) if any(map(changes, combinations(range(9), m)))), None)
        if found is None:
            assert smallest is None
        else:
            assert len(found[1]) == smallest
            assert changes(found[1])
    assert fewest_to_remove(np.array([[1.0, 1.0], [2.0, 2.0]])) is None


def test_looking_after_every_dataset_does_not_cheat():
    rng = np.random.default_rng(4)
    wins = np.cumsum(rng.random((4000, 200)) < 0.5, axis=1).astype(float)
    losses = np.arange(1, 201) - wins
    assert (anytime_p(wins, losses).min(axis=1) <= 0.05).mean() <= 0.05
    assert sign_evidence(np.array(0.0), np.array(0.0)) == pytest.approx(1.0)
    average = sum(
        float(sign_evidence(np.array(float(w)), np.array(6.0 - w))) * p
        for w, p in zip(range(7), np.array([1, 6, 15, 20, 15, 6, 1]) / 64, strict=True)
    )
    assert average == pytest.approx(1.0)  # a fair game
    assert float(anytime_p(np.array(20.0), np.array(0.0))) < 1e-4


def table(gap, n=14, k=3, seed=5):
    rng = np.random.default_rng(seed)
    scores = 1.2 * rng.standard_normal((n, 1)) + 0.25 * rng.standard_normal((n, k)) - 2
    scores[:, 0] += gap
    rows = [
        {"algorithm": f"a{a}", "dataset": f"d{j:02}", "metric": "ndcg@10", "value": 1 / (1 + np.exp(-scores[j, a]))}
        for j in range(n)
        for a in range(k)
    ]
    return Results.from_frame(pl.DataFrame(rows))


def test_a_larger_difference_needs_fewer_datasets(monkeypatch):
    monkeypatch.setattr(hierarchical, "CHAINS", 8)
    monkeypatch.setattr(hierarchical, "ERROR", 1.0)
    clear, faint = plan_study(table(0.6), "ndcg@10"), plan_study(table(0.15), "ndcg@10")

    def of(plan):
        return next(pair for pair in plan.pairs if {pair.left, pair.right} == {"a0", "a1"})

    assert of(clear).alone < of(clear).among_all
    assert of(faint).alone is None or of(clear).alone < of(faint).alone
    asked = plan_study(table(0.15), "ndcg@10", difference=1.0)
    assert of(asked).alone <= 12  # log 2 beside a deviation of 0.35
    assert clear.to_frame().height == 3
    assert clear.to_dict()["pairs"][0]["left"] == "a0"
    assert clear.shares["datasets"] == pytest.approx(1.0)
    with pytest.raises(UsageError, match="above 0"):
        plan_study(table(0.6), "ndcg@10", difference=0.0)


def grown(rng, k, most, gap=0.0):
    values = rng.standard_normal((k, most))
    values[0] += gap
    return values


@pytest.mark.slow
def test_watching_does_not_cheat():
    """Equal algorithms, looked at after every dataset: somebody is shown to lead in at most 5 % of the studies."""
    rng, wrong = np.random.default_rng(8), []
    for _ in range(150):
        values = grown(rng, 3, 40)
        wrong.append(any(look_at(matrix_of(values[:, :n])).behind for n in range(2, 41)))
    assert np.mean(wrong) <= 0.06


def test_a_better_one_is_found_by_watching():
    look = look_at(matrix_of(grown(np.random.default_rng(9), 3, 40, gap=2.5)))
    assert (look.leader, set(look.behind), look.open) == ("a0", {"a1", "a2"}, ())
    assert "however often it is looked at" in look.sentence()
    early = look_at(matrix_of(grown(np.random.default_rng(9), 3, 3, gap=2.5)))
    assert early.behind == ()
    assert early.sentence().startswith("So far nothing is shown (after 3 datasets")


def matrix_of(values):
    k, n = values.shape
    return Matrix(values, tuple(f"a{i}" for i in range(k)), tuple(f"d{j}" for j in range(n)), "ndcg@10", True)
