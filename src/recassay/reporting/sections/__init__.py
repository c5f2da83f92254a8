"""One file a kind of result; the order here is the reading order of the verdict and of every report."""

from recassay.reporting.section import Section
from recassay.reporting.sections import (
    advice,
    beta_irt,
    clusters,
    comparison,
    comper,
    correlations,
    decodirt,
    glicko,
    logistic_irt,
    metadata,
    popularity,
    profiles,
    ranking,
    selection,
    stress,
    user_irt,
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
    comper.SECTION,
    popularity.SECTION,
    metadata.SECTION,
    clusters.SECTION,
    selection.SECTION,
    advice.SECTION,
    user_irt.SECTION,
    decodirt.SECTION,
)
