"""The one way out: whatever erases a record does it here, with all that hangs on it.

Everything works on an open transaction, like the way in (`ledger`).
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from shared_core.long_term.graph import forgetting
from shared_core.ports import Transaction
from shared_core.store import audit, cold, tombstones, vault
from shared_core.store.rows import Draft, draft, instant
from shared_core.store.scopes import bump
from shared_core.values import Receipt

_LOG = 20_000  # erased rows remembered for caches; one that is further behind is built anew

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
    moved = action == ARCHIVED
    gone, going = _closure(tx, scope, seqs, archived, derived=derived, moved=moved)
    if not gone and not any(cold.lies(tx, scope, id) for id in going):
        return Receipt(count=0, at=instant(now))
    if not moved:
        mark(tx)
    revision = bump(tx, scope)
    counts: Counter[str] = Counter(records=0)
    if derived or action != "deleted":
        counts.update(forgetting.of_records(tx, scope, gone, revision, lost))
    else:  # the turns go, what they said stays
        forgetting.detach(tx, scope, gone, revision)
    under = _Erasure(tx, scope, now, action, revision, tombstones.secret(tx), frozenset(gone), going, revive, counts)
    if not moved and vault.holds(tx, scope):
        under.tokens = set()
    for seq in gone:
        rows = tx.rows("raw_record", {"seq": seq})
        if rows and rows[0][0] == scope:
            under.record(seq, draft(rows[0]))
    under.archived()
    under.settle()
    return under.receipt()


def _closure(
    tx: Transaction, scope: int, seqs: Iterable[int], archived: Iterable[str], *, derived: bool, moved: bool
) -> tuple[list[int], list[str]]:
    """These records and, with `derived`, all that came only from them: seqs, and ids where an archive holds any."""
    gone = list(dict.fromkeys(int(seq) for seq in seqs))
    edge = gone if derived else []
    while edge:
        rows = tx.rows("derived_only_from", {"seqs": json.dumps(gone)})
        known = set(gone)
        edge = [row[0] for row in rows if row[0] not in known]
        gone += edge
    if moved or not cold.holds(tx, scope):
        return gone, []
    going = cold.closure(tx, scope, gone, archived, derived=derived)
    return list(dict.fromkeys([*gone, *(row[0] for id in going for row in tx.rows("seq_by_id", (scope, id)))])), going


@dataclass
class _Erasure:
    """One erasure under way."""

    tx: Transaction
    scope: int
    now: int
    action: str
    revision: int
    key: bytes
    without: frozenset[int]
    going: Sequence[str]  # ids, where an archive holds any
    revive: bool
    counts: Counter[str]
    ids: list[str] = field(default_factory=list)
    hashed: list[str] = field(default_factory=list)
    freed: list[int] = field(default_factory=list)
    tokens: set[str] | None = None  # of the vault, that these records mention

    @property
    def moved(self) -> bool:
        """Whether the records go to the archive, where nothing of them is forgotten."""
        return self.action == ARCHIVED

    def record(self, seq: int, item: Draft) -> None:
        """Erase one record and what belongs to it."""
        if item.kind == "fact" and not self.moved:
            self.freed += [row[0] for row in self.tx.rows("waiting_on", (seq,)) if row[0] not in self.without]
        if self.action == "deleted" and item.kind in tombstones.READ:
            self._unread(seq, item)
        if item.kind == "turn" and item.session is not None and not self.moved:
            self.tx.run("unsay", (item.session, item.position))
        if item.kind == "summary":  # its facts are folded anew
            self.tx.run("touch_folded", {"record": seq, "revision": self.revision})
        if self.tokens is not None:
            self.tokens |= vault.mentioned(item)
        self.ids.append(str(item.id))
        self.counts["records"] += 1
        for name, statement in _BELONGINGS:
            self.counts[name] += max(self.tx.run(statement, (seq,)), 0)
        self.counts["vectors"] += self.tx.run("delete_vectors", (seq << 8, seq << 8 | 255))
        if not self.moved and (item.superseded_by is not None or item.supersedes is not None):
            self._unlink(str(item.id), revive=self.revive and item.status == "active")
        self.tx.run("delete_record", (seq,))
        if not self.moved:
            audit.scrub(self.tx, self.scope, self.key, str(item.id))
            self.hashed.append(tombstones.tombstone(self.key, item).hex())
            self._bury(bytes.fromhex(self.hashed[-1]))
        self._log(str(item.id), hidden=not self.moved)
        self.tx.run("add_erased", (self.scope, self.revision, seq))

    def _unread(self, seq: int, item: Draft) -> None:
        """Let the turns that stay not tell again what was read from them."""
        for link in self.tx.rows("links_of", {"seqs": f"[{seq}]"}):
            for turn in [] if link[1] in self.without else self.tx.rows("raw_record", {"seq": link[1]}):
                self._bury(tombstones.reading(self.key, turn[1], item.text))
                tombstones.unsay(self.tx, self.scope, self.key, turn, item, self.now)
        for turn in self._cold("cold_sources_of", str(item.id)) if self.going else []:
            self._bury(tombstones.reading(self.key, turn[0], item.text))

    def archived(self) -> None:
        """Erase what lies in archives."""
        held_cold = [row for id in self.going for row in self.tx.rows("cold_record", (self.scope, id))]
        for id in self.going:  # a summary stands for the archived turns too, and can't be made again without them
            held = {id, *(row[0] for row in self._cold("cold_sources_of", id))}
            for row in (row for record in held for row in self.tx.rows("cold_record", (self.scope, record))):
                self.tx.run("unsay_archived", (self.scope, row[0]))
        self.hashed += [row[1][: tombstones.HASH].hex() for row in held_cold]
        if self.tokens is not None:
            self.tokens |= {each for row in held_cold for each in (row[3] or "").split()}
        buried = cold.erase(self.tx, self.scope, self.going, self.now, self.revision) if self.going else []
        self.counts["archived records"] = len(buried)
        for id in (id for id in buried if id not in self.ids):
            self.ids.append(id)
            self.counts["records"] += 1
            self._unlink(id)
            audit.scrub(self.tx, self.scope, self.key, id)
            self._log(id)

    def settle(self) -> None:
        """What follows for the rest of the scope: secrets, facts that waited, the log for caches."""
        tx, scope = self.tx, self.scope
        if self.tokens:
            self.counts["vault"] = vault.release(tx, scope, self.tokens)
        for seq in self.freed:
            tx.run("wake", {"seq": seq, "now": self.now, "revision": self.revision})
        if tx.rows("count_erased", {"scope": scope})[0][0] > _LOG:
            tx.run("forget_erased", {"scope": scope})
            tx.run("raise_horizon", {"scope": scope, "revision": self.revision})

    def receipt(self) -> Receipt:
        """What was done."""
        return Receipt(
            count=self.counts["records"], ids=tuple(self.ids), at=instant(self.now),
            erased={name: count for name, count in self.counts.items() if count},
            tombstones=tuple(dict.fromkeys(self.hashed)),
        )  # fmt: skip

    def _cold(self, statement: str, id: str) -> list[tuple[Any, ...]]:
        return self.tx.rows(statement, {"scope": self.scope, "record": id})

    def _unlink(self, id: str, *, revive: bool = False) -> None:
        version = {"scope": self.scope, "id": id, "revision": self.revision}
        for statement in (*(("revive",) if revive else ()), "unlink_superseding", "unlink_superseded"):
            self.tx.run(statement, version)

    def _bury(self, hash: bytes) -> None:
        self.tx.run("add_tombstone", (self.scope, hash, self.now))

    def _log(self, id: str, *, hidden: bool = True) -> None:
        name = audit.erased_id(self.key, id) if hidden else id
        self.tx.run("add_audit", (self.scope, name, self.action, None, self.now))


def mark(tx: Transaction) -> None:
    """Note that the file holds bytes of what was erased, until it is rewritten: also if nobody lives to do it."""
    tx.rows("mark_erased", {"mark": os.urandom(8).hex()})


def erase_all(tx: Transaction, scope: int, now: int) -> Receipt:
    """Erase everything of a scope: its records by the cascade, then all that hangs on the scope."""
    mark(tx)
    graph = forgetting.of_scope(tx, scope, bump(tx, scope))
    away = [row[0][: tombstones.HASH].hex() for row in tx.rows("cold_hashes", {"scope": scope})]
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
    tombstones.move(tx, scope, tombstones.forgotten(tx, *tx.rows("scope_names", {"scope": scope})[0]))
    tx.run("clear_scope_audit", {"scope": scope})
    tx.run("clear_scope_erased", {"scope": scope})
    tx.run("drop_scope", {"scope": scope})
    return receipt


def unfold(tx: Transaction, scope: int, seq: int, now: int, text: str | None = None) -> None:
    """Take back the summary that holds a record, unless the record's text stays: it would go on saying what was."""
    found = [row[0] for row in tx.rows("linked_to", (seq, "folded"))]
    if found and (text is None or tx.rows("raw_record", {"seq": seq})[0][4] != text):
        erase(tx, scope, found, now, action="replaced")
