"""`TwinmemMemory` by itself: history, recall, handles, threads (reference 0, 1.1, 2.1, 3.2, 6)."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import logging
import pickle
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from li_scripted import ScriptedLLM, call, called
from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.llms.mock import MockLLM
from llama_index.core.memory import BaseMemory
from pydantic import BaseModel, ValidationError

from llamaindex_mem import TwinmemMemory
from llamaindex_mem.handle import attach
from shared_core import AgentMemory, Settings, TwinmemError
from shared_core.embedding.hashing import HashingEmbedder
from shared_core.errors import EmbedderMismatch, InvalidInput
from shared_core.short_term import tokens


def user(text: str, **kwargs: Any) -> ChatMessage:
    return ChatMessage(role="user", content=text, additional_kwargs=kwargs)


def answer(text: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


def texts(messages: list[ChatMessage]) -> list[str | None]:
    return [message.content for message in messages]


def whole(messages: list[ChatMessage]) -> str:
    return "\n".join(f"{message.role.value}: {message.content}" for message in messages)


def turns(count: int, say: str = "question") -> list[ChatMessage]:
    return [m for n in range(count) for m in (user(f"{say} {n}"), answer(f"answer {n}"))]


# ---------------------------------------------------------------------- the interface


def test_li_11_it_is_a_base_memory_and_overrides_every_method() -> None:
    assert issubclass(TwinmemMemory, BaseMemory)
    for name in ("get", "get_all", "put", "put_messages", "set", "reset"):
        assert name in vars(TwinmemMemory), name
        assert f"a{name}" in vars(TwinmemMemory), f"a{name} would go through a worker thread of LlamaIndex"
    assert TwinmemMemory.class_name() == "TwinmemMemory"
    assert f"{TwinmemMemory.__module__}.{TwinmemMemory.__name__}" == "llamaindex_mem.memory.TwinmemMemory"


def test_li_11_history_in_history_out(memory: TwinmemMemory) -> None:
    assert memory.get() == []
    memory.put(user("hello"))
    memory.put_messages([answer("hi"), user("how are you?")])
    assert texts(memory.get()) == texts(memory.get_all()) == ["hello", "hi", "how are you?"]
    memory.set([user("anew")])
    assert texts(memory.get()) == ["anew"]
    memory.reset()
    assert memory.get() == memory.get_all() == []


async def test_li_11_the_async_methods_do_the_same(memory: TwinmemMemory) -> None:
    assert await memory.aget() == []
    await memory.aput(user("hello"))
    await memory.aput_messages([answer("hi"), user("how are you?")])
    assert texts(await memory.aget()) == texts(await memory.aget_all()) == ["hello", "hi", "how are you?"]
    await memory.aset([user("anew")])
    assert texts(await memory.aget()) == ["anew"]
    await memory.areset()
    assert await memory.aget() == await memory.aget_all() == []


def test_li_11_from_defaults_takes_what_engines_and_other_memories_take() -> None:
    llm = MockLLM()
    made = TwinmemMemory.from_defaults(
        chat_history=[user("a"), answer("b")], llm=llm, chat_store_key="chat_history", tokenizer_fn=str.split
    )
    assert texts(made.get_all()) == ["a", "b"]
    assert made.token_limit == int(llm.metadata.context_window * 0.75)
    assert TwinmemMemory.from_defaults(chat_history=[], token_limit=77).token_limit == 77
    assert TwinmemMemory.from_defaults().token_limit is None


def test_a_named_database_without_a_user_is_an_error_and_never_a_default(core: AgentMemory, path: str) -> None:
    with pytest.raises(InvalidInput, match="user"):
        TwinmemMemory.from_defaults(memory=core)
    with pytest.raises(InvalidInput, match="user"):
        TwinmemMemory.from_defaults(address=path)
    for blank in ("", "  "):
        with pytest.raises(TwinmemError, match="user"):
            TwinmemMemory.from_defaults(memory=core, user=blank)
        with pytest.raises(TwinmemError, match="agent"):
            TwinmemMemory.from_defaults(memory=core, user="alice", agent=blank)
    with pytest.raises((TypeError, ValidationError)):
        TwinmemMemory.from_defaults(memory=core, user=7)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="not both"):
        TwinmemMemory.from_defaults(memory=core, address=path, user="alice")
    with pytest.raises(TypeError, match="AgentMemory"):
        TwinmemMemory.from_defaults(memory=path, user="alice")  # type: ignore[arg-type]


def test_an_empty_chat_history_does_not_wipe_a_conversation(core: AgentMemory, memory: TwinmemMemory) -> None:
    memory.put(user("keep me"))
    again = TwinmemMemory.from_defaults(chat_history=[], memory=core, user="alice", session_id="monday")
    assert texts(again.get_all()) == ["keep me"]


def test_li_11_get_gives_a_real_list_and_counts_for_the_engine(memory: TwinmemMemory) -> None:
    memory.put(user("hi"))
    assert [*[answer("prefix")], *memory.get(initial_token_count=3, anything="else")]
    assert type(memory.get()) is list
    assert len(memory.tokenizer_fn("one two three")) == tokens.count("one two three")


def test_the_engine_counts_with_the_settings_own_counter() -> None:
    with AgentMemory.open(embedder="hashing", settings=Settings(token_counter=lambda text: 7)) as core:
        assert len(TwinmemMemory.from_defaults(memory=core, user="alice").tokenizer_fn("x")) == 7


def test_li_32_e_putting_nothing_does_nothing(core: AgentMemory, memory: TwinmemMemory) -> None:
    memory.put_messages([])
    asyncio.run(memory.aput_messages([]))
    assert memory.get() == []
    assert core.users() == []


def test_li_fact_5_an_empty_memory_is_true_and_has_no_length(memory: TwinmemMemory) -> None:
    assert bool(memory)
    assert not hasattr(memory, "__len__")


# ---------------------------------------------------------------------- recall


def test_li_fact_1_get_without_input_recalls_for_the_last_stored_user_message(core: AgentMemory) -> None:
    TwinmemMemory.from_defaults(memory=core, user="alice").put(user("I live in Lyon"))
    later = TwinmemMemory.from_defaults(memory=core, user="alice")
    later.put(user("Where do I live?"))
    for found in (later.get(), later.get(input="Where do I live?"), asyncio.run(later.aget())):
        assert len(found) == 1
        assert "I live in Lyon" in str(found[-1].content)
        assert str(found[-1].content).endswith("Where do I live?")


def test_li_fact_7_memories_go_into_the_last_user_message_also_behind_tool_results(core: AgentMemory) -> None:
    core.scope(user="alice").add("Alice lives in Lyon")
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    result = ChatMessage(role="tool", content="a map", additional_kwargs={"tool_call_id": "1"})
    memory.put_messages([user("Where does Alice live?"), call("map", "1"), result])
    found = memory.get(input="Where does Alice live?")
    assert [message.role.value for message in found] == ["user", "assistant", "tool"]
    assert "Alice lives in Lyon" in str(found[0].content)
    assert found[1:] == [call("map", "1"), result]


def test_li_insert_method_system_puts_memories_into_one_system_message(core: AgentMemory) -> None:
    core.scope(user="alice").add("Alice lives in Lyon")
    memory = TwinmemMemory.from_defaults(memory=core, user="alice", insert_method="system")
    memory.put(user("Where does Alice live?"))
    found = memory.get()
    assert [message.role.value for message in found] == ["system", "user"]
    assert "Lyon" in str(found[0].content)
    assert found[1].content == "Where does Alice live?"
    memory.set([ChatMessage(role="system", content="Be brief."), user("Where does Alice live?")])
    found = memory.get()
    assert [message.role.value for message in found] == ["system", "user"]
    assert str(found[0].content).startswith("Be brief.")
    assert "Lyon" in str(found[0].content)
    with pytest.raises(ValidationError):
        TwinmemMemory.from_defaults(memory=core, user="alice", insert_method="sideways")


def test_a_question_that_is_not_stored_yet_has_its_memories_before_the_history(core: AgentMemory) -> None:
    core.scope(user="alice").add("Alice lives in Lyon")
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    first = memory.get(input="Where does Alice live?")
    assert [message.role.value for message in first] == ["system"]
    memory.put_messages([user("hello"), answer("hi")])
    found = memory.get(input="Where does Alice live?")
    assert [message.role.value for message in found] == ["system", "user", "assistant"]
    assert "Lyon" in str(found[0].content)
    assert texts(found[1:]) == ["hello", "hi"]


def test_li_issue_10_a_chat_message_as_input_recalls_as_its_text_does(core: AgentMemory) -> None:
    core.scope(user="alice").add("Alice lives in Paris")
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    assert whole(memory.get(input=user("Paris?"))) == whole(memory.get(input="Paris?"))
    assert "Alice lives in Paris" in whole(memory.get(input="Paris?"))


def test_the_question_and_the_window_are_never_recalled_beside_themselves(memory: TwinmemMemory) -> None:
    memory.put_messages([user("I like oolong tea"), answer("Oolong tea is nice"), user("Which tea do I like?")])
    assert texts(memory.get()) == ["I like oolong tea", "Oolong tea is nice", "Which tea do I like?"]
    memory.put(answer("Oolong"))
    assert texts(memory.get(input="Which tea do I like?"))[-1] == "Oolong"


def test_what_left_the_window_is_recalled(memory: TwinmemMemory) -> None:
    memory.put_messages([user("My bike is called Rocinante"), answer("Nice name"), *turns(30)])
    memory.put(user("How is my bike called?"))
    found = memory.get()
    assert "Rocinante" not in whole(found[:-1])
    assert "Rocinante" in str(found[-1].content)
    assert texts(memory.get_all())[0] == "My bike is called Rocinante"


def test_k_zero_recalls_nothing_and_k_is_the_most(core: AgentMemory) -> None:
    core.scope(user="alice").add_many([f"tea number {n}" for n in range(9)])
    for k in (0, 2):
        memory = TwinmemMemory.from_defaults(memory=core, user="alice", k=k)
        memory.put(user("tea number?"))
        assert str(memory.get()[-1].content).count("- [") == k
        memory.reset()


def test_li_32_p_and_issue_26_three_short_messages_are_remembered_at_once(core: AgentMemory) -> None:
    first = TwinmemMemory.from_defaults(memory=core, user="bob")
    first.put_messages([user("hi"), answer("hello"), user("my name is Bob")])
    second = TwinmemMemory.from_defaults(memory=core, user="bob")
    second.put(user("what is my name?"))
    assert "my name is Bob" in str(second.get()[-1].content)


def test_li_32_i_and_o_another_user_reads_nothing_and_sessions_are_unique(core: AgentMemory) -> None:
    alice = TwinmemMemory.from_defaults(memory=core, user="alice")
    alice.put(user("my secret is 4711"))
    bob = TwinmemMemory.from_defaults(memory=core, user="bob", session_id=alice.session_id)
    other = TwinmemMemory.from_defaults(memory=core, user="alice", agent="other")
    for stranger in (bob, other):
        stranger.put(user("what is my secret?"))
        assert "4711" not in whole(stranger.get())
    assert TwinmemMemory.from_defaults(memory=core, user="alice").session_id != alice.session_id


def test_li_issue_19_what_user_and_assistant_said_is_both_found(core: AgentMemory) -> None:
    first = TwinmemMemory.from_defaults(memory=core, user="alice", agent="a")
    first.put_messages([user("I study physics"), answer("Physics uses tensors")])
    later = TwinmemMemory.from_defaults(memory=core, user="alice", agent="a")
    later.put(user("physics?"))
    assert "I study physics" in whole(later.get())
    assert "Physics uses tensors" in whole(later.get())


def test_li_issue_16_setting_the_same_history_twice_remembers_it_once(core: AgentMemory, memory: TwinmemMemory) -> None:
    history = turns(3)
    memory.set(history)
    memory.set(history)
    assert core.scope(user="alice").stats().messages == 6
    memory.set(history[:2])
    assert core.scope(user="alice").search("question 2", session="monday", min_score=0.99) == []


# ---------------------------------------------------------------------- copies


def test_li_fact_6_what_the_caller_does_to_messages_changes_nothing_stored(memory: TwinmemMemory) -> None:
    message = user("hello", tags=["a"])
    memory.put(message)
    message.blocks[0].text = "changed"
    message.additional_kwargs["tags"].append("b")
    for _ in range(2):
        found = memory.get()
        assert found == memory.get_all() == [user("hello", tags=["a"])]
        found[0].blocks[0].text = "state prompt"
        found[0].additional_kwargs["session_id"] = "x"
        found.clear()


def test_get_never_changes_what_is_stored_and_never_stacks_memories(core: AgentMemory, memory: TwinmemMemory) -> None:
    core.scope(user="alice").add("Alice lives in Lyon")
    memory.put(user("Where does Alice live?"))
    first = memory.get()
    assert first == memory.get() == memory.get()
    assert texts(memory.get_all()) == ["Where does Alice live?"]
    assert core.scope(user="alice").count() == 2


@pytest.mark.parametrize("insert_method", ["user", "system"])
def test_setting_what_get_gave_stores_no_memories(core: AgentMemory, insert_method: str) -> None:
    core.scope(user="alice").add("Alice lives in Lyon")
    memory = TwinmemMemory.from_defaults(memory=core, user="alice", insert_method=insert_method)
    memory.put_messages([user("hi"), answer("hello"), user("Where does Alice live?")])
    found = memory.get()
    assert "Lyon" in whole(found)
    memory.set(copy.deepcopy(found))
    assert texts(memory.get_all()) == ["hi", "hello", "Where does Alice live?"]


def test_a_message_of_several_blocks_keeps_its_own(core: AgentMemory) -> None:
    core.scope(user="alice").add("Alice lives in Lyon")
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    blocks = [TextBlock(text="Where does"), TextBlock(text="Alice live?")]
    memory.put(ChatMessage(role="user", blocks=blocks))
    found = memory.get(input="Where does\nAlice live?")
    assert len(found) == 1, "the question was taken for one that is not stored"
    assert found[0].blocks[1:] == blocks
    assert "Lyon" in found[0].blocks[0].text


# ---------------------------------------------------------------------- window and budget


def test_li_issue_23_get_is_the_window_and_get_all_everything_in_order(memory: TwinmemMemory) -> None:
    history = turns(30)
    memory.put_messages(history)
    assert memory.get_all() == history
    assert len(memory.get()) == 40
    assert texts(memory.get())[0] == "question 10"


def test_li_32_k_a_window_starts_with_a_user_and_keeps_call_and_result_together(core: AgentMemory) -> None:
    memory = TwinmemMemory.from_defaults(memory=core, user="alice", token_limit=5)
    words = " ".join(["word"] * 10)
    result = ChatMessage(role="tool", content=words, additional_kwargs={"tool_call_id": "1"})
    memory.put_messages([user(words), call("t", "1", q=words), result])
    roles = [message.role for message in memory.get()]
    assert roles[0] is MessageRole.USER
    assert (MessageRole.TOOL in roles) == (MessageRole.ASSISTANT in roles)


def test_li_issue_5_and_6_after_any_cut_the_first_is_a_user_and_results_have_calls(core: AgentMemory) -> None:
    history = []
    for n in range(12):
        result = ChatMessage(role="tool", content=f"result {n}", additional_kwargs={"tool_call_id": f"{n}"})
        history += [user(f"question {n}"), call("t", f"{n}", n=n), result, answer(f"answer {n}")]
    TwinmemMemory.from_defaults(memory=core, user="alice", session_id="s").put_messages(history)
    for limit in range(1, 400, 7):
        memory = TwinmemMemory.from_defaults(memory=core, user="alice", session_id="s", token_limit=limit, k=0)
        found = memory.get()
        assert found[0].role is MessageRole.USER, limit
        open_calls: set[str] = set()
        for message in found:
            if message.role is MessageRole.TOOL:
                assert message.additional_kwargs["tool_call_id"] in open_calls, limit
            open_calls |= {each.tool_id for each in called(message)}


def test_li_issue_1_and_32_n_tool_arguments_and_thinking_count(core: AgentMemory) -> None:
    memory = TwinmemMemory.from_defaults(memory=core, user="alice", token_limit=600)
    for n in range(10):
        memory.put_messages(
            [
                user(f"question {n}"),
                call("t", f"{n}", text=" ".join(["word"] * 200)),
                ChatMessage(role="tool", content="done", additional_kwargs={"tool_call_id": f"{n}"}),
                answer(f"answer {n}"),
            ]
        )
    assert len(memory.get()) <= 8
    assert memory.get()[-1].content == "answer 9"


@pytest.mark.parametrize("initial", [101, 100, 5000])
def test_li_32_r_and_issue_11_a_prompt_over_the_limit_still_gets_the_last_turn(
    core: AgentMemory, initial: int, caplog: pytest.LogCaptureFixture
) -> None:
    memory = TwinmemMemory.from_defaults(memory=core, user="alice", token_limit=100)
    memory.put_messages([*turns(5), user("the last question")])
    with caplog.at_level(logging.WARNING):
        assert texts(memory.get(initial_token_count=initial)) == ["the last question"]
    assert "limit" in caplog.text


def test_initial_token_count_makes_the_window_smaller(core: AgentMemory) -> None:
    memory = TwinmemMemory.from_defaults(memory=core, user="alice", token_limit=300, k=0)
    memory.put_messages(turns(18))
    assert 0 < len(memory.get(initial_token_count=200)) < len(memory.get())


def test_the_limit_holds_for_window_and_memories_together(core: AgentMemory) -> None:
    core.scope(user="alice").add_many([f"Alice once said about tea: {'word ' * 20}{n}" for n in range(20)])
    memory = TwinmemMemory.from_defaults(memory=core, user="alice", token_limit=400, k=20)
    memory.put_messages([*turns(20), user("What did Alice say about tea?")])
    found = memory.get()
    assert "once said" in whole(found)
    assert sum(tokens.count(str(message.content)) + 4 for message in found) <= 400


def test_li_issue_12_a_user_message_over_the_limit_is_still_there(core: AgentMemory) -> None:
    memory = TwinmemMemory.from_defaults(memory=core, user="alice", token_limit=50)
    memory.put(user("begin " + "word " * 500 + "end"))
    found = memory.get()
    assert [message.role.value for message in found] == ["user"]
    assert str(found[0].content).startswith("begin")
    assert str(found[0].content).endswith("end")
    assert len(str(memory.get_all()[0].content)) > 2500


# ---------------------------------------------------------------------- what must not go wrong


@pytest.mark.parametrize("bad", ["text", None, 7, {"role": "user"}])
def test_li_32_a_a_bad_message_leaves_the_old_history(memory: TwinmemMemory, bad: Any) -> None:
    memory.put_messages([user("old"), answer("kept")])
    with pytest.raises(TypeError):
        memory.set([user("new"), bad])
    with pytest.raises(TypeError):
        asyncio.run(memory.aset([user("new"), bad]))
    with pytest.raises(TypeError):
        memory.put_messages([user("new"), bad])
    assert texts(memory.get_all()) == ["old", "kept"]


def test_li_32_a_an_object_in_kwargs_is_no_reason_to_lose_anything(memory: TwinmemMemory) -> None:
    memory.set([user("old")])
    memory.set([user("new"), user("odd", thing=object())])
    assert texts(memory.get_all()) == ["new", "odd"]


def test_a_failing_embedder_leaves_the_old_history() -> None:
    class Failing:
        name, dimensions, broken = "failing", 4, False

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            if self.broken:
                raise ConnectionError("no network")
            return [[1.0, 0.0, 0.0, 0.0] for _ in texts]

        def embed_query(self, text: str) -> list[float]:
            return [1.0, 0.0, 0.0, 0.0]

    embedder = Failing()
    with AgentMemory.open(embedder=embedder) as core:
        memory = TwinmemMemory.from_defaults(memory=core, user="alice")
        memory.put(user("old"))
        embedder.broken = True
        with pytest.raises(ConnectionError):
            memory.set([user("new")])
        assert texts(memory.get_all()) == ["old"]


def test_li_32_b_a_clock_that_goes_backwards_changes_no_order() -> None:
    times = iter([datetime(2026, 1, 2, tzinfo=UTC) - timedelta(hours=n) for n in range(100)])
    with AgentMemory.open(embedder="hashing", clock=lambda: next(times)) as core:
        memory = TwinmemMemory.from_defaults(memory=core, user="alice", k=0)
        for n in range(5):
            memory.put(user(f"message {n}"))
        assert texts(memory.get_all()) == [f"message {n}" for n in range(5)]


async def test_li_32_c_five_concurrent_first_puts_are_five_messages(path: str) -> None:
    memory = TwinmemMemory.from_defaults(address=path, user="alice")
    await asyncio.gather(*(memory.aput(user(f"m{n}")) for n in range(5)))
    assert sorted(map(str, texts(await memory.aget_all()))) == [f"m{n}" for n in range(5)]


async def test_li_issue_3_five_concurrent_first_reads_are_five_empty_lists(path: str) -> None:
    memory = TwinmemMemory.from_defaults(address=path, user="alice")
    assert await asyncio.gather(*(memory.aget() for _ in range(5))) == [[]] * 5


@pytest.mark.parametrize("where", ["memory", "file"])
def test_li_fact_8_and_32_d_puts_from_threads_and_loops_lose_nothing(core: AgentMemory, path: str, where: str) -> None:
    if where == "file":
        memory = TwinmemMemory.from_defaults(address=path, user="alice")
    else:
        memory = TwinmemMemory.from_defaults(memory=core, user="alice")

    def in_a_loop_of_its_own(n: int) -> None:
        asyncio.run(memory.aput(user(f"loop {n}")))

    threads = [threading.Thread(target=memory.put, args=(user(f"thread {n}"),)) for n in range(8)]
    threads += [threading.Thread(target=in_a_loop_of_its_own, args=(n,)) for n in range(4)]

    async def many() -> None:
        await asyncio.gather(*(memory.aput(user(f"task {n}")) for n in range(50)))

    for thread in threads:
        thread.start()
    asyncio.run(many())
    for thread in threads:
        thread.join()
    assert len(memory.get_all()) == len(set(texts(memory.get_all()))) == 62


async def test_sync_methods_work_inside_a_running_loop(memory: TwinmemMemory) -> None:
    memory.put(user("hi"))
    assert texts(memory.get()) == ["hi"]


def test_equal_messages_are_different_messages(memory: TwinmemMemory) -> None:
    memory.put_messages([answer("ok"), answer("ok")])
    memory.put(answer("ok"))
    assert texts(memory.get_all()) == ["ok", "ok", "ok"]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [("keep", ["first", "second", "ok"]), ("merge", ["first\nsecond", "ok"]), ("drop", ["second", "ok"])],
)
def test_li_fact_9_a_user_message_without_an_answer_follows_the_policy(
    core: AgentMemory, policy: str, expected: list[str]
) -> None:
    memory = TwinmemMemory.from_defaults(memory=core, user="alice", unanswered=policy)
    memory.put(user("first"))
    memory.put_messages([user("second"), answer("ok")])
    assert texts(memory.get()) == expected
    assert texts(memory.get_all()) == ["first", "second", "ok"]


def test_reset_keeps_facts_and_other_conversations(core: AgentMemory, memory: TwinmemMemory) -> None:
    core.scope(user="alice").add("Alice lives in Lyon")
    other = TwinmemMemory.from_defaults(memory=core, user="alice", session_id="sunday")
    other.put(user("Alice likes tea"))
    memory.put(user("Alice is tired"))
    memory.reset()
    assert memory.get_all() == []
    assert {r.text for r in core.scope(user="alice").list()} == {"Alice lives in Lyon", "Alice likes tea"}
    assert core.scope(user="alice").sessions() == ["sunday", "monday"], (
        "the conversation itself was erased, facts and all"
    )


# ---------------------------------------------------------------------- handles


def test_li_fact_4_a_handle_holds_an_address_and_no_messages(path: str) -> None:
    memory = TwinmemMemory.from_defaults(address=path, user="alice", agent="a", session_id="s", token_limit=99, k=3)
    memory.put(user("hello"))
    data = json.loads(json.dumps(memory.to_dict()))
    assert "hello" not in json.dumps(data)
    assert (data["address"], data["user"], data["agent"], data["session_id"]) == (path, "alice", "a", "s")
    assert data["class_name"] == "TwinmemMemory"
    again = TwinmemMemory.from_dict(data)
    assert (again.token_limit, again.k) == (99, 3)
    again.put(answer("hi"))
    assert texts(memory.get_all()) == ["hello", "hi"]


@pytest.mark.parametrize(
    "twin",
    [
        copy.copy,
        copy.deepcopy,
        lambda m: pickle.loads(pickle.dumps(m)),
        lambda m: TwinmemMemory.from_dict(m.to_dict()),
        lambda m: TwinmemMemory.from_json(m.to_json()),
        lambda m: TwinmemMemory.model_validate(m.model_dump()),
        lambda m: TwinmemMemory.model_validate_json(m.model_dump_json()),
        lambda m: m.model_copy(),
        lambda m: m.model_copy(deep=True),
    ],
    ids=["copy", "deepcopy", "pickle", "dict", "json", "model", "model_json", "model_copy", "model_copy_deep"],
)
@pytest.mark.parametrize("where", ["memory", "file"])
def test_li_32_q_every_kind_of_copy_shares_the_live_store(core: AgentMemory, path: str, where: str, twin: Any) -> None:
    given: dict[str, Any] = {"address": path} if where == "file" else {"memory": core}
    memory = TwinmemMemory.from_defaults(user="alice", **given)
    memory.put(user("before"))
    other = twin(memory)
    assert type(other) is TwinmemMemory
    assert other == memory
    memory.put(user("from the original"))
    other.put(user("from the copy"))
    assert texts(memory.get_all()) == texts(other.get_all()) == ["before", "from the original", "from the copy"]


def test_a_private_memory_is_shared_by_its_copies_and_ends_with_the_last() -> None:
    memory = TwinmemMemory.from_defaults()
    memory.put(user("before"))
    other = TwinmemMemory.from_dict(memory.to_dict())
    other.put(user("after"))
    assert texts(memory.get_all()) == ["before", "after"]
    store = memory._handle.memory
    del memory
    gc.collect()
    assert texts(other.get_all()) == ["before", "after"]
    del other
    gc.collect()
    assert store._closed


def test_li_21_a_memory_whose_database_is_gone_is_rebuilt_from_its_messages_once() -> None:
    memory = TwinmemMemory.from_defaults()
    message = call("t", "1", x=1)
    message.additional_kwargs["odd"] = (1, 2)
    memory.put_messages([user("hello"), message])
    data = json.loads(json.dumps(memory.to_dict()))
    del memory
    gc.collect()
    first, second = TwinmemMemory.from_dict(data), TwinmemMemory.from_dict(data)
    assert first.get_all() == second.get_all() == [user("hello"), message]
    first.put(user("more"))
    assert len(second.get_all()) == 3


def test_li_21_an_older_snapshot_of_a_live_database_brings_nothing_back() -> None:
    memory = TwinmemMemory.from_defaults()
    memory.put(user("old"))
    old = memory.to_dict()
    memory.reset()
    assert TwinmemMemory.from_dict(old).get_all() == []
    memory.put(user("new"))
    assert texts(TwinmemMemory.from_dict(old).get_all()) == ["new"]


def test_li_21_two_conversations_of_a_database_that_is_gone_come_back_into_one() -> None:
    first = TwinmemMemory.from_defaults()
    first.put(user("I live in Lyon"))
    second = TwinmemMemory(user=first.user, store_id=first.store_id)
    second.put(user("hello"))
    data = [first.to_dict(), second.to_dict()]
    del first, second
    gc.collect()
    one, two = (TwinmemMemory.from_dict(each) for each in data)
    assert (texts(one.get_all()), texts(two.get_all())) == (["I live in Lyon"], ["hello"])
    two.put(user("Where do I live?"))
    assert "I live in Lyon" in whole(two.get())


def test_li_21_an_older_snapshot_shows_the_conversation_as_it_is_now(path: str) -> None:
    memory = TwinmemMemory.from_defaults(address=path, user="alice")
    old = memory.to_dict()
    memory.put(user("newer"))
    assert texts(TwinmemMemory.from_dict(old).get_all()) == ["newer"]


def test_a_restored_handle_is_shared_and_closed_with_the_last_of_them(path: str) -> None:
    memory = TwinmemMemory.from_defaults(address=path, user="alice")
    handles = [TwinmemMemory.from_dict(memory.to_dict()) for _ in range(50)]
    assert {handle._handle for handle in handles} == {memory._handle}
    store = memory._handle.memory
    del handles, memory
    gc.collect()
    assert store._closed


def test_a_restored_handle_outlives_the_callers_own(path: str) -> None:
    with AgentMemory.open(path) as core:
        memory = TwinmemMemory.from_defaults(memory=core, user="alice")
        memory.put(user("hello"))
        other = TwinmemMemory.from_dict(memory.to_dict())
    assert texts(other.get_all()) == ["hello"]
    with pytest.raises(TwinmemError, match="closed"):
        memory.get_all()


def test_a_restored_handle_finds_its_embedder_in_a_new_process_or_says_so(path: str) -> None:
    memory = TwinmemMemory.from_defaults(address=path, user="alice", session_id="s")
    memory.put(user("I live in Lyon"))
    code = """
