"""Identities between metrics of one row: what must hold for any lists, and what must hold with one target per user."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, pairwise

from recassay.analysis.review.result import Flag, about, flag
from recassay.core.tables.labels import split_label
from recassay.core.tables.printed import Entry, PaperTable

ONE_TARGET, ALL_TARGETS, OF_MEANS = "one target", "all targets", "of means"
MOST = 0.6
"""Where this share of rows fails one identity, the metric is defined otherwise: one remark instead of many flags."""

Check = tuple[str, str, bool, tuple[Entry, ...]]


def check_identities(table: PaperTable) -> Iterator[Flag]:
    """Rows that break an identity; one remark where nearly all do."""
    rows: dict[tuple[str, ...], dict[str, Entry]] = defaultdict(dict)
    for entry in table.entries:
        rows[entry.algorithm, entry.dataset, entry.group, entry.condition][entry.metric] = entry
    checks = [check for row in rows.values() for check in _checks(row)]
    by_code: dict[tuple[str, str], list[Check]] = defaultdict(list)
    for check in checks:
        by_code[check[0], check[3][0].dataset].append(check)
    several: set[str] = set()
    remarks, flags = [], []
    for (code, dataset), tried in by_code.items():
        broken = [check for check in tried if not check[2]]
        if len(broken) >= 3 and len(broken) >= MOST * len(tried):
            several |= {dataset} if broken[0][1] == ONE_TARGET else set()
            facts = {"identity": code, "dataset": dataset, "count": len(broken), "of": len(tried)}
            remarks.append(flag("identities", "defined_otherwise", "worth a look", table, broken[0][3], facts))
        else:
            flags += broken
    yield from remarks
    seen: set[tuple[int, int]] = set()
    for code, needs, _, entries in sorted(flags, key=lambda check: check[1] != ""):
        cells = tuple((entry.row, entry.column) for entry in entries)
        if (entries[0].dataset in several and needs == ONE_TARGET) or set(cells) & seen:
            continue
        seen.update(cells)
        values = {entry.metric: entry.cell.text for entry in entries}
        facts = {**about(entries[0]), "metric": "", "identity": code, "values": values}
        yield flag("identities", "broken", "certain if" if needs else "certain", table, entries, facts, needs)


def _checks(row: dict[str, Entry]) -> Iterator[Check]:
    """Every identity that a row can be held to: its name, what it rests on, whether it holds, the cells."""
    at: dict[str, dict[int, Entry]] = defaultdict(dict)
    for label, entry in row.items():
        name, cutoff = split_label(label)
        if cutoff is None or cutoff.isdigit():
            at[name][int(cutoff or 0)] = entry
    for name, needs in (("hitrate", ""), ("mrr", ""), ("recall", ALL_TARGETS), ("ndcg", ONE_TARGET)):
        cut = sorted(k for k in at[name] if k)
        for a, b in pairwise(cut):
            low, high = at[name][a], at[name][b]
            yield f"{name} grows", needs, low.cell.low <= high.cell.high + 1e-12, (low, high)
    for hits, base in (("hitrate", ""), ("recall", ONE_TARGET)):
        for k, hit in at[hits].items():
            for gain in ("ndcg", "mrr"):
                for place in {k, 0} if gain == "mrr" and k >= 10 and base else {k}:
                    if place in at[gain] and (place or k == 0):
                        yield (
                            f"{gain} within {hits}",
                            base,
                            at[gain][place].cell.low <= hit.cell.high + 1e-12,
                            (at[gain][place], hit),
                        )
            if k in at["precision"] and k:
                one, share = at["precision"][k].cell, hit.cell
                fits = one.low * k <= share.high + 1e-12 and one.high * k >= share.low - 1e-12
                yield f"precision of {hits}", ONE_TARGET, fits, (at["precision"][k], hit)
        yield from _bands(at["ndcg"], at[hits], hits)
    for k, ndcg in at["ndcg"].items():
        if k in at["mrr"]:
            yield "mrr within ndcg", ONE_TARGET, at["mrr"][k].cell.low <= ndcg.cell.high + 1e-12, (at["mrr"][k], ndcg)
    for k, hit in at["hitrate"].items():
        if k in at["recall"]:
            same = at["recall"][k].cell
            yield (
                "hitrate is recall",
                ONE_TARGET,
                same.low <= hit.cell.high and hit.cell.low <= same.high,
                (hit, at["recall"][k]),
            )
    for k, f1 in at["f1"].items():
        if k in at["precision"] and k in at["recall"]:
            p, r = at["precision"][k].cell, at["recall"][k].cell
            least, most = (2 * a * b / (a + b) if a + b > 0 else 0 for a, b in ((p.low, r.low), (p.high, r.high)))
            fits = least - f1.cell.half <= (f1.cell.value or 0) <= most + f1.cell.half
            yield "f1 of means", OF_MEANS, fits, (f1, at["precision"][k], at["recall"][k])


def _bands(ndcg: dict[int, Entry], hits: dict[int, Entry], name: str) -> Iterator[Check]:
    """With one target, hits between two cut-offs a < b add between 1/log2(b+1) and 1/log2(a+2) each to nDCG."""
    shared = sorted(k for k in ndcg.keys() & hits.keys() if k)
    for k in shared:
        enough = ndcg[k].cell.high >= hits[k].cell.low / math.log2(k + 1) - 1e-12
        yield f"ndcg band of {name}", ONE_TARGET, enough, (ndcg[k], hits[k])
    for a, b in combinations(shared, 2):
        more = hits[b].cell.low - hits[a].cell.high, hits[b].cell.high - hits[a].cell.low
        gain = ndcg[b].cell.low - ndcg[a].cell.high, ndcg[b].cell.high - ndcg[a].cell.low
        fits = (
            gain[1] >= max(more[0], 0) / math.log2(b + 1) - 1e-12
            and gain[0] <= max(more[1], 0) / math.log2(a + 2) + 1e-12
        )
        yield f"ndcg band of {name}", ONE_TARGET, fits, (ndcg[b], ndcg[a], hits[b], hits[a])
