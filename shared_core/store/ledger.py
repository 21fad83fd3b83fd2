"""The rules of writing: one transaction a write, one way in, one cascade out.

Everything here works on an open transaction; whoever opens it decides what belongs together.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.long_term.graph import forgetting
from shared_core.ports import Transaction
from shared_core.short_term.sentences import split
from shared_core.store import cold, vault
from shared_core.store.rows import Draft, draft, dump, instant, load
from shared_core.values import Receipt

_LOG = 20_000  # erased rows remembered for caches; one that is further behind is built anew


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


def scope_id(tx: Transaction, user: str, agent: str) -> int | None:
    """The scope's row, or None where nothing was ever written; reading creates nothing."""
    rows = tx.rows("find_scope", {"user": user, "agent": agent})
    return rows[0][0] if rows else None


def ensure_scope(tx: Transaction, user: str, agent: str, now: int) -> int:
    """The scope's row, made on the first write."""
    found = scope_id(tx, user, agent)
    if found is None:
        tx.run("add_scope", {"user": user, "agent": agent, "now": now})
        found = scope_id(tx, user, agent)
        assert found is not None
        if tx.rows("any_tombstone", {"scope": forgotten(tx, user, agent)}):  # who was forgotten is back
            _move_tombstones(tx, forgotten(tx, user, agent), found)
    return found


def ensure_session(tx: Transaction, scope: int, name: str, now: int) -> int:
    """The session's row, made on its first message, open again if it had ended."""
    key = {"scope": scope, "name": name}
    rows = tx.rows("find_session", key)
    if not rows:
        tx.run("add_session", {**key, "now": now})
        rows = tx.rows("find_session", key)
    elif rows[0][3] is not None:
        tx.run("reopen_session", {"session": rows[0][0]})
    return int(rows[0][0])


def bump(tx: Transaction, scope: int) -> int:
    """The revision of this write; caches that hold a lower one read what changed."""
    return int(tx.rows("bump_scope", {"scope": scope, "count": 0})[0][0])


def _numbers(tx: Transaction, scope: int, count: int) -> tuple[int, Sequence[int]]:
    """The revision of this write, and the seqs of the records it may add.

    SQLite has one writer at a time and says the next one; a server gives each writer its own.
    """
    given = tx.rows("bump_scope", {"scope": scope, "count": count})
    revision, first = given[0]
    if not count or len(given) > 1:
        return int(revision), [int(row[1]) for row in given[:count]]
    return int(revision), range(first, first + count)


def put(tx: Transaction, scope: int, drafts: Sequence[Draft], now: int, embedder: int | None) -> tuple[list[int], int]:
    """Write drafts and give the seq of each, in order, and the first seq that is new.

    A draft with an id that exists replaces that record and keeps its creation time. A draft with a
    digest that exists is the same fact told again: `seen` rises, metadata merges, importance takes
    the higher, and a superseded record stays superseded.
    """
    revision, numbers = _numbers(tx, scope, len(drafts))
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
    revision, numbers = _numbers(tx, scope, len(drafts))
    fresh = list(zip(numbers, drafts, strict=True))
    vectors = [(seq << 8 | embedder, item.vector) for seq, item in fresh if item.vector and embedder is not None]
    seqs = [seq for seq, _ in fresh]
    _insert(tx, scope, revision, now, fresh, vectors)
    vault.keep_of(tx, scope, drafts, now)
    return seqs


def change(tx: Transaction, scope: int, seq: int, item: Draft, now: int, embedder: int | None) -> None:
    """Write a changed record over its row; its vectors are replaced only if `embedder` is given."""
    write_back(tx, scope, seq, item, bump(tx, scope), now, embedder)
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
        unfold(tx, scope, seq, now, item.text)
    if item.kind == "turn" and item.session is not None:  # what was made of the old text goes with it
        tx.run("unsay", (item.session, item.position))
    tx.run("delete_record", (seq,))
    tx.run("insert_record", item.row(scope, seq, revision, now))
    if embedder is not None:
        tx.run("delete_vectors", (seq << 8, seq << 8 | 255))
        if item.vector is not None:
            tx.run("insert_vector", (seq << 8 | embedder, item.vector))


def unfold(tx: Transaction, scope: int, seq: int, now: int, text: str | None = None) -> None:
    """Take back the summary that holds a record, unless the record's text stays: it would go on saying what was."""
    found = [row[0] for row in tx.rows("linked_to", (seq, "folded"))]
    if found and (text is None or tx.rows("raw_record", {"seq": seq})[0][4] != text):
        erase(tx, scope, found, now, action="replaced")


