"""Hostile and broken archives: each is refused in one line, and nothing of it stays on disk."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recassay.core.errors import InputError, RecAssayError, UsageError
from recassay.data.download.members import Writer
from recassay.data.download.unpack import MAX_BYTES, MAX_FILES, MAX_RATIO, archive_kind, unpack

CONTENT = b"user,item\n1,2\n3,4\n"


def make_zip(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def make_tar(path: Path, members: list[tuple[tarfile.TarInfo, bytes]], mode: str = "w") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for info, data in members:
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def tar_member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def assert_refused(archive: Path, says: str, **limits: object) -> None:
    """One line that says `says`, exit status 2, and a folder that holds the archive alone."""
    before = sorted(archive.parent.rglob("*"))
    with pytest.raises(InputError, match=says) as caught:
        unpack(archive, archive.parent / "out", **limits)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2
    assert str(archive) in str(caught.value)
    assert sorted(archive.parent.rglob("*")) == before


# What must work


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_every_kind_of_tar(tmp_path: Path, mode: str) -> None:
    archive = make_tar(tmp_path / "a", [(tar_member("d/r.csv"), CONTENT), (tar_member("x"), b"")], mode)
    written = unpack(archive, tmp_path / "out")
    assert written == [tmp_path / "out/d/r.csv", tmp_path / "out/x"]
    assert written[0].read_bytes() == CONTENT
    assert written[1].read_bytes() == b""


@pytest.mark.parametrize(
    ("name", "compress"),
    [("r.csv.gz", gzip.compress), ("r.csv.bz2", bz2.compress), ("r.csv.xz", lzma.compress)],
)
def test_single_compressed_file(tmp_path: Path, name: str, compress: Callable[[bytes], bytes]) -> None:
    (tmp_path / name).write_bytes(compress(CONTENT))
    written = unpack(tmp_path / name, tmp_path / "out", members=["anything.csv"])
    assert written == [tmp_path / "out/r.csv"]
    assert written[0].read_bytes() == CONTENT


def test_a_compressed_file_of_another_name(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_bytes(gzip.compress(CONTENT))
    assert unpack(tmp_path / "r.csv", tmp_path / "one") == [tmp_path / "one/r.csv.unpacked"]
    (tmp_path / "r.GZ").write_bytes(gzip.compress(CONTENT))
    assert unpack(tmp_path / "r.GZ", tmp_path / "two") == [tmp_path / "two/r"]


def test_gzip_header_name_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "plain.gz"
    with path.open("wb") as raw, gzip.GzipFile("../../evil.csv", "wb", fileobj=raw) as out:
        out.write(CONTENT)
    assert unpack(path, tmp_path / "out") == [tmp_path / "out/plain"]


def test_members_are_found_from_the_right(tmp_path: Path) -> None:
    files = {"ml/ratings.csv": CONTENT, "ml/movies.csv": b"m", "__MACOSX/ml/._ratings.csv": b"junk",
             "ml/._movies.csv": b"junk"}  # fmt: skip
    archive = make_zip(tmp_path / "a.zip", files)
    assert unpack(archive, tmp_path / "one", members=["ratings.csv"]) == [tmp_path / "one/ml/ratings.csv"]
    assert len(unpack(archive, tmp_path / "two", members=["*.csv"])) == 2
    assert sorted(p.name for p in (tmp_path / "one").rglob("*")) == ["ml", "ratings.csv"]


def test_a_pattern_of_its_own_may_name_what_starts_with_a_mark(tmp_path: Path) -> None:
    """Without patterns everything is taken, with them what macOS adds is not."""
    archive = make_zip(tmp_path / "a.zip", {"._x.csv": b"1", "__MACOSX/y.csv": b"2", "z.csv": b"3"})
    assert len(unpack(archive, tmp_path / "all")) == 3
    assert unpack(archive, tmp_path / "some", members=["*.csv"]) == [tmp_path / "some/z.csv"]


def test_what_lies_at_a_limit_is_unpacked(tmp_path: Path) -> None:
    deep = "/".join(["d"] * 31 + ["n" * 255])
    for archive in (
        make_zip(tmp_path / "a.zip", {deep: CONTENT, "x": CONTENT}),
        make_tar(tmp_path / "a.tar", [(tar_member(deep), CONTENT), (tar_member("x"), CONTENT)]),
    ):
        size = 2 * len(CONTENT)
        assert len(unpack(archive, tmp_path / f"{archive.name}.out", max_bytes=size)) == 2
        assert_refused(archive, f"more than {size - 1} bytes; raise max_bytes", max_bytes=size - 1)
    flat = {f"{i}.csv": b"" for i in range(3)}
    for archive in (
        make_zip(tmp_path / "b.zip", flat),
        make_tar(tmp_path / "b.tar", [(tar_member(name), b"") for name in flat]),
    ):
        assert len(unpack(archive, tmp_path / f"{archive.name}.out", max_files=3)) == 3
        assert_refused(archive, "more than 2 members; raise max_files", max_files=2)
    above = make_zip(tmp_path / "c.zip", {"/".join("d" * 33): CONTENT})
    assert_refused(above, "a member lies more than 32 folders deep: 'd/d.*; do not use this archive: nothing")
    assert_refused(make_zip(tmp_path / "d.zip", {"n" * 256: CONTENT}), "longer than 255 bytes")
    assert_refused(make_zip(tmp_path / "e.zip", {"é" * 128: CONTENT}), "longer than 255 bytes")


def test_the_limits_that_hold_unless_others_are_asked_for(tmp_path: Path) -> None:
    assert (MAX_BYTES, MAX_FILES, MAX_RATIO) == (64 << 30, 10_000, 200)
    for size, most in ((10_000, 2_000_000), (10, 1 << 20), (0, 1 << 20)):
        (tmp_path / "a.zip").write_bytes(bytes(size))
        writer = Writer(tmp_path / "a.zip", tmp_path, MAX_BYTES, MAX_FILES, MAX_RATIO, None)
        writer.check_ratio(most)
        writer.check_size(most)
        with pytest.raises(
            InputError, match="look like a decompression bomb; if you trust it, raise max_ratio above 200"
        ):
            writer.check_ratio(most + 1)


def test_the_folder_itself_may_be_a_member(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name in (".", "./", "d"):
            archive.addfile(tar_member(name, tarfile.DIRTYPE))
        archive.addfile(tar_member("d/x"))
        info = tar_member("./r.csv")
        info.size = len(CONTENT)
        archive.addfile(info, io.BytesIO(CONTENT))
    assert unpack(tmp_path / "a.tar", tmp_path / "all") == [tmp_path / "all/d/x", tmp_path / "all/r.csv"]
    assert unpack(tmp_path / "a.tar", tmp_path / "one", members=["r.csv"]) == [tmp_path / "one/r.csv"]
    zipped = make_zip(tmp_path / "a.zip", {"./": b"", "d/": b"", "d/r.csv": CONTENT})
    assert unpack(zipped, tmp_path / "two") == [tmp_path / "two/d/r.csv"]
    assert_refused(make_zip(tmp_path / "b.zip", {"../": b"", "r.csv": CONTENT}), "leaves the folder")


def test_an_archive_of_nothing(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {})
    assert archive_kind(archive) == "zip"
    assert unpack(archive, tmp_path / "out") == []


def test_a_full_disk_is_told_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = make_zip(tmp_path / "a.zip", {"r.csv": CONTENT})
    usage = type("Usage", (), {"free": len(CONTENT) - 1})
    monkeypatch.setattr("recassay.data.download.unpack.shutil.disk_usage", lambda _: usage)
    with pytest.raises(RecAssayError, match="needs 18 bytes and the disk has 17 free; free some space"):
        unpack(archive, tmp_path / "out")
    usage.free = len(CONTENT)
    assert unpack(archive, tmp_path / "out") == [tmp_path / "out/r.csv"]


def test_missing_member_says_what_there_is(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {"ml/ratings.dat": CONTENT})
    assert_refused(archive, r"no file 'ratings.csv'; it holds ml/ratings.dat", members=["ratings.csv"])


@pytest.mark.parametrize(("umask", "file", "folder"), [(0o022, 0o644, 0o755), (0o077, 0o600, 0o700)])
def test_modes_are_those_of_any_new_file(tmp_path: Path, umask: int, file: int, folder: int) -> None:
    info = tar_member("d/run.sh")
    info.mode = 0o6777
    before = os.umask(umask)
    try:
        unpack(make_tar(tmp_path / "a.tar", [(info, CONTENT)]), tmp_path / "out")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out/d/run.sh").stat().st_mode) == file
    assert stat.S_IMODE((tmp_path / "out/d").stat().st_mode) == folder
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == folder


def test_target_that_is_in_use(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {"r.csv": CONTENT})
    (tmp_path / "empty").mkdir()
    assert unpack(archive, tmp_path / "empty") == [tmp_path / "empty/r.csv"]
    with pytest.raises(UsageError, match="already there"):
        unpack(archive, tmp_path / "empty")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError, match="the folder to unpack into is already there and not empty; remove it"):
        unpack(archive, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b""
    with pytest.raises(InputError, match=r"none.zip: there is no such file"):
        unpack(tmp_path / "none.zip", tmp_path / "out")


def test_backslashes_are_separators(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {"d\\r.csv": CONTENT})
    assert unpack(archive, tmp_path / "out") == [tmp_path / "out/d/r.csv"]


def test_kind_follows_content_not_name(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "ratings.csv", {"r": CONTENT})
    assert archive_kind(path) == "zip"
    path.write_bytes(CONTENT)
    assert archive_kind(path) is None
    assert_refused(path, "not an archive")
    path.write_bytes(b"")
    assert_refused(path, "not an archive")


# Names that leave the folder

HOSTILE_NAMES = [
    ("../evil", "leaves the folder"),
    ("a/../../evil", "leaves the folder"),
    ("..\\..\\evil", "leaves the folder"),
    ("/etc/evil", "absolute"),
    ("\\\\server\\share", "absolute"),
    ("C:\\evil", "drive letter"),
    ("c:evil", "drive letter"),
    ("a/\x1b[31mred", "control characters"),
    ("/".join("d" * 40), "folders deep"),
    ("n" * 300, "longer than 255"),
]


@pytest.mark.parametrize(("name", "says"), HOSTILE_NAMES)
def test_hostile_names_in_zip(tmp_path: Path, name: str, says: str) -> None:
    assert_refused(make_zip(tmp_path / "a.zip", {"good.csv": CONTENT, name: b"evil"}), says)


@pytest.mark.parametrize(("name", "says"), HOSTILE_NAMES)
def test_hostile_names_in_tar(tmp_path: Path, name: str, says: str) -> None:
    members = [(tar_member("good.csv"), CONTENT), (tar_member(name), b"evil")]
    assert_refused(make_tar(tmp_path / "a.tar.gz", members, "w:gz"), says)


def test_hostile_name_is_refused_even_when_not_asked_for(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {"good.csv": CONTENT, "../evil": b"evil"})
    assert_refused(archive, "leaves the folder", members=["good.csv"])


def test_nul_in_zip_name(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {"good.csvX.exe": CONTENT})
    archive.write_bytes(archive.read_bytes().replace(b"good.csvX.exe", b"good.csv\x00.exe"))
    assert_refused(archive, "control characters|damaged")


@pytest.mark.parametrize(
    ("kind", "link", "says"),
    [
        (tarfile.SYMTYPE, "/etc/passwd", "is a link"),
        (tarfile.SYMTYPE, "../outside", "is a link"),
        (tarfile.LNKTYPE, "../outside", "is a link"),
        (tarfile.SYMTYPE, "good.csv", "is a link"),
        (tarfile.CHRTYPE, "", "device, pipe"),
        (tarfile.BLKTYPE, "", "device, pipe"),
        (tarfile.FIFOTYPE, "", "device, pipe"),
    ],
)
def test_links_and_devices_in_tar(tmp_path: Path, kind: bytes, link: str, says: str) -> None:
    members = [(tar_member("good.csv"), CONTENT), (tar_member("odd", kind, link), b"")]
    assert_refused(make_tar(tmp_path / "a.tar", members), says)


def test_write_through_a_link_in_tar(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    members = [(tar_member("d", tarfile.SYMTYPE, "../../outside"), b""), (tar_member("d/evil"), b"evil")]
    assert_refused(make_tar(tmp_path / "a.tar", members), "is a link")
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize(("mode", "says"), [(stat.S_IFLNK, "is a link"), (stat.S_IFIFO, "device, pipe")])
def test_links_and_pipes_in_zip(tmp_path: Path, mode: int, says: str) -> None:
    info = zipfile.ZipInfo("odd")
    info.create_system, info.external_attr = 3, (mode | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("good.csv", CONTENT)
        archive.writestr(info, "/etc/passwd")
    assert_refused(tmp_path / "a.zip", says)


def test_a_folder_in_a_zip_is_known_by_its_mode_too(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("data")
    info.create_system, info.external_attr = 3, (stat.S_IFDIR | 0o755) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, b"")
        archive.writestr("data/good.csv", CONTENT)
    assert unpack(tmp_path / "a.zip", tmp_path / "out") == [tmp_path / "out" / "data" / "good.csv"]


@pytest.mark.parametrize(
    "names",
    [
        ("a.csv", "A.CSV"),
        ("d/a", "D/A"),
        ("a", "a/b"),
        ("a/b", "a"),
        ("é", "e\u0301"),
        ("c/d", "a", "a/b"),
        ("a", "A/b"),
    ],
)
def test_two_members_of_one_name(tmp_path: Path, names: tuple[str, ...]) -> None:
    assert_refused(make_zip(tmp_path / "a.zip", dict.fromkeys(names, CONTENT)), "one name|used as a folder")
    members = [(tar_member(name), CONTENT) for name in names]
    assert_refused(make_tar(tmp_path / "a.tar", members), "one name|used as a folder")


def test_a_folder_and_a_file_of_one_name(tmp_path: Path) -> None:
    assert_refused(make_zip(tmp_path / "a.zip", {"a/": b"", "a": CONTENT}), "two members have one name, or names")
    assert_refused(make_zip(tmp_path / "b.zip", {"a": CONTENT, "a/": b""}), "a file is used as a folder: 'a/'")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_duplicate_names(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a", b"1")
        archive.writestr("a", b"2")
    assert_refused(tmp_path / "a.zip", "one name")
    assert_refused(make_tar(tmp_path / "a.tar", [(tar_member("a"), b"1"), (tar_member("a"), b"2")]), "one name")


# Bombs


def rewrite_zip_size(path: Path, promised: int) -> None:
    """Let the first member's headers claim another unpacked size."""
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, data.index(b"PK\x03\x04") + 22, promised)
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 24, promised)
    path.write_bytes(bytes(data))


