"""The package as imported: lazy, typed, and without the other framework (reference 5)."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import llamaindex_mem

HOME = Path(llamaindex_mem.__file__).parent

PATHS = {
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
}


def python(code: str) -> str:
    # An older core warns of its own fields where pydantic is newer than it knew.
    flags = ["-W", "error", "-W", "ignore:The 'validate_default' attribute:UserWarning"]
    done = subprocess.run([sys.executable, *flags, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_li_2_the_paths_that_stored_contexts_name_never_move() -> None:
    for name, module in PATHS.items():
        found = getattr(llamaindex_mem, name)
        assert found.__module__ == module
        assert getattr(importlib.import_module(module), name) is found


def test_all_is_sorted_and_everything_in_it_is_there() -> None:
    assert sorted(llamaindex_mem.__all__) == llamaindex_mem.__all__ == dir(llamaindex_mem)
    assert set(PATHS) | {"as_embedder", "as_expander", "as_llm", "as_reranker"} == set(llamaindex_mem.__all__)
    for name in llamaindex_mem.__all__:
        assert getattr(llamaindex_mem, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute"):
        llamaindex_mem.Nothing


def test_importing_the_package_loads_no_framework() -> None:
    assert python(
        "import sys, llamaindex_mem; print([m for m in sys.modules if m.startswith(('llama_index', 'lang'))])"
    ) == ("[]\n")


def test_li_5_it_works_where_langchain_is_not_installed() -> None:
    code = """
import sys
for name in ("langchain", "langchain_core", "langgraph", "langchain_mem"):
    sys.modules[name] = None
from llamaindex_mem import *
from llama_index.core.llms import ChatMessage
from shared_core import AgentMemory
memory = TwinmemMemory.from_defaults(memory=AgentMemory.open(embedder="hashing"), user="alice")
memory.put(ChatMessage(role="user", content="hello"))
print(memory.get()[0].content)
"""
    assert python(code) == "hello\n"


def test_no_module_imports_langchain_sql_or_the_other_adapter() -> None:
    for module in HOME.glob("*.py"):
        text = module.read_text(encoding="utf-8")
        for word in ("langchain_mem", "import langchain", "from langchain", "sqlite3", "shared_core.store", "._engine"):
            assert word not in text, (module.name, word)


def test_it_is_typed() -> None:
    assert (HOME / "py.typed").exists()
