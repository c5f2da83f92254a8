"""Significance: which differences are more than luck."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from recassay.analysis.compare.result import CompareResult
from recassay.analysis.verdict.result import PairVerdict, Verdict
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.tables.labels import metric_name
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of, listing
from recassay.plots.compare import plot_critical_difference, plot_pairwise
from recassay.reporting.headline import drawn_axis, drawn_points
from recassay.reporting.numbers import p_text, p_value, sized
from recassay.reporting.section import Brief, Plot, Plots, Section, Table
from recassay.reporting.words import verdict as verdict_words
from recassay.reporting.words.compare import iman_davenport, sentences
from recassay.reporting.words.missing import missing_cells
from recassay.reporting.words.pairs import (
    control_headline,
    control_scope,
    effect_cells,
    letter_groups,
    neighbours,
    pairs_headline,
    status_text,
    units,
)
from recassay.reporting.words.verdict import TESTS, pair_sentence

BARS = {
    "sign-flips": "the test of all pairs (flipped signs) does not separate at the {alpha:g} level",
    "wilcoxon-holm": "Wilcoxon-Holm does not separate at the {alpha:g} level",
    "nemenyi": "are nearer than Nemenyi's critical difference of {cd:.2f} at the {alpha:g} level",
    "bayesian": "the Bayesian signed-rank test does not separate with probability {credibility:g}, each pair by "
    "itself: it is not corrected for the number of pairs",
}

LINES = 25
"""Pairs that a brief answer has room for."""

LINE = 26
"""Characters of a line that joins the algorithms of a group."""


def brief(result: CompareResult, words: Vocabulary = USUAL) -> Brief:
    """What is known of the pairs: of all of them, or of those of the control."""
    verdict = result.judgement
    if verdict.grade == "not_comparable":
        return Brief(pairs_headline(verdict, words))
    caution, undecidable = verdict_words.caution(verdict, words), verdict.grade == "too_little_data"
    if verdict.control is not None:
        better = frozenset(pair.b for pair in verdict.against(verdict.control) if pair.status == "better")
        next_step = verdict_words.next_step(verdict, words) if undecidable else None
        return Brief(
            control_headline(verdict, words), control_table(verdict, words), better, (control_scope(verdict, words),),
            caution if verdict.missing.cells else None, next_step,
        )  # fmt: skip
    few = undecidable or len(verdict.algorithms) == 2
    pair = verdict.pairs[0]
    sentences: tuple[str, ...] = (neighbours(verdict, words),)
    if (
        len(verdict.algorithms) == 2 and not undecidable
    ):  # the row says it all, but for a p below alpha that decides not
        sentences = () if pair.status == "better" or pair.p >= verdict.alpha else (pair_sentence(verdict, pair, words),)
    return Brief(
        pairs_headline(verdict, words),
        pair_table(verdict, words, LINES) if few else group_table(verdict, words),
        sentences=sentences,
        caution=caution,
        next_step=verdict_words.next_step(verdict, words),
    )


def group_table(verdict: Verdict, words: Vocabulary = USUAL) -> Table:
    """The critical-difference diagram in text: one line per group of which no pair is shown to differ."""
    count = len(verdict.algorithms)
    rows = [
        [letter, ", ".join(verdict.algorithms[place] for place in places), _drawn_group(verdict, places)]
        for letter, places in letter_groups(verdict)
    ]
    axis = drawn_axis(count, "mean rank", LINE)
    return Table(
        f"Groups of {words.algorithms} that are not shown to differ: {metric_name(verdict.metric)}",
        ["group", f"{words.algorithms} not shown to differ", axis],
        rows,
        names=2,
        important=[f"{words.algorithms} not shown to differ", axis],
        notes=[f"Two {words.algorithms} that share no line differ: one is shown to be better."],
    )


def _drawn_group(verdict: Verdict, places: Sequence[int]) -> str:
    """The mean ranks of a group on an axis from 1 to the number of algorithms, joined by a line."""
    ranks = [float(verdict.mean_rank[place]) for place in places]
    return drawn_points(ranks, len(verdict.algorithms), LINE)


def pair_table(verdict: Verdict, words: Vocabulary = USUAL, most: int | None = None) -> Table:
    """Every pair by the verdict, or the first `most`; of more than 60 algorithms those that JSON lists."""
    pairs = verdict.listed(verdict.pairs) if most is None else verdict.pairs[:most]
    return _verdict_table(
        verdict, "Pairs by the verdict (left has the better mean rank)", ["left", "right"],
        (((pair.a, pair.b), pair) for pair in pairs), "left is", words,
    )  # fmt: skip


def control_table(verdict: Verdict, words: Vocabulary = USUAL) -> Table:
    """The control against every other, by the verdict."""
    name = str(verdict.control)
    return _verdict_table(
        verdict, f"{name} (the control) against every other, by the verdict", [f"{name} against"],
        (((pair.b,), pair) for pair in verdict.against(name)), f"{name} is", words,
    )  # fmt: skip


def _verdict_table(
    verdict: Verdict,
    title: str,
    names: Sequence[str],
    pairs: Iterable[tuple[tuple[str, ...], PairVerdict]],
    status: str,
    words: Vocabulary,
) -> Table:
    """Effect with interval, wins, corrected p and status of pairs; below the fewest datasets only what was observed."""
    metric, level = metric_name(verdict.metric), f"{100 * (1 - verdict.alpha):g} % interval"
    decidable = verdict.grade != "too_little_data"
    rows = [
        (
            *who,
            *effect_cells(pair),
            f"{pair.wins}-{pair.ties}-{pair.losses}",
            p_value(pair.p),
            status_text(verdict, pair),
        )
        for who, pair in pairs
    ]
    header = [*names, metric, level, "won-tied-lost", "p", status]
    shown = [place for place, name in enumerate(header) if decidable or name not in ("p", status)]
    shown = [place for place in shown if header[place] != level or any(row[place] for row in rows)]
    margin = f"(< {100 * verdict.within:g} %)"
    little = f" {margin}: also shown to differ by less than that." if any(margin in row[-1] for row in rows) else ""
    better_by = "" if verdict.higher_is_better else " The effect is by how much the first is better."
    return Table(
        title,
        [header[place] for place in shown],
        [[row[place] for place in shown] for row in rows],
        names=len(names),
        important=[*names[1:], status, metric, level, "p", "won-tied-lost"],
        notes=[
            f"{metric}: on a typical {words.dataset} (Hodges and Lehmann){'; p is adjusted' if decidable else ''}."
            f"{better_by}{little}"
        ],
    )


def tables(result: CompareResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """By the verdict the control, the groups and every pair; then what the procedures of papers say."""
    verdict = result.judgement
    if verdict.grade != "not_comparable":
        if verdict.control is not None:
            yield control_table(verdict, words)
        if len(verdict.algorithms) > 2 and verdict.grade != "too_little_data":
            yield group_table(verdict, words)
        yield pair_table(verdict, words)
    yield from _control_witnesses(result)
    yield _rank_witnesses(result, words)
    below = f"Holm < {result.alpha:g}"
    yield Table(
        "Witnesses: every pair by Wilcoxon-Holm and by the Bayesian signed-rank test",
        ["left", "right", "Wilcoxon p", "Holm p", below, "rank-biserial", "Bayes P(left)", "Bayes P(rope)",
         "Bayes P(right)"],
        [
            [p.left, p.right, p_value(p.p), p_value(p.p_holm), _yes(p.significant), f"{p.rank_biserial:+.2f}",
             f"{b.p_left:.3f}", f"{b.p_rope:.3f}", f"{b.p_right:.3f}"]
            for p, b in zip(result.pairs, result.bayesian, strict=True)
        ],
        names=2,
        important=["right", "Holm p", below, "Bayes P(left)", "rank-biserial", "Bayes P(right)"],
        notes=["These procedures are common in papers; the verdict does not rest on them and may differ from them."],
    )  # fmt: skip


def _yes(holds: bool) -> str:
    return "yes" if holds else ""


def _rank_witnesses(result: CompareResult, words: Vocabulary) -> Table:
    """Mean ranks with Friedman's test, and what each rule of papers does not separate."""
    f = result.friedman
    p = p_text(f.p) if f.least_p is None else f"p <= {f.least_p:g}"
    notes = [
        f"Friedman {p} ({f.way}); as papers quote it: chi-square {f.chi_square:.4g} ({p_text(f.p_value)}), "
        f"Iman-Davenport F {iman_davenport(result, words)}, corrected for ties {f.chi_square_ties:.4g} "
        f"({p_text(f.p_value_ties)}).",
        f"Nemenyi critical difference {result.nemenyi_cd:.4g} at {result.alpha:g}.",
    ]
    for rule, title in WITNESSES.items():
        groups = "; ".join(listing(group, most=None) for group in result.groups[rule])
        notes.append(f"Neighbours that {title} does not separate: {groups or 'none'}.")
    if result.judgement.families is not None:
        notes.append(
            f"Every test counts {units(result.judgement, words)}: mean differences and mean ranks within a family are "
            "one observation."
        )
    if result.missing.cells:
        notes.append(missing_cells(result.missing, words))
    rows = [[name, f"{rank:.3f}"] for name, rank in zip(result.algorithms, result.mean_ranks, strict=True)]
    size = sized(result.algorithms, result.datasets, words)
    title = f"Witnesses: mean ranks with Friedman's and Nemenyi's tests, {result.metric}, {size}"
    return Table(title, [words.algorithm, "mean rank"], rows, notes=notes)


