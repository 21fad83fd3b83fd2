"""Lines of JSON in files, plain or compressed with zstd; the only module that imports zstandard.

A line is an object with one key, which says what it holds: `{"record": {...}}`. The first line is
the `header`: format, version, what the file is, and how many lines of each kind follow, so that a
file that ends early is known for it. UTF-8 whatever the locale says, and JSON that every reader takes.
"""

from __future__ import annotations

import io
import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

from shared_core.errors import InvalidInput
from shared_core.formats.json_values import check_values

FORMAT = "twinmem"
VERSION = 1
HEADER = "header"
SUFFIX = ".zst"

_MAGIC = b"\x28\xb5\x2f\xfd"  # how a zstd frame begins
_LONGEST = 256 * 2**20  # bytes in one line, which is held whole
_WINDOW = 128 * 2**20  # bytes a damaged or hostile frame may ask for
_EXPANDED = 2**30  # bytes that any compressed file may grow to
_RATIO = 200  # and beyond that, times its own size: text shrinks to a tenth, a bomb to a ten-thousandth
_SHOWN = 120  # characters of a parser's complaint


class Line(NamedTuple):
    """One line: where it stands, for messages, what it holds, and its value."""

    where: str
    kind: str
    value: dict[str, Any]


def encoded(kind: str, value: Mapping[str, Any]) -> bytes:
    """One line.

    >>> encoded("record", {"text": "你好"}).decode()
    '{"record":{"text":"你好"}}\\n'
    """
    text = json.dumps({kind: value}, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return (text + "\n").encode()
    except UnicodeEncodeError:  # a lone surrogate in a framework's own dict
        return (json.dumps({kind: value}, separators=(",", ":"), allow_nan=False) + "\n").encode("ascii")


def header(what: str, counts: Mapping[str, int], **more: Any) -> bytes:
    """The first line of a file."""
    return encoded(HEADER, {"format": FORMAT, "version": VERSION, "what": what, **more, "counts": dict(counts)})


def compressed(lines: Iterable[bytes], level: int) -> bytes:
    """Lines as one zstd frame, with its checksum."""
    import zstandard

    found = io.BytesIO()
    with zstandard.ZstdCompressor(level=level, write_checksum=True).stream_writer(found, closefd=False) as writer:
        for line in lines:
            writer.write(line)
    return found.getvalue()


@contextmanager
def writing(path: Path, level: int) -> Iterator[IO[bytes]]:
    """A file that appears under its name only when it is whole; compressed if the name ends in `.zst`."""
    import zstandard

    waiting = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with waiting.open("wb") as file:
            if path.suffix.lower() == SUFFIX:
                writer = zstandard.ZstdCompressor(level=level, write_checksum=True)
                with writer.stream_writer(file, closefd=False) as stream:
                    yield stream
            else:
                yield file
            file.flush()
            os.fsync(file.fileno())
        waiting.replace(path)
    except OSError as error:
        raise InvalidInput(f"{path} can't be written: {error.strerror or error}") from error
    finally:
        waiting.unlink(missing_ok=True)


def is_ours(path: Path) -> bool:
    """Whether a file begins as one of this format does; False for whatever can't be read."""
    try:
        with _opened(path) as (stream, most):
            first = next(_lines(stream, path.name, most), None)
    except (InvalidInput, OSError):
        return False
    return first is not None and first.kind == HEADER and first.value.get("format") == FORMAT


def read(path: Path) -> Iterator[Line]:
    """The lines of a file, the header first; each is checked, and so is their number.

    Raises `InvalidInput`, naming the line, for a file that is not whole or not one of these.
    """
    with _opened(path) as (stream, most):
        yield from _checked(_lines(stream, path.name, most), path.name)


def unpacked(data: bytes, name: str) -> Iterator[Line]:
    """The lines of `compressed` bytes, checked the same way."""
    yield from _checked(_lines(_decompressing(io.BytesIO(data)), name, _bound(len(data))), name)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], float]]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise InvalidInput(f"{path} can't be read: {error.strerror or error}") from error
    with file:
        packed = file.read(len(_MAGIC)) == _MAGIC
        file.seek(0)
        size = os.fstat(file.fileno()).st_size
        yield (_decompressing(file), _bound(size)) if packed else (file, math.inf)


def _bound(size: int) -> float:
    """Bytes that a compressed file of this size may grow to."""
    return max(_EXPANDED, size * _RATIO)


def _decompressing(file: BinaryIO | io.BytesIO) -> IO[bytes]:
    import zstandard

    raw = zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(file, closefd=False)
    return io.BufferedReader(raw)


def _lines(stream: IO[bytes], name: str, most: float) -> Iterator[Line]:
    import zstandard

    number = total = 0
    while True:
        number += 1
        where = f"{name}, line {number}"
        try:
            line = stream.readline(_LONGEST + 1)
        except zstandard.ZstdError as error:
            raise InvalidInput(f"{where}: the compressed file is damaged ({error})") from error
        if not line:
            return
        if len(line) > _LONGEST:
            raise InvalidInput(f"{where}: longer than {_LONGEST} bytes")
        total += len(line)
        if total > most:
            raise InvalidInput(f"{where}: {name} grows to more than {_RATIO} times its size; no export does")
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line.strip():
            yield Line(where, *_decoded(line, where))


def _decoded(line: bytes, where: str) -> tuple[str, dict[str, Any]]:
    try:
        check_values(line)
        value = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{where}: not UTF-8 (byte 0x{line[error.start]:02x})") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{where}: broken JSON ({str(error)[:_SHOWN]})") from error
    if not isinstance(value, dict) or len(value) != 1 or not isinstance(next(iter(value.values())), dict):
        raise InvalidInput(f"{where}: a line is an object with one key, whose value is an object")
    return next(iter(value.items()))


def _checked(lines: Iterator[Line], name: str) -> Iterator[Line]:
    first = next(lines, None)
    if first is None or first.kind != HEADER or first.value.get("format") != FORMAT:
        raise InvalidInput(f"{name} is no export of twinmem: its first line is not a header of that format")
    version, promised = first.value.get("version"), first.value.get("counts")
    if version != VERSION:
        raise InvalidInput(f"{name} has format version {version!r}, this twinmem reads {VERSION}; upgrade it")
    if not isinstance(promised, dict) or not all(type(count) is int for count in promised.values()):
        raise InvalidInput(f"{first.where}: the header has no counts")
    yield first
    counted: Counter[str] = Counter()
    last = first
    for last in lines:
        counted[last.kind] += 1
        if counted[last.kind] > promised.get(last.kind, 0):
            raise InvalidInput(f"{last.where}: one {last.kind} more than the header says")
        yield last
    for kind, count in promised.items():
        if counted[kind] != count:
            raise InvalidInput(
                f"{name} ends after line {last.where.rpartition(' ')[2]} with {counted[kind]} of {count} "
                f"lines of kind {kind!r}: it is not whole"
            )
