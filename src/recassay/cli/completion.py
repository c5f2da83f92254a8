"""Options of `recassay` itself: its version, and the completion of words in a shell."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from recassay.cli.render import say
from recassay.core.errors import UsageError
from recassay.core.version import __version__

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
    if wanted:
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
