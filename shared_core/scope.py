"""`Scope`: the memory of one user with one agent. Records in, records out, nobody else's in reach."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from shared_core.deriving import learning
from shared_core.engine import Engine
from shared_core.errors import InvalidInput, InvalidType, LimitExceeded
from shared_core.long_term.room import make_room, move_out
from shared_core.recall.text import is_blank
from shared_core.steps import Call, Steps, both, threaded
from shared_core.store import audit, cascade, ledger, rows, scopes
from shared_core.store.rows import Draft, instant, micros
from shared_core.values import Change, Kind, Receipt, Record, Stats, aware
from shared_core.verbs.background import Job
from shared_core.verbs.changing import Changing
from shared_core.verbs.listing import Listing
from shared_core.verbs.recalling import Recalling
from shared_core.verbs.redacting import Redacting
from shared_core.verbs.transferring import Transferring
from shared_core.verbs.upkeep import Upkeep
from shared_core.writing.change import Incoming
from shared_core.writing.conflict import address
from shared_core.writing.intake import cut, digest, fraction, identifier, kind_of, storable
from shared_core.writing.redact import redacted

if TYPE_CHECKING:
    from shared_core.long_term.archive import Archive
    from shared_core.long_term.episodes import Episodes
    from shared_core.long_term.graph.graph import Graph
    from shared_core.long_term.procedures import Procedures
    from shared_core.long_term.profile import Profile
    from shared_core.session import Session

_NONE: frozenset[str] = frozenset()


class _Unset:
    def __repr__(self) -> str:
        return "unchanged"


Records = list[Record]  # the verb `list` hides the type inside the class
Changes = list[Change]
Names = list[str]
Sources = list[dict[str, str | None]]

UNSET: Any = _Unset()
"""Marks an argument of `update` that was not given."""


class Scope(Recalling, Listing, Changing, Upkeep, Transferring, Redacting):
    """All that is remembered of one user with one agent.

    Made by `AgentMemory.scope`. Every verb that reads or writes has an async twin with the
    prefix `a`.
    """

    def __repr__(self) -> str:
        return f"Scope(user={self.user!r}, agent={self.agent!r})"

    # ------------------------------------------------------------------ writing

    def _add(
        self,
        text: str | None,
        *,
        kind: str = "fact",
        type: str | None = None,
        triple: tuple[str, str, str] | None = None,
        entities: Iterable[str] = (),
        source: str = "user",
        importance: float | None = None,
        confidence: float = 1.0,
        metadata: Mapping[str, Any] | None = None,
        event_time: datetime | None = None,
        expires_in: timedelta | None = None,
        pinned: bool = False,
        id: str | None = None,
    ) -> Steps[Record]:
        """Remember a text; written, and safe from a crash, when it returns.

        `kind`: fact, summary, event, rule or item. `importance` (default 0.5) and `confidence` lie
        in [0, 1]. `event_time` is when it happened, `expires_in` a hard end. The same fact or rule
        told again without an `id` is one record whose `seen` rises; a known `id` replaces.

        Raises `InvalidInput` for a blank text, an unknown kind, a naive time or a number out of
        range, `InvalidType` for metadata that JSON can't hold; nothing is stored then.

        >>> from shared_core import AgentMemory
        >>> scope = AgentMemory.open(embedder="hashing").scope(user="alice")
        >>> scope.add("I like green tea").seen, scope.add("I like green tea").seen
        (1, 2)
        """
        engine = self._writing()
        now = engine.now()
        item = self._intake.record(
            text, now=now, kind=kind, type=type, triple=triple, entities=entities, source=source,
            importance=importance, confidence=confidence, metadata=metadata, event_time=event_time,
            expires_in=expires_in, pinned=pinned, id=id,
        )  # fmt: skip
        if engine.queue.takes():
            return self._queued([item], now, "add")[0]
        found = yield from self._store([item], now)
        return found[0]

    add, aadd = both(_add)

    def _add_many(self, items: Iterable[str | Mapping[str, Any]]) -> Steps[Records]:
        """Remember many texts in one transaction: all of them, or none.

        Each item is a text or a dict of `add`'s arguments. Blank texts are left out. Embeds in
        batches. Raises what `add` raises, naming nothing stored; `LimitExceeded` over `limits.batch`.
        """
        engine = self._writing()
        now = engine.now()
        if isinstance(items, str | Mapping):
            raise InvalidType("add_many takes a list of texts or dicts; for one text use add")
        drafts = []
        intake = self._intake
        for item in items:
            given = {"text": item} if isinstance(item, str) else item
            if not isinstance(given, Mapping):
                raise InvalidType(f"an item of add_many is a text or a dict, not {item.__class__.__name__}")
            text = given.get("text")
            if isinstance(text, str) and given.get("kind") != "item" and is_blank(text):
                continue
            try:
                drafts.append(intake.record(now=now, **{"text": None, **given}))
            except TypeError as error:
                if isinstance(error, InvalidType):
                    raise
                raise InvalidInput(f"an item of add_many has an argument that add does not take: {error}") from error
            if len(drafts) > engine.settings.limits.batch:
                raise LimitExceeded(f"more than limits.batch ({engine.settings.limits.batch}) items in one call")
        if drafts and engine.queue.takes():
            return self._queued(drafts, now, "add_many")
        return (yield from self._store(drafts, now)) if drafts else []

    add_many, aadd_many = both(_add_many)

    def _writing(self) -> Engine:
        """The engine for a write that may be queued: such a one waits for none before it."""
        return self._live(wait=not self._engine.queue.takes())

    def _queued(self, drafts: Sequence[Draft], now: int, verb: str) -> Records:
        """Have the background writer store drafts: dated now, written later (D8).

        Each record tells the id it gets if it is new; what was known already keeps its own.
        """
        for item in drafts:
            item.created_at = item.updated_at = now
            item.wish = ledger.new_id(now) if item.id is None else None
        told = [rows.draft_copy(item) for item in drafts]
        for item in told:
            item.id = item.id or item.wish
        self._engine.queue.put(Job((self.user, self.agent), None, verb, tuple(drafts), self._store, now))
        return [self._fresh(item.record(now, None)) for item in told]

    def _store(self, drafts: Sequence[Draft], now: int) -> Steps[Records]:
        engine = self._engine
        engine.ready()
        yield from engine.embed(drafts)
        denied = yield from self._denied(drafts)
        with engine.store.write() as tx:
            number = engine.claim_embedder(tx)
            scope = scopes.ensure_scope(tx, self.user, self.agent, now)
            incoming = [Incoming(item, denied=denied.get(place, _NONE)) for place, item in enumerate(drafts)]
            written = learning.writer(engine, tx, scope, now, number).write(incoming)
            events = any(item.kind == Kind.EVENT for item in drafts)
            left = make_room(tx, scope, engine.settings.episodes.most, now) if events else []
            # What replaced a record, or told it again, be it inside this batch, is more than its draft.
            old = self._records(tx, [*written.changed.union(left).intersection(written.seqs)])
        if left:
            move_out(self)
        return [
            old[seq] if seq in old else self._fresh(item.record(now, None))
            for seq, item in zip(written.seqs, drafts, strict=True)
        ]

    def _denied(self, drafts: Sequence[Draft]) -> Steps[dict[int, frozenset[str]]]:
        """By place, the facts that the NLI model of the settings says a new free text contradicts."""
        facts = self._engine.settings.facts
        contradicts = facts.contradicts
        found: dict[int, frozenset[str]] = {}
        if contradicts is None:
            return found
        for place, item in enumerate(drafts):
            if item.kind != "fact" or item.triple is not None:
                continue
            hits = yield from self._seek(item.text, k=facts.candidates, kinds=["fact"], hooked=False)
            against = set()
            for hit in hits:
                texts = (hit.record.text, item.text)
                if texts[0] != texts[1] and (yield Call(lambda pair: contradicts(*pair), texts)):
                    against.add(hit.record.id)
            if against:
                found[place] = frozenset(against)
        return found

    def _update(
        self,
        id: str,
        text: str = UNSET,
        *,
        kind: str = UNSET,
        type: str | None = UNSET,
        triple: tuple[str, str, str] | None = UNSET,
        entities: Iterable[str] = UNSET,
        source: str = UNSET,
        importance: float = UNSET,
        confidence: float = UNSET,
        metadata: Mapping[str, Any] | None = UNSET,
        event_time: datetime | None = UNSET,
        expires_in: timedelta | None = UNSET,
        pinned: bool = UNSET,
    ) -> Steps[Record]:
        """Change a record; what is not given stays, metadata merges (None as a value takes a key out).

        Id and creation time stay, `updated_at` moves, and nothing of an old text can be found.
        Raises `NotFound` for an unknown id, and what `add` raises for bad values.
        """
        engine = self._live()
        given = {
            name: value
            for name, value in (
                ("text", text), ("kind", kind), ("type", type), ("triple", triple), ("entities", entities),
                ("source", source), ("importance", importance), ("confidence", confidence), ("metadata", metadata),
                ("event_time", event_time), ("expires_in", expires_in), ("pinned", pinned),
            )
            if value is not UNSET
        }  # fmt: skip
        now = engine.now()
        with engine.store.look() as tx:
            _, item, _ = self._raw(tx, id)
        changed = self._changed(item, given, now)
        vector = None
        if "text" in given:  # even if it is the same: another writer may change it before our transaction
            engine.ready()
            yield from engine.embed([changed])
            vector = changed.vector
        with engine.store.write() as tx:
            seq, item, scope = self._raw(tx, id)
            changed = self._changed(item, given, now)
            changed.vector = vector
            number = engine.claim_embedder(tx) if "text" in given else None
            ledger.change(tx, scope, seq, changed, now, number)
            if changed.triple != item.triple or changed.text != item.text:
                learning.writer(engine, tx, scope, now, number).retell(seq, item, changed)
            before = {name: getattr(item, name) for name in given if name in ("text", "importance", "type", "pinned")}
            before = redacted(before, self._asking)
            audit.note(tx, scope, id, "updated", now, {"changed": sorted(given), "before": before})
            return self._records(tx, [seq])[seq]

    update, aupdate = both(_update)

    def _changed(self, item: Draft, given: Mapping[str, Any], now: int) -> Draft:
        intake = self._intake
        item = rows.draft_copy(item)
        turn = item.kind == "turn"
        if "kind" in given:
            item.kind = kind_of(given["kind"])
            if (item.kind == "turn") is not turn:
                raise InvalidInput("a turn stays a turn, and nothing else becomes one")
        if turn and "text" in given:
            raise InvalidInput("a turn's text is changed by sending its message again, with the same id")
        if "text" in given:
            item.text = intake.text(given["text"], blank=item.kind == "item")
        for name in ("type", "source"):
            if name in given:
                setattr(item, name, None if given[name] is None and name == "type" else intake.text(given[name]))
        if "triple" in given:
            item.triple = intake.triple(given["triple"])
        if "entities" in given:
            item.entities = intake.entities(given["entities"])
        for name in ("importance", "confidence"):
            if name in given:
                setattr(item, name, fraction(given[name], name))
        if "metadata" in given:
            merged = {**(rows.load(item.metadata) or {}), **(rows.load(intake.metadata(given["metadata"])) or {})}
            item.metadata = intake.metadata({key: value for key, value in merged.items() if value is not None})
        if "event_time" in given:
            when = given["event_time"]
            item.event_time = None if when is None else micros(aware(when, "event_time"))
        if "expires_in" in given:
            item.expires_at = intake.expiry(given["expires_in"], now)
        if "pinned" in given:
            item.pinned = bool(given["pinned"])
        if item.digest is not None:
            item.digest = digest(item.kind, item.text, item.event_time)
        if {"text", "triple", "kind"} & set(given):
            item.topic, item.thing = address(item.kind, item.text, item.triple, polarity=item.polarity)
        cut(item)
        item.secrets = intake.taken()
        return item

    # ------------------------------------------------------------------ reading

    def get(self, id: str) -> Record | None:
        """The record with this id, replaced ones included; None if unknown or expired."""
        engine = self._live()
        with engine.store.look() as tx:
            scope = self._find(tx)
            known = scope is not None and storable(id)
            found = tx.rows("get_record", {"scope": scope, "id": id}) if known else []
        if not found:
            return None
        record = self._counted(found[0])
        return None if record.expires_at is not None and micros(record.expires_at) <= engine.now() else record

    def history(self, id: str) -> Changes:
        """What happened to a record, oldest first; of an erased one only that it was, not what it said."""
        with self._live().store.look() as tx:
            scope = self._find(tx)
            known = scope is not None and storable(id)
            found = audit.of(tx, scope or 0, id) if known else []
            stored = tx.rows("get_record", {"scope": scope, "id": id}) if known else []
        changes = [Change(action=row[0], at=instant(row[1]), detail=rows.load(row[2]) or {}) for row in found]
        if stored and not any(change.action == "added" for change in changes):
            # What came in a batch has one audit row for all; the record itself knows when it came.
            changes.insert(0, Change(action="added", at=rows.record(stored[0]).created_at))
        return changes

    def sources(self, id: str) -> Sources:
        """Where a record came from: for each source its record, session and message id, and the extractor."""
        with self._live().store.look() as tx:
            seq, _, scope = self._raw(tx, id)
            found = tx.rows("sources_of", {"seq": seq}) + tx.rows("cold_sources_of", {"scope": scope, "record": id})
        return [{"record": row[0], "message_id": row[1], "session": row[2], "extractor": row[3]} for row in found]

    # ------------------------------------------------------------------ erasing

    def delete(self, id: str) -> Receipt:
        """Erase a record, in the archive too, and what came only from it; the receipt's count is 0 for an unknown id."""
        engine = self._live()
        now = engine.now()
        with engine.store.look() as tx:
            engine.graphs.warm(self._find(tx), now)
        with engine.store.write() as tx:
            scope = self._find(tx)
            found = tx.rows("seq_by_id", (scope, id)) if scope is not None and storable(id) else []
            ours = [id] if scope is not None and storable(id) else []
            lost = engine.graphs.lost
            receipt = cascade.erase(tx, scope or 0, [row[0] for row in found], now, lost=lost, archived=ours)
        return engine.erased(receipt, self.user, self.agent)

    def delete_all(self) -> Receipt:
        """Erase everything of this scope: records, sessions, graph, questions, archives."""
        engine = self._live()
        now = engine.now()
        with engine.store.write() as tx:
            scope = self._find(tx)
            receipt = Receipt(count=0, at=instant(now)) if scope is None else cascade.erase_all(tx, scope, now)
        return engine.erased(receipt, self.user, self.agent, whole=True)

    # ------------------------------------------------------------------ parts

    def session(self, id: str) -> Session:
        """The conversation with this id; made when its first message is written."""
        from shared_core.session import Session

        return Session(self, identifier(id, "session", self._live(wait=False).settings))

    @property
    def graph(self) -> Graph:
        """What is known of people and things, and how they hang together (B4 to B6)."""
        from shared_core.long_term.graph.graph import Graph

        return Graph(self)

    @property
    def episodes(self) -> Episodes:
        """What happened, and when: events, beside the sessions and turns themselves (B3)."""
        from shared_core.long_term.episodes import Episodes

        return Episodes(self)

    @property
    def procedures(self) -> Procedures:
        """What worked and what did not, mined from what happened or told (B7)."""
        from shared_core.long_term.procedures import Procedures

        return Procedures(self)

    @property
    def archive(self) -> Archive:
        """Sessions and old memories in cold storage (B8)."""
        from shared_core.long_term.archive import Archive

        return Archive(self)

    @property
    def profile(self) -> Profile:
        """What is known of the user as a person, in a few lines to be seen and edited (B9)."""
        from shared_core.long_term.profile import Profile

        return Profile(self)

    def sessions(self) -> Names:
        """The ids of the conversations, oldest first."""
        with self._live().store.look() as tx:
            scope = self._find(tx)
            return [] if scope is None else [row[0] for row in tx.rows("session_names", {"scope": scope})]

    def stats(self) -> Stats:
        """How much is kept: records by kind, sessions, messages and their tokens, long-term memories, interactions."""
        engine = self._live()
        with engine.store.read() as tx:
            scope = self._find(tx)
            kinds = {} if scope is None else dict(tx.rows("count_by_kind", {"scope": scope, "now": engine.now()}))
            texts = [] if scope is None else [row[0] for row in tx.rows("turn_texts", {"scope": scope})]
            names = [] if scope is None else tx.rows("session_names", {"scope": scope})
            asked = 0 if scope is None else tx.rows("count_asked", {"scope": scope})[0][0]
        return Stats(
            records=sum(kinds.values()),
            by_kind=kinds,
            sessions=len(names),
            messages=kinds.get("turn", 0),
            tokens=sum(engine.count(text) for text in texts),
            long_term=sum(n for kind, n in kinds.items() if kind != "turn"),
            interactions=asked,
        )

    aget = threaded(get)
    ahistory = threaded(history)
    asources = threaded(sources)
    adelete = threaded(delete)
    adelete_all = threaded(delete_all)
    asessions = threaded(sessions)
    astats = threaded(stats)
