"""Modules do not import each other in circles, imports for the type checker included: the contracts leave those out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

grimp = pytest.importorskip("grimp", reason="comes with import-linter")


def circles(arrows: list[tuple[str, str]]) -> list[list[str]]:
    """The groups of modules that can reach each other along the arrows."""
    names = sorted({name for arrow in arrows for name in arrow})
    ends = np.array([[names.index(name) for name in arrow] for arrow in arrows]).T
    graph = coo_array((np.ones(len(arrows)), (ends[0], ends[1])), shape=(len(names), len(names)))
    _, group = connected_components(graph, connection="strong")
    return [[names[i] for i in np.flatnonzero(group == g)] for g in np.flatnonzero(np.bincount(group) > 1)]


def test_no_module_reaches_itself():
    graph = grimp.build_graph("recassay", exclude_type_checking_imports=False, cache_dir=None)
    arrows = [(m, other) for m in graph.modules for other in graph.find_modules_directly_imported_by(m)]
    assert len(arrows) > 1000
    assert circles(arrows) == []


def test_a_circle_through_three_modules_is_found():
    assert circles([("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"), ("c", "e")]) == [["a", "b", "c"]]