WITNESSES = {
    "wilcoxon_holm": "Wilcoxon-Holm",
    "bayesian": "the Bayesian signed-rank test (each pair by itself)",
    "nemenyi": "Nemenyi's test",
}


def _control_witnesses(result: CompareResult) -> Iterator[Table]:
    if result.control is None:
        return
    holm, dunn = f"Holm < {result.alpha:g}", f"Dunn < {result.alpha:g}"
    yield Table(
        f"Witnesses: {result.control.name} (the control) by Wilcoxon-Holm and by Bonferroni-Dunn, {result.metric}",
        {"other": "{other}", "Wilcoxon p": "{p:p}", "Holm p": "{p_holm:p}",
         holm: lambda pair: _yes(pair.significant), "Dunn z": "{z:+.2f}", "Dunn p": "{p_dunn:p}",
         dunn: lambda pair: _yes(pair.p_dunn < result.alpha)},
        result.control.pairs,
        important=["Holm p", holm, "Dunn p"],
        notes=[
            f"Holm's correction is over {count_of(len(result.control.pairs), 'comparison')}. Bonferroni and Dunn's "
            f"critical difference in mean rank is {result.control.dunn_cd:.3f}."
        ],
    )  # fmt: skip


def _diagram_caption(result: CompareResult, words: Vocabulary) -> str:
    ranks, size = "Mean ranks (further left is better)", count_of(len(result.datasets), words.dataset)
    if len(result.datasets) < FEWEST_DATASETS:
        return f"{ranks} on {size}, too few for a test."
    if result.control is not None:
        test = TESTS[result.judgement.test]
        return f"{ranks}. {result.control.name} is the control; a star: shown to differ from it ({test})."
    if result.bars == result.judgement.test and result.judgement.grade == "too_little_data":
        return f"{ranks} on {size}, too few to decide any pair."
    joined = BARS[result.bars].format(alpha=result.alpha, cd=result.nemenyi_cd, credibility=result.credibility)
    if not result.drawn:
        return f"{ranks}; no bar: there are no neighbours that {joined}."
    return f"{ranks}; a bar joins {words.algorithms} that {joined}.{_not_joined(result, words)}"


