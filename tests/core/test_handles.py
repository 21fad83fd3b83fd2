"""Handles and event loops: cells run again, links to a file, use after closing, loops at once, awaits that are cancelled."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory, Scope
from shared_core.errors import InvalidInput, MemoryClosed, OptionConflict, TwinmemError
from shared_core.testing import AsyncFixedEmbedder, ScriptedLLM
from tests import every_verb

TURN = [{"role": "user", "content": "I live in Lyon", "id": "1"}, {"role": "assistant", "content": "Noted", "id": "2"}]


# ---------------------------------------------------------------------- a cell that is run again


def test_a_cell_run_again_opens_the_same_memory_and_doubles_nothing(path: Path) -> None:
    """Nobody closes a handle in a notebook, and every cell is run three times."""
    handles = []
    for _ in range(3):
        memory = AgentMemory.open(str(path), embedder="hashing", settings={"window": {"max_turns": 7}})
        handles.append(memory)
        alice = memory.scope(user="alice")
        alice.add("I like green tea")
        alice.add("The key is under the pot", id="key")
        chat = alice.session("monday")
        chat.add_messages(TURN)
        chat.replace_messages([*TURN, {"role": "user", "content": "And now?"}])
        alice.graph.add("Ann", "works at", "ACME")
    assert [record.text for record in alice.list(kinds=["fact"], where={"source": "user", "id": {"$ne": "key"}})][
        :1
    ] == ["I like green tea"]
    assert alice.count(where={"text": "I like green tea"}) == 1
    assert [message.text for message in chat.messages()] == ["I live in Lyon", "Noted", "And now?"]
    assert len(alice.graph.relations("Ann")) == 1
    with pytest.raises(OptionConflict, match="close that handle first"):
        AgentMemory.open(path, embedder="hashing", settings={"window": {"max_turns": 8}})
    for memory in handles:
        memory.close()
    with AgentMemory.open(path, embedder="hashing", settings={"window": {"max_turns": 8}}) as memory:
        assert memory.check().ok


@pytest.mark.sqlite_only
@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs symbolic links")
def test_a_file_by_any_of_its_names_is_one_memory(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two stores on one file under two names would each keep a log of their own."""
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    link, folder = tmp_path / "link.db", tmp_path / "folder"
    link.symlink_to(path)  # before the file is there
    folder.symlink_to(tmp_path, target_is_directory=True)
    names = [
        str(path),
        f"../{path.name}",
        link,
        folder / path.name,
        f"./.././{path.name}",
        Path(f"../below/../{path.name}"),
    ]
    handles = [AgentMemory.open(name, embedder="hashing") for name in names]
    for n, memory in enumerate(handles):
        memory.scope(user="alice").add(f"through name {n}", id=f"{n}")
    assert {memory.address for memory in handles} == {os.path.realpath(path)}
    assert all(memory.scope(user="alice").count() == len(names) for memory in handles)
    handles[0].close()
    assert handles[1].scope(user="alice").search("through name 3", k=1)[0].record.id == "3"
    for memory in handles[1:]:
        memory.close()
    left = {file.name for file in tmp_path.iterdir() if file.is_file() and not file.is_symlink()}
    assert left == {path.name}


# ---------------------------------------------------------------------- after closing


@pytest.mark.sqlite_only
@pytest.mark.parametrize("other", [False, True], ids=["alone", "beside another handle"])
def test_a_closed_handle_says_so_in_every_verb_and_another_one_goes_on(path: Path, tmp_path: Path, other: bool) -> None:
    memory = AgentMemory.open(path, embedder="hashing", llm=ScriptedLLM(["[]"], repeat=True))
    scope = memory.scope(user="alice")
    given = every_verb.filled(scope, "zqword", "zqsecret")
    if other:
        second = AgentMemory.open(path)
    scope.export(tmp_path / "theirs.jsonl")
    scope.graph.save(tmp_path / "graph.json")
    (tmp_path / "talk.jsonl").write_text('{"role": "user", "content": "I like tea"}', encoding="utf-8")
    # Parts that were made before stay in hand, as in a cell.
    parts = {owner: every_verb.part(scope, owner) for owner in every_verb.OWNERS}
    memory.close()
    memory.close()
    silent = []
    for name, _ in every_verb.calls(given, tmp_path):
        owner, verb = name.split(".")
        ways = every_verb.VERBS.get((owner, verb))
        for way in ways or [None]:
            try:
                if way is None:
                    getattr(parts[owner], verb)
                else:
                    arguments, keywords = way(given, tmp_path)
                    getattr(parts[owner], verb)(*arguments, **keywords)
            except MemoryClosed:
                continue
            except Exception as error:
                silent.append((name, repr(error)))
            else:
                silent.append((name, "worked"))
    assert not silent, silent[:5]
    for call in (
        memory.users,
        memory.check,
        memory.flush,
        memory.purge,
        memory.stats,
        lambda: memory.scope(user="bob"),
    ):
        with pytest.raises(MemoryClosed):
            call()
    if other:
        assert second.scope(user="alice").search("zqword")
        assert second.check().ok
        second.close()


