"""Numbers of textbooks that the papers' methods rest on: Demšar's comparison, and the two LSAT tables."""

from __future__ import annotations

import numpy as np

from recassay.api.compare import compare
from recassay.api.logistic_irt import load_responses, logistic_irt
from recassay.api.reproduction.numbers import Numbers
from recassay.data.published.tables import published_results


def numbers() -> Numbers:
    """Demšar 2006, section 3.2; Bock and Lieberman 1970 as R's mirt and ltm fit them."""
    return _demsar() | _lsat("lsat7", "2pl") | _lsat("lsat6", "2pl") | _lsat("lsat6", "1pl")


def _demsar() -> Numbers:
    results = published_results("published:demsar")
    answer = compare(results, "auc")
    found: Numbers = {
        ("Demšar, section 3.2.4", name, "mean rank"): float(rank)
        for name, rank in zip(answer.algorithms, answer.mean_ranks, strict=True)
    }
    found["Demšar, section 3.2.4", "Friedman", "chi-square"] = float(answer.friedman.chi_square)
    found["Demšar, section 3.2.4", "Friedman", "F"] = float(answer.friedman.f)
    found["Demšar, section 3.2.4", "Nemenyi", "CD at 0.05"] = float(answer.nemenyi_cd)
    found["Demšar, section 3.2.4", "Nemenyi", "CD at 0.10"] = float(compare(results, "auc", alpha=0.10).nemenyi_cd)
    return found


def _lsat(name: str, model: str) -> Numbers:
    responses = load_responses(f"published:{name}")
    answer = logistic_irt(responses, model, priors=False, tolerance=1e-5, max_cycles=2000)  # type: ignore[arg-type]
    table = f"{name.upper()}, {model}"
    found: Numbers = {(table, "all", "log-likelihood"): float(answer.log_likelihood)}
    for i in range(len(answer.items.names)):
        found[table, f"item {i + 1}", "slope"] = float(answer.items.slope[i])
        found[table, f"item {i + 1}", "intercept"] = float(answer.items.intercept[i])
    for pattern in ((0, 0, 0, 0, 0), (1, 0, 1, 0, 1), (1, 1, 1, 1, 1)):
        who = np.flatnonzero((responses.codes == np.array(pattern)).all(axis=1))
        if who.size:
            said = "".join(map(str, pattern))
            found[table, said, "ability"] = float(answer.abilities.estimate[who[0]])
            found[table, said, "standard error"] = float(answer.abilities.standard_error[who[0]])
    return found
