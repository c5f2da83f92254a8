"""Xu et al., Bi-directional Item Response Theory, WWW Companion 2025: Table 4 from the published matrices.

The estimator is the paper's (squared error of the curves), with the priors that make it settle: the paper's own is not
identified, and its values hang on the seed (see the page on beta-IRT).
"""

from __future__ import annotations

from recassay.api.beta_irt import beta_irt
from recassay.api.reproduction.numbers import Numbers
from recassay.data.published.tables import published_results

NAME = "published:bi-reirt"


def numbers() -> Numbers:
    """Names and values of the places that Table 4 prints, for the two metrics whose matrices are here."""
    results = published_results(NAME)
    found: Numbers = {}
    for metric in ("ndcg@10", "hitrate@10"):
        answer = beta_irt(results, metric, estimator="bi-reirt")
        for trait in ("ability", "challenge"):
            told = answer.trait(trait)
            for place, i in enumerate(told.order(), start=1):
                found["Table 4", f"{trait}, place {place}", f"{metric}, name"] = told.names[i]
                found["Table 4", f"{trait}, place {place}", f"{metric}, value"] = float(told.estimate[i])
            if metric == "ndcg@10":
                found["section 3.2", trait, "lowest"] = float(told.estimate.min())
                found["section 3.2", trait, "highest"] = float(told.estimate.max())
    return found
