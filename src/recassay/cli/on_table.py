"""What a command with one answer does: compute it, by default from a results table, then show and save it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from recassay.api.publish.content import box_lines, claimable, document, save_text, tell, write_folder
from recassay.api.publish.content import claims as claims_of
from recassay.api.publish.content import paragraph as written_paragraph
from recassay.cli.call import ANSWER, Call
from recassay.cli.render import print_answer, print_command, print_json, print_lines, print_saved, say
from recassay.cli.values import PAGES, Target
from recassay.core.choices import known_formats
from recassay.core.errors import UsageError
from recassay.core.words import duration


def answer(
    call: Call,
    *,
    everything: bool = False,
    as_json: bool = False,
    out: Path | None = None,
    formats: Sequence[str] | None = None,
) -> Any:
    """Show what the command computes, or its JSON, save it where a folder was named, and return it.

    Args:
        everything: every table and sentence, not the answer alone.
        out: folder for tables and figures.
        formats: of the figures: `svg`, `pdf`, `png`, `json`; by default all but `png`.
    """
    refuse_formats(formats, out)
    result, sources = call.compute()
    show_answer(call, result, sources, as_json, out, formats, everything=everything)
    return result


def compared(call: Call, *, paragraph: bool = False) -> None:
    """Show the comparison, or the paragraph of a paper that states it.

    Args:
        paragraph: a paragraph for a paper, ready to paste: tests, statistics, what follows, citations.
    """
    if not paragraph:
        call.own("recassay.cli.on_table:claimed")
        return
    call.refuse("as_json out formats everything claim claims", "has no effect with --paragraph", "leave it out")
    result, _ = call.compute()
    print_lines([written_paragraph(result)])


def claimed(call: Call, *, claim: Sequence[str] = (), claims: bool = False, as_json: bool = False) -> None:
    """Show the answer, or what may be claimed of it.

    Args:
        claim: does the table support it? 'A > B' or 'A is best': holds, not shown or reversed, and why.
        claims: instead, at most five sentences that the table supports, and usual ones that it does not.
    """
    if not claim and not claims:
        call.own(ANSWER)
        return
    call.refuse("out formats everything", "has no effect with --claim and --claims", "leave it out")
    result, sources = call.compute()
    answer = claimable(result, claim, sources)
    if as_json:
        print_json(document(call.path, answer, sources))
    else:
        print_lines([*(checked["reason"] for checked in answer["checked"]), *(box_lines(answer) if claims else ())])


def show_answer(
    call: Call,
    result: Any,
    sources: Any,
    as_json: bool,
    out: Path | None,
    formats: Sequence[str] | None,
    *,
    everything: bool = True,
) -> None:
    """The tables and sentences of a result, or its JSON, and its files; `sources` knows the input files."""
    asked, name = call.called()
    answer_document = document(asked, {**result.to_dict(), **claims_of(result)}, sources)
    if as_json:
        print_json(answer_document)
    else:
        print_answer(tell(result, sources), everything=everything)
    if out is not None and out.suffix.lower() in PAGES and call.command.out == "place":
        from recassay.api.publish.report import bench_page

        save_text(out, bench_page(result))
        say(f"wrote {out}: open it in a browser")
    elif out is not None:
        print_saved(write_folder(out, {name: result}, answer_document, formats=known_formats(formats)), out)


def on_table(call: Call) -> tuple[Any, Any]:
    """The answer of the verb on the table, and the table."""
    results = call.load()
    return call(results=results), results


def advised(call: Call) -> tuple[Any, Any]:
    """The advice, and the table; `--column user=NAME` is about the dataset, and other roles about the results."""
    columns = call.typed.get("columns") or {}
    roles = {role: name for role, name in columns.items() if role in ("user", "item", "rating", "timestamp", "event")}
    rest = {role: name for role, name in columns.items() if role not in roles}
    results = _with_columns(call, rest).load()
    return _with_columns(call, roles)(results=results), results


def _with_columns(call: Call, columns: Mapping[str, str]) -> Call:
    typed = {name: value for name, value in call.typed.items() if name != "columns"}
    return replace(call, typed=typed | ({"columns": columns} if columns else {}))


def refuse_formats(formats: Sequence[str] | None, out: Path | None) -> None:
    """Formats are known, and those of the figures that are saved: refused before the work."""
    known_formats(formats)
    if formats is not None and out is None:
        raise UsageError("--formats is for the figures that --out saves", fix="add --out, or leave it out")


def advise(call: Call, *, study: Path | None = None) -> None:
    """The advice, and the study to run next.

    Args:
        study: write the study to run next into this file.
    """
    target = None if study is None else Target("file").convert(study, None, None)
    if target is not None and target.exists():
        raise UsageError("is there already", where=str(target), fix="choose another name for --study")
    advice = call.own(ANSWER)
    if target is not None:
        save_text(target, advice.study)
        say(f"wrote {target}: run it with recassay run {target}")
    elif "as_json" not in call.typed:
        _show_next(advice)


def _show_next(advice: Any) -> None:
    """What to run now, and about how long that takes."""
    if not advice.command:
        print_lines(["", "A study of the first four to run next: --study FILE writes it"])
        return
    took = "" if advice.seconds is None else f" (about {duration(advice.seconds)} in one process)"
    print_lines(["", f"Next, run the first four and popularity, tuned alike{took}:"])
    print_command(advice.command)
