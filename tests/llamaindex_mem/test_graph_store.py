"""`TwinmemPropertyGraphStore` (reference 1.6): one graph of what was said and of what documents hold."""

from __future__ import annotations

import asyncio
import json
import pickle
from typing import Any

import pytest
from li_scripted import ScriptedLLM
from llama_index.core import Document, PropertyGraphIndex, StorageContext
from llama_index.core.embeddings import BaseEmbedding, MockEmbedding
from llama_index.core.graph_stores.types import (
    TRIPLET_SOURCE_KEY,
    ChunkNode,
    EntityNode,
    PropertyGraphStore,
    Relation,
)
from llama_index.core.indices.property_graph import ImplicitPathExtractor, SimpleLLMPathExtractor
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import VectorStoreQuery

from llamaindex_mem import TwinmemPropertyGraphStore
from shared_core import AgentMemory, TwinmemError
from shared_core.errors import InvalidInput
from shared_core.testing import FixedEmbedder


@pytest.fixture
def filled(core: AgentMemory) -> TwinmemPropertyGraphStore:
    made = TwinmemPropertyGraphStore(memory=core, user="alice")
    made.upsert_nodes(
        [EntityNode(name="Ann", label="person", properties={"age": 28}), EntityNode(name="ACME", label="company"), EntityNode(name="茶")]
    )  # fmt: skip
    made.upsert_relations(
        [
            Relation(label="works at", source_id="Ann", target_id="ACME", properties={"since": 2023}),
            Relation(label="喜欢", source_id="Ann", target_id="茶"),
            Relation(label="is a", source_id="ACME", target_id="employer"),
        ]
    )
    return made


def said(triplets: Any) -> list[str]:
    return sorted(f"{one.id} {relation.id} {other.id}" for one, relation, other in triplets)


WORKS, LIKES, IS = "Ann works at ACME", "Ann 喜欢 茶", "ACME is a employer"


def test_li_16_nodes_are_found_by_any_name_and_by_property(filled: TwinmemPropertyGraphStore) -> None:
    assert isinstance(filled, PropertyGraphStore)
    [ann] = filled.get(ids=["ann"])
    assert ann == EntityNode(name="Ann", label="person", properties={"age": 28})
    assert [node.id for node in filled.get(properties={"age": 28, "nothing": 1})] == ["Ann"]
    assert filled.get(properties={"age": 28}, ids=["ACME"]) == filled.get(ids=["nobody"]) == []
    assert {node.id for node in filled.get()} == {"Ann", "ACME", "茶", "employer"}
    assert {node.id: node.label for node in filled.get(ids=["acme", "茶"])} == {"ACME": "company", "茶": "entity"}
    filled.scope.graph.alias("Ann", "the boss")
    assert [node.id for node in filled.get(ids=["the boss", "Ann"])] == ["Ann"]


def test_li_16_triplets_pass_every_criterion_and_none_without_any(filled: TwinmemPropertyGraphStore) -> None:
    assert filled.get_triplets() == []
    assert said(filled.get_triplets(["acme"])) == [IS, WORKS]
    assert said(filled.get_triplets(ids=["Ann"])) == sorted([WORKS, LIKES])
    assert said(filled.get_triplets(relation_names=["WORKS_AT", "喜欢"])) == sorted([WORKS, LIKES])
    assert said(filled.get_triplets(["Ann"], relation_names=["is a"])) == []
    assert said(filled.get_triplets(["Ann"], ids=["茶"])) == [LIKES]
    assert said(filled.get_triplets(properties={"since": 2023})) == [WORKS]
    assert said(filled.get_triplets(properties={"age": 28})) == sorted([WORKS, LIKES])
    [(one, relation, other)] = filled.get_triplets(properties={"since": 2023})
    assert (one.properties, relation.properties, other.label) == ({"age": 28}, {"since": 2023}, "company")


