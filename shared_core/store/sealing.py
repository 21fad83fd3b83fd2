"""Bytes that leave the database, sealed so that only the database can open them again.

Archive files and the vault of redacted values are encrypted with AES-256-GCM under a key of their own,
made from a secret that lies in the database: whoever has the database's key has them, a change of that
key leaves them readable, and a lost database takes them with it.
"""

from __future__ import annotations

import os
from typing import Any

from shared_core.errors import MissingExtra, StoreDamaged

_NONCE = 12  # bytes, GCM's own length
_MARK = b"twinmem-sealed-1\n"


def seal(data: bytes, secret: bytes, purpose: str) -> bytes:
    """Encrypt `data`; `purpose` is bound to it, so that one thing can't be passed off as another.

    >>> sealed = seal("秘密".encode(), b"k" * 32, "demo")
    >>> is_sealed(sealed), opened(sealed, b"k" * 32, "demo").decode()
    (True, '秘密')
    """
    nonce = os.urandom(_NONCE)
    found: bytes = _cipher(secret, purpose).encrypt(nonce, data, purpose.encode())
    return _MARK + nonce + found


def is_sealed(data: bytes) -> bool:
    """Whether these bytes, or the first of them, came out of `seal`."""
    return data.startswith(_MARK)


def opened(sealed: bytes, secret: bytes, purpose: str) -> bytes:
    """The bytes that were sealed; raises `StoreDamaged` where one was changed, or the secret is another."""
    from cryptography.exceptions import InvalidTag

    nonce, body = sealed[len(_MARK) : len(_MARK) + _NONCE], sealed[len(_MARK) + _NONCE :]
    try:
        found: bytes = _cipher(secret, purpose).decrypt(nonce, body, purpose.encode())
    except (InvalidTag, ValueError) as error:
        raise StoreDamaged("sealed data is damaged, or belongs to another database") from error
    return found


def ready() -> None:
    """Raise `MissingExtra` now rather than at the first value."""
    _cipher(bytes(32), "ready")


def _cipher(secret: bytes, purpose: str) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF
    except ImportError as error:
        raise MissingExtra("cryptography", "encryption") from error
    # HKDF (RFC 5869): a key for each purpose out of one secret.
    return AESGCM(HKDF(SHA256(), 32, salt=None, info=b"twinmem " + purpose.encode()).derive(secret))
