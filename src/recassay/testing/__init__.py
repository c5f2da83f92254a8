"""Conformance suites for algorithms, metrics and analyses, ours and a plugin's.

A plugin's test is one line: `check_algorithm(MyModel)`, `check_metric(MyMetric)` or `check_analysis(ANALYSIS)`. Every
promise has its own check, listed in `ALGORITHM_CHECKS`, `METRIC_CHECKS` and `ANALYSIS_CHECKS`, for a parametrised test.
"""

from recassay.testing.analysis_checks import ANALYSIS_CHECKS, check_analysis
from recassay.testing.answers import ConformanceError
from recassay.testing.checks import ALGORITHM_CHECKS, EXTERNAL_CHECKS, check_algorithm, check_external
from recassay.testing.examples import example_interactions, learnable_tastes
from recassay.testing.metric_checks import METRIC_CHECKS, check_metric

__all__ = [
    "ALGORITHM_CHECKS",
    "ANALYSIS_CHECKS",
    "EXTERNAL_CHECKS",
    "METRIC_CHECKS",
    "ConformanceError",
    "check_algorithm",
    "check_analysis",
    "check_external",
    "check_metric",
    "example_interactions",
    "learnable_tastes",
]
