"""Each sentence of the verdict has a table for which it must appear and one for which it must not.

And every number in words has its counterpart in the JSON.
"""

from __future__ import annotations

import itertools
import re
from functools import partial

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.analysis.compare.fit import compare_algorithms
from recassay.analysis.glicko.fit import rate_algorithms
from recassay.analysis.rank.fit import rank_algorithms
from recassay.analysis.ratings.fit import rate_by_pairs
from recassay.analysis.stress.fit import stress_rankings
from recassay.analysis.user_irt.fit import fit_user_irt
from recassay.core.system.plain import plain
from recassay.core.tables.responses import Responses
from recassay.core.tables.results import Results
from recassay.reporting.telling import leaders, verdict, with_sections
from recassay.testing.results import synthetic_results
from support.tables import matrix, opposed

pytestmark = pytest.mark.slow


def ladder(steps, n=12):
    """Algorithms at these levels on n datasets, whose own levels rise: the order is the same everywhere."""
    return matrix(np.linspace(0.2, 0.4, n) + np.array(steps)[:, None])


def chance(k=4, n=8):
    return matrix(np.random.default_rng(0).random((k, n)))


def said(result):
    return " ".join(verdict({"result": result}))


def stressed(table):
    return stress_rankings(table, draws=100)


def ranked(table):
    return rank_algorithms(table, replicates=100)


DISPUTED = matrix(np.array([[0.95, 0.25, 0.25, 0.25, 0.25], [0.3] * 5, [0.2] * 5]))
CLEAR, TWINS, FEW = ladder([0.3, 0.1, 0.0]), ladder([0.3, 0.3, 0.0]), ladder([0.3, 0.1, 0.0], n=4)
LONG = ladder([0.3, 0.1, 0.0], n=30)


def answers(chances):
    """Users whom each algorithm serves with its chance."""
    hits = np.random.default_rng(2).random((len(chances), 300)) < np.array(chances)[:, None]
    return {"films": Responses.from_array(hits.astype(int), respondents=[f"a{i:02d}" for i in range(len(chances))])}


APART, ALIKE = answers([0.7, 0.3, 0.2]), answers([0.4, 0.4, 0.4])
WORDS = [
    ("is first under all 10 aggregations", ranked, CLEAR, DISPUTED),
    ("The aggregations disagree on who is first", ranked, DISPUTED, CLEAR),
    ("tied with a01 under", ranked, TWINS, CLEAR),
    ("Too little data", ranked, FEW, CLEAR),
    ("chance of leading again", ranked, CLEAR, FEW),
    ("is the clear winner", ranked, CLEAR, chance()),
    ("any of the 4 algorithms could be best", ranked, chance(), CLEAR),
    ("a00 beats a01", ranked, CLEAR, chance()),
    ("share the best mean rank", ranked, TWINS, CLEAR),
    ("of 10 pairs significant; it differs from the verdict on", compare_algorithms, matrix(opposed()), CLEAR),
    (
        "Against the order of the mean ranks, Wilcoxon-Holm favours a01 over a00",
        compare_algorithms,
        matrix(opposed()),
        CLEAR,
    ),
    ("Friedman's test rejects that all algorithms perform alike", compare_algorithms, CLEAR, chance()),
    ("Friedman's test does not reject", compare_algorithms, chance(), CLEAR),
    ("No pair can be decided: even winning all 4 datasets", compare_algorithms, FEW, CLEAR),
    ("cannot be significant with 7 datasets", compare_algorithms, ladder([0.3, 0.2, 0.1, 0.0], n=7), CLEAR),
    ("ends first (", rate_algorithms, CLEAR, FEW),
    ("By the 1PL model alone, a00 has a higher ability on these users than a01", fit_user_irt, APART, ALIKE),
    ("it would win", partial(rate_by_pairs, replicates=100), chance(n=12), FEW),
    ("survives when", stressed, LONG, matrix(np.random.default_rng(1).random((4, 8)))),
    ("does not survive", stressed, matrix(np.random.default_rng(1).random((4, 8))), LONG),
    ("No single dataset decides it", stressed, LONG, DISPUTED),
    ("Single datasets decide it", stressed, DISPUTED, LONG),
    ("The whole order survives that", stressed, LONG, chance()),
]


