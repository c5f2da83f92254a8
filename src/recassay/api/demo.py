"""The verb `demo`: the main job on embedded data, with no network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from recassay.api.arguments import checked
from recassay.api.publish.analyze import analyze
from recassay.api.publish.content import AnalysisReport
from recassay.api.study.studies import make_study, run
from recassay.core.choices import Workers
from recassay.recommenders.study import Event

DATASETS = ("dense-small", "sparse-large", "few-items", "long-tail", "drifting", "near-random", "heavy-users",
            "ratings-explicit", "cold-catalogue", "niche-tastes", "blockbuster", "few-items@2")  # fmt: skip
ALGORITHMS = ("Random", "MostPop", "RecentPop", "ItemKNN", "UserKNN", "EASE", "SLIM", "ALS", "BPR", "WARP", "PureSVD",
              "PLSA")  # fmt: skip
METRICS = ("ndcg@10", "hitrate@10", "recall@10", "mrr@10", "coverage@10", "novelty@10", "popularity@10")
TRIALS = 3
SETTINGS = {
    "ALS": {"factors": 64},
    "BPR": {"factors": 64, "iterations": 50},
    "WARP": {"components": 32, "epochs": 20},
}
"""Smaller models than the defaults, which are made for real data: on a few thousand events they cost two thirds of the
demo's time. They stand in the study file, and so in the report."""


@checked
def demo(
    out: str | Path = "recassay-demo",
    *,
    datasets: Sequence[str] = DATASETS,
    algorithms: Sequence[str] = ALGORITHMS,
    trials: int = TRIALS,
    workers: Workers | None = None,
    progress: Callable[[Event], None] | None = None,
    seed: int = 1,
) -> AnalysisReport:
    """A study of algorithms on embedded synthetic datasets, every analysis, and the report with its figures in `out`.

    The page, `out/report.html`, is the first of the files; the study itself lies in `out/study`; running the demo again
    resumes it.

    Args:
        out: folder for the study and the report.
        datasets: embedded presets.
        algorithms: registered names.
        trials: tuning trials per algorithm and dataset.
        workers: processes at a time; by default one per core.
        progress: called with every event of the run.
        seed: the same seed gives the same numbers.
    """
    spec = make_study(
        [f"synthetic:{name}" for name in datasets],
        algorithms,
        name="demo",
        metrics=METRICS,
        trials=trials,
        settings={name: SETTINGS[name] for name in algorithms if name in SETTINGS},
        seed=seed,
    )
    folder = Path(out) / "study"
    run(spec, folder, workers=workers, progress=progress)
    return analyze(folder, "ndcg@10", out=out)
