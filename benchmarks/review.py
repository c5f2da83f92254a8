"""What `recassay review` finds: flags on synthetic papers without a slip, planted slips found, typed claims judged.

    python benchmarks/review.py [papers]

200 papers are made from true lists (five layouts, rounding, correct marks and percentages); none may have a *certain*
flag. Each of 12 kinds of slips is then planted in copies of them. The claims of `tests/support/claims.py` are typed
with their truth.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import recassay
from recassay.analysis.review.result import ReviewResult
from support.claims import CLAIMS, papers_of_claims
from support.papers import LAYOUTS, SLIPS, latex, make, plant


def reviewed(text: str, folder: Path) -> ReviewResult:
    """The review of a source."""
    place = folder / "paper.tex"
    place.write_text(text)
    return recassay.review(place)


def main(count: int) -> None:
    """Make, review, plant, count, print."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        clean: Counter[str] = Counter()
        read: Counter[bool] = Counter()
        for seed in range(count):
            made = make(np.random.default_rng(seed), LAYOUTS[seed % len(LAYOUTS)])
            result = reviewed(latex(made), folder)
            for certainty, flags in result.counted().items():
                clean[certainty] += flags
            entries = {(e.algorithm, e.dataset, e.metric): e.cell.text for e in result.tables[1].entries}
            short = {"HR": "hitrate", "NDCG": "ndcg"}
            truth = {(a, d, f"{short[m.split('@')[0]]}@{m.split('@')[1]}"): v for (a, d, m), v in made.printed.items()}
            read[entries == truth] += 1
            for flag in result.flags:
                clean[f"{flag.certainty}: {flag.code}"] += 1
        print(f"{count} papers without a slip: read right {read[True]}, flags {dict(clean)}")
        for slip in SLIPS:
            found, sure, tried = 0, 0, 0
            for seed in range(count):
                rng = np.random.default_rng([seed, 7])
                made = make(np.random.default_rng(seed), LAYOUTS[seed % len(LAYOUTS)])
                if tried >= 30 or (slip == "average" and made.averages is None):
                    continue
                before = {(f.code, f.table, f.cells[:1]) for f in reviewed(latex(made), folder).flags}
                if not plant(made, slip, rng):
                    continue
                tried += 1
                new = [f for f in reviewed(latex(made), folder).flags if (f.code, f.table, f.cells[:1]) not in before]
                found += bool(new)
                sure += any(f.certainty != "worth a look" for f in new)
            print(f"{slip:22s} found {found} of {tried}, surely {sure}")
        judged: Counter[tuple[str, str]] = Counter()
        for name, text in papers_of_claims().items():
            place = folder / f"{name}.tex"
            for paper, sentence, truth in CLAIMS:
                if paper == name:
                    place.write_text(text.replace("ABSTRACT", sentence.replace("%", r"\%")))
                    claims = recassay.review(place).claims
                    got = claims[0].standing if claims else "no claim"
                    judged[truth, got] += 1
                    if truth != got:
                        print(f"  {name}: {truth} -> {got}: {sentence}")
        print("claims by (truth, answer):", dict(judged))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
