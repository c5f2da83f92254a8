"""One algorithm among the shipped baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recassay.analysis.bench.result import NOT_ASKED, BenchResult
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of, duration, energy, listing
from recassay.reporting.words.verdict import caution


def sentences(result: BenchResult, words: Vocabulary = USUAL) -> list[str]:
    """Where it stands, whom it beats, what it cost, and what was left out."""
    lines = [headline(result, words), *beaten(result)]
    if result.seconds is not None:
        used = "" if result.joules is None else f" and {energy(result.joules)}"
        lines.append(f"{result.algorithm} took {duration(result.seconds)}{used} in all, tuning included.")
    if result.skipped:
        unwanted = sum(why == NOT_ASKED for why in result.skipped.values())
        lacking = [f"{name} ({why})" for name, why in result.skipped.items() if why != NOT_ASKED]
        left = [f"{unwanted} {NOT_ASKED}"] if unwanted else []
        counted = f"{len(result.rows)} of the benchmark's {result.of_datasets} {words.datasets} were used"
        lines.append(f"{counted}; not used: {listing([*lacking, *left], most=8)}.")
    if result.left_out:
        lines.append(f"Not compared, since values are missing: {listing(result.left_out, most=8)}.")
    warning = caution(result.judgement, words)
    if warning and result.judgement.leaders == (result.algorithm,):
        lines.append(warning)
    return [*lines, *result.notes]


def headline(result: BenchResult, words: Vocabulary = USUAL) -> str:
    """Where it stands, in one sentence."""
    verdict, k = result.judgement, len(result.judgement.algorithms)
    places = [verdict.place_of(name) for name in verdict.algorithms]
    place = verdict.place_of(result.algorithm)
    number = f"number {place} of {k}{' (shared)' if places.count(place) > 1 else ''}"
    better, worse = len(result.against("better")), len(result.against("worse"))
    n, every = len(result.rows), result.of_datasets
    over = count_of(n, words.dataset) if n == every else f"{n} of the {every} {words.datasets}"
    if result.trial:
        return f"A trial on {over}, too few for a verdict: {result.algorithm} would be {number}."
    if verdict.grade == "too_little_data":
        return f"{result.algorithm} is {number} on {over}: too few for a verdict."
    if better == k - 1:
        return f"{result.algorithm} beats all {k - 1} baselines on {over}."
    beaten = (
        f"it beats {count_of(better, 'baseline') if better else 'no baseline'}, and {worse or 'none'} "
        f"beat{'s' if worse <= 1 else ''} it"
    )
    return f"{result.algorithm} is {number} on {over}: {beaten}."


def beaten(result: BenchResult) -> list[str]:
    """Whom it beats, who beats it, and with whom nothing is decided."""
    sentences = []
    for kinds, sentence in (
        (("better",), "{own} beats {names}."),
        (("worse",), "{names} {beat} {own}."),
        (("equivalent",), "{own} and {names} are equivalent within {within} %."),
        (("undecided", "undecidable"), "Against {names} nothing is decided."),
    ):
        names = result.against(*kinds)
        if names and not result.trial:
            sentences.append(sentence.format(
                own=result.algorithm, names=listing(names, most=8, last="and"),
                beat="beats" if len(names) == 1 else "beat", within=f"{100 * result.judgement.within:g}",
            ))  # fmt: skip
    return sentences


SOURCES = {"embedded": "Embedded", "folder": "From {folder}", "stored": "Stored", "download": "To be downloaded"}
"""Where datasets come from, as the plan of a bench says it."""


def plan_lines(
    algorithm: str, benchmark: str, sources: Sequence[tuple[str, str]], skipped: Mapping[str, str], folder: str
) -> list[str]:
    """Before anything runs: where each dataset comes from, and which are left out and why."""
    total = len(sources) + len(skipped)
    lines = [f"{algorithm} on {len(sources)} of {count_of(total, 'dataset')} of {benchmark}; nothing has run yet."]
    for kind, words in SOURCES.items():
        names = [name for name, what in sources if what == kind]
        if names:
            lines.append(f"{words.format(folder=folder)} ({len(names)}): {listing(names, most=None)}.")
    for why in dict.fromkeys(skipped.values()):
        names = [name for name, what in skipped.items() if what == why]
        lines.append(f"Skipped ({len(names)}), {why}: {listing(names, most=None)}.")
    if skipped and not folder:
        lines.append("Name the folder of their files as `data`; docs/benchmark.md says where each dataset comes from.")
    return lines


def making(dataset: str) -> str:
    """What is said before the split of a dataset is made."""
    return f"{dataset}: making its split"
