"""A long conversation at the Session level: its running summary (A4), its snapshot (A5), what is held on to (A3)."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory, Message, Session
from shared_core.errors import InvalidInput
from shared_core.short_term import summary, tokens
from shared_core.testing import ScriptedLLM

QUIET = {"facts": {"extract": False}}


@pytest.fixture(autouse=True)
def _on_every_store(tmp_path: Path) -> None:
    """Every test here opens a memory, and has to hold of each store (see tests/conftest.py)."""


def say(role: str, content: Any, id: str | None = None, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "id": id, **more}


def turn(n: int, tongue: str = "en") -> list[dict[str, Any]]:
    """A turn of about 50 tokens."""
    if tongue == "zh":
        return [say("user", f"请讲讲第{n}个岛上的灯塔是怎么建起来的，谁住在里面", f"u{n}"),
                say("assistant", f"第{n}座灯塔是很久以前用石头建的，里面住着看守人和他的一家。", f"a{n}")]  # fmt: skip
    return [say("user", f"How was the lighthouse of island {n} built, and who has been living in it", f"u{n}"),
            say("assistant", f"Lighthouse {n} was built of stone long ago, and its keeper lives there with a family.", f"a{n}")]  # fmt: skip


def opened(path: Path | None = None, llm: Any = None, **settings: Any) -> AgentMemory:
    return AgentMemory.open(path, embedder="hashing", llm=llm, settings={**QUIET, **settings})


def session(memory: AgentMemory, user: str = "alice") -> Session:
    return memory.scope(user=user).session("monday")


def cost(messages: list[Message]) -> int:
    return sum(map(tokens.count_message, messages))


def reach(chat: Session) -> int:
    """The position up to which the summary covers the conversation."""
    with chat.scope._engine.store.read() as tx:
        row = chat._row(tx)
        return 0 if row is None else int(tx.rows("session_digest", {"session": row[1]})[0][1])


class Summariser:
    """A stub that counts its calls and writes down which messages it was given."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0] if self.answers else "They talked."
        if isinstance(answer, Exception):
            raise answer
        return str(answer(prompt) if callable(answer) else answer)

    def told(self, n: int = -1) -> list[int]:
        """The islands in a prompt's conversation."""
        talk = re.split(r"^(?:Conversation:|对话：)$", self.prompts[n], flags=re.M)[1]
        return [int(found) for found in re.findall(r"(?:island |第)(\d+)(?:个岛| built)", talk)]


# ---------------------------------------------------------------------- the running summary


@pytest.mark.parametrize("tongue", ["en", "zh"])
def test_a4_past_twenty_turns_the_older_part_is_folded_and_five_stay_verbatim(tongue: str) -> None:
    with opened() as memory:
        chat = session(memory)
        chat.add_messages([say("user", {"en": "My name is Anna Berg.", "zh": "我叫王小明。"}[tongue], "u0")])
        for n in range(1, 20):
            chat.add_messages(turn(n, tongue))
        assert chat.summary == ""
        chat.add_messages(turn(20, tongue))
        assert {"en": "Anna Berg", "zh": "王小明"}[tongue] in chat.summary
        assert reach(chat) == 1 + 2 * 15  # 21 turns, of which the newest five are left
        assert len(chat.messages()) == 41
        assert len(chat.summary) <= 1_000


def test_a4_past_the_token_limit_it_is_folded_too() -> None:
    with opened(window={"max_tokens": 400}) as memory:
        chat = session(memory)
        for n in range(4):
            chat.add_messages([say("user", f"Remember the number {n}77. " + "word " * 100), say("assistant", "Noted.")])
        assert "077" in chat.summary
        assert reach(chat) >= 2


def test_a4_each_message_is_summarised_once_and_the_summary_before_is_carried_on() -> None:
    llm = Summariser(*(f"Summary {n}." for n in range(100)))
    with opened(llm=llm) as memory:
        chat = session(memory)
        for n in range(80):
            chat.add_messages(turn(n))
        told = [island for n in range(len(llm.prompts)) for island in llm.told(n)]
        assert told == list(range(len(told)))
        assert len(llm.prompts) == 4  # at turns 21, 37, 53, 69
        assert "Summary 0." in llm.prompts[1]
        assert "Summary 0." not in llm.prompts[0]
        assert chat.summary == "Summary 3."
        assert told[-1] + 1 == 80 - (80 - 69) - 5


