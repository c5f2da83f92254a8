"""What a job of a cell works on: specification, algorithm, split and memory; and what its training tells by stages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from recassay.core.errors import RecAssayError
from recassay.core.types import Split
from recassay.recommenders.plan import CellSpec
from recassay.recommenders.references import load_algorithm, refuse_other_split
from recassay.recommenders.splits import SplitRecord, load_split, split_record
from recassay.runner.jobs import CHECKED, Emit, JobFailure
from recassay.runner.memory import resident_bytes


@dataclass(frozen=True, slots=True)
class Work:
    """What a cell works on."""

    spec: CellSpec
    kind: type[Any]
    folder: Path
    sizes: SplitRecord
    memory_limit: int | None
    limit_in_words: str
    _split: Split | None

    @classmethod
    def load(cls, payload: Mapping[str, Any], emit: Emit | None = None) -> Work:
        """With the split where there is somebody to tell that its files were found sound."""
        spec, folder = CellSpec.model_validate(payload["cell"]), Path(payload["folder"])
        kind, sizes = load_algorithm(payload["reference"], payload["base"]), split_record(folder, spec.split.id)
        refuse_other_split(kind, sizes.fingerprint, spec.dataset)
        return cls(
            spec=spec,
            kind=kind,
            folder=folder,
            sizes=sizes,
            memory_limit=payload.get("memory"),
            limit_in_words=payload.get("memory_in_words", "the limit is"),
            _split=None
            if emit is None
            else load_split(
                folder, spec.split.id, checked=payload.get(CHECKED), note=lambda state: emit({CHECKED: state})
            ),
        )

    @property
    def split(self) -> Split:
        """The parts; a job that nobody listens to has none."""
        assert self._split is not None
        return self._split

    def declared_memory(self, parameters: Mapping[str, Any], method: str = "memory_bytes") -> int | None:
        """What the algorithm says it needs on the final training part, None where it says nothing."""
        algorithm, sizes = self.kind(**parameters), self.sizes
        if not hasattr(algorithm, method):
            return None
        said = getattr(algorithm, method)(sizes.n_users, sizes.n_items, sizes.n_interactions)
        if not isinstance(said, (int, float, np.number)) or not 0 <= said < float("inf"):
            raise RecAssayError(f"its {method} returned {said!r}, which is no number of bytes")
        return int(said)

    def refuse_over_budget(self, parameters: Mapping[str, Any]) -> int | None:
        """The declared memory, unless it exceeds what the budget leaves beside what the process already holds."""
        needed = self.declared_memory(parameters)
        if needed is not None and self.memory_limit is not None:
            held = resident_bytes()
            if needed + held > self.memory_limit:
                instead = getattr(self.kind, "instead", None)
                raise JobFailure(
                    "over_budget",
                    f"would need about {(needed + held) / 1e9:,.3g} GB, and {self.limit_in_words} "
                    f"{self.memory_limit / 1e9:.3g}" + (f" ({instead})" if instead else ""),
                )
        return needed


@dataclass(frozen=True, slots=True)
class Stage:
    """The objective after a stage of training.

    `settled` is what makes this stage a model of its own: the parameters (a number of epochs) with which a training
    from the start would end here. Empty where only the last stage is a model that can be asked for again.

    `on_all`, where it is given, computes the objective on all users: `value` is then an estimate on a sample of them,
    enough to see when training should stop.
    """

    value: float
    settled: Mapping[str, Any] = field(default_factory=dict)
    on_all: Callable[[], float] | None = None
