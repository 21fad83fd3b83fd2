"""Which format a file has, and what happens to files that are broken, hostile or huge."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared_core.errors import InvalidInput, MissingExtra
from shared_core.formats import FORMATS, Conversation, detect, json_stream, json_values, read

OPENAI = {"role": "user", "content": "你好 👋"}
LANGCHAIN = {"type": "human", "data": {"content": "你好 👋"}}
CHATGPT = {
    "title": "t",
    "mapping": {
        "a": {"message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["你好 👋"]}}}
    },
    "current_node": "a",
}
LOCOMO = {"qa": [], "conversation": {"session_1": [{"speaker": "A", "text": "你好 👋"}]}, "sample_id": "s"}
LLAMAINDEX = {"role": "user", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "你好 👋"}]}
EACH = {"openai": OPENAI, "langchain": LANGCHAIN, "chatgpt": CHATGPT, "locomo": LOCOMO, "llamaindex": LLAMAINDEX}


def everything(path: Path, format: str | None = None) -> list[str]:
    return [message.text for conversation in read(path, format) for message in conversation.messages]


def fault(path: Path, format: str | None = None) -> str:
    with pytest.raises(InvalidInput) as caught:
        everything(path, format)
    return str(caught.value)


def test_every_format_has_its_test_here():
    assert set(EACH) == set(FORMATS)


@pytest.mark.parametrize("format", EACH)
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf", b"\xef\xbb\xbf \r\n\n"])
@pytest.mark.parametrize("wrap", [lambda each: each, lambda each: [each], lambda each: [each, each]])
def test_a_json_file_is_recognised_and_read_with_any_layout_and_mark(write, format, indent, mark, wrap):
    text = json.dumps(wrap(EACH[format]), ensure_ascii=False, indent=indent)
    path = write("x.json", mark + text.encode())
    assert detect(path) == format
    assert set(everything(path)) == {"你好 👋"}


@pytest.mark.parametrize("format", EACH)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_jsonl_file_is_recognised_and_read_without_ijson(write, monkeypatch, format, mark):
    monkeypatch.setitem(sys.modules, "ijson", None)
    path = write("x.jsonl", mark + (json.dumps(EACH[format]) + "\n").encode() * 2)
    assert detect(path) == format
    assert len(everything(path)) == 2


def test_the_path_may_be_text_and_the_value_is_frozen(write):
    [conversation] = read(str(write("x.json", [OPENAI])))
    assert isinstance(conversation, Conversation)
    with pytest.raises(AttributeError):
        conversation.session = "other"  # type: ignore[misc]


def test_a_missing_ijson_says_what_to_install(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "ijson", None)
    with pytest.raises(MissingExtra, match="pip install ijson"):
        everything(write("x.json", [OPENAI], indent=2))


@pytest.mark.parametrize("content", [[], {}, [1], [{"a": 1}], {"a": {"b": 1}}, [[]], [None], "[{"])
def test_an_unknown_shape_is_refused_with_the_list_of_formats(write, content):
    for call in (detect, read):
        with pytest.raises(InvalidInput, match=r"locomo.*chatgpt.*langchain.*openai"):
            call(write("x.json", content))


def test_an_unknown_format_is_refused_at_once_with_the_list_of_formats(write):
    with pytest.raises(InvalidInput, match=r"unknown format 'whatsapp'.*locomo.*openai"):
        read(write("x.json", [OPENAI]), "whatsapp")


def test_a_list_without_conversations_is_empty_when_its_format_is_given(write):
    assert [everything(write("x.json", []), format) for format in FORMATS] == [[] for _ in FORMATS]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf \n\n", "is empty"),
        (b"hello", "begins with b'hello'"),
        ('[{"role": "user"}]'.encode("utf-16"), "UTF-16"),
        (b"PK\x03\x04rest", "compressed"),
        (b"\x1f\x8brest", "compressed"),
    ],
)
def test_what_is_not_json_is_refused_at_once_and_named(write, content, says):
    for call in (detect, read):
        with pytest.raises(InvalidInput, match=f"x.json: .*{says}"):
            call(write("x.json", content))


def test_a_path_that_is_no_file_is_refused_at_once(tmp_path):
    with pytest.raises(InvalidInput, match="does not exist"):
        read(tmp_path / "gone.json")
    with pytest.raises(InvalidInput, match="is not a file"):
        read(tmp_path)


TAILS = [
    ('{"role": ', "broken JSON"),
    ('{"role" 5}]', "broken JSON"),
    ("nul]", "broken JSON"),
    ('{"role": "user", "content": "a\nb"}]', "broken JSON"),
    ('{"role": "user", "n": NaN}]', "broken JSON|NaN"),
    ('{"role": "user", "n": ' + "9" * 30 + "}]", "too large"),
    ('{"role": "user", "n": ' + "9" * 5000 + "}]", "broken JSON|too large"),
    ('{"role": "user", "n": 1e999}]', "too large"),
    ('{"role": "user", "n": -1e999}]', "too large"),
    ('{"role": "user", "n": ' + "[" * 101 + "]" * 101 + "}]", "nested"),
    ('{"role": "user", "n": ' + "[" * 100_000, "nested"),
    ('{"role": "user", "n": ' + '{"a":' * 100_000, "nested"),
]


@pytest.mark.parametrize(("tail", "says"), TAILS)
def test_a_broken_or_hostile_element_is_refused_with_its_number_after_those_before_it(write, tail, says):
    path = write("x.json", json.dumps([OPENAI, OPENAI], indent=1)[:-1] + ", " + tail)
    [conversation] = read(path)
    messages = iter(conversation.messages)
    assert [next(messages).text, next(messages).text] == ["你好 👋"] * 2
    with pytest.raises(InvalidInput, match=rf"x\.json, element 3: .*({says})") as caught:
        next(messages)
    assert len(str(caught.value)) < 400, "an error is read by a person"


@pytest.mark.parametrize(("tail", "says"), TAILS)
def test_a_broken_or_hostile_line_is_refused_with_its_number_after_those_before_it(write, tail, says):
    line = json.dumps(OPENAI)
    path = write("x.jsonl", f"{line}\n\n{line}\n{tail.removesuffix(']')}\n")
    [conversation] = read(path)
    messages = iter(conversation.messages)
    assert [next(messages).text, next(messages).text] == ["你好 👋"] * 2
    with pytest.raises(InvalidInput, match=rf"x\.jsonl, line 4: .*({says})") as caught:
        next(messages)
    assert len(str(caught.value)) < 400, "an error is read by a person"


@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
def test_numbers_come_as_plain_numbers_and_large_ids_stay_exact(write, name):
    row = {**LANGCHAIN, "n": [1, -2, 0.5, 1e2, 18446744073709551615, -9223372036854775808, 1e308]}
    [conversation] = read(write(name, [row]))
    [message] = conversation.messages
    numbers = message.payload["langchain"]["n"]
    assert numbers == row["n"]
    assert [type(number) for number in numbers] == [int, int, float, float, int, int, float]


@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"a": value}], ids=["lists", "objects"])
def test_nesting_up_to_the_limit_is_read(write, name, wrap):
    deep = 1
    for _ in range(json_values.MAX_DEPTH - 1):  # the message itself is the first level
        deep = wrap(deep)
    assert everything(write(name, [{**OPENAI, "deep": deep}])) == ["你好 👋"]
    path = write(name, [{**OPENAI, "deep": wrap(deep)}])
    assert "nested" in fault(path, "openai")


@pytest.mark.parametrize(
    ("name", "head", "place"),
    [("x.json", '[\n{"role": "user", "content": "ok"},\n', "line 3"), ("x.jsonl", '\n{"role": "user"}\n', "line 3")],
)
@pytest.mark.parametrize("bad", [b'{"role": "user", "content": "caf\xe9"}', b'{"role": "user\xe4\xbd'])
def test_text_that_is_not_utf8_is_refused_with_its_line_after_what_came_before(write, name, head, place, bad):
    path = write(name, head.encode() + bad)
    [conversation] = read(path)
    messages = iter(conversation.messages)
    assert next(messages).role == "user"
    with pytest.raises(InvalidInput, match=rf"{name}, {place}: not valid UTF-8 \(byte 0x"):
        next(messages)


@pytest.mark.parametrize("cut", range(3))
def test_a_character_cut_by_the_read_buffer_is_not_taken_for_bad_utf8(write, cut):
    text = "a" * cut + "猫🐱" * 30_000
    assert everything(write("x.json", [{"role": "user", "content": text}])) == [text]


def test_what_stands_between_a_cut_character_and_a_bad_byte_still_arrives(write):
    buffer = 64 * 1024
    head = '[{"role": "user", "content": "'
    filler = "x" * (buffer - len(head) - 2)  # so that the buffer ends within the next character
    raw = f'{head}{filler}猫"}}, {json.dumps(OPENAI)}, {{"role": "user'.encode() + b'\xff"}]'
    assert raw[buffer - 2 : buffer + 1].decode() == "猫"
    [conversation] = read(write("x.json", raw))
    messages = iter(conversation.messages)
    assert [next(messages).text[-1] for _ in range(2)] == ["猫", "👋"]
    with pytest.raises(InvalidInput, match="not valid UTF-8"):
        next(messages)


@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
def test_half_an_emoji_does_not_make_a_message_unstorable(write, name):
    row = r'{"role": "user", "content": "a\ud83d b\uDE00 \ud83d\ude00 \\ud83d 猫"}'
    path = write(name, f"[{row}]" if name == "x.json" else row)
    assert everything(path) == ["a\ufffd b\ufffd 😀 \\ud83d 猫"]


@pytest.mark.parametrize(("name", "place"), [("x.json", "element 2"), ("x.jsonl", "line 2")])
def test_an_item_too_large_to_hold_is_refused(write, monkeypatch, name, place):
    monkeypatch.setattr(json_stream, "MAX_ITEM_BYTES", 200_000)
    path = write(name, [OPENAI, {"role": "user", "content": "x" * 400_000}])
    assert f"{name}, {place}: larger than" in fault(path)


@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
def test_a_file_larger_than_an_item_may_be_is_read_when_its_items_are_small(write, monkeypatch, name):
    monkeypatch.setattr(json_stream, "MAX_ITEM_BYTES", 200_000)
    rows = [{"role": "user", "content": "x" * 1000}] * 1000
    assert len(everything(write(name, rows))) == 1000
    if name == "x.json":
        assert len(everything(write(name, {"messages": rows, "a": ["y" * 1000] * 300}), "openai")) == 1000


def test_text_after_the_end_is_refused_and_the_suffix_for_lines_is_named(write):
    path = write("x.json", json.dumps([OPENAI], indent=1) + "[]")
    assert ".jsonl" in fault(path)
    path = write("x.json", json.dumps({"messages": [OPENAI]}, indent=1) + "x")
    assert ".jsonl" in fault(path)


def test_lines_too_long_to_be_recognised_are_read_once_the_suffix_says_so(write):
    text = (json.dumps({"role": "user", "content": "x" * (json_stream.PROBE_BYTES + 1)}) + "\n") * 2
    assert ".jsonl" in fault(write("x.json", text))
    assert len(everything(write("x.jsonl", text))) == 2


class _Counting:
    """Counts the bytes that are read of the files a reader opens."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bytes = 0
        real = json_stream._open

        def opened(path: Path) -> Any:
            file = real(path)
            counting = self

            class File:
                def read(self, size: int = -1) -> bytes:
                    data = file.read(size)
                    counting.bytes += len(data)
                    return data

                def readline(self, size: int = -1) -> bytes:
                    data = file.readline(size)
                    counting.bytes += len(data)
                    return data

                def close(self) -> None:
                    file.close()

                def __enter__(self) -> Any:
                    return self

                def __exit__(self, *_: object) -> None:
                    file.close()

            return File()

        monkeypatch.setattr(json_stream, "_open", opened)


