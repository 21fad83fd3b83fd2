"""A caller's arguments as drafts: checked, redacted, cut into words. Nothing is written here."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from shared_core.errors import InvalidInput, InvalidType, LimitExceeded
from shared_core.ports import Redactor
from shared_core.recall.text import analysed, clean, has_words, is_blank
from shared_core.settings import Settings
from shared_core.store.ledger import same_text, turn_id
from shared_core.store.rows import Draft, dump, micros, moment
from shared_core.values import Kind, Message, Triple, aware
from shared_core.writing.conflict import address
from shared_core.writing.plain import plain
from shared_core.writing.redact import redacted

_KINDS = {kind.value: kind.value for kind in Kind}
_SCALARS = frozenset({str, int, bool, type(None)})
_DEDUPED = frozenset({Kind.FACT.value, Kind.RULE.value})


@dataclass(frozen=True, slots=True)
class Intake:
    """What intake needs to know of the memory it works for."""

    settings: Settings
    redactor: Redactor | None = None

    def taken(self) -> dict[str, bytes] | None:
        """What the tokens made so far stand for, to be written with their texts; None where there are none."""
        taken = getattr(getattr(self.redactor, "put", None), "taken", None)
        found: dict[str, bytes] | None = None if taken is None else taken()
        return found

    # ------------------------------------------------------------------ single values

    def text(self, value: Any, *, blank: bool = False) -> str:
        """A text as it is kept; blank only where `blank` allows it."""
        if value is None or (isinstance(value, str) and not blank and is_blank(value)):
            raise InvalidInput("the text is blank; give a text with at least one visible character")
        if not isinstance(value, str):
            raise InvalidType(f"a text is a str, not {type(value).__name__}")
        limit = self.settings.limits.text_chars
        if len(value) > limit:
            raise LimitExceeded(f"a text of {len(value)} characters; limits.text_chars is {limit}")
        value = clean(value)
        return self.redactor(value) if self.redactor is not None else value

    def metadata(self, value: Mapping[str, Any] | None) -> str | None:
        """Metadata as JSON, or None where there is none."""
        if value is None or (not value and isinstance(value, Mapping)):
            return None
        if not isinstance(value, Mapping):
            raise InvalidType(f"metadata is a dict, not {type(value).__name__}")
        limits = self.settings.limits
        if all(type(key) is str and type(part) in _SCALARS for key, part in value.items()):
            checked = value
        else:
            checked = plain(value, "metadata", limits.metadata_depth)
        text = dump(redacted(checked, self.redactor))
        if len(text) > limits.metadata_bytes:
            raise LimitExceeded(f"metadata of {len(text)} bytes; limits.metadata_bytes is {limits.metadata_bytes}")
        return text

    def entities(self, value: Iterable[str]) -> str | None:
        """Entity names as JSON, or None where there are none."""
        if not value:
            return None
        if isinstance(value, str):
            raise InvalidType("entities is a list of names, not one text")
        names = list(value)
        if not all(isinstance(name, str) for name in names):
            raise InvalidType("entities is a list of names")
        return dump(redacted(list(dict.fromkeys(names)), self.redactor))

    def triple(self, value: Any) -> Triple | None:
        """Subject, predicate and object, none of them blank."""
        if value is None:
            return None
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise InvalidType("a triple is (subject, predicate, object)")
        parts = list(value)
        if len(parts) != 3 or not all(isinstance(part, str) for part in parts):
            raise InvalidType("a triple is (subject, predicate, object), each a text")
        return Triple(*(self.text(part) for part in parts))

    def expiry(self, value: Any, now: int) -> int | None:
        """When a time to live ends."""
        if value is None:
            return None
        if not isinstance(value, timedelta):
            raise InvalidType(f"expires_in is a timedelta, not {type(value).__name__}")
        if value <= timedelta(0):
            raise InvalidInput("expires_in is not positive; delete the record instead")
        try:
            return micros((moment(now) or datetime.now(UTC)) + value)
        except OverflowError as error:
            raise InvalidInput("expires_in ends after the year 9999; leave it out to keep the record") from error

    # ------------------------------------------------------------------ whole records

    def record(
        self, text: Any, *, now: int, kind: str = "fact", type: str | None = None, triple: Any = None,
        entities: Iterable[str] = (), source: str = "user", importance: float | None = None, confidence: float = 1.0,
        metadata: Mapping[str, Any] | None = None, event_time: datetime | None = None,
        expires_in: timedelta | None = None, pinned: bool = False, id: str | None = None,
    ) -> Draft:  # fmt: skip
        """`Scope.add`'s arguments as a draft."""
        kind = kind_of(kind)
        if kind == "turn":
            raise InvalidInput("a turn belongs to a session; use scope.session(name).add_messages([...])")
        kept = self.text("" if text is None and kind == "item" else text, blank=kind == "item")
        when = None if event_time is None else micros(aware(event_time, "event_time"))
        item = Draft(
            kind=kind,
            text=kept,
            id=None if id is None else identifier(id, "id", self.settings),
            type=_optional_text(type, "type"),
            triple=self.triple(triple),
            entities=self.entities(entities),
            source=_required_text(source, "source"),
            importance=0.5 if importance is None else fraction(importance, "importance"),
            confidence=fraction(confidence, "confidence"),
            metadata=self.metadata(metadata),
            event_time=when,
            expires_at=self.expiry(expires_in, now),
            pinned=bool(pinned),
        )
        if id is None and kind in _DEDUPED:
            item.digest = digest(kind, kept, when)
        if kind == "fact":
            item.topic, item.thing = address(kind, item.text, item.triple)
            item.valid_from = when if when is not None and when <= now else None
            self.freshen(item, now, expires_in)
        cut(item)
        item.secrets = self.taken()
        return item

    def freshen(self, item: Draft, now: int, expires_in: timedelta | None = None) -> None:
        """Let a fact end with the time to live of its type, where settings say that such facts go (D5)."""
        facts = self.settings.facts
        life = facts.time_to_live.get(item.type or "") if facts.past_it == "gone" else None
        if life is not None and expires_in is None:
            item.expires_at = self.expiry(life, now)

    def turn(self, message: Message, session: str, *, now: int) -> Draft:
        """A message as a draft; its place in the session is given when it is written."""
        raw = message.text
        limit = self.settings.limits.text_chars
        if len(raw) > limit:
            raise LimitExceeded(f"a message of {len(raw)} characters; limits.text_chars is {limit}")
        text = self.text(raw, blank=True)
        message_id = message.id if message.id is not None else None
        if message_id is not None:
            message_id = identifier(message_id, "message id", self.settings)
        body: dict[str, Any] = {}
        content = message.content
        if not isinstance(content, str) or (self.redactor is None and content != text):
            body["content"] = content if self.redactor is None else redacted(content, self.redactor)
        if message.tool_calls:
            body["tool_calls"] = redacted(list(message.tool_calls), self.redactor)
        if message.tool_call_id is not None:
            body["tool_call_id"] = message.tool_call_id
        if message.payload is not None:
            body["payload"] = redacted(message.payload, self.redactor)
        item = Draft(
            kind="turn",
            text=text,
            id=None if message_id is None else turn_id(session, message_id),
            source=message.role,
            message_id=message_id,
            role=message.role,
            name=None if message.name is None else clean(message.name),
            body=_json(body) if body else None,
            created_at=None if message.created_at is None else micros(message.created_at),
        )
        item.secrets = self.taken()
        cut(item)
        return item


