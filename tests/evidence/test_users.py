"""Per-user scores of a study as responses."""

from __future__ import annotations

import pytest

from recassay.evidence.users import user_responses
from recassay.store import Store
from support.stores import DoneCell, write_store

HITS = {("EASE", 5): [1, 1, 0, 0], ("EASE", 3): [0, 0, 1, 1], ("Pop", 5): [1, 0, 0, 0], ("Pop", 3): [0, 1, 1, 1]}


def answers(folder, order):
    """The responses of a study that has the cells of `HITS` in this order."""
    cells = [DoneCell(algorithm, "films", HITS[algorithm, seed], seed) for algorithm, seed in order]
    write_store(folder, "hitrate@10", cells)
    with Store.open(folder) as store:
        label, tables = user_responses(store)
    assert label == "hitrate@10"
    assert list(tables["films"].items) == ["u1", "u2", "u3", "u4"]
    return dict(zip(tables["films"].respondents, tables["films"].codes.tolist(), strict=True))


@pytest.mark.parametrize("first", [5, 3])
def test_of_two_seeds_the_first_of_the_study_answers(tmp_path, first):
    found = answers(tmp_path / "study", sorted(HITS, key=lambda cell: cell[1] != first))
    assert found == {"EASE": HITS["EASE", first], "Pop": HITS["Pop", first]}


def test_an_algorithm_whose_first_seed_failed_answers_with_the_next(tmp_path):
    found = answers(tmp_path / "study", [cell for cell in HITS if cell != ("EASE", 5)])
    assert found == {"EASE": HITS["EASE", 3], "Pop": HITS["Pop", 5]}