@pytest.mark.parametrize("format", EACH)
@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
def test_the_first_conversation_of_a_large_file_arrives_without_reading_the_file(write, monkeypatch, format, name):
    rows = [EACH[format]] * 20_000
    path = write(name, rows)
    counting = _Counting(monkeypatch)
    conversation = next(read(path))
    assert next(iter(conversation.messages)).text == "你好 👋"
    assert counting.bytes < 400_000 < path.stat().st_size


def test_a_large_object_of_messages_is_streamed_too(write, monkeypatch):
    path = write("x.json", {"id": "c", "messages": [OPENAI] * 200_000})
    counting = _Counting(monkeypatch)
    conversation = next(read(path))
    assert next(iter(conversation.messages)).text == "你好 👋"
    assert counting.bytes < 4_000_000 < path.stat().st_size


def test_messages_can_be_read_again_and_the_reader_may_go_on_without_them(write):
    found = list(read(write("x.json", [OPENAI, OPENAI])))
    assert [len(list(found[0].messages)) for _ in range(2)] == [2, 2]
    keyed = list(read(write("x.json", {"a": [OPENAI], "b": [OPENAI, OPENAI]})))
    assert [(each.session, len(list(each.messages))) for each in keyed] == [("a", 1), ("b", 2)]


def test_no_file_stays_open_when_a_reader_is_left_early(write):
    conversations = read(write("x.json", [CHATGPT] * 5_000))
    next(conversations)
    del conversations  # with -W error an unclosed file would fail the run


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("other", EACH)
def test_a_wrong_format_given_by_hand_says_what_was_expected(write, format, other):
    if format != other:
        assert "expected" in fault(write("x.json", [EACH[other]]), format)