async def test_a4_async_gives_the_same_and_uses_the_models_async_form() -> None:
    class Async(Summariser):
        awaited = 0

        async def acall(self, prompt: str) -> str:
            self.awaited += 1
            return self(prompt)

    sync, twin = Summariser(lambda p: f"S{len(p)}"), Async(lambda p: f"S{len(p)}")
    with opened(llm=sync) as one, opened(llm=twin) as two:
        chat, other = session(one), session(two)
        for n in range(25):
            chat.add_messages(turn(n))
            await other.aadd_messages(turn(n))
        assert await other.asummary() == other.summary == chat.summary != ""
        assert chat.summarise() == await other.asummarise()
        assert sync.prompts == twin.prompts
        assert twin.awaited == len(twin.prompts) == 2


def test_a4_on_call_all_but_the_newest_turns_are_folded_and_what_is_folded_is_not_folded_again() -> None:
    llm = Summariser("One.", "Two.")
    with opened(llm=llm) as memory:
        chat = session(memory)
        chat.add_messages([message for n in range(7) for message in turn(n)])
        assert chat.summary == ""
        assert chat.summarise() == "One."
        assert llm.told() == [0, 1]
        assert chat.summarise() == "One."
        assert chat.summarise(keep_turns=1) == "Two."
        assert llm.told() == [2, 3, 4, 5]
        for wrong in (0, -1, True, 1.5):
            with pytest.raises(InvalidInput):
                chat.summarise(keep_turns=wrong)  # type: ignore[arg-type]


def test_a4_when_the_model_is_asked_is_a_setting() -> None:
    for when, calls in (("later", 0), ("never", 0), ("now", 1)):
        llm = Summariser("Asked.")
        with opened(llm=llm, summary={"llm": when}) as memory:
            chat = session(memory)
            chat.add_messages([message for n in range(25) for message in turn(n)])
            assert len(llm.prompts) == calls
            assert (chat.summary == "") is (when == "later")
            assert len(llm.prompts) == calls  # to read is not to ask
            chat.summarise()
            assert len(llm.prompts) == (0 if when == "never" else 1)


def test_a4_a_long_history_is_folded_in_pieces_that_fit_a_prompt() -> None:
    llm = Summariser(*(f"Summary {n}." for n in range(100)))
    with opened(llm=llm, summary={"batch_tokens": 400}) as memory:
        chat = session(memory)
        chat.add_messages([message for n in range(60) for message in turn(n)])
        assert len(llm.prompts) > 4
        assert max(map(tokens.count, llm.prompts)) < 700
        assert [island for n in range(len(llm.prompts)) for island in llm.told(n)] == list(range(55))
        assert chat.summary == f"Summary {len(llm.prompts) - 1}."


@pytest.mark.timing
def test_a4_a_history_of_thousands_is_folded_in_passable_time() -> None:
    import time

    with opened() as memory:
        chat = session(memory)
        start = time.perf_counter()
        chat.add_messages([message for n in range(1_500) for message in turn(n)])
        assert reach(chat) == 2 * 1_495
        assert time.perf_counter() - start < 30


def test_a4_the_models_answer_is_redacted_before_it_is_stored() -> None:
    with AgentMemory.open(
        embedder="hashing", llm=Summariser("Call 13800138000 back."),
        settings={**QUIET, "redactor": lambda text: text.replace("13800138000", "[phone]")},
    ) as memory:  # fmt: skip
        chat = session(memory)
        chat.add_messages([message for n in range(21) for message in turn(n)])
        assert chat.summary == "Call [phone] back."


