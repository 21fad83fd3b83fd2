"""Vectors outside of the process: what is found is what FAISS finds, and the rows can make it anew at any time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from shared_core import AgentMemory
from shared_core.errors import InvalidInput, StoreUnavailable
from shared_core.recall.outer import Outer, prefix_of
from shared_core.recall.qdrant import QdrantIndex
from shared_core.store.postgres import Address, PostgresStore
from tests.servers import Server

pytestmark = pytest.mark.sqlite_only  # each case names its own store

TOPICS = ("tea", "rain", "bikes", "music", "the cat", "元宝", "乌龙茶", "下雨", "吉他")
LIMIT = 100


class Drawn:
    """A vector for each text, no two alike: where hashed words would tie, an order would be a matter of rounding."""

    name, dimensions = "drawn", 48

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
        return list(np.random.default_rng(seed).standard_normal(self.dimensions))


class Place:
    """A memory with an index outside, and the same memory without one."""

    def __init__(self, dense: Any, address: str, qdrant: str = "unused") -> None:
        self.address, self.embedder = address, Drawn()
        self.recall = {"exact_limit": LIMIT, "dense": dense, "qdrant": qdrant}

    def opened(self, **recall: Any) -> AgentMemory:
        return AgentMemory.open(self.address, embedder=self.embedder, settings=self.settings(**recall))

    def plain(self) -> AgentMemory:
        return self.opened(dense="faiss", exact_limit=10_000)

    def settings(self, **recall: Any) -> dict[str, Any]:
        return {"recall": {**self.recall, **recall}, "facts": {"extract": False}}


@pytest.fixture(params=["qdrant", "pgvector"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "qdrant":
        from qdrant_client import QdrantClient

        client = QdrantClient(":memory:")  # of the test's own: it outlives the handles, as a server would
        yield Place(lambda store: QdrantIndex(client), str(tmp_path / "agent.db"))
        client.close()
        return
    server: Server = request.getfixturevalue("server")
    yield Place("pgvector", server.address(server.schema_of(None)))
    server.clean()


def texts(count: int, first: int = 0) -> list[dict[str, Any]]:
    return [
        {"text": f"Note {n}: {TOPICS[n % 9]} and {TOPICS[n % 7]} {n % 31}", "metadata": {"part": n % 3, "rare": n % 40}}
        for n in range(first, first + count)
    ]


QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("Which tea was it?", {}),
    ("元宝在哪里", {}),
    ("music in the rain", {"where": {"part": 1}}),
    ("乌龙茶", {"where": {"rare": 7}}),
    ("Note 17", {"k": 40}),
]


def answers(memory: AgentMemory) -> list[list[tuple[str, float]]]:
    scope = memory.scope(user="alice")
    return [[(hit.record.id, hit.score) for hit in scope.search(text, **how)] for text, how in QUESTIONS]


def is_outside(memory: AgentMemory, user: str = "alice") -> bool:
    engine = memory._live()
    with engine.store.look() as tx:
        number = memory.scope(user=user)._find(tx)
    assert number is not None
    with engine.recalling(number) as (_, index):
        return isinstance(index.dense, Outer)


def same(one: list[list[tuple[str, float]]], other: list[list[tuple[str, float]]]) -> None:
    for mine, theirs, (_, how) in zip(one, other, QUESTIONS, strict=True):
        if "where" in how:  # only what passes is proposed, so how far cosines lie apart is told by a sample
            assert len(mine) == len(theirs)
            assert len({id for id, _ in mine} & {id for id, _ in theirs}) >= len(theirs) - 2
            continue
        assert [id for id, _ in mine] == [id for id, _ in theirs]
        np.testing.assert_allclose([s for _, s in mine], [s for _, s in theirs], atol=2e-6)


def test_what_is_found_is_what_faiss_finds(place: Place) -> None:
    with place.plain() as memory:
        memory.scope(user="alice").add_many(texts(1_000))
        expected = answers(memory)
    # As many candidates as records: then both rank everything, and every number is the same.
    with place.opened(candidates=1_100) as memory:
        same(answers(memory), expected)
        assert is_outside(memory)


def test_nearest_vectors_are_those_of_exact_search(place: Place) -> None:
    with place.opened() as memory:
        memory.scope(user="alice").add_many(texts(1_000))
        engine = memory._live()
        rng = np.random.default_rng(0)
        with engine.store.look() as tx:
            number = memory.scope(user="alice")._find(tx)
        assert number is not None
        with engine.recalling(number) as (_, index):
            assert isinstance(index.dense, Outer)
            matrix = index.dense.vectors(np.arange(index.dense.size))
            for share in (None, 0.5, 0.05, 0.002):
                query = matrix[rng.integers(1000)] + 0.1 * rng.standard_normal(matrix.shape[1]).astype(np.float32)
                allowed = None if share is None else rng.random(1000) < share
                rows, cosines = index.dense.search(query, 10, allowed)
                mask = np.ones(1000, bool) if allowed is None else allowed
                scores = np.where(mask, matrix @ query, -9)
                best = np.sort(scores)[::-1][: min(10, int(mask.sum()))]
                np.testing.assert_allclose(cosines, best, atol=2e-3)
                assert mask[rows].all()


def test_a_small_scope_stays_in_the_process_until_it_grows(place: Place) -> None:
    with place.opened() as memory:
        scope = memory.scope(user="alice")
        scope.add_many(texts(LIMIT))
        assert not is_outside(memory)
        scope.add_many(texts(LIMIT, LIMIT))
        scope.search("tea")
        scope.add("one more")
        assert scope.search("one more", k=1)[0].record.text == "one more"
        assert is_outside(memory)


def test_what_changes_is_found_anew_and_what_is_erased_never(place: Place) -> None:
    with place.opened() as memory:
        scope = memory.scope(user="alice")
        records = scope.add_many(texts(300))
        scope.search("tea")
        scope.update(records[5].id, "Zanzibar is warm")
        scope.delete(records[6].id)
        added = scope.add("鲸鱼在唱歌")
        assert scope.search("Zanzibar", k=1)[0].record.id == records[5].id
        assert scope.search("鲸鱼", k=1)[0].record.id == added.id
        assert records[6].id not in {hit.record.id for hit in scope.search(records[6].text, k=300)}
        assert scope.search(records[5].text, k=1)[0].record.id != records[5].id
        found = answers(memory)
    with place.opened() as memory:  # another process, which finds it current
        same(answers(memory), found)


def collections(memory: AgentMemory) -> list[str]:
    engine = memory._live()
    with engine.store.look() as tx:
        prefix = prefix_of(tx, engine.store.address)
    return engine.indexes.outside().collections(prefix)


def drop_all(memory: AgentMemory) -> int:
    outside = memory._live().indexes.outside()
    names = collections(memory)
    for name in names:
        outside.drop(name)
    return len(names)


def test_an_index_that_was_dropped_is_made_anew_from_the_rows(place: Place) -> None:
    with place.opened() as memory:
        memory.scope(user="alice").add_many(texts(400))
        before = answers(memory)
        assert drop_all(memory) == 1
        memory._live().indexes.drop()
        same(answers(memory), before)
        assert drop_all(memory) == 1


def test_who_is_forgotten_leaves_nothing_outside(place: Place) -> None:
    with place.opened() as memory:
        memory.scope(user="alice").add_many(texts(200))
        memory.scope(user="bob").add_many(texts(200))
        for user in ("alice", "bob"):
            memory.scope(user=user).search("tea")
        outside = memory._live().indexes.outside()
        assert len(collections(memory)) == 2
        memory.forget("alice")
        assert len(collections(memory)) == 1
        memory.scope(user="bob").delete_all()
        assert all(
            not len(outside.search(name, np.ones(_dimensions(memory), np.float32), 5)) for name in collections(memory)
        )


def test_what_is_erased_is_gone_outside_before_the_receipt(place: Place) -> None:
    with place.opened() as memory:
        scope = memory.scope(user="alice")
        records = scope.add_many(texts(200))
        scope.search("tea")
        outside = memory._live().indexes.outside()
        name = collections(memory)[0]
        query = np.ones(_dimensions(memory), np.float32)
        assert len(outside.search(name, query, 500)) == 200
        scope.delete(records[3].id)
        assert len(outside.search(name, query, 500)) == 199


def _dimensions(memory: AgentMemory) -> int:
    found = memory._live().model.dimensions
    assert found is not None
    return found


def test_a_backup_that_is_put_back_meets_nothing_of_what_came_after_it(tmp_path: Path) -> None:
    from shared_core.store.backup import restore

    place = Place("qdrant", str(tmp_path / "agent.db"), str(tmp_path / "qdrant"))
    place.recall["exact_limit"] = 50
    with place.opened() as memory:
        scope = memory.scope(user="alice")
        scope.add_many(texts(60))
        memory.backup(tmp_path / "copy.db")
        scope.add_many(texts(30, 500))
        scope.search("tea")
    restore(str(tmp_path / "copy.db"), place.address, replace=True)
    with place.opened(candidates=500) as memory:
        memory.scope(user="alice").add_many(texts(40, 2_000))
        found = answers(memory)
    with place.plain() as memory:
        same(found, answers(memory))


def test_pgvector_makes_lists_where_they_are_worth_it(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared_core.store.pgvector._WORTH", 200)
    place = Place("pgvector", server.address(server.schema_of(None)))
    try:
        with place.opened() as memory:
            scope = memory.scope(user="alice")
            scope.add_many(texts(400))
            asked = [item["text"] for item in texts(2_400)]
            assert scope.search(asked[17], k=1)[0].record.text == asked[17]
            scope.add_many(texts(2_000, 400))
            assert scope.search(asked[1900], k=1)[0].record.text == asked[1900]
        with psycopg.connect(server.uri) as connection:
            schema = Address(place.address).schema
            made = connection.execute(
                "SELECT indexname FROM pg_indexes WHERE schemaname = %s AND indexname ~ '_[0-9]+$'", (schema,)
            )
            assert len(made.fetchall()) == 1
    finally:
        server.clean()


def test_a_role_finds_its_users_vectors_only(server: Server) -> None:
    place = Place("pgvector", server.address(server.schema_of(None)))
    try:
        with place.opened() as memory:
            for user in ("alice", "bob"):
                memory.scope(user=user).add_many(texts(200))
                memory.scope(user=user).search("tea")
        store = PostgresStore(place.address)
        with psycopg.connect(server.uri, autocommit=True) as connection:
            connection.execute("DROP ROLE IF EXISTS reads_vectors")
            connection.execute("CREATE ROLE reads_vectors LOGIN")
        store.isolate("reads_vectors")
        store.close()
        with psycopg.connect(server.uri, autocommit=True) as connection:
            connection.execute(f'SET search_path TO "{Address(place.address).schema}"')
            total = connection.execute("SELECT count(DISTINCT scope) FROM dense").fetchone()
            connection.execute("SET ROLE reads_vectors")
            connection.execute("SELECT set_config('twinmem.user', 'alice', false)")
            seen = connection.execute("SELECT count(DISTINCT scope) FROM dense").fetchone()
        assert (total, seen) == ((2,), (1,))
    finally:
        server.clean()
        with psycopg.connect(server.uri, autocommit=True) as connection:
            connection.execute("DROP OWNED BY reads_vectors")
            connection.execute("DROP ROLE reads_vectors")


def test_pgvector_is_for_a_server(tmp_path: Path) -> None:
    place = Place("pgvector", str(tmp_path / "agent.db"))
    with place.opened() as memory:
        memory.scope(user="alice").add_many(texts(200))
        with pytest.raises(InvalidInput, match="needs a memory on PostgreSQL"):
            memory.scope(user="alice").search("tea")


def test_a_qdrant_that_does_not_answer_is_a_clear_error(tmp_path: Path) -> None:
    place = Place("qdrant", str(tmp_path / "agent.db"), "http://127.0.0.1:1")
    with place.opened() as memory:
        memory.scope(user="alice").add_many(texts(200))
        with pytest.raises(StoreUnavailable, match="Qdrant can't be reached"):
            memory.scope(user="alice").search("tea")


def test_an_index_of_ones_own_is_a_callable(tmp_path: Path) -> None:
    made: list[QdrantIndex] = []

    def mine(store: object) -> QdrantIndex:
        made.append(QdrantIndex(":memory:"))
        return made[-1]

    factory: Callable[[object], QdrantIndex] = mine
    settings = {"recall": {"exact_limit": 50, "dense": factory}}
    with AgentMemory.open(str(tmp_path / "agent.db"), embedder="hashing", settings=settings) as memory:
        memory.scope(user="alice").add_many(texts(120))
        assert memory.scope(user="alice").search(texts(1)[0]["text"], k=1)[0].record.text == texts(1)[0]["text"]
    assert len(made) == 1
