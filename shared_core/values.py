"""The values that cross the public edge: frozen, validated once, safe to print and to share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from shared_core.errors import InvalidInput, InvalidType


class Kind(StrEnum):
    """What a record is."""

    TURN = "turn"  # one message of a conversation, keyed by session and message id
    FACT = "fact"  # something true of a person or a thing
    SUMMARY = "summary"  # a conversation, shortened
    EVENT = "event"  # something that happened at a time
    RULE = "rule"  # if this, then that
    ITEM = "item"  # a value of a LangGraph store; its text is optional


class Status(StrEnum):
    """Whether a record is part of what is remembered now."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"  # replaced by a newer version; kept, linked, found by `as_of`
    ARCHIVED = "archived"  # moved to cold storage; its text lives there
    WAITING = "waiting"  # contradicts another fact, and waits for the user's answer; not remembered until then


class Triple(NamedTuple):
    """A statement as subject, predicate and object: ("alice", "lives in", "Lyon")."""

    subject: str
    predicate: str
    object: str


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True, defer_build=True)


class Record(_Value):
    """One memory.

    `importance` and `confidence` lie in [0, 1]. All times are aware UTC: `created_at` when it was
    stored, `event_time` when it happened (if known), `valid_from`/`valid_until` while it was true,
    `expires_at` its hard end, `confirmed_at` when somebody last said that it still holds. `stale`: its
    type has a time to live, which has passed. `seen` counts how often the same fact was told, `accesses` how
    often it was recalled.
    """

    id: str
    kind: Kind
    text: str
    type: str | None = None
    triple: Triple | None = None
    polarity: bool = True
    entities: tuple[str, ...] = ()
    source: str = "user"
    importance: float = 0.5
    confidence: float = 1.0
    metadata: dict[str, Any] = Field(default_factory=dict)
    event_time: datetime | None = None
    expires_at: datetime | None = None
    pinned: bool = False
    session: str | None = None
    message_id: str | None = None
    role: str | None = None
    name: str | None = None
    status: Status = Status.ACTIVE
    seen: int = 1
    accesses: int = 0
    accessed_at: datetime | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    confirmed_at: datetime | None = None
    stale: bool = False
    created_at: datetime
    updated_at: datetime

    @property
    def expires_in(self) -> timedelta | None:
        """The time to live it was given, counted from its last update."""
        return None if self.expires_at is None else self.expires_at - self.updated_at

    @property
    def updated_on(self) -> datetime | None:
        """Since when it stands in the place of an earlier version; None where it replaced nothing."""
        return None if self.supersedes is None else self.valid_from or self.created_at


class Hit(_Value):
    """A recalled record.

    `score` in [0, 1], higher is better: the record's own likeness to the question. `parts` and
    `reason` are filled by `search(..., explain=True)`.
    """

    record: Record
    score: float
    parts: dict[str, float] = Field(default_factory=dict)
    reason: str = ""


class ToolCall(_Value):
    """A request of the assistant to run a tool."""

    id: str | None = None
    name: str = ""
    args: Any = None

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)


class Message(_Value):
    """One message of a conversation, in the form every chat model API shares.

    `content` is a string, None, or a list of content parts (dicts with a `type`). `payload` is
    the framework's own dict, kept whole beside this neutral form, under the framework's name.
    """

    role: str
    content: Any = None
    id: str | None = None
    name: str | None = None
    created_at: datetime | None = None
    tool_calls: tuple[dict[str, Any], ...] = ()
    tool_call_id: str | None = None
    payload: dict[str, Any] | None = Field(default=None, repr=False)

    @property
    def text(self) -> str:
        """The text parts of the content, joined by a space."""
        return content_text(self.content)


class Section(_Value):
    """One part of a context under its heading."""

    name: str
    heading: str
    text: str
    tokens: int


class Context(_Value):
    """What goes into the prompt: `text` whole, or `messages` (recent talk) and the rest apart."""

    text: str
    messages: tuple[Message, ...] = ()
    hits: tuple[Hit, ...] = ()
    sections: tuple[Section, ...] = ()
    tokens: int = 0


class Receipt(_Value):
    """Proof of an erasure: how many records went, with what belonged to them, and when."""

    count: int
    ids: tuple[str, ...] = ()
    erased: dict[str, int] = Field(default_factory=dict)
    at: datetime


