"""What a user of a LangChain chat history would lose (reference 1.1, 1.2, section 5)."""

from __future__ import annotations

import asyncio
import concurrent.futures as futures
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.runnables import ConfigurableFieldSpec, RunnableLambda

from langchain_mem import TwinmemChatMessageHistory
from shared_core import AgentMemory
from shared_core.errors import InvalidInput, InvalidType

CALLS = [{"name": "f", "args": {"x": 1}, "id": "c1", "type": "tool_call"}]


@pytest.fixture
def history(memory: AgentMemory) -> TwinmemChatMessageHistory:
    return TwinmemChatMessageHistory("monday", user="alice", memory=memory)


def texts(history: BaseChatMessageHistory) -> list[str]:
    return [str(message.text) for message in history.messages]


def test_the_whole_chat_history_contract_passes(contract: Callable[..., int]) -> None:
    assert contract("chat_history_contract.py", "--history", "factories:history") == 34


def test_lc_s5_1_tool_calls_and_results_survive_a_restart(path: Path) -> None:
    talk = [
        HumanMessage("weather?", id="h"),
        AIMessage(
            "", id="a", tool_calls=CALLS, usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
        ),
        ToolMessage("sunny", tool_call_id="c1", status="error", artifact={"t": 21}),
    ]
    with AgentMemory.open(path, embedder="hashing") as memory:
        TwinmemChatMessageHistory("s", user="alice", memory=memory).add_messages(talk)
    with AgentMemory.open(path, embedder="hashing") as memory:
        assert TwinmemChatMessageHistory("s", user="alice", memory=memory).messages == talk


def test_lc_s5_2_fifty_messages_of_one_moment_keep_their_order(history: TwinmemChatMessageHistory) -> None:
    history.add_messages([HumanMessage(str(i)) for i in range(50)])
    assert texts(history) == [str(i) for i in range(50)]


def test_lc_s5_3_nul_and_vietnamese_round_trip(history: TwinmemChatMessageHistory) -> None:
    history.add_user_message("a\x00b tiếng Việt 💥")
    assert history.messages[0].content == "a\x00b tiếng Việt 💥"


def test_lc_s5_4_one_object_serves_sync_and_async(memory: AgentMemory) -> None:
    from langchain_core.runnables.history import RunnableWithMessageHistory

    def make(session_id: str) -> BaseChatMessageHistory:
        return TwinmemChatMessageHistory(session_id, user="alice", memory=memory)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the class is deprecated; old code still uses it
        chain = RunnableWithMessageHistory(RunnableLambda(lambda ms: AIMessage(f"{len(ms)}")), make)
    config = {"configurable": {"session_id": "s"}}
    chain.invoke([HumanMessage("a")], config)
    asyncio.run(chain.ainvoke([HumanMessage("b")], config))
    assert texts(make("s")) == ["a", "1", "b", "3"]


