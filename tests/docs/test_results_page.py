"""The page of results: whatever a public function returns stands there, and no field is left without a meaning."""

from __future__ import annotations

import importlib
import inspect
import re

import pytest

import recassay
from support.places import ROOT


@pytest.fixture(scope="module")
def pages():
    """The module that makes the page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        yield importlib.import_module("reference.results")


@pytest.fixture(scope="module")
def page(pages):
    """The page."""
    return pages.results_page()


@pytest.mark.slow
def test_every_class_that_a_public_function_returns_stands_on_the_page(page):
    verbs = [thing for name in recassay.__all__ if inspect.isfunction(thing := getattr(recassay, name))]
    named = {word for verb in verbs for word in re.findall(r"\b[A-Z]\w+", str(verb.__annotations__["return"]))}
    ours = named - {"Any", "DataFrame", "None", "Path"}
    assert {"RankResult", "Derivation", "AnalysisReport", "EvaluationReport", "Paper", "StudyRecord"} <= ours
    assert {f"### {name}\n" for name in ours if f"### {name}\n" not in page} == set()


@pytest.mark.slow
def test_every_result_of_an_analysis_stands_on_the_page(page):
    from recassay.core.registry import analyses

    names = {analysis.run.__annotations__["return"] for _, analysis in analyses}
    assert {"CostResult", "PerDatasetResult"} <= names
    assert {name for name in names if f"### {name}\n" not in page} == set()


def test_every_field_has_a_meaning_and_every_answer_an_example(pages):
    kinds = [kind for group in pages.groups().values() for kind in group]
    fields = [(kind, field) for kind in kinds for field in pages.fields_of(kind)]
    assert len(fields) > 500
    assert [f"{kind.__name__}.{field.name}" for kind, field in fields if not pages.meaning(kind, field)] == []
    examples = pages.told()["examples"]
    assert [kind.__name__ for kind in pages.groups()["Answers"] if kind.__name__ not in examples] == []
    assert set(examples) <= {kind.__name__ for kind in kinds}


def test_no_shared_meaning_is_left_over(pages):
    kinds = [kind for group in pages.groups().values() for kind in group]
    used = {field.name for kind in kinds for field in pages.fields_of(kind) if not field.meaning}
    assert set(pages.told()["fields"]) - used == set()


def test_types_link_to_entries_and_spell_out_choices(page):
    entries = {name.lower() for name in re.findall(r"^### (\w+)$", page, re.M)}
    assert len(entries) == len(re.findall(r"^### ", page, re.M))
    assert set(re.findall(r'href="#(\w+)"', page)) <= entries
    entry = page.partition("### CompareResult\n")[2].partition("\n### ")[0]
    assert "**From** [`compare`](python.md#compare)" in entry
    assert '| `pairs` | <code>Sequence[<a href="#pair">Pair</a>]</code> | Every pair by Wilcoxon' in entry
    assert "'wilcoxon-holm' &#124; 'nemenyi' &#124; 'bayesian'" in entry
    assert "| `alpha` | <code>float</code> | Level of the tests. |" in entry
    assert "- `to_frame()`: One row per pair" in entry


def test_functions_link_to_what_they_return(pages):
    functions = importlib.import_module("reference.functions").python_page()
    assert "Returns [`RankResult`](results.md#rankresult).\n" in functions


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["AssociationsResult", "ComPerResult", "CompareResult", "LogisticResult", "RankResult", "StudyRecord"]
)
def test_examples_run(pages, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made: dict[str, object] = {"recassay": recassay}
    exec(compile(pages.told()["examples"][name], name, "exec"), made)  # noqa: S102
    assert name in {type(thing).__name__ for thing in made.values()}, "the example makes what it explains"
