"""twinmem for LlamaIndex: one memory as chat memory, chat stores, memory blocks, retriever, vector and graph
store, and tools.

Everything is imported on first use. The module paths are kept for good: LlamaIndex writes them into
stored contexts.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

_WHERE = {
    "AsyncTwinmemChatStore": "llamaindex_mem.async_chat_store",
    "TwinmemChatStore": "llamaindex_mem.chat_store",
    "TwinmemFactBlock": "llamaindex_mem.blocks",
    "TwinmemGraphBlock": "llamaindex_mem.blocks",
    "TwinmemMemory": "llamaindex_mem.memory",
    "TwinmemPropertyGraphStore": "llamaindex_mem.graph_store",
    "TwinmemRecallBlock": "llamaindex_mem.blocks",
    "TwinmemRetriever": "llamaindex_mem.retriever",
    "TwinmemTaskBlock": "llamaindex_mem.blocks",
    "TwinmemToolSpec": "llamaindex_mem.tools",
    "TwinmemVectorStore": "llamaindex_mem.vector_store",
    "as_embedder": "llamaindex_mem.models",
    "as_expander": "llamaindex_mem.hooks",
    "as_llm": "llamaindex_mem.models",
    "as_reranker": "llamaindex_mem.hooks",
}

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


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
