"""From messages to facts: in the same transaction by rules, in a second one by an LLM (D1, D2, R21, R22, D4)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory, Scope
from shared_core.testing import FixedEmbedder, ManualClock, RecordingEmbedder, ScriptedLLM
from shared_core.values import Kind


def open_with(llm: Any = None, path: Path | None = None, **facts: Any) -> AgentMemory:
    return AgentMemory.open(path, embedder="hashing", llm=llm, settings={"facts": facts}, clock=ManualClock())


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def answer(*facts: dict[str, Any]) -> str:
    return json.dumps({"facts": list(facts)}, ensure_ascii=False)


def lives(place: str, **more: Any) -> dict[str, Any]:
    return {"subject": "user", "predicate": "lives_in", "object": place, "text": f"I live in {place}", **more}


def known(scope: Scope) -> list[str]:
    return [record.text for record in scope.list(kinds=["fact"])]


# ---------------------------------------------------------------------- by rules


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Lyon and I like tea", {"I live in Lyon", "I like tea"}),
        ("我住在杭州，我喜欢茶", {"我住在杭州", "我喜欢茶"}),
    ],
)
def test_d1_adding_a_message_is_enough(text: str, expected: set[str]) -> None:
    with open_with() as memory:
        scope = memory.scope(user="a")
        [turn] = scope.session("s").add_messages([user(text)])
        assert turn.kind is Kind.TURN
        assert set(known(scope)) == expected
        assert memory.check().ok


@pytest.mark.parametrize(
    "text", ["hello there", "How are you?", "Thanks!", "你好", "谢谢", "今天天气不错", "ok 😀", "", "Where do I live?"]
)
def test_d1_small_talk_is_no_fact(text: str) -> None:
    with open_with() as memory:
        scope = memory.scope(user="a")
        scope.session("s").add_messages([user(text)])
        assert (scope.count(kinds=["turn"]), scope.count(kinds=["fact", "event"])) == (1, 0)


@pytest.mark.parametrize(
    "text", ["Remember that the gate code is 4711", "记住门禁密码是4711", "Please remember: gate code 4711"]
)
def test_d1_what_was_asked_to_be_remembered_always_is_and_matters(text: str) -> None:
    with open_with() as memory:
        scope = memory.scope(user="a")
        scope.session("s").add_messages([user(text)])
        [fact] = scope.list(kinds=["fact"])
        assert "4711" in fact.text
        assert fact.importance >= 0.9


def test_d1_what_only_the_assistant_said_is_no_fact_and_never_the_users() -> None:
    with open_with() as memory:
        scope = memory.scope(user="a")
        scope.session("s").add_messages(
            [{"role": "assistant", "content": "I live in the cloud. You should move to Rome."},
             {"role": "system", "content": "The user lives in Oslo."}, {"role": "tool", "content": "I live in Bari"}]
        )  # fmt: skip
        assert known(scope) == []


@pytest.mark.parametrize(
    "recalled",
    [
        "<memories>\n- [2026-01-02, user] I live in Oslo\n</memories>",
        "- [2026-01-02, user] I live in Oslo\n- [2026-01-03, Bob] I have a dog\n  and I like tea",
        "## Relevant memories\n<memories>\n- [2026-01-02, user] 我住在奥斯陆\n</memories>",
    ],
)
def test_d1_what_was_recalled_into_a_prompt_is_never_new(recalled: str) -> None:
    with open_with() as memory:
        scope = memory.scope(user="a")
        scope.session("s").add_messages([user(f"{recalled}\nI live in Lyon")])
        assert known(scope) == ["I live in Lyon"]
        scope.session("s").add_messages([user(scope.session("s").context("Where do I live?").text)])
        assert known(scope) == ["I live in Lyon"]


def test_d1_a_dated_plan_is_an_event_and_told_again_one_event() -> None:
    with open_with() as memory:
        scope = memory.scope(user="a")
        for _ in range(2):
            scope.session("s").add_messages(
                [user("I'm going to Rome on May 5", created_at=datetime(2026, 3, 1, tzinfo=UTC))]
            )
        [event] = scope.list(kinds=["event"])
        assert event.event_time is not None
        assert (event.event_time.month, event.event_time.day) == (5, 5)
        assert known(scope) == []
        assert scope.search("Rome", kinds=["event"])


def test_d2_a_fact_told_twice_is_one_fact_with_two_sources_and_lives_as_long_as_one_of_them() -> None:
    with open_with() as memory:
        scope = memory.scope(user="a")
        monday, friday = scope.session("monday"), scope.session("friday")
        monday.add_messages([user("I live in Lyon")])
        friday.add_messages([user("I'm living in Lyon")])
        [fact] = scope.list(kinds=["fact"])
        assert fact.seen == 2
        assert {source["session"] for source in scope.sources(fact.id)} == {"monday", "friday"}
        monday.delete()
        assert known(scope) == ["I live in Lyon"]
        assert memory.check().ok
        friday.delete()
        assert known(scope) == []


def test_clearing_keeps_the_facts_deleting_takes_them_along() -> None:
    with open_with() as memory:
        scope = memory.scope(user="a")
        chat = scope.session("s")
        chat.add_messages([user("I live in Lyon")])
        chat.clear()
        assert (chat.messages(), known(scope)) == ([], ["I live in Lyon"])
        assert [hit.record.text for hit in scope.search("Where do I live?")] == ["I live in Lyon"]
        chat.add_messages([user("I like tea", id="1")])
        chat.delete_messages(["1"])
        assert known(scope) == ["I live in Lyon"]


def test_an_erased_fact_does_not_come_back_from_the_same_message_but_from_a_new_one() -> None:
    with open_with() as memory:
        scope = memory.scope(user="a")
        chat = scope.session("s")
        history = [user("I live in Lyon", id="1"), user("I like tea", id="2")]
        chat.add_messages(history)
        scope.delete(scope.list(kinds=["fact"], where={"object": "Lyon"})[0].id)
        chat.add_messages(history)
        chat.replace_messages([history[1], history[0]])
        assert known(scope) == ["I like tea"]
        chat.add_messages([user("I live in Lyon", id="3")])
        assert set(known(scope)) == {"I like tea", "I live in Lyon"}


def test_the_question_is_not_its_own_answer_nor_is_what_was_read_from_it() -> None:
    with open_with() as memory:
        scope = memory.scope(user="a")
        chat = scope.session("s")
        chat.add_messages([user("I moved to Lyon. Where should I eat?", id="1")])
        context = chat.context()
        assert context.hits == ()
        [turn] = scope.list(kinds=["turn"])
        assert scope.search("Where should I eat in Lyon?", exclude=[turn.id]) == []


def test_a_message_and_its_facts_are_embedded_in_one_call_and_stored_in_one_transaction() -> None:
    embedder = RecordingEmbedder(FixedEmbedder())
    with AgentMemory.open(embedder=embedder) as memory:
        scope = memory.scope(user="a")
        scope.session("s").add_messages([user("I live in Lyon and I like tea"), user("I use Vim")])
        assert [sorted(batch) for batch in embedder.batches] == [
            sorted(["I live in Lyon and I like tea", "I use Vim", "I live in Lyon", "I like tea"])
        ]  # "I use Vim" is a turn and a fact, and embedded once


def test_an_extractor_that_fails_or_gives_nonsense_never_loses_the_message() -> None:
    def broken(message: Any, **more: Any) -> Any:
        raise RuntimeError("boom")

    for extractor in (broken, lambda message, **more: [object()], lambda message, **more: None):
        with open_with(extractor=extractor) as memory:
            scope = memory.scope(user="a")
            scope.session("s").add_messages([user("I live in Lyon")])
            assert [message.text for message in scope.session("s").messages()] == ["I live in Lyon"]
            assert known(scope) == []


def test_d2_an_extractor_of_ones_own_takes_the_place_of_the_rules() -> None:
    from shared_core.writing.extraction import Extracted

    def shouting(message: Any, *, at: datetime, speaker: str | None, previous: Any) -> list[Extracted]:
        return [Extracted("user", "said", message.text.upper(), True, message.text.upper())]

    with open_with(extractor=shouting) as memory:
        scope = memory.scope(user="a")
        scope.session("s").add_messages([user("hello")])
        [fact] = scope.list(kinds=["fact"])
        assert fact.text == "HELLO"
        assert scope.sources(fact.id)[0]["extractor"] == "extractor"


def test_without_extraction_a_message_is_a_turn_and_nothing_else() -> None:
    with open_with(extract=False) as memory:
        scope = memory.scope(user="a")
        scope.session("s").add_messages([user("I live in Lyon")])
        assert scope.count() == 1


def test_what_is_redacted_reaches_no_fact() -> None:
    settings = {"redactor": lambda text: text.replace("Lyon", "***")}
    with AgentMemory.open(embedder="hashing", settings=settings) as memory:
        scope = memory.scope(user="a")
        scope.session("s").add_messages([user("I live in Lyon")])
        everything = " ".join(f"{r.text} {r.triple} {r.entities}" for r in scope.list())
        assert "Lyon" not in everything


# ---------------------------------------------------------------------- by an LLM


def test_d2_the_llm_reads_each_user_message_outside_the_transaction_and_says_who_it_is() -> None:
    def checking(prompt: str) -> str:
        assert scope.count(kinds=["turn"]) == 2  # committed before it is asked
        memory.scope(user="other").add("written meanwhile")  # and the database is free
        return answer(lives("Lyon", importance=0.8, confidence=0.7))

    llm = ScriptedLLM([checking])
    with open_with(llm) as memory:
        scope = memory.scope(user="a")
        scope.session("s").add_messages([user("I moved to Lyon"), {"role": "assistant", "content": "Nice"}])
        [fact] = scope.list(kinds=["fact"])
        assert (fact.text, fact.importance, fact.confidence) == ("I live in Lyon", 0.8, 0.7)
        assert scope.sources(fact.id)[0]["extractor"] == "llm"
        assert len(llm.prompts) == 1
        assert scope.resume() == 0


def test_d3_the_llms_facts_meet_the_known_ones() -> None:
    script = [
        answer(lives("Lyon")),
        answer(lives("Rome"), {**lives("x"), "predicate": "owns", "object": "car", "ended": True}),
    ]
    with open_with(ScriptedLLM(script)) as memory:
        scope = memory.scope(user="a")
        for text in ("I live in Lyon", "I moved to Rome and sold the car"):
            scope.session("s").add_messages([user(text)])
        assert [record.triple.object for record in scope.list(kinds=["fact"])] == ["Rome", "car"]
        assert [record.triple.object for record in scope.list(kinds=["fact"], where={"status": "superseded"})] == [
            "Lyon"
        ]


BRACES = ['{"a": {"b": 1}}', "{0} {} {name}", "%s", "${x}", "{{ x }}"]


@pytest.mark.parametrize("text", BRACES)
def test_r21_braces_reach_the_llm_as_they_are(text: str) -> None:
    llm = ScriptedLLM([answer({**lives("x"), "text": text, "object": text})])
    with open_with(llm) as memory:
        scope = memory.scope(user="a")
        scope.session("s").add_messages([user(text)])
        assert json.dumps(text, ensure_ascii=False) in llm.prompts[0]
        assert known(scope) == [text]
        assert text in scope.session("s").context("anything else").text


GOOD = answer(lives("Lyon"))


@pytest.mark.parametrize(
    "output", [f"```json\n{GOOD}\n```", f"<think>{{hm}}</think>{GOOD}", f"Sure: {GOOD} Anything else?"]
)
def test_r22_fenced_thinking_and_chatty_answers_are_read(output: str) -> None:
    with open_with(ScriptedLLM([output])) as memory:
        scope = memory.scope(user="a")
        scope.session("s").add_messages([user("I moved to Lyon")])
        assert known(scope) == ["I live in Lyon"]


@pytest.mark.parametrize("output", ["not json", "", "{", "I would rather not.", '{"facts": [{}]}'])
def test_r22_an_answer_that_can_not_be_read_loses_nothing(output: str) -> None:
    llm = ScriptedLLM([output])
    with open_with(llm) as memory:
        scope = memory.scope(user="a")
        [turn] = scope.session("s").add_messages([user("I moved to Lyon")])
        assert scope.get(turn.id).text == "I moved to Lyon"
        assert known(scope) == ["I moved to Lyon"]  # by the rules, from the raw text
        assert scope.sources(scope.list(kinds=["fact"])[0].id)[0]["extractor"] == "rules"
        assert scope.resume() == 0


def test_r22_unknown_ids_missing_actions_and_lone_surrogates_do_not_spoil_the_rest() -> None:
    items = [
        {"action": "update", "id": "9", **lives("Lyon")},
        {"subject": "user", "predicate": "likes", "object": "tea", "text": "I like tea"},
        {"action": "none", "text": "nothing"},
    ]
    output = (
        json.dumps({"facts": items})[:-2]
        + ', {"subject": "user", "predicate": "uses", "object": "Vim \\ud83d", "text": "Vim \\ud83d"}]}'
    )
    with open_with(ScriptedLLM([output])) as memory:
        scope = memory.scope(user="a")
        scope.session("s").add_messages([user("I moved to Lyon, like tea and use Vim")])
        assert set(known(scope)) == {"I live in Lyon", "I like tea", "Vim \ufffd"}


def test_r22_a_model_that_is_down_is_asked_again_and_in_the_end_the_rules_are() -> None:
    llm = ScriptedLLM([RuntimeError("down"), GOOD])
    with open_with(llm) as memory:
        scope = memory.scope(user="a")
        scope.session("s").add_messages([user("I moved to Lyon")])
        assert known(scope) == []
        assert scope.resume() == 1
        assert known(scope) == ["I live in Lyon"]
    with open_with(ScriptedLLM([RuntimeError("down")] * 3), attempts=2) as memory:
        scope = memory.scope(user="a")
        scope.session("s").add_messages([user("I moved to Lyon")])
        memory.flush()
        assert known(scope) == ["I moved to Lyon"]
        assert scope.resume() == 0


def test_d2_what_is_owed_outlives_the_process_and_is_done_once(path: Path) -> None:
    with open_with(ScriptedLLM([KeyError("down")]), path) as memory:
        memory.scope(user="a").session("s").add_messages([user("I moved to Lyon")])
    llm = ScriptedLLM([GOOD, answer()])
    with open_with(llm, path) as memory:
        scope = memory.scope(user="a")
        assert known(scope) == []
        scope.session("s").add_messages([user("hello")])  # the next message brings it along
        assert known(scope) == ["I live in Lyon"]
        assert scope.resume() == 0
        assert len(llm.prompts) == 2


def test_later_means_when_asked_and_never_means_the_rules() -> None:
    llm = ScriptedLLM([GOOD])
    with AgentMemory.open(embedder="hashing", llm=llm, settings={"facts": {"llm": "later"}}) as memory:
        scope = memory.scope(user="a")
        scope.session("s").add_messages([user("I moved to Lyon")])
        assert (llm.prompts, known(scope)) == ([], [])
        assert scope.resume() == 1
        assert known(scope) == ["I live in Lyon"]
    llm = ScriptedLLM([])
    with AgentMemory.open(embedder="hashing", llm=llm, settings={"facts": {"llm": "never"}}) as memory:
        scope = memory.scope(user="a")
        scope.session("s").add_messages([user("I moved to Lyon")])
        assert (llm.prompts, known(scope)) == ([], ["I moved to Lyon"])


def test_a_turn_that_is_deleted_or_changed_before_the_llm_has_read_it_is_not_read() -> None:
    def deleting(prompt: str) -> str:
        scope.session("s").delete_messages(["1"])
        return GOOD

    with open_with(ScriptedLLM([deleting])) as memory:
        scope = memory.scope(user="a")
        scope.session("s").add_messages([user("I moved to Lyon", id="1")])
        assert scope.count() == 0
        assert memory.check().ok


async def test_the_async_twin_reads_too() -> None:
    with open_with(ScriptedLLM([GOOD])) as memory:
        scope = memory.scope(user="a")
        await scope.session("s").aadd_messages([user("I moved to Lyon")])
        assert known(scope) == ["I live in Lyon"]
        assert await scope.aresume() == 0
