"""Async verbs: the same results, a loop that is never blocked, and sync verbs inside a running loop (R75, R76)."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory, Receipt, Scope
from shared_core.testing import AsyncFixedEmbedder, FixedEmbedder, ManualClock, ScriptedLLM

TALK = [{"role": "user", "content": "I moved to Lyon", "id": "1"}, {"role": "assistant", "content": "Nice!", "id": "2"}]


def plain(value: Any) -> Any:
    """A result without what is random in it: the ids that were made up, and hashes under a database's own key."""
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, Receipt):
        return value.model_dump(exclude={"tombstones"})
    return (
        value.model_dump(exclude={"record": {"id"}} if hasattr(value, "record") else None)
        if hasattr(value, "model_dump")
        else value
    )


SCRIPT: list[tuple[str, str, tuple[Any, ...], dict[str, Any]]] = [
    ("scope", "export", ("empty.jsonl",), {}), ("scope", "import_", ("empty.jsonl",), {}),
    ("scope", "add", ("I live in Lyon",), {"id": "x", "metadata": {"a": 1}}),
    ("scope", "add_many", ([{"text": "tea", "id": "t"}, {"text": "milk", "id": "m"}],), {}),
    ("scope", "update", ("x", "I live in Oslo"), {"importance": 0.9}),
    ("chat", "add_messages", (TALK,), {}),
    ("chat", "replace_messages", ([*TALK, {"role": "user", "content": "And tea?", "id": "3"}],), {}),
    ("scope", "search", ("Where do I live?",), {"k": 3, "explain": True}),
    ("chat", "context", ("tea",), {"max_tokens": 300}),
    ("chat", "messages", (2,), {}), ("chat", "window", (), {"max_turns": 1}),
    ("chat", "resolve", ("that",), {}), ("chat", "tools", (), {"last": 2}),
    ("chat", "summarise", (), {"keep_turns": 1}), ("chat", "take_snapshot", (), {}),
    ("episodes", "timeline", (), {"hours": 1}), ("episodes", "similar", ("tea",), {"k": 2}), ("episodes", "summary", ("s",), {}),
    ("procedures", "add", ("brewing tea", ["boil", "pour"]), {"id": "p"}), ("procedures", "outcome", ("p", True), {}),
    ("procedures", "match", ("brewing tea",), {"k": 2}), ("procedures", "mine", (), {}),
    ("scope", "get", ("x",), {}), ("scope", "list", (), {"order": "-id"}), ("scope", "count", (), {"where": {"a": 1}}),
    ("scope", "history", ("x",), {}), ("scope", "sources", ("x",), {}), ("scope", "sessions", (), {}),
    ("scope", "stats", (), {}), ("memory", "users", (), {}), ("memory", "agents", ("alice",), {}),
    ("memory", "check", (), {"fix": True}), ("memory", "flush", (), {}), ("memory", "reembed", (), {}),
    ("chat", "end", (), {}), ("scope", "delete", ("t",), {}), ("chat", "clear", (), {}), ("chat", "delete", (), {}),
    ("scope", "delete_all", (), {}), ("memory", "forget", ("alice",), {}), ("memory", "purge", (), {}),
    ("memory", "verify", (Receipt(count=0, at=datetime(2026, 1, 1, tzinfo=UTC)),), {}),
]  # fmt: skip


async def test_r75_async_verbs_give_what_the_sync_ones_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    clock = ManualClock()
    with (
        AgentMemory.open(embedder=FixedEmbedder(), clock=clock, settings={"facts": {"extract": False}}) as one,
        AgentMemory.open(embedder=AsyncFixedEmbedder(), clock=clock, settings={"facts": {"extract": False}}) as two,
    ):

        def parts(memory: AgentMemory) -> dict[str, Any]:
            scope = memory.scope(user="alice")
            return {
                "memory": memory, "scope": scope, "chat": scope.session("s"), "episodes": scope.episodes,
                "procedures": scope.procedures,
            }  # fmt: skip

        sync, twins = parts(one), parts(two)
        for owner, verb, arguments, keywords in SCRIPT:
            expected = getattr(sync[owner], verb)(*arguments, **keywords)
            found = await getattr(twins[owner], f"a{verb}")(*arguments, **keywords)
            assert plain(found) == plain(expected), verb
            clock.advance(seconds=1)
        for verb, arguments in (("add", (" ",)), ("search", ("x", "wrong")), ("update", ("nobody", "x"))):
            with pytest.raises(Exception) as first:
                getattr(sync["scope"], verb)(*arguments)
            with pytest.raises(first.type) as second:
                await getattr(twins["scope"], f"a{verb}")(*arguments)
            assert str(second.value) == str(first.value) or first.type is TypeError


