"""Boards in words: findings, what would change them, and why an algorithm has no place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recassay.analysis.board.result import METRIC, BoardResult, Contest, Finding, Standing
from recassay.core.tables.labels import metric_name
from recassay.core.words import count_of, listing
from recassay.reporting.numbers import percent
from recassay.reporting.words.verdict import pair_sentence

STANDINGS: dict[Standing, str] = {
    "shown": "Shown",
    "undecided": "Not decided",
    "measured": "Measured",
    "estimated": "Estimate",
    "described": "Description",
}
"""Each standing as people read it."""
PAPERS = {"kdd24": "KDD'24", "bi-reirt": "Bi-ReIRT"}


def title(name: str, *, by_time: bool) -> str:
    """Which board this is, before its number of datasets."""
    if name not in ("board", "board-time"):
        return name
    return "By time" if by_time else "Random"


def second_lines(board: BoardResult) -> list[str]:
    """Below the headline: who leads and how likely again, and which of those that could be best is the cheapest."""
    v = board.verdicts[METRIC]
    lines = []
    if v.leads_again is not None:
        again = f"a {percent(float(v.leads_again[0]))} chance of leading again on other such datasets"
        lowest = [name for name, rank in zip(v.algorithms, v.mean_rank, strict=True) if rank == v.mean_rank[0]]
        if len(lowest) > 1:
            lines.append(f"{listing(lowest, last='and')} share the best mean rank by {metric_name(METRIC)}.")
        else:
            lines.append(f"{lowest[0]} has the best mean rank by {metric_name(METRIC)}, and {again}.")
    if Contest.of(v).decided:
        core = [name for name in v.could_be_best if board.table.devices.get(name) == "cpu" and name in board.seconds]
        quick = min(core, key=board.seconds.__getitem__, default=None)
        if quick is not None and len(v.could_be_best) > 1:
            took = f"{board.seconds[quick]:.2g} s on a median dataset"
            lines.append(f"Of those that could be best, {quick} trains fastest on one core ({took}).")
    return lines


def of_datasets(facts: Mapping[str, Any]) -> str:
    """The datasets of a board, as findings call them."""
    return f"the {facts['datasets']} datasets split {'by time' if facts['by_time'] else 'at random'}"


def sentence(finding: Finding) -> str:
    """What is known."""
    return _SENTENCES[finding.rule](finding.facts)


def _verdict(facts: Mapping[str, Any], by: str = "") -> str:
    contest: Contest = facts["contest"]
    k, could, on = len(contest.algorithms), contest.could, of_datasets(facts)
    aside = f" (without {listing(facts['aside'], last='and')})" if facts["aside"] else ""
    field = f"the {k} algorithms{aside}"
    start = f"By {by}, " if by else ""
    if contest.grade == "clear_winner":
        text = f"{could[0]} beats the {count_of(k - 1, 'other algorithm')}{aside} on {on}"
    elif contest.grade == "shared_lead":
        some = "" if len(could) > 6 else f": {listing(could, last='and', most=None)}"
        text = f"{len(could)} of {field} could be best on {on}{some}"
    elif contest.grade == "too_little_data":
        text = f"{on} are too few to compare {field}"
    else:
        text = f"{on} do not show which of {field} is best: any could be"
    text = f"{start}{text}."
    return text[0].upper() + text[1:]


def _popularity(facts: Mapping[str, Any]) -> str:
    better, others = len(facts["better"]), facts["others"]
    place = f"MostPop is number {facts['place']} of {others + 1}"
    if not better:
        return f"On {of_datasets(facts)}, no algorithm is shown to beat popularity; {place}."
    return f"On {of_datasets(facts)}, {better} of the {others} other algorithms beat popularity; {place}."


def _pair(facts: Mapping[str, Any], what: str) -> str:
    v, pair, kinds = facts["verdict"], facts["pair"], facts["kinds"]
    of_kind, other, rest = facts["of_kind"], facts["other"], len(v.algorithms) - kinds
    among = f"the {kinds} {what}s with a place" if kinds > 1 else f"the only {what} with a place"
    best = f"{of_kind[0]} is {among}" if kinds == 1 else f"{_lead(of_kind, ' is')} of {among}"
    best += f", {_lead(other)} of the {rest} others"
    few = [f"{trials:g} for {name}" for name, trials in facts["trials"].items() if trials is not None]
    unequal = f" Their searches were unequal: {listing(few, last='and')} (median trials)." if len(
        set(facts["trials"].values())) > 1 else ""  # fmt: skip
    return f"{pair_sentence(v, pair)[:-1]} on {of_datasets(facts)}. {best}.{unequal}"


def _lead(names: Sequence[str], verb: str = "") -> str:
    """Who is the best, before what of; several share the best mean rank."""
    if len(names) > 1:
        return f"{listing(names, last='and')} share the best mean rank"
    return f"{names[0]}{verb} the best"


def _cheapest(facts: Mapping[str, Any]) -> str:
    parts = []
    for device, where, most in (("cpu", "one core", ""), ("gpu", "a shared GPU", "at most ")):
        if not (found := facts[device]):
            continue
        (quick, first), (slow, last) = found[0], found[-1]
        parts.append(
            f"on {where} {first} trains in {most}{quick:.2g} s"
            if len(found) == 1
            else f"on {where} {first} trains fastest ({most}{quick:.2g} s) and {last} slowest ({most}{slow:.2g} s)"
        )
    could = facts["could"]
    return (
        f"Of the {could} algorithms that could be best on {of_datasets(facts)}, {'; '.join(parts)} (medians over the "
        "datasets)."
    )


def _traits(facts: Mapping[str, Any]) -> str:
    telling, hard = (
        sorted(facts["traits"], key=lambda name: facts["traits"][name][key]) for key in ("discrimination", "difficulty")
    )
    return (
        f"Of {of_datasets(facts)}, {telling[-1]} separates the algorithms best and {telling[0]} least; {hard[-1]} is "
        f"the hardest and {hard[0]} the easiest (beta-IRT)."
    )


def _number(place: int, shared: bool) -> str:
    return f"number {place}{' (shared)' if shared else ''}"


def _agreement(facts: Mapping[str, Any]) -> str:
    says = {"contradicts": "contradict", "confirms": "confirm", "neither": "neither confirm nor contradict"}
    ends = "contradicts" if facts["opposed"] else "confirms" if 2 * facts["alike"] > facts["decided"] else "neither"
    first, second = facts["places"]
    aside = f" (without {facts['aside']})" if facts["aside"] else ""
    return (
        f"The {facts['datasets']} datasets split by time {says[ends]} the order on random splits. Of the "
        f"{count_of(facts['decided'], 'pair')} of algorithms that random splits decide, they decide {facts['alike']} "
        f"the same way and {facts['opposed'] or 'none'} the other way. The orders of the {facts['shared']} algorithms "
        f"with a place on both boards{aside} correlate at {facts['rho']:.2f} (Spearman). Among them, "
        f"{facts['moved']} moves most: from {_number(*first)} to {_number(*second)}."
    )


def _against(facts: Mapping[str, Any]) -> str:
    name, (theirs, ours) = PAPERS[facts["table"]], facts["places"]
    first_there, first_here = (listing(names, last="and") for names in facts["first"])
    first = (
        f"both rank {first_here} first"
        if first_there == first_here
        else f"{name} ranks {first_there} first and the board {first_here}"
    )
    return (
        f"{name} and the board of random splits share {facts['shared']} algorithms. Among these, {first}; the two "
        f"orders correlate at {facts['rho']:.2f}. {facts['moved']} differs most: {_number(*theirs)} in {name}, "
        f"{_number(*ours)} on the board. The protocols differ."
    )


_SENTENCES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "agreement": _agreement,
    "overall": _verdict,
    "recall": lambda facts: _verdict(facts, metric_name("recall@20")),
    "coverage": lambda facts: _verdict(facts, metric_name("coverage@10")),
    "popularity": _popularity,
    "networks": lambda facts: _pair(facts, "network"),
    "sequences": lambda facts: _pair(facts, "sequential algorithm"),
    "cheapest": _cheapest,
    "traits": _traits,
    "against": _against,
}


def grade(finding: Finding) -> str:
    """What it rests on; a test whose outcome hangs on single datasets is fragile."""
    return "Fragile" if finding.standing == "shown" and finding.without else STANDINGS[finding.standing]


def change(finding: Finding) -> str:
    """What would change it, where that was tried."""
    without = finding.without
    if without is None:
        return "Not tested by leaving datasets out."
    moves = ", or ".join(
        f"{listing(names, last='or', most=None)} {words}"
        for names, words in ((finding.joining, "could also be best"), (finding.leaving, "could no longer be best"))
        if names
    )
    if not without and moves:
        text = f"With one dataset left out, {moves}."
    elif not without:
        text = f"It {'stays undecided' if finding.standing == 'undecided' else 'holds'} whichever dataset is left out."
    elif len(without) <= 4:
        text = f"It changes without {listing(without, last='or')}."
    else:
        text = f"It changes when any of {len(without)} of the {finding.of_datasets} datasets is left out."
    if finding.range is not None:
        text += f" The correlation then lies between {finding.range[0]:.2f} and {finding.range[1]:.2f}."
    verdict = finding.facts.get("verdict")
    if finding.rule == "overall" and verdict is not None and verdict.what_would_change:
        text += f" {verdict.what_would_change[0]}"
    return text


PROCESS_ENDED = ("AcceleratorError", "its process ended")
"""How reasons begin where the process of a cell ended."""
NOT_FINITE = "scores are NaN"
"""What a reason has where a model's scores cannot be ranked."""


