"""The verbs of the command line as functions. Each imports what it needs when it is called."""

from recassay.api.datasets import (
    DataDescription,
    describe_data,
    fetch_data,
    import_data,
    list_data,
    load_data,
    remove_data,
)
from recassay.api.demonstration import demo
from recassay.api.evaluation import EvaluationReport, evaluate, save_evaluation
from recassay.api.parts import doctor, list_parts
from recassay.api.results import (
    AnalysisReport,
    analyze,
    compare,
    correlations,
    default_metric,
    document,
    figures,
    load_results,
    profiles,
    rank,
    save,
)
from recassay.api.serving import serve
from recassay.api.studies import load_study, make_study, run, status
from recassay.api.traits import fit_beta_irt, fit_logistic_irt, glicko, load_responses
from recassay.core.errors import RecAssayError, UsageError
from recassay.core.plain import plain

__all__ = [
    "AnalysisReport",
    "DataDescription",
    "EvaluationReport",
    "RecAssayError",
    "UsageError",
    "analyze",
    "compare",
    "correlations",
    "default_metric",
    "demo",
    "describe_data",
    "doctor",
    "document",
    "evaluate",
    "fetch_data",
    "figures",
    "fit_beta_irt",
    "fit_logistic_irt",
    "glicko",
    "import_data",
    "list_data",
    "list_parts",
    "load_data",
    "load_responses",
    "load_results",
    "load_study",
    "make_study",
    "plain",
    "profiles",
    "rank",
    "remove_data",
    "run",
    "save",
    "save_evaluation",
    "serve",
    "status",
]
