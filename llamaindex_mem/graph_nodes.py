"""Entities and chunks of a memory as the nodes of a LlamaIndex property graph, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.graph_stores.types import ChunkNode, EntityNode, LabelledNode
from llama_index.core.schema import BaseNode, TextNode
from llama_index.core.vector_stores.utils import metadata_dict_to_node

from shared_core import Record
from shared_core.long_term.graph.values import Entity

ENTITY = str(EntityNode.model_fields["label"].default)  # what LlamaIndex calls a thing of no known type
PREFIX = "graph-chunk/"  # of the record of a chunk: never the id of a memory
CHUNK = "_graph_chunk"
EDGE = "_graph_edge:"

Properties = Mapping[str, Any]


def item(node: ChunkNode) -> dict[str, Any]:
    """A chunk as the record that keeps it."""
    return {
        "id": PREFIX + node.id,
        "text": node.text,
        "kind": "item",
        "source": "document",
        "metadata": {**node.properties, CHUNK: node.label},
    }


def chunk_node(record: Record) -> ChunkNode:
    """A record as the chunk it keeps."""
    properties = {key: value for key, value in record.metadata.items() if key != CHUNK and not key.startswith(EDGE)}
    return ChunkNode(
        id_=record.id.removeprefix(PREFIX), text=record.text, label=record.metadata[CHUNK], properties=properties
    )


def entity_node(entity: Entity) -> EntityNode:
    """An entity as a node: its id is the name it is shown by."""
    return EntityNode(name=entity.name, label=entity.type or ENTITY, properties=dict(entity.attributes))


def llama_node(record: Record) -> BaseNode:
    """A chunk's record as the LlamaIndex node it was made of."""
    node = chunk_node(record)
    if "_node_content" not in node.properties:  # a chunk that was made by hand
        return TextNode(id_=node.id, text=node.text, metadata=node.properties)
    found = metadata_dict_to_node(node.properties)
    found.set_content(node.text)
    return found


def has(properties: Properties, wanted: Properties) -> bool:
    """Whether any of the wanted properties is there, as in LlamaIndex's own store."""
    return any(key in properties and properties[key] == value for key, value in wanted.items())


def nearest(found: Sequence[tuple[Entity, float]]) -> tuple[list[LabelledNode], list[float]]:
    """Entities with their likeness as a vector query answers."""
    return [entity_node(entity) for entity, _ in found], [score for _, score in found]
