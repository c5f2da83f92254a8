"""Logistic IRT on the users of a study."""

from __future__ import annotations

from recassay.analysis.user_irt import UserIRTResult
from recassay.reporting.section import Figure, Section

SURE = 0.95


def sentences(result: UserIRTResult) -> list[str]:
    """Who is ablest on the users, whether that is sure, and how much is known of single users."""
    main = result.main
    first, second, probability = main.lead()
    if probability >= SURE:
        told = f"{first} is the ablest on users, before {second} (probability {probability:.3f} given the users' fit)"
    else:
        told = (
            f"on users {first} and {second} cannot be told apart (probability {probability:.2f} that {first} is abler)"
        )
    reliability = main.reliability()
    known = min(reliability["difficulty"], reliability["discrimination"])
    single = "roughly" if known < 0.7 else "well"
    return [
        f"By user ({result.metric}, {result.model.upper()}), {told}; {main.telling} of {main.users} users tell "
        f"algorithms apart, and single users are known only {single} from {len(main.fit.respondents)} algorithms "
        f"(reliability of their difficulty {reliability['difficulty']:.2f}, discrimination "
        f"{reliability['discrimination']:.2f})."
        if single == "roughly"
        else f"By user ({result.metric}, {result.model.upper()}), {told}; {main.telling} of {main.users} users tell "
        "algorithms apart."
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


SECTION = Section(UserIRTResult, "Abilities on users", "traits", "logistic-irt", figures, sentences)
