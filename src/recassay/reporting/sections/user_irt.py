"""Logistic IRT on the users of a study."""

from __future__ import annotations

from recassay.analysis.user_irt.result import UserIRTResult
from recassay.reporting.numbers import between, probability
from recassay.reporting.section import Figure, Section, Table

SURE = 0.95
WELL = 0.7


def sentences(result: UserIRTResult) -> list[str]:
    """Who is ablest on the users, whether that is sure, and how much is known of single users."""
    main = result.main
    first, second, sure = main.lead()
    if sure >= SURE:
        told = (
            f"Among these users {first} serves more than {second}, beyond chance (probability {probability(sure, 3)}); "
            "this says nothing of other datasets"
        )
    else:
        told = (
            f"Among these users no difference between {first} and {second} is shown (probability {probability(sure)} "
            f"that {first} serves more)"
        )
    telling = f"{main.telling} of {main.users} users tell algorithms apart"
    known = main.reliability()["difficulty"]
    if known < WELL:
        telling += (
            f"; how hard a single user is to serve is known only roughly from {len(main.fit.respondents)} algorithms "
            f"(reliability {known:.2f})"
        )
    return [f"{told} ({result.metric} by user, {result.model.upper()}). {telling}."]


def tables(result: UserIRTResult) -> list[Table]:
    """Abilities on all users, then for each dataset its users, its ablest, and how well its users are known."""
    name = next(iter(result.fits))
    abilities = [
        [row["algorithm"], f"{row['ability']:.3f}", between(row["low"], row["high"]), f"{row['hit_rate']:.3f}"]
        for row in result.to_frame().to_dicts()
        if row["dataset"] == name
    ]
    users = [
        [row["dataset"], row["users"], row["telling_users"], found.lead()[0], f"{found.lead()[2]:.3f}",
         f"{row['mean_discrimination']:.2f} ({row['discrimination_deviation']:.2f})",
         f"{row['mean_difficulty']:.2f} ({row['difficulty_deviation']:.2f})",
         " / ".join(f"{value:.2f}" for value in found.reliability().values())]
        for row, found in zip(result.datasets_frame().to_dicts(), result.fits.values(), strict=True)
    ]  # fmt: skip
    return [
        Table(
            f"{result.model.upper()}: algorithms on the users of {name}, hit by {result.metric}",
            ["algorithm", "ability", f"{100 * result.confidence:.3g} %", "hit rate"],
            abilities,
        ),
        Table(
            "Users",
            ["dataset", "users", "telling", "ablest", "P(ablest)", "discrimination", "difficulty", "reliability"],
            users,
            important=["ablest", "P(ablest)", "users", "telling", "reliability"],
            notes=[
                "Telling: users whom some algorithms serve and others do not. P(ablest): over the second. Reliability: "
                "of abilities / of the users' difficulties [/ of their discriminations]; below 0.5 single values are "
                f"mostly noise, as they rest on {len(result.main.fit.respondents)} algorithms each.",
                *result.notes,
            ],
        ),
    ]


def figures(result: UserIRTResult) -> list[Figure]:
    """Abilities on the users of each dataset."""
    from recassay.plots.user_irt import plot_user_abilities

    return [
        Figure(
            "user_abilities",
            "Ability of each algorithm with users as items: on all users, and on those of each dataset.",
            plot_user_abilities(result),
            "user_irt_abilities",
        )
    ]


SECTION = Section(UserIRTResult, "Abilities on users", "traits", "logistic-irt", figures, sentences, tables, order=40)
