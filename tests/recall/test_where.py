"""Filters against the language as its documentation tells it: a list and a search agree with it (R29)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core import AgentMemory, Record, Scope
from shared_core.errors import InvalidInput, InvalidType
from shared_core.recall.where import OPERATORS, parse

DAY = datetime(2025, 1, 1, tzinfo=UTC)
MISSING = object()
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": lambda a, b: a > b, "$gte": lambda a, b: a >= b, "$lt": lambda a, b: a < b, "$lte": lambda a, b: a <= b,
}  # fmt: skip

# ---------------------------------------------------------------------- the oracle, straight from the documentation


def looked_at(record: Record, key: str) -> Any:
    fields = {
        "kind",
        "type",
        "source",
        "importance",
        "seen",
        "pinned",
        "entities",
        "event_time",
        "created_at",
        "status",
    }
    if key in fields:
        value = getattr(record, key)
        value = list(value) if isinstance(value, tuple) else value
        return MISSING if value is None else str(value) if key in ("kind", "status") else value
    if key in ("subject", "object"):
        return MISSING if record.triple is None else getattr(record.triple, key)
    return record.metadata.get(key.removeprefix("metadata."), MISSING)


def equal(a: Any, b: Any) -> bool:
    """A missing key equals nothing; a bool is no number; values of different types are unequal; tuples are lists."""
    b = list(b) if isinstance(b, tuple) else b
    return a is not MISSING and isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def ordered(value: Any, operand: Any) -> bool:
    for types in ((int, float), (str,), (datetime,)):
        if isinstance(value, types) and isinstance(operand, types):
            return not isinstance(value, bool) and not isinstance(operand, bool)
    return False


def holds(value: Any, operator: str, operand: Any) -> bool:
    if operator in COMPARE:
        return ordered(value, operand) and COMPARE[operator](value, operand)
    if operator == "$contains":
        if isinstance(value, str):
            return isinstance(operand, str) and operand in value
        return isinstance(value, list) and any(equal(part, operand) for part in value)
    return {
        "$eq": lambda: equal(value, operand),
        "$ne": lambda: not equal(value, operand),
        "$in": lambda: any(equal(value, each) for each in operand),
        "$nin": lambda: not any(equal(value, each) for each in operand),
        "$exists": lambda: (value is not MISSING and value is not None) == operand,
    }[operator]()


def passes(record: Record, where: dict[str, Any]) -> bool:
    for key, condition in where.items():
        if key == "$and":
            good = all(passes(record, part) for part in condition)
        elif key == "$or":
            good = any(passes(record, part) for part in condition)
        elif key == "$not":
            good = not passes(record, condition)
        elif isinstance(condition, dict) and any(k.startswith("$") for k in condition):
            good = all(holds(looked_at(record, key), operator, operand) for operator, operand in condition.items())
        else:
            good = equal(looked_at(record, key), condition)
        if not good:
            return False
    return True


# ---------------------------------------------------------------------- what is stored, and what is asked

VALUES = st.sampled_from([0, 1, 1.0, 2, -1, 0.5, True, False, None, "1", "a", "ab", "汉字", "", ["a", 1], [], {"b": 1}])
SIMPLE = st.one_of(VALUES, st.sampled_from([["ab"], {"b": 2}, ["Ann"], ["Ann", "Lab"], "Ann", ("Ann",)]))
METADATA = st.dictionaries(st.sampled_from(["m", "n", "kind", "标签"]), VALUES, max_size=3)
RECORDS = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["fact", "rule", "event", "summary"]),
        "type": st.sampled_from([None, "user_fact", "a"]),
        "source": st.sampled_from(["user", "assistant"]),
        "importance": st.sampled_from([0.0, 0.5, 0.9, 1.0]),
        "pinned": st.booleans(),
        "entities": st.sampled_from([(), ("Ann",), ("Ann", "Lab")]),
        "triple": st.sampled_from([None, ("Ann", "likes", "tea")]),
        "event_time": st.sampled_from([None, DAY, DAY + timedelta(microseconds=1), DAY + timedelta(days=1)]),
        "metadata": METADATA,
    }
)
KEYS = st.sampled_from(["m", "n", "metadata.kind", "metadata.m", "标签", "nowhere", "kind", "type", "source", "importance",
                        "seen", "pinned", "entities", "subject", "object", "status"])  # fmt: skip
TIMES = st.sampled_from([DAY, DAY + timedelta(hours=1), DAY + timedelta(days=1)])


def operands(operator: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    if operator == "$exists":
        return st.booleans()
    return st.lists(values, max_size=3) if operator in ("$in", "$nin") else values


def conditions(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.sampled_from([o for o in OPERATORS if o != "$match"])
    return st.lists(names, min_size=1, max_size=2, unique=True).flatmap(
        lambda chosen: st.fixed_dictionaries({operator: operands(operator, values) for operator in chosen})
    )


TESTS = st.one_of(
    st.dictionaries(
        KEYS, st.one_of(SIMPLE.filter(lambda v: not isinstance(v, dict)), conditions(SIMPLE)), min_size=1, max_size=2
    ),
    st.dictionaries(st.sampled_from(["event_time", "created_at"]), st.one_of(TIMES, conditions(TIMES)), min_size=1),
)
WHERE = st.recursive(
    TESTS,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"$and": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"$or": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"$not": inner}),
        st.tuples(TESTS, inner).map(lambda pair: {**pair[0], **pair[1]}),
    ),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def many() -> Iterator[Scope]:
    """A scope that grows with every example, so that columns are filled, extended and asked again."""
    with AgentMemory.open(embedder="hashing", clock=lambda: DAY) as memory:
        yield memory.scope(user="alice")


@given(records=st.lists(RECORDS, max_size=4), where=WHERE, data=st.data())
def test_r29_a_list_and_a_search_give_what_the_filter_says(
    many: Scope, records: list[Any], where: Any, data: Any
) -> None:
    many.add_many([{"text": "walrus", "id": f"{n}", **record} for n, record in enumerate(records)])
    if many.count() and data.draw(st.booleans()):
        id = data.draw(st.sampled_from([r.id for r in many.list()]))
        if data.draw(st.booleans()):
            many.delete(id)
        else:
            many.update(id, metadata=data.draw(METADATA))
    everything = many.list(where={"status": {"$exists": True}})
    expected = {record.id for record in everything if passes(record, where)}
    assert {record.id for record in many.list(where=where)} == expected
    assert many.count(where=where) == len(expected)
    assert {hit.record.id for hit in many.search("walrus", k=1_000, where=where)} == expected


# ---------------------------------------------------------------------- told one by one


@pytest.fixture
def ten(scope: Scope) -> Scope:
    scope.add_many(
        [{"text": f"note {n}", "id": f"{n}", "metadata": {"lang": "zh" if n % 2 else "en", "n": n}} for n in range(10)]
    )
    scope.update("4", entities=["Ann", "Lab"])
    return scope


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"lang": "zh"}, "13579"),
        ({"n": {"$in": [1, 2, 99]}}, "12"),
        ({"n": {"$gte": 3, "$lt": 6}}, "345"),
        ({"$and": [{"lang": "zh"}, {"n": {"$gt": 4}}]}, "579"),
        ({"$or": [{"n": 0}, {"n": 9}]}, "09"),
        ({"$not": {"lang": "zh"}}, "02468"),
        ({"missing": 1}, ""),
        ({"missing": {"$ne": 1}}, "0123456789"),
        ({"missing": {"$exists": False}, "n": {"$nin": [5]}}, "012346789"),
        ({"lang": {"$contains": "z"}}, "13579"),
        ({"kind": "fact", "n": 3}, "3"),
        ({"metadata.n": 3}, "3"),
        ({"n": "3"}, ""),
        ({"n": True}, ""),
        ({"entities": ["Ann", "Lab"]}, "4"),
        ({"entities": ("Ann", "Lab")}, "4"),
        ({"entities": {"$contains": "Lab"}}, "4"),
        ({"entities": {"$in": [["Ann", "Lab"], "Ann"]}}, "4"),
        ({}, "0123456789"),
        (None, "0123456789"),
    ],
)
def test_r29_filters_find_exactly_what_they_name(ten: Scope, where: Any, expected: str) -> None:
    assert "".join(sorted(r.id for r in ten.list(where=where))) == expected
    assert "".join(sorted(h.record.id for h in ten.search("note", k=50, where=where))) == expected
    assert len(ten.search("note", k=3, where=where)) == min(3, len(expected))


@pytest.mark.parametrize(
    "where",
    [
        {"n": {"$like": 1}}, {"$nor": [{"n": 1}]}, {"$gt": 3}, {"n": {"$gt": 1, "plain": 2}}, {"$and": []}, {"$or": {}},
        {"$not": [{"n": 1}]}, {"$not": {}}, {"$and": [{}]}, {"n": {"$in": 3}}, {"n": {"$in": "abc"}}, {"n": {"$exists": 1}},
        {"n": object()}, {"n": b"x"}, {3: 1}, "n = 3", [("n", 3)], {"accesses": 1}, {"created_at": datetime(2025, 1, 1)},
    ],
)  # fmt: skip
def test_r29_a_filter_that_can_not_be_read_is_an_error_never_an_open_door(ten: Scope, where: Any) -> None:
    for attempt in (
        lambda: ten.list(where=where),
        lambda: ten.search("note", where=where),
        lambda: ten.count(where=where),
    ):
        with pytest.raises((InvalidInput, InvalidType)):
            attempt()


def test_a_filter_nested_without_end_is_an_error_not_a_crash(ten: Scope) -> None:
    where: dict[str, Any] = {"n": 1}
    for _ in range(5_000):
        where = {"$not": where}
    with pytest.raises(InvalidInput, match="nested"):
        ten.list(where=where)


def test_r29_a_filter_can_not_reach_another_users_records(memory: AgentMemory, ten: Scope) -> None:
    memory.scope(user="bob").add("note", metadata={"n": 3, "user": "alice"})
    for where in ({"user": "bob"}, {"scope": 1}, {"$or": [{"n": 3}, {"user": "bob"}]}, {"agent": {"$exists": False}}):
        assert {r.id for r in ten.list(where=where)} <= set("0123456789")
        assert {h.record.id for h in ten.search("note", k=50, where=where)} <= set("0123456789")


def test_a_word_that_looks_like_a_field_name_opens_nothing(scope: Scope) -> None:
    """`list` once looked for the letters s-t-a-t-u-s anywhere in a filter, and then showed what was replaced."""
    scope.add("old", id="old", metadata={"note": "status"})
    scope.add("new", id="new", metadata={"note": "status", "status": "x"})
    with scope._engine.store.write() as tx:
        tx.run("mark_changed", (10**6, 1))
        tx._connection.execute("UPDATE record SET status = 'superseded' WHERE id = 'old'")
        tx.rows("bump_scope", {"scope": 1, "count": 0})
    for where in ({"note": "status"}, {"metadata.status": {"$ne": "status"}}):
        assert [r.id for r in scope.list(where=where)] == ["new"]
        assert [h.record.id for h in scope.search("old new", where=where)] == ["new"]
    assert {r.id for r in scope.list(where={"status": {"$in": ["superseded", "active"]}})} == {"old", "new"}


def test_a_parsed_filter_is_a_value() -> None:
    assert parse({"a": 1, "$or": [{"b": 2}, {"c": {"$gt": 3}}]}) == parse(
        {"a": 1, "$or": [{"b": 2}, {"c": {"$gt": 3}}]}
    )
    assert parse({}) is parse(None) is None


def test_conditions_that_are_new_each_time_are_not_kept_for_ever(scope: Scope) -> None:
    from shared_core.recall import fields

    scope.add_many([{"text": f"note {n}", "metadata": {"n": n}} for n in range(50)])
    for n in range(fields._CONDITIONS * 3):
        assert len(scope.search("note", k=100, where={"n": {"$gte": n}})) == max(0, 50 - n)
    with scope._engine.recalling(1) as (_, index):
        assert len(index.fields._columns["n", True]._passed) <= fields._CONDITIONS
