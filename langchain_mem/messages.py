"""LangChain messages as the memory's own, and back.

LangChain's dict of a message (`message_to_dict`) is kept whole as the payload, beside the neutral
role, text and tool calls that any framework reads: a round trip through a neutral form alone loses
ids, usage, artifacts and status. Values that JSON has no form for are tagged with their type when
they are written, or refused there; reading never fails: what can't be restored comes back in the
form the neutral fields give.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    BaseMessageChunk,
    ChatMessage,
    HumanMessage,
    InvalidToolCall,
    RemoveMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    message_chunk_to_message,
    message_to_dict,
    messages_from_dict,
)
from langchain_core.version import VERSION

from shared_core.errors import InvalidInput, InvalidType
from shared_core.recall.text import clean
from shared_core.values import Message

NAME = "langchain"
"""The key of LangChain's own dict in a message's payload."""

_SCHEMA = 1
_TAG = "__twinmem__"
_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}
_DEEPEST = 200


def to_core(message: BaseMessage) -> Message:
    """A message as the memory keeps it; the argument is left as it is.

    A chunk is stored as the message it is part of. Raises `InvalidType` for what is no message or
    holds what JSON can't keep, `InvalidInput` for a RemoveMessage, which is an instruction.
    """
    if not isinstance(message, BaseMessage):
        raise InvalidType(f"a LangChain message is a BaseMessage, not {type(message).__name__}")
    if isinstance(message, RemoveMessage):
        raise InvalidInput("a RemoveMessage says what to take away; it can't be stored as a message")
    if isinstance(message, BaseMessageChunk):
        message = _whole(message)
    raw = message_to_dict(message)
    data = _encoded(raw["data"], "message")
    payload = {"type": raw["type"], "data": data, "schema": _SCHEMA, "core": VERSION}
    calls = data.get("tool_calls") or []
    return Message(
        role=_role(message),
        content=_readable(message.content, data.get("content")),
        id=message.id if message.id and message.id.strip() else None,
        name=message.name,
        tool_calls=tuple({"id": call.get("id"), "name": call["name"], "args": call["args"]} for call in calls),
        tool_call_id=data.get("tool_call_id"),
        payload={NAME: payload},
    )


def from_core(message: Message) -> BaseMessage:
    """The very message that was stored; of another framework's message, a faithful form."""
    own = (message.payload or {}).get(NAME)
    if isinstance(own, Mapping):
        try:
            return messages_from_dict([{"type": own["type"], "data": _decoded(own["data"])}])[0]
        except (KeyError, TypeError, ValueError):
            # One row that a later or a damaged version wrote must not make a conversation unreadable.
            pass
    return _neutral(message)


def is_summary(message: BaseMessage) -> bool:
    """Whether SummarizationMiddleware wrote this: it has a human's type, but no human said it."""
    return message.additional_kwargs.get("lc_source") == "summarization"


def _whole(chunk: BaseMessage) -> BaseMessage:
    whole = message_chunk_to_message(chunk)
    for key, value in (chunk.model_extra or {}).items():  # which the conversion drops
        setattr(whole, key, value)
    return whole


def _readable(content: Any, encoded: Any) -> Any:
    """The content as any framework reads it: texts stay texts, whatever characters they hold."""
    if not isinstance(content, list):
        return content
    return [
        part if isinstance(part, str) else {**kept, "text": part["text"]} if isinstance(part.get("text"), str) else kept
        for part, kept in zip(content, encoded, strict=True)
    ]


def _role(message: BaseMessage) -> str:
    if is_summary(message):
        return "system"
    if isinstance(message, ChatMessage):
        return message.role if message.role.strip() else "user"
    return _ROLES.get(message.type, "user")


def _neutral(message: Message) -> BaseMessage:
    content = _content(message.content)
    fields: dict[str, Any] = {"content": content, "id": message.id, "name": message.name}
    if message.role == "user":
        return HumanMessage(**fields)
    if message.role == "assistant":
        valid, invalid = _tool_calls(message.tool_calls)
        return AIMessage(**fields, tool_calls=valid, invalid_tool_calls=invalid)
    if message.role == "system":
        return SystemMessage(**fields)
    if message.role == "tool":
        return ToolMessage(**fields, tool_call_id=message.tool_call_id or "")
    return ChatMessage(**fields, role=message.role)