def is_known(tx: Transaction, scope: int, item: Draft) -> bool:
    """Whether `put` would take a draft for a fact that is told again."""
    return item.id is None and _fact(item) in _known(tx, scope, [item])


def tell_again(tx: Transaction, scope: int, seq: int, item: Draft, now: int) -> None:
    """Count that a record was told once more, in whatever words."""
    _again(tx, seq, item, bump(tx, scope), now)
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


# ---------------------------------------------------------------------- the one way out


def erase(
    tx: Transaction, scope: int, seqs: Iterable[int], now: int, *, action: str = "deleted", derived: bool = True,
    lost: forgetting.Lost | None = None, revive: bool = False, archived: Iterable[str] = (),
) -> Receipt:  # fmt: skip
    """Erase records and all that came only from them: the one cascade behind every deletion.

    Vectors, words, access counts, provenance, pending work, outcomes, traces, relations and
    questions go with their record; with `derived`, so do the records that no other source
    supports. What remains is a keyed hash (tombstone) and an audit row without content.

    An erased version leaves those before it superseded: to forget what is true now does not make
    true again what was so before. With `revive` what was said is taken back, and they are. A fact
    that waited for an answer about an erased one waits no more.

    Copies in archives go too, and so do the records with the ids `archived`; `archive.settle` then
    mends the files. The action `ARCHIVED` is the move there: the rows go, and nothing is forgotten.
    The file is marked: until it is rewritten, bytes of what was erased may be left in it (`erasing`).
    """
    gone = list(dict.fromkeys(int(seq) for seq in seqs))
    moved = action == ARCHIVED
    if derived:
        edge = gone
        while edge:
            rows = tx.rows("derived_only_from", {"seqs": json.dumps(gone)})
            known = set(gone)
            edge = [row[0] for row in rows if row[0] not in known]
            gone += edge
    going: list[str] = []
    if not moved and cold.holds(tx, scope):
        going = cold.closure(tx, scope, gone, archived, derived=derived)
        gone = list(dict.fromkeys([*gone, *(row[0] for id in going for row in tx.rows("seq_by_id", (scope, id)))]))
    if not gone and not any(cold.lies(tx, scope, id) for id in going):
        return Receipt(count=0, at=instant(now))
    if not moved:
        mark(tx)
    revision = bump(tx, scope)
    counts = {"records": 0}
    if derived or action != "deleted":
        counts |= forgetting.of_records(tx, scope, gone, revision, lost)
    else:  # the turns go, what they said stays
        forgetting.detach(tx, scope, gone, revision)
    ids, hashed = [], []  # type: list[str], list[str]
    key = secret(tx)
    without = set(gone)
    freed: list[int] = []
    tokens: set[str] | None = set() if not moved and vault.holds(tx, scope) else None
    for seq in gone:
        rows = tx.rows("raw_record", {"seq": seq})
        if not rows or rows[0][0] != scope:
            continue
        item = draft(rows[0])
        if item.kind == "fact" and not moved:
            freed += [row[0] for row in tx.rows("waiting_on", (seq,)) if row[0] not in without]
        if action == "deleted" and item.kind in _READ:
            for link in tx.rows("links_of", {"seqs": f"[{seq}]"}):
                for turn in [] if link[1] in without else tx.rows("raw_record", {"seq": link[1]}):
                    tx.run("add_tombstone", (scope, _reading(key, turn[1], item.text), now))
                    _unsay(tx, scope, key, turn, item, now)
            for turn in tx.rows("cold_sources_of", {"scope": scope, "record": item.id}) if going else []:
                tx.run("add_tombstone", (scope, _reading(key, turn[0], item.text), now))
        if item.kind == "turn" and item.session is not None and not moved:
            tx.run("unsay", (item.session, item.position))
        if item.kind == "summary":  # its facts are folded anew
            tx.run("touch_folded", {"record": seq, "revision": revision})
        if tokens is not None:
            tokens |= vault.mentioned(item)
        ids.append(str(item.id))
        counts["records"] += 1
        for name, statement in _BELONGINGS:
            touched = tx.run(statement, (seq,))
            counts[name] = counts.get(name, 0) + max(touched, 0)
        counts["vectors"] = counts.get("vectors", 0) + tx.run("delete_vectors", (seq << 8, seq << 8 | 255))
        if not moved and (item.superseded_by is not None or item.supersedes is not None):
            version = {"scope": scope, "id": item.id, "revision": revision}
            if revive and item.status == "active":
                tx.run("revive", version)
            tx.run("unlink_superseding", version)
            tx.run("unlink_superseded", version)
        tx.run("delete_record", (seq,))
        if not moved:
            scrub(tx, scope, key, str(item.id))
            hashed.append(tombstone(key, item).hex())
            tx.run("add_tombstone", (scope, bytes.fromhex(hashed[-1]), now))
        tx.run("add_audit", (scope, item.id if moved else erased_id(key, str(item.id)), action, None, now))
        tx.run("add_erased", (scope, revision, seq))
    for id in going:  # a summary stands for the archived turns too, and can't be made again without them
        held = {id, *(row[0] for row in tx.rows("cold_sources_of", {"scope": scope, "record": id}))}
        for row in (row for record in held for row in tx.rows("cold_record", (scope, record))):
            tx.run("unsay_archived", (scope, row[0]))
        hashed += [row[1][:HASH].hex() for row in tx.rows("cold_record", (scope, id))]
    if tokens is not None:
        tokens |= {
            each for id in going for row in tx.rows("cold_record", (scope, id)) for each in (row[3] or "").split()
        }
    buried = cold.erase(tx, scope, going, now, revision) if going else []
    counts["archived records"] = len(buried)
    for id in buried:
        if id not in ids:
            ids.append(id)
            counts["records"] += 1
            version = {"scope": scope, "id": id, "revision": revision}
            for statement in ("unlink_superseding", "unlink_superseded"):
                tx.run(statement, version)
            scrub(tx, scope, key, id)
            tx.run("add_audit", (scope, erased_id(key, id), action, None, now))
    if tokens:
        counts["vault"] = vault.release(tx, scope, tokens)
    for seq in freed:
        tx.run("wake", {"seq": seq, "now": now, "revision": revision})
    if tx.rows("count_erased", {"scope": scope})[0][0] > _LOG:
        tx.run("forget_erased", {"scope": scope})
        tx.run("raise_horizon", {"scope": scope, "revision": revision})
    erased = {name: count for name, count in counts.items() if count}
    return Receipt(
        count=counts["records"], ids=tuple(ids), erased=erased, at=instant(now), tombstones=tuple(dict.fromkeys(hashed))
    )  # fmt: skip


