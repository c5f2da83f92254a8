"""Metric labels: `name` or `name@k`, as in `ndcg@10`; what is known of a metric stands in `core/metric_facts.py`.

Names are case-insensitive and known under the usual aliases. The direction of a metric that is not known there, nor by
a plugin, must be given by the user.
"""

from __future__ import annotations

from dataclasses import replace

from recassay.core.errors import InputError, UsageError
from recassay.core.metric_facts import MetricFacts, named_facts, written_name
from recassay.core.names import did_you_mean
from recassay.core.words import listing

LARGEST_CUTOFF = 1_000_000
"""No list is longer; a larger number after the @ is a mistake."""


def is_known(name: str) -> bool:
    """Whether `name` (without a cut-off) is a known metric or an alias of one."""
    return named_facts(name) is not None


def facts_of(label: str) -> MetricFacts | None:
    """The facts of the metric of a label such as `ndcg@10`; None where the metric is not known."""
    facts = named_facts(split_label(label)[0])
    convention = label.partition("[")[2].partition(" ")[0].rstrip("]")
    return replace(facts, bounds=None, hit_like=False) if facts and convention in facts.unbounded else facts


def is_share(label: str) -> bool:
    """Whether a metric lies between 0 and 1 by definition: a value above means percent, or another scale."""
    known = facts_of(label)
    return known is not None and known.share


def is_cost(label: str) -> bool:
    """Whether a metric says what an algorithm costs, which is not an alternative to a metric of quality."""
    known = facts_of(label)
    return known is not None and known.kind == "cost"


def split_label(text: str) -> tuple[str, str | None]:
    """`ndcg@10` -> (`ndcg`, `10`); `auc` -> (`auc`, None); a convention stays with the cut-off: `map@10[by_k]`."""
    name, at, cutoff = text.strip().partition("@")
    if not at:
        name, bracket, variant = name.partition("[")
        return name.strip(), f"[{variant}" if bracket else None
    return name.strip(), cutoff.strip()


def places_of(label: str) -> int | None:
    """How many places of a list a metric looks at: 10 for `ndcg@10[snips]`; None where the label does not say it."""
    cutoff = (split_label(label)[1] or "").partition("[")[0]
    return int(cutoff) if cutoff.isdecimal() else None


def metric_name(label: str) -> str:
    """A metric as people write it: `nDCG@10` for `ndcg@10`."""
    name, k = split_label(label)
    known = named_facts(name)
    return f"{known.as_written() if known else written_name(name)}{_after(k)}"


def normal_label(text: str) -> str:
    """The label under which a metric is stored: known names and aliases become the known name, in lower case.

    `HR@10` -> `hitrate@10`; an unknown name keeps its letters, folded to lower case.
    """
    name, cutoff = split_label(text)
    known = named_facts(name)
    base = known.name if known else name.lower()
    return f"{base}{_after(cutoff)}"


def _after(cutoff: str | None) -> str:
    """What follows the name in a label: `@10`, `[by_k]` or nothing."""
    return "" if cutoff is None else cutoff if cutoff.startswith("[") else f"@{cutoff}"


def refuse_bad_label(text: str, where: str | None = None) -> None:
    """Raise `InputError` for a label that is empty, or a known metric with a cut-off that is not a whole number."""
    name, cutoff = split_label(text)
    if not name:
        raise InputError(f"{text!r} is not a metric label", where=where, fix="write name@k, as in ndcg@10")
    if cutoff is None or cutoff.startswith("[") or not is_known(name):
        return
    number = cutoff.partition("[")[0]
    if not (number.isascii() and number.isdigit() and 1 <= int(number[:12]) <= LARGEST_CUTOFF):
        raise InputError(
            f"{number[:40]!r} in {text[:80]!r} is not a cut-off",
            where=where,
            fix=f"use a whole number from 1 to {LARGEST_CUTOFF:,}, as in ndcg@10",
        )


def known_direction(text: str) -> bool | None:
    """True where higher is better, False where lower is, None where the metric is not known."""
    known = facts_of(text)
    return None if known is None else known.higher_is_better


def find_label(text: str, available: list[str]) -> str:
    """The label among `available` that `text` means; a misspelt one raises with the nearest.

    A name without `@k` matches when exactly one cut-off of that metric is available.
    """
    wanted = normal_label(text)
    if wanted in available:
        return wanted
    of_that_name = [label for label in available if split_label(label)[0] == wanted]
    if len(of_that_name) == 1:
        return of_that_name[0]
    if of_that_name:
        raise UsageError(
            f"metric {text!r} is ambiguous", fix=f"choose one of {listing(sorted(of_that_name), most=None)}"
        )
    raise UsageError(f"no metric {text!r} in these results", fix=did_you_mean(text, available))
