"""What a study that is run again keeps, what is new, and what is no longer part of its plan."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from recassay.core.words import count_of, listing
from recassay.store.records import PlannedRow

Key = tuple[str, str, int, int | None]


def plan_changes(before: Sequence[PlannedRow], after: Sequence[PlannedRow], done: Collection[str]) -> tuple[str, ...]:
    """In sentences, how a plan differs from the one that the folder had; none where it is the same, or the first.

    A cell is known by its algorithm, dataset, seed and fold; one that is there under another id is asked for in another
    way (other settings, trials or metrics), and is made again. `done` are the ids of the cells that are done.
    """
    old, new = _by_key(before), _by_key(after)
    if not old or old == new:
        return ()
    kept = [key for key in new if new[key] == old.get(key)]
    made = sum(new[key] in done for key in kept)
    lines = [f"The plan has changed: {count_of(len(kept), 'cell')} kept, of which {made or 'none'} done."]
    lines += _named("New", [key for key in new if key not in old])
    other = [key for key in new if key in old and new[key] != old[key]]
    found = sum(new[key] in done for key in other)
    lines += _named("Asked for in another way", other, f"; {found} done before" if found else "; made again")
    gone = [key for key in old if key not in new]
    lines += _named("No longer part of the plan", gone, "; the results stay in the folder, and count again when named")
    return tuple(lines)


def _by_key(rows: Iterable[PlannedRow]) -> Mapping[Key, str]:
    """The ids of cells by what people know them by; of several universes the first."""
    found: dict[Key, str] = {}
    for row in rows:
        found.setdefault((row.algorithm, row.dataset, row.seed, row.fold), row.cell)
    return found


def _named(title: str, keys: Sequence[Key], more: str = "") -> list[str]:
    """A sentence with the algorithms and datasets of these cells; none where there are none."""
    if not keys:
        return []
    algorithms, datasets = (list(dict.fromkeys(key[place] for key in keys)) for place in (0, 1))
    where = f"{listing(algorithms)} on {listing(datasets)}"
    return [f"{title}: {count_of(len(keys), 'cell')} ({where}){more}."]
