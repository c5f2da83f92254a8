"""One registry class for algorithms, metrics, datasets, analyses, sections, executors, classifiers and importers.

A component is announced by an entry point (`[project.entry-points."recassay.metrics"]`), ours like a plugin's, and is
imported only when it is asked for. Two packages that announce the same name are refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from recassay.core.errors import RecAssayError, UsageError
from recassay.core.names import canonical, did_you_mean
from recassay.core.words import listing

Component = TypeVar("Component")


class Registry(Generic[Component]):
    """Components of one kind by name.

    Names are compared by `names.canonical`. A component may carry `aliases`, a tuple of further names; they are read
    only when a name is not found directly, since reading them imports the components.
    """

    def __init__(self, kind: str, group: str) -> None:
        self.kind, self.group = kind, group
        self._announced: dict[str, EntryPoint] | None = None
        self._added: dict[str, tuple[str, Component]] = {}
        self._loaded: dict[str, Component] = {}
        self._broken: dict[str, RecAssayError] = {}

    def names(self) -> list[str]:
        """Every announced name, sorted."""
        added = [name for name, _ in self._added.values()]
        return sorted([*(e.name for e in self._entries().values()), *added])

    def __iter__(self) -> Iterator[tuple[str, Component]]:
        for name in self.names():
            yield name, self.get(name)

    def loadable(self) -> tuple[dict[str, Component], dict[str, str]]:
        """By name: every component that can be loaded, and why the others cannot."""
        loaded, problems = {}, {}
        for name in self.names():
            try:
                loaded[name] = self.get(name)
            except RecAssayError as error:
                problems[name] = str(error)
        return loaded, problems

    def __contains__(self, name: str) -> bool:
        return self._find(name) is not None

    def get(self, name: str) -> Component:
        """The component of that name or alias; an unknown name raises `UsageError` with the nearest known ones."""
        key = self._find(name)
        if key is None:
            _, problems = self.loadable()
            if problems:  # it may be an alias of a part that cannot be loaded
                raise RecAssayError(next(iter(problems.values())))
            raise UsageError(f"unknown {self.kind} {name!r}", fix=did_you_mean(name, self.names()))
        return self._load(key)

    def add(self, name: str, component: Component) -> None:
        """Register `component` from Python, under the same rules as an entry point."""
        taken = self._find(name)
        if taken is not None:
            raise UsageError(
                f"the {self.kind} name {name!r} is taken by {self.origin(name)}", fix="choose another name"
            )
        self._added[canonical(name)] = (name, component)

    def origin(self, name: str) -> str:
        """Who announced the name: a distribution and its version, or `added from Python`."""
        entry = self.announcement(name)
        if entry is None:
            return "added from Python"
        return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value

    def announcement(self, name: str) -> EntryPoint | None:
        """The entry point that announces the name; None for a part that was added from Python, or an unknown one."""
        key = self._find(name)
        return self._entries().get(key) if key is not None else None

    def _entries(self) -> dict[str, EntryPoint]:
        if self._announced is None:
            entries: dict[str, EntryPoint] = {}
            for entry in entry_points(group=self.group):
                key = canonical(entry.name)
                other = entries.get(key)
                if other is not None and other.value != entry.value:
                    raise RecAssayError(
                        f"two packages announce the {self.kind} {entry.name!r}: {other.value} and {entry.value}",
                        fix="uninstall one of them or ask its author for another name",
                    )
                entries[key] = entry
            self._announced = entries
        return self._announced

    def _load(self, key: str) -> Component:
        if key in self._added:
            return self._added[key][1]
        if key in self._broken:  # an import that failed is not tried again: it may have taken long
            raise self._broken[key]
        if key not in self._loaded:
            entry = self._entries()[key]
            try:
                self._loaded[key] = entry.load()
            except (Exception, SystemExit) as error:  # a module of others may raise anything
                self._broken[key] = RecAssayError(
                    f"the {self.kind} {entry.name!r} cannot be loaded from {entry.value}: {error}",
                    fix="reinstall or remove the package that announces it",
                )
                raise self._broken[key] from error
        return self._loaded[key]

    def _find(self, name: str) -> str | None:
        wanted = canonical(name)
        keys = [*self._entries(), *self._added]
        if wanted in keys:
            return wanted
        loaded, _ = self.loadable()
        holders = [k for k, part in loaded.items() if wanted in map(canonical, getattr(part, "aliases", ()))]
        if len(holders) > 1:
            raise RecAssayError(
                f"{name!r} is an alias of several {self.kind}s: {listing(holders, most=None)}", fix="use a full name"
            )
        return canonical(holders[0]) if holders else None


algorithms: Registry[Any] = Registry("algorithm", "recassay.algorithms")
metrics: Registry[Any] = Registry("metric", "recassay.metrics")
datasets: Registry[Any] = Registry("dataset", "recassay.datasets")
analyses: Registry[Any] = Registry("analysis", "recassay.analyses")
sections: Registry[Any] = Registry("section", "recassay.sections")
executors: Registry[Any] = Registry("executor", "recassay.executors")
classifiers: Registry[Any] = Registry("classifier", "recassay.classifiers")
importers: Registry[Any] = Registry("importer", "recassay.importers")

REGISTRIES = (algorithms, metrics, datasets, analyses, sections, executors, classifiers, importers)
