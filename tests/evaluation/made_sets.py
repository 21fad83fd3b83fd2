"""Made-up data in the public sets' shapes, in both languages, with the faults that those sets have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LOCOMO_SAMPLE: dict[str, Any] = {
    "sample_id": "conv-x",
    "conversation": {
        "speaker_a": "Ann",
        "speaker_b": "Ben",
        "session_2_date_time": "10:00 am on 9 May, 2023",
        "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "The kite flew over Lyon."}],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "Look!", "blip_caption": "a red kite"},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "Nice, my sister paints boats."},
        ],
    },
    "qa": [
        {"question": "What did Ann show?", "evidence": ["D1:01; D2:1"], "category": 1},
        {"question": "Whose sister paints boats?", "evidence": ["D1:2"], "category": 4},
        {"question": "Nothing?", "evidence": ["D"], "category": 4},
        {"question": "Not there?", "evidence": ["D9:9"], "category": 4},
        {"question": "No evidence?", "category": 5},
    ],
}

OTHER_SAMPLE: dict[str, Any] = {
    "sample_id": "conv-y",
    "conversation": {
        "session_1_date_time": "9:00 pm on 1 June, 2023",
        "session_1": [
            {"speaker": "小明", "dia_id": "D1:1", "text": "我上周搬到了杭州。"},
            {"speaker": "小红", "dia_id": "D1:2", "text": "我在学拉小提琴。"},
        ],
    },
    "qa": [{"question": "小红在学什么乐器？", "evidence": ["D1:2"], "category": 4}],
}


def realtalk(speaker: str) -> dict[str, Any]:
    """One chat as REALTALK has it: sessions beside the questions, ids missing or plain numbers, an empty message."""
    return {
        "name": {"speaker_1": speaker, "speaker_2": "Mia"},
        "session_1_date_time": "29.12.2023, 19:07:19",
        "session_1": [
            {"clean_text": f"hey, {speaker} here", "speaker": speaker, "date_time": "29.12.2023, 19:07:19"},
            {"clean_text": "", "speaker": "Mia", "date_time": "29.12.2023, 19:08:00"},
            {"clean_text": "i baked rye bread", "speaker": "Mia", "date_time": "29.12.2023, 19:08:10"},
            {"clean_text": "with caraway", "speaker": "Mia", "date_time": "29.12.2023, 19:08:12"},
        ],
        "session_2_date_time": "30.12.2023, 08:00:00",
        "session_2": [
            {"text": "the loaf burned", "speaker": "Mia", "dia_id": 1},
            {"clean_text": "oh no", "speaker": speaker, "dia_id": "D2:02"},
        ],
        "qa": [
            {"question": "What did Mia bake?", "evidence": ["D1:3-D1:4"], "category": 1},
            {"question": "When did the loaf burn?", "evidence": "D2:1", "category": 2},
            {"question": "Did it rain?", "evidence": [], "category": 3},
        ],
    }


TRAJECTORIES: list[dict[str, Any]] = [
    {
        "tid": 0,
        "message_list": [
            {"mid": 0, "message": "我妹妹在苏州开了一家花店", "time": "2023年5月8日 星期一 上午9:30", "place": "家里"},
            {"mid": 1, "message": "我下周要去看牙医", "time": "2023-05-09 09:30", "place": "公司"},
        ],
        "question_list": [
            {"question": "我妹妹在哪里开花店？", "answer": "苏州", "target_step_id": [0], "time": "2023年6月1日 晚上8:00"}
        ],
    },
    {
        "tid": 1,
        "message_list": [
            {"mid": "a", "message": "我叔叔的生日是三月八号", "time": "2023-04-01 10:00", "place": "家里"},
            {"mid": "b", "message": "叔叔喜欢下象棋", "time": "2023-04-02 10:00", "place": ""},
            {"mid": "c", "message": "今天下雨了", "time": "某天", "place": "路上"},
        ],
        "question_list": [
            {"question": "喜欢下象棋的人什么时候过生日？", "answer": "三月八号", "target_step_id": ["a", "b"]},
            {"question": "谁？", "answer": "不知道", "target_step_id": []},
        ],
    },
    {"tid": 2, "message_list": [{"message": f"我买了第{n}本书"} for n in range(30)],
     "question_list": [{"question": "我买的第三本书呢？", "target_step_id": ["3"]}]},
]  # fmt: skip


def haystack(number: int, *, kind: str = "single-session-user", id: str | None = None) -> dict[str, Any]:
    """A question of LongMemEval with three sessions, of which the second has the answer."""
    return {
        "question_id": id or f"q{number}",
        "question_type": kind,
        "question": "Where did I buy the blue bicycle?",
        "question_date": "2023/05/30 (Tue) 23:40",
        "answer": "at the flea market",
        "haystack_session_ids": ["s1", "s2", "s1"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00", "2023/05/19 (Fri) 10:00"],
        "haystack_sessions": [
            [{"role": "user", "content": f"Suggest {number} soups."}, {"role": "assistant", "content": "Lentil soup."}],
            [
                {"role": "user", "content": "I bought a blue bicycle at the flea market.", "has_answer": True},
                {"role": "assistant", "content": "Enjoy the ride!", "has_answer": False},
            ],
            [{"role": "user", "content": "  "}, {"role": "assistant", "content": "How can I help?"}],
        ],
        "answer_session_ids": ["s2"],
    }


def dump(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path