import pickle, sys
from shared_core import AgentMemory
from shared_core.errors import EmbedderMismatch
from llama_index.core.llms import ChatMessage
if sys.argv[2] == "registered":
    AgentMemory.register(sys.argv[1], lambda: {"embedder": "hashing"})
memory = pickle.loads(bytes.fromhex(sys.argv[3]))
print([m.content for m in memory.get_all()])
try:
    memory.put(ChatMessage(role="user", content="from the other process"))
except EmbedderMismatch as error:
    print("hashing" in str(error) and "reembed" in str(error))
"""
    for how in ("registered", "not"):
        arguments = [sys.executable, "-c", code, path, how, pickle.dumps(memory).hex()]
        done = subprocess.run(arguments, capture_output=True, text=True, check=True)
        assert "I live in Lyon" in done.stdout
        assert ("True" in done.stdout) == (how == "not"), done.stdout
    assert texts(memory.get_all()) == ["I live in Lyon", "from the other process"]


def test_a_file_of_another_embedder_keeps_its_history_and_names_the_remedy(path: str) -> None:
    with AgentMemory.open(path + "2", embedder="hashing") as core:
        TwinmemMemory.from_defaults(memory=core, user="alice", session_id="s").put(user("hello"))
    with AgentMemory.open(path + "2", embedder=HashingEmbedder(name="other")) as core:
        memory = TwinmemMemory.from_defaults(memory=core, user="alice", session_id="s")
        assert texts(memory.get_all()) == ["hello"]
        with pytest.raises(EmbedderMismatch, match="reembed"):
            memory.put(user("more"))
        core.reembed()
        memory.put(user("more"))
        assert texts(memory.get_all()) == ["hello", "more"]


def test_li_issue_7_and_8_a_memory_inside_another_model_comes_back(path: str) -> None:
    class Holder(BaseModel):
        memory: TwinmemMemory

    memory = TwinmemMemory.from_defaults(address=path, user="alice")
    memory.put(user("hello"))
    again = Holder.model_validate_json(Holder(memory=memory).model_dump_json())
    assert texts(again.memory.get_all()) == ["hello"]
    again = Holder.model_validate(json.loads(json.dumps(Holder(memory=memory).model_dump(mode="json"))))
    assert texts(again.memory.get_all()) == ["hello"]


def test_li_32_f_two_memories_of_one_session_share_it(core: AgentMemory, path: str) -> None:
    for given in ({"memory": core}, {"address": path}):
        one = TwinmemMemory.from_defaults(user="alice", session_id="same", **given)
        two = TwinmemMemory.from_defaults(user="alice", session_id="same", **given)
        one.put(user("hello"))
        assert texts(two.get_all()) == ["hello"]


def test_attach_refuses_nothing_it_can_share(core: AgentMemory) -> None:
    handle = attach(core)
    assert attach(store_id=handle.store_id).memory is core
    assert attach(address=":memory:").memory is not core


def test_the_model_is_never_asked_by_the_memory(core: AgentMemory) -> None:
    llm = ScriptedLLM()
    memory = TwinmemMemory.from_defaults(memory=core, user="alice", llm=llm)
    memory.put(user("hi"))
    memory.get()
    assert llm.prompts == []
    assert memory.token_limit == 3000


def test_a_chinese_question_finds_its_memory(core: AgentMemory) -> None:
    TwinmemMemory.from_defaults(memory=core, user="小明").put(user("我住在里昂"))
    later = TwinmemMemory.from_defaults(memory=core, user="小明")
    later.put(user("我住在哪里？"))
    assert "我住在里昂" in whole(later.get())
    assert "相关记忆" in whole(later.get())


def test_c6_an_answer_is_traced_to_the_memories_that_get_gave(core: AgentMemory) -> None:
    known = core.scope(user="alice").add("Lyon has two rivers")
    memory = TwinmemMemory.from_defaults(memory=core, user="alice", session_id="t")
    memory.put(user("How many rivers has Lyon?"))
    assert "two rivers" in whole(memory.get())
    memory.put(ChatMessage(role="assistant", content="Two."))
    chat = core.scope(user="alice").session("t")
    asked, answered = chat.messages()
    assert [hit.record.id for hit in chat.trace(str(answered.id))] == [known.id]
    assert chat.trace(str(asked.id)) == []
