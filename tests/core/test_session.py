"""One conversation: messages in and out, windows and context (cases A, B and J at the Session level)."""

from __future__ import annotations

import asyncio
import copy
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory, Message, Scope, Session
from shared_core.errors import InvalidInput, InvalidType
from shared_core.short_term.window import sliding
from shared_core.testing import FixedEmbedder, ManualClock


@pytest.fixture
def chat(scope: Scope) -> Session:
    return scope.session("monday")


def say(role: str, content: Any, id: str | None = None, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "id": id, **more}


def turn(n: int, **more: Any) -> list[dict[str, Any]]:
    return [say("user", f"question {n}", f"u{n}", **more), say("assistant", f"answer {n}", f"a{n}", **more)]


def texts(messages: list[Message]) -> list[str]:
    return [message.text for message in messages]


# ---------------------------------------------------------------------- what goes in comes out (R05)

RICH = [
    say("system", "Be brief.", "s1"),
    say("user", "look at this", "u1", name="Ann", created_at=datetime(2025, 1, 1, tzinfo=UTC)),
    say(
        "assistant", "", "a1",
        tool_calls=[
            {"id": "c1", "name": "search", "args": {"q": "tea", "deep": {"list": [1, None, "汉"]}}},
            {"id": "c2", "name": "clock", "args": {}},
        ],
        payload={"usage_metadata": {"input_tokens": 7}, "response_metadata": {"model": "m"}},
    ),
    say("tool", "found 3", "t1", tool_call_id="c1", name="search", payload={"status": "error"}),
    say("tool", "noon", "t2", tool_call_id="c2", name="clock"),
    say("assistant", "done", "a2", tool_calls=[]),
]  # fmt: skip


def test_r05_a_history_with_tool_calls_is_the_same_after_reopening(path: Path) -> None:
    given = [Message(**{**m, "tool_calls": tuple(m.get("tool_calls", ()))}) for m in RICH]
    with AgentMemory.open(path, embedder="hashing") as memory:
        memory.scope(user="alice").session("s").add_messages(RICH)
        before = memory.scope(user="alice").session("s").messages()
    with AgentMemory.open(path, embedder="hashing") as memory:
        after = memory.scope(user="alice").session("s").messages()
        assert after == before
        for mine, theirs in zip(given, after, strict=True):
            assert mine.model_dump(exclude={"created_at"}) == theirs.model_dump(exclude={"created_at"})
        assert after[1].created_at == datetime(2025, 1, 1, tzinfo=UTC)
        assert after[5].tool_calls == ()
        # What came out goes in again unchanged, as a framework does with it.
        other = memory.scope(user="alice").session("other")
        other.add_messages(after)
        assert other.messages() == after


def test_r05_roles_and_call_shapes_of_other_frameworks_become_the_common_ones(chat: Session) -> None:
    nested = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "tea"}'}}
    chat.add_messages([say("human", "hi"), say("ai", None, tool_calls=[nested]), say("developer", "be kind")])
    assert [m.role for m in chat.messages()] == ["user", "assistant", "system"]
    assert chat.messages()[1].tool_calls == ({"id": "c1", "name": "search", "args": {"q": "tea"}},)


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}],
        None, "", [], [{"type": "image_url", "image_url": {"url": "x"}}], ["plain", {"type": "text", "text": "parts"}],
        {"type": "text", "text": "one part"}, "nul \0 inside", "\U0001f389 \u200d",
    ],
)  # fmt: skip
def test_r15_content_of_any_shape_is_stored_counted_windowed_and_reloaded_equal(path: Path, content: Any) -> None:
    call = [{"id": "c1", "name": "f", "args": {}}]
    given = copy.deepcopy(content)
    with AgentMemory.open(path, embedder=FixedEmbedder()) as memory:
        chat = memory.scope(user="alice").session("s")
        chat.add_messages([say("user", content), say("assistant", content, tool_calls=call), say("user", "next")])
        assert memory.scope(user="alice").stats().messages == 3
    with AgentMemory.open(path, embedder=FixedEmbedder()) as memory:
        chat = memory.scope(user="alice").session("s")
        assert [m.content for m in chat.messages()] == [given, given, "next"]
        assert chat.window()[-1].text == "next"
        assert chat.context("see").tokens > 0
        assert memory.check().ok
    assert content == given


def test_r15_only_the_text_parts_reach_the_embedder() -> None:
    embedder = FixedEmbedder()
    with AgentMemory.open(embedder=embedder) as memory:
        memory.scope(user="alice").session("s").add_messages(
            [say("user", [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "secret-url"}}]),
             say("user", [{"type": "image_url", "image_url": {"url": "secret-url"}}]), say("assistant", None)]
        )  # fmt: skip
        assert embedder.documents == ["see"]


