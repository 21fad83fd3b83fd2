"""What is read from the public sets: a question that loses its evidence here makes every figure wrong."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from made_sets import LOCOMO_SAMPLE, TRAJECTORIES, dump, haystack, realtalk

from shared_core.errors import InvalidInput, NotFound
from shared_core.evaluation import madial, memdaily
from shared_core.evaluation.reading import read
from shared_core.evaluation.sets import Question
from shared_core.evaluation.times import read_time

# ---------------------------------------------------------------------- LoCoMo and REALTALK


def test_locomo_questions_keep_their_evidence_and_those_without_are_skipped(locomo_file: Path) -> None:
    [part] = read([locomo_file])
    assert part.set == "locomo"
    first, second = part.samples
    assert (first.name, second.name) == ("conv-x", "conv-y")
    assert first.questions[0] == Question("What did Ann show?", ("D1:1", "D2:1"), "multi-hop")
    assert (len(first.questions), first.skipped) == (2, 3)
    assert first.turns == {
        "D1:1": "Ann: Look! [shares a photo: a red kite]",
        "D1:2": "Ben: Nice, my sister paints boats.",
        "D2:1": "Ben: The kite flew over Lyon.",
    }
    assert second.turns["D1:2"] == "小红: 我在学拉小提琴。"
    assert [name for name, _ in part.questions] == ["conv-x", "conv-x", "conv-y"]


def test_realtalk_is_one_part_of_all_its_chats_with_ranges_and_ids_made_whole(realtalk_folder: Path) -> None:
    [part] = read([realtalk_folder])
    assert (part.set, len(part.samples)) == ("realtalk", 2)
    sample = part.samples[0]
    assert sample.name == "Chat_1_Tom"
    assert sample.turns == {
        "D1:1": "Tom: hey, Tom here",
        "D1:3": "Mia: i baked rye bread",  # the message without text keeps its number
        "D1:4": "Mia: with caraway",
        "D2:1": "Mia: the loaf burned",
        "D2:2": "Tom: oh no",
    }
    assert [q.evidence for q in sample.questions] == [("D1:3", "D1:4"), ("D2:1",)]
    assert [q.category for q in sample.questions] == ["multi-hop", "temporal"]
    assert sample.skipped == 1
    told = next(iter(sample.messages))
    assert told.created_at == datetime(2023, 12, 29, 19, 7, 19, tzinfo=UTC)


@pytest.mark.parametrize(
    "shape",
    [
        lambda chat: {"Chat_1": chat},
        lambda chat: [chat],
        lambda chat: {"data": [chat]},
        lambda chat: {"conversation": {k: v for k, v in chat.items() if k != "qa"}, "qa": chat["qa"]},
    ],
)
def test_realtalk_in_any_nesting(tmp_path: Path, shape) -> None:
    path = dump(tmp_path / "chat.json", shape(realtalk("Tom")))
    [part] = read([path], "realtalk")
    assert len(part.samples[0].turns) == 5
    assert part.samples[0].questions[1].evidence == ("D2:1",)


def test_two_conversations_of_one_name_are_refused(locomo_file: Path, tmp_path: Path) -> None:
    again = dump(tmp_path / "again.json", [LOCOMO_SAMPLE])
    with pytest.raises(InvalidInput, match="conv-x"):
        read([locomo_file, again])


def test_a_sample_without_questions_says_what_it_needs(tmp_path: Path) -> None:
    path = dump(tmp_path / "a.json", [{key: LOCOMO_SAMPLE[key] for key in ("sample_id", "conversation")}])
    with pytest.raises(InvalidInput, match="`qa`"):
        read([path])


# ---------------------------------------------------------------------- MADial-Bench


@pytest.mark.parametrize(
    ("line", "role", "text"),
    [
        ('<Ann>:"你好！"\n', "user", "你好！"),
        (' <Ann>: "Hello!"\n', "user", "Hello!"),
        ("<Assistant>：“嗯。”\n", "assistant", "嗯。"),
        ('<Assistant>:"no closing quote\n', "assistant", "no closing quote"),
        ('<Ann>: "He said "yes" twice"\n', "user", 'He said "yes" twice'),
    ],
)
def test_a_line_of_a_dialogue_loses_its_marks_and_keeps_its_words(line: str, role: str, text: str) -> None:
    [message] = madial.messages(["<BOD>\n", line, "<EOD>\n"])
    assert (message.role, message.text) == (role, text)


def test_a_line_without_speaker_answers_the_line_before() -> None:
    lines = ['<Ann>: "Hi"', '"Hello"', '<Ann>: "Juice?"', "<Milk is good, you know. What kind?>", '"Apple!"']
    assert [m.role for m in madial.messages(lines)] == ["user", "assistant", "user", "assistant", "user"]
    assert madial.messages(lines)[3].text == "Milk is good, you know. What kind?"


def test_madial_queries_stop_before_the_answer_and_memories_find_their_owner(madial_folder: Path) -> None:
    memories, dialogues = madial.read_files(madial_folder, "en")
    assert [(m.id, m.user) for m in memories] == [("1", "7"), ("2", "8"), ("3", "8")]
    assert memories[0].at == datetime(2023, 12, 21, tzinfo=UTC)
    assert [m.text for m in dialogues[0].messages] == ["A party!", "When?", "Soon, by the harbour."]
    assert dialogues[0].relevant == ("1",)


def test_madial_has_two_parts_a_language_and_the_right_users_holds_no_one_elses_memories(madial_folder: Path) -> None:
    parts = read([madial_folder])
    assert [part.name for part in parts] == [
        f"MADial-Bench {language}, {whose}" for language in ("zh", "en") for whose in ("all users", "right user")
    ]
    everybody, own = parts[2], parts[3]
    assert [len(sample.turns) for sample in everybody.samples] == [3, 3]
    assert [list(sample.turns) for sample in own.samples] == [["1"], ["2", "3"]]
    question = own.samples[0].questions[0]
    assert question.last(1) == "Soon, by the harbour."
    assert question.last(2) == "When?\nSoon, by the harbour."
    assert own.samples[0].turns["1"] == "Ann danced at the harbour."  # no speaker in front of a memory


def test_one_of_madials_files_stands_for_its_language(madial_folder: Path) -> None:
    parts = read([madial_folder / "MADial-Bench-zh-memory.json"])
    assert [part.name for part in parts] == ["MADial-Bench zh, all users", "MADial-Bench zh, right user"]
    (madial_folder / "MADial-Bench-zh-dialogue.json").unlink()
    with pytest.raises(InvalidInput, match="dialogue"):
        read([madial_folder / "MADial-Bench-zh-memory.json"])


# ---------------------------------------------------------------------- MemDaily


def test_memdaily_trajectories_with_their_places_times_and_evidence(memdaily_file: Path) -> None:
    part, *_ = read([memdaily_file])
    first, second, third = part.samples
    assert (first.name, first.group) == ("simple_roles/0", "simple_roles")
    message = next(iter(first.messages))
    assert message.text == "我妹妹在苏州开了一家花店 (消息地点 家里)"
    assert message.created_at == datetime(2023, 5, 8, 9, 30, tzinfo=UTC)
    assert first.turns["0"] == "我妹妹在苏州开了一家花店 (消息地点 家里, 消息时间 2023年5月8日 星期一 上午9:30)"
    assert first.questions[0].evidence == ("0",)
    assert first.questions[0].asked_at == datetime(2023, 6, 1, 20, 0, tzinfo=UTC)
    assert [q.evidence for q in second.questions] == [("a", "b")]
    assert second.skipped == 1
    assert third.questions[0].evidence == ("3",)  # without ids a step is a place


def test_memdaily_nested_by_kind_and_scene_with_one_question_each(tmp_path: Path) -> None:
    nested = {
        kind: {"roles": [{"tid": 0, "message_list": row["message_list"], "QA": row["question_list"][0]}]}
        for kind, row in zip(("simple", "noisy"), TRAJECTORIES, strict=False)
    }
    part, *_ = read([dump(tmp_path / "memdaily.json", nested)])
    assert [sample.name for sample in part.samples] == ["simple/roles/0", "noisy/roles/0"]
    assert [question.category for _, question in part.questions] == ["simple", "noisy"]


def test_memdailys_own_noisy_files_have_plain_texts_as_messages(tmp_path: Path) -> None:
    raw = {"simple": {"roles": [{"tid": 0, "message_list": ["早上好 (消息地点 家里)", "我养了一只猫"],
                                 "QA": {"question": "我养了什么？", "target_step_id": 1}}]}}  # fmt: skip
    part, *_ = read([dump(tmp_path / "memdaily_10.json", raw)])
    assert part.samples[0].questions[0].evidence == ("1",)


@pytest.mark.parametrize("times", [2, 10])
def test_noise_is_of_other_trajectories_and_leaves_order_and_evidence_alone(memdaily_file: Path, times: int) -> None:
    parts = read([memdaily_file], noise=[times])
    assert [part.name for part in parts] == ["MemDaily", f"MemDaily, ×{times} with other trajectories' messages"]
    alone, noisy = parts[0].samples[1], parts[1].samples[1]
    ids = [str(message.id) for message in noisy.messages]
    assert len(ids) == len(set(ids)) == times * 3
    assert [id for id in ids if "/" not in id] == ["a", "b", "c"]
    assert not any(id.startswith("simple_roles/1/") for id in ids)
    assert noisy.questions == alone.questions
    assert list(noisy.turns) == ids
    assert [str(message.id) for message in parts[1].samples[1].messages] == ids  # the same each time it is made


def test_more_noise_than_there_is_takes_what_there_is(memdaily_file: Path) -> None:
    noisy = read([memdaily_file], noise=[100])[1].samples[1]
    assert len(noisy.turns) == 3 + 2 + 30


def test_a_message_id_twice_in_a_trajectory_is_refused(tmp_path: Path) -> None:
    raw = [{"tid": 5, "message_list": [{"mid": 1, "message": "a"}, {"mid": "1", "message": "b"}], "question_list": []}]
    with pytest.raises(InvalidInput, match="same mid"):
        memdaily.read([("x", raw)], [])


# ---------------------------------------------------------------------- LongMemEval


def test_longmemeval_by_turn_and_by_session_without_the_questions_that_have_no_answer(longmemeval_file: Path) -> None:
    [part] = read([longmemeval_file])
    assert [name for name, _ in part.questions] == ["q1", "q2"]
    assert part.with_sessions
    sample = part.samples[0]
    assert sample.skipped == 1
    assert list(sample.sessions) == ["s1 (3)", "s1", "s2"]  # oldest first; an id twice is told apart
    assert sample.questions[0].evidence == ("s2:0",)
    assert sample.questions[0].sessions == ("s2",)
    assert sample.questions[0].asked_at == datetime(2023, 5, 30, 23, 40, tzinfo=UTC)
    assert sample.turns["s2:0"] == "user: I bought a blue bicycle at the flea market."
    assert "s1 (3):0" not in sample.turns  # blank
    assert part.samples[1].group == "multi-session"


def test_longmemeval_without_marked_turns_is_scored_by_session_only(tmp_path: Path) -> None:
    raw = haystack(1)
    del raw["haystack_sessions"][1][0]["has_answer"]
    [part] = read([dump(tmp_path / "x.json", [raw])])
    assert (part.samples[0].questions[0].evidence, part.samples[0].questions[0].sessions) == ((), ("s2",))


# ---------------------------------------------------------------------- which set, and what is no set


def test_each_set_is_told_by_its_shape(
    locomo_file: Path, realtalk_folder: Path, memdaily_file: Path, longmemeval_file: Path, madial_folder: Path
) -> None:
    files = [locomo_file, realtalk_folder, memdaily_file, longmemeval_file, madial_folder]
    parts = read(files, noise=[10])
    assert list(dict.fromkeys(part.set for part in parts)) == [
        "locomo",
        "realtalk",
        "memdaily",
        "longmemeval",
        "madial",
    ]


def test_a_limit_takes_conversations_from_all_over_the_file(memdaily_file: Path) -> None:
    parts = read([memdaily_file], noise=[2], limit=2)
    assert [sample.name for sample in parts[1].samples] == ["simple_roles/0", "simple_roles/1"]
    assert len(parts[0].samples) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "broken JSON"),
        ('[{"role": "user", "content": "hi"}]', "none of the sets"),
        ("[]", "none of the sets"),
        ("3", "none of the sets"),
    ],
)
def test_what_is_no_set_is_refused_with_the_known_ones(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput, match=message):
        read([path])


def test_paths_and_names_that_are_wrong(tmp_path: Path, locomo_file: Path, madial_folder: Path) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        read([tmp_path / "nowhere"])
    with pytest.raises(InvalidInput, match="unknown set"):
        read([locomo_file], "msc")
    with pytest.raises(InvalidInput, match="is MADial-Bench"):
        read([madial_folder], "locomo")
    with pytest.raises(InvalidInput, match="limit"):
        read([locomo_file], limit=0)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match="no JSON"):
        read([tmp_path / "empty"])


def test_a_set_whose_questions_all_lack_evidence_is_no_result(tmp_path: Path) -> None:
    bare = {**LOCOMO_SAMPLE, "qa": [{"question": "?", "evidence": [], "category": 1}]}
    with pytest.raises(InvalidInput, match="no question with evidence"):
        read([dump(tmp_path / "x.json", [bare])])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2023年5月8日 星期一 上午9:30", "2023-05-08T09:30:00+00:00"),
        ("2023-05-08 09:30", "2023-05-08T09:30:00+00:00"),
        ("2023年12月1日 星期五 晚上11点05分", "2023-12-01T23:05:00+00:00"),
        ("2023年12月1日 中午12:00", "2023-12-01T12:00:00+00:00"),
        ("2023年12月1日 凌晨12:10", "2023-12-01T00:10:00+00:00"),
        ("2023年12月1日", "2023-12-01T00:00:00+00:00"),
        ("2023/05/30 (Tue) 23:40", "2023-05-30T23:40:00+00:00"),
        ("2023/05/30 3:40 pm", "2023-05-30T15:40:00+00:00"),
        ("29.12.2023, 19:07:19", "2023-12-29T19:07:19+00:00"),
        ("2024-05-01T10:00:00+08:00", "2024-05-01T02:00:00+00:00"),
        (0, "1970-01-01T00:00:00+00:00"),
        ("2023-02-31 10:00", None),
        ("昨天", None),
        ("", None),
        (None, None),
        (True, None),
        (1e30, None),
    ],
)
def test_times_in_both_languages(text: object, expected: str | None) -> None:
    found = read_time(text)
    assert (found and found.isoformat()) == expected


def test_jsonl_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("\ufeff" + "\n".join(json.dumps(haystack(n)) for n in (1, 2)), encoding="utf-8")
    assert len(read([path])[0].samples) == 2