def _content(content: Any) -> Any:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return [dict(content)]
    if not isinstance(content, list | tuple):
        return str(content)
    return [part if isinstance(part, str) else dict(part) for part in content if isinstance(part, str | Mapping)]


def _tool_calls(calls: Iterable[Mapping[str, Any]]) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    valid: list[ToolCall] = []
    invalid: list[InvalidToolCall] = []
    for call in calls:
        args = {} if call.get("args") is None else call["args"]
        name, id = str(call.get("name") or ""), call.get("id")
        if isinstance(args, Mapping):
            valid.append(ToolCall(name=name, args=dict(args), id=id, type="tool_call"))
        else:
            invalid.append(InvalidToolCall(name=name, args=str(args), id=id, error=None, type="invalid_tool_call"))
    return valid, invalid


# ---------------------------------------------------------------------- values JSON has no form for


def _encoded(value: Any, where: str, depth: int = 0) -> Any:
    if isinstance(value, Enum):
        value = value.value
    if type(value) is str and clean(value) != value:  # a lone surrogate, which no database keeps
        return {_TAG: "str", "value": json.dumps(value)}
    if value is None or type(value) in (bool, int, float, str):
        return value
    if depth > _DEEPEST:
        raise InvalidInput(f"{where} is nested too deeply, or holds itself; give a value that JSON can keep")
    if isinstance(value, bool | int | float | str):  # subclasses, such as numpy.float64
        return _encoded(next(kind(value) for kind in (bool, int, float, str) if isinstance(value, kind)), where)
    if isinstance(value, Mapping):
        if _TAG not in value and all(type(key) is str and clean(key) == key for key in value):
            return {key: _encoded(part, f"{where}.{key}", depth + 1) for key, part in value.items()}
        pairs = [[_encoded(key, where, depth + 1), _encoded(part, f"{where}.{key}", depth + 1)]
                 for key, part in value.items()]  # fmt: skip
        return {_TAG: "dict", "value": pairs}
    if isinstance(value, list):
        return [_encoded(part, f"{where}[{i}]", depth + 1) for i, part in enumerate(value)]
    if isinstance(value, tuple | set | frozenset):
        parts = [_encoded(part, where, depth + 1) for part in value]
        name = next(kind.__name__ for kind in (tuple, set, frozenset) if isinstance(value, kind))
        return {_TAG: name, "value": parts if isinstance(value, tuple) else sorted(parts, key=repr)}
    for kind, write in _WRITERS:
        if isinstance(value, kind):
            return {_TAG: kind.__name__, "value": write(value)}
    if callable(getattr(value, "model_dump", None)):
        return _encoded(value.model_dump(), where, depth + 1)
    if callable(getattr(value, "tolist", None)) and hasattr(value, "dtype"):  # numpy's scalars and arrays
        return _encoded(value.tolist(), where, depth + 1)
    raise InvalidType(f"{where} is a {type(value).__name__}, which can't be kept; turn it into text or a dict first")


def _written_delta(value: timedelta) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


# A datetime is a date, so it comes first.
_WRITERS: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (bytes, lambda v: base64.b64encode(v).decode("ascii")),
    (datetime, datetime.isoformat),
    (date, date.isoformat),
    (time, time.isoformat),
    (timedelta, _written_delta),
    (UUID, str),
    (Decimal, str),
)
_READERS: dict[str, Callable[[Any], Any]] = {
    "str": json.loads,
    "bytes": base64.b64decode,
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "timedelta": lambda v: timedelta(*v),
    "UUID": UUID,
    "Decimal": Decimal,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "dict": dict,
}


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(part) for part in value]
    if not isinstance(value, dict):
        return value
    if _TAG not in value:
        return {key: _decoded(part) for key, part in value.items()}
    inner = _decoded(value.get("value"))
    read = _READERS.get(value[_TAG])
    try:
        return inner if read is None else read(inner)
    except (ArithmeticError, TypeError, ValueError):  # a redactor took part of it: what is left is text
        return inner