class Question(_Value):
    """Two facts that can't both be true: what to ask the user, and what may be answered.

    `choices` are the new fact, the old one, and both; `scope.answer(question, choice)` takes one of
    them, its place in the list, or "new", "old" or "both". `new` and `old` are the records' ids.
    """

    id: str
    text: str
    choices: tuple[str, ...]
    new: str
    old: str
    created_at: datetime


class Change(_Value):
    """One entry of a record's history: what was done, when, and (unless erased) what changed."""

    action: str
    at: datetime
    detail: dict[str, Any] = Field(default_factory=dict)


class Problem(_Value):
    """Something `check` found: what, where, and whether `check(fix=True)` mends it."""

    what: str
    where: str
    fixable: bool


class CheckReport(_Value):
    """The result of `check`: no problems means that rows, vectors and words agree."""

    records: int
    vectors: int
    problems: tuple[Problem, ...] = ()
    fixed: int = 0

    @property
    def ok(self) -> bool:
        """True when nothing was found, or all that was found has been mended."""
        return len(self.problems) == self.fixed


class Stats(_Value):
    """How much a scope holds."""

    records: int
    by_kind: dict[str, int]
    sessions: int
    messages: int
    tokens: int
    long_term: int


_TEXTS = ("text", "input_text", "output_text")


def content_text(content: Any) -> str:
    """The text of a message's content: a string, a list of parts, or nothing.

    >>> content_text([{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {}}])
    'look'
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    parts: list[str] = []
    for part in content if isinstance(content, Sequence) else ():
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str) and part.get("type", "text") in _TEXTS:
            parts.append(part["text"])
    return " ".join(p for p in parts if p)


_MESSAGE_KEYS = frozenset(Message.model_fields)
_ROLES = {"human": "user", "ai": "assistant", "function": "tool", "developer": "system", "model": "assistant"}


def as_message(value: Message | Mapping[str, Any]) -> Message:
    """A `Message` out of a `Message` or a dict with `role`, `content` and the other known keys.

    Roles other frameworks use ("human", "ai") become the common ones; a tool call may come flat
    (`id`, `name`, `args`) or as OpenAI nests it (`function.arguments` as a JSON string).

    Raises `InvalidType` for another type, `InvalidInput` for a missing role, an unknown key or a
    naive `created_at`.

    >>> as_message({"role": "human", "content": "hi"}).role
    'user'
    """
    if isinstance(value, Message):
        return value
    if not isinstance(value, Mapping):
        raise InvalidType(f"a message is a Message or a dict with role and content, not {type(value).__name__}")
    unknown = set(value) - _MESSAGE_KEYS
    if unknown:
        raise InvalidInput(f"unknown message keys {sorted(map(str, unknown))}; known: {sorted(_MESSAGE_KEYS)}")
    role = value.get("role")
    if not isinstance(role, str) or not role.strip():
        raise InvalidInput("a message needs a role: user, assistant, system or tool")
    fields = dict(value, role=_ROLES.get(role, role))
    content = fields.get("content")
    if not isinstance(content, str | list | tuple | Mapping | None):
        raise InvalidType(f"message content is text or a list of parts, not {type(content).__name__}")
    for key in ("id", "name", "tool_call_id"):
        if fields.get(key) is not None and not isinstance(fields[key], str):
            raise InvalidType(f"message {key} is a string, not {type(fields[key]).__name__}")
    if fields.get("created_at") is not None:
        fields["created_at"] = aware(fields["created_at"], "created_at")
    fields["tool_calls"] = tuple(_tool_call(call) for call in fields.get("tool_calls") or ())
    return Message(**fields)


def _tool_call(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidType(f"a tool call is a dict with id, name and args, not {type(value).__name__}")
    function = value.get("function")
    if isinstance(function, Mapping):
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            arguments = _json_or_text(arguments)
        return {"id": value.get("id"), "name": function.get("name", ""), "args": arguments}
    return {"id": value.get("id"), "name": value.get("name", ""), "args": value.get("args")}


def _json_or_text(text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except ValueError:
        return text


def aware(value: Any, what: str) -> datetime:
    """`value` as aware UTC; a naive datetime is refused, an ISO string with an offset is read."""
    from datetime import UTC

    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError as error:
            raise InvalidInput(f"{what} is not an ISO 8601 time: {value!r}") from error
    if not isinstance(value, datetime):
        raise InvalidType(f"{what} is a timezone-aware datetime, not {type(value).__name__}")
    if value.tzinfo is None or value.utcoffset() is None:
        raise InvalidInput(f"{what} has no timezone; use datetime.now(timezone.utc) or .astimezone()")
    return value.astimezone(UTC)