def test_a4_two_at_once_fold_each_message_once() -> None:
    """Whoever comes second finds the work done, and throws its own answer away."""
    barrier = threading.Barrier(2, timeout=20)

    def slow(prompt: str) -> str:
        if barrier.n_waiting < 2:
            barrier.wait()
        return f"{len(re.findall('island', prompt))} islands."

    with opened(llm=Summariser(slow), summary={"llm": "later"}) as memory:
        chat = session(memory)
        chat.add_messages([message for n in range(10) for message in turn(n)])
        found: list[str] = []
        threads = [threading.Thread(target=lambda: found.append(chat.summarise())) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert found == ["5 islands.", "5 islands."]
        assert reach(chat) == 10


def test_a4_a_late_result_and_its_call_are_on_one_side_of_the_cut() -> None:
    calls = [{"id": "c1", "name": "look", "args": {}}]
    with opened() as memory:
        chat = session(memory)
        talk = [*turn(0), say("user", "look it up", "q"), say("assistant", None, "call", tool_calls=calls),
                say("user", "and then?", "late"), say("tool", "found 7 of them", "result", tool_call_id="c1"), *turn(1)]  # fmt: skip
        chat.add_messages(talk)
        for keep in (3, 2, 1):
            chat.summarise(keep_turns=keep)
            assert reach(chat) in (2, 6)
        assert "found 7" in chat.summary


def test_a4_a_failed_answer_leaves_other_sessions_and_users_alone() -> None:
    with opened() as memory:
        mine, theirs = session(memory), session(memory, "bob")
        for chat, name in ((mine, "Anna"), (theirs, "Bruno")):
            chat.add_messages([say("user", f"My name is {name}."), *(m for n in range(25) for m in turn(n))])
        assert "Anna" in mine.summary
        assert "Anna" not in theirs.summary
        assert mine.scope.session("tuesday").summary == ""
        assert mine.scope.session("tuesday").snapshot == ""


# ---------------------------------------------------------------------- cases of area C, and B where it touches


@pytest.mark.parametrize("tongue", ["en", "zh"])
@pytest.mark.parametrize("kind", ["extractive", "model"])
@pytest.mark.parametrize("place", ["memory", "file"])
def test_r16_the_window_is_system_one_summary_and_the_newest_messages(
    path: Path, place: str, kind: str, tongue: str
) -> None:
    settings = {"window": {"policy": "summary", "max_tokens": 300}}
    where = path if place == "file" else None
    llm = None if kind == "extractive" else Summariser("They spoke of lighthouses.")
    memory = opened(where, llm, **settings)
    chat = session(memory)
    chat.add_messages([say("system", "Be brief.", "s")])
    for n in range(30):
        chat.add_messages(turn(n, tongue))

    def check(chat: Session) -> list[Message]:
        seen = chat.window()
        assert seen[0].text == "Be brief."
        assert [summary.is_shown(m) for m in seen[:3]] == [False, True, False]
        assert [m.role for m in seen[2:]] == ["user", "assistant"] * (len(seen) // 2 - 1)
        assert seen[-1].id == "a29"
        assert cost(seen) <= 300
        assert 2 <= len(seen[2:]) <= 10
        # Nothing is both told by the summary and shown, and nothing is neither.
        assert int(str(seen[2].id)[1:]) * 2 + 1 == reach(chat)
        assert len(chat.messages()) == 61
        return seen

    before = check(chat)
    if place == "file":
        memory.close()
        memory = opened(where, llm, **settings)
        assert check(session(memory)) == before
    memory.close()


def test_r16_a_smaller_window_than_the_settings_folds_what_does_not_fit() -> None:
    with opened(window={"policy": "summary"}) as memory:
        chat = session(memory)
        chat.add_messages([say("user", "My name is Anna Berg."), *(m for n in range(8) for m in turn(n))])
        assert not any(map(summary.is_shown, chat.window()))
        seen = chat.window(max_tokens=250)
        assert "Anna Berg" in seen[0].text
        assert cost(seen) <= 250
        assert chat.window(max_turns=0) == seen[:1]
        assert [m.id for m in chat.window(max_turns=1)[1:]] == ["u7", "a7"]


def failing() -> Summariser:
    return Summariser(RuntimeError("no model"), "  ", "They spoke of lighthouses.")


@pytest.mark.parametrize("how", ["on call", "by itself"])
def test_r18_a_summariser_that_fails_or_says_nothing_loses_nothing(how: str, caplog: pytest.LogCaptureFixture) -> None:
    llm = failing()
    with opened(llm=llm, summary={"llm": "later"}) as memory:
        chat = session(memory)
        llm.answers.insert(0, "A good summary.")
        chat.add_messages([message for n in range(25) for message in turn(n)])
        assert chat.summarise() == "A good summary."
    llm = failing()
    llm.answers.insert(0, "A good summary.")
    settings = {"summary": {"llm": "later"}} if how == "on call" else {}
    with opened(llm=llm, window={"policy": "summary"}, **settings) as memory:
        chat = session(memory)
        chat.add_messages([message for n in range(25) for message in turn(n)])
        assert chat.summarise() == "A good summary."
        chat.add_messages([message for n in range(25, 40) for message in turn(n)])
        for n in range(3):
            with caplog.at_level(logging.WARNING, "twinmem.summary"):
                caplog.clear()
                chat.add_messages(turn(40 + n))
                if how == "on call":
                    chat.summarise()
            if (n < 2 and how == "on call") or n == 0:
                assert caplog.records
                assert chat.summary == "A good summary."
                assert [m.id for m in chat.messages()][::2] == [f"u{i}" for i in range(41 + n)]
                assert reach(chat) == 40
        if how == "by itself":
            chat.summarise()
        assert chat.summary == "They spoke of lighthouses."
        assert reach(chat) == 2 * 38 if how == "on call" else reach(chat) > 40


def test_r18_a_window_over_a_failing_summariser_shows_what_fits_and_raises_nothing() -> None:
    with opened(llm=Summariser(RuntimeError("down")), window={"policy": "summary", "max_tokens": 300}) as memory:
        chat = session(memory)
        for n in range(12):
            chat.add_messages(turn(n))
        seen = chat.window()
        assert seen[-1].id == "a11"
        assert cost(seen) <= 300
        assert chat.summary == ""
        assert len(chat.messages()) == 24


@pytest.mark.parametrize("policy", ["summary", "sliding"])
def test_r20_a_summary_that_grows_by_itself_stays_one_and_within_its_cap(policy: str) -> None:
    def swelling(prompt: str) -> str:
        return prompt.split("Summary so far", 1)[-1]

    system = "You are Ada. Summary: be brief."
    with opened(llm=Summariser(swelling), window={"policy": policy, "max_tokens": 800, "max_turns": 8}) as memory:
        chat = session(memory)
        chat.add_messages([say("system", system, "s")])
        for n in range(50):
            chat.add_messages(turn(n))
            assert len(chat.summary) <= 1_000
            seen = chat.window()
            assert seen[0].text == system
            assert sum(m.role == "system" for m in seen) == 1 + (policy == "summary" and chat.summary != "")
            assert cost(seen) <= 800
        assert reach(chat) > 80


def test_r20_a_window_that_is_sent_back_does_not_store_its_summary() -> None:
    with opened(window={"policy": "summary"}) as memory:
        chat = session(memory)
        chat.add_messages([message for n in range(25) for message in turn(n)])
        seen = chat.window()
        assert summary.is_shown(seen[0])
        chat.add_messages(seen)
        assert len(chat.messages()) == 50
        other = chat.scope.session("other")
        other.replace_messages(seen)
        assert [m.id for m in other.messages()] == [m.id for m in seen[1:]]


@pytest.mark.parametrize("text", ['{"a": {"b": 1}}', "{0} {} {name}", "%s", "${x}", "{{ x }}"])
def test_r21_braces_reach_the_summariser_as_they_are(text: str) -> None:
    llm = Summariser(text)
    with opened(llm=llm, window={"policy": "summary"}) as memory:
        chat = session(memory)
        chat.add_messages([say("user", text), *turn(0)])
        assert chat.summarise(keep_turns=1) == text
        assert f"User: {text}\n" in llm.prompts[0]
        assert text in chat.window()[0].text
        memory.scope(user="alice").add(f"note {text}")
        assert text in chat.context("note").text


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ('```json\n{"key_info": ["Lives in Oslo"]}\n```', "Key information:\n- Lives in Oslo"),
        ('<think>{"x"}</think>{"key_info": ["Lives in Oslo"]}', "Key information:\n- Lives in Oslo"),
        ('Sure: {"key_info": ["Lives in Oslo"]}', "Key information:\n- Lives in Oslo"), ("not json", "not json"),
        ('{"key_info": ["bad \\ud83d"]}', "Key information:\n- bad \ufffd"),
    ],
)  # fmt: skip
def test_r22_a_malformed_summary_is_read_or_kept_raw(answer: str, wanted: str) -> None:
    with opened(llm=Summariser(answer)) as memory:
        chat = session(memory)
        chat.add_messages([*turn(0), *turn(1)])
        assert chat.summarise(keep_turns=1) == wanted
        assert chat.messages()[0].id == "u0"


