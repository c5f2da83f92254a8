"""Groups of users and of items, and values weighted by exposure."""

from __future__ import annotations

from collections.abc import Iterator

from recassay.analysis.groups.result import GroupsResult, GroupUsers
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.reporting.numbers import between, p_value
from recassay.reporting.section import Section, Table
from recassay.reporting.words.groups import sentences, weights_sentence

MOST_ROWS = 20
"""Groups of items that a terminal shows, those first that are farthest from their share of the data."""


def tables(result: GroupsResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """The metric by group of users, the exposure of groups of items, and the values under weights."""
    for users in result.users:
        yield _by_group(users, result, words)
    if result.exposure:
        yield Table(
            f"Share of the first {result.exposure[0]['k']} places by group of items",
            {words.dataset: "{dataset}", "attribute": "{attribute}", "group": "{group}", words.algorithm: "{algorithm}",
             "share": "{share:.3f}", "interval": "{low:.3f} to {high:.3f}", "of training events": "{events:.3f}",
             "difference": "{deviation:+.3f}", "ratio": "{ratio:.2f}", "RSP": "{rsp:.3f}", "REO": "{reo:.3f}"},
            sorted(result.exposure, key=lambda row: -abs(row["deviation"])),
            names=4,
            important=["group", words.algorithm, "share", "of training events"],
            most=MOST_ROWS,
            notes=["RSP, REO: deviation over mean of the groups' chances to be listed (all and relevant items)."],
        )  # fmt: skip
    for weighted in result.weighted:
        yield Table(
            f"{weighted.plain.dataset}: plain and {weighted.label}",
            {words.algorithm: "{algorithm}", "plain": "{plain:.4f}", "weighted": "{weighted:.4f}"},
            weighted.rows(),
            notes=[] if weighted.facts is None else [weights_sentence(weighted.label, weighted.facts)],
        )


def _by_group(users: GroupUsers, result: GroupsResult, words: Vocabulary) -> Table:
    means = {group.dataset: dict(zip(group.algorithms, group.means, strict=True)) for group in users.groups}
    open_ones = {group.dataset: group.not_worse() for group in users.groups}
    gaps = {gap.algorithm: gap for gap in users.gaps}
    order = [users.leader, *(name for name in users.groups[0].algorithms if name != users.leader)]
    rows = [
        [name, *(f"{means[g][name]:.4f}{'' if name in open_ones[g] else '*'}" for g in means),
         between(gaps[name].low, gaps[name].high, 4), p_value(gaps[name].p), f"{gaps[name].mad:.4f}"]
        for name in order
    ]  # fmt: skip
    return Table(
        f"{users.dataset}: {result.metric} by {users.attribute}",
        [words.algorithm, *means, "best minus worst group", "p", "MAD of ranking"],
        [*rows, [f"({words.users})", *(f"{group.users:,}" for group in users.groups), "", "", ""]],
        important=["best minus worst group", "p"],
        notes=[
            "*: significantly worse than the best of the group (sign-flip test, Holm over the pairs of the group).",
            "p: Welch's test, corrected for the choice among all pairs of groups; MAD of ranking: mean absolute "
            "difference over the pairs.",
            *(f"Left out: {reason}." for reason in result.left_out),
        ],
    )


SECTION = Section(
    GroupsResult, "Groups and exposure", "beyond accuracy", "groups", sentences=sentences, tables=tables, order=27
)
