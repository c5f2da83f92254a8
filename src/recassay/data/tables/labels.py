"""Metric labels as other people write them: `ndcg_at_10`, `NDCGK_10`, `P_10`, `HR@10 (%)`, `test/recall@20`, `R@20`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from recassay.core.metric_facts import FACTS, named_facts
from recassay.core.tables.labels import is_known, normal_label

_ARROWS = re.compile(r"[↑↓⇑⇓⬆⬇▲▼]|\\(?:uparrow|downarrow)|\((?:higher|lower) is better\)", re.IGNORECASE)
_PERCENT = re.compile(r"[(\[]\s*(?:in\s*)?\\?%\s*[)\]]|\\?%|\(?\bpercent\b\)?", re.IGNORECASE)
_DEVIATION = re.compile(
    r"(?:[ _.\-/(\[]*\b|_)(?P<kind>std\.?(?:[ _]?dev)?|stdev|stddev|sd|stderr|std[ _]?err(?:or)?|se|sem|error bars?)"
    r"[)\]]?$|"
    r"^(?P<first>std|stdev|stddev|sd|stderr|se|sem)[ _.\-/(]+|\s*±\s*$|^±\s*|^\+/-\s*",
    re.IGNORECASE,
)
_MEAN = re.compile(r"[ _.\-/(\[]+(?:mean|avg|average)[)\]]?$|^(?:mean|avg|average)[ _.\-/]+", re.IGNORECASE)
_PHASE = re.compile(
    r"^(?:metrics?[./_])?"
    r"(?:(?P<phase>test|valid|validation|val|dev|train|eval|evaluation|best[ _]valid)(?:[_/.: \-]+|$))?",
    re.IGNORECASE,
)
_UNIT = re.compile(
    r"\s*[(\[]\s*(?P<unit>s|sec|secs|seconds?|ms|min|mins|minutes?|h|hours?|mb|gb|gib|mib|kwh)\.?\s*[)\]]$", re.I
)
_CUTOFFS = (
    re.compile(r"^(?P<name>[^@]+?)\s*@\s*\{?\s*(?:k\s*=\s*|top-?)?(?P<k>\d+)\s*\}?(?P<variant>\[[A-Za-z_][^\]]*\])?$"),
    re.compile(r"^(?P<name>.+?)[ _.\-]?at[ _.\-]?(?P<k>\d+)$", re.IGNORECASE),
    re.compile(r"^(?P<name>.+?)[ _.\-]cut[ _.\-](?P<k>\d+)$", re.IGNORECASE),
    re.compile(r"^(?P<name>.+?)K[ _.\-]?(?P<k>\d+)$"),
    re.compile(r"^(?P<name>.+?)\s*[ _.\-/(\[]\s*(?:k\s*=\s*|top-?)?(?P<k>\d+)\s*[)\]]?$", re.IGNORECASE),
    re.compile(r"^(?P<name>[^\d@]+?)(?P<k>\d+)$"),
)
_SAMPLED = re.compile(
    r"[ _.\-/(\[,]*(?:(?:w/|with|among|against|over|on|vs\.?)\s*)?(?<![a-z])(?:"
    r"(?:uni(?:form)?|pop(?:ular(?:ity)?)?)[-_ ]?(?P<mode>\d+)|"
    r"(?P<before>\d+)[-_ ]*(?:[a-z]+[-_ ]+)?neg(?:ative)?s?(?:[-_ ](?:items?|samples?))?|"
    r"neg(?:ative)?s?[-_ ]?(?P<after>\d+)|"
    r"sampled(?:[-_ ]?(?P<drawn>\d+))?(?:[-_ ]popular)?(?:[-_ ](?:items|negatives))?"
    r")(?![a-z0-9])[ _.\-/)\],]*",
    re.IGNORECASE,
)
"""Words that say that an item was ranked among drawn ones: `uni100` (RecBole), `(100 negatives)`, `sampled`."""
_SHORT = {facts.letter: facts.name for facts in FACTS if facts.letter}
"""What one letter means before a cut-off, as in R@20."""

UNITS = {"ms": 0.001, **dict.fromkeys(("min", "mins", "minute", "minutes"), 60.0),
         **dict.fromkeys(("h", "hour", "hours"), 3600.0)}  # fmt: skip
"""Units of time that are turned into seconds."""


@dataclass(frozen=True, slots=True)
class Spelled:
    """What a header says: the label, whether the name is known, and how the numbers under it are to be read."""

    label: str
    known: bool
    percent: bool = False
    deviation: str = ""
    """`deviation` or `error` where the column holds standard deviations or standard errors of the metric."""
    phase: str = ""
    """`valid` or `train` where the column was not measured on test data."""
    unit: float = 1.0


def spelled(text: str) -> Spelled | None:
    """The metric that a header names; None where it names none. `name@k` is a metric whatever the name."""
    bare = _ARROWS.sub("", text.replace("$", "").replace("\\_", "_")).strip()
    bare = bare.rstrip(".") if bare.count(".") == 1 else bare
    if not bare or len(bare) > 120:
        return None
    label = _known(bare)
    if label:
        return Spelled(label, True)
    among = _SAMPLED.search(bare)
    if among is not None:
        plain = spelled(" ".join(filter(None, (bare[: among.start()], bare[among.end() :]))))
        if plain is not None and plain.known and "[" not in plain.label:
            return replace(plain, label=f"{plain.label}[{sampling(among.group(0))}]")
    percent = bool(_PERCENT.search(bare))
    bare = _PERCENT.sub("", bare).strip() if percent else bare
    deviation = ""
    spread = _DEVIATION.search(bare)
    if spread and spread.group(0) != bare:
        kind = (spread["kind"] or spread["first"] or "").lower()
        deviation = "error" if kind.startswith(("stderr", "std err", "std_err", "se", "error")) else "deviation"
        bare = _DEVIATION.sub("", bare, count=1).strip(" _-/.")
    bare = _MEAN.sub("", bare).strip()
    unit = _UNIT.search(bare)
    bare = _UNIT.sub("", bare) if unit else bare
    seconds = UNITS.get(unit["unit"].lower() if unit else "", 1.0)
    phase = _PHASE.match(bare)
    rest = bare[phase.end() :] if phase and phase.group(0) else bare
    label = _known(bare) or (_known(f"{bare} s") if unit else None)
    phase_word = ""
    if label is None:
        label = _known(rest)
        phase_word = (phase["phase"] or "").lower() if phase else ""
    cut = _CUTOFFS[0].match(rest)
    if label is None and (cut is None or not re.search("[a-zA-Z]", cut["name"])):
        return None
    outside = "valid" if phase_word.startswith(("val", "dev", "best")) else "train" if phase_word == "train" else ""
    return Spelled(label or normal_label(rest), label is not None, percent, deviation, outside, seconds)


def sampling(text: str) -> str:
    """`sampled`, how many and whether by popularity, where words say that items were ranked among drawn ones; or ``."""
    among = _SAMPLED.search(text)
    if among is None:
        return ""
    drawn = next(filter(None, among.groups()), "")
    return " ".join(filter(None, ("sampled", drawn, "popular" if "pop" in among.group(0).lower() else "")))


def known_metric(text: str) -> Spelled | None:
    """The metric that a header names, where we know it."""
    metric = spelled(text)
    return metric if metric is not None and metric.known else None


def own_name(text: str) -> str:
    """The label of a metric that nobody knows: its own name, folded to lower case, without arrows and units."""
    bare = _ARROWS.sub("", text.replace("$", "").replace("\\_", "_")).strip()
    return normal_label(" ".join(bare.split()))


def _known(text: str) -> str | None:
    """The label of a known metric, with the cut-off however it is written; None for every other text."""
    name = text.strip()
    if len(name) > 1 and is_known(name):
        return normal_label(name)
    for pattern in _CUTOFFS:
        parts = pattern.match(name)
        if parts:
            base = parts["name"].strip(" _-")
            base = _SHORT.get(base.lower(), base)
            if is_known(base) and int(parts["k"]) < 100_000:
                return normal_label(f"{base}@{parts['k']}{parts.groupdict().get('variant') or ''}")
    return None


def has_cutoff(name: str) -> bool:
    """Whether a metric of this name can be one of the first k places of a list; so can one that is not known."""
    known = named_facts(name)
    return known is None or known.cutoff


def metric_of_file(stem: str) -> tuple[Spelled | None, str]:
    """The one metric that the name of a file says, and what else it says: `ndcg_ml-1m` is ndcg and ml-1m."""
    named = metrics_in(stem)
    if len(named) > 1:
        return None, stem
    found = re.search(r"[A-Za-z][A-Za-z-]*\s?@\s?\d+", stem) if named else None
    if found is not None:
        return spelled(named[0]), (stem[: found.start()] + stem[found.end() :]).strip("-_. ")
    first, last = re.match(r"^([A-Za-z]+)[-_. ]+(.+)$", stem), re.match(r"^(.+)[-_. ]+([A-Za-z]+)$", stem)
    for metric, rest in ((first[1], first[2]) if first else ("", ""), (last[2], last[1]) if last else ("", "")):
        known = known_metric(metric)
        if known is not None:
            return known, rest
    return None, stem


def metrics_in(text: str) -> list[str]:
    """The labels of the known metrics with a cut-off that a sentence names (`NDCG@10 of all models`), each once."""
    metrics = map(known_metric, re.findall(r"[A-Za-z][A-Za-z-]*\s?@\s?\d+", text))
    return list(dict.fromkeys(metric.label for metric in metrics if metric is not None))
