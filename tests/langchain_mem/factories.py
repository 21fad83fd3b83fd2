"""Factories for the black-box contracts; `python -m pytest <contract> --history factories:history`."""

from __future__ import annotations

from typing import Any

from langchain_core.chat_history import BaseChatMessageHistory

from langchain_mem import TwinmemChatMessageHistory
from shared_core import AgentMemory


def history(session_id: str, path: str) -> BaseChatMessageHistory:
    """One user's conversation in a file, embedded by the quick embedder."""
    AgentMemory.register(path, lambda: {"embedder": "hashing"})
    return TwinmemChatMessageHistory(session_id, user="alice", address=path)


def store(index: dict[str, Any] | None, ttl: dict[str, Any] | None) -> Any:
    """An empty store in memory."""
    from langchain_mem import TwinmemStore

    return TwinmemStore(AgentMemory.open(embedder="hashing"), index=index, ttl=ttl)
