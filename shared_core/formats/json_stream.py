"""JSON documents and JSONL files, read item by item; the only module that imports ijson.

A file is untrusted input, and every limit below holds for both ways of reading: an item has a
largest size and depth, numbers fit in 64 bits or a double, text is UTF-8.

Why ijson's pure Python backend and not its C one, which is ten times faster (80 MB/s against 5 to
8): over a number of more than 4,300 digits the C one (3.6.0) goes on with an exception set, which
ends in a SystemError somewhere later; it takes quadratic time over long strings (0.5 MB/s at
40 MB); and it turns half an emoji into a question mark. An import's time goes into embedding.
"""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from enum import Enum
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

from shared_core.errors import InvalidInput, MissingExtra
from shared_core.formats.json_values import Builder, Refused, first_line, loads, mended, not_utf8

MAX_ITEM_BYTES = 128 * 2**20  # one element or line, which is held whole; far above any conversation typed by people
PROBE_BYTES = 2**20  # how much of a file is looked at to tell its layout and format

_JSONL_SUFFIXES = frozenset({".jsonl", ".ndjson"})


class Layout(Enum):
    """How a file holds its items."""

    ARRAY = "a JSON list"
    OBJECT = "a JSON object"
    LINES = "JSONL"


class Item(NamedTuple):
    """One value of a file, and where it stands, for messages."""

    where: str
    value: Any


class Source:
    """A JSON or JSONL file that is read a little at a time; every method opens it anew.

    Raises `InvalidInput`, at once for what can't be read at all, else while its items are
    iterated, after the items before the fault.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self.stem = _stem(path)
        self.layout = _layout(path)

    def items(self) -> Iterator[Item]:
        """The elements of a list, the values of a JSONL file, or the one object of an object file."""
        if self.layout is Layout.LINES:
            yield from self._lines()
            return
        with _parser(self.path) as parser:
            if self.layout is Layout.OBJECT:
                yield Item(self.name, parser.build(*parser.take()))
            else:
                parser.take()
                yield from parser.elements(self.name)
            parser.finish()

    def entries(self) -> Iterator[tuple[str, Item]]:
        """The keys and values of an object file, one value at a time."""
        with _parser(self.path) as parser:
            for key in parser.keys(self.name):
                yield key, Item(parser.where, parser.build(*parser.take()))
            parser.finish()

    def members(self, key: str) -> Iterator[Item]:
        """The elements of the list under one key of an object file; the other values are passed over."""
        with _parser(self.path) as parser:
            for found in parser.keys(self.name):
                event, _ = parser.take()
                if found != key:
                    parser.skip(event)
                elif event == "start_array":
                    yield from parser.elements(f"{self.name}, {key}")
                else:
                    raise InvalidInput(f"{parser.where}: expected a list")
            parser.finish()

    def peek(self) -> Any:
        """The first item, or as much of it as the first megabyte holds; None if there is none.

        Lenient: a fault is reported, with its place, by whoever reads on.
        """
        if self.layout is Layout.LINES:
            return next(self._lines()).value
        with _parser(self.path) as parser:
            builder = Builder()
            try:
                if self.layout is Layout.ARRAY:
                    parser.take()
                while parser.total <= PROBE_BYTES and not builder.feed(*parser.take()):
                    pass
            except (InvalidInput, Refused):
                pass
            return builder.value

    def _lines(self) -> Iterator[Item]:
        with _open(self.path) as file:
            for number in count(1):
                line = file.readline(MAX_ITEM_BYTES + 1)
                if not line:
                    return
                where = f"{self.name}, line {number}"
                if len(line) > MAX_ITEM_BYTES:
                    _refuse_size(where)
                if line.strip():
                    yield Item(where, loads(line, where))


class _Parser:
    """Parser events of one file, with their faults translated and the place they belong to kept."""

    def __init__(self, path: Path) -> None:
        ijson = _ijson()
        self.where = path.name
        self._bytes = _Reader(path)
        self._events: Generator[tuple[str, Any], None, None] = ijson.get_backend("python").basic_parse(self._bytes)
        self._faults: tuple[type[Exception], ...] = (ijson.JSONError, ValueError)  # the second from json's own scanner

    @property
    def total(self) -> int:
        return self._bytes.total

    def close(self) -> None:
        self._events.close()
        self._bytes.close()

    def take(self) -> tuple[str, Any]:
        try:
            return next(self._events)  # an early end is a JSONError, so there is no StopIteration to expect
        except self._faults as error:
            self._bytes.check(self.where)
            raise InvalidInput(f"{self.where}: broken JSON ({first_line(error)})") from error

    def build(self, event: str, value: Any) -> Any:
        """The whole value that begins with this event."""
        self._bytes.since = 0
        builder = Builder()
        try:
            while not builder.feed(event, value):
                event, value = self.take()
        except Refused as error:
            raise InvalidInput(f"{self.where}: {error}") from error
        return builder.value

    def skip(self, event: str) -> None:
        depth = 0
        while True:
            depth += event.startswith("start_")
            depth -= event.startswith("end_")
            if not depth:
                return
            self._bytes.since = 0  # what is not kept may be of any size
            event, _ = self.take()

    def elements(self, name: str) -> Iterator[Item]:
        """The elements of the list whose start was just taken."""
        for number in count(1):
            self.where = f"{name}, element {number}"
            event, value = self.take()
            if event == "end_array":
                return
            yield Item(self.where, self.build(event, value))

    def keys(self, name: str) -> Iterator[str]:
        """The keys of the file's object; the caller takes the value of each before it goes on."""
        self.take()
        while True:
            event, key = self.take()
            if event == "end_map":
                return
            self.where = f"{name}, key {mended(key)!r}"
            yield mended(key)
            self.where = name

    def finish(self) -> None:
        try:
            for _ in self._events:
                pass
            self._bytes.check(self.where)
        except InvalidInput:
            raise
        except self._faults as error:
            self._bytes.check(self.where)
            raise InvalidInput(
                f"{self._bytes.name}: more text follows the end of the JSON value ({first_line(error)}); "
                "if it holds one value a line, give it the suffix .jsonl"
            ) from error


