"""Checks of a paper: nothing certain on papers that are right, planted slips found, claims judged."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from tests.support.claims import CLAIMS, papers_of_claims
from tests.support.papers import LAYOUTS, SLIPS, latex, make, plant

import recassay
from recassay.reporting.words.review import certainty, flag_sentence

REFERENCE = Path(os.environ.get("RECASSAY_REFERENCE", Path(__file__).parents[3] / "shared" / "reference")) / "tex"


def review(folder, text: str, **options):
    place = folder / "paper.tex"
    place.write_text(text)
    return recassay.review(place, **options)


def table(rows: str, heads: str = "Method & HR@5 & HR@10 & NDCG@10", caption: str = "Results on Beauty.") -> str:
    width = heads.count("&")
    tabular = rf"\begin{{tabular}}{{l{'c' * width}}} {heads} \\ \midrule {rows} \\ \end{{tabular}}"
    return rf"\begin{{table}}\caption{{{caption}}}{tabular}\end{{table}}"


def codes(result):
    return [flag.code for flag in result.flags]


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_papers_without_a_slip_have_no_flag(tmp_path, layout):
    for seed in range(2):
        result = review(tmp_path, latex(make(np.random.default_rng([seed, 9]), layout)))
        assert result.counted() == {"certain": 0, "certain if": 0, "worth a look": 0}, result.flags


EXPECTED = {
    "bold on another": {"bold_not_best"}, "underline on another": {"underline_not_second"}, "improvement": {"gain"},
    "average": {"average"}, "above one": {"bounds"}, "decimal point": {"decimal_point", "broken"},
    "hit rate falls": {"broken"}, "nDCG above hit rate": {"broken"}, "nDCG at 10 off": {"broken"},
    "impossible share": {"impossible_share"}, "copied row": {"same_row"}, "two values": {"two_values"},
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS)
def test_a_planted_slip_is_found(tmp_path, slip):
    made = make(np.random.default_rng(4), "metrics in rows")
    assert plant(made, slip, np.random.default_rng(1))
    result = review(tmp_path, latex(made))
    assert EXPECTED[slip] & set(codes(result))
    for flag in result.flags:
        assert flag_sentence(flag)
        assert certainty(flag)


def test_a_metric_that_is_defined_otherwise_is_one_remark(tmp_path):
    rows = r" \\ ".join(f"M{i} & 0.1{i} & 0.2{i} & 0.4{i}" for i in range(6))
    result = review(tmp_path, table(rows, "Method & Recall@5 & Recall@10 & NDCG@10"))
    assert codes(result) == ["defined_otherwise"]
    assert result.flags[0].facts["count"] == 6


def test_a_value_that_breaks_several_identities_is_one_flag(tmp_path):
    result = review(tmp_path, table(r"A & .0555 & .0512 & .0530 \\ B & .0300 & .0400 & .0200"))
    assert codes(result) == ["broken"], "nDCG@10 above the same hit rate is not said again"
    assert result.flags[0].cells == ((1, 1), (1, 2))


def test_who_is_outside_of_the_comparison_spoils_no_marks(tmp_path):
    rows = r"Teacher & 0.30 & 0.40 & 0.25 \\ SASRec & 0.10 & 0.20 & 0.11 \\ "
    rows += r"Ours & \textbf{0.15} & \textbf{0.25} & \textbf{0.12}"
    assert codes(review(tmp_path, table(rows))) == ["out_of_competition"]


def test_grain_asks_for_the_users_that_were_judged(tmp_path):
    rows = r"A & 0.1001 & 0.2003 & 0.1001 \\ B & 0.0997 & 0.1999 & 0.0997"
    assert "impossible_share" not in codes(review(tmp_path, table(rows)))
    flagged = review(tmp_path, table(rows), users=100)
    assert "other_users" in codes(flagged)
    one = r"A & 0.10 & 0.22 & 0.10 \\ B & 0.15 & 0.25 & 0.12"
    assert [
        flag.facts["value"] for flag in review(tmp_path, table(one), users=20).flags if flag.code == "impossible_share"
    ] == ["0.22"]


def test_rows_of_p_values_are_no_improvements_and_small_percentages_no_shares(tmp_path):
    rows = r"A & 0.50 & 0.90 & 0.40 \\ B & 0.60 & 1.05 & 0.45 \\ C & 0.45 & 0.80 & 0.38 \\ p-value & 0.01 & 0.02 & 0.03"
    result = review(tmp_path, table(rows, caption=r"Results (\%) on Beauty."))
    assert (codes(result), result.tables[0].unit) == ([], 100)
    assert codes(review(tmp_path, table(rows))) == ["bounds"]


def test_significance_needs_a_test_that_can_reach_it(tmp_path):
    rows = r"A & 0.10 & 0.20 & 0.10 \\ B & 0.15* & 0.25* & 0.12*"
    assert "no_meaning" in codes(review(tmp_path, table(rows)))
    said = r"\begin{document} Stars mark p < 0.05 by the Wilcoxon test over four runs. \par"
    result = review(tmp_path, said + table(rows))
    flag = next(flag for flag in result.flags if flag.code == "unreachable")
    assert flag.certainty == "certain"
    assert flag.facts["smallest"] == 0.125
    assert "unreachable" not in codes(review(tmp_path, said.replace("four", "ten") + table(rows)))


def test_a_weak_baseline_is_shown_beside_what_others_report(tmp_path):
    rows = r"SASRec & 0.10 & 0.15 & 0.08 \\ BPR & 0.05 & 0.09 & 0.05"
    heads = r"& \multicolumn{3}{c}{ML-1M} \\ Method & HR@5 & HR@10 & NDCG@10"
    flags = [flag for flag in review(tmp_path, table(rows, heads)).flags if flag.family == "baselines"]
    assert {flag.facts["metric"] for flag in flags} == {"hitrate@10", "ndcg@10"}
    assert all(flag.certainty == "worth a look" and "leave-one-out" in flag.facts["protocol"] for flag in flags)


@pytest.mark.slow
def test_claims_are_judged_as_they_were_typed(tmp_path):
    papers, wrong = papers_of_claims(), []
    for name, sentence, truth in CLAIMS[::4]:
        claims = review(tmp_path, papers[name].replace("ABSTRACT", sentence.replace("%", r"\%"))).claims
        wrong += [] if claims and claims[0].standing == truth else [sentence]
    assert wrong == []


@pytest.mark.long
def test_all_typed_claims(tmp_path):
    papers, wrong = papers_of_claims(), []
    assert len(CLAIMS) == 100
    for name, sentence, truth in CLAIMS:
        claims = review(tmp_path, papers[name].replace("ABSTRACT", sentence.replace("%", r"\%"))).claims
        wrong += [] if claims and claims[0].standing == truth else [sentence]
    assert wrong == ["TidalRec significantly improves NDCG@10 over the baselines."]


def test_significantly_needs_the_verdict(tmp_path):
    text = papers_of_claims()["nova"].replace("ABSTRACT", "NovaRec significantly outperforms all baselines.")
    claims = review(tmp_path, text).claims
    assert [(claim.claim, claim.standing) for claim in claims] == [
        ("best", "follows"),
        ("significant", "cannot be checked"),
    ]


def test_nothing_of_authors_is_kept(tmp_path):
    text = (
        r"\documentclass{article}\author{Ada Example \\ ada@example.org}\begin{document}\author{Ada Example}"
        + table(r"A & 0.10 & 0.20 & 0.10 \\ B & 0.15 & 0.25 & 0.12")
    )
    assert "Ada" not in str(review(tmp_path, text).to_dict())


@pytest.mark.slow
def test_what_recassay_writes_for_a_paper_passes(tmp_path):
    recassay.paper("published:bi-reirt", out=tmp_path / "paper", figures=[])
    result = recassay.review(tmp_path / "paper")
    assert [table.kind for table in result.tables] == ["results", "results", "other", "other"]
    assert len(result.tables[0].entries) == 17 * 11
    assert not result.flags
    assert not [claim for claim in result.claims if claim.standing == "does not follow"]
    assert not result.notes


@pytest.mark.slow
@pytest.mark.skipif(not REFERENCE.is_dir(), reason="the tables of published papers are not here")
def test_known_slips_of_published_papers_are_found():
    result = recassay.review(next(REFERENCE.glob("recommender-systems*.tex")))
    slip = [flag for flag in result.flags if flag.table == 7]
    assert {(flag.family, flag.cells[0]) for flag in slip} == {("identities", (1, 2)), ("range", (1, 2))}
    assert any("0.03047" in flag_sentence(flag) for flag in slip)
    clean = recassay.review(next(REFERENCE.glob("text-is-all*.tex")))
    assert sum(each.what == "gain" for each in clean.tables[1].derived) == 17
    assert not clean.flags
