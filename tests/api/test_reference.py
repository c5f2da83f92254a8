"""Every public verb says what it takes."""

from __future__ import annotations

import inspect
import re

import pytest

import recassay

VERBS = [name for name in recassay.__all__ if inspect.isfunction(getattr(recassay, name))]


@pytest.mark.parametrize("name", VERBS)
def test_every_parameter_is_documented_and_typed(name: str) -> None:
    signature = inspect.signature(getattr(recassay, name))
    described = re.findall(
        r"^ {4}(\w+): \S", (inspect.getdoc(getattr(recassay, name)) or "").partition("Args:")[2], re.M
    )
    assert described == list(signature.parameters)
    assert all(p.annotation is not inspect.Parameter.empty for p in signature.parameters.values())


def test_names_come_from_the_verbs_and_nothing_is_missing() -> None:
    assert len(VERBS) > 30
    assert {"rank", "compare", "run", "report", "load_results"} <= set(VERBS)
