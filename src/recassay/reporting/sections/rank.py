"""The leaderboard: who is first under each aggregation, and how firmly."""

from __future__ import annotations

from recassay.analysis.rank.result import RankResult
from recassay.core.errors import listing
from recassay.reporting.section import Figure, Section, Table


def sentences(result: RankResult) -> list[str]:
    """Who is first, under how many aggregations, and how firmly."""
    leaders: dict[str, list[str]] = {}
    for ranking in result.rankings.values():
        for a, name in enumerate(result.algorithms):
            if ranking.ranks[a] == ranking.ranks.min():
                leaders.setdefault(name, []).append(ranking.rule.title)
    best = max(leaders, key=lambda name: len(leaders[name]))
    total = len(result.rankings)
    whole = f"{best} is first in {result.metric} under"
    over = f"aggregations over {len(result.datasets)} datasets"
    others = [f"{name} under {listing(titles, most=4)}" for name, titles in leaders.items() if name != best]
    if len(leaders[best]) == total:
        first = f"{whole} all {total} {over}" + (f", tied with {'; '.join(others)}." if others else ".")
    else:
        first = f"{whole} {len(leaders[best])} of {total} {over}; first or tied elsewhere: {'; '.join(others)}."
    place = result.algorithms.index(best)
    chances = [float(r.probability_best[place]) for r in result.rankings.values()]
    low, high = f"{min(chances):.2f}", f"{max(chances):.2f}"
    spread = f"{low} under every aggregation" if low == high else f"{low} to {high}, depending on the aggregation"
    firm = f"With the {result.resampled} drawn anew, {best} stays first with probability {spread}."
    notes = [f"{name} was left out: it {reason}." for name, reason in result.skipped.items()]
    missing = result.missing.sentence()
    return [first, firm, *notes, *([missing + "."] if missing else [])]


def tables(result: RankResult) -> list[Table]:
    """Ranks under every aggregation with the chance of being first, then the scores."""
    rankings = list(result.rankings.values())
    titles = [ranking.rule.short for ranking in rankings]
    ranks, scores = [], []
    for a in result.order():
        chances = [float(ranking.probability_best[a]) for ranking in rankings]
        name = result.algorithms[a]
        ranks.append([name, *(f"{r.ranks[a]:g}" for r in rankings), f"{min(chances):.2f}-{max(chances):.2f}"])
        scores.append([name, *(f"{r.scores[a]:.4g}" for r in rankings)])
    better = "higher" if result.higher_is_better else "lower"
    title = f"Ranks: {result.metric} ({better} is better) on {len(result.datasets)} datasets"
    return [
        Table(title, ["algorithm", *titles, "P(first)"], ranks, important=["P(first)"]),
        Table("Scores", ["algorithm", *titles], scores),
    ]


def figures(result: RankResult) -> list[Figure]:
    """Scores and ranks of every algorithm under every aggregation, and how firm the ranks are."""
    from recassay.plots.rank import plot_leaderboard, plot_rank_intervals

    caption = (
        f"Each algorithm's {result.metric} over {len(result.datasets)} datasets under {len(result.rankings)} "
        "aggregations: the number is the score, the darker the cell the better the rank."
    )
    firm = (
        f"The rank under each aggregation and where it lies in {100 * result.confidence:g} % of the bootstrap's "
        f"replicates, with the {result.resampled} drawn anew: a long line is a place that chance could have given."
    )
    return [
        Figure("leaderboard", caption, plot_leaderboard(result), "leaderboard"),
        Figure("rank_intervals", firm, plot_rank_intervals(result), "rankings"),
    ]


SECTION = Section(RankResult, "Leaderboard", "leaderboard", "rank", figures, sentences, tables, order=10)
