"""Logistic IRT on the users of a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from recassay.analysis.user_irt.result import FEW, LEAST_ALGORITHMS, LEAST_USERS, UserIRTResult
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.reporting.numbers import probability

SURE = 0.95


WELL = 0.7


def sentences(result: UserIRTResult, words: Vocabulary = USUAL) -> list[str]:
    """Who is ablest on the users, whether that is sure, and how much is known of single users."""
    main = result.main
    first, second, sure = main.lead()
    if sure >= SURE:
        lead = (
            f"By the {result.model.upper()} model alone, {first} has a higher ability than {second} on these "
            f"{words.users} with probability {probability(sure, 3)}"
        )
    else:
        lead = (
            f"The {result.model.upper()} model shows no difference between {first} and {second} on these {words.users} "
            f"(probability {probability(sure)} that the ability of {first} is higher)"
        )
    telling = f"{main.telling_users} of {main.users} {words.users} tell {words.algorithms} apart"
    known = main.reliability()["difficulty"]
    if known < WELL:
        telling += (
            f"; how hard a single {words.user} is to serve is known only roughly from {len(main.fit.respondents)} "
            f"{words.algorithms} (reliability {known:.2f})"
        )
    return [f"{lead} ({result.metric} by {words.user}). {telling}."]


def left_out(too_few: Mapping[str, tuple[int, int]], words: Vocabulary = USUAL) -> list[str]:
    """Why datasets were left out."""
    return [
        f"{name}: {respondents} {words.algorithms} and {telling} {words.users} that tell them apart are too few (at "
        f"least {LEAST_ALGORITHMS} and {LEAST_USERS})"
        for name, (respondents, telling) in too_few.items()
    ]


def notes(result: UserIRTResult, words: Vocabulary = USUAL) -> Iterator[str]:
    """What was left out, and what a reader of the abilities must know."""
    yield from left_out(result.too_few, words)
    count = len(result.main.fit.respondents)
    if result.model != "1pl" and count < FEW:
        few = f"{count} {words.algorithms} are few for the {result.model.upper()}"
        yield f"{few}: its intervals are too narrow, those of the 1PL hold"
    for name, users in result.fits.items():
        fitted = len(users.fit.items.names)
        if fitted < users.telling_users:
            yield f"{name}: an even selection of {fitted} of {users.telling_users} {words.users} was fitted"
        if not users.fit.converged:
            yield f"{name}: the estimation did not converge"
