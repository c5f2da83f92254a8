"""The derivation of ComPer's matrix, step by step."""

from __future__ import annotations

from recassay.analysis.comper.result import Derivation
from recassay.reporting.section import Figure, Section, Table


def sentences(result: Derivation) -> list[str]:
    """How many pairs of a dimension and an objective the experts and the similarities agree on."""
    found = result.to_dict()
    return [
        f"{found['agree_after_matching_1']} pairs agree after matching 1, {found['agree_after_matching_2']} after "
        "matching 2; the others take the mean similarity of their mean label."
    ]


def tables(result: Derivation) -> list[Table]:
    """The label of every step, and the matrix."""
    frames = result.frames()
    matrix = frames.pop("comper_matrix")
    shown = [
        Table(
            name.removeprefix("comper_").replace("_", " ").capitalize(),
            frame.columns,
            [[value if isinstance(value, str) else f"{value:.3f}" for value in row] for row in frame.iter_rows()],
        )
        for name, frame in frames.items()
    ]
    weighed = [[name, *(f"{value:.4f}" for value in row), f"{sum(row):.4f}"] for name, *row in matrix.iter_rows()]
    title = "Matrix (Table 8), and the weight of each dimension, the sum of its row"
    return [*shown, Table(title, [*matrix.columns, "weight"], weighed, important=["weight"])]


def figures(result: Derivation) -> list[Figure]:
    """None: the tables are the derivation."""
    return []


SECTION = Section(Derivation, "ComPer's matrix", "beyond accuracy", "comper", figures, sentences, tables, order=25)
