"""The page of the command line: the help of every command, as the program prints it."""

from __future__ import annotations

import contextlib
import io


def command_line_page() -> str:
    """The help of every command, in the order in which `recassay --help` lists them."""
    import typer

    from recassay.cli.main import app

    def paths(group: typer.Typer, before: tuple[str, ...]) -> list[tuple[str, ...]]:
        found: list[tuple[str, ...]] = [before]
        for command in group.registered_commands:
            found.append((*before, str(command.name)))
        for inner in group.registered_groups:
            assert inner.typer_instance is not None
            found += paths(inner.typer_instance, (*before, str(inner.name)))
        return found

    parts = ["# Command line\n\nEvery command with its options. Every command that prints a table takes `--json`.\n"]
    program = typer.main.get_command(app)
    for path in paths(app, ()):
        title = " ".join(["recassay", *path])
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            code = program.main([*path, "--help"], prog_name="recassay", standalone_mode=False, terminal_width=100)
        if code:
            raise SystemExit(f"{title} --help failed: {shown.getvalue()}")
        parts.append(f"## {title}\n\n```text\n{shown.getvalue().strip()}\n```\n")
    return "\n".join(parts)
