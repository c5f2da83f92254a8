"""Frozen specifications: what was asked, its content hash, and the seeds that derive from it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from recassay.core.choices import Task
from recassay.core.errors import UsageError
from recassay.core.names import did_you_mean

SplitName = Literal[
    "global_time", "rolling", "user_time", "leave_last_out", "random", "random_per_user", "kfold", "given"
]
FOLDED: tuple[SplitName, ...] = ("kfold", "rolling")
"""Splits that divide the data several times: by `fold` of `folds`."""

Target = Literal["all", "next", "last", "each"]
FilterName = Literal["once", "core", "none"]
FinalFit = Literal["train+valid", "train"]
AttackKind = Literal["nuke", "push"]


_NUMERAL = re.compile(r"\s*[-+]?[\d_.]+(?:[eE][-+]?\d+)?\s*")
"""What pydantic would silently take for a number; it refuses other texts itself."""


def _is_number(kind: str) -> bool:
    """Whether a field takes numbers and no text."""
    return ("int" in kind or "float" in kind) and "str" not in kind and "Literal" not in kind


class Spec(BaseModel):
    """Base of the specifications: immutable, no unknown keys, hashed by content."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        """`true` is not a number, though Python takes it for 1."""
        inner = value if isinstance(value, (list, tuple)) else [value]
        kind = cls.model_fields[info.field_name].annotation if info.field_name else None
        if any(isinstance(member, bool) for member in inner) and "bool" not in str(kind):
            raise ValueError("true and false are not numbers")
        if any(isinstance(member, str) and _NUMERAL.fullmatch(member) for member in inner) and _is_number(str(kind)):
            raise ValueError("a text is not a number: leave the quotation marks out")
        return value

    @classmethod
    def checked(cls, **values: Any) -> Self:
        """The spec of these values; what does not fit raises `UsageError` in one line instead of pydantic's report."""
        try:
            return cls(**values)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            if first["type"] == "extra_forbidden":
                raise UsageError(f"there is no option {key!r}", fix=did_you_mean(key, cls.model_fields)) from error
            message = first["msg"].removeprefix("Value error, ")
            raise UsageError(f"{key}: {message}" if key else message, fix="correct it") from error

    @classmethod
    def of(cls, given: Self | Mapping[str, Any] | None) -> Self:
        """The spec that was given, as itself or by its fields; None is that of all defaults."""
        return cls.checked(**given) if isinstance(given, Mapping) else given or cls()

    def stated(self) -> dict[str, Any]:
        """The fields that were given; what was left out may be settled elsewhere."""
        return {name: getattr(self, name) for name in self.model_fields_set}

    def idle(self) -> dict[str, bool]:
        """Fields that may be without effect, and whether they are: a spec is written, and known, without those."""
        return {}

    @model_serializer(mode="wrap")
    def _without_idle(self, fields: SerializerFunctionWrapHandler) -> dict[str, Any]:
        idle = self.idle()
        return {name: value for name, value in fields(self).items() if not idle.get(name)}

    def content_hash(self) -> str:
        """SHA-256 of the canonical JSON of all fields, defaults included."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


class IdentifiedSpec(Spec):
    """A specification that is known by its content."""

    @property
    def id(self) -> str:
        """The content hash."""
        return self.content_hash()[:32]


class ReadSpec(Spec):
    """How a file of interactions is read; every field has a default that recognises the usual files."""

    format: Literal["auto", "csv", "parquet", "inter", "movielens", "adjacency"] = "auto"
    """The kind of file; `auto` recognises it."""
    delimiter: str | None = None
    """What separates columns; by default recognised among comma, tab, semicolon, pipe, `::` and space."""
    header: bool | None = None
    """Whether the first row names the columns; by default recognised."""
    columns: dict[str, str | int] = {}
    """By role (user, item, rating, timestamp, event), the name of the column, or its position from 0."""
    encoding: str = "utf-8"
    """Encoding of a text file."""
    time: Literal["auto", "seconds", "milliseconds", "microseconds", "nanoseconds", "iso", "position", "ignore"] = (
        "auto"
    )
    """Unit of the times. `position`: the column orders events without being a clock; `ignore`: leave it out."""
    repeated: Literal["last", "first", "sum", "max"] = "last"
    """Which value counts where a user and an item have several rows. With times they stay events until the split;
    without they are merged when they are read."""
    event_weights: dict[str, float] | Literal["inverse_frequency"] | None = None
    """For event data (view, cart, purchase): weights by type, or those of KDD'24 appendix A.1."""
    skip_bad_rows: bool = False
    """Leave out rows that cannot be read, and count them."""

    @model_validator(mode="after")
    def _check(self) -> ReadSpec:
        if isinstance(self.event_weights, dict):
            for name, weight in self.event_weights.items():
                if weight < 0:
                    raise ValueError(f"the event {name!r} weighs {weight:g}; a weight is 0 or more")
        return self


