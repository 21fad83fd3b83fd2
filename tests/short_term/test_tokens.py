"""The default counter: a prompt counted too small is refused by the provider, too large wastes memories."""

from __future__ import annotations

import base64
import json
import random
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.short_term.tokens import MARKER, count, count_message, shorten
from shared_core.values import Message, as_message

# Measured with tiktoken 0.14.0: text, cl100k, o200k.
MEASURED = {
    "english": (
        "Yesterday I finally moved into the new flat by the harbour, and we carried it all up before lunch.",
        21,
        21,
    ),
    "chinese": ("我叫陈大文，昨天在上海开始了新的工作。每天早上我一边喝咖啡一边看新闻，请记住我的地址。", 51, 34),
    "technical chinese": (
        "请把配置文件里的超时时间改成30秒，然后重新部署到生产环境，数据库连接池的大小设为50。",
        38,
        28,
    ),
    "japanese": ("私の名前は田中です。昨日、東京で新しい仕事を始めました。", 29, 20),
    "russian": ("Меня зовут Анна, вчера я начала новую работу в Москве.", 27, 15),
    "code": (
        "def area(shape):\n    if shape.kind == 'circle':\n        return 3.14159 * shape.radius ** 2\n",
        26,
        26,
    ),
    "minified": ("function a(b,c){var d=b[0],e=c||{};for(var f=0;f<d.length;f++){e[f]=d[f]*2}return!e?null:e}", 43, 44),
    "json": ('{"city": "Paris", "ids": [10442, 7, 99871], "opts": {"units": "metric", "verbose": true}}', 34, 34),
    "sql": (
        "SELECT u.id, COUNT(o.id) AS n FROM users u LEFT JOIN orders o ON o.user_id = u.id ORDER BY n DESC;",
        29,
        29,
    ),
    "numbers": ("3.14159265 2718281828 1735689600005 42 1000000", 22, 22),
    "emoji": ("🎉🔥🚀🍕🌸🐙", 18, 11),
}


@pytest.mark.parametrize("name", MEASURED)
def test_a1_count_lies_near_two_real_tokenizers(name: str) -> None:
    text, cl100k, o200k = MEASURED[name]
    assert 0.9 * min(cl100k, o200k) <= count(text) <= 1.4 * max(cl100k, o200k)


def test_a1_english_takes_about_four_characters_a_token() -> None:
    text = MEASURED["english"][0]
    assert 3.5 <= len(text) / count(text) <= 5.5


@given(st.text(alphabet=st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF)))
def test_a1_chinese_is_never_under_one_token_for_two_characters(text: str) -> None:
    assert len(text) / 2 <= count(text) <= 1.5 * len(text)


@given(st.lists(st.sampled_from("😀👍🏽🧑‍💻🇫🇷❤️✨🍕")))
def test_a1_emoji_take_one_to_three_tokens(characters: list[str]) -> None:
    text = "".join(characters)
    assert len(text) <= count(text) <= 3 * len(text)


def test_a1_random_digits_and_base64_are_not_prose() -> None:
    chance = random.Random(7)
    digits = "".join(chance.choice("0123456789") for _ in range(600))
    assert count(digits) >= 200
    encoded = base64.b64encode(chance.randbytes(600)).decode()
    assert count(encoded) >= 0.6 * len(encoded)


@given(st.text(), st.text())
def test_a1_count_is_zero_for_nothing_only_and_about_additive(a: str, b: str) -> None:
    assert count("") == 0
    assert (count(a) > 0) == (a != "")
    assert abs(count(a + b) - count(a) - count(b)) <= max(2, 0.1 * len(a + b))


def test_a1_count_takes_lone_surrogates_and_nul() -> None:
    assert count("a\ud83d\x00b") >= 3


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox, jumps over 13 dogs. " * 25_000,
        "今天的天气很好。" * 42_000,
        "x" * 10**6,
        " " * 10**6,
        "=" * 10**6,
        "A_" * 500_000,
    ],
    ids=["prose", "chinese", "one word", "blanks", "rule", "marks"],
)
def test_a1_a_megabyte_is_counted_at_once(text: str) -> None:
    start = time.process_time()
    assert count(text) > 0
    assert time.process_time() - start < 1.0  # 0.02 to 0.15 s on one core; a slip to quadratic takes minutes


def test_a1_text_is_counted_whole_in_a_message() -> None:
    text = MEASURED["english"][0]
    assert count(text) < count_message(Message(role="user", content=text)) <= count(text) + 6


@pytest.mark.parametrize("content", [None, "", [], [{"type": "text", "text": ""}]])
def test_r15_empty_content_costs_a_frame_only(content: object) -> None:
    assert 1 <= count_message(Message(role="assistant", content=content)) <= 6


def test_r15_mixed_content_counts_its_text_and_a_flat_image() -> None:
    text = "What is on this picture?"
    image = {"type": "image_url", "image_url": {"url": "https://example.org/harbour.png"}}
    both = count_message(Message(role="user", content=[{"type": "text", "text": text}, image]))
    assert count(text) + 85 <= both <= count(text) + 500


PAYLOAD = base64.b64encode(random.Random(3).randbytes(300_000)).decode()


