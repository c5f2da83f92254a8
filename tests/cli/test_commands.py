"""Commands are derived from verbs: every option has help, and words are completed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Annotated, Literal

import click
import pytest

from recassay.cli import on_table
from recassay.cli.call import Command
from recassay.cli.commands import DATA, FOLDED, FRONT, IRT, PROGRAM
from recassay.cli.options import Option, options_of
from recassay.cli.program import completion_script, install_completion
from recassay.cli.render import Failed
from recassay.cli.verbs import Other, Parameter, described, read_verb
from recassay.cli.wording import in_options, speak_of
from recassay.core.choices import Range, Seconds, Share
from recassay.core.errors import UsageError
from recassay.core.specs.specs import ProtocolSpec, ReadSpec
from recassay.reporting.section import Brief
from recassay.reporting.telling import Answer
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
    order = [shown.index(f"\n{group}:") for group in ("Start", "Judge results", "Run studies", "Publish", "Data")]
    assert order == sorted(order)
    assert shown.endswith("\n\nrecassay help --all: every command")
    listed = [line.split()[0] for line in shown[order[0] :].splitlines() if line[:2] == "  " and line[2] != " "]
    assert sorted(listed) == sorted(FRONT.split())
    assert len(listed) <= 20
    lines = re.findall(r"^  (\w+ +)\w", shown[order[0] :], re.MULTILINE)
    assert {len(name) for name in lines} == {len("multiverse  ")}, "all sections have one column"


def test_help_lists_every_command_or_tells_of_one(cli):
    every = cli("help", "--all").out
    assert [name for name in PROGRAM.known if f"\n  {name} " not in every] == []
    assert "help --all" not in every
    assert cli("help").out == cli("--help").out
    assert cli("help", "irt", "beta").out == cli("irt", "beta", "--help").out
    assert "Did you mean 'rank'?" in cli("help", "rnak").err


def test_options_of_experts_stand_last(cli):
    front, _, last = cli("compare", "--help").out.partition("\nAdvanced:\n")
    assert [option for option in ("--zeros", "--rope", "--bars", "--draws", "--seed") if option not in last] == []
    assert "--alpha" in front
    assert "Output:" not in last


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


def test_constants_and_types_of_a_module_are_read_however_they_are_stated(tmp_path, monkeypatch):
    (tmp_path / "stating.py").write_text(
        "Size: TypeAlias = int | None\nMOST = 7\nLEAST: int = 2\ndef verb(most: Size = MOST, least: int = LEAST): ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    read = read_verb("stating:verb")
    assert [(parameter.kind, parameter.default) for parameter in read] == [(int | None, 7), (int, 2)]


def test_descriptions_go_over_several_lines():
    text = (
        "What.\n\nArgs:\n    one: first\n        and more.\n    two: second.\n\nElse: no.\n    three: of another part."
    )
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
    kinds = cli("list", "--json").json()["kinds"]
    assert {"kind": "executors", "what": "where the cells of a study can run"} in kinds
    assert all(f"{row['kind']} " in shown.out for row in kinds)


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
    (tmp_path / ".zshrc").write_text("export A=1\n")
    place = install_completion("zsh", tmp_path)
    assert (tmp_path / ".zshrc").read_text() == f'export A=1\n. "{place}"  # completion of recassay\n'


@pytest.mark.parametrize(("shell", "named"), [("/bin/tcsh", "tcsh"), ("", "not known")])
def test_a_shell_that_is_not_known_is_one_line(cli, monkeypatch, shell, named):
    monkeypatch.setenv("SHELL", shell)
    ran = cli("--install-completion")
    said = f"the shell is {named}, not one of bash, zsh, fish; place the script of --show-completion by hand"
    assert (ran.code, ran.err) == (2, f"recassay: {said}\n")


@pytest.mark.parametrize("words", ["--version", "--install-completion", "--show-completion zsh"])
def test_completing_words_prints_and_writes_nothing(monkeypatch, tmp_path, capsys, words):
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv("HOME", str(tmp_path))
    PROGRAM.make_context("recassay", [*words.split(), "rank"], resilient_parsing=True)
    assert capsys.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []


ALIASES = {
    "recassay rank": "-m --metric --metrics --column --columns --from --format -o --out --json --all",
    "recassay run": "-m --metrics --metric -j --workers -o --out --threshold",
    "recassay select": "-k --method --methods",
    "recassay serve": "-p --port",
    "recassay split": "--format --threshold",
    "recassay multiverse": "--claim --claims",
    "recassay seal": "--claim --claims",
    "data import": "--format --from --column --columns",
    "irt users": "--dataset --datasets",
}


@pytest.mark.parametrize("name", ALIASES)
def test_an_option_may_be_written_in_several_ways(name):
    written = {text for param in COMMANDS[name].params for text in param.opts}
    assert set(ALIASES[name].split()) <= written


def test_a_wrong_word_is_answered_with_the_nearest(cli):
    assert "Did you mean 'compare'?" in cli("comprae").err


def test_limits_hold_for_functions_and_commands(cli, table):
    import recassay

    with pytest.raises(UsageError, match=r"confidence is 2; give a number from 0.5 to 0.999"):
        recassay.rank(table, "ndcg@10", confidence=2)
    assert "--confidence is '2'; give a number from 0.5 to 0.999" in cli("rank", table, "--confidence", 2).err


ADAPTIVE = {"target": "order", "confidence": "0.9", "indifference": "2", "budget": "2h", "probe-users": "10%",
            "probe-epochs": "3"}  # fmt: skip
ALONE = {"metrics": "ndcg@10", "trials": "3", "seed": "2", "split": "random", "threshold": "3"}
REFUSED = {
    **{f"run s.toml --{name} {value}": f"--{name} is for adaptive runs; add --adaptive, or leave it out"
       for name, value in ADAPTIVE.items()},
    "run s.toml --probes": "--probes is for adaptive runs; add --adaptive, or leave it out",
    "run s.toml --no-prior": "--prior is for adaptive runs; add --adaptive, or leave it out",
    **{f"run s.toml --{name} {value}": f"--{name} is for a study without a file; write it into s.toml"
       for name, value in ALONE.items()},
    "run s.toml --datasets a": "--datasets is for a study without a file; write it into s.toml",
    "run s.toml --datasets a --algorithms b":
        "a study is a file, or --datasets and --algorithms; give one of the two, as in: recassay run study.toml",
    "run --datasets a":
        "a study is a file, or --datasets and --algorithms; give one of the two, as in: recassay run study.toml",
    "run s.toml --adaptive --indifference 2": "--indifference is for --target order; say that, or leave it out",
    "plan r.csv --cells --indifference 2": "--indifference is for --target order; say that, or leave it out",
    "plan r.csv --cells --target first --indifference 2":
        "--indifference is for --target order; say that, or leave it out",
    **{f"ratings r.csv --method glicko --{name}": f"--{name.split()[0]} is for --method pairs; leave it out"
       for name in ("baseline A", "families auto", "replicates 200", "confidence 0.9")},
    **{f"ratings r.csv --{name}": f"--{name.split()[0]} is for --method glicko; say that, or leave it out"
       for name in ("order name", "properties p.csv", "tau 0.5", "tie 0.1", "orders 3")},
    "comper": "no results were given; name at least one file",
    "comper r.csv --derive-matrix": "--derive-matrix takes no results; leave them out",
    **{f"comper r.csv --{name} x.csv": f"--{name} is for --derive-matrix; say that, or leave it out"
       for name in ("experts", "similarities", "definitions", "fourth")},
    **{f"plan r.csv --{name}": f"--{name.split()[0]} is for --cells; say that, or leave it out"
       for name in ("target order", "confidence 0.9", "indifference 2", "budget 2h", "prior", "characteristics c.csv")},
    **{f"plan r.csv --cells --{name}": f"--{name.split()[0]} has no effect with --cells; leave it out"
       for name in ("difference 2%", "power 0.9", "alpha 0.1", "families auto")},
    "multiverse a.csv --confidence 0.9": "--confidence is for --certify; say that, or leave it out",
    **{f"multiverse a.csv --certify --{name}": f"--{name.split()[0]} has no effect with --certify; leave it out"
       for name in ("metric m", "leaky a=b", "missing worst", "alpha 0.1", "permutations 9")},
    "verify s --out o.md": "--out is for --checklist; say that, or leave it out",
    "verify s --checklist --rerun 3": "--rerun has no effect with --checklist; leave it out",
    "run s.toml --rated all": "--rated is for a study of classifiers; leave it out",
    **{f"{old} r.csv": f"there is no command '{old}' any more; say: recassay {new}" for old, new in FOLDED.items()},
    "help certify": "there is no command 'certify' any more; say: recassay multiverse --certify",
    "multiverse --certify a.csv b.csv": "one table or study at a time can be certified; name one",
    **{f"compare r.csv --paragraph {option}": f"{option.split()[0]} has no effect with --paragraph; leave it out"
       for option in ("--json", "--out o", "--all")},
    "rank r.csv --formats png": "--formats is for the figures that --out saves; add --out, or leave it out",
    "rank r.csv --out o --formats gif": "gif",
    "analyze r.csv --formats png": "--formats is for the figures that --out saves; add --out, or leave it out",
    "analyze r.csv --out p.html --formats png":
        "--formats has no effect on a page alone; name a folder with --out, or leave it out",
    **{f"results s --{one} --{other}": "--csv, --parquet and --json exclude each other; keep one"
       for one, other in (("csv", "json"), ("csv", "parquet"), ("parquet", "json"))},
    "list --spaces": "--spaces is for algorithms; say: recassay list algorithms --spaces",
    "evaluate l.csv --split s --alpha 0.1": "--alpha is for the tests of --compare; say that, or leave it out",
    "split d.csv --out o --folds 3": "--folds is for --split kfold or rolling; say that, or leave it out",
    "split d.csv --out o --split random --fold 1": "--fold is for --split kfold or rolling; say that, or leave it out",
    "split d.csv --out o --study s.toml --split random": "--split is for a split without --study; write it into s.toml",
    "split d.csv --out o --study s.toml --repeated last":
        "--repeated is for a split without --study; write it into s.toml",
    "data describe d.csv --ratios 0.8,0.1,0.1":
        "--ratios says how to split, and --split is not given; add --split RULE, or leave it out",
    "data import d.csv --name x --column user=a --column user=b": "--column names the user twice; name each once",
    "data import d.csv --name x --column user=a --column item=a":
        "--column gives 'a' two roles; give each its own column",
    "advise d.csv --study there.toml": "there.toml: is there already; choose another name for --study",
}  # fmt: skip


@pytest.mark.parametrize("words", REFUSED)
def test_an_option_without_effect_is_refused(cli, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.toml").write_text("")
    ran = cli(*words.split())
    assert ran.code == 2
    assert REFUSED[words] in ran.err
    assert len(ran.err.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["there.toml"]


HELPED = [
    (int, 5, "how many.", "--thing N", "How many. [default: 5]"),
    (Annotated[int, Range(1, 100)] | None, None, "how many.", "--thing N", "How many. [at least 1; at most 100]"),
    (Annotated[float, Range(0.0)], 0.5, "how far.", "--thing X", "How far. [default: 0.5; at least 0]"),
    (Share, 0.02, "a share.", "--thing 2%", "A share. [default: 0.02]"),
    (Seconds | None, None, "a time.", "--thing 2h", "A time."),
    (Sequence[str], ("a", "b"), "names.", "--thing A,B,...", "Names. [default: a,b]"),
    (Sequence[str], (), "names.", "--thing A,B,...", "Names."),
    (Literal["one", "two"], "one", "which.", "--thing one|two", "Which. [default: one]"),
    (Literal["one"] | Literal["two"] | None, None, "which.", "--thing one|two", "Which."),
    (dict[str, str] | None, None, "by role.", "--thing ROLE=NAME", "By role."),
    (int | Literal["all"] | None, None, "how many.", "--thing N|all", "How many."),
    (dict[str, float] | Literal["none"], "none", "weights.", "--thing NAME=X,...", "Weights. [default: none]"),
    (str | Sequence[str], "all", "ways.", "--thing A,B,...", "Ways. [default: all]"),
    (int | Sequence[int], 1, "seeds.", "--thing N,...", "Seeds. [default: 1]"),
    (str, "", "text.", "--thing TEXT", "Text."),
    (str, "x" * 40, "text.", "--thing TEXT", "Text."),
    (str, "x" * 39, "text.", "--thing TEXT", f"Text. [default: {'x' * 39}]"),
    (bool, False, "whether.", "--thing", "Whether."),
    (bool, True, "whether.", "--thing / --no-thing", "Whether."),
]


@pytest.mark.parametrize(("kind", "default", "text", "names", "help"), HELPED)
def test_what_the_help_says_of_a_kind(kind, default, text, names, help):
    (option,) = options_of(Parameter("thing", kind, default, text), section="Here")
    assert option.get_help_record(click.Context(click.Command("x"))) == (names, help)
    assert (option.section, option.name, option.required) == ("Here", "thing", False)


def test_what_cannot_be_typed_is_no_option():
    assert options_of(Parameter("told", Callable[[str], None] | None, None, "")) == []
    assert options_of(Parameter("told", type("Event", (Other,), {}), None, "")) == []


def test_a_direction_has_two_options():
    higher, lower = options_of(Parameter("higher_is_better", bool | None, None, "direction."))
    assert (higher.opts, lower.opts, lower.name) == (["--higher-is-better"], ["--lower-is-better"], "lower_is_better")


def test_where_a_place_is_written_it_is_a_path():
    (out,) = options_of(Parameter("out", str | None, None, "where."), out="file")
    assert (out.opts, out.metavar, out.type.kind) == (["-o", "--out"], "PATH", "file")


def heard(monkeypatch, place):
    """What the function at `place` is called with by a command, which ends there."""
    asked = {}

    def verb(*given, **named):
        asked.clear()
        asked.update(named, given=given)
        raise Failed

    monkeypatch.setattr(place, verb)
    return asked


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("", {}),
        ("--lower-is-better", {"higher_is_better": False}),
        ("--higher-is-better", {"higher_is_better": True}),
        (
            "--missing worst --seed 3 --methods mean,borda",
            {"missing": "worst", "seed": 3, "methods": ["mean", "borda"]},
        ),
        ("--confidence 0.9 --beta-max 2 --families auto", {"confidence": 0.9, "beta_max": 2.0, "families": "auto"}),
    ],
)
def test_what_is_typed_reaches_the_verb_and_nothing_else(cli, monkeypatch, table, words, options):
    asked = heard(monkeypatch, "recassay.api.rank.rank")
    assert cli("rank", table, "-m", "ndcg@10", *words.split()).code == 1
    assert asked.pop("given") == ()
    assert asked.pop("results").algorithms
    assert asked == {"metric": "ndcg@10", **options}


def test_how_a_table_is_read_is_typed_beside_its_name(cli, monkeypatch, table):
    asked = heard(monkeypatch, "recassay.api.tables.load_results")
    words = ("--from", "table", "--dataset", "films", "--prefer", "last", "--column", "value=score", "--wide",
             "--transpose", "-m", "ndcg@10")  # fmt: skip
    assert cli("rank", table, "other.csv", *words).code == 1
    assert [str(place) for place in asked.pop("given")[0]] == [str(table), "other.csv"]
    assert asked == {"format": "table", "dataset": "films", "prefer": "last", "columns": {"value": "score"},
                     "wide": True, "transpose": True, "metric": "ndcg@10"}  # fmt: skip
    (table.parent / "seed=3.csv").write_text("")
    monkeypatch.chdir(table.parent)
    cli("rank", "seed=3.csv")
    assert [str(place) for place in asked["given"][0]] == ["seed=3.csv"], "a file may be named like an option"
    cli("select")
    assert asked["given"] == ("published:board",)
    cli("comper", table, "--correctness", "auc")
    assert asked["metric"] == "auc"
    cli("paper", table, "--metrics", "ndcg@10,recall@10")
    assert asked["metric"] is None
    cli("paper", table, "--metrics", "ndcg@10")
    assert asked["metric"] == "ndcg@10"


def test_what_must_be_known_of_a_table_is_told_before_the_work(cli, monkeypatch, tmp_path):
    """With 100 algorithms a draw costs a quarter of what it does with 200: 4,000 replicates, not 1,000."""
    rows = [f"a{i:02d},d{j},ndcg@10,0.{i + 1}" for i in range(100) for j in range(2)]
    (tmp_path / "many.csv").write_text("algorithm,dataset,metric,value\n" + "\n".join(rows))
    heard(monkeypatch, "recassay.api.rank.rank")
    first, *notes = cli("rank", tmp_path / "many.csv").err.splitlines()
    assert first.startswith("read: 100 algorithms (a00, a01, a02 and 97 more), 2 datasets (d0, d1), 1 metric (ndcg@10)")
    assert "note: 100 algorithms: 4,000 bootstrap replicates, not 10,000; --replicates sets more" in notes
    asked = cli("rank", tmp_path / "many.csv", "--replicates", 8000).err
    assert "8,000 bootstrap replicates take about 2 times as long as the default, 4,000" in asked


@pytest.mark.parametrize(("command", "name"), [("rank", "rank"), ("irt beta", "irt")])
def test_an_answer_is_saved_under_its_name(cli, monkeypatch, table, tmp_path, command, name):
    """Of a command that makes no page, a folder may have any name."""
    saved = {}

    def write(out, results, content, **more):
        saved.update(more, out=out, names=list(results), content=content)
        return [out / "one", out / "two"]

    place = "recassay.cli.on_table"
    result = SimpleNamespace(to_dict=lambda: {"best": "A"})
    for verb in ("rank.rank", "beta_irt.beta_irt"):
        monkeypatch.setattr(f"recassay.api.{verb}", lambda **named: result)
    monkeypatch.setattr(f"{place}.tell", lambda result, table: Answer((f"{len(table.algorithms)} are told.",)))
    monkeypatch.setattr(f"{place}.write_folder", write)
    out = tmp_path / "folder.html"
    ran = cli(*command.split(), table, "-m", "ndcg@10", "--out", out, "--formats", "json,SVG")
    assert ran.out == "Answer\n8 are told.\n"
    assert ran.err.endswith(f"wrote 2 files to {out}\n")
    content = saved.pop("content")
    assert (content["command"], content["best"], content["input"][0]["file"]) == (command, "A", str(table))
    assert saved == {"out": out, "names": [name], "formats": ("svg", "json")}
    cli(*command.split(), table, "-m", "ndcg@10", "--out", out)
    assert saved["formats"] == ("svg", "pdf", "json")


def test_figures_of_a_paper_may_be_none(cli, monkeypatch, table):
    asked = heard(monkeypatch, "recassay.api.publish.paper.paper")
    cli("paper", table, "--figures", "none", "--metrics", "ndcg@10")
    assert asked["figures"] == []
    cli("paper", table, "--metrics", "ndcg@10")
    assert "figures" not in asked


def test_a_page_is_the_answer_where_a_page_is_named(cli, monkeypatch, table, tmp_path):
    page = tmp_path / "page.html"
    asked = {}

    def made(**named):
        asked.update(named)
        page.write_text("x" * 20_000)
        return SimpleNamespace(files=[page], verdict=["Nobody wins."], to_dict=lambda: {"metric": "m"}, cautions=[],
                               results=named["results"], analyses={}, not_done=dict)  # fmt: skip

    monkeypatch.setattr("recassay.api.publish.report.report", made)
    monkeypatch.setattr("recassay.cli.analyze.report_brief", lambda made: Brief("A wins."))
    ran = cli("analyze", table, "--out", page, "--alpha", 0.1, "--missing", "worst", "--control", "EASE")
    assert " ".join(ran.out.split()) == f"A wins. Everything: {page}", "as short as for a folder"
    assert asked["control"] == "EASE"
    assert ran.err.splitlines()[-1] == f"wrote {page} (0.02 MB): open it in a browser"
    assert (asked["alpha"], asked["missing"], asked["out"]) == (0.1, "worst", page)
    assert cli("analyze", table, "--out", page, "--all").out == "Nobody wins.\n"
    answer = cli("analyze", table, "--out", page, "--json").json()
    assert (answer["command"], answer["metric"], answer["report"]) == ("report", "m", str(page))


def test_a_page_is_known_by_its_ending_in_capitals_too(monkeypatch, tmp_path):
    monkeypatch.setattr(on_table, "document", lambda *_: {})
    monkeypatch.setattr("recassay.api.publish.report.bench_page", lambda result: "<html></html>")
    call = SimpleNamespace(called=lambda: ("bench", "bench"), command=SimpleNamespace(out="place"))
    on_table.show_answer(call, SimpleNamespace(to_dict=dict), None, True, tmp_path / "page.HTML", None)
    assert (tmp_path / "page.HTML").read_text() == "<html></html>"


def test_the_study_that_advice_ends_with_is_written(cli, monkeypatch, tmp_path):
    (tmp_path / "films.csv").write_text("user,item\n" + "\n".join(f"{u},{i}" for u in range(9) for i in range(7)))
    said = cli("advise", tmp_path / "films.csv", "--study", tmp_path / "next.toml")
    assert said.code == 0, said.err
    assert (tmp_path / "next.toml").read_text().startswith('[study]\nname = "next"\n')
    assert f"wrote {tmp_path / 'next.toml'}: run it with recassay run {tmp_path / 'next.toml'}" in said.err
    assert "recassay run --datasets" not in said.out
    *_, last = cli("advise", tmp_path / "films.csv").out.splitlines()
    assert last.startswith(f"  recassay run --datasets {tmp_path / 'films.csv'} --algorithms ")
    dry = cli(*last.split()[1:], "--dry-run")
    assert dry.code == 0, dry.err
    filtered = cli("advise", tmp_path / "films.csv", "--filter", "none").out
    assert "A study of the first four to run next: --study FILE writes it" in filtered
    assert "--study FILE" not in cli("advise", tmp_path / "films.csv", "--json").out


def test_notes_on_a_multiverse_are_told(cli, monkeypatch):
    result = SimpleNamespace(notes=("One note.",), sources=(), to_dict=dict)
    monkeypatch.setattr("recassay.api.multiverse.multiverse", lambda **named: result)
    monkeypatch.setattr("recassay.cli.on_table.tell", lambda result, table: Answer(("Told.",)))
    ran = cli("multiverse", "a.csv")
    assert (ran.out, ran.err) == ("Answer\nTold.\n", "note: One note.\n")


def test_completion_of_other_shells(cli, monkeypatch, tmp_path):
    fish = install_completion("fish", tmp_path)
    assert fish == tmp_path / ".config" / "fish" / "completions" / "recassay.fish"
    assert not (tmp_path / ".fishrc").exists()
    assert cli("--show-completion", "zsh").out == completion_script("zsh") != completion_script("fish")
    monkeypatch.setenv("SHELL", "/usr/bin/zsh")
    monkeypatch.setenv("HOME", str(tmp_path))
    said = cli("--install-completion")
    place = tmp_path / ".local" / "share" / "recassay" / "completion.zsh"
    assert (said.code, place.read_text()) == (0, completion_script("zsh"))
    assert said.err == f"wrote {place}; open a new terminal, and the Tab key completes commands and options\n"
    assert (tmp_path / ".zshrc").read_text() == f'. "{place}"  # completion of recassay\n'


def test_answers_that_are_no_table_come_from_their_own_verbs(cli, monkeypatch, tmp_path):
    """What is typed reaches each verb, and what it reads reaches it loaded."""
    asked = heard(monkeypatch, "recassay.api.multiverse.multiverse")
    cli("multiverse", "a.csv", "b.csv", "--claim", "A > B", "--leaky", "split=random", "--alpha", "0.01")
    assert asked == {"given": (), "results": ["a.csv", "b.csv"], "claims": ["A > B"], "leaky": ["split=random"],
                     "alpha": 0.01}  # fmt: skip
    asked = heard(monkeypatch, "recassay.api.certify.certify")
    cli("multiverse", "--certify", "a.csv", "--confidence", 0.9, "--claims", "A > B")
    assert asked == {"given": (), "results": "a.csv", "confidence": 0.9, "claims": ["A > B"]}
    asked = heard(monkeypatch, "recassay.api.logistic_irt.logistic_irt")
    cli("irt", "logistic", "published:lsat7", "--model", "1pl", "--ability", "ml", "--confidence", 0.9, "--no-priors")
    assert len(asked.pop("responses").items) == 5
    assert asked == {"given": (), "model": "1pl", "ability": "ml", "confidence": 0.9, "priors": False}
    asked = heard(monkeypatch, "recassay.api.comper.comper_matrix")
    cli("comper", "--derive-matrix", "--experts", "e.csv")
    assert [str(place) for place in asked["experts"]] == ["e.csv"]
    asked = heard(monkeypatch, "recassay.api.strata.strata")
    cli("strata", tmp_path, "--thresholds", "5,9", "--size", "all", "--others", "remove", "--alpha", 0.1)
    assert (asked["folder"], asked["thresholds"], asked["size"]) == (str(tmp_path), [5, 9], "all")
    assert (asked["others"], asked["alpha"]) == ("remove", 0.1)
    asked = heard(monkeypatch, "recassay.api.study.bench.bench")
    cli("bench", "m.py:Mine", "--study", "f", "--seeds", 2, "--no-fetch", "--datasets", "a,b", "--data", "d", "-j", 3)
    assert asked.pop("progress")
    assert asked.pop("told")
    assert asked == {"given": (), "algorithm": "m.py:Mine", "folder": "f", "seeds": 2, "fetch": False,
                     "datasets": ["a", "b"], "data": "d", "workers": 3}  # fmt: skip
    asked = heard(monkeypatch, "recassay.api.reproduce.reproduce")
    cli("reproduce")
    assert asked["paper"] is None
    cli("reproduce", "comper", "kdd24")
    assert asked["paper"] == ["comper", "kdd24"]


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ("say `prior=False`", "say --no-prior"),
        ("there is no file '`prior=`'", "there is no file '--prior '"),
        ("say `algorithms=['EASE, tuned', 'ALS']`", """say --algorithms '"EASE, tuned",ALS'"""),
        ("say `algorithms=['EASE', 'ALS']`", "say --algorithms EASE,ALS"),
        ("""say `prior="Brien's"`""", "say --prior Brien's"),
        ("see `recassay.rank`", "see recassay rank"),
        ("see `recassay.beta_irt(results, missing='keep')`", "see recassay irt beta results --missing keep"),
        ("`other` stays", "`other` stays"),
    ],
)
def test_what_the_library_says_is_told_as_it_is_typed(said, typed):
    speak_of({"other": "--other"})
    speak_of({"prior": "--prior", "algorithms": "--algorithms"})
    assert in_options(said) == typed


def test_the_paragraph_of_a_comparison_is_all_that_is_printed(cli, monkeypatch, table):
    monkeypatch.setattr("recassay.api.compare.compare", lambda **named: f"{named['alpha']} on {named['metric']}")
    monkeypatch.setattr("recassay.cli.on_table.written_paragraph", lambda result: f"We tested at {result}.")
    ran = cli("compare", table, "-m", "ndcg@10", "--alpha", 0.1, "--paragraph")
    assert (ran.code, ran.out) == (0, "We tested at 0.1 on ndcg@10.\n")


@pytest.mark.parametrize("rule", ["kfold", "rolling"])
def test_folds_are_for_splits_that_have_them(cli, monkeypatch, rule):
    asked = heard(monkeypatch, "recassay.api.split.split")
    assert cli("split", "d.csv", "--out", "o", "--split", rule, "--folds", 3, "--fold", 1).code == 1
    assert asked["protocol"] == ProtocolSpec(split=rule, folds=3, fold=1)


@pytest.mark.parametrize(("typed", "column"), [("0", 0), ("who", "who")])
def test_a_column_that_is_named_by_a_number_is_meant_by_its_place_in_all_commands(cli, monkeypatch, typed, column):
    places = {"evaluate": "recassay.api.evaluate.evaluate", "advise": "recassay.api.advise.advise"}
    for command, place in places.items():
        asked = heard(monkeypatch, place)
        assert cli(command, "d.csv", "--column", f"user={typed}").code == 1
        assert asked["read"] == ReadSpec(columns={"user": column})


def test_what_is_no_verb_is_not_read():
    with pytest.raises(AttributeError, match=r"recassay\.api\.rank has no ranked"):
        read_verb("recassay.api.rank:ranked")
    with pytest.raises(TypeError, match=r"recassay\.core\.choices:Range is not a function"):
        read_verb("recassay.core.choices:Range")
