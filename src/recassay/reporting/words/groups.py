"""What lists do for groups of users and of items, and what weighting by exposure changes."""

from __future__ import annotations

from collections.abc import Iterator

from recassay.analysis.groups.result import GroupsResult, GroupUsers, Weighted
from recassay.core.tables.groups import WeightFacts
from recassay.core.tables.labels import metric_name
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import listing
from recassay.reporting.numbers import between, p_text, percent


def weights_sentence(label: str, facts: WeightFacts) -> str:
    """How far the weights of a weighted metric may be trusted."""
    size = (
        f"{facts.events:,} weighted test events are worth {facts.effective:,.0f} equal ones; the largest weight is "
        f"{facts.largest:.3g} times the mean"
    )
    if facts.wild:
        return f"Do not trust {label}: its weights are too uneven. The {size}."
    return f"{label}: the {size}; standard error {facts.standard_error:.4f} over users."


def first_line(result: GroupsResult) -> str | None:
    """For the first screen: the strongest reason against the best algorithm that groups or weights give, if any."""
    worse = [(min(case.p_holm for case in each.worse), _worse(each, result)) for each in result.users if each.worse]
    vanished = [_weighted(each) for each in result.weighted if each.vanishes and each.trusted]
    gaps = [(gap.p, _gap(each, result)) for each in result.users for gap in each.gaps
            if gap.algorithm == each.leader and gap.significant]  # fmt: skip
    found = [*(text for _, text in sorted(worse)), *vanished, *(text for _, text in sorted(gaps))]
    return found[0] if found else None


def sentences(result: GroupsResult, words: Vocabulary = USUAL) -> Iterator[str]:
    """By attribute whether the best algorithm is the same for all, its gap; who is shown; what weights change."""
    for each in result.users:
        yield _same(each, words)
        if each.worse:
            yield _worse(each, result)
        yield _gap(each, result)
    if result.exposure:
        far = max(result.exposure, key=lambda row: abs(row["deviation"]))
        yield (
            f"By {far['attribute']} on {far['dataset']}, {far['algorithm']} is farthest from the data: {far['group']} "
            f"has {percent(far['share'])} of the first {far['k']} places and {percent(far['events'])} of the training "
            "events."
        )
    for weighted in result.weighted:
        yield _weighted(weighted)
        if weighted.facts is not None:
            yield weights_sentence(weighted.label, weighted.facts)


def _same(each: GroupUsers, words: Vocabulary) -> str:
    best = each.best_in
    where = f"by {each.attribute} on {each.dataset}"
    if set(best.values()) == {each.leader}:
        return f"{each.leader} has the best mean in all {len(best)} groups {where}."
    first: dict[str, list[str]] = {}
    for group, name in best.items():
        first.setdefault(name, []).append(group)
    judged = "" if each.worse else "; no other is significantly better than the best over all"
    named = "; ".join(f"{name} for {listing(groups)}" for name, groups in first.items())
    return f"The best {words.algorithm} is not the same in all groups {where}: {named}{judged}."


def _worse(each: GroupUsers, result: GroupsResult) -> str:
    case = min(each.worse, key=lambda case: case.p_holm)
    more = f" There are {len(each.worse) - 1} more such cases." if len(each.worse) > 1 else ""
    numbers = (
        f"{metric_name(result.metric)} differs by {case.difference:.4f}, {percent(result.confidence)} interval "
        f"{between(case.low, case.high, 4)}; corrected {p_text(case.p_holm)}"
    )
    return (
        f"{each.leader}, the best over all, is worse than {case.better} for {case.group} ({each.attribute}) on "
        f"{each.dataset} ({numbers}).{more}"
    )


def _gap(each: GroupUsers, result: GroupsResult) -> str:
    gap = next(gap for gap in each.gaps if gap.algorithm == each.leader)
    claim = f"{each.leader} is worse for {gap.worst} than for {gap.best} ({each.attribute}) on {each.dataset}"
    numbers = (
        f"{metric_name(result.metric)} differs by {gap.difference:.4f}, {percent(result.confidence)} interval "
        f"{between(gap.low, gap.high, 4)}; corrected {p_text(gap.p)}"
    )
    return f"{claim} ({numbers})." if gap.significant else f"That {claim} is not shown ({numbers})."


def _weighted(each: Weighted) -> str:
    leader, first = each.plain.algorithms[0], each.weighted.algorithms[0]
    weighted = f"Weighted by exposure ({each.label})"
    if each.vanishes:
        lead = f"the lead of {leader} over {each.plain.algorithms[1]} on {each.plain.dataset} is no longer significant"
        now = "" if first == leader else f"; {first} has the best weighted mean"
        return f"{weighted}, {lead}{now}.{'' if each.trusted else ' These weights cannot be trusted.'}"
    if leader != first:
        return f"{weighted}, {first} leads on {each.plain.dataset} in place of {leader}."
    return f"{weighted}, {leader} still leads on {each.plain.dataset}."
