"""Verbs on the installation: what is available, and whether it works."""

from __future__ import annotations

import importlib
import importlib.metadata as metadata
import importlib.util
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from threadpoolctl import threadpool_info

from recassay.algorithms.kernels.device import gpu_name
from recassay.api.arguments import checked
from recassay.core import registry
from recassay.core.errors import RecAssayError, UsageError
from recassay.core.metric_facts import all_facts
from recassay.core.names import did_you_mean
from recassay.core.specs.search import in_words
from recassay.core.version import __version__
from recassay.core.vocabulary import USUAL
from recassay.core.words import listing
from recassay.data.published.expected import expected_values, find_expected
from recassay.data.published.tables import published
from recassay.metrics.make import describe_metrics
from recassay.reporting.telling import own_sections
from recassay.runner.energy import read_counters

AVAILABLE = {
    "algorithms": "recommender algorithms that a study can run",
    "metrics": "metrics that are computed, with formula and conventions",
    "labels": "names of metrics whose direction is known in a results table",
    "datasets": "stored, embedded and catalogued datasets",
    "analyses": "questions that `analyze` answers",
    "sections": "parts of the report",
    "importers": "files of other tools that are read",
    "published": "published tables that can be named instead of a file",
    "expected": "what others report for an algorithm on a dataset, each value with its source",
    "classifiers": "classifiers of the classifier benchmark",
    "executors": "where the cells of a study can run",
}
"""By kind that `list_available` lists, what it is."""


@checked
def list_available(
    kind: str, spaces: bool = False, *, dataset: str | None = None, algorithm: str | None = None
) -> list[dict[str, Any]]:
    """What is available, ours and plugins': `algorithms`, `metrics`, `labels`, `analyses`, `sections`, ...

    `metrics` are those RecAssay computes, each with its formula and conventions; `labels` are all names whose direction
    is known in a results table.

    Args:
        kind: `algorithms`, `metrics`, `labels`, `analyses`, `sections`, `datasets`, `executors`, `classifiers`,
            `importers`, `published` or `expected`.
        spaces: of algorithms, what tuning may vary: one row per parameter, with its range and default.
        dataset: of `expected`, the dataset whose values are listed.
        algorithm: of `expected`, the algorithm whose values are listed.
    """
    if spaces and kind != "algorithms":
        raise UsageError(f"{kind} have no search space", fix="ask for the spaces of algorithms")
    if kind == "expected":
        return _expected(dataset, algorithm)
    if dataset is not None or algorithm is not None:
        raise UsageError(f"{kind} are not listed by dataset or algorithm", fix="leave them out, or list `expected`")
    if spaces:
        return list(_spaces())
    kinds = {r.group.split(".")[1]: r for r in registry.REGISTRIES}
    if kind == "labels":
        return [
            {
                "name": facts.name,
                "kind": facts.kind,
                "better": "higher" if facts.higher_is_better else "lower",
                "values": _values(facts.bounds),
                "what": facts.summary,
                "aliases": listing(facts.aliases, most=None),
            }
            for facts in all_facts()
        ]
    if kind == "published":
        return [
            {"name": f"published:{name}", "what": table.title, "source": table.paper, "licence": table.licence}
            for name, table in published().items()
        ]
    if kind not in kinds:
        raise UsageError(f"cannot list {kind!r}", fix=did_you_mean(kind, [*kinds, "labels", "published", "expected"]))
    if kind == "metrics":
        return list(_metrics())
    if kind == "datasets":
        from recassay.api.data import list_data

        return list_data(everything=True)
    if kind == "importers":
        return [
            {"name": name, "what": table.title, "files": table.files, "aliases": listing(table.aliases, most=None),
             "from": kinds[kind].origin(name)}
            for name, table in kinds[kind]
        ]  # fmt: skip
    rows: list[dict[str, Any]] = []
    if kind == "sections":
        ours = f"recassay {__version__}"
        rows += [
            {"name": name, "what": USUAL.filled(s.title), "source": "", "from": ours}
            for name, s in own_sections().items()
        ]
    for name, component in kinds[kind]:
        stated = getattr(component, "question", None) or getattr(component, "title", None)
        what = USUAL.filled(stated) if isinstance(stated, str) else (component.__doc__ or "").strip().split("\n")[0]
        source = getattr(component, "source", "")
        rows.append({"name": name, "what": what, "source": source, "from": kinds[kind].origin(name)})
    return rows


