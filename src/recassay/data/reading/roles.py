"""Which column is the user, the item, the rating, the time and the event: asked for, or known by its usual
name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from recassay.core.columns import EVENT, ITEM, RATING, TIMESTAMP, USER
from recassay.core.errors import InputError, UsageError
from recassay.core.names import canonical, did_you_mean
from recassay.core.words import listing
from recassay.data.reading.records import ROLES, brief

_USUAL = {
    USER: (
        "user users user_id uid u_id user_no user_name username user_hash visitor visitor_id customer "
        "customer_id customer_no reviewer reviewer_id member member_id consumer_id client_id buyer_id "
        "profile_id person_id account_id subscriber_id"
    ),
    ITEM: (
        "item items item_id iid i_id item_no movie movie_id film_id anime_id asin parent_asin sku product "
        "product_id business_id book_id isbn artist_id track_id song_id video_id game_id app_id recipe_id "
        "venue_id location_id poi_id news_id article_id joke_id beer_id paper_id course_id show_id content_id "
        "ad_id"
    ),
    RATING: (
        "rating ratings score stars star_rating overall weight count preference book_rating review_overall "
        "play_count plays listen_count visits hours"
    ),
    TIMESTAMP: (
        "timestamp timestamps time date datetime date_time ts t unix_review_time unix_time unix_timestamp "
        "time_stamp event_time review_time review_date created_at rating_timestamp local_time utc_time "
        "time_ms timestamp_ms"
    ),
    EVENT: "event event_type events type behavior behaviour behavior_type action action_type",
}
USUAL_NAMES: Mapping[str, tuple[str, ...]] = {role: tuple(names.split()) for role, names in _USUAL.items()}
"""Compared without regard to case, blanks, hyphens, underscores and dots."""

STAND_INS = ("session", "session_id", "user_session", "playlist_id")
"""Taken for users only where none of the usual names occurs."""

_KNOWN = {role: {canonical(name) for name in names} for role, names in USUAL_NAMES.items()}
_STAND_INS = {canonical(name) for name in STAND_INS}


def is_known_name(text: str) -> bool:
    """Whether a header would name a user or an item column like this."""
    name = canonical(text.strip())
    return name in _KNOWN[USER] | _KNOWN[ITEM] | _STAND_INS


def refuse_unknown_roles(asked: Mapping[str, str | int]) -> None:
    """A column map may name our five roles and nothing else."""
    for role in asked:
        if role not in ROLES:
            raise UsageError(f"columns names an unknown role {role!r}", fix=did_you_mean(role, ROLES))


def refuse_repeated_names(names: Sequence[str], where: str) -> None:
    """Two columns of one name cannot be distinguished."""
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        what = f"the header names {listing(map(brief, twice))} more than once"
        raise InputError(what, where=where, fix="give each column its own name")


def assign_roles(
    names: Sequence[str],
    asked: Mapping[str, str | int],
    where: str,
    *,
    by_position: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """The position of each role's column.

    `asked` (our name -> a column's name or position) goes before all; a role it does not give is recognised
    by its usual name, or, for a file without a header, taken from `by_position`. User and item must be found.
    Two columns that both bear a usual name of one role are an error which names them.
    """
    roles = {role: _asked_position(role, column, names, where) for role, column in asked.items()}
    for role in (role for role in ROLES if role not in roles):
        taken = set(roles.values())
        place = _recognised(role, names, taken, where) if by_position is None else by_position.get(role)
        if place is not None and place not in taken:
            roles[role] = place
    for role in (USER, ITEM):
        if role not in roles:
            what = f"no column is recognised as the {role} among {listing(map(brief, names), most=8)}"
            raise InputError(what, where=where, fix=f"say which one it is: columns={{'{role}': ...}}")
    for (role, place), (other, same) in combinations(roles.items(), 2):
        if place == same:
            what = f"column {names[place]!r} cannot be both the {role} and the {other}"
            raise UsageError(what, fix="give each its own column")
    return roles


def _asked_position(role: str, column: str | int, names: Sequence[str], where: str) -> int:
    if isinstance(column, int):
        if not 0 <= column < len(names):
            what = f"column {column} for the {role} does not exist; there are {len(names)}"
            raise InputError(what, where=where, fix=f"count from 0 to {len(names) - 1}")
        return column
    if column in names:
        return names.index(column)
    raise InputError(f"no column {column!r} for the {role}", where=where, fix=did_you_mean(column, names))


def _recognised(role: str, names: Sequence[str], taken: set[int], where: str) -> int | None:
    for known in (_KNOWN[role], _STAND_INS if role == USER else set()):
        places = [p for p, name in enumerate(names) if canonical(name.strip()) in known and p not in taken]
        if len(places) > 1:
            what = f"{listing(brief(names[p]) for p in places)} could each be the {role}"
            raise InputError(what, where=where, fix=f"choose one: columns={{'{role}': '{names[places[0]]}'}}")
        if places:
            return places[0]
    return None
