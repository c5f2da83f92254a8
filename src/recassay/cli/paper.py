"""`paper`: what a paper takes from results."""

from __future__ import annotations

from pathlib import Path

from recassay.api.saving import document
from recassay.cli.call import Call
from recassay.cli.render import print_json, print_lines, print_notes, print_saved


def paper(call: Call, *, as_json: bool = False) -> None:
    """The files of a paper.

    Args:
        as_json: print JSON on stdout instead of sentences.
    """
    labels = call.typed.get("metrics") or []
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