def test_ten_gigabytes_promised_by_ten_kilobytes(tmp_path: Path) -> None:
    """Four members of 2.5 GB in a file of 10 kB: refused by the promise, before a byte is written."""
    noise = zlib.compress(b"".join(struct.pack("<I", i * 2654435761 % 2**32) for i in range(650)))
    archive = make_zip(tmp_path / "a.zip", {f"{i}.csv": noise for i in range(4)})
    data = archive.read_bytes().replace(struct.pack("<I", len(noise)), struct.pack("<I", 2_500_000_000))
    archive.write_bytes(data)
    assert archive.stat().st_size < 12_000
    with zipfile.ZipFile(archive) as opened:
        assert sum(info.file_size for info in opened.infolist()) == 10_000_000_000
    assert_refused(archive, "decompression bomb")
    assert_refused(archive, "more than 1,000,000 bytes", max_bytes=1_000_000)


def test_real_bomb_in_zip(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {"zeros": bytes(30_000_000)})
    assert_refused(archive, "decompression bomb")
    assert unpack(archive, tmp_path / "out", max_ratio=2000)[0].stat().st_size == 30_000_000


def test_zip_that_unpacks_to_more_than_it_promises(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {"zeros": bytes(5_000_000)})
    rewrite_zip_size(archive, 1000)
    assert_refused(archive, "damaged|promised")


