"""`TwinmemStore`: the memory as a LangGraph `BaseStore`."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, cast
from urllib.parse import unquote

from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    ensure_embeddings,
    get_text_at_path,
    validate_op_namespace,
)

from langchain_mem.identity import RESERVED
from langchain_mem.models import as_embedder
from langchain_mem.opening import opened
from shared_core.errors import InvalidInput, InvalidType
from shared_core.memory import AgentMemory
from shared_core.steps import Steps, arun, run
from shared_core.verbs.items import Found, Items, Put

Namespace = tuple[str, ...]

_ENCODED = re.compile("%(?:25|2E|00)")

_OPERATORS = frozenset({"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"})
_BUILT_IN = frozenset({"default", "e5", "hashing"})
_WHOLE = ["$"]


class TwinmemStore(BaseStore):
    """Items under namespaces, in one file, for LangGraph, LangMem and every agent that takes `store=`.

    **Whose items.** A namespace that begins like `namespaces` (`("memories", "{user}")`) lies in the
    scope of that user: their own `search` finds the item, and `memory.forget(user)` erases it. All
    other namespaces lie in a reserved scope. A namespace may hold neither dots nor numbers, user ids
    may: `store.namespace("a@b.com")` spells the namespace of any user id, and the store reads it back.

    **Search.** With `index={"dims": ..., "embed": ...}` items are embedded by that model, each of
    `fields` for itself, under a name of its own in the database, and the score is the likeness of the
    item's nearest text in [0, 1]. `embed` left out (`index={}`) or one of "default", "e5", "hashing"
    is the memory's model or a built-in one. Without an index a query orders by the memory's own recall,
    and the score is None. Items put with `index=False`, or without a text, are found without a query
    only. Where words count besides vectors (a user's namespaces, or the memory's own model), matching
    words raise the score. Without a query the newest item comes first.

    **Filters** are LangGraph's: `$eq $ne $gt $gte $lt $lte`, nested dicts match by their keys; any other
    operator raises. A key is a key, also with dots in it; a missing key equals nothing, so `$ne` holds.

    **Time to live** is in minutes. An expired item is never returned, whatever `omit_expired` says, and
    is erased by the sweep: `sweep_ttl()`, or by writes every `sweep_interval_minutes`. Reading begins it
    anew unless `refresh_on_read` is false.

    A batch reads first, then writes all its puts in one transaction or none. Values are JSON: what JSON
    can't hold, NaN and infinity included, is refused. One object serves sync and async, in any thread
    or event loop, and needs no SQLite extension.

    >>> store = TwinmemStore(AgentMemory.open(embedder="hashing"))
    >>> store.put(("memories", "alice"), "drink", {"text": "likes green tea"})
    >>> store.search(("memories", "alice"), query="tea")[0].key
    'drink'
    """

    supports_ttl = True

    def __init__(
        self,
        memory: AgentMemory | str | os.PathLike[str] | None = None,
        *,
        index: IndexConfig | Mapping[str, Any] | None = None,
        ttl: TTLConfig | Mapping[str, Any] | None = None,
        namespaces: Sequence[str] | None = ("memories", "{user}"),
        agent: str = "default",
    ) -> None:
        """`memory`: a memory, or a path; None for a private one. `namespaces=None`: no user's scope is used."""
        self.memory = memory if isinstance(memory, AgentMemory) else opened(None, memory)
        self.ttl_config = None if ttl is None else cast(TTLConfig, dict(ttl))
        self._index = None if index is None else dict(index)
        self._fields = list((index or {}).get("fields") or _WHOLE)
        self._template, self._place = _template(namespaces)
        self._items = Items(self.memory, agent=agent, embedder=_embedder(self._index))
        self._swept = time.monotonic()

    def namespace(self, user: str | int, *labels: str) -> Namespace:
        """The namespace of a user, spelt so that any id is legal: dots are written %2E, numbers as text.

        >>> TwinmemStore(AgentMemory.open(embedder="hashing")).namespace("a@b.com", "prefs")
        ('memories', 'a@b%2Ecom', 'prefs')
        """
        if self._place is None:
            raise InvalidInput("this store has no namespaces of users; it was made with namespaces=None")
        # Only what LangGraph forbids, and the sign itself, is encoded: other ids stay as they are.
        label = str(user).replace("%", "%25").replace(".", "%2E").replace("\0", "%00")
        return (*self._template[: self._place], label, *self._template[self._place + 1 :], *labels)

    # ------------------------------------------------------------------ the two verbs all others are made of

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations: reads see the state before the batch, the puts are written together or not at all."""
        return run(self._batch(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Async twin of `batch`: neither the database nor a sync embedder ever blocks the loop."""
        return await arun(self._batch(list(ops)))

    def sweep_ttl(self) -> int:
        """Erase the items whose time is over; how many they were."""
        self._swept = time.monotonic()
        return self._items.sweep()

    def _batch(self, ops: list[Op]) -> Steps[list[Result]]:
        for op in ops:
            validate_op_namespace(op)
        puts = [self._put(op) for op in ops if isinstance(op, PutOp)]
        results: list[Result] = []
        read: list[Found] = []
        for op in ops:
            result: Result = None
            if isinstance(op, GetOp):
                result = self._get(op, read)
            elif isinstance(op, SearchOp):
                result = yield from self._search(op, read)
            elif isinstance(op, ListNamespacesOp):
                result = self._list(op)
            elif not isinstance(op, PutOp):
                raise InvalidType(f"a store has no operation {type(op).__name__}")
            results.append(result)
        if read:
            self._items.refresh(read)
        if puts:
            yield from self._items.writing(puts)
            self._sweep_in_time()
        return results

    def _sweep_in_time(self) -> None:
        minutes = (self.ttl_config or {}).get("sweep_interval_minutes")
        if minutes is not None and time.monotonic() - self._swept >= 60 * minutes:
            self.sweep_ttl()

    # ------------------------------------------------------------------ operations

    def _put(self, op: PutOp) -> Put:
        user, key = self._owner(op.namespace), str(op.key)
        if op.value is None:
            return Put(user, op.namespace, key, None)
        value = _copied(op.value)
        texts: list[str] = []
        if op.index is not False:
            for path in self._fields if op.index is None else op.index:
                texts += [_readable(value)] if path == "$" else get_text_at_path(value, path)
        lasting = None if op.ttl is None else timedelta(minutes=op.ttl)
        return Put(user, op.namespace, key, value, tuple(texts), lasting, visible=user != RESERVED)

    def _get(self, op: GetOp, read: list[Found]) -> Item | None:
        found = self._items.get(self._owner(op.namespace), op.namespace, str(op.key))
        if found is None:
            return None
        if op.refresh_ttl:
            read.append(found)
        return Item(**_fields_of(found))

    def _search(self, op: SearchOp, read: list[Found]) -> Steps[list[SearchItem]]:
        found = yield from self._items.finding(
            op.query,
            user=self._owner_below(op.namespace_prefix),
            path=op.namespace_prefix,
            where=_where(op.filter),
            limit=op.limit,
            offset=op.offset,
        )
        if op.refresh_ttl:
            read += found
        scored = self._index is not None
        return [SearchItem(**_fields_of(item), score=item.score if scored else None) for item in found]

    def _list(self, op: ListNamespacesOp) -> list[Namespace]:
        found = {path for _, path in self._items.paths() if all(_meets(path, c) for c in op.match_conditions or ())}
        if op.max_depth is not None:
            found = {path[: op.max_depth] for path in found}
        return sorted(found)[op.offset : op.offset + op.limit]

    # ------------------------------------------------------------------ namespaces

    def _owner(self, namespace: Namespace) -> str:
        """The user in whose scope a namespace lies."""
        template = self._template
        if self._place is None or len(namespace) < len(template):
            return RESERVED
        if any(i != self._place and namespace[i] != label for i, label in enumerate(template)):
            return RESERVED
        # Only what `namespace` writes is read back: "%41nn" is nobody else's way to be called "Ann".
        user = _ENCODED.sub(lambda found: unquote(found[0]), namespace[self._place])
        if user == RESERVED:
            raise InvalidInput(f"{RESERVED!r} is no user; it holds what belongs to no user")
        return user

    def _owner_below(self, prefix: Namespace) -> str | None:
        """The one scope in which everything below a prefix lies; None where it may be any."""
        if self._place is None:
            return RESERVED
        shared = zip(prefix, self._template, strict=False)
        if any(i != self._place and mine != theirs for i, (mine, theirs) in enumerate(shared)):
            return RESERVED
        return self._owner(prefix) if len(prefix) >= len(self._template) else None


