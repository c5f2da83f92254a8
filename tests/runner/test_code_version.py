"""A cell is known by the code that made it: an edit makes the cells of that code, and no others, new ones."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

import pytest

from recassay.api.study.studies import make_study
from recassay.classifiers.study import plan_classifiers
from recassay.classifiers.study_file import load_classify_study
from recassay.core.errors import UsageError
from recassay.core.registry import Registry, algorithms, classifiers
from recassay.recommenders.plan import plan
from recassay.runner import code_version
from recassay.runner.references import announced_version, current_code, part_version
from support.classify import write_tables


def edit(file: Path, line: str = "EDITED = True") -> None:
    file.write_text(file.read_text() + line + "\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("linear", {"EASE", "GF-CF", "Turbo-CF"}),
        ("baselines", {"Random", "MostPop", "RecentPop"}),
        ("kernels/similarity", {"ItemKNN", "UserKNN", "LocalEASE", "RP3beta"}),
        (
            "kernels/products",
            {"AspectModel", "EASE", "GF-CF", "ItemKNN", "LocalEASE", "PLSA", "RP3beta", "SLIM", "Turbo-CF", "UserKNN"}
            | {"LastItems", "MarkovChain", "SequentialRules", "AssociationRules", "V-SKNN", "STAN"},
        ),
        ("kernels/pairwise", {"BPR", "WARP", "RatingMF"}),
        ("external/models", set()),
        ("__init__", set()),
    ],
)
def test_an_edit_changes_the_cells_of_what_imports_it(copied_package, module, expected):
    folder = copied_package("recassay.algorithms")
    ours = [name for name in algorithms.names() if algorithms.origin(name).startswith("recassay ")]
    study = make_study(["synthetic:few-items"], ours, trials=2)
    before = {cell.algorithm.name: cell for cell in plan(study).cells}
    edit(folder / f"{module}.py")
    after = {cell.algorithm.name: cell for cell in plan(study).cells}
    new = {name for name, cell in after.items() if cell.id != before[name].id}
    assert {name for name, cell in after.items() if cell.spec.tuning_id != before[name].spec.tuning_id} == new
    assert {name for name in new if "neural" not in algorithms.announcement(name).module} == expected


@pytest.mark.parametrize(
    ("module", "changed"),
    [("artificial", {"optimal", "rand1"}), ("portfolio", {"SVM", "mlp-1"}), ("tables", set())],
)
def test_classifiers_are_known_by_their_code_too(copied_package, tmp_path, module, changed):
    folder = copied_package("recassay.classifiers")
    write_tables(tmp_path, "one")
    (tmp_path / "study.toml").write_text(
        '[study]\ndatasets = ["one.csv"]\nclassifiers = ["optimal", "rand1", "SVM"]\n[mlps]\ncount = 2\n'
        '[protocol]\ntarget = "class"\n'
    )
    study = load_classify_study(tmp_path / "study.toml")

    def ids():
        return {cell.row.algorithm: cell.id for cell in plan_classifiers(study).cells}

    before = ids()
    edit(folder / f"{module}.py")
    found = {name for name, cell in ids().items() if cell != before[name]}
    assert found & {"optimal", "rand1", "SVM", "mlp-1"} == changed
    assert ("mlp-120" in found) == ("mlp-1" in changed)


PACKAGE = {
    "__init__.py": "from recsys_plugin.other import Other\n",
    "model.py": "from typing import TYPE_CHECKING\n"
    "from . import near\n"
    "from recassay.algorithms.baselines import MostPop\n"
    "if TYPE_CHECKING:\n    from .types_alone import Hint\n"
    "class Model(MostPop):\n    name = 'Model'\n"
    "    def late(self):\n        from .deep.late import answer\n        return answer\n",
    "near.py": "import recsys_plugin.model\nVALUE = 1\n",
    "types_alone.py": "Hint = int\n",
    "deep/late.py": "raise RuntimeError('nobody may import this to know its version')\n",
    "other.py": "class Other:\n    name = 'Other'\n",
}


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """An installed distribution that announces an algorithm; the folder of its package."""
    site = tmp_path / "site"
    for name, text in PACKAGE.items():
        (site / "recsys_plugin" / name).parent.mkdir(parents=True, exist_ok=True)
        (site / "recsys_plugin" / name).write_text(text)
    told = site / "recsys_plugin-1.2.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: recsys-plugin\nVersion: 1.2\n")
    (told / "entry_points.txt").write_text("[recassay.algorithms]\nPlugged = recsys_plugin.model:Model\n")
    monkeypatch.syspath_prepend(str(site))
    yield site / "recsys_plugin"
    for name in [name for name in sys.modules if name.startswith("recsys_plugin")]:
        del sys.modules[name]


def plugin_version() -> str:
    found: Registry = Registry("algorithm", "recassay.algorithms")
    return part_version("Plugged", ".", found)


@pytest.mark.parametrize(
    ("file", "counts"),
    [("model.py", True), ("near.py", True), ("deep/late.py", True), ("types_alone.py", False), ("other.py", False),
     ("__init__.py", False)],
)  # fmt: skip
def test_a_plugin_under_development_is_known_by_its_files(plugin, file, counts):
    before = plugin_version()
    assert before.startswith("recsys-plugin 1.2 ")
    assert plugin_version() == before
    edit(plugin / file)
    assert (plugin_version() != before) == counts


def test_a_plugin_is_known_by_its_version_and_by_what_it_takes_of_ours(plugin, copied_package):
    folder = copied_package("recassay.algorithms")
    before = plugin_version()
    edit(folder / "linear.py")
    assert plugin_version() == before
    edit(folder / "baselines.py")
    assert plugin_version() != before
    told = plugin.parent / "recsys_plugin-1.2.dist-info" / "METADATA"
    told.write_text(told.read_text().replace("Version: 1.2", "Version: 1.3"))
    assert plugin_version().startswith("recsys-plugin 1.3 ")


def test_a_plugin_of_one_module_and_one_without_a_file(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "recsys_single.py").write_text("class Model:\n    pass\n")
    told = tmp_path / "recsys_single-0.1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: recsys-single\nVersion: 0.1\n")
    (told / "entry_points.txt").write_text(
        "[recassay.algorithms]\nSingle = recsys_single:Model\nGone = recsys_gone:Model\n"
    )
    found: Registry = Registry("algorithm", "recassay.algorithms")
    before = announced_version(found.announcement("Single"), found)
    edit(tmp_path / "recsys_single.py")
    assert announced_version(found.announcement("Single"), found) != before
    assert announced_version(found.announcement("Gone"), found) == "recsys-single 0.1"


def test_line_endings_do_not_count(copied_package):
    folder = copied_package("recassay.algorithms")
    before = part_version("EASE", ".")
    file = folder / "linear.py"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert part_version("EASE", ".") == before


def test_a_file_is_known_by_what_it_takes_of_ours(copied_package, tmp_path):
    folder = copied_package("recassay.algorithms")
    (tmp_path / "mine.py").write_text("from recassay.algorithms import baselines\nclass Mine(baselines.MostPop): ...\n")
    (tmp_path / "alone.py").write_text("class Alone: ...\n")
    (tmp_path / "broken.py").write_text("class Broken(\n")

    def versions():
        return [part_version(f"./{name}.py:X", str(tmp_path)) for name in ("mine", "alone", "broken")]

    before = versions()
    edit(folder / "linear.py")
    assert versions() == before
    edit(folder / "kernels" / "scoring.py")
    mine, *others = versions()
    assert mine != before[0]
    assert others == before[1:]


def test_the_code_of_a_study_as_it_is_now():
    manifest = {
        "study": {
            "algorithms": [
                {"name": "my EASE", "reference": "EASE"},
                {"name": "Mine", "reference": "./mine.py:Mine"},
                {"name": "Gone", "reference": "an algorithm that nobody announces"},
            ]
        },
        "algorithms": {"my EASE": "old", "Mine": "old", "Gone": "old"},
    }
    assert current_code(manifest) == {"my EASE": part_version("EASE", "."), "Mine": "old", "Gone": "old"}


FORMS = """
import a.b, c as d
from . import near
from .far import thing, other
from ..up import top
from ... import package
from plain import name
if TYPE_CHECKING:
    import only_types