def erased_id(key: bytes, id: str) -> str:
    """What the log calls a record that was erased: whoever knows its id finds the entries, nobody else learns it."""
    return "erased-" + hmac.digest(key, f"audit\x1f{id}".encode("utf-8", "surrogatepass"), "sha256")[:16].hex()


def scrub(tx: Transaction, scope: int, key: bytes, id: str) -> None:
    """Leave of the log of a record what was done and when, and neither what it said nor what it was called."""
    hashed = erased_id(key, id)
    after = tx.rows("last_step", (scope, hashed))[0][0]
    tx.run("scrub_audit", {"scope": scope, "id": id, "hashed": hashed, "after": after})


def log_of(tx: Transaction, scope: int, id: str) -> list[tuple[Any, ...]]:
    """The entries about a record, and about those that were erased under its id before: action, time, detail."""
    names = [id]
    if tx.rows("any_tombstone", {"scope": scope}):  # the secret is made by then
        names.insert(0, erased_id(secret(tx), id))
    return [row for name in names for row in tx.rows("audit_of", {"scope": scope, "id": name})]


def mark(tx: Transaction) -> None:
    """Note that the file holds bytes of what was erased, until it is rewritten: also if nobody lives to do it."""
    tx.rows("mark_erased", {"mark": os.urandom(8).hex()})


ARCHIVED = "archived"
"""The action of a move to cold storage."""

_BELONGINGS = (
    ("access counts", "delete_access"),
    ("links", "delete_links"),
    ("links", "delete_links_to"),
    ("pending", "delete_pending"),
    ("outcomes", "delete_outcomes"),
    ("traces", "delete_traces"),
    ("traces", "delete_traces_of"),
    ("questions", "delete_questions_of"),
)

_SCOPE_PARTS = (
    ("pending", "clear_scope_pending"),
    ("questions", "clear_scope_questions"),
    ("vault", "clear_scope_vault"),
)


def erase_all(tx: Transaction, scope: int, now: int) -> Receipt:
    """Erase everything of a scope: its records by the cascade, then all that hangs on the scope."""
    mark(tx)
    graph = forgetting.of_scope(tx, scope, bump(tx, scope))
    away = [row[0][:HASH].hex() for row in tx.rows("cold_hashes", {"scope": scope})]
    archives = cold.erase_scope(tx, scope, now)
    receipt = erase(tx, scope, [row[0] for row in tx.rows("scope_seqs", {"scope": scope})], now)
    counts = {**receipt.erased, **graph, **archives}
    sessions = tx.run("drop_sessions", {"scope": scope})
    for name, statement in (*_SCOPE_PARTS,):
        counts[name] = counts.get(name, 0) + max(tx.run(statement, {"scope": scope}), 0)
    counts["sessions"] = counts.get("sessions", 0) + max(sessions, 0)
    hashed = tuple(dict.fromkeys([*receipt.tombstones, *away]))
    kept = {name: count for name, count in counts.items() if count}
    return receipt.model_copy(update={"erased": kept, "tombstones": hashed})


