"""Which analysis draws a figure, so that a figure can be asked for by its name without running them all."""

from __future__ import annotations

FIGURES_OF = {
    "rank": ("leaderboard", "rank_intervals"),
    "compare": ("critical_difference", "pairs"),
    "users": ("user_differences",),
    "model": ("model_probabilities", "model_beats"),
    "ratings": ("ratings", "win_rates"),
    "profiles": ("performance_profiles",),
    "stress": ("stress_conclusions", "stress_signs", "stress_datasets", "stress_algorithms", "stress_additions"),
    "correlations": ("metric_correlations",),
    "beta_irt": ("irt_traits", "irt_datasets", "irt_algorithms"),
    "glicko": ("glicko_ranks", "glicko_ratings"),
    "user_irt": ("user_abilities",),
    "decodirt": (
        "decodirt_datasets", "decodirt_bins", "decodirt_deviation", "decodirt_true_scores", "decodirt_correlations",
        "decodirt_ratings",
    ),
    "pareto": ("pareto",),
    "comper": ("comper_scores", "comper_dimensions", "comper_sensitivity"),
    "strata": ("popularity_strata", "popularity_sensitivity", "popularity_curve", "popularity_shares"),
    "per_dataset": ("per_dataset", "per_dataset_intervals"),
    "associations": ("characteristics_and_performance", "mutual_information"),
    "clusters": ("dataset_clusters", "cluster_ranks"),
    "select": ("dataset_selection", "dataset_selection_curve"),
    "adaptive": ("adaptive_grid", "adaptive_curve"),
    "cost": ("cost_by_algorithm", "cost_by_dataset"),
}  # fmt: skip
"""The figures of each analysis of ours; those of a plugin are asked for by the name of its analysis."""

DRAWN_BY = {figure: analysis for analysis, figures in FIGURES_OF.items() for figure in figures}
