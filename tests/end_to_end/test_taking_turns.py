"""A LangChain agent and a LlamaIndex engine take turns in one conversation, over one file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import ChatMessage, TextBlock
from llama_index.core.llms import MessageRole as Role
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from openai_loopback import FENCE, Loopback, call, faults, text_of, told

from langchain_mem import TwinmemChatMessageHistory, TwinmemMiddleware
from llamaindex_mem import TwinmemMemory
from shared_core import AgentMemory


@tool
def lookup(what: str) -> str:
    """Look something up."""
    return f"{what} is a city"


@pytest.fixture
async def llama(server: Loopback) -> AsyncIterator[Any]:
    async with httpx.AsyncClient() as asynchronous:
        with httpx.Client() as synchronous:
            yield OpenAILike(
                model="gpt-4o", api_base=server.url, api_key="none", is_chat_model=True, context_window=8000,
                is_function_calling_model=True, max_retries=0, http_client=synchronous, async_http_client=asynchronous,
            )  # fmt: skip


async def ask_langchain(server: Loopback, path: Path, text: str) -> list[BaseMessage]:
    """A turn of an agent that opens the file, reads the conversation, and adds to it; its own new messages."""
    with AgentMemory.open(path, embedder="hashing") as memory:
        history = TwinmemChatMessageHistory("shared", user="alice", memory=memory).messages
        agent = create_agent(
            ChatOpenAI(model="gpt-4o", base_url=server.url, api_key="none", max_retries=0), [lookup],
            middleware=[TwinmemMiddleware(memory, user="alice")],
        )  # fmt: skip
        given: Any = {"messages": [*history, HumanMessage(text)]}
        out = await agent.ainvoke(given, {"configurable": {"thread_id": "shared"}})
        return list(out["messages"][len(history) :])


async def ask_llamaindex(llama: Any, path: Path, text: str) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        agent = FunctionAgent(llm=llama, tools=[FunctionTool.from_defaults(lookup.func)])
        shared = TwinmemMemory.from_defaults(memory=memory, user="alice", session_id="shared")
        await agent.run(user_msg=text, memory=shared)


async def test_an_agent_of_each_takes_turns_tool_calls_included(server: Loopback, llama: Any, path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        memory.scope(user="alice").add("Alice lives in Lyon")
    server.say(call("lookup", "lc1", what="Lyon") + call("lookup", "lc2", what="Nice"), "Both are cities.")
    first = await ask_langchain(server, path, "Are Lyon and Nice cities?")
    server.say(call("lookup", "li1", what="Paris"), "So is Paris.")
    await ask_llamaindex(llama, path, "And Paris, beside Lyon?")
    server.say(call("lookup", "lc3", what="Brest"), "So is Brest.")
    third = await ask_langchain(server, path, "And Brest, beside Lyon?")
    server.say("Lyon, Nice, Paris and Brest.")
    await ask_llamaindex(llama, path, "Which cities beside Lyon did we have?")

    # Each model was sent the whole conversation so far, whoever led it: once, with its pairs, and memory once.
    turn = [["user", "assistant", "tool", "tool", "assistant"], *[["user", "assistant", "tool", "assistant"]] * 2]
    for prompt in server.prompts:
        assert not faults(prompt)
        assert told(prompt) == 1
        assert json.dumps(prompt).count("Alice lives in Lyon") == 1
        for said in ("Are Lyon and Nice cities?", "And Paris, beside Lyon?", "And Brest, beside Lyon?", "So is Paris."):
            assert json.dumps(prompt).count(said) <= 1, "what stands in the conversation is not recalled beside it"
    last = server.prompts[-1]
    spoken = [message for message in last if message["role"] != "system"]
    assert [m["role"] for m in spoken] == [role for roles in turn for role in roles] + ["user"]
    assert [each["id"] for m in spoken for each in m.get("tool_calls") or []] == ["lc1", "lc2", "li1", "lc3"]
    assert [m["tool_call_id"] for m in spoken if m["role"] == "tool"] == ["lc1", "lc2", "li1", "lc3"]
    assert [text_of(m) for m in spoken if m["role"] == "tool"] == [
        f"{c} is a city" for c in ("Lyon", "Nice", "Paris", "Brest")
    ]
    resumed = [m for m in server.prompts[4] if m["role"] != "system"]
    assert [m["role"] for m in resumed] == [role for roles in turn[:2] for role in roles] + ["user"]
    assert json.loads(resumed[6]["tool_calls"][0]["function"]["arguments"]) == {"what": "Paris"}

    with AgentMemory.open(path, embedder="hashing") as memory:
        theirs = TwinmemChatMessageHistory("shared", user="alice", memory=memory).messages
        ours = TwinmemMemory.from_defaults(memory=memory, user="alice", session_id="shared").get_all()
    assert len(theirs) == len(ours) == 15

    # LangChain gets its own messages back exactly, and LlamaIndex' in a faithful form.
    assert theirs[:5] == first
    assert theirs[9:13] == third
    assert [type(m) for m in theirs[5:9]] == [HumanMessage, AIMessage, ToolMessage, AIMessage]
    assert [m.text for m in theirs[5:9]] == ["And Paris, beside Lyon?", "", "Paris is a city", "So is Paris."]
    made: Any = theirs[6]
    assert [(c["id"], c["name"], c["args"]) for c in made.tool_calls] == [("li1", "lookup", {"what": "Paris"})]
    answered: Any = theirs[7]
    assert answered.tool_call_id == "li1"

    # And the other way round.
    assert ours[5].role == ours[13].role == Role.USER
    assert ours[5] == ChatMessage(role="user", content="And Paris, beside Lyon?")
    assert ours[13] == ChatMessage(role="user", content="Which cities beside Lyon did we have?")
    assert ours[7].role == Role.TOOL
    assert [block.block_type for block in ours[6].blocks][-1] == "tool_call"
    assert (ours[8].role, ours[8].content) == (Role.ASSISTANT, "So is Paris.")
    assert [m.role.value for m in ours[:5]] == turn[0]
    calls: Any = [block for block in ours[1].blocks if not isinstance(block, TextBlock)]
    assert [(c.tool_call_id, c.tool_name, c.tool_kwargs) for c in calls] == [
        ("lc1", "lookup", {"what": "Lyon"}), ("lc2", "lookup", {"what": "Nice"}),
    ]  # fmt: skip
    assert [m.additional_kwargs["tool_call_id"] for m in ours[2:4]] == ["lc1", "lc2"]
    assert [m.content for m in ours[:5:4]] == ["Are Lyon and Nice cities?", "Both are cities."]


@pytest.mark.parametrize("way", ["chat", "stream_chat", "achat", "astream_chat"])
async def test_an_engine_goes_on_where_an_agent_stopped(server: Loopback, llama: Any, path: Path, way: str) -> None:
    server.say(call("lookup", "lc1", what="Lyon"), "It is.")
    first = await ask_langchain(server, path, "Is Lyon a city?")
    server.say("I said that it is.")
    with AgentMemory.open(path, embedder="hashing") as memory:
        shared = TwinmemMemory.from_defaults(memory=memory, user="alice", session_id="shared")
        engine = SimpleChatEngine.from_defaults(llm=llama, memory=shared)
        if way == "chat":
            await asyncio.to_thread(engine.chat, "What did you say?")
        elif way == "stream_chat":
            response = await asyncio.to_thread(engine.stream_chat, "What did you say?")
            await asyncio.to_thread(lambda: "".join(response.response_gen))
            if response.write_response_to_history_thread is not None:
                await asyncio.to_thread(response.write_response_to_history_thread.join)
        elif way == "achat":
            await engine.achat("What did you say?")
        else:
            streamed = await engine.astream_chat("What did you say?")
            assert "".join([token async for token in streamed.async_response_gen()])
        for _ in range(200):
            if len(shared.get_all()) == 6:
                break
            await asyncio.sleep(0.01)
    prompt = server.prompts[-1]
    assert [m["role"] for m in prompt] == ["user", "assistant", "tool", "assistant", "user"]
    assert FENCE not in json.dumps(prompt), "there is nothing to recall but the conversation itself"

    server.say("Glad to hear.")
    more = await ask_langchain(server, path, "You did.")
    assert [m["role"] for m in server.prompts[-1]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    with AgentMemory.open(path, embedder="hashing") as memory:
        found = TwinmemChatMessageHistory("shared", user="alice", memory=memory).messages
    assert found[:4] == first
    assert found[6:] == more
    assert [(m.type, m.text) for m in found[4:6]] == [("human", "What did you say?"), ("ai", "I said that it is.")]