def test_li_16_a_relation_map_goes_as_deep_as_asked_the_nearest_first(filled: TwinmemPropertyGraphStore) -> None:
    ann = filled.get(ids=["Ann"])
    assert said(filled.get_rel_map(ann, depth=1)) == sorted([WORKS, LIKES])
    assert said(filled.get_rel_map(ann)) == sorted([WORKS, LIKES, IS])
    assert said(filled.get_rel_map(ann, ignore_rels=["Works At"])) == [LIKES]
    assert said(filled.get_rel_map(ann, limit=2)) == sorted([WORKS, LIKES])
    assert filled.get_rel_map(ann, depth=0) == filled.get_rel_map([]) == []
    assert said(filled.get_rel_map(filled.get(ids=["employer"]), depth=1)) == [IS]


def test_li_16_parallel_relations_and_relations_told_again(filled: TwinmemPropertyGraphStore) -> None:
    """LlamaIndex's own filled keeps one relation a label and pair; its properties are those of the last."""
    filled.upsert_relations(
        [Relation(label="founded", source_id="Ann", target_id="ACME"),
         Relation(label="works at", source_id="ann", target_id="acme", properties={"as": "engineer"})]
    )  # fmt: skip
    found = {relation.id: relation.properties for _, relation, _ in filled.get_triplets(["Ann"], ids=["ACME"])}
    assert found == {"works at": {"since": 2023, "as": "engineer"}, "founded": {}}


def test_li_16_a_node_stored_again_takes_on_what_is_new(filled: TwinmemPropertyGraphStore) -> None:
    filled.upsert_nodes([EntityNode(name="Ann", label="person", properties={"age": 29, "location": "Lyon"})])
    [ann] = filled.get(ids=["Ann"])
    assert ann.properties == {"age": 29, "location": "Lyon"}
    assert said(filled.get_triplets(["Ann"])) == sorted([WORKS, LIKES])


@pytest.mark.parametrize(
    ("criteria", "left"),
    [
        ({}, [IS, LIKES, WORKS]), ({"entity_names": ["ann"]}, [IS]), ({"ids": ["茶", "nobody"]}, [IS, WORKS]),
        ({"relation_names": ["works_at"]}, [IS, LIKES]), ({"properties": {"age": 28}}, [IS]),
        ({"entity_names": ["ACME"], "relation_names": ["喜欢"]}, []),
    ],
)  # fmt: skip
def test_li_16_deleting_takes_what_is_named_and_nothing_else(
    filled: TwinmemPropertyGraphStore, criteria: Any, left: list[str]
) -> None:
    """LlamaIndex's own filled deletes every node when it is given names alone."""
    filled.delete(**criteria)
    assert said(filled.get_triplets(["Ann", "ACME", "茶", "employer"])) == sorted(left)


def chunk(id: str, text: str, document: str = "doc", **more: Any) -> TextNode:
    node = TextNode(id_=id, text=text, **more)
    node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=document)
    return node


def extracted(filled: TwinmemPropertyGraphStore, id: str, *triple: str) -> None:
    """What an index stores for a triple that it read from a chunk."""
    properties = {TRIPLET_SOURCE_KEY: id}
    filled.upsert_nodes([EntityNode(name=name, properties=properties) for name in (triple[0], triple[2])])
    filled.upsert_relations(
        [Relation(label=triple[1], source_id=triple[0], target_id=triple[2], properties=properties)]
    )


def test_li_16_chunks_come_back_as_they_were_and_stay_out_of_the_graph(filled: TwinmemPropertyGraphStore) -> None:
    nodes = [chunk("1", "Ann leads Alpha.", metadata={"page": 1}), chunk("2", "Alpha uses Kafka.")]
    filled.upsert_llama_nodes(nodes)
    filled.upsert_relations(
        [Relation(label="NEXT", source_id="1", target_id="2"), Relation(label="SOURCE", source_id="1", target_id="doc"),
         Relation(label="MENTIONS", source_id="1", target_id="Ann")]
    )  # fmt: skip
    assert filled.get_llama_nodes(["2", "1", "3"]) == [nodes[1], nodes[0]]
    [one] = filled.get(ids=["1"])
    assert isinstance(one, ChunkNode)
    assert (one.text, one.properties["page"]) == ("Ann leads Alpha.", 1)
    assert {entity.name for entity in filled.scope.graph.entities()} == {"Ann", "ACME", "茶", "employer"}
    assert said(filled.get_rel_map([one], ignore_rels=["SOURCE"])) == ["1 MENTIONS Ann", "1 NEXT 2"]
    assert said(filled.get_triplets(ids=["2"])) == ["1 NEXT 2"]
    assert said(filled.get_triplets(relation_names=["SOURCE"])) == ["1 SOURCE doc"]
    assert said(filled.get_rel_map(filled.get(ids=["Ann"]), depth=1)) == sorted([WORKS, LIKES])
    filled.delete(ids=["2"])
    assert said(filled.get_triplets(ids=["1"])) == ["1 MENTIONS Ann", "1 SOURCE doc"]
    filled.delete(relation_names=["MENTIONS"])
    assert said(filled.get_triplets(ids=["1"])) == ["1 SOURCE doc"]
    assert filled.get_llama_nodes(["2"]) == []


