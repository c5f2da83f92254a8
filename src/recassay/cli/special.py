"""Answers that are not computed from one results table by one verb."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from recassay.api.decodirt import load_response_folder, sources_of
from recassay.api.logistic_irt import load_responses
from recassay.api.publish.content import save_text
from recassay.api.tables import load_results
from recassay.cli.call import Call
from recassay.cli.progress import resumable, show_progress, show_stages
from recassay.cli.render import Failed, print_json, print_lines, print_notes, print_rows, say
from recassay.cli.values import Target
from recassay.cli.wording import in_options
from recassay.core.errors import UsageError
from recassay.core.system.plain import plain
from recassay.core.version import __version__


def plan(call: Call, *, cells: bool = False) -> tuple[Any, Any]:
    """What more data would show; or which cells settle the ranking of the whole grid.

    Args:
        cells: instead, which cells (algorithm, dataset) settle the ranking of the whole grid; a complete table is
            replayed.
    """
    if not cells:
        call.refuse("target confidence indifference budget prior characteristics", "is for --cells",
                    "say that, or leave it out")  # fmt: skip
        results = call.load()
        return call(results=results), results
    call.refuse("difference power alpha families", "has no effect with --cells", "leave it out")
    if call.typed.get("target") != "order":
        call.refuse("indifference", "is for --target order", "say that, or leave it out")
    results = call.load()
    return call("adaptive:adaptive", results_or_runner=results), results


def ratings(call: Call, *, method: Literal["pairs", "glicko"] = "pairs") -> tuple[Any, Any]:
    """Ratings by one of two methods.

    Args:
        method: Bradley-Terry over pairs (`pairs`), whatever the order of the datasets; or Glicko-2 (`glicko`), where
            every dataset is a rating period.
    """
    if method == "glicko":
        call.refuse("baseline families replicates confidence", "is for --method pairs", "leave it out")
    else:
        call.refuse("order properties tau tie orders", "is for --method glicko", "say that, or leave it out")
    results = call.load()
    return call("glicko:glicko" if method == "glicko" else "ratings:ratings", results=results), results


def comper(call: Call, *, derive_matrix: bool = False) -> tuple[Any, Any]:
    """ComPer's score of a table, or the derivation of its matrix.

    Args:
        derive_matrix: derive the matrix of weights step by step instead of scoring results.
    """
    if derive_matrix:
        if call.typed.get("results"):
            raise UsageError("--derive-matrix takes no results", fix="leave them out")
        derived = call("comper:comper_matrix")
        return derived, derived
    call.refuse("experts similarities definitions fourth", "is for --derive-matrix", "say that, or leave it out")
    if not call.typed.get("results"):
        raise UsageError("no results were given", fix="name at least one file")
    results = call.load(metric=call.typed.get("correctness"))
    return call(results=results), results


def bench(call: Call) -> tuple[Any, Any]:
    """An algorithm of one's own among the shipped baselines."""
    with resumable(lambda: Path(call.typed.get("folder") or ".")):
        result = call(progress=show_progress(), told=lambda line: say(in_options(line)))
    if result.trial and "out" not in call.typed:
        from recassay.api.publish.report import bench_page

        page = Path(result.folder) / "page.html"
        save_text(page, bench_page(result))
        say(f"wrote {page}: how the page of a bench looks")
    if "bundle" in call.typed:
        say(f"wrote {call.typed['bundle']}: check it as a board does, with recassay board add {call.typed['bundle']}")
    return result, result


def multiverse(call: Call, *, certify: bool = False) -> tuple[Any, Any]:
    """Claims over every combination of choices; the verb reads the tables itself, with all their columns.

    Args:
        certify: instead, which claims a part of the multiverse settles: of a study that has not run all of it; a
            complete table is replayed.
    """
    if not certify:
        call.refuse("confidence", "is for --certify", "say that, or leave it out")
        result = call(results=list(call.typed["results"]))
        print_notes(result.notes)
        return result, result
    other = "metric leaky missing higher_is_better alpha permutations"
    call.refuse(other, "has no effect with --certify", "leave it out")
    if len(call.typed["results"]) != 1:
        raise UsageError("one table or study at a time can be certified", fix="name one")
    result = call("certify:certify", results=call.typed["results"][0])
    return result, result


def strata(call: Call) -> tuple[Any, Any]:
    """The algorithms of a study on held-out items below a popularity threshold."""
    folder = call.typed["folder"]
    if Path(folder).is_file():
        raise UsageError("is a file, and a study is needed", where=folder, fix="name the folder of a study")
    return call(), load_results(folder)


def logistic_irt(call: Call) -> tuple[Any, Any]:
    """Logistic IRT on a binary response table."""
    table = load_responses(call.typed["responses"])
    return call(responses=table), table


def user_irt(call: Call) -> tuple[Any, Any]:
    """Logistic IRT on the users of a study, or of results with a row for each."""
    results = load_results(call.typed["folder"])
    return call(folder=results), results


def instances(call: Call) -> tuple[Any, Any]:
    """Logistic IRT on the test instances of many datasets."""
    answers = load_response_folder(call.typed["instances"])
    return call(instances=answers, progress=show_stages()), sources_of(answers)


def reproduce(call: Call, *, everything: bool = False, markdown: Path | None = None, as_json: bool = False) -> None:
    """Every number beside the printed one.

    Args:
        everything: show every number, not only those that do not agree.
        markdown: write the page of the documentation into this file.
    """
    if markdown is not None:
        Target("file").convert(markdown, None, None)
    result = call(paper=list(call.typed.get("paper", ())) or None)
    if markdown is not None:
        from recassay.api.reproduce import reproduction_page

        save_text(markdown, reproduction_page(result))
        say(f"wrote {markdown}")
    if as_json:
        print_json({"recassay": __version__, "command": "reproduce", **plain(result.to_dict())})
    else:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in result.count().items())
        summary = result.summary()
        rows = [[cell or "" for cell in row] for row in summary.iter_rows()]
        print_rows(f"{len(result.numbers)} numbers: {counts}", summary.columns, rows, names=2)
        rows = [
            ["" if cell is None else f"{cell:+.4g}" if isinstance(cell, float) else cell for cell in row.values()]
            for row in result.to_frame().iter_rows(named=True)
            if everything or row["verdict"] == "does not follow"
        ]
        title = "Every number" if everything else "Numbers that do not follow (--all shows every number)"
        header = ["paper", "table", "row", "column", "printed", "ours", "difference", "verdict", "why"]
        print_rows(title, header, rows, names=4)
        for paper in result.papers:
            print_lines(f"{paper.name}, {what}: not computed again: {why}." for what, why in paper.not_recomputed)
    if result.fallen:
        say(f"recassay: {len(result.fallen)} numbers that used to agree no longer do")
        raise Failed
