"""Rows damaged behind the memory's back: `check` names them, `check(fix=True)` mends them and leaves the rest alone."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory, Scope
from shared_core.values import CheckReport, Status

LOST = 9_999
Damage = Callable[[str], None]


@pytest.fixture
def memory(path: Path) -> Iterator[AgentMemory]:
    with AgentMemory.open(path, embedder="hashing", settings={"facts": {"strategy": "ask"}}) as opened:
        yield opened


@pytest.fixture
def scope(memory: AgentMemory) -> Scope:
    """Alice's memory with something of every kind in it, and Bob's beside it."""
    alice, bob = memory.scope(user="alice"), memory.scope(user="bob")
    alice.add("Ann lives in Lyon", triple=("Ann", "lives in", "Lyon"), id="lyon")
    alice.add("张伟在ACME工作", triple=("张伟", "就职于", "ACME"), id="acme")
    alice.add("Ann lives in Rome", triple=("Ann", "lives in", "Rome"), id="rome")  # waits: which is right?
    alice.graph.add("Ann", "knows", "Bob")
    alice.graph.describe("Ann", type="engineer")
    alice.graph.alias("张伟", "老板")
    bob.add("Bob likes tea", triple=("Bob", "likes", "tea"))
    alice.session("s").add_messages([{"role": "user", "content": "I moved to Oslo"}])
    alice.search("Ann")
    memory.flush()
    assert memory.check().ok
    return alice


@pytest.fixture
def damage(memory: AgentMemory, path: Path) -> Damage:
    def run(sql: str) -> None:
        raw = sqlite3.connect(path)
        for statement in sql.split(";"):
            raw.execute(statement)
        raw.commit()
        raw.close()

    return run


def state(memory: AgentMemory) -> list[Any]:
    """All that both users' memory says."""
    return [
        (
            [(record.text, record.status) for record in scope.list(where={"status": {"$exists": True}})],
            [str(each) for each in scope.graph.relations()],
            [(each.name, set(each.aliases), each.type) for each in scope.graph.entities()],
            [question.text for question in scope.questions()],
        )
        for scope in (memory.scope(user="alice"), memory.scope(user="bob"))
    ]


def mended(memory: AgentMemory, *expected: str) -> CheckReport:
    """Only these problems, found without changing anything, and gone for good once mended."""
    found = memory.check()
    assert {problem.what for problem in found.problems} == set(expected)
    assert all(problem.fixable and problem.where for problem in found.problems)
    assert memory.check().problems == found.problems
    report = memory.check(fix=True)
    assert (report.fixed, report.ok) == (len(found.problems), True)
    assert memory.check().problems == ()
    return found


def add(table: str, **values: Any) -> str:
    """An INSERT of a row in which every column has something."""
    columns = {
        "outcome": {"record": 1, "success": 1, "created_at": 0},
        "access": {"record": 1, "count": 1, "last_at": 0},
        "pending": {"scope": 1, "work": "'extract'", "created_at": 0},
        "question": {"id": "'q'", "scope": 1, "text": "'?'", "choices": "'[]'", "detail": "'{}'", "created_at": 0},
        "trace": {"reply": 1, "record": 1, "rank": 1, "score": 0.5, "section": "'memories'"},
        "provenance": {"record": 1, "source": 1, "extractor": "'x'", "created_at": 0},
        "alias": {"entity": 1, "target": 2, "record": 0, "scope": 1, "created_at": 0},
        "trait": {"entity": 1, "record": 0, "scope": 1, "name": "'Ann'", "type": "'spy'", "created_at": 0},
        "apart": {"scope": 1, "one": 1, "other": 2},
        "rule": {"scope": 1, "name": "'r'", "body": "'knows(A, B) => knows(B, A)'", "created_at": 0},
        "vault": {"scope": 1, "token": "'t'", "secret": "x'00'", "created_at": 0},
        "entity": {"scope": 1, "key": "'nobody'", "name": "'Nobody'", "created_at": 0},
        "relation": {
            "scope": 1, "subject": 1, "predicate": "'p'", "object": 2, "record": 0, "subject_name": "'Ann'", "verb": "'p'",
            "object_name": "'Lyon'", "confidence": 1.0, "revision": 0, "created_at": 0,
        },
    }[table] | values  # fmt: skip
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(map(str, columns.values()))})"


POINTERS = [
    ("an outcome of no record", add("outcome", record=LOST)),
    ("recalls of no record", add("access", record=LOST)),
    ("work on what is not there", add("pending", record=LOST)),
    ("work on what is not there", add("pending", session=LOST)),
    ("a question about no record", add("question", record=LOST)),
    ("a question about no record", add("question", record=1, other=LOST)),
    ("a trace of no record", add("trace", reply=LOST)),
    ("a trace of no record", add("trace", record=LOST)),
    ("a link to nothing", add("provenance", source=LOST)),
    ("a relation from no record", add("relation", record=LOST)),
    ("a trait from no record", add("trait", record=LOST)),
    ("an alias of no entity or from no record", add("alias", record=LOST)),
    ("an alias of no entity or from no record", add("alias", target=LOST)),
    ("an alias of no entity or from no record", add("alias", entity=LOST)),
    ("a split of no entity", add("apart", other=LOST)),
    ("an entity of which nothing is told", add("entity")),
    ("a link to no version", "UPDATE record SET superseded_by = 'gone' WHERE id = 'lyon'"),
    ("a link to no version", "UPDATE record SET supersedes = 'gone' WHERE id = 'acme'"),
]


