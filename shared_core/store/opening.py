"""Which store an address means."""

from __future__ import annotations

import os

from shared_core.errors import InvalidInput, InvalidType
from shared_core.ports import Store
from shared_core.store.encryption import Key
from shared_core.store.sqlite import SqliteStore

_SERVERS = ("postgresql://", "postgres://")


def canonical(address: str | os.PathLike[str] | None) -> str | None:
    """An address as handles of one database share it: an absolute path, or a server's URL; None in memory.

    >>> canonical(":memory:") is None, canonical("postgres://db/app")
    (True, 'postgresql://db/app')
    """
    if address is None:
        return None
    if not isinstance(address, str | os.PathLike):
        raise InvalidType(f"an address is a path or a URL, not {type(address).__name__}")
    text = os.fspath(address)
    if not isinstance(text, str):
        raise InvalidType("an address is a text path, not bytes")
    if text == ":memory:":
        return None
    if not text.strip() or "\0" in text:
        raise InvalidInput("an address is a path such as 'agent.db'; this one is empty or holds NUL")
    if is_server(text):
        return "postgresql" + text[text.index("://") :]
    if "://" in text:
        raise InvalidInput(f"{text.split('://')[0]}:// addresses are not supported; give a path or postgresql://...")
    return os.path.realpath(text)


def is_server(address: str | None) -> bool:
    """Whether an address is a server's and not a file's."""
    return address is not None and address.startswith(_SERVERS)


def opened(address: str | None, timeout: float, durability: str, key: Key | None) -> Store:
    """The store at a canonical address, made if it is not there."""
    if address is None or not is_server(address):
        return SqliteStore(address, busy_timeout=timeout, durability=durability, key=key)
    if key is not None:
        raise InvalidInput("a key encrypts a file; a server's disk and connection are encrypted by the server")
    from shared_core.store.postgres import PostgresStore

    return PostgresStore(address, busy_timeout=timeout)