@pytest.mark.parametrize("keep", range(1, 5))
@pytest.mark.parametrize("limit", [None, 700])
def test_r03_a_call_and_its_results_are_summarised_whole_or_kept_whole(keep: int, limit: int | None) -> None:
    calls = [{"id": f"c{n}", "name": "search", "args": {"q": n}} for n in range(8)]
    talk = [say("user", "search", "h1"), say("assistant", None, "ai1", tool_calls=calls),
            *(say("tool", "x" * 5_000 if n == 0 else f"result {n}", f"t{n}", tool_call_id=f"c{n}") for n in range(8)),
            say("assistant", "done", "ai2"), say("user", "thanks for that, what next?", "h2")]  # fmt: skip
    group = {"ai1", *(f"t{n}" for n in range(8))}
    settings: dict[str, Any] = {"policy": "summary"} | ({"max_tokens": limit} if limit else {})
    llm = Summariser("They searched.")
    with opened(llm=llm, window=settings) as memory:
        chat = session(memory)
        chat.add_messages(talk)
        chat.summarise(keep_turns=keep)
        kept = {m["id"] for m in talk[reach(chat) :]}
        assert group <= kept or not group & kept
        shown = [m for m in chat.window() if not summary.is_shown(m)]
        assert {m.id for m in shown} <= kept
        assert shown[-1].id == "h2"


