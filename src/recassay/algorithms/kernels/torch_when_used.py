"""torch, imported when it is first used: algorithms that need it can be listed and described without it."""

from __future__ import annotations

import importlib
from typing import Any

from recassay.core.errors import MissingExtraError


class _TorchWhenUsed:
    """Stands for the module `torch`; the first attribute that is asked for imports it."""

    def __getattr__(self, name: str) -> Any:
        try:
            module = importlib.import_module("torch")
        except ModuleNotFoundError as error:
            raise MissingExtraError("torch", "neural", "this algorithm") from error
        found = getattr(module, name)
        setattr(self, name, found)
        return found


torch: Any = _TorchWhenUsed()
