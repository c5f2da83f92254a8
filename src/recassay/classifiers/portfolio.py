"""The classifiers of the study by Cardoso et al. (4.2.1): twelve of scikit-learn, and MLPs that grow."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from recassay.core.errors import MissingExtraError

_SOURCE = "scikit-learn; Cardoso et al., 4.2.1"


@dataclass(frozen=True, slots=True)
class StandardClassifier:
    """A classifier of scikit-learn with its defaults, save for what `fixed` says; called, it makes one.

    `kind` is its place in scikit-learn, which is an extra and imported when a classifier is made, or a function.
    """

    question: str
    kind: str | Callable[..., Any]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    role: str = "real"
    source: str = _SOURCE

    @property
    def make(self) -> Callable[..., Any]:
        """The class, or the function, that makes a classifier."""
        return _of_sklearn(self.kind) if isinstance(self.kind, str) else self.kind

    @property
    def preload(self) -> tuple[str, ...]:
        """The module that workers import once instead of once per cell."""
        kind = self.kind if isinstance(self.kind, str) else _MLP
        return (f"sklearn.{kind.partition('.')[0]}",)

    def __call__(self, **parameters: Any) -> Any:
        """An unfitted classifier; `parameters` come before what is fixed."""
        return self.make(**{**self.fixed, **parameters})


_MLP, _NEIGHBORS, _FOREST = (
    "neural_network.MLPClassifier",
    "neighbors.KNeighborsClassifier",
    "ensemble.RandomForestClassifier",
)


def _of_sklearn(kind: str) -> Any:
    module, _, name = kind.partition(".")
    try:
        return getattr(importlib.import_module(f"sklearn.{module}"), name)
    except ModuleNotFoundError as error:
        raise MissingExtraError("scikit-learn", "classify", f"the classifier {name}") from error


def growing_mlp(depth: int = 1, width: int = 16, random_state: int | None = None, **parameters: Any) -> Any:
    """An MLP with `depth` hidden layers of `width` neurons; all else as scikit-learn has it.

    The paper grows the depth from 1 to 120 and names no width. Beyond about 30 layers such a network no longer learns
    (nothing normalises or skips its layers) and answers with one class, whatever its width; narrow layers make it an
    order of magnitude cheaper.
    """
    return _of_sklearn(_MLP)(hidden_layer_sizes=(width,) * depth, random_state=random_state, **parameters)


GAUSSIAN_NB = StandardClassifier("naive Bayes with normal features", "naive_bayes.GaussianNB")
BERNOULLI_NB = StandardClassifier("naive Bayes with features above or below their mean", "naive_bayes.BernoulliNB")
NEIGHBORS_2 = StandardClassifier("the vote of 2 nearest neighbours", _NEIGHBORS, {"n_neighbors": 2})
NEIGHBORS_3 = StandardClassifier("the vote of 3 nearest neighbours", _NEIGHBORS, {"n_neighbors": 3})
NEIGHBORS_5 = StandardClassifier("the vote of 5 nearest neighbours, the standard", _NEIGHBORS, {"n_neighbors": 5})
NEIGHBORS_8 = StandardClassifier("the vote of 8 nearest neighbours", _NEIGHBORS, {"n_neighbors": 8})
DECISION_TREE = StandardClassifier("one decision tree", "tree.DecisionTreeClassifier")
RANDOM_FOREST_3 = StandardClassifier("a random forest of 3 trees", _FOREST, {"n_estimators": 3})
RANDOM_FOREST_5 = StandardClassifier("a random forest of 5 trees", _FOREST, {"n_estimators": 5})
RANDOM_FOREST = StandardClassifier("a random forest of 100 trees, the standard", _FOREST)
SVM = StandardClassifier("a support vector machine with an RBF kernel", "svm.SVC")
MLP = StandardClassifier("one hidden layer of 100 neurons, the standard", _MLP)
GROWING_MLP = StandardClassifier("hidden layers by number (depth) and width", growing_mlp, role="mlp")
