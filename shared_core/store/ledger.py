"""The rules of writing: one transaction a write, one way in.

Everything here works on an open transaction; whoever opens it decides what belongs together. The one
way out is `cascade`.
"""

from __future__ import annotations

import hashlib
import os
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.long_term.graph import forgetting
from shared_core.ports import Transaction
from shared_core.store import cascade, scopes, vault
from shared_core.store.rows import Draft, draft, dump, load


def new_id(now: int) -> str:
    """A fresh record id: the time first, so that ids sort by creation, then 64 random bits."""
    return f"{now:014x}{os.urandom(8).hex()}"


def turn_id(session: str, message_id: str) -> str:
    """The record id of a message: the same message of the same session is one turn."""
    key = f"{len(session)}:{session}{message_id}".encode("utf-8", "surrogatepass")
    return "turn-" + hashlib.blake2b(key, digest_size=16).hexdigest()


def summary_id(what: str, key: str) -> str:
    """The record id of a summary: one a subject ("about"), one a cleared session ("talk")."""
    return f"{what}-" + hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def seqs_of(tx: Transaction, scope: int, ids: Iterable[str]) -> list[int]:
    """The seqs of those of these records that there are."""
    wanted = list(ids)
    odd = [
        id for id in wanted if "\0" in id or "\1" in id
    ]  # SQLite's JSON ends a text at \0, a server keeps both escaped
    listed = [id for id in wanted if id not in odd] if odd else wanted
    found = tx.rows("seqs_by_id", {"scope": scope, "ids": dump(listed)}) if listed else []
    found += [row for id in odd for row in tx.rows("seq_by_id", (scope, id))]
    return [row[0] for row in found]


def put(tx: Transaction, scope: int, drafts: Sequence[Draft], now: int, embedder: int | None) -> tuple[list[int], int]:
    """Write drafts and give the seq of each, in order, and the first seq that is new.

    A draft with an id that exists replaces that record and keeps its creation time. A draft with a
    digest that exists is the same fact told again: `seen` rises, metadata merges, importance takes
    the higher, and a superseded record stays superseded.
    """
    revision, numbers = scopes.numbers(tx, scope, len(drafts))
    known = _known(tx, scope, drafts)
    first, added = numbers[0] if numbers else 0, 0
    seqs: list[int] = []
    fresh: list[tuple[int, Draft]] = []
    vectors: list[tuple[int, bytes]] = []
    waiting: dict[str, int] = {}  # ids not inserted yet
    audit: list[tuple[Any, ...]] = []
    for item in drafts:
        old = None
        if item.id is not None:
            if item.id in waiting:  # the same id twice in one batch: write what waits, so that it is seen
                _insert(tx, scope, revision, now, fresh, vectors)
                waiting.clear()
            rows = tx.rows("seq_by_id", (scope, item.id))
            old = rows[0][0] if rows else None
        elif item.digest is not None and (same := known.get(_fact(item))) is not None:
            old, expires_at, item.id = same
            if old >= first:  # told twice in one batch
                _insert(tx, scope, revision, now, fresh, vectors)
                waiting.clear()
            if expires_at is None or expires_at > now:
                _again(tx, old, item, revision, now)
                audit.append((scope, item.id, "told again", None, now))
                seqs.append(old)
                continue
        if old is not None:
            _replace(tx, scope, old, item, revision, now, embedder)
            audit.append((scope, item.id, "replaced", None, now))
            seqs.append(old)
            continue
        seq = numbers[added]
        added += 1
        if item.id is None:
            item.id = item.wish or new_id(now)
            if item.digest is not None:
                known[_fact(item)] = (seq, item.expires_at, item.id)
        else:
            waiting[item.id] = seq
        fresh.append((seq, item))
        if item.vector is not None and embedder is not None:
            vectors.append((seq << 8 | embedder, item.vector))
        seqs.append(seq)
    _insert(tx, scope, revision, now, fresh, vectors)
    vault.keep_of(tx, scope, drafts, now)
    if added == 1:
        audit.append((scope, drafts[seqs.index(first)].id, "added", None, now))
    elif added:
        audit.append((scope, "", "added", dump({"count": added}), now))
    for entry in audit:
        tx.run("add_audit", entry)
    return seqs, first


Fact = tuple[int | None, str, str, int | None]


def _fact(item: Draft) -> Fact:
    return (item.digest, item.kind, same_text(item.text), item.event_time)


def same_text(text: str) -> str:
    """What of a text decides whether a fact is the same: NFKC, without the space around it."""
    return text.strip() if text.isascii() else unicodedata.normalize("NFKC", text).strip()


def _known(tx: Transaction, scope: int, drafts: Sequence[Draft]) -> dict[Fact, tuple[int, int | None, str]]:
    """The records that say the same as one of these drafts: seq, end, id."""
    digests = [item.digest for item in drafts if item.id is None and item.digest is not None]
    if not digests:
        return {}
    rows = tx.rows("known_digests", {"scope": scope, "digests": dump(digests)})
    return {
        (digest, kind, same_text(text), event_time): (seq, expires_at, id)
        for digest, seq, expires_at, id, kind, text, event_time in rows
    }


