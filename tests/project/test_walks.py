"""The walks of docs/architecture.md: each function on the way exists, names the argument and names the next one."""

from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path

import pytest

import recassay
from recassay.core.specs.specs import ProtocolSpec

ROOT = Path(__file__).parents[2]
SOURCE = Path(recassay.__file__).parent
STEP = re.compile(r"`([\w/]+\.py): (\w+)`")
WALKS = {
    argument: STEP.findall(row)
    for argument, row in re.findall(
        r"^\| `\w+ --(\w+)` (\|.*\|)$", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"), re.MULTILINE
    )
}
CARRIES = {
    "alpha": re.compile(r"\balpha\b"),
    "replicates": re.compile(r"\breplicates\b"),
    "threshold": re.compile(r"threshold|\bprotocol\b|ProtocolSpec|SplitSpec|\bsplit\b|\bspec\b|SplitJob|_study"),
}
"""By argument, what a step must hold: the argument, or the typed specification that has it."""


def definition(place: str, name: str) -> str:
    """The text of a function or class, with those that it hands on to within its file."""
    text = (SOURCE / place).read_text(encoding="utf-8")
    made = {node.name: ast.unparse(node) for node in ast.parse(text).body
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))}  # fmt: skip
    whole, seen = "", {name}
    waiting = [name]
    while waiting:
        body = made[waiting.pop()]
        whole += body
        further = {other for other in made if re.search(rf"\b{other}\b", body)} - seen
        seen |= further
        waiting += further
    return whole


def test_there_are_three_walks():
    assert list(WALKS) == ["alpha", "replicates", "threshold"]
    assert all(len(steps) >= 4 for steps in WALKS.values())


@pytest.mark.parametrize("argument", WALKS)
def test_each_step_of_a_walk_holds_the_argument(argument):
    for place, name in WALKS[argument]:
        assert CARRIES[argument].search(definition(place, name)), (place, name)


@pytest.mark.parametrize("argument", ["alpha", "replicates"])
def test_each_step_of_a_walk_names_the_next(argument):
    steps = WALKS[argument]
    for (place, name), (_, after) in itertools.pairwise(steps):
        passed = re.findall(rf"\b{after}\((.*?)\)\n", definition(place, name) + "\n", re.DOTALL)
        assert passed, f"{name} does not call {after}"
        assert any(re.search(rf"\b{argument}={argument}\b", call) for call in passed), f"{name} passes {argument} on"


def test_the_threshold_is_a_field_from_the_option_to_the_filter():
    typed = definition("cli/classify.py", "run")
    assert "protocol=ProtocolSpec(split=split, positive_threshold=positive_threshold)" in typed
    assert "protocol=ProtocolSpec.of(protocol)" in definition("api/study/studies.py", "make_study")
    assert "protocol=protocol" in definition("recommenders/study_file.py", "assemble_study")
    assert "positive_threshold" in ProtocolSpec.model_fields
    assert "positive_rows(data, threshold=spec.positive_threshold)" in definition("protocol/apply.py", "apply_protocol")
    assert "job.split" in definition("recommenders/cell.py", "prepare")
    assert "ProtocolSpec" in definition("recommenders/plan.py", "SplitSpec")
    assert '"positive_threshold": "--threshold"' in (SOURCE / "cli" / "options.py").read_text(encoding="utf-8")
