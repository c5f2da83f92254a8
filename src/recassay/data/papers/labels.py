"""What the labels of a paper's tables name: metrics, datasets, gains, averages, statistics, settings, times."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from recassay.core import columns as c
from recassay.core.names import canonical
from recassay.core.tables.labels import is_cost, is_known
from recassay.data.tables.labels import known_metric, metrics_in, spelled
from recassay.data.tables.words import AVERAGE, BACKBONES, GAIN, role_word

_GAIN = re.compile(
    r"^\W*((best|rel|relative|avg|average|max)?\W*(gain|imp|impv?|impr|improv)\b|impv\b|(?:change|gap|diff|difference)s?\b|Δ|↑|p-?val|\+?%$)",
    re.I,
)
_CUTOFF = re.compile(r"^(?:@|k\s*=\s*|top-?\s*)?(\d{1,4})$", re.IGNORECASE)
_STATISTIC = re.compile(
    r"^\W*(?:num(?:ber)?\.?\s*)?(?:of\s+)?(?:#|train|valid|test|total|all|avg|average|mean|median|min|max)*\W*(?:of\s+)?(?:users?|items?|"
    r"interactions?|inters?|ratings?|actions?|reviews?|sessions?|clicks|events?|sparsity|density|tags?|entities|relations?|"
    r"sequences?|seq|train(?:ing)?|valid(?:ation)?|test|length|avg\W*\w+|triplets?|edges|nodes|mean|median)\b",
    re.IGNORECASE,
)
_USERS = re.compile(r"^\W*(?:num(?:ber)?\.?\s*)?(?:of\s+)?(?:users?|customers?)\W*$", re.IGNORECASE)
_SETTING = re.compile(
    r"(?:learning|lr|batch|dropout|epochs?|adam|optimi[sz]er|weight.?decay|embedding|dimensions?|hidden|layers?|heads?|"
    r"temperature|warmup|steps|seed|rank|alpha|max.?len|negative|λ|α|β|γ|τ|size|number of|patience|lora|depth|"
    r"threshold|ratio)", re.IGNORECASE,
)  # fmt: skip
_COST = re.compile(
    r"\b(?:time|seconds?|hours?|minutes?|min|latency|g?flops|params?|parameters|memory|throughput|speed|qps|cost)\b|"
    r"\([hs]\)", re.IGNORECASE,
)  # fmt: skip
_DATASET = re.compile(
    r"^(?:movielens|ml-?\d|amazon|yelp|gowalla|beauty|sports?|toys?|steam|books?|last-?fm|netflix|ciao|epinions|douban|"
    r"retail-?rocket|diginetica|yoochoose|tmall|taobao|foursquare|citeulike|kuai|mind\b|criteo|avazu|frappe|pinterest|"
    r"goodreads|bookcrossing|jester|clothing|electronics|video|games|instruments|office|pet|music|movies|baby|grocery|"
    r"home|tools|arts|scientific|alibaba|tiktok|xing|nowplaying|30music|tianchi|filmtrust|anime|delicious|"
    r"million ?song|msd\b)",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"^(?:overall|all|full|head|tail|cold|warm|in-?set|unseen|seen|popular|unpopular|long-?tail|sparse|dense|"
    r"original|shuffled?|normal|new|y\d+|(?:cold|warm)?-?\s?start|(?:head|tail|cold|warm)[ -](?:items?|users?)|"
    r"(?:un)?popular group|group)$", re.IGNORECASE,
)  # fmt: skip
_ABLATED = re.compile(
    r"^\W*(?:\(\w\)\W*)?(?:w\s?/\s?o\b|w/|without\b|no\b|w\.o\.|only\b|\+|-\s?w)|\b(?:w/o|w\.o\.|without|variant)\b",
    re.I,
)
_OURS = re.compile(r"\bours?\b|\bproposed\b|^our", re.IGNORECASE)
NO_RESULT = re.compile(
    r"^\W*(?:p\s?\(|p\W*$|(?:(?:mean |avg\.? |average )?rank(?:s|ing)?|wins?|firsts?|interval|#?\s*params?|size|"
    r"model size|epochs?|p-?values?|year|venue|type|id|row|no\.?)(?![\w-]))", re.IGNORECASE,
)  # fmt: skip


def metric_of(text: str) -> str | None:
    """The label of the metric that a text names, known or with a cut-off; None where it names none."""
    bare = re.sub(r"\s*@\s*", "@", re.sub(r"[↑↓()*]|(?<![A-Za-z])%|\bin %", " ", text)).strip()
    metric = known_metric(bare) if re.search(r"[A-Za-z]{2}|^[A-Za-z]@", bare) else None
    if metric is None and re.fullmatch(r"[A-Za-z][\w .-]*@\d+", bare):
        metric = spelled(bare)
    return metric.label if metric is not None and not metric.deviation else None


def is_metric(text: str) -> bool:
    """Whether a text names a metric of quality."""
    label = metric_of(text)
    return label is not None and not is_cost(label)


def metrics_named(text: str) -> list[str]:
    """The metrics that a caption names: those with a cut-off, else those in capitals that are known."""
    named = metrics_in(re.sub(r"\s*@\s*", "@", text))
    words = re.findall(r"\b[A-Z][A-Za-z]*[A-Z]\w*\b|\b(?:Recall|Precision)\b", text)
    return named or list(
        dict.fromkeys(m.label for m in map(known_metric, words) if m is not None and is_known(m.label))
    )


def cutoff_of(text: str) -> str | None:
    """`10` where a label is a cut-off alone: `@10`, `K=10`, `Top-10`."""
    found = _CUTOFF.match(text.strip())
    return found[1] if found else None


def is_gain(text: str) -> bool:
    """Whether a label names a comparison of others: `Improv.`, `Gain (%)`."""
    return bool(GAIN.match(text) or _GAIN.match(text))


def is_average(text: str) -> bool:
    """Whether a label names an average over others."""
    return bool(AVERAGE.match(text)) and not text.lower().startswith("overall")


def is_ours(text: str) -> bool:
    """Whether a table calls an algorithm its own."""
    return bool(_OURS.search(text))


def called(text: str) -> str:
    """The name of an algorithm without the remark that it is ours."""
    return re.sub(r"\s*[\[(](?:ours?|proposed)[\])]", "", text, flags=re.IGNORECASE).strip()


def is_ablated(text: str) -> bool:
    """Whether a name is that of a variant with a part taken out or put in."""
    return bool(_ABLATED.search(text))


def is_setting(text: str) -> bool:
    """Whether a label names a parameter."""
    return bool(_SETTING.search(text))


def is_costly(text: str) -> bool:
    """Whether a label names a time, a size or another cost."""
    return bool(_COST.search(text))


def is_users(text: str) -> bool:
    """Whether a label of statistics counts users."""
    return bool(_USERS.match(text))


def is_statistic(text: str) -> bool:
    """Whether a label is one of a table that describes datasets."""
    return bool(_STATISTIC.match(text)) and not is_costly(text)


def is_condition(text: str) -> bool:
    """Whether a label is a part of the users or items, or a state of the data."""
    return bool(_CONDITION.match(text))


def share_of(labels: Iterable[str], test: Callable[[str], object]) -> float:
    """The share of the labels that say something for which a test holds."""
    known = [label for label in labels if label]
    return sum(bool(test(label)) for label in known) / len(known) if known else 0.0


def names_datasets(labels: Sequence[str]) -> bool:
    """Whether most labels begin like datasets that everybody uses."""
    return share_of(labels, _DATASET.match) >= 0.5


def role_of(word: str) -> str | None:
    """What the word in a corner says of its names: `algorithm`, `dataset`, `group`, or nothing that is known."""
    if canonical(word) in BACKBONES or canonical(word) in {"scenario", "category", "group", "type", "row", "setting"}:
        return "group"
    role = role_word(word)
    if role is None and re.search(r"\b(?:models?|methods?|variants?|algorithms?|ablation|loss)\b", word, re.IGNORECASE):
        role = c.ALGORITHM
    if role is None and canonical(word) == "datasets":
        role = c.DATASET
    return role if role in (c.ALGORITHM, c.DATASET) else None
