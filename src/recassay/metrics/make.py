"""From a label to a metric: `ndcg@10`, `HR@5`, `map@10[by_relevant]`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast

from recassay.core import registry
from recassay.core.errors import UsageError
from recassay.core.metric_facts import stated_facts
from recassay.core.tables.labels import LARGEST_CUTOFF
from recassay.metrics.protocol import Metric

_LABEL = re.compile(r"^\s*(?P<name>[^@\[\]]+?)\s*(?:@\s*(?P<k>[^\[\]]*?)\s*)?(?:\[\s*(?P<variant>[^\[\]]*?)\s*\])?\s*$")


def make_metric(label: str) -> Metric:
    """The metric that `label` names: `name`, `name@k`, and a convention in brackets.

    Names are those of the registry (entry-point group `recassay.metrics`), case and aliases as people write
    them. Without `@k` the metric looks at the lists as long as they are.
    """
    parts = _LABEL.match(label)
    if parts is None:
        raise UsageError(f"{label!r} is not a metric label", fix="write name@k, as in ndcg@10 or map@10[by_k]")
    kind = registry.metrics.get(parts["name"])
    return cast(Metric, kind(_cutoff(label, parts["k"]), parts["variant"] or None))


def as_metrics(metrics: Iterable[str | Metric]) -> list[Metric]:
    """Labels made into metrics, metrics as they are; two of one label are refused."""
    made = [make_metric(metric) if isinstance(metric, str) else metric for metric in metrics]
    labels = [metric.label for metric in made]
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise UsageError(f"the metric {twice[0]} is asked for twice", fix="name each metric once")
    if not made:
        raise UsageError("no metric was asked for", fix="name at least one, as in ndcg@10")
    return made


def convention(metric: Metric) -> dict[str, Any]:
    """What a study's manifest records of a metric: the formula, the convention in force and where it comes
    from.
    """
    return {
        "metric": metric.name,
        **{key: getattr(metric, key) for key in ("k", "scope", "higher_is_better", "formula", "variant")},
        "convention": metric.variants.get(metric.variant) or metric.variants[metric.variant.partition(" ")[0]],
        "source": metric.source,
    }


def describe_metrics() -> list[dict[str, Any]]:
    """Every registered metric with its formula and conventions (the default first), for people to choose
    from.
    """
    return [
        {
            "metric": name,
            "scope": kind.scope,
            "kind": facts.kind,
            "bounds": facts.bounds,
            "higher_is_better": facts.higher_is_better,
            "summary": facts.summary,
            "formula": kind.formula,
            "variants": dict(kind.variants),
            "aliases": list(facts.aliases),
            "source": kind.source,
        }
        for name, kind in registry.metrics
        for facts in [stated_facts(name, kind)]
    ]


def _cutoff(label: str, text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text[:12]) <= LARGEST_CUTOFF:
        raise UsageError(
            f"{text[:40]!r} in {label[:80]!r} is not a cut-off",
            fix=f"use a whole number from 1 to {LARGEST_CUTOFF:,}, as in ndcg@10",
        )
    return int(text)
