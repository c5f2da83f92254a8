"""What `irt` shows on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recassay.cli.render import print_lines, print_table

if TYPE_CHECKING:
    from recassay.analysis.beta_irt.result import BetaIRTResult
    from recassay.analysis.logistic_irt.result import LogisticResult
    from recassay.analysis.user_irt.result import UserIRTResult


def show_logistic(result: LogisticResult, *, most: int = 30) -> None:
    """Abilities and true scores, ablest first, then what the items are like."""
    rows = result.to_frame().to_dicts()
    print_table(
        f"{result.model.upper()}: abilities ({result.abilities.method}) of {len(rows)} respondents on "
        f"{len(result.items.names)} items",
        ["respondent", "ability", f"{100 * result.confidence:.3g} %", "true score", "accuracy"],
        [
            [
                row["respondent"],
                f"{row['ability']:.3f}",
                f"{row['ability_low']:.2f} to {row['ability_high']:.2f}",
                f"{row['true_score']:.3f}",
                f"{row['accuracy']:.3f}",
            ]
            for row in rows[:most]
        ],
    )
    if len(rows) > most:
        print_lines([f"and {len(rows) - most} more (--json or --out DIR has all)"])
    found = result.summary()
    print_lines(
        [
            f"Items: discrimination {found['mean_discrimination']:.2f} (deviation "
            f"{found['discrimination_deviation']:.2f}), difficulty {found['mean_difficulty']:.2f} "
            f"({found['difficulty_deviation']:.2f}), guessing {found['mean_guessing']:.2f} "
            f"({found['guessing_deviation']:.2f}); {100 * found['negative_share']:.1f} % discriminate negatively.",
            *result.notes,
        ]
    )


def show_user_irt(result: UserIRTResult) -> None:
    """Abilities on all users, then a line a dataset: its users, its ablest, and how well its users are known."""
    name, main = next(iter(result.fits.items()))
    print_table(
        f"{result.model.upper()}: algorithms on the users of {name}, hit by {result.metric}",
        ["algorithm", "ability", f"{100 * result.confidence:.3g} %", "hit rate"],
        [
            [
                row["algorithm"],
                f"{row['ability']:.3f}",
                f"{row['low']:.2f} to {row['high']:.2f}",
                f"{row['hit_rate']:.3f}",
            ]
            for row in result.to_frame().to_dicts()
            if row["dataset"] == name
        ],
    )  # fmt: skip
    print_table(
        "Users",
        ["dataset", "users", "telling", "ablest", "P(ablest)", "discrimination", "difficulty", "reliability"],
        [
            [
                row["dataset"],
                row["users"],
                row["telling_users"],
                found.lead()[0],
                f"{found.lead()[2]:.3f}",
                f"{row['mean_discrimination']:.2f} ({row['discrimination_deviation']:.2f})",
                f"{row['mean_difficulty']:.2f} ({row['difficulty_deviation']:.2f})",
                " / ".join(f"{value:.2f}" for value in found.reliability().values()),
            ]
            for row, found in zip(result.datasets_frame().to_dicts(), result.fits.values(), strict=True)
        ],
    )  # fmt: skip
    print_lines(
        [
            "Telling: users whom some algorithms serve and others do not. P(ablest): over the second. Reliability: of "
            "abilities / of the users' difficulties [/ of their discriminations]; below 0.5 single values are mostly "
            f"noise, as they rest on {len(main.fit.respondents)} algorithms each.",
            *result.notes,
        ]
    )


def show_beta_irt(result: BetaIRTResult) -> None:
    """A table of respondents and one of items for each direction, then the fit and the warnings."""
    for direction in result.directions:
        respondent, level, slope = direction.traits
        who, what = ("algorithm", "dataset") if direction.number == 1 else ("dataset", "algorithm")
        for name, key in ((respondent, who), (level, what)):
            trait = direction.traits[name]
            steep = direction.traits[slope]
            rows = [[trait.names[i], _span(trait, i)] for i in trait.order()]
            header = [key, name.replace("_", " ")]
            if name == level:
                header += [slope, "P(> 0)"]
                for row, i in zip(rows, trait.order(), strict=True):
                    row += [_span(steep, i), f"{direction.probability_positive[i]:.3f}"]
            print_table(f"Direction {direction.number}: {who}s on {what}s, {result.metric}", header, rows)
        print_lines(
            [
                f"Fit: mean squared error {direction.mse:.3g}, log-likelihood {direction.log_likelihood:.1f}, "
                f"reliability {direction.reliability:.2f}",
                "",
            ]
        )
    told = {
        "beta": "The responses follow the Beta density of the model.",
        "precision": "The responses follow a Beta density around the curves with a precision of its own",
        "bi-reirt": "The curves have the smallest squared error.",
    }[result.estimator]
    if result.heights and result.estimator == "precision":
        gain = result.heights["precision"] - result.heights["beta"]
        told += f": {gain:.0f} units of log-likelihood better than the model's own."
    print_lines([told, *(f"Warning: {note}" for note in result.warnings)])


def _span(trait: object, i: int) -> str:
    estimate, low, high = (float(getattr(trait, key)[i]) for key in ("estimate", "low", "high"))
    return f"{estimate:.3f} [{low:.3f}, {high:.3f}]"
