"""One file a kind of result; the order here is the reading order of the verdict and of every report."""

from recassay.reporting.section import Section
from recassay.reporting.sections import (
    beta_irt,
    comparison,
    correlations,
    decodirt,
    glicko,
    logistic_irt,
    popularity,
    profiles,
    ranking,
    user_irt,
)

SECTIONS: tuple[Section, ...] = (
    ranking.SECTION,
    comparison.SECTION,
    profiles.SECTION,
    correlations.SECTION,
    beta_irt.SECTION,
    glicko.SECTION,
    logistic_irt.SECTION,
    user_irt.SECTION,
    popularity.SECTION,
    decodirt.SECTION,
)