def test_r02_a_call_that_was_interrupted_is_folded_and_the_thread_goes_on(path: Path) -> None:
    calls = [{"id": f"c{n}", "name": "search", "args": {}} for n in (1, 2)]
    with opened(path) as memory:
        session(memory).add_messages([say("user", "search", "h"), say("assistant", None, "ai", tool_calls=calls),
                                      say("tool", "one", "t1", tool_call_id="c1")])  # fmt: skip
    with opened(path, window={"policy": "summary"}) as memory:
        chat = session(memory)
        chat.add_messages([say("user", "hello", "h2")])
        assert [m.role for m in chat.window()] == ["user", "assistant", "tool", "tool", "user"]
        for n in range(3):
            chat.add_messages(turn(n))
            chat.summarise(keep_turns=1)
            seen = chat.window()
            assert seen == chat.window()
            assert [m.role for m in seen] == ["system", "user", "assistant"]
        assert len(chat.messages()) == 10


def test_r04_summarising_nothing_asks_nobody() -> None:
    llm = Summariser()
    with opened(llm=llm, window={"policy": "summary"}) as memory:
        chat = session(memory)
        assert (chat.summarise(), chat.summary, chat.snapshot, chat.window()) == ("", "", "", [])
        chat.add_messages([say("system", "Be brief.")])
        assert (chat.summarise(keep_turns=1), [m.text for m in chat.window()]) == ("", ["Be brief."])
        chat.add_messages([say("user", "")])
        assert chat.summarise(keep_turns=1) == ""
        assert [m.role for m in chat.window()] == ["system", "user"]
        assert llm.prompts == []


def test_r11_a_window_of_k_turns_over_a_summary() -> None:
    with opened(window={"policy": "summary"}) as memory:
        chat = session(memory)
        chat.add_messages([message for n in range(6) for message in turn(n)])
        for k, wanted in ((6, 12), (100, 12), (2, 4), (1, 2)):
            assert len([m for m in chat.window(max_turns=k) if m.role != "system"]) == wanted
        assert [m.role for m in chat.window(max_turns=0)] == ["system"]
        with pytest.raises(InvalidInput):
            chat.window(max_turns=-1)


@pytest.mark.parametrize("text", ["灯塔🎉" * 12_000, "lighthouse " * 9_000])
def test_r12_a_giant_message_beside_a_summary(text: str) -> None:
    with opened(window={"policy": "summary"}) as memory:
        chat = session(memory)
        chat.add_messages(
            [say("system", "Be brief."), *(m for n in range(6) for m in turn(n)), say("user", text, "big")]
        )
        seen = chat.window(max_tokens=1_000)
        assert seen[0].text == "Be brief."
        assert seen[-1].id == "big"
        assert cost(seen) <= 1_000
        assert chat.messages()[-1].text == text
        chat.summarise(keep_turns=1)
        chat.add_messages([say("user", "and now?")])
        assert len(chat.summarise(keep_turns=1)) <= 1_000


def test_r15_content_of_any_shape_is_summarised() -> None:
    call = [{"id": "c1", "name": "f", "args": {}}]
    image = {"type": "image_url", "image_url": {"url": "secret-url"}}
    llm = Summariser("ok")
    with opened(llm=llm) as memory:
        chat = session(memory)
        for content in ([{"type": "text", "text": "see"}, image], None, "", [], [image]):
            chat.add_messages([say("user", content), say("assistant", content, tool_calls=call)])
        chat.add_messages([say("user", "next")])
        assert chat.summarise(keep_turns=1) == "ok"
        assert "secret-url" not in llm.prompts[0]
        assert "secret-url" not in chat.snapshot