def _expected(dataset: str | None, algorithm: str | None) -> list[dict[str, Any]]:
    """What others report, the single values first; a name that has none is refused with those that have."""
    found = find_expected(dataset, algorithm)
    for name, known in ((dataset, "dataset"), (algorithm, "algorithm")):
        if not found and name is not None and not find_expected(**{known: name}):
            raise UsageError(
                f"nobody's value is known for {name!r}",
                fix=did_you_mean(name, {getattr(v, known) for v in expected_values()}),
            )
    return [
        {"dataset": v.dataset, "algorithm": v.algorithm, "metric": v.metric, "value": v.value, "protocol": v.protocol,
         "users": "" if v.users is None else v.users, "source": v.source}
        for v in found
    ]  # fmt: skip


def _spaces() -> Iterator[dict[str, Any]]:
    """One row per parameter; an algorithm without any has a row that says so."""
    for name, kind in registry.algorithms:
        for parameter, space in kind.space.items():
            row = {"name": name, "parameter": parameter, "values": in_words(space), "default": space.default}
            yield row | {"kind": type(space).__name__.lower()} | asdict(space)
        if not kind.space:
            yield {"name": name, "parameter": "", "values": "nothing to tune", "default": ""}


def _values(bounds: tuple[float, float] | None) -> str:
    """`0 to 1`; nothing where values have no limits."""
    return "" if bounds is None else f"{bounds[0]:g} to {bounds[1]:g}"


def _metrics() -> Iterator[dict[str, Any]]:
    for metric in describe_metrics():
        default, *others = metric["variants"].items()
        yield {
            "name": metric["metric"],
            "kind": metric["kind"],
            "better": "higher" if metric["higher_is_better"] else "lower",
            "values": _values(metric["bounds"]),
            "scope": metric["scope"],
            "formula": metric["formula"],
            "convention": f"{default[0]}: {default[1]}",
            "variants": "; ".join(f"{name}: {text}" for name, text in others),
            "aliases": listing(metric["aliases"], most=None),
            "source": metric["source"],
        }


@checked
def doctor() -> dict[str, Any]:
    """Whether this installation works: machine, versions, processors, memory, GPU, extras, each registered component.

    A dependency that is missing, or that this processor cannot load, is a problem, as is a component that cannot be
    loaded.
    """
    versions: dict[str, str] = {}
    problems: list[str] = []
    for requirement in metadata.requires("recassay") or []:
        if "extra ==" in requirement:
            continue
        name = requirement.split(">")[0].split("=")[0].split("[")[0].strip()
        try:
            versions[name] = metadata.version(name)
            importlib.import_module(MODULES.get(name, name.replace("-", "_")))
        except (metadata.PackageNotFoundError, ImportError, OSError) as error:
            versions.setdefault(name, "missing")
            problems.append(
                f"{name} {versions[name]} cannot be loaded on {platform.machine()} ({error}): install it again; "
                "if pip builds it from source, this platform has no wheel of that version"
            )
    for known in registry.REGISTRIES:
        try:
            problems += known.loadable()[1].values()
        except RecAssayError as error:  # two packages announce one name
            problems.append(str(error))
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 0
    return {
        "recassay": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "memory_gb": round(pages / 1e9, 1),
        "blas": _blas(),
        "gpu": gpu_name() or "none found",
        "energy": "measured" if read_counters().packages else "estimated from processor time",
        "dependencies": versions,
        "extras": {extra: importlib.util.find_spec(module) is not None for extra, module in EXTRAS.items()},
        "problems": problems,
    }


EXTRAS = {"neural": "torch", "classify": "sklearn", "altair": "altair", "definitions": "snowballstemmer",
          "dask": "distributed", "yaml": "yaml"}  # fmt: skip
"""By extra, a module that it brings."""

MODULES = {"vl-convert-python": "vl_convert", "markdown-it-py": "markdown_it"}
"""Dependencies whose module has another name."""


def _blas() -> str:
    """The libraries of linear algebra in this process, such as `openblas 0.3.30 (SkylakeX)`."""
    found = [pool for pool in threadpool_info() if pool.get("user_api") == "blas"]
    named = {
        f"{pool['internal_api']} {pool.get('version')} ({pool.get('architecture', platform.machine())})"
        for pool in found
    }
    return ", ".join(sorted(named))
