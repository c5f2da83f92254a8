"""The top of a report: the verdict, what to be wary of, and the study at a glance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recassay.analysis.users.result import UsersResult
from recassay.analysis.verdict.result import Verdict
from recassay.core.tables.facts import StudyFacts
from recassay.core.tables.labels import metric_name
from recassay.core.vocabulary import Vocabulary
from recassay.core.words import count_of, listing
from recassay.reporting.content import ReportContent, grouped
from recassay.reporting.figures import FilledSection
from recassay.reporting.headline import judgement
from recassay.reporting.markup import Child, Markup, answered, fold, joined, tag
from recassay.reporting.numbers import better, sized
from recassay.reporting.page.cautions import cautions
from recassay.reporting.page.forest import verdict_card
from recassay.reporting.page.one_dataset import users_card
from recassay.reporting.words.claims import box
from recassay.reporting.words.sequences import target_words

SPLITS = {
    "global_time": "by one point in time for all users",
    "rolling": "windows of time that move on",
    "user_time": "by time within each user",
    "leave_last_out": "the last item of each user",
    "random": "at random over all interactions",
    "random_per_user": "at random within each user",
    "kfold": "cross-validation over users' interactions",
    "given": "given files",
}


def top(content: ReportContent, filled: Sequence[FilledSection]) -> Markup:
    """Verdict, warnings and the study at a glance."""
    verdict, over, warned = judgement(content.analyses), content.result(UsersResult), 0
    if verdict is not None:
        first = verdict_card(verdict, content.words, content.own)
    elif over is not None and len(over.datasets) == 1 and not content.own:
        first, warned = users_card(content, over), 1
    else:
        first = _sentences(filled)
    claims = _claims(verdict, content.words) if verdict is not None and not content.own else None
    return joined([first, _warnings(content, warned), claims, _glance(content)])


def _claims(verdict: Verdict, words: Vocabulary) -> Markup | None:
    """What may be claimed of the table, and what may not."""
    yes, no = ([tag("li", line) for line in lines] for lines in box(verdict, words).values())
    rest = [tag("p", tag("strong", "It does not support")), tag("ul", no)] if no else None
    title = answered(tag("h2", "What you may claim"), "what this table supports, and what it does not")
    return fold(title, tag("ul", yes), rest, id="claims", class_="section") if yes else None


def _sentences(filled: Sequence[FilledSection]) -> Markup:
    """Where nothing can be said over datasets: the first sentence of each part."""
    by_part: dict[str, str] = {}
    for section in filled:
        if section.sentences:
            by_part.setdefault(section.section.part, section.sentences[0])
    details = next((list(section.sentences[1:2]) for section in filled if section.sentences), [])
    nothing = "No analysis had anything to say about this table; see what was not done below."
    first, *others = by_part.values() or (nothing,)
    items = [tag("li", sentence) for sentence in (*details, *others)]
    return tag(
        "section",
        tag("h2", first, id="verdict-title", class_="headline"),
        tag("ul", items) if items else None,
        id="verdict",
        aria_labelledby="verdict-title",
    )


def _warnings(content: ReportContent, warned: int) -> Markup | None:
    """The warnings, without the first so many, which the first screen states."""
    items = [tag("li", tag("strong", title), " ", sentence) for title, sentence in [*cautions(content)][warned:]]
    if not items:
        return None
    return tag(
        "section",
        tag("h2", "Before you believe it", id="warnings-title"),
        tag("ul", items),
        id="warnings",
        role="note",
        aria_labelledby="warnings-title",
    )


def _glance(content: ReportContent) -> Markup:
    results, words = content.results, content.words
    metrics = listing(results.metrics, most=20)
    convention = content.formulas.get(content.metric)
    sources = [f"{name} (SHA-256 {digest}…)" for name, digest in content.sources]
    reasons = grouped(content.skipped).items()
    undone_items = [tag("li", tag("strong", ", ".join(names)), f": {reason}") for reason, names in reasons]
    rows: dict[str, Child] = {  # those without a value are left out
        words.algorithms.capitalize(): f"{len(results.algorithms)}: {listing(results.algorithms, most=40)}",
        words.datasets.capitalize(): f"{len(results.datasets)}: {listing(results.datasets, most=40)}",
        "Metric": f"{content.metric} ({better(content.higher_is_better)}), of {len(results.metrics)}: {metrics}",
        **({} if content.facts is None else _study_rows(content.facts)),
        "Convention": convention and f"{convention['formula']}; {convention['convention']}",
        "Source": "; ".join(sources[:5]),
        "Not done": tag("ul", undone_items) if undone_items else None,
    }
    counted = f"{sized(results.algorithms, results.datasets, words)} by {metric_name(content.metric)}"
    undone = f", and what was not done ({len(content.skipped)})" if content.skipped else ""
    return fold(
        answered(tag("h2", "What was compared"), f"{counted}: protocol, sources{undone}"),
        tag("dl", [[tag("dt", name), tag("dd", value)] for name, value in rows.items() if value], class_="glance"),
        id="glance",
        class_="section",
    )


def _study_rows(facts: StudyFacts) -> dict[str, Child]:
    cells = f"{facts.done} of {facts.planned} done, {len(facts.failed)} failed"
    if facts.to_go:
        cells += f", {facts.to_go} to go"
    seeds = f"; {len(facts.seeds)} seeds" if len(facts.seeds) > 1 else "".join(f"; seed {seed}" for seed in facts.seeds)
    planned = bool(facts.protocol)
    return {
        "Cells": f"{cells}{seeds}",
        **(_protocols(facts) if planned else {}),
        "Tuning": _tuning(facts) if planned else None,
        "Budget": _budget(facts.budget) if planned or facts.budget else None,
        "Energy": facts.energy,
        "Plan": facts.plan if planned else None,
    }


def _tuning(facts: StudyFacts) -> str:
    """How many trials the finished cells of each algorithm had, and by which metric they were judged."""
    groups = grouped(facts.spent)
    if not any(most for _, most in groups):
        return "none"
    lines = [
        f"{_trials(*spent)} for each cell of {listing(names, most=20)}"
        for spent, names in sorted(groups.items(), reverse=True)
    ]
    return f"{'; '.join(lines)}; judged by {facts.tuning_metric} on the validation part"


def _trials(fewest: int, most: int) -> str:
    if most == 0:
        return "none"
    return count_of(most, "trial") if fewest == most else f"{fewest} to {most} trials"


def _protocols(facts: StudyFacts) -> dict[str, Child]:
    """What held for which dataset: one row where it is the same for all, else one for each group of datasets."""
    stated = facts.protocols or {"": facts.protocol}
    groups = grouped({dataset: (_protocol(protocol), _split(protocol)) for dataset, protocol in stated.items()})
    if len(groups) == 1:
        [(kept, split)] = groups
        return {"Protocol": kept, "Split": split}
    rows = [
        tag("li", tag("strong", listing(datasets, most=40)), f": {kept}; {split}")
        for (kept, split), datasets in groups.items()
    ]
    return {"Protocol": tag("ul", rows)}


def _protocol(protocol: Mapping[str, Any]) -> str:
    threshold = protocol.get("positive_threshold")
    positive = (
        "every interaction is positive" if threshold is None else f"ratings of at least {threshold:g} are positive"
    )
    if "user_share" in protocol:
        positive += f"; {100 * protocol['user_share']:g} % of the users, drawn at random"
    if protocol.get("filter") == "none":
        return f"{positive}; no filter"
    kept = (
        f"items with at least {protocol.get('min_item_interactions')} and users with at least "
        f"{protocol.get('min_user_interactions')} interactions"
    )
    return f"{positive}; {kept}, {'until all have them' if protocol.get('filter') == 'core' else 'filtered once'}"


def _split(protocol: Mapping[str, Any]) -> str:
    name = str(protocol.get("split"))
    parts = " / ".join(f"{100 * float(share):g}" for share in protocol.get("ratios", ()))
    shares = f", {parts} % train, validation, test" if name not in ("leave_last_out", "kfold", "given") else ""
    if protocol.get("task") == "repeat":
        shares += "; repeat consumption: seen items are judged and allowed in lists"
    allowed = protocol.get("allow_leakage") or ()
    leak = f"; leakage allowed by name: {listing(allowed)}" if allowed else ""
    asked = "".join(f". {sentence.rstrip('.')}" for sentence in target_words(protocol))
    rule = SPLITS.get(name, "a rule of its own")
    return f"{name} ({rule}){shares}; final fit on {protocol.get('final_fit')}{leak}{asked}"


def _budget(budget: Mapping[str, Any]) -> str:
    seconds, memory = budget.get("seconds_per_cell"), budget.get("memory_gb")
    return (
        f"{'no limit of time' if seconds is None else f'{seconds:g} s'} a cell, "
        f"{'nine tenths of the machine’s memory' if memory is None else f'{memory:g} GB'}"
    )
