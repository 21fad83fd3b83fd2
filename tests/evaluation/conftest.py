"""Small files of every public set, written anew for each test."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from made_sets import LOCOMO_SAMPLE, OTHER_SAMPLE, TRAJECTORIES, dump, haystack, realtalk


@pytest.fixture
def locomo_file(tmp_path: Path) -> Path:
    return dump(tmp_path / "sample.json", [LOCOMO_SAMPLE, OTHER_SAMPLE])


@pytest.fixture
def realtalk_folder(tmp_path: Path) -> Path:
    dump(tmp_path / "chats" / "Chat_1_Tom.json", realtalk("Tom"))
    dump(tmp_path / "chats" / "Chat_2_Lea.json", realtalk("Lea"))
    return tmp_path / "chats"


@pytest.fixture
def memdaily_file(tmp_path: Path) -> Path:
    return dump(tmp_path / "01_simple_roles.json", TRAJECTORIES)


@pytest.fixture
def longmemeval_file(tmp_path: Path) -> Path:
    rows = [haystack(1), haystack(2, kind="multi-session"), haystack(3, id="q3_abs")]
    return dump(tmp_path / "longmemeval_s.json", rows)


@pytest.fixture
def madial_folder(tmp_path: Path) -> Path:
    """The two files of a language, English without the owners of memories, and the same in Chinese."""
    folder = tmp_path / "madial"
    folder.mkdir()
    told = {
        "en": [("Ann danced at the harbour.", None), ("Ben sang in the rain.", 8), ("Ben lost his green scarf.", 8)],
        "zh": [("安安在海边跳舞。", 7), ("贝贝在雨里唱歌。", 8), ("贝贝丢了绿围巾。", 8)],
    }
    said = {
        "en": ['<Ann>: "A party!"\n', '<Assistant>: "When?"\n', '<Ann>: "Soon, by the harbour."\n',
               '<Assistant>: "You danced."\n'],
        "zh": ['<安安>："有个聚会！"\n', '<Assistant>："什么时候？"\n', '<安安>："快了，在海边。"\n',
               '<Assistant>："你跳过舞。"\n'],
    }  # fmt: skip
    more = {"en": '<Ben>: "It is cold, where is my scarf?"\n', "zh": '<贝贝>："好冷，我的围巾呢？"\n'}
    for language in ("en", "zh"):
        memories = [
            {str(n): {"time": f"2023-12-2{n}", "event": text, **({"user-id": user} if user else {})}}
            for n, (text, user) in enumerate(told[language], 1)
        ]
        dialogues = [
            {"dialogue": ["<BOD>\n", *said[language]], "test-turn": [4], "relevant-id": [1, 1], "user-id": 7},
            {"dialogue": ["<BOD>\n", more[language]], "test-turn": [2], "relevant-id": [3], "user-id": 8},
        ]
        for name, rows in (("memory", memories), ("dialogue", dialogues)):
            text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n"
            (folder / f"MADial-Bench-{language}-{name}.json").write_text(text, encoding="utf-8")
    return folder