def _template(namespaces: Sequence[str] | None) -> tuple[Namespace, int | None]:
    """The template of users' namespaces, and the place of the user in it."""
    if namespaces is None:
        return (), None
    if isinstance(namespaces, str):
        raise InvalidType('namespaces is a tuple of labels such as ("memories", "{user}")')
    places = [i for i, label in enumerate(namespaces) if label.startswith("{") and label.endswith("}")]
    if len(places) != 1:
        raise InvalidInput('namespaces has one label for the user, in braces: ("memories", "{user}")')
    return tuple(namespaces), places[0]


def _embedder(index: Mapping[str, Any] | None) -> Any:
    embed = None if index is None else index.get("embed")
    if embed is None or (isinstance(embed, str) and embed in _BUILT_IN):
        return embed
    # A plain function has no model's name; its own tells its vectors apart.
    name = getattr(embed, "__qualname__", None) if callable(embed) else embed if isinstance(embed, str) else None
    return as_embedder(ensure_embeddings(embed), name=name, dimensions=(index or {}).get("dims"))


def _fields_of(found: Found) -> dict[str, Any]:
    record = found.record
    return {
        "namespace": found.path,
        "key": found.key,
        "value": record.metadata,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
    }


def _copied(value: Any) -> dict[str, Any]:
    """The value, deeply copied, if JSON can hold it just as it is."""
    if not isinstance(value, Mapping):
        raise InvalidType(f"the value of an item is a dict, not {type(value).__name__}")
    try:
        copied: dict[str, Any] = json.loads(json.dumps(dict(value), allow_nan=False))
    except RecursionError as error:
        raise InvalidInput("the value of an item refers to itself") from error
    except TypeError as error:
        raise InvalidType(f"the value of an item can't be kept as JSON: {error}") from error
    except ValueError as error:
        raise InvalidInput(f"the value of an item can't be kept as JSON: {error}") from error
    return copied


def _readable(value: Any) -> str:
    """What a value says: its texts and numbers, without the braces and quotes of JSON."""
    return ", ".join(_said(value))


def _said(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if value.strip():
            yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _said(part)
    elif isinstance(value, list):
        for part in value:
            yield from _said(part)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _where(filter: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """LangGraph's filter in the memory's language; what LangGraph does not have is refused."""
    if not filter:
        return None
    return {f"metadata.{key}": _condition(key, condition) for key, condition in filter.items()}


def _condition(key: str, condition: Any) -> dict[str, Any]:
    if not isinstance(condition, Mapping) or not condition:
        return {"$eq": condition}
    if not any(isinstance(name, str) and name.startswith("$") for name in condition):
        return {"$match": {name: _condition(name, part) for name, part in condition.items()}}
    unknown = sorted(str(name) for name in condition if name not in _OPERATORS)
    if unknown:
        raise InvalidInput(
            f"unknown operator {unknown[0]!r} for {key!r}; LangGraph has {', '.join(sorted(_OPERATORS))}"
        )
    return dict(condition)


def _meets(namespace: Namespace, condition: MatchCondition) -> bool:
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(label in ("*", mine) for label, mine in zip(path, part, strict=True))
