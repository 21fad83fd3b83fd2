"""What a user of a LangGraph store would lose (reference 1.5 and its table of defects, section 5)."""

from __future__ import annotations

import asyncio
import datetime as dt
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore, GetOp, InvalidNamespaceError, ListNamespacesOp, PutOp, SearchOp

from langchain_mem import TwinmemStore
from shared_core import AgentMemory
from shared_core.embedding.hashing import HashingEmbedder
from shared_core.errors import InvalidInput, InvalidType
from shared_core.testing import ManualClock

MINE = ("memories", "alice")


class Words(HashingEmbedder):
    """Hashed words under a name of their own, and a record of what was embedded."""

    def __init__(self, name: str = "words") -> None:
        super().__init__(128, name)
        self.seen: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.seen += texts
        return super().embed_documents(texts)


def words() -> Any:
    from langchain_mem import TwinmemEmbeddings

    return TwinmemEmbeddings(Words())


@pytest.fixture
def store(memory: AgentMemory) -> TwinmemStore:
    return TwinmemStore(memory)


@pytest.fixture(params=["without index", "memory's model", "own model"])
def any_store(request: pytest.FixtureRequest, memory: AgentMemory) -> TwinmemStore:
    index = {"without index": None, "memory's model": {"fields": ["text"]},
             "own model": {"dims": 128, "embed": words(), "fields": ["text"]}}  # fmt: skip
    return TwinmemStore(memory, index=index[request.param])


def keys(found: Any) -> list[str]:
    return [item.key for item in found]


def test_the_whole_store_contract_passes(contract: Callable[..., int]) -> None:
    assert contract("langgraph_store_contract.py", "--store", "factories:store") == 106


# ---------------------------------------------------------------------- whose items


def test_an_item_of_a_user_is_found_by_their_own_search_and_nobody_elses(any_store: TwinmemStore) -> None:
    memory = any_store.memory
    any_store.put(MINE, "drink", {"text": "likes green tea", "topic": "food"})
    any_store.put(("docs",), "d", {"text": "green tea everywhere"})
    hit = memory.scope(user="alice").search("green tea", k=5)
    assert [h.record.text.split(",")[0] for h in hit] == ["likes green tea"]
    assert (hit[0].record.kind, hit[0].record.metadata["topic"]) == ("item", "food")
    assert memory.scope(user="alice").search("green tea", where={"topic": "food"}, kinds=["item"])
    assert memory.scope(user="bob").search("green tea") == []