@pytest.mark.parametrize(("words", "analysis", "must", "must_not"), WORDS, ids=[case[0] for case in WORDS])
def test_words_stand_where_they_must_and_only_there(words, analysis, must, must_not):
    assert words in said(analysis(must))
    assert words not in said(analysis(must_not))


def test_below_five_datasets_there_is_no_p_no_probability_and_no_first_over_all():
    found = recassay.analyze(Results.from_frame(synthetic_results(4, seeds=1)), replicates=200)
    told = " ".join(found.verdict)
    assert found.verdict[0].startswith("Too little data")
    for words in ("probability", "adjusted p", "p < ", "% interval", "bootstrap replicates over the datasets"):
        assert words not in told.replace("no probability", ""), words


def test_one_winner_through_the_verdict_and_who_disagrees_is_said_next():
    results = {
        "rank": rank_algorithms(DISPUTED, replicates=100),
        "ratings": rate_by_pairs(DISPUTED, replicates=100),
        "glicko": rate_algorithms(DISPUTED),
    }
    assert len(set(leaders(results).values())) == 1
    assert "Not every way to judge" not in " ".join(verdict(results))
    other = matrix(DISPUTED.values[[1, 0, 2]])
    results["ratings"] = rate_by_pairs(other, replicates=100)
    assert leaders(results) == {"rank": "a01", "ratings": "a00", "glicko": "a01"}
    assert "Not every way to judge puts a01 first; others put there: a00 (ratings)." in verdict(results)


@pytest.fixture(scope="module")
def report():
    frame = synthetic_results(8, seeds=2)
    traits = pl.DataFrame({"dataset": frame["dataset"].unique(maintain_order=True)}).with_columns(
        (pl.Series(name, np.random.default_rng(i).random(8)) for i, name in enumerate(("users", "items", "density")))
    )
    return recassay.analyze(Results.from_frame(frame), "ndcg@10", replicates=200, characteristics=traits)


NUMBER = re.compile(r"(?<![\w.@-])[-+]?\d[\d,]*(?:\.\d+)?(?![\w@])")
CONSTANTS = {0.0, 1.0, 2.0, 3.0, 5.0, 95.0, 0.05, 0.5, 1000.0, 5000.0, 0.001, 0.01, 0.99, 20.0}
"""Levels and limits that a sentence states as such."""


def numbers_of(value):
    """Every number of plain data, and how many things each list and mapping holds."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, (int, float)):
        yield float(value)
    elif isinstance(value, str):
        return
    else:
        yield float(len(value))
        for inner in value.values() if isinstance(value, dict) else value:
            yield from numbers_of(inner)


def test_every_number_in_words_is_in_the_json(report):
    whole = report.to_dict()
    names = sorted([*report.results.algorithms, *report.results.datasets, "ndcg@10", "coverage@10"], key=len)[::-1]
    unfounded = []
    count = 0
    for section, name, result in with_sections(report.analyses):
        known = np.unique([*numbers_of(plain(whole["analyses"][name])), float(len(report.results.datasets))])
        pairs = np.array([a - b for a, b in itertools.product(known[known == known.round()], repeat=2)])
        for sentence in section.sentences(result):
            text = sentence
            for one in names:
                text = text.replace(one, "X")
            for token in NUMBER.findall(text):
                count += 1
                digits = len(token.partition(".")[2])
                value = abs(float(token.replace(",", "")))
                stated = (known, 100 * known, 100 * (known - 1))  # as it is, a share in percent, a ratio as a gain
                close = [np.abs(np.abs(one) - value) <= 0.5 * 10**-digits + 1e-9 for one in stated]
                counted = digits == 0 and (pairs == value).any() and value <= 40
                if not (np.any(close) or counted or value in CONSTANTS):
                    unfounded.append((name, token, sentence))
    assert count > 80
    assert unfounded == []


@pytest.mark.slow
def test_no_sentence_claims_equality_or_overlap(report):
    told = " ".join(report.verdict)
    for words in ("do not differ", "does not differ", "overlap", "cannot be told apart", "drawn anew, Oracle stays"):
        assert words not in told


def test_the_json_says_who_leads_and_what_to_be_wary_of(report):
    told = report.to_dict()
    assert told["leaders"]["rank"] == "Oracle"
    assert set(told["leaders"]) >= {"rank", "ratings", "model", "beta_irt", "glicko"}
    assert told["cautions"] == report.cautions
