"""Tool state and references (A7): an agent asked about "that document" has to know which one."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

import pytest
from reference_cases import CASES, DRAFTS_EN, ERRORS_EN, ERRORS_ZH, HELD_OUT, LIST_EN, TALK_EN, messages

from shared_core import AgentMemory, Session
from shared_core.errors import InvalidInput, LimitExceeded
from shared_core.short_term.mentioned import failure, things, uses
from shared_core.short_term.named import names_in
from shared_core.short_term.phrases import wanted
from shared_core.short_term.references import Reference
from shared_core.values import Message, as_message

LEARNT = [case for place, case in enumerate(CASES) if place not in HELD_OUT]
UNSEEN = [case for place, case in enumerate(CASES) if place in HELD_OUT]
FLOOR = 0.92
"""Held-out phrases that are resolved rightly, of all: 87 of 92 (49 of 50, 22 of 24 and 16 of 18 of the three trials).

Before anything was adjusted to a trial's other half it was 47 of 50, 16 of 24 and 14 of 18.
"""


@cache
def talk() -> AgentMemory:
    return AgentMemory.open(embedder="hashing")


def told(memory: AgentMemory, turns: Any, name: str = "s") -> Session:
    chat = memory.scope(user=name).session("s")
    if not chat.messages(last=1):
        chat.add_messages(messages(turns))
    return chat


def meant(turns: Any, phrase: str) -> Reference:
    return told(talk(), turns, str(id(turns))).resolve(phrase)


def right(turns: Any, phrase: str, kind: str, text: str | None) -> bool:
    found = meant(turns, phrase)
    return found.chosen is None if text is None else (found.kind, found.text) == (kind, text)


# ---------------------------------------------------------------------- what phrases mean


def test_a7_there_are_enough_cases_in_both_languages() -> None:
    chinese = sum(any("\u4e00" <= c <= "\u9fff" for c in phrase) for _, phrase, _, _ in CASES)
    assert len(CASES) >= 180
    assert 0.4 < chinese / len(CASES) < 0.6
    assert len(UNSEEN) >= len(CASES) // 2


@pytest.mark.parametrize(("turns", "phrase", "kind", "text"), LEARNT, ids=[case[1] for case in LEARNT])
def test_a7_a_phrase_means_the_thing_that_was_mentioned(turns: Any, phrase: str, kind: str, text: str | None) -> None:
    found = meant(turns, phrase)
    if text is None:
        assert found.chosen is None
        assert found.text is None
        assert found.why.startswith("no "), "it says that there is none"
    else:
        assert (found.kind, found.text) == (kind, text), found.why
        assert found.chosen == found.candidates[0]
        assert found.chosen is not None
        assert found.chosen.why
        assert 0 < found.chosen.score <= 1


def test_a7_held_out_phrases_mean_what_they_should() -> None:
    wrong = [case[1] for case in UNSEEN if not right(*case)]
    assert 1 - len(wrong) / len(UNSEEN) >= FLOOR, wrong


def test_a7_the_candidates_come_with_scores_and_reasons() -> None:
    found = meant(DRAFTS_EN, "the contract for the Berlin office")
    assert [c.text for c in found.candidates][:2] == ["contract_v2.docx", "contract_v1.docx"]
    scores = [c.score for c in found.candidates]
    assert scores == sorted(scores, reverse=True)
    assert "words of its name" in found.why or "words said beside it" in found.why
    assert found.chosen is not None
    assert found.chosen.tags == ("document", "file")
    assert all(candidate.message_id for candidate in found.candidates)


def test_a7_a_counted_thing_says_how_it_was_counted() -> None:
    assert meant(LIST_EN, "the second one").why.startswith("number 2 of 3 in one message")
    missing = meant(LIST_EN, "the fifth file")
    assert missing.chosen is None
    assert len(missing.candidates) == 3
    assert missing.why == "only 3 of the kind were mentioned"


def test_a7_two_equally_good_candidates_are_called_ambiguous(memory: AgentMemory) -> None:
    chat = memory.scope(user="alice").session("s")
    chat.add_messages([{"role": "user", "content": f"Look at part{n}.pdf please."} for n in range(6)])
    clear = chat.resolve("part3.pdf")
    assert clear.text == "part3.pdf"
    assert not clear.ambiguous
    with AgentMemory.open(embedder="hashing", settings={"references": {"margin": 0.2}}) as careful:
        other = careful.scope(user="alice").session("s")
        other.add_messages(chat.messages())
        asked = other.resolve("the document")
        assert asked.text == "part5.pdf"
        assert asked.ambiguous


def test_a7_what_is_named_again_is_the_newest(memory: AgentMemory) -> None:
    chat = memory.scope(user="alice").session("s")
    chat.add_messages([{"role": "user", "content": "See a.pdf"}, {"role": "user", "content": "and b.pdf"}])
    assert chat.resolve("that document").text == "b.pdf"
    chat.add_messages([{"role": "assistant", "content": "a.pdf is longer."}])
    assert chat.resolve("that document").text == "a.pdf"
    assert chat.resolve("the document before a.pdf").text == "b.pdf"


def test_a7_entities_come_from_facts_and_from_the_graph_too(memory: AgentMemory) -> None:
    with AgentMemory.open(embedder="hashing") as learning:
        scope = learning.scope(user="alice")
        scope.graph.add("quasar", "is a", "compiler")
        chat = scope.session("s")
        chat.add_messages([{"role": "user", "content": "My brother Ole lives in Bergen."},
                           {"role": "user", "content": "we should port quasar next"}])  # fmt: skip
        assert chat.resolve("my brother").text == "Ole"
        assert chat.resolve("quasar").text == "quasar"
        assert chat.resolve("that city").text == "Bergen"


def test_a7_there_is_no_second_copy_that_outlives_the_messages(memory: AgentMemory) -> None:
    chat = memory.scope(user="alice").session("s")
    chat.add_messages([{"role": "user", "content": "See secret.pdf", "id": "m1"}])
    assert chat.resolve("the file").text == "secret.pdf"
    chat.delete_messages(["m1"])
    assert chat.resolve("the file").candidates == ()


def test_a7_only_the_newest_messages_are_looked_at() -> None:
    with AgentMemory.open(embedder="hashing", settings={"references": {"messages": 2}}) as memory:
        chat = memory.scope(user="alice").session("s")
        chat.add_messages([{"role": "user", "content": text} for text in ("a.pdf", "tea", "coffee")])
        assert chat.resolve("the file").chosen is None


def test_a7_other_sessions_and_scopes_are_out_of_reach(memory: AgentMemory) -> None:
    memory.scope(user="alice").session("s").add_messages([{"role": "user", "content": "a.pdf"}])
    assert memory.scope(user="alice").session("t").resolve("the file").chosen is None
    assert memory.scope(user="bob").session("s").resolve("the file").chosen is None


@pytest.mark.parametrize("phrase", ["", "  ", None, 5])
def test_a7_a_phrase_is_a_text_that_says_something(memory: AgentMemory, phrase: Any) -> None:
    with pytest.raises(InvalidInput, match="phrase is blank"):
        memory.scope(user="alice").session("s").resolve(phrase)


def test_a7_a_phrase_has_a_limit() -> None:
    with (
        AgentMemory.open(embedder="hashing", settings={"limits": {"query_chars": 10}}) as memory,
        pytest.raises(LimitExceeded, match="query_chars is 10"),
    ):
        memory.scope(user="alice").session("s").resolve("the last file")


@pytest.mark.parametrize(
    "phrase", ["the weather", "天气", "🎉", "()[]{}\\", "第", "the one before", "前一个", "倒数第二个"]
)
def test_a7_a_phrase_that_refers_to_nothing_is_no_guess(phrase: str) -> None:
    assert meant(TALK_EN, phrase).chosen is None


# ---------------------------------------------------------------------- tool calls


@pytest.mark.parametrize("turns", [ERRORS_EN, ERRORS_ZH])
def test_a7_the_last_tool_calls_come_with_outputs_and_errors(memory: AgentMemory, turns: Any) -> None:
    chat = told(memory, turns)
    first, second, third = chat.tools()
    assert (first.name, first.args, first.success) == ("run_tests", {"path": "tests"}, False)
    assert first.error is not None
    assert first.error.startswith("ImportError")
    assert first.output == first.error
    assert second.error is not None
    assert second.error.startswith("TimeoutError")
    assert (third.success, third.error) == (True, None)
    assert third.output is not None
    assert "html" in third.output
    assert chat.tools(last=1) == [third]
    assert chat.tools(last=0) == []
    assert third.id == "c4"
    assert third.message_id == "r4"
    assert third.at is not None
    last = chat.resolve("the last error" if turns is ERRORS_EN else "上一个错误").chosen
    assert last is not None
    assert last.use == second, "an error tells which call it was"


@pytest.mark.parametrize("last", [-1, True, "2", None])
def test_a7_the_number_of_tool_calls_is_a_whole_one(memory: AgentMemory, last: Any) -> None:
    with pytest.raises(InvalidInput, match="whole number"):
        memory.scope(user="alice").session("s").tools(last=last)


def test_a7_a_call_without_a_result_has_no_output_and_a_result_without_a_call_is_kept() -> None:
    waiting = as_message({"role": "assistant", "content": None, "tool_calls": [{"id": "1", "name": "f", "args": {}}]})
    orphan = as_message({"role": "tool", "content": "done", "tool_call_id": "9", "name": "g"})
    found = uses([waiting, orphan])
    assert [(use.name, use.output, use.success) for use in found] == [("f", None, False), ("g", "done", True)]


FAILURES: list[tuple[dict[str, Any], str | None]] = [
    ({"content": "all fine"}, None),
    ({"content": "No errors were found"}, None),
    ({"content": '{"error": null, "value": 3}'}, None),
    ({"content": '{"error": {"message": "quota"}}'}, "quota"),
    ({"content": "Traceback (most recent call last):\n  File x\nValueError: bad"}, "ValueError: bad"),
    ({"content": "错误：没有权限"}, "错误：没有权限"),
    ({"content": "no such thing", "payload": {"langchain": {"data": {"status": "error"}}}}, "no such thing"),
    ({"content": [{"type": "tool_result", "is_error": True, "text": "denied"}]}, None),
    ({"content": [{"type": "text", "text": "denied", "is_error": True}]}, "denied"),
]


@pytest.mark.parametrize(("fields", "error"), FAILURES)
def test_a7_a_failed_tool_call_is_told_from_one_that_worked(fields: dict[str, Any], error: str | None) -> None:
    message = Message(role="tool", tool_call_id="1", **fields)
    assert failure(message, message.text) == error or (error is None and not message.text)


def test_a7_the_frameworks_own_error_mark_counts(memory: AgentMemory) -> None:
    pytest.importorskip("langchain_core")
    from langchain_core.messages import AIMessage, ToolMessage

    from langchain_mem.messages import to_core

    chat = memory.scope(user="alice").session("s")
    call = AIMessage("", tool_calls=[{"id": "c1", "name": "read", "args": {"path": "a.txt"}}])
    chat.add_messages([to_core(call), to_core(ToolMessage("not there", tool_call_id="c1", status="error"))])
    assert [use.error for use in chat.tools()] == ["not there"]


# ---------------------------------------------------------------------- the parts


MENTIONED: list[tuple[str, list[tuple[str, str]]]] = [
    ("see (https://a.example/x?y=1).", [("url", "https://a.example/x?y=1")]),
    ("见https://a.example/x，谢谢", [("url", "https://a.example/x")]),
    ("mail ann@b.example!", [("email", "ann@b.example")]),
    ('open "Q3 plan.docx" now', [("file", "Q3 plan.docx")]),
    (r"in C:\data\x.csv", [("file", r"C:\data\x.csv")]),
    ("e.g. version 3.14 and/or 2.0", []),
    ("看《三体》", [("file", "三体")]),
    ("order #12-77A and order 5", [("id", "#12-77A")]),
    ("commit 9fceb02d0ae5", [("id", "9fceb02d0ae5")]),
    ("ask in ~/notes/", [("folder", "~/notes/")]),
    ("<html></html>", []),
    ("x" * 5_000 + " a.txt", [("file", "a.txt")]),
]


@pytest.mark.parametrize(("text", "found"), MENTIONED, ids=range(len(MENTIONED)))
def test_a7_things_are_found_in_text_of_both_languages(text: str, found: list[tuple[str, str]]) -> None:
    assert [(thing.kind, thing.text) for thing in things([Message(role="user", content=text)])] == found


def test_a7_a_path_and_its_bare_name_are_one_file() -> None:
    said = [Message(role="user", content=text) for text in ("open /srv/a/plan.md", "plan.md is long", "/srv/b/plan.md")]
    assert [(thing.text, len(thing.mentions)) for thing in things(said)] == [
        ("/srv/a/plan.md", 2),
        ("/srv/b/plan.md", 1),
    ]


def test_a7_names_are_told_by_the_words_around_them() -> None:
    assert {named.name: named.gender for named in names_in("My aunt Rosa met Mr. Hill")} == {
        "Rosa": "female", "Mr. Hill": "male",
    }  # fmt: skip
    assert [named.name for named in names_in("昨天和李雷聊了凤凰项目")] == ["凤凰", "李雷"]
    assert names_in("Thanks! I will do it on Monday with pleasure.") == []
    assert names_in("我今天很高兴，周末去爬山") == []


def test_a7_a_phrase_is_read_for_kind_place_and_speaker() -> None:
    found = wanted("the second file you sent me")
    assert (found.kind, found.place, found.role) == ("file", 2, "assistant")
    found = wanted("我发的倒数第二张照片")
    assert (found.kind, found.tag, found.place, found.role) == ("file", "image", -2, "user")
    assert wanted("it").anything
    assert not wanted("weather").anything


def test_a7_resolving_is_quick_and_bounded(memory: AgentMemory) -> None:
    """Long tool outputs and long talks are what agents have; a phrase is resolved while a user waits."""
    import time

    chat = memory.scope(user="alice").session("s")
    said = [{"role": "user", "content": f"Please read file{n}.pdf, my sister Anna{n} sent https://x.example/{n}"}
            for n in range(300)]  # fmt: skip
    chat.add_messages([*said, {"role": "user", "content": "word " * 200_000}])
    chat.resolve("that document")
    begin = time.process_time()
    assert chat.resolve("that document").text == "file299.pdf"
    assert time.process_time() - begin < 3


LONG = [
    "a",
    "A",
    "王",
    "a/",
    "a.",
    "QUJDRA+/",
    "deadbeef12",
    "#1 ",
    "- x\n",
    "Aa ",
    "Anna he ",
    '"',
    "Error ",
    "甲乙丙项目",
    "@",
    "《",
    "\\a",
]


@pytest.mark.parametrize("piece", LONG)
def test_a7_encoded_data_and_endless_words_cost_no_more_than_their_length(piece: str) -> None:
    """A megabyte of base64 in a tool output must not hold up an agent for minutes."""
    import time

    begin = time.process_time()
    things([Message(role="user", content=f"see plan.md {piece * (20_000 // len(piece))}")])
    wanted(piece * (20_000 // len(piece)))
    assert time.process_time() - begin < 3


def test_a7_async_twins_do_the_same(memory: AgentMemory) -> None:
    chat = told(memory, ERRORS_EN)

    async def ask() -> tuple[Reference, Any]:
        return await chat.aresolve("the last error"), await chat.atools(last=2)

    assert asyncio.run(ask()) == (chat.resolve("the last error"), chat.tools(last=2))