def cut(item: Draft) -> None:
    """Give a draft its words and shape; whatever changes a text calls this again."""
    item.words, item.shape = analysed(item.text)


def embedded_text(item: Draft) -> str:
    """What the embedder is given for a draft; empty where there is nothing to embed.

    The text alone: a speaker's name in front of every turn makes all of that person's turns alike.
    """
    return item.text if item.text and has_words(item.text) else ""


def digest(kind: str, text: str, event_time: int | None) -> int:
    """Equal for the same fact told again: 63 bits over kind, text (NFKC) and event time."""
    content = f"{kind}\x1f{event_time}\x1f{same_text(text)}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "big") >> 1


def kind_of(value: Any) -> str:
    """A kind's plain name; raises for an unknown one and names those there are."""
    if isinstance(value, str) and value in _KINDS:
        return _KINDS[value]
    raise InvalidInput(f"unknown kind {value!r}; the kinds are {', '.join(Kind)}")


def identifier(value: Any, what: str, settings: Settings) -> str:
    """A user, agent, session, message or record id: any text that can be seen and stored."""
    if value is None or (isinstance(value, str) and is_blank(value)):
        raise InvalidInput(f"{what} is empty; give a text that names it")
    if not isinstance(value, str):
        raise InvalidType(f"{what} is a text, not {type(value).__name__}; use str({value!r})")
    if len(value) > settings.limits.id_chars:
        raise LimitExceeded(f"{what} has {len(value)} characters; limits.id_chars is {settings.limits.id_chars}")
    if clean(value) != value:
        raise InvalidInput(f"{what} holds a lone surrogate, which no database can keep")
    return value


def storable(value: Any) -> bool:
    """Whether a value could be an id at all; what can't be stored is simply not there."""
    return isinstance(value, str) and clean(value) == value


def fraction(value: Any, what: str) -> float:
    """A number in [0, 1]."""
    if type(value) is float and 0.0 <= value <= 1.0:
        return value
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise InvalidType(f"{what} is a number between 0 and 1, not {type(value).__name__}")
    number = float(value)
    if not 0.0 <= number <= 1.0:
        raise InvalidInput(f"{what} is {number}; it lies between 0 and 1")
    return number


def _optional_text(value: Any, what: str) -> str | None:
    return None if value is None else _required_text(value, what)


def _required_text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise InvalidType(f"{what} is a text, not {type(value).__name__}")
    if is_blank(value):
        raise InvalidInput(f"{what} is blank")
    return clean(value)


def _json(body: dict[str, Any]) -> str:
    try:
        text = dump(body)
        # An escaped surrogate is half of a pair, or a lone one that no reader of these messages could send on.
        return dump(redacted(body, clean)) if "\\ud" in text else text
    except (TypeError, ValueError, RecursionError) as error:
        if isinstance(error, RecursionError) or "circular" in str(error).lower():
            raise InvalidInput("a message refers to itself; give a value that JSON can hold") from error
        raise InvalidType(f"a message holds what JSON can't keep: {error}") from error