def forget_scope(tx: Transaction, scope: int, now: int) -> Receipt:
    """Erase a scope with its row and log; only tombstones stay, under a keyed hash of whose they are."""
    receipt = erase_all(tx, scope, now)
    _move_tombstones(tx, scope, forgotten(tx, *tx.rows("scope_names", {"scope": scope})[0]))
    tx.run("clear_scope_audit", {"scope": scope})
    tx.run("clear_scope_erased", {"scope": scope})
    tx.run("drop_scope", {"scope": scope})
    return receipt


def forgotten(tx: Transaction, user: str, agent: str) -> int:
    """Where the tombstones of a forgotten scope lie: a negative number that names nobody."""
    whose = f"forgotten\x1f{len(user)}\x1f{user}\x1f{agent}".encode("utf-8", "surrogatepass")
    return -1 - (int.from_bytes(hmac.digest(secret(tx), whose, "sha256")[:8], "big") >> 1)


def _move_tombstones(tx: Transaction, scope: int, target: int) -> None:
    tx.run("move_tombstones", {"scope": scope, "target": target})
    tx.run("drop_tombstones", {"scope": scope})


HASH = 32
"""Bytes of a tombstone."""


def tombstone(key: bytes, item: Draft) -> bytes:
    """The keyed hash of a record's content: tells it when it comes back, says nothing of it."""
    content = "\x1f".join((item.kind, item.text, str(item.event_time), item.message_id or ""))
    return hmac.digest(key, content.encode("utf-8", "surrogatepass"), "sha256")


def hashes(tx: Transaction, key: bytes, seq: int, item: Draft) -> bytes:
    """What the tombstones of a record would be, one after the other: of itself, and of each reading it came from."""
    found = [tombstone(key, item)]
    if item.kind in _READ:
        found += [_reading(key, row[0], item.text) for row in tx.rows("sources_of", {"seq": seq})]
    return b"".join(found)


_READ = frozenset({"fact", "event", "rule"})


def _reading(key: bytes, turn: str, text: str) -> bytes:
    """The keyed hash of a fact as it was read from a turn: a second reading of that turn knows it."""
    return hmac.digest(key, f"read\x1f{turn}\x1f{text}".encode("utf-8", "surrogatepass"), "sha256")


_UNSAID = "\x00unsaid"  # no fact's text: intake refuses the blank and keeps what can be seen


def _unsay(tx: Transaction, scope: int, key: bytes, turn: tuple[Any, ...], fact: Draft, now: int) -> None:
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
        tx.run("add_tombstone", (scope, _reading(key, turn[1], f"{_UNSAID}\x1f{sentence}"), now))
    tx.run("add_tombstone", (scope, _reading(key, turn[1], _UNSAID), now))


def still_said(tx: Transaction, scope: int, turn: str, text: str) -> str:
    """A turn's text without the sentences that told what was erased since."""
    if not was_erased(tx, scope, turn, _UNSAID):
        return text
    told = split(text)
    left = [sentence for sentence in told if not was_erased(tx, scope, turn, f"{_UNSAID}\x1f{sentence}")]
    return text if len(left) == len(told) else " ".join(left)


def was_erased(tx: Transaction, scope: int, turn: str, text: str) -> bool:
    """Whether a fact that was read from this turn was erased by somebody; it is not read from it again."""
    return bool(tx.rows("has_tombstone", (scope, _reading(secret(tx), turn, text))))


def secret(tx: Transaction) -> bytes:
    """The key of this database's tombstones, made once."""
    rows = tx.rows("get_meta", {"key": "tombstone key"})
    if not rows:
        tx.run("add_meta", {"key": "tombstone key", "value": os.urandom(32).hex()})
        rows = tx.rows("get_meta", {"key": "tombstone key"})
    return bytes.fromhex(rows[0][0])


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


def audit(tx: Transaction, scope: int, record: str | None, action: str, now: int, detail: Mapping[str, Any]) -> None:
    """One entry of the audit log."""
    tx.run("add_audit", (scope, record or "", action, dump(dict(detail)) if detail else None, now))
