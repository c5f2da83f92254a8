"""How values are written on the command line: what each text means, and what is refused in which words."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import FunctionType

import click
import pytest

from recassay.cli import values
from recassay.cli.call import Command
from recassay.cli.commands import DATA, IRT, PROGRAM
from recassay.core.choices import Range
from recassay.core.errors import RecAssayError, UsageError

COMMANDS = {
    f"{group.name} {name}": command
    for group in (PROGRAM, DATA, IRT)
    for name, command in group.known.items()
    if isinstance(command, Command)
}
READS = dict.fromkeys(
    (values.number, values.share, values.seconds, values.listed, values.number_or_word, values.weights_or_word,
     values.one_or_list), True
)  # fmt: skip
LIMITED = partial(values.number, kind=int, limits=Range(1, 100))
FRACTION = partial(values.number, kind=float, limits=Range(0.5, 0.999))
DEPTH = partial(values.number_or_word, words=["all"])
WEIGHTS = partial(values.weights_or_word, words=["none", "count"])
MEANT = [
    (values.seconds, "90", 90.0),
    (values.seconds, "0.5s", 0.5),
    (values.seconds, " 2 M ", 120.0),
    (values.seconds, "3min", 180.0),
    (values.seconds, "2h", 7200.0),
    (values.seconds, "1.5d", 129_600.0),
    (values.share, "2%", 0.02),
    (values.share, " 50 % ", 0.5),
    (values.share, "0.02", 0.02),
    (LIMITED, "1", 1),
    (LIMITED, "100", 100),
    (FRACTION, "0.999", 0.999),
    (DEPTH, "all", "all"),
    (DEPTH, "1", 1),
    (WEIGHTS, "count", "count"),
    (WEIGHTS, "view=1, purchase=20", {"view": 1.0, "purchase": 20.0}),
    (partial(values.one_or_list, inner=str), "a", "a"),
    (partial(values.one_or_list, inner=str), "a,b", ["a", "b"]),
    (partial(values.one_or_list, inner=int), "7", 7),
    (partial(values.one_or_list, inner=int), "7,8", [7, 8]),
    (partial(values.listed, inner=int), "5, 10", [5, 10]),
    (partial(values.listed, inner=float), "0.8,0.2", [0.8, 0.2]),
    (values.listed, "a,,b", ["a", "b"]),
]
REFUSED = [
    *((values.seconds, text, f"--x {text!r} is not a time; write it as 90s, 30m or 2h")
      for text in ("0", "-1s", "inf", "5w", "x", "nan")),
    (values.share, "half", "--x 'half' is not a share; write it as 2% or 0.02"),
    *((LIMITED, text, f"--x is {text!r}; give a whole number from 1 to 100") for text in ("0", "101", "1.5", "x")),
    (FRACTION, "1", "--x is '1'; give a number from 0.5 to 0.999"),
    *((DEPTH, text, f"--x is {text!r}; use a whole number from 1, or all") for text in ("0", "-1", "2.5", "many")),
    (WEIGHTS, "view=1,view=2", "--x weighs 'view' twice; weigh it once"),
    (WEIGHTS, "view", "--x: 'view' is not of the form type=number; for example view=1,purchase=20"),
    (partial(values.one_or_list, inner=int), "x", "--x is 'x'; give a whole number"),
    (partial(values.listed, inner=int), "5,x", "--x '5,x' are not whole numbers; write them as in 5,10,50,200"),
    (partial(values.listed, inner=float), "0.5,x", "--x '0.5,x' are not numbers; write them as in 0.8,0.1,0.1"),
    (values.listed, " , ", "--x ' , ' names nothing; name a value, or leave the option out"),
]  # fmt: skip


@pytest.mark.parametrize(("read", "text", "value"), MEANT)
def test_a_text_means(read, text, value):
    meant = read(text, "--x")
    assert meant == value
    assert type(meant) is type(value)


@pytest.mark.parametrize(("read", "text", "words"), REFUSED)
def test_a_text_is_refused_in_words(read, text, words):
    with pytest.raises(UsageError) as refused:
        read(text, "--x")
    assert str(refused.value) == words


def test_what_is_blank_is_named():
    folder, files = click.Option(["-o", "--out", "folder"]), click.Argument(["results"])
    for param, named in ((folder, "--out"), (files, "a file's name"), (None, "a value")):
        with pytest.raises(UsageError) as refused:
            values.Text().convert("  ", param, None)
        assert str(refused.value) == f"{named} is empty; name a value, or leave the option out"
    assert values.Text(lambda text, option: (text, option)).convert("x", folder, None) == ("x", "--out")
    assert values.Text(lambda text, option: (text, option)).convert("x", None, None) == ("x", "the value")
    assert values.named(click.Option(["-k"])) == "-k"


def test_a_place_to_write_is_refused_before_the_work(tmp_path):
    file, folder = tmp_path / "file.txt", tmp_path / "folder.html"
    file.write_text("x")
    folder.mkdir()
    writable = {
        ("file", file): True,
        ("file", folder): False,
        ("folder", file): False,
        ("folder", folder): True,
        ("place", tmp_path / "page.HTM"): True,
        ("place", file / "page.html"): False,
        ("place", folder): True,  # a folder that is there is a folder, whatever its name
        ("place", file): False,
    }
    for (kind, path), fine in writable.items():
        target = values.Target(kind)
        if fine:
            assert target.convert(str(path), None, None) == path
        else:
            with pytest.raises(RecAssayError):
                target.convert(str(path), None, None)


def test_the_standard_output_is_a_file():
    outputs = {path: values.is_output(path) for path in (None, Path("-"), Path("/dev/stdout"), Path("out"))}
    assert list(outputs.values()) == [False, True, True, False]


NUMBERS = [
    (name, option)
    for name, command in COMMANDS.items()
    for option in command.params
    if isinstance(option.type, values.Text) and isinstance(option.type.read, partial | FunctionType)
    if READS.get(getattr(option.type.read, "func", option.type.read))
]


@pytest.mark.parametrize(("name", "option"), NUMBERS, ids=lambda part: getattr(part, "name", part))
def test_no_number_of_any_command_is_nan_or_infinite(name, option):
    of_lists = getattr(option.type.read, "keywords", {}).get("inner") is str
    for text in () if of_lists else ("nan", "inf", "-inf", "NaN%", "1e999", "infinity"):
        with pytest.raises(UsageError):
            option.type.convert(f"a={text}" if option.metavar == "NAME=X,..." else text, option, None)


def test_levels_and_margins_have_limits():
    alphas = [option for _, option in NUMBERS if option.name in ("alpha", "within")]
    assert len(alphas) >= 7
    for option in alphas:
        for text in ("0", "1", "-0.1", "2", "200"):
            with pytest.raises(UsageError, match="between 0 and 1"):
                option.type.convert(text, option, None)
