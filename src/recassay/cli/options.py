"""From a parameter of a verb to an option of the command line: its name, how its value is written, and its help."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import click

from recassay.cli.values import (
    Target,
    Text,
    listed,
    named,
    number,
    number_or_word,
    one_or_list,
    seconds,
    share,
    weights_or_word,
)
from recassay.cli.verbs import Other, Parameter
from recassay.core.choices import Advanced, Range, Written
from recassay.core.errors import UsageError

NAMES = {
    "as_json": "--json",
    "columns": "--column --columns",
    "everything": "--all",
    "form": "--format",
    "format": "--from --format",
    "k": "-k",
    "metric": "-m --metric --metrics",
    "metrics": "-m --metrics --metric",
    "out": "-o --out",
    "port": "-p --port",
    "positive_threshold": "--threshold",
    "workers": "-j --workers",
}
"""How a parameter is written where it is not simply `--name`; what stands behind the first long name is an alias."""

OPPOSITE = {"higher_is_better": "lower_is_better"}
"""A truth value that may also be left open, with the name of its opposite where that is not `no-`."""

HELP = {
    "results": "Files of any kind, folders, studies or published:kdd24; several are joined.",
    "as_json": "print JSON on stdout instead of tables.",
}
"""What an argument means on the command line, where it is less than a function takes; and an option that its function
does not describe."""


class Option(click.Option):
    """An option with a section of the help; aliases and ranges are not repeated there."""

    section: str = ""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Names and help: a short name, the first long one, the value, and what is the default."""
        short = [name for name in self.opts if not name.startswith("--")]
        long = [name for name in self.opts if name.startswith("--")][:1]
        names = ", ".join([*short, *long]) + (f" / {self.secondary_opts[0]}" if self.secondary_opts else "")
        value = "" if self.is_flag or self.count else f" {self.make_metavar(ctx)}"
        return f"{names}{value}", self.help or ""


class Argument(click.Argument):
    """An argument with a line of help."""

    def __init__(self, name: str, help: str, word: str) -> None:
        """`word` is the argument in a usage line: `[name]` may be left out, of `name...` there may be several."""
        super().__init__([name], type=Text(), nargs=-1 if "..." in word else 1, required="[" not in word)
        self.about = help[:1].upper() + help[1:]


def options_of(
    parameter: Parameter, names: str = "", section: str = "", *, out: str = "folder", required: bool = False
) -> list[Option]:
    """The option of a parameter; two for a truth value whose opposite has a name of its own; none for a function."""
    bare, limits, written = _bare(parameter.kind)
    if bare is None:
        return []
    name = parameter.name
    spelled = (names or NAMES.get(name) or f"--{name.replace('_', '-')}").split()
    more: dict[str, Any] = {"help": _help(parameter, limits), "required": required}
    if bare is bool:
        options = _flags(parameter, spelled, more)
    else:
        more |= _written_as(bare, limits, written, out if "--out" in spelled else "")
        options = [Option([*spelled, name], **more)]
    for option in options:
        option.section = section
    return options


def is_advanced(parameter: Parameter) -> bool:
    """Whether only an expert sets it."""
    return Advanced in getattr(parameter.kind, "__metadata__", ())


def _bare(kind: Any) -> tuple[Any, Range | None, Written | None]:
    """An annotation without None, limits and notation; None in its place for what cannot be written as text."""
    limits = written = None
    while get_origin(kind) is Annotated:
        for extra in kind.__metadata__:
            limits = extra if isinstance(extra, Range) else limits
            written = extra if isinstance(extra, Written) else written
        kind = get_args(kind)[0]
    if get_origin(kind) in (Union, types.UnionType):
        members = [member for member in get_args(kind) if member is not types.NoneType and _can_be_typed(member)]
        if not members:
            return None, None, None
        if len(members) == 1:
            inner, inner_limits, inner_written = _bare(members[0])
            return inner, limits or inner_limits, written or inner_written
        if all(get_origin(member) is Literal for member in members):
            return Literal[tuple(choice for member in members for choice in get_args(member))], limits, written
        return tuple(members), limits, written
    return (kind if _can_be_typed(kind) else None), limits, written


def _can_be_typed(kind: Any) -> bool:
    """Whether a value can be written as text: functions and objects of ours cannot."""
    return get_origin(kind) is not Callable and not (isinstance(kind, type) and issubclass(kind, Other))


def _is_list(bare: Any) -> bool:
    return get_origin(bare) in (Sequence, list, tuple, Iterable)


