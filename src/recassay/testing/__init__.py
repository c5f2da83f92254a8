"""The conformance suite for algorithms, ours and a plugin's.

A plugin's test is one line: `recassay.testing.check_algorithm(MyModel)`. Every promise has its own check, listed in
`ALGORITHM_CHECKS`, for a parametrised test.
"""

from recassay.testing.answers import ConformanceError
from recassay.testing.checks import ALGORITHM_CHECKS, EXTERNAL_CHECKS, check_algorithm, check_external
from recassay.testing.examples import example_interactions, learnable_tastes

__all__ = [
    "ALGORITHM_CHECKS",
    "EXTERNAL_CHECKS",
    "ConformanceError",
    "check_algorithm",
    "check_external",
    "example_interactions",
    "learnable_tastes",
]