def _not_joined(result: CompareResult, words: Vocabulary) -> str:
    """Pairs that the verdict does not separate although one between them differs: no bar of neighbours joins them."""
    if result.bars != result.judgement.test:
        return ""
    joined = {(a, b) for group in result.drawn for i, a in enumerate(group) for b in group[i + 1 :]}
    columns = result.judgement.pairs.columns
    alike = zip(columns["a"][~result.judgement.better], columns["b"][~result.judgement.better], strict=True)
    unjoined = [f"{a} and {b}" for a, b in alike if (a, b) not in joined]
    if not unjoined:
        return ""
    return f" Not separated either, with another {words.algorithm} between them: {listing(unjoined, most=4)}."


FIGURES = Plots([
    Plot("critical_difference", _diagram_caption, plot_critical_difference, "mean_ranks"),
    Plot("pairs", "Every pair. Above the diagonal the adjusted p of the verdict's test: blue where the row is better, "
         "green where the two are equivalent, grey where the data do not decide. Below it, uncoloured, the posterior "
         "probability that the row is better, not corrected for the number of pairs.", plot_pairwise,
         when=lambda result: len(result.datasets) >= FEWEST_DATASETS),
])  # fmt: skip
SECTION = Section(
    CompareResult, "Differences over {datasets}", "significance", "compare", FIGURES, sentences, tables, order=10,
    brief=brief,
)  # fmt: skip
