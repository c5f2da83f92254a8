"""Commands are derived from verbs: every option has help, and words are completed."""

from __future__ import annotations

import os
import subprocess
import sys

import click
import pytest

from recassay.cli.call import Command
from recassay.cli.commands import DATA, IRT, PROGRAM
from recassay.cli.options import Option, options_of
from recassay.cli.program import completion_script, install_completion
from recassay.cli.verbs import Parameter, described, read_verb
from recassay.core.errors import UsageError
from recassay.testing.results import synthetic_results

COMMANDS = {
    f"{group.name} {name}": command
    for group in (PROGRAM, DATA, IRT)
    for name, command in group.known.items()
    if isinstance(command, Command)
}


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "results.csv"
    synthetic_results(6).write_csv(path)
    return path


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_does(name):
    options = [param for param in COMMANDS[name].params if isinstance(param, Option)]
    assert [option.opts for option in options if not (option.help or "").strip()] == []
    spelled = [text for option in options for text in (*option.opts, *option.secondary_opts)]
    assert len(spelled) == len(set(spelled)), "an option has two meanings"


def test_the_groups_of_the_help():
    shown = PROGRAM.get_help(click.Context(PROGRAM, info_name="recassay"))
    order = [shown.index(f"\n{group}:") for group in ("Start", "Judge results", "Run studies", "Data", "More")]
    assert order == sorted(order)


def test_options_of_reading_have_a_section_of_their_own(cli):
    shown = cli("rank", "--help").out
    reading = shown.partition("Reading the table:")[2].partition("Output:")[0]
    for option in ("--wide", "--transpose", "--column", "--dataset", "--from", "--prefer", "--missing"):
        assert option in reading


def test_the_help_says_which_numbers_are_whole(cli):
    shown = cli("rank", "--help").out
    assert "--replicates N " in shown
    assert "--beta-step X " in shown


def test_a_verb_is_read_without_being_imported():
    code = (
        "import sys; from recassay.cli.commands import PROGRAM; PROGRAM.known['rank'].params; "
        "sys.exit(', '.join({'numpy', 'polars', 'recassay.api.rank'} & set(sys.modules)) or 0)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_what_is_read_is_what_the_function_has():
    import inspect

    import recassay

    read = read_verb("recassay.api.rank:rank")
    signature = inspect.signature(recassay.rank)
    assert [parameter.name for parameter in read] == list(signature.parameters)
    assert {p.name: p.default for p in read if not p.required} == {
        name: parameter.default for name, parameter in signature.parameters.items() if name != "results"
    }


def test_descriptions_go_over_several_lines():
    text = "What.\n\nArgs:\n    one: first\n        and more.\n    two: second.\n\nElse: no."
    assert described(text) == {"one": "first and more.", "two": "second."}


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (int | None, "7", 7),
        (float, "0.5", 0.5),
        (list[str], "a, b", ["a", "b"]),
        (dict[str, str], "value=score", {"value": "score"}),
        (bool | None, None, True),
    ],
)
def test_values_by_kind(kind, text, value):
    (option, *_) = options_of(Parameter("thing", kind, None, "a thing."))
    command = click.Command("x", params=[option], callback=lambda **values: values)
    arguments = ["--thing"] if text is None else ["--thing", text]
    assert command.main(arguments, standalone_mode=False) == {"thing": value}


def test_lists_may_repeat_the_option_or_have_commas(cli, table):
    commas = cli("rank", table, "-m", "ndcg@10", "--methods", "mean,borda", "--replicates", 200, "--json").json()
    repeated = cli("rank", table, "--metrics", "ndcg@10", "--methods", "mean", "--methods", "borda",
                   "--replicates", 200, "--json").json()  # fmt: skip
    assert commas == repeated


@pytest.mark.parametrize("name", ["report", "glicko", "comper-matrix"])
def test_a_name_of_an_earlier_version_is_no_command(cli, name):
    refused = cli(name, "results.csv")
    assert refused.code == 2
    assert f"No such command '{name}'" in refused.err


def test_options_of_another_method_are_refused(cli, table):
    refused = cli("ratings", table, "-m", "ndcg@10", "--tau", "0.5")
    assert refused.code == 2
    assert "--tau is for --method glicko" in refused.err


def test_list_without_a_word_lists_the_kinds(cli):
    shown = cli("list")
    assert shown.code == 0
    assert all(kind in shown.out for kind in ("algorithms", "metrics", "published", "importers"))


@pytest.mark.skipif(not os.path.exists("/bin/bash"), reason="needs bash")
def test_bash_reads_the_script_and_words_are_completed():
    script = completion_script("bash")
    assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0
    typed = {"_RECASSAY_COMPLETE": "bash_complete", "COMP_WORDS": "recassay rank --beta", "COMP_CWORD": "2"}
    code = "import sys; sys.argv = ['recassay']; from recassay.cli.main import main; main()"
    ran = subprocess.run([sys.executable, "-c", code], env=os.environ | typed, capture_output=True, text=True)
    assert {"plain,--beta-max", "plain,--beta-step"} <= set(ran.stdout.split())


def test_completion_is_installed_once(tmp_path):
    (tmp_path / ".bashrc").write_text("export A=1")
    place = install_completion("bash", tmp_path)
    install_completion("bash", tmp_path)
    assert place.read_text() == completion_script("bash")
    lines = (tmp_path / ".bashrc").read_text().splitlines()
    assert lines[0] == "export A=1"
    assert len(lines) == 2


def test_a_shell_that_is_not_known_is_one_line(cli, monkeypatch):
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    ran = cli("--install-completion")
    assert ran.code == 2
    assert "not one of bash, zsh, fish" in ran.err


def test_a_wrong_word_is_answered_with_the_nearest(cli):
    assert "Did you mean 'compare'?" in cli("comprae").err


def test_limits_hold_for_functions_and_commands(cli, table):
    import recassay

    with pytest.raises(UsageError, match=r"confidence is 2; give a number from 0.5 to 0.999"):
        recassay.rank(table, "ndcg@10", confidence=2)
    assert "--confidence is '2'; give a number from 0.5 to 0.999" in cli("rank", table, "--confidence", 2).err