def failed(reason: str) -> bool:
    """Whether a cell without a value failed; the others were refused by a rule, or not run."""
    return reason.startswith(PROCESS_ENDED) or NOT_FINITE in reason


def reasons(lacking: Mapping[str, str], total: int) -> list[str]:
    """Which datasets an algorithm lacks, one line per reason."""
    by: dict[str, list[str]] = {}
    for dataset, reason in lacking.items():
        by.setdefault(reason_in_brief(reason), []).append(dataset)
    return [
        f"{reason}: {listing(sets) if len(sets) <= 3 else f'{len(sets)} of {total} datasets'}"
        for reason, sets in sorted(by.items(), key=lambda one: -len(one[1]))
    ]


def reason_in_brief(reason: str) -> str:
    """Why a cell has no value, in few words."""
    if "would need about" in reason or "out of memory" in reason:
        return "over the memory limit"
    if "cannot be asked with a history" in reason:
        return "cannot answer after a history"
    if reason.startswith(PROCESS_ENDED):
        return "failed with the GPU's process"
    if NOT_FINITE in reason:
        return "failed, since its scores are not numbers"
    if reason.startswith("no value after"):
        return "no value within the time of a cell"
    if reason.startswith("not started"):
        return "not run, since the grid's time was up"
    short = re.split(r"[;:] | \(", reason)[0]
    return short.split(" needs ", 1)[-1].join(("needs ", "")) if " needs " in short else short


