"""The conformance suite for algorithms, ours and a plugin's.

A plugin's test is one line: `recassay.testing.check_algorithm(MyModel)`. Every promise has its own check, listed in
`ALGORITHM_CHECKS`, for a parametrised test.
"""

from recassay.testing.answers import ConformanceError
from recassay.testing.checks import ALGORITHM_CHECKS, check_algorithm
from recassay.testing.examples import example_interactions, learnable_tastes

__all__ = [
    "ALGORITHM_CHECKS",
    "ConformanceError",
    "check_algorithm",
    "example_interactions",
    "learnable_tastes",
]