def test_li_16_what_came_only_from_a_chunk_goes_with_it(filled: TwinmemPropertyGraphStore) -> None:
    filled.upsert_llama_nodes([chunk("1", "Ann leads Alpha.", "a"), chunk("2", "Alpha uses Kafka.", "b")])
    extracted(filled, "1", "Ann", "leads", "Alpha")
    extracted(filled, "2", "Alpha", "uses", "Kafka")
    filled.delete_llama_nodes(node_ids=["1"])
    assert "Ann leads Alpha" not in said(filled.get_triplets(["Ann", "Alpha"]))
    assert said(filled.get_triplets(["Alpha"])) == ["Alpha uses Kafka"]
    assert filled.get(ids=["Ann"])[0].properties == {"age": 28}, "what was told of her otherwise stays"
    filled.delete_llama_nodes(ref_doc_ids=["b", "nothing"])
    assert filled.get(ids=["Alpha", "Kafka", "2"]) == []
    filled.delete_llama_nodes()
    assert said(filled.get_triplets(["Ann"])) == sorted([WORKS, LIKES])


def test_what_was_said_in_a_conversation_is_in_it_with_its_words(core: AgentMemory) -> None:
    scope = core.scope(user="alice")
    scope.session("monday").add_messages([{"role": "user", "content": "Caroline adopted a cat, and I moved to Lyon"}])
    store = TwinmemPropertyGraphStore(memory=core, user="alice")
    [(one, relation, other)] = store.get_triplets(["Caroline"])
    assert (one.id, other.id) == ("Caroline", "cat")
    [text] = store.get_llama_nodes([one.properties[TRIPLET_SOURCE_KEY]])
    assert "adopted a cat" in text.get_content()
    assert relation.properties[TRIPLET_SOURCE_KEY] == one.properties[TRIPLET_SOURCE_KEY]


def test_r25_users_do_not_see_each_other(core: AgentMemory, filled: TwinmemPropertyGraphStore) -> None:
    filled.upsert_llama_nodes([chunk("1", "Ann leads Alpha.")])
    bob = TwinmemPropertyGraphStore(memory=core, user="bob")
    assert bob.get() == bob.get_triplets(["Ann"]) == bob.get_llama_nodes(["1"]) == []
    bob.delete(ids=["Ann", "1"])
    bob.delete_llama_nodes(["1"], ["doc"])
    assert len(filled.get_llama_nodes(["1"])) == 1
    assert said(filled.get_triplets(["Ann"])) == sorted([WORKS, LIKES])
    with pytest.raises(TwinmemError, match="user"):
        TwinmemPropertyGraphStore(memory=core)


def test_a_chunk_is_never_a_memory_nor_a_memory_a_chunk(core: AgentMemory, filled: TwinmemPropertyGraphStore) -> None:
    core.scope(user="alice").add("my fact", id="1")
    filled.upsert_llama_nodes([chunk("1", "a chunk")])
    assert core.scope(user="alice").get("1").text == "my fact"  # type: ignore[union-attr]
    filled.delete(ids=["1"])
    assert core.scope(user="alice").get("1") is not None


