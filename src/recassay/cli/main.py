"""The `recassay` command: its sub-commands, and errors as one line with an exit code."""

from __future__ import annotations

import errno
import io
import os
import sys
import tempfile
import traceback
from typing import Annotated

import typer

import recassay
from recassay.cli import (
    adaptive,
    advise,
    analyze,
    classify,
    compare,
    comper,
    data,
    demo,
    evaluate,
    glicko,
    import_,
    installation,
    irt,
    model,
    multiverse,
    paper,
    plan,
    rank,
    ratings,
    report,
    reproduce,
    results,
    select,
    serve,
    split,
    strata,
    stress,
    studies,
    users,
)
from recassay.cli.render import say
from recassay.core.errors import InputError, from_os
from recassay.core.system.descriptors import hold_descriptors
from recassay.core.system.printable import one_line

INTERRUPTED = 130
SAFE = "what was written is whole, and the same command goes on with a study where it stopped"

app = typer.Typer(
    name="recassay",
    help="Assay recommender algorithms: which is best over many datasets, and is that proven or luck?",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"recassay {recassay.__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


# The base of the parser's own complaints; its home differs between versions of typer.
ParserError: type[Exception] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")

app.command("demo")(demo.demo)
app.command("run")(studies.run)
app.command("status")(studies.status)
app.command("results")(results.results)
app.command("serve")(serve.serve)
app.command("analyze")(analyze.analyze)
app.command("report")(report.report)
app.command("paper")(paper.paper)
app.command("import")(import_.import_)
app.command("rank")(rank.rank)
app.command("compare")(compare.compare)
app.command("model")(model.model)
app.command("plan")(plan.plan)
app.command("adaptive")(adaptive.adaptive)
app.command("users")(users.users)
app.command("irt")(irt.irt)
app.command("ratings")(ratings.ratings)
app.command("glicko")(glicko.glicko)
app.command("comper")(comper.comper)
app.command("comper-matrix")(comper.comper_matrix)
app.command("strata")(strata.strata)
app.command("stress")(stress.stress)
app.command("multiverse")(multiverse.multiverse)
app.command("classify")(classify.classify)
app.command("select")(select.select)
app.command("advise")(advise.advise)
app.command("evaluate")(evaluate.evaluate)
app.command("split")(split.split)
app.command("reproduce")(reproduce.reproduce)
app.add_typer(data.app, name="data")
app.command("list")(installation.list_)
app.command("doctor")(installation.doctor)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: exit 0, 1 (something failed) or 2 (bad usage or input: one line on stderr)."""
    given = sys.argv[1:] if arguments is None else arguments
    _ready_streams()
    recassay.RecAssayError.in_options = True
    try:
        code = app(given or ["--help"], standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:
            raise KeyboardInterrupt
    except ParserError as error:
        said = " ".join(error.format_message().split())  # type: ignore[attr-defined]
        say(f"recassay: {one_line(said.replace('Value error, ', ''), 1200)}")
        code = 2
    except (KeyboardInterrupt, typer.Abort):
        say(f"recassay: interrupted; {SAFE}")
        code = INTERRUPTED
    except BrokenPipeError:
        _without_output()
        code = 0
    except SystemExit as ended:  # the parser ends so where nobody reads the output any more
        code = 0 if isinstance(ended.__context__, BrokenPipeError) else ended.code
    except Exception as error:
        told = _told(error)
        say(f"recassay: {told}")
        code = told.exit_code
        _without_output(only_if_broken=True)
    finally:
        recassay.RecAssayError.in_options = False
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


def _told(error: Exception) -> recassay.RecAssayError:
    """Any error as one line. What nobody foresaw is a fault of ours: its traceback goes into a file that is named."""
    if isinstance(error, recassay.RecAssayError):
        return error
    if isinstance(error, OSError):
        return from_os(error)
    if isinstance(error, MemoryError):
        return recassay.UsageError(
            "there is not enough memory for this", fix="ask for less (fewer draws, a smaller table)"
        )
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
    return recassay.RecAssayError(
        f"this is a fault of RecAssay: {type(error).__name__}: {one_line(str(error), 200)}",
        fix=f"please report it; {kept}",
    )


def _without_output(*, only_if_broken: bool = False) -> None:
    """Let the interpreter end quietly though nobody reads its output, or it cannot be written."""
    try:
        if only_if_broken:
            sys.stdout.flush()
            return
    except (OSError, ValueError):
        pass
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
