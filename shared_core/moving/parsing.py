"""Lines as drafts: each value checked before anything is written, as strictly as what a caller hands in."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from shared_core.errors import InvalidInput, InvalidType
from shared_core.long_term.graph.inference import parse as implication
from shared_core.recall.text import clean
from shared_core.short_term.tasks import Tasks
from shared_core.store.ledger import turn_id
from shared_core.store.rows import Draft, dump, load, micros
from shared_core.values import Status, aware
from shared_core.writing.conflict import address
from shared_core.writing.intake import Intake, cut, digest, fraction, identifier, kind_of
from shared_core.writing.redact import redacted

Row = tuple[Any, ...]
Vector = tuple[str, int, bytes]
"""Embedder, dimensions, pieces in float16."""

_UNIT = 0.05  # how far a piece may be from length 1, in float16
_TURN = frozenset({"session", "position", "message_id", "role"})
_STATUSES = frozenset(Status)
_FIELDS: Mapping[str, frozenset[str]] = {
    "session": frozenset("id created_at ended_at summary summarised snapshot state consolidated".split()),
    "record": frozenset(
        (
            "id kind type text triple polarity entities source importance confidence metadata event_time valid_from"
            " valid_until expires_at confirmed_at pinned status seen supersedes superseded_by session position message_id"
            " role name body deduplicated created_at updated_at accesses accessed_at vectors outcomes pending audit"
        ).split()
    ),
    "link": frozenset("record source extractor created_at".split()),
    "trace": frozenset("reply record rank score section".split()),
    "question": frozenset("id text choices detail new old created_at answered_at".split()),
    "entity": frozenset("key name created_at".split()),
    "relation": frozenset(
        (
            "subject predicate object record subject_name verb object_name confidence attributes created_at"
            " subject_shown object_shown kept"
        ).split()
    ),
    "alias": frozenset("entity target record created_at name other kept".split()),
    "trait": frozenset("entity record name type attributes created_at kept".split()),
    "apart": frozenset({"one", "other"}),
    "rule": frozenset("name body confidence created_at".split()),
}


_NEEDED: Mapping[str, frozenset[str]] = {
    "link": frozenset("record source extractor created_at".split()),
    "trace": frozenset("reply record rank score".split()),
    "question": frozenset("id text choices new old created_at".split()),
    "entity": frozenset("key name created_at".split()),
    "relation": frozenset("subject predicate object subject_name verb object_name confidence created_at".split()),
    "alias": frozenset("entity target created_at".split()),
    "trait": frozenset("entity name created_at".split()),
    "apart": frozenset({"one", "other"}),
    "rule": frozenset("name body confidence created_at".split()),
}


@dataclass(slots=True)
class Moved:
    """A record out of a line: its draft, and what lies in other tables."""

    item: Draft
    session: str | None
    accesses: int = 0
    accessed_at: int | None = None
    vectors: tuple[Vector, ...] = ()
    outcomes: tuple[Row, ...] = ()
    pending: tuple[Row, ...] = ()
    audit: tuple[Row, ...] = ()


@contextmanager
def at(where: str) -> Iterator[None]:
    """Names the line in whatever is wrong with its value."""
    try:
        yield
    except (InvalidInput, InvalidType) as error:
        raise InvalidInput(f"{where}: {error}") from error
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"{where}: not a value of this kind of line ({error!r})") from error


class Parser:
    """Reads values under the limits and the redactor of one memory."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake

    def read(self, kind: str, value: Mapping[str, Any]) -> Any:
        """The value of a line: a `Moved` of a record, else a dict with times in microseconds.

        Raises `InvalidInput`, `InvalidType`, `KeyError` or `TypeError` for a value that is none.
        """
        if kind not in _FIELDS:
            raise InvalidInput(f"unknown kind of line {kind!r}; known: {', '.join(_FIELDS)}")
        unknown = value.keys() - _FIELDS[kind]
        if unknown:
            raise InvalidInput(f"a {kind} has no {', '.join(map(repr, sorted(unknown)))}")
        if kind == "record":
            return self.record(value)
        if kind == "session":
            return self.session(value)
        missing = sorted(name for name in _NEEDED[kind] if value.get(name) is None)
        if missing:
            raise InvalidInput(f"a {kind} needs {', '.join(missing)}")
        if kind == "rule" and value["body"] != "":  # a rule of ours that was dropped has no body
            implication(_text(value["body"], "body"))
        return self._other(value)

    # ------------------------------------------------------------------ records

    def record(self, value: Mapping[str, Any]) -> Moved:
        """A record as it was written, words and digests computed anew."""
        intake = self._intake
        kind = kind_of(value["kind"])
        raw = _text(value.get("text", ""), "text")
        kept = intake.text(raw, blank=kind in ("item", "turn"))
        status = value.get("status", Status.ACTIVE)
        if status not in _STATUSES:
            raise InvalidInput(f"unknown status {status!r}; known: {', '.join(_STATUSES)}")
        seen = _whole(value.get("seen", 1), "seen", 1)
        item = Draft(
            kind=kind, text=kept, id=self._id(value["id"], "id"), type=_maybe(value.get("type"), "type"),
            triple=intake.triple(value.get("triple")), polarity=_flag(value.get("polarity", True), "polarity"),
            entities=intake.entities(value.get("entities") or ()), source=_text(value["source"], "source"),
            importance=fraction(value["importance"], "importance"),
            confidence=fraction(value["confidence"], "confidence"), metadata=intake.metadata(value.get("metadata")),
            pinned=_flag(value.get("pinned", False), "pinned"), status=str(status), seen=seen,
            supersedes=self._maybe_id(value.get("supersedes")), superseded_by=self._maybe_id(value.get("superseded_by")),
            message_id=self._maybe_id(value.get("message_id")), role=_maybe(value.get("role"), "role"),
            name=_maybe(value.get("name"), "name"), body=self._body(value.get("body")),
        )  # fmt: skip
        for name in ("event_time", "valid_from", "valid_until", "expires_at", "confirmed_at"):
            setattr(item, name, when(value.get(name), name))
        item.created_at, item.updated_at = (
            when(value["created_at"], "created_at"),
            when(value["updated_at"], "updated_at"),
        )
        if _flag(value.get("deduplicated", False), "deduplicated"):
            item.digest = digest(kind, kept, item.event_time)
        item.topic, item.thing = address(kind, kept, item.triple, polarity=item.polarity)
        cut(item)
        session = self._maybe_id(value.get("session"))
        self._place(item, value, session)
        vectors = _vectors(value.get("vectors") or ()) if kept == raw else ()
        count = _whole(value.get("accesses", 0), "accesses", 0)
        return Moved(
            item, session, count, when(value.get("accessed_at"), "accessed_at"), vectors,
            outcomes=tuple(
                (int(_flag(each["success"], "success")), _needed(each, "created_at"), self._note(each.get("detail")))
                for each in value.get("outcomes") or ()
            ),
            pending=tuple(
                (_text(each["work"], "work"), self._note(each.get("detail")),
                 _whole(each.get("attempts", 0), "attempts", 0), _needed(each, "created_at"))
                for each in value.get("pending") or ()
            ),
            audit=tuple(
                (_text(each["action"], "action"), intake.metadata(each.get("detail")), _needed(each, "created_at"))
                for each in value.get("audit") or ()
            ),
        )  # fmt: skip

    def _note(self, value: Any) -> str | None:
        return None if value is None else self._intake.text(_text(value, "detail"), blank=True)

    @staticmethod
    def _place(item: Draft, value: Mapping[str, Any], session: str | None) -> None:
        if value.get("position") is not None:
            item.position = _whole(value["position"], "position", 0)
        if item.kind != "turn":
            return
        missing = sorted(name for name in _TURN if value.get(name) is None)
        if missing:
            raise InvalidInput(f"a turn needs {', '.join(missing)}")
        if item.id != turn_id(str(session), str(item.message_id)):
            raise InvalidInput(f"{item.id!r} is not the id of message {item.message_id!r} of session {session!r}")

    def _body(self, value: Any) -> str | None:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise InvalidType(f"body is an object, not {type(value).__name__}")
        return dump(redacted(_unwrapped(value), self._intake.redactor))

    def _id(self, value: Any, what: str) -> str:
        return identifier(value, what, self._intake.settings)

    def _maybe_id(self, value: Any) -> str | None:
        return None if value is None else self._id(value, "id")

    # ------------------------------------------------------------------ the rest

    def session(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """A session; its summary and snapshot pass the redactor."""
        state = _unwrapped(value.get("state"))
        if state is not None:
            _checked_state(state)
        return {
            "id": self._id(value["id"], "session"),
            "created_at": _needed(value, "created_at"),
            "ended_at": when(value.get("ended_at"), "ended_at"),
            "summary": self._prose(value.get("summary"), "summary"),
            "summarised": _whole(value.get("summarised", 0), "summarised", 0),
            "consolidated": _whole(value.get("consolidated", 0), "consolidated", 0),
            "snapshot": self._prose(value.get("snapshot"), "snapshot"),
            "state": None if state is None else dump(redacted(state, self._intake.redactor)),
        }

    def _prose(self, value: Any, what: str) -> str | None:
        return None if value is None else self._intake.text(_text(value, what), blank=True)

    def _other(self, value: Mapping[str, Any]) -> dict[str, Any]:
        found = dict(value)
        for name in ("created_at", "answered_at"):
            if name in found:
                found[name] = when(found[name], name)
        for name in ("confidence", "score"):
            if name in found:
                found[name] = fraction(found[name], name)
        if "rank" in found:
            found["rank"] = _whole(found["rank"], "rank", 0)
        for name in ("attributes", "detail"):
            if isinstance(found.get(name), dict):
                found[name] = self._intake.metadata(found[name]) or "{}"
            elif found.get(name) is not None:
                raise InvalidType(f"{name} is an object, not {type(found[name]).__name__}")
        for name in _NAMED & found.keys():
            found[name] = self._intake.text(_text(found[name], name))
        for name in ("section", "extractor", "type", "body"):
            if found.get(name) is not None:
                found[name] = _text(found[name], name)
        if "id" in found:
            found["id"] = self._id(found["id"], "id")
        if "choices" in found:
            if not isinstance(found["choices"], list):
                raise InvalidType(f"choices is a list, not {type(found['choices']).__name__}")
            found["choices"] = [self._intake.text(_text(choice, "choice")) for choice in found["choices"]]
        for name in ("record", "source", "reply", "new", "old"):
            if found.get(name) is not None:
                found[name] = self._id(found[name], name)
        return found


_NAMED = frozenset(
    "name other verb subject_name object_name subject_shown object_shown predicate key subject object entity target one"
    " text".split()
)


def _unwrapped(value: Any) -> Any:
    """What `telling` wrapped because no other JSON reader takes it."""
    if isinstance(value, dict) and value.keys() == {"json"} and isinstance(value["json"], str):
        return load(value["json"])
    return value


def _checked_state(state: Any) -> None:
    """Refuse tasks that no working memory could have written."""
    if not isinstance(state, dict):
        raise InvalidType(f"state is an object, not {type(state).__name__}")
    tasks = Tasks.read(state)
    parents = {id: task.parent for id, task in tasks.tasks.items()}
    for id in (*parents, tasks.current):
        for _ in range(len(parents) + 1):
            if id is None:
                break
            if id not in parents:
                raise InvalidInput(f"the state names the task {id!r}, which is not in it")
            id = parents[id]
        else:
            raise InvalidInput("the tasks of the state are parts of each other")


def when(value: Any, what: str) -> int | None:
    """A time of a line in microseconds."""
    return None if value is None else micros(aware(_text(value, what), what))


def _needed(value: Mapping[str, Any], what: str) -> int:
    found = when(value[what], what)
    if found is None:
        raise InvalidInput(f"{what} is missing")
    return found


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise InvalidType(f"{what} is a text, not {type(value).__name__}")
    return clean(value)


def _maybe(value: Any, what: str) -> str | None:
    return None if value is None else _text(value, what)


def _flag(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidType(f"{what} is true or false, not {type(value).__name__}")
    return value


def _whole(value: Any, what: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**63:
        raise InvalidInput(f"{what} is a whole number from {least}, not {value!r}")
    return value


def _vectors(values: Any) -> tuple[Vector, ...]:
    found = []
    for value in values:
        size = _whole(value["dimensions"], "dimensions", 1)
        try:
            pieces = base64.b64decode(_text(value["pieces"], "pieces"), validate=True)
        except binascii.Error as error:
            raise InvalidInput(f"the pieces of a vector are base64 ({error})") from error
        if not pieces or len(pieces) % (2 * size):
            raise InvalidInput(f"a vector of {len(pieces)} bytes does not have pieces of {size} dimensions in float16")
        floats = np.frombuffer(pieces, np.float16).reshape(-1, size).astype(np.float32)
        lengths = np.sqrt((floats * floats).sum(axis=1))
        if not bool(((np.abs(lengths - 1.0) < _UNIT) | (lengths == 0.0)).all()):
            raise InvalidInput("a piece of a vector is not of length 1")
        found.append((_text(value["embedder"], "embedder"), size, pieces))
    return tuple(found)
