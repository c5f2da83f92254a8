"""What a user may choose: words, ranges of numbers and how they are written, one type per option.

A verb states them in its annotations; what checks its arguments and the command line both read them there. Nothing
heavy is imported here, so that the command line knows its choices without loading what makes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Annotated, Literal, NamedTuple, TypeAlias

from recassay.core.errors import UsageError
from recassay.core.names import did_you_mean


class Range(NamedTuple):
    """The least and the largest value of a number, as in `Annotated[int, Range(1, 100)]`; None: no limit.

    Where it is `inner`, the limits themselves do not count. NaN and infinity lie within no limits.
    """

    least: float | None = None
    most: float | None = None
    inner: bool = False

    def holds(self, number: float) -> bool:
        """Whether a number lies within the limits."""
        if not isfinite(number) or (self.inner and number in (self.least, self.most)):
            return False
        return (self.least is None or number >= self.least) and (self.most is None or number <= self.most)

    def words(self) -> str:
        """The limits as they follow `a number`: ` from 1 to 100`; nothing where there are none."""
        words = ("above", "below") if self.inner else ("from", "to")
        if self.inner and self.least is not None and self.most is not None:
            words = ("between", "and")
        ends = zip(words, (self.least, self.most), strict=True)
        return "".join(f" {word} {end:,.9g}" for word, end in ends if end is not None)


class Written(NamedTuple):
    """How a number is written on the command line, as in `Annotated[float, Written("2%")]`."""

    example: str


class Advanced:
    """Marks an argument that only an expert sets, as in `Annotated[int, Advanced]`: help lists it last."""


Share: TypeAlias = Annotated[float, Written("2%")]
"""A share: a number, on the command line also a percentage."""
Seconds: TypeAlias = Annotated[float, Written("2h")]
"""A time in seconds, on the command line also in minutes, hours or days."""
Alpha: TypeAlias = Annotated[float, Range(0, 1, inner=True)]
"""The level of tests."""
Margin: TypeAlias = Annotated[float, Written("2%"), Range(0, 1, inner=True)]
"""A relative difference that is called none."""
Level: TypeAlias = Annotated[float, Range(0.5, 0.999)]
"""The level of intervals."""
Draws: TypeAlias = Annotated[int, Range(None, 1_000_000)]
"""Draws of a bootstrap or a simulation: more only cost memory and time."""
FEWEST_DATASETS = 5
"""With fewer datasets, nothing is concluded about other datasets: no test, no interval, no bootstrap over datasets."""
MANY_ALGORITHMS = 60
"""With more algorithms than this, resampling makes fewer draws by default, and tables and pictures show a part."""
VERY_MANY = 400
"""With more algorithms there are fewer sign flips and draws, and ties are approximated; see docs/large-data.md."""

SHOWN_OF_MANY = 30
"""How many of them a picture shows, the best first."""
Seed: TypeAlias = Annotated[int, Range(0)]
"""A seed that numpy takes as it is."""
Workers: TypeAlias = Annotated[int, Range(None, 4096)]
"""Processes at a time."""


def refuse_level(alpha: float) -> None:
    """Raise for what is not a level of a test."""
    if not Range(0, 1, inner=True).holds(alpha):
        raise UsageError(f"alpha is {alpha}", fix="give a level between 0 and 1")


MissingPolicy: TypeAlias = Literal["error", "drop-datasets", "drop-algorithms", "worst"]
"""How to treat a missing cell: see `core.tables.results.Results.matrix`."""
Aggregation: TypeAlias = Literal["mean_rank", "mean_value"]
"""How a universe orders algorithms over datasets: by mean rank, or by the mean of values, scaled per dataset from the
best to the worst."""
GapPolicy: TypeAlias = Literal["keep", "error", "drop-datasets", "drop-algorithms", "worst"]
"""The same where a model can do without the cell (`keep`)."""
ZeroMethod: TypeAlias = Literal["wilcox", "pratt", "zsplit"]
"""How to treat zero differences in the signed-rank test."""
PairTest: TypeAlias = Literal["sign-flips", "wilcoxon-holm"]
"""Which test the verdict on pairs rests on: all pairs by flipped signs, or Wilcoxon's with Holm's correction."""
BarsRule: TypeAlias = Literal["sign-flips", "wilcoxon-holm", "nemenyi", "bayesian"]
"""Which test decides what a bar of the critical-difference diagram joins."""
BetaEstimator: TypeAlias = Literal["auto", "beta", "precision", "bi-reirt"]
"""The noise of beta-IRT."""
PosteriorForm: TypeAlias = Literal["normal", "samples"]
"""How the posterior of beta-IRT is described."""
LogisticModel: TypeAlias = Literal["1pl", "2pl", "3pl"]
"""How many parameters an item of logistic IRT has."""
LogisticEstimator: TypeAlias = Literal["mml", "birnbaum"]
"""How the items of logistic IRT are estimated."""
AbilityMethod: TypeAlias = Literal["ml", "map", "eap"]
"""How abilities are estimated when the items are known."""
Normalisation: TypeAlias = Literal["ratio", "min-max", "min-max-dataset"]
"""How ComPer brings dimensions to one scale."""
ComPerTimeUnit: TypeAlias = Literal["seconds", "milliseconds"]
"""The unit of ComPer's scalability."""
Task: TypeAlias = Literal["new", "repeat"]
"""What lists are to do: name items that the user has not had (`new`), or any, as in repeat consumption (`repeat`)."""
SplitFormat: TypeAlias = Literal["csv", "parquet", "recbole", "lenskit", "trec"]
"""The files that a split is written as."""
OtherItems: TypeAlias = Literal["keep", "remove"]
"""How to treat a user's held-out items outside T_P: they keep their places in the list as items that are not hits
(`keep`), or leave it and the rest moves up (`remove`)."""
RowOrder: TypeAlias = Literal["rank", "name", "given"]
"""The order of algorithms in the tables of a paper: by mean rank, by name, or as the results name them."""

