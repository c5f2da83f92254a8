"""Metrics once more, slowly: plain Python over sets and lists, from the definitions, sharing no code."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from recassay.core.types import TopK

NAN = float("nan")


@dataclass(frozen=True)
class Case:
    """A small evaluation: `lists[r]` is of user `users[r]`; `train` and `truth` are sets by user."""

    n_items: int
    width: int
    users: list[int]
    lists: list[list[int]]
    train: list[set[int]]
    truth: list[set[int]]

    def top(self) -> TopK:
        items = np.full((len(self.users), self.width), -1, dtype=np.int32)
        for row, listed in enumerate(self.lists):
            items[row, : len(listed)] = listed
        scores = np.where(items >= 0, -np.arange(self.width, dtype=np.float32), np.float32(-np.inf))
        return TopK(np.array(self.users, dtype=np.int32), items, scores.astype(np.float32))

    def matrix(self, rows: list[set[int]]) -> csr_array:
        dense = np.zeros((len(rows), self.n_items), dtype=np.float32)
        for user, items in enumerate(rows):
            dense[user, sorted(items)] = 1
        return csr_array(dense)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    n_users, n_items = draw(st.integers(1, 7)), draw(st.integers(2, 14))
    width = draw(st.integers(1, n_items))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    density = draw(st.sampled_from([0.0, 0.15, 0.4, 0.8]))
    users = [int(u) for u in rng.permutation(n_users)[: rng.integers(1, n_users + 1)]]
    full = draw(st.booleans())
    lengths = [width if full else int(rng.integers(0, width + 1)) for _ in users]
    return Case(
        n_items,
        width,
        users,
        [[int(i) for i in rng.permutation(n_items)[:length]] for length in lengths],
        [set(np.flatnonzero(rng.random(n_items) < density).tolist()) for _ in range(n_users)],
        [set(np.flatnonzero(rng.random(n_items) < 0.3).tolist()) for _ in range(n_users)],
    )


def hits_before(listed: list[int], relevant: set[int], end: int) -> int:
    return sum(1 for item in listed[:end] if item in relevant)


def precision(case: Case, user: int, listed: list[int], k: int, variant: str) -> float:
    relevant = case.truth[user]
    return hits_before(listed, relevant, k) / {"by_k": k, "by_min": min(k, len(relevant))}[variant]


def recall(case: Case, user: int, listed: list[int], k: int, variant: str) -> float:
    relevant = case.truth[user]
    divisor = {"by_relevant": len(relevant), "by_min": min(k, len(relevant))}[variant]
    return hits_before(listed, relevant, k) / divisor


def f1(case: Case, user: int, listed: list[int], k: int, variant: str) -> float:
    p, r = precision(case, user, listed, k, "by_k"), recall(case, user, listed, k, "by_relevant")
    return 0.0 if p + r == 0 else 2 * p * r / (p + r)


def hitrate(case: Case, user: int, listed: list[int], k: int, variant: str) -> float:
    return 1.0 if set(listed[:k]) & case.truth[user] else 0.0


def rprecision(case: Case, user: int, listed: list[int], k: int, variant: str) -> float:
    relevant = case.truth[user]
    found = hits_before(listed, relevant, min(k, len(relevant)))
    return found / {"by_relevant": len(relevant), "by_min": min(k, len(relevant))}[variant]


def ndcg(case: Case, user: int, listed: list[int], k: int, variant: str) -> float:
    relevant = case.truth[user]
    gained = sum(1 / math.log2(place + 2) for place, item in enumerate(listed[:k]) if item in relevant)
    best = {"ideal_min": min(k, len(relevant)), "ideal_k": k}[variant]
    return gained / sum(1 / math.log2(place + 2) for place in range(best))


def average_precision(case: Case, user: int, listed: list[int], k: int, variant: str) -> float:
    relevant = case.truth[user]
    terms = [
        hits_before(listed, relevant, place) / place
        for place in range(1, min(k, len(listed)) + 1)
        if listed[place - 1] in relevant
    ]
    divisor = {
        "by_min": min(k, len(relevant)),
        "by_relevant": len(relevant),
        "by_k": k,
        "by_hits": len(terms),
    }
    return sum(terms) / divisor[variant] if terms else 0.0


def mrr(case: Case, user: int, listed: list[int], k: int, variant: str) -> float:
    for place, item in enumerate(listed[:k], start=1):
        if item in case.truth[user]:
            return 1 / place
    return 0.0


def auc(case: Case, user: int, listed: list[int], k: int, variant: str) -> float:
    """Over all pairs: 1 where the relevant one is above, 1/2 where neither is listed."""
    seen = case.train[user] if variant == "unseen" else set()
    candidates = set(range(case.n_items)) - seen
    positive, negative = case.truth[user] & candidates, candidates - case.truth[user]
    if not positive or not negative:
        return NAN
    place = {item: position for position, item in enumerate(listed[:k])}
    won = 0.0
    for good in positive:
        for bad in negative:
            a, b = place.get(good, math.inf), place.get(bad, math.inf)
            won += 0.5 if a == b else float(a < b)
    return won / (len(positive) * len(negative))


def exponent(counts: list[int]) -> float:
    """Of a power law of the counts above 0, by maximum likelihood; 1 where there are none."""
    known = [count for count in counts if count > 0]
    if not known:
        return 1.0
    return 1 + len(known) / sum(math.log(count / (min(known) - 0.5)) for count in known)


def event_weights(case: Case, power: str = "0.5", clip: float = math.inf) -> dict[tuple[int, int], float]:
    """By user and relevant item, the inverse of a power of popularity, 1 on average."""
    counts = [len(owners(case, item)) for item in range(case.n_items)]
    own = (exponent(counts) + 1) / 2 if power == "fitted" else float(power)
    pairs = [(user, item) for user, items in enumerate(case.truth) for item in items]
    raw = {pair: max(counts[pair[1]], 1) ** -own for pair in pairs}
    mean = sum(raw.values()) / len(raw)
    cut = {pair: min(value / mean, clip) for pair, value in raw.items()}
    return {pair: value * len(cut) / sum(cut.values()) for pair, value in cut.items()}


def weighted(name: str, case: Case, user: int, listed: list[int], k: int, variant: str) -> float:
    """`variant` as it is written: ips or snips, then perhaps `power P` and `clip C`."""
    kind, *rest = variant.split()
    said = {rest[i]: rest[i + 1] for i in range(0, len(rest), 2)}
    weights = event_weights(case, said.get("power", "0.5"), float(said.get("clip", "inf")))
    relevant = case.truth[user]
    own = {item: weights[user, item] for item in relevant}
    if kind == "snips":
        own = {item: weight * len(own) / sum(own.values()) for item, weight in own.items()}
    hits = [(place, own[item]) for place, item in enumerate(listed[:k], 1) if item in relevant]
    if name == "recall":
        return sum(weight for _, weight in hits) / len(relevant)
    if name == "hitrate":
        return 1 - math.prod(1 - weight for _, weight in hits)
    if name == "ndcg":
        ideal = sum(1 / math.log2(place + 1) for place in range(1, min(k, len(relevant)) + 1))
        return sum(weight / math.log2(place + 1) for place, weight in hits) / ideal
    gained = 0.0
    for place, weight in hits:
        gained += weight * (1 + sum(other for above, other in hits if above < place)) / place
    return gained / min(k, len(relevant))


def aclt(case: Case, user: int, listed: list[int], k: int, variant: str) -> float:
    return longtail(case, user, listed, k, variant) * len(listed[:k])


def discovery(case: Case, user: int, listed: list[int], k: int, variant: str, worth: dict[int, float]) -> float:
    if variant == "list":
        return sum(worth[item] for item in listed[:k]) / len(listed[:k]) if listed[:k] else NAN
    if not case.truth[user]:
        return NAN
    discount = [1 / math.log2(place + 2) for place in range(k)]
    return sum(discount[p] * worth[i] for p, i in enumerate(listed[:k]) if i in case.truth[user]) / sum(discount)


def epc(case: Case, user: int, listed: list[int], k: int, variant: str) -> float:
    m = max(training_users(case), 1)
    return discovery(case, user, listed, k, variant, {i: 1 - len(owners(case, i)) / m for i in range(case.n_items)})


def efd(case: Case, user: int, listed: list[int], k: int, variant: str) -> float:
    total = max(sum(len(items) for items in case.train), 1)
    worth = {i: -math.log2(max(len(owners(case, i)), 1) / total) for i in range(case.n_items)}
    return discovery(case, user, listed, k, variant, worth)


def user_coverage(case: Case, k: int, variant: str) -> float:
    return sum(1 for listed in case.lists if len(listed[:k]) >= (k if variant == "full" else 1)) / len(case.lists)


def deviation_over_mean(chances: list[float]) -> float:
    mean = sum(chances) / len(chances)
    if mean == 0:
        return NAN
    return math.sqrt(sum((chance - mean) ** 2 for chance in chances) / len(chances)) / mean


def poprsp(case: Case, k: int, variant: str) -> float:
    head = covering(case, 0.8)
    chances = []
    for group in (head, set(range(case.n_items)) - head):
        possible = sum(len(group - case.train[user]) for user in case.users)
        if not possible:
            return NAN
        chances.append(sum(len(group & set(listed[:k])) for listed in case.lists) / possible)
    return deviation_over_mean(chances)


def popreo(case: Case, k: int, variant: str) -> float:
    head = covering(case, 0.8)
    chances = []
    for group in (head, set(range(case.n_items)) - head):
        possible = sum(len(group & case.truth[user]) for user in case.users)
        if not possible:
            return NAN
        hits = [group & case.truth[u] & set(listed[:k]) for u, listed in zip(case.users, case.lists, strict=True)]
        chances.append(sum(map(len, hits)) / possible)
    return deviation_over_mean(chances)


def owners(case: Case, item: int) -> set[int]:
    return {user for user, items in enumerate(case.train) if item in items}


def training_users(case: Case) -> int:
    return sum(1 for items in case.train if items)


def diversity(case: Case, user: int, listed: list[int], k: int, variant: str) -> float:
    pairs = list(combinations(listed[:k], 2))
    if not pairs:
        return NAN
    total = 0.0
    for a, b in pairs:
        one, other = owners(case, a), owners(case, b)
        if one and other:
            total += len(one & other) / math.sqrt(len(one) * len(other))
    return 1 - total / len(pairs)


def novelty(case: Case, user: int, listed: list[int], k: int, variant: str) -> float:
    m = training_users(case)
    if not listed[:k] or m == 0:
        return NAN
    mean = sum(-math.log2(max(len(owners(case, i)), 1) / m) for i in listed[:k]) / len(listed[:k])
    if variant == "normalised":
        return mean / math.log2(m) if m > 1 else NAN
    return mean


def popularity(case: Case, user: int, listed: list[int], k: int, variant: str) -> float:
    if not listed[:k]:
        return NAN
    mean = sum(len(owners(case, i)) for i in listed[:k]) / len(listed[:k])
    return mean if variant == "count" else mean / max(training_users(case), 1)


def sorted_by_count(case: Case) -> list[int]:
    return sorted(range(case.n_items), key=lambda item: (-len(owners(case, item)), item))


def covering(case: Case, share: float) -> set[int]:
    """The most popular items, taken one by one while less than `share` of the interactions is covered."""
    total = sum(len(items) for items in case.train)
    head: set[int] = set()
    covered = 0
    for item in sorted_by_count(case):
        if covered >= share * total:
            break
        head.add(item)
        covered += len(owners(case, item))
    return head


def longtail(case: Case, user: int, listed: list[int], k: int, variant: str) -> float:
    if not listed[:k]:
        return NAN
    head = covering(case, 0.8)
    return sum(1 for item in listed[:k] if item not in head) / len(listed[:k])


def serendipity(case: Case, user: int, listed: list[int], k: int, variant: str) -> float:
    unseen = [item for item in sorted_by_count(case) if item not in case.train[user]]
    least = len(owners(case, unseen[k - 1])) if len(unseen) >= k else 0
    unexpected = [item for item in listed[:k] if len(owners(case, item)) < least]
    found = sum(1 for item in unexpected if item in case.truth[user])
    if variant == "by_k":
        return found / k
    return found / len(unexpected) if unexpected else 0.0


def calibration(case: Case, user: int, listed: list[int], k: int, variant: str) -> float:
    profile = case.train[user]
    if not profile or not listed[:k]:
        return NAN
    head, body = covering(case, 0.2), covering(case, 0.8)
    groups = [head, body - head, set(range(case.n_items)) - body]
    p = [len(profile & group) / len(profile) for group in groups]
    q = [len(set(listed[:k]) & group) / len(listed[:k]) for group in groups]
    if variant == "kl":
        return sum(a * math.log(a / (0.99 * b + 0.01 * a)) for a, b in zip(p, q, strict=True) if a > 0)
    middle = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
    return sum(
        0.5 * share * math.log2(share / m)
        for part in (p, q)
        for share, m in zip(part, middle, strict=True)
        if share > 0
    )


def exposure(case: Case, k: int) -> list[int]:
    return [sum(1 for listed in case.lists if item in listed[:k]) for item in range(case.n_items)]


def coverage(case: Case, k: int, variant: str) -> float:
    eligible = [i for i in range(case.n_items) if variant == "catalogue" or owners(case, i)]
    counts = exposure(case, k)
    return sum(1 for item in eligible if counts[item]) / len(eligible) if eligible else NAN


def gini(case: Case, k: int, variant: str) -> float:
    """Half the mean absolute difference over the mean: another road to the same number."""
    counts = exposure(case, k)
    n, total = len(counts), sum(counts)
    if total == 0:
        return NAN
    differences = sum(abs(a - b) for a in counts for b in counts)
    return differences / (2 * {"over_n": n, "over_n_minus_1": n - 1, "over_n_plus_1": n + 1}[variant] * total)


def entropy(case: Case, k: int, variant: str) -> float:
    counts = exposure(case, k)
    total = sum(counts)
    if total == 0:
        return NAN
    nats = sum(x / total * math.log(total / x) for x in counts if x)
    return {"nats": nats, "bits": nats / math.log(2), "normalised": nats / math.log(len(counts))}[variant]


NEEDS_RELEVANT = {
    "precision": precision,
    "recall": recall,
    "f1": f1,
    "hitrate": hitrate,
    "rprecision": rprecision,
    "ndcg": ndcg,
    "map": average_precision,
    "mrr": mrr,
    "serendipity": serendipity,
}
OF_THE_LIST = {
    "auc": auc,
    "diversity": diversity,
    "novelty": novelty,
    "popularity": popularity,
    "longtail": longtail,
    "calibration": calibration,
    "aclt": aclt,
    "epc": epc,
    "efd": efd,
}
OF_THE_CATALOGUE = {
    "coverage": coverage,
    "gini": gini,
    "entropy": entropy,
    "user_coverage": user_coverage,
    "poprsp": poprsp,
    "popreo": popreo,
}


def per_user(name: str, case: Case, k: int, variant: str) -> list[float]:
    """The slow value of every list."""
    return [
        NAN
        if name in NEEDS_RELEVANT and not case.truth[user]
        else weighted(name, case, user, listed, k, variant)
        if variant.startswith(("ips", "snips"))
        else {**NEEDS_RELEVANT, **OF_THE_LIST}[name](case, user, listed, k, variant)
        for user, listed in zip(case.users, case.lists, strict=True)
    ]