def _flags(parameter: Parameter, spelled: list[str], more: dict[str, Any]) -> list[Option]:
    name = parameter.name
    if parameter.default is False:
        return [Option([*spelled, name], is_flag=True, default=False, **more)]
    if name in OPPOSITE:
        other = OPPOSITE[name]
        return [
            Option([*spelled, name], is_flag=True, default=False, **more),
            Option([f"--{other.replace('_', '-')}", other], is_flag=True, default=False, **more),
        ]
    return [Option([f"{spelled[-1]}/--no-{spelled[-1].removeprefix('--')}", name], default=None, **more)]


def _written_as(bare: Any, limits: Range | None, written: Written | None, out: str) -> dict[str, Any]:
    """How a value is written: its type, what the help shows of it, and whether the option may be repeated."""
    if _is_list(bare):
        values = Text(partial(listed, inner=(get_args(bare) or (str,))[0]))
        return {"type": values, "metavar": "A,B,...", "multiple": True, "callback": _joined}
    if get_origin(bare) in (dict, Mapping):
        return {"type": Text(), "metavar": "ROLE=NAME", "multiple": True, "callback": _pairs}
    if written is not None:
        shares = written.example.endswith("%")
        read = partial(share, limits=limits or Range()) if shares else seconds
        return {"type": Text(read), "metavar": written.example}
    if get_origin(bare) is Literal:
        choices = [str(choice) for choice in get_args(bare)]
        return {"type": click.Choice(choices), "metavar": "|".join(choices)}
    if bare in (int, float):
        kind = Text(partial(number, kind=bare, limits=limits or Range()))
        return {"type": kind, "metavar": "N" if bare is int else "X"}
    if out:
        return {"type": Target(out), "metavar": "PATH"}
    return _mixed(bare) if isinstance(bare, tuple) else {"type": Text(), "metavar": "TEXT"}


def _mixed(members: tuple[Any, ...]) -> dict[str, Any]:
    """A value of several kinds: tables, a number or a word, pairs or a word, a word or a number or a list of them."""
    words = [choice for member in members if get_origin(member) is Literal for choice in get_args(member)]
    listable = any(map(_is_list, members))
    if listable and any(hasattr(member, "_is_protocol") for member in members):
        files = Text(lambda text, option: [text])
        return {"type": files, "metavar": "FILE", "multiple": True, "callback": _joined}
    if int in members and words:
        return {"type": Text(partial(number_or_word, words=words)), "metavar": f"N|{'|'.join(words)}"}
    if any(get_origin(member) is dict for member in members) and words:
        return {"type": Text(partial(weights_or_word, words=words)), "metavar": "NAME=X,..."}
    if listable and str in members:
        return {"type": Text(partial(one_or_list, inner=str)), "metavar": "A,B,..."}
    if listable and int in members:
        return {"type": Text(partial(one_or_list, inner=int)), "metavar": "N,..."}
    return {"type": Text(), "metavar": "TEXT"}


def _help(parameter: Parameter, limits: Range | None) -> str:
    """The text of the verb, without the marks of code, and what holds where the option is left out."""
    help = parameter.help or HELP.get(parameter.name, "")
    text = help[:1].upper() + help[1:]
    facts = []
    default = parameter.default
    stated = isinstance(default, (str, int, float, tuple)) and not isinstance(default, bool)
    if stated and default not in ((), ""):
        shown = ",".join(map(str, default)) if isinstance(default, tuple) else str(default)
        facts += [f"default: {shown}"] if len(shown) < 40 else []
    if limits is not None and limits.inner:
        facts += [limits.words().strip()]
    elif limits is not None:
        facts += [f"at least {limits.least:,.9g}"] if limits.least is not None else []
        facts += [f"at most {limits.most:,.9g}"] if limits.most is not None else []
    return f"{text} [{'; '.join(facts)}]" if facts else text


def _joined(context: click.Context, option: click.Parameter, given: Sequence[Sequence[Any]]) -> list[Any] | None:
    return [value for values in given for value in values] if given else None


def _pairs(context: click.Context, option: click.Parameter, given: Sequence[str]) -> dict[str, Any] | None:
    """By role, what `--column role=name` says."""
    name, pairs = named(option), dict[str, Any]()
    for text in given:
        ours, equals, theirs = (part.strip() for part in text.partition("="))
        if not equals:
            raise UsageError(
                f"{name} {text!r} is not of the form role=name", fix="write ROLE=NAME, once for each column"
            )
        if ours in pairs:
            raise UsageError(f"{name} names the {ours} twice", fix="name each once")
        if theirs in pairs.values():
            raise UsageError(f"{name} gives {theirs!r} two roles", fix="give each its own column")
        pairs[ours] = theirs
    return pairs or None
