"""OpenAI-style messages: `{"role": "user", "content": "..."}`, in lists, in `{"messages": [...]}`, in JSONL.

The form of chat completions, fine-tuning files and most logs. Content may be text or parts; tool
calls come nested under `function`, or as the older single `function_call`. Of the keys that are
not OpenAI's, only `created_at` is read (seconds since 1970, or ISO 8601 with an offset).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.formats import message_lists
from shared_core.formats.conversation import Conversation, as_name, moment
from shared_core.formats.json_stream import Source


def read(source: Source) -> Iterator[Conversation]:
    """The conversations of a file of OpenAI-style messages."""
    return message_lists.conversations(source, _DIALECT)


def matches(sample: Any) -> bool:
    """Whether a file's first item is such a message or holds some.

    >>> matches([{"role": "user", "content": "hi"}]), matches({"mapping": {}})
    (True, False)
    """
    return message_lists.matches(_DIALECT, sample)


def _is_message(value: Any) -> bool:
    # LlamaIndex keeps what is said in `blocks`; read here it would come out silent.
    return (
        isinstance(value, dict)
        and "role" in value
        and "messages" not in value
        and not ("blocks" in value and "content" not in value)
    )


def _fields(value: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "role": value["role"],
        "content": _content(value.get("content")),
        "id": as_name(value.get("id")),
        "name": value.get("name"),
        "created_at": moment(value.get("created_at")),
        "tool_calls": _tool_calls(value),
        "tool_call_id": value.get("tool_call_id"),
    }


def _content(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return [_part(part) for part in content]


def _part(part: Any) -> Any:
    # The Assistants API wraps the text of a part once more: {"text": {"value": "...", "annotations": []}}.
    text = part.get("text") if isinstance(part, dict) else None
    return {**part, "text": text["value"]} if isinstance(text, dict) and "value" in text else part


def _tool_calls(value: Mapping[str, Any]) -> list[Any]:
    calls = value.get("tool_calls") or []
    if not isinstance(calls, list):
        raise InvalidInput(f"tool_calls is a list, not {type(calls).__name__}")
    older = value.get("function_call")
    return [*calls, {"id": None, "function": older}] if isinstance(older, dict) else calls


_DIALECT = message_lists.Dialect(_is_message, _fields, "a message with 'role' and 'content'")