BAD_MESSAGES: list[tuple[Any, type[Exception]]] = [
    ("hello", TypeError),
    ({"role": "user", "content": "x"}, TypeError),
    ([5], TypeError),
    ([{"content": "x"}], ValueError),
    ([{"role": " ", "content": "x"}], ValueError),
    ([{"role": "user", "content": 5}], TypeError),
    ([{"role": "user", "content": "x", "colour": 1}], ValueError),
    ([{"role": "user", "content": "x", "id": 5}], TypeError),
    ([{"role": "user", "content": "x", "id": ""}], ValueError),
    ([{"role": "user", "content": "x", "created_at": datetime(2025, 1, 1)}], ValueError),
    ([{"role": "assistant", "content": None, "tool_calls": [5]}], TypeError),
    ([{"role": "user", "content": [{"type": "image", "data": b"bytes"}]}], TypeError),
    ([{"role": "user", "content": "x", "payload": {"loop": object()}}], TypeError),
]


@pytest.mark.parametrize(("messages", "error"), BAD_MESSAGES)
def test_what_is_no_message_is_refused_whole_and_the_good_ones_beside_it_too(
    chat: Session, messages: Any, error: type[Exception]
) -> None:
    given = [say("user", "good"), *messages] if isinstance(messages, list) else messages
    for verb in (chat.add_messages, chat.replace_messages):
        with pytest.raises(error):
            verb(given)
    assert chat.messages() == []


def test_r22_a_lone_surrogate_becomes_a_replacement_character_everywhere(chat: Session) -> None:
    """A message that can't be sent on as UTF-8 would break its conversation for good."""
    chat.add_messages(
        [say("user", "bad \ud83d end"), say("assistant", [{"type": "text", "text": "\udc00"}], payload={"k": "\ud83d"})]
    )
    found = chat.messages()
    assert texts(found) == ["bad \ufffd end", "\ufffd"]
    assert found[1].payload == {"k": "\ufffd"}
    for message in found:
        message.model_dump_json().encode()
    chat.add_messages([say("user", "pair \ud83d\ude00")])
    assert texts(chat.messages(last=1)) == ["pair \U0001f600"]


# ---------------------------------------------------------------------- the same turn again (R07)


def test_r07_a_whole_prompt_saved_again_each_turn_is_stored_once(chat: Session) -> None:
    history: list[dict[str, Any]] = []
    for n in range(3):
        history += turn(n)
        chat.add_messages(history)
    assert texts(chat.messages()) == [m["content"] for m in history]
    assert chat.scope.count() == 6


def test_r07_without_ids_a_history_sent_again_goes_through_replace_messages(chat: Session) -> None:
    history: list[dict[str, Any]] = []
    records: list[Any] = []
    for n in range(3):
        history += [{**m, "id": None} for m in turn(n)]
        now = chat.replace_messages(history)
        assert now[: len(records)] == records  # what was there keeps its records
        records = now
    assert texts(chat.messages()) == [m["content"] for m in history]
    assert chat.scope.count() == 6
    chat.add_messages([say("user", "same"), say("user", "same")])
    assert chat.scope.count() == 8  # a turn is never taken for another because of its text


def test_a_message_sent_again_changed_is_replaced_where_it_stands(chat: Session) -> None:
    chat.add_messages([*turn(0), *turn(1)])
    [record] = chat.add_messages([say("user", "question zebra", "u0")])
    assert texts(chat.messages()) == ["question zebra", "answer 0", "question 1", "answer 1"]
    assert [h.record.id for h in chat.scope.search("zebra") if "zebra" in h.record.text] == [record.id]
    assert not [h for h in chat.scope.search("question 0") if h.record.text == "question 0"]


def test_the_same_message_id_in_two_sessions_is_two_turns(scope: Scope) -> None:
    a, b = scope.session("a"), scope.session("b")
    a.add_messages(turn(0))
    b.add_messages(turn(0))
    assert scope.count() == 4
    a.delete()
    assert texts(b.messages()) == ["question 0", "answer 0"]


def test_replacing_gives_exactly_the_new_history_in_its_order(chat: Session) -> None:
    chat.add_messages([*turn(0), *turn(1)])
    new = [turn(1)[0], say("user", "inserted", "x"), {**turn(0)[0], "content": "edited"}]
    records = chat.replace_messages(new)
    assert texts(chat.messages()) == [r.text for r in records] == ["question 1", "inserted", "edited"]
    assert chat.scope.count() == 3
    assert not [h for h in chat.scope.search("answer") if "answer" in h.record.text]
    assert chat.replace_messages([]) == chat.messages() == []