def test_zip_that_unpacks_to_less_than_it_promises(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {"r.csv": CONTENT})
    rewrite_zip_size(archive, 1000)
    assert_refused(archive, "damaged|promised")


@pytest.mark.slow
@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_bomb_in_a_single_file(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    (tmp_path / "a.csv.gz").write_bytes(compress(bytes(20_000_000)))
    assert_refused(tmp_path / "a.csv.gz", "decompression bomb")
    assert_refused(tmp_path / "a.csv.gz", "more than 2,000,000 bytes", max_bytes=2_000_000, max_ratio=1e9)


@pytest.mark.parametrize("members", [None, ["good.csv"]])
def test_bomb_in_a_tar_also_when_skipped(tmp_path: Path, members: list[str] | None) -> None:
    content = [(tar_member("zeros"), bytes(20_000_000)), (tar_member("good.csv"), CONTENT)]
    assert_refused(make_tar(tmp_path / "a.tar.gz", content, "w:gz"), "decompression bomb", members=members)


def test_tar_header_of_absurd_length(tmp_path: Path) -> None:
    """A header record that promises 4 GB must not be read into memory."""
    info = tar_member("x", tarfile.XHDTYPE)
    info.size = 4 * 2**30
    (tmp_path / "a.tar").write_bytes(info.tobuf() + bytes(10240))
    assert_refused(tmp_path / "a.tar", "absurd length|damaged|bomb")


def test_sparse_tar_bomb(tmp_path: Path) -> None:
    info = tar_member("sparse")
    info.pax_headers = {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.realsize": str(10 * 2**30),
    }
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        info.size = 512
        archive.addfile(info, io.BytesIO(b"0\n".ljust(512, b"\0")))
    assert_refused(tmp_path / "a.tar", "decompression bomb")


def test_too_many_members(tmp_path: Path) -> None:
    names = [f"{i}.csv" for i in range(20)]
    assert_refused(make_zip(tmp_path / "a.zip", dict.fromkeys(names, b"")), "more than 10 members", max_files=10)
    members = [(tar_member(name), b"") for name in names]
    assert_refused(make_tar(tmp_path / "a.tar", members), "more than 10 members", max_files=10)
    folders = make_zip(tmp_path / "b.zip", {"one/1.csv": b"", "two/2.csv": b""})
    assert_refused(folders, "more than 2 members", max_files=2)
    assert len(unpack(folders, tmp_path / "out", max_files=3)) == 2


# Broken ones


def test_encrypted_zip(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {"r.csv": CONTENT})
    data = bytearray(archive.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    archive.write_bytes(bytes(data))
    assert_refused(archive, "r.csv is encrypted; unpack it yourself")


def test_wrong_checksum_in_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("r.csv", CONTENT)
    path = tmp_path / "a.zip"
    path.write_bytes(path.read_bytes().replace(b"1,2", b"9,2"))
    assert_refused(path, "damaged, cut short")


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.85])
def test_truncated_tar(tmp_path: Path, mode: str, share: float) -> None:
    noise = bytes(i * i % 251 for i in range(20_000))
    archive = make_tar(tmp_path / "a", [(tar_member(f"{i}"), noise) for i in range(3)], mode)
    data = archive.read_bytes()
    archive.write_bytes(data[: int(len(data) * share)])
    assert_refused(archive, "damaged")


