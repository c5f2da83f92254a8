"""What a release says it is made of, and the versions that it was tested with."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib

from support.places import ROOT


def test_the_bill_names_every_declared_dependency(tmp_path):
    target = tmp_path / "bill.json"
    subprocess.run([sys.executable, str(ROOT / "release" / "sbom.py"), "--out", str(target)], check=True, timeout=120)
    bill = json.loads(target.read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    assert bill["metadata"]["component"]["name"] == "recassay"
    named = {part["name"] for part in bill["components"]}
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {re.split(r"[<>=\[; ]", one)[0].lower().replace("_", "-") for one in declared} <= named
    references = [part["bom-ref"] for part in (bill["metadata"]["component"], *bill["components"])]
    assert len(set(references)) == len(references)
    assert {one for row in bill["dependencies"] for one in (row["ref"], *row["dependsOn"])} == set(references)


def test_the_constraints_are_exact_and_cover_what_is_declared():
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line and line[0] != "#"]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    held = {line.partition("==")[0].lower().replace("_", "-") for line in lines}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    tested = re.fullmatch(r"recassay\[(.*)\]", extras["test"][0])[1].split(",")
    wanted = [*project["dependencies"], *extras["test"][1:], *(one for extra in tested for one in extras[extra])]
    assert {re.split(r"[<>=\[; ]", one)[0].lower().replace("_", "-") for one in wanted} <= held
