"""Lines into rows, inside one transaction: what is known already stays, so that taking twice adds nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from shared_core.long_term.graph import entities, relations
from shared_core.long_term.graph.names import predicate_key
from shared_core.moving.parsing import Moved
from shared_core.ports import Transaction
from shared_core.store import cold, ledger, scopes, tombstones
from shared_core.store.rows import draft, dump

DELETED, KNOWN, NEW = "deleted", "known", "new"


class Taker:
    """Takes lines into one scope, in the order of the file: sessions, records, what hangs on them, the graph.

    `erased` tells whether a record's content was erased here, and so is to stay out. Later lines name
    records by id; a fact that is known under another id is that one.
    """

    def __init__(
        self, tx: Transaction, scope: int, now: int, embedder: int | None, *, erased: Callable[[bytes], bool],
        back: bool = False,
    ) -> None:  # fmt: skip
        """`back`: records return from the archive to where they were, ahead of what was said since."""
        self._tx, self._scope, self._now, self._embedder = tx, scope, now, embedder
        self._erased, self._back = erased, back
        self._key = tombstones.secret(tx)
        self.same: dict[str, str] = {}  # a fact that is here under another id
        self._sessions: dict[str, int] = {}
        self._entities: dict[str, int] = {}
        self._shifted: dict[str, int] = {}  # how far the live turns of a session were moved back
        self._revision: int | None = None
        self.versions: list[str] = []  # new records that name another version of themselves
        self.became: Counter[str] = Counter()
        self.lines: Counter[str] = Counter()

    # ------------------------------------------------------------------ sessions

    def session(self, value: Mapping[str, Any]) -> None:
        """A session: made if it is not there; what one that is there has not, it gets. After its records, if they come back."""
        tx, name = self._tx, value["id"]
        known = tx.rows("find_session", {"scope": self._scope, "name": name})
        if not known:
            tx.run("add_session", {"scope": self._scope, "name": name, "now": value["created_at"]})
            known = tx.rows("find_session", {"scope": self._scope, "name": name})
            if value["ended_at"] is not None:
                tx.run("end_session", {"session": known[0][0], "now": value["ended_at"]})
            self.lines["session"] += 1
        number = self._sessions[name] = int(known[0][0])
        now = dict(zip(_SESSION, tx.rows("moved_session", {"session": number})[0], strict=True))
        tx.run("write_session", {"session": number, **_united(now, value, self._shifted.get(name, 0))})

    def _session(self, name: str) -> int:
        if name not in self._sessions:
            found = self._tx.rows("find_session", {"scope": self._scope, "name": name})
            if not found:
                self._tx.run("add_session", {"scope": self._scope, "name": name, "now": self._now})
                found = self._tx.rows("find_session", {"scope": self._scope, "name": name})
            self._sessions[name] = int(found[0][0])
        return self._sessions[name]

    # ------------------------------------------------------------------ records

    def records(self, batch: Sequence[Moved]) -> None:
        """Records, together; what is known by its id, or as a fact by its text, stays as it is."""
        fresh: list[Moved] = []
        coming: dict[str, Moved] = {}
        for moved in batch:
            id = str(moved.item.id)
            if id in coming:
                self.became[KNOWN] += 1
                continue
            known = self._known(moved)
            if known is not None or self._stays_out(moved):
                self.became[DELETED if known is None else KNOWN] += 1
                if known is not None and known != id:
                    self.same[id] = known
                continue
            coming[id] = moved
            fresh.append(moved)
        self._make_room(fresh)
        for moved in fresh:
            self._place(moved)
        seqs = ledger.take(self._tx, self._scope, [moved.item for moved in fresh], self._now, self._embedder)
        for seq, moved in zip(seqs, fresh, strict=True):
            self._beside(seq, moved)
            if moved.item.supersedes is not None or moved.item.superseded_by is not None:
                self.versions.append(str(moved.item.id))
        self.became[NEW] += len(fresh)

    def _known(self, moved: Moved) -> str | None:
        """The id under which a record is here; a fact may be known under another one."""
        item = moved.item
        if self._tx.rows("seq_by_id", (self._scope, item.id)):
            return item.id
        if item.digest is None:
            return None
        for id, kind, text, event_time in self._tx.rows("digests_like", (self._scope, item.digest)):
            same = (kind, event_time) == (item.kind, item.event_time)
            if same and ledger.same_text(text) == ledger.same_text(item.text):
                return str(id)
        return None

    def _stays_out(self, moved: Moved) -> bool:
        return self._erased(tombstones.tombstone(self._key, moved.item))

    def _make_room(self, fresh: Sequence[Moved]) -> None:
        """What was said in a session since its archive moves behind what comes back."""
        if not self._back:
            return
        last: dict[str, int] = {}
        for moved in fresh:
            if moved.session is not None and moved.item.position is not None:
                last[moved.session] = max(last.get(moved.session, 0), moved.item.position)
        for name, by in last.items():
            session = self._session(name)
            if self._tx.rows("last_position", {"session": session})[0][0]:
                revision = scopes.bump(self._tx, self._scope)
                self._tx.run("make_room", {"session": session, "by": by, "revision": revision})
                self._shifted[name] = by

    def _place(self, moved: Moved) -> None:
        item = moved.item
        if moved.session is None:
            return
        item.session = self._session(moved.session)
        taken = item.kind == "turn" and not self._back
        if taken and self._tx.rows("position_taken", (item.session, item.position)):
            item.position = self._tx.rows("last_position", {"session": item.session})[0][0] + 1

    def _beside(self, seq: int, moved: Moved) -> None:
        if moved.accesses:
            self._tx.run("put_access", (seq, moved.accesses, moved.accessed_at or self._now))
        for outcome in moved.outcomes:
            self._tx.run("add_outcome", (seq, *outcome))
        for work, detail, attempts, at in moved.pending:
            row = (self._scope, moved.item.session, seq, work, detail, attempts, at)
            self._tx.run("add_moved_pending", row)
        for action, detail, at in moved.audit:
            self._tx.run("add_audit", (self._scope, moved.item.id, action, detail, at))
        if moved.item.kind != "item":
            return
        for name, size, pieces in moved.vectors:  # those of a store's own embedder; nobody here could make them anew
            number = ledger.ensure_embedder(self._tx, name, size)
            if number != self._embedder:
                self._tx.run("set_meta", {"key": f"items embedder {number}", "value": name})
                self._tx.run("insert_vector", (seq << 8 | number, pieces))

    def _seq(self, id: str) -> int | None:
        rows = self._tx.rows("seq_by_id", (self._scope, self.same.get(id, id)))
        return int(rows[0][0]) if rows else None

    # ------------------------------------------------------------------ what hangs on records

    def other(self, kind: str, value: Mapping[str, Any]) -> None:
        """Any line but a session or a record; one about a record that is not here is passed over."""
        if getattr(self, f"_{kind}")(value):
            self.lines[kind] += 1

    def _link(self, value: Mapping[str, Any]) -> bool:
        record, source = self._seq(value["record"]), self._seq(value["source"])
        if record is None or source is None:
            colds = [cold.lies(self._tx, self._scope, value[end]) for end in ("record", "source")]
            if all(seq is not None or lies for seq, lies in zip((record, source), colds, strict=True)):
                link = (self._scope, value["record"], value["source"], value["extractor"], value["created_at"])
                return self._tx.run("add_cold_link", link) > 0
            return False
        return self._tx.run("add_link", (record, source, value["extractor"], value["created_at"])) > 0

    def _trace(self, value: Mapping[str, Any]) -> bool:
        reply, record = self._seq(value["reply"]), self._seq(value["record"])
        if reply is None or record is None:
            return False
        return self._tx.run("add_trace", (reply, record, value["rank"], value["score"], value.get("section", ""))) > 0

    def _question(self, value: Mapping[str, Any]) -> bool:
        new, old = self._seq(value["new"]), self._seq(value["old"])
        if new is None or old is None or self._tx.rows("question_between", (new, old)):
            return False
        taken = self._tx.rows("question_scope", (value["id"],))
        id = ledger.new_id(self._now) if taken else value["id"]  # an id of a question is one of the database's
        row = (id, self._scope, value["text"], dump(value["choices"]), value.get("detail") or "{}", new, old,
               value["created_at"], value.get("answered_at"))  # fmt: skip
        return self._tx.run("add_moved_question", row) > 0

    # ------------------------------------------------------------------ the graph

    def _entity(self, value: Mapping[str, Any]) -> bool:
        known = self._tx.rows("entity_of_key", (self._scope, value["key"]))
        self._node(value["key"], value["name"], value["created_at"])
        return not known

    def _node(self, key: str, name: str, at: int | None = None) -> int:
        """The entity of a key, made if it is not there; a name that the redactor changed has another key."""
        if key not in self._entities:
            found = self._tx.rows("entity_of_key", (self._scope, key))
            made = found or self._tx.rows("add_entity", (self._scope, key, name, at or self._now))
            self._entities[key] = int(made[0][0])
        return self._entities[key]

    def _teller(self, value: Mapping[str, Any]) -> int | None:
        """The record that told a part of the graph; None if it is not here."""
        return relations.DIRECT if value.get("record") is None else self._seq(value["record"])

    def _shape(self) -> int:
        """The revision of this write; graphs in memory are built anew."""
        if self._revision is None:
            self._revision = scopes.bump(self._tx, self._scope)
            relations.reshape(self._tx, self._scope, self._revision)
        return self._revision

    def _relation(self, value: Mapping[str, Any]) -> bool:
        teller = self._teller(value)
        if teller is None:
            return False
        subject = self._node(value["subject"], value.get("subject_shown", value["subject_name"]))
        object_ = self._node(value["object"], value.get("object_shown", value["object_name"]))
        place = (subject, predicate_key(value["verb"]), object_, teller, value["subject_name"], value["object_name"])
        if self._tx.rows("find_relation", place):
            return False
        if value.get("kept"):  # while its record was away, it stood as told directly
            direct = self._tx.rows("find_relation", (*place[:3], relations.DIRECT, *place[4:]))
            if direct:
                self._tx.run("delete_relation", (direct[0][0],))
        row = (
            self._scope, *place[:4], value["subject_name"], value["verb"], value["object_name"], value["confidence"],
            value.get("attributes"), self._shape(), value["created_at"],
        )  # fmt: skip
        self._tx.rows("add_relation", row)
        return True

    def _alias(self, value: Mapping[str, Any]) -> bool:
        tx, teller = self._tx, self._teller(value)
        if teller is None:
            return False
        entity = self._node(value["entity"], value.get("name", value["entity"]))
        target = self._node(value["target"], value.get("other", value["target"]))
        now = [row[0] for row in tx.rows("target_of", (entity,))]
        if now != [target] and (now or entity == target or entity in entities.group(tx, target)):
            return False  # the name means something here already
        if value.get("kept"):
            tx.run("delete_alias", (entity, target, relations.DIRECT))
        self._shape()
        return tx.run("add_alias", (entity, target, teller, self._scope, value["created_at"])) > 0

    def _trait(self, value: Mapping[str, Any]) -> bool:
        teller = self._teller(value)
        if teller is None:
            return False
        entity = self._node(value["entity"], value["name"])
        if self._tx.rows("find_trait", (entity, teller)):
            return False
        if value.get("kept"):
            self._tx.run("delete_trait", (entity, relations.DIRECT))
        self._shape()
        row = (
            entity,
            teller,
            self._scope,
            value["name"],
            value.get("type"),
            value.get("attributes"),
            value["created_at"],
        )
        return self._tx.run("put_trait", row) > 0

    def _apart(self, value: Mapping[str, Any]) -> bool:
        ends = [self._entities.get(value[end]) for end in ("one", "other")]
        if None in ends:
            return False
        self._shape()
        return self._tx.run("add_apart", (self._scope, *sorted(end for end in ends if end is not None))) > 0

    def _rule(self, value: Mapping[str, Any]) -> bool:
        self._shape()
        row = (self._scope, value["name"], value["body"], value["confidence"], value["created_at"])
        return self._tx.run("add_moved_rule", row) > 0


def cut_loose(tx: Transaction, scope: int, ids: Iterable[str]) -> None:
    """Let records no longer name versions of themselves that did not come along."""
    for id in ids:
        for (seq,) in tx.rows("seq_by_id", (scope, id)):
            item = draft(tx.rows("raw_record", {"seq": seq})[0])
            named = {"supersedes": item.supersedes, "superseded_by": item.superseded_by}
            kept = {
                key: other if other is not None and _is_here(tx, scope, other) else None for key, other in named.items()
            }
            if kept != named:
                tx.run("set_versions", {"seq": seq, "revision": scopes.bump(tx, scope), **kept})


Versions = tuple[str | None, str | None]
"""The ids of what a record supersedes, and of what superseded it."""


def tie(tx: Transaction, scope: int, versions: Mapping[str, Versions]) -> None:
    """Link records to their other versions, as the file has it, where both are here and not linked otherwise."""
    for id, (before, after) in versions.items():
        for (seq,) in tx.rows("seq_by_id", (scope, id)):
            item = draft(tx.rows("raw_record", {"seq": seq})[0])
            named = {"supersedes": item.supersedes, "superseded_by": item.superseded_by}
            tied = dict(named)
            if before is not None and item.supersedes is None and _is_here(tx, scope, before):
                tied["supersedes"] = before
            if (
                after is not None
                and item.superseded_by is None
                and item.status == "superseded"
                and _is_here(tx, scope, after)
            ):
                tied["superseded_by"] = after
            if tied != named:
                tx.run("set_versions", {"seq": seq, "revision": scopes.bump(tx, scope), **tied})


def _is_here(tx: Transaction, scope: int, id: str) -> bool:
    return bool(tx.rows("seq_by_id", (scope, id))) or cold.lies(tx, scope, id)


_SESSION = ("id", "created_at", "ended_at", "summary", "summarised", "snapshot", "state", "consolidated")


def _united(live: Mapping[str, Any], moved: Mapping[str, Any], by: int) -> dict[str, Any]:
    """The row of a session out of what it is here and what comes in, whose turns stand `by` positions before the live ones."""
    found = {key: live[key] if live[key] is not None else moved[key] for key in ("snapshot", "state")}
    found["created_at"] = min(live["created_at"], moved["created_at"])
    found["consolidated"] = live["consolidated"] + by if live["consolidated"] else moved["consolidated"]
    found["summary"], found["summarised"] = live["summary"], live["summarised"]
    if live["summary"] is None:
        found["summary"], found["summarised"] = moved["summary"], moved["summarised"]
    elif by and moved["summary"] is None:
        found["summary"], found["summarised"] = None, 0  # it would hide the turns that come back; it is made anew
    elif by:
        found["summary"] = f"{moved['summary']}\n{live['summary']}"
        found["summarised"] = live["summarised"] + by
    return found