@pytest.mark.parametrize(("what", "sql"), POINTERS)
def test_a_row_that_points_nowhere_goes_and_everything_else_stays(
    memory: AgentMemory, scope: Scope, damage: Damage, what: str, sql: str
) -> None:
    before = state(memory)
    damage(sql)
    mended(memory, what)
    assert state(memory) == before


def test_every_kind_at_once_is_mended_at_once(memory: AgentMemory, scope: Scope, damage: Damage) -> None:
    before = state(memory)
    chosen = dict(POINTERS)
    damage(";".join(chosen.values()))
    mended(memory, *chosen)
    assert state(memory) == before


@pytest.mark.parametrize("name", ["ann", "lyon", "bob", "张伟", "acme"])
def test_b4_a_lost_entity_is_rebuilt_from_what_names_it(
    memory: AgentMemory, scope: Scope, damage: Damage, name: str
) -> None:
    before = state(memory)
    damage(f"DELETE FROM entity WHERE key = '{name}' AND scope = 1")
    found = memory.check()
    assert "a relation without its entity" in {problem.what for problem in found.problems}
    assert memory.check(fix=True).ok
    assert memory.check().problems == ()
    assert state(memory) == before


def test_b4_all_entities_lost_leave_the_relations_as_they_were(
    memory: AgentMemory, scope: Scope, damage: Damage
) -> None:
    relations = [[str(each) for each in memory.scope(user=user).graph.relations()] for user in ("alice", "bob")]
    damage("DELETE FROM entity")
    assert memory.check(fix=True).ok
    assert memory.check().problems == ()
    assert [[str(each) for each in memory.scope(user=user).graph.relations()] for user in ("alice", "bob")] == relations
    assert scope.graph.entity("Ann").type == "engineer"  # type: ignore[union-attr]


def test_r25_a_relation_to_another_users_entity_is_led_back_to_ones_own(
    memory: AgentMemory, scope: Scope, damage: Damage
) -> None:
    before = state(memory)
    damage("UPDATE relation SET object = (SELECT id FROM entity WHERE scope <> 1 LIMIT 1) WHERE verb = 'knows'")
    mended(memory, "a relation without its entity", "an entity of which nothing is told")
    assert state(memory) == before


def test_a_fact_that_waits_for_no_question_is_remembered_again(
    memory: AgentMemory, scope: Scope, damage: Damage
) -> None:
    damage("DELETE FROM question")
    mended(memory, "a fact that waits for no question")
    waited = scope.get("rome")
    assert waited is not None
    assert waited.status is Status.ACTIVE
    assert waited.text in [hit.record.text for hit in scope.search("Ann lives in Rome")]


@pytest.mark.parametrize(
    "table", ["relation", "entity", "alias", "trait", "apart", "rule", "pending", "question", "vault"]
)
def test_rows_of_nobody_go(memory: AgentMemory, scope: Scope, damage: Damage, path: Path, table: str) -> None:
    before = state(memory)
    damage(add(table, scope=LOST, **({"entity": 777} if table == "trait" else {})))
    assert "rows of a scope that is not there" in {problem.what for problem in memory.check().problems}
    assert memory.check(fix=True).ok
    assert memory.check().problems == ()
    raw = sqlite3.connect(path)
    assert raw.execute(f"SELECT count(*) FROM {table} WHERE scope = {LOST}").fetchone() == (0,)
    raw.close()
    assert state(memory) == before


def test_a_lost_record_takes_what_was_read_from_it_out_of_the_graph(
    memory: AgentMemory, scope: Scope, damage: Damage
) -> None:
    assert scope.graph.neighbours("张伟") != []
    damage("DELETE FROM record WHERE id = 'acme'")
    found = memory.check()
    assert {"a relation from no record", "a vector without a record"} <= {problem.what for problem in found.problems}
    assert memory.check(fix=True).ok
    assert memory.check().problems == ()
    assert scope.graph.neighbours("张伟") == []
    assert "Ann lives in Lyon" in [str(each) for each in scope.graph.relations()]


def test_another_process_sees_the_mended_graph(memory: AgentMemory, scope: Scope, damage: Damage, path: Path) -> None:
    import subprocess
    import sys

    damage("DELETE FROM entity WHERE key = 'ann'")
    code = f"from shared_core import AgentMemory\nassert AgentMemory.open({str(path)!r}, embedder='hashing').check(fix=True).ok"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert memory.check().problems == ()
    assert [each.name for each in scope.graph.neighbours("Ann", "knows")] == ["Bob"]


def test_what_is_whole_is_left_alone(memory: AgentMemory, scope: Scope) -> None:
    before = [state(memory), *itertools.chain(scope.history("lyon"))]
    report = memory.check(fix=True)
    assert (report.ok, report.fixed, report.problems) == (True, 0, ())
    assert [state(memory), *scope.history("lyon")] == before