def take(tx: Transaction, scope: int, drafts: Sequence[Draft], now: int, embedder: int | None) -> list[int]:
    """Write records as they were elsewhere, ids and times and state kept; the seq of each. None may be here yet."""
    revision, numbers = scopes.numbers(tx, scope, len(drafts))
    fresh = list(zip(numbers, drafts, strict=True))
    vectors = [(seq << 8 | embedder, item.vector) for seq, item in fresh if item.vector and embedder is not None]
    seqs = [seq for seq, _ in fresh]
    _insert(tx, scope, revision, now, fresh, vectors)
    vault.keep_of(tx, scope, drafts, now)
    return seqs


def change(tx: Transaction, scope: int, seq: int, item: Draft, now: int, embedder: int | None) -> None:
    """Write a changed record over its row; its vectors are replaced only if `embedder` is given."""
    write_back(tx, scope, seq, item, scopes.bump(tx, scope), now, embedder)
    vault.keep_of(tx, scope, [item], now)


def _insert(
    tx: Transaction,
    scope: int,
    revision: int,
    now: int,
    fresh: list[tuple[int, Draft]],
    vectors: list[tuple[int, bytes]],
) -> None:
    plain = [item.plain_row(scope, seq, revision, now) for seq, item in fresh if item.is_plain]
    whole = [item.row(scope, seq, revision, now) for seq, item in fresh if not item.is_plain]
    for statement, rows in (("insert_plain", plain), ("insert_record", whole), ("insert_vector", vectors)):
        if len(rows) == 1:
            tx.run(statement, rows[0])
        elif rows:
            tx.many(statement, rows)
    fresh.clear()
    vectors.clear()


def _replace(tx: Transaction, scope: int, seq: int, item: Draft, revision: int, now: int, embedder: int | None) -> None:
    old = draft(tx.rows("raw_record", {"seq": seq})[0])
    if (old.kind == "turn") is not (item.kind == "turn"):
        raise InvalidInput(f"{item.id!r} is the id of a {old.kind}; a turn stays a turn, and nothing else becomes one")
    # A turn that is sent again keeps its place; whatever has no session of its own keeps the old one.
    if item.session is None or item.session == old.session:
        item = replace(item, session=old.session, position=old.position)
    item.created_at = old.created_at
    write_back(tx, scope, seq, item, revision, now, embedder)


def write_back(
    tx: Transaction, scope: int, seq: int, item: Draft, revision: int, now: int, embedder: int | None
) -> None:
    """Write a changed draft over its row: the words and vectors of the old text go with it."""
    item.updated_at = now
    if item.status == "active":  # an archived text lies elsewhere, and what it told is still true
        forgetting.stale(tx, scope, seq, item.text, revision)
        cascade.unfold(tx, scope, seq, now, item.text)
    if item.kind == "turn" and item.session is not None:  # what was made of the old text goes with it
        tx.run("unsay", (item.session, item.position))
    tx.run("delete_record", (seq,))
    tx.run("insert_record", item.row(scope, seq, revision, now))
    if embedder is not None:
        tx.run("delete_vectors", (seq << 8, seq << 8 | 255))
        if item.vector is not None:
            tx.run("insert_vector", (seq << 8 | embedder, item.vector))


def is_known(tx: Transaction, scope: int, item: Draft) -> bool:
    """Whether `put` would take a draft for a fact that is told again."""
    return item.id is None and _fact(item) in _known(tx, scope, [item])


def tell_again(tx: Transaction, scope: int, seq: int, item: Draft, now: int) -> None:
    """Count that a record was told once more, in whatever words."""
    _again(tx, seq, item, scopes.bump(tx, scope), now)
    vault.keep_of(tx, scope, [item], now)
    id = tx.rows("raw_record", {"seq": seq})[0][1]
    tx.run("add_audit", (scope, id, "told again", None, now))


def _again(tx: Transaction, seq: int, item: Draft, revision: int, now: int) -> None:
    old = tx.rows("raw_record", {"seq": seq})[0]
    merged = {**(load(old[13]) or {}), **(load(item.metadata) or {})}
    tx.run(
        "touch_record",
        {
            "seq": seq,
            "metadata": dump(merged) if merged else None,
            "importance": item.importance,
            "now": now,
            "revision": revision,
        },
    )


# ---------------------------------------------------------------------- embedders


def embedder_id(tx: Transaction, name: str, dimensions: int) -> int | None:
    """The number of a known embedder, or None."""
    for number, known, size in tx.rows("embedders"):
        if known == name and size == dimensions:
            return int(number)
    return None


def ensure_embedder(tx: Transaction, name: str, dimensions: int) -> int:
    """The number of an embedder, given one at its first vector."""
    found = embedder_id(tx, name, dimensions)
    if found is None:
        tx.rows("lock_embedders")
        found = embedder_id(tx, name, dimensions)
    if found is not None:
        return found
    number = len(tx.rows("embedders"))
    if number > 255:
        raise InvalidInput("this database has known 256 embedders, which is the most it can; copy it to a new one")
    tx.run("add_embedder", {"id": number, "name": name, "dimensions": dimensions})
    return number
