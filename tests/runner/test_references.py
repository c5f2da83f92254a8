"""What a dataset of a study is known by: its content, and how it is read."""

from __future__ import annotations

import pytest

from recassay.core.specs.specs import ReadSpec
from recassay.core.specs.study import DatasetSpec
from recassay.runner.references import dataset_version, part_labels


@pytest.mark.parametrize(
    "read",
    [
        {"repeated": "sum"},
        {"time": "ignore"},
        {"columns": {"user": "item", "item": "user"}},
        {"skip_bad_rows": True},
        {"event_weights": "inverse_frequency"},
    ],
    ids=lambda read: next(iter(read)),
)
def test_a_file_read_in_another_way_is_another_dataset(tmp_path, read):
    """The same bytes can give other interactions, so that cells of the first reading must not stand for the second."""
    (tmp_path / "films.csv").write_text("user,item,timestamp\nu1,i1,5\nu1,i1,6\n")
    plain = DatasetSpec(reference="./films.csv", name="films")
    other = DatasetSpec(reference="./films.csv", name="films", read=ReadSpec(**read))
    again = DatasetSpec(reference="./films.csv", name="another name")
    assert dataset_version(other, str(tmp_path)) != dataset_version(plain, str(tmp_path))
    assert dataset_version(again, str(tmp_path)) == dataset_version(plain, str(tmp_path))


def test_a_file_names_its_algorithm(tmp_path):
    (tmp_path / "mine.py").write_text(
        "raise SystemExit('not executed')\n"
        "class Named:\n    name: str = 'My model'\n"
        "class Plain:\n    pass\n"
        "Other = recassay.wrap(Plain, name='Wrapped')\n"
        "class Computed:\n    name = 'a' + 'b'\n"
        "class Bad:\n    name = 'a/b'\n"
    )
    (tmp_path / "lib.toml").write_text('name = "implicit ALS"\n')
    files = ["./mine.py:Named", "./mine.py:Plain", "./mine.py:Other", "./mine.py:Computed", "./mine.py:Bad"]
    labels = part_labels([*files, "./lib.toml", "./gone.toml"], str(tmp_path))
    assert labels == ["My model", "Plain", "Wrapped", "Computed", "Bad", "implicit ALS", "gone"]
