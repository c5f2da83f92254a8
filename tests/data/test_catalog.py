"""The catalog's entries are well formed, and every dataset of the papers is there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pydantic import ValidationError

from recassay.core.errors import RecAssayError, UsageError
from recassay.core.names import canonical
from recassay.core.registry import datasets
from recassay.data.catalog.entries import CATALOG, Catalog, CatalogEntry, all_datasets, find_dataset, read_catalog
from recassay.data.published.tables import published_characteristics

KDD24 = [
    "amazon_cds",
    "amazon_finefoods",
    "amazon_tv",
    "beeradvocate",
    "brightkite",
    "dianping",
    "douban_books",
    "douban_movies",
    "douban_music",
    "epinions",
    "food",
    "foursquare",
    "goodreads",
    "gowalla",
    "kuairec_full",
    "kuairec_small",
    "movielens_10m",
    "movielens_1m",
    "movielens_20m",
    "mts_library",
    "amazon_mi",
    "ratebeer",
    "reddit",
    "rekko",
    "retailrocket",
    "netflix",
    "tafeng",
    "yelp",
    "megamarket",
    "zvuk",
]
BI_REIRT = [
    "Subscription_Boxes",
    "Magazine_Subscriptions",
    "Digital_Music",
    "Gift_Cards",
    "Health_and_Personal_Care",
    "Handmade_Products",
    "All_Beauty",
    "ml-100k",
    "ml-1m",
    "epinions-recbole",
    "ModCloth",
]
COMPER = ["Filmtrust", "ML-100k", "CiaoDVD"]
OTHERS = [
    "ml-25m",
    "ml-32m",
    "ml-latest-small",
    "lastfm-2k",
    "lastfm-360k",
    "citeulike-a",
    "jester",
    "book-crossing",
    "steam",
    "anime",
    "yelp",
    "gowalla",
    "pinterest",
    "netflix",
    "msweb",
    "retailrocket",
    "yoochoose",
    "rsc15",
    "mind-small",
    "kuairec",
    "kuairand",
    "ciao",
]
DOMAINS = {
    "Movies and clips": 9,
    "Food and beverage": 5,
    "Social networks": 4,
    "Books": 3,
    "Location-based SN": 3,
    "Music": 4,
    "E-commerce": 2,
}
"""KDD'24, Table 1."""


def entry(**fields: object) -> CatalogEntry:
    known = {
        "name": "mine",
        "title": "Mine",
        "domain": "Books",
        "home": "https://example.org/",
        "addresses": ["https://example.org/mine.zip"],
        "feedback": "implicit",
    }
    return CatalogEntry.model_validate({**known, **fields})


def test_every_address_may_be_fetched_from() -> None:
    """A plain http address is used only with a checksum; without one the entry must say what to do by hand."""
    for one in CATALOG:
        if not (one.sha256 or one.md5):
            assert all(address.startswith("https://") for address in one.addresses), one.name


def test_what_is_had_by_hand_says_where_and_how(tmp_path) -> None:
    from recassay.data.download.fetch import fetch

    one = find_dataset("msd")
    with pytest.raises(UsageError) as said:
        fetch(one, tmp_path)
    assert "take train_triplets.txt.zip from http://millionsongdataset.com/" in str(said.value)
    assert f"put the file at {tmp_path / 'train_triplets.txt.zip'} and run this again" in str(said.value)


def test_a_file_that_was_put_there_by_hand_is_read(tmp_path) -> None:
    import zipfile

    from recassay.data.download.fetch import obtain
    from recassay.data.readers import read_interactions

    one = find_dataset("msd")
    with zipfile.ZipFile(tmp_path / one.stored_name, "w") as archive:
        archive.writestr("train_triplets.txt", "u1\ts1\t3\nu1\ts2\t1\nu2\ts1\t7\n")
    file = obtain(one, tmp_path)
    assert len(read_interactions(file, one.read).interactions) == 3


@pytest.mark.parametrize("name", KDD24)
def test_the_thirty_of_kdd24(name: str) -> None:
    assert "kdd24" in find_dataset(name).papers


def test_kdd24_is_thirty_and_its_domains_are_those_of_table_1() -> None:
    found = [e for e in CATALOG if "kdd24" in e.papers]
    assert len(found) == len(set(KDD24)) == 30
    assert Counter(e.domain for e in found) == DOMAINS


def test_kdd24_names_are_those_of_the_published_table() -> None:
    assert set(published_characteristics("published:kdd24").datasets) == set(KDD24)


def test_the_other_papers() -> None:
    assert {find_dataset(name).name for name in BI_REIRT} == {e.name for e in CATALOG if "bi-reirt" in e.papers}
    assert {find_dataset(name).name for name in COMPER} == {e.name for e in CATALOG if "comper" in e.papers}
    assert find_dataset("ml-20m").papers == ("kdd24", "popularity-stratified")


@pytest.mark.parametrize("name", OTHERS)
def test_what_people_use(name: str) -> None:
    assert canonical(name) in map(canonical, find_dataset(name).names)


