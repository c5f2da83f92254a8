"""The LaTeX table of lists that were judged together: algorithms by metrics, the best marked, and what is proven."""

from __future__ import annotations

from collections.abc import Mapping

from recassay.analysis.users.result import UsersResult
from recassay.reporting.latex import latex_text

DIGITS = 4


def evaluation_latex(
    means: Mapping[str, Mapping[str, float]],
    directions: Mapping[str, bool],
    comparison: Mapping[str, UsersResult],
    *,
    caption: str,
    label: str = "evaluation",
) -> str:
    """A booktabs table of `means` (by algorithm, by metric): the best of a column bold, and a dagger at those that are
    significantly worse than it by the paired test over users."""
    metrics = list(next(iter(means.values())))
    worse: dict[str, set[str]] = {}
    for metric, result in comparison.items():
        found = result.datasets[0]
        worse[metric] = set(found.algorithms) - set(found.not_worse())
    rows = []
    for algorithm, values in means.items():
        cells = [latex_text(algorithm)]
        for metric in metrics:
            column = [other[metric] for other in means.values() if other[metric] == other[metric]]
            best = (max(column) if directions[metric] else min(column)) if column else None
            value = values[metric]
            text = "--" if value != value else f"{value:.{DIGITS}f}"
            if value == best:
                text = rf"\textbf{{{text}}}"
            cells.append(text + (r"$^\dagger$" if algorithm in worse.get(metric, ()) else ""))
        rows.append(" & ".join(cells) + r" \\")
    arrows = [
        rf"{latex_text(m)} {'$' + chr(92) + ('uparrow' if directions[m] else 'downarrow') + '$'}" for m in metrics
    ]
    return "\n".join(
        [
            r"\begin{table}[t]",
            r"\centering",
            rf"\caption{{{latex_text(caption)}}}",
            rf"\label{{tab:{label}}}",
            rf"\begin{{tabular}}{{l{'r' * len(metrics)}}}",
            r"\toprule",
            " & ".join(["algorithm", *arrows]) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )
