"""The correlation matrix of ComPer between evaluation dimensions and Bloom's learning objectives, and its derivation.

Alslaity and Tran, ComPer: a comprehensive performance evaluation method for recommender systems, IJITCS 11(12), 2019,
section IV.C. The matrix (Table 8) is not fitted to data. Three experts label each pair of dimension and objective as N
(no), P (partial) or S (strong correlation), and their labels are merged (Table 2). The definitions of both give a Dice
similarity (Table 3), which is labelled as well (equation 2, Table 4). Pairs with two equal labels are settled (Table
5); a fourth expert labels the others (Table 6), and those that now agree with the Dice label are settled too (Table 7).
A settled pair keeps its Dice value, an open one takes the mean Dice value of the label that the mean of its three
labels gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from recassay.core.errors import InputError, UsageError
from recassay.core.system.display import Displayed
from recassay.core.tables.sources import Source
from recassay.core.tabular import by_name, long_frame
from recassay.core.types import BoolArray, FloatArray, IntArray

DIMENSIONS = ("correctness", "coverage", "diversity", "robustness", "scalability")
OBJECTIVES = ("remember", "understand", "apply", "analyze", "evaluate", "create")
NEGATIVE_DIMENSIONS = ("robustness", "scalability")
"""Dimensions whose higher values are worse (section IV.E): a shift under attack, and a time."""

LABELS = "NPS"
"""N (no), P (partial) and S (strong correlation), in rising order; a label is its place here, -1 a missing one."""

DIMENSION = "dimension"

EXPERT_LABELS = ("PPPSSS", "SPSPSS", "SSPSPS", "PPSSSP", "SNSPPN")
"""Table 2: the merged labels of three experts; one row per dimension, one letter per objective."""

DICE_SIMILARITY = (
    (0.075, 0.094, 0.079, 0.079, 0.096, 0.038),
    (0.047, 0.040, 0.078, 0.093, 0.103, 0.091),
    (0.067, 0.090, 0.102, 0.135, 0.107, 0.111),
    (0.052, 0.077, 0.045, 0.113, 0.094, 0.086),
    (0.060, 0.081, 0.159, 0.136, 0.138, 0.101),
)
"""Table 3: similarity of the definitions."""

FOURTH_LABELS = ("-S-P-N", "PNPN--", "P-N-P-", "--P--N", "PN-NNP")
"""Table 6: what the fourth expert said of the pairs that Table 5 leaves open."""


@dataclass(frozen=True, slots=True, eq=False)
class CorrelationMatrix:
    """`values[d, o]`: how strongly dimension d (one of `DIMENSIONS`, in that order) stands for objective o."""

    values: FloatArray
    objectives: tuple[str, ...] = OBJECTIVES
    """Names of the learning objectives, in the order of the columns."""
    name: str = "Table 8"

    @property
    def weights(self) -> FloatArray:
        """The weight of each dimension in the score: the sum of its row. Nothing else of the matrix enters it."""
        return self.values.sum(axis=1)

    def to_frame(self) -> pl.DataFrame:
        """One row per dimension, one column per objective: the shape that `matrix_from_frame` reads."""
        return long_frame({DIMENSION: DIMENSIONS}, {self.objectives: self.values})

    def to_dict(self) -> dict[str, Any]:
        """By dimension, the value of each objective."""
        nested: dict[str, Any] = by_name(self.values, DIMENSIONS, self.objectives)
        return nested


def label_table(rows: Sequence[str]) -> IntArray:
    """Rows of letters (`PPPSSS`) as places in `LABELS`; `-` becomes -1."""
    return np.array([[LABELS.find(letter) for letter in row.upper()] for row in rows], dtype=np.int64)


def letters(labels: IntArray | BoolArray, alphabet: str = LABELS) -> list[str]:
    """The inverse of `label_table`: each place in the `alphabet` as its letter."""
    return ["".join("-" if label < 0 else alphabet[label] for label in row) for row in labels.astype(np.int64)]


def mean_label(labels: IntArray) -> IntArray:
    """The mean rule of section IV.C over the first axis, three labels each: the label that two share, else P.

    N, P and S as 0, 1 and 2 make this the median.
    """
    return np.median(labels, axis=0).astype(np.int64)


def likert_labels(ratings: FloatArray) -> IntArray:
    """Ratings from 1 (weakest) to 5 as labels: 1 is N, 5 is S, what lies between is P; NaN (not rated) is -1."""
    bad = (ratings < 1) | (ratings > 5)
    if bad.any():
        raise InputError(
            f"{ratings[bad][0]:g} is not a rating from 1 to 5", fix="rate from 1 (weakest) to 5 (strongest)"
        )
    labels = np.where(ratings == 1, 0, np.where(ratings == 5, 2, 1))
    return np.where(np.isfinite(ratings), labels, -1).astype(np.int64)


def similarity_labels(similarity: FloatArray) -> IntArray:
    """Equation (2): with d = max - min, N up to d/3, S from 2d/3, P between.

    The bounds are thirds of the range d counted from zero and not from the minimum, as the paper prints and applies
    them (Table 4). A value of exactly d/3, which the equation gives to both N and P, is N.
    """
    third = (similarity.max() - similarity.min()) / 3
    return np.where(similarity <= third, 0, np.where(similarity >= 2 * third, 2, 1)).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Derivation(Displayed):
    """Every step from the experts' labels to the matrix; arrays are dimensions x objectives.

    A label is 0 for N (no), 1 for P (partial), 2 for S (strong correlation), -1 for none.
    """

    expert: IntArray
    """The merged labels of three experts (Table 2)."""
    similarity: FloatArray
    """The Dice similarity of the definitions (Table 3)."""
    fourth: IntArray
    """The labels of the fourth expert, who is asked where the first matching leaves a pair open (Table 6); -1
    elsewhere."""
    from_similarity: IntArray
    """The labels of the similarities by equation 2 (Table 4)."""
    first_match: BoolArray
    """Where the experts' label is that of the similarity: the pair is settled (Table 5)."""
    second_match: BoolArray
    """Where it is, or the fourth expert's label is (Table 7)."""
    final: IntArray
    """The label that each pair ends with."""
    matrix: CorrelationMatrix
    """The values that follow (Table 8)."""
    sources: tuple[Source, ...] = ()
    """The files that the tables came from."""

    def frames(self) -> dict[str, pl.DataFrame]:
        """The tables by file name, those of the paper's Tables 2 to 8 in its order."""
        return {
            "comper_matrix": self.matrix.to_frame(),
            "comper_table_2_experts": self._lettered(self.expert),
            "comper_table_3_similarity": CorrelationMatrix(self.similarity, self.matrix.objectives).to_frame(),
            "comper_table_4_labels": self._lettered(self.from_similarity),
            "comper_table_5_matching": self._lettered(self.first_match, "XO"),
            "comper_table_6_fourth": self._lettered(self.fourth),
            "comper_table_7_matching": self._lettered(self.second_match, "XO"),
            "comper_final_labels": self._lettered(self.final),
        }

    def to_frame(self) -> pl.DataFrame:
        """The matrix."""
        return self.matrix.to_frame()

    def to_dict(self) -> dict[str, Any]:
        """The matrix, and for every step the rows of letters by dimension."""
        steps = {
            "experts": self.expert,
            "similarity_labels": self.from_similarity,
            "fourth": self.fourth,
            "final_labels": self.final,
        }
        return {
            "objectives": list(self.matrix.objectives),
            "matrix": self.matrix.to_dict(),
            "weights": dict(zip(DIMENSIONS, self.matrix.weights.tolist(), strict=True)),
            "agree_after_matching_1": int(self.first_match.sum()),
            "agree_after_matching_2": int(self.second_match.sum()),
            **{name: dict(zip(DIMENSIONS, letters(labels), strict=True)) for name, labels in steps.items()},
        }

    def _lettered(self, labels: IntArray | BoolArray, alphabet: str = LABELS) -> pl.DataFrame:
        rows = np.array([list(row) for row in letters(labels, alphabet)])
        return long_frame({DIMENSION: DIMENSIONS}, {self.matrix.objectives: rows})