def test_a_handle_is_not_pickled_but_named(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        for each in (memory, memory.scope(user="alice"), memory.scope(user="alice").session("s")):
            with pytest.raises(TwinmemError, match="open it there"):
                pickle.dumps(each)


def _in_a_pool(path: str, n: int) -> tuple[int, str]:
    with AgentMemory.open(path, embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        scope.add(f"from the pool {n}", id=f"p{n}")
        scope.session("pool").add_messages([{"role": "user", "content": f"pool {n}", "id": f"{n}"}])
        return os.getpid(), scope.search("written before", k=1)[0].record.id


@pytest.mark.sqlite_only
def test_r60_a_pool_of_spawned_processes_works_on_the_parents_file(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        memory.scope(user="alice").add("written before", id="before")
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(2, mp_context=context) as pool:
            done = [pool.submit(_in_a_pool, str(path), n) for n in range(8)]
            assert {each.result(60)[1] for each in done} == {"before"}
            assert os.getpid() not in {each.result()[0] for each in done}
        scope = memory.scope(user="alice")
        assert {record.id for record in scope.list(kinds=["fact"], where={"id": {"$ne": "before"}})} >= {
            f"p{n}" for n in range(8)
        }
        assert sorted(message.id or "" for message in scope.session("pool").messages()) == [str(n) for n in range(8)]
        assert memory.check().ok


# ---------------------------------------------------------------------- loops


def test_r76_several_event_loops_at_once_share_a_memory(path: Path) -> None:
    """Each in a thread of its own, as a web server with workers has them."""
    embedder = AsyncFixedEmbedder()
    with AgentMemory.open(path, embedder=embedder) as memory:
        failures: list[str] = []

        async def work(n: int) -> None:
            scope = memory.scope(user="alice" if n % 2 else "bob")
            await asyncio.gather(*(scope.aadd(f"loop {n} note {i}", id=f"{n}-{i}") for i in range(5)))
            await scope.session("all").aadd_messages([{**m, "id": f"{n}{m['id']}"} for m in TURN])
            hits = await scope.asearch(f"loop {n} note 3", k=1)
            assert hits[0].record.text == f"loop {n} note 3"
            scope.add(f"loop {n} in between", id=f"{n}-sync")  # a sync verb inside the running loop

        def loop(n: int) -> None:
            try:
                asyncio.run(work(n))
            except BaseException as error:
                failures.append(repr(error))

        threads = [threading.Thread(target=loop, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not failures, failures
        assert embedder.awaited > 0
        for user, share in (("alice", (1, 3, 5)), ("bob", (0, 2, 4))):
            scope = memory.scope(user=user)
            ids = {f"{n}-{i}" for n in share for i in (*range(5), "sync")}
            assert ids <= {record.id for record in scope.list(kinds=["fact"])}
            said = [str(message.id) for message in scope.session("all").messages()]
            assert [each[0] for each in said[::2]] == [each[0] for each in said[1::2]], "a pair was torn apart"
        assert memory.check().ok


class _Interrupted:
    """A coroutine that is cancelled where it waits for the `at`-th time, as a task would do it."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], at: int) -> None:
        self.coroutine, self.at, self.waits = coroutine, at, 0

    def __await__(self) -> Generator[Any, Any, Any]:
        while True:
            try:
                future = self.coroutine.send(None)
            except StopIteration as stop:
                return stop.value
            self.waits += 1
            if self.waits == self.at:
                if future is not None:
                    future.cancel()
                self.coroutine.throw(asyncio.CancelledError())
            yield future


LATER = [*TURN, {"role": "user", "content": "I like 绿茶 and my name is Ann", "id": "3"}]
WRITES: dict[str, Callable[[Scope], Awaitable[Any]]] = {
    "add": lambda s: s.aadd("a new thing", id="new", triple=("I", "have", "a thing")),
    "add_many": lambda s: s.aadd_many([{"text": f"thing {n}", "id": f"n{n}"} for n in range(3)]),
    "update": lambda s: s.aupdate("old", "changed"),
    "delete": lambda s: s.adelete("old"),
    "add_messages": lambda s: s.session("monday").aadd_messages(LATER),
    "replace_messages": lambda s: s.session("monday").areplace_messages(LATER[1:]),
    "clear": lambda s: s.session("monday").aclear(),
    "delete session": lambda s: s.session("monday").adelete(),
    "graph": lambda s: s.graph.aadd("Bob", "knows", "Ann"),
    "episode": lambda s: s.episodes.aadd("a decision", type="decision"),
    "procedure": lambda s: s.procedures.aadd("brewing", ["boil", "pour"], id="p"),
    "working": lambda s: s.session("monday").working.astart("t", "a task"),
    "profile": lambda s: s.profile.aset("style", "short"),
    "search": lambda s: s.asearch("thing"),
    "context": lambda s: s.session("monday").acontext("Where do I live?"),
    "reply": lambda s: s.session("monday").areply("Hello?"),
    "delete_all": lambda s: s.adelete_all(),
}  # fmt: skip


def _whole(scope: Scope) -> Any:
    """What a scope holds, without random ids and access counts."""
    relations = sorted(str(relation) for relation in scope.graph.relations())
    records = sorted((r.kind, r.text, r.status, r.session or "", str(r.triple)) for r in scope.list(
        where={"status": {"$exists": True}}))  # fmt: skip
    talk = [message.text for message in scope.session("monday").messages()]
    tasks = [task.id for task in scope.session("monday").working.tasks()]
    return relations, records, talk, tasks


@pytest.mark.parametrize("verb", WRITES)
async def test_r09_an_await_cancelled_at_any_point_leaves_all_or_nothing_and_can_be_done_again(verb: str) -> None:
    act = WRITES[verb]

    def fresh() -> AgentMemory:
        llm = ScriptedLLM(["Hello back"], repeat=True) if verb == "reply" else None
        options: dict[str, Any] = {"settings": {"facts": {"llm": "never"}}} if llm else {}
        memory = AgentMemory.open(embedder=AsyncFixedEmbedder(), llm=llm, **options)
        scope = memory.scope(user="alice")
        scope.add("an old thing", id="old")
        scope.session("monday").add_messages(TURN)
        return memory

    with fresh() as memory:
        before = _whole(memory.scope(user="alice"))
        counted = _Interrupted(act(memory.scope(user="alice")), 0)  # type: ignore[arg-type]
        await counted
        after = _whole(memory.scope(user="alice"))
    assert counted.waits >= 1
    loop = asyncio.get_running_loop()
    for at in range(1, counted.waits + 1):
        pool = ThreadPoolExecutor(2)
        loop.set_default_executor(pool)
        with fresh() as memory:
            scope = memory.scope(user="alice")
            with pytest.raises(asyncio.CancelledError):
                await _Interrupted(act(scope), at)  # type: ignore[arg-type]
            pool.shutdown(wait=True)  # what a worker thread had begun goes to its end
            loop.set_default_executor(ThreadPoolExecutor(2))
            left = _whole(scope)
            if verb == "reply":  # two writes: the question is stored before the model is asked
                assert left[2][: len(before[2])] == before[2]
                assert left[2] in (before[2], after[2][:-1], after[2])
            else:
                assert left in (before, after), f"cancelled at wait {at} of {counted.waits}"
            report = memory.check()
            assert report.ok, report.problems
            if verb not in ("delete", "delete session", "clear", "delete_all", "reply", "episode"):
                try:
                    await act(scope)
                except InvalidInput:
                    assert verb == "working"  # it is there already
                assert _whole(scope) == after
