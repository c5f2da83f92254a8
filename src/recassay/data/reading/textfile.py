"""From a text file as people keep it (compressed, in an old encoding) to plain UTF-8 lines on disk."""

from __future__ import annotations

import codecs
import gzip
import itertools
import zlib
from collections.abc import Iterator
from pathlib import Path

from recassay.core.errors import InputError, UsageError
from recassay.data.packed import PER_EVENT, refuse_costly

CHUNK = 1 << 21
LONGEST_LINE = 1 << 27
EVENT_BYTE = 2
"""What a byte of interactions costs, which are read in blocks."""

_SIGNATURES = {
    b"PK\x03\x04": "a zip archive (or a spreadsheet)",
    b"\x1f\x8b": "compressed with gzip",
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ": "compressed with xz",
    b"\x28\xb5\x2f\xfd": "compressed with zstandard",
    b"PAR1": "a Parquet file",
    b"SQLite format 3": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"%PDF": "a PDF document",
}
_NO_TEXT = frozenset(["idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "utf-7"])
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def prepare_text(path: Path, encoding: str, scratch: Path) -> Path:
    """Check that `path` is text in `encoding`, without NUL bytes, and lay it out as UTF-8: where that is.

    A plain UTF-8 file is used where it lies; otherwise (gzip, another encoding, lines that end in a lone
    carriage return) a copy is written to `scratch`. `data/packed.py` says what
    a compressed file may cost.
    """
    codec = _codec(encoding)
    compressed = path.name.lower().endswith(".gz")
    with path.open("rb") as file:
        head = file.read(1 << 16)
    if not compressed:
        _refuse_binary(head, path, codec)
    elif not head.startswith(b"\x1f\x8b"):
        what = "the name says gzip and the content is not"
        raise InputError(what, where=str(path), fix="rename or fetch it again")
    chunks = _checked(_chunks(path, compressed), codec, path)
    if not compressed and codec.name == "utf-8" and not _lone_returns(head):
        for _ in chunks:
            pass
        return path
    target = scratch / "text"
    with target.open("wb") as out:
        lone = None
        for chunk in chunks:
            lone = _lone_returns(chunk) if lone is None else lone
            out.write(chunk.replace(b"\r", b"\n") if lone else chunk)
    return target


def _codec(encoding: str) -> codecs.CodecInfo:
    """The codec of a text encoding; codecs from bytes to bytes, and those of names and literals, are refused."""
    try:
        codec = codecs.lookup(encoding)
        if codec.name in _NO_TEXT or codec.incrementaldecoder is None:
            raise LookupError
        "a,1\n".encode(codec.name)
    except (LookupError, ValueError):
        raise UsageError(f"unknown encoding {encoding!r}", fix="use utf-8, latin-1, cp1252 or utf-16") from None
    return codec


def line_blocks(path: Path, where: str) -> Iterator[bytes]:
    """The file in large blocks that end where a line ends; `where` is what messages call it."""
    rest = b""
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            block, newline, rest = (rest + chunk).rpartition(b"\n")
            if len(rest) > LONGEST_LINE:
                raise InputError("a line is longer than 128 MB", where=where, fix="check that it is a table")
            if newline:
                yield block + newline
    if rest:
        yield rest


def _chunks(path: Path, compressed: bool) -> Iterator[bytes]:
    """The bytes of the file, unpacked where it is compressed."""
    size = path.stat().st_size
    total = events = 0
    try:
        with gzip.open(path, "rb") if compressed else path.open("rb") as file:
            while chunk := file.read(CHUNK):
                if compressed:
                    total += len(chunk)
                    events += sum(map(chunk.count, (b"\n", b" ", b"\t")))  # one line may hold a user and many items
                    refuse_costly(PER_EVENT * events + EVENT_BYTE * total, total, size, str(path))
                yield chunk
    except EOFError:
        raise InputError("the gzip file ends early", where=str(path), fix="fetch or copy it again") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"the gzip file is damaged ({error})", where=str(path), fix="fetch it again") from None


def _checked(chunks: Iterator[bytes], codec: codecs.CodecInfo, path: Path) -> Iterator[bytes]:
    """The same text as UTF-8; bytes not of the encoding, and NUL characters, raise with their line."""
    decoder = codec.incrementaldecoder("strict")
    lines = 1
    for chunk in itertools.chain(chunks, [b""]):
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            line = lines + bytes(error.object).count(b"\n", 0, error.start)
            raise InputError(
                f"byte 0x{error.object[error.start]:02x} in line {line} is not {codec.name}",
                where=str(path),
                fix="say which encoding it is, for example encoding='latin-1'",
            ) from None
        plain = chunk if codec.name == "utf-8" else text.encode()
        if b"\0" in plain:
            line = lines + plain.count(b"\n", 0, plain.index(b"\0"))
            raise InputError(
                f"line {line} holds a NUL byte", where=str(path), fix="it is not text file, or it is damaged"
            )
        lines += plain.count(b"\n")
        yield plain


def _refuse_binary(head: bytes, path: Path, codec: codecs.CodecInfo) -> None:
    """Raise for a file that begins as no text in this encoding does."""
    for signature, what in _SIGNATURES.items():
        if head.startswith(signature):
            raise InputError(f"the file is {what}, not text", where=str(path), fix="unpack, convert or rename it first")
    if codec.name.startswith(("utf-16", "utf-32")):
        return
    if head.startswith(_UTF16_MARKS):
        raise InputError("the file is UTF-16 text", where=str(path), fix="say encoding='utf-16'")
    if b"\0" in head:
        try:
            codecs.getincrementaldecoder("utf-8")().decode(head)
        except UnicodeDecodeError:
            what = "the file is binary, not text"
            raise InputError(what, where=str(path), fix="give a text table or a Parquet file") from None


def _lone_returns(start: bytes) -> bool:
    return b"\r" in start and b"\n" not in start