@pytest.mark.parametrize(
    "part",
    [
        {"type": "audio", "base64": PAYLOAD, "mime_type": "audio/wav"},
        {"type": "input_audio", "input_audio": {"data": PAYLOAD, "format": "wav"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + PAYLOAD}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PAYLOAD}},
        {"type": "file", "file": {"filename": "plan.pdf", "file_data": "data:application/pdf;base64," + PAYLOAD}},
        {"type": "something_new", "data": PAYLOAD},
        {"block_type": "video", "video": PAYLOAD.encode()},
    ],
    ids=lambda part: part.get("type", "bytes"),
)
def test_a1_media_are_never_counted_as_base64(part: dict[str, object]) -> None:
    # 400,000 characters of it would push every earlier turn out of the window.
    assert 85 <= count_message(Message(role="user", content=[part])) < 2_000


def test_a1_document_with_plain_text_is_counted_by_it() -> None:
    part = {"type": "document", "source": {"type": "text", "data": "the harbour opens at nine " * 500}}
    assert count_message(Message(role="user", content=[part])) > 2_500


WORDS = "word " * 5_000


@pytest.mark.parametrize(
    "part",
    [
        {"type": "thinking", "thinking": WORDS, "signature": PAYLOAD[:300]},
        {"type": "reasoning", "reasoning": WORDS},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": WORDS}]},
        {"block_type": "thinking", "content": WORDS},
        {"type": "tool_use", "id": "t1", "name": "write", "input": {"text": WORDS}},
    ],
    ids=["anthropic", "langchain", "openai", "llamaindex", "tool_use"],
)
def test_a1_thinking_and_calls_in_content_are_counted(part: dict[str, object]) -> None:
    assert 4_500 <= count_message(Message(role="assistant", content=[part])) <= 6_000


def test_a1_tool_calls_are_counted_by_their_arguments() -> None:
    flat = Message(role="assistant", tool_calls=({"id": "c1", "name": "write", "args": {"text": WORDS}},))
    text = as_message({"role": "assistant", "tool_calls": [{"id": "c1", "name": "write", "args": WORDS}]})
    assert 5_000 <= count_message(flat) <= 6_000
    assert 5_000 <= count_message(text) <= 6_000


def test_a1_a_call_repeated_as_content_part_is_counted_once() -> None:
    call = {"id": "c1", "name": "write", "args": {"text": WORDS}}
    part = {"type": "tool_use", "id": "c1", "name": "write", "input": {"text": WORDS}}
    once = count_message(Message(role="assistant", tool_calls=(call,)))
    assert count_message(Message(role="assistant", content=[part], tool_calls=(call,))) == once


def test_a1_arguments_no_json_knows_are_counted_too() -> None:
    call = {"id": None, "name": "at", "args": {"when": unicodedata, ("a", "b"): 1}}
    assert count_message(Message(role="assistant", tool_calls=(call,))) > 4


def test_a1_names_and_call_ids_cost_something() -> None:
    plain = count_message(Message(role="tool", content="ok"))
    assert count_message(Message(role="tool", content="ok", tool_call_id="call_x1")) > plain
    assert count_message(Message(role="tool", content="ok", name="search")) > plain


def test_a1_a_counter_of_ones_own_is_given_every_text() -> None:
    seen: list[str] = []

    def words(text: str) -> int:
        seen.append(text)
        return len(text.split())

    message = Message(
        role="assistant", content="one two", tool_calls=({"id": "c", "name": "f", "args": {"q": "three"}},)
    )
    assert count_message(message, words) >= 5
    assert {"one two", "f", json.dumps({"q": "three"})} <= set(seen)


@given(st.text(max_size=200) | st.text(alphabet="的e\u0301👨\u200d👩🏽🇫🇷 \n", max_size=200), st.integers(0, 60))
def test_r12_shortened_text_fits_keeps_both_ends_and_is_stable(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert count(short) <= limit
    assert shorten(short, limit) == short
    if count(text) <= limit:
        assert short == text
    elif limit >= 10:
        # Custom alphabets may hold the marker themselves, so look for any place it could stand.
        places = [i for i in range(len(short)) if short.startswith(MARKER.strip(), i)]
        assert any(text.startswith(short[:i].rstrip()) and text.endswith(short[i + 1 :].lstrip()) for i in places)


def test_r12_shortening_uses_most_of_the_limit() -> None:
    for text in ("今天的天气很好。" * 12_500, "word " * 20_000, "🎉🔥" * 5_000):
        assert 0.9 * 1_000 <= count(shorten(text, 1_000)) <= 1_000


@pytest.mark.parametrize(
    "cluster",
    ["👨\u200d👩\u200d👧\u200d👦", "👍🏽", "❤\ufe0f", "e\u0301\u0323", "🇫🇷", "\ud83d\ude00", "கி"],
    ids=["family", "skin", "variation", "accents", "flag", "surrogates", "tamil"],
)
def test_r12_no_cut_inside_what_reads_as_one_character(cluster: str) -> None:
    for limit in range(12, 60):
        rest = shorten(cluster * 100, limit).replace(MARKER, "")
        assert rest == cluster * (len(rest) // len(cluster))


def test_r12_a_pile_of_accents_is_still_shortened() -> None:
    short = shorten("a" + "\u0301" * 50_000, 100)
    assert 50 < count(short) <= 100