def test_replacing_keeps_the_order_where_earlier_turns_were_deleted(chat: Session) -> None:
    """Positions run ahead of the count then; new messages must not slip in between the old ones."""
    chat.add_messages([m for n in range(3) for m in turn(n)])
    for record in chat.scope.list(kinds=["turn"])[:4]:
        chat.scope.delete(record.id)
    history = [*turn(2), *turn(3)]
    chat.replace_messages(history)
    assert texts(chat.messages()) == [m["content"] for m in history]
    chat.add_messages(turn(4))
    assert texts(chat.messages()) == [m["content"] for m in [*history, *turn(4)]]


def test_a_replacement_that_fails_leaves_the_old_history() -> None:
    embedder = FixedEmbedder({"boom": ConnectionError("no model")}, dimensions=8)
    with AgentMemory.open(embedder=embedder) as memory:
        chat = memory.scope(user="alice").session("s")
        chat.add_messages(turn(0))
        for verb in (chat.replace_messages, chat.add_messages):
            with pytest.raises(ConnectionError, match="no model"):
                verb([say("user", "fine", "f"), say("user", "boom", "b")])
        assert texts(chat.messages()) == ["question 0", "answer 0"]
        assert memory.check().ok


class Interfering(FixedEmbedder):
    """Calls `meanwhile` once, at the moment a verb waits for its vectors: another writer comes in between."""

    meanwhile: Any = None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors = super().embed_documents(texts)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return vectors


@pytest.mark.parametrize("verb", ["add_messages", "replace_messages"])
def test_another_writer_between_looking_and_writing_loses_nothing(verb: str) -> None:
    embedder = Interfering(dimensions=8)
    with AgentMemory.open(embedder=embedder, settings={"facts": {"extract": False}}) as memory:
        chat = memory.scope(user="alice").session("s")
        chat.add_messages(turn(0))
        embedder.meanwhile = chat.clear
        getattr(chat, verb)([*turn(0), *turn(1)])
        assert texts(chat.messages()) == [m["content"] for m in [*turn(0), *turn(1)]]
        report = memory.check()
        assert report.ok, report.problems
        assert report.vectors == 4


def test_an_update_that_meets_another_update_leaves_a_vector_for_the_text_that_stays() -> None:
    embedder = Interfering(dimensions=8)
    with AgentMemory.open(embedder=embedder) as memory:
        scope = memory.scope(user="alice")
        scope.add("first", id="x")
        embedder.meanwhile = lambda: scope.update("x", "second")
        scope.update("x", "third")
        embedder.meanwhile = lambda: scope.update("x", "fourth")
        memory._engine.model.forget()
        scope.update("x", "third")
        assert scope.get("x").text == "third"
        assert memory.check().ok


# ---------------------------------------------------------------------- lists of one's own (R10)


def test_r10_conversations_and_their_lists_are_nobody_elses(memory: AgentMemory) -> None:
    a, b = memory.scope(user="a").session("s"), memory.scope(user="b").session("s")
    given = turn(0)
    a.add_messages(given)
    assert b.messages() == []
    assert given == turn(0)
    found = a.messages()
    found.append(found[0])
    found[0].__dict__["content"] = "changed"
    a.window().clear()
    assert texts(a.messages()) == ["question 0", "answer 0"]


def test_r10_a_settings_object_shared_by_two_memories_is_never_changed() -> None:
    from shared_core import Settings

    shared = Settings(window={"max_turns": 1})
    before = shared.model_dump()
    with (
        AgentMemory.open(embedder="hashing", settings=shared) as one,
        AgentMemory.open(embedder="hashing", settings=shared) as two,
    ):
        one.scope(user="a").session("s").add_messages(turn(0))
        assert two.scope(user="a").session("s").messages() == []
        assert two.scope(user="a").list() == []
    assert shared.model_dump() == before


# ---------------------------------------------------------------------- windows (R11, R12)


@pytest.mark.parametrize(("k", "expected"), [(0, 0), (1, 2), (2, 4), (6, 12), (100, 12)])
def test_r11_a_window_of_k_turns_has_k_turns(chat: Session, k: int, expected: int) -> None:
    everything = [m for n in range(6) for m in turn(n)]
    chat.add_messages(everything)
    window = chat.window(max_turns=k)
    assert texts(window) == [m["content"] for m in everything[len(everything) - expected :]]


