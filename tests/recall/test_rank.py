"""What is read from a turn is no second witness: talk is recalled as well as if nothing had been read from it."""

from __future__ import annotations

from typing import Any

import pytest

from shared_core import AgentMemory

TALKS: dict[str, list[list[str]]] = {
    "en": [
        ["I live in Lyon.", "I like green tea.", "My sister Anna works in Paris.", "Nothing happened today."],
        ["My cat is called Whiskers.", "I work at Acme.", "Tea is what I drink in Lyon.", "The tram was late."],
    ],
    "zh": [
        ["我住在里昂。", "我喜欢绿茶。", "我姐姐安娜在巴黎工作。", "今天没什么事。"],
        ["我的猫叫元宝。", "我在极光公司工作。", "在里昂我喝茶。", "电车晚点了。"],
    ],
}
ASKED = {"en": ["Where do I live?", "What tea do I like?", "Lyon"], "zh": ["我住在哪里？", "我喜欢什么茶？", "里昂"]}


def opened(language: str, extract: bool, **more: Any) -> AgentMemory:
    memory = AgentMemory.open(embedder="hashing", settings={"facts": {"extract": extract}, **more})
    scope = memory.scope(user="alice")
    for n, talk in enumerate(TALKS[language]):
        told = [{"role": "user", "content": text, "id": f"{n}:{m}"} for m, text in enumerate(talk)]
        scope.session(f"session {n}").add_messages(told)
    return memory


@pytest.mark.parametrize("language", ["en", "zh"])
def test_c2_turns_are_ranked_alike_with_and_without_facts_read_from_them(language: str) -> None:
    with opened(language, True) as reading, opened(language, False) as plain:
        scope, other = reading.scope(user="alice"), plain.scope(user="alice")
        assert scope.count(kinds=["fact"]) >= 3, "else this test shows nothing"
        assert other.count(kinds=["fact"]) == 0
        for asked in ASKED[language]:
            hits, expected = (each.search(asked, k=8, kinds=["turn"], explain=True) for each in (scope, other))
            assert [hit.record.message_id for hit in hits] == [hit.record.message_id for hit in expected]
            for mine, theirs in zip(hits, expected, strict=True):
                ranked = {name: value for name, value in mine.parts.items() if name.startswith("rank.")}
                assert ranked == pytest.approx({name: theirs.parts[name] for name in ranked}, abs=1e-5)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_c2_facts_that_outlive_their_turns_count_as_they_are(language: str) -> None:
    with opened(language, True) as memory:
        scope = memory.scope(user="alice")
        for name in scope.sessions():
            scope.session(name).clear()
        assert scope.count(kinds=["turn"]) == 0
        first = scope.search(ASKED[language][0], k=1)[0]
        assert ("Lyon" if language == "en" else "里昂") in first.record.text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_c2_a_fact_beside_short_talk_is_neither_favoured_nor_put_back(language: str) -> None:
    """Four records, two of them facts about something else: the short turn that answers comes first."""
    said = {"en": ["ok", "I live in Lyon"], "zh": ["好的", "我住在里昂"]}[language]
    told = {
        "en": ["I prefer short answers", "Anna works in Paris as a nurse"],
        "zh": ["我喜欢简短的回答", "安娜在巴黎当护士"],
    }
    with AgentMemory.open(settings={"facts": {"extract": False}}) as memory:
        scope = memory.scope(user="alice")
        scope.session("s").add_messages([{"role": "user", "content": text} for text in said])
        scope.add_many(told[language])
        hits = scope.search(ASKED[language][0], k=4, explain=True)
        assert hits[0].record.text == said[1]
        lengths = {hit.record.text: hit.parts["rank.length"] for hit in hits}
        spoken = [lengths[text] for text in said]
        assert min(spoken) <= lengths[told[language][0]] <= max(spoken)
