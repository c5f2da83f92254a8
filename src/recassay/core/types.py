"""The types that rooms hand to each other: a split of interactions, recommended lists, and what makes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from recassay.core.arrays import BoolArray, Float32Array, FloatArray, IdArray, IntArray
from recassay.core.choices import Task
from recassay.core.errors import UsageError
from recassay.core.interactions import Interactions, joined, read_only_matrix
from recassay.core.repeated import merged

if TYPE_CHECKING:  # SciPy's matrices and pydantic's models take longer to load than small tables to judge
    from scipy.sparse import csr_array

    from recassay.core.specs.search import SearchSpace
    from recassay.core.specs.specs import FinalFit

__all__ = [
    "Algorithm",
    "BoolArray",
    "Float32Array",
    "FloatArray",
    "IdArray",
    "IntArray",
    "Interactions",
    "Recommender",
    "Split",
    "TopK",
    "joined",
    "read_only_matrix",
]


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Training, validation and test parts over the same ids, with what is known of them.

    `fingerprint` is the content hash of data and protocol; `counts` say what each step removed; `audit` holds the
    findings of the leakage audit. `valid` judges a model of `train`, `test` one of `refit()`. `unjudged_valid` are the
    validation events that judge nothing, but that the final training knows: `train` lacks their user or item, or has
    the pair already. In each part a pair of user and item occurs once; where `overlapping`, a pair may be in several
    parts of the final training. `task` says whether lists may name items that their user has had.
    """

    train: Interactions
    valid: Interactions
    test: Interactions
    fingerprint: str
    counts: dict[str, int] = field(default_factory=dict)
    audit: dict[str, Any] = field(default_factory=dict)
    unjudged_valid: Interactions | None = None
    final_fit: FinalFit = "train+valid"
    task: Task = "new"
    overlapping: bool = False

    def refit_parts(self) -> tuple[Interactions, ...]:
        """The parts of `refit()`, not joined (no copy)."""
        if self.final_fit == "train":
            return (self.train,)
        return (self.train, self.valid, *(() if self.unjudged_valid is None else (self.unjudged_valid,)))

    def refit(self) -> Interactions:
        """What the final model is trained on: training and validation events together, or the training part alone."""
        whole = joined(self.refit_parts())
        return merged(whole) if self.overlapping and self.final_fit == "train+valid" else whole

    def barred(self, seen: csr_array) -> csr_array | None:
        """What lists may not name when a model of the users x items `seen` makes them: `seen`, or nothing."""
        return seen if self.task == "new" else None


@dataclass(frozen=True, slots=True, eq=False)
class TopK:
    """Recommended lists: `items[r, :]` for `users[r]`, best first, -1 where a list is shorter than k."""

    users: IdArray
    items: IdArray
    scores: Float32Array
    """The score of each item in its list."""

    def __post_init__(self) -> None:
        if self.items.ndim != 2 or self.items.shape != self.scores.shape:
            raise ValueError(f"items {self.items.shape} and scores {self.scores.shape} must be one n x k shape")
        if len(self.users) != len(self.items):
            raise ValueError(f"{len(self.users)} users for {len(self.items)} lists")

    @classmethod
    def empty(cls, users: IdArray, k: int) -> TopK:
        """Lists of k places, all of them empty: to be filled in."""
        if k < 1:
            raise UsageError(f"lists of {k} items were asked for", fix="ask for at least one item")
        size = (len(users), k)
        return cls(users, np.full(size, -1, dtype=np.int32), np.full(size, -np.inf, dtype=np.float32))

    @property
    def k(self) -> int:
        """The length of the longest list that fits."""
        return int(self.items.shape[1])

    def cut(self, k: int) -> TopK:
        """The first k of every list."""
        return TopK(self.users, self.items[:, :k], self.scores[:, :k])


@runtime_checkable
class Recommender(Protocol):
    """A fitted algorithm. "Not fitted" cannot occur: `Algorithm.fit` makes it."""

    def recommend(self, users: IdArray, k: int, *, exclude: csr_array | None) -> TopK:
        """The k best items for each of `users`; items stored in the user's row of `exclude` never appear."""


class Algorithm(Protocol):
    """What can be fitted. Its parameters are its constructor's keyword arguments, all with defaults.

    `space` is what tuning may vary, `source` its paper. Two further methods are optional and used where they exist:

    - `shared(train) -> object` (a static method): what does not depend on the parameters (a Gram matrix, neighbour
      lists). Tuning computes it once for a training set and passes it as `fit(train, rng=..., shared=it)`.
    - `fit_steps(train, *, rng) -> Iterator[Recommender]`: the model after each of several stages of training, the last
      of which equals `fit`; tuning may stop a trial that falls behind.

    Also used where they exist:

    - `stopped_by`: the name of the parameter that counts iterations, where the model of any stage is also what `fit`
      gives with that parameter at the stage's `recommender.iterations`. Tuning then stops a trial that no longer gets
      better, and the final training has the number of iterations that was best on the validation part.
    - `device`: `cpu`, `cuda`, `mps` or `auto`; cells that use a GPU share it by `gpu_memory_bytes`.
    - `gpu_memory_bytes`: as `memory_bytes`, of the GPU.
    - `instead`: a few words on what to use where `memory_bytes` is more than there is; a refused cell says them.
    - `reads_order`: whether lists depend on the order of a history (default: they do not).
    - `folds_in`: False where a model knows users of training alone; a study whose targets come after histories then
      leaves the algorithm out before anything is fitted.
    - `folds_in_exactly`: False where a user of training and a history of the same items may get different lists.
    - `preload`: modules of other packages that it imports when it is used.
    """

    name: ClassVar[str]
    space: ClassVar[SearchSpace]
    source: ClassVar[str]

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Recommender:
        """Learn from `train`, drawing chance from `rng` alone; its columns are read-only."""

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """The peak memory of `fit` with these parameters, the training data itself not counted (an upper estimate)."""
