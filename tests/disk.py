"""What lies on the disk, byte by byte: also inside compressed archives and encrypted pages."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import zstandard

from shared_core import AgentMemory
from shared_core.store import sealing, tombstones

_PAGE, _RESERVED, _IV = 4096, 80, 16  # SQLCipher 4: an IV and a keyed hash of 64 bytes end each page
_WAL_HEADER, _FRAME_HEADER = 32, 24


def on_disk(folder: Path, memory: AgentMemory | None = None) -> bytes:
    """Every byte of every file below a folder, and of what archives hold; with `memory`, decrypted by its key."""
    return b"\n".join(part for path in sorted(folder.rglob("*")) if path.is_file() for part in _seen(path, memory))


def _seen(path: Path, memory: AgentMemory | None) -> Iterator[bytes]:
    data = path.read_bytes()
    yield str(path.name).encode()
    yield data
    if memory is not None and memory._engine.options.key is not None:
        yield from _decrypted(data, memory)
        if sealing.is_sealed(data):
            with memory._engine.store.read() as tx:
                data = sealing.opened(data, tombstones.secret(tx), "archive")
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        yield zstandard.ZstdDecompressor().decompressobj().decompress(data)


def _decrypted(data: bytes, memory: AgentMemory) -> Iterator[bytes]:
    """The pages of a database or of its log as SQLite sees them, free parts and all."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    store = memory._engine.store
    key = bytes.fromhex(store.cipher.pragma[3:67])  # type: ignore[attr-defined]
    is_log = data[:4] in (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
    start, step = (_WAL_HEADER, _FRAME_HEADER + _PAGE) if is_log else (0, _PAGE)
    for place in range(start, len(data) - step + 1, step):
        page = data[place + (_FRAME_HEADER if is_log else 0) :][:_PAGE]
        salt = 16 if (not is_log and place == 0) else 0
        if is_log and page[:16] == data[:16]:
            salt = 16
        iv = page[-_RESERVED:][:_IV]
        body = page[salt:-_RESERVED]
        if len(body) % 16 == 0 and len(iv) == _IV:
            yield Cipher(algorithms.AES(key), modes.CBC(iv)).decryptor().update(body)


def raw(path: Path, statement: str, parameters: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """Run a statement behind the memory's back."""
    connection = sqlite3.connect(path)
    try:
        found = connection.execute(statement, parameters).fetchall()
        connection.commit()
        return found
    finally:
        connection.close()
