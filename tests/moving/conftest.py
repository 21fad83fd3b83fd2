"""A memory that has something of everything, and the whole of it as plain values, read past the code under test."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from shared_core import AgentMemory, Scope
from shared_core.store import ledger
from shared_core.store.rows import dump
from shared_core.testing import ManualClock

COMPUTED = {
    "record": {"seq", "scope", "revision", "session"},
    "session": {"id", "scope"},
    "vector": {"id", "record", "embedder"},
    "access": {"record"},
    "provenance": {"record", "source"},
    "pending": {"id", "scope", "session", "record"},
    "question": {"id", "scope", "record", "other"},
    "entity": {"id", "scope"},
    "relation": {"id", "scope", "subject", "object", "record", "revision"},
    "alias": {"entity", "target", "record", "scope"},
    "apart": {"scope", "one", "other"},
    "trait": {"entity", "record", "scope"},
    "rule": {"scope"},
    "outcome": {"record"},
    "trace": {"reply", "record"},
}
"""Columns that are numbers of rows; `STATE` gives what they point at."""

STATE = {
    "record": ("s.name", "FROM record x LEFT JOIN session s ON s.id = x.session WHERE x.scope = :scope"),
    "session": ("x.id > 0", "FROM session x WHERE x.scope = :scope"),
    "vector": ("r.id, e.name, e.dimensions", "FROM vector x JOIN record r ON r.seq = x.id >> 8 JOIN embedder e"
               " ON e.id = (x.id & 255) WHERE r.scope = :scope"),
    "access": ("r.id", "FROM access x JOIN record r ON r.seq = x.record WHERE r.scope = :scope"),
    "provenance": ("r.id, t.id", "FROM provenance x JOIN record r ON r.seq = x.record JOIN record t ON t.seq = x.source"
                   " WHERE r.scope = :scope"),
    "pending": ("r.id, s.name", "FROM pending x JOIN record r ON r.seq = x.record LEFT JOIN session s ON s.id = x.session"
                " WHERE x.scope = :scope"),
    "question": ("n.id, o.id", "FROM question x JOIN record n ON n.seq = x.record JOIN record o ON o.seq = x.other"
                 " WHERE x.scope = :scope"),
    "entity": ("1", "FROM entity x WHERE x.scope = :scope"),
    "relation": ("a.key, b.key, r.id", "FROM relation x JOIN entity a ON a.id = x.subject JOIN entity b ON b.id = x.object"
                 " LEFT JOIN record r ON r.seq = x.record WHERE x.scope = :scope"),
    "alias": ("a.key, b.key, r.id", "FROM alias x JOIN entity a ON a.id = x.entity JOIN entity b ON b.id = x.target"
              " LEFT JOIN record r ON r.seq = x.record WHERE x.scope = :scope"),
    "apart": ("min(a.key, b.key), max(a.key, b.key)", "FROM apart x JOIN entity a ON a.id = x.one"
              " JOIN entity b ON b.id = x.other WHERE x.scope = :scope"),
    "trait": ("a.key, r.id", "FROM trait x JOIN entity a ON a.id = x.entity LEFT JOIN record r ON r.seq = x.record"
              " WHERE x.scope = :scope"),
    "rule": ("1", "FROM rule x WHERE x.scope = :scope"),
    "outcome": ("r.id", "FROM outcome x JOIN record r ON r.seq = x.record WHERE r.scope = :scope"),
    "trace": ("a.id, r.id", "FROM trace x JOIN record a ON a.seq = x.reply JOIN record r ON r.seq = x.record"
              " WHERE a.scope = :scope"),
}  # fmt: skip

State = dict[str, list[tuple[Any, ...]]]


@pytest.fixture
def state() -> Callable[..., State]:
    """`state(path, user)`: every row of a scope, with ids in the place of row numbers, in no particular order."""

    def _state(path: Path, user: str = "alice", agent: str = "default") -> State:
        found: State = {}
        with closing(sqlite3.connect(path)) as connection:
            scope = connection.execute("SELECT id FROM scope WHERE user = ? AND agent = ?", (user, agent)).fetchone()
            for table, (points, rest) in STATE.items():
                columns = [row[1] for row in connection.execute(f"PRAGMA table_xinfo({table})")]
                own = [f"x.{name}" for name in columns if name not in COMPUTED[table]]
                query = f"SELECT {points}{''.join(', ' + name for name in own)} {rest}"
                rows = connection.execute(query, {"scope": scope[0] if scope else -1}).fetchall()
                found[table] = sorted(rows, key=repr)
        return found

    return _state


MESSAGES: list[dict[str, Any]] = [
    {"id": "m1", "role": "user", "content": "我搬到里昂了 🥖", "created_at": datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)},
    {"id": "m2", "role": "assistant", "content": [{"type": "text", "text": "Lyon is lovely"}, {"type": "image", "url": "x"}]},
    {"id": "m3", "role": "assistant", "content": None, "tool_calls": [{"id": "c1", "name": "f", "args": {"城市": "里昂"}}]},
    {"id": "m4", "role": "tool", "content": "21 °C\u2028sunny", "tool_call_id": "c1", "name": "weather"},
]  # fmt: skip


@pytest.fixture
def rich() -> Callable[[Scope], None]:
    """`rich(scope)`: something of everything that can be remembered, in both languages."""

    def _rich(scope: Scope) -> None:
        chat = scope.session("星期一 / ../..")
        chat.add_messages(MESSAGES)
        chat.add_messages([{"role": "user", "content": "Odd", "id": "odd"}])
        scope.session("empty-headed").add_messages([{"role": "user", "content": "hello there", "id": "h"}])
        chat.end()
        odd = {np.str_("k"): np.float32(0.5), "n": np.int64(3), "when": datetime(2026, 1, 1, tzinfo=UTC), "d": date(2026, 1, 1),
               "id": UUID(int=1), "path": Path("a/b"), "set": {"x"}, "nested": {"深": [1, None, True, "\u0000"]}}  # fmt: skip
        scope.add("Alice lives in Paris", triple=("Alice", "lives in", "Paris"), metadata=odd, id="old")
        scope.add("Alice lives in Lyon", triple=("Alice", "lives in", "Lyon"), importance=0.9, confidence=0.7)
        scope.add("told twice"), scope.add("told twice")
        scope.add("张伟就职于 ACME", triple=("张伟", "就职于", "ACME"), entities=["张伟", "ACME"], pinned=True)
        scope.add("If it rains, take the tram", kind="rule", type="habit", source="assistant")
        scope.add(
            "The team met",
            kind="event",
            event_time=datetime(2025, 12, 24, 18, tzinfo=UTC),
            expires_in=timedelta(days=900),
        )
        scope.add("They spoke of cheese", kind="summary")
        scope.add(None, kind="item", id="item/memories/alice/tea", type="memories/alice", metadata={"v": 1})
        graph = scope.graph
        graph.add("Lyon", "lies in", "France", confidence=0.8, attributes={"since": "always"}, source="old")
        graph.add("里昂", "邻近", "日内瓦")
        graph.alias("Lyon", "里昂")
        graph.alias("Alice", "The Boss", source="old")
        graph.describe("Lyon", type="city", attributes={"rivers": 2})
        graph.add("Twin", "is a", "file"), graph.add("twin", "is a", "person")
        graph.split("Twin", "twin")
        graph.rule("lies_in(A, B) & lies_in(B, C) => lies_in(A, C)", name="inside")
        graph.drop_rule(graph.rules()[0].name)
        scope.search("Where does Alice live?"), scope.search("里昂")
        engine = scope._live()
        engine.flush()
        with engine.store.write() as tx:  # what only an LLM, a reply or a strategy would write
            number = scope._find(tx)
            seqs = {row[1]: row[0] for row in tx.rows("scope_seqs", {"scope": number})}
            turn = seqs[ledger.turn_id(chat.id, "m2")]
            session = tx.rows("find_session", {"scope": number, "name": chat.id})[0][0]
            tx.run("add_outcome", (seqs["old"], 1, 1_700_000_000_000_001, "worked 好"))
            tx.run("add_trace", (turn, seqs["old"], 1, 0.25, "memories"))
            tx.run("add_pending", (number, session, turn, "extract", 1_700_000_000_000_002))
            tx.run("add_question", (f"q of {scope.user}", number, "Which?", dump(["a", "b", "both"]), "{}", seqs["old"],
                                    turn, 1_700_000_000_000_003))  # fmt: skip
            tx.run("add_link", (seqs["old"], turn, "rules", 1_700_000_000_000_004))
            kept = {
                "summary": "They moved 到里昂",
                "summarised": 2,
                "snapshot": '{"facts": ["里昂"]}',
                "consolidated": 3,
            }
            tx.run(
                "write_session",
                {"session": session, "created_at": 1_600_000_000_000_000, "state": '{"theirs":[{"n":NaN}]}', **kept},
            )

    return _rich


@pytest.fixture
def opened(tmp_path: Path, clock: ManualClock) -> Callable[..., AgentMemory]:
    """`opened(name)`: a memory in a file of this test, which derives nothing of its own."""

    def _opened(name: str = "agent.db", embedder: Any = "hashing", **settings: Any) -> AgentMemory:
        chosen = {"facts": {"extract": False}, **settings}
        return AgentMemory.open(tmp_path / name, embedder=embedder, clock=clock, settings=chosen)

    return _opened
