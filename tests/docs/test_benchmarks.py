"""Every script of benchmarks/ makes figures of a page, and the index says of which."""

from __future__ import annotations

import re
import subprocess
import sys

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
