"""What an agent with memory tools would lose (reference 1.7, section 5)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from langchain_mem import create_memory_tools
from shared_core import AgentMemory
from shared_core.errors import InvalidInput, InvalidType

_EXAMPLES = {"remember": {"text": "Alice likes tea"}, "recall": {"query": "tea", "limit": 2}, "forget": {"id": "x"}}


def _tool(name: str) -> Any:
    memory = AgentMemory.open(embedder="hashing")
    memory.scope(user="alice").add("Alice likes green tea", id="x")
    return create_memory_tools(memory, user="alice", names=[name])[0]


class _Remember:
    @property
    def tool_constructor(self) -> Any:
        return _tool("remember")

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return _EXAMPLES["remember"]


class _Recall:
    @property
    def tool_constructor(self) -> Any:
        return _tool("recall")

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return _EXAMPLES["recall"]


class _Forget:
    @property
    def tool_constructor(self) -> Any:
        return _tool("forget")

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return _EXAMPLES["forget"]


class TestRememberUnit(_Remember, ToolsUnitTests): ...


class TestRecallUnit(_Recall, ToolsUnitTests): ...


class TestForgetUnit(_Forget, ToolsUnitTests): ...


class TestRemember(_Remember, ToolsIntegrationTests): ...


class TestRecall(_Recall, ToolsIntegrationTests): ...


class TestForget(_Forget, ToolsIntegrationTests): ...


def test_lc_s5_20_they_work_outside_of_a_graph(memory: AgentMemory) -> None:
    remember, recall, forget = create_memory_tools(memory, user="alice")
    told = remember.invoke({"text": "Alice likes green tea"})
    id = memory.scope(user="alice").list()[0].id
    assert id in told
    assert id in recall.invoke({"query": "green tea"})
    assert forget.invoke({"id": id}) == f"Forgotten: {id}."
    assert memory.scope(user="alice").count() == 0
    assert recall.invoke({"query": "green tea"}) == "Nothing is remembered about that."


def test_lc_s5_20_without_a_user_the_error_is_an_exception_that_names_the_fix(memory: AgentMemory) -> None:
    for tool, given in zip(create_memory_tools(memory), _EXAMPLES.values(), strict=True):
        with pytest.raises(InvalidInput, match="user_id"):
            tool.invoke(given)
        with pytest.raises(InvalidInput, match="user_id"):
            asyncio.run(tool.ainvoke(given))
    with pytest.raises(InvalidType, match=r"AgentMemory\.open"):
        create_memory_tools(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("user", ["a@b.com", 7, "x/y", "é"])
def test_lc_s5_19_the_user_may_come_from_the_config(memory: AgentMemory, user: Any) -> None:
    config: Any = {"configurable": {"user_id": user}}
    remember, recall, _ = create_memory_tools(memory)
    asyncio.run(remember.ainvoke({"text": "likes green tea"}, config))
    assert memory.users() == [str(user)]
    assert "green tea" in recall.invoke({"query": "tea"}, config)
    assert "green tea" not in recall.invoke({"query": "tea"}, {"configurable": {"user_id": "other"}})


def test_lc_1_7_langmems_warts(memory: AgentMemory) -> None:
    remember, _, forget = create_memory_tools(memory, user="alice")
    assert "no memory with the id 'never'" in forget.invoke({"id": "never"})
    for blank in ("", "  "):
        with pytest.raises(ValueError):
            remember.invoke({"text": blank})
    assert memory.scope(user="alice").count() == 0


def test_another_users_memory_cannot_be_forgotten(memory: AgentMemory) -> None:
    hers = memory.scope(user="bob").add("Bob likes tea")
    create_memory_tools(memory, user="alice")[2].invoke({"id": hers.id})
    assert memory.scope(user="bob").get(hers.id) is not None


def test_recall_gives_the_program_plain_data(memory: AgentMemory) -> None:
    memory.scope(user="alice").add("Alice likes green tea")
    recall = create_memory_tools(memory, user="alice", read_only=True)[0]
    message = recall.invoke({"name": "recall", "args": {"query": "tea"}, "id": "c1", "type": "tool_call"})
    assert isinstance(message, ToolMessage)
    assert message.artifact[0]["text"] == "Alice likes green tea"
    assert type(message.artifact[0]["metadata"]["score"]) is float


def test_what_is_offered(memory: AgentMemory) -> None:
    assert [t.name for t in create_memory_tools(memory)] == ["remember", "recall", "forget"]
    assert [t.name for t in create_memory_tools(memory, read_only=True)] == ["recall"]
    assert [t.name for t in create_memory_tools(memory, names=["forget", "recall"])] == ["recall", "forget"]
    assert set(create_memory_tools(memory)[1].args) == {"query", "limit"}  # config is no argument of the model's
    for wrong in (["remeber"], "recall"):
        with pytest.raises(InvalidInput, match="memory tools"):
            create_memory_tools(memory, names=wrong)
