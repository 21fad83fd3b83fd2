"""A scope's index, kept current change by change, against one built from the rows at once; and the cache of them."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shared_core import AgentMemory, Scope
from shared_core.recall import cache as cache_module
from shared_core.recall import index as index_module
from shared_core.recall.dense import FaissIndex
from shared_core.recall.growing import Column
from shared_core.recall.index import ScopeIndex
from shared_core.recall.text import query_terms, term_id
from shared_core.store import cascade, ledger
from shared_core.testing import FixedEmbedder

WORDS = "tea coffee walrus otter 茶 咖啡 red blue Lyon Oslo bike train 会议 book".split()


def content(index: ScopeIndex) -> dict[str, dict[str, Any]]:
    """What an index knows of each live record, told by ids instead of slots."""
    found: dict[str, dict[str, Any]] = {}
    names = {code: name for name, code in index._speakers.items()}
    sessions = {code: number for number, code in index._sessions.items()}
    query = np.linspace(-1, 1, 16, dtype=np.float32)
    lexical = index.lexical.scores({term_id(term): 1.0 for word in WORDS for term in query_terms(word)})
    for slot in np.flatnonzero(index["live"]).tolist():
        rows = np.arange(index["row"][slot], index["row"][slot] + index["rows"][slot])
        assert (index.owner[rows] == slot).all()
        found[index.ids[slot]] = {
            **{name: int(index[name][slot]) for name in ("seq", "kind", "status", "position", "time", "created", "shape",
                                                         "valid_from", "valid_until", "expires", "length", "rows")},
            "session": sessions.get(int(index["session"][slot])),
            "speaker": names[int(index["speaker"][slot])],
            "before": index.ids[index["before"][slot]] if index["before"][slot] >= 0 else None,
            "after": index.ids[index["after"][slot]] if index["after"][slot] >= 0 else None,
            "words": round(float(lexical[slot]), 4),
            "meaning": [round(float(x), 5) for x in index.dense.similarities(query, rows)] if index.dense else [],
        }  # fmt: skip
        assert index.slot_of[int(index["seq"][slot])] == slot
    assert len(found) == len(index) == len(index.slot_of) == len(index.lexical)
    return found


def built_anew(scope: Scope) -> ScopeIndex:
    engine = scope._engine
    index = ScopeIndex(engine.model.dimensions, engine.settings.recall)
    with engine.store.read() as tx:
        number = scope._find(tx) or 0
        revision = tx.rows("scope_horizon", {"scope": number})[0][0]
        index.apply(
            tx.each("changed", {"scope": number, "revision": -1, "embedder": engine.embedder(tx)}), [], revision
        )
    return index


def change(scope: Scope, chance: random.Random, step: int) -> None:
    def text() -> str:
        return " ".join(chance.choices(WORDS, k=chance.randrange(1, 6))) + f" n{step}"

    chat = scope.session(chance.choice(["a", "b"]))
    records = scope.list()
    verb = chance.choice(["add", "add_many", "update", "delete", "talk", "talk", "again", "replace", "clear", "long"])
    if verb == "add":
        scope.add(text(), id=chance.choice([None, f"r{step % 7}"]))
    elif verb == "long":
        scope.add(" ".join(text() for _ in range(60)), id=f"long{step % 2}")
    elif verb == "add_many":
        scope.add_many([{"text": text(), "metadata": {"n": n}} for n in range(chance.randrange(5))])
    elif verb == "update" and records:
        record = chance.choice(records)
        if record.kind == "turn":
            scope.update(record.id, importance=0.9)
        else:
            scope.update(record.id, text(), importance=0.1)
    elif verb == "delete" and records:
        scope.delete(chance.choice(records).id)
    elif verb == "talk":
        chat.add_messages([{"role": chance.choice(["user", "assistant"]), "name": chance.choice([None, "Ann"]),
                            "content": text()} for _ in range(chance.randrange(4))])  # fmt: skip
    elif verb == "again" and (known := chat.messages()):
        message = chance.choice(known)
        chat.add_messages([message.model_copy(update={"content": text()})])
    elif verb == "replace":
        kept = [m for m in chat.messages() if chance.random() < 0.8]
        chat.replace_messages([*kept, {"role": "user", "content": text()}])
    elif verb == "clear" and chance.random() < 0.3:
        chat.clear()


@pytest.mark.parametrize("seed", range(6))
def test_r33_r34_an_index_kept_current_is_the_one_built_anew(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(index_module, "_FEW_DEAD", 5 if seed % 2 else 1_000)  # with and without compaction
    monkeypatch.setattr(index_module, "_CHUNK", 3)
    chance = random.Random(seed)
    settings = {"facts": {"extract": False}, "recall": {"exact_limit": 30 if seed == 5 else 1_000, "probes": 1_000}}
    with AgentMemory.open(embedder=FixedEmbedder(dimensions=16), settings=settings) as memory:
        scope = memory.scope(user="alice")
        scope.add("first")
        for step in range(70):
            change(scope, chance, step)
            if chance.random() < 0.4:  # otherwise several changes are taken in together
                scope.search("walrus", where={"n": 1} if chance.random() < 0.5 else None)
        talks = {session: [r.id for r in scope.session(session).replace_messages(scope.session(session).messages())]
                 for session in ("a", "b")}  # fmt: skip
        with scope._engine.recalling(1) as (_, index):
            chained = content(index)
            assert chained == content(built_anew(scope))
            for turns in talks.values():
                assert [chained[id]["before"] for id in turns] == [None, *turns[:-1]][: len(turns)]
                assert [chained[id]["after"] for id in turns] == [*turns[1:], None][: len(turns)]
        expected = {r.id for r in scope.list(where={"n": 1})}
        assert {h.record.id for h in scope.search("walrus tea", k=500, where={"n": 1})} == expected


def test_columns_grow_and_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    column, expected = Column(np.int64), []
    for n in range(200):
        column.extend(range(n % 7))
        expected += range(n % 7)
    assert column.values.tolist() == expected
    slots = np.arange(0, len(expected), 3)
    column.keep(slots)
    column.extend([5])
    assert column.values.tolist() == [*expected[::3], 5]
    assert column.nbytes >= column.values.nbytes


# ---------------------------------------------------------------------- faults


def test_r41_a_build_that_fails_once_is_made_up_for_at_the_next_search(monkeypatch: pytest.MonkeyPatch) -> None:
    real, failures = FaissIndex.add, iter([True])

    def fails_once(self: FaissIndex, vectors: Any) -> None:
        if next(failures, False):
            raise MemoryError("no room")
        real(self, vectors)

    with AgentMemory.open(embedder=FixedEmbedder()) as memory:
        scope = memory.scope(user="alice")
        scope.add("tea")
        scope.search("tea")
        scope.add_many(["coffee", "milk"])
        monkeypatch.setattr(FaissIndex, "add", fails_once)
        with pytest.raises(MemoryError):
            scope.search("coffee")
        assert {h.record.text for h in scope.search("coffee")} == {"tea", "coffee", "milk"}


def test_r41_a_write_that_fails_half_way_leaves_nothing_and_can_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    real = ledger._insert

    def dies(*arguments: Any) -> None:
        real(*arguments)
        raise OSError("disk full")

    with AgentMemory.open(embedder=FixedEmbedder()) as memory:
        scope = memory.scope(user="alice")
        scope.add("tea")
        with monkeypatch.context() as patch:
            patch.setattr(ledger, "_insert", dies)
            for attempt in (
                lambda: scope.add("coffee"),
                lambda: scope.add_many(["coffee", "milk"]),
                lambda: scope.session("s").add_messages([{"role": "user", "content": "coffee"}]),
            ):
                with pytest.raises(OSError, match="disk full"):
                    attempt()
        assert [r.text for r in scope.list()] == [h.record.text for h in scope.search("coffee")] == ["tea"]
        assert scope.sessions() == []
        assert scope.add("coffee").seen == 1
        assert scope.count() == 2
        report = memory.check()
        assert (report.ok, report.vectors) == (True, 2)


# ---------------------------------------------------------------------- the cache


def test_a_cache_too_small_for_two_scopes_still_gives_everyone_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Indexes leave while others wait for them; two threads must never hold one at the same time."""
    inside: dict[int, int] = {}
    real = cache_module.IndexCache._load_fields

    def watched(self: Any, tx: Any, scope: int, index: ScopeIndex, where: Any) -> None:
        me = threading.get_ident()
        assert inside.setdefault(id(index), me) == me, "two threads use one index"
        try:
            real(self, tx, scope, index, where)
        finally:
            inside.pop(id(index), None)

    monkeypatch.setattr(cache_module.IndexCache, "_load_fields", watched)
    failures: list[str] = []
    with AgentMemory.open(embedder="hashing", settings={"cache": {"bytes": 1}}) as memory:
        scopes = [memory.scope(user=f"u{n}") for n in range(3)]
        for n, scope in enumerate(scopes):
            scope.add_many([{"text": f"note {n} zebra{m}", "metadata": {"m": m}} for m in range(30)])

        def work(thread: int) -> None:
            chance = random.Random(thread)
            try:
                for step in range(40):
                    n = chance.randrange(3)
                    if chance.random() < 0.3:
                        scopes[n].add(f"more {n} by {thread} {step}")
                    if chance.random() < 0.1:
                        memory._engine.indexes.drop()
                    m = chance.randrange(30)
                    hits = scopes[n].search(f"zebra{m}", k=1, where={"m": {"$gte": 0}})
                    assert hits[0].record.text == f"note {n} zebra{m}", hits
            except BaseException as error:
                failures.append(repr(error))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures[:3]
        assert len(memory._engine.indexes) <= 2
        assert memory.check().ok


