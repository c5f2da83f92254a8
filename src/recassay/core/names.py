"""Comparing names as people write them: `HitRate`, `hit_rate` and `hit-rate` are one name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from recassay.core.words import listing


def canonical(name: str) -> str:
    """Fold case and drop the separators people vary: space, hyphen, underscore and dot."""
    return "".join(c for c in name.casefold() if c not in " -_.")


def dataset_key(name: str) -> str:
    """What spellings of one dataset share: `MovieLens-1M`, `ml-1m`, `ML1M`."""
    key = re.sub(r"^movielens", "ml", canonical(name).replace("'", ""))
    key = re.sub(r"^amazon(?=[a-z])", "", key).replace("and", "")
    for long, short in (("sportsoutdoors", "sports"), ("toysgames", "toys"), ("seq", ""), ("rsc15", "yoochoose")):
        key = key.replace(long, short)
    return key or canonical(name)


def did_you_mean(name: str, known: Iterable[str], *, else_see: str | None = None) -> str:
    """A hint for an unknown name: the nearest known ones; where none is near, `else_see`, or the first of all."""
    choices = list(dict.fromkeys(known))
    by_canonical = {canonical(choice): choice for choice in choices}
    near = difflib.get_close_matches(canonical(name), by_canonical, n=3, cutoff=0.6)
    if near:
        return f"did you mean {listing((repr(by_canonical[n]) for n in near), last='or')}?"
    if not choices:
        return "there are none"
    if else_see is not None:
        return f"see {else_see}"
    return f"known: {listing(sorted(choices), most=20)}"
