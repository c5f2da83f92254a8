"""The choice of a few datasets: how well each way keeps the ranking, honestly judged."""

from __future__ import annotations

from recassay.analysis.select.result import PRESERVING, SelectResult
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.reporting.numbers import p_text


def sentences(result: SelectResult, words: Vocabulary = USUAL) -> list[str]:
    """What a random choice keeps, and whether the best choice keeps more on what it did not see."""
    lines = []
    random, best = result.choices.get("random"), result.choices.get(PRESERVING)
    if random is not None and random.simulated is not None:
        left_out = random.left_out
        lines.append(
            f"{result.k} of the {len(result.datasets)} {words.datasets}, taken at random, rank in {result.metric} as "
            f"the other {len(result.datasets) - result.k} do with a Spearman correlation of {left_out.mean:.2f} on "
            f"average (middle 95 %: {left_out.low:.2f} to {left_out.high:.2f}; with all {len(result.datasets)}, which "
            f"contain them, {random.simulated.mean:.2f})."
        )
    if best is None:
        return lines
    named = ", ".join(best.datasets)
    held = best.held_out_algorithms
    if held is None or random is None or random.held_out_algorithms is None:
        lines.append(
            f"The choice that best preserves it ({named}) reaches {best.rho:.2f} on the numbers it was made on, which "
            "flatters it."
        )
        return lines
    p = 1.0 if best.held_out_p is None else best.held_out_p
    verdict = f"{'' if p < 0.05 else 'not '}better than random subsets ({p_text(p)})"
    lines.append(
        f"The choice that best preserves it ({named}) reaches {best.rho:.2f} on the numbers it was made on; chosen on "
        f"one half of the {words.algorithms} and judged by the other on the {words.datasets} left out, such a choice "
        f"reaches {held.mean:.2f}, a random one {random.held_out_algorithms.mean:.2f}: {verdict}."
    )
    return lines
