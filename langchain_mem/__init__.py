"""twinmem for LangChain: the middleware, the store, the classic interfaces.

Names load on first use, so that a retriever does not pull in `langchain.agents`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared_core.lazy import names

if TYPE_CHECKING:
    from langchain_mem.history import TwinmemChatMessageHistory
    from langchain_mem.hooks import as_expander, as_reranker
    from langchain_mem.middleware import TwinmemMiddleware
    from langchain_mem.models import TwinmemEmbeddings, as_embedder, as_llm
    from langchain_mem.retriever import TwinmemRetriever
    from langchain_mem.store import TwinmemStore
    from langchain_mem.summarizer import TwinmemSummarizer
    from langchain_mem.tools import create_memory_tools
    from langchain_mem.vectorstore import TwinmemVectorStore

__all__ = [
    "TwinmemChatMessageHistory",
    "TwinmemEmbeddings",
    "TwinmemMiddleware",
    "TwinmemRetriever",
    "TwinmemStore",
    "TwinmemSummarizer",
    "TwinmemVectorStore",
    "as_embedder",
    "as_expander",
    "as_llm",
    "as_reranker",
    "create_memory_tools",
]

_MODULES = {
    "TwinmemChatMessageHistory": "history",
    "TwinmemEmbeddings": "models",
    "TwinmemMiddleware": "middleware",
    "TwinmemRetriever": "retriever",
    "TwinmemStore": "store",
    "TwinmemSummarizer": "summarizer",
    "TwinmemVectorStore": "vectorstore",
    "as_embedder": "models",
    "as_expander": "hooks",
    "as_llm": "models",
    "as_reranker": "hooks",
    "create_memory_tools": "tools",
}

__getattr__, __dir__ = names(__name__, _MODULES)
