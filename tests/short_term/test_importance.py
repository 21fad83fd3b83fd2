"""What an older message is worth (A2) and what leaves first (A3): wrong numbers lose the user's constraints."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.settings import Importance
from shared_core.short_term.importance import Retention, hold, retention, weigh
from shared_core.values import Message


def say(text: object, role: str = "assistant") -> Message:
    return Message(role=role, content=text)


def test_a2_importance_starts_at_one_half() -> None:
    assert weigh(say("The sky is blue.")) == 0.5
    assert weigh(say(None)) == weigh(say("")) == weigh(say([])) == 0.5


@pytest.mark.parametrize(
    ("keyword", "weight"),
    [
        *(("remember", 2.0), ("记住", 2.0), ("important", 2.0), ("重要", 2.0), ("password", 3.0), ("密码", 3.0)),
        *(("username", 2.0), ("用户名", 2.0), ("preference", 1.8), ("偏好", 1.8), ("address", 1.8), ("地址", 1.8)),
        *(("always", 1.5), ("总是", 1.5), ("forever", 1.5), ("永远", 1.5), ("like", 1.5), ("喜欢", 1.5)),
        *(("config", 1.5), ("配置", 1.5), ("don't", 1.3), ("不要", 1.3)),
    ],
)
def test_a2_each_keyword_adds_a_tenth_of_its_weight_once(keyword: str, weight: float) -> None:
    expected = pytest.approx(0.5 + 0.1 * weight)
    assert weigh(say(f"well {keyword} so")) == expected
    assert weigh(say(f"{keyword.upper()} {keyword}, {keyword}!")) == expected


def test_a2_keywords_add_up_and_stop_at_one() -> None:
    assert weigh(say("I like it forever")) == pytest.approx(0.8)
    assert weigh(say("I like it forever; remember the important password")) == 1.0


@pytest.mark.parametrize(
    "text",
    ["unlikely", "in all likelihood", "configuration", "addressee", "passwordless", "remembered", "like_this", "9like"],
)
def test_a2_english_keywords_match_whole_words_only(text: str) -> None:
    assert weigh(say(text)) - 0.05 * any(c.isdigit() for c in text) == 0.5


@pytest.mark.parametrize("text", ["我的password是什么", "PASSWORD", "ｐａｓｓｗｏｒｄ", "(password)", "password。"])
def test_a2_english_keywords_are_found_beside_chinese_and_in_any_case(text: str) -> None:
    assert weigh(say(text)) == pytest.approx(0.8)


def test_a2_curly_apostrophe_is_an_apostrophe() -> None:
    assert weigh(say("don\u2019t")) == weigh(say("don't")) == pytest.approx(0.63)


def test_a2_chinese_keywords_are_found_inside_a_sentence() -> None:
    assert weigh(say("他不喜欢下雨")) == pytest.approx(0.65)
    assert weigh(say("用户说用户名错了")) == pytest.approx(0.7)


def test_a2_role_length_and_digits_add_their_own() -> None:
    assert weigh(say("hm", "user")) == pytest.approx(0.6)
    assert weigh(say("x" * 200)) == 0.5
    assert weigh(say("x" * 201)) == pytest.approx(0.6)
    assert weigh(say("room 7")) == weigh(say("房间７")) == weigh(say("7 7 7")) == pytest.approx(0.55)


def test_a2_only_the_text_parts_are_weighed() -> None:
    image = {"type": "image", "base64": "password1234"}
    assert weigh(say([{"type": "text", "text": "look"}, image])) == 0.5


def test_a2_every_number_is_a_setting() -> None:
    own = Importance(base=0.1, keyword=0.2, user=0.3, long=0.05, long_chars=3, digit=0.01, keywords={"Größe": 1.0})
    assert weigh(say("größe 3", "user"), own) == pytest.approx(0.1 + 0.2 + 0.3 + 0.05 + 0.01)
    assert weigh(say("Übergröße"), own) == pytest.approx(0.15)
    assert weigh(say("password"), own) == pytest.approx(0.15)
    assert weigh(say("any, so"), Importance(base=0.4, keywords={"": 5.0})) == pytest.approx(0.4)


@given(st.text(), st.sampled_from(["user", "assistant", "tool", "system"]))
def test_a2_importance_lies_between_zero_and_one(text: str, role: str) -> None:
    for settings in (Importance(), Importance(base=-1.0), Importance(base=math.pi)):
        assert 0.0 <= weigh(say(text, role), settings) <= 1.0


@pytest.mark.parametrize(
    "text",
    [
        *(
            "ok",
            "Okay, thanks a lot!",
            "Thank you so much 🙏",
            "Hi there!",
            "You’re welcome.",
            "👍",
            "Got it. Sounds good!",
        ),
        *("好的", "好的，谢谢！", "嗯嗯", "收到👌", "你好！", "不客气", "明白了，辛苦了。", "哈哈哈", "太好了！"),
    ],
)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a3_acknowledgements_and_greetings_are_small_talk(text: str, role: str) -> None:
    assert retention(say(text, role)) is Retention.SMALL_TALK


@pytest.mark.parametrize(
    "text",
    [
        *(
            "yes",
            "no",
            "ok, delete the old branch",
            "Thanks, but use tabs",
            "Hi, I'm Bob",
            "good point about the lift",
            "",
        ),
        *("是", "不行", "好吃的面", "银行", "好的，用方案二", "谢谢，但是不要用红色", "42", "ok " * 30),
    ],
)
def test_a3_what_says_something_is_not_small_talk(text: str) -> None:
    assert retention(say(text, "user")) is Retention.TALK


def test_a3_results_calls_and_pictures_are_never_small_talk() -> None:
    assert retention(say("ok", "tool")) is Retention.TALK
    assert retention(Message(role="assistant", content="ok", tool_calls=({"id": "c", "name": "f"},))) is Retention.TALK
    assert retention(say([{"type": "text", "text": "ok"}, {"type": "image"}], "user")) is Retention.TALK


def test_a3_system_messages_go_last() -> None:
    assert retention(say("ok", "system")) is Retention.INSTRUCTION
    assert Retention.SMALL_TALK < Retention.TALK < Retention.INSTRUCTION


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("Never use more than three tables", "user"), ("The total must stay under 40 euros", "user"),
        ("不要超过三张表", "user"), ("总额必须在40元以内", "user"), ("done", "tool"), ("", "tool"),
        ("The build passed.", "assistant"), ("构建通过了。", "assistant"),
    ],
)  # fmt: skip
def test_a3_what_binds_and_what_was_achieved_weighs_more_than_idle_talk(text: str, role: str) -> None:
    kept = hold(say(text, role))
    assert kept == (max(0.8, weigh(say(text, role))) if text else 0.5)
    assert hold(say(text, role), Importance(retained=0.0)) == weigh(say(text, role))


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("The sea was calm", "user"), ("海面很平静", "user"), ("Must it be blue?", "user"), ("必须是蓝色吗？", "user"),
        ("You should never worry", "assistant"), ("Has the build passed?", "assistant"), ("The build passed.", "user"),
    ],
)  # fmt: skip
def test_a3_questions_advice_and_hearsay_bind_nobody(text: str, role: str) -> None:
    assert hold(say(text, role)) == weigh(say(text, role))