def test_li_16_no_graph_language_is_spoken_and_it_says_so(filled: TwinmemPropertyGraphStore) -> None:
    assert filled.supports_structured_queries is False
    with pytest.raises(NotImplementedError, match="get_triplets"):
        filled.structured_query("MATCH (n) RETURN n")
    with pytest.raises(NotImplementedError):
        asyncio.run(filled.astructured_query("MATCH (n) RETURN n"))


def test_li_16_the_schema_tells_labels_relations_and_their_properties(filled: TwinmemPropertyGraphStore) -> None:
    schema = filled.get_schema()
    assert schema["node_props"]["person"] == ["age"]
    assert schema["rel_props"]["works at"] == ["since"]
    assert {"start": "person", "type": "works at", "end": "company"} in schema["relationships"]
    assert "喜欢" in filled.get_schema_str()
    assert asyncio.run(filled.aget_schema_str()) == filled.get_schema_str()


def test_names_near_in_meaning_are_found_by_the_memorys_own_model() -> None:
    embedder = FixedEmbedder({"RabbitMQ": [1, 0, 0], "tea": [0, 1, 0], "queue": [0.9, 0.1, 0]})
    with AgentMemory.open(embedder=embedder) as memory:
        store = TwinmemPropertyGraphStore(memory=memory, user="alice")
        store.upsert_nodes([EntityNode(name="RabbitMQ"), EntityNode(name="tea")])
        nodes, scores = store.vector_query(VectorStoreQuery(query_str="queue", similarity_top_k=1))
        assert ([node.id for node in nodes], scores) == (["RabbitMQ"], [pytest.approx(0.994, abs=0.001)])
        again = asyncio.run(store.avector_query(VectorStoreQuery(query_str="queue", similarity_top_k=1)))
        assert again == (nodes, scores)
        vector = VectorStoreQuery(query_embedding=[0, 1, 0], similarity_top_k=1)
        with pytest.raises(InvalidInput, match="query_str"):  # it may be another model's
            store.vector_query(vector)
        told = TwinmemPropertyGraphStore(memory=memory, user="alice", supports_vector_queries=True)
        assert [node.id for node in told.vector_query(vector)[0]] == ["tea"]


async def test_li_16_the_async_methods_do_the_same(core: AgentMemory) -> None:
    store = TwinmemPropertyGraphStore(memory=core, user="alice")
    await store.aupsert_nodes([EntityNode(name="Ann"), ChunkNode(text="Ann works at ACME", id_="1")])
    await store.aupsert_relations([Relation(label="works at", source_id="Ann", target_id="ACME")])
    assert await store.aget(ids=["Ann"]) == store.get(ids=["Ann"])
    assert said(await store.aget_triplets(["Ann"])) == ["Ann works at ACME"]
    assert said(await store.aget_rel_map(await store.aget(ids=["ACME"]))) == ["Ann works at ACME"]
    assert [node.get_content() for node in await store.aget_llama_nodes(["1"])] == ["Ann works at ACME"]
    assert (await store.aget_schema())["rel_props"] == {"works at": []}
    await store.adelete_llama_nodes(["1"])
    await store.adelete(["Ann"])
    assert await store.aget() == []


def test_it_is_a_handle_and_persists(path: str) -> None:
    store = TwinmemPropertyGraphStore(address=path, user="alice")
    store.upsert_nodes([EntityNode(name="Ann", label="person", properties={"age": 28})])
    store.persist("nowhere.json")
    again = TwinmemPropertyGraphStore.from_dict(json.loads(json.dumps(store.to_dict())))
    for twin in (again, pickle.loads(pickle.dumps(store)), TwinmemPropertyGraphStore(address=path, user="alice")):
        assert twin.get(ids=["Ann"]) == store.get(ids=["Ann"]) != []
        assert twin == store


# ---------------------------------------------------------------------- an index over it

TEXTS = {"a": "Ann works at Acme. Acme is a company.", "b": "Acme uses RabbitMQ."}
PATHS = ["(Ann, works at, Acme)\n(Acme, is a, company)", "(Acme, uses, RabbitMQ)"]


