"""The `recassay` command: runs it, and tells errors as one line with an exit code."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
import tempfile
import traceback
from pathlib import Path

import click

from recassay.cli.commands import PROGRAM
from recassay.cli.render import Failed, Interrupted, say
from recassay.cli.wording import in_options
from recassay.core.errors import InputError, RecAssayError, UsageError, from_os
from recassay.core.system.descriptors import hold_descriptors
from recassay.core.system.printable import one_line

INTERRUPTED = 130
SAFE = "what was written is whole, and the same command goes on with a study where it stopped"


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: exit 0, 1 (something failed) or 2 (bad usage or input: one line on stderr)."""
    given = sys.argv[1:] if arguments is None else arguments
    _ready_streams()
    output = sys.stdout
    code: int | str | None
    try:
        code = PROGRAM.main(given or ["--help"], prog_name="recassay", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:
            raise KeyboardInterrupt
    except click.ClickException as error:
        message = " ".join(error.format_message().split())
        say(f"recassay: {one_line(message.replace('Value error, ', ''), 1200)}")
        code = 2
    except Failed:
        code = 1
    except Interrupted:
        code = INTERRUPTED
    except (KeyboardInterrupt, click.Abort):
        say(f"recassay: interrupted; {SAFE}")
        code = INTERRUPTED
    except BrokenPipeError:
        _without_output()
        code = 0
    except SystemExit as ended:  # the parser ends so where nobody reads the output any more
        gone = isinstance(ended.__context__, BrokenPipeError) or sys.stdout is not output
        code = 0 if gone else ended.code
    except Exception as error:
        ours = _as_ours(error)
        try:
            sys.stdout.flush()
        except (OSError, ValueError):
            _without_output()
        if isinstance(error, OSError) and error.filename is None and _was_printing(error):
            fix = "send it elsewhere; files and studies are whole"
            ours = InputError(f"the answer cannot be written ({ours.what})", where="standard output", fix=fix)
        for line in str(ours).splitlines():
            say(f"recassay: {in_options(line)}")
        code = ours.exit_code
    sys.exit(code or 0)


def _ready_streams() -> None:
    """Streams that are closed lead nowhere; what an encoding does not know is shown by its code."""
    hold_descriptors()
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _as_ours(error: Exception) -> RecAssayError:
    """Any error as one line. What nobody foresaw is a fault of ours: its traceback goes into a file that is named."""
    if isinstance(error, RecAssayError):
        return error
    if isinstance(error, OSError):
        return from_os(error)
    if isinstance(error, MemoryError):
        return UsageError("there is not enough memory for this", fix="ask for less (fewer draws, a smaller table)")
    if isinstance(error, RecursionError):
        return InputError("the input is nested too deeply", fix="give a flatter file")
    if "No space left on device" in str(error):
        return from_os(OSError(errno.ENOSPC, "No space left on device"))
    text = "".join(traceback.format_exception(error))
    try:
        with tempfile.NamedTemporaryFile("w", prefix="recassay-fault-", suffix=".txt", delete=False) as file:
            file.write(text)
        kept = f"the traceback is in {file.name}"
    except OSError:
        kept = f"it happened at {text.strip().splitlines()[-3].strip()}" if text.count("\n") > 2 else ""
    return RecAssayError(
        f"this is a fault of RecAssay: {type(error).__name__}: {one_line(str(error), 200)}",
        fix=f"please report it; {kept}",
    )


def _was_printing(error: OSError) -> bool:
    """Whether the system refused what this room or click wrote: both write to the standard streams alone."""
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    return Path(last).parent in (Path(__file__).parent, Path(click.__file__).parent)


def _without_output() -> None:
    """Let the interpreter end quietly though nobody reads its output, or it cannot be written."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
