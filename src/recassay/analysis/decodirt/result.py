"""What the classifier benchmark concluded, as tables and plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.decodirt.bins import PARAMETERS, Bin, dataset_table
from recassay.analysis.decodirt.metadata import MetadataCorrelations
from recassay.analysis.decodirt.ratings import Baselines, SetRatings, baselines
from recassay.analysis.decodirt.subset import Recommendation
from recassay.analysis.decodirt.traits import DatasetTraits, ItemCalibration
from recassay.analysis.glicko.result import GlickoResult
from recassay.core import columns as c
from recassay.core.system.display import Displayed, worded
from recassay.core.system.plain import plain
from recassay.core.tabular import by_name, long_frame, stated


@dataclass(frozen=True, slots=True, eq=False)
class DecodirtResult(Displayed):
    """The classifier benchmark: datasets, classifiers and a recommended subset."""

    traits: tuple[DatasetTraits, ...]
    """The datasets in the order given, each with its items and the abilities of its respondents."""
    players: tuple[str, ...]
    """The rated classifiers."""
    roles: Mapping[str, str]
    """By respondent, what it is: `real`, `artificial` or `mlp`."""
    bins: tuple[Bin, ...]
    """The datasets binned by mean difficulty, the hardest first."""
    correlations: MetadataCorrelations
    """How properties of the datasets go with their item parameters."""
    metadata_bins: Mapping[str, tuple[Bin, ...]]
    """By property of the datasets, bins by it, the least first."""
    ratings: tuple[SetRatings, ...]
    """Glicko-2 ratings of the players on each of six sets of datasets: all by difficulty, all by discrimination, and
    the halves that vary least and most in either."""
    recommendation: Recommendation | None
    """The half of the datasets that is recommended, and how far its ratings agree with those on all; None with a single
    dataset."""
    how: ItemCalibration
    """How items were calibrated and abilities estimated."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know: fits that did not converge, datasets that say nothing, answers that are missing."""
        return tuple(worded("decodirt", "notes", self))

    def set_ratings(self, name: str) -> SetRatings:
        """The ratings on the set of that name."""
        return next(rated for rated in self.ratings if rated.set.name == name)

    def checks(self) -> dict[str, dict[str, Baselines]]:
        """For every set, with and without negative instances: where the artificial bounds ended."""
        return {
            rated.set.name: {variant: baselines(result) for variant, result in rated.variants()}
            for rated in self.ratings
        }

    def most_negative(self) -> DatasetTraits | None:
        """The dataset with the largest share of negative discriminations; None where none is negative."""
        worst = max(self.traits, key=lambda traits: traits.statistics()["negative_share"])
        return worst if worst.negative else None

    def to_frame(self) -> pl.DataFrame:
        """One row per dataset, hardest first (Table 4)."""
        return dataset_table(self.traits, self.bins)

    def scores_frame(self) -> pl.DataFrame:
        """One row per dataset and respondent: ability and true score, with and without negative instances (Fig. 9)."""
        return pl.concat(
            long_frame(
                {c.DATASET: [traits.dataset], "respondent": traits.respondents},
                {
                    "role": traits.roles,
                    "accuracy": traits.scored.accuracies,
                    "ability": traits.scored.abilities.estimate,
                    ("ability_low", "ability_high"): traits.scored.ability_intervals,
                    "true_score": traits.scored.true_scores,
                    "probability": traits.probabilities(negative=True),
                    "ability_without_negative": traits.kept_ability,
                    "true_score_without_negative": traits.kept_true_score,
                    "probability_without_negative": traits.probabilities(negative=False),
                },
            )
            for traits in self.traits
        )

    def mean_scores_frame(self) -> pl.DataFrame:
        """One row per respondent: the mean over datasets of the probability of a right answer (true score / items)."""
        keys = ("probability", "probability_without_negative", "accuracy")
        means = [pl.col(key).mean() for key in keys]
        frame = self.scores_frame().group_by("respondent", "role", maintain_order=True)
        return frame.agg(*means, pl.len().alias("datasets")).sort("probability", "respondent", descending=[True, False])

    def items_frame(self) -> pl.DataFrame:
        """One row per test instance: its parameters with intervals, and whether its discrimination is negative."""
        return pl.concat(
            traits.fit.items_frame().select(
                pl.lit(traits.dataset).alias(c.DATASET), pl.all(), pl.Series("negative", ~traits.kept)
            )
            for traits in self.traits
        )

    def bins_frame(self) -> pl.DataFrame:
        """One row per bin of a property (`difficulty` among them): its range, datasets and mean item parameters."""
        rows = [
            {
                "property": name,
                "bin": group.number,
                "low": group.low,
                "high": group.high,
                "size": len(group.datasets),
                **group.parameters,
                "datasets": ", ".join(group.datasets),
            }
            for name, bins in self._all_bins().items()
            for group in bins
        ]
        return pl.DataFrame(rows).fill_nan(None)

    def probability_frame(self) -> pl.DataFrame:
        """One row per bin and rated classifier: its mean probability of a right answer (Figures 14 to 16)."""
        rows = [
            (name, group.number, len(group.datasets), player, chance)
            for name, bins in self._all_bins().items()
            for group in bins
            for player, chance in group.probability.items()
        ]
        schema = ["property", "bin", "size", "classifier", "probability"]
        return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)

    def history_frame(self) -> pl.DataFrame:
        """One row per set, dataset and classifier, in the order of play (Figures 12 and 13)."""
        return self._over_sets(lambda result: result.history_frame())

    def ratings_frame(self) -> pl.DataFrame:
        """One row per set, variant and classifier (Tables 5 to 9)."""
        return self._over_sets(lambda result: result.to_frame().with_row_index(c.RANK, offset=1))

    def _over_sets(self, table: Callable[[GlickoResult], pl.DataFrame]) -> pl.DataFrame:
        """A table of the ratings on every set, with and without negative instances; empty without sets."""
        parts = [
            table(result)
            .rename({c.ALGORITHM: "classifier"})
            .select(pl.lit(rated.set.name).alias("set"), pl.lit(variant).alias("instances"), pl.all())
            for rated in self.ratings
            for variant, result in rated.variants()
        ]
        return pl.concat(parts) if parts else pl.DataFrame()

    def _all_bins(self) -> dict[str, tuple[Bin, ...]]:
        return {"difficulty": self.bins, **self.metadata_bins}

    def frames(self) -> dict[str, pl.DataFrame]:
        """Every table, that of the datasets first."""
        tables = {
            "decodirt_datasets": self.to_frame(),
            "decodirt_bins": self.bins_frame(),
            "decodirt_scores": self.scores_frame(),
            "decodirt_mean_scores": self.mean_scores_frame(),
            "decodirt_items": self.items_frame(),
            "decodirt_correlations": self.correlations.to_frame(),
            "decodirt_probabilities": self.probability_frame(),
            "decodirt_ratings": self.ratings_frame(),
            "decodirt_history": self.history_frame(),
        }
        return {name: frame for name, frame in tables.items() if frame.height}

    def to_dict(self) -> dict[str, Any]:
        """`datasets`, `bins`, `true_score`, `correlations`, `probability`, `ratings`, `recommended`, `notes`.

        Item parameters are in the table `decodirt_items`; here each dataset names its negative instances.
        """
        return {
            "datasets": self._datasets(),
            "bins": [_bin(each) for each in self.bins],
            "true_score": {each.dataset: _scores(each) for each in self.traits},
            "mean_probability": {
                row.pop("respondent"): row for row in self.mean_scores_frame().to_dicts()
            },
            "correlations": [
                {**{k: row[k] for k in ("kind", "left", "right", "pearson")}, "interval": [row["low"], row["high"]],
                 **{k: row[k] for k in ("p", "p_holm", "spearman", "datasets")}}
                for row in self.correlations.to_frame().to_dicts()
            ],
            "probability": {name: [_bin(each) for each in bins] for name, bins in self.metadata_bins.items()},
            "ratings": {each.set.name: _set(each) for each in self.ratings},
            "recommended": None if self.recommendation is None else _recommended(self.recommendation),
            "rated": list(self.players),
            "settings": {"model": "3pl", "estimator": self.how.estimator, "ability": self.how.ability,
                         "items_from": list(self.how.roles)},
            "notes": list(self.notes),
        }  # fmt: skip

    def _datasets(self) -> dict[str, Any]:
        """By dataset, the hardest first, its row of the table with the statistics of each parameter together."""
        datasets = {}
        traits_of = {traits.dataset: traits for traits in self.traits}
        for row in self.to_frame().to_dicts():
            name = row.pop(c.DATASET)
            for parameter in PARAMETERS:
                keys = {
                    "mean": f"mean_{parameter}",
                    "median": f"median_{parameter}",
                    "deviation": f"{parameter}_deviation",
                }
                row[parameter] = {statistic: row.pop(key) for statistic, key in keys.items()}
            metadata = dict(traits_of[name].metadata)
            datasets[name] = {**row, "negative_items": traits_of[name].negative, "metadata": metadata}
        return datasets