def test_lc_1_1_several_keys_choose_the_user_and_the_conversation(memory: AgentMemory) -> None:
    from langchain_core.runnables.history import RunnableWithMessageHistory

    def make(user_id: str, session_id: str) -> BaseChatMessageHistory:
        return TwinmemChatMessageHistory(session_id, user=user_id, memory=memory)

    keys = [ConfigurableFieldSpec(id=name, annotation=str) for name in ("user_id", "session_id")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chain = RunnableWithMessageHistory(RunnableLambda(lambda ms: "ok"), make, history_factory_config=keys)
    for user in ("alice", "bob"):
        chain.invoke([HumanMessage(f"I am {user}")], {"configurable": {"user_id": user, "session_id": "s"}})
    assert texts(make("alice", "s")) == ["I am alice", "ok"]
    with pytest.raises(ValueError, match="user_id"):
        chain.invoke([HumanMessage("who?")], {"configurable": {"session_id": "s"}})


def test_lc_1_1_messages_is_a_list_each_read_alike(history: TwinmemChatMessageHistory) -> None:
    history.add_messages([HumanMessage("a"), HumanMessage("a")])
    first, second = history.messages, history.messages
    assert isinstance(first, list)
    assert first == second
    assert first is not second


def test_lc_1_1_nothing_warns_and_nothing_deprecated_is_built(history: TwinmemChatMessageHistory) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TwinmemChatMessageHistory("x", user="u", memory=history.session.scope and AgentMemory.open(embedder="hashing"))


def test_messages_without_ids_are_all_kept_and_stay_without(history: TwinmemChatMessageHistory) -> None:
    history.add_messages([HumanMessage("yes"), HumanMessage("yes")])
    history.add_messages([HumanMessage("yes")])
    assert [message.id for message in history.messages] == [None, None, None]


def test_adding_leaves_the_given_messages_alone(history: TwinmemChatMessageHistory) -> None:
    given: list[BaseMessage] = [HumanMessage("a"), AIMessage("b", tool_calls=CALLS)]
    before = [message.model_copy(deep=True) for message in given]
    history.add_messages(given)
    assert given == before


def test_case_r07_a_growing_history_with_ids_is_stored_once(history: TwinmemChatMessageHistory) -> None:
    talk = [HumanMessage("h1", id="1"), AIMessage("a1", id="2"), HumanMessage("h2", id="3"), AIMessage("a2", id="4")]
    for upto in (1, 2, 3, 4):
        history.add_messages(talk[:upto])
    assert history.messages == talk


def test_case_r10_two_histories_share_nothing() -> None:
    a = TwinmemChatMessageHistory("s", user="u")
    b = TwinmemChatMessageHistory("s", user="u")
    a.messages.append(HumanMessage("ghost"))
    assert a.messages == b.messages == []
    assert a.session.scope is not b.session.scope


def test_lc_s3_remove_message_takes_its_message_away(history: TwinmemChatMessageHistory) -> None:
    history.add_messages([HumanMessage("a", id="1"), HumanMessage("b", id="2"), HumanMessage("c")])
    history.add_messages([RemoveMessage(id="1"), AIMessage("d", id="3")])
    assert texts(history) == ["b", "c", "d"]
    assert [hit.record.text for hit in history.session.scope.search("a b c d") if hit.record.text == "a"] == []


def test_lc_s3_remove_all_leaves_only_what_follows(history: TwinmemChatMessageHistory) -> None:
    history.add_messages([HumanMessage("a", id="1"), HumanMessage("b", id="2")])
    history.add_messages([HumanMessage("lost"), RemoveMessage(id="__remove_all__"), HumanMessage("b", id="2")])
    assert texts(history) == ["b"]


def test_remove_message_of_something_said_in_the_same_batch(history: TwinmemChatMessageHistory) -> None:
    history.add_messages([HumanMessage("a", id="1"), RemoveMessage(id="1"), HumanMessage("b")])
    assert texts(history) == ["b"]


@pytest.mark.parametrize("before", [[], [RemoveMessage(id="__remove_all__")]])
def test_lc_s3_remove_message_of_an_unknown_id_changes_nothing(
    history: TwinmemChatMessageHistory, before: list[BaseMessage]
) -> None:
    history.add_messages([HumanMessage("a", id="1")])
    with pytest.raises(ValueError, match="'9'"):
        history.add_messages([*before, HumanMessage("b"), RemoveMessage(id="9")])
    assert texts(history) == ["a"]


async def test_remove_message_async(history: TwinmemChatMessageHistory) -> None:
    await history.aadd_messages([HumanMessage("a", id="1"), HumanMessage("b", id="2")])
    await history.aadd_messages([RemoveMessage(id="1")])
    assert texts(history) == ["b"]
    await history.aadd_messages([RemoveMessage(id="__remove_all__"), HumanMessage("c")])
    assert texts(history) == ["c"]
    await history.aclear()
    assert await history.aget_messages() == []


def test_a_batch_with_something_unstorable_changes_nothing(history: TwinmemChatMessageHistory) -> None:
    history.add_user_message("ok")
    with pytest.raises(InvalidType):
        history.add_messages([HumanMessage("x"), HumanMessage("y", additional_kwargs={"o": object()})])
    assert texts(history) == ["ok"]


def test_a_streamed_answer_is_one_message(history: TwinmemChatMessageHistory) -> None:
    history.add_message(AIMessageChunk("he", id="r") + AIMessageChunk("llo", id="r"))
    assert type(history.messages[0]) is AIMessage


def test_clear_keeps_what_was_learnt(history: TwinmemChatMessageHistory) -> None:
    scope = history.session.scope
    fact = scope.add("Alice lives in Lyon")
    history.add_user_message("I live in Lyon")
    history.clear()
    assert history.messages == []
    assert scope.get(fact.id) is not None


def test_another_conversation_recalls_what_was_said(memory: AgentMemory, history: TwinmemChatMessageHistory) -> None:
    history.add_user_message("My cat is called Mina")
    hits = memory.scope(user="alice").search("What is my cat called?", k=1)
    assert (hits[0].record.session, hits[0].record.role) == ("monday", "user")


@pytest.mark.parametrize("odd", ["s1", "S1", "s%", "a/b", "é", "'; DROP TABLE x; --"])
def test_conversations_and_users_do_not_mix(memory: AgentMemory, odd: str) -> None:
    TwinmemChatMessageHistory(odd, user="alice", memory=memory).add_user_message("hers")
    assert TwinmemChatMessageHistory(odd, user="bob", memory=memory).messages == []
    assert TwinmemChatMessageHistory(odd + "x", user="alice", memory=memory).messages == []


@pytest.mark.parametrize(("session", "user"), [("", "u"), (" ", "u"), ("s", ""), ("s", None), (None, "u")])
def test_nobody_in_particular_is_refused(session: str, user: str) -> None:
    with pytest.raises(ValueError):
        TwinmemChatMessageHistory(session, user=user)


def test_memory_and_address_together_are_refused(memory: AgentMemory, path: Path) -> None:
    with pytest.raises(InvalidInput, match="not both"):
        TwinmemChatMessageHistory("s", user="u", memory=memory, address=path)


def test_a_history_made_for_every_request_opens_the_file_once(path: Path) -> None:
    AgentMemory.register(path, lambda: {"embedder": "hashing"})
    with futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: TwinmemChatMessageHistory("s", user="u", address=path).add_messages(
            [HumanMessage(f"{i}a"), AIMessage(f"{i}b")]), range(30)))  # fmt: skip
    got = texts(TwinmemChatMessageHistory("s", user="u", address=str(path)))
    assert len(got) == 60
    assert all(got[got.index(f"{i}a") + 1] == f"{i}b" for i in range(30))