# ---------------------------------------------------------------------- what is erased is not told

SENTINEL = "ZXQ-sentinel-7741"


def traces(chat: Session, word: str = SENTINEL) -> list[str]:
    """Where a word is kept about a session."""
    with chat.scope._engine.store.read() as tx:
        row = chat._row(tx)
        assert row is not None
        stored = tx.rows("session_digest", {"session": row[1]})[0]
    kept = {"summary": chat.summary, "snapshot": chat.snapshot, "row": str(stored)}
    return [name for name, text in kept.items() if word in text]


@pytest.fixture(params=["extractive", "model"])
def long_talk(request: pytest.FixtureRequest) -> Iterator[Session]:
    """A conversation whose first turn, long folded, holds a sentinel."""
    repeat = Summariser(lambda prompt: prompt.split("Conversation:")[-1][:900]) if request.param == "model" else None
    with AgentMemory.open(embedder="hashing", llm=repeat, settings={"facts": {"llm": "never"}}) as memory:
        chat = session(memory)
        chat.add_messages(
            [
                say("user", f"Remember that the gate code is {SENTINEL}. I live in Oslo.", "secret"),
                *turn(0),
                say("user", "Tea?"),
            ]
        )
        chat.summarise(keep_turns=1)
        assert "summary" in traces(chat)
        yield chat


def test_r66_a_deleted_message_is_in_no_summary_and_no_snapshot(long_talk: Session) -> None:
    assert long_talk.snapshot
    long_talk.delete_messages(["secret"])
    assert traces(long_talk) == []
    long_talk.summarise(keep_turns=1)
    assert traces(long_talk) == []
    assert "ighthouse" in long_talk.summary  # made again from what is left


def test_r66_a_message_that_was_edited_is_told_as_it_is_now(long_talk: Session) -> None:
    long_talk.add_messages([say("user", "I live in Oslo.", "secret")])
    long_talk.summarise(keep_turns=1)
    assert traces(long_talk) == []
    assert "Oslo" in long_talk.summary


def test_r66_a_deleted_fact_is_told_no_more_though_its_turn_is_in_the_history(long_talk: Session) -> None:
    scope = long_talk.scope
    facts = [record for record in scope.list(kinds=["fact"]) if SENTINEL in record.text]
    assert facts
    for record in facts:
        scope.delete(record.id)
    long_talk.summarise(keep_turns=1)
    assert traces(long_talk) == []
    assert "Oslo" in long_talk.summary
    assert SENTINEL in long_talk.messages()[0].text


def test_r66_a_message_deleted_while_the_model_thinks_is_not_brought_back() -> None:
    memory = AgentMemory.open(embedder="hashing", settings=QUIET, llm=Summariser(lambda prompt: answer(prompt)))
    chat = session(memory)
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        if len(asked) == 1:
            chat.delete_messages(["secret"])
        return prompt.split("Conversation:")[-1][:900]

    chat.add_messages([say("user", f"My code is {SENTINEL}.", "secret"), *turn(0), *turn(1)])
    chat.summarise(keep_turns=1)
    assert len(asked) == 2
    assert traces(chat) == []
    assert "ighthouse" in chat.summary
    memory.close()


@pytest.mark.parametrize("way", ["clear", "delete", "forget", "replace"])
def test_r66_nothing_of_a_conversation_that_went_is_told(long_talk: Session, way: str) -> None:
    assert long_talk.snapshot
    if way == "forget":
        long_talk.scope.delete_all()
    elif way == "replace":
        long_talk.replace_messages(turn(5))
    else:
        getattr(long_talk, way)()
    assert SENTINEL not in long_talk.summary + long_talk.snapshot
    long_talk.add_messages(turn(6))
    # What `clear` keeps, the facts, is known in the conversation that begins there.
    assert traces(long_talk) == (["snapshot"] if way == "clear" else [])


