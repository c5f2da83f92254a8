"""Every script of benchmarks/ makes figures of a page, and the index says of which."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib.util import find_spec

from support.places import ROOT

HERE = ROOT / "benchmarks"
INDEX = {
    script: re.findall(r"\.\./(docs/[\w/-]+\.md)|`(tests/[\w/]+\.py)`", pages)
    for script, pages in re.findall(r"^\| `(\w+\.py)` \|[^|]+\|([^|]+)\|$", (HERE / "README.md").read_text(), re.M)
}


def test_the_index_lists_every_script_and_no_other():
    assert sorted(INDEX) == sorted(path.name for path in HERE.glob("*.py") if path.name != "run.py")


def test_each_page_names_the_script_that_made_its_figures():
    for script, places in INDEX.items():
        assert places, script
        name = script.removesuffix(".py")
        for page in (one or other for one, other in places):
            assert re.search(rf"\b{name}\.py|dev\.py (?:bench )?{name}\b", (ROOT / page).read_text()), (script, page)


def test_the_list_says_what_each_measures():
    run = [sys.executable, str(HERE / "run.py")]
    listed = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert [line.split()[0] + ".py" for line in listed.splitlines()] == sorted(INDEX)
    unknown = subprocess.run([*run, "nothing"], capture_output=True, text=True)
    assert (unknown.returncode, "no benchmark 'nothing'" in unknown.stderr) == (2, True)


def test_what_a_script_imports_is_there():
    """Of each script, and of the modules beside them, what it imports when it starts."""
    ours = {path.stem for path in HERE.rglob("*")}
    gone = []
    for path in HERE.rglob("*.py"):
        body = ast.parse(path.read_text("utf-8")).body
        names = [alias.name for node in body if isinstance(node, ast.Import) for alias in node.names]
        names += [str(node.module) for node in body if isinstance(node, ast.ImportFrom)]
        first = {name: name.partition(".")[0] for name in names}
        gone += [f"{path.name}: {name}" for name in names if first[name] not in ours and find_spec(first[name]) is None]
        gone += [f"{path.name}: {name}" for name in names if first[name] == "recassay" and find_spec(name) is None]
    assert not gone
