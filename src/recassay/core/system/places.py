"""Texts that are sent to others, without the places of this machine."""

from __future__ import annotations

import os
import re
import socket
import sys
import tempfile
from functools import cache
from pathlib import Path

_USUAL = "home Users root tmp private var mnt media scratch Volumes workspace storage"
_END = r"""\s"'<>|:;,()\[\]{}\\&"""
_CODE = re.compile(r'(<script(?! type="application/json")[^>]*>.*?</script>|<style[^>]*>.*?</style>)', re.S)


def shareable(text: str) -> str:
    """A text in which absolute paths keep their last two parts, and the name of this machine is left out.

    Programs within a page are left as they are: they are ours, and a page allows them by their checksum.
    """
    parts = _CODE.split(text)
    parts[::2] = [_without_places(part) for part in parts[::2]]
    return "".join(parts)


def below(text: str, folder: Path) -> str:
    """A text in which paths below `folder` are relative to it, and the home folder is `~`."""
    for place, instead in ((f"{folder}{os.sep}", ""), (str(folder), "."), (f"{home()}{os.sep}", f"~{os.sep}")):
        if len(place) > len(os.sep) + 1:
            text = text.replace(place, instead)
    return text


def _without_places(text: str) -> str:
    posix, either, names, hosts = _patterns()
    # Looked for as plain text first: most texts have none of them.
    paths = either if "Users" in text else posix
    text = paths.sub(lambda match: "/".join(["…", *re.split(r"[\\/]+", match[0])[-2:]]), text)
    return hosts.sub("this machine", text) if any(name in text for name in names) else text


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], frozenset[str], re.Pattern[str]]:
    """Paths of POSIX, these and paths of Windows; names of this machine, and these as whole words."""
    private = (home(), Path.cwd(), Path(tempfile.gettempdir()), Path(sys.prefix))
    first = {place.parts[1] for place in private if len(place.parts) > 1}
    # The slash comes first, because a pattern that starts with a plain character is found fastest.
    posix = rf"/(?<![\w./~-]/)(?:{'|'.join(map(re.escape, sorted({*first, *_USUAL.split()})))})(?:/[^{_END}/]+)+"
    windows = rf"(?<!\w)[A-Za-z]:(?:\\\\?|/)Users(?:(?:\\\\?|/)[^{_END}/]+)+"
    # A machine may be called `rank`: only a name that is not a word of ours is looked for.
    names = {name for name in (socket.gethostname(), socket.getfqdn()) if len(name) > 3 and re.search(r"[\d.-]", name)}
    names.discard("localhost.localdomain")
    hosts = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    whole = re.compile(rf"(?<![\w.-])(?:{hosts})(?![\w-])")
    return re.compile(posix), re.compile(f"{posix}|{windows}"), frozenset(names), whole


def home() -> Path:
    """The user's home folder; the root of the disk for a user without one."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.sep)
