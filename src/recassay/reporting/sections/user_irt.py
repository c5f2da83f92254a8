"""Logistic IRT on the users of a study."""

from __future__ import annotations

from recassay.analysis.user_irt.result import UserIRTResult
from recassay.reporting.section import Figure, Section

SURE = 0.95
WELL = 0.7


def sentences(result: UserIRTResult) -> list[str]:
    """Who is ablest on the users, whether that is sure, and how much is known of single users."""
    main = result.main
    first, second, probability = main.lead()
    if probability >= SURE:
        told = f"{first} is the ablest on users, before {second} (probability {probability:.3f})"
    else:
        told = (
            f"on users {first} and {second} cannot be told apart (probability {probability:.2f} that {first} is abler)"
        )
    telling = f"{main.telling} of {main.users} users tell algorithms apart"
    known = main.reliability()["difficulty"]
    if known < WELL:
        telling += (
            f"; how hard a single user is to serve is known only roughly from {len(main.fit.respondents)} algorithms "
            f"(reliability {known:.2f})"
        )
    return [f"By user ({result.metric}, {result.model.upper()}), {told}; {telling}."]


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


SECTION = Section(UserIRTResult, "Abilities on users", "traits", "logistic-irt", figures, sentences)
