"""The universes of a study: the study itself under every combination of the choices that `[multiverse]` lists."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, get_args

from recassay.core.choices import Aggregation, MissingPolicy
from recassay.core.errors import UsageError
from recassay.core.names import did_you_mean
from recassay.core.specs.specs import FOLDED, ProtocolSpec
from recassay.core.specs.study import MultiverseSpec, StudySpec, TuningSpec

FREE: dict[str, tuple[str, ...]] = {"missing": get_args(MissingPolicy), "aggregation": get_args(Aggregation)}
"""Choices of the analysis, with what they may be: they need no further cell."""

SEEDS = {"split_seed": "seeds of random splits", "tuning_seed": "of the search", "fit_seed": "of the final fit"}
SHORT = ("min_interactions", "trials", "tuning_metric", *SEEDS)
"""Keys of [multiverse] that are not keys of [protocol]."""

KEYS = (*(name for name in ProtocolSpec.model_fields if name not in ("seed", "fold")), *SHORT, *FREE)
NARROWED = ("dataset", "algorithm")
MOST = 100_000
"""Universes of one study, at most."""

_RANDOM = ("random", "random_per_user", "kfold")
_INSTEAD = {
    "seed": "say split_seed, tuning_seed or fit_seed",
    **dict.fromkeys(("metric", "metrics", "cutoff"), "list them in study.metrics: they are free"),
}
"""What to write in place of keys that are not choices of their own."""


@dataclass(frozen=True)
class Universe:
    """A study under one combination of choices; `study` has no [multiverse] of its own."""

    choices: dict[str, Any]
    study: StudySpec
    base: ProtocolSpec
    exclude: tuple[dict[str, Any], ...]

    @cached_property
    def labels(self) -> dict[str, str]:
        """The choices as a table has them."""
        return {axis: _label(choice) for axis, choice in self.choices.items()}

    def has(self, dataset: str, algorithm: str) -> bool:
        """Whether no rule excludes the two here."""
        here = self.choices | {"dataset": dataset, "algorithm": algorithm}
        return not any(_meets(here, rule) for rule in self.exclude)

    def settled(self, protocol: ProtocolSpec) -> ProtocolSpec:
        """The protocol with the study's value where a key has no effect, so that equal splits are one."""
        idle = set()
        if protocol.filter == "none":
            idle |= {"min_item_interactions", "min_user_interactions"}
        if protocol.split not in _RANDOM:
            idle.add("seed")
        if protocol.split not in FOLDED:
            idle |= {"folds", "fold"}
        if protocol.split in ("leave_last_out", "kfold", "given"):
            idle.add("ratios")
        return protocol.model_copy(update={name: getattr(self.base, name) for name in idle})


def universes(study: StudySpec) -> tuple[Universe, ...]:
    """Every universe of a study, the first choices first; the study alone where it has no [multiverse]."""
    if study.multiverse is None:
        return (Universe({}, study, study.protocol, ()),)
    axes, rules = _checked(study.multiverse), study.multiverse.exclude
    whole = [rule for rule in rules if not set(rule) & set(NARROWED)]
    made = []
    for values in product(*axes.values()):
        choices = dict(zip(axes, values, strict=True))
        if not any(_meets(choices, rule) for rule in whole):
            made.append(Universe(choices, _varied(study, choices), study.protocol, rules))
    if not made:
        raise UsageError("multiverse.exclude leaves no universe", fix="exclude less")
    return tuple(made)


