"""The cache of datasets: an exact round trip, atomic folders, checked names and checksums."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recassay
from recassay.core.errors import InputError, UsageError
from recassay.core.interactions import RepeatRule
from recassay.core.specs.specs import ReadSpec
from recassay.core.system.files import UNFINISHED
from recassay.core.types import Interactions
from recassay.data import folders, library
from recassay.data.library import (
    datasets_folder,
    import_dataset,
    list_datasets,
    load_dataset,
    read_manifest,
    remove_dataset,
)
from recassay.data.parts import find_parts, in_one_clock, read_parts
from recassay.data.readers import read_interactions
from recassay.data.sources import HEAD_BYTES, count_events, is_path, known_times, open_dataset, path_of
from recassay.data.synthetic.presets import PRESETS

FRAME = pl.DataFrame({"user": ["b", "a", "b"], "item": [7, 7, 9], "rating": [1.5, 2.0, 3.0], "timestamp": [10**9] * 3})


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv("RECASSAY_HOME", str(folder))
    return folder


def assert_same(one: Interactions, other: Interactions) -> None:
    for name in ("user", "item", "weight", "time"):
        left, right = getattr(one, name), getattr(other, name)
        assert (left is None) == (right is None)
        if left is not None:
            assert left.dtype == right.dtype
            assert np.array_equal(left, right)
    assert one.users.equals(other.users, check_dtypes=True)
    assert one.items.equals(other.items, check_dtypes=True)


def test_import_list_load_remove(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "a.csv"
    FRAME.write_csv(path)
    manifest = import_dataset(path, "mine", ReadSpec(repeated="max"), licence="CC0", note="made up")
    assert (manifest.interactions, manifest.users, manifest.items) == (3, 2, 2)
    assert (manifest.licence, manifest.note, manifest.time_unit) == ("CC0", "made up", "seconds")
    assert manifest.options["repeated"] == "max"
    assert manifest.created.endswith("+00:00")
    assert manifest.record["rows"] == 3
    assert manifest.source == str(path)
    assert list_datasets() == [manifest] == [read_manifest("mine")]
    assert sorted(p.name for p in (home / "datasets" / "mine").iterdir()) == [
        "interactions.parquet",
        "manifest.json",
    ]
    assert_same(load_dataset("mine"), read_interactions(path).interactions)
    stored = pl.read_parquet(home / "datasets" / "mine" / "interactions.parquet")
    assert stored.get_column("user").to_list() == ["b", "a", "b"]
    remove_dataset("mine")
    assert list_datasets() == []
    assert list((home / "datasets").iterdir()) == []


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_the_round_trip_is_exact(data: st.DataObject) -> None:
    ids = data.draw(st.sampled_from([st.integers(-(2**63), 2**63 - 1), st.text(min_size=1).filter(str.strip)]))
    rows = st.tuples(ids, st.integers(0, 255), st.floats(width=32, allow_nan=False, allow_infinity=False))
    drawn = data.draw(st.lists(rows, min_size=1, max_size=15))
    frame = pl.DataFrame(drawn, schema={"user": None, "item": pl.UInt8, "rating": pl.Float64}, orient="row")
    import_dataset(frame, "trip", replace=True)
    assert_same(load_dataset("trip"), read_interactions(frame).interactions)


def test_an_existing_name_is_kept_unless_replaced(home: Path) -> None:
    first = import_dataset(FRAME, "mine")
    for name in ("mine", "MINE"):
        with pytest.raises(InputError, match="'mine' exists already"):
            import_dataset(FRAME.head(1), name)
    assert read_manifest("mine") == first
    with pytest.raises(InputError, match="user id is empty"):
        import_dataset(pl.DataFrame({"user": [None], "item": [1]}), "mine", replace=True)
    assert len(load_dataset("mine")) == 3
    import_dataset(FRAME.head(1), "mine", replace=True)
    assert len(load_dataset("mine")) == 1
    assert [p.name for p in (home / "datasets").iterdir()] == ["mine"]


UNHAPPY_NAMES = (
    *(
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "a\\b",
        "/etc",
        "C:x",
        "CON",
        "nul.txt",
        "Com1",
        ".hidden",
        "-rf",
        "end.",
    ),
    *("é", "a b", "a\n", "a\0", "x" * 65),
)


@pytest.mark.parametrize("name", UNHAPPY_NAMES)
def test_unhappy_names(home: Path, name: str) -> None:
    for act in (
        lambda: import_dataset(FRAME, name),
        lambda: load_dataset(name),
        lambda: remove_dataset(name),
    ):
        with pytest.raises(UsageError, match="the name") as caught:
            act()
        assert "\n" not in str(caught.value)
    assert not home.exists()


def test_unknown_names_are_met_with_a_suggestion() -> None:
    import_dataset(FRAME, "films")
    for act in (load_dataset, read_manifest, remove_dataset):
        with pytest.raises(InputError, match=r"no dataset 'film' was imported; did you mean 'films'\?"):
            act("film")


def test_changed_and_missing_files_are_noticed() -> None:
    import_dataset(FRAME, "mine")
    table = datasets_folder() / "mine" / "interactions.parquet"
    content = table.read_bytes()
    table.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(InputError, match="checksum differs"):
        load_dataset("mine")
    table.unlink()
    with pytest.raises(InputError, match=r"missing or not those.*import it again"):
        load_dataset("mine")


def test_a_table_that_is_no_parquet_is_told_with_its_file() -> None:
    import_dataset(FRAME, "mine")
    table = datasets_folder() / "mine" / "interactions.parquet"
    table.write_bytes(b"PAR1 and no more")
    edited("mine", sha256=hashlib.sha256(table.read_bytes()).hexdigest())
    with pytest.raises(InputError, match=r"interactions.parquet: the Parquet file is damaged or cut short"):
        load_dataset("mine")


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"schema_version": "x"}', '{"schema_version": 1}'])
def test_a_damaged_manifest(content: str) -> None:
    import_dataset(FRAME, "mine")
    (datasets_folder() / "mine" / "manifest.json").write_text(content)
    with pytest.raises(InputError, match="manifest is missing or damaged"):
        load_dataset("mine")
    remove_dataset("mine")
    assert list_datasets() == []


def test_a_manifest_of_the_future() -> None:
    import_dataset(FRAME, "mine")
    path = datasets_folder() / "mine" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema_version": 99, "recassay_version": "9.9"}))
    with pytest.raises(InputError, match=r"newer RecAssay \(9.9\)"):
        load_dataset("mine")


def test_a_failure_while_writing_leaves_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(path: Path) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(library, "file_checksum", full_disk)
    with pytest.raises(OSError, match="No space left"):
        import_dataset(FRAME, "mine")
    assert list((home / "datasets").iterdir()) == []


def test_a_failed_replacement_restores_the_former(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import_dataset(FRAME, "mine")

    def fails(source: Path, target: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "rename", fails)
    with pytest.raises(PermissionError):
        import_dataset(FRAME.head(1), "mine", replace=True)
    assert len(load_dataset("mine")) == 3
    assert [p.name for p in (home / "datasets").iterdir()] == ["mine"]


def test_abandoned_folders_are_cleared_and_never_listed(home: Path) -> None:
    old, young = (home / "datasets" / f"{UNFINISHED}{age}" for age in ("old", "young"))
    for folder in (old, young):
        folder.mkdir(parents=True)
    os.utime(old, (time.time() - 200_000,) * 2)
    import_dataset(FRAME, "mine")
    assert [manifest.name for manifest in list_datasets()] == ["mine"]
    assert (old.exists(), young.exists()) == (False, True)


def test_where_the_cache_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECASSAY_HOME")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert folders.home() == Path("/somewhere/recassay")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert folders.home() == Path.home() / ".cache" / "recassay"
    monkeypatch.setattr("sys.platform", "darwin")
    assert folders.home() == Path.home() / "Library" / "Caches" / "recassay"
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert folders.home() == Path("/local/recassay/Cache")
    monkeypatch.delenv("LOCALAPPDATA")
    assert folders.home() == Path.home() / "AppData" / "Local" / "recassay" / "Cache"
    monkeypatch.setenv("RECASSAY_HOME", "~/data")
    assert folders.home() == Path.home() / "data"


def test_a_cache_that_cannot_be_written(home: Path) -> None:
    home.write_text("a file is in the way")
    with pytest.raises(InputError, match=r"cannot be written.*RECASSAY_HOME"):
        import_dataset(FRAME, "mine")


def test_a_dataset_that_appears_while_it_is_written_is_kept(home: Path) -> None:
    target = home / "datasets" / "mine"

    def both(*, replace: bool) -> None:
        with folders.appearing_dataset(target, replace=replace) as folder:
            (folder / "mine").write_text("")
            target.mkdir(exist_ok=True)
            (target / "theirs").write_text("")

    with pytest.raises(InputError, match="mine: a dataset 'mine' appeared meanwhile; use replace to overwrite it"):
        both(replace=False)
    assert [file.name for file in target.iterdir()] == ["theirs"]
    both(replace=True)
    assert [file.name for file in target.iterdir()] == ["mine"]


def test_what_lies_beside_the_datasets_is_none(home: Path) -> None:
    import_dataset(FRAME, "b")
    import_dataset(FRAME.select("user", "item"), "a")
    (home / "datasets" / "notes.txt").write_text("a file")
    (home / "datasets" / ".hidden").mkdir()
    assert [(one.name, one.has_ratings, one.time_unit) for one in list_datasets()] == [
        ("a", False, None),
        ("b", True, "seconds"),
    ]
    stored = (home / "datasets" / "b" / "interactions.parquet").read_bytes()
    manifest = read_manifest("b")
    assert (manifest.bytes, manifest.sha256) == (len(stored), hashlib.sha256(stored).hexdigest())
    assert (manifest.schema_version, manifest.recassay_version) == (2, recassay.__version__)
    assert (manifest.source_sha256, manifest.licence, manifest.note) == (None, None, None)


@pytest.mark.parametrize(
    ("reference", "is_file"),
    [
        *((name, True) for name in ("a.csv", "a.pq", "a.csv.gz", "./a", ".a", "~/a", "x/a", "x\\a")),
        *((name, False) for name in ("ml-1m", "csv", "a.CSV", "a.csvs")),
    ],
)
def test_what_means_a_file(reference: str, is_file: bool) -> None:
    assert is_path(reference) == is_file


def test_where_a_file_lies() -> None:
    assert path_of("a.csv", "/base") == Path("/base/a.csv")
    assert path_of("/x/a.csv", "/base") == Path("/x/a.csv")
    assert path_of("~/a.csv", "/base") == Path.home() / "a.csv"
    with pytest.raises(UsageError, match="~nobody-of-that-name is not a user of this machine; write the path out"):
        path_of("~nobody-of-that-name/x/a.csv")


def test_a_dataset_is_opened_by_its_name_its_file_or_as_it_is(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "mine.csv")
    import_dataset(FRAME, "mine", ReadSpec(time="ignore"))
    by_name = open_dataset("mine")
    assert (by_name.name, by_name.reading["name"], by_name.interactions.time) == ("mine", "mine", None)
    by_file = open_dataset("mine.csv", base=tmp_path)
    assert (by_file.name, by_file.reading["source"]) == ("mine.csv", str(tmp_path / "mine.csv"))
    assert by_file.interactions.time.tolist() == [10**9] * 3
    assert open_dataset("mine.csv", ReadSpec(time="ignore"), base=tmp_path).interactions.time is None
    assert open_dataset(FRAME, ReadSpec(time="ignore")).interactions.time is None
    with pytest.raises(InputError, match="mine: there is no such file"):
        open_dataset(Path("mine"), base=tmp_path)
    made = open_dataset("synthetic:few-items")
    assert made.reading == {"source": "synthetic:few-items", "synthetic": True}
    made.refuse_positions("global_time")


def test_the_first_rows_are_read_as_the_rest_will_be(tmp_path: Path) -> None:
    frame = pl.DataFrame({"user": [1, 2], "item": [1, 2], "timestamp": [1_600_000_000, 1_600_000_001]})
    frame.write_csv(tmp_path / "a.csv")
    frame.write_parquet(tmp_path / "a.PQ")
    for name in ("a.csv", "./a.PQ"):
        for unit, kind in (("ignore", "none"), ("position", "position"), ("auto", "clock")):
            assert known_times(name, ReadSpec(time=unit), tmp_path) == kind
    assert count_events("./a.PQ", tmp_path) == 2
    (tmp_path / "bad.csv").write_text((tmp_path / "a.csv").read_text() + "3,,1600000002\n")
    assert known_times("bad.csv", ReadSpec(), tmp_path) == "clock"
    (tmp_path / "short.csv").write_text((tmp_path / "a.csv").read_text().splitlines()[0] + "\n1,1,1600000000")
    assert known_times("short.csv", ReadSpec(), tmp_path) == "clock"
    rng = np.random.default_rng(0)
    far = pl.DataFrame({"user": rng.integers(0, 2**60, 60_000), "item": 1, "timestamp": 1_600_000_000})
    far.write_parquet(tmp_path / "far[1].parquet")
    assert (tmp_path / "far[1].parquet").stat().st_size > HEAD_BYTES
    assert known_times("far[1].parquet", ReadSpec(), tmp_path) == "clock"
    assert count_events("far[1].parquet", tmp_path) == len(open_dataset("far[1].parquet", base=tmp_path).interactions)
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes())[:-9])
    assert known_times("cut.csv.gz", ReadSpec(), tmp_path) is None


def test_a_stored_dataset_of_the_catalogue_is_listed_once() -> None:
    import_dataset(FRAME, "ml-100k", ReadSpec())
    kinds = [row["kind"] for row in recassay.list_data(everything=True) if row["name"] == "ml-100k"]
    assert kinds == ["stored"]


def edited(name: str, **changes: object) -> None:
    """Change a manifest as an older version would have written it."""
    path = datasets_folder() / name / "manifest.json"
    stored = json.loads(path.read_text())
    record = {**stored["record"], **changes.pop("record", {})}  # type: ignore[dict-item]
    path.write_text(json.dumps({**stored, "record": record, **changes}))


def test_events_that_an_older_version_merged_are_refused() -> None:
    import_dataset(FRAME, "mine")
    edited("mine", schema_version=1)
    assert len(load_dataset("mine")) == 3  # nothing was merged
    edited("mine", record={"repeated": 1200})
    with pytest.raises(InputError) as refused:
        load_dataset("mine")
    assert "1,200 events of dataset 'mine' that repeat a user and item were merged by an older" in str(refused.value)
    assert "import it again: `recassay.import_data(a polars frame, name='mine', replace=True)`" in str(refused.value)
    edited("mine", time_unit=None)
    assert len(load_dataset("mine")) == 3  # without times events are merged when they are read, also today


@pytest.mark.parametrize("name", ["bounded", "inverse_frequency"])
def test_rules_of_stored_events(name: str) -> None:
    import_dataset(FRAME, "mine", ReadSpec(repeated="sum"))
    assert load_dataset("mine").repeated == RepeatRule("sum")
    edited("mine", record={"repeated_rule": name, "event_weights": {"view": 1.5, "buy": 9, "cart": 1.5}})
    assert load_dataset("mine").repeated == RepeatRule("bounded", (1.5, 9.0))


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("", "is empty"),
        ("a" * 65, "is longer than 64 characters"),
        ("a b", "holds ' '"),
        ("-a", "starts with a mark or ends with a dot"),
        ("a.", "starts with a mark or ends with a dot"),
        ("nul", "is kept by Windows for a device"),
        ("Com1.csv", "is kept by Windows for a device"),
    ],
)
def test_names_of_no_folder(name: str, rule: str) -> None:
    with pytest.raises(UsageError) as refused:
        folders.checked_name(name)
    assert f"the name {name!r} {rule}; use letters, digits, dots, hyphens and underscores" in str(refused.value)
    assert [folders.checked_name(name) for name in ("a" * 64, "9", "nulls", "ml-1m.v2_x")]


def test_two_names_of_one_folder_are_one() -> None:
    import_dataset(FRAME, "Mine")
    for options in ({}, {"replace": True}):
        with pytest.raises(InputError, match="a dataset 'Mine' exists already; choose another name, remove it, or"):
            import_dataset(FRAME, "mine", **options)
    assert import_dataset(FRAME.head(1), "Mine", replace=True).interactions == 1


def test_what_is_known_of_a_dataset_without_reading_it(tmp_path: Path) -> None:
    clock, places = 1_600_000_000, {"user": [1, 2], "item": [1, 2]}
    frames = {
        "clock": pl.DataFrame({**places, "timestamp": [clock, clock + 5]}),
        "position": pl.DataFrame({**places, "timestamp": [1, 2]}),
        "none": pl.DataFrame(places),
    }
    many = pl.DataFrame({"user": range(60_000), "item": range(60_000), "timestamp": range(60_000)})
    read = ReadSpec()
    assert known_times("synthetic:few-items", read) == "clock"
    assert count_events("synthetic:few-items@2") == 2 * PRESETS["few-items"].n_interactions
    for kind, frame in frames.items():
        import_dataset(frame, kind)
        frame.write_csv(tmp_path / f"{kind}.csv")
        frame.write_parquet(tmp_path / f"{kind}.parquet")
        (tmp_path / f"{kind}.csv.gz").write_bytes(gzip.compress((tmp_path / f"{kind}.csv").read_bytes()))
        for reference in (kind, f"./{kind}.csv", f"{kind}.csv.gz", f"{kind}.parquet"):
            assert known_times(reference, read, tmp_path) == kind
        counted = (kind, f"{kind}.parquet", f"{kind}.csv")
        assert [count_events(reference, tmp_path) for reference in counted] == [2, 2, None]
    many.write_csv(tmp_path / "many.csv")
    many.write_parquet(tmp_path / "many.parquet")
    assert [known_times(f"many.{ending}", read, tmp_path) for ending in ("csv", "parquet")] == [None, None]
    quoted = "".join(f'"{"u" * 150}{n}","{"i" * 150}{n}",{clock + n}\n' for n in range(1_000))
    (tmp_path / "quoted.csv").write_text("user,item,timestamp\n" + quoted)
    assert known_times("quoted.csv", read, tmp_path) == "clock"
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    for wrong in ("nowhere.csv", "bad.parquet"):
        assert (known_times(wrong, read, tmp_path), count_events(wrong, tmp_path)) == (None, None)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("amazon_finefoods", "the dataset 'amazon_finefoods' is known but not stored here; obtain it: "),
        ("ml-1m", "the dataset 'ml-1m' is known but not stored here; fetch it first: recassay data fetch ml-1m"),
        ("synthetic:few-itms", "no preset 'few-itms'; did you mean 'few-items'?"),
        ("synthetic:few-items@big", "'big' in 'synthetic:few-items@big' is not a scale; write a number, as in"),
        ("synthetic:few-items@0.5", "preset few-items: scale is 0.5; give a number from 1 to 10,000"),
        (
            "synthetic few-items",
            "there is no dataset or file 'synthetic few-items'; did you mean 'synthetic:few-items'",
        ),
        ("mien", "there is no dataset or file 'mien'; did you mean 'mine'?"),
        ("qqqqqq", "there is no dataset or file 'qqqqqq'; see `recassay.list_data(everything=True)`"),
    ],
)
def test_a_dataset_that_is_not_there(reference: str, message: str) -> None:
    import_dataset(FRAME, "mine")
    with pytest.raises(UsageError) as refused:
        open_dataset(reference)
    assert message in str(refused.value)


def test_positions_order_no_two_users() -> None:
    frame = FRAME.with_columns(timestamp=pl.Series([1, 2, 3]))
    opened = open_dataset(frame)
    assert (opened.name, opened.reading["time_unit"]) == ("DataFrame", "position")
    for split in ("global_time", "rolling"):
        with pytest.raises(UsageError, match=f"a {split} split would compare what has no common order; use"):
            opened.refuse_positions(split)
    opened.refuse_positions("leave_last_out")
    open_dataset(FRAME).refuse_positions("global_time")


def test_an_empty_part_has_no_clock() -> None:
    events = read_interactions(FRAME).interactions
    empty = events.take(events.user < 0)
    for unit in ("milliseconds", "position", None):
        parts = in_one_clock([(empty, unit), (events, "seconds")], "here")
        assert parts[1].time.tolist() == [10**9] * 3
    (alone,) = in_one_clock([(events, "position")], "here")
    assert alone.time.tolist() == [10**9] * 3


def test_parts_of_a_split_are_brought_to_one_clock(tmp_path: Path) -> None:
    texts = {
        "films.Train.csv": "user,item,timestamp\n1,1,1600000000\n2,1,1600000001\n",
        "films_val.tsv": "user\titem\ttimestamp\n1\t2\t1600000002500\n",
        "test.csv.gz": "user,item,timestamp\n2,2,1600000003\n",
        "readme.md": "no part",
        "trains.csv": "user,item\n9,9\n",
    }
    for name, text in texts.items():
        content = text.encode()
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    files = {part: file.name for part, file in find_parts(tmp_path).items()}
    assert files == {"train": "films.Train.csv", "valid": "films_val.tsv", "test": "test.csv.gz"}
    times = [part.time.tolist() for part in read_parts(tmp_path, ReadSpec())]
    assert times == [[1600000000000, 1600000001000], [1600000002500], [1600000003000]]
    (tmp_path / "films_val.tsv").unlink()
    train, valid, test = read_parts(tmp_path, ReadSpec())
    assert (len(train), len(valid), len(test)) == (2, 0, 1)
    (tmp_path / "test.csv").write_text("user,item,timestamp\n2,2,7\n")
    with pytest.raises(InputError, match=r"test.csv, test.csv.gz could each be the test part; keep one of them"):
        find_parts(tmp_path)
    (tmp_path / "test.csv.gz").unlink()
    with pytest.raises(InputError, match="the times of one part are positions and those of another a clock; say how"):
        read_parts(tmp_path, ReadSpec())
    times = [part.time.tolist() for part in read_parts(tmp_path, ReadSpec(time="position"))]
    assert times == [[1600000000, 1600000001], [], [7]]
    (tmp_path / "films.Train.csv").unlink()
    with pytest.raises(InputError, match="there is no file of the train part; name the files"):
        find_parts(tmp_path)
    (tmp_path / "test.csv").rename(tmp_path / "test.md")
    (tmp_path / "train.csv").mkdir()
    with pytest.raises(InputError, match="there is no file of the train or the test part; name the files"):
        find_parts(tmp_path)
    (tmp_path / "test.md").rename(tmp_path / "test.csv")
    with pytest.raises(InputError, match="a given split is a folder with files of its parts"):
        find_parts(tmp_path / "test.csv")
