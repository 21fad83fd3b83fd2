"""What stays of what was erased: keyed hashes, which know it when it comes back and say nothing of it."""

from __future__ import annotations

import hmac
import os
from typing import Any

from shared_core.ports import Transaction
from shared_core.short_term.sentences import split
from shared_core.store.rows import Draft

HASH = 32
"""Bytes of a tombstone."""


def tombstone(key: bytes, item: Draft) -> bytes:
    """The keyed hash of a record's content: tells it when it comes back, says nothing of it."""
    content = "\x1f".join((item.kind, item.text, str(item.event_time), item.message_id or ""))
    return hmac.digest(key, content.encode("utf-8", "surrogatepass"), "sha256")


def hashes(tx: Transaction, key: bytes, seq: int, item: Draft) -> bytes:
    """What the tombstones of a record would be, one after the other: of itself, and of each reading it came from."""
    found = [tombstone(key, item)]
    if item.kind in READ:
        found += [reading(key, row[0], item.text) for row in tx.rows("sources_of", {"seq": seq})]
    return b"".join(found)


READ = frozenset({"fact", "event", "rule"})
"""The kinds that are read from turns."""


def reading(key: bytes, turn: str, text: str) -> bytes:
    """The keyed hash of a fact as it was read from a turn: a second reading of that turn knows it."""
    return hmac.digest(key, f"read\x1f{turn}\x1f{text}".encode("utf-8", "surrogatepass"), "sha256")


_UNSAID = "\x00unsaid"  # no fact's text: intake refuses the blank and keeps what can be seen


def unsay(tx: Transaction, scope: int, key: bytes, turn: tuple[Any, ...], fact: Draft, now: int) -> None:
    """Take what was erased out of the summary and the snapshot of the talk it was read from, for good.

    The turn stays in the history as it was said; the sentences of it that tell the fact are known by
    keyed hashes, and no summary is made of them again (`still_said`).
    """
    if turn[2] != "turn" or turn[19] is None:
        return
    tx.run("unsay", (turn[19], turn[20]))
    told = split(turn[4])
    words = [fact.text, fact.triple.object if fact.triple is not None else fact.text]
    words = [word.casefold().strip(" .。!！") for word in words]
    telling = [sentence for sentence in told if any(word and word in sentence.casefold() for word in words)]
    for sentence in telling or told:
        tx.run("add_tombstone", (scope, reading(key, turn[1], f"{_UNSAID}\x1f{sentence}"), now))
    tx.run("add_tombstone", (scope, reading(key, turn[1], _UNSAID), now))


def still_said(tx: Transaction, scope: int, turn: str, text: str) -> str:
    """A turn's text without the sentences that told what was erased since."""
    if not was_erased(tx, scope, turn, _UNSAID):
        return text
    told = split(text)
    left = [sentence for sentence in told if not was_erased(tx, scope, turn, f"{_UNSAID}\x1f{sentence}")]
    return text if len(left) == len(told) else " ".join(left)


def was_erased(tx: Transaction, scope: int, turn: str, text: str) -> bool:
    """Whether a fact that was read from this turn was erased by somebody; it is not read from it again."""
    return bool(tx.rows("has_tombstone", (scope, reading(secret(tx), turn, text))))


def forgotten(tx: Transaction, user: str, agent: str) -> int:
    """Where the tombstones of a forgotten scope lie: a negative number that names nobody."""
    whose = f"forgotten\x1f{len(user)}\x1f{user}\x1f{agent}".encode("utf-8", "surrogatepass")
    return -1 - (int.from_bytes(hmac.digest(secret(tx), whose, "sha256")[:8], "big") >> 1)


def move(tx: Transaction, scope: int, target: int) -> None:
    """Give the tombstones of one scope to another."""
    tx.run("move_tombstones", {"scope": scope, "target": target})
    tx.run("drop_tombstones", {"scope": scope})


def secret(tx: Transaction) -> bytes:
    """The key of this database's tombstones, made once."""
    rows = tx.rows("get_meta", {"key": "tombstone key"})
    if not rows:
        tx.run("add_meta", {"key": "tombstone key", "value": os.urandom(32).hex()})
        rows = tx.rows("get_meta", {"key": "tombstone key"})
    return bytes.fromhex(rows[0][0])