def _checked(spec: MultiverseSpec) -> dict[str, tuple[Any, ...]]:
    for key, values in spec.axes.items():
        if key in _INSTEAD:
            raise UsageError(f"multiverse.{key} is not a choice of its own", fix=_INSTEAD[key])
        if key not in KEYS:
            raise UsageError(f"multiverse.{key}: there is no such choice", fix=did_you_mean(key, KEYS))
        labels = [_label(value) for value in values]
        if len(values) < 2 or len(set(labels)) < len(labels):
            raise UsageError(
                f"multiverse.{key} = {list(values)!r} has not two different choices",
                fix="list at least two, each once; what does not vary belongs to [protocol] or [tuning]",
            )
        for value in values if key in FREE else ():
            if value not in FREE[key]:
                raise UsageError(f"multiverse.{key}: there is no {value!r}", fix=did_you_mean(str(value), FREE[key]))
    if not spec.axes:
        raise UsageError("multiverse lists no choice", fix='write for example split = ["global_time", "random"]')
    count = math.prod(map(len, spec.axes.values()))
    if count > MOST:
        raise UsageError(f"multiverse has {count:,} combinations", fix=f"list fewer: {MOST:,} at most")
    for rule in spec.exclude:
        for key, value in rule.items():
            if key not in (*spec.axes, *NARROWED):
                raise UsageError(
                    f"multiverse.exclude: {key!r} is not a choice that varies",
                    fix=did_you_mean(key, [*spec.axes, *NARROWED]),
                )
            wanted = _labels(value)
            known = {_label(choice) for choice in spec.axes.get(key, ())}
            if key in spec.axes and not wanted <= known:
                raise UsageError(f"multiverse.exclude: {key} is never {sorted(wanted - known)[0]!r}", fix="correct it")
    return spec.axes


def _varied(study: StudySpec, choices: Mapping[str, Any]) -> StudySpec:
    protocol, tuning = dict(study.protocol), dict(study.tuning)
    seeds = study.seeds
    for key, value in choices.items():
        if key == "min_interactions":  # 0 and 1 keep everybody
            least = max(value, 1) if isinstance(value, int) else value
            protocol |= {"min_item_interactions": least, "min_user_interactions": least}
        elif key == "split_seed":
            protocol["seed"] = value
        elif key == "fit_seed":
            seeds = (value,)
        elif key in ("trials", "tuning_metric", "tuning_seed"):
            tuning[key.removeprefix("tuning_")] = value
        elif key in ProtocolSpec.model_fields:
            protocol[key] = value
    if "fit_seed" in choices and "tuning_seed" not in choices and study.tuning.seed is None:
        tuning["seed"] = study.seeds[0]  # what varies is the final fit alone
    if protocol["split"] == "given" or study.protocol.split == "given":
        raise UsageError("a given split has no alternatives", fix="leave split out of [multiverse]")
    try:
        made = ProtocolSpec.checked(**protocol)
    except UsageError as error:
        combination = ", ".join(f"{axis} = {_label(choice)}" for axis, choice in choices.items())
        raise UsageError(
            f"multiverse, {combination}: {error.what}", fix="exclude this combination, or correct it"
        ) from None
    every = made.split in FOLDED and not (study.protocol.split == made.split and study.folds is None)
    settled = ("split", "folds", "fold")
    return study.model_copy(
        update={
            "protocol": made,
            "tuning": TuningSpec.checked(**tuning),
            "seeds": tuple(seeds),
            "folds": tuple(range(made.folds)) if every else None,
            "datasets": tuple(
                dataset if set(settled) & set(dataset.protocol) else dataset.model_copy(update={"folds": None})
                for dataset in study.datasets
            ),
            "multiverse": None,
        }
    )


def _meets(choices: Mapping[str, Any], rule: Mapping[str, Any]) -> bool:
    return all(key in choices and _label(choices[key]) in _labels(value) for key, value in rule.items())


def _labels(value: Any) -> set[str]:
    """The choices that a rule names: one, or a list."""
    return {_label(choice) for choice in (value if isinstance(value, list) else [value])}


def _label(choice: Any) -> str:
    """A choice as text: `0.8/0.1/0.1` for a list."""
    if isinstance(choice, (list, tuple)):
        return "/".join(map(_label, choice)) or "none"
    if isinstance(choice, bool):
        return str(choice).lower()
    return f"{choice:g}" if isinstance(choice, float) else str(choice)