@pytest.mark.sqlite_only
def test_r66_no_byte_of_it_is_left_on_disk(path: Path) -> None:
    with opened(path) as memory:
        mine, theirs = session(memory), session(memory, "bob")
        for chat in (mine, theirs):
            chat.add_messages(
                [say("user", f"Remember {SENTINEL}-{chat.scope.user}.", "secret"), *turn(0), say("user", "Tea?")]
            )
            chat.summarise(keep_turns=1)
            assert SENTINEL in chat.summary
            assert SENTINEL in chat.snapshot
        mine.delete_messages(["secret"])
        memory.purge()
    held = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert f"{SENTINEL}-alice".encode() not in held
    assert f"{SENTINEL}-bob".encode() in held


def test_a4_an_unchanged_history_sent_again_keeps_its_summary() -> None:
    llm = Summariser("Once.")
    with opened(llm=llm) as memory:
        chat = session(memory)
        talk = [message for n in range(25) for message in turn(n)]
        chat.replace_messages(talk)
        assert chat.summary == "Once."
        chat.replace_messages([*talk, *turn(25)])
        chat.add_messages(talk)
        assert chat.summary == "Once."
        assert len(llm.prompts) == 1
        chat.replace_messages(talk[2:])
        assert len(llm.prompts) == 2


# ---------------------------------------------------------------------- the snapshot

TRIP = {
    "en": [
        say("user", "Hi! My name is Anna Berg and I work at Siemens."), say("assistant", "Hello Anna."),
        say("user", "Plan a trip to Oslo for me, please."), say("assistant", "When do you want to travel?"),
        say("user", "On 14 March, at most 900 euros."), say("assistant", "I'll prepare a plan by Friday."),
        say("user", "We decided to take the train."), say("user", "Thanks!"),
    ],
    "zh": [
        say("user", "你好！我叫王小明，在华为上班。"), say("assistant", "你好，小明。"),
        say("user", "请帮我订一张去北京的票。"), say("assistant", "什么时候出发？"),
        say("user", "3月14日，不超过900元。"), say("assistant", "我会在周五把方案发给你。"),
        say("user", "我们决定坐高铁。"), say("user", "谢谢！"),
    ],
}  # fmt: skip
HELD = {
    "en": ["Anna Berg", "Siemens", "trip to Oslo", "14 March", "900 euros", "plan by Friday", "take the train"],
    "zh": ["王小明", "华为", "去北京的票", "3月14日", "900元", "方案发给你", "坐高铁"],
}


@pytest.mark.parametrize("tongue", ["en", "zh"])
def test_a5_after_each_turn_it_holds_what_was_said_so_far(path: Path, tongue: str) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        chat = session(memory)
        before = 0
        for message in TRIP[tongue]:
            chat.add_messages([message])
            held = [word for word in HELD[tongue] if word in chat.snapshot]
            assert len(held) >= before
            before = len(held)
        assert held == HELD[tongue]
        text = chat.snapshot
        assert {"en": "What the user wants: Plan a trip", "zh": "用户意图: 请帮我订"}[tongue] in text
        assert cost([Message(role="user", content=text)]) < 200
    with AgentMemory.open(path, embedder="hashing") as memory:
        assert session(memory).snapshot == text
        assert asyncio.run(session(memory).asnapshot()) == text


def test_a5_to_read_it_costs_what_is_new_and_adding_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from shared_core.short_term import snapshot

    read: list[int] = []
    advance = snapshot.advance
    monkeypatch.setattr(
        snapshot, "advance", lambda state, told, s: (read.append(len(told)), advance(state, told, s))[1]
    )
    with opened() as memory:
        chat = session(memory)
        chat.add_messages([message for n in range(10) for message in turn(n)])
        assert read == []
        assert chat.snapshot == chat.snapshot
        chat.add_messages(turn(10))
        assert chat.snapshot
        assert read == [20, 2]


def test_a5_what_is_known_of_the_user_is_told_as_it_is_now() -> None:
    with AgentMemory.open(embedder="hashing") as memory:
        chat = session(memory)
        chat.add_messages([say("user", "I live in Lyon")])
        assert "I live in Lyon" in chat.snapshot
        chat.add_messages([say("user", "I moved to Oslo")])
        assert "I moved to Oslo" in chat.snapshot
        assert "I live in Lyon" not in chat.snapshot


