"""The page on classifiers says what is true: its study file is valid and its classifier runs."""

from __future__ import annotations

import gzip
import re

import pytest

import recassay
from recassay.classifiers.study_file import ARTIFICIAL, REAL, load_classify_study
from support.classify import tiny_table
from support.places import ROOT

PAGE = (ROOT / "docs" / "classify.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)


@pytest.mark.usefixtures("in_process")
def test_the_study_file_and_the_classifier_of_the_page(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "first.csv.gz").write_bytes(gzip.compress(tiny_table().write_csv().encode()))
    named = {"class": "diagnosis", "second": "region", "first": "patient"}
    tiny_table(seed=1).rename(named).write_parquet(tmp_path / "mine.parquet")
    (tmp_path / "mymodel.py").write_text(blocks("python")[0])
    text = blocks("toml")[0].replace(', "openml:1049", "openml-suite:99"', "")
    (tmp_path / "tables.toml").write_text(text)
    study = load_classify_study(tmp_path / "tables.toml")
    assert [table.name for table in study.datasets] == ["first", "mine"]
    assert [one.name for one in study.classifiers[:20]] == [*REAL, *ARTIFICIAL, "MyModel"]
    assert study.classifiers[10].settings == {"C": 10.0}
    own = study.model_copy(update={"classifiers": (study.classifiers[19],)})
    assert recassay.classify(own, tmp_path / "tables", workers=1).done == 2


def test_the_other_mlps_of_the_page(tmp_path):
    tiny_table().write_csv(tmp_path / "one.csv")
    (tmp_path / "tables.toml").write_text('[study]\ndatasets = ["one.csv"]\n' + blocks("toml")[1])
    grown = [one for one in load_classify_study(tmp_path / "tables.toml").classifiers if one.role == "mlp"]
    assert [one.settings for one in grown] == [{"max_iter": number} for number in range(1, 121)]


def test_every_classifier_is_on_the_page():
    short = PAGE.replace(", -3, -5 and -8", ", KNeighbors-3, KNeighbors-5, KNeighbors-8")
    short = short.replace("RandomForest-3, -5", "RandomForest-3, RandomForest-5")
    assert [name for name in (*REAL, *ARTIFICIAL) if name not in short] == []