@pytest.mark.timing
async def test_the_loop_keeps_ticking_while_a_slow_embedder_works() -> None:
    import time

    class Slow:
        name, dimensions = "slow", 1

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            time.sleep(0.3)
            return [[1.0] for _ in texts]

        def embed_query(self, text: str) -> list[float]:
            return [1.0]

    history = TwinmemChatMessageHistory("s", user="u", memory=AgentMemory.open(embedder=Slow()))
    task = asyncio.create_task(history.aadd_messages([HumanMessage("hi")]))
    gaps, last = [], time.perf_counter()
    while not task.done():
        await asyncio.sleep(0.01)
        gaps.append(time.perf_counter() - last)
        last = time.perf_counter()
    await task
    assert len(gaps) >= 5
    assert max(gaps) < 0.1, sorted(gaps)[-5:]


def test_str_and_convenience_methods(history: TwinmemChatMessageHistory) -> None:
    history.add_user_message("u")
    history.add_ai_message("a")
    assert str(history) == "Human: u\nAI: a"


def test_lc_s5_12_two_processes_append_to_one_file(path: Path, python: Callable[..., str]) -> None:
    script = """
import sys
from langchain_core.messages import HumanMessage
from langchain_mem import TwinmemChatMessageHistory
from shared_core import AgentMemory
memory = AgentMemory.open(sys.argv[1], embedder="hashing")
history = TwinmemChatMessageHistory("s", user="u", memory=memory)
for i in range(100):
    history.add_message(HumanMessage(f"{sys.argv[2]} {i}"))
"""
    with futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: python(script, path, name), "ab"))
    with AgentMemory.open(path, embedder="hashing") as memory:
        got = texts(TwinmemChatMessageHistory("s", user="u", memory=memory))
    assert sorted(got) == sorted(f"{name} {i}" for name in "ab" for i in range(100))
    assert [t for t in got if t.startswith("a")] == [f"a {i}" for i in range(100)]