HOSTILE = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def assert_only_refuses(path: Path, format: str) -> None:
    """Reads the file; any error but a refusal that names the file, and any unusable message, fails the test."""
    refusal = ""
    try:
        found = [(each.session, message) for each in read(path, format) for message in each.messages]
    except InvalidInput as error:
        found, refusal = [], str(error)
    assert not refusal or refusal.startswith(path.name)
    for session, message in found:
        assert session
        assert message.id
        assert message.role
        assert message.created_at is None or message.created_at.utcoffset() is not None


CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
RICH: dict[str, Any] = {
    "llamaindex": [
        {
            "role": "assistant",
            "additional_kwargs": {
                "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
                "name": "n",
            },
            "blocks": [
                {"block_type": "text", "text": "hi"},
                {"block_type": "image", "url": "x"},
                {"block_type": "tool_call", "tool_call_id": "c", "tool_name": "f", "tool_kwargs": {"a": 1}},
            ],
        }
    ],
    "openai": [
        {
            "id": "c",
            "user": "u",
            "messages": [
                {"role": "user", "id": "1", "name": "n", "created_at": 5, "content": [{"type": "text", "text": "hi"}]},
                {"role": "assistant", "tool_calls": [CALL], "function_call": {"name": "f", "arguments": "{}"}},
                {"role": "tool", "tool_call_id": "c", "content": [{"text": {"value": "x"}}]},
            ],
        }
    ],
    "langchain": {
        "monday": [
            {"type": "ai", "data": {"content": "x", "tool_calls": [{"name": "f", "args": {}, "id": "c"}], "id": "1"}},
            {"type": "ai", "data": {"content": ["x"], "additional_kwargs": {"tool_calls": [CALL], "lc_source": "x"}}},
            {"type": "chat", "data": {"role": "user", "content": [{"type": "text", "text": "x"}], "name": "n"}},
        ]
    },
    "chatgpt": [
        {
            "id": "c",
            "create_time": 5.5,
            "current_node": "b",
            "mapping": {
                "a": {
                    "parent": None,
                    "message": {
                        "id": "m",
                        "author": {"role": "user", "name": "n"},
                        "create_time": 5.5,
                        "metadata": {"is_visually_hidden_from_conversation": False},
                        "content": {
                            "content_type": "multimodal_text",
                            "parts": ["x", {"content_type": "p", "text": "y"}],
                        },
                    },
                },
                "b": {"parent": "a", "message": {"author": {"role": "tool"}, "content": {"text": "x", "result": "y"}}},
            },
        }
    ],
    "locomo": [
        {
            "sample_id": "s",
            "conversation": {
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_1": [
                    {"speaker": "A", "dia_id": "D1:1", "text": "x", "blip_caption": "y"},
                    {"speaker": "A", "dia_id": "D1:2", "clean_text": "x", "date_time": "29.12.2023, 19:07:19"},
                ],
            },
        }
    ],
}
ODD: list[Any] = [None, True, 0, -1, 7.5, 1e300, 10**18, "", " ", "a", "b", "\x00", [], [[]], [None], [5], {}, {"a": 1}]
ODD += [
    {"a": []},
    {"value": 5},
    {"role": "user"},
    {"messages": 5},
    "9999-12-31T23:59:59-23:00",
    "0001-01-01T00:00:00+23:00",
]


