"""The classifiers of the study by Cardoso et al. (4.2.1): twelve of scikit-learn, and MLPs that grow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import BernoulliNB as _BernoulliNB
from sklearn.naive_bayes import GaussianNB as _GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

_SOURCE = "scikit-learn; Cardoso et al., 4.2.1"


@dataclass(frozen=True, slots=True)
class StandardClassifier:
    """A classifier of scikit-learn with its defaults, save for what `fixed` says; called, it makes one."""

    question: str
    make: Callable[..., Any]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    role: str = "real"
    source: str = _SOURCE

    def __call__(self, **parameters: Any) -> Any:
        """An unfitted classifier; `parameters` come before what is fixed."""
        return self.make(**{**self.fixed, **parameters})


def growing_mlp(depth: int = 1, width: int = 16, random_state: int | None = None, **parameters: Any) -> MLPClassifier:
    """An MLP with `depth` hidden layers of `width` neurons; all else as scikit-learn has it.

    The paper grows the depth from 1 to 120 and names no width. Beyond about 30 layers such a network no longer learns
    (nothing normalises or skips its layers) and answers with one class, whatever its width; narrow layers make it an
    order of magnitude cheaper.
    """
    return MLPClassifier(hidden_layer_sizes=(width,) * depth, random_state=random_state, **parameters)


GAUSSIAN_NB = StandardClassifier("naive Bayes with normal features", _GaussianNB)
BERNOULLI_NB = StandardClassifier("naive Bayes with features above or below their mean", _BernoulliNB)
NEIGHBORS_2 = StandardClassifier("the vote of 2 nearest neighbours", KNeighborsClassifier, {"n_neighbors": 2})
NEIGHBORS_3 = StandardClassifier("the vote of 3 nearest neighbours", KNeighborsClassifier, {"n_neighbors": 3})
NEIGHBORS_5 = StandardClassifier(
    "the vote of 5 nearest neighbours, the standard", KNeighborsClassifier, {"n_neighbors": 5}
)
NEIGHBORS_8 = StandardClassifier("the vote of 8 nearest neighbours", KNeighborsClassifier, {"n_neighbors": 8})
DECISION_TREE = StandardClassifier("one decision tree", DecisionTreeClassifier)
RANDOM_FOREST_3 = StandardClassifier("a random forest of 3 trees", RandomForestClassifier, {"n_estimators": 3})
RANDOM_FOREST_5 = StandardClassifier("a random forest of 5 trees", RandomForestClassifier, {"n_estimators": 5})
RANDOM_FOREST = StandardClassifier("a random forest of 100 trees, the standard", RandomForestClassifier)
SVM = StandardClassifier("a support vector machine with an RBF kernel", SVC)
MLP = StandardClassifier("one hidden layer of 100 neurons, the standard", MLPClassifier)
GROWING_MLP = StandardClassifier("hidden layers by number (depth) and width", growing_mlp, role="mlp")
