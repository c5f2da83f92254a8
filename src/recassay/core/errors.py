"""The few kinds of error. Every message is one line: what is wrong, where, and what to do."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Sequence

LONGEST = 1200
"""Characters of each part of a message."""


class RecAssayError(Exception):
    """Base of every error a user can cause or cure.

    `what` happened, `where` (a file, a row, a key), and how to `fix` it, joined into one line.
    Arguments stand in backticks, as in `missing='worst'`; the command line tells them as options. `exit_code` is what
    the command line ends with.
    """

    exit_code = 1

    def __init__(self, what: str, *, where: str | None = None, fix: str | None = None) -> None:
        self.what, self.where, self.fix = what, where, fix
        place = f"{where}: " if where else ""
        cure = f"; {fix}" if fix else ""
        super().__init__(" ".join(f"{_cut(place)}{_cut(what)}{_cut(cure)}".split()))


def _cut(text: str) -> str:
    """A message names a value of a file, and does not repeat the file."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 60]} … {text[-50:]}"


class InputError(RecAssayError):
    """A file or a value from outside is not what it should be."""

    exit_code = 2


class UsageError(RecAssayError):
    """A command or a function was asked for something it does not offer."""

    exit_code = 2


class NotApplicableError(RecAssayError):
    """An analysis or an algorithm cannot use these data at any setting; `analyze` and `run` record it and go on."""

    exit_code = 2


class MissingExtraError(RecAssayError):
    """An optional dependency is needed and not installed."""

    exit_code = 2

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}", fix=f"install it with: pip install 'recassay[{extra}]'")


class SeveralProblemsError(UsageError):
    """Several things are wrong, all listed at once: a line per problem."""

    def __init__(self, problems: Sequence[RecAssayError]) -> None:
        super().__init__(f"{len(problems)} problems")
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join([f"{len(self.problems)} problems; nothing was run or written", *map(str, self.problems)])


def refuse_all(problems: Sequence[RecAssayError]) -> None:
    """Raise what is wrong, if anything: one problem as it is, several as `SeveralProblemsError`; each once."""
    distinct = list({str(problem): problem for problem in problems}.values())
    if distinct:
        raise distinct[0] if len(distinct) == 1 else SeveralProblemsError(distinct)


class NotEnoughMemoryError(RecAssayError, MemoryError):
    """Something would need, or has used up, more memory than there is."""


_DISK = {
    errno.ENOSPC: ("the disk is full", "free some space and run the same command again"),
    errno.EACCES: ("permission denied", "change its permissions, or choose another place"),
    errno.EPERM: ("permission denied", "change its permissions, or choose another place"),
    errno.EROFS: ("lies on a disk that cannot be written", "choose another place"),
    errno.ENOENT: ("no such file or folder", "check the path"),
    errno.ENOTDIR: ("a part of this path is a file, not a folder", "choose another place"),
    errno.EISDIR: ("is a folder, not a file", "name a file"),
    errno.EEXIST: ("is there already", "choose another place"),
    errno.ENOTEMPTY: ("is there already, and not empty", "choose another place"),
    errno.ELOOP: ("symbolic links lead in a circle", "name the file itself"),
    errno.ENAMETOOLONG: ("the name is too long", "choose a shorter one"),
    errno.EMFILE: ("too many files are open", "raise the limit (ulimit -n), or use fewer workers"),
    errno.ENFILE: ("too many files are open", "raise the limit (ulimit -n), or use fewer workers"),
    errno.EIO: ("the disk reports an error", "check the disk"),
    errno.EFBIG: (
        "the file would be larger than the system allows",
        "raise the limit (ulimit -f), or choose another disk",
    ),
    errno.EADDRINUSE: ("the address is in use", "choose another port"),
    errno.ENXIO: ("is not a file that can be read or written", "name a regular file"),
}
if hasattr(errno, "EDQUOT"):
    _DISK[errno.EDQUOT] = ("your share of the disk is full", "free some space and run the same command again")


def from_os(error: OSError) -> RecAssayError:
    """What the operating system refused, as an error of one line."""
    named = error.filename2 if error.filename2 is not None else error.filename
    where = None if named is None or isinstance(named, int) else os.fsdecode(named)
    why = error.strerror or str(error) or type(error).__name__
    number = re.search(r"\(os error (\d+)\)", why)  # as polars tells it
    what, fix = _DISK.get(
        error.errno or (int(number[1]) if number else 0),
        (f"the system refuses: {why}", "check the path and the disk"),
    )
    return InputError(what, where=where, fix=fix)
