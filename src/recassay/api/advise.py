"""The verb `advise`: what a finished benchmark says about one's own dataset."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from recassay.analysis.advise.fit import advise_for
from recassay.analysis.advise.result import AdviseResult
from recassay.api.arguments import checked
from recassay.api.inputs import CharacteristicsLike, InteractionsLike, ResultsLike
from recassay.api.tables import load_results, published_of, read_matrix, required_characteristics, study_folder
from recassay.core.choices import BENCHMARK, Advanced, Level, MissingPolicy
from recassay.core.errors import InputError, RecAssayError, UsageError
from recassay.core.registry import algorithms
from recassay.core.specs.specs import ProtocolSpec, ReadSpec
from recassay.data.characteristics import describe
from recassay.data.published.tables import Published
from recassay.data.sources import OpenedDataset, is_path, open_dataset
from recassay.protocol.filters import frequent_rows, positive_rows
from recassay.store.store import Store

FIRST = 4
"""How many of the algorithms advised first the study to run next has, besides popularity."""

MOST_TRIALS, FEWEST_TRIALS = 40, 5
BUDGET = 900.0
"""Seconds that the study to run next should take in one process, if that leaves each algorithm the fewest trials."""

STUDY = "study"
"""The folder of the study to run next."""


@checked
def advise(
    dataset: InteractionsLike,
    results: ResultsLike = BENCHMARK,
    metric: str | None = None,
    *,
    characteristics: CharacteristicsLike | None = None,
    k: int = 5,
    protocol: ProtocolSpec | Mapping[str, Any] | None = None,
    read: ReadSpec | Mapping[str, Any] | None = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    confidence: Level = 0.9,
    seed: Annotated[int, Advanced] = 0,
    wide: bool = False,
    transpose: bool = False,
) -> AdviseResult:
    """What a finished benchmark says about one's own dataset: nearest datasets, ranks to expect, and their worth.

    `dataset` is anything that `load_data` opens. Before it is described, the threshold and the filter of `protocol`
    (`positive_threshold`, `filter`, `min_item_interactions`, `min_user_interactions`) are applied: by default those of
    the study that the results come from, else items and then users with fewer than 5 interactions leave, as in KDD'24.
    Without `results` the board of the open benchmark answers, with a threshold of 3.5 for ratings up to 5. The answer
    holds what training will cost, and a study file to run next with the algorithms that RecAssay has.

    Args:
        dataset: one's own data: whatever `load_data` opens.
        results: results table (file, frame or several files), the folder of a study, or loaded results; by default
            `published:board`.
        metric: label such as `ndcg@10`; by default `ndcg@10` or `accuracy` where present, else the only metric.
        characteristics: characteristics of the datasets (file or frame); a study knows its own.
        k: how many nearest datasets are named.
        protocol: a `ProtocolSpec` or its fields: threshold and filter applied before the data are described, over
            those of the benchmark.
        read: how files are read: a `ReadSpec` or its fields.
        missing: how to treat missing cells: refuse them, drop their datasets or algorithms, or take the worst value.
        higher_is_better: direction of a metric that RecAssay does not know.
        confidence: level of the intervals.
        seed: the same seed gives the same numbers.
        wide: the rows of the table are algorithms and its columns datasets, where the table does not say it.
        transpose: the rows of the table are datasets and its columns algorithms.
    """
    table, matrix = read_matrix(
        results, metric, missing=missing, higher_is_better=higher_is_better, wide=wide, transpose=transpose
    )
    traits = required_characteristics(results, table, characteristics)
    opened = _opened(dataset, ReadSpec.of(read))
    interactions = opened.interactions
    published = published_of(table)
    spec, notes = _protocol(study_folder(table), ProtocolSpec.of(protocol), published, interactions)
    kept = frequent_rows(interactions, spec, positive_rows(interactions, threshold=spec.positive_threshold))
    measured = describe(interactions.take(kept))
    evidence = f"{published.title}. Its protocol: {published.protocol}." if published else ""
    advice = advise_for(
        opened.name,
        measured,
        matrix,
        traits,
        k=k,
        notes=(*opened.notes(), *notes),
        results=table,
        evidence=evidence,
        confidence=confidence,
        seed=seed,
    )
    timed = interactions.time is not None
    trials, seconds = _trials(advice)
    return replace(
        advice,
        study=_study(advice, dataset, spec, timed, trials=trials, columns=ReadSpec.of(read).columns),
        command=_command(advice, dataset, spec, timed, trials=trials, read=ReadSpec.of(read)),
        seconds=seconds,
    )


def _opened(dataset: InteractionsLike, read: ReadSpec) -> OpenedDataset:
    """The dataset; a results table given in its place is named as what it is."""
    try:
        return open_dataset(dataset, read)
    except InputError:
        if not _is_results(dataset):
            raise
    where = str(dataset) if isinstance(dataset, (str, Path)) else None
    fix = "give a file with users and items; results to learn from go to `results`"
    raise UsageError("is a results table, and advice is about a dataset", where=where, fix=fix)


def _is_results(source: Any) -> bool:
    try:
        return bool(load_results(source).algorithms)
    except RecAssayError:
        return False


def _chosen(advice: AdviseResult) -> list[str]:
    """The first algorithms advised that RecAssay has, and the baseline of popularity."""
    names = [advice.algorithms[a] for a in advice.order() if advice.algorithms[a] in algorithms]
    return [*[name for name in names if name not in ("MostPop", "Random")][:FIRST], "MostPop"]


def _trials(advice: AdviseResult) -> tuple[int, float | None]:
    """How many trials of tuning fit into `BUDGET`, and how long the study will take; None where costs are not known."""
    chosen = _chosen(advice)
    fit = {cost.algorithm: cost.seconds for cost in advice.cost}
    if not set(chosen) - {"MostPop"} <= fit.keys():
        return MOST_TRIALS, None
    once = sum(fit.get(name, 0.0) for name in chosen)
    trials = min(MOST_TRIALS, max(FEWEST_TRIALS, int(BUDGET / max(once, 1e-9)) - 1))
    return trials, once * (trials + 1)


def _command(
    advice: AdviseResult, dataset: Any, spec: ProtocolSpec, timed: bool, *, trials: int, read: ReadSpec
) -> str:
    """The command that runs the short list; empty where the data are not a file or a name, or only a study file can say
    what is asked."""
    usual = ProtocolSpec()
    filters = ("filter", "min_item_interactions", "min_user_interactions")
    plain = ReadSpec(columns=read.columns) == read
    if not isinstance(dataset, (str, Path)) or not plain or any(getattr(spec, n) != getattr(usual, n) for n in filters):
        return ""
    options = [f"--datasets {shlex.quote(_reference(dataset))}"]
    options += [f"--column {shlex.quote(f'{role}={name}')}" for role, name in read.columns.items()]
    options += [f"--algorithms {','.join(_chosen(advice))}"]
    options += [] if spec.positive_threshold is None else [f"--threshold {spec.positive_threshold:g}"]
    options += [] if timed else ["--split random"]
    return f"recassay run {' '.join(options)} --trials {trials} --out {STUDY}"


def _reference(dataset: str | Path) -> str:
    """A file that a study recognises as one, or the name of a dataset."""
    text = str(dataset)
    return text if not isinstance(dataset, Path) or is_path(text) else f"./{text}"


def _study(
    advice: AdviseResult,
    dataset: Any,
    spec: ProtocolSpec,
    timed: bool,
    *,
    trials: int = MOST_TRIALS,
    columns: Mapping[str, str | int] | None = None,
) -> str:
    """A study file: the data, the algorithms in the order advised that RecAssay has, and the baseline of popularity."""
    reference = _reference(dataset) if isinstance(dataset, (str, Path)) else "mine.parquet"
    listed = ", ".join(json.dumps(name) for name in _chosen(advice))
    split = "global_time" if timed else "random"
    threshold = "" if spec.positive_threshold is None else f"positive_threshold = {spec.positive_threshold:g}\n"
    named = ", ".join(f"{role} = {json.dumps(name)}" for role, name in (columns or {}).items())
    label = Path(reference).stem or "log"
    reading = (
        f"\n[dataset.{json.dumps(label)}]\ndata = {json.dumps(reference)}\nread = {{columns = {{{named}}}}}\n"
        if named
        else ""
    )
    return (
        f'[study]\nname = "next"\nseed = 1\ndatasets = [{json.dumps(label if named else reference)}]\n'
        f"algorithms = [{listed}]\n"
        f'metrics = [{json.dumps(advice.metric)}, "hitrate@10", "coverage@10"]\n{reading}\n'
        f'[protocol]\n{threshold}split = "{split}"\nfilter = "{spec.filter}"\n'
        f"min_item_interactions = {spec.min_item_interactions}\n"
        f"min_user_interactions = {spec.min_user_interactions}\n\n"
        f"[tuning]\ntrials = {trials}\nmetric = {json.dumps(advice.metric)}\n"
    )


def _protocol(
    folder: Path | None, given: ProtocolSpec, published: Published | None, interactions: Any
) -> tuple[ProtocolSpec, tuple[str, ...]]:
    """What was said, over the protocol of the benchmark where it is known; and what to say about the threshold."""
    known: dict[str, Any] = {}
    if folder is not None:
        with Store.open(folder) as store:
            known = store.manifest().get("study", {}).get("protocol", {})
    weight = interactions.weight
    notes: tuple[str, ...] = ()
    stated = given.stated()
    tau = published.positive_threshold if published is not None else None
    if tau is not None and "positive_threshold" not in stated and weight is not None and tau <= weight.max() <= 5:
        known["positive_threshold"] = tau
        notes = (f"Ratings of {tau:g} or more count, as in the benchmark; `positive_threshold` changes that.",)
    spec = ProtocolSpec.checked(**{**known, **stated})
    if weight is not None and spec.positive_threshold is None:
        notes = ("Its events have weights, and no threshold was given: events of every weight count.",)
    return spec, notes
