"""Algorithms in an environment of their own: another process with its own interpreter, Parquet in and out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from recassay.algorithms.external.plugins import load_plugin
from recassay.api.study.studies import make_study
from recassay.core.errors import InputError, RecAssayError
from recassay.recommenders.study import run_study
from recassay.runner.references import part_version
from recassay.store import Store
from recassay.testing import check_external
from recassay.testing.answers import answer
from recassay.testing.examples import learnable_tastes
from support.run import tiny_data

SCRIPT = """
import json, sys
from pathlib import Path
import numpy as np
import polars as pl

assert "recassay" not in sys.modules
folder = Path(sys.argv[1])
request = json.loads((folder / "request.json").read_text())
train = pl.read_parquet(folder / "train.parquet")
dense = np.zeros((request["n_users"], request["n_items"]))
dense[train["user"], train["item"]] = 1
together = dense.T @ dense / np.maximum(dense.sum(0), 1) ** request["parameters"]["power"]
np.fill_diagonal(together, 0)
scores = dense @ together + np.random.default_rng(request["seed"]).random(dense.shape) * 1e-9
scores[dense > 0] = -np.inf
best = np.argsort(-scores, axis=1)[:, : request["k"]]
row, place = np.nonzero(np.isfinite(np.take_along_axis(scores, best, axis=1)))
lists = {"user": row, "item": best[row, place], "score": scores[row, best[row, place]]}
pl.DataFrame(lists).write_parquet(folder / "recommendations.parquet")
print("trained with", request["parameters"])
"""
DESCRIPTION = f"""
name = "together"
source = "the tests"
python = {sys.executable!r}
script = "together.py"
requires = ["numpy=={np.__version__}"]
[parameters]
note = "hello"
[space]
power = {{ low = 0.0, high = 1.0, default = 0.5 }}
"""


def described(folder: Path, script: str = SCRIPT, description: str = DESCRIPTION) -> type[Any]:
    (folder / "together.py").write_text(script)
    (folder / "together.toml").write_text(description)
    return load_plugin("./together.toml", folder)


@pytest.mark.slow
def test_it_keeps_what_an_external_algorithm_promises(tmp_path):
    check_external(described(tmp_path))


@pytest.mark.slow
def test_it_is_tuned_and_recorded_as_any_other(tmp_path):
    described(tmp_path)
    tiny_data(tmp_path)
    spec = make_study(
        ["./tiny.csv"], ["MostPop", "./together.toml"], metrics=["ndcg@5"], trials=3, base=tmp_path, name="x"
    )
    record = run_study(spec, tmp_path / "out", workers=1)
    assert (record.done, record.failed) == (2, ())
    with Store.open(tmp_path / "out") as store:
        cell = next(cell for cell in store.cells() if cell.algorithm == "together")
    assert 0 <= cell.parameters["power"] <= 1
    assert cell.metrics["ndcg@5"] > 0
    assert cell.memory > 10e6
    assert "trained with {'power':" in (tmp_path / "out" / "logs" / f"{cell.id}.log").read_text()


def test_its_identity_holds_the_script(tmp_path):
    described(tmp_path)
    first = part_version("./together.toml", str(tmp_path))
    described(tmp_path, SCRIPT + "\n# another\n")
    assert part_version("./together.toml", str(tmp_path)) != first


BROKEN_SCRIPTS = {
    "ends with exit code 3: out of luck": "import sys; print('out of luck', file=sys.stderr); sys.exit(3)",
    "wrote no recommendations.parquet": "",
    "cannot be read.*write the columns user, item and score": SCRIPT.replace('"score": scores', '"worth": scores'),
    "rows have no item from 0 to 159": SCRIPT.replace('"item": best[row, place]', '"item": best[row, place] + 99'),
    "not a finite number": SCRIPT.replace("scores[dense > 0] = -np.inf", "scores[0, 0] = np.inf").replace(
        "np.isfinite(np.take_along_axis(scores, best, axis=1))", "best >= 0"
    ),
    r"[\d,]+ of its [\d,]+ rows have no whole number as item": SCRIPT.replace(
        '"item": best[row, place]', '"item": best[row, place] + 0.5'
    ),
    r"all [\d,]+ rows of its recommendations.parquet name an item that the user has": SCRIPT.replace(
        "scores[dense > 0] = -np.inf", "scores[dense == 0] = -np.inf"
    ),
    "an item twice": SCRIPT.replace('"item": best[row, place]', '"item": best[row, 0]'),
}


@pytest.mark.slow
@pytest.mark.parametrize("sentence", BROKEN_SCRIPTS)
def test_a_script_that_fails_is_one_line(tmp_path, sentence):
    kind = described(tmp_path, BROKEN_SCRIPTS[sentence])
    with pytest.raises(RecAssayError, match=f"together: .*{sentence}".replace("ends with", "ended with")):
        answer(kind(), learnable_tastes()[0])


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("script =", "scrpt =", "script: Field required"),
        ('"together.py"', '"other.py"', "there is no script 'other.py' beside it"),
        ("default = 0.5", "default = 5.0", r"0.0 to 1.0 with the default 5.0 is not a range"),
        ("low = 0.0, ", "", "neither options nor a range"),
        ("[space]", "[space", "cannot be read as TOML"),
        ('numpy=={np.__version__}"', 'numpy>1"', "requires"),
    ],
)
def test_a_description_that_means_nothing_is_one_line(tmp_path, before, after, sentence):
    before = before.replace("{np.__version__}", np.__version__)
    with pytest.raises(InputError, match=sentence):
        described(tmp_path, description=DESCRIPTION.replace(before, after))


def test_an_environment_that_is_not_what_was_described(tmp_path):
    train = learnable_tastes()[0]
    other = described(tmp_path, description=DESCRIPTION.replace(f"numpy=={np.__version__}", "numpy==0.1"))
    with pytest.raises(InputError, match=rf"has \['numpy {np.__version__}'\], and the description requires numpy==0.1"):
        answer(other(), train)
    absent = described(tmp_path, description=DESCRIPTION.replace(repr(sys.executable), "'no/python'"))
    with pytest.raises(InputError, match="its interpreter cannot be started: No such file"):
        answer(absent(), train)


def test_what_a_description_fixes_comes_before_the_default_of_a_range(tmp_path, monkeypatch):
    asked = []

    def recommends(self, folder):
        asked.append(json.loads((folder / "request.json").read_text("utf-8"))["parameters"])
        pl.DataFrame({"user": [0] * 160, "item": range(160), "score": 1.0}).write_parquet(
            folder / "recommendations.parquet"
        )

    kind = described(tmp_path, description=DESCRIPTION.replace('"hello"', '"hello"\npower = 0.9'))
    monkeypatch.setattr(kind, "_run", recommends)
    for parameters in ({}, {"power": 0.2}):
        kind(**parameters).fit(learnable_tastes()[0], rng=np.random.default_rng(1))
    assert [each["power"] for each in asked] == [0.9, 0.2]
