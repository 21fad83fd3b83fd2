"""Lists and counts against the plainest oracle: all records, filtered and sorted by Python."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core import AgentMemory, Scope
from shared_core.errors import NotFound
from shared_core.recall.bounds import bounds
from shared_core.recall.where import matches, parse
from shared_core.testing import ManualClock
from shared_core.values import Record, Status

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
ORDERS = ("created_at", "updated_at", "event_time", "importance", "confidence", "seen", "id")


def filled(scope: Scope, clock: ManualClock) -> list[Record]:
    for n in range(40):
        if n % 3 == 0:
            clock.advance(minutes=1)
        scope.add(
            f"Note {n}", kind=("fact", "rule", "event")[n % 3], type=(None, "plan", "计划", "a'b")[n % 4], id=f"r{n * 7 % 40:02}",
            source=("user", "notes")[n % 2], importance=n % 5 / 4, confidence=(n % 3 + 1) / 4, pinned=n % 6 == 0,
            metadata={"n": n}, event_time=None if n % 5 == 0 else BEGIN + timedelta(days=n % 9),
        )  # fmt: skip
    scope.session("monday").add_messages([{"role": "user", "content": f"turn {n}"} for n in range(5)])
    scope.add("gone", expires_in=timedelta(seconds=1))
    scope.add("I live in Lyon", triple=("user", "lives in", "Lyon"))
    clock.advance(minutes=5)
    scope.add("I live in Rome", triple=("user", "lives in", "Rome"))
    scope.update("r07", type="plan")
    return scope.list(where={"status": {"$exists": True}})


def expected(records: list[Record], where: Any, order: str) -> list[str]:
    tree, name = parse(where), order.removeprefix("-")
    shown = [r for r in records if ("status" in str(where) or r.status is Status.ACTIVE) and matches(tree, r)]
    known = sorted(
        (r for r in shown if getattr(r, name) is not None), key=lambda r: getattr(r, name), reverse=order[0] == "-"
    )
    return [r.id for r in known] + [r.id for r in shown if getattr(r, name) is None]


WHERES: tuple[Any, ...] = (
    None, {"type": "plan"}, {"type": "计划"}, {"type": "a'b"}, {"type": ""}, {"type": None}, {"type": "\x00"}, {"type": "\ud800"},
    {"source": "notes", "importance": {"$gte": 0.5}}, {"importance": {"$gt": 0.25, "$lt": 0.75}},
    {"importance": {"$lte": True}}, {"created_at": {"$gt": BEGIN + timedelta(minutes=3), "$lte": BEGIN + timedelta(minutes=9)}},
    {"pinned": True}, {"pinned": False, "kind": "rule"}, {"session": "monday"}, {"session": "nobody"},
    {"status": "superseded"}, {"status": "active"}, {"status": {"$exists": True}}, {"status": "active", "$and": [{"status": "superseded"}]},
    {"$and": [{"type": "plan"}, {"type": "计划"}]}, {"$or": [{"type": "plan"}, {"pinned": True}]}, {"$not": {"type": "plan"}},
    {"n": {"$gte": 30}}, {"text": {"$contains": "1"}}, {"event_time": {"$gte": BEGIN + timedelta(days=4)}},
)  # fmt: skip


def test_r27_every_filter_and_order_gives_what_the_oracle_gives(scope: Scope, clock: ManualClock) -> None:
    records = filled(scope, clock)
    assert {bounds(parse(where)) is None for where in WHERES} == {True, False}, "both ways are taken"
    for where in WHERES:
        for order in (*ORDERS, *(f"-{name}" for name in ORDERS)):
            assert [r.id for r in scope.list(where=where, order=order)] == expected(records, where, order), (
                where,
                order,
            )
        assert scope.count(where=where) == len(expected(records, where, "id")), where
        kinds = ["rule", "turn"]
        of_kind = {r.id for r in records if r.kind in kinds}
        assert [r.id for r in scope.list(kinds=kinds, where=where)] == [
            id for id in expected(records, where, "created_at") if id in of_kind
        ]
        assert scope.count(kinds=kinds, where=where) == len(of_kind & {*expected(records, where, "id")})


def test_r27_pages_of_any_filter_add_up_in_any_order(scope: Scope, clock: ManualClock) -> None:
    filled(scope, clock)
    for where, order in itertools.product(
        ({}, {"source": "notes"}, {"n": {"$gte": 7}}), (*ORDERS, "-event_time", "-importance", "-id")
    ):
        whole = [r.id for r in scope.list(where=where, order=order)]
        pages: list[str] = []
        while page := scope.list(where=where, order=order, limit=7, after=pages[-1] if pages else None):
            pages += [r.id for r in page]
        assert pages == whole, (where, order)
        assert scope.list(where=where, order=order, limit=0) == []
    for where in ({"source": "notes"}, {"n": {"$gte": 7}}):
        with pytest.raises(NotFound):
            scope.list(where=where, after="r00")
    with pytest.raises(NotFound):
        scope.list(after="\x00")


_CONDITION = st.one_of(
    st.builds(lambda key, value: {key: value}, st.sampled_from(["type", "source", "status", "session"]),
              st.sampled_from(["plan", "notes", "active", "superseded", "monday", ""])),
    st.builds(lambda op, value: {"importance": {op: value}}, st.sampled_from(["$gt", "$gte", "$lt", "$lte"]),
              st.sampled_from([0, 0.25, 0.5, 0.75, 1])),
    st.builds(lambda op, value: {"created_at": {op: BEGIN + timedelta(minutes=value)}},
              st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), st.integers(0, 15)),
    st.builds(lambda value: {"pinned": value}, st.booleans()),
)  # fmt: skip


@pytest.mark.sqlite_only
def test_r27_what_the_database_decides_is_what_the_filter_says() -> None:
    clock = ManualClock()
    with AgentMemory.open(embedder="hashing", clock=clock) as memory:
        scope = memory.scope(user="alice")
        records = filled(scope, clock)

        @given(st.lists(_CONDITION, min_size=1, max_size=4))
        def check(parts: list[dict[str, Any]]) -> None:
            where = {"$and": parts}
            assert [r.id for r in scope.list(where=where)] == expected(records, where, "created_at")

        check()
