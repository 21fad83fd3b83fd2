"""LlamaIndex engines and agents with TwinmemMemory and the real OpenAI-like client: what the service is sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.chat_engine import ContextChatEngine, SimpleChatEngine
from llama_index.core.llms import ChatMessage
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from openai_loopback import FENCE, Loopback, call, faults, text_of, told

from llamaindex_mem import TwinmemMemory
from shared_core import AgentMemory
from shared_core.short_term.tokens import count

WAYS = ["chat", "stream_chat", "achat", "astream_chat"]
ENGINES = ["simple", "context"]


def lookup(what: str) -> str:
    """Look something up."""
    return f"{what} is a city"


class OneNode(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text="The Eiffel Tower is in Paris."), score=0.5)]


@pytest.fixture
async def client(server: Loopback) -> AsyncIterator[Any]:
    """The model. Its connections are ours, since it never closes its own: each would be a warning."""
    async with httpx.AsyncClient() as asynchronous:
        with httpx.Client() as synchronous:
            yield OpenAILike(
                model="gpt-4o", api_base=server.url, api_key="none", is_chat_model=True, context_window=8000,
                is_function_calling_model=True, max_retries=0, http_client=synchronous, async_http_client=asynchronous,
            )  # fmt: skip


def engine(kind: str, client: Any, memory: TwinmemMemory) -> Any:
    if kind == "simple":
        return SimpleChatEngine.from_defaults(llm=client, memory=memory, system_prompt="You are brief.")
    return ContextChatEngine.from_defaults(
        retriever=OneNode(), llm=client, memory=memory, system_prompt="You are brief."
    )


async def say(engine: Any, way: str, text: str) -> str:
    """One turn, until the answer is in the memory."""
    if way in ("chat", "stream_chat"):

        def turn() -> str:
            response = getattr(engine, way)(text)
            if way == "chat":
                return str(response)
            said = "".join(response.response_gen)
            if response.write_response_to_history_thread is not None:
                response.write_response_to_history_thread.join()
            return said

        return await asyncio.to_thread(turn)
    response = await getattr(engine, way)(text)
    if way == "achat":
        return str(response)
    said = "".join([token async for token in response.async_response_gen()])
    for _ in range(200):
        if engine.chat_history and engine.chat_history[-1].role.value == "assistant":
            break
        await asyncio.sleep(0.01)
    return said


def of(memory: AgentMemory, **kwargs: Any) -> TwinmemMemory:
    return TwinmemMemory.from_defaults(memory=memory, user="alice", **kwargs)


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("way", WAYS)
async def test_f3_a_second_conversation_remembers_the_first(
    server: Loopback, client: Any, file: AgentMemory, kind: str, way: str
) -> None:
    first = engine(kind, client, of(file))
    server.say("A nice city.", "Hello, Minou.")
    assert await say(first, way, "I live in Lyon") == "A nice city."
    assert await say(first, way, "My cat is called Minou") == "Hello, Minou."
    server.say("You live in Lyon.")
    assert await say(engine(kind, client, of(file)), way, "Where do I live?") == "You live in Lyon."

    assert len(server.prompts) == 3
    assert FENCE not in json.dumps(server.prompts[:1]), "neither the message nor what it teaches is told beside it"
    for prompt in server.prompts:
        assert not faults(prompt)
        assert json.dumps(prompt).count("I live in Lyon") == 1
        assert told(prompt) <= 1
    last = server.prompts[-1]
    assert told(last) == 1
    assert json.dumps(last).count("Where do I live?") == 1, "the question is not its own memory"
    # The context engine asks before it stores the question, so there memories have no user message to go into.
    assert (
        [message["role"] for message in last] == ["system", "user"]
        if kind == "simple"
        else ["system", "system", "user"]
    )
    assert json.dumps(last).count("You are brief.") == 1
    assert all(bool(body.get("stream")) == ("stream" in way) for body in server.bodies)


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("way", WAYS)
async def test_a_long_conversation_keeps_to_its_limit(
    server: Loopback, client: Any, file: AgentMemory, kind: str, way: str
) -> None:
    file.scope(user="alice").add_many([f"Tea number {i} is {'green and mild ' * 5}" for i in range(30)])
    memory = of(file, token_limit=500)
    talk = engine(kind, client, memory)
    memory.set([
        ChatMessage(role=role, content=f"{role} {i}: {'tea and more tea ' * 8}")
        for i in range(20) for role in ("user", "assistant")
    ])  # fmt: skip
    for turn in range(2):
        server.say(f"Answer {turn}")
        assert await say(talk, way, f"Question {turn}: which tea is green?") == f"Answer {turn}"
    for prompt in server.prompts:
        assert not faults(prompt)
        assert told(prompt) == 1
        spoken = [message for message in prompt if message["role"] != "system"]
        assert spoken[0]["role"] == "user"
        own = "\n".join(map(text_of, prompt)).replace("The Eiffel Tower is in Paris.", "")
        # What an engine itself puts around its context, and three tokens a message, come on top.
        assert count(own) <= 500 + (120 if kind == "context" else 20)
        assert len(spoken) < 20
    assert "Question 0" in json.dumps(server.prompts[1])
    assert len(memory.get_all()) == 44, "what left the window is kept"


@pytest.mark.parametrize("streaming", [True, False])
async def test_an_agent_with_tools_remembers_the_first_conversation(
    server: Loopback, client: Any, file: AgentMemory, streaming: bool
) -> None:
    def agent() -> Any:
        return FunctionAgent(
            llm=client, tools=[FunctionTool.from_defaults(lookup)], system_prompt="You are brief.",
            streaming=streaming,
        )  # fmt: skip

    server.say("A nice city.")
    assert str(await agent().run(user_msg="I live in Lyon", memory=of(file))) == "A nice city."
    later = of(file)
    server.say(call("lookup", "a", what="Lyon") + call("lookup", "b", what="Paris"), "You live in Lyon.")
    assert str(await agent().run(user_msg="Where do I live?", memory=later)) == "You live in Lyon."
    server.say(call("lookup", "c", what="Nice"), "Fine.")
    assert str(await agent().run(user_msg="And is Nice a city?", memory=later)) == "Fine."

    assert len(server.prompts) == 5
    for prompt in server.prompts[1:]:
        assert not faults(prompt)
        assert told(prompt) == 1
        assert json.dumps(prompt).count("I live in Lyon") == 1
        assert json.dumps(prompt).count("Where do I live?") == 1
    roles = [message["role"] for message in server.prompts[4]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant", "user", "assistant", "tool"]
    calls = server.prompts[4][2]["tool_calls"]
    assert [each["id"] for each in calls] == ["a", "b"]
    assert [json.loads(each["function"]["arguments"]) for each in calls] == [{"what": "Lyon"}, {"what": "Paris"}]
    assert [m["tool_call_id"] for m in server.prompts[4] if m["role"] == "tool"] == ["a", "b", "c"]
    assert [m.role.value for m in later.get_all()] == [
        "user", "assistant", "tool", "tool", "assistant", "user", "assistant", "tool", "assistant",
    ]  # fmt: skip


@pytest.mark.parametrize("streaming", [True, False])
async def test_an_agents_window_never_cuts_a_pair(
    server: Loopback, client: Any, file: AgentMemory, streaming: bool
) -> None:
    memory = of(file, token_limit=300)
    agent = FunctionAgent(llm=client, tools=[FunctionTool.from_defaults(lookup)], streaming=streaming)
    for turn in range(6):
        server.say(call("lookup", f"c{turn}", what=f"Lyon {turn} " * 12), f"Answer {turn}")
        await agent.run(user_msg=f"Question {turn}: {'which city ' * 8}", memory=memory)
    assert len(server.prompts) == 12
    for prompt in server.prompts:
        assert not faults(prompt)
        assert next(m["role"] for m in prompt if m["role"] != "system") == "user"
        assert told(prompt) <= 1
    before = [m for m in server.prompts[-2] if m["role"] != "system"]
    whole = "\n".join(text_of(m) + json.dumps(m.get("tool_calls") or "") for m in before)
    assert count(whole) <= 300 + 60, "the wire's own form of a call comes on top"
    assert len(memory.get_all()) == 24


async def test_a_service_that_fails_loses_no_word(server: Loopback, client: Any, file: AgentMemory) -> None:
    memory = of(file, unanswered="merge")
    agent = FunctionAgent(llm=client, tools=[FunctionTool.from_defaults(lookup)])
    server.say(500)
    with pytest.raises(Exception, match="told to fail"):
        await agent.run(user_msg="I moved to Lyon", memory=memory)
    server.say("In Lyon.")
    assert str(await agent.run(user_msg="Where do I live now?", memory=memory)) == "In Lyon."
    assert [m["role"] for m in server.prompts[-1]] == ["user"], "two in a row are one, as the policy says"
    assert json.dumps(server.prompts[-1]).count("I moved to Lyon") == 1