def test_names_are_unique_after_folding() -> None:
    names = [canonical(name) for e in CATALOG for name in e.names]
    assert [name for name, count in Counter(names).items() if count > 1] == []


@pytest.mark.parametrize("one", list(CATALOG), ids=lambda e: e.name)
def test_entry_is_well_formed(one: CatalogEntry) -> None:
    assert not one.tried, "no address could be reached during development"
    assert all(urlsplit(address).scheme in ("http", "https") for address in (*one.addresses, one.home))
    assert bool(one.addresses) != bool(one.how)
    assert one.licence
    assert one.stored_name == Path(one.stored_name).name
    assert one.read.format != "auto"
    if one.read.format != "adjacency" and one.read.format != "inter":
        assert {"user", "item"} <= set(one.read.columns)
    if one.feedback == "explicit":
        assert one.threshold is not None
    if one.threshold_source == "kdd24":
        assert one.threshold in (3.5, 0.3) or one.name in ("rekko", "mts_library")
    if one.stored_name.endswith((".zip", ".tar.gz", ".tar.bz2")):
        assert one.member
    assert (one.min_interactions == 50) == (one.name in ("zvuk", "megamarket"))


def test_one_file_name_never_means_two_files() -> None:
    by_file: dict[str, set[tuple[str, ...]]] = {}
    for one in CATALOG:
        by_file.setdefault(one.stored_name, set()).add(one.addresses or (one.name,))
    assert {name: found for name, found in by_file.items() if len(found) > 1} == {}


def test_names_as_people_write_them() -> None:
    assert find_dataset("ML-1M").name == find_dataset("MovieLens 1m").name == "ml-1m"
    assert find_dataset("gift cards").name == "amazon-2023-gift-cards"


def test_unknown_name_gets_a_hint() -> None:
    with pytest.raises(UsageError, match=r"unknown dataset 'movielens_2m'; did you mean 'movielens"):
        find_dataset("movielens_2m")
    with pytest.raises(UsageError, match=r"unknown dataset 'qqqqqq'; see `recassay.list_data\(everything=True\)`"):
        find_dataset("qqqqqq")


def test_listing_is_sorted() -> None:
    names = [e.name for e in all_datasets()]
    assert names == sorted(names)
    assert len(names) == len(CATALOG) > 60


def test_plugins_bring_entries_catalogs_and_loaders(monkeypatch: pytest.MonkeyPatch) -> None:
    parts: dict[str, tuple[str, object]] = {}
    monkeypatch.setattr(datasets, "_added", parts)
    datasets.add("mine", entry(aliases=["my-set"]))
    datasets.add("several", Catalog((entry(name="one"), entry(name="two"))))
    datasets.add("loaded", lambda: None)
    assert find_dataset("My Set").name == "mine"
    assert find_dataset("two").name == "two"
    assert len(all_datasets()) == len(CATALOG) + 3
    with pytest.raises(UsageError, match="unknown dataset 'loaded'"):
        find_dataset("loaded")


def test_two_that_claim_one_name_are_refused() -> None:
    with pytest.raises(RecAssayError, match="mine and other both claim the name 'MINE'"):
        Catalog((entry(), entry(name="other", aliases=["MINE"])))


@pytest.mark.parametrize(
    "fields",
    [
        {"addresses": []},
        {"addresses": ["file:///etc/passwd"]},
        {"addresses": ["ftp://example.org/a"]},
        {"feedback": "explicit"},
        {"threshold": 3.5},
        {"threshold_source": "kdd24"},
        {"addresses": ["https://example.org/"]},
        {"file_name": "."},
        {"min_interactions": 0},
        {"size": 0},
        {"name": "Mine"},
        {"file_name": "../evil"},
        {"file_name": "a\\b"},
        {"addresses": ["https://example.org/..%2F..%2Fevil"]},
        {"addresses": ["https://example.org/.."]},
        {"md5": "abc"},
        {"domain": "Anything"},
        {"nonsense": 1},
    ],
)
def test_malformed_entries_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        entry(**fields)


def test_the_name_of_a_file_in_the_cache() -> None:
    assert entry().stored_name == "mine.zip"
    assert entry(file_name="other.zip").stored_name == "other.zip"
    assert entry(addresses=["https://example.org/d/a%20b.zip?download=1", "https://b.org/x"]).stored_name == "a b.zip"
    assert entry(addresses=[], how="ask").stored_name == "mine.csv"


def test_catalog_from_text() -> None:
    text = '[[dataset]]\nname="a"\ntitle="A"\ndomain="Books"\nhome="https://example.org/"\nhow="ask"\nfeedback="implicit"\n'
    assert [e.name for e in read_catalog(text)] == ["a"]
    for broken in ("[[dataset", '[[dataset]]\nname="a"\n'):
        with pytest.raises(RecAssayError, match="the catalog of datasets cannot be read") as caught:
            read_catalog(broken)
        assert "\n" not in str(caught.value)
