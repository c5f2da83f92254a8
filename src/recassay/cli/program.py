"""Commands in groups: each is built when it is asked for, help has sections, and words are completed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click
from click.shell_completion import get_completion_class

from recassay.cli.call import Command
from recassay.cli.options import Argument, Option
from recassay.cli.render import say
from recassay.cli.values import named
from recassay.cli.wording import in_options, speak_of
from recassay.core.errors import UsageError
from recassay.core.version import __version__

HELP = "help"
EVERY = "recassay.every"
"""Where a context notes that help lists every command."""


class Built(click.Command):
    """A command whose help has sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Arguments, then options by section."""
        speak_of({p.name: named(p) for p in self.params if isinstance(p, Option) and p.name})
        rows: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if isinstance(param, Argument):
                rows.setdefault("Arguments", []).append((param.make_metavar(ctx), plain(param.about)))
            elif record := param.get_help_record(ctx):
                rows.setdefault(getattr(param, "section", "") or "Options", []).append((record[0], plain(record[1])))
        for section, records in rows.items():
            with formatter.section(section):
                formatter.write_dl(records, col_max=34)


def plain(help: str) -> str:
    """A text of a verb for a terminal: arguments are options, and code has no marks."""
    return in_options(help).replace("`", "")


class Program(click.Group):
    """Commands by section of the help.

    With `front`, help lists these commands alone, and the command `help` all of them. `folded` has, by a name that was
    given up, what to type instead.
    """

    def __init__(
        self,
        name: str,
        help: str,
        sections: Mapping[str, Sequence[Command | Program]],
        *,
        front: str = "",
        folded: Mapping[str, str] | None = None,
        params: list[click.Parameter] | None = None,
    ) -> None:
        super().__init__(name, help=help, params=params)
        self.sections = sections
        self.front = front.split()
        self.folded = folded or {}
        self.known = {member.name: member for members in sections.values() for member in members}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of the help."""
        return [*map(str, self.known), *([HELP] if self.front else [])]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, built now."""
        if cmd_name == HELP and self.front:
            return self._help()
        command = self.known.get(cmd_name)
        if not isinstance(command, Command):
            return command

        def run(**values: Any) -> None:
            command.run(click.get_current_context(), values)

        return Built(command.name, params=command.params, help=command.help, callback=run)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names; an unknown one is answered with the nearest."""
        if args and args[0] in self.folded:
            raise UsageError(f"there is no command {args[0]!r} any more", fix=f"say: recassay {self.folded[args[0]]}")
        if args and args[0] not in self.list_commands(ctx) and not args[0].startswith("-"):
            near = get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by section, each with its line: those in front, or all."""
        few = self.front and EVERY not in ctx.meta
        shown = [str(name) for name in self.known if name in self.front or not few]
        width = max(map(len, shown))
        for section, members in self.sections.items():
            with formatter.section(section):
                listed = [member for member in members if member.name in shown]
                formatter.write_dl([(str(member.name).ljust(width), member.help or "") for member in listed])
        if len(shown) < len(self.known):
            formatter.write_paragraph()
            formatter.write_text(f"recassay {HELP} --all: every command")

    def _help(self) -> click.Command:
        def show(command: tuple[str, ...], every: bool) -> None:
            root = click.get_current_context().find_root()
            if command:
                self.main([*command, "--help"], prog_name=root.info_name, standalone_mode=False)
                return
            if every:
                root.meta[EVERY] = True
            click.echo(root.get_help())

        word = Argument("command", "The command, such as rank or irt beta.", "[command...]")
        every = Option(["--all", "every"], is_flag=True, help="List every command.")
        return Built(HELP, params=[word, every], help="The options of a command, or the list of all.", callback=show)


SHELLS = ("bash", "zsh", "fish")


def root_options() -> list[click.Parameter]:
    """`--version`, `--install-completion` and `--show-completion`."""
    kinds = {"is_eager": True, "expose_value": False}
    return [
        click.Option(["--version"], is_flag=True, callback=_version, help="Show the version.", **kinds),
        click.Option(
            ["--install-completion"], is_flag=True, callback=_install,
            help="Complete commands and options in this shell from now on (bash, zsh or fish).", **kinds,
        ),
        click.Option(
            ["--show-completion"], type=click.Choice(SHELLS), callback=_show,
            help="Print the script for that, to place it by hand.", **kinds,
        ),
    ]  # fmt: skip


def completion_script(shell: str) -> str:
    """The script by which a shell completes the words of `recassay`."""
    kind = get_completion_class(shell)
    assert kind is not None
    return kind(click.Group("recassay"), {}, "recassay", "_RECASSAY_COMPLETE").source()


def install_completion(shell: str, home: Path) -> Path:
    """Write the script where the shell finds it, and have it read at the start; again it changes nothing."""
    if shell == "fish":
        place = home / ".config" / "fish" / "completions" / "recassay.fish"
    else:
        place = home / ".local" / "share" / "recassay" / f"completion.{shell}"
        start = home / f".{shell}rc"
        line = f'. "{place}"  # completion of recassay\n'
        text = start.read_text(encoding="utf-8") if start.exists() else ""
        if line not in text:
            start.write_text(text + ("" if text.endswith("\n") or not text else "\n") + line, encoding="utf-8")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(completion_script(shell), encoding="utf-8")
    return place


def _version(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        sys.stdout.write(f"recassay {__version__}\n")
        context.exit()


def _install(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    shell = Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        fix = "place the script of --show-completion by hand"
        raise UsageError(f"the shell is {shell or 'not known'}, not one of {', '.join(SHELLS)}", fix=fix)
    place = install_completion(shell, Path.home())
    say(f"wrote {place}; open a new terminal, and the Tab key completes commands and options")
    context.exit()


def _show(context: click.Context, option: click.Parameter, shell: str | None) -> None:
    if shell is None or context.resilient_parsing:
        return
    sys.stdout.write(completion_script(shell))
    context.exit()
