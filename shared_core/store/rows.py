"""Between values and rows: times as microseconds, JSON in ASCII, drafts as tuples."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

from shared_core.errors import StoreDamaged
from shared_core.values import Kind, Message, Record, Status, Triple

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIELDS = frozenset(Record.model_fields)


class _Known(dict[str, Any]):
    def __missing__(self, name: object) -> NoReturn:
        raise StoreDamaged(f"a row holds {name!r} where a kind or a status belongs; restore a backup, or see check()")


_KINDS = _Known({kind.value: kind for kind in Kind})
_STATUSES = _Known({status.value: status for status in Status})


def micros(when: datetime) -> int:
    """Microseconds since 1970 of an aware datetime, exact.

    >>> micros(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000000
    """
    return (when - _EPOCH) // _MICROSECOND


def instant(value: int) -> datetime:
    """The aware UTC datetime of `micros`."""
    try:
        return _EPOCH + timedelta(microseconds=value)
    except (OverflowError, TypeError) as error:
        raise StoreDamaged(f"a row holds no time where one belongs ({error}); see check()") from error


def moment(value: int | None) -> datetime | None:
    """The aware UTC datetime of `micros`, or None."""
    return None if value is None else instant(value)


dump = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
"""JSON in ASCII, so that NUL and lone surrogates survive every backend."""


def load(text: str | None) -> Any:
    """The value of `dump`, or None."""
    try:
        return None if text is None else json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise StoreDamaged(f"a row holds what is no JSON ({error}); restore a backup, or see check()") from error


@dataclass(slots=True)
class Draft:
    """A record on its way in: validated, redacted, cut into words, embedded; not yet written."""

    kind: str
    text: str
    id: str | None = None
    type: str | None = None
    triple: Triple | None = None
    polarity: bool = True
    entities: str | None = None
    source: str = "user"
    importance: float = 0.5
    confidence: float = 1.0
    metadata: str | None = None
    event_time: int | None = None
    valid_from: int | None = None
    valid_until: int | None = None
    expires_at: int | None = None
    pinned: bool = False
    session: int | None = None
    position: int | None = None
    message_id: str | None = None
    role: str | None = None
    name: str | None = None
    body: str | None = None
    digest: int | None = None
    topic: int | None = None
    thing: int | None = None
    over: bool = False  # says that something has ended; not kept, the text says it again
    words: bytes | None = None
    shape: int = 0
    created_at: int | None = None
    updated_at: int | None = None
    seen: int = 1
    status: str = "active"
    supersedes: str | None = None
    superseded_by: str | None = None
    confirmed_at: int | None = None
    vector: bytes | None = None
    wish: str | None = None  # the id it gets if it is new: what a queued write was told
    secrets: dict[str, bytes] | None = None  # what its tokens stand for, sealed; written with it

    @property
    def is_plain(self) -> bool:
        """Whether a row with defaults in all but a few columns says it all: most records, at half the cost."""
        return (
            self.triple is None and self.session is None and self.body is None and self.expires_at is None
            and self.event_time is None and self.type is None and self.entities is None and self.status == "active"
            and not self.pinned and self.polarity and self.valid_from is None and self.valid_until is None
            and self.supersedes is None and self.superseded_by is None and self.seen == 1
            and self.message_id is None and self.role is None and self.name is None
            and self.thing is None and self.confirmed_at is None
        )  # fmt: skip

    def plain_row(self, scope: int, seq: int, revision: int, now: int) -> tuple[Any, ...]:
        """The parameters of `insert_plain`."""
        created = now if self.created_at is None else self.created_at
        return (
            scope, self.id, self.kind, self.text, self.source, self.importance, self.confidence, self.metadata,
            self.digest, self.words, self.shape, revision, created,
            now if self.updated_at is None else self.updated_at, self.topic, seq,
        )  # fmt: skip

    def row(self, scope: int, seq: int, revision: int, now: int) -> tuple[Any, ...]:
        """The parameters of `insert_record`."""
        subject, predicate, object_ = self.triple or (None, None, None)
        created = now if self.created_at is None else self.created_at
        return (
            scope, self.id, self.kind, self.type, self.text, subject, predicate, object_, int(self.polarity),
            self.entities, self.source, self.importance, self.confidence, self.metadata, self.event_time,
            self.valid_from, self.valid_until, self.expires_at, int(self.pinned), self.session, self.position,
            self.message_id, self.role, self.name, self.body, self.digest, self.words, self.shape, revision,
            created, now if self.updated_at is None else self.updated_at, self.seen, self.status,
            self.supersedes, self.superseded_by, self.topic, self.thing,
            self.confirmed_at, seq,
        )  # fmt: skip

    def record(self, now: int, session: str | None) -> Record:
        """The value this draft becomes."""
        at = now if self.created_at is None else self.created_at
        created = instant(at)
        updated = now if self.updated_at is None else self.updated_at
        return _record(
            {
                "id": self.id, "kind": _KINDS[self.kind], "text": self.text, "type": self.type, "triple": self.triple,
                "polarity": self.polarity, "entities": tuple(load(self.entities) or ()) if self.entities else (), "source": self.source,
                "importance": self.importance, "confidence": self.confidence, "metadata": load(self.metadata) or {},
                "event_time": moment(self.event_time), "expires_at": moment(self.expires_at), "pinned": self.pinned,
                "session": session, "message_id": self.message_id, "role": self.role, "name": self.name,
                "status": _STATUSES[self.status], "seen": self.seen, "accesses": 0, "accessed_at": None,
                "supersedes": self.supersedes, "superseded_by": self.superseded_by,
                "valid_from": moment(self.valid_from), "valid_until": moment(self.valid_until), "created_at": created,
                "updated_at": created if updated == at else instant(updated),
                "confirmed_at": moment(self.confirmed_at), "stale": False,
            }
        )  # fmt: skip


def _record(fields: dict[str, Any]) -> Record:
    """A Record out of fields that are validated already: a fifth of the time of validating them again."""
    made = Record.__new__(Record)
    give = object.__setattr__
    give(made, "__dict__", fields)
    give(made, "__pydantic_fields_set__", set(_FIELDS))
    give(made, "__pydantic_extra__", None)
    give(made, "__pydantic_private__", None)
    return made


def draft_copy(item: Draft) -> Draft:
    """A draft to change while the old one is still needed."""
    return replace(item)


def draft(row: tuple[Any, ...]) -> Draft:
    """A draft out of a row of `raw_record`, to change and write back."""
    return Draft(
        id=row[1], kind=row[2], type=row[3], text=row[4],
        triple=None if row[5] is None else Triple(row[5], row[6], row[7]), polarity=bool(row[8]),
        entities=row[9], source=row[10], importance=row[11], confidence=row[12], metadata=row[13],
        event_time=row[14], valid_from=row[15], valid_until=row[16], expires_at=row[17], pinned=bool(row[18]),
        session=row[19], position=row[20], message_id=row[21], role=row[22], name=row[23], body=row[24],
        digest=row[25], words=row[26], shape=row[27], created_at=row[29], updated_at=row[30], seen=row[31],
        status=row[32], supersedes=row[33], superseded_by=row[34], topic=row[36], thing=row[37],
        confirmed_at=row[38],
    )  # fmt: skip


def record(row: tuple[Any, ...], waiting: tuple[int, int] | None = None) -> Record:
    """The value of a row with the columns `{record}` of the SQL file, the first being its seq.

    `waiting`: how often it was accessed since that was last written, and when the last time was.
    """
    accesses, accessed_at = (row[23] or 0, row[24]) if waiting is None else ((row[23] or 0) + waiting[0], waiting[1])
    return _record(
        {
            "id": row[1], "kind": _KINDS[row[2]], "type": row[3], "text": row[4],
            "triple": None if row[5] is None else Triple(row[5], row[6], row[7]), "polarity": bool(row[8]),
            "entities": tuple(load(row[9]) or ()), "source": row[10], "importance": row[11], "confidence": row[12],
            "metadata": load(row[13]) or {}, "event_time": moment(row[14]), "expires_at": moment(row[15]),
            "pinned": bool(row[16]), "session": row[17], "message_id": row[18], "role": row[19], "name": row[20],
            "status": _STATUSES[row[21]], "seen": row[22], "accesses": accesses, "accessed_at": moment(accessed_at),
            "supersedes": row[25], "superseded_by": row[26], "valid_from": moment(row[27]),
            "valid_until": moment(row[28]), "created_at": instant(row[29]), "updated_at": instant(row[30]),
            "confirmed_at": moment(row[31]), "stale": False,
        }
    )  # fmt: skip


def must_be_of(row: tuple[Any, ...], user: str, agent: str) -> None:
    """Raise `StoreDamaged` for a row with the columns `{record}` that belongs to another user or agent."""
    if row[32:34] != (user, agent):
        raise StoreDamaged("the file is damaged: it gives a row of somebody else; restore a backup, or see check()")


def message(row: tuple[Any, ...]) -> Message:
    """The value of a row of `session_messages`."""
    body = load(row[5]) or {}
    return Message(
        id=row[1], role=row[2], name=row[3], content=body.get("content", row[4]), created_at=moment(row[6]),
        tool_calls=tuple(body.get("tool_calls", ())), tool_call_id=body.get("tool_call_id"),
        payload=body.get("payload"),
    )  # fmt: skip
