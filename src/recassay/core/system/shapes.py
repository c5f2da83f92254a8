"""What is read back from a disk, held against its shape: whatever does not fit is one refusal that names the key."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from recassay.core.errors import InputError
from recassay.core.system.printable import one_line


class Shape(BaseModel):
    """The keys that a description has, each with its type; others may stand beside them.

    A key with a default may be missing: versions before had fewer.
    """

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)


AnyShape = TypeVar("AnyShape", bound=BaseModel)


def shaped(shape: type[AnyShape], content: Any, what: str, *, where: str, fix: str) -> AnyShape:
    """The content as a `shape`; `InputError` where `what` it is ("no seal") has another one."""
    try:
        return shape.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        key = one_line(".".join(map(str, first["loc"])), 80)
        why = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{what} ({key}: {why})" if key else what, where=where, fix=fix) from None