def derive_matrix(
    expert: IntArray | None = None,
    similarity: FloatArray | None = None,
    fourth: IntArray | None = None,
    *,
    objectives: Sequence[str] = OBJECTIVES,
) -> Derivation:
    """The matrix from merged expert labels (Table 2), Dice similarities (Table 3) and the fourth expert's labels
    (Table 6, -1 where not asked); what is not given is the paper's own table.

    Matching 1 settles the pairs where the expert label equals the label of the similarity (Table 5), matching 2 those
    of the rest where the fourth expert's label does (Table 7). A settled pair has its similarity as value. An open one
    gets the mean label of its three labels, and as value the mean similarity of all pairs that equation (2) puts under
    that label. With the paper's tables this is Table 8 to its three digits (0.0659 is printed as 0.066).
    """
    expert = label_table(EXPERT_LABELS) if expert is None else expert
    similarity = np.array(DICE_SIMILARITY) if similarity is None else similarity
    fourth = label_table(FOURTH_LABELS) if fourth is None else fourth
    shape = (len(DIMENSIONS), len(objectives))
    if not expert.shape == similarity.shape == fourth.shape == shape:
        raise UsageError(
            f"labels {expert.shape}, similarities {similarity.shape} and fourth labels {fourth.shape} differ in shape",
            fix=f"give {shape[0]} dimensions x {shape[1]} objectives each",
        )
    if (expert < 0).any():
        raise InputError("an expert label is missing", fix="give N, P or S for every pair")
    by_similarity = similarity_labels(similarity)
    first = expert == by_similarity
    unasked = ~first & (fourth < 0)
    if unasked.any():
        d, o = (int(axis[0]) for axis in np.nonzero(unasked))
        raise InputError(
            f"the fourth expert says nothing of {DIMENSIONS[d]} and {objectives[o]}, where experts and similarity "
            f"differ ({int(unasked.sum())} such pairs)",
            fix="give N, P, S or a rating from 1 to 5 for each",
        )
    second = first | (fourth == by_similarity)
    final = np.where(second, by_similarity, mean_label(np.stack([expert, by_similarity, fourth])))
    values = similarity.astype(np.float64, copy=True)
    for label in np.unique(final[~second]):
        alike = by_similarity == label
        if not alike.any():
            raise InputError(
                f"an open pair is {LABELS[label]}, and no similarity is", fix="give other definitions or labels"
            )
        values[~second & (final == label)] = similarity[alike].mean()
    return Derivation(
        expert, similarity, np.where(first, -1, fourth), by_similarity, first, second, final,
        CorrelationMatrix(values, tuple(objectives), "derived"),
    )  # fmt: skip


def published_matrix(*, printed: bool = False) -> CorrelationMatrix:
    """Table 8. The seven values printed there as 0.066 are 0.0659 in the derivation; `printed` takes the three digits.

    Scores differ by at most 0.0007 between the two.
    """
    derived = derive_matrix().matrix
    if printed:
        return CorrelationMatrix(np.round(derived.values, 3), name="Table 8, as printed")
    return replace(derived, name="Table 8")
