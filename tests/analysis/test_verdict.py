"""The verdict: the all-pairs test against brute force and published properties, the grade, and no contradiction."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

import recassay
from recassay.analysis.compare.fit import compare_algorithms
from recassay.analysis.inference.all_pairs import (
    PairTests,
    compare_pairs,
    fewest_datasets,
    scaled_values,
    sign_patterns,
    smallest_p,
)
from recassay.analysis.inference.effects import Effect, hodges_lehmann
from recassay.analysis.inference.significance import holm
from recassay.analysis.inference.winners import fewest_to_remove, probability_first
from recassay.analysis.rank.fit import rank_algorithms
from recassay.analysis.verdict import decision
from recassay.analysis.verdict import fit as verdict_fit
from recassay.analysis.verdict.decision import decide
from recassay.analysis.verdict.fit import group_letters, judge
from recassay.core.errors import UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix, MissingCells
from recassay.reporting.numbers import p_text
from recassay.reporting.words.missing import missing_cells
from recassay.reporting.words.verdict import effect_text, pair_sentence
from recassay.testing.results import synthetic_results
from support.tables import matrix


def ladder(steps, n=12, seed=0):
    """Algorithms at these levels, with noise of deviation 0.02, on datasets whose own levels rise."""
    noise = 0.02 * np.random.default_rng(seed).standard_normal((len(steps), n))
    return matrix(np.linspace(0.3, 0.6, n) + np.array(steps)[:, None] + noise)


CLEAR = ladder([0.3, 0.1, 0.0])


def brute_force(gaps):
    """Single and adjusted p of |sum d| / sqrt(sum d^2), all patterns of signs, every subset of pairs left to test."""
    m, n = gaps.shape
    unit = gaps / np.sqrt((gaps**2).sum(axis=1, keepdims=True))
    flips = np.array(list(itertools.product([1, -1], repeat=n)))
    drawn, seen = np.abs(flips @ unit.T), np.abs(unit.sum(axis=1))
    order = np.argsort(-seen)
    single = (drawn >= seen - 1e-9).mean(axis=0)
    adjusted = np.empty(m)
    so_far = 0.0
    for place, pair in enumerate(order):
        so_far = max(so_far, float((drawn[:, order[place:]].max(axis=1) >= seen[pair] - 1e-9).mean()))
        adjusted[pair] = so_far
    return single, adjusted


def test_two_algorithms_are_tested_by_all_flips():
    rng = np.random.default_rng(1)
    for n in (5, 8, 10):
        scaled = rng.normal(size=(2, n)) + np.array([[0.6], [0.0]])
        tests = compare_pairs(scaled, np.array([0]), np.array([1]), rng)
        single, adjusted = brute_force(scaled[:1] - scaled[1:])
        assert tests.single == pytest.approx(single)
        assert tests.adjusted == pytest.approx(adjusted)


def test_stepping_down_is_brute_force_for_equal_spreads():
    """Where all pairs have the same sum of squares both statistics agree, and so does the plain procedure."""
    rng = np.random.default_rng(2)
    signs = rng.choice([-1.0, 1.0], (3, 9))
    scaled = np.vstack([signs, np.zeros(9)])
    first, second = np.array([0, 1, 2]), np.array([3, 3, 3])
    tests = compare_pairs(scaled, first, second, rng)
    single, adjusted = brute_force(scaled[first] - scaled[second])
    assert tests.single == pytest.approx(single)
    assert tests.adjusted == pytest.approx(adjusted)


def test_the_smallest_p_is_reached_and_is_two_over_two_to_the_n():
    """Of one pair; of several the pairs have four fifths of the level."""
    for n in (6, 8, 11):
        one, three = judge(ladder([0.4, 0.0], n=n)), judge(ladder([0.4, 0.2, 0.0], n=n))
        assert one.smallest_p == smallest_p(n) == 2 / 2**n
        assert three.smallest_p == pytest.approx(smallest_p(n) / 0.8)
        assert one.pairs[0].p == pytest.approx(2 / 2**n)
        assert [pair.p for pair in three.pairs] == pytest.approx([2 / 2**n / 0.8] * 3)
    assert len(sign_patterns(6, np.random.default_rng(0))) == 2**5


def test_random_flips_agree_with_all_flips(monkeypatch):
    from recassay.analysis.inference import all_pairs

    table = matrix(np.random.default_rng(3).normal(size=(5, 12)) + np.linspace(0.6, 0, 5)[:, None])
    scaled = scaled_values(table)
    pairs = np.triu_indices(5, 1)
    exact = compare_pairs(scaled, *pairs, np.random.default_rng(0))
    monkeypatch.setattr(all_pairs, "EXACT", 5)
    drawn = compare_pairs(scaled, *pairs, np.random.default_rng(0))
    assert drawn.single == pytest.approx(exact.single, abs=0.02)
    assert drawn.adjusted == pytest.approx(exact.adjusted, abs=0.03)


def test_units_do_not_matter_and_direction_does():
    table = np.random.default_rng(4).random((4, 9)) + 0.1
    one, other = judge(matrix(table)), judge(matrix(1000 * table))
    assert one.status == other.status
    assert [p.p for p in one.pairs] == pytest.approx([p.p for p in other.pairs])
    lower = Matrix(table, one.algorithms, one.datasets, "rmse", False)
    upper = Matrix(-table, one.algorithms, one.datasets, "score", True)
    assert judge(lower).status == judge(upper).status
    assert judge(lower).mean_rank == pytest.approx(judge(upper).mean_rank)


def equal_tables(k, n, count, seed):
    rng = np.random.default_rng(seed)
    return (matrix(rng.normal(size=(k, n)) + 2 * rng.normal(size=n)) for _ in range(count))


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n"), [(2, 8), (6, 8), (4, 12), (8, 20)])
def test_false_findings_are_as_rare_as_said(k, n):
    found = [bool(judge(table).better.any()) for table in equal_tables(k, n, 150, seed=k * n)]
    assert np.mean(found) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)


def test_the_grades():
    assert judge(CLEAR).grade == "clear_winner"
    assert judge(ladder([0.3, 0.295, 0.0])).grade == "shared_lead"
    assert judge(matrix(np.random.default_rng(0).random((4, 8)))).grade == "no_difference"
    assert judge(ladder([0.3, 0.1, 0.0], n=5)).grade == "too_little_data"
    assert judge(matrix(np.zeros((3, 8)))).grade == "not_comparable"


def test_what_five_datasets_can_say():
    verdict = judge(ladder([0.3, 0.1, 0.0], n=5))
    assert {pair.status for pair in verdict.pairs} == {"undecidable"}
    assert verdict.could_be_best == ("a00", "a01", "a02"), "nobody is shown to be behind"
    assert fewest_datasets(0.05) == 6
    for level in (0.5, 0.25, 0.1, 0.01, 2**-10, 1e-6):
        n = fewest_datasets(level)
        assert smallest_p(n) < level
        assert n == 2 or smallest_p(n - 1) >= level
    assert "6 are the minimum" in verdict.headline


def test_identical_algorithms_are_reported_as_identical():
    values = np.vstack([ladder([0.3, 0.0]).values, ladder([0.3, 0.0]).values[1:]])
    verdict = judge(matrix(values))
    assert verdict.pair("a01", "a02").identical
    assert verdict.status_of("a01", "a02") == "equivalent"
    assert "identical" in judge(matrix(values[1:])).headline


def test_the_leader_that_beats_each_other_alone_is_the_winner():
    """Naming the observed winner needs no correction but its fifth of the level: its pairs have at most five times the
    largest of their single p-values."""
    rng = np.random.default_rng(11)
    shown = 0
    for _ in range(40):
        verdict = judge(matrix(rng.normal(size=(6, 10)) + np.r_[2.0, np.zeros(5)][:, None]))
        own = [pair for pair in verdict.pairs if pair.a == verdict.algorithms[0]]
        claim = 5 * max(pair.p_single for pair in own)
        if claim < 0.05 and all(pair.effect.interval[0] >= 0 for pair in own):
            assert verdict.grade == "clear_winner"
            assert all(pair.p <= claim + 1e-12 for pair in own)
            shown += 1
        if verdict.grade == "clear_winner":
            assert all(pair.p < 0.05 for pair in own)
    assert 3 < shown < 37


def test_a_control_is_adjusted_for_its_own_comparisons_only():
    table = matrix(np.random.default_rng(5).normal(size=(6, 12)) + np.linspace(1, 0, 6)[:, None])
    whole, own = judge(table), judge(table, control="A02")
    assert own.control == "a02"
    for pair in own.pairs:
        before = whole.pair(pair.a, pair.b)
        assert pair.p <= before.p + 1e-9 if "a02" in (pair.a, pair.b) else pair.p == before.p


def test_the_fewest_removals_and_who_then_leads_by_brute_force():
    rng = np.random.default_rng(6)
    for _ in range(60):
        table = matrix(rng.integers(0, 4, (4, 7)).astype(float) + np.array([[0.5], [0], [0], [0]]))
        verdict = judge(table)
        if len(verdict.leaders) > 1:
            continue
        order = [table.algorithms.index(name) for name in verdict.algorithms]
        up = table.values[order]
        ranks = (up[None] > up[:, None]).sum(axis=1) + ((up[None] == up[:, None]).sum(axis=1) + 1) / 2
        fewest_count = next(
            (size for size in range(1, 7) for kept in itertools.combinations(range(7), 7 - size)
             if (ranks[1:, kept].mean(axis=1) < ranks[0, kept].mean() - 1e-9).any()),
            None,
        )  # fmt: skip
        assert (verdict.removal[1] if verdict.removal else None) == fewest_count
        if verdict.removal:
            removed = fewest_to_remove(ranks)[1]
            kept = np.delete(ranks, removed, axis=1).mean(axis=1)
            assert kept[verdict.algorithms.index(verdict.removal[0])] == pytest.approx(kept.min())


def random_table(seed):
    """Few and many datasets, ties, seeds, missing cells that were filled, lower is better, twins, failures."""
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(2, 9)), int(rng.choice([2, 3, 4, 5, 6, 7, 8, 10, 13, 16, 25]))
    levels = rng.choice([0.0, 0.3, 1.0, 3.0]) * rng.standard_normal(k)
    values = levels[:, None] + rng.standard_normal((k, n)) + rng.standard_normal(n)
    kind = rng.integers(8)
    if kind == 0:
        values = np.round(values)
    elif kind == 1 and k > 2:
        values[1] = values[0]
    elif kind == 2:
        values[0] -= 50 * (rng.random(n) < 0.15)
    elif kind == 3:
        values = np.exp(0.005 * values)
    elif kind == 4:
        values = np.repeat(values[:, :, None], 3, axis=2).mean(axis=2) + rng.standard_normal((k, n, 3)).mean(axis=2)
    elif kind == 5:
        values = np.where(rng.random((k, n)) < 0.2, values.min(axis=0), values)
    elif kind == 6:
        values = rng.choice([0.0, 1.0]) * np.sign(values)
    names = tuple(f"a{i:02d}" for i in range(k)), tuple(f"d{j:02d}" for j in range(n))
    missing = MissingCells("worst", (("a00", "d00"),)) if kind == 5 else MissingCells()
    return Matrix(values, *names, "score", bool(rng.random() < 0.6), missing=missing)


def contradictions(v):
    """What two parts of a verdict say differently; empty where nothing does."""
    found = []

    def must(holds, what):
        if not holds:
            found.append(what)

    k, names = len(v.algorithms), v.algorithms
    better = np.array([[status == "better" for status in row] for row in v.status])
    decidable = v.smallest_p < v.alpha
    # Pairs: one value, both ways round, in the order of the mean ranks, and with the p-value that belongs to it.
    for i, j in itertools.combinations(range(k), 2):
        pair, there, back = v.pair(names[i], names[j]), v.status[i][j], v.status[j][i]
        must(pair.status == there and (pair.a, pair.b) == (names[i], names[j]), "a pair has two statuses")
        must({"better": "worse"}.get(there, there) == back and there != "worse", "a status is not its reverse")
        must(there != "better" or (v.mean_rank[i] < v.mean_rank[j] and pair.p < v.alpha), "better without evidence")
        must(there != "better" or pair.wins > 0, "better without a win")
        low = np.inf if pair.effect.interval is None else pair.effect.interval[0]
        must(there != "better" or low >= (1.0 if pair.effect.kind == "ratio" else 0.0) - 1e-9, "interval and status")
        must((there == "undecidable") <= (not decidable), "undecidable where it could be decided")
        must(not pair.identical or there == "equivalent", "identical and not equivalent")
        shared = bool(set(re.findall(r"[a-zA-Z]\d*", v.groups[i])) & set(re.findall(r"[a-zA-Z]\d*", v.groups[j])))
        must(shared == (there != "better"), "letters and status")
    # Who could be best, the ranks that each could have, and the leaders.
    could = set(v.could_be_best)
    must(set(v.leaders) <= could, "a leader could not be best")
    must(v.rival != v.algorithms[0] and (v.rival in could or len(could) == 1), "the rival could not be best")
    if decidable:
        known = could | set(v.not_judged)
        must(known == {n for n, beaten in zip(names, better.any(axis=0), strict=True) if not beaten}, "could be best")
        must(known == {n for n, (low, _) in zip(names, v.rank_interval, strict=True) if low == 1}, "ranks and best")
    must(not could & set(v.not_judged), "could be best and not judged")
    must(all(low <= high for low, high in v.rank_interval), "empty ranks")
    must((v.leads_again is None) == (len(v.datasets) < 5) == (v.interval is None), "chances below five datasets")
    if v.leads_again is not None:
        first = [not any(v.pair(names[j], names[i]).identical for j in range(i)) for i in range(len(names))]
        must(v.identical.all() or abs(v.leads_again[first].sum() - 1) < 1e-9, "chances that do not sum to 1")
        must(all(low <= r <= high for r, (low, high) in zip(v.mean_rank, v.interval, strict=True)), "interval")
    # The grade and the sentences.
    told = " ".join([v.headline, *v.sentences, *v.why, *v.how_sure, *v.what_would_change, v.caution or ""])
    if v.grade == "clear_winner":
        others = [i for i, name in enumerate(names) if i and name not in v.not_judged]
        must(could == {names[0]} == set(v.leaders) and better[0, others].all(), "a clear winner that is not")
        must(names[0] in v.headline and "No clear" not in told, "the headline of a clear winner")
    if v.grade == "shared_lead":
        must((1 <= len(could) < k and "could be best" in v.headline + "".join(v.why)) or "share" in v.headline, "lead")
    if v.grade == "no_difference":
        seen = better.any() or " beats " in told
        must(could == set(names) - set(v.not_judged) and not seen, "a difference where none is seen")
    if v.grade in ("too_little_data", "not_comparable"):
        must(not better.any() and " beats " not in told, "a claim without data")
    must((v.grade == "too_little_data") <= (not decidable), "too little data")
    for one, other in re.findall(r"(a\d\d) (?:beats|is better than) (a\d\d)", told):
        must(v.status_of(one, other) == "better", f"{one} beats {other}")
    for one, other in re.findall(r"[Bb]etween (a\d\d) and (a\d\d) the data do not decide", told):
        must(v.status_of(one, other) == "undecided", f"{one} and {other} undecided")
    for one, other in re.findall(r"(a\d\d) and (a\d\d) are equivalent", told):
        must(v.status_of(one, other) == "equivalent", f"{one} and {other} equivalent")
    must(len(v.headline.split()) <= 20, "a long headline")
    must(len(v.sentences) <= 5 and all(s.endswith(".") for s in v.sentences), "sentences")
    must(max(len(s.split()) for s in [*v.sentences, v.headline]) <= 40, "a long sentence")
    return found


@pytest.mark.parametrize("block", range(10))
def test_no_two_statements_contradict_each_other(block):
    """Over 500 random tables."""
    for seed in range(50 * block, 50 * block + 50):
        table = random_table(seed)
        control = table.algorithms[0] if seed % 5 == 0 else None
        verdict = judge(table, control=control, seed=seed)
        assert contradictions(verdict) == [], (seed, verdict.headline, verdict.sentences)


def test_rank_and_compare_carry_one_verdict():
    for seed in range(5):
        table = random_table(100 + seed)
        ranked, compared = rank_algorithms(table), compare_algorithms(table, draws=100)
        assert ranked.judgement is compared.judgement, "it is computed once"
        assert ranked.possible_winners() == list(compared.judgement.could_be_best)
        assert ranked.to_dict()["verdict"] == compared.to_dict()["verdict"]
        for group in compared.groups["sign_flips"]:
            for one, other in itertools.combinations(group, 2):
                assert compared.judgement.status_of(one, other) not in ("better", "worse")


def test_letters_share_exactly_where_nothing_differs():
    rng = np.random.default_rng(7)
    for k in (2, 3, 5, 8, 12):
        for _ in range(50):
            differ = np.triu(rng.random((k, k)) < rng.random(), 1)
            differ |= differ.T
            letters = group_letters(differ)
            for i, j in itertools.combinations(range(k), 2):
                assert bool(set(letters[i]) & set(letters[j])) != differ[i, j]
    assert group_letters(np.zeros((3, 3), dtype=bool)) == ("a", "a", "a")
    assert group_letters(~np.eye(3, dtype=bool)) == ("a", "b", "c")
    many = group_letters(~np.eye(105, dtype=bool))
    assert [many[place] for place in (25, 26, 51, 52, 53, 104)] == ["z", "A", "Z", "a1", "b1", "a2"]


def test_plan_speaks_of_the_rival_of_the_verdict():
    table = synthetic_results(8, seeds=1, seed=3).filter(pl.col("metric") == "ndcg@10")
    plan, verdict = recassay.plan(table), recassay.rank(table).judgement
    if verdict.status_of(verdict.leaders[0], verdict.rival) in ("undecided", "undecidable"):
        assert {plan.pairs[0].left, plan.pairs[0].right} == {verdict.leaders[0], verdict.rival}
    assert all(verdict.status_of(p.left, p.right) not in ("better", "worse", "equivalent") for p in plan.pairs)
    assert plan.challenger == (verdict.removal[0] if verdict.removal else None)


def even(steps, n=12, **more):
    """Algorithms at these levels on n datasets whose own levels rise; every algorithm keeps its place."""
    return matrix(np.linspace(0.2, 0.4, n) + np.array(steps)[:, None], **more)


def near(steps, n=12):
    """The same, but those of one level differ by a little, to and fro."""
    values = even(steps, n).values
    return matrix(values + 1e-4 * np.random.default_rng(5).choice([-1, 1], values.shape) * np.arange(1, n + 1))


def worded(verdict, missing=None, **changes):
    """The sentences of a verdict of which some numbers were changed."""
    changed = replace(verdict, **changes, **({} if missing is None else {"missing": missing}))
    kinds = ("headline", "sentences", "caution", "next_step", "why", "how_sure", "what_would_change")
    return {kind: getattr(changed, kind) for kind in kinds}


def test_the_headline_of_every_kind_of_verdict():
    three, five = judge(even([0.3, 0.1, 0.0])), judge(matrix(np.random.default_rng(0).random((5, 9))))
    twins, close = judge(even([0.1, 0.1])), judge(near([0.1, 0.1, 0.0]))
    several = five.algorithms
    assert close.could_be_best == ("a00", "a01")
    headlines = [
        (three, {}, "a00 is the clear winner: it beats all 2 others on datasets like these."),
        (judge(even([0.3, 0.1])), {}, "a00 is better than a01 on datasets like these."),
        (judge(matrix(np.zeros((3, 8)))), {}, "Not comparable: every value of nDCG@10 is 0, so nothing was measured."),
        (judge(even([0.3, 0.1], n=1)), {},
         "Too little data: 1 dataset cannot show which algorithm is better; 6 are the minimum."),
        (judge(even([0.3, 0.1], n=4), alpha=0.01), {},
         "Too little data: 4 datasets cannot show which algorithm is better; 8 are the minimum."),
        (twins, {}, "No difference: the 2 algorithms have identical results on all 12 datasets."),
        (judge(near([0.1, 0.1]), within=0.03), {}, "No difference: all 2 algorithms are equivalent within 3 %."),
        (judge(even([0.1, 0.1001])), {}, "a01 is better than a00, by less than 2 %, on datasets like these."),
        (judge(matrix(np.random.default_rng(0).random((2, 9)))), {},
         "No difference seen: either a00 or a01 could be the better one."),
        (five, {}, "No difference seen: any of the 5 algorithms could be best on datasets like these."),
        (close, {}, "a00 and a01 share the lead: they are equivalent within 2 %."),
        (five, {"grade": "shared_lead", "could_be_best": several[:2]},
         "No clear winner: a00 or a01 could be best; the other 3 could not."),
        (three, {"grade": "shared_lead", "could_be_best": ("a00", "a01")},
         "No clear winner: a00 or a01 could be best; the other one could not."),
        (five, {"grade": "shared_lead", "could_be_best": several[:3]},
         "No clear winner: a00, a01 or a03 could be best; the other 2 could not."),
        (five, {"grade": "shared_lead", "could_be_best": several[:4]},
         "No clear winner: 4 of 5 algorithms could be best on datasets like these."),
    ]  # fmt: skip
    for verdict, changes, headline in headlines:
        assert worded(verdict, **changes)["headline"] == headline


def test_who_leads_and_how_likely_again():
    five = judge(matrix(np.random.default_rng(0).random((5, 9))))
    assert five.algorithms[:2] == ("a00", "a01")
    cases = [
        ({"leads_again": np.array([0.20, 0.22, 0.2, 0.2, 0.18])}, "; its chance of leading again is 20 %."),
        ({"leads_again": np.array([0.20, 0.23, 0.2, 0.2, 0.17])},
         "; its chance of leading again is 20 %, that of a01 23 %."),
        ({"leads_again": np.array([0.996, 0.001, 0.001, 0.001, 0.001])},
         "; its chance of leading again is more than 99 %."),
        ({"leads_again": np.array([0.994, 0.006, 0.0, 0.0, 0.0])}, "; its chance of leading again is 99 %."),
        ({"leads_again": np.array([0.005, 0.005, 0.0, 0.0, 0.0])}, "; its chance of leading again is 0 %."),
        ({"leads_again": np.array([0.004, 0.006, 0.0, 0.0, 0.0])},
         "; its chance of leading again is less than 1 %."),
    ]  # fmt: skip
    for changes, ending in cases:
        assert worded(five, **changes)["sentences"][0] == f"a00 leads by mean rank (2.78 of 5){ending}"
    none = {"leads_again": None}
    assert worded(five, **none)["sentences"][0] == "On these 9 datasets a00 leads by mean rank (2.78 of 5)."
    little = worded(five, grade="too_little_data", could_be_best=("a00", "a01", "a03"))["sentences"]
    assert little[0] == "On these 9 datasets a00 leads by mean rank (2.78 of 5)."
    assert len(worded(five, grade="too_little_data")["sentences"]) == 4
    shared = {"leaders": ("a00", "a01"), "leads_again": np.array([0.3, 0.3, 0.2, 0.1, 0.1])}
    both = "a00 and a01 share the best mean rank (2.78)"
    assert worded(five, **shared)["sentences"][0] == f"{both}; their chance of leading again: each has 30 %."
    shared["leads_again"] = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
    assert worded(five, **shared)["sentences"][0] == f"{both}; their chance of leading again: 30 % and 25 %."
    assert worded(five, **shared | none)["sentences"][0] == f"On these 9 datasets {both}."
    assert len(worded(five)["sentences"]) == len(worded(five, grade="shared_lead")["sentences"]) == 4
    assert worded(five)["sentences"][1] == "By 5 of 9 other rules a03 would lead."
    assert worded(five)["sentences"][3] == "The typical ratio per dataset favours a00, mean nDCG@10 favours a01."
    removed = worded(five, grade="clear_winner", removal=("a02", 3))["sentences"]
    assert removed[4] == "Without d04, a02 would lead (5 of 9 choices of 3 datasets change the leader when left out)."
    unknown = worded(five, grade="clear_winner", removal=("a02", 4), removed=(), removals=None)["sentences"]
    assert unknown[4] == "Without 4 of the 9 datasets, a02 would lead."
    assert len(worded(five, grade="clear_winner", removal=None)["sentences"]) == 4


def test_what_is_known_of_one_pair_in_words():
    def sentence(table, *names, **settings):
        verdict = judge(table, **settings)
        return pair_sentence(verdict, verdict.pair(*names))

    upward, size = even([0.3, 0.1, 0.1]), "+51.0 %, 95 % interval 45.0 to 56.9 %"
    evidence = "12 of 12 datasets won; adjusted p < 0.001"
    assert sentence(upward, "a01", "a00") == f"a00 beats a01 (nDCG@10 {size}; {evidence})."
    downward = even([0.1, 0.1, 0.3], higher_is_better=False, metric="rmse")
    assert sentence(downward, "a00", "a02") == f"a00 beats a02 (RMSE better by {size}; {evidence})."
    assert sentence(upward, "a01", "a02") == "a01 and a02 have identical values on all 12 datasets."
    signed = matrix(np.array([[0.1] * 7, [-0.2, -0.1, 0.0, 0.1, 0.1, 0.2, 0.2]]))
    assert sentence(signed, "a00", "a01", alpha=0.1) == (
        "Between a00 and a01 the data do not decide (nDCG@10 +0.05, 90 % interval -0.05 to 0.2; 3 of 7 datasets won, "
        "2 tied; adjusted p = 0.562)."
    )
    near_others = np.random.default_rng(2).normal(0.2, 0.01, (6, 8))
    near_others[0] = near_others[1:].mean(0) + np.array([0.02, 0.03, 0.01, 0.04, 0.02, 0.03, -0.01, 0.02])
    alone = sentence(matrix(near_others), "a00", "a02")
    size = "+8.9 %, 95 % interval 0.7 to 17.7 % for this pair alone"
    undecided = f"Between a00 and a02 the data do not decide (nDCG@10 {size}; 7 of 8 datasets won; adjusted p = 0.107)."
    assert alone == undecided
    little = "nDCG@10 +0.0 %, 95 % interval 0.0 to 0.0 %; 12 of 12 datasets won"
    assert sentence(even([0.1, 0.1001, 0.0]), "a00", "a01", within=0.015) == (
        f"a01 beats a00 by less than 1.5 % ({little}; adjusted p < 0.001)."
    )
    assert sentence(near([0.1, 0.1, 0.0]), "a00", "a01", within=0.015).startswith(
        "a00 and a01 are equivalent within 1.5 % ("
    )
    assert sentence(even([0.3, 0.1], n=4), "a00", "a01") == (
        "a00 against a01: nDCG@10 +51.5 %; 4 of 4 datasets won. No result on 4 datasets could be significant "
        "(smallest p = 0.12)."
    )
    assert (p_text(0.00099), p_text(0.001)) == ("p < 0.001", "p = 0.001")
    v = judge(signed)
    nothing = replace(v.pair("a00", "a01"), effect=Effect("difference", -0.0, None))
    assert effect_text(v, nothing) == "nDCG@10 +0"
    assert effect_text(v, replace(nothing, effect=Effect("ratio", 0.9999, (0.9999, 1.2)))) == (
        "nDCG@10 +0.0 %, 95 % interval 0.0 to 20.0 %"
    )


def test_of_several_leaders_nobody_is_said_to_lose_the_lead():
    """Two share the lead; without the first dataset the second would lead alone."""
    shared = judge(matrix(np.array([[3.0, 2.0] * 4, [2.0, 3.0] * 4, [1.0] * 8])))
    assert (shared.leaders, shared.removal, shared.what_would_change) == (("a00", "a01"), None, ())
    assert shared.caution is None


def test_the_caution_is_the_most_important_one_and_only_where_it_holds():
    v = judge(even([0.3, 0.1, 0.0], n=30))
    one, two = MissingCells("worst", (("a01", "d00"),)), MissingCells("worst", (("a01", "d00"), ("a02", "d01")))
    families = {"datasets": ("amazon-a", "amazon-b", *v.datasets[2:]), "grade_by_family": "clear_winner",
                "best_by_family": 1}  # fmt: skip
    many = {**families, "datasets": (*(f"amazon-{i}" for i in range(10)), *v.datasets[10:])}
    come = "2 of the 30 datasets come from amazon"
    cases = [
        ({}, None, None),
        ({"hopeful": "a01"}, one, "The leader depends on 1 missing cell: with the best values there, a01 would lead."),
        ({"hopeful": "a01"}, two, "The leader depends on 2 missing cells: with the best values there, a01 would lead."),
        ({}, one, missing_cells(one)),
        ({"removal": ("a01", 3)}, None,
         "The lead rests on few datasets. Without 3 of the 30 datasets, a01 would lead."),
        ({"removal": ("a01", 1)}, None,
         "The lead rests on few datasets. Without 1 of the 30 datasets, a01 would lead."),
        ({"removal": ("a01", 4)}, None, None),
        ({"removal": ("a01", 3), "grade": "shared_lead"}, None,
         "The lead rests on few datasets. Without 3 of the 30 datasets, a01 would lead."),
        ({"removal": ("a01", 3), "grade": "no_difference"}, None, None),
        (families, None, None),
        (many, None, "10 of the 30 datasets come from amazon: they are related. Counted as families, they support the "
         "same verdict."),
        (families | {"grade_by_family": "too_little_data"}, None,
         f"{come}: counted as families, they are too few for a verdict."),
        (families | {"best_by_family": 2}, None,
         f"{come}: if each collection counts as one dataset, 2 of 3 algorithms could be best."),
        (families | {"grade_by_family": "shared_lead"}, None,
         f"{come}: if each collection counts as one dataset, 1 of 3 algorithms could be best."),
        (families | {"best_by_family": 2, "families": 29}, None, None),
    ]  # fmt: skip
    for changes, missing, caution in cases:
        assert worded(v, missing, **changes)["caution"] == caution, changes
    nine = worded(judge(even([0.3, 0.1], n=9)), removal=("a01", 1))["caution"]
    assert nine == "The lead rests on few datasets. Without 1 of the 9 datasets, a01 would lead."
    assert worded(judge(even([0.3, 0.1])), removal=("a01", 2))["caution"] is None, (
        "one dataset of 12 is few, two are not"
    )
    assert worded(judge(even([0.3, 0.1], n=19)), removal=("a01", 2))["caution"] is None, "nor are two of 19"


def test_what_to_do_next_and_what_would_change_the_verdict():
    three, five = judge(even([0.3, 0.1, 0.0])), judge(matrix(np.random.default_rng(0).random((5, 9))))
    stress = "recassay stress: does the winner change when datasets or algorithms are left out"
    assert three.next_step == stress
    assert five.next_step == "recassay plan: how many datasets would separate a00 from a01"
    assert worded(five, grade="shared_lead", rival="a03")["next_step"].endswith("would separate a00 from a03")
    assert judge(near([0.1, 0.1, 0.0])).next_step is None
    assert judge(matrix(np.zeros((3, 8)))).next_step is None
    assert worded(five, grade="too_little_data", alpha=0.01)["next_step"] == (
        "recassay analyze: what each dataset shows by itself; over datasets, run at least 8"
    )
    # Last place on one dataset costs 2 ranks more than the second has: 12 datasets times 1 / (3 - 2), and one more.
    assert three.what_would_change == ("If a00 failed (came last) on 13 further datasets, a01 would lead.",)
    assert five.what_would_change == (
        "Without d04, a01 would lead (5 of the 9 datasets change the leader when left out).",
        "If a00 failed (came last) on 1 further dataset, a01 would lead.",
    )
    assert worded(five, leaders=("a00", "a01"))["what_would_change"] == ()
    assert worded(three, mean_rank=np.array([1.0, 3.0, 3.0]))["what_would_change"] == ()
    level = worded(three, mean_rank=np.array([1.0, 2.8, 2.9]), datasets=tuple("vwxyz"))["what_would_change"]
    assert level == ("If a00 failed (came last) on 46 further datasets, a01 would lead.",), (
        "45 times 0.2 is 5 times 1.8"
    )


def test_what_the_verdict_rests_on_in_words():
    three = judge(even([0.3, 0.1, 0.0]))
    assert three.why == ("One algorithm is shown to be better in 3 of 3 pairs.",)
    assert judge(even([0.3, 0.1])).why == ("One algorithm is shown to be better in 1 of 1 pair.",)
    assert judge(even([0.3, 0.3, 0.1001, 0.1])).why == (
        "One algorithm is shown to be better in 5 of 6 pairs.",
        "a00 beats a02, a03.",
        "Identical results on all 12 datasets: a00 and a01.",
    )
    assert judge(near([0.1, 0.1, 0.1])).why[1:] == (
        "3 pairs are equivalent within 2 %: a00 and a02, a00 and a01, a02 and a01.",
    )
    usual = three.how_sure
    assert usual[0].endswith("the chance of any false finding is at most 5 %.")
    assert len(usual) == 3
    controlled = judge(even([0.3, 0.1, 0.0]), control="a01", alpha=0.1)
    assert controlled.how_sure[0].endswith("at most 10 %.")
    assert controlled.how_sure[3:] == (
        "The pairs of a01, the control, are adjusted for its 2 comparisons only: the chance of a false finding is at "
        "most 10 % among them, and as much among the others. That is valid if it was named before the results were "
        "seen.",
    )
    by_family = judge(even([0.3, 0.1, 0.0]), families={f"d{i:02d}": f"f{i // 2}" for i in range(12)})
    assert by_family.how_sure[3:] == ("Datasets of one family count as one piece of evidence: 6 families.",)
    close = judge(near([0.1, 0.1, 0.0]))
    assert close.how_sure[3:] == (
        "Equivalent speaks of the typical ratio: where rare differences are large, the mean is farther off.",
    )
    assert len(judge(even([0.1, 0.1, 0.0])).how_sure) == 3, "identical ones are not matter of margins"
    little = judge(even([0.3, 0.1], n=4))
    assert little.why == ()
    assert little.how_sure == ("All differences on one side would still have p = 0.12 with 4 datasets.",)
    nothing = judge(matrix(np.zeros((3, 8))))
    assert (nothing.sentences, nothing.why, nothing.how_sure, nothing.what_would_change) == ((), (), (), ())


def test_the_numbers_of_a_verdict_by_plain_computation():
    table, k, n = ladder([0.06, 0.055, 0.03, 0.0], seed=4), 4, 12
    v = judge(table, alpha=0.1, seed=3)
    order = [table.algorithms.index(name) for name in v.algorithms]
    values = table.values[order]
    ranks = 1 + (values[None] > values[:, None]).sum(axis=1)
    assert v.mean.tolist() == pytest.approx(values.mean(axis=1).tolist())
    assert v.mean_rank.tolist() == pytest.approx(ranks.mean(axis=1).tolist())
    assert sorted(v.mean_rank.tolist()) == v.mean_rank.tolist()
    for rank, ends in zip(ranks, v.interval, strict=True):
        squares = ((rank - rank.mean()) ** 2).sum() + 2 * (k * k - 1) / 12
        centre, half = (rank.sum() + (k + 1) / 2) / (n + 1), stats.t.ppf(0.95, n + 1) * np.sqrt(squares) / (n + 1)
        assert ends.tolist() == pytest.approx([max(1, centre - half), min(k, centre + half)])
    own = 1.0 + (table.values[None] > table.values[:, None]).sum(axis=1)
    again = probability_first(own, derived_rng(3, "first again", "ndcg@10"))
    assert v.leads_again == pytest.approx(again[order])
    better = np.array([[status == "better" for status in row] for row in v.status])
    assert better.any()
    assert not better[np.triu_indices(k, 1)].all()
    assert v.rank_interval.tolist() == [[1 + better[:, a].sum(), k - better[a].sum()] for a in range(k)]
    for i, j in itertools.combinations(range(k), 2):
        pair, ratio = v.pair(v.algorithms[i], v.algorithms[j]), np.log(values[i] / values[j])
        assert (pair.wins, pair.losses) == ((ratio > 0).sum(), (ratio < 0).sum())
        middle = np.exp(np.median([(a + b) / 2 for a, b in itertools.combinations_with_replacement(ratio, 2)]))
        assert pair.effect.estimate == pytest.approx(middle)
        assert pair.effect.interval == pytest.approx(tuple(np.exp(hodges_lehmann(ratio[None], 0.9)[0, 1:])))
        assert 0 < pair.p_single <= pair.p <= 1
    # All pairs by flipped signs, at four fifths of the level; the leader's claim at one fifth, which it may pass on.
    tests = compare_pairs(scaled_values(table)[order], *np.triu_indices(k, 1), np.random.default_rng(0))
    assert v.pairs.columns["p_single"].tolist() == pytest.approx(tests.single.tolist())
    own = [pair for pair in v.pairs if pair.a == v.algorithms[0]]
    claim = max(pair.p_single for pair in own) / 0.2
    claim = claim if all(pair.p_single >= 0.1 or pair.effect.interval[0] >= 1 for pair in own) else np.inf
    for pair, p in zip(v.pairs, tests.adjusted, strict=True):
        expected = min(p / 0.8, max(p, claim), claim if pair.a == v.algorithms[0] else np.inf, 1.0)
        assert pair.p == pytest.approx(expected)
    ahead = [[v.pair(one, other).p for one in v.algorithms[:a]] for a, other in enumerate(v.algorithms)]
    assert v.p_best.tolist() == pytest.approx([min(ps, default=1.0) for ps in ahead])
    assert v.could_be_best == tuple(name for name, p in zip(v.algorithms, v.p_best, strict=True) if p >= 0.1)
    assert v.rival == v.could_be_best[1]
    assert v.smallest_p == pytest.approx(2 / 2**12 / 0.8)


@pytest.mark.parametrize("up", [True, False])
def test_who_would_lead_if_the_missing_cells_had_the_best_values(up):
    values = np.array([[0.5] * 8, [0.6] * 4 + [0.1] * 4, [0.4] * 8])
    cells = tuple(("a01", f"d{d:02d}") for d in range(4, 8))
    filled = {"higher_is_better": up, "missing": MissingCells("worst", cells)}
    table = matrix(values if up else -values, **filled)
    assert (judge(table).leaders, judge(table).hopeful) == (("a00",), "a01")
    assert judge(replace(table, missing=MissingCells("drop-datasets", cells))).hopeful is None
    level = np.array([[3.0, 2.0, 3.0, 2.0, 1.0, 1.0], [2.0, 3.0, 2.0, 3.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 2.0, 2.0]])
    both = matrix(level if up else -level, higher_is_better=up, missing=MissingCells("worst", (("a01", "d04"),)))
    assert judge(both).leaders == ("a00", "a01")
    assert judge(both).hopeful is None, "one of the two leaders is nobody new"
    first = replace(table, missing=MissingCells("worst", (("a00", "d07"),)))
    assert judge(first).hopeful is None, "the leader itself is nobody new"


def test_json_lists_the_pairs_of_many_algorithms_that_matter():
    values = np.linspace(1, 2, 70)[:, None] + 0.001 * np.random.default_rng(0).random((70, 6))
    v = judge(matrix(values), control="a03")
    listed = v.listed(v.pairs)
    names = set(v.algorithms[:60])
    assert len(listed) == 60 * 59 // 2 + 69
    assert all({pair.a, pair.b} <= names or "a03" in (pair.a, pair.b) for pair in listed)
    assert len(replace(v, control=None).listed(v.pairs)) == 60 * 59 // 2
    told = v.to_dict()
    assert (len(told["pairs"]), told["pairs_left_out"]) == (len(listed), 70 * 69 // 2 - len(listed))
    assert told["leads_again"] == v.leads_again[0]
    assert (told["how_sure"], told["rival"]) == (list(v.how_sure), v.rival)
    assert {"families", "grade_by_family", "best_by_family", "removal"} <= set(told)
    assert judge(ladder([0.3, 0.1], n=4)).to_dict()["leads_again"] is None


def test_what_was_judged_is_remembered_by_all_that_decides_it():
    """A second table with the same values is not judged again; whatever the verdict depends on is a new question."""
    table = ladder([0.05, 0.04, 0.0], n=8)
    first = judge(table)
    assert judge(replace(table)) is first
    filled = MissingCells("worst", (("a01", "d00"),))
    others = [
        judge(replace(table, values=table.values[::-1].copy())),
        judge(replace(table, metric="recall@10")),
        judge(replace(table, higher_is_better=False)),
        judge(replace(table, algorithms=("x", "y", "z"))),
        judge(replace(table, missing=filled)),
        judge(table, alpha=0.1),
        judge(table, within=0.5),
        judge(table, seed=1),
        judge(table, control="a01"),
        judge(table, families={f"d{i:02d}": f"f{i % 5}" for i in range(8)}),
    ]
    assert all(other is not first for other in others)
    assert [other.metric for other in others[:2]] == ["ndcg@10", "recall@10"]
    assert (others[3].algorithms[0] in "xyz", others[5].alpha, others[6].within) == (True, 0.1, 0.5)
    with pytest.raises(UsageError, match=r"the control 'a1' is not one of the algorithms; did you mean 'a01'"):
        judge(table, control="a1")


def test_families_count_as_one_piece_of_evidence():
    """Six copies of each of five datasets: as single datasets they prove much, as families nothing can be proven."""
    one = np.array([[0.5, 0.6, 0.4, 0.7, 0.5], [0.4, 0.5, 0.3, 0.6, 0.4]])
    table = matrix(np.repeat(one, 6, axis=1))
    families = {name: f"f{place // 6}" for place, name in enumerate(table.datasets)}
    alone, together = judge(table), judge(table, families=families)
    assert alone.grade == "clear_winner"
    assert (together.grade, together.families, together.smallest_p) == ("too_little_data", 5, 2 / 2**5)
    one[1, :2] = 0.9
    mixed = judge(matrix(np.repeat(one, 6, axis=1)), families=families)
    ranks = np.repeat([[2.0, 2.0, 1.0, 1.0, 1.0], [1.0, 1.0, 2.0, 2.0, 2.0]], 6, axis=1)
    # Three first places and two second ones of two algorithms, and one family by lot: 5 families, not 30 datasets.
    centre, half = (7 + 1.5) / 6, stats.t.ppf(0.975, 6) * np.sqrt(3 * 0.4**2 + 2 * 0.6**2 + 2 * 3 / 12) / 6
    assert mixed.interval[0].tolist() == pytest.approx([max(1, centre - half), centre + half])
    assert mixed.interval[1].tolist() == pytest.approx([3 - centre - half, min(2, 3 - centre + half)])
    again = probability_first(ranks[:, ::6], derived_rng(0, "first again", "ndcg@10"))
    assert mixed.leads_again == pytest.approx(again)
    pairs = {f"d{d:02d}": f"f{d // 2}" for d in range(14)}
    seven = judge(ladder([0.03, 0.0], n=14), families=pairs)
    assert seven.smallest_p == smallest_p(7), "seven pieces of evidence"


def test_related_datasets_that_were_counted_as_independent_are_judged_together_as_well():
    names = (*(f"amazon-{i}" for i in range(8)), "films", "books", "songs")
    base = ladder([0.06, 0.0], n=11)
    table = replace(base, datasets=names)
    verdict = judge(table)
    assert verdict.grade == "clear_winner"
    numbers = {name: "amazon" if name.startswith("amazon") else name for name in names}
    family = decide(table, control=None, within=verdict.within, alpha=0.05, seed=0,
                    families=np.unique(list(numbers.values()), return_inverse=True)[1])  # fmt: skip
    assert verdict.grade_by_family == family.grade == "too_little_data"
    assert verdict.best_by_family == int((family.p_best >= 0.05).sum())
    assert judge(base).grade_by_family is None
    shared = judge(replace(ladder([0.06, 0.058, 0.0], n=11), datasets=names))
    assert (shared.grade, shared.grade_by_family) == ("shared_lead", "too_little_data")
    loose = {name: name for name in names}
    assert judge(table, families=loose).grade == "clear_winner"
    assert judge(table, families=loose).grade_by_family is None, "families were named: nothing is guessed"


def test_related_datasets_are_judged_together_by_the_same_settings(monkeypatch):
    asked = []
    monkeypatch.setattr(verdict_fit, "decide", lambda table, **given: asked.append(given) or decide(table, **given))
    names = (*(f"amazon-{i}" for i in range(3)), *(f"d{i}" for i in range(9)))
    table = replace(ladder([0.06, 0.03, 0.0], n=12), datasets=names)
    judge(table, control="a01", within=0.07, alpha=0.04, seed=8)
    settings = {"control": "a01", "within": 0.07, "alpha": 0.04, "test": "sign-flips", "seed": 8}
    families = [given.pop("families") for given in asked]
    assert asked == [settings, settings]
    assert families[0] is None
    assert len(np.unique(families[1])) == 10, "three datasets are one family"


STEPS = np.array([[3.0] * 8, [2.0] * 8, [1.0] * 8])


def decided(
    monkeypatch, *, single, adjusted, above=(True, True, True), sums=1.0, unequal=(1.0, 1.0), values=STEPS, **settings
):
    """A decision on three algorithms, of which the all-pairs tests and the effects are made up; and what was asked."""
    asked = {}

    def compared(scaled, first, second, rng, *, flips, alpha):
        asked.setdefault("flips", []).append((len(first), flips, alpha))
        asked["scaled"] = scaled
        chosen = [{(0, 1): 0, (0, 2): 1, (1, 2): 2}[pair] for pair in zip(first.tolist(), second.tolist(), strict=True)]
        return PairTests(np.array(single)[chosen], np.array(adjusted)[chosen], np.full(len(first), sums))

    def effects(gaps, confidence):
        asked["confidence"] = confidence
        return np.array(above)[: len(gaps)]

    def equal(values, first, second, *, within, families):
        asked["equal"] = (within, families)
        return tuple(np.full(len(first), p) for p in unequal)

    monkeypatch.setattr(decision, "compare_pairs", compared)
    monkeypatch.setattr(decision, "above_zero", effects)
    monkeypatch.setattr(decision, "equivalence_p", equal)
    return decide(matrix(values), **{"control": None, "within": 0.03, "alpha": 0.05, "seed": 0} | settings), asked


def test_a_leader_that_beats_each_other_alone_needs_no_correction_but_its_share(monkeypatch):
    """Its largest single p, 0.008, over a fifth of the level is 0.04; then all of the level is left for the pairs."""
    singles, corrected = [0.002, 0.008, 0.03], [0.06, 0.09, 0.08]
    found, asked = decided(monkeypatch, single=singles, adjusted=corrected)
    assert found.p.tolist() == pytest.approx([0.04, 0.04, 0.08])
    assert found.single.tolist() == singles
    assert found.codes.tolist() == ["better", "better", "undecided"]
    assert found.p_best.tolist() == pytest.approx([1.0, 0.04, 0.04])
    assert found.grade == "clear_winner"
    assert asked.pop("scaled").shape == (3, 8)
    assert asked == {"flips": [(3, decision.FLIPS, 0.05)], "confidence": 0.95, "equal": (0.03, None)}
    for most, flips in ((3, decision.FLIPS), (2, decision.FLIPS_OF_MANY)):
        monkeypatch.setattr(decision, "VERY_MANY", most)
        assert decided(monkeypatch, single=singles, adjusted=corrected)[1]["flips"] == [(3, flips, 0.05)]
    unsure, _ = decided(monkeypatch, single=singles, adjusted=corrected, above=(True, False, True))
    assert unsure.p.tolist() == pytest.approx([0.075, 0.1125, 0.1]), "the effect of one pair reaches below zero"
    assert unsure.codes.tolist() == ["undecided"] * 3
    assert unsure.grade == "no_difference"
    passed, _ = decided(monkeypatch, single=singles, adjusted=[0.03, 0.045, 0.045])
    assert passed.p.tolist() == pytest.approx([0.0375, 0.04, 0.045]), "four fifths would be too little for the last"
    assert passed.codes.tolist() == ["better"] * 3
    late, _ = decided(monkeypatch, single=singles, adjusted=[0.03, 0.035, 0.036])
    assert late.p.tolist() == pytest.approx([0.0375, 0.04, 0.04]), "passed on no sooner than the claim holds"
    low, _ = decided(monkeypatch, single=[0.01, 0.2, 0.03], adjusted=[0.02, 0.9, 0.036])
    assert low.p.tolist() == pytest.approx([0.025, 1.0, 0.045]), "no claim: four fifths of the level for all pairs"
    assert low.codes.tolist() == ["better", "undecided", "better"]
    assert low.grade == "shared_lead"
    pair, _ = decided(monkeypatch, single=[0.049], adjusted=[0.049], values=STEPS[:2])
    assert (pair.p.tolist(), pair.grade) == ([0.049], "clear_winner"), "one pair has nothing to share"


def test_level_margin_families_and_draws_reach_the_tests(monkeypatch):
    found, asked = decided(monkeypatch, single=[0.01] * 3, adjusted=[0.2, 0.3, 0.4], alpha=0.1, within=0.2, flips=77,
                           families=np.array([3, 0, 1, 2, 4, 5, 6, 7]), control="a02")  # fmt: skip
    assert asked["confidence"] == 0.9
    assert asked["equal"][0] == 0.2
    assert asked["equal"][1].tolist() == list(range(8)), "numbered as the datasets come"
    assert asked["flips"] == [(3, 77, 0.1), (2, 77, 0.1)], "all pairs, then those of the control"
    assert found.decidable
    some = {"single": [0.01] * 3, "adjusted": [0.2, 0.3, 0.4]}
    for share, decidable in ((1.0, False), (1.24, False), (1.26, True)):
        other, _ = decided(monkeypatch, **some, alpha=share * 2 / 2**8)
        assert other.decidable == decidable, "four fifths of the level must be above the smallest p"
        assert (other.grade == "too_little_data") == (not decidable)
        assert set(other.codes) == {"undecided" if decidable else "undecidable"}
    for share, decidable in ((1.0, False), (1.01, True)):
        assert decided(monkeypatch, **some, alpha=share * 2 / 2**8, values=STEPS[:2])[0].decidable == decidable


def test_a_p_value_at_the_level_decides_nothing(monkeypatch):
    at_level, asked = decided(monkeypatch, single=[0.0625] * 3, adjusted=[0.05] * 3, above=(False, False, False),
                              alpha=0.0625)  # fmt: skip
    assert set(at_level.codes) == {"undecided"}
    assert at_level.p_best.tolist() == [1.0, 0.0625, 0.0625], "0.05 over four fifths"
    assert at_level.grade == "no_difference", "all three could still be best"
    assert "confidence" not in asked, "the effect of no pair needs a look"
    level, _ = decided(monkeypatch, single=[0.01] * 3, adjusted=[0.01] * 3, sums=0.0)
    assert set(level.codes) == {"undecided"}, "differences that sum to 0 point nowhere"
    assert level.p_best.tolist() == [1.0, 1.0, 1.0]
    swapped = np.array([[3.0, 2.0] * 4, [2.0, 3.0] * 4, [1.0] * 8])
    shared, _ = decided(monkeypatch, single=[0.01] * 3, adjusted=[0.01] * 3, values=swapped)
    assert shared.codes.tolist() == ["undecided", "better", "better"], "the two have the same mean rank"
    near, _ = decided(monkeypatch, single=[0.2] * 3, adjusted=[0.2] * 3, unequal=(0.01, 0.05))
    assert set(near.codes) == {"undecided"}, "equivalence counts with the corrected p-value, and below the level"
    equal, _ = decided(monkeypatch, single=[0.2] * 3, adjusted=[0.2] * 3, unequal=(0.01, 0.049))
    assert set(equal.codes) == {"equivalent"}
    assert equal.p_best.tolist() == [0.25 if at else 1.0 for at in range(3)]
    both, _ = decided(monkeypatch, single=[0.01] * 3, adjusted=[0.01] * 3, unequal=(0.01, 0.049))
    assert set(both.codes) == {"better"}, "better, though by little"
    assert both.p_best.tolist() == pytest.approx([1.0, 0.0125, 0.0125])


def plain_decision(table, **more):
    return decide(table, **{"control": None, "within": 0.02, "alpha": 0.05, "seed": 0} | more)


@pytest.mark.parametrize("n", [9, 22])
def test_copies_count_once(n):
    """A second b and a third a, under other names: nothing changes for anybody else."""
    values = ladder([0.08, 0.03, 0.0], n=n, seed=3).values
    names = tuple(f"d{d}" for d in range(n))
    once = plain_decision(Matrix(values, ("a", "b", "c"), names, "score", True))
    many = Matrix(values[[1, 0, 2, 1, 0, 0]], ("y", "a", "c", "b", "x", "z"), names, "score", True)
    found = plain_decision(many)
    assert [many.algorithms[a] for a in found.order] == ["a", "x", "z", "b", "y", "c"], "copies by name"
    member = [0, 0, 0, 1, 1, 2]
    assert found.ranks.tolist() == once.ranks[member].tolist()
    assert found.copies.tolist() == member
    assert found.p_best.tolist() == once.p_best[member].tolist()
    assert (once.grade, found.grade, found.units) == ("clear_winner", "shared_lead", n), "a and its copies"
    of = {(0, 1): 0, (0, 2): 1, (1, 2): 2}
    for at, (i, j) in enumerate(itertools.combinations(range(6), 2)):
        pair = of.get((member[i], member[j]))
        told = (found.codes[at], found.p[at], found.single[at], found.equal[0][at], found.equal[1][at])
        if pair is None:
            assert told == ("equivalent", 1.0, 1.0, 0.0, 0.0)
        else:
            assert told == (once.codes[pair], once.p[pair], once.single[pair], once.equal[0][pair], once.equal[1][pair])
    same = plain_decision(Matrix(values[[0, 0, 0]], ("a", "b", "c"), names, "score", True))
    assert (same.codes.tolist(), same.copies.tolist()) == (["equivalent"] * 3, [0, 1, 2]), "nothing to merge with"


def test_a_control_may_stand_twice():
    values = ladder([0.05, 0.02, 0.0], n=9, seed=3).values
    table = matrix(values[[1, 0, 2, 1]])
    once = plain_decision(matrix(values), control="a01")
    for control in ("a00", "a03"):
        assert plain_decision(table, control=control).p[[0, 2]].tolist() == once.p[[0, 1]].tolist()


def test_datasets_on_which_all_tie_do_not_count():
    table = ladder([0.05, 0.02, 0.0], n=8, seed=3)
    tied = matrix(np.hstack([np.full((3, 2), 0.4), table.values[:, :5], np.zeros((3, 1)), table.values[:, 5:]]))
    alone, found = plain_decision(table), plain_decision(tied)
    assert (found.units, found.ranks.shape) == (8, (3, 11))
    assert (found.p.tolist(), found.single.tolist()) == (alone.p.tolist(), alone.single.tolist())
    assert (found.codes.tolist(), found.grade) == (alone.codes.tolist(), alone.grade)
    assert judge(tied).smallest_p == pytest.approx(2 / 2**8 / 0.8)
    families = np.array([0, 1, 2, 2, 3, 4, 5, 0, 6, 7, 1])  # the first has two datasets, all tied
    apart = plain_decision(table, families=families[[2, 3, 4, 5, 6, 8, 9, 10]])
    together = plain_decision(tied, families=families)
    assert together.units == apart.units == 7
    assert together.p.tolist() == apart.p.tolist()
    few = matrix(np.hstack([table.values[:, :5], np.ones((3, 9))]))
    assert judge(few).grade == "too_little_data", "five datasets say something"
    assert judge(few).smallest_p == pytest.approx(2 / 2**5 / 0.8)
    nothing = plain_decision(matrix(np.full((3, 8), 0.4)))
    assert (nothing.units, set(nothing.codes), nothing.grade) == (8, {"equivalent"}, "no_difference")


@pytest.mark.parametrize("n", [9, 22])
def test_a_decision_rests_on_the_numbers_alone(n):
    """22 datasets have random signs: dealt out by content, whatever the units, the names and the order."""
    table = ladder([0.06, 0.04, 0.02, 0.0], n=n, seed=5)
    for numbers in (None, np.arange(n) // 2):
        once = plain_decision(table, families=numbers)
        for seed in range(3):
            rng = np.random.default_rng(seed)
            rows, columns, scale = rng.permutation(4), rng.permutation(n), 2.0 ** rng.integers(-3, 4, n)
            moved = matrix((table.values * scale)[np.ix_(rows, columns)])
            found = plain_decision(moved, families=None if numbers is None else 7 * numbers[columns])
            assert rows[found.order].tolist() == once.order
            assert (found.p.tolist(), found.codes.tolist()) == (once.p.tolist(), once.codes.tolist())
            assert found.single.tolist() == once.single.tolist()
        other = plain_decision(table, families=numbers, seed=1)
        assert (other.p.tolist() != once.p.tolist()) == (once.units > 18), "all signs are tried of fewer"


def test_a_family_weighs_as_many_datasets_as_it_has(monkeypatch):
    """Five datasets in one family and three alone: shares of 5, 1, 1 and 1 eighths, four pieces of evidence."""
    found, asked = decided(monkeypatch, single=[0.5] * 3, adjusted=[0.5] * 3, families=np.array([0] * 5 + [1, 2, 3]))
    first = asked["scaled"][0] / asked["scaled"][0].sum()
    assert first == pytest.approx([5 / 8, 1 / 8, 1 / 8, 1 / 8])
    assert not found.decidable


def test_who_could_be_best_of_few_families_weighs_them_by_size():
    """Five families of eight datasets cannot decide a pair; a comparison with the best is left."""
    table = ladder([0.03, 0.02, 0.0], n=8, seed=2)
    names = dict(zip(table.datasets, ["f0"] * 4 + ["f1", "f2", "f3", "f4"], strict=True))
    found = judge(table, families=names)
    assert found.smallest_p > found.alpha
    assert (found.p_best >= found.alpha).all(), "so few families show nobody to be behind"


def test_long_lists_in_the_sentences_of_a_verdict_are_cut():
    """Eight of many names that could be best or are beaten, four leaders, four pairs."""
    v = judge(even([0.9, *[0.1] * 10]))
    names = v.algorithms
    assert v.why[0] == "One algorithm is shown to be better in 10 of 55 pairs."
    assert v.why[1:] == (
        "Identical results on all 12 datasets: a01 and a02, a01 and a03, a01 and a04, a01 and a05 and 41 more.",
    )
    mixed = judge(near([0.9, 0.9, *[0.1] * 9]))
    assert mixed.why[1] == "a00 beats a03, a08, a10, a04, a05, a07, a09, a02 and 1 more."
    five = {"leaders": names[:5], "leads_again": np.array([0.2] * 5 + [0.0] * 6)}
    assert worded(v, **five)["sentences"][0] == (
        "a00, a01, a02, a03 and 1 more share the best mean rank (1.00); their chance of leading again: each has 20 %."
    )
    five["leads_again"] = np.array([0.3, 0.25, 0.2, 0.15, 0.1, *[0.0] * 6])
    assert worded(v, **five)["sentences"][0].endswith("leading again: 30 %, 25 %, 20 %, 15 % and 1 more.")
    close = judge(near([0.9, *[0.1] * 5]))
    assert close.why[1] == (
        "10 pairs are equivalent within 2 %: a03 and a04, a03 and a05, a03 and a02, a03 and a01 and 6 more."
    )


def test_whose_p_value_is_at_the_level_could_still_be_best():
    """Seven wins of eight: 2 of 128 patterns of signs reach as far."""
    table = matrix(np.stack([0.5 + np.array([0.05, 0.06, 0.07, 0.04, 0.05, 0.08, 0.03, -0.01]), np.full(8, 0.5)]))
    p = judge(table).pairs[0].p
    assert p == 2 / 128
    level = judge(table, alpha=p)
    assert (level.could_be_best, level.pairs[0].status) == (level.algorithms, "undecided")
    above = judge(table, alpha=p * 1.001)
    assert (above.could_be_best, above.pairs[0].status) == (above.algorithms[:1], "better")


def test_equal_mean_ranks_are_listed_by_name():
    values = np.array([[3.0, 2.0] * 4, [1.0] * 8, [2.0, 3.0] * 4])
    names = ("b", "c", "a")
    found = judge(Matrix(values, names, tuple(f"d{d}" for d in range(8)), "score", True))
    assert (found.algorithms, found.leaders) == (("a", "b", "c"), ("a", "b"))


def test_wilcoxon_holm_can_be_the_test_of_the_verdict():
    """Corrected p are scipy's with Holm's correction; grade, letters and who could be best follow them alone."""
    table = ladder([0.05, 0.03, 0.0, 0.0], n=10, seed=2)
    found = judge(table, test="wilcoxon-holm")
    rows = {name: table.values[at] for at, name in enumerate(table.algorithms)}
    single = np.array([stats.wilcoxon(rows[pair.a], rows[pair.b], method="exact").pvalue for pair in found.pairs])
    assert [pair.p_single for pair in found.pairs] == pytest.approx(single.tolist())
    order = np.argsort(single)
    corrected = np.empty(6)
    corrected[order] = np.minimum(np.maximum.accumulate(single[order] * (6 - np.arange(6))), 1)
    assert [pair.p for pair in found.pairs] == pytest.approx(corrected.tolist())
    assert [pair.status == "better" for pair in found.pairs] == (corrected < 0.05).tolist()
    assert 0 < found.better.sum() < 6
    assert found.smallest_p == pytest.approx(6 * 2.0**-9)
    assert found.how_sure[0].startswith("Each pair is tested by Wilcoxon's signed-rank test with Holm's correction")
    named = judge(table, test="wilcoxon-holm", control="a01")
    own = [pair.p for pair in named.against("a01")]
    assert own == pytest.approx(holm(np.array([pair.p_single for pair in named.against("a01")])).tolist())
    assert judge(table).test == "sign-flips"
    assert [pair.p for pair in judge(table).pairs] != [pair.p for pair in found.pairs]


def test_wilcoxon_holm_needs_more_datasets_for_more_pairs():
    few = judge(ladder([0.3, 0.2, 0.1, 0.0], n=7), test="wilcoxon-holm")
    assert (few.grade, few.fewest_datasets) == ("too_little_data", 8)
    assert judge(ladder([0.3, 0.2, 0.1, 0.0], n=8), test="wilcoxon-holm").grade == "clear_winner"
    assert judge(ladder([0.3, 0.2, 0.1, 0.0], n=7)).grade == "clear_winner"


def test_wilcoxon_holm_decides_every_surface(tmp_path):
    """`compare`'s bars are the verdict's; the paper names the test in paragraph, caption and setup."""
    results = synthetic_results(14, seeds=1, seed=3).filter(pl.col("metric") == "ndcg@10")
    found = recassay.compare(results, test="wilcoxon-holm", draws=200)
    assert (found.bars, found.judgement.test) == ("wilcoxon-holm", "wilcoxon-holm")
    assert found.drawn == found.judgement.runs
    recassay.paper(results, out=tmp_path / "paper", test="wilcoxon-holm", replicates=100, figures=[])
    text = " ".join(path.read_text() for path in sorted((tmp_path / "paper").rglob("*.tex")))
    assert "signed-rank test with Holm's correction" in text.replace("\n", " ")
    assert "flip" not in text
    with pytest.raises(UsageError, match="zeros"):
        recassay.compare(results, test="wilcoxon-holm", zeros="pratt")
    with pytest.raises(UsageError, match="bars"):
        recassay.compare(results, test="wilcoxon-holm", bars="sign-flips")
