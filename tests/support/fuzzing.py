"""One input made by chance for a door, and what the door may do with it."""

from __future__ import annotations

import gzip
import random
import re
import warnings
from pathlib import Path

from recassay.core.errors import RecAssayError
from support.doors import Door
from support.mutations import mutated

LONGEST = 4000
"""Characters of a message; a refusal names a value of a file, and does not repeat the file."""


def drawn(chance: random.Random, door: Door) -> tuple[str, bytes]:
    """The name and the content of a file that is nearly one the door knows."""
    seeds = door.seeds()
    own = bool(door.kin) and chance.randrange(2) == 0
    name = chance.choice(door.kin if own else sorted(seeds))
    content = mutated(chance, seeds[name])
    if own or not door.suffixes:
        return name, content
    name = f"input{chance.choice(door.suffixes)}"
    return (f"{name}.gz", gzip.compress(content)) if chance.randrange(10) == 0 else (name, content)


def attempt(door: Door, folder: Path, name: str, content: bytes) -> str:
    """What the door said: nothing where it answered, else one line. Whatever else happens is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            door.opened(folder, name, content)
            return ""
        except RecAssayError as error:
            said = str(error)
    assert "\n" not in said
    assert len(said) < LONGEST
    assert not re.search("[\ud800-\udfff]", said)
    return said
