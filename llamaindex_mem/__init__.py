"""twinmem for LlamaIndex: one memory as chat memory, chat stores, memory blocks, retriever, vector and graph
store, and tools.

Everything is imported on first use. The module paths are kept for good: LlamaIndex writes them into
stored contexts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared_core.lazy import names

if TYPE_CHECKING:
    from llamaindex_mem.async_chat_store import AsyncTwinmemChatStore
    from llamaindex_mem.blocks import TwinmemFactBlock, TwinmemGraphBlock, TwinmemRecallBlock, TwinmemTaskBlock
    from llamaindex_mem.chat_store import TwinmemChatStore
    from llamaindex_mem.graph_store import TwinmemPropertyGraphStore
    from llamaindex_mem.hooks import as_expander, as_reranker
    from llamaindex_mem.memory import TwinmemMemory
    from llamaindex_mem.models import as_embedder, as_llm
    from llamaindex_mem.retriever import TwinmemRetriever
    from llamaindex_mem.tools import TwinmemToolSpec
    from llamaindex_mem.vector_store import TwinmemVectorStore

__all__ = [
    "AsyncTwinmemChatStore",
    "TwinmemChatStore",
    "TwinmemFactBlock",
    "TwinmemGraphBlock",
    "TwinmemMemory",
    "TwinmemPropertyGraphStore",
    "TwinmemRecallBlock",
    "TwinmemRetriever",
    "TwinmemTaskBlock",
    "TwinmemToolSpec",
    "TwinmemVectorStore",
    "as_embedder",
    "as_expander",
    "as_llm",
    "as_reranker",
]

_MODULES = {
    "AsyncTwinmemChatStore": "async_chat_store",
    "TwinmemChatStore": "chat_store",
    "TwinmemFactBlock": "blocks",
    "TwinmemGraphBlock": "blocks",
    "TwinmemMemory": "memory",
    "TwinmemPropertyGraphStore": "graph_store",
    "TwinmemRecallBlock": "blocks",
    "TwinmemRetriever": "retriever",
    "TwinmemTaskBlock": "blocks",
    "TwinmemToolSpec": "tools",
    "TwinmemVectorStore": "vector_store",
    "as_embedder": "models",
    "as_expander": "hooks",
    "as_llm": "models",
    "as_reranker": "hooks",
}

__getattr__, __dir__ = names(__name__, _MODULES)