def test_a5_a_model_writes_it_and_what_it_has_not_seen_is_told_by_rules() -> None:
    answer = '{"intent": "a trip", "decisions": ["by train"], "promises": [], "facts": ["Anna"], "entities": ["Oslo"]}'
    llm = ScriptedLLM([answer, '```json\n{"intent": "a boat"}\n```', RuntimeError("down"), "I can't"])
    with opened(llm=llm) as memory:
        chat = session(memory)
        chat.add_messages(TRIP["en"][:4])
        assert "Plan a trip" in chat.snapshot
        assert llm.prompts == []
        assert chat.take_snapshot() == chat.snapshot
        assert chat.snapshot.startswith("What the user wants: a trip\nDecided:\n- by train")
        assert chat.take_snapshot() == chat.snapshot  # nothing was said since: nobody is asked
        assert len(llm.prompts) == 1
        chat.add_messages(TRIP["en"][4:6])
        assert "900 euros" in chat.snapshot
        assert asyncio.run(chat.atake_snapshot()) == "What the user wants: a boat"
        assert "a trip" in llm.prompts[1]
        assert "Plan a trip" not in llm.prompts[1].split("What was said since:")[1]
        chat.add_messages(TRIP["en"][6:])
        for _ in range(2):  # it fails, then it answers nothing
            assert "take the train" in chat.take_snapshot()


def test_a5_after_each_turn_if_it_is_set_so() -> None:
    llm = ScriptedLLM(['{"intent": "one"}', '{"intent": "two"}'])
    with opened(llm=llm, snapshot={"llm": "now"}) as memory:
        chat = session(memory)
        calls = [{"id": "c", "name": "look", "args": {}}]
        for message in [
            say("user", "Look it up"),
            say("assistant", None, tool_calls=calls),
            say("tool", "7", tool_call_id="c"),
        ]:
            chat.add_messages([message])
        assert llm.prompts == []
        chat.add_messages([say("assistant", "It is 7.")])
        assert chat.snapshot == "What the user wants: one"
        chat.add_messages(turn(1))
        assert chat.snapshot == "What the user wants: two"


def test_a5_a_message_deleted_is_in_no_snapshot_of_a_model() -> None:
    llm = Summariser(lambda prompt: '{"intent": "x", "facts": ["' + ("ZXQ" if "ZXQ" in prompt else "clean") + '"]}')
    with opened(llm=llm) as memory:
        chat = session(memory)
        chat.add_messages([say("user", "Remember ZXQ.", "secret"), say("assistant", "Noted.")])
        assert "ZXQ" in chat.take_snapshot()
        chat.delete_messages(["secret"])
        assert traces(chat, "ZXQ") == []
        assert "ZXQ" not in chat.take_snapshot()


# ---------------------------------------------------------------------- retention (A3)


@pytest.mark.parametrize("tongue", ["en", "zh"])
def test_a3_in_a_full_window_what_binds_and_what_was_achieved_outlive_small_talk(tongue: str) -> None:
    if tongue == "en":
        binding, result = "Keep every answer under 30 words, never use tables.", "The build passed."
        idle = ["The sea was calm, I like walking there.", "Thanks a lot!", "What a lovely evening it was, I like it."]
    else:
        binding, result = "每个回答必须在30字以内，禁止使用表格。", "构建通过了。"
        idle = ["今天海边很舒服，我喜欢散步。", "谢谢！", "晚上真美好，我喜欢。"]
    with opened(window={"policy": "importance"}) as memory:
        chat = session(memory)
        calls = [{"id": "c", "name": "build", "args": {}}]
        chat.add_messages([
            say("system", "Be kind.", "s"), say("user", binding, "binding"), say("assistant", "OK.", "ok"),
            say("user", {"en": "Build it.", "zh": "构建吧。"}[tongue], "ask"), say("assistant", None, "call", tool_calls=calls),
            say("tool", result, "result", tool_call_id="c"),
            *(say("user", text, f"idle{n}") for n, text in enumerate(idle * 3)), *turn(1), *turn(2),
        ])  # fmt: skip
        everything = chat.window(max_tokens=100_000)
        price = {str(m.id): cost([m]) for m in everything}
        wanted = {"binding": {"binding"}, "result": {"ask", "call", "result"}}
        left_out = set()
        for limit in range(sum(price.values()), 0, -5):
            kept = {str(m.id) for m in chat.window(max_tokens=limit)}
            assert "s" in kept
            idle_kept = sum(price[id] for id in kept if id.startswith("idle"))
            for name, parts in wanted.items():
                if name not in kept:  # then what idle talk takes is too little for it
                    left_out.add(name)
                    assert idle_kept < sum(price[id] for id in parts)
        assert left_out == {"binding", "result"}
