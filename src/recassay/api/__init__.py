"""The verbs of the command line as functions. Each imports what it needs when it is called."""

from recassay.api.advise import advise
from recassay.api.analyze import analyze
from recassay.api.associations import associations
from recassay.api.beta_irt import fit_beta_irt
from recassay.api.classify import classifier_scores, classify, load_classify_study, load_instances
from recassay.api.clusters import clusters
from recassay.api.compare import compare
from recassay.api.comper import comper, comper_matrix
from recassay.api.content import AnalysisReport, figures
from recassay.api.correlations import correlations
from recassay.api.data import DataDescription, describe_data, fetch_data, import_data, list_data, load_data, remove_data
from recassay.api.decodirt import analyze_instances, load_response_folder
from recassay.api.demo import demo
from recassay.api.evaluate import EvaluationReport, evaluate, save_evaluation
from recassay.api.glicko import glicko
from recassay.api.logistic_irt import fit_logistic_irt, load_responses
from recassay.api.parts import doctor, list_parts
from recassay.api.profiles import profiles
from recassay.api.rank import rank
from recassay.api.report import report
from recassay.api.saving import document, save
from recassay.api.select import select
from recassay.api.serve import serve
from recassay.api.strata import strata
from recassay.api.stress import stress
from recassay.api.studies import load_study, make_study, run, status
from recassay.api.tables import default_metric, load_characteristics, load_results
from recassay.api.user_irt import fit_user_irt
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