def test_the_script_uses_every_verb_there_is() -> None:
    import sys

    sys.path.insert(0, str(Path(__file__).parent))
    try:
        from test_api import SIGNATURES
    finally:
        sys.path.pop(0)
    used = {verb for _, verb, _, _ in SCRIPT}
    assert {v for verbs in SIGNATURES.values() for v in verbs} - used <= {
        "open",
        "register",
        "scope",
        "session",
        "close",
    }


class Sleepy(FixedEmbedder):
    """A sync embedder that takes its time."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        time.sleep(0.2)
        return super().embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        time.sleep(0.2)
        return super().embed_query(text)


@pytest.mark.timing
async def test_r75_the_loop_goes_on_while_the_memory_works(path: Path) -> None:
    gaps: list[float] = []

    async def tick() -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.01)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    async with await AgentMemory.aopen(path, embedder=Sleepy()) as memory:
        scope = memory.scope(user="alice")
        await scope.aadd("warm")
        await scope.asearch("warm up")
        ticker = asyncio.create_task(tick())
        await asyncio.gather(
            scope.aadd("I moved to Lyon"), scope.aadd_many([f"note {n}" for n in range(500)]), scope.asearch("Lyon"),
            scope.aget("x"), scope.alist(), scope.session("s").aadd_messages(TALK),
        )  # fmt: skip
        await scope.session("s").acontext("Where do I live?")
        await memory.apurge()
        ticker.cancel()
    assert len(gaps) > 20
    # The worst gap of a busy machine says nothing; a blocked loop would show 0.2 s in several.
    assert sorted(gaps)[-2] < 0.1, sorted(gaps)[-5:]


async def test_r75_a_hundred_searches_at_once_are_all_answered(path: Path) -> None:
    async with await AgentMemory.aopen(path, embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        await scope.aadd_many([f"note {n} zebra{n}" for n in range(100)])
        found = await asyncio.gather(*(scope.asearch(f"zebra{n}", k=1) for n in range(100)))
        assert [hits[0].record.text for hits in found] == [f"note {n} zebra{n}" for n in range(100)]


async def test_r76_sync_verbs_work_inside_a_running_loop(path: Path) -> None:
    kind = type(asyncio.get_running_loop())
    with AgentMemory.open(path, embedder=AsyncFixedEmbedder()) as memory:
        scope = memory.scope(user="alice")
        scope.add("I moved to Lyon")
        scope.session("s").add_messages(TALK)
        assert scope.search("Lyon")[0].record.text == "I moved to Lyon"
        assert scope.session("s").context("Lyon").tokens > 0
        assert memory.check().ok
        assert memory._engine.model.embedder.awaited == 0
    assert type(asyncio.get_running_loop()) is kind


def test_r76_one_memory_serves_loops_that_come_and_go(memory: AgentMemory) -> None:
    scope = memory.scope(user="alice")

    async def once(scope: Scope, n: int) -> int:
        await scope.aadd(f"note {n}")
        return len(await scope.asearch("note", k=50))

    assert [asyncio.run(once(scope, n)) for n in range(3)] == [1, 2, 3]


class OwnAsync(ScriptedLLM):
    """A model with an async form; its sync form would hold up whoever waits for it."""

    def __call__(self, prompt: str) -> str:
        raise AssertionError("the async form was not used")

    async def acall(self, prompt: str) -> str:
        return super().__call__(prompt)


async def test_r75_the_async_form_of_a_model_is_awaited_by_whatever_asks_it(clock: ManualClock) -> None:
    told = '{"facts": [{"text": "Plays the cello", "subject": "user", "predicate": "plays", "object": "cello"}]}'
    llm = OwnAsync([told, "You play the cello."])
    with AgentMemory.open(embedder="hashing", clock=clock, llm=llm) as memory:
        scope = memory.scope(user="alice")
        await scope.session("s").aadd_messages([{"role": "user", "content": "Guess who drags the biggest case"}])
        assert [record.text for record in scope.list(kinds=["fact"])] == ["Plays the cello"]
        assert await scope.session("t").areply("What do I play?") == "You play the cello."
