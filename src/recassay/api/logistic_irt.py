"""The verb `logistic_irt`: respondents and items of a binary table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from recassay.analysis.logistic_irt.fit import fit_logistic, score_logistic
from recassay.analysis.logistic_irt.result import LogisticResult
from recassay.api.arguments import checked
from recassay.api.inputs import ResponsesLike
from recassay.core.choices import AbilityMethod, Advanced, Level, LogisticEstimator, LogisticModel
from recassay.core.tables.responses import Responses
from recassay.data.published.tables import is_published, published_responses
from recassay.data.tables.responses import read_items, read_responses

if TYPE_CHECKING:
    from recassay.analysis.logistic_irt.priors import ItemPriors


@checked
def load_responses(source: ResponsesLike) -> Responses:
    """A binary response table from a path, a frame, an array or a published table: see
    `data.tables.responses.read_responses`.

    Args:
        source: file, frame, array, or a name such as `published:lsat7`.
    """
    return published_responses(source) if is_published(source) else read_responses(source)


@checked
def logistic_irt(
    responses: ResponsesLike,
    model: LogisticModel = "2pl",
    *,
    items: Any = None,
    estimator: Annotated[LogisticEstimator, Advanced] = "mml",
    priors: Annotated[ItemPriors | bool | None, Advanced] = None,
    ability: Annotated[AbilityMethod | None, Advanced] = None,
    confidence: Level = 0.95,
    tolerance: Annotated[float, Advanced] = 1e-4,
    max_cycles: Annotated[int, Advanced] = 500,
) -> LogisticResult:
    """Items, abilities and true scores of a binary table under the 1PL, 2PL or 3PL.

    With known items nothing but the abilities is estimated, by maximum likelihood unless `ability` says otherwise.

    Args:
        responses: file or frame (first column respondent, one 0/1 column per item, empty for missing), array, or loaded
            responses.
        model: `1pl`, `2pl` or `3pl`.
        items: known items (item, discrimination, difficulty, guessing): abilities only.
        estimator: marginal likelihood (`mml`), or `birnbaum`.
        priors: on or off, or an `ItemPriors`; by default for the 3PL, and for the 2PL below 50 respondents.
        ability: `ml`, `map` or `eap`; by default `eap`, and `ml` with `items`.
        confidence: level of the intervals.
        tolerance: largest change of a parameter at the end.
        max_cycles: most cycles of the estimation.
    """
    table = load_responses(responses)
    if items is not None:
        return score_logistic(table, read_items(items), model, ability=ability, confidence=confidence)
    return fit_logistic(
        table, model, estimator=estimator, priors=priors, ability=ability, confidence=confidence, tolerance=tolerance,
        max_cycles=max_cycles,
    )  # fmt: skip