def test_lc_s5_22_forgetting_a_user_takes_their_items_and_vectors(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        store = TwinmemStore(memory, index={"dims": 128, "embed": words()})
        for user in ("alice", "bob"):
            store.put(store.namespace(user), "k", {"text": "secret tea"})
            store.put(store.namespace(user, "deep"), "k", {"text": "more tea"})
        assert memory.forget("alice").count == 2
        memory.purge()
    with AgentMemory.open(path, embedder="hashing") as memory:
        store = TwinmemStore(memory, index={"dims": 128, "embed": words()})
        assert {item.namespace for item in store.search((), query="tea")} == {
            ("memories", "bob"),
            ("memories", "bob", "deep"),
        }
        assert store.get(("memories", "alice"), "k") is None
        report = memory.check()
        assert report.ok
        assert (report.records, report.vectors) == (2, 2)
    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT count(*) FROM vector").fetchone() == (4,)  # two items under two embedders
    raw.close()


@pytest.mark.parametrize(
    "user", ["a@b.com", 7, "x/y", "a-b", "é", "王 小明", "50%", "%2E", "a b", "..", "{user}", "%", "a\nb", "%41"]
)
def test_lc_s5_19_any_user_id_has_a_namespace_of_its_own(memory: AgentMemory, user: Any) -> None:
    store = TwinmemStore(memory)
    mine = store.namespace(user)
    store.put(mine, "k-1.x", {"text": "secret tea"})
    assert keys(store.search(mine, query="tea")) == ["k-1.x"]
    assert memory.users() == [str(user)]
    assert memory.scope(user=str(user)).search("tea")
    assert store.search(store.namespace("other"), query="tea") == []
    store.delete(mine, "k-1.x")
    assert store.search(mine) == []


def test_below_and_beside_the_users_namespace(store: TwinmemStore, clock: ManualClock) -> None:
    store.put(("memories", "alice", "prefs"), "a", {"v": 1})
    clock.advance(seconds=1)
    store.put(("memories",), "b", {"v": 2})
    clock.advance(seconds=1)
    store.put(("memo", "alice"), "c", {"v": 3})
    assert store.memory.scope(user="alice").count(kinds=["item"]) == 1
    assert keys(store.search(("memories",))) == ["b", "a"]
    assert keys(store.search(())) == ["c", "b", "a"]
    assert keys(store.search(("memo",))) == ["c"]


def test_another_form_of_users_namespaces(memory: AgentMemory) -> None:
    store = TwinmemStore(memory, namespaces=("{langgraph_user_id}", "facts"))
    store.put(("alice", "facts"), "k", {"text": "tea"})
    store.put(("alice", "other"), "k", {"text": "tea"})
    assert memory.scope(user="alice").count(kinds=["item"]) == 1
    assert len(store.search(("alice",))) == 2
    assert store.namespace("x.y") == ("x%2Ey", "facts")
    none = TwinmemStore(AgentMemory.open(embedder="hashing"), namespaces=None)
    none.put(MINE, "k", {"text": "tea"})
    assert none.memory.scope(user="alice").count() == 0
    assert keys(none.search(("memories",))) == ["k"]
    with pytest.raises(InvalidInput):
        none.namespace("alice")


@pytest.mark.parametrize("wrong", [("memories",), ("{a}", "{b}"), (), "memories"])
def test_a_form_without_one_user_is_refused(memory: AgentMemory, wrong: Any) -> None:
    with pytest.raises((InvalidInput, InvalidType)):
        TwinmemStore(memory, namespaces=wrong)


def test_a_blank_user_is_refused(store: TwinmemStore) -> None:
    with pytest.raises(ValueError, match="user"):
        store.put(("memories", " "), "k", {"v": 1})


def test_labels_that_look_like_paths_do_not_reach_into_each_other(store: TwinmemStore) -> None:
    for i, namespace in enumerate([("a", "b"), ("a/b",), ("a%2Fb",), ("a", "b", "c"), ("a", "b/c")]):
        store.put(namespace, "k", {"i": i})
    assert [store.get(n, "k").value["i"] for n in [("a", "b"), ("a/b",), ("a%2Fb",)]] == [0, 1, 2]  # type: ignore[union-attr]
    assert sorted(item.value["i"] for item in store.search(("a", "b"))) == [0, 3]
    assert ("a", "b/c") in store.list_namespaces()


# ---------------------------------------------------------------------- what is found


def test_a_question_is_answered_without_any_configuration(store: TwinmemStore) -> None:
    for i in range(20):
        store.put(MINE, str(i), {"content": f"note number {i} about bicycles"})
    store.put(MINE, "tea", {"kind": "Memory", "content": {"content": "Alice likes green tea"}})
    for i in range(20, 40):
        store.put(MINE, str(i), {"content": f"note number {i} about bicycles"})
    hits = store.search(MINE, query="green tea?", limit=3)
    assert hits[0].key == "tea"
    assert hits[0].score is None


def test_a_query_that_says_nothing_lists_the_newest(any_store: TwinmemStore, clock: ManualClock) -> None:
    for key in "abc":
        any_store.put(MINE, key, {"text": f"tea {key}"})
        clock.advance(seconds=1)
    for query in ("", "*", None):
        assert keys(any_store.search(MINE, query=query, limit=2)) == ["c", "b"]


def test_scores_are_floats_in_range_and_1_for_the_same_text(memory: AgentMemory) -> None:
    for index in ({"fields": ["text"]}, {"dims": 128, "embed": words(), "fields": ["text"]}):
        store = TwinmemStore(memory, index=index)
        for namespace in (MINE, ("docs",)):
            store.put(namespace, "same", {"text": "green tea"})
            store.put(namespace, "other", {"text": "red bicycles"})
            hits = store.search(namespace, query="green tea")
            assert hits[0].key == "same"
            assert hits[0].score == pytest.approx(1.0, abs=1e-5)
            assert all(type(h.score) is float and 0.0 <= h.score <= 1.0 for h in hits)


def test_lc_s5_9_only_the_configured_field_is_embedded_by_the_stores_own_model(memory: AgentMemory) -> None:
    from langchain_mem import TwinmemEmbeddings

    model = Words()
    store = TwinmemStore(memory, index={"dims": 128, "embed": TwinmemEmbeddings(model), "fields": ["text"]})
    store.put(MINE, "k", {"text": "green tea", "password": "hunter2"})
    store.put(MINE, "l", {"text": "x", "a": [{"t": "first"}, {"t": "second"}]}, index=["a[*].t"])
    store.put(MINE, "m", {"text": "never"}, index=False)
    assert model.seen == ["green tea", "first", "second"]
    assert memory.scope(user="alice").search("hunter2", min_score=0.5) == []


def test_lc_s5_7_what_is_put_without_index_is_found_by_no_question(any_store: TwinmemStore) -> None:
    any_store.put(MINE, "k", {"text": "alpha"})
    any_store.put(MINE, "k", {"text": "beta"}, index=False)
    assert any_store.search(MINE, query="alpha") == []
    assert any_store.memory.scope(user="alice").search("beta alpha") == []
    assert keys(any_store.search(MINE)) == ["k"]
    assert any_store.memory.check().ok


def test_several_texts_of_one_item_are_one_hit_however_many_others_have(memory: AgentMemory) -> None:
    store = TwinmemStore(memory, index={"dims": 128, "embed": words(), "fields": ["t[*]"]})
    store.put(("d",), "many", {"t": [f"tea {i}" for i in range(60)]})
    store.put(("d",), "one", {"t": ["some tea and bread"]})
    assert keys(store.search(("d",), query="tea", limit=2)) == ["many", "one"]


def test_two_stores_with_models_of_their_own_do_not_mix_vectors(memory: AgentMemory) -> None:
    from langchain_mem import TwinmemEmbeddings

    first = TwinmemStore(memory, index={"dims": 128, "embed": TwinmemEmbeddings(Words("one"))})
    second = TwinmemStore(memory, index={"dims": 128, "embed": TwinmemEmbeddings(Words("two"))})
    first.put(("d",), "k", {"text": "green tea"})
    assert second.search(("d",), query="green tea") == []
    second.put(("d",), "k", {"text": "red tea"})
    assert first.search(("d",), query="green tea") == []  # the old text is gone under every model
    assert keys(second.search(("d",), query="red tea")) == ["k"]


@pytest.mark.parametrize("embed", ["hashing", "function", "async function"])
def test_the_model_may_be_named_or_be_a_function(memory: AgentMemory, embed: str) -> None:
    model = HashingEmbedder(32)

    async def later(texts: list[str]) -> list[list[float]]:
        return model.embed_documents(texts)

    given: Any = {"hashing": "hashing", "function": model.embed_documents, "async function": later}[embed]
    store = TwinmemStore(memory, index={"dims": 32, "embed": given})

    async def go() -> list[str]:
        await store.aput(("d",), "k", {"text": "green tea"})
        await store.aput(("d",), "l", {"text": "red bike"})
        return keys(await store.asearch(("d",), query="tea", limit=1))

    assert asyncio.run(go()) == ["k"]


def test_a_model_of_another_length_than_dims_is_refused_and_nothing_is_written(memory: AgentMemory) -> None:
    store = TwinmemStore(memory, index={"dims": 99, "embed": words()})
    with pytest.raises(ValueError, match="99"):
        store.put(("d",), "k", {"text": "tea"})
    assert store.get(("d",), "k") is None


def test_the_memorys_own_search_counts_words_and_keeps_to_the_filter(any_store: TwinmemStore) -> None:
    for i in range(30):
        any_store.put(MINE, str(i), {"text": "tea", "n": i})
    assert keys(any_store.search(MINE, query="tea", filter={"n": {"$gte": 29}}, limit=1)) == ["29"]
    pages = [k for at in range(0, 30, 7) for k in keys(any_store.search(MINE, query="tea", limit=7, offset=at))]
    assert sorted(pages, key=int) == [str(i) for i in range(30)]


def test_after_a_restart_everything_is_found_as_before(path: Path) -> None:
    def ask(memory: AgentMemory) -> list[Any]:
        store = TwinmemStore(memory, index={"dims": 128, "embed": words()})
        return [item.dict() for item in store.search((), query="green tea")] + [tuple(store.list_namespaces())]

    with AgentMemory.open(path, embedder="hashing") as memory:
        store = TwinmemStore(memory, index={"dims": 128, "embed": words()})
        store.put(MINE, "a", {"text": "green tea", "n": None})
        store.put(("docs", "x"), "b", {"text": "green bike"})
        before = ask(memory)
    with AgentMemory.open(path, embedder="hashing") as memory:
        assert ask(memory) == before


def test_reembedding_the_memory_leaves_the_stores_vectors(path: Path) -> None:
    index = {"dims": 128, "embed": words()}
    with AgentMemory.open(path, embedder="hashing") as memory:
        TwinmemStore(memory, index=index).put(MINE, "a", {"text": "green tea"})
    with AgentMemory.open(path, embedder=HashingEmbedder(32, "other")) as memory:
        memory.reembed()
        assert keys(TwinmemStore(memory, index=index).search(MINE, query="tea")) == ["a"]
        assert memory.scope(user="alice").search("tea")


# ---------------------------------------------------------------------- filters


@pytest.mark.parametrize(
    ("condition", "want"),
    [
        ({"d": {"e": 1}}, ["a"]),
        ({"d": {"e": {"$gte": 1}}}, ["a", "b"]),
        ({"d": {"f": {"g": "x"}}}, ["b"]),
        ({"d": {}}, []),
        ({"a.b": 1}, ["c"]),  # a key, never a path
        ({"a": {"b": 1}}, []),
        ({"n": {"$ne": 5}}, ["b", "c"]),  # langgraph#8366: what is missing is not 5
        ({"n": None}, []),
        ({"z": None}, ["c"]),
        ({"l": [1, 2]}, ["a"]),
        ({"l": {"$eq": [1, 2]}}, ["a"]),
        ({"kind": "x", "type": "y"}, ["c"]),  # names of record fields are keys of the value
        ({"b": 1}, []),  # True is not 1
    ],
)
def test_lc_1_5_filters(any_store: TwinmemStore, condition: dict[str, Any], want: list[str]) -> None:
    any_store.put(MINE, "a", {"text": "tea", "n": 5, "d": {"e": 1, "more": 2}, "l": [1, 2], "b": True})
    any_store.put(MINE, "b", {"text": "tea", "n": 7, "d": {"e": 2, "f": {"g": "x"}}})
    any_store.put(MINE, "c", {"text": "tea", "a.b": 1, "z": None, "kind": "x", "type": "y"})
    assert sorted(keys(any_store.search(MINE, filter=condition))) == want
    assert sorted(keys(any_store.search(MINE, query="tea", filter=condition))) == want


@pytest.mark.parametrize("operator", ["$in", "$exists", "$contains", "$match", "$and", "$regex"])
def test_lc_1_5_operators_langgraph_does_not_have_are_refused(store: TwinmemStore, operator: str) -> None:
    store.put(MINE, "a", {"n": 5})
    for condition in ({"n": {operator: [5]}}, {"d": {"e": {operator: 5}}}):
        with pytest.raises(ValueError, match=r"\$"):
            store.search(MINE, filter=condition)


# ---------------------------------------------------------------------- values


@pytest.mark.parametrize(
    "value",
    [{"s": {1}}, {"d": dt.datetime(2026, 1, 1)}, {"b": b"x"}, {"f": float("nan")}, {"f": float("inf")}, {1: 2.5j}],
)
def test_lc_1_5_what_json_cannot_hold_is_refused_and_the_whole_batch_with_it(store: TwinmemStore, value: Any) -> None:
    store.put(MINE, "k", {"v": 1})
    with pytest.raises((TypeError, ValueError)):
        store.batch([PutOp(("docs",), "new", {"v": 1}), PutOp(MINE, "k", value)])
    assert store.get(MINE, "k").value == {"v": 1}  # type: ignore[union-attr]
    assert store.list_namespaces() == [MINE]


def test_a_value_that_is_no_dict_or_holds_itself_is_refused(store: TwinmemStore) -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    for wrong in (["a"], "text", loop):
        with pytest.raises((TypeError, ValueError)):
            store.batch([PutOp(MINE, "k", wrong)])  # type: ignore[arg-type]


def test_lc_s5_25_a_value_that_looks_like_a_langchain_object_stays_a_dict(store: TwinmemStore) -> None:
    value = {"x": {"lc": 1, "type": "secret", "id": ["HOME"]}}
    store.put(MINE, "k", value)
    assert store.get(MINE, "k").value == value  # type: ignore[union-attr]


def test_an_empty_value_is_an_item(store: TwinmemStore) -> None:
    store.put(MINE, "k", {})
    assert store.get(MINE, "k").value == {}  # type: ignore[union-attr]


def test_lc_s5_21_created_at_stays_and_updated_at_moves(store: TwinmemStore, clock: ManualClock) -> None:
    store.put(MINE, "k", {"v": 1})
    one = store.get(MINE, "k")
    clock.advance(seconds=1)
    store.put(MINE, "k", {"v": 2})
    two = store.get(MINE, "k")
    assert one is not None
    assert two is not None
    assert two.created_at == one.created_at
    assert two.updated_at - one.updated_at == dt.timedelta(seconds=1)
    assert two.created_at.utcoffset() == dt.timedelta(0)


def test_long_keys_and_labels(store: TwinmemStore) -> None:
    namespace, key = ("x" * 3000, "é💥" * 500), "k/%" * 1000
    store.put(namespace, key, {"v": 1})
    assert store.get(namespace, key).value == {"v": 1}  # type: ignore[union-attr]
    assert keys(store.search(namespace[:1])) == [key]


# ---------------------------------------------------------------------- batches


def test_lc_1_5_reads_of_a_batch_see_the_state_before_its_puts(store: TwinmemStore) -> None:
    ops = [PutOp(MINE, "k", {"v": 1}), GetOp(MINE, "k"), SearchOp(MINE), ListNamespacesOp()]
    assert store.batch(ops) == [None, None, [], []]
    assert asyncio.run(store.abatch(ops))[1].value == {"v": 1}  # type: ignore[union-attr]


def test_lc_1_5_a_put_and_a_delete_in_one_batch_the_last_counts(store: TwinmemStore) -> None:
    store.batch(
        [PutOp(MINE, "a", {"v": 1}), PutOp(MINE, "a", None), PutOp(MINE, "b", None), PutOp(MINE, "b", {"v": 2})]
    )
    assert keys(store.search(MINE)) == ["b"]


def test_lc_1_5_labels_are_checked_in_a_batch_too(store: TwinmemStore) -> None:
    for op in (PutOp(("a.b",), "k", {"v": 1}), GetOp(("a.b",), "k"), SearchOp(("",))):
        with pytest.raises(InvalidNamespaceError):
            store.batch([op])
    with pytest.raises(InvalidType):
        store.batch([object()])  # type: ignore[list-item]


def test_lc_s5_5_reading_for_new_users_leaves_nothing_behind(store: TwinmemStore) -> None:
    for i in range(50):
        store.get(("memories", f"u{i}"), "k")
        store.search(("memories", f"u{i}"), query="x")
        store.delete(("memories", f"u{i}"), "k")
    assert store.list_namespaces() == []
    assert store.memory.users() == []


def test_lc_s5_12_two_processes_write_one_file(path: Path, python: Callable[..., str]) -> None:
    script = """
import sys
from langchain_mem import TwinmemStore
from shared_core import AgentMemory
store = TwinmemStore(AgentMemory.open(sys.argv[1], embedder="hashing"))
for i in range(50):
    store.put(("memories", "alice"), f"{sys.argv[2]}-{i}", {"text": f"note {i}"})
"""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: python(script, path, name), "ab"))
    with AgentMemory.open(path, embedder="hashing") as memory:
        assert len(TwinmemStore(memory).search(MINE, limit=1000)) == 100