def build(store: PropertyGraphStore, llm: ScriptedLLM, **more: Any) -> PropertyGraphIndex:
    return PropertyGraphIndex.from_documents(
        [Document(text=text, id_=id) for id, text in TEXTS.items()],
        llm=llm, property_graph_store=store, show_progress=False,
        kg_extractors=[SimpleLLMPathExtractor(llm=llm, num_workers=1), ImplicitPathExtractor()], **more,
    )  # fmt: skip


def test_an_index_builds_answers_and_forgets(core: AgentMemory) -> None:
    store = TwinmemPropertyGraphStore(memory=core, user="alice")
    core.scope(user="alice").graph.add("Ann", "knows", "Bob")
    llm = ScriptedLLM(*PATHS, "Ann^nobody", "At Acme.")
    index = build(store, llm, embed_kg_nodes=False)
    assert {str(each) for each in core.scope(user="alice").graph.relations(inferred=False)} == {
        "Ann knows Bob", "Ann Works at Acme", "Acme Is a Company", "Acme Uses Rabbitmq",
    }  # fmt: skip
    assert "At Acme." in str(index.as_query_engine(llm=llm, include_text=True).query("Where does Ann work?"))
    assert "Ann -> Works at -> Acme" in llm.told()
    assert "Ann works at Acme. Acme is a company." in llm.told(), "the text it was read from is shown"
    again = PropertyGraphIndex.from_existing(store, llm=ScriptedLLM("Acme"), embed_kg_nodes=False)
    found = again.as_retriever(include_text=False).retrieve("Acme?")
    assert {node.text for node in found} >= {"Acme -> Uses -> Rabbitmq", "Ann -> Works at -> Acme"}
    store.delete_llama_nodes(ref_doc_ids=["a"])
    assert {str(each) for each in core.scope(user="alice").graph.relations(inferred=False)} == {
        "Ann knows Bob", "Acme Uses Rabbitmq",
    }  # fmt: skip


async def test_an_index_works_async_too(core: AgentMemory) -> None:
    store = TwinmemPropertyGraphStore(memory=core, user="alice")
    llm = ScriptedLLM(*PATHS, "Ann", "At Acme.")
    index = await asyncio.to_thread(build, store, llm, embed_kg_nodes=False)
    assert "At Acme." in str(await index.as_query_engine(llm=llm).aquery("Where does Ann work?"))
    assert "Works at -> Acme" in llm.told()


def test_an_index_over_a_vector_store_of_its_own_finds_by_vector(core: AgentMemory) -> None:
    store = TwinmemPropertyGraphStore(memory=core, user="alice")
    llm = ScriptedLLM(*PATHS, "nobody")
    index = build(store, llm, embed_model=MockEmbedding(embed_dim=3))
    found = index.as_retriever(include_text=False, similarity_top_k=9).retrieve("Acme?")
    assert "Ann -> Works at -> Acme" in {node.text for node in found}


class _Same(BaseEmbedding):
    """The memory's own model, as LlamaIndex has it."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return [float(x) for x in FixedEmbedder(dimensions=16).embed_query(text)]

    _get_query_embedding = _get_text_embedding

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def test_an_index_with_the_memorys_own_model_needs_no_vector_store() -> None:
    with AgentMemory.open(embedder=FixedEmbedder(dimensions=16)) as memory:
        store = TwinmemPropertyGraphStore(memory=memory, user="alice", supports_vector_queries=True)
        index = build(store, ScriptedLLM(*PATHS, "nobody"), embed_model=_Same())
        assert index.vector_store is None
        found = index.as_retriever(include_text=False, similarity_top_k=1).retrieve("Rabbitmq")
        assert [node.text for node in found][:1] == ["Acme -> Uses -> Rabbitmq"]


def test_li_16_a_storage_context_takes_it(core: AgentMemory, tmp_path: Any) -> None:
    store = TwinmemPropertyGraphStore(memory=core, user="alice")
    context = StorageContext.from_defaults(property_graph_store=store)
    index = build(store, ScriptedLLM(*PATHS), embed_kg_nodes=False, storage_context=context)
    assert index.property_graph_store is store
    context.persist(str(tmp_path))
    assert said(store.get_triplets(["Ann"])) == ["Ann Works at Acme"]
