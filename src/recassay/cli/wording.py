"""Messages of the library in the words of the command line: `` `missing='worst'` `` becomes `--missing worst`.

The library speaks of arguments and of functions, and sets them in backticks. The command that runs knows how each of
its arguments is written as an option, and the list of commands which of them calls a function.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from recassay.cli.options import OPPOSITE

_ARGUMENT = re.compile(r"`(\w+)(?:=([^`]*))?`")
_VERB = re.compile(r"`recassay\.(\w+)(?:\(([^`]*)\))?`")
_QUOTES = "'\""
_options: dict[str, str] = {}
_commands: dict[str, str] = {}


def speak_of(options: Mapping[str, str]) -> None:
    """From now on arguments are called by these options."""
    _options.clear()
    _options.update(options)


def name_commands(commands: Mapping[str, str]) -> None:
    """From now on functions are called by these commands."""
    _commands.update(commands)


def in_options(text: str) -> str:
    """The text with arguments of the command that runs as its options, and functions as commands; other words stay."""
    return _VERB.sub(_command, _ARGUMENT.sub(_option, text))


def _option(argument: re.Match[str]) -> str:
    name, value = argument[1], argument[2]
    return _written(_options[name], name, value) if name in _options else argument[0]


def _written(option: str, name: str, value: str | None) -> str:
    """An option with its value as it is typed."""
    if value is None or value == "True":
        return option
    if value == "False":
        return _options.get(OPPOSITE.get(name, ""), f"--no-{option.removeprefix('--')}")
    if value.startswith(("[", "{")):
        words = re.findall(r"'([^']*)'", value)
        pairs = zip(words[::2], words[1::2], strict=False) if value[0] == "{" else ()
        return " ".join(f"{option} {key}={word}" for key, word in pairs) or f"{option} {_listed(words)}"
    return f"{option} {value.strip(_QUOTES)}"


def _listed(words: list[str]) -> str:
    """Words as a comma list; one that has a comma stands in quotes, and the list in those of the shell."""
    if not any("," in word for word in words):
        return ",".join(words)
    return "'" + ",".join(f'"{word}"' if "," in word else word for word in words) + "'"


def _command(call: re.Match[str]) -> str:
    """`recassay.list_data(everything=True)` as `recassay data list --all`."""
    if call[1] not in _commands:
        return call[0]
    words = []
    for part in (call[2] or "").split(", "):
        name, equals, value = part.partition("=")
        option = "--all" if name == "everything" else f"--{name.replace('_', '-')}"
        words.append(_written(option, name, value) if equals else part)
    return " ".join(filter(None, ["recassay", _commands[call[1]], *words]))