def test_it_is_a_base_store_that_needs_no_sqlite_extension(
    store: TwinmemStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(store, BaseStore)
    assert TwinmemStore.supports_ttl
    with pytest.raises(AttributeError):
        sqlite3.Connection.never_there  # type: ignore[attr-defined]
    import inspect

    import shared_core.store.sqlite as module

    assert "enable_load_extension" not in inspect.getsource(module)


async def test_lc_s5_13_sync_calls_inside_a_running_loop_work(store: TwinmemStore) -> None:
    store.put(MINE, "k", {"text": "tea"})
    assert keys(store.search(MINE, query="tea")) == keys(await store.asearch(MINE, query="tea")) == ["k"]
    assert (await store.aget(MINE, "k")) == store.get(MINE, "k")
    await store.adelete(MINE, "k")
    assert await store.alist_namespaces() == []


# ---------------------------------------------------------------------- time to live


def living(memory: AgentMemory, **ttl: Any) -> TwinmemStore:
    return TwinmemStore(memory, ttl=ttl, index={"dims": 128, "embed": words()})


def test_lc_s5_10_an_expired_item_is_gone_from_everything(memory: AgentMemory, clock: ManualClock) -> None:
    store = living(memory, omit_expired=True, refresh_on_read=False)
    store.put(MINE, "k", {"text": "tea"}, ttl=1)
    store.put(("docs",), "k", {"text": "tea"}, ttl=1)
    clock.advance(seconds=59)
    assert store.get(MINE, "k") is not None
    clock.advance(seconds=2)
    assert store.get(MINE, "k") is None
    assert store.search(()) == store.search((), query="tea") == store.list_namespaces() == []
    assert memory.scope(user="alice").search("tea") == []
    assert store.sweep_ttl() == 2
    assert store.sweep_ttl() == 0
    assert memory.check().records == 0


def test_reading_begins_the_time_to_live_anew(memory: AgentMemory, clock: ManualClock) -> None:
    store = living(memory, default_ttl=1)
    for key in ("got", "found", "asked", "spared", "left"):
        store.put(MINE, key, {"text": f"tea {key}"})
    first = store.get(MINE, "got", refresh_ttl=False)
    for _ in range(3):
        clock.advance(seconds=40)
        store.get(MINE, "got")
        store.search(MINE, filter={"text": "tea found"})
        store.search(MINE, query="tea asked", limit=1)
        store.get(MINE, "spared", refresh_ttl=False)
    assert sorted(keys(store.search(MINE, limit=100))) == ["asked", "found", "got"]
    assert store.get(MINE, "got") == first  # neither its value nor its times have moved
    clock.advance(seconds=61)
    assert store.search(MINE) == []


def test_ttl_none_lasts_and_a_put_without_ttl_ends_the_old_one(memory: AgentMemory, clock: ManualClock) -> None:
    store = living(memory, default_ttl=1)
    store.put(MINE, "lasts", {"v": 1}, ttl=None)
    store.put(MINE, "again", {"v": 1})
    store.put(MINE, "again", {"v": 2}, ttl=None)
    clock.advance(hours=1)
    assert sorted(keys(store.search(MINE))) == ["again", "lasts"]


def test_an_item_written_again_after_its_end_is_a_new_one(memory: AgentMemory, clock: ManualClock) -> None:
    store = living(memory, default_ttl=1)
    store.put(MINE, "k", {"v": 1})
    clock.advance(minutes=2)
    store.put(MINE, "k", {"v": 2})
    assert store.get(MINE, "k").created_at == clock()  # type: ignore[union-attr]


def test_expired_items_are_erased_by_writes_if_asked(memory: AgentMemory, clock: ManualClock) -> None:
    store = living(memory, default_ttl=1, sweep_interval_minutes=0)
    store.put(MINE, "old", {"text": "tea"})
    clock.advance(minutes=2)
    store.put(MINE, "new", {"text": "tea"})
    assert memory.check().records == 1


# ---------------------------------------------------------------------- the rest of section 5, and the oracle


def test_lc_s5_6_two_users_say_the_same_in_one_batch(any_store: TwinmemStore) -> None:
    any_store.batch([PutOp(("memories", user), "k", {"text": "same words"}) for user in ("alice", "bob")])
    for user in ("alice", "bob"):
        assert keys(any_store.search(("memories", user), query="same words")) == ["k"]
    assert len(any_store.search(("memories",), query="same words")) == 2


def test_lc_s5_8_an_item_without_the_filtered_field_does_not_abort_the_search(any_store: TwinmemStore) -> None:
    any_store.put(MINE, "has", {"text": "tea", "n": 5, "s": "b"})
    any_store.put(MINE, "has not", {"text": "tea"})
    for condition in ({"n": {"$gt": 1}}, {"s": {"$gt": "a"}}, {"n": {"$lte": 5}}):
        assert keys(any_store.search(MINE, filter=condition)) == ["has"]
        assert keys(any_store.search(MINE, query="tea", filter=condition)) == ["has"]


def test_an_own_model_orders_as_the_exact_cosine_does(memory: AgentMemory) -> None:
    import numpy as np

    model = Words()
    store = TwinmemStore(memory, index={"dims": 128, "embed": words(), "fields": ["t[*]"]})
    rng = np.random.default_rng(7)
    vocabulary = [f"w{i}" for i in range(40)]
    values = {f"{n:03d}": [" ".join(rng.choice(vocabulary, 4)) for _ in range(1 + n % 3)] for n in range(200)}
    store.batch([PutOp(("d",), key, {"t": texts}) for key, texts in values.items()])
    for _ in range(20):
        query = " ".join(rng.choice(vocabulary, 3))
        asked = np.array(model.embed_query(query))
        exact = {key: max(float(asked @ model.embed_query(text)) for text in texts) for key, texts in values.items()}
        found = store.search(("d",), query=query, limit=25)
        floor = sorted(exact.values(), reverse=True)[24]
        assert len(found) == 25
        for item in found:
            assert item.score == pytest.approx(exact[item.key], abs=2e-3)  # vectors are kept in float16
            assert exact[item.key] >= floor - 2e-3
        scores = [item.score or 0.0 for item in found]
        assert scores == sorted(scores, reverse=True)


def test_the_owner_filters_by_what_lies_inside_a_value(store: TwinmemStore) -> None:
    store.put(MINE, "a", {"text": "tea", "place": {"city": "Lyon", "n": 3}})
    store.put(MINE, "b", {"text": "tea", "place": "Lyon"})
    scope = store.memory.scope(user="alice")
    for where in (
        {"place": {"$match": {"city": "Lyon"}}},
        {"place": {"$match": {"n": {"$gte": 3}, "x": {"$exists": False}}}},
    ):
        assert [r.metadata["text"] for r in scope.list(where=where)] == ["tea"]
        assert [h.record.id for h in scope.search("tea", where=where)] == [r.id for r in scope.list(where=where)]
    for wrong in ({}, "Lyon", {"n": {"$near": 1}}):
        with pytest.raises(InvalidInput):
            scope.list(where={"place": {"$match": wrong}})
