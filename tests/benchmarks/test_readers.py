"""What the benchmarks read: made-up files in the public sets' shapes, with the faults those sets have."""

import json

import locomo
import madial
import pytest


@pytest.fixture
def locomo_file(tmp_path):
    pytest.importorskip("ijson")
    sample = {
        "sample_id": "conv-x",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_2_date_time": "10:00 am on 9 May, 2023",
            "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "The kite flew."}],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "Look!", "blip_caption": "a red kite"},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Nice."},
            ],
        },
        "qa": [
            {"question": "What did Ann show?", "evidence": ["D1:01; D2:1"], "category": 1},
            {"question": "Nothing?", "evidence": ["D"], "category": 4},
            {"question": "Not there?", "evidence": ["D9:9"], "category": 4},
            {"question": "No evidence?", "category": 5},
        ],
    }
    path = tmp_path / "sample.json"
    path.write_text(json.dumps([sample, {**sample, "sample_id": "conv-y"}]), encoding="utf-8")
    return path


def test_locomo_questions_keep_their_evidence_and_those_without_are_skipped(locomo_file):
    first, second = locomo.read(locomo_file)
    assert (first.name, second.name) == ("conv-x", "conv-y")
    assert first.questions == (locomo.Question("What did Ann show?", ("D1:1", "D2:1"), 1),)
    assert first.skipped == 3
    assert first.turns == {
        "D1:1": "Ann: Look! [shares a photo: a red kite]",
        "D1:2": "Ben: Nice.",
        "D2:1": "Ben: The kite flew.",
    }


def test_controls_are_the_same_each_run_and_rank_only_the_conversations_turns(locomo_file):
    sample = locomo.read(locomo_file)[0]
    for make in (locomo.RandomOrder, locomo.NewestFirst):
        one, two = make(), make()
        one.build(sample)
        two.build(sample)
        ranking = one.rank(sample, sample.questions[0])
        assert ranking == two.rank(sample, sample.questions[0])
        assert sorted(ranking) == sorted(sample.turns)
    newest = locomo.NewestFirst()
    newest.build(sample)
    assert newest.rank(sample, sample.questions[0]) == ["D2:1", "D1:2", "D1:1"]


def test_a_whole_measurement_by_hand(locomo_file):
    # Newest first ranks D2:1 D1:2 D1:1; the evidence is D1:1 and D2:1: half at 1, all at 5, first found at rank 1.
    result = locomo.measure(locomo.NewestFirst(), locomo.read(locomo_file))
    expected = {"n": 2, "R@1": 0.5, "R@5": 1.0, "R@10": 1.0, "R@25": 1.0, "R@50": 1.0, "MRR": 1.0}
    assert {name: value for name, value in result.total.items() if name in expected} == expected
    assert set(result.by_conversation) == {"conv-x", "conv-y"}
    assert set(result.by_category) == {1}


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
def test_a_line_of_a_dialogue_loses_its_marks_and_keeps_its_words(line, role, text):
    assert madial.messages(["<BOD>\n", line, "<EOD>\n"]) == [{"role": role, "content": text}]


def test_a_line_without_speaker_answers_the_line_before():
    lines = ['<Ann>: "Hi"', '"Hello"', '<Ann>: "Juice?"', "<Milk is good, you know. What kind?>", '"Apple!"']
    assert [m["role"] for m in madial.messages(lines)] == ["user", "assistant", "user", "assistant", "user"]
    assert madial.messages(lines)[3]["content"] == "Milk is good, you know. What kind?"


@pytest.fixture
def madial_folder(tmp_path):
    memories = [
        {"1": {"time": "2023-12-25", "scene": "Activity", "emotion": "Happy", "event": "Ann danced."}},
        {"2": {"time": "2023-12-26", "scene": "Activity", "emotion": "Happy", "event": "Ben sang.", "user-id": 8}},
    ]
    dialogue = [
        "<BOD>\n",
        '<Ann>: "A party!"\n',
        '<Assistant>: "When?"\n',
        '<Ann>: "Soon."\n',
        '<Assistant>: "You danced."\n',
    ]
    dialogues = [
        {"dialogue": dialogue, "test-turn": [4], "relevant-id": [1, 1], "user-id": 7},
        {"dialogue": ["<BOD>\n", '<Ben>: "A song!"\n'], "test-turn": [2], "relevant-id": [2], "user-id": 8},
    ]
    for name, rows in (("memory", memories), ("dialogue", dialogues)):
        text = "\n".join(json.dumps(row) for row in rows) + "\n"
        (tmp_path / f"MADial-Bench-en-{name}.json").write_text(text, encoding="utf-8")
    return tmp_path


def test_madial_queries_stop_before_the_answer_and_memories_find_their_owner(madial_folder):
    memories, dialogues = madial.read(madial_folder, "en")
    assert [(m.id, m.user, m.at.isoformat()) for m in memories] == [
        ("1", "7", "2023-12-25T00:00:00+00:00"),
        ("2", "8", "2023-12-26T00:00:00+00:00"),
    ]
    assert [m["content"] for m in dialogues[0].messages] == ["A party!", "When?", "Soon."]
    assert dialogues[0].relevant == ("1",)
    assert dialogues[0].text(1) == "Soon."
    assert dialogues[0].text() == "A party!\nWhen?\nSoon."


def test_the_right_users_pool_holds_no_one_elses_memories(madial_folder):
    memories, _ = madial.read(madial_folder, "en")
    own = madial.pools(memories, madial.OWN)
    assert {user: [m.id for m in pool] for user, pool in own.items()} == {"7": ["1"], "8": ["2"]}
    everybody = madial.pools(memories, madial.EVERYBODY)
    assert all(len(pool) == 2 for pool in everybody.values())
