"""One file a kind of result; the order here is the reading order of the verdict and of every report."""

from recassay.reporting.section import Section
from recassay.reporting.sections import (
    beta_irt,
    comparison,
    correlations,
    cost,
    glicko,
    logistic_irt,
    pareto,
    per_dataset,
    profiles,
    ranking,
)

SECTIONS: tuple[Section, ...] = (
    ranking.SECTION,
    comparison.SECTION,
    profiles.SECTION,
    correlations.SECTION,
    beta_irt.SECTION,
    glicko.SECTION,
    logistic_irt.SECTION,
    pareto.SECTION,
    per_dataset.SECTION,
    cost.SECTION,
)
