"""Alslaity and Tran, ComPer, IJITCS 2019: the matrix from the printed labels and similarities, and the scores."""

from __future__ import annotations

from recassay.api.comper import comper, comper_matrix
from recassay.api.reproduction.numbers import Numbers
from recassay.data.published.tables import published_results

NAME = "published:comper"
_TABLES = {
    "Table 4": "comper_table_4_labels",
    "Table 5": "comper_table_5_matching",
    "Table 7": "comper_table_7_matching",
    "Table 8": "comper_matrix",
}


def numbers() -> Numbers:
    """Tables 4, 5, 7, 8 and 13, and the counts of the text."""
    derived = comper_matrix()
    frames = derived.frames()
    found: Numbers = {}
    for table, name in _TABLES.items():
        for row in frames[name].iter_rows(named=True):
            dimension = row.pop("dimension")
            for objective, cell in row.items():
                found[table, dimension, objective] = float(cell) if table == "Table 8" else str(cell)
    pairs = derived.first_match.size
    settled, in_the_end = int(derived.first_match.sum()), int(derived.second_match.sum())
    found["section IV.C", "range of similarity", "d"] = float(derived.similarity.max() - derived.similarity.min())
    found["section IV.C", "agree after step II", "percent"] = 100 * settled / pairs
    found["section IV.C", "conflicts after step II", "pairs"] = float(pairs - settled)
    found["section IV.C", "conflicts resolved", "pairs"] = float(in_the_end - settled)
    found["section IV.C", "confirmed", "pairs"] = float(in_the_end)
    found["section IV.C", "left open", "pairs"] = float(pairs - in_the_end)
    answer = comper(published_results(NAME), draws=1)
    for a, algorithm in enumerate(answer.table.algorithms):
        for s, setting in enumerate(answer.table.datasets):
            found["Table 13", algorithm, setting] = float(answer.scores[a, s])
    return found