else:
    import at_run_time
if typing.TYPE_CHECKING:
    import only_types_too
elif other:
    import otherwise
try:
    import tried
except ImportError:
    import instead
finally:
    import always
match value:
    case 1:
        import matched
class Model:
    def fit(self):
        with open(__file__):
            import late
"""


def test_every_form_of_an_import_counts() -> None:
    """Of a module in the package a.b.c; `from x import y` is the module x.y, or else y of the module x."""
    relative = [("a.b.c.near", "a.b.c"), ("a.b.c.far.thing", "a.b.c.far"), ("a.b.c.far.other", "a.b.c.far"),
                ("a.b.up.top", "a.b.up"), ("a.package", "a")]  # fmt: skip
    plain = ["at_run_time", "otherwise", "tried", "instead", "always", "matched", "late"]
    expected = [("a.b",), ("c",), *relative, ("plain.name", "plain"), *((name,) for name in plain)]
    assert list(code_version._imports(ast.parse(FORMS), "a.b.c")) == expected


def test_a_package_imports_from_itself_and_a_similar_name_is_another_package(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    files = {
        "recsys_one/__init__.py": "from .inner import value\n",
        "recsys_one/inner.py": "import recsys_one_more\nfrom .deep.below import x\n",
        "recsys_one/deep/__init__.py": "",
        "recsys_one/deep/below.py": "from ..aside import y\nfrom . import beside\n",
        "recsys_one/deep/beside.py": "",
        "recsys_one/aside.py": "y = 1\n",
        "recsys_one/unused.py": "",
        "recsys_one_more.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    reached = code_version._closure([("recsys_one",)], ["recsys_one", "recsys_gone"])
    assert set(reached) == {"recsys_one", "recsys_one.inner", "recsys_one.deep.below", "recsys_one.aside",
                            "recsys_one.deep.beside"}  # fmt: skip
    assert code_version.code_hash("recsys_one.unused", ["recsys_one"]) is not None
    assert code_version.code_hash("recsys_one_more", ["recsys_one"]) is None


def test_a_file_is_read_again_when_its_time_or_its_size_is_another(tmp_path):
    file = tmp_path / "mine.py"
    seen = []
    for text, time in (("import a", 5), ("import b", 6), ("import bc", 6), ("import bc", 6)):
        file.write_text(text)
        os.utime(file, (time, time))
        seen.append(code_version._read(file, "mine", False))
    assert [imports for _, imports in seen] == [(("a",),), (("b",),), (("bc",),), (("bc",),)]
    assert len({digest for digest, _ in seen}) == 3


def test_the_order_of_imports_is_no_part_of_the_hash():
    assert code_version._hash({"a": "1", "b": "2"}) == code_version._hash({"b": "2", "a": "1"})
    assert code_version._hash({"a": "1", "b": "2"}) != code_version._hash({"a": "2", "b": "1"})


def test_the_code_of_classifiers_and_of_what_the_study_no_longer_names():
    manifest = {
        "study": {"classifiers": [{"name": "my SVM", "reference": "SVM"}]},
        "classifiers": {"my SVM": "old", "mlp-1": "old"},
        "algorithms": {"EASE": "old"},
    }
    assert current_code(manifest) == {
        "EASE": "old", "my SVM": part_version("SVM", ".", classifiers), "mlp-1": "old",
    }  # fmt: skip
    assert current_code({}) == {}


def test_what_was_added_from_python_has_no_code_for_the_processes_of_cells():
    found: Registry = Registry("algorithm", "recassay.algorithms")
    found.add("Mine", type("Mine", (), {}))
    with pytest.raises(UsageError, match=r"the algorithm 'Mine' was added from Python, .*name it as \./file\.py:Class"):
        part_version("Mine", ".", found)


def test_a_name_that_nobody_announces_has_no_version():
    with pytest.raises(UsageError, match="did you mean 'EASE'"):
        part_version("EAES", ".")
