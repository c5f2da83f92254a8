"""The page's script ranks by the same rules as Python: the same list, and the same numbers where Node.js is there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import recassay.reporting
from recassay.analysis.aggregation.contest import Contest
from recassay.analysis.aggregation.rules import RULES, DolanMore

TEMPLATES = Path(recassay.reporting.__file__).parent / "templates"


def test_the_script_has_exactly_the_rules_of_python() -> None:
    scores = re.search(r"const SCORES = \{\n(.*?)\n  \};", (TEMPLATES / "rules.js").read_text(), re.DOTALL)
    assert scores is not None
    assert sorted(re.findall(r"^    (\w+):", scores[1], re.MULTILINE)) == sorted(RULES)


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
@pytest.mark.parametrize("up", [True, False])
def test_the_script_gives_the_scores_of_python(up: bool) -> None:
    rng = np.random.default_rng(7)
    values = rng.uniform(0.01, 0.5, (6, 9))
    values[2, :3] = values[1, :3]  # ties
    values[4, 5] = 0.0
    script = "".join((TEMPLATES / name).read_text() for name in ("ties.js", "rules.js"))
    program = (
        f"globalThis.RecAssay = {{}};{script}"
        f"const c = RecAssay.rules.contest({json.dumps(values.tolist())}, {json.dumps(up)});"
        "const scores = Object.entries(RecAssay.rules.SCORES).map(([name, score]) => [name, score(c, 3)]);"
        "console.log(JSON.stringify(Object.fromEntries(scores)));"
    )
    answer = subprocess.run(["node", "-e", program], capture_output=True, text=True, check=True, timeout=60).stdout
    contest, weights = Contest(values[None], higher_is_better=up), np.ones((1, values.shape[1]))
    for name, scores in json.loads(answer).items():
        expected = RULES[name].score(contest, weights, DolanMore())[0]
        np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-12, err_msg=name)
