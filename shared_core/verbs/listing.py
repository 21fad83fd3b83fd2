"""The verbs of a scope that list: whole or by pages, filtered, in an order."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

from shared_core.errors import InvalidInput, NotFound
from shared_core.notebook import Shown
from shared_core.recall.bounds import Bounds, bounds
from shared_core.recall.where import Where, evaluate, names, parse, predicate
from shared_core.steps import threaded
from shared_core.store.listing import LIGHT, WHOLE, RowView
from shared_core.store.rows import micros
from shared_core.values import Kind, Record, Status
from shared_core.verbs.handle import Handle
from shared_core.verbs.recalling import kinds_of
from shared_core.writing.intake import storable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared_core.ports import Transaction

_ORDERS = ("created_at", "updated_at", "event_time", "importance", "confidence", "seen", "id")
_BEYOND = 1e300  # further than any time or number that a list is ordered by
Records = list[Record]
Kinds = frozenset[Kind] | None
Key = tuple[bool, Any, int]


class Listing(Handle):
    """What `Scope` does to list."""

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
        is what has expired. Only the records of the page are read whole, so a page of a large memory
        costs little: of 10,000 records some milliseconds, with a filter that the database can't decide some tens.

        >>> from shared_core import AgentMemory
        >>> scope = AgentMemory.open(embedder="hashing").scope(user="alice")
        >>> _ = scope.add_many(["tea", "coffee", "milk"])
        >>> [r.text for r in scope.list(limit=2)]
        ['tea', 'coffee']
        """
        name = order.removeprefix("-")
        if name not in _ORDERS:
            raise InvalidInput(f"unknown order {order!r}; known: {', '.join(_ORDERS)}, with '-' for the reverse")
        if limit is not None and limit < 0:
            raise InvalidInput("limit is negative")
        wanted, tree = kinds_of(kinds), parse(where)
        within = bounds(tree) if name != "id" else None
        now = self._live().now()
        with self._live().store.read() as tx:
            scope = self._find(tx)
            seqs: Seqs | None = None if after is not None else []
            if scope is not None and within is not None:
                seqs = _paged(tx, _given(scope, now, wanted, within), order, limit, after)
            elif scope is not None:
                seqs = _filtered(tx, scope, now, wanted, tree, order, limit, after)
            if seqs is None:
                raise NotFound(f"no record {after!r} in this list to go on after")
            records = self._records(tx, seqs)
        return Shown(records[seq] for seq in seqs)

    def count(self, *, kinds: Collection[str] | None = None, where: Mapping[str, Any] | None = None) -> int:
        """How many records `list` would give."""
        wanted, tree = kinds_of(kinds), parse(where)
        within = bounds(tree)
        now = self._live().now()
        with self._live().store.read() as tx:
            scope = self._find(tx)
            if scope is None:
                return 0
            if within is not None:
                return int(tx.rows("listed_count", _given(scope, now, wanted, within))[0][0])
            return sum(1 for _ in _chosen(tx, scope, now, wanted, tree))

    alist = threaded(list)
    acount = threaded(count)


Seqs = list[int]


def _given(scope: int, now: int, kinds: Kinds, within: Bounds) -> dict[str, Any]:
    return {**within, "scope": scope, "now": now, "kinds": f",{','.join(sorted(Kind if kinds is None else kinds))},"}


def _paged(tx: Transaction, given: dict[str, Any], order: str, limit: int | None, after: str | None) -> Seqs | None:
    """A page that the database chooses and orders; None if there is no `after` in the list."""
    given |= {"by": order.removeprefix("-"), "sign": -1 if order.startswith("-") else 1}
    value, seq, missing = -_BEYOND, -1, 0
    if after is not None:
        found = tx.rows("listed_values", {**given, "id": after}) if storable(after) else []
        if not found:
            return None
        seq = found[0][0]
        value, missing = (_BEYOND, 1) if found[0][1] is None else (found[0][1], 0)
    place = {"value": value, "seq": seq, "missing": missing, "limit": -1 if limit is None else limit}
    return [row[0] for row in tx.rows("listed_page", {**given, **place})]


def _filtered(
    tx: Transaction, scope: int, now: int, kinds: Kinds, where: Where | None, order: str, limit: int | None,
    after: str | None,
) -> Seqs | None:  # fmt: skip
    """A page of what passes a filter; None if there is no `after` in the list."""
    name, reverse = order.removeprefix("-"), order.startswith("-")
    if name == "id":  # texts can't be negated: sorted by Python, backwards, equals there are none
        pairs = sorted(((view.id, view.seq) for view in _chosen(tx, scope, now, kinds, where)), reverse=reverse)
        places = [place for place, pair in enumerate(pairs, 1) if pair[0] == after]
        start = places[0] if places else 0
        seqs = [seq for _, seq in pairs[start:]][:limit]
        return None if after is not None and not places else seqs
    keys, place = [], None
    for view in _chosen(tx, scope, now, kinds, where):
        key = _key(getattr(view, name), view.seq, reverse)
        keys.append(key)
        if after is not None and view.id == after:
            place = key
    if after is not None:
        if place is None:
            return None
        keys = [key for key in keys if key > place]
    return [key[2] for key in (sorted(keys) if limit is None else nsmallest(limit, keys))]


def _key(value: Any, seq: int, reverse: bool) -> Key:
    """Where a record stands: those without the value last, equals as they were stored."""
    if value is None:
        return (True, 0, seq)
    number = micros(value) if hasattr(value, "tzinfo") else value
    return (False, -number if reverse else number, seq)


def _chosen(tx: Transaction, scope: int, now: int, kinds: Kinds, where: Where | None) -> Iterator[RowView]:
    """The records that pass, as far as they are needed to tell."""
    light = where is None or evaluate(where, lambda t: not t.metadata and t.key in LIGHT, lambda _, parts: all(parts))
    any_status = names(where, "status")
    found = tx.each("listed_rows" if light else "unexpired_records", {"scope": scope, "now": now})
    layout = LIGHT if light else WHOLE
    kind, status = layout["kind"][0], layout["status"][0]
    passes = None if where is None else predicate(where)
    for row in found:
        if (kinds is not None and row[kind] not in kinds) or not (any_status or row[status] == Status.ACTIVE):
            continue
        view = RowView(row, layout)
        if passes is None or passes(view):
            yield view
