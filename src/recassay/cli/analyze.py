"""`analyze`, `demo` and `paper`: every analysis, shown in the terminal and saved as a report or for a paper."""

from __future__ import annotations

from pathlib import Path

from recassay.api.publish.content import AnalysisReport, document, report_brief, tell
from recassay.cli.call import Call
from recassay.cli.on_table import refuse_formats
from recassay.cli.progress import show_progress, show_stages
from recassay.cli.render import print_brief, print_json, print_lines, print_notes, print_saved, print_table, say
from recassay.cli.values import PAGES


def analyze(call: Call, *, everything: bool = False, as_json: bool = False) -> None:
    """Every analysis, and the folder or the page that tells them.

    Args:
        everything: every table and sentence, not the answer alone.
    """
    out = call.typed.get("out")
    refuse_formats(call.typed.get("formats"), out)
    verb = ""
    if out is not None and out.suffix.lower() in PAGES:
        call.refuse("formats", "has no effect on a page alone", "name a folder with --out, or leave it out")
        verb = "publish.report:report"
    show_report(call(verb, results=call.load(), progress=show_stages()), as_json, out, everything=everything)


def demo(call: Call, *, everything: bool = False, as_json: bool = False) -> None:
    """A study on embedded data and its report.

    Args:
        everything: every table and sentence, not the answer alone.
    """
    made = call(progress=show_progress())
    show_report(made, as_json, made.files[0].parent, everything=everything)


def show_report(report: AnalysisReport, as_json: bool, out: Path | None, *, everything: bool) -> None:
    """The verdict in brief, or every sentence, warning and what was not done, or the JSON; and where the files went."""
    alone = out is not None and out.suffix.lower() in PAGES
    page = None if out is None else report.files[0] if alone else out / "report.html"
    if as_json:
        content = report.to_dict() | ({"report": str(page)} if alone else {})
        print_json(document("report" if alone else "analyze", content, report.results))
    elif not everything and (brief := report_brief(report)) is not None:
        print_brief(brief, [f"Everything: {page or '--all, or --out DIR for the report'}"])
    else:
        first = next((name for name in ("rank", "users") if name in report.analyses), None)
        for table in tell(report.analyses[first]).tables if first else ():
            print_table(table)
        print_lines(report.verdict)
        verdict = tuple(report.verdict)
        print_lines(f"Before you believe it: {text}" for text in report.cautions if not text.endswith(verdict))
        print_lines(f"Not done: {', '.join(names)}: {reason}." for reason, names in report.not_done().items())
        if out is None:
            print_lines(["", "With --out DIR the report (one HTML page), the tables and the figures are saved."])
        elif not alone:
            print_lines(["", f"Open {page} first; figures and tables lie beside it."])
    if page is not None and alone:
        say(f"wrote {page} ({page.stat().st_size / 1e6:.2f} MB): open it in a browser")
    elif out is not None:
        print_saved(report.files, out)


def paper(call: Call, *, as_json: bool = False) -> None:
    """The files of a paper.

    Args:
        as_json: print JSON on stdout instead of sentences.
    """
    typed = call.typed.get("metrics") or []
    labels = [typed] if isinstance(typed, str) else typed
    results = call.load(metric=labels[0] if len(labels) == 1 else None)
    figures = call.typed.get("figures")
    chosen = {} if figures is None else {"figures": [name for name in figures if name != "none"]}
    made = call(**({"results": results} | chosen))
    if as_json:
        print_json(document("paper", made.to_dict(), made.results))
    else:
        print_lines(made.sentences)
    print_notes(made.notes)
    print_saved(made.files, Path(call.typed.get("out", "paper")))
