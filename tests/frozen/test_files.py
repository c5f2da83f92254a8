"""What the command line prints and what a paper is given stay as they were, word by word."""

from __future__ import annotations

import inspect
import re

import polars as pl
import pytest
from tests.frozen.test_answers import GAPS, by_user, sizes, table

import recassay
from support.frozen import changed

MIXED = table(8, 0.12, digits=2)
SPLITS = pl.concat(
    [table(4, 0.05).with_columns(split=pl.lit("random")), table(4, 0.04).with_columns(split=pl.lit("time"))]
)
CALLS = {
    "rank": ("mixed", "--replicates", 200),
    "compare": ("mixed", "--control", "ALS", "--all"),
    "ratings": ("mixed", "--replicates", 200),
    "ratings --method glicko": ("mixed",),
    "irt beta": ("mixed",),
    "model": ("gaps", "--within", 0.01),
    "plan": ("mixed",),
    "stress": ("mixed", "--draws", 50),
    "select": ("mixed", "--characteristics", "sizes", "--k", 3),
    "users": ("users", "--replicates", 200),
    "irt users": ("users", "--model", "2pl"),
    "multiverse": ("splits", "--permutations", 50),
    "plan --cells": ("gaps",),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    tables = {"mixed": MIXED, "gaps": GAPS, "users": by_user(), "sizes": sizes(8), "splits": SPLITS}
    for name, frame in tables.items():
        frame.write_csv(folder / f"{name}.csv")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_a_command_prints_what_it_printed(call, files, cli, monkeypatch):
    monkeypatch.chdir(files)
    monkeypatch.setenv("COLUMNS", "100")
    given = [f"{word}.csv" if (files / f"{word}.csv").exists() else word for word in map(str, CALLS[call])]
    ran = cli(*call.split(), *given)
    assert changed("commands", call, {"code": ran.code, "out": ran.out, "err": ran.err}) == []


@pytest.mark.slow
def test_every_command_explains_itself_as_it_did(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    def helped(*words: str) -> dict[str, str]:
        text = cli(*words, "--help").out
        _, commands, listed = (text if words else cli("help", "--all").out).partition("COMMAND [ARGS]...")
        texts = {" ".join(words): text}
        for name in re.findall(r"^  ([a-z]+)  +[A-Z]", listed, re.MULTILINE) if commands else ():
            texts |= helped(*words, name)
        return texts

    assert changed("help", "commands", {**helped(), "help --all": cli("help", "--all").out}) == []


def test_every_name_is_called_as_it_was():
    names = {name: getattr(recassay, name) for name in recassay.__all__}
    signatures = {name: str(inspect.signature(value)) for name, value in names.items() if inspect.isroutine(value)}
    others = " ".join(sorted(names.keys() - signatures.keys()))
    assert changed("help", "names", {"signatures": signatures, "others": others}) == []


@pytest.mark.slow
def test_a_paper_is_given_what_it_was_given(tmp_path):
    recassay.paper(MIXED, out=tmp_path / "one", figures=[], replicates=200, percent=True)
    recassay.paper(GAPS, out=tmp_path / "two", figures=[], replicates=200, missing="worst", control="EASE", mean=True)
    texts = {str(path.relative_to(tmp_path)): path.read_text() for path in sorted(tmp_path.rglob("*.*"))}
    versions = {name: text.replace(recassay.__version__, "VERSION") for name, text in texts.items()}
    assert changed("paper", "files", versions) == []
