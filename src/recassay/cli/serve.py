"""`serve`: a study live in the browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import recassay
from recassay.cli import options as o
from recassay.cli.render import say

if TYPE_CHECKING:
    from recassay.reporting.live import LiveServer


def serve(
    folder: Annotated[Path, typer.Argument(help="Folder of a study, running or done.")],
    metric: o.Metric = None,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", "-p", min=0, max=65_535, help="Port; 0 takes a free one.")] = 8765,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help="Name by which browsers may ask for the page (repeatable).",
                     show_default=False),
    ] = None,
    browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:  # fmt: skip
    """Watch a study live in the browser."""

    def ready(server: LiveServer) -> None:
        say(f"{folder} is shown at {server.url} (read-only; Ctrl-C ends it)")
        if browser:
            webbrowser.open(server.url)

    recassay.serve(folder, host=host, port=port, metric=metric, allow_host=allow_host or (), ready=ready)
