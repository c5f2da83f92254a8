"""The tables of a store, their version, and how a file of another version is met."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from recassay.core.errors import InputError

APPLICATION_ID = 0x52415359
"""Marks an SQLite file as ours ("RASY")."""

SCHEMA_VERSION = 1

MIGRATIONS: dict[int, str] = {}
"""By the version it starts from, the script that leads to the next one."""

TABLES = """
CREATE TABLE cells (
    id TEXT PRIMARY KEY,
    algorithm TEXT NOT NULL,
    dataset TEXT NOT NULL,
    seed INTEGER NOT NULL,
    fold INTEGER,
    spec TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    detail TEXT,
    attempts INTEGER NOT NULL,
    finished TEXT NOT NULL,
    parameters TEXT,
    validation REAL,
    seconds REAL,
    seconds_tune REAL,
    seconds_fit REAL,
    seconds_predict REAL,
    memory REAL,
    peak_memory REAL,
    predicted_memory REAL,
    counts TEXT
) STRICT;
CREATE TABLE metrics (
    cell TEXT NOT NULL REFERENCES cells (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    metric TEXT NOT NULL,
    value REAL,
    PRIMARY KEY (cell, metric)
) STRICT;
CREATE TABLE trials (
    tuning TEXT NOT NULL,
    number INTEGER NOT NULL,
    state TEXT NOT NULL,
    parameters TEXT NOT NULL,
    value REAL,
    reason TEXT,
    stages TEXT NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (tuning, number)
) STRICT;
CREATE TABLE plan (
    position INTEGER PRIMARY KEY,
    cell TEXT NOT NULL,
    algorithm TEXT NOT NULL,
    dataset TEXT NOT NULL,
    seed INTEGER NOT NULL,
    fold INTEGER,
    metrics TEXT NOT NULL,
    tuning TEXT NOT NULL,
    trials INTEGER NOT NULL
) STRICT;
"""


def connect(path: Path, *, create: bool) -> sqlite3.Connection:
    """Open the index at `path`, made where `create` and there is none; another version is migrated or refused.

    WAL: readers see the last commit while a run writes. `synchronous = FULL`: a commit is on the disk when it returns,
    so that not even a power cut loses what was acknowledged; one sync a trial costs nothing beside its fit.
    """
    connection = sqlite3.connect(path, isolation_level=None, timeout=30.0)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        _prepare(connection, path, create)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise InputError(
            f"this is no store of a study ({error})", where=str(path), fix="name the folder of a study"
        ) from None
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, create: bool) -> None:
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
        raise InputError("this SQLite file is no store of a study", where=str(path), fix="name the folder of a study")
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
