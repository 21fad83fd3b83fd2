"""`create_agent` with TwinmemMiddleware and the real OpenAI client: what the service is sent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from openai_loopback import FENCE, Loopback, call, faults, text_of, told

from langchain_mem import TwinmemMiddleware
from shared_core import AgentMemory
from shared_core.short_term.tokens import count

WAYS = ["invoke", "ainvoke", "stream", "astream"]


@tool
def lookup(what: str) -> str:
    """Look something up."""
    return f"{what} is a city"


def model(server: Loopback, **kwargs: Any) -> Any:
    return ChatOpenAI(model="gpt-4o", base_url=server.url, api_key="none", max_retries=0, **kwargs)


def agent(server: Loopback, memory: AgentMemory, **kwargs: Any) -> Any:
    remembering = TwinmemMiddleware(memory, user="alice", **kwargs.pop("options", {}))
    return create_agent(
        kwargs.pop("model", None) or model(server), [lookup], system_prompt="You are brief.",
        middleware=[remembering], checkpointer=InMemorySaver(), **kwargs,
    )  # fmt: skip


async def say(agent: Any, way: str, text: str, thread: str = "1") -> str:
    """One turn; what the user gets to read."""
    given: Any = {"messages": [("user", text)]}
    config: Any = {"configurable": {"thread_id": thread}}
    if way == "invoke":
        return str(agent.invoke(given, config)["messages"][-1].text)
    if way == "ainvoke":
        return str((await agent.ainvoke(given, config))["messages"][-1].text)
    if way == "stream":
        parts = list(agent.stream(given, config, stream_mode="messages"))
    else:
        parts = [part async for part in agent.astream(given, config, stream_mode="messages")]
    return "".join(chunk.text for chunk, _ in parts if chunk.type == "AIMessageChunk")


def system(prompt: list[dict[str, Any]]) -> str:
    """The system text; one message, the first, and the application's own words lead it."""
    assert [message["role"] for message in prompt].count("system") == 1
    assert prompt[0]["role"] == "system"
    assert text_of(prompt[0]).startswith("You are brief.")
    return text_of(prompt[0])


@pytest.mark.parametrize("way", WAYS)
async def test_f2_a_second_conversation_remembers_the_first(server: Loopback, file: AgentMemory, way: str) -> None:
    asking = agent(server, file)
    server.say("A nice city.")
    assert await say(asking, way, "I live in Lyon with my cat Minou") == "A nice city."
    server.say(call("lookup", what="Lyon"), "You live in Lyon.")
    assert await say(asking, way, "Where do I live?", "2") == "You live in Lyon."

    first, second, third = server.prompts
    assert system(first) == "You are brief."
    assert FENCE not in json.dumps(first)
    for prompt in (second, third):
        assert not faults(prompt)
        assert told(prompt) == 1
        assert system(prompt).count("I live in Lyon with my cat Minou") == 1
        assert "Where do I live?" not in system(prompt), "the question is not its own memory"
        assert json.dumps(prompt).count("Where do I live?") == 1
    assert system(second) == system(third), "recalled once a turn"
    assert [message["role"] for message in third] == ["system", "user", "assistant", "tool"]
    assert third[2]["tool_calls"][0]["id"] == third[3]["tool_call_id"] == "call-1"
    assert json.loads(third[2]["tool_calls"][0]["function"]["arguments"]) == {"what": "Lyon"}
    assert text_of(third[3]) == "Lyon is a city"
    assert all(bool(body.get("stream")) == (way in ("stream", "astream")) for body in server.bodies)

    stored = file.scope(user="alice").session("2").messages()
    assert [(m.role, m.text) for m in stored] == [
        ("user", "Where do I live?"), ("assistant", ""), ("tool", "Lyon is a city"), ("assistant", "You live in Lyon."),
    ]  # fmt: skip
    assert stored[1].tool_calls == ({"id": "call-1", "name": "lookup", "args": {"what": "Lyon"}},)


