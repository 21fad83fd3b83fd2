"""LangChain message dicts, as `messages_to_dict` gives them, read without LangChain.

`{"type": "human", "data": {...}}`, in a list, in JSONL, or in lists by session. The dict is kept
whole as the message's payload under "langchain", so the adapter can restore the very message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.formats import message_lists
from shared_core.formats.conversation import Conversation, as_name
from shared_core.formats.json_stream import Source

_ROLES = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
_EXPECTED = "a LangChain message {'type': ..., 'data': {...}}"


def read(source: Source) -> Iterator[Conversation]:
    """The conversations of a file of LangChain message dicts."""
    return message_lists.conversations(source, _DIALECT)


def matches(sample: Any) -> bool:
    """Whether a file's first item is such a message or holds some.

    >>> matches({"monday": [{"type": "human", "data": {"content": "hi"}}]})
    True
    """
    return message_lists.matches(_DIALECT, sample)


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str) and isinstance(value.get("data"), dict)


def _fields(value: Mapping[str, Any]) -> dict[str, Any] | None:
    kind, data = _kind(value["type"]), value["data"]
    if kind == "remove":  # an instruction to a state, not something that was said
        return None
    extra = data.get("additional_kwargs")
    extra = extra if isinstance(extra, dict) else {}
    calls = data.get("tool_calls") or extra.get("tool_calls") or []  # messages of old versions have the second only
    if not isinstance(calls, list):
        raise InvalidInput(f"tool_calls is a list, not {type(calls).__name__}")
    return {
        # SummarizationMiddleware writes its summary back as a human message; the user never said it.
        "role": "system" if extra.get("lc_source") == "summarization" else _role(kind, data),
        "content": data.get("content"),
        "id": as_name(data.get("id")),
        "name": data.get("name"),
        "tool_calls": calls,
        "tool_call_id": data.get("tool_call_id"),
        "payload": {"langchain": value},
    }


def _kind(name: str) -> str:
    """The type of a message, also of a chunk, whose type is its class: "AIMessageChunk" is "ai".

    >>> _kind("human"), _kind("AIMessageChunk"), _kind("ToolMessage")
    ('human', 'ai', 'tool')
    """
    return name.removesuffix("Chunk").removesuffix("Message").lower()


def _role(kind: str, data: Mapping[str, Any]) -> Any:
    if kind == "chat":
        return data.get("role")
    if kind not in _ROLES:
        raise InvalidInput(f"unknown message type {kind!r}; known: {', '.join([*_ROLES, 'chat', 'remove'])}")
    return _ROLES[kind]


_DIALECT = message_lists.Dialect(_is_message, _fields, _EXPECTED)
