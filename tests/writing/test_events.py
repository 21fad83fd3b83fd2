"""Events out of messages: found in both languages, and not where nothing has happened (D1)."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from shared_core.values import Message
from shared_core.writing.events import Happened, happened

ROWS = [
    tuple(line.split("\t"))
    for line in (Path(__file__).parent / "happened.tsv").read_text(encoding="utf-8").splitlines()
]
ANSWER = {"en": "Here is the summary you asked for.", "zh": "这是您要的总结。"}


def half(language: str, held_out: bool) -> list[tuple[str, ...]]:
    """The rules were written on one half, drawn by a fixed seed; the other was looked at once."""
    rows = [row for row in ROWS if row[0] == language]
    random.Random(7).shuffle(rows)
    middle = len(rows) // 2
    return rows[middle:] if held_out else rows[:middle]


def told(text: str, role: str = "user", before: str | None = None, by: str = "assistant") -> list[Happened]:
    previous = None if before is None else Message(role=by, content=before)
    return happened(Message(role=role, content=text), previous)


def test_the_set_has_a_hundred_sentences_a_language_and_a_third_of_them_tell_no_event() -> None:
    counted = Counter((language, label == "none") for language, _, label, _ in ROWS)
    for language in ("en", "zh"):
        total = counted[language, True] + counted[language, False]
        assert total >= 100
        assert counted[language, True] * 3 >= total


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("held_out", [False, True])
def test_d1_events_are_found_with_high_precision(language: str, held_out: bool) -> None:
    right = wrong = missed = 0
    for _, role, label, text in half(language, held_out):
        found = {e.type for e in told(text, role, ANSWER[language] if role == "user" else "ok", "assistant")}
        wanted = {label} - {"none"}
        right, wrong, missed = right + len(found & wanted), wrong + len(found - wanted), missed + len(wanted - found)
    assert right / (right + wrong) >= 0.93
    assert right / (right + missed) >= 0.93


@pytest.mark.parametrize(
    ("text", "details"),
    [
        ("I changed auth.py and `src/api/views.py` because tokens never expired.",
         {"files": ["auth.py", "src/api/views.py"], "why": "because tokens never expired"}),
        ("我修改了 auth.py，避免令牌过期。", {"files": ["auth.py"], "why": "避免令牌过期"}),
    ],
)  # fmt: skip
def test_d1_a_code_change_says_which_files_and_why(text: str, details: dict[str, object]) -> None:
    [event] = told(text, "assistant")
    assert (event.type, event.weight, dict(event.details)) == ("code_change", "key", details)


def test_d1_a_call_of_an_editing_tool_is_a_code_change_once() -> None:
    call = {"id": "1", "name": "edit_file", "args": {"path": "app/main.go", "text": "..."}}
    bare = Message(role="assistant", content="The retry loop hides timeouts", tool_calls=(call,))
    [event] = happened(bare)
    assert event.details == {"files": ["app/main.go"], "tool": "edit_file", "why": "The retry loop hides timeouts"}
    worded = Message(role="assistant", content="I removed the loop from app/main.go", tool_calls=(call,))
    assert [e.text for e in happened(worded)] == ["I removed the loop from app/main.go"]
    reading = {"id": "1", "name": "read_file", "args": {"path": "app/main.go"}}
    assert happened(Message(role="assistant", content="", tool_calls=(reading,))) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The build failed with a KeyError.", "Renaming the column fixed it."),
        ("编译时报 KeyError。", "改了列名之后解决了。"),
    ],
)
def test_d1_an_error_and_its_fix_are_one_event_of_full_weight(first: str, second: str) -> None:
    events = told(f"{first} {second}" if second.isascii() else first + second)
    fixed = [e for e in events if e.details.get("fixed")]
    assert [(e.type, e.weight, e.success) for e in fixed] == [("error", "key", True)]
    assert "KeyError" in fixed[0].text
    assert not any(e.text == first for e in events), "the error is not told a second time"


@pytest.mark.parametrize(
    ("before", "text", "success"),
    [
        ("Try this", "That worked, thanks!", True), ("Try this", "It still fails.", False),
        ("请试试这个", "可以了，谢谢！", True), ("请试试这个", "还是报错。", False),
    ],
)  # fmt: skip
def test_d1_praise_and_complaint_answer_the_assistant(before: str, text: str, success: bool) -> None:
    assert [(e.type, e.success) for e in told(text, before=before)] == [("user_feedback", success)]
    assert told(text, before=before, by="user") == told(text), "two people talk: nobody judges the assistant"
    assert all(e.type != "user_feedback" for e in told(text))


@pytest.mark.parametrize(
    "text",
    [
        "> We decided to use Go.", "```\n# We decided to use Go.\n```", "He wrote: “We decided to use Go.”",
        "<memories>We decided to use Go.</memories>", "他说：“我们决定用 Go。”", "> 我们决定用 Go。", "", " ", "?!", "。。。",
    ],
)  # fmt: skip
def test_d1_quotations_code_and_recalled_memories_have_not_happened(text: str) -> None:
    assert told(text) == []


def test_d1_only_what_user_and_assistant_say_is_read() -> None:
    for role in ("system", "tool"):
        assert told("We decided to use Go.", role) == []
    assert told("The API must return JSON.", "assistant") == [], "what the assistant demands is no requirement"


def test_d1_a_pasted_log_gives_a_few_events_and_takes_no_time() -> None:
    lines = "\n".join(f"We decided to use plan {n}." for n in range(2_000))
    assert len(told(lines)) <= 12
    assert told("x" * 300_000) == []
    assert told("a must b " * 30_000) == []
