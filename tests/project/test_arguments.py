"""Every argument is passed by name: a reader follows it by "go to definition", and so does the type checker."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import recassay
from recassay.cli.call import Command
from recassay.cli.commands import PROGRAM
from recassay.cli.program import Program
from recassay.cli.verbs import Parameter, read_verb

SOURCE = Path(recassay.__file__).parent
WALKED = ("api/", "analysis/", "evidence/")
"""The rooms between a verb and the code that uses its arguments."""


def files() -> Iterator[tuple[str, str]]:
    """Name and text of each file of the package."""
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).as_posix(), path.read_text(encoding="utf-8")


@cache
def nodes_walked() -> dict[str, list[ast.AST]]:
    """By file of the walked rooms, all nodes of its tree."""
    return {name: list(ast.walk(ast.parse(text))) for name, text in files() if name.startswith(WALKED)}


def walked() -> Iterator[tuple[str, ast.FunctionDef]]:
    for name, nodes in nodes_walked().items():
        yield from ((name, node) for node in nodes if isinstance(node, ast.FunctionDef))


def parameters(function: ast.FunctionDef) -> list[str]:
    given = function.args
    return [argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def mentioned(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def test_no_function_gathers_its_arguments():
    gathered = [
        f"{name}:{node.lineno}" for name, text in files() if "locals" in text or "vars" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("locals", "vars")
        and not node.args
    ]  # fmt: skip
    assert gathered == []


def test_no_function_between_a_verb_and_its_fit_takes_arguments_without_names():
    takers = [f"{name}:{node.name}" for name, node in walked() if node.args.kwarg is not None]
    assert takers == ["api/arguments.py:call"], "what checks the kinds of all arguments alone"


def behind(names: set[str], made_of: dict[str, set[str]]) -> set[str]:
    """These names, those that their values were made of, and so on."""
    known: set[str] = set()
    while names - known:
        known |= names
        names = {inner for name in names for inner in made_of.get(name, ())}
    return known


def wrong_in(name: str, verb: ast.FunctionDef) -> list[str]:
    """The arguments of a verb that it never uses, and those that it passes on under another name."""
    own = set(parameters(verb))
    body = ast.Module(verb.body, [])
    made_of = {
        target.id: mentioned(node.value)
        for node in ast.walk(body) if isinstance(node, ast.Assign)
        for target in ast.walk(node) if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)
    }  # fmt: skip
    strange = [
        f"{name}:{call.lineno} {ast.unparse(keyword)}"
        for call in ast.walk(body) if isinstance(call, ast.Call)
        for keyword in call.keywords if keyword.arg in own
        and keyword.arg not in behind(mentioned(keyword.value), made_of)
    ]  # fmt: skip
    return [*(f"{name}:{verb.name} never uses {argument}" for argument in own - mentioned(body)), *strange]


def test_a_verb_uses_each_argument_and_passes_it_under_its_name():
    verbs = [(name, node) for name, node in walked()
             if any(isinstance(mark, ast.Name) and mark.id == "checked" for mark in node.decorator_list)]  # fmt: skip
    assert len(verbs) > 50
    assert [wrong for name, verb in verbs for wrong in wrong_in(name, verb)] == []


def test_a_wrong_name_and_an_idle_argument_are_found():
    (verb,) = ast.parse("def verb(alpha, seed, idle):\n    return fit(seed=alpha, alpha=alpha)").body
    assert isinstance(verb, ast.FunctionDef)
    assert sorted(wrong_in("x.py", verb)) == ["x.py:2 seed=alpha", "x.py:verb never uses idle",
                                              "x.py:verb never uses seed"]  # fmt: skip


FOLLOWED = {"alpha", "replicates", "threshold", "seed"}


def test_what_readers_follow_is_passed_by_name():
    """But for the first argument of a function, whose name says what it takes: `derived_rng(seed, ...)`; and but for
    functions of libraries, which take what they take."""
    defined = {name for _, text in files() for name in re.findall(r"^ *(?:def|class) (\w+)", text, re.MULTILINE)}
    placed = [
        f"{name}:{call.lineno} {ast.unparse(call.func)}(..., {ast.unparse(given)})"
        for name, nodes in nodes_walked().items()
        for call in nodes if isinstance(call, ast.Call)
        and getattr(call.func, "id", getattr(call.func, "attr", "")) in defined
        for given in call.args[1:] if getattr(given, "id", getattr(given, "attr", "")) in FOLLOWED
    ]  # fmt: skip
    assert placed == [], "write alpha=alpha"


def commands(program: Program) -> Iterator[Command]:
    for command in program.known.values():
        yield from commands(command) if isinstance(command, Program) else [command]


@pytest.mark.parametrize("command", list(commands(PROGRAM)), ids=lambda command: command.name)
def test_a_function_of_a_command_takes_an_option_as_its_verb_states_it(command):
    """The help of an option comes from its verb: what the command's own function states besides must be the same."""
    stated: dict[str, Parameter] = {}
    for place in command.places:
        own = place.startswith("recassay.cli.")
        for parameter in read_verb(place)[own:]:
            fields = command.fields_of(parameter.name) if parameter.name in command.fields else [parameter]
            for part in fields:
                first = stated.setdefault(part.name, part)
                if own and not first.required:
                    assert (repr(part.kind), part.default) == (repr(first.kind), first.default), part.name
