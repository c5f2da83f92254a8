"""What the plain installation does without the packages of the extras, which are blocked in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SCRIPT = """
import json, sys
for name in ("altair", "sklearn", "snowballstemmer", "rich", "pandas", "pyarrow", "yaml", "distributed"):
    sys.modules[name] = None
import recassay
from recassay.core.registry import classifiers
from recassay.testing.results import synthetic_results

said = {}
ranked = recassay.rank(synthetic_results(6), "ndcg@10", replicates=100)
said["picture"] = ranked.plot()._repr_html_()[:12]
said["listed"] = len(recassay.list_available("classifiers"))
said["problems"] = [line for name, parts in (("classifiers", classifiers),) for line in parts.loadable()[1].values()]
for what, call in {
    "svm": lambda: classifiers.get("SVM")(),
    "mlp": lambda: classifiers.get("GrowingMLP")(depth=2),
    "chart": lambda: ranked.plot().chart,
    "pandas": ranked.to_pandas,
    "stem": lambda: __import__("recassay.analysis.comper.derive", fromlist=["stem"]).stem("systems"),
}.items():
    try:
        call()
    except recassay.RecAssayError as error:
        said[what] = str(error)
print(json.dumps(said))
"""


@pytest.mark.slow
def test_the_plain_installation_ranks_draws_and_lists() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    said = json.loads(done.stdout)
    assert said["picture"] == "<figure><svg"
    assert said["listed"] > 15
    assert said["problems"] == []
    install = "; install it with: pip install 'recassay[{}]'"
    assert said["svm"] == "the classifier SVC needs scikit-learn" + install.format("classify")
    assert said["mlp"] == "the classifier MLPClassifier needs scikit-learn" + install.format("classify")
    assert said["chart"] == "an Altair chart of a picture needs altair" + install.format("altair")
    assert said["stem"] == "comparing definitions of one's own needs snowballstemmer" + install.format("definitions")
    assert said["pandas"].startswith("to_pandas() needs pandas, which is not installed; pip install pandas")
