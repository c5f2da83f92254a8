"""`seal`, `verify` and `checklist`: what a study promised, and what can be checked."""

from __future__ import annotations

from pathlib import Path

from recassay.cli.call import Call
from recassay.cli.progress import show_progress
from recassay.cli.render import Failed, print_json, print_lines
from recassay.core.system.files import write_whole


def sealed(call: Call, *, as_json: bool = False) -> None:
    """Where the seal is, and the line to publish.

    Args:
        as_json: print JSON on stdout instead of sentences.
    """
    seal, typed = call(), call.typed
    folder = f" --out {typed['folder']}" if "folder" in typed else ""
    print_json(seal.to_dict()) if as_json else print_lines(
        [*seal.verdict(), f"Now: recassay run {typed['study']}{folder}"]
    )


def verified(call: Call, *, as_json: bool = False) -> None:
    """Whether the study is what was sealed; exit 1 where something deviates.

    Args:
        as_json: print JSON on stdout instead of sentences.
    """
    result = call(progress=show_progress())
    print_json(result.to_dict()) if as_json else print_lines(result.verdict())
    if not result.sound:
        raise Failed


def checklist(call: Call, *, as_json: bool = False, out: Path | None = None) -> None:
    """The questions with their answers, as Markdown.

    Args:
        as_json: print JSON on stdout instead of Markdown.
        out: a file for the Markdown.
    """
    result = call()
    if out is not None:
        write_whole(out, result.to_markdown().encode())
    if as_json:
        print_json(result.to_dict())
    elif out is None:
        print_lines(result.to_markdown().splitlines())
    else:
        print_lines(result.verdict())
