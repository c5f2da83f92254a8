"""Which column of a table of lists is the user, the item, the rank, the score, and the algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.names import canonical
from recassay.core.words import listing
from recassay.data.reading.roles import STAND_INS, USUAL_NAMES

SPLIT = "split"
"""A column that names the split the lists were made for, by its fingerprint."""

LISTS = "items"
"""A column that holds a whole list in each row."""

NAMES: Mapping[str, tuple[str, ...]] = {
    c.USER: (*USUAL_NAMES[c.USER], *STAND_INS, "q_id", "qid", "query", "query_id", "topic", "topic_id"),
    c.ITEM: (*USUAL_NAMES[c.ITEM], "doc_id", "docid", "docno", "document", "document_id", "recommended_item"),
    c.RANK: ("rank", "position", "place", "pos", "ranking"),
    c.SCORE: (
        *("score", "scores", "prediction", "predicted", "predicted_rating", "pred", "est", "estimate", "relevance"),
        *("rating", "ratings", "probability", "prob", "similarity", "sim", "value", "weight", "relevance_score"),
    ),
    c.ALGORITHM: ("algorithm", "model", "method", "recommender", "system", "run", "run_id", "tag", "run_name"),
    SPLIT: ("split", "split_fingerprint", "fingerprint"),
}
"""Compared without regard to case, blanks, hyphens, underscores and dots."""

LIST_NAMES = ("items", "item_ids", "recommendations", "recs", "predictions", "top_k", "topk", "item_list")

_KNOWN = {role: [canonical(name) for name in names] for role, names in NAMES.items()}
_LISTS = {canonical(name) for name in LIST_NAMES}


def list_roles(names: Sequence[str], where: str) -> dict[str, str]:
    """By role, the name of its column; of several the one whose name stands first in `NAMES`.

    User and item must be found (or a column of whole lists in place of the item). What `recassay
    recommend` writes is known by its form: user, `rank`, item, `score`, the first and third called as in the log.
    """
    plain = {name: canonical(untyped(name)) for name in names}
    roles: dict[str, str] = {}
    for role, known in _KNOWN.items():
        fitting = sorted((known.index(plain[name]), name) for name in names if plain[name] in known)
        if fitting:
            roles[role] = fitting[0][1]
    if c.ITEM not in roles or plain[roles[c.ITEM]] in _LISTS:
        whole = next((name for name in names if plain[name] in _LISTS), None)
        if whole is not None:
            roles.pop(c.ITEM, None)
            roles[LISTS] = whole
    missing = [role for role in (c.USER, c.ITEM) if role not in roles and not (role == c.ITEM and LISTS in roles)]
    if missing and len(names) == 4 and (names[1], names[3]) == (c.RANK, c.SCORE):
        return {c.USER: names[0], c.RANK: names[1], c.ITEM: names[2], c.SCORE: names[3]}
    if missing:
        what = f"no column is recognised as the {' or the '.join(missing)} among {listing(map(repr, names), most=8)}"
        raise InputError(what, where=where, fix="name the columns user, item and score or rank")
    return roles


def is_list_header(cells: Sequence[str]) -> bool:
    """Whether a first row names a user and an item."""
    plain = {canonical(untyped(cell)) for cell in cells}
    return bool(plain & set(_KNOWN[c.USER])) and bool(plain & (set(_KNOWN[c.ITEM]) | _LISTS))


def untyped(name: str) -> str:
    """A header's name without RecBole's type: `user_id:token` is `user_id`."""
    head, colon, kind = name.strip().rpartition(":")
    return head if colon and kind in ("token", "token_seq", "float", "float_seq") else name.strip()
