"""Files that hold messages directly, in whatever dialect: lists, JSONL, and conversations of them.

One shape serves the formats built on it. An item of the file is

- a message: then the whole file is one conversation, named after the file and streamed;
- a conversation: a list of messages, or an object with `messages` and perhaps its own name and user;
- an object of lists: one conversation for each key, named by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.formats.conversation import Conversation, MessageStream, as_name, at, to_message
from shared_core.formats.json_stream import Item, Layout, Source
from shared_core.values import Message

_SESSION_KEYS = ("session", "session_id", "conversation_id", "thread_id", "id")
_USER_KEYS = ("user", "user_id")


@dataclass(frozen=True)
class Dialect:
    """How one framework writes a message.

    `is_message` tells a message by its shape, `fields` gives `as_message`'s fields of one (None
    for what is not part of the conversation), `expected` describes it in error messages.
    """

    is_message: Callable[[Any], bool]
    fields: Callable[[Mapping[str, Any]], dict[str, Any] | None]
    expected: str


def matches(dialect: Dialect, sample: Any) -> bool:
    """Whether the first item of a file holds messages of this dialect."""
    return dialect.is_message(_first_message(dialect, sample))


def _first_message(dialect: Dialect, sample: Any) -> Any:
    if isinstance(sample, dict) and not dialect.is_message(sample):
        lists = sample["messages"] if "messages" in sample else next(iter(sample.values()), None)
        return _first_message(dialect, lists) if isinstance(lists, list) else None
    return (sample[0] if sample else None) if isinstance(sample, list) else sample


def conversations(source: Source, dialect: Dialect) -> Iterator[Conversation]:
    """The conversations of a file in this dialect, in the order of the file."""
    sample = source.peek()
    stem = source.stem
    if dialect.is_message(sample):
        yield Conversation(None, stem, _stream(source.items, stem, dialect))
    elif source.layout is Layout.OBJECT and isinstance(sample, dict) and "messages" in sample:
        # Streamed, so a name or user that stands behind the first megabyte of messages is not seen.
        session = _named(sample, _SESSION_KEYS) or stem
        messages = _stream(lambda: source.members("messages"), session, dialect)
        yield Conversation(_named(sample, _USER_KEYS), session, messages)
    elif source.layout is Layout.OBJECT:
        for key, item in source.entries():
            yield from _of_item(item, as_name(key) or stem, dialect)
    else:
        for number, item in enumerate(source.items(), 1):
            yield from _of_item(item, f"{stem}-{number}", dialect)


def _of_item(item: Item, session: str, dialect: Dialect) -> Iterator[Conversation]:
    value = item.value
    if isinstance(value, list):
        yield Conversation(None, session, _whole(value, item.where, session, dialect))
    elif isinstance(value, dict) and "messages" in value:
        session = _named(value, _SESSION_KEYS) or session
        messages = _whole(value["messages"], item.where, session, dialect)
        yield Conversation(_named(value, _USER_KEYS), session, messages)
    elif isinstance(value, dict) and value and all(isinstance(each, list) for each in value.values()):
        for key, each in value.items():
            name = as_name(key) or session
            yield Conversation(None, name, _whole(each, f"{item.where}, key {key!r}", name, dialect))
    elif dialect.is_message(value):
        raise InvalidInput(f"{item.where}: a single message among conversations; give each kind its own file")
    else:
        raise InvalidInput(f"{item.where}: expected {dialect.expected}, or a list of them, or one under 'messages'")


def _whole(values: Any, where: str, session: str, dialect: Dialect) -> tuple[Message, ...]:
    if not isinstance(values, list):
        raise InvalidInput(f"{where}: 'messages' is a list, not {type(values).__name__}")
    items = (Item(f"{where}, message {number}", value) for number, value in enumerate(values, 1))
    return tuple(_messages(items, session, dialect))


def _stream(items: Callable[[], Iterable[Item]], session: str, dialect: Dialect) -> MessageStream:
    return MessageStream(lambda: _messages(items(), session, dialect))


def _messages(items: Iterable[Item], session: str, dialect: Dialect) -> Iterator[Message]:
    for position, (where, value) in enumerate(items):
        with at(where):
            if not dialect.is_message(value):
                raise InvalidInput(f"expected {dialect.expected}")
            fields = dialect.fields(value)
            message = None if fields is None else to_message(fields, session, position)
        if message is not None:
            yield message


def _named(value: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((name for key in keys if (name := as_name(value.get(key)))), None)
