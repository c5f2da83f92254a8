"""Papers made from true lists: LaTeX with correct marks and percentages in several layouts, and planted slips."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NAMES = ("MostPop", "ItemKNN", "BPR-MF", "NeuMF", "LightGCN", "SASRec", "BERT4Rec", "GRU4Rec", "Caser", "FDSA")
SETS = ("Beauty", "Sports", "Toys", "Yelp", "ML-1M", "Gowalla")
LAYOUTS = ("datasets across", "metrics in rows", "one panel per dataset", "percent", "groups")
SLIPS = (
    "bold on another", "underline on another", "improvement", "average", "above one", "decimal point", "hit rate falls",
    "nDCG above hit rate", "nDCG at 10 off", "impossible share", "copied row", "two values",
)  # fmt: skip


@dataclass
class Made:
    """A synthetic paper: printed digits by (algorithm, dataset, metric), so that a slip can be planted and printed."""

    algorithms: list[str]
    datasets: list[str]
    metrics: list[str]
    users: dict[str, int]
    printed: dict[tuple[str, str, str], str]
    layout: str
    bold: dict[tuple[str, str], str]
    second: dict[tuple[str, str], str]
    gains: dict[tuple[str, str], str]
    averages: dict[tuple[str, str], str] | None = None
    ablation: dict[tuple[str, str], str] | None = None

    @property
    def own(self) -> str:
        return self.algorithms[-1]


def make(rng: np.random.Generator, layout: str) -> Made:
    """Lists with one target per user; every number follows from the ranks of the targets."""
    count = int(rng.integers(4, 8))
    algorithms = [*rng.choice(NAMES, count - 1, replace=False).tolist(), "Ours"]
    datasets = rng.choice(SETS, int(rng.integers(2, 5)), replace=False).tolist()
    metrics = ["HR@5", "NDCG@5", "HR@10", "NDCG@10"]
    users = {name: int(rng.integers(1500, 9000)) for name in datasets}
    printed: dict[tuple[str, str, str], str] = {}
    exact: dict[tuple[str, str, str], float] = {}
    digits, scale = (2, 100) if layout == "percent" else (4, 1)
    for name in datasets:
        level = rng.uniform(0.5, 1.5)
        for a, algorithm in enumerate(algorithms):
            skill = level * (0.6 + 0.08 * a + 0.1 * rng.random())
            rank = rng.geometric(min(0.02 * skill, 0.9), users[name])
            for metric in metrics:
                k = int(metric.split("@")[1])
                hit = rank <= k
                value = np.mean(hit / np.log2(rank + 1.0)) if metric.startswith("N") else np.mean(hit)
                exact[algorithm, name, metric] = float(value)
                printed[algorithm, name, metric] = f"{scale * value:.{digits}f}"
    made = Made(algorithms, datasets, metrics, users, printed, layout, {}, {}, {})
    for name in datasets:
        for metric in metrics:
            order = sorted(algorithms, key=lambda a: -exact[a, name, metric])
            made.bold[name, metric], made.second[name, metric] = order[:2]
            base = max(exact[a, name, metric] for a in algorithms[:-1])
            made.gains[name, metric] = f"{100 * (exact[algorithms[-1], name, metric] / base - 1):+.2f}"
    if layout == "metrics in rows":
        made.averages = {
            (a, m): f"{np.mean([exact[a, n, m] for n in datasets]):.4f}" for a in algorithms for m in metrics
        }
    made.ablation = {(a, m): printed[a, datasets[0], m] for a in algorithms[-1:] for m in metrics}
    return made


def plant(made: Made, slip: str, rng: np.random.Generator) -> bool:
    """Change one thing; False where the layout has no place for it."""
    name, metric = str(rng.choice(made.datasets)), str(rng.choice(made.metrics))
    victim = str(rng.choice(made.algorithms[:-1]))
    digits, scale = (2, 100) if made.layout == "percent" else (4, 1)
    if slip == "bold on another":
        others = [
            a
            for a in made.algorithms
            if _value(made, a, name, metric) < _value(made, made.bold[name, metric], name, metric)
        ]
        made.bold[name, metric] = str(rng.choice(others))
    elif slip == "underline on another":
        others = [
            a
            for a in made.algorithms
            if _value(made, a, name, metric) < _value(made, made.second[name, metric], name, metric)
        ]
        if not others:
            return False
        made.second[name, metric] = str(rng.choice(others))
    elif slip == "improvement":
        made.gains[name, metric] = (
            f"{float(made.gains[name, metric]) + float(rng.choice([-1, 1])) * rng.uniform(2, 10):+.2f}"
        )
    elif slip == "average":
        if made.averages is None:
            return False
        key = (victim, metric)
        made.averages[key] = f"{float(made.averages[key]) * rng.uniform(1.03, 1.2):.4f}"
    elif slip == "above one":
        made.printed[victim, name, metric] = f"{scale * rng.uniform(1.1, 9):.{digits}f}"
    elif slip == "decimal point":
        made.printed[victim, name, metric] = (
            f"{_value(made, victim, name, metric) * float(rng.choice([10, 0.1])):.{digits}f}"
        )
    elif slip == "hit rate falls":
        made.printed[victim, name, "HR@10"] = (
            f"{_value(made, victim, name, 'HR@5') * rng.uniform(0.8, 0.97):.{digits}f}"
        )
    elif slip == "nDCG above hit rate":
        made.printed[victim, name, "NDCG@5"] = (
            f"{_value(made, victim, name, 'HR@5') * rng.uniform(1.02, 1.3):.{digits}f}"
        )
    elif slip == "nDCG at 10 off":
        made.printed[victim, name, "NDCG@10"] = (
            f"{_value(made, victim, name, 'NDCG@10') * rng.uniform(1.1, 1.4):.{digits}f}"
        )
    elif slip == "impossible share":
        n = made.users[name]
        whole = {f"{scale * k / n:.{digits}f}" for k in range(n + 1)}
        near = round(_value(made, victim, name, "HR@10") * 10**digits)
        wrong = [text for step in range(-8, 9) if (text := f"{(near + step) / 10**digits:.{digits}f}") not in whole]
        if not wrong:
            return False
        made.printed[victim, name, "HR@10"] = str(rng.choice(wrong))
    elif slip == "copied row":
        other = str(rng.choice([a for a in made.algorithms[:-1] if a != victim]))
        for each in made.metrics:
            made.printed[victim, name, each] = made.printed[other, name, each]
    elif slip == "two values":
        assert made.ablation is not None
        key = (made.own, metric)
        made.ablation[key] = f"{float(made.ablation[key]) * rng.uniform(1.02, 1.1):.{digits}f}"
    return True


def _value(made: Made, algorithm: str, name: str, metric: str) -> float:
    return float(made.printed[algorithm, name, metric])


def latex(made: Made, abstract: str = "") -> str:
    """The paper as its source."""
    statistics = " \\\\\n".join(
        f"{name} & {count:,} & {count * 3:,} & {count * 9:,}" for name, count in made.users.items()
    )
    ablation = " & ".join(made.ablation[made.own, m] for m in made.metrics) if made.ablation else ""
    rows = len(made.algorithms)
    return rf"""