@pytest.mark.parametrize("way", WAYS)
async def test_memory_does_not_pile_up_in_a_long_conversation(server: Loopback, file: AgentMemory, way: str) -> None:
    file.scope(user="alice").add("Alice drinks green tea")
    asking = agent(server, file)
    for turn in range(4):
        server.say(
            call("lookup", f"a{turn}", what="tea") + call("lookup", f"b{turn}", what="more tea"), f"Answer {turn}"
        )
        assert await say(asking, way, f"Question {turn}: which tea?") == f"Answer {turn}"
    assert len(server.prompts) == 8
    for number, prompt in enumerate(server.prompts):
        assert told(prompt) == 1
        assert system(prompt).count("Alice drinks green tea") == 1
        # What the conversation holds is not recalled beside it.
        assert not any(f"Question {turn}" in system(prompt) for turn in range(4))
        assert len([m for m in prompt if m["role"] == "user"]) == number // 2 + 1
    kinds = ["user", "assistant", "tool", "tool", "assistant"]
    assert [m.role for m in file.scope(user="alice").session("1").messages()] == kinds * 4


@pytest.mark.parametrize("way", WAYS)
async def test_memories_keep_to_their_budget(server: Loopback, file: AgentMemory, way: str) -> None:
    file.scope(user="alice").add_many([f"Tea number {i} is {'green and mild ' * 10}" for i in range(50)])
    asking = agent(server, file, options={"k": 40, "max_tokens": 200})
    assert await say(asking, way, "Which teas are green?") == "ok"
    told = system(server.prompts[0]).removeprefix("You are brief.")
    assert told.count("Tea number") >= 2
    assert count(told) <= 200


@pytest.mark.parametrize("way", WAYS)
async def test_the_agents_own_tools_go_over_the_wire(server: Loopback, file: AgentMemory, way: str) -> None:
    asking = agent(server, file, options={"tools": True})
    server.say(call("remember", text="Alice's birthday is on 8 March"), "I'll remember.")
    assert await say(asking, way, "My birthday is on 8 March") == "I'll remember."
    offered = {each["function"]["name"]: each["function"]["parameters"] for each in server.bodies[0]["tools"]}
    assert set(offered) == {"lookup", "remember", "recall", "forget"}
    assert set(offered["recall"]["properties"]) == {"query", "limit"}, "no config or runtime in the schema"
    server.say(call("recall", query="birthday"), "On 8 March.")
    assert await say(asking, way, "When is it?", "2") == "On 8 March."
    assert "8 March" in text_of(server.prompts[-1][-1])
    assert not faults(server.prompts[-1])


@pytest.mark.parametrize("way", WAYS)
async def test_a_service_that_fails_loses_no_word(server: Loopback, file: AgentMemory, way: str) -> None:
    asking = agent(server, file)
    server.say(500)
    with pytest.raises(Exception, match="told to fail"):
        await say(asking, way, "I moved to Lyon")
    assert [m.text for m in file.scope(user="alice").session("1").messages()] == ["I moved to Lyon"]
    server.say("In Lyon.")
    assert await say(asking, way, "Where do I live now?", "2") == "In Lyon."
    assert "I moved to Lyon" in system(server.prompts[-1])


@pytest.mark.parametrize("way", WAYS)
async def test_the_clients_own_retries_store_a_turn_once(server: Loopback, file: AgentMemory, way: str) -> None:
    retrying = ChatOpenAI(model="gpt-4o", base_url=server.url, api_key="none", max_retries=2)
    asking = agent(server, file, model=retrying)
    server.say(500, call("lookup", what="Lyon"), 500, "Fine.")
    assert await say(asking, way, "I moved to Lyon") == "Fine."
    assert len(server.bodies) == 4
    assert [m.role for m in file.scope(user="alice").session("1").messages()] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


@pytest.mark.parametrize("way", WAYS)
async def test_nothing_of_another_user_is_sent(server: Loopback, file: AgentMemory, way: str) -> None:
    file.scope(user="bob").add("Bob lives in Lyon")
    assert await say(agent(server, file), way, "Who lives in Lyon?") == "ok"
    assert "Bob" not in json.dumps(server.bodies)
