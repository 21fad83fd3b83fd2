"""LoCoMo and its relatives: who said what in which session, in order of time."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from shared_core.errors import InvalidInput
from shared_core.formats import detect, read

LOCOMO = Path(__file__).parents[3] / "shared" / "data" / "locomo-dev.json"


def sample(name: str | None = "pair-7", **sessions: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"speaker_a": "Ana", "speaker_b": "李雷"}
    for key, turns in sessions.items():
        body[f"{key}_date_time"] = "12:05 am on 9 March, 2024"
        body[key] = turns
    whole = {"qa": [{"question": "?", "answer": "!", "evidence": ["D1:1"], "category": 1}], "conversation": body}
    return whole if name is None else {**whole, "sample_id": name}


def turn(number: int, text: Any = "hi", speaker: str = "Ana", **more: Any) -> dict[str, Any]:
    return {"speaker": speaker, "dia_id": f"D1:{number}", "text": text, **more}


def test_each_session_is_a_conversation_of_the_samples_user_in_order_of_its_number(write):
    path = write(
        "pairs.json",
        [sample(session_10=[turn(1)], session_2=[turn(1)], session_1=[turn(1)]), sample("b", session_1=[turn(1)])],
    )
    assert [(each.user, each.session) for each in read(path)] == [
        ("pair-7", "session_1"),
        ("pair-7", "session_2"),
        ("pair-7", "session_10"),
        ("b", "session_1"),
    ]


def test_a_turn_keeps_its_id_speaker_words_and_photo(write):
    turns = [
        turn(1, "你看 🌄", "李雷", blip_caption="a mountain at dawn", img_url=["x"], query="dawn"),
        turn(2, "", blip_caption="a kite"),
    ]
    [conversation] = read(write("pairs.json", [sample(session_1=turns)]))
    first, second = conversation.messages
    assert (first.id, first.name, first.role) == ("D1:1", "李雷", "user")
    assert first.text == "你看 🌄 [shares a photo: a mountain at dawn]"
    assert second.text == "[shares a photo: a kite]"


def test_times_rise_from_turn_to_turn_and_begin_with_the_session(write):
    [conversation] = read(write("pairs.json", [sample(session_1=[turn(number) for number in range(30)])]))
    times = [message.created_at for message in conversation.messages]
    assert times[0] == datetime(2024, 3, 9, 0, 5, tzinfo=UTC)
    assert all(earlier < later for earlier, later in pairwise(times))
    assert (times[-1] - times[0]).total_seconds() < 300


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("12:30 am on 1 May, 2023", 0),
        ("12:30 pm on 1 May, 2023", 12),
        ("1:30 PM on 1 may 2023", 13),
        ("11:30 am on 1 May, 2023", 11),
    ],
)
def test_noon_and_midnight_are_told_apart(write, text, hour):
    whole = sample(session_1=[turn(1)])
    whole["conversation"]["session_1_date_time"] = text
    [conversation] = read(write("pairs.json", [whole]))
    assert conversation.messages[0].created_at == datetime(2023, 5, 1, hour, 30, tzinfo=UTC)


def test_a_session_without_a_date_is_still_read(write):
    whole = sample(session_1=[turn(1)])
    del whole["conversation"]["session_1_date_time"]
    [conversation] = read(write("pairs.json", [whole]))
    assert conversation.messages[0].created_at is None


def test_a_date_without_a_session_makes_none(write):
    whole = sample(session_1=[turn(1)])
    whole["conversation"]["session_2_date_time"] = "1:00 pm on 1 May, 2023"
    assert [each.session for each in read(write("pairs.json", [whole]))] == ["session_1"]


REALTALK = {
    "name": {"speaker_1": "Ana", "speaker_2": "李雷"},
    "session_1_date_time": "29.12.2023, 19:07:19",
    "session_1": [
        {"clean_text": "下班了", "speaker": "Ana", "date_time": "29.12.2023, 19:07:19", "dia_id": "D1:1"},
        {"clean_text": "me too", "speaker": "李雷", "date_time": "29.12.2023, 19:07:19", "dia_id": "D1:2"},
        {"clean_text": "", "speaker": "李雷", "date_time": "29.12.2023, 19:08:00", "dia_id": "D1:3"},
        {"clean_text": "late", "speaker": "李雷", "date_time": "29.12.2023, 23:59:59", "dia_id": "D1:4"},
    ],
    "events_session_1": {"agent_a": []},
}


def test_a_realtalk_file_keeps_the_times_of_its_turns_and_their_order(write):
    [conversation] = read(write("chat_1.json", REALTALK))
    first, second, third = conversation.messages
    assert [message.text for message in conversation.messages] == ["下班了", "me too", "late"]
    assert first.created_at == datetime(2023, 12, 29, 19, 7, 19, tzinfo=UTC)
    assert first.created_at < second.created_at < datetime(2023, 12, 29, 19, 7, 20, tzinfo=UTC)
    assert third.created_at == datetime(2023, 12, 29, 23, 59, 59, tzinfo=UTC)


def test_two_realtalk_files_do_not_overwrite_each_others_turns(write):
    sessions = [(each.user, each.session) for name in ("a.json", "b.json") for each in read(write(name, REALTALK))]
    assert sessions == [(None, "a session_1"), (None, "b session_1")]


def test_samples_without_a_name_do_not_overwrite_each_other_either(write):
    path = write("pairs.json", [sample(None, session_1=[turn(1)]), sample(None, session_1=[turn(1)])])
    assert [each.session for each in read(path)] == ["pairs-1 session_1", "pairs-2 session_1"]


def with_date(text: Any) -> dict[str, Any]:
    whole = sample(session_1=[turn(1)])
    whole["conversation"]["session_1_date_time"] = text
    return whole


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ([sample(session_1=[turn(1)]), {"sample_id": "x"}], "element 2: expected a LoCoMo sample"),
        ([sample(session_1=[turn(1)]), 5], "element 2: expected a LoCoMo sample"),
        ([sample(session_1={"a": 1})], "element 1, session_1: a session is a list"),
        ([sample(session_1=[turn(1), "hi"])], "element 1, session_1: turn 2.*object"),
        ([sample(session_1=[turn(1, 5)])], "turn 1.*text is text, not int"),
        ([sample(session_1=[turn(1, blip_caption=[1])])], "turn 1: blip_caption is text"),
        ([with_date("1:56 pm on 8 Mai, 2023")], "session_1: expected a time like .*Mai"),
        ([with_date("13:56 pm on 8 May, 2023")], "session_1: expected a time"),
        ([with_date("1:56 pm on 31 February, 2023")], "session_1: expected a time"),
        ([with_date("2023-05-08 13:56")], "session_1: expected a time"),
    ],
)
def test_a_wrong_shape_is_refused_with_its_place(write, content, says):
    with pytest.raises(InvalidInput, match=says):
        list(read(write("pairs.json", content), "locomo"))


@pytest.mark.skipif(not LOCOMO.exists(), reason="the LoCoMo data is not beside this repository")
def test_no_turn_of_locomo_is_lost_or_named_twice():
    assert detect(LOCOMO) == "locomo"
    found = list(read(LOCOMO))
    turns = Counter(each.user for each in found for _ in each.messages)
    assert turns == {"conv-26": 419, "conv-30": 369, "conv-41": 663, "conv-42": 629, "conv-43": 680}
    ids = [(each.user, message.id) for each in found for message in each.messages]
    assert len(set(ids)) == len(ids)
    for each in found:
        times = [message.created_at for message in each.messages]
        assert times == sorted(set(times))
