"""What a review says: each flag as a question to the author, claims, and the first screen."""

from __future__ import annotations

from collections import Counter
from typing import Any

from recassay.analysis.review.result import CheckedClaim, Flag, ReviewResult, TableVerdict
from recassay.core.tables.labels import metric_name
from recassay.core.words import count_of, listing

CONDITIONS = {
    "one target": "each user has one relevant item, as with leave-one-out",
    "all targets": "recall divides by all relevant items",
    "of means": "F1 is computed from the printed means",
    "mark": "the mark means here what it means in the rest of the table",
    "base": "it is computed as the others of the table are",
    "mean": "it is the mean of the numbers beside it",
    "users": "all users of the statistics are judged, in one run",
}
"""What a flag that is certain if something holds rests on."""

KINDS = {"results": "results", "ablation": "ablation", "statistics": "dataset statistics", "parameters": "parameters",
         "timings": "timings", "other": "other"}  # fmt: skip
"""What a table is about."""

_BAND = "each hit adds between 1/log2(b+1) and 1/log2(a+2) to nDCG"
_IDENTITIES = {
    "hitrate grows": "a longer list cannot have a lower hit rate",
    "mrr grows": "MRR cannot fall with a longer list",
    "recall grows": "recall cannot fall with a longer list",
    "ndcg grows": "nDCG cannot fall with a longer list",
    "ndcg within hitrate": "nDCG cannot exceed the hit rate of the same list",
    "mrr within hitrate": "MRR cannot exceed the hit rate of the same list",
    "ndcg within recall": "nDCG cannot exceed recall",
    "mrr within recall": "MRR cannot exceed recall",
    "mrr within ndcg": "MRR cannot exceed nDCG",
    "hitrate is recall": "hit rate and recall are the same",
    "precision of hitrate": "precision is the hit rate divided by the length of the list",
    "precision of recall": "precision is recall divided by the length of the list",
    "ndcg band of hitrate": f"hits and nDCG do not fit: {_BAND}",
    "ndcg band of recall": f"recall and nDCG do not fit: {_BAND}",
    "f1 of means": "F1 is not the harmonic mean of precision and recall",
}
_FLAGS = {
    "bounds": "{who} is {value}, outside of the bounds of the metric. Is it a percentage, or a slip?",
    "decimal_point": "{who} is {value}, about ten times off its neighbours. Is {meant:.4g} meant?",
    "broken": "{who}: {listed}. But {law}.",
    "defined_otherwise": "{count} of {of} rows{place} break one identity: {law}. Is the metric defined otherwise, or "
    "are there several targets per user?",
    "bold_not_best": "{who} is marked as the best with {value}, but {other} has {others}.",
    "underline_not_second": "{who} is marked as the second with {value}, but {other} has {others}.",
    "out_of_competition": "{names} beats the best marked value in most columns and is never marked. Is it outside of "
    "the comparison? The caption could say so.",
    "gain": "The improvement is printed as {printed}. From {who} ({value}) and {other} ({others}) it is {range} %.",
    "gains_unexplained": "{explained} of {count} improvements follow from the printed values by any usual definition. "
    "Which baseline are they over?",
    "average": "{name} is printed as {printed}. From the numbers beside it, it is {range}.",
    "impossible_share": "{who} is {value}, which no whole number of {users:,} users gives.",
    "other_users": "{count} of {of} shares{place} are impossible with {users:,} users. How many users are judged, and "
    "are values means over runs?",
    "same_row": "{first} and {second} have the same {count} values. Was a row copied?",
    "two_values": "{who} is {value}, and {others} in table {elsewhere}. Which one is right?",
    "no_test": "Significance is claimed, and no test is named. Which test, over what, and with which correction?",
    "no_meaning": "Stars or daggers at {count} values are not explained.",
    "unreachable": "With {runs} repeats the signed-rank test reaches p = {smallest:.3g} at best, and p < {level:g} is "
    "claimed.",
    "far_from_published": "{who} is {value}; others report {range} ({protocol}; {source}). Is the baseline tuned, or "
    "is the protocol another one?",
}
_WHY = {
    "subject": "it does not name an algorithm of the tables",
    "no numbers": "no table has these numbers",
    "fewer datasets": "the tables have fewer datasets",
    "significance": "the tables alone do not show it",
}
_GRADES = {"clear_winner": "clear winner", "shared_lead": "shared lead", "no_difference": "no difference shown",
           "too_little_data": "too few datasets for a test", "not_comparable": "not comparable"}  # fmt: skip


