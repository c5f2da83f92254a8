"""Performance profiles: how far each algorithm stays behind the best."""

from __future__ import annotations

from recassay.analysis.profiles import ProfilesResult
from recassay.reporting.section import Figure, Section, no_sentences


def figures(result: ProfilesResult) -> list[Figure]:
    """The profiles."""
    from recassay.plots.profiles import plot_profiles

    caption = (
        f"Share of the {result.n_datasets} datasets on which an algorithm is within a factor of the best: the curve "
        "that is higher and further left is better."
    )
    return [Figure("performance_profiles", caption, plot_profiles(result), "profiles")]


SECTION = Section(ProfilesResult, "Performance profiles", "leaderboard", "rank", figures, no_sentences, order=20)
