"""`Scope`: the memory of one user with one agent. Records in, records out, nobody else's in reach."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from shared_core import learning
from shared_core.changing import Changing
from shared_core.engine import Engine
from shared_core.errors import InvalidInput, InvalidType, LimitExceeded, NotFound
from shared_core.ports import Transaction
from shared_core.recall import score
from shared_core.recall.allow import allowed
from shared_core.recall.explain import reason
from shared_core.recall.fold import folded, is_mixed
from shared_core.recall.question import Query, Question, question
from shared_core.recall.rank import Ranking, rank
from shared_core.recall.text import is_blank
from shared_core.recall.where import Where, matches, names, parse
from shared_core.steps import Call, Steps, both, threaded
from shared_core.store import ledger, rows
from shared_core.store.rows import Draft, instant, micros, moment
from shared_core.values import Change, Hit, Kind, Receipt, Record, Stats, Status, aware
from shared_core.writing.change import Incoming
from shared_core.writing.conflict import address
from shared_core.writing.intake import cut, digest, fraction, identifier, kind_of, storable

if TYPE_CHECKING:
    from shared_core.long_term.graph import Graph
    from shared_core.long_term.profile import Profile
    from shared_core.session import Session

_ORDERS = ("created_at", "updated_at", "event_time", "importance", "confidence", "seen", "id")
_NONE: frozenset[str] = frozenset()
_SPARE = 50  # candidates looked at beyond k where a threshold or a mix decides after the ranking


class _Unset:
    def __repr__(self) -> str:
        return "unchanged"


Records = list[Record]  # the verb `list` hides the type inside the class
Hits = list[Hit]
Changes = list[Change]
Names = list[str]
Sources = list[dict[str, str | None]]
Scored = list[tuple[int, Hit]]

UNSET: Any = _Unset()
"""Marks an argument of `update` that was not given."""


class Scope(Changing):
    """All that is remembered of one user with one agent.

    Made by `AgentMemory.scope`. Every verb that reads or writes has an async twin with the
    prefix `a`.
    """

    def __init__(self, engine: Engine, user: str, agent: str, live: Callable[[], Engine]) -> None:
        self._engine = engine
        self._live = live
        self.user = user
        self.agent = agent

    def __repr__(self) -> str:
        return f"Scope(user={self.user!r}, agent={self.agent!r})"

    def _find(self, tx: Transaction) -> int | None:
        return ledger.scope_id(tx, self.user, self.agent)

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
        engine = self._live()
        now = engine.now()
        item = engine.intake.record(
            text, now=now, kind=kind, type=type, triple=triple, entities=entities, source=source,
            importance=importance, confidence=confidence, metadata=metadata, event_time=event_time,
            expires_in=expires_in, pinned=pinned, id=id,
        )  # fmt: skip
        found = yield from self._store([item], now)
        return found[0]

    add, aadd = both(_add)

    def _add_many(self, items: Iterable[str | Mapping[str, Any]]) -> Steps[Records]:
        """Remember many texts in one transaction: all of them, or none.

        Each item is a text or a dict of `add`'s arguments. Blank texts are left out. Embeds in
        batches. Raises what `add` raises, naming nothing stored; `LimitExceeded` over `limits.batch`.
        """
        engine = self._live()
        now = engine.now()
        if isinstance(items, str | Mapping):
            raise InvalidType("add_many takes a list of texts or dicts; for one text use add")
        drafts = []
        for item in items:
            given = {"text": item} if isinstance(item, str) else item
            if not isinstance(given, Mapping):
                raise InvalidType(f"an item of add_many is a text or a dict, not {item.__class__.__name__}")
            text = given.get("text")
            if isinstance(text, str) and given.get("kind") != "item" and is_blank(text):
                continue
            try:
                drafts.append(engine.intake.record(now=now, **{"text": None, **given}))
            except TypeError as error:
                if isinstance(error, InvalidType):
                    raise
                raise InvalidInput(f"an item of add_many has an argument that add does not take: {error}") from error
            if len(drafts) > engine.settings.limits.batch:
                raise LimitExceeded(f"more than limits.batch ({engine.settings.limits.batch}) items in one call")
        return (yield from self._store(drafts, now)) if drafts else []

    add_many, aadd_many = both(_add_many)

    def _store(self, drafts: Sequence[Draft], now: int) -> Steps[Records]:
        engine = self._engine
        engine.ready()
        yield from engine.embed(drafts)
        denied = yield from self._denied(drafts)
        with engine.store.write() as tx:
            number = engine.claim_embedder(tx)
            scope = ledger.ensure_scope(tx, self.user, self.agent, now)
            incoming = [Incoming(item, denied=denied.get(place, _NONE)) for place, item in enumerate(drafts)]
            written = learning.writer(engine, tx, scope, now, number).write(incoming)
            # What replaced a record, or told it again, be it inside this batch, is more than its draft.
            old = self._records(tx, [*written.changed.intersection(written.seqs)])
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
            hits = yield from self._search(item.text, k=facts.candidates, kinds=["fact"])
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
            ledger.audit(tx, scope, id, "updated", now, {"changed": sorted(given), "before": before})
            return self._records(tx, [seq])[seq]

    update, aupdate = both(_update)

    def _raw(self, tx: Transaction, id: str) -> tuple[int, Draft, int]:
        scope = self._find(tx)
        found = [] if scope is None else tx.rows("seq_by_id", (scope, identifier(id, "id", self._engine.settings)))
        row = tx.rows("raw_record", {"seq": found[0][0]}) if found else []  # gone, if it is deleted meanwhile
        if scope is None or not row:
            raise NotFound(f"no record {id!r} in the scope of user {self.user!r}")
        return found[0][0], rows.draft(row[0]), scope

    def _changed(self, item: Draft, given: Mapping[str, Any], now: int) -> Draft:
        intake = self._engine.intake
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

    def list(
        self,
        *,
        kinds: Collection[str] | None = None,
        where: Mapping[str, Any] | None = None,
        order: str = "created_at",
        limit: int | None = None,
        after: str | None = None,
    ) -> Records:
        """What is remembered now: all of it, or a page of `limit` records that follow the id `after`.

        `order` is created_at, updated_at, event_time, importance, confidence, seen or id, with a
        leading "-" for the reverse; equals keep the order in which they were stored, and what has no
        such value comes last. What was replaced is left out, unless `where` names `status`, and so
        is what has expired.

        >>> from shared_core import AgentMemory
        >>> scope = AgentMemory.open(embedder="hashing").scope(user="alice")
        >>> _ = scope.add_many(["tea", "coffee", "milk"])
        >>> [r.text for r in scope.list(limit=2)]
        ['tea', 'coffee']
        """
        name, reverse = order.removeprefix("-"), order.startswith("-")
        if name not in _ORDERS:
            raise InvalidInput(f"unknown order {order!r}; known: {', '.join(_ORDERS)}, with '-' for the reverse")
        if limit is not None and limit < 0:
            raise InvalidInput("limit is negative")
        found = self._selected(kinds, where)
        found.sort(key=lambda r: _sortable(getattr(r, name), last=not reverse), reverse=reverse)
        if after is not None:
            ids = [r.id for r in found]
            if after not in ids:
                raise NotFound(f"no record {after!r} in this list to go on after")
            found = found[ids.index(after) + 1 :]
        return found if limit is None else found[:limit]

    def count(self, *, kinds: Collection[str] | None = None, where: Mapping[str, Any] | None = None) -> int:
        """How many records `list` would give."""
        return len(self._selected(kinds, where))

    def _selected(self, kinds: Collection[str] | None, where: Mapping[str, Any] | None) -> Records:
        engine = self._live()
        wanted = _kinds(kinds)
        tree = parse(where)
        any_status = names(tree, "status")
        now = engine.now()
        found = []
        with engine.store.read() as tx:
            scope = self._find(tx)
            if scope is None:
                return []
            for row in tx.each("scope_records", {"scope": scope}):
                record = self._counted(row)
                if wanted is not None and record.kind not in wanted:
                    continue
                if not any_status and record.status is not Status.ACTIVE:
                    continue
                if record.expires_at is not None and micros(record.expires_at) <= now:
                    continue
                if matches(tree, record):
                    found.append(record)
        return found

    def _counted(self, row: tuple[Any, ...]) -> Record:
        """A record with the accesses that are counted but not yet written."""
        record = self._fresh(rows.record(row))
        waiting = self._engine.accesses(row[0])
        if waiting is None:
            return record
        update = {"accesses": record.accesses + waiting[0], "accessed_at": moment(waiting[1])}
        return record.model_copy(update=update)

    def _records(self, tx: Transaction, seqs: Sequence[int]) -> dict[int, Record]:
        if not seqs:
            return {}
        return {row[0]: self._counted(row) for row in tx.rows("records_by_seq", {"seqs": str(list(seqs))})}

    def history(self, id: str) -> Changes:
        """What happened to a record, oldest first; of an erased one only that it was, not what it said."""
        with self._live().store.look() as tx:
            scope = self._find(tx)
            known = scope is not None and storable(id)
            found = tx.rows("audit_of", {"scope": scope, "id": id}) if known else []
            stored = tx.rows("get_record", {"scope": scope, "id": id}) if known else []
        changes = [Change(action=row[0], at=instant(row[1]), detail=rows.load(row[2]) or {}) for row in found]
        if stored and not any(change.action == "added" for change in changes):
            # What came in a batch has one audit row for all; the record itself knows when it came.
            changes.insert(0, Change(action="added", at=rows.record(stored[0]).created_at))
        return changes

    def sources(self, id: str) -> Sources:
        """Where a record came from: for each source its record, session and message id, and the extractor."""
        with self._live().store.look() as tx:
            seq, _, _ = self._raw(tx, id)
            found = tx.rows("sources_of", {"seq": seq})
        return [{"record": row[0], "message_id": row[1], "session": row[2], "extractor": row[3]} for row in found]

    # ------------------------------------------------------------------ recall

    def _search(
        self,
        query: Query,
        *,
        k: int = 5,
        kinds: Collection[str] | None = None,
        where: Mapping[str, Any] | None = None,
        min_score: float = 0.0,
        as_of: datetime | None = None,
        session: str | None = None,
        exclude: Iterable[str] = (),
        explain: bool = False,
    ) -> Steps[Hits]:
        """The `k` records that answer a question best.

        `query` is a text, or a list of messages: then the newest user message leads and the earlier
        ones give context. `kinds` and `where` filter before the cut; `session` keeps to one
        conversation; `exclude` leaves out record ids; `as_of` searches what was true at that time.
        The score of a hit is the record's own likeness to the question, in [0, 1]: max(0, cosine)
        of its best piece, raised by matched words, 1.0 for identical text; `min_score` cuts by it.
        The order comes from words, meaning and the talk around each turn together. A blank query
        gives []. With `explain` each hit says what it is made of and where it comes from.

        Raises `InvalidInput` for an unknown operator or kind, a negative k or a naive `as_of`,
        `EmbedderMismatch` if the database was embedded with another model.

        >>> from shared_core import AgentMemory
        >>> scope = AgentMemory.open(embedder="hashing").scope(user="alice")
        >>> _ = scope.add_many(["Green tea keeps me awake", "My bike is red", "乌龙茶很好喝"])
        >>> [hit.record.text for hit in scope.search("乌龙茶", k=1)]
        ['乌龙茶很好喝']
        """
        engine = self._live()
        settings = engine.settings
        if not isinstance(k, int) or isinstance(k, bool) or k < 0:
            raise InvalidInput(f"k is a whole number from 0, not {k!r}")
        if k > settings.limits.k:
            raise LimitExceeded(f"k is {k}; limits.k is {settings.limits.k}")
        wanted = _kinds(kinds)
        tree = parse(where)
        at = None if as_of is None else micros(aware(as_of, "as_of"))
        fraction(min_score, "min_score")
        if session is not None:
            identifier(session, "session", settings)
        left_out = [exclude] if isinstance(exclude, str) else list(exclude)
        engine.ready()
        names = self._speakers()
        asked = question(query, settings, instant(engine.now()), names or ())
        if asked is None or k == 0 or names is None:
            return []
        vectors = []
        for view in asked.views:
            vectors.append((yield from engine.model.query(view.text)))
        asked.embedded(vectors)
        return self._recall(asked, k, wanted, tree, min_score, at, session, left_out, explain)

    search, asearch = both(_search)

    def _speakers(self) -> Names | None:
        """The names of those who speak in this scope; None where there is nothing to search."""
        with self._engine.store.look() as tx:
            scope = self._find(tx)
        if scope is None:
            return None
        with self._engine.recalling(scope) as (_, index):
            return index.names

    def _recall(
        self, asked: Question, k: int, kinds: frozenset[Kind] | None, where: Where | None, min_score: float,
        as_of: int | None, session: str | None, exclude: Sequence[str], explain: bool,
    ) -> Hits:  # fmt: skip
        """Rank, fetch and score, on one state of the rows."""
        engine = self._engine
        now = engine.now()
        mix = engine.settings.recall.mix
        by_mix = bool(mix.recency or mix.importance or mix.frequency)
        facts = engine.settings.facts
        ages = bool(facts.time_to_live) and facts.past_it == "flag"
        with engine.store.look() as tx:
            scope = self._find(tx)
        if scope is None:
            return []
        with engine.recalling(scope, where) as (tx, index):
            number = None
            if session is not None:
                found = tx.rows("find_session", {"scope": scope, "name": session})
                if not found:
                    return []
                number = found[0][0]
            seqs = [row[0] for id in exclude if storable(id) for row in tx.rows("seq_by_id", (scope, id))]
            if seqs:  # nor is what was read from them an answer
                seqs += [row[0] for row in tx.rows("derived_only_from", {"seqs": str(seqs)})]
            mask = allowed(index, now=now, kinds=kinds, where=where, session=number, exclude=seqs, as_of=as_of)
            count = max(4 * k, _SPARE) if min_score or by_mix or ages else k
            mixed = as_of is None and is_mixed(index, kinds)  # of the past, facts know more than turns
            ranking = rank(index, asked, mask, max(2 * count, _SPARE) if mixed else count)
            ranking = folded(tx, index, ranking, count) if mixed else ranking
            ordered = [int(seq) for seq in index["seq"][ranking.slots]]
            records = self._records(tx, ordered)
        hits = self._scored(asked, ranking, ordered, records, explain)
        if by_mix:
            at = rows.instant(now)
            hits.sort(key=lambda pair: (-score.mixed(pair[1].score, pair[1].record, mix, at)[0], pair[1].record.id))
        if ages:
            hits.sort(key=lambda pair: pair[1].record.stale)
        hits = [(seq, hit) for seq, hit in hits if hit.score >= min_score][:k]
        engine.accessed([seq for seq, _ in hits], now)
        return score.shown([hit for _, hit in hits])

    def _scored(
        self, asked: Question, ranking: Ranking, seqs: Sequence[int], records: Mapping[int, Record], explain: bool
    ) -> Scored:
        bonus = self._engine.settings.recall.word_bonus
        now = rows.instant(self._engine.now()) if explain else None
        found: Scored = []
        for place, seq in enumerate(seqs):
            record = records.get(seq)
            if record is None:
                continue
            matched = score.coverage(asked.asked, record.text)
            cosine = float(ranking.cosines[place])
            same = score.same_text(asked.text, record.text)
            value = score.own_score(cosine, matched, identical=same, word_bonus=bonus)
            if now is None:
                found.append((seq, Hit(record=record, score=value, parts={}, reason="")))
                continue
            parts = {"score": value, "cosine": cosine, "matched": matched}
            parts |= score.mixed(value, record, self._engine.settings.recall.mix, now)[1]
            parts |= {f"rank.{name}": float(values[place]) for name, values in ranking.parts.items()}
            why = reason(record, asked.asked, parts)
            found.append((seq, Hit(record=record, score=value, parts=parts, reason=why)))
        return found

    # ------------------------------------------------------------------ erasing

    def delete(self, id: str) -> Receipt:
        """Erase a record and what came only from it; the receipt's count is 0 for an unknown id."""
        engine = self._live()
        now = engine.now()
        with engine.store.look() as tx:
            engine.graphs.warm(self._find(tx), now)
        with engine.store.write() as tx:
            scope = self._find(tx)
            found = tx.rows("seq_by_id", (scope, id)) if scope is not None and storable(id) else []
            receipt = ledger.erase(tx, scope or 0, [row[0] for row in found], now, lost=engine.graphs.lost)
        engine.model.forget()
        return receipt

    def delete_all(self) -> Receipt:
        """Erase everything of this scope: records, sessions, graph, questions, archives."""
        engine = self._live()
        now = engine.now()
        with engine.store.write() as tx:
            scope = self._find(tx)
            receipt = Receipt(count=0, at=instant(now)) if scope is None else ledger.erase_all(tx, scope, now)
        engine.model.forget()
        return receipt

    # ------------------------------------------------------------------ parts

    def session(self, id: str) -> Session:
        """The conversation with this id; made when its first message is written."""
        from shared_core.session import Session

        return Session(self, identifier(id, "session", self._live().settings))

    @property
    def graph(self) -> Graph:
        """What is known of people and things, and how they hang together (B4 to B6)."""
        from shared_core.long_term.graph import Graph

        return Graph(self)

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
        """How much is kept: records by kind, sessions, messages and their tokens, long-term memories."""
        engine = self._live()
        with engine.store.read() as tx:
            scope = self._find(tx)
            kinds = {} if scope is None else dict(tx.rows("count_by_kind", {"scope": scope, "now": engine.now()}))
            texts = [] if scope is None else [row[0] for row in tx.rows("turn_texts", {"scope": scope})]
            names = [] if scope is None else tx.rows("session_names", {"scope": scope})
        return Stats(
            records=sum(kinds.values()),
            by_kind=kinds,
            sessions=len(names),
            messages=kinds.get("turn", 0),
            tokens=sum(engine.count(text) for text in texts),
            long_term=sum(n for kind, n in kinds.items() if kind != "turn"),
        )

    aget = threaded(get)
    alist = threaded(list)
    acount = threaded(count)
    ahistory = threaded(history)
    asources = threaded(sources)
    adelete = threaded(delete)
    adelete_all = threaded(delete_all)
    asessions = threaded(sessions)
    astats = threaded(stats)


def _kinds(kinds: Collection[str] | None) -> frozenset[Kind] | None:
    if kinds is None:
        return None
    if isinstance(kinds, str):
        kinds = [kinds]
    return frozenset(Kind(kind_of(kind)) for kind in kinds)


def _sortable(value: Any, last: bool) -> tuple[bool, Any]:
    return ((value is None) is last, 0 if value is None else value)