def test_an_index_further_behind_than_the_log_of_erasures_is_built_anew(
    monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    """Otherwise it would go on answering with what another process has erased."""
    monkeypatch.setattr(cascade, "_LOG", 3)
    with AgentMemory.open(path, embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        scope.add_many([{"text": f"note {n} zebra", "id": f"{n}"} for n in range(9)])
        assert len(scope.search("zebra", k=20)) == 9
        for n in range(5):
            scope.delete(f"{n}")
        assert {h.record.id for h in scope.search("zebra", k=20)} == {"5", "6", "7", "8"}
        scope.delete("5")
        assert {h.record.id for h in scope.search("zebra", k=20)} == {"6", "7", "8"}


@pytest.fixture
def counted(path: Path) -> Iterator[tuple[AgentMemory, Scope]]:
    with AgentMemory.open(path, embedder="hashing", settings={"busy_timeout": 5}) as memory:
        scope = memory.scope(user="alice")
        scope.add_many([f"note {n}" for n in range(40)])
        yield memory, scope


@pytest.mark.timing
def test_counting_what_was_recalled_never_fails_or_slows_a_search(
    counted: tuple[AgentMemory, Scope], monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    from shared_core import engine as engine_module

    memory, scope = counted
    monkeypatch.setattr(engine_module, "_COUNTED", 10)
    with memory._engine.store.write():  # somebody else is writing all the while
        begin = time.perf_counter()
        thread = threading.Thread(target=lambda: [scope.search("note", k=20) for _ in range(3)])
        thread.start()
        thread.join(4)
        assert not thread.is_alive()
        assert time.perf_counter() - begin < 3
    assert sum(r.accesses for r in scope.list()) == 60
    memory.flush()
    assert sum(r.accesses for r in scope.list()) == 60
    assert memory._engine._accesses == {}