def changed(value: Any) -> Iterator[Any]:
    """Every copy of the value in which one thing inside is replaced by an odd one, or missing."""
    yield from ODD
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        for inner in changed(value[key]):
            copy = value.copy()
            copy[key] = inner
            yield copy
        copy = value.copy()
        del copy[key]
        yield copy


@pytest.mark.parametrize("format", FORMATS)
def test_no_odd_value_anywhere_ends_in_anything_but_messages_or_a_refusal(tmp_path, format):
    assert everything(_written(tmp_path, RICH[format]), format)
    for value in changed(RICH[format]):
        if isinstance(value, list | dict):
            assert_only_refuses(_written(tmp_path, value), format)


def _written(folder: Path, value: Any) -> Path:
    path = folder / "x.json"
    path.write_text(json.dumps(value))
    return path


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
@HOSTILE
@given(at=st.floats(0, 1), noise=st.binary(max_size=4), gone=st.integers(0, 40))
def test_no_damage_to_a_file_ends_in_anything_but_messages_or_a_refusal(tmp_path, format, name, at, noise, gone):
    rows = [json.dumps(EACH[format], ensure_ascii=False)] * 3
    raw = ("[" + ",\n".join(rows) + "]" if name == "x.json" else "\n".join(rows)).encode()
    start = int(at * len(raw))
    path = tmp_path / name
    path.write_bytes(raw[:start] + noise + raw[start + gone :])
    assert_only_refuses(path, format)
