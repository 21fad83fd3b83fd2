"""What every reader hands out: a conversation, its messages, and errors that name their place.

A message keeps the id its export gave it. One without gets an id made of session, position, role
and text, so that importing the same file twice names the same turns and adds nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from shared_core.errors import InvalidInput, InvalidType
from shared_core.values import Message, as_message, aware


@dataclass(frozen=True)
class Conversation:
    """One conversation of an export.

    `user` is who the memory belongs to if the file tells, else None and the caller decides.
    `session` is the same at every reading of the file: the export's own name of the conversation,
    or one made of the file's name. `messages` is a tuple, or, where one conversation fills the
    whole file, a `MessageStream`; both may be iterated more than once.
    """

    user: str | None
    session: str
    messages: Iterable[Message]


class MessageStream:
    """Messages that are read from their file anew at each iteration, so none but the current one is held.

    A broken file therefore raises while the messages are iterated, after those before the fault.
    """

    def __init__(self, start: Callable[[], Iterator[Message]]) -> None:
        self._start = start

    def __iter__(self) -> Iterator[Message]:
        return self._start()


@contextmanager
def at(where: str) -> Iterator[None]:
    """Puts the place in front of what is wrong there; nests, from the file down to the message.

    >>> with at("chat.json"), at("element 3"):
    ...     raise InvalidInput("a message needs a role")
    Traceback (most recent call last):
    shared_core.errors.InvalidInput: chat.json: element 3: a message needs a role
    """
    try:
        yield
    except (InvalidInput, InvalidType) as error:
        raise InvalidInput(f"{where}: {error}") from error
    except OverflowError as error:  # the first and last hours of the calendar have no UTC
        raise InvalidInput(f"{where}: a time is out of range ({error})") from error
    except RecursionError as error:  # a tool call's arguments are JSON inside a string, with a nesting of their own
        raise InvalidInput(f"{where}: nested too deeply; a message this deep can't be imported") from error


def to_message(fields: Mapping[str, Any], session: str, position: int) -> Message:
    """The `Message` of these fields, with an id made for it if it has none.

    Raises `InvalidInput` or `InvalidType` as `as_message` does, and for content parts that are
    neither text nor objects.
    """
    content = fields.get("content")
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, str | dict):
            raise InvalidInput(f"a part of the content is text or an object, not {type(part).__name__}")
    message = as_message(fields)
    if message.id and message.id.strip():
        return message
    return message.model_copy(update={"id": message_id(session, position, message.role, message.text)})


def message_id(session: str, position: int, role: str, text: str) -> str:
    """The id of a message whose export gave it none: the same at every import of the same file.

    >>> message_id("monday", 0, "user", "你好") == message_id("monday", 0, "user", "你好")
    True
    >>> message_id("monday", 0, "user", "你好") == message_id("monday", 1, "user", "你好")
    False
    """
    seed = json.dumps([session, position, role, text])  # JSON, so that no two fields can run into each other
    return hashlib.sha256(seed.encode()).hexdigest()[:32]


def as_name(value: Any) -> str | None:
    """A name or id out of an export: text, or a whole number as text; None for anything blank or else.

    >>> as_name(7), as_name("  "), as_name("conv-1")
    ('7', None, 'conv-1')
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value.strip() else None


def moment(value: Any) -> datetime | None:
    """A time out of an export as aware UTC: seconds since 1970, or ISO 8601 with an offset; None stays None.

    Raises `InvalidInput` for a naive or unreadable time, `InvalidType` for another type.

    >>> moment(0).isoformat(), moment("2024-05-01T10:00:00+08:00").isoformat()
    ('1970-01-01T00:00:00+00:00', '2024-05-01T02:00:00+00:00')
    """
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC)
        except (OverflowError, OSError, ValueError) as error:
            raise InvalidInput(f"a time is in seconds since 1970; {value} is out of range") from error
    return aware(value, "a time")