def _bin(group: Bin) -> dict[str, Any]:
    return {
        "bin": group.number, "low": group.low, "high": group.high, "datasets": list(group.datasets), **group.parameters,
        "probability": group.probability,
    }  # fmt: skip


def _scores(traits: DatasetTraits) -> dict[str, Any]:
    columns = np.stack([traits.scored.abilities.estimate, traits.scored.true_scores, traits.kept_true_score], axis=1)
    scores: dict[str, Any] = by_name(columns, traits.respondents, ("ability", "all_instances", "without_negative"))
    return scores


def _set(rated: SetRatings) -> dict[str, Any]:
    data: dict[str, Any] = {"title": rated.set.title, "order": rated.set.by, "datasets": list(rated.set.datasets)}
    for variant, result in rated.variants():
        full = result.to_dict()
        data[variant] = {
            "ratings": full["ratings"],
            "random_orders": full["random_orders"],
            **stated(baselines(result), "above_optimal", "below_pessimal"),
            "tau": result.tau,
            "notes": full["notes"],
        }
    return data


def _recommended(subset: Recommendation) -> dict[str, Any]:
    return {
        "set": subset.set.name,
        **stated(subset, "datasets", "left_out", "rule"),
        "kendall_tau": subset.tau,
        "random_kendall_tau": plain(subset.random_tau),
        "beaten_random_subsets": subset.beaten,
        "overlap_of_least": subset.overlap,
        "candidates": {
            candidate.set.name: {
                "datasets": list(candidate.set.datasets),
                **stated(candidate.baselines, "above_optimal", "below_pessimal"),
                "separated": candidate.separated,
                "kendall_tau": candidate.tau,
            }
            for candidate in subset.candidates
        },
    }
