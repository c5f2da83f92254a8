"""Commands in groups: each is built when it is asked for, help is told section by section, and words are completed."""

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
    """Commands by section of the help."""

    def __init__(self, name: str, help: str, sections: Mapping[str, Sequence[Command | Program]], **more: Any) -> None:
        super().__init__(name, help=help, **more)
        self.sections = sections
        self.known = {member.name: member for members in sections.values() for member in members}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of the help."""
        return [str(member.name) for members in self.sections.values() for member in members]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, built now."""
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
        if args and args[0] not in self.known and not args[0].startswith("-"):
            near = get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by section, each with its line."""
        width = max(map(len, self.list_commands(ctx)))
        for section, members in self.sections.items():
            with formatter.section(section):
                formatter.write_dl([(str(member.name).ljust(width), member.help or "") for member in members])


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
