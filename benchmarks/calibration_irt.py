"""How often the 95 % intervals of beta-IRT and of the 3PL hold the truth, also where the model is not true.

    python benchmarks/calibration_irt.py [--tables 40]

Every share is a mean over tables, with its standard error: the intervals of one table hold or fail together.
"""

from __future__ import annotations

import argparse

import numpy as np
from calibration_model import share
from scipy.special import expit, logit

from recassay.analysis.beta_irt.fit import fit_beta_irt
from recassay.analysis.beta_irt.model import characteristic_curve
from recassay.analysis.logistic_irt.fit import fit_logistic
from recassay.analysis.logistic_irt.model import probabilities
from recassay.core.tables.responses import LogisticItems, Responses

BETA_KINDS = ("own density", "own density, slopes N(1, 0.5)", "own precision", "logit-normal", "mixed", "two abilities")
"""How responses scatter about the characteristic curve. The first three are densities that an estimator fits (the
second has slopes that are less spread than the prior of them), the others follow none: normal on the logit scale; Beta
with a precision that differs by dataset; and normal with a second, hidden trait beside the ability."""


def simulated(
    n: int, m: int, *, guessing: bool, negative: float, seed: int
) -> tuple[Responses, np.ndarray, LogisticItems]:
    """Responses, abilities and items: log-normal discriminations, Normal(0, 1) difficulties, Beta(5, 17) guessing."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=n)
    a = np.exp(rng.normal(0.2, 0.35, m)) * np.where(rng.random(m) < negative, -1, 1)
    c = rng.beta(5, 17, m) if guessing else np.zeros(m)
    items = LogisticItems.from_difficulty([f"i{i}" for i in range(m)], a, rng.normal(0, 1, m), c)
    codes = np.empty((n, m), dtype=np.uint8)
    for part in range(0, m, 5000):
        at = slice(part, part + 5000)
        p = probabilities(theta, items.take(at))
        codes[:, at] = rng.random(p.shape) < p
    return Responses(codes, tuple(f"r{i}" for i in range(n)), items.names), theta, items


def responses(kind: str, n: int, m: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A table of n algorithms x m datasets, and the abilities."""
    theta, delta = rng.uniform(0.05, 0.95, n), rng.uniform(0.05, 0.95, m)
    a = rng.normal(1.0, 0.5 if "0.5" in kind else 1.0, m)
    if kind.startswith("own density"):
        alpha, beta = (theta[:, None] / delta) ** a, ((1 - theta[:, None]) / (1 - delta)) ** a  # equation 1
        values = rng.beta(alpha, beta)
    else:
        curve = np.clip(characteristic_curve(theta[:, None], delta, a), 1e-4, 1 - 1e-4)
        if kind == "own precision":
            values = rng.beta(30 * curve, 30 * (1 - curve))
        elif kind == "logit-normal":
            values = expit(logit(curve) + 0.5 * rng.standard_normal(curve.shape))
        elif kind == "mixed":
            precision = np.exp(rng.normal(3.0, 1.0, m))
            values = rng.beta(precision * curve, precision * (1 - curve))
        else:
            other = 0.4 * np.outer(rng.standard_normal(n), rng.standard_normal(m))
            values = expit(logit(curve) + other + 0.2 * rng.standard_normal(curve.shape))
    return np.clip(values, 1e-6, 1 - 1e-6), theta


def beta_table(kind: str, n: int, m: int, seed: int) -> float:
    """The share of abilities that the intervals of one table hold."""
    values, theta = responses(kind, n, m, np.random.default_rng([16, BETA_KINDS.index(kind), n, m, seed]))
    names = tuple(f"a{i}" for i in range(n)), tuple(f"d{j}" for j in range(m))
    ability = fit_beta_irt(values, *names).trait("ability")
    return float(((ability.low <= theta) & (theta <= ability.high)).mean())


def three_pl_table(n: int, m: int, seed: int, *, easy: bool = False) -> dict[str, float]:
    """The share of each parameter of a 3PL that its intervals hold; with `easy`, guessing is rarer than its prior."""
    answers, theta, items = simulated(n, m, guessing=True, negative=0.0, seed=10_000 * n + 10 * seed + easy)
    if easy:
        rng = np.random.default_rng([17, n, m, seed])
        theta, a, b = rng.normal(size=n), np.exp(rng.normal(0.0, 0.4, m)), rng.normal(0, 1, m)
        c = rng.uniform(0.0, 0.3, m)
        items = LogisticItems.from_difficulty(answers.items, a, b, c)
        p = c + (1 - c) * expit(a * (theta[:, None] - b))
        answers = Responses((rng.random(p.shape) < p).astype(np.uint8), answers.respondents, answers.items)
    found = fit_logistic(answers, "3pl")
    truth = {"a": items.slope, "b": items.difficulty, "c": items.guessing}
    ends = {name: found.item_intervals[:, k] for k, name in enumerate("abc")} | {"ability": found.ability_intervals}
    truth["ability"] = theta
    return {
        name: float(((low_high[:, 0] <= truth[name]) & (truth[name] <= low_high[:, 1])).mean())
        for name, low_high in ends.items()
    }


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=40)
    tables = parser.parse_args().tables
    print("beta-IRT, 10 algorithms x 20 datasets: abilities held")
    for kind in BETA_KINDS:
        print(f"  {kind}: {share([beta_table(kind, 10, 20, seed) for seed in range(tables)])}", flush=True)
    print("3PL: discrimination / difficulty / guessing / ability held")
    for n, m in ((139, 60), (500, 60)):
        for easy in (False, True):
            rows = [three_pl_table(n, m, seed, easy=easy) for seed in range(tables)]
            held = " / ".join(share([row[name] for row in rows]) for name in ("a", "b", "c", "ability"))
            print(f"  {n} x {m}{', guessing uniform to 0.3' if easy else ''}: {held}", flush=True)


if __name__ == "__main__":
    main()
