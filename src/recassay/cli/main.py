"""The `recassay` command: its sub-commands, and errors as one line with an exit code."""

from __future__ import annotations

import os
import sys
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
    recassay.RecAssayError.in_options = True
    try:
        code = app(given or ["--help"], standalone_mode=False)
    except recassay.RecAssayError as error:
        sys.stderr.write(f"recassay: {error}\n")
        code = error.exit_code
    except ParserError as error:
        said = " ".join(error.format_message().split())  # type: ignore[attr-defined]
        sys.stderr.write(f"recassay: {said.replace('Value error, ', '')}\n")
        code = 2
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write("recassay: interrupted; every file that was written is whole\n")
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    finally:
        recassay.RecAssayError.in_options = False
    sys.exit(code or 0)