class _Reader:
    """A file's bytes as ijson asks for them: without byte order mark, checked to be UTF-8, and bounded.

    At a fault it hands out what comes before and then seems to end, so that the items before the
    fault still arrive; `check` tells the fault to whoever finds the end too early. (An error raised
    here would leave ijson's coroutines to the garbage collector, which prints their complaints.)
    """

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self.total = 0
        self.since = 0  # bytes since the current item began
        self._file = _open(path)
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._line = 1
        self._bad: UnicodeDecodeError | None = None
        self._too_large = False

    def close(self) -> None:
        self._file.close()

    def check(self, where: str) -> None:
        if self._bad is not None:
            raise InvalidInput(f"{self.name}, line {self._line}: {not_utf8(self._bad)}") from self._bad
        if self._too_large:
            _refuse_size(where)

    def read(self, size: int = -1) -> bytes:
        self._too_large = self.since > MAX_ITEM_BYTES
        if size == 0 or self._bad is not None or self._too_large:  # with 0 ijson asks whether this gives bytes or text
            return b""
        data = self._file.read(size)
        pending = len(self._decoder.getstate()[0])
        try:
            self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            self._bad = error
            data = data[: max(0, error.start - pending)]
        self._line += data.count(b"\n")
        self.total += len(data)
        self.since += len(data)
        return data


@contextmanager
def _parser(path: Path) -> Iterator[_Parser]:
    parser = _Parser(path)
    try:
        yield parser
    finally:
        parser.close()


def _ijson() -> Any:
    try:
        import ijson
    except ImportError as error:
        raise MissingExtra("ijson") from error
    return ijson


def _open(path: Path) -> BinaryIO:
    try:
        file = path.open("rb")
    except OSError as error:
        raise InvalidInput(f"{path} can't be read: {error.strerror or error}") from error
    if file.read(3) != codecs.BOM_UTF8:
        file.seek(0)
    return file


def _stem(path: Path) -> str:
    """The file's name without its suffix, which may become a session's name.

    Under `LC_ALL=C` the bytes of a name in Chinese arrive as lone surrogates. Ids are made of it, so
    it has to be the same as under any other locale.
    """
    raw = path.stem.encode("utf-8", "surrogateescape" if os.name == "posix" else "replace")
    return raw.decode("utf-8", "replace")


def _layout(path: Path) -> Layout:
    if not path.is_file():  # a pipe can't be looked at and then read from its start
        what = "is not a file" if path.exists() else "does not exist"
        raise InvalidInput(f"{path} {what}; give the path of a chat export")
    with _open(path) as file:
        first = file.readline(PROBE_BYTES)
        while first and not first.strip():
            first = file.readline(PROBE_BYTES)
        start = first.strip()[:1]
        if start not in (b"[", b"{"):
            raise InvalidInput(f"{path.name}: expected JSON or JSONL, but the file {_what_is(first)}")
        if path.suffix.lower() in _JSONL_SUFFIXES or (_is_whole(first) and _has_more(file)):
            return Layout.LINES
        return Layout.ARRAY if start == b"[" else Layout.OBJECT


def _what_is(first: bytes) -> str:
    if not first:
        return "is empty"
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "is UTF-16; save it as UTF-8"
    if first.startswith((b"PK\x03\x04", b"\x1f\x8b")):
        return "is compressed; unpack it and give the .json file inside"
    return f"begins with {first.strip()[:20]!r}"


def _is_whole(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _has_more(file: BinaryIO) -> bool:
    while line := file.readline(PROBE_BYTES):
        if line.strip():
            return True
    return False


def _refuse_size(where: str) -> NoReturn:
    raise InvalidInput(f"{where}: larger than {MAX_ITEM_BYTES} bytes; split it into several conversations")
