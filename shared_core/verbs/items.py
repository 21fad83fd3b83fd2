"""Values under a path and a key, in the scopes of their owners (kind `item`): what a LangGraph store keeps.

The id of an item spells its address, `item/memories/alice/tea`: all items below a path are one range
of the index on ids, so that nothing else of a scope is read for them. The value is the record's
metadata, the path its type: `where` filters by both. The text is what the owner's own search finds.

A store may bring an embedder of its own. Its vectors lie beside those of the memory, keyed by embedder,
one or more for each text of an item, and an item is as near to a question as its nearest one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice
from typing import Any, NamedTuple

from shared_core.embedding.model import Model
from shared_core.engine import Engine
from shared_core.errors import InvalidInput
from shared_core.memory import AgentMemory
from shared_core.ports import Transaction
from shared_core.recall.allow import allowed
from shared_core.recall.nearest import nearest
from shared_core.recall.text import has_words
from shared_core.recall.where import Where, matches, parse
from shared_core.scope import Scope
from shared_core.steps import Steps
from shared_core.store import cascade, ledger, rows, scopes
from shared_core.store.rows import Draft
from shared_core.values import Kind, Record
from shared_core.verbs import erasing
from shared_core.writing.intake import storable

Path = tuple[str, ...]

_ROOT = "item/"
_AFTER = "0"  # the character after "/"


@dataclass(frozen=True, slots=True)
class Put:
    """An item to write over whatever has its address; without a value, to take away.

    `texts` are what it is found by; `visible` puts them before the owner's own search as well.
    """

    user: str
    path: Path
    key: str
    value: Mapping[str, Any] | None
    texts: Sequence[str] = ()
    expires_in: timedelta | None = None
    visible: bool = True


class Found(NamedTuple):
    """An item that was found; the score is None where nothing was asked."""

    user: str
    path: Path
    key: str
    record: Record
    score: float | None


class Items:
    """The items of all users with one agent, under one embedder."""

    def __init__(self, memory: AgentMemory, *, agent: str = "default", embedder: Any = None) -> None:
        """`embedder`: None for the memory's own; else what the texts of items are embedded with."""
        engine = memory._live()
        self._memory = memory
        self._agent = agent
        model = engine.model if embedder is None else Model(embedder, engine.settings)
        # One embedder handed in twice is one: its vectors have one name in the database.
        sizes = {model.dimensions, engine.model.dimensions} - {None}
        self._model = engine.model if model.name == engine.model.name and len(sizes) < 2 else model

    # ------------------------------------------------------------------ writing

    def writing(self, puts: Sequence[Put]) -> Steps[None]:
        """Write items in one transaction, all of them or none; of two with one address the last counts.

        An item keeps its creation time when it is written again. Raises what `Scope.add` raises.
        """
        engine = self._memory._live()
        now = engine.now()
        last = {(put.user, put.path, put.key): self._redacted(put) for put in puts}
        scopes = {put.user: self._scope(put.user) for put in last.values()}
        drafts = {address: self._draft(engine, put, now) for address, put in last.items() if put.value is not None}
        own = yield from self._embed(engine, [(last[address], item) for address, item in drafts.items()])
        with engine.store.write() as tx:
            shared = engine.claim_embedder(tx) if any(item.vector for item in drafts.values()) else None
            for user in scopes:
                fresh = [item for address, item in drafts.items() if address[0] == user]
                gone = [_id(put.path, put.key) for put in last.values() if put.user == user and put.value is None]
                self._write_scope(tx, user, fresh, gone, shared, own, now)
        if any(put.value is None for put in last.values()):
            erasing.swept(engine, sum(put.value is None for put in last.values()))

    def _redacted(self, put: Put) -> Put:
        """An item whose texts may be embedded one by one."""
        redactor = self._scope(put.user)._asking
        return put if redactor is None else replace(put, texts=[redactor(text) for text in put.texts])

    def _draft(self, engine: Engine, put: Put, now: int) -> Draft:
        text = "\n".join(filter(None, put.texts)) if put.visible or self._model is engine.model else ""
        item = self._scope(put.user)._intake.record(
            text, now=now, kind="item", type=_spelt(put.path) or None, metadata=put.value, expires_in=put.expires_in,
            source="store",
        )  # fmt: skip
        item.id = _id(put.path, put.key)
        if put.expires_in is not None:
            item.body = rows.dump({"ttl": put.expires_in // timedelta(microseconds=1)})
        return item

    def _embed(self, engine: Engine, items: Sequence[tuple[Put, Draft]]) -> Steps[dict[str, bytes]]:
        """Give drafts the vectors of the memory's embedder; the vectors of our own, by id of the item."""
        if any(item.text for _, item in items):
            engine.ready()
        texts = [[text for text in put.texts if has_words(text)] for put, _ in items]
        packed = yield from self._model.packed([text for each in texts for text in each])
        vectors = iter(packed)
        joined = [b"".join(next(vectors) or b"" for _ in each) for each in texts]
        if self._model is engine.model:
            for (_, item), vector in zip(items, joined, strict=True):
                item.vector = vector or None
            return {}
        yield from engine.embed([item for _, item in items])
        return {f"{put.user}/{item.id}": vector for (put, item), vector in zip(items, joined, strict=True) if vector}

    def _write_scope(
        self, tx: Transaction, user: str, fresh: list[Draft], gone: list[str], shared: int | None,
        own: Mapping[str, bytes], now: int,
    ) -> None:  # fmt: skip
        scope = scopes.ensure_scope(tx, user, self._agent, now) if fresh else scopes.scope_id(tx, user, self._agent)
        if scope is None:
            return
        # What had expired is a new item when it is written again.
        ended = [row[0] for item in fresh for row in tx.rows("expired_record", (scope, item.id, now))]
        cascade.erase(tx, scope, ended, now, action="expired")
        cascade.erase(tx, scope, [row[0] for id in gone for row in tx.rows("seq_by_id", (scope, id))], now)
        if not fresh:
            return
        seqs, first = ledger.put(tx, scope, fresh, now, shared)
        if shared is None:
            tx.many("delete_vectors", [(seq << 8, seq << 8 | 255) for seq in seqs if seq < first])
        vectors = [(seq, own[f"{user}/{item.id}"]) for seq, item in zip(seqs, fresh, strict=True)
                   if f"{user}/{item.id}" in own]  # fmt: skip
        if vectors:
            assert self._model.dimensions is not None
            number = ledger.ensure_embedder(tx, self._model.name, self._model.dimensions)
            tx.run("set_meta", {"key": f"items embedder {number}", "value": self._model.name})  # `reembed` spares it
            tx.many("insert_vector", [(seq << 8 | number, vector) for seq, vector in vectors])

    def refresh(self, found: Iterable[Found]) -> None:
        """Begin the time to live of these items anew; those without one are left alone."""
        engine = self._memory._live()
        now = engine.now()
        by_user: dict[str, list[str]] = {}
        for item in found:
            if item.record.expires_at is not None:
                by_user.setdefault(item.user, []).append(item.record.id)
        if not by_user:
            return
        with engine.store.write() as tx:
            for user, ids in by_user.items():
                scope = scopes.scope_id(tx, user, self._agent)
                if scope is None:
                    continue
                revision = scopes.bump(tx, scope)
                for id in ids:
                    for seq, body in tx.rows("living_item", (scope, id, now)):
                        ttl = (rows.load(body) or {}).get("ttl")
                        if ttl is not None:
                            tx.run("set_expiry", {"seq": seq, "expires_at": now + ttl, "revision": revision})

    def sweep(self) -> int:
        """Erase the items that have expired; how many they were."""
        engine = self._memory._live()
        now = engine.now()
        by_scope: dict[int, list[int]] = {}
        with engine.store.write() as tx:
            for scope, seq in tx.rows("expired_items", {"agent": self._agent, "now": now}):
                by_scope.setdefault(scope, []).append(seq)
            gone = sum(cascade.erase(tx, scope, seqs, now, action="expired").count for scope, seqs in by_scope.items())
        if gone:
            erasing.swept(engine, gone)
        return gone

    # ------------------------------------------------------------------ reading

    def _scope(self, user: str) -> Scope:
        return self._memory.scope(user=user, agent=self._agent)

    def get(self, user: str, path: Path, key: str) -> Found | None:
        """One item, or None."""
        record = self._scope(user).get(_id(path, key))
        return None if record is None or record.kind is not Kind.ITEM else Found(user, path, key, record, None)

    def paths(self) -> list[tuple[str, Path]]:
        """Under which paths there are items now, with their owners."""
        engine = self._memory._live()
        with engine.store.look() as tx:
            found = tx.rows("item_paths", {"agent": self._agent, "now": engine.now()})
        return [(user, _read(spelt)) for user, spelt in found]

    def finding(
        self, query: str | None, *, user: str | None, path: Path, where: Mapping[str, Any] | None = None,
        limit: int = 10, offset: int = 0,
    ) -> Steps[list[Found]]:  # fmt: skip
        """Items at or below `path`, of one user or of all.

        With a query the nearest first, those that have nothing to be found by left out; without one
        (or with one that says nothing) the newest first. `where` filters before the cut.
        """
        tree = parse(where)
        if query is None or not has_words(query):
            return self._listed(user, path, tree, limit, offset)
        users: dict[str, list[str]] = {}
        for owner, each in self.paths():
            if each[: len(path)] == path and user in (None, owner):
                users.setdefault(owner, []).append(_spelt(each))
        if not users or limit <= 0:
            return []
        found: list[Found] = []
        for owner, spelt in users.items():
            inside = {"$and": [{"type": {"$in": spelt}}, *([where] if where else [])]}
            found += yield from self._nearest(owner, query, inside, limit + offset)
        if len(users) > 1:
            found.sort(key=lambda item: (-(item.score or 0.0), item.record.id))
        return found[offset : offset + limit]

    def _nearest(self, user: str, query: str, where: Mapping[str, Any], count: int) -> Steps[list[Found]]:
        """The items of one user nearest to a query: by the memory's own recall, or by our embedder's cosine."""
        scope = self._scope(user)
        engine = self._memory._live()
        if self._model is engine.model:
            hits = yield from scope._search(query, k=min(count, engine.settings.limits.k), kinds=["item"], where=where)
            return [Found(user, *_address(hit.record.id), hit.record, float(hit.score)) for hit in hits]
        vector = yield from self._model.query(str(scope._as_asked(query)))
        tree = parse(where)
        with engine.store.look() as tx:
            number = scopes.scope_id(tx, user, self._agent)
        if number is None:
            return []
        with engine.recalling(number, tree, self._model) as (tx, index):
            mask = allowed(index, now=engine.now(), kinds={Kind.ITEM}, where=tree)
            slots, cosines = nearest(index, vector, mask, count)
            seqs = [int(seq) for seq in index["seq"][slots]]
            records = scope._records(tx, seqs)
        found = [(records[seq], min(1.0, max(0.0, float(value)))) for seq, value in zip(seqs, cosines, strict=True)]
        return [Found(user, *_address(record.id), record, value) for record, value in found]

    def _listed(self, user: str | None, path: Path, tree: Where | None, limit: int, offset: int) -> list[Found]:
        engine = self._memory._live()
        low = _ROOT + "".join(f"{part}/" for part in map(_quoted, path))
        bounds = {"low": low, "high": low[:-1] + _AFTER, "now": engine.now()}
        with engine.store.read() as tx:
            owners = tx.rows("item_scopes", {"agent": self._agent})
            streams = [_stream(tx, owner, {**bounds, "scope": scope}, tree)
                       for scope, owner in owners if user in (None, owner)]  # fmt: skip
            merged = heapq.merge(*streams, key=lambda item: item.record.updated_at, reverse=True)
            return list(islice(merged, offset, offset + limit))


def _stream(tx: Transaction, user: str, bounds: Mapping[str, Any], tree: Where | None) -> Iterator[Found]:
    for row in tx.each("items_between", bounds):
        record = rows.record(row)
        if matches(tree, record):
            yield Found(user, *_address(record.id), record, None)


# ---------------------------------------------------------------------- addresses


def _quoted(part: str) -> str:
    return part.replace("%", "%25").replace("/", "%2F")


def _spelt(path: Path) -> str:
    """A path as text, which can be read back.

    >>> _spelt(("memories", "a/b"))
    'memories/a%2Fb'
    """
    return "/".join(map(_quoted, path))


def _read(spelt: str) -> Path:
    return tuple(part.replace("%2F", "/").replace("%25", "%") for part in spelt.split("/"))


def _id(path: Path, key: str) -> str:
    if not all(storable(part) for part in (*path, key)):
        raise InvalidInput(f"{(*path, key)!r} is no address: it holds a lone surrogate, which no database can keep")
    return _ROOT + _spelt((*path, key))


def item_address(*address: str) -> tuple[str, str | None]:
    """The record id and the type of the item under a path and a key, the key last.

    >>> item_address("memories", "alice", "tea")
    ('item/memories/alice/tea', 'memories/alice')
    """
    *path, key = address
    return _id(tuple(path), key), _spelt(tuple(path)) or None


def _address(id: str) -> tuple[Path, str]:
    """The path and key in an item's id.

    >>> _address("item/memories/a%2Fb/tea")
    (('memories', 'a/b'), 'tea')
    """
    *path, key = _read(id.removeprefix(_ROOT))
    return tuple(path), key