class ProtocolSpec(Spec):
    """How raw interactions become training, validation and test parts; defaults of the KDD'24 study (3.1, 3.3)."""

    positive_threshold: float | None = None
    """Lowest rating that counts as positive; interactions below it are left out. By default all count."""
    min_item_interactions: Annotated[int, Field(ge=1)] = 5
    """Items with fewer interactions are left out."""
    min_user_interactions: Annotated[int, Field(ge=1)] = 5
    """Users with fewer interactions are left out."""
    user_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of the users that are kept, drawn with the seed before the filter; a protocol that keeps all is known by
    the other fields alone."""
    filter: FilterName = "once"
    """`once`: items, then users, one pass each (F-filter); `core`: repeated until nothing changes (F-core)."""
    split: SplitName = "global_time"
    """The rule by which training, validation and test parts are made."""
    ratios: tuple[float, float, float] = (0.8, 0.1, 0.1)
    """Shares of the training, validation and test parts."""
    folds: Annotated[int, Field(ge=2, le=1000)] = 5
    """For `kfold`: how many folds; for `rolling`: how many windows."""
    fold: Annotated[int, Field(ge=0)] = 0
    """For `kfold`: which fold is the test part (the next one validates); for `rolling`: which window, from 0."""
    window: Literal["growing", "sliding"] = "growing"
    """For `rolling`: training parts begin with the first event (`growing`), or move on and keep their size
    (`sliding`). A protocol of another split is known by the other fields alone."""
    seed: int = 0
    """Seed of the random splits."""
    final_fit: FinalFit = "train+valid"
    """What the model that the test part judges is trained on; users and items it lacks leave the test part (3.3)."""
    task: Task = "new"
    """`new`: recommend items that the user has not had; events of pairs that training has leave validation and test,
    and lists leave them out. `repeat`: repeat consumption; nothing is dropped, and lists may name what was had."""
    target: Target = "all"
    """What the held-out events of a user are asked for. `all`: all of them as one set; `next`, `last` or `each`: the
    next event, the last one, or each in turn, after the history up to it, also of users that training has not seen.
    Equal stamps are put in an order drawn from `seed`. A protocol of `all` is known by the other fields alone."""
    sessions: str | None = None
    """Cut each user's log where the gap between events is longer (`30min`, `90s`, `2h`, `1d`): a session is then a
    user. By default nothing is cut."""
    allow_leakage: tuple[str, ...] = ()
    """Names of audit findings that are accepted; any other finding refuses the split."""

    @field_validator("positive_threshold", mode="before")
    @classmethod
    def _none_in_a_file(cls, value: object) -> object:
        return None if value == "none" else value

    @model_validator(mode="after")
    def _check(self) -> ProtocolSpec:
        if min(self.ratios) < 0 or abs(sum(self.ratios) - 1) > 1e-9 or self.ratios[0] <= 0:
            raise ValueError(f"ratios {self.ratios} must be three shares that sum to 1, the first above 0")
        if self.fold >= self.folds:
            raise ValueError(f"fold {self.fold} is not one of the {self.folds} folds 0..{self.folds - 1}")
        if self.split == "rolling" and (self.ratios[2] <= 0 or self.ratios[0] - (self.folds - 1) * self.ratios[2] <= 0):
            raise ValueError(
                f"{self.folds} windows that test {100 * self.ratios[2]:g} % each leave nothing to train the first on; "
                "use fewer folds, or a smaller third ratio"
            )
        if self.task == "repeat" and self.split in ("random", "random_per_user", "kfold"):
            raise ValueError(
                f"split {self.split!r} keeps all events of a user and item in one part, so that nothing is repeated; "
                "task = 'repeat' needs a split by time, or a given one"
            )
        if self.target != "all" and self.split in ("random", "random_per_user", "kfold"):
            raise ValueError(
                f"target = {self.target!r} asks what comes after a history, and split {self.split!r} keeps no order; "
                "use a split by time, or a given one"
            )
        if self.sessions is not None and self.split == "given":
            raise ValueError("sessions are cut before a split is made, and this one is given; cut them there")
        _ = self.session_seconds
        return self

    @property
    def session_seconds(self) -> int | None:
        """The longest gap within a session, in seconds; None where no log is cut."""
        if self.sessions is None:
            return None
        gap = re.fullmatch(r"(\d{1,6})\s*(s|min|h|d)", self.sessions)
        if gap is None or not int(gap[1]):
            raise ValueError(f"sessions = {self.sessions!r} is not a gap of time: write '30min', '90s', '2h' or '1d'")
        return int(gap[1]) * {"s": 1, "min": 60, "h": 3600, "d": 86_400}[gap[2]]

    def idle(self) -> dict[str, bool]:
        """The window of other splits, the share of all users, no target of its own and no sessions."""
        return {
            "window": self.split != "rolling",
            "user_share": self.user_share == 1,
            "target": self.target == "all",
            "sessions": self.sessions is None,
        }


class AttackSpec(Spec):
    """Who attacks and how; `size` and `profile_length` are the attack size and the filler size of the
    literature."""

    kind: AttackKind = "nuke"
    filler: Literal["random", "average", "bandwagon"] = "random"
    size: Annotated[float, Field(gt=0, le=1)] = 0.05
    """Fake users as a share of the users with training events (at least one fake user)."""
    profile_length: Annotated[int, Field(ge=1)] | None = None
    """Items in a fake profile besides the targets; None: as many as the mean real profile has."""
    targets: Annotated[int, Field(ge=1)] = 10
    """How many target items `choose_targets` draws when none are named."""
    selected: Annotated[int, Field(ge=1)] = 5
    """For `bandwagon`: how many selected items every fake profile holds (at most `profile_length`)."""
