"""Which classifiers were right on which test instances of one dataset, and what is known of the dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recassay.core.errors import InputError, listing
from recassay.core.responses import Responses

ROLES = ("real", "artificial", "mlp")
"""What a respondent is: a classifier under study, an artificial one, or a network of the portfolio of MLPs."""

METADATA = (
    "NumberOfClasses",
    "NumberOfInstances",
    "NumberOfFeatures",
    "ClassEntropy",
    "Dimensionality",
    "PercentageOfInstancesWithMissingValues",
    "MajorityClassPercentage",
    "MinorityClassPercentage",
)
"""The eight properties of a dataset by their OpenML names (Cardoso et al., section 5.1)."""


@dataclass(frozen=True, slots=True, eq=False)
class InstanceResponses:
    """The responses of classifiers (`responses.respondents`) on the test instances (`responses.items`) of a dataset.

    An item is named `r<row>` after its row in the file. `roles` has one of `ROLES` for each respondent, `truth` the
    class of each item where it is known, `metadata` the properties of `METADATA` that are known.
    """

    dataset: str
    responses: Responses
    roles: tuple[str, ...]
    truth: tuple[str, ...] | None
    metadata: Mapping[str, float]

    def __post_init__(self) -> None:
        if len(self.roles) != len(self.responses.respondents):
            raise ValueError(f"{len(self.roles)} roles for {len(self.responses.respondents)} respondents")
        if self.truth is not None and len(self.truth) != len(self.responses.items):
            raise ValueError(f"{len(self.truth)} classes for {len(self.responses.items)} items")
        strange = sorted(set(self.roles) - set(ROLES))
        if strange:
            raise InputError(
                f"{listing(map(repr, strange))} is no role of a respondent",
                where=self.dataset,
                fix=f"use one of {', '.join(ROLES)}",
            )
