"""Step II of ComPer's matrix: how alike the definitions of dimensions and objectives are (Dice, equation 1).

The document of definitions behind the paper's Table 3 is not published: "as many related descriptions as possible",
from papers and the web. The one-line definitions that the paper prints (section III.A and Table 1) share not a single
stem. So Table 3 is built in as published, and this step is for definitions of one's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import numpy as np

from recassay.analysis.comper.matrix import DIMENSIONS
from recassay.core.errors import InputError, listing
from recassay.core.names import canonical
from recassay.core.types import FloatArray

STOP_WORDS = frozenset(
    re.findall(
        "[a-z]+",
        """
        a about above after again all also am an and any are as at be because been before being below between both but
        by can could did do does doing down during each either else ever few for from further had has have having he her
        here hers herself him himself his how however i if in into is it its itself just like may me might more most
        must my myself no nor not of off on once only or other ought our ours ourselves out over own per rather same
        shall she should so some such than that the their theirs them themselves then there these they this those
        through to too under until up upon us very was we were what when where whether which while who whom whose why
        will with within without would yet you your yours yourself yourselves
        """,
    )
)
"""Function words of English."""


@cache
def stem(word: str) -> str:
    """The stem of a lower-case English word by Porter's algorithm (Program 14(3), 1980); one or two letters stay."""
    from snowballstemmer import stemmer

    return word if len(word) <= 2 else str(stemmer("porter").stemWord(word))


def features(definition: str) -> frozenset[str]:
    """The bag of words of a definition: lower case, without stop words, stemmed, each stem once."""
    words = re.findall(r"[a-z]+", definition.casefold())
    return frozenset(stem(word) for word in words if len(word) > 1 and word not in STOP_WORDS)


def dice(left: frozenset[str], right: frozenset[str]) -> float:
    """Equation (1): 2 |X and Y| / (|X| + |Y|), 0 for two empty sets."""
    size = len(left) + len(right)
    return 2 * len(left & right) / size if size else 0.0


def dice_table(definitions: Mapping[str, str]) -> tuple[FloatArray, tuple[str, ...]]:
    """Table 3 for these definitions, and the objectives: similarity of each dimension (in the order of `DIMENSIONS`)
    and each objective, which is every name that is no dimension.
    """
    bags = {name: features(text) for name, text in definitions.items()}
    dimensions = {canonical(name): bag for name, bag in bags.items() if canonical(name) in DIMENSIONS}
    objectives = {name: bag for name, bag in bags.items() if canonical(name) not in DIMENSIONS}
    absent = [name for name in DIMENSIONS if name not in dimensions]
    if absent or not objectives:
        what = f"no definition of {listing(absent)}" if absent else "no objective is defined"
        raise InputError(what, fix=f"define {listing(DIMENSIONS, most=None)} and the objectives")
    wordless = [name for name, bag in bags.items() if not bag]
    if wordless:
        raise InputError(f"the definition of {listing(wordless)} has no word left", fix="define it in more words")
    table = [[dice(dimensions[name], bag) for bag in objectives.values()] for name in DIMENSIONS]
    return np.array(table), tuple(objectives)
