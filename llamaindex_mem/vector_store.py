"""`TwinmemVectorStore`: documents beside the memories, as a LlamaIndex vector store.

The memory embeds and ranks by itself, by meaning and words together: the store is asked with the
text of a question, never with a foreign vector.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.schema import BaseNode, MetadataMode
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
    VectorStoreQueryResult,
)
from llama_index.core.vector_stores.utils import metadata_dict_to_node, node_to_metadata_dict
from pydantic import Field

from llamaindex_mem.handle import AttachedComponent
from shared_core import Hit, Record, Scope
from shared_core.errors import InvalidInput

_COLLECTION = "_collection"
_MODES = frozenset({"default", "hybrid", "semantic_hybrid", "text_search", "sparse"})
_OPERATORS = {
    FilterOperator.EQ: "$eq",
    FilterOperator.NE: "$ne",
    FilterOperator.GT: "$gt",
    FilterOperator.GTE: "$gte",
    FilterOperator.LT: "$lt",
    FilterOperator.LTE: "$lte",
    FilterOperator.IN: "$in",
    FilterOperator.NIN: "$nin",
    FilterOperator.CONTAINS: "$contains",
    FilterOperator.TEXT_MATCH: "$contains",
}

Where = dict[str, Any]


class TwinmemVectorStore(AttachedComponent, BasePydanticVectorStore):
    """The nodes of one `collection` of a user; kept with their text, so no docstore is needed.

    Each node is a record of kind "item" of the user's scope: erased with it, and left alone by
    consolidation. `VectorStoreIndex` computes an embedding for every node that this store does not
    use; give it `embed_model=MockEmbedding(1)` and it costs nothing.

    >>> from llama_index.core.schema import TextNode
    >>> from shared_core import AgentMemory
    >>> store = TwinmemVectorStore(memory=AgentMemory.open(embedder="hashing"), user="alice")
    >>> _ = store.add([TextNode(id_="1", text="Green tea keeps me awake"), TextNode(id_="2", text="My bike is red")])
    >>> store.query(VectorStoreQuery(query_str="tea", similarity_top_k=1)).ids
    ['1']
    """

    stores_text: bool = True
    is_embedding_query: bool = False
    collection: str = Field(default="default", description="tells several stores of one user apart")

    @classmethod
    def class_name(cls) -> str:
        """The name LlamaIndex stores."""
        return "TwinmemVectorStore"

    @property
    def client(self) -> Scope:
        """The scope whose records the nodes are."""
        return self.scope

    # ------------------------------------------------------------------ in

    def add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        """Store nodes in one transaction; a node with a known id is replaced. Their ids."""
        self.scope.add_many([self._item(node) for node in nodes])
        return [node.node_id for node in nodes]

    async def async_add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        """Async twin of `add`."""
        await self.scope.aadd_many([self._item(node) for node in nodes])
        return [node.node_id for node in nodes]

    def _item(self, node: BaseNode) -> dict[str, Any]:
        described = node_to_metadata_dict(node, remove_text=True, flat_metadata=False)
        return {
            "id": self._id(node.node_id),
            "text": node.get_content(metadata_mode=MetadataMode.NONE),
            "kind": "item",
            "source": "document",
            "metadata": {**described, _COLLECTION: self.collection},
        }

    def _id(self, node_id: str) -> str:
        # Not the bare id: a node must never replace a memory, nor a node of another collection.
        return f"{self.collection}/{node_id}"

    # ------------------------------------------------------------------ out

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        """The nodes that answer the query's text best, with scores in [0, 1].

        Raises `InvalidInput` for a query without text, and for a mode or filter it can't keep to.
        """
        return _result(self.scope.search(**self._asked(query)))

    async def aquery(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        """Async twin of `query`."""
        return _result(await self.scope.asearch(**self._asked(query)))

    def _asked(self, query: VectorStoreQuery) -> dict[str, Any]:
        if query.query_str is None:
            raise InvalidInput("this store embeds questions itself: give query_str, a vector alone can't be searched")
        if VectorStoreQueryMode(query.mode).value not in _MODES:
            raise InvalidInput(f"the mode {query.mode!r} is unknown here; known: {', '.join(sorted(_MODES))}")
        # An index that leaves its texts to the store has no ids of its own and sends an empty list.
        where = self._criteria(query.filters, query.node_ids or None)
        if query.doc_ids:
            where["$and"].append({"metadata.ref_doc_id": {"$in": list(query.doc_ids)}})
        return {"query": query.query_str, "k": query.similarity_top_k, "kinds": ["item"], "where": where}

    def _criteria(self, filters: MetadataFilters | None, node_ids: Sequence[str] | None) -> Where:
        parts: list[Where] = [{f"metadata.{_COLLECTION}": self.collection}]
        if node_ids is not None:
            parts.append({"id": {"$in": [self._id(node_id) for node_id in node_ids]}})
        if filters is not None and filters.filters:
            parts.append(_group(filters))
        return {"$and": parts}

    def get_nodes(self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None) -> list[BaseNode]:
        """The nodes with these ids that pass the filters; without either all of the collection."""
        return [_node(record) for record in self._records(self._criteria(filters, node_ids))]

    async def aget_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None
    ) -> list[BaseNode]:
        """Async twin of `get_nodes`."""
        found = await self.scope.alist(kinds=["item"], where=self._criteria(filters, node_ids))
        return [_node(record) for record in found]

    def _records(self, where: Where) -> list[Record]:
        return self.scope.list(kinds=["item"], where=where)

    # ------------------------------------------------------------------ erasing

    def delete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:
        """Erase the nodes of a document."""
        where = self._criteria(None, None)
        where["$and"].append({"metadata.ref_doc_id": ref_doc_id})
        self._erase(where)

    def delete_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **delete_kwargs: Any
    ) -> None:
        """Erase the nodes with these ids that pass the filters; without either, nothing: see `clear`."""
        if node_ids is not None or (filters is not None and filters.filters):
            self._erase(self._criteria(filters, node_ids))

    def clear(self) -> None:
        """Erase the collection."""
        self._erase(self._criteria(None, None))

    def _erase(self, where: Where) -> None:
        for record in self._records(where):
            self.scope.delete(record.id)

    async def adelete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:
        """Async twin of `delete`."""
        await asyncio.to_thread(self.delete, ref_doc_id)

    async def adelete_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **delete_kwargs: Any
    ) -> None:
        """Async twin of `delete_nodes`."""
        await asyncio.to_thread(self.delete_nodes, node_ids, filters)

    async def aclear(self) -> None:
        """Async twin of `clear`."""
        await asyncio.to_thread(self.clear)


def _result(hits: Sequence[Hit]) -> VectorStoreQueryResult:
    nodes = [_node(hit.record) for hit in hits]
    return VectorStoreQueryResult(
        nodes=nodes, similarities=[float(hit.score) for hit in hits], ids=[node.node_id for node in nodes]
    )


def _node(record: Record) -> BaseNode:
    return metadata_dict_to_node(record.metadata, text=record.text)


def _group(filters: MetadataFilters) -> Where:
    parts = [_group(part) if isinstance(part, MetadataFilters) else _test(part) for part in filters.filters]
    condition = FilterCondition(filters.condition or FilterCondition.AND)
    if condition is FilterCondition.NOT:
        return {"$not": {"$and": parts}}
    return {"$or" if condition is FilterCondition.OR else "$and": parts}


def _test(test: MetadataFilter) -> Where:
    key, value, operator = f"metadata.{test.key}", test.value, FilterOperator(test.operator)
    if operator in (FilterOperator.ANY, FilterOperator.ALL):
        values = value if isinstance(value, list) else [value]
        each: list[Where] = [{key: {"$contains": one}} for one in values]
        return {"$or" if operator is FilterOperator.ANY else "$and": each}
    if operator is FilterOperator.IS_EMPTY:
        return {"$or": [{key: {"$exists": False}}, {key: {"$in": ["", []]}}]}
    if operator not in _OPERATORS:
        raise InvalidInput(f"the filter operator {operator.value!r} is not supported; use text_match or another")
    return {key: {_OPERATORS[operator]: value}}
