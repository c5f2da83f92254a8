"""From the name of a classifier to an unfitted one: registered, or in a user's own file."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from recassay.classifiers.spec import Role
from recassay.core.errors import InputError, UsageError
from recassay.core.registry import classifiers
from recassay.core.system.plugin_file import load_class
from recassay.core.words import listing
from recassay.runner.references import is_part_file

NEEDED = ("fit", "predict")
"""What a classifier must offer, as in scikit-learn: `fit(X, y)` and `predict(X)`; y are whole numbers from 0."""


def load_classifier(reference: str, base: str) -> Any:
    """What makes a classifier of that name: a class, or a function of its parameters. A file is executed."""
    if not is_part_file(reference):
        return classifiers.get(reference)
    kind = load_class(reference, base)
    missing = [name for name in NEEDED if not callable(getattr(kind, name, None))]
    if missing:
        raise InputError(
            f"is not a classifier: it lacks {listing(missing)}",
            where=reference,
            fix="give it fit(X, y) and predict(X) as in scikit-learn",
        )
    return kind


def make_classifier(part: Any, name: str, settings: Mapping[str, Any], seed: int) -> tuple[Any, dict[str, Any]]:
    """An unfitted classifier and its parameters; one that takes a `random_state` gets `seed`, unless it is set.

    Parameters that it does not take are refused by name.
    """
    parameters = {key: tuple(value) if isinstance(value, list) else value for key, value in settings.items()}
    taken = inspect.signature(getattr(part, "make", part)).parameters
    if "random_state" in taken:
        parameters = {"random_state": seed, **parameters}
    try:
        return part(**parameters), parameters
    except TypeError as error:
        raise UsageError(
            f"the classifier {name} cannot be made with {listing(parameters) or 'no parameters'}: {error}",
            fix=f"it takes {listing((key for key in taken if key != 'self'), most=30) or 'none'}",
        ) from error


def role_of(reference: str) -> Role:
    """`artificial` or `mlp` where a registered classifier says so, `real` for all others."""
    role = None if is_part_file(reference) else getattr(classifiers.get(reference), "role", None)
    return "artificial" if role == "artificial" else "mlp" if role == "mlp" else "real"
