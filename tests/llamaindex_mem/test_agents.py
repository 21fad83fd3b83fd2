"""Agents and workflows with `memory=`: recall, tools, hand-off, reused and restored contexts (reference 0, 2)."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import inspect
import json
from typing import Any

import pytest
from li_scripted import ScriptedLLM, call, called
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context, Event, HumanResponseEvent, InputRequiredEvent, JsonSerializer
from llama_index.core.workflow import JsonPickleSerializer as PickleSerializer
from workflows.errors import WorkflowRuntimeError

from llamaindex_mem import TwinmemMemory
from shared_core import AgentMemory

FINAL = "Thought: I can answer without using any more tools.\nAnswer: "
ACTION = 'Thought: I need a tool.\nAction: lookup\nAction Input: {"what": "tea"}'

ALLOWS = "allowed_types" in inspect.signature(JsonSerializer.__init__).parameters


def lookup(what: str) -> str:
    """Look something up."""
    return f"{what} is green"


def function_agent(llm: ScriptedLLM, **kwargs: Any) -> Any:
    return FunctionAgent(llm=llm, tools=[FunctionTool.from_defaults(lookup)], **kwargs)


def react_agent(llm: ScriptedLLM, **kwargs: Any) -> Any:
    return ReActAgent(llm=llm, tools=[FunctionTool.from_defaults(lookup)], **kwargs)


def workflow(llm: ScriptedLLM, **kwargs: Any) -> Any:
    agent = FunctionAgent(name="one", description="one", llm=llm, tools=[FunctionTool.from_defaults(lookup)], **kwargs)
    return AgentWorkflow(agents=[agent], root_agent="one")


KINDS = {
    "function": function_agent,
    "function with system prompt": lambda llm: function_agent(llm, system_prompt="Be brief."),
    "function without streaming": lambda llm: function_agent(llm, streaming=False),
    "react": react_agent,
    "react with system prompt": lambda llm: react_agent(llm, system_prompt="Be brief."),
    "workflow": workflow,
    "workflow with state": lambda llm: AgentWorkflow(
        agents=[FunctionAgent(name="one", description="one", llm=llm, tools=[FunctionTool.from_defaults(lookup)])],
        root_agent="one",
        initial_state={"step": 1},
    ),
    "react workflow": lambda llm: AgentWorkflow(
        agents=[ReActAgent(name="one", description="one", llm=llm, tools=[FunctionTool.from_defaults(lookup)])],
        root_agent="one",
    ),
}


def final(kind: str, text: str) -> str:
    return FINAL + text if kind.startswith("react") else text


def texts(memory: TwinmemMemory) -> list[str | None]:
    return [message.content for message in memory.get_all()]


async def say(agent: Any, text: str | None, memory: TwinmemMemory | None = None, **kwargs: Any) -> str:
    handler = agent.run(**({"user_msg": text} if text else {}), **({"memory": memory} if memory else {}), **kwargs)
    async for _ in handler.stream_events():
        pass
    return str(await handler)


@pytest.mark.parametrize("kind", KINDS)
async def test_li_fact_1_and_7_memory_reaches_the_model_of_every_agent(core: AgentMemory, kind: str) -> None:
    llm = ScriptedLLM(final(kind, "Nice city"), final(kind, "In Lyon"))
    await say(KINDS[kind](llm), "I live in Lyon", TwinmemMemory.from_defaults(memory=core, user="alice"))
    later = TwinmemMemory.from_defaults(memory=core, user="alice")
    assert await say(KINDS[kind](llm), "Where do I live?", later) == "In Lyon"
    assert llm.told().count("I live in Lyon") == 1
    newest = [message for message in llm.prompts[-1] if message.role is MessageRole.USER][-1]
    assert "I live in Lyon" in str(newest.content)
    assert texts(later)[0] == "Where do I live?", "the memories or the state prompt were stored"
    assert len(texts(later)) == 2


@pytest.mark.parametrize("kind", KINDS)
async def test_li_fact_1_memory_is_there_in_every_call_of_a_turn_with_tools(core: AgentMemory, kind: str) -> None:
    core.scope(user="alice").add("Alice likes tea")
    react = kind.startswith("react")
    llm = ScriptedLLM(ACTION if react else call("lookup", what="tea"), final(kind, "It is green"))
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    assert await say(KINDS[kind](llm), "Which tea does Alice like?", memory) == "It is green"
    assert len(llm.prompts) == 2
    for prompt in (0, 1):
        assert llm.told(prompt).count("Alice likes tea") == 1, prompt
    assert "tea is green" in llm.told(1)
    if react:
        assert [m.role.value for m in memory.get_all()] == ["user", "assistant"]
    else:
        assert [m.role.value for m in memory.get_all()] == ["user", "assistant", "tool", "assistant"]
        assert [each.tool_name for each in called(memory.get_all()[1])] == ["lookup"]
        assert memory.get_all()[2].additional_kwargs["tool_call_id"] == "c1"


async def test_li_fact_7_a_system_message_of_memory_would_be_lost_in_a_react_agent(core: AgentMemory) -> None:
    """Why `insert_method` is "user": should LlamaIndex mend this, the default may be thought over."""
    core.scope(user="alice").add("Alice likes tea")
    llm = ScriptedLLM(FINAL + "tea")
    memory = TwinmemMemory.from_defaults(memory=core, user="alice", insert_method="system")
    await say(react_agent(llm), "What does Alice like?", memory)
    assert "Alice likes tea" not in llm.told()


async def test_li_2_a_hand_off_keeps_memory_for_both_agents(core: AgentMemory) -> None:
    core.scope(user="alice").add("Alice likes tea")
    llm = ScriptedLLM(call("handoff", to_agent="two", reason="it knows"), call("lookup", "c2", what="tea"), "Green tea")
    agents = [
        FunctionAgent(name="one", description="one", llm=llm, tools=[], can_handoff_to=["two"]),
        FunctionAgent(name="two", description="two", llm=llm, tools=[FunctionTool.from_defaults(lookup)]),
    ]
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    flow = AgentWorkflow(agents=agents, root_agent="one")
    assert await say(flow, "What does Alice like?", memory) == "Green tea"
    assert len(llm.prompts) == 3
    for prompt in range(3):
        assert llm.told(prompt).count("Alice likes tea") == 1, prompt
    roles = [m.role.value for m in memory.get_all()]
    assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"]


@pytest.mark.parametrize("kind", KINDS)
async def test_li_fact_2_a_reused_context_goes_on_in_the_users_own_memory(
    core: AgentMemory, path: str, kind: str
) -> None:
    for given in ({"memory": core}, {"address": path}):
        memory = TwinmemMemory.from_defaults(user="alice", **given)
        llm = ScriptedLLM(*(final(kind, f"r{n}") for n in (1, 2, 3)))
        agent = KINDS[kind](llm)
        context = Context(agent)
        for n in (1, 2, 3):
            assert await say(agent, f"u{n}", memory if n == 1 else None, ctx=context) == f"r{n}"
        assert [t for t in texts(memory) if t and t.startswith("u")] == ["u1", "u2", "u3"]
        assert len(texts(memory)) == 6, "the second run got a memory of its own"
        assert llm.told().count("u1") == 1


async def test_li_2_another_memory_for_a_context_that_has_one_stays_empty(core: AgentMemory) -> None:
    llm = ScriptedLLM("r1", "r2")
    agent = function_agent(llm)
    context = Context(agent)
    first, second = (TwinmemMemory.from_defaults(memory=core, user="alice") for _ in range(2))
    await say(agent, "u1", first, ctx=context)
    await say(agent, "u2", second, ctx=context)
    assert (texts(first), texts(second)) == (["u1", "r1", "u2", "r2"], [])


@pytest.mark.parametrize(
    "serializer",
    [JsonSerializer(), PickleSerializer(), JsonSerializer(**({"allowed_types": [TwinmemMemory]} if ALLOWS else {}))],
    ids=["json", "pickle", "allowed"],
)
@pytest.mark.parametrize("kind", KINDS)
async def test_li_fact_4_and_issue_7_a_restored_context_has_our_memory(path: str, kind: str, serializer: Any) -> None:
    memory = TwinmemMemory.from_defaults(address=path, user="alice")
    llm = ScriptedLLM(final(kind, "r1"), final(kind, "r2"))
    agent = KINDS[kind](llm)
    context = Context(agent)
    await say(agent, "u1", memory, ctx=context)
    data = json.loads(json.dumps(context.to_dict(serializer=serializer)))
    again = Context.from_dict(agent, data, serializer=serializer)
    assert await say(agent, "u2", ctx=again) == "r2"
    assert type(await again.store.get("memory")) is TwinmemMemory
    assert len(texts(memory)) == 4


async def test_li_2_a_serialised_context_holds_no_message_of_a_file(path: str) -> None:
    memory = TwinmemMemory.from_defaults(address=path, user="alice")
    agent = function_agent(ScriptedLLM())
    context = Context(agent)
    await say(agent, "my pin is 4711", memory, ctx=context)
    state = json.dumps(context.to_dict()["state"])
    stored = json.loads(json.loads(state)["state_data"]["_data"]["memory"])["value"]
    assert stored["class_name"] == "TwinmemMemory"
    assert "4711" not in json.dumps(stored)


@pytest.mark.parametrize("where", ["memory", "file"])
async def test_li_fact_3_and_issue_9_edit_state_in_a_tool_does_not_fork_the_memory(
    core: AgentMemory, path: str, where: str
) -> None:
    async def note(ctx: Context, what: str) -> str:
        """Note something."""
        async with ctx.store.edit_state() as state:
            state["state"] = {"note": what}
        return "noted"

    note.__annotations__["ctx"] = Context  # by which the tool is given it
    given: dict[str, Any] = {"address": path} if where == "file" else {"memory": core}
    memory = TwinmemMemory.from_defaults(user="alice", **given)
    llm = ScriptedLLM(call("note", what="x"), "done", "again")
    agent = FunctionAgent(llm=llm, tools=[FunctionTool.from_defaults(async_fn=note)])
    context = Context(agent)
    await say(agent, "u1", memory, ctx=context)
    assert [m.role.value for m in memory.get_all()] == ["user", "assistant", "tool", "assistant"]
    assert memory.get_all()[2].content == "noted"
    await say(agent, "u2", ctx=context)
    assert len(memory.get_all()) == 6


async def test_li_2_a_given_chat_history_replaces_and_a_return_direct_tool_is_stored(core: AgentMemory) -> None:
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    memory.put(ChatMessage(role="user", content="old"))
    tool = FunctionTool.from_defaults(lookup, return_direct=True)
    agent = FunctionAgent(llm=ScriptedLLM(call("lookup", what="tea")), tools=[tool])
    history = [ChatMessage(role="user", content="hi"), ChatMessage(role="assistant", content="hello")]
    assert await say(agent, "tea?", memory, chat_history=history) == "tea is green"
    assert [m.role.value for m in memory.get_all()] == ["user", "assistant", "user", "assistant", "tool", "assistant"]
    assert memory.get_all()[:2] == history


async def test_an_agent_is_asked_by_its_history_alone(core: AgentMemory) -> None:
    core.scope(user="alice").add("Alice likes tea")
    llm = ScriptedLLM("tea")
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    await say(
        function_agent(llm), None, memory, chat_history=[ChatMessage(role="user", content="What does Alice like?")]
    )
    assert "Alice likes tea" in llm.told()


@pytest.mark.parametrize("policy", ["keep", "merge", "drop"])
@pytest.mark.parametrize("kind", KINDS)
async def test_li_fact_9_after_a_failed_model_the_next_turn_works(core: AgentMemory, kind: str, policy: str) -> None:
    memory = TwinmemMemory.from_defaults(memory=core, user="alice", unanswered=policy, k=0)
    llm = ScriptedLLM(ConnectionError("down"), final(kind, "back"))
    with pytest.raises(Exception, match="down"):
        await say(KINDS[kind](llm), "first", memory)
    assert texts(memory) == ["first"]
    assert await say(KINDS[kind](llm), "second", memory) == "back"
    said = [str(m.content) for m in llm.prompts[-1] if m.role is MessageRole.USER]
    assert len(said) == {"keep": 2, "merge": 1, "drop": 1}[policy]
    assert ("first" in "".join(said)) == (policy != "drop")
    assert texts(memory)[:2] == ["first", "second"]


async def test_li_fact_9_max_iterations_leaves_the_question_and_the_next_turn_works(core: AgentMemory) -> None:
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    llm = ScriptedLLM(*(call("lookup", f"c{n}", what="tea") for n in range(3)))
    with pytest.raises(WorkflowRuntimeError, match="Max iterations"):
        await say(function_agent(llm), "first", memory, max_iterations=2)
    assert texts(memory) == ["first"]
    llm._answers[:] = ["back"]
    assert await say(function_agent(llm), "second", memory) == "back"
    assert texts(memory) == ["first", "second", "back"]


async def test_li_fact_9_a_cancelled_run_leaves_the_question(core: AgentMemory) -> None:
    reached = asyncio.Event()

    async def wait() -> str:
        """Wait for ever."""
        reached.set()
        await asyncio.sleep(3600)
        return ""

    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    agent = FunctionAgent(llm=ScriptedLLM(call("wait"), "back"), tools=[FunctionTool.from_defaults(async_fn=wait)])
    handler = agent.run(user_msg="first", memory=memory)
    await asyncio.wait_for(reached.wait(), 5)
    await handler.cancel_run()
    with pytest.raises(Exception):
        await handler
    assert texts(memory) == ["first"]
    assert await say(agent, "second", memory) == "back"


@pytest.mark.parametrize("serializer", [JsonSerializer(), PickleSerializer()], ids=["json", "pickle"])
async def test_li_4_a_run_that_waits_for_a_human_is_stopped_stored_and_resumed(path: str, serializer: Any) -> None:
    async def book(ctx: Context, trip: str) -> str:
        """Book a trip once somebody has agreed to it."""
        asked = InputRequiredEvent(prefix="Sure?")
        response = await ctx.wait_for_event(HumanResponseEvent, waiter_id="sure", waiter_event=asked)
        return f"{trip} is booked: {response.response}"

    book.__annotations__["ctx"] = Context  # by which the tool is given it
    memory = TwinmemMemory.from_defaults(address=path, user="alice")
    memory.put(ChatMessage(role="user", content="I live in Lyon"))
    memory.put(ChatMessage(role="assistant", content="Noted"))
    llm = ScriptedLLM(call("book", trip="Rome"), "Have fun")
    agent = FunctionAgent(llm=llm, tools=[FunctionTool.from_defaults(async_fn=book)])
    handler = agent.run(user_msg="Book Rome", memory=memory, ctx=Context(agent))
    async for event in handler.stream_events():
        if isinstance(event, InputRequiredEvent):
            stored = json.loads(json.dumps(handler.ctx.to_dict(serializer=serializer)))
            await handler.cancel_run()
            break
    with contextlib.suppress(Exception):
        await asyncio.wait_for(handler, 10)
    assert texts(memory) == ["I live in Lyon", "Noted", "Book Rome"]

    resumed = agent.run(ctx=Context.from_dict(agent, stored, serializer=serializer))
    resumed.ctx.send_event(HumanResponseEvent(response="yes"))
    assert str(await asyncio.wait_for(resumed, 10)) == "Have fun"
    assert texts(memory)[:3] == ["I live in Lyon", "Noted", "Book Rome"]
    assert "Rome is booked: yes" in str(texts(memory)[4])
    assert texts(memory)[-1] == "Have fun"
    assert len(texts(memory)) == 6


async def test_li_fact_6_a_state_prompt_is_not_written_into_the_stored_message(core: AgentMemory) -> None:
    llm = ScriptedLLM()
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    agent = FunctionAgent(llm=llm, tools=[], initial_state={"secret": 1})
    await say(agent, "hello", memory)
    assert "secret" in llm.told()
    assert texts(memory) == ["hello", "ok"]


async def test_a_question_of_several_blocks_is_known_as_stored(core: AgentMemory) -> None:
    core.scope(user="alice").add("Alice likes tea")
    llm = ScriptedLLM(call("lookup", what="tea"), "tea")
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    question = ChatMessage(role="user", blocks=[TextBlock(text="What does"), TextBlock(text="Alice like?")])
    await say(function_agent(llm), question, memory)  # type: ignore[arg-type]
    for prompt in llm.prompts:
        assert [m.role for m in prompt if "Alice likes tea" in str(m.content)] == [MessageRole.USER]


class Paused(Event):
    memory: TwinmemMemory


@pytest.mark.parametrize("serializer", [JsonSerializer(), PickleSerializer()], ids=["json", "pickle"])
def test_li_issue_8_a_memory_in_an_event_comes_back(path: str, serializer: Any) -> None:
    memory = TwinmemMemory.from_defaults(address=path, user="alice")
    memory.put(ChatMessage(role="user", content="hello"))
    again = serializer.deserialize(serializer.serialize(Paused(memory=memory)))
    assert type(again.memory) is TwinmemMemory
    assert texts(again.memory) == ["hello"]


@pytest.mark.skipif(not ALLOWS, reason="these workflows restore any type")
def test_li_2_a_serializer_that_allows_no_types_refuses_ours(path: str) -> None:
    memory = TwinmemMemory.from_defaults(address=path, user="alice")
    strict = JsonSerializer(allowed_types=[])
    with pytest.raises(ValueError, match="allowed"):
        strict.deserialize(strict.serialize(memory))


async def test_li_2_a_state_store_that_decodes_afresh_each_time_loses_nothing(path: str) -> None:
    """What a durable state store does: every `get` builds a new object from the stored text."""
    serializer = JsonSerializer()
    row = serializer.serialize(TwinmemMemory.from_defaults(address=path, user="alice"))
    await serializer.deserialize(row).aput(ChatMessage(role="user", content="hi"))
    assert texts(serializer.deserialize(row)) == ["hi"]


async def test_many_agents_of_one_user_at_once_lose_nothing(core: AgentMemory) -> None:
    memories = [TwinmemMemory.from_defaults(memory=core, user="alice") for _ in range(8)]
    await asyncio.gather(
        *(say(function_agent(ScriptedLLM()), f"question {n}", memory) for n, memory in enumerate(memories))
    )
    for n, memory in enumerate(memories):
        assert texts(memory) == [f"question {n}", "ok"]


async def test_a_deep_copied_memory_works_for_two_agents(core: AgentMemory) -> None:
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    await say(function_agent(ScriptedLLM()), "one", copy.deepcopy(memory))
    await say(function_agent(ScriptedLLM()), "two", memory)
    assert texts(memory) == ["one", "ok", "two", "ok"]


class Recording(TwinmemMemory):
    """Writes down what LlamaIndex calls."""

    async def aget(self, input: Any = None, **kwargs: Any) -> list[ChatMessage]:  # type: ignore[override]
        LOG.append(f"aget({input or ''})")
        return await super().aget(input, **kwargs)

    async def aput(self, message: ChatMessage) -> None:
        LOG.append(f"aput({message.role.value})")
        await TwinmemMemory.aput_messages(self, [message])

    async def aput_messages(self, messages: Any) -> None:
        LOG.append(f"aput_messages({','.join(m.role.value for m in messages)})")
        await super().aput_messages(messages)

    async def aset(self, messages: Any) -> None:
        LOG.append(f"aset({len(messages)})")
        await super().aset(messages)


LOG: list[str] = []


@pytest.mark.parametrize(
    ("kind", "answers", "expected"),
    [
        ("function", [call("lookup", what="tea"), "ok"],
         ["aput(user)", "aget()", "aget(q)", "aput_messages(assistant,tool,assistant)", "aget()"]),
        ("react", [ACTION, FINAL + "ok"], ["aput(user)", "aget()", "aget(q)", "aput(assistant)", "aget()"]),
    ],
)  # fmt: skip
async def test_li_2_agents_call_what_the_reference_says(
    core: AgentMemory, kind: str, answers: list[Any], expected: list[str]
) -> None:
    """Should LlamaIndex change these sequences, what recall relies on has to be looked at again."""
    LOG.clear()
    await say(KINDS[kind](ScriptedLLM(*answers)), "q", Recording.from_defaults(memory=core, user="alice"))
    assert expected == LOG
