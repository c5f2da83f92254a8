"""Tables of a study file: where a key stands, what a name means, and what is refused."""

from __future__ import annotations

import pytest

from recassay.core.errors import InputError
from recassay.core.specs.specs import ProtocolSpec
from recassay.core.specs.study import RangeSpec
from recassay.runner import file_tables
from recassay.runner.file_tables import Place, by_label, make_spec, names_of, read_tables

TOML = """# a comment
name = "outer"
[study]
datasets = ["a"]
[dataset.a]  # a note
split = "random"
"seed" = 3
splits = 3
[ dataset.'b c' ]
split = "x"
[[rules]]
split = 1
"""
YAML = "study:\n  name: films\nprotocol:\n  splt: random\n"


@pytest.mark.parametrize(
    ("text", "keys", "line"),
    [
        (TOML, ["study"], 3),
        (TOML, ["dataset", "a"], 5),
        (TOML, ["study", "datasets"], 4),
        (TOML, ["dataset", "a", "split"], 6),
        (TOML, ["dataset", "a", "seed"], 7),
        (TOML, ["dataset", "b c", "split"], 10),
        (TOML, ["rules", 0, "split"], 12),
        (TOML, ["dataset", "c", "split"], None),
        (TOML, ["study", "spl"], None),
        (TOML, ["name"], 2),
        (TOML, ["datasets"], 4),
        (TOML, ["s.lit"], None),
        (TOML, [], None),
        (YAML, ["protocol", "splt"], 4),
        (YAML, ["protocol"], 3),
    ],
)
def test_the_line_of_a_key(text, keys, line):
    where = "films.toml" if line is None else f"films.toml, line {line}"
    with pytest.raises(InputError) as refused:
        Place("films.toml", text).refuse(keys, "is wrong", "mend it")
    assert str(refused.value) == f"{where}: is wrong; mend it"


NOWHERE = Place("the study", "")


def refusal(call, *arguments):
    with pytest.raises(InputError) as refused:
        call(*arguments)
    return str(refused.value)


@pytest.mark.parametrize(
    ("names", "what"),
    [
        (None, "study.metrics is missing"),
        ("ndcg@10", "study.metrics is not a list of names"),
        ([], "study.metrics is not a list of names"),
        (["ndcg@10", ""], "study.metrics is not a list of names"),
        (["ndcg@10", 3], "study.metrics is not a list of names"),
        (["a", "b", "b"], "study.metrics names 'b' twice; name it once"),
    ],
)
def test_names_are_a_list_that_names_each_once(names, what):
    assert refusal(names_of, names, "metrics", NOWHERE).startswith(f"the study: {what}")
    assert names_of(["b", "a"], "metrics", NOWHERE) == ["b", "a"]


def test_a_table_belongs_to_the_label_then_the_reference_then_the_short_name():
    references, labels = ["./a.py:Model", "./lists/best.csv", "EASE"], ["Named", "Model", "EASE"]
    tables = {"named": {"a": 1}, "MODEL": {"b": 2}}
    assert by_label(tables, labels, references, "algorithm", NOWHERE) == {"Named": {"a": 1}, "Model": {"b": 2}}
    tables = {"./a.py:Model": {"a": 1}, "best": {"b": 2}, "ease": {}}
    assert by_label(tables, labels, references, "algorithm", NOWHERE) == {
        "Named": {"a": 1}, "Model": {"b": 2}, "EASE": {},
    }  # fmt: skip
    unknown = refusal(by_label, {"EAES": {}}, labels, references, "algorithm", NOWHERE)
    assert unknown == "the study: algorithm.EAES: the study has no such algorithm; did you mean 'EASE'?"
    flat = refusal(by_label, {"EASE": 3}, labels, references, "algorithm", NOWHERE)
    assert flat == "the study: algorithm.EASE is not a section; write [algorithm.EASE] and keys below"


def test_a_spec_that_does_not_fit_is_refused_with_its_key_and_value():
    def refused(table):
        return refusal(make_spec, ProtocolSpec, table, ("dataset", "a"), NOWHERE)

    assert refused(3) == "the study: dataset.a is not a section; write [dataset.a] with keys below it"
    assert refused({"splt": 1}) == "the study: unknown key dataset.a.splt; did you mean 'split'?"
    assert refused({"folds": 0}).startswith("the study: dataset.a.folds = 0: input should be greater than or equal to ")
    absent = refusal(make_spec, RangeSpec, {"low": 1}, ("algorithm", "a", "k"), NOWHERE)
    assert absent.startswith("the study: algorithm.a.k.high: field required")
    whole = refused({"ratios": (0.5, 0.1, 0.1)})
    assert "sum to 1" in whole
    assert "value error" not in whole.lower()
    assert make_spec(ProtocolSpec, {"split": "random"}, ("protocol",), NOWHERE) == ProtocolSpec(split="random")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("study:\n  a: 1\n  b: 2\n  b: 3\n", 4),
        ("study:\n  - x: 1\n  - {y: 1, x: 2, y: 3}\n", 3),
        ("study: &all\n  a: 1\nprotocol: *all\n", None),
        ("study:\n  a: 1\nprotocol:\n  a: 2\n", None),
    ],
)
def test_a_key_stands_once_in_its_section(tmp_path, text, line):
    pytest.importorskip("yaml", reason="pyyaml is not installed")
    path = tmp_path / "films.YML"
    path.write_text(text)
    if line is None:
        assert set(read_tables(path, ("study", "protocol"))[0]) == {"study", "protocol"}
    else:
        assert f"films.YML, line {line}: the key '" in refusal(read_tables, path, ("study",))


def test_a_file_of_the_largest_size_is_read_and_its_sections_are_tables(tmp_path, monkeypatch):
    path = tmp_path / "films.toml"
    path.write_text("[study]\na = 1\n")
    monkeypatch.setattr(file_tables, "MOST_BYTES", path.stat().st_size)
    tables, place = read_tables(path, ("study", "protocol"))
    assert (tables, place.source) == ({"study": {"a": 1}}, str(path))
    path.write_text("study = [1]\n")
    assert refusal(read_tables, path, ("study",)) == (
        f"{path}, line 1: study is not a section; write it as [study] with keys below it"
    )
    path.write_text("[studdy]\n")
    assert refusal(read_tables, path, ("study",)) == f"{path}, line 1: unknown key studdy; did you mean 'study'?"
