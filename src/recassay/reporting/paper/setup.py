"""The setup of a study as text for a paper: data, protocol, tuning, tests and software, and the table of datasets.

What is cited for an algorithm, a dataset, a metric or a test comes from the curated references.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from recassay.core.names import canonical
from recassay.core.system.failures import causes
from recassay.core.tables.facts import StudyFacts
from recassay.core.tables.labels import metric_name, split_label
from recassay.core.version import __version__
from recassay.core.words import count_of, listing
from recassay.reporting.content import grouped
from recassay.reporting.latex import latex_text
from recassay.reporting.paper.captions import split_words
from recassay.reporting.paper.content import DatasetFacts, PaperContent
from recassay.reporting.paper.grid import EMPTY, Cell, Grid
from recassay.reporting.words.sequences import target_words
from recassay.reporting.words.verdict import TESTS

TUNING_PACKAGE = "optuna"


def setup_text(content: PaperContent, analyses: Sequence[str]) -> str:
    """Paragraphs of LaTeX; `analyses` are the names of those whose results the paper shows."""
    paragraphs = {
        "Data.": _data(content),
        "Protocol.": _protocol(content),
        "Algorithms.": _algorithms(content),
        "Evaluation.": _evaluation(content, analyses),
        "Software.": _software(content.facts),
    }
    return "\n\n".join(rf"\paragraph{{{title}}}" + "\n" + text for title, text in paragraphs.items() if text) + "\n"


def _data(content: PaperContent) -> str:
    known = [dataset for dataset in content.datasets if dataset.users is not None]
    where = r" (Table~\ref{tab:datasets})" if known else ""
    number = "one dataset" if len(content.datasets) == 1 else f"{len(content.datasets)} datasets"
    lines = [f"We compare {len(content.algorithms)} algorithms on {number}{where}."]
    sentence, table = content.origin
    if sentence:
        lines.append(latex_text(sentence) + cite("published", table) + ".")
    addresses = [
        rf"{latex_text(dataset.name)} (\url{{{_address(dataset.home)}}})"
        for dataset in content.datasets
        if dataset.home and not cited("datasets", dataset.catalogued)
    ]
    if addresses and content.facts is not None and content.facts.protocol:  # the study itself is known
        lines.append(f"Sources without a publication: {', '.join(addresses)}.")
    return " ".join(lines)


def _address(home: str) -> str:
    """An address for \\url, in which per cent signs and hashes are safe and braces cannot occur."""
    return home.replace("\\", "").replace("{", "").replace("}", "")


def _protocol(content: PaperContent) -> str:
    facts = content.facts
    if facts is None or not facts.protocol:
        return ""
    stated = facts.protocols or {"": facts.protocol}
    groups = grouped({dataset: _protocol_words(protocol) for dataset, protocol in stated.items()})
    if len(groups) == 1:
        lines = [latex_text(next(iter(groups)))]
    else:
        lines = [latex_text(f"On {listing(names, most=None, last='and')}: {words}") for words, names in groups.items()]
    leaks = [finding for finding in facts.findings if finding.leak]
    if leaks:
        where = listing(dict.fromkeys(f"{finding.dataset} ({finding.name})" for finding in leaks), most=8)
        lines.append(latex_text(f"The audit of the splits found possible leakage on {where}."))
    return " ".join(lines)


def _protocol_words(protocol: Mapping[str, Any]) -> str:
    threshold = protocol.get("positive_threshold")
    lines = [
        "Every interaction counts as positive."
        if threshold is None
        else f"Ratings of at least {threshold:g} count as positive, others are left out."
    ]
    if "user_share" in protocol:
        lines.append(f"A random sample of {100 * protocol['user_share']:g} % of the users is kept.")
    if protocol.get("filter") != "none":
        items, users = protocol.get("min_item_interactions"), protocol.get("min_user_interactions")
        how = ", repeatedly until all that are left have as many" if protocol.get("filter") == "core" else ", once"
        lines.append(
            f"Items with fewer than {items} interactions, then users with fewer than {users}, are removed{how}."
        )
    lines.append(f"We use {split_words(protocol)} into training, validation and test parts.")
    if protocol.get("final_fit") == "train+valid" and protocol.get("target", "all") == "all":
        lines.append("The model that is tested is trained on the training and the validation part together.")
    lines += target_words(protocol)
    lines.append(
        "Items that a user has had may be recommended again."
        if protocol.get("task") == "repeat"
        else "Items of a user's training data are never recommended to that user."
    )
    return " ".join(lines)


def _algorithms(content: PaperContent) -> str:
    names = [latex_text(name) + cite("algorithms", content.references.get(name, name)) for name in content.algorithms]
    lines = [f"The algorithms are {', '.join(names[:-1])} and {names[-1]}."]
    facts = content.facts
    if facts is None or not facts.protocol:
        return lines[0]
    if facts.trials:
        lines.append(
            f"For each of them and each dataset, parameters are chosen by the tree-structured Parzen estimator of "
            f"Optuna{cite('tuning', TUNING_PACKAGE)} in {count_of(facts.trials, 'trial')}, judged by "
            f"{latex_text(metric_name(facts.tuning_metric))} on the validation part."
        )
    else:
        lines.append("All use their default parameters.")
    units = {"seconds_per_cell": "seconds", "memory_gb": "GB of memory"}
    limits = [f"{facts.budget[key]:g} {unit}" for key, unit in units.items() if facts.budget.get(key) is not None]
    if limits:
        lines.append(f"Each algorithm may use {' and '.join(limits)} on each dataset.")
    if facts.failed:
        failures = listing((f"{cell.algorithm} on {cell.dataset}" for cell in facts.failed), most=6)
        lines.append(latex_text(f"{len(facts.failed)} of {facts.planned} runs failed: {failures}."))
    for cause in causes(facts.left_out):
        who, where = (listing(named, most=6) for named in (cause.algorithms, cause.datasets))
        lines.append(latex_text(f"Not run: {who} on {where}; each {cause.reason}."))
    return " ".join(lines)


def _evaluation(content: PaperContent, analyses: Sequence[str]) -> str:
    metrics = [
        latex_text(metric_name(finding.metric)) + cite("metrics", split_label(finding.metric)[0])
        for finding in content.findings
    ]
    lines = [f"We report {listing(metrics, most=None, last='and')}."]
    level = rf"$\alpha = {content.alpha:g}$"
    if any(finding.users is not None for finding in content.findings):
        lines.append(
            f"On each dataset, algorithms are compared over users by the sign-flip permutation "
            f"test{cite('analyses', 'users')} of their mean difference, with Holm's correction over the pairs "
            f"({level})."
        )
    tested = next((finding.tested for finding in content.findings if finding.tested is not None), None)
    if tested is not None:
        who = "all pairs are tested together"
        if tested.control is not None:
            who = f"{latex_text(tested.control.name)}, named beforehand, is compared with every other algorithm"
        how = "flipping the signs of whole datasets and stepping down over the largest statistic"
        works = cite("analyses", "verdict")
        if tested.judgement.test == "wilcoxon-holm":
            how, works = TESTS[tested.judgement.test], cite("analyses", "compare")
        lines.append(f"Over datasets, {who} by {how} ({level}); differences are Hodges and Lehmann's estimates{works}.")
    if any(finding.rank is not None and finding.rank.probability_best is not None for finding in content.findings):
        lines.append("Intervals of mean ranks are those of Student's t, with one dataset ranked by lot added.")
    if "profiles" in analyses:
        lines.append(
            "A performance profile shows on which share of the datasets an algorithm is within a factor of the "
            f"best{cite('analyses', 'profiles')}."
        )
    for name in analyses:
        if name not in ("rank", "compare", "users", "profiles") and cited("analyses", name):
            lines.append(f"The {latex_text(name.replace('_', ' '))} analysis follows{cite('analyses', name)}.")
    return " ".join(lines)


def _software(facts: StudyFacts | None) -> str:
    if facts is None:
        return f"Tables, figures and tests were made with RecAssay {__version__}."
    versions = dict(facts.manifest.get("versions", {}))
    ours, python = versions.pop("recassay", __version__), versions.pop("python", "")
    others = listing((f"{name} {number}" for name, number in versions.items()), most=None)
    seeds = listing(facts.seeds, most=None, last="and")
    repeated = "The seed is" if len(facts.seeds) == 1 else "The seeds are"
    sentence = f"The study was run with RecAssay {ours}" + (f" on Python {python}" if python else "")
    plan = f" The plan was {facts.plan}." if facts.plan.startswith("sealed") else ""
    return latex_text(f"{sentence} ({others})." + (f" {repeated} {seeds}." if seeds else "") + plan)


def dataset_grid(datasets: Sequence[DatasetFacts]) -> Grid | None:
    """One row per dataset: its counts after the protocol; None where nothing is known of any."""
    if all(dataset.users is None for dataset in datasets):
        return None
    split = any(dataset.tested is not None for dataset in datasets)
    rows = []
    for dataset in datasets:
        density = EMPTY
        if dataset.users and dataset.items and dataset.interactions is not None:
            density = Cell(f"{100 * dataset.interactions / (dataset.users * dataset.items):.3f}")
        counts = map(_number, (dataset.users, dataset.items, dataset.interactions))
        tested = map(_number, (dataset.tested, dataset.judged) if split else ())
        rows.append((dataset.name, (*counts, density, *tested)))
    heads = ("users", "items", "training" if split else "interactions", "density (%)")
    return Grid((*heads, *(("test", "test users") if split else ())), tuple(rows))


def dataset_caption(datasets: Sequence[DatasetFacts]) -> str:
    """What the columns of the table of datasets count."""
    if any(dataset.tested is not None for dataset in datasets):
        return (
            "The datasets after the protocol: users, items and interactions of the final training, their share of all "
            "pairs, and the interactions and users of the test part."
        )
    return "The datasets: users, items, interactions, and their share of all pairs."


def _number(count: int | None) -> Cell:
    return EMPTY if count is None else Cell(f"{count:,}")


def dataset_citations(datasets: Sequence[DatasetFacts]) -> dict[str, str]:
    """By name, what is cited for a dataset that the catalogue knows."""
    return {dataset.name: cite("datasets", dataset.catalogued) for dataset in datasets if dataset.catalogued}


Kind = Literal["algorithms", "metrics", "analyses", "datasets", "published", "tuning"]

_HERE = files("recassay.reporting.paper")


@cache
def entries() -> dict[str, str]:
    """Every BibTeX entry by key."""
    text = _HERE.joinpath("references.bib").read_text(encoding="utf-8")
    matches = re.findall(r"^(@\w+\{([^,]+),\n.*?^\})$", text, flags=re.MULTILINE | re.DOTALL)
    return {key: entry for entry, key in matches}


@cache
def citations() -> dict[str, dict[str, list[str]]]:
    """The keys that stand for each name, by kind."""
    kinds = tomllib.loads(_HERE.joinpath("citations.toml").read_text(encoding="utf-8"))
    return {kind: {canonical(name): keys for name, keys in of_kind.items()} for kind, of_kind in kinds.items()}


def cited(kind: Kind, name: str) -> list[str] | None:
    """The keys that stand for a name; None where nothing is known of it, an empty list where nothing is cited.

    A dataset is also known by the start of its name: `ml-100k` by `ml`.
    """
    known = citations()[kind]
    wanted = canonical(name)
    if wanted in known:
        return known[wanted]
    if kind != "datasets":
        return None
    starts = [start for start in known if wanted.startswith(start)]
    return known[max(starts, key=len)] if starts else None


def cite(kind: Kind, name: str) -> str:
    """`~\\cite{key}` after a name, or nothing."""
    keys = cited(kind, name)
    return rf"~\cite{{{','.join(keys)}}}" if keys else ""


def bibliography(text: str) -> str:
    """The BibTeX file of all keys that the LaTeX text cites, sorted by key."""
    keys = {key.strip() for group in re.findall(r"\\cite\{([^}]*)\}", text) for key in group.split(",")}
    return "\n\n".join(entries()[key] for key in sorted(keys)) + "\n"
