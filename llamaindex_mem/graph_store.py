"""`TwinmemPropertyGraphStore`: the knowledge graph of a user, as a LlamaIndex property graph store.

Entities and relations are those of `scope.graph`: what is told in conversations and what an index
extracts from documents are one graph, under the same aliases and merges. Text chunks are records of
the scope, and the source of what was extracted from them: erasing a chunk takes along what came
only from it.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn, Self

from llama_index.core.graph_stores.types import (
    TRIPLET_SOURCE_KEY,
    ChunkNode,
    EntityNode,
    LabelledNode,
    PropertyGraphStore,
    Relation,
    Triplet,
)
from llama_index.core.schema import BaseNode, TextNode
from llama_index.core.vector_stores.types import VectorStoreQuery

from llamaindex_mem.graph_nodes import (
    CHUNK,
    EDGE,
    ENTITY,
    PREFIX,
    Properties,
    chunk_node,
    entity_node,
    has,
    item,
    llama_node,
    nearest,
)  # fmt: skip
from llamaindex_mem.handle import Attached
from shared_core import AgentMemory, Record, Scope
from shared_core.errors import InvalidInput
from shared_core.long_term.graph.names import predicate_key
from shared_core.long_term.graph.values import Entity
from shared_core.long_term.graph.values import Relation as Known

_MOST = 1_000_000


class TwinmemPropertyGraphStore(PropertyGraphStore):
    """The graph of one user, for a `PropertyGraphIndex` and its retrievers.

    Names in other case, width or spacing are one node, and so are told aliases: a node's id is the
    name it is shown by. Only told relations are given, never inferred ones. What ties chunks to each
    other (NEXT, SOURCE...) stays with the chunks, out of the user's graph. Queries in a graph
    language are not supported. Nothing has to be persisted: the database is.

    >>> from shared_core import AgentMemory
    >>> store = TwinmemPropertyGraphStore(memory=AgentMemory.open(embedder="hashing"), user="alice")
    >>> store.upsert_nodes([EntityNode(name="Ann", label="person"), EntityNode(name="ACME")])
    >>> store.upsert_relations([Relation(label="works at", source_id="Ann", target_id="ACME")])
    >>> [(one.id, relation.id, other.id) for one, relation, other in store.get_triplets(["acme"])]
    [('Ann', 'works at', 'ACME')]
    """

    def __init__(
        self, *, memory: AgentMemory | None = None, user: str | None = None, agent: str = "default",
        address: str | os.PathLike[str] | None = None, store_id: str | None = None, supports_vector_queries: bool = False,
    ) -> None:  # fmt: skip
        """The graph of `user` in a caller's `memory`, or in the database at `address`.

        Set `supports_vector_queries` where the index embeds with the same model as the memory: it
        then needs no vector store beside this one.
        """
        self._place = Attached(memory=memory, user=user, agent=agent, address=address, store_id=store_id)
        self.supports_vector_queries = supports_vector_queries

    @classmethod
    def class_name(cls) -> str:
        """The name LlamaIndex stores."""
        return "TwinmemPropertyGraphStore"

    def to_dict(self) -> dict[str, Any]:
        """The address, the user and the options; JSON."""
        options = {"supports_vector_queries": self.supports_vector_queries, "class_name": self.class_name()}
        return {**self._place.state(), **options}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The store `to_dict` described, on the same database."""
        return cls(**{name: value for name, value in data.items() if name != "class_name"})

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_dict, (self.to_dict(),)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self  # whoever copies it means the same graph

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TwinmemPropertyGraphStore) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self._place)

    def __repr__(self) -> str:
        return f"TwinmemPropertyGraphStore(user={self._place.user!r}, agent={self._place.agent!r})"

    @property
    def scope(self) -> Scope:
        """The memory of this user, for everything else the core can do."""
        return self._place.scope

    @property
    def client(self) -> Scope:
        """The scope whose graph this is."""
        return self.scope

    # ------------------------------------------------------------------ in

    def upsert_nodes(self, nodes: Sequence[LabelledNode]) -> None:
        """Store nodes: chunks as records, in one transaction, then entities in another.

        A known entity keeps its properties and takes on the new ones; a known chunk is replaced.
        """
        chunks = [node for node in nodes if isinstance(node, ChunkNode)]
        if chunks:
            self.scope.add_many([item(node) for node in chunks])
        people = [node for node in nodes if isinstance(node, EntityNode)]
        sources = self._sources(node.properties for node in people)
        self.scope.graph.describe_many(
            {
                "name": node.id,
                "type": None if node.label == ENTITY else node.label,
                "attributes": node.properties,
                "source": sources.get(node.properties.get(TRIPLET_SOURCE_KEY)),
            }
            for node in people
        )

    def upsert_relations(self, relations: list[Relation]) -> None:
        """Store relations in one transaction; told again they take on the new properties."""
        chunks = self._chunks(end for each in relations for end in (each.source_id, each.target_id))
        for each in relations:
            if each.source_id in chunks or each.target_id in chunks:
                at = each.source_id if each.source_id in chunks else each.target_id
                edge = f"{EDGE}{json.dumps([each.source_id, each.label, each.target_id])}"
                self.scope.update(PREFIX + at, metadata={edge: each.properties})
        told = [each for each in relations if each.source_id not in chunks and each.target_id not in chunks]
        sources = self._sources(each.properties for each in told)
        self.scope.graph.add_many(
            {
                "subject": each.source_id, "predicate": each.label, "object": each.target_id,
                "attributes": each.properties, "source": sources.get(each.properties.get(TRIPLET_SOURCE_KEY)),
            }
            for each in told
        )  # fmt: skip

    def _sources(self, properties: Iterable[Properties]) -> dict[Any, str]:
        """The records that properties name as the chunk, or the memory, they come from."""
        named = {each[TRIPLET_SOURCE_KEY] for each in properties if isinstance(each.get(TRIPLET_SOURCE_KEY), str)}
        found = {id: PREFIX + id for id in self._chunks(named)}
        memories = self.scope.list(where={"id": {"$in": sorted(named - found.keys())}}) if named - found.keys() else []
        return {**found, **{record.id: record.id for record in memories}}

    # ------------------------------------------------------------------ out

    def get(self, properties: dict[str, Any] | None = None, ids: list[str] | None = None) -> list[LabelledNode]:
        """The nodes with any of these properties, among those with these ids; without either, all.

        An id is any name of an entity, or the id of a chunk.
        """
        if ids:
            entities = [self.scope.graph.entity(name) for name in dict.fromkeys(ids)]
            people = {each.name: entity_node(each) for each in entities if each is not None}
            found = [*people.values(), *map(chunk_node, self._chunks(ids).values())]
        else:
            found = [*map(entity_node, self.scope.graph.entities()), *map(chunk_node, self._all_chunks())]
        return [node for node in found if not properties or has(node.properties, properties)]

    def get_triplets(
        self, entity_names: list[str] | None = None, relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None, ids: list[str] | None = None,
    ) -> list[Triplet]:  # fmt: skip
        """The triplets that pass every criterion given; without any, none.

        `entity_names` and `ids` keep those with such a node at either end, `relation_names` those of
        these labels in whatever spelling, `properties` those with any of them, in a node or the relation.
        """
        if not (entity_names or relation_names or properties or ids):
            return []
        known = [names for names in (entity_names, ids) if names]
        found = self._triplets(self._told(known[0] if known else None)) + self._between_chunks()
        for names in known:
            ends = {node.id for node in self.get(ids=names)}
            found = [each for each in found if each[0].id in ends or each[2].id in ends]
        if relation_names:
            labels = {predicate_key(name) for name in relation_names}
            found = [each for each in found if predicate_key(each[1].label) in labels]
        if properties:
            found = [each for each in found if any(has(part.properties, properties) for part in each)]
        return found

    def _told(self, names: Sequence[str] | None) -> list[Known]:
        graph = self.scope.graph
        return graph.relations(inferred=False) if names is None else graph.around(names, 1, limit=_MOST)

    def get_rel_map(
        self, graph_nodes: list[LabelledNode], depth: int = 2, limit: int = 30, ignore_rels: list[str] | None = None
    ) -> list[Triplet]:
        """The triplets at most `depth` steps away from these nodes, the nearest first, at most `limit`."""
        ignored = ignore_rels or []
        names = [node.id for node in graph_nodes if not isinstance(node, ChunkNode)]
        found = self._triplets(self.scope.graph.around(names, depth, limit=limit, without=ignored))
        chunks = {node.id for node in graph_nodes if isinstance(node, ChunkNode)}
        labels = {predicate_key(name) for name in ignored}
        for each in self._between_chunks() if chunks and depth else ():
            if (each[0].id in chunks or each[2].id in chunks) and predicate_key(each[1].label) not in labels:
                found.append(each)
        return found[:limit]

    def _triplets(self, relations: Iterable[Known]) -> list[Triplet]:
        entities: dict[str, Entity] = {}
        found: list[Triplet] = []
        for each in relations:
            for name in (each.subject, each.object):
                if name not in entities:
                    entities[name] = self.scope.graph.entity(name) or Entity(name=name)
            subject, object_ = entity_node(entities[each.subject]), entity_node(entities[each.object])
            properties = dict(each.attributes)
            if each.source is not None:
                # Retrievers look there for the text that says so: the chunk, or what was said.
                properties.setdefault(TRIPLET_SOURCE_KEY, each.source.removeprefix(PREFIX))
                subject.properties[TRIPLET_SOURCE_KEY] = properties[TRIPLET_SOURCE_KEY]
            relation = Relation(label=each.predicate, source_id=subject.id, target_id=object_.id, properties=properties)
            found.append((subject, relation, object_))
        return found

    def _between_chunks(self) -> list[Triplet]:
        chunks = {record.id.removeprefix(PREFIX): record for record in self._all_chunks()}
        found: list[Triplet] = []
        for record in chunks.values():
            for key, properties in record.metadata.items():
                if key.startswith(EDGE):
                    source, label, target = json.loads(key.removeprefix(EDGE))
                    ends = [chunk_node(chunks[id]) if id in chunks else EntityNode(name=id) for id in (source, target)]
                    relation = Relation(label=label, source_id=source, target_id=target, properties=properties)
                    found.append((ends[0], relation, ends[1]))
        return found

    def _chunks(self, ids: Iterable[str]) -> dict[str, Record]:
        wanted = [PREFIX + id for id in dict.fromkeys(ids)]
        records = self.scope.list(kinds=["item"], where={"id": {"$in": wanted}}) if wanted else []
        return {record.id.removeprefix(PREFIX): record for record in records}

    def _all_chunks(self) -> list[Record]:
        return self.scope.list(kinds=["item"], where={f"metadata.{CHUNK}": {"$exists": True}})

    def get_llama_nodes(self, node_ids: list[str]) -> list[BaseNode]:
        """The chunks with these ids as LlamaIndex nodes; the text of a memory, where its id is given."""
        chunks = self._chunks(node_ids)
        found: list[BaseNode] = []
        for id in dict.fromkeys(node_ids):
            if id in chunks:
                found.append(llama_node(chunks[id]))
            elif (record := self.scope.get(id)) is not None:
                found.append(TextNode(id_=id, text=record.text))
        return found

    # ------------------------------------------------------------------ erasing

    def delete(
        self, entity_names: list[str] | None = None, relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None, ids: list[str] | None = None,
    ) -> None:  # fmt: skip
        """Take out these nodes, with their relations, and the relations of these labels; without any criterion, nothing.

        Nodes with any of the `properties` go too. The memories that entities were read from stay.
        """
        nodes = self.get(ids=[*(entity_names or ()), *(ids or ())]) if entity_names or ids else []
        if properties:
            nodes += self.get(properties=properties)
        graph = self.scope.graph
        if relation_names:
            labels = {predicate_key(name) for name in relation_names}
            for each in graph.relations(inferred=False):
                if predicate_key(each.predicate) in labels:
                    graph.remove(*each.triple)
        for node in nodes:
            if isinstance(node, EntityNode):
                graph.delete(node.id)
        gone = {node.id for node in nodes if isinstance(node, ChunkNode)}
        self._drop_edges(gone, {predicate_key(name) for name in relation_names or ()})
        for id in gone:
            self.scope.delete(PREFIX + id)

    def _drop_edges(self, chunks: set[str], labels: set[str]) -> None:
        """Take out what ties other chunks to these, and ties of these labels."""
        for record in self._all_chunks() if chunks or labels else ():
            edges = {key: json.loads(key.removeprefix(EDGE)) for key in record.metadata if key.startswith(EDGE)}
            lost = {
                key: None
                for key, (source, label, target) in edges.items()
                if chunks & {source, target} or predicate_key(label) in labels
            }
            if lost and record.id.removeprefix(PREFIX) not in chunks:
                self.scope.update(record.id, metadata=lost)

    def delete_llama_nodes(self, node_ids: list[str] | None = None, ref_doc_ids: list[str] | None = None) -> None:
        """Erase these chunks, and those of these documents, with what was extracted from them alone.

        An entity that another chunk or a conversation tells of stays.
        """
        gone = list(self._chunks(node_ids or ()))
        if ref_doc_ids:
            where = {f"metadata.{CHUNK}": {"$exists": True}, "metadata.ref_doc_id": {"$in": list(ref_doc_ids)}}
            gone += [record.id.removeprefix(PREFIX) for record in self.scope.list(kinds=["item"], where=where)]
        if gone:
            self.delete(ids=gone)

    # ------------------------------------------------------------------ queries

    def structured_query(self, query: str, param_map: dict[str, Any] | None = None) -> NoReturn:
        """Not supported: raises NotImplementedError, as `supports_structured_queries` says."""
        raise NotImplementedError(
            "this store speaks no graph language; ask `scope.graph.ask`, or use get_triplets and get_rel_map"
        )

    def vector_query(self, query: VectorStoreQuery, **kwargs: Any) -> tuple[list[LabelledNode], list[float]]:
        """The entities whose names are nearest to the query, with their cosines, best first.

        Names are embedded by the memory's own model, and so is `query_str`. A query that has a
        vector only, as `VectorContextRetriever` sends it, is answered where `supports_vector_queries`
        says that it comes from the same model; elsewhere it raises `InvalidInput`.
        """
        return nearest(self.scope.graph.similar(*self._asked(query)))

    def _asked(self, query: VectorStoreQuery) -> tuple[str | list[float], int]:
        if query.query_str is not None:
            return query.query_str, query.similarity_top_k
        if query.query_embedding is None or not self.supports_vector_queries:
            raise InvalidInput(
                "this store embeds names with the memory's own model: give query_str, or set "
                "supports_vector_queries=True if the vector comes from the same model"
            )
        return query.query_embedding, query.similarity_top_k

    def get_schema(self, refresh: bool = False) -> dict[str, Any]:
        """The labels of nodes with their properties, the relations with theirs, and what they lead from and to."""
        nodes: dict[str, set[str]] = {}
        labels: dict[str, str] = {}
        for entity in self.scope.graph.entities():
            labels[entity.name] = entity.type or ENTITY
            nodes.setdefault(labels[entity.name], set()).update(entity.attributes)
        relations: dict[str, set[str]] = {}
        ways: dict[tuple[str, str, str], None] = {}
        for each in self.scope.graph.relations(inferred=False):
            relations.setdefault(each.predicate, set()).update(each.attributes)
            ways[labels.get(each.subject, ENTITY), each.predicate, labels.get(each.object, ENTITY)] = None
        return {
            "node_props": {label: sorted(names) for label, names in nodes.items()},
            "rel_props": {label: sorted(names) for label, names in relations.items()},
            "relationships": [{"start": start, "type": label, "end": end} for start, label, end in ways],
        }

    def get_schema_str(self, refresh: bool = False) -> str:
        """The schema as JSON."""
        return json.dumps(self.get_schema(refresh), ensure_ascii=False)

    def persist(self, persist_path: str, fs: Any = None) -> None:
        """Does nothing: what is stored is in the database already."""

    # ------------------------------------------------------------------ async twins, in a worker thread

    async def aget(self, properties: dict[str, Any] | None = None, ids: list[str] | None = None) -> list[LabelledNode]:
        """Async twin of `get`."""
        return await asyncio.to_thread(self.get, properties, ids)

    async def aget_triplets(
        self, entity_names: list[str] | None = None, relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None, ids: list[str] | None = None,
    ) -> list[Triplet]:  # fmt: skip
        """Async twin of `get_triplets`."""
        return await asyncio.to_thread(self.get_triplets, entity_names, relation_names, properties, ids)

    async def aget_rel_map(
        self, graph_nodes: list[LabelledNode], depth: int = 2, limit: int = 30, ignore_rels: list[str] | None = None
    ) -> list[Triplet]:
        """Async twin of `get_rel_map`."""
        return await asyncio.to_thread(self.get_rel_map, graph_nodes, depth, limit, ignore_rels)

    async def aget_llama_nodes(self, node_ids: list[str]) -> list[BaseNode]:
        """Async twin of `get_llama_nodes`."""
        return await asyncio.to_thread(self.get_llama_nodes, node_ids)

    async def aupsert_nodes(self, nodes: Sequence[LabelledNode]) -> None:
        """Async twin of `upsert_nodes`."""
        await asyncio.to_thread(self.upsert_nodes, nodes)

    async def aupsert_relations(self, relations: list[Relation]) -> None:
        """Async twin of `upsert_relations`."""
        await asyncio.to_thread(self.upsert_relations, relations)

    async def adelete(
        self, entity_names: list[str] | None = None, relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None, ids: list[str] | None = None,
    ) -> None:  # fmt: skip
        """Async twin of `delete`."""
        await asyncio.to_thread(self.delete, entity_names, relation_names, properties, ids)

    async def adelete_llama_nodes(
        self, node_ids: list[str] | None = None, ref_doc_ids: list[str] | None = None
    ) -> None:
        """Async twin of `delete_llama_nodes`."""
        await asyncio.to_thread(self.delete_llama_nodes, node_ids, ref_doc_ids)

    async def avector_query(self, query: VectorStoreQuery, **kwargs: Any) -> tuple[list[LabelledNode], list[float]]:
        """Async twin of `vector_query`."""
        return nearest(await self.scope.graph.asimilar(*self._asked(query)))

    async def aget_schema(self, refresh: bool = False) -> Any:
        """Async twin of `get_schema`."""
        return await asyncio.to_thread(self.get_schema, refresh)

    async def aget_schema_str(self, refresh: bool = False) -> str:
        """Async twin of `get_schema_str`."""
        return await asyncio.to_thread(self.get_schema_str, refresh)
