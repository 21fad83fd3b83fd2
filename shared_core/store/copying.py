"""A whole database from one store to another: every table, row by row, ids kept, and compared afterwards."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from shared_core.errors import InvalidInput, StoreError
from shared_core.long_term import carried
from shared_core.ports import Store, Transaction
from shared_core.store.migrating import migrations, split

Progress = Callable[[str, int], None]
"""Told of each table, and of how many of its rows are copied."""

_TABLE = re.compile(r"CREATE TABLE (\w+) \((.*)\)", re.S)
_COLUMN = re.compile(r"^\s{4}(\w+) [A-Z]", re.M)
_CONSTRAINT = {"PRIMARY", "UNIQUE", "CHECK", "FOREIGN"}
_BATCH = 1_000


def tables() -> dict[str, list[str]]:
    """Every table of the schema with its columns, generated ones left out, parents before their children.

    >>> tables()["meta"]
    ['key', 'value']
    """
    found: dict[str, list[str]] = {}
    for _, _, script in migrations():
        for each in split(re.sub(r"--[^\n]*", "", script)):
            made = _TABLE.search(each)
            if made is None:
                continue
            name, body = made.groups()
            # What stands in one line with others is a column too: a comma at the outermost level ends each.
            parts = [part.strip() for part in _parts(body)]
            found[name] = [
                part.split()[0]
                for part in parts
                if part.split()[0] not in _CONSTRAINT and "GENERATED ALWAYS" not in part
            ]
    return found


def _parts(body: str) -> Iterator[str]:
    depth, start = 0, 0
    for place, char in enumerate(body):
        depth += (char == "(") - (char == ")")
        if char == "," and not depth:
            yield body[start:place]
            start = place + 1
    yield body[start:]


def copy(source: Store, target: Store, progress: Progress | None = None) -> dict[str, int]:
    """Copy all rows into a store that holds none, and the archive's files; how many of each table. All, or none.

    Raises `InvalidInput` if the target holds anything, or is a server while archives lie beside the source;
    `StoreError` if what arrived is not what was sent, `ArchiveUnreachable` if a file of the archive did not.
    """
    counts: dict[str, int] = {}
    with source.read() as old, target.write() as new:
        if any(new.rows(f"copy_any_{name}") for name in ("scope", "record", "embedder")):
            raise InvalidInput(f"{target.address} holds a memory already; copy into an empty database")
        for name, columns in tables().items():
            new.run(f"copy_clear_{name}")
            sent = _digest()
            count = 0
            batch: list[Sequence[Any]] = []
            for row in old.each(f"copy_read_{name}"):
                sent(row)
                batch.append(row)
                count += 1
                if len(batch) == _BATCH:
                    new.many(f"copy_write_{name}", batch)
                    batch = []
                    if progress is not None:
                        progress(name, count)
            if batch:
                new.many(f"copy_write_{name}", batch)
            if progress is not None:
                progress(name, count)
            _compare(new, name, len(columns), sent(None))
            counts[name] = count
        new.rows("copy_numbering")
        encrypted = getattr(target, "cipher", None) is not None
        with carried.along(new, source.address, target.address, encrypted=encrypted):
            return counts


def _compare(tx: Transaction, name: str, width: int, sent: str) -> None:
    arrived = _digest()
    for row in tx.each(f"copy_read_{name}"):
        assert len(row) == width
        arrived(row)
    if arrived(None) != sent:
        raise StoreError(f"table {name} did not arrive as it was sent; nothing was written")


def _digest() -> Callable[[Sequence[Any] | None], str]:
    """Takes rows, in any order, and None for the sum of them all."""
    total = 0

    def take(row: Sequence[Any] | None) -> str:
        nonlocal total
        if row is None:
            return f"{total:x}"
        plain = [bytes(value) if isinstance(value, memoryview) else value for value in row]
        found = hashlib.blake2b(repr(plain).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        total = (total + int.from_bytes(found)) % (1 << 128)
        return ""

    return take


def statements() -> dict[str, str]:
    """What copying says to either database, for every table of the schema."""
    found = {}
    for name, columns in tables().items():  # names out of our own schema
        listed = ", ".join(columns)
        marks = ", ".join("?" for _ in columns)
        found[f"copy_read_{name}"] = f"SELECT {listed} FROM {name}"  # noqa: S608
        found[f"copy_write_{name}"] = f"INSERT INTO {name} ({listed}) VALUES ({marks})"  # noqa: S608
        found[f"copy_clear_{name}"] = f"DELETE FROM {name}"  # noqa: S608
        found[f"copy_any_{name}"] = f"SELECT 1 FROM {name} LIMIT 1"  # noqa: S608
    return found
