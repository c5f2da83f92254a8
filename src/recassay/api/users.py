"""The verb `users`: which differences are more than luck on the users of each dataset."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from recassay.analysis.users.fit import compare_users
from recassay.analysis.users.result import UsersResult
from recassay.api.arguments import checked
from recassay.api.inputs import ResultsLike
from recassay.api.tables import default_metric, load_results, study_folder
from recassay.core.choices import Advanced, Alpha, Draws
from recassay.core.tables.labels import find_label
from recassay.evidence.gains import gain_scores
from recassay.evidence.users import own_lists, paired_scores, table_scores
from recassay.evidence.windows import window_means


@checked
def users(
    results: ResultsLike,
    metric: str | None = None,
    *,
    alpha: Alpha = 0.05,
    control: str | None = None,
    replicates: Annotated[Draws, Advanced] = 10_000,
    seed: Annotated[int, Advanced] = 0,
) -> UsersResult:
    """Paired tests over users: permutation on each dataset with Holm's correction, and a summary over datasets.

    A study or a table of one dataset gets its whole answer from this. See `recassay.analysis.users.fit.compare_users`.

    Args:
        results: the folder of a study of recommenders, or a table with a row for each user (a column `user`, or what
            LensKit, WarpRec, Cornac and trec_eval write).
        metric: label of a metric with a value for each user; by default `ndcg@10`, or the only one.
        alpha: level of the tests; intervals have level 1 - alpha.
        control: the algorithm that the others are compared with in percent; by default one's own lists, else the most
            popular items.
        replicates: bootstrap replicates over users; with many users there are fewer.
        seed: the same seed gives the same numbers.
    """
    table = load_results(results)
    label = find_label(metric or default_metric(table), table.metrics)
    folder = study_folder(results)
    scores, skipped = paired_scores(folder, label) if folder is not None else table_scores(table, label)
    return compare_users(
        scores, label, higher_is_better=table.direction(label), alpha=alpha, replicates=replicates, seed=seed,
        skipped=skipped, control=control,
        own_lists=() if folder is None else own_lists(folder),
        gains=None if folder is None else partial(gain_scores, folder),
        windows=None if folder is None else partial(window_means, folder),
    )  # fmt: skip
