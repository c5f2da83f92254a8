"""What classifiers answered on the test instances of a dataset: respondents are classifiers, items are instances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recassay.core.tables.responses import Responses


@dataclass(frozen=True, slots=True, eq=False)
class InstanceResponses:
    """The responses on one dataset (Cardoso et al., "Enhancing Classifier Evaluation", 4.2.1).

    Respondents are classifier names, items test instances named `r<row number in the file>`. `roles` says of each
    respondent what it is: "real", "artificial" or "mlp"; `truth` holds the class of each item. `metadata` holds the
    properties of section 5.1 under their OpenML names, of the whole table: NumberOfClasses, NumberOfInstances,
    NumberOfFeatures, ClassEntropy, Dimensionality, PercentageOfInstancesWithMissingValues, MajorityClassPercentage and
    MinorityClassPercentage.
    """

    dataset: str
    responses: Responses
    """Who classified which test instance right."""
    roles: tuple[str, ...]
    truth: tuple[str, ...] | None
    metadata: Mapping[str, float]