def test_tar_cut_between_members(tmp_path: Path) -> None:
    archive = make_tar(tmp_path / "a.tar", [(tar_member(f"{i}"), b"x" * 512) for i in range(3)])
    archive.write_bytes(archive.read_bytes()[:2048])
    assert_refused(archive, "damaged, cut short")


def test_truncated_zip_and_gz(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {"r.csv": CONTENT * 100})
    archive.write_bytes(archive.read_bytes()[:-30])
    assert_refused(archive, "damaged, cut short")
    (tmp_path / "r.csv.gz").write_bytes(gzip.compress(CONTENT)[:-6])
    assert_refused(tmp_path / "r.csv.gz", "damaged, cut short")


@pytest.mark.parametrize(("place", "value"), [(6, 0x40), (10, 99)])
def test_zip_of_an_unknown_version_or_compression(tmp_path: Path, place: int, value: int) -> None:
    archive = make_zip(tmp_path / "a.zip", {"r.csv": CONTENT})
    data = bytearray(archive.read_bytes())
    data[data.index(b"PK\x01\x02") + place] = value
    archive.write_bytes(bytes(data))
    assert_refused(archive, "of an unknown kind")


def test_error_page_instead_of_an_archive(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"<!doctype html><title>Not found</title>")
    assert_refused(tmp_path / "a.zip", "not an archive")


