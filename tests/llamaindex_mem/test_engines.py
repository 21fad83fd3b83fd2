"""Every chat engine, in each of its four ways to chat, with `memory=` and nothing else (reference 2)."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from li_scripted import ScriptedLLM
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, MessageRole, TextBlock
from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from llamaindex_mem import TwinmemMemory
from shared_core import AgentMemory

WAYS = ["chat", "stream_chat", "achat", "astream_chat"]


class OneNode(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text="The Eiffel Tower is in Paris."), score=0.5)]


class Echo(CustomQueryEngine):
    """A query engine that keeps what it was asked and answers "ok"."""

    asked: list[str]
    stream: bool = False

    def custom_query(self, query_str: str) -> Any:
        self.asked.append(query_str)
        return StreamingResponse(response_gen=iter(["o", "k"])) if self.stream else Response("ok")

    async def acustom_query(self, query_str: str) -> Any:
        self.asked.append(query_str)

        async def gen() -> AsyncIterator[str]:
            yield "o"
            yield "k"

        return AsyncStreamingResponse(response_gen=gen()) if self.stream else Response("ok")


def simple(memory: TwinmemMemory, llm: ScriptedLLM, way: str) -> Any:
    return SimpleChatEngine.from_defaults(llm=llm, memory=memory)


def context(memory: TwinmemMemory, llm: ScriptedLLM, way: str) -> Any:
    return ContextChatEngine.from_defaults(retriever=OneNode(), llm=llm, memory=memory)


def condense_plus(memory: TwinmemMemory, llm: ScriptedLLM, way: str) -> Any:
    return CondensePlusContextChatEngine.from_defaults(retriever=OneNode(), llm=llm, memory=memory)


ENGINES: list[Callable[..., Any]] = [simple, context, condense_plus]


async def say(engine: Any, way: str, text: str, **kwargs: Any) -> str:
    """One turn, until the answer is in the memory."""
    if way in ("chat", "stream_chat"):

        def turn() -> str:
            response = getattr(engine, way)(text, **kwargs)
            if way == "chat":
                return str(response)
            said = "".join(response.response_gen)
            if hasattr(response, "write_response_to_history_thread"):
                if response.write_response_to_history_thread is not None:
                    response.write_response_to_history_thread.join()
                return said
            for _ in range(200):  # an older core starts the thread unseen
                if engine.chat_history and engine.chat_history[-1].role is MessageRole.ASSISTANT:
                    break
                time.sleep(0.01)
            return said

        return await asyncio.to_thread(turn)
    response = await getattr(engine, way)(text, **kwargs)
    if way == "achat":
        return str(response)
    said = ""
    async for token in response.async_response_gen():
        said += token
    for task in (getattr(response, "awrite_response_to_history_task", None),):
        if task is not None:
            await task
    return said


async def until(condition: Callable[[], Awaitable[bool] | bool]) -> None:
    """Streams write their answer in the background."""
    for _ in range(200):
        found = condition()
        if await found if inspect.isawaitable(found) else found:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the answer never reached the memory")


def texts(memory: TwinmemMemory) -> list[str | None]:
    return [message.content for message in memory.get_all()]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", ENGINES)
async def test_li_2_an_engine_remembers_across_two_conversations(core: AgentMemory, make: Any, way: str) -> None:
    llm = ScriptedLLM("Nice city", "You live in Lyon")
    first = TwinmemMemory.from_defaults(memory=core, user="alice")
    assert await say(make(first, llm, way), way, "I live in Lyon") == "Nice city"
    await until(lambda: texts(first) == ["I live in Lyon", "Nice city"])

    second = TwinmemMemory.from_defaults(memory=core, user="alice")
    if make is condense_plus:  # memories are a history to it, so it has the question rewritten first
        llm._answers.insert(0, "Where does the user live?")
    await say(make(second, llm, way), way, "Where do I live?")
    await until(lambda: len(second.get_all()) == 2)
    assert "I live in Lyon" in llm.told()
    assert llm.told().count("I live in Lyon") == 1
    assert texts(second) == ["Where do I live?", "You live in Lyon"]

    bob = TwinmemMemory.from_defaults(memory=core, user="bob")
    await say(make(bob, llm, way), way, "Where do I live?")
    assert "Lyon" not in llm.told()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", ENGINES)
async def test_li_2_the_second_turn_sees_the_first_once(core: AgentMemory, make: Any, way: str) -> None:
    llm = ScriptedLLM()
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    engine = make(memory, llm, way)
    await say(engine, way, "My bike is red")
    await until(lambda: len(memory.get_all()) == 2)
    await say(engine, way, "What colour is it?")
    await until(lambda: len(memory.get_all()) == 4)
    assert llm.told().count("My bike is red") == 1
    assert texts(memory) == ["My bike is red", "ok", "What colour is it?", "ok"]
    assert [m.role.value for m in memory.get_all()] == ["user", "assistant"] * 2
    assert [m.content for m in engine.chat_history] == texts(memory)
    engine.reset()
    assert memory.get_all() == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", ENGINES)
async def test_li_2_a_given_chat_history_replaces_the_conversation(core: AgentMemory, make: Any, way: str) -> None:
    llm = ScriptedLLM()
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    memory.put(ChatMessage(role="user", content="old"))
    history = [ChatMessage(role="user", content="My bike is red"), ChatMessage(role="assistant", content="Nice")]
    await say(make(memory, llm, way), way, "What colour is it?", chat_history=history)
    await until(lambda: len(memory.get_all()) == 4)
    assert texts(memory)[:2] == ["My bike is red", "Nice"]
    assert "old" not in texts(memory)
    assert llm.told().count("My bike is red") == 1


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # stream_chat's own thread
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", ENGINES)
async def test_li_fact_9_a_model_that_fails_costs_no_stored_message(core: AgentMemory, make: Any, way: str) -> None:
    llm = ScriptedLLM("fine", ConnectionError("down"), "back")
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    engine = make(memory, llm, way)
    await say(engine, way, "first")
    await until(lambda: len(memory.get_all()) == 2)
    if make is condense_plus:  # its second call is the condensing of the question
        llm._answers.insert(0, "condensed")
    with pytest.raises(ConnectionError):
        await say(engine, way, "second")
    assert texts(memory)[:2] == ["first", "fine"]
    if make is condense_plus:
        llm._answers.insert(0, "condensed")
    assert await say(engine, way, "third") == "back"
    await until(lambda: "back" in texts(memory))
    assert [text for text in texts(memory) if text != "second"] == ["first", "fine", "third", "back"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_li_2_condense_question_remembers_and_condenses_with_memory(
    core: AgentMemory, stream: bool, asynchronous: bool
) -> None:
    llm = ScriptedLLM("Where does Alice live?")
    core.scope(user="alice").add("Alice lives in Lyon")
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    query_engine = Echo(stream=stream, asked=[])
    engine = CondenseQuestionChatEngine.from_defaults(query_engine=query_engine, llm=llm, memory=memory)
    way = ("a" if asynchronous else "") + ("stream_chat" if stream else "chat")
    await say(engine, way, "Where does she live, Alice?")
    await until(lambda: len(memory.get_all()) == 2)
    assert query_engine.asked == ["Where does Alice live?"]
    assert "Alice lives in Lyon" in llm.told(0)
    await say(engine, way, "And now?")
    await until(lambda: len(memory.get_all()) == 4)
    assert "Where does she live, Alice?" in llm.told()


def test_li_11_memory_cls_makes_a_memory_of_ours() -> None:
    llm = ScriptedLLM()
    history = [ChatMessage(role="user", content="hi"), ChatMessage(role="assistant", content="hello")]
    for extra in ({"chat_history": history}, {}):
        engine = SimpleChatEngine.from_defaults(llm=llm, memory_cls=TwinmemMemory, **extra)
        engine.chat("how are you?")
        assert [m.content for m in engine.chat_history] == [*(["hi", "hello"] if extra else []), "how are you?", "ok"]
    condense = CondenseQuestionChatEngine.from_defaults(
        query_engine=Echo(asked=[]), llm=llm, memory_cls=TwinmemMemory, chat_history=history
    )
    condense.chat("how are you?")
    assert len(condense.chat_history) == 4


def test_li_fact_5_an_empty_memory_is_not_thrown_away(core: AgentMemory) -> None:
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    SimpleChatEngine.from_defaults(llm=ScriptedLLM(), memory=memory).chat("hi")
    assert texts(memory) == ["hi", "ok"]


def test_li_11_a_long_system_prompt_is_counted(core: AgentMemory) -> None:
    llm = ScriptedLLM()
    memory = TwinmemMemory.from_defaults(memory=core, user="alice", token_limit=300, k=0)
    memory.put_messages([ChatMessage(role=role, content="some words here") for role in ("user", "assistant") * 12])
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory, system_prompt="word " * 250)
    engine.chat("last")
    assert llm.prompts[-1][-1].content == "last"
    assert len(llm.prompts[-1]) < 8


def test_a_memory_is_in_the_prompt_once_and_never_in_the_history(core: AgentMemory) -> None:
    core.scope(user="alice").add("Alice lives in Lyon")
    llm = ScriptedLLM()
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory)
    for _ in range(3):
        engine.chat("Where does Alice live?")
    assert llm.told().count("Alice lives in Lyon") == 1
    assert "Lyon" not in str(texts(memory))


async def test_a_stream_that_is_read_half_still_stores_the_whole_answer(core: AgentMemory) -> None:
    llm = ScriptedLLM("a long answer")
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    response = SimpleChatEngine.from_defaults(llm=llm, memory=memory).stream_chat("hi")
    next(iter(response.response_gen))
    await until(lambda: texts(memory) == ["hi", "a long answer"])


def test_a_message_of_several_blocks_goes_through_an_engine(core: AgentMemory) -> None:
    llm = ScriptedLLM(ChatMessage(role="assistant", blocks=[TextBlock(text="a"), TextBlock(text="b")]))
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    memory.put(ChatMessage(role="user", blocks=[TextBlock(text="look"), ImageBlock(url="data:image/png;base64,AAAA")]))
    SimpleChatEngine.from_defaults(llm=llm, memory=memory).chat("hi")
    assert len(memory.get_all()[0].blocks) == len(memory.get_all()[2].blocks) == 2
