"""One file a kind of result; the order here is the reading order of the verdict and of every report."""

from recassay.reporting.section import Section
from recassay.reporting.sections import (
    advice,
    beta_irt,
    clusters,
    comparison,
    comper,
    correlations,
    cost,
    glicko,
    logistic_irt,
    metadata,
    pareto,
    per_dataset,
    popularity,
    profiles,
    ranking,
    selection,
    stress,
)

SECTIONS: tuple[Section, ...] = (
    ranking.SECTION,
    comparison.SECTION,
    profiles.SECTION,
    stress.SECTION,
    correlations.SECTION,
    beta_irt.SECTION,
    glicko.SECTION,
    logistic_irt.SECTION,
    pareto.SECTION,
    comper.SECTION,
    popularity.SECTION,
    per_dataset.SECTION,
    metadata.SECTION,
    clusters.SECTION,
    selection.SECTION,
    advice.SECTION,
    cost.SECTION,
)
