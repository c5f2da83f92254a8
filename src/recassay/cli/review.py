"""`review`: what a paper's tables and sentences say of themselves."""

from __future__ import annotations

from recassay.api.publish.content import document, tell
from recassay.cli.call import Call
from recassay.cli.render import print_answer, print_json, print_lines, print_notes, say


def reviewed(call: Call, *, everything: bool = False, as_json: bool = False) -> None:
    """What was read, and the most important flags.

    Args:
        everything: every flag, claim and verdict, not the first ones alone.
    """
    result = call()
    answer = tell(result)
    if as_json:
        print_json(document("review", result.to_dict(), result))
    elif everything:
        print_answer(answer)
    else:
        print_lines([*answer.sentences, "", "Everything: --all, as data: --json, as a page: --out review.html"])
    print_notes(result.notes)
    if "out" in call.typed:
        say(f"wrote {call.typed['out']}: open it in a browser")