\documentclass{{article}}
\newcommand{{\best}}[1]{{\textbf{{#1}}}}
\begin{{document}}
\begin{{abstract}} {abstract} \end{{abstract}}
\begin{{table}} \caption{{Statistics of the datasets.}}
\begin{{tabular}}{{lrrr}} \toprule Dataset & \#Users & \#Items & \#Interactions \\ \midrule
{statistics} \\ \bottomrule \end{{tabular}} \end{{table}}
\begin{{table*}} \caption{{Performance of {rows} methods. The best results are in bold, the second best are underlined.
Improv. is the relative improvement over the best baseline.}}
{_TABLES[made.layout](made)}
\end{{table*}}
\begin{{table}} \caption{{Ablation study on {made.datasets[0]}.}}
\begin{{tabular}}{{l{"c" * len(made.metrics)}}} \toprule & {_across(made.datasets[0], len(made.metrics))} \\
Variant & {" & ".join(made.metrics)} \\ \midrule
{made.own} & {ablation} \\ w/o attention & {" & ".join(["-"] * len(made.metrics))} \\ \bottomrule
\end{{tabular}} \end{{table}}
\end{{document}}
"""


def _across(name: str, width: int) -> str:
    return rf"\multicolumn{{{width}}}{{c}}{{{name}}}"


def _cell(made: Made, algorithm: str, name: str, metric: str) -> str:
    text = made.printed[algorithm, name, metric]
    if made.bold[name, metric] == algorithm:
        return rf"\best{{{text}}}"
    return rf"\underline{{{text}}}" if made.second[name, metric] == algorithm else text


def _wide(made: Made) -> str:
    keys = [(name, metric) for name in made.datasets for metric in made.metrics]
    groups = made.layout == "groups"
    lead, columns = ("& ", "ll") if groups else ("", "l")
    half = len(made.algorithms) // 2
    lines = []
    for a, algorithm in enumerate(made.algorithms):
        group = ""
        if groups and a in (0, half):
            size, word = (half, "Classical") if a == 0 else (len(made.algorithms) - half, "Neural")
            group = rf"\midrule \multirow{{{size}}}{{*}}{{{word}}} "
        lines.append(f"{group}{lead}{algorithm} & " + " & ".join(_cell(made, algorithm, *key) for key in keys))
    gains = " & ".join(rf"{made.gains[key]}\%" for key in keys)
    heads = " & ".join(_across(name, len(made.metrics)) for name in made.datasets)
    return (
        rf"\begin{{tabular}}{{{columns}{'c' * len(keys)}}} \toprule {lead} & {heads} \\ "
        rf"\cmidrule(lr){{2-5}} {lead}Method & {' & '.join(m for _, m in keys)} \\ \midrule" + "\n"
        + " \\\\\n".join(lines) + rf" \\ \midrule {lead}Improv. & {gains} \\ \bottomrule \end{{tabular}}"
    )  # fmt: skip


def _metrics_in_rows(made: Made) -> str:
    lines = []
    for name in made.datasets:
        for m, metric in enumerate(made.metrics):
            first = rf"\midrule \multirow{{{len(made.metrics)}}}{{*}}{{{name}}}" if m == 0 else ""
            cells = " & ".join(_cell(made, a, name, metric) for a in made.algorithms)
            lines.append(rf"{first} & {metric} & {cells} & {made.gains[name, metric]}\%")
    for m, metric in enumerate(made.metrics):
        assert made.averages is not None
        first = rf"\midrule \multirow{{{len(made.metrics)}}}{{*}}{{Average}}" if m == 0 else ""
        lines.append(f"{first} & {metric} & {' & '.join(made.averages[a, metric] for a in made.algorithms)} & -")
    return (
        rf"\begin{{tabular}}{{ll{'c' * (len(made.algorithms) + 1)}}} \toprule Dataset & Metric & "
        rf"{' & '.join(made.algorithms)} & Improv. \\ " + " \\\\\n".join(lines) + r" \\ \bottomrule \end{tabular}"
    )


def _panels(made: Made) -> str:
    lines = []
    for name in made.datasets:
        lines.append(rf"\midrule \multicolumn{{{len(made.metrics) + 1}}}{{c}}{{\textit{{{name}}}}}")
        for a, algorithm in enumerate(made.algorithms):
            rule = r"\midrule " if a == 0 else ""
            lines.append(f"{rule}{algorithm} & " + " & ".join(_cell(made, algorithm, name, m) for m in made.metrics))
        lines.append(r"Improv. (\%) & " + " & ".join(made.gains[name, m].lstrip("+") for m in made.metrics))
    return (
        rf"\begin{{tabular}}{{l{'c' * len(made.metrics)}}} \toprule Method & {' & '.join(made.metrics)} \\ "
        + " \\\\\n".join(lines) + r" \\ \bottomrule \end{tabular}"
    )  # fmt: skip


_TABLES = {"datasets across": _wide, "percent": _wide, "groups": _wide, "metrics in rows": _metrics_in_rows,
           "one panel per dataset": _panels}  # fmt: skip
