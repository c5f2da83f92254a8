"""Answers of classifiers on test instances from a folder of response tables, without running a classifier."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from recassay.core.errors import InputError
from recassay.core.tables.responses import InstanceResponses
from recassay.core.words import listing
from recassay.data.tables.characteristics import read_properties
from recassay.data.tables.read import read_table
from recassay.data.tables.responses import read_responses

TABLES = (".csv", ".tsv", ".txt", ".parquet", ".csv.gz", ".tsv.gz")
METADATA, RESPONDENTS = "metadata", "respondents"
"""Names (without ending) of the two tables that are not datasets: properties of datasets, and roles of respondents."""

ROLES = ("real", "artificial", "mlp")
_ARTIFICIAL = re.compile(r"optimal|pessimal|majority|minority|(rand|random)[-_ ]?\d*", re.IGNORECASE)
_NETWORK = re.compile(r"mlp[-_ ]?\d+", re.IGNORECASE)


def guessed_role(name: str) -> str:
    """`artificial` for optimal, pessimal, majority, minority and rand1, ...; `mlp` for mlp1, ...; else `real`."""
    if _ARTIFICIAL.fullmatch(name.strip()):
        return "artificial"
    return "mlp" if _NETWORK.fullmatch(name.strip()) else "real"


def read_instances(folder: str | Path) -> list[InstanceResponses]:
    """One dataset per file (CSV, TSV, Parquet): first column respondent, one 0/1 column per test instance, by name.

    A table `metadata` (a column dataset and columns of numbers) tells properties of the datasets, a table `respondents`
    (columns respondent and role: real, artificial or mlp) what respondents are; without it names decide.
    """
    where = Path(folder)
    if not where.is_dir():
        raise InputError("no such folder", where=str(where), fix="name a folder of response tables, one a dataset")
    tables: dict[str, Path] = {}
    for path in sorted(where.iterdir()):
        ending = next((e for e in TABLES if path.name.lower().endswith(e)), None)
        if ending is None or path.name.startswith((".", "_")) or not path.is_file():
            continue
        name = path.name[: -len(ending)]
        if name in tables:
            raise InputError(f"{tables[name].name} and {path.name} name one dataset", where=str(where), fix="keep one")
        tables[name] = path
    metadata = read_properties(tables.pop(METADATA)) if METADATA in tables else {}
    roles = _roles(tables.pop(RESPONDENTS)) if RESPONDENTS in tables else {}
    if not tables:
        raise InputError("the folder holds no response table", where=str(where), fix=f"give {listing(TABLES[:4])}")
    unknown = sorted(set(metadata) - set(tables))
    if unknown:
        what = f"the metadata name {listing(unknown)}, of which there are no responses"
        raise InputError(what, where=str(where), fix="name a file after its dataset")
    instances = []
    for name, path in tables.items():
        responses = read_responses(path)
        known_roles = tuple(roles.get(respondent, guessed_role(respondent)) for respondent in responses.respondents)
        instances.append(InstanceResponses(name, responses, known_roles, None, metadata.get(name, {})))
    return instances


def _roles(path: Path) -> dict[str, str]:
    frame, origin = read_table(path, empty_fix="give the columns respondent and role")
    if frame.width < 2:
        raise InputError("a table of respondents has two columns", where=origin.file, fix="respondent and role")
    names, roles = (
        frame.to_series(i).cast(pl.String).fill_null("").str.strip_chars().to_list() for i in range(2)
    )  # fmt: skip
    strange = sorted(set(roles) - set(ROLES))
    if strange:
        what = f"{listing(map(repr, strange))} is not a role"
        raise InputError(what, where=origin.file, fix=f"use one of {listing(ROLES)}")
    return dict(zip(names, roles, strict=True))
