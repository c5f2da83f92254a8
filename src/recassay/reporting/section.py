"""What a report shows of one kind of result: a title, sentences, and pictures with captions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

Part = Literal["leaderboard", "significance", "robustness", "traits", "beyond accuracy", "datasets", "cost"]
"""The parts of a report in reading order."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture: its file name, one sentence that says what it shows, the chart, and the table of its numbers.

    `chart` is an Altair chart; `table` names one of the result's `frames()`.
    """

    name: str
    caption: str
    chart: Any
    table: str


@dataclass(frozen=True, slots=True)
class Section:
    """How results of the type `of` are told: `figures` draws them, `sentences` says what they support.

    `page` is the page of the documentation that defines what is shown. Charts are imported inside `figures`.
    """

    of: type
    title: str
    part: Part
    page: str
    figures: Callable[[Any], list[Figure]]
    sentences: Callable[[Any], list[str]]


def no_sentences(result: Any) -> list[str]:
    """For results that the verdict has nothing to say of."""
    return []


PARTS: tuple[Part, ...] = get_args(Part)


TITLES = {"traits": "Latent traits"}


def part_title(part: str) -> str:
    """What the page calls a part."""
    return TITLES.get(part, part.capitalize())


def part_id(part: str) -> str:
    """Where a part stands in the page."""
    return part.replace(" ", "-")
