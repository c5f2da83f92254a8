"""The verbs of the command line as functions. Each imports what it needs when it is called."""

from recassay.api.classifiers import classifier_scores, classify, load_classify_study, load_instances
from recassay.api.comper import comper, comper_matrix
from recassay.api.datasets import (
    DataDescription,
    describe_data,
    fetch_data,
    import_data,
    list_data,
    load_data,
    remove_data,
)
from recassay.api.decodirt import analyze_instances, load_response_folder
from recassay.api.demonstration import demo
from recassay.api.evaluation import EvaluationReport, evaluate, save_evaluation
from recassay.api.parts import doctor, list_parts
from recassay.api.reporting import report
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
from recassay.api.robustness import stress
from recassay.api.selection import advise, associations, clusters, load_characteristics, select
from recassay.api.serving import serve
from recassay.api.strata import strata
from recassay.api.studies import load_study, make_study, run, status
from recassay.api.traits import fit_beta_irt, fit_logistic_irt, fit_user_irt, glicko, load_responses
from recassay.core.errors import RecAssayError, UsageError
from recassay.core.plain import plain

__all__ = [
    "AnalysisReport",
    "DataDescription",
    "EvaluationReport",
    "RecAssayError",
    "UsageError",
    "advise",
    "analyze",
    "analyze_instances",
    "associations",
    "classifier_scores",
    "classify",
    "clusters",
    "compare",
    "comper",
    "comper_matrix",
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
    "fit_user_irt",
    "glicko",
    "import_data",
    "list_data",
    "list_parts",
    "load_characteristics",
    "load_classify_study",
    "load_data",
    "load_instances",
    "load_response_folder",
    "load_responses",
    "load_results",
    "load_study",
    "make_study",
    "plain",
    "profiles",
    "rank",
    "remove_data",
    "report",
    "run",
    "save",
    "save_evaluation",
    "select",
    "serve",
    "status",
    "strata",
    "stress",
]