def flag_sentence(flag: Flag) -> str:
    """A flag in words, without its place."""
    facts: dict[str, Any] = dict(flag.facts)
    facts["place"] = f" on {facts['dataset']}" if facts.get("dataset") else ""
    metric = f"{metric_name(facts['metric'])} of " if facts.get("metric") else ""
    facts["who"] = f"{metric}{facts.get('algorithm') or 'the method'}{facts['place']}"
    facts["law"] = _IDENTITIES.get(facts.get("identity", ""), "")
    facts["listed"] = listing((f"{metric_name(m)} {value}" for m, value in facts.get("values", {}).items()), last="and")
    facts["names"] = listing(facts.get("algorithms", ()))
    if "low" in facts:
        low, high = f"{facts['low']:.4g}", f"{facts['high']:.4g}"
        facts["range"] = low if low == high else f"{low} to {high}"
    more = f" ({facts['alike']} cells alike.)" if "alike" in facts else ""
    return _FLAGS[flag.code].format(**facts) + more


def certainty(flag: Flag) -> str:
    """How sure a flag is: `Certain`, `Certain if ...`, `Worth a look`."""
    return f"Certain if {CONDITIONS[flag.condition]}" if flag.condition else flag.certainty.capitalize()


def claim_line(claim: CheckedClaim) -> str:
    """How the tables stand to a sentence, with the numbers."""
    f, standing = claim.facts, claim.standing.capitalize()
    if claim.standing == "cannot be checked":
        return f"{standing}: {_WHY[f['why']]}."
    if claim.claim == "significant":
        return f"{standing}: {f['algorithm']} is the clear winner by the verdict on a table."
    if claim.claim == "by":
        least, most, mean = (f"{sum(f[name]) / 2:+.1f}" for name in ("smallest", "largest", "average"))
        over = f"{f['algorithm']} over {f['other'] or 'the best other'}"
        return f"{standing}: {over} {least} to {most} %, on average {mean} % ({count_of(f['count'], 'comparison')})."
    if "datasets" in f:
        return (
            f"{standing}: {f['algorithm']} leads on {count_of(f['datasets'], 'dataset')}, and {f['said']} are claimed."
        )
    won = f"{standing}: {f['algorithm']} is ahead in {f['count'] - f['lost']} of {count_of(f['count'], 'comparison')}"
    if not f["lost"]:
        return f"{won}."
    where = ", ".join(filter(None, (metric_name(f["metric"]), f["dataset"])))
    return f"{won}; {f['other']} has {f['others']} against {f['value']} ({where})."


def verdict_line(each: TableVerdict) -> str:
    """What the court says of a table of results."""
    verdict = each.verdict
    if verdict is None:
        return f"Table {each.table}: no verdict ({each.reason})."
    could = f"; {len(verdict.could_be_best)} of {len(verdict.algorithms)} could be best"
    rest = "" if verdict.grade == "too_little_data" else could
    leads = f"{_GRADES[verdict.grade]}, {listing(verdict.leaders)} leads{rest}"
    return f"Table {each.table}, {metric_name(verdict.metric)}: {leads}."


def headline(result: ReviewResult) -> str:
    """What was found, in one sentence."""
    if not any(table.entries for table in result.tables):
        return f"Nothing could be checked: no results were read in {count_of(len(result.tables), 'table')}."
    counts = {certainty: count for certainty, count in result.counted().items() if count}
    kinds = listing((f"{count} {certainty}" for certainty, count in counts.items()), last="and")
    wrong = sum(claim.standing == "does not follow" for claim in result.claims)
    claims = f"; {count_of(wrong, 'claim')} {'does' if wrong == 1 else 'do'} not follow" if wrong else ""
    found = f"{count_of(sum(counts.values()), 'flag')} ({kinds})" if counts else "No flags"
    return f"{found} in {count_of(len(result.tables), 'table')}{claims}."


def sentences(result: ReviewResult) -> list[str]:
    """The headline, what was read, the three most important flags, and what became of the claims."""
    kinds = Counter(KINDS[table.kind] for table in result.tables)
    numbers = sum(len(table.entries) for table in result.tables)
    read = listing((f"{kind} {count}" for kind, count in kinds.items()), most=None)
    lines = [headline(result), f"Read: {read or 'no table'}; {numbers:,} results."]
    kept: list[Flag] = []
    for flag in result.flags:  # the surest, each of other cells
        if not any(other.table == flag.table and set(other.cells) & set(flag.cells) for other in kept):
            kept.append(flag)
    lines += [f"Table {flag.table}: {flag_sentence(flag)} {certainty(flag)}." for flag in kept[:3]]
    if result.claims:
        standings = Counter(claim.standing for claim in result.claims)
        lines.append(f"Claims: {listing((f'{count} {s}' for s, count in standings.items()), last='and')}.")
    return lines
