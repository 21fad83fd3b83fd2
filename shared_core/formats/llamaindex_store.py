"""LlamaIndex chat stores as JSON, read without LlamaIndex.

`SimpleChatStore.persist` writes `{"store": {key: [messages]}}`, a `ChatMemoryBuffer` or
`ChatSummaryMemoryBuffer` holds that under "chat_store". A message has `role`, `blocks` (older ones:
`content`) and `additional_kwargs`; it is kept whole as the payload under "llamaindex", so that the
adapter can restore the very message. A list of such messages is read as one conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.formats import message_lists
from shared_core.formats.conversation import Conversation, as_name, at, to_message
from shared_core.formats.json_stream import Source
from shared_core.values import Message

_ROLES = {
    "user": "user", "human": "user", "assistant": "assistant", "chatbot": "assistant", "model": "assistant",
    "system": "system", "developer": "system", "tool": "tool", "function": "tool",
}  # fmt: skip
_TEXT, _CALL, _THOUGHT = "text", "tool_call", "thinking"
_EXPECTED = "a LlamaIndex message with 'role' and 'blocks'"


def matches(sample: Any) -> bool:
    """Whether a file's first item is such a store, or holds messages of LlamaIndex.

    >>> matches({"store": {"alice": [{"role": "user", "blocks": []}]}, "class_name": "SimpleChatStore"})
    True
    >>> matches({"role": "user", "content": "hi"})
    False
    """
    return (isinstance(sample, dict) and _store(sample) is not None) or message_lists.matches(_DIALECT, sample)


def _store(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    inner = value.get("chat_store")
    found = inner.get("store") if isinstance(inner, dict) else value.get("store")
    return found if isinstance(found, dict) and all(isinstance(each, list) for each in found.values()) else None


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("role"), str)
        and (isinstance(value.get("blocks"), list) or "additional_kwargs" in value)
    )


def read(source: Source) -> Iterator[Conversation]:
    """The conversations of a file, each under its key."""
    sample = source.peek()
    if not isinstance(sample, dict) or _store(sample) is None:
        yield from message_lists.conversations(source, _DIALECT)
        return
    for where, value in source.items():
        with at(where):
            store = _store(value) if isinstance(value, dict) else None
            if store is None:
                raise InvalidInput("expected a chat store {'store': {...}}, its conversations lists of messages")
            found = [
                Conversation(None, as_name(key) or source.stem, tuple(_messages(each, key)))
                for key, each in store.items()
            ]
        yield from found


def _messages(values: list[Any], session: str) -> Iterator[Message]:
    for position, value in enumerate(values):
        with at(f"{session!r}, message {position + 1}"):
            if not _is_message(value):
                raise InvalidInput(f"expected {_EXPECTED}")
            message = to_message(_fields(value), session, position)
        yield message


def _fields(value: Mapping[str, Any]) -> dict[str, Any]:
    role = str(value.get("role", "")).lower()
    if role not in _ROLES:
        raise InvalidInput(f"unknown role {role!r}; known: {', '.join(_ROLES)}")
    given = value.get("additional_kwargs")
    kwargs: dict[str, Any] = given if isinstance(given, dict) else {}
    blocks = value.get("blocks")
    if not isinstance(blocks, list):
        blocks = [{"block_type": _TEXT, "text": value.get("content") or ""}]
    answers, calls = kwargs.get("tool_call_id"), list(_calls(blocks, kwargs))
    return {
        "role": _ROLES[role], "content": _content(blocks), "tool_calls": calls,
        "tool_call_id": answers if isinstance(answers, str) and _ROLES[role] == "tool" else None,
        "name": kwargs.get("name") if isinstance(kwargs.get("name"), str) else None,
        "payload": {"llamaindex": {"role": role, "additional_kwargs": kwargs, "blocks": blocks}},
    }  # fmt: skip


def _content(blocks: list[Any]) -> Any:
    """The text where all is text, else content parts."""
    shown = [block for block in blocks if isinstance(block, dict) and block.get("block_type") not in (_CALL, _THOUGHT)]
    if all(block.get("block_type", _TEXT) == _TEXT for block in shown):
        return "\n".join(str(block.get("text") or "") for block in shown)
    return [
        {"type": "text", "text": str(block.get("text") or "")}
        if block.get("block_type") == _TEXT
        else {
            "type": str(block.get("block_type")),
            **{k: v for k, v in block.items() if k != "block_type" and v is not None},
        }
        for block in shown
    ]


def _calls(blocks: list[Any], kwargs: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for block in blocks:
        if isinstance(block, dict) and block.get("block_type") == _CALL:
            yield {
                "id": block.get("tool_call_id"),
                "name": block.get("tool_name", ""),
                "args": block.get("tool_kwargs"),
            }
    if not any(isinstance(block, dict) and block.get("block_type") == _CALL for block in blocks):
        listed = kwargs.get("tool_calls")
        yield from (call for call in (listed if isinstance(listed, list) else ()) if isinstance(call, dict))


_DIALECT = message_lists.Dialect(_is_message, _fields, _EXPECTED)
