"""Which numbers of a joined table cannot be compared: other splits, other conventions, other scales."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import polars as pl

from recassay.core import columns as c
from recassay.core.names import canonical
from recassay.core.tables.labels import is_share
from recassay.core.words import listing


def incomparable(frame: pl.DataFrame) -> list[str]:
    """A sentence for each reason why values of one column should not be set side by side; empty where none is known."""
    checks = (_look_alikes, _sampled, _protocols, _frameworks, _conventions, _scales)
    return [sentence for check in checks for sentence in check(frame)]


def _look_alikes(frame: pl.DataFrame) -> Iterator[str]:
    """Names that differ in case, accents' encoding or separators alone; they are kept as they are."""
    for kind in (c.ALGORITHM, c.DATASET):
        alike: dict[str, list[str]] = {}
        for name in frame.get_column(kind).unique(maintain_order=True).to_list():
            alike.setdefault(canonical(unicodedata.normalize("NFKC", name)), []).append(name)
        for names in alike.values():
            if len(names) > 1:
                yield f"{listing(map(ascii, names))} look alike and were kept as {len(names)} {kind}s: are they one?"


def _sampled(frame: pl.DataFrame) -> Iterator[str]:
    sampled = [label for label in frame.get_column(c.METRIC).unique(maintain_order=True) if "[sampled" in label]
    if sampled:
        yield (f"{listing(sampled)}: relevant items were ranked among drawn items, not among all; such values cannot "
               "be compared with those of full rankings, nor with another number drawn")  # fmt: skip


def _protocols(frame: pl.DataFrame) -> Iterator[str]:
    if c.PROTOCOL not in frame.columns:
        return
    known = frame.drop_nulls(c.PROTOCOL).select(c.DATASET, c.PROTOCOL, c.ALGORITHM).unique(maintain_order=True)
    several = known.filter(pl.col(c.PROTOCOL).n_unique().over(c.DATASET) > 1)
    datasets = several.get_column(c.DATASET).unique(maintain_order=True).to_list()
    if not datasets:
        return
    first = several.filter(pl.col(c.DATASET) == datasets[0])
    groups = first.group_by(c.PROTOCOL, maintain_order=True).agg(pl.col(c.ALGORITHM).unique(maintain_order=True))
    sides = [f"{listing(who)} by {_short(how)}" for how, who in groups.rows()]
    yield (f"the results on {listing(datasets)} come from different splits or protocols, so their columns cannot be "
           f"compared (on {datasets[0]}: {'; '.join(sides)})")  # fmt: skip


def _frameworks(frame: pl.DataFrame) -> Iterator[str]:
    """Different frameworks on one dataset, where it is not known whether they had the same split."""
    if c.FRAMEWORK not in frame.columns:
        return
    mixed = frame.group_by(c.DATASET, maintain_order=True).agg(pl.col(c.FRAMEWORK).fill_null("a table").unique().sort())
    several = mixed.filter(pl.col(c.FRAMEWORK).list.len() > 1)
    if c.PROTOCOL in frame.columns:
        unknown = frame.filter(pl.col(c.PROTOCOL).is_null())
        several = several.join(unknown, on=c.DATASET, how="semi", maintain_order="left")
    if several.height:
        names = several.get_column(c.DATASET).to_list()
        who = listing(several.get_column(c.FRAMEWORK).explode().unique().sort(), most=None, last="and")
        yield f"on {listing(names)} the results are of {who}; whether they were made on one split is not known"


def _conventions(frame: pl.DataFrame) -> Iterator[str]:
    if c.CONVENTION not in frame.columns:
        return
    known = frame.drop_nulls(c.CONVENTION).with_columns(pl.col(c.CONVENTION).str.split(":").list.first().alias("name"))
    for (metric,), part in known.group_by([c.METRIC], maintain_order=True):
        if part.get_column("name").n_unique() < 2:
            continue
        ways = part.unique("name", keep="first", maintain_order=True)
        pairs = ways.select(c.FRAMEWORK, c.CONVENTION).rows()
        shown = "; ".join(f"{who or 'a table'}: {_short(how)}" for who, how in pairs)
        mixed = part.filter(pl.col("name").n_unique().over(c.DATASET) > 1)
        within = mixed.get_column(c.DATASET).unique().sort().to_list()
        where = f"on {listing(within)} they stand in one column" if within else "each dataset has one of them"
        yield f"{metric} is computed in {ways.height} ways, and their values cannot be compared ({shown}); {where}"


def _scales(frame: pl.DataFrame) -> Iterator[str]:
    known = frame.drop_nulls(c.VALUE)
    largest = known.group_by([c.METRIC, c.DATASET, c.SOURCE], maintain_order=True).agg(pl.col(c.VALUE).max())
    for (metric,), part in largest.group_by([c.METRIC], maintain_order=True):
        if not is_share(str(metric)):
            continue
        above = part.filter(pl.col(c.VALUE) > 1.0)
        if above.height and above.height < part.height:
            source, value = above.select(c.SOURCE, c.VALUE).row(0)
            yield f"{metric} has values up to {value:g} in {source} and up to 1 elsewhere: percent beside shares?"
        elif above.height:
            yield f"{metric} has values above 1, which were read as they stand (percent, or a count?)"


def _short(text: str) -> str:
    return text if len(text) <= 110 else f"{text[:107]}..."
