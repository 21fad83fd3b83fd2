"""Encryption at rest: which key opens a file, and the SQLite that reads it (SQLCipher).

SQLCipher derives 256 bits from a passphrase with PBKDF2 (HMAC-SHA512, 256,000 rounds, the salt in the
first 16 bytes of the file), which takes about 0.1 s. It is done once for each open database, and
every connection is given the result; so a file opens with the passphrase in any other SQLCipher tool.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable
from types import ModuleType
from typing import Any

from shared_core.errors import InvalidInput, InvalidType, MissingExtra

VARIABLE = "TWINMEM_KEY"
"""The environment variable a key is taken from where none is given."""

Key = str | bytes
_MAGIC = b"SQLite format 3\0"
_SALT, _LENGTH, _ROUNDS = 16, 32, 256_000  # bytes, bytes, SQLCipher 4's own number


def resolved(key: Key | Callable[[], Key] | None) -> Key | None:
    """A key as it was given, or as its callable gives it: a passphrase, or 32 bytes used as they are.

    Raises `InvalidInput` for a blank passphrase or bytes of another length, `InvalidType` for the rest.
    The key is never part of a message.

    >>> resolved(lambda: "correct horse")
    'correct horse'
    """
    if key is None:
        return None
    found = key() if callable(key) else key
    if isinstance(found, str):
        if not found.strip() or "\0" in found:
            raise InvalidInput("a key is a passphrase that is not blank, or 32 bytes")
        return found
    if isinstance(found, bytes | bytearray):
        if len(found) != _LENGTH:
            raise InvalidInput(f"a key in bytes has {_LENGTH} of them, not {len(found)}; a passphrase is a str")
        return bytes(found)
    raise InvalidType(f"a key is a str, {_LENGTH} bytes, or a callable that gives one, not {type(found).__name__}")


def from_environment(path: str) -> Key | None:
    """The key in `TWINMEM_KEY` for a new file or an encrypted one; None for a plain one, which needs none."""
    found = os.environ.get(VARIABLE)
    return resolved(found) if found and not is_plain(path) else None


def is_plain(path: str) -> bool:
    """Whether there is a SQLite file that anyone can read."""
    return _head(path) == _MAGIC


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_SALT)
    except OSError:
        return b""


def driver() -> ModuleType:
    """SQLCipher's own `sqlite3`; raises `MissingExtra` without the extra `encryption`."""
    try:
        from sqlcipher3 import dbapi2
    except ImportError as error:
        raise MissingExtra("sqlcipher3", "encryption") from error
    return dbapi2  # type: ignore[no-any-return]


class Cipher:
    """One key for one file; `pragma` is what a connection is told first."""

    def __init__(self, path: str, key: Key) -> None:
        self._path, self.key = path, key
        self.fresh = False
        self.pragma = ""
        self.derive()

    def __repr__(self) -> str:
        return "Cipher(...)"

    def derive(self) -> None:
        """Take the salt of the file, or one of our own for a file that is not there yet."""
        salt = _head(self._path)
        self.fresh = len(salt) < _SALT
        if self.fresh:
            salt = secrets.token_bytes(_SALT)
        raw = self.key if isinstance(self.key, bytes) else derived(self.key, salt)
        self.pragma = f"\"x'{raw.hex()}{salt.hex()}'\""

    @staticmethod
    def quiet(connection: Any) -> None:
        """What goes wrong is raised as an error; SQLCipher would write it to the terminal besides."""
        connection.execute("PRAGMA cipher_log_level = NONE")

    def unlock(self, connection: Any) -> None:
        """Give a new connection the key."""
        self.quiet(connection)
        connection.execute(f"PRAGMA key = {self.pragma}")


def derived(passphrase: str, salt: bytes) -> bytes:
    """The 32 bytes that SQLCipher 4 makes of a passphrase (PBKDF2-HMAC-SHA512)."""
    return hashlib.pbkdf2_hmac("sha512", passphrase.encode("utf-8", "surrogatepass"), salt, _ROUNDS, _LENGTH)
