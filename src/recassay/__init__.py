"""RecAssay: a fair benchmark of recommender algorithms, and what its numbers prove.

The verbs of the command line as functions (`recassay.load_results`, `recassay.rank`, ...). Importing the package
imports nothing heavy: each verb loads what it needs when it is called.
"""

from recassay.api import (
    RecAssayError,
    analyze,
    compare,
    correlations,
    demo,
    describe_data,
    evaluate,
    fetch_data,
    figures,
    fit_beta_irt,
    fit_logistic_irt,
    glicko,
    import_data,
    load_data,
    load_responses,
    load_results,
    load_study,
    make_study,
    profiles,
    rank,
    run,
    serve,
    status,
)
from recassay.core.version import __version__

__all__ = [
    "RecAssayError",
    "__version__",
    "analyze",
    "compare",
    "correlations",
    "demo",
    "describe_data",
    "evaluate",
    "fetch_data",
    "figures",
    "fit_beta_irt",
    "fit_logistic_irt",
    "glicko",
    "import_data",
    "load_data",
    "load_responses",
    "load_results",
    "load_study",
    "make_study",
    "profiles",
    "rank",
    "run",
    "serve",
    "status",
]