def test_damage_inside_and_trouble_outside_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytearray(bz2.compress(bytes(i * i % 251 for i in range(20_000))))
    data[len(data) // 2] ^= 255
    (tmp_path / "r.csv.bz2").write_bytes(bytes(data))
    assert_refused(tmp_path / "r.csv.bz2", r"the archive is damaged \(Invalid data stream\); download it again")
    archive = make_zip(tmp_path / "a.zip", {"r.csv": CONTENT})

    for where, told in (("out/r.csv", r"^out/r\.csv: "), (None, r"a\.zip: ")):

        def full(*_: object, where: str | None = where) -> None:
            raise OSError(28, "No space left on device", where)

        monkeypatch.setattr("recassay.data.download.members.Writer.write", full)
        with pytest.raises(RecAssayError, match=told + "cannot unpack: No space left on device") as caught:
            unpack(archive, tmp_path / "out")
        assert not isinstance(caught.value, InputError)


def test_interrupt_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = make_zip(tmp_path / "a.zip", {"r.csv": CONTENT})

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("recassay.data.download.members.Writer.finish", interrupted)
    with pytest.raises(KeyboardInterrupt):
        unpack(archive, tmp_path / "out")
    assert list(tmp_path.iterdir()) == [archive]


def base_archives() -> list[bytes]:
    found = []
    for mode in ("w", "w:gz", "w:bz2", "w:xz"):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
            info = tar_member("d/r.csv")
            info.size = len(CONTENT)
            archive.addfile(info, io.BytesIO(CONTENT))
        found.append(buffer.getvalue())
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("d/r.csv", CONTENT)
        zipped.writestr("é.csv", CONTENT)
    return [*found, buffer.getvalue(), gzip.compress(CONTENT)]


BASES = base_archives()


@pytest.mark.slow
@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    base=st.sampled_from(BASES),
    flips=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=6),
)
def test_any_damage_is_a_tidy_error_or_stays_inside(
    tmp_path_factory: pytest.TempPathFactory, base: bytes, flips: list[tuple[int, int]]
) -> None:
    """Whatever bytes are changed: one of our errors and an untouched folder, or files inside the target."""
    folder = tmp_path_factory.mktemp("fuzz")
    data = bytearray(base)
    for place, value in flips:
        data[place % len(data)] = value
    (folder / "archive").write_bytes(bytes(data))
    written: list[Path] | None = None
    with contextlib.suppress(RecAssayError):
        written = unpack(folder / "archive", folder / "out")
    assert sorted(p.name for p in folder.iterdir()) == (["archive"] if written is None else ["archive", "out"])
    assert all(path.resolve().is_relative_to(folder / "out") for path in written or ())
