"""LoCoMo, the public set of long conversations, and sets of its shape such as REALTALK.

A sample holds `session_1`, `session_1_date_time` and so on, in LoCoMo under `conversation`. Both
speakers are people, so every turn has the role user and its speaker as name. A turn has no time of
its own in LoCoMo: it gets the session's, moved on by three seconds a turn, so that order in time is
the order of the talk. REALTALK's turns have `date_time` and `clean_text`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.formats.conversation import Conversation, as_name, at, moment, to_message
from shared_core.formats.json_stream import Layout, Source
from shared_core.values import Message

_PACE = timedelta(seconds=3)
_TICK = timedelta(milliseconds=1)
_SESSION = re.compile(r"session_(\d+)")
_SPOKEN = re.compile(r"(\d{1,2}):(\d{2})\s*([ap])m on (\d{1,2}) ([a-z]+),? (\d{4})", re.IGNORECASE)
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4}), (\d{1,2}):(\d{2})(?::(\d{2}))?")
# Not strptime's %B, which reads the month names of the machine's language.
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def read(source: Source) -> Iterator[Conversation]:
    """One conversation a session: "session_1" of the user named by `sample_id`.

    A sample without `sample_id` belongs to no user; the file's name then stands in front of its
    sessions, since the turns of two such files have the same ids.
    """
    for number, (where, sample) in enumerate(source.items(), 1):
        stem = source.stem if source.layout is Layout.OBJECT else f"{source.stem}-{number}"
        yield from conversations(sample, where, stem)


def conversations(sample: Any, where: str, stem: str) -> Iterator[Conversation]:
    """The sessions of one sample; `where` is its place in messages, `stem` what names it if it doesn't itself."""
    with at(where):
        sessions = _sessions(sample)
        user = as_name(sample.get("sample_id"))
    body = _body(sample)
    for key in sessions:
        session = key if user else f"{stem} {key}"
        with at(f"{where}, {key}"):
            messages = tuple(_turns(body[key], _start(body.get(f"{key}_date_time")), session))
        yield Conversation(user, session, messages)


def matches(sample: Any) -> bool:
    """Whether a file's first item is a sample with sessions.

    >>> matches({"sample_id": "x-1", "conversation": {"session_1": []}}), matches({"role": "user"})
    (True, False)
    """
    return isinstance(sample, dict) and any(_SESSION.fullmatch(key) for key in _body(sample))


def _body(sample: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = sample.get("conversation")
    return inner if isinstance(inner, dict) else sample


def _sessions(sample: Any) -> list[str]:
    if not matches(sample):
        raise InvalidInput("expected a LoCoMo sample: an object with 'conversation' that holds 'session_1' and so on")
    body = _body(sample)
    numbers = {key: int(found[1]) for key in body if (found := _SESSION.fullmatch(key))}
    return sorted(numbers, key=numbers.__getitem__)


def _turns(turns: Any, start: datetime | None, session: str) -> Iterator[Message]:
    if not isinstance(turns, list):
        raise InvalidInput(f"a session is a list of turns, not {type(turns).__name__}")
    last: datetime | None = None
    for position, turn in enumerate(turns):
        with at(f"turn {position + 1}"):
            if not isinstance(turn, dict):
                raise InvalidInput(f"a turn is an object with 'speaker' and 'text', not {type(turn).__name__}")
            time = _start(turn.get("date_time")) or (start and start + position * _PACE)
            if time and last and time <= last:  # two turns within a second keep their order
                time = last + _TICK
            last = time or last
            fields = {
                "role": "user",
                "content": text_of(turn),
                "id": as_name(turn.get("dia_id")),
                "name": as_name(turn.get("speaker")),
                "created_at": time,
            }
            message = to_message(fields, session, position)
        if message.content:
            yield message


def text_of(turn: Mapping[str, Any]) -> str:
    """The turn's words, followed by what is on the photo it shares.

    >>> text_of({"text": "Look!", "blip_caption": "a red kite"})
    'Look! [shares a photo: a red kite]'
    """
    text = turn["text"] if turn.get("text") is not None else turn.get("clean_text", "")
    caption = turn.get("blip_caption")
    for name, value in (("text", text), ("blip_caption", caption)):
        if value is not None and not isinstance(value, str):
            raise InvalidInput(f"{name} is text, not {type(value).__name__}")
    return f"{text or ''} [shares a photo: {caption}]".lstrip() if caption else text or ""


def _start(value: Any) -> datetime | None:
    """A LoCoMo or REALTALK time, both taken as UTC, or an ISO 8601 one with an offset.

    >>> _start("1:56 pm on 8 May, 2023").isoformat(), _start("29.12.2023, 19:07:19").isoformat()
    ('2023-05-08T13:56:00+00:00', '2023-12-29T19:07:19+00:00')
    """
    if value is None or isinstance(value, int | float):
        return moment(value)
    text = value.strip() if isinstance(value, str) else ""
    try:
        if found := _SPOKEN.fullmatch(text):
            hour, minute, half, day, month, year = found.groups()
            if not 1 <= int(hour) <= 12:
                raise ValueError("an hour before am or pm is 1 to 12")
            hours = int(hour) % 12 + (12 if half.lower() == "p" else 0)
            return datetime(int(year), _MONTHS.index(month[:3].lower()) + 1, int(day), hours, int(minute), tzinfo=UTC)
        if found := _DOTTED.fullmatch(text):
            day, month, year, hour, minute, second = (int(number or 0) for number in found.groups())
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        return moment(value)
    except ValueError as error:
        raise InvalidInput(f"expected a time like '1:56 pm on 8 May, 2023', got {value!r}") from error
