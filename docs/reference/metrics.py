"""The page of the metrics: formula, conventions, direction and source of each."""

from __future__ import annotations

import inspect
from typing import Any

from reference.tables import table

INTRODUCTION = """# Every metric

{number} metrics come with RecAssay. This page is made from the code, as is `recassay list metrics`. How metrics are
named, and why one name means several numbers: [metrics](metrics.md).

In the formulas, k is the cut-off, R the number of the user's relevant items, h the number of relevant items among the
first k, and rel(j) is 1 where the item at place j is relevant, else 0. c(i) is the number of training users who have
item i, x(i) the number of lists that show it among their first k, p(i) = x(i) / sum x, n the number of items, m the
number of training users, and N the number of candidates that are not relevant. The first convention is the default;
the others are asked for in brackets, as in `map@10[by_k]`.
"""


def metrics_page() -> str:
    """Every metric that comes with RecAssay."""
    from recassay.core.registry import metrics
    from recassay.metrics.make import describe_metrics

    found = [row for row in describe_metrics() if metrics.origin(row["metric"]).startswith("recassay ")]
    rows = [[f"[{row['metric']}](#{row['metric']})", row["summary"], _better(row), _scope(row)] for row in found]
    parts = [INTRODUCTION.format(number=len(found)), table(["metric", "what", "better", "one value per"], rows), ""]
    return "\n".join([*parts, *(_entry(row, _definition(metrics.get(row["metric"]))) for row in found)])


def _entry(row: dict[str, Any], definition: str) -> str:
    conventions = [[f"`{name}`", text] for name, text in row["variants"].items()]
    conventions[0][0] += " (default)"
    parts = [
        f"## {row['metric']}",
        definition,
        f"{_better(row).capitalize()} is better; one value per {_scope(row)}.",
        f"```text\n{row['formula']}\n```",
        table(["convention", "what it does"], conventions),
        *([f"**Also called** {', '.join(row['aliases'])}."] if row["aliases"] else []),
        f"**Source.** {row['source']}",
    ]
    return "\n\n".join(parts) + "\n"


def _definition(kind: type[Any]) -> str:
    return inspect.getdoc(kind) or ""


def _better(row: dict[str, Any]) -> str:
    return "higher" if row["higher_is_better"] else "lower"


def _scope(row: dict[str, Any]) -> str:
    return "user" if row["scope"] == "user" else "set of lists"
