"""What a command is made of, and one call of it: what was typed, handed to the verb."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recassay.cli.options import HELP, OPPOSITE, Argument, Option, is_advanced, options_of
from recassay.cli.render import print_notes, say
from recassay.cli.values import named
from recassay.cli.verbs import Parameter, function_of, read_fields, read_verb
from recassay.cli.wording import speak_of
from recassay.core.choices import BENCHMARK, DRAWS_OF
from recassay.core.errors import UsageError
from recassay.core.system.printable import one_line

if TYPE_CHECKING:
    from recassay.core.specs.specs import ProtocolSpec, ReadSpec
    from recassay.core.tables.results import Results

READING = "Reading the table"
OUTPUT = "Output"
ADVANCED = "Advanced"
LOADING = "recassay.api.tables:load_results"
ANSWER = "recassay.cli.on_table:answer"
_READING = {"missing", "higher_is_better", "wide", "transpose", "columns", "dataset", "format", "prefer"}
_OUTPUT = {"as_json", "everything", "out", "formats"}
_SPECS = {"read": "recassay.core.specs.specs:ReadSpec", "protocol": "recassay.core.specs.specs:ProtocolSpec"}


@dataclass(frozen=True)
class Command:
    """A command: the verbs whose parameters are its options, and what computes and shows the answer.

    The keyword parameters of these two functions are options, too: those that only a terminal needs.
    """

    name: str
    help: str
    takes: str = "results..."
    """Its arguments as in a usage line: `name`, `[name]` where it may be left out, `name...` where several may be."""
    verbs: str = ""
    """Such as `rank:rank` (module and function of `recassay.api`), the main one first; by default of the name."""
    computes: str = "on_table:on_table"
    """Module and function of `recassay.cli` that returns the answer and what knows the input files."""
    show: str = "on_table:answer"
    """Module and function of `recassay.cli` that shows it, and further ones that it hands on to; what does not hand on
    to `on_table:answer` computes by itself."""
    without: str = ""
    """Parameters that are not options."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """By a parameter that is a specification (`read`, `protocol`), the fields of it that are options; `*` is all."""
    names: Mapping[str, str] = field(default_factory=dict)
    """By parameter, how the option is written where it is not as everywhere."""
    sections: Mapping[str, str] = field(default_factory=dict)
    """By a section of the help, the parameters that stand there, or a verb whose parameters do."""
    out: str = "folder"
    """Whether `--out` is a folder or a file."""
    saved_as: str = ""
    """What `--out` calls the answer; by default the name."""
    other_answers: Mapping[str, str] = field(default_factory=dict)
    """By a flag that asks another question, what `--out` calls its answer."""

    @cached_property
    def places(self) -> list[str]:
        """The main verb, further ones, the one that reads a table, and the functions that compute and show."""
        verbs = [f"recassay.api.{verb}" for verb in (self.verbs or f"{self.name}:{self.name}").split()]
        reading = [LOADING] if self.takes.startswith("results") and LOADING not in verbs else []
        shown = [f"recassay.cli.{place}" for place in self.show.split()]
        computes = [f"recassay.cli.{self.computes}"] if ANSWER in shown else []
        return [*verbs, *reading, *computes, *shown]

    @cached_property
    def params(self) -> list[click.Parameter]:
        """Arguments, then options by section: each parameter once, as the first that names it describes it."""
        words = {word.strip("[]."): word for word in self.takes.split()}
        left_out = {*words, *self.without.split(), *(("source",) if LOADING in self.places[1:] else ())}
        texts: dict[str, str] = {}
        options: dict[str, list[Option]] = {}
        for place in self.places:
            for parameter in self._offered(place):
                texts.setdefault(parameter.name, parameter.help)
                if parameter.name not in options and parameter.name not in left_out:
                    options[parameter.name] = options_of(
                        parameter,
                        self.names.get(parameter.name, ""),
                        self._section(parameter, place),
                        out=self.out,
                        required=parameter.required and place == self.places[0],
                    )
        order = ["", *self.sections, READING, OUTPUT, ADVANCED]
        flat = [option for group in options.values() for option in group]
        first = next(iter(texts.values()), "")
        arguments = [Argument(name, HELP.get(name) or texts.get(name, first), word) for name, word in words.items()]
        return [*arguments, *sorted(flat, key=lambda option: order.index(option.section))]

    def _offered(self, place: str) -> Iterator[Parameter]:
        """The parameters of one place; a specification gives its fields, and the first of our own is the call."""
        for parameter in read_verb(place)[place.startswith("recassay.cli.") :]:
            if parameter.name not in _SPECS:
                yield parameter
            elif parameter.name in self.fields:
                yield from self.fields_of(parameter.name)

    def fields_of(self, specification: str) -> list[Parameter]:
        """The fields of a specification that are options."""
        wanted = self.fields[specification].split()
        return [part for part in read_fields(_SPECS[specification]) if wanted == ["*"] or part.name in wanted]

    def _section(self, parameter: Parameter, place: str) -> str:
        name = parameter.name
        for section, members in self.sections.items():
            if name in members.split() or place.removeprefix("recassay.api.") in members.split():
                return section
        if name in _OUTPUT or "--out" in self.names.get(name, ""):
            return OUTPUT
        if is_advanced(parameter):
            return ADVANCED
        return READING if name in _READING and LOADING in self.places else ""

    def run(self, context: click.Context, values: Mapping[str, Any]) -> None:
        """Hand what was typed to the function that shows the answer."""
        given = {name for name in values if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"}
        typed = {name: value for name, value in values.items() if name in given}
        written = {param.name: named(param) for param in self.params if isinstance(param, Option) and param.name}
        speak_of(written)
        for name, other in OPPOSITE.items():
            if name in typed and other in typed:
                raise UsageError(f"{written[name]} and {written[other]} exclude each other", fix="keep one")
            if other in typed:
                typed[name] = not typed.pop(other)
        for word in typed.get("results") or ():  # `missing=worst` among the files is an option written as in Python
            name, equals, value = str(word).partition("=")
            option = written.get(name.replace("-", "_"))
            if equals and option is not None and not Path(word).exists():
                raise UsageError(f"there is no file {word!r}", fix=f"as an option it is {option} {value}")
        if LOADING in self.places:  # threads of BLAS that wait for small products take more time than all analyses
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        path = context.command_path.partition(" ")[2]
        Call(self, path, typed, written).own(f"recassay.cli.{self.show.split()[0]}")


@dataclass(frozen=True)
class Call:
    """One call of a command: what was typed. Calling it calls the main verb with that."""

    command: Command
    path: str
    """The command as it was typed: `rank`, `irt beta`."""
    typed: Mapping[str, Any]
    """By parameter, the value; what was not typed is not there, so that the verb's own default holds."""
    written: Mapping[str, str]
    """By parameter, how its option is written."""

    def __call__(self, verb: str = "", /, **more: Any) -> Any:
        """The answer of the main verb, or of another verb of the command; `more` stands before what was typed."""
        place = f"recassay.api.{verb}" if verb else self.command.places[0]
        return function_of(place)(**(self.arguments(place) | more))

    def own(self, place: str) -> Any:
        """What a function of the command line does with this call and its own options."""
        return function_of(place)(self, **self.arguments(place))

    def called(self) -> tuple[str, str]:
        """What was asked, as it was typed (`plan --cells`), and what `--out` calls the answer."""
        for flag, answer in self.command.other_answers.items():
            if flag in self.typed:
                return f"{self.path} {self.written[flag]}", answer
        return self.path, self.command.saved_as or self.command.name

    def compute(self) -> tuple[Any, Any]:
        """The answer, and what knows the input files."""
        return self.own(f"recassay.cli.{self.command.computes}")

    def arguments(self, place: str) -> dict[str, Any]:
        """What was typed for a verb; a specification is made of its fields where any was typed."""
        gathered: dict[str, Any] = {}
        for parameter in read_verb(place):
            if parameter.name in self.command.fields:
                fields = {part.name for part in self.command.fields_of(parameter.name)}
                typed = {name: value for name, value in self.typed.items() if name in fields}
                if typed:
                    gathered[parameter.name] = _specification(parameter.name, typed)
            elif parameter.name in self.typed:
                gathered[parameter.name] = self.typed[parameter.name]
        return gathered

    def load(self, **more: Any) -> Results:
        """The results table as the options of reading describe it; what must be known about it goes to stderr."""
        given = {name: value for name, value in self.arguments(LOADING).items() if name in self.written} | more
        source = given.pop("source", None) or self.typed.get("results") or BENCHMARK
        results: Results = function_of(LOADING)(source, **given)
        say(one_line(results.told_reading(), 600))
        print_notes(results.notes)
        draws = DRAWS_OF.get(self.command.name)
        note = draws.note(self.typed.get(draws.option), len(results.algorithms)) if draws else None
        print_notes([] if note is None else [note])
        return results

    def fields(self, specifications: str) -> str:
        """The parameters that are fields of these specifications."""
        return " ".join(part.name for name in specifications.split() for part in self.command.fields_of(name))

    def refuse(self, parameters: str, why: str, fix: str) -> None:
        """Refuse the first of the parameters that was typed: it would have no effect."""
        for name in parameters.split():
            if name in self.typed:
                raise UsageError(f"{self.written[name]} {why}", fix=fix)


def _specification(name: str, typed: Mapping[str, Any]) -> ReadSpec | ProtocolSpec:
    """`read` or `protocol` of the fields that were typed; a column that is named by a number is meant by its place."""
    from recassay.core.specs.specs import ProtocolSpec, ReadSpec  # pydantic, which `--help` does without

    if name == "protocol":
        return ProtocolSpec.checked(**typed)
    columns = {role: int(name) if name.isdecimal() else name for role, name in typed.get("columns", {}).items()}
    return ReadSpec.checked(**{**typed, **({"columns": columns} if columns else {})})
