"""What breaks for those who run LangMem or deepagents over the store; skipped where they are not installed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

sys.path.insert(0, str(Path(__file__).parent))
from scripted import Scripted, call

from langchain_mem import TwinmemEmbeddings, TwinmemStore
from shared_core import AgentMemory

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs: both packages use what LangChain has deprecated


@pytest.fixture(params=[None, {"dims": 64, "embed": TwinmemEmbeddings("hashing")}], ids=["plain", "indexed"])
def store(request: pytest.FixtureRequest, memory: AgentMemory) -> TwinmemStore:
    return TwinmemStore(memory, index=request.param)


@pytest.mark.parametrize("user", ["alice", "a@b.com"])
async def test_lc_1_7_langmems_tools_remember_and_find(store: TwinmemStore, user: str) -> None:
    langmem = pytest.importorskip("langmem")
    from langchain.agents import create_agent

    label = store.namespace(user)[1]  # LangMem itself refuses a user id with a dot
    namespace = ("memories", "{langgraph_user_id}")
    tools = [langmem.create_manage_memory_tool(namespace), langmem.create_search_memory_tool(namespace)]
    model = Scripted(answers=[
        call("manage_memory", content="The user likes green tea"), "ok", call("search_memory", query="tea"), "Green tea.",
    ])  # fmt: skip
    agent = create_agent(model, tools, store=store, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1", "langgraph_user_id": label}}
    await agent.ainvoke({"messages": [("user", "I like green tea")]}, config)
    agent.invoke({"messages": [("user", "What do I like?")]}, config)
    assert any("likes green tea" in m.text for m in model.prompts[-1] if m.type == "tool")
    assert store.memory.scope(user=user).search("green tea")[0].record.kind == "item"
    assert store.search(("memories", "bob"), query="tea") == []


async def test_lc_1_0_deepagents_keeps_its_files_in_the_store(store: TwinmemStore) -> None:
    deepagents = pytest.importorskip("deepagents")
    from deepagents.backends import StoreBackend

    model = Scripted(answers=[
        call("write_file", file_path="/notes.md", content="tea: green\n"), "ok", call("read_file", file_path="/notes.md"), "ok",
    ])  # fmt: skip
    backend = StoreBackend(store=store, namespace=lambda runtime: ("filesystem", "alice"))
    agent = deepagents.create_deep_agent(model=model, store=store, backend=backend)
    agent.invoke({"messages": [("user", "note it")]})
    await agent.ainvoke({"messages": [("user", "what did you note?")]})
    assert any("tea: green" in m.text for m in model.prompts[-1] if m.type == "tool")
    assert [item.key for item in store.search(("filesystem", "alice"))] == ["/notes.md"]
