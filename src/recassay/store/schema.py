"""The tables of a store, their version, and how a file of another version is met."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import tempfile
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

from recassay.core.errors import InputError
from recassay.core.system.files import is_full
from recassay.core.system.printable import one_line
from recassay.store.records import CellRecord, PlannedRow, TrialRecord

APPLICATION_ID = 0x52415359
"""Marks an SQLite file as ours ("RASY")."""

SCHEMA_VERSION = 5

_NAME = "name the folder of a study"
_RESTORE = "restore it from a copy, or run the study in a new folder"
_ON_DISK = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_PERM: errno.EACCES,
}

MIGRATIONS: dict[int, str] = {
    1: "ALTER TABLE cells ADD COLUMN files TEXT",
    2: "ALTER TABLE cells ADD COLUMN split TEXT;\nALTER TABLE cells ADD COLUMN seal TEXT;\n"
    "ALTER TABLE trials ADD COLUMN seal TEXT",
    3: "ALTER TABLE cells ADD COLUMN energy TEXT",
    4: "ALTER TABLE plan ADD COLUMN universe INTEGER NOT NULL DEFAULT 0",
}
"""By the version it starts from, the script that leads to the next one."""

_SQL = {int: "INTEGER", float: "REAL"}
"""The types of columns; all else is text: words, and JSON."""


def _columns(record: type, *, without: str = "") -> str:
    """A column for each field of a record, which may be empty where the field may be None."""
    lines = []
    for name, kind in get_type_hints(record).items():
        members = get_args(kind) if NoneType in get_args(kind) else (kind,)
        if name != without:
            lines.append(f"{name} {_SQL.get(members[0], 'TEXT')}{'' if NoneType in members else ' NOT NULL'}")
    return ", ".join(lines)


TABLES = f"""
CREATE TABLE cells ({_columns(CellRecord, without="metrics")}, seal TEXT, PRIMARY KEY (id)) STRICT;
CREATE TABLE metrics (
    cell TEXT NOT NULL REFERENCES cells (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    metric TEXT NOT NULL,
    value REAL,
    PRIMARY KEY (cell, metric)
) STRICT;
CREATE TABLE trials (tuning TEXT NOT NULL, {_columns(TrialRecord)}, seal TEXT, PRIMARY KEY (tuning, number)) STRICT;
CREATE TABLE plan (position INTEGER PRIMARY KEY, {_columns(PlannedRow)}) STRICT;
"""
"""A field more in a record is a column more: raise `SCHEMA_VERSION`, and add a migration."""


class _Cursor(sqlite3.Cursor):
    """A cursor whose rows are read under the same rules as its statement."""

    def __next__(self) -> Any:
        try:
            return super().__next__()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise _explained(self.connection, error) from error

    def fetchone(self) -> Any:
        return next(self, None)

    def fetchall(self) -> list[Any]:
        return list(self)


class _Index(sqlite3.Connection):
    """A connection whose troubles with the disk are `OSError`, and with the file's content `InputError`."""

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        try:
            return self.cursor(_Cursor).execute(*arguments)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise _explained(self, error) from error

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        try:
            return self.cursor(_Cursor).executemany(*arguments)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise _explained(self, error) from error


def _explained(connection: sqlite3.Connection, error: Exception) -> Exception:
    """What an error of SQLite means for the user."""
    path = getattr(connection, "path", "")
    kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if kind in _ON_DISK:
        number = _ON_DISK[kind]
        if number == errno.EIO and path and is_full(Path(path).parent):
            number = errno.ENOSPC
        return OSError(number, os.strerror(number), path)
    if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return InputError("another process holds the store", where=path, fix="try again when it is done")
    if kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return InputError(f"this is not a store of a study, or it is damaged ({error})", where=path, fix=_NAME)
    if isinstance(error, sqlite3.OperationalError | UnicodeDecodeError):
        # Our statements are right, so the tables are not ours, or a text cannot be decoded.
        message = one_line(str(error))[:120]
        return InputError(f"the store is damaged ({message})", where=path, fix=_RESTORE)
    return error


def connect(path: Path, *, create: bool) -> sqlite3.Connection:
    """Open the index at `path`: to write, made where there is none, with `create`; else to read.

    Another version is migrated or refused. A writer uses WAL, so that readers see the last commit while it writes, and
    `synchronous = FULL`: a commit is on the disk when it returns, so that not even a power cut loses what was
    acknowledged; one sync per trial costs nothing beside its fit. A reader changes nothing, so that a study on
    read-only media can be read.
    """
    connection = _opened(path, create)
    try:
        connection.path = str(path)  # type: ignore[attr-defined]
        if not create and connection.execute("PRAGMA user_version").fetchone()[0] < SCHEMA_VERSION:
            connection = _in_memory(connection)  # a reader migrates a copy, not the file
            connection.path = str(path)  # type: ignore[attr-defined]
        if create:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        _prepare(connection, path, create)
    except BaseException:
        connection.close()
        raise
    return connection


def has_tables(path: Path) -> bool:
    """Whether there is an index at `path`; a run that is killed while it makes one may leave a file without tables."""
    if not path.is_file():
        return False
    with closing(_opened(path, create=False)) as connection:
        connection.path = str(path)  # type: ignore[attr-defined]
        return bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def rest(connection: sqlite3.Connection) -> None:
    """What a writer does when it is done: the log of WAL is gone, unless somebody still reads with it."""
    with suppress(sqlite3.Error, OSError, InputError):
        connection.execute("PRAGMA journal_mode = DELETE")


def _opened(path: Path, create: bool) -> sqlite3.Connection:
    address = path.absolute().as_uri()
    open_ = partial(sqlite3.connect, isolation_level=None, timeout=30.0, factory=_Index, uri=True)
    try:
        if create:
            return open_(f"{address}?mode=rwc")
        if os.access(path.parent, os.W_OK) and os.access(path, os.W_OK):
            return open_(f"{address}?mode=rw")
        log = path.with_name(f"{path.name}-wal")
        if not log.is_file() or not log.stat().st_size:
            return _in_memory(open_(f"{address}?mode=ro&immutable=1"))
        with tempfile.TemporaryDirectory(prefix="recassay-") as scratch:
            for file in (path, log):
                shutil.copyfile(file, Path(scratch) / file.name)
            return _in_memory(open_(f"{(Path(scratch) / path.name).as_uri()}?mode=rw"))
    except sqlite3.DatabaseError as error:
        raise InputError(f"this is not a store of a study ({error})", where=str(path), fix=_NAME) from None


def _in_memory(source: sqlite3.Connection) -> sqlite3.Connection:
    """A copy that can be migrated where the file can not be written."""
    copy = sqlite3.connect(":memory:", isolation_level=None, factory=_Index)
    try:
        source.backup(copy)
    except BaseException:
        copy.close()
        raise
    finally:
        source.close()
    return copy


def _prepare(connection: sqlite3.Connection, path: Path, create: bool) -> None:
    check = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if check != "ok":
        message = " ".join(str(check).split())[:120]
        raise InputError(f"the store is damaged ({message})", where=str(path), fix=_RESTORE)
    connection.execute("BEGIN IMMEDIATE" if create else "BEGIN")
    try:
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            if not create:
                raise InputError("the store is empty", where=str(path), fix="run the study")
            for statement in TABLES.split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        _check(connection, path)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _check(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise InputError("this SQLite file is not a store of a study", where=str(path), fix=_NAME)
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > SCHEMA_VERSION:
        raise InputError(
            f"the store was written by a newer RecAssay (schema {version}; this one knows {SCHEMA_VERSION})",
            where=str(path),
            fix="update RecAssay, or run the study in a new folder",
        )
    while version < SCHEMA_VERSION:
        script = MIGRATIONS.get(version)
        if script is None:
            raise InputError(
                f"the store was written by an older RecAssay (schema {version}; this one writes {SCHEMA_VERSION})",
                where=str(path),
                fix="run the study in a new folder, or read it with the RecAssay that wrote it",
            )
        for statement in script.split(";\n"):
            connection.execute(statement)
        version += 1
        connection.execute(f"PRAGMA user_version = {version}")