PRACTICALLY_EQUAL = 0.02
"""Relative difference below which two algorithms are called practically equal unless another is asked for."""
AdaptiveTarget: TypeAlias = Literal["first", "top3", "order", "rho"]
"""What an adaptive run is to settle: who is first, which three are, the order up to an indifference, or an order that
agrees with that of the whole grid (Spearman's rho)."""


BENCHMARK = "published:board"
"""The table that answers where none is named: the open benchmark's algorithms and datasets without gaps."""


class DrawsOf(NamedTuple):
    """How many draws a command makes by default: the cost of one grows with the square of the algorithms."""

    option: str
    """The argument by which another number is asked for."""
    what: str
    usual: int
    of_200: int
    """With 200 algorithms; fewer and more algorithms have more and fewer, by the square of their number."""
    least: int

    def number(self, asked: int | None, algorithms: int) -> int:
        """As many as asked for; by default the usual number, and fewer with more than `MANY_ALGORITHMS`."""
        if asked is not None:
            return asked
        return self.usual if algorithms <= MANY_ALGORITHMS else self._of_many(algorithms)

    def _of_many(self, algorithms: int) -> int:
        return max(self.least, min(self.usual, self.of_200 * 200**2 // algorithms**2))

    def note(self, asked: int | None, algorithms: int) -> str | None:
        """What to know of it: that there are fewer than usual, or what the number that was asked for costs."""
        number = self._of_many(algorithms)
        if algorithms <= MANY_ALGORITHMS or number >= (self.usual if asked is None else asked):
            return None
        if asked is None:
            return f"{algorithms} algorithms: {number:,} {self.what}, not {self.usual:,}; `{self.option}` sets more"
        return (
            f"{algorithms} algorithms: {asked:,} {self.what} take about {asked / number:.0f} times as long as the "
            f"default, {number:,}"
        )


DRAWS_OF = {
    "rank": DrawsOf("replicates", "bootstrap replicates", 10_000, 1_000, 200),
    "compare": DrawsOf("draws", "posterior draws per pair", 10_000, 1_000, 200),
    "ratings": DrawsOf("replicates", "bootstrap replicates", 10_000, 300, 100),
    "stress": DrawsOf("draws", "random subsets per size", 1_000, 100, 100),
}
"""By command, its draws."""


FORMATS = ("svg", "pdf", "png", "json")

USUAL = ("svg", "pdf", "json")
"""What is written unless other formats are asked for: a PNG takes as long as all of these together."""


def known_formats(asked: Iterable[str] | None) -> tuple[str, ...]:
    """The formats that were asked for, each once, or the usual ones; an unknown one raises."""
    if asked is None:
        return USUAL
    names = [name.strip().lower().removeprefix(".") for name in asked]
    for name in names:
        if name not in FORMATS:
            raise UsageError(f"unknown format of figures {name!r}", fix=did_you_mean(name, FORMATS))
    return tuple(form for form in FORMATS if form in names)