def cost_line(cells: Mapping[str, int], hours: Mapping[str, float]) -> str:
    """How many cells are done, refused, failed and not run, and what the finished ones took."""
    counted = ", ".join(f"{number:,} {what}" for what, number in cells.items() if number)
    took = " and ".join(f"{hours[device]:.2g} hours {words}" for device, words in
                        (("cpu", "of one core"), ("gpu", "beside others on the GPU")) if hours.get(device))  # fmt: skip
    return f"Cells: {counted}. The finished ones took {took}, searches included."


def seeds_line(cells: Mapping[int, int], *, shared: bool) -> str:
    """Of how many seeds values are means: by number of seeds how many cells have so many; `shared`: with one search."""
    most = max(cells, default=1)
    if most == 1:
        return "One seed was run, so chance in training is not averaged out."
    share = ", which share the search of the first" if shared else ""
    counted = [
        f"{number:,} {'cell has' if number == 1 else 'cells have'} {'one' if seeds == 1 else seeds}"
        for seeds, number in sorted(cells.items(), reverse=True)
    ]
    return f"Values are means over up to {most} seeds{share}: {listing(counted, last='and', most=None)}."


def left_out_lines(left_out: Mapping[str, str]) -> list[str]:
    """Which datasets are not part of a board, one line per reason."""
    by: dict[str, list[str]] = {}
    for name, why in left_out.items():
        by.setdefault(why, []).append(name)
    return [f"Not part of the board: {listing(names, last='and', most=None)} ({why})." for why, names in by.items()]


def checked_lines(told: Mapping[str, Any], *, sound: bool) -> list[str]:
    """What was checked of a bundle, the answer first; `rerun` has the cells with their states."""
    name, rerun, chances = told["algorithm"], told["rerun"], told["chances"]
    gaps = "" if told["done"] == told["cells"] else f" ({told['cells'] - told['done']} of its cells have no value)"
    first = (
        f"Nothing in the bundle of {name} on {told['benchmark']} contradicts itself or the board's rules{gaps}."
        if sound
        else f"Do not take the bundle of {name} on {told['benchmark']}: cells that were run again came out differently."
    )
    lines = [first]
    if told["late"]:
        lines.append(f"Of its cells, {told['late']} had a value when the plan was sealed.")
    if told["held"]:
        lines.append(f"The sampled lists of {count_of(told['held'], 'cell')} come to the values that it states.")
    for cell, state in rerun:
        if state in ("differs", "failed"):
            now = "failed this time" if cell.again is None else f"now {cell.again:.4g}"
            lines.append(f"{name} on {cell.dataset}: it states {cell.reported:.4g}, {now}.")
    if rerun:
        fine = sum(state in ("same", "within noise") for _, state in rerun)
        lines.append(
            f"Of {count_of(len(rerun), 'cell')} run again, {fine} came out as stated. One cell improved by "
            f"{percent(chances.gain)} would have been found with a chance of {percent(chances.caught_hidden or 0.0)}."
        )
    elif told["why_not"]:
        lines.append(f"No cell was run again: {told['why_not']}.")
    lines.append(f"Its plan was sealed as {told['seal']}; its content is {told['sha256']}.")
    return [*lines, *([f"Kept as {told['kept']}."] if told["kept"] else [])]


def handed_in(sha256: str, record: Mapping[str, Any]) -> str:
    """What a card says of a submitted algorithm."""
    rerun = record.get("rerun") if record.get("sha256") == sha256 else None
    again = f"{len(rerun)} cells were run again" if isinstance(rerun, list) and rerun else "no cell was run again"
    return f"a bundle that does not contradict itself ({sha256[:12]}); {again}"