def test_r11_a_system_message_is_extra_and_first_and_negative_sizes_are_refused(chat: Session) -> None:
    chat.add_messages([say("system", "Be brief."), *turn(0), *turn(1)])
    assert texts(chat.window(max_turns=1)) == ["Be brief.", "question 1", "answer 1"]
    assert texts(chat.window(max_turns=0)) == ["Be brief."]
    for wrong in ({"max_turns": -1}, {"max_tokens": -1}):
        with pytest.raises(ValueError, match="0 or more"):
            chat.window(**wrong)
    for last in (-1, True, 1.5):
        with pytest.raises(InvalidInput):
            chat.messages(last=last)


@pytest.mark.parametrize(("last", "expected"), [(0, 0), (1, 1), (3, 3), (4, 4), (99, 4), (None, 4)])
def test_the_last_messages_are_the_newest_in_order(chat: Session, last: int | None, expected: int) -> None:
    chat.add_messages([*turn(0), *turn(1)])
    assert texts(chat.messages(last)) == ["question 0", "answer 0", "question 1", "answer 1"][4 - expected :]


@pytest.mark.parametrize("giant", ["很长的话🎉" * 20_000, "x" * 100_000])
def test_r12_a_giant_message_or_prefix_never_empties_the_window(chat: Session, giant: str) -> None:
    prefix = "rule " * 400
    chat.add_messages([say("system", prefix), *turn(0), say("user", giant)])
    for limit in (1, 300, 1_000):
        window = chat.window(max_tokens=limit)
        assert [m.role for m in window] == ["system", "user"]
        assert window[0].text == prefix
        assert 0 < len(window[1].text) < len(giant)
        assert window[1].text[:5] == giant[:5]
        window[1].text.encode()
        context = chat.context(max_tokens=limit)
        assert context.tokens <= max(limit, 30)
    assert chat.messages()[-1].text == giant


# ---------------------------------------------------------------------- context


def test_the_question_is_not_its_own_answer(chat: Session) -> None:
    chat.scope.add("Ann drives a red lorry")
    chat.add_messages([*turn(0), say("user", "What does Ann drive?")])
    for asked in (None, "What does Ann drive?", [say("user", "What does Ann drive?")]):
        context = chat.context(asked)
        assert [h.record.text for h in context.hits] == ["Ann drives a red lorry"]
        assert "red lorry" in context.text
        assert context.text.count("What does Ann drive?") == 1


def test_a_context_keeps_to_its_budget_and_never_repeats_the_window(scope: Scope) -> None:
    from shared_core.short_term.tokens import count

    chat = scope.session("s")
    chat.add_messages([m for n in range(40) for m in turn(n)])
    scope.add_many([f"fact about question {n} " + "and more " * 30 for n in range(40)])
    for limit in (50, 200, 1_000, 4_000):
        context = chat.context("question 3", max_tokens=limit)
        assert context.tokens == count(context.text) <= limit
        shown = {m.id for m in context.messages}
        assert not shown & {h.record.message_id for h in context.hits if h.record.message_id}
    for wrong in (0, -1, True, 1.5):
        with pytest.raises(InvalidInput):
            chat.context("x", max_tokens=wrong)


@pytest.mark.parametrize("query", ["", " ", "？", [], None])
def test_a_context_without_a_question_is_the_recent_talk(chat: Session, query: Any) -> None:
    assert chat.context(query).text == ""
    chat.add_messages([say("assistant", "Welcome back")])
    assert "Welcome back" in chat.context(query).text


def test_headings_follow_the_language_of_the_talk(scope: Scope) -> None:
    scope.add_many(["Ann lives in Lyon", "安住在里昂"])
    zh, en = scope.session("zh"), scope.session("en")
    zh.add_messages([say("user", "安住在哪里？")])
    en.add_messages([say("user", "Where does Ann live?")])
    assert "相关记忆" in zh.context().text
    assert "Relevant memories" in en.context().text


# ---------------------------------------------------------------------- ending


def test_clearing_takes_the_turns_and_keeps_the_session_deleting_takes_both(scope: Scope) -> None:
    for verb, left in (("clear", ["s"]), ("delete", [])):
        chat = scope.session("s")
        chat.add_messages([*turn(0), *turn(1)])
        receipt = getattr(chat, verb)()
        assert (receipt.count, len(receipt.ids)) == (4, 4)
        assert (chat.messages(), scope.sessions(), scope.search("question")) == ([], left, [])
        assert getattr(chat, verb)().count == 0
    scope.session("s").add_messages(turn(7))
    assert texts(scope.session("s").messages()) == ["question 7", "answer 7"]


