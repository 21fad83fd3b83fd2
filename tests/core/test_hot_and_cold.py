"""Hot scopes stay in memory, cold ones are loaded when asked for, and memory stays under its limit (D9)."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

from shared_core import AgentMemory

SCOPES, RECORDS, LIMIT = 300, 50, 1_500_000


def fill(memory: AgentMemory) -> None:
    for number in range(SCOPES):
        memory.scope(user=f"user {number}").add_many(
            [f"user {number} keeps item{n} in box{number * 1_000 + n}" for n in range(RECORDS)]
        )


def asked(memory: AgentMemory, number: int, n: int) -> bool:
    [hit] = memory.scope(user=f"user {number}").search(f"box{number * 1_000 + n}", k=1)
    return hit.record.text == f"user {number} keeps item{n} in box{number * 1_000 + n}"


def test_d9_three_hundred_scopes_under_a_limit_stay_right_and_small(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing", settings={"cache": {"bytes": LIMIT}}) as memory:
        fill(memory)
        for _ in range(20):
            assert asked(memory, 7, 3)
        hot = memory._engine.indexes._entries[next(k for k in memory._engine.indexes._entries)]
        for number in range(SCOPES):
            assert asked(memory, number, number % RECORDS)
            stats = memory.stats()
            assert stats.bytes <= LIMIT
        stats = memory.stats()
        assert stats.limit == LIMIT
        assert stats.evicted > 100
        assert 3 <= len(stats.scopes) < SCOPES
        assert stats.scopes[0].user == "user 7", "the one that is used most is still there"
        assert any(entry is hot for entry in memory._engine.indexes._entries.values()), "and never was loaded again"
        memory.scope(user="user 250").add("a new thing in boxnew")
        assert memory.scope(user="user 250").search("boxnew", k=1)[0].record.text == "a new thing in boxnew"
        assert asked(memory, 0, 0)


def test_d9_what_memory_really_holds_follows_the_limit(path: Path) -> None:
    """The bytes that are counted are those that are held, so that the limit means something."""
    with AgentMemory.open(
        path, embedder="hashing", settings={"cache": {"bytes": 100_000_000, "embeddings": 0}}
    ) as memory:
        fill(memory)
        assert asked(memory, 0, 0)
        gc.collect()
        tracemalloc.start()
        for number in range(1, 200):
            memory.scope(user=f"user {number}").search("item3", k=1)
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        counted = memory.stats().bytes
    # Vectors lie in FAISS, which tracemalloc does not see; what it sees must not be more than what is counted for all.
    assert held <= 1.5 * counted, (held, counted)


def test_d9_graphs_leave_by_the_same_rule_and_are_counted(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing", settings={"graph": {"cached": 30}}) as memory:
        for number in range(20):
            scope = memory.scope(user=f"user {number}")
            for n in range(5):
                scope.graph.add(f"Ann {number}", "knows", f"Bob {n}")
        for _ in range(10):
            memory.scope(user="user 4").graph.neighbours("Ann 4")
        for number in range(20):
            assert len(memory.scope(user=f"user {number}").graph.neighbours(f"Ann {number}")) == 5
        graphs = {each.user: each.relations for each in memory.stats().scopes if each.relations}
        assert sum(graphs.values()) <= 30
        assert graphs["user 4"] == 5


async def test_d9_stats_name_what_is_hot_in_async_too(path: Path) -> None:
    async with await AgentMemory.aopen(path, embedder="hashing") as memory:
        await memory.scope(user="alice", agent="cook").aadd("tea")
        await memory.scope(user="alice", agent="cook").asearch("tea")
        stats = await memory.astats()
        assert [(each.user, each.agent) for each in stats.scopes] == [("alice", "cook")]
        assert stats.scopes[0].uses >= 1
        assert stats.bytes == stats.scopes[0].bytes > 0
        memory.forget("alice")
        assert memory.stats().scopes == ()
