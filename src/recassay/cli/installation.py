"""`list` and `doctor`: what is available, and whether it works."""

from __future__ import annotations

from recassay.api.installation import AVAILABLE
from recassay.cli.call import Call
from recassay.cli.render import Failed, print_json, print_lines, print_rows, print_verdict, say

SPACE_COLUMNS = ("name", "parameter", "values", "default")
"""What a terminal shows of a search space; the numbers of a range alone are in the JSON."""


def available(call: Call, *, as_json: bool = False) -> None:
    """What is available of one kind; without a kind, the kinds."""
    if "kind" not in call.typed:
        call.refuse("spaces", "is for algorithms", "say: recassay list algorithms --spaces")
        kinds = [{"kind": kind, "what": what} for kind, what in AVAILABLE.items()]
        if as_json:
            print_json({"kinds": kinds})
        else:
            print_rows("recassay list KIND", ["kind", "what"], [list(row.values()) for row in kinds], names=2)
        return
    kind, spaces = call.typed["kind"], "spaces" in call.typed
    rows = call()
    if as_json:
        print_json({kind: rows})
        return
    if not rows:
        print_lines([f"no {kind} are installed"])
        return
    header = list(dict.fromkeys(key for row in rows for key in row)) if not spaces else list(SPACE_COLUMNS)
    print_rows(kind, header, [[row.get(key, "") for key in header] for row in rows], names=len(header))


def checked(call: Call, *, as_json: bool = False) -> None:
    """Whether this installation works."""
    health = call()
    if as_json:
        print_json(health)
    else:
        flat = {key: value for key, value in health.items() if not isinstance(value, (dict, list))}
        print_rows("This machine", ["what", "value"], flat.items(), names=2)
        print_rows("Dependencies", ["package", "version"], health["dependencies"].items(), names=2)
        extras = [[extra, "yes" if installed else "no"] for extra, installed in health["extras"].items()]
        print_rows("Extras", ["extra", "installed"], extras, names=2)
        print_lines(health["problems"] or ["no problems found"])
    if health["problems"]:
        raise Failed


def ready(call: Call, *, as_json: bool = False) -> None:
    """Whether an algorithm keeps the rules.

    Args:
        as_json: print JSON on stdout instead of sentences.
    """
    result = call()
    print_verdict(result, as_json)
    if result.printed and not as_json:
        say(f"It printed:\n{result.printed}")
    if result.broken:
        raise Failed
