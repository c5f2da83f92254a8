"""The `recassay` command: its sub-commands, and errors as one line with an exit code."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import click
import typer

from recassay import RecAssayError, __version__
from recassay.cli import parts, results

app = typer.Typer(
    name="recassay",
    help="Assay recommender algorithms: which is best over many datasets, and is that proven or luck?",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"recassay {__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


app.command("demo")(results.demo)
app.command("analyze")(results.analyze)
app.command("rank")(results.rank)
app.command("compare")(results.compare)
app.command("list")(parts.list_)
app.command("doctor")(parts.doctor)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: exit 0, 1 (something failed) or 2 (bad usage or input: one line on stderr)."""
    try:
        code = app(arguments, standalone_mode=False)
    except RecAssayError as error:
        sys.stderr.write(f"recassay: {error}\n")
        code = error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        sys.stdout.write(error.format_message() + "\n")
        code = 2
    except click.ClickException as error:
        sys.stderr.write(f"recassay: {' '.join(error.format_message().split())}\n")
        code = 2
    except (KeyboardInterrupt, click.Abort):
        sys.stderr.write("recassay: interrupted\n")
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code or 0)
