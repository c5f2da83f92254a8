"""`recassay data ...`: import, list, describe, fetch and remove datasets."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from recassay.cli.call import Call
from recassay.cli.render import print_json, print_lines, print_rows, say, write
from recassay.core.system.plain import plain
from recassay.core.words import duration


def imported(call: Call, *, as_json: bool = False) -> None:
    """Read a file and keep it under a name."""
    _show_imported(call(), as_json)


def fetched(call: Call, *, as_json: bool = False) -> None:
    """Download a dataset of the catalogue."""
    _show_imported(call(progress=_progress()), as_json)


def removed(call: Call) -> None:
    """Forget a stored dataset."""
    call()
    print_lines([f"removed {call.typed['name']}"])


def listed(call: Call, *, as_json: bool = False) -> None:
    """The stored datasets."""
    rows = call()
    if as_json:
        print_json({"datasets": rows})
    elif not rows:
        print_lines(["No dataset is stored yet: recassay data import FILE --name NAME, or see --all."])
    else:
        header = ["name", "kind", "what", "interactions", "users", "items", "time"]
        for row in (row for row in rows if row.get("how")):
            row["what"] += f": {row['how']}"  # what must be done by hand
        print_rows("Datasets", header, [[row.get(key, "") for key in header] for row in rows], names=3)
        held = [row["checksum"] for row in rows if row.get("checksum")]
        if held:
            pinned = held.count("first fetch")
            print_lines([f"{pinned} of {len(held)} downloads have no checksum of their publisher: the first fetch "
                         "is trusted and written down, and later ones are held against it."])  # fmt: skip


def described(call: Call, *, everything: bool = False, as_json: bool = False) -> None:
    """A dataset at a glance, and its split.

    Args:
        everything: the 18 characteristics of papers, too.
    """
    if "split" not in call.typed and not call.typed.get("sequences"):
        fix = "add --split RULE, or leave it out"
        call.refuse(call.fields("protocol"), "says how to split, and --split is not given", fix)
    description = call()
    if as_json:
        for line in description.told_reading():
            say(line)
        print_json(plain(description.to_dict()))
    else:
        _show(description, everything)


def _progress() -> Callable[[int, int | None], None] | None:
    """A line that counts the bytes, on a terminal only."""
    if not sys.stderr.isatty():
        return None

    begin = time.monotonic()

    def show(done: int, total: int | None) -> None:
        whole = f" of {total / 1e6:,.1f}" if total else ""
        passed = time.monotonic() - begin
        left = f" (about {duration(passed / done * (total - done))} left)" if total and done and passed > 3 else ""
        end = "\n" if done == total else ""
        write(f"\r\x1b[K{done / 1e6:,.1f}{whole} MB{left}{end}")

    return show


def _show_imported(manifest: Any, as_json: bool) -> None:
    if as_json:
        print_json(manifest.to_dict())
        return
    record = manifest.record
    repeats = f"{record['repeated']:,} rows share their user and item with another row: they "
    repeats += "were made one" if manifest.time_unit is None else "stay events, and each part of a split makes them one"
    print_lines(
        [
            f"{manifest.name}: {manifest.interactions:,} interactions of {manifest.users:,} users "
            f"and {manifest.items:,} items, {'with' if manifest.has_ratings else 'without'} ratings, "
            f"times: {manifest.time_unit or 'none'}",
            f"read {record['rows']:,} rows; {record['bad']:,} bad rows left out",
            *([f"{repeats} (rule: {record['repeated_rule']})"] if record["repeated"] else []),
            *record["warnings"],
        ]
    )


BAR = 24
"""Characters of the longest bar."""


def _show(description: Any, everything: bool) -> None:
    columns = [line[:1].upper() + line[1:] for line in description.told_reading()]
    first, *others = description.sentences()
    print_lines([first, *(f"{line}." for line in columns), ""])
    _show_spread(description.overview)
    print_lines([*others, ""])
    if everything:
        print_rows(
            f"{description.name}: characteristics (KDD'24, section 4.3)",
            ["characteristic", "in words", "value"],
            description.characteristics_in_words(),
            names=2,
        )
    elif description.parts is None:
        print_lines(["The 18 characteristics of papers: --all, a split and its audit: --split RULE, as data: --json"])
    if description.parts is not None:
        _show_split(description)


def _show_split(description: Any) -> None:
    """The parts of a split, what each step left, and the audit."""
    print_rows(
        f"Split {description.protocol['split']}, fingerprint {description.fingerprint[:12]}",
        ["part", "interactions", "users", "items"],
        [[name, *(f"{n:,}" for n in part.values())] for name, part in description.parts.items()],
    )
    print_rows("What each step left", ["step", "count"], [[k, f"{v:,}"] for k, v in description.counts.items()])
    audit = description.audit
    lines = [f"Audit ({audit['scope']}): {100 * audit['share_of_users_evaluated']:.1f} % of the users are evaluated."]
    lines += [f"{'LEAK' if f['refuses'] else 'note'} {f['name']}: {f['sentence']}" for f in audit["findings"]]
    print_lines([*description.told_order(), *lines, *([] if audit["findings"] else ["No leakage found."])])


def _show_spread(overview: Any) -> None:
    """How many users and items have how many events, as bars."""
    activity, popularity = overview.activity, overview.popularity
    bins = overview.bins
    groups = [*(str(a) if b == a + 1 else f"{a} to {b - 1}" for a, b in pairwise(bins)), f"{bins[-1]} or more"]
    rows = [
        [group, *(f"{count:>9,} {_bar(count, sum(spread.counts)):<{BAR}}" for spread, count in rest)]
        for group, *rest in zip(
            groups,
            ((activity, count) for count in activity.counts),
            ((popularity, count) for count in popularity.counts),
            strict=True,
        )
    ]
    print_rows("How many events users and items have", ["events", "users", "items"], rows, names=3)
    print_lines(
        f"{name}: the median has {spread.median:g}, the one with the most {spread.most:,}; the top 1 % have "
        f"{100 * spread.top_share:.0f} % of all events."
        for name, spread in (("Users", activity), ("Items", popularity))
    )


def _bar(count: int, total: int) -> str:
    """A bar for a share of all, with at least one mark where there is anything."""
    return "█" * max(round(BAR * count / max(total, 1)), bool(count))