def test_a_conversation_that_ended_goes_on_with_its_next_message(chat: Session) -> None:
    chat.add_messages(turn(0))
    chat.end()
    chat.end()
    chat.add_messages(turn(1))
    assert len(chat.messages()) == 4
    chat.scope.session("never written").end()
    assert chat.scope.sessions() == ["monday"]


def test_a_session_needs_a_name(scope: Scope) -> None:
    for name in ("", " ", None):
        with pytest.raises(ValueError, match="empty"):
            scope.session(name)
    with pytest.raises(InvalidType):
        scope.session(5)


def test_messages_keep_their_order_whatever_their_times_say(chat: Session, clock: ManualClock) -> None:
    times = [clock.now - timedelta(days=n) for n in range(5)]
    for n, when in enumerate(times):
        chat.add_messages([say("user", f"m{n}", created_at=when)])
    assert texts(chat.messages()) == [f"m{n}" for n in range(5)]
    assert [m.created_at for m in chat.messages()] == times


# ---------------------------------------------------------------------- at once (R61, R09)


async def test_r61_twenty_tasks_at_once_keep_every_pair_together(path: Path) -> None:
    async with await AgentMemory.aopen(path, embedder="hashing") as memory:
        chat = memory.scope(user="alice").session("s")
        other = memory.scope(user="alice").session("other")
        await asyncio.gather(*(chat.aadd_messages(turn(n)) for n in range(20)), other.aadd_messages(turn(0)))
        _pairs(texts(await chat.amessages()), 20)
        assert len(await other.amessages()) == 2


def test_r61_twenty_threads_at_once_keep_every_pair_together(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        chat = memory.scope(user="alice").session("s")
        threads = [threading.Thread(target=chat.add_messages, args=(turn(n),)) for n in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        _pairs(texts(chat.messages()), 20)


def _pairs(found: list[str], count: int) -> None:
    assert len(found) == 2 * count
    for question, answer in zip(found[::2], found[1::2], strict=True):
        assert question.replace("question", "answer") == answer
    assert len(set(found)) == 2 * count


async def test_r09_a_turn_cancelled_while_it_is_embedded_is_not_half_there(path: Path) -> None:
    class Slow(FixedEmbedder):
        async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
            started.set()
            await asyncio.sleep(30)
            return self.embed_documents(texts)

        async def aembed_query(self, text: str) -> list[float]:
            return self.embed_query(text)

    started = asyncio.Event()
    async with await AgentMemory.aopen(path, embedder=Slow()) as memory:
        chat = memory.scope(user="alice").session("s")
        task = asyncio.create_task(chat.aadd_messages(turn(0)))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await chat.amessages() == []
    async with await AgentMemory.aopen(path, embedder=FixedEmbedder(name="fixed")) as memory:
        chat = memory.scope(user="alice").session("s")
        await chat.aadd_messages([turn(0)[0]])
        await chat.aadd_messages(turn(0))  # the next turn sends the history again
        assert texts(await chat.amessages()) == ["question 0", "answer 0"]
        assert (await memory.acheck()).ok


async def test_r09_a_cancellation_during_the_write_leaves_all_of_it_or_nothing(path: Path) -> None:
    async with await AgentMemory.aopen(path, embedder="hashing") as memory:
        chat = memory.scope(user="alice").session("s")
        for n in range(12):
            task = asyncio.create_task(chat.aadd_messages(turn(n)))
            await asyncio.sleep(0.0004 * n)
            task.cancel()
            await asyncio.wait([task])
        for _ in range(200):  # a worker thread that was already writing finishes on its own
            before = await chat.amessages()
            await asyncio.sleep(0.01)
            if len(await chat.amessages()) == len(before):
                break
        found = texts(await chat.amessages())
        _pairs(found, len(found) // 2)
        assert (await memory.acheck()).ok


def test_a_long_conversation_gives_the_same_window_though_only_its_end_is_read(scope: Scope) -> None:
    chat = scope.session("long")
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
    for n in range(150):
        messages.append({"role": "user", "content": f"question {n} " + "word " * (n % 7)})
        if n % 5 == 0:
            call = {"id": f"c{n}", "name": "look", "args": {"n": n}}
            messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
            messages.append({"role": "tool", "content": f"found {n}", "tool_call_id": f"c{n}"})
        messages.append({"role": "assistant", "content": f"answer {n}"})
    chat.add_messages(messages)
    everything = chat.messages()
    for max_tokens in (10, 100, 700, 3000, 100_000):
        for max_turns in (0, 1, 20, 149, 400):
            expected = sliding(everything, max_tokens=max_tokens, max_turns=max_turns)
            assert chat.window(max_tokens, max_turns) == expected
